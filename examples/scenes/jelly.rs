//! Blocks and balls of several materials dropped on steps, a floor and a ramp.

use bevy::prelude::*;
use bevy_pliant::mesh::{CellSplit, MeshError, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;

use super::measure::{landing, landing_samples, smallest_volume_ratio};
use super::props::{SceneColor, fixed_box, floor};
use super::scene::no_systems;
use super::{Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Speed that counts as rest, m/s.
const REST_SPEED: f64 = 0.1;

/// Share of its velocity that a body loses per second, 1/s: contact has no rolling resistance, and a ball between
/// steps and ramp would roll for a long time.
const SLOWDOWN: Real = 0.4;

const STIFFNESS: Parameter = Parameter {
    name: "stiffness",
    default: 1.0,
    minimum: 0.2,
    maximum: 20.0,
    unit: "",
    about: "factor on every Young's modulus",
};
const FRICTION: Parameter = Parameter {
    name: "friction",
    default: 0.6,
    minimum: 0.0,
    maximum: 2.0,
    unit: "",
    about: "coefficient of friction of the bodies",
};
const CELLS: Parameter = Parameter {
    name: "cells",
    default: 5.0,
    minimum: 2.0,
    maximum: 16.0,
    unit: "",
    about: "cells along the edge of a block",
};
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.81,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};

/// Six bodies of different stuff and the furniture that they fall on.
pub const SCENE: Scene = Scene {
    name: "jelly",
    about: "blocks and balls of jelly, silicone, foam and rubber fall on steps, a floor and a ramp",
    equations: &[
        "Psi = mu/2 (I_C - 3) + lambda/2 (J - alpha)^2 - mu/2 log(I_C + 1)",
        "|f_t| <= mu_s f_n, sliding: f_t = -mu_d f_n v_t/|v_t|",
    ],
    seconds: 8.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.2, 1.2, 2.35),
        target: Vec3::new(0.02, 0.12, 0.1),
    },
    parameters: &[STIFFNESS, FRICTION, CELLS, GRAVITY],
    plugin: no_systems,
    build,
    sample: landing_samples,
    check,
};

/// One body of the scene.
struct Piece {
    name: &'static str,
    form: Form,
    material: PliantMaterial,
    place: Transform,
    motion: InitialMotion,
    color: [f32; 3],
}

enum Form {
    /// A cube of this edge length, m.
    Block(f64),
    /// A ball of this radius, m.
    Ball(f64),
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    furniture(world);
    let friction = settings.get(&FRICTION) as Real;
    for piece in pieces() {
        let mesh = mesh_of(&piece.form, settings).map_err(|error| SceneError(error.to_string()))?;
        let mut material = piece.material;
        material.young_modulus *= settings.get(&STIFFNESS) as Real;
        world.spawn((
            Name::new(piece.name),
            Solid::new(mesh),
            material,
            piece.place,
            piece.motion,
            SurfaceProperties {
                static_friction: friction,
                kinetic_friction: friction,
                restitution: 0.1,
                ..default()
            },
            AirDrag {
                viscous_rate: SLOWDOWN,
                ..default()
            },
            SceneColor(piece.color),
        ));
    }
    Ok(())
}

/// Steps on the left, a ramp on the right, a floor below.
fn furniture(world: &mut World) {
    world.spawn(floor(0.0));
    for step in 0..3_u8 {
        let height = 0.1 * f32::from(3 - step);
        let half_size = Vec3::new(0.125, height / 2.0, 0.65);
        let x = -1.0 + 0.25 * f32::from(step);
        world.spawn(fixed_box(
            "step",
            half_size,
            Transform::from_xyz(x, height / 2.0, 0.0),
        ));
    }
    let slope = 18.0_f32.to_radians();
    let half_size = Vec3::new(0.45, 0.05, 0.65);
    // The lower edge of the upper side touches the floor at x = 0.35.
    let (sine, cosine) = slope.sin_cos();
    let x = 0.35 + half_size.x * cosine + half_size.y * sine;
    let y = half_size.x * sine - half_size.y * cosine;
    world.spawn(fixed_box(
        "ramp",
        half_size,
        Transform::from_xyz(x, y, 0.0).with_rotation(Quat::from_rotation_z(slope)),
    ));
}

/// Each body has a lane of its own along x.
fn pieces() -> [Piece; 6] {
    let tilted = |x: f32, y: f32, z: f32, angle: f32| {
        Transform::from_xyz(x, y, z).with_rotation(Quat::from_euler(
            EulerRot::XYZ,
            angle,
            0.4 * angle,
            0.7 * angle,
        ))
    };
    let toward = |x: f32| InitialMotion {
        linear_velocity: Vec3::X * x,
        ..default()
    };
    [
        Piece {
            name: "jelly block on the steps",
            form: Form::Block(0.2),
            material: PliantMaterial::new(2e4, 0.42, 1010.0).with_viscosity(12.0, 12.0),
            place: tilted(-0.66, 0.55, 0.4, 0.3),
            motion: toward(0.3),
            color: [0.87, 0.24, 0.31],
        },
        Piece {
            name: "silicone ball on the steps",
            form: Form::Ball(0.1),
            material: PliantMaterial::new(1.2e5, 0.42, 1070.0).with_viscosity(40.0, 40.0),
            place: Transform::from_xyz(-0.95, 0.75, -0.45),
            motion: toward(0.5),
            color: [0.98, 0.66, 0.17],
        },
        Piece {
            name: "rubber ball on the ramp",
            form: Form::Ball(0.09),
            material: PliantMaterial::new(2e5, 0.42, 950.0).with_viscosity(40.0, 40.0),
            place: Transform::from_xyz(0.95, 0.8, -0.2),
            motion: InitialMotion::default(),
            color: [0.24, 0.65, 0.40],
        },
        Piece {
            name: "foam block on the ramp",
            form: Form::Block(0.2),
            material: PliantMaterial::new(1e4, 0.3, 60.0).with_viscosity(12.0, 12.0),
            place: tilted(0.72, 0.45, 0.4, -0.1),
            motion: InitialMotion::default(),
            color: [0.55, 0.40, 0.77],
        },
        Piece {
            name: "stiff block on the floor",
            form: Form::Block(0.2),
            material: PliantMaterial::new(1.2e5, 0.4, 1000.0).with_viscosity(40.0, 40.0),
            place: tilted(-0.02, 0.6, 0.08, 0.35),
            motion: InitialMotion::default(),
            color: [0.20, 0.52, 0.78],
        },
        Piece {
            name: "jelly ball on the floor",
            form: Form::Ball(0.12),
            material: PliantMaterial::new(2e4, 0.42, 1010.0).with_viscosity(15.0, 15.0),
            place: Transform::from_xyz(0.0, 0.5, 0.85),
            motion: InitialMotion::default(),
            color: [0.93, 0.48, 0.65],
        },
    ]
}

fn mesh_of(form: &Form, settings: &Settings) -> Result<TetrahedralMesh, MeshError> {
    let cells = settings.get(&CELLS).round() as usize;
    match *form {
        Form::Block(edge) => TetrahedralMesh::block([edge; 3], [cells; 3], CellSplit::Five),
        Form::Ball(radius) => TetrahedralMesh::ball(radius, cells.div_ceil(2)),
    }
}

fn check(record: &Record, _: &Settings) -> Outcome {
    Outcome {
        checks: landing(record, REST_SPEED),
        quantities: vec![
            ("smallest_volume_ratio", smallest_volume_ratio(record)),
            ("most_contacts", record.range(|row| f64::from(row.contacts))),
            ("contact_energy", record.range(|row| row.energies.contact)),
        ],
    }
}
