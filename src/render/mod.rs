//! Render meshes that follow the bodies (feature `render`).
//!
//! | step of a frame | what happens | file |
//! |---|---|---|
//! | follow | the [`Transform`] of each body moves to its blended [`BodyFrame`](crate::body::BodyFrame) | `frame.rs` |
//! | build | a body that has none gets a mesh; a mesh whose body changed its topology is laid out anew | `layout.rs`, `mesh.rs` |
//! | blend | vertices, normals and bounds are rewritten in place | `mesh.rs` |
//!
//! The simulation advances in fixed ticks, frames come when they come. So what is drawn is a blend of the last two
//! ticks by [`Time::<Fixed>::overstep_fraction`]: smooth at any frame rate, at most one tick late, and never fed
//! back into the simulation. [`RenderBlend::Latest`] draws the last tick instead.
//!
//! The library adds meshes, not materials: insert a `MeshMaterial3d` of your choice on the body. A surface with
//! several material slots becomes one mesh per slot, the lowest on the body itself and one child entity for each
//! other; every one of these entities carries its [`SurfaceSlot`].
//!
//! Limits: a parent of a body may be moved, turned and scaled uniformly, nothing else. A body that comes with its
//! own `Mesh3d` keeps it, undeformed.

mod frame;
mod layout;
mod mesh;
#[cfg(test)]
mod tests;

use bevy::asset::AssetEventSystems;
use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::transform::TransformSystems;

pub use mesh::SurfaceSlot;

/// Gives every body with a surface a mesh and keeps it in step; see the [module](self).
///
/// Runs in [`PostUpdate`], after everything that moves bodies and before transforms are propagated, asset changes
/// are announced and bounds are computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PliantRenderPlugin;

impl Plugin for PliantRenderPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RenderBlend>()
            .configure_sets(
                PostUpdate,
                PliantRenderSystems::Blend
                    .before(TransformSystems::Propagate)
                    // Else the new vertices reach the screen one frame after the new transform.
                    .before(AssetEventSystems)
                    .before(VisibilitySystems::CalculateBounds),
            )
            .add_systems(
                PostUpdate,
                (frame::follow_bodies, mesh::build_meshes, mesh::blend_meshes)
                    .chain()
                    .in_set(PliantRenderSystems::Blend),
            );
    }
}

/// Sets of [`PliantRenderPlugin`], in [`PostUpdate`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PliantRenderSystems {
    /// Transforms, meshes and bounds of the bodies have the shape that this frame shows.
    Blend,
}

/// What a frame shows of bodies that move in fixed ticks.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenderBlend {
    /// A blend of the last two ticks: smooth motion, up to one tick late. The default.
    #[default]
    Interpolated,
    /// The last tick as it is: for pictures of an exact time.
    Latest,
}

impl RenderBlend {
    /// Weight of the last tick, 0 to 1; the tick before has the rest.
    fn fraction(self, fixed: &Time<Fixed>) -> f64 {
        match self {
            Self::Interpolated => fixed.overstep_fraction_f64().clamp(0.0, 1.0),
            Self::Latest => 1.0,
        }
    }
}
