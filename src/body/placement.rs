//! From a rest shape to particles in the world.

use bevy::prelude::*;
use nalgebra::{UnitQuaternion, Vector3};

use super::solid::{to_f64, to_rotation};
use super::{BodyFrame, InitialMotion, Particles, SolidError};
use crate::Real;

/// Where a body starts, and how fast.
pub(super) struct Placement {
    transform: Transform,
    scale: Vector3<f64>,
    translation: Vector3<f64>,
    rotation: UnitQuaternion<f64>,
    linear_velocity: Vector3<f64>,
    angular_velocity: Vector3<f64>,
}

impl Placement {
    /// # Errors
    /// Numbers that are not finite, a scale that is not positive, or a rotation that is none.
    pub fn new(transform: &Transform, motion: &InitialMotion) -> Result<Self, SolidError> {
        check_transform(transform)?;
        if !(motion.linear_velocity.is_finite() && motion.angular_velocity.is_finite()) {
            return Err(SolidError::Motion);
        }
        Ok(Self {
            transform: *transform,
            scale: to_f64(transform.scale),
            translation: to_f64(transform.translation),
            rotation: to_rotation(transform.rotation),
            linear_velocity: to_f64(motion.linear_velocity),
            angular_velocity: to_f64(motion.angular_velocity),
        })
    }

    /// A rest position with the scale of the transform.
    pub fn scaled(&self, position: &Vector3<f64>) -> Vector3<f64> {
        position.component_mul(&self.scale)
    }

    /// The particles of a (scaled) rest shape with the given masses, and the frame that follows them.
    pub fn place(&self, rest: &[Vector3<f64>], masses: Vec<Real>) -> (Particles, BodyFrame) {
        let total: f64 = masses.iter().map(|&mass| f64::from(mass)).sum();
        let rest_center = rest
            .iter()
            .zip(&masses)
            .map(|(p, &m)| p * f64::from(m))
            .sum::<Vector3<f64>>()
            / total;
        let rotation = self.rotation;
        let center = rotation * rest_center + self.translation;
        let offsets: Vec<Vector3<f64>> = rest.iter().map(|p| p - rest_center).collect();
        let positions = offsets
            .iter()
            .map(|q| (center + rotation * q).cast())
            .collect();
        let mut particles = Particles::new(positions, masses);
        for (velocity, offset) in particles.velocities.iter_mut().zip(&offsets) {
            let turning = self.angular_velocity.cross(&(rotation * offset));
            *velocity = (self.linear_velocity + turning).cast();
        }
        let frame = BodyFrame {
            center,
            rotation,
            previous_center: center,
            previous_rotation: rotation,
            rest_offsets: offsets.iter().map(|offset| offset.cast()).collect(),
            written: Some(self.transform),
        };
        (particles, frame)
    }
}

fn check_transform(transform: &Transform) -> Result<(), SolidError> {
    let bad = |what: String| Err(SolidError::Transform { what });
    if !transform.is_finite() {
        return bad(format!("a number that is not finite ({transform:?})"));
    }
    if transform.scale.min_element() <= 0.0 {
        return bad(format!(
            "a scale that is not positive ({})",
            transform.scale
        ));
    }
    if !transform.rotation.is_normalized() {
        return bad(format!(
            "a rotation that is not a unit quaternion ({})",
            transform.rotation
        ));
    }
    Ok(())
}

/// What messages call a body that is not there yet.
pub(super) fn describe_new(entity: Entity, name: Option<&Name>) -> String {
    name.map_or_else(
        || format!("entity {entity}"),
        |name| format!("body \"{name}\" ({entity})"),
    )
}
