//! Second derivatives of isotropic energies in principal axes.
//!
//! With `F = U diag(σ) Vᵀ` the second derivative of every isotropic energy falls apart into a 3×3 block of scalings
//! along the principal axes, three flips (symmetric shears), and three twists (antisymmetric shears). Setting the
//! negative eigenvalues of these small blocks to zero is exact and needs no 9×9 eigensolver.

use nalgebra::{Matrix3, SVector, Vector3};

use super::Hessian;
use crate::kernel::eigen::{PAIRS, symmetric_eigen};
use crate::kernel::matrix::{
    columns, determinant, deviator, double_contraction, trace, transposed_product,
};
use crate::kernel::scalar::{Scalar, real};

/// Second derivatives of an isotropic energy `ψ(σ₁, σ₂, σ₃)` in principal axes, Pa.
///
/// ```text
/// scalingᵢⱼ = ∂²ψ/∂σᵢ∂σⱼ
/// flipₖ  = (ψᵢ − ψⱼ)/(σᵢ − σⱼ)      eigenmatrix U (eᵢeⱼᵀ + eⱼeᵢᵀ) Vᵀ/√2
/// twistₖ = (ψᵢ + ψⱼ)/(σᵢ + σⱼ)      eigenmatrix U (eᵢeⱼᵀ − eⱼeᵢᵀ) Vᵀ/√2
/// ψᵢ = ∂ψ/∂σᵢ,   (i, j, k) all different
/// ```
/// Each energy gives the quotients in a form without division by differences.
pub(super) struct PrincipalModes<T> {
    /// Block of the scaling modes.
    pub scaling: Matrix3<T>,
    /// Eigenvalues of the flips, by the axis left out.
    pub flip: Vector3<T>,
    /// Eigenvalues of the twists, by the axis left out.
    pub twist: Vector3<T>,
}

impl<T: Scalar> PrincipalModes<T> {
    /// The second derivative without its negative part.
    ///
    /// ```text
    /// H = Σₙ max(λₙ, 0) qₙ qₙᵀ
    /// ```
    /// Eq: `[Smith 2019]`.
    #[inline]
    pub fn hessian_psd(&self, left: &Matrix3<T>, right: &Matrix3<T>) -> Hessian<T> {
        let (left, right) = (columns(left), columns(right));
        let dyad = |i: usize, j: usize| {
            let (a, b) = (left[i], right[j]);
            SVector::<T, 9>::from([
                a.x * b.x,
                a.y * b.x,
                a.z * b.x,
                a.x * b.y,
                a.y * b.y,
                a.z * b.y,
                a.x * b.z,
                a.y * b.z,
                a.z * b.z,
            ])
        };
        let root = |eigenvalue: T| eigenvalue.simd_max(T::zero()).simd_sqrt();

        let mut hessian = Hessian::zeros();
        let (values, vectors) = symmetric_eigen(&self.scaling);
        let along = [dyad(0, 0), dyad(1, 1), dyad(2, 2)];
        for (mode, vector) in columns(&vectors).iter().enumerate() {
            let direction = along[0] * vector.x + along[1] * vector.y + along[2] * vector.z;
            add_square(&mut hessian, &(direction * root(values[mode])));
        }
        let half_root: T = real(0.5);
        for (i, j, k) in PAIRS {
            let (one, other) = (dyad(i, j), dyad(j, i));
            let flip = root(self.flip[k] * half_root);
            add_square(&mut hessian, &((one + other) * flip));
            let twist = root(self.twist[k] * half_root);
            add_square(&mut hessian, &((one - other) * twist));
        }
        for column in 1..9 {
            for row in 0..column {
                hessian[(row, column)] = hessian[(column, row)];
            }
        }
        hessian
    }
}

/// A number that no principal stretch exceeds in magnitude, close to the largest one; without unit.
///
/// From the trace and the bound of the deviator, see `largest_eigenvalue_bound`.
///
/// Eq: elementary.
#[inline(always)]
pub(super) fn stretch_bound<T: Scalar>(deformation: &Matrix3<T>) -> T {
    let metric = transposed_product(deformation, deformation);
    let mean = trace(&metric) * real::<T>(1.0 / 3.0);
    let above = largest_eigenvalue_bound(&deviator(&metric));
    (mean + above).simd_max(T::zero()).simd_sqrt()
}

/// A number that no eigenvalue of a symmetric matrix without trace exceeds, close to the largest one; never negative.
///
/// ```text
/// λ₀ = 2p ≥ λ_max,   λₙ₊₁ = λₙ − χ(λₙ)/χ'(λₙ),   χ(λ) = λ³ − 3p² λ − det M,   p² = |M|²/6
/// ```
/// Newton's method falls on the largest root from above. It starts on the root where the two smaller ones are equal.
///
/// Eq: `[Wolkowicz 1980]` for λ₀.
#[inline(always)]
pub(super) fn largest_eigenvalue_bound<T: Scalar>(deviator: &Matrix3<T>) -> T {
    let spread = double_contraction(deviator, deviator) * real::<T>(1.0 / 6.0);
    let product = determinant(deviator);
    let mut above = spread.simd_sqrt() * real::<T>(2.0);
    for _ in 0..2 {
        let slope = (above * above - spread) * real::<T>(3.0);
        let value = (above * above - spread * real::<T>(3.0)) * above - product;
        let step = (value / slope).simd_max(T::zero());
        above -= step.select(slope.simd_gt(T::zero()), T::zero());
    }
    above
}

/// Adds `q qᵀ` to the lower triangle.
#[inline(always)]
fn add_square<T: Scalar>(hessian: &mut Hessian<T>, vector: &SVector<T, 9>) {
    for column in 0..9 {
        for row in column..9 {
            hessian[(row, column)] += vector[row] * vector[column];
        }
    }
}
