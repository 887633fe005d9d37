//! Symplectic Euler in its symmetric form, the Störmer–Verlet scheme.
//!
//! ```text
//! v½ = v + h/2 a(x, ·)      Integrate
//! x' = x + h v½             Integrate, then contact corrects x' and v½
//! v' = v½ + h/2 a(x', v½)   FinishSubstep
//! ```
//!
//! Each half is a symplectic Euler step or its adjoint, so the whole is symplectic, second order, and costs one force
//! evaluation per substep. That holds for forces that depend on positions; viscosity and drag are evaluated with v½ for
//! the halves on both sides of it, which is first order in the step. Rounding is carried along (compensated sums): an `f32` body in free flight keeps its
//! momentum over any number of substeps.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::cloth::{self, LongestStep};
use super::stable_step::StableStep;
use super::strain_limit::{Limited, Limiter};
use super::threads::for_each_body;
use super::{PliantClock, PliantForces, Substeps};
use crate::Real;
use crate::body::{Particles, Pins, PliantState, Quarantined, Tetrahedra};

/// Evaluates the forces at the start of a tick: anything may have changed since the last one, so those of its last
/// substep are not trusted.
///
/// `last` is the clock as the last tick left it. Viscosity and drag take the velocities v½ here as everywhere. The
/// stored ones hold half a velocity step more, which no contact has answered yet: with them, a body that lies still
/// would rub against itself once per tick, and creep where friction barely holds it.
pub(super) fn evaluate_at_start(world: &mut World, last: &PliantClock) {
    let mut bodies = world.query_filtered::<(Entity, &mut Particles), Without<Quarantined>>();
    let mut stored = Vec::new();
    if last.velocity_fraction == 0.5 {
        let half = 0.5 * last.dt as Real;
        for (entity, mut particles) in bodies.iter_mut(world) {
            let Particles {
                velocities,
                forces,
                inverse_masses,
                ..
            } = &mut *particles;
            let between = velocities
                .iter()
                .zip(forces.iter().zip(inverse_masses.iter()))
                .map(|(velocity, (force, &inverse_mass))| velocity - force * (inverse_mass * half))
                .collect();
            stored.push((entity, std::mem::replace(velocities, between)));
        }
    }
    world.run_schedule(PliantForces);
    for (entity, velocities) in stored {
        if let Ok((_, mut particles)) = bodies.get_mut(world, entity) {
            particles.velocities = velocities;
        }
    }
}

/// Estimates how long a step of each body may be; the forces must belong to the current positions.
///
/// `with_damping` for schemes that integrate damping explicitly, which asks for shorter steps.
pub(super) fn estimate_steps(world: &mut World, with_damping: bool) {
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
        estimate.update(particles, &mut tetrahedra, with_damping);
    }
    cloth::estimate_steps(world, with_damping);
}

/// The substep in use, as a number of substeps per tick; zero before the first.
///
/// Equal steps are what makes the scheme symplectic, so the number only changes when it must.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub(super) struct SubstepCount(f64);

/// Share of the stable step beyond which a tick is replanned.
const PATIENCE: f64 = 0.75;

/// The longest substep that is aimed at now, s.
fn aimed_step(world: &mut World, substeps: Substeps, tick_dt: f64) -> f64 {
    match substeps {
        Substeps::Fixed(count) => tick_dt / f64::from(count.max(1)),
        Substeps::Automatic { safety } => {
            let mut bodies =
                world.query_filtered::<(&Tetrahedra, &StableStep), Without<Quarantined>>();
            let stable = bodies
                .iter(world)
                .map(|(tetrahedra, estimate)| estimate.longest(tetrahedra.stiffness))
                .fold(f64::INFINITY, f64::min);
            let mut cloths = world.query_filtered::<&LongestStep, Without<Quarantined>>();
            let stable = cloths
                .iter(world)
                .fold(stable, |step, longest| step.min(longest.seconds));
            // A tick of more steps than this is far beyond what explicit integration can do.
            (safety.clamp(0.05, 1.0) * stable).max(1e-5 * tick_dt)
        }
    }
}

/// The length of the first substep of a tick, s; the tick is a whole number of them.
pub(super) fn first_substep(world: &mut World, substeps: Substeps, tick_dt: f64) -> f64 {
    let needed = (tick_dt / aimed_step(world, substeps, tick_dt) - 1e-6)
        .ceil()
        .max(1.0);
    let mut count = world.resource_mut::<SubstepCount>();
    if let Substeps::Fixed(_) = substeps {
        count.0 = needed;
    } else if needed > count.0 || needed < 0.6 * count.0 {
        // A little more than needed, so that the next ticks need no other number.
        count.0 = (1.1 * needed).ceil();
    }
    tick_dt / count.0
}

/// The length of the next substep, s, after one of `dt`, with `rest` of the tick to go.
///
/// What an impact stretches or squeezes gets shorter steps at once.
pub(super) fn next_substep(
    world: &mut World,
    substeps: Substeps,
    tick_dt: f64,
    dt: f64,
    rest: f64,
) -> f64 {
    if let Substeps::Automatic { .. } = substeps {
        cloth::follow_stretch(world);
    }
    let aimed = aimed_step(world, substeps, tick_dt);
    let patience = match substeps {
        Substeps::Automatic { safety } => (PATIENCE / safety.clamp(0.05, 1.0)).max(1.0),
        Substeps::Fixed(_) => f64::INFINITY,
    };
    if dt > patience * aimed {
        rest / (rest / aimed).ceil()
    } else {
        dt
    }
}

type Moving = (
    &'static mut Particles,
    &'static mut PliantState,
    Option<&'static Pins>,
    Limited,
);

/// First half of the velocity step and the position step, with limits of strain.
pub(super) fn kick_and_drift(
    clock: Res<PliantClock>,
    mut bodies: Query<Moving, Without<Quarantined>>,
) {
    let dt = clock.dt as Real;
    for_each_body(
        bodies.iter_mut().collect(),
        |(particles, ..)| particles.len(),
        |(particles, state, pins, limited)| {
            kick(particles, 0.5 * dt);
            if let Some(mut limiter) = Limiter::of(limited, dt) {
                state.energies.dissipated += limiter.drift(particles);
            } else {
                drift(particles, dt);
            }
            if let Some(pins) = pins {
                pins.place(particles, clock.end_fraction, clock.tick_dt);
            }
        },
    );
}

type Finishing = (&'static mut Particles, &'static mut PliantState, Limited);

/// Second half of the velocity step, with the forces at the new positions; integrates the dissipated power.
pub(super) fn finish_kick(
    clock: Res<PliantClock>,
    mut bodies: Query<Finishing, Without<Quarantined>>,
) {
    for_each_body(
        bodies.iter_mut().collect(),
        |(particles, ..)| particles.len(),
        |(particles, state, limited)| {
            let dt = clock.dt as Real;
            let energies = &mut state.energies;
            kick(particles, 0.5 * dt);
            energies.dissipated += energies.dissipated_power * clock.dt;
            if let Some(mut limiter) = Limiter::of(limited, dt) {
                energies.dissipated += limiter.limit_end(particles);
            }
        },
    );
}

pub(super) fn kick(particles: &mut Particles, dt: Real) {
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

pub(super) fn drift(particles: &mut Particles, dt: Real) {
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

/// `sum += change` of a change in double precision, keeping what rounding drops.
pub(super) fn add_exactly(
    sum: &mut Vector3<Real>,
    remainder: &mut Vector3<Real>,
    change: &Vector3<f64>,
) {
    let exact = sum.cast::<f64>() + remainder.cast::<f64>() + change;
    *sum = exact.map(|coordinate| coordinate as Real);
    *remainder = (exact - sum.cast::<f64>()).map(|coordinate| coordinate as Real);
}

/// `sum += change`, keeping what rounding drops for the next addition (Kahan 1965).
#[inline(always)]
pub(super) fn add(sum: &mut Vector3<Real>, remainder: &mut Vector3<Real>, change: Vector3<Real>) {
    let corrected = change + *remainder;
    let next = *sum + corrected;
    *remainder = corrected - (next - *sum);
    *sum = next;
}
