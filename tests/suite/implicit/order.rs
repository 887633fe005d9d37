//! How fast the error falls with the step: against the adaptive reference, with the same lumped masses.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::kernel::real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::{chosen, positions, with_limits, with_substeps};
use crate::support::{app_at, ticks};

/// In single precision the solver cannot get further, and errors below a millionth of the bar are rounding, which
/// longer steps stay clear of.
const SOLVED: f64 = if cfg!(feature = "f64") { 1e-8 } else { 1e-5 };
const SUBSTEPS: [u32; 3] = if cfg!(feature = "f64") {
    [16, 32, 64]
} else {
    [4, 8, 16]
};
const ORDER_TOLERANCE: f64 = if cfg!(feature = "f64") { 0.3 } else { 0.5 };

const LENGTH: f64 = 0.5;

/// A pull that changes with time, N.
fn pull(clock: Res<PliantClock>, mut bodies: Query<&mut Particles>) {
    for mut particles in &mut bodies {
        let last = particles.len() - 1;
        particles.forces[last].z += real::<Real>(0.3 * (15.0 * clock.time).sin());
    }
}

/// Where a soft bar is that was let go 0.2 s ago, held at one end.
fn released(integrator: Integrator, is_pulled: bool) -> Vec<Vector3<f64>> {
    let mut app = app_at(50.0);
    app.insert_resource(integrator);
    if is_pulled {
        app.add_systems(
            PliantForces,
            pull.in_set(PliantStepSystems::AccumulateForces),
        );
    }
    let mesh =
        TetrahedralMesh::block([LENGTH, 0.1, 0.1], [4, 1, 1], CellSplit::Five).expect("a bar");
    let held = chosen(&mesh, |position| position.x < -0.499 * LENGTH);
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(2e4, 0.3, 1000.0),
            Pins::at(held),
        ))
        .id();
    ticks(&mut app, 10);
    positions(&app, body)
}

/// The order at which the error falls, from each halving of the step.
fn measured_orders(integrator: Integrator, is_pulled: bool) -> [f64; 2] {
    let truth = released(
        Integrator::RungeKuttaFehlberg {
            tolerance: if cfg!(feature = "f64") { 1e-10 } else { 1e-6 },
            smallest_step: if cfg!(feature = "f64") { 1e-7 } else { 2e-4 },
            largest_step: 0.02,
            mass: MassMatrix::Lumped,
        },
        is_pulled,
    );
    let errors = SUBSTEPS.map(|count| {
        let integrator = with_limits(with_substeps(integrator, count), 500, SOLVED);
        let places = released(integrator, is_pulled);
        let squares = places
            .iter()
            .zip(&truth)
            .map(|(a, b)| (a - b).norm_squared());
        (squares.sum::<f64>() / truth.len() as f64).sqrt() / LENGTH
    });
    let orders = [errors[0] / errors[1], errors[1] / errors[2]].map(f64::log2);
    println!(
        "{}, {SUBSTEPS:?} steps in 20 ms: errors {:?}, orders {orders:.3?}",
        integrator.name(),
        errors.map(|error| format!("{error:.1e}"))
    );
    orders
}

#[track_caller]
fn assert_order(integrator: Integrator, is_pulled: bool, expected: f64) {
    for order in measured_orders(integrator, is_pulled) {
        assert!(
            (order - expected).abs() < ORDER_TOLERANCE,
            "{}: order {order:.2} instead of {expected}",
            integrator.name()
        );
    }
}

#[test]
fn the_default_scheme_is_of_second_order() {
    assert_order(Integrator::IMPLICIT, false, 2.0);
}

/// The stages take user forces at times of their own.
#[test]
fn the_default_scheme_is_of_second_order_in_user_forces_too() {
    assert_order(Integrator::IMPLICIT, true, 2.0);
}

#[test]
fn backward_differences_are_of_second_order() {
    assert_order(Integrator::BACKWARD_DIFFERENCES, false, 2.0);
}

#[test]
fn backward_euler_is_of_first_order() {
    assert_order(Integrator::BACKWARD_EULER, false, 1.0);
}
