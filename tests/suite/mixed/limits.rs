//! Limits of strain on bodies.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::kernel::cloth::strain_limit::Line;
use bevy_pliant::prelude::*;

use super::{fabric, let_go, particles, sheet};
use crate::support::{app, state, ticks};

const INTEGRATORS: [Integrator; 2] = [Integrator::MIXED, Integrator::SYMPLECTIC_EULER];

fn velocities(sweeps: u32) -> StrainLimit {
    StrainLimit::Velocities {
        stretch: 0.1,
        compression: None,
        rate: None,
        sweeps,
        line: Line::Predicted,
    }
}

/// Largest strain of the edges.
fn strain(app: &App, body: Entity) -> f64 {
    let world = app.world();
    let (mesh, now) = (
        world.get::<Cloth>(body).expect("a cloth").mesh(),
        &particles(app, body).positions,
    );
    let edges = mesh.topology().expect("a mesh").edges;
    let strains = edges.iter().map(|edge| {
        let [a, b] = edge.vertices.map(|vertex| vertex as usize);
        let length = f64::from((now[a] - now[b]).norm());
        length / (mesh.positions[a] - mesh.positions[b]).norm() - 1.0
    });
    strains.fold(0.0, f64::max)
}

/// A weak sheet that hangs from two corners; its weight alone would stretch it far.
fn hang(app: &mut App, integrator: Integrator, limit: Option<StrainLimit>) -> Entity {
    app.insert_resource(integrator);
    let air = AirDrag {
        viscous_rate: 2.0,
        ..default()
    };
    let upright = Transform::from_rotation(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
    let mut body = app
        .world_mut()
        .spawn((sheet(), fabric(0.01), Pins::at([0, 4]), air, upright));
    if let Some(limit) = limit {
        body.insert(limit);
    }
    body.id()
}

#[test]
fn limits_hold_a_weak_sheet() {
    for integrator in INTEGRATORS {
        let largest = |limit| {
            let mut app = app();
            let body = hang(&mut app, integrator, limit);
            let mut largest = 0.0_f64;
            for _ in 0..120 {
                ticks(&mut app, 1);
                largest = largest.max(strain(&app, body));
            }
            (largest, strain(&app, body))
        };
        let free = largest(None);
        let limited = [
            StrainLimit::Positions {
                stretch: 0.1,
                sweeps: 20,
            },
            velocities(20),
        ]
        .map(|limit| largest(Some(limit)));
        println!("{}: {free:.3?} without, {limited:.3?}", integrator.name());
        assert!(free.0 > 0.3, "{free:?}");
        for (all, last) in limited {
            assert!(all < 0.12 && last < 0.105, "{limited:?}");
        }
    }
}

#[test]
fn triangles_limit_principal_stretches() {
    for integrator in INTEGRATORS {
        let mut app = app();
        let limit = StrainLimit::Triangles {
            stretch: 0.1,
            compression: None,
            sweeps: 20,
        };
        let body = hang(&mut app, integrator, Some(limit));
        ticks(&mut app, 120);
        let strain = strain(&app, body);
        println!("{}: {strain}", integrator.name());
        assert!(strain < 0.12, "{strain}");
    }
}

#[test]
fn limits_of_velocities_and_triangles_keep_the_momenta_of_a_free_body() {
    for integrator in INTEGRATORS {
        for limit in [
            StrainLimit::VELOCITIES,
            velocities(2),
            StrainLimit::TRIANGLES,
        ] {
            let mut app = app();
            let body = let_go(&mut app, integrator, fabric(1e-4));
            // Pulled apart, so that the limit has to act.
            let mut start = app.world_mut().get_mut::<Particles>(body).expect("a body");
            let start = &mut *start;
            for (velocity, position) in start.velocities.iter_mut().zip(&start.positions) {
                velocity.x += 8.0 * position.x;
                velocity.z += 3.0 * position.x;
            }
            app.world_mut().entity_mut(body).insert(limit);
            ticks(&mut app, 1);
            let first = state(&app, body).clone();
            let loss = first.energies.dissipated;
            ticks(&mut app, 60);
            let last = state(&app, body);
            let linear = (last.momentum - first.momentum).norm() / first.momentum.norm();
            let angular = (last.angular_momentum - first.angular_momentum).norm()
                / first.angular_momentum.norm();
            println!(
                "{} {limit:?}: {linear:.1e} {angular:.1e}, {loss:.2e} J of {:.2e}",
                integrator.name(),
                first.energies.total()
            );
            assert!(
                loss > 0.01 * first.energies.total(),
                "the limit does nothing"
            );
            assert!(linear < 1e-5, "{linear:.1e}");
            assert!(angular < 1e-5, "{angular:.1e}");
        }
    }
}

/// An integrator with a number of substeps.
fn with_substeps(integrator: Integrator, substeps: u32) -> Integrator {
    let substeps = Substeps::Fixed(substeps);
    match integrator {
        Integrator::Mixed { damping, solve, .. } => Integrator::Mixed {
            damping,
            solve,
            substeps,
        },
        _ => Integrator::SymplecticEuler { substeps },
    }
}

/// The account of a sheet that falls into its limit closes, the better the shorter the substeps are.
#[test]
fn what_limits_take_is_in_the_account() {
    for integrator in INTEGRATORS {
        for limit in [
            StrainLimit::POSITIONS,
            StrainLimit::VELOCITIES,
            StrainLimit::TRIANGLES,
        ] {
            let error = |substeps| {
                let mut app = app();
                let body = hang(&mut app, with_substeps(integrator, substeps), Some(limit));
                ticks(&mut app, 1);
                let start = state(&app, body).energies;
                let (mut worst, mut kinetic) = (0.0_f64, 0.0_f64);
                for _ in 0..120 {
                    ticks(&mut app, 1);
                    let energies = state(&app, body).energies;
                    kinetic = kinetic.max(energies.kinetic);
                    worst = worst.max((energies.total() - start.total()).abs());
                }
                worst / kinetic
            };
            let errors = [8, 32].map(error);
            println!("{} {limit:?}: off by {errors:?}", integrator.name());
            assert!(errors[0] < 0.05, "{errors:?}");
            assert!(errors[1] < errors[0] / 2.2, "{errors:?}");
        }
    }
}

#[test]
fn limits_that_cannot_act_change_nothing() {
    let end = |integrator, limit| {
        let mut app = app();
        let body = hang(&mut app, integrator, limit);
        ticks(&mut app, 20);
        particles(&app, body).positions.clone()
    };
    let nonsense = StrainLimit::Positions {
        stretch: Real::NAN,
        sweeps: 4,
    };
    for (integrator, limit) in [
        (Integrator::IMPLICIT, StrainLimit::VELOCITIES),
        (Integrator::MIXED, nonsense),
    ] {
        assert_eq!(end(integrator, Some(limit)), end(integrator, None));
    }
}
