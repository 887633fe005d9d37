//! Systems with a symmetric positive semidefinite matrix that may be singular.

/// A pivot below this share of its diagonal entry counts as zero: the row depends on those before.
const DEPENDENT: f64 = 1e-12;

/// Cholesky's factorization with pivots, which leaves out rows that depend on others.
///
/// ```text
/// Pᵀ A P = L Lᵀ,   the largest remaining pivot first;   stop where it is zero to rounding: the rank
/// ```
/// The matrix is scaled to a diagonal of ones before, so that a pivot is the squared sine between a row and the span of
/// the rows before it, whatever the masses. Memory grows once and is kept.
#[derive(Clone, Debug, Default)]
pub struct PivotedCholesky {
    size: usize,
    rank: usize,
    /// Lower triangle of the scaled matrix, then of L, by rows.
    entries: Vec<f64>,
    /// Row of the matrix that stands at each place.
    order: Vec<usize>,
    /// 1/√A_ii of each row.
    scales: Vec<f64>,
    permuted: Vec<f64>,
}

impl PivotedCholesky {
    /// Factorizes a matrix given by its entries; returns its rank.
    ///
    /// `entry(r, s)` for r ≥ s. Rows whose diagonal entry is not positive or not finite are left out. A sum that is not
    /// finite ends the factorization where it comes up.
    ///
    /// Eq: outer product Cholesky with diagonal pivoting, `[Golub Van Loan 2013 §4.2.8]`.
    pub fn factorize(&mut self, size: usize, entry: impl Fn(usize, usize) -> f64) -> usize {
        self.size = size;
        self.order.clear();
        self.order.extend(0..size);
        self.scales.clear();
        self.scales.extend((0..size).map(|row| {
            let scale = 1.0 / entry(row, row).sqrt();
            if scale.is_finite() { scale } else { 0.0 }
        }));
        self.entries.clear();
        self.entries.resize(size * size, 0.0);
        for row in 0..size {
            for column in 0..=row {
                let scaled = entry(row, column) * self.scales[row] * self.scales[column];
                self.entries[row * size + column] = scaled;
            }
        }
        self.rank = (0..size)
            .find(|&place| !self.eliminate(place))
            .unwrap_or(size);
        self.rank
    }

    /// Brings the largest pivot to a place and eliminates it; false if it is zero.
    fn eliminate(&mut self, place: usize) -> bool {
        let size = self.size;
        let diagonal = |at: usize| self.entries[at * size + at];
        // Of equal pivots the first.
        let largest = (place..size).fold(place, |best, at| {
            if diagonal(at) > diagonal(best) {
                at
            } else {
                best
            }
        });
        let regular = diagonal(largest) > DEPENDENT && diagonal(largest).is_finite();
        if !regular {
            return false;
        }
        self.exchange(place, largest);
        let pivot = self.entries[place * size + place].sqrt();
        self.entries[place * size + place] = pivot;
        for row in place + 1..size {
            self.entries[row * size + place] /= pivot;
        }
        for row in place + 1..size {
            let factor = self.entries[row * size + place];
            for column in place + 1..=row {
                self.entries[row * size + column] -= factor * self.entries[column * size + place];
            }
        }
        true
    }

    /// Exchanges two rows and the same columns, in the lower triangle.
    fn exchange(&mut self, first: usize, second: usize) {
        if first == second {
            return;
        }
        let size = self.size;
        self.order.swap(first, second);
        let at = |row: usize, column: usize| row.max(column) * size + row.min(column);
        for other in (0..size).filter(|&other| other != first && other != second) {
            self.entries.swap(at(first, other), at(second, other));
        }
        self.entries.swap(at(first, first), at(second, second));
    }

    /// Solves A x = b in place, with x = 0 in the rows left out.
    ///
    /// If b is in the range of A, x is one of the solutions, and satisfies the rows left out as well. Otherwise these
    /// are not. `values` must be as long as the matrix; entries beyond it stay.
    ///
    /// Eq: substitution with L and Lᵀ, `[Golub Van Loan 2013 §3.1]`.
    pub fn solve(&mut self, values: &mut [f64]) {
        let (size, rank) = (self.size, self.rank);
        if values.len() < size {
            return;
        }
        self.permuted.clear();
        let kept = &self.order[..rank];
        self.permuted
            .extend(kept.iter().map(|&row| values[row] * self.scales[row]));
        for place in 0..rank {
            let row = &self.entries[place * size..][..=place];
            let known = row[..place].iter().zip(&self.permuted);
            let sum = known.fold(self.permuted[place], |sum, (l, x)| sum - l * x);
            self.permuted[place] = sum / row[place];
        }
        for place in (0..rank).rev() {
            let column = |row: usize| self.entries[row * size + place];
            let sum = (place + 1..rank).fold(self.permuted[place], |sum, row| {
                sum - column(row) * self.permuted[row]
            });
            self.permuted[place] = sum / column(place);
        }
        values[..size].fill(0.0);
        for (&row, value) in kept.iter().zip(&self.permuted) {
            values[row] = value * self.scales[row];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use nalgebra::{DMatrix, DVector};

    /// A = B Bᵀ of a given rank, with rows of widely different sizes.
    fn drawn(random: &mut Random, size: usize, rank: usize) -> DMatrix<f64> {
        let mut factor = DMatrix::from_fn(size, rank, |_, _| random.uniform());
        for mut row in factor.row_iter_mut() {
            row *= 10f64.powf(random.between(-3.0, 3.0));
        }
        &factor * factor.transpose()
    }

    #[test]
    fn solves_regular_and_singular_systems_and_tells_the_rank() {
        let mut random = Random::new(811);
        let mut solver = PivotedCholesky::default();
        for _ in 0..500 {
            let size = random.between(1.0, 12.0) as usize;
            let rank = random.between(1.0, size as f64 + 1.0) as usize;
            let matrix = drawn(&mut random, size, rank);
            let inside = &matrix
                * DVector::from_fn(size, |row, _| random.uniform() / matrix[(row, row)].sqrt());
            let found = solver.factorize(size, |row, column| matrix[(row, column)]);
            assert_eq!(found, rank);
            let mut values: Vec<f64> = inside.iter().copied().collect();
            solver.solve(&mut values);
            let zeros = values.iter().filter(|value| **value == 0.0).count();
            assert!(zeros >= size - rank);
            let again = &matrix * DVector::from_vec(values);
            for row in 0..size {
                let scale = matrix[(row, row)].sqrt();
                assert!((again[row] - inside[row]).abs() < 1e-7 * scale);
            }
        }
    }

    #[test]
    fn empty_zero_and_broken_matrices_have_no_rank() {
        let mut solver = PivotedCholesky::default();
        assert_eq!(solver.factorize(0, |_, _| 1.0), 0);
        solver.solve(&mut []);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(solver.factorize(2, |_, _| value), 0);
            let mut values = [1.0, 2.0];
            solver.solve(&mut values);
            assert_eq!(values, [0.0, 0.0]);
        }
        // A row without a diagonal is left out, the other is solved.
        assert_eq!(
            solver.factorize(2, |row, column| if row == 1 && column == 1 {
                4.0
            } else {
                0.0
            }),
            1
        );
        let mut values = [1.0, 2.0];
        solver.solve(&mut values);
        assert_eq!(values, [0.0, 0.5]);
    }
}
