//! What elements bring into an implicit step: potential energy, forces and stiffness.
//!
//! A kind of element implements [`Element`]; the passes over all elements, in lanes and on several threads, are here
//! once for all kinds.

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
}

/// A number for each entry of a block matrix, columns one after another.
pub(super) type PairBlock = [Real; 9];

/// Sums up the potential of all blocks, in fixed chunks.
pub(super) fn sum_potential<const N: usize, const P: usize, E: Element<N, P>>(
    element: &E,
    blocks: &[E::Block],
    positions: &[Vector3<Real>],
    threads: Threads,
    chunks: &mut Vec<Potential<f64>>,
) -> Potential<f64> {
    chunks.clear();
    chunks.resize(blocks.len().div_ceil(BLOCKS_PER_CHUNK), Potential::NOTHING);
    let piece = threads.piece(chunks.len());
    let pieces = blocks
        .chunks(piece * BLOCKS_PER_CHUNK)
        .zip(chunks.chunks_mut(piece));
    threads.run(pieces, |(blocks, chunks)| {
        for (blocks, chunk) in blocks.chunks(BLOCKS_PER_CHUNK).zip(chunks) {
            let mut smallest = Lanes::splat(Real::INFINITY);
            for block in blocks {
                let part = element.potential(block, positions);
                for lane in 0..LANES {
                    chunk.elastic += f64::from(part.elastic.extract(lane));
                    chunk.dissipated_power += f64::from(part.dissipated_power.extract(lane));
                }
                smallest = smallest.simd_min(part.smallest_volume_ratio);
            }
            chunk.smallest_volume_ratio = f64::from(smallest.simd_horizontal_min());
        }
    });
    chunks
        .iter()
        .fold(Potential::NOTHING, |sum, chunk| Potential {
            elastic: sum.elastic + chunk.elastic,
            dissipated_power: sum.dissipated_power + chunk.dissipated_power,
            smallest_volume_ratio: sum.smallest_volume_ratio.min(chunk.smallest_volume_ratio),
        })
}

/// Forces on the corners of all elements.
pub(super) fn evaluate_forces<const N: usize, const P: usize, E: Element<N, P>>(
    element: &E,
    blocks: &[E::Block],
    positions: &[Vector3<Real>],
    threads: Threads,
    forces: &mut [[[Vector3<Real>; N]; LANES]],
) {
    let piece = threads.piece(blocks.len().div_ceil(BLOCKS_PER_CHUNK)) * BLOCKS_PER_CHUNK;
    let pieces = blocks.chunks(piece).zip(forces.chunks_mut(piece));
    threads.run(pieces, |(blocks, forces)| {
        for (block, out) in blocks.iter().zip(forces) {
            store_vectors(&element.forces(block, positions), out);
        }
    });
}

/// Forces and stiffness of all elements.
pub(super) fn linearize<const N: usize, const P: usize, E: Element<N, P>>(
    element: &E,
    blocks: &[E::Block],
    positions: &[Vector3<Real>],
    threads: Threads,
    forces: &mut [[[Vector3<Real>; N]; LANES]],
    stiffness: &mut [[[PairBlock; P]; LANES]],
) {
    let piece = threads.piece(blocks.len().div_ceil(BLOCKS_PER_CHUNK)) * BLOCKS_PER_CHUNK;
    let pieces = blocks
        .chunks(piece)
        .zip(forces.chunks_mut(piece))
        .zip(stiffness.chunks_mut(piece));
    threads.run(pieces, |((blocks, forces), stiffness)| {
        for ((block, forces), out) in blocks.iter().zip(forces).zip(stiffness) {
            let vectors = element.linearize(block, positions, |pair, matrix| {
                let lanes = |entry: usize| -> [Real; LANES] { matrix[entry].into() };
                let entries: [[Real; LANES]; 9] = std::array::from_fn(lanes);
                for lane in 0..LANES {
                    let target = &mut out[lane][pair];
                    for entry in 0..9 {
                        target[entry] = entries[entry][lane];
                    }
                }
            });
            store_vectors(&vectors, forces);
        }
    });
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
