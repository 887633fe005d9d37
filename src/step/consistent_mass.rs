//! The consistent mass matrix of a body, factored once [000 §5.4, §6.4].

use bevy::prelude::*;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Llt;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use nalgebra::Vector3;

use crate::body::solid::to_real;
use crate::body::{Particles, Tetrahedra};
use crate::kernel::mass::{consistent_diagonal, consistent_off_diagonal};

/// Sparse Cholesky factor of the mass matrix of the free particles.
///
/// The matrix is the same for the three axes, so it has one row per particle. Held particles move on straight lines
/// within a tick (no acceleration), hence their rows and columns simply drop out.
#[derive(Component)]
pub(crate) struct ConsistentMass {
    factor: Llt<usize, f64>,
    /// The particles of the rows.
    free: Vec<u32>,
    right_side: Mat<f64>,
    /// What the factor was made for.
    key: Key,
}

/// Where the factor is still right.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    topology_version: u32,
    density: f64,
    held: Vec<bool>,
}

fn key(particles: &Particles, tetrahedra: &Tetrahedra, topology_version: u32) -> Key {
    Key {
        topology_version,
        density: f64::from(tetrahedra.density),
        held: particles
            .inverse_masses
            .iter()
            .map(|&inverse| inverse == 0.0)
            .collect(),
    }
}

impl ConsistentMass {
    /// Assembles and factors the matrix; `None` if it is not positive definite (a free particle without mass).
    pub(crate) fn new(
        particles: &Particles,
        tetrahedra: &Tetrahedra,
        topology_version: u32,
    ) -> Option<Self> {
        let key = key(particles, tetrahedra, topology_version);
        let mut rows = vec![usize::MAX; particles.len()];
        let mut free = Vec::new();
        for (particle, _) in (0_u32..).zip(&key.held).filter(|(_, held)| !**held) {
            rows[particle as usize] = free.len();
            free.push(particle);
        }
        let mut triplets = Vec::with_capacity(tetrahedra.len() * 10);
        for (tet, &volume) in tetrahedra.corners().iter().zip(tetrahedra.rest_volumes()) {
            let mass = f64::from(volume) * key.density;
            for (i, &a) in tet.iter().enumerate() {
                for (j, &b) in tet.iter().enumerate() {
                    let (row, col) = (rows[a as usize], rows[b as usize]);
                    if row == usize::MAX || col == usize::MAX || row < col {
                        continue;
                    }
                    let entry = if i == j {
                        consistent_diagonal(mass)
                    } else {
                        consistent_off_diagonal(mass)
                    };
                    triplets.push(Triplet::new(row, col, entry));
                }
            }
        }
        let matrix =
            SparseColMat::<usize, f64>::try_new_from_triplets(free.len(), free.len(), &triplets)
                .ok()?;
        let factor = matrix.sp_cholesky(Side::Lower).ok()?;
        Some(Self {
            factor,
            right_side: Mat::zeros(free.len(), 3),
            free,
            key,
        })
    }

    /// Whether the factor still belongs to the body.
    pub(crate) fn fits(
        &self,
        particles: &Particles,
        tetrahedra: &Tetrahedra,
        topology_version: u32,
    ) -> bool {
        self.key == key(particles, tetrahedra, topology_version)
    }

    /// Accelerations M⁻¹ f of the free particles; held ones get zero.
    pub(crate) fn solve(
        &mut self,
        forces: &[Vector3<crate::Real>],
        accelerations: &mut [Vector3<f64>],
    ) {
        for (row, &particle) in self.free.iter().enumerate() {
            for axis in 0..3 {
                self.right_side[(row, axis)] = f64::from(forces[particle as usize][axis]);
            }
        }
        self.factor.solve_in_place(self.right_side.as_mut());
        accelerations.fill(Vector3::zeros());
        for (row, &particle) in self.free.iter().enumerate() {
            accelerations[particle as usize] =
                Vector3::from_fn(|axis, _| self.right_side[(row, axis)]);
        }
    }
}

/// Accelerations f/m with lumped masses.
pub(crate) fn lumped_accelerations(particles: &Particles, accelerations: &mut [Vector3<f64>]) {
    for ((acceleration, force), &inverse) in accelerations
        .iter_mut()
        .zip(&particles.forces)
        .zip(&particles.inverse_masses)
    {
        *acceleration = force.cast::<f64>() * f64::from(inverse);
    }
}

/// A double-precision vector in the run-time scalar.
pub(crate) fn to_real_vector(v: &Vector3<f64>) -> Vector3<crate::Real> {
    v.map(to_real)
}
