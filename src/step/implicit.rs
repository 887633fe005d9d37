//! Implicit integration: any stiffness at any step.
//!
//! ```text
//! given forces (weight, yours), resistance of the air  PliantForces
//! stage 1: one step of Newton's method                 Ψ must not grow, else the monotone method
//! given forces at the first stage                      PliantForces
//! stage 2: the same matrix, another right-hand side
//! momentum correction of free bodies
//! ```
//! Sheets and ropes take one stage of backward Euler.
//!
//! The theory is in [`kernel::implicit`](crate::kernel::implicit). A result is accepted if the incremental potential is
//! not larger than at the start of the step, which bounds the elastic energy of backward Euler by that at the start plus
//! the kinetic energy and the work of the given forces. The later stages of the other schemes start from elsewhere, so they
//! must meet that bound as well, to a hundredth. Otherwise the step is repeated by backward Euler, from the start, with a
//! line search: that is monotone.
//!
//! The nearer Poisson's ratio is to 1/2, the more states a tangled mesh has that are minima of its energy besides the rest
//! shape: elements folded through each other without being inverted. So a body with an inverted element takes its steps
//! with a smaller bulk modulus until it has unfolded (`tetrahedron`).

mod damping;
pub(super) mod elements;
mod hinge;
mod island;
mod kinds;
mod meet;
mod membrane;
mod momentum;
mod solver;
mod spring;
mod stages;
mod system;
mod tetrahedron;
mod touch;

use bevy::prelude::*;
use nalgebra::{Matrix3, Vector3};

pub(super) use self::kinds::{BodyElements, BodyElementsItem};
pub(super) use self::momentum::{Momenta, RigidMotion, correct as correct_momenta};
pub(crate) use self::solver::ImplicitSolver;
pub(super) use self::stages::note;
use super::collide::over_substep;
use super::collide::sweep::SweptCollider;
use super::contact;
use super::threads::{Threads, for_each_body};
use super::{ImplicitScheme, PliantClock, PliantForces};
use crate::Real;
use crate::body::{Particles, Pins, PliantState, Quarantined, Surface, SurfaceProperties};
use crate::colliders::RigidColliders;
use crate::kernel::implicit::conjugate_gradient::Limits;
use crate::kernel::implicit::schemes::GAMMA;

/// Settings of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub scheme: ImplicitScheme,
    pub limits: Limits,
}

/// Whether the integrator is implicit.
pub(super) fn is_implicit(integrator: Res<super::Integrator>) -> bool {
    matches!(*integrator, super::Integrator::Implicit { .. })
}

/// Whether anything is integrated implicitly, so that coefficients are asked for.
pub(super) fn is_solver_used(integrator: Res<super::Integrator>) -> bool {
    use super::Integrator::{Implicit, Mixed};
    matches!(*integrator, Implicit { .. } | Mixed { .. })
}

/// Empties what the force stages fill.
pub(super) fn clear(mut bodies: Query<&mut ImplicitSolver, Without<Quarantined>>) {
    for mut solver in &mut bodies {
        solver.drag.fill(Matrix3::zeros());
        solver.wind.fill(Vector3::zeros());
        solver.is_elastic = false;
    }
}

/// Elastic forces are part of the solve: the stage only says that it is on.
pub(super) fn switch_elasticity_on(mut bodies: Query<&mut ImplicitSolver, Without<Quarantined>>) {
    for mut solver in &mut bodies {
        solver.is_elastic = true;
    }
}

type Body = (
    &'static mut Particles,
    BodyElements,
    &'static mut ImplicitSolver,
    &'static mut PliantState,
    Option<&'static Pins>,
    Option<&'static Surface>,
    Option<&'static SurfaceProperties>,
    Entity,
);

/// All bodies that move.
pub(super) type Bodies = QueryState<Body, Without<Quarantined>>;

/// Bodies without a solver, and solvers with what they must fit.
pub(super) struct Solvers {
    unseen: QueryState<Entity, (With<Particles>, Without<ImplicitSolver>)>,
    seen: QueryState<(
        &'static Particles,
        BodyElements,
        &'static mut ImplicitSolver,
        &'static mut PliantState,
    )>,
}

impl FromWorld for Solvers {
    fn from_world(world: &mut World) -> Self {
        Self {
            unseen: world.query_filtered(),
            seen: world.query(),
        }
    }
}

/// Gives every body a solver that fits it.
pub(super) fn prepare(world: &mut World, solvers: &mut Solvers) {
    let unseen: Vec<Entity> = solvers.unseen.iter(world).collect();
    for entity in unseen {
        world.entity_mut(entity).insert(ImplicitSolver::default());
    }
    for (particles, elements, mut solver, mut state) in solvers.seen.iter_mut(world) {
        solver.fit(particles, &elements, state.topology_version);
        state.solver = default();
    }
}

/// Advances all bodies by the substep that stands in the clock.
pub(super) fn step(
    world: &mut World,
    bodies: &mut Bodies,
    touching: &mut contact::TouchingBodies,
    settings: Settings,
) {
    let clock = *world.resource::<PliantClock>();
    world.run_schedule(PliantForces);
    for_all(world, bodies, |(particles, _, solver, state, ..)| {
        let particles = &mut **particles;
        particles
            .start_positions
            .copy_from_slice(&particles.positions);
        solver
            .start_velocities
            .copy_from_slice(&particles.velocities);
        take_given(particles, &mut solver.given[0]);
        solver.watch(state.smallest_volume_ratio);
        let energies = &state.energies;
        solver.start_dissipated = [energies.dissipated, energies.contact];
        // What touched in the last step goes into the solve from the start.
        solver.is_done = !solver.touches.is_empty();
        let touches = std::mem::take(&mut solver.touches);
        solver.set_freedoms(particles);
        solver.touches = touches;
        solver.island = None;
    });
    contact::begin(world, touching, &clock);
    match settings.scheme {
        ImplicitScheme::RungeKutta => {
            for_all(world, bodies, |body| {
                stages::first_stage(body, &clock, settings);
            });
            // A world of sheets is through already, and the wind is dear.
            if bodies.iter(world).any(|body| !body.2.is_done) {
                *world.resource_mut::<PliantClock>() = PliantClock {
                    time: clock.time + GAMMA * clock.dt,
                    ..clock
                };
                world.run_schedule(PliantForces);
                for_all(world, bodies, |body| {
                    stages::last_stage(body, &clock, settings);
                });
            }
        }
        ImplicitScheme::BackwardEuler | ImplicitScheme::BackwardDifferences => {
            for_all(world, bodies, |body| {
                stages::single_stage(body, &clock, settings);
            });
        }
    }
    world.resource_scope(|world, rigid: Mut<RigidColliders>| {
        let swept: Vec<SweptCollider> = over_substep(&rigid.colliders, &rigid.bodies, &clock)
            .filter(|swept| swept.collider.body.is_none())
            .collect();
        for_all(world, bodies, |body| {
            meet::meet(body, &clock, settings, &swept);
        });
        island::solve_all(world, bodies, &clock, settings, &swept);
    });
    *world.resource_mut::<PliantClock>() = PliantClock {
        time: clock.time + clock.dt,
        velocity_fraction: 1.0,
        ..clock
    };
}

type BodyItem<'a> = (
    Mut<'a, Particles>,
    BodyElementsItem<'a, 'a>,
    Mut<'a, ImplicitSolver>,
    Mut<'a, PliantState>,
    Option<&'a Pins>,
    Option<&'a Surface>,
    Option<&'a SurfaceProperties>,
    Entity,
);

/// Large bodies one after another, each shared between threads; the others side by side.
fn for_all(world: &mut World, bodies: &mut Bodies, work: impl Fn(&mut BodyItem) + Sync) {
    let size = |body: &BodyItem| body.1.len();
    let is_small = |body: &BodyItem| !Threads::are_worth(size(body));
    // A solve is about a hundred times as much work per element as a force.
    let (mut count, mut amount) = (0, 0);
    for mut body in bodies.iter_mut(world) {
        if is_small(&body) {
            count += 1;
            amount += 100 * size(&body);
        } else {
            work(&mut body);
        }
    }
    let small = bodies.iter_mut(world).filter(is_small);
    if count > 1 && Threads::for_work(amount).are_several() {
        for_each_body(small.collect(), |body| 100 * size(body), work);
    } else {
        small.for_each(|mut body| work(&mut body));
    }
}

/// Accelerations by the forces that are taken as given.
fn take_given(particles: &Particles, given: &mut [Vector3<Real>]) {
    for (given, (force, &inverse_mass)) in given
        .iter_mut()
        .zip(particles.forces.iter().zip(&particles.inverse_masses))
    {
        *given = force * inverse_mass;
    }
}

/// Puts the pinned particles where they are at a fraction of the substep.
fn place_pins(
    particles: &mut Particles,
    velocities: &mut [Vector3<Real>],
    pins: Option<&Pins>,
    clock: &PliantClock,
    fraction: f64,
) {
    if let Some(pins) = pins {
        let fraction =
            clock.start_fraction + (clock.end_fraction - clock.start_fraction) * fraction;
        pins.place(particles, fraction, clock.tick_dt);
    }
    for i in 0..particles.len() {
        if particles.inverse_masses[i] == 0.0 {
            velocities[i] = particles.velocities[i];
        }
    }
}
