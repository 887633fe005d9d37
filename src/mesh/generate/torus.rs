//! Tori.

use core::f64::consts::TAU;
use nalgebra::Vector3;

use super::sweep::Disk;
use super::{Arguments, finished};
use crate::mesh::{MeshError, TetrahedralMesh, TextureMapping};

impl TetrahedralMesh {
    /// A torus around the y axis: the circle of `major_radius` in the plane y = 0 cut into `sections`, thickened to
    /// `minor_radius` with `sides` around the tube. Radii in m.
    ///
    /// A cross-section has 1 + `sides` vertices: its center first, then its rim. So the vertices k (1 + `sides`), k from 0
    /// to `sections` − 1, are the center ring; they are inside, all others on the surface. There are 3 `sections` · `sides`
    /// tetrahedra: with 20 sections of 8 sides, the 480 tetrahedra and 180 vertices of the scene "torus" `[000 ch. 9]`.
    /// Cross-section 0 is at −z. The rims are polygons inside their circles. With an even number of sides the mesh
    /// is its own mirror image. Painted by a toroidal chart.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] unless radii are positive and finite, `minor_radius` below `major_radius` (the tube
    /// would overlap itself at the axis), `sections` and `sides` at least 3; [`MeshError::TooLarge`];
    /// [`MeshError::FlatTetrahedron`] for extreme proportions.
    pub fn torus(
        major_radius: f64,
        minor_radius: f64,
        sections: usize,
        sides: usize,
    ) -> Result<Self, MeshError> {
        let arguments = Arguments("torus");
        arguments.positive("major_radius", major_radius)?;
        arguments.positive("minor_radius", minor_radius)?;
        if minor_radius >= major_radius {
            return Err(MeshError::InvalidArgument {
                operation: "torus",
                parameter: "minor_radius",
                value: minor_radius,
                requirement: "below major_radius",
            });
        }
        arguments.at_least("sections", sections, 3, "at least 3")?;
        arguments.at_least("sides", sides, 3, "at least 3")?;
        let tetrahedron_count = arguments.count("tetrahedra", &[3, sections, sides])?;

        let disk = Disk::new(sides, 1);
        let mut positions = Vec::with_capacity(disk.columns() * sections);
        for section in 0..sections {
            let (sine, cosine) = (TAU * section as f64 / sections as f64 - TAU / 2.0).sin_cos();
            let outward = Vector3::new(sine, 0.0, cosine);
            positions.push(outward * major_radius);
            for side in 0..sides {
                // From outward to downward: counter-clockwise seen along the sweep, from the next section.
                let (down, out) = (TAU * side as f64 / sides as f64 - TAU / 2.0).sin_cos();
                positions.push(
                    outward * (major_radius + minor_radius * out)
                        - Vector3::y() * (minor_radius * down),
                );
            }
        }
        let mut tetrahedra = Vec::with_capacity(tetrahedron_count);
        for section in 0..sections {
            let next = (section + 1) % sections;
            disk.fill_layer(
                &mut tetrahedra,
                section * disk.columns(),
                next * disk.columns(),
            );
        }
        let half_extents = Vector3::repeat(major_radius);
        finished(Self::with_centered_chart(
            positions,
            tetrahedra,
            TextureMapping::Toroidal,
            half_extents,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scene_torus_has_the_counts_of_the_source() {
        let mesh = TetrahedralMesh::torus(0.1, 0.03, 20, 8).unwrap();
        assert_eq!(mesh.validate(), Ok(()));
        assert_eq!((mesh.tetrahedra.len(), mesh.positions.len()), (480, 180));
        let surface = mesh.surface().unwrap();
        let counts = (
            surface.vertices().len(),
            surface.edges().len(),
            surface.triangles.len(),
        );
        assert_eq!(counts, (160, 480, 320));
        assert_eq!(surface.euler_characteristic(), 0);
    }

    #[test]
    fn center_ring_is_where_the_documentation_says() {
        let mesh = TetrahedralMesh::torus(0.1, 0.03, 20, 8).unwrap();
        let surface = mesh.surface().unwrap().vertices();
        for section in 0..20 {
            let center = section * 9;
            assert!(
                (mesh.positions[center].norm() - 0.1).abs() < 1e-15
                    && mesh.positions[center].y == 0.0
            );
            assert!(surface.binary_search(&(center as u32)).is_err());
        }
    }

    #[test]
    fn volume_converges_to_the_round_torus() {
        let exact = 2.0 * core::f64::consts::PI.powi(2) * 0.1 * 0.03_f64.powi(2);
        let deficit = |n: usize| {
            1.0 - TetrahedralMesh::torus(0.1, 0.03, 2 * n, n)
                .unwrap()
                .volume()
                / exact
        };
        assert!(deficit(32) > 0.0 && deficit(32) < 0.01);
        // Second order; the tolerance covers the higher orders.
        assert!((deficit(16) / deficit(32) - 4.0).abs() < 0.1);
    }

    #[test]
    fn odd_and_coarse_tori_are_valid_too() {
        for (sections, sides) in [(3, 3), (5, 4), (7, 5), (4, 9)] {
            let mesh = TetrahedralMesh::torus(1.0, 0.4, sections, sides).unwrap();
            assert_eq!(mesh.validate(), Ok(()));
            assert_eq!(mesh.surface().unwrap().euler_characteristic(), 0);
        }
    }

    #[test]
    fn arguments_are_checked() {
        assert!(TetrahedralMesh::torus(1.0, 1.0, 20, 8).is_err());
        assert!(TetrahedralMesh::torus(1.0, -0.1, 20, 8).is_err());
        assert!(TetrahedralMesh::torus(f64::NAN, 0.1, 20, 8).is_err());
        assert!(TetrahedralMesh::torus(1.0, 0.1, 2, 8).is_err());
        assert!(TetrahedralMesh::torus(1.0, 0.1, 20, 2).is_err());
        assert!(TetrahedralMesh::torus(1.0, 0.1, usize::MAX, 8).is_err());
    }
}
