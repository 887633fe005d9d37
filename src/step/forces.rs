//! Weight and air resistance.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::elastic::elastic_forces;
use super::{PliantForces, PliantGravity, PliantStepSystems, implicit};
use crate::Real;
use crate::body::{AirDrag, Particles, PliantState, Quarantined, Surface};
use crate::kernel::drag::{WindFace, viscous_drag, viscous_drag_power};

pub(super) fn plugin(app: &mut App) {
    app.add_systems(
        PliantForces,
        (
            (clear_forces, implicit::clear)
                .chain()
                .before(PliantStepSystems::Gravity),
            weigh.in_set(PliantStepSystems::Gravity),
            // The implicit solver has elasticity and drag inside; what runs in their place tells it that they are on.
            (
                elastic_forces.run_if(not(implicit::is_implicit)),
                implicit::switch_elasticity_on.run_if(implicit::is_implicit),
            )
                .chain()
                .in_set(PliantStepSystems::Elasticity),
            (
                drag_forces.run_if(not(implicit::is_implicit)),
                implicit::drag_coefficients.run_if(implicit::is_implicit),
            )
                .chain()
                .in_set(PliantStepSystems::Drag),
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

type Dragged = (
    &'static mut Particles,
    Option<&'static Surface>,
    &'static AirDrag,
    &'static mut PliantState,
);

fn drag_forces(mut bodies: Query<Dragged, Without<Quarantined>>) {
    for (mut particles, surface, drag, mut state) in &mut bodies {
        let particles = &mut *particles;
        let mut power = 0.0;
        if drag.viscous_rate > 0.0 {
            for i in 0..particles.len() {
                let (mass, velocity) = (particles.masses[i], particles.velocities[i]);
                particles.forces[i] += viscous_drag(drag.viscous_rate, mass, &velocity);
                power += f64::from(viscous_drag_power(drag.viscous_rate, mass, &velocity));
            }
        }
        let resists = drag.coefficient * drag.fluid_density > 0.0;
        for triangle in surface
            .filter(|_| resists)
            .iter()
            .flat_map(|surface| &surface.triangles)
        {
            let corners = triangle.map(|corner| corner as usize);
            let face = wind_face(particles, corners);
            let share = face.drag(drag.coefficient, drag.fluid_density) / 3.0;
            power += f64::from(face.drag_power(drag.coefficient, drag.fluid_density));
            for corner in corners {
                particles.forces[corner] += share;
            }
        }
        state.energies.dissipated_power += power;
    }
}

/// The triangle as the air meets it.
pub(super) fn wind_face(particles: &Particles, [a, b, c]: [usize; 3]) -> WindFace<Real> {
    let (x, v) = (&particles.positions, &particles.velocities);
    let doubled = (x[b] - x[a]).cross(&(x[c] - x[a]));
    let length = doubled.norm();
    let normal = if length > 0.0 {
        doubled / length
    } else {
        Vector3::zeros()
    };
    WindFace {
        area: 0.5 * length,
        normal,
        velocity: (v[a] + v[b] + v[c]) / 3.0,
    }
}
