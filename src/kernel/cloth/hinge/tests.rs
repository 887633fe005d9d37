//! Tests of the hinge.

use super::*;
use crate::kernel::implicit::block_matrix::pair_index;
use crate::kernel::testing::Random;
use approx::assert_relative_eq;
use nalgebra::{SMatrix, SVector, Vector2};
use simba::simd::{SimdValue, WideF32x8};
use std::f64::consts::PI;

type Corners = [Vector3<f64>; 4];

/// A hinge of random shape with the given angle, placed at random.
fn folded(angle: f64, random: &mut Random) -> Corners {
    let edge = random.between(0.5, 1.5);
    let mut side = |direction: Vector3<f64>| {
        direction * random.between(0.4, 1.2) + Vector3::y() * random.between(-0.3, 1.3)
    };
    let corners = [
        side(-Vector3::x()),
        side(Vector3::new(angle.cos(), 0.0, -angle.sin())),
        Vector3::zeros(),
        Vector3::y() * edge,
    ];
    let (rotation, place) = (random.rotation(), random.vector(2.0));
    corners.map(|corner| rotation * corner + place)
}

/// Angles from flat to almost folded flat, to both sides.
const ANGLES: [f64; 11] = [
    -3.1, -2.5, -1.6, -0.5, -1e-3, 0.0, 1e-4, 0.3, 1.5, 2.8, 3.12,
];

/// Rest angles: flat, creased, almost folded flat.
const RESTS: [f64; 4] = [0.0, 0.6, -1.8, 3.0];

fn hinge(rest: f64) -> Hinge<f64> {
    Hinge {
        stiffness: 1.7,
        rest: HalfAngle::new(rest),
    }
}

/// Gradient of a function of the corners by central differences.
fn gradient(corners: &Corners, function: impl Fn(&Corners) -> f64) -> Corners {
    let step = 1e-5;
    std::array::from_fn(|corner| {
        Vector3::from_fn(|axis, _| {
            let at = |shift: f64| {
                let mut moved = *corners;
                moved[corner][axis] += shift;
                function(&moved)
            };
            (at(step) - at(-step)) / (2.0 * step)
        })
    })
}

fn assert_close(left: &Corners, right: &Corners, tolerance: f64) {
    for (left, right) in left.iter().zip(right) {
        let scale = 1.0 + left.norm();
        assert!((left - right).norm() < tolerance * scale, "{left} {right}");
    }
}

fn assert_balanced(corners: &Corners, forces: &Corners) {
    let force: Vector3<f64> = forces.iter().sum();
    let torque: Vector3<f64> = corners.iter().zip(forces).map(|(x, f)| x.cross(f)).sum();
    let scale = forces.iter().map(Vector3::norm).sum::<f64>();
    assert!(force.norm() <= 1e-14 * scale, "{force}");
    assert!(torque.norm() <= 1e-13 * scale, "{torque}");
}

#[test]
fn angle_is_the_one_it_was_built_with() {
    let mut random = Random::new(201);
    for angle in ANGLES {
        let corners = folded(angle, &mut random);
        let geometry = HingeGeometry::new(&corners);
        assert_relative_eq!(geometry.angle(), angle, epsilon = 1e-13);
        assert_relative_eq!(geometry.fold.sine, (angle / 2.0).sin(), epsilon = 1e-14);
        assert_relative_eq!(geometry.edge_length, (corners[3] - corners[2]).norm());
    }
}

#[test]
fn modes_are_those_of_the_seed_and_minus_the_gradient_of_the_angle() {
    let mut random = Random::new(202);
    for angle in ANGLES {
        let corners = folded(angle, &mut random);
        let geometry = HingeGeometry::new(&corners);
        let change = gradient(&corners, |moved| {
            HingeGeometry::new(moved).fold.since(&geometry.fold).angle()
        });
        assert_close(&geometry.modes, &change.map(|slope| -slope), 1e-8);

        let [x1, x2, x3, x4] = corners;
        let edge = x4 - x3;
        let (n1, n2) = ((x1 - x3).cross(&(x1 - x4)), (x2 - x4).cross(&(x2 - x3)));
        let (n1, n2) = (n1 / n1.norm_squared(), n2 / n2.norm_squared());
        let along = |side: Vector3<f64>| side.dot(&edge) / edge.norm();
        let printed = [
            n1 * edge.norm(),
            n2 * edge.norm(),
            n1 * along(x1 - x4) + n2 * along(x2 - x4),
            -(n1 * along(x1 - x3) + n2 * along(x2 - x3)),
        ];
        assert_close(&geometry.modes, &printed, 1e-13);
    }
}

#[test]
fn elastic_forces_are_minus_the_gradient_and_balanced() {
    let mut random = Random::new(203);
    for rest in RESTS {
        let hinge = hinge(rest);
        for angle in ANGLES {
            let corners = folded(angle, &mut random);
            let geometry = HingeGeometry::new(&corners);
            let forces = geometry.forces(hinge.slope(&geometry.fold));
            let slopes = gradient(&corners, |moved| {
                hinge.energy(&HingeGeometry::new(moved).fold)
            });
            assert_close(&forces, &slopes.map(|slope| -slope), 1e-7);
            assert_balanced(&corners, &forces);
        }
    }
}

#[test]
fn energy_is_the_closed_form_and_rests_at_the_rest_angle() {
    for rest in RESTS {
        let hinge = hinge(rest);
        assert_eq!(hinge.energy(&hinge.rest), 0.0);
        assert_eq!(hinge.slope(&hinge.rest), 0.0);
        for step in -100..=100 {
            let angle = PI * f64::from(step) / 100.0;
            let energy = hinge.energy(&HalfAngle::new(angle));
            let (half, half_rest) = (angle / 2.0, rest / 2.0);
            let expected = 2.0 * (half_rest.cos() - half.cos()) - half_rest.sin() * (angle - rest);
            assert_relative_eq!(energy, 1.7 * expected, epsilon = 1e-14);
            assert!(energy > 0.0 || (angle - rest).abs() < 1e-6);
        }
    }
    // In single precision, a small bend still has the energy of a linear hinge.
    let single = Hinge {
        stiffness: 1.0f32,
        rest: HalfAngle::new(0.0),
    };
    let energy = single.energy(&HalfAngle::new(1e-4f32));
    assert_relative_eq!(energy, 0.25e-8, max_relative = 1e-6);
}

#[test]
fn energy_is_blind_to_rigid_motions() {
    let mut random = Random::new(204);
    for angle in ANGLES {
        let corners = folded(angle, &mut random);
        let (rotation, shift) = (random.rotation(), random.vector(3.0));
        let moved = corners.map(|corner| rotation * corner + shift);
        let energy = |corners| hinge(0.4).energy(&HingeGeometry::new(corners).fold);
        assert_relative_eq!(energy(&corners), energy(&moved), epsilon = 1e-13);
    }
}

/// The whole stiffness from its blocks.
fn stiffness(geometry: &HingeGeometry<f64>, curvature: f64) -> SMatrix<f64, 12, 12> {
    let mut blocks = [Matrix3::zeros(); 10];
    geometry.stiffness_blocks(curvature, |pair, block| blocks[pair] = *block);
    let mut whole = SMatrix::<f64, 12, 12>::zeros();
    for first in 0..4 {
        for second in 0..4 {
            let block = if first <= second {
                blocks[pair_index(4, first, second)]
            } else {
                blocks[pair_index(4, second, first)].transpose()
            };
            whole
                .fixed_view_mut::<3, 3>(3 * first, 3 * second)
                .copy_from(&block);
        }
    }
    whole
}

#[test]
fn curvature_is_the_second_derivative_by_the_angle_and_never_negative() {
    let step = 1e-6;
    for rest in RESTS {
        let hinge = hinge(rest);
        for angle in ANGLES {
            let slope = |angle| hinge.slope(&HalfAngle::new(angle));
            let change = (slope(angle + step) - slope(angle - step)) / (2.0 * step);
            let curvature = hinge.curvature(&HalfAngle::new(angle));
            assert_relative_eq!(curvature, change, epsilon = 1e-8);
            assert!(curvature >= 0.0);
        }
    }
}

#[test]
fn stiffness_is_semidefinite_and_the_second_derivative_at_rest() {
    let mut random = Random::new(205);
    for angle in ANGLES {
        let corners = folded(angle, &mut random);
        let geometry = HingeGeometry::new(&corners);
        let hinge = hinge(angle);
        let whole = stiffness(&geometry, hinge.curvature(&geometry.fold));
        let values = whole.symmetric_eigenvalues();
        assert!(values.min() > -1e-13 * values.max());
        for _ in 0..4 {
            let change: Corners = std::array::from_fn(|_| random.vector(1.0));
            let step = 1e-5;
            let forces_at = |shift: f64| {
                let moved = std::array::from_fn(|i| corners[i] + change[i] * shift);
                let geometry = HingeGeometry::new(&moved);
                geometry.forces(hinge.slope(&geometry.fold))
            };
            let (after, before) = (forces_at(step), forces_at(-step));
            let expected = SVector::<f64, 12>::from_fn(|i, _| {
                -(after[i / 3] - before[i / 3])[i % 3] / (2.0 * step)
            });
            let change = SVector::<f64, 12>::from_fn(|i, _| change[i / 3][i % 3]);
            let found = whole * change;
            assert!((found - expected).norm() < 1e-7 * (1.0 + expected.norm()));
        }
    }
}

#[test]
fn damping_is_balanced_takes_its_power_and_spares_rigid_motions() {
    let mut random = Random::new(206);
    let damping = HingeDamping { coefficient: 0.3 };
    for angle in ANGLES {
        let corners = folded(angle, &mut random);
        let geometry = HingeGeometry::new(&corners);
        let velocities: Corners = std::array::from_fn(|_| random.vector(2.0));
        let rate = geometry.rate(&velocities);
        let forces = geometry.forces(damping.slope(rate));
        assert_balanced(&corners, &forces);
        let power: f64 = forces.iter().zip(&velocities).map(|(f, v)| -f.dot(v)).sum();
        assert_relative_eq!(power, damping.power(rate), max_relative = 1e-12);
        assert!(power >= 0.0);

        let step = 1e-6;
        let fold_at = |time: f64| {
            HingeGeometry::new(&std::array::from_fn(|i| corners[i] + velocities[i] * time)).fold
        };
        let measured = fold_at(step).since(&fold_at(-step)).angle() / (2.0 * step);
        assert_relative_eq!(rate, measured, epsilon = 1e-6, max_relative = 1e-6);

        let (spin, drift) = (random.vector(3.0), random.vector(3.0));
        let rigid = corners.map(|corner| spin.cross(&corner) + drift);
        assert!(geometry.rate(&rigid).abs() < 1e-12);
    }
}

#[test]
fn stage_damping_has_a_gradient_and_tends_to_the_rate() {
    let mut random = Random::new(207);
    let damping = HingeDamping { coefficient: 0.3 };
    let inverse_step = 50.0;
    for angle in ANGLES {
        let corners = folded(angle, &mut random);
        let geometry = HingeGeometry::new(&corners);
        for start in [angle - 1.2, angle + 0.2, -angle] {
            let start = HalfAngle::new(start);
            let slope = damping.stage_slope(&geometry.fold, &start, 0.1, inverse_step);
            let forces = geometry.forces(slope);
            let slopes = gradient(&corners, |moved| {
                damping.stage_potential(&HingeGeometry::new(moved).fold, &start, 0.1, inverse_step)
            });
            assert_close(&forces, &slopes.map(|slope| -slope), 1e-6);
            assert_balanced(&corners, &forces);
            let curvature = damping.stage_curvature(&geometry.fold, &start, inverse_step);
            let whole = geometry.fold.since(&start).angle().cos();
            assert!(curvature >= 0.3 * inverse_step * whole.max(0.0));
        }
        let near = HalfAngle::new(angle - 1e-4);
        let rate = 1e-4 * inverse_step;
        let slope = damping.stage_slope(&geometry.fold, &near, 0.0, inverse_step);
        assert_relative_eq!(slope, damping.slope(rate), max_relative = 1e-7);
        let potential = damping.stage_potential(&geometry.fold, &near, 0.0, inverse_step);
        let dissipated = 2.0 * potential * inverse_step;
        assert_relative_eq!(dissipated, damping.power(rate), max_relative = 1e-7);
        let curvature = damping.stage_curvature(&geometry.fold, &near, inverse_step);
        assert_relative_eq!(curvature, 0.3 * inverse_step, max_relative = 1e-7);
    }
}

#[test]
fn stage_damping_is_continuous_through_the_flat_fold() {
    let damping = HingeDamping { coefficient: 0.3 };
    let (before, after) = (HalfAngle::new(PI - 1e-3), HalfAngle::new(-PI + 1e-3));
    // The fold has moved on by 2e-3, and not back by almost 2π.
    let slope = damping.stage_slope(&after, &before, 0.0, 50.0);
    assert_relative_eq!(slope, damping.slope(2e-3 * 50.0), max_relative = 1e-5);
}

#[test]
fn flat_fold_and_degenerate_triangles_are_finite() {
    let mut random = Random::new(208);
    let hinge = hinge(0.2);
    let mut corners = folded(0.0, &mut random);
    corners[1] = corners[0];
    let geometry = HingeGeometry::new(&corners);
    assert_relative_eq!(geometry.angle().abs(), PI, epsilon = 1e-12);
    assert!(hinge.energy(&geometry.fold).is_finite());
    let forces = geometry.forces(hinge.slope(&geometry.fold));
    assert!(forces.iter().all(|force| force.norm().is_finite()));
    assert_balanced(&corners, &forces);

    let (zero, unit) = (Vector3::<f32>::zeros(), Vector3::<f32>::x());
    let flat = Vector3::y();
    for corners in [
        [zero; 4],
        [unit, flat, unit * 3.0, unit * 2.0],
        [unit, -unit, zero, zero],
        [unit, flat, unit, zero],
    ] {
        let geometry = HingeGeometry::new(&corners);
        assert_eq!(geometry.modes, [zero; 4]);
        assert_eq!(geometry.fold.cosine, 1.0);
        assert_eq!(geometry.angle(), 0.0);
        assert!(rest_weight(&corners).is_finite());
    }
}

#[test]
fn lanes_equal_scalars() {
    let mut random = Random::new(209);
    let angles = [-3.1, -1.0, -1e-3, 0.0, 0.01, 1.4, 1.7, 3.0];
    let singles: Vec<[Vector3<f32>; 4]> = angles
        .iter()
        .map(|&angle| folded(angle, &mut random).map(nalgebra::Matrix::cast))
        .collect();
    let mut packed = [Vector3::<WideF32x8>::zeros(); 4];
    for (lane, corners) in singles.iter().enumerate() {
        for (packed, corner) in packed.iter_mut().zip(corners) {
            packed.replace(lane, *corner);
        }
    }
    let single = Hinge {
        stiffness: 1.7f32,
        rest: HalfAngle::new(0.5),
    };
    let hinge = Hinge {
        stiffness: WideF32x8::splat(1.7),
        rest: HalfAngle {
            sine: WideF32x8::splat(single.rest.sine),
            cosine: WideF32x8::splat(single.rest.cosine),
        },
    };
    let geometry = HingeGeometry::new(&packed);
    let energy = hinge.energy(&geometry.fold);
    let forces = geometry.forces(hinge.slope(&geometry.fold));
    let weight = rest_weight(&packed);
    for (lane, corners) in singles.iter().enumerate() {
        let alone = HingeGeometry::new(corners);
        assert_eq!(energy.extract(lane), single.energy(&alone.fold));
        assert_eq!(weight.extract(lane), rest_weight(corners));
        let expected = alone.forces(single.slope(&alone.fold));
        for (force, expected) in forces.iter().zip(expected) {
            assert_eq!(force.extract(lane), expected);
        }
    }
}

/// Energy per area, J/m², of a patch of equilateral triangles of side `side` bent to a cylinder of radius one, whose
/// axis is at the angle `turn` to one family of edges.
fn bent_energy_density(side: f64, turn: f64, stiffness: f64) -> f64 {
    let flat = |i: i32, j: i32| {
        let (i, j) = (f64::from(i), f64::from(j));
        let place = Vector2::new(i + 0.5 * j, 0.75f64.sqrt() * j) * side;
        let (sine, cosine) = turn.sin_cos();
        Vector2::new(
            cosine * place.x + sine * place.y,
            cosine * place.y - sine * place.x,
        )
    };
    let sheet = |place: Vector2<f64>| Vector3::new(place.x, place.y, 0.0);
    let cylinder = |place: Vector2<f64>| Vector3::new(place.x, place.y.sin(), place.y.cos());
    let cells = (1.0 / side).round() as i32;
    let mut energy = 0.0;
    for i in 0..cells {
        for j in 0..cells {
            for corners in [
                [
                    flat(i, j + 1),
                    flat(i + 1, j - 1),
                    flat(i, j),
                    flat(i + 1, j),
                ],
                [
                    flat(i - 1, j + 1),
                    flat(i + 1, j),
                    flat(i, j),
                    flat(i, j + 1),
                ],
                [
                    flat(i, j),
                    flat(i + 1, j + 1),
                    flat(i + 1, j),
                    flat(i, j + 1),
                ],
            ] {
                let hinge = Hinge {
                    stiffness: stiffness * rest_weight(&corners.map(sheet)),
                    rest: HalfAngle::zero(),
                };
                energy += hinge.energy(&HingeGeometry::new(&corners.map(cylinder)).fold);
            }
        }
    }
    energy / (f64::from(cells * cells) * 0.75f64.sqrt() * side * side)
}

#[test]
fn bent_sheet_has_the_bending_stiffness_it_was_calibrated_for() {
    let bending_stiffness = 2e-5;
    let stiffness = bending_stiffness_to_hinge(bending_stiffness);
    for turn in [0.0, PI / 2.0] {
        let [coarse, fine] = [0.2, 0.05].map(|side| bent_energy_density(side, turn, stiffness));
        for density in [coarse, fine] {
            assert_relative_eq!(density, 0.5 * bending_stiffness, max_relative = 0.05);
        }
        assert_relative_eq!(coarse, fine, max_relative = 0.1);
    }
}
