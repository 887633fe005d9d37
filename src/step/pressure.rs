//! Pressure within closed cloths: the force of the filling on each triangle, and whether a surface is closed at all.
//!
//! A gas resists a change of volume as a whole: its stiffness couples all particles.
//!
//! ```text
//! f = p ∂V/∂x,   −∂f/∂x = −p ∂²V/∂x² − (dp/dV) ∂V/∂x ∂V/∂xᵀ
//! ```
//! The second term, of rank one, is what makes a balloon stiff, and part of the implicit solve. The first is of the size of
//! the pressure times the length of an edge, has no sign, and is left out: tension, which holds a pressure in the first
//! place, is stiffer by the ratio of the body's radius to the edges.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::implicit::elements::{Kind, PairBlock, Potential};
use super::prepare::describe;
use super::threads::Threads;
use crate::Real;
use crate::body::pressure::Filled;
use crate::body::{BodyFrame, Particles, PliantState, Pressure, Quarantined, Surface};
use crate::kernel::cloth::pressure::{enclosed_volume, shared_force};
use crate::kernel::implicit::{Row, row};

/// A closed surface and what is in it.
#[derive(Clone, Copy)]
pub(super) struct Inflation<'a> {
    triangles: &'a [[u32; 3]],
    filled: Filled,
}

impl<'a> Inflation<'a> {
    /// What is inside a body, if it is closed.
    pub fn of(pressure: Option<&Pressure>, surface: Option<&'a Surface>) -> Option<Self> {
        let (filled, surface) = (pressure?.filled()?, surface?);
        let triangles = &surface.triangles;
        Some(Self { triangles, filled })
    }

    /// The triangles.
    pub fn triangles(&self) -> &'a [[u32; 3]] {
        self.triangles
    }

    /// Energy at strains of about one, J.
    pub fn stiffness(&self) -> f64 {
        self.filled.size()
    }

    /// Volume now, m³.
    pub fn volume(&self, positions: &[Vector3<Real>]) -> f64 {
        enclosed_volume(positions, self.triangles)
    }

    /// Energy now, J.
    pub fn energy(&self, positions: &[Vector3<Real>]) -> f64 {
        self.filled.energy(self.volume(positions))
    }

    /// Adds the forces of the filling.
    pub fn add_forces(&self, positions: &[Vector3<Real>], forces: &mut [Vector3<Real>]) {
        let pressure = self.filled.pressure(self.volume(positions)) as Real;
        self.add_gradient(positions, pressure, |particle, force| {
            forces[particle] += force;
        });
    }

    /// By how much the pressure falls with the volume, Pa/m³, and the gradient of the volume by row, m².
    pub fn linearize(
        &self,
        positions: &[Vector3<Real>],
        rows: &[u32],
        gradient: &mut [Row<Real>],
    ) -> f64 {
        gradient.fill([0.0; 4]);
        self.add_gradient(positions, 1.0, |particle, share| {
            let sum = &mut gradient[rows[particle] as usize];
            let share = row(&share);
            for axis in 0..3 {
                sum[axis] += share[axis];
            }
        });
        self.filled.stiffness(self.volume(positions))
    }

    /// Bound for the squared frequency of the filling on the particles, 1/s²: −dp/dV Σ |∂V/∂x|² / m.
    pub fn squared_frequency(&self, particles: &Particles) -> f64 {
        let mut gradient = vec![Vector3::zeros(); particles.len()];
        self.add_gradient(&particles.positions, 1.0, |particle, share| {
            gradient[particle] += share;
        });
        let moving = gradient.iter().zip(particles.inverse_masses());
        let sum: f64 = moving
            .map(|(gradient, &inverse)| f64::from(gradient.norm_squared() * inverse))
            .sum();
        self.filled.stiffness(self.volume(&particles.positions)) * sum
    }

    fn add_gradient(
        &self,
        positions: &[Vector3<Real>],
        pressure: Real,
        mut add: impl FnMut(usize, Vector3<Real>),
    ) {
        for triangle in self.triangles {
            let corners = triangle.map(|corner| corner as usize);
            let force = shared_force(&corners.map(|corner| positions[corner]), pressure);
            for corner in corners {
                add(corner, force);
            }
        }
    }
}

impl Kind for Inflation<'_> {
    fn evaluate(&self, positions: &[Vector3<Real>], _: Threads, forces: &mut [Vector3<Real>]) {
        let pressure = self.filled.pressure(self.volume(positions)) as Real;
        let (corners, rest) = forces.split_at_mut(3 * self.triangles.len());
        for (triangle, forces) in self.triangles.iter().zip(corners.chunks_exact_mut(3)) {
            let corners = triangle.map(|corner| positions[corner as usize]);
            forces.fill(shared_force(&corners, pressure));
        }
        rest.fill(Vector3::zeros());
    }

    fn linearize(
        &self,
        positions: &[Vector3<Real>],
        threads: Threads,
        forces: &mut [Vector3<Real>],
        stiffness: &mut [PairBlock],
    ) {
        self.evaluate(positions, threads, forces);
        stiffness.fill([0.0; 9]);
    }

    fn damp(&self, _: &[Vector3<Real>], _: Threads, damping: &mut [PairBlock]) {
        damping.fill([0.0; 9]);
    }

    fn sum(
        &self,
        positions: &[Vector3<Real>],
        _: Threads,
        _: &mut Vec<Potential<f64>>,
    ) -> Potential<f64> {
        Potential {
            elastic: self.energy(positions),
            ..Potential::NOTHING
        }
    }
}

type Inflated = (
    Entity,
    Option<&'static Name>,
    &'static mut Pressure,
    Option<&'static Surface>,
    &'static Particles,
    &'static BodyFrame,
    &'static PliantState,
);

/// Looks whether bodies with pressure are closed, when they are new and when they have torn.
pub(super) fn follow_pressures(mut bodies: Query<Inflated, Without<Quarantined>>) {
    for (entity, name, mut pressure, surface, particles, frame, state) in &mut bodies {
        if pressure.version == Some(state.topology_version) {
            continue;
        }
        let pressure = pressure.bypass_change_detection();
        let was_closed = pressure.rest_volume.is_some();
        pressure.version = Some(state.topology_version);
        let triangles = surface.map_or(&[][..], |surface| &surface.triangles);
        let rest = &frame.rest_offsets;
        let volume = closed_volume(triangles, particles, rest);
        pressure.rest_volume = volume.as_ref().ok().copied();
        if let (Err(problem), false) = (volume, was_closed) {
            error!(
                "{}: {problem}, so it holds no pressure",
                describe(entity, name)
            );
        }
    }
}

/// Volume of a surface at rest, m³; what is wrong if it holds none.
fn closed_volume(
    triangles: &[[u32; 3]],
    particles: &Particles,
    rest: &[Vector3<Real>],
) -> Result<f64, String> {
    if triangles.is_empty() {
        return Err("it has no surface".into());
    }
    let mut sides: Vec<[u32; 2]> = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        if a.max(b).max(c) as usize >= particles.len() {
            return Err("its surface names particles that are not there".into());
        }
        sides.extend([[a, b], [b, c], [c, a]]);
    }
    sides.sort_unstable();
    for side in &sides {
        let back = [side[1], side[0]];
        let count = |side: &[u32; 2]| {
            let first = sides.partition_point(|other| other < side);
            sides.partition_point(|other| other <= side) - first
        };
        let counts = [count(side), count(&back)];
        if counts != [1, 1] {
            return Err(format!(
                "its surface is not closed: the edge between particles {} and {} has {} triangles",
                side[0],
                side[1],
                counts[0] + counts[1]
            ));
        }
    }
    let shape = if rest.len() == particles.len() {
        rest
    } else {
        &particles.positions
    };
    let volume = enclosed_volume(shape, triangles);
    if volume > 0.0 && volume.is_finite() {
        Ok(volume)
    } else {
        Err(format!(
            "its surface encloses {volume} m³: the triangles must run counterclockwise as seen from outside"
        ))
    }
}
