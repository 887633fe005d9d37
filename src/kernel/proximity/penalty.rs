//! The repulsion of features that come close: an energy of their distance with two stages.

use nalgebra::{Matrix3, Vector3};

use super::ClosestPoints;
use crate::kernel::scalar::{Single, real};

/// Below this distance, m, the energy goes on as a parabola, so that it stays finite.
const FLOOR: f64 = 1e-5;

/// Repulsion at distances below a radius: a spring, and a logarithm nearer than half the radius.
///
/// ```text
/// E′(d) = 0               r ≤ d
///         −k (r − d)      τ ≤ d < r        τ = r/2
///         −k τ²/d         δ ≤ d < τ        δ = min(1e-5 m, τ)
///         E′(δ) + E″(δ)(d − δ)    d < δ
/// ```
/// E, E′ and E″ are continuous at τ and δ. Contact that is to lose no more than a tenth of the radius under the weight
/// m g of a vertex needs k ≥ 10 m g/r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty<T> {
    /// k, N/m, not negative.
    pub stiffness: T,
    /// r, m: the distance at which repulsion begins, positive.
    pub radius: T,
}

impl<T: Single> Penalty<T> {
    /// τ, m.
    fn transition(&self) -> T {
        self.radius * real(0.5)
    }

    /// δ, m.
    fn floor(&self) -> T {
        self.transition().min(real(FLOOR))
    }

    /// Energy, slope, and curvature between δ and r.
    fn profile(&self, distance: T) -> (T, T, T) {
        let (k, tau) = (self.stiffness, self.transition());
        if distance >= tau {
            let overlap = self.radius - distance;
            return (k * overlap * overlap * real(0.5), -k * overlap, k);
        }
        let square = k * tau * tau;
        let energy = square * (real::<T>(0.5) + (tau / distance).ln());
        (energy, -square / distance, square / (distance * distance))
    }

    /// Energy, J, its slope E′, N, and its curvature E″, N/m, at a distance in m.
    fn at(&self, distance: T) -> (T, T, T) {
        if distance >= self.radius {
            return (T::zero(), T::zero(), T::zero());
        }
        let floor = self.floor();
        if distance >= floor {
            return self.profile(distance);
        }
        let (energy, slope, curvature) = self.profile(floor);
        let below = distance - floor;
        let change = below * (slope + below * curvature * real(0.5));
        (energy + change, slope + below * curvature, curvature)
    }

    /// Energy at a distance in m, J; zero from the radius on.
    ///
    /// ```text
    /// E = ½ k (r − d)²;   ½ k τ² + k τ² ln(τ/d);   a parabola below δ
    /// ```
    /// Eq: `[Chen 2025]` (two-stage activation), the integral of its force.
    #[must_use]
    pub fn energy(&self, distance: T) -> T {
        self.at(distance).0
    }

    /// Normal force N = −E′ at a distance in m, N: how strongly the features push each other apart.
    ///
    /// Eq: `[Chen 2025]` (two-stage activation).
    #[must_use]
    pub fn force(&self, distance: T) -> T {
        -self.at(distance).1
    }

    /// Stiffness E″ along the normal at a distance in m, N/m; never negative.
    ///
    /// Eq: `[Chen 2025]`, derivative of the force.
    #[must_use]
    pub fn normal_stiffness(&self, distance: T) -> T {
        self.at(distance).2
    }

    /// Forces on the four vertices of a pair, N; they add up to zero.
    ///
    /// ```text
    /// Fᵢ = −E′ wᵢ n
    /// ```
    /// Zero where the features touch, since they have no direction then.
    ///
    /// Eq: `[Chen 2025]`.
    #[must_use]
    pub fn forces(&self, closest: &ClosestPoints<T>) -> [Vector3<T>; 4] {
        let force = closest.direction() * self.force(closest.distance());
        closest.weights.map(|weight| force * weight)
    }

    /// Stiffness matrix along the normal, N/m: the block of vertices i and j is wᵢ wⱼ times it.
    ///
    /// ```text
    /// K = E″ n nᵀ,   Kᵢⱼ = wᵢ wⱼ K
    /// ```
    /// Positive semidefinite, also with the weights. The change of the weights and of the normal is left out: where the
    /// features push, it would not be definite.
    ///
    /// Eq: `[Chen 2025]`, without curvature.
    #[must_use]
    pub fn stiffness_block(&self, closest: &ClosestPoints<T>) -> Matrix3<T> {
        let direction = closest.direction();
        direction * direction.transpose() * self.normal_stiffness(closest.distance())
    }
}

#[cfg(test)]
mod tests {
    use super::super::PairKind;
    use super::super::checks::drawn_vertices;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const PENALTY: Penalty<f64> = Penalty {
        stiffness: 300.0,
        radius: 2e-3,
    };

    #[test]
    fn force_and_stiffness_are_derivatives_of_the_energy() {
        for distance in [3e-6, 9e-6, 2e-5, 4e-4, 9e-4, 1.1e-3, 1.9e-3, 2.5e-3] {
            let step = 1e-4 * distance;
            let slope =
                (PENALTY.energy(distance + step) - PENALTY.energy(distance - step)) / (2.0 * step);
            assert_relative_eq!(PENALTY.force(distance), -slope, max_relative = 1e-6);
            let bend =
                (PENALTY.force(distance - step) - PENALTY.force(distance + step)) / (2.0 * step);
            assert_relative_eq!(
                PENALTY.normal_stiffness(distance),
                bend,
                max_relative = 1e-6
            );
        }
    }

    #[test]
    fn stages_join_smoothly() {
        for penalty in [
            PENALTY,
            Penalty {
                radius: 1e-5,
                ..PENALTY
            },
        ] {
            for joint in [penalty.transition(), penalty.floor()] {
                let (below, above) = (joint * (1.0 - 1e-12), joint * (1.0 + 1e-12));
                let (below, above) = (penalty.at(below), penalty.at(above));
                assert_relative_eq!(below.0, above.0, max_relative = 1e-10);
                assert_relative_eq!(below.1, above.1, max_relative = 1e-10);
                assert_relative_eq!(below.2, above.2, max_relative = 1e-10);
            }
            assert!(penalty.force(penalty.radius * (1.0 - 1e-9)) < 1e-8 * penalty.force(0.0));
            assert_eq!(penalty.energy(penalty.radius), 0.0);
        }
        let touching = PENALTY.energy(0.0);
        assert!(touching.is_finite() && touching > PENALTY.energy(1e-5));
    }

    #[test]
    fn forces_on_the_vertices_are_minus_the_gradient() {
        let mut random = Random::new(591);
        let penalty = Penalty {
            stiffness: 20.0,
            radius: 2.0,
        };
        for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
            for _ in 0..200 {
                let vertices = drawn_vertices(&mut random);
                let closest = kind.closest_points(&vertices);
                if closest.distance() < 0.05 {
                    continue;
                }
                let forces = penalty.forces(&closest);
                for vertex in 0..4 {
                    for axis in 0..3 {
                        let energy = |step: f64| {
                            let mut moved = vertices;
                            moved[vertex][axis] += step;
                            penalty.energy(kind.closest_points(&moved).distance())
                        };
                        let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
                        assert!((forces[vertex][axis] + slope).abs() < 1e-3 / closest.distance());
                    }
                }
                let sum: Vector3<f64> = forces.iter().sum();
                let pairs = forces.iter().zip(&vertices);
                let torque: Vector3<f64> = pairs.map(|(force, vertex)| vertex.cross(force)).sum();
                assert!(sum.norm() < 1e-12 && torque.norm() < 1e-12);
                let block = penalty.stiffness_block(&closest);
                let stiffness = penalty.normal_stiffness(closest.distance());
                assert!(block.symmetric_eigenvalues().min() > -1e-14 * stiffness);
                let normal = closest.direction();
                assert_relative_eq!(
                    normal.dot(&(block * normal)),
                    penalty.normal_stiffness(closest.distance()),
                    max_relative = 1e-12
                );
            }
        }
    }
}
