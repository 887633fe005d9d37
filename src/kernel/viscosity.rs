//! Internal friction of solids: a dissipation that grows with the square of the strain rate.
//!
//! The rate of `T = CᵀC` vanishes for every rigid motion, so that this viscosity never brakes a fall or a spin,
//! unlike damping in proportion to the stiffness matrix.
//!
//! Erratum: the seed defines the power per rest volume, but multiplies it by the current volume in `[000 eq. 5.5]`.
//! Densities and stresses here are per **rest** volume; to replay the seed's scenes to the letter, the caller scales
//! both by `|det C|`.

use nalgebra::Matrix3;

use super::matrix::{
    add_to_diagonal, determinant, deviator, double_contraction, trace, transposed_product,
};
use super::scalar::{Scalar, real};

/// Coefficients of the internal friction of a material.
///
/// For small strains the viscosities in the usual sense are twice these, since `Ṫ` is twice the strain rate: bulk
/// viscosity `2 η₁`, shear viscosity `2 η₂`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viscosity<T> {
    /// η₁, resistance to a rate of change of volume, Pa·s.
    pub volumetric: T,
    /// η₂, resistance to a rate of change of shape ("laminar" in the seed), Pa·s.
    pub shear: T,
}

impl<T: Scalar> Viscosity<T> {
    /// Dissipated power per rest volume, W/m³.
    ///
    /// ```text
    /// Ω = η₁/2 Π² + 2 η₂/3 (Π² − 3 Ξ) = η₁/2 (tr Ṫ)² + η₂ dev Ṫ : dev Ṫ
    /// Ṫ = ĊᵀC + CᵀĊ,   Π = tr Ṫ,   Ξ = sum of the principal minors of Ṫ
    /// ```
    /// Computed by the second form, which has no difference of large numbers. Never negative for coefficients that
    /// are not; zero for a rigid motion.
    ///
    /// Eq: `[000 eq. 4.14]`, `[000 eq. 5.5]` with the rest volume.
    #[inline]
    pub fn power_density(&self, deformation: &Matrix3<T>, rate: &Matrix3<T>) -> T {
        let strain_rate = metric_rate(deformation, rate);
        let expansion = trace(&strain_rate);
        let distortion = deviator(&strain_rate);
        self.volumetric * real::<T>(0.5) * expansion * expansion
            + self.shear * double_contraction(&distortion, &distortion)
    }

    /// First Piola–Kirchhoff stress of the internal friction, Pa.
    ///
    /// ```text
    /// P_v = C S_v,   S_v = η₁ tr Ṫ · I + 2 η₂ dev Ṫ,   P_v : Ċ = Ω
    /// ```
    /// Linear in `Ċ`, so it is its own differential for a change of the rate. The force of the seed,
    /// `f = −½ ∂W/∂q̇`, is the nodal force of this stress.
    ///
    /// Eq: `[000 eq. 5.5]`, `[000 §6.2.3]`.
    #[inline]
    pub fn stress(&self, deformation: &Matrix3<T>, rate: &Matrix3<T>) -> Matrix3<T> {
        let strain_rate = metric_rate(deformation, rate);
        let distortion = deviator(&strain_rate) * (real::<T>(2.0) * self.shear);
        deformation * add_to_diagonal(&distortion, self.volumetric * trace(&strain_rate))
    }
}

/// Factor by which to scale power and stress to use the current volume, as the seed prints it; without unit.
///
/// ```text
/// V / V⁰ = |det C|
/// ```
/// Eq: `[000 eq. 5.5]` as printed (see the module's erratum).
#[inline]
pub fn current_volume_factor<T: Scalar>(deformation: &Matrix3<T>) -> T {
    determinant(deformation).simd_abs()
}

/// Rate of `T = CᵀC`, 1/s: twice the rate of the Green strain.
#[inline(always)]
fn metric_rate<T: Scalar>(deformation: &Matrix3<T>, rate: &Matrix3<T>) -> Matrix3<T> {
    let half = transposed_product(deformation, rate);
    half + half.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::{Random, lanes};
    use approx::assert_relative_eq;
    use simba::simd::{SimdValue, WideF32x8};

    const VISCOSITY: Viscosity<f64> = Viscosity {
        volumetric: 3.0,
        shear: 2.0,
    };

    #[test]
    fn power_is_stress_times_rate_and_matches_the_invariants() {
        let mut random = Random::new(11);
        for _ in 0..50 {
            let (deformation, rate) = (random.matrix(1.5), random.matrix(4.0));
            let power = VISCOSITY.power_density(&deformation, &rate);
            let stress = VISCOSITY.stress(&deformation, &rate);
            assert_relative_eq!(
                double_contraction(&stress, &rate),
                power,
                max_relative = 1e-12
            );
            assert!(power >= 0.0);
            let change = metric_rate(&deformation, &rate);
            let first = change.trace();
            let second = 0.5 * (first * first - (change * change).trace());
            let printed = VISCOSITY.volumetric / 2.0 * first * first
                + 2.0 * VISCOSITY.shear / 3.0 * (first * first - 3.0 * second);
            assert_relative_eq!(printed, power, max_relative = 1e-12);
        }
    }

    #[test]
    fn rigid_rotation_dissipates_nothing() {
        let mut random = Random::new(12);
        let deformation = random.stretched([1.3, 1.0, 0.6]);
        let spin = random.vector(5.0).cross_matrix();
        let rate = spin * deformation;
        assert!(VISCOSITY.power_density(&deformation, &rate) < 1e-26);
        assert!(VISCOSITY.stress(&deformation, &rate).amax() < 1e-13);
    }

    #[test]
    fn force_is_minus_half_the_gradient_of_the_power() {
        let mut random = Random::new(13);
        let step = 1e-5;
        for _ in 0..20 {
            let (deformation, rate) = (random.matrix(1.5), random.matrix(4.0));
            let change = random.matrix(1.0);
            let power = |rate: Matrix3<f64>| VISCOSITY.power_density(&deformation, &rate);
            let slope = (power(rate + change * step) - power(rate - change * step)) / (2.0 * step);
            let stress = VISCOSITY.stress(&deformation, &rate);
            assert_relative_eq!(
                double_contraction(&stress, &change),
                slope / 2.0,
                epsilon = 1e-6,
                max_relative = 1e-6
            );
        }
    }

    #[test]
    fn small_shear_has_twice_the_shear_coefficient_as_viscosity() {
        let mut rate = Matrix3::zeros();
        rate[(0, 1)] = 1e-3;
        let stress = VISCOSITY.stress(&Matrix3::identity(), &rate);
        assert_relative_eq!(stress[(0, 1)], 2.0 * VISCOSITY.shear * 1e-3);
    }

    #[test]
    fn lanes_equal_scalars() {
        let mut random = Random::new(14);
        let deformations: Vec<_> = (0..8).map(|_| random.matrix(1.5)).collect();
        let rates: Vec<_> = (0..8).map(|_| random.matrix(4.0)).collect();
        let packed = Viscosity {
            volumetric: WideF32x8::splat(3.0),
            shear: WideF32x8::splat(2.0),
        };
        let stress = packed.stress(&lanes(&deformations), &lanes(&rates));
        let scalar = Viscosity {
            volumetric: 3.0,
            shear: 2.0,
        };
        for lane in 0..8 {
            let expected = scalar.stress(&deformations[lane].cast(), &rates[lane].cast());
            assert_eq!(stress.extract(lane), expected);
        }
    }
}
