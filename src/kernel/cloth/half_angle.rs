//! Angles kept as sine and cosine of their half, and the few functions of them that bending needs.
//!
//! Differences of angles are products of sines and cosines here, and the one arctangent is made of square roots and a
//! short series. So everything runs in lanes, and gives the same bits on every platform.
//! Rejected: the arctangent of the standard library, which runs lane by lane and differs between platforms.

use crate::kernel::scalar::{Scalar, real};

/// Terms of the arctangent's series. The tangent is at most tan(π/16), so that the rest is below 2e-17.
const ARCTANGENT_TERMS: u32 = 11;

/// Terms of the series of x − sin x for |x| ≤ 1; the rest is below 1e-16 of the value.
const EXCESS_TERMS: u32 = 8;

/// An angle θ by the sine and cosine of its half; neither has a unit.
///
/// Dihedral angles are in [−π, π], where the cosine is not negative. Differences of two of them are in [−2π, 2π].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfAngle<T> {
    /// sin(θ/2).
    pub sine: T,
    /// cos(θ/2).
    pub cosine: T,
}

impl<T: Scalar> HalfAngle<T> {
    /// The angle zero.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            sine: T::zero(),
            cosine: T::one(),
        }
    }

    /// From an angle θ, rad.
    ///
    /// Eq: elementary.
    #[inline]
    pub fn new(angle: T) -> Self {
        let (sine, cosine) = (angle * real::<T>(0.5)).simd_sin_cos();
        Self { sine, cosine }
    }

    /// From the sine and cosine of the whole angle θ in [−π, π].
    ///
    /// ```text
    /// cos(θ/2) = √((1 + cos θ)/2),  sin(θ/2) = sin θ / (2 cos(θ/2))      where cos θ ≥ 0
    /// |sin(θ/2)| = √((1 − cos θ)/2),  cos(θ/2) = |sin θ| / (2 |sin(θ/2)|)      elsewhere
    /// ```
    /// Neither form cancels, so that small angles keep all their digits, and no square root divides by zero. At ±π
    /// the sign is that of `sine`, which may be a signed zero.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn halve(sine: T, cosine: T) -> Self {
        let half = real::<T>(0.5);
        let large = ((T::one() + cosine.simd_abs()) * half).simd_sqrt();
        let small = sine.simd_abs() * half / large;
        let acute = cosine.simd_ge(T::zero());
        Self {
            sine: small.select(acute, large).simd_copysign(sine),
            cosine: large.select(acute, small),
        }
    }

    /// The difference θ − θ̂ to a reference angle.
    ///
    /// ```text
    /// sin((θ − θ̂)/2) = s ĉ − c ŝ,   cos((θ − θ̂)/2) = c ĉ + s ŝ
    /// ```
    /// Exactly zero for equal angles. When a fold passes from π to −π, both change sign, and products of them do not
    /// notice.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn since(&self, reference: &Self) -> Self {
        Self {
            sine: self.sine * reference.cosine - self.cosine * reference.sine,
            cosine: self.cosine * reference.cosine + self.sine * reference.sine,
        }
    }

    /// Half of the angle, rad, in [−π, π].
    ///
    /// ```text
    /// θ/2 = 16 arctan(tan(θ/32)),   tan(x/2) = sin x / (1 + cos x) = tan x / (1 + √(1 + tan² x))
    /// ```
    /// Relative error a few units in the last place, at small angles too.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn half(&self) -> T {
        let quarter = Self::halve(self.sine, self.cosine);
        let mut tangent = quarter.sine / (T::one() + quarter.cosine);
        for _ in 0..2 {
            tangent /= T::one() + (T::one() + tangent * tangent).simd_sqrt();
        }
        let square = tangent * tangent;
        let mut series = T::zero();
        for term in (0..ARCTANGENT_TERMS).rev() {
            series = real::<T>(1.0 / f64::from(2 * term + 1)) - square * series;
        }
        tangent * series * real::<T>(16.0)
    }

    /// The angle θ, rad, in [−2π, 2π].
    ///
    /// ```text
    /// θ = 2 · θ/2
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn angle(&self) -> T {
        self.half() * real::<T>(2.0)
    }

    /// `1 − cos(θ/2)`, without cancellation at small angles.
    ///
    /// ```text
    /// 1 − c = s² / (1 + c)      where c ≥ 0
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn versine(&self) -> T {
        let careful = self.sine * self.sine / (T::one() + self.cosine.simd_abs());
        careful.select(self.cosine.simd_ge(T::zero()), T::one() - self.cosine)
    }

    /// `θ/2 − sin(θ/2)`, without cancellation at small angles.
    ///
    /// ```text
    /// x − sin x = x³/6 (1 − x²/(4·5) (1 − x²/(6·7) (1 − …)))      where |x| ≤ 1
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn excess(&self) -> T {
        let half = self.half();
        let square = half * half;
        let mut series = T::one();
        for term in (1..EXCESS_TERMS).rev() {
            let divisor = f64::from((2 * term + 2) * (2 * term + 3));
            series = T::one() - square * real::<T>(1.0 / divisor) * series;
        }
        let small = half * square * real::<T>(1.0 / 6.0) * series;
        small.select(square.simd_le(T::one()), half - self.sine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use simba::simd::{SimdValue, WideF32x8};
    use std::f64::consts::PI;

    fn angles() -> impl Iterator<Item = f64> {
        let spread = (-400..=400).map(|step| f64::from(step) * PI / 400.0);
        let small = (1..14).flat_map(|power| [10f64.powi(-power), -10f64.powi(-power)]);
        spread.chain(small)
    }

    #[test]
    fn angle_comes_back_to_the_last_digits() {
        for angle in angles() {
            // The angle is doubled to cover the differences as well.
            let half = HalfAngle::new(2.0 * angle);
            assert_relative_eq!(
                half.angle(),
                2.0 * angle,
                max_relative = 1e-14,
                epsilon = 1e-300
            );
            let single = HalfAngle::new(2.0 * angle as f32);
            if angle.abs() < 3.0 {
                assert_relative_eq!(
                    single.angle(),
                    2.0 * angle as f32,
                    max_relative = 1e-6,
                    epsilon = 1e-30
                );
            }
        }
    }

    #[test]
    fn halving_is_the_half() {
        for angle in angles() {
            let half = HalfAngle::halve(angle.sin(), angle.cos());
            assert_relative_eq!(half.sine, (0.5 * angle).sin(), max_relative = 1e-14);
            assert_relative_eq!(half.cosine, (0.5 * angle).cos(), epsilon = 1e-15);
        }
    }

    #[test]
    fn differences_are_those_of_the_angles() {
        for first in angles() {
            for second in [-PI, -2.0, -1e-3, 0.0, 0.7, PI] {
                let (a, b) = (HalfAngle::new(first), HalfAngle::new(second));
                let difference = a.since(&b);
                let half = 0.5 * (first - second);
                assert_relative_eq!(difference.sine, half.sin(), epsilon = 1e-15);
                assert_relative_eq!(difference.cosine, half.cos(), epsilon = 1e-15);
                assert_eq!(a.since(&a).sine, 0.0);
            }
        }
    }

    #[test]
    fn versine_and_excess_keep_their_digits() {
        for half in angles() {
            let angle = HalfAngle::new(2.0 * half);
            let versine = 2.0 * (0.5 * half).sin().powi(2);
            assert_relative_eq!(angle.versine(), versine, max_relative = 1e-14);
            let excess = if half.abs() > 0.1 {
                half - half.sin()
            } else {
                half.powi(3) / 6.0 * (1.0 - half * half / 20.0 * (1.0 - half * half / 42.0))
            };
            assert_relative_eq!(
                angle.excess(),
                excess,
                max_relative = 1e-9,
                epsilon = 1e-300
            );
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        let values: Vec<f32> = [-3.1, -1.7, -1e-3, 0.0, 1e-6, 0.4, 2.0, 3.1].to_vec();
        let mut packed = HalfAngle::<WideF32x8>::zero();
        for (lane, value) in values.iter().enumerate() {
            packed.sine.replace(lane, value.sin());
            packed.cosine.replace(lane, value.cos());
        }
        let halved = HalfAngle::halve(packed.sine, packed.cosine);
        let results = [
            packed.angle(),
            packed.excess(),
            packed.versine(),
            halved.sine,
        ];
        for (lane, value) in values.iter().enumerate() {
            let single = HalfAngle {
                sine: value.sin(),
                cosine: value.cos(),
            };
            let halved = HalfAngle::halve(single.sine, single.cosine);
            let expected = [
                single.angle(),
                single.excess(),
                single.versine(),
                halved.sine,
            ];
            for (result, expected) in results.iter().zip(expected) {
                assert_eq!(result.extract(lane).to_bits(), expected.to_bits());
            }
        }
    }
}
