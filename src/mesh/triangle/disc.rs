//! Round sheets.

use core::f64::consts::TAU;

use nalgebra::Vector3;

use super::{TriangleMesh, TriangleMeshError};
use crate::mesh::generate::Arguments;

impl TriangleMesh {
    /// A disc of `radius` (m) in the plane y = 0, centered at the origin, front towards +y, in `rings` rings.
    ///
    /// Ring k has 6 k vertices, so that all triangles are nearly equilateral: there are 1 + 3 n (n + 1) vertices and 6 n²
    /// triangles for n rings. The center has index 0; ring k starts on the +x axis with index 1 + 3 k (k − 1) and runs
    /// towards +z. Texture coordinates are those of the square around the disc, first along +x, second along +z.
    ///
    /// # Errors
    /// [`TriangleMeshError::Request`] unless the radius is positive and finite, there is at least one ring, and indices can
    /// count the parts; [`TriangleMeshError::Sliver`] for triangles smaller than numbers can tell.
    pub fn disc(radius: f64, rings: usize) -> Result<Self, TriangleMeshError> {
        let arguments = Arguments("disc");
        arguments.positive("radius", radius)?;
        arguments.at_least("rings", rings, 1, "at least 1")?;
        // More triangles than vertices, but for the smallest discs.
        let triangle_count = arguments.count("triangles", &[6, rings, rings])?;

        let mut positions = vec![Vector3::zeros()];
        for ring in 1..=rings {
            let distance = radius * (ring as f64 / rings as f64);
            for step in 0..6 * ring {
                let (sine, cosine) = (TAU * step as f64 / (6 * ring) as f64).sin_cos();
                positions.push(Vector3::new(distance * cosine, 0.0, distance * sine));
            }
        }
        let vertex = |ring: usize, step: usize| match ring {
            0 => 0,
            _ => (1 + 3 * ring * (ring - 1) + step % (6 * ring)) as u32,
        };
        let mut triangles = Vec::with_capacity(triangle_count);
        for ring in 1..=rings {
            for sector in 0..6 {
                // Along one sixth, ring k has k steps and the ring inside it k − 1.
                let (outer, inner) = (sector * ring, sector * (ring - 1));
                for step in 0..ring {
                    let tip = vertex(ring - 1, inner + step);
                    let side = vertex(ring, outer + step + 1);
                    triangles.push([tip, side, vertex(ring, outer + step)]);
                    if step + 1 < ring {
                        triangles.push([tip, vertex(ring - 1, inner + step + 1), side]);
                    }
                }
            }
        }
        let texture = |vertex: u32| {
            let position: Vector3<f64> = positions[vertex as usize];
            [position.x, position.z].map(|value| (0.5 + 0.5 * value / radius) as f32)
        };
        let coordinates = triangles
            .iter()
            .map(|triangle: &[u32; 3]| triangle.map(texture));
        let coordinates = coordinates.collect();
        let mut mesh = Self::new(positions, triangles);
        mesh.corner_coordinates = Some(coordinates);
        mesh.validate()?;
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_disc_is_a_hexagon() {
        let mesh = TriangleMesh::disc(2.0, 1).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (7, 6));
        assert_eq!(mesh.triangles[0], [0, 2, 1]);
        assert_eq!(mesh.positions[1], Vector3::new(2.0, 0.0, 0.0));
        assert!((mesh.area() - 6.0 * 3.0_f64.sqrt()).abs() < 1e-14);
        assert_eq!(mesh.corner_coordinates.as_ref().unwrap()[0][0], [0.5, 0.5]);
        assert_eq!(mesh.corner_coordinates.as_ref().unwrap()[0][2], [1.0, 0.5]);
    }

    #[test]
    fn discs_have_their_counts_and_good_triangles() {
        for rings in [2, 5, 12] {
            let mesh = TriangleMesh::disc(0.7, rings).unwrap();
            assert_eq!(mesh.positions.len(), 1 + 3 * rings * (rings + 1));
            assert_eq!(mesh.triangles.len(), 6 * rings * rings);
            let topology = mesh.topology().unwrap();
            assert_eq!(topology.euler_characteristic(), 1);
            assert_eq!(topology.boundary_loops.len(), 1);
            assert_eq!(topology.boundary_loops[0].len(), 6 * rings);
            let sides = 6.0 * rings as f64;
            let polygon = 0.5 * sides * (TAU / sides).sin() * 0.49;
            assert!((mesh.area() - polygon).abs() < 1e-13);
            for &triangle in &mesh.triangles {
                let corners = mesh.corners(triangle).unwrap();
                let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
                assert!(normal.y > 0.0);
                let squares: f64 = (0..3)
                    .map(|k| (corners[k] - corners[(k + 1) % 3]).norm_squared())
                    .sum();
                // 1 for equilateral triangles.
                let quality = 2.0 * 3.0_f64.sqrt() * normal.norm() / squares;
                assert!(quality > 0.85, "{quality} with {rings} rings");
            }
        }
    }

    #[test]
    fn arguments_are_checked() {
        assert!(TriangleMesh::disc(0.0, 3).is_err());
        assert!(TriangleMesh::disc(f64::INFINITY, 3).is_err());
        assert!(TriangleMesh::disc(1.0, 0).is_err());
        assert!(TriangleMesh::disc(1.0, 1 << 40).is_err());
    }
}
