//! The particles of a body: the degrees of freedom everything else acts on.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::{BodyFrame, PliantState};
use crate::Real;

/// Positions, velocities, forces and masses of a body's particles, in world space.
///
/// Every deformable body has this component, and it is the only one it must have: stages look for the optional
/// components ([`Tetrahedra`](super::Tetrahedra), [`Pins`](super::Pins), …) and skip a body that lacks them.
/// The arrays have one entry per particle and always the same length.
///
/// | field | unit | written by |
/// |---|---|---|
/// | `positions` | m | integrator, contact, pins |
/// | `velocities` | m/s | integrator, contact, pins |
/// | `forces` | N | force stage; user forces add here |
/// | masses | kg | construction |
///
/// A user system may write positions and velocities at any time between ticks. Numbers that are not finite
/// quarantine the body ([`Quarantined`](super::Quarantined)) without touching the others.
#[derive(Component, Clone, Debug, Default)]
#[require(Transform, PliantState, BodyFrame)]
pub struct Particles {
    /// Current positions, m.
    pub positions: Vec<Vector3<Real>>,
    /// Current velocities, m/s.
    pub velocities: Vec<Vector3<Real>>,
    /// Forces accumulated for the current evaluation, N.
    pub forces: Vec<Vector3<Real>>,
    pub(crate) masses: Vec<Real>,
    pub(crate) inverse_masses: Vec<Real>,
    /// Positions at the start of the current substep: contact sweeps from here to `positions`.
    pub(crate) start_positions: Vec<Vector3<Real>>,
    /// Positions at the end of the previous tick: rendering blends from here to `positions`.
    pub(crate) tick_positions: Vec<Vector3<Real>>,
    /// What rounding dropped from `positions` and `velocities`: without it an `f32` body in free flight loses
    /// momentum in proportion to the number of substeps.
    pub(crate) position_remainders: Vec<Vector3<Real>>,
    pub(crate) velocity_remainders: Vec<Vector3<Real>>,
}

impl Particles {
    /// Particles at rest with the given positions (m) and masses (kg); both slices must have the same length.
    ///
    /// A mass that is not positive and finite makes its particle immovable (infinite mass).
    #[must_use]
    pub fn new(positions: Vec<Vector3<Real>>, masses: Vec<Real>) -> Self {
        let count = positions.len();
        debug_assert_eq!(count, masses.len());
        let inverse_masses = masses.iter().map(|&mass| inverse_mass(mass)).collect();
        Self {
            start_positions: positions.clone(),
            tick_positions: positions.clone(),
            velocities: vec![Vector3::zeros(); count],
            forces: vec![Vector3::zeros(); count],
            position_remainders: vec![Vector3::zeros(); count],
            velocity_remainders: vec![Vector3::zeros(); count],
            positions,
            masses,
            inverse_masses,
        }
    }

    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no particle at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Lumped masses, kg.
    #[must_use]
    pub fn masses(&self) -> &[Real] {
        &self.masses
    }

    /// Inverse lumped masses, 1/kg; zero for a particle that forces do not move (a pinned one).
    #[must_use]
    pub fn inverse_masses(&self) -> &[Real] {
        &self.inverse_masses
    }

    /// Positions at the end of the previous tick, m: rendering blends from these to [`positions`](Self::positions).
    #[must_use]
    pub fn previous_positions(&self) -> &[Vector3<Real>] {
        &self.tick_positions
    }

    /// Total mass, kg.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.masses.iter().map(|&mass| f64::from(mass)).sum()
    }

    /// The first particle whose position or velocity is not finite.
    #[must_use]
    pub fn first_non_finite(&self) -> Option<usize> {
        let finite = |v: &Vector3<Real>| v.x.is_finite() && v.y.is_finite() && v.z.is_finite();
        (0..self.len()).find(|&i| !finite(&self.positions[i]) || !finite(&self.velocities[i]))
    }

    /// Marks a particle as moved by something else than forces.
    pub(crate) fn hold(&mut self, particle: usize) {
        self.inverse_masses[particle] = 0.0;
    }

    /// Gives a particle back to the forces.
    pub(crate) fn release(&mut self, particle: usize) {
        self.inverse_masses[particle] = inverse_mass(self.masses[particle]);
    }
}

fn inverse_mass(mass: Real) -> Real {
    if mass > 0.0 && mass.is_finite() {
        mass.recip()
    } else {
        0.0
    }
}
