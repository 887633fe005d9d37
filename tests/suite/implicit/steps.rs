//! What one step does to an oscillator: the damping and the lag that each scheme must have, no more and no less.

use bevy::prelude::*;
use bevy_pliant::kernel::implicit::schemes::GAMMA;
use bevy_pliant::kernel::real;
use bevy_pliant::prelude::*;
use bevy_pliant::step::ImplicitScheme;
use nalgebra::{Complex, Vector3};

use super::{SCHEMES, particles, with_substeps};
use crate::support::{analytic_case, app_at, assert_relative, ticks};

const FREQUENCY: f64 = 10.0;

/// Height of the tetrahedron, m.
const HEIGHT: f64 = 0.1;

/// Largest swing, m.
const AMPLITUDE: f64 = 0.01;

/// Angular frequency, 1/s.
fn omega() -> f64 {
    std::f64::consts::TAU * FREQUENCY
}

/// A tetrahedron on a held face whose fourth corner swings along the height.
///
/// Without lateral contraction the corotational law is linear in that direction, at any amplitude: a pull of E V x/h² on
/// a quarter of the mass. The corner rests at the origin, where single precision is best.
fn oscillator(integrator: Integrator, rate: f64) -> (App, Entity) {
    let mut app = app_at(rate);
    app.insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let corners = vec![
        Vector3::zeros(),
        Vector3::new(-HEIGHT, 0.1, 0.0),
        Vector3::new(-HEIGHT, -0.05, 0.1),
        Vector3::new(-HEIGHT, -0.05, -0.1),
    ];
    let mut mesh = TetrahedralMesh::new(corners, vec![[0, 1, 2, 3]]);
    mesh.orient();
    let density = 1000.0;
    let young = 0.25 * density * (omega() * HEIGHT).powi(2);
    let material = PliantMaterial::new(real(young), 0.0, real(density));
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            material.with_model(ElasticModel::Corotational),
            Pins::at([1, 2, 3]),
        ))
        .id();
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    particles.positions[0].x = real(AMPLITUDE);
    (app, body)
}

/// Place and speed as one number, which turns by ω per second: x − i v/ω.
fn swing(app: &App, body: Entity) -> Complex<f64> {
    let particles = particles(app, body);
    let (place, speed) = (particles.positions[0].x, particles.velocities[0].x);
    Complex::new(f64::from(place), -f64::from(speed) / omega())
}

/// What a step multiplies the swing by, on the mean of some steps.
fn measured_factor(integrator: Integrator, rate: f64) -> Complex<f64> {
    const STEPS: usize = 10;
    let (mut app, body) = oscillator(with_substeps(integrator, 1), rate);
    // Backward differences start with a step of another scheme, which wakes their second solution. It dies out by two
    // thirds per step.
    if integrator == Integrator::BACKWARD_DIFFERENCES {
        ticks(&mut app, 8);
    }
    let start = swing(&app, body);
    let (mut last, mut angle) = (start, 0.0);
    for _ in 0..STEPS {
        ticks(&mut app, 1);
        let now = swing(&app, body);
        angle += (now / last).arg();
        last = now;
    }
    let size = (last.norm() / start.norm()).powf(1.0 / STEPS as f64);
    Complex::from_polar(size, angle / STEPS as f64)
}

/// What a step of the scheme multiplies the solution of x' = z x/Δt by.
///
/// Eq: `[Ascher 1997 §2.6]` for two stages; the larger root of `(3 − 2z) r² − 4r + 1 = 0` for backward differences.
fn stability_function(integrator: Integrator, z: Complex<f64>) -> Complex<f64> {
    let one = Complex::new(1.0, 0.0);
    let Integrator::Implicit { scheme, .. } = integrator else {
        panic!("not implicit")
    };
    match scheme {
        ImplicitScheme::BackwardEuler => one / (one - z),
        ImplicitScheme::BackwardDifferences => {
            (one * 2.0 + (one + z * 2.0).sqrt()) / (one * 3.0 - z * 2.0)
        }
        ImplicitScheme::RungeKutta => {
            let stage = one - z * GAMMA;
            (one + z * (1.0 - 2.0 * GAMMA)) / (stage * stage)
        }
    }
}

#[test]
fn backward_euler_damps_and_slows_an_oscillator_as_its_closed_form_says() {
    let cases = [
        ("implicit_euler_oscillator_10hz_dt0.00417", 240.0),
        ("implicit_euler_oscillator_10hz_dt0.01667", 60.0),
    ];
    for (id, rate) in cases {
        let Some(case) = analytic_case(id) else {
            return;
        };
        let number = |group: &str, key: &str| case[group][key].as_f64().expect("a number");
        assert_relative(
            "frequency",
            FREQUENCY,
            number("inputs", "frequency_hz"),
            1e-12,
        );
        assert_relative("step", 1.0 / rate, number("inputs", "dt"), 1e-12);
        let tolerance = number("tolerance", "rel");
        let factor = measured_factor(Integrator::BACKWARD_EULER, rate);
        let frequency = factor.arg() * rate / std::f64::consts::TAU;
        println!(
            "{id}: factor {:.6}, phase {:.6}, {frequency:.5} Hz",
            factor.norm(),
            factor.arg()
        );
        for (key, value) in [
            ("amplitude_factor_per_step", factor.norm()),
            ("phase_per_step_rad", factor.arg()),
            ("apparent_frequency_hz", frequency),
        ] {
            assert_relative(key, value, number("expected", key), tolerance);
        }
    }
}

#[test]
fn each_scheme_has_its_stability_function() {
    for integrator in SCHEMES {
        for rate in [60.0, 240.0] {
            let factor = measured_factor(integrator, rate);
            let z = Complex::new(0.0, omega() / rate);
            let expected = stability_function(integrator, z);
            println!(
                "{}, {rate} steps per second: {factor:.6} for {expected:.6}",
                integrator.name()
            );
            assert!(
                (factor - expected).norm() <= 1e-3 * expected.norm(),
                "{}: {factor} instead of {expected}",
                integrator.name()
            );
        }
    }
}
