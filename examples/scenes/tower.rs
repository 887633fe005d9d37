//! A tall slender body that stands on the ground by nothing but its own weight.

use bevy::prelude::*;
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::measure::{
    lowest_height, particle_soundness, particles_not_finite, smallest_volume_ratio, vertices_where,
};
use super::props::{SceneColor, floor};
use super::record::worst;
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Width and depth of the tower, m.
const WIDTH: f64 = 0.3;
/// Height of the tower at rest without weight, m.
const HEIGHT: f64 = 3.0;
/// Cells along the edges.
const CELLS: [usize; 3] = [3, 30, 3];
/// Distance that the body keeps from the ground, m.
const THICKNESS: f64 = 1e-3;
/// Largest distance of the lowest particle from that distance, m.
const GROUND_LIMIT: f64 = 1e-3;
/// Largest error of the final height, relative to the height that the weight leaves: a third of what it takes.
const HEIGHT_LIMIT: f64 = 5e-4;
/// Load over critical load that Greenhill found for a column clamped at its foot: ρ g A L³ / (E I).
const GREENHILL: f64 = 7.8373;

const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 5e6,
    minimum: 1e5,
    maximum: 1e10,
    unit: "Pa",
    about: "resistance to stretch; below 2.3 MPa (at 500 kg/m3) the tower buckles under its own weight",
};
const POISSON: Parameter = Parameter {
    default: 0.4,
    ..Parameter::POISSON_RATIO
};
const DENSITY: Parameter = Parameter {
    default: 500.0,
    ..Parameter::DENSITY
};
const PUSH: Parameter = Parameter {
    name: "push",
    default: 0.2,
    minimum: 0.0,
    maximum: 5.0,
    unit: "m/s",
    about: "sideways velocity of the top at the start",
};
const DRAG: Parameter = Parameter {
    name: "drag",
    default: 1.0,
    minimum: 0.0,
    maximum: 20.0,
    unit: "1/s",
    about: "share of its velocity that the tower loses per second",
};
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.81,
    minimum: 0.1,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};

/// A tower, pushed a little at the top.
pub const SCENE: Scene = Scene {
    name: "tower",
    about: "a tall slender tower is pushed, sways on its own weight and stays upright",
    equations: &[
        "height = L - rho g L^2 / (2 E)",
        "stands while rho g A L^3 / (E I) < 7.84 [Greenhill 1881]",
    ],
    seconds: 12.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(1.6, 2.0, 5.0),
        target: Vec3::new(0.0, 1.45, 0.0),
    },
    parameters: &[YOUNG, POISSON, DENSITY, PUSH, DRAG, GRAVITY],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// The particles of the upper end.
#[derive(Component)]
struct Top(Vec<u32>);

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    world.spawn(floor(0.0));
    let mesh = TetrahedralMesh::block([WIDTH, HEIGHT, WIDTH], CELLS, CellSplit::Five)
        .map_err(|error| SceneError(error.to_string()))?
        .translated_by(Vector3::y() * (HEIGHT / 2.0 + THICKNESS));
    let top = vertices_where(&mesh, |position| position.y > THICKNESS + HEIGHT - 1e-6);
    let material = PliantMaterial::new(
        settings.get(&YOUNG) as Real,
        settings.get(&POISSON) as Real,
        settings.get(&DENSITY) as Real,
    );
    let body = world
        .spawn((
            Name::new("tower"),
            Top(top),
            Solid::new(mesh),
            material,
            SurfaceProperties {
                thickness: THICKNESS as Real,
                ..default()
            },
            AirDrag {
                viscous_rate: settings.get(&DRAG) as Real,
                ..default()
            },
            SceneColor([0.98, 0.66, 0.17]),
        ))
        .id();
    let Some(mut particles) = world.get_mut::<Particles>(body) else {
        return Err(SceneError("the tower could not be built".into()));
    };
    let push = settings.get(&PUSH);
    for i in 0..particles.len() {
        // The shape of a clamped column's first mode, near enough.
        let share = f64::from(particles.positions[i].y) / HEIGHT;
        particles.velocities[i].x = (push * share * share) as Real;
    }
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = vec![
        ("particles_not_finite", particles_not_finite(world)),
        ("lowest_height", lowest_height(world)),
    ];
    let mut towers = world.query::<(&Particles, &Top)>();
    let Ok((particles, top)) = towers.single(world) else {
        return samples;
    };
    let places = top
        .0
        .iter()
        .map(|&index| particles.positions[index as usize].cast::<f64>());
    let mean = places.sum::<Vector3<f64>>() / top.0.len() as f64;
    samples.extend([
        ("top_x", mean.x),
        ("top_z", mean.z),
        ("top_height", mean.y),
        ("top_distance", mean.x.hypot(mean.z)),
    ]);
    samples
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let last = |name: &str| record.rows.last().map_or(f64::NAN, |row| row.sample(name));
    let specific_weight = settings.get(&DENSITY) * settings.get(&GRAVITY);
    let young = settings.get(&YOUNG);
    let expected = HEIGHT - specific_weight * HEIGHT * HEIGHT / (2.0 * young);
    let height = last("top_height") - last("lowest_height");
    // I / A = w² / 12
    let load = specific_weight * HEIGHT.powi(3) * 12.0 / (young * WIDTH * WIDTH * GREENHILL);
    let lowest = record
        .column("lowest_height")
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    let mut checks = particle_soundness(record);
    checks.extend([
        Check::at_most("final_top_distance", last("top_distance"), WIDTH / 2.0),
        Check::at_least("lowest_height", lowest, THICKNESS - GROUND_LIMIT),
        Check::at_most(
            "final_gap",
            (last("lowest_height") - THICKNESS).abs(),
            GROUND_LIMIT,
        ),
        Check::at_most(
            "height_error",
            (height / expected - 1.0).abs(),
            HEIGHT_LIMIT,
        ),
    ]);
    Outcome {
        checks,
        quantities: vec![
            ("height", height),
            ("height_expected", expected),
            ("shortening", HEIGHT - height),
            ("shortening_expected", HEIGHT - expected),
            ("largest_top_distance", worst(record.column("top_distance"))),
            ("load_over_critical", load),
            ("smallest_volume_ratio", smallest_volume_ratio(record)),
            ("energy_drift", record.energy_drift()),
        ],
    }
}
