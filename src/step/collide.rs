//! Contact of particles with the rigid world: impulses with restitution and friction on swept paths.
//!
//! Runs after each substep of the integrator, which has moved every particle from its start position to a candidate.
//!
//! 1. The path of each particle is followed in the frame of each collider ([`sweep`]). The first contact counts: the
//!    path goes through the surface, or ends closer to it than the thickness.
//! 2. The particle stops there and gets an impulse ([`coulomb_response`]), the collider's body the opposite one.
//! 3. The rest of the substep is a new path from there: slid along or bounced off the surface. It is followed again,
//!    so that corners and wedges hold, a few rounds at most. What is not settled then stays where it is known to be
//!    free, carried along by what it touched last.
//! 4. A particle that is closer than the thickness at the end, or inside a solid (a collider appeared on it), is
//!    moved out without gaining velocity.
//!
//! **Promise.** No particle goes through a wall, solid or mesh, of any thickness, at any speed. Two colliders that
//! close on a particle until no room is left are beyond it: then the particle ends inside one of them.
//!
//! **Limits.** Particles touch colliders; edges and faces of a body between its particles do not. Impulses go
//! particle by particle (Gauss–Seidel over bodies in order of their entities), so the cost is one sweep per particle
//! and collider nearby, on one thread: colliders' bodies couple all particles.
//!
//! **Time.** Stored velocities belong to the instant `velocity_fraction` of the substep. A particle that stays on
//! the surface needs the impulse that holds its weight over the whole substep, so its response takes the stored
//! velocity as it is; one that bounces off takes the velocity at the instant of the impact, so that free flight and
//! bounce together are exact.

use bevy::prelude::*;
use nalgebra::{Matrix3, Vector3};

use self::sweep::{
    Contact, Reach, SweptCollider, Waypoint, closed_gap, crosses, deepest_overlap, first_contact,
};
use super::PliantClock;
use crate::Real;
use crate::body::{Particles, PliantState, Quarantined, Surface, SurfaceProperties};
use crate::colliders::{Bounds, RigidBodyState, RigidCollider, RigidColliders};
use crate::kernel::contact::{ContactLaw, coulomb_response, effective_inverse_mass};

pub(crate) mod sweep;
#[cfg(test)]
mod tests;

/// Contacts of one particle in one substep after which the rest of its path is given up.
const ROUNDS: usize = 8;

/// Approach slower than this, m/s, does not bounce.
const RESTING_SPEED: Real = 1e-3;

type ContactBody<'a> = (
    &'a mut Particles,
    &'a mut PliantState,
    Option<&'a Surface>,
    Option<&'a SurfaceProperties>,
);

/// Resolves contact of all bodies with the rigid world.
pub(crate) fn collide(
    clock: Res<PliantClock>,
    mut rigid: ResMut<RigidColliders>,
    entities: Query<Entity, (With<Particles>, Without<Quarantined>)>,
    mut bodies: Query<ContactBody, Without<Quarantined>>,
    mut order: Local<Vec<Entity>>,
    mut candidates: Local<Vec<usize>>,
) {
    order.clear();
    order.extend(&entities);
    order.sort_unstable();
    let RigidColliders {
        colliders,
        bodies: rigid_bodies,
    } = &mut *rigid;
    let step = Step::new(&clock);
    let swept: Vec<SweptCollider> = over_substep(colliders, rigid_bodies, &clock).collect();
    for &entity in &*order {
        if let Ok((mut particles, mut state, surface, properties)) = bodies.get_mut(entity) {
            let properties = properties.copied().unwrap_or_default();
            let tally = collide_body(
                &mut particles,
                surface,
                &properties,
                &step,
                &swept,
                &mut candidates,
                rigid_bodies,
            );
            // Beside those that the integrator has seen to.
            state.contacts = state.contacts.max(tally.contacts);
            state.energies.contact += tally.dissipated;
            state.energies.dissipated += tally.dissipated;
        }
    }
}

/// The colliders that touch soft bodies, over the substep of the clock.
pub(crate) fn over_substep<'a>(
    colliders: &'a [RigidCollider],
    bodies: &[RigidBodyState],
    clock: &PliantClock,
) -> impl Iterator<Item = SweptCollider<'a>> {
    let (start, end) = (clock.start_fraction as Real, clock.end_fraction as Real);
    let tick_dt = clock.tick_dt as Real;
    colliders
        .iter()
        .filter(|collider| collider.touches_soft_bodies())
        .map(move |collider| SweptCollider::new(collider, bodies, start, end, tick_dt))
}

/// The numbers of a substep that contact needs.
#[derive(Clone, Copy)]
struct Step {
    dt: Real,
    velocity_fraction: Real,
}

impl Step {
    fn new(clock: &PliantClock) -> Self {
        Self {
            dt: clock.dt as Real,
            velocity_fraction: clock.velocity_fraction as Real,
        }
    }
}

/// What contact did to a body.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    contacts: u32,
    dissipated: f64,
}

/// Resolves contact of one body.
fn collide_body(
    particles: &mut Particles,
    surface: Option<&Surface>,
    properties: &SurfaceProperties,
    step: &Step,
    swept: &[SweptCollider],
    candidates: &mut Vec<usize>,
    rigid_bodies: &mut [RigidBodyState],
) -> Tally {
    let mut tally = Tally::default();
    if swept.is_empty() {
        return tally;
    }
    let listed = surface.map(Surface::particles);
    let count = listed.map_or(particles.len(), <[u32]>::len);
    let touching = (0..count).map(|place| listed.map_or(place, |list| list[place] as usize));
    let mut bounds = Bounds::empty();
    for particle in touching.clone() {
        bounds.include(&particles.start_positions[particle]);
        bounds.include(&particles.positions[particle]);
    }
    let size = bounds.min.amax().max(bounds.max.amax());
    let bounds = bounds.inflated(properties.thickness + closed_gap(size, properties.thickness));
    candidates.clear();
    candidates.extend((0..swept.len()).filter(|&index| swept[index].bounds.overlaps(&bounds)));
    if candidates.is_empty() {
        return tally;
    }
    let stage = Stage {
        step,
        properties,
        swept,
        candidates,
    };
    for particle in touching {
        if particles.inverse_masses[particle] == 0.0 {
            continue;
        }
        let mut mover = Mover::new(particles, particle, step);
        if stage.resolve(&mut mover, rigid_bodies, &mut tally) {
            particles.positions[particle] = mover.target;
            particles.velocities[particle] = mover.velocity;
            particles.position_remainders[particle] = Vector3::zeros();
            particles.velocity_remainders[particle] = Vector3::zeros();
        }
    }
    tally
}

/// Coefficients of a soft body and a collider.
pub(crate) fn contact_law(soft: &SurfaceProperties, rigid: &RigidCollider) -> ContactLaw<Real> {
    ContactLaw {
        restitution: rigid
            .restitution_rule
            .combine(soft.restitution, rigid.restitution)
            .min(1.0),
        static_friction: rigid
            .friction_rule
            .combine(soft.static_friction, rigid.friction),
        kinetic_friction: rigid
            .friction_rule
            .combine(soft.kinetic_friction, rigid.friction),
    }
}

/// A particle on its way through the substep.
struct Mover {
    inverse_mass: Real,
    /// Where it is free, and when.
    at: Waypoint,
    /// Where it wants to be at the end.
    target: Vector3<Real>,
    /// Stored velocity, m/s.
    velocity: Vector3<Real>,
    /// Acceleration that bends the rest of the path, m/s².
    acceleration: Vector3<Real>,
    /// Velocity that this substep's forces gave and no contact has answered yet, m/s.
    kick: Vector3<Real>,
}

impl Mover {
    fn new(particles: &Particles, particle: usize, step: &Step) -> Self {
        let inverse_mass = particles.inverse_masses[particle];
        let acceleration = particles.forces[particle] * inverse_mass;
        Self {
            inverse_mass,
            at: Waypoint {
                position: particles.start_positions[particle],
                fraction: 0.0,
            },
            target: particles.positions[particle],
            velocity: particles.velocities[particle],
            acceleration,
            kick: acceleration * step.dt,
        }
    }
}

/// All that stays the same for the particles of a body.
struct Stage<'a> {
    step: &'a Step,
    properties: &'a SurfaceProperties,
    swept: &'a [SweptCollider<'a>],
    candidates: &'a [usize],
}

impl Stage<'_> {
    /// Moves one particle through the substep; whether contact changed anything.
    fn resolve(
        &self,
        mover: &mut Mover,
        rigid_bodies: &mut [RigidBodyState],
        tally: &mut Tally,
    ) -> bool {
        let mut touched: [Option<usize>; ROUNDS] = [None; ROUNDS];
        let mut settled = false;
        for round in 0..ROUNDS {
            let end = Waypoint {
                position: mover.target,
                fraction: 1.0,
            };
            let bend = mover.acceleration * (0.5 * self.step.dt * self.step.dt);
            let reach = Reach {
                thickness: self.properties.thickness,
                bend,
                answered: &touched,
            };
            let Some(contact) = first_contact(self.swept, self.candidates, &mover.at, &end, &reach)
            else {
                settled = true;
                break;
            };
            touched[round] = Some(contact.index);
            tally.dissipated += self.respond(mover, &contact, rigid_bodies);
        }
        let has_contact = touched[0].is_some();
        if !settled {
            mover.target = self.refuge(mover, &touched);
        }
        let is_moved = self.move_out(mover);
        if has_contact || is_moved {
            tally.contacts += 1;
        }
        has_contact || is_moved
    }

    /// Changes velocity and path of a particle at a contact; the energy lost, J.
    fn respond(
        &self,
        mover: &mut Mover,
        contact: &Contact,
        rigid_bodies: &mut [RigidBodyState],
    ) -> f64 {
        let (at, normal) = (&contact.at, &contact.normal);
        let swept = &self.swept[contact.index];
        let arm = swept.arm(at);
        let body = swept
            .collider
            .body
            .and_then(|body| rigid_bodies.get_mut(body));
        let (surface_velocity, inverse_mass) = match &body {
            Some(body) => (
                body.velocity_at(&arm),
                effective_inverse_mass(
                    mover.inverse_mass,
                    &body.inverse_mass,
                    &body.inverse_inertia,
                    &arm,
                ),
            ),
            None => (
                swept.velocity_at(at),
                Matrix3::from_diagonal_element(mover.inverse_mass),
            ),
        };
        let dt = self.step.dt;
        let mut law = contact_law(self.properties, swept.collider);
        // The velocity at the instant of the contact, against the stored one.
        let lead = mover.acceleration * ((at.fraction - self.step.velocity_fraction) * dt);
        let impact_velocity = mover.velocity + lead - surface_velocity;
        let load = -mover.acceleration.dot(normal).min(0.0);
        let bounces =
            law.restitution > 0.0 && -impact_velocity.dot(normal) > load * dt * 2.0 + RESTING_SPEED;
        let (before, relative_velocity) = if bounces {
            (impact_velocity, impact_velocity)
        } else {
            law.restitution = 0.0;
            let relative_velocity = mover.velocity - surface_velocity;
            (
                relative_velocity - mover.kick * (1.0 - at.fraction),
                relative_velocity,
            )
        };
        let impulse = coulomb_response(&relative_velocity, normal, &law, &inverse_mass);
        // The mean of the velocities before and after the substep makes this the exact work of the impulse: nothing
        // for a particle at rest, although the forces push it into the surface and the impulse pushes it back.
        let after = relative_velocity + inverse_mass * impulse;
        let dissipated = -impulse.dot(&(before + after)) * 0.5;

        mover.velocity += impulse * mover.inverse_mass;
        if let Some(body) = body {
            body.apply_impulse(&-impulse, &arm);
        }
        self.redirect(mover, swept, contact, bounces.then_some(lead));
        f64::from(dissipated)
    }

    /// Sets the rest of the path after a contact; `lead` is the velocity at the contact less the stored one for a
    /// particle that flies off.
    fn redirect(
        &self,
        mover: &mut Mover,
        swept: &SweptCollider,
        contact: &Contact,
        lead: Option<Vector3<Real>>,
    ) {
        let (at, normal) = (&contact.at, &contact.normal);
        let rest = (1.0 - at.fraction) * self.step.dt;
        mover.kick = Vector3::zeros();
        mover.at = *at;
        if let Some(lead) = lead {
            mover.target =
                at.position + (mover.velocity + lead + mover.acceleration * (rest * 0.5)) * rest;
            return;
        }
        // Sliding and sticking: relative to the surface, and never into it. A rigid body answers an impulse in the
        // next tick only, so its surface can still come toward a particle that no longer approaches the body.
        let mut slide = (mover.velocity - swept.velocity_at(at)) * rest;
        slide -= normal * slide.dot(normal).min(0.0);
        mover.target = swept.carried(at) + swept.turned(&slide, at.fraction);
        mover.acceleration -= normal * mover.acceleration.dot(normal).min(0.0);
    }

    /// Where a particle stays whose path could not be settled: carried along by the collider that it touched last,
    /// or by one before, or not at all, whichever way is free.
    fn refuge(&self, mover: &Mover, touched: &[Option<usize>]) -> Vector3<Real> {
        let is_free = |place: &Vector3<Real>| {
            let end = Waypoint {
                position: *place,
                fraction: 1.0,
            };
            !crosses(self.swept, self.candidates, &mover.at, &end)
        };
        let mut carried = touched
            .iter()
            .rev()
            .flatten()
            .map(|&index| self.swept[index].carried(&mover.at));
        let last = carried.next().unwrap_or(mover.at.position);
        std::iter::once(last)
            .chain(carried)
            .find(is_free)
            .unwrap_or_else(|| {
                if is_free(&mover.at.position) {
                    mover.at.position
                } else {
                    last
                }
            })
    }

    /// Moves a particle at the end of its path out to the thickness, unless something is in the way.
    fn move_out(&self, mover: &mut Mover) -> bool {
        let thickness = self.properties.thickness;
        let Some((normal, missing)) =
            deepest_overlap(self.swept, self.candidates, &mover.target, thickness)
        else {
            return false;
        };
        if missing <= thickness * 1e-3 {
            return false;
        }
        let from = Waypoint {
            position: mover.target,
            fraction: 1.0,
        };
        let to = Waypoint {
            position: mover.target + normal * missing,
            fraction: 1.0,
        };
        if crosses(self.swept, self.candidates, &from, &to) {
            return false;
        }
        mover.target = to.position;
        true
    }
}
