//! The scalar of the kernels: one source runs in `f32`, `f64` and in lanes of several numbers.

use nalgebra::{RealField, SimdRealField};
use simba::simd::{WideF32x8, WideF64x4};

/// A real number, or a pack of real numbers that are computed side by side.
///
/// Implemented by `f32`, `f64` and the lane types of `simba`. A kernel bound by `Scalar` must not branch on
/// values: it selects (`a.select(condition, b)`), so that every lane gets the result of its own case.
pub trait Scalar: SimdRealField<Element: RealField + Copy> + Copy {}

impl<T: SimdRealField<Element: RealField + Copy> + Copy> Scalar for T {}

/// A single real number (`f32` or `f64`) with the lane type that runs its kernels several at a time.
pub trait Single: RealField + Copy + Scalar<Element = Self, SimdBool = bool> {
    /// Several `Self` in one value: eight `f32`, four `f64`.
    type Lanes: Scalar<Element = Self>;
}

impl Single for f32 {
    type Lanes = WideF32x8;
}

impl Single for f64 {
    type Lanes = WideF64x4;
}

/// A constant in any scalar type.
///
/// Eq: elementary.
#[inline(always)]
pub fn real<T: Scalar>(value: f64) -> T {
    nalgebra::convert(value)
}
