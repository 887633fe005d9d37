//! What elements bring into an implicit step: potential energy, forces and stiffness.
//!
//! A kind of element implements [`Element`]; the passes over all elements, in lanes and on several threads, are here
//! once for all kinds ([`Kind`]). What a body has of each kind is told by [`BodyElements`](super::kinds::BodyElements).

use nalgebra::{Matrix3, Vector3};
use simba::simd::{SimdPartialOrd, SimdValue};

use super::super::threads::Threads;
use crate::Real;
use crate::body::tetrahedra::{BLOCKS_PER_CHUNK, LANES, Lanes};
use crate::kernel::implicit::Workers;

/// A kind of element with `NODES` corners and `PAIRS` = NODES (NODES + 1)/2 pairs of them.
pub(super) trait Element<const NODES: usize, const PAIRS: usize>: Sync {
    /// Several elements side by side.
    type Block: Sync;

    /// Potential energy and what else is summed up, at the given positions.
    fn potential(&self, block: &Self::Block, positions: &[Vector3<Real>]) -> Potential<Lanes>;

    /// Forces on the corners: minus the gradient of the potential, N.
    fn forces(&self, block: &Self::Block, positions: &[Vector3<Real>]) -> [Vector3<Lanes>; NODES];

    /// Forces on the corners, and the second derivative of the potential, positive semidefinite, N/m: `store` takes the
    /// index of a corner pair ([`pair_index`](crate::kernel::implicit::block_matrix::pair_index)) and its block.
    fn linearize(
        &self,
        block: &Self::Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) -> [Vector3<Lanes>; NODES];

    /// Damping between the corners, positive semidefinite, kg/s, as [`linearize`](Self::linearize) stores stiffness: minus
    /// the derivative of the damping forces by the velocities of the corners. For a stage of one second.
    fn damp(
        &self,
        block: &Self::Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    );
}

/// Sums over elements.
#[derive(Clone, Copy, Debug)]
pub(in crate::step) struct Potential<T> {
    /// Elastic energy, J.
    pub elastic: T,
    /// Power lost to viscosity, W.
    pub dissipated_power: T,
    /// Smallest volume ratio.
    pub smallest_volume_ratio: T,
}

impl Potential<f64> {
    /// The sum over no element.
    pub const NOTHING: Self = Self {
        elastic: 0.0,
        dissipated_power: 0.0,
        smallest_volume_ratio: f64::INFINITY,
    };

    /// Both together.
    pub fn plus(self, other: &Self) -> Self {
        Self {
            elastic: self.elastic + other.elastic,
            dissipated_power: self.dissipated_power + other.dissipated_power,
            smallest_volume_ratio: self.smallest_volume_ratio.min(other.smallest_volume_ratio),
        }
    }
}

/// A number for each entry of a block matrix, columns one after another.
pub(in crate::step) type PairBlock = [Real; 9];

/// All elements of one kind in a body, whatever the kind.
pub(in crate::step) trait Kind {
    /// Writes the forces on the corners of all elements, by element and corner.
    fn evaluate(&self, positions: &[Vector3<Real>], threads: Threads, forces: &mut [Vector3<Real>]);

    /// Writes forces and stiffness of all elements.
    fn linearize(
        &self,
        positions: &[Vector3<Real>],
        threads: Threads,
        forces: &mut [Vector3<Real>],
        stiffness: &mut [PairBlock],
    );

    /// Writes the damping of all elements, for a stage of one second.
    fn damp(&self, positions: &[Vector3<Real>], threads: Threads, damping: &mut [PairBlock]);

    /// Sums up the potential of all elements, in fixed chunks; `chunks` is scratch.
    fn sum(
        &self,
        positions: &[Vector3<Real>],
        threads: Threads,
        chunks: &mut Vec<Potential<f64>>,
    ) -> Potential<f64>;
}

/// Elements of one kind with a law.
pub(super) struct All<'a, const NODES: usize, const PAIRS: usize, E: Element<NODES, PAIRS>> {
    pub element: E,
    pub blocks: &'a [E::Block],
}

impl<const N: usize, const P: usize, E: Element<N, P>> Kind for All<'_, N, P, E> {
    fn evaluate(
        &self,
        positions: &[Vector3<Real>],
        threads: Threads,
        forces: &mut [Vector3<Real>],
    ) {
        let forces = by_block::<_, N>(forces);
        let piece = pieces_of_chunks(self.blocks.len(), threads);
        let pieces = self.blocks.chunks(piece).zip(forces.chunks_mut(piece));
        threads.run(pieces, |(blocks, forces)| {
            for (block, out) in blocks.iter().zip(forces) {
                store_vectors(&self.element.forces(block, positions), out);
            }
        });
    }

    fn linearize(
        &self,
        positions: &[Vector3<Real>],
        threads: Threads,
        forces: &mut [Vector3<Real>],
        stiffness: &mut [PairBlock],
    ) {
        let (forces, stiffness) = (by_block::<_, N>(forces), by_block::<_, P>(stiffness));
        let piece = pieces_of_chunks(self.blocks.len(), threads);
        let pieces = self
            .blocks
            .chunks(piece)
            .zip(forces.chunks_mut(piece))
            .zip(stiffness.chunks_mut(piece));
        threads.run(pieces, |((blocks, forces), stiffness)| {
            for ((block, forces), out) in blocks.iter().zip(forces).zip(stiffness) {
                let vectors = self.element.linearize(block, positions, |pair, matrix| {
                    store_matrix(pair, matrix, out);
                });
                store_vectors(&vectors, forces);
            }
        });
    }

    fn damp(&self, positions: &[Vector3<Real>], threads: Threads, damping: &mut [PairBlock]) {
        let damping = by_block::<_, P>(damping);
        let piece = pieces_of_chunks(self.blocks.len(), threads);
        let pieces = self.blocks.chunks(piece).zip(damping.chunks_mut(piece));
        threads.run(pieces, |(blocks, damping)| {
            for (block, out) in blocks.iter().zip(damping) {
                self.element.damp(block, positions, |pair, matrix| {
                    store_matrix(pair, matrix, out);
                });
            }
        });
    }

    fn sum(
        &self,
        positions: &[Vector3<Real>],
        threads: Threads,
        chunks: &mut Vec<Potential<f64>>,
    ) -> Potential<f64> {
        chunks.clear();
        chunks.resize(
            self.blocks.len().div_ceil(BLOCKS_PER_CHUNK),
            Potential::NOTHING,
        );
        let piece = threads.piece(chunks.len());
        let pieces = self
            .blocks
            .chunks(piece * BLOCKS_PER_CHUNK)
            .zip(chunks.chunks_mut(piece));
        threads.run(pieces, |(blocks, chunks)| {
            for (blocks, chunk) in blocks.chunks(BLOCKS_PER_CHUNK).zip(chunks) {
                let mut smallest = Lanes::splat(Real::INFINITY);
                for block in blocks {
                    let part = self.element.potential(block, positions);
                    for lane in 0..LANES {
                        chunk.elastic += f64::from(part.elastic.extract(lane));
                        chunk.dissipated_power += f64::from(part.dissipated_power.extract(lane));
                    }
                    smallest = smallest.simd_min(part.smallest_volume_ratio);
                }
                chunk.smallest_volume_ratio = f64::from(smallest.simd_horizontal_min());
            }
        });
        chunks.iter().fold(Potential::NOTHING, Potential::plus)
    }
}

/// How many blocks make up a piece of work: whole chunks.
fn pieces_of_chunks(blocks: usize, threads: Threads) -> usize {
    threads.piece(blocks.div_ceil(BLOCKS_PER_CHUNK)) * BLOCKS_PER_CHUNK
}

/// A list by element and corner (or pair of corners) as one by block, lane and corner.
fn by_block<T, const N: usize>(list: &mut [T]) -> &mut [[[T; N]; LANES]] {
    list.as_chunks_mut::<N>().0.as_chunks_mut::<LANES>().0
}

#[inline(always)]
fn store_matrix<const P: usize>(
    pair: usize,
    matrix: &Matrix3<Lanes>,
    out: &mut [[PairBlock; P]; LANES],
) {
    let lanes = |entry: usize| -> [Real; LANES] { matrix[entry].into() };
    let entries: [[Real; LANES]; 9] = std::array::from_fn(lanes);
    for lane in 0..LANES {
        let target = &mut out[lane][pair];
        for entry in 0..9 {
            target[entry] = entries[entry][lane];
        }
    }
}

#[inline(always)]
fn store_vectors<const N: usize>(
    vectors: &[Vector3<Lanes>; N],
    out: &mut [[Vector3<Real>; N]; LANES],
) {
    for (corner, vector) in vectors.iter().enumerate() {
        for axis in 0..3 {
            let lanes: [Real; LANES] = vector[axis].into();
            for lane in 0..LANES {
                out[lane][corner][axis] = lanes[lane];
            }
        }
    }
}
