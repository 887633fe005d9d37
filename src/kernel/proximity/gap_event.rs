//! When a gap closes between two states of an integrator that takes long steps: the event finder of the first seed.
//!
//! The states at the ends of a step give each gap with its rate, hence a cubic between them; its first root is the
//! event. Unlike [`super::time_of_impact`], which follows straight lines and misses nothing, it follows curved motion
//! and is an estimate, which the integrator repeats with a shorter step.

use nalgebra::Vector3;

use super::PairKind;

/// Most halvings of the step in the search for a root.
const DEPTH: u32 = 50;

/// Least tolerance of curvature, relative to the coefficients.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A cubic over [0, 1] in the form of Bernstein and Bézier.
///
/// ```text
/// P(u) = P₁ (1−u)³ + 3 P₂ u (1−u)² + 3 P₃ u² (1−u) + P₄ u³
/// ```
/// Its values are averages of its coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BernsteinCubic(pub [f64; 4]);

impl BernsteinCubic {
    /// The cubic that has given values and rates at the ends of a step.
    ///
    /// ```text
    /// P₁ = g(tₐ),   P₂ = P₁ + ⅓ τ ġ(tₐ),   P₃ = P₄ − ⅓ τ ġ(t_b),   P₄ = g(t_b)
    /// ```
    /// `values` g at both ends and their `rates` ġ per second; `step` τ = t_b − tₐ in s.
    ///
    /// Eq: `[000 §7.1.5]` (Hermite interpolation).
    #[must_use]
    pub fn from_hermite(values: [f64; 2], rates: [f64; 2], step: f64) -> Self {
        let third = step / 3.0;
        Self([
            values[0],
            values[0] + third * rates[0],
            values[1] - third * rates[1],
            values[1],
        ])
    }

    /// The value at a share u of the interval.
    ///
    /// Eq: `[000 §7.1.5]`, by repeated averages.
    #[must_use]
    pub fn value(&self, share: f64) -> f64 {
        let mut coefficients = self.0;
        for degree in (1..4).rev() {
            for i in 0..degree {
                coefficients[i] += (coefficients[i + 1] - coefficients[i]) * share;
            }
        }
        coefficients[0]
    }

    /// The same cubic over the left and the right half of its interval.
    ///
    /// ```text
    /// L = (P₁, ½(P₁+P₂), ½(L₂+M), ½(L₃+R₂)),   R = (L₄, ½(R₃+M), ½(P₃+P₄), P₄),   M = ½(P₂+P₃)
    /// ```
    /// Eq: `[000 §7.1.5]`.
    #[must_use]
    pub fn halves(&self) -> (Self, Self) {
        let [p1, p2, p3, p4] = self.0;
        let middle = 0.5 * (p2 + p3);
        let (left2, right3) = (0.5 * (p1 + p2), 0.5 * (p3 + p4));
        let (left3, right2) = (0.5 * (left2 + middle), 0.5 * (right3 + middle));
        let center = 0.5 * (left3 + right2);
        (
            Self([p1, left2, left3, center]),
            Self([center, right2, right3, p4]),
        )
    }

    /// The first share u in (0, 1] at which the cubic reaches or crosses zero and which `accepts`; none if there is no
    /// such.
    ///
    /// ```text
    /// no root   if P₁, P₂, P₃, P₄ have one sign
    /// linear    if |P₁ + P₃ − 2 P₂| < ε and |P₂ + P₄ − 2 P₃| < ε:   u = −P₁/(P₄ − P₁) where the signs differ
    /// otherwise the left half, then the right half
    /// ```
    /// `tolerance` ε in the unit of the values; what comes nearer than about ε to zero without crossing may be overlooked.
    /// A cubic that starts at zero has no root there: the gap was treated when it closed.
    ///
    /// Eq: `[000 §7.1.5]`.
    pub fn first_root(&self, tolerance: f64, mut accepts: impl FnMut(f64) -> bool) -> Option<f64> {
        // Curvature below rounding would be halved to no end.
        let size = self.0.iter().fold(0.0, |size: f64, p| size.max(p.abs()));
        let tolerance = tolerance.max(ROUNDING * size);
        self.search((0.0, 1.0), tolerance, DEPTH, &mut accepts)
    }

    fn search(
        &self,
        (from, to): (f64, f64),
        tolerance: f64,
        depth: u32,
        accepts: &mut impl FnMut(f64) -> bool,
    ) -> Option<f64> {
        let [p1, p2, p3, p4] = self.0;
        if self.0.iter().all(|&p| p > 0.0) || self.0.iter().all(|&p| p < 0.0) {
            return None;
        }
        // Written so that numbers that are none end the search.
        let bent = (p1 + p3 - 2.0 * p2).abs() > tolerance || (p2 + p4 - 2.0 * p3).abs() > tolerance;
        if !bent || depth == 0 {
            let share = linear_root(p1, p4)?;
            let root = from + (to - from) * share;
            return accepts(root).then_some(root);
        }
        let middle = 0.5 * (from + to);
        let (left, right) = self.halves();
        left.search((from, middle), tolerance, depth - 1, accepts)
            .or_else(|| right.search((middle, to), tolerance, depth - 1, accepts))
    }
}

/// The share u in (0, 1] of a step at which a gap closes whose rate is not known: one that depends on velocities.
///
/// ```text
/// u = −g(tₐ)/(g(t_b) − g(tₐ))   where the signs differ
/// ```
/// None if the gap is zero in the beginning, keeps its sign, or is not a number.
///
/// Eq: `[000 eq. 7.2]`.
#[must_use]
pub fn linear_root(before: f64, after: f64) -> Option<f64> {
    let closes = (before > 0.0 && after <= 0.0) || (before < 0.0 && after >= 0.0);
    closes.then(|| before / (before - after))
}

/// The gap of a pair, m³, which vanishes where its vertices are coplanar, and its rate, m³/s.
///
/// ```text
/// vertex–face   g = n · (x₀ − x₁),   n = (x₂ − x₁) × (x₃ − x₁)
/// edge–edge     g = (x₁ − x₀) · ((x₂ − x₀) × (x₃ − x₀))
/// ```
/// Positive for a vertex on the outer side of a face whose corners run counterclockwise as seen from outside.
///
/// Eq: `[000 §7.2]` (G₁ and its derivative).
#[must_use]
pub fn gap_and_rate(
    kind: PairKind,
    positions: &[Vector3<f64>; 4],
    velocities: &[Vector3<f64>; 4],
) -> (f64, f64) {
    let (origin, others) = match kind {
        PairKind::VertexFace => (1, [0, 2, 3]),
        PairKind::EdgeEdge => (0, [1, 2, 3]),
    };
    let [a, b, c] = others.map(|i| positions[i] - positions[origin]);
    let [u, v, w] = others.map(|i| velocities[i] - velocities[origin]);
    let (bc, ca, ab) = (b.cross(&c), c.cross(&a), a.cross(&b));
    (a.dot(&bc), u.dot(&bc) + v.dot(&ca) + w.dot(&ab))
}

/// Whether a pair whose vertices are coplanar meets in inner points of both features.
///
/// ```text
/// vertex–face   x₀ inside the prism over the face:     (n × (x₃ − x₂)) · (x₀ − x₂) > 0   for each edge
/// edge–edge     the ends of either edge on different sides of the plane through the other along n = e × f
/// ```
/// The seed takes planes through the edges and the middles of the opposite edges of their tetrahedra; at the instant of
/// coplanarity any plane through the edge that does not hold the other edge gives the same answer, and n needs no
/// tetrahedra.
///
/// Eq: `[000 §7.2.1, §7.2.2]` (G₂ … G₅).
#[must_use]
pub fn meets_inside(kind: PairKind, positions: &[Vector3<f64>; 4]) -> bool {
    let [x0, x1, x2, x3] = positions;
    match kind {
        PairKind::VertexFace => {
            let normal = (x2 - x1).cross(&(x3 - x1));
            [(x1, x2), (x2, x3), (x3, x1)]
                .into_iter()
                .all(|(from, to)| normal.cross(&(to - from)).dot(&(x0 - from)) > 0.0)
        }
        PairKind::EdgeEdge => {
            let normal = (x1 - x0).cross(&(x3 - x2));
            let parted = |from: &Vector3<f64>, to, first: &Vector3<f64>, second: &Vector3<f64>| {
                let side: Vector3<f64> = normal.cross(&(to - from));
                side.dot(&(first - from)) * side.dot(&(second - from)) < 0.0
            };
            parted(x0, x1, x2, x3) && parted(x2, x3, x0, x1)
        }
    }
}

/// The states of a pair's vertices at the two ends of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairStep {
    /// Positions in the beginning and in the end, m.
    pub positions: [[Vector3<f64>; 4]; 2],
    /// Velocities in the beginning and in the end, m/s.
    pub velocities: [[Vector3<f64>; 4]; 2],
    /// Length of the step, s.
    pub step: f64,
}

impl PairStep {
    /// Positions at a share of the step, m, by cubics that fit both states.
    ///
    /// Eq: `[000 §7.1.5]` (Hermite interpolation).
    #[must_use]
    pub fn positions_at(&self, share: f64) -> [Vector3<f64>; 4] {
        std::array::from_fn(|vertex| {
            Vector3::from_fn(|axis, _| {
                let values = [0, 1].map(|end: usize| self.positions[end][vertex][axis]);
                let rates = [0, 1].map(|end: usize| self.velocities[end][vertex][axis]);
                BernsteinCubic::from_hermite(values, rates, self.step).value(share)
            })
        })
    }

    /// The first share of the step at which the features meet in inner points; none if they do not.
    ///
    /// `tolerance` without unit: the curvature of the gap, relative to its size over the step, below which it counts as
    /// straight. An estimate: the gap and the positions are cubics between the two states.
    ///
    /// Eq: `[000 §7.1.5, §7.2]`.
    #[must_use]
    pub fn first_event(&self, kind: PairKind, tolerance: f64) -> Option<f64> {
        let [before, after] = [0, 1]
            .map(|end: usize| gap_and_rate(kind, &self.positions[end], &self.velocities[end]));
        let gap = BernsteinCubic::from_hermite([before.0, after.0], [before.1, after.1], self.step);
        let size = gap.0.iter().fold(0.0, |size: f64, p| size.max(p.abs()));
        gap.first_root(tolerance * size, |share| {
            meets_inside(kind, &self.positions_at(share))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::drawn_vertices;
    use super::super::coplanarity::roots_in_unit_interval;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const KINDS: [PairKind; 2] = [PairKind::VertexFace, PairKind::EdgeEdge];

    #[test]
    fn cubic_fits_the_ends_and_its_halves_are_itself() {
        let mut random = Random::new(571);
        for _ in 0..200 {
            let values = [random.uniform(), random.uniform()];
            let rates = [random.uniform() * 5.0, random.uniform() * 5.0];
            let step = random.between(0.1, 2.0);
            let cubic = BernsteinCubic::from_hermite(values, rates, step);
            let slope = |u: f64| (cubic.value(u + 1e-6) - cubic.value(u - 1e-6)) / (2e-6 * step);
            for end in 0..2 {
                let share = end as f64;
                assert_relative_eq!(cubic.value(share), values[end], epsilon = 1e-15);
                assert_relative_eq!(slope(share), rates[end], epsilon = 1e-8);
            }
            let (left, right) = cubic.halves();
            let share = random.between(0.0, 1.0);
            assert_relative_eq!(left.value(share), cubic.value(0.5 * share), epsilon = 1e-14);
            assert_relative_eq!(
                right.value(share),
                cubic.value(0.5 + 0.5 * share),
                epsilon = 1e-14
            );
        }
    }

    #[test]
    fn first_root_is_the_first_root() {
        let mut random = Random::new(572);
        let mut found = 0;
        for _ in 0..20_000 {
            let cubic = BernsteinCubic([0; 4].map(|_| random.uniform()));
            let [p1, p2, p3, p4] = cubic.0;
            let powers = [
                p1,
                3.0 * (p2 - p1),
                3.0 * (p1 - 2.0 * p2 + p3),
                p4 - p1 + 3.0 * (p2 - p3),
            ];
            let expected = roots_in_unit_interval(&powers, 0.0)
                .into_iter()
                .flatten()
                .next();
            let root = cubic.first_root(1e-9, |_| true);
            assert_eq!(root.is_some(), expected.is_some(), "{cubic:?}");
            if let (Some(root), Some(expected)) = (root, expected) {
                found += 1;
                assert!(cubic.value(root).abs() < 1e-8);
                assert!((root - expected).abs() < 1e-4);
            }
        }
        assert!(found > 10_000);
    }

    #[test]
    fn no_root_where_the_gap_opens_or_stays() {
        let root = |coefficients| BernsteinCubic(coefficients).first_root(1e-9, |_| true);
        assert_eq!(root([0.0, 1.0, 1.0, 1.0]), None);
        assert_eq!(root([1.0, 0.1, 0.1, 1.0]), None);
        assert_eq!(root([1.0, 1.0, 1.0, 0.0]), Some(1.0));
        assert_eq!(root([0.0; 4]), None);
        assert_eq!(root([f64::NAN, -1.0, 1.0, 1.0]), None);
        assert_eq!(linear_root(3.0, -1.0), Some(0.75));
        assert_eq!(linear_root(-3.0, 1.0), Some(0.75));
        assert_eq!(linear_root(1.0, 0.0), Some(1.0));
        assert_eq!(linear_root(0.0, -1.0), None);
        assert_eq!(linear_root(f64::NAN, -1.0), None);
    }

    #[test]
    fn rate_is_the_difference_quotient() {
        let mut random = Random::new(573);
        for kind in KINDS {
            for _ in 0..200 {
                let (positions, velocities) =
                    (drawn_vertices(&mut random), drawn_vertices(&mut random));
                let gap = |time: f64| {
                    let moved = std::array::from_fn(|i| positions[i] + velocities[i] * time);
                    gap_and_rate(kind, &moved, &velocities).0
                };
                let slope = (gap(1e-6) - gap(-1e-6)) / 2e-6;
                let rate = gap_and_rate(kind, &positions, &velocities).1;
                assert_relative_eq!(rate, slope, epsilon = 1e-8);
            }
        }
    }

    #[test]
    fn parabolic_fall_lands_at_the_exact_time() {
        // Cubics are exact for a vertex under gravity above a face at rest.
        let face = [Vector3::zeros(), Vector3::z() * 2.0, Vector3::x() * 2.0];
        let (height, gravity, step) = (0.3, 9.81, 0.4);
        let landing = (2.0f64 * height / gravity).sqrt();
        let state = |side: f64, time: f64| {
            let vertex = Vector3::new(side, height - 0.5 * gravity * time * time, 0.4);
            let velocity = Vector3::new(0.0, -gravity * time, 0.0);
            let zero = Vector3::zeros();
            (
                [vertex, face[0], face[1], face[2]],
                [velocity, zero, zero, zero],
            )
        };
        let event = |side: f64, end: f64| {
            let ((start, first), (stop, second)) = (state(side, 0.0), state(side, end));
            let pair = PairStep {
                positions: [start, stop],
                velocities: [first, second],
                step: end,
            };
            pair.first_event(PairKind::VertexFace, 1e-12)
        };
        let share = event(0.5, step).expect("it lands");
        assert_relative_eq!(share * step, landing, epsilon = 1e-6);
        assert_eq!(event(0.5, 0.9 * landing), None);
        assert_eq!(event(1.7, step), None);
    }

    #[test]
    fn edges_meet_inside_or_not() {
        let pair = |end: f64| {
            let at = |height: f64| {
                [
                    Vector3::new(-1.0, height, 0.0),
                    Vector3::new(1.0, height, 0.0),
                    Vector3::new(0.2, 0.0, -1.0),
                    Vector3::new(0.2, 0.0, end),
                ]
            };
            let fall = Vector3::new(0.0, -2.0, 0.0);
            let velocities = [fall, fall, Vector3::zeros(), Vector3::zeros()];
            PairStep {
                positions: [at(0.5), at(-1.5)],
                velocities: [velocities; 2],
                step: 1.0,
            }
        };
        let kind = PairKind::EdgeEdge;
        let share = pair(0.5).first_event(kind, 1e-9).expect("they meet");
        assert_relative_eq!(share, 0.25, epsilon = 1e-12);
        assert_eq!(pair(-0.5).first_event(kind, 1e-9), None);
    }
}
