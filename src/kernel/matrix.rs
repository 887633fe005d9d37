//! Algebra of 3×3 matrices that nalgebra does not offer for lanes.
//!
//! Everything here is a polynomial of the entries (but for the one division of [`inverse_or_zero`]), so it
//! neither branches nor fails.

use nalgebra::{Matrix3, Vector3};

use super::scalar::{Scalar, real};

/// Below this magnitude a determinant counts as zero: its inverse would overflow in single precision.
const SMALLEST_DETERMINANT: f64 = 1e-37;

/// The columns of a matrix.
///
/// Eq: elementary.
#[inline(always)]
pub(crate) fn columns<T: Scalar>(matrix: &Matrix3<T>) -> [Vector3<T>; 3] {
    let column = |column: usize| {
        Vector3::new(
            matrix[(0, column)],
            matrix[(1, column)],
            matrix[(2, column)],
        )
    };
    [column(0), column(1), column(2)]
}

/// Product of two matrices.
///
/// ```text
/// (A B)ᵢⱼ = Σₖ Aᵢₖ Bₖⱼ
/// ```
/// Written out, since nalgebra's operator is a loop that does not come apart for lanes: it takes twice the time.
///
/// Eq: elementary.
#[inline(always)]
pub fn product<T: Scalar>(left: &Matrix3<T>, right: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_fn(|row, column| {
        left[(row, 0)] * right[(0, column)]
            + left[(row, 1)] * right[(1, column)]
            + left[(row, 2)] * right[(2, column)]
    })
}

/// Product of a matrix and a vector; written out for the same reason.
///
/// ```text
/// (A v)ᵢ = Σₖ Aᵢₖ vₖ
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn times_vector<T: Scalar>(matrix: &Matrix3<T>, vector: &Vector3<T>) -> Vector3<T> {
    let component = |row: usize| {
        matrix[(row, 0)] * vector.x + matrix[(row, 1)] * vector.y + matrix[(row, 2)] * vector.z
    };
    Vector3::new(component(0), component(1), component(2))
}

/// Product of a matrix with the transpose of another.
///
/// ```text
/// (A Bᵀ)ᵢⱼ = Σₖ Aᵢₖ Bⱼₖ
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn product_with_transpose<T: Scalar>(left: &Matrix3<T>, right: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_fn(|row, column| {
        left[(row, 0)] * right[(column, 0)]
            + left[(row, 1)] * right[(column, 1)]
            + left[(row, 2)] * right[(column, 2)]
    })
}

/// Product of the transpose of a matrix with another.
///
/// ```text
/// (Aᵀ B)ᵢⱼ = aᵢ · bⱼ        aᵢ, bⱼ the columns
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn transposed_product<T: Scalar>(left: &Matrix3<T>, right: &Matrix3<T>) -> Matrix3<T> {
    let (left, right) = (columns(left), columns(right));
    Matrix3::from_fn(|row, column| left[row].dot(&right[column]))
}

/// Determinant, in the unit of the entries cubed.
///
/// ```text
/// det M = m₁ · (m₂ × m₃)        mᵢ the columns
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn determinant<T: Scalar>(matrix: &Matrix3<T>) -> T {
    let [first, second, third] = columns(matrix);
    first.dot(&second.cross(&third))
}

/// Cofactor matrix, in the unit of the entries squared: the derivative of the determinant.
///
/// ```text
/// cof M = ∂ det M / ∂M = [m₂ × m₃, m₃ × m₁, m₁ × m₂]   ( = det M · M⁻ᵀ )
/// ```
/// Defined for every matrix, singular ones included.
///
/// Eq: elementary.
#[inline(always)]
pub fn cofactor<T: Scalar>(matrix: &Matrix3<T>) -> Matrix3<T> {
    let [first, second, third] = columns(matrix);
    Matrix3::from_columns(&[
        second.cross(&third),
        third.cross(&first),
        first.cross(&second),
    ])
}

/// Change of the cofactor matrix when the matrix changes by `change`, exact to first order.
///
/// ```text
/// d cof M = [dm₂ × m₃ + m₂ × dm₃, dm₃ × m₁ + m₃ × dm₁, dm₁ × m₂ + m₁ × dm₂]
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn cofactor_differential<T: Scalar>(matrix: &Matrix3<T>, change: &Matrix3<T>) -> Matrix3<T> {
    let [first, second, third] = columns(matrix);
    let [d_first, d_second, d_third] = columns(change);
    Matrix3::from_columns(&[
        d_second.cross(&third) + second.cross(&d_third),
        d_third.cross(&first) + third.cross(&d_first),
        d_first.cross(&second) + first.cross(&d_second),
    ])
}

/// Double contraction (Frobenius product) of two matrices.
///
/// ```text
/// A : B = Σᵢⱼ Aᵢⱼ Bᵢⱼ = tr(Aᵀ B)
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn double_contraction<T: Scalar>(left: &Matrix3<T>, right: &Matrix3<T>) -> T {
    let [a, b, c] = columns(left);
    let [d, e, f] = columns(right);
    a.dot(&d) + b.dot(&e) + c.dot(&f)
}

/// Deviator: the part of a matrix without its mean diagonal.
///
/// ```text
/// dev M = M − ⅓ tr M · I
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn deviator<T: Scalar>(matrix: &Matrix3<T>) -> Matrix3<T> {
    add_to_diagonal(matrix, -(trace(matrix) * real(1.0 / 3.0)))
}

/// Sum of the diagonal.
///
/// ```text
/// tr M = M₁₁ + M₂₂ + M₃₃
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn trace<T: Scalar>(matrix: &Matrix3<T>) -> T {
    matrix[(0, 0)] + matrix[(1, 1)] + matrix[(2, 2)]
}

/// `M + a I`.
///
/// Eq: elementary.
#[inline(always)]
pub fn add_to_diagonal<T: Scalar>(matrix: &Matrix3<T>, value: T) -> Matrix3<T> {
    let mut sum = *matrix;
    sum[(0, 0)] += value;
    sum[(1, 1)] += value;
    sum[(2, 2)] += value;
    sum
}

/// Adds the matrix of a cross product.
///
/// ```text
/// M += [a]×,   [a]× v = a × v for every v
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn add_cross_matrix<T: Scalar>(matrix: &mut Matrix3<T>, axial: &Vector3<T>) {
    matrix[(0, 1)] -= axial.z;
    matrix[(0, 2)] += axial.y;
    matrix[(1, 0)] += axial.z;
    matrix[(1, 2)] -= axial.x;
    matrix[(2, 0)] -= axial.y;
    matrix[(2, 1)] += axial.x;
}

/// Axial vector of the antisymmetric part of a matrix: half the vorticity, where `M` is a velocity gradient.
///
/// ```text
/// ½ (M − Mᵀ) v = a × v for every v
/// ```
/// Zero for a symmetric matrix.
///
/// Eq: elementary.
#[inline(always)]
pub fn axial_vector<T: Scalar>(matrix: &Matrix3<T>) -> Vector3<T> {
    Vector3::new(
        matrix[(2, 1)] - matrix[(1, 2)],
        matrix[(0, 2)] - matrix[(2, 0)],
        matrix[(1, 0)] - matrix[(0, 1)],
    ) * real::<T>(0.5)
}

/// Inverse; the zero matrix where the determinant vanishes (magnitude at most 1e-37 in the unit of the entries cubed).
///
/// ```text
/// M⁻¹ = (cof M)ᵀ / det M
/// ```
/// Eq: elementary.
#[inline]
pub fn inverse_or_zero<T: Scalar>(matrix: &Matrix3<T>) -> Matrix3<T> {
    let determinant = determinant(matrix);
    let regular = determinant.simd_abs().simd_gt(real(SMALLEST_DETERMINANT));
    let inverse_determinant = (T::one() / determinant).select(regular, T::zero());
    cofactor(matrix).transpose() * inverse_determinant
}

/// A unit vector at right angles to a unit vector.
///
/// ```text
/// n × e / |n × e|        e = e₁ where |n₁| < 0.6, else e₂
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn perpendicular<T: Scalar>(unit: &Vector3<T>) -> Vector3<T> {
    let (x, y, z) = (unit.x, unit.y, unit.z);
    // Crossing with an axis that the vector is far from parallel to keeps the result well away from zero.
    let away_from_first = x.simd_abs().simd_lt(real(0.6));
    let vector = Vector3::new(
        T::zero().select(away_from_first, -z),
        z.select(away_from_first, T::zero()),
        (-y).select(away_from_first, x),
    );
    let length_squared = vector.dot(&vector);
    let usable = length_squared.simd_gt(T::zero());
    let inverse_length = (T::one() / length_squared.simd_sqrt()).select(usable, T::zero());
    vector * inverse_length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn determinant_and_inverse_match_nalgebra() {
        let mut random = Random::new(1);
        for _ in 0..100 {
            let matrix = random.matrix(2.0);
            assert_relative_eq!(determinant(&matrix), matrix.determinant(), epsilon = 1e-13);
            if matrix.determinant().abs() > 0.1 {
                let identity = inverse_or_zero(&matrix) * matrix;
                assert_relative_eq!(identity, Matrix3::identity(), epsilon = 1e-12);
            }
        }
    }

    #[test]
    fn singular_matrix_has_zero_inverse() {
        let flat = Matrix3::new(1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 0.0, 1.0);
        assert_eq!(inverse_or_zero(&flat), Matrix3::zeros());
        assert_eq!(inverse_or_zero(&Matrix3::<f32>::zeros()), Matrix3::zeros());
    }

    #[test]
    fn cofactor_is_gradient_of_determinant_and_its_differential_is_exact() {
        let mut random = Random::new(2);
        let step = 1e-5;
        for _ in 0..50 {
            let matrix = random.matrix(1.0);
            let change = random.matrix(1.0);
            let difference = (determinant(&(matrix + change * step))
                - determinant(&(matrix - change * step)))
                / (2.0 * step);
            assert_relative_eq!(
                double_contraction(&cofactor(&matrix), &change),
                difference,
                epsilon = 1e-9
            );
            let difference = (cofactor(&(matrix + change * step))
                - cofactor(&(matrix - change * step)))
                / (2.0 * step);
            assert_relative_eq!(
                cofactor_differential(&matrix, &change),
                difference,
                epsilon = 1e-9
            );
        }
    }

    #[test]
    fn deviator_has_no_trace_and_axial_vector_spans_the_antisymmetric_part() {
        let mut random = Random::new(3);
        let matrix = random.matrix(1.0);
        assert_relative_eq!(trace(&deviator(&matrix)), 0.0, epsilon = 1e-15);
        let vector = random.vector(1.0);
        let antisymmetric = (matrix - matrix.transpose()) * 0.5;
        assert_relative_eq!(
            antisymmetric * vector,
            axial_vector(&matrix).cross(&vector),
            epsilon = 1e-15
        );
    }

    #[test]
    fn perpendicular_is_a_unit_vector_at_right_angles() {
        let mut random = Random::new(4);
        let axes = [Vector3::x(), -Vector3::x(), Vector3::y(), Vector3::z()];
        let drawn = (0..100).map(|_| random.vector(1.0).normalize());
        for unit in axes.into_iter().chain(drawn) {
            let side = perpendicular(&unit);
            assert_relative_eq!(side.norm(), 1.0, epsilon = 1e-15);
            assert_relative_eq!(side.dot(&unit), 0.0, epsilon = 1e-15);
        }
    }
}
