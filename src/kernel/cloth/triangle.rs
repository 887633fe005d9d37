//! Triangles in space with rest shapes in the plane: shape, deformation, and what a stress does to the corners.
//!
//! The plane of the rest shape has the two directions of a weave for axes: the warp first, the weft second. Corners
//! are numbered 0 to 2; corner 0 is the one that the edges start from, so its force is minus the sum of the others'.

use nalgebra::{Matrix2, Matrix3x2, Vector2, Vector3};

use super::strain::PlaneTensor;
use crate::kernel::matrix::perpendicular;
use crate::kernel::scalar::{Scalar, real};

/// Below this magnitude (m²) a determinant counts as zero: its inverse would overflow in single precision.
const SMALLEST_DETERMINANT: f64 = 1e-37;

/// Squares of lengths at most this large (m²) count as zero.
const SMALLEST_SQUARE: f64 = 1e-36;

/// The columns of a 3×2 matrix.
#[inline(always)]
pub(super) fn columns<T: Scalar>(matrix: &Matrix3x2<T>) -> [Vector3<T>; 2] {
    let column = |column: usize| {
        Vector3::new(
            matrix[(0, column)],
            matrix[(1, column)],
            matrix[(2, column)],
        )
    };
    [column(0), column(1)]
}

/// A 3×2 matrix from its columns.
#[inline(always)]
pub(super) fn from_columns<T: Scalar>(first: Vector3<T>, second: Vector3<T>) -> Matrix3x2<T> {
    Matrix3x2::new(
        first.x, second.x, first.y, second.y, first.z, second.z, //
    )
}

/// A rest triangle laid into the plane of warp and weft, m: corner 0 at the origin.
///
/// ```text
/// X_a = (w · (x_a − x₀), (n × w) · (x_a − x₀))        w the warp within the triangle, n its unit normal
/// ```
/// `warp` is a direction in space, of any length; it is projected into the triangle. Where it stands on the triangle
/// at right angles (or is zero) some direction within the triangle takes its place; a triangle without area gives
/// zeros.
///
/// Eq: elementary.
#[inline]
pub fn material_coordinates<T: Scalar>(
    corners: &[Vector3<T>; 3],
    warp: &Vector3<T>,
) -> [Vector2<T>; 3] {
    let (first, second) = (corners[1] - corners[0], corners[2] - corners[0]);
    let normal = unit_or_zero(&first.cross(&second));
    // At unit length first: what is left of a warp along the normal must be told from zero.
    let warp = unit_or_zero(warp);
    let within = warp - normal * normal.dot(&warp);
    let usable = within.dot(&within).simd_gt(real(1e-6));
    let replacement = perpendicular(&normal);
    let within = within.zip_map(&replacement, |component, other| {
        component.select(usable, other)
    });
    let flat = normal.dot(&normal).simd_gt(real(0.5));
    let warp = unit_or_zero(&within);
    let weft = normal.cross(&warp);
    let coordinates = |edge: &Vector3<T>| {
        Vector2::new(
            warp.dot(edge).select(flat, T::zero()),
            weft.dot(edge).select(flat, T::zero()),
        )
    };
    [
        Vector2::new(T::zero(), T::zero()),
        coordinates(&first),
        coordinates(&second),
    ]
}

#[inline(always)]
fn unit_or_zero<T: Scalar>(vector: &Vector3<T>) -> Vector3<T> {
    let square = vector.dot(vector);
    let usable = square.simd_gt(real(SMALLEST_SQUARE));
    vector * (T::one() / square.simd_sqrt()).select(usable, T::zero())
}

/// Edges of a triangle from corner 0, in columns, m.
///
/// ```text
/// [x₁ − x₀, x₂ − x₀]
/// ```
/// Of velocities it is the rate of the edges, in m/s.
///
/// Eq: elementary.
#[inline(always)]
pub fn edge_pair<T: Scalar>(corners: &[Vector3<T>; 3]) -> Matrix3x2<T> {
    from_columns(corners[1] - corners[0], corners[2] - corners[0])
}

/// Inverse of the rest edges in the frame of warp and weft, 1/m; zero for a triangle without area, which then never
/// deforms and never pulls.
///
/// ```text
/// D⁻¹,   D = [X₁ − X₀, X₂ − X₀]
/// ```
/// Eq: elementary.
#[inline]
pub fn rest_inverse<T: Scalar>(rest: &[Vector2<T>; 3]) -> Matrix2<T> {
    let (first, second) = (rest[1] - rest[0], rest[2] - rest[0]);
    let determinant = first.x * second.y - first.y * second.x;
    let regular = determinant.simd_abs().simd_gt(real(SMALLEST_DETERMINANT));
    let inverse = (T::one() / determinant).select(regular, T::zero());
    Matrix2::new(
        second.y * inverse,
        -second.x * inverse,
        -first.y * inverse,
        first.x * inverse,
    )
}

/// Area of the rest triangle, m².
///
/// ```text
/// A = ½ |det D|
/// ```
/// Eq: elementary.
#[inline]
pub fn rest_area<T: Scalar>(rest: &[Vector2<T>; 3]) -> T {
    let (first, second) = (rest[1] - rest[0], rest[2] - rest[0]);
    (first.x * second.y - first.y * second.x).simd_abs() * real::<T>(0.5)
}

/// Deformation gradient, 3×2, without unit: where a unit of warp and a unit of weft go.
///
/// ```text
/// F = [x₁ − x₀, x₂ − x₀] D⁻¹
/// ```
/// Of the edges' rates it is the rate of the deformation gradient, in 1/s.
///
/// Eq: elementary; `[Baraff 1998]` (w_u, w_v).
#[inline(always)]
pub fn deformation<T: Scalar>(edges: &Matrix3x2<T>, rest_inverse: &Matrix2<T>) -> Matrix3x2<T> {
    let [first, second] = columns(edges);
    from_columns(
        first * rest_inverse[(0, 0)] + second * rest_inverse[(1, 0)],
        first * rest_inverse[(0, 1)] + second * rest_inverse[(1, 1)],
    )
}

/// Rest gradients of the three shape functions in the frame of warp and weft, 1/m.
///
/// ```text
/// b₁, b₂ = rows of D⁻¹,   b₀ = −(b₁ + b₂)
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn shape_gradients<T: Scalar>(rest_inverse: &Matrix2<T>) -> [Vector2<T>; 3] {
    let first = Vector2::new(rest_inverse[(0, 0)], rest_inverse[(0, 1)]);
    let second = Vector2::new(rest_inverse[(1, 0)], rest_inverse[(1, 1)]);
    [-(first + second), first, second]
}

/// Forces on the three corners from the second Piola–Kirchhoff stress (N/m) in the triangle, N.
///
/// ```text
/// f_a = −A F S b_a   (a = 1, 2),   f₀ = −(f₁ + f₂)
/// ```
/// Their sum is zero, and so is their torque.
///
/// Eq: elementary.
#[inline(always)]
pub fn nodal_forces<T: Scalar>(
    deformation: &Matrix3x2<T>,
    stress: &PlaneTensor<T>,
    rest_inverse: &Matrix2<T>,
    rest_area: T,
) -> [Vector3<T>; 3] {
    let [warp, weft] = columns(deformation);
    let stress = *stress * -rest_area;
    let (along_warp, along_weft) = (
        warp * stress.warp + weft * stress.shear,
        warp * stress.shear + weft * stress.weft,
    );
    let at =
        |node: usize| along_warp * rest_inverse[(node, 0)] + along_weft * rest_inverse[(node, 1)];
    let (first, second) = (at(0), at(1));
    [-(first + second), first, second]
}

/// Singular values of a 3×2 deformation gradient, without unit: the largest stretch of the cloth, then the smallest.
///
/// ```text
/// σ₁² = ½ (a + b) + √(¼ (a − b)² + c²),   σ₂ = |f_u × f_v| / σ₁        a = |f_u|², b = |f_v|², c = f_u · f_v
/// ```
/// The second form keeps the digits of a small σ₂. Both are zero for the zero matrix.
///
/// Eq: elementary.
#[inline]
pub fn principal_stretches<T: Scalar>(deformation: &Matrix3x2<T>) -> [T; 2] {
    let [warp, weft] = columns(deformation);
    let half: T = real(0.5);
    let (a, b, c) = (warp.dot(&warp), weft.dot(&weft), warp.dot(&weft));
    let difference = (a - b) * half;
    let radius = (difference * difference + c * c).simd_sqrt();
    let largest = ((a + b) * half + radius).simd_sqrt();
    let normal = warp.cross(&weft);
    let area = normal.dot(&normal).simd_sqrt();
    let smallest = (area / largest).select(largest.simd_gt(T::zero()), T::zero());
    // Rounding must not exchange two equal stretches.
    [largest, smallest.simd_min(largest)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    fn rest(random: &mut Random) -> [Vector2<f64>; 3] {
        [(); 3].map(|()| random.vector(1.0).xy())
    }

    #[test]
    fn affine_motion_is_recovered_and_gradients_add_up_to_zero() {
        let mut random = Random::new(50);
        for _ in 0..50 {
            let rest = rest(&mut random);
            if rest_area(&rest) < 0.05 {
                continue;
            }
            let map: Matrix3x2<f64> = random.matrix(1.0).fixed_columns::<2>(0).into();
            let shift = random.vector(1.0);
            let corners = rest.map(|point| map * point + shift);
            let inverse = rest_inverse(&rest);
            let found = deformation(&edge_pair(&corners), &inverse);
            assert_relative_eq!(found, map, epsilon = 1e-12);
            let gradients = shape_gradients(&inverse);
            let sum = gradients[0] + gradients[1] + gradients[2];
            assert_relative_eq!(sum, Vector2::zeros(), epsilon = 1e-12);
            for (a, point) in rest.iter().enumerate() {
                let share = gradients[1].dot(&(point - rest[0]));
                assert_relative_eq!(share, if a == 1 { 1.0 } else { 0.0 }, epsilon = 1e-12);
            }
        }
    }

    #[test]
    fn triangle_without_area_is_neutral() {
        let line = [
            Vector2::new(0.0, 0.0),
            Vector2::new(1.0, 2.0),
            Vector2::new(2.0, 4.0),
        ];
        assert_eq!(rest_inverse(&line), Matrix2::zeros());
        assert_eq!(rest_area(&line), 0.0);
        assert_eq!(principal_stretches(&Matrix3x2::<f32>::zeros()), [0.0; 2]);
        let corners = line.map(|point| Vector3::new(point.x, point.y, 0.0));
        let flat = material_coordinates(&corners, &Vector3::x());
        assert_eq!(flat, [Vector2::zeros(); 3]);
    }

    #[test]
    fn coordinates_keep_lengths_and_follow_the_warp() {
        let mut random = Random::new(51);
        for _ in 0..50 {
            let corners = [(); 3].map(|()| random.vector(1.0));
            let edges = edge_pair(&corners);
            let [first, second] = columns(&edges);
            if first.cross(&second).norm() < 0.1 {
                continue;
            }
            let normal = first.cross(&second).normalize();
            for warp in [random.vector(3.0), normal, Vector3::zeros()] {
                let rest = material_coordinates(&corners, &warp);
                let [a, b] = [rest[1], rest[2]];
                assert_relative_eq!(a.norm(), first.norm(), epsilon = 1e-14);
                assert_relative_eq!(b.norm(), second.norm(), epsilon = 1e-14);
                assert_relative_eq!(a.dot(&b), first.dot(&second), epsilon = 1e-14);
                let turned = a.x * b.y - a.y * b.x;
                assert_relative_eq!(turned, first.cross(&second).norm(), epsilon = 1e-14);
            }
            let warp = (first * 2.0 + second).normalize() * 5.0 + normal;
            let rest = material_coordinates(&corners, &warp);
            assert_relative_eq!(2.0 * rest[1].y + rest[2].y, 0.0, epsilon = 1e-13);
            assert!(2.0 * rest[1].x + rest[2].x > 0.0);
        }
    }

    #[test]
    fn principal_stretches_are_the_singular_values() {
        let mut random = Random::new(52);
        for (first, second) in [(1.0, 1.0), (2.0, 0.5), (1.0, 1e-9), (1.1, 0.0), (1e3, 1.0)] {
            for _ in 0..20 {
                let turned = random.rotation();
                let angle = random.uniform() * 3.0;
                let (sine, cosine) = angle.sin_cos();
                let (u, v): (Vector3<f64>, Vector3<f64>) =
                    (turned.column(0) * first, turned.column(1) * second);
                let deformation = from_columns(u * cosine - v * sine, u * sine + v * cosine);
                let found = principal_stretches(&deformation);
                assert_relative_eq!(found[0], first, max_relative = 1e-13);
                assert_relative_eq!(
                    found[1],
                    second,
                    epsilon = 1e-15 * first,
                    max_relative = 1e-13
                );
                assert!(found[1] <= found[0]);
            }
        }
    }
}
