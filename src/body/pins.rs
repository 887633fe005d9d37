//! Particles that something else than forces moves.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::Particles;
use crate::Real;

/// What holds a pinned particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PinAnchor {
    /// The place where the particle is when the pin is first seen.
    Here,
    /// A place in the world, m. Changing it moves the particle there within one tick.
    World(Vec3),
    /// A place in the local frame of an entity, m: the particle follows the entity without a tick of lag.
    Entity {
        /// The entity to follow.
        entity: Entity,
        /// The place in the entity's local frame.
        local: Vec3,
    },
    /// An entity, with the offset that the particle has when the pin is first seen.
    Attached(Entity),
}

/// One held particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pin {
    /// Index of the particle.
    pub particle: u32,
    /// What holds it.
    pub anchor: PinAnchor,
}

/// The held particles of a body.
///
/// A pinned particle ignores forces and contacts. Over a tick it moves on a straight line from where it is to where
/// its anchor is at the end of the tick. Removing the component, or a pin from the list, gives particles back to the
/// forces. A pin whose particle does not exist, or whose entity is gone, is reported once and holds the particle
/// where it is.
#[derive(Component, Clone, Debug, Default)]
pub struct Pins {
    /// The pins, in any order; of two pins on one particle the last one holds.
    pub pins: Vec<Pin>,
    /// Straight path of each pin over the current tick.
    pub(crate) paths: Vec<PinPath>,
    /// Pins already reported as broken.
    pub(crate) reported: bool,
}

/// Where a pinned particle goes during the current tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PinPath {
    pub particle: u32,
    pub start: Vector3<Real>,
    pub end: Vector3<Real>,
}

impl Pins {
    /// The given pins.
    #[must_use]
    pub fn new(pins: Vec<Pin>) -> Self {
        Self { pins, ..default() }
    }

    /// Pins the given particles where they are.
    pub fn at(particles: impl IntoIterator<Item = u32>) -> Self {
        Self::with_anchor(particles, PinAnchor::Here)
    }

    /// Pins the given particles to an entity, each with the offset it has now.
    pub fn attached_to(entity: Entity, particles: impl IntoIterator<Item = u32>) -> Self {
        Self::with_anchor(particles, PinAnchor::Attached(entity))
    }

    fn with_anchor(particles: impl IntoIterator<Item = u32>, anchor: PinAnchor) -> Self {
        let pin = |particle| Pin { particle, anchor };
        Self::new(particles.into_iter().map(pin).collect())
    }

    /// Moves the held particles along their paths to the given fraction of the tick.
    pub(crate) fn place(&self, particles: &mut Particles, fraction: f64, tick_dt: f64) {
        let fraction = fraction as Real;
        let rate = if tick_dt > 0.0 {
            (1.0 / tick_dt) as Real
        } else {
            0.0
        };
        for path in &self.paths {
            let particle = path.particle as usize;
            let step = path.end - path.start;
            particles.positions[particle] = path.start + step * fraction;
            particles.velocities[particle] = step * rate;
        }
    }
}
