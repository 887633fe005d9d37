//! Resistance of the air: the terminal velocity, the decay, the account.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{analytic_case, app_at, assert_relative, state, ticks};

/// A flat box of 0.5 kg that falls on a face of 0.04 m²; so stiff that the air does not change its shape. Drag ahead of
/// the center of mass turns a falling box over in the end: a flat one lasts longer than these tests.
const MASS: f64 = 0.5;
const AREA: f64 = 0.04;
const GRAVITY: f64 = 9.81;
/// MASS over the volume, 0.2 m × 0.03 m × 0.2 m, kg/m³.
const DENSITY: Real = 1250.0 / 3.0;
const STIFF: Real = 5e4;

/// The reference integrator; a step of 0.1 ms is far below the stable step of the box, and shorter ones would
/// only collect rounding in single precision.
const REFERENCE: Integrator = Integrator::RungeKuttaFehlberg {
    tolerance: 1e-6,
    smallest_step: 1e-4,
    largest_step: 1.0 / 60.0,
    mass: MassMatrix::Consistent,
};

fn spawn_box(app: &mut App, young_modulus: Real, drag: AirDrag, velocity: Vec3) -> Entity {
    let mesh = TetrahedralMesh::block([0.2, 0.03, 0.2], [2, 1, 2], CellSplit::Five).expect("a box");
    app.world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(young_modulus, 0.0, DENSITY),
            InitialMotion {
                linear_velocity: velocity,
                ..default()
            },
            drag,
        ))
        .id()
}

/// Speed and distance of a fall from rest with quadratic drag: v = v_t tanh(g t/v_t), s = v_t²/g ln cosh(g t/v_t).
fn fall(seconds: f64) -> (f64, f64) {
    let drag = AirDrag::default();
    let terminal = (2.0 * MASS * GRAVITY
        / (f64::from(drag.coefficient) * f64::from(drag.fluid_density) * AREA))
        .sqrt();
    let scaled = GRAVITY * seconds / terminal;
    (
        terminal * scaled.tanh(),
        terminal * terminal / GRAVITY * scaled.cosh().ln(),
    )
}

const TIMES: [f64; 4] = [0.1, 0.5, 1.0, 3.0];

#[test]
fn the_closed_form_of_the_fall_is_that_of_the_reference() {
    let Some(case) = analytic_case("terminal_velocity_box") else {
        return;
    };
    for (index, seconds) in TIMES.into_iter().enumerate() {
        let expected = |key: &str| case["expected"][key][index].as_f64().expect("a number");
        assert_eq!(expected("times"), seconds);
        // The library's default coefficients may be rounded to single precision.
        assert_relative("speed", fall(seconds).0, expected("speed"), 1e-6);
        assert_relative("distance", fall(seconds).1, expected("distance"), 1e-6);
    }
}

#[test]
fn a_box_falls_as_quadratic_drag_says_at_any_tick_rate() {
    // The tolerance of the reference. The box itself gives way to the air by 0.1 %.
    let tolerance = 0.01;
    let symplectic = [30.0, 60.0, 240.0].map(|rate| (Integrator::SYMPLECTIC_EULER, rate));
    for (integrator, rate) in symplectic.into_iter().chain([(REFERENCE, 60.0)]) {
        let mut app = app_at(rate);
        app.insert_resource(integrator);
        let body = spawn_box(&mut app, STIFF, AirDrag::default(), Vec3::ZERO);
        let mut done = 0;
        for seconds in TIMES {
            let count = (seconds * rate).round() as usize;
            ticks(&mut app, count - done);
            done = count;
            let (speed, distance) = fall(seconds);
            let measured = -state(&app, body).momentum.y / MASS;
            let fallen = -state(&app, body).center.y;
            let what = format!("{} at {rate} Hz after {seconds} s", integrator.name());
            println!("{what}: {measured:.4} m/s of {speed:.4}, {fallen:.4} m of {distance:.4}");
            assert_relative(&format!("speed, {what}"), measured, speed, tolerance);
            assert_relative(&format!("distance, {what}"), fallen, distance, tolerance);
        }
        assert!(app.world().get::<Quarantined>(body).is_none());
    }
}

/// Viscous drag makes the velocity fall as e^(−c t), without deforming the body.
#[test]
fn viscous_drag_lets_the_velocity_decay_exponentially() {
    let (rate, seconds, speed) = (2.0, 1.0, 3.0);
    let drag = AirDrag {
        coefficient: 0.0,
        viscous_rate: 2.0,
        ..default()
    };
    let run = |integrator: Integrator| {
        let mut app = app_at(60.0);
        app.insert_resource(integrator)
            .insert_resource(PliantGravity(Vec3::ZERO));
        let body = spawn_box(&mut app, 500.0, drag, Vec3::new(0.0, 0.0, speed as f32));
        ticks(&mut app, 60);
        assert!(app.world().get::<Quarantined>(body).is_none());
        let state = state(&app, body);
        (
            state.momentum.z / MASS / (speed * f64::exp(-rate * seconds)) - 1.0,
            state.substeps,
        )
    };

    // The dissipative part of each substep is a forward Euler step: per substep it loses (c h)²/2 too much.
    for count in [8, 16, 32] {
        let (error, substeps) = run(Integrator::SymplecticEuler {
            substeps: Substeps::Fixed(count),
        });
        assert_eq!(substeps, count);
        let step = 1.0 / (60.0 * f64::from(count));
        let bound = 0.5 * rate * rate * step * seconds;
        println!("{count} substeps: {error:+.2e}, bound {bound:.2e}");
        // A single-precision mass and velocity are off by their last digit.
        assert!(
            error.abs() < 1.1 * bound + 1e-6,
            "{count} substeps: {error:+.2e}, bound {bound:.2e}"
        );
    }
    let (error, _) = run(REFERENCE);
    println!("rkf45: {error:+.2e}");
    // The integrator's tolerance, 1e-6 per second.
    assert!(error.abs() < 1e-6 * seconds + 1e-6, "{error:+.2e}");
}

#[test]
fn what_the_air_takes_is_in_the_account() {
    // Of the energy that changed hands; substeps of a few ms integrate the power to second order.
    let tolerance = 1e-3;
    let both = AirDrag {
        viscous_rate: 0.2,
        ..default()
    };
    for integrator in [Integrator::SYMPLECTIC_EULER, REFERENCE] {
        for drag in [AirDrag::default(), both] {
            let mut app = app_at(60.0);
            app.insert_resource(integrator);
            let body = spawn_box(&mut app, STIFF, drag, Vec3::new(2.0, 0.0, 0.0));
            ticks(&mut app, 1);
            let start = state(&app, body).energies;
            let (mut worst, mut lost) = (0.0_f64, start.dissipated);
            for _ in 0..120 {
                ticks(&mut app, 1);
                let energies = state(&app, body).energies;
                assert!(energies.dissipated >= lost, "air only takes");
                lost = energies.dissipated;
                worst = worst.max((energies.total() - start.total()).abs());
            }
            let exchanged = start.gravitational - state(&app, body).energies.gravitational;
            println!(
                "{}: T strays by {:.1e} of {exchanged:.1} J, {lost:.1} J lost",
                integrator.name(),
                worst / exchanged
            );
            assert!(
                lost > 0.2 * exchanged,
                "the air takes a good part of the energy"
            );
            assert!(
                worst < tolerance * exchanged,
                "{}: {worst} J of {exchanged} J",
                integrator.name()
            );
        }
    }
}

#[test]
fn drag_pushes_against_the_motion_and_acts_on_the_windward_side_only() {
    let mut app = app_at(60.0);
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let body = spawn_box(
        &mut app,
        STIFF,
        AirDrag::default(),
        Vec3::new(0.0, 5.0, 0.0),
    );
    app.world_mut().run_schedule(PliantForces);
    let particles = app.world().get::<Particles>(body).expect("a body");
    let drag = AirDrag::default();
    let expected = 0.5 * f64::from(drag.coefficient) * f64::from(drag.fluid_density) * AREA * 25.0;
    let mut sum = Vector3::zeros();
    for (position, force) in particles.positions.iter().zip(&particles.forces) {
        let force = force.cast::<f64>();
        sum += force;
        // At rest the elements push with nothing but rounding.
        let floor = 1e-3 * expected;
        assert!(
            position.y > 0.0149 || force.norm() < floor,
            "a particle in the lee feels {force:?}"
        );
    }
    assert_relative("drag", -sum.y, expected, 1e-5);
    assert!(sum.xz().norm() < 1e-5 * expected);
}
