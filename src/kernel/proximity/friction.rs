//! Coulomb friction of features in contact, lagged, so that it has a potential.

use nalgebra::{Matrix3, Vector3};

use super::ClosestPoints;
use crate::kernel::scalar::{Single, real};

/// Friction of a pair over a step, with the normal, the weights and the normal force of its beginning.
///
/// ```text
/// u = (I − n nᵀ) Σ wᵢ (xᵢ − xᵢⁿ)          the slip of the closest points over the step
/// D(u) = μ N f₀(|u|),   f₀′ = f₁(s) = 2 s − s² for s = |u|/(ε_v h) < 1, else 1
/// ```
/// Below the speed ε_v (1e-2 m/s is usual) friction grows with the slip instead of sticking: a body on a slope creeps
/// with less than that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaggedFriction<T> {
    /// wᵢ, as in [`ClosestPoints`].
    pub weights: [T; 4],
    /// n, unit.
    pub normal: Vector3<T>,
    /// μ N, N: coefficient of friction times normal force; not negative.
    pub limit: T,
    /// ε_v h, m, positive: the slip over the step from which friction is at its limit.
    pub threshold: T,
}

impl<T: Single> LaggedFriction<T> {
    /// Friction of a pair in contact.
    ///
    /// # Arguments
    /// * `closest` – of the positions in the beginning of the step
    /// * `coefficient` – μ
    /// * `normal_force` – N, N, as of [`super::penalty::Penalty::force`]
    /// * `threshold` – ε_v h, m
    ///
    /// Eq: `[Li 2020]` (lagged friction).
    #[must_use]
    pub fn new(closest: &ClosestPoints<T>, coefficient: T, normal_force: T, threshold: T) -> Self {
        Self {
            weights: closest.weights,
            normal: closest.direction(),
            limit: coefficient * normal_force,
            threshold,
        }
    }

    /// Slip u of the pair, m, from the displacements of its vertices over the step so far.
    ///
    /// Eq: `[Li 2020]` (tangential relative displacement).
    #[must_use]
    pub fn slip(&self, displacements: &[Vector3<T>; 4]) -> Vector3<T> {
        let pairs = self.weights.iter().zip(displacements);
        let moved = pairs.fold(Vector3::zeros(), |sum, (&weight, step)| sum + step * weight);
        moved - self.normal * self.normal.dot(&moved)
    }

    /// f₁/|u|, 1/m, and f₁′ per metre of slip.
    fn profile(&self, length: T) -> (T, T) {
        let share = length / self.threshold;
        if share < T::one() {
            let two = real::<T>(2.0);
            (
                (two - share) / self.threshold,
                (two - two * share) / self.threshold,
            )
        } else {
            (T::one() / length, T::zero())
        }
    }

    /// Dissipative potential at a slip u in m, J; zero without slip.
    ///
    /// ```text
    /// D = μ N ε (s² − s³/3)   for s < 1,     μ N (|u| − ε/3)   beyond;   ε = ε_v h
    /// ```
    /// Eq: `[Li 2020]` (f₀).
    #[must_use]
    pub fn potential(&self, slip: &Vector3<T>) -> T {
        let length = slip.norm();
        let share = length / self.threshold;
        let third = real::<T>(1.0 / 3.0);
        let path = if share < T::one() {
            self.threshold * share * share * (T::one() - share * third)
        } else {
            length - self.threshold * third
        };
        self.limit * path
    }

    /// Friction at the closest points, N, on the first feature; the vertices get wᵢ times it.
    ///
    /// ```text
    /// F = −μ N f₁(s) u/|u|,   Fᵢ = wᵢ F = −∂D/∂xᵢ
    /// ```
    /// Never more than μ N, against the slip; zero without slip.
    ///
    /// Eq: `[Li 2020]` (f₁).
    #[must_use]
    pub fn force(&self, slip: &Vector3<T>) -> Vector3<T> {
        let (ratio, _) = self.profile(slip.norm());
        slip * (-self.limit * ratio)
    }

    /// Stiffness matrix, N/m: the block of vertices i and j is wᵢ wⱼ times it.
    ///
    /// ```text
    /// K = μ N [ f₁/|u| (I − n nᵀ − û ûᵀ) + f₁′ û ûᵀ ]
    /// ```
    /// The exact second derivative of D, positive semidefinite.
    ///
    /// Eq: `[Li 2020]`, derivative of the force.
    #[must_use]
    pub fn stiffness_block(&self, slip: &Vector3<T>) -> Matrix3<T> {
        let length = slip.norm();
        let (ratio, slope) = self.profile(length);
        let tangential = Matrix3::identity() - self.normal * self.normal.transpose();
        let mut block = tangential * ratio;
        if let Some(along) = slip.try_normalize(T::zero()) {
            block += along * along.transpose() * (slope - ratio);
        }
        block * self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::super::PairKind;
    use super::super::checks::drawn_vertices;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    fn drawn(kind: PairKind, random: &mut Random) -> LaggedFriction<f64> {
        let closest = kind.closest_points(&drawn_vertices(random));
        LaggedFriction::new(&closest, 0.4, 12.0, 0.3)
    }

    #[test]
    fn forces_and_blocks_are_derivatives_of_the_potential() {
        let mut random = Random::new(601);
        let step = 1e-6;
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            for _ in 0..100 {
                let friction = drawn(kind, &mut random);
                let size = random.between(0.05, 1.0);
                let moves: [Vector3<f64>; 4] = std::array::from_fn(|_| random.vector(size));
                let slip = friction.slip(&moves);
                let (force, block) = (friction.force(&slip), friction.stiffness_block(&slip));
                if (slip.norm() - friction.threshold).abs() < 1e-3 {
                    continue;
                }
                for vertex in 0..4 {
                    for axis in 0..3 {
                        let moved = |step: f64| {
                            let mut moved = moves;
                            moved[vertex][axis] += step;
                            friction.slip(&moved)
                        };
                        let (after, before) = (moved(step), moved(-step));
                        let slope = (friction.potential(&after) - friction.potential(&before))
                            / (2.0 * step);
                        let expected = -friction.weights[vertex] * force[axis];
                        assert_relative_eq!(slope, expected, epsilon = 1e-7);
                        let bend =
                            (friction.force(&before) - friction.force(&after)) / (2.0 * step);
                        let column = block.column(axis) * friction.weights[vertex];
                        assert!((bend - column).norm() < 1e-4);
                    }
                }
                assert!(block.symmetric_eigenvalues().min() > -1e-12);
                assert!(force.dot(&slip) <= 0.0);
                assert!(force.norm() <= friction.limit * (1.0 + 1e-14));
                assert!(force.dot(&friction.normal).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn limit_is_reached_at_the_threshold_and_smoothly() {
        let mut random = Random::new(602);
        let friction = drawn(PairKind::VertexFace, &mut random);
        let along = crate::kernel::matrix::perpendicular(&friction.normal);
        let at = |share: f64| along * (friction.threshold * share);
        assert_relative_eq!(
            friction.force(&at(0.5)).norm(),
            0.75 * friction.limit,
            epsilon = 1e-12
        );
        for share in [1.0, 3.0] {
            assert_relative_eq!(
                friction.force(&at(share)).norm(),
                friction.limit,
                epsilon = 1e-12
            );
        }
        let (below, above) = (at(1.0 - 1e-9), at(1.0 + 1e-9));
        assert_relative_eq!(
            friction.potential(&below),
            friction.potential(&above),
            max_relative = 1e-8
        );
        let zero = Vector3::zeros();
        assert_eq!(friction.potential(&zero), 0.0);
        assert_eq!(friction.force(&zero), zero);
        let still = friction.stiffness_block(&zero);
        let expected = 2.0 * friction.limit / friction.threshold;
        assert_relative_eq!(along.dot(&(still * along)), expected, max_relative = 1e-12);
        assert!((still * friction.normal).norm() < 1e-10);
    }
}
