//! Numbers that look drawn at random, as pure functions of a seed.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::f64::consts::TAU;

/// Distance of the states of successive numbers: 2⁶⁴ over the golden ratio.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes the bits of a number: near arguments give unrelated results.
///
/// Eq: `[Steele 2014]` (mix64).
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// The hash of a seed with another number.
///
/// Eq: `[Steele 2014]`: the number mixed into the state.
#[inline]
pub(crate) fn hash(seed: u64, value: u64) -> u64 {
    mix(seed.wrapping_add(STRIDE) ^ mix(value.wrapping_add(STRIDE)))
}

/// Numbers one after the other, the same for the same seed.
///
/// Eq: `[Steele 2014]` (SplitMix).
pub(crate) struct Sequence(u64);

impl Sequence {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STRIDE);
        mix(self.0)
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// −1 or 1.
    pub(crate) fn sign(&mut self) -> f64 {
        sign(self.next())
    }

    /// Uniform over the sphere.
    pub(crate) fn direction(&mut self) -> Vector3<f64> {
        let height = self.between(-1.0, 1.0);
        let (sine, cosine) = self.between(0.0, TAU).sin_cos();
        let radius = (1.0 - height * height).max(0.0).sqrt();
        Vector3::new(radius * cosine, radius * sine, height)
    }

    /// Uniform over the rotations.
    pub(crate) fn rotation(&mut self) -> Matrix3<f64> {
        // Two points on circles whose squared radii share one are uniform on the sphere in four dimensions.
        let share = self.uniform();
        let (first, second) = ((1.0 - share).sqrt(), share.sqrt());
        let (sine, cosine) = self.between(0.0, TAU).sin_cos();
        let (other_sine, other_cosine) = self.between(0.0, TAU).sin_cos();
        let quaternion = Quaternion::new(
            second * other_cosine,
            first * sine,
            first * cosine,
            second * other_sine,
        );
        UnitQuaternion::new_normalize(quaternion)
            .to_rotation_matrix()
            .into_inner()
    }
}

/// −1 or 1, from the highest bit.
#[inline]
pub(crate) fn sign(bits: u64) -> f64 {
    if bits >> 63 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let mut sequence = Sequence::new(7);
        let count = 20_000;
        let (mut mean, mut signs) = (0.0, 0.0);
        let mut directions = Matrix3::zeros();
        let mut columns = Vector3::zeros();
        for _ in 0..count {
            mean += sequence.uniform() / f64::from(count);
            signs += sequence.sign() / f64::from(count);
            let direction = sequence.direction();
            directions += direction * direction.transpose() / f64::from(count);
            let rotation = sequence.rotation();
            assert_relative_eq!(rotation.determinant(), 1.0, epsilon = 1e-12);
            columns += rotation.column(2) / f64::from(count);
        }
        assert_relative_eq!(mean, 0.5, epsilon = 0.01);
        assert_relative_eq!(signs, 0.0, epsilon = 0.03);
        assert_relative_eq!(directions, Matrix3::identity() / 3.0, epsilon = 0.01);
        assert_relative_eq!(columns, Vector3::zeros(), epsilon = 0.02);
    }

    #[test]
    fn hash_depends_on_both_numbers() {
        let mut seen: Vec<u64> = (0..30)
            .flat_map(|seed| (0..30).map(move |value| hash(seed, value)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 900);
        assert_ne!(hash(0, 0), 0);
    }
}
