//! Pressure: a spherical membrane in closed form, the energy account, and surfaces that hold nothing.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{app, assert_relative, state, ticks};

const RADIUS: f64 = 0.15;
/// Young's modulus times thickness, N/m.
const TENSION: f64 = 450.0;
const POISSON: f64 = 0.45;

/// Rubber, 0.3 mm thick.
fn fabric() -> Fabric {
    let thickness = 3e-4;
    Fabric {
        membrane_damping: 5e-3,
        ..Fabric::sheet(
            (TENSION / thickness) as Real,
            POISSON as Real,
            1000.0,
            thickness as Real,
        )
    }
}

fn balloon(app: &mut App, subdivisions: usize, pressure: Pressure) -> Entity {
    app.insert_resource(PliantGravity(Vec3::ZERO));
    let mesh = TriangleMesh::sphere(RADIUS, subdivisions).expect("a sphere");
    let cloth = Cloth::new(mesh).without_wrinkles();
    app.world_mut().spawn((cloth, fabric(), pressure)).id()
}

fn volume(app: &App, body: Entity) -> f64 {
    let entity = app.world().entity(body);
    let particles = entity.get::<Particles>().expect("a body");
    Pressure::volume(particles, entity.get::<Surface>().expect("a surface"))
}

/// Pressure that holds a spherical membrane stretched by λ: p = 2 T/(λ R), T = E t/(1 − ν) (λ² − 1)/2.
fn laplace(stretch: f64) -> f64 {
    TENSION / ((1.0 - POISSON) * RADIUS) * (stretch * stretch - 1.0) / stretch
}

/// The stretch at which a falling function vanishes.
fn solve(missing: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1.0, 4.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if missing(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[test]
fn a_balloon_is_as_large_as_laplace_says() {
    for (what, pressure, expected) in [
        (
            "1 kPa",
            Pressure::constant(1e3),
            solve(|s| 1e3 - laplace(s)),
        ),
        (
            "3 kPa",
            Pressure::constant(3e3),
            solve(|s| 3e3 - laplace(s)),
        ),
        (
            "twice the air",
            Pressure::gas(Pressure::ATMOSPHERE),
            solve(|s| {
                let air = f64::from(Pressure::ATMOSPHERE);
                2.0 * air / s.powi(3) - air - laplace(s)
            }),
        ),
    ] {
        let mut app = app();
        let body = balloon(&mut app, 8, pressure);
        let rest = volume(&app, body);
        let mut fallbacks = 0;
        for _ in 0..240 {
            ticks(&mut app, 1);
            fallbacks += state(&app, body).solver.fallbacks;
        }
        let stretch = (volume(&app, body) / rest).cbrt();
        println!(
            "{what}: stretch {stretch:.4} of {expected:.4}, {fallbacks} fallbacks, {} iterations",
            state(&app, body).solver.iterations
        );
        assert_relative("stretch", stretch, expected, 0.01);
        // Still a sphere, in the same place.
        let particles = app.world().get::<Particles>(body).expect("a body");
        let radii = particles.positions.iter().map(|x| x.cast::<f64>().norm());
        let (low, high) = radii.fold((f64::INFINITY, 0.0_f64), |(low, high), radius| {
            (low.min(radius), high.max(radius))
        });
        assert!(high / low < 1.02, "{low} to {high}");
        let speed = particles.velocities.iter().map(Vector3::norm);
        assert!(speed.fold(0.0, Real::max) < 1e-2);
    }
}

#[test]
fn the_account_of_a_balloon_stays_level() {
    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER);
    let body = balloon(&mut app, 3, Pressure::gas(2e4));
    // Slack and at rest the account starts with nothing.
    let (mut kinetic, mut worst) = (0.0_f64, 0.0_f64);
    for _ in 0..60 {
        ticks(&mut app, 1);
        let now = state(&app, body).energies;
        kinetic = kinetic.max(now.kinetic);
        worst = worst.max(now.total().abs());
    }
    // The gas has let go of what the rubber and its friction took.
    let energies = state(&app, body).energies;
    println!(
        "{:.3} J released, {kinetic:.3} J in motion, account off by {worst:.1e} J",
        -energies.elastic
    );
    assert!(energies.elastic < 0.0 && energies.dissipated > 0.0);
    assert!(worst < 0.01 * energies.dissipated, "{worst}");
}

#[test]
fn a_pressed_balloon_comes_back_and_keeps_its_momenta() {
    let mut app = app();
    let body = balloon(&mut app, 6, Pressure::gas(Pressure::ATMOSPHERE));
    ticks(&mut app, 120);
    let full = volume(&app, body);
    let height = |app: &App| {
        let particles = app.world().get::<Particles>(body).expect("a body");
        let heights = particles.positions.iter().map(|x| x.y);
        f64::from(heights.fold(0.0, Real::max))
    };
    let round = height(&app);
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    let particles = &mut *particles;
    let mut start = Vector3::zeros();
    let flat: Real = 0.7;
    let scale = Vector3::new(flat.sqrt().recip(), flat, flat.sqrt().recip());
    for i in 0..particles.len() {
        let velocity = Vector3::new(1.0, 0.25, 0.5);
        start += velocity.cast::<f64>() * f64::from(particles.masses()[i]);
        particles.velocities[i] = velocity;
        particles.positions[i].component_mul_assign(&scale);
    }
    let (mut smallest, mut largest) = (full, full);
    for _ in 0..240 {
        ticks(&mut app, 1);
        let now = volume(&app, body);
        (smallest, largest) = (smallest.min(now), largest.max(now));
    }
    let change = (state(&app, body).momentum - start).norm() / start.norm();
    println!(
        "volume from {:.4} to {:.4}, momentum {change:.1e}",
        smallest / full,
        largest / full,
    );
    assert!(change < 2e-5, "{change}");
    // It has flown by a metre for each second.
    let drift = 0.25 * 240.0 / 60.0;
    assert_relative("height", height(&app) - drift, round, 0.01);
    assert_relative("volume", volume(&app, body), full, 1e-3);
    // Drawn out to 1.5 times its rest length, rubber presses with 4.5 kPa; twice that, if it swings in, is 9 kPa, a
    // twelfth of what the gas has.
    assert!(smallest > full / 1.09 && largest < 1.01 * full);
}

#[test]
fn an_open_surface_holds_no_pressure() {
    let mut app = app();
    app.insert_resource(PliantGravity(Vec3::ZERO));
    let mut mesh = TriangleMesh::sphere(RADIUS, 3).expect("a sphere");
    mesh.triangles.pop();
    mesh.corner_coordinates.as_mut().expect("a texture").pop();
    let open = Cloth::new(mesh).without_wrinkles();
    let mut inward = TriangleMesh::sphere(RADIUS, 3).expect("a sphere");
    for triangle in &mut inward.triangles {
        triangle.swap(0, 1);
    }
    let inward = Cloth::new(inward).without_wrinkles();
    for cloth in [open, inward] {
        let body = app
            .world_mut()
            .spawn((cloth, fabric(), Pressure::constant(1e4)))
            .id();
        let rest = volume(&app, body);
        ticks(&mut app, 30);
        assert_relative("volume", volume(&app, body), rest, 1e-3);
        let pressure = app.world().get::<Pressure>(body).expect("a pressure");
        assert_eq!(pressure.at(rest), 0.0);
    }
}

#[test]
fn a_torn_balloon_is_empty() {
    let mut app = app();
    let body = balloon(&mut app, 6, Pressure::constant(2e4));
    app.world_mut()
        .entity_mut(body)
        .insert(Tearing::beyond(0.5));
    ticks(&mut app, 60);
    let pressure = app.world().get::<Pressure>(body).expect("a pressure");
    assert_eq!(pressure.at(1.0), 0.0);
    let state = state(&app, body);
    assert!(state.topology_version > 0, "it has torn");
    assert!(app.world().get::<Quarantined>(body).is_none());
}
