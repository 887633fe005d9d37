//! What the tests of both kinds of pairs check.

use nalgebra::Vector3;
use simba::simd::{SimdValue, WideF32x8};

use super::{ClosestPoints, PairKind};
use crate::kernel::testing::Random;

/// Four vertices at random in a cube of 2 m, one in three at a small distance from each other.
pub(super) fn drawn_vertices(random: &mut Random) -> [Vector3<f64>; 4] {
    let mut vertices = std::array::from_fn(|_| random.vector(1.0));
    if random.uniform() > 0.3 {
        vertices[0] = (vertices[1] + vertices[2] + vertices[3]) / 3.0 + random.vector(0.1);
    }
    vertices
}

/// Weights are barycentric coordinates inside both features.
pub(super) fn check_weights(kind: PairKind, closest: &ClosestPoints<f64>) {
    let (first, second) = closest.weights.split_at(kind.first_count());
    assert!((first.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    assert!((second.iter().sum::<f64>() + 1.0).abs() < 1e-15);
    assert!(first.iter().all(|&weight| (0.0..=1.0).contains(&weight)));
    assert!(second.iter().all(|&weight| (-1.0..=0.0).contains(&weight)));
}

/// Both features lie beyond the planes at right angles to the difference through the closest points: this makes the
/// points the closest ones, since the features are convex.
pub(super) fn check_optimality(kind: PairKind, vertices: &[Vector3<f64>; 4], tolerance: f64) {
    let closest = kind.closest_points(vertices);
    check_weights(kind, &closest);
    let mut sum = Vector3::zeros();
    let mut point = Vector3::zeros();
    for (index, vertex) in vertices.iter().enumerate() {
        sum += vertex * closest.weights[index];
        if index < kind.first_count() {
            point += vertex * closest.weights[index];
        }
    }
    assert!((sum - closest.difference).norm() < 1e-14);
    let distance = closest.distance().max(1e-3);
    for (index, vertex) in vertices.iter().enumerate() {
        let beyond = if index < kind.first_count() {
            closest.difference.dot(&(vertex - point))
        } else {
            closest
                .difference
                .dot(&(point - closest.difference - vertex))
        };
        assert!(
            beyond >= -tolerance * distance,
            "vertex {index} is closer by {beyond}: {vertices:?}"
        );
    }
}

pub(super) fn check_gradient(kind: PairKind, vertices: &[Vector3<f64>; 4]) {
    let closest = kind.closest_points(vertices);
    let (distance, direction) = (closest.distance(), closest.direction());
    if distance < 0.02 {
        return;
    }
    let step = 1e-6;
    for vertex in 0..4 {
        for axis in 0..3 {
            let moved = |step: f64| {
                let mut moved = *vertices;
                moved[vertex][axis] += step;
                kind.closest_points(&moved).distance()
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            let expected = closest.weights[vertex] * direction[axis];
            // The gradient turns at a rate of about the inverse distance, or jumps at the border of a region.
            assert!((slope - expected).abs() < 1e-7 / distance + 1e-6);
        }
    }
}

pub(super) fn check_lanes(kind: PairKind) {
    let mut random = Random::new(521);
    for _ in 0..100 {
        let mut packed = [Vector3::<WideF32x8>::zeros(); 4];
        let mut singles = Vec::new();
        for lane in 0..8 {
            let mut vertices = drawn_vertices(&mut random).map(Vector3::cast::<f32>);
            if lane == 3 {
                vertices[3] = vertices[2];
            }
            for (packed, vertex) in packed.iter_mut().zip(&vertices) {
                packed.replace(lane, *vertex);
            }
            singles.push(kind.closest_points(&vertices));
        }
        let lanes = kind.closest_points(&packed);
        for (lane, single) in singles.iter().enumerate() {
            assert_eq!(lanes.difference.extract(lane), single.difference);
            for vertex in 0..4 {
                assert_eq!(lanes.weights[vertex].extract(lane), single.weights[vertex]);
            }
            assert_eq!(lanes.direction().extract(lane), single.direction());
        }
    }
}
