//! What an implicit step keeps, whatever the solver leaves over: momentum of free bodies, a bound on the energy, and
//! finite numbers.

use bevy::app::FixedPostUpdate;
use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::kernel::real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::{MODELS, SCHEMES, particles, with_limits, with_substeps};
use crate::support::{RATE, app, state, ticks};

/// What may be lost, relative to what there is.
const KEPT: f64 = if cfg!(feature = "f64") { 1e-10 } else { 1e-5 };

/// A soft bar that tumbles.
fn tumbling(app: &mut App) -> Entity {
    let mesh = TetrahedralMesh::block([0.6, 0.1, 0.1], [12, 2, 2], CellSplit::Six).expect("a bar");
    app.world_mut()
        .spawn((
            Solid::new(mesh),
            PliantMaterial::new(5e4, 0.35, 1000.0),
            InitialMotion {
                linear_velocity: Vec3::new(1.0, 3.0, 0.5),
                angular_velocity: Vec3::new(2.0, 5.0, 1.0),
            },
        ))
        .id()
}

/// The integrators of these tests: as they are, and with hardly any solver.
fn integrators() -> impl Iterator<Item = (Integrator, &'static str)> {
    SCHEMES.into_iter().flat_map(|scheme| {
        [
            (scheme, "defaults"),
            (with_limits(scheme, 3, 1e-2), "three iterations"),
        ]
    })
}

#[test]
fn a_tumbling_bar_keeps_its_momenta_for_ten_seconds() {
    for (integrator, limits) in integrators() {
        let mut app = app();
        app.insert_resource(integrator)
            .insert_resource(PliantGravity(Vec3::ZERO));
        let body = tumbling(&mut app);
        ticks(&mut app, 1);
        let start = state(&app, body).clone();
        let (mut drift, mut corrected) = ([0.0_f64; 2], 0.0_f64);
        for _ in 0..600 {
            ticks(&mut app, 1);
            let now = state(&app, body);
            corrected = corrected.max(now.solver.momentum_error);
            let turned = now.angular_momentum - start.angular_momentum;
            let moved = now.momentum - start.momentum;
            drift[0] = drift[0].max(moved.norm() / start.momentum.norm());
            drift[1] = drift[1].max(turned.norm() / start.angular_momentum.norm());
        }
        println!(
            "{}, {limits}: drifts by {:.1e} and {:.1e}, corrected by {corrected:.1e} at most",
            integrator.name(),
            drift[0],
            drift[1]
        );
        assert!(drift[0] < KEPT, "linear momentum: {:.1e}", drift[0]);
        assert!(drift[1] < KEPT, "angular momentum: {:.1e}", drift[1]);
        assert!(corrected > 0.0, "nothing reported");
    }
}

#[test]
fn a_falling_bar_gains_its_weight_times_the_time() {
    for (integrator, limits) in integrators() {
        let mut app = app();
        app.insert_resource(integrator);
        let body = tumbling(&mut app);
        ticks(&mut app, 1);
        let start = state(&app, body).clone();
        ticks(&mut app, 120);
        let end = state(&app, body);
        // Bevy's ticks are whole nanoseconds.
        let seconds = 120.0 * f64::from(16_666_667_u32) * 1e-9;
        let gained = Vector3::y() * (-f64::from(9.81_f32) * seconds);
        let gained = gained * particles(&app, body).total_mass();
        let error = (end.momentum - start.momentum - gained).norm() / gained.norm();
        let turned = (end.angular_momentum - start.angular_momentum).norm();
        let turned = turned / start.angular_momentum.norm();
        println!(
            "{}, {limits}: momentum off by {error:.1e}, angular momentum by {turned:.1e}",
            integrator.name()
        );
        assert!(error < KEPT, "{error:.1e}");
        assert!(turned < KEPT, "{turned:.1e}");
    }
}

/// What holds a pin also pushes on the body, so there is nothing to go by.
#[test]
fn a_pinned_body_is_not_corrected() {
    let mut app = app();
    app.insert_resource(with_limits(Integrator::IMPLICIT, 3, 1e-2));
    let body = tumbling(&mut app);
    app.world_mut().entity_mut(body).insert(Pins::at([0]));
    for _ in 0..60 {
        ticks(&mut app, 1);
        assert_eq!(state(&app, body).solver.momentum_error, 0.0);
    }
    let state = state(&app, body);
    assert!(
        state.solver.residual > 1e-2,
        "the solver had to be cut short"
    );
}

/// The air takes the momentum of a free body by the scheme's own rule, however thick it is.
#[test]
fn thick_air_stops_a_free_body() {
    for integrator in SCHEMES {
        let mut app = app();
        app.insert_resource(with_substeps(integrator, 1))
            .insert_resource(PliantGravity(Vec3::ZERO));
        let body = tumbling(&mut app);
        app.world_mut().entity_mut(body).insert(AirDrag {
            coefficient: 0.0,
            viscous_rate: 300.0,
            ..default()
        });
        // The mean speed; particles creep on, back to their shape.
        ticks(&mut app, 30);
        let speed = state(&app, body).momentum.norm() / particles(&app, body).total_mass();
        println!("{}: {speed:.1e} m/s", integrator.name());
        assert!(speed < 1e-6, "{}: {speed:.1e} m/s", integrator.name());
    }
}

/// Backward differences remember the last step, but not across what somebody else did to the body.
#[test]
fn pushes_and_teleports_between_ticks_count_once() {
    for integrator in SCHEMES {
        let mut app = app();
        app.insert_resource(integrator)
            .insert_resource(PliantGravity(Vec3::ZERO));
        let mesh = TetrahedralMesh::block([0.2; 3], [2; 3], CellSplit::Six).expect("a block");
        let material = PliantMaterial::new(1e5, 0.3, 1000.0);
        let body = app.world_mut().spawn((Solid::new(mesh), material)).id();
        ticks(&mut app, 5);
        let mut all = app.world_mut().get_mut::<Particles>(body).expect("a body");
        for velocity in &mut all.velocities {
            velocity.x += 1.0;
        }
        ticks(&mut app, 6);
        let mut place = app.world_mut().get_mut::<Transform>(body).expect("a body");
        place.translation.y += 2.0;
        ticks(&mut app, 6);
        let center = state(&app, body).center;
        let expected = Vector3::new(12.0 / RATE, 2.0, 0.0);
        assert!(
            (center - expected).norm() < 1e-5,
            "{}: {center} instead of {expected}",
            integrator.name()
        );
    }
}

/// A block whose particles are somewhere in its box, or all of it squeezed to a tenth.
fn disarranged(app: &mut App, model: ElasticModel, is_scrambled: bool) -> Entity {
    let mesh = TetrahedralMesh::block([0.3; 3], [4; 3], CellSplit::Six).expect("a block");
    let material = PliantMaterial::new(1e5, 0.4, 1000.0).with_model(model);
    let body = app.world_mut().spawn((Solid::new(mesh), material)).id();
    let mut seed = 1_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1_u32 << 24) - 0.5
    };
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    for position in &mut particles.positions {
        *position = if is_scrambled {
            Vector3::from_fn(|_, _| real::<Real>(0.3 * next()))
        } else {
            *position * 0.1
        };
    }
    body
}

#[derive(Resource)]
struct Running;

/// Each step bounds its elastic energy by what there was, elastic and kinetic, to a hundredth.
#[test]
fn squeezed_and_scrambled_blocks_stay_finite_and_gain_no_energy() {
    let mut fallbacks = 0;
    for scheme in SCHEMES {
        for ((law, model), is_scrambled) in MODELS
            .into_iter()
            .flat_map(|model| [(model, false), (model, true)])
        {
            let mut app = app();
            app.insert_resource(with_substeps(scheme, 1))
                .insert_resource(PliantGravity(Vec3::ZERO));
            let body = disarranged(&mut app, model, is_scrambled);
            let what = format!("{}, {law}, scrambled: {is_scrambled}", scheme.name());
            // An update without a step, for the account of the start.
            app.configure_sets(
                FixedPostUpdate,
                PliantSystems::Step.run_if(resource_exists::<Running>),
            );
            ticks(&mut app, 1);
            app.insert_resource(Running);
            let start = state(&app, body).energies.elastic;
            let (mut before, mut excess, mut own_fallbacks) = (start, f64::MIN, 0);
            for _ in 0..120 {
                ticks(&mut app, 1);
                let state = state(&app, body);
                own_fallbacks += state.solver.fallbacks;
                let energies = state.energies;
                excess = excess.max((energies.elastic - before) / start);
                before = energies.elastic + energies.kinetic;
                assert!(energies.total().is_finite(), "{what}");
            }
            fallbacks += own_fallbacks;
            let end = state(&app, body);
            println!(
                "{what}: elastic energy exceeds the energy before by {excess:.1e} of {start:.1e} J, {own_fallbacks} fallbacks, at last {:.1e} J, smallest volume {:.3}",
                end.energies.elastic, end.smallest_volume_ratio
            );
            assert!(app.world().get::<Quarantined>(body).is_none(), "{what}");
            assert!(particles(&app, body).first_non_finite().is_none(), "{what}");
            assert!(excess <= 0.01, "{what}: {excess}");
        }
    }
    assert!(fallbacks > 0, "the monotone method was never needed");
}
