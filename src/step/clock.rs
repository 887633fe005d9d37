//! The clock of the substeps.

use bevy::prelude::*;

/// Where the simulation stands inside the current tick; written by the integrator before each evaluation.
///
/// A user force that depends on time reads [`time`](Self::time): an integrator that evaluates forces several
/// times a step sets it to the time of each evaluation.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct PliantClock {
    /// Simulated time of the current evaluation, s.
    pub time: f64,
    /// Length of the tick, s.
    pub tick_dt: f64,
    /// Length of the current substep, s.
    pub dt: f64,
    /// Start of the current substep as a fraction of the tick.
    pub start_fraction: f64,
    /// End of the current substep as a fraction of the tick.
    pub end_fraction: f64,
    /// The instant inside the substep that the particles' velocities belong to when contact is resolved: 1/2 for
    /// symplectic Euler and mixed integration (there velocities live between the positions), 1 for the others.
    pub velocity_fraction: f64,
}
