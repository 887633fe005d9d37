//! What happens to the bodies between two ticks: users move them, change their material, pin particles, or break them.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::consistent_mass::to_real_vector;
use crate::Real;
use crate::body::pins::PinPath;
use crate::body::solid::{to_f64, to_real, to_rotation};
use crate::body::{
    BodyFrame, Particles, Pin, PinAnchor, Pins, PliantMaterial, PliantState, Quarantined,
    Tetrahedra,
};

/// The name that messages call a body by.
pub(crate) fn describe(entity: Entity, name: Option<&Name>) -> String {
    name.map_or_else(
        || format!("body {entity}"),
        |name| format!("body \"{name}\" ({entity})"),
    )
}

type Movable = (
    Entity,
    Option<&'static Name>,
    &'static mut Transform,
    &'static mut Particles,
    &'static mut BodyFrame,
);

/// A transform that differs from the one written last was set by the user: the body moves there as a whole, with its
/// velocities turned along.
pub(super) fn follow_user_transforms(
    mut bodies: Query<Movable, (Without<Quarantined>, Without<ChildOf>)>,
) {
    for (entity, name, mut transform, mut particles, mut frame) in &mut bodies {
        let Some(written) = frame.written else {
            continue;
        };
        if *transform == written {
            continue;
        }
        let target = *transform;
        if !target.is_finite() || !target.rotation.is_normalized() {
            error!(
                "{}: its Transform was set to {target:?}, which is not a place; the body stays where it was. \
                 Write finite numbers and a unit rotation.",
                describe(entity, name)
            );
            *transform = written;
            continue;
        }
        if target.scale != written.scale {
            warn_once!(
                "{}: scaling a body while it is simulated has no effect; set the scale before inserting Solid",
                describe(entity, name)
            );
        }
        // The transform on screen may be blended between ticks, so what the user changed is the difference.
        let turn = to_rotation(target.rotation) * to_rotation(written.rotation).inverse();
        let (from, to) = (to_f64(written.translation), to_f64(target.translation));
        let place = |p: &Vector3<Real>| to_real_vector(&(to + turn * (p.cast::<f64>() - from)));
        let particles = &mut *particles;
        for i in 0..particles.len() {
            particles.positions[i] = place(&particles.positions[i]);
            particles.velocities[i] =
                to_real_vector(&(turn * particles.velocities[i].cast::<f64>()));
            particles.position_remainders[i] = Vector3::zeros();
            particles.velocity_remainders[i] = Vector3::zeros();
        }
        // A teleport is not a motion: nothing is swept or blended along the way.
        particles
            .start_positions
            .copy_from_slice(&particles.positions);
        frame.center = to + turn * (frame.center - from);
        frame.rotation = turn * frame.rotation;
        frame.written = Some(target);
    }
}

type Changed_ = (
    Entity,
    Option<&'static Name>,
    &'static PliantMaterial,
    &'static mut Tetrahedra,
    &'static mut Particles,
    &'static mut PliantState,
);

/// Takes over materials that changed since the last tick.
pub(super) fn follow_materials(mut bodies: Query<Changed_, Changed<PliantMaterial>>) {
    for (entity, name, material, mut tetrahedra, mut particles, mut state) in &mut bodies {
        if tetrahedra.is_added() {
            continue;
        }
        if let Err(error) = material.validate() {
            error!(
                "{}: {error}. The body keeps its previous material.",
                describe(entity, name)
            );
            continue;
        }
        tetrahedra.set_material(material);
        let masses = tetrahedra.lumped_masses(particles.len());
        let particles = &mut *particles;
        for i in 0..particles.len() {
            let held = particles.inverse_masses[i] == 0.0;
            particles.masses[i] = masses[i];
            if !held {
                particles.release(i);
            }
        }
        state.topology_version += 1;
    }
}

type Pinned = (
    Entity,
    Option<&'static Name>,
    &'static mut Pins,
    &'static mut Particles,
);

/// Lays out the straight path of every pinned particle over the coming tick.
pub(super) fn follow_pins(
    mut bodies: Query<Pinned, Without<Quarantined>>,
    transforms: TransformHelper,
) {
    for (entity, name, mut pins, mut particles) in &mut bodies {
        let mut paths = std::mem::take(&mut pins.bypass_change_detection().paths);
        for path in paths.drain(..) {
            if (path.particle as usize) < particles.len() {
                particles.release(path.particle as usize);
            }
        }
        let mut broken = None;
        for pin in &mut pins.bypass_change_detection().pins {
            let Some(&start) = particles.positions.get(pin.particle as usize) else {
                broken = Some(format!(
                    "pin on particle {}, but there are only {}",
                    pin.particle,
                    particles.len()
                ));
                continue;
            };
            let end = anchor_position(pin, start, &transforms).unwrap_or_else(|problem| {
                broken = Some(problem);
                start
            });
            particles.hold(pin.particle as usize);
            paths.push(PinPath {
                particle: pin.particle,
                start,
                end,
            });
        }
        pins.bypass_change_detection().paths = paths;
        match broken {
            Some(problem) if !pins.reported => {
                error!(
                    "{}: {problem}. Correct or remove the pin.",
                    describe(entity, name)
                );
                pins.bypass_change_detection().reported = true;
            }
            Some(_) => {}
            None => pins.bypass_change_detection().reported = false,
        }
    }
}

/// Where the anchor of a pin will be at the end of the tick; resolves anchors that start "where the particle is".
fn anchor_position(
    pin: &mut Pin,
    start: Vector3<Real>,
    transforms: &TransformHelper,
) -> Result<Vector3<Real>, String> {
    let here = Vec3::new(start.x as f32, start.y as f32, start.z as f32);
    let frame = |entity: Entity| {
        transforms
            .compute_global_transform(entity)
            .map_err(|_| format!("pin on entity {entity}, which is gone or has no Transform"))
    };
    let place = match pin.anchor {
        PinAnchor::Here => {
            pin.anchor = PinAnchor::World(here);
            return Ok(start);
        }
        PinAnchor::Attached(entity) => {
            let local = frame(entity)?.affine().inverse().transform_point3(here);
            pin.anchor = PinAnchor::Entity { entity, local };
            return Ok(start);
        }
        PinAnchor::World(place) => place,
        PinAnchor::Entity { entity, local } => frame(entity)?.transform_point(local),
    };
    if !place.is_finite() {
        return Err(format!(
            "pin on particle {} leads to {place}, which is not a place",
            pin.particle
        ));
    }
    // Double precision would otherwise drift by the rounding of a place that did not move.
    if place == here {
        Ok(start)
    } else {
        Ok(to_f64(place).map(to_real))
    }
}

/// Gives the particles back when the pins are removed.
pub(super) fn release_pins(removed: On<Remove, Pins>, mut bodies: Query<(&Pins, &mut Particles)>) {
    if let Ok((pins, mut particles)) = bodies.get_mut(removed.entity) {
        for path in &pins.paths {
            if (path.particle as usize) < particles.len() {
                particles.release(path.particle as usize);
            }
        }
    }
}

type Checked = (Entity, Option<&'static Name>, &'static mut Particles);

/// Leaves bodies out that hold numbers which are not finite, and puts them back to their last good state.
pub(super) fn quarantine(mut bodies: Query<Checked, Without<Quarantined>>, mut commands: Commands) {
    for (entity, name, mut particles) in &mut bodies {
        let Some(particle) = particles.first_non_finite() else {
            continue;
        };
        let reason = format!(
            "particle {particle} has position {:?} and velocity {:?}",
            particles.positions[particle].as_slice(),
            particles.velocities[particle].as_slice()
        );
        error!(
            "{} is left out of the simulation: {reason}. It stands where it was a tick ago; look for a force, a \
             transform or a velocity that is not finite, then remove `Quarantined` to let it go on.",
            describe(entity, name)
        );
        let particles = &mut *particles;
        for i in 0..particles.len() {
            let good = particles.tick_positions[i];
            particles.positions[i] = if good.iter().all(|x| x.is_finite()) {
                good
            } else {
                Vector3::zeros()
            };
            particles.start_positions[i] = particles.positions[i];
            particles.velocities[i] = Vector3::zeros();
            particles.forces[i] = Vector3::zeros();
            particles.position_remainders[i] = Vector3::zeros();
            particles.velocity_remainders[i] = Vector3::zeros();
        }
        commands.entity(entity).insert(Quarantined { reason });
    }
}

/// Remembers the positions that rendering blends from, and the frame.
pub(super) fn remember(mut bodies: Query<(&mut Particles, &mut BodyFrame, &mut PliantState)>) {
    for (mut particles, mut frame, mut state) in &mut bodies {
        let particles = &mut *particles;
        particles
            .tick_positions
            .copy_from_slice(&particles.positions);
        frame.previous_center = frame.center;
        frame.previous_rotation = frame.rotation;
        state.substeps = 0;
    }
}
