//! The integrators: their order, their agreement, and what a user does to the tick.

use bevy::app::FixedPostUpdate;
use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::kernel::real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{app, assert_relative, state, ticks};

const fn symplectic(substeps: u32) -> Integrator {
    Integrator::SymplecticEuler {
        substeps: Substeps::Fixed(substeps),
    }
}

const fn reference(tolerance: f64) -> Integrator {
    // The longest step is a whole tick, so that the tolerance alone decides. In single precision, steps below 0.2 ms,
    // 1/20 of what the block's fastest mode needs, would only collect rounding.
    let smallest_step = if cfg!(feature = "f64") { 1e-7 } else { 2e-4 };
    Integrator::RungeKuttaFehlberg {
        tolerance,
        smallest_step,
        largest_step: 1.0 / 60.0,
        mass: MassMatrix::Lumped,
    }
}

/// Errors below this share of the body's size drown in the rounding of the forces.
const ROUNDING: f64 = if cfg!(feature = "f64") { 1e-11 } else { 3e-6 };

/// Side of the soft block, m.
const SIDE: f64 = 0.2;

fn spawn_block(app: &mut App, young_modulus: Real) -> Entity {
    let mesh = TetrahedralMesh::block([SIDE; 3], [2; 3], CellSplit::Five).expect("a block");
    app.world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(young_modulus, 0.3, 1000.0),
        ))
        .id()
}

/// Where the particles of a soft block are that was let go stretched by a tenth, half a second later.
fn oscillated(integrator: Integrator) -> Vec<Vector3<f64>> {
    let mut app = app();
    app.insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let body = spawn_block(&mut app, 1e4);
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    for position in &mut particles.positions {
        position.x *= 1.1;
    }
    ticks(&mut app, 30);
    let particles = app.world().get::<Particles>(body).expect("a body");
    particles
        .positions
        .iter()
        .map(|position| position.cast())
        .collect()
}

/// Root mean square distance over the size of the block.
fn distance(a: &[Vector3<f64>], b: &[Vector3<f64>]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).norm_squared()).sum();
    (squares / a.len() as f64).sqrt() / SIDE
}

fn scientific(value: f64) -> String {
    format!("{value:.1e}")
}

#[test]
fn symplectic_euler_is_of_second_order_and_agrees_with_the_reference() {
    // Half the step, a quarter of the error; the next term of the error is of fourth order, 1/16 of what is seen.
    let (expected, tolerance) = (4.0, 0.1);
    let truth = oscillated(reference(1e-11));
    let errors = [8, 16, 32].map(|substeps| distance(&oscillated(symplectic(substeps)), &truth));
    let falls = [errors[0] / errors[1], errors[1] / errors[2]];
    println!(
        "8, 16, 32 substeps: {:?}, falling by {falls:.2?}",
        errors.map(scientific)
    );
    assert!(errors[2] > 3.0 * ROUNDING, "the test sees rounding only");
    for fall in falls {
        assert_relative("fall of the error", fall, expected, tolerance);
    }
    // ω h = 0.02 for the first mode of 8 Hz at 40 substeps, 25 radians long: (ω h)²/24 × 25 of a tenth.
    assert!(
        errors[2] < 1e-3,
        "both integrate the same equations: {:.1e} apart",
        errors[2]
    );
}

#[test]
fn the_error_of_the_reference_integrator_follows_its_tolerance() {
    let tolerances = if cfg!(feature = "f64") {
        [1e-3, 1e-5, 1e-7]
    } else {
        [1e-2, 1e-3, 1e-4]
    };
    let truth = oscillated(reference(if cfg!(feature = "f64") { 1e-12 } else { 1e-9 }));
    let errors = tolerances.map(|tolerance| distance(&oscillated(reference(tolerance)), &truth));
    println!(
        "tolerances {:?}: errors {:?}",
        tolerances.map(scientific),
        errors.map(scientific)
    );
    for (error, tolerance) in errors.iter().zip(tolerances) {
        // Half a second at that error per second; an oscillator passes errors on without enlarging them.
        assert!(
            *error < 0.5 * tolerance + ROUNDING,
            "{error:.1e} at tolerance {tolerance:.0e}"
        );
    }
    for index in 0..2 {
        let (error, tolerance) = (
            errors[index + 1] / errors[index],
            tolerances[index + 1] / tolerances[index],
        );
        // Steps change with the fourth root of the tolerance, so the error changes with the tolerance or faster; the
        // longest step and the ends of the ticks leave less to change.
        assert!(
            error < tolerance.sqrt(),
            "the error falls by {error:.1e} only"
        );
    }
}

#[test]
fn automatic_substeps_keep_a_stiff_block_bounded() {
    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let body = spawn_block(&mut app, 1e7);
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    for i in 0..particles.len() {
        let x = particles.positions[i].x;
        particles.positions[i].x *= 1.05;
        particles.velocities[i].z = 20.0 * x;
    }
    ticks(&mut app, 1);
    let start = state(&app, body).clone();
    let (mut worst, mut exchanged) = ([0.0_f64; 2], 0.0_f64);
    for second in &mut worst {
        for _ in 0..60 {
            ticks(&mut app, 1);
            let energies = state(&app, body).energies;
            exchanged = exchanged.max((energies.elastic - start.energies.elastic).abs());
            *second = second.max((energies.total() - start.energies.total()).abs());
        }
    }
    let worst = worst.map(|stray| stray / exchanged);
    println!(
        "{} substeps, energy strays by {:?} of {exchanged:.1} J",
        start.substeps,
        worst.map(scientific)
    );
    assert!(
        start.substeps > 10,
        "such a block needs many substeps, not {}",
        start.substeps
    );
    assert!(app.world().get::<Quarantined>(body).is_none());
    // The scheme keeps an energy that lacks (ω h)²/4 of a mode's elastic part: 0.64 at 0.8 of the stable step.
    assert!(worst[0] < 0.64, "energy strays by {:.1e}", worst[0]);
    // It swings, but it does not grow; a second holds thousands of swings, so the next one sees no new extremes.
    assert!(
        worst[1] < 1.2 * worst[0],
        "energy grows: {:?}",
        worst.map(scientific)
    );
}

/// Force of the test, N, its angular frequency, 1/s, and the mass that it acts on, kg.
const FORCE: f64 = 3.0;
const FREQUENCY: f64 = 40.0;
const MASS: f64 = 0.5;

fn shake(clock: Res<PliantClock>, mut bodies: Query<&mut Particles>) {
    for mut particles in &mut bodies {
        particles.forces[0].x += real::<Real>(FORCE * (FREQUENCY * clock.time).sin());
    }
}

/// A free particle under F sin ω t: v = F/(m ω) (1 − cos ω t), x = F/(m ω²) (ω t − sin ω t).
#[test]
fn user_forces_are_told_the_time_of_every_evaluation() {
    let seconds = 0.5;
    let scale = FORCE / (MASS * FREQUENCY);
    let speed = scale * (1.0 - (FREQUENCY * seconds).cos());
    let place = scale / FREQUENCY * (FREQUENCY * seconds - (FREQUENCY * seconds).sin());
    let step = 1.0 / (60.0 * 8.0);
    // The trapezoidal rule errs by t h² ω² F/(12 m) at most; a force that is late by a step errs by h ω F/(2 m ω).
    let trapezoid = seconds * step * step * FREQUENCY * FREQUENCY * FORCE / (12.0 * MASS);
    let rounding = f64::from(Real::EPSILON) * 10.0;
    for (integrator, bound) in [(symplectic(8), trapezoid), (reference(1e-8), 1e-6)] {
        let mut app = app();
        app.insert_resource(integrator)
            .insert_resource(PliantGravity(Vec3::ZERO));
        app.add_systems(
            PliantForces,
            shake.in_set(PliantStepSystems::AccumulateForces),
        );
        let particles = Particles::new(vec![Vector3::zeros()], vec![real(MASS)]);
        let body = app.world_mut().spawn(particles).id();
        ticks(&mut app, 30);
        let particles = app.world().get::<Particles>(body).expect("a particle");
        let (v, x) = (
            f64::from(particles.velocities[0].x),
            f64::from(particles.positions[0].x),
        );
        println!(
            "{}: v {v:.7} of {speed:.7}, x {x:.7} of {place:.7}, bound {bound:.1e}",
            integrator.name()
        );
        assert!(
            (v - speed).abs() < bound + rounding * speed.abs(),
            "{integrator:?}: speed {v}, closed form {speed}"
        );
        // The place adds up the errors of the speed over half a second.
        assert!(
            (x - place).abs() < bound * seconds + rounding * place.abs(),
            "{integrator:?}: {x}, closed form {place}"
        );
        assert_relative(
            "clock",
            app.world().resource::<PliantClock>().time,
            seconds,
            // Bevy's ticks are whole nanoseconds.
            1e-7,
        );
    }
}

#[derive(Resource)]
struct Weightless;

#[test]
fn a_stage_that_is_switched_off_has_no_effect_left() {
    for integrator in [Integrator::SYMPLECTIC_EULER, reference(1e-6)] {
        let mut app = app();
        app.insert_resource(integrator);
        app.configure_sets(
            PliantForces,
            PliantStepSystems::Gravity.run_if(not(resource_exists::<Weightless>)),
        );
        let body = spawn_block(&mut app, 1e5);
        ticks(&mut app, 30);
        app.insert_resource(Weightless);
        let before = state(&app, body).clone();
        assert_relative("speed before", -before.momentum.y / 8.0, 9.81 * 0.5, 1e-5);
        ticks(&mut app, 30);
        let after = state(&app, body);
        assert_relative("momentum after", after.momentum.y, before.momentum.y, 1e-6);
        assert_relative(
            "distance after",
            before.center.y - after.center.y,
            9.81 * 0.5 * 0.5,
            1e-5,
        );
    }
}

#[test]
fn elasticity_switched_off_leaves_a_cloud_of_free_particles() {
    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .insert_resource(PliantGravity(Vec3::ZERO));
    app.configure_sets(PliantForces, PliantStepSystems::Elasticity.run_if(|| false));
    let body = spawn_block(&mut app, 1e5);
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    particles.positions[0].x -= 0.02;
    particles.velocities[0].x = 1.0;
    let before = particles.positions.clone();
    ticks(&mut app, 30);
    let particles = app.world().get::<Particles>(body).expect("a body");
    assert_eq!(particles.positions[1..], before[1..]);
    assert_relative(
        "distance",
        f64::from(particles.positions[0].x - before[0].x),
        0.5,
        1e-5,
    );
}

fn push(mut bodies: Query<&mut Particles>) {
    for mut particles in &mut bodies {
        particles.forces[0].y += 1.0;
    }
}

/// What building the schedule of the forces says.
fn built(app: &mut App) -> Result<(), String> {
    app.world_mut()
        .schedule_scope(PliantForces, |world, schedule| {
            let result = schedule.initialize(world).map(|_| ());
            result.map_err(|error| error.to_string(schedule.graph(), world))
        })
}

#[test]
fn two_user_forces_without_an_order_are_an_error_at_start_up() {
    let mut app = app();
    app.add_systems(
        PliantForces,
        (shake, push).in_set(PliantStepSystems::AccumulateForces),
    );
    let error = built(&mut app).expect_err("sums depend on the order of the forces");
    assert!(error.contains("indeterminate execution order"), "{error}");

    let mut app = crate::support::app();
    app.add_systems(
        PliantForces,
        (shake, push)
            .chain()
            .in_set(PliantStepSystems::AccumulateForces),
    );
    assert_eq!(built(&mut app), Ok(()));
}

#[test]
fn a_user_force_is_ordered_against_the_stages_by_its_set_alone() {
    let mut app = app();
    app.add_systems(PliantForces, push);
    let error = built(&mut app).expect_err("a force in no set has no order");
    assert!(error.contains("indeterminate execution order"), "{error}");
}

/// A falling, wobbling block after `count` ticks, with whatever `interrupt` does before the tenth.
fn wobbled(interrupt: impl Fn(&mut App, Entity)) -> Vec<Vector3<Real>> {
    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER)
        .init_resource::<Running>();
    app.configure_sets(
        FixedPostUpdate,
        PliantSystems::Step.run_if(|running: Res<Running>| running.0),
    );
    let body = spawn_block(&mut app, 1e4);
    app.world_mut()
        .get_mut::<Particles>(body)
        .expect("a body")
        .positions[0]
        .x -= 0.02;
    ticks(&mut app, 10);
    interrupt(&mut app, body);
    ticks(&mut app, 20);
    app.world()
        .get::<Particles>(body)
        .expect("a body")
        .positions
        .clone()
}

#[derive(Resource)]
struct Running(bool);

impl Default for Running {
    fn default() -> Self {
        Self(true)
    }
}

/// A pause freezes every particle and the clock; then the run goes on as if there had been none, to the last bit.
#[test]
fn a_pause_changes_nothing() {
    let frozen = |app: &mut App, body: Entity| {
        let before = app.world().get::<Particles>(body).expect("a body").clone();
        let time = app.world().resource::<PliantClock>().time;
        ticks(app, 7);
        let after = app.world().get::<Particles>(body).expect("a body");
        assert_eq!(after.positions, before.positions);
        assert_eq!(after.velocities, before.velocities);
        assert_eq!(app.world().resource::<PliantClock>().time, time);
    };
    let straight = wobbled(|_, _| {});
    let paused = wobbled(|app, body| {
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        frozen(app, body);
        app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    });
    assert_eq!(paused, straight, "paused by the clock");
    let stopped = wobbled(|app, body| {
        app.world_mut().resource_mut::<Running>().0 = false;
        frozen(app, body);
        app.world_mut().resource_mut::<Running>().0 = true;
    });
    assert_eq!(stopped, straight, "paused by a run condition");
}

/// The largest power of the inner friction at any evaluation of the forces, W.
#[derive(Resource, Default)]
struct LargestPower(f64);

/// Velocities are stored with half a step of the forces in them that the ground has not answered yet. With those, a body
/// at rest would rub against itself once per tick.
#[test]
fn a_body_at_rest_on_the_ground_feels_no_inner_friction() {
    let mut app = app();
    app.insert_resource(symplectic(32))
        .init_resource::<LargestPower>()
        .add_systems(
            PliantForces,
            (|mut largest: ResMut<LargestPower>, bodies: Query<&PliantState>| {
                for state in &bodies {
                    largest.0 = largest.0.max(state.energies.dissipated_power);
                }
            })
            .in_set(PliantStepSystems::AccumulateForces),
        );
    app.world_mut().spawn((
        bevy_rapier3d::prelude::Collider::cuboid(1.0, 0.5, 1.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let mesh = TetrahedralMesh::block([0.2; 3], [2; 3], CellSplit::Six).expect("a block");
    app.world_mut().spawn((
        Solid::new(mesh),
        PliantMaterial::new(1e5, 0.3, 1000.0).with_viscosity(500.0, 500.0),
        Transform::from_xyz(0.0, 0.101, 0.0),
    ));
    ticks(&mut app, 180);
    app.insert_resource(LargestPower::default());
    ticks(&mut app, 10);
    let power = app.world().resource::<LargestPower>().0;
    println!("inner friction {power:.1e} W");
    assert!(power < 1e-6, "{power} W");
}
