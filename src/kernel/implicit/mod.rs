//! What implicit integration is made of: stages in time, the sparse matrix, its preconditioner, and the solver.
//!
//! A stage asks for the minimum of the incremental potential
//!
//! ```text
//! Ψ(x) = ½ (v − u)ᵀ M (v − u) + E(x),   v = (x − x̂)/h          [Martin 2011]
//! ```
//! where `x̂`, `u` and `h` come from the scheme ([`schemes`]). One step of Newton's method from a predictor solves
//!
//! ```text
//! (M/h² + K) dx = M (u − v)/h + f(x)
//! ```
//! with the positive semidefinite stiffness K of the elements, by conjugate gradients ([`conjugate_gradient`]) with two
//! preconditioners added up: the inverse 3×3 diagonal blocks, and an exact solution for motions in which each of some
//! dozen patches of the body moves rigidly ([`coarse`]). The first takes care of what differs from node to node, the
//! second of bending, stretching and swinging as a whole, which the first would need hundreds of iterations for.
//!
//! Rows are ordered by patch, so a patch is a range of rows, and each sum over rows is a sum of sums over patches:
//! the same bits for any number of threads.

pub mod aggregates;
pub mod block_matrix;
pub mod coarse;
pub mod conjugate_gradient;
pub mod coupled;
pub mod outer_product;
pub mod schemes;

pub use aggregates::Aggregates;
pub use block_matrix::BlockMatrix;
pub use coarse::CoarseSpace;
pub use conjugate_gradient::{ConjugateGradient, Solution};
pub use coupled::{Link, Member, solve_coupled};
pub use outer_product::OuterProduct;

use nalgebra::Vector3;

use super::scalar::Single;

/// A vector of a row with a fourth component that means nothing, so that it fills a register.
pub type Row<T> = [T; 4];

/// A row from a vector.
///
/// Eq: elementary.
#[inline(always)]
pub fn row<T: Single>(vector: &Vector3<T>) -> Row<T> {
    [vector.x, vector.y, vector.z, T::zero()]
}

/// The vector of a row.
///
/// Eq: elementary.
#[inline(always)]
pub fn vector<T: Single>(row: &Row<T>) -> Vector3<T> {
    Vector3::new(row[0], row[1], row[2])
}

/// Dot product of two rows in double precision.
#[inline(always)]
pub(crate) fn dot<T: Single>(left: &Row<T>, right: &Row<T>) -> f64 {
    let product = left[0] * right[0] + left[1] * right[1] + left[2] * right[2];
    nalgebra::convert_unchecked(product)
}

/// Whoever runs pieces of work side by side. What the pieces are never changes a result.
pub trait Workers: Copy {
    /// How many of `count` equal parts make up one piece; at least one.
    ///
    /// Eq: elementary.
    fn piece(self, count: usize) -> usize;

    /// Runs `work` on every piece and waits.
    ///
    /// Eq: elementary.
    fn run<T: Send>(self, pieces: impl Iterator<Item = T>, work: impl Fn(T) + Sync);
}

/// The caller alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Workers for Alone {
    fn piece(self, count: usize) -> usize {
        count.max(1)
    }

    fn run<T: Send>(self, pieces: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
        pieces.for_each(work);
    }
}

/// What a row may do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Freedom<T: Single> {
    /// Anything.
    #[default]
    Free,
    /// Move in the plane with this unit normal.
    Plane(Vector3<T>),
    /// Nothing: a pinned particle.
    Held,
}

impl<T: Single> Freedom<T> {
    /// The part of a vector that the row is free to follow.
    ///
    /// ```text
    /// a,   a − n (n · a),   0
    /// ```
    /// Eq: `[Baraff 1998 §5]`.
    #[inline(always)]
    pub fn filter(&self, row: &mut Row<T>) {
        match self {
            Self::Free => {}
            Self::Plane(normal) => {
                let along = row[0] * normal.x + row[1] * normal.y + row[2] * normal.z;
                for axis in 0..3 {
                    row[axis] -= normal[axis] * along;
                }
            }
            Self::Held => *row = [T::zero(); 4],
        }
    }
}
