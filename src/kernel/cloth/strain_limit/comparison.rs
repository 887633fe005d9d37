//! Springs against triangles on a pinned sheet; the figures in the documentation of the parent module come from here.

use nalgebra::{Matrix2, Vector3};

use super::triangle::principal_stretches;
use super::*;
use crate::kernel::testing::Random;

const SIDE: u32 = 17;
const STEP: f64 = 0.02;

/// A sheet of unit squares that hangs from two corners, with diagonals that alternate from square to square.
struct Sheet {
    rest: Vec<Vector3<f64>>,
    inverse_masses: Vec<f64>,
    ends: Vec<[u32; 2]>,
    rest_lengths: Vec<f64>,
    triangles: Vec<[usize; 3]>,
    rest_inverses: Vec<Matrix2<f64>>,
}

/// Excess over the limit of 1.1.
#[derive(Debug)]
struct Residual {
    /// Largest of the principal stretches.
    stretch: f64,
    /// Root mean square of the principal stretches.
    mean: f64,
    /// Largest of the springs.
    spring: f64,
}

impl Sheet {
    fn new() -> Self {
        let index = |row: u32, column: u32| row * SIDE + column;
        let mut rest = Vec::new();
        let mut ends = Vec::new();
        let mut triangles = Vec::new();
        for (row, column) in (0..SIDE * SIDE).map(|point| (point / SIDE, point % SIDE)) {
            rest.push(Vector3::new(f64::from(column), -f64::from(row), 0.0));
            let (below, right) = (row + 1 < SIDE, column + 1 < SIDE);
            if right {
                ends.push([index(row, column), index(row, column + 1)]);
            }
            if below {
                ends.push([index(row, column), index(row + 1, column)]);
            }
            if below && right {
                let mut corners = [
                    index(row, column),
                    index(row, column + 1),
                    index(row + 1, column + 1),
                    index(row + 1, column),
                ];
                corners.rotate_left(((row + column) % 2) as usize);
                let [a, b, c, d] = corners;
                ends.push([a, c]);
                triangles.push([a, b, c].map(|point| point as usize));
                triangles.push([a, c, d].map(|point| point as usize));
            }
        }
        let mut inverse_masses = vec![1.0; rest.len()];
        (inverse_masses[0], inverse_masses[SIDE as usize - 1]) = (0.0, 0.0);
        let length = |&[i, j]: &[u32; 2]| (rest[j as usize] - rest[i as usize]).norm();
        let inverse = |&[a, b, c]: &[usize; 3]| {
            let (u, v): (Vector3<f64>, Vector3<f64>) = (rest[b] - rest[a], rest[c] - rest[a]);
            let edges = Matrix2::new(u.x, v.x, u.y, v.y);
            edges.try_inverse().expect("a triangle with area")
        };
        Self {
            rest_lengths: ends.iter().map(length).collect(),
            rest_inverses: triangles.iter().map(inverse).collect(),
            rest,
            inverse_masses,
            ends,
            triangles,
        }
    }

    /// Velocities with which the sheet falls from its pins, more of it near the top, and turns to the side.
    fn velocities(&self, shear: f64) -> Vec<Vector3<f64>> {
        let mut random = Random::new(81);
        let mut velocities = Vec::new();
        for (x, w) in self.rest.iter().zip(&self.inverse_masses) {
            let depth = -x.y;
            let fall = 0.6 * depth * (1.0 - 0.5 * depth / f64::from(SIDE));
            let motion = Vector3::new(shear * depth, -fall, 0.0) + random.vector(0.02);
            velocities.push(if *w > 0.0 {
                motion / STEP
            } else {
                Vector3::zeros()
            });
        }
        velocities
    }

    fn end(&self, velocities: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let moves = self.rest.iter().zip(velocities);
        moves.map(|(x, v)| x + v * STEP).collect()
    }

    fn by_springs(&self, shear: f64, line: Line, sweeps: u32) -> Residual {
        let mut velocities = self.velocities(shear);
        let limit = StrainLimit {
            sweeps,
            line,
            ..Default::default()
        };
        let springs = Springs {
            ends: &self.ends,
            rest_lengths: &self.rest_lengths,
        };
        let masses = &self.inverse_masses;
        limit_strain(&self.rest, &mut velocities, masses, &springs, STEP, &limit);
        self.residual(&self.end(&velocities))
    }

    fn by_triangles(&self, shear: f64, sweeps: u32) -> Residual {
        let mut positions = self.end(&self.velocities(shear));
        for _ in 0..sweeps {
            for (triangle, inverse) in self.triangles.iter().zip(&self.rest_inverses) {
                let corners = triangle.map(|point| positions[point]);
                let inverse_masses = triangle.map(|point| self.inverse_masses[point]);
                let change = limit_triangle(&corners, &inverse_masses, inverse, [0.0, 1.1]);
                for (point, change) in triangle.iter().zip(&change) {
                    positions[*point] += change;
                }
            }
        }
        self.residual(&positions)
    }

    fn residual(&self, positions: &[Vector3<f64>]) -> Residual {
        let (mut stretch, mut mean, mut spring) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (&[a, b, c], inverse) in self.triangles.iter().zip(&self.rest_inverses) {
            let (u, v) = (positions[b] - positions[a], positions[c] - positions[a]);
            let columns = [
                u * inverse[(0, 0)] + v * inverse[(1, 0)],
                u * inverse[(0, 1)] + v * inverse[(1, 1)],
            ];
            let excess = (principal_stretches(&columns).stretches[0] - 1.1).max(0.0);
            stretch = stretch.max(excess);
            mean += excess * excess / self.triangles.len() as f64;
        }
        for ([i, j], length) in self.ends.iter().zip(&self.rest_lengths) {
            let current = (positions[*j as usize] - positions[*i as usize]).norm();
            spring = spring.max(current / length - 1.1);
        }
        Residual {
            stretch,
            mean: mean.sqrt(),
            spring,
        }
    }
}

#[test]
fn report() {
    let sheet = Sheet::new();
    for shear in [0.0, 0.3, 0.6] {
        println!("shear {shear} start {:.3?}", sheet.by_triangles(shear, 0));
        for sweeps in [1, 2, 4, 10, 40, 200] {
            println!("  {sweeps} current   {:.3?}", sheet.by_springs(shear, Line::Current, sweeps));
            println!("  {sweeps} predicted {:.3?}", sheet.by_springs(shear, Line::Predicted, sweeps));
            println!("  {sweeps} triangles {:.3?}", sheet.by_triangles(shear, sweeps));
        }
    }
}
