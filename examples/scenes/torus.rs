//! A torus hung by one point of its core, released from rest: does the account of energy balance?

use bevy::prelude::*;
use bevy_pliant::mesh::TetrahedralMesh;
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;

use super::measure::soundness;
use super::props::{Prop, PropShape, STEEL, SceneColor, painted_floor};
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Radius of the circle that the core follows, m.
const MAJOR_RADIUS: f64 = 0.035;
/// Radius of the tube, m.
const MINOR_RADIUS: f64 = 0.015;
/// Cross sections around the axis.
const SECTIONS: usize = 20;
/// Sides of a cross section.
const SIDES: usize = 8;

const BULK: Parameter = Parameter {
    name: "bulk_modulus",
    default: 22e3,
    minimum: 1.0,
    maximum: 1e9,
    unit: "Pa",
    about: "alpha, resistance to a change of volume",
};
const SHEAR: Parameter = Parameter {
    name: "shear_modulus",
    default: 16e3,
    minimum: 1.0,
    maximum: 1e9,
    unit: "Pa",
    about: "beta, resistance to a change of shape",
};
const BULK_VISCOSITY: Parameter = Parameter {
    name: "eta1",
    default: 3.0,
    minimum: 0.0,
    maximum: 1e4,
    unit: "Pa s",
    about: "viscosity against a rate of volume",
};
const SHEAR_VISCOSITY: Parameter = Parameter {
    name: "eta2",
    default: 2.0,
    minimum: 0.0,
    maximum: 1e4,
    unit: "Pa s",
    about: "viscosity against a rate of shape",
};
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.8,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};
/// Nothing here wakes the fastest modes, so the steps may be longer than usual.
const LONGER_STEPS: Integrator = Integrator::SymplecticEuler {
    substeps: Substeps::Automatic { safety: 0.65 },
};

const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    default: 1e-3,
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

/// The scene "torus" of Liesenfeld 1997, chapter 9.
pub const SCENE: Scene = Scene {
    name: "torus",
    about: "a torus hung by one point of its core swings and wobbles; its energies add up",
    equations: &[
        "Phi = alpha/32 (J^4 + J^-4 - 2) + beta/6 (tr(T)^2 - 3 II(T)),  T = C^T C",
        "U = K + P + G,  T = U + integral of W dt = constant",
    ],
    seconds: 10.0,
    frames_per_second: 30.0,
    integrator,
    viewpoint: Viewpoint {
        eye: Vec3::new(0.07, 0.02, 0.22),
        target: Vec3::new(0.0, -0.045, 0.0),
    },
    parameters: &[
        BULK,
        SHEAR,
        BULK_VISCOSITY,
        SHEAR_VISCOSITY,
        GRAVITY,
        TOLERANCE,
        CONSISTENT,
    ],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// The exact reference where numbers are double, the real-time one otherwise.
fn integrator(settings: &Settings) -> Integrator {
    // The scenes do not know the library's features; its numbers tell.
    let usual = if Real::DIGITS > 10 {
        Integrator::RUNGE_KUTTA_FEHLBERG
    } else {
        LONGER_STEPS
    };
    settings.tuned(usual, &TOLERANCE, &CONSISTENT)
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    let mesh = TetrahedralMesh::torus(MAJOR_RADIUS, MINOR_RADIUS, SECTIONS, SIDES)
        .map_err(|error| SceneError(error.to_string()))?;
    let held = core_particle(&mesh)?;
    let material = PliantMaterial::liesenfeld(
        settings.get(&BULK) as Real,
        settings.get(&SHEAR) as Real,
        settings.get(&BULK_VISCOSITY) as Real,
        settings.get(&SHEAR_VISCOSITY) as Real,
        1000.0,
    );
    // The held point stands in the origin: the torus lies flat beside it and swings down.
    let anchor = mesh.positions[held as usize].cast::<f32>();
    let anchor = Vec3::new(anchor.x, anchor.y, anchor.z);
    world.spawn((
        Name::new("torus"),
        Solid::new(mesh),
        material,
        Pins::at([held]),
        Transform::from_translation(-anchor),
        SceneColor([0.91, 0.38, 0.28]),
    ));
    world.spawn(painted_floor(-0.1));
    world.spawn((
        Name::new("nail"),
        Prop {
            shape: PropShape::Cylinder {
                half_height: 0.03,
                radius: 0.0015,
            },
        },
        STEEL,
        Transform::from_xyz(0.0, 0.03, 0.0),
    ));
    Ok(())
}

/// The vertex inside the torus that is farthest along x.
fn core_particle(mesh: &TetrahedralMesh) -> Result<u32, SceneError> {
    let surface = mesh
        .surface()
        .map_err(|error| SceneError(error.to_string()))?;
    let mut on_surface = vec![false; mesh.positions.len()];
    for &corner in surface.triangles.iter().flatten() {
        on_surface[corner as usize] = true;
    }
    (0..mesh.positions.len())
        .filter(|&index| !on_surface[index])
        .max_by(|&a, &b| mesh.positions[a].x.total_cmp(&mesh.positions[b].x))
        .map(|index| index as u32)
        .ok_or_else(|| SceneError("the torus has no vertex inside".into()))
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut bodies = world.query::<(&Particles, &Tetrahedra, &Surface, &PliantState)>();
    let Ok((particles, tetrahedra, surface, state)) = bodies.single(world) else {
        return Vec::new();
    };
    // A closed surface of triangles has three edges for two faces.
    vec![
        ("tetrahedra", tetrahedra.len() as f64),
        ("vertices", particles.len() as f64),
        ("surface_vertices", surface.particles().len() as f64),
        ("surface_edges", surface.triangles.len() as f64 * 1.5),
        ("surface_faces", surface.triangles.len() as f64),
        ("center_x", state.center.x),
        ("center_y", state.center.y),
        ("center_z", state.center.z),
    ]
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let exact = matches!(
        settings.integrator(&SCENE),
        Integrator::RungeKuttaFehlberg { .. }
    );
    let counts = [
        ("tetrahedra", 480.0),
        ("vertices", 180.0),
        ("surface_vertices", 160.0),
        ("surface_edges", 480.0),
        ("surface_faces", 320.0),
    ];
    let first = record.rows.first();
    let mut checks = soundness(record).to_vec();
    checks.extend(counts.map(|(name, expected)| {
        Check::equal(
            name,
            first.map_or(f64::NAN, |row| row.sample(name)),
            expected,
        )
    }));
    let limit = if exact { 1e-3 } else { 2e-2 };
    checks.push(Check::at_most("energy_drift", record.energy_drift(), limit));
    let exchanged = record.energy_exchanged();
    Outcome {
        checks,
        quantities: vec![
            ("energy_exchanged", exchanged),
            ("kinetic_range", record.range(|row| row.energies.kinetic)),
            ("elastic_range", record.range(|row| row.energies.elastic)),
            (
                "gravitational_range",
                record.range(|row| row.energies.gravitational),
            ),
            ("largest_swing", record.range(|row| row.sample("center_x"))),
            (
                "smallest_volume_ratio",
                super::measure::smallest_volume_ratio(record),
            ),
        ],
    }
}
