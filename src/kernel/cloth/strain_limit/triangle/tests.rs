use super::*;
use crate::kernel::testing::Random;
use approx::assert_relative_eq;
use nalgebra::{Matrix2x3, Matrix3x2};
use simba::simd::{SimdValue, WideF64x4};

const BOUNDS: [f64; 2] = [0.95, 1.1];
const NONE: [Vector3<f64>; 3] = [Vector3::new(0.0, 0.0, 0.0); 3];

/// Corners, and the inverse rest edges, with the given stretches in random directions.
fn triangle(random: &mut Random, stretches: [f64; 2]) -> ([Vector3<f64>; 3], Matrix2<f64>) {
    let rest = loop {
        let rest = Matrix2::from_fn(|_, _| random.uniform());
        if rest.determinant().abs() > 0.2 {
            break rest;
        }
    };
    let (sine, cosine) = random.between(-3.0, 3.0).sin_cos();
    let right = Matrix2::new(cosine, -sine, sine, cosine);
    let left = random.rotation();
    let diagonal = Matrix2::from_diagonal(&stretches.into());
    let gradient = left.fixed_columns::<2>(0) * diagonal * right.transpose();
    let edges: Matrix3x2<f64> = gradient * rest;
    let origin = random.vector(2.0);
    let corners = [origin, origin + edges.column(0), origin + edges.column(1)];
    (corners, rest.try_inverse().expect("a triangle with area"))
}

fn gradient(corners: &[Vector3<f64>; 3], rest_inverse: &Matrix2<f64>) -> Matrix3x2<f64> {
    Matrix3x2::from_columns(&[corners[1] - corners[0], corners[2] - corners[0]]) * rest_inverse
}

/// Stretches after a correction.
fn stretches(
    corners: &[Vector3<f64>; 3],
    by: &[Vector3<f64>; 3],
    rest_inverse: &Matrix2<f64>,
) -> [f64; 2] {
    let moved = [0, 1, 2].map(|corner| corners[corner] + by[corner]);
    principal_stretches(&gradient(&moved, rest_inverse))
}

#[test]
fn images_of_the_principal_directions_are_orthogonal() {
    let mut random = Random::new(61);
    for expected in [
        [1.3, 0.7],
        [1.0, 1.0],
        [2.0, 0.0],
        [1.0, 1e-9],
        [0.0, 0.0],
        [1.0 + 1e-9, 1.0],
    ] {
        for _ in 0..20 {
            let (corners, rest_inverse) = triangle(&mut random, expected);
            let gradient = gradient(&corners, &rest_inverse);
            let [cosine, sine] = principal_direction(&columns(&gradient));
            assert_relative_eq!(cosine * cosine + sine * sine, 1.0, epsilon = 1e-14);
            let images: Matrix2x3<f64> =
                (gradient * Matrix2::new(cosine, -sine, sine, cosine)).transpose();
            for axis in 0..2 {
                assert_relative_eq!(images.row(axis).norm(), expected[axis], epsilon = 1e-13);
            }
            assert_relative_eq!(images.row(0).dot(&images.row(1)), 0.0, epsilon = 1e-13);
        }
    }
}

#[test]
fn stretches_are_clamped_and_momenta_kept() {
    let mut random = Random::new(62);
    for given in [
        [1.5, 1.2],
        [1.5, 1.0],
        [1.5, 0.5],
        [1.0, 0.3],
        [0.8, 0.6],
        [3.0, 0.01],
    ] {
        for _ in 0..50 {
            let (corners, rest_inverse) = triangle(&mut random, given);
            let masses = [0; 3].map(|_| random.between(0.1, 4.0));
            let correction =
                limit_triangle(&corners, &masses.map(f64::recip), &rest_inverse, BOUNDS);
            let found = stretches(&corners, &correction, &rest_inverse);
            for axis in 0..2 {
                let expected = given[axis].clamp(BOUNDS[0], BOUNDS[1]);
                assert_relative_eq!(found[axis], expected, epsilon = 1e-10);
            }
            let mut momenta = [Vector3::zeros(); 2];
            for corner in 0..3 {
                momenta[0] += correction[corner] * masses[corner];
                momenta[1] += corners[corner].cross(&correction[corner]) * masses[corner];
            }
            assert_relative_eq!(momenta[0], Vector3::zeros(), epsilon = 1e-10);
            assert_relative_eq!(momenta[1], Vector3::zeros(), epsilon = 1e-10);
        }
    }
}

#[test]
fn the_correction_turns_and_moves_with_the_triangle() {
    let mut random = Random::new(63);
    let (corners, rest_inverse) = triangle(&mut random, [1.4, 0.7]);
    let (rotation, shift) = (random.rotation(), random.vector(1.0));
    let correction = |corners: &_| limit_triangle(corners, &[1.0, 2.0, 3.0], &rest_inverse, BOUNDS);
    let here = correction(&corners);
    let there = correction(&corners.map(|x| rotation * x + shift));
    for corner in 0..3 {
        assert_relative_eq!(there[corner], rotation * here[corner], epsilon = 1e-13);
    }
}

#[test]
fn nothing_moves_within_the_bounds_or_without_a_way() {
    let mut random = Random::new(64);
    let (corners, rest_inverse) = triangle(&mut random, [1.05, 0.98]);
    let inside = limit_triangle(&corners, &[1.0; 3], &rest_inverse, BOUNDS);
    assert_eq!(inside, NONE);
    let (corners, rest_inverse) = triangle(&mut random, [2.0, 0.5]);
    let fixed = limit_triangle(&corners, &[0.0; 3], &rest_inverse, BOUNDS);
    assert_eq!(fixed, NONE);
    let without_rest = limit_triangle(&corners, &[1.0; 3], &Matrix2::zeros(), BOUNDS);
    assert_eq!(without_rest, NONE);
    let point = [Vector3::new(1.0, 2.0, 3.0); 3];
    let collapsed = limit_triangle(&point, &[1.0; 3], &rest_inverse, BOUNDS);
    assert_eq!(collapsed, NONE);
}

/// A triangle squashed to a line keeps its flat direction, and is limited along the line.
#[test]
fn flat_triangles_are_limited_along_their_line() {
    let (corners, rest_inverse) = triangle(&mut Random::new(65), [2.0, 0.0]);
    let correction = limit_triangle(&corners, &[1.0; 3], &rest_inverse, BOUNDS);
    let found = stretches(&corners, &correction, &rest_inverse);
    assert_relative_eq!(found[0], 1.1, epsilon = 1e-12);
    assert_relative_eq!(found[1], 0.0, epsilon = 1e-12);
}

#[test]
fn fixed_corners_stay() {
    let mut random = Random::new(66);
    for _ in 0..50 {
        let (corners, rest_inverse) = triangle(&mut random, [1.4, 0.8]);
        for fixed in 0..3 {
            let mut masses = [1.0, 2.0, 0.5];
            let mut inverse_masses = masses.map(f64::recip);
            (masses[fixed], inverse_masses[fixed]) = (0.0, 0.0);
            let correction = limit_triangle(&corners, &inverse_masses, &rest_inverse, BOUNDS);
            assert_eq!(correction[fixed].norm(), 0.0);
            let found = stretches(&corners, &correction, &rest_inverse);
            assert_relative_eq!(found[0], 1.1, epsilon = 1e-12);
            assert_relative_eq!(found[1], 0.95, epsilon = 1e-12);
            let mut torque = Vector3::zeros();
            for corner in 0..3 {
                let arm = corners[corner] - corners[fixed];
                torque += arm.cross(&correction[corner]) * masses[corner];
            }
            assert_relative_eq!(torque, Vector3::zeros(), epsilon = 1e-12);

            let mut lone = [0.0; 3];
            lone[fixed] = 1.0;
            let correction = limit_triangle(&corners, &lone, &rest_inverse, BOUNDS);
            for corner in 0..3 {
                assert_eq!(correction[corner].norm() > 0.0, corner == fixed);
            }
        }
    }
}

#[test]
fn lanes_agree_with_single_numbers() {
    let mut random = Random::new(67);
    let cases =
        [[1.4, 0.7], [1.0, 1.0], [2.0, 0.0], [1.0, 0.2]].map(|given| triangle(&mut random, given));
    let inverse_masses = [
        [1.0, 2.0, 3.0],
        [0.0, 1.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 0.0, 2.0],
    ];
    let lane = |pick: &dyn Fn(usize) -> f64| WideF64x4::from([0, 1, 2, 3].map(pick));
    let packed = limit_triangle(
        &[0, 1, 2].map(|corner: usize| {
            Vector3::from_fn(|row, _| lane(&|case| cases[case].0[corner][row]))
        }),
        &[0, 1, 2].map(|corner: usize| lane(&|case| inverse_masses[case][corner])),
        &Matrix2::from_fn(|row, column| lane(&|case| cases[case].1[(row, column)])),
        BOUNDS.map(WideF64x4::splat),
    );
    for (index, (corners, rest_inverse)) in cases.iter().enumerate() {
        let alone = limit_triangle(corners, &inverse_masses[index], rest_inverse, BOUNDS);
        for corner in 0..3 {
            let found = packed[corner].map(|value| value.extract(index));
            assert_eq!(found, alone[corner]);
        }
    }
}
