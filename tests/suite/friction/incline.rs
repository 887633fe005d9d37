//! Particles and blocks on inclines.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use nalgebra::Vector3;

use super::{particles, particles_mut, surface, vector};
use crate::support::{analytic_case, app_at, assert_relative, state, ticks};

const RATE: f64 = 240.0;
const FRICTION: f64 = 0.5;
const GRAVITY: f64 = 9.81;
const THICKNESS: f64 = 1e-3;

/// What lies on the incline.
#[derive(Clone, Copy, Debug)]
enum Load {
    Particle,
    Block,
}

/// Unit vectors up the incline and away from it.
fn directions(angle: f64) -> (Vector3<f64>, Vector3<f64>) {
    (
        Vector3::new(angle.cos(), angle.sin(), 0.0),
        Vector3::new(-angle.sin(), angle.cos(), 0.0),
    )
}

/// A load at rest on an incline of that angle.
fn resting(load: Load, angle: f64) -> (App, Entity) {
    let mut app = app_at(RATE);
    app.insert_resource(Integrator::SYMPLECTIC_EULER);
    let turn = Quat::from_rotation_z(angle as f32);
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(20.0, 0.5, 2.0),
        Transform::from_rotation(turn),
    ));
    let (_, normal) = directions(angle);
    let body = match load {
        Load::Particle => {
            let start = normal * (0.5 + THICKNESS);
            let particles = Particles::new(vec![vector(start.x, start.y, start.z)], vec![1.0]);
            app.world_mut().spawn((particles, surface(FRICTION))).id()
        }
        Load::Block => {
            let mesh = TetrahedralMesh::block([0.4, 0.1, 0.4], [4, 1, 4], CellSplit::Six)
                .expect("a block");
            let place = normal * (0.5 + THICKNESS + 0.05);
            let at = Vec3::new(place.x as f32, place.y as f32, 0.0);
            app.world_mut()
                .spawn((
                    Solid::new(mesh),
                    PliantMaterial::new(1e6, 0.3, 1000.0).with_viscosity(500.0, 500.0),
                    surface(FRICTION),
                    Transform::from_translation(at).with_rotation(turn),
                ))
                .id()
        }
    };
    (app, body)
}

/// Mean place and velocity along the incline, m and m/s.
fn along(app: &App, body: Entity, angle: f64) -> (f64, f64) {
    let (up, _) = directions(angle);
    let state = state(app, body);
    let mass = particles(app, body).total_mass();
    (state.center.dot(&up), state.momentum.dot(&up) / mass)
}

#[test]
fn what_lies_on_an_incline_stays_below_the_friction_angle_and_slides_above_it() {
    let angle = 27f64.to_radians();
    let acceleration = GRAVITY * (angle.sin() - FRICTION * angle.cos());
    // The band of the reference: 0.4 degrees above the critical angle, one per cent of friction is half the acceleration.
    let band = 0.01..0.12;
    if let Some(case) = analytic_case("incline_mu0.5_27deg") {
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let expected = &case["expected"];
        assert_relative(
            "closed form",
            acceleration,
            number(&expected["acceleration"]),
            1e-12,
        );
        let limits = &case["tolerance"]["distance_1s_between"];
        assert_eq!(
            band,
            number(&limits[0])..number(&limits[1]),
            "band of the reference"
        );
    }
    for load in [Load::Particle, Load::Block] {
        let (mut app, body) = resting(load, angle);
        let (start, _) = along(&app, body, angle);
        let (mut last, mut speed) = (start, 0.0);
        for _ in 0..RATE as usize {
            ticks(&mut app, 1);
            (last, speed) = along(&app, body, angle);
        }
        let slid = start - last;
        println!(
            "{load:?}: slides {slid:.5} m in 1 s, closed form {:.5} m; speed {:.5} m/s, closed form {acceleration:.5} m/s",
            0.5 * acceleration,
            -speed
        );
        assert!(band.contains(&slid), "{load:?} slid {slid} m");

        let angle = 26f64.to_radians();
        let (mut app, body) = resting(load, angle);
        // A block settles into its shear first.
        ticks(&mut app, RATE as usize);
        let (start, _) = along(&app, body, angle);
        ticks(&mut app, 10 * RATE as usize);
        let drift = (along(&app, body, angle).0 - start).abs();
        println!("{load:?}: drifts {drift:.1e} m in 10 s at 26 degrees");
        assert!(drift < 1e-3, "{load:?} drifted {drift} m");
    }
}

#[test]
fn what_is_pushed_up_an_incline_stops_and_stays() {
    const PUSH: f64 = 3.0;
    let angle = 20f64.to_radians();
    let deceleration = GRAVITY * (angle.sin() + FRICTION * angle.cos());
    let (time, distance) = (PUSH / deceleration, 0.5 * PUSH * PUSH / deceleration);
    let tolerance = 0.02;
    if let Some(case) = analytic_case("incline_push_up_stops_and_stays") {
        let expected = |key: &str| case["expected"][key].as_f64().expect("a number");
        assert_relative("closed form", deceleration, expected("deceleration"), 1e-12);
        assert_relative("closed form", time, expected("stop_time"), 1e-12);
        assert_relative("closed form", distance, expected("stop_distance"), 1e-12);
    }
    for load in [Load::Particle, Load::Block] {
        let (mut app, body) = resting(load, angle);
        ticks(&mut app, RATE as usize);
        let (up, _) = directions(angle);
        let push = (up * PUSH).map(|speed| speed as Real);
        for velocity in &mut particles_mut(&mut app, body).velocities {
            *velocity += push;
        }
        let (start, _) = along(&app, body, angle);
        let mut reached = None;
        for tick in 1..=(2.0 * time * RATE) as usize {
            let (_, before) = along(&app, body, angle);
            ticks(&mut app, 1);
            let (place, speed) = along(&app, body, angle);
            if speed < 1e-3 * PUSH && reached.is_none() {
                let part = (before / (before - speed)).min(1.0);
                reached = Some(((tick as f64 - 1.0 + part) / RATE, place - start));
            }
        }
        let (stopped, reached) = reached.expect("it stops");
        println!(
            "{load:?}: stops after {stopped:.4} s, closed form {time:.4} s, and {reached:.4} m, closed form {distance:.4} m"
        );
        assert_relative("stop time", stopped, time, tolerance);
        assert_relative("stop distance", reached, distance, tolerance);
        ticks(&mut app, RATE as usize);
        let (settled, _) = along(&app, body, angle);
        ticks(&mut app, 2 * RATE as usize);
        let drift = (along(&app, body, angle).0 - settled).abs();
        assert!(drift < 1e-3, "{load:?} drifted {drift} m");
        assert_relative("place of rest", settled - start, distance, tolerance);
    }
}
