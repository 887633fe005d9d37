//! The system of equations of a body, and the passes over the elements that fill it.

use nalgebra::{Matrix3, Vector3};

use super::elements::{PairBlock, Potential};
use super::kinds::{BodyElementsItem, Corners};
use super::solver::Stage;
use crate::Real;
use crate::body::Particles;
use crate::kernel::implicit::{
    Aggregates, BlockMatrix, CoarseSpace, ConjugateGradient, Freedom, Row, Workers,
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
    /// Forces of the elements on their corners, kind by kind, N.
    corner_forces: Vec<Vector3<Real>>,
    /// Stiffness of the elements, by kind, element and pair of corners, N/m.
    pub corner_stiffness: Vec<PairBlock>,
    /// Where the corners of each particle start in `incidence`; one more entry than particles.
    incidence_starts: Vec<u32>,
    /// For each particle, its places in `corner_forces`, ascending.
    incidence: Vec<u32>,
    sums: Vec<Potential<f64>>,
    /// Energy of the elements at strains of about one, J.
    pub stiffness: f64,
}

impl System {
    /// The system of a body; without any element there is nothing to solve.
    pub fn new(particles: &Particles, elements: &BodyElementsItem) -> Self {
        if elements.len() == 0 {
            return Self::default();
        }
        let count = particles.len();
        let kinds: Vec<Corners> = elements.corners().collect();
        let (starts, neighbours) = neighbours(count, &kinds);
        let rest: Vec<Vector3<f64>> = particles.positions.iter().map(|x| x.cast()).collect();
        let aggregates = Aggregates::new(&rest, (&starts, &neighbours));
        let mut rows = vec![0_u32; count];
        for (row, &particle) in (0..).zip(&aggregates.particles) {
            rows[particle as usize] = row;
        }
        let by_row: Vec<Vec<u32>> = kinds
            .iter()
            .map(|kind| {
                let row = |&corner: &u32| rows[corner as usize];
                kind.particles.iter().map(row).collect()
            })
            .collect();
        let mut first = 0;
        let patterns = kinds.iter().zip(&by_row).flat_map(|(kind, by_row)| {
            let base = first;
            first += kind.padded_len() * kind.pairs();
            let element = move |(index, corners)| ((base + index * kind.pairs()) as u32, corners);
            by_row.chunks_exact(kind.nodes).enumerate().map(element)
        });
        let matrix = BlockMatrix::new(count, patterns);
        let total = |size: &dyn Fn(&Corners) -> usize| -> usize {
            kinds
                .iter()
                .map(|kind| kind.padded_len() * size(kind))
                .sum()
        };
        let (incidence_starts, incidence) = incidence(count, &kinds);
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
            corner_forces: vec![Vector3::zeros(); total(&|kind| kind.nodes)],
            // One more, since rows are read four numbers at a time.
            corner_stiffness: vec![[0.0; 9]; total(&|kind| kind.pairs()) + 1],
            incidence_starts,
            incidence,
            sums: Vec::new(),
            stiffness: elements.stiffness(),
        }
    }

    /// Evaluates the forces of the elements, and their stiffness if asked for.
    pub fn evaluate(
        &mut self,
        positions: &[Vector3<Real>],
        elements: &BodyElementsItem,
        stage: &Stage,
        threads: Threads,
        with_stiffness: bool,
    ) {
        let mut forces = self.corner_forces.as_mut_slice();
        let mut stiffness = self.corner_stiffness.as_mut_slice();
        elements.for_each(stage, |corners, kind| {
            let count = corners.padded_len();
            let mine = forces.split_off_mut(..count * corners.nodes);
            let blocks = stiffness.split_off_mut(..count * corners.pairs());
            let (mine, blocks) = (mine.unwrap_or_default(), blocks.unwrap_or_default());
            if with_stiffness {
                kind.linearize(positions, threads, mine, blocks);
            } else {
                kind.evaluate(positions, threads, mine);
            }
        });
    }

    /// Evaluates the damping of the elements, in the place of their stiffness, kg/s.
    pub fn damp(
        &mut self,
        positions: &[Vector3<Real>],
        elements: &BodyElementsItem,
        threads: Threads,
    ) {
        let mut damping = self.corner_stiffness.as_mut_slice();
        elements.for_each(&Stage::of_a_second(positions), |corners, kind| {
            let mine = damping.split_off_mut(..corners.padded_len() * corners.pairs());
            kind.damp(positions, threads, mine.unwrap_or_default());
        });
    }

    /// The power vᵀ D v that the damping evaluated last takes at the given velocities, W.
    pub fn damping_power(&self, elements: &BodyElementsItem, velocities: &[Vector3<f64>]) -> f64 {
        let (mut power, mut first) = (0.0, 0);
        for kind in elements.corners() {
            let blocks = self.corner_stiffness[first..].chunks_exact(kind.pairs());
            for (corners, blocks) in kind.particles.chunks_exact(kind.nodes).zip(blocks) {
                let pairs = (0..kind.nodes).flat_map(|a| (a..kind.nodes).map(move |b| (a, b)));
                for ((a, b), block) in pairs.zip(blocks) {
                    let [left, right] = [a, b].map(|corner| velocities[corners[corner] as usize]);
                    let block = Matrix3::from_column_slice(block).cast::<f64>();
                    let times = if a == b { 1.0 } else { 2.0 };
                    power += times * left.dot(&(block * right));
                }
            }
            first += kind.padded_len() * kind.pairs();
        }
        power
    }

    /// Fills the matrix from the blocks of the elements, and `diagonal` of each particle.
    pub fn gather(&mut self, threads: Threads, diagonal: impl Fn(usize) -> Matrix3<Real> + Sync) {
        let (order, blocks) = (&self.particles, self.corner_stiffness.as_flattened());
        let (piece, last) = (threads.piece(self.matrix.rows()), self.matrix.rows());
        let ranges = (0..last).step_by(piece);
        let ranges = ranges.map(move |first| first..(first + piece).min(last));
        threads.run(self.matrix.split(ranges), |mut rows| {
            rows.gather(blocks, |row| diagonal(order[row] as usize));
        });
    }

    /// The force of the elements on a particle, as evaluated last, added to a vector.
    #[inline(always)]
    pub fn add_force(&self, particle: usize, mut sum: Vector3<Real>) -> Vector3<Real> {
        let [first, last] =
            [particle, particle + 1].map(|index| self.incidence_starts[index] as usize);
        for &place in &self.incidence[first..last] {
            sum += self.corner_forces[place as usize];
        }
        sum
    }

    /// Sums up the potential of the elements.
    pub fn sum(
        &mut self,
        positions: &[Vector3<Real>],
        elements: &BodyElementsItem,
        stage: &Stage,
        threads: Threads,
    ) -> Potential<f64> {
        let mut sum = Potential::NOTHING;
        elements.for_each(stage, |_, kind| {
            sum = sum.plus(&kind.sum(positions, threads, &mut self.sums));
        });
        sum
    }
}

/// Where the places of each particle start among the corners of all kinds, and these places, ascending.
fn incidence(count: usize, kinds: &[Corners]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; count + 1];
    for &corner in kinds.iter().flat_map(|kind| kind.particles) {
        starts[corner as usize + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut places = vec![0; starts[count] as usize];
    let mut first = 0;
    for kind in kinds {
        for (place, &corner) in (first..).zip(kind.particles) {
            let slot = &mut next[corner as usize];
            places[*slot as usize] = place;
            *slot += 1;
        }
        first += (kind.padded_len() * kind.nodes) as u32;
    }
    (starts, places)
}

/// Where the particles that share an element with each particle start, and these particles, ascending.
fn neighbours(count: usize, kinds: &[Corners]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = (0..count as u32).map(|i| (i, i)).collect();
    for kind in kinds {
        for corners in kind.particles.chunks_exact(kind.nodes) {
            for &corner in corners {
                pairs.extend(corners.iter().map(|&other| (corner, other)));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut starts = vec![0_u32; count + 1];
    for &(particle, _) in &pairs {
        starts[particle as usize + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    (starts, pairs.into_iter().map(|(_, other)| other).collect())
}
