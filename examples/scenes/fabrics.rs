//! Cloths of five fabrics over balls and tables.

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetGrid, SheetPattern};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use nalgebra::Vector3;

use super::fabric::{FABRICS, largest_kinetic_energy, largest_thread_strain, places};
use super::measure::{particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, floor};
use super::record::worst;
use super::scene::no_systems;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Side of the square cloths, m: less than twice the width of what they fall on, so that no fold has to lie on another.
const SIZE: f64 = 0.44;
/// Radius of the balls, m.
const RADIUS: f32 = 0.12;
/// Half the edges of the tables' tops, m.
const TABLE: Vec3 = Vec3::new(0.12, 0.12, 0.12);
/// Height of the middle of balls and tables, m.
const HEIGHT: f32 = 0.3;
/// Distance of neighbors, m.
const SPACING: f32 = 0.52;
/// Of an edge of the mesh, the distance that cloth keeps. Only vertices touch: with less, an edge of the mesh that runs
/// over a sharp corner would cut it. Three vertices around a corner of a box need 0.47.
const KEPT: f64 = 0.5;
/// How far they fall before they touch, m. Laid down, not thrown: a sheet that lands flat and falls past an edge by half
/// the width of its mesh in a tick is stretched there for some ticks.
const DROP: f32 = 0.002;

/// Largest kinetic energy per mass that counts as rest, J/kg: 1 cm/s.
const REST: f64 = 5e-5;
/// Largest strain of warp or weft at rest, and at any time: what falls is caught within a step.
const STRAIN_LIMITS: [f64; 2] = [0.04, 0.1];

const CELLS: Parameter = Parameter {
    name: "cells",
    default: 36.0,
    minimum: 4.0,
    maximum: 200.0,
    unit: "",
    about: "cells along the side of a cloth",
};
const BENDING: Parameter = Parameter {
    name: "bending",
    default: 1.0,
    minimum: 0.0,
    maximum: 100.0,
    unit: "",
    about: "factor on every bending stiffness",
};
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.81,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};

/// A row of balls and a row of tables, under a cloth each.
pub const SCENE: Scene = Scene {
    name: "fabrics",
    about: "silk, cotton, denim, leather and rubber drape over balls and square tables",
    equations: &[
        "psi = Y_u/2 E_uu^2 + Y_v/2 E_vv^2 + Y_c E_uu E_vv + 2 G E_uv^2",
        "F_i = k_e |E|^2/(|N1|+|N2|) (sin(theta/2) - sin(theta0/2)) u_i,  k_e = 4 B",
        "|f_t| <= mu_s f_n, sliding: f_t = -mu_d f_n v_t/|v_t|",
    ],
    seconds: 4.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.0, 1.3, 1.75),
        target: Vec3::new(0.0, 0.2, -0.02),
    },
    parameters: &[CELLS, BENDING, GRAVITY],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// What a cloth falls on, and where its middle is.
#[derive(Component)]
enum Under {
    Ball(Vector3<f64>),
    Table(Vector3<f64>),
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::NEG_Y * settings.get(&GRAVITY) as f32));
    world.spawn(floor(0.0));
    let cells = settings.get(&CELLS).round();
    let grid = SheetGrid {
        size: [SIZE; 2],
        cells: [cells as usize; 2],
        pattern: SheetPattern::Herringbone,
    };
    let mesh = grid.mesh().map_err(|error| SceneError(error.to_string()))?;
    let kept = KEPT * SIZE / cells;
    for (index, (name, fabric, color)) in FABRICS.into_iter().enumerate() {
        let x = SPACING * (index as f32 - 2.0);
        for is_ball in [true, false] {
            let middle = Vec3::new(x, HEIGHT, if is_ball { 0.3 } else { -0.3 });
            let point = Vector3::from(middle.to_array()).cast::<f64>();
            let (under, top) = if is_ball {
                (Under::Ball(point), RADIUS)
            } else {
                (Under::Table(point), TABLE.y)
            };
            spawn_furniture(world, &under, middle);
            let factor = settings.get(&BENDING) as Real;
            let start = middle + Vec3::Y * (top + kept as f32 + DROP);
            world.spawn((
                Name::new(name),
                under,
                Cloth::new(mesh.clone()),
                fabric.with_bending_stiffness(fabric.bending_stiffness * factor),
                Aerodynamic::default(),
                SurfaceProperties {
                    static_friction: fabric.friction,
                    kinetic_friction: fabric.friction,
                    thickness: kept as Real,
                    ..default()
                },
                Transform::from_translation(start),
                SceneColor(color),
            ));
        }
    }
    Ok(())
}

fn spawn_furniture(world: &mut World, under: &Under, middle: Vec3) {
    let (name, shape, collider, bottom) = match under {
        Under::Ball(_) => (
            "ball",
            PropShape::Ball { radius: RADIUS },
            Collider::ball(RADIUS),
            HEIGHT - RADIUS,
        ),
        Under::Table(_) => (
            "table",
            PropShape::Cuboid { half_size: TABLE },
            Collider::cuboid(TABLE.x, TABLE.y, TABLE.z),
            HEIGHT - TABLE.y,
        ),
    };
    world.spawn((
        Name::new(name),
        Prop { shape },
        STEEL,
        RigidBody::Fixed,
        collider,
        Transform::from_translation(middle),
    ));
    world.spawn((
        Name::new("leg (not solid)"),
        Prop {
            shape: PropShape::Cylinder {
                half_height: 0.5 * bottom,
                radius: 0.03,
            },
        },
        STEEL,
        Transform::from_xyz(middle.x, 0.5 * bottom, middle.z),
    ));
}

/// Depth of a point inside what the cloth falls on, m; negative outside.
fn depth(under: &Under, point: &Vector3<f64>) -> f64 {
    match under {
        Under::Ball(middle) => f64::from(RADIUS) - (point - middle).norm(),
        Under::Table(middle) => {
            let half = Vector3::from(TABLE.to_array()).cast::<f64>();
            // Exact inside, at most the distance outside.
            (half - (point - middle).abs()).min()
        }
    }
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let finite = particles_not_finite(world);
    let energy = largest_kinetic_energy(world);
    let (mut strain, mut vertices, mut faces) = (0.0_f64, f64::NEG_INFINITY, f64::NEG_INFINITY);
    let mut cloths = world.query::<(&Under, &Cloth, &Particles)>();
    for (under, cloth, particles) in cloths.iter(world) {
        let places = places(particles);
        strain = worst([strain, largest_thread_strain(cloth, &places)]);
        for place in &places {
            vertices = vertices.max(depth(under, place));
        }
        for triangle in &cloth.mesh().triangles {
            let [a, b, c] = triangle.map(|corner| places[corner as usize]);
            for point in [
                (a + b + c) / 3.0,
                (a + b) / 2.0,
                (b + c) / 2.0,
                (c + a) / 2.0,
            ] {
                faces = faces.max(depth(under, &point));
            }
        }
    }
    vec![
        ("particles_not_finite", finite),
        ("kinetic_energy_per_mass", energy),
        ("largest_strain", strain),
        ("deepest_vertex", vertices),
        ("deepest_face", faces),
    ]
}

fn check(record: &Record, _: &Settings) -> Outcome {
    let last = |name: &str| record.rows.last().map_or(f64::NAN, |row| row.sample(name));
    let deepest = |name: &str| {
        let depths = record.column(name);
        depths.into_iter().fold(f64::NEG_INFINITY, f64::max)
    };
    let mut checks = particle_soundness(record);
    checks.push(Check::at_most(
        "kinetic_energy_per_mass",
        last("kinetic_energy_per_mass"),
        REST,
    ));
    let strains = [
        ("final_strain", last("largest_strain")),
        ("largest_strain", worst(record.column("largest_strain"))),
    ];
    for ((name, strain), limit) in strains.into_iter().zip(STRAIN_LIMITS) {
        checks.push(Check::at_most(name, strain, limit));
    }
    // Where vertices keep half an edge, nothing may come closer than the surface.
    checks.push(Check::at_most(
        "deepest_vertex",
        deepest("deepest_vertex"),
        0.0,
    ));
    checks.push(Check::at_most("deepest_face", deepest("deepest_face"), 0.0));
    let ticks = record.ticks();
    let count = |number: fn(&super::Row) -> u32| {
        ticks.iter().map(|row| f64::from(number(row))).sum::<f64>() / ticks.len().max(1) as f64
    };
    Outcome {
        checks,
        quantities: vec![
            ("mean_solves", count(|row| row.solver.solves)),
            ("mean_iterations", count(|row| row.solver.iterations)),
            ("mean_fallbacks", count(|row| row.solver.fallbacks)),
            ("mean_contacts", count(|row| row.contacts)),
        ],
    }
}
