//! Running a scene without a window, as fast as the machine allows.

use std::time::{Duration, Instant};

use bevy::app::{TaskPoolPlugin, TaskPoolThreadAssignmentPolicy};
use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{NoUserData, RapierPhysicsPlugin, TimestepMode};

use super::props::EntityCount;
use super::{Record, Row, SCENES, Scene, SceneEntity, SceneError, Settings};

/// A finished run: its record and the world it ended in.
pub struct Run {
    /// One row per tick.
    pub record: Record,
    /// The app, its world in the final state.
    pub app: App,
}

/// An app with the physics of all scenes and nothing else: no window, no rendering, a manual clock.
///
/// The thread pools belong to the process: the first app that is made decides how many threads there are.
pub fn headless_app(threads: Option<usize>) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins.set(TaskPoolPlugin {
            task_pool_options: task_pools(threads),
        }),
        TransformPlugin,
    ));
    add_physics(&mut app);
    app.add_plugins(PliantPlugins.build().disable::<PliantRenderPlugin>());
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    // Threads work inside the systems. Handing the systems themselves around would cost more than most of them do.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app
}

/// Thread pools in which exactly `threads` threads work on the bodies; Bevy's own choice without a number.
pub fn task_pools(threads: Option<usize>) -> TaskPoolOptions {
    let mut pools = TaskPoolOptions::default();
    if let Some(threads) = threads {
        // `TaskPoolOptions::with_num_threads` would share that many between input, loading and computing.
        pools.compute = TaskPoolThreadAssignmentPolicy {
            min_threads: threads,
            max_threads: threads,
            percent: 1.0,
            on_thread_spawn: None,
            on_thread_destroy: None,
        };
    }
    pools
}

/// The rigid world, with the tick that deformable bodies need, and the systems of the scenes.
pub fn add_physics(app: &mut App) {
    app.insert_resource(TimestepMode::Fixed {
        dt: 1.0 / 60.0,
        substeps: 1,
    });
    app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
    for scene in SCENES {
        (scene.plugin)(app);
    }
}

/// Clears the world of the previous scene and builds this one, with its tick, integrator and gravity.
pub fn install(world: &mut World, scene: &Scene, settings: &Settings) -> Result<(), SceneError> {
    let mut old = world.query_filtered::<Entity, With<SceneEntity>>();
    let old: Vec<Entity> = old.iter(world).collect();
    for entity in old {
        world.despawn(entity);
    }
    let tick = Duration::from_secs_f64(1.0 / settings.frames_per_second);
    world.resource_mut::<Time<Fixed>>().set_timestep(tick);
    world.insert_resource(TimestepMode::Fixed {
        dt: tick.as_secs_f32(),
        substeps: 1,
    });
    world.insert_resource(settings.integrator(scene));
    world.insert_resource(PliantGravity::default());
    world.insert_resource(PliantWind::calm());
    world.insert_resource(EntityCount::default());
    (scene.build)(world, settings)
}

/// Runs a scene for as long as its settings say, calling `observe` at time zero and after each tick.
pub fn run_headless(
    scene: &Scene,
    settings: &Settings,
    threads: Option<usize>,
    mut observe: impl FnMut(&mut World, &Row),
) -> Result<Run, SceneError> {
    let mut app = headless_app(threads);
    app.finish();
    app.cleanup();
    install(app.world_mut(), scene, settings)?;
    let mut record = Record::default();
    for tick in 0..=settings.ticks() {
        let start = Instant::now();
        // The first update starts the clock and runs no tick: it gives the state at time zero.
        app.update();
        let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
        let time = tick as f64 / settings.frames_per_second;
        let row = Row::measure(app.world_mut(), scene, time, milliseconds);
        observe(app.world_mut(), &row);
        if !row.is_blank() {
            record.rows.push(row);
        }
    }
    Ok(Run { record, app })
}
