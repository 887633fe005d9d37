//! Several systems of equations that contacts join, solved as one.

use nalgebra::{Matrix3, Vector3};

use super::conjugate_gradient::Limits;
use super::{BlockMatrix, CoarseSpace, ConjugateGradient, Freedom, Row, Solution, Workers, dot};
use crate::kernel::scalar::{Single, real};

/// One of the systems: what [`ConjugateGradient::solve`] takes.
pub struct Member<'a, T: Single> {
    /// The matrix, with the diagonal blocks of the links ([`Link::diagonal_block`]).
    pub matrix: &'a BlockMatrix<T>,
    /// The coarse space, updated with the matrix.
    pub coarse: &'a mut CoarseSpace<T>,
    /// What the rows may do.
    pub freedoms: &'a [Freedom<T>],
    /// Right-hand side, filtered; holds the residual afterwards.
    pub residual: &'a mut [Row<T>],
    /// Solution, overwritten.
    pub solution: &'a mut [Row<T>],
    /// The solver, prepared with the matrix.
    pub conjugate_gradient: &'a mut ConjugateGradient<T>,
}

/// A stiffness between four rows of any members, as two features in contact have.
///
/// ```text
/// A_ij += wᵢ wⱼ S
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Link<T: Single> {
    /// Member and row of each vertex; all different.
    pub rows: [(u32, u32); 4],
    /// wᵢ.
    pub weights: [T; 4],
    /// S, symmetric and positive semidefinite, N/m.
    pub block: Matrix3<T>,
}

impl<T: Single> Link<T> {
    /// What the link adds to the diagonal block of one of its rows.
    ///
    /// ```text
    /// wᵢ² S
    /// ```
    /// Eq: elementary.
    #[must_use]
    pub fn diagonal_block(&self, vertex: usize) -> Matrix3<T> {
        self.block * (self.weights[vertex] * self.weights[vertex])
    }

    /// Adds what the link has beside the diagonal to the products of all members; returns its part of the form.
    fn multiply(&self, members: &mut [Member<T>]) -> f64 {
        let directions: [Vector3<T>; 4] = std::array::from_fn(|i| {
            let (member, row) = self.rows[i];
            let solver = &members[member as usize].conjugate_gradient;
            super::vector(&solver.direction[row as usize]) * self.weights[i]
        });
        let sum = directions[0] + directions[1] + directions[2] + directions[3];
        let mut form = 0.0;
        for i in 0..4 {
            if self.weights[i] == T::zero() {
                continue;
            }
            let (member, row) = self.rows[i];
            let (member, row) = (&mut members[member as usize], row as usize);
            let mut force = super::row(&(self.block * (sum - directions[i]) * self.weights[i]));
            member.freedoms[row].filter(&mut force);
            let solver = &mut *member.conjugate_gradient;
            form += dot(&solver.direction[row], &force);
            for lane in 0..3 {
                solver.product[row][lane] += force[lane];
            }
        }
        form
    }
}

/// Solves the systems of all members and the links between them.
///
/// ```text
/// (diag(A₁, A₂, …) + Σ wᵢ wⱼ S) x = b
/// ```
/// The preconditioner is that of each member by itself, with the links on its diagonal. Sums run over members in their
/// order, so that the result is the same for any number of threads.
///
/// Eq: `[Hestenes Stiefel 1952]`; preconditioner: two-level additive Schwarz, `[Toselli Widlund 2005 §3]`.
pub fn solve_coupled<T: Single>(
    workers: impl Workers,
    members: &mut [Member<T>],
    links: &[Link<T>],
    limits: Limits,
) -> Solution {
    let mut result = Solution::default();
    let (mut start, mut form) = (0.0, 0.0);
    for member in &mut *members {
        member
            .conjugate_gradient
            .reset(member.coarse, member.solution);
        let (squared, product) = member.precondition(workers, None);
        start += squared;
        form += product;
    }
    if !(start > 0.0 && start.is_finite() && form > 0.0) {
        result.is_indefinite = start != 0.0;
        return result;
    }
    for member in &mut *members {
        member.turn(workers, T::zero());
    }
    result.residual = 1.0;
    while result.iterations < limits.iterations && result.residual > limits.tolerance {
        let mut curvature = 0.0;
        for member in &mut *members {
            curvature += member.conjugate_gradient.multiply(
                workers,
                member.matrix,
                member.coarse,
                member.freedoms,
            );
        }
        for link in links {
            curvature += link.multiply(members);
        }
        if !(curvature > 0.0 && curvature.is_finite()) {
            result.is_indefinite = true;
            break;
        }
        result.iterations += 1;
        result.fall += 0.5 * form * form / curvature;
        let step = Some(real(form / curvature));
        let (mut squared, mut next) = (0.0, 0.0);
        for member in &mut *members {
            let (own, product) = member.precondition(workers, step);
            squared += own;
            next += product;
        }
        result.residual = (squared / start).sqrt();
        if !(next > 0.0 && next.is_finite()) {
            result.is_indefinite = squared != 0.0;
            break;
        }
        for member in &mut *members {
            member.turn(workers, real(next / form));
        }
        form = next;
    }
    result
}

impl<T: Single> Member<'_, T> {
    fn precondition(&mut self, workers: impl Workers, step: Option<T>) -> (f64, f64) {
        self.conjugate_gradient.precondition(
            workers,
            self.coarse,
            self.residual,
            self.solution,
            step,
        )
    }

    fn turn(&mut self, workers: impl Workers, share: T) {
        self.conjugate_gradient
            .turn(workers, self.coarse, self.freedoms, share);
    }
}

#[cfg(test)]
mod tests {
    use super::super::conjugate_gradient::tests::bar;
    use super::super::{Alone, vector};
    use super::*;
    use crate::kernel::testing::Random;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn solution_is_that_of_the_dense_matrix_of_all() {
        let (count, limits) = (
            120,
            Limits {
                iterations: 400,
                tolerance: 1e-10,
            },
        );
        let mut random = Random::new(45);
        let bars = [bar(count), bar(count)];
        let size = 3 * count as usize;
        let mut dense = DMatrix::<f64>::zeros(2 * size, 2 * size);
        let mut right = DVector::<f64>::zeros(2 * size);
        let (mut matrices, mut coarses, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (matrix, coarse, places, own)) in bars.into_iter().enumerate() {
            dense
                .view_mut((index * size, index * size), (size, size))
                .copy_from(&own);
            let force: Vec<Row<f64>> = (0..count)
                .map(|_| super::super::row(&random.vector(1.0)))
                .collect();
            for (row, force) in force.iter().enumerate() {
                for axis in 0..3 {
                    right[index * size + 3 * row + axis] = force[axis];
                }
            }
            matrices.push(matrix);
            coarses.push((coarse, places));
            residuals.push(force);
        }
        // Between the bars, and within the first.
        let mut links = Vec::new();
        for (rows, weights) in [
            ([(0, 3), (1, 8), (1, 9), (1, 40)], [1.0, -0.2, -0.3, -0.5]),
            ([(0, 50), (0, 51), (1, 77), (1, 78)], [0.4, 0.6, -0.7, -0.3]),
            (
                [(0, 100), (0, 1), (0, 2), (0, 60)],
                [1.0, -0.25, -0.75, 0.0],
            ),
        ] {
            let normal = random.vector(1.0).normalize();
            let link = Link {
                rows,
                weights,
                block: normal * normal.transpose() * 30.0 + Matrix3::identity(),
            };
            for i in 0..4 {
                let (member, row) = rows[i];
                matrices[member as usize]
                    .add_block_to_diagonal(row as usize, &link.diagonal_block(i));
                for j in 0..4 {
                    let [a, b] = [i, j].map(|k: usize| {
                        let (member, row) = rows[k];
                        member as usize * size + 3 * row as usize
                    });
                    let mut view = dense.view_mut((a, b), (3, 3));
                    view += link.block * (weights[i] * weights[j]);
                }
            }
            links.push(link);
        }
        let freedoms = vec![Freedom::Free; count as usize];
        let mut solvers = [ConjugateGradient::default(), ConjugateGradient::default()];
        let mut solutions = [
            vec![[0.0; 4]; count as usize],
            vec![[0.0; 4]; count as usize],
        ];
        let mut members: Vec<Member<f64>> = Vec::new();
        let parts = matrices.iter().zip(&mut coarses).zip(&mut residuals);
        for (((matrix, coarse), residual), (solver, solution)) in
            parts.zip(solvers.iter_mut().zip(&mut solutions))
        {
            solver.prepare(Alone, matrix, &freedoms);
            coarse.0.update(Alone, matrix, &freedoms, &coarse.1);
            members.push(Member {
                matrix,
                coarse: &mut coarse.0,
                freedoms: &freedoms,
                residual,
                solution,
                conjugate_gradient: solver,
            });
        }
        let report = solve_coupled(Alone, &mut members, &links, limits);
        assert!(
            !report.is_indefinite && report.residual <= 1e-10,
            "{report:?}"
        );
        let expected = dense.lu().solve(&right).expect("regular");
        for (index, solution) in solutions.iter().enumerate() {
            for (row, found) in solution.iter().enumerate() {
                let place = index * size + 3 * row;
                let expected = Vector3::from_fn(|axis, _| expected[place + axis]);
                assert!((vector(found) - expected).norm() < 1e-6 * expected.norm().max(1.0));
            }
        }
    }
}
