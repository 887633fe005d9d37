//! When features meet that move along straight lines: additive continuous collision detection.

use nalgebra::Vector3;

use super::PairKind;

/// Share of the distance that may be left at an impact, and that every advance leaves out.
pub const LEFTOVER: f64 = 0.1;

/// Most advances; pairs that graze each other take many.
pub const MOST_ADVANCES: usize = 64;

/// Bound of the rounding errors of a distance, relative to the coordinates.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Positions of the vertices at a share of the step.
#[inline]
pub(super) fn positions_at(
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    time: f64,
) -> [Vector3<f64>; 4] {
    std::array::from_fn(|vertex| start[vertex] + (end[vertex] - start[vertex]) * time)
}

/// A time, as a share of the step, up to which two features certainly stay apart; none if they do to the end.
///
/// ```text
/// l = max |Δpᵢ| over the first + max |Δpⱼ| over the second,   Δp = Δx − mean Δx
/// t ← t + (1 − s)(d(t) − ξ)/l      until d − ξ ≤ s (d(0) − ξ)   or t > 1
/// ```
/// The distance cannot shrink faster than l, so no contact is overlooked, in parallel, coplanar and degenerate
/// cases either. Distances are reduced by what rounding may have added to them.
///
/// # Arguments
/// * `start`, `end` – positions at the ends of the step, m
/// * `separation` – ξ, m: the distance that counts as contact, zero or more
///
/// # Returns
/// A time t in [0, 1] before the first contact, at which the features are still more than ξ apart; after s = 0.1 of the
/// distance is left, or after 64 advances (grazing pairs). Zero if they are within ξ in the beginning, or if a number
/// is not finite. The answer may be a false alarm for features that come close, never a miss.
///
/// Eq: `[Li 2021]` algorithm 1 (additive continuous collision detection).
#[must_use]
pub fn time_of_impact(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    separation: f64,
) -> Option<f64> {
    let largest = start
        .iter()
        .chain(end)
        .map(Vector3::amax)
        .fold(0.0, f64::max);
    let blocked = separation + ROUNDING * largest;
    let steps: [Vector3<f64>; 4] = std::array::from_fn(|vertex| end[vertex] - start[vertex]);
    let mean = steps.iter().sum::<Vector3<f64>>() * 0.25;
    let longest = |steps: &[Vector3<f64>]| {
        let lengths = steps.iter().map(|step| (step - mean).norm());
        lengths.fold(0.0, f64::max)
    };
    let (first, second) = steps.split_at(kind.first_count());
    let approach = longest(first) + longest(second);

    let gap_at = |time| {
        kind.closest_points(&positions_at(start, end, time))
            .distance()
            - blocked
    };
    let mut gap = gap_at(0.0);
    // Written so that a number that is not one counts as contact.
    let apart = gap > 0.0 && mean.iter().all(|mean| mean.is_finite());
    if !apart {
        return Some(0.0);
    }
    let goal = LEFTOVER * gap;
    let mut time = 0.0;
    for _ in 0..MOST_ADVANCES {
        let next = time + (1.0 - LEFTOVER) * gap / approach;
        if next > 1.0 {
            return None;
        }
        time = next;
        gap = gap_at(time);
        if gap <= goal {
            break;
        }
    }
    Some(time)
}

#[cfg(test)]
mod tests {
    use super::super::certificate::certainly_apart;
    use super::super::checks::drawn_vertices;
    use super::*;
    use crate::kernel::testing::Random;

    const KINDS: [PairKind; 2] = [PairKind::VertexFace, PairKind::EdgeEdge];

    #[test]
    fn fall_on_a_face_is_found_in_time() {
        let face = [Vector3::zeros(), Vector3::x(), Vector3::z()];
        for height in [1e-6, 1e-3, 0.1, 0.6] {
            for separation in [0.0, 0.5 * height] {
                let at = |y: f64| [Vector3::new(0.2, y, 0.3), face[0], face[1], face[2]];
                let (start, end) = (at(height), at(height - 1.0));
                let kind = PairKind::VertexFace;
                let time = time_of_impact(kind, &start, &end, separation).expect("a contact");
                let exact = height - separation;
                assert!(time <= exact && time >= 0.85 * exact, "{time} {exact}");
                assert_eq!(time_of_impact(kind, &start, &at(2.0), separation), None);
            }
        }
    }

    #[test]
    fn common_motion_is_no_approach() {
        let mut random = Random::new(551);
        for kind in KINDS {
            let start = drawn_vertices(&mut random);
            let shift = random.vector(100.0);
            let end = start.map(|vertex| vertex + shift);
            assert_eq!(time_of_impact(kind, &start, &end, 0.0), None);
            assert_eq!(time_of_impact(kind, &start, &start, 0.0), None);
        }
    }

    #[test]
    fn none_is_proved_and_times_are_safe() {
        let mut random = Random::new(552);
        let (mut none, mut alarms) = (0, 0);
        for kind in KINDS {
            for case in 0..20_000 {
                let start = drawn_vertices(&mut random);
                let speed = 10f64.powf(random.between(-2.0, 0.5));
                let end = start.map(|vertex| vertex + random.vector(speed));
                let separation = if case % 2 == 0 { 0.0 } else { 1e-3 };
                let stop = time_of_impact(kind, &start, &end, separation);
                let until = positions_at(&start, &end, stop.unwrap_or(1.0));
                none += usize::from(stop.is_none());
                let near = kind.closest_points(&start).distance() <= separation;
                if near {
                    assert_eq!(stop, Some(0.0));
                    continue;
                }
                assert!(certainly_apart(kind, &start, &until));
                assert!(kind.closest_points(&until).distance() > separation);
                alarms += usize::from(stop.is_some() && certainly_apart(kind, &start, &end));
            }
        }
        assert!(none > 10_000, "{none}");
        println!("{none} without contact, {alarms} false alarms of 40000");
    }

    #[test]
    fn contact_in_the_beginning_and_bad_numbers_stop_at_once() {
        let mut random = Random::new(553);
        for kind in KINDS {
            let start = drawn_vertices(&mut random);
            let end = start.map(|vertex| vertex + random.vector(0.1));
            let distance = kind.closest_points(&start).distance();
            assert_eq!(
                time_of_impact(kind, &start, &end, distance * 1.001),
                Some(0.0)
            );
            for bad in [f64::NAN, f64::INFINITY] {
                let mut broken = end;
                broken[2].y = bad;
                assert_eq!(time_of_impact(kind, &start, &broken, 0.0), Some(0.0));
                assert_eq!(time_of_impact(kind, &broken, &end, 0.0), Some(0.0));
            }
        }
    }

    #[test]
    fn grazing_pairs_end_at_a_safe_time() {
        // An edge slides fast along a long one, which it nears slowly.
        let start = [
            Vector3::new(-1e5, 1.0, 0.0),
            Vector3::new(1e5, 1.0, 0.0),
            Vector3::new(0.0, 0.0, 0.5),
            Vector3::new(1.0, 0.0, -0.5),
        ];
        let mut end = start;
        end[2] += Vector3::new(1e4, 0.95, 0.0);
        end[3] += Vector3::new(1e4, 0.95, 0.0);
        let time = time_of_impact(PairKind::EdgeEdge, &start, &end, 0.0);
        let time = time.expect("given up before the end");
        assert!(time > 0.0 && time < 1.0);
        let stop = positions_at(&start, &end, time);
        assert!(certainly_apart(PairKind::EdgeEdge, &start, &stop));
    }
}
