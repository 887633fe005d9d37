//! A rubber balloon that is pumped up, falls, bounces and is pressed.

use bevy::prelude::*;
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, PhysicsSet, RigidBody};

use super::measure::{lowest_height, particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, floor};
use super::record::worst;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Radius of the slack balloon, m.
const RADIUS: f64 = 0.15;
/// Poisson's ratio of rubber in a sheet, and its thickness, m.
const POISSON: f64 = 0.45;
const THICKNESS: f64 = 3e-4;
/// When the balloon is full, s, and when the plate comes down, rests and goes up again.
const FULL: f32 = 1.5;
const PRESS: [f32; 4] = [4.0, 5.0, 6.5, 7.0];
/// Heights of the plate's lower side, m.
const PLATE: [f32; 2] = [0.75, 0.22];
const PLATE_HALF_SIZE: Vec3 = Vec3::new(0.32, 0.025, 0.32);
/// How far the volume may be from the closed form.
const VOLUME_LIMIT: f64 = 0.02;
/// Largest difference of the extents along x and z: nothing tells these axes apart.
const SYMMETRY_LIMIT: f64 = 0.04;

const AIR: Parameter = Parameter {
    name: "air",
    default: 1.0,
    minimum: 0.0,
    maximum: 5.0,
    unit: "",
    about: "air that is pumped in, in volumes of the slack balloon",
};
const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 1.5e6,
    minimum: 3e5,
    maximum: 1e8,
    unit: "Pa",
    about: "resistance of the rubber to stretch",
};
const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    default: 8.0,
    minimum: 2.0,
    maximum: 24.0,
    unit: "",
    about: "parts of each edge of the icosahedron",
};

/// A balloon of rubber with air in it.
pub const SCENE: Scene = Scene {
    name: "balloon",
    about: "a rubber balloon is pumped up, bounces on the floor and is pressed by a plate",
    equations: &[
        "p = N k T / V - p_a,  F_i = p A n / 3",
        "at rest: p = 2 T / (l R),  T = E t / (1 - nu) (l^2 - 1) / 2,  V = l^3 V_0",
    ],
    seconds: 9.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.55, 0.75, 1.55),
        target: Vec3::new(0.0, 0.28, 0.0),
    },
    parameters: &[AIR, YOUNG, RESOLUTION],
    plugin: |app| {
        app.add_systems(
            FixedUpdate,
            (pump, press).chain().before(PhysicsSet::SyncBackend),
        );
    },
    build,
    sample,
    check,
};

/// A pump that fills the balloon.
#[derive(Component)]
struct Pump {
    /// Overpressure at the volume at rest when the balloon is full, Pa.
    overpressure: Real,
    ticks: u32,
}

/// A plate that comes down and goes up again.
#[derive(Component)]
struct Plate {
    ticks: u32,
}

/// From 0 to 1 between two times, smoothly.
fn ramp(time: f32, from: f32, to: f32) -> f32 {
    let share = ((time - from) / (to - from)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

fn pump(mut balloons: Query<(&mut Pump, &mut Pressure)>, time: Res<Time>) {
    for (mut pump, mut pressure) in &mut balloons {
        pump.ticks += 1;
        let now = pump.ticks as f32 * time.delta_secs();
        let share = Real::from(ramp(now, 0.0, FULL));
        pressure.filling = Pressure::gas(pump.overpressure * share).filling;
    }
}

fn press(mut plates: Query<(&mut Plate, &mut Transform)>, time: Res<Time>) {
    for (mut plate, mut transform) in &mut plates {
        plate.ticks += 1;
        let now = plate.ticks as f32 * time.delta_secs();
        let [down, low, rise, up] = PRESS;
        let share = ramp(now, down, low) - ramp(now, rise, up);
        transform.translation.y = PLATE[0] + (PLATE[1] - PLATE[0]) * share + PLATE_HALF_SIZE.y;
    }
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(floor(0.0));
    let half_size = PLATE_HALF_SIZE;
    world.spawn((
        Name::new("plate"),
        Prop {
            shape: PropShape::Cuboid { half_size },
        },
        STEEL,
        RigidBody::KinematicPositionBased,
        Collider::cuboid(half_size.x, half_size.y, half_size.z),
        Transform::from_xyz(0.0, PLATE[0] + half_size.y, 0.0),
        Plate { ticks: 0 },
    ));
    let mesh = TriangleMesh::sphere(RADIUS, settings.get(&RESOLUTION).round() as usize)
        .map_err(|error| SceneError(error.to_string()))?;
    let rubber = Fabric {
        membrane_damping: 2e-3,
        ..Fabric::sheet(
            settings.get(&YOUNG) as Real,
            POISSON as Real,
            1000.0,
            THICKNESS as Real,
        )
    };
    world.spawn((
        Name::new("balloon"),
        Cloth::new(mesh).without_wrinkles(),
        rubber,
        Pressure::gas(0.0),
        Pump {
            overpressure: Pressure::ATMOSPHERE * settings.get(&AIR) as Real,
            ticks: 0,
        },
        AirDrag {
            viscous_rate: 0.5,
            ..default()
        },
        Transform::from_xyz(0.0, 0.42, 0.0),
        SceneColor([0.84, 0.22, 0.26]),
    ));
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = vec![
        ("particles_not_finite", particles_not_finite(world)),
        ("lowest_height", lowest_height(world)),
    ];
    let mut balloons = world.query::<(&Particles, &Surface, &Pressure, &Cloth)>();
    let Ok((particles, surface, pressure, cloth)) = balloons.single(world) else {
        return samples;
    };
    let volume = Pressure::volume(particles, surface);
    let extent = |axis: usize| {
        let along = particles.positions.iter().map(|x| f64::from(x[axis]));
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        high - low
    };
    samples.extend([
        ("volume_ratio", volume / cloth.mesh().enclosed_volume()),
        ("pressure", pressure.at(volume)),
        ("width", extent(0)),
        ("depth", extent(2)),
        ("height", extent(1)),
    ]);
    samples
}

/// The volume, in volumes of the slack balloon, at which the rubber holds the air in balance.
fn balanced_volume(settings: &Settings) -> f64 {
    let air = f64::from(Pressure::ATMOSPHERE);
    let stiffness = settings.get(&YOUNG) * THICKNESS / ((1.0 - POISSON) * RADIUS);
    let missing = |stretch: f64| {
        let inside = air * (1.0 + settings.get(&AIR)) / stretch.powi(3) - air;
        inside - stiffness * (stretch * stretch - 1.0) / stretch
    };
    let (mut low, mut high) = (0.5, 4.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if missing(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low.powi(3)
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut checks = particle_soundness(record);
    let at = |time: f64, name: &str| {
        let mut rows = record.rows.iter();
        let row = rows.find(|row| row.time >= time - 1e-6);
        row.map_or(f64::NAN, |row| row.sample(name))
    };
    let expected = balanced_volume(settings);
    // Full and at rest, before the plate comes.
    let rest = f64::from(PRESS[0]);
    let found = at(rest, "volume_ratio");
    checks.push(Check::at_most(
        "volume_error",
        (found / expected - 1.0).abs(),
        VOLUME_LIMIT,
    ));
    let widths = record.column("width").into_iter();
    let skewed = widths
        .zip(record.column("depth"))
        .map(|(width, depth)| (width / depth - 1.0).abs());
    checks.push(Check::at_most("asymmetry", worst(skewed), SYMMETRY_LIMIT));
    let lowest = record.column("lowest_height").into_iter();
    checks.push(Check::at_least(
        "lowest_height",
        lowest.fold(f64::INFINITY, f64::min),
        -1e-3,
    ));
    // The plate squeezes the shape, hardly the air; and afterwards all is as before.
    let pressed = f64::from(PRESS[2]);
    checks.push(Check::at_most(
        "pressed_height",
        at(pressed, "height") / at(rest, "height"),
        0.7,
    ));
    let last = at(settings.seconds - 0.1, "volume_ratio");
    checks.push(Check::at_most(
        "volume_change_by_pressing",
        (last / found - 1.0).abs(),
        0.01,
    ));
    Outcome {
        checks,
        quantities: vec![
            ("volume_ratio", found),
            ("volume_ratio_expected", expected),
            ("volume_ratio_pressed", at(pressed, "volume_ratio")),
            ("pressure_at_rest", at(rest, "pressure")),
            ("pressure_pressed", at(pressed, "pressure")),
        ],
    }
}
