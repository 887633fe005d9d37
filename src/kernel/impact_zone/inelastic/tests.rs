use super::*;
use crate::kernel::energy::{angular_momentum, kinetic_energy, momentum};
use crate::kernel::impulse::PairContact;
use crate::kernel::impulse::bridson::collision_impulse;
use crate::kernel::matrix::perpendicular;
use crate::kernel::proximity::PairKind;
use crate::kernel::testing::Random;
use approx::assert_relative_eq;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

struct Zone {
    masses: Vec<f64>,
    positions: Vec<Vector3<f64>>,
    velocities: Vec<Vector3<f64>>,
    constraints: Vec<ZoneConstraint<f64>>,
}

impl Zone {
    fn inverse_masses(&self) -> Vec<f64> {
        let inverse = |mass: &f64| if *mass > 0.0 { 1.0 / mass } else { 0.0 };
        self.masses.iter().map(inverse).collect()
    }

    fn project(&mut self) -> ProjectionReport {
        let inverse_masses = self.inverse_masses();
        InelasticProjection::default().project(
            &self.constraints,
            &inverse_masses,
            &mut self.velocities,
        )
    }

    fn energy(&self) -> f64 {
        kinetic_energy(&self.masses, &self.velocities)
    }
}

fn constraint_of(
    kind: PairKind,
    vertices: [u32; 4],
    positions: &[Vector3<f64>],
) -> ZoneConstraint<f64> {
    let closest = kind.closest_points(&vertices.map(|vertex| positions[vertex as usize]));
    ZoneConstraint {
        vertices,
        weights: closest.weights,
        normal: closest.direction(),
    }
}

/// Pairs of four different vertices of a cloud of points.
fn drawn(random: &mut Random, pins: bool) -> Zone {
    let count = random.between(5.0, 14.0) as usize;
    let positions: Vec<_> = (0..count).map(|_| random.vector(1.0)).collect();
    let mut constraints = Vec::new();
    let rows = random.between(1.0, 10.0) as usize;
    while constraints.len() < rows {
        let vertices = [0; 4].map(|_| random.between(0.0, count as f64) as u32);
        let different = (0..4).all(|i| (0..i).all(|j| vertices[i] != vertices[j]));
        let kind = [PairKind::VertexFace, PairKind::EdgeEdge][usize::from(random.uniform() > 0.0)];
        let constraint = constraint_of(kind, vertices, &positions);
        if different && constraint.normal != Vector3::zeros() {
            constraints.push(constraint);
        }
    }
    let pinned = |random: &mut Random| pins && random.uniform() > 0.5;
    let masses: Vec<f64> = (0..count)
        .map(|_| {
            let mass = 10f64.powf(random.between(-2.0, 2.0));
            if pinned(random) { 0.0 } else { mass }
        })
        .collect();
    let still = |mass: &f64| *mass <= 0.0;
    let velocities = masses
        .iter()
        .map(|mass| {
            let velocity = random.vector(2.0);
            if still(mass) {
                velocity * 0.0
            } else {
                velocity
            }
        })
        .collect();
    Zone {
        masses,
        positions,
        velocities,
        constraints,
    }
}

#[test]
fn momenta_are_kept_and_energy_is_not_raised() {
    let mut random = Random::new(821);
    let (mut dropped, mut singular, mut resolved) = (0, 0, 0);
    for case in 0..3000 {
        let mut zone = drawn(&mut random, case % 2 == 0);
        let (before, energy) = (zone.velocities.clone(), zone.energy());
        let report = zone.project();
        assert!(zone.energy() <= energy * (1.0 + 1e-12));
        dropped += usize::from(report.dropped > 0);
        singular += usize::from(report.rank + report.dropped < zone.constraints.len());
        resolved += usize::from(report.solves == 4);
        if case % 2 == 0 {
            for (index, mass) in zone.masses.iter().enumerate() {
                assert!(*mass > 0.0 || zone.velocities[index] == before[index]);
            }
            continue;
        }
        let zero = Vector3::zeros();
        let size = zone.masses.iter().sum::<f64>();
        let change = momentum(&zone.masses, &zone.velocities) - momentum(&zone.masses, &before);
        assert!(change.norm() < 1e-13 * size, "{change}");
        let angular =
            |velocities| angular_momentum(&zone.masses, &zone.positions, velocities, &zero);
        let change = angular(&zone.velocities) - angular(&before);
        assert!(change.norm() < 1e-12 * size, "{change}");
    }
    assert!(
        dropped > 300 && singular > 30 && resolved > 0,
        "{dropped} {singular} {resolved}"
    );
    println!("of 3000: {dropped} dropped rows, {singular} singular, {resolved} with all repeats");
}

/// Rows kept have no rate left; they push; and v' is that of the pseudo-inverse of the rows kept.
#[test]
fn change_is_the_smallest_that_stops_the_rows_kept() {
    let mut random = Random::new(822);
    let mut compared = 0;
    for case in 0..500 {
        let mut zone = drawn(&mut random, case % 2 == 0);
        let before = zone.velocities.clone();
        let inverse_masses = zone.inverse_masses();
        let mut projection = InelasticProjection::default();
        let report = projection.project(&zone.constraints, &inverse_masses, &mut zone.velocities);
        assert!(report.pulling > 0 || projection.values.iter().all(|value| *value <= 0.0));
        let rows = projection.active.len();
        if rows == 0 {
            assert_eq!(zone.velocities, before);
            continue;
        }
        for &row in &projection.active {
            assert!(zone.constraints[row].rate(&zone.velocities).abs() < 1e-9);
        }
        let size = 3 * before.len();
        let jacobian = DMatrix::from_fn(rows, size, |row, column| {
            let constraint = &zone.constraints[projection.active[row]];
            let place = constraint
                .vertices
                .iter()
                .position(|&v| v as usize == column / 3);
            place.map_or(0.0, |i| {
                constraint.weights[i] * constraint.normal[column % 3]
            })
        });
        let inverse = DMatrix::from_diagonal(&DVector::from_fn(size, |i, _| inverse_masses[i / 3]));
        let velocity = DVector::from_fn(size, |i, _| before[i / 3][i % 3]);
        // In coordinates in which the masses are one, with rows of length one.
        let half = inverse.map(f64::sqrt);
        let mut scaled = &jacobian * &half;
        let lengths: Vec<f64> = scaled.row_iter().map(|row| row.norm()).collect();
        for (mut row, length) in scaled.row_iter_mut().zip(&lengths) {
            row /= *length;
        }
        let rates = DVector::from_fn(rows, |row, _| {
            (jacobian.row(row) * &velocity)[0] / lengths[row]
        });
        let gram = &scaled * scaled.transpose();
        let Some(decomposed) = SymmetricEigen::try_new(gram, f64::EPSILON, 500) else {
            continue;
        };
        compared += 1;
        let inverse = decomposed
            .eigenvalues
            .map(|value| if value > 1e-11 { 1.0 / value } else { 0.0 });
        let axes = decomposed.eigenvectors;
        let multipliers = &axes * inverse.component_mul(&(axes.transpose() * rates));
        let change = &half * scaled.transpose() * multipliers;
        for index in 0..size {
            let found = zone.velocities[index / 3][index % 3];
            let expected = velocity[index] - change[index];
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn one_row_is_the_impulse_of_one_pair() {
    let mut random = Random::new(823);
    for _ in 0..500 {
        let mut zone = drawn(&mut random, true);
        zone.constraints.truncate(1);
        let constraint = zone.constraints[0];
        let inverse_masses = zone.inverse_masses();
        let contact = PairContact {
            weights: constraint.weights,
            normal: constraint.normal,
            inverse_masses: constraint.vertices.map(|v| inverse_masses[v as usize]),
        };
        let velocities = constraint.vertices.map(|v| zone.velocities[v as usize]);
        let impulse = collision_impulse(&contact, &velocities, 0.0, 0.0);
        let expected = contact.velocities_after(&velocities, &impulse);
        zone.project();
        for (vertex, expected) in constraint.vertices.iter().zip(expected) {
            assert_relative_eq!(zone.velocities[*vertex as usize], expected, epsilon = 1e-12);
        }
    }
}

/// Layers of sheets that lie on each other and slide: pressed together, each keeps its velocity along the layers.
#[test]
fn tangential_motion_is_kept() {
    let mut random = Random::new(824);
    let mut all_kept = 0;
    for _ in 0..100 {
        let normal = random.vector(1.0).normalize();
        let side = perpendicular(&normal);
        let other = normal.cross(&side);
        let place = |x: f64, y: f64, z: f64| side * x + other * y + normal * z;
        let mut zone = Zone {
            masses: Vec::new(),
            positions: Vec::new(),
            velocities: Vec::new(),
            constraints: Vec::new(),
        };
        // Triangles one above the other, turned at random: each corner of one meets the face below it.
        for layer in 0..4 {
            let turn = random.between(0.0, 6.0);
            for corner in 0..3 {
                let angle = turn + f64::from(corner) * std::f64::consts::TAU / 3.0;
                let size = if layer % 2 == 0 { 0.4 } else { 1.5 };
                let height = f64::from(layer) * 0.1;
                zone.positions
                    .push(place(size * angle.cos(), size * angle.sin(), height));
                zone.masses.push(random.between(0.2, 5.0));
                let press = normal * (-f64::from(layer) - random.between(0.0, 0.5));
                zone.velocities
                    .push(press + side * random.uniform() + other * random.uniform());
            }
        }
        for (upper, lower) in [(0, 3), (6, 3), (6, 9)] {
            for corner in 0..3 {
                let vertices = [upper + corner, lower, lower + 1, lower + 2];
                zone.constraints.push(constraint_of(
                    PairKind::VertexFace,
                    vertices,
                    &zone.positions,
                ));
            }
        }
        let before = zone.velocities.clone();
        let report = zone.project();
        all_kept += usize::from(report.dropped == 0);
        assert!(report.dropped > 0 || report.remaining_approach < 1e-12);
        for (after, before) in zone.velocities.iter().zip(&before) {
            let change = after - before;
            assert!((change - normal * change.dot(&normal)).norm() < 1e-12);
        }
        let moved: f64 = zone
            .velocities
            .iter()
            .zip(&before)
            .map(|(a, b)| (a - b).norm())
            .sum();
        assert!(moved > 1.0);
    }
    assert!(all_kept > 10, "{all_kept}");
}

#[test]
fn rows_given_twice_change_nothing() {
    let mut random = Random::new(825);
    for _ in 0..300 {
        let mut zone = drawn(&mut random, false);
        zone.constraints.truncate(3);
        let start = zone.velocities.clone();
        let once = zone.project();
        let expected = std::mem::replace(&mut zone.velocities, start);
        let again: Vec<_> = zone
            .constraints
            .iter()
            .map(|row| {
                // The same contact seen from the other feature.
                let mut row = *row;
                row.weights = row.weights.map(|weight| -weight);
                row.normal = -row.normal;
                row
            })
            .collect();
        zone.constraints.extend(again);
        let twice = zone.project();
        assert_eq!(twice.rank, once.rank);
        for (found, expected) in zone.velocities.iter().zip(&expected) {
            assert_relative_eq!(*found, *expected, epsilon = 1e-8);
        }
    }
}

#[test]
fn parting_pairs_are_let_go() {
    let mut random = Random::new(826);
    let mut zone = drawn(&mut random, false);
    for constraint in &mut zone.constraints {
        constraint.normal = Vector3::x();
    }
    zone.constraints.truncate(1);
    let moving = zone.constraints[0].vertices[0] as usize;
    zone.velocities.fill(Vector3::zeros());
    zone.velocities[moving] = Vector3::x() * zone.constraints[0].weights[0];
    let before = zone.velocities.clone();
    let report = zone.project();
    assert_eq!((report.dropped, report.rank, report.solves), (1, 0, 2));
    assert_eq!(zone.velocities, before);
    assert_eq!(report.remaining_approach, 0.0);
}

#[test]
fn broken_rows_are_left_out() {
    let mut random = Random::new(827);
    let mut zone = drawn(&mut random, false);
    zone.constraints.truncate(1);
    let good = zone.constraints[0];
    let (mut missing, mut broken) = (good, good);
    missing.vertices[2] = 99;
    broken.normal = Vector3::repeat(f64::NAN);
    let start = zone.velocities.clone();
    zone.project();
    let expected = std::mem::replace(&mut zone.velocities, start.clone());
    zone.constraints = vec![missing, good, broken];
    let report = zone.project();
    assert_eq!(zone.velocities, expected);
    assert_eq!(report.dropped + report.rank, 1);
    zone.masses.fill(0.0);
    zone.velocities.clone_from(&start);
    assert_eq!(zone.project().rank, 0);
    assert_eq!(zone.velocities, start);
    let nothing = InelasticProjection::default().project::<f32>(&[], &[], &mut []);
    assert_eq!(nothing.rank, 0);
}

/// Numbers in single precision: momentum changes by no more than the rounding of the stored velocities.
#[test]
fn single_precision_keeps_momentum_to_rounding() {
    let mut random = Random::new(828);
    for _ in 0..500 {
        let zone = drawn(&mut random, false);
        let constraints: Vec<_> = zone
            .constraints
            .iter()
            .map(|row| ZoneConstraint {
                vertices: row.vertices,
                weights: row.weights.map(|weight| weight as f32),
                normal: row.normal.cast::<f32>(),
            })
            .collect();
        let masses: Vec<f32> = zone.masses.iter().map(|&mass| mass as f32).collect();
        let inverse_masses: Vec<f32> = masses.iter().map(|mass| 1.0 / mass).collect();
        let mut velocities: Vec<_> = zone.velocities.iter().map(|v| v.cast::<f32>()).collect();
        let before = velocities.clone();
        InelasticProjection::default().project(&constraints, &inverse_masses, &mut velocities);
        let change = momentum(&masses, &velocities) - momentum(&masses, &before);
        let scale: f64 = zone
            .masses
            .iter()
            .zip(&velocities)
            .zip(&before)
            .map(|((m, v), b)| m * f64::from(v.amax().max((v - b).amax())))
            .sum();
        assert!(change.norm() < 2e-7 * scale, "{change} {scale}");
    }
}

/// Dropping all rows that pull at once may go too far; rows that then approach are taken up again. At the end nothing
/// approaches and nothing pulls, which singles out the nearest admissible velocities.
#[test]
fn nothing_approaches_or_pulls_after_enough_repeats() {
    for (repeats, most_left) in [(3, 40), (10, 2)] {
        let mut random = Random::new(829);
        let (mut approaching, mut pulling) = (0, 0);
        for case in 0..2000 {
            let mut zone = drawn(&mut random, case % 2 == 0);
            let inverse_masses = zone.inverse_masses();
            let mut projection = InelasticProjection {
                repeats,
                ..InelasticProjection::default()
            };
            let report =
                projection.project(&zone.constraints, &inverse_masses, &mut zone.velocities);
            approaching += usize::from(report.remaining_approach > 1e-9);
            pulling += usize::from(report.pulling > 0);
        }
        println!("{repeats} repeats: of 2000 zones {approaching} approach, {pulling} pull");
        assert!(approaching <= most_left && pulling <= most_left);
    }
}
