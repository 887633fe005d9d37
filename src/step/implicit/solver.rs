//! The implicit solver of one body: what it keeps from step to step, and one stage.

mod potential;

use bevy::prelude::*;
use nalgebra::{Matrix3, Vector3};

pub(in crate::step) use self::potential::Energy;
use self::potential::Left;
use super::elements::Potential;
use super::kinds::BodyElementsItem;
use super::momentum::Momenta;
use super::system::System;
use super::touch::Touch;
use crate::Real;
use crate::body::Particles;
use crate::kernel::implicit::conjugate_gradient::Limits;
use crate::kernel::implicit::schemes::Approach;
use crate::kernel::implicit::{Freedom, Solution, Workers, row, vector};
use crate::step::threads::Threads;

/// Smallest J at which a tangled body counts as unfolded. Above zero by far, so that it does not tangle again at once under
/// its full resistance.
const UNTANGLED: f64 = 0.5;

/// Everything that the implicit integrator keeps for a body.
#[derive(Component, Debug, Default)]
pub(crate) struct ImplicitSolver {
    /// The topology that the pattern of the matrix belongs to.
    topology: Option<(u32, usize, usize)>,
    pub(super) system: System,
    /// Start of the stage, by particle.
    pub approach: Vec<Approach<Real>>,
    /// Velocities that are being solved for, by particle.
    pub velocities: Vec<Vector3<Real>>,
    /// Velocities at the start of the step.
    pub start_velocities: Vec<Vector3<Real>>,
    /// Positions and velocities at the end of the first stage, or one step ago for backward differences.
    pub other_positions: Vec<Vector3<Real>>,
    pub other_velocities: Vec<Vector3<Real>>,
    /// Accelerations that are taken as given, at the start and at the first stage.
    pub given: [Vec<Vector3<Real>>; 2],
    /// Positions of the state that a result is compared with.
    pub trial: Vec<Vector3<Real>>,
    /// Particles that touch colliders.
    pub touches: Vec<Touch>,
    /// Colliders near enough to touch: scratch.
    pub candidates: Vec<usize>,
    /// Energy lost until the start of the step, and its part that contact took, J.
    pub start_dissipated: [f64; 2],
    /// Resistance R of the air at the current speed, kg/s, by particle: the air pulls with R (u − v).
    pub drag: Vec<Matrix3<Real>>,
    /// Pull of the air on a particle at rest, R u, N.
    pub wind: Vec<Vector3<Real>>,
    /// Potential of the elements at the start of the step, while nothing that it depends on has changed.
    start_elements: Option<Potential<f64>>,
    /// What the last step left behind.
    left: Left,
    /// Whether the stage of elastic forces is switched on.
    pub is_elastic: bool,
    /// Length of the last step, s, when `other_*` hold its start; zero otherwise.
    pub history: f64,
    /// What the last step added to the momenta of a free body.
    pub momentum_change: Momenta,
    /// Whether the step is finished already, by the fallback.
    pub is_done: bool,
    /// Whether the body is turned inside out somewhere: it gives way to changes of volume until it has unfolded.
    is_tangled: bool,
    /// Whether the elements were part of the last implicit half step of mixed integration.
    pub is_coupled: bool,
    /// The island of touching bodies that the body is solved with.
    pub island: Option<u32>,
    /// Forces of contact with deformable bodies, by particle, N; empty without an island.
    pub contact_forces: Vec<Vector3<Real>>,
}

/// What one stage is.
#[derive(Clone, Copy)]
pub(in crate::step) struct Stage<'a> {
    /// Effective step h, s.
    pub step: Real,
    /// What viscosity counts from.
    pub reference: Reference<'a>,
    pub limits: Limits,
    /// Whether the body is turned inside out somewhere.
    pub is_tangled: bool,
}

impl<'a> Stage<'a> {
    /// A stage of one second from the given positions.
    pub fn of_a_second(positions: &'a [Vector3<Real>]) -> Self {
        Self {
            step: 1.0,
            reference: Reference {
                first: positions,
                second: None,
            },
            limits: Limits {
                iterations: 0,
                tolerance: 0.0,
            },
            is_tangled: false,
        }
    }
}

/// The strain that a stage starts from, as a sum of strains at earlier positions.
///
/// `Ê = (1 − w) E(first) + w E(second)`.
#[derive(Clone, Copy)]
pub(in crate::step) struct Reference<'a> {
    pub first: &'a [Vector3<Real>],
    pub second: Option<(&'a [Vector3<Real>], Real)>,
}

/// What became of the matrix since the last solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::step) enum MatrixIs {
    /// The body has moved far: linearize again.
    New,
    /// Other particles are held: the preconditioner must follow.
    Constrained,
    /// Nothing has changed.
    Same,
}

impl ImplicitSolver {
    /// Builds what depends on the topology of the body, if that has changed.
    pub fn fit(&mut self, particles: &Particles, elements: &BodyElementsItem, version: u32) {
        let topology = Some((version, particles.len(), elements.len()));
        if self.topology == topology {
            return;
        }
        *self = Self {
            topology,
            system: System::new(particles, elements),
            ..default()
        };
        let count = particles.len();
        let zero = Vector3::zeros();
        let approach = Approach {
            position: zero,
            velocity: zero,
        };
        self.approach.resize(count, approach);
        self.drag.resize(count, Matrix3::zeros());
        let [given, later] = &mut self.given;
        for vectors in [
            &mut self.velocities,
            &mut self.start_velocities,
            &mut self.other_positions,
            &mut self.other_velocities,
            &mut self.trial,
            &mut self.wind,
            given,
            later,
        ] {
            vectors.resize(count, zero);
        }
    }

    /// Looks whether the body is tangled, with the smallest J of its elements after the last step.
    pub fn watch(&mut self, smallest_volume_ratio: f64) {
        self.is_tangled = smallest_volume_ratio <= if self.is_tangled { UNTANGLED } else { 0.0 };
    }

    pub fn is_tangled(&self) -> bool {
        self.is_tangled
    }

    /// Energy of the elements at strains of about one, J.
    pub fn stiffness(&self) -> f64 {
        self.system.stiffness
    }

    /// Which particles are free.
    pub fn set_freedoms(&mut self, particles: &Particles) {
        self.start_elements = None;
        for (freedom, &particle) in self.system.freedoms.iter_mut().zip(&self.system.particles) {
            *freedom = if particles.inverse_masses[particle as usize] == 0.0 {
                Freedom::Held
            } else {
                Freedom::Free
            };
        }
        for touch in &self.touches {
            let row = self.system.rows.get(touch.particle);
            if let Some(&row) = row {
                self.system.freedoms[row as usize] = touch.freedom();
            }
        }
    }

    /// Puts the particles where their velocities lead them, and those that touch where they have to be.
    pub fn place(&mut self, particles: &mut Particles, step: Real) {
        for i in 0..particles.len() {
            if particles.inverse_masses[i] > 0.0 {
                particles.positions[i] = self.approach[i].position + self.velocities[i] * step;
            }
        }
        self.place_touches(&mut particles.positions, step);
    }

    /// Puts the particles that touch where they have to be.
    fn place_touches(&mut self, positions: &mut [Vector3<Real>], step: Real) {
        for touch in &self.touches {
            let particle = touch.particle;
            let place = touch.place(&positions[particle]);
            positions[particle] = place;
            self.velocities[particle] = (place - self.approach[particle].position) / step;
        }
    }

    /// The force that holds a particle that touches, at the current positions: what is missing in its row, N.
    pub fn holding_force(
        &self,
        touch: &Touch,
        particles: &Particles,
        elements: &BodyElementsItem,
        step: Real,
    ) -> Vector3<Real> {
        let balance = self.balance(touch.particle, particles, step);
        -if self.acts(elements) {
            self.system.add_force(touch.particle, balance)
        } else {
            balance
        }
    }

    /// Whether the body can be solved together with others: its elements act.
    pub fn can_join(&self) -> bool {
        self.is_elastic && self.system.matrix.rows() > 0
    }

    /// Whether elements take part in the step.
    pub(super) fn acts(&self, elements: &BodyElementsItem) -> bool {
        self.is_elastic && elements.len() > 0
    }

    /// What is missing to the balance of a particle, without elements and colliders, N: `M (u − v)/h − R v + w`.
    #[inline(always)]
    fn balance(&self, particle: usize, particles: &Particles, step: Real) -> Vector3<Real> {
        let velocity = self.velocities[particle];
        let balance = (self.approach[particle].velocity - velocity)
            * (particles.masses[particle] / step)
            - self.drag[particle] * velocity
            + self.wind[particle];
        match self.contact_forces.get(particle) {
            Some(contact) => balance + contact,
            None => balance,
        }
    }

    /// Evaluates the forces of the elements at the current positions.
    pub fn evaluate(&mut self, particles: &Particles, elements: &BodyElementsItem, stage: &Stage) {
        if self.acts(elements) {
            let threads = Threads::for_work(elements.len());
            let positions = &particles.positions;
            self.system
                .evaluate(positions, elements, stage, threads, false);
        }
    }

    /// One step of Newton's method on the stage, from the velocities that stand in `velocities`; positions follow.
    pub fn newton_step(
        &mut self,
        particles: &mut Particles,
        elements: &BodyElementsItem,
        stage: &Stage,
        matrix_is: MatrixIs,
    ) -> Solution {
        let step = stage.step;
        self.place(particles, step);
        if !self.acts(elements) {
            self.step_alone(particles, step);
            return Solution::default();
        }
        let threads = Threads::for_work(elements.len());
        self.linearize(particles, elements, stage, matrix_is, threads);
        if matrix_is != MatrixIs::Same {
            self.precondition(threads);
        }
        let System {
            matrix,
            coarse,
            conjugate_gradient,
            freedoms,
            residual,
            solution,
            ..
        } = &mut self.system;
        let report = conjugate_gradient.solve(
            threads,
            matrix,
            coarse,
            freedoms,
            residual,
            solution,
            stage.limits,
        );
        self.advance(particles, step, 1.0);
        report
    }

    /// Fills the system of equations at the current positions.
    pub fn linearize(
        &mut self,
        particles: &Particles,
        elements: &BodyElementsItem,
        stage: &Stage,
        matrix_is: MatrixIs,
        threads: Threads,
    ) {
        let step = stage.step;
        let again = matrix_is == MatrixIs::New;
        self.system
            .evaluate(&particles.positions, elements, stage, threads, again);
        self.set_residual(particles, step, threads);
        if again {
            let (drag, masses) = (&self.drag, &particles.masses);
            self.system.gather(threads, |particle| {
                (drag[particle] + Matrix3::from_diagonal_element(masses[particle] / step)) / step
            });
        }
        let System {
            particles: order,
            rows,
            friction,
            matrix,
            conjugate_gradient,
            positions,
            ..
        } = &mut self.system;
        if again {
            for (position, &particle) in positions.iter_mut().zip(&*order) {
                *position = row(&particles.positions[particle as usize]);
            }
            conjugate_gradient.outer.weight = 0.0;
            if let Some(inflation) = elements.inflation() {
                let outer = &mut conjugate_gradient.outer;
                outer.vector.resize(order.len(), [0.0; 4]);
                outer.weight = inflation.linearize(&particles.positions, rows, &mut outer.vector);
            }
        }
        if matrix_is != MatrixIs::Same {
            // Friction of the last solve out, that of this one in.
            if matrix_is == MatrixIs::Constrained {
                for &(row, value) in &*friction {
                    matrix.add_to_diagonal(row, -value);
                }
            }
            friction.clear();
            // Any of them may come to slide later, when nothing is to be allocated any more.
            friction.reserve(self.touches.len());
            for touch in self.touches.iter().filter(|touch| !touch.is_sticking) {
                let (row, value) = (rows[touch.particle] as usize, touch.drag / step);
                matrix.add_to_diagonal(row, value);
                friction.push((row, value));
            }
        }
    }

    /// Makes the preconditioner of the matrix.
    pub fn precondition(&mut self, threads: Threads) {
        let System {
            matrix,
            coarse,
            conjugate_gradient,
            freedoms,
            positions,
            ..
        } = &mut self.system;
        conjugate_gradient.prepare(threads, matrix, freedoms);
        coarse.update(threads, matrix, freedoms, positions);
    }

    /// Adds a fraction of the last solution to velocities and positions.
    pub fn advance(&mut self, particles: &mut Particles, step: Real, fraction: Real) {
        let rate = fraction / step;
        for (solution, &particle) in self.system.solution.iter().zip(&self.system.particles) {
            let (particle, change) = (particle as usize, vector(solution));
            if particles.inverse_masses[particle] > 0.0 {
                self.velocities[particle] += change * rate;
                particles.positions[particle] =
                    self.approach[particle].position + self.velocities[particle] * step;
            }
        }
    }

    /// Residual of the stage, by row.
    fn set_residual(&mut self, particles: &Particles, step: Real, threads: Threads) {
        // Written while the rest of the solver is read.
        let mut residual = std::mem::take(&mut self.system.residual);
        let System {
            particles: order,
            rows,
            freedoms,
            ..
        } = &self.system;
        let piece = threads.piece(order.len());
        let pieces = residual
            .chunks_mut(piece)
            .zip(order.chunks(piece).zip(freedoms.chunks(piece)));
        threads.run(pieces, |(residual, (order, freedoms))| {
            for ((residual, &particle), freedom) in residual.iter_mut().zip(order).zip(freedoms) {
                let particle = particle as usize;
                let balance = self.balance(particle, particles, step);
                *residual = row(&self.system.add_force(particle, balance));
                freedom.filter(residual);
            }
        });
        for touch in self.touches.iter().filter(|touch| !touch.is_sticking) {
            let residual = &mut residual[rows[touch.particle] as usize];
            let slip = touch.slip(&self.velocities[touch.particle]);
            for axis in 0..3 {
                residual[axis] -= touch.drag * slip[axis];
            }
        }
        self.system.residual = residual;
    }

    /// Particles without elements: only the air acts on them.
    fn step_alone(&mut self, particles: &mut Particles, step: Real) {
        for i in 0..particles.len() {
            if particles.inverse_masses[i] > 0.0 {
                let rate = step * particles.inverse_masses[i];
                let resistance = self.drag[i] * rate + Matrix3::identity();
                let velocity = self.approach[i].velocity + self.wind[i] * rate;
                // Never singular: the resistance is not negative.
                self.velocities[i] = resistance
                    .try_inverse()
                    .map_or(velocity, |inverse| inverse * velocity);
                particles.positions[i] = self.approach[i].position + self.velocities[i] * step;
            }
        }
        for touch in &self.touches {
            let i = touch.particle;
            let rate = touch.drag * step * particles.inverse_masses[i];
            let slip = touch.slip(&self.velocities[i]);
            self.velocities[i] -= slip * (rate / (1.0 + rate));
            particles.positions[i] = self.approach[i].position + self.velocities[i] * step;
        }
        self.place_touches(&mut particles.positions, step);
    }
}
