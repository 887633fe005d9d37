//! Runs with this library: a headless app on one thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::colliders::{HalfSpace, RigidCollider, RigidColliders};
use bevy_pliant::prelude::*;
use nalgebra::Isometry3;

use crate::case::{Case, FRAMES_PER_SECOND, GRAVITY, Law, THICKNESS};
use crate::motion::Motion;

/// How many times as many substeps the converged run takes as the explicit integrator does by itself; those are
/// twice as many as stability asks for.
const REFINEMENT: u32 = 2;

/// The converged run that all others are compared with.
pub fn reference(case: &Case, law: Law) -> Motion {
    // What an impact stiffens takes shorter steps, so the count is that of the most demanding frame.
    let automatic = run(case, law, Integrator::SYMPLECTIC_EULER);
    let substeps = REFINEMENT * automatic.substeps.unwrap_or(1);
    run(
        case,
        law,
        Integrator::SymplecticEuler {
            substeps: Substeps::Fixed(substeps),
        },
    )
}

/// Simulates a case.
pub fn run(case: &Case, law: Law, integrator: Integrator) -> Motion {
    let mut app = app(integrator);
    let world = app.world_mut();
    let model = match law {
        Law::Corotational => ElasticModel::Corotational,
        Law::NeoHookean => ElasticModel::StableNeoHookean,
    };
    let material = PliantMaterial::new(
        case.young_modulus as Real,
        case.poisson_ratio as Real,
        case.density as Real,
    )
    .with_model(model);
    let body = world
        .spawn((
            Solid::new(case.mesh.clone()),
            material,
            Pins::at(case.held.iter().copied()),
            SurfaceProperties {
                thickness: THICKNESS as Real,
                ..default()
            },
        ))
        .id();
    if case.ground {
        let ground = world.spawn_empty().id();
        world
            .resource_mut::<RigidColliders>()
            .colliders
            .push(RigidCollider::fixed(
                ground,
                Arc::new(HalfSpace),
                Isometry3::identity(),
            ));
    }
    // The first update starts the clock and runs no tick.
    app.update();
    let mut motion = Motion::default();
    for _ in 0..case.frames {
        let start = Instant::now();
        app.update();
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let Some(particles) = app.world().get::<Particles>(body) else {
            return motion;
        };
        let positions: Vec<_> = particles.positions.iter().map(|x| x.cast()).collect();
        motion.record(case, &positions, milliseconds);
        let state = app.world().get::<PliantState>(body);
        motion.substeps = motion.substeps.max(state.map(|state| state.substeps));
    }
    motion
}

/// A headless app on one thread at 60 ticks per second.
pub fn app(integrator: Integrator) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, PliantPlugin::default()))
        .insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::NEG_Y * GRAVITY as f32))
        .insert_resource(Time::<Fixed>::from_duration(Duration::from_secs_f64(
            1.0 / FRAMES_PER_SECOND,
        )))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app.finish();
    app.cleanup();
    app
}
