//! The filter against tunnelling: it comes last, and lets no surface through another.
//!
//! ```text
//! certificate   every pair that may come near has a plane that moves with it and keeps it apart, else it fails
//! impacts       failed pairs: the vertices in the way move back along the normal of the start; momentum is kept
//! zones         what still fails moves as one: the mean of its moves, no turn; zones grow until nothing fails
//! freeze        whatever is not settled then stays where it was at the start
//! ```
//! Each round ends in a new certificate of all pairs, on the numbers that are stored. So the promise does not depend on how
//! the corrections are chosen, only on the last certificate, and staying at the start always has one.
//!
//! Vertices that touch rigid colliders do not give way as long as others can: what stays short on the way to a place that the
//! colliders allow is itself allowed, what is pushed aside may not be.

use nalgebra::Vector3;

use super::bodies::{Bodies, Body};
use super::candidates::{Candidates, Pair, places};
use super::intersections::Exempt;
use super::narrow::{Look, look};
use crate::Real;
use crate::kernel::proximity::straight_paths::{keep_apart, separated_ends, separating_direction};

/// Rounds of impacts, and sweeps over the failed pairs in each.
const ROUNDS: u32 = 6;
const SWEEPS: u32 = 4;

/// Rounds of zones.
const ZONE_ROUNDS: u32 = 24;

/// Share of the gap at the start that is left after an impact.
const SHARE_OF_GAP: f64 = 0.1;

/// Gap that an impact leaves at least, relative to the largest coordinate: what rounding cannot close.
const SMALLEST_GAP: f64 = 32.0 * Real::EPSILON as f64;

/// What the filter keeps from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Filter {
    failed: Vec<Pair>,
    /// The zone of each vertex, as a forest; itself where there is none.
    zones: Vec<u32>,
    /// Sum of masses and of masses times moves of each zone, and whether it gives way.
    sums: Vec<Zone>,
    /// What the vertices were about to do.
    pub wanted: Vec<Vector3<Real>>,
    /// Whether a vertex is in a zone.
    pub is_frozen: Vec<bool>,
    /// Whether a body had to be kept apart from another one.
    pub is_joined: Vec<bool>,
    /// Smallest gap of each body.
    gaps: Vec<f64>,
    looks: Vec<Look>,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    mass: f64,
    moment: Vector3<f64>,
    gives_way: bool,
}

/// Distance at which pairs are looked at though nothing lets them meet, in thicknesses: for the certificate.
fn margin(body: &Body) -> Real {
    0.5 * body.thickness
}

impl Filter {
    /// Changes the targets of the vertices so that nothing passes through anything; whether it changed any.
    pub fn apply(
        &mut self,
        bodies: &mut Bodies,
        candidates: &mut Candidates,
        exempt: &Exempt,
    ) -> bool {
        candidates.update(bodies, margin);
        let has_changed = self.certify(bodies, candidates, exempt, true) && {
            self.correct(bodies, candidates, exempt);
            true
        };
        for (body, &gap) in bodies.list.iter_mut().zip(&self.gaps) {
            body.report.smallest_gap = body.report.smallest_gap.min(gap);
        }
        has_changed
    }

    fn correct(&mut self, bodies: &mut Bodies, candidates: &mut Candidates, exempt: &Exempt) {
        self.wanted.clone_from(&bodies.target);
        self.is_frozen.clear();
        self.is_frozen.resize(bodies.target.len(), false);
        for _ in 0..ROUNDS {
            for _ in 0..SWEEPS {
                for pair in &self.failed {
                    resolve(bodies, pair);
                }
            }
            candidates.update(bodies, margin);
            if !self.certify(bodies, candidates, exempt, false) {
                return;
            }
        }
        self.zones.clear();
        self.zones.extend(0..bodies.target.len() as u32);
        for _ in 0..ZONE_ROUNDS {
            self.unite();
            self.move_zones(bodies);
            candidates.update(bodies, margin);
            if !self.certify(bodies, candidates, exempt, false) {
                return;
            }
        }
        bodies.target.copy_from_slice(&bodies.start);
        self.is_frozen.fill(true);
        self.gaps.fill(0.0);
    }

    /// Looks for pairs without a proof; whether there are any.
    fn certify(
        &mut self,
        bodies: &mut Bodies,
        candidates: &Candidates,
        exempt: &Exempt,
        is_first: bool,
    ) -> bool {
        self.failed.clear();
        self.gaps.clear();
        self.gaps.resize(bodies.list.len(), f64::INFINITY);
        if is_first {
            self.is_joined.clear();
            self.is_joined.resize(bodies.list.len(), false);
        }
        look(bodies, &candidates.pairs, true, &mut self.looks);
        for (pair, look) in candidates.pairs.iter().zip(&self.looks) {
            let owners = bodies.owners(pair);
            let distance = f64::from(look.distance);
            let radius = f64::from(bodies.radius(pair));
            for (place, owner) in owners.into_iter().enumerate() {
                if place == 1 && owners[0] == owners[1] {
                    break;
                }
                self.gaps[owner] = self.gaps[owner].min(distance);
                let report = &mut bodies.list[owner].report;
                report.pairs += u32::from(is_first);
                if is_first && distance < radius {
                    report.contacts += 1;
                }
            }
            if lacks_proof(bodies, pair, look, exempt) {
                self.failed.push(*pair);
                if owners[0] != owners[1] {
                    self.is_joined[owners[0]] = true;
                    self.is_joined[owners[1]] = true;
                }
            }
        }
        !self.failed.is_empty()
    }

    fn root(&self, mut vertex: u32) -> u32 {
        while self.zones[vertex as usize] != vertex {
            vertex = self.zones[vertex as usize];
        }
        vertex
    }

    /// Makes one zone of the vertices of each failed pair and the zones that they are in.
    fn unite(&mut self) {
        for place in 0..self.failed.len() {
            let vertices = self.failed[place].vertices;
            let roots = vertices.map(|vertex| self.root(vertex));
            let lowest = roots.iter().copied().fold(u32::MAX, u32::min);
            for root in roots {
                self.zones[root as usize] = lowest;
            }
            for vertex in vertices {
                self.is_frozen[vertex as usize] = true;
            }
        }
    }

    fn move_zones(&mut self, bodies: &mut Bodies) {
        let nothing = Zone {
            mass: 0.0,
            moment: Vector3::zeros(),
            gives_way: true,
        };
        self.sums.clear();
        self.sums.resize(bodies.target.len(), nothing);
        for vertex in 0..bodies.target.len() {
            if !self.is_frozen[vertex] {
                continue;
            }
            let mass = f64::from(bodies.masses[vertex]);
            let step = bodies.target[vertex].cast::<f64>() - bodies.start[vertex].cast::<f64>();
            let root = self.root(vertex as u32) as usize;
            let zone = &mut self.sums[root];
            if mass.is_finite() {
                zone.mass += mass;
                zone.moment += step * mass;
            } else {
                zone.gives_way = false;
            }
        }
        for vertex in 0..bodies.target.len() {
            if !self.is_frozen[vertex] {
                continue;
            }
            let zone = &self.sums[self.root(vertex as u32) as usize];
            bodies.target[vertex] = if zone.gives_way && zone.mass > 0.0 {
                let end = bodies.start[vertex].cast::<f64>() + zone.moment / zone.mass;
                end.map(|coordinate| coordinate as Real)
            } else {
                bodies.start[vertex]
            };
        }
    }
}

/// Whether a pair that must keep apart is not proven to do so, after a first look at it.
pub(super) fn lacks_proof(bodies: &Bodies, pair: &Pair, look: &Look, exempt: &Exempt) -> bool {
    let keeps_apart = || {
        let (start, end) = (places(&bodies.start, pair), places(&bodies.target, pair));
        keep_apart(pair.kind, &start, &end)
    };
    !look.is_apart && !keeps_apart() && !exempt.contains(bodies, pair)
}

/// Takes the vertices of a pair apart, if they still need it.
fn resolve(bodies: &mut Bodies, pair: &Pair) {
    let (start, end) = (places(&bodies.start, pair), places(&bodies.target, pair));
    if keep_apart(pair.kind, &start, &end) {
        return;
    }
    let Some((normal, gap)) = separating_direction(pair.kind, &start) else {
        return;
    };
    let smallest = SMALLEST_GAP * f64::from(bodies.largest);
    let wanted = (SHARE_OF_GAP * gap).max(smallest).min(gap);
    let masses = pair
        .vertices
        .map(|vertex| f64::from(bodies.masses[vertex as usize]));
    let Some(ends) = separated_ends(pair.kind, &normal, wanted, &masses, &end) else {
        return;
    };
    for i in 0..4 {
        if ends[i] != end[i] {
            let vertex = pair.vertices[i] as usize;
            bodies.target[vertex] = ends[i].map(|coordinate| coordinate as Real);
        }
    }
}
