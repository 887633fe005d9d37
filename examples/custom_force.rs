//! A force of your own: a magnet that pulls every particle towards a point.
//!
//! A user force is an ordinary system in `PliantStepSystems::AccumulateForces` of the schedule `PliantForces`. The
//! integrator runs it as often as it needs forces, and sets `PliantClock::time` to the time of each evaluation.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

/// Pull of the magnet per mass and distance, 1/s².
const PULL: Real = 30.0;

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, PliantPlugin::default()))
        .insert_resource(Time::<Fixed>::from_duration(Duration::from_secs_f64(
            1.0 / 60.0,
        )))
        // One tick per update, without waiting for the clock on the wall.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(PliantGravity(Vec3::ZERO))
        .add_systems(
            PliantForces,
            magnet.in_set(PliantStepSystems::AccumulateForces),
        )
        .add_systems(Startup, spawn);
    for frame in 0..=120 {
        app.update();
        if frame % 20 == 0 {
            for state in app.world_mut().query::<&PliantState>().iter(app.world()) {
                println!(
                    "{:.2} s: center at {:.3?} m",
                    f64::from(frame) / 60.0,
                    state.center.as_slice()
                );
            }
        }
    }
}

fn spawn(mut commands: Commands) -> Result {
    commands.spawn((
        Solid::new(TetrahedralMesh::ball(0.2, 2)?),
        PliantMaterial::SILICONE,
        Transform::from_xyz(1.0, 0.0, 0.0),
    ));
    Ok(())
}

fn magnet(clock: Res<PliantClock>, mut bodies: Query<&mut Particles, Without<Quarantined>>) {
    // The magnet circles around the origin.
    let (sine, cosine) = clock.time.sin_cos();
    let magnet = Vector3::new(cosine as Real, sine as Real, 0.0) * 0.2;
    for mut particles in &mut bodies {
        for i in 0..particles.len() {
            let pull = (magnet - particles.positions[i]) * (PULL * particles.masses()[i]);
            particles.forces[i] += pull;
        }
    }
}
