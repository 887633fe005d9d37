//! A body that nothing touches keeps its momenta and its energy.

use bevy::prelude::*;
use bevy_pliant::prelude::*;

use crate::support::{app, state, ticks};

/// Cells of the block along its edges.
const FINE: [usize; 3] = [6, 4, 2];
const COARSE: [usize; 3] = [3, 2, 1];

/// A soft block, stretched, tossed and spinning: all its modes are at work.
fn tossed_block(app: &mut App, cells: [usize; 3]) -> Entity {
    let mesh = TetrahedralMesh::block([0.3, 0.2, 0.1], cells, bevy_pliant::mesh::CellSplit::Six)
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
    oscillation: f64,
}

fn fly(integrator: Integrator, cells: [usize; 3], seconds: usize) -> Drift {
    let mut app = app();
    app.insert_resource(integrator)
        .insert_resource(PliantGravity(Vec3::ZERO));
    let body = tossed_block(&mut app, cells);
    ticks(&mut app, 1);
    let start = state(&app, body).clone();
    let mut range: f64 = 0.0;
    let mut totals = Vec::new();
    for _ in 0..seconds * 60 {
        ticks(&mut app, 1);
        let energies = state(&app, body).energies;
        range = range.max((energies.kinetic - start.energies.kinetic).abs());
        totals.push(energies.total());
    }
    // A symplectic integrator lets the energy oscillate within a bound and keeps its mean: drift is the change of the
    // mean from the first second to the last.
    let mean = |totals: &[f64]| totals.iter().sum::<f64>() / totals.len() as f64;
    let drift = (mean(&totals[totals.len() - 60..]) - mean(&totals[..60])).abs();
    let spread = totals.iter().copied().fold(f64::MIN, f64::max)
        - totals.iter().copied().fold(f64::MAX, f64::min);
    let end = state(&app, body);
    Drift {
        momentum: (end.momentum - start.momentum).norm() / start.momentum.norm(),
        angular_momentum: (end.angular_momentum - start.angular_momentum).norm()
            / start.angular_momentum.norm(),
        energy: drift / range,
        oscillation: spread / range,
    }
}

impl Drift {
    #[track_caller]
    fn assert_below(&self, momentum: f64, angular_momentum: f64, energy: f64, oscillation: f64) {
        println!(
            "momentum {:.1e}, angular momentum {:.1e}, energy {:.1e} with oscillations of {:.1e}",
            self.momentum, self.angular_momentum, self.energy, self.oscillation
        );
        assert!(self.momentum < momentum, "momentum drifted");
        assert!(
            self.angular_momentum < angular_momentum,
            "angular momentum drifted"
        );
        assert!(self.energy < energy, "energy drifted");
        assert!(self.oscillation < oscillation, "energy strayed");
    }
}

/// The fastest mode moves at ω h = 1, half the stable limit, and its energy oscillates by (ω h)²/4 of itself; the
/// block's start, stretched out of equilibrium everywhere at once, wakes all modes.
#[test]
fn symplectic_euler_keeps_momenta_and_energy_over_ten_seconds() {
    fly(Integrator::SYMPLECTIC_EULER, FINE, 10).assert_below(1e-6, 1e-4, 0.01, 0.25);
}

#[test]
fn symplectic_euler_at_shorter_steps_holds_the_energy_itself() {
    let fine = Integrator::SymplecticEuler {
        substeps: Substeps::Automatic { safety: 0.2 },
    };
    fly(fine, FINE, 2).assert_below(1e-6, 1e-4, 0.01, 0.02);
}

/// The reference: what it loses is what its tolerance lets pass. In single precision forces are as uncertain as the
/// positions that they are computed from, which drowns the error estimate, so that run takes short steps instead. Cells of
/// twice the size make ten seconds affordable: an eighth of the elements at half as many steps.
#[test]
fn runge_kutta_fehlberg_keeps_momenta_and_energy() {
    let settings = |tolerance, largest_step| Integrator::RungeKuttaFehlberg {
        tolerance,
        smallest_step: 1e-6,
        largest_step,
        mass: MassMatrix::Consistent,
    };
    if cfg!(feature = "f64") {
        fly(settings(1e-8, 1.0 / 120.0), COARSE, 10).assert_below(1e-10, 1e-10, 1e-6, 1e-5);
    } else {
        fly(settings(1e3, 2e-4), FINE, 2).assert_below(1e-6, 1e-4, 1e-3, 1e-2);
    }
}
