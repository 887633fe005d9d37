//! Steps in which a body touches fixed or kinematic colliders.

use nalgebra::Vector3;

use super::kinds::BodyElementsItem;
use super::solver::{Energy, ImplicitSolver, MatrixIs, Stage};
use super::stages::{
    account, approach_from_start, descend, does_not_grow, noise, note, search, with_stage,
    write_back,
};
use super::touch::Surroundings;
use super::{BodyItem, Settings, place_pins};
use crate::Real;
use crate::body::{Particles, PliantState, Surface, SurfaceProperties};
use crate::colliders::Bounds;
use crate::step::PliantClock;
use crate::step::collide::sweep::SweptCollider;

/// Solves of a step with contact, at most; those of a sheet are dearer, and its contacts settle over the steps.
const ROUNDS: usize = 6;
const SHEET_ROUNDS: usize = 4;

/// Looks whether a body has met fixed or kinematic colliders, and if so repeats its step with them.
pub(super) fn meet(
    body: &mut BodyItem,
    clock: &PliantClock,
    settings: Settings,
    swept: &[SweptCollider],
) {
    let (particles, elements, solver, state, pins, surface, properties, _) = body;
    let (particles, solver) = (&mut **particles, &mut **solver);
    if solver.island.is_some() || (solver.touches.is_empty() && swept.is_empty()) {
        return;
    }
    let properties = properties.copied().unwrap_or_default();
    let touching = surface.map(Surface::particles);
    let candidates = find_colliders(particles, solver, touching, &properties, clock, swept);
    if candidates.is_empty() && solver.touches.is_empty() {
        solver.candidates = candidates;
        return;
    }
    let surroundings = Surroundings {
        swept,
        candidates: &candidates,
        properties,
        dt: clock.dt as Real,
    };
    let had_touches = !solver.touches.is_empty();
    carry(particles, solver, &surroundings);
    let start = &particles.start_positions;
    if !had_touches && !join(particles, start, solver, touching, &surroundings) {
        solver.candidates = candidates;
        return;
    }
    let step = clock.dt as Real;
    [state.energies.dissipated, state.energies.contact] = solver.start_dissipated;
    if elements.are_sheets() {
        start_of_sheet(particles, solver, step, had_touches);
    } else {
        approach_from_start(particles, solver, step);
    }
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    solver.history = 0.0;
    let energy = with_stage(
        particles,
        solver,
        step,
        None,
        settings,
        |particles, solver, stage| {
            if elements.are_sheets() {
                return meet_sheet(
                    particles,
                    elements,
                    solver,
                    state,
                    stage,
                    touching,
                    &surroundings,
                );
            }
            let mut matrix_is = MatrixIs::New;
            for round in 0..ROUNDS {
                solver.set_freedoms(particles);
                let solution = solver.newton_step(particles, elements, stage, matrix_is);
                note(state, &solution);
                let start = stage.reference.first;
                let changed = judge(particles, elements, solver, stage)
                    | join(particles, start, solver, touching, &surroundings);
                if !changed || round + 1 == ROUNDS {
                    break;
                }
                matrix_is = MatrixIs::Constrained;
            }
            let energy = solver.energy(particles, elements, stage);
            let before = solver.start_energy(particles, elements, stage);
            let noise = noise(solver, before.elements.elastic);
            if does_not_grow(&energy, &before, noise) {
                energy
            } else {
                solver.set_freedoms(particles);
                descend(particles, elements, solver, state, stage)
            }
        },
    );
    account(state, &energy, clock.dt);
    solver.leave(particles, elements, &energy.elements);
    conclude(particles, elements, solver, state, clock);
    solver.candidates = candidates;
    solver.is_done = true;
}

/// The colliders that a body may touch in the step; the list is the solver's own, to be given back.
pub(super) fn find_colliders(
    particles: &Particles,
    solver: &mut ImplicitSolver,
    touching: Option<&[u32]>,
    properties: &SurfaceProperties,
    clock: &PliantClock,
    swept: &[SweptCollider],
) -> Vec<usize> {
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
    candidates
}

/// Takes the touches of the last step over into this one, as far as they last.
pub(super) fn carry(
    particles: &Particles,
    solver: &mut ImplicitSolver,
    surroundings: &Surroundings,
) {
    solver
        .touches
        .retain_mut(|touch| match surroundings.carry(touch, particles) {
            Some(carried) => {
                *touch = carried;
                true
            }
            None => false,
        });
}

/// The approach of a sheet, and where Newton's method starts: at the free solution, or else at the start of the step. Going
/// on with its velocities, only the particles that touch would stay behind, and stretch it.
fn start_of_sheet(
    particles: &Particles,
    solver: &mut ImplicitSolver,
    step: Real,
    is_at_start: bool,
) {
    let mut velocities = std::mem::take(&mut solver.trial);
    velocities.copy_from_slice(&solver.velocities);
    approach_from_start(particles, solver, step);
    if is_at_start {
        velocities.fill(Vector3::zeros());
    }
    solver.velocities.copy_from_slice(&velocities);
    solver.trial = velocities;
}

/// The rounds of a sheet. It turns so far in a step that the stiffness of one round is of no use to the next, and that a
/// whole Newton step may overshoot; from a state that has grown the forces on contacts would only lead further off.
fn meet_sheet(
    particles: &mut Particles,
    elements: &BodyElementsItem,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    stage: &Stage,
    touching: Option<&[u32]>,
    surroundings: &Surroundings,
) -> Energy {
    let mut round = 0;
    loop {
        solver.set_freedoms(particles);
        solver.place(particles, stage.step);
        let before = solver.energy(particles, elements, stage);
        let energy = search(particles, elements, solver, state, stage, &before);
        round += 1;
        let start = stage.reference.first;
        let changed = judge(particles, elements, solver, stage)
            | join(particles, start, solver, touching, surroundings);
        if !changed || round == SHEET_ROUNDS {
            return energy.unwrap_or(before);
        }
    }
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
pub(super) fn join(
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
pub(super) fn judge(
    particles: &Particles,
    elements: &BodyElementsItem,
    solver: &mut ImplicitSolver,
    stage: &Stage,
) -> bool {
    solver.evaluate(particles, elements, stage);
    let mut touches = std::mem::take(&mut solver.touches);
    let mut changed = false;
    touches.retain_mut(|touch| {
        let force = solver.holding_force(touch, particles, elements, stage.step);
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
pub(super) fn conclude(
    particles: &mut Particles,
    elements: &BodyElementsItem,
    solver: &mut ImplicitSolver,
    state: &mut PliantState,
    clock: &PliantClock,
) {
    let step = clock.dt as Real;
    let mut lost = 0.0;
    for touch in &solver.touches {
        let force = solver.holding_force(touch, particles, elements, step);
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
    write_back(particles, solver, clock.dt);
    solver.touches.retain(|touch| touch.rebound == 0.0);
}
