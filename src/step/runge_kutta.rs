//! Runge–Kutta–Fehlberg 4(5) with adaptive steps [000 §6.4]: the reference integrator.
//!
//! The state of a body is (positions, velocities, dissipated energy); all bodies take the same step, since contact
//! couples them. Stages are kept in double precision whatever the run-time scalar is.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::consistent_mass::{ConsistentMass, lumped_accelerations, to_real_vector};
use super::{MassMatrix, PliantClock, PliantForces};
use crate::body::{Particles, Pins, PliantState, Quarantined, Tetrahedra};
use crate::kernel::runge_kutta::{ERROR_WEIGHTS, NODES, STAGE_WEIGHTS, STAGES, WEIGHTS, next_step};

/// Stages of a body's current step.
#[derive(Component, Debug, Default)]
pub(crate) struct Stages {
    start_positions: Vec<Vector3<f64>>,
    start_velocities: Vec<Vector3<f64>>,
    start_dissipated: f64,
    velocities: [Vec<Vector3<f64>>; STAGES],
    accelerations: [Vec<Vector3<f64>>; STAGES],
    power: [f64; STAGES],
}

/// The step that the error control proposes next; zero before the first.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub(super) struct NextStep(pub f64);

/// Settings of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSettings {
    pub tolerance: f64,
    pub smallest_step: f64,
    pub largest_step: f64,
    pub mass: MassMatrix,
}

type Body = (
    Entity,
    &'static mut Particles,
    &'static mut Stages,
    &'static mut PliantState,
    Option<&'static Pins>,
    Option<&'static mut ConsistentMass>,
);

/// Prepares the bodies for a tick: their stages and mass matrices.
pub(super) fn prepare(world: &mut World, mass: MassMatrix) {
    let unseen: Vec<Entity> = world
        .query_filtered::<Entity, (With<Particles>, Without<Stages>)>()
        .iter(world)
        .collect();
    for entity in unseen {
        world.entity_mut(entity).insert(Stages::default());
    }
    if mass == MassMatrix::Lumped {
        return;
    }
    let mut bodies = world.query::<(
        Entity,
        &Particles,
        &Tetrahedra,
        &PliantState,
        Option<&ConsistentMass>,
    )>();
    let factors: Vec<(Entity, Option<ConsistentMass>)> = bodies
        .iter(world)
        .filter(|(_, particles, tetrahedra, state, factor)| {
            !factor.is_some_and(|factor| factor.fits(particles, tetrahedra, state.topology_version))
        })
        .map(|(entity, particles, tetrahedra, state, _)| {
            (
                entity,
                ConsistentMass::new(particles, tetrahedra, state.topology_version),
            )
        })
        .collect();
    for (entity, factor) in factors {
        match factor {
            Some(factor) => {
                world.entity_mut(entity).insert(factor);
            }
            None => {
                warn_once!(
                    "the mass matrix of body {entity} is not positive definite; its lumped masses are used"
                );
                world.entity_mut(entity).remove::<ConsistentMass>();
            }
        }
    }
}

/// Advances all bodies by one accepted step, at most to the end of the tick, and sets the clock to it.
pub(super) fn step(world: &mut World, settings: StepSettings) -> Result {
    let mut bodies = world.query_filtered::<Body, Without<Quarantined>>();
    for (_, mut particles, mut stages, state, ..) in bodies.iter_mut(world) {
        let particles = &mut *particles;
        particles
            .start_positions
            .copy_from_slice(&particles.positions);
        stages.begin(particles, &state);
    }
    let clock = *world.resource::<PliantClock>();
    let start_time = clock.time;
    let remaining = clock.tick_dt * (1.0 - clock.start_fraction);
    let proposed = world.resource::<NextStep>().0;
    let largest = settings.largest_step.min(clock.tick_dt);
    let mut step = if proposed > 0.0 {
        proposed.min(largest)
    } else {
        largest
    };
    loop {
        // A sliver at the end of the tick would cost six evaluations for nothing: stretch or halve instead.
        let dt = if step >= remaining {
            remaining
        } else if 2.0 * step > remaining {
            0.5 * remaining
        } else {
            step
        };
        for stage in 0..STAGES {
            evaluate_stage(
                world,
                &mut bodies,
                stage,
                dt,
                start_time,
                clock,
                settings.mass,
            );
        }
        let error = measure_error(world, &mut bodies);
        let verdict = next_step(
            dt,
            error,
            settings.tolerance,
            settings.smallest_step,
            largest,
        );
        if verdict.accepted {
            let end_fraction = if dt >= remaining {
                1.0
            } else {
                clock.start_fraction + dt / clock.tick_dt
            };
            *world.resource_mut::<PliantClock>() = PliantClock {
                time: start_time + dt,
                dt,
                end_fraction,
                velocity_fraction: 1.0,
                ..clock
            };
            // The last step of a tick is cut short by the clock, not by the error: it must not shrink the next one.
            let next = if dt < step {
                verdict.next.max(step)
            } else {
                verdict.next
            };
            world.resource_mut::<NextStep>().0 = next;
            finish(world, &mut bodies, dt);
            return Ok(());
        }
        if !error.is_finite() && verdict.next <= settings.smallest_step {
            // No step is short enough: some body is broken, not the step. It must not take the others with it.
            world.run_system_cached(super::prepare::quarantine)?;
            step = largest;
        } else {
            step = verdict.next;
        }
    }
}

fn evaluate_stage(
    world: &mut World,
    bodies: &mut QueryState<Body, Without<Quarantined>>,
    stage: usize,
    dt: f64,
    start_time: f64,
    clock: PliantClock,
    mass: MassMatrix,
) {
    let fraction = clock.start_fraction + NODES[stage] * dt / clock.tick_dt;
    for (_, mut particles, stages, _, pins, _) in bodies.iter_mut(world) {
        let weights = &STAGE_WEIGHTS[stage][..stage];
        stages.blend(&mut particles, weights, dt);
        if let Some(pins) = pins {
            pins.place(&mut particles, fraction, clock.tick_dt);
        }
    }
    *world.resource_mut::<PliantClock>() = PliantClock {
        time: start_time + NODES[stage] * dt,
        dt,
        ..clock
    };
    world.run_schedule(PliantForces);
    for (_, particles, mut stages, state, _, factor) in bodies.iter_mut(world) {
        let stages = &mut *stages;
        stages.power[stage] = state.energies.dissipated_power;
        for (kept, velocity) in stages.velocities[stage]
            .iter_mut()
            .zip(&particles.velocities)
        {
            *kept = velocity.cast();
        }
        match factor.filter(|_| mass == MassMatrix::Consistent) {
            Some(mut factor) => factor.solve(&particles.forces, &mut stages.accelerations[stage]),
            None => lumped_accelerations(&particles, &mut stages.accelerations[stage]),
        }
    }
}

/// The largest error estimate of the step, per unit of time: positions relative to the size of their body, velocities
/// relative to its fastest motion. NaN when a body is not finite.
fn measure_error(world: &mut World, bodies: &mut QueryState<Body, Without<Quarantined>>) -> f64 {
    let mut worst: f64 = 0.0;
    for (_, _, stages, ..) in bodies.iter_mut(world) {
        let (size, speed) = stages.scales();
        for i in 0..stages.start_positions.len() {
            let position = stages.weighted(&stages.velocities, &ERROR_WEIGHTS, i);
            let velocity = stages.weighted(&stages.accelerations, &ERROR_WEIGHTS, i);
            let error = (position.amax() / size).max(velocity.amax() / speed);
            // `max` would drop a NaN.
            worst = if error > worst || error.is_nan() {
                error
            } else {
                worst
            };
        }
    }
    worst
}

fn finish(world: &mut World, bodies: &mut QueryState<Body, Without<Quarantined>>, dt: f64) {
    let clock = *world.resource::<PliantClock>();
    for (_, mut particles, stages, mut state, pins, _) in bodies.iter_mut(world) {
        stages.blend(&mut particles, &WEIGHTS, dt);
        if let Some(pins) = pins {
            pins.place(&mut particles, clock.end_fraction, clock.tick_dt);
        }
        let power: f64 = WEIGHTS
            .iter()
            .zip(&stages.power)
            .map(|(weight, power)| weight * power)
            .sum();
        state.energies.dissipated = stages.start_dissipated + dt * power;
    }
}

impl Stages {
    fn begin(&mut self, particles: &Particles, state: &PliantState) {
        let count = particles.len();
        let take = |from: &[Vector3<crate::Real>],
                    remainders: &[Vector3<crate::Real>],
                    to: &mut Vec<Vector3<f64>>| {
            to.clear();
            to.extend(
                from.iter()
                    .zip(remainders)
                    .map(|(v, r)| v.cast::<f64>() + r.cast::<f64>()),
            );
        };
        take(
            &particles.positions,
            &particles.position_remainders,
            &mut self.start_positions,
        );
        take(
            &particles.velocities,
            &particles.velocity_remainders,
            &mut self.start_velocities,
        );
        for stage in self.velocities.iter_mut().chain(&mut self.accelerations) {
            stage.resize(count, Vector3::zeros());
        }
        self.start_dissipated = state.energies.dissipated;
    }

    /// Sets the particles to the start plus the weighted stages, with what rounding drops beside it.
    fn blend(&self, particles: &mut Particles, weights: &[f64], dt: f64) {
        for i in 0..self.start_positions.len() {
            let position =
                self.start_positions[i] + self.weighted(&self.velocities, weights, i) * dt;
            let velocity =
                self.start_velocities[i] + self.weighted(&self.accelerations, weights, i) * dt;
            particles.positions[i] = to_real_vector(&position);
            particles.velocities[i] = to_real_vector(&velocity);
            particles.position_remainders[i] =
                to_real_vector(&(position - particles.positions[i].cast::<f64>()));
            particles.velocity_remainders[i] =
                to_real_vector(&(velocity - particles.velocities[i].cast::<f64>()));
        }
    }

    fn weighted(
        &self,
        stages: &[Vec<Vector3<f64>>; STAGES],
        weights: &[f64],
        i: usize,
    ) -> Vector3<f64> {
        weights
            .iter()
            .zip(stages)
            .fold(Vector3::zeros(), |sum, (weight, stage)| {
                sum + stage[i] * *weight
            })
    }

    /// Size of the body, m, and its fastest speed or the speed that it would cross itself with in a second, m/s.
    fn scales(&self) -> (f64, f64) {
        let (mut low, mut high) = (
            Vector3::repeat(f64::INFINITY),
            Vector3::repeat(f64::NEG_INFINITY),
        );
        let mut speed: f64 = 0.0;
        for (position, velocity) in self.start_positions.iter().zip(&self.start_velocities) {
            low = low.inf(position);
            high = high.sup(position);
            speed = speed.max(velocity.norm());
        }
        let size = (high - low).norm().max(1e-6);
        (size, speed.max(size))
    }
}
