//! Two flags that lie exactly in a plane, let go at one corner: without and with the coupling of strain and folds.

use bevy::prelude::*;
use bevy_pliant::kernel::cloth::strain_limit::Line;
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;

use super::flag::{Model, SIDE, Stiffness, largest_stretch, spawn};
use super::measure::{particle_soundness, particles_not_finite};
use super::props::painted_floor;
use super::record::worst;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// When the corner is let go, s.
const RELEASE: f64 = 0.3;
/// How far folds must reach out of the plane in the end, over the side of the flag.
const FOLDS: f64 = 0.1;
/// Length over rest length that the limit allows, with what its last pass may leave.
const LIMIT: f64 = 1.1 + 1e-3;

/// Half of the usual substep: what limits leave grows with its square, and falls only with the number of passes.
const INTEGRATOR: Integrator = Integrator::Mixed {
    damping: DampingRegime::Light,
    solve: DampingSolve::FULL,
    substeps: Substeps::Automatic { safety: 0.25 },
};

const COUPLING: Parameter = Parameter {
    name: "coupling",
    default: 0.2,
    minimum: 0.0,
    maximum: 1.0,
    unit: "",
    about: "stiffness of the coupling over that of the springs",
};
const SEED: Parameter = Parameter {
    name: "seed",
    default: 1.0,
    minimum: 0.0,
    maximum: 1e6,
    unit: "",
    about: "which folds",
};
const SWEEPS: Parameter = Parameter {
    name: "sweeps",
    default: 96.0,
    minimum: 1.0,
    maximum: 1000.0,
    unit: "",
    about: "passes of the limit of strain per substep",
};

/// Why the coupling is there.
pub const SCENE: Scene = Scene {
    name: "flag_release",
    about: "planar flags let go at a corner: flat for ever without coupling, folds with it",
    equations: &[
        "F = +-lambda max(l - 1.05 l0, 0.95 l0 - l, 0) u_i sqrt(2/sum |u|^2)",
        "sign = hash(seed, edge, floor(t/0.1 s))",
    ],
    seconds: 2.5,
    frames_per_second: 120.0,
    integrator: |settings| settings.integrator.unwrap_or(INTEGRATOR),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.03, 0.04, 0.125),
        target: Vec3::new(-0.005, 0.024, 0.0),
    },
    parameters: &[COUPLING, SEED, SWEEPS],
    plugin: |app| {
        app.add_systems(FixedUpdate, release);
    },
    build,
    sample,
    check,
};

/// A flag that is let go after some ticks.
#[derive(Component)]
struct Release {
    ticks: u32,
}

fn release(mut flags: Query<(&mut Release, &mut Pins)>) {
    for (mut release, mut pins) in &mut flags {
        if release.ticks == 0 {
            pins.pins.truncate(1);
        }
        release.ticks = release.ticks.saturating_sub(1);
    }
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.spawn(painted_floor(-0.02));
    let stiffness = Stiffness {
        structural: 0.503,
        shear: 0.305,
        bend: 0.0,
    };
    let model = Model::Bridson {
        stiffness: 1e-8,
        damping: 1e-10,
    };
    let limit = StrainLimit::Velocities {
        stretch: 0.1,
        compression: None,
        rate: None,
        sweeps: settings.get(&SWEEPS) as u32,
        line: Line::Predicted,
    };
    let ticks = (RELEASE * settings.frames_per_second).round() as u32;
    for (name, side, color) in [
        ("without coupling", -1.0, [0.84, 0.30, 0.22]),
        ("with coupling", 1.0, [0.24, 0.52, 0.78]),
    ] {
        let x = side * 0.8 * SIDE as f32;
        let flag = spawn(world, name, x, &model, stiffness, |_, _| 0.0, color)?;
        let mut flag = world.entity_mut(flag);
        flag.insert((limit, Release { ticks }));
        if side > 0.0 {
            let coupling = settings.get(&COUPLING) as Real * stiffness.structural;
            let seed = settings.get(&SEED) as u64;
            flag.insert(WrinkleCoupling::new(coupling).with_seed(seed));
        }
    }
    Ok(())
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let finite = particles_not_finite(world);
    let (mut flat, mut folded, mut stretch) = (f64::NAN, f64::NAN, f64::NAN);
    let mut flags = world.query::<(&Particles, &Springs, Has<WrinkleCoupling>)>();
    for (particles, springs, is_coupled) in flags.iter(world) {
        let out = worst(particles.positions.iter().map(|x| f64::from(x.z.abs()))) / SIDE;
        if is_coupled {
            folded = out;
            stretch = largest_stretch(particles, springs, |_, _| true);
        } else {
            flat = out;
        }
    }
    vec![
        ("particles_not_finite", finite),
        ("out_of_plane_without", flat),
        ("out_of_plane_with", folded),
        ("largest_stretch", stretch),
    ]
}

fn check(record: &Record, _: &Settings) -> Outcome {
    let mut checks = particle_soundness(record);
    let last = |name: &str| record.rows.last().map_or(f64::NAN, |row| row.sample(name));
    let flat = worst(record.column("out_of_plane_without"));
    checks.push(Check::equal("out_of_plane_without", flat, 0.0));
    checks.push(Check::at_least(
        "out_of_plane_with",
        last("out_of_plane_with"),
        FOLDS,
    ));
    let stretch = worst(record.column("largest_stretch"));
    checks.push(Check::at_most("largest_stretch", stretch, LIMIT));
    Outcome {
        checks,
        quantities: vec![(
            "out_of_plane_at_most",
            worst(record.column("out_of_plane_with")),
        )],
    }
}
