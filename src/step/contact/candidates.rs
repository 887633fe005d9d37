//! The broad phase: which pairs of features may come near each other on straight ways.

use nalgebra::Vector3;

use super::bodies::{Bodies, Body};
use super::sweep::Sweep;
use super::watch::Watch;
use crate::Real;
use crate::kernel::broad_phase::{BoundingTree, MovingBounds, Volume};
use crate::kernel::proximity::PairKind;

/// Share of the largest coordinate by which boxes are larger than asked for: rounding, and the accuracy of times.
const SLACK: Real = 4e-6;

/// A vertex and a face, or two edges, by vertices of all bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::step) struct Pair {
    pub kind: PairKind,
    pub vertices: [u32; 4],
}

/// What the broad phase keeps from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The pairs: first of vertices and faces, then of edges; of one pair of bodies after another.
    pub pairs: Vec<Pair>,
    /// Corners of the triangles whose boxes overlap at the start.
    pub overlaps: Vec<[[u32; 3]; 2]>,
    /// Pairs of edges, before they follow those of vertices and faces.
    edges: Vec<Pair>,
    tree: BoundingTree<MovingBounds<Real>>,
    bounds: Vec<MovingBounds<Real>>,
    /// Bodies that are near each other, or themselves.
    neighbours: Vec<[u32; 2]>,
    triangles: Vec<[u32; 2]>,
    /// How long the pairs are kept.
    pub watch: Watch,
    pub sweep: Sweep,
}

/// A triangle with the boxes of its features.
struct Features<'a> {
    body: &'a Body,
    triangle: usize,
    vertices: [u32; 3],
    corners: [MovingBounds<Real>; 3],
    edges: [MovingBounds<Real>; 3],
}

impl Candidates {
    /// Finds the pairs that may come nearer than the sum of their bodies' margins on the way from the start to the target;
    /// `margin` of a body in m. With `with_overlaps` also the pairs of triangles whose boxes overlap at the start.
    pub fn find(
        &mut self,
        bodies: &mut Bodies,
        margin: impl Fn(&Body) -> Real,
        with_overlaps: bool,
    ) {
        self.pairs.clear();
        self.overlaps.clear();
        self.find_neighbours(bodies, &margin);
        for index in 0..bodies.list.len() {
            let neighbours = &self.neighbours;
            let needed = |pair: &[u32; 2]| pair.contains(&(index as u32));
            if neighbours.iter().any(needed) {
                bodies.refit(index, &margin);
            }
        }
        if self.sweep.is_on {
            let neighbours = &self.neighbours;
            let is_needed = |body| neighbours.iter().any(|pair| pair.contains(&body));
            self.sweep.find(bodies, is_needed);
        }
        let mut triangles = std::mem::take(&mut self.triangles);
        for place in 0..self.neighbours.len() {
            let [first, second] = self.neighbours[place].map(|index| index as usize);
            if first == second {
                bodies.find_patches(first, &margin);
            }
            if self.sweep.is_on {
                self.sweep.pairs_of(self.neighbours[place], &mut triangles);
                if first == second {
                    let patches = &bodies.list[first].patches;
                    triangles.retain(|&pair| !patches.is_clear(pair));
                }
            } else if first == second {
                let Body {
                    tree,
                    boxes,
                    patches,
                    ..
                } = &mut bodies.list[first];
                tree.overlaps_within(
                    boxes,
                    |members| patches.are_clear(members),
                    |pair| !patches.is_clear(pair),
                    &mut triangles,
                );
            } else {
                let (low, high) = bodies.list.split_at_mut(second);
                let (body, other) = (&mut low[first], &high[0]);
                body.tree
                    .overlaps_between(&body.boxes, &other.tree, &other.boxes, &mut triangles);
            }
            let (body, other) = (&bodies.list[first], &bodies.list[second]);
            for partners in triangles.chunk_by(|left, right| left[0] == right[0]) {
                let one = Features::new(body, partners[0][0] as usize);
                for &[a, b] in partners {
                    let [a, b] = [a as usize, b as usize];
                    if with_overlaps && body.boxes[a].start.overlaps(&other.boxes[b].start) {
                        self.overlaps
                            .push([body.vertices_of(a), other.vertices_of(b)]);
                    }
                    let two = Features::new(other, b);
                    one.pair_with(&two, &mut self.pairs, &mut self.edges);
                }
            }
        }
        self.pairs.append(&mut self.edges);
        self.triangles = triangles;
    }

    fn find_neighbours(&mut self, bodies: &Bodies, margin: &impl Fn(&Body) -> Real) {
        self.bounds.clear();
        for body in &bodies.list {
            self.bounds.push(bodies.bounds_of(body, margin(body)));
        }
        self.tree.build(&self.bounds);
        self.tree
            .overlaps_within(&self.bounds, |_| false, |_| true, &mut self.neighbours);
        let list = &bodies.list;
        self.neighbours.retain(|&[first, second]| {
            let [first, second] = [first, second].map(|index| &list[index as usize]);
            first.touches_bodies() && second.touches_bodies()
        });
        for (index, body) in (0..).zip(list) {
            if body.touches_itself() {
                self.neighbours.push([index, index]);
            }
        }
        self.neighbours.sort_unstable();
    }
}

/// The margin of a body with what rounding takes.
pub(super) fn with_slack(margin: Real, largest: Real) -> Real {
    margin + SLACK * largest.max(1.0)
}

impl<'a> Features<'a> {
    fn new(body: &'a Body, triangle: usize) -> Self {
        let vertices = body.vertices_of(triangle);
        let corners = body.shape.triangles[triangle].map(|corner| body.corners[corner as usize]);
        let edges = [0, 1, 2].map(|side| corners[side].union(&corners[(side + 1) % 3]));
        Self {
            body,
            triangle,
            vertices,
            corners,
            edges,
        }
    }

    fn pair_with(&self, other: &Self, pairs: &mut Vec<Pair>, edges: &mut Vec<Pair>) {
        self.vertices_with_face(other, pairs);
        other.vertices_with_face(self, pairs);
        for a in 0..3 {
            if !self.body.shape.owns_edge(self.triangle, a) {
                continue;
            }
            let [a0, a1] = [self.vertices[a], self.vertices[(a + 1) % 3]];
            for b in 0..3 {
                let [b0, b1] = [other.vertices[b], other.vertices[(b + 1) % 3]];
                let is_apart = a0 != b0 && a0 != b1 && a1 != b0 && a1 != b1;
                if is_apart
                    && other.body.shape.owns_edge(other.triangle, b)
                    && self.edges[a].overlaps(&other.edges[b])
                {
                    edges.push(Pair {
                        kind: PairKind::EdgeEdge,
                        vertices: [a0, a1, b0, b1],
                    });
                }
            }
        }
    }

    fn vertices_with_face(&self, face: &Self, pairs: &mut Vec<Pair>) {
        let bounds = face.edges[0].union(&face.corners[2]);
        for corner in 0..3 {
            let vertex = self.vertices[corner];
            if self.body.shape.owns_corner(self.triangle, corner)
                && !face.vertices.contains(&vertex)
                && self.corners[corner].overlaps(&bounds)
            {
                let [a, b, c] = face.vertices;
                pairs.push(Pair {
                    kind: PairKind::VertexFace,
                    vertices: [vertex, a, b, c],
                });
            }
        }
    }
}

/// Positions of the vertices of a pair in double precision, exactly the stored numbers.
pub(super) fn places(positions: &[Vector3<Real>], pair: &Pair) -> [Vector3<f64>; 4] {
    pair.vertices
        .map(|vertex| positions[vertex as usize].cast::<f64>())
}
