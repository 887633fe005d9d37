//! A bar that flies and turns without weight: does it keep what nothing takes from it?

use bevy::prelude::*;
use bevy_pliant::kernel::energy::{angular_velocity, inertia};
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::measure::{particle_soundness, particles_not_finite, smallest_volume_ratio};
use super::props::SceneColor;
use super::record::worst;
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Edges of the bar, m.
const SIZE: [f64; 3] = [1.0, 0.2, 0.2];
/// Cells along the edges.
const CELLS: [usize; 3] = [15, 3, 3];
/// Mass per volume, kg/m³.
const DENSITY: f64 = 1000.0;
/// Velocity of the center of mass, m/s.
const VELOCITY: Vec3 = Vec3::new(1.0, 0.5, 0.0);
/// Largest change of a momentum, relative to its first value.
const MOMENTUM_LIMIT: f64 = 1e-5;
/// Largest change of the rotational energy over the run, relative to its first value.
const ENERGY_LIMIT: f64 = 0.02;

const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 1e6,
    minimum: 2e5,
    maximum: 1e10,
    unit: "Pa",
    about: "resistance to stretch",
};
const POISSON: Parameter = Parameter::POISSON_RATIO;
const SPIN_X: Parameter = Parameter {
    name: "spin_x",
    default: 0.0,
    minimum: -10.0,
    maximum: 10.0,
    unit: "rad/s",
    about: "angular velocity about the length of the bar",
};
const SPIN_Y: Parameter = Parameter {
    name: "spin_y",
    default: 3.0,
    minimum: -10.0,
    maximum: 10.0,
    unit: "rad/s",
    about: "angular velocity about y",
};
const SPIN_Z: Parameter = Parameter {
    name: "spin_z",
    default: 6.0,
    minimum: -10.0,
    maximum: 10.0,
    unit: "rad/s",
    about: "angular velocity about z",
};

/// A free bar that tumbles along, stretched by its own rotation from the start.
pub const SCENE: Scene = Scene {
    name: "tumble",
    about: "a free bar flies and tumbles for ten seconds and keeps its momenta and its energy of rotation",
    equations: &[
        "p = sum m v,  L = sum m (x - c) x (v - p/M)",
        "E_rot = L . J^-1 L / 2,  J = inertia about the center of mass",
        "stretch at the start: u(x) = rho w^2 / (2 E) (L^2 x / 4 - x^3 / 3)",
    ],
    seconds: 10.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(5.0, 3.5, 9.5),
        target: Vec3::new(5.0, 2.5, 0.0),
    },
    parameters: &[YOUNG, POISSON, SPIN_X, SPIN_Y, SPIN_Z],
    plugin: no_systems,
    build,
    sample,
    check,
};

fn spin(settings: &Settings) -> Vector3<f64> {
    Vector3::new(
        settings.get(&SPIN_X),
        settings.get(&SPIN_Y),
        settings.get(&SPIN_Z),
    )
}

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::ZERO));
    let mesh = TetrahedralMesh::block(SIZE, CELLS, CellSplit::Five)
        .map_err(|error| SceneError(error.to_string()))?;
    let material = PliantMaterial::new(
        settings.get(&YOUNG) as Real,
        settings.get(&POISSON) as Real,
        DENSITY as Real,
    );
    let body = world
        .spawn((
            Name::new("bar"),
            Solid::new(mesh),
            material,
            SceneColor([0.55, 0.40, 0.77]),
        ))
        .id();
    let Some(mut particles) = world.get_mut::<Particles>(body) else {
        return Err(SceneError("the bar could not be built".into()));
    };
    stretch_and_spin(&mut particles, settings);
    Ok(())
}

/// Gives the bar the stretch that its rotation keeps up, and the velocities of a rigid motion of that shape.
///
/// Without the stretch it would start by lengthening, and ring for as long as nothing takes the energy. Rotation
/// about the length itself, which would bend the turning bar, is left out of the stretch.
fn stretch_and_spin(particles: &mut Particles, settings: &Settings) {
    let spin = spin(settings);
    let across_squared = spin.y * spin.y + spin.z * spin.z;
    // Over an area A the pull at x is the centrifugal force of what lies beyond: σ = ρ ω² (L²/4 − x²) / 2.
    let strain_at_middle = DENSITY * across_squared / (2.0 * settings.get(&YOUNG));
    let poisson = settings.get(&POISSON);
    let linear = Vector3::from(VELOCITY.to_array()).cast::<f64>();
    let half = 0.5 * SIZE[0];
    for i in 0..particles.len() {
        let rest = particles.positions[i].cast::<f64>();
        let strain = strain_at_middle * (half * half - rest.x * rest.x);
        let along = strain_at_middle * (half * half * rest.x - rest.x.powi(3) / 3.0);
        let moved = rest
            + Vector3::new(
                along,
                -poisson * strain * rest.y,
                -poisson * strain * rest.z,
            );
        let velocity = linear + spin.cross(&moved);
        particles.positions[i] = moved.map(|x| x as Real);
        particles.velocities[i] = velocity.map(|x| x as Real);
    }
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = vec![("particles_not_finite", particles_not_finite(world))];
    let mut bars = world.query::<(&Particles, &PliantState)>();
    let Ok((particles, state)) = bars.single(world) else {
        return samples;
    };
    let masses = particles.masses();
    let momentum = state.momentum;
    let angular = state.angular_momentum;
    let tensor = inertia(masses, &particles.positions, &state.center);
    let from_momentum = 0.5 * angular.dot(&angular_velocity(&tensor, &angular));
    let mean = momentum / particles.total_mass();
    // Relative to the center, so that what is left over is not the difference of two large numbers.
    let about_center: f64 = masses
        .iter()
        .zip(&particles.velocities)
        .map(|(&mass, velocity)| {
            0.5 * f64::from(mass) * (velocity.cast::<f64>() - mean).norm_squared()
        })
        .sum();
    samples.extend([
        ("momentum_x", momentum.x),
        ("momentum_y", momentum.y),
        ("momentum_z", momentum.z),
        ("angular_momentum_x", angular.x),
        ("angular_momentum_y", angular.y),
        ("angular_momentum_z", angular.z),
        ("rotational_energy", from_momentum),
        ("energy_about_center", about_center),
    ]);
    samples
}

/// Largest change of a vector from its first value over the run, relative to that value.
fn largest_change(record: &Record, names: [&str; 3]) -> f64 {
    let vectors: Vec<Vector3<f64>> = record
        .rows
        .iter()
        .map(|row| Vector3::from(names.map(|name| row.sample(name))))
        .collect();
    let Some(first) = vectors.first() else {
        return f64::NAN;
    };
    worst(vectors.iter().map(|vector| (vector - first).norm())) / first.norm()
}

fn check(record: &Record, _: &Settings) -> Outcome {
    let mut checks = particle_soundness(record);
    let momentum = ["momentum_x", "momentum_y", "momentum_z"];
    let angular = [
        "angular_momentum_x",
        "angular_momentum_y",
        "angular_momentum_z",
    ];
    let ends = |name: &str| {
        let (first, last) = (record.rows.first(), record.rows.last());
        [first, last].map(|row| row.map_or(f64::NAN, |row| row.sample(name)))
    };
    let change = |[first, last]: [f64; 2]| last / first - 1.0;
    let rotational = ends("rotational_energy");
    let about_center = ends("energy_about_center");
    checks.extend([
        Check::at_most(
            "momentum_change",
            largest_change(record, momentum),
            MOMENTUM_LIMIT,
        ),
        Check::at_most(
            "angular_momentum_change",
            largest_change(record, angular),
            MOMENTUM_LIMIT,
        ),
        Check::at_most(
            "rotational_energy_change",
            change(rotational).abs(),
            ENERGY_LIMIT,
        ),
        Check::at_most(
            "energy_about_center_change",
            change(about_center).abs(),
            ENERGY_LIMIT,
        ),
    ]);
    Outcome {
        checks,
        quantities: vec![
            ("rotational_energy_start", rotational[0]),
            ("rotational_energy_end", rotational[1]),
            ("energy_about_center_start", about_center[0]),
            ("energy_about_center_end", about_center[1]),
            (
                "rotational_energy_range",
                record.range(|row| row.sample("rotational_energy")) / rotational[0],
            ),
            (
                "energy_about_center_range",
                record.range(|row| row.sample("energy_about_center")) / about_center[0],
            ),
            ("smallest_volume_ratio", smallest_volume_ratio(record)),
        ],
    }
}
