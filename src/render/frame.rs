//! The transform of a body follows its frame.

use bevy::prelude::*;
use bevy::transform::helper::TransformHelper;
use nalgebra::{UnitQuaternion, Vector3};

use super::RenderBlend;
use crate::body::BodyFrame;
use crate::step::frame_transform;

/// Center (m, world) and rotation of a frame between the last two ticks; `fraction` 0 is the earlier one.
pub(super) fn blended_frame(
    frame: &BodyFrame,
    fraction: f64,
) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let center = frame.previous_center.lerp(&frame.center, fraction);
    let rotation = frame
        .previous_rotation
        .try_slerp(&frame.rotation, fraction, 1e-9)
        // Half a turn in one tick has no single way between: show where it ended.
        .unwrap_or(frame.rotation);
    (center, rotation)
}

/// Moves `transform` to the blend of the body's last two frames, relative to `parent`.
///
/// What is written is noted in the frame, so that the next tick can tell it from an edit by the user. An edit that
/// no tick has seen yet stays as it is: the body is drawn where the user put it.
fn follow_frame(
    frame: &mut Mut<BodyFrame>,
    transform: &mut Mut<Transform>,
    parent: Option<&GlobalTransform>,
    fraction: f64,
) {
    if frame.written.is_some_and(|written| written != **transform) {
        return;
    }
    let (center, rotation) = blended_frame(frame, fraction);
    let mut next = frame_transform(&center, &rotation);
    if let Some(parent) = parent {
        next = GlobalTransform::from(next).reparented_to(parent);
    }
    // A parent scaled to nothing has no inverse.
    if !next.is_finite() {
        return;
    }
    if frame.written != Some(next) {
        frame.written = Some(next);
    }
    transform.set_if_neq(next);
}

type Placed = (&'static mut BodyFrame, &'static mut Transform);

/// The transforms of all bodies follow their frames, those with a parent relative to it.
pub(super) fn follow_bodies(
    fixed: Res<Time<Fixed>>,
    blend: Res<RenderBlend>,
    mut children: Local<Vec<(Entity, GlobalTransform)>>,
    parented: Query<(Entity, &ChildOf), With<BodyFrame>>,
    mut transforms: ParamSet<(
        TransformHelper,
        Query<Placed, Without<ChildOf>>,
        Query<Placed, With<ChildOf>>,
    )>,
) {
    let fraction = blend.fraction(&fixed);
    for (mut frame, mut transform) in &mut transforms.p1() {
        follow_frame(&mut frame, &mut transform, None, fraction);
    }
    children.clear();
    let helper = transforms.p0();
    // Computed here, because the parent's own global transform is still that of the frame before.
    children.extend(parented.iter().filter_map(|(body, child_of)| {
        Some((
            body,
            helper.compute_global_transform(child_of.parent()).ok()?,
        ))
    }));
    let mut bodies = transforms.p2();
    for (body, parent) in &children {
        if let Ok((mut frame, mut transform)) = bodies.get_mut(*body) {
            follow_frame(&mut frame, &mut transform, Some(parent), fraction);
        }
    }
}

/// To the renderer's precision.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rendering is in single precision"
)]
pub(super) fn narrow(vector: &Vector3<f64>) -> Vec3 {
    Vec3::new(vector.x as f32, vector.y as f32, vector.z as f32)
}
