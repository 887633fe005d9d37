//! The filter against tunnelling: vertices move as far as their boxes and planes let them.
//!
//! ```text
//! boxes    one per vertex around where it is and where it is about to go, with some room
//! pairs    all vertex–face and edge–edge pairs without a common vertex whose boxes (unions of their vertices') overlap
//! planes   one SeparatingPlane per pair; a pair without one is frozen: its vertices stay
//! steps    every move of a vertex is cut off at its box and its half-spaces
//! ```
//! **Guarantee.** If the state in the beginning has no intersection, no pair of triangles meets on the straight paths from
//! there to any later positions, whatever solver asked for them: pairs with a plane stay on their sides of it, and pairs
//! without one either stay in boxes that do not overlap or do not move.

use nalgebra::{Vector3, convert};

use super::separating_plane::HalfSpace;
use crate::kernel::energy::widened_vector;
use crate::kernel::scalar::{Single, real};

/// Share γ of the room in front of a vertex that one move may use.
const SHARE_OF_ROOM: f64 = 0.9;

/// Share of the move about to be made by which a box is larger than needed.
const SHARE_OF_MOVE: f64 = 0.25;

/// A box along the axes, closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<T> {
    /// The corner with the smallest coordinates, m.
    pub minimum: Vector3<T>,
    /// The corner with the largest coordinates, m.
    pub maximum: Vector3<T>,
}

impl<T: Single> Bounds<T> {
    /// The box of a vertex on its way.
    ///
    /// ```text
    /// B = box(x, x̃) grown by max(r, ¼ |x̃ − x|) on all sides
    /// ```
    /// `position` x and `target` x̃ in m; `radius` r, m, is the distance at which contact begins to act.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn of_move(position: &Vector3<T>, target: &Vector3<T>, radius: T) -> Self {
        let length = (target - position).norm();
        let room = (length * real(SHARE_OF_MOVE)).max(radius);
        Self {
            minimum: position.inf(target).add_scalar(-room),
            maximum: position.sup(target).add_scalar(room),
        }
    }

    /// The smallest box around this one and another.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            minimum: self.minimum.inf(&other.minimum),
            maximum: self.maximum.sup(&other.maximum),
        }
    }

    /// Whether two boxes have a point in common.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|axis| {
            self.minimum[axis] <= other.maximum[axis] && other.minimum[axis] <= self.maximum[axis]
        })
    }

    /// Whether a point is in the box; false where a coordinate is not a number.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn contains(&self, point: &Vector3<T>) -> bool {
        (0..3).all(|axis| self.minimum[axis] <= point[axis] && point[axis] <= self.maximum[axis])
    }
}

/// The share of a move that a vertex may make, in [0, 1].
///
/// ```text
/// largest t ≤ 1 with   t (−n·Δx) ≤ γ s(x)   for each half-space, s its slack,
/// and                  t |Δxₐ| ≤ γ (distance to the box along axis a)   where the target is outside of it;   γ = 0.9
/// ```
/// Zero where a number is not finite.
///
/// Eq: elementary (clipping a segment at half-spaces).
#[must_use]
pub fn admissible_share<T: Single>(
    position: &Vector3<T>,
    target: &Vector3<T>,
    bounds: &Bounds<T>,
    half_spaces: &[HalfSpace],
) -> f64 {
    let (start, end) = (widened_vector(position), widened_vector(target));
    let step = end - start;
    let mut share: f64 = 1.0;
    if !bounds.contains(target) {
        let (minimum, maximum) = (
            widened_vector(&bounds.minimum),
            widened_vector(&bounds.maximum),
        );
        for axis in 0..3 {
            let border = if step[axis] > 0.0 {
                maximum[axis]
            } else {
                minimum[axis]
            };
            let room = (border - start[axis]).abs();
            if step[axis].abs() > room {
                share = share.min(SHARE_OF_ROOM * room / step[axis].abs());
            }
        }
    }
    for half_space in half_spaces {
        let approach = -half_space.normal.dot(&step);
        if approach > 0.0 {
            share = share.min(SHARE_OF_ROOM * half_space.slack(&start) / approach);
        }
    }
    if step.iter().all(|step| step.is_finite()) {
        share.max(0.0)
    } else {
        0.0
    }
}

/// Where a vertex goes that wants to move to a target: as far as its box and its half-spaces let it.
///
/// ```text
/// y = x + t (x̃ − x),   t of admissible_share;   y if it is inside of all once rounded to its scalar, else x
/// ```
/// `position` x must be inside of all itself; then the result is. The last test sees the numbers that are stored, so
/// that rounding cannot carry a vertex through a gap of a few units in the last place.
///
/// Eq: elementary (clipping a segment at half-spaces).
#[must_use]
pub fn truncated_position<T: Single>(
    position: &Vector3<T>,
    target: &Vector3<T>,
    bounds: &Bounds<T>,
    half_spaces: &[HalfSpace],
) -> Vector3<T> {
    let share = admissible_share(position, target, bounds, half_spaces);
    let moved = if share >= 1.0 {
        *target
    } else {
        let start = widened_vector(position);
        let step = widened_vector(target) - start;
        (start + step * share).map(convert)
    };
    let stored = widened_vector(&moved);
    let inside = half_spaces
        .iter()
        .all(|half_space| half_space.contains(&stored));
    if inside && bounds.contains(&moved) {
        moved
    } else {
        *position
    }
}
