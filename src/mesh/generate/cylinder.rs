//! Cylinders.

use core::f64::consts::TAU;
use nalgebra::Vector3;

use super::sweep::Disk;
use super::{Arguments, finished};
use crate::mesh::{MeshError, TetrahedralMesh, TextureMapping};

impl TetrahedralMesh {
    /// A cylinder around the y axis: `segments` around, `layers` along the height, `rings` from the axis outward (1 is
    /// enough for thin ones). `radius` and `height` in m.
    ///
    /// A cross-section has 1 + `rings` · `segments` vertices: its center first, then the rings outward; cross-sections
    /// follow each other upward. So vertex k (1 + `rings` · `segments`) is the center of cross-section k, the first
    /// cross-section is the bottom, the last the top. There are 3 `segments` (2 `rings` − 1) `layers` tetrahedra.
    /// The rim is a polygon inside the circle, so the volume is that of a prism. With an even number of segments
    /// the mesh is its own mirror image. All rings have as many segments, so many rings make thin tetrahedra near the axis.
    /// Painted by a cylindrical chart.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] unless lengths are positive and finite, `segments` at least 3, `layers` and `rings` at
    /// least 1; [`MeshError::TooLarge`]; [`MeshError::FlatTetrahedron`] for extreme proportions.
    pub fn cylinder(
        radius: f64,
        height: f64,
        segments: usize,
        layers: usize,
        rings: usize,
    ) -> Result<Self, MeshError> {
        let arguments = Arguments("cylinder");
        arguments.positive("radius", radius)?;
        arguments.positive("height", height)?;
        arguments.at_least("segments", segments, 3, "at least 3")?;
        arguments.at_least("layers", layers, 1, "at least 1")?;
        arguments.at_least("rings", rings, 1, "at least 1")?;
        // Three tetrahedra per prism and fewer than two prisms per ring and segment.
        let bound = arguments.count("tetrahedra", &[6, segments, rings])?;
        arguments.count("tetrahedra", &[bound, layers])?;
        arguments.count(
            "vertices",
            &[1 + rings * segments, layers.saturating_add(1)],
        )?;

        let disk = Disk::new(segments, rings);
        let mut positions = Vec::with_capacity(disk.columns() * (layers + 1));
        for level in 0..=layers {
            let y = 0.5 * height * ((2.0 * level as f64 - layers as f64) / layers as f64);
            positions.push(Vector3::new(0.0, y, 0.0));
            for ring in 1..=rings {
                let distance = radius * ring as f64 / rings as f64;
                for segment in 0..segments {
                    // From z toward x: counter-clockwise seen from above, as the sweep needs.
                    let (sine, cosine) =
                        (TAU * segment as f64 / segments as f64 - TAU / 2.0).sin_cos();
                    positions.push(Vector3::new(distance * sine, y, distance * cosine));
                }
            }
        }
        let mut tetrahedra = Vec::with_capacity(disk.tetrahedra_per_layer() * layers);
        for layer in 0..layers {
            disk.fill_layer(
                &mut tetrahedra,
                layer * disk.columns(),
                (layer + 1) * disk.columns(),
            );
        }
        let half_extents = Vector3::new(radius, 0.5 * height, radius);
        finished(Self::with_centered_chart(
            positions,
            tetrahedra,
            TextureMapping::Cylindrical,
            half_extents,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_cylinder_is_a_valid_prism(
            radius in 0.01..2.0f64,
            height in 0.01..2.0f64,
            segments in 3usize..12,
            layers in 1usize..5,
            rings in 1usize..4,
        ) {
            let mesh = TetrahedralMesh::cylinder(radius, height, segments, layers, rings).unwrap();
            prop_assert_eq!(mesh.validate(), Ok(()));
            prop_assert_eq!(mesh.tetrahedra.len(), 3 * segments * (2 * rings - 1) * layers);
            let surface = mesh.surface().unwrap();
            prop_assert_eq!(surface.euler_characteristic(), 2);
            prop_assert_eq!(surface.triangles.len(), 2 * segments * (2 * rings - 1) + 2 * segments * layers);
            let volume = 0.5 * segments as f64 * radius * radius * (TAU / segments as f64).sin() * height;
            prop_assert!((mesh.volume() - volume).abs() < 1e-12 * volume.max(1.0));
            for level in 0..=layers {
                let center = mesh.positions[level * (1 + rings * segments)];
                prop_assert_eq!((center.x, center.z), (0.0, 0.0));
            }
        }
    }

    #[test]
    fn volume_converges_to_the_round_cylinder() {
        let exact = core::f64::consts::PI * 0.25 * 2.0;
        let mesh = TetrahedralMesh::cylinder(0.5, 2.0, 64, 4, 3).unwrap();
        // Deficit of a regular polygon with n sides: (2π/n)²/6 = 0.16 % at 64.
        assert!((mesh.volume() / exact - 1.0).abs() < 0.002);
    }

    #[test]
    fn arguments_are_checked() {
        assert!(TetrahedralMesh::cylinder(0.0, 1.0, 8, 1, 1).is_err());
        assert!(TetrahedralMesh::cylinder(1.0, f64::INFINITY, 8, 1, 1).is_err());
        assert!(TetrahedralMesh::cylinder(1.0, 1.0, 2, 1, 1).is_err());
        assert!(TetrahedralMesh::cylinder(1.0, 1.0, 3, 0, 1).is_err());
        assert!(TetrahedralMesh::cylinder(1.0, 1.0, 3, 1, 0).is_err());
        assert!(TetrahedralMesh::cylinder(1.0, 1.0, 3, usize::MAX, 1).is_err());
        assert!(TetrahedralMesh::cylinder(1.0, 1.0, usize::MAX, 1, 1).is_err());
    }
}
