//! Distance of two edges.

use nalgebra::Vector3;

use super::pair::{Candidate, ClosestPoints};
use super::vertex_face::closest_share;
use crate::kernel::scalar::{Scalar, real};

/// Squared sine of the angle at or below which edges count as parallel.
///
/// Their inner points then are as close as rounding can tell where an end is concerned.
const SMALLEST_SINE_SQUARED: f64 = 1e-28;

/// Closest points of the edges x₀, x₁ and x₂, x₃, all in m.
///
/// ```text
/// e = x₁ − x₀,  f = x₃ − x₂,  r = x₀ − x₂,  n = e × f
/// s = (f × r)·n / n²,   t = (e × r)·n / n²
/// ```
/// where both lie inside; otherwise one of the four ends with the closest point of the other edge. Every candidate is
/// a pair of points of the edges, so the distance is never taken too small, but for rounding. Parallel edges have many
/// closest points: one pair with an end in it is taken. Edges without length are points.
///
/// Eq: `[Ericson 2005]` §5.1.9, by comparing candidates.
#[inline(always)]
pub fn closest_points_of_edges<T: Scalar>(vertices: &[Vector3<T>; 4]) -> ClosestPoints<T> {
    let [x0, x1, x2, x3] = vertices;
    let (zero, one) = (T::zero(), T::one());
    let (first, second, offset) = (x1 - x0, x3 - x2, x0 - x2);

    let share = closest_share(&offset, &second);
    let from_start = Candidate::new([one, zero, share - one, -share], offset - second * share);
    let from_end = x1 - x2;
    let share = closest_share(&from_end, &second);
    let from_end = Candidate::new([zero, one, share - one, -share], from_end - second * share);
    let share = closest_share(&-offset, &first);
    let to_start = Candidate::new([one - share, share, -one, zero], offset + first * share);
    let to_end = x3 - x0;
    let share = closest_share(&to_end, &first);
    let to_end = Candidate::new([one - share, share, zero, -one], first * share - to_end);

    let normal = first.cross(&second);
    let square = normal.dot(&normal);
    let s = second.cross(&offset).dot(&normal) / square;
    let s = s.simd_clamp(zero, one);
    // The best partner of s, and the best partner of that: what cancelled in s is made good.
    let t = closest_share(&(offset + first * s), &second);
    let s = closest_share(&(second * t - offset), &first);
    let crossing =
        square.simd_gt(first.dot(&first) * second.dot(&second) * real(SMALLEST_SINE_SQUARED));
    let within = Candidate::new([one - s, s, t - one, -t], offset + first * s - second * t);

    let always = one.simd_gt(zero);
    from_start
        .or(from_end, always)
        .or(to_start, always)
        .or(to_end, always)
        .or(within, crossing)
        .closest()
}

#[cfg(test)]
mod tests {
    use super::super::PairKind::EdgeEdge;
    use super::super::checks::{
        check_gradient, check_lanes, check_optimality, check_weights, drawn_vertices,
    };
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn closest_points_are_optimal() {
        let mut random = Random::new(511);
        for _ in 0..20_000 {
            check_optimality(EdgeEdge, &drawn_vertices(&mut random), 1e-12);
        }
    }

    #[test]
    fn distance_is_the_minimum_over_a_grid_that_closes_in() {
        let mut random = Random::new(512);
        for _ in 0..300 {
            let vertices = drawn_vertices(&mut random);
            let [x0, x1, x2, x3] = vertices;
            let gap = |s: f64, t: f64| (x0 + (x1 - x0) * s - x2 - (x3 - x2) * t).norm();
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
            let distance = closest_points_of_edges(&vertices).distance();
            assert!(distance <= smallest + 1e-14, "{distance} {smallest}");
            assert_relative_eq!(distance, smallest, epsilon = 1e-7);
        }
    }

    #[test]
    fn crossing_edges_have_the_distance_of_their_lines() {
        let mut random = Random::new(513);
        let mut crossings = 0;
        for _ in 0..5000 {
            let vertices = drawn_vertices(&mut random);
            let closest = closest_points_of_edges(&vertices);
            if closest.weights.contains(&0.0) {
                continue;
            }
            crossings += 1;
            let [x0, x1, x2, x3] = vertices;
            let normal = (x1 - x0).cross(&(x3 - x2)).normalize();
            let expected = normal.dot(&(x0 - x2)).abs();
            assert_relative_eq!(closest.distance(), expected, epsilon = 1e-12);
        }
        assert!(crossings > 500);
    }

    #[test]
    fn nearly_parallel_edges_are_optimal() {
        let mut random = Random::new(514);
        for exponent in 0..18 {
            let tilt = if exponent == 17 {
                0.0
            } else {
                10f64.powi(-exponent)
            };
            for _ in 0..500 {
                let (start, edge) = (random.vector(1.0), random.vector(1.0));
                let other = start + random.vector(0.5);
                let along = edge * random.between(-2.0, 2.0) + random.vector(1.0) * tilt;
                let vertices = [start, start + edge, other, other + along];
                check_optimality(EdgeEdge, &vertices, 1e-11);
            }
        }
    }

    #[test]
    fn degenerate_edges_are_points() {
        let mut random = Random::new(515);
        for _ in 0..1000 {
            let [x0, x1, x2, _] = drawn_vertices(&mut random);
            let share = closest_share(&(x2 - x0), &(x1 - x0));
            let expected = (x2 - x0 - (x1 - x0) * share).norm();
            for vertices in [[x0, x1, x2, x2], [x2, x2, x0, x1]] {
                let closest = closest_points_of_edges(&vertices);
                assert_relative_eq!(closest.distance(), expected, max_relative = 1e-13);
                check_weights(EdgeEdge, &closest);
            }
            let closest = closest_points_of_edges(&[x0, x0, x2, x2]);
            assert_relative_eq!(closest.distance(), (x0 - x2).norm());
            assert_relative_eq!(closest.direction(), (x0 - x2).normalize(), epsilon = 1e-15);
        }
    }

    #[test]
    fn gradient_is_the_difference_quotient() {
        let mut random = Random::new(516);
        for _ in 0..500 {
            check_gradient(EdgeEdge, &drawn_vertices(&mut random));
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        check_lanes(EdgeEdge);
    }
}
