//! Contact against closed-form surfaces, without Rapier and without the schedule.

use std::sync::Arc;

use bevy::prelude::Entity;
use nalgebra::{Isometry3, Matrix3, Vector3};

use super::{Step, SweptCollider, Tally, collide_body};
use crate::Real;
use crate::body::{Particles, SurfaceProperties};
use crate::colliders::{HalfSpace, RigidBodyState, RigidCollider, Sphere};

const GRAVITY: Real = 9.81;

/// A world of one body, advanced as the integrator does: half kick, drift, contact, half kick.
struct World {
    particles: Particles,
    properties: SurfaceProperties,
    colliders: Vec<RigidCollider>,
    bodies: Vec<RigidBodyState>,
    gravity: Vector3<Real>,
    dt: Real,
    tally: Tally,
}

impl World {
    fn new(
        position: Vector3<Real>,
        velocity: Vector3<Real>,
        colliders: Vec<RigidCollider>,
    ) -> Self {
        let mut particles = Particles::new(vec![position], vec![2.0]);
        particles.velocities[0] = velocity;
        Self {
            particles,
            properties: SurfaceProperties::default(),
            colliders,
            bodies: Vec::new(),
            gravity: -Vector3::y() * GRAVITY,
            dt: 1.0 / 600.0,
            tally: Tally::default(),
        }
    }

    fn run(&mut self, substeps: usize) {
        for _ in 0..substeps {
            let particles = &mut self.particles;
            particles.start_positions = particles.positions.clone();
            for i in 0..particles.len() {
                particles.forces[i] = self.gravity * particles.masses()[i];
                particles.velocities[i] += self.gravity * (0.5 * self.dt);
                particles.positions[i] += particles.velocities[i] * self.dt;
            }
            let swept: Vec<SweptCollider> = self
                .colliders
                .iter()
                .map(|collider| SweptCollider::new(collider, &self.bodies, 0.0, 1.0, self.dt))
                .collect();
            let step = Step {
                dt: self.dt,
                velocity_fraction: 0.5,
            };
            let tally = collide_body(
                particles,
                None,
                &self.properties,
                &step,
                &swept,
                &mut Vec::new(),
                &mut self.bodies,
            );
            self.tally.contacts = tally.contacts;
            self.tally.dissipated += tally.dissipated;
            for velocity in &mut particles.velocities {
                *velocity += self.gravity * (0.5 * self.dt);
            }
        }
    }

    fn position(&self) -> Vector3<Real> {
        self.particles.positions[0]
    }

    fn velocity(&self) -> Vector3<Real> {
        self.particles.velocities[0]
    }
}

fn ground() -> RigidCollider {
    RigidCollider::fixed(
        Entity::PLACEHOLDER,
        Arc::new(HalfSpace),
        Isometry3::identity(),
    )
}

fn tilted(angle: Real) -> RigidCollider {
    let turn = Isometry3::rotation(Vector3::z() * angle);
    RigidCollider::fixed(Entity::PLACEHOLDER, Arc::new(HalfSpace), turn)
}

#[test]
fn bounce_height_is_exact() {
    let mut world = World::new(
        Vector3::new(0.0, 1.001, 0.0),
        Vector3::zeros(),
        vec![ground()],
    );
    world.properties.restitution = 0.8;
    world.colliders[0].restitution = 0.8;
    let (mut highest, mut has_bounced) = (0.0, false);
    for _ in 0..600 {
        let height = world.position().y - 0.001;
        world.run(1);
        has_bounced |= world.velocity().y > 0.0;
        if has_bounced {
            let speed = world.velocity().y;
            highest = Real::max(highest, height);
            if speed < 0.0 && highest > 0.3 {
                break;
            }
        }
    }
    // The highest sampled position is up to ½ g (dt/2)² below the top.
    assert!((highest - 0.64).abs() < 2e-5, "{highest}");
    let lost = 2.0 * 9.81 * (1.0 - 0.64);
    assert!(
        (world.tally.dissipated - lost).abs() < lost * 1e-4,
        "{} J instead of {lost}",
        world.tally.dissipated
    );
}

#[test]
fn resting_particle_is_quiet_and_dissipates_nothing() {
    let mut world = World::new(
        Vector3::new(0.3, 0.001, 0.0),
        Vector3::zeros(),
        vec![ground()],
    );
    world.run(3000);
    assert!(
        (world.position() - Vector3::new(0.3, 0.001, 0.0)).norm() < 1e-6,
        "{}",
        world.position()
    );
    assert_eq!(world.tally.contacts, 1);
    // The first substep starts from rest with half a kick: m (g dt)²/8 at most.
    assert!(
        world.tally.dissipated.abs() < 1e-3,
        "{}",
        world.tally.dissipated
    );
}

#[test]
fn sticks_below_the_friction_angle_and_slides_above_it() {
    let friction: Real = 0.5;
    for (degrees, slides) in [(20.0, false), (26.0, false), (27.5, true), (40.0, true)] {
        let angle = Real::to_radians(degrees);
        let normal = Vector3::new(-angle.sin(), angle.cos(), 0.0);
        let mut world = World::new(normal * 0.001, Vector3::zeros(), vec![tilted(angle)]);
        world.run(600);
        let slid = world.position().norm();
        let acceleration = GRAVITY * (angle.sin() - friction * angle.cos());
        if slides {
            let expected = 0.5 * acceleration;
            assert!(
                (slid - expected).abs() < 0.01 * expected,
                "{degrees}°: {slid} m instead of {expected}"
            );
        } else {
            assert!(slid < 0.0011, "{degrees}°: slid {slid} m");
            // Rounding does not make it creep.
            let place = world.position();
            world.run(6000);
            assert!(
                (world.position() - place).norm() < 1e-6,
                "{degrees}°: creeps"
            );
        }
    }
}

/// A gap that is open by no more than the rounding of a position counts as closed: nothing slides while it closes.
#[test]
fn sticks_on_a_round_surface() {
    for degrees in [5.0, 14.0, 26.0] {
        let angle = Real::to_radians(degrees);
        let normal = Vector3::new(-angle.sin(), angle.cos(), 0.0);
        for lift in [0.0, 1e-7, 5e-7] {
            let ball = RigidCollider::fixed(
                Entity::PLACEHOLDER,
                Arc::new(Sphere { radius: 1.0 }),
                Isometry3::identity(),
            );
            let mut world = World::new(normal * (1.001 + lift), Vector3::zeros(), vec![ball]);
            world.dt = 1e-4;
            let place = world.position();
            world.run(10_000);
            let crept = (world.position() - place).norm();
            assert!(crept < 1e-6, "{degrees}°, {lift} m up: crept {crept} m");
        }
    }
}

#[test]
fn push_up_an_incline_stops_and_stays() {
    let angle = Real::to_radians(20.0);
    let (normal, up) = (
        Vector3::new(-angle.sin(), angle.cos(), 0.0),
        Vector3::new(angle.cos(), angle.sin(), 0.0),
    );
    let mut world = World::new(normal * 0.001, up * 3.0, vec![tilted(angle)]);
    world.run(400);
    let way = world.position().dot(&up);
    assert!((way - 0.5650).abs() < 0.02 * 0.5650, "{way}");
    world.run(1000);
    assert!((world.position().dot(&up) - way).abs() < 1e-4);
    // All kinetic energy went into height and heat.
    let heat = 0.5 * 2.0 * 9.0 - 2.0 * 9.81 * f64::from(way) * 20f64.to_radians().sin();
    assert!(
        (world.tally.dissipated - heat).abs() < 0.01 * heat,
        "{} J instead of {heat}",
        world.tally.dissipated
    );
}

#[test]
fn narrow_wedge_holds() {
    let colliders = vec![tilted(1.3), tilted(-1.3)];
    let mut world = World::new(
        Vector3::new(0.0, 1.0, 0.0),
        Vector3::new(0.3, -50.0, 0.0),
        colliders,
    );
    world.run(2000);
    for angle in [1.3 as Real, -1.3] {
        let gap = world
            .position()
            .dot(&Vector3::new(-angle.sin(), angle.cos(), 0.0));
        assert!(gap > 0.0, "{gap}");
    }
    assert!(world.velocity().norm() < 0.1, "{}", world.velocity());
}

#[test]
fn moving_ground_carries_and_pushes() {
    let mut ground = ground();
    let velocity = Vector3::new(0.6, 0.3, 0.0);
    let mut world = World::new(
        Vector3::new(0.0, 0.001, 0.0),
        velocity,
        vec![ground.clone()],
    );
    for _ in 0..600 {
        ground.start_pose = ground.end_pose;
        ground.end_pose.translation.vector += velocity * world.dt;
        world.colliders[0] = ground.clone();
        world.run(1);
    }
    let expected = Vector3::new(0.6, 0.301, 0.0);
    assert!(
        (world.position() - expected).norm() < 2e-3,
        "{}",
        world.position()
    );
}

#[test]
fn teleported_ground_pushes_out_without_throwing() {
    let mut world = World::new(
        Vector3::new(0.0, -0.3, 0.0),
        Vector3::new(0.0, -1.0, 0.0),
        vec![ground()],
    );
    world.run(1);
    assert!((world.position().y - 0.001).abs() < 1e-5);
    assert!(world.velocity().norm() < 0.02, "{}", world.velocity());
}

#[test]
fn fast_particle_does_not_pass_a_small_ball() {
    let shape = Arc::new(Sphere { radius: 0.01 });
    let ball = RigidCollider::fixed(Entity::PLACEHOLDER, shape, Isometry3::identity());
    let mut world = World::new(
        Vector3::new(3.0, 0.0, 0.0),
        Vector3::new(-200.0, 0.0, 0.0),
        vec![ball],
    );
    world.gravity = Vector3::zeros();
    world.run(60);
    assert!(world.position().x > 0.0, "{}", world.position());
}

#[test]
fn momentum_is_shared_with_a_dynamic_ball() {
    let shape = Arc::new(Sphere { radius: 0.5 });
    let mut ball = RigidCollider::fixed(Entity::PLACEHOLDER, shape, Isometry3::identity());
    ball.body = Some(0);
    let mut world = World::new(
        Vector3::new(0.2, 1.0, 0.1),
        Vector3::new(0.0, -6.0, 0.0),
        vec![ball],
    );
    world.gravity = Vector3::zeros();
    world.bodies.push(RigidBodyState {
        entity: Entity::PLACEHOLDER,
        center_of_mass: Vector3::zeros(),
        linear_velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
        inverse_mass: Vector3::repeat(0.25),
        inverse_inertia: Matrix3::identity() * 2.5,
        linear_impulse: Vector3::zeros(),
        angular_impulse: Vector3::zeros(),
    });
    let before = world.velocity() * 2.0;
    world.run(100);
    let body = &world.bodies[0];
    assert!(body.linear_impulse.norm() > 1.0);
    let momentum = world.velocity() * 2.0 + body.linear_velocity * 4.0;
    assert!(
        (momentum - before).norm() < 1e-5 * before.norm(),
        "{momentum}"
    );
    let kinetic = world.velocity().norm_squared()
        + 2.0 * body.linear_velocity.norm_squared()
        + 0.2 * body.angular_velocity.norm_squared();
    let lost = f64::from(36.0 - kinetic);
    assert!(
        (world.tally.dissipated - lost).abs() < 1e-3 * lost,
        "{} J instead of {lost}",
        world.tally.dissipated
    );
}

#[test]
fn pinned_particle_is_left_alone() {
    let mut world = World::new(
        Vector3::new(0.0, -0.5, 0.0),
        Vector3::zeros(),
        vec![ground()],
    );
    world.gravity = Vector3::zeros();
    world.particles.hold(0);
    world.run(10);
    assert_eq!(world.position(), Vector3::new(0.0, -0.5, 0.0));
}
