//! A body that nothing touches keeps its momenta and its energy.

use bevy::prelude::*;
use bevy_pliant::prelude::*;

use crate::support::{app, state, ticks};

/// A soft block, stretched, tossed and spinning: all its modes are at work.
fn tossed_block(app: &mut App) -> Entity {
    let mesh = TetrahedralMesh::block(
        [0.3, 0.2, 0.1],
        [6, 4, 2],
        bevy_pliant::mesh::CellSplit::Six,
    )
    .expect("a block");
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(5e4, 0.35, 1000.0),
            InitialMotion {
                linear_velocity: Vec3::new(1.0, 3.0, 0.5),
                angular_velocity: Vec3::new(2.0, 5.0, 1.0),
            },
        ))
        .id();
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    for position in &mut particles.positions {
        position.x *= 1.1;
    }
    body
}

struct Drift {
    momentum: f64,
    angular_momentum: f64,
    energy: f64,
}

fn fly(integrator: Integrator, seconds: usize) -> Drift {
    let mut app = app();
    app.insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let body = tossed_block(&mut app);
    ticks(&mut app, 1);
    let start = state(&app, body).clone();
    let mut range: f64 = 0.0;
    let mut worst: f64 = 0.0;
    for _ in 0..seconds * 60 {
        ticks(&mut app, 1);
        let energies = state(&app, body).energies;
        range = range.max((energies.kinetic - start.energies.kinetic).abs());
        worst = worst.max((energies.total() - start.energies.total()).abs());
    }
    let end = state(&app, body);
    Drift {
        momentum: (end.momentum - start.momentum).norm() / start.momentum.norm(),
        angular_momentum: (end.angular_momentum - start.angular_momentum).norm()
            / start.angular_momentum.norm(),
        energy: worst / range,
    }
}

#[test]
fn symplectic_euler_keeps_momenta_and_energy_over_ten_seconds() {
    let drift = fly(Integrator::SYMPLECTIC_EULER, 10);
    println!(
        "momentum {:.1e}, angular momentum {:.1e}, energy {:.1e}",
        drift.momentum, drift.angular_momentum, drift.energy
    );
    assert!(
        drift.momentum < 1e-6,
        "momentum drifted by {:.1e}",
        drift.momentum
    );
    assert!(
        drift.angular_momentum < 1e-4,
        "angular momentum drifted by {:.1e}",
        drift.angular_momentum
    );
    assert!(
        drift.energy < 0.02,
        "energy strayed by {:.1e} of what was exchanged",
        drift.energy
    );
}

#[test]
fn runge_kutta_fehlberg_keeps_momenta_and_energy() {
    let tight = Integrator::RungeKuttaFehlberg {
        // In single precision the forces themselves are rounded, which bounds the error estimate from below.
        tolerance: if cfg!(feature = "f64") { 1e-8 } else { 1e-2 },
        smallest_step: 1e-6,
        largest_step: 1.0 / 120.0,
        mass: MassMatrix::Consistent,
    };
    let drift = fly(tight, 10);
    println!(
        "momentum {:.1e}, angular momentum {:.1e}, energy {:.1e}",
        drift.momentum, drift.angular_momentum, drift.energy
    );
    // In single precision the forces themselves are rounded.
    let (momentum, angular, energy) = if cfg!(feature = "f64") {
        (1e-10, 1e-10, 1e-6)
    } else {
        (1e-6, 1e-4, 1e-3)
    };
    assert!(
        drift.momentum < momentum,
        "momentum drifted by {:.1e}",
        drift.momentum
    );
    assert!(
        drift.angular_momentum < angular,
        "angular momentum drifted by {:.1e}",
        drift.angular_momentum
    );
    assert!(
        drift.energy < energy,
        "energy strayed by {:.1e}",
        drift.energy
    );
}
