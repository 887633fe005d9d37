//! A cloth held at its corners catches soft bodies.
//!
//! Rigid balls can be added, and fall through if they are heavy: a rigid body that gives way is met particle by particle after
//! the cloth has been solved for, so that the cloth holds it with the weight of the particles that touch it only.

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, ColliderMassProperties, RigidBody};

use super::pile::{contact_samples, contact_soundness};
use super::props::{STEEL, SceneColor, floor};
use super::scene::no_systems;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Edge of the cloth, m.
const SIZE: f64 = 1.4;
/// Height at which it hangs, m.
const HEIGHT: f32 = 1.2;
/// Radius of a soft ball, m.
const SOFT: f64 = 0.12;
/// Radius of a rigid ball, m.
const RIGID: f32 = 0.1;
/// Height above which a body counts as caught, m.
const CAUGHT: f64 = 0.2;

const CELLS: Parameter = Parameter {
    name: "cells",
    default: 28.0,
    minimum: 4.0,
    maximum: 100.0,
    unit: "",
    about: "cells along the edge of the cloth",
};
const DENSITY: Parameter = Parameter {
    name: "density",
    default: 150.0,
    minimum: 10.0,
    maximum: 2000.0,
    unit: "kg/m3",
    about: "of the bodies",
};

const SOFT_BALLS: Parameter = Parameter {
    name: "soft_balls",
    default: 3.0,
    minimum: 0.0,
    maximum: 3.0,
    unit: "",
    about: "soft balls to catch",
};
const RIGID_BALLS: Parameter = Parameter {
    name: "rigid_balls",
    default: 0.0,
    minimum: 0.0,
    maximum: 2.0,
    unit: "",
    about: "rigid balls to catch; heavy ones fall through",
};

/// A hammock.
pub const SCENE: Scene = Scene {
    name: "hammock",
    about: "a cloth held at its four corners catches soft balls",
    equations: &[
        "E(d) = k (r - d)^2 / 2 below the contact distance r, k r^2 ln / 4 below r / 2 [Chen 2025]",
    ],
    seconds: 4.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(1.5, 1.7, 2.2),
        target: Vec3::new(0.0, 0.85, 0.0),
    },
    parameters: &[CELLS, DENSITY, SOFT_BALLS, RIGID_BALLS],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// A ball that is to be caught.
#[derive(Component)]
struct Caught;

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(floor(0.0));
    let cells = settings.get(&CELLS).round() as usize;
    let mesh = TriangleMesh::sheet([SIZE; 2], [cells; 2], SheetPattern::Herringbone)
        .map_err(|error| SceneError(error.to_string()))?;
    let corner = 0.5 * SIZE - 1e-6;
    let corners = mesh.particles_where(|place| {
        place.abs().max() > corner && {
            let outer = place.iter().filter(|x| x.abs() > corner);
            outer.count() == 2
        }
    });
    world.spawn((
        Name::new("hammock"),
        Cloth::new(mesh),
        Fabric::DENIM,
        Pins::at(corners),
        AirDrag {
            coefficient: 0.0,
            viscous_rate: 1.0,
            ..default()
        },
        Transform::from_xyz(0.0, HEIGHT, 0.0),
        SceneColor([0.25, 0.38, 0.62]),
    ));
    let density = settings.get(&DENSITY);
    let ball = TetrahedralMesh::ball(SOFT, 2).map_err(|error| SceneError(error.to_string()))?;
    for (number, (x, z)) in [(-0.15_f32, -0.1_f32), (0.17, -0.05), (0.0, 0.18)]
        .into_iter()
        .enumerate()
        .take(settings.get(&SOFT_BALLS).round() as usize)
    {
        let height = HEIGHT + 0.3 + 0.05 * number as f32;
        world.spawn((
            Name::new(format!("soft ball {number}")),
            Caught,
            Solid::new(ball.clone()),
            PliantMaterial::new(3e4, 0.4, density as bevy_pliant::Real).with_viscosity(30.0, 30.0),
            Transform::from_xyz(x, height, z),
            SceneColor([0.95, 0.55, 0.2]),
        ));
    }
    for (number, (x, z)) in [(-0.12_f32, 0.1_f32), (0.1, -0.15)]
        .into_iter()
        .enumerate()
        .take(settings.get(&RIGID_BALLS).round() as usize)
    {
        world.spawn((
            Name::new(format!("rigid ball {number}")),
            Caught,
            Prop {
                shape: PropShape::Ball { radius: RIGID },
            },
            STEEL,
            RigidBody::Dynamic,
            Collider::ball(RIGID),
            ColliderMassProperties::Density(density as f32),
            Transform::from_xyz(x, HEIGHT + 0.75, z),
        ));
    }
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = contact_samples(world);
    let mut balls = world.query_filtered::<&Transform, With<Caught>>();
    let lowest = balls
        .iter(world)
        .map(|ball| f64::from(ball.translation.y))
        .fold(f64::INFINITY, f64::min);
    samples.push(("lowest_ball", lowest));
    samples
}

fn check(record: &Record, _: &Settings) -> Outcome {
    let mut checks = contact_soundness(record);
    let heights = record.column("lowest_ball");
    let lowest = heights.into_iter().fold(f64::INFINITY, f64::min);
    checks.push(Check::at_least("lowest_ball", lowest, CAUGHT));
    Outcome {
        checks,
        quantities: vec![("truncated", record.column("truncated").iter().sum())],
    }
}
