//! How scenes look: camera, lights, background, floors and colors. The window and the pictures share it.

use std::f32::consts::FRAC_PI_4;

use bevy::asset::RenderAssetUsages;
use bevy::image::{ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy::light::CascadeShadowConfigBuilder;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_pliant::render::SurfaceSlot;

use crate::scenes::{Prop, PropShape, SceneColor, SceneEntity, Viewpoint};

/// Color of the air, which far things fade into.
pub const BACKGROUND: Color = Color::srgb(0.86, 0.89, 0.93);
/// Props that are wider than this many meters get a checkered top.
const FLOOR_SIZE: f32 = 2.0;
/// How often the texture repeats over the unit square of a body's texture coordinates: its squares show deformation.
const BODY_REPEATS: f32 = 4.0;
/// Texels along one side of the checker texture: two squares.
const CHECKER_TEXELS: u32 = 128;

/// Gives a look to everything that a scene spawns: materials by [`SceneColor`], meshes for [`Prop`]s.
pub struct DecoratePlugin;

impl Plugin for DecoratePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ClearColor(BACKGROUND))
            .insert_resource(GlobalAmbientLight {
                color: Color::srgb(0.86, 0.91, 1.0),
                brightness: 700.0,
                ..default()
            })
            .init_resource::<Checker>()
            .init_resource::<StageSize>()
            .add_systems(PreUpdate, (dress_bodies, dress_slots, dress_props));
    }
}

/// What is seen from a viewpoint, as components of the camera.
pub fn camera(viewpoint: &Viewpoint) -> impl Bundle {
    let distance = viewpoint.eye.distance(viewpoint.target);
    (
        Camera3d::default(),
        Projection::Perspective(PerspectiveProjection {
            fov: FRAC_PI_4,
            // Scenes are between centimeters and tens of meters wide.
            near: 0.02 * distance,
            far: 200.0 * distance,
            ..default()
        }),
        Transform::from_translation(viewpoint.eye).looking_at(viewpoint.target, Vec3::Y),
        DistanceFog {
            color: BACKGROUND,
            falloff: FogFalloff::Linear {
                start: 2.5 * distance,
                end: 9.0 * distance,
            },
            ..default()
        },
    )
}

/// How far the eye of the scene stands from what it looks at, m: floors and shadows are made to that measure.
#[derive(Resource)]
struct StageSize(f32);

impl Default for StageSize {
    fn default() -> Self {
        Self(1.0)
    }
}

/// Lights the scene that was just installed: a sun, and a weaker light from the other side. They go with the scene.
pub fn light_stage(world: &mut World, viewpoint: &Viewpoint) {
    let distance = viewpoint.eye.distance(viewpoint.target);
    world.insert_resource(StageSize(distance));
    let light = |illuminance, shadows, from: Vec3| {
        (
            SceneEntity::default(),
            DirectionalLight {
                illuminance,
                shadow_maps_enabled: shadows,
                shadow_normal_bias: 1.2,
                ..default()
            },
            CascadeShadowConfigBuilder {
                num_cascades: 2,
                minimum_distance: 0.02 * distance,
                first_cascade_far_bound: 1.8 * distance,
                maximum_distance: 6.0 * distance,
                ..default()
            }
            .build(),
            Transform::from_translation(from).looking_at(Vec3::ZERO, Vec3::Y),
        )
    };
    // Seen from the eye the sun stands behind the left shoulder.
    let view = (viewpoint.target - viewpoint.eye).normalize_or(Vec3::NEG_Z);
    let right = view.cross(Vec3::Y).normalize_or(Vec3::X);
    let back = right.cross(Vec3::Y);
    world.spawn(light(
        8_500.0,
        true,
        1.6 * Vec3::Y - 0.9 * right - 0.55 * back,
    ));
    world.spawn(light(1_800.0, false, 0.7 * Vec3::Y + right - 0.3 * back));
}

/// The texture of floors and bodies: light squares, white and almost white.
#[derive(Resource)]
struct Checker(Handle<Image>);

impl FromWorld for Checker {
    fn from_world(world: &mut World) -> Self {
        Self(world.resource_mut::<Assets<Image>>().add(checker_image()))
    }
}

/// Two by two squares with all their smaller versions, so that far squares turn gray instead of flickering.
fn checker_image() -> Image {
    let mut data = Vec::new();
    let mut levels = 0;
    let mut size = CHECKER_TEXELS;
    while size > 0 {
        for index in 0..size * size {
            let (column, row) = (index % size, index / size);
            let value = if size == 1 {
                226
            } else if (2 * column / size + 2 * row / size).is_multiple_of(2) {
                255
            } else {
                196
            };
            data.extend([value, value, value, 255]);
        }
        size /= 2;
        levels += 1;
    }
    let mut image = Image::new_uninit(
        Extent3d {
            width: CHECKER_TEXELS,
            height: CHECKER_TEXELS,
            depth_or_array_layers: 1,
        },
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    );
    image.data = Some(data);
    image.texture_descriptor.mip_level_count = levels;
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Linear,
        mipmap_filter: ImageFilterMode::Linear,
        ..default()
    });
    image
}

/// A body gets its color. Its mesh comes from the library.
fn dress_bodies(
    mut commands: Commands,
    mut materials: ResMut<Assets<StandardMaterial>>,
    checker: Res<Checker>,
    bodies: Query<
        (Entity, &SceneColor),
        (Without<MeshMaterial3d<StandardMaterial>>, Without<Prop>),
    >,
) {
    for (body, color) in &bodies {
        commands
            .entity(body)
            .insert(MeshMaterial3d(materials.add(rubber(color.0, &checker))));
    }
}

/// Further material slots of a body take turns in hue.
fn dress_slots(
    mut commands: Commands,
    mut materials: ResMut<Assets<StandardMaterial>>,
    checker: Res<Checker>,
    slots: Query<(Entity, &SurfaceSlot, &ChildOf), Without<MeshMaterial3d<StandardMaterial>>>,
    bodies: Query<&SceneColor>,
) {
    for (slot, number, child_of) in &slots {
        let Ok(color) = bodies.get(child_of.parent()) else {
            continue;
        };
        let [red, green, blue] = color.0;
        let turned = Color::srgb(red, green, blue)
            .rotate_hue(67.0 * f32::from(number.0))
            .to_srgba();
        let material = rubber([turned.red, turned.green, turned.blue], &checker);
        commands
            .entity(slot)
            .insert(MeshMaterial3d(materials.add(material)));
    }
}

fn rubber([red, green, blue]: [f32; 3], checker: &Checker) -> StandardMaterial {
    StandardMaterial {
        base_color: Color::srgb(red, green, blue),
        base_color_texture: Some(checker.0.clone()),
        uv_transform: Affine2::from_scale(Vec2::splat(BODY_REPEATS)),
        perceptual_roughness: 0.42,
        reflectance: 0.4,
        // A body that is pressed inside out should still be seen.
        double_sided: true,
        cull_mode: None,
        ..default()
    }
}

fn dress_props(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    checker: Res<Checker>,
    size: Res<StageSize>,
    props: Query<(Entity, &Prop, Option<&SceneColor>), Without<Mesh3d>>,
) {
    for (entity, prop, color) in &props {
        let mesh = match prop.shape {
            PropShape::Cuboid { half_size } => Cuboid { half_size }.mesh().build(),
            PropShape::Ball { radius } => Sphere { radius }.mesh().uv(48, 24),
            PropShape::Cylinder {
                half_height,
                radius,
            } => Cylinder {
                radius,
                half_height,
            }
            .mesh()
            .resolution(48)
            .build(),
        };
        let [red, green, blue] = color.map_or([0.7; 3], |color| color.0);
        let mut material = StandardMaterial {
            base_color: Color::srgb(red, green, blue),
            perceptual_roughness: 0.75,
            reflectance: 0.25,
            ..default()
        };
        if let PropShape::Cuboid { half_size } = prop.shape
            && half_size.x.min(half_size.z) > FLOOR_SIZE
        {
            // A texture covers two squares.
            let repeats = half_size.xz() / square_size(size.0);
            material.base_color_texture = Some(checker.0.clone());
            material.uv_transform = Affine2::from_scale(repeats);
        }
        commands.entity(entity).insert((
            Mesh3d(meshes.add(mesh)),
            MeshMaterial3d(materials.add(material)),
        ));
    }
}

/// Side of a floor square, m: 1, 2 or 5 times a power of ten, about a fifth of the distance.
fn square_size(distance: f32) -> f32 {
    let wanted = distance / 5.0;
    let power = 10.0_f32.powf(wanted.log10().floor());
    match wanted / power {
        ratio if ratio < 1.5 => power,
        ratio if ratio < 3.5 => 2.0 * power,
        ratio if ratio < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}
