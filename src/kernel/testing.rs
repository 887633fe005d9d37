//! Numbers for the unit tests: drawn at random, but the same ones in each run.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use simba::simd::{SimdValue, WideF32x8};

/// A small linear congruential generator: tests need spread, not quality.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.uniform();
        random
    }

    /// Uniform in [−1, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Uniform in [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.uniform() + 1.0)
    }

    /// Entries uniform in [−size, size).
    pub(crate) fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| size * self.uniform())
    }

    /// Entries uniform in [−size, size).
    pub(crate) fn matrix(&mut self, size: f64) -> Matrix3<f64> {
        Matrix3::from_fn(|_, _| size * self.uniform())
    }

    /// A proper rotation.
    pub(crate) fn rotation(&mut self) -> Matrix3<f64> {
        *Rotation3::from(self.unit_quaternion()).matrix()
    }

    /// A proper rotation.
    pub(crate) fn unit_quaternion(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.vector(3.0))
    }

    /// A deformation gradient with the given principal stretches, turned at random on both sides.
    pub(crate) fn stretched(&mut self, stretches: [f64; 3]) -> Matrix3<f64> {
        let diagonal = Matrix3::from_diagonal(&Vector3::from(stretches));
        self.rotation() * diagonal * self.rotation().transpose()
    }
}

/// Principal values that are hard on decompositions: repeated, vanishing, clustered, and of widely spread size.
pub(crate) fn spread_cases() -> Vec<[f64; 3]> {
    vec![
        [1.0, 1.0, 1.0],
        [2.0, 1.0, 1.0],
        [2.0, 2.0, 1.0],
        [1.0, 1.0, 0.0],
        [1.0, 0.5, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1e-3, 1e-6],
        [1.0, 1e-6, 1e-12],
        [1.0, 1e-8, 1e-8],
        [1.0, 1e-15, 1e-30],
        [1.0, 1.0 - 1e-7, 1.0 - 2e-7],
        [1.0, 1.0 - 1e-12, 1e-12],
        [3e8, 2e4, 0.1],
        [3e-8, 2e-9, 1e-9],
        [1.5, 0.9, 0.3],
    ]
}

/// Eight matrices side by side.
pub(crate) fn lanes(matrices: &[Matrix3<f64>]) -> Matrix3<WideF32x8> {
    let mut packed = Matrix3::zeros();
    for (lane, matrix) in matrices.iter().enumerate() {
        packed.replace(lane, matrix.cast::<f32>());
    }
    packed
}
