//! Pins from painted colors, as the example makes them.

use bevy::prelude::*;
use bevy_pliant::prelude::*;

use crate::support::{app, ticks};

#[expect(dead_code, reason = "the window of the example")]
#[path = "../../examples/painted_pins.rs"]
mod example;

#[test]
fn what_is_painted_red_hangs_and_the_rest_sags() {
    let mut app = app();
    let (cloth, pins) = example::painted_cloth(&example::painted_mesh()).expect("a canopy");
    let held: Vec<usize> = pins.pins.iter().map(|pin| pin.particle as usize).collect();
    // Four corners of three or more vertices, and a spot in the middle.
    let rest = cloth.mesh().positions.clone();
    for [x, z] in [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [0.0; 2]] {
        let is_near = |index: &&usize| {
            let place = rest[**index];
            (place.x - x).hypot(place.z - z) < 0.1
        };
        assert!(held.iter().filter(is_near).count() >= 3, "at {x}, {z}");
    }
    assert!(held.len() < rest.len() / 10, "{} pins", held.len());
    let body = app
        .world_mut()
        .spawn((cloth, pins, Fabric::COTTON, Aerodynamic::default()))
        .id();
    ticks(&mut app, 60);
    let particles = app.world().get::<Particles>(body).expect("a canopy");
    let fallen = |index: usize| rest[index].y - f64::from(particles.positions[index].y);
    for &index in &held {
        assert_eq!(fallen(index), 0.0, "pin {index}");
    }
    let free = (0..rest.len()).filter(|index| !held.contains(index));
    let deepest = free.map(fallen).fold(0.0, f64::max);
    println!("{} pins, sags by {deepest:.3} m", held.len());
    assert!(deepest > 0.05 && deepest < 1.0, "{deepest}");
}
