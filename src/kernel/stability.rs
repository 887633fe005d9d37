//! Largest steps with which explicit integration stays stable.

use super::moduli::Moduli;
use super::scalar::{Single, real};

/// Largest stable step of symplectic Euler with explicit damping, s.
///
/// ```text
/// v' = v − τ (ω² x + γ v),   x' = x + τ v'        stable for
/// τ ≤ (−γ + √(γ² + 4 ω²)) / ω² = 4 / (γ + √(γ² + 4 ω²))
/// ```
/// `frequency` ω in rad/s and `damping` γ in 1/s, each the largest of the system. Without damping 2/ω, without
/// stiffness 2/γ, with neither the largest number. Computed by the second form, which loses no digits. Signs are
/// ignored.
///
/// Eq: elementary (both roots of the characteristic polynomial within the unit circle).
pub fn largest_stable_step<T: Single>(frequency: T, damping: T) -> T {
    let (frequency, damping) = (frequency.abs(), damping.abs());
    let rate = damping + damping.hypot(frequency + frequency);
    quotient_or_largest(real(4.0), rate)
}

/// Estimate of the largest stable step of one tetrahedron from its size and the speed of sound, s.
///
/// ```text
/// τ = ½ a / √((K + 4/3 G)/ρ)        a the smallest altitude
/// ```
/// Half of the time in which a longitudinal wave crosses the tetrahedron: cheap, and below 2/ω of the element at
/// rest; compressed elements may be stiffer. `density` ρ in kg/m³, `smallest_altitude` in m. A material without
/// stiffness allows any step: the largest number. A flat tetrahedron allows none: zero.
///
/// Eq: `[Courant 1928]`, with the longitudinal modulus.
pub fn wave_crossing_step<T: Single>(smallest_altitude: T, moduli: Moduli<T>, density: T) -> T {
    let altitude = smallest_altitude.max(T::zero());
    let modulus = moduli.longitudinal_modulus().max(T::zero());
    let slowness = quotient_or_largest(density.max(T::zero()), modulus).sqrt();
    real::<T>(0.5) * altitude * slowness
}

/// A quotient of numbers that are not negative; the largest number where the denominator is zero.
fn quotient_or_largest<T: Single>(numerator: T, denominator: T) -> T {
    let largest = T::max_value().unwrap_or_else(|| real(f64::from(f32::MAX)));
    if denominator > T::zero() {
        (numerator / denominator).min(largest)
    } else {
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::elasticity::{Elasticity, Liesenfeld};
    use crate::kernel::testing::Random;
    use crate::kernel::{mass, tetrahedron};
    use approx::assert_relative_eq;
    use nalgebra::{Matrix3, SMatrix};

    fn amplitude_after(step: f64, frequency: f64, damping: f64) -> f64 {
        let (mut position, mut velocity) = (1.0_f64, 0.3_f64);
        for _ in 0..20_000 {
            velocity -= step * (frequency * frequency * position + damping * velocity);
            position += step * velocity;
            if !position.is_finite() {
                return f64::INFINITY;
            }
        }
        position.hypot(velocity * step)
    }

    #[test]
    fn oscillators_are_stable_just_below_the_bound_and_not_above() {
        for (frequency, damping) in [(1.0, 0.0), (3.0, 0.5), (1.0, 10.0), (200.0, 1.0)] {
            let bound = largest_stable_step(frequency, damping);
            assert!(amplitude_after(bound * 0.99, frequency, damping) < 20.0);
            assert!(amplitude_after(bound * 1.01, frequency, damping) > 1e6);
        }
    }

    #[test]
    fn limits_are_the_known_ones() {
        assert_relative_eq!(largest_stable_step(5.0, 0.0), 0.4);
        assert_relative_eq!(largest_stable_step(0.0, 5.0), 0.4);
        assert_relative_eq!(largest_stable_step(1e-12, 5.0), 0.4);
        assert_eq!(largest_stable_step(0.0_f32, 0.0), f32::MAX);
    }

    #[test]
    fn wave_crossing_is_below_the_exact_bound_of_the_element() {
        let mut random = Random::new(33);
        let moduli = Moduli {
            bulk: 22_000.0,
            shear: 16_000.0,
        };
        let density = 1000.0;
        let energy = Liesenfeld::from_moduli(moduli);
        for _ in 0..50 {
            let corners = [(); 4].map(|()| random.vector(0.1));
            let edges = tetrahedron::edge_matrix(&corners);
            if tetrahedron::quality(&edges) < 0.1 {
                continue;
            }
            let volume = tetrahedron::volume(&edges);
            let inverse = tetrahedron::rest_inverse(&edges);
            let gradients = tetrahedron::shape_gradients(&inverse);
            let hessian = energy.hessian_psd(&Matrix3::identity());
            let mut map = SMatrix::<f64, 9, 12>::zeros();
            for (vertex, gradient) in gradients.iter().enumerate() {
                for axis in 0..3 {
                    for along in 0..3 {
                        map[(along * 3 + axis, vertex * 3 + axis)] = gradient[along];
                    }
                }
            }
            let stiffness = map.transpose() * hessian * map * volume;
            let mass = mass::lumped_mass(density, volume);
            let frequency = (stiffness.symmetric_eigenvalues().max() / mass).sqrt();
            let altitude = tetrahedron::smallest_altitude(&edges);
            let estimate = wave_crossing_step(altitude, moduli, density);
            assert!(estimate <= largest_stable_step(frequency, 0.0));
        }
    }

    #[test]
    fn degenerate_elements_are_neutral() {
        let moduli = Moduli {
            bulk: 0.0_f32,
            shear: 0.0,
        };
        assert!(wave_crossing_step(0.1, moduli, 1000.0) > 1e15);
        let moduli = Moduli {
            bulk: 1e4_f32,
            shear: 1e4,
        };
        assert_eq!(wave_crossing_step(0.0, moduli, 1000.0), 0.0);
        assert_eq!(wave_crossing_step(0.1, moduli, 0.0), 0.0);
    }
}
