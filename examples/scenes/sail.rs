//! A four-cornered sail between mast, boom and sprit.

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetCorner, SheetGrid, SheetPattern, SheetSide};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;

use super::air::{evaluate_forces, sum_of_forces, wind_force};
use super::fabric::{MODEL, largest_thread_strain, model, places};
use super::measure::{particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, painted_floor};
use super::record::worst;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Length of the foot along the boom and of the luff along the mast, m.
const SIZE: [f64; 2] = [1.6, 1.8];
/// Height of the boom above the painted floor, m.
const BOOM: f32 = 0.5;
/// When the sprit has been eased, s.
const EASED: f32 = 1.0;
/// Angle of the wind to the boom; it comes from ahead, on the side away from the viewer.
const WIND_ANGLE: f32 = 55.0;
/// Of the run, when the sail has filled.
const FILLED: f64 = 0.5;

/// Depth of the belly over the length of the foot.
const DEPTH: [f64; 2] = [0.08, 0.25];
/// Largest stretch of the threads.
const STRAIN_LIMIT: f64 = 0.04;
/// Difference of what the wind gives and what the spars get, over what the wind gives.
const BALANCE: f64 = 0.02;
/// Of the push on all spars, what the mast gets.
const MAST_SHARE: [f64; 2] = [0.2, 0.6];

const WIND: Parameter = Parameter {
    name: "wind",
    default: 6.0,
    minimum: 2.0,
    maximum: 12.0,
    unit: "m/s",
    about: "mean speed of the wind",
};
const GUSTS: Parameter = Parameter {
    name: "gusts",
    default: 0.6,
    minimum: 0.0,
    maximum: 3.0,
    unit: "m/s",
    about: "standard deviation of the wind",
};
const EASE: Parameter = Parameter {
    name: "ease",
    default: 0.05,
    minimum: 0.0,
    maximum: 0.2,
    unit: "",
    about: "of the sail's diagonal, how far the sprit is let in",
};
const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    default: 12.0,
    minimum: 2.0,
    maximum: 96.0,
    unit: "",
    about: "cells along each side",
};

/// A sail whose luff is laced to the mast, its foot to the boom, and its peak held out by a sprit.
pub const SCENE: Scene = Scene {
    name: "sail",
    about: "a sail fills in the wind, laced to mast and boom, its peak held by a sprit",
    equations: &[
        "F = rho/2 A (n . v) (C_D v + C_L |v| (n - (n . v/|v|) v/|v|))",
        "psi = Y_u/2 E_uu^2 + Y_v/2 E_vv^2 + Y_c E_uu E_vv + 2 G E_uv^2",
        "F_i = k_e |E|^2/(|N1|+|N2|) (sin(theta/2) - sin(theta0/2)) u_i",
    ],
    seconds: 3.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(3.6, 1.6, 2.9),
        target: Vec3::new(0.65, 1.25, 0.0),
    },
    parameters: &[WIND, GUSTS, EASE, RESOLUTION, MODEL],
    plugin: |app| {
        app.add_systems(FixedUpdate, ease);
    },
    build,
    sample,
    check,
};

/// The end of the sprit, which is let in along `way` while the sail fills.
#[derive(Component)]
struct SpritEnd {
    start: Vec3,
    way: Vec3,
    /// Ticks since the scene began: the clock of the app may have started long before.
    ticks: u32,
}

/// The particles along the mast, and all that are held.
#[derive(Component)]
struct Lacing {
    mast: Vec<u32>,
    all: Vec<u32>,
}

fn ease(mut ends: Query<(&mut SpritEnd, &mut Transform)>, time: Res<Time>) {
    for (mut end, mut transform) in &mut ends {
        end.ticks += 1;
        let share = end.ticks as f32 * time.delta_secs() / EASED;
        transform.translation = end.start + end.way * share.clamp(0.0, 1.0);
    }
}

fn spar(name: &'static str, from: Vec3, to: Vec3) -> impl Bundle {
    (
        Name::new(name),
        Prop {
            shape: PropShape::Cylinder {
                half_height: 0.5 * from.distance(to),
                radius: 0.025,
            },
        },
        SceneColor([0.55, 0.40, 0.24]),
        Transform::from_translation(0.5 * (from + to))
            .with_rotation(Quat::from_rotation_arc(Vec3::Y, (to - from).normalize())),
    )
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(painted_floor(0.0));
    let [foot, luff] = SIZE.map(|length| length as f32);
    let tack = Vec3::new(0.0, BOOM, 0.0);
    let peak = tack + Vec3::new(foot, luff, 0.0);
    // Spars stand to windward, so that the sail does not fill into them.
    let aside = Vec3::NEG_Z * 0.025;
    let top = tack + Vec3::Y * (luff + 0.1);
    world.spawn(spar("mast", Vec3::ZERO + aside, top + aside));
    world.spawn(spar(
        "boom",
        tack + aside,
        tack + Vec3::X * (foot + 0.1) + aside,
    ));
    let end = world
        .spawn((
            Name::new("end of the sprit"),
            Prop {
                shape: PropShape::Ball { radius: 0.035 },
            },
            STEEL,
            Transform::from_translation(peak),
            SpritEnd {
                start: peak,
                way: (tack - peak) * settings.get(&EASE) as f32,
                ticks: 0,
            },
        ))
        .id();

    let angle = WIND_ANGLE.to_radians();
    world.insert_resource(PliantWind::gusty(
        Vec3::new(angle.cos(), 0.0, angle.sin()) * settings.get(&WIND) as f32,
        settings.get(&GUSTS) as Real,
        2.0,
        5,
    ));
    let grid = SheetGrid {
        size: SIZE,
        cells: [settings.get(&RESOLUTION) as usize; 2],
        pattern: SheetPattern::Herringbone,
    };
    let mesh = grid.mesh().map_err(|error| SceneError(error.to_string()))?;
    let mast = grid.edge_particles(SheetSide::Left);
    let laced = mast
        .iter()
        .copied()
        .chain(grid.edge_particles(SheetSide::Front));
    let mut pins = Pins::at(laced);
    let corner = grid.corner(SheetCorner::BackRight);
    pins.pins.push(Pin {
        particle: corner,
        anchor: PinAnchor::Attached(end),
    });
    let lacing = Lacing {
        mast,
        // The corner between mast and boom is on both.
        all: {
            let mut all: Vec<u32> = pins.pins.iter().map(|pin| pin.particle).collect();
            all.sort_unstable();
            all.dedup();
            all
        },
    };
    // The sheet lies level with its middle in the origin; the sail stands on its foot, its left side on the mast.
    let upright = Transform::from_translation(tack + Vec3::new(0.5 * foot, 0.5 * luff, 0.0))
        .with_rotation(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
    world.spawn((
        Name::new("sail"),
        Cloth::new(mesh).with_model(model(settings, grid)),
        Fabric {
            areal_density: 0.2,
            ..Fabric::COTTON.with_moduli(2e4, 2e4)
        },
        Aerodynamic::default(),
        pins,
        lacing,
        upright,
        SceneColor([0.93, 0.90, 0.82]),
    ));
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let finite = particles_not_finite(world);
    let wind = wind_force(world);
    evaluate_forces(world);
    let mut sails = world.query::<(&Particles, &Cloth, &Lacing)>();
    let Ok((particles, cloth, lacing)) = sails.single(world) else {
        return Vec::new();
    };
    let places = places(particles);
    let depth = places.iter().map(|place| place.z);
    let mast = sum_of_forces(particles, lacing.mast.iter().copied());
    let spars = sum_of_forces(particles, lacing.all.iter().copied());
    vec![
        ("particles_not_finite", finite),
        ("largest_strain", largest_thread_strain(cloth, &places)),
        ("depth", depth.fold(f64::NEG_INFINITY, f64::max) / SIZE[0]),
        ("wind_push", wind.z),
        ("spar_push", spars.z),
        ("mast_push", mast.z),
        ("mast_force", mast.norm()),
    ]
}

fn check(record: &Record, _: &Settings) -> Outcome {
    let filled = FILLED * record.seconds();
    let mean = |name: &str| {
        let rows = record.rows.iter().filter(|row| row.time >= filled);
        let (sum, count) = rows.fold((0.0, 0.0), |(sum, count), row| {
            (sum + row.sample(name), count + 1.0)
        });
        sum / count
    };
    let strain = worst(record.column("largest_strain"));
    let (depth, wind, spars) = (mean("depth"), mean("wind_push"), mean("spar_push"));
    let share = mean("mast_push") / spars;
    let mut checks = particle_soundness(record);
    checks.extend([
        Check::at_most("largest_strain", strain, STRAIN_LIMIT),
        Check::at_least("depth", depth, DEPTH[0]),
        Check::at_most("depth_bound", depth, DEPTH[1]),
        // What the sail gets from the wind it passes on.
        Check::at_most("balance", (spars / wind - 1.0).abs(), BALANCE),
        Check::at_least("mast_share", share, MAST_SHARE[0]),
        Check::at_most("mast_share_bound", share, MAST_SHARE[1]),
    ]);
    Outcome {
        checks,
        quantities: vec![
            ("wind_push", wind),
            ("spar_push", spars),
            ("mast_force", mean("mast_force")),
        ],
    }
}
