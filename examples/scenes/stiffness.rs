//! Bars of the same shape and weight whose stiffness spans six powers of ten.

use bevy::prelude::*;
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::measure::{
    particle_soundness, particles_not_finite, smallest_volume_ratio, vertices_where,
};
use super::props::{Prop, PropShape, STEEL, SceneColor, painted_floor};
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint, statics};

/// Length of a bar along x, m.
const LENGTH: f64 = 1.0;
/// Height and width of a bar, m.
const THICKNESS: f64 = 0.2;
/// Distance between the middles of two bars, m.
const SPACING: f32 = 0.4;
/// The end of the run over which the tips are averaged, s.
const AVERAGED: f64 = 1.0;
/// Largest relative error of the mean drop of a stiff bar. When averaging begins, drag has brought the swing that the
/// sudden weight started down to exp(−5) = 0.7 % of the drop; the rest is for the rounding of positions.
const DROP_LIMIT: f64 = 0.01;

const POISSON: Parameter = Parameter::POISSON_RATIO;
const DENSITY: Parameter = Parameter::DENSITY;
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.81,
    minimum: 0.1,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};
const DRAG: Parameter = Parameter {
    name: "drag",
    default: 5.0,
    minimum: 0.0,
    maximum: 20.0,
    unit: "1/s",
    about: "share of its velocity that a bar loses per second; an integrator without losses needs some to come to rest",
};
const BARS: Parameter = Parameter {
    name: "bars",
    default: 4.0,
    minimum: 1.0,
    maximum: 4.0,
    unit: "",
    about: "how many of the bars, from the softest on",
};
const CELLS: Parameter = Parameter {
    name: "cells",
    default: 3.0,
    minimum: 1.0,
    maximum: 5.0,
    unit: "",
    about: "cells over the thickness",
};

/// Four cantilevers from softer than jelly to harder than wood.
pub const SCENE: Scene = Scene {
    name: "stiffness",
    about: "clamped bars of 10 kPa, 1 MPa, 100 MPa and 10 GPa side by side: each sags as its own stiffness says",
    equations: &[
        "K u = f, the linear equilibrium of the mesh",
        "sag of a thin beam = rho A g L^4 / (8 E I)",
    ],
    seconds: 3.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(2.1, 0.9, 2.6),
        target: Vec3::new(0.35, -0.45, 0.0),
    },
    parameters: &[POISSON, DENSITY, GRAVITY, DRAG, BARS, CELLS],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// One of the bars.
struct Kind {
    name: &'static str,
    young_modulus: f64,
    /// Names of the mean drop of its tip, of what the mesh's statics say, and of the error between them.
    quantities: [&'static str; 3],
    color: [f32; 3],
    /// Whether its displacements are small enough for linear statics.
    stiff: bool,
}

static KINDS: [Kind; 4] = [
    Kind {
        name: "bar of 1e4 Pa",
        young_modulus: 1e4,
        quantities: ["drop_1e4", "linear_drop_1e4", "drop_error_1e4"],
        color: [0.93, 0.48, 0.65],
        stiff: false,
    },
    Kind {
        name: "bar of 1e6 Pa",
        young_modulus: 1e6,
        quantities: ["drop_1e6", "linear_drop_1e6", "drop_error_1e6"],
        color: [0.96, 0.72, 0.20],
        stiff: false,
    },
    Kind {
        name: "bar of 1e8 Pa",
        young_modulus: 1e8,
        quantities: ["drop_1e8", "linear_drop_1e8", "drop_error_1e8"],
        color: [0.24, 0.65, 0.40],
        stiff: true,
    },
    Kind {
        name: "bar of 1e10 Pa",
        young_modulus: 1e10,
        quantities: ["drop_1e10", "linear_drop_1e10", "drop_error_1e10"],
        color: [0.20, 0.52, 0.78],
        stiff: true,
    },
];

/// The particles of the free end and their mean height at rest, m.
#[derive(Component)]
struct Tip {
    kind: usize,
    particles: Vec<u32>,
}

/// A bar from x = 0 on, with its clamped and its free end.
fn bar(settings: &Settings) -> Result<(TetrahedralMesh, Vec<u32>, Vec<u32>), SceneError> {
    let across = settings.get(&CELLS).round() as usize;
    let along = (across as f64 * LENGTH / THICKNESS).round() as usize;
    let size = [LENGTH, THICKNESS, THICKNESS];
    // Split in five the cells have an element at each edge of the clamp that the softest bar turns inside out where it
    // comes to rest; split in six they have none.
    let mesh = TetrahedralMesh::block(size, [along, across, across], CellSplit::Six)
        .map_err(|error| SceneError(error.to_string()))?
        .translated_by(Vector3::x() * (LENGTH / 2.0));
    let close = 1e-6;
    let clamped = vertices_where(&mesh, |position| position.x < close);
    let tip = vertices_where(&mesh, |position| position.x > LENGTH - close);
    Ok((mesh, clamped, tip))
}

/// The bars that take part.
fn kinds(settings: &Settings) -> &'static [Kind] {
    &KINDS[..settings.get(&BARS).round() as usize]
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    let (mesh, clamped, tip) = bar(settings)?;
    let middle = 0.5 * (KINDS.len() - 1) as f32;
    for (number, kind) in kinds(settings).iter().enumerate() {
        let z = SPACING * (number as f32 - middle);
        let material = PliantMaterial::new(
            kind.young_modulus as Real,
            settings.get(&POISSON) as Real,
            settings.get(&DENSITY) as Real,
        );
        world.spawn((
            Name::new(kind.name),
            Tip {
                kind: number,
                particles: tip.clone(),
            },
            Pins::at(clamped.iter().copied()),
            Solid::new(mesh.clone()),
            material,
            AirDrag {
                viscous_rate: settings.get(&DRAG) as Real,
                fluid_density: 0.0,
                ..default()
            },
            Transform::from_xyz(0.0, 0.0, z),
            SceneColor(kind.color),
        ));
    }
    world.spawn(painted_floor(-3.0));
    let half_size = Vec3::new(0.06, 0.15, 0.5 * SPACING * KINDS.len() as f32);
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
    let mut samples = vec![("particles_not_finite", particles_not_finite(world))];
    let mut bars = world.query::<(&Particles, &Tip)>();
    for (particles, tip) in bars.iter(world) {
        let heights = tip
            .particles
            .iter()
            .map(|&index| f64::from(particles.positions[index as usize].y));
        // The heights of the straight bar's end have the mean zero.
        let drop = -heights.sum::<f64>() / tip.particles.len() as f64;
        samples.push((KINDS[tip.kind].quantities[0], drop));
    }
    samples
}

/// Mean of a sample over the end of the run.
fn final_mean(record: &Record, name: &str) -> f64 {
    let from = record.seconds() - AVERAGED;
    let rows = record.ticks().iter().filter(|row| row.time > from);
    let (sum, count) = rows.fold((0.0, 0.0), |(sum, count), row| {
        (sum + row.sample(name), count + 1.0)
    });
    sum / count
}

/// Drop of the tip per 1/E, in m Pa, by the linear equilibrium of the mesh; not a number if there is none.
fn compliance(settings: &Settings) -> f64 {
    let weight = Vector3::y() * -(settings.get(&DENSITY) * settings.get(&GRAVITY));
    let drop = bar(settings).ok().and_then(|(mesh, clamped, tip)| {
        let moved = statics::displacements(&mesh, 1.0, settings.get(&POISSON), weight, &clamped)?;
        let drops = tip.iter().map(|&index| -moved[index as usize].y);
        Some(drops.sum::<f64>() / tip.len() as f64)
    });
    drop.unwrap_or(f64::NAN)
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut outcome = Outcome {
        checks: particle_soundness(record),
        quantities: Vec::new(),
    };
    outcome.checks.push(Check::at_least(
        "smallest_volume_ratio",
        smallest_volume_ratio(record),
        0.0,
    ));
    let drops: Vec<f64> = kinds(settings)
        .iter()
        .map(|kind| final_mean(record, kind.quantities[0]))
        .collect();
    let ordered = drops.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let disordered = drops.len() - 1 - ordered;
    outcome
        .checks
        .push(Check::equal("bars_out_of_order", disordered as f64, 0.0));
    let compliance = compliance(settings);
    for (kind, drop) in kinds(settings).iter().zip(drops) {
        let [drop_name, linear_name, error_name] = kind.quantities;
        let linear = compliance / kind.young_modulus;
        let error = drop / linear - 1.0;
        if kind.stiff {
            outcome
                .checks
                .push(Check::at_most(error_name, error.abs(), DROP_LIMIT));
        }
        outcome
            .quantities
            .extend([(drop_name, drop), (linear_name, linear)]);
    }
    // I / A = h² / 12
    let slender = settings.get(&DENSITY) * settings.get(&GRAVITY) * LENGTH.powi(4) * 12.0
        / (8.0 * THICKNESS * THICKNESS);
    outcome
        .quantities
        .push(("mesh_to_beam", compliance / slender));
    outcome
}
