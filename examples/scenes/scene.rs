//! What a scene is: data and a few functions.

use std::fmt;

use bevy::prelude::*;
use bevy_pliant::prelude::Integrator;

use super::{Outcome, Parameter, Record, Settings};

/// A set-up of bodies and rigid colliders with its own acceptance check.
pub struct Scene {
    /// What the command line calls it.
    pub name: &'static str,
    /// One line that says what can be seen.
    pub about: &'static str,
    /// The laws at work, one per line.
    pub equations: &'static [&'static str],
    /// Simulated time of a run, s.
    pub seconds: f64,
    /// Ticks (and recorded frames) per simulated second.
    pub frames_per_second: f64,
    /// The integrator to use unless another one is asked for.
    pub integrator: fn(&Settings) -> Integrator,
    /// Where to look from.
    pub viewpoint: Viewpoint,
    /// What can be set from outside.
    pub parameters: &'static [Parameter],
    /// Systems of the scene. They are inert while the entities of another scene are in the world.
    pub plugin: fn(&mut App),
    /// Spawns the entities.
    pub build: fn(&mut World, &Settings) -> Result<(), SceneError>,
    /// Quantities of this scene to record after each tick, always the same ones in the same order.
    pub sample: fn(&mut World) -> Vec<(&'static str, f64)>,
    /// Judges a finished run.
    pub check: fn(&Record, &Settings) -> Outcome,
}

/// A camera position, m.
#[derive(Clone, Copy, Debug)]
pub struct Viewpoint {
    /// Where the eye is.
    pub eye: Vec3,
    /// What it looks at.
    pub target: Vec3,
}

/// Why a scene could not be built: a message for the user.
#[derive(Debug)]
pub struct SceneError(pub String);

impl fmt::Display for SceneError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SceneError {}

/// For scenes without systems of their own.
pub fn no_systems(_: &mut App) {}
