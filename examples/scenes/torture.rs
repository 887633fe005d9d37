//! Blocks released from shapes that no real body could take.

use bevy::prelude::*;
use bevy_pliant::kernel::energy::center_of_mass;
use bevy_pliant::kernel::rigid_motion::{best_rotation, moment_matrix};
use bevy_pliant::kernel::tetrahedron::{edge_matrix, signed_volume};
use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::{UnitQuaternion, Vector3};

use super::measure::{particle_soundness, particles_not_finite};
use super::props::{SceneColor, painted_floor};
use super::record::worst;
use super::scene::no_systems;
use super::{Check, Outcome, Parameter, Record, Scene, SceneError, Settings, Viewpoint};

/// Edge of a block, m.
const EDGE: f64 = 0.2;
/// Cells along an edge.
const CELLS: usize = 4;
/// Distance between the middles of two blocks, m.
const SPACING: f32 = 0.5;
/// Height of the middles above the painted floor, m.
const HEIGHT: f32 = 0.3;
/// Largest distance from the rest shape at the end, relative to the edge.
const DISTANCE_LIMIT: f64 = 1e-2;
/// Poisson's ratio up to which the scrambled block must find back with an explicit integrator.
///
/// Nearer to 1/2 the energy of the mesh has minima besides the rest shape: blocks folded through themselves without
/// any inverted element. The implicit integrator keeps out of them.
const EXPLICIT_POISSON: f64 = 0.4;

const YOUNG: Parameter = Parameter {
    name: "young_modulus",
    default: 1e6,
    minimum: 1e2,
    maximum: 1e10,
    unit: "Pa",
    about: "resistance to stretch",
};
const POISSON: Parameter = Parameter {
    default: 0.4,
    maximum: 0.499,
    ..Parameter::POISSON_RATIO
};
const DENSITY: Parameter = Parameter::DENSITY;
const VISCOSITY: Parameter = Parameter {
    name: "viscosity",
    default: 0.0,
    minimum: 0.0,
    maximum: 1e6,
    unit: "Pa s",
    about: "bulk and shear viscosity; an integrator without losses needs some to come to rest",
};
const LAW: Parameter = Parameter {
    name: "law",
    default: 0.0,
    minimum: 0.0,
    maximum: 2.0,
    unit: "",
    about: "0: stable neo-Hookean, which must recover; 1: corotational, 2: Liesenfeld, which are only watched",
};
const SEED: Parameter = Parameter {
    name: "seed",
    default: 1.0,
    minimum: 0.0,
    maximum: 1e9,
    unit: "",
    about: "which random places the scrambled block starts from",
};

/// Three blocks without weight: scrambled, mirrored, flattened.
pub const SCENE: Scene = Scene {
    name: "torture",
    about: "blocks that start scrambled, turned inside out or flat as paper find back to their shape",
    equations: &["Psi = mu/2 (I_C - 3) + lambda/2 (J - alpha)^2 - mu/2 log(I_C + 1)"],
    seconds: 8.0,
    frames_per_second: 60.0,
    integrator: |settings| settings.integrator.unwrap_or_default(),
    viewpoint: Viewpoint {
        eye: Vec3::new(0.1, 0.6, 1.5),
        target: Vec3::new(0.0, 0.22, 0.0),
    },
    parameters: &[YOUNG, POISSON, DENSITY, VISCOSITY, LAW, SEED],
    plugin: no_systems,
    build,
    sample,
    check,
};

/// How a block starts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    /// Every particle at a random place in the box.
    Scrambled,
    /// Left and right exchanged: every element inverted.
    Mirrored,
    /// Every particle in the horizontal plane through the middle.
    Flattened,
}

/// One of the blocks.
struct Kind {
    name: &'static str,
    start: Start,
    /// Names of the distance from the rest shape and of the number of inverted elements.
    samples: [&'static str; 2],
    color: [f32; 3],
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "scrambled block",
        start: Start::Scrambled,
        samples: ["distance_scrambled", "inverted_scrambled"],
        color: [0.87, 0.24, 0.31],
    },
    Kind {
        name: "mirrored block",
        start: Start::Mirrored,
        samples: ["distance_mirrored", "inverted_mirrored"],
        color: [0.96, 0.72, 0.20],
    },
    Kind {
        name: "flattened block",
        start: Start::Flattened,
        samples: ["distance_flattened", "inverted_flattened"],
        color: [0.24, 0.65, 0.40],
    },
];

/// Marks a block with its place in [`KINDS`].
#[derive(Component)]
struct Tortured(usize);

fn build(world: &mut World, settings: &Settings) -> Result<(), SceneError> {
    world.insert_resource(PliantGravity(Vec3::ZERO));
    world.spawn(painted_floor(0.0));
    let mesh = TetrahedralMesh::block([EDGE; 3], [CELLS; 3], CellSplit::Six)
        .map_err(|error| SceneError(error.to_string()))?;
    let viscosity = settings.get(&VISCOSITY) as Real;
    let material = PliantMaterial::new(
        settings.get(&YOUNG) as Real,
        settings.get(&POISSON) as Real,
        settings.get(&DENSITY) as Real,
    )
    .with_viscosity(viscosity, viscosity)
    .with_model(law(settings));
    let middle = 0.5 * (KINDS.len() - 1) as f32;
    for (number, kind) in KINDS.iter().enumerate() {
        let place = Vec3::new(SPACING * (number as f32 - middle), HEIGHT, 0.0);
        let body = world
            .spawn((
                Name::new(kind.name),
                Tortured(number),
                Solid::new(mesh.clone()),
                material,
                Transform::from_translation(place),
                SceneColor(kind.color),
            ))
            .id();
        let Some(mut particles) = world.get_mut::<Particles>(body) else {
            return Err(SceneError(format!("{}: no body was built", kind.name)));
        };
        let center = Vector3::from(place.to_array()).cast::<f64>();
        let mut random = Random(settings.get(&SEED) as u64);
        for position in &mut particles.positions {
            let offset = position.cast::<f64>() - center;
            let moved = match kind.start {
                Start::Scrambled => random.vector() * (0.5 * EDGE),
                Start::Mirrored => Vector3::new(-offset.x, offset.y, offset.z),
                Start::Flattened => Vector3::new(offset.x, 0.0, offset.z),
            };
            *position = (center + moved).map(|x| x as Real);
        }
    }
    Ok(())
}

fn law(settings: &Settings) -> ElasticModel {
    match settings.get(&LAW).round() as u32 {
        0 => ElasticModel::StableNeoHookean,
        1 => ElasticModel::Corotational,
        _ => ElasticModel::LIESENFELD,
    }
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    /// The next number between −1 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// The next vector in a cube with corners at −1 and 1.
    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }
}

fn sample(world: &mut World) -> Vec<(&'static str, f64)> {
    let mut samples = vec![("particles_not_finite", particles_not_finite(world))];
    let mut blocks = world.query::<(&Particles, &Tetrahedra, &Solid, &Tortured)>();
    let speeds = blocks
        .iter(world)
        .flat_map(|(particles, ..)| &particles.velocities)
        .map(|velocity| f64::from(velocity.norm()));
    samples.push(("largest_speed", worst(speeds)));
    for (particles, tetrahedra, solid, tortured) in blocks.iter(world) {
        let [distance, inverted] = KINDS[tortured.0].samples;
        samples.push((distance, distance_from_rest(particles, solid.mesh()) / EDGE));
        samples.push((inverted, inverted_elements(particles, tetrahedra)));
    }
    samples
}

/// Largest distance of a particle from its place in the rest shape, m, the shape being laid over the body as well as a
/// rigid motion can.
fn distance_from_rest(particles: &Particles, rest: &TetrahedralMesh) -> f64 {
    let masses: Vec<f64> = particles.masses().iter().map(|&m| f64::from(m)).collect();
    let positions: Vec<Vector3<f64>> = particles.positions.iter().map(|x| x.cast()).collect();
    let center = center_of_mass(&masses, &positions);
    let rest_center = center_of_mass(&masses, &rest.positions);
    let moment = moment_matrix(&masses, &positions, &rest.positions, &center, &rest_center);
    let rotation = best_rotation(&moment, &UnitQuaternion::identity());
    let distances = positions
        .iter()
        .zip(&rest.positions)
        .map(|(position, place)| (position - center - rotation * (place - rest_center)).norm());
    worst(distances)
}

/// Number of elements that are inside out.
fn inverted_elements(particles: &Particles, tetrahedra: &Tetrahedra) -> f64 {
    let inverted = tetrahedra.corners().iter().filter(|corners| {
        let corners = corners.map(|index| particles.positions[index as usize].cast::<f64>());
        signed_volume(&edge_matrix(&corners)) < 0.0
    });
    inverted.count() as f64
}

fn check(record: &Record, settings: &Settings) -> Outcome {
    let mut outcome = Outcome {
        checks: particle_soundness(record),
        quantities: vec![("largest_speed", worst(record.column("largest_speed")))],
    };
    let last = |name: &str| record.rows.last().map_or(f64::NAN, |row| row.sample(name));
    outcome
        .quantities
        .push(("final_largest_speed", last("largest_speed")));
    let recovers = law(settings) == ElasticModel::StableNeoHookean;
    let is_implicit = matches!((SCENE.integrator)(settings), Integrator::Implicit { .. });
    let unfolds = recovers && (is_implicit || settings.get(&POISSON) <= EXPLICIT_POISSON);
    for kind in KINDS {
        let [distance, inverted] = kind.samples;
        let judged = if kind.start == Start::Scrambled {
            unfolds
        } else {
            recovers
        };
        if judged {
            outcome.checks.extend([
                Check::at_most(distance, last(distance), DISTANCE_LIMIT),
                Check::equal(inverted, last(inverted), 0.0),
            ]);
        } else {
            outcome
                .quantities
                .extend([distance, inverted].map(|name| (name, last(name))));
        }
    }
    outcome
}
