//! Stable neo-Hookean energy: rubber-like, finite and smooth for flat and inverted elements.
//!
//! ```text
//! Ψ = m/2 (I₁ − 3) + l/2 (J − a)² − m/2 ln(I₁ + 1)   (+ a constant that makes it zero at rest)
//! I₁ = tr FᵀF,   J = det F,   m = 4/3 μ,   l = λ + 5/6 μ,   a = 1 + m/l − m/(4 l)
//! ```
//! The logarithm keeps the element collapsed to a point from being a stationary state; `a` makes `F = I` free of
//! stress; `m` and `l` restore the moduli of small strains.

use nalgebra::{Matrix3, Vector3};

use super::isotropic::{PrincipalModes, stretch_bound};
use super::{Elasticity, Hessian, NODE_PAIRS};
use crate::kernel::eigen::PAIRS;
use crate::kernel::matrix::{
    add_cross_matrix, add_to_diagonal, cofactor, cofactor_differential, determinant,
    double_contraction, times_vector, trace, transposed_product,
};
use crate::kernel::moduli::Moduli;
use crate::kernel::scalar::{Scalar, real};
use crate::kernel::singular_values::singular_value_decomposition;

/// Largest Green strain for which the energy is computed from products of strains.
const NEAR_REST: f64 = 0.25;

/// Volume ratio below which the second derivative is bounded more generously.
const SQUEEZED: f64 = 0.5;

/// Stable neo-Hookean energy.
///
/// Eq: `[Smith 2018]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableNeoHookean<T> {
    /// m, Pa.
    pub shear_coefficient: T,
    /// l, Pa.
    pub volume_coefficient: T,
}

impl<T: Scalar> StableNeoHookean<T> {
    /// Factor of `F` in the stress, Pa.
    ///
    /// ```text
    /// m (1 − 1/(I₁ + 1)) = m I₁/(I₁ + 1)
    /// ```
    #[inline(always)]
    fn shear_factor(&self, squared_norm: T) -> T {
        self.shear_coefficient * squared_norm / (squared_norm + T::one())
    }

    /// Factor of `cof F` in the stress, Pa.
    ///
    /// ```text
    /// l (J − a) = l (J − 1) − 3/4 m
    /// ```
    #[inline(always)]
    fn volume_factor(&self, ratio: T) -> T {
        self.volume_coefficient * (ratio - T::one()) - real::<T>(0.75) * self.shear_coefficient
    }
}

impl<T: Scalar> Elasticity<T> for StableNeoHookean<T> {
    /// ```text
    /// m = 4/3 μ,   l = λ + 5/6 μ = K + μ/6
    /// ```
    #[inline]
    fn from_moduli(moduli: Moduli<T>) -> Self {
        Self {
            shear_coefficient: real::<T>(4.0 / 3.0) * moduli.shear,
            volume_coefficient: moduli.bulk + real::<T>(1.0 / 6.0) * moduli.shear,
        }
    }

    /// ```text
    /// Ψ = 3m/8 (d − 2 (J − 1)) + m/2 (d/4 − ln(1 + d/4)) + l/2 (J − 1)²        d = I₁ − 3
    /// d − 2 (J − 1) = (J − 1)² − 4 II_E − 8 III_E        E = (FᵀF − I)/2
    /// ```
    /// The same function as in the module's formula; near rest every term is a product of strains.
    #[inline]
    fn energy_density(&self, deformation: &Matrix3<T>) -> T {
        let strain = add_to_diagonal(&transposed_product(deformation, deformation), -T::one())
            * real::<T>(0.5);
        let excess = real::<T>(2.0) * trace(&strain);
        let expansion = determinant(deformation) - T::one();

        let second = trace(&cofactor(&strain));
        let third = determinant(&strain);
        let from_strains = expansion * expansion - real::<T>(4.0) * second - real::<T>(8.0) * third;
        let direct = excess - real::<T>(2.0) * expansion;
        // Far from rest the products of strains are much larger than their sum.
        let size = double_contraction(&strain, &strain);
        let near = size.simd_lt(real(NEAR_REST * NEAR_REST));
        let distortion = from_strains.select(near, direct);

        let quarter = real::<T>(0.25) * excess;
        self.shear_coefficient
            * (real::<T>(0.375) * distortion + real::<T>(0.5) * (quarter - quarter.simd_ln_1p()))
            + real::<T>(0.5) * self.volume_coefficient * expansion * expansion
    }

    /// ```text
    /// P = m (1 − 1/(I₁ + 1)) F + l (J − a) cof F
    /// ```
    #[inline]
    fn stress(&self, deformation: &Matrix3<T>) -> Matrix3<T> {
        let squared_norm = double_contraction(deformation, deformation);
        deformation * self.shear_factor(squared_norm)
            + cofactor(deformation) * self.volume_factor(determinant(deformation))
    }

    /// ```text
    /// dP = m (1 − 1/(I₁ + 1)) dF + 2 m (F : dF)/(I₁ + 1)² F + l (cof F : dF) cof F + l (J − a) d cof F
    /// ```
    #[inline]
    fn stress_differential(&self, deformation: &Matrix3<T>, change: &Matrix3<T>) -> Matrix3<T> {
        let squared_norm = double_contraction(deformation, deformation);
        let inverse = T::one() / (squared_norm + T::one());
        let stretching = double_contraction(deformation, change);
        let cofactor = cofactor(deformation);
        let ratio_change = double_contraction(&cofactor, change);
        change * self.shear_factor(squared_norm)
            + deformation
                * (real::<T>(2.0) * self.shear_coefficient * stretching * inverse * inverse)
            + cofactor * (self.volume_coefficient * ratio_change)
            + cofactor_differential(deformation, change)
                * self.volume_factor(determinant(deformation))
    }

    /// ```text
    /// flipₖ  = m (1 − 1/(I₁ + 1)) − l (J − a) σₖ
    /// twistₖ = m (1 − 1/(I₁ + 1)) + l (J − a) σₖ
    /// scalingᵢᵢ = m (1 − 1/(I₁ + 1)) + 2 m σᵢ²/(I₁ + 1)² + l (J/σᵢ)²
    /// scalingᵢⱼ = 2 m σᵢσⱼ/(I₁ + 1)² + l (J/σᵢ)(J/σⱼ) + l (J − a) σₖ
    /// ```
    #[inline]
    fn hessian_psd(&self, deformation: &Matrix3<T>) -> Hessian<T> {
        let (left, stretch, right) = singular_value_decomposition(deformation);
        let others = Vector3::new(
            stretch.y * stretch.z,
            stretch.x * stretch.z,
            stretch.x * stretch.y,
        );
        let squared_norm = stretch.dot(&stretch);
        let inverse = T::one() / (squared_norm + T::one());
        let shear = self.shear_factor(squared_norm);
        let pressure = stretch * self.volume_factor(stretch.x * others.x);

        let softening = real::<T>(2.0) * self.shear_coefficient * inverse * inverse;
        let mut scaling = stretch * stretch.transpose() * softening
            + others * others.transpose() * self.volume_coefficient;
        for (i, j, k) in PAIRS {
            scaling[(i, j)] += pressure[k];
            scaling[(j, i)] += pressure[k];
        }
        PrincipalModes {
            scaling: add_to_diagonal(&scaling, shear),
            flip: pressure.map(|pressure| shear - pressure),
            twist: pressure.map(|pressure| shear + pressure),
        }
        .hessian_psd(&left, &right)
    }

    /// ```text
    /// K_ab = (s + δ) (b_a · b_b) I + p [F (b_b × b_a)]× + l c_a c_bᵀ + 2m/(I₁ + 1)² f_a f_bᵀ
    /// s = m I₁/(I₁ + 1),   p = l (J − a),   f = F b,   c = cof F b,   δ = max(0, |p| ρ − s)
    /// ```
    /// The exact second derivative but for δ, which lifts the lowest twist or flip `s − |p| σ_max` to zero: a body
    /// under compression would rather turn aside. `ρ` is `stretch_bound`, with which δ vanishes at rest; for strongly
    /// squeezed and for expanded elements it is what bounds the scaling modes as well (2 σ_max and √I₁).
    #[inline(always)]
    fn node_stiffness(
        &self,
        deformation: &Matrix3<T>,
        gradients: &[Vector3<T>; 3],
    ) -> [Matrix3<T>; 6] {
        let squared_norm = double_contraction(deformation, deformation);
        let inverse = T::one() / (squared_norm + T::one());
        let softening = real::<T>(2.0) * self.shear_coefficient * inverse * inverse;
        let shear = self.shear_factor(squared_norm);
        let cofactors = cofactor(deformation);
        let ratio = determinant(deformation);
        let pressure = self.volume_factor(ratio);

        let twist = stretch_bound(deformation);
        let squeezed = ratio.simd_lt(real(SQUEEZED));
        let expanded = pressure.simd_gt(T::zero());
        let bound = (twist * real::<T>(2.0)).select(squeezed, twist);
        let bound = squared_norm.simd_sqrt().select(expanded, bound);
        let lifted = shear.simd_max(pressure.simd_abs() * bound);

        let stretched = gradients.map(|gradient| times_vector(deformation, &gradient));
        let turned = gradients.map(|gradient| times_vector(&cofactors, &gradient));
        // A loop: mapping the array would copy all blocks once more.
        let mut blocks = [Matrix3::zeros(); 6];
        for (target, (a, b)) in blocks.iter_mut().zip(NODE_PAIRS) {
            let along = lifted * gradients[a].dot(&gradients[b]);
            let (f_a, f_b) = (stretched[a] * softening, stretched[b]);
            let (c_a, c_b) = (turned[a] * self.volume_coefficient, turned[b]);
            let mut block = Matrix3::from_fn(|i, j| f_a[i] * f_b[j] + c_a[i] * c_b[j]);
            for axis in 0..3 {
                block[(axis, axis)] += along;
            }
            if a != b {
                let axial =
                    times_vector(deformation, &gradients[b].cross(&gradients[a])) * pressure;
                add_cross_matrix(&mut block, &axial);
            }
            *target = block;
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::elasticity::checks;
    use approx::assert_relative_eq;
    use simba::simd::WideF32x8;

    fn energy() -> StableNeoHookean<f64> {
        StableNeoHookean::from_moduli(checks::moduli())
    }

    #[test]
    fn rest_state_has_neither_energy_nor_stress() {
        checks::rest_state(energy());
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy() {
        checks::gradient(energy(), &checks::all_states());
    }

    #[test]
    fn stress_differential_is_exact() {
        checks::differential(energy(), &checks::all_states());
    }

    #[test]
    fn hessian_is_exact_where_it_may_be_and_never_negative() {
        checks::hessian(energy());
    }

    #[test]
    fn node_stiffness_is_exact_at_rest_and_never_negative() {
        checks::node_stiffness(energy());
    }

    #[test]
    fn rotations_do_not_change_the_material() {
        checks::rotation_invariance(energy());
    }

    #[test]
    fn small_strain_has_the_given_moduli() {
        checks::small_strain(energy());
    }

    #[test]
    fn inverted_element_is_pushed_back() {
        checks::inversion_is_resisted(energy());
    }

    #[test]
    fn lanes_equal_scalars() {
        checks::lanes_equal_scalars::<StableNeoHookean<f32>, StableNeoHookean<WideF32x8>>();
    }

    #[test]
    fn energy_is_the_published_formula_up_to_its_value_at_rest() {
        let energy = energy();
        let (m, l) = (energy.shear_coefficient, energy.volume_coefficient);
        let a = 1.0 + m / l - m / (4.0 * l);
        let published = |deformation: &Matrix3<f64>| {
            let (first, ratio) = (deformation.norm_squared(), deformation.determinant());
            m / 2.0 * (first - 3.0) + l / 2.0 * (ratio - a).powi(2) - m / 2.0 * (first + 1.0).ln()
        };
        let rest = published(&Matrix3::identity());
        for deformation in checks::all_states() {
            let expected = published(&deformation) - rest;
            assert_relative_eq!(
                energy.energy_density(&deformation),
                expected,
                max_relative = 1e-9,
                epsilon = 1e-10 * m
            );
        }
    }
}
