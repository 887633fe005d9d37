//! What a run of a scene can be told from outside.

use std::path::PathBuf;

use bevy_pliant::prelude::{Integrator, MassMatrix};

use super::Scene;

/// A number that a scene lets the user choose.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// What `--set` calls it.
    pub name: &'static str,
    /// Value when nothing is said.
    pub default: f64,
    /// Smallest value allowed.
    pub minimum: f64,
    /// Largest value allowed.
    pub maximum: f64,
    /// Unit, empty for pure numbers.
    pub unit: &'static str,
    /// What it does.
    pub about: &'static str,
}

impl Parameter {
    /// Poisson's ratio; the default of the thin bars that beam theory is about.
    pub const POISSON_RATIO: Self = Self {
        name: "poisson_ratio",
        default: 0.3,
        minimum: 0.0,
        maximum: 0.49,
        unit: "",
        about: "shrinking across per stretch along",
    };
    /// Density; the default is that of water.
    pub const DENSITY: Self = Self {
        name: "density",
        default: 1000.0,
        minimum: 1.0,
        maximum: 1e5,
        unit: "kg/m3",
        about: "mass per volume",
    };
}

/// The choices for one run of a scene.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Simulated time, s.
    pub seconds: f64,
    /// Ticks per simulated second.
    pub frames_per_second: f64,
    /// Takes the place of the scene's integrator.
    pub integrator: Option<Integrator>,
    /// A tetrahedral mesh file for scenes that read one.
    pub mesh: Option<PathBuf>,
    values: Vec<(&'static str, f64)>,
}

impl Settings {
    /// The scene's own choices.
    pub fn new(scene: &Scene) -> Self {
        Self {
            seconds: scene.seconds,
            frames_per_second: scene.frames_per_second,
            integrator: None,
            mesh: None,
            values: Vec::new(),
        }
    }

    /// Number of ticks of the run.
    pub fn ticks(&self) -> usize {
        (self.seconds * self.frames_per_second).round().max(1.0) as usize
    }

    /// The value chosen for a parameter, or its default.
    pub fn get(&self, parameter: &Parameter) -> f64 {
        self.values
            .iter()
            .find(|(name, _)| *name == parameter.name)
            .map_or(parameter.default, |&(_, value)| value)
    }

    /// Chooses the value of a parameter; the error says what is possible.
    pub fn set(&mut self, scene: &Scene, name: &str, value: f64) -> Result<(), String> {
        let Some(parameter) = scene
            .parameters
            .iter()
            .find(|parameter| parameter.name == name)
        else {
            return Err(format!(
                "scene `{}` has no parameter `{name}`; it has\n{}",
                scene.name,
                scene.parameter_table()
            ));
        };
        // The negated form also refuses a number that is not one.
        if !(value >= parameter.minimum && value <= parameter.maximum) {
            return Err(format!(
                "{name}={value} is out of range: from {} to {} {}",
                parameter.minimum, parameter.maximum, parameter.unit
            ));
        }
        self.values.retain(|(known, _)| *known != parameter.name);
        self.values.push((parameter.name, value));
        Ok(())
    }

    /// The chosen integrator, or `usual`, told what the scene's own parameters say.
    ///
    /// `tolerance` and `consistent` (1 or 0) matter to Runge–Kutta only.
    pub fn tuned(
        &self,
        usual: Integrator,
        tolerance: &Parameter,
        consistent: &Parameter,
    ) -> Integrator {
        let mut integrator = self.integrator.unwrap_or(usual);
        if let Integrator::RungeKuttaFehlberg {
            tolerance: allowed,
            mass,
            ..
        } = &mut integrator
        {
            *allowed = self.get(tolerance);
            *mass = if self.get(consistent) < 0.5 {
                MassMatrix::Lumped
            } else {
                MassMatrix::Consistent
            };
        }
        integrator
    }

    /// The integrator of this run.
    pub fn integrator(&self, scene: &Scene) -> Integrator {
        (scene.integrator)(self)
    }
}

impl Scene {
    /// The parameters, a line each, for messages.
    pub fn parameter_table(&self) -> String {
        self.parameters
            .iter()
            .map(|parameter| {
                format!(
                    "  {:<17} {} [default {}{}{}, {} to {}]\n",
                    parameter.name,
                    parameter.about,
                    parameter.default,
                    if parameter.unit.is_empty() { "" } else { " " },
                    parameter.unit,
                    parameter.minimum,
                    parameter.maximum,
                )
            })
            .collect()
    }
}
