//! Resistance of the air: in proportion to the speed, or to its square on surfaces that face the flow.
//!
//! Each force has its partner, the power that it takes from the body.

use nalgebra::Vector3;

use super::scalar::{Scalar, Single, real};

/// Viscous drag on a point mass, N.
///
/// ```text
/// F = −c m v
/// ```
/// `rate` c in 1/s, `mass` m in kg, `velocity` v relative to the air in m/s. In proportion to the mass, so that all
/// points of a body slow down alike: alone it makes the velocity fall as e^(−c t).
///
/// Eq: `[001 §3.1]` (viscous air), with C_visc = c m.
#[inline]
pub fn viscous_drag<T: Scalar>(rate: T, mass: T, velocity: &Vector3<T>) -> Vector3<T> {
    velocity * (-(rate * mass))
}

/// Power that [`viscous_drag`] takes from a point mass, W.
///
/// ```text
/// W = −F · v = c m v²
/// ```
/// Eq: elementary.
#[inline]
pub fn viscous_drag_power<T: Scalar>(rate: T, mass: T, velocity: &Vector3<T>) -> T {
    rate * mass * velocity.dot(velocity)
}

/// A triangle of a surface in an air stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindFace<T: Scalar> {
    /// A, m².
    pub area: T,
    /// n, of unit length, pointing out of the body.
    pub normal: Vector3<T>,
    /// u, of the triangle relative to the air, m/s.
    pub velocity: Vector3<T>,
}

impl<T: Scalar> WindFace<T> {
    /// Air that the triangle sweeps per time, m³/s; zero on the leeward side.
    #[inline(always)]
    fn swept_volume(&self) -> T {
        self.area * self.normal.dot(&self.velocity).simd_max(T::zero())
    }

    /// Drag per speed at the current speed, kg/s.
    ///
    /// ```text
    /// k = ½ C ρ A max(n · u, 0),   F = −k u
    /// ```
    /// Eq: `[004]` (drag), per windward face.
    #[inline]
    pub fn drag_rate(&self, coefficient: T, air_density: T) -> T {
        real::<T>(0.5) * coefficient * air_density * self.swept_volume()
    }

    /// Drag in proportion to the square of the speed, N.
    ///
    /// ```text
    /// F = −½ C ρ A max(n · u, 0) u
    /// ```
    /// `coefficient` C without unit, `air_density` ρ in kg/m³. A flat face that moves along its normal gets exactly
    /// ½ C ρ A u²; leeward faces get nothing, so that over a closed convex body the areas add up to its silhouette.
    ///
    /// Eq: `[004]` (drag), per windward face.
    #[inline]
    pub fn drag(&self, coefficient: T, air_density: T) -> Vector3<T> {
        self.velocity * (-self.drag_rate(coefficient, air_density))
    }

    /// Power that [`drag`](Self::drag) takes from the body, W; never negative.
    ///
    /// ```text
    /// W = −F · u = ½ C ρ A max(n · u, 0) u²
    /// ```
    /// Eq: elementary.
    #[inline]
    pub fn drag_power(&self, coefficient: T, air_density: T) -> T {
        self.drag_rate(coefficient, air_density) * self.velocity.dot(&self.velocity)
    }
}

/// Speed at which quadratic drag carries the weight, m/s; `None` where there is no drag.
///
/// ```text
/// v = √(2 m g / (C ρ A))
/// ```
/// `mass` m in kg, `gravity` g in m/s², `coefficient` C without unit, `air_density` ρ in kg/m³, `area` A in m².
///
/// Eq: `[004]` (terminal velocity).
pub fn terminal_velocity<T: Single>(
    mass: T,
    gravity: T,
    coefficient: T,
    air_density: T,
    area: T,
) -> Option<T> {
    let resistance = coefficient * air_density * area;
    let weight = (mass * gravity).max(T::zero());
    (resistance > T::zero()).then(|| (real::<T>(2.0) * weight / resistance).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn power_is_force_against_velocity() {
        let mut random = Random::new(31);
        for _ in 0..50 {
            let face = WindFace {
                area: random.between(0.1, 2.0),
                normal: random.vector(1.0).normalize(),
                velocity: random.vector(5.0),
            };
            let power = face.drag_power(1.1, 1.2);
            assert!(power >= 0.0);
            assert_relative_eq!(
                -face.drag(1.1, 1.2).dot(&face.velocity),
                power,
                epsilon = 1e-12
            );
            let force = viscous_drag(0.3, 2.0, &face.velocity);
            assert_relative_eq!(
                -force.dot(&face.velocity),
                viscous_drag_power(0.3, 2.0, &face.velocity),
                epsilon = 1e-12
            );
        }
    }

    #[test]
    fn flat_face_has_the_textbook_drag_and_its_back_none() {
        let mut face = WindFace {
            area: 0.5,
            normal: Vector3::z(),
            velocity: Vector3::z() * 4.0,
        };
        let expected = -0.5 * 1.1 * 1.2 * 0.5 * 16.0;
        assert_relative_eq!(face.drag(1.1, 1.2).z, expected, epsilon = 1e-13);
        face.normal = -Vector3::z();
        assert_eq!(face.drag(1.1, 1.2), Vector3::zeros());
    }

    #[test]
    fn faces_of_a_tilted_box_add_up_to_its_silhouette() {
        let rotation = Random::new(32).rotation();
        let velocity = Vector3::new(0.0, 0.0, 3.0);
        let mut total = Vector3::zeros();
        let mut silhouette = 0.0;
        for axis in 0..3 {
            for sign in [1.0, -1.0] {
                let normal = rotation.column(axis) * sign;
                silhouette += 0.5 * normal.z.abs();
                let face = WindFace {
                    area: 1.0,
                    normal,
                    velocity,
                };
                total += face.drag(1.0, 1.2);
            }
        }
        assert_relative_eq!(total.z, -0.5 * 1.2 * silhouette * 9.0, epsilon = 1e-12);
        assert_relative_eq!(total.xy().norm(), 0.0, epsilon = 1e-12);
    }

    #[test]
    fn drag_carries_the_weight_at_terminal_velocity() {
        let speed = terminal_velocity(80.0, 9.81, 1.0, 1.2, 0.7).expect("there is drag");
        let face = WindFace {
            area: 0.7,
            normal: -Vector3::y(),
            velocity: -Vector3::y() * speed,
        };
        assert_relative_eq!(face.drag(1.0, 1.2).y, 80.0 * 9.81, max_relative = 1e-12);
        assert_eq!(terminal_velocity(1.0, 9.81, 0.0, 1.2, 1.0), None);
        assert_eq!(terminal_velocity(-1.0, 9.81, 1.0, 1.2, 1.0), Some(0.0));
    }
}
