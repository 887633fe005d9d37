//! A curtain on gliders that are drawn along a rail.

use std::f64::consts::PI;

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetGrid, SheetPattern};
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::fabric::{largest_thread_strain, places};
use super::measure::{particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, painted_floor};
use super::record::worst;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneError, Settings, Viewpoint,
};

/// Width of the cloth before it is pleated, and its height, m.
const SIZE: [f64; 2] = [2.4, 1.6];
/// Cloth between two gliders: a half wave.
const WAVES: usize = 12;
/// Height of the rail above the painted floor, m.
const RAIL: f32 = 1.66;
/// Where the rail begins, m: the curtain is gathered there.
const RAIL_START: f32 = -0.8;
/// Steepest angle of the pleats to the rail while the curtain is closed, rad: J₀(1.2) = 0.67 of the cloth's width.
const STEEPNESS: f64 = 1.2;
/// When the curtain begins to open, is open, begins to close, and is closed again, s.
const TIMES: [f32; 4] = [0.5, 2.5, 4.0, 6.0];

/// Rounding of a place on the rail, m.
const PIN_DISTANCE: f64 = 1e-6;
/// Largest stretch of the threads.
const STRAIN_LIMIT: f64 = 0.03;
/// Of its width when closed, how wide the open curtain may be beyond what the gliders take.
const SLACK: f64 = 0.15;
/// Out of the plane of the rail, how far a fold reaches at least, m.
const FOLD: f64 = 0.03;
/// Energy that may appear while the gliders stand still, over the largest energy exchanged.
const GAIN: f64 = 0.01;

const OPEN: Parameter = Parameter {
    name: "open",
    default: 0.7,
    minimum: 0.2,
    maximum: 1.0,
    unit: "",
    about: "distance of the gliders when open, over that when closed",
};
const RESOLUTION: Parameter = Parameter {
    name: "resolution",
    default: 5.0,
    minimum: 2.0,
    maximum: 16.0,
    unit: "",
    about: "cells between two gliders",
};

/// A curtain of cotton that is opened and closed.
pub const SCENE: Scene = Scene {
    name: "curtain",
    about: "a curtain is drawn open and closed along its rail: it gathers into folds",
    equations: &[
        "x_i(t) = R(t) a_i + c(t) for pinned particles",
        "psi = Y_u/2 E_uu^2 + Y_v/2 E_vv^2 + Y_c E_uu E_vv + 2 G E_uv^2",
        "F_i = k_e |E|^2/(|N1|+|N2|) (sin(theta/2) - sin(theta0/2)) u_i",
    ],
    seconds: 8.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.45, 1.35, 2.6),
        target: Vec3::new(0.0, 0.82, 0.0),
    },
    parameters: &[OPEN, RESOLUTION],
    plugin: |app| {
        app.add_systems(FixedUpdate, draw);
    },
    build,
    sample,
    check,
};

/// A glider on the rail.
#[derive(Component)]
struct Glider {
    /// Place along the rail when the curtain is closed and when it is open, m.
    places: [f32; 2],
    /// Ticks since the scene began: the clock of the app may have started long before.
    ticks: u32,
}

/// The gliders, and the particle that hangs on each.
#[derive(Component)]
struct Hung(Vec<(Entity, u32)>);

/// How far the curtain is open at a time, from 0 to 1.
fn openness(seconds: f32) -> f32 {
    let ramp = |start: f32, end: f32| ((seconds - start) / (end - start)).clamp(0.0, 1.0);
    // Gliders start and stop without a jerk.
    let smooth = |share: f32| share * share * (3.0 - 2.0 * share);
    let [opens, open, closes, closed] = TIMES;
    smooth(ramp(opens, open)) - smooth(ramp(closes, closed))
}

fn draw(mut gliders: Query<(&mut Glider, &mut Transform)>, time: Res<Time>) {
    for (mut glider, mut transform) in &mut gliders {
        glider.ticks += 1;
        let share = openness(glider.ticks as f32 * time.delta_secs());
        let [closed, open] = glider.places;
        transform.translation.x = closed + (open - closed) * share;
    }
}

/// Points of a wave that is as long between two of its zeros as the cloth between two gliders, at equal distances along it;
/// the first is in the origin.
///
/// ```text
/// dx/ds = cos φ,   dz/ds = sin φ,   φ = φ₀ cos(π s/ℓ)
/// ```
fn pleats(steps: usize, per_wave: usize, length: f64) -> Vec<[f64; 2]> {
    const PARTS: usize = 64;
    let part = length / (per_wave * PARTS) as f64;
    let mut point = [0.0; 2];
    let mut points = vec![point];
    for index in 0..steps * PARTS {
        let angle = STEEPNESS * (PI * (index as f64 + 0.5) * part / length).cos();
        point[0] += part * angle.cos();
        point[1] += part * angle.sin();
        if (index + 1) % PARTS == 0 {
            points.push(point);
        }
    }
    points
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(painted_floor(0.0));
    let per_wave = settings.get(&RESOLUTION).round() as usize;
    let columns = WAVES * per_wave;
    let grid = SheetGrid {
        size: SIZE,
        cells: [columns, columns * 2 / 3],
        pattern: SheetPattern::Herringbone,
    };
    let mut mesh = grid.mesh().map_err(|error| SceneError(error.to_string()))?;
    let wave = SIZE[0] / WAVES as f64;
    let points = pleats(columns, per_wave, wave);
    for (index, place) in mesh.positions.iter_mut().enumerate() {
        let [along, out] = points[index % (columns + 1)];
        let drop = place.z + 0.5 * SIZE[1];
        *place = Vector3::new(along, -drop, out);
    }
    let top = Vec3::new(RAIL_START, RAIL, 0.0);
    let width = points[columns][0];
    world.spawn((
        Name::new("rail"),
        Prop {
            shape: PropShape::Cylinder {
                half_height: 0.5 * width as f32 + 0.06,
                radius: 0.012,
            },
        },
        STEEL,
        Transform::from_translation(top + Vec3::new(0.5 * width as f32, 0.02, 0.0))
            .with_rotation(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)),
    ));
    let open = settings.get(&OPEN) as f32;
    let hung: Vec<(Entity, u32)> = (0..=WAVES)
        .map(|number| {
            let column = number * per_wave;
            let along = points[column][0] as f32;
            let glider = world.spawn((
                Name::new("glider"),
                Prop {
                    shape: PropShape::Ball { radius: 0.014 },
                },
                STEEL,
                Transform::from_translation(top + Vec3::X * along),
                Glider {
                    places: [along, along * open].map(|along| top.x + along),
                    ticks: 0,
                },
            ));
            (glider.id(), grid.vertex(column, 0))
        })
        .collect();
    let pins = hung.iter().map(|&(entity, particle)| Pin {
        particle,
        anchor: PinAnchor::Entity {
            entity,
            local: Vec3::ZERO,
        },
    });
    world.spawn((
        Name::new("curtain"),
        Cloth::new(mesh),
        Fabric::COTTON,
        Aerodynamic::default(),
        Pins::new(pins.collect()),
        Hung(hung),
        Transform::from_translation(top),
        SceneColor([0.62, 0.18, 0.24]),
    ));
    Ok(())
}

/// Folds along a row of particles: how often it goes from one side of the rail to the other by a fold's depth.
fn folds(row: &[Vector3<f64>]) -> usize {
    let (mut side, mut count) = (0.0, 0);
    for place in row.iter().filter(|place| place.z.abs() > FOLD) {
        if side * place.z <= 0.0 {
            count += 1;
        }
        side = place.z;
    }
    count
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let finite = particles_not_finite(world);
    let mut curtains = world.query::<(&Particles, &Cloth, &Hung)>();
    let mut transforms = world.query::<&Transform>();
    let Ok((particles, cloth, hung)) = curtains.single(world) else {
        return Vec::new();
    };
    let places = places(particles);
    let distances = hung.0.iter().map(|&(glider, particle)| {
        let place = transforms.get(world, glider).map(|glider| {
            let [x, y, z] = glider.translation.to_array().map(f64::from);
            Vector3::new(x, y, z)
        });
        place.map_or(f64::NAN, |place| (places[particle as usize] - place).norm())
    });
    let distance = worst(distances);
    let ends = places
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| {
            [low.min(place.x), high.max(place.x)]
        });
    let row = hung.0.last().map_or(0, |&(_, corner)| corner as usize + 1);
    let middle = places.len() / row.max(1) / 2;
    vec![
        ("particles_not_finite", finite),
        ("pin_distance", distance),
        ("largest_strain", largest_thread_strain(cloth, &places)),
        ("width", ends[1] - ends[0]),
        (
            "folds",
            folds(&places[middle * row..(middle + 1) * row]) as f64,
        ),
    ]
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let at = |seconds: f32, name: &str| {
        let mut rows = record.rows.iter();
        let row = rows.rfind(|row| row.time <= f64::from(seconds) + 1e-9);
        row.map_or(f64::NAN, |row| row.sample(name))
    };
    let [_, open, closes, closed] = TIMES;
    let ratio = at(closes, "width") / at(0.0, "width");
    // Still air only takes.
    let losses = record.rows.windows(2).map(|pair| {
        let [before, after] = [&pair[0], &pair[1]].map(|row| row.energies.dissipated);
        before - after
    });
    // Gliders that stand still do no work.
    let gain = |from: f32, to: f32| {
        let rows = record
            .rows
            .iter()
            .filter(|row| (f64::from(from)..=f64::from(to)).contains(&row.time));
        let mut totals = rows.map(|row| row.energies.total());
        let first = totals.next().unwrap_or(f64::NAN);
        worst(totals.map(|total| total - first))
    };
    let gains = [gain(open, closes), gain(closed, f32::INFINITY)];
    let mut checks = particle_soundness(record);
    checks.extend([
        Check::at_most(
            "pin_distance",
            worst(record.column("pin_distance")),
            PIN_DISTANCE,
        ),
        Check::at_most(
            "largest_strain",
            worst(record.column("largest_strain")),
            STRAIN_LIMIT,
        ),
        Check::at_most("width_ratio", ratio, settings.get(&OPEN) + SLACK),
        Check::at_least("folds", at(closes, "folds"), (WAVES - 1) as f64),
        Check::at_most("given_back_by_air", worst(losses), 0.0),
        Check::at_most("gain", worst(gains) / record.energy_exchanged(), GAIN),
    ]);
    Outcome {
        checks,
        quantities: vec![
            ("width_closed", at(0.0, "width")),
            ("width_open", at(closes, "width")),
            ("width_at_end", at(f32::INFINITY, "width")),
            ("folds_at_end", at(f32::INFINITY, "folds")),
        ],
    }
}
