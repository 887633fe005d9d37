//! One contact of a zone, as a row of its constraints.

use nalgebra::Vector3;

use crate::kernel::energy::{widened, widened_vector};
use crate::kernel::scalar::Single;

/// A pair of features in contact: its gap must not shrink.
///
/// ```text
/// ġ = G v = n·Σ wᵢ vᵢ ≥ 0
/// ```
/// The row of G has wᵢ nᵀ at the vertices of the pair: the gradient of the distance, for a vertex and a face as well as
/// for two edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZoneConstraint<T> {
    /// Numbers of the four vertices in the slices of the zone.
    pub vertices: [u32; 4],
    /// wᵢ, as in [`ClosestPoints`](crate::kernel::proximity::ClosestPoints); they add up to zero.
    pub weights: [T; 4],
    /// n, unit, from the second feature to the first.
    pub normal: Vector3<T>,
}

impl<T: Single> ZoneConstraint<T> {
    /// The weights in double precision, with a sum of exactly zero, so that impulses keep the momentum.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub(super) fn balanced_weights(&self) -> [f64; 4] {
        let mut weights = self.weights.map(widened);
        // The largest takes up the rounding: a weight of zero must stay zero, or its vertex would be in the contact.
        let larger = |best: usize, i: usize| {
            if weights[i].abs() > weights[best].abs() {
                i
            } else {
                best
            }
        };
        let largest = (0..4).fold(0, larger);
        weights[largest] = 0.0;
        weights[largest] = -weights.iter().sum::<f64>();
        weights
    }

    /// Rate of the gap ġ, m/s: negative while the features approach. Vertices that do not exist count as at rest.
    ///
    /// ```text
    /// ġ = n·Σ wᵢ vᵢ
    /// ```
    /// Eq: `[Harmon 2008]`.
    #[must_use]
    pub fn rate(&self, velocities: &[Vector3<T>]) -> f64 {
        let normal = widened_vector(&self.normal);
        let pairs = self.vertices.iter().zip(self.balanced_weights());
        pairs.fold(0.0, |sum, (&vertex, weight)| {
            let velocity = velocities.get(vertex as usize);
            sum + velocity.map_or(0.0, |v| weight * normal.dot(&widened_vector(v)))
        })
    }

    /// Entry of G M⁻¹ Gᵀ for this row and another, 1/kg.
    ///
    /// ```text
    /// A_rs = n_r·n_s Σ w_ri w_sj/m over vertices i, j that are the same
    /// ```
    /// `inverse_masses` in 1/kg, zero for pinned vertices; those that do not exist count as pinned.
    ///
    /// Eq: `[Harmon 2008]`.
    #[must_use]
    pub fn coupling(&self, other: &Self, inverse_masses: &[T]) -> f64 {
        let (own, others) = (self.balanced_weights(), other.balanced_weights());
        let mut sum = 0.0;
        for (&vertex, weight) in self.vertices.iter().zip(own) {
            for (&other_vertex, other_weight) in other.vertices.iter().zip(others) {
                if vertex == other_vertex {
                    let inverse_mass = inverse_masses.get(vertex as usize);
                    sum += inverse_mass
                        .map_or(0.0, |&inverse| weight * other_weight * widened(inverse));
                }
            }
        }
        sum * widened_vector(&self.normal).dot(&widened_vector(&other.normal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights as single precision leaves them: the sum is mended, and a vertex that is not in the contact stays out.
    #[test]
    fn weights_are_balanced_without_touching_zeros() {
        let constraint = ZoneConstraint {
            vertices: [0, 1, 2, 3],
            weights: [1.0_f32, -0.6, -0.4, 0.0],
            normal: Vector3::y(),
        };
        let sum = f64::from(-0.6_f32) + f64::from(-0.4_f32);
        assert_ne!(sum, -1.0);
        let weights = constraint.balanced_weights();
        assert_eq!(weights.iter().sum::<f64>(), 0.0);
        assert_eq!(weights[3], 0.0);
        assert_eq!(constraint.coupling(&constraint, &[0.0, 0.0, 0.0, 1.0]), 0.0);
        let velocities = [Vector3::y() * 2.0; 4];
        assert_eq!(constraint.rate(&velocities), 0.0);
        assert_eq!(constraint.rate(&velocities[..0]), 0.0);
        assert!((constraint.rate(&[Vector3::y()]) - 1.0).abs() < 1e-7);
    }
}
