//! Who takes part, and with which settings.

use bevy_pliant::prelude::Integrator;

use crate::case::Law;
use crate::rapier::{Settings, Solver};

/// One way to simulate a case.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// The engine with its settings.
    pub engine: Engine,
    /// The elastic law.
    pub law: Law,
}

/// An engine with its settings.
#[derive(Clone, Copy, Debug)]
pub enum Engine {
    /// This library.
    Pliant(Integrator),
    /// Rapier's soft bodies.
    Rapier(Settings),
}

impl Contender {
    /// The engine and its settings in words.
    pub fn describe(&self) -> String {
        match self.engine {
            Engine::Pliant(integrator) => {
                let usual = if integrator == Integrator::default() {
                    ", default"
                } else {
                    ""
                };
                format!(
                    "bevy_pliant: {}{usual}, {}",
                    integrator.name(),
                    self.law.name()
                )
            }
            Engine::Rapier(settings) => {
                format!("Rapier: {}, {}", settings.describe(), self.law.name())
            }
        }
    }
}

/// Everybody. Times are compared with the first: Rapier's more exact solver as it comes, but without damping.
pub fn contenders(quick: bool) -> Vec<Contender> {
    let rapier = |settings, law| Contender {
        engine: Engine::Rapier(settings),
        law,
    };
    let pliant = |integrator, law| Contender {
        engine: Engine::Pliant(integrator),
        law,
    };
    let yardstick = Settings::yardstick();
    let constraints = Settings {
        solver: Solver::Constraints,
        ..yardstick
    };
    let mut all = vec![
        rapier(yardstick, Law::Corotational),
        rapier(
            Settings {
                damping_ratio: 1.0,
                ..yardstick
            },
            Law::Corotational,
        ),
        rapier(
            Settings {
                linear_iterations: 500,
                ..yardstick
            },
            Law::Corotational,
        ),
        rapier(
            Settings {
                substeps: 16,
                ..yardstick
            },
            Law::Corotational,
        ),
        rapier(constraints, Law::Corotational),
        rapier(
            Settings {
                damping_ratio: 1.0,
                ..constraints
            },
            Law::Corotational,
        ),
        rapier(yardstick, Law::NeoHookean),
    ];
    if quick {
        all.truncate(5);
    }
    let mut integrators = vec![Integrator::default()];
    if Integrator::default() != Integrator::SYMPLECTIC_EULER {
        integrators.push(Integrator::SYMPLECTIC_EULER);
    }
    for integrator in integrators {
        all.extend(Law::ALL.map(|law| pliant(integrator, law)));
    }
    all
}
