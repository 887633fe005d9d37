//! Coulomb friction of whole bodies and of single particles against its closed forms.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

mod capstan;
mod incline;
mod rolling;

/// A surface with one coefficient of friction.
fn surface(friction: f64) -> SurfaceProperties {
    SurfaceProperties {
        static_friction: friction as Real,
        kinetic_friction: friction as Real,
        ..default()
    }
}

fn particles(app: &App, body: Entity) -> &Particles {
    app.world().get::<Particles>(body).expect("a body")
}

fn particles_mut(app: &mut App, body: Entity) -> Mut<'_, Particles> {
    app.world_mut().get_mut::<Particles>(body).expect("a body")
}

fn vector(x: f64, y: f64, z: f64) -> Vector3<Real> {
    Vector3::new(x as Real, y as Real, z as Real)
}
