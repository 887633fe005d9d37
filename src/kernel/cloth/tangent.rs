//! Stiffness of a triangle of a membrane: what an implicit step needs.

use nalgebra::{Matrix3, Matrix3x2, Vector2, Vector3};

use super::strain::PlaneTensor;
use super::triangle::columns;
use crate::kernel::scalar::{Scalar, real};

/// Moduli of a membrane at its present strain, N/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentModuli<T> {
    /// C_uu.
    pub warp: T,
    /// C_vv.
    pub weft: T,
    /// C_uv.
    pub coupling: T,
    /// G, per shear angle.
    pub shear: T,
}

impl<T: Scalar> TangentModuli<T> {
    /// Stiffness between the corners 1 and 2 of a triangle, positive semidefinite, N/m: the blocks (1, 1), (1, 2), (2, 2)
    /// of the second derivative of the triangle's energy.
    ///
    /// ```text
    /// K_ab = A ( f_u ⊗ (α f_u + γ f_v) + f_v ⊗ (β f_v + δ f_u) + (a · [S]₊ b) I )
    /// α = C_uu a_u b_u + G a_v b_v,   γ = C_c a_u b_v + G a_v b_u
    /// β = C_vv a_v b_v + G a_u b_u,   δ = C_c a_v b_u + G a_u b_v        f the columns of F
    /// ```
    /// `stress` S is the second stress (N/m) that pulls at the corners, friction included; only its tension stiffens,
    /// so the blocks are the exact second derivative where both principal stresses are tensions. `gradients` are those
    /// of the corners 1 and 2 ([`shape_gradients`](super::triangle::shape_gradients)), `rest_area` A in m².
    ///
    /// Eq: second derivative of ψ by the corners, elementary; S less its negative eigenvalues.
    #[inline(always)]
    pub fn node_stiffness(
        &self,
        deformation: &Matrix3x2<T>,
        stress: &PlaneTensor<T>,
        gradients: &[Vector2<T>; 2],
        rest_area: T,
    ) -> [Matrix3<T>; 3] {
        let columns = columns(deformation);
        // Scaled here: there are seven of these, but 27 entries of the blocks.
        let moduli = Self {
            warp: self.warp * rest_area,
            weft: self.weft * rest_area,
            coupling: self.coupling * rest_area,
            shear: self.shear * rest_area,
        };
        let tension = stress.positive_part() * rest_area;
        let [first, second] = gradients;
        let mut between = Matrix3::zeros();
        let (warp_image, weft_image, along) = moduli.images(&columns, &tension, first, second);
        for column in 0..3 {
            for row in 0..3 {
                between[(row, column)] =
                    columns[0][row] * warp_image[column] + columns[1][row] * weft_image[column];
            }
            between[(column, column)] += along;
        }
        [
            moduli.diagonal_block(&columns, &tension, first),
            between,
            moduli.diagonal_block(&columns, &tension, second),
        ]
    }

    /// The block of a corner with itself, whose halves are alike.
    #[inline(always)]
    fn diagonal_block(
        &self,
        columns: &[Vector3<T>; 2],
        tension: &PlaneTensor<T>,
        gradient: &Vector2<T>,
    ) -> Matrix3<T> {
        let (warp_image, weft_image, along) = self.images(columns, tension, gradient, gradient);
        let [warp, weft] = columns;
        let entry = |i: usize, j: usize| warp[i] * warp_image[j] + weft[i] * weft_image[j];
        let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
        Matrix3::new(
            entry(0, 0) + along,
            xy,
            xz,
            xy,
            entry(1, 1) + along,
            yz,
            xz,
            yz,
            entry(2, 2) + along,
        )
    }

    /// `α f_u + γ f_v`, `β f_v + δ f_u` and `a · S b`.
    #[inline(always)]
    fn images(
        &self,
        [warp, weft]: &[Vector3<T>; 2],
        tension: &PlaneTensor<T>,
        a: &Vector2<T>,
        b: &Vector2<T>,
    ) -> (Vector3<T>, Vector3<T>, T) {
        let (uu, uv, vu, vv) = (a.x * b.x, a.x * b.y, a.y * b.x, a.y * b.y);
        let alpha = self.warp * uu + self.shear * vv;
        let beta = self.weft * vv + self.shear * uu;
        let gamma = self.coupling * uv + self.shear * vu;
        let delta = self.coupling * vu + self.shear * uv;
        let along = tension.warp * uu + tension.weft * vv + tension.shear * (uv + vu);
        (
            warp * alpha + weft * gamma,
            weft * beta + warp * delta,
            along,
        )
    }

    /// A bound from above for the largest eigenvalue of a triangle's stiffness, N/m.
    ///
    /// ```text
    /// λ ≤ A (m + √(2/3 tr(B²) − 2 m²) + tr([S]₊ H)),   m = ⅓ tr B,   B = C M,   H = Σ_a b_a b_aᵀ
    /// ```
    /// M are the products of the three strain modes E_uu, E_vv, 2 E_uv, summed over the corners. Over corners of equal
    /// mass μ it bounds the square of the frequency by λ/μ. `gradients` are those of all three corners.
    ///
    /// Eq: `[Wolkowicz 1980]` for B; elementary for the tension.
    #[inline]
    pub fn stiffness_bound(
        &self,
        deformation: &Matrix3x2<T>,
        stress: &PlaneTensor<T>,
        gradients: &[Vector2<T>; 3],
        rest_area: T,
    ) -> T {
        let [warp, weft] = columns(deformation);
        let (a, b, c) = (warp.dot(&warp), weft.dot(&weft), warp.dot(&weft));
        let sum = |product: fn(&Vector2<T>) -> T| {
            product(&gradients[0]) + product(&gradients[1]) + product(&gradients[2])
        };
        let gram = PlaneTensor {
            warp: sum(|gradient| gradient.x * gradient.x),
            weft: sum(|gradient| gradient.y * gradient.y),
            shear: sum(|gradient| gradient.x * gradient.y),
        };
        let (m11, m22, m12) = (gram.warp * a, gram.weft * b, gram.shear * c);
        let m13 = gram.warp * c + gram.shear * a;
        let m23 = gram.shear * b + gram.weft * c;
        let m33 = gram.warp * b + gram.weft * a + (m12 + m12);
        let row = |first: T, second: T| {
            [
                first * m11 + second * m12,
                first * m12 + second * m22,
                first * m13 + second * m23,
            ]
        };
        let [b11, b12, b13] = row(self.warp, self.coupling);
        let [b21, b22, b23] = row(self.coupling, self.weft);
        let (b31, b32, b33) = (self.shear * m13, self.shear * m23, self.shear * m33);
        let mean = (b11 + b22 + b33) * real::<T>(1.0 / 3.0);
        let mixed = b12 * b21 + b13 * b31 + b23 * b32;
        let square = b11 * b11 + b22 * b22 + b33 * b33 + (mixed + mixed);
        // Not negative but for rounding: three times the variance of the eigenvalues.
        let variance = square - mean * mean * real::<T>(3.0);
        let spread = (variance.simd_max(T::zero()) * real::<T>(2.0 / 3.0)).simd_sqrt();
        (mean + spread + stress.positive_part().contract(&gram)) * rest_area
    }
}

/// The blocks of all three corners from those of two: rows and columns add up to nothing.
///
/// `store` is called with 0 to 5 for the pairs (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2).
///
/// Eq: elementary.
#[inline(always)]
pub fn store_all_pairs<T: Scalar>(
    blocks: &[Matrix3<T>; 3],
    mut store: impl FnMut(usize, &Matrix3<T>),
) {
    let [k11, k12, k22] = blocks;
    let k21 = k12.transpose();
    store(0, &((k11 + k22) + (k12 + k21)));
    store(1, &-(k11 + k21));
    store(2, &-(k12 + k22));
    store(3, k11);
    store(4, k12);
    store(5, k22);
}
