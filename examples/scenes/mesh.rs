//! Any tetrahedral mesh file, dropped on the floor.

use std::path::PathBuf;

use bevy::prelude::*;
use bevy_pliant::io::read_tetrahedral_mesh;
use bevy_pliant::mesh::TetrahedralMesh;
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::measure::{landing, landing_samples, smallest_volume_ratio};
use super::props::{SceneColor, fixed_box, floor};
use super::scene::no_systems;
use super::{Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Speed that counts as rest, m/s.
const REST_SPEED: f64 = 0.1;
/// The longest side of a mesh whose own size makes no sense here, m.
const USUAL_SIZE: f64 = 0.3;

const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 6e4,
    minimum: 1e3,
    maximum: 1e9,
    unit: "Pa",
    about: "resistance to stretch",
};
const POISSON: Parameter = Parameter {
    default: 0.42,
    ..Parameter::POISSON_RATIO
};
const DENSITY: Parameter = Parameter::DENSITY;
const VISCOSITY: Parameter = Parameter {
    name: "viscosity",
    // Explicit viscosity asks for a step in proportion to the square of the smallest altitude: meshes from elsewhere
    // have slivers, so the body is braked by the air instead.
    default: 0.0,
    minimum: 0.0,
    maximum: 1e6,
    unit: "Pa s",
    about: "bulk and shear viscosity",
};
const HEIGHT: Parameter = Parameter {
    name: "height",
    default: 0.2,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m",
    about: "free fall of the lowest vertex",
};
const SIZE: Parameter = Parameter {
    name: "size",
    default: 0.0,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m",
    about: "longest side; 0: as in the file if between 5 cm and 2 m, 0.3 m else",
};
const TURN: Parameter = Parameter {
    name: "turn",
    default: 20.0,
    minimum: -360.0,
    maximum: 360.0,
    unit: "deg",
    about: "tilt about the z axis before the fall",
};

/// One body from a file.
pub const SCENE: Scene = Scene {
    name: "mesh",
    about: "a tetrahedral mesh from a file (--mesh FILE: msh, mesh, node/ele, vtk) falls on the floor",
    equations: &["M a = M g - dP/dx - (1/2) dW/dv + contact"],
    seconds: 6.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.25, 0.3, 0.55),
        target: Vec3::new(-0.02, 0.11, 0.0),
    },
    parameters: &[YOUNG, POISSON, DENSITY, VISCOSITY, HEIGHT, SIZE, TURN],
    plugin: no_systems,
    build,
    sample: landing_samples,
    check,
};

/// The mesh that the project brings along.
fn usual_file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/trefoil.msh"))
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    let path = settings.mesh.clone().unwrap_or_else(usual_file);
    let mesh = read_tetrahedral_mesh(&path).map_err(|error| SceneError(error.to_string()))?;
    let mesh = sized(mesh, settings)?;
    let turn = (settings.get(&TURN) as f32).to_radians();
    let turned = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::z_axis(), f64::from(turn));
    let mesh = mesh.rotated_by(turned);
    let Some((low, high)) = mesh.bounds() else {
        return Err(SceneError(format!(
            "{}: the mesh has no vertices",
            path.display()
        )));
    };
    let middle = (low + high) / 2.0;
    let mesh = mesh.translated_by(Vector3::new(
        -middle.x,
        settings.get(&HEIGHT) - low.y,
        -middle.z,
    ));
    let viscosity = settings.get(&VISCOSITY) as Real;
    let material = PliantMaterial::new(
        settings.get(&YOUNG) as Real,
        settings.get(&POISSON) as Real,
        settings.get(&DENSITY) as Real,
    )
    .with_viscosity(viscosity, viscosity);
    let body = world
        .spawn((
            Name::new(
                path.file_name()
                    .map_or_else(|| "mesh".into(), |name| name.to_string_lossy().into_owned()),
            ),
            Solid::new(mesh),
            material,
            AirDrag {
                viscous_rate: 1.5,
                ..default()
            },
            SceneColor([0.96, 0.72, 0.20]),
        ))
        .id();
    if let Some(quarantined) = world.get::<Quarantined>(body) {
        return Err(SceneError(format!(
            "{}: {}",
            path.display(),
            quarantined.reason
        )));
    }
    world.spawn(floor(0.0));
    let half_size = Vec3::new(0.08, 0.03, 0.12);
    world.spawn(fixed_box(
        "plinth",
        half_size,
        Transform::from_xyz(-0.07, half_size.y, 0.0),
    ));
    Ok(())
}

/// The mesh at the size that the settings ask for; a change of size is told.
fn sized(mesh: TetrahedralMesh, settings: &Settings) -> Result<TetrahedralMesh, SceneError> {
    let Some((low, high)) = mesh.bounds() else {
        return Ok(mesh);
    };
    let longest = (high - low).max();
    let wanted = match settings.get(&SIZE) {
        size if size > 0.0 => size,
        _ if (0.05..=2.0).contains(&longest) => return Ok(mesh),
        _ => USUAL_SIZE,
    };
    info!("the mesh is {longest:.4} m long; scaled to {wanted} m");
    mesh.scaled_by(Vector3::repeat(wanted / longest))
        .map_err(|error| SceneError(error.to_string()))
}

fn check(record: &Record, _: &Settings) -> Outcome {
    Outcome {
        checks: landing(record, REST_SPEED),
        quantities: vec![
            ("smallest_volume_ratio", smallest_volume_ratio(record)),
            ("contact_energy", record.range(|row| row.energies.contact)),
        ],
    }
}
