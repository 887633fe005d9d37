//! A tick takes no memory from the heap once a body has settled in: on one thread, the library allocates no more with a
//! body than without one.
//!
//! A program of its own, since counting takes the place of the allocator. Only what happens between the first and the last
//! system of the library is counted: Bevy and Rapier allocate as they please.

#![allow(
    clippy::expect_used,
    reason = "a test that cannot set itself up must fail"
)]

use std::alloc::System;

use bevy::app::{FixedPostUpdate, TaskPoolPlugin};
use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, NoUserData, RapierPhysicsPlugin, RigidBody};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The heap as it was when the tick began, and allocations since.
#[derive(Resource)]
struct Count {
    start: Region<'static, System>,
    allocations: usize,
}

fn begin(mut count: ResMut<Count>) {
    count.start = Region::new(HEAP);
}

fn end(mut count: ResMut<Count>) {
    let change = count.start.change();
    count.allocations = change.allocations + change.reallocations;
}

/// What the world holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    /// A body in free fall.
    Falling,
    /// A body that hangs from pins.
    Hanging,
    /// A body on a floor.
    Lying,
    /// A body on a floor, and another one on it, that answer contact by impulses.
    Stacked,
}

fn app(scene: Scene, integrator: Integrator, with_body: bool) -> App {
    let mut app = App::new();
    let pools = TaskPoolPlugin {
        task_pool_options: TaskPoolOptions::with_num_threads(1),
    };
    app.add_plugins((
        MinimalPlugins.set(pools),
        TransformPlugin,
        RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        PliantPlugins.build().disable::<PliantRenderPlugin>(),
    ));
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(integrator)
        .insert_resource(Count {
            start: Region::new(HEAP),
            allocations: 0,
        })
        .add_systems(
            FixedPostUpdate,
            (
                begin.before(PliantSystems::ReadColliders),
                end.after(PliantSystems::Writeback),
            ),
        );
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app.finish();
    app.cleanup();
    if scene == Scene::Stacked {
        app.insert_resource(ContactResponse::Bridson);
    }
    if matches!(scene, Scene::Lying | Scene::Stacked) {
        app.world_mut().spawn((
            RigidBody::Fixed,
            Collider::cuboid(5.0, 0.5, 5.0),
            Transform::from_xyz(0.0, -0.5, 0.0),
        ));
    }
    let levels = match (with_body, scene) {
        (false, _) => 0,
        (true, Scene::Stacked) => 2,
        (true, _) => 1,
    };
    for level in 0..levels {
        let mesh =
            TetrahedralMesh::block([0.4, 0.2, 0.2], [8, 4, 4], CellSplit::Six).expect("a block");
        let mut body = app.world_mut().spawn((
            Solid::new(mesh),
            PliantMaterial::new(1e5, 0.3, 1000.0).with_viscosity(100.0, 100.0),
            AirDrag::default(),
            Transform::from_xyz(0.0, 0.101 + 0.202 * level as f32, 0.0),
        ));
        if scene == Scene::Hanging {
            body.insert(Pins::at(0..5));
        }
    }
    app
}

/// Allocations in each of some ticks, after a while.
fn allocations(scene: Scene, integrator: Integrator, with_body: bool) -> Vec<usize> {
    let mut app = app(scene, integrator, with_body);
    for _ in 0..60 {
        app.update();
    }
    (0..30)
        .map(|_| {
            app.update();
            app.world().resource::<Count>().allocations
        })
        .collect()
}

#[test]
fn a_tick_allocates_nothing_for_a_body() {
    for scene in [Scene::Falling, Scene::Hanging, Scene::Lying, Scene::Stacked] {
        for integrator in [
            Integrator::IMPLICIT,
            Integrator::BACKWARD_EULER,
            Integrator::BACKWARD_DIFFERENCES,
        ] {
            let without = allocations(scene, integrator, false);
            let with = allocations(scene, integrator, true);
            println!(
                "{scene:?}, {}: {with:?} with, {without:?} without",
                integrator.name()
            );
            assert_eq!(with, without, "{scene:?}, {}", integrator.name());
        }
    }
}
