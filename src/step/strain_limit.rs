//! Limits of strain: what they act on, and their passes.

use bevy::prelude::*;
use nalgebra::{Matrix2, Vector3};

use super::Integrator;
use super::half_step::HalfStep;
use super::prepare::describe;
use crate::Real;
use crate::body::strain_limit::LimitedElements;
use crate::body::{BodyFrame, Particles, PliantState, Springs, StrainLimit, Surface, Tetrahedra};
use crate::kernel::cloth::strain_limit as kernel;
use crate::kernel::cloth::strain_limit::{
    PositionCorrection, StrainRateLimit, Sweep, correct_positions, limit_strain, limit_strain_rate,
    limit_triangle,
};
use crate::kernel::energy::kinetic_energy;
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

    /// Limits the velocities with which the particles are about to move.
    pub fn limit_way(&mut self, particles: &mut Particles, half: &mut HalfStep) {
        if self.limit_velocities(particles) {
            half.correct_by(
                (particles.velocities.iter().zip(&self.elements.before))
                    .map(|(velocity, before)| (velocity - before) * self.dt),
            );
        }
    }

    /// Limits the velocities at the end of the substep; returns the kinetic energy that this takes, J.
    pub fn limit_end(&mut self, particles: &mut Particles) -> f64 {
        if !self.limit_velocities(particles) {
            return 0.0;
        }
        kinetic_energy(&particles.masses, &self.elements.before)
            - kinetic_energy(&particles.masses, &particles.velocities)
    }

    /// Corrects positions.
    pub fn limit_positions(&mut self, particles: &mut Particles, half: &mut HalfStep) {
        let StrainLimit::Positions { stretch, sweeps } = self.limit else {
            return;
        };
        let correction = PositionCorrection {
            stretch,
            sweeps,
            sweep: self.turn(),
        };
        let elements = &mut *self.elements;
        elements.before.clone_from(&particles.positions);
        let springs = kernel::Springs {
            ends: &elements.ends,
            rest_lengths: &elements.rest_lengths,
        };
        let (positions, masses) = (&mut particles.positions, &particles.inverse_masses);
        correct_positions(positions, masses, &springs, &correction);
        let moves = particles.positions.iter().zip(&elements.before);
        half.correct_by(moves.map(|(position, before)| position - before));
    }

    /// The order of this pass; the next one goes the other way.
    fn turn(&mut self) -> Sweep {
        let backward = &mut self.elements.is_backward;
        *backward = !*backward;
        if *backward {
            Sweep::Forward
        } else {
            Sweep::Backward
        }
    }

    /// Limits velocities, and keeps those before; whether the limit is one of velocities.
    fn limit_velocities(&mut self, particles: &mut Particles) -> bool {
        if matches!(self.limit, StrainLimit::Positions { .. }) {
            return false;
        }
        let sweep = self.turn();
        let elements = &mut *self.elements;
        elements.before.clone_from(&particles.velocities);
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
                for _ in 0..sweeps {
                    elements.limit_triangles(particles, bounds, self.dt, sweep);
                }
            }
        }
        // What rounding dropped belongs to velocities that are no more.
        for (remainder, (velocity, before)) in particles
            .velocity_remainders
            .iter_mut()
            .zip(particles.velocities.iter().zip(&elements.before))
        {
            if velocity != before {
                *remainder = Vector3::zeros();
            }
        }
        true
    }
}

impl LimitedElements {
    /// A pass over the triangles.
    fn limit_triangles(
        &self,
        particles: &mut Particles,
        bounds: [Real; 2],
        dt: Real,
        sweep: Sweep,
    ) {
        let count = self.triangles.len();
        for turn in 0..count {
            let triangle = match sweep {
                Sweep::Forward => turn,
                Sweep::Backward => count - 1 - turn,
            };
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
