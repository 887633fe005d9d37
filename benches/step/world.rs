//! Apps and bodies to measure.

use bevy::app::{TaskPoolPlugin, TaskPoolThreadAssignmentPolicy};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;

use crate::scenes;

/// Edge of a block's cells, m.
const CELL: f64 = 0.05;

/// A headless app in which exactly that many threads work on the bodies.
pub fn app(threads: usize) -> App {
    let mut pools = TaskPoolOptions::default();
    pools.compute = TaskPoolThreadAssignmentPolicy {
        min_threads: threads,
        max_threads: threads,
        percent: 1.0,
        on_thread_spawn: None,
        on_thread_destroy: None,
    };
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins.set(TaskPoolPlugin {
            task_pool_options: pools,
        }),
        TransformPlugin,
    ));
    scenes::add_physics(&mut app);
    app.add_plugins(PliantPlugins.build().disable::<PliantRenderPlugin>());
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.insert_resource(Time::<Fixed>::from_hz(60.0));
    app.finish();
    app.cleanup();
    // The first update starts the clock and runs no tick.
    app.update();
    app
}

/// A soft material that oscillates visibly: its waves take a second for 20 m.
pub fn soft() -> PliantMaterial {
    PliantMaterial::new(1e5, 0.45, 1000.0)
}

/// An app with a freely falling block, stretched by a tenth along x so that it oscillates.
pub fn block(threads: usize, cells: [usize; 3], material: PliantMaterial) -> App {
    let mut app = app(threads);
    let size = cells.map(|count| CELL * count as f64);
    let mesh = TetrahedralMesh::block(size, cells, CellSplit::Six).expect("a block");
    app.world_mut().spawn((Solid::new(mesh), material));
    app.update();
    for mut particles in app
        .world_mut()
        .query::<&mut Particles>()
        .iter_mut(app.world_mut())
    {
        for position in &mut particles.positions {
            position.x *= 1.1;
        }
    }
    app
}

/// The numbers of tetrahedra and particles in the world.
pub fn counts(app: &mut App) -> (usize, usize) {
    let mut bodies = app.world_mut().query::<(&Tetrahedra, &Particles)>();
    bodies
        .iter(app.world())
        .fold((0, 0), |(elements, particles), (tetrahedra, body)| {
            (elements + tetrahedra.len(), particles + body.len())
        })
}
