//! What tears, and what is told of it.

use bevy::prelude::*;

use super::pins::PinPath;
use super::{Particles, Pin, Pins};
use crate::Real;

/// Lets a cloth or rope tear where it is strained beyond a limit.
///
/// A sheet opens along the edges of its mesh: along an edge whose two triangles are stretched across it beyond the limit. At
/// the tips of tears, notches and other corners that reach into the sheet a share of that limit is enough, and the sides of
/// a fresh tear are left alone for some ticks: so a tear runs through the sheet, by one edge per tick, instead of bursting
/// everywhere at once. The particles along the tear are doubled and
/// share their mass by the area that each copy keeps; texture coordinates and material slots stay with their triangles, and
/// the copies of a pinned particle are pinned alike. A rope loses its springs.
///
/// Each tick in which anything tore is told by [`Torn`], as a message and as an event of the body. A
/// [`Pressure`](super::Pressure) inside escapes through the first hole.
///
/// Springs that are no edges of triangles (over two cells, or across one) are lost where the tear passes one of their ends.
#[derive(Component, Clone, Debug)]
pub struct Tearing {
    /// Strain at which material tears, dimensionless (0.3: at 1.3 times its rest length), positive. Default 0.3.
    pub strain: Real,
    /// Share of that strain that is enough at the tip of a tear or notch, dimensionless. Default 0.6.
    pub tip_share: Real,
    /// Edges or springs that may tear in a tick, in different places. Default 4.
    pub per_tick: usize,
    /// Edges of the surface, for the topology they belong to.
    pub(crate) edges: Vec<TearEdge>,
    /// Whether each particle is on the boundary of the surface.
    pub(crate) on_boundary: Vec<bool>,
    /// Whether each particle is at a corner of the boundary that reaches into the surface.
    pub(crate) at_tip: Vec<bool>,
    /// For how many ticks each particle is left alone: the sides of a fresh tear have yet to slacken.
    pub(crate) resting: Vec<u8>,
    pub(crate) version: Option<u32>,
}

/// An edge between two triangles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TearEdge {
    pub ends: [u32; 2],
    /// The corner of each triangle that is not on the edge.
    pub opposite: [u32; 2],
    /// Where the height of each triangle stands on the edge, from the first end, as a share of its length.
    pub foot: [f64; 2],
    /// Height of each triangle at rest, m.
    pub height: [f64; 2],
}

impl Default for Tearing {
    fn default() -> Self {
        Self {
            strain: 0.3,
            tip_share: 0.6,
            per_tick: 4,
            edges: Vec::new(),
            on_boundary: Vec::new(),
            at_tip: Vec::new(),
            resting: Vec::new(),
            version: None,
        }
    }
}

impl Tearing {
    /// Tears beyond the given strain.
    #[must_use]
    pub fn beyond(strain: Real) -> Self {
        Self {
            strain,
            ..default()
        }
    }
}

/// A body has torn in the last tick: sent as a message, and triggered as an event of the body.
#[derive(Message, EntityEvent, Clone, Debug, PartialEq)]
pub struct Torn {
    /// The body.
    #[event_target]
    pub body: Entity,
    /// For each particle now, its index before: indices below the old number of particles are unchanged, copies follow.
    pub origin: Vec<u32>,
    /// Edges of the surface that opened, by the particles before.
    pub edges: Vec<[u32; 2]>,
    /// Springs that are gone, by the particles before.
    pub springs: Vec<[u32; 2]>,
}

impl Particles {
    /// Makes copies of particles that share their mass: `origin` names the old particle of each new one, and `shares` of all
    /// copies of a particle add up to one. Old particles keep their indices.
    pub(crate) fn split(&mut self, origin: &[u32], shares: &[f64]) {
        let old = self.masses.clone();
        for &from in &origin[self.len()..] {
            let from = from as usize;
            for vectors in [
                &mut self.positions,
                &mut self.velocities,
                &mut self.forces,
                &mut self.start_positions,
                &mut self.tick_positions,
                &mut self.position_remainders,
                &mut self.velocity_remainders,
            ] {
                vectors.push(vectors[from]);
            }
            self.inverse_masses.push(self.inverse_masses[from]);
            self.masses.push(0.0);
        }
        for (particle, (&from, &share)) in origin.iter().zip(shares).enumerate() {
            if share == 1.0 {
                continue;
            }
            let held = self.inverse_masses[particle] == 0.0;
            self.masses[particle] = (f64::from(old[from as usize]) * share) as Real;
            self.forces[particle] *= share as Real;
            if !held {
                self.release(particle);
            }
        }
    }
}

impl Pins {
    /// Pins the copies of pinned particles to the same anchors.
    pub(crate) fn follow_copies(&mut self, origin: &[u32], old_count: usize) {
        let pins = self.pins.clone();
        for (copy, &from) in origin.iter().enumerate().skip(old_count) {
            let pin = pins.iter().rfind(|pin| pin.particle == from);
            self.pins.extend(pin.map(|pin| Pin {
                particle: copy as u32,
                ..*pin
            }));
            let path = self.paths.iter().rfind(|path| path.particle == from);
            if let Some(&path) = path {
                let particle = copy as u32;
                self.paths.push(PinPath { particle, ..path });
            }
        }
    }
}
