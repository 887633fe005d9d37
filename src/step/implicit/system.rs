//! The system of equations of a body, and the elements that fill it.

use nalgebra::Vector3;
use simba::simd::SimdValue;

use super::elements::{PairBlock, Potential, evaluate_forces, linearize, sum_potential};
use super::solver::Stage;
use super::tetrahedron::{ElasticTetrahedron, Friction};
use crate::Real;
use crate::body::tetrahedra::{LANES, Lanes};
use crate::body::{ElasticModel, Particles, Tetrahedra};
use crate::kernel::elasticity::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use crate::kernel::implicit::{
    Aggregates, BlockMatrix, CoarseSpace, ConjugateGradient, Freedom, Row,
};
use crate::step::threads::Threads;

/// The system of equations.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Particle of each row, and row of each particle.
    pub particles: Vec<u32>,
    pub rows: Vec<u32>,
    /// What friction has put on the diagonal, by row.
    pub friction: Vec<(usize, Real)>,
    pub matrix: BlockMatrix<Real>,
    pub coarse: CoarseSpace<Real>,
    pub conjugate_gradient: ConjugateGradient<Real>,
    pub freedoms: Vec<Freedom<Real>>,
    pub positions: Vec<Row<Real>>,
    pub residual: Vec<Row<Real>>,
    pub solution: Vec<Row<Real>>,
    pub corner_stiffness: Vec<[[PairBlock; 10]; LANES]>,
    pub sums: Vec<Potential<f64>>,
    /// Rest volume of all elements, m³.
    pub rest_volume: f64,
}

impl System {
    pub fn new(particles: &Particles, tetrahedra: &Tetrahedra) -> Self {
        let count = particles.len();
        let corners = tetrahedra.corners();
        let (starts, neighbours) = neighbours(count, tetrahedra);
        let rest: Vec<Vector3<f64>> = particles.positions.iter().map(|x| x.cast()).collect();
        let aggregates = Aggregates::new(&rest, (&starts, &neighbours));
        let mut rows = vec![0_u32; count];
        for (row, &particle) in (0..).zip(&aggregates.particles) {
            rows[particle as usize] = row;
        }
        let by_row: Vec<[u32; 4]> = corners
            .iter()
            .map(|tet| tet.map(|corner| rows[corner as usize]))
            .collect();
        let matrix = BlockMatrix::new(count, by_row.iter().map(<[u32; 4]>::as_slice));
        Self {
            coarse: CoarseSpace::new(&aggregates.starts, &matrix),
            particles: aggregates.particles,
            rows,
            friction: Vec::new(),
            matrix,
            conjugate_gradient: ConjugateGradient::default(),
            freedoms: vec![Freedom::Free; count],
            positions: vec![[0.0; 4]; count],
            residual: vec![[0.0; 4]; count],
            solution: vec![[0.0; 4]; count],
            // One more, since rows are read four numbers at a time.
            corner_stiffness: vec![[[[0.0; 9]; 10]; LANES]; tetrahedra.blocks.len() + 1],
            sums: Vec::new(),
            rest_volume: tetrahedra
                .rest_volumes()
                .iter()
                .map(|&volume| f64::from(volume))
                .sum(),
        }
    }
}

/// Where the particles that share an element with each particle start, and these particles, ascending.
fn neighbours(count: usize, tetrahedra: &Tetrahedra) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    let mut neighbours = Vec::new();
    let mut around = Vec::new();
    for particle in 0..count {
        let places = tetrahedra.places(particle);
        let elements = places
            .iter()
            .map(|place| tetrahedra.corners()[*place as usize / 4]);
        around.clear();
        around.extend(elements.flatten());
        around.sort_unstable();
        around.dedup();
        neighbours.extend_from_slice(&around);
        starts.push(neighbours.len() as u32);
    }
    (starts, neighbours)
}

/// The passes over the elements of a body, once their law is known.
pub(super) trait Kind {
    fn evaluate(
        &self,
        system: &mut System,
        particles: &Particles,
        tetrahedra: &mut Tetrahedra,
        threads: Threads,
        with_stiffness: bool,
    );
    fn sum(
        &self,
        tetrahedra: &Tetrahedra,
        positions: &[Vector3<Real>],
        threads: Threads,
        sums: &mut Vec<Potential<f64>>,
    ) -> Potential<f64>;
}

impl<Law: Elasticity<Lanes> + Sync> Kind for ElasticTetrahedron<'_, Law> {
    fn evaluate(
        &self,
        system: &mut System,
        particles: &Particles,
        tetrahedra: &mut Tetrahedra,
        threads: Threads,
        with_stiffness: bool,
    ) {
        let Tetrahedra {
            blocks,
            corner_vectors,
            ..
        } = tetrahedra;
        let positions = &particles.positions;
        if with_stiffness {
            let stiffness = &mut system.corner_stiffness;
            linearize(self, blocks, positions, threads, corner_vectors, stiffness);
        } else {
            evaluate_forces(self, blocks, positions, threads, corner_vectors);
        }
    }

    fn sum(
        &self,
        tetrahedra: &Tetrahedra,
        positions: &[Vector3<Real>],
        threads: Threads,
        sums: &mut Vec<Potential<f64>>,
    ) -> Potential<f64> {
        sum_potential(self, &tetrahedra.blocks, positions, threads, sums)
    }
}

/// Calls `work` with the elements of the body's law.
pub(super) fn with_law<T: std::ops::Deref<Target = Tetrahedra>, Out>(
    tetrahedra: T,
    stage: &Stage,
    work: impl FnOnce(T, &dyn Kind) -> Out,
) -> Out {
    let moduli = tetrahedra.moduli();
    let friction = tetrahedra.viscosity().map(|viscosity| Friction {
        viscosity,
        inverse_step: Lanes::splat(stage.step.recip()),
        reference: stage.reference,
    });
    match tetrahedra.model {
        ElasticModel::StableNeoHookean => {
            let law = StableNeoHookean::from_moduli(moduli);
            work(tetrahedra, &ElasticTetrahedron { law, friction })
        }
        ElasticModel::Corotational => {
            let law = Corotational::from_moduli(moduli);
            work(tetrahedra, &ElasticTetrahedron { law, friction })
        }
        ElasticModel::Liesenfeld { extension_below } => {
            let law = Liesenfeld::extended(moduli, Lanes::splat(extension_below));
            work(tetrahedra, &ElasticTetrahedron { law, friction })
        }
    }
}
