//! Closed spheres.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::{TriangleMesh, TriangleMeshError};
use crate::mesh::chart::{TextureChart, TextureMapping};
use crate::mesh::generate::Arguments;

/// Faces of the icosahedron: vertex 0 at the top, 1 to 5 the upper ring, 6 to 10 the lower ring, 11 at the bottom.
fn icosahedron() -> ([Vector3<f64>; 12], [[u32; 3]; 20]) {
    // The rings lie at latitudes ± atan(1/2).
    let (height, distance) = (0.2_f64.sqrt(), 2.0 * 0.2_f64.sqrt());
    let mut vertices = [Vector3::y(); 12];
    vertices[11] = -Vector3::y();
    let mut faces = [[0; 3]; 20];
    for step in 0..5 {
        let angle = core::f64::consts::TAU * step as f64 / 5.0;
        let place = |angle: f64, height| {
            Vector3::new(distance * angle.sin(), height, distance * angle.cos())
        };
        vertices[1 + step] = place(angle, height);
        vertices[6 + step] = place(angle + core::f64::consts::PI / 5.0, -height);
        let next = (step + 1) % 5;
        let [a, b, c, d] = [1 + step, 1 + next, 6 + step, 6 + next].map(|vertex| vertex as u32);
        faces[step] = [0, a, b];
        faces[5 + 2 * step] = [a, c, b];
        faces[6 + 2 * step] = [b, c, d];
        faces[15 + step] = [11, d, c];
    }
    (vertices, faces)
}

impl TriangleMesh {
    /// A closed sphere of `radius` (m) around the origin, outward: an icosahedron with each edge cut into `subdivisions`
    /// parts and all vertices moved onto the sphere.
    ///
    /// There are 10 n² + 2 vertices and 20 n² triangles for n subdivisions; a vertex lies on each pole, ±y. Texture
    /// coordinates are longitude and latitude, with the range that [`TextureChart`] describes: along the seam up to 1.5.
    ///
    /// # Errors
    /// [`TriangleMeshError::Request`] unless the radius is positive and finite, there is at least one subdivision, and
    /// indices can count the parts; [`TriangleMeshError::Sliver`] for triangles smaller than numbers can tell.
    pub fn sphere(radius: f64, subdivisions: usize) -> Result<Self, TriangleMeshError> {
        let arguments = Arguments("sphere");
        arguments.positive("radius", radius)?;
        arguments.at_least("subdivisions", subdivisions, 1, "at least 1")?;
        let triangle_count = arguments.count("triangles", &[20, subdivisions, subdivisions])?;

        let (corners, faces) = icosahedron();
        let mut positions = Vec::with_capacity(triangle_count / 2 + 2);
        // A vertex is known by the icosahedron's vertices around it and its share of each, so that faces find those of
        // their neighbors.
        let mut known = BTreeMap::new();
        let mut vertex = |shares: [(u32, usize); 3]| {
            let mut key = shares.map(|(corner, share)| {
                if share == 0 {
                    (u32::MAX, 0)
                } else {
                    (corner, share)
                }
            });
            key.sort_unstable();
            *known.entry(key).or_insert_with(|| {
                let mut place = Vector3::zeros();
                for (corner, share) in key.into_iter().filter(|&(_, share)| share > 0) {
                    place += corners[corner as usize] * share as f64;
                }
                positions.push(place.normalize() * radius);
                (positions.len() - 1) as u32
            })
        };
        let mut triangles = Vec::with_capacity(triangle_count);
        for [a, b, c] in faces {
            let mut at = |i: usize, j: usize| vertex([(a, subdivisions - i - j), (b, i), (c, j)]);
            for j in 0..subdivisions {
                for i in 0..subdivisions - j {
                    triangles.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                    if i + j + 1 < subdivisions {
                        triangles.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                    }
                }
            }
        }
        let mut mesh = Self::new(positions, triangles);
        let chart = TextureChart::centered(TextureMapping::Spherical, Vector3::repeat(radius));
        let corners = |&triangle: &[u32; 3]| triangle.map(|vertex| mesh.positions[vertex as usize]);
        let coordinates = mesh
            .triangles
            .iter()
            .map(|triangle| chart.coordinates(corners(triangle)));
        mesh.corner_coordinates = Some(coordinates.collect());
        mesh.validate()?;
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spheres_are_closed_outward_and_have_their_counts() {
        for subdivisions in [1, 2, 3, 8] {
            let mesh = TriangleMesh::sphere(0.5, subdivisions).unwrap();
            let square = subdivisions * subdivisions;
            assert_eq!(mesh.positions.len(), 10 * square + 2);
            assert_eq!(mesh.triangles.len(), 20 * square);
            for position in &mesh.positions {
                assert!((position.norm() - 0.5).abs() < 1e-15);
            }
            let topology = mesh.topology().unwrap();
            assert!(topology.is_closed());
            assert_eq!(
                (topology.euler_characteristic(), topology.piece_count()),
                (2, 1)
            );
            assert!(mesh.enclosed_volume() > 0.0 && mesh.hints().is_empty());
            for pole in [Vector3::y() * 0.5, Vector3::y() * -0.5] {
                assert_eq!(
                    mesh.particles_where(|&position| (position - pole).norm() < 1e-15)
                        .len(),
                    1
                );
            }
        }
    }

    #[test]
    fn icosahedron_has_its_volume_and_equal_edges() {
        let mesh = TriangleMesh::sphere(1.0, 1).unwrap();
        let edge = 4.0 / (10.0 + 2.0 * 5.0_f64.sqrt()).sqrt();
        let volume = 5.0 * (3.0 + 5.0_f64.sqrt()) / 12.0 * edge.powi(3);
        assert!((mesh.enclosed_volume() - volume).abs() < 1e-14);
        for edge_found in mesh.topology().unwrap().edges {
            let [a, b] = edge_found
                .vertices
                .map(|vertex| mesh.positions[vertex as usize]);
            assert!(((a - b).norm() - edge).abs() < 1e-14);
        }
    }

    #[test]
    fn volume_approaches_that_of_the_ball() {
        let ball = 4.0 / 3.0 * core::f64::consts::PI;
        let miss = |count| ball - TriangleMesh::sphere(1.0, count).unwrap().enclosed_volume();
        // Second order: half the edge, a quarter of the error.
        let ratio = miss(8) / miss(16);
        assert!((3.8..4.2).contains(&ratio), "{ratio}");
    }

    #[test]
    fn warp_runs_around_the_axis() {
        let mesh = TriangleMesh::sphere(1.0, 6).unwrap();
        for (triangle, &corners) in mesh.triangles.iter().enumerate() {
            let [x, y, z] = mesh.center_of(corners);
            let frame = mesh.rest_frame(triangle).unwrap();
            if y.abs() < 0.8 {
                let east = Vector3::new(z, 0.0, -x).normalize();
                assert!(frame.warp.dot(&east) > 0.9, "{:?} at {y}", frame.warp);
            }
        }
    }

    #[test]
    fn arguments_are_checked() {
        assert!(TriangleMesh::sphere(-1.0, 3).is_err());
        assert!(TriangleMesh::sphere(1.0, 0).is_err());
        assert!(TriangleMesh::sphere(1.0, 1 << 40).is_err());
    }
}
