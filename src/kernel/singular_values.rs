//! Singular values of 3×3 matrices, with proper rotations on both sides.
//!
//! A deformation gradient of an inverted element has a negative determinant. Elastic energies want that sign on
//! the smallest principal stretch and rotations on both sides, so that the polar rotation never mirrors
//! (`[Irving 2004]`).
//!
//! Method: one-sided Jacobi. The columns of `F V` are made orthogonal by turning pairs of them; their lengths are
//! then the singular values. Fixed sweeps and selections only, so that lanes can run it.
//! Rejected: the eigenvalues of `FᵀF`, which lose half of the digits of small singular values.

use nalgebra::{Matrix3, Vector3};

use super::eigen::{PAIRS, exchange, jacobi_rotation, negligible, scale, sweeps, turn};
use super::matrix::{columns, perpendicular};
use super::scalar::{Scalar, real};

/// Rotation-variant singular value decomposition: `(U, σ, V)`.
///
/// ```text
/// F = U diag(σ) Vᵀ,   det U = det V = +1,   σ₁ ≥ σ₂ ≥ |σ₃|,   sign σ₃ = sign det F
/// ```
/// Accurate to a few rounding errors of the largest entry; the order holds to the same precision.
/// Repeated or vanishing singular values give one of the possible bases; the zero matrix gives `U = V = I` up to
/// signs of columns. Singular values have the unit of the entries.
///
/// Eq: one-sided Jacobi method, `[Golub Van Loan 2013 §8.6]`; signs after `[Irving 2004]`.
#[inline]
pub fn singular_value_decomposition<T: Scalar>(
    matrix: &Matrix3<T>,
) -> (Matrix3<T>, Vector3<T>, Matrix3<T>) {
    let scale = scale(matrix);
    let mut images = columns(&(matrix * (T::one() / scale)));
    let mut axes = [0, 1, 2].map(|axis| Vector3::ith(axis, T::one()));

    for _ in 0..sweeps::<T>() {
        for (first, second, _) in PAIRS {
            let (a, b) = (images[first], images[second]);
            let (cosine, sine) = jacobi_rotation(b.dot(&b) - a.dot(&a), a.dot(&b));
            turn(&mut images, first, second, cosine, sine);
            turn(&mut axes, first, second, cosine, sine);
        }
    }
    for (first, second, _) in PAIRS {
        let (a, b) = (images[first], images[second]);
        let ascending = a.dot(&a).simd_lt(b.dot(&b));
        exchange(&mut images, first, second, ascending);
        exchange(&mut axes, first, second, ascending);
    }

    let first = unit_or(&images[0], &Vector3::ith(0, T::one()));
    // Twice, since a column of rounding errors may point anywhere.
    let mut rest = images[1] - first * first.dot(&images[1]);
    rest -= first * first.dot(&rest);
    let second = unit_or(&rest, &perpendicular(&first));
    let third = first.cross(&second);
    let singular_values = Vector3::new(
        first.dot(&images[0]),
        second.dot(&images[1]),
        third.dot(&images[2]),
    );
    (
        Matrix3::from_columns(&[first, second, third]),
        singular_values * scale,
        Matrix3::from_columns(&axes),
    )
}

/// Rotation of the polar decomposition: the proper rotation nearest to a matrix.
///
/// ```text
/// F = R S,   R = U Vᵀ,   S = V diag(σ) Vᵀ
/// ```
/// Proper also where `F` is flat or inverted (`S` then has one negative eigenvalue). Where `σ₂ + σ₃ = 0` (all on
/// one line, or mirrored with two equal stretches) it is one of several equally near rotations.
///
/// Eq: `[Irving 2004]`.
#[inline]
pub fn polar_rotation<T: Scalar>(matrix: &Matrix3<T>) -> Matrix3<T> {
    let (left, _, right) = singular_value_decomposition(matrix);
    left * right.transpose()
}

/// The vector at unit length, or the given unit vector where it vanishes.
#[inline(always)]
fn unit_or<T: Scalar>(vector: &Vector3<T>, fallback: &Vector3<T>) -> Vector3<T> {
    let length = vector.dot(vector).simd_sqrt();
    let usable = length.simd_gt(real(negligible::<T>()));
    let inverse_length = T::one() / length;
    vector.zip_map(fallback, |component, other| {
        (component * inverse_length).select(usable, other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::{Random, lanes, spread_cases};
    use approx::assert_relative_eq;
    use nalgebra::DMatrix;
    use simba::simd::{SimdValue, WideF32x8};

    fn cases() -> Vec<Matrix3<f64>> {
        let mut random = Random::new(6);
        let mut cases = vec![
            Matrix3::zeros(),
            Matrix3::identity(),
            -Matrix3::identity(),
            Matrix3::from_element(1.0),
            Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, 1.0)),
            Matrix3::new(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            Matrix3::identity() * 1e-30,
            Matrix3::identity() * 1e30,
        ];
        for values in spread_cases() {
            for sign in [1.0, -1.0] {
                for _ in 0..8 {
                    cases.push(random.stretched([values[0], values[1], sign * values[2]]));
                }
            }
        }
        cases.extend((0..400).map(|_| random.matrix(1.0)));
        cases
    }

    #[test]
    fn factors_recompose_the_matrix_and_match_nalgebra() {
        for matrix in cases() {
            let size = matrix.amax().max(f64::MIN_POSITIVE);
            let (left, values, right) = singular_value_decomposition(&matrix);
            let again = left * Matrix3::from_diagonal(&values) * right.transpose();
            assert!((again - matrix).amax() <= 3e-15 * size, "{matrix} {again}");
            for rotation in [left, right] {
                let error = rotation.transpose() * rotation - Matrix3::identity();
                assert!(error.amax() <= 2e-15, "{matrix} {error}");
                assert_relative_eq!(rotation.determinant(), 1.0, epsilon = 1e-14);
            }
            assert!(values[0] + 2e-15 * size >= values[1]);
            assert!(values[1] + 2e-15 * size >= values[2].abs());
            // The one for matrices of any size: nalgebra's special case of 3×3 loses half of the digits.
            let dynamic = DMatrix::from_column_slice(3, 3, matrix.as_slice());
            let expected = dynamic.svd(false, false).singular_values;
            for (value, expected) in values.iter().zip(expected.iter()) {
                assert!((value.abs() - expected).abs() <= 4e-15 * size);
            }
            if matrix.determinant().abs() > 1e-12 * size.powi(3) {
                assert_eq!(values[2] < 0.0, matrix.determinant() < 0.0);
            }
        }
    }

    #[test]
    fn single_precision_reaches_its_rounding() {
        for matrix in cases() {
            let matrix = matrix.cast::<f32>();
            let size = matrix.amax().max(f32::MIN_POSITIVE);
            let (left, values, right) = singular_value_decomposition(&matrix);
            let again = left * Matrix3::from_diagonal(&values) * right.transpose();
            assert!((again - matrix).amax() <= 1.5e-6 * size, "{matrix} {again}");
            for rotation in [left, right] {
                let error = rotation.transpose() * rotation - Matrix3::identity();
                assert!(error.amax() <= 1e-6, "{matrix} {error}");
            }
        }
    }

    #[test]
    fn polar_rotation_is_proper_and_leaves_a_symmetric_stretch() {
        for matrix in cases() {
            let size = matrix.amax().max(f64::MIN_POSITIVE);
            let rotation = polar_rotation(&matrix);
            assert_relative_eq!(rotation.determinant(), 1.0, epsilon = 1e-14);
            let stretch = rotation.transpose() * matrix;
            assert!((stretch - stretch.transpose()).amax() <= 4e-15 * size);
        }
    }

    #[test]
    fn rotation_of_the_input_rotates_the_polar_rotation() {
        let mut random = Random::new(7);
        for _ in 0..50 {
            let matrix = random.stretched([1.6, 1.1, 0.4]);
            let turn = random.rotation();
            assert_relative_eq!(
                polar_rotation(&(turn * matrix)),
                turn * polar_rotation(&matrix),
                epsilon = 1e-14
            );
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        for cases in cases().chunks_exact(8) {
            let (left, values, right) = singular_value_decomposition::<WideF32x8>(&lanes(cases));
            for (lane, matrix) in cases.iter().enumerate() {
                let expected = singular_value_decomposition(&matrix.cast::<f32>());
                assert_eq!(left.extract(lane), expected.0);
                assert_eq!(values.extract(lane), expected.1);
                assert_eq!(right.extract(lane), expected.2);
            }
        }
    }
}
