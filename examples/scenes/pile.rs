//! Soft cubes that are dropped into a heap.

use bevy::prelude::*;
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;

use super::crossings::crossings;
use super::measure::{lowest_height, particle_soundness, particles_not_finite};
use super::props::{SceneColor, floor};
use super::record::worst;
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Edge of a cube, m.
const SIZE: f64 = 0.2;
/// Distance of the cubes' centers at the start, m.
const SPACING: f32 = 0.25;
/// How far cubes stand off their places at the start, m: no tower stands.
const SHIFT: f32 = 0.02;
/// Largest kinetic energy per mass that counts as rest, J/kg: 2 cm/s.
const REST: f64 = 2e-4;
/// Time at the end over which the heap is at rest, s.
const RESTING: f64 = 0.5;

const CELLS: Parameter = Parameter {
    name: "cells",
    default: 3.0,
    minimum: 1.0,
    maximum: 12.0,
    unit: "",
    about: "cells along the edge of a cube",
};
const SIDE: Parameter = Parameter {
    name: "side",
    default: 3.0,
    minimum: 1.0,
    maximum: 6.0,
    unit: "",
    about: "cubes along each direction",
};
const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 5e4,
    minimum: 5e3,
    maximum: 1e8,
    unit: "Pa",
    about: "resistance to stretch",
};
const VISCOSITY: Parameter = Parameter {
    name: "viscosity",
    default: 50.0,
    minimum: 0.0,
    maximum: 1e4,
    unit: "Pa s",
    about: "inner friction",
};

/// Twenty-seven cubes.
pub const SCENE: Scene = Scene {
    name: "pile",
    about: "27 soft cubes fall into a heap and come to rest",
    equations: &[
        "E(d) = k (r - d)^2 / 2 below the contact distance r, k r^2 ln / 4 below r / 2 [Chen 2025]",
        "|f| = mu N (2 s - s^2), s = |u| / (e h) < 1 [Li 2020]",
    ],
    seconds: 4.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(1.2, 1.1, 1.9),
        target: Vec3::new(0.0, 0.2, 0.0),
    },
    parameters: &[CELLS, SIDE, YOUNG, VISCOSITY],
    plugin: no_systems,
    build,
    sample,
    check,
};

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(floor(0.0));
    let cells = settings.get(&CELLS).round() as usize;
    let side = settings.get(&SIDE).round() as u16;
    let mesh = TetrahedralMesh::block([SIZE; 3], [cells; 3], CellSplit::Six)
        .map_err(|error| SceneError(error.to_string()))?;
    let viscosity = settings.get(&VISCOSITY) as Real;
    let material = PliantMaterial::new(settings.get(&YOUNG) as Real, 0.4, 500.0)
        .with_viscosity(viscosity, viscosity);
    let place = |index: u16| (f32::from(index) - 0.5 * f32::from(side - 1)) * SPACING;
    for number in 0..side * side * side {
        let (layer, row, column) = (number / (side * side), number / side % side, number % side);
        // As uneven as five steps of a sequence are.
        let shift = |factor: u16| (f32::from(number * factor % 5) - 2.0) * 0.5 * SHIFT;
        let height = 0.5 * SIZE as f32 + 0.05 + f32::from(layer) * (SPACING + 0.02);
        let share = f32::from(number) / f32::from(side * side * side);
        world.spawn((
            Name::new(format!("cube {number}")),
            Solid::new(mesh.clone()),
            material,
            Transform::from_xyz(place(column) + shift(7), height, place(row) + shift(3)),
            SceneColor([0.9 - 0.6 * share, 0.35 + 0.3 * share, 0.25 + 0.6 * share]),
        ));
    }
    Ok(())
}

/// Kinetic energy over mass of all bodies, J/kg.
pub fn kinetic_energy_per_mass(world: &mut World) -> f64 {
    let mut bodies = world.query::<(&PliantState, &Particles)>();
    let (energy, mass) = bodies.iter(world).fold((0.0, 0.0), |(energy, mass), body| {
        (energy + body.0.energies.kinetic, mass + body.1.total_mass())
    });
    energy / mass
}

/// Samples of the contact of all bodies, the same for every scene with contact.
pub fn contact_samples(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = vec![
        ("particles_not_finite", particles_not_finite(world)),
        ("crossings", crossings(world) as f64),
        ("kinetic_energy_per_mass", kinetic_energy_per_mass(world)),
    ];
    let mut bodies = world.query::<&PliantState>();
    let (mut contacts, mut truncated, mut intersections) = (0.0, 0.0, 0.0);
    for state in bodies.iter(world) {
        contacts += f64::from(state.contact.contacts);
        truncated += f64::from(state.contact.truncated);
        intersections += f64::from(state.contact.intersections);
    }
    samples.extend([
        ("contacts", contacts),
        ("truncated", truncated),
        ("intersections", intersections),
    ]);
    samples
}

/// What must hold in every scene with contact.
pub fn contact_soundness(record: &Record) -> Vec<Check> {
    let mut checks = particle_soundness(record);
    for name in ["crossings", "intersections"] {
        checks.push(Check::equal(name, worst(record.column(name)), 0.0));
    }
    checks
}

/// Largest kinetic energy per mass in the last half second, J/kg.
pub fn energy_at_rest(record: &Record, settings: &Settings) -> f64 {
    let rows = (RESTING * settings.frames_per_second) as usize;
    let column = record.column("kinetic_energy_per_mass");
    worst(column.iter().rev().take(rows).copied())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = contact_samples(world);
    samples.push(("lowest_height", lowest_height(world)));
    samples
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut checks = contact_soundness(record);
    let heights = record.column("lowest_height");
    let lowest = heights.into_iter().fold(f64::INFINITY, f64::min);
    checks.push(Check::at_least("lowest_height", lowest, 0.0));
    checks.push(Check::at_most(
        "energy_at_rest",
        energy_at_rest(record, settings),
        REST,
    ));
    let contacts = record.column("contacts");
    checks.push(Check::at_least(
        "contacts",
        contacts.last().copied().unwrap_or(f64::NAN),
        1.0,
    ));
    Outcome {
        checks,
        quantities: vec![("truncated", record.column("truncated").iter().sum())],
    }
}
