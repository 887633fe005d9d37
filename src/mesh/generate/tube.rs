//! Tubes along closed curves.

use core::f64::consts::TAU;
use nalgebra::{Rotation3, Unit, Vector3};

use super::sweep::Disk;
use super::{Arguments, finished};
use crate::mesh::{MeshError, TetrahedralMesh};

impl TetrahedralMesh {
    /// A solid tube of `radius` (m) around the closed curve through `centers` (m), with `sides` around it: rings, knots.
    ///
    /// Vertices are numbered as in [`torus`](TetrahedralMesh::torus): cross-section k starts at k (1 + `sides`) with its
    /// center. Cross-sections are turned as little as possible along the curve, and the angle that is missing when the curve
    /// closes is spread evenly over all of them. Painted by a box chart.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] unless `radius` is positive and finite, there are at least 3 centers and 3 sides, and
    /// each center differs from its neighbors, its predecessor from its successor; [`MeshError::NonFinitePosition`];
    /// [`MeshError::TooLarge`]; [`MeshError::InvertedTetrahedron`] or [`MeshError::FlatTetrahedron`] where the curve bends
    /// too sharply for the radius. Parts of the tube that run into each other are not detected.
    pub fn closed_tube(
        centers: &[Vector3<f64>],
        radius: f64,
        sides: usize,
    ) -> Result<Self, MeshError> {
        let arguments = Arguments("closed_tube");
        arguments.positive("radius", radius)?;
        arguments.at_least("number of centers", centers.len(), 3, "at least 3")?;
        arguments.at_least("sides", sides, 3, "at least 3")?;
        let tetrahedron_count = arguments.count("tetrahedra", &[3, centers.len(), sides])?;

        let disk = Disk::new(sides, 1);
        let tangents = tangents(centers)?;
        let normals = untwisted_normals(&tangents);
        let mut positions = Vec::with_capacity(disk.columns() * centers.len());
        for (index, center) in centers.iter().enumerate() {
            let binormal = tangents[index].cross(&normals[index]);
            positions.push(*center);
            for side in 0..sides {
                let (sine, cosine) = (TAU * side as f64 / sides as f64).sin_cos();
                positions.push(center + (normals[index] * cosine + binormal * sine) * radius);
            }
        }
        let mut tetrahedra = Vec::with_capacity(tetrahedron_count);
        for section in 0..centers.len() {
            let next = (section + 1) % centers.len();
            disk.fill_layer(
                &mut tetrahedra,
                section * disk.columns(),
                next * disk.columns(),
            );
        }
        finished(Self::new(positions, tetrahedra))
    }
}

/// Unit tangents, from each center's predecessor to its successor.
fn tangents(centers: &[Vector3<f64>]) -> Result<Vec<Unit<Vector3<f64>>>, MeshError> {
    let count = centers.len();
    let mut tangents = Vec::with_capacity(count);
    for index in 0..count {
        let (before, after) = (
            centers[(index + count - 1) % count],
            centers[(index + 1) % count],
        );
        if !centers[index].iter().all(|value| value.is_finite()) {
            let position = centers[index].into();
            return Err(MeshError::NonFinitePosition {
                vertex: index,
                position,
                total: 1,
            });
        }
        let tangent = Unit::try_new(after - before, 0.0);
        let tangent = tangent.filter(|_| centers[index] != after);
        tangents.push(tangent.ok_or(MeshError::InvalidArgument {
            operation: "closed_tube",
            parameter: "index of a center",
            value: index as f64,
            requirement: "that of a point apart from its successor, with a predecessor apart from its successor",
        })?);
    }
    Ok(tangents)
}

/// A unit normal to each tangent, carried along by the smallest rotation between tangents.
fn untwisted_normals(tangents: &[Unit<Vector3<f64>>]) -> Vec<Vector3<f64>> {
    let carried = |normal: Vector3<f64>, from: &Unit<Vector3<f64>>, to: &Unit<Vector3<f64>>| {
        // Opposite tangents have no smallest rotation; the normal itself then serves, being normal to both.
        let turned =
            Rotation3::rotation_between(from, to).map_or(normal, |rotation| rotation * normal);
        (turned - to.into_inner() * turned.dot(to)).normalize()
    };
    let first = tangents[0];
    let axis = Vector3::ith(first.iamin(), 1.0);
    let start = first.cross(&axis).normalize();
    let mut normals = vec![start];
    for pair in tangents.windows(2) {
        let previous = normals[normals.len() - 1];
        normals.push(carried(previous, &pair[0], &pair[1]));
    }
    let last = tangents.len() - 1;
    let back = carried(normals[last], &tangents[last], &first);
    let missing = first.dot(&back.cross(&start)).atan2(back.dot(&start));
    for (index, normal) in normals.iter_mut().enumerate() {
        let angle = missing * index as f64 / tangents.len() as f64;
        *normal = Rotation3::from_axis_angle(&tangents[index], angle) * *normal;
    }
    normals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(count: usize) -> Vec<Vector3<f64>> {
        let angle = |index: usize| TAU * index as f64 / count as f64;
        (0..count)
            .map(|index| Vector3::new(angle(index).sin(), 0.0, angle(index).cos()))
            .collect()
    }

    fn trefoil(count: usize) -> Vec<Vector3<f64>> {
        let point = |index: usize| {
            let t = TAU * index as f64 / count as f64;
            Vector3::new(
                t.sin() + 2.0 * (2.0 * t).sin(),
                -(3.0 * t).sin(),
                t.cos() - 2.0 * (2.0 * t).cos(),
            )
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn tube_around_a_circle_is_a_torus() {
        let tube = TetrahedralMesh::closed_tube(&circle(20), 0.2, 8).unwrap();
        let torus = TetrahedralMesh::torus(1.0, 0.2, 20, 8).unwrap();
        assert_eq!(tube.validate(), Ok(()));
        assert_eq!(tube.tetrahedra, torus.tetrahedra);
        assert!((tube.volume() - torus.volume()).abs() < 1e-12);
    }

    #[test]
    fn knots_close_without_a_jump() {
        let mesh = TetrahedralMesh::closed_tube(&trefoil(90), 0.3, 7).unwrap();
        assert_eq!(mesh.validate(), Ok(()));
        assert_eq!(mesh.surface().unwrap().euler_characteristic(), 0);
        // Turns between neighboring cross-sections are alike everywhere, also where the curve closes.
        let turn = |k: usize| {
            let rim = |section: usize| {
                mesh.positions[section % 90 * 8 + 1] - mesh.positions[section % 90 * 8]
            };
            rim(k).normalize().dot(&rim(k + 1).normalize())
        };
        assert!((0..90).map(turn).fold(1.0, f64::min) > 0.95);
    }

    #[test]
    fn sharp_bends_and_bad_curves_are_errors() {
        assert!(matches!(
            TetrahedralMesh::closed_tube(&circle(40), 1.3, 8),
            Err(MeshError::InvertedTetrahedron { .. })
        ));
        let mut centers = circle(5);
        centers[3] = centers[2];
        assert!(TetrahedralMesh::closed_tube(&centers, 0.1, 4).is_err());
        centers[3].x = f64::NAN;
        assert!(TetrahedralMesh::closed_tube(&centers, 0.1, 4).is_err());
        assert!(TetrahedralMesh::closed_tube(&circle(2), 0.1, 4).is_err());
        assert!(TetrahedralMesh::closed_tube(&circle(5), 0.0, 4).is_err());
    }
}
