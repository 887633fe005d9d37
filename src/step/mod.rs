//! How the bodies move: one file per stage, the order in [`schedule`](PliantSystems).
//!
//! ```text
//! FixedPostUpdate (after Rapier's own step)
//!   PliantSystems::ReadColliders   rigid world → RigidColliders
//!   PliantSystems::Step            user edits → pins → substeps → tears
//!     PliantStep, per substep      Integrate → Collide (impulses between bodies, rigid world, filter) → FinishSubstep
//!       PliantForces, per evaluation   Gravity → Elasticity → Drag → coupling → AccumulateForces (yours)
//!         with the implicit integrator, elasticity and drag are inside the solve
//!   PliantSystems::Writeback       energies, momenta, transforms; impulses → rigid world
//! ```

mod account;
mod air;
mod clock;
mod cloth;
pub(crate) mod collide;
mod consistent_mass;
mod contact;
mod coupling;
mod diagnostics;
mod elastic;
mod elements;
mod forces;
mod half_step;
mod hash;
mod implicit;
mod integrator;
mod mixed;
mod prepare;
mod pressure;
mod runge_kutta;
mod schedule;
mod stable_step;
mod strain_limit;
mod symplectic_euler;
mod tear;
mod threads;
mod tick;

use bevy::app::FixedPostUpdate;
use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;

#[cfg(feature = "render")]
pub(crate) use account::frame_transform;
pub use clock::PliantClock;
pub use contact::{BroadPhase, ContactResponse};
pub use diagnostics::PliantDiagnostics;
pub use hash::state_hash;
pub use integrator::{
    DampingRegime, DampingSolve, ImplicitScheme, Integrator, MassMatrix, PliantGravity, Substeps,
};
pub use schedule::{PliantForces, PliantStep, PliantStepSystems, PliantSystems};

use crate::body::{self, Particles, Torn};
use crate::colliders::RigidColliders;

/// Deformable bodies: components, schedules and all stages of the tick.
///
/// Runs in [`FixedPostUpdate`] unless told otherwise.
pub struct PliantPlugin {
    schedule: Interned<dyn ScheduleLabel>,
}

impl Default for PliantPlugin {
    fn default() -> Self {
        Self::new(FixedPostUpdate)
    }
}

impl PliantPlugin {
    /// The plugin with its tick in the given schedule; [`Time`] there must be the time of the tick.
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }
}

impl Plugin for PliantPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Integrator>()
            .init_resource::<PliantGravity>()
            .init_resource::<PliantClock>()
            .init_resource::<RigidColliders>()
            .init_resource::<contact::ContactStage>()
            .init_resource::<ContactResponse>()
            .init_resource::<BroadPhase>()
            .register_type::<Integrator>()
            .register_type::<PliantGravity>()
            .register_type::<ContactResponse>()
            .register_type::<BroadPhase>()
            .add_plugins((
                body::plugin,
                schedule::plugin,
                forces::plugin,
                air::plugin,
                tick::plugin,
                diagnostics::plugin,
            ))
            .add_message::<Torn>()
            .add_observer(prepare::release_pins)
            .configure_sets(
                self.schedule,
                (
                    PliantSystems::ReadColliders,
                    PliantSystems::Step,
                    PliantSystems::Writeback,
                )
                    .chain(),
            )
            .add_systems(
                self.schedule,
                (
                    (
                        prepare::quarantine,
                        prepare::follow_user_transforms,
                        prepare::follow_materials,
                        cloth::follow_fabrics,
                        pressure::follow_pressures,
                        prepare::remember,
                        prepare::follow_pins,
                        strain_limit::prepare,
                        coupling::prepare,
                        contact::start_tick,
                        tick::tick,
                        coupling::book,
                        // What the tick broke is caught before anybody reads it.
                        prepare::quarantine,
                        tear::tear,
                    )
                        .chain()
                        .in_set(PliantSystems::Step),
                    (account::account::<()>, diagnostics::measure).in_set(PliantSystems::Writeback),
                ),
            )
            // A body that was built since the last frame has its account before the first tick.
            .add_systems(PreUpdate, account::account::<Added<Particles>>)
            .add_systems(
                PliantStep,
                (
                    contact::respond.run_if(contact::has_impulses),
                    collide::collide,
                    contact::finish,
                )
                    .chain()
                    .in_set(PliantStepSystems::Collide),
            );
    }
}
