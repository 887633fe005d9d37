//! Wind on cloth: the terminal velocity of a sheet.

use bevy_pliant::prelude::*;

use crate::support::{app_at, assert_relative, state, ticks};

const RATES: [f64; 3] = [30.0, 60.0, 240.0];

#[test]
fn a_sheet_falls_at_its_terminal_velocity_at_any_tick_rate() {
    let gravity = 9.81;
    let fabric = Fabric::COTTON;
    let air = Aerodynamic::default();
    let wind = PliantWind::calm();
    // A level sheet: √(2 m g/(C ρ A)).
    let terminal = (2.0 * f64::from(fabric.areal_density) * gravity
        / (f64::from(air.drag_coefficient) * f64::from(wind.density)))
    .sqrt();
    for integrator in [Integrator::IMPLICIT, Integrator::SYMPLECTIC_EULER] {
        for rate in RATES {
            let mut app = app_at(rate);
            app.insert_resource(integrator);
            let mesh = TriangleMesh::sheet([0.5, 0.5], [4, 4], SheetPattern::Herringbone);
            let cloth = Cloth::new(mesh.expect("a sheet")).without_wrinkles();
            let body = app.world_mut().spawn((cloth, fabric, air)).id();
            // The speed is that of v_t tanh(g t/v_t): after a second but 1e-5 are there.
            ticks(&mut app, rate as usize);
            let start = state(&app, body).center.y;
            ticks(&mut app, rate as usize);
            let state = state(&app, body);
            let mass = app
                .world()
                .get::<Particles>(body)
                .expect("a body")
                .total_mass();
            let speed = -state.momentum.y / mass;
            let mean = start - state.center.y;
            println!(
                "{} at {rate} Hz: {speed:.5} m/s, over a second {mean:.5}, of {terminal:.5}",
                integrator.name()
            );
            assert_relative("speed", speed, terminal, 0.01);
            assert_relative("mean speed", mean, terminal, 0.01);
        }
    }
}
