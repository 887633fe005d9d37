//! The first look at pairs, several side by side: most are dismissed here.

use nalgebra::Vector3;
use simba::simd::{SimdPartialOrd, SimdValue};

use super::bodies::Bodies;
use super::candidates::Pair;
use crate::Real;
use crate::body::tetrahedra::{LANES, Lanes};
use crate::kernel::proximity::PairKind;

/// Bound of the rounding errors of a support gap, relative to the size of the pair.
const ROUNDING: Real = 32.0 * Real::EPSILON;

/// What is known of a pair in the precision of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Distance of the features, m.
    pub distance: Real,
    /// Whether they certainly keep apart, along the direction of their closest points.
    pub is_apart: bool,
    /// How far their vertices move at most, m: the longest of the first feature and the longest of the second, without what
    /// all have in common.
    pub way: Real,
}

/// Positions relative to the first vertex of each pair.
type Places = [Vector3<Lanes>; 4];

/// Looks at all pairs, with their closest points at the start of the step or at its end.
///
/// The proof that they keep apart is one: a direction along which both ends of the step have a gap, beyond what rounding may
/// have added. Positions relative to a vertex of the pair lose half a unit in the last place of the difference.
pub(super) fn look(bodies: &Bodies, pairs: &[Pair], is_at_end: bool, looks: &mut Vec<Look>) {
    looks.clear();
    for kind in pairs.chunk_by(|a, b| a.kind == b.kind) {
        for chunk in kind.chunks(LANES) {
            look_at_lanes(bodies, chunk, is_at_end, looks);
        }
    }
}

fn look_at_lanes(bodies: &Bodies, pairs: &[Pair], is_at_end: bool, looks: &mut Vec<Look>) {
    let kind = pairs[0].kind;
    let (start, end) = (gather(&bodies.start, pairs), gather(&bodies.target, pairs));
    let closest = if is_at_end {
        kind.closest_points(&end)
    } else {
        kind.closest_points(&start)
    };
    let normal = closest.direction();
    let zero = Lanes::splat(0.0);
    let mut size = zero;
    let mut steps = [Vector3::repeat(zero); 4];
    let mut mean = Vector3::repeat(zero);
    for i in 0..4 {
        for place in [&start[i], &end[i]] {
            size = size.simd_max(place.dot(place));
        }
        steps[i] = end[i] - start[i];
        mean += steps[i];
    }
    mean *= Lanes::splat(0.25);
    let slack = root(size) * Lanes::splat(ROUNDING);
    let (first, last) = (gap(kind, &normal, &start), gap(kind, &normal, &end));
    let is_apart = first.simd_gt(slack) & last.simd_gt(slack);
    let count = kind.first_count();
    let longest = |steps: &[Vector3<Lanes>]| {
        let squares = steps.iter().map(|step| (step - mean).norm_squared());
        root(squares.fold(zero, SimdPartialOrd::simd_max))
    };
    let way = longest(&steps[..count]) + longest(&steps[count..]);
    let distance = closest.distance();
    for lane in 0..pairs.len() {
        looks.push(Look {
            distance: distance.extract(lane),
            is_apart: is_apart.extract(lane),
            way: way.extract(lane),
        });
    }
}

fn root(square: Lanes) -> Lanes {
    use simba::simd::SimdComplexField;
    square.simd_sqrt()
}

fn gap(kind: PairKind, normal: &Vector3<Lanes>, places: &Places) -> Lanes {
    let along = [0, 1, 2, 3].map(|i| normal.dot(&places[i]));
    match kind {
        PairKind::VertexFace => along[0] - along[1].simd_max(along[2]).simd_max(along[3]),
        PairKind::EdgeEdge => along[0].simd_min(along[1]) - along[2].simd_max(along[3]),
    }
}

fn gather(positions: &[Vector3<Real>], pairs: &[Pair]) -> Places {
    let mut places = [[[0.0; LANES]; 3]; 4];
    for lane in 0..LANES {
        // Lanes that are left over repeat the first pair.
        let pair = pairs.get(lane).unwrap_or(&pairs[0]);
        let origin = positions[pair.vertices[0] as usize];
        for i in 1..4 {
            let place = positions[pair.vertices[i] as usize] - origin;
            for axis in 0..3 {
                places[i][axis][lane] = place[axis];
            }
        }
    }
    places.map(|place| Vector3::from(place.map(Lanes::from)))
}
