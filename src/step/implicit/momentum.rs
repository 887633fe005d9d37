//! Giving back the momentum that a truncated solve loses.

use std::ops::{Add, Mul, Sub};

use nalgebra::{Matrix3, Vector3};

use super::BodyItem;
use crate::Real;
use crate::body::Particles;
use crate::kernel::energy::{
    angular_momentum, angular_velocity, center_of_mass, inertia, momentum, total_mass,
};
use crate::step::symplectic_euler::add_exactly;

/// Momentum of a body, in double precision.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::step) struct Momenta {
    /// Linear momentum, kg·m/s.
    pub linear: Vector3<f64>,
    /// Angular momentum about the center of mass, kg·m²/s.
    pub angular: Vector3<f64>,
}

impl Momenta {
    /// Of a body as it is.
    pub fn of_particles(particles: &Particles) -> Self {
        Self::of(
            &particles.masses,
            &particles.positions,
            &particles.velocities,
            &particles.velocity_remainders,
        )
    }

    pub fn of(
        masses: &[Real],
        positions: &[Vector3<Real>],
        velocities: &[Vector3<Real>],
        remainders: &[Vector3<Real>],
    ) -> Self {
        let center = center_of_mass(masses, positions);
        Self::about(&center, masses, positions, velocities, remainders)
    }

    /// With the angular momentum about a given point.
    fn about(
        point: &Vector3<f64>,
        masses: &[Real],
        positions: &[Vector3<Real>],
        velocities: &[Vector3<Real>],
        remainders: &[Vector3<Real>],
    ) -> Self {
        Self {
            linear: momentum(masses, velocities) + momentum(masses, remainders),
            angular: angular_momentum(masses, positions, velocities, point)
                + angular_momentum(masses, positions, remainders, point),
        }
    }
}

impl Add for Momenta {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            linear: self.linear + other.linear,
            angular: self.angular + other.angular,
        }
    }
}

impl Sub for Momenta {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

impl Mul<f64> for Momenta {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self {
            linear: self.linear * factor,
            angular: self.angular * factor,
        }
    }
}

/// A rigid motion about the center of mass.
pub(in crate::step) struct RigidMotion {
    center: Vector3<f64>,
    shift: Vector3<f64>,
    turn: Vector3<f64>,
}

impl RigidMotion {
    /// The motion with which a body has the given momenta.
    pub fn of(masses: &[Real], positions: &[Vector3<Real>], momenta: &Momenta) -> Self {
        let center = center_of_mass(masses, positions);
        let inertia = inertia(masses, positions, &center);
        Self {
            center,
            shift: momenta.linear / total_mass(masses),
            turn: angular_velocity(&inertia, &momenta.angular),
        }
    }

    /// The velocity at a place, m/s.
    pub fn at(&self, position: &Vector3<Real>) -> Vector3<f64> {
        self.shift + self.turn.cross(&(position.cast::<f64>() - self.center))
    }
}

/// Adds the rigid motion that brings a free body to the given momenta; returns how much was missing, relative to
/// Σ m |v|.
pub(in crate::step) fn correct(particles: &mut Particles, wanted: &Momenta) -> f64 {
    let found = Momenta::of_particles(particles);
    let masses = &particles.masses;
    let motion = RigidMotion::of(masses, &particles.positions, &(*wanted - found));
    let size = masses
        .iter()
        .zip(&particles.velocities)
        .map(|(&mass, velocity)| f64::from(mass) * f64::from(velocity.norm()))
        .sum::<f64>();
    add_motion(particles, &motion);
    if size > 0.0 {
        (wanted.linear - found.linear).norm() / size
    } else {
        0.0
    }
}

/// Momenta of bodies that touch, about their common center, at the end of the step: those at its start, and what the given forces and
/// the air add. None if something holds a particle.
pub(super) fn wanted_together(members: &[BodyItem], dt: f64) -> Option<Momenta> {
    let mut sum = Momenta::default();
    let first = common_center(members, |particles| &particles.start_positions);
    let last = common_center(members, |particles| &particles.positions);
    let center = (first + last) * 0.5;
    for (particles, _, solver, ..) in members {
        if !solver.touches.is_empty() || particles.inverse_masses.contains(&0.0) {
            return None;
        }
        let own = Momenta::about(
            &first,
            &particles.masses,
            &particles.start_positions,
            &solver.start_velocities,
            &particles.velocity_remainders,
        );
        sum = sum + own;
        for i in 0..particles.len() {
            let mass = f64::from(particles.masses[i]);
            let speed = solver.velocities[i].cast::<f64>();
            let air = solver.wind[i].cast::<f64>() - solver.drag[i].cast::<f64>() * speed;
            let impulse = (solver.given[0][i].cast::<f64>() * mass + air) * dt;
            let middle =
                particles.start_positions[i].cast::<f64>() + particles.positions[i].cast::<f64>();
            sum.linear += impulse;
            sum.angular += (middle * 0.5 - center).cross(&impulse);
        }
    }
    Some(sum)
}

/// Adds the rigid motion of all that brings bodies that touch to the given momenta about their common center; returns how
/// much was missing, relative to Σ m |v|.
pub(super) fn correct_together(members: &mut [BodyItem], wanted: &Momenta) -> f64 {
    let center = common_center(members, |particles| &particles.positions);
    let (mut found, mut mass) = (Momenta::default(), 0.0);
    let mut size = 0.0;
    for (particles, ..) in &*members {
        found = found
            + Momenta::about(
                &center,
                &particles.masses,
                &particles.positions,
                &particles.velocities,
                &particles.velocity_remainders,
            );
        mass += total_mass(&particles.masses);
        let speeds = particles.masses.iter().zip(&particles.velocities);
        size += speeds
            .map(|(&mass, velocity)| f64::from(mass) * f64::from(velocity.norm()))
            .sum::<f64>();
    }
    let missing = wanted.linear - found.linear;
    let turning = wanted.angular - found.angular;
    let inertia = members
        .iter()
        .fold(Matrix3::zeros(), |sum, (particles, ..)| {
            sum + inertia(&particles.masses, &particles.positions, &center)
        });
    let motion = RigidMotion {
        center,
        shift: missing / mass,
        turn: angular_velocity(&inertia, &turning),
    };
    for (particles, ..) in members {
        add_motion(particles, &motion);
    }
    if size > 0.0 {
        missing.norm() / size
    } else {
        0.0
    }
}

/// The center of mass of all bodies, at some of their positions.
fn common_center(
    members: &[BodyItem],
    positions: impl Fn(&Particles) -> &[Vector3<Real>],
) -> Vector3<f64> {
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    for (particles, ..) in members {
        let own = total_mass(&particles.masses);
        mass += own;
        moment += center_of_mass(&particles.masses, positions(particles)) * own;
    }
    moment / mass
}

/// Adds a rigid motion to all velocities.
fn add_motion(particles: &mut Particles, motion: &RigidMotion) {
    for i in 0..particles.len() {
        let change = motion.at(&particles.positions[i]);
        add_exactly(
            &mut particles.velocities[i],
            &mut particles.velocity_remainders[i],
            &change,
        );
    }
}
