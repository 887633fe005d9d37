//! A sheet with a notch that is pulled apart.

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetGrid, SheetPattern, SheetSide};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::measure::{particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, painted_floor};
use super::record::worst;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Width and height of the sheet, m.
const SIZE: [f64; 2] = [1.2, 0.8];
/// Height of its middle above the painted floor, m.
const HEIGHT: f32 = 0.75;
/// How much of the height is cut at the start.
const NOTCH: f64 = 0.12;
/// How far each grip moves, m.
const WAY: f32 = 0.3;
/// When the grips start, s.
const START: f32 = 0.5;
/// Change of mass, and of momentum over what could have changed.
const KEPT: f64 = 1e-6;
/// Largest strain across any edge, over the strain at which it tears: a tear advances by an edge per tick.
const OVERSTRAIN: f64 = 2.5;

const STRAIN: Parameter = Parameter {
    name: "strain",
    default: 0.2,
    minimum: 0.02,
    maximum: 1.0,
    unit: "",
    about: "strain at which the sheet tears",
};
const SPEED: Parameter = Parameter {
    name: "speed",
    default: 0.1,
    minimum: 0.01,
    maximum: 2.0,
    unit: "m/s",
    about: "speed of each grip",
};
const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    default: 24.0,
    minimum: 6.0,
    maximum: 96.0,
    unit: "",
    about: "cells along the height",
};

/// A sheet between two grips.
pub const SCENE: Scene = Scene {
    name: "tear",
    about: "a sheet with a notch is pulled apart by two grips: a tear runs through it",
    equations: &[
        "an edge opens where |F n| - 1 > strain, n across it",
        "m_copy = m A_copy / A,  v_copy = v",
    ],
    seconds: 5.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.45, 1.1, 2.5),
        target: Vec3::new(0.0, 0.62, 0.0),
    },
    parameters: &[STRAIN, SPEED, RESOLUTION],
    plugin: |app| {
        app.add_systems(FixedUpdate, pull)
            .add_systems(PliantStep, remember.after(PliantStepSystems::FinishSubstep))
            .add_observer(compare);
    },
    build,
    sample,
    check,
};

/// A grip that moves along x.
#[derive(Component)]
struct Grip {
    velocity: f32,
    start: f32,
    ticks: u32,
}

fn pull(mut grips: Query<(&mut Grip, &mut Transform)>, time: Res<Time>) {
    for (mut grip, mut transform) in &mut grips {
        grip.ticks += 1;
        let moving = (grip.ticks as f32 * time.delta_secs() - START).max(0.0);
        let way = (grip.velocity * moving).clamp(-WAY, WAY);
        transform.translation.x = grip.start + way;
    }
}

/// What tears have changed that they should not.
#[derive(Component, Default)]
struct Ledger {
    mass: f64,
    momentum: Vector3<f64>,
    worst_mass: f64,
    worst_momentum: f64,
}

/// Mass, momentum, and the sum of the momenta's sizes.
fn totals(particles: &Particles) -> (f64, Vector3<f64>, f64) {
    let moving = particles.masses().iter().zip(&particles.velocities);
    moving.fold((0.0, Vector3::zeros(), 0.0), |sum, (&mass, velocity)| {
        let (mass, velocity) = (f64::from(mass), velocity.cast::<f64>());
        (
            sum.0 + mass,
            sum.1 + velocity * mass,
            sum.2 + velocity.norm() * mass,
        )
    })
}

fn remember(mut sheets: Query<(&Particles, &mut Ledger)>) {
    for (particles, mut ledger) in &mut sheets {
        (ledger.mass, ledger.momentum, _) = totals(particles);
    }
}

fn compare(torn: On<Torn>, mut sheets: Query<(&Particles, &mut Ledger)>) {
    if let Ok((particles, mut ledger)) = sheets.get_mut(torn.body) {
        let (mass, momentum, size) = totals(particles);
        let changed = (momentum - ledger.momentum).norm() / size.max(1e-12);
        ledger.worst_momentum = ledger.worst_momentum.max(changed);
        ledger.worst_mass = ledger.worst_mass.max((mass / ledger.mass - 1.0).abs());
    }
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(painted_floor(0.0));
    let cells = settings.get(&RESOLUTION).round() as usize;
    let grid = SheetGrid {
        size: SIZE,
        cells: [cells * 3 / 2 / 2 * 2, cells],
        pattern: SheetPattern::Herringbone,
    };
    let error = |error: bevy_pliant::mesh::TriangleMeshError| SceneError(error.to_string());
    let notch: Vec<[u32; 2]> = (0..(NOTCH * cells as f64).ceil() as usize)
        .map(|j| [j, j + 1].map(|j| grid.vertex(grid.cells[0] / 2, j)))
        .collect();
    let mesh = grid.mesh().map_err(error)?;
    let mesh = mesh.torn(&notch).map_err(error)?.mesh;
    // The sheet lies level with its middle in the origin; this one stands, with its notch on top.
    let upright = Transform::from_xyz(0.0, HEIGHT, 0.0)
        .with_rotation(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
    let mut pins = Pins::default();
    for (side, sign) in [(SheetSide::Left, -1.0_f32), (SheetSide::Right, 1.0)] {
        let half_size = Vec3::new(0.025, 0.5 * SIZE[1] as f32 + 0.03, 0.025);
        let start = sign * (0.5 * SIZE[0] as f32);
        let place = Vec3::new(start, HEIGHT, 0.0);
        let grip = world
            .spawn((
                Name::new("grip"),
                Prop {
                    shape: PropShape::Cuboid { half_size },
                },
                STEEL,
                Transform::from_translation(place),
                Grip {
                    velocity: sign * settings.get(&SPEED) as f32,
                    start,
                    ticks: 0,
                },
            ))
            .id();
        pins.pins
            .extend(grid.edge_particles(side).into_iter().map(|particle| {
                let rest = mesh.positions[particle as usize].cast::<f32>();
                let local = upright.transform_point(Vec3::new(rest.x, rest.y, rest.z)) - place;
                Pin {
                    particle,
                    anchor: PinAnchor::Entity {
                        entity: grip,
                        local,
                    },
                }
            }));
    }
    let fabric = Fabric {
        areal_density: 0.2,
        shear_modulus: 600.0,
        strain_limit: Real::INFINITY,
        membrane_damping: 4e-3,
        ..Fabric::COTTON.with_moduli(1500.0, 1500.0)
    };
    world.spawn((
        Name::new("sheet"),
        Cloth::new(mesh),
        fabric,
        pins,
        Tearing::beyond(settings.get(&STRAIN) as Real),
        Ledger::default(),
        AirDrag {
            viscous_rate: 0.5,
            ..default()
        },
        upright,
        SceneColor([0.93, 0.62, 0.20]),
    ));
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let finite = particles_not_finite(world);
    let mut sheets = world.query::<(&Particles, &Surface, &Membranes, &Cloth, &Ledger)>();
    let Ok((particles, surface, membranes, cloth, ledger)) = sheets.single(world) else {
        return vec![("particles_not_finite", finite)];
    };
    let position = |corner: u32| particles.positions[corner as usize].cast::<f64>();
    // Triangles keep their order, so each one knows its shape at rest.
    let rest = &cloth.mesh();
    let strains = membranes.corners().iter().zip(&rest.triangles);
    let strains = strains.flat_map(|(now, at_rest)| {
        [(0, 1), (1, 2), (2, 0)].map(|(a, b)| {
            let length = (position(now[a]) - position(now[b])).norm();
            let [a, b] = [a, b].map(|corner| rest.positions[at_rest[corner] as usize]);
            length / (a - b).norm() - 1.0
        })
    });
    let strain = worst(strains);
    let texture = rest.corner_coordinates.as_ref();
    let changed = texture.is_none_or(|texture| *texture != surface.corner_coordinates);
    let pieces = TriangleMesh::new(
        particles.positions.iter().map(|x| x.cast()).collect(),
        surface.triangles.clone(),
    );
    let pieces = pieces
        .topology()
        .map_or(f64::NAN, |topology| topology.piece_count() as f64);
    vec![
        ("particles_not_finite", finite),
        ("particles", particles.len() as f64),
        ("pieces", pieces),
        ("largest_strain", strain),
        ("texture_changed", f64::from(u8::from(changed))),
        ("mass_change", ledger.worst_mass),
        ("momentum_change", ledger.worst_momentum),
    ]
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut checks = particle_soundness(record);
    let ends = |name: &str| {
        let [first, last] = [record.rows.first(), record.rows.last()];
        [first, last].map(|row| row.map_or(f64::NAN, |row| row.sample(name)))
    };
    let strain = worst(record.column("largest_strain"));
    for name in ["mass_change", "momentum_change"] {
        checks.push(Check::at_most(name, worst(record.column(name)), KEPT));
    }
    checks.push(Check::equal(
        "texture_changed",
        worst(record.column("texture_changed")),
        0.0,
    ));
    checks.push(Check::at_most(
        "largest_strain",
        strain / settings.get(&STRAIN),
        OVERSTRAIN,
    ));
    let [whole, torn] = ends("pieces");
    checks.push(Check::equal("pieces_at_start", whole, 1.0));
    checks.push(Check::at_least("pieces", torn, 2.0));
    let [before, after] = ends("particles");
    let at = |wanted: f64| {
        let mut rows = record.rows.iter();
        let row = rows.find(|row| row.sample("pieces") >= wanted);
        row.map_or(f64::NAN, |row| row.time)
    };
    let mut rows = record.rows.iter();
    let started = rows.find(|row| row.sample("particles") > before);
    Outcome {
        checks,
        quantities: vec![
            ("pieces_at_end", torn),
            ("particles_added", after - before),
            ("tear_starts_at", started.map_or(f64::NAN, |row| row.time)),
            ("parted_at", at(2.0)),
            ("strain", strain),
        ],
    }
}
