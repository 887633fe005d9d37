//! What is drawn is the body, and nothing is drawn twice.

use bevy::asset::{AssetEvent, AssetPlugin};
use bevy::camera::primitives::Aabb;
use bevy::mesh::VertexAttributeValues;
use bevy::prelude::*;
use nalgebra::{UnitQuaternion, Vector3};

use super::{PliantRenderPlugin, RenderBlend, SurfaceSlot};
use crate::Real;
use crate::body::{BodyFrame, Particles, PliantState, Surface};

/// The six faces of the cube −1…1, each a fan of four triangles around its center.
fn cube() -> (Vec<Vector3<Real>>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    for corner in 0..8_u32 {
        let side = |bit: u32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
        positions.push(Vector3::new(side(0), side(1), side(2)));
    }
    let mut triangles = Vec::new();
    for face in [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ] {
        let center = u32::try_from(positions.len()).unwrap_or(0);
        let sum: Vector3<Real> = face.iter().map(|&corner| positions[corner as usize]).sum();
        positions.push(sum / 4.0);
        for side in 0..4 {
            triangles.push([face[side], face[(side + 1) % 4], center]);
        }
    }
    (positions, triangles)
}

/// The octahedron, split `levels` times and pushed out to the unit sphere.
fn sphere(levels: u32) -> (Vec<Vector3<Real>>, Vec<[u32; 3]>) {
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let mut positions: Vec<Vector3<Real>> = vec![x, -x, y, -y, z, -z];
    let mut triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    for _ in 0..levels {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                positions.push((positions[a as usize] + positions[b as usize]).normalize());
                u32::try_from(positions.len() - 1).unwrap_or(0)
            })
        };
        triangles = triangles
            .into_iter()
            .flat_map(|[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    (positions, triangles)
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        TaskPoolPlugin::default(),
        AssetPlugin::default(),
        TransformPlugin,
    ))
    .init_asset::<Mesh>()
    .insert_resource(Time::<Fixed>::from_seconds(0.01))
    .insert_resource(RenderBlend::Latest)
    .add_plugins(PliantRenderPlugin);
    app
}

fn spawn(app: &mut App, (positions, triangles): (Vec<Vector3<Real>>, Vec<[u32; 3]>)) -> Entity {
    let masses = vec![1.0; positions.len()];
    app.world_mut()
        .spawn((
            Particles::new(positions, masses),
            Surface::new(triangles, Vec::new(), Vec::new()),
        ))
        .id()
}

fn vectors(app: &App, entity: Entity, attribute: bevy::mesh::MeshVertexAttribute) -> Vec<Vec3> {
    let handle = app
        .world()
        .get::<Mesh3d>(entity)
        .expect("the entity has a mesh");
    let mesh = app
        .world()
        .resource::<Assets<Mesh>>()
        .get(&handle.0)
        .expect("the mesh exists");
    match mesh.attribute(attribute) {
        Some(VertexAttributeValues::Float32x3(values)) => {
            values.iter().map(|&value| Vec3::from(value)).collect()
        }
        _ => Vec::new(),
    }
}

fn positions(app: &App, entity: Entity) -> Vec<Vec3> {
    vectors(app, entity, Mesh::ATTRIBUTE_POSITION)
}

/// Number of times that a mesh was announced as modified since the last call.
fn modifications(app: &mut App) -> usize {
    app.world_mut()
        .resource_mut::<Messages<AssetEvent<Mesh>>>()
        .drain()
        .filter(|event| matches!(event, AssetEvent::Modified { .. }))
        .count()
}

#[test]
fn the_mesh_follows_the_particles() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    app.update();
    let before = positions(&app, body);
    assert_eq!(before.len(), 14);
    for position in &mut app
        .world_mut()
        .get_mut::<Particles>(body)
        .expect("a body")
        .positions
    {
        *position *= 2.0;
    }
    app.update();
    for (before, after) in before.iter().zip(positions(&app, body)) {
        assert_eq!(*before * 2.0, after);
    }
}

#[test]
fn vertices_are_relative_to_the_frame_and_the_transform_stands_there() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.5);
    let center = Vector3::new(3.0, 4.0, 5.0);
    let mut frame = app.world_mut().get_mut::<BodyFrame>(body).expect("a frame");
    frame.center = center;
    frame.rotation = turn;
    app.update();
    let transform = *app.world().get::<Transform>(body).expect("a transform");
    assert!(
        transform
            .translation
            .abs_diff_eq(Vec3::new(3.0, 4.0, 5.0), 1e-6)
    );
    let particles = app
        .world()
        .get::<Particles>(body)
        .expect("particles")
        .positions
        .clone();
    let drawn: Vec<Vec3> = positions(&app, body)
        .iter()
        .map(|&vertex| transform.transform_point(vertex))
        .collect();
    for particle in particles {
        let particle = super::frame::narrow(&particle.map(f64::from));
        assert!(
            drawn
                .iter()
                .any(|vertex| vertex.abs_diff_eq(particle, 1e-5))
        );
    }
}

#[test]
fn normals_of_flat_faces_and_of_a_sphere_are_right() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    app.update();
    let normals = vectors(&app, body, Mesh::ATTRIBUTE_NORMAL);
    for (position, normal) in positions(&app, body).into_iter().zip(normals) {
        // The center of a face is its own normal; a corner's normal points away from the cube.
        if position.length_squared() < 1.5 {
            assert!(
                normal.abs_diff_eq(position, 1e-6),
                "{position} has normal {normal}"
            );
        } else {
            assert!(
                normal.dot(position.normalize()) > 0.9,
                "{position} has normal {normal}"
            );
        }
    }

    let body = spawn(&mut app, sphere(4));
    app.update();
    let normals = vectors(&app, body, Mesh::ATTRIBUTE_NORMAL);
    assert_eq!(normals.len(), 1026);
    for (position, normal) in positions(&app, body).into_iter().zip(normals) {
        assert!(
            normal.dot(position) > 0.999,
            "{position} has normal {normal}"
        );
        assert!((normal.length() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn bounds_enclose_what_is_drawn() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    app.update();
    app.world_mut()
        .get_mut::<Particles>(body)
        .expect("a body")
        .positions[3] = Vector3::new(7.0, 8.0, -9.0);
    app.update();
    let bounds = *app.world().get::<Aabb>(body).expect("bounds");
    for position in positions(&app, body) {
        let position = Vec3A::from(position);
        assert!(
            position.cmpge(bounds.min() - 1e-5).all() && position.cmple(bounds.max() + 1e-5).all()
        );
    }
    assert_eq!(bounds.max().x, 7.0);
}

#[test]
fn a_body_that_looks_the_same_is_not_uploaded_again() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    app.update();
    assert_eq!(modifications(&mut app), 1);
    app.update();
    assert_eq!(modifications(&mut app), 0);
    // A tick that leaves everything where it is.
    app.world_mut()
        .get_mut::<Particles>(body)
        .expect("a body")
        .set_changed();
    app.update();
    assert_eq!(modifications(&mut app), 0);
    // A blend between two equal ticks.
    app.insert_resource(RenderBlend::Interpolated);
    app.update();
    assert_eq!(modifications(&mut app), 0);
    app.world_mut()
        .get_mut::<Particles>(body)
        .expect("a body")
        .positions[0]
        .x -= 1.0;
    app.insert_resource(RenderBlend::Latest);
    app.update();
    assert_eq!(modifications(&mut app), 1);
}

#[test]
fn half_a_step_shows_half_the_way() {
    let mut app = app();
    app.insert_resource(RenderBlend::Interpolated);
    let body = spawn(&mut app, cube());
    let step = std::time::Duration::from_millis(5);
    app.world_mut()
        .resource_mut::<Time<Fixed>>()
        .accumulate_overstep(step);
    {
        let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
        particles
            .positions
            .iter_mut()
            .for_each(|position| position.x += 1.0);
        particles.positions[8].y += 1.0;
        let mut frame = app.world_mut().get_mut::<BodyFrame>(body).expect("a frame");
        frame.center = Vector3::x();
    }
    app.update();
    let transform = *app.world().get::<Transform>(body).expect("a transform");
    assert!((transform.translation.x - 0.5).abs() < 1e-6);
    // The body moved as a whole: in its own frame it is where it was, but for one particle.
    let vertices = positions(&app, body);
    assert!(
        vertices
            .iter()
            .all(|vertex| vertex.abs().max_element() < 1.0 + 1e-6)
    );
    assert!(
        vertices
            .iter()
            .any(|vertex| vertex.abs_diff_eq(Vec3::new(-1.0, 0.5, 0.0), 1e-6))
    );
}

#[test]
fn a_texture_seam_doubles_vertices_and_keeps_normals() {
    let mut app = app();
    let (positions, triangles) = cube();
    let mut coordinates = vec![[[0.0, 0.0]; 3]; triangles.len()];
    // One triangle is on another piece of the texture.
    coordinates[0] = [[0.5, 0.5]; 3];
    let masses = vec![1.0; positions.len()];
    let surface = Surface::new(triangles, coordinates, Vec::new());
    let body = app
        .world_mut()
        .spawn((Particles::new(positions, masses), surface))
        .id();
    app.update();
    let vertices = self::positions(&app, body);
    let normals = vectors(&app, body, Mesh::ATTRIBUTE_NORMAL);
    assert_eq!(vertices.len(), 14 + 3);
    for (i, a) in vertices.iter().enumerate() {
        for (j, b) in vertices.iter().enumerate() {
            assert!(a != b || normals[i] == normals[j]);
        }
    }
}

#[test]
fn material_slots_are_meshes_of_their_own() {
    let mut app = app();
    let (positions, triangles) = cube();
    let slots = (0..triangles.len())
        .map(|triangle| if triangle < 4 { 5 } else { 2 })
        .collect();
    let masses = vec![1.0; positions.len()];
    let surface = Surface::new(triangles, Vec::new(), slots);
    let body = app
        .world_mut()
        .spawn((Particles::new(positions, masses), surface))
        .id();
    app.update();
    assert_eq!(app.world().get::<SurfaceSlot>(body), Some(&SurfaceSlot(2)));
    let child = app.world().get::<Children>(body).expect("a child")[0];
    assert_eq!(app.world().get::<SurfaceSlot>(child), Some(&SurfaceSlot(5)));
    assert_eq!(self::positions(&app, child).len(), 5);

    // All in one slot again: the child goes.
    app.world_mut()
        .get_mut::<Surface>(body)
        .expect("a surface")
        .slots
        .clear();
    app.world_mut()
        .get_mut::<PliantState>(body)
        .expect("a state")
        .topology_version += 1;
    app.update();
    assert!(app.world().get_entity(child).is_err());
    assert_eq!(self::positions(&app, body).len(), 14);
}

#[test]
fn numbers_that_are_not_finite_are_not_drawn() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    app.update();
    let before = positions(&app, body);
    modifications(&mut app);
    app.world_mut()
        .get_mut::<Particles>(body)
        .expect("a body")
        .positions[5]
        .y = Real::NAN;
    app.update();
    assert_eq!(modifications(&mut app), 0);
    assert_eq!(positions(&app, body), before);
}

#[test]
fn a_triangle_without_particles_is_left_out() {
    let mut app = app();
    let (positions, mut triangles) = cube();
    triangles.push([0, 1, 99]);
    let body = spawn(&mut app, (positions, triangles));
    app.update();
    assert_eq!(self::positions(&app, body).len(), 14);
}

#[test]
fn an_edit_of_the_transform_waits_for_the_tick() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    app.update();
    let written = app.world().get::<BodyFrame>(body).expect("a frame").written;
    assert_eq!(written, Some(Transform::IDENTITY));
    let edit = Transform::from_xyz(0.0, 9.0, 0.0);
    *app.world_mut()
        .get_mut::<Transform>(body)
        .expect("a transform") = edit;
    app.update();
    assert_eq!(app.world().get::<Transform>(body), Some(&edit));
    assert_eq!(
        app.world().get::<BodyFrame>(body).expect("a frame").written,
        written
    );
}

#[test]
fn a_body_with_a_parent_stays_where_its_particles_are() {
    let mut app = app();
    let body = spawn(&mut app, cube());
    let turn = Quat::from_rotation_z(0.7);
    let parent = app
        .world_mut()
        .spawn(Transform::from_xyz(5.0, 0.0, 1.0).with_rotation(turn))
        .id();
    app.world_mut().entity_mut(body).insert(ChildOf(parent));
    for step in 0_u8..3 {
        app.world_mut()
            .get_mut::<Transform>(parent)
            .expect("a transform")
            .translation
            .x = f32::from(step);
        app.update();
        let global = app
            .world()
            .get::<GlobalTransform>(body)
            .expect("a global transform")
            .to_matrix();
        assert!(global.abs_diff_eq(Mat4::IDENTITY, 1e-5), "{global}");
    }
}
