//! Impact zones: vertices whose contacts are answered together.
//!
//! ```text
//! inelastic   all contacts of a zone stop approaching at once, what slides keeps sliding        [Harmon 2008]
//! rigid       a zone keeps its momentum and angular momentum, and moves as a rigid body         [Bridson 2002]
//!             Provot's has another angular velocity, and vertices that move along straight ways [Provot 1997]
//! ```

use nalgebra::Vector3;

use super::bodies::Bodies;
use super::motion::Motion;
use crate::kernel::impact_zone::{
    DisjointSets, InelasticProjection, RigidStep, RigidVelocity, ZoneConstraint,
};

/// Contacts of a zone from which they are stopped one after another: a projection takes the third power of their number.
const MOST_ROWS: usize = 256;

/// Rounds over the contacts of such a zone.
const SWEEPS: u32 = 20;

/// How a zone moves as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RigidMotion {
    Conserving,
    Provot,
}

/// The zones of a step, with their memory.
#[derive(Debug, Default)]
pub(super) struct Zones {
    sets: DisjointSets,
    /// Contacts found so far, by vertices of all bodies.
    rows: Vec<ZoneConstraint<f64>>,
    /// The zone of each contact, and its place among them.
    order: Vec<[u32; 2]>,
    members: Vec<u32>,
    starts: Vec<u32>,
    projection: InelasticProjection,
    local: Local,
}

/// One zone by itself.
#[derive(Debug, Default)]
struct Local {
    /// Ascending.
    vertices: Vec<u32>,
    rows: Vec<ZoneConstraint<f64>>,
    positions: Vec<Vector3<f64>>,
    velocities: Vec<Vector3<f64>>,
    inverse_masses: Vec<f64>,
    masses: Vec<f64>,
}

impl Zones {
    /// Forgets all zones; `count` vertices.
    pub fn reset(&mut self, count: usize) {
        self.sets.reset(count as u32);
        self.rows.clear();
    }

    /// Adds a contact to be projected. Vertices that do not give way join no zones: they pass nothing on.
    pub fn add(&mut self, row: ZoneConstraint<f64>, motion: &Motion) {
        let mut free = row
            .vertices
            .into_iter()
            .filter(|&vertex| motion.inverse_masses[vertex as usize] > 0.0);
        if let Some(first) = free.next() {
            for vertex in free {
                self.sets.join(first, vertex);
            }
            self.rows.push(row);
        }
    }

    /// Joins the vertices of a pair, those that do not give way included.
    pub fn join(&mut self, vertices: &[u32; 4]) {
        self.sets.join_pair(vertices);
    }

    /// Stops all approach in each zone.
    pub fn project(&mut self, motion: &mut Motion, bodies: &mut Bodies) {
        self.order.clear();
        for (place, row) in (0..).zip(&self.rows) {
            let free = row
                .vertices
                .into_iter()
                .find(|&vertex| motion.inverse_masses[vertex as usize] > 0.0);
            if let Some(vertex) = free {
                self.order.push([self.sets.find(vertex), place]);
            }
        }
        self.order.sort_unstable();
        for zone in self.order.chunk_by(|a, b| a[0] == b[0]) {
            let rows = zone.iter().map(|&[_, place]| self.rows[place as usize]);
            self.local.take_rows(rows, motion);
            let Local {
                rows,
                inverse_masses,
                velocities,
                vertices,
                ..
            } = &mut self.local;
            if rows.len() > MOST_ROWS {
                stop_one_by_one(rows, inverse_masses, velocities);
            } else {
                self.projection.project(rows, inverse_masses, velocities);
            }
            bodies.count(vertices, |report| &mut report.zones);
            self.local.give_back(motion);
        }
    }

    /// Moves each zone as a whole.
    pub fn move_rigidly(&mut self, motion: &mut Motion, bodies: &mut Bodies, kind: RigidMotion) {
        self.sets.zones(&mut self.members, &mut self.starts);
        for range in self.starts.windows(2) {
            let members = &self.members[range[0] as usize..range[1] as usize];
            let is_held = |vertex: u32| motion.inverse_masses[vertex as usize] == 0.0;
            let local = &mut self.local;
            if members.iter().any(|&vertex| is_held(vertex)) {
                local.take_vertices(
                    members.iter().copied().filter(|&v| is_held(v)),
                    motion,
                    bodies,
                );
                let step = RigidStep::following(&local.positions, &local.velocities, motion.dt);
                local.take_vertices(members.iter().copied(), motion, bodies);
                local.move_by(|position| step.mean_velocity(position, motion.dt));
            } else {
                local.take_vertices(members.iter().copied(), motion, bodies);
                let Local {
                    masses,
                    positions,
                    velocities,
                    ..
                } = &*local;
                match kind {
                    RigidMotion::Conserving => {
                        let velocity = RigidVelocity::conserving(masses, positions, velocities);
                        let step = RigidStep::new(&velocity, motion.dt);
                        local.move_by(|position| step.mean_velocity(position, motion.dt));
                    }
                    RigidMotion::Provot => {
                        let velocity = RigidVelocity::provot(positions, velocities);
                        local.move_by(|position| velocity.at(position));
                    }
                }
            }
            bodies.count(members, |report| &mut report.rigid_zones);
            self.local.give_back(motion);
        }
    }
}

impl Local {
    /// Takes over the contacts of a zone and their vertices.
    fn take_rows(&mut self, rows: impl Iterator<Item = ZoneConstraint<f64>>, motion: &Motion) {
        self.rows.clear();
        self.rows.extend(rows);
        self.vertices.clear();
        self.vertices
            .extend(self.rows.iter().flat_map(|row| row.vertices));
        self.vertices.sort_unstable();
        self.vertices.dedup();
        let vertices = &self.vertices;
        for row in &mut self.rows {
            row.vertices = row
                .vertices
                .map(|vertex| vertices.partition_point(|&other| other < vertex) as u32);
        }
        let all = self.vertices.iter().map(|&vertex| vertex as usize);
        self.velocities.clear();
        self.velocities
            .extend(all.clone().map(|vertex| motion.velocities[vertex]));
        self.inverse_masses.clear();
        self.inverse_masses
            .extend(all.map(|vertex| motion.inverse_masses[vertex]));
    }

    /// Takes over vertices, in ascending order.
    fn take_vertices(
        &mut self,
        vertices: impl Iterator<Item = u32>,
        motion: &Motion,
        bodies: &Bodies,
    ) {
        self.vertices.clear();
        self.positions.clear();
        self.velocities.clear();
        self.masses.clear();
        for vertex in vertices {
            self.vertices.push(vertex);
            let vertex = vertex as usize;
            self.positions.push(bodies.start[vertex].cast());
            self.velocities.push(motion.velocities[vertex]);
            self.masses.push(f64::from(bodies.masses[vertex]));
        }
    }

    fn move_by(&mut self, velocity: impl Fn(&Vector3<f64>) -> Vector3<f64>) {
        for (own, position) in self.velocities.iter_mut().zip(&self.positions) {
            *own = velocity(position);
        }
    }

    /// Gives the new velocities to the vertices that give way.
    fn give_back(&self, motion: &mut Motion) {
        for (&vertex, velocity) in self.vertices.iter().zip(&self.velocities) {
            let vertex = vertex as usize;
            if motion.inverse_masses[vertex] > 0.0 {
                motion.velocities[vertex] = *velocity;
            }
        }
    }
}

/// Stops the contacts that approach, one after another, several times.
fn stop_one_by_one(
    rows: &[ZoneConstraint<f64>],
    inverse_masses: &[f64],
    velocities: &mut [Vector3<f64>],
) {
    for _ in 0..SWEEPS {
        for row in rows {
            let rate = row.rate(velocities);
            let inverse_mass = row.coupling(row, inverse_masses);
            if rate < 0.0 && inverse_mass > 0.0 {
                let impulse = row.normal * (-rate / inverse_mass);
                for (&vertex, weight) in row.vertices.iter().zip(row.weights) {
                    let vertex = vertex as usize;
                    velocities[vertex] += impulse * (weight * inverse_masses[vertex]);
                }
            }
        }
    }
}
