//! Limits of strain: what they act on, and their passes.

use bevy::prelude::*;
use nalgebra::{Matrix2, Vector3};

use super::Integrator;
use super::implicit::{Momenta, RigidMotion};
use super::prepare::describe;
use super::symplectic_euler::drift;
use crate::Real;
use crate::body::strain_limit::LimitedElements;
use crate::body::{BodyFrame, Particles, PliantState, Springs, StrainLimit, Surface, Tetrahedra};
use crate::kernel::cloth::strain_limit as kernel;
use crate::kernel::cloth::strain_limit::{
    PositionCorrection, StrainRateLimit, Sweep, correct_positions, limit_strain, limit_strain_rate,
    limit_triangle,
};
use crate::kernel::energy::{center_of_mass, kinetic_energy};
use crate::mesh::SpringKind;

type Limited_ = (
    Entity,
    Option<&'static Name>,
    Ref<'static, StrainLimit>,
    &'static mut LimitedElements,
    &'static PliantState,
    &'static BodyFrame,
    Option<&'static Springs>,
    Option<&'static Surface>,
    Has<Tetrahedra>,
);

/// Looks for what limits act on, where that has changed, and says so where a limit cannot act.
pub(super) fn prepare(integrator: Res<Integrator>, mut bodies: Query<Limited_>) {
    let is_known = matches!(
        *integrator,
        Integrator::Mixed { .. } | Integrator::SymplecticEuler { .. }
    );
    for (entity, name, limit, mut elements, state, frame, springs, surface, is_solid) in &mut bodies
    {
        let is_new = elements.version != Some(state.topology_version);
        if !(is_new || limit.is_changed() || integrator.is_changed()) {
            continue;
        }
        let elements = &mut *elements;
        if is_new {
            elements.version = Some(state.topology_version);
            elements.list(frame, springs, surface);
        }
        let problem = if !is_known {
            Some(format!(
                "the {} integrator has no StrainLimit, so this one has no effect; give the cloth a Fabric with a \
                 `strain_limit` instead, or use Integrator::MIXED or SYMPLECTIC_EULER",
                integrator.name()
            ))
        } else if is_solid || (elements.ends.is_empty() && elements.triangles.is_empty()) {
            Some("StrainLimit is for sheets and ropes, and has no effect here; remove it".into())
        } else if matches!(*limit, StrainLimit::Triangles { .. }) && elements.triangles.is_empty() {
            Some(
                "StrainLimit::Triangles needs triangles, and has no effect here; use \
                 StrainLimit::VELOCITIES"
                    .into(),
            )
        } else {
            limit
                .validate()
                .err()
                .map(|error| format!("{error}; it has no effect"))
        };
        elements.is_active = problem.is_none();
        if let Some(problem) = problem {
            warn!("{}: {problem}.", describe(entity, name));
        }
    }
}

impl LimitedElements {
    /// Lists springs and triangles with their shapes at rest.
    fn list(&mut self, frame: &BodyFrame, springs: Option<&Springs>, surface: Option<&Surface>) {
        let rest = &frame.rest_offsets;
        let exists = |&&[a, b, c]: &&[u32; 3]| rest.len() > a.max(b).max(c) as usize;
        let triangles = surface.map_or(&[][..], |surface| &surface.triangles);
        self.triangles = triangles.iter().filter(exists).copied().collect();
        let place = |corner: u32| rest[corner as usize].cast::<f64>();
        let inverse = |&[a, b, c]: &[u32; 3]| {
            let (first, second) = (place(b) - place(a), place(c) - place(a));
            let length = first.norm();
            let along = first.dot(&second) / length;
            let edges = Matrix2::new(length, along, 0.0, first.cross(&second).norm() / length);
            let inverse = edges.try_inverse().unwrap_or_else(Matrix2::zeros);
            inverse.map(|entry| entry as Real)
        };
        self.rest_inverses = self.triangles.iter().map(inverse).collect();
        if let Some(springs) = springs {
            let all = springs.ends().iter().zip(springs.kinds());
            let all = all.zip(springs.rest_lengths());
            let limited = all.filter(|((_, kind), _)| **kind != SpringKind::Bend);
            (self.ends, self.rest_lengths) =
                limited.map(|((&ends, _), length)| (ends, length)).unzip();
            return;
        }
        let sides = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
        let ascending = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        self.ends = self
            .triangles
            .iter()
            .flat_map(sides)
            .map(ascending)
            .collect();
        self.ends.sort_unstable();
        self.ends.dedup();
        let length = |&[a, b]: &[u32; 2]| (place(a) - place(b)).norm() as Real;
        self.rest_lengths = self.ends.iter().map(length).collect();
    }
}

/// A limit and what it acts on, as part of a query; `None` for bodies without.
pub(super) type Limited = Option<(&'static StrainLimit, &'static mut LimitedElements)>;

/// The limit of a body, for a substep.
pub(super) struct Limiter<'a> {
    limit: StrainLimit,
    elements: &'a mut LimitedElements,
    dt: Real,
}

impl<'a> Limiter<'a> {
    /// The limit if there is one that acts; `dt` the length of the substep, s.
    pub fn of(
        limited: &'a mut Option<(&StrainLimit, Mut<LimitedElements>)>,
        dt: Real,
    ) -> Option<Self> {
        let (limit, elements) = limited.as_mut()?;
        elements.is_active.then(|| Self {
            limit: **limit,
            elements: &mut **elements,
            dt,
        })
    }

    /// Moves the particles with their velocities v½, and changes those such that the way keeps the limit; returns the
    /// energy that this takes, J. The particles must hold the forces that made v½ in half a substep.
    ///
    /// ```text
    /// v½ = v + h/2 F/m,   ṽ = v½ + j,   x' = x + h ṽ
    /// taken = K(v) − K(v + j) = −Σ m j · (v½ − h/2 F/m + j/2)
    /// ```
    /// The impulses m j are those of the start of the substep, where the positions are still the old ones, so their work
    /// is what they change of the kinetic energy there: with ṽ going on, forces then do the same work along the way that
    /// they give to the velocities.
    pub fn drift(&mut self, particles: &mut Particles) -> f64 {
        let dt = self.dt;
        if let StrainLimit::Positions { stretch, sweeps } = self.limit {
            self.elements.velocities.clone_from(&particles.velocities);
            drift(particles, dt);
            self.correct_positions(particles, stretch, sweeps);
        } else {
            self.limit_velocities(particles);
            drift(particles, dt);
        }
        let mut taken = 0.0;
        for (i, before) in self.elements.velocities.iter().enumerate() {
            let impulse = (particles.velocities[i] - before).cast::<f64>();
            let kicked = particles.forces[i] * (particles.inverse_masses[i] * 0.5 * dt);
            let start = before.cast::<f64>() - kicked.cast::<f64>();
            let mass = f64::from(particles.masses[i]);
            taken -= mass * impulse.dot(&(start + impulse * 0.5));
        }
        taken
    }

    /// What the limit has changed of the velocity of each particle, m/s, while they are as it left them.
    pub fn impulses(&self, particles: &Particles) -> impl Iterator<Item = Vector3<Real>> {
        let pairs = particles.velocities.iter().zip(&self.elements.velocities);
        pairs.map(|(velocity, before)| velocity - before)
    }

    /// Limits the velocities at the end of the substep; returns the kinetic energy that this takes, J.
    pub fn limit_end(&mut self, particles: &mut Particles) -> f64 {
        if matches!(self.limit, StrainLimit::Positions { .. }) {
            return 0.0;
        }
        self.limit_velocities(particles);
        kinetic_energy(&particles.masses, &self.elements.velocities)
            - kinetic_energy(&particles.masses, &particles.velocities)
    }

    /// Corrects positions, and the velocities that have led there.
    fn correct_positions(&mut self, particles: &mut Particles, stretch: Real, sweeps: u32) {
        let correction = PositionCorrection {
            stretch,
            sweeps,
            sweep: Sweep::Alternating,
        };
        let elements = &mut *self.elements;
        elements.positions.clone_from(&particles.positions);
        let springs = kernel::Springs {
            ends: &elements.ends,
            rest_lengths: &elements.rest_lengths,
        };
        let (positions, masses) = (&mut particles.positions, &particles.inverse_masses);
        correct_positions(positions, masses, &springs, &correction);
        for (i, before) in elements.positions.iter().enumerate() {
            let change = particles.positions[i] - before;
            if change != Vector3::zeros() {
                particles.velocities[i] += change / self.dt;
                particles.velocity_remainders[i] = Vector3::zeros();
            }
        }
    }

    /// Adds the rigid motion that gives a free body back the angular momentum that impulses have changed. Those of springs
    /// along the predicted line and of triangles have no torque about the places at the end of the substep, but one about
    /// the places now; in each substep they correct what the last one left, so shorter substeps would not make it less.
    fn give_turn_back(&self, particles: &mut Particles) {
        let has_torque = match self.limit {
            StrainLimit::Positions { .. } => false,
            StrainLimit::Velocities { line, .. } => line == kernel::Line::Predicted,
            StrainLimit::Triangles { .. } => true,
        };
        let is_free = particles
            .inverse_masses
            .iter()
            .all(|&inverse| inverse > 0.0);
        if !(has_torque && is_free) {
            return;
        }
        let (masses, positions) = (&particles.masses, &particles.positions);
        let center = center_of_mass(masses, positions);
        let mut missing = Momenta::default();
        for (i, before) in self.elements.velocities.iter().enumerate() {
            let change = (before - particles.velocities[i]).cast::<f64>();
            let impulse = change * f64::from(masses[i]);
            missing.linear += impulse;
            missing.angular += (positions[i].cast::<f64>() - center).cross(&impulse);
        }
        let motion = RigidMotion::of(masses, positions, &missing);
        for (velocity, position) in particles.velocities.iter_mut().zip(positions) {
            *velocity += motion.at(position).map(|x| x as Real);
        }
    }

    /// Limits velocities, and keeps those before.
    fn limit_velocities(&mut self, particles: &mut Particles) {
        let sweep = Sweep::Alternating;
        let elements = &mut *self.elements;
        elements.velocities.clone_from(&particles.velocities);
        let Particles {
            positions,
            velocities,
            inverse_masses,
            ..
        } = particles;
        match self.limit {
            StrainLimit::Positions { .. } => {}
            StrainLimit::Velocities {
                stretch,
                compression,
                rate,
                sweeps,
                line,
            } => {
                let springs = kernel::Springs {
                    ends: &elements.ends,
                    rest_lengths: &elements.rest_lengths,
                };
                if let Some(rate) = rate {
                    let limit = StrainRateLimit {
                        rate,
                        sweeps,
                        sweep,
                        line,
                    };
                    limit_strain_rate(
                        positions,
                        velocities,
                        inverse_masses,
                        &springs,
                        self.dt,
                        &limit,
                    );
                }
                // After the rate, so that the strain has the last word.
                let limit = kernel::StrainLimit {
                    stretch,
                    compression,
                    sweeps,
                    sweep,
                    line,
                };
                limit_strain(
                    positions,
                    velocities,
                    inverse_masses,
                    &springs,
                    self.dt,
                    &limit,
                );
            }
            StrainLimit::Triangles {
                stretch,
                compression,
                sweeps,
            } => {
                let bounds = [1.0 - compression.unwrap_or(1.0), 1.0 + stretch];
                for pass in 0..sweeps {
                    elements.limit_triangles(particles, bounds, self.dt, pass);
                }
            }
        }
        self.give_turn_back(particles);
        // What rounding dropped belongs to velocities that are no more.
        let elements = &*self.elements;
        for (remainder, (velocity, before)) in particles
            .velocity_remainders
            .iter_mut()
            .zip(particles.velocities.iter().zip(&elements.velocities))
        {
            if velocity != before {
                *remainder = Vector3::zeros();
            }
        }
    }
}

impl LimitedElements {
    /// A pass over the triangles.
    fn limit_triangles(&self, particles: &mut Particles, bounds: [Real; 2], dt: Real, pass: u32) {
        let count = self.triangles.len();
        for turn in 0..count {
            let triangle = Sweep::Alternating.element(pass, turn, count);
            let corners = self.triangles[triangle].map(|corner| corner as usize);
            let ends = corners.map(|i| particles.positions[i] + particles.velocities[i] * dt);
            let masses = corners.map(|i| particles.inverse_masses[i]);
            let moves = limit_triangle(&ends, &masses, &self.rest_inverses[triangle], bounds);
            for (i, way) in corners.into_iter().zip(moves) {
                particles.velocities[i] += way / dt;
            }
        }
    }
}
