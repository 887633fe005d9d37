//! Free rotation about the intermediate axis: a stiff elastic plate tumbles like the rigid body that it nearly is.

use bevy::prelude::*;
use bevy_pliant::body::BodyFrame;
use bevy_pliant::kernel::energy::inertia;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{analytic_case, app, assert_relative, state, ticks};

/// Seconds of the test, as the reference asks.
const SECONDS: usize = 60;
/// Angular velocity at the start, rad/s, in the axes of the plate: its second axis is the unstable one.
const OMEGA: Vector3<f64> = Vector3::new(0.01, 2.0, 0.01);

/// Times at which the second component of the angular velocity of a rigid body changes its sign, s.
///
/// Eq: Euler's equations in principal axes, integrated with the classical Runge–Kutta method.
fn rigid_flips(moments: &Vector3<f64>, seconds: f64) -> Vec<f64> {
    let rate = |w: &Vector3<f64>| {
        Vector3::new(
            (moments.y - moments.z) / moments.x * w.y * w.z,
            (moments.z - moments.x) / moments.y * w.z * w.x,
            (moments.x - moments.y) / moments.z * w.x * w.y,
        )
    };
    let step = 1e-3;
    let mut omega = OMEGA;
    let mut flips = Vec::new();
    for index in 0..(seconds / step) as usize {
        let first = rate(&omega);
        let second = rate(&(omega + first * (0.5 * step)));
        let third = rate(&(omega + second * (0.5 * step)));
        let fourth = rate(&(omega + third * step));
        let next = omega + (first + (second + third) * 2.0 + fourth) * (step / 6.0);
        if next.y.signum() != omega.y.signum() {
            flips.push(step * (index as f64 + omega.y / (omega.y - next.y)));
        }
        omega = next;
    }
    flips
}

/// Two flips make a period of the angular velocity.
fn period(flips: &[f64]) -> f64 {
    2.0 * (flips[flips.len() - 1] - flips[0]) / (flips.len() - 1) as f64
}

#[test]
fn a_stiff_plate_flips_over_and_over_like_a_rigid_one() {
    // Tolerances of the reference; centrifugal forces strain the plate by 5e-4, twice of which the moments change.
    let (energy_tolerance, momentum_tolerance, period_tolerance) = (1e-3, 1e-3, 0.05);

    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .insert_resource(PliantGravity(Vec3::ZERO));
    // An even number of mirrored cells along both sides: the sides are principal axes to the last bit.
    let mesh = TetrahedralMesh::block([2.0_f64.sqrt(), 1.0, 0.06], [4, 4, 1], CellSplit::Five)
        .expect("a plate");
    let body = app
        .world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(2e6, 0.3, 1000.0),
            InitialMotion {
                angular_velocity: Vec3::new(OMEGA.x as f32, OMEGA.y as f32, OMEGA.z as f32),
                ..default()
            },
        ))
        .id();
    let particles = app.world().get::<Particles>(body).expect("a body");
    let tensor = inertia(particles.masses(), &particles.positions, &Vector3::zeros());
    let moments = tensor.diagonal();
    assert!(
        (tensor - nalgebra::Matrix3::from_diagonal(&moments)).amax() < 1e-6 * moments.x,
        "not principal: {tensor}"
    );

    let mut flips = Vec::new();
    let mut last: f64 = 1.0;
    let (mut worst_energy, mut worst_momentum) = (0.0_f64, 0.0_f64);
    ticks(&mut app, 1);
    let start = state(&app, body).clone();
    for tick in 1..SECONDS * 60 {
        ticks(&mut app, 1);
        let state = state(&app, body);
        worst_energy =
            worst_energy.max((state.energies.total() / start.energies.total() - 1.0).abs());
        worst_momentum =
            worst_momentum.max((state.angular_momentum - start.angular_momentum).norm());
        let frame = app.world().get::<BodyFrame>(body).expect("a body");
        let spin = (frame.rotation.inverse() * state.angular_momentum).y / moments.y;
        if spin.signum() != last.signum() {
            flips.push((tick as f64 + last / (last - spin)) / 60.0);
        }
        last = spin;
    }
    worst_momentum /= start.angular_momentum.norm();
    let rigid = rigid_flips(&moments, SECONDS as f64);
    println!(
        "moments 1 : {:.3} : {:.3}, {} substeps",
        moments.y / moments.x,
        moments.z / moments.x,
        start.substeps
    );
    println!("energy {worst_energy:.1e}, angular momentum {worst_momentum:.1e}");
    println!("flips {flips:.2?}\nrigid {rigid:.2?}");
    assert!(
        worst_energy < energy_tolerance,
        "energy strays by {worst_energy:.1e}"
    );
    assert!(
        worst_momentum < momentum_tolerance,
        "angular momentum strays by {worst_momentum:.1e}"
    );
    assert!(flips.len() >= 5, "the plate flips: {flips:?}");
    assert_relative(
        "period against the rigid body",
        period(&flips),
        period(&rigid),
        period_tolerance,
    );
    assert_relative(
        "first flip against the rigid body",
        flips[0],
        rigid[0],
        period_tolerance,
    );
    if let Some(case) = analytic_case("dzhanibekov") {
        let expected = case["expected"]["period_of_omega"]
            .as_f64()
            .expect("a period");
        assert_relative(
            "period against the reference",
            period(&flips),
            expected,
            period_tolerance,
        );
    }
}
