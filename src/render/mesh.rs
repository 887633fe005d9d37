//! Meshes: made once per topology, rewritten in place each frame that shows something new.

use bevy::asset::RenderAssetUsages;
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::NoAutoAabb;
use bevy::mesh::{Indices, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;

use super::RenderBlend;
use super::frame::{blended_frame, narrow};
use super::layout::{PartLayout, SurfaceLayout};
use crate::body::{BodyFrame, Particles, PliantState, Surface};

/// The material slot of a mesh that the library made: on the body for the lowest slot of its
/// [`Surface`], on a child of the body for each other.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SurfaceSlot(pub u16);

/// What the library knows about the meshes of a body.
#[derive(Component)]
pub(super) struct BodyMesh {
    topology_version: u32,
    particle_count: usize,
    layout: SurfaceLayout,
    /// One per part of the layout.
    parts: Vec<Part>,
    /// Drawn positions in the frame of the body, m.
    positions: Vec<Vec3>,
    /// Room for the next positions until they turn out to be good.
    next_positions: Vec<Vec3>,
    /// Sums of area-weighted triangle normals at each drawn particle.
    normals: Vec<Vec3>,
    /// The blend that `positions` belong to; nothing has been drawn yet if there is none.
    fraction: Option<f64>,
}

struct Part {
    entity: Entity,
    mesh: Handle<Mesh>,
}

type Drawable = (
    Entity,
    &'static Particles,
    &'static Surface,
    &'static PliantState,
    Option<&'static BodyMesh>,
    Has<Mesh3d>,
    Option<&'static Name>,
);

/// Makes the meshes of bodies that have none and of bodies whose topology has changed.
pub(super) fn build_meshes(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    bodies: Query<Drawable>,
) {
    for (body, particles, surface, state, built, has_mesh, name) in &bodies {
        let is_current = match built {
            Some(built) => {
                built.topology_version == state.topology_version
                    && built.particle_count == particles.len()
            }
            // Somebody else's mesh.
            None => has_mesh,
        };
        if is_current {
            continue;
        }
        for part in built.iter().flat_map(|built| &built.parts).skip(1) {
            commands.entity(part.entity).try_despawn();
        }
        let layout = SurfaceLayout::new(surface, particles.len());
        if let Some(triangle) = layout.first_bad_triangle {
            let name = name.map_or_else(|| body.to_string(), ToString::to_string);
            error!(
                "body {name}: surface triangle {triangle} names one of particles {:?}, but the body has only {}; \
                 triangles like this are not drawn: correct `Surface::triangles`",
                surface.triangles[triangle],
                particles.len(),
            );
        }
        let parts = layout
            .parts
            .iter()
            .enumerate()
            .map(|(index, part)| {
                let entity = match index {
                    0 => body,
                    _ => commands.spawn(ChildOf(body)).id(),
                };
                let mesh = meshes.add(mesh_of(part));
                commands.entity(entity).try_insert((
                    Mesh3d(mesh.clone()),
                    SurfaceSlot(part.slot),
                    // The bounds follow the blend; Bevy's would be computed again from the same vertices.
                    NoAutoAabb,
                    Aabb::default(),
                ));
                Part { entity, mesh }
            })
            .collect();
        if layout.parts.is_empty() && built.is_some() {
            commands.entity(body).try_remove::<(Mesh3d, SurfaceSlot)>();
        }
        commands.entity(body).try_insert(BodyMesh {
            topology_version: state.topology_version,
            particle_count: particles.len(),
            positions: vec![Vec3::ZERO; layout.particles.len()],
            next_positions: vec![Vec3::ZERO; layout.particles.len()],
            normals: vec![Vec3::ZERO; layout.particles.len()],
            layout,
            parts,
            fraction: None,
        });
    }
}

/// Rewrites the meshes of bodies that look different from what was drawn last.
pub(super) fn blend_meshes(
    fixed: Res<Time<Fixed>>,
    blend: Res<RenderBlend>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut bodies: Query<(Ref<Particles>, &BodyFrame, &mut BodyMesh)>,
    mut bounds: Query<&mut Aabb>,
) {
    let fraction = blend.fraction(&fixed);
    for (particles, frame, mut body) in &mut bodies {
        if body.fraction == Some(fraction) && !particles.is_changed() {
            continue;
        }
        let body = &mut *body;
        let shape = body.take_shape(&particles, frame, fraction);
        if shape == Shape::NotFinite {
            continue;
        }
        let drawn_before = body.fraction.replace(fraction).is_some();
        if shape == Shape::Same && drawn_before {
            continue;
        }
        body.sum_normals();
        for (part, layout) in body.parts.iter().zip(&body.layout.parts) {
            let Some(mut mesh) = meshes.get_mut(&part.mesh) else {
                continue;
            };
            write_vectors(
                &mut mesh,
                Mesh::ATTRIBUTE_POSITION.id,
                &layout.vertices,
                |particle| body.positions[particle],
            );
            write_vectors(
                &mut mesh,
                Mesh::ATTRIBUTE_NORMAL.id,
                &layout.vertices,
                |particle| body.normals[particle].normalize_or(Vec3::Y),
            );
            if let Ok(mut bounds) = bounds.get_mut(part.entity) {
                *bounds = bounds_of(
                    layout
                        .vertices
                        .iter()
                        .map(|&particle| body.positions[particle as usize]),
                );
            }
        }
    }
}

/// What [`BodyMesh::take_shape`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Same,
    New,
    /// Some number cannot be drawn: the last good shape stays whole.
    NotFinite,
}

impl BodyMesh {
    /// Takes over the blended positions of the drawn particles.
    fn take_shape(&mut self, particles: &Particles, frame: &BodyFrame, fraction: f64) -> Shape {
        let (center, rotation) = blended_frame(frame, fraction);
        let to_local = rotation.inverse().to_rotation_matrix();
        let previous = particles.previous_positions();
        for (next, &particle) in self.next_positions.iter_mut().zip(&self.layout.particles) {
            let particle = particle as usize;
            let Some(current) = particles.positions.get(particle) else {
                return Shape::NotFinite;
            };
            let current = current.map(f64::from);
            let earlier = previous
                .get(particle)
                .map_or(current, |position| position.map(f64::from));
            *next = narrow(&(to_local * (earlier.lerp(&current, fraction) - center)));
            if !next.is_finite() {
                return Shape::NotFinite;
            }
        }
        if self.next_positions == self.positions {
            return Shape::Same;
        }
        std::mem::swap(&mut self.positions, &mut self.next_positions);
        Shape::New
    }

    /// Sums the normals of the triangles around each drawn particle, weighted by area.
    fn sum_normals(&mut self) {
        self.normals.fill(Vec3::ZERO);
        for corners in &self.layout.triangles {
            let [a, b, c] = corners.map(|particle| self.positions[particle as usize]);
            // Twice the area is the length of the cross product: no weight of its own is needed.
            let normal = (b - a).cross(c - a);
            for &particle in corners {
                self.normals[particle as usize] += normal;
            }
        }
    }
}

/// A mesh with all attributes in place, its vertices in one point until the first blend.
fn mesh_of(part: &PartLayout) -> Mesh {
    // The main world keeps its copy: it is what gets rewritten.
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_POSITION,
        vec![[0.0_f32; 3]; part.vertices.len()],
    )
    .with_inserted_attribute(
        Mesh::ATTRIBUTE_NORMAL,
        vec![[0.0_f32, 1.0, 0.0]; part.vertices.len()],
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, part.coordinates.clone())
    .with_inserted_indices(Indices::U32(part.indices.clone()))
}

/// Overwrites a vector attribute, vertex by vertex.
fn write_vectors(
    mesh: &mut Mesh,
    attribute: bevy::mesh::MeshVertexAttributeId,
    vertices: &[u32],
    value: impl Fn(usize) -> Vec3,
) {
    if let Ok(VertexAttributeValues::Float32x3(values)) = mesh.try_attribute_mut(attribute) {
        for (target, &particle) in values.iter_mut().zip(vertices) {
            *target = value(particle as usize).to_array();
        }
    }
}

fn bounds_of(positions: impl Iterator<Item = Vec3>) -> Aabb {
    let (minimum, maximum) = positions.fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(minimum, maximum), position| (minimum.min(position), maximum.max(position)),
    );
    if minimum.cmple(maximum).all() {
        Aabb::from_min_max(minimum, maximum)
    } else {
        Aabb::default()
    }
}
