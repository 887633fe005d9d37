//! The air: resistance of solids, drag and lift of cloth, wind.

use bevy::prelude::*;
use nalgebra::{Matrix3, Vector3};

use super::implicit::ImplicitSolver;
use super::{PliantClock, PliantForces, PliantStepSystems, implicit};
use crate::Real;
use crate::body::{Aerodynamic, AirDrag, Particles, PliantState, PliantWind, Quarantined, Surface};
use crate::kernel::aerodynamics::{Aerodynamics, Panel};
use crate::kernel::drag::{WindFace, viscous_drag, viscous_drag_power};

/// The forces of the air, and for solvers what they are linear in: the implicit integrator needs only the latter, the
/// mixed one both.
pub(super) fn plugin(app: &mut App) {
    app.init_resource::<PliantWind>().add_systems(
        PliantForces,
        (
            (drag_forces, panel_forces)
                .chain()
                .run_if(not(implicit::is_implicit)),
            (drag_coefficients, panel_coefficients)
                .chain()
                .run_if(implicit::is_solver_used),
        )
            .chain()
            .in_set(PliantStepSystems::Drag),
    );
}

type Dragged = (
    &'static mut Particles,
    Option<&'static Surface>,
    &'static AirDrag,
    &'static mut PliantState,
);

fn drag_forces(mut bodies: Query<Dragged, Without<Quarantined>>) {
    for (mut particles, surface, drag, mut state) in &mut bodies {
        let particles = &mut *particles;
        let mut power = 0.0;
        if drag.viscous_rate > 0.0 {
            for i in 0..particles.len() {
                let (mass, velocity) = (particles.masses[i], particles.velocities[i]);
                particles.forces[i] += viscous_drag(drag.viscous_rate, mass, &velocity);
                power += f64::from(viscous_drag_power(drag.viscous_rate, mass, &velocity));
            }
        }
        let resists = drag.coefficient * drag.fluid_density > 0.0;
        for triangle in triangles(surface).filter(|_| resists) {
            let face = wind_face(particles, triangle);
            let share = face.drag(drag.coefficient, drag.fluid_density) / 3.0;
            power += f64::from(face.drag_power(drag.coefficient, drag.fluid_density));
            for corner in triangle {
                particles.forces[corner] += share;
            }
        }
        state.energies.dissipated_power += power;
    }
}

type ImplicitlyDragged = (
    &'static Particles,
    Option<&'static Surface>,
    &'static AirDrag,
    &'static mut ImplicitSolver,
);

/// Linear resistance of the air at the current speed.
fn drag_coefficients(mut bodies: Query<ImplicitlyDragged, Without<Quarantined>>) {
    for (particles, surface, drag, mut solver) in &mut bodies {
        let mut add = |particle: usize, rate: Real| {
            solver.drag[particle] += Matrix3::from_diagonal_element(rate);
        };
        for (particle, &mass) in particles.masses.iter().enumerate() {
            add(particle, drag.viscous_rate * mass);
        }
        if drag.coefficient * drag.fluid_density <= 0.0 {
            continue;
        }
        for triangle in triangles(surface) {
            let face = wind_face(particles, triangle);
            let share = face.drag_rate(drag.coefficient, drag.fluid_density) / 3.0;
            for corner in triangle {
                add(corner, share);
            }
        }
    }
}

fn triangles(surface: Option<&Surface>) -> impl Iterator<Item = [usize; 3]> {
    surface
        .into_iter()
        .flat_map(|surface| &surface.triangles)
        .map(|triangle| triangle.map(|corner| corner as usize))
}

/// The triangle as the air meets it.
fn wind_face(particles: &Particles, [a, b, c]: [usize; 3]) -> WindFace<Real> {
    let (x, v) = (&particles.positions, &particles.velocities);
    let doubled = (x[b] - x[a]).cross(&(x[c] - x[a]));
    let length = doubled.norm();
    let normal = if length > 0.0 {
        doubled / length
    } else {
        Vector3::zeros()
    };
    WindFace {
        area: 0.5 * length,
        normal,
        velocity: (v[a] + v[b] + v[c]) / 3.0,
    }
}

/// A triangle in the wind, and the velocity of the air there.
fn panel(
    particles: &Particles,
    triangle: [usize; 3],
    wind: &PliantWind,
    time: f64,
) -> (Panel<Real>, Vector3<Real>) {
    let corners = triangle.map(|corner| particles.positions[corner]);
    let velocities = triangle.map(|corner| particles.velocities[corner]);
    let center = (corners[0] + corners[1] + corners[2]) / 3.0;
    let air = wind.velocity(center.cast(), time).map(|x| x as Real);
    (Panel::new(&corners, &velocities, &air), air)
}

fn aerodynamics(body: &Aerodynamic, wind: &PliantWind) -> Option<Aerodynamics<Real>> {
    (body.is_valid() && wind.density > 0.0 && wind.density.is_finite()).then_some(Aerodynamics {
        drag_coefficient: body.drag_coefficient,
        lift_coefficient: body.lift_coefficient,
        air_density: wind.density,
    })
}

type Sheet = (
    &'static mut Particles,
    &'static Surface,
    &'static Aerodynamic,
    &'static mut PliantState,
);

/// Drag and lift of sheets. What the air takes from a sheet counts as dissipated, negative where the wind drives it.
fn panel_forces(
    clock: Res<PliantClock>,
    wind: Res<PliantWind>,
    mut bodies: Query<Sheet, Without<Quarantined>>,
) {
    for (mut particles, surface, body, mut state) in &mut bodies {
        let Some(law) = aerodynamics(body, &wind) else {
            continue;
        };
        let particles = &mut *particles;
        for triangle in triangles(Some(surface)) {
            let (panel, air) = panel(particles, triangle, &wind, clock.time);
            let force = law.force(&panel);
            let power = force.dot(&(air - panel.wind));
            state.energies.dissipated_power -= f64::from(power);
            for corner in triangle {
                particles.forces[corner] += force / 3.0;
            }
        }
    }
}

type ImplicitSheet = (
    &'static Particles,
    &'static Surface,
    &'static Aerodynamic,
    &'static mut ImplicitSolver,
);

/// Resistance of sheets at the current wind, which is the force over the wind.
fn panel_coefficients(
    clock: Res<PliantClock>,
    wind: Res<PliantWind>,
    mut bodies: Query<ImplicitSheet, Without<Quarantined>>,
) {
    for (particles, surface, body, mut solver) in &mut bodies {
        let Some(law) = aerodynamics(body, &wind) else {
            continue;
        };
        let solver = &mut *solver;
        for triangle in triangles(Some(surface)) {
            let (panel, air) = panel(particles, triangle, &wind, clock.time);
            let share = law.resistance(&panel) / 3.0;
            let pull = share * air;
            for corner in triangle {
                solver.drag[corner] += share;
                solver.wind[corner] += pull;
            }
        }
    }
}
