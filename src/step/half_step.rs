//! Velocities inside a substep of mixed integration, where what moves the particles need not be what their velocities go
//! on from.
//!
//! ```text
//! vⁿ ──forces, damping──▶ ṽ ──limits of strain──▶ ṽ + i ──way, contact──▶ ṽ + i + j
//! vⁿ ──forces──▶ v½                               v½ + i + j ──forces──▶ vⁿ⁺¹
//! ```

use bevy::prelude::*;
use nalgebra::Vector3;

use crate::Real;
use crate::body::Particles;

/// Velocities of the current substep, by particle.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct HalfStep {
    /// vⁿ, m/s, with what has acted on the way.
    pub start: Vec<Vector3<Real>>,
    /// v½, and what rounding dropped from it.
    half: Vec<Vector3<Real>>,
    remainders: Vec<Vector3<Real>>,
    /// ṽ + i.
    moving: Vec<Vector3<Real>>,
    /// Velocities that the energy account looks at.
    pub mean: Vec<Vector3<f64>>,
}

/// Gives a half step to the bodies that have none.
pub(super) fn prepare(world: &mut World) {
    let mut unseen = world.query_filtered::<Entity, (With<Particles>, Without<HalfStep>)>();
    let unseen: Vec<Entity> = unseen.iter(world).collect();
    for entity in unseen {
        world.entity_mut(entity).insert(HalfStep::default());
    }
}

impl HalfStep {
    /// Takes the velocities of the particles as vⁿ.
    pub fn start(&mut self, particles: &Particles) {
        self.start.clone_from(&particles.velocities);
    }

    /// Takes the velocities of the particles as v½.
    pub fn keep(&mut self, particles: &Particles) {
        self.half.clone_from(&particles.velocities);
        self.remainders.clone_from(&particles.velocity_remainders);
    }

    /// Adds what limits of strain have changed of the velocities, as if it had been so from the start.
    pub fn push(&mut self, impulses: impl Iterator<Item = Vector3<Real>>) {
        for (i, impulse) in impulses.enumerate() {
            if impulse != Vector3::zeros() {
                self.start[i] += impulse;
                self.half[i] += impulse;
                self.remainders[i] = Vector3::zeros();
            }
        }
    }

    /// Takes the velocities of the particles as those that they move with.
    pub fn set_off(&mut self, particles: &Particles) {
        self.moving.clone_from(&particles.velocities);
    }

    /// Gives v½ back to the free particles, with what contact has added on the way, and adds that to vⁿ: as if contact had
    /// acted from the start, the mean of vⁿ and vⁿ⁺¹ is then that of the way.
    pub fn resume(&mut self, particles: &mut Particles) {
        for i in 0..particles.len().min(self.moving.len()) {
            if particles.inverse_masses[i] == 0.0 {
                continue;
            }
            let impulse = particles.velocities[i] - self.moving[i];
            particles.velocities[i] = self.half[i] + impulse;
            if impulse == Vector3::zeros() {
                particles.velocity_remainders[i] = self.remainders[i];
            }
            self.start[i] += impulse;
        }
    }
}
