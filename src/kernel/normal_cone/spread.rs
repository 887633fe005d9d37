//! When a surface is spread out, so that no part of it can touch another.

use nalgebra::{Vector2, Vector3};

use super::boundary_edges;
use super::contour::{MovingEdge, ROUNDING, edges_stay_apart, winds_once};
use crate::kernel::energy::widened_vector;
use crate::kernel::matrix::perpendicular;
use crate::kernel::scalar::Single;

/// The test of a surface, or a part of one, with what it keeps between steps.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    /// The vertices of the triangles among those of the body, ascending.
    vertices: Vec<u32>,
    /// Corners of the triangles, by place in `vertices`.
    triangles: Vec<[u32; 3]>,
    /// Of [`boundary_edges`], by place in `vertices`; empty if the surface cannot be a graph.
    boundary: Vec<[u32; 2]>,
    /// Vertices as the axis shows them, relative to one of them, at the start and at the end, m.
    points: Vec<[Vector2<f64>; 2]>,
}

impl Spread {
    /// The test of the surface that the triangles make.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn new(triangles: &[[u32; 3]]) -> Self {
        let mut vertices: Vec<u32> = triangles.as_flattened().to_vec();
        vertices.sort_unstable();
        vertices.dedup();
        let place = |vertex: u32| vertices.partition_point(|&other| other < vertex) as u32;
        let triangles: Vec<_> = triangles.iter().map(|corners| corners.map(place)).collect();
        let mut boundary = Vec::new();
        boundary_edges(&triangles, &mut boundary);
        Self {
            points: Vec::with_capacity(vertices.len()),
            vertices,
            triangles,
            boundary,
        }
    }

    /// Whether all vertices, edges and faces that have no vertex in common keep at least the clearance from each other while
    /// the vertices move along straight lines over a step.
    ///
    /// ```text
    /// V ∝ Σ over the boundary of x_i × x_(i+1)          the mean normal
    /// seen along V:  (b − a) × (c − a) ≥ r · longest side, for each triangle: its heights are r at least
    ///                the contour meets itself nowhere and leaves r between its vertices and edges
    /// ```
    /// Then the surface is a graph over the plane across V, a triangulation of its shadow. The straight way from a vertex of
    /// that to anything that does not contain it leads out of the triangles around the vertex, through the far side of one of
    /// them, or, across the outside, to another edge of the contour. Either takes r, and in space nothing is nearer than in the
    /// shadow.
    ///
    /// # Arguments
    /// * `start`, `end` – positions of all vertices of the body at the ends of the step, m; twice the same for a moment
    /// * `clearance` – r, m
    ///
    /// Conservative: false wherever it cannot be told. Takes time with the square of the length of the boundary.
    ///
    /// Eq: `[Volino 1994]` (contour test), with a clearance.
    #[must_use]
    pub fn holds<T: Single>(
        &mut self,
        start: &[Vector3<T>],
        end: &[Vector3<T>],
        clearance: f64,
    ) -> bool {
        let count = start.len().min(end.len());
        let exist = self
            .vertices
            .last()
            .is_some_and(|&last| (last as usize) < count);
        if self.boundary.is_empty() || !exist {
            return false;
        }
        let places = [start, end];
        let vertices = &self.vertices;
        let place = |time: usize, vertex: u32| widened_vector(&places[time][vertex as usize]);
        let origins = [0, 1].map(|time| place(time, vertices[0]));
        let axis = self.boundary.iter().fold(Vector3::zeros(), |sum, edge| {
            let areas = [0, 1].map(|time| {
                let [a, b] =
                    edge.map(|local| place(time, vertices[local as usize]) - origins[time]);
                a.cross(&b)
            });
            sum + areas[0] + areas[1]
        });
        let Some(axis) = axis.try_normalize(0.0) else {
            return false;
        };
        let side = perpendicular(&axis);
        let other = axis.cross(&side);
        let mut largest: f64 = 0.0;
        self.points.clear();
        self.points.extend(vertices.iter().map(|&vertex| {
            [0, 1].map(|time| {
                let place = place(time, vertex);
                largest = largest.max(place.amax());
                let place = place - origins[0];
                Vector2::new(side.dot(&place), other.dot(&place))
            })
        }));
        let blur = ROUNDING * largest;
        let points = &self.points;
        let moving = |[a, b]: [u32; 2]| {
            let [a, b] = [points[a as usize], points[b as usize]];
            MovingEdge {
                corners: [a[0], b[0], a[1], b[1]],
            }
        };
        let room = clearance + 8.0 * blur;
        let corners = |triangle: &[u32; 3]| triangle.map(|local| points[local as usize]);
        self.triangles
            .iter()
            .all(|triangle| heights_exceed(room, &corners(triangle)))
            && winds_once(moving, &self.boundary, blur)
            && edges_stay_apart(moving, &self.boundary, blur, clearance)
    }
}

/// Whether a triangle that winds in the positive sense all through the step has heights above `least`, m.
///
/// Its doubled area is quadratic in time and not below its smallest Bernstein coefficient; its sides are longest at an end.
fn heights_exceed(least: f64, [a, b, c]: &[[Vector2<f64>; 2]; 3]) -> bool {
    let (first, second) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
    let areas = [
        first[0].perp(&second[0]),
        0.5 * (first[0].perp(&second[1]) + first[1].perp(&second[0])),
        first[1].perp(&second[1]),
    ];
    let longest = [0, 1].into_iter().fold(0.0_f64, |longest, time| {
        longest
            .max(first[time].norm_squared())
            .max(second[time].norm_squared())
            .max((second[time] - first[time]).norm_squared())
    });
    areas
        .iter()
        .all(|&area| area > 0.0 && area * area > least * least * longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::{Patch, Random, gap, grid};

    const CELLS: u32 = 5;

    /// A sheet with unit cells.
    fn sheet(place: impl Fn(f64, f64) -> Vector3<f64>) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
        let side = f64::from(CELLS);
        let Patch {
            positions,
            triangles,
        } = grid(CELLS, CELLS, |x, y| place(side * x, side * y));
        (positions, triangles)
    }

    /// Smallest distance of two features without a common vertex.
    fn smallest_gap(positions: &[Vector3<f64>], triangles: &[[u32; 3]]) -> f64 {
        let pairs = (triangles.iter().enumerate()).flat_map(|(index, first)| {
            triangles[..index].iter().map(move |other| [*first, *other])
        });
        pairs.fold(f64::INFINITY, |least, pair| least.min(gap(positions, pair)))
    }

    #[test]
    fn what_is_spread_out_keeps_its_distance_at_all_times() {
        let mut random = Random::new(91);
        let (mut held, mut close) = (0, 0);
        for _ in 0..150 {
            let roughness = random.between(0.0, 0.8);
            let depth = random.between(0.0, 3.0);
            let mut drawn = || {
                let phase = random.between(0.0, 6.0);
                let mut shift = Vec::new();
                shift.resize_with(36, || random.vector(1.0) * roughness);
                let (mut positions, triangles) =
                    sheet(|x, y| Vector3::new(x, y, depth * (x + phase).sin()));
                for (position, shift) in positions.iter_mut().zip(&shift) {
                    *position += shift;
                }
                (positions, triangles)
            };
            let ((start, triangles), (end, _)) = (drawn(), drawn());
            let clearance = random.between(0.0, 0.2);
            let mut least = f64::INFINITY;
            for step in 0..=8 {
                let time = f64::from(step) / 8.0;
                let now: Vec<_> = (start.iter().zip(&end))
                    .map(|(start, end)| start.lerp(end, time))
                    .collect();
                least = least.min(smallest_gap(&now, &triangles));
            }
            let holds = Spread::new(&triangles).holds(&start, &end, clearance);
            assert!(!holds || least >= clearance, "{least} below {clearance}");
            held += u32::from(holds);
            close += u32::from(least < clearance);
        }
        assert!(held > 20 && close > 20, "{held} held, {close} close");
    }

    #[test]
    fn a_belly_is_spread_out_and_a_hairpin_is_not() {
        let (belly, triangles) = sheet(|x, y| Vector3::new(x, y, 3.0 - 0.4 * (x - 2.5).powi(2)));
        let mut test = Spread::new(&triangles);
        assert!(test.holds(&belly, &belly, 0.1));
        assert!(!test.holds(&belly, &belly, 0.9));
        // Another turn of the same motion, carried along.
        let moved: Vec<_> = belly.iter().map(|x| x + Vector3::z() * 40.0).collect();
        assert!(test.holds(&belly, &moved, 0.1));
        let (hairpin, _) = sheet(|x, y| Vector3::new((x - 2.4).abs(), y, 0.05 * x));
        assert!(!test.holds(&hairpin, &hairpin, 0.0));
        assert!(!test.holds(&belly, &hairpin, 0.0));
        // Two triangles of a slit, with nothing but air between their edges.
        let slit = [[0, 1, 2], [0, 2, 3], [0, 3, 4]];
        let fan = |gap: f64| -> Vec<Vector3<f64>> {
            [0.0, 2.0, 4.0, 6.0 - gap]
                .iter()
                .map(|turn: &f64| Vector3::new(turn.cos(), turn.sin(), 0.0))
                .fold(vec![Vector3::zeros()], |mut all, place| {
                    all.push(place);
                    all
                })
        };
        let mut test = Spread::new(&slit);
        assert!(test.holds(&fan(0.0), &fan(0.0), 0.1));
        assert!(!test.holds(&fan(0.0), &fan(0.0), 0.3));
        // A closed surface, and none.
        let closed = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
        assert!(!Spread::new(&closed).holds(&belly, &belly, 0.0));
        assert!(!Spread::new(&[]).holds(&belly, &belly, 0.0));
    }
}
