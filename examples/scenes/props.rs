//! What a scene tells whoever draws it, and the rigid furniture of the scenes.

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};

/// Marks everything that a scene spawned: despawning these entities empties the stage for the next scene.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(on_add = number)]
pub struct SceneEntity {
    /// Which one it is, in the order of spawning: the same scene numbers its entities alike in every world.
    pub number: usize,
}

/// How many entities the scene has spawned so far.
#[derive(Resource, Default)]
pub struct EntityCount(usize);

fn number(mut world: DeferredWorld, context: HookContext) {
    let Some(mut count) = world.get_resource_mut::<EntityCount>() else {
        return;
    };
    count.0 += 1;
    let number = count.0;
    if let Some(mut entity) = world.get_mut::<SceneEntity>(context.entity) {
        entity.number = number;
    }
}

/// The color in which to draw a body or a prop: red, green, blue from 0 to 1 in sRGB.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[require(SceneEntity)]
pub struct SceneColor(pub [f32; 3]);

/// A rigid thing to draw at its entity's transform.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[require(SceneEntity)]
pub struct Prop {
    /// Its shape.
    pub shape: PropShape,
}

/// Shapes of props, in meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PropShape {
    /// A box.
    Cuboid {
        /// Half its edge lengths.
        half_size: Vec3,
    },
    /// A sphere.
    Ball {
        /// Its radius.
        radius: f32,
    },
    /// A cylinder along the local y axis.
    Cylinder {
        /// Half its length.
        half_height: f32,
        /// Its radius.
        radius: f32,
    },
}

/// Color of floors, steps and ramps.
pub const STONE: SceneColor = SceneColor([0.72, 0.73, 0.75]);
/// Color of moving supports.
pub const STEEL: SceneColor = SceneColor([0.32, 0.36, 0.42]);

/// A box that does not move and that bodies collide with.
pub fn fixed_box(name: &'static str, half_size: Vec3, transform: Transform) -> impl Bundle {
    (
        Name::new(name),
        Prop {
            shape: PropShape::Cuboid { half_size },
        },
        STONE,
        RigidBody::Fixed,
        Collider::cuboid(half_size.x, half_size.y, half_size.z),
        transform,
    )
}

/// A floor whose upper side is at height `height`.
pub fn floor(height: f32) -> impl Bundle {
    let half_size = Vec3::new(6.0, 0.25, 6.0);
    fixed_box(
        "floor",
        half_size,
        Transform::from_xyz(0.0, height - half_size.y, 0.0),
    )
}

/// A floor that is only there to be seen.
pub fn painted_floor(height: f32) -> impl Bundle {
    let half_size = Vec3::new(6.0, 0.25, 6.0);
    (
        Name::new("floor (not solid)"),
        Prop {
            shape: PropShape::Cuboid { half_size },
        },
        STONE,
        Transform::from_xyz(0.0, height - half_size.y, 0.0),
    )
}
