//! Bad input: a clear message, nothing lost, every other body right.

use std::time::Duration;

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};

use crate::support::{assert_relative, state, ticks};

/// An app whose integrator is exact in free fall, as the witnesses' is checked.
fn app() -> App {
    let mut app = crate::support::app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER);
    app
}

fn block() -> TetrahedralMesh {
    TetrahedralMesh::block([0.2; 3], [2; 3], CellSplit::Six).expect("a block")
}

fn spawn(app: &mut App, name: &'static str, at: Vec3) -> Entity {
    app.world_mut()
        .spawn((
            Name::new(name),
            Solid::new(block()),
            PliantMaterial::JELLY,
            Transform::from_translation(at),
        ))
        .id()
}

/// Free fall of a witness: whatever happens to the others, this body falls as Galileo says.
fn assert_fell_freely(app: &App, witness: Entity, from: f64, seconds: f64) {
    let fallen = from - state(app, witness).center.y;
    assert_relative(
        "fall of the witness",
        fallen,
        0.5 * 9.81 * seconds * seconds,
        1e-3,
    );
}

fn reason(app: &App, body: Entity) -> Option<&str> {
    app.world()
        .get::<Quarantined>(body)
        .map(|quarantined| quarantined.reason.as_str())
}

#[test]
fn free_fall_is_exact() {
    let mut app = app();
    let witness = spawn(&mut app, "witness", Vec3::Y);
    ticks(&mut app, 30);
    assert_fell_freely(&app, witness, 1.0, 0.5);
}

#[test]
fn a_transform_that_is_not_a_number_is_refused_at_spawn() {
    let mut app = app();
    let witness = spawn(&mut app, "witness", Vec3::Y);
    let bad = spawn(&mut app, "bad", Vec3::new(f32::NAN, 0.0, 0.0));
    ticks(&mut app, 30);
    assert!(
        reason(&app, bad).is_some_and(|reason| reason.contains("not finite")),
        "{:?}",
        reason(&app, bad)
    );
    assert!(app.world().get::<Particles>(bad).is_none());
    assert_fell_freely(&app, witness, 1.0, 0.5);
}

#[test]
fn a_transform_that_becomes_not_a_number_leaves_the_body_where_it_was() {
    let mut app = app();
    let witness = spawn(&mut app, "witness", Vec3::Y);
    let other = spawn(&mut app, "other", Vec3::new(2.0, 1.0, 0.0));
    ticks(&mut app, 15);
    app.world_mut()
        .get_mut::<Transform>(other)
        .expect("a transform")
        .translation
        .y = f32::NAN;
    ticks(&mut app, 15);
    assert_fell_freely(&app, witness, 1.0, 0.5);
    assert_fell_freely(&app, other, 1.0, 0.5);
}

#[test]
fn a_transform_set_by_the_user_moves_the_body() {
    let mut app = app();
    let body = spawn(&mut app, "body", Vec3::Y);
    ticks(&mut app, 15);
    let before = state(&app, body).clone();
    app.world_mut()
        .get_mut::<Transform>(body)
        .expect("a transform")
        .translation
        .x += 5.0;
    ticks(&mut app, 1);
    let after = state(&app, body);
    assert_relative("the move", after.center.x - before.center.x, 5.0, 1e-5);
    assert!(
        (after.momentum.x - before.momentum.x).abs() < 1e-6,
        "a move is not a push"
    );
}

#[test]
fn a_particle_that_is_not_a_number_quarantines_its_body_only() {
    let mut app = app();
    let witness = spawn(&mut app, "witness", Vec3::Y);
    let bad = spawn(&mut app, "bad", Vec3::new(2.0, 1.0, 0.0));
    ticks(&mut app, 15);
    app.world_mut()
        .get_mut::<Particles>(bad)
        .expect("particles")
        .velocities[3]
        .y = Real::NAN;
    ticks(&mut app, 15);
    assert!(
        reason(&app, bad).is_some_and(|reason| reason.starts_with("particle 3")),
        "{:?}",
        reason(&app, bad)
    );
    assert!(
        app.world()
            .get::<Particles>(bad)
            .expect("particles")
            .first_non_finite()
            .is_none()
    );
    assert_fell_freely(&app, witness, 1.0, 0.5);

    app.world_mut().entity_mut(bad).remove::<Quarantined>();
    let before = state(&app, bad).center.y;
    ticks(&mut app, 15);
    assert!(
        state(&app, bad).center.y < before,
        "a body that is let go falls again"
    );
}

#[test]
fn a_force_that_is_not_a_number_quarantines_its_body_under_every_integrator() {
    #[derive(Component)]
    struct Cursed;
    for integrator in [
        Integrator::SYMPLECTIC_EULER,
        Integrator::RUNGE_KUTTA_FEHLBERG,
    ] {
        let mut app = app();
        app.insert_resource(integrator);
        app.add_systems(
            PliantForces,
            (|mut bodies: Query<&mut Particles, (With<Cursed>, Without<Quarantined>)>| {
                for mut particles in &mut bodies {
                    particles.forces[0].x = Real::NAN;
                }
            })
            .in_set(PliantStepSystems::AccumulateForces),
        );
        let witness = spawn(&mut app, "witness", Vec3::Y);
        let bad = spawn(&mut app, "bad", Vec3::new(2.0, 1.0, 0.0));
        app.world_mut().entity_mut(bad).insert(Cursed);
        ticks(&mut app, 30);
        assert!(reason(&app, bad).is_some(), "{integrator:?}");
        assert_fell_freely(&app, witness, 1.0, 0.5);
    }
}

#[test]
fn an_inverted_mesh_is_named_and_refused() {
    let mut app = app();
    let witness = spawn(&mut app, "witness", Vec3::Y);
    let mut mesh = block();
    mesh.tetrahedra[5].swap(0, 1);
    let bad = app
        .world_mut()
        .spawn((Name::new("inside out"), Solid::new(mesh)))
        .id();
    ticks(&mut app, 30);
    let reason = reason(&app, bad).expect("a reason");
    assert!(
        reason.contains('5') && reason.contains("inverted"),
        "{reason}"
    );
    assert_fell_freely(&app, witness, 1.0, 0.5);
}

#[test]
fn a_material_out_of_range_is_refused_at_spawn_and_ignored_later() {
    let mut app = app();
    let bad = app
        .world_mut()
        .spawn((Solid::new(block()), PliantMaterial::new(1e5, 0.5, 1000.0)))
        .id();
    let body = spawn(&mut app, "body", Vec3::Y);
    ticks(&mut app, 1);
    assert!(reason(&app, bad).is_some_and(|reason| reason.contains("poisson_ratio")));
    app.world_mut()
        .get_mut::<PliantMaterial>(body)
        .expect("a material")
        .young_modulus = -1.0;
    ticks(&mut app, 29);
    assert_fell_freely(&app, body, 1.0, 0.5);
}

#[test]
fn a_collider_despawned_in_contact_lets_the_body_fall() {
    let mut app = app();
    let ground = app
        .world_mut()
        .spawn((
            RigidBody::Fixed,
            Collider::cuboid(1.0, 0.1, 1.0),
            Transform::from_xyz(0.0, -0.1, 0.0),
        ))
        .id();
    let body = spawn(&mut app, "body", Vec3::new(0.0, 0.11, 0.0));
    ticks(&mut app, 60);
    let height = state(&app, body).center.y;
    assert!(height > 0.05, "the body rests on the ground, at {height}");
    app.world_mut().despawn(ground);
    ticks(&mut app, 60);
    assert!(state(&app, body).center.y < -2.0);
    assert!(reason(&app, body).is_none());
}

#[test]
fn ticks_of_a_second_are_as_right_as_short_ones() {
    let mut app = app();
    app.world_mut()
        .resource_mut::<Time<Fixed>>()
        .set_timestep(Duration::from_secs(1));
    // Bevy would otherwise cut a frame of a second to a quarter.
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_max_delta(Duration::from_secs(2));
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(1.0, 0.1, 1.0),
        Transform::from_xyz(3.0, -0.1, 0.0),
    ));
    let witness = spawn(&mut app, "witness", Vec3::Y);
    let lander = spawn(&mut app, "lander", Vec3::new(3.0, 1.0, 0.0));
    ticks(&mut app, 1);
    assert_fell_freely(&app, witness, 1.0, 1.0);
    ticks(&mut app, 4);
    assert!(
        state(&app, lander).center.y > 0.0,
        "the lander stays on the ground"
    );
    assert!(reason(&app, lander).is_none());
}

#[test]
fn broken_pins_hold_the_particle_and_harm_nobody() {
    let mut app = app();
    let support = app
        .world_mut()
        .spawn(Transform::from_xyz(0.0, 2.0, 0.0))
        .id();
    let body = spawn(&mut app, "hanging", Vec3::Y);
    app.world_mut().entity_mut(body).insert(Pins::new(vec![
        Pin {
            particle: 9_999,
            anchor: PinAnchor::Here,
        },
        Pin {
            particle: 0,
            anchor: PinAnchor::Attached(support),
        },
    ]));
    ticks(&mut app, 10);
    app.world_mut().despawn(support);
    let before = app
        .world()
        .get::<Particles>(body)
        .expect("particles")
        .positions[0];
    ticks(&mut app, 10);
    assert_eq!(
        app.world()
            .get::<Particles>(body)
            .expect("particles")
            .positions[0],
        before
    );
    app.world_mut().entity_mut(body).remove::<Pins>();
    ticks(&mut app, 10);
    assert!(
        app.world()
            .get::<Particles>(body)
            .expect("particles")
            .positions[0]
            .y
            < before.y
    );
}
