//! Numbers for the unit tests: drawn at random, but the same ones in each run; and patches of triangles.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use simba::simd::{SimdValue, WideF32x8};

use super::proximity::PairKind;

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

/// A patch of triangles.
pub(crate) struct Patch {
    pub(crate) positions: Vec<Vector3<f64>>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// A grid of n × m cells, mapped from the unit square.
pub(crate) fn grid(n: u32, m: u32, map: impl Fn(f64, f64) -> Vector3<f64>) -> Patch {
    let share = |i: u32, n: u32| f64::from(i) / f64::from(n);
    let positions = (0..=n)
        .flat_map(|i| (0..=m).map(move |j| (i, j)))
        .map(|(i, j)| map(share(i, n), share(j, m)))
        .collect();
    let at = |i: u32, j: u32| i * (m + 1) + j;
    let triangles = (0..n)
        .flat_map(|i| (0..m).map(move |j| (i, j)))
        .flat_map(|(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        })
        .collect();
    Patch {
        positions,
        triangles,
    }
}

/// Smallest distance of a feature of one triangle and one of another that have no vertex in common; infinite without any.
pub(crate) fn gap(positions: &[Vector3<f64>], [first, second]: [[u32; 3]; 2]) -> f64 {
    let mut least = f64::INFINITY;
    let mut note = |kind: PairKind, vertices: [u32; 4]| {
        let places = vertices.map(|vertex| positions[vertex as usize]);
        least = least.min(kind.closest_points(&places).distance());
    };
    for [one, face] in [[first, second], [second, first]] {
        let [a, b, c] = face;
        for vertex in one.into_iter().filter(|vertex| !face.contains(vertex)) {
            note(PairKind::VertexFace, [vertex, a, b, c]);
        }
    }
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let [a, b] = [first[i], first[(i + 1) % 3]];
        let [c, d] = [second[j], second[(j + 1) % 3]];
        if ![c, d].contains(&a) && ![c, d].contains(&b) {
            note(PairKind::EdgeEdge, [a, b, c, d]);
        }
    }
    least
}
