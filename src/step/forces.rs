//! Weight, and the order of the forces.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::cloth::cloth_forces;
use super::coupling::coupling_forces;
use super::elastic::elastic_forces;
use super::{PliantForces, PliantGravity, PliantStepSystems, implicit};
use crate::Real;
use crate::body::{Particles, PliantState, Quarantined};

pub(super) fn plugin(app: &mut App) {
    app.add_systems(
        PliantForces,
        (
            (clear_forces, implicit::clear)
                .chain()
                .before(PliantStepSystems::Gravity),
            weigh.in_set(PliantStepSystems::Gravity),
            // The implicit integrator has elasticity and drag inside; what runs in their place tells it that they are on.
            (
                (elastic_forces, cloth_forces)
                    .chain()
                    .run_if(not(implicit::is_implicit)),
                implicit::switch_elasticity_on.run_if(implicit::is_solver_used),
            )
                .chain()
                .in_set(PliantStepSystems::Elasticity),
            coupling_forces
                .after(PliantStepSystems::Drag)
                .before(PliantStepSystems::AccumulateForces),
        ),
    );
}

/// Empties the accumulators, so that switching a stage off leaves nothing of it behind.
fn clear_forces(mut bodies: Query<(&mut Particles, &mut PliantState), Without<Quarantined>>) {
    for (mut particles, mut state) in &mut bodies {
        particles.forces.fill(Vector3::zeros());
        state.energies.dissipated_power = 0.0;
    }
}

fn weigh(gravity: Res<PliantGravity>, mut bodies: Query<&mut Particles, Without<Quarantined>>) {
    let gravity: Vector3<Real> =
        Vector3::new(gravity.0.x.into(), gravity.0.y.into(), gravity.0.z.into());
    for mut particles in &mut bodies {
        let particles = &mut *particles;
        for (force, &mass) in particles.forces.iter_mut().zip(&particles.masses) {
            *force += gravity * mass;
        }
    }
}
