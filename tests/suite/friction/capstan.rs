//! A rope over a fixed round bar: Euler's and Eytelwein's exp(μ φ).

use std::f64::consts::PI;

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, Friction, RigidBody};
use nalgebra::Vector3;

use super::{particles, surface};
use crate::support::{analytic_case, app_at, assert_relative, ticks};

const RATE: f64 = 240.0;
const FRICTION: f64 = 0.3;
/// Radius of the bar, m.
const RADIUS: f64 = 1.0;
/// Distance of the rope from the bar, m: the default thickness of surfaces.
const GAP: f64 = 1e-3;
/// Length of each end that hangs free, m.
const TAIL: f64 = 0.5;
/// Thickness and width of the rope, m.
const SECTION: [f64; 2] = [0.05, 0.1];
/// Pull at the light end, N: it strains the rope by half a per cent.
const LIGHT: f64 = 20.0;

/// The particles of the light and of the heavy end, and the downward pull of each, N.
#[derive(Resource)]
struct Weights {
    ends: [Vec<u32>; 2],
    pulls: [f64; 2],
}

fn hang(weights: Res<Weights>, mut bodies: Query<&mut Particles>) {
    for mut particles in &mut bodies {
        for (end, pull) in weights.ends.iter().zip(weights.pulls) {
            for &particle in end {
                particles.forces[particle as usize].y -= (pull / end.len() as f64) as Real;
            }
        }
    }
}

/// A strip bent over the upper half of the bar, both ends hanging down, without stress: the light end at negative x.
fn rope() -> TetrahedralMesh {
    let inner = RADIUS + GAP;
    let length = PI * inner + 2.0 * TAIL;
    let [thickness, width] = SECTION;
    let mut mesh = TetrahedralMesh::block([length, thickness, width], [80, 1, 1], CellSplit::Five)
        .expect("a strip");
    for position in &mut mesh.positions {
        let height = inner + position.y + 0.5 * thickness;
        let angle = (position.x / inner).clamp(-0.5 * PI, 0.5 * PI);
        let hanging = position.x - angle * inner;
        let (outward, onward) = (
            Vector3::new(angle.sin(), angle.cos(), 0.0),
            Vector3::new(angle.cos(), -angle.sin(), 0.0),
        );
        *position = outward * height + onward * hanging + Vector3::z() * position.z;
    }
    mesh
}

/// The bar with the rope, weightless but for the pulls at its ends; air keeps it from swinging along itself.
fn rope_over_bar() -> (App, Entity) {
    let mut app = app_at(RATE);
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .insert_resource(PliantGravity(Vec3::ZERO))
        .add_systems(
            PliantForces,
            hang.in_set(PliantStepSystems::AccumulateForces),
        );
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cylinder(0.5, RADIUS as f32),
        Friction::coefficient(FRICTION as f32),
        Transform::from_rotation(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2)),
    ));
    let mesh = rope();
    let end = |sign: f64| -> Vec<u32> {
        (0..)
            .zip(&mesh.positions)
            .filter(|(_, position)| position.x * sign > 0.0 && position.y < -TAIL + 1e-6)
            .map(|(particle, _)| particle)
            .collect()
    };
    app.insert_resource(Weights {
        ends: [end(-1.0), end(1.0)],
        pulls: [0.0; 2],
    });
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(1e6, 0.0, 100.0)
                .with_model(ElasticModel::Corotational)
                .with_viscosity(25.0, 25.0),
            surface(FRICTION),
            AirDrag {
                coefficient: 0.0,
                viscous_rate: 5.0,
                ..default()
            },
        ))
        .id();
    (app, body)
}

fn end_of(app: &App, end: usize) -> Vec<u32> {
    app.world().resource::<Weights>().ends[end].clone()
}

/// Mean height of an end, m.
fn height(app: &App, body: Entity, end: usize) -> f64 {
    let end = end_of(app, end);
    let particles = particles(app, body);
    end.iter()
        .map(|&particle| f64::from(particles.positions[particle as usize].y))
        .sum::<f64>()
        / end.len() as f64
}

fn ratio() -> f64 {
    let ratio = (FRICTION * PI).exp();
    if let Some(case) = analytic_case("capstan") {
        let expected = case["expected"]["slip_tension_ratio"].as_f64();
        assert_relative("closed form", ratio, expected.expect("a number"), 1e-12);
    }
    ratio
}

/// The tolerance of the reference.
const TOLERANCE: f64 = 0.05;

#[test]
fn a_rope_that_slides_over_a_bar_is_pulled_by_exp_mu_phi_times_what_it_pulls() {
    const SPEED: f64 = 0.02;
    let expected = ratio();
    let (mut app, body) = rope_over_bar();
    let held = end_of(&app, 1);
    let rest: Vec<Vec3> = held
        .iter()
        .map(|&particle| {
            let place = particles(&app, body).positions[particle as usize];
            Vec3::new(place.x as f32, place.y as f32, place.z as f32)
        })
        .collect();
    let pins = |time: f64| {
        let down = Vec3::Y * (SPEED * time) as f32;
        let pin = |(&particle, &place): (&u32, &Vec3)| Pin {
            particle,
            anchor: PinAnchor::World(place - down),
        };
        held.iter().zip(&rest).map(pin).collect::<Vec<_>>()
    };
    app.world_mut()
        .entity_mut(body)
        .insert(Pins::new(pins(0.0)));
    let mut ratios = Vec::new();
    let mut start = 0.0;
    for tick in 1..=(3.0 * RATE) as usize {
        let time = tick as f64 / RATE;
        app.world_mut().resource_mut::<Weights>().pulls[0] = LIGHT * (2.0 * time).min(1.0);
        app.world_mut().get_mut::<Pins>(body).expect("pins").pins = pins(time);
        ticks(&mut app, 1);
        // By two seconds the stretch has gone all the way round, and every part of the rope slides.
        if time <= 2.0 {
            start = height(&app, body, 0);
            continue;
        }
        let forces = &particles(&app, body).forces;
        let reaction: f64 = held
            .iter()
            .map(|&particle| f64::from(forces[particle as usize].y))
            .sum();
        ratios.push(reaction / LIGHT);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let risen = height(&app, body, 0) - start;
    println!(
        "tension ratio {mean:.4}, closed form {expected:.4}; the light end rose by {risen:.4} m"
    );
    assert_relative("speed of the light end", risen, SPEED, TOLERANCE);
    assert_relative("tension ratio", mean, expected, TOLERANCE);
    for ratio in ratios {
        assert_relative("tension ratio on the way", ratio, expected, TOLERANCE);
    }
}

#[test]
fn a_rope_over_a_bar_holds_up_to_exp_mu_phi_times_the_lighter_weight() {
    let limit = ratio();
    for (share, slips) in [(1.0 - TOLERANCE, false), (1.0 + TOLERANCE, true)] {
        let (mut app, body) = rope_over_bar();
        for tick in 1..=(2.0 * RATE) as usize {
            let part = (tick as f64 / RATE).min(1.0);
            // Both alike first, so that the rope lies firm before the difference grows.
            let heavy = 1.0 + (limit * share - 1.0) * (tick as f64 / RATE - 1.0).max(0.0);
            app.world_mut().resource_mut::<Weights>().pulls = [LIGHT * part, LIGHT * part * heavy];
            ticks(&mut app, 1);
        }
        ticks(&mut app, RATE as usize);
        let start = height(&app, body, 0);
        ticks(&mut app, 2 * RATE as usize);
        let risen = height(&app, body, 0) - start;
        println!(
            "{:.3} times the lighter weight: the light end rises by {risen:.2e} m in 2 s",
            limit * share
        );
        if slips {
            assert!(risen > 0.1, "rose by {risen} m");
        } else {
            assert!(risen.abs() < 1e-4, "rose by {risen} m");
        }
    }
}
