//! For the tests: proves that two features never meet on the way, or says that it cannot.

use nalgebra::Vector3;

use super::PairKind;

/// Halvings of time after which a proof is given up.
const DEPTH: u32 = 50;

/// Rounding errors of interpolated positions and their products with unit vectors, relative to the coordinates.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Whether the features certainly stay apart while all vertices move straight from `start` to `end`.
///
/// Over an interval of time a direction separates the features if it does so at both of its ends, since each vertex
/// moves along a straight line and a feature is the hull of its vertices. Intervals are halved until each has such a
/// direction. Knows nothing of planes or of times of impact elsewhere in this folder.
pub(super) fn certainly_apart(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
) -> bool {
    let largest = start
        .iter()
        .chain(end)
        .map(Vector3::amax)
        .fold(0.0, f64::max);
    apart_within(kind, start, end, (0.0, 1.0), ROUNDING * largest, DEPTH)
}

fn apart_within(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    (from, to): (f64, f64),
    rounding: f64,
    depth: u32,
) -> bool {
    let at = |time: f64| -> [Vector3<f64>; 4] {
        std::array::from_fn(|i| start[i] * (1.0 - time) + end[i] * time)
    };
    let middle = 0.5 * (from + to);
    let (first, last) = (at(from), at(to));
    let count = kind.first_count();
    let separates = |direction: Vector3<f64>| {
        let Some(unit) = direction.try_normalize(0.0) else {
            return false;
        };
        let along = |vertices: &[Vector3<f64>; 4]| vertices.map(|vertex| unit.dot(&vertex));
        let (a, b) = (along(&first), along(&last));
        let nearest = (0..count)
            .map(|i| a[i].min(b[i]))
            .fold(f64::INFINITY, f64::min);
        let farthest = (count..4)
            .map(|i| a[i].max(b[i]))
            .fold(f64::NEG_INFINITY, f64::max);
        nearest - farthest > 2.0 * rounding
    };
    let directions = |vertices: &[Vector3<f64>; 4]| {
        let [x0, x1, x2, x3] = vertices;
        let cross = match kind {
            PairKind::VertexFace => (x2 - x1).cross(&(x3 - x1)),
            PairKind::EdgeEdge => (x1 - x0).cross(&(x3 - x2)),
        };
        [kind.closest_points(vertices).difference, cross, -cross]
    };
    if [at(middle), first]
        .iter()
        .flat_map(directions)
        .any(separates)
    {
        return true;
    }
    // Ends that touch, or no time left: nothing to prove.
    if depth == 0 || kind.closest_points(&at(middle)).distance() <= rounding {
        return false;
    }
    apart_within(kind, start, end, (from, middle), rounding, depth - 1)
        && apart_within(kind, start, end, (middle, to), rounding, depth - 1)
}

#[test]
fn proves_what_passes_and_not_what_meets() {
    let face = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    let with = |vertex: Vector3<f64>| [vertex, face[0], face[1], face[2]];
    let kind = PairKind::VertexFace;
    let above = Vector3::new(0.2, 0.2, 1.0);
    let through = certainly_apart(kind, &with(above), &with(Vector3::new(0.2, 0.2, -1.0)));
    assert!(!through);
    assert!(!certainly_apart(
        kind,
        &with(above),
        &with(Vector3::new(0.2, 0.2, 0.0))
    ));
    assert!(certainly_apart(
        kind,
        &with(above),
        &with(Vector3::new(0.2, 0.2, 1e-12))
    ));
    // Around the border of the face.
    let beside = Vector3::new(-1e-9, -1e-9, 0.5);
    assert!(certainly_apart(
        kind,
        &with(beside),
        &with(Vector3::new(-1e-9, -1e-9, -0.5))
    ));
}
