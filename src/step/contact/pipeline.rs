//! Contact by impulses, for any integrator: candidate positions in, corrected ones out.
//!
//! ```text
//! candidate of the integrator: v̄ = (x' − x)/h
//! repulsion    pairs nearer than the contact distance at x: stop, push slowly apart, rub               [Bridson 2002]
//! collisions   pairs whose ways cross: stop where they meet, rub; some rounds                          [Bridson 2002]
//! zones        pairs that still cross: all contacts of a zone at once; some rounds                     [Harmon 2008]
//! rigid        pairs that still cross: zones move as rigid bodies, and grow                            [Bridson 2002]
//! x' = x + h v, and velocities change by v − v̄
//! ```
//! Provot's method has no repulsion and no projection, another law for collisions, and another motion of rigid zones.
//!
//! Rigid colliders come next, so that no particle ends beyond a wall, and then the filter ([`filter`](super::filter)): it
//! settles what colliders have undone and what the rounds have left, and certifies the step.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::ContactStage;
use super::bodies::{Bodies, Target, TouchingBodies};
use super::candidates::{Candidates, Pair, places};
use super::contacts::{friction, rests_near};
use super::filter::lacks_proof;
use super::intersections::Exempt;
use super::motion::{Motion, Moving};
use super::narrow::{Look, look};
use super::response::ContactResponse;
use super::zones::{RigidMotion, Zones};
use crate::kernel::impact_zone::ZoneConstraint;
use crate::kernel::impulse::bridson::{Repulsion, collision_impulse};
use crate::kernel::impulse::provot::ProvotResponse;
use crate::kernel::impulse::{PairContact, contact_normal};
use crate::kernel::proximity::straight_paths::keep_apart;
use crate::kernel::proximity::time_of_impact::time_of_impact;
use crate::step::{Integrator, PliantClock};

/// Rounds of collisions, of projected zones and of rigid ones.
const ROUNDS: u32 = 5;
const PROJECTED_ROUNDS: u32 = 5;
const RIGID_ROUNDS: u32 = 10;

/// Time in which repulsion undoes a tenth of an overlap at most, s, where the step is shorter: the source's are about so long.
/// In the many short steps of an explicit integrator a tenth of each would throw the surfaces apart.
const SHORTEST_RECOVERY: f64 = 0.01;

/// What the pipeline keeps from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    motion: Motion,
    zones: Zones,
    looks: Vec<Look>,
    failed: Vec<Pair>,
    /// Whether there was nothing to do in this step.
    pub is_idle: bool,
}

/// Whether contact is answered by impulses.
pub(in crate::step) fn has_impulses(
    response: Res<ContactResponse>,
    integrator: Res<Integrator>,
) -> bool {
    response.with(&integrator) != ContactResponse::Potential
}

/// Answers contact by impulses on the step that the integrator has made.
pub(in crate::step) fn respond(world: &mut World, query: &mut TouchingBodies, moving: &mut Moving) {
    let clock = *world.resource::<PliantClock>();
    let response = world
        .resource::<ContactResponse>()
        .with(world.resource::<Integrator>());
    world.resource_scope(|world, mut stage: Mut<ContactStage>| {
        let ContactStage {
            bodies,
            candidates,
            exempt,
            pipeline,
            ..
        } = &mut *stage;
        bodies.gather(world, query, Target::Candidate);
        pipeline.is_idle = !bodies.can_touch();
        if pipeline.is_idle {
            return;
        }
        candidates.watch.start_step(clock.dt, clock.tick_dt);
        if !bodies.is_continued || !exempt.is_empty() {
            candidates.look_ahead(bodies, true);
            exempt.find(bodies, candidates);
        } else {
            candidates.update(bodies, |body| body.thickness);
        }
        if !candidates.pairs.is_empty() {
            pipeline.motion.start(world, moving, bodies, &clock);
            pipeline.answer(bodies, candidates, exempt, response);
            pipeline.motion.write(world, moving, bodies);
        }
    });
}

impl Pipeline {
    fn answer(
        &mut self,
        bodies: &mut Bodies,
        candidates: &mut Candidates,
        exempt: &Exempt,
        response: ContactResponse,
    ) {
        if response == ContactResponse::Bridson {
            self.repel(bodies, candidates, exempt);
        }
        for _ in 0..ROUNDS {
            if !self.fails(bodies, candidates, exempt) {
                return;
            }
            for place in 0..self.failed.len() {
                let pair = self.failed[place];
                if self.collide(bodies, &pair, response) {
                    bodies.count(&pair.vertices, |report| &mut report.impulses);
                }
            }
        }
        let rigid = match response {
            ContactResponse::Provot => RigidMotion::Provot,
            _ => RigidMotion::Conserving,
        };
        self.zones.reset(bodies.target.len());
        if response != ContactResponse::Provot {
            for _ in 0..PROJECTED_ROUNDS {
                if !self.fails(bodies, candidates, exempt) {
                    return;
                }
                for pair in &self.failed {
                    if let Some(contact) = meeting(bodies, &self.motion, pair) {
                        let row = ZoneConstraint {
                            vertices: pair.vertices,
                            weights: contact.weights,
                            normal: contact.normal,
                        };
                        self.zones.add(row, &self.motion);
                    }
                }
                self.zones.project(&mut self.motion, bodies);
            }
            self.zones.reset(bodies.target.len());
        }
        for _ in 0..RIGID_ROUNDS {
            if !self.fails(bodies, candidates, exempt) {
                return;
            }
            for pair in &self.failed {
                self.zones.join(&pair.vertices);
            }
            self.zones.move_rigidly(&mut self.motion, bodies, rigid);
        }
    }

    /// Pushes apart what is nearer than the contact distance at the start.
    fn repel(&mut self, bodies: &mut Bodies, candidates: &Candidates, exempt: &Exempt) {
        look(bodies, &candidates.pairs, false, &mut self.looks);
        let dt = self.motion.dt.max(SHORTEST_RECOVERY);
        for (pair, look) in candidates.pairs.iter().zip(&self.looks) {
            let radius = bodies.radius(pair);
            if look.distance >= radius {
                continue;
            }
            let owners = bodies.owners(pair);
            let [first, second] = owners.map(|owner| &bodies.list[owner]);
            let thickness = f64::from(radius);
            let is_itself = owners[0] == owners[1];
            if is_itself && rests_near(first, pair, thickness) || exempt.contains(bodies, pair) {
                continue;
            }
            let closest = pair.kind.closest_points(&places(&bodies.start, pair));
            let contact = PairContact::new(&closest, self.motion.inverse_masses_of(pair));
            let inverse_mass = contact.point_inverse_mass();
            if inverse_mass <= 0.0 {
                continue;
            }
            let law = Repulsion {
                thickness,
                // As firm as the limit of a tenth lets it act.
                stiffness: 1.0 / (inverse_mass * dt * dt),
                friction: friction(first, second),
            };
            let velocities = self.motion.velocities_of(pair);
            let impulse = law.impulse(&contact, closest.distance(), &velocities, dt);
            if impulse != Vector3::zeros() {
                let after = contact.velocities_after(&velocities, &impulse);
                self.motion.set(pair, &after);
                bodies.count(&pair.vertices, |report| &mut report.repulsions);
            }
        }
    }

    /// Looks for pairs that are not proven to keep apart; whether there are any.
    fn fails(&mut self, bodies: &mut Bodies, candidates: &mut Candidates, exempt: &Exempt) -> bool {
        self.motion.place(bodies);
        candidates.update(bodies, |body| body.thickness);
        self.failed.clear();
        look(bodies, &candidates.pairs, true, &mut self.looks);
        for (pair, look) in candidates.pairs.iter().zip(&self.looks) {
            if lacks_proof(bodies, pair, look, exempt) {
                self.failed.push(*pair);
            }
        }
        !self.failed.is_empty()
    }

    /// Answers the collision of a pair, if it still collides; whether anything changed.
    fn collide(&mut self, bodies: &Bodies, pair: &Pair, response: ContactResponse) -> bool {
        let Some(contact) = meeting(bodies, &self.motion, pair) else {
            return false;
        };
        let [first, second] = bodies.owners(pair).map(|owner| &bodies.list[owner]);
        let friction = friction(first, second);
        let velocities = self.motion.velocities_of(pair);
        let after = match response {
            ContactResponse::Provot => {
                let law = ProvotResponse {
                    friction,
                    dissipation: 0.0,
                };
                law.pair_velocities_after(&contact.inverse_masses, &velocities, &contact.normal)
            }
            ContactResponse::Potential | ContactResponse::Bridson => {
                let impulse = collision_impulse(&contact, &velocities, 0.0, friction);
                contact.velocities_after(&velocities, &impulse)
            }
        };
        self.motion.set(pair, &after)
    }
}

/// Where the features of a pair meet on their ways, if they do and have a normal there.
fn meeting(bodies: &Bodies, motion: &Motion, pair: &Pair) -> Option<PairContact<f64>> {
    let (start, end) = (places(&bodies.start, pair), motion.ends_of(pair));
    if keep_apart(pair.kind, &start, &end) {
        return None;
    }
    // What has no proof, though it does not meet, is nearest to it at the end.
    let time = time_of_impact(pair.kind, &start, &end, 0.0).unwrap_or(1.0);
    let normal = contact_normal(pair.kind, &start, &end, time);
    let at: [Vector3<f64>; 4] = std::array::from_fn(|i| start[i] + (end[i] - start[i]) * time);
    let contact = PairContact {
        weights: pair.kind.closest_points(&at).weights,
        normal,
        inverse_masses: motion.inverse_masses_of(pair),
    };
    (normal != Vector3::zeros()).then_some(contact)
}
