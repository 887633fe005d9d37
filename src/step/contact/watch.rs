//! Pairs for several steps: as long as vertices move about as they did when the pairs were found, no other can come near.
//!
//! ```text
//! find      pairs that come within r + 2 s of each other on the expected ways  x + t u,  t ≤ T
//! keep      while every vertex is within s of its expected way: they hold all pairs within r
//! ```
//! Explicit integrators take many short steps, so finding pairs would cost more than everything else.

use nalgebra::Vector3;

use super::bodies::{Bodies, Body};
use super::candidates::Candidates;
use crate::Real;

/// How many times in a tick pairs are looked for at least, or in every step if these are longer.
const LOOKS_PER_TICK: f64 = 4.0;

/// s: how far a vertex may be from its expected way, in thicknesses of its body.
const SLACK: Real = 1.0;

/// Where the vertices were expected to go when the pairs were found.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Whether pairs are kept for several steps.
    is_on: bool,
    is_valid: bool,
    origin: Vec<Vector3<Real>>,
    /// u, m/s.
    rates: Vec<Vector3<Real>>,
    /// Where they were expected at the end, m: scratch.
    ends: Vec<Vector3<Real>>,
    /// Time at the start of the current step since the pairs were found, and length of the step, s.
    age: f64,
    dt: f64,
    /// T, s, and the shortest.
    span: f64,
    shortest_span: f64,
}

/// Half the distance within which pairs are found.
fn margin(body: &Body) -> Real {
    (0.5 + SLACK) * body.thickness
}

impl Watch {
    /// Finds pairs anew at the next opportunity, and in every step until [`Watch::start_step`].
    pub fn forget(&mut self) {
        self.is_on = false;
        self.is_valid = false;
    }

    /// Goes on to a step of that length, s, in a tick of that length.
    pub fn start_step(&mut self, dt: f64, tick_dt: f64) {
        self.age += self.dt;
        self.is_on = true;
        self.dt = dt;
        self.shortest_span = tick_dt / LOOKS_PER_TICK;
    }

    fn covers(&self, bodies: &Bodies) -> bool {
        let end = self.age + self.dt;
        let is_early = end <= self.span * (1.0 + 1e-9);
        if !(self.is_valid && is_early && self.origin.len() == bodies.target.len()) {
            return false;
        }
        let end = end as Real;
        bodies
            .list
            .iter()
            .filter(|body| body.touches())
            .all(|body| {
                let slack = SLACK * body.thickness;
                body.range().all(|vertex| {
                    let expected = self.origin[vertex] + self.rates[vertex] * end;
                    (bodies.target[vertex] - expected).amax() <= slack
                })
            })
    }

    /// Expects that all vertices go on as they do in this step.
    fn expect(&mut self, bodies: &Bodies) {
        self.is_valid = true;
        self.age = 0.0;
        self.span = self.shortest_span.max(self.dt);
        let (rate, ratio) = ((1.0 / self.dt) as Real, (self.span / self.dt) as Real);
        self.origin.clone_from(&bodies.start);
        self.rates.clear();
        self.ends.clear();
        for (start, target) in bodies.start.iter().zip(&bodies.target) {
            let step = target - start;
            self.rates.push(step * rate);
            self.ends.push(start + step * ratio);
        }
    }
}

impl Candidates {
    /// Brings the pairs up to date with the targets: at least those that come within the sum of the margins, m, or, while
    /// pairs are kept for several steps, within the contact distance.
    pub fn update(&mut self, bodies: &mut Bodies, near: impl Fn(&Body) -> Real) {
        if !self.watch.is_on {
            self.find(bodies, near, false);
        } else if !self.watch.covers(bodies) {
            self.look_ahead(bodies, false);
        }
    }

    /// Finds the pairs of this step and of those that follow.
    pub fn look_ahead(&mut self, bodies: &mut Bodies, with_overlaps: bool) {
        self.watch.expect(bodies);
        std::mem::swap(&mut bodies.target, &mut self.watch.ends);
        self.find(bodies, margin, with_overlaps);
        std::mem::swap(&mut bodies.target, &mut self.watch.ends);
    }
}
