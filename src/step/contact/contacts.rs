//! Pairs that may push each other in a step, and the potential of their repulsion and friction.
//!
//! ```text
//! E(d) + D(u)      two-stage penalty of the distance, lagged friction of the slip since the start
//! E = ½ k (r − g)²  with the plane of the start, where an iterate has passed through: it must be pushed back out
//! ```

use nalgebra::{Matrix3, Vector3};

use super::bodies::{Bodies, Body};
use super::candidates::{Pair, places};
use super::narrow::Look;
use crate::colliders::CombineRule;
use crate::kernel::proximity::PairKind;
use crate::kernel::proximity::friction::LaggedFriction;
use crate::kernel::proximity::penalty::Penalty;
use crate::kernel::proximity::straight_paths::{keep_apart, separating_direction};
use crate::{Real, kernel};

/// Slip below this speed, m/s, is creep: friction grows with it there.
const CREEP: f64 = 1e-2;

/// Contact stiffness over what stops a vertex within a step, and over what carries its weight at a loss of the whole radius.
const STIFFNESS: f64 = 10.0;

/// Acceleration that repulsion is made for, m/s²: that of gravity.
const LOAD: f64 = 9.81;

/// Times during the step at which a pair that starts and ends far apart is looked at.
const SAMPLES: [f64; 3] = [0.25, 0.5, 0.75];

/// Pairs farther than this all the time, in radii, are dismissed at the first look.
const FAR: Real = 1.01;

/// Pairs nearer than this at rest, in radii, never push.
const NEAR_AT_REST: f64 = 1.5;

/// A pair that may push.
#[derive(Clone, Copy, Debug)]
pub(in crate::step) struct Contact {
    pub kind: PairKind,
    /// Body of each vertex: among all, then within its island; and particle.
    pub bodies: [u32; 4],
    pub particles: [u32; 4],
    start: [Vector3<f64>; 4],
    penalty: Penalty<f64>,
    /// Direction and weights at the start.
    normal: Vector3<f64>,
    weights: [f64; 4],
    friction: Option<LaggedFriction<f64>>,
}

/// What a contact does at some positions of its vertices.
#[derive(Clone, Copy, Debug)]
pub(in crate::step) struct Push {
    /// Normal part: weights, force on the first feature, N, and stiffness, N/m.
    pub weights: [f64; 4],
    pub force: Vector3<f64>,
    pub stiffness: Matrix3<f64>,
    /// Energy of repulsion, J.
    pub energy: f64,
}

/// What friction does.
#[derive(Clone, Copy, Debug)]
pub(in crate::step) struct Rub {
    pub weights: [f64; 4],
    pub force: Vector3<f64>,
    pub stiffness: Matrix3<f64>,
    /// Dissipative potential, J.
    pub potential: f64,
    /// Energy taken since the start of the step, J.
    pub work: f64,
}

impl Contact {
    /// The contact of a pair, if it comes near enough to push on the way to the targets and is not so already at rest.
    pub(super) fn of(bodies: &Bodies, pair: &Pair, look: &Look, dt: f64) -> Option<Self> {
        let reach = bodies.radius(pair);
        if look.distance - look.way > reach * FAR {
            return None;
        }
        let (start, end) = (places(&bodies.start, pair), places(&bodies.target, pair));
        let owners = pair.vertices.map(|vertex| bodies.owner[vertex as usize]);
        let [first, second] = [owners[0], owners[3]].map(|owner| &bodies.list[owner as usize]);
        let radius = f64::from(reach);
        let closest = pair.kind.closest_points(&start);
        let distance = closest.distance();
        let steps: [Vector3<f64>; 4] = std::array::from_fn(|i| end[i] - start[i]);
        if distance > radius && !approaches(pair.kind, &start, &steps, distance, radius) {
            return None;
        }
        if first.entity == second.entity && rests_near(first, pair, radius) {
            return None;
        }
        let masses = pair
            .vertices
            .map(|vertex| f64::from(bodies.masses[vertex as usize]));
        let mobility: f64 = closest
            .weights
            .iter()
            .zip(&masses)
            .map(|(weight, mass)| weight * weight / mass)
            .sum();
        if mobility <= 0.0 || mobility.is_nan() {
            return None;
        }
        let penalty = Penalty {
            stiffness: STIFFNESS * (1.0 / (dt * dt) + LOAD / radius) / mobility,
            radius,
        };
        let (normal, _) = separating_direction(pair.kind, &start)?;
        let force = penalty.force(distance);
        let coefficient = friction(first, second);
        let friction = (force > 0.0 && coefficient > 0.0)
            .then(|| LaggedFriction::new(&closest, coefficient, force, CREEP * dt));
        let particles =
            std::array::from_fn(|i| pair.vertices[i] - bodies.list[owners[i] as usize].first);
        Some(Self {
            kind: pair.kind,
            bodies: owners,
            particles,
            start,
            penalty,
            normal,
            weights: closest.weights,
            friction,
        })
    }

    /// Repulsion at the given positions, if there is any.
    pub fn push(&self, now: &[Vector3<f64>; 4]) -> Option<Push> {
        let closest = self.kind.closest_points(now);
        let distance = closest.distance();
        // Nearer than they have moved against each other, or proven otherwise.
        if distance > way(self.kind, &self.start, now) || keep_apart(self.kind, &self.start, now) {
            if distance >= self.penalty.radius {
                return None;
            }
            return Some(Push {
                weights: closest.weights,
                force: closest.direction() * self.penalty.force(distance),
                stiffness: self.penalty.stiffness_block(&closest),
                energy: self.penalty.energy(distance),
            });
        }
        let pairs = self.weights.iter().zip(now);
        let gap = pairs.fold(0.0, |sum, (weight, place)| {
            sum + weight * self.normal.dot(place)
        });
        let overlap = self.penalty.radius - gap;
        if overlap <= 0.0 {
            return None;
        }
        let stiffness = self.penalty.stiffness;
        Some(Push {
            weights: self.weights,
            force: self.normal * (stiffness * overlap),
            stiffness: self.normal * self.normal.transpose() * stiffness,
            energy: 0.5 * stiffness * overlap * overlap,
        })
    }

    /// Friction at the given positions, if there is any.
    pub fn rub(&self, now: &[Vector3<f64>; 4]) -> Option<Rub> {
        let friction = self.friction.as_ref()?;
        let steps: [Vector3<f64>; 4] = std::array::from_fn(|i| now[i] - self.start[i]);
        let slip = friction.slip(&steps);
        let force = friction.force(&slip);
        Some(Rub {
            weights: friction.weights,
            force,
            stiffness: friction.stiffness_block(&slip),
            potential: friction.potential(&slip),
            work: -force.dot(&slip),
        })
    }
}

/// How far two features may approach each other at most, m, on the ways of their vertices: what these move, without what
/// they have in common.
fn way(kind: PairKind, start: &[Vector3<f64>; 4], end: &[Vector3<f64>; 4]) -> f64 {
    let steps: [Vector3<f64>; 4] = std::array::from_fn(|i| end[i] - start[i]);
    let mean = steps.iter().sum::<Vector3<f64>>() * 0.25;
    let longest = |steps: &[Vector3<f64>]| {
        let squares = steps.iter().map(|step| (step - mean).norm_squared());
        squares.fold(0.0, f64::max).sqrt()
    };
    let count = kind.first_count();
    longest(&steps[..count]) + longest(&steps[count..])
}

/// Whether a pair comes within a distance on its way.
fn approaches(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    steps: &[Vector3<f64>; 4],
    distance: f64,
    radius: f64,
) -> bool {
    let at = |time: f64| std::array::from_fn(|i| start[i] + steps[i] * time);
    if distance - way(kind, start, &at(1.0)) >= radius {
        return false;
    }
    let is_near = |time: f64| kind.closest_points(&at(time)).distance() < radius;
    is_near(1.0) || SAMPLES.into_iter().any(is_near) || !keep_apart(kind, start, &at(1.0))
}

/// Whether the features of a body are within reach of each other at rest.
pub(super) fn rests_near(body: &Body, pair: &Pair, radius: f64) -> bool {
    let rest = |vertex: u32| {
        let particle = (vertex - body.first) as usize;
        body.rest.get(particle).map(|place| place.cast::<f64>())
    };
    let [Some(a), Some(b), Some(c), Some(d)] = pair.vertices.map(rest) else {
        return false;
    };
    pair.kind.closest_points(&[a, b, c, d]).distance() < NEAR_AT_REST * radius
}

/// Coefficient of friction of two bodies: the mean.
pub(super) fn friction(first: &Body, second: &Body) -> f64 {
    f64::from(CombineRule::Average.combine(first.friction, second.friction))
}

/// A matrix in the precision of the solver.
pub(in crate::step) fn narrowed(matrix: &Matrix3<f64>) -> Matrix3<Real> {
    matrix.map(kernel::real::<Real>)
}
