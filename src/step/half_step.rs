//! Velocities inside a substep, where what moves the particles is not what their velocities go on from.
//!
//! ```text
//! vⁿ ──forces──▶ v½ ──limits of strain, or damping──▶ ṽ ──way, contact──▶ ṽ + j      v½ + j ──forces──▶ vⁿ⁺¹
//! ```

use bevy::prelude::*;
use nalgebra::Vector3;

use crate::Real;
use crate::body::{Particles, StrainLimit};

/// Velocities of the current substep, by particle.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct HalfStep {
    /// vⁿ, m/s.
    pub start: Vec<Vector3<Real>>,
    /// v½, and what rounding dropped from it.
    half: Vec<Vector3<Real>>,
    remainders: Vec<Vector3<Real>>,
    /// ṽ.
    moving: Vec<Vector3<Real>>,
    /// What limits have added to the way, m.
    correction: Vec<Vector3<Real>>,
    /// Velocities that the energy account looks at.
    pub mean: Vec<Vector3<f64>>,
}

/// Gives a half step to the bodies that need one: those with a limit of strain, or all.
pub(super) fn prepare(world: &mut World, for_all: bool) {
    let mut unseen =
        world.query_filtered::<(Entity, Has<StrainLimit>), (With<Particles>, Without<HalfStep>)>();
    let unseen: Vec<Entity> = unseen
        .iter(world)
        .filter(|&(_, is_limited)| for_all || is_limited)
        .map(|(entity, _)| entity)
        .collect();
    for entity in unseen {
        world.entity_mut(entity).insert(HalfStep::default());
    }
}

impl HalfStep {
    /// Takes the velocities of the particles as vⁿ.
    pub fn start(&mut self, particles: &Particles) {
        self.start.clone_from(&particles.velocities);
        self.correction.clear();
    }

    /// Notes what a limit has added to the way of each particle, m.
    pub fn correct_by(&mut self, correction: impl Iterator<Item = Vector3<Real>>) {
        self.correction.clear();
        self.correction.extend(correction);
    }

    /// Half the work of the forces along the correction, J. At the start and at the end of the substep, that adds up to the
    /// energy that the limit has taken: the integrator gives the velocities the work along the way without it.
    pub fn half_work(&self, particles: &Particles) -> f64 {
        let pairs = particles.forces.iter().zip(&self.correction);
        let work = pairs.map(|(force, way)| force.cast::<f64>().dot(&way.cast::<f64>()));
        0.5 * work.sum::<f64>()
    }

    /// Takes the velocities of the particles as v½.
    pub fn keep(&mut self, particles: &Particles) {
        self.half.clone_from(&particles.velocities);
        self.remainders.clone_from(&particles.velocity_remainders);
    }

    /// Takes the velocities of the particles as ṽ.
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
