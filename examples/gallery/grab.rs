//! Pulling at a body with the mouse: a spring and damper from the grabbed point to the pointer.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_panorbit_camera::PanOrbitCamera;
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::panel::ViewArea;
use crate::stage::Stage;

/// Natural frequency of the whole body on the spring, rad/s.
const FREQUENCY: f64 = 14.0;
/// Largest force, in multiples of the body's weight.
const MOST_WEIGHTS: f64 = 12.0;
/// Largest phase (rad) that the grabbed particles' own vibration on the spring may advance in a substep. Explicit
/// integrators are unstable from 2 on.
const MOST_PHASE: f64 = 0.5;

/// What the mouse holds.
#[derive(Resource, Default)]
pub struct Grab {
    held: Option<Held>,
}

struct Held {
    body: Entity,
    /// Corners of the grabbed triangle.
    particles: [u32; 3],
    /// Shares of the corners in the grabbed point; they sum to one.
    weights: [f64; 3],
    /// Where the point is pulled to, m.
    target: Vec3,
    /// Distance of the grabbed point from the eye, along the view, m.
    depth: f32,
}

impl Held {
    /// Weighted sum of a vector of the three corners.
    fn blend(&self, vectors: &[Vector3<Real>]) -> Option<Vector3<f64>> {
        let mut sum = Vector3::zeros();
        for (&particle, weight) in self.particles.iter().zip(self.weights) {
            sum += vectors.get(particle as usize)?.map(f64::from) * weight;
        }
        Some(sum)
    }
}

/// Left drag grabs a body.
pub struct GrabPlugin;

impl Plugin for GrabPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Grab>()
            .add_systems(Update, (follow_pointer, draw).chain())
            .add_systems(
                PliantForces,
                pull.in_set(PliantStepSystems::AccumulateForces),
            );
    }
}

/// Grabs, moves and releases.
fn follow_pointer(
    mut grab: ResMut<Grab>,
    mut stage: ResMut<Stage>,
    buttons: Res<ButtonInput<MouseButton>>,
    area: Res<ViewArea>,
    window: Single<&Window, With<PrimaryWindow>>,
    camera: Single<(&Camera, &GlobalTransform), With<PanOrbitCamera>>,
    bodies: Query<(Entity, &Particles, &Surface)>,
) {
    if !buttons.pressed(MouseButton::Left) {
        grab.held = None;
        return;
    }
    let (camera, eye) = *camera;
    let Some(ray) = window
        .cursor_position()
        .and_then(|cursor| camera.viewport_to_world(eye, cursor).ok())
    else {
        return;
    };
    // Rays through the sides of the view are longer than its middle line.
    let along_view = ray.direction.dot(*eye.forward());
    if buttons.just_pressed(MouseButton::Left) && area.has_pointer(&window) {
        grab.held = bodies
            .iter()
            .filter_map(|(body, particles, surface)| pick(ray, body, particles, surface))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(distance, held)| Held {
                depth: distance * along_view,
                ..held
            });
        stage.touched |= grab.held.is_some();
    }
    if let Some(held) = &mut grab.held {
        held.target = ray.get_point(held.depth / along_view.max(1e-3));
    }
}

/// The nearest triangle of a body on the ray, with its distance, m.
fn pick(ray: Ray3d, body: Entity, particles: &Particles, surface: &Surface) -> Option<(f32, Held)> {
    let mut nearest: Option<(f32, Held)> = None;
    for &corners in &surface.triangles {
        let mut points = [Vec3::ZERO; 3];
        for (point, corner) in points.iter_mut().zip(corners) {
            let position = particles
                .positions
                .get(corner as usize)?
                .map(f64::from)
                .cast::<f32>();
            *point = Vec3::new(position.x, position.y, position.z);
        }
        if let Some((distance, weights)) = intersect(ray, points)
            && nearest.as_ref().is_none_or(|(known, _)| distance < *known)
        {
            nearest = Some((
                distance,
                Held {
                    body,
                    particles: corners,
                    weights: weights.map(f64::from),
                    target: ray.get_point(distance),
                    depth: distance,
                },
            ));
        }
    }
    nearest
}

/// Where a ray meets a triangle, from either side: distance (m) and the corners' shares [Möller & Trumbore 1997].
fn intersect(ray: Ray3d, [a, b, c]: [Vec3; 3]) -> Option<(f32, [f32; 3])> {
    let (to_b, to_c) = (b - a, c - a);
    let normal_part = ray.direction.cross(to_c);
    let determinant = to_b.dot(normal_part);
    // Seen edge on: nothing to hold on to.
    if determinant == 0.0 {
        return None;
    }
    let from_a = ray.origin - a;
    let share_b = from_a.dot(normal_part) / determinant;
    let cross = from_a.cross(to_b);
    let share_c = ray.direction.dot(cross) / determinant;
    let distance = to_c.dot(cross) / determinant;
    let inside = share_b >= 0.0 && share_c >= 0.0 && share_b + share_c <= 1.0 && distance > 0.0;
    inside.then_some((distance, [1.0 - share_b - share_c, share_b, share_c]))
}

/// The user force: runs each time the integrator needs forces.
fn pull(
    grab: Res<Grab>,
    clock: Res<PliantClock>,
    mut bodies: Query<&mut Particles, Without<Quarantined>>,
) {
    let Some(held) = &grab.held else {
        return;
    };
    let Ok(mut particles) = bodies.get_mut(held.body) else {
        return;
    };
    let (Some(point), Some(velocity)) = (
        held.blend(&particles.positions),
        held.blend(&particles.velocities),
    ) else {
        return;
    };
    // What the point resists a force with: 1/m = Σ wᵢ²/mᵢ.
    let inverse_mass: f64 = held
        .particles
        .iter()
        .zip(held.weights)
        .map(|(&particle, weight)| {
            let inverse = particles
                .inverse_masses()
                .get(particle as usize)
                .copied()
                .unwrap_or(0.0);
            weight * weight * f64::from(inverse)
        })
        .sum();
    if inverse_mass <= 0.0 {
        return;
    }
    // Stiff enough to carry the body, soft enough for the substep.
    let total_mass = particles.total_mass();
    let own_frequency =
        (FREQUENCY * (total_mass * inverse_mass).sqrt()).min(MOST_PHASE / clock.dt.max(1e-9));
    let stiffness = own_frequency * own_frequency / inverse_mass;
    // Critical with respect to the grabbed mass: more would be unstable, and the body damps the rest.
    let damping = 2.0 * own_frequency / inverse_mass;
    let target = held.target.as_dvec3();
    let mut force =
        (Vector3::new(target.x, target.y, target.z) - point) * stiffness - velocity * damping;
    let most = MOST_WEIGHTS * 9.81 * total_mass;
    let strength = force.norm();
    if strength > most {
        force *= most / strength;
    }
    if !strength.is_finite() {
        return;
    }
    for (&particle, weight) in held.particles.iter().zip(held.weights) {
        if let Some(sum) = particles.forces.get_mut(particle as usize) {
            *sum += (force * weight).cast::<Real>();
        }
    }
}

/// Shows the spring.
fn draw(grab: Res<Grab>, bodies: Query<&Particles>, mut gizmos: Gizmos) {
    let Some(held) = &grab.held else {
        return;
    };
    let Some(point) = bodies
        .get(held.body)
        .ok()
        .and_then(|particles| held.blend(&particles.positions))
    else {
        return;
    };
    let point = point.cast::<f32>();
    let point = Vec3::new(point.x, point.y, point.z);
    let color = Color::srgb(1.0, 0.82, 0.1);
    gizmos.line(point, held.target, color);
    gizmos.sphere(
        Isometry3d::from_translation(held.target),
        0.008 * held.depth,
        color,
    );
    gizmos.sphere(
        Isometry3d::from_translation(point),
        0.004 * held.depth,
        color,
    );
}
