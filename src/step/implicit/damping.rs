//! Implicit half steps of the velocity alone: what mixed integration asks of the solver.
//!
//! ```text
//! v⁺ = v* + h a(x, v⁺)      h half a substep
//! ```
//! The forces F are known at some velocity v, and what they change by is linear in the velocity, by the damping D of the
//! elements and the resistance R of the air. So the change δ = v⁺ − v solves
//!
//! ```text
//! (M/h + D + R) δ = F(x, v)      for v* = v
//! ```
//! Forces of users are taken as they are at v. For damping that is linear in the velocity the result is exact; the
//! resistance of the air is that of the speed v.

use nalgebra::{Matrix3, Vector3};

use super::kinds::BodyElementsItem;
use super::momentum::{Momenta, RigidMotion};
use super::solver::ImplicitSolver;
use crate::Real;
use crate::body::Particles;
use crate::kernel::aerodynamics::resisted_change;
use crate::kernel::energy::center_of_mass;
use crate::kernel::implicit::conjugate_gradient::Limits;
use crate::kernel::implicit::{Solution, row, vector};
use crate::step::threads::Threads;

impl ImplicitSolver {
    /// Solves an implicit half step of length `step`, s, that starts from the velocity at which the forces stand in the
    /// particles (v* = v); δ, m/s, stands in `velocities` afterwards, zero for held particles.
    ///
    /// Without `limits` each particle is solved alone, against the air only; otherwise the elements resist as well, and
    /// the `limits` are those of the linear solver.
    pub fn change_velocities(
        &mut self,
        particles: &Particles,
        elements: &BodyElementsItem,
        step: Real,
        limits: Option<Limits>,
    ) -> Solution {
        let coupled = limits.filter(|_| elements.have_friction() && self.acts(elements));
        self.is_coupled = coupled.is_some();
        let Some(limits) = coupled else {
            for (i, change) in self.velocities.iter_mut().enumerate() {
                let (inverse_mass, force) = (particles.inverse_masses[i], &particles.forces[i]);
                *change = resisted_change(inverse_mass, step, &self.drag[i], force);
            }
            return Solution::default();
        };
        let threads = Threads::for_work(elements.len());
        let positions = &particles.positions;
        self.touches.clear();
        self.set_freedoms(particles);
        self.system.damp(positions, elements, threads);
        let (drag, masses) = (&self.drag, &particles.masses);
        self.system.gather(threads, |particle| {
            drag[particle] + Matrix3::from_diagonal_element(masses[particle] / step)
        });
        let system = &mut self.system;
        for (index, &particle) in system.particles.iter().enumerate() {
            system.positions[index] = row(&positions[particle as usize]);
            system.residual[index] = row(&particles.forces[particle as usize]);
            system.freedoms[index].filter(&mut system.residual[index]);
        }
        let solver = &mut system.conjugate_gradient;
        solver.outer.weight = 0.0;
        solver.prepare(threads, &system.matrix, &system.freedoms);
        let (coarse, freedoms) = (&mut system.coarse, &system.freedoms);
        coarse.update(threads, &system.matrix, freedoms, &system.positions);
        let solution = solver.solve(
            threads,
            &system.matrix,
            coarse,
            freedoms,
            &mut system.residual,
            &mut system.solution,
            limits,
        );
        for (solution, &particle) in system.solution.iter().zip(&system.particles) {
            self.velocities[particle as usize] = vector(solution);
        }
        if particles
            .inverse_masses
            .iter()
            .all(|&inverse| inverse > 0.0)
        {
            self.give_momentum_back(particles, step);
        }
        solution
    }

    /// Adds the rigid motion that a truncated solve of a free body has missed: elements resist none.
    ///
    /// ```text
    /// Σ m δ = h Σ (F − R δ),   Σ x × m δ = h Σ x × (F − R δ)
    /// ```
    fn give_momentum_back(&mut self, particles: &Particles, step: Real) {
        let (masses, positions) = (&particles.masses, &particles.positions);
        let center = center_of_mass(masses, positions);
        let mut missing = Momenta::default();
        for i in 0..particles.len() {
            let change = self.velocities[i];
            let force = (particles.forces[i] - self.drag[i] * change).cast::<f64>();
            let impulse = force * f64::from(step) - change.cast::<f64>() * f64::from(masses[i]);
            missing.linear += impulse;
            missing.angular += (positions[i].cast::<f64>() - center).cross(&impulse);
        }
        let motion = RigidMotion::of(masses, positions, &missing);
        for (velocity, position) in self.velocities.iter_mut().zip(positions) {
            *velocity += motion.at(position).map(|x| x as Real);
        }
    }

    /// The power that the damping of the last [`change_velocities`](Self::change_velocities) takes at the given
    /// velocities, W: of the air, and of the elements if they were part of it.
    pub fn damping_power(&self, elements: &BodyElementsItem, velocities: &[Vector3<f64>]) -> f64 {
        let of_elements = if self.is_coupled {
            self.system.damping_power(elements, velocities)
        } else {
            0.0
        };
        of_elements + self.air_power(velocities)
    }

    /// The power that the air takes at the given velocities, W; negative where the wind drives the body.
    pub fn air_power(&self, velocities: &[Vector3<f64>]) -> f64 {
        let air = self.drag.iter().zip(&self.wind);
        air.zip(velocities)
            .map(|((drag, wind), velocity)| {
                (drag.cast::<f64>() * velocity - wind.cast::<f64>()).dot(velocity)
            })
            .sum()
    }
}
