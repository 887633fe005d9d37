//! Kinematic bodies carry, dynamic bodies give way.

use bevy::prelude::*;
use bevy_pliant::body::SurfaceProperties;
use bevy_pliant::colliders::RigidColliders;
use bevy_rapier3d::prelude::{
    AdditionalMassProperties, Collider, GravityScale, RigidBody, Sleeping, Velocity,
};
use nalgebra::Vector3;

use super::{app_with, particles, position, spawn, vector, without_gravity};
use crate::support::ticks;

#[test]
fn kinematic_platform_carries() {
    for motion in [
        Velocity {
            linear: Vec3::new(1.0, 0.2, 0.0),
            angular: Vec3::ZERO,
        },
        Velocity {
            linear: Vec3::ZERO,
            angular: Vec3::Y * 0.5,
        },
    ] {
        let mut app = app_with(4);
        let platform = app
            .world_mut()
            .spawn((
                RigidBody::KinematicVelocityBased,
                motion,
                Collider::cuboid(2.0, 0.1, 2.0),
                Transform::default(),
            ))
            .id();
        let start = Vec3::new(0.8, 0.101, 0.0);
        let body = spawn(
            &mut app,
            vec![vector(0.8, 0.101, 0.0)],
            Vector3::zeros(),
            SurfaceProperties::default(),
        );
        // Gets up to speed by friction.
        ticks(&mut app, 60);
        let local = |app: &App| {
            let inverse = app
                .world()
                .get::<Transform>(platform)
                .expect("a platform")
                .to_matrix()
                .inverse();
            {
                let place = position(app, body);
                inverse.transform_point3(Vec3::new(place.x as f32, place.y as f32, place.z as f32))
            }
        };
        let settled = local(&app);
        assert!(
            (settled - start).length() < 0.3,
            "{motion:?}: slid from {start} to {settled}"
        );
        ticks(&mut app, 120);
        let drift = (local(&app) - settled).length();
        assert!(drift < 2e-3, "{motion:?}: drifted by {drift} m");
    }
}

#[test]
fn dynamic_body_takes_the_momentum() {
    for has_velocity_component in [true, false] {
        let mut app = app_with(3);
        without_gravity(&mut app);
        let block = app
            .world_mut()
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.5, 0.5, 0.5),
                AdditionalMassProperties::Mass(0.0),
                GravityScale(0.0),
                Transform::default(),
            ))
            .id();
        if has_velocity_component {
            app.world_mut()
                .entity_mut(block)
                .insert(Velocity::default());
        }
        ticks(&mut app, 2);
        let body = spawn(
            &mut app,
            vec![vector(0.1, 1.0, 0.2)],
            vector(1.0, -8.0, 0.0),
            SurfaceProperties::default(),
        );
        ticks(&mut app, 30);
        // The copy of this tick is Rapier's state: nothing touches any more.
        let rigid = app.world().resource::<RigidColliders>();
        let state = rigid
            .bodies
            .iter()
            .find(|state| state.entity == block)
            .expect("a dynamic body");
        let mass = state.inverse_mass.x.recip();
        let momentum = state.linear_velocity * mass + particles(&app, body).velocities[0];
        let error = (momentum - vector(1.0, -8.0, 0.0)).norm();
        assert!(
            state.linear_velocity.y < -1.0,
            "the block stays: {}",
            state.linear_velocity
        );
        assert!(
            error < 1e-4,
            "velocity component {has_velocity_component}: momentum {momentum}"
        );
        if has_velocity_component {
            let velocity = app
                .world()
                .get::<Velocity>(block)
                .expect("a velocity")
                .linear;
            assert!((f64::from(velocity.y) - f64::from(state.linear_velocity.y)).abs() < 1e-5);
        }
    }
}

#[test]
fn weight_on_a_dynamic_body_reaches_the_ground() {
    // A heavy particle on a block on the ground: the block must neither sink nor throw it off.
    let mut app = app_with(4);
    app.world_mut().spawn((
        Collider::cuboid(5.0, 0.5, 5.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let block = app
        .world_mut()
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.5, 0.5, 0.5),
            Transform::from_xyz(0.0, 0.5, 0.0),
        ))
        .id();
    let body = spawn(
        &mut app,
        vec![vector(0.0, 1.001, 0.0)],
        Vector3::zeros(),
        SurfaceProperties::default(),
    );
    ticks(&mut app, 180);
    assert!(
        (position(&app, body).y - 1.001).abs() < 2e-2,
        "{}",
        position(&app, body)
    );
    let block = app
        .world()
        .get::<Transform>(block)
        .expect("a block")
        .translation;
    assert!((block - Vec3::Y * 0.5).length() < 2e-2, "{block}");
}

#[test]
fn a_push_wakes_a_sleeping_body() {
    let mut app = app_with(4);
    app.world_mut().spawn((
        Collider::cuboid(5.0, 0.5, 5.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let block = app
        .world_mut()
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.5, 0.5, 0.5),
            Sleeping::default(),
            Velocity::default(),
            Transform::from_xyz(0.0, 0.5, 0.0),
        ))
        .id();
    let sleeps = |app: &App| {
        app.world()
            .get::<Sleeping>(block)
            .is_some_and(|sleeping| sleeping.sleeping)
    };
    let place = |app: &App| {
        let transform = app.world().get::<Transform>(block).expect("a block");
        transform.translation.x
    };
    for _ in 0..600 {
        if sleeps(&app) {
            break;
        }
        ticks(&mut app, 1);
    }
    assert!(sleeps(&app), "a block at rest falls asleep");
    let rest = place(&app);
    ticks(&mut app, 10);
    assert!(sleeps(&app) && place(&app) == rest, "nothing wakes it");

    spawn(
        &mut app,
        vec![vector(-1.0, 0.5, 0.0)],
        vector(8.0, 0.0, 0.0),
        SurfaceProperties::default(),
    );
    for _ in 0..12 {
        ticks(&mut app, 1);
        if !sleeps(&app) {
            break;
        }
    }
    assert!(!sleeps(&app), "the push wakes it");
    ticks(&mut app, 10);
    assert!(
        place(&app) > rest + 0.1,
        "it was pushed to {} m",
        place(&app)
    );
}
