//! Same input, same bits: twice in a row, and on any number of threads.

use bevy::prelude::*;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use bevy_pliant::state_hash;
use bevy_rapier3d::prelude::{Collider, RigidBody};

use crate::scenes::headless_app;
use crate::support::{hash_of_child, ticks};

/// In the environment of a child process: how many threads it uses, and which integrator.
const THREADS: &str = "PLIANT_TEST_THREADS";
const INTEGRATOR: &str = "PLIANT_TEST_INTEGRATOR";

/// A body large enough to be shared between threads, small ones beside it, contacts and a dynamic rigid body.
fn busy_world(threads: Option<usize>, integrator: Integrator) -> u64 {
    let mut app = headless_app(threads);
    app.finish();
    app.cleanup();
    app.insert_resource(integrator);
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(10.0, 0.5, 10.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    app.world_mut().spawn((
        RigidBody::Dynamic,
        Collider::ball(0.2),
        Transform::from_xyz(0.3, 0.25, 0.0),
    ));
    let large =
        TetrahedralMesh::block([1.0, 0.5, 0.5], [20, 9, 9], CellSplit::Six).expect("a block");
    app.world_mut().spawn((
        Solid::new(large),
        PliantMaterial::new(2e4, 0.4, 500.0),
        Transform::from_xyz(0.0, 0.8, 0.0),
    ));
    for i in 0..4_u8 {
        let ball = TetrahedralMesh::ball(0.1, 1).expect("a ball");
        app.world_mut().spawn((
            Solid::new(ball),
            PliantMaterial::new(3e4, 0.3, 800.0).with_viscosity(2.0, 2.0),
            SurfaceProperties {
                restitution: 0.3,
                ..default()
            },
            AirDrag::default(),
            Transform::from_xyz(f32::from(i) * 0.5 - 0.8, 0.3, 0.6),
        ));
    }
    // Once the large body touches the floor, explicit substeps take long; implicit ones do not.
    let is_implicit = matches!(integrator, Integrator::Implicit { .. });
    ticks(&mut app, if is_implicit { 60 } else { 25 });
    state_hash(app.world_mut())
}

#[test]
fn the_same_run_twice_gives_the_same_bits() {
    for integrator in [
        Integrator::IMPLICIT,
        Integrator::BACKWARD_EULER,
        Integrator::BACKWARD_DIFFERENCES,
        Integrator::SYMPLECTIC_EULER,
    ] {
        assert_eq!(
            busy_world(None, integrator),
            busy_world(None, integrator),
            "{}",
            integrator.name()
        );
    }
}

#[test]
fn the_same_reference_run_twice_gives_the_same_bits() {
    let loose = Integrator::RungeKuttaFehlberg {
        tolerance: 1e-3,
        smallest_step: 1e-4,
        largest_step: 1.0 / 60.0,
        mass: MassMatrix::Lumped,
    };
    assert_eq!(busy_world(None, loose), busy_world(None, loose));
}

/// Each number of threads runs in a child: this very test, told by its environment to print the hash instead of comparing.
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    const NAME: &str = "determinism::any_number_of_threads_gives_the_same_bits";
    if let Some(threads) = std::env::var(THREADS)
        .ok()
        .and_then(|threads| threads.parse().ok())
    {
        let name = std::env::var(INTEGRATOR).expect("a name");
        let integrator = Integrator::from_name(&name).expect("an integrator");
        println!("\nhash {:016x}", busy_world(Some(threads), integrator));
        return;
    }
    let hash = |threads: u8, integrator: Integrator| {
        let threads = threads.to_string();
        hash_of_child(
            NAME,
            &[(THREADS, &threads), (INTEGRATOR, integrator.name())],
        )
    };
    for integrator in [Integrator::IMPLICIT, Integrator::SYMPLECTIC_EULER] {
        let hashes = [1, 2, 8].map(|threads| hash(threads, integrator));
        println!("{}, 1, 2 and 8 threads: {hashes:?}", integrator.name());
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
    }
}
