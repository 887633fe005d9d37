//! The mean velocities of a step: what impulses act on, and where they lead.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::bodies::Bodies;
use super::candidates::Pair;
use crate::Real;
use crate::body::{Particles, PliantState};
use crate::step::PliantClock;
use crate::step::symplectic_euler::add_exactly;

/// Particles that contact moves, and the account of their body.
pub(in crate::step) type Moving = QueryState<(&'static mut Particles, &'static mut PliantState)>;

/// A step of all vertices.
///
/// ```text
/// v̄ = (x' − x)/h,   x'(v) = x' + h (v − v̄)
/// ```
/// x' is the candidate of the integrator, v begins as v̄.
#[derive(Debug, Default)]
pub(super) struct Motion {
    /// v, m/s, by vertex.
    pub velocities: Vec<Vector3<f64>>,
    /// v̄, m/s.
    candidate: Vec<Vector3<f64>>,
    /// 1/kg; zero for vertices that do not give way.
    pub inverse_masses: Vec<f64>,
    /// x', m.
    ends: Vec<Vector3<Real>>,
    /// h, s.
    pub dt: f64,
}

impl Motion {
    /// Takes over the step that the integrator has made.
    ///
    /// Where velocities live between positions (`velocity_fraction` 1/2), they are v̄, without what rounding takes from a
    /// difference of positions.
    pub fn start(
        &mut self,
        world: &World,
        moving: &mut Moving,
        bodies: &Bodies,
        clock: &PliantClock,
    ) {
        let count = bodies.target.len();
        self.dt = clock.dt;
        self.ends.clone_from(&bodies.target);
        self.inverse_masses.clear();
        self.inverse_masses
            .extend(bodies.masses.iter().map(|&mass| 1.0 / f64::from(mass)));
        self.candidate.clear();
        self.candidate.extend((0..count).map(|vertex| {
            (bodies.target[vertex].cast::<f64>() - bodies.start[vertex].cast::<f64>()) / clock.dt
        }));
        for body in &bodies.list {
            let Ok((particles, _)) = moving.get(world, body.entity) else {
                continue;
            };
            let range = body.range();
            if clock.velocity_fraction != 0.5 || particles.len() != range.len() {
                continue;
            }
            for (i, vertex) in range.enumerate() {
                if self.inverse_masses[vertex] > 0.0 {
                    self.candidate[vertex] = particles.velocities[i].cast::<f64>()
                        + particles.velocity_remainders[i].cast::<f64>();
                }
            }
        }
        self.velocities.clone_from(&self.candidate);
    }

    pub fn velocities_of(&self, pair: &Pair) -> [Vector3<f64>; 4] {
        pair.vertices.map(|vertex| self.velocities[vertex as usize])
    }

    pub fn inverse_masses_of(&self, pair: &Pair) -> [f64; 4] {
        pair.vertices
            .map(|vertex| self.inverse_masses[vertex as usize])
    }

    /// Gives the vertices of a pair other velocities; whether any is new.
    pub fn set(&mut self, pair: &Pair, velocities: &[Vector3<f64>; 4]) -> bool {
        let mut is_new = false;
        for (&vertex, velocity) in pair.vertices.iter().zip(velocities) {
            let own = &mut self.velocities[vertex as usize];
            is_new |= own != velocity;
            *own = *velocity;
        }
        is_new
    }

    /// Where a vertex goes, m.
    fn end(&self, vertex: usize) -> Vector3<f64> {
        let change = self.velocities[vertex] - self.candidate[vertex];
        self.ends[vertex].cast::<f64>() + change * self.dt
    }

    /// Where the vertices of a pair go, m.
    pub fn ends_of(&self, pair: &Pair) -> [Vector3<f64>; 4] {
        pair.vertices.map(|vertex| self.end(vertex as usize))
    }

    /// Lets the bodies go where their velocities lead.
    pub fn place(&self, bodies: &mut Bodies) {
        for (vertex, target) in bodies.target.iter_mut().enumerate() {
            if self.velocities[vertex] != self.candidate[vertex] {
                *target = self.end(vertex).map(|coordinate| coordinate as Real);
            }
        }
    }

    /// Moves the particles, changes their velocities by v − v̄, and books the energy that this takes.
    ///
    /// ```text
    /// ΔE = −m Δv·(v₀ + v₁)/2,   v₀ = v − h F/m,   v₁ = v + Δv
    /// ```
    /// the exact work of the impulses over the step: nothing for a particle at rest that forces push into another one, and the
    /// impulse pushes back.
    pub fn write(&self, world: &mut World, moving: &mut Moving, bodies: &Bodies) {
        for body in &bodies.list {
            let range = body.range();
            let changes =
                |i: usize| self.velocities[range.start + i] - self.candidate[range.start + i];
            if !body.touches() || (0..range.len()).all(|i| changes(i) == Vector3::zeros()) {
                continue;
            }
            let Ok((mut particles, mut state)) = moving.get_mut(world, body.entity) else {
                continue;
            };
            let Particles {
                positions,
                position_remainders,
                velocities,
                velocity_remainders,
                masses,
                inverse_masses,
                forces,
                ..
            } = &mut *particles;
            let mut lost = 0.0;
            for i in 0..range.len() {
                let change = changes(i);
                if change == Vector3::zeros() {
                    continue;
                }
                add_exactly(
                    &mut positions[i],
                    &mut position_remainders[i],
                    &(change * self.dt),
                );
                let kick = forces[i].cast::<f64>() * (f64::from(inverse_masses[i]) * self.dt);
                let before = velocities[i].cast::<f64>() - kick;
                add_exactly(&mut velocities[i], &mut velocity_remainders[i], &change);
                let after = velocities[i].cast::<f64>();
                lost -= 0.5 * f64::from(masses[i]) * change.dot(&(before + after));
            }
            state.energies.contact += lost;
            state.energies.dissipated += lost;
        }
    }
}
