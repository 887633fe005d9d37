//! The stages of a step, its acceptance, the monotone method, and the end of the step.

use nalgebra::Vector3;

use super::kinds::BodyElementsItem;
use super::momentum::{self, Momenta};
use super::solver::{Energy, ImplicitSolver, MatrixIs, Reference, Stage};
use super::{BodyItem, Settings, place_pins, take_given};
use crate::Real;
use crate::body::{Particles, PliantState};
use crate::kernel::implicit::Solution;
use crate::kernel::implicit::schemes::{
    DELTA, GAMMA, backward_differences, backward_euler, second_stage,
};
use crate::step::{ImplicitScheme, PliantClock};

/// Newton steps of the monotone method, and halvings of each.
const FALLBACK_STEPS: usize = 3;
const HALVINGS: usize = 10;

pub(super) fn first_stage(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    if body.1.are_sheets() {
        single_stage(body, clock, settings);
        body.2.is_done = true;
        return;
    }
    let (particles, elements, solver, state, pins, ..) = body;
    if solver.is_done {
        return;
    }
    let step = (GAMMA * clock.dt) as Real;
    approach_from_start(particles, solver, step);
    place_pins(particles, &mut solver.velocities, *pins, clock, GAMMA);
    let outcome = solve(
        particles,
        elements,
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

pub(super) fn last_stage(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, elements, solver, state, pins, ..) = body;
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
        elements,
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
    solver.leave(particles, elements, &energy.elements);
    finish(body, clock, Shares::RUNGE_KUTTA);
}

pub(super) fn single_stage(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, elements, solver, state, pins, ..) = body;
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
        elements,
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
    solver.leave(particles, elements, &energy.elements);
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
pub(super) fn approach_from_start(particles: &Particles, solver: &mut ImplicitSolver, step: Real) {
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
    elements: &BodyElementsItem,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    step: Real,
    weight: Option<Real>,
    settings: Settings,
    matrix_is: MatrixIs,
) -> Option<Energy> {
    let (solution, energy, before) = with_stage(
        particles,
        solver,
        step,
        weight,
        settings,
        |particles, solver, stage| {
            let solution = solver.newton_step(particles, elements, stage, matrix_is);
            let energy = solver.energy(particles, elements, stage);
            let before = solver.start_energy(particles, elements, stage);
            (solution, energy, before)
        },
    );
    note(state, &solution);
    let noise = noise(solver, before.elements.elastic);
    let accepted = !solution.is_indefinite
        && does_not_grow(&energy, &before, noise)
        && energy.elements.elastic <= supply(particles, solver, before.elements.elastic) + noise;
    accepted.then_some(energy)
}

/// Whether the incremental potential is not larger than at the start, up to rounding.
pub(super) fn does_not_grow(energy: &Energy, before: &Energy, noise: f64) -> bool {
    energy.incremental <= before.incremental + before.incremental.abs() * 1e-5 + noise
}

/// All that elastic energy can come from, J: what there was, kinetic energy at the start of the step, and the work of the
/// given forces and the wind since; and a hundredth more, for what the stages of second order may err by.
fn supply(particles: &Particles, solver: &ImplicitSolver, elastic: f64) -> f64 {
    // The energy of a filling may be negative.
    let (mut supply, mut size) = (elastic, elastic.abs());
    for i in 0..particles.len() {
        if particles.inverse_masses[i] > 0.0 {
            let mass = f64::from(particles.masses[i]);
            let kinetic = 0.5 * mass * f64::from(solver.start_velocities[i].norm_squared());
            let way = particles.positions[i] - particles.start_positions[i];
            let work = mass * f64::from(solver.given[0][i].dot(&way))
                + f64::from(solver.wind[i].dot(&way)).max(0.0);
            supply += kinetic + work;
            size += kinetic + work.abs();
        }
    }
    supply + 0.01 * size
}

/// Energy that is below the rounding of positions: strains of a few units in the last place, alone and times the stress
/// that is there.
pub(super) fn noise(solver: &ImplicitSolver, elastic: f64) -> f64 {
    let rounding = 4.0 * f64::from(Real::EPSILON);
    let stiffness = solver.stiffness();
    let own = stiffness * (4.0 * rounding).powi(2);
    own + (2.0 * stiffness * elastic.max(0.0)).sqrt() * rounding
}

pub(in crate::step) fn note(state: &mut PliantState, solution: &Solution) {
    let report = &mut state.solver;
    report.solves += 1;
    report.iterations += solution.iterations;
    report.residual = report.residual.max(solution.residual);
}

pub(super) fn account(state: &mut PliantState, energy: &Energy, dt: f64) {
    let power = energy.elements.dissipated_power + energy.drag_power;
    state.energies.dissipated_power = power;
    state.energies.dissipated += power * dt;
    state.smallest_volume_ratio = energy.elements.smallest_volume_ratio;
}

/// Repeats a step by backward Euler with a line search from the start: monotone, so always stable.
fn fall_back(body: &mut BodyItem, clock: &PliantClock, settings: Settings) {
    let (particles, elements, solver, state, pins, ..) = body;
    let (particles, solver) = (&mut **particles, &mut **solver);
    let step = clock.dt as Real;
    approach_from_start(particles, solver, step);
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    let energy = with_stage(
        particles,
        solver,
        step,
        None,
        settings,
        |particles, solver, stage| descend(particles, elements, solver, state, stage),
    );
    account(state, &energy, clock.dt);
    solver.leave(particles, elements, &energy.elements);
    solver.is_done = true;
    solver.history = 0.0;
    finish(body, clock, Shares::BACKWARD_EULER);
}

/// Runs `work` with a stage whose metric is that of the start positions, and of the other positions with a weight.
///
/// Meanwhile the start positions stand in the stage only: they are read while others are written.
pub(super) fn with_stage<Out>(
    particles: &mut Particles,
    solver: &mut ImplicitSolver,
    step: Real,
    weight: Option<Real>,
    settings: Settings,
    work: impl FnOnce(&mut Particles, &mut ImplicitSolver, &Stage) -> Out,
) -> Out {
    let start = std::mem::take(&mut particles.start_positions);
    let other = std::mem::take(&mut solver.other_positions);
    let stage = Stage {
        step,
        reference: Reference {
            first: &start,
            second: weight.map(|weight| (other.as_slice(), weight)),
        },
        limits: settings.limits,
        is_tangled: solver.is_tangled(),
    };
    let out = work(particles, solver, &stage);
    particles.start_positions = start;
    solver.other_positions = other;
    out
}

/// Newton's method with a line search, from the start of the step; its potential at the end.
pub(super) fn descend(
    particles: &mut Particles,
    elements: &BodyElementsItem,
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
    let mut best = solver.start_energy(particles, elements, stage);
    for _ in 0..FALLBACK_STEPS {
        match search(particles, elements, solver, state, stage, &best) {
            Some(energy) => best = energy,
            None => break,
        }
    }
    best
}

/// A Newton step from the current velocities, shortened until the potential is below `best`, which is that of the state
/// from which it starts; `None`, and no step, if there is no such length.
pub(super) fn search(
    particles: &mut Particles,
    elements: &BodyElementsItem,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    stage: &Stage,
    best: &Energy,
) -> Option<Energy> {
    let solution = solver.newton_step(particles, elements, stage, MatrixIs::New);
    note(state, &solution);
    let mut energy = solver.energy(particles, elements, stage);
    let mut fraction: Real = 1.0;
    for _ in 0..HALVINGS {
        if energy.incremental < best.incremental {
            break;
        }
        solver.advance(particles, stage.step, -0.5 * fraction);
        fraction *= 0.5;
        energy = solver.energy(particles, elements, stage);
    }
    if energy.incremental.is_nan() || energy.incremental >= best.incremental {
        solver.advance(particles, stage.step, -fraction);
        return None;
    }
    Some(energy)
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
    write_back(particles, solver, clock.dt);
    if let Some(wanted) = wanted {
        let error = momentum::correct(particles, &wanted);
        state.solver.momentum_error = state.solver.momentum_error.max(error);
    }
}

/// Velocities as solved for, and the force that the step amounted to, for contact.
pub(super) fn write_back(particles: &mut Particles, solver: &ImplicitSolver, dt: f64) {
    let inverse_dt = (1.0 / dt) as Real;
    for i in 0..particles.len() {
        if particles.inverse_masses[i] > 0.0 {
            particles.velocities[i] = solver.velocities[i];
        }
        particles.velocity_remainders[i] = Vector3::zeros();
        particles.position_remainders[i] = Vector3::zeros();
        particles.forces[i] = (particles.velocities[i] - solver.start_velocities[i])
            * (particles.masses[i] * inverse_dt);
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
        let air = solver.wind[i].cast::<f64>() - solver.drag[i].cast::<f64>() * speed;
        let impulse = (given * f64::from(particles.masses[i]) + air) * dt;
        change.linear += impulse;
        change.angular += (middle(i) - center).cross(&impulse);
    }
    solver.momentum_change = change;
    start + change
}
