//! Pictures of a finished run, drawn off screen.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bevy::camera::RenderTarget;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{PipelineCache, TextureFormat};
use bevy::render::renderer::RenderInstance;
use bevy::render::settings::{Backends, RenderCreation, WgpuSettings};
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::tasks::block_on;
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use bevy_pliant::prelude::*;
use bevy_pliant::render::RenderBlend;

use crate::decorate::{self, DecoratePlugin};
use crate::options::Plan;
use crate::record;
use crate::scenes::{Snapshot, install};

/// Size of a picture, pixels.
const SIZE: (u32, u32) = (960, 540);
/// Frames drawn and thrown away after the last shader is compiled.
const SETTLING_FRAMES: usize = 4;
/// Frames after which something must be wrong.
const MOST_FRAMES: usize = 400;

/// What to draw, and where the picture goes.
pub struct Picture {
    /// The state of the scene.
    pub snapshot: Snapshot,
    /// A PNG file.
    pub file: PathBuf,
}

/// What a capture came to: nothing yet, done, or a message.
type Verdict = Arc<Mutex<Option<Result<(), String>>>>;

/// Draws and writes all pictures. The error says why there are none.
pub fn draw(plan: &Plan, pictures: &[Picture]) -> Result<(), String> {
    if !adapter_exists() {
        return Err("no Vulkan, Metal or Direct3D 12 adapter, not even a software one".into());
    }
    let mut app = drawing_app();
    let world = app.world_mut();
    install(world, plan.scene, &plan.settings).map_err(|error| error.to_string())?;
    decorate::light_stage(world, &plan.scene.viewpoint);
    let target = Image::new_target_texture(SIZE.0, SIZE.1, TextureFormat::Rgba8UnormSrgb, None);
    let target = world.resource_mut::<Assets<Image>>().add(target);
    world.spawn((
        decorate::camera(&plan.scene.viewpoint),
        RenderTarget::Image(target.clone().into()),
    ));
    for (index, picture) in pictures.iter().enumerate() {
        record::make_folder_of(&picture.file)?;
        picture.snapshot.show(app.world_mut());
        if index == 0 {
            warm_up(&mut app)?;
        } else {
            app.update();
        }
        capture(&mut app, &target, &picture.file)?;
    }
    Ok(())
}

/// An app that draws without a window and in which no time passes.
fn drawing_app() -> App {
    let mut app = App::new();
    let settings = WgpuSettings {
        backends: Some(Backends::PRIMARY),
        ..default()
    };
    app.add_plugins(
        DefaultPlugins
            .build()
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .set(RenderPlugin {
                render_creation: RenderCreation::Automatic(Box::new(settings)),
                // A picture with half of its materials missing is of no use.
                synchronous_pipeline_compilation: true,
                ..default()
            })
            .disable::<LogPlugin>()
            .disable::<WinitPlugin>()
            // Drawing in another thread would leave it open which frame a capture shows.
            .disable::<PipelinedRenderingPlugin>(),
    );
    app.add_plugins((
        PliantPlugins.build().disable::<PliantRapierPlugin>(),
        DecoratePlugin,
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(
        std::time::Duration::ZERO,
    ));
    app.insert_resource(RenderBlend::Latest);
    app.finish();
    app.cleanup();
    app
}

/// Whether there is something to draw with. The renderer itself panics if there is not.
fn adapter_exists() -> bool {
    // The type has no public name of its own here: it is what the renderer's resource points to.
    type Target<T> = <T as Deref>::Target;
    type Instance = Target<Target<Target<RenderInstance>>>;
    let instance = Instance::default();
    !block_on(instance.enumerate_adapters(Backends::PRIMARY)).is_empty()
}

/// Draws until all shaders are compiled.
fn warm_up(app: &mut App) -> Result<(), String> {
    let mut settled = 0;
    for _ in 0..MOST_FRAMES {
        app.update();
        let waiting = app
            .get_sub_app(bevy::render::RenderApp)
            .and_then(|renderer| renderer.world().get_resource::<PipelineCache>())
            .is_none_or(|cache| cache.waiting_pipelines().count() > 0);
        settled = if waiting { 0 } else { settled + 1 };
        if settled > SETTLING_FRAMES {
            return Ok(());
        }
    }
    Err("the shaders were not compiled in time".into())
}

/// Draws one frame into a file.
fn capture(app: &mut App, target: &Handle<Image>, file: &Path) -> Result<(), String> {
    let verdict = Verdict::default();
    let (answer, path) = (verdict.clone(), file.to_owned());
    app.world_mut()
        .spawn(Screenshot::image(target.clone()))
        .observe(move |captured: On<ScreenshotCaptured>| {
            let result = save(&captured.image, &path);
            if let Ok(mut answer) = answer.lock() {
                *answer = Some(result);
            }
        });
    for _ in 0..MOST_FRAMES {
        app.update();
        if let Some(result) = verdict.lock().ok().and_then(|mut verdict| verdict.take()) {
            return result;
        }
    }
    Err(format!("{} was not drawn in time", file.display()))
}

fn save(image: &Image, file: &Path) -> Result<(), String> {
    let problem =
        |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", file.display());
    let picture = image
        .clone()
        .try_into_dynamic()
        .map_err(|error| problem(&error))?;
    // The alpha channel says nothing here.
    picture
        .to_rgb8()
        .save(file)
        .map_err(|error| problem(&error))
}
