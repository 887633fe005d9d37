//! Distance of a vertex from a face.

use nalgebra::Vector3;

use super::pair::{Candidate, ClosestPoints};
use crate::kernel::scalar::{Scalar, real};

/// Squares of lengths, m², or of doubled areas, m⁴, at most this large count as zero.
const SMALLEST_SQUARE: f64 = 1e-36;

/// Share t in [0, 1] along an edge of the point closest to another, which lies at `offset` from the start.
///
/// ```text
/// t = clamp(r · e / e², 0, 1)
/// ```
/// Zero for an edge without length.
///
/// Eq: elementary.
#[inline(always)]
pub fn closest_share<T: Scalar>(offset: &Vector3<T>, edge: &Vector3<T>) -> T {
    let square = edge.dot(edge);
    let share = (offset.dot(edge) / square).simd_clamp(T::zero(), T::one());
    share.select(square.simd_gt(real(SMALLEST_SQUARE)), T::zero())
}

/// Closest points of a vertex x₀ and the face x₁, x₂, x₃, all in m.
///
/// ```text
/// e₁ = x₂ − x₁,  e₂ = x₃ − x₁,  r = x₀ − x₁,  n = e₁ × e₂
/// β₂ = (r × e₂)·n / n²,   β₃ = (e₁ × r)·n / n²,   β₁ = 1 − β₂ − β₃
/// ```
/// inside the face; otherwise the closest point of its three edges. Every candidate is a point of the face, so the
/// distance is never taken too small, but for rounding. A face without area is a set of edges, or a point. In single
/// precision the direction is worth little at gaps below 1e-6 of the size of the face; filters take double.
///
/// Eq: `[Ericson 2005]` §5.1.5, by comparing candidates.
#[inline(always)]
pub fn closest_points_of_vertex_and_face<T: Scalar>(
    vertices: &[Vector3<T>; 4],
) -> ClosestPoints<T> {
    let [vertex, x1, x2, x3] = vertices;
    let (zero, one) = (T::zero(), T::one());
    let offset = vertex - x1;
    let (first, second, third) = (x2 - x1, x3 - x1, x3 - x2);

    let share = closest_share(&offset, &first);
    let along_first = Candidate::new([one, share - one, -share, zero], offset - first * share);
    let share = closest_share(&offset, &second);
    let along_second = Candidate::new([one, share - one, zero, -share], offset - second * share);
    let other_offset = vertex - x2;
    let share = closest_share(&other_offset, &third);
    let along_third = Candidate::new(
        [one, zero, share - one, -share],
        other_offset - third * share,
    );

    let normal = first.cross(&second);
    let square = normal.dot(&normal);
    let beta2 = offset.cross(&second).dot(&normal) / square;
    let beta3 = first.cross(&offset).dot(&normal) / square;
    let beta1 = one - beta2 - beta3;
    let inside = square.simd_gt(real(SMALLEST_SQUARE))
        & beta1.simd_gt(zero)
        & beta2.simd_gt(zero)
        & beta3.simd_gt(zero);
    let within = Candidate::new(
        [one, -beta1, -beta2, -beta3],
        offset - first * beta2 - second * beta3,
    );

    let always = one.simd_gt(zero);
    along_first
        .or(along_second, always)
        .or(along_third, always)
        .or(within, inside)
        .closest()
}

#[cfg(test)]
mod tests {
    use super::super::PairKind::VertexFace;
    use super::super::checks::{
        check_gradient, check_lanes, check_optimality, check_weights, drawn_vertices,
    };
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn closest_points_are_optimal() {
        let mut random = Random::new(501);
        for _ in 0..20_000 {
            check_optimality(VertexFace, &drawn_vertices(&mut random), 1e-12);
        }
    }

    #[test]
    fn distance_is_the_minimum_over_a_grid_that_closes_in() {
        let mut random = Random::new(502);
        for _ in 0..300 {
            let vertices = drawn_vertices(&mut random);
            let [vertex, x1, x2, x3] = vertices;
            // u and v fill a square; (u, (1 − u) v) fills the face.
            let gap =
                |u: f64, v: f64| (vertex - x1 - (x2 - x1) * u - (x3 - x1) * ((1.0 - u) * v)).norm();
            let (mut center, mut width, mut smallest) = ([0.5, 0.5], 0.5, f64::MAX);
            for _ in 0..60 {
                let around = center;
                for step in 0..441 {
                    let at = |axis: usize, step: i32| {
                        (around[axis] + width * f64::from(step - 10) / 10.0).clamp(0.0, 1.0)
                    };
                    let point = [at(0, step % 21), at(1, step / 21)];
                    let value = gap(point[0], point[1]);
                    if value < smallest {
                        (smallest, center) = (value, point);
                    }
                }
                width *= 0.6;
            }
            let distance = closest_points_of_vertex_and_face(&vertices).distance();
            assert!(distance <= smallest + 1e-14, "{distance} {smallest}");
            assert_relative_eq!(distance, smallest, epsilon = 1e-7);
        }
    }

    #[test]
    fn regions_are_told_by_their_weights() {
        let face = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        let closest = |x: f64, y: f64, z: f64| {
            closest_points_of_vertex_and_face(&[Vector3::new(x, y, z), face[0], face[1], face[2]])
        };
        let inside = closest(0.25, 0.25, -2.0);
        assert_eq!(inside.weights, [1.0, -0.5, -0.25, -0.25]);
        assert_eq!(inside.direction(), -Vector3::z());
        assert_eq!(closest(0.25, -1.0, 0.0).weights, [1.0, -0.75, -0.25, 0.0]);
        assert_eq!(closest(-1.0, 0.25, 0.0).weights, [1.0, -0.75, 0.0, -0.25]);
        assert_eq!(closest(1.0, 1.0, 1.0).weights, [1.0, 0.0, -0.5, -0.5]);
        assert_eq!(closest(-1.0, -1.0, 5.0).weights, [1.0, -1.0, 0.0, 0.0]);
        assert_eq!(closest(9.0, -1.0, 5.0).weights, [1.0, 0.0, -1.0, 0.0]);
        assert_eq!(closest(-1.0, 9.0, 5.0).weights, [1.0, 0.0, 0.0, -1.0]);
        let touching = closest(0.25, 0.25, 0.0);
        assert_eq!(touching.distance(), 0.0);
        assert_eq!(touching.direction(), Vector3::zeros());
    }

    #[test]
    fn degenerate_faces_are_edges_or_points() {
        let (start, end) = (Vector3::new(0.1, 0.2, 0.3), Vector3::new(1.1, -0.4, 0.7));
        let middle = start + (end - start) * 0.3;
        let mut random = Random::new(503);
        for _ in 0..1000 {
            let vertex = random.vector(2.0);
            let share = closest_share(&(vertex - start), &(end - start));
            let expected = (vertex - start - (end - start) * share).norm();
            for corners in [
                [start, end, middle],
                [middle, start, end],
                [end, middle, start],
                [start, end, end],
                [start, start, end],
            ] {
                let vertices = [vertex, corners[0], corners[1], corners[2]];
                let closest = closest_points_of_vertex_and_face(&vertices);
                assert_relative_eq!(closest.distance(), expected, max_relative = 1e-13);
                check_weights(VertexFace, &closest);
            }
            let closest = closest_points_of_vertex_and_face(&[vertex, start, start, start]);
            assert_relative_eq!(closest.distance(), (vertex - start).norm());
            check_weights(VertexFace, &closest);
        }
    }

    #[test]
    fn slivers_keep_the_distance() {
        let mut random = Random::new(504);
        for exponent in 1..14 {
            let height = 10f64.powi(-exponent);
            for _ in 0..200 {
                let turn = random.rotation();
                let vertices = [
                    random.vector(1.0),
                    Vector3::zeros(),
                    Vector3::x(),
                    Vector3::new(random.uniform(), height, 0.0),
                ]
                .map(|point| turn * point);
                check_optimality(VertexFace, &vertices, 1e-11);
            }
        }
    }

    #[test]
    fn gradient_is_the_difference_quotient() {
        let mut random = Random::new(505);
        for _ in 0..500 {
            check_gradient(VertexFace, &drawn_vertices(&mut random));
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        check_lanes(VertexFace);
    }
}
