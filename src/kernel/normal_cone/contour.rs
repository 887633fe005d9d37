//! Whether the boundary of a patch, seen along an axis, meets itself.

use nalgebra::{Vector2, Vector3};

use crate::kernel::energy::widened_vector;
use crate::kernel::matrix::perpendicular;
use crate::kernel::scalar::Single;

/// Bound of the rounding errors of a projected point, relative to the coordinates.
pub(super) const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// An edge of the contour at the start and at the end of the step, projected, m.
#[derive(Clone, Copy)]
pub(super) struct MovingEdge {
    /// Its two ends at the start, then at the end.
    pub corners: [Vector2<f64>; 4],
}

/// The plane that a contour is projected on.
struct Projection<'a, T: Single> {
    positions: [&'a [Vector3<T>]; 2],
    origin: Vector3<f64>,
    axes: [Vector3<f64>; 2],
}

impl<T: Single> Projection<'_, T> {
    fn edge(&self, edge: [u32; 2]) -> MovingEdge {
        let point = |time: usize, end: usize| {
            let place = widened_vector(&self.positions[time][edge[end] as usize]) - self.origin;
            Vector2::new(self.axes[0].dot(&place), self.axes[1].dot(&place))
        };
        MovingEdge {
            corners: [point(0, 0), point(0, 1), point(1, 0), point(1, 1)],
        }
    }
}

/// Whether the boundary of a patch, projected along an axis, meets neither itself nor another of its loops, at any time
/// of a step, and winds round as the boundary of a graph does: one loop in the positive sense, the others in the negative.
///
/// With [`NormalCone::excludes_folds`](super::NormalCone::excludes_folds) for the same axis, the patch then meets itself
/// nowhere during the step.
///
/// ```text
/// edges without a common vertex    lines of one direction separate them at the start and at the end
/// edges that follow each other     e·f > 0 throughout, or e × f of one sign throughout (no turning back)
/// ```
/// Distances along a direction are linear in time; e·f and e × f are quadratic and looked at by their Bernstein
/// coefficients. False wherever this cannot be told: contours that would just not touch, or a rounding error decides.
///
/// # Arguments
/// * `start`, `end` – positions of all vertices at the ends of the step, m; twice the same for a moment
/// * `edges` – of [`boundary_edges`](super::boundary_edges): loop after loop. Any other order is false, as is none at all
/// * `axis` – of the cone, of any length
///
/// Takes time with the square of the number of edges.
///
/// Eq: `[Volino 1994]` (contour test), `[Provot 1997]`.
#[must_use]
pub fn contour_is_simple<T: Single>(
    start: &[Vector3<T>],
    end: &[Vector3<T>],
    edges: &[[u32; 2]],
    axis: &Vector3<T>,
) -> bool {
    let count = start.len().min(end.len());
    let exists = |edge: &[u32; 2]| edge.iter().all(|&vertex| (vertex as usize) < count);
    let direction = widened_vector(axis).try_normalize(0.0);
    let (Some(direction), Some(first)) = (direction, edges.first()) else {
        return false;
    };
    if !edges.iter().all(exists) {
        return false;
    }
    let side = perpendicular(&direction);
    let projection = Projection {
        positions: [start, end],
        origin: widened_vector(&start[first[0] as usize]),
        axes: [side, direction.cross(&side)],
    };
    let coordinates = edges.iter().flat_map(|edge| {
        let vertex = edge[0] as usize;
        [start[vertex], end[vertex]].map(|x| widened_vector(&x).amax())
    });
    let blur = ROUNDING * coordinates.fold(0.0, f64::max);
    let edge = |edge| projection.edge(edge);
    winds_once(edge, edges, blur) && edges_stay_apart(edge, edges, blur, 0.0)
}

/// Whether the edges are closed loops of which one winds in the positive sense at the start, the others in the negative.
pub(super) fn winds_once(
    moving: impl Fn([u32; 2]) -> MovingEdge,
    edges: &[[u32; 2]],
    blur: f64,
) -> bool {
    let (mut first, mut area, mut length, mut positive) = (0, 0.0, 0.0, 0);
    for (place, &edge) in edges.iter().enumerate() {
        let [from, to, ..] = moving(edge).corners;
        area += 0.5 * from.perp(&to);
        length += from.norm() + (to - from).norm();
        if edge[1] == edges[first][0] {
            // What may be positive counts as positive. Written so that a number that is not one does.
            let negative = area < -blur * length;
            positive += usize::from(!negative);
            (first, area, length) = (place + 1, 0.0, 0.0);
        } else if edges.get(place + 1).is_none_or(|next| next[0] != edge[1]) {
            return false;
        }
    }
    positive == 1
}

/// Whether no two edges of the contour meet, except neighbours in their common vertex, and whether no vertex of it comes
/// nearer than the clearance, m, to an edge that does not end there; the latter for edges that are not shorter themselves.
pub(super) fn edges_stay_apart(
    moving: impl Fn([u32; 2]) -> MovingEdge,
    edges: &[[u32; 2]],
    blur: f64,
    clearance: f64,
) -> bool {
    let room = Room { blur, clearance };
    (0..edges.len()).all(|i| {
        let first = moving(edges[i]);
        (i + 1..edges.len()).all(|j| {
            let second = moving(edges[j]);
            let [[a, b], [c, d]] = [edges[i], edges[j]];
            match (b == c, a == d, a == c || b == d) {
                (false, false, false) => first.is_separate(&second, &room),
                (true, false, false) => first.goes_on(&second, &room),
                (false, true, false) => second.goes_on(&first, &room),
                _ => false,
            }
        })
    })
}

/// What must be left between edges.
struct Room {
    /// Error of projected points, m.
    blur: f64,
    /// m.
    clearance: f64,
}

impl MovingEdge {
    /// Whether lines of one direction lie between this edge and another at both ends of the step, with some room. Then
    /// they do all the time, since distances along a direction change linearly.
    fn is_separate(&self, other: &Self, room: &Room) -> bool {
        let across = |edge: &Self| {
            let [a, b, c, d] = edge.corners;
            [b - a, d - c].map(|side| Vector2::new(-side.y, side.x))
        };
        let between =
            self.corners.iter().sum::<Vector2<f64>>() - other.corners.iter().sum::<Vector2<f64>>();
        let candidates = [Vector2::x(), Vector2::y(), between]
            .into_iter()
            .chain(across(self))
            .chain(across(other));
        candidates.into_iter().any(|normal| {
            let along = |edge: &Self| edge.corners.map(|corner| normal.dot(&corner));
            let (own, others) = (along(self), along(other));
            // How far this edge lies before the other, and behind it, at a time.
            let gaps = [0, 2].map(|t| {
                let (low, high) = (own[t].min(own[t + 1]), own[t].max(own[t + 1]));
                let (other_low, other_high) =
                    (others[t].min(others[t + 1]), others[t].max(others[t + 1]));
                [low - other_high, other_low - high]
            });
            // An edge without length has no normal: then all is zero, and nothing is separated.
            let least = (4.0 * room.blur + room.clearance) * normal.norm();
            (0..2).any(|side| gaps.iter().all(|gap| gap[side] > least))
        })
    }

    /// Whether the edge that follows does not turn back over this one. Where they make an obtuse angle their far ends are as
    /// far from the other edge as from the common vertex, else as from its line, which is the product of both over its length.
    fn goes_on(&self, next: &Self, room: &Room) -> bool {
        let edge = |edge: &Self, time: usize| edge.corners[2 * time + 1] - edge.corners[2 * time];
        let (e, f) = ([0, 1].map(|t| edge(self, t)), [0, 1].map(|t| edge(next, t)));
        let longest = e.iter().chain(&f).map(Vector2::norm).fold(0.0, f64::max);
        let margin = 8.0 * room.blur * longest;
        let apart = margin + room.clearance * longest;
        let dots = [
            e[0].dot(&f[0]),
            0.5 * (e[0].dot(&f[1]) + e[1].dot(&f[0])),
            e[1].dot(&f[1]),
        ];
        let crosses = [
            e[0].perp(&f[0]),
            0.5 * (e[0].perp(&f[1]) + e[1].perp(&f[0])),
            e[1].perp(&f[1]),
        ];
        dots.iter().all(|&dot| dot > margin)
            || crosses.iter().all(|&cross| cross > apart)
            || crosses.iter().all(|&cross| cross < -apart)
    }
}
