//! Conjugate gradients with the two-level preconditioner.

use nalgebra::{Matrix3, Vector3};

use super::{BlockMatrix, CoarseSpace, Freedom, Row, Workers, dot, vector};
use crate::kernel::matrix::inverse_or_zero;
use crate::kernel::scalar::{Single, real};

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solution {
    /// Iterations taken.
    pub iterations: u32,
    /// Norm of the residual over the norm of the right-hand side; zero for a right-hand side of zero.
    pub residual: f64,
    /// Whether the matrix showed a direction of negative curvature, or a number was not finite.
    pub is_indefinite: bool,
}

/// When a solve may end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Iterations at most.
    pub iterations: u32,
    /// Residual relative to the right-hand side that is good enough.
    pub tolerance: f64,
}

/// Sums over the rows of one patch.
#[derive(Clone, Copy, Debug)]
struct PatchSum<T> {
    /// Residual squared.
    squared: f64,
    /// Residual times its diagonal preconditioning, or direction times product.
    form: f64,
    /// Forces on the patch.
    restricted: [T; 6],
}

/// Vectors of the solver. Grown once, then reused.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradient<T> {
    /// Inverse diagonal blocks, in the free directions of each row; columns one after another.
    inverse_diagonal: Vec<[T; 9]>,
    scaled: Vec<Row<T>>,
    direction: Vec<Row<T>>,
    product: Vec<Row<T>>,
    sums: Vec<PatchSum<T>>,
}

impl<T: Single> ConjugateGradient<T> {
    /// Prepares the diagonal part of the preconditioner.
    ///
    /// ```text
    /// D⁻¹ in the free directions: (S D S + k n nᵀ)⁻¹ − n nᵀ/k
    /// ```
    /// Eq: block Jacobi preconditioner, `[Saad 2003 §10.2]`.
    pub fn prepare(
        &mut self,
        workers: impl Workers,
        matrix: &BlockMatrix<T>,
        freedoms: &[Freedom<T>],
    ) {
        let rows = matrix.rows();
        self.inverse_diagonal.resize(rows, [T::zero(); 9]);
        for vectors in [&mut self.scaled, &mut self.direction, &mut self.product] {
            vectors.resize(rows, [T::zero(); 4]);
        }
        let piece = workers.piece(rows);
        let pieces = self
            .inverse_diagonal
            .chunks_mut(piece)
            .zip((0..).step_by(piece));
        workers.run(pieces, |(inverses, first)| {
            for (row, inverse) in (first..).zip(inverses) {
                let block = free_inverse(&matrix.diagonal(row), &freedoms[row]);
                inverse.copy_from_slice(block.as_slice());
            }
        });
    }

    /// Solves `A x = b`.
    ///
    /// # Arguments
    /// * `residual` – b, filtered; holds the residual afterwards
    /// * `solution` – x, overwritten, starting from zero
    ///
    /// Eq: `[Hestenes Stiefel 1952]`; preconditioner: two-level additive Schwarz, `[Toselli Widlund 2005 §3]`.
    pub fn solve(
        &mut self,
        workers: impl Workers,
        matrix: &BlockMatrix<T>,
        coarse: &mut CoarseSpace<T>,
        freedoms: &[Freedom<T>],
        residual: &mut [Row<T>],
        solution: &mut [Row<T>],
        limits: Limits,
    ) -> Solution {
        let zero = PatchSum {
            squared: 0.0,
            form: 0.0,
            restricted: [T::zero(); 6],
        };
        self.sums.resize(coarse.patches(), zero);
        solution.fill([T::zero(); 4]);
        self.direction.fill([T::zero(); 4]);
        let mut result = Solution::default();

        let (start, mut form) = self.precondition(workers, coarse, residual, solution, None);
        if !(start > 0.0 && start.is_finite() && form > 0.0) {
            result.is_indefinite = start != 0.0;
            return result;
        }
        self.turn(workers, coarse, freedoms, T::zero());
        result.residual = 1.0;
        while result.iterations < limits.iterations && result.residual > limits.tolerance {
            let curvature = self.multiply(workers, matrix, coarse, freedoms);
            if !(curvature > 0.0 && curvature.is_finite()) {
                result.is_indefinite = true;
                break;
            }
            result.iterations += 1;
            let step = Some(real(form / curvature));
            let (squared, next) = self.precondition(workers, coarse, residual, solution, step);
            result.residual = (squared / start).sqrt();
            if !(next > 0.0 && next.is_finite()) {
                result.is_indefinite = squared != 0.0;
                break;
            }
            self.turn(workers, coarse, freedoms, real(next / form));
            form = next;
        }
        result
    }

    /// `product = A p`, returns `p · A p`.
    fn multiply(
        &mut self,
        workers: impl Workers,
        matrix: &BlockMatrix<T>,
        coarse: &CoarseSpace<T>,
        freedoms: &[Freedom<T>],
    ) -> f64 {
        let direction = &self.direction;
        let piece = workers.piece(coarse.patches());
        let mut product = self.product.as_mut_slice();
        let pieces = self.sums.chunks_mut(piece).zip((0..).step_by(piece));
        let pieces = pieces.map(|(sums, first)| {
            let rows = coarse.rows(first).start..coarse.rows(first + sums.len() - 1).end;
            let (part, rest) = std::mem::take(&mut product).split_at_mut(rows.len());
            product = rest;
            (sums, first, part)
        });
        workers.run(pieces, |(sums, first, mut part)| {
            for (patch, sum) in (first..).zip(sums) {
                let rows = coarse.rows(patch);
                let (own, rest) = part.split_at_mut(rows.len());
                part = rest;
                sum.form = matrix.multiply(rows, freedoms, direction, own);
            }
        });
        self.sums.iter().map(|sum| sum.form).sum()
    }

    /// Takes a step along the direction, then preconditions the residual; returns `r · r` and `r · z`.
    fn precondition(
        &mut self,
        workers: impl Workers,
        coarse: &mut CoarseSpace<T>,
        residual: &mut [Row<T>],
        solution: &mut [Row<T>],
        step: Option<T>,
    ) -> (f64, f64) {
        let Self {
            inverse_diagonal,
            scaled,
            direction,
            product,
            sums,
        } = self;
        let (inverse_diagonal, direction, product) = (&*inverse_diagonal, &*direction, &*product);
        {
            let coarse = &*coarse;
            let piece = workers.piece(coarse.patches());
            let mut vectors = (&mut scaled[..], residual, solution);
            let pieces = sums.chunks_mut(piece).zip((0..).step_by(piece));
            let pieces = pieces.map(|(sums, first)| {
                let count = coarse.rows(first + sums.len() - 1).end - coarse.rows(first).start;
                let (scaled, residual, solution) = std::mem::take(&mut vectors);
                let (scaled, residual, solution) = (
                    scaled.split_at_mut(count),
                    residual.split_at_mut(count),
                    solution.split_at_mut(count),
                );
                vectors = (scaled.1, residual.1, solution.1);
                (sums, first, scaled.0, residual.0, solution.0)
            });
            workers.run(pieces, |(sums, first, scaled, residual, solution)| {
                let mut rest = (scaled, residual, solution);
                for (patch, sum) in (first..).zip(sums) {
                    let rows = coarse.rows(patch);
                    let (scaled, residual, solution) = std::mem::take(&mut rest);
                    let (scaled, after_scaled) = scaled.split_at_mut(rows.len());
                    let (residual, after_residual) = residual.split_at_mut(rows.len());
                    let (solution, after_solution) = solution.split_at_mut(rows.len());
                    rest = (after_scaled, after_residual, after_solution);
                    if let Some(step) = step {
                        let changes = direction[rows.clone()].iter().zip(&product[rows.clone()]);
                        let targets = solution.iter_mut().zip(residual.iter_mut());
                        for ((solution, residual), (direction, product)) in targets.zip(changes) {
                            for lane in 0..4 {
                                solution[lane] += step * direction[lane];
                                residual[lane] -= step * product[lane];
                            }
                        }
                    }
                    (sum.squared, sum.form) = (0.0, 0.0);
                    let inverses = &inverse_diagonal[rows.clone()];
                    for ((scaled, residual), inverse) in
                        scaled.iter_mut().zip(residual.iter()).zip(inverses)
                    {
                        let mut image = [T::zero(); 4];
                        for axis in 0..3 {
                            image[axis] = inverse[axis] * residual[0]
                                + inverse[3 + axis] * residual[1]
                                + inverse[6 + axis] * residual[2];
                        }
                        sum.squared += dot(residual, residual);
                        sum.form += dot(residual, &image);
                        *scaled = image;
                    }
                    sum.restricted = coarse.restrict(patch, residual);
                }
            });
        }
        let squared = sums.iter().map(|sum| sum.squared).sum();
        let form: f64 = sums.iter().map(|sum| sum.form).sum();
        (
            squared,
            form + coarse.solve(sums.iter().map(|sum| sum.restricted)),
        )
    }

    /// The next direction, `p = z + β p`.
    fn turn(
        &mut self,
        workers: impl Workers,
        coarse: &CoarseSpace<T>,
        freedoms: &[Freedom<T>],
        share: T,
    ) {
        let scaled = &self.scaled;
        let piece = workers.piece(coarse.patches());
        let mut direction = self.direction.as_mut_slice();
        let pieces = (0..coarse.patches()).step_by(piece).map(|first| {
            let last = (first + piece).min(coarse.patches());
            let rows = coarse.rows(first).start..coarse.rows(last - 1).end;
            let (part, rest) = std::mem::take(&mut direction).split_at_mut(rows.len());
            direction = rest;
            (first..last, part)
        });
        workers.run(pieces, |(patches, mut part)| {
            for patch in patches {
                let rows = coarse.rows(patch);
                let (own, rest) = std::mem::take(&mut part).split_at_mut(rows.len());
                part = rest;
                let motion = coarse.motion(patch);
                let members = coarse.arms(patch).iter().zip(&freedoms[rows.clone()]);
                for ((direction, scaled), (arm, freedom)) in
                    own.iter_mut().zip(&scaled[rows]).zip(members)
                {
                    let mut moved = motion.of(arm);
                    freedom.filter(&mut moved);
                    for lane in 0..4 {
                        direction[lane] = scaled[lane] + moved[lane] + share * direction[lane];
                    }
                }
            }
        });
    }
}

/// Inverse of a diagonal block in the directions that the row is free to follow.
fn free_inverse<T: Single>(block: &Matrix3<T>, freedom: &Freedom<T>) -> Matrix3<T> {
    match freedom {
        Freedom::Free => inverse_or_zero(block),
        Freedom::Held => Matrix3::zeros(),
        Freedom::Plane(normal) => {
            let out = |matrix: Matrix3<T>, normal: &Vector3<T>| {
                let right = matrix - matrix * normal * normal.transpose();
                right - normal * (normal.transpose() * right)
            };
            let outer = normal * normal.transpose();
            let size = block.trace();
            let inverse = inverse_or_zero(&(out(*block, normal) + outer * size));
            out(inverse, normal)
        }
    }
}

/// Sum of the rows, for tests and balances.
///
/// Eq: elementary.
#[must_use]
pub fn sum<T: Single>(rows: &[Row<T>]) -> Vector3<T> {
    rows.iter()
        .fold(Vector3::zeros(), |sum, row| sum + vector(row))
}
