//! Apps and bodies to measure.

use bevy::prelude::*;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;

use crate::scenes;

/// Edge of a block's cells, m.
const CELL: f64 = 0.05;

/// A headless app in which exactly that many threads work on the bodies.
pub fn app(threads: usize) -> App {
    let mut app = scenes::headless_app(Some(threads));
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
