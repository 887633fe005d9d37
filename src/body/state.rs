//! What a body tells about itself: read-only output, written once per tick.

use bevy::prelude::*;
use nalgebra::{UnitQuaternion, Vector3};

use super::ContactReport;
use crate::Real;

/// The energy account of a body, J [000 ch. 9].
///
/// ```text
/// useful  U = kinetic + elastic + gravitational
/// total   T = U + dissipated
/// ```
///
/// T stays level as long as nothing else does work on the body: moving pins, user forces and moving colliders do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic energy K, with the mass matrix that the integrator uses.
    pub kinetic: f64,
    /// Elastic energy P of all elements, and of what a closed cloth is filled with.
    pub elastic: f64,
    /// Gravitational energy G, zero at the world's origin.
    pub gravitational: f64,
    /// Power W lost at this instant to viscosity and drag, W.
    pub dissipated_power: f64,
    /// Energy D lost since the body was spawned: ∫ W dt and what contacts took.
    pub dissipated: f64,
    /// The part of `dissipated` that inelastic contacts and friction took.
    pub contact: f64,
}

impl Energies {
    /// Useful energy U = K + P + G, J.
    #[must_use]
    pub fn useful(&self) -> f64 {
        self.kinetic + self.elastic + self.gravitational
    }

    /// Total energy T = U + D, J: level when nothing outside the body does work.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.useful() + self.dissipated
    }
}

/// How the implicit solver fared in the last tick; zeros with other integrators.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverReport {
    /// Systems of equations solved.
    pub solves: u32,
    /// Iterations of conjugate gradients, over all solves.
    pub iterations: u32,
    /// Largest residual that a solve ended with, relative to its right-hand side.
    pub residual: f64,
    /// Steps whose result was not accepted because it would have raised the incremental potential, and which were
    /// repeated with the monotone method.
    pub fallbacks: u32,
    /// Momentum that the solver lost and the momentum correction gave back, relative to Σ m |v|.
    pub momentum_error: f64,
}

/// What a body tells about itself after each tick. Nothing reads it back: writing to it has no effect on the motion,
/// except that the running sums of [`Energies`] go on from the written values.
#[derive(Component, Clone, Debug, Default)]
pub struct PliantState {
    /// Center of mass, m.
    pub center: Vector3<f64>,
    /// Linear momentum, kg·m/s.
    pub momentum: Vector3<f64>,
    /// Angular momentum about the center of mass, kg·m²/s.
    pub angular_momentum: Vector3<f64>,
    /// The energy account.
    pub energies: Energies,
    /// Smallest ratio of current to rest volume of any element, 1 at rest, negative when one is inverted.
    pub smallest_volume_ratio: f64,
    /// How the implicit solver fared.
    pub solver: SolverReport,
    /// Substeps taken in the last tick.
    pub substeps: u32,
    /// Particles in contact with a collider in the last substep.
    pub contacts: u32,
    /// What contact with deformable bodies, itself included, did.
    pub contact: ContactReport,
    /// Grows by one each time elements, particles or surface of the body change: caches keyed on it stay right.
    pub topology_version: u32,
}

/// The rigid frame that follows a body: where its [`Transform`] stands.
///
/// The frame sits in the center of mass and turns with the rotation that best fits the particles to their rest
/// shape. Rendering, culling and attachments use it; the simulation does not.
#[derive(Component, Clone, Debug)]
pub struct BodyFrame {
    /// Center of mass at the end of the last tick, m.
    pub center: Vector3<f64>,
    /// Best-fit rotation at the end of the last tick.
    pub rotation: UnitQuaternion<f64>,
    /// Center of mass at the end of the tick before.
    pub previous_center: Vector3<f64>,
    /// Best-fit rotation at the end of the tick before.
    pub previous_rotation: UnitQuaternion<f64>,
    /// Rest positions relative to the rest center of mass, m: what the rotation is fitted to.
    pub(crate) rest_offsets: Vec<Vector3<Real>>,
    /// The transform as the library wrote it last: a difference means that the user moved the body.
    pub(crate) written: Option<Transform>,
}

impl Default for BodyFrame {
    fn default() -> Self {
        Self {
            center: Vector3::zeros(),
            rotation: UnitQuaternion::identity(),
            previous_center: Vector3::zeros(),
            previous_rotation: UnitQuaternion::identity(),
            rest_offsets: Vec::new(),
            written: None,
        }
    }
}

/// A body that is left out of the simulation because it holds numbers that are not finite.
///
/// The library inserts it with the reason, after putting the body back to its last good state, and logs one error.
/// Remove the component to let the body go on.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// What was found, where and what to do.
    pub reason: String,
}
