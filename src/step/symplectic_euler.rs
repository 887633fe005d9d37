//! Symplectic Euler in its symmetric form, the Störmer–Verlet scheme.
//!
//! ```text
//! v½ = v + h/2 a(x, ·)      Integrate
//! x' = x + h v½             Integrate, then contact corrects x' and v½
//! v' = v½ + h/2 a(x', v½)   FinishSubstep
//! ```
//!
//! Each half is a symplectic Euler step or its adjoint, so the whole is symplectic, second order, and costs one force
//! evaluation per substep. Rounding is carried along (compensated sums): an `f32` body in free flight keeps its
//! momentum over any number of substeps.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::stable_step::StableStep;
use super::threads::for_each_body;
use super::{PliantClock, Substeps};
use crate::Real;
use crate::body::{Particles, Pins, PliantState, Quarantined, Tetrahedra};

/// Estimates how long a step of each body may be; the forces must belong to the current positions.
pub(super) fn estimate_steps(world: &mut World) {
    let unseen: Vec<Entity> = world
        .query_filtered::<Entity, (With<Tetrahedra>, Without<StableStep>)>()
        .iter(world)
        .collect();
    for entity in unseen {
        world.entity_mut(entity).insert(StableStep::default());
    }
    let mut bodies = world
        .query_filtered::<(&Particles, &mut Tetrahedra, &mut StableStep), Without<Quarantined>>();
    for (particles, mut tetrahedra, mut estimate) in bodies.iter_mut(world) {
        estimate.update(particles, &mut tetrahedra);
    }
}

/// The number of equal substeps that the rest of a tick takes, as the bodies are now.
///
/// Asked again after each substep: what an impact stretches or squeezes gets shorter steps from the next one on.
pub(super) fn count_substeps(
    world: &mut World,
    substeps: Substeps,
    tick_dt: f64,
    rest: f64,
) -> f64 {
    let longest = match substeps {
        Substeps::Fixed(count) => tick_dt / f64::from(count.max(1)),
        Substeps::Automatic { safety } => {
            let mut bodies =
                world.query_filtered::<(&Tetrahedra, &StableStep), Without<Quarantined>>();
            let stable = bodies
                .iter(world)
                .map(|(tetrahedra, estimate)| estimate.longest(tetrahedra.stiffness))
                .fold(f64::INFINITY, f64::min);
            // A tick of more steps than this is far beyond what explicit integration can do.
            (safety.clamp(0.05, 1.0) * stable).max(1e-5 * tick_dt)
        }
    };
    // The quotient of equal parts may be a rounding above their number.
    (rest / longest - 1e-6).ceil().max(1.0)
}

type Moving = (&'static mut Particles, Option<&'static Pins>);

/// First half of the velocity step and the position step.
pub(super) fn kick_and_drift(
    clock: Res<PliantClock>,
    mut bodies: Query<Moving, Without<Quarantined>>,
) {
    let dt = clock.dt as Real;
    for_each_body(
        bodies.iter_mut().collect(),
        |(particles, _)| particles.len(),
        |(particles, pins)| {
            kick(particles, 0.5 * dt);
            drift(particles, dt);
            if let Some(pins) = pins {
                pins.place(particles, clock.end_fraction, clock.tick_dt);
            }
        },
    );
}

/// Second half of the velocity step, with the forces at the new positions; integrates the dissipated power.
pub(super) fn finish_kick(
    clock: Res<PliantClock>,
    mut bodies: Query<(&mut Particles, &mut PliantState), Without<Quarantined>>,
) {
    for_each_body(
        bodies.iter_mut().collect(),
        |(particles, _)| particles.len(),
        |(particles, state)| {
            kick(particles, 0.5 * clock.dt as Real);
            let energies = &mut state.energies;
            energies.dissipated += energies.dissipated_power * clock.dt;
        },
    );
}

fn kick(particles: &mut Particles, dt: Real) {
    let changes = particles
        .forces
        .iter()
        .zip(&particles.inverse_masses)
        .map(|(force, inverse_mass)| force * (inverse_mass * dt));
    let velocities = particles
        .velocities
        .iter_mut()
        .zip(&mut particles.velocity_remainders);
    for ((velocity, remainder), change) in velocities.zip(changes) {
        add(velocity, remainder, change);
    }
}

fn drift(particles: &mut Particles, dt: Real) {
    particles
        .start_positions
        .copy_from_slice(&particles.positions);
    let positions = particles
        .positions
        .iter_mut()
        .zip(&mut particles.position_remainders);
    for ((position, remainder), velocity) in positions.zip(&particles.velocities) {
        add(position, remainder, velocity * dt);
    }
}

/// `sum += change`, keeping what rounding drops for the next addition (Kahan 1965).
#[inline(always)]
fn add(sum: &mut Vector3<Real>, remainder: &mut Vector3<Real>, change: Vector3<Real>) {
    let corrected = change + *remainder;
    let next = *sum + corrected;
    *remainder = corrected - (next - *sum);
    *sum = next;
}
