//! One tick: the substep loop.

use bevy::prelude::*;

use super::runge_kutta::{self, NextStep, StepSettings};
use super::symplectic_euler::{
    SubstepCount, estimate_steps, evaluate_at_start, finish_kick, first_substep, kick_and_drift,
    next_substep,
};
use super::{
    DampingSolve, Integrator, PliantClock, PliantForces, PliantStep, PliantStepSystems, Substeps,
    contact, half_step, implicit, mixed,
};
use crate::body::PliantState;
use crate::kernel::implicit::conjugate_gradient::Limits;

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<NextStep>()
        .init_resource::<SubstepCount>()
        .add_systems(
            PliantStep,
            (
                integrate.in_set(PliantStepSystems::Integrate),
                finish.in_set(PliantStepSystems::FinishSubstep),
            ),
        );
}

/// Advances all bodies by the step of the schedule that this system runs in.
pub(super) fn tick(
    world: &mut World,
    states: &mut QueryState<&mut PliantState>,
    mut solvers: Local<implicit::Solvers>,
) {
    let dt = world.resource::<Time>().delta_secs_f64();
    if !(dt > 0.0 && dt.is_finite()) {
        return;
    }
    let last = *world.resource::<PliantClock>();
    let start = last.time;
    let begin = PliantClock {
        time: start,
        tick_dt: dt,
        ..default()
    };
    *world.resource_mut::<PliantClock>() = begin;
    match *world.resource::<Integrator>() {
        Integrator::Implicit { substeps, .. } => {
            implicit::prepare(world, &mut solvers);
            let substeps = substeps.max(1);
            for substep in 0..substeps {
                let (done, end) = (
                    f64::from(substep) / f64::from(substeps),
                    f64::from(substep + 1) / f64::from(substeps),
                );
                *world.resource_mut::<PliantClock>() = PliantClock {
                    time: start + dt * done,
                    tick_dt: dt,
                    dt: dt / f64::from(substeps),
                    start_fraction: done,
                    end_fraction: end,
                    velocity_fraction: 1.0,
                };
                run_substep(world, states);
            }
        }
        Integrator::SymplecticEuler { substeps } => {
            run_below_stable_step(world, states, &last, substeps, true);
        }
        Integrator::Mixed {
            solve, substeps, ..
        } => {
            implicit::prepare(world, &mut solvers);
            half_step::prepare(world);
            let with_damping = solve == DampingSolve::Pointwise;
            run_below_stable_step(world, states, &last, substeps, with_damping);
        }
        Integrator::RungeKuttaFehlberg { mass, .. } => {
            runge_kutta::prepare(world, mass);
            while world.resource::<PliantClock>().end_fraction < 1.0 {
                let mut clock = world.resource_mut::<PliantClock>();
                clock.start_fraction = clock.end_fraction;
                run_substep(world, states);
            }
        }
    }
    world.resource_mut::<PliantClock>().time = start + dt;
}

/// Takes a tick in substeps that keep below the stable step; `last` is the clock as the last tick left it.
fn run_below_stable_step(
    world: &mut World,
    states: &mut QueryState<&mut PliantState>,
    last: &PliantClock,
    substeps: Substeps,
    with_damping: bool,
) {
    let begin = *world.resource::<PliantClock>();
    let (start, dt) = (begin.time, begin.tick_dt);
    evaluate_at_start(world, last);
    if let Substeps::Automatic { .. } = substeps {
        estimate_steps(world, with_damping);
    }
    let mut step = first_substep(world, substeps, dt);
    let mut done = 0.0;
    while done < 1.0 {
        let end = done + step / dt;
        // The sum of equal parts may be a rounding off.
        let end = if end > 1.0 - 1e-9 { 1.0 } else { end };
        *world.resource_mut::<PliantClock>() = PliantClock {
            time: start + dt * done,
            tick_dt: dt,
            dt: dt * (end - done),
            start_fraction: done,
            end_fraction: end,
            velocity_fraction: 0.5,
        };
        run_substep(world, states);
        done = end;
        step = next_substep(world, substeps, dt, step, dt * (1.0 - done));
    }
}

fn run_substep(world: &mut World, states: &mut QueryState<&mut PliantState>) {
    for mut state in states.iter_mut(world) {
        state.substeps += 1;
        state.contacts = 0;
    }
    world.run_schedule(PliantStep);
}

fn integrate(
    world: &mut World,
    bodies: &mut implicit::Bodies,
    touching: &mut contact::TouchingBodies,
    mixed: &mut mixed::Bodies,
) -> Result {
    match *world.resource::<Integrator>() {
        Integrator::Implicit {
            scheme,
            iterations,
            tolerance,
            ..
        } => implicit::step(
            world,
            bodies,
            touching,
            implicit::Settings {
                scheme,
                limits: Limits {
                    iterations,
                    tolerance,
                },
            },
        ),
        Integrator::SymplecticEuler { .. } => world.run_system_cached(kick_and_drift)?,
        Integrator::Mixed { damping, solve, .. } => {
            mixed::start(world, mixed, mixed::Settings { damping, solve });
        }
        Integrator::RungeKuttaFehlberg {
            tolerance,
            smallest_step,
            largest_step,
            mass,
        } => {
            runge_kutta::step(
                world,
                StepSettings {
                    tolerance,
                    smallest_step,
                    largest_step,
                    mass,
                },
            )?;
        }
    }
    Ok(())
}

fn finish(world: &mut World, mixed: &mut mixed::Bodies) -> Result {
    match *world.resource::<Integrator>() {
        Integrator::SymplecticEuler { .. } => {
            let mut clock = world.resource_mut::<PliantClock>();
            clock.time += clock.dt;
            world.run_schedule(PliantForces);
            world.run_system_cached(finish_kick)?;
        }
        Integrator::Mixed { damping, solve, .. } => {
            mixed::finish(world, mixed, mixed::Settings { damping, solve });
        }
        Integrator::Implicit { .. } | Integrator::RungeKuttaFehlberg { .. } => {}
    }
    Ok(())
}
