//! Pins that an artist has painted: a canopy that hangs wherever its mesh is red.
//!
//! Vertex colors come with the mesh from the modelling program, so nobody has to write down vertex numbers, and the pins
//! stay right when the mesh is cut finer.

use std::time::Duration;

use bevy::prelude::*;
use bevy_pliant::prelude::*;

/// Side of the canopy, m.
const SIDE: f32 = 2.0;
/// Radius of the red spots, m.
const SPOT: f32 = 0.09;
/// Height above the ground, m.
const HEIGHT: f32 = 1.6;

fn main() {
    App::new()
        .add_plugins(DefaultPlugins)
        .insert_resource(Time::<Fixed>::from_duration(Duration::from_secs_f64(
            1.0 / 60.0,
        )))
        .add_plugins(PliantPlugins.build().disable::<PliantRapierPlugin>())
        .insert_resource(PliantWind::gusty(Vec3::X * 4.0, 1.0, 1.0, 2))
        .add_systems(Startup, (spawn_canopy, light_stage))
        .run();
}

/// Stands for a file: a level sheet, white, with red spots at its corners and in its middle.
pub fn painted_mesh() -> Mesh {
    let mesh = Plane3d::default()
        .mesh()
        .size(SIDE, SIDE)
        .subdivisions(39)
        .build();
    let places = mesh
        .attribute(Mesh::ATTRIBUTE_POSITION)
        .and_then(|values| values.as_float3())
        .unwrap_or_default();
    let corner = 0.5 * SIDE;
    let spots = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [0.0; 2]];
    let colors: Vec<[f32; 4]> = places
        .iter()
        .map(|&[x, _, z]| {
            let is_near =
                |[right, front]: [f32; 2]| (x - corner * right).hypot(z - corner * front) < SPOT;
            if spots.into_iter().any(is_near) {
                [0.9, 0.1, 0.1, 1.0]
            } else {
                [1.0; 4]
            }
        })
        .collect();
    mesh.with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
}

/// A cloth over a render mesh, pinned where the mesh is red.
pub fn painted_cloth(mesh: &Mesh) -> Result<(Cloth, Pins)> {
    let mesh = TriangleMesh::from_bevy_mesh(mesh)?;
    let pins = Pins::at(mesh.particles_painted(|[red, green, _, _]| red > 0.5 && green < 0.5));
    Ok((Cloth::new(mesh), pins))
}

fn spawn_canopy(mut commands: Commands, mut materials: ResMut<Assets<StandardMaterial>>) -> Result {
    commands.spawn((
        painted_cloth(&painted_mesh())?,
        Fabric::COTTON,
        Aerodynamic::default(),
        Transform::from_xyz(0.0, HEIGHT, 0.0),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.95, 0.85, 0.65),
            double_sided: true,
            cull_mode: None,
            ..default()
        })),
    ));
    Ok(())
}

fn light_stage(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(12.0, 12.0))),
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
        Transform::from_xyz(0.0, 2.0, 4.0).looking_at(Vec3::new(0.0, 1.2, 0.0), Vec3::Y),
    ));
}
