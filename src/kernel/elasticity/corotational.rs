//! Corotational energy: linear elasticity in the frame that turns with the element.
//!
//! ```text
//! Ψ = μ |S − I|² + λ/2 (tr(S − I))²,   F = R S
//! ```
//! `R` is the proper rotation of the polar decomposition, so an inverted element has one negative principal stretch,
//! which is pulled back to one. The stress needs one singular value decomposition; it is linear in the principal
//! stretches, with no barrier against collapse.
//!
//! Where `σᵢ + σⱼ` vanishes (two equal stretches of opposite sign) the rotation is not unique and the stress jumps:
//! the differential and the second derivative therefore never divide by a sum below 1e-4.

use nalgebra::{Matrix3, Vector3};

use super::isotropic::PrincipalModes;
use super::{Elasticity, Hessian, NODE_PAIRS};
use crate::kernel::eigen::PAIRS;
use crate::kernel::matrix::{columns, double_contraction, transposed_product};
use crate::kernel::moduli::Moduli;
use crate::kernel::scalar::{Scalar, real};
use crate::kernel::singular_values::singular_value_decomposition;

/// Sums of two principal stretches count as at least this much where they are divided by.
const SMALLEST_STRETCH_SUM: f64 = 1e-4;

/// Corotational energy.
///
/// Eq: `[Müller 2004]`; with all principal stretches, `[Irving 2004]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corotational<T> {
    /// μ, Pa.
    pub lame_mu: T,
    /// λ, Pa.
    pub lame_lambda: T,
}

impl<T: Scalar> Corotational<T> {
    /// Part of the stress along the rotation, Pa.
    ///
    /// ```text
    /// λ (σ₁ + σ₂ + σ₃ − 3)
    /// ```
    #[inline(always)]
    fn pressure(&self, stretch: &Vector3<T>) -> T {
        let excess = stretch.map(|value| value - T::one());
        self.lame_lambda * (excess.x + excess.y + excess.z)
    }
}

/// The sum of two principal stretches, kept away from zero.
#[inline(always)]
fn stretch_sum<T: Scalar>(stretch: &Vector3<T>, i: usize, j: usize) -> T {
    (stretch[i] + stretch[j]).simd_max(real(SMALLEST_STRETCH_SUM))
}

impl<T: Scalar> Elasticity<T> for Corotational<T> {
    #[inline]
    fn from_moduli(moduli: Moduli<T>) -> Self {
        Self {
            lame_mu: moduli.shear,
            lame_lambda: moduli.lame_lambda(),
        }
    }

    /// ```text
    /// Ψ = μ Σ (σᵢ − 1)² + λ/2 (Σ (σᵢ − 1))²
    /// ```
    #[inline]
    fn energy_density(&self, deformation: &Matrix3<T>) -> T {
        let (_, stretch, _) = singular_value_decomposition(deformation);
        let excess = stretch.map(|value| value - T::one());
        let sum = excess.x + excess.y + excess.z;
        self.lame_mu * excess.dot(&excess) + real::<T>(0.5) * self.lame_lambda * sum * sum
    }

    /// ```text
    /// P = 2 μ (F − R) + λ tr(S − I) R = U diag(2 μ (σᵢ − 1) + λ Σ (σⱼ − 1)) Vᵀ
    /// ```
    #[inline]
    fn stress(&self, deformation: &Matrix3<T>) -> Matrix3<T> {
        let (left, stretch, right) = singular_value_decomposition(deformation);
        let pressure = self.pressure(&stretch);
        let twice = real::<T>(2.0) * self.lame_mu;
        let mut scaled = left;
        for axis in 0..3 {
            let principal = twice * (stretch[axis] - T::one()) + pressure;
            for row in 0..3 {
                scaled[(row, axis)] *= principal;
            }
        }
        scaled * right.transpose()
    }

    /// ```text
    /// dP = 2 μ dF + λ (R : dF) R + (λ tr(S − I) − 2 μ) dR
    /// (Uᵀ dR V)ᵢⱼ = (Dᵢⱼ − Dⱼᵢ)/(σᵢ + σⱼ),   D = Uᵀ dF V
    /// ```
    #[inline]
    fn stress_differential(&self, deformation: &Matrix3<T>, change: &Matrix3<T>) -> Matrix3<T> {
        let (left, stretch, right) = singular_value_decomposition(deformation);
        let twice = real::<T>(2.0) * self.lame_mu;
        let turning = self.pressure(&stretch) - twice;
        let inner = transposed_product(&left, change) * right;
        let mut spin = Matrix3::zeros();
        for (i, j, _) in PAIRS {
            let rate = (inner[(i, j)] - inner[(j, i)]) / stretch_sum(&stretch, i, j);
            spin[(i, j)] = rate;
            spin[(j, i)] = -rate;
        }
        let rotation = left * right.transpose();
        change * twice
            + rotation * (self.lame_lambda * double_contraction(&rotation, change))
            + left * (spin * turning) * right.transpose()
    }

    /// ```text
    /// flipₖ  = 2 μ
    /// twistₖ = 2 μ + 2 (λ tr(S − I) − 2 μ)/(σᵢ + σⱼ)
    /// scalingᵢⱼ = 2 μ δᵢⱼ + λ
    /// ```
    #[inline]
    fn hessian_psd(&self, deformation: &Matrix3<T>) -> Hessian<T> {
        let (left, stretch, right) = singular_value_decomposition(deformation);
        let twice = real::<T>(2.0) * self.lame_mu;
        let turning = real::<T>(2.0) * (self.pressure(&stretch) - twice);
        let mut twist = Vector3::zeros();
        for (i, j, k) in PAIRS {
            twist[k] = twice + turning / stretch_sum(&stretch, i, j);
        }
        let lambda = self.lame_lambda;
        PrincipalModes {
            scaling: Matrix3::from_fn(|i, j| if i == j { twice + lambda } else { lambda }),
            flip: Vector3::repeat(twice),
            twist,
        }
        .hessian_psd(&left, &right)
    }

    /// ```text
    /// K_ab = 2 μ (b_a · b_b) I + λ r_a r_bᵀ + Σₖ max(twistₖ − 2 μ, −2 μ) q_ka q_kbᵀ
    /// r = R b,   q_k = (u_i (v_j · b) − u_j (v_i · b))/√2
    /// ```
    /// The same projection as [`hessian_psd`](Self::hessian_psd), without the matrix of nine rows.
    #[inline(always)]
    fn node_stiffness(
        &self,
        deformation: &Matrix3<T>,
        gradients: &[Vector3<T>; 3],
    ) -> [Matrix3<T>; 6] {
        let (left, stretch, right) = singular_value_decomposition(deformation);
        let (u, v) = (columns(&left), columns(&right));
        let twice = real::<T>(2.0) * self.lame_mu;
        let turning = self.pressure(&stretch) - twice;

        // Gradients in the axes of the rest shape, and as the rotation turns them.
        let inner = gradients.map(|gradient| v.map(|axis| axis.dot(&gradient)));
        let turned = inner.map(|b| u[0] * b[0] + u[1] * b[1] + u[2] * b[2]);
        let mut blocks = [Matrix3::zeros(); 6];
        for (block, (a, b)) in blocks.iter_mut().zip(NODE_PAIRS) {
            let scaled = turned[a] * self.lame_lambda;
            *block = Matrix3::from_fn(|i, j| scaled[i] * turned[b][j]);
            let along = twice * gradients[a].dot(&gradients[b]);
            for axis in 0..3 {
                block[(axis, axis)] += along;
            }
        }
        for (i, j, _) in PAIRS {
            // Half of 2 (λ tr(S − I) − 2 μ)/(σᵢ + σⱼ), the other half is in the square of 1/√2.
            let twist = (turning / stretch_sum(&stretch, i, j)).simd_max(-self.lame_mu);
            let arms = inner.map(|b| u[i] * b[j] - u[j] * b[i]);
            for (block, (a, b)) in blocks.iter_mut().zip(NODE_PAIRS) {
                let scaled = arms[a] * twist;
                for row in 0..3 {
                    for column in 0..3 {
                        block[(row, column)] += scaled[row] * arms[b][column];
                    }
                }
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::elasticity::{checks, node_blocks};
    use crate::kernel::testing::Random;
    use simba::simd::WideF32x8;

    fn energy() -> Corotational<f64> {
        Corotational::from_moduli(checks::moduli())
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
        // Not only close to the projected second derivative, but equal to it.
        let mut random = Random::new(27);
        for deformation in checks::all_states() {
            let gradients = [random.vector(1.0), random.vector(1.0), random.vector(1.0)];
            let blocks = energy().node_stiffness(&deformation, &gradients);
            let expected = node_blocks(&energy().hessian_psd(&deformation), &gradients);
            for (block, expected) in blocks.iter().zip(&expected) {
                assert!((block - expected).amax() <= 1e-9 * energy().lame_mu);
            }
        }
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
        checks::lanes_equal_scalars::<Corotational<f32>, Corotational<WideF32x8>>();
    }

    #[test]
    fn collapsed_and_mirrored_elements_stay_finite() {
        let mirror = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
        for deformation in [Matrix3::zeros(), mirror, Matrix3::from_element(1.0)] {
            let energy = energy();
            let change = Matrix3::from_fn(|row, column| (row * 2 + column) as f64);
            assert!(energy.energy_density(&deformation).is_finite());
            let stress = energy.stress(&deformation);
            let differential = energy.stress_differential(&deformation, &change);
            let hessian = energy.hessian_psd(&deformation);
            assert!(stress.iter().chain(&differential).all(|x| x.is_finite()));
            assert!(hessian.iter().all(|x| x.is_finite()));
        }
    }
}
