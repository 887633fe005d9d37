//! Friction and rest on colliders, at one step per tick of 1/60 s.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::kernel::real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use nalgebra::Vector3;

use super::{SCHEMES, largest_speed, particles};
use crate::support::{RATE, app, assert_relative, state, ticks};

const GRAVITY: f64 = 9.81;
const FRICTION: f64 = 0.5;

/// Distance at which particles rest, m.
const THICKNESS: f64 = 1e-3;

/// A flat block on an incline, its place along the incline, m, after each tick of two seconds.
fn places_on_incline(integrator: Integrator, degrees: f64) -> Vec<f64> {
    let angle = degrees.to_radians();
    let mut app = app();
    app.insert_resource(integrator);
    let turn = Quat::from_rotation_z(angle as f32);
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(20.0, 0.5, 2.0),
        Transform::from_rotation(turn),
    ));
    let mesh = TetrahedralMesh::block([0.4, 0.1, 0.4], [4, 1, 4], CellSplit::Six).expect("a block");
    let normal = Vec3::new(-angle.sin() as f32, angle.cos() as f32, 0.0);
    let height = 0.5 + THICKNESS + 0.05;
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(1e6, 0.3, 1000.0).with_viscosity(500.0, 500.0),
            SurfaceProperties {
                static_friction: FRICTION as Real,
                kinetic_friction: FRICTION as Real,
                ..default()
            },
            Transform::from_translation(normal * height as f32).with_rotation(turn),
        ))
        .id();
    let up = Vector3::new(angle.cos(), angle.sin(), 0.0);
    (0..=2 * RATE as usize)
        .map(|_| {
            let place = state(&app, body).center.dot(&up);
            ticks(&mut app, 1);
            place
        })
        .collect()
}

#[test]
fn a_block_sticks_below_the_friction_angle() {
    for integrator in SCHEMES {
        let places = places_on_incline(integrator, 25.5);
        // The first entry is from before the first update.
        let drift = (places[places.len() - 1] - places[1]).abs();
        println!("{}: drifts {drift:.1e} m in 2 s", integrator.name());
        assert!(drift < 1e-3, "{}: {drift} m", integrator.name());
    }
}

#[test]
fn a_block_slides_above_the_friction_angle_as_coulomb_says() {
    let angle = 30_f64.to_radians();
    let expected = GRAVITY * (angle.sin() - FRICTION * angle.cos());
    for integrator in SCHEMES {
        let places = places_on_incline(integrator, 30.0);
        // Second difference over three equal times.
        let span = 30;
        let [first, second, third] = [span, 2 * span, 3 * span].map(|tick| places[tick]);
        let seconds = span as f64 / RATE;
        let acceleration = (2.0 * second - first - third) / (seconds * seconds);
        println!(
            "{}: slides with {acceleration:.4} m/s² for {expected:.4} m/s²",
            integrator.name()
        );
        assert_relative(integrator.name(), acceleration, expected, 0.05);
    }
}

#[test]
fn a_dropped_cube_comes_to_rest_on_the_floor_and_bears_its_weight() {
    let (young, density, poisson, side) = (5e4, 1000.0, 0.3, 0.2);
    for integrator in SCHEMES {
        let mut app = app();
        app.insert_resource(integrator);
        app.world_mut().spawn((
            RigidBody::Fixed,
            Collider::cuboid(5.0, 0.5, 5.0),
            Transform::from_xyz(0.0, -0.5, 0.0),
        ));
        let mesh = TetrahedralMesh::block([side; 3], [4; 3], CellSplit::Six).expect("a cube");
        let body = app
            .world_mut()
            .spawn((
                Solid::new(mesh),
                PliantMaterial::new(real(young), real(poisson), real(density))
                    .with_viscosity(100.0, 100.0),
                Transform::from_xyz(0.0, 0.2, 0.0),
            ))
            .id();
        ticks(&mut app, 240);
        let before = state(&app, body).momentum;
        ticks(&mut app, 60);
        let end = state(&app, body);
        // What the floor pushed in that second, beside the weight.
        let weight = particles(&app, body).total_mass() * GRAVITY;
        let unbalanced = (end.momentum - before).norm() / weight;
        let heights = particles(&app, body)
            .positions
            .iter()
            .map(|x| f64::from(x.y));
        let lowest = heights.fold(f64::INFINITY, f64::min);
        // A column under its own weight sinks by ρ g h²/(3 E) on the mean if its sides are free, and by as much with
        // the modulus of compression without lateral strain if they are not; a floor with friction is in between.
        let sunk = THICKNESS + 0.5 * side - end.center.y;
        let free = density * GRAVITY * side * side / (3.0 * young);
        let held = free * (1.0 + poisson) * (1.0 - 2.0 * poisson) / (1.0 - poisson);
        let speed = largest_speed(&app, body);
        println!(
            "{}: lowest particle at {:.2} mm, {speed:.1e} m/s, unbalanced {unbalanced:.1e}, {} contacts, sunk {:.3} mm of {:.3} to {:.3}, {:?}",
            integrator.name(),
            1e3 * lowest,
            end.contacts,
            1e3 * sunk,
            1e3 * held,
            1e3 * free,
            end.solver
        );
        assert!(lowest.abs() < 2e-3, "lowest particle at {lowest} m");
        assert!(speed < 1e-3, "moves at {speed} m/s");
        assert!(unbalanced < 1e-3, "{unbalanced:.1e} of its weight");
        assert!(end.contacts > 0, "nothing touches");
        assert!((held..free).contains(&sunk), "sunk by {sunk} m");
    }
}
