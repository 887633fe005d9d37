//! Rapier's rigid world as colliders for deformable bodies.
//!
//! Rapier steps in [`FixedUpdate`]; the bodies' tick follows in [`FixedPostUpdate`]. [`read_colliders`] fills
//! [`RigidColliders`] with all enabled solid colliders, with their poses before and after Rapier's step, and
//! [`return_impulses`] gives the impulses of the tick back to dynamic bodies. Nothing of ours is solved by Rapier.
//!
//! - **Shapes**: see [`ParryShape`]. Sensors are left out.
//! - **Motion**: between two ticks a collider moves evenly from pose to pose. Moved by hand, a fixed collider jumps;
//!   so does any other that moves more than 10 m and ten times what its velocity explains. What jumps onto a particle
//!   pushes it out without throwing it.
//! - **Dynamic bodies** answer with the mass, inertia and locked axes that Rapier holds. They get their impulses
//!   after the tick and move accordingly in the next one.
//! - **Groups**: deformable bodies are in all groups. A collider without memberships or with an empty filter is
//!   passed by.
//!
//! The plugin does nothing if Rapier's plugin is missing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bevy::app::FixedPostUpdate;
use bevy::ecs::intern::Interned;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use bevy_rapier3d::dynamics::{RapierRigidBodyHandle, Sleeping, Velocity};
use bevy_rapier3d::plugin::context::{
    RapierContextColliders, RapierContextEntityLink, RapierRigidBodySet,
};
use bevy_rapier3d::plugin::{PhysicsSet, RapierConfiguration, TimestepMode};
use bevy_rapier3d::rapier::dynamics::{CoefficientCombineRule, RigidBody, RigidBodyHandle};
use bevy_rapier3d::rapier::geometry::{Collider, ColliderHandle};
use nalgebra::{Isometry3, Matrix3, Vector3};

use self::shape::{from_parry, pose_from_parry, to_parry};
use self::solid::real;
use crate::Real;
use crate::colliders::{CombineRule, RigidBodyState, RigidCollider, RigidColliders};
use crate::step::PliantSystems;

mod shape;
mod solid;
#[cfg(test)]
mod tests;

pub use shape::ParryShape;

/// A collider that jumps farther than this in a tick, m, may have been teleported.
const TELEPORT_DISTANCE: Real = 10.0;

/// Makes deformable bodies collide with Rapier's world.
///
/// Runs in [`FixedPostUpdate`] unless told otherwise; give it the same schedule as
/// [`PliantPlugin`](crate::step::PliantPlugin).
pub struct PliantRapierPlugin {
    schedule: Interned<dyn ScheduleLabel>,
}

impl Default for PliantRapierPlugin {
    fn default() -> Self {
        Self::new(FixedPostUpdate)
    }
}

impl PliantRapierPlugin {
    /// The plugin with its systems in the given schedule.
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }
}

impl Plugin for PliantRapierPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RigidColliders>()
            // For a game that runs Rapier in the same schedule.
            .configure_sets(
                self.schedule,
                PliantSystems::ReadColliders.after(PhysicsSet::Writeback),
            )
            .add_systems(
                self.schedule,
                (
                    (advise_on_time_steps.run_if(run_once), read_colliders)
                        .chain()
                        .in_set(PliantSystems::ReadColliders),
                    return_impulses.in_set(PliantSystems::Writeback),
                ),
            );
    }

    fn finish(&self, app: &mut App) {
        let runs_in = |schedule: Interned<dyn ScheduleLabel>| {
            app.get_schedule(schedule).is_some_and(|schedule| {
                let sets = &schedule.graph().system_sets;
                sets.get_key(PhysicsSet::StepSimulation.intern()).is_some()
            })
        };
        let is_variable =
            runs_in(PostUpdate.intern()) || runs_in(Update.intern()) || runs_in(PreUpdate.intern());
        app.insert_resource(RapierSchedule { is_variable });
    }
}

/// Where Rapier was found to run.
#[derive(Resource)]
struct RapierSchedule {
    is_variable: bool,
}

/// Says once what to type if Rapier and the bodies would not move in step.
fn advise_on_time_steps(
    schedule: Option<Res<RapierSchedule>>,
    mode: Option<Res<TimestepMode>>,
    fixed: Option<Res<Time<Fixed>>>,
) {
    let (Some(mode), Some(fixed)) = (mode, fixed) else {
        return;
    };
    let is_variable = schedule.is_some_and(|schedule| schedule.is_variable);
    if let Some(advice) = advice_on_time_steps(is_variable, &mode, fixed.timestep()) {
        warn!("{advice}");
    }
}

/// What to type if Rapier steps once per frame (`is_variable`) or by another step than a tick; `None` if all is well.
fn advice_on_time_steps(is_variable: bool, mode: &TimestepMode, tick: Duration) -> Option<String> {
    let step = tick.as_secs_f32();
    let is_in_step =
        matches!(*mode, TimestepMode::Fixed { dt, .. } if (dt - step).abs() <= step * 1e-3);
    (is_variable || !is_in_step).then(|| {
        format!(
            "Rapier does not step together with the deformable bodies ({}{mode:?}): moving colliders will jerk and may \
             leave particles behind. Type `app.insert_resource(TimestepMode::Fixed {{ dt: 1.0 / {}, substeps: 1 }})` and \
             `.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())`.",
            if is_variable { "once per frame, " } else { "" },
            (1.0 / step * 1000.0).round() / 1000.0,
        )
    })
}

/// Fills [`RigidColliders`] from all of Rapier's worlds, colliders in the order of Rapier's arena.
///
/// A game that adds colliders of its own does so in [`PliantSystems::ReadColliders`] after this system.
pub fn read_colliders(
    contexts: Query<(Entity, &RapierContextColliders, &RapierRigidBodySet)>,
    time: Res<Time>,
    mut rigid: ResMut<RigidColliders>,
    mut memory: Local<HashMap<(Entity, ColliderHandle), Isometry3<Real>>>,
    mut reported: Local<HashSet<Entity>>,
) {
    if contexts.is_empty() && memory.is_empty() {
        // No Rapier: leave the lists to whoever fills them.
        return;
    }
    rigid.colliders.clear();
    rigid.bodies.clear();
    let before = std::mem::take(&mut *memory);
    let mut order: Vec<_> = contexts.iter().collect();
    order.sort_unstable_by_key(|(entity, ..)| *entity);
    for (context, colliders, bodies) in order {
        let mut indices: HashMap<RigidBodyHandle, usize> = HashMap::new();
        for (handle, collider) in colliders.colliders.iter() {
            if collider.is_sensor() || !collider.is_enabled() {
                continue;
            }
            let entity =
                Entity::try_from_bits(collider.user_data as u64).unwrap_or(Entity::PLACEHOLDER);
            let Some(pose) = pose_from_parry(collider.position()) else {
                if reported.insert(entity) {
                    error!(
                        "collider {entity} is ignored: its pose is not finite. Give it a finite `Transform`."
                    );
                }
                continue;
            };
            reported.remove(&entity);
            let parent = collider
                .parent()
                .and_then(|parent| Some((parent, bodies.bodies.get(parent)?)));
            let start_pose = before
                .get(&(context, handle))
                .filter(|start| {
                    !is_teleport(
                        start,
                        &pose,
                        parent.map(|(_, body)| body),
                        time.delta_secs(),
                    )
                })
                .copied()
                .unwrap_or(pose);
            memory.insert((context, handle), pose);
            let body = parent
                .filter(|(_, body)| body.is_dynamic())
                .map(|(parent, body)| {
                    *indices.entry(parent).or_insert_with(|| {
                        let entity = bodies
                            .rigid_body_entity(parent)
                            .unwrap_or(Entity::PLACEHOLDER);
                        rigid.bodies.push(state_of(entity, body));
                        rigid.bodies.len() - 1
                    })
                });
            rigid
                .colliders
                .push(describe(entity, collider, start_pose, pose, body));
        }
    }
}

fn is_teleport(
    start: &Isometry3<Real>,
    end: &Isometry3<Real>,
    body: Option<&RigidBody>,
    dt: f32,
) -> bool {
    let Some(body) = body.filter(|body| !body.is_fixed()) else {
        return start != end;
    };
    let distance = (end.translation.vector - start.translation.vector).norm();
    distance > TELEPORT_DISTANCE && distance > real(body.linvel().length() * dt) * 10.0
}

fn describe(
    entity: Entity,
    collider: &Collider,
    start_pose: Isometry3<Real>,
    end_pose: Isometry3<Real>,
    body: Option<usize>,
) -> RigidCollider {
    let groups = collider.collision_groups();
    RigidCollider {
        entity,
        shape: Arc::new(ParryShape(collider.shared_shape().clone())),
        start_pose,
        end_pose,
        body,
        friction: real(collider.friction()),
        friction_rule: rule_of(collider.friction_combine_rule()),
        restitution: real(collider.restitution()),
        restitution_rule: rule_of(collider.restitution_combine_rule()),
        memberships: groups.memberships.bits(),
        filter: groups.filter.bits(),
    }
}

fn state_of(entity: Entity, body: &RigidBody) -> RigidBodyState {
    let properties = body.mass_properties();
    let inertia = properties.effective_world_inv_inertia;
    RigidBodyState {
        entity,
        center_of_mass: from_parry(body.center_of_mass()),
        linear_velocity: from_parry(body.linvel()),
        angular_velocity: from_parry(body.angvel()),
        inverse_mass: from_parry(properties.effective_inv_mass),
        inverse_inertia: Matrix3::new(
            inertia.m11,
            inertia.m12,
            inertia.m13, //
            inertia.m12,
            inertia.m22,
            inertia.m23, //
            inertia.m13,
            inertia.m23,
            inertia.m33,
        )
        .map(real),
        linear_impulse: Vector3::zeros(),
        angular_impulse: Vector3::zeros(),
    }
}

fn rule_of(rule: CoefficientCombineRule) -> CombineRule {
    match rule {
        CoefficientCombineRule::Average => CombineRule::Average,
        CoefficientCombineRule::Min => CombineRule::Min,
        CoefficientCombineRule::Multiply => CombineRule::Multiply,
        CoefficientCombineRule::Max => CombineRule::Max,
        CoefficientCombineRule::ClampedSum => CombineRule::ClampedSum,
        CoefficientCombineRule::GeometricMean => CombineRule::GeometricMean,
    }
}

/// Gives the impulses of the tick to Rapier's dynamic bodies and wakes those that got one.
pub fn return_impulses(
    mut rigid: ResMut<RigidColliders>,
    mut contexts: Query<(&mut RapierRigidBodySet, &RapierConfiguration)>,
    mut links: Query<(
        &RapierRigidBodyHandle,
        &RapierContextEntityLink,
        Option<&mut Velocity>,
        Option<&mut Sleeping>,
    )>,
) {
    for state in &mut rigid.bodies {
        let linear = std::mem::replace(&mut state.linear_impulse, Vector3::zeros());
        let angular = std::mem::replace(&mut state.angular_impulse, Vector3::zeros());
        let is_finite = linear.iter().chain(angular.iter()).all(|x| x.is_finite());
        if !is_finite || (linear == Vector3::zeros() && angular == Vector3::zeros()) {
            continue;
        }
        let Ok((handle, link, velocity, sleeping)) = links.get_mut(state.entity) else {
            continue;
        };
        let Ok((mut bodies, configuration)) = contexts.get_mut(link.0) else {
            continue;
        };
        // Impulses would pile up in a world that stands still.
        if !configuration.physics_pipeline_active {
            continue;
        }
        let Some(body) = bodies.bodies.get_mut(handle.0) else {
            continue;
        };
        body.apply_impulse(to_parry(&linear), true);
        body.apply_torque_impulse(to_parry(&angular), true);
        // Rapier's own writeback has marked these components as changed, and its next step starts with copying what
        // has changed into its bodies: they must say what the impulse made of the body, or it would be undone.
        if let Some(mut velocity) = velocity {
            *velocity = Velocity {
                linear: body.linvel(),
                angular: body.angvel(),
            };
        }
        if let Some(mut sleeping) = sleeping
            && sleeping.sleeping
        {
            sleeping.sleeping = false;
        }
    }
}
