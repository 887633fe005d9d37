//! Whether two features keep apart while their vertices move along straight lines, and the least change that makes them.
//!
//! A plane that moves evenly is as good as a still one: on both of its sides a feature is the hull of its vertices.
//!
//! ```text
//! g(t) = min n·xᵢ(t) over the first feature − max n·xⱼ(t) over the second
//! ```
//! is concave in time, so a direction n with g > 0 at both ends of an interval separates the features in between. So
//! neighbours that fly together, closely and fast, have planes, where still planes would stop them in mid-air.

use nalgebra::Vector3;

use super::PairKind;

/// Bound of the rounding errors of g, relative to the coordinates.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Halvings of the step after which a proof is given up.
const DEPTH: u32 = 4;

/// Halvings of an interval of offsets: down to the last digit.
const HALVINGS: u32 = 60;

/// Support gap of the features along a direction, m, less what rounding may have added to it.
///
/// ```text
/// g = min n·xᵢ over the first feature − max n·xⱼ over the second
/// ```
/// `normal` n is about a unit vector. Positive only if the features are certainly apart. Not a number where one is none.
///
/// Eq: elementary (separating plane of convex sets).
#[inline]
#[must_use]
pub fn support_gap(kind: PairKind, normal: &Vector3<f64>, vertices: &[Vector3<f64>; 4]) -> f64 {
    let along = vertices.map(|vertex| normal.dot(&vertex));
    let largest = vertices.iter().map(Vector3::amax).fold(0.0, f64::max);
    let rounding = ROUNDING * largest;
    match kind {
        PairKind::VertexFace => along[0] - along[1].max(along[2]).max(along[3]) - rounding,
        PairKind::EdgeEdge => along[0].min(along[1]) - along[2].max(along[3]) - rounding,
    }
}

/// Directions that may separate the features: that of the closest points, and the normal of the face or of both edges.
fn directions(kind: PairKind, vertices: &[Vector3<f64>; 4]) -> [Vector3<f64>; 3] {
    let [x0, x1, x2, x3] = vertices;
    let cross = match kind {
        PairKind::VertexFace => (x2 - x1).cross(&(x3 - x1)),
        PairKind::EdgeEdge => (x1 - x0).cross(&(x3 - x2)),
    };
    let cross = cross.try_normalize(0.0).unwrap_or_default();
    [kind.closest_points(vertices).direction(), cross, -cross]
}

/// The direction along which the features are farthest apart, as far as their closest points and normals tell, and the gap,
/// m; none if no gap is certain: the features touch, cross, are nearer than rounding, or a number is not finite.
///
/// Eq: elementary (separating plane of convex sets).
#[must_use]
pub fn separating_direction(
    kind: PairKind,
    vertices: &[Vector3<f64>; 4],
) -> Option<(Vector3<f64>, f64)> {
    let mut best: Option<(Vector3<f64>, f64)> = None;
    for normal in directions(kind, vertices) {
        let gap = support_gap(kind, &normal, vertices);
        if gap > best.map_or(0.0, |(_, largest)| largest) {
            best = Some((normal, gap));
        }
    }
    best
}

/// Whether the features certainly keep apart while all vertices move straight and evenly from `start` to `end`, m.
///
/// A proof on the numbers as they are given, rounding included: one direction per piece of the step, which is halved up to
/// four times. False says that there was no such proof.
///
/// Eq: elementary (separating plane of convex sets; support functions along straight paths).
#[must_use]
pub fn keep_apart(kind: PairKind, start: &[Vector3<f64>; 4], end: &[Vector3<f64>; 4]) -> bool {
    apart_within(kind, start, end, (0.0, 1.0), DEPTH)
}

fn apart_within(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    (from, until): (f64, f64),
    depth: u32,
) -> bool {
    let at = |time: f64| -> [Vector3<f64>; 4] {
        std::array::from_fn(|i| start[i] * (1.0 - time) + end[i] * time)
    };
    let (first, last) = (at(from), at(until));
    let separates = |normal: &Vector3<f64>| {
        support_gap(kind, normal, &first) > 0.0 && support_gap(kind, normal, &last) > 0.0
    };
    let middle = 0.5 * (from + until);
    if directions(kind, &first).iter().any(separates)
        || directions(kind, &at(middle)).iter().any(separates)
        || directions(kind, &last).iter().any(separates)
    {
        return true;
    }
    depth > 0
        && apart_within(kind, start, end, (from, middle), depth - 1)
        && apart_within(kind, start, end, (middle, until), depth - 1)
}

/// Moves the ends of the paths along a direction until the features are apart there, and as little as possible.
///
/// ```text
/// n·yᵢ ≥ o + g/2 over the first feature,   n·yⱼ ≤ o − g/2 over the second
/// Σ mᵢ Δᵢ = 0                              fixes o: the momentum along n stays what it was
/// ```
/// A perfectly inelastic impact of the vertices that are in the way.
///
/// # Arguments
/// * `normal` – n, from the second feature to the first, of unit length
/// * `gap` – g, m
/// * `masses` – kg; infinite for vertices that do not give way. Then momentum goes to what holds them
/// * `ends` – y, m
///
/// # Returns
/// The new ends; none if vertices that do not give way are in each other's, or a number is not finite.
///
/// Eq: elementary (inelastic impact, `[001 §6.1]`).
#[must_use]
pub fn separated_ends(
    kind: PairKind,
    normal: &Vector3<f64>,
    gap: f64,
    masses: &[f64; 4],
    ends: &[Vector3<f64>; 4],
) -> Option<[Vector3<f64>; 4]> {
    let count = kind.first_count();
    let along = ends.map(|end| normal.dot(&end));
    if !along.iter().all(|along| along.is_finite()) {
        return None;
    }
    let half = 0.5 * gap;
    // How far each vertex moves if the middle of the gap is at an offset.
    let moves = |offset: f64| -> [f64; 4] {
        std::array::from_fn(|i| {
            if i < count {
                (offset + half - along[i]).max(0.0)
            } else {
                (offset - half - along[i]).min(0.0)
            }
        })
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for &along in &along {
        low = low.min(along - gap);
        high = high.max(along + gap);
    }
    for i in 0..4 {
        if masses[i].is_infinite() && i < count {
            high = high.min(along[i] - half);
        } else if masses[i].is_infinite() {
            low = low.max(along[i] + half);
        }
    }
    if low > high {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let momentum: f64 = moves(middle)
            .iter()
            .zip(masses)
            .filter(|(_, mass)| mass.is_finite())
            .map(|(step, mass)| step * mass)
            .sum();
        if momentum > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    let moves = moves(0.5 * (low + high));
    Some(std::array::from_fn(|i| {
        // What is left of an infinite mass is rounding.
        if masses[i].is_infinite() {
            ends[i]
        } else {
            ends[i] + normal * moves[i]
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::certificate::certainly_apart;
    use super::super::checks::drawn_vertices;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const KINDS: [PairKind; 2] = [PairKind::VertexFace, PairKind::EdgeEdge];

    #[test]
    fn no_proof_is_given_for_what_meets() {
        let mut random = Random::new(611);
        let (mut proofs, mut refusals) = (0, 0);
        for kind in KINDS {
            for _ in 0..20_000 {
                let start = drawn_vertices(&mut random);
                let size = 10f64.powf(random.between(-3.0, 0.3));
                let common = random.vector(5.0);
                let end = start.map(|vertex| vertex + common + random.vector(size));
                let proven = keep_apart(kind, &start, &end);
                if proven {
                    // An independent, finer proof exists.
                    assert!(certainly_apart(kind, &start, &end));
                    proofs += 1;
                }
                refusals += u32::from(!proven && certainly_apart(kind, &start, &end));
            }
        }
        assert!(proofs > 20_000, "{proofs}");
        assert!(f64::from(refusals) < 0.01 * f64::from(proofs), "{refusals}");
    }

    #[test]
    fn neighbours_that_fly_together_keep_apart() {
        let gap = 1e-6;
        let face = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        let start = [Vector3::new(0.2, 0.2, gap), face[0], face[1], face[2]];
        let flight = Vector3::new(1.0, 2.0, -3.0);
        let end = start.map(|vertex| vertex + flight);
        assert!(keep_apart(PairKind::VertexFace, &start, &end));
        let mut passed = end;
        passed[0].z -= 2.0 * gap;
        assert!(!keep_apart(PairKind::VertexFace, &start, &passed));
    }

    #[test]
    fn separated_ends_are_apart_and_keep_momentum() {
        let mut random = Random::new(612);
        for kind in KINDS {
            let mut moved = 0;
            for case in 0..2000 {
                let start = drawn_vertices(&mut random);
                let (normal, start_gap) = separating_direction(kind, &start).expect("apart");
                let ends = start.map(|vertex| vertex + random.vector(1.0));
                let gap = 0.1 * start_gap;
                let mut masses = [0; 4].map(|_| random.between(0.1, 2.0));
                if case % 3 == 0 {
                    masses[3] = f64::INFINITY;
                }
                let after = separated_ends(kind, &normal, gap, &masses, &ends).expect("room");
                assert!(support_gap(kind, &normal, &after) > gap - 1e-12);
                let (mut momentum, mut size) = (Vector3::zeros(), 0.0);
                for i in 0..4 {
                    let step: Vector3<f64> = after[i] - ends[i];
                    if masses[i].is_finite() {
                        momentum += step * masses[i];
                    } else {
                        assert_eq!(step, Vector3::zeros());
                    }
                    size += step.norm();
                    assert!(step.cross(&normal).norm() < 1e-12);
                }
                if masses[3].is_finite() {
                    assert!(momentum.norm() < 1e-12);
                }
                if support_gap(kind, &normal, &ends) > gap {
                    assert!(size < 1e-12);
                } else {
                    moved += 1;
                }
            }
            assert!(moved > 200, "{moved}");
        }
    }

    #[test]
    fn what_does_not_give_way_stays() {
        let start = [
            Vector3::new(0.2, 0.2, 1.0),
            Vector3::zeros(),
            Vector3::x(),
            Vector3::y(),
        ];
        let mut ends = start;
        ends[0].z = -1.0;
        let kind = PairKind::VertexFace;
        let (normal, _) = separating_direction(kind, &start).expect("apart");
        let fixed = f64::INFINITY;
        let after = separated_ends(kind, &normal, 0.1, &[1.0, fixed, fixed, fixed], &ends);
        let after = after.expect("room");
        assert_relative_eq!(after[0].z, 0.1, epsilon = 1e-12);
        assert_eq!(&after[1..], &ends[1..]);
        let stuck = separated_ends(kind, &normal, 0.1, &[fixed; 4], &ends);
        assert_eq!(stuck, None);
        ends[0].x = f64::NAN;
        assert_eq!(separated_ends(kind, &normal, 0.1, &[1.0; 4], &ends), None);
    }
}
