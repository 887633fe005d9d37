//! Contact with fixed and kinematic colliders inside an implicit step.
//!
//! A particle that touches is held at the surface in the same solve that moves the rest of the body: sticking particles
//! entirely, slipping ones along the normal only. What holds them is the residual of their rows, so that Coulomb's law
//! is applied to the load that the whole body puts on them:
//!
//! ```text
//! f = M (v − u)/h − f(x) + D v,   λ = n · f ≥ 0,   |f_t| ≤ μ_s λ while sticking,   f_t = −μ_d λ v_t/|v_t| while slipping
//! ```
//! While slipping, friction enters as a resistance μ_d λ/|v_t| with the load and the speed of the last solve, so it
//! can only take energy.
//!
//! Particles that would be pulled are let go, those that break loose slip, those that have come to rest stick, those that
//! the new solution drives into a collider join, and the solve is repeated, a few times at most. What is not settled
//! then is left to the stage that follows ([`collide`](crate::step::collide)), which also answers for dynamic bodies.

use bevy::prelude::*;
use nalgebra::Vector3;

use crate::Real;
use crate::body::{Particles, SurfaceProperties};
use crate::kernel::contact::ContactLaw;
use crate::kernel::implicit::Freedom;
use crate::step::collide::contact_law;
use crate::step::collide::sweep::{Reach, SweptCollider, Waypoint, deepest_overlap, first_contact};

/// Distance from the surface at which particles are held, in thicknesses: beyond what counts as contact afterwards.
const HELD_AT: Real = 1.02;

/// Distance within which a particle that touched still does, in thicknesses.
const LOST_AT: Real = 1.5;

/// Slip below this speed, m/s, counts as sticking.
const SLOWEST_SLIP: Real = 1e-4;

/// Error of the friction of a slipping particle, relative, that needs no further solve. A body that is held by nearly all
/// the friction that there is creeps if it is larger than what remains.
const SETTLED: Real = 0.02;

/// A particle that touches a collider.
#[derive(Clone, Copy, Debug)]
pub(in crate::step) struct Touch {
    pub particle: usize,
    pub collider: Entity,
    /// Unit normal, toward the particle.
    pub normal: Vector3<Real>,
    /// Where the particle is held at the end of the step, m.
    pub anchor: Vector3<Real>,
    /// Velocity of the surface there, m/s.
    pub surface_velocity: Vector3<Real>,
    pub is_sticking: bool,
    /// Friction while slipping, as a force per velocity, N·s/m.
    pub drag: Real,
    /// Slip at the end of this step and of the one before, m/s.
    pub speeds: [Real; 2],
    /// Slip, m/s, and friction, N, of an earlier solve of this step.
    pub known: Option<(Real, Real)>,
    /// Velocity along the normal that restitution asks for, relative to the surface, m/s.
    pub rebound: Real,
    pub law: ContactLaw<Real>,
}

impl Touch {
    pub fn freedom(&self) -> Freedom<Real> {
        if self.is_sticking {
            Freedom::Held
        } else {
            Freedom::Plane(self.normal)
        }
    }

    /// The nearest place to `position` where the particle may be at the end of the step.
    pub fn place(&self, position: &Vector3<Real>) -> Vector3<Real> {
        if self.is_sticking {
            self.anchor
        } else {
            position + self.normal * (self.anchor - position).dot(&self.normal)
        }
    }

    /// Velocity along the surface, relative to it, m/s.
    pub fn slip(&self, velocity: &Vector3<Real>) -> Vector3<Real> {
        let relative = velocity - self.surface_velocity;
        relative - self.normal * relative.dot(&self.normal)
    }

    /// Friction for the coming step: slip is expected to change as it did in the last one. Without that, friction would
    /// be too strong by the share that slip grows by in a step.
    fn drag_ahead(&self) -> Real {
        let [now, before] = self.speeds;
        if before == 0.0 || now == 0.0 {
            return self.drag;
        }
        self.drag * now / (2.0 * now - before).clamp(0.5 * now, 2.0 * now)
    }

    /// Applies Coulomb's law to the force that holds the particle, at the velocity of the solution; whether that changed
    /// what the particle may do. `None` when the surface would have to pull.
    ///
    /// `mobility` is the velocity that a force gives to the particle in the step, s/kg.
    pub fn judge(
        &mut self,
        force: &Vector3<Real>,
        velocity: &Vector3<Real>,
        mobility: Real,
    ) -> Option<bool> {
        let speed = self.slip(velocity).norm();
        self.speeds[0] = speed;
        let load = force.dot(&self.normal);
        if load < 0.0 || load.is_nan() {
            return None;
        }
        let most = self.law.kinetic_friction * load;
        if self.is_sticking {
            let size = (force - self.normal * load).norm();
            if size <= self.law.static_friction * load {
                return Some(false);
            }
            let expected = match self.known {
                Some((speed, friction)) if size > friction => {
                    speed * (size - most) / (size - friction)
                }
                // As fast as it would be without its neighbours; the next round knows better.
                _ => (size - most) * mobility,
            };
            self.is_sticking = false;
            self.known = Some((0.0, size));
            self.drag = most / expected.max(SLOWEST_SLIP);
            return Some(true);
        }
        let friction = self.drag * speed;
        let expected = match self.known {
            // Slip falls with friction, about along a straight line.
            Some((other_speed, other)) if (other - friction) * (speed - other_speed) > 0.0 => {
                speed + (friction - most) * (speed - other_speed) / (other - friction)
            }
            _ => speed,
        };
        self.known = Some((speed, friction));
        if expected < SLOWEST_SLIP && self.drag > 0.0 {
            self.is_sticking = true;
            self.drag = 0.0;
            return Some(true);
        }
        let expected = expected.clamp(0.2 * speed, 5.0 * speed);
        self.drag = most / expected.max(SLOWEST_SLIP);
        Some((friction - most).abs() > SETTLED * most)
    }
}

/// The colliders that may touch a body, and how.
pub(super) struct Surroundings<'a> {
    pub swept: &'a [SweptCollider<'a>],
    pub candidates: &'a [usize],
    pub properties: SurfaceProperties,
    pub dt: Real,
}

impl Surroundings<'_> {
    /// Where a touch of the last step stands in this one, if it lasts.
    pub fn carry(&self, touch: &Touch, particles: &Particles) -> Option<Touch> {
        let &index = self
            .candidates
            .iter()
            .find(|&&index| self.swept[index].collider.entity == touch.collider)?;
        let start = Waypoint {
            position: particles.start_positions[touch.particle],
            fraction: 0.0,
        };
        let carried = self.swept[index].carried(&start);
        let reach = self.properties.thickness * LOST_AT;
        let (normal, missing) = deepest_overlap(self.swept, &[index], &carried, reach)?;
        Some(Touch {
            normal,
            anchor: carried + normal * (missing - self.properties.thickness * (LOST_AT - HELD_AT)),
            surface_velocity: self.swept[index].velocity_at(&start),
            rebound: 0.0,
            drag: touch.drag_ahead(),
            speeds: [touch.speeds[0]; 2],
            known: None,
            ..*touch
        })
    }

    /// The touch of a particle on its way from `start` to `end`, if there is one; `incoming` is its velocity.
    pub fn find(
        &self,
        particle: usize,
        start: Vector3<Real>,
        end: Vector3<Real>,
        incoming: &Vector3<Real>,
    ) -> Option<Touch> {
        let at = |position, fraction| Waypoint { position, fraction };
        let (start, end) = (at(start, 0.0), at(end, 1.0));
        let reach = Reach {
            thickness: self.properties.thickness,
            bend: Vector3::zeros(),
            answered: &[],
        };
        let contact = first_contact(self.swept, self.candidates, &start, &end, &reach)?;
        let swept = &self.swept[contact.index];
        let surface_velocity = swept.velocity_at(&contact.at);
        let mut anchor = swept.carried(&contact.at);
        let mut normal = swept.turned(&contact.normal, contact.at.fraction);
        let within = self.properties.thickness * LOST_AT;
        if let Some((outward, missing)) =
            deepest_overlap(self.swept, &[contact.index], &anchor, within)
        {
            normal = outward;
            anchor += outward * (missing - self.properties.thickness * (LOST_AT - HELD_AT));
        } else {
            anchor += normal * self.properties.thickness;
        }
        let law = contact_law(&self.properties, swept.collider);
        let approach = -(incoming - surface_velocity).dot(&normal);
        let rebound = law.restitution * approach.max(0.0);
        anchor += normal * (rebound * (1.0 - contact.at.fraction) * self.dt);
        Some(Touch {
            particle,
            collider: swept.collider.entity,
            normal,
            anchor,
            surface_velocity,
            is_sticking: rebound == 0.0,
            drag: 0.0,
            speeds: [0.0; 2],
            known: None,
            rebound,
            law,
        })
    }
}
