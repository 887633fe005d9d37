//! A flag on a pole in a gusty wind.

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetGrid, SheetPattern, SheetSide};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;

use super::fabric::{MODEL, model};
use super::measure::{particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, painted_floor};
use super::record::worst;
use super::scene::no_systems;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Width and height of the flag, m.
const SIZE: [f64; 2] = [1.2, 0.8];
/// Height of the flag's middle above the painted floor, m.
const HEIGHT: f32 = 1.3;
/// Largest strain of any edge: cotton locks at 7 %.
const STRAIN_LIMIT: f64 = 0.1;
/// Of its width, how far the flag's free edge must be blown downwind on average.
const FLIES: f64 = 0.5;

const WIND: Parameter = Parameter {
    name: "wind",
    default: 8.0,
    minimum: 0.0,
    maximum: 30.0,
    unit: "m/s",
    about: "mean speed of the wind; below 4 m/s the flag hangs",
};
const GUSTS: Parameter = Parameter {
    name: "gusts",
    default: 1.0,
    minimum: 0.0,
    maximum: 10.0,
    unit: "m/s",
    about: "standard deviation of the wind",
};
const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    default: 12.0,
    minimum: 2.0,
    maximum: 96.0,
    unit: "",
    about: "cells along each side",
};

/// A flag of cotton, held along one side.
pub const SCENE: Scene = Scene {
    name: "flag_wind",
    about: "a cotton flag on a pole in a gusty wind",
    equations: &[
        "F = rho/2 A (n . v) (C_D v + C_L |v| (n - (n . v/|v|) v/|v|))",
        "psi = Y_u/2 E_uu^2 + Y_v/2 E_vv^2 + Y_c E_uu E_vv + 2 G E_uv^2",
        "F_i = k_e |E|^2/(|N1|+|N2|) (sin(theta/2) - sin(theta0/2)) u_i",
    ],
    seconds: 3.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.9, 1.5, 2.6),
        target: Vec3::new(0.45, 1.15, 0.0),
    },
    parameters: &[WIND, GUSTS, RESOLUTION, MODEL],
    plugin: no_systems,
    build,
    sample,
    check,
};

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(painted_floor(0.0));
    let half_height = 0.5 * (HEIGHT + SIZE[1] as f32);
    world.spawn((
        Name::new("pole"),
        Prop {
            shape: PropShape::Cylinder {
                half_height,
                radius: 0.02,
            },
        },
        STEEL,
        Transform::from_xyz(-0.02, half_height, 0.0),
    ));
    world.insert_resource(PliantWind::gusty(
        Vec3::new(1.0, 0.0, 0.15).normalize() * settings.get(&WIND) as f32,
        settings.get(&GUSTS) as Real,
        1.0,
        3,
    ));
    let grid = SheetGrid {
        size: SIZE,
        cells: [settings.get(&RESOLUTION) as usize; 2],
        pattern: SheetPattern::Herringbone,
    };
    let error = |error: bevy_pliant::mesh::TriangleMeshError| SceneError(error.to_string());
    let held = grid.edge_particles(SheetSide::Left);
    // The sheet lies level with its middle in the origin; the flag stands up with its left side on the pole.
    let upright = Transform::from_xyz(0.5 * SIZE[0] as f32, HEIGHT, 0.0)
        .with_rotation(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
    world.spawn((
        Name::new("flag"),
        Cloth::new(grid.mesh().map_err(error)?).with_model(model(settings, grid)),
        Fabric::COTTON,
        Aerodynamic::default(),
        Pins::at(held),
        upright,
        SceneColor([0.80, 0.16, 0.18]),
    ));
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let finite = particles_not_finite(world);
    let mut flags = world.query::<(&Particles, &Cloth)>();
    let (mut strain, mut tip) = (0.0, 0.0);
    for (particles, cloth) in flags.iter(world) {
        let position = |corner: u32| particles.positions[corner as usize].cast::<f64>();
        let TriangleMesh {
            positions: rest,
            triangles,
            ..
        } = cloth.mesh();
        let strains = triangles.iter().flat_map(|&[a, b, c]| {
            [(a, b), (b, c), (c, a)].map(|(first, second)| {
                let length = (position(first) - position(second)).norm();
                length / (rest[first as usize] - rest[second as usize]).norm() - 1.0
            })
        });
        strain = worst(strains);
        tip = particles
            .positions
            .iter()
            .fold(0.0, |most: f64, x| most.max(f64::from(x.x)));
    }
    vec![
        ("particles_not_finite", finite),
        ("largest_strain", strain),
        ("downwind_reach", tip / SIZE[0]),
    ]
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut outcome = Outcome {
        checks: particle_soundness(record),
        quantities: Vec::new(),
    };
    outcome.checks.push(Check::at_most(
        "largest_strain",
        worst(record.column("largest_strain")),
        STRAIN_LIMIT,
    ));
    let reach = record.column("downwind_reach");
    let mean = reach.iter().sum::<f64>() / reach.len().max(1) as f64;
    if settings.get(&WIND) >= 6.0 {
        outcome
            .checks
            .push(Check::at_least("mean_downwind_reach", mean, FLIES));
    } else {
        outcome.quantities.push(("mean_downwind_reach", mean));
    }
    outcome
}
