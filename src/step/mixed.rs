//! Mixed integration: forces of the shape explicit, forces of the speed implicit.
//!
//! ```text
//! v½ = v + h/2 a(x, v)                 Integrate
//! ṽ  = v½, or implicitly (heavy)       Integrate, limits of strain correct ṽ, and v½ as ṽ
//! x' = x + h ṽ                         Integrate, then contact corrects x', and v½ as ṽ
//! v' = v½ + h/2 a(x', v')  implicit    FinishSubstep, limits of strain
//! ```
//! The theory is in [`kernel::cloth::mixed`](crate::kernel::cloth::mixed). The implicit half steps are those of
//! [`ImplicitSolver::change_velocities`]: only the damping of the elements and the resistance of the air are linearized,
//! user forces that depend on velocities are explicit. What is damped linearly is of second order; the resistance of the
//! air in the square of the speed is taken with the speed v½, which is of first order in that.
//!
//! **Energy.** Damping takes, over a substep, h times its power at the mean of v and v' (less what contact changed), which
//! is exact for a damping that is the same at both ends. Where damping is much faster than the substep, and turns with the
//! body, the account is not to be relied on: v and v' are then nearly opposite, and their mean a small difference.
//!
//! **Momentum** is kept; what a truncated solve loses of it, a free body gets back. Angular momentum is kept too where ṽ is
//! v½. Otherwise it changes by h ṽ × m v½, of the order of the scheme: with heavy damping.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::half_step::HalfStep;
use super::implicit::{BodyElements, BodyElementsItem, ImplicitSolver, note};
use super::strain_limit::{Limited, Limiter};
use super::symplectic_euler::{add, drift, kick};
use super::threads::for_each_body;
use super::{DampingRegime, DampingSolve, PliantClock, PliantForces};
use crate::Real;
use crate::body::{Particles, Pins, PliantState, Quarantined};
use crate::kernel::implicit::conjugate_gradient::Limits;

/// Settings of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub damping: DampingRegime,
    pub solve: DampingSolve,
}

impl Settings {
    /// Limits of the linear solver, if there is one.
    fn limits(&self) -> Option<Limits> {
        match self.solve {
            DampingSolve::Full {
                iterations,
                tolerance,
            } => Some(Limits {
                iterations,
                tolerance,
            }),
            DampingSolve::Pointwise => None,
        }
    }
}

type Body = (
    &'static mut Particles,
    BodyElements,
    &'static mut ImplicitSolver,
    &'static mut HalfStep,
    &'static mut PliantState,
    Option<&'static Pins>,
    Limited,
);

/// All bodies that move.
pub(super) type Bodies = QueryState<Body, Without<Quarantined>>;

/// First half of the velocity step and the position step.
pub(super) fn start(world: &mut World, bodies: &mut Bodies, settings: Settings) {
    world.run_schedule(PliantForces);
    let clock = *world.resource::<PliantClock>();
    let dt = clock.dt as Real;
    for_each_body(
        bodies.iter_mut(world).collect(),
        |(particles, ..)| particles.len(),
        |(particles, elements, solver, half, state, pins, limited)| {
            let (particles, half) = (&mut **particles, &mut **half);
            if let Some(pins) = pins {
                pins.place(particles, clock.start_fraction, clock.tick_dt);
            }
            half.start(particles);
            kick(particles, 0.5 * dt);
            half.keep(particles);
            if settings.damping == DampingRegime::Heavy {
                particles.velocities.clone_from(&half.start);
                let change =
                    solver.change_velocities(particles, elements, 0.5 * dt, settings.limits());
                note(state, &change);
                for i in 0..particles.len() {
                    let change = solver.velocities[i];
                    particles.velocities[i] += change;
                    particles.velocity_remainders[i] = Vector3::zeros();
                    // The force that the step amounts to, for contact.
                    particles.forces[i] = change * (particles.masses[i] * 2.0 / dt);
                }
            }
            if let Some(mut limiter) = Limiter::of(limited, dt) {
                state.energies.dissipated += limiter.drift(particles);
                half.push(limiter.impulses(particles));
            } else {
                drift(particles, dt);
            }
            half.set_off(particles);
            if let Some(pins) = pins {
                pins.place(particles, clock.end_fraction, clock.tick_dt);
            }
        },
    );
}

/// Second half of the velocity step, implicit.
pub(super) fn finish(world: &mut World, bodies: &mut Bodies, settings: Settings) {
    for (mut particles, _, _, mut half, ..) in bodies.iter_mut(world) {
        half.resume(&mut particles);
    }
    let mut clock = world.resource_mut::<PliantClock>();
    clock.time += clock.dt;
    let dt = clock.dt;
    world.run_schedule(PliantForces);
    for_each_body(
        bodies.iter_mut(world).collect(),
        |(particles, ..)| particles.len(),
        |(particles, elements, solver, half, state, _, limited)| {
            let (particles, step) = (&mut **particles, 0.5 * dt as Real);
            let change = solver.change_velocities(particles, elements, step, settings.limits());
            note(state, &change);
            let power = finish_velocities(particles, elements, solver, half, state);
            let energies = &mut state.energies;
            energies.dissipated_power = power;
            energies.dissipated += power * dt;
            if let Some(mut limiter) = Limiter::of(limited, dt as Real) {
                energies.dissipated += limiter.limit_end(particles);
            }
        },
    );
}

/// Adds the change that has been solved for to the velocities; the mean power that damping takes over the substep, W.
fn finish_velocities(
    particles: &mut Particles,
    elements: &BodyElementsItem,
    solver: &ImplicitSolver,
    half: &mut HalfStep,
    state: &PliantState,
) -> f64 {
    let mut explicit_power = 0.0;
    if !solver.is_coupled {
        // What the elements take is explicit, and known at v½ together with what the air takes.
        half.mean.clear();
        half.mean.extend(
            particles
                .velocities
                .iter()
                .map(|velocity| velocity.cast::<f64>()),
        );
        explicit_power = state.energies.dissipated_power - solver.air_power(&half.mean);
    }
    half.mean.clear();
    let Particles {
        velocities,
        velocity_remainders,
        inverse_masses,
        ..
    } = particles;
    for i in 0..velocities.len() {
        add(
            &mut velocities[i],
            &mut velocity_remainders[i],
            solver.velocities[i],
        );
        // Held particles move as they do now, whatever they did before.
        let start = if inverse_masses[i] > 0.0 {
            &half.start[i]
        } else {
            &velocities[i]
        };
        half.mean
            .push((start.cast::<f64>() + velocities[i].cast::<f64>()) * 0.5);
    }
    explicit_power + solver.damping_power(elements, &half.mean)
}
