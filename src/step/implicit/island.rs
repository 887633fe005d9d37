//! Bodies that touch each other: one step of backward Euler for all of an island.
//!
//! ```text
//! Ψ(x) = Σ Ψ_body(x) + Σ E(d) + Σ D(u)        bodies, repulsion, friction
//! ```
//! by Newton's method with a line search, from the positions at the start, where no surface is in another. Each step solves the
//! systems of all bodies and the contacts between them together. Contacts with colliders are held as in `meet`.

use nalgebra::Vector3;

use super::meet::{carry, conclude, find_colliders, join, judge};
use super::momentum;
use super::solver::{Energy, ImplicitSolver, MatrixIs, Reference, Stage};
use super::stages::{account, approach_from_start, note};
use super::touch::Surroundings;
use super::{Bodies, BodyItem, Settings, place_pins};
use crate::Real;
use crate::body::{Surface, SurfaceProperties};
use crate::kernel::implicit::{Link, Member, Solution, solve_coupled};
use crate::step::PliantClock;
use crate::step::collide::sweep::SweptCollider;
use crate::step::contact::{Contact, ContactStage, narrowed};
use crate::step::threads::{Threads, for_each_body};
use bevy::prelude::*;

/// Newton steps at most, and halvings of each.
const ROUNDS: usize = 5;
const HALVINGS: usize = 6;

/// Newton steps after which contacts with colliders that still change are left to the stage that follows.
const CHANGES: usize = 3;

/// Fall of the potential in a Newton step, relative to that in all steps so far, from which no further one is needed.
const SETTLED: f64 = 0.1;

/// Error of the linear model's fall of the potential from which the step counts as linear.
const LINEAR: f64 = 0.1;

/// Solves all islands of the world.
pub(super) fn solve_all(
    world: &mut World,
    bodies: &mut Bodies,
    clock: &PliantClock,
    settings: Settings,
    swept: &[SweptCollider],
) {
    let mut stage = world.resource_mut::<ContactStage>();
    let (contacts, islands) = (
        std::mem::take(&mut stage.contacts),
        std::mem::take(&mut stage.islands),
    );
    if !contacts.is_empty() {
        let mut members: Vec<BodyItem> = bodies
            .iter_mut(world)
            .filter(|body| body.2.island.is_some())
            .collect();
        members.sort_by_key(|body| (body.2.island, body.7));
        let mut rest = contacts.as_slice();
        let mut tasks = Vec::new();
        let mut numbers = islands.chunk_by(|a, b| a == b);
        for members in members.chunk_by_mut(|a, b| a.2.island == b.2.island) {
            let count = numbers.next().map_or(0, <[u32]>::len);
            let (own, after) = rest.split_at(count);
            rest = after;
            tasks.push((members, own));
        }
        let size = |(members, _): &(&mut [BodyItem], &[Contact])| {
            members.iter().map(|body| 100 * body.1.len()).sum()
        };
        for_each_body(tasks, size, |(members, contacts)| {
            solve(members, contacts, clock, settings, swept);
        });
    }
    let mut stage = world.resource_mut::<ContactStage>();
    (stage.contacts, stage.islands) = (contacts, islands);
}

/// The colliders around a member.
struct Around {
    candidates: Vec<usize>,
    properties: SurfaceProperties,
}

/// All energies of an island.
struct Energies {
    members: Vec<Energy>,
    incremental: f64,
}

fn solve(
    members: &mut [BodyItem],
    contacts: &[Contact],
    clock: &PliantClock,
    settings: Settings,
    swept: &[SweptCollider],
) {
    let step = clock.dt as Real;
    let around: Vec<Around> = members
        .iter_mut()
        .map(|member| start(member, clock, swept))
        .collect();
    let starts: Vec<Vec<Vector3<Real>>> = members
        .iter_mut()
        .map(|member| std::mem::take(&mut member.0.start_positions))
        .collect();
    let stage_of = |index: usize, solver: &ImplicitSolver| Stage {
        step,
        reference: Reference {
            first: &starts[index],
            second: None,
        },
        limits: settings.limits,
        is_tangled: solver.is_tangled(),
    };
    let (mut last, mut fallen) = (None, 0.0);
    for round in 1..=ROUNDS {
        for (particles, _, solver, ..) in &mut *members {
            solver.set_freedoms(particles);
            solver.place(particles, step);
        }
        let before = energies(members, contacts, &stage_of);
        let solution = newton_step(members, contacts, settings, &stage_of);
        let (after, fraction) = search(members, contacts, &before, step, &stage_of);
        for (_, _, _, state, ..) in &mut *members {
            note(state, &solution);
        }
        let fall = before.incremental - after.incremental;
        fallen += fall;
        last = Some(after);
        push(members, contacts);
        let mut changed = false;
        for (index, (member, around)) in members.iter_mut().zip(&around).enumerate() {
            let (particles, elements, solver, _, _, surface, ..) = member;
            let stage = stage_of(index, solver);
            let surroundings = around.surroundings(swept, step);
            let touching = surface.map(Surface::particles);
            changed |= judge(particles, elements, solver, &stage)
                | join(particles, &starts[index], solver, touching, &surroundings);
        }
        let is_linear = (fall - solution.fall).abs() <= LINEAR * solution.fall;
        let is_settled = is_linear || fall <= SETTLED * fallen;
        if fraction == 0.0 || (is_settled && (!changed || round >= CHANGES)) {
            break;
        }
    }
    for (member, start) in members.iter_mut().zip(starts) {
        member.0.start_positions = start;
    }
    rub(members, contacts);
    let wanted = momentum::wanted_together(members, clock.dt);
    let energies = last.map_or_else(Vec::new, |last| last.members);
    for ((member, around), energy) in members.iter_mut().zip(around).zip(energies) {
        let (particles, elements, solver, state, ..) = member;
        account(state, &energy, clock.dt);
        solver.leave(particles, elements, &energy.elements);
        conclude(particles, elements, solver, state, clock);
        solver.candidates = around.candidates;
        solver.contact_forces.clear();
    }
    if let Some(wanted) = wanted {
        let error = momentum::correct_together(members, &wanted);
        for (_, _, _, state, ..) in members {
            state.solver.momentum_error = state.solver.momentum_error.max(error);
        }
    }
}

impl Around {
    fn surroundings<'a>(&'a self, swept: &'a [SweptCollider<'a>], dt: Real) -> Surroundings<'a> {
        Surroundings {
            swept,
            candidates: &self.candidates,
            properties: self.properties,
            dt,
        }
    }
}

/// Puts a body where the step starts, with pins where it ends.
fn start(member: &mut BodyItem, clock: &PliantClock, swept: &[SweptCollider]) -> Around {
    let (particles, _, solver, state, pins, surface, properties, _) = member;
    let (particles, solver) = (&mut **particles, &mut **solver);
    let properties = properties.copied().unwrap_or_default();
    let touching = surface.map(Surface::particles);
    let candidates = find_colliders(particles, solver, touching, &properties, clock, swept);
    let around = Around {
        candidates,
        properties,
    };
    let step = clock.dt as Real;
    carry(particles, solver, &around.surroundings(swept, step));
    [state.energies.dissipated, state.energies.contact] = solver.start_dissipated;
    approach_from_start(particles, solver, step);
    solver.velocities.fill(Vector3::zeros());
    place_pins(particles, &mut solver.velocities, *pins, clock, 1.0);
    solver.history = 0.0;
    solver.contact_forces.clear();
    solver
        .contact_forces
        .resize(particles.len(), Vector3::zeros());
    around
}

/// Where the vertices of a contact are.
fn places(members: &[BodyItem], contact: &Contact) -> [Vector3<f64>; 4] {
    std::array::from_fn(|i| {
        let particles = &members[contact.bodies[i] as usize].0;
        particles.positions[contact.particles[i] as usize].cast::<f64>()
    })
}

fn energies<'a>(
    members: &mut [BodyItem],
    contacts: &[Contact],
    stage_of: &impl Fn(usize, &ImplicitSolver) -> Stage<'a>,
) -> Energies {
    let mut incremental = 0.0;
    for contact in contacts {
        let now = places(members, contact);
        incremental += contact.push(&now).map_or(0.0, |push| push.energy);
        incremental += contact.rub(&now).map_or(0.0, |rub| rub.potential);
    }
    let energies: Vec<Energy> = members
        .iter_mut()
        .enumerate()
        .map(|(index, (particles, elements, solver, ..))| {
            let stage = stage_of(index, solver);
            solver.energy(particles, elements, &stage)
        })
        .collect();
    incremental += energies
        .iter()
        .map(|energy| energy.incremental)
        .sum::<f64>();
    Energies {
        members: energies,
        incremental,
    }
}

/// Sets the forces of contact to those at the current positions; the links that go with them.
fn push(members: &mut [BodyItem], contacts: &[Contact]) -> Vec<Link<Real>> {
    for (_, _, solver, ..) in &mut *members {
        solver.contact_forces.fill(Vector3::zeros());
    }
    let mut links = Vec::new();
    for contact in contacts {
        let now = places(members, contact);
        let push = contact.push(&now);
        let push = push.map(|push| (push.weights, push.force, push.stiffness));
        let rub = contact.rub(&now);
        let rub = rub.map(|rub| (rub.weights, rub.force, rub.stiffness));
        for (weights, force, stiffness) in push.into_iter().chain(rub) {
            let weights = weights.map(|weight| weight as Real);
            for i in 0..4 {
                let solver = &mut members[contact.bodies[i] as usize].2;
                let share = force.map(|entry| entry as Real) * weights[i];
                solver.contact_forces[contact.particles[i] as usize] += share;
            }
            let rows = std::array::from_fn(|i| {
                let member = contact.bodies[i];
                let rows = &members[member as usize].2.system.rows;
                (member, rows[contact.particles[i] as usize])
            });
            links.push(Link {
                rows,
                weights,
                block: narrowed(&stiffness),
            });
        }
    }
    links
}

/// One Newton step of all bodies from their current positions.
fn newton_step<'a>(
    members: &mut [BodyItem],
    contacts: &[Contact],
    settings: Settings,
    stage_of: &impl Fn(usize, &ImplicitSolver) -> Stage<'a>,
) -> Solution {
    let links = push(members, contacts);
    let amount = members.iter().map(|member| member.1.len()).sum();
    let threads = Threads::for_work(amount);
    for (index, (particles, elements, solver, ..)) in members.iter_mut().enumerate() {
        let stage = stage_of(index, solver);
        solver.linearize(particles, elements, &stage, MatrixIs::New, threads);
    }
    for link in &links {
        for i in 0..4 {
            let (member, row) = link.rows[i];
            let matrix = &mut members[member as usize].2.system.matrix;
            matrix.add_block_to_diagonal(row as usize, &link.diagonal_block(i));
        }
    }
    let mut systems: Vec<Member<Real>> = members
        .iter_mut()
        .map(|(_, _, solver, ..)| {
            solver.precondition(threads);
            let system = &mut solver.system;
            Member {
                matrix: &system.matrix,
                coarse: &mut system.coarse,
                freedoms: &system.freedoms,
                residual: &mut system.residual,
                solution: &mut system.solution,
                conjugate_gradient: &mut system.conjugate_gradient,
            }
        })
        .collect();
    solve_coupled(threads, &mut systems, &links, settings.limits)
}

/// Goes along the solution, as far as the potential falls; the fraction gone, zero if it does not.
fn search<'a>(
    members: &mut [BodyItem],
    contacts: &[Contact],
    before: &Energies,
    step: Real,
    stage_of: &impl Fn(usize, &ImplicitSolver) -> Stage<'a>,
) -> (Energies, Real) {
    let go = |members: &mut [BodyItem], fraction: Real| {
        for (particles, _, solver, ..) in members {
            solver.advance(particles, step, fraction);
        }
    };
    go(members, 1.0);
    let mut fraction: Real = 1.0;
    let mut after = energies(members, contacts, stage_of);
    for _ in 0..HALVINGS {
        if after.incremental < before.incremental {
            return (after, fraction);
        }
        fraction *= 0.5;
        go(members, -fraction);
        after = energies(members, contacts, stage_of);
    }
    if after.incremental < before.incremental {
        return (after, fraction);
    }
    go(members, -fraction);
    (energies(members, contacts, stage_of), 0.0)
}

/// Puts what friction between the bodies took into their accounts, in equal shares.
fn rub(members: &mut [BodyItem], contacts: &[Contact]) {
    for contact in contacts {
        let Some(rub) = contact.rub(&places(members, contact)) else {
            continue;
        };
        for body in [contact.bodies[0], contact.bodies[3]] {
            let energies = &mut members[body as usize].3.energies;
            energies.contact += 0.5 * rub.work;
            energies.dissipated += 0.5 * rub.work;
        }
    }
}
