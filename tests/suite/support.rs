//! A headless app and small helpers for the tests.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use bevy::prelude::*;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::TimestepMode;
use nalgebra::Vector3;

use crate::scenes::headless_app;

/// Ticks per second of the tests, unless they choose another rate.
pub const RATE: f64 = 60.0;

/// An app with Rapier and the library, whose every update is one tick of 1/60 s; no gravity from Rapier is changed.
pub fn app() -> App {
    app_at(RATE)
}

/// An app whose every update is one tick of 1/`rate` s.
pub fn app_at(rate: f64) -> App {
    let mut app = headless_app(None);
    let tick = Duration::from_secs_f64(1.0 / rate);
    app.world_mut()
        .resource_mut::<Time<Fixed>>()
        .set_timestep(tick);
    app.insert_resource(TimestepMode::Fixed {
        dt: tick.as_secs_f32(),
        substeps: 1,
    });
    app.finish();
    app.cleanup();
    // The first update starts the clock and runs no tick.
    app.update();
    app
}

/// Runs `count` ticks.
pub fn ticks(app: &mut App, count: usize) {
    for _ in 0..count {
        app.update();
    }
}

/// The state of a body.
pub fn state(app: &App, body: Entity) -> &PliantState {
    app.world().get::<PliantState>(body).expect("a body")
}

/// Spawns a soft cube of 500 kg/m³, its side in m and its velocity in m/s.
pub fn cube(app: &mut App, size: f64, cells: usize, place: Vec3, velocity: Vec3) -> Entity {
    let mesh = TetrahedralMesh::block([size; 3], [cells; 3], CellSplit::Six).expect("a block");
    let body = (
        Solid::new(mesh),
        PliantMaterial::new(5e4, 0.4, 500.0).with_viscosity(20.0, 20.0),
        InitialMotion {
            linear_velocity: velocity,
            ..default()
        },
        Transform::from_translation(place),
    );
    app.world_mut().spawn(body).id()
}

/// Spawns a level square sheet, its side in m and its velocity in m/s.
pub fn sheet(
    app: &mut App,
    fabric: Fabric,
    size: f64,
    cells: usize,
    place: Vec3,
    velocity: Vec3,
) -> Entity {
    let mesh = TriangleMesh::sheet([size; 2], [cells; 2], SheetPattern::Herringbone);
    let body = (
        Cloth::new(mesh.expect("a sheet")),
        fabric,
        InitialMotion {
            linear_velocity: velocity,
            ..default()
        },
        Transform::from_translation(place),
    );
    app.world_mut().spawn(body).id()
}

/// Total momentum, kg·m/s.
pub fn momentum(app: &App, bodies: &[Entity]) -> Vector3<f64> {
    bodies.iter().map(|&body| state(app, body).momentum).sum()
}

/// Fails unless `value` is within `tolerance` × |`expected`| of `expected`.
#[track_caller]
pub fn assert_relative(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value - expected).abs() / expected.abs();
    assert!(
        error <= tolerance,
        "{what}: {value} instead of {expected}, {error:.2e} off, {tolerance:.1e} allowed"
    );
}

/// The folder of the reference data, if it is there.
pub fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("PLIANT_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")),
        PathBuf::from,
    );
    let found = folder.is_dir();
    if !found {
        println!(
            "no reference data in {}: this test checks nothing here",
            folder.display()
        );
    }
    found.then_some(folder)
}

/// A case of `analytic.json` by its id, if the data is there.
pub fn analytic_case(id: &str) -> Option<serde_json::Value> {
    let text =
        std::fs::read_to_string(data_folder()?.join("analytic.json")).expect("readable data");
    let all: serde_json::Value = serde_json::from_str(&text).expect("valid data");
    let cases = all["cases"].as_array().expect("a list of cases");
    Some(
        cases
            .iter()
            .find(|case| case["id"] == id)
            .unwrap_or_else(|| panic!("no case {id}"))
            .clone(),
    )
}

/// The hash that a test prints in a child process, in a line that begins with `hash `, when its environment says so. Thread
/// pools belong to the process, so each number of threads needs one of its own.
pub fn hash_of_child(test: &str, environment: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .envs(environment.iter().copied())
        .output()
        .expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("hash ").map(str::to_owned))
        .unwrap_or_else(|| panic!("no hash from the child with {environment:?}:\n{text}"))
}
