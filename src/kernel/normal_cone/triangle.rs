//! The normals of a triangle that moves.

use nalgebra::{Vector3, convert};

use super::NormalCone;
use crate::kernel::energy::widened_vector;
use crate::kernel::scalar::Single;

/// Bound of the rounding errors of a cross product, relative to the product of the lengths.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl<T: Single> NormalCone<T> {
    /// A cone of all normals that a triangle has while its corners move along straight lines over a step.
    ///
    /// ```text
    /// n(t) = a(t) × b(t) = (1 − t)² n₀ + 2 t (1 − t) n₁ + t² n₂,      a = x₁ − x₀, b = x₂ − x₀
    /// n₀ = a₀ × b₀,   n₁ = ½ (a₀ × b₁ + a₁ × b₀),   n₂ = a₁ × b₁
    /// ```
    /// n(t) is a mean of n₀, n₁, n₂ with positive weights, and so in each cone around these that is narrower than a half
    /// space. The normals in the middle and at both ends are not enough: n₁ lies outside of them.
    ///
    /// `start` and `end` in m; give the same twice for a triangle at rest. Everything for a triangle that loses its area
    /// on the way, or nearly enough for rounding to turn its normal, and for numbers that are not finite.
    ///
    /// Eq: `[Tang 2009]` (continuous normal cones).
    #[must_use]
    pub fn of_moving_triangle(start: &[Vector3<T>; 3], end: &[Vector3<T>; 3]) -> Self {
        let edges = |corners: &[Vector3<T>; 3]| {
            let [x0, x1, x2] = [0, 1, 2].map(|i| widened_vector(&corners[i]));
            (x1 - x0, x2 - x0)
        };
        let ((a0, b0), (a1, b1)) = (edges(start), edges(end));
        let controls = [
            a0.cross(&b0),
            (a0.cross(&b1) + a1.cross(&b0)) * 0.5,
            a1.cross(&b1),
        ];
        let length = |first: &Vector3<f64>, second: &Vector3<f64>| first.norm().max(second.norm());
        let error = ROUNDING * length(&a0, &a1) * length(&b0, &b1);
        let cone = |normal: &Vector3<f64>| NormalCone::of_direction(normal, error / normal.norm());
        let cone = cone(&controls[0])
            .merged(&cone(&controls[2]))
            .merged(&cone(&controls[1]));
        // The rounding to a narrower scalar is covered by the slack of one more cone.
        Self::of_direction(&cone.axis.map(convert), convert(cone.half_angle))
    }
}
