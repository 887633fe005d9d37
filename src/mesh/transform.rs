//! Placing a mesh.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::{MeshError, TetrahedralMesh};

impl TetrahedralMesh {
    /// The mesh moved by `offset`, m.
    #[must_use]
    pub fn translated_by(self, offset: Vector3<f64>) -> Self {
        self.mapped(&Matrix3::identity(), &Matrix3::identity(), &offset)
    }

    /// The mesh turned about the origin. From an axis and an angle in radians: `UnitQuaternion::from_axis_angle`.
    #[must_use]
    pub fn rotated_by(self, rotation: UnitQuaternion<f64>) -> Self {
        let linear = rotation.to_rotation_matrix().into_inner();
        self.mapped(&linear, &linear.transpose(), &Vector3::zeros())
    }

    /// The mesh scaled about the origin along each axis; `Vector3::repeat(f)` scales uniformly.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] unless every factor is positive and finite. Mirroring is refused: it would invert
    /// every tetrahedron and every texture.
    pub fn scaled_by(self, factors: Vector3<f64>) -> Result<Self, MeshError> {
        if let Some(&value) = factors
            .iter()
            .find(|value| !(value.is_finite() && **value > 0.0))
        {
            return Err(MeshError::InvalidArgument {
                operation: "scaled_by",
                parameter: "factors",
                value,
                requirement: "positive and finite",
            });
        }
        let inverse = Matrix3::from_diagonal(&factors.map(f64::recip));
        Ok(self.mapped(
            &Matrix3::from_diagonal(&factors),
            &inverse,
            &Vector3::zeros(),
        ))
    }

    fn mapped(
        mut self,
        linear: &Matrix3<f64>,
        inverse: &Matrix3<f64>,
        offset: &Vector3<f64>,
    ) -> Self {
        for position in &mut self.positions {
            *position = linear * *position + offset;
        }
        for chart in &mut self.charts {
            chart.follow(inverse, offset);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::CellSplit;
    use proptest::prelude::*;

    fn block() -> TetrahedralMesh {
        TetrahedralMesh::block([1.0, 0.5, 0.25], [2, 2, 1], CellSplit::Five).unwrap()
    }

    #[test]
    fn mirroring_and_flattening_are_refused() {
        for factor in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(block().scaled_by(Vector3::new(1.0, factor, 1.0)).is_err());
        }
    }

    proptest! {
        #[test]
        fn placing_keeps_volume_and_orientation(
            angles in prop::array::uniform3(-3.0..3.0f64),
            offset in prop::array::uniform3(-5.0..5.0f64),
            factors in prop::array::uniform3(0.1..10.0f64),
        ) {
            let before = block();
            let after = before.clone()
                .scaled_by(factors.into()).unwrap()
                .rotated_by(UnitQuaternion::from_euler_angles(angles[0], angles[1], angles[2]))
                .translated_by(offset.into());
            let expected = before.volume() * factors.iter().product::<f64>();
            prop_assert!((after.volume() - expected).abs() < 1e-10 * expected.max(1.0));
            prop_assert_eq!(after.validate(), Ok(()));
            prop_assert!((after.center_of_mass() - Vector3::from(offset)).norm() < 1e-10);
        }
    }
}
