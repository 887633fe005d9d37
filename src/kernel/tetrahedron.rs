//! Linear tetrahedra: shape, deformation, and what a stress in the element does to its vertices.
//!
//! Vertices are numbered 0 to 3; vertex 0 is the one that the edges start from, so it is also the one whose force is
//! minus the sum of the others'. The numbering is positive (signed volume above zero) where vertices 1, 2, 3 turn
//! counterclockwise as seen from vertex 0's far side, that is `(x₁ − x₀) · (x₂ − x₀) × (x₃ − x₀) > 0`.

use nalgebra::{Matrix3, Vector3};

use super::matrix::{
    cofactor, columns, determinant, inverse_or_zero, product, product_with_transpose,
};
use super::scalar::{Scalar, real};

/// Lengths at most this large (in the unit of the positions) count as zero.
const SMALLEST_LENGTH: f64 = 1e-18;

/// Edge matrix of a tetrahedron: the edges from vertex 0, in columns, m.
///
/// ```text
/// A = [x₁ − x₀, x₂ − x₀, x₃ − x₀]
/// ```
/// Eq: `[000 §5.1.1]`.
#[inline(always)]
pub fn edge_matrix<T: Scalar>(corners: &[Vector3<T>; 4]) -> Matrix3<T> {
    Matrix3::from_columns(&[
        corners[1] - corners[0],
        corners[2] - corners[0],
        corners[3] - corners[0],
    ])
}

/// Signed volume, m³: negative for an inverted tetrahedron, zero for a flat one.
///
/// ```text
/// V = det A / 6
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn signed_volume<T: Scalar>(edges: &Matrix3<T>) -> T {
    determinant(edges) * real::<T>(1.0 / 6.0)
}

/// Volume, m³.
///
/// ```text
/// V = |det A| / 6
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn volume<T: Scalar>(edges: &Matrix3<T>) -> T {
    signed_volume(edges).simd_abs()
}

/// Inverse of the rest edge matrix, 1/m; zero for a flat tetrahedron, which then never deforms and never pushes.
///
/// ```text
/// A⁻¹
/// ```
/// Eq: `[000 §5.1.1]`.
#[inline]
pub fn rest_inverse<T: Scalar>(rest_edges: &Matrix3<T>) -> Matrix3<T> {
    inverse_or_zero(rest_edges)
}

/// Deformation gradient, without unit: the linear map from the rest shape to the current one.
///
/// ```text
/// C = B A⁻¹        B the current edge matrix
/// ```
/// With velocities for positions it is the rate of the deformation gradient, in 1/s.
///
/// Eq: `[000 §5.1.3]`.
#[inline(always)]
pub fn deformation_gradient<T: Scalar>(
    edges: &Matrix3<T>,
    rest_inverse: &Matrix3<T>,
) -> Matrix3<T> {
    product(edges, rest_inverse)
}

/// Rest gradients of the four shape functions, 1/m.
///
/// ```text
/// b₁, b₂, b₃ = rows of A⁻¹,   b₀ = −(b₁ + b₂ + b₃)
/// ```
/// Eq: elementary.
#[inline(always)]
pub fn shape_gradients<T: Scalar>(rest_inverse: &Matrix3<T>) -> [Vector3<T>; 4] {
    let [first, second, third] = columns(&rest_inverse.transpose());
    [-(first + second + third), first, second, third]
}

/// Forces on the four vertices from the first Piola–Kirchhoff stress (Pa) in the element, N.
///
/// ```text
/// f_a = −V⁰ P b_a   (a = 1, 2, 3),   f₀ = −(f₁ + f₂ + f₃)
/// ```
/// Their sum is zero, and for a stress that comes from an objective energy so is their torque.
///
/// Eq: `[000 §6.2.2]`.
#[inline(always)]
pub fn nodal_forces<T: Scalar>(
    piola: &Matrix3<T>,
    rest_inverse: &Matrix3<T>,
    rest_volume: T,
) -> [Vector3<T>; 4] {
    let forces = product_with_transpose(&(piola * (-rest_volume)), rest_inverse);
    let [first, second, third] = columns(&forces);
    [-(first + second + third), first, second, third]
}

/// Smallest altitude, m: the distance of a vertex from the opposite face; zero for a flat or collapsed tetrahedron.
///
/// ```text
/// min_a 3 V / (area opposite a) = |det A| / max |x_i × x_j|
/// ```
/// Eq: elementary.
#[inline]
pub fn smallest_altitude<T: Scalar>(edges: &Matrix3<T>) -> T {
    // Columns of the cofactor matrix are twice the areas of the faces at vertex 0; their sum belongs to the face
    // opposite to it.
    let [first, second, third] = columns(&cofactor(edges));
    let opposite = first + second + third;
    let largest = first
        .dot(&first)
        .simd_max(second.dot(&second))
        .simd_max(third.dot(&third))
        .simd_max(opposite.dot(&opposite))
        .simd_sqrt();
    let usable = largest.simd_gt(real(SMALLEST_LENGTH * SMALLEST_LENGTH));
    (determinant(edges).simd_abs() / largest).select(usable, T::zero())
}

/// Longest of the six edges, m.
///
/// Eq: elementary.
#[inline]
pub fn longest_edge<T: Scalar>(edges: &Matrix3<T>) -> T {
    let [first, second, third] = columns(edges);
    [second, third, second - first, third - first, third - second]
        .iter()
        .fold(first.dot(&first), |longest, edge| {
            longest.simd_max(edge.dot(edge))
        })
        .simd_sqrt()
}

/// Quality between 0 (flat) and 1 (regular), without unit.
///
/// ```text
/// q = √(3/2) · (smallest altitude) / (longest edge)
/// ```
/// Eq: elementary; the factor makes the regular tetrahedron 1.
#[inline]
pub fn quality<T: Scalar>(edges: &Matrix3<T>) -> T {
    let longest = longest_edge(edges);
    let usable = longest.simd_gt(real(SMALLEST_LENGTH));
    let normalization: T = real(1.224_744_871_391_589);
    (normalization * smallest_altitude(edges) / longest).select(usable, T::zero())
}

/// Barycentric coordinates of a point, without unit; all four are in [0, 1] for a point inside.
///
/// ```text
/// (a₁, a₂, a₃) = A⁻¹ (p − x₀),   a₀ = 1 − a₁ − a₂ − a₃
/// ```
/// For a flat tetrahedron (one that [`rest_inverse`] cannot invert) ¼ each.
///
/// Eq: `[000 §5.1.2]`.
#[inline]
pub fn barycentric_coordinates<T: Scalar>(corners: &[Vector3<T>; 4], point: &Vector3<T>) -> [T; 4] {
    let edges = edge_matrix(corners);
    let inverse = inverse_or_zero(&edges);
    let regular = inverse
        .iter()
        .fold(T::zero(), |largest, entry| {
            largest.simd_max(entry.simd_abs())
        })
        .simd_gt(T::zero());
    let weights = inverse * (point - corners[0]);
    let first = T::one() - weights.x - weights.y - weights.z;
    [first, weights.x, weights.y, weights.z].map(|weight| weight.select(regular, real(0.25)))
}

/// What an external force (N) on a point inside does to the four vertices, N.
///
/// ```text
/// f_a = a_a f        a_a the barycentric coordinates of the point
/// ```
/// Keeps force and torque, since the coordinates sum to one and reproduce the point. Gravity acts on the center: ¼
/// of the weight on each vertex.
///
/// Eq: `[000 §6.2.1]`.
#[inline]
pub fn distribute_force<T: Scalar>(barycentric: &[T; 4], force: &Vector3<T>) -> [Vector3<T>; 4] {
    barycentric.map(|weight| force * weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    fn regular() -> [Vector3<f64>; 4] {
        [
            Vector3::new(1.0, 1.0, 1.0),
            Vector3::new(1.0, -1.0, -1.0),
            Vector3::new(-1.0, -1.0, 1.0),
            Vector3::new(-1.0, 1.0, -1.0),
        ]
    }

    #[test]
    fn regular_tetrahedron_has_known_measures() {
        let edges = edge_matrix(&regular());
        let length = 8.0_f64.sqrt();
        assert_relative_eq!(volume(&edges), length.powi(3) / (6.0 * 2.0_f64.sqrt()));
        assert_relative_eq!(longest_edge(&edges), length);
        assert_relative_eq!(
            smallest_altitude(&edges),
            length * (2.0_f64 / 3.0).sqrt(),
            epsilon = 1e-14
        );
        assert_relative_eq!(quality(&edges), 1.0, epsilon = 1e-14);
        let mut swapped = regular();
        swapped.swap(1, 2);
        assert_relative_eq!(
            signed_volume(&edge_matrix(&swapped)),
            -signed_volume(&edges)
        );
    }

    #[test]
    fn flat_tetrahedron_is_neutral() {
        let mut corners = regular();
        corners[3] = (corners[0] + corners[1]) * 0.5;
        let edges = edge_matrix(&corners);
        let inverse = rest_inverse(&edges);
        assert_eq!(inverse, Matrix3::zeros());
        assert_relative_eq!(quality(&edges), 0.0, epsilon = 1e-15);
        assert_eq!(barycentric_coordinates(&corners, &corners[1]), [0.25; 4]);
        assert_eq!(quality(&Matrix3::<f32>::zeros()), 0.0);
        let forces = nodal_forces(&Matrix3::from_element(3.0), &inverse, 0.0);
        assert_eq!(forces, [Vector3::zeros(); 4]);
    }

    #[test]
    fn affine_motion_is_recovered() {
        let mut random = Random::new(8);
        for _ in 0..50 {
            let corners = [(); 4].map(|()| random.vector(1.0));
            let rest_edges = edge_matrix(&corners);
            if quality(&rest_edges) < 0.1 {
                continue;
            }
            let map = random.matrix(1.0);
            let shift = random.vector(1.0);
            let edges = edge_matrix(&corners.map(|corner| map * corner + shift));
            let inverse = rest_inverse(&rest_edges);
            let deformation = deformation_gradient(&edges, &inverse);
            assert_relative_eq!(deformation, map, epsilon = 1e-12);
            let gradients = shape_gradients(&inverse);
            let sum: Vector3<f64> = gradients.iter().sum();
            assert_relative_eq!(sum, Vector3::zeros(), epsilon = 1e-12);
        }
    }

    #[test]
    fn symmetric_cauchy_stress_gives_neither_force_nor_torque() {
        let mut random = Random::new(9);
        for _ in 0..50 {
            let corners = [(); 4].map(|()| random.vector(1.0));
            let rest_edges = edge_matrix(&corners);
            if quality(&rest_edges) < 0.1 {
                continue;
            }
            let deformation = random.stretched([1.5, 1.1, 0.7]);
            let half = random.matrix(10.0);
            let piola = deformation * (half + half.transpose());
            let forces = nodal_forces(&piola, &rest_inverse(&rest_edges), volume(&rest_edges));
            let total: Vector3<f64> = forces.iter().sum();
            let mut torque = Vector3::zeros();
            for (corner, force) in corners.iter().zip(&forces) {
                torque += (deformation * corner).cross(force);
            }
            assert!(total.amax() < 1e-12 && torque.amax() < 1e-12);
        }
    }

    #[test]
    fn force_on_an_inner_point_keeps_force_and_torque() {
        let mut random = Random::new(10);
        let corners = regular();
        let point = random.vector(0.3);
        let force = random.vector(2.0);
        let weights = barycentric_coordinates(&corners, &point);
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        let forces = distribute_force(&weights, &force);
        let mut torque = Vector3::zeros();
        for (corner, force) in corners.iter().zip(&forces) {
            torque += corner.cross(force);
        }
        assert_relative_eq!(forces.iter().sum::<Vector3<f64>>(), force, epsilon = 1e-15);
        assert_relative_eq!(torque, point.cross(&force), epsilon = 1e-14);
    }
}
