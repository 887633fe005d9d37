//! A tick takes no memory from the heap once a body has settled in: on one thread, an app with a body allocates no more
//! than the same app without one.
//!
//! A program of its own, since it counts every allocation of the process.

#![allow(
    clippy::expect_used,
    reason = "a test that cannot set itself up must fail"
)]

#[path = "../examples/scenes/mod.rs"]
mod scenes;

use std::alloc::System;

use bevy::app::FixedPostUpdate;
use bevy::prelude::*;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What the world holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    /// A body in free fall.
    Falling,
    /// A body that hangs from pins.
    Hanging,
    /// A body on a floor.
    Lying,
}

fn app(scene: Scene, integrator: Integrator, with_body: bool) -> App {
    let mut app = scenes::headless_app(Some(1));
    app.finish();
    app.cleanup();
    app.insert_resource(integrator);
    if scene == Scene::Lying {
        app.world_mut().spawn((
            RigidBody::Fixed,
            Collider::cuboid(5.0, 0.5, 5.0),
            Transform::from_xyz(0.0, -0.5, 0.0),
        ));
    }
    if !with_body {
        // Something that moves, so that Bevy has transforms to follow all the same.
        app.world_mut().spawn(Transform::default());
        app.add_systems(
            FixedPostUpdate,
            |mut movers: Query<&mut Transform, Without<Collider>>| {
                for mut mover in &mut movers {
                    mover.translation.x += 1e-3;
                }
            },
        );
    } else {
        let mesh =
            TetrahedralMesh::block([0.4, 0.2, 0.2], [8, 4, 4], CellSplit::Six).expect("a block");
        let mut body = app.world_mut().spawn((
            Solid::new(mesh),
            PliantMaterial::new(1e5, 0.3, 1000.0).with_viscosity(100.0, 100.0),
            AirDrag::default(),
            Transform::from_xyz(0.0, 0.101, 0.0),
        ));
        if scene == Scene::Hanging {
            body.insert(Pins::at(0..5));
        }
    }
    app
}

/// Allocations and reallocations in each of some ticks, after a while.
fn allocations(scene: Scene, integrator: Integrator, with_body: bool) -> Vec<usize> {
    let mut app = app(scene, integrator, with_body);
    for _ in 0..60 {
        app.update();
    }
    (0..30)
        .map(|_| {
            let region = Region::new(HEAP);
            app.update();
            let change = region.change();
            change.allocations + change.reallocations
        })
        .collect()
}

#[test]
fn a_tick_allocates_nothing_for_a_body() {
    for scene in [Scene::Falling, Scene::Hanging, Scene::Lying] {
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
            // Bevy's own number varies from tick to tick, since it looks after its lists now and then.
            let least = |counts: &[usize]| counts.iter().min().copied().expect("ticks");
            assert!(
                least(&with) <= least(&without),
                "{scene:?}, {}",
                integrator.name()
            );
            assert!(least(&with[20..]) <= least(&with[..10]), "more and more");
        }
    }
}
