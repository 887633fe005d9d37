//! A soft body hung from a collider that moves to and fro.

use std::f32::consts::TAU;

use bevy::prelude::*;
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, PhysicsSet, RigidBody};
use nalgebra::Vector3;

use super::measure::{smallest_volume_ratio, soundness};
use super::props::{Prop, PropShape, STEEL, SceneColor, painted_floor};
use super::record::worst;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Length, width and depth of the hanging body, m.
const SIZE: [f64; 3] = [0.1, 0.36, 0.1];
/// Height of the support's lower side, m.
const SUPPORT_HEIGHT: f32 = 0.5;
/// Half the edges of the support, m.
const SUPPORT_HALF_SIZE: Vec3 = Vec3::new(0.09, 0.025, 0.09);
/// Room between the support and the body, more than the thickness of contact, m.
const ROOM: f64 = 0.002;

const AMPLITUDE: Parameter = Parameter {
    name: "amplitude",
    default: 0.12,
    minimum: 0.0,
    maximum: 1.0,
    unit: "m",
    about: "of the support's motion along x",
};
const FREQUENCY: Parameter = Parameter {
    name: "frequency",
    default: 0.8,
    minimum: 0.0,
    maximum: 10.0,
    unit: "Hz",
    about: "of the support's motion",
};
const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 5e4,
    minimum: 1e4,
    maximum: 1e8,
    unit: "Pa",
    about: "resistance to stretch",
};
const VISCOSITY: Parameter = Parameter {
    name: "viscosity",
    default: 60.0,
    minimum: 0.0,
    maximum: 1e5,
    unit: "Pa s",
    about: "bulk and shear viscosity",
};
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.81,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};

/// A bar of soft stuff under a moving support.
pub const SCENE: Scene = Scene {
    name: "pendulum",
    about: "a soft bar hangs from a support that swings to and fro",
    equations: &[
        "x_i(t) = R(t) a_i + c(t) for pinned particles",
        "c_x(t) = A sin(2 pi f t)",
    ],
    seconds: 8.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.26, 0.46, 0.98),
        target: Vec3::new(0.0, 0.27, 0.0),
    },
    parameters: &[AMPLITUDE, FREQUENCY, YOUNG, VISCOSITY, GRAVITY],
    plugin: |app| {
        app.add_systems(FixedUpdate, swing.before(PhysicsSet::SyncBackend));
    },
    build,
    sample,
    check,
};

/// A support that swings along x.
#[derive(Component)]
struct Swing {
    amplitude: f32,
    frequency: f32,
    /// Ticks since the scene began: the clock of the app may have started long before.
    ticks: u32,
}

/// Where the held particles belong in the frame of the support.
#[derive(Component)]
struct HeldPlaces {
    support: Entity,
    places: Vec<(usize, Vec3)>,
}

fn swing(mut supports: Query<(&mut Swing, &mut Transform)>, time: Res<Time>) {
    for (mut swing, mut transform) in &mut supports {
        swing.ticks += 1;
        let phase = TAU * swing.frequency * swing.ticks as f32 * time.delta_secs();
        transform.translation.x = swing.amplitude * phase.sin();
    }
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    world.spawn(painted_floor(0.0));
    let half_size = SUPPORT_HALF_SIZE;
    let place = Vec3::new(0.0, SUPPORT_HEIGHT + half_size.y, 0.0);
    let support = world
        .spawn((
            Name::new("support"),
            Prop {
                shape: PropShape::Cuboid { half_size },
            },
            STEEL,
            RigidBody::KinematicPositionBased,
            Collider::cuboid(half_size.x, half_size.y, half_size.z),
            Transform::from_translation(place),
            Swing {
                amplitude: settings.get(&AMPLITUDE) as f32,
                frequency: settings.get(&FREQUENCY) as f32,
                ticks: 0,
            },
        ))
        .id();

    let top = f64::from(SUPPORT_HEIGHT) - ROOM;
    let mesh = TetrahedralMesh::block(SIZE, [4, 12, 4], CellSplit::Five)
        .map_err(|error| SceneError(error.to_string()))?
        .translated_by(Vector3::y() * (top - SIZE[1] / 2.0));
    let places: Vec<(usize, Vec3)> = mesh
        .positions
        .iter()
        .enumerate()
        .filter(|(_, position)| position.y > top - 1e-6)
        .map(|(index, position)| {
            (
                index,
                Vec3::from_array(position.cast::<f32>().into()) - place,
            )
        })
        .collect();
    let mut pins = Pins::default();
    pins.pins.extend(places.iter().map(|&(index, local)| Pin {
        particle: index as u32,
        anchor: PinAnchor::Entity {
            entity: support,
            local,
        },
    }));
    let viscosity = settings.get(&VISCOSITY) as Real;
    world.spawn((
        Name::new("bar"),
        pins,
        HeldPlaces { support, places },
        Solid::new(mesh),
        PliantMaterial::new(settings.get(&YOUNG) as Real, 0.45, 1000.0)
            .with_viscosity(viscosity, viscosity),
        SceneColor([0.24, 0.65, 0.52]),
    ));
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut bodies = world.query::<(&Particles, &HeldPlaces, &PliantState)>();
    let mut supports = world.query::<&Transform>();
    let Ok((particles, held, state)) = bodies.single(world) else {
        return Vec::new();
    };
    let Ok(support) = supports.get(world, held.support) else {
        return Vec::new();
    };
    let gaps = held.places.iter().map(|&(index, local)| {
        let expected = support.transform_point(local);
        let position = particles.positions[index].cast::<f64>();
        (position - Vector3::new(expected.x, expected.y, expected.z).cast::<f64>()).norm()
    });
    vec![
        ("pin_distance", worst(gaps)),
        ("support_x", f64::from(support.translation.x)),
        ("center_x", state.center.x),
        ("center_y", state.center.y),
    ]
}

fn check(record: &Record, _: &Settings) -> Outcome {
    let mut checks = soundness(record).to_vec();
    checks.push(Check::at_most(
        "pin_distance",
        worst(record.column("pin_distance")),
        1e-5,
    ));
    checks.push(Check::at_least(
        "smallest_volume_ratio",
        smallest_volume_ratio(record),
        0.0,
    ));
    Outcome {
        checks,
        quantities: vec![
            ("support_range", record.range(|row| row.sample("support_x"))),
            ("center_range", record.range(|row| row.sample("center_x"))),
            ("lift_range", record.range(|row| row.sample("center_y"))),
        ],
    }
}
