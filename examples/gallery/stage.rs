//! The scene in the window: which one, with which settings, and what was recorded since it was built.

use std::time::Instant;

use bevy::prelude::*;
use bevy::window::ExitSystems;
use bevy_panorbit_camera::PanOrbitCamera;

use crate::decorate;
use crate::scenes::{
    Outcome, Record, Row, SCENES, Scene, SceneError, Settings, Viewpoint, install,
};

/// Rows kept, some minutes: the window may stay open for days.
const MOST_ROWS: usize = 20_000;

/// What is on stage.
#[derive(Resource)]
pub struct Stage {
    /// The scene.
    pub scene: &'static Scene,
    /// Its settings; changes show at the next [`Request::Rebuild`].
    pub settings: Settings,
    /// What happened since the scene was built, the latest rows of it.
    pub record: Record,
    /// The scene's verdict, once the scene has run for its time.
    pub outcome: Option<Outcome>,
    /// Why the scene could not be built.
    pub error: Option<String>,
    /// Whether the user pulled at a body: then the energy account and the check no longer hold.
    pub touched: bool,
    /// What to do before the next frame.
    pub request: Option<Request>,
    ticks: usize,
    tick_start: Instant,
}

/// What the user asked for.
#[derive(Clone, Copy)]
pub enum Request {
    /// The same scene from the start.
    Rebuild,
    /// Another scene with its own settings.
    Show(&'static Scene),
    /// One tick of a paused scene.
    Step,
}

impl Stage {
    /// A stage for one scene, nothing recorded yet.
    pub fn new(scene: &'static Scene, settings: Settings) -> Self {
        Self {
            scene,
            settings,
            record: Record::default(),
            outcome: None,
            error: None,
            touched: false,
            request: None,
            ticks: 0,
            tick_start: Instant::now(),
        }
    }

    /// Simulated time since the scene was built, s.
    pub fn time(&self) -> f64 {
        self.ticks as f64 / self.settings.frames_per_second
    }

    /// The scene that many places further in the list, which is a ring.
    pub fn neighbor(&self, places: usize) -> &'static Scene {
        let index = SCENES
            .iter()
            .position(|scene| scene.name == self.scene.name)
            .unwrap_or(0);
        &SCENES[(index + places) % SCENES.len()]
    }
}

/// Keeps the record and serves requests.
pub struct StagePlugin;

impl Plugin for StagePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(PreUpdate, serve_request)
            .add_systems(
                RunFixedMainLoop,
                record_start.in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            )
            .add_systems(FixedFirst, |mut stage: ResMut<Stage>| {
                stage.tick_start = Instant::now();
            })
            .add_systems(FixedLast, record_tick)
            .add_systems(Last, judge_exit.after(ExitSystems));
    }
}

/// Builds the scene on stage, with its lights.
pub fn build(
    world: &mut World,
    scene: &'static Scene,
    settings: &Settings,
) -> Result<(), SceneError> {
    install(world, scene, settings)?;
    decorate::light_stage(world, &scene.viewpoint);
    // Ticks that were due to the previous scene.
    let mut fixed = world.resource_mut::<Time<Fixed>>();
    let overstep = fixed.overstep();
    fixed.discard_overstep(overstep);
    Ok(())
}

/// Where the eye of a scene starts, with controls: left drag is left to grabbing.
pub fn orbit_camera(viewpoint: &Viewpoint) -> impl Bundle {
    let distance = viewpoint.eye.distance(viewpoint.target);
    (
        decorate::camera(viewpoint),
        PanOrbitCamera {
            focus: viewpoint.target,
            target_focus: viewpoint.target,
            button_orbit: MouseButton::Right,
            button_pan: MouseButton::Middle,
            zoom_lower_limit: 0.1 * distance,
            zoom_upper_limit: Some(20.0 * distance),
            // The camera moves while the simulation is paused.
            use_real_time: true,
            ..default()
        },
    )
}

fn serve_request(world: &mut World) {
    let Some(request) = world.resource_mut::<Stage>().request.take() else {
        return;
    };
    let (scene, settings) = {
        let stage = world.resource::<Stage>();
        match request {
            Request::Rebuild => (stage.scene, stage.settings.clone()),
            Request::Show(scene) => {
                let mut settings = Settings::new(scene);
                settings.mesh.clone_from(&stage.settings.mesh);
                (scene, settings)
            }
            Request::Step => {
                let mut fixed = world.resource_mut::<Time<Fixed>>();
                let tick = fixed.timestep();
                fixed.accumulate_overstep(tick);
                return;
            }
        }
    };
    let result = build(world, scene, &settings);
    let mut stage = Stage::new(scene, settings);
    stage.error = result.err().map(|error| error.to_string());
    world.insert_resource(stage);
    if matches!(request, Request::Show(_)) {
        let mut cameras = world.query_filtered::<Entity, With<PanOrbitCamera>>();
        let cameras: Vec<Entity> = cameras.iter(world).collect();
        for camera in cameras {
            world
                .entity_mut(camera)
                .insert(orbit_camera(&scene.viewpoint));
        }
    }
}

/// Closing the window while the check of the scene on stage fails is a failure of the program.
fn judge_exit(
    mut exits: ParamSet<(MessageReader<AppExit>, MessageWriter<AppExit>)>,
    stage: Res<Stage>,
) {
    let fails = stage.outcome.as_ref().is_some_and(|outcome| !outcome.ok());
    if fails && exits.p0().read().any(AppExit::is_success) {
        exits.p1().write(AppExit::error());
    }
}

/// The state at time zero.
fn record_start(world: &mut World) {
    let stage = world.resource::<Stage>();
    if stage.record.rows.is_empty() && stage.error.is_none() {
        record(world, 0.0, 0.0);
    }
}

fn record_tick(world: &mut World) {
    let mut stage = world.resource_mut::<Stage>();
    stage.ticks += 1;
    let milliseconds = stage.tick_start.elapsed().as_secs_f64() * 1000.0;
    let time = stage.time();
    record(world, time, milliseconds);
}

fn record(world: &mut World, time: f64, milliseconds: f64) {
    let scene = world.resource::<Stage>().scene;
    let row = Row::measure(world, scene, time, milliseconds);
    if row.is_blank() {
        return;
    }
    let mut stage = world.resource_mut::<Stage>();
    let stage = &mut *stage;
    if stage.record.rows.len() >= MOST_ROWS {
        stage.record.rows.drain(..MOST_ROWS / 4);
    }
    stage.record.rows.push(row);
    if stage.ticks == stage.settings.ticks() && !stage.touched {
        stage.outcome = Some((scene.check)(&stage.record, &stage.settings));
    }
}
