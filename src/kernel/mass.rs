//! Mass of linear tetrahedra: lumped on the vertices, or consistent with the linear velocity field inside.
//!
//! Lumped masses make the mass matrix diagonal, which is what runs in real time; the consistent matrix has the exact
//! kinetic energy of the velocity field. A tetrahedron with one speed has the same energy in both; one that only
//! deforms has less in the consistent form (down to a fifth), so frequencies come out higher.

use nalgebra::Vector3;

use super::scalar::{Scalar, real};

/// Share of a tetrahedron's mass that each vertex gets, kg.
///
/// ```text
/// m_a = ρ V⁰ / 4
/// ```
/// Eq: elementary.
#[inline]
pub fn lumped_mass<T: Scalar>(density: T, rest_volume: T) -> T {
    density * rest_volume * real::<T>(0.25)
}

/// Entry of the consistent mass matrix for a vertex of a tetrahedron of mass `mass`, kg (times the 3×3 identity).
///
/// ```text
/// M_aa = m / 10
/// ```
/// Eq: `[000 §6.1.1]`.
#[inline]
pub fn consistent_diagonal<T: Scalar>(mass: T) -> T {
    mass * real::<T>(0.1)
}

/// Entry of the consistent mass matrix for an edge of a tetrahedron of mass `mass`, kg (times the 3×3 identity).
///
/// ```text
/// M_ab = m / 20,   a ≠ b
/// ```
/// Eq: `[000 §6.1.1]`.
#[inline]
pub fn consistent_off_diagonal<T: Scalar>(mass: T) -> T {
    mass * real::<T>(0.05)
}

/// Kinetic energy of a tetrahedron whose velocity is linear between its vertices, J.
///
/// ```text
/// K = m/20 (Σᵢ vᵢ² + Σ_{i<j} vᵢ·vⱼ) = m/40 (Σᵢ vᵢ² + |Σᵢ vᵢ|²)
/// ```
/// Eq: `[000 §5.3.1]`.
#[inline]
pub fn consistent_kinetic_energy<T: Scalar>(mass: T, velocities: &[Vector3<T>; 4]) -> T {
    let sum = velocities[0] + velocities[1] + velocities[2] + velocities[3];
    (sum_of_squares(velocities) + sum.dot(&sum)) * mass * real::<T>(0.025)
}

/// Angular momentum of a tetrahedron whose position and velocity are linear between its vertices, kg·m²/s, about the
/// origin of `positions`.
///
/// ```text
/// L = m/20 (Σᵢ xᵢ × vᵢ + Σᵢ xᵢ × Σⱼ vⱼ)
/// ```
/// What a motion with the consistent mass matrix keeps; with lumped masses it is m/4 Σᵢ xᵢ × vᵢ.
///
/// Eq: `[000 §5.3.1]` applied to x × v.
#[inline]
pub fn consistent_angular_momentum<T: Scalar>(
    mass: T,
    positions: &[Vector3<T>; 4],
    velocities: &[Vector3<T>; 4],
) -> Vector3<T> {
    let total = |vectors: &[Vector3<T>; 4]| vectors[0] + vectors[1] + vectors[2] + vectors[3];
    let mut sum = total(positions).cross(&total(velocities));
    for (position, velocity) in positions.iter().zip(velocities) {
        sum += position.cross(velocity);
    }
    sum * mass * real::<T>(0.05)
}

/// Kinetic energy of a tetrahedron with a quarter of its mass at each vertex, J.
///
/// ```text
/// K = m/8 Σᵢ vᵢ²
/// ```
/// Eq: elementary.
#[inline]
pub fn lumped_kinetic_energy<T: Scalar>(mass: T, velocities: &[Vector3<T>; 4]) -> T {
    sum_of_squares(velocities) * mass * real::<T>(0.125)
}

#[inline(always)]
fn sum_of_squares<T: Scalar>(vectors: &[Vector3<T>; 4]) -> T {
    vectors
        .iter()
        .fold(T::zero(), |sum, vector| sum + vector.dot(vector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn uniform_velocity_has_the_energy_of_a_point_mass() {
        let velocity = Vector3::new(1.0, -2.0, 3.0);
        let expected = 0.5 * 7.0 * velocity.norm_squared();
        assert_relative_eq!(consistent_kinetic_energy(7.0, &[velocity; 4]), expected);
        assert_relative_eq!(lumped_kinetic_energy(7.0, &[velocity; 4]), expected);
    }

    #[test]
    fn consistent_energy_is_the_quadratic_form_of_the_mass_matrix() {
        let mut random = Random::new(15);
        let velocities = [(); 4].map(|()| random.vector(3.0));
        let mut form = 0.0;
        let mut printed = 0.0;
        for (i, a) in velocities.iter().enumerate() {
            for (j, b) in velocities.iter().enumerate() {
                let entry = if i == j {
                    consistent_diagonal(2.0)
                } else {
                    consistent_off_diagonal(2.0)
                };
                form += 0.5 * entry * a.dot(b);
                if i <= j {
                    printed += 2.0 / 20.0 * a.dot(b);
                }
            }
        }
        let energy = consistent_kinetic_energy(2.0, &velocities);
        assert_relative_eq!(energy, form, max_relative = 1e-14);
        assert_relative_eq!(energy, printed, max_relative = 1e-14);
    }

    #[test]
    fn rows_of_both_mass_matrices_sum_to_a_quarter() {
        let mass = 4.0 * lumped_mass(1000.0, 1e-3);
        assert_relative_eq!(mass, 1.0);
        let row = consistent_diagonal(mass) + 3.0 * consistent_off_diagonal(mass);
        assert_relative_eq!(row, lumped_mass(1000.0, 1e-3), epsilon = 1e-16);
    }

    #[test]
    fn pure_deformation_has_a_fifth_of_the_lumped_energy() {
        let velocities = [1.0, -1.0, 1.0, -1.0].map(|speed| Vector3::new(speed, 0.0, 0.0));
        assert_relative_eq!(
            consistent_kinetic_energy(1.0, &velocities),
            0.2 * lumped_kinetic_energy(1.0, &velocities),
            epsilon = 1e-16
        );
    }

    #[test]
    fn consistent_angular_momentum_of_a_spin_is_that_of_the_solid() {
        // A rectangular corner tetrahedron about its center: I_zz = m/80 · 3 (a² + b²) for legs a, b, c.
        let (a, b, c) = (1.0, 2.0, 3.0);
        let center = Vector3::new(a, b, c) / 4.0;
        let corners = [
            Vector3::zeros(),
            Vector3::new(a, 0.0, 0.0),
            Vector3::new(0.0, b, 0.0),
            Vector3::new(0.0, 0.0, c),
        ]
        .map(|corner| corner - center);
        let spin = Vector3::new(0.0, 0.0, 5.0);
        let velocities = corners.map(|corner| spin.cross(&corner));
        let momentum = consistent_angular_momentum(8.0_f64, &corners, &velocities);
        let expected = 8.0 / 80.0 * 3.0 * (a * a + b * b) * 5.0;
        assert!(
            (momentum.z - expected).abs() < 1e-12 * expected,
            "{momentum}"
        );
    }
}
