//! Conjugate gradients with the two-level preconditioner.

use nalgebra::{Matrix3, Vector3};

use super::{BlockMatrix, CoarseSpace, Freedom, OuterProduct, Row, Workers, dot};
use crate::kernel::matrix::inverse_or_zero;
use crate::kernel::scalar::{Single, real};

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solution {
    /// Iterations taken.
    pub iterations: u32,
    /// Norm of the residual over the norm of the right-hand side; zero for a right-hand side of zero.
    pub residual: f64,
    /// How far ½ xᵀ A x − b·x has fallen, J where A is a stiffness.
    pub fall: f64,
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
    /// What is added to the matrix.
    pub outer: OuterProduct<T>,
    scaled: Vec<Row<T>>,
    pub(super) direction: Vec<Row<T>>,
    pub(super) product: Vec<Row<T>>,
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

    /// Solves `(A + w g gᵀ) x = b`, with the [`outer`](Self::outer) product; the preconditioner knows nothing of it.
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
        self.reset(coarse, solution);
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
            result.fall += 0.5 * form * form / curvature;
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

    /// Starts from zero.
    pub(super) fn reset(&mut self, coarse: &CoarseSpace<T>, solution: &mut [Row<T>]) {
        let zero = PatchSum {
            squared: 0.0,
            form: 0.0,
            restricted: [T::zero(); 6],
        };
        self.sums.resize(coarse.patches(), zero);
        solution.fill([T::zero(); 4]);
        self.direction.fill([T::zero(); 4]);
    }

    /// `product = A p`, returns `p · A p`.
    pub(super) fn multiply(
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
        let form: f64 = self.sums.iter().map(|sum| sum.form).sum();
        let outer = &self.outer;
        form + outer.multiply(freedoms, &self.direction, &mut self.product)
    }

    /// Takes a step along the direction, then preconditions the residual; returns `r · r` and `r · z`.
    pub(super) fn precondition(
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
            ..
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
    pub(super) fn turn(
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

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Aggregates, Alone, row};
    use super::*;
    use crate::kernel::testing::Random;
    use nalgebra::{DMatrix, DVector};

    /// A bar of springs in all directions between neighbours, on masses, in patches; and the same matrix, dense.
    pub(in crate::kernel::implicit) fn bar(
        count: u32,
    ) -> (
        BlockMatrix<f64>,
        CoarseSpace<f64>,
        Vec<Row<f64>>,
        DMatrix<f64>,
    ) {
        let mut random = Random::new(41);
        let positions: Vec<Vector3<f64>> = (0..count)
            .map(|i| Vector3::new(f64::from(i), 0.0, 0.0) + random.vector(0.3))
            .collect();
        let (mut starts, mut neighbours) = (vec![0], Vec::new());
        for i in 0..count {
            neighbours.extend((i.saturating_sub(1)..=i + 1).filter(|&j| j < count));
            starts.push(neighbours.len() as u32);
        }
        let patches = Aggregates::new(&positions, (&starts, &neighbours));
        let mut rows = vec![0_u32; count as usize];
        for (row, &particle) in (0..).zip(&patches.particles) {
            rows[particle as usize] = row;
        }
        let elements: Vec<[u32; 2]> = rows.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        let places: Vec<Row<f64>> = patches
            .particles
            .iter()
            .map(|&particle| row(&positions[particle as usize]))
            .collect();
        let size = 3 * count as usize;
        let (mut blocks, mut dense) = (Vec::new(), DMatrix::<f64>::identity(size, size) * 0.01);
        for &[a, b] in &elements {
            let root = random.matrix(1.0);
            let stiffness = root * root.transpose() + Matrix3::identity();
            for (first, second, sign) in [(a, a, 1.0), (a, b, -1.0), (b, b, 1.0)] {
                blocks.extend_from_slice((stiffness * sign).as_slice());
                let mut add = |row: u32, column: u32| {
                    let mut view = dense.view_mut((3 * row as usize, 3 * column as usize), (3, 3));
                    view += stiffness * sign;
                };
                add(first, second);
                if first != second {
                    add(second, first);
                }
            }
        }
        blocks.push(0.0);
        let mut matrix = BlockMatrix::new(
            count as usize,
            (0..)
                .step_by(3)
                .zip(elements.iter().map(<[u32; 2]>::as_slice)),
        );
        for mut rows in matrix.split(std::iter::once(0..count as usize)) {
            rows.gather(&blocks, |_| Matrix3::identity() * 0.01);
        }
        let coarse = CoarseSpace::new(&patches.starts, &matrix);
        (matrix, coarse, places, dense)
    }

    #[test]
    fn solution_is_that_of_the_dense_matrix_in_the_free_directions() {
        let count = 200;
        let (matrix, mut coarse, places, dense) = bar(count as u32);
        assert!(coarse.patches() >= 4);
        let mut random = Random::new(42);
        let mut freedoms = vec![Freedom::Free; count];
        freedoms[0] = Freedom::Held;
        freedoms[70] = Freedom::Held;
        freedoms[120] = Freedom::Plane(random.vector(1.0).normalize());
        let force: Vec<Row<f64>> = (0..count)
            .map(|i| {
                let mut force = row(&random.vector(1.0));
                freedoms[i].filter(&mut force);
                force
            })
            .collect();

        // A basis of what the rows are free to do.
        let mut filter = DMatrix::<f64>::identity(3 * count, 3 * count);
        for (i, freedom) in freedoms.iter().enumerate() {
            for axis in 0..3 {
                let mut unit = [0.0; 4];
                unit[axis] = 1.0;
                freedom.filter(&mut unit);
                for other in 0..3 {
                    filter[(3 * i + other, 3 * i + axis)] = unit[other];
                }
            }
        }
        let identity = DMatrix::<f64>::identity(3 * count, 3 * count);
        let outer = OuterProduct {
            weight: 30.0,
            vector: (0..count).map(|_| row(&random.vector(1.0))).collect(),
        };
        let entries = outer.vector.iter().flat_map(|row| row[..3].to_vec());
        let vector = DVector::from_iterator(3 * count, entries);
        let dense = dense + &vector * vector.transpose() * outer.weight;
        let projected = &filter * &dense * &filter + (identity - &filter);
        let right =
            DVector::from_iterator(3 * count, force.iter().flat_map(|row| row[..3].to_vec()));
        let expected = projected
            .cholesky()
            .expect("positive definite")
            .solve(&right);

        let mut solver = ConjugateGradient {
            outer,
            ..Default::default()
        };
        solver.prepare(Alone, &matrix, &freedoms);
        coarse.update(Alone, &matrix, &freedoms, &places);
        let (mut residual, mut solution) = (force, vec![[0.0; 4]; count]);
        let limits = Limits {
            iterations: 500,
            tolerance: 1e-12,
        };
        let report = solver.solve(
            Alone,
            &matrix,
            &mut coarse,
            &freedoms,
            &mut residual,
            &mut solution,
            limits,
        );
        assert!(
            !report.is_indefinite && report.residual <= 1e-12,
            "{report:?}"
        );
        for i in 0..count {
            for axis in 0..3 {
                let error = (solution[i][axis] - expected[3 * i + axis]).abs();
                assert!(error <= 1e-9 * expected.amax(), "row {i}: {error}");
            }
        }
    }

    #[test]
    fn nothing_to_solve_takes_no_iteration_and_a_negative_matrix_is_told() {
        let count = 60;
        let (mut matrix, mut coarse, places, _) = bar(count as u32);
        let freedoms = vec![Freedom::Free; count];
        let limits = Limits {
            iterations: 50,
            tolerance: 1e-6,
        };
        let mut run = |matrix: &BlockMatrix<f64>, force: f64| {
            let mut solver = ConjugateGradient::default();
            solver.prepare(Alone, matrix, &freedoms);
            coarse.update(Alone, matrix, &freedoms, &places);
            let (mut residual, mut solution) = (vec![[force; 4]; count], vec![[0.0; 4]; count]);
            solver.solve(
                Alone,
                matrix,
                &mut coarse,
                &freedoms,
                &mut residual,
                &mut solution,
                limits,
            )
        };
        assert_eq!(run(&matrix, 0.0), Solution::default());
        for row in 0..count {
            matrix.add_to_diagonal(row, -100.0);
        }
        assert!(run(&matrix, 1.0).is_indefinite);
    }
}
