//! Ropes: a hanging chain against the catenary, and what a rope weighs and stretches by.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::Rope;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{app, assert_relative, state, ticks};

/// Length of the rope, m.
const LENGTH: f64 = 2.0;
const SEGMENTS: usize = 60;
const GRAVITY: f64 = 9.81;

fn rope(from: Vector3<f64>, to: Vector3<f64>) -> Rope {
    Rope::new(from, to, SEGMENTS).expect("a rope")
}

fn level() -> Rope {
    let half = Vector3::x() * (0.5 * LENGTH);
    rope(-half, half)
}

/// Moves both ends inwards over two seconds, to `span` apart, and waits.
fn hang(app: &mut App, cord: Cord, span: f64) -> Entity {
    let drag = AirDrag {
        viscous_rate: 2.0,
        ..default()
    };
    let ends = [0, SEGMENTS as u32];
    let body = app.world_mut().spawn((cord, Pins::at(ends), drag)).id();
    for tick in 1..=120 {
        let share = f64::from(tick) / 120.0;
        let half = 0.5 * (LENGTH + (span - LENGTH) * share) as f32;
        let places = [Vec3::X * -half, Vec3::X * half];
        let mut pins = app.world_mut().get_mut::<Pins>(body).expect("pins");
        for (pin, place) in pins.pins.iter_mut().zip(places) {
            pin.anchor = PinAnchor::World(place);
        }
        ticks(app, 1);
    }
    ticks(app, 900);
    body
}

fn positions(app: &App, body: Entity) -> Vec<Vector3<f64>> {
    let particles = app.world().get::<Particles>(body).expect("a body");
    particles.positions.iter().map(|x| x.cast()).collect()
}

/// The parameter a of the catenary y = a cosh(x/a) of a length over a span: 2 a sinh(span / 2a) = length.
fn parameter(length: f64, span: f64) -> f64 {
    let (mut low, mut high) = (1e-3 * span, 1e3 * span);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if 2.0 * middle * (0.5 * span / middle).sinh() > length {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[test]
fn a_hanging_chain_is_a_catenary() {
    for span in [0.8, 1.4, 1.8] {
        let mut app = app();
        let body = hang(&mut app, Cord::new(level()).with_stretch(2e4, 0.1), span);
        let found = positions(&app, body);
        let a = parameter(LENGTH, span);
        let sag = a * ((0.5 * span / a).cosh() - 1.0);
        let mut worst = 0.0_f64;
        for (index, place) in found.iter().enumerate() {
            // Arc length from the lowest point: x = a asinh(s/a), y = √(a² + s²).
            let s = LENGTH * (index as f64 / SEGMENTS as f64 - 0.5);
            let expected = Vector3::new(a * (s / a).asinh(), (a * a + s * s).sqrt() - a - sag, 0.0);
            worst = worst.max((place - expected).norm());
        }
        let lowest = -found[SEGMENTS / 2].y;
        println!(
            "span {span}: sag {lowest:.5} of {sag:.5} m, worst point {:.3} % of the sag",
            100.0 * worst / sag
        );
        assert_relative("sag", lowest, sag, 0.005);
        assert!(worst <= 0.005 * sag, "{worst} of {sag}");
    }
}

#[test]
fn a_rope_weighs_and_stretches_as_told() {
    let mut app = app();
    let (stiffness, density) = (200.0, 0.1);
    let cord = Cord::new(rope(Vector3::zeros(), -Vector3::y() * LENGTH));
    let cord = cord
        .with_stretch(stiffness as Real, density as Real)
        .with_bend(0.0)
        .with_damping(0.2);
    let body = app.world_mut().spawn((cord, Pins::at([0]))).id();
    ticks(&mut app, 600);
    let particles = app.world().get::<Particles>(body).expect("a body");
    assert_relative("mass", particles.total_mass(), density * LENGTH, 1e-6);
    // Each length carries what hangs below: ρ g L² / 2 E A.
    let stretch = -f64::from(particles.positions[SEGMENTS].y) - LENGTH;
    let expected = density * GRAVITY * LENGTH * LENGTH / (2.0 * stiffness);
    assert_relative("stretch", stretch, expected, 0.005);
    assert_eq!(state(&app, body).solver.fallbacks, 0);
}

#[test]
fn bend_springs_hold_a_rope_out() {
    let droop = |bend: Real| {
        let mut app = app();
        let start = rope(Vector3::zeros(), Vector3::x() * LENGTH);
        let cord = Cord::new(start).with_bend(bend).with_damping(0.02);
        // The first two particles are clamped.
        let body = app.world_mut().spawn((cord, Pins::at([0, 1]))).id();
        ticks(&mut app, 20);
        -positions(&app, body)[SEGMENTS].y
    };
    let (limp, stiff) = (droop(0.0), droop(1e6));
    println!("after a third of a second {limp:.3} m without, {stiff:.3} m with bend springs");
    assert!(stiff < 0.9 * limp, "{stiff} of {limp}");
}

#[test]
fn a_rope_without_weight_is_reported_and_left_out() {
    let mut app = app();
    let cord = Cord::new(level()).with_stretch(1e4, 0.0);
    let body = app.world_mut().spawn(cord).id();
    ticks(&mut app, 2);
    let quarantined = app.world().get::<Quarantined>(body).expect("left out");
    assert!(quarantined.reason.contains("mass per length"));
    assert!(app.world().get::<Particles>(body).is_none());
}
