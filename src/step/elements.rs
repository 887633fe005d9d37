//! Work on all elements of a body: several at a time in lanes, on several threads, always with the same bits.
//!
//! ```text
//! blocks of 8 (f32) or 4 (f64) elements ──▶ vectors on the corners of each element    a task: some chunks of blocks
//! vectors on the corners ──▶ sums on the particles, in ascending order of elements    a task: a range of particles
//! ```
//! The second pass reads what the first wrote through the list of places where a particle is a corner. On one thread
//! that is as fast as adding element by element, which would need a lane-wise scatter inside the first pass.

use nalgebra::{Matrix3, Vector3};
use simba::simd::SimdValue;

use super::threads::Threads;
use crate::Real;
use crate::body::Tetrahedra;
use crate::body::tetrahedra::{BLOCKS_PER_CHUNK, Block, ChunkSum, CornerVectors, LANES, Lanes};
use crate::kernel::implicit::Workers;
use crate::kernel::tetrahedron::edge_matrix;

/// Evaluates `element` on every block and adds the vectors that it returns for the four corners to `particles`.
///
/// What `element` adds up beside stands in `tetrahedra.chunk_sums` afterwards.
pub(super) fn add_corner_vectors(
    tetrahedra: &mut Tetrahedra,
    particles: &mut [Vector3<Real>],
    element: impl Fn(&Block, &mut ChunkSum) -> [Vector3<Lanes>; 4] + Sync,
) {
    let threads = Threads::for_work(tetrahedra.len());
    let Tetrahedra {
        blocks,
        corner_vectors,
        chunk_sums,
        incidence_starts,
        incidence,
        ..
    } = tetrahedra;

    let chunks = threads.piece(chunk_sums.len());
    let pieces = blocks
        .chunks(chunks * BLOCKS_PER_CHUNK)
        .zip(corner_vectors.chunks_mut(chunks * BLOCKS_PER_CHUNK))
        .zip(chunk_sums.chunks_mut(chunks));
    threads.run(pieces, |((blocks, corner_vectors), sums)| {
        evaluate(blocks, corner_vectors, sums, &element);
    });

    let corner_vectors = corner_vectors.as_flattened().as_flattened();
    let count = threads.piece(particles.len());
    let pieces = particles.chunks_mut(count).zip((0..).step_by(count));
    threads.run(pieces, |(particles, first)| {
        let starts = &incidence_starts[first..=first + particles.len()];
        gather(particles, starts, incidence, corner_vectors);
    });
}

/// The first pass, over some chunks of blocks.
// Not inlined, so that there is one copy, in which everything else is.
#[inline(never)]
fn evaluate(
    blocks: &[Block],
    corner_vectors: &mut [CornerVectors],
    sums: &mut [ChunkSum],
    element: &impl Fn(&Block, &mut ChunkSum) -> [Vector3<Lanes>; 4],
) {
    let chunks = blocks
        .chunks(BLOCKS_PER_CHUNK)
        .zip(corner_vectors.chunks_mut(BLOCKS_PER_CHUNK));
    for ((blocks, corner_vectors), sum) in chunks.zip(sums) {
        *sum = ChunkSum::default();
        for (block, out) in blocks.iter().zip(corner_vectors) {
            store(&element(block, sum), out);
        }
    }
}

/// The second pass, over some particles; `starts` has one more entry than there are particles.
fn gather(
    particles: &mut [Vector3<Real>],
    starts: &[u32],
    incidence: &[u32],
    corner_vectors: &[Vector3<Real>],
) {
    for (sum, range) in particles.iter_mut().zip(starts.windows(2)) {
        let mut vector = *sum;
        for &place in &incidence[range[0] as usize..range[1] as usize] {
            vector += corner_vectors[place as usize];
        }
        *sum = vector;
    }
}

/// Turns lanes into one vector per element and corner.
#[inline(always)]
fn store(vectors: &[Vector3<Lanes>; 4], out: &mut CornerVectors) {
    let axes = |corner: usize| -> [[Real; LANES]; 3] {
        let vector = &vectors[corner];
        [vector.x.into(), vector.y.into(), vector.z.into()]
    };
    let corners = [axes(0), axes(1), axes(2), axes(3)];
    for lane in 0..LANES {
        for corner in 0..4 {
            let [x, y, z] = &corners[corner];
            out[lane][corner] = Vector3::new(x[lane], y[lane], z[lane]);
        }
    }
}

/// The edge matrices of a block's elements, of positions or of any other vectors on particles.
#[inline(always)]
pub(super) fn edges(block: &Block, vectors: &[Vector3<Real>]) -> Matrix3<Lanes> {
    edge_matrix(&at_corners(&block.corners, vectors))
}

/// Vectors on particles, at the corners of several elements.
#[inline(always)]
pub(super) fn at_corners<const N: usize>(
    corners: &[[u32; LANES]; N],
    vectors: &[Vector3<Real>],
) -> [Vector3<Lanes>; N] {
    // Loops rather than `from_fn`, whose closures are not inlined here.
    let mut vectors_at = [Vector3::from_element(Lanes::splat(0.0)); N];
    for (vector_at, corner) in vectors_at.iter_mut().zip(corners) {
        let mut axes = [[0.0; LANES]; 3];
        for lane in 0..LANES {
            let vector = &vectors[corner[lane] as usize];
            for axis in 0..3 {
                axes[axis][lane] = vector[axis];
            }
        }
        for axis in 0..3 {
            vector_at[axis] = axes[axis].into();
        }
    }
    vectors_at
}

/// The sum of a number over the lanes, in double precision.
pub(super) fn sum_of_lanes(lanes: Lanes) -> f64 {
    (0..LANES).map(|lane| f64::from(lanes.extract(lane))).sum()
}
