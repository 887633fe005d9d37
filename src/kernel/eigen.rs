//! Eigenvalues of symmetric 3×3 matrices by Jacobi's method.
//!
//! Cyclic Jacobi with a fixed number of sweeps needs only + − × ÷ and square roots, has no special cases for
//! repeated eigenvalues, and takes the same path for every input, so that lanes can run it.
//! Rejected: the closed form by the roots of the characteristic polynomial (half the digits are lost for nearly
//! repeated eigenvalues, and it needs arc cosines), and iteration to convergence (lanes would wait for the slowest).

use nalgebra::{Matrix3, Vector3};

use super::scalar::{Scalar, real};

/// Magnitudes at most this large count as zero after scaling: their squares would lose digits.
#[inline(always)]
pub(crate) fn negligible<T: Scalar>() -> f64 {
    if is_single_precision::<T>() {
        1e-18
    } else {
        1e-150
    }
}

/// Below this size a matrix is not scaled to unit size, since the inverse of its size would overflow.
const SMALLEST_SCALE: f64 = 1e-37;

/// Pairs of axes in the order of a sweep, with the axis left out.
pub(crate) const PAIRS: [(usize, usize, usize); 3] = [(0, 1, 2), (0, 2, 1), (1, 2, 0)];

/// Number of Jacobi sweeps after which three axes are orthogonal to the precision of `T`.
///
/// Convergence is quadratic from about the third sweep on; the counts were found by trial on matrices with
/// clustered, zero and widely spread values.
#[inline(always)]
pub(crate) fn sweeps<T: Scalar>() -> usize {
    if is_single_precision::<T>() { 4 } else { 5 }
}

#[inline(always)]
fn is_single_precision<T: Scalar>() -> bool {
    size_of::<T::Element>() <= size_of::<f32>()
}

/// The largest magnitude of the entries, or one where that is too small to divide by.
#[inline(always)]
pub(crate) fn scale<T: Scalar>(matrix: &Matrix3<T>) -> T {
    let largest = matrix.iter().fold(T::zero(), |largest, entry| {
        largest.simd_max(entry.simd_abs())
    });
    largest.select(largest.simd_gt(real(SMALLEST_SCALE)), T::one())
}

/// Cosine and sine of the angle (at most 45°) that makes a symmetric 2×2 matrix diagonal.
///
/// ```text
/// (c, s) = (|d| + r, 2 b sign d) / length,   r = √(d² + 4 b²),   d = a₂₂ − a₁₁,  b = a₁₂
/// ```
/// No rotation where both `d` and `b` vanish.
#[inline(always)]
pub(crate) fn jacobi_rotation<T: Scalar>(difference: T, off_diagonal: T) -> (T, T) {
    let twice = off_diagonal + off_diagonal;
    let square = twice * twice;
    let adjacent = difference.simd_abs() + (difference * difference + square).simd_sqrt();
    let length = (adjacent * adjacent + square).simd_sqrt();
    let turns = length.simd_gt(real(negligible::<T>()));
    let inverse = (T::one() / length).select(turns, T::zero());
    let cosine = (adjacent * inverse).select(turns, T::one());
    (cosine, (twice * inverse).simd_copysign(difference * twice))
}

/// Turns two of three axes into each other.
#[inline(always)]
pub(crate) fn turn<T: Scalar>(
    axes: &mut [Vector3<T>; 3],
    first: usize,
    second: usize,
    cosine: T,
    sine: T,
) {
    let (a, b) = (axes[first], axes[second]);
    axes[first] = a * cosine - b * sine;
    axes[second] = a * sine + b * cosine;
}

/// Exchanges two axes lane by lane, turning one around so that the handedness stays.
#[inline(always)]
pub(crate) fn exchange<T: Scalar>(
    axes: &mut [Vector3<T>; 3],
    first: usize,
    second: usize,
    condition: T::SimdBool,
) {
    let (a, b) = (axes[first], axes[second]);
    axes[first] = b.zip_map(&a, |b, a| b.select(condition, a));
    axes[second] = a.zip_map(&b, |a, b| (-a).select(condition, b));
}

/// Eigenvalues, largest first, and eigenvectors (columns) of a symmetric matrix.
///
/// ```text
/// A = Q diag(λ) Qᵀ,   λ₁ ≥ λ₂ ≥ λ₃,   det Q = +1
/// ```
/// Only the upper triangle is read. Accurate to a few rounding errors of the largest entry. Repeated eigenvalues
/// give one of the possible bases; the zero matrix gives the identity. Eigenvalues have the unit of the entries.
///
/// Eq: cyclic Jacobi method, `[Golub Van Loan 2013 §8.5]`.
#[inline]
pub fn symmetric_eigen<T: Scalar>(matrix: &Matrix3<T>) -> (Vector3<T>, Matrix3<T>) {
    let scale = scale(matrix);
    let scaled = matrix * (T::one() / scale);
    let mut diagonal = [scaled[(0, 0)], scaled[(1, 1)], scaled[(2, 2)]];
    // Indexed by the axis left out, like PAIRS.
    let mut off_diagonal = [scaled[(1, 2)], scaled[(0, 2)], scaled[(0, 1)]];
    let mut axes = [0, 1, 2].map(|axis| Vector3::ith(axis, T::one()));

    for _ in 0..sweeps::<T>() {
        for (first, second, other) in PAIRS {
            let coupling = off_diagonal[other];
            let (cosine, sine) = jacobi_rotation(diagonal[second] - diagonal[first], coupling);
            let tangent = sine / cosine;
            diagonal[first] -= tangent * coupling;
            diagonal[second] += tangent * coupling;
            off_diagonal[other] = T::zero();
            let (to_first, to_second) = (off_diagonal[second], off_diagonal[first]);
            off_diagonal[second] = cosine * to_first - sine * to_second;
            off_diagonal[first] = sine * to_first + cosine * to_second;
            turn(&mut axes, first, second, cosine, sine);
        }
    }

    for (first, second, _) in [PAIRS[0], PAIRS[1], PAIRS[2]] {
        let (a, b) = (diagonal[first], diagonal[second]);
        let ascending = a.simd_lt(b);
        diagonal[first] = b.select(ascending, a);
        diagonal[second] = a.select(ascending, b);
        exchange(&mut axes, first, second, ascending);
    }
    (
        Vector3::from(diagonal) * scale,
        Matrix3::from_columns(&axes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::{Random, lanes, spread_cases};
    use approx::assert_relative_eq;
    use simba::simd::{SimdValue, WideF32x8};

    fn symmetric_cases() -> Vec<Matrix3<f64>> {
        let mut random = Random::new(5);
        let mut cases = vec![
            Matrix3::zeros(),
            Matrix3::identity(),
            Matrix3::from_element(1.0),
            Matrix3::from_diagonal(&Vector3::new(-1.0, 2.0, 2.0)),
            Matrix3::identity() * 1e-30,
            Matrix3::identity() * 1e30,
        ];
        for values in spread_cases() {
            for sign in [1.0, -1.0] {
                let rotation = random.rotation();
                let diagonal = Vector3::new(values[0], sign * values[1], values[2]);
                let matrix = rotation * Matrix3::from_diagonal(&diagonal) * rotation.transpose();
                cases.push((matrix + matrix.transpose()) * 0.5);
            }
        }
        cases
    }

    #[test]
    fn eigenvectors_recompose_the_matrix_and_match_nalgebra() {
        for matrix in symmetric_cases() {
            let size = matrix.amax().max(f64::MIN_POSITIVE);
            let (values, vectors) = symmetric_eigen(&matrix);
            assert!(values[0] >= values[1] && values[1] >= values[2]);
            assert_relative_eq!(vectors.determinant(), 1.0, epsilon = 1e-14);
            assert!((vectors.transpose() * vectors - Matrix3::identity()).amax() < 8e-16 * 2.0);
            let again = vectors * Matrix3::from_diagonal(&values) * vectors.transpose();
            assert!((again - matrix).amax() <= 2e-15 * size, "{matrix} {values}");
            let mut expected: Vec<f64> = matrix.symmetric_eigenvalues().iter().copied().collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            for (value, expected) in values.iter().zip(expected) {
                assert!((value - expected).abs() <= 3e-15 * size);
            }
        }
    }

    #[test]
    fn single_precision_reaches_its_rounding() {
        for matrix in symmetric_cases() {
            let matrix = matrix.cast::<f32>();
            let (values, vectors) = symmetric_eigen(&matrix);
            let again = vectors * Matrix3::from_diagonal(&values) * vectors.transpose();
            let size = matrix.amax().max(f32::MIN_POSITIVE);
            assert!(
                (again - matrix).amax() <= 1.5e-6 * size,
                "{matrix} {values}"
            );
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        for cases in symmetric_cases().chunks_exact(8) {
            let packed = lanes(cases);
            let (values, vectors) = symmetric_eigen::<WideF32x8>(&packed);
            for (lane, matrix) in cases.iter().enumerate() {
                let (expected, expected_vectors) = symmetric_eigen(&matrix.cast::<f32>());
                assert_eq!(values.extract(lane), expected);
                assert_eq!(vectors.extract(lane), expected_vectors);
            }
        }
    }
}
