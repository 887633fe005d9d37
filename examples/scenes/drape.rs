//! How far fabrics hang down over the rim of a disc: the drape coefficient.

use bevy::prelude::*;
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::fabric::{FABRICS, largest_kinetic_energy, largest_thread_strain, places, plan_area};
use super::measure::{particle_soundness, particles_not_finite};
use super::props::{STEEL, SceneColor, painted_floor};
use super::record::worst;
use super::{
    Check, Outcome, Parameter, Prop, PropShape, Record, Scene, SceneEntity, SceneError, Settings,
    Viewpoint,
};

/// Radius of the fabric, m: that of the middle template of Cusick's tester.
const RADIUS: f64 = 0.15;
/// Radius of the disc that holds the fabric, m.
const SUPPORT: f64 = 0.09;
/// Height of the disc, m.
const HEIGHT: f32 = 0.22;
/// Distance of the discs, m.
const SPACING: f32 = 0.36;
/// Side of the squares on which the shadow is measured, m.
const SQUARE: f64 = 1e-3;

/// Samples, in the order of the fabrics.
const DRAPES: [&str; 5] = [
    "drape_silk",
    "drape_cotton",
    "drape_denim",
    "drape_leather",
    "drape_rubber",
];
/// Fabrics that are compared with textiles; rubber is none.
const TEXTILES: usize = 4;
/// Angles of shear at which cloth buckles, degrees: from what does not give to what gives easily.
const SHEAR_ANGLES: [f64; 2] = [0.0, 12.0];

/// Largest kinetic energy per mass that counts as rest, J/kg: 1 cm/s.
const REST: f64 = 5e-5;

const RINGS: Parameter = Parameter {
    name: "rings",
    default: 20.0,
    minimum: 5.0,
    maximum: 60.0,
    unit: "",
    about: "rings of triangles in a disc of fabric; a multiple of 5 meets the rim of the support",
};
const SEED: Parameter = Parameter {
    name: "seed",
    default: 0.0,
    minimum: 0.0,
    maximum: 1e6,
    unit: "",
    about: "which of the many slightly uneven sheets",
};
const UNEVEN: Parameter = Parameter {
    name: "uneven",
    default: 6.0,
    minimum: 0.0,
    maximum: 90.0,
    unit: "deg",
    about: "rest angles of the sheets, per radius of a disc",
};
const LOWERING: Parameter = Parameter {
    name: "lowering",
    default: 3.0,
    minimum: 0.0,
    maximum: 1e3,
    unit: "s",
    about: "time in which the weight comes on: a tester lowers the fabric gently",
};
const BENDING: Parameter = Parameter {
    name: "bending",
    default: 1.0,
    minimum: 0.0,
    maximum: 100.0,
    unit: "",
    about: "factor on every bending stiffness",
};
const STRETCH: Parameter = Parameter {
    name: "stretch",
    default: 1.0,
    minimum: 0.01,
    maximum: 100.0,
    unit: "",
    about: "factor on every stretch modulus",
};
const SHEAR: Parameter = Parameter {
    name: "shear",
    default: 1.0,
    minimum: 0.0,
    maximum: 100.0,
    unit: "",
    about: "factor on every shear modulus",
};
const GRAVITY: Parameter = Parameter {
    name: "gravity",
    default: 9.81,
    minimum: 0.0,
    maximum: 100.0,
    unit: "m/s2",
    about: "downwards",
};

/// Five discs of fabric, each held on a smaller disc.
pub const SCENE: Scene = Scene {
    name: "drape",
    about: "discs of silk, cotton, denim, leather and rubber drape over smaller discs",
    equations: &[
        "drape coefficient = (shadow - support) / (fabric - support), areas [Cusick 1965]",
        "bending length = (B / (rho_A g))^(1/3) [Peirce 1930]",
    ],
    seconds: 6.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.0, 0.95, 1.3),
        target: Vec3::new(0.0, 0.13, 0.0),
    },
    parameters: &[
        RINGS, SEED, UNEVEN, LOWERING, BENDING, STRETCH, SHEAR, GRAVITY,
    ],
    plugin: |app| {
        app.add_systems(FixedUpdate, lower);
    },
    build,
    sample,
    check,
};

/// Which preset a disc is made of.
#[derive(Component)]
struct Preset(usize);

/// Lets the weight of everything grow.
#[derive(Component)]
struct Lowering {
    gravity: f32,
    seconds: f32,
    elapsed: f32,
}

fn lower(mut lowerings: Query<&mut Lowering>, mut gravity: ResMut<PliantGravity>, time: Res<Time>) {
    for mut lowering in &mut lowerings {
        lowering.elapsed += time.delta_secs();
        let share = lowering.elapsed / lowering.seconds.max(f32::MIN_POSITIVE);
        gravity.0 = Vec3::NEG_Y * lowering.gravity * share.min(1.0);
    }
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::ZERO));
    world.spawn((
        SceneEntity::default(),
        Lowering {
            gravity: settings.get(&GRAVITY) as f32,
            seconds: settings.get(&LOWERING) as f32,
            elapsed: 0.0,
        },
    ));
    world.spawn(painted_floor(0.0));
    let error = |error: bevy_pliant::mesh::TriangleMeshError| SceneError(error.to_string());
    let rings = settings.get(&RINGS).round() as usize;
    let mesh = TriangleMesh::disc(RADIUS, rings).map_err(error)?;
    let held = mesh.particles_where(on_support);
    for (preset, (name, fabric, color)) in FABRICS.into_iter().enumerate() {
        let x = SPACING * (preset as f32 - 2.0);
        let wrinkles = Wrinkles {
            seed: settings.get(&SEED) as u64,
            // The same curvature, however fine the mesh.
            deviation: settings.get(&UNEVEN).to_radians() / rings as f64,
            wavelength: Some(0.3 * RADIUS),
        };
        world.spawn((
            Name::new(name),
            Preset(preset),
            Cloth::new(mesh.clone()).with_wrinkles(wrinkles),
            scaled(&fabric, settings),
            AirDrag {
                coefficient: 0.0,
                viscous_rate: 10.0,
                ..default()
            },
            Pins::at(held.iter().copied()),
            Transform::from_xyz(x, HEIGHT, 0.0),
            SceneColor(color),
        ));
        for (radius, top, bottom) in [
            (SUPPORT as f32 - 0.003, 0.002, 0.008),
            (0.012, 0.008, HEIGHT),
        ] {
            world.spawn((
                Name::new("support (not solid)"),
                Prop {
                    shape: PropShape::Cylinder {
                        half_height: 0.5 * (bottom - top),
                        radius,
                    },
                },
                STEEL,
                Transform::from_xyz(x, HEIGHT - 0.5 * (top + bottom), 0.0),
            ));
        }
    }
    Ok(())
}

/// A fabric with the factors of the settings.
fn scaled(fabric: &Fabric, settings: &Settings) -> Fabric {
    let factor = |parameter| settings.get(parameter) as Real;
    let stretch = factor(&STRETCH);
    Fabric {
        shear_modulus: fabric.shear_modulus * factor(&SHEAR),
        bending_stiffness: fabric.bending_stiffness * factor(&BENDING),
        ..fabric.with_moduli(fabric.warp_modulus * stretch, fabric.weft_modulus * stretch)
    }
}

fn on_support(place: &Vector3<f64>) -> bool {
    place.norm() < SUPPORT * (1.0 + 1e-6)
}

/// The drape coefficient of a disc of fabric.
fn drape_coefficient(cloth: &Cloth, places: &[Vector3<f64>]) -> f64 {
    let mesh = cloth.mesh();
    let is_held = |corner: u32| on_support(&mesh.positions[corner as usize]);
    let support: f64 = (0..mesh.triangles.len())
        .filter(|&triangle| mesh.triangles[triangle].into_iter().all(is_held))
        .map(|triangle| mesh.triangle_area(triangle))
        .sum();
    let shadow = plan_area(places, &mesh.triangles, SQUARE);
    (shadow - support) / (mesh.area() - support)
}

/// The drape coefficient that Cusick's fit to 130 fabrics gives for a bending length and the angle of shear at which the
/// fabric buckles, at most 1.
///
/// ```text
/// c = (B/(w g))^(1/3) in cm,   100 D = 17.0 + 35.6 c - 3.61 c^2 - 2.59 A + 0.0461 A^2    [Cusick 1965]
/// ```
fn expected_drape(fabric: &Fabric, angle: f64) -> f64 {
    let weight = f64::from(fabric.areal_density) * GRAVITY.default;
    let length = 100.0 * (f64::from(fabric.bending_stiffness) / weight).cbrt();
    let bending = 35.6 * length - 3.61 * length * length;
    let shear = -2.59 * angle + 0.0461 * angle * angle;
    ((17.0 + bending + shear) / 100.0).min(1.0)
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = vec![
        ("particles_not_finite", particles_not_finite(world)),
        ("kinetic_energy_per_mass", largest_kinetic_energy(world)),
    ];
    let mut strain = 0.0_f64;
    let mut discs = world.query::<(&Preset, &Cloth, &Particles)>();
    for (preset, cloth, particles) in discs.iter(world) {
        let places = places(particles);
        strain = worst([strain, largest_thread_strain(cloth, &places)]);
        samples.push((DRAPES[preset.0], drape_coefficient(cloth, &places)));
    }
    samples.push(("largest_strain", strain));
    samples
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut outcome = Outcome {
        checks: particle_soundness(record),
        quantities: Vec::new(),
    };
    let last = |name: &str| record.rows.last().map_or(f64::NAN, |row| row.sample(name));
    let drapes = DRAPES.map(last);
    outcome.checks.push(Check::at_most(
        "kinetic_energy_per_mass",
        last("kinetic_energy_per_mass"),
        REST,
    ));
    outcome
        .quantities
        .push(("largest_strain", worst(record.column("largest_strain"))));
    let are_presets = [&BENDING, &STRETCH, &SHEAR, &GRAVITY]
        .iter()
        .all(|parameter| settings.get(parameter) == parameter.default);
    for (index, (&value, name)) in drapes.iter().zip(DRAPES).enumerate() {
        if are_presets && index < TEXTILES {
            let [high, low] = SHEAR_ANGLES.map(|angle| expected_drape(&FABRICS[index].1, angle));
            outcome.checks.push(Check {
                name,
                value,
                limit: high,
                ok: (low..=high).contains(&value),
            });
        } else {
            outcome.quantities.push((name, value));
        }
    }
    if are_presets {
        // Silk, cotton, denim, leather.
        let steps = drapes[..TEXTILES].windows(2).map(|pair| pair[1] - pair[0]);
        let least = steps.fold(f64::INFINITY, f64::min);
        outcome
            .checks
            .push(Check::at_least("least_step_of_drape", least, 0.02));
    }
    outcome
}
