//! Limits of the two principal stretches of a triangle.

use nalgebra::{Matrix2, Vector3};

use crate::kernel::cloth::triangle::{columns, deformation, edge_pair, principal_stretches};
use crate::kernel::scalar::{Scalar, real};

/// Below this stretch a triangle counts as flat in that direction, which then has no line to be restored along.
const FLAT: f64 = 1e-6;

/// Cosine and sine of the angle in the rest plane between its first axis and the line of the larger stretch.
///
/// ```text
/// C = FᵀF,   tan 2θ = 2 C₁₂/(C₁₁ − C₂₂)
/// ```
/// Equal stretches give the first axis.
#[inline]
fn principal_direction<T: Scalar>([first, second]: &[Vector3<T>; 2]) -> [T; 2] {
    let (zero, one, half) = (T::zero(), T::one(), real::<T>(0.5));
    let difference = (first.dot(first) - second.dot(second)) * half;
    let mixed = first.dot(second);
    let radius = (difference * difference + mixed * mixed).simd_sqrt();
    let turned = radius.simd_gt(zero);
    let inverse_radius = one / radius.select(turned, one);
    let cosine_twice = (difference * inverse_radius).select(turned, one);
    let sine_twice = mixed * inverse_radius;
    // Half the angle by the half-angle formulas, from whichever of sine and cosine is the larger.
    let main = ((one + cosine_twice.simd_abs()) * half).simd_sqrt();
    let other = sine_twice * half / main;
    let near_first = cosine_twice.simd_ge(zero);
    let sign = (-one).select(sine_twice.simd_lt(zero), one);
    [
        main.select(near_first, other.simd_abs()),
        other.select(near_first, main * sign),
    ]
}

/// Displacements of the corners that bring the principal stretches of a triangle within bounds, m.
///
/// ```text
/// F = [x₁ − x₀, x₂ − x₀] D⁻¹ = U diag(σ) Vᵀ
/// F' = R U diag(clamp(σ, lower, upper)) Vᵀ,   [x₁' − x₀', x₂' − x₀'] = F' D
/// Σ m d = 0,   Σ m (x − c) × d = 0
/// ```
/// `positions` x in m; `inverse_masses` in 1/kg; `rest_inverse` D⁻¹ in 1/m, the inverse of the rest edges in the rest
/// plane as columns; `bounds` lower and upper without unit, [0.95, 1.1] for cloth, lower = 0 for no limit of
/// compression. The rotation R about the normal makes the second sum vanish exactly, so d/h as a change of velocity
/// keeps linear and angular momentum; without it a triangle of unequal corners would be turned. With `positions`
/// taken at the end of the step, the angular momentum that is kept is the one about those.
///
/// One fixed corner (inverse mass zero) stays, and the others keep their angular momentum about it. With two fixed
/// corners only the third moves, as if about the middle of the two: the bounds are approached, not met. Zero for three
/// fixed corners, within the bounds, and for a rest triangle without area. A direction in which the triangle is flatter
/// than 10⁻⁶ has lost its line, and is left as it is.
///
/// Eq: `[Wang 2010]`; the rotation is the best fit of corners in a plane, as in `[Müller 2005]`.
#[inline]
pub fn limit_triangle<T: Scalar>(
    positions: &[Vector3<T>; 3],
    inverse_masses: &[T; 3],
    rest_inverse: &Matrix2<T>,
    bounds: [T; 2],
) -> [Vector3<T>; 3] {
    let (zero, one) = (T::zero(), T::one());
    let edge_pair = edge_pair(positions);
    let edges = columns(&edge_pair);
    let (a, b) = (rest_inverse[(0, 0)], rest_inverse[(0, 1)]);
    let (c, d) = (rest_inverse[(1, 0)], rest_inverse[(1, 1)]);
    let gradient = deformation(&edge_pair, rest_inverse);
    let stretches = principal_stretches(&gradient);
    let gradient = columns(&gradient);

    // F' − F = F V diag(σ'/σ − 1) Vᵀ, exactly zero where nothing is clamped.
    let [cosine, sine] = principal_direction(&gradient);
    let lines = [[cosine, sine], [-sine, cosine]];
    let mut change = [Vector3::zeros(); 2];
    for axis in 0..2 {
        let stretch = stretches[axis];
        let extended = stretch.simd_gt(real(FLAT));
        let clamped = stretch.simd_max(bounds[0]).simd_min(bounds[1]);
        let share = ((clamped - stretch) / stretch.select(extended, one)).select(extended, zero);
        let [u, v] = lines[axis];
        let image = (gradient[0] * u + gradient[1] * v) * share;
        change[0] += image * u;
        change[1] += image * v;
    }
    // Back to edges by D, the inverse of the 2×2 matrix D⁻¹.
    let determinant = a * d - b * c;
    let usable = determinant.simd_ne(zero);
    let inverse = (one / determinant.select(usable, one)).select(usable, zero);
    let relative = [
        Vector3::zeros(),
        (change[0] * d - change[1] * c) * inverse,
        (change[1] * a - change[0] * b) * inverse,
    ];

    let weights = Weights::new(inverse_masses);
    let centred = |points: &[Vector3<T>; 3]| {
        let centre = points[0] * weights.centre[0]
            + points[1] * weights.centre[1]
            + points[2] * weights.centre[2];
        [points[0] - centre, points[1] - centre, points[2] - centre]
    };
    let old = centred(&[Vector3::zeros(), edges[0], edges[1]]);
    let moved = centred(&relative);

    // The angle by which the moved corners are turned on average, from its sine and cosine: no angle is needed.
    let normal = edges[0].cross(&edges[1]);
    let area = normal.dot(&normal).simd_sqrt();
    let normal = normal * (one / area.select(area.simd_gt(zero), one));
    let (mut along, mut across) = (zero, zero);
    for corner in 0..3 {
        let mass = weights.mass[corner];
        along += mass * old[corner].dot(&(old[corner] + moved[corner]));
        // old × old is zero, so the change alone counts, without its rounding.
        across += mass * normal.dot(&old[corner].cross(&moved[corner]));
    }
    let radius = (along * along + across * across).simd_sqrt();
    let turns = along.simd_gt(zero);
    let sine = (-across / radius.select(turns, one)).select(turns, zero);
    // 1 − cos without cancellation; the turn stays below a right angle, since stretching alone turns nothing over.
    let versine = sine * sine / (one + (one - sine * sine).simd_max(zero).simd_sqrt());
    let mut displacement = [Vector3::zeros(); 3];
    for corner in 0..3 {
        let new = old[corner] + moved[corner];
        let turn = normal.cross(&new) * sine - new * versine;
        displacement[corner] = (moved[corner] + turn) * weights.free[corner];
    }
    displacement
}

/// How corners of given inverse masses share a displacement.
struct Weights<T> {
    /// Shares of the corners in the point that stays; they add up to one.
    centre: [T; 3],
    /// Masses for the angular momentum, up to a common factor; zero for fixed corners.
    mass: [T; 3],
    /// One for free corners, zero for fixed ones.
    free: [T; 3],
}

impl<T: Scalar> Weights<T> {
    #[inline(always)]
    fn new(inverse_masses: &[T; 3]) -> Self {
        let (zero, one) = (T::zero(), T::one());
        let [w0, w1, w2] = *inverse_masses;
        let largest = w0.simd_max(w1).simd_max(w2);
        let scale = one / largest.select(largest.simd_gt(zero), one);
        let scaled = [w0 * scale, w1 * scale, w2 * scale];
        let [w0, w1, w2] = scaled;
        let products = [w1 * w2, w0 * w2, w0 * w1];
        let sum = products[0] + products[1] + products[2];
        // With two or three fixed corners the products vanish: then the middle of the fixed ones stays.
        let mobile = sum.simd_gt(zero);
        let free = scaled.map(|w| one.select(w.simd_gt(zero), zero));
        let held = free.map(|free| one - free);
        let held_count = (held[0] + held[1] + held[2]).simd_max(one);
        let mut weights = Self {
            centre: [zero; 3],
            mass: [zero; 3],
            free,
        };
        for corner in 0..3 {
            let share = products[corner].select(mobile, held[corner]);
            weights.centre[corner] = share / sum.select(mobile, held_count);
            let turns = mobile & scaled[corner].simd_gt(zero);
            weights.mass[corner] = (one / scaled[corner].select(turns, one)).select(turns, zero);
        }
        weights
    }
}

#[cfg(test)]
mod tests;
