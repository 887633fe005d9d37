//! Thin walls hold at any speed.

use std::f32::consts::FRAC_PI_2;

use bevy::prelude::*;
use bevy_pliant::body::SurfaceProperties;
use bevy_rapier3d::prelude::{Collider, RigidBody, Velocity};

use super::{app_with, particles, sheet, spawn, vector, without_gravity};
use crate::support::ticks;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Motion {
    Fixed,
    Approaching,
    Turning,
}

#[test]
fn thin_walls_hold_at_any_speed() {
    for is_mesh in [false, true] {
        for motion in [Motion::Fixed, Motion::Approaching, Motion::Turning] {
            for speed in [5.0, 60.0, 200.0] {
                let mut app = app_with(1);
                without_gravity(&mut app);
                let collider = if is_mesh {
                    sheet(3.0, 9)
                } else {
                    Collider::cuboid(3.0, 0.0005, 3.0)
                };
                let (body, velocity) = match motion {
                    Motion::Fixed => (RigidBody::Fixed, Velocity::default()),
                    Motion::Approaching => (
                        RigidBody::KinematicVelocityBased,
                        Velocity::linear(Vec3::Y * 50.0),
                    ),
                    Motion::Turning => (
                        RigidBody::KinematicVelocityBased,
                        Velocity::angular(Vec3::Z * 8.0),
                    ),
                };
                let wall = app
                    .world_mut()
                    .spawn((collider, body, velocity, Transform::default()))
                    .id();
                let places = (0..40).map(|i| {
                    vector(
                        f64::from(i % 8) * 0.5 - 1.71,
                        2.9,
                        f64::from(i / 8) * 0.5 - 1.0,
                    )
                });
                let bullets = spawn(
                    &mut app,
                    places.collect(),
                    vector(0.0, -speed, 0.0),
                    SurfaceProperties::default(),
                );
                for tick in 0..40 {
                    ticks(&mut app, 1);
                    let wall = app.world().get::<Transform>(wall).expect("a wall");
                    let inverse = wall.to_matrix().inverse();
                    for (index, place) in particles(&app, bullets).positions.iter().enumerate() {
                        let local = inverse.transform_point3(Vec3::new(
                            place.x as f32,
                            place.y as f32,
                            place.z as f32,
                        ));
                        let is_beside = local.x.abs() > 3.0 || local.z.abs() > 3.0;
                        assert!(
                            local.y > 0.0 || is_beside,
                            "mesh {is_mesh}, {motion:?}, {speed} m/s: particle {index} at {local} in tick {tick}"
                        );
                    }
                    if motion == Motion::Turning && tick > 8 {
                        // Later they have slid to the rim and may go round it.
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn closed_box_keeps_what_is_in_it_while_it_tumbles() {
    for is_mesh in [false, true] {
        let mut app = app_with(2);
        let mut walls: Vec<(Vec3, Quat, Collider)> = Vec::new();
        for side in [-1.0, 1.0] {
            for turn in [
                Quat::IDENTITY,
                Quat::from_rotation_z(FRAC_PI_2),
                Quat::from_rotation_x(FRAC_PI_2),
            ] {
                let wall = if is_mesh {
                    sheet(0.5, 3)
                } else {
                    Collider::cuboid(0.5, 0.0005, 0.5)
                };
                walls.push((turn * Vec3::Y * 0.5 * side, turn, wall));
            }
        }
        let motion = Velocity {
            linear: Vec3::new(1.0, 0.0, 0.3),
            angular: Vec3::new(3.0, 1.0, 5.0),
        };
        // Rapier does not make compounds of meshes: children instead.
        let frame = app
            .world_mut()
            .spawn((
                RigidBody::KinematicVelocityBased,
                motion,
                Transform::default(),
            ))
            .id();
        for (place, turn, wall) in walls {
            let transform = Transform::from_translation(place).with_rotation(turn);
            app.world_mut().spawn((wall, transform, ChildOf(frame)));
        }
        let places = (0..64).map(|i| {
            vector(
                f64::from(i % 4) * 0.2 - 0.3,
                f64::from(i / 4 % 4) * 0.2 - 0.3,
                f64::from(i / 16) * 0.2 - 0.3,
            )
        });
        let properties = SurfaceProperties {
            restitution: 0.5,
            ..default()
        };
        let gas = spawn(
            &mut app,
            places.collect(),
            vector(40.0, -70.0, 20.0),
            properties,
        );
        for tick in 0..240 {
            ticks(&mut app, 1);
            let inverse = app
                .world()
                .get::<Transform>(frame)
                .expect("a frame")
                .to_matrix()
                .inverse();
            for (index, place) in particles(&app, gas).positions.iter().enumerate() {
                let local = inverse.transform_point3(Vec3::new(
                    place.x as f32,
                    place.y as f32,
                    place.z as f32,
                ));
                assert!(
                    local.abs().max_element() < 0.5,
                    "mesh {is_mesh}: particle {index} at {local} in tick {tick}"
                );
            }
        }
    }
}
