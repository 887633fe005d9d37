//! The visible state of a scene at one moment.

use bevy::prelude::*;
use bevy_pliant::body::BodyFrame;
use bevy_pliant::prelude::*;

use super::{Prop, SceneEntity};

/// A body's particles, the frame and transform that follow them, and its surface, which tears change.
type BodyShape = (Particles, BodyFrame, Transform, Option<(u32, Surface)>);

/// Everything that can move in a scene, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    bodies: Vec<(usize, BodyShape)>,
    props: Vec<(usize, Transform)>,
}

impl Snapshot {
    /// Copies the state of the world.
    pub fn take(world: &mut World) -> Self {
        let mut bodies = world.query::<(
            &SceneEntity,
            (&Particles, &BodyFrame, &Transform),
            &PliantState,
            Option<&Surface>,
        )>();
        let mut props = world.query_filtered::<(&SceneEntity, &Transform), With<Prop>>();
        Self {
            bodies: bodies
                .iter(world)
                .map(|(entity, (particles, frame, transform), state, surface)| {
                    let surface = surface.map(|surface| (state.topology_version, surface.clone()));
                    (
                        entity.number,
                        (particles.clone(), frame.clone(), *transform, surface),
                    )
                })
                .collect(),
            props: props
                .iter(world)
                .map(|(entity, transform)| (entity.number, *transform))
                .collect(),
        }
    }

    /// Gives a world with the same scene this state.
    pub fn show(&self, world: &mut World) {
        let mut bodies = world.query::<(
            &SceneEntity,
            (&mut Particles, &mut BodyFrame, &mut Transform),
            &mut PliantState,
            Option<&mut Surface>,
        )>();
        for (entity, shape, mut state, surface) in bodies.iter_mut(world) {
            let (mut particles, mut frame, mut transform) = shape;
            if let Some((_, shown)) = self.bodies.iter().find(|body| body.0 == entity.number) {
                let (shown_particles, shown_frame, shown_transform, shown_surface) = shown;
                // All three: a transform that is not its frame's would count as moved by the user.
                *particles = shown_particles.clone();
                *frame = shown_frame.clone();
                *transform = *shown_transform;
                if let (Some(mut surface), Some((version, shown))) = (surface, shown_surface) {
                    state.topology_version = *version;
                    *surface = shown.clone();
                }
            }
        }
        let mut props = world.query_filtered::<(&SceneEntity, &mut Transform), With<Prop>>();
        for (entity, mut transform) in props.iter_mut(world) {
            if let Some((_, shown)) = self.props.iter().find(|prop| prop.0 == entity.number) {
                *transform = *shown;
            }
        }
    }
}

/// The boundaries of all bodies together: points (m) and the corners of triangles.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// Points on the boundaries, m.
    pub points: Vec<[f64; 3]>,
    /// Corners of the triangles.
    pub triangles: Vec<[u32; 3]>,
}

impl Shell {
    /// Collects the boundaries of all bodies, in the order of their numbers.
    pub fn of(world: &mut World) -> Self {
        let mut bodies = world.query::<(&SceneEntity, &Particles, &Surface)>();
        let mut bodies: Vec<_> = bodies.iter(world).collect();
        bodies.sort_by_key(|(entity, ..)| entity.number);
        let mut shell = Self::default();
        for (_, particles, surface) in bodies {
            let first = shell.points.len();
            let used = surface.particles();
            // Ascending, so a particle's place is found by halving.
            let place =
                |corner: u32| (first + used.partition_point(|&other| other < corner)) as u32;
            let point =
                |&index: &u32| <[f64; 3]>::from(particles.positions[index as usize].cast::<f64>());
            shell.points.extend(used.iter().map(point));
            shell
                .triangles
                .extend(surface.triangles.iter().map(|corners| corners.map(place)));
        }
        shell
    }
}
