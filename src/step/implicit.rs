//! Implicit integration: any stiffness at any step.
//!
//! ```text
//! given forces (weight, yours), drag coefficients      PliantForces
//! stage 1: one step of Newton's method                 Ψ must not grow, else the monotone method
//! given forces at the first stage                      PliantForces
//! stage 2: the same matrix, another right-hand side
//! momentum correction of free bodies
//! ```
//! The theory is in [`kernel::implicit`](crate::kernel::implicit). A result is accepted if the incremental potential is
//! not larger than at the start of the step, which bounds the elastic energy by that at the start plus the kinetic
//! energy. Otherwise the step is repeated by backward Euler, from the start, with a line search: that is monotone.

mod elements;
mod momentum;
mod solver;
mod tetrahedron;
mod touch;

use bevy::prelude::*;
use nalgebra::Vector3;

use self::momentum::Momenta;
pub(crate) use self::solver::ImplicitSolver;
use self::solver::{Energy, MatrixIs, Stage};
use self::tetrahedron::Reference;
use self::touch::Surroundings;
use super::collide::sweep::SweptCollider;
use super::threads::{Threads, for_each_body};
use super::{ImplicitScheme, PliantClock, PliantForces};
use crate::Real;
use crate::body::{
    AirDrag, Particles, Pins, PliantState, Quarantined, Surface, SurfaceProperties, Tetrahedra,
};
use crate::colliders::{Bounds, RigidColliders};
use crate::kernel::drag::WindFace;
use crate::kernel::implicit::conjugate_gradient::Limits;
use crate::kernel::implicit::schemes::{
    DELTA, GAMMA, backward_differences, backward_euler, second_stage,
};

/// Newton steps of the monotone method, and halvings of each.
const FALLBACK_STEPS: usize = 3;
const HALVINGS: usize = 10;

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

/// Empties what the force stages fill.
pub(super) fn clear(mut bodies: Query<&mut ImplicitSolver, Without<Quarantined>>) {
    for mut solver in &mut bodies {
        solver.drag.fill(0.0);
        solver.is_elastic = false;
    }
}

/// Elastic forces are part of the solve: the stage only says that it is on.
pub(super) fn switch_elasticity_on(mut bodies: Query<&mut ImplicitSolver, Without<Quarantined>>) {
    for mut solver in &mut bodies {
        solver.is_elastic = true;
    }
}

type Dragged = (
    &'static Particles,
    Option<&'static Surface>,
    &'static AirDrag,
    &'static mut ImplicitSolver,
);

/// Linear resistance of the air at the current speed.
pub(super) fn drag_coefficients(mut bodies: Query<Dragged, Without<Quarantined>>) {
    for (particles, surface, drag, mut solver) in &mut bodies {
        let coefficients = &mut solver.drag;
        for (coefficient, &mass) in coefficients.iter_mut().zip(&particles.masses) {
            *coefficient += drag.viscous_rate * mass;
        }
        if drag.coefficient * drag.fluid_density <= 0.0 {
            continue;
        }
        for triangle in surface.iter().flat_map(|surface| &surface.triangles) {
            let corners = triangle.map(|corner| corner as usize);
            let face: WindFace<Real> = super::forces::wind_face(particles, corners);
            let share = face.drag_rate(drag.coefficient, drag.fluid_density) / 3.0;
            for corner in corners {
                coefficients[corner] += share;
            }
        }
    }
}

type Body = (
    &'static mut Particles,
    Option<&'static mut Tetrahedra>,
    &'static mut ImplicitSolver,
    &'static mut PliantState,
    Option<&'static Pins>,
    Option<&'static Surface>,
    Option<&'static SurfaceProperties>,
);

/// All bodies that move.
pub(super) type Bodies = QueryState<Body, Without<Quarantined>>;

/// Bodies without a solver, and solvers with what they must fit.
pub(super) struct Solvers {
    unseen: QueryState<Entity, (With<Particles>, Without<ImplicitSolver>)>,
    seen: QueryState<(
        &'static Particles,
        Option<&'static Tetrahedra>,
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
    for (particles, tetrahedra, mut solver, mut state) in solvers.seen.iter_mut(world) {
        solver.fit(particles, tetrahedra, state.topology_version);
        state.solver = default();
    }
}

/// Advances all bodies by the substep that stands in the clock.
pub(super) fn step(world: &mut World, bodies: &mut Bodies, settings: Settings) {
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
        let energies = &state.energies;
        solver.start_dissipated = [energies.dissipated, energies.contact];
        // What touched in the last step goes into the solve from the start.
        solver.is_done = !solver.touches.is_empty();
        let touches = std::mem::take(&mut solver.touches);
        solver.set_freedoms(particles);
        solver.touches = touches;
    });
    match settings.scheme {
        ImplicitScheme::RungeKutta => {
            for_all(world, bodies, |body| first_stage(body, &clock, settings));
            *world.resource_mut::<PliantClock>() = PliantClock {
                time: clock.time + GAMMA * clock.dt,
                ..clock
            };
            world.run_schedule(PliantForces);
            for_all(world, bodies, |body| last_stage(body, &clock, settings));
        }
        ImplicitScheme::BackwardEuler | ImplicitScheme::BackwardDifferences => {
            for_all(world, bodies, |body| single_stage(body, &clock, settings));
        }
    }
    world.resource_scope(|world, rigid: Mut<RigidColliders>| {
        let swept: Vec<SweptCollider> = rigid
            .colliders
            .iter()
            .filter(|collider| collider.touches_soft_bodies() && collider.body.is_none())
            .map(|collider| {
                let (start, end) = (clock.start_fraction as Real, clock.end_fraction as Real);
                SweptCollider::new(collider, &rigid.bodies, start, end, clock.tick_dt as Real)
            })
            .collect();
        for_all(world, bodies, |body| meet(body, &clock, settings, &swept));
    });
    *world.resource_mut::<PliantClock>() = PliantClock {
        time: clock.time + clock.dt,
        velocity_fraction: 1.0,
        ..clock
    };
}

type BodyItem<'a> = (
    Mut<'a, Particles>,
    Option<Mut<'a, Tetrahedra>>,
    Mut<'a, ImplicitSolver>,
    Mut<'a, PliantState>,
    Option<&'a Pins>,
    Option<&'a Surface>,
    Option<&'a SurfaceProperties>,
);

/// Large bodies one after another, each shared between threads; the others side by side.
fn for_all(world: &mut World, bodies: &mut Bodies, work: impl Fn(&mut BodyItem) + Sync) {
    let size = |body: &BodyItem| body.1.as_ref().map_or(0, |tetrahedra| tetrahedra.len());
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

fn first_stage(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, tetrahedra, solver, state, pins, ..) = body;
    if solver.is_done {
        return;
    }
    let step = (GAMMA * clock.dt) as Real;
    approach_from_start(particles, solver, step);
    place_pins(particles, &mut solver.velocities, *pins, clock, GAMMA);
    let outcome = solve(
        particles,
        tetrahedra,
        solver,
        state,
        step,
        None,
        settings,
        MatrixIs::New,
    );
    let Some(energy) = outcome else {
        fall_back(body, clock, settings);
        return;
    };
    account(state, &energy, clock.dt * (1.0 - GAMMA));
    // What user forces look at, and what the second stage goes on from.
    particles.velocities.copy_from_slice(&solver.velocities);
    let solver = &mut **solver;
    solver.other_positions.copy_from_slice(&particles.positions);
    solver.other_velocities.copy_from_slice(&solver.velocities);
}

fn last_stage(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, tetrahedra, solver, state, pins, ..) = body;
    if solver.is_done {
        return;
    }
    let solver = &mut **solver;
    take_given(particles, &mut solver.given[1]);
    let (step, dt) = ((GAMMA * clock.dt) as Real, clock.dt as Real);
    for i in 0..particles.len() {
        let first = solver.other_velocities[i];
        solver.approach[i] = second_stage(
            (&particles.start_positions[i], &solver.start_velocities[i]),
            &first,
            (&solver.given[0][i], &solver.given[1][i]),
            dt,
        );
        // Newton starts from the velocity of the first stage. Going on with its acceleration would multiply what the
        // solver left of the fastest motions.
        solver.velocities[i] = first;
    }
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    let weight = ((1.0 - GAMMA) / GAMMA) as Real;
    let outcome = solve(
        particles,
        tetrahedra,
        solver,
        state,
        step,
        Some(weight),
        settings,
        MatrixIs::Same,
    );
    let Some(energy) = outcome else {
        fall_back(body, clock, settings);
        return;
    };
    account(state, &energy, clock.dt * GAMMA);
    finish(body, clock, Shares::RUNGE_KUTTA);
}

fn single_stage(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, tetrahedra, solver, state, pins, ..) = body;
    if solver.is_done {
        return;
    }
    let remembers = settings.scheme == ImplicitScheme::BackwardDifferences
        && (solver.history - clock.dt).abs() <= 1e-9 * clock.dt
        && solver.trial == particles.start_positions
        && solver.velocities == solver.start_velocities;
    let dt = clock.dt as Real;
    let step = if remembers { dt * (2.0 / 3.0) } else { dt };
    if remembers {
        for i in 0..particles.len() {
            let now = (&particles.start_positions[i], &solver.start_velocities[i]);
            let before = (&solver.other_positions[i], &solver.other_velocities[i]);
            let approach = backward_differences(now, before, &solver.given[0][i], dt);
            solver.approach[i] = approach;
            solver.velocities[i] = solver.start_velocities[i];
        }
    } else {
        approach_from_start(particles, solver, step);
    }
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    let weight = remembers.then_some(-1.0 / 3.0);
    let outcome = solve(
        particles,
        tetrahedra,
        solver,
        state,
        step,
        weight,
        settings,
        MatrixIs::New,
    );
    let Some(energy) = outcome else {
        fall_back(body, clock, settings);
        return;
    };
    account(state, &energy, clock.dt);
    let solver = &mut **solver;
    solver
        .other_positions
        .copy_from_slice(&particles.start_positions);
    solver
        .other_velocities
        .copy_from_slice(&solver.start_velocities);
    solver.history = clock.dt;
    let shares = if remembers {
        Shares::BACKWARD_DIFFERENCES
    } else {
        Shares::BACKWARD_EULER
    };
    finish(body, clock, shares);
    // Whoever moves the body before the next step also ends its history.
    let (particles, _, solver, ..) = body;
    let solver = &mut **solver;
    solver.trial.copy_from_slice(&particles.positions);
    solver.velocities.copy_from_slice(&particles.velocities);
}

/// The approach of a first stage, and where Newton's method starts.
fn approach_from_start(particles: &Particles, solver: &mut ImplicitSolver, step: Real) {
    for i in 0..particles.len() {
        let velocity = solver.start_velocities[i];
        solver.approach[i] = backward_euler(
            &particles.start_positions[i],
            &velocity,
            &solver.given[0][i],
            step,
        );
        solver.velocities[i] = velocity;
    }
}

/// One Newton step of a stage and its potential, if that is acceptable.
fn solve(
    particles: &mut Particles,
    tetrahedra: &mut Option<Mut<Tetrahedra>>,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    step: Real,
    weight: Option<Real>,
    settings: Settings,
    matrix_is: MatrixIs,
) -> Option<Energy> {
    // The reference positions are read while others are written.
    let start = std::mem::take(&mut particles.start_positions);
    let other = std::mem::take(&mut solver.other_positions);
    let stage = Stage {
        step,
        reference: Reference {
            first: &start,
            second: weight.map(|weight| (other.as_slice(), weight)),
        },
        limits: settings.limits,
    };
    let solution = solver.newton_step(particles, tetrahedra.as_deref_mut(), &stage, matrix_is);
    note(state, &solution);
    let energy = solver.energy(particles, tetrahedra.as_deref(), &stage);
    let before = solver.start_energy(particles, &start, tetrahedra.as_deref(), &stage);
    particles.start_positions = start;
    solver.other_positions = other;
    let noise = noise(tetrahedra.as_deref(), before.elements.elastic);
    let allowed = before.incremental * (1.0 + 1e-5) + noise;
    let accepted = !solution.is_indefinite
        && energy.incremental <= allowed
        && energy.elements.elastic <= supply(particles, solver, before.elements.elastic) + noise;
    accepted.then_some(energy)
}

/// All that elastic energy can come from, J: what there was, kinetic energy at the start of the step, and the work of the
/// given forces since; and a hundredth more, for what the stages of second order may err by.
fn supply(particles: &Particles, solver: &ImplicitSolver, elastic: f64) -> f64 {
    let (mut supply, mut size) = (elastic, elastic);
    for i in 0..particles.len() {
        if particles.inverse_masses[i] > 0.0 {
            let mass = f64::from(particles.masses[i]);
            let kinetic = 0.5 * mass * f64::from(solver.start_velocities[i].norm_squared());
            let way = particles.positions[i] - particles.start_positions[i];
            let work = mass * f64::from(solver.given[0][i].dot(&way));
            supply += kinetic + work;
            size += kinetic + work.abs();
        }
    }
    supply + 0.01 * size
}

/// Energy that is below the rounding of positions: strains of a few units in the last place, alone and times the stress
/// that is there.
fn noise(tetrahedra: Option<&Tetrahedra>, elastic: f64) -> f64 {
    tetrahedra.map_or(0.0, |tetrahedra| {
        let volume: f64 = tetrahedra
            .rest_volumes()
            .iter()
            .map(|&v| f64::from(v))
            .sum();
        let rounding = 4.0 * f64::from(Real::EPSILON);
        let moduli = tetrahedra.moduli::<f64>();
        let stiffness = volume * (moduli.bulk + moduli.shear);
        let own = stiffness * (4.0 * rounding).powi(2);
        own + (2.0 * stiffness * elastic.max(0.0)).sqrt() * rounding
    })
}

fn note(state: &mut PliantState, solution: &crate::kernel::implicit::Solution) {
    let report = &mut state.solver;
    report.solves += 1;
    report.iterations += solution.iterations;
    report.residual = report.residual.max(solution.residual);
}

fn account(state: &mut PliantState, energy: &Energy, dt: f64) {
    let power = energy.elements.dissipated_power + energy.drag_power;
    state.energies.dissipated_power = power;
    state.energies.dissipated += power * dt;
    state.smallest_volume_ratio = energy.elements.smallest_volume_ratio;
}

/// Repeats a step by backward Euler with a line search from the start: monotone, so always stable.
fn fall_back(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, tetrahedra, solver, state, pins, ..) = body;
    let (particles, solver) = (&mut **particles, &mut **solver);
    let step = clock.dt as Real;
    approach_from_start(particles, solver, step);
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    let energy = with_stage(
        particles,
        solver,
        step,
        settings,
        |particles, solver, stage| descend(particles, tetrahedra, solver, state, stage),
    );
    account(state, &energy, clock.dt);
    solver.is_done = true;
    solver.history = 0.0;
    finish(body, clock, Shares::BACKWARD_EULER);
}

/// Runs `work` with a stage of backward Euler, whose metric is that of the start positions.
fn with_stage<Out>(
    particles: &mut Particles,
    solver: &mut ImplicitSolver,
    step: Real,
    settings: Settings,
    work: impl FnOnce(&mut Particles, &mut ImplicitSolver, &Stage) -> Out,
) -> Out {
    let start = std::mem::take(&mut particles.start_positions);
    let stage = Stage {
        step,
        reference: Reference {
            first: &start,
            second: None,
        },
        limits: settings.limits,
    };
    let out = work(particles, solver, &stage);
    particles.start_positions = start;
    out
}

/// Newton's method with a line search, from the start of the step; its potential at the end.
fn descend(
    particles: &mut Particles,
    tetrahedra: &mut Option<Mut<Tetrahedra>>,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    stage: &Stage,
) -> Energy {
    state.solver.fallbacks += 1;
    let start = stage.reference.first;
    for i in 0..particles.len() {
        if particles.inverse_masses[i] > 0.0 {
            solver.velocities[i] = Vector3::zeros();
            particles.positions[i] = start[i];
        }
    }
    let mut best = solver.start_energy(particles, start, tetrahedra.as_deref(), stage);
    for _ in 0..FALLBACK_STEPS {
        let solution =
            solver.newton_step(particles, tetrahedra.as_deref_mut(), stage, MatrixIs::New);
        note(state, &solution);
        let mut energy = solver.energy(particles, tetrahedra.as_deref(), stage);
        let mut fraction: Real = 1.0;
        for _ in 0..HALVINGS {
            if energy.incremental < best.incremental {
                break;
            }
            solver.advance(particles, stage.step, -0.5 * fraction);
            fraction *= 0.5;
            energy = solver.energy(particles, tetrahedra.as_deref(), stage);
        }
        if energy.incremental.is_nan() || energy.incremental >= best.incremental {
            solver.advance(particles, stage.step, -fraction);
            break;
        }
        best = energy;
    }
    best
}

/// Solves of a step with contact, at most.
const ROUNDS: usize = 6;

/// Looks whether a body has met fixed or kinematic colliders, and if so repeats its step with them.
fn meet(body: &mut BodyItem, clock: &PliantClock, settings: Settings, swept: &[SweptCollider]) {
    let (particles, tetrahedra, solver, state, pins, surface, properties) = body;
    let (particles, solver) = (&mut **particles, &mut **solver);
    if solver.touches.is_empty() && swept.is_empty() {
        return;
    }
    let properties = properties.copied().unwrap_or_default();
    let touching = surface.map(Surface::particles);
    let mut bounds = Bounds::empty();
    for_touching(touching, particles.len(), |i| {
        bounds.include(&particles.start_positions[i]);
        bounds.include(&particles.positions[i]);
    });
    // Along a carried contact the positions are still those of the start.
    let travel = solver
        .start_velocities
        .iter()
        .fold(0.0, |most: Real, v| most.max(v.amax()));
    let bounds = bounds.inflated(properties.thickness * 2.0 + travel * clock.dt as Real);
    let mut candidates = std::mem::take(&mut solver.candidates);
    candidates.clear();
    candidates.extend((0..swept.len()).filter(|&index| swept[index].bounds.overlaps(&bounds)));
    if candidates.is_empty() && solver.touches.is_empty() {
        return;
    }
    let surroundings = Surroundings {
        swept,
        candidates: &candidates,
        properties,
        dt: clock.dt as Real,
    };
    let had_touches = !solver.touches.is_empty();
    solver
        .touches
        .retain_mut(|touch| match surroundings.carry(touch, particles) {
            Some(carried) => {
                *touch = carried;
                true
            }
            None => false,
        });
    let start = &particles.start_positions;
    if !had_touches && !join(particles, start, solver, touching, &surroundings) {
        return;
    }
    let step = clock.dt as Real;
    [state.energies.dissipated, state.energies.contact] = solver.start_dissipated;
    approach_from_start(particles, solver, step);
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    solver.history = 0.0;
    let energy = with_stage(
        particles,
        solver,
        step,
        settings,
        |particles, solver, stage| {
            let mut matrix_is = MatrixIs::New;
            for round in 0..ROUNDS {
                solver.set_freedoms(particles);
                let solution =
                    solver.newton_step(particles, tetrahedra.as_deref_mut(), stage, matrix_is);
                note(state, &solution);
                let start = stage.reference.first;
                let changed = judge(particles, tetrahedra, solver, stage)
                    | join(particles, start, solver, touching, &surroundings);
                if !changed || round + 1 == ROUNDS {
                    break;
                }
                matrix_is = MatrixIs::Constrained;
            }
            let energy = solver.energy(particles, tetrahedra.as_deref(), stage);
            let before = solver.start_energy(
                particles,
                stage.reference.first,
                tetrahedra.as_deref(),
                stage,
            );
            let allowed = before.incremental * (1.0 + 1e-5)
                + noise(tetrahedra.as_deref(), before.elements.elastic);
            if energy.incremental <= allowed {
                energy
            } else {
                solver.set_freedoms(particles);
                descend(particles, tetrahedra, solver, state, stage)
            }
        },
    );
    account(state, &energy, clock.dt);
    conclude(particles, tetrahedra, solver, state, clock);
    solver.candidates = candidates;
    solver.is_done = true;
}

/// Calls `work` with every particle that can touch.
fn for_touching(touching: Option<&[u32]>, count: usize, mut work: impl FnMut(usize)) {
    match touching {
        Some(particles) => particles
            .iter()
            .for_each(|&particle| work(particle as usize)),
        None => (0..count).for_each(work),
    }
}

/// Adds the particles that the candidate state drives into a collider; whether there are any.
fn join(
    particles: &Particles,
    start: &[Vector3<Real>],
    solver: &mut ImplicitSolver,
    touching: Option<&[u32]>,
    surroundings: &Surroundings,
) -> bool {
    let before = solver.touches.len();
    for_touching(touching, particles.len(), |particle| {
        let known = &solver.touches[..before];
        let is_known = known.binary_search_by_key(&particle, |touch| touch.particle);
        if particles.inverse_masses[particle] == 0.0 || is_known.is_ok() {
            return;
        }
        let incoming = solver.start_velocities[particle];
        let (from, to) = (start[particle], particles.positions[particle]);
        if let Some(touch) = surroundings.find(particle, from, to, &incoming) {
            solver.touches.push(touch);
        }
    });
    let has_more = solver.touches.len() > before;
    solver.touches.sort_unstable_by_key(|touch| touch.particle);
    has_more
}

/// Applies Coulomb's law to all contacts; whether any of them may now do something else.
fn judge(
    particles: &Particles,
    tetrahedra: &mut Option<Mut<Tetrahedra>>,
    solver: &mut ImplicitSolver,
    stage: &Stage,
) -> bool {
    solver.evaluate(particles, tetrahedra.as_deref_mut(), stage);
    let mut touches = std::mem::take(&mut solver.touches);
    let mut changed = false;
    touches.retain_mut(|touch| {
        let force = solver.holding_force(touch, particles, tetrahedra.as_deref(), stage.step);
        let velocity = solver.velocities[touch.particle];
        let mobility = stage.step * particles.inverse_masses[touch.particle];
        let verdict = touch.judge(&force, &velocity, mobility);
        changed |= verdict.unwrap_or(true);
        verdict.is_some()
    });
    solver.touches = touches;
    changed
}

/// Writes the result of a step with contact to the particles, and what contact took from them to the account.
fn conclude(
    particles: &mut Particles,
    tetrahedra: &Option<Mut<Tetrahedra>>,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    clock: &PliantClock,
) {
    let (step, inverse_dt) = (clock.dt as Real, (1.0 / clock.dt) as Real);
    let mut lost = 0.0;
    for touch in &solver.touches {
        let force = solver.holding_force(touch, particles, tetrahedra.as_deref(), step);
        let relative = solver.velocities[touch.particle] - touch.surface_velocity;
        lost -= f64::from(force.dot(&relative)) * clock.dt;
    }
    for touch in &solver.touches {
        // A particle that met the surface on the way has its velocity, not the mean of its way.
        let velocity = &mut solver.velocities[touch.particle];
        let missing = (touch.surface_velocity - *velocity).dot(&touch.normal) + touch.rebound;
        *velocity += touch.normal * missing;
    }
    state.contacts = solver.touches.len() as u32;
    state.energies.contact += lost;
    state.energies.dissipated += lost;
    for i in 0..particles.len() {
        if particles.inverse_masses[i] > 0.0 {
            particles.velocities[i] = solver.velocities[i];
        }
        particles.velocity_remainders[i] = Vector3::zeros();
        particles.position_remainders[i] = Vector3::zeros();
        particles.forces[i] = (particles.velocities[i] - solver.start_velocities[i])
            * (particles.masses[i] * inverse_dt);
    }
    solver.touches.retain(|touch| touch.rebound == 0.0);
}

/// What the momentum of a free body changes by in a step of a scheme: shares of impulses over the whole step.
#[derive(Clone, Copy)]
struct Shares {
    /// Of the given forces at the start and at the first stage.
    given: [f64; 2],
    /// Of the resistance of the air at the speeds in `other_velocities` and in `velocities`.
    drag: [f64; 2],
    /// Of the change over the last step.
    before: f64,
}

impl Shares {
    const BACKWARD_EULER: Self = Self {
        given: [1.0, 0.0],
        drag: [0.0, 1.0],
        before: 0.0,
    };
    const BACKWARD_DIFFERENCES: Self = Self {
        given: [2.0 / 3.0, 0.0],
        drag: [0.0, 2.0 / 3.0],
        before: 1.0 / 3.0,
    };
    const RUNGE_KUTTA: Self = Self {
        given: [DELTA, 1.0 - DELTA],
        drag: [1.0 - GAMMA, GAMMA],
        before: 0.0,
    };
}

/// Writes the result of a step to the particles, with momentum as it should be.
fn finish(body: &mut BodyItem, clock: &PliantClock, shares: Shares) {
    let (particles, _, solver, state, ..) = body;
    let (particles, solver) = (&mut **particles, &mut **solver);
    let is_free = particles
        .inverse_masses
        .iter()
        .all(|&inverse| inverse > 0.0);
    let wanted = is_free.then(|| wanted_momenta(particles, solver, clock.dt, shares));
    let inverse_dt = (1.0 / clock.dt) as Real;
    for i in 0..particles.len() {
        if particles.inverse_masses[i] > 0.0 {
            particles.velocities[i] = solver.velocities[i];
            particles.velocity_remainders[i] = Vector3::zeros();
        }
        particles.position_remainders[i] = Vector3::zeros();
        // What the step amounted to, for contact.
        particles.forces[i] = (particles.velocities[i] - solver.start_velocities[i])
            * (particles.masses[i] * inverse_dt);
    }
    if let Some(wanted) = wanted {
        let error = momentum::correct(particles, &wanted);
        state.solver.momentum_error = state.solver.momentum_error.max(error);
    }
}

/// Momenta at the start of the step and what the given forces and the air added to them.
fn wanted_momenta(
    particles: &Particles,
    solver: &mut ImplicitSolver,
    dt: f64,
    shares: Shares,
) -> Momenta {
    let start = Momenta::of(
        &particles.masses,
        &particles.start_positions,
        &solver.start_velocities,
        &particles.velocity_remainders,
    );
    let middle = |i: usize| {
        (particles.start_positions[i].cast::<f64>() + particles.positions[i].cast::<f64>()) * 0.5
    };
    let mass = particles.total_mass();
    let center = (0..particles.len()).fold(Vector3::zeros(), |sum, i| {
        sum + middle(i) * f64::from(particles.masses[i])
    }) / mass;
    let mut change = solver.momentum_change * shares.before;
    for i in 0..particles.len() {
        let given = solver.given[0][i].cast::<f64>() * shares.given[0]
            + solver.given[1][i].cast::<f64>() * shares.given[1];
        let speed = solver.other_velocities[i].cast::<f64>() * shares.drag[0]
            + solver.velocities[i].cast::<f64>() * shares.drag[1];
        let drag = speed * f64::from(solver.drag[i]);
        let impulse = (given * f64::from(particles.masses[i]) - drag) * dt;
        change.linear += impulse;
        change.angular += (middle(i) - center).cross(&impulse);
    }
    solver.momentum_change = change;
    start + change
}
