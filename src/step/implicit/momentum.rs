//! Giving back the momentum that a truncated solve loses.

use std::ops::{Add, Mul, Sub};

use nalgebra::Vector3;

use crate::Real;
use crate::body::Particles;
use crate::kernel::energy::{
    angular_momentum, angular_velocity, center_of_mass, inertia, momentum, total_mass,
};

/// Momentum of a body, in double precision.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::step) struct Momenta {
    /// Linear momentum, kg·m/s.
    pub linear: Vector3<f64>,
    /// Angular momentum about the center of mass, kg·m²/s.
    pub angular: Vector3<f64>,
}

impl Momenta {
    pub fn of(
        masses: &[Real],
        positions: &[Vector3<Real>],
        velocities: &[Vector3<Real>],
        remainders: &[Vector3<Real>],
    ) -> Self {
        let center = center_of_mass(masses, positions);
        Self {
            linear: momentum(masses, velocities) + momentum(masses, remainders),
            angular: angular_momentum(masses, positions, velocities, &center)
                + angular_momentum(masses, positions, remainders, &center),
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
pub(super) fn correct(particles: &mut Particles, wanted: &Momenta) -> f64 {
    let found = Momenta::of(
        &particles.masses,
        &particles.positions,
        &particles.velocities,
        &particles.velocity_remainders,
    );
    let masses = &particles.masses;
    let motion = RigidMotion::of(masses, &particles.positions, &(*wanted - found));
    let size = masses
        .iter()
        .zip(&particles.velocities)
        .map(|(&mass, velocity)| f64::from(mass) * f64::from(velocity.norm()))
        .sum::<f64>();
    for i in 0..particles.len() {
        let exact = particles.velocities[i].cast::<f64>()
            + particles.velocity_remainders[i].cast::<f64>()
            + motion.at(&particles.positions[i]);
        let velocity: Vector3<Real> = exact.map(|x| x as Real);
        particles.velocities[i] = velocity;
        particles.velocity_remainders[i] = (exact - velocity.cast::<f64>()).map(|x| x as Real);
    }
    if size > 0.0 {
        (wanted.linear - found.linear).norm() / size
    } else {
        0.0
    }
}
