//! A ball of jelly falls on a floor: the shortest program that shows something.

use std::time::Duration;

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, NoUserData, RapierPhysicsPlugin, RigidBody, TimestepMode};

fn main() {
    App::new()
        .add_plugins(DefaultPlugins)
        // Rapier and the deformable bodies take the same ticks.
        .insert_resource(Time::<Fixed>::from_duration(Duration::from_secs_f64(
            1.0 / 60.0,
        )))
        .insert_resource(TimestepMode::Fixed {
            dt: 1.0 / 60.0,
            substeps: 1,
        })
        .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
        .add_plugins(PliantPlugins)
        .add_systems(Startup, spawn)
        .run();
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) -> Result {
    commands.spawn((
        Solid::new(TetrahedralMesh::ball(0.5, 4)?),
        PliantMaterial::JELLY,
        Transform::from_xyz(0.0, 2.0, 0.0),
        MeshMaterial3d(materials.add(Color::srgb(0.9, 0.3, 0.35))),
    ));
    commands.spawn((
        RigidBody::Fixed,
        Collider::cuboid(5.0, 0.1, 5.0),
        Transform::from_xyz(0.0, -0.1, 0.0),
        Mesh3d(meshes.add(Cuboid::new(10.0, 0.2, 10.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.6, 0.65, 0.7))),
    ));
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            ..default()
        },
        Transform::from_xyz(2.0, 6.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 1.5, 5.0).looking_at(Vec3::new(0.0, 0.6, 0.0), Vec3::Y),
    ));
    Ok(())
}
