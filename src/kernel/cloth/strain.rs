//! Strains and stresses of a surface, in the frame of warp and weft.

use std::ops::{Add, Mul, Sub};

use nalgebra::Matrix3x2;

use super::triangle::columns;
use crate::kernel::scalar::{Scalar, real};

/// A symmetric tensor of the surface, in the frame of warp and weft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneTensor<T> {
    /// Entry (u, u).
    pub warp: T,
    /// Entry (v, v).
    pub weft: T,
    /// Entry (u, v), which is entry (v, u): half of the shear angle, where this is a strain.
    pub shear: T,
}

impl<T: Scalar> Add for PlaneTensor<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            warp: self.warp + other.warp,
            weft: self.weft + other.weft,
            shear: self.shear + other.shear,
        }
    }
}

impl<T: Scalar> Sub for PlaneTensor<T> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            warp: self.warp - other.warp,
            weft: self.weft - other.weft,
            shear: self.shear - other.shear,
        }
    }
}

impl<T: Scalar> Mul<T> for PlaneTensor<T> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: T) -> Self {
        Self {
            warp: self.warp * factor,
            weft: self.weft * factor,
            shear: self.shear * factor,
        }
    }
}

impl<T: Scalar> PlaneTensor<T> {
    /// Double contraction, in the units of both.
    ///
    /// ```text
    /// A : B = A_uu B_uu + A_vv B_vv + 2 A_uv B_uv
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn contract(&self, other: &Self) -> T {
        let shear = self.shear * other.shear;
        self.warp * other.warp + self.weft * other.weft + (shear + shear)
    }

    /// The tensor with its negative eigenvalues lifted to zero.
    ///
    /// ```text
    /// [S]₊ = ½ (λ₁⁺ + λ₂⁺) I + w (S − m I),   λ = m ± r,   w = (λ₁⁺ − λ₂⁺) / 2r
    /// m = ½ (S_uu + S_vv),   r = √(¼ (S_uu − S_vv)² + S_uv²)
    /// ```
    /// Where r vanishes the second term does too.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn positive_part(&self) -> Self {
        let half: T = real(0.5);
        let mean = (self.warp + self.weft) * half;
        let difference = (self.warp - self.weft) * half;
        let radius = (difference * difference + self.shear * self.shear).simd_sqrt();
        let largest = (mean + radius).simd_max(T::zero()) * half;
        let smallest = (mean - radius).simd_max(T::zero()) * half;
        let spread = radius.simd_gt(T::zero());
        let weight = ((largest - smallest) / radius).select(spread, T::zero());
        let lifted = largest + smallest;
        let turned = difference * weight;
        Self {
            warp: lifted + turned,
            weft: lifted - turned,
            shear: self.shear * weight,
        }
    }
}

/// Green strain, without unit: zero for every rigid motion.
///
/// ```text
/// E = ½ (FᵀF − I)
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn green_strain<T: Scalar>(deformation: &Matrix3x2<T>) -> PlaneTensor<T> {
    let [warp, weft] = columns(deformation);
    let half: T = real(0.5);
    PlaneTensor {
        warp: (warp.dot(&warp) - T::one()) * half,
        weft: (weft.dot(&weft) - T::one()) * half,
        shear: warp.dot(&weft) * half,
    }
}

/// Rate of the Green strain, 1/s, from the rate Ḟ of the deformation gradient, 1/s.
///
/// ```text
/// Ė = ½ (FᵀḞ + ḞᵀF)
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn strain_rate<T: Scalar>(deformation: &Matrix3x2<T>, rate: &Matrix3x2<T>) -> PlaneTensor<T> {
    let ([warp, weft], [warp_rate, weft_rate]) = (columns(deformation), columns(rate));
    PlaneTensor {
        warp: warp.dot(&warp_rate),
        weft: weft.dot(&weft_rate),
        shear: (warp.dot(&weft_rate) + weft.dot(&warp_rate)) * real::<T>(0.5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::cloth::triangle::from_columns;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;
    use nalgebra::Matrix2;

    fn full(tensor: &PlaneTensor<f64>) -> Matrix2<f64> {
        Matrix2::new(tensor.warp, tensor.shear, tensor.shear, tensor.weft)
    }

    fn cases() -> Vec<PlaneTensor<f64>> {
        let tensor = |warp, weft, shear| PlaneTensor { warp, weft, shear };
        let mut random = Random::new(60);
        let mut cases = vec![
            tensor(0.0, 0.0, 0.0),
            tensor(3.0, 3.0, 0.0),
            tensor(-3.0, -3.0, 0.0),
            tensor(1.0, 1.0, 1e-12),
            tensor(1.0, 1.0, 1.0),
            tensor(0.0, 0.0, 1.0),
            tensor(1.0, -1.0, 0.0),
            tensor(1e-200, 0.0, 0.0),
        ];
        cases.extend((0..200).map(|_| {
            let entries = random.vector(5.0);
            tensor(entries.x, entries.y, entries.z)
        }));
        cases
    }

    #[test]
    fn positive_part_lifts_the_negative_eigenvalues() {
        for tensor in cases() {
            let mut eigen = full(&tensor).symmetric_eigen();
            eigen.eigenvalues.apply(|value| *value = value.max(0.0));
            let found = full(&tensor.positive_part());
            assert_relative_eq!(found, eigen.recompose(), epsilon = 1e-14);
            let single = PlaneTensor {
                warp: tensor.warp as f32,
                weft: tensor.weft as f32,
                shear: tensor.shear as f32,
            };
            let single = single.positive_part();
            assert_relative_eq!(f64::from(single.warp), found[(0, 0)], epsilon = 2e-6);
            assert_relative_eq!(f64::from(single.weft), found[(1, 1)], epsilon = 2e-6);
            assert_relative_eq!(f64::from(single.shear), found[(0, 1)], epsilon = 2e-6);
        }
    }

    #[test]
    fn contraction_is_the_trace_of_the_product() {
        for pair in cases().windows(2) {
            let expected = (full(&pair[0]) * full(&pair[1])).trace();
            assert_relative_eq!(pair[0].contract(&pair[1]), expected, epsilon = 1e-13);
        }
    }

    #[test]
    fn rotation_is_no_strain_and_the_rate_is_the_derivative() {
        let mut random = Random::new(61);
        for _ in 0..20 {
            let turned = random.rotation();
            let [warp, weft] = [0, 1].map(|axis| turned.column(axis).into_owned());
            let strain = green_strain(&from_columns(warp, weft));
            assert!(full(&strain).amax() < 1e-15);

            let deformation = from_columns(random.vector(1.0), random.vector(1.0));
            let rate = from_columns(random.vector(1.0), random.vector(1.0));
            let step = 1e-5;
            let later = green_strain(&(deformation + rate * step));
            let earlier = green_strain(&(deformation - rate * step));
            let difference = full(&((later - earlier) * (0.5 / step)));
            let found = full(&strain_rate(&deformation, &rate));
            assert_relative_eq!(found, difference, epsilon = 1e-10);
        }
    }
}
