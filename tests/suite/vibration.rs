//! Waves along a bar: natural frequencies, and the impact on a wall.

use std::f64::consts::PI;

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};

use crate::support::{analytic_case, app_at, assert_relative, state, ticks};

/// The bar of the references: 1 m long, square, with the stiffness and density that make waves run at 31.6 m/s. Without
/// lateral contraction, so that the one-dimensional speed holds for any width.
const LENGTH: f64 = 1.0;
const WIDTH: f64 = 0.1;
const SPEED: f64 = 31.622_776_601_683_793;

/// Displacement that starts a vibration, m: the strain, 0.3 %, is far below what would shift a frequency by 1e-4, and
/// single precision still resolves it to 1e-4.
const AMPLITUDE: f64 = 1e-3;

fn material() -> PliantMaterial {
    PliantMaterial::new(1e6, 0.0, 1000.0).with_model(ElasticModel::Corotational)
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    FixedFree,
    FreeFree,
}

impl Ends {
    /// Shape of the first mode at the place x, from −½ to ½.
    fn shape(self, x: f64) -> f64 {
        match self {
            Self::FixedFree => (0.5 * PI * (x + 0.5)).sin(),
            Self::FreeFree => (PI * x).sin(),
        }
    }

    /// First natural frequency by the wave equation, Hz.
    fn frequency(self) -> f64 {
        match self {
            Self::FixedFree => SPEED / (4.0 * LENGTH),
            Self::FreeFree => SPEED / (2.0 * LENGTH),
        }
    }
}

/// The frequency at which a bar of that many cells swings in its first axial mode, Hz.
fn measured_frequency(integrator: Integrator, ends: Ends, cells: usize) -> f64 {
    const RATE: f64 = 480.0;
    const PERIODS: f64 = 6.0;
    let mut app = app_at(RATE);
    app.insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let mesh = TetrahedralMesh::block([LENGTH, WIDTH, WIDTH], [cells, 1, 1], CellSplit::Five)
        .expect("a bar");
    let rest: Vec<f64> = mesh.positions.iter().map(|position| position.x).collect();
    let body = app.world_mut().spawn((Solid::new(mesh), material())).id();
    if let Ends::FixedFree = ends {
        let held = (0_u32..)
            .zip(&rest)
            .filter(|(_, x)| **x < -0.4999)
            .map(|(particle, _)| particle);
        app.world_mut().entity_mut(body).insert(Pins::at(held));
    }
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    for (position, &x) in particles.positions.iter_mut().zip(&rest) {
        position.x += bevy_pliant::kernel::real::<Real>(AMPLITUDE * ends.shape(x));
    }

    let mut crossings = Vec::new();
    let mut last = f64::INFINITY;
    for tick in 0..(PERIODS * RATE / ends.frequency()) as usize {
        ticks(&mut app, 1);
        let particles = app.world().get::<Particles>(body).expect("a body");
        let projection: f64 = (0..rest.len())
            .map(|i| {
                f64::from(particles.masses()[i])
                    * ends.shape(rest[i])
                    * (f64::from(particles.positions[i].x) - rest[i])
            })
            .sum();
        if last.is_finite() && last.signum() != projection.signum() {
            crossings.push((tick as f64 + last / (last - projection)) / RATE);
        }
        last = projection;
    }
    let (first, last) = (crossings[0], crossings[crossings.len() - 1]);
    0.5 * (crossings.len() - 1) as f64 / (last - first)
}

/// The reference integrator. Steps below 0.1 ms turn the fastest waves of these bars by less than a third of a radian:
/// what error is left is not the integrator's, and in single precision a shorter step would only collect rounding.
const fn reference(mass: MassMatrix) -> Integrator {
    Integrator::RungeKuttaFehlberg {
        tolerance: 1e-6,
        smallest_step: 1e-4,
        largest_step: 1.0 / 120.0,
        mass,
    }
}

#[test]
fn a_bar_swings_at_the_frequencies_of_the_wave_equation() {
    let case = analytic_case("bar_axial_frequencies");
    // The tolerance of the reference; sixteen cells over half a wave are off by 0.2 %.
    let tolerance = 0.02;
    for (ends, key) in [
        (Ends::FixedFree, "fixed_free_hz"),
        (Ends::FreeFree, "free_free_hz"),
    ] {
        if let Some(case) = &case {
            let expected = case["expected"][key][0].as_f64().expect("a frequency");
            assert_relative("closed form", ends.frequency(), expected, 1e-12);
        }
        for integrator in [
            Integrator::SYMPLECTIC_EULER,
            reference(MassMatrix::Consistent),
        ] {
            let measured = measured_frequency(integrator, ends, 16);
            println!(
                "{ends:?}, {}: {measured:.4} Hz, closed form {:.4} Hz",
                integrator.name(),
                ends.frequency()
            );
            assert_relative(
                &format!("{ends:?}, {}", integrator.name()),
                measured,
                ends.frequency(),
                tolerance,
            );
        }
    }
}

/// A chain of cells of length h swings at the wave number k with ω h/c = 2 sin(k h/2) if its masses are lumped, and with
/// √(6 (1 − cos k h)/(2 + cos k h)) if they are consistent: one below, the other above k h, both by the share (k h)²/24.
#[test]
fn consistent_masses_swing_too_fast_and_lumped_masses_too_slowly_by_the_square_of_the_cell() {
    let ends = Ends::FreeFree;
    let error = |integrator: Integrator, cells: usize| {
        measured_frequency(integrator, ends, cells) / ends.frequency() - 1.0
    };
    for cells in [4, 8] {
        let wave = PI / cells as f64;
        let expected = wave * wave / 24.0;
        let (consistent, lumped) = (
            error(reference(MassMatrix::Consistent), cells),
            error(reference(MassMatrix::Lumped), cells),
        );
        println!(
            "{cells} cells: consistent {consistent:+.2e}, lumped {lumped:+.2e}, theory ±{expected:.2e}"
        );
        assert!(
            lumped < 0.0 && consistent > 0.0,
            "lumped {lumped:+.2e}, consistent {consistent:+.2e}"
        );
        // The tetrahedra share the mass of a cross section unevenly over its corners, which chains do not.
        let (largest, smallest) = (2.0 * expected, 0.5 * expected);
        assert!(
            (smallest..largest).contains(&consistent),
            "consistent {consistent:+.2e}, theory {expected:+.2e}"
        );
        assert!(
            (smallest..largest).contains(&-lumped),
            "lumped {lumped:+.2e}, theory {:+.2e}",
            -expected
        );
    }
}

/// St. Venant's impact: the bar shortens by v/c while a wave runs up and down, then leaves as fast as it came.
#[test]
fn a_bar_that_hits_a_wall_leaves_after_two_wave_times_with_the_speed_it_came_with() {
    const RATE: f64 = 2000.0;
    const CELLS: usize = 50;
    let (speed, contact_time) = (1.0, 2.0 * LENGTH / SPEED);
    // The tolerance of the reference. The end layer stops without bouncing, which costs 1/(2 CELLS) of the energy.
    let tolerance = 0.05;
    if let Some(case) = analytic_case("bar_wall_impact") {
        let expected = |key: &str| case["expected"][key].as_f64().expect("a number");
        assert_relative("closed form", contact_time, expected("contact_time"), 1e-12);
        assert_relative("closed form", speed, expected("rebound_speed"), 1e-12);
        assert_relative(
            "closed form",
            speed / SPEED * LENGTH,
            expected("max_shortening"),
            1e-12,
        );
    }

    let mut app = app_at(RATE);
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .insert_resource(PliantGravity(Vec3::ZERO));
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(1.0, 0.5, 1.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let mesh = TetrahedralMesh::block([WIDTH, LENGTH, WIDTH], [1, CELLS, 1], CellSplit::Five)
        .expect("a bar");
    let heights: Vec<f64> = mesh.positions.iter().map(|position| position.y).collect();
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            material(),
            InitialMotion {
                linear_velocity: Vec3::new(0.0, -speed as f32, 0.0),
                ..default()
            },
            Transform::from_xyz(0.0, 0.505, 0.0),
        ))
        .id();

    let (mut touched, mut left, mut shortest) = (None, 0, LENGTH);
    for tick in 0..(1.5 * contact_time * RATE) as usize {
        ticks(&mut app, 1);
        if state(&app, body).contacts > 0 {
            touched.get_or_insert(tick);
            left = tick + 1;
        }
        let particles = app.world().get::<Particles>(body).expect("a body");
        let end = |height: f64| {
            let on_end = || (0..heights.len()).filter(|&i| (heights[i] - height).abs() < 1e-6);
            on_end()
                .map(|i| f64::from(particles.positions[i].y))
                .sum::<f64>()
                / on_end().count() as f64
        };
        shortest = f64::min(shortest, end(0.5 * LENGTH) - end(-0.5 * LENGTH));
    }
    let touched = touched.expect("the bar reaches the wall");
    let measured_time = (left - touched) as f64 / RATE;
    let mass = app
        .world()
        .get::<Particles>(body)
        .expect("a body")
        .total_mass();
    let rebound = state(&app, body).momentum.y / mass;
    let energies = state(&app, body).energies;
    println!(
        "contact {measured_time:.4} s, closed form {contact_time:.4} s; rebound {rebound:.4} m/s; shortening {:.5}; {energies:?}",
        LENGTH - shortest
    );
    assert_relative("contact time", measured_time, contact_time, tolerance);
    assert_relative("rebound speed", rebound, speed, tolerance);
    assert_relative(
        "shortening",
        LENGTH - shortest,
        speed / SPEED * LENGTH,
        tolerance,
    );
    assert!(
        energies.contact >= 0.0,
        "contact takes energy, it never gives any"
    );
}
