//! What the wind does to sheets, and what sheets do to what holds them.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::kernel::aerodynamics::{Aerodynamics, Panel};
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

/// Force of the wind on all sheets as they are now, N.
pub fn wind_force(world: &mut World) -> Vector3<f64> {
    let time = world.resource::<PliantClock>().time;
    let mut sheets = world.query::<(&Particles, &Surface, &Aerodynamic)>();
    let wind = world.resource::<PliantWind>();
    let mut sum = Vector3::zeros();
    for (particles, surface, sheet) in sheets.iter(world) {
        let law = Aerodynamics {
            drag_coefficient: sheet.drag_coefficient,
            lift_coefficient: sheet.lift_coefficient,
            air_density: wind.density,
        };
        for triangle in &surface.triangles {
            let corners = triangle.map(|corner| particles.positions[corner as usize]);
            let velocities = triangle.map(|corner| particles.velocities[corner as usize]);
            let center = (corners[0] + corners[1] + corners[2]) / 3.0;
            let air = wind.velocity(center.cast(), time).map(|x| x as Real);
            let panel = Panel::new(&corners, &velocities, &air);
            sum += law.force(&panel).cast::<f64>();
        }
    }
    sum
}

/// Lets [`Particles::forces`] be the forces of the elements, the air and the weight at the current state, N, whatever the
/// integrator: the implicit one keeps most of them to itself.
pub fn evaluate_forces(world: &mut World) {
    let integrator = *world.resource::<Integrator>();
    world.insert_resource(Integrator::SYMPLECTIC_EULER);
    world.run_schedule(PliantForces);
    world.insert_resource(integrator);
}

/// Sum of the evaluated forces on some particles, N; on held ones it is the force on what holds them.
pub fn sum_of_forces(
    particles: &Particles,
    indices: impl IntoIterator<Item = u32>,
) -> Vector3<f64> {
    let force = |index: u32| particles.forces[index as usize].cast::<f64>();
    indices.into_iter().map(force).sum()
}
