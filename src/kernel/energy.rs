//! Energy and momentum of sets of point masses.
//!
//! Sums run in double precision and in the order of the slices, so that the account of a body neither drifts with
//! the number of its vertices nor depends on threads. Slices of different lengths are read up to the shortest.

use nalgebra::{Matrix3, Vector3};

use super::eigen::symmetric_eigen;
use super::scalar::Single;

/// Principal moments below this share of the largest count as zero.
const NEGLIGIBLE_MOMENT: f64 = 1e-12;

/// A number in double precision.
#[inline(always)]
pub(crate) fn widened<T: Single>(value: T) -> f64 {
    // Exact: every single precision number is a double precision one.
    nalgebra::convert_unchecked(value)
}

/// A vector in double precision.
#[inline(always)]
pub(crate) fn widened_vector<T: Single>(vector: &Vector3<T>) -> Vector3<f64> {
    vector.map(widened)
}

/// Total mass, kg.
///
/// ```text
/// m = Σᵢ mᵢ
/// ```
/// Eq: elementary.
pub fn total_mass<T: Single>(masses: &[T]) -> f64 {
    masses.iter().fold(0.0, |sum, &mass| sum + widened(mass))
}

/// Center of mass, m; the origin where there is no mass.
///
/// ```text
/// c = Σᵢ mᵢ xᵢ / Σᵢ mᵢ
/// ```
/// Eq: elementary.
pub fn center_of_mass<T: Single>(masses: &[T], positions: &[Vector3<T>]) -> Vector3<f64> {
    let (mass, moment) =
        masses
            .iter()
            .zip(positions)
            .fold((0.0, Vector3::zeros()), |(mass, moment), (&m, x)| {
                let m = widened(m);
                (mass + m, moment + widened_vector(x) * m)
            });
    if mass > 0.0 {
        moment / mass
    } else {
        Vector3::zeros()
    }
}

/// Kinetic energy of point masses, J.
///
/// ```text
/// K = ½ Σᵢ mᵢ vᵢ²
/// ```
/// Eq: elementary; `[000 §9]`.
pub fn kinetic_energy<T: Single>(masses: &[T], velocities: &[Vector3<T>]) -> f64 {
    masses.iter().zip(velocities).fold(0.0, |sum, (&m, v)| {
        sum + 0.5 * widened(m) * widened_vector(v).norm_squared()
    })
}

/// Gravitational energy of point masses in a uniform field `gravity` (m/s²), J; zero at the origin.
///
/// ```text
/// G = −Σᵢ mᵢ g · xᵢ
/// ```
/// Eq: elementary; `[000 §9]`.
pub fn gravitational_energy<T: Single>(
    masses: &[T],
    positions: &[Vector3<T>],
    gravity: &Vector3<f64>,
) -> f64 {
    masses.iter().zip(positions).fold(0.0, |sum, (&m, x)| {
        sum - widened(m) * gravity.dot(&widened_vector(x))
    })
}

/// Momentum, kg·m/s.
///
/// ```text
/// p = Σᵢ mᵢ vᵢ
/// ```
/// Eq: elementary.
pub fn momentum<T: Single>(masses: &[T], velocities: &[Vector3<T>]) -> Vector3<f64> {
    masses
        .iter()
        .zip(velocities)
        .fold(Vector3::zeros(), |sum, (&m, v)| {
            sum + widened_vector(v) * widened(m)
        })
}

/// Angular momentum about a point, kg·m²/s.
///
/// ```text
/// L = Σᵢ (xᵢ − c) × mᵢ vᵢ
/// ```
/// Eq: elementary.
pub fn angular_momentum<T: Single>(
    masses: &[T],
    positions: &[Vector3<T>],
    velocities: &[Vector3<T>],
    about: &Vector3<f64>,
) -> Vector3<f64> {
    masses
        .iter()
        .zip(positions)
        .zip(velocities)
        .fold(Vector3::zeros(), |sum, ((&m, x), v)| {
            let arm = widened_vector(x) - about;
            sum + arm.cross(&widened_vector(v)) * widened(m)
        })
}

/// Tensor of inertia about a point, kg·m².
///
/// ```text
/// I = Σᵢ mᵢ (|rᵢ|² 1 − rᵢ rᵢᵀ),   rᵢ = xᵢ − c
/// ```
/// Eq: elementary; `[001 §6.2.5]` (rigid zones).
pub fn inertia<T: Single>(
    masses: &[T],
    positions: &[Vector3<T>],
    about: &Vector3<f64>,
) -> Matrix3<f64> {
    masses
        .iter()
        .zip(positions)
        .fold(Matrix3::zeros(), |sum, (&m, x)| {
            let arm = widened_vector(x) - about;
            let squared = Matrix3::from_diagonal_element(arm.norm_squared());
            sum + (squared - arm * arm.transpose()) * widened(m)
        })
}

/// Angular velocity of the rigid motion that has a given angular momentum, rad/s.
///
/// ```text
/// ω = I⁺ L
/// ```
/// The pseudo-inverse leaves out axes about which the masses have no extent: a line does not spin about itself, a
/// point not at all.
///
/// Eq: elementary; `[001 §6.2.5]` (rigid zones).
pub fn angular_velocity(inertia: &Matrix3<f64>, angular_momentum: &Vector3<f64>) -> Vector3<f64> {
    let (moments, axes) = symmetric_eigen(inertia);
    let smallest = moments.x * NEGLIGIBLE_MOMENT;
    (0..3)
        .filter(|&axis| moments[axis] > smallest)
        .map(|axis| {
            let direction = axes.column(axis).into_owned();
            direction * (direction.dot(angular_momentum) / moments[axis])
        })
        .fold(Vector3::zeros(), |sum, part| sum + part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    struct Cloud {
        masses: Vec<f64>,
        positions: Vec<Vector3<f64>>,
    }

    fn cloud(count: usize) -> Cloud {
        let mut random = Random::new(30);
        Cloud {
            masses: (0..count).map(|_| random.between(0.5, 2.0)).collect(),
            positions: (0..count).map(|_| random.vector(2.0)).collect(),
        }
    }

    fn rigid_velocities(
        positions: &[Vector3<f64>],
        center: &Vector3<f64>,
        velocity: &Vector3<f64>,
        spin: &Vector3<f64>,
    ) -> Vec<Vector3<f64>> {
        let at = |position: &Vector3<f64>| velocity + spin.cross(&(position - center));
        positions.iter().map(at).collect()
    }

    #[test]
    fn rigid_motion_is_recovered_from_its_momenta() {
        let Cloud { masses, positions } = cloud(20);
        let center = center_of_mass(&masses, &positions);
        let (velocity, spin) = (Vector3::new(1.0, 2.0, -1.0), Vector3::new(0.3, -2.0, 0.7));
        let velocities = rigid_velocities(&positions, &center, &velocity, &spin);
        let mass = total_mass(&masses);
        assert_relative_eq!(
            momentum(&masses, &velocities) / mass,
            velocity,
            epsilon = 1e-13
        );
        let inertia = inertia(&masses, &positions, &center);
        let angular = angular_momentum(&masses, &positions, &velocities, &center);
        assert_relative_eq!(angular_velocity(&inertia, &angular), spin, epsilon = 1e-12);
        let energy = 0.5 * mass * velocity.norm_squared() + 0.5 * spin.dot(&(inertia * spin));
        assert_relative_eq!(
            kinetic_energy(&masses, &velocities),
            energy,
            max_relative = 1e-13
        );
    }

    #[test]
    fn line_and_point_do_not_spin_about_themselves() {
        let axis = Vector3::new(1.0, 2.0, 2.0) / 3.0;
        let positions: Vec<_> = (-2..=2).map(|i| axis * f64::from(i)).collect();
        let masses = [1.0; 5];
        let inertia_of_line = inertia(&masses, &positions, &Vector3::zeros());
        let spin = axis.cross(&Vector3::x()) + axis * 5.0;
        let angular = inertia_of_line * spin + axis * 3.0;
        let found = angular_velocity(&inertia_of_line, &angular);
        assert_relative_eq!(found, axis.cross(&Vector3::x()), epsilon = 1e-12);
        assert_eq!(
            angular_velocity(&Matrix3::zeros(), &Vector3::x()),
            Vector3::zeros()
        );
    }

    #[test]
    fn gravitational_energy_falls_with_the_height() {
        let Cloud { masses, positions } = cloud(5);
        let gravity = Vector3::new(0.0, -9.81, 0.0);
        let raised: Vec<_> = positions.iter().map(|x| x + Vector3::y() * 2.0).collect();
        let difference = gravitational_energy(&masses, &raised, &gravity)
            - gravitational_energy(&masses, &positions, &gravity);
        assert_relative_eq!(
            difference,
            total_mass(&masses) * 9.81 * 2.0,
            max_relative = 1e-13
        );
    }

    #[test]
    fn empty_and_massless_sets_are_neutral() {
        assert_eq!(center_of_mass::<f32>(&[], &[]), Vector3::zeros());
        assert_eq!(
            center_of_mass(&[0.0_f32], &[Vector3::x()]),
            Vector3::zeros()
        );
        assert_eq!(momentum::<f64>(&[], &[]), Vector3::zeros());
    }

    #[test]
    fn many_single_precision_masses_lose_nothing() {
        let masses = vec![0.1_f32; 1_000_000];
        let expected = f64::from(0.1_f32) * 1e6;
        assert_relative_eq!(total_mass(&masses), expected, max_relative = 1e-9);
    }
}
