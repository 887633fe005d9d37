//! Liesenfeld's energy: deviatoric Green strain, and a volume term that grows without bound as the volume vanishes.
//!
//! ```text
//! Φ = α/32 (Δ² + Δ⁻² − 2) + β/6 (Γ² − 3Σ) = U(J) + β |dev E|²
//! U(J) = α/32 (J² − J⁻²)²,   E = (T − I)/2,   T = FᵀF,   J = det F
//! Δ = det T = J²,   Γ = tr T,   Σ = sum of the principal 2×2 minors of T
//! ```
//! For small strains α is the bulk and β the shear modulus.
//!
//! Two limits of the original formula:
//!
//! * `Δ = J²` does not see the sign of `J`. A finite step can jump over the barrier into a mirrored element, whose
//!   rest state is as good as the true one. Therefore `U` is continued below a volume ratio `J_c` by its second-order
//!   Taylor polynomial, which keeps two derivatives continuous, is convex, and pushes inverted elements back. Smaller
//!   `J_c` are stiffer: U'' is 152 α at 0.4, but about 10⁴ α at 0.2. [`Liesenfeld::reference`] keeps the original
//!   formula; whoever uses it must reject steps with `J ≤ 0`.
//! * The β term is not blind to volume under shear, against the seed's claim: it falls with the fourth power of the
//!   size, so a sheared body shrinks (by a shear of 1 and α/β = 22/16 to J = 0.72). Where volume matters, take
//!   Poisson's ratio of 0.4 or more.

use nalgebra::{Matrix3, Vector3};

use super::isotropic::{PrincipalModes, largest_eigenvalue_bound};
use super::{Elasticity, Hessian, NODE_PAIRS};
use crate::kernel::eigen::PAIRS;
use crate::kernel::matrix::{
    add_to_diagonal, cofactor, cofactor_differential, determinant, deviator, double_contraction,
    product_with_transpose, times_vector, transposed_product,
};
use crate::kernel::moduli::Moduli;
use crate::kernel::scalar::{Scalar, real};
use crate::kernel::singular_values::singular_value_decomposition;

/// Liesenfeld's energy, with the volume term continued through inversion.
///
/// Eq: `[000 eq. 4.13]`; continuation: elementary (second-order Taylor polynomial).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liesenfeld<T> {
    /// α, Pa.
    pub bulk: T,
    /// β, Pa.
    pub shear: T,
    /// J_c, the volume ratio below which the volume term is continued by its Taylor polynomial; zero: nowhere.
    pub extension_below: T,
}

/// The volume term and its derivatives by the volume ratio, Pa.
struct VolumeTerm<T> {
    energy: T,
    slope: T,
    curvature: T,
}

impl<T: Scalar> Liesenfeld<T> {
    /// Default of [`extension_below`](Self::extension_below).
    pub const EXTENSION_BELOW: f64 = 0.4;

    /// The seed's formula without continuation: infinite for flat elements, and blind to inversion.
    ///
    /// Eq: `[000 eq. 4.13]`.
    #[inline]
    pub fn reference(moduli: Moduli<T>) -> Self {
        Self {
            bulk: moduli.bulk,
            shear: moduli.shear,
            extension_below: T::zero(),
        }
    }

    /// The energy whose volume term is continued below the given volume ratio J_c.
    ///
    /// Eq: `[000 eq. 4.13]`; continuation: elementary.
    #[inline]
    pub fn extended(moduli: Moduli<T>, extension_below: T) -> Self {
        Self {
            extension_below,
            ..Self::reference(moduli)
        }
    }

    /// The volume term at volume ratio `J`.
    ///
    /// ```text
    /// U   = α/32 (j² − j⁻²)² + U' (J − j) + ½ U'' (J − j)²     j = max(J, J_c)
    /// U'  = α/8 (j³ − j⁻⁵) + U'' (J − j)
    /// U'' = α/8 (3 j² + 5 j⁻⁶)
    /// ```
    #[inline(always)]
    fn volume_term(&self, ratio: T) -> VolumeTerm<T> {
        let extended = self.extension_below.simd_gt(T::zero());
        let at = ratio.simd_max(self.extension_below).select(extended, ratio);
        let beyond = ratio - at;
        let square = at * at;
        let inverse = T::one() / at;
        let inverse_square = inverse * inverse;
        let inverse_fourth = inverse_square * inverse_square;
        let eighth = self.bulk * real::<T>(0.125);

        let difference = square - inverse_square;
        let curvature =
            eighth * (real::<T>(3.0) * square + real::<T>(5.0) * inverse_fourth * inverse_square);
        let slope = eighth * (square * at - inverse_fourth * inverse);
        VolumeTerm {
            energy: real::<T>(0.25) * eighth * difference * difference
                + (slope + real::<T>(0.5) * curvature * beyond) * beyond,
            slope: slope + curvature * beyond,
            curvature,
        }
    }
}

impl<T: Scalar> Elasticity<T> for Liesenfeld<T> {
    #[inline]
    fn from_moduli(moduli: Moduli<T>) -> Self {
        Self::extended(moduli, real(Self::EXTENSION_BELOW))
    }

    /// ```text
    /// Ψ = U(J) + β dev E : dev E
    /// ```
    #[inline]
    fn energy_density(&self, deformation: &Matrix3<T>) -> T {
        let metric = transposed_product(deformation, deformation);
        let strain = deviator(&metric) * real::<T>(0.5);
        self.volume_term(determinant(deformation)).energy
            + self.shear * double_contraction(&strain, &strain)
    }

    /// ```text
    /// P = β F dev(FᵀF) + U' cof F
    /// ```
    #[inline(always)]
    fn stress(&self, deformation: &Matrix3<T>) -> Matrix3<T> {
        let metric = deviator(&transposed_product(deformation, deformation));
        let volume = self.volume_term(determinant(deformation));
        deformation * (metric * self.shear) + cofactor(deformation) * volume.slope
    }

    /// ```text
    /// dP = β (dF dev T + F dev(dFᵀF + FᵀdF)) + U'' (cof F : dF) cof F + U' d cof F
    /// ```
    #[inline(always)]
    fn stress_differential(&self, deformation: &Matrix3<T>, change: &Matrix3<T>) -> Matrix3<T> {
        let metric = deviator(&transposed_product(deformation, deformation));
        let half = transposed_product(deformation, change);
        let metric_change = deviator(&(half + half.transpose()));
        let volume = self.volume_term(determinant(deformation));
        let cofactor = cofactor(deformation);
        let ratio_change = double_contraction(&cofactor, change);
        (change * metric + deformation * metric_change) * self.shear
            + cofactor * (volume.curvature * ratio_change)
            + cofactor_differential(deformation, change) * volume.slope
    }

    /// ```text
    /// flipₖ  = β (σᵢ² + σᵢσⱼ + σⱼ² − s/3) − U' σₖ          s = σ₁² + σ₂² + σ₃²
    /// twistₖ = β (σᵢ² − σᵢσⱼ + σⱼ² − s/3) + U' σₖ
    /// scalingᵢᵢ = β (7/3 σᵢ² − s/3) + U'' (J/σᵢ)²
    /// scalingᵢⱼ = −2/3 β σᵢσⱼ + U'' (J/σᵢ)(J/σⱼ) + U' σₖ
    /// ```
    /// `J/σᵢ` is the product of the other two, so nothing is divided by.
    #[inline]
    fn hessian_psd(&self, deformation: &Matrix3<T>) -> Hessian<T> {
        let (left, stretch, right) = singular_value_decomposition(deformation);
        let others = Vector3::new(
            stretch.y * stretch.z,
            stretch.x * stretch.z,
            stretch.x * stretch.y,
        );
        let volume = self.volume_term(stretch.x * others.x);
        let mean = stretch.dot(&stretch) * real::<T>(1.0 / 3.0);

        let mut flip = Vector3::zeros();
        let mut twist = Vector3::zeros();
        let mut scaling = others * others.transpose() * volume.curvature;
        for (i, j, k) in PAIRS {
            let product = stretch[i] * stretch[j];
            let squares = stretch[i] * stretch[i] + stretch[j] * stretch[j] - mean;
            let pressure = volume.slope * stretch[k];
            flip[k] = self.shear * (squares + product) - pressure;
            twist[k] = self.shear * (squares - product) + pressure;
            let mixed = pressure - real::<T>(2.0 / 3.0) * self.shear * product;
            scaling[(i, j)] += mixed;
            scaling[(j, i)] += mixed;
        }
        for axis in 0..3 {
            let square = stretch[axis] * stretch[axis];
            scaling[(axis, axis)] += self.shear * (real::<T>(7.0 / 3.0) * square - mean);
        }
        PrincipalModes {
            scaling,
            flip,
            twist,
        }
        .hessian_psd(&left, &right)
    }

    /// ```text
    /// K_ab = (b_a · ([S]₊ b_b)) I + β ((b_a · b_b) F Fᵀ + f_b f_aᵀ − 2/3 f_a f_bᵀ) + U'' c_a c_bᵀ
    /// S = β dev(FᵀF),   [S]₊ = S − min(0, λ_min) I,   f = F b,   c = cof F b
    /// ```
    /// The second derivative without U' ∂²J/∂F², which vanishes at rest, and without the negative part of S: a sum of
    /// Gram matrices.
    #[inline(always)]
    fn node_stiffness(
        &self,
        deformation: &Matrix3<T>,
        gradients: &[Vector3<T>; 3],
    ) -> [Matrix3<T>; 6] {
        let metric = deviator(&transposed_product(deformation, deformation));
        let curvature = self.volume_term(determinant(deformation)).curvature;
        let cofactors = cofactor(deformation);
        let lift = largest_eigenvalue_bound(&-metric);
        let lifted = add_to_diagonal(&metric, lift);

        let outer = product_with_transpose(deformation, deformation);
        let pulled = gradients.map(|gradient| times_vector(&lifted, &gradient));
        let stretched = gradients.map(|gradient| times_vector(deformation, &gradient));
        let turned = gradients.map(|gradient| times_vector(&cofactors, &gradient));
        let two_thirds: T = real(2.0 / 3.0);
        // A loop: mapping the array would copy all blocks once more.
        let mut blocks = [Matrix3::zeros(); 6];
        for (target, (a, b)) in blocks.iter_mut().zip(NODE_PAIRS) {
            let along = self.shear * gradients[a].dot(&pulled[b]);
            let overlap = gradients[a].dot(&gradients[b]);
            let (f_a, f_b) = (stretched[a], stretched[b]);
            let (c_a, c_b) = (turned[a] * curvature, turned[b]);
            let mut block = Matrix3::from_fn(|i, j| {
                let shearing =
                    overlap * outer[(i, j)] + f_b[i] * f_a[j] - two_thirds * f_a[i] * f_b[j];
                self.shear * shearing + c_a[i] * c_b[j]
            });
            for axis in 0..3 {
                block[(axis, axis)] += along;
            }
            *target = block;
        }
        blocks
    }

    /// Compression stiffens this energy as well: U″(J)/U″(1) = (3 J² + 5 J⁻⁶)/8, which the extension bounds.
    #[inline(always)]
    fn stiffening(&self, deformation: &Matrix3<T>) -> T {
        let stretch = deformation.norm_squared() * real::<T>(1.0 / 3.0);
        // Below a tenth of its volume an element is beyond what explicit steps can follow.
        let floor = self.extension_below.simd_max(real(0.1));
        let ratio = determinant(deformation).simd_max(floor);
        let cubed = ratio * ratio * ratio;
        let volumetric =
            (ratio * ratio * real(3.0) + real::<T>(5.0) / (cubed * cubed)) * real(0.125);
        (stretch * stretch).simd_max(T::one()) * volumetric.simd_max(T::one())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::elasticity::checks;
    use approx::assert_relative_eq;
    use simba::simd::WideF32x8;

    fn energy() -> Liesenfeld<f64> {
        Liesenfeld::from_moduli(checks::moduli())
    }

    #[test]
    fn rest_state_has_neither_energy_nor_stress() {
        checks::rest_state(energy());
        checks::rest_state(Liesenfeld::reference(checks::moduli()));
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy() {
        checks::gradient(energy(), &checks::all_states());
        checks::gradient(
            Liesenfeld::reference(checks::moduli()),
            &checks::upright_states(),
        );
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
        checks::lanes_equal_scalars::<Liesenfeld<f32>, Liesenfeld<WideF32x8>>();
    }

    #[test]
    fn extension_keeps_two_derivatives_continuous_and_leaves_the_rest_alone() {
        let extended = energy();
        let reference = Liesenfeld::reference(checks::moduli());
        let (below, above) = (
            extended.volume_term(0.4 - 1e-12),
            extended.volume_term(0.4 + 1e-12),
        );
        assert_relative_eq!(below.energy, above.energy, max_relative = 1e-9);
        assert_relative_eq!(below.slope, above.slope, max_relative = 1e-9);
        assert_relative_eq!(below.curvature, above.curvature, max_relative = 1e-9);
        assert_relative_eq!(above.slope, -12.2 * extended.bulk, max_relative = 1e-2);
        assert_relative_eq!(above.curvature, 152.6 * extended.bulk, max_relative = 1e-2);
        for ratio in [0.41, 0.9, 1.0, 2.5] {
            let (a, b) = (extended.volume_term(ratio), reference.volume_term(ratio));
            assert_eq!(
                (a.energy, a.slope, a.curvature),
                (b.energy, b.slope, b.curvature)
            );
        }
        assert!(extended.volume_term(-1.0).energy > extended.volume_term(0.0).energy);
    }

    #[test]
    fn reference_is_blind_to_mirroring() {
        let reference = Liesenfeld::<f64>::reference(checks::moduli());
        let mirror = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
        assert_relative_eq!(reference.energy_density(&mirror), 0.0, epsilon = 1e-9);
    }
}
