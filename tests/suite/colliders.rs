//! Contact with Rapier's colliders in a running app.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::body::{Particles, PliantState, SurfaceProperties};
use bevy_pliant::colliders::RigidColliders;
use bevy_pliant::step::{Integrator, PliantGravity, Substeps};
use bevy_rapier3d::prelude::{Collider, RapierConfiguration, Restitution, Sensor};
use nalgebra::Vector3;

use crate::support::{app, ticks};

mod moving;
mod walls;

const THICKNESS: Real = 1e-3;

fn vector(x: f64, y: f64, z: f64) -> Vector3<Real> {
    Vector3::new(x as Real, y as Real, z as Real)
}

/// An app with a fixed number of substeps.
fn app_with(substeps: u32) -> App {
    let mut app = app();
    app.insert_resource(Integrator::SymplecticEuler {
        substeps: Substeps::Fixed(substeps),
    });
    app
}

fn without_gravity(app: &mut App) {
    app.insert_resource(PliantGravity(Vec3::ZERO));
    let world = app.world_mut();
    for mut configuration in world.query::<&mut RapierConfiguration>().iter_mut(world) {
        configuration.gravity = Vec3::ZERO;
    }
}

/// Loose particles as one body, each of 1 kg.
fn spawn(
    app: &mut App,
    positions: Vec<Vector3<Real>>,
    velocity: Vector3<Real>,
    properties: SurfaceProperties,
) -> Entity {
    let count = positions.len();
    let mut particles = Particles::new(positions, vec![1.0; count]);
    particles.velocities.fill(velocity);
    app.world_mut().spawn((particles, properties)).id()
}

fn particles(app: &App, body: Entity) -> &Particles {
    app.world().get::<Particles>(body).expect("a body")
}

fn position(app: &App, body: Entity) -> Vector3<f64> {
    particles(app, body).positions[0].map(f64::from)
}

fn velocity(app: &App, body: Entity) -> Vector3<f64> {
    particles(app, body).velocities[0].map(f64::from)
}

/// A flat rectangle in the plane y = 0 of many triangles.
fn sheet(half_width: f32, count: u32) -> Collider {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    let along = |i: u32| (i as f32 / count as f32 * 2.0 - 1.0) * half_width;
    for i in 0..=count {
        for j in 0..=count {
            points.push(Vec3::new(along(i), 0.0, along(j)));
        }
    }
    let at = |i: u32, j: u32| i * (count + 1) + j;
    for i in 0..count {
        for j in 0..count {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i + 1, j)]);
        }
    }
    Collider::trimesh(points, triangles).expect("a mesh")
}

/// Every shape with its top at the origin of the world.
fn shapes() -> Vec<(&'static str, Collider, Vec3)> {
    let below = |depth: f32| Vec3::new(0.0, -depth, 0.0);
    let prism: Vec<Vec3> = [-1.0, 1.0]
        .into_iter()
        .flat_map(|z| {
            [
                Vec3::new(-1.0, 0.0, z),
                Vec3::new(1.0, 0.0, z),
                Vec3::new(0.0, -1.0, z),
            ]
        })
        .collect();
    vec![
        (
            "half-space",
            Collider::halfspace(Vec3::Y).expect("a direction"),
            below(0.0),
        ),
        ("ball", Collider::ball(0.5), below(0.5)),
        ("cuboid", Collider::cuboid(1.0, 0.5, 1.0), below(0.5)),
        ("capsule", Collider::capsule_y(0.5, 0.25), below(0.75)),
        ("cylinder", Collider::cylinder(0.5, 0.7), below(0.5)),
        ("cone", Collider::cone(0.1, 1.5), below(0.1)),
        (
            "hull",
            Collider::convex_hull(&prism).expect("a hull"),
            below(0.0),
        ),
        ("mesh", sheet(1.0, 7), below(0.0)),
        (
            "height field",
            Collider::heightfield(vec![0.0; 30], 5, 6, Vec3::new(2.0, 1.0, 2.0)),
            below(0.0),
        ),
        (
            "compound",
            Collider::compound(vec![(
                below(0.25),
                Quat::IDENTITY,
                Collider::cuboid(0.5, 0.25, 0.5),
            )]),
            below(0.0),
        ),
        (
            "rounded cuboid",
            Collider::round_cuboid(0.6, 0.3, 0.6, 0.2),
            below(0.5),
        ),
        (
            "rounded cylinder",
            Collider::round_cylinder(0.3, 0.5, 0.2),
            below(0.5),
        ),
    ]
}

#[test]
fn rests_on_each_shape() {
    for (name, collider, place) in shapes() {
        let mut app = app_with(4);
        app.world_mut()
            .spawn((collider, Transform::from_translation(place)));
        // The tops of ball and capsule are places of unstable rest, kept by friction.
        let body = spawn(
            &mut app,
            vec![vector(0.0, 0.2, 0.0)],
            Vector3::zeros(),
            SurfaceProperties::default(),
        );
        ticks(&mut app, 90);
        let (place, speed) = (position(&app, body), velocity(&app, body).norm());
        assert!(
            (place.y - f64::from(THICKNESS)).abs() < 1e-4,
            "{name}: rests at {place}"
        );
        assert!(speed < 0.05, "{name}: moves at {speed} m/s");
        assert_eq!(
            app.world()
                .get::<PliantState>(body)
                .map(|state| state.contacts),
            Some(1),
            "{name}"
        );
    }
}

#[test]
fn ramp_holds_below_the_friction_angle_and_lets_slide_above_it() {
    for (degrees, slides) in [(20.0f64, false), (25.5, false), (28.0, true), (40.0, true)] {
        let angle = degrees.to_radians();
        let mut app = app_with(4);
        let turn = Quat::from_rotation_z(angle as f32);
        app.world_mut().spawn((
            Collider::cuboid(20.0, 0.5, 2.0),
            Transform::from_rotation(turn),
        ));
        let start = vector(-angle.sin(), angle.cos(), 0.0) * (0.5 + THICKNESS);
        let body = spawn(
            &mut app,
            vec![start],
            Vector3::zeros(),
            SurfaceProperties::default(),
        );
        ticks(&mut app, 60);
        let slid = (position(&app, body) - start.map(f64::from)).norm();
        let expected = 0.5 * 9.81 * (angle.sin() - 0.5 * angle.cos());
        if slides {
            assert!(
                (slid - expected).abs() < 0.05 * expected,
                "{degrees}°: {slid} m instead of {expected} m"
            );
        } else {
            assert!(slid < 1e-3, "{degrees}°: slid {slid} m");
        }
    }
}

#[test]
fn push_up_an_incline_stops_and_stays() {
    let angle = 20f64.to_radians();
    let mut app = app_with(10);
    app.world_mut().spawn((
        Collider::cuboid(20.0, 0.5, 2.0),
        Transform::from_rotation(Quat::from_rotation_z(angle as f32)),
    ));
    let start = vector(-angle.sin(), angle.cos(), 0.0) * (0.5 + THICKNESS);
    let up = vector(angle.cos(), angle.sin(), 0.0);
    let body = spawn(
        &mut app,
        vec![start],
        up * 3.0,
        SurfaceProperties::default(),
    );
    let way = |app: &App| (position(app, body) - start.map(f64::from)).norm();
    ticks(&mut app, 22);
    assert!(velocity(&app, body).norm() > 0.05, "stops too early");
    ticks(&mut app, 2);
    let reached = way(&app);
    assert!((reached - 0.5650).abs() < 0.02 * 0.5650, "{reached} m");
    ticks(&mut app, 120);
    assert!((way(&app) - reached).abs() < 1e-3);
}

#[test]
fn bounce_height_follows_restitution() {
    let mut app = app_with(1);
    app.world_mut().spawn((
        Collider::cuboid(5.0, 0.5, 5.0),
        Restitution::coefficient(0.8),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let properties = SurfaceProperties {
        restitution: 0.8,
        ..default()
    };
    let height = 1.0;
    let start = vector(0.0, height + f64::from(THICKNESS), 0.0);
    let body = spawn(&mut app, vec![start], Vector3::zeros(), properties);
    // Free flight is exact, so the top follows from any state on the way.
    let top = |app: &App| {
        position(app, body).y - f64::from(THICKNESS) + velocity(app, body).y.powi(2) / (2.0 * 9.81)
    };
    let mut expected = height;
    let mut was_falling = true;
    let mut bounces = 0;
    for _ in 0..180 {
        ticks(&mut app, 1);
        let is_falling = velocity(&app, body).y < 0.0;
        if was_falling && !is_falling {
            bounces += 1;
            expected *= 0.64;
        }
        was_falling = is_falling;
        assert!(
            (top(&app) - expected).abs() < 2e-5,
            "bounce {bounces}: {} m instead of {expected} m",
            top(&app)
        );
        if bounces == 4 {
            return;
        }
    }
    panic!("only {bounces} bounces");
}

#[test]
fn despawned_collider_is_gone_next_tick() {
    let mut app = app_with(1);
    let ground = app
        .world_mut()
        .spawn((
            Collider::cuboid(5.0, 0.5, 5.0),
            Transform::from_xyz(0.0, -0.5, 0.0),
        ))
        .id();
    let body = spawn(
        &mut app,
        vec![vector(0.0, 0.001, 0.0)],
        Vector3::zeros(),
        SurfaceProperties::default(),
    );
    ticks(&mut app, 30);
    assert!(position(&app, body).y > 0.0);
    app.world_mut().despawn(ground);
    ticks(&mut app, 1);
    assert!(
        app.world()
            .resource::<RigidColliders>()
            .colliders
            .is_empty()
    );
    ticks(&mut app, 30);
    assert!(position(&app, body).y < -1.0, "{}", position(&app, body));
}

#[test]
fn collider_spawned_on_a_particle_pushes_it_out_gently() {
    let mut app = app_with(4);
    without_gravity(&mut app);
    let body = spawn(
        &mut app,
        vec![vector(0.0, -0.1, 0.0)],
        Vector3::zeros(),
        SurfaceProperties::default(),
    );
    ticks(&mut app, 2);
    app.world_mut().spawn((
        Collider::cuboid(5.0, 0.5, 5.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    ticks(&mut app, 2);
    assert!(
        (position(&app, body).y - f64::from(THICKNESS)).abs() < 1e-5,
        "{}",
        position(&app, body)
    );
    assert!(
        velocity(&app, body).norm() < 1e-6,
        "{}",
        velocity(&app, body)
    );
}

#[test]
fn sensors_are_passed_by() {
    let mut app = app_with(1);
    app.world_mut().spawn((
        Collider::cuboid(5.0, 0.5, 5.0),
        Sensor,
        Transform::default(),
    ));
    app.world_mut()
        .spawn((Collider::ball(0.5), Transform::from_xyz(9.0, 9.0, 9.0)));
    ticks(&mut app, 2);
    assert_eq!(app.world().resource::<RigidColliders>().colliders.len(), 1);
}
