//! One tick: the substep loop.

use bevy::prelude::*;

use super::runge_kutta::{self, NextStep, StepSettings};
use super::symplectic_euler::{
    SubstepCount, estimate_steps, evaluate_at_start, finish_kick, first_substep, kick_and_drift,
    next_substep,
};
use super::{
    Integrator, PliantClock, PliantForces, PliantStep, PliantStepSystems, Substeps, implicit,
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
            evaluate_at_start(world, &last);
            if let Substeps::Automatic { .. } = substeps {
                estimate_steps(world);
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

fn run_substep(world: &mut World, states: &mut QueryState<&mut PliantState>) {
    for mut state in states.iter_mut(world) {
        state.substeps += 1;
        state.contacts = 0;
    }
    world.run_schedule(PliantStep);
}

fn integrate(world: &mut World, bodies: &mut implicit::Bodies) -> Result {
    match *world.resource::<Integrator>() {
        Integrator::Implicit {
            scheme,
            iterations,
            tolerance,
            ..
        } => implicit::step(
            world,
            bodies,
            implicit::Settings {
                scheme,
                limits: Limits {
                    iterations,
                    tolerance,
                },
            },
        ),
        Integrator::SymplecticEuler { .. } => world.run_system_cached(kick_and_drift)?,
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

fn finish(world: &mut World) -> Result {
    if let Integrator::SymplecticEuler { .. } = world.resource::<Integrator>() {
        let mut clock = world.resource_mut::<PliantClock>();
        clock.time += clock.dt;
        world.run_schedule(PliantForces);
        world.run_system_cached(finish_kick)?;
    }
    Ok(())
}
