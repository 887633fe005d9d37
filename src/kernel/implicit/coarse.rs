//! The coarse space: every patch of rows moves like a rigid body, and the matrix in these motions is solved exactly.
//!
//! ```text
//! P_v = [I, −[r_v]×],   r_v = (x_v − c_a)/s_a        rows v of patch a with center c_a and size s_a
//! A_c = Pᵀ A P = L Lᵀ
//! ```
//! Patches are numbered so that neighbours have near numbers, and only the envelope of A_c is stored and factored: for a
//! long body that is a narrow band.

use nalgebra::{Matrix3, Matrix3x6, Matrix6, Vector3};

use super::{BlockMatrix, Freedom, Row, Workers, vector};
use crate::kernel::scalar::{Single, real};

/// Motions of a patch: three shifts and three turns.
const MODES: usize = 6;

/// Added to the diagonal of the coarse matrix, relative to it: a patch of few particles cannot feel every turn.
const REGULARIZATION: f64 = 1e-4;

/// Pivots below this part of their diagonal count as zero.
const SMALLEST_PIVOT: f64 = 1e-5;

/// Coarse matrix, its factor, and the motions.
#[derive(Clone, Debug, Default)]
pub struct CoarseSpace<T> {
    /// Where the rows of each patch start.
    patches: Vec<u32>,
    /// Patch of each row.
    patch_of_row: Vec<u32>,
    /// Arms r of the rows, without unit.
    arms: Vec<Row<T>>,
    /// First patch in the envelope of each patch.
    first: Vec<u32>,
    /// Where the six rows of each patch start in `values`; each is as long as the envelope.
    starts: Vec<u32>,
    /// The lower envelope of A_c, then of L; the reciprocal of each pivot stands on the diagonal.
    values: Vec<T>,
    /// Right-hand side, then solution.
    motions: Vec<T>,
    /// The right-hand side again, for its product with the solution.
    forces: Vec<T>,
}

impl<T: Single> CoarseSpace<T> {
    /// A coarse space of zeros for the pattern of a matrix whose rows are ordered by patch.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn new(patches: &[u32], matrix: &BlockMatrix<T>) -> Self {
        let count = patches.len() - 1;
        let rows = matrix.rows();
        let mut patch_of_row = vec![0_u32; rows];
        for patch in 0..count {
            patch_of_row[patches[patch] as usize..patches[patch + 1] as usize].fill(patch as u32);
        }
        let mut first: Vec<u32> = (0..count as u32).collect();
        for row in 0..rows {
            let patch = patch_of_row[row] as usize;
            for (_, column) in matrix.row(row) {
                first[patch] = first[patch].min(patch_of_row[column]);
            }
        }
        let mut starts = vec![0];
        let mut length = 0;
        for (patch, &first) in (0..).zip(&first) {
            length += MODES * MODES * (patch + 1 - first as usize);
            starts.push(length as u32);
        }
        Self {
            patches: patches.to_vec(),
            patch_of_row,
            arms: vec![[T::zero(); 4]; rows],
            first,
            starts,
            values: vec![T::zero(); length],
            motions: vec![T::zero(); MODES * count],
            forces: vec![T::zero(); MODES * count],
        }
    }

    /// Number of patches.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn patches(&self) -> usize {
        self.first.len()
    }

    /// The rows of a patch.
    ///
    /// Eq: elementary.
    #[inline(always)]
    #[must_use]
    pub fn rows(&self, patch: usize) -> std::ops::Range<usize> {
        self.patches[patch] as usize..self.patches[patch + 1] as usize
    }

    /// Makes and factors the coarse matrix.
    ///
    /// # Arguments
    /// * `positions` – of the rows, m
    ///
    /// Eq: Galerkin product; Cholesky factorization in the envelope, `[George Liu 1981 §4]`.
    pub fn update(
        &mut self,
        workers: impl Workers,
        matrix: &BlockMatrix<T>,
        freedoms: &[Freedom<T>],
        positions: &[Row<T>],
    ) {
        self.place(positions);
        let Self {
            patches,
            patch_of_row,
            arms,
            first,
            values,
            ..
        } = self;
        let count = first.len();
        let piece = workers.piece(count);
        let mut rest = values.as_mut_slice();
        let pieces = (0..count).step_by(piece).map(|begin| {
            let end = (begin + piece).min(count);
            let length: usize = (begin..end)
                .map(|patch| MODES * MODES * (patch + 1 - first[patch] as usize))
                .sum();
            let (part, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            (begin..end, part)
        });
        workers.run(pieces, |(range, mut part)| {
            for patch in range {
                let width = MODES * (patch + 1 - first[patch] as usize);
                let (own, after) = part.split_at_mut(MODES * width);
                part = after;
                own.fill(T::zero());
                let rows = patches[patch] as usize..patches[patch + 1] as usize;
                for row in rows {
                    add_row(
                        own,
                        width,
                        first[patch] as usize,
                        row,
                        matrix,
                        freedoms,
                        patch_of_row,
                        arms,
                    );
                }
            }
        });
        self.factor();
    }

    /// Sets the arms of the rows.
    fn place(&mut self, positions: &[Row<T>]) {
        for patch in 0..self.first.len() {
            let rows = self.rows(patch);
            let count: T = real(rows.len() as f64);
            let members = &positions[rows.clone()];
            let sum = members
                .iter()
                .fold(Vector3::zeros(), |sum, row| sum + vector(row));
            let center = sum / count;
            let mut size = T::zero();
            for (arm, position) in self.arms[rows.clone()].iter_mut().zip(members) {
                let offset = vector(position) - center;
                size += offset.norm_squared();
                *arm = super::row(&offset);
            }
            let size = (size / count).sqrt();
            // A patch of one particle has no arms, and no turns either.
            let scale = if size > T::zero() {
                size.recip()
            } else {
                T::zero()
            };
            for arm in &mut self.arms[rows] {
                for axis in 0..3 {
                    arm[axis] *= scale;
                }
            }
        }
    }

    /// Cholesky factorization in place.
    fn factor(&mut self) {
        let count = self.first.len();
        for patch in 0..count {
            let begin = MODES * self.first[patch] as usize;
            let width = MODES * (patch + 1) - begin;
            for mode in 0..MODES {
                let row = MODES * patch + mode;
                let (above, from) = self
                    .values
                    .split_at_mut(self.starts[patch] as usize + mode * width);
                let own = &mut from[..width];
                let original = own[row - begin];
                for column in begin..row {
                    let other_patch = column / MODES;
                    let other_begin = MODES * self.first[other_patch] as usize;
                    let other_width = MODES * (other_patch + 1) - other_begin;
                    let other_start =
                        self.starts[other_patch] as usize + (column % MODES) * other_width;
                    let other = &above[other_start..other_start + other_width];
                    let shared = begin.max(other_begin);
                    let sum = product(
                        &own[shared - begin..column - begin],
                        &other[shared - other_begin..column - other_begin],
                    );
                    own[column - begin] = (own[column - begin] - sum) * other[column - other_begin];
                }
                let before = &own[..row - begin];
                let diagonal = original * real(1.0 + REGULARIZATION);
                let pivot = diagonal - product(before, before);
                // Motions that nothing resists, such as those of a patch that is pinned, are left alone.
                own[row - begin] = if pivot > diagonal * real(SMALLEST_PIVOT) {
                    pivot.sqrt().recip()
                } else {
                    T::zero()
                };
            }
        }
    }

    /// Forces on a patch from forces on its rows.
    ///
    /// ```text
    /// Pᵀ r = (Σ r_v, Σ r_v × …)
    /// ```
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn restrict(&self, patch: usize, forces: &[Row<T>]) -> [T; MODES] {
        let mut sum = [T::zero(); MODES];
        for (arm, force) in self.arms[self.rows(patch)].iter().zip(forces) {
            for axis in 0..3 {
                sum[axis] += force[axis];
            }
            sum[3] += arm[1] * force[2] - arm[2] * force[1];
            sum[4] += arm[2] * force[0] - arm[0] * force[2];
            sum[5] += arm[0] * force[1] - arm[1] * force[0];
        }
        sum
    }

    /// The arms of the rows of a patch, without unit.
    ///
    /// Eq: elementary.
    #[inline(always)]
    #[must_use]
    pub fn arms(&self, patch: usize) -> &[Row<T>] {
        &self.arms[self.rows(patch)]
    }

    /// The motion of a patch in the last solution.
    ///
    /// Eq: elementary.
    #[inline(always)]
    #[must_use]
    pub fn motion(&self, patch: usize) -> Motion<T> {
        let motion = &self.motions[MODES * patch..MODES * (patch + 1)];
        Motion {
            shift: [motion[0], motion[1], motion[2]],
            turn: [motion[3], motion[4], motion[5]],
        }
    }

    /// Solves for the motions of all patches and returns the product of forces and motions.
    ///
    /// ```text
    /// L Lᵀ c = g,   g · c
    /// ```
    /// Eq: `[George Liu 1981 §4]`.
    pub fn solve(&mut self, forces: impl Iterator<Item = [T; MODES]>) -> f64 {
        for (patch, force) in forces.enumerate() {
            self.forces[MODES * patch..MODES * (patch + 1)].copy_from_slice(&force);
        }
        self.motions.copy_from_slice(&self.forces);
        let count = self.first.len();
        for patch in 0..count {
            let (begin, width) = self.envelope(patch);
            for mode in 0..MODES {
                let row = MODES * patch + mode;
                let own = self.envelope_row(patch, mode, width);
                let sum = product(&own[..row - begin], &self.motions[begin..row]);
                self.motions[row] = (self.motions[row] - sum) * own[row - begin];
            }
        }
        for patch in (0..count).rev() {
            let (begin, width) = self.envelope(patch);
            for mode in (0..MODES).rev() {
                let row = MODES * patch + mode;
                let start = self.starts[patch] as usize + mode * width;
                let own = &self.values[start..start + width];
                let (before, from) = self.motions.split_at_mut(row);
                from[0] *= own[row - begin];
                let value = from[0];
                for (motion, &entry) in before[begin..].iter_mut().zip(own) {
                    *motion -= entry * value;
                }
            }
        }
        let pairs = self.forces.iter().zip(&self.motions);
        pairs
            .map(|(&force, &motion)| nalgebra::convert_unchecked::<T, f64>(force * motion))
            .sum()
    }

    fn envelope(&self, patch: usize) -> (usize, usize) {
        let begin = MODES * self.first[patch] as usize;
        (begin, MODES * (patch + 1) - begin)
    }

    fn envelope_row(&self, patch: usize, mode: usize, width: usize) -> &[T] {
        let start = self.starts[patch] as usize + mode * width;
        &self.values[start..start + width]
    }
}

/// A rigid motion of a patch.
#[derive(Clone, Copy, Debug)]
pub struct Motion<T> {
    shift: [T; 3],
    turn: [T; 3],
}

impl<T: Single> Motion<T> {
    /// The motion of a row with the given arm.
    ///
    /// ```text
    /// P_v c = t + θ × r_v
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn of(&self, arm: &Row<T>) -> Row<T> {
        let Self { shift, turn } = self;
        [
            shift[0] + turn[1] * arm[2] - turn[2] * arm[1],
            shift[1] + turn[2] * arm[0] - turn[0] * arm[2],
            shift[2] + turn[0] * arm[1] - turn[1] * arm[0],
            T::zero(),
        ]
    }
}

/// Adds what one row of the matrix gives to the six rows of its patch.
fn add_row<T: Single>(
    own: &mut [T],
    width: usize,
    first: usize,
    row: usize,
    matrix: &BlockMatrix<T>,
    freedoms: &[Freedom<T>],
    patch_of_row: &[u32],
    arms: &[Row<T>],
) {
    if freedoms[row] == Freedom::Held {
        return;
    }
    let patch = patch_of_row[row];
    let arm = vector(&arms[row]);
    // Most columns belong to the row's own patch: their sum is multiplied from the left once.
    let mut inside = Matrix3x6::zeros();
    for (place, column) in matrix.row(row) {
        let other = patch_of_row[column];
        if other > patch || freedoms[column] == Freedom::Held {
            continue;
        }
        let mut block = matrix.block(place);
        if let Freedom::Plane(normal) = &freedoms[column] {
            block -= block * normal * normal.transpose();
        }
        let moved = times_motion(&block, &vector(&arms[column]));
        if other == patch {
            inside += moved;
        } else {
            add_block(
                own,
                width,
                other as usize - first,
                &from_left(&moved, &arm, &freedoms[row]),
            );
        }
    }
    add_block(
        own,
        width,
        patch as usize - first,
        &from_left(&inside, &arm, &freedoms[row]),
    );
}

/// `A [I, −[r]×]`.
#[inline(always)]
fn times_motion<T: Single>(block: &Matrix3<T>, arm: &Vector3<T>) -> Matrix3x6<T> {
    // A row q of A times −[r]× is r × q.
    Matrix3x6::from_fn(|row, column| match column {
        0..3 => block[(row, column)],
        3 => arm.y * block[(row, 2)] - arm.z * block[(row, 1)],
        4 => arm.z * block[(row, 0)] - arm.x * block[(row, 2)],
        _ => arm.x * block[(row, 1)] - arm.y * block[(row, 0)],
    })
}

/// `[I, −[r]×]ᵀ S B`.
#[inline(always)]
fn from_left<T: Single>(
    block: &Matrix3x6<T>,
    arm: &Vector3<T>,
    freedom: &Freedom<T>,
) -> Matrix6<T> {
    let filtered = match freedom {
        Freedom::Plane(normal) => block - normal * (normal.transpose() * block),
        _ => *block,
    };
    Matrix6::from_fn(|row, column| {
        let at = |axis: usize| filtered[(axis, column)];
        match row {
            0..3 => at(row),
            3 => arm.y * at(2) - arm.z * at(1),
            4 => arm.z * at(0) - arm.x * at(2),
            _ => arm.x * at(1) - arm.y * at(0),
        }
    })
}

#[inline(always)]
fn add_block<T: Single>(own: &mut [T], width: usize, patch: usize, block: &Matrix6<T>) {
    for row in 0..MODES {
        let target = &mut own[row * width + MODES * patch..][..MODES];
        for (column, target) in target.iter_mut().enumerate() {
            *target += block[(row, column)];
        }
    }
}

/// Dot product, eight sums at a time.
#[inline(always)]
fn product<T: Single>(left: &[T], right: &[T]) -> T {
    let mut sums = [T::zero(); 8];
    let (left_eights, left_rest) = left.as_chunks::<8>();
    let (right_eights, right_rest) = right.as_chunks::<8>();
    for (left, right) in left_eights.iter().zip(right_eights) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    for (lane, (&left, &right)) in left_rest.iter().zip(right_rest).enumerate() {
        sums[lane] += left * right;
    }
    let halves = [0, 1, 2, 3].map(|lane| sums[lane] + sums[lane + 4]);
    (halves[0] + halves[2]) + (halves[1] + halves[3])
}
