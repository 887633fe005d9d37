//! Springs against triangles on a pinned sheet; the figures in the documentation of the parent module come from here.

use nalgebra::{Matrix2, Vector3};

use super::*;
use crate::kernel::cloth::triangle::{deformation, edge_pair, principal_stretches};
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

/// How far the sheet falls in the step, as a share of the depth, and how much of that goes to the side.
#[derive(Clone, Copy)]
struct Fall {
    fall: f64,
    shear: f64,
}

const GENTLE: Fall = Fall {
    fall: 0.2,
    shear: 0.0,
};
const GENTLE_SHEAR: Fall = Fall {
    fall: 0.2,
    shear: 0.5,
};
const VIOLENT_SHEAR: Fall = Fall {
    fall: 0.6,
    shear: 0.5,
};

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
    fn velocities(&self, Fall { fall, shear }: Fall) -> Vec<Vector3<f64>> {
        let mut random = Random::new(81);
        let mut velocities = Vec::new();
        for (x, w) in self.rest.iter().zip(&self.inverse_masses) {
            let depth = -x.y;
            let down = fall * depth * (1.0 - 0.5 * depth / f64::from(SIDE));
            let motion =
                Vector3::new(fall * shear * depth, -down, 0.0) + random.vector(0.03 * fall);
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

    fn by_springs(&self, fall: Fall, line: Line, sweeps: u32) -> f64 {
        let mut velocities = self.velocities(fall);
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

    fn by_triangles(&self, fall: Fall, sweeps: u32) -> f64 {
        let mut positions = self.end(&self.velocities(fall));
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

    /// Root mean square of what the larger principal stretch of each triangle has above 1.1.
    fn residual(&self, positions: &[Vector3<f64>]) -> f64 {
        let mut sum = 0.0;
        for (&[a, b, c], inverse) in self.triangles.iter().zip(&self.rest_inverses) {
            let edges = edge_pair(&[positions[a], positions[b], positions[c]]);
            let stretch = principal_stretches(&deformation(&edges, inverse))[0];
            sum += (stretch - 1.1).max(0.0).powi(2);
        }
        (sum / self.triangles.len() as f64).sqrt()
    }
}

#[test]
fn two_sweeps_leave_as_much_by_springs_as_by_triangles() {
    let sheet = Sheet::new();
    let start = sheet.by_triangles(GENTLE, 0);
    let springs = sheet.by_springs(GENTLE, Line::Current, 2);
    let triangles = sheet.by_triangles(GENTLE, 2);
    assert!(springs < 0.8 * start && triangles < 0.8 * start);
    assert!((springs / triangles - 1.0).abs() < 0.1);
}

#[test]
fn triangles_are_ahead_in_shear_and_with_many_sweeps() {
    let sheet = Sheet::new();
    let springs = sheet.by_springs(VIOLENT_SHEAR, Line::Current, 2);
    assert!(sheet.by_triangles(VIOLENT_SHEAR, 2) < 0.85 * springs);
    let springs = sheet.by_springs(GENTLE_SHEAR, Line::Predicted, 100);
    assert!(sheet.by_triangles(GENTLE_SHEAR, 100) < 0.7 * springs);
}

/// What the documentation of the lines warns of.
#[test]
fn many_sweeps_along_the_current_line_diverge_where_springs_turn_far() {
    let sheet = Sheet::new();
    let start = sheet.by_triangles(VIOLENT_SHEAR, 0);
    assert!(sheet.by_springs(VIOLENT_SHEAR, Line::Current, 100) > 1.1 * start);
    assert!(sheet.by_springs(VIOLENT_SHEAR, Line::Predicted, 100) < 0.5 * start);
}
