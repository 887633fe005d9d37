//! A ball that slides first and rolls in the end.

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, Friction, RigidBody};

use super::{particles, particles_mut, surface};
use crate::support::{analytic_case, app_at, assert_relative, state, ticks};

const RATE: f64 = 240.0;
const RADIUS: f64 = 1.0;
const FRICTION: f64 = 0.2;
const GRAVITY: f64 = 9.81;
const SPEED: f64 = 5.0;
const MATERIAL: PliantMaterial = PliantMaterial::new(2e7, 0.3, 1000.0);

/// A ball that rests on the ground, pressed flat by a hundredth of its radius. What it would bob is damped away, since
/// its friction would swing with its weight.
fn resting_ball(app: &mut App) -> Entity {
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(50.0, 0.5, 50.0),
        Friction::coefficient(FRICTION as f32),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let mesh = TetrahedralMesh::ball(RADIUS, 10).expect("a ball");
    // No vertex, edge or plane of symmetry of the mesh points anywhere special.
    let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 0.21, 0.39);
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            MATERIAL,
            surface(FRICTION),
            AirDrag {
                coefficient: 0.0,
                viscous_rate: 30.0,
                ..default()
            },
            Transform::from_xyz(0.0, RADIUS as f32, 0.0).with_rotation(turn),
        ))
        .id();
    ticks(app, 120);
    app.world_mut().entity_mut(body).remove::<AirDrag>();
    body
}

/// Speed of the center and speed of the surface about it, m/s.
fn speeds(app: &App, body: Entity) -> (f64, f64) {
    let (particles, state) = (particles(app, body), state(app, body));
    let inertia: f64 = particles
        .positions
        .iter()
        .zip(particles.masses())
        .map(|(position, &mass)| {
            let arm = position.map(f64::from) - state.center;
            f64::from(mass) * (arm.x * arm.x + arm.y * arm.y)
        })
        .sum();
    (
        state.momentum.x / particles.total_mass(),
        -state.angular_momentum.z / inertia * RADIUS,
    )
}

#[test]
fn a_ball_slides_until_it_rolls_at_five_sevenths_of_its_speed() {
    let (final_speed, rolls_after) = (5.0 / 7.0 * SPEED, 2.0 * SPEED / (7.0 * FRICTION * GRAVITY));
    let tolerance = 0.02;
    if let Some(case) = analytic_case("ball_skid_to_roll") {
        let expected = |key: &str| case["expected"][key].as_f64().expect("a number");
        assert_relative("closed form", final_speed, expected("final_speed"), 1e-12);
        assert_relative("closed form", rolls_after, expected("time_to_roll"), 1e-12);
    }
    let mut app = app_at(RATE);
    app.insert_resource(Integrator::SYMPLECTIC_EULER);
    let body = resting_ball(&mut app);
    for velocity in &mut particles_mut(&mut app, body).velocities {
        velocity.x += bevy_pliant::kernel::real::<bevy_pliant::Real>(SPEED);
    }

    let mut rolls_at = None;
    let mut last = (0.0, SPEED);
    let mut rolling = Vec::new();
    for tick in 1..=RATE as usize {
        ticks(&mut app, 1);
        let time = tick as f64 / RATE;
        let (speed, turning) = speeds(&app, body);
        let slip = speed - turning;
        if slip <= 0.0 {
            let (before, slipped) = last;
            rolls_at.get_or_insert(before + (time - before) * slipped / (slipped - slip));
        }
        last = (time, slip);
        if time < 0.9 * rolls_after {
            assert_relative(
                &format!("sliding speed after {time:.3} s"),
                speed,
                SPEED - FRICTION * GRAVITY * time,
                tolerance,
            );
        } else if time > 1.1 * rolls_after {
            rolling.push(speed);
        }
    }
    let mean = rolling.iter().sum::<f64>() / rolling.len() as f64;
    let rolls_at = rolls_at.expect("it rolls in the end");
    println!(
        "rolls after {rolls_at:.4} s, closed form {rolls_after:.4} s; at {mean:.4} m/s, closed form {final_speed:.4} m/s"
    );
    assert_relative("time to roll", rolls_at, rolls_after, tolerance);
    assert_relative("final speed", mean, final_speed, tolerance);
    for speed in rolling {
        assert_relative("speed of rolling", speed, final_speed, tolerance);
    }
}
