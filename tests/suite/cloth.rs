//! Cloth as a body: how far it stretches, what it keeps, and that a plane one stays plane unless told otherwise.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::{SheetCorner, SheetGrid};
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{app, app_at, state, ticks};

/// A square of one metre with `cells` cells along each side.
fn grid(cells: usize) -> SheetGrid {
    SheetGrid {
        size: [1.0, 1.0],
        cells: [cells; 2],
        pattern: SheetPattern::Herringbone,
    }
}

fn sheet(cells: usize) -> TriangleMesh {
    grid(cells).mesh().expect("a sheet")
}

/// An isotropic cloth of 10 kN/m.
fn stiff() -> Fabric {
    Fabric {
        areal_density: 0.2,
        shear_modulus: 1e4 / 2.6,
        poisson_ratio: 0.3,
        ..Fabric::COTTON.with_moduli(1e4, 1e4)
    }
}

fn hang(app: &mut App, cells: usize) -> Entity {
    let mesh = sheet(cells);
    let corners = [SheetCorner::BackLeft, SheetCorner::BackRight];
    let corners = corners.map(|corner| grid(cells).corner(corner));
    app.world_mut()
        .spawn((Cloth::new(mesh), stiff(), Pins::at(corners)))
        .id()
}

/// Largest strain of the threads.
fn elongation(app: &App, body: Entity, cells: usize) -> f64 {
    let x = &app
        .world()
        .get::<Particles>(body)
        .expect("a body")
        .positions;
    let row = cells + 1;
    let mut largest = 0.0_f64;
    for i in 0..row {
        for j in 0..cells {
            for (a, b) in [
                (i * row + j, i * row + j + 1),
                (j * row + i, (j + 1) * row + i),
            ] {
                let length = f64::from((x[a] - x[b]).norm());
                largest = largest.max(length * cells as f64 - 1.0);
            }
        }
    }
    largest
}

#[test]
fn a_hanging_cloth_hardly_stretches() {
    let mut app = app();
    let body = hang(&mut app, 32);
    let (mut largest, mut fallbacks) = (0.0_f64, 0);
    for _ in 0..180 {
        ticks(&mut app, 1);
        largest = largest.max(elongation(&app, body, 32));
        fallbacks += state(&app, body).solver.fallbacks;
    }
    println!(
        "largest elongation {:.2} %, {fallbacks} fallbacks",
        100.0 * largest
    );
    // While it swings down the corners are pulled hardest; after three seconds weight is all that is left.
    assert!(largest <= 0.02, "{largest}");
    let at_end = elongation(&app, body, 32);
    assert!(at_end <= 0.015, "{at_end}");
    assert_eq!(fallbacks, 0);
}

#[test]
fn a_plane_cloth_stays_plane_and_wrinkles_fold_it() {
    for (wrinkles, planar) in [(false, true), (true, false)] {
        let mut app = app();
        app.insert_resource(PliantGravity(Vec3::ZERO));
        let cloth = if wrinkles {
            Cloth::new(sheet(12))
        } else {
            Cloth::new(sheet(12)).without_wrinkles()
        };
        let body = app.world_mut().spawn((cloth, Fabric::COTTON)).id();
        // Pushed together within its plane.
        let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
        let particles = &mut *particles;
        for (velocity, position) in particles.velocities.iter_mut().zip(&particles.positions) {
            *velocity = Vector3::new(-position.x, 0.0, 0.0);
        }
        ticks(&mut app, 30);
        let particles = app.world().get::<Particles>(body).expect("a body");
        let out = particles.positions.iter().map(|x| x.y.abs());
        let out = out.fold(0.0, Real::max);
        assert_eq!(out == 0.0, planar, "{out}");
        assert!(planar || out > 1e-3, "{out}");
    }
}

/// A cloth that flies freely and flaps.
fn flying(app: &mut App) -> Entity {
    app.insert_resource(PliantGravity(Vec3::ZERO));
    let body = app
        .world_mut()
        .spawn((
            Cloth::new(sheet(12)),
            Fabric::COTTON,
            InitialMotion {
                linear_velocity: Vec3::new(1.0, 2.0, 0.5),
                angular_velocity: Vec3::new(1.0, 2.0, 3.0),
            },
        ))
        .id();
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    let particles = &mut *particles;
    for (velocity, position) in particles.velocities.iter_mut().zip(&particles.positions) {
        velocity.y += (6.0 * position.x).sin() * (5.0 * position.z).cos();
    }
    body
}

#[test]
fn a_flying_cloth_keeps_its_momenta() {
    for integrator in [Integrator::IMPLICIT, Integrator::SYMPLECTIC_EULER] {
        let mut app = app();
        app.insert_resource(integrator);
        let body = flying(&mut app);
        ticks(&mut app, 1);
        let start = state(&app, body).clone();
        ticks(&mut app, 120);
        let now = state(&app, body);
        let kept = if cfg!(feature = "f64") { 1e-9 } else { 2e-5 };
        let moved = (now.momentum - start.momentum).norm() / start.momentum.norm();
        let turned =
            (now.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm();
        println!("{integrator:?}: {moved:.1e}, {turned:.1e}");
        assert!(moved <= kept, "{moved}");
        assert!(turned <= kept, "{turned}");
    }
}

#[test]
fn the_account_of_a_damped_cloth_stays_level() {
    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER);
    let body = hang(&mut app, 8);
    ticks(&mut app, 1);
    let start = state(&app, body).energies;
    let mut exchanged = 0.0_f64;
    for _ in 0..90 {
        ticks(&mut app, 1);
        let now = state(&app, body).energies;
        exchanged = exchanged.max((now.gravitational - start.gravitational).abs());
        let error = (now.total() - start.total()).abs() / exchanged;
        assert!(error < 0.01, "{error}");
    }
    let dissipated = state(&app, body).energies.dissipated;
    assert!(dissipated > 0.0, "{dissipated}");
}

#[test]
fn small_implicit_steps_go_where_explicit_ones_go() {
    let positions = |integrator: Integrator, rate: f64| -> Vec<Vector3<Real>> {
        let mut app = app_at(rate);
        app.insert_resource(integrator);
        let body = hang(&mut app, 6);
        ticks(&mut app, (0.3 * rate) as usize);
        let particles = app.world().get::<Particles>(body).expect("a body");
        particles.positions.clone()
    };
    let reference = positions(Integrator::SYMPLECTIC_EULER, 240.0);
    let error = |rate: f64| {
        let found = positions(
            Integrator::Implicit {
                scheme: ImplicitScheme::RungeKutta,
                substeps: 1,
                iterations: 200,
                tolerance: 1e-5,
            },
            rate,
        );
        let pairs = found.iter().zip(&reference);
        pairs.fold(0.0, |most: f64, (a, b)| most.max(f64::from((a - b).norm())))
    };
    let (coarse, fine) = (error(120.0), error(960.0));
    println!("{coarse:.2e} m at 120 Hz, {fine:.2e} m at 960 Hz");
    assert!(fine < 2e-3, "{fine}");
    assert!(fine < 0.5 * coarse, "{fine} of {coarse}");
}

#[test]
fn a_cloth_that_cannot_be_simulated_is_reported_and_left_out() {
    let mut app = app();
    let mut mesh = sheet(2);
    mesh.triangles.push(mesh.triangles[0]);
    let bad_mesh = app.world_mut().spawn(Cloth::new(mesh)).id();
    let fabric = Fabric {
        areal_density: -1.0,
        ..Fabric::SILK
    };
    let bad_fabric = app.world_mut().spawn((Cloth::new(sheet(2)), fabric)).id();
    ticks(&mut app, 2);
    for body in [bad_mesh, bad_fabric] {
        let quarantined = app.world().get::<Quarantined>(body).expect("left out");
        println!("{}", quarantined.reason);
        assert!(app.world().get::<Particles>(body).is_none());
    }
}

#[test]
fn a_changed_fabric_is_taken_over() {
    let mut app = app();
    let body = hang(&mut app, 6);
    ticks(&mut app, 2);
    let before = app
        .world()
        .get::<Particles>(body)
        .expect("a body")
        .total_mass();
    let mut fabric = app.world_mut().get_mut::<Fabric>(body).expect("a fabric");
    fabric.areal_density *= 2.0;
    ticks(&mut app, 2);
    let after = app
        .world()
        .get::<Particles>(body)
        .expect("a body")
        .total_mass();
    assert!((after / before - 2.0).abs() < 1e-6, "{before} {after}");
}
