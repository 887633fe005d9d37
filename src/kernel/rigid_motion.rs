//! The rigid motion that follows a deforming cloud of points: where to put the frame of a body.

use nalgebra::{Matrix3, Rotation3, Unit, UnitQuaternion, Vector3};

use super::energy::{widened, widened_vector};
use super::matrix::perpendicular;
use super::scalar::Single;
use super::singular_values::singular_value_decomposition;

/// Below this share of the largest singular value, the sum of the other two counts as zero.
const AMBIGUOUS: f64 = 1e-9;

/// Moment matrix of current against rest offsets, kg·m².
///
/// ```text
/// A_pq = Σᵢ mᵢ (xᵢ − c) (x⁰ᵢ − c⁰)ᵀ
/// ```
/// Summed in double precision in the order of the slices, up to the shortest.
///
/// Eq: `[002 §2.4]`, `[Müller 2005]`.
pub fn moment_matrix<T: Single>(
    masses: &[T],
    positions: &[Vector3<T>],
    rest_positions: &[Vector3<T>],
    center: &Vector3<f64>,
    rest_center: &Vector3<f64>,
) -> Matrix3<f64> {
    masses.iter().zip(positions).zip(rest_positions).fold(
        Matrix3::zeros(),
        |sum, ((&mass, position), rest)| {
            let offset = widened_vector(position) - center;
            let rest_offset = widened_vector(rest) - rest_center;
            sum + offset * rest_offset.transpose() * widened(mass)
        },
    )
}

/// Rotation that best maps the rest offsets onto the current offsets.
///
/// ```text
/// A_pq = R S   →   R,   det R = +1;   the maximizer of R : A_pq
/// ```
/// `moment` in kg·m², `previous` the last rotation. Unique for clouds with an extent in two directions, flat ones
/// included. For a cloud on a line (or one mirrored in such a way that several rotations fit equally), the one of the
/// best rotations that is nearest to `previous`; for a point, or a moment that is not finite, `previous` itself.
///
/// Eq: `[002 §2.4]`, `[Müller 2005]`.
pub fn best_rotation(moment: &Matrix3<f64>, previous: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
    let (left, values, right) = singular_value_decomposition(moment);
    let finite = values.iter().all(|value| value.is_finite());
    if !finite || values.x <= f64::MIN_POSITIVE {
        return *previous;
    }
    if values.y + values.z > AMBIGUOUS * values.x {
        let rotation = Rotation3::from_matrix_unchecked(left * right.transpose());
        return UnitQuaternion::from_rotation_matrix(&rotation);
    }
    // Only the longest direction is known: carry it over by the shortest turn.
    let carried = previous * right.column(0).into_owned();
    shortest_turn(&carried, &left.column(0).into_owned()) * previous
}

/// The rotation by the smallest angle that takes one unit vector to another; opposite ones by any half turn.
fn shortest_turn(from: &Vector3<f64>, to: &Vector3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::rotation_between(from, to).unwrap_or_else(|| {
        let axis = Unit::new_unchecked(perpendicular(from));
        UnitQuaternion::from_axis_angle(&axis, std::f64::consts::PI)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::energy::center_of_mass;
    use crate::kernel::testing::Random;

    fn moment_of(rest: &[Vector3<f64>], map: &Matrix3<f64>) -> Matrix3<f64> {
        let masses: Vec<f64> = (0..rest.len()).map(|index| 1.0 + index as f64).collect();
        let positions: Vec<_> = rest.iter().map(|x| map * x + Vector3::x()).collect();
        let center = center_of_mass(&masses, &positions);
        let rest_center = center_of_mass(&masses, rest);
        moment_matrix(&masses, &positions, rest, &center, &rest_center)
    }

    #[test]
    fn rigid_motion_is_found_for_solid_and_flat_clouds() {
        let mut random = Random::new(34);
        for flat in [1.0, 0.0] {
            for _ in 0..30 {
                let rest: Vec<_> = (0..6)
                    .map(|_| {
                        random
                            .vector(1.0)
                            .component_mul(&Vector3::new(1.0, 1.0, flat))
                    })
                    .collect();
                let rotation = random.unit_quaternion();
                let map = *rotation.to_rotation_matrix().matrix();
                let found = best_rotation(&moment_of(&rest, &map), &UnitQuaternion::identity());
                assert!(found.angle_to(&rotation) < 1e-6);
            }
        }
    }

    #[test]
    fn rotating_the_cloud_rotates_the_result() {
        let mut random = Random::new(35);
        let rest: Vec<_> = (0..8).map(|_| random.vector(1.0)).collect();
        let map = random.stretched([1.4, 1.0, 0.7]);
        let turn = random.unit_quaternion();
        let previous = UnitQuaternion::identity();
        let moment = moment_of(&rest, &map);
        let plain = best_rotation(&moment, &previous);
        let turned = best_rotation(&(turn.to_rotation_matrix().matrix() * moment), &previous);
        assert!(turned.angle_to(&(turn * plain)) < 1e-12);
    }

    #[test]
    fn line_keeps_its_roll() {
        let mut random = Random::new(36);
        let rest: Vec<_> = (0..5)
            .map(|index| Vector3::z() * f64::from(index))
            .collect();
        for _ in 0..30 {
            let previous = random.unit_quaternion();
            let motion = random.unit_quaternion();
            let moment = moment_of(&rest, motion.to_rotation_matrix().matrix());
            let found = best_rotation(&moment, &previous);
            assert!((found * Vector3::z() - motion * Vector3::z()).norm() < 1e-12);
            // No other rotation with the same axis is nearer.
            let angle = found.angle_to(&previous);
            for step in 0..100 {
                let roll =
                    UnitQuaternion::from_scaled_axis(Vector3::z() * 0.0628 * f64::from(step));
                assert!((found * roll).angle_to(&previous) >= angle - 1e-9);
            }
        }
        let reversed = moment_of(&rest, &-Matrix3::identity());
        let found = best_rotation(&reversed, &UnitQuaternion::identity());
        assert!((found * Vector3::z() + Vector3::z()).norm() < 1e-9);
    }

    #[test]
    fn point_and_broken_clouds_keep_the_previous_rotation() {
        let previous = Random::new(37).unit_quaternion();
        for moment in [Matrix3::zeros(), Matrix3::from_element(f64::NAN)] {
            assert_eq!(best_rotation(&moment, &previous), previous);
        }
    }

    #[test]
    fn mirrored_cloud_gets_a_proper_best_rotation() {
        let mut random = Random::new(38);
        let mirror = random.rotation() * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
        let moment = mirror * Matrix3::from_diagonal(&Vector3::new(3.0, 2.0, 1.0));
        let found = best_rotation(&moment, &UnitQuaternion::identity());
        let score =
            |rotation: &UnitQuaternion<f64>| rotation.to_rotation_matrix().matrix().dot(&moment);
        for _ in 0..200 {
            let other = random.unit_quaternion();
            assert!(score(&found) >= score(&other) - 1e-12);
        }
    }
}
