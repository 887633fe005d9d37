//! When four vertices become coplanar: the cubic equation, as the named method of the cloth literature.
//!
//! The coefficients cancel where features are nearly coplanar all the time, so that this method can miss what
//! [`super::time_of_impact`] finds. It is here because methods of the literature are defined with it.

use nalgebra::Vector3;

use super::PairKind;
use super::time_of_impact::{positions_at, time_of_impact};

/// Bound of the rounding errors of the coefficients, relative to coordinates times the square of a length.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Coefficients of the volume that four moving vertices span, ascending powers of the share t of the step, m³.
///
/// ```text
/// V(t) = p₁(t) · (p₂(t) × p₃(t)),   pᵢ(t) = xᵢ(t) − x₀(t)
/// ```
/// Six times the volume of the tetrahedron; zero where the vertices are coplanar.
///
/// Eq: `[001 eq. 5.2]`, `[Provot 1997]`.
#[must_use]
pub fn coplanarity_coefficients(start: &[Vector3<f64>; 4], end: &[Vector3<f64>; 4]) -> [f64; 4] {
    let place: [Vector3<f64>; 3] = std::array::from_fn(|i| start[i + 1] - start[0]);
    let step: [Vector3<f64>; 3] =
        std::array::from_fn(|i| (end[i + 1] - start[i + 1]) - (end[0] - start[0]));
    let triple = |a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>| a.dot(&b.cross(c));
    let [a, b, c] = &place;
    let [u, v, w] = &step;
    [
        triple(a, b, c),
        triple(u, b, c) + triple(a, v, c) + triple(a, b, w),
        triple(u, v, c) + triple(u, b, w) + triple(a, v, w),
        triple(u, v, w),
    ]
}

/// Value of a cubic with coefficients of ascending powers.
#[inline]
fn value(coefficients: &[f64; 4], at: f64) -> f64 {
    let [c0, c1, c2, c3] = coefficients;
    c0 + at * (c1 + at * (c2 + at * c3))
}

/// Roots of a quadratic c₀ + c₁ t + c₂ t², ascending, without cancellation; not numbers where there are none.
fn quadratic_roots(c0: f64, c1: f64, c2: f64) -> [f64; 2] {
    let root = (c1 * c1 - 4.0 * c2 * c0).sqrt();
    let q = -0.5 * (c1 + root.copysign(c1));
    let (first, second) = (q / c2, c0 / q);
    if first <= second {
        [first, second]
    } else {
        [second, first]
    }
}

/// The root between two places where a monotone cubic has different signs.
fn bisect(coefficients: &[f64; 4], mut low: f64, mut high: f64) -> f64 {
    let rising = value(coefficients, low) < 0.0;
    // Halving ends when no number is left between the two.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return low;
        }
        if (value(coefficients, middle) < 0.0) == rising {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Places in [0, 1] where a cubic is zero or, at its extrema and ends, as good as zero; ascending.
///
/// ```text
/// c₀ + c₁ t + c₂ t² + c₃ t³ = 0;    |value| ≤ tolerance at extrema and ends
/// ```
/// Between ends and extrema the cubic is monotone, and a change of sign is halved down to the last digit. A double root
/// is an extremum. Entries that are not needed are none.
///
/// Eq: elementary.
#[must_use]
pub fn roots_in_unit_interval(coefficients: &[f64; 4], tolerance: f64) -> [Option<f64>; 7] {
    let [_, c1, c2, c3] = *coefficients;
    let extrema = quadratic_roots(c1, 2.0 * c2, 3.0 * c3);
    let inside = |extremum: f64| extremum > 0.0 && extremum < 1.0;
    // A share that is no extremum makes an empty interval at an end.
    let second = if inside(extrema[1]) { extrema[1] } else { 1.0 };
    let first = if inside(extrema[0]) {
        extrema[0]
    } else {
        second.min(1.0)
    };
    let breaks = [0.0, first.min(second), second, 1.0];
    let near = |at: f64| (value(coefficients, at).abs() <= tolerance).then_some(at);
    let between = |low: f64, high: f64| {
        let (a, b) = (value(coefficients, low), value(coefficients, high));
        ((a < 0.0) != (b < 0.0)).then(|| bisect(coefficients, low, high))
    };
    [
        near(breaks[0]),
        between(breaks[0], breaks[1]),
        near(breaks[1]),
        between(breaks[1], breaks[2]),
        near(breaks[2]),
        between(breaks[2], breaks[3]),
        near(breaks[3]),
    ]
}

/// The first time, as a share of the step, at which features that move along straight lines meet, by the coplanarity
/// of their vertices; none if they do not.
///
/// ```text
/// V(t) = 0 and d(t) ≤ δ,   smallest t in [0, 1]
/// ```
/// Ends of the step count as coplanar if V vanishes there to rounding. If it does so all the time, the cubic says
/// nothing, and the answer is [`time_of_impact`]'s with δ for the separation.
///
/// # Arguments
/// * `start`, `end` – positions at the ends of the step, m
/// * `tolerance` – δ, m: how near the features must be at a root, 1e-6 in the source
///
/// Eq: `[Provot 1997]`, `[Bridson 2002]`, `[001 §5.1]`; the case of zero coefficients is not treated there.
#[must_use]
pub fn time_of_coplanar_contact(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    tolerance: f64,
) -> Option<f64> {
    let coefficients = coplanarity_coefficients(start, end);
    let coordinate = start
        .iter()
        .chain(end)
        .map(Vector3::amax)
        .fold(0.0, f64::max);
    let lengths = [start, end].into_iter().flat_map(|vertices| {
        vertices[1..]
            .iter()
            .map(|vertex| (vertex - vertices[0]).norm())
    });
    let length = lengths.fold(0.0, f64::max);
    let zero = ROUNDING * coordinate * length * length;
    // Written so that numbers that are none count as zero.
    let says_something = coefficients
        .iter()
        .any(|coefficient| coefficient.abs() > zero);
    if !says_something {
        return time_of_impact(kind, start, end, tolerance);
    }
    let meets = |time: &f64| {
        let vertices = positions_at(start, end, *time);
        kind.closest_points(&vertices).distance() <= tolerance
    };
    let roots = roots_in_unit_interval(&coefficients, zero);
    roots.into_iter().flatten().find(meets)
}

#[cfg(test)]
mod tests {
    use super::super::checks::drawn_vertices;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const KINDS: [PairKind; 2] = [PairKind::VertexFace, PairKind::EdgeEdge];

    #[test]
    fn coefficients_give_the_volume_at_all_times() {
        let mut random = Random::new(561);
        for _ in 0..1000 {
            let (start, end) = (drawn_vertices(&mut random), drawn_vertices(&mut random));
            let coefficients = coplanarity_coefficients(&start, &end);
            let time = random.between(0.0, 1.0);
            let [x0, x1, x2, x3] = positions_at(&start, &end, time);
            let volume = (x1 - x0).dot(&(x2 - x0).cross(&(x3 - x0)));
            assert_relative_eq!(value(&coefficients, time), volume, epsilon = 1e-13);
        }
    }

    #[test]
    fn roots_of_products_are_found() {
        let mut random = Random::new(562);
        for case in 0..20_000 {
            let mut roots = [0; 3].map(|_| random.between(-1.0, 2.0));
            if case % 4 == 0 {
                roots[1] = roots[0];
            }
            roots.sort_by(f64::total_cmp);
            let scale = 10f64.powf(random.between(-3.0, 3.0));
            let [a, b, c] = roots;
            let coefficients =
                [-a * b * c, a * b + b * c + c * a, -(a + b + c), 1.0].map(|c| c * scale);
            let found = roots_in_unit_interval(&coefficients, 1e-13 * scale);
            let found: Vec<f64> = found.into_iter().flatten().collect();
            assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
            for root in roots
                .into_iter()
                .filter(|root| (1e-5..0.99999).contains(root))
            {
                let nearest = found
                    .iter()
                    .map(|found| (found - root).abs())
                    .fold(1.0, f64::min);
                // Roots close to each other are as good as the square root of rounding.
                assert!(nearest < 1e-6, "{root} of {roots:?} in {found:?}");
            }
            for found in found {
                assert!(value(&coefficients, found).abs() <= 2e-13 * scale);
            }
        }
    }

    #[test]
    fn lower_degrees_have_their_roots() {
        let only = |coefficients: [f64; 4]| {
            let roots = roots_in_unit_interval(&coefficients, 1e-15);
            let roots: Vec<f64> = roots.into_iter().flatten().collect();
            roots
        };
        assert_relative_eq!(only([-0.25, 1.0, 0.0, 0.0])[0], 0.25, epsilon = 1e-15);
        assert_relative_eq!(only([-0.25, 0.0, 1.0, 0.0])[0], 0.5, epsilon = 1e-15);
        assert_relative_eq!(only([0.25, -1.0, 1.0, 0.0])[0], 0.5, epsilon = 1e-15);
        assert!(only([1.0, 0.0, 0.0, 0.0]).is_empty());
        assert!(only([1.0, f64::NAN, 0.0, 0.0]).is_empty());
    }

    #[test]
    fn contacts_made_up_are_found() {
        let mut random = Random::new(563);
        for kind in KINDS {
            for _ in 0..5000 {
                let (mut start, mut end) =
                    (drawn_vertices(&mut random), drawn_vertices(&mut random));
                let shares = [0; 2].map(|_| random.between(0.05, 0.45));
                let time = random.between(0.05, 0.95);
                // The first feature is moved so that an inner point of it hits one of the other.
                let weights = match kind {
                    PairKind::VertexFace => {
                        [1.0, shares[0] + shares[1] - 1.0, -shares[0], -shares[1]]
                    }
                    PairKind::EdgeEdge => [1.0 - shares[0], shares[0], shares[1] - 1.0, -shares[1]],
                };
                let meeting = positions_at(&start, &end, time);
                let miss: Vector3<f64> = (0..4).map(|i| meeting[i] * weights[i]).sum();
                for vertex in 0..kind.first_count() {
                    start[vertex] -= miss;
                    end[vertex] -= miss;
                }
                let found = time_of_coplanar_contact(kind, &start, &end, 1e-6);
                let found = found.expect("the contact");
                assert!(found <= time + 1e-6, "{found} {time}");
                let stop = positions_at(&start, &end, found);
                assert!(kind.closest_points(&stop).distance() <= 1e-6);
            }
        }
    }

    #[test]
    fn motion_in_a_plane_falls_back() {
        let flat = |x: f64, y: f64| Vector3::new(x, y, 0.25);
        let start = [
            flat(-1.0, 0.3),
            flat(0.0, 0.0),
            flat(1.0, 0.0),
            flat(0.0, 1.0),
        ];
        let mut end = start;
        end[0] = flat(1.0, 0.3);
        let kind = PairKind::VertexFace;
        let time = time_of_coplanar_contact(kind, &start, &end, 1e-6).expect("a contact");
        assert!(time <= 0.5 && time > 0.4, "{time}");
        end[0] = flat(-1.0, 2.0);
        assert_eq!(time_of_coplanar_contact(kind, &start, &end, 1e-6), None);
        end[0].x = f64::NAN;
        assert_eq!(
            time_of_coplanar_contact(kind, &start, &end, 1e-6),
            Some(0.0)
        );
    }
}
