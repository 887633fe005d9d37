//! The incremental potential of a stage, and which of its parts need not be summed up again.

use nalgebra::Vector3;

use super::super::elements::Potential;
use super::super::kinds::{BodyElementsItem, Versions};
use super::{ImplicitSolver, Stage};
use crate::Real;
use crate::body::Particles;
use crate::kernel::implicit::schemes::Approach;
use crate::step::threads::Threads;

/// Potentials of a stage.
#[derive(Clone, Copy, Debug)]
pub(in crate::step) struct Energy {
    /// Incremental potential Ψ, J.
    pub incremental: f64,
    pub elements: Potential<f64>,
    /// Power lost to the air, W; negative where the wind drives the body.
    pub drag_power: f64,
}

/// The energy at the end of a step: that at the start of the next one, if nobody has touched the body.
#[derive(Debug, Default)]
pub(super) struct Left {
    positions: Vec<Vector3<Real>>,
    potential: Option<Potential<f64>>,
    versions: Versions,
    is_tangled: bool,
}

impl ImplicitSolver {
    /// The incremental potential and its parts at the current positions and velocities.
    pub fn energy(
        &mut self,
        particles: &Particles,
        elements: &BodyElementsItem,
        stage: &Stage,
    ) -> Energy {
        let velocities = &self.velocities;
        let mut energy = self.without_elements(particles, &self.approach, stage, |i| velocities[i]);
        energy.add(
            &self.elements(&particles.positions, elements, stage),
            stage.step,
        );
        energy
    }

    /// The incremental potential at the start of the step, but with the held particles where they are now.
    pub fn start_energy(
        &mut self,
        particles: &Particles,
        elements: &BodyElementsItem,
        stage: &Stage,
    ) -> Energy {
        let start = stage.reference.first;
        let mut trial = std::mem::take(&mut self.trial);
        let approach = std::mem::take(&mut self.approach);
        for (i, place) in trial.iter_mut().enumerate() {
            let held = particles.inverse_masses[i] == 0.0;
            *place = if held {
                particles.positions[i]
            } else {
                start[i]
            };
        }
        for touch in &self.touches {
            trial[touch.particle] = touch.place(&trial[touch.particle]);
        }
        let rate = stage.step.recip();
        let velocity = |i: usize| (trial[i] - approach[i].position) * rate;
        let mut energy = self.without_elements(particles, &approach, stage, velocity);
        // Both stages of a step start from the same place, unless pins have moved; friction counts from another.
        let is_same = !elements.have_friction()
            && self.touches.is_empty()
            && !particles.inverse_masses.contains(&0.0);
        let potential = self
            .start_elements
            .filter(|_| is_same)
            .or_else(|| self.left_at(&trial, elements, stage))
            .unwrap_or_else(|| self.elements(&trial, elements, stage));
        self.start_elements = Some(potential);
        energy.add(&potential, stage.step);
        self.trial = trial;
        self.approach = approach;
        energy
    }

    /// Keeps the potential at the end of a step for the start of the next one.
    pub fn leave(
        &mut self,
        particles: &Particles,
        elements: &BodyElementsItem,
        potential: &Potential<f64>,
    ) {
        let left = &mut self.left;
        left.positions.clone_from(&particles.positions);
        left.potential = self.is_elastic.then_some(*potential);
        left.versions = elements.versions();
        left.is_tangled = self.is_tangled;
    }

    /// The potential at the given positions, if the last step ended there and friction counts from there.
    fn left_at(
        &self,
        positions: &[Vector3<Real>],
        elements: &BodyElementsItem,
        stage: &Stage,
    ) -> Option<Potential<f64>> {
        let Left {
            positions: left,
            potential,
            versions,
            is_tangled,
        } = &self.left;
        let is_there = self.is_elastic
            && *is_tangled == self.is_tangled
            && *versions == elements.versions()
            && left == positions
            && (!elements.have_friction()
                || (stage.reference.second.is_none() && stage.reference.first == positions));
        potential.filter(|_| is_there).map(|potential| Potential {
            dissipated_power: 0.0,
            ..potential
        })
    }

    fn without_elements(
        &self,
        particles: &Particles,
        approach: &[Approach<Real>],
        stage: &Stage,
        velocity: impl Fn(usize) -> Vector3<Real>,
    ) -> Energy {
        let (mut inertial, mut drag_power, mut wind_power) = (0.0, 0.0, 0.0);
        for i in 0..particles.len() {
            if particles.inverse_masses[i] > 0.0 {
                let velocity = velocity(i);
                let change = velocity - approach[i].velocity;
                inertial += 0.5 * f64::from(particles.masses[i] * change.norm_squared());
                drag_power += f64::from(velocity.dot(&(self.drag[i] * velocity)));
                wind_power += f64::from(velocity.dot(&self.wind[i]));
            }
        }
        let mut friction_power = 0.0;
        for touch in self.touches.iter().filter(|touch| !touch.is_sticking) {
            let slip = touch.slip(&velocity(touch.particle));
            friction_power += f64::from(touch.drag * slip.norm_squared());
        }
        Energy {
            incremental: inertial
                + f64::from(stage.step) * (0.5 * (drag_power + friction_power) - wind_power),
            elements: Potential::NOTHING,
            drag_power: drag_power - wind_power,
        }
    }

    fn elements(
        &mut self,
        positions: &[Vector3<Real>],
        elements: &BodyElementsItem,
        stage: &Stage,
    ) -> Potential<f64> {
        if !self.acts(elements) {
            return Potential::NOTHING;
        }
        let threads = Threads::for_work(elements.len());
        self.system.sum(positions, elements, stage, threads)
    }
}

impl Energy {
    fn add(&mut self, elements: &Potential<f64>, step: Real) {
        self.elements = *elements;
        self.incremental += elements.elastic + 0.5 * f64::from(step) * elements.dissipated_power;
    }
}
