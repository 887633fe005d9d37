//! Bodies at rest: where a beam hangs, and what modulus a bar shows that is pulled at its ends.

use std::path::Path;

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::io::read_tetrahedral_mesh;
use bevy_pliant::kernel::real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::{MODELS, SCHEMES, chosen, largest_speed, particles, positions};
use crate::support::{app, app_at, assert_relative, data_folder, state, ticks};

/// The two beams of the reference data: name, Young's modulus, Pa, and angular frequency of the first mode by beam
/// theory, 1/s. Their aspect is 10, ν = 0.3 and the density 1000 kg/m³.
const BEAMS: [(&str, f64, f64); 2] = [("G1", 1.1772e7, 11.0), ("G16", 7.3575e5, 2.75)];

/// What the reference data ask of single precision; in double precision, what their nine digits and the pins, which
/// stand at single-precision places, allow.
const BEAM_TOLERANCE: f64 = if cfg!(feature = "f64") { 1e-6 } else { 1e-3 };

/// Speed of a body at rest, m/s: in single precision, a few units in the last place of its positions per step.
const RESTING: f64 = if cfg!(feature = "f64") { 1e-6 } else { 1e-4 };

/// Displacements of the reference, m.
fn reference(path: &Path) -> Vec<Vector3<f64>> {
    let text = std::fs::read_to_string(path).expect("readable data");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.enumerate()
        .map(|(row, line)| {
            let numbers: Vec<f64> = line
                .split(',')
                .map(|number| number.parse().expect("a number"))
                .collect();
            assert_eq!(numbers[0], (row + 1) as f64, "nodes are numbered from one");
            Vector3::new(numbers[1], numbers[2], numbers[3])
        })
        .collect()
}

/// A beam that has hung for ten seconds in thick air.
///
/// The air damps the first mode about critically and changes nothing at rest.
fn hung(
    mesh: &TetrahedralMesh,
    integrator: Integrator,
    model: ElasticModel,
    young: f64,
    frequency: f64,
) -> (App, Entity) {
    let mut app = app();
    app.insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::new(0.0, 0.0, -9.81)));
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh.clone()),
            PliantMaterial::new(real(young), 0.3, 1000.0).with_model(model),
            Pins::at(chosen(mesh, |position| position.x < 1e-9)),
            AirDrag {
                coefficient: 0.0,
                viscous_rate: real(2.0 * frequency),
                ..default()
            },
        ))
        .id();
    ticks(&mut app, 600);
    (app, body)
}

/// Mean error over the largest displacement of the reference.
fn beam_error(moved: &[Vector3<f64>], expected: &[Vector3<f64>]) -> f64 {
    assert_eq!(moved.len(), expected.len());
    let distances = moved.iter().zip(expected).map(|(a, b)| (a - b).norm());
    let largest = expected.iter().map(Vector3::norm).fold(0.0, f64::max);
    distances.sum::<f64>() / moved.len() as f64 / largest
}

/// Compares beams at rest with an independent solver for the same elements.
///
/// The laws of the reference are ours: its names stand for the same formulas in `analytic.json`, whose stresses and
/// energies the tests of the kernels meet to nine digits (`stress_point_stable_neo_hookean` and so on).
fn compare_beams(cases: impl Iterator<Item = (Integrator, (&'static str, ElasticModel))>) {
    let Some(folder) = data_folder().map(|folder| folder.join("fem")) else {
        return;
    };
    let mesh = read_tetrahedral_mesh(folder.join("beam_20x2x2.node")).expect("a beam");
    for (integrator, (law, model)) in cases {
        for (beam, young, frequency) in BEAMS {
            let (app, body) = hung(&mesh, integrator, model, young, frequency);
            let expected = reference(&folder.join(format!("ref_20x2x2_{beam}_{law}.csv")));
            let places = positions(&app, body);
            let moved = places.iter().zip(&mesh.positions).map(|(x, rest)| x - rest);
            let error = beam_error(&moved.collect::<Vec<_>>(), &expected);
            let speed = largest_speed(&app, body);
            println!(
                "{}, {beam}, {law}: error {error:.1e}, speed {speed:.1e} m/s, {:?}",
                integrator.name(),
                state(&app, body).solver
            );
            assert!(
                speed < RESTING,
                "{beam}, {law}: not at rest, {speed:.1e} m/s"
            );
            assert!(error <= BEAM_TOLERANCE, "{beam}, {law}: {error:.1e}");
        }
    }
}

#[test]
fn beams_hang_where_an_independent_solver_says() {
    compare_beams(MODELS.into_iter().map(|law| (Integrator::IMPLICIT, law)));
}

#[test]
fn all_schemes_come_to_the_same_rest() {
    compare_beams(SCHEMES.into_iter().map(|scheme| (scheme, MODELS[0])));
}

/// Forces on the particles of a body that do not change, N.
#[derive(Component)]
struct Loads(Vec<Vector3<Real>>);

fn apply_loads(mut bodies: Query<(&Loads, &mut Particles)>) {
    for (loads, mut particles) in &mut bodies {
        for (force, load) in particles.forces.iter_mut().zip(&loads.0) {
            *force += load;
        }
    }
}

const BAR: [f64; 3] = [0.5, 0.2, 0.2];
const YOUNG: f64 = 1e5;
const POISSON: f64 = 0.3;
const STRAIN: f64 = 2e-3;

/// An even pull on both ends: each triangle's share to its corners, so that the strain is the same everywhere.
fn end_loads(mesh: &TetrahedralMesh) -> Vec<Vector3<Real>> {
    let mut loads = vec![Vector3::<f64>::zeros(); mesh.positions.len()];
    for triangle in mesh.surface().expect("a surface").triangles {
        let [a, b, c] = triangle.map(|corner| mesh.positions[corner as usize]);
        let side = a.x.signum();
        if [a, b, c]
            .iter()
            .all(|x| (side * x.x - 0.5 * BAR[0]).abs() < 1e-9)
        {
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            for corner in triangle {
                loads[corner as usize].x += side * YOUNG * STRAIN * area / 3.0;
            }
        }
    }
    loads.iter().map(|load| load.map(real)).collect()
}

/// Young's modulus, Pa, and Poisson's ratio of a bar that is pulled.
fn measured_moduli(model: ElasticModel, cells: [usize; 3], rate: f64) -> (f64, f64) {
    let mut app = app_at(rate);
    app.insert_resource(Integrator::default())
        .insert_resource(PliantGravity(Vec3::ZERO))
        .add_systems(
            PliantForces,
            apply_loads.in_set(PliantStepSystems::AccumulateForces),
        );
    let mesh = TetrahedralMesh::block(BAR, cells, CellSplit::Six).expect("a bar");
    let body = app
        .world_mut()
        .spawn((
            Loads(end_loads(&mesh)),
            Solid::new(mesh.clone()),
            PliantMaterial::new(real(YOUNG), real(POISSON), 1000.0).with_model(model),
            AirDrag {
                coefficient: 0.0,
                // The first axial mode has 63 1/s.
                viscous_rate: 60.0,
                ..default()
            },
        ))
        .id();
    ticks(&mut app, rate as usize);
    // Within a time constant of the air it moves by less than a hundredth of the stretch. What is left is the turn back
    // into the line of the pull, which takes longest.
    let speed = largest_speed(&app, body);
    let slow = 0.01 * 60.0 * 0.5 * STRAIN * BAR[0];
    assert!(speed < slow, "not at rest: {speed:.1e} m/s");
    // The faces move apart by the mean of what their particles do.
    let strain = |axis: usize| {
        let face = |side: f64| {
            let on_face = chosen(&mesh, |x| (side * x[axis] - 0.5 * BAR[axis]).abs() < 1e-9);
            let places = on_face
                .iter()
                .map(|&i| f64::from(particles(&app, body).positions[i as usize][axis]));
            places.sum::<f64>() / on_face.len() as f64
        };
        (face(1.0) - face(-1.0)) / BAR[axis] - 1.0
    };
    let [along, across, other] = [0, 1, 2].map(strain);
    (YOUNG * STRAIN / along, -0.5 * (across + other) / along)
}

#[test]
fn a_pulled_bar_shows_its_stated_moduli_on_every_mesh_at_every_tick() {
    for (law, model) in MODELS {
        for cells in [[2, 1, 1], [5, 2, 2], [10, 4, 4]] {
            for rate in [15.0, 60.0, 240.0] {
                let (young, poisson) = measured_moduli(model, cells, rate);
                let what = format!("{law}, {cells:?} cells, {rate} ticks per second");
                println!("{what}: E {young:.1} Pa, nu {poisson:.5}");
                assert_relative(&what, young, YOUNG, 0.01);
                assert!((poisson - POISSON).abs() < 0.01, "{what}: nu {poisson}");
            }
        }
    }
}
