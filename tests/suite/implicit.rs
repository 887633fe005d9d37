//! The implicit integrator: where it comes to rest, how fast its error falls, what it keeps, and how it rubs.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

mod contact;
mod momentum;
mod order;
mod statics;
mod steps;

/// The three elastic laws, by the names that the reference data give them.
const MODELS: [(&str, ElasticModel); 3] = [
    ("stable_neo_hookean", ElasticModel::StableNeoHookean),
    ("corotational", ElasticModel::Corotational),
    ("seed_W", ElasticModel::LIESENFELD),
];

/// The three schemes with their own settings.
const SCHEMES: [Integrator; 3] = [
    Integrator::IMPLICIT,
    Integrator::BACKWARD_EULER,
    Integrator::BACKWARD_DIFFERENCES,
];

/// The integrator with another number of steps per tick.
fn with_substeps(mut integrator: Integrator, count: u32) -> Integrator {
    if let Integrator::Implicit { substeps, .. } = &mut integrator {
        *substeps = count;
    }
    integrator
}

/// The integrator with other limits of the linear solver.
fn with_limits(mut integrator: Integrator, most: u32, good_enough: f64) -> Integrator {
    if let Integrator::Implicit {
        iterations,
        tolerance,
        ..
    } = &mut integrator
    {
        (*iterations, *tolerance) = (most, good_enough);
    }
    integrator
}

fn particles(app: &App, body: Entity) -> &Particles {
    app.world().get::<Particles>(body).expect("a body")
}

/// Positions in double precision, m.
fn positions(app: &App, body: Entity) -> Vec<Vector3<f64>> {
    let positions = &particles(app, body).positions;
    positions.iter().map(|position| position.cast()).collect()
}

/// Largest speed of any particle, m/s.
fn largest_speed(app: &App, body: Entity) -> f64 {
    let velocities = &particles(app, body).velocities;
    velocities
        .iter()
        .fold(0.0, |most: Real, velocity| most.max(velocity.norm()))
        .into()
}

/// The particles whose rest position passes.
fn chosen(mesh: &TetrahedralMesh, passes: impl Fn(&Vector3<f64>) -> bool) -> Vec<u32> {
    (0..)
        .zip(&mesh.positions)
        .filter(|(_, position)| passes(position))
        .map(|(particle, _)| particle)
        .collect()
}
