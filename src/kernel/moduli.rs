//! Elastic moduli of an isotropic material and the conversions between their usual pairs.

use super::scalar::{Scalar, real};

/// Poisson's ratio is kept this far inside (−1, ½), where the moduli are finite.
pub const POISSON_RATIO_MARGIN: f64 = 1e-4;

/// Bulk and shear modulus: the two numbers that an isotropic elastic material has for small strains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moduli<T> {
    /// Resistance to a change of volume, Pa.
    pub bulk: T,
    /// Resistance to a change of shape, Pa.
    pub shear: T,
}

impl<T: Scalar> Moduli<T> {
    /// From Young's modulus (Pa) and Poisson's ratio.
    ///
    /// ```text
    /// K = E / (3 (1 − 2ν)),   G = E / (2 (1 + ν))
    /// ```
    /// A ratio outside of (−1, ½) is moved to [`POISSON_RATIO_MARGIN`] from the nearer end, since the material would
    /// be unstable or its bulk modulus infinite.
    ///
    /// Eq: elementary; inverse of `[000 eq. 4.13]`.
    #[inline]
    pub fn from_young_and_poisson(young_modulus: T, poisson_ratio: T) -> Self {
        let poisson_ratio = poisson_ratio.simd_clamp(
            real(-1.0 + POISSON_RATIO_MARGIN),
            real(0.5 - POISSON_RATIO_MARGIN),
        );
        Self {
            bulk: young_modulus / (real::<T>(3.0) * (T::one() - real::<T>(2.0) * poisson_ratio)),
            shear: young_modulus / (real::<T>(2.0) * (T::one() + poisson_ratio)),
        }
    }

    /// Young's modulus, Pa.
    ///
    /// ```text
    /// E = 9 K G / (3 K + G)
    /// ```
    /// Zero where both moduli are.
    ///
    /// Eq: elementary; `[000 eq. 4.13]` with α = K, β = G.
    #[inline]
    pub fn young_modulus(&self) -> T {
        let sum = real::<T>(3.0) * self.bulk + self.shear;
        quotient_or_zero(real::<T>(9.0) * self.bulk * self.shear, sum)
    }

    /// Poisson's ratio, without unit.
    ///
    /// ```text
    /// ν = (3 K − 2 G) / (2 (3 K + G))
    /// ```
    /// Zero where both moduli are.
    ///
    /// Eq: elementary; `[000 eq. 4.13]` with α = K, β = G.
    #[inline]
    pub fn poisson_ratio(&self) -> T {
        let triple_bulk = real::<T>(3.0) * self.bulk;
        quotient_or_zero(
            triple_bulk - real::<T>(2.0) * self.shear,
            real::<T>(2.0) * (triple_bulk + self.shear),
        )
    }

    /// First Lamé constant λ, Pa; the second, μ, is the shear modulus.
    ///
    /// ```text
    /// λ = K − ⅔ G
    /// ```
    /// Eq: elementary.
    #[inline]
    pub fn lame_lambda(&self) -> T {
        self.bulk - real::<T>(2.0 / 3.0) * self.shear
    }

    /// Modulus of longitudinal waves, Pa: their speed is √(M / ρ).
    ///
    /// ```text
    /// M = K + 4/3 G = λ + 2 μ
    /// ```
    /// Eq: elementary.
    #[inline]
    pub fn longitudinal_modulus(&self) -> T {
        self.bulk + real::<T>(4.0 / 3.0) * self.shear
    }
}

/// A quotient that is zero where its denominator is.
#[inline(always)]
fn quotient_or_zero<T: Scalar>(numerator: T, denominator: T) -> T {
    (numerator / denominator).select(denominator.simd_ne(T::zero()), T::zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn conversion_is_undone_by_its_inverse() {
        for poisson_ratio in [-0.5, 0.0, 0.2, 0.3, 0.45, 0.49] {
            let moduli = Moduli::from_young_and_poisson(1e5, poisson_ratio);
            assert_relative_eq!(moduli.young_modulus(), 1e5, max_relative = 1e-12);
            assert_relative_eq!(moduli.poisson_ratio(), poisson_ratio, epsilon = 1e-12);
            assert_relative_eq!(
                moduli.longitudinal_modulus(),
                moduli.lame_lambda() + 2.0 * moduli.shear,
                max_relative = 1e-12
            );
        }
    }

    #[test]
    fn torus_of_the_seed_has_the_expected_constants() {
        let moduli = Moduli {
            bulk: 22_000.0,
            shear: 16_000.0,
        };
        assert_relative_eq!(moduli.young_modulus(), 38_634.0, max_relative = 1e-4);
        assert_relative_eq!(moduli.poisson_ratio(), 0.2073, max_relative = 1e-3);
    }

    #[test]
    fn degenerate_constants_stay_finite() {
        for poisson_ratio in [-1.0, -7.0, 0.5, 3.0] {
            let moduli = Moduli::from_young_and_poisson(1e5_f32, poisson_ratio);
            assert!(moduli.bulk.is_finite() && moduli.bulk > 0.0);
            assert!(moduli.shear.is_finite() && moduli.shear > 0.0);
        }
        let nothing = Moduli {
            bulk: 0.0,
            shear: 0.0,
        };
        assert_eq!(nothing.young_modulus(), 0.0);
        assert_eq!(nothing.poisson_ratio(), 0.0);
    }
}
