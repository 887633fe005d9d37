//! A bar clamped at one end: does it sag and ring as beam theory says?

use std::f64::consts::TAU;

use bevy::prelude::*;
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::harmonic;
use super::measure::{soundness, vertices_where};
use super::props::{Prop, PropShape, STEEL, SceneColor, painted_floor};
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// First root of 1 + cos(x) cosh(x) = 0.
const FIRST_ROOT: f64 = 1.875_104_068_711_961;
/// Length of the bar along x, m.
const LENGTH: f64 = 1.0;
/// Height and width of the bar, m.
const THICKNESS: f64 = 0.1;
/// Mass per volume, kg/m³.
const DENSITY: f64 = 1000.0;
/// Largest relative error of the frequency on the finest mesh.
const FREQUENCY_LIMIT: f64 = 0.02;
/// Largest relative error of the sag on the finest mesh: a compliance, it errs twice as much as its square root.
const SAG_LIMIT: f64 = 0.04;

const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    default: 3.0,
    minimum: 1.0,
    maximum: 4.0,
    unit: "",
    about: "1, 2, 3, 4: 2, 4, 8, 16 cells over the thickness",
};
const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 1e6,
    minimum: 1e3,
    maximum: 1e10,
    unit: "Pa",
    about: "resistance to stretch",
};
const POISSON: Parameter = Parameter::POISSON_RATIO;
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 0.1,
    minimum: 1e-4,
    maximum: 10.0,
    unit: "m/s2",
    about: "load, small so that the theory holds",
};
const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    default: 1e-5,
    minimum: 1e-12,
    maximum: 1e-2,
    unit: "",
    about: "relative error per second that rkf45 allows",
};
const CONSISTENT: Parameter = Parameter {
    name: "consistent_mass",
    default: 1.0,
    minimum: 0.0,
    maximum: 1.0,
    unit: "",
    about: "1: consistent mass matrix, 0: lumped (rkf45 only)",
};

/// A cantilever that gets its own small weight at time zero and swings about its static sag.
pub const SCENE: Scene = Scene {
    name: "bar",
    about: "a clamped bar under a small load rings with the frequency and the sag of beam theory",
    equations: &[
        "f1 = 1.8751^2 / (2 pi) sqrt(E I / (rho A L^4))",
        "sag = rho A g L^4 / (8 E I)",
    ],
    seconds: 4.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.tuned(Integrator::SYMPLECTIC_EULER, &TOLERANCE, &CONSISTENT),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.95, 0.5, 1.25),
        target: Vec3::new(0.46, -0.06, 0.0),
    },
    parameters: &[RESOLUTION, YOUNG, POISSON, GRAVITY, TOLERANCE, CONSISTENT],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// The particles of the free end; at rest their mean height is zero.
#[derive(Component)]
struct Tip(Vec<u32>);

/// Frequency (Hz) and sag (m) of Euler and Bernoulli's beam.
fn theory(settings: &Settings) -> (f64, f64) {
    let young = settings.get(&YOUNG);
    let area = THICKNESS * THICKNESS;
    let bending = young * THICKNESS.powi(4) / 12.0;
    let mass_per_length = DENSITY * area;
    (
        FIRST_ROOT * FIRST_ROOT / TAU * (bending / (mass_per_length * LENGTH.powi(4))).sqrt(),
        mass_per_length * settings.get(&GRAVITY) * LENGTH.powi(4) / (8.0 * bending),
    )
}

fn resolution(settings: &Settings) -> u32 {
    settings.get(&RESOLUTION).round() as u32
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    let across = 1_usize << resolution(settings);
    let cells = [across * 10, across, across];
    // The clamped face stands at x = 0.
    let mesh = TetrahedralMesh::block([LENGTH, THICKNESS, THICKNESS], cells, CellSplit::Five)
        .map_err(|error| SceneError(error.to_string()))?
        .translated_by(Vector3::x() * (LENGTH / 2.0));
    let close = 1e-6;
    let clamped = vertices_where(&mesh, |position| position.x < close);
    let tip = vertices_where(&mesh, |position| position.x > LENGTH - close);
    let material = PliantMaterial::new(
        settings.get(&YOUNG) as Real,
        settings.get(&POISSON) as Real,
        DENSITY as Real,
    );
    world.spawn((
        Name::new("bar"),
        Tip(tip),
        Pins::at(clamped),
        Solid::new(mesh),
        material,
        SceneColor([0.20, 0.52, 0.78]),
    ));
    world.spawn(painted_floor(-0.3));
    let half_size = Vec3::new(0.06, 0.15, 0.15);
    world.spawn((
        Name::new("clamp"),
        Prop {
            shape: PropShape::Cuboid { half_size },
        },
        STEEL,
        Transform::from_xyz(-half_size.x, 0.0, 0.0),
    ));
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut bars = world.query::<(&Particles, &Tip, &Tetrahedra)>();
    let Ok((particles, tip, tetrahedra)) = bars.single(world) else {
        return Vec::new();
    };
    let heights = tip
        .0
        .iter()
        .map(|&index| f64::from(particles.positions[index as usize].y));
    vec![
        ("tip", heights.sum::<f64>() / tip.0.len() as f64),
        ("tetrahedra", tetrahedra.len() as f64),
    ]
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let (frequency, sag) = theory(settings);
    let times: Vec<f64> = record.rows.iter().map(|row| row.time).collect();
    let found = harmonic::fit(&times, &record.column("tip"), frequency);
    let measured = found.map_or(f64::NAN, |found| found.frequency);
    let measured_sag = found.map_or(f64::NAN, |found| -found.mean);
    let frequency_error = measured / frequency - 1.0;
    let sag_error = measured_sag / sag - 1.0;
    // Linear elements: the error of a stiffness falls with the square of the cell size.
    let coarser = 4.0_f64.powi(3 - resolution(settings).min(3) as i32);
    let mut checks = soundness(record).to_vec();
    checks.push(Check::at_most(
        "frequency_error",
        frequency_error.abs(),
        FREQUENCY_LIMIT * coarser,
    ));
    checks.push(Check::at_most(
        "sag_error",
        sag_error.abs(),
        SAG_LIMIT * coarser,
    ));
    Outcome {
        checks,
        quantities: vec![
            ("frequency", measured),
            ("frequency_theory", frequency),
            ("frequency_deviation", frequency_error),
            ("sag", measured_sag),
            ("sag_theory", sag),
            ("sag_deviation", sag_error),
            (
                "fit_residual",
                found.map_or(f64::NAN, |found| found.residual),
            ),
            (
                "tetrahedra",
                record
                    .rows
                    .first()
                    .map_or(f64::NAN, |row| row.sample("tetrahedra")),
            ),
            ("energy_drift", record.energy_drift()),
        ],
    }
}
