//! Runs with Rapier's soft bodies.

use std::time::Instant;

use nalgebra::Vector3;
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, RigidBodyBuilder, SoftBodyBuilder, SoftBodyCellModel,
    SoftBodyMaterial, SoftBodySolver, Vector,
};

use crate::case::{Case, FRAMES_PER_SECOND, GRAVITY, Law, THICKNESS, lumped_masses};
use crate::motion::Motion;

/// Which of Rapier's solvers moves the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Every element is a set of soft constraints, swept once per substep. Rapier's default.
    Constraints,
    /// A linearly implicit Euler step per substep, by conjugate gradients.
    FiniteElements,
}

/// What can be chosen of Rapier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The solver.
    pub solver: Solver,
    /// Damping ratio of the cells; Rapier's default is 1, the reference has none.
    pub damping_ratio: f32,
    /// Substeps per frame.
    pub substeps: usize,
    /// Most iterations of the conjugate gradients per substep.
    pub linear_iterations: usize,
}

impl Settings {
    /// Rapier's defaults for its solver by finite elements, but without damping, as the reference has none.
    pub fn yardstick() -> Self {
        Self {
            solver: Solver::FiniteElements,
            damping_ratio: 0.0,
            substeps: 4,
            linear_iterations: 20,
        }
    }

    /// The settings in words.
    pub fn describe(&self) -> String {
        let Self {
            substeps,
            linear_iterations,
            damping_ratio,
            ..
        } = self;
        match self.solver {
            Solver::Constraints => {
                format!("constraints, {substeps} substeps, damping {damping_ratio}")
            }
            Solver::FiniteElements => format!(
                "FEM, {substeps} substeps, {linear_iterations} iterations, damping {damping_ratio}"
            ),
        }
    }
}

/// Simulates a case.
pub fn run(case: &Case, law: Law, settings: &Settings) -> Motion {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::Y * -(GRAVITY as f32);
    let parameters = &mut world.integration_parameters;
    parameters.dt = (1.0 / FRAMES_PER_SECOND) as f32;
    parameters.num_solver_iterations = settings.substeps;
    parameters.soft_bodies.fem.max_linear_iterations = settings.linear_iterations;
    if case.ground {
        world.insert(
            RigidBodyBuilder::fixed().translation(Vector::new(0.0, -0.1, 0.0)),
            ColliderBuilder::cuboid(5.0, 0.1, 5.0),
        );
    }
    let handle = world.insert_soft_body(builder(case, law, settings));
    let mut motion = Motion::default();
    for _ in 0..case.frames {
        let start = Instant::now();
        world.step();
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let Some(body) = world.soft_bodies.get(handle) else {
            return motion;
        };
        let positions: Vec<_> = body
            .particle_positions()
            .map(|position| Vector3::from(position.to_array()).cast())
            .collect();
        motion.record(case, &positions, milliseconds);
    }
    motion
}

fn builder(case: &Case, law: Law, settings: &Settings) -> SoftBodyBuilder {
    let positions = case.mesh.positions.iter();
    let positions = positions
        .map(|position| Vector::from_array(position.cast::<f32>().into()))
        .collect();
    let masses = lumped_masses(case).into_iter().map(|mass| mass as f32);
    let builder = SoftBodyBuilder::new(positions)
        .masses(masses.collect())
        .cells(case.mesh.tetrahedra.clone())
        .pinned_particles(case.held.iter().copied())
        .cell_model(match law {
            Law::Corotational => SoftBodyCellModel::Corotational,
            Law::NeoHookean => SoftBodyCellModel::NeoHookean,
        })
        .solver(match settings.solver {
            Solver::Constraints => SoftBodySolver::Constraints,
            Solver::FiniteElements => SoftBodySolver::Fem,
        })
        .material(SoftBodyMaterial {
            young_modulus: case.young_modulus as f32,
            poisson_ratio: case.poisson_ratio as f32,
            elastic_damping_ratio: settings.damping_ratio,
            ..SoftBodyMaterial::default()
        })
        .particle_radius(THICKNESS as f32)
        .can_sleep(false);
    if case.ground {
        builder
    } else {
        builder.no_surface_collider()
    }
}
