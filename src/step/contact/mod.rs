//! Contact of deformable bodies with each other and with themselves.
//!
//! Two responses under one broad phase, one narrow phase and one filter: a potential inside the implicit solve, and impulses
//! on the step of any integrator ([`pipeline`]). The potential:
//!
//! ```text
//! begin     where would everything go?  ─▶ pairs that come near ─▶ contacts ─▶ islands of bodies that touch
//! (solve)   an island is one system of equations, repulsion and friction included      implicit::island
//! (meet, collide)                       rigid colliders move particles
//! finish    where does everything go?   ─▶ pairs ─▶ certificate, corrections            filter
//! ```
//! Contacts are pairs of a vertex and a face or of two edges. Within the contact distance they repel each other by an energy
//! with two stages, and rub by lagged Coulomb friction; both are part of the potential that the step minimizes.
//! Bodies without contacts are solved alone, as if there were no others.
//!
//! **Guarantee.** If no surfaces intersect at the start of a substep, none do at its end, nor in between while the vertices
//! move along straight lines: whatever the solver, the stiffness, or the step. It is proven anew in each substep, on the
//! numbers that are stored ([`filter`]). Beyond it are: what users place or move, and tears, while these intersect;
//! rigid colliders, which have a guarantee of their own for particles: where a collider presses a body against another, and
//! there is no room, the bodies stay apart, and the collider's turn comes in the next step.
//!
//! **Rejected:** planes that stand still, with moves cut off at them: two layers a millimeter apart, falling together at
//! 10 m/s, would stop each other in mid-air. A bound of each vertex's move by its distance from others does the same.

mod bodies;
mod candidates;
mod contacts;
mod filter;
mod intersections;
mod islands;
mod motion;
mod narrow;
mod patches;
mod pipeline;
mod response;
mod shape;
mod sweep;
mod watch;
mod zones;

use bevy::prelude::*;

pub(super) use self::bodies::TouchingBodies;
use self::bodies::{Bodies, Target};
use self::candidates::Candidates;
pub(super) use self::contacts::{Contact, narrowed};
use self::filter::Filter;
use self::intersections::Exempt;
use self::pipeline::Pipeline;
pub(super) use self::pipeline::{has_impulses, respond};
pub use self::response::{BroadPhase, ContactResponse};
use super::implicit::{Momenta, correct_momenta};
use super::{Integrator, PliantClock};
use crate::Real;
use crate::body::{ContactReport, Particles, PliantState};

/// All that contact keeps from step to step.
#[derive(Resource, Debug, Default)]
pub(super) struct ContactStage {
    bodies: Bodies,
    candidates: Candidates,
    exempt: Exempt,
    filter: Filter,
    pipeline: Pipeline,
    looks: Vec<narrow::Look>,
    /// Contacts, island by island.
    pub contacts: Vec<Contact>,
    /// The island of each contact.
    pub islands: Vec<u32>,
}

/// Forgets the last tick, and takes over what the user has chosen.
pub(super) fn start_tick(mut stage: ResMut<ContactStage>, broad_phase: Res<BroadPhase>) {
    for body in &mut stage.bodies.list {
        body.report = ContactReport::default();
    }
    stage.candidates.watch.forget();
    stage.candidates.sweep.is_on = *broad_phase == BroadPhase::SweepAndPrune;
    stage.pipeline.is_idle = false;
}

/// Finds the contacts of a substep of the implicit integrator, and the islands that they make; none where contact is answered
/// by impulses.
pub(super) fn begin(world: &mut World, query: &mut TouchingBodies, clock: &PliantClock) {
    let response = world
        .resource::<ContactResponse>()
        .with(world.resource::<Integrator>());
    world.resource_scope(|world, mut stage: Mut<ContactStage>| {
        let stage = &mut *stage;
        stage.contacts.clear();
        stage.islands.clear();
        if response != ContactResponse::Potential {
            return;
        }
        let target = Target::Predicted {
            dt: clock.dt,
            end_fraction: clock.end_fraction,
        };
        stage.bodies.gather(world, query, target);
        let with_overlaps = !stage.bodies.is_continued || !stage.exempt.is_empty();
        stage
            .candidates
            .find(&mut stage.bodies, |body| body.thickness, with_overlaps);
        if with_overlaps {
            stage.exempt.find(&mut stage.bodies, &stage.candidates);
        }
        narrow::look(
            &stage.bodies,
            &stage.candidates.pairs,
            false,
            &mut stage.looks,
        );
        for (pair, look) in stage.candidates.pairs.iter().zip(&stage.looks) {
            if let Some(contact) = Contact::of(&stage.bodies, pair, look, clock.dt)
                && !stage.exempt.contains(&stage.bodies, pair)
            {
                stage.contacts.push(contact);
            }
        }
        islands::join(stage, world);
    });
}

/// Keeps the bodies from passing through each other and themselves: the last word on their positions.
pub(super) fn finish(
    world: &mut World,
    query: &mut TouchingBodies,
    bodies: &mut QueryState<(&mut Particles, &mut PliantState)>,
) {
    let dt = world.resource::<PliantClock>().dt;
    world.resource_scope(|world, mut stage: Mut<ContactStage>| {
        let ContactStage {
            bodies: all,
            candidates,
            exempt,
            filter,
            pipeline,
            ..
        } = &mut *stage;
        let has_changed = !pipeline.is_idle && {
            all.gather(world, query, Target::Found);
            filter.apply(all, candidates, exempt)
        };
        for index in 0..all.list.len() {
            let Ok((mut particles, mut state)) = bodies.get_mut(world, all.list[index].entity)
            else {
                continue;
            };
            let range = all.list[index].range();
            if has_changed && range.len() == particles.len() {
                // Nobody else has a part in what a free body does to itself.
                let is_alone = !filter.is_joined[index]
                    && state.contacts == 0
                    && particles
                        .inverse_masses
                        .iter()
                        .all(|&inverse| inverse > 0.0);
                let wanted = is_alone.then(|| Momenta::of_particles(&particles));
                let lost = write_back(&mut particles, all, filter, range.start, dt as Real);
                if let Some(wanted) = wanted.filter(|_| lost.truncated > 0) {
                    correct_momenta(&mut particles, &wanted);
                }
                let report = &mut all.list[index].report;
                report.truncated += lost.truncated;
                report.frozen += lost.frozen;
                state.energies.contact += lost.energy;
                state.energies.dissipated += lost.energy;
            }
            state.contact = all.list[index].report;
        }
        all.leave();
    });
}

/// What the filter took from a body.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    truncated: u32,
    frozen: u32,
    energy: f64,
}

/// Moves the particles whose ways were changed, and changes their velocities by as much per step.
fn write_back(
    particles: &mut Particles,
    bodies: &Bodies,
    filter: &Filter,
    first: usize,
    dt: Real,
) -> Lost {
    let mut lost = Lost::default();
    for particle in 0..particles.len() {
        let vertex = first + particle;
        let (end, wanted) = (bodies.target[vertex], filter.wanted[vertex]);
        if end == wanted {
            continue;
        }
        particles.positions[particle] = end;
        particles.position_remainders[particle] = nalgebra::Vector3::zeros();
        lost.truncated += 1;
        lost.frozen += u32::from(filter.is_frozen[vertex]);
        if particles.inverse_masses[particle] > 0.0 {
            let velocity = &mut particles.velocities[particle];
            let before = velocity.norm_squared();
            *velocity += (end - wanted) / dt;
            let change = before - velocity.norm_squared();
            lost.energy += 0.5 * f64::from(particles.masses[particle] * change);
        }
    }
    lost
}
