//! Springs between two points, with damping of their stretch.
//!
//! Functions take the difference l = x₂ − x₁ of the ends. What acts on the second end is the opposite of what acts on
//! the first, so that momentum and angular momentum are kept.

use nalgebra::{Matrix3, Vector3};

use crate::kernel::scalar::{Scalar, real};

/// Below this squared length, m², a spring has no direction.
const SMALLEST_SQUARE: f64 = 1e-36;

/// Length and direction l̂ of a difference, and the inverse of the length; the last two zero where the ends coincide.
#[inline(always)]
fn polar<T: Scalar>(difference: &Vector3<T>) -> (T, T, Vector3<T>) {
    let square = difference.dot(difference);
    let length = square.simd_sqrt();
    let apart = square.simd_gt(real(SMALLEST_SQUARE));
    let inverse = (T::one() / length).select(apart, T::zero());
    (length, inverse, difference * inverse)
}

/// A linear spring.
///
/// A spring along an edge of a sheet of membrane stiffness Y, N/m, has k = Y · (width that the edge stands for) / l⁰.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring<T> {
    /// k, N/m.
    pub stiffness: T,
    /// l⁰, m.
    pub rest_length: T,
}

impl<T: Scalar> Spring<T> {
    /// Energy, J; zero at rest length.
    ///
    /// ```text
    /// E = ½ k (|l| − l⁰)²
    /// ```
    /// Eq: `[001 §3.1]`, the potential of its internal force.
    #[inline(always)]
    pub fn energy(&self, difference: &Vector3<T>) -> T {
        let extension = difference.dot(difference).simd_sqrt() - self.rest_length;
        real::<T>(0.5) * self.stiffness * extension * extension
    }

    /// Force on the first end, N; the second gets the opposite.
    ///
    /// ```text
    /// F₁ = k (|l| − l⁰) l̂ = −∂E/∂x₁
    /// ```
    /// Zero where the ends coincide. Erratum: the seed prints the opposite sign, which would push the ends of a
    /// stretched spring apart.
    ///
    /// Eq: `[001 §3.1]`, sign corrected.
    #[inline(always)]
    pub fn force(&self, difference: &Vector3<T>) -> Vector3<T> {
        let (length, _, direction) = polar(difference);
        direction * (self.stiffness * (length - self.rest_length))
    }

    /// Stiffness of the first end, positive semidefinite, N/m; the same for the second, the negative between them.
    ///
    /// ```text
    /// K = k l̂ l̂ᵀ + k max(1 − l⁰/|l|, 0) (I − l̂ l̂ᵀ)
    /// ```
    /// The second derivative of the energy in tension. In compression the sidewise part, which would be negative, is
    /// left out. Where the ends coincide, k I, which is no smaller than any of them.
    ///
    /// Eq: `[Baraff 1998]`, second derivative of the energy `[001 §3.1]`.
    #[inline(always)]
    pub fn stiffness_block(&self, difference: &Vector3<T>) -> Matrix3<T> {
        let (_, inverse, direction) = polar(difference);
        let sidewise = (T::one() - self.rest_length * inverse).simd_max(T::zero()) * self.stiffness;
        let along = direction * (self.stiffness - sidewise);
        let mut block = Matrix3::from_fn(|row, column| along[row] * direction[column]);
        for axis in 0..3 {
            block[(axis, axis)] += sidewise;
        }
        block
    }
}

/// Damping of the stretch of a spring, blind to rotations.
///
/// Used with the rate of the length ṡ from velocities ([`rate`](Self::rate)), or over an implicit stage of length h,
/// in which the length was |l̂| in the beginning ([`over_stage`](Self::over_stage)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringDamping<T> {
    /// c, N·s/m.
    pub coefficient: T,
}

impl<T: Scalar> SpringDamping<T> {
    /// Rate of the length, m/s, from the velocity of the second end relative to the first.
    ///
    /// ```text
    /// ṡ = l̂ · (v₂ − v₁)
    /// ```
    /// Zero where the ends coincide.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn rate(&self, difference: &Vector3<T>, relative_velocity: &Vector3<T>) -> T {
        polar(difference).2.dot(relative_velocity)
    }

    /// Force on the first end, N, at a rate ṡ of the length, m/s; the second gets the opposite.
    ///
    /// ```text
    /// F₁ = c ṡ l̂
    /// ```
    /// Zero where the ends coincide.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn force(&self, difference: &Vector3<T>, rate: T) -> Vector3<T> {
        polar(difference).2 * (self.coefficient * rate)
    }

    /// Power that the damping takes, W; never negative.
    ///
    /// ```text
    /// W = −F₁ · v₁ − F₂ · v₂ = c ṡ²
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn power(&self, rate: T) -> T {
        self.coefficient * rate * rate
    }

    /// The damping over an implicit stage, which is a spring at rest in the length at the beginning of the stage.
    ///
    /// ```text
    /// ½ c h ṡ² = ½ (c/h) (|l| − l_reference)²,   ṡ = (|l| − l_reference)/h
    /// ```
    /// `reference_length` in m, `inverse_step` 1/h in 1/s. The energy of that spring is the dissipation potential,
    /// half of what the stage dissipates; its force is the damping force c ṡ l̂, at the end of the stage.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn over_stage(&self, reference_length: T, inverse_step: T) -> Spring<T> {
        Spring {
            stiffness: self.coefficient * inverse_step,
            rest_length: reference_length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;
    use simba::simd::{SimdValue, WideF32x8};

    const SPRING: Spring<f64> = Spring {
        stiffness: 3.0,
        rest_length: 0.8,
    };

    #[test]
    fn force_on_the_first_end_is_minus_the_gradient() {
        let mut random = Random::new(101);
        let step = 1e-5;
        for _ in 0..50 {
            let (first, second) = (random.vector(1.0), random.vector(1.0));
            let force = SPRING.force(&(second - first));
            for axis in 0..3 {
                let shift = Vector3::ith(axis, step);
                let slope = (SPRING.energy(&(second - first - shift))
                    - SPRING.energy(&(second - first + shift)))
                    / (2.0 * step);
                assert_relative_eq!(force[axis], -slope, epsilon = 1e-7);
            }
            // Both forces act along the line through the ends, so that no torque is left.
            assert!((second - first).cross(&force).amax() < 1e-14);
        }
        let stretched = SPRING.force(&(Vector3::x() * 1.8));
        assert_relative_eq!(stretched, Vector3::x() * 3.0, epsilon = 1e-14);
    }

    #[test]
    fn stiffness_is_the_second_derivative_in_tension_and_semidefinite_always() {
        let mut random = Random::new(102);
        let step = 1e-5;
        for _ in 0..50 {
            let difference = random.vector(1.5);
            let block = SPRING.stiffness_block(&difference);
            assert!(block.symmetric_eigenvalues().min() > -1e-14);
            let unit = difference.normalize();
            assert_relative_eq!((block * unit), unit * 3.0, epsilon = 1e-13);
            if difference.norm() < SPRING.rest_length {
                let across = unit.cross(&random.vector(1.0));
                assert!((block * across).amax() < 1e-14);
                continue;
            }
            for axis in 0..3 {
                let shift = Vector3::ith(axis, step);
                let slope = (SPRING.force(&(difference + shift))
                    - SPRING.force(&(difference - shift)))
                    / (2.0 * step);
                assert_relative_eq!(block.column(axis).into_owned(), slope, epsilon = 1e-7);
            }
        }
    }

    #[test]
    fn energy_is_blind_to_rigid_motions() {
        let mut random = Random::new(103);
        let (difference, rotation) = (random.vector(1.0), random.rotation());
        let turned = rotation * difference;
        assert_relative_eq!(
            SPRING.energy(&difference),
            SPRING.energy(&turned),
            epsilon = 1e-14
        );
        assert_relative_eq!(
            rotation * SPRING.force(&difference),
            SPRING.force(&turned),
            epsilon = 1e-14
        );
    }

    #[test]
    fn coincident_ends_are_neutral() {
        let zero = Vector3::zeros();
        for spring in [
            SPRING,
            Spring {
                rest_length: 0.0,
                ..SPRING
            },
        ] {
            assert_eq!(spring.force(&zero), zero);
            assert_eq!(spring.stiffness_block(&zero), Matrix3::identity() * 3.0);
        }
        assert_relative_eq!(SPRING.energy(&zero), 0.5 * 3.0 * 0.64, epsilon = 1e-15);
        let damping = SpringDamping { coefficient: 2.0 };
        assert_eq!(damping.rate(&zero, &Vector3::x()), 0.0);
        assert_eq!(damping.force(&zero, 1.0), zero);
    }

    #[test]
    fn damping_takes_the_power_of_its_force_and_nothing_from_a_rotation() {
        let mut random = Random::new(104);
        let damping = SpringDamping { coefficient: 0.7 };
        for _ in 0..50 {
            let (difference, velocity) = (random.vector(1.0), random.vector(3.0));
            let rate = damping.rate(&difference, &velocity);
            let force = damping.force(&difference, rate);
            // The relative velocity sees the force of the first end, against it.
            assert_relative_eq!(force.dot(&velocity), damping.power(rate), epsilon = 1e-13);
            let spin = random.vector(5.0).cross(&difference);
            assert!(damping.rate(&difference, &spin).abs() < 1e-14);
        }
    }

    #[test]
    fn stage_and_rate_agree_in_short_stages() {
        let mut random = Random::new(105);
        let damping = SpringDamping { coefficient: 0.7 };
        let step = 1e-6;
        for _ in 0..20 {
            let (difference, velocity) = (random.vector(1.0), random.vector(3.0));
            let stage = damping.over_stage(difference.norm(), 1.0 / step);
            let moved = difference + velocity * step;
            let rate = damping.rate(&difference, &velocity);
            let expected = damping.force(&difference, rate);
            assert!(
                (stage.force(&moved) - expected).norm()
                    < 1e-3 * velocity.norm_squared().max(1.0) / difference.norm()
            );
            let dissipated = 2.0 * stage.energy(&moved) / step;
            assert!(
                (dissipated - damping.power(rate)).abs()
                    < 1e-3 * velocity.norm().powi(3).max(1.0) / difference.norm()
            );
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        let mut random = Random::new(106);
        let differences: Vec<Vector3<f32>> = (0..8).map(|_| random.vector(1.0).cast()).collect();
        let mut packed = Vector3::<WideF32x8>::zeros();
        for (lane, difference) in differences.iter().enumerate() {
            packed.replace(lane, *difference);
        }
        let lanes = Spring {
            stiffness: WideF32x8::splat(3.0),
            rest_length: WideF32x8::splat(0.8),
        };
        let single = Spring {
            stiffness: 3.0f32,
            rest_length: 0.8,
        };
        let (energy, force, block) = (
            lanes.energy(&packed),
            lanes.force(&packed),
            lanes.stiffness_block(&packed),
        );
        for (lane, difference) in differences.iter().enumerate() {
            assert_eq!(energy.extract(lane), single.energy(difference));
            assert_eq!(force.extract(lane), single.force(difference));
            assert_eq!(block.extract(lane), single.stiffness_block(difference));
        }
    }
}
