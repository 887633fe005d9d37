//! The gallery in a window.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bevy::camera::visibility::RenderLayers;
use bevy::camera::{CameraOutputMode, ClearColorConfig};
use bevy::light::DirectionalLightShadowMap;
use bevy::prelude::*;
use bevy::render::render_resource::BlendState;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::window::WindowResolution;
use bevy_egui::input::EguiWantsInput;
use bevy_egui::{EguiGlobalSettings, EguiPlugin, PrimaryEguiContext};
use bevy_panorbit_camera::PanOrbitCameraPlugin;
use bevy_pliant::prelude::*;

use crate::decorate::DecoratePlugin;
use crate::grab::GrabPlugin;
use crate::options::{Options, Plan};
use crate::panel::{Notice, PanelPlugin};
use crate::scenes::{SCENES, Scene, add_physics, task_pools};
use crate::stage::{self, Request, Stage, StagePlugin};

/// Longest real time that one frame makes up for: a machine that cannot keep up shows slow motion, not a slide show.
const LONGEST_FRAME: Duration = Duration::from_millis(60);

/// Shows a scene, and others on demand, until the user closes the window.
pub fn run(options: &Options, scene: &'static Scene) -> ExitCode {
    let plan = match Plan::new(options) {
        Ok(plan) => plan,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let mut app = App::new();
    let plugins = DefaultPlugins
        .set(WindowPlugin {
            primary_window: Some(Window {
                title: "bevy_pliant gallery".into(),
                resolution: WindowResolution::new(1280, 720),
                ..default()
            }),
            ..default()
        })
        .set(TaskPoolPlugin {
            task_pool_options: task_pools(plan.threads),
        });
    app.add_plugins((plugins, EguiPlugin::default(), PanOrbitCameraPlugin));
    add_physics(&mut app);
    app.add_plugins(PliantPlugins)
        .add_plugins((DecoratePlugin, StagePlugin, GrabPlugin, PanelPlugin))
        .add_systems(Startup, spare_software_adapters)
        .add_systems(Update, keys);
    app.world_mut()
        .resource_mut::<EguiGlobalSettings>()
        .auto_create_primary_context = false;
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_max_delta(LONGEST_FRAME);
    app.world_mut()
        .spawn((stage::orbit_camera(&scene.viewpoint), Msaa::Sample4));
    app.world_mut().spawn(panel_camera());
    if let Err(error) = stage::build(app.world_mut(), scene, &plan.settings) {
        eprintln!("error: {error}");
        return ExitCode::from(2);
    }
    app.insert_resource(Stage::new(scene, plan.settings.clone()));
    match app.run() {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}

/// A processor that plays graphics card gets an easier picture.
fn spare_software_adapters(
    adapter: Res<RenderAdapterInfo>,
    mut shadows: ResMut<DirectionalLightShadowMap>,
    mut cameras: Query<&mut Msaa>,
) {
    // The type of this field has no public name here.
    if format!("{:?}", adapter.device_type) == "Cpu" {
        shadows.size = 1024;
        for mut samples in &mut cameras {
            *samples = Msaa::Off;
        }
    }
}

/// Draws the panel over the whole window, after the scene, whose own camera has only a part of it.
fn panel_camera() -> impl Bundle {
    (
        PrimaryEguiContext,
        Camera2d,
        RenderLayers::none(),
        Camera {
            order: 1,
            output_mode: CameraOutputMode::Write {
                blend_state: Some(BlendState::ALPHA_BLENDING),
                clear_color: ClearColorConfig::None,
            },
            clear_color: ClearColorConfig::Custom(Color::NONE),
            ..default()
        },
    )
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    egui: Res<EguiWantsInput>,
    mut stage: ResMut<Stage>,
    mut clock: ResMut<Time<Virtual>>,
    mut notice: ResMut<Notice>,
    mut commands: Commands,
) {
    // Somebody types a number.
    if egui.wants_keyboard_input() {
        return;
    }
    if keys.just_pressed(KeyCode::Space) {
        if clock.is_paused() {
            clock.unpause();
        } else {
            clock.pause();
        }
    }
    if keys.just_pressed(KeyCode::Enter) {
        clock.pause();
        stage.request = Some(Request::Step);
    }
    if keys.just_pressed(KeyCode::KeyR) {
        stage.request = Some(Request::Rebuild);
    }
    if keys.just_pressed(KeyCode::KeyN) {
        stage.request = Some(Request::Show(stage.neighbor(1)));
    }
    if keys.just_pressed(KeyCode::KeyB) {
        stage.request = Some(Request::Show(stage.neighbor(SCENES.len() - 1)));
    }
    if keys.just_pressed(KeyCode::F12) {
        let file = free_file(stage.scene.name);
        notice.show(format!("saved {}", file.display()));
        commands
            .spawn(Screenshot::primary_window())
            .observe(save_to_disk(file));
    }
}

/// The first `SCENE-N.png` in the working directory that is not there yet.
fn free_file(scene: &str) -> PathBuf {
    (1..)
        .map(|number: u32| PathBuf::from(format!("{scene}-{number}.png")))
        .find(|file| !file.exists())
        .unwrap_or_else(|| PathBuf::from(format!("{scene}.png")))
}
