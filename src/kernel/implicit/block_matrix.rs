//! Symmetric sparse matrices of 3×3 blocks, gathered row by row from the blocks of the elements.
//!
//! Every row knows which element blocks add up to each of its blocks, in ascending order of elements. So rows can be
//! gathered by any number of threads without atomics, and come out the same.
//! Rejected: storing one triangle only (a product then scatters), and adding elements to rows directly (threads
//! would collide).

use std::ops::Range;

use nalgebra::Matrix3;

use super::{Freedom, Row, dot};
use crate::kernel::scalar::Single;

/// Marks a source that is to be transposed.
const TRANSPOSED: u32 = 1 << 31;

/// Numbers per block: the columns of a 3×3 matrix, one after another.
const BLOCK: usize = 9;

/// Sparse matrix of 3×3 blocks, rows compressed, both triangles stored.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix<T> {
    /// Where the blocks of each row start; one more entry than rows.
    starts: Vec<u32>,
    /// Column of each block, ascending within a row.
    columns: Vec<u32>,
    /// All blocks, and one number more, so that a column can be read as four numbers.
    values: Vec<T>,
    /// Place of the diagonal block of each row.
    diagonal: Vec<u32>,
    /// Where the sources of each block start.
    source_starts: Vec<u32>,
    /// Sources of the blocks: indices of element blocks, first those as they are, then those to be transposed, which
    /// have the highest bit set.
    sources: Vec<u32>,
}

/// Index of the block of a pair of corners among the blocks of an element with `nodes` corners, for `first ≤ second`.
///
/// ```text
/// (0,0), (0,1), …, (0,n−1), (1,1), …, (n−1,n−1)
/// ```
/// Eq: elementary.
#[must_use]
pub const fn pair_index(nodes: usize, first: usize, second: usize) -> usize {
    first * (2 * nodes + 1 - first) / 2 + second - first
}

impl<T: Single> BlockMatrix<T> {
    /// A matrix of zeros with a block for every pair of rows that share an element.
    ///
    /// # Arguments
    /// * `rows` – number of rows
    /// * `elements` – for each element the index of its first block among the blocks of all elements, and the rows at its
    ///   corners; an element of n corners has n (n + 1)/2 blocks ([`pair_index`])
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn new<'a>(rows: usize, elements: impl Iterator<Item = (u32, &'a [u32])>) -> Self {
        // (row, column, source) of every contribution; sorting brings those of one block together.
        let mut entries: Vec<(u32, u32, u32)> =
            (0..rows as u32).map(|row| (row, row, u32::MAX)).collect();
        for (base, corners) in elements {
            let nodes = corners.len();
            for (a, &row) in corners.iter().enumerate() {
                for (b, &column) in corners.iter().enumerate() {
                    let pair = base + pair_index(nodes, a.min(b), a.max(b)) as u32;
                    entries.push((row, column, if a > b { pair | TRANSPOSED } else { pair }));
                }
            }
        }
        entries.sort_unstable();

        let mut matrix = Self {
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            diagonal: vec![0; rows],
            source_starts: Vec::new(),
            sources: Vec::with_capacity(entries.len()),
        };
        let mut last = None;
        for (row, column, source) in entries {
            if last != Some((row, column)) {
                last = Some((row, column));
                while matrix.starts.len() <= row as usize {
                    matrix.starts.push(matrix.columns.len() as u32);
                }
                if row == column {
                    matrix.diagonal[row as usize] = matrix.columns.len() as u32;
                }
                matrix.columns.push(column);
                matrix.source_starts.push(matrix.sources.len() as u32);
            }
            if source != u32::MAX {
                matrix.sources.push(source);
            }
        }
        matrix.source_starts.push(matrix.sources.len() as u32);
        while matrix.starts.len() <= rows {
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix.values = vec![T::zero(); BLOCK * matrix.columns.len() + 1];
        matrix
    }

    /// Number of rows.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.diagonal.len()
    }

    /// The blocks of a row, as pairs of place and column.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let places = self.starts[row] as usize..self.starts[row + 1] as usize;
        places
            .clone()
            .zip(&self.columns[places])
            .map(|(place, &column)| (place, column as usize))
    }

    /// The block at a place.
    ///
    /// Eq: elementary.
    #[inline(always)]
    #[must_use]
    pub fn block(&self, place: usize) -> Matrix3<T> {
        Matrix3::from_column_slice(&self.values[BLOCK * place..BLOCK * (place + 1)])
    }

    /// The diagonal block of a row.
    ///
    /// Eq: elementary.
    #[inline(always)]
    #[must_use]
    pub fn diagonal(&self, row: usize) -> Matrix3<T> {
        self.block(self.diagonal[row] as usize)
    }

    /// Adds a multiple of the identity to the diagonal block of a row.
    ///
    /// Eq: elementary.
    pub fn add_to_diagonal(&mut self, row: usize, value: T) {
        let place = BLOCK * self.diagonal[row] as usize;
        for entry in [0, 4, 8] {
            self.values[place + entry] += value;
        }
    }

    /// Adds a block to the diagonal block of a row.
    ///
    /// Eq: elementary.
    pub fn add_block_to_diagonal(&mut self, row: usize, block: &Matrix3<T>) {
        let place = BLOCK * self.diagonal[row] as usize;
        for (value, &entry) in self.values[place..].iter_mut().zip(block.as_slice()) {
            *value += entry;
        }
    }

    /// Splits the values by ranges of rows, to be gathered side by side ([`RowValues::gather`]).
    ///
    /// Eq: elementary.
    pub fn split(
        &mut self,
        ranges: impl Iterator<Item = Range<usize>>,
    ) -> impl Iterator<Item = RowValues<'_, T>> {
        let Self {
            starts,
            values,
            diagonal,
            source_starts,
            sources,
            ..
        } = self;
        let (starts, diagonal, source_starts, sources) =
            (&*starts, &*diagonal, &*source_starts, &*sources);
        let mut rest = values.as_mut_slice();
        let mut done = 0;
        ranges.map(move |rows| {
            let end = starts[rows.end] as usize;
            let (values, after) = std::mem::take(&mut rest).split_at_mut(BLOCK * (end - done));
            rest = after;
            let first = done;
            done = end;
            RowValues {
                rows,
                first,
                values,
                diagonal,
                source_starts,
                sources,
            }
        })
    }

    /// Products of some rows with a vector, and their part of the quadratic form.
    ///
    /// ```text
    /// out = S A p,   returned Σ p · out        S the filter of the rows
    /// ```
    /// Eq: elementary.
    #[inline]
    pub fn multiply(
        &self,
        rows: Range<usize>,
        freedoms: &[Freedom<T>],
        vectors: &[Row<T>],
        out: &mut [Row<T>],
    ) -> f64 {
        let mut form = 0.0;
        for (row, out) in rows.zip(out) {
            // One sum per column of the blocks: additions that wait for each other take longer than the loads.
            let mut sums = [[T::zero(); 4]; 3];
            let places = self.starts[row] as usize..self.starts[row + 1] as usize;
            let columns = &self.columns[places.clone()];
            let values = &self.values[BLOCK * places.start..BLOCK * places.end + 1];
            for (index, &column) in columns.iter().enumerate() {
                let vector = &vectors[column as usize];
                let block = &values[BLOCK * index..BLOCK * index + BLOCK + 1];
                for axis in 0..3 {
                    for lane in 0..4 {
                        sums[axis][lane] += block[3 * axis + lane] * vector[axis];
                    }
                }
            }
            for lane in 0..3 {
                out[lane] = sums[0][lane] + sums[1][lane] + sums[2][lane];
            }
            out[3] = T::zero();
            freedoms[row].filter(out);
            form += dot(&vectors[row], out);
        }
        form
    }
}

/// The values of a range of rows.
pub struct RowValues<'a, T> {
    /// The rows.
    pub rows: Range<usize>,
    first: usize,
    values: &'a mut [T],
    diagonal: &'a [u32],
    source_starts: &'a [u32],
    sources: &'a [u32],
}

impl<T: Single> RowValues<'_, T> {
    /// Fills the rows from the blocks of the elements and what stands on the diagonal besides.
    ///
    /// ```text
    /// A_ij = Σ_e K_ij + δ_ij D_i
    /// ```
    /// # Arguments
    /// * `elements` – blocks of all elements, columns one after another, and one number more
    /// * `diagonal` – D of a row, symmetric
    ///
    /// Eq: elementary.
    pub fn gather(&mut self, elements: &[T], diagonal: impl Fn(usize) -> Matrix3<T>) {
        let add = |sums: &mut [Row<T>; 3], source: u32| {
            let first = BLOCK * source as usize;
            let element = &elements[first..first + BLOCK + 1];
            for column in 0..3 {
                for lane in 0..4 {
                    sums[column][lane] += element[3 * column + lane];
                }
            }
        };
        for (index, block) in self.values.chunks_exact_mut(BLOCK).enumerate() {
            let place = self.first + index;
            let sources =
                self.source_starts[place] as usize..self.source_starts[place + 1] as usize;
            let (mut plain, mut transposed) = ([[T::zero(); 4]; 3], [[T::zero(); 4]; 3]);
            for &source in &self.sources[sources] {
                if source < TRANSPOSED {
                    add(&mut plain, source);
                } else {
                    add(&mut transposed, source - TRANSPOSED);
                }
            }
            for column in 0..3 {
                for row in 0..3 {
                    block[3 * column + row] = plain[column][row] + transposed[row][column];
                }
            }
        }
        for row in self.rows.clone() {
            let place = BLOCK * (self.diagonal[row] as usize - self.first);
            let block = diagonal(row);
            for entry in 0..BLOCK {
                self.values[place + entry] += block[entry];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn gathered_matrix_is_the_sum_of_its_elements() {
        let elements: [[u32; 4]; 3] = [[0, 1, 2, 3], [3, 1, 4, 2], [5, 4, 3, 0]];
        let mut random = Random::new(40);
        let mut blocks = Vec::new();
        let mut dense = DMatrix::<f64>::zeros(18, 18);
        for corners in &elements {
            for a in 0..4 {
                for b in a..4 {
                    let mut block = random.matrix(1.0);
                    if a == b {
                        block += block.transpose();
                    }
                    blocks.extend_from_slice(block.as_slice());
                    let (row, column) = (3 * corners[a] as usize, 3 * corners[b] as usize);
                    let mut view = dense.view_mut((row, column), (3, 3));
                    view += block;
                    if a != b {
                        let mut view = dense.view_mut((column, row), (3, 3));
                        view += block.transpose();
                    }
                }
            }
        }
        for row in 0..18 {
            dense[(row, row)] += (row / 3) as f64;
        }
        blocks.push(0.0);
        let mut matrix = BlockMatrix::new(
            6,
            (0..)
                .step_by(10)
                .zip(elements.iter().map(<[u32; 4]>::as_slice)),
        );
        for mut rows in matrix.split([0..2, 2..6].into_iter()) {
            rows.gather(&blocks, |row| Matrix3::identity() * row as f64);
        }
        let vectors: Vec<Row<f64>> = (0..6)
            .map(|_| super::super::row(&random.vector(1.0)))
            .collect();
        let mut out = vec![[0.0; 4]; 6];
        let form = matrix.multiply(0..6, &[Freedom::Free; 6], &vectors, &mut out);
        let flat = DVector::from_iterator(18, vectors.iter().flat_map(|row| row[..3].to_vec()));
        let expected = &dense * &flat;
        for row in 0..6 {
            for axis in 0..3 {
                assert!((out[row][axis] - expected[3 * row + axis]).abs() < 1e-13);
            }
            assert_eq!(matrix.diagonal(row)[(0, 1)], dense[(3 * row, 3 * row + 1)]);
        }
        assert!((form - flat.dot(&expected)).abs() < 1e-12);
    }
}
