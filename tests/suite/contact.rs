//! Contact of deformable bodies with each other and with themselves.

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use bevy_pliant::state_hash;
use nalgebra::Vector3;

use crate::scenes::crossings;
use crate::scenes::headless_app;
use crate::support::{app, cube, hash_of_child, momentum, sheet, state, ticks};

fn weightless(app: &mut App) {
    app.insert_resource(PliantGravity(Vec3::ZERO));
}

#[test]
fn two_cubes_collide_without_crossing_and_keep_their_momentum() {
    let mut app = app();
    weightless(&mut app);
    let left = cube(&mut app, 0.2, 4, Vec3::ZERO, Vec3::X * 3.0);
    let right = cube(
        &mut app,
        0.2,
        4,
        Vec3::new(0.26, 0.05, 0.03),
        Vec3::X * -1.0,
    );
    ticks(&mut app, 1);
    let before = momentum(&app, &[left, right]);
    let angular = |app: &App| -> Vector3<f64> {
        [left, right]
            .iter()
            .map(|&body| {
                let state = state(app, body);
                state.angular_momentum + state.center.cross(&state.momentum)
            })
            .sum()
    };
    let turning = angular(&app);
    let mut contacts = 0;
    for _ in 0..60 {
        ticks(&mut app, 1);
        assert_eq!(crossings(app.world_mut()), 0);
        contacts = contacts.max(state(&app, left).contact.contacts);
    }
    let error = (momentum(&app, &[left, right]) - before).norm() / before.norm();
    let turned = (angular(&app) - turning).norm() / before.norm();
    println!("{contacts} contacts, momentum {error:.1e}, angular momentum {turned:.1e} m");
    println!(
        "{:?} {:?}",
        state(&app, left).contact,
        state(&app, left).momentum
    );
    assert!(contacts > 20);
    assert!(error < 1e-6, "{error:e}");
    // They have met: the left one has lost most of its speed.
    assert!(state(&app, left).momentum.x < 0.7 * 3.0 * 4.0);
    assert!(state(&app, right).momentum.x > 0.0);
}

#[test]
fn cloth_falls_on_a_block_and_on_a_second_cloth() {
    let mut app = app();
    let block = cube(&mut app, 0.4, 6, Vec3::ZERO, Vec3::ZERO);
    let held = {
        let particles = app.world().get::<Particles>(block).expect("a body");
        let lowest = particles.positions.iter().enumerate();
        lowest
            .filter(|(_, place)| place.y < -0.19)
            .map(|(index, _)| index as u32)
            .collect::<Vec<_>>()
    };
    app.world_mut().entity_mut(block).insert(Pins::at(held));
    let lower = sheet(
        &mut app,
        Fabric::COTTON,
        0.7,
        24,
        Vec3::new(0.0, 0.25, 0.0),
        Vec3::ZERO,
    );
    let upper = sheet(
        &mut app,
        Fabric::COTTON,
        0.5,
        20,
        Vec3::new(0.05, 0.32, 0.02),
        Vec3::ZERO,
    );
    for tick in 0..90 {
        ticks(&mut app, 1);
        let count = crossings(app.world_mut());
        assert_eq!(count, 0, "after {tick} ticks");
    }
    for body in [block, lower, upper] {
        println!(
            "{:?} {:?}",
            state(&app, body).contact,
            state(&app, body).center
        );
    }
    // Both lie on the block.
    for body in [lower, upper] {
        assert!(state(&app, body).contact.contacts > 50);
        assert!(state(&app, body).center.y > 0.0);
    }
}

#[test]
fn thin_sheets_at_fifty_meters_per_second_stop_each_other() {
    let mut app = app();
    weightless(&mut app);
    let speed = 50.0;
    let left = sheet(
        &mut app,
        Fabric::COTTON,
        0.3,
        10,
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::Y * speed,
    );
    let right = sheet(
        &mut app,
        Fabric::COTTON,
        0.3,
        10,
        Vec3::new(0.02, 1.9, 0.01),
        Vec3::Y * -speed,
    );
    let mass = app
        .world()
        .get::<Particles>(left)
        .expect("a body")
        .total_mass();
    for tick in 0..20 {
        ticks(&mut app, 1);
        assert_eq!(crossings(app.world_mut()), 0);
        // They meet within the second tick, and crumple. Through each other they would be meters apart.
        if tick < 5 {
            let [below, above] = [left, right].map(|body| state(&app, body).center.y);
            assert!(below < above + 0.05, "after {tick} ticks: {below} {above}");
        }
    }
    for body in [left, right] {
        println!(
            "{:?} {:?}",
            state(&app, body).contact,
            state(&app, body).momentum
        );
    }
    let total = momentum(&app, &[left, right]).norm();
    assert!(total < 1e-6 * mass * f64::from(speed), "{total:e}");
}

#[test]
fn cloth_folds_onto_itself_without_crossing() {
    let mut app = app();
    // A strip that hangs from one end above a table, onto which it is lowered: it lays itself in folds.
    let table = cube(&mut app, 0.5, 4, Vec3::new(0.0, -0.27, 0.0), Vec3::ZERO);
    let count = app.world().get::<Particles>(table).expect("a body").len() as u32;
    app.world_mut().entity_mut(table).insert(Pins::at(0..count));
    let mesh = TriangleMesh::sheet([0.12, 0.9], [6, 45], SheetPattern::Herringbone);
    let upright = Quat::from_rotation_x(-1.5);
    let strip = app
        .world_mut()
        .spawn((
            Cloth::new(mesh.expect("a sheet")),
            Fabric::COTTON,
            Transform::from_xyz(0.0, 0.47, 0.0).with_rotation(upright),
        ))
        .id();
    let mut contacts = 0;
    for tick in 0..90 {
        ticks(&mut app, 1);
        assert_eq!(crossings(app.world_mut()), 0, "after {tick} ticks");
        contacts = contacts.max(state(&app, strip).contact.contacts);
    }
    let report = state(&app, strip);
    println!("{contacts} {:?} {:?}", report.contact, report.center);
    assert!(report.contact.smallest_gap > 0.0);
    assert_eq!(report.contact.intersections, 0);
    // Higher than a single layer would lie.
    assert!(contacts > 50);
}

#[test]
fn bodies_that_are_placed_in_each_other_come_apart_or_stay_but_break_nothing() {
    let mut app = app();
    weightless(&mut app);
    let left = cube(&mut app, 0.2, 3, Vec3::ZERO, Vec3::ZERO);
    let right = cube(&mut app, 0.2, 3, Vec3::new(0.15, 0.03, 0.02), Vec3::X);
    ticks(&mut app, 1);
    assert!(state(&app, left).contact.intersections > 0);
    ticks(&mut app, 30);
    // They fly apart as they would alone: what intersects is exempt.
    assert_eq!(crossings(app.world_mut()), 0);
    assert_eq!(state(&app, left).contact.intersections, 0);
    assert!(state(&app, right).center.x > 0.4);
}

#[test]
fn contact_can_be_switched_off() {
    let mut app = app();
    weightless(&mut app);
    let left = cube(&mut app, 0.2, 3, Vec3::ZERO, Vec3::ZERO);
    let right = cube(&mut app, 0.2, 3, Vec3::new(0.3, 0.03, 0.02), Vec3::NEG_X);
    app.world_mut().entity_mut(right).insert(BodyContact::NONE);
    ticks(&mut app, 60);
    assert!((state(&app, right).center.x + 0.7).abs() < 0.02);
    assert!(state(&app, left).momentum.norm() < 1e-6);
    assert_eq!(state(&app, left).contact.pairs, 0);
}

/// In the environment of a child process: how many threads it uses.
const THREADS: &str = "PLIANT_TEST_CONTACT_THREADS";

/// Several islands, and one whose bodies are large enough to be shared between threads.
fn crowded_world(threads: usize) -> u64 {
    let mut app = headless_app(Some(threads));
    app.finish();
    app.cleanup();
    for group in 0..3_u8 {
        for level in 0..3_u8 {
            let cells = if group == 0 && level == 0 { 12 } else { 3 };
            let place = Vec3::new(f32::from(group), f32::from(level) * 0.23, 0.01);
            cube(&mut app, 0.2, cells, place, Vec3::NEG_Y * f32::from(level));
        }
    }
    sheet(
        &mut app,
        Fabric::COTTON,
        0.5,
        16,
        Vec3::new(0.0, 0.62, 0.0),
        Vec3::NEG_Y * 2.0,
    );
    ticks(&mut app, 40);
    state_hash(app.world_mut())
}

#[test]
fn any_number_of_threads_gives_the_same_contacts() {
    const NAME: &str = "contact::any_number_of_threads_gives_the_same_contacts";
    let threads = std::env::var(THREADS).ok();
    if let Some(threads) = threads.and_then(|threads| threads.parse().ok()) {
        println!("\nhash {:016x}", crowded_world(threads));
        return;
    }
    let hashes = ["1", "2", "8"].map(|threads| hash_of_child(NAME, &[(THREADS, threads)]));
    println!("1, 2 and 8 threads: {hashes:?}");
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}
