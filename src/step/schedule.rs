//! Schedules and sets of the tick, and their order.

use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel, SingleThreadedExecutor};
use bevy::prelude::*;

/// The three parts of a tick, in the schedule that [`PliantPlugin`](super::PliantPlugin) runs in.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PliantSystems {
    /// The rigid world has been read: poses, velocities and shapes of all colliders stand in
    /// [`RigidColliders`](crate::colliders::RigidColliders).
    ReadColliders,
    /// The bodies have moved by one tick.
    Step,
    /// Output is written: [`PliantState`](crate::body::PliantState), transforms, impulses on rigid bodies.
    Writeback,
}

/// The stages of a substep.
///
/// The first four live in the schedule [`PliantForces`], which an integrator runs as often as it needs forces; the
/// others live in [`PliantStep`], which runs once per substep. A stage is turned off with a run condition:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # let mut app = App::new();
/// # #[derive(Resource)] struct Weightless;
/// app.configure_sets(PliantForces, PliantStepSystems::Gravity.run_if(not(resource_exists::<Weightless>)));
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PliantStepSystems {
    /// Weight.
    Gravity,
    /// Elastic and viscous forces of the elements.
    Elasticity,
    /// Resistance of the air.
    Drag,
    /// User forces: any system placed here may add to [`Particles::forces`](crate::body::Particles::forces), in N.
    /// Sums of numbers depend on their order, so two user forces must say theirs (`chain`, `before`, `after`).
    AccumulateForces,
    /// Velocities and positions advance to a candidate state.
    Integrate,
    /// The candidate state is corrected so that nothing passes through a collider.
    Collide,
    /// Velocities are brought to the time of the positions.
    FinishSubstep,
}

/// Evaluates the forces on all particles in their current state.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PliantForces;

/// One substep of all bodies.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PliantStep;

pub(super) fn plugin(app: &mut App) {
    for schedule in [PliantForces.intern(), PliantStep.intern()] {
        app.init_schedule(schedule);
        app.edit_schedule(schedule, |schedule| {
            // Threads work inside the systems, over bodies and elements. An unordered pair of systems would make
            // results depend on chance, so it is an error at start-up.
            schedule.set_executor(SingleThreadedExecutor::new());
            schedule.set_build_settings(ScheduleBuildSettings {
                ambiguity_detection: LogLevel::Error,
                ..default()
            });
        });
    }
    app.configure_sets(
        PliantForces,
        (
            PliantStepSystems::Gravity,
            PliantStepSystems::Elasticity,
            PliantStepSystems::Drag,
            // After the library's own, so that a user force may look at what is there already.
            PliantStepSystems::AccumulateForces,
        )
            .chain(),
    );
    app.configure_sets(
        PliantStep,
        (
            PliantStepSystems::Integrate,
            // Contact corrects a candidate that all forces have shaped.
            PliantStepSystems::Collide,
            // The closing half of the velocity step feels the forces at the corrected positions.
            PliantStepSystems::FinishSubstep,
        )
            .chain(),
    );
}
