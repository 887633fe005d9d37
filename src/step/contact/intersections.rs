//! Triangles that intersect already: these pairs are exempt, or nothing could ever take them apart. Of two bodies that
//! intersect everything is: what is inside would be pushed further in, and what has to come out would be kept from it.

use nalgebra::Vector3;

use super::bodies::Bodies;
use super::candidates::{Candidates, Pair, places};
use crate::kernel::proximity::PairKind;
use crate::kernel::proximity::straight_paths::separating_direction;

/// Pairs of features that are not held apart.
#[derive(Debug, Default)]
pub(super) struct Exempt {
    /// Ascending.
    pairs: Vec<Pair>,
    /// Bodies that intersect, ascending.
    bodies: Vec<[u32; 2]>,
}

impl Exempt {
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.bodies.clear();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub fn contains(&self, bodies: &Bodies, pair: &Pair) -> bool {
        if self.is_empty() {
            return false;
        }
        let owners = [pair.vertices[0], pair.vertices[3]];
        self.bodies
            .binary_search(&owners_of(bodies, owners))
            .is_ok()
            || self.pairs.binary_search(&normalized(pair)).is_ok()
    }

    /// Finds out which triangles intersect at the start, and exempts all pairs of their features; and counts them for
    /// their bodies.
    pub fn find(&mut self, bodies: &mut Bodies, candidates: &Candidates) {
        self.clear();
        for &[first, second] in &candidates.overlaps {
            let shares = first.iter().any(|vertex| second.contains(vertex));
            if !intersect(bodies, first, second, shares) {
                continue;
            }
            let owners = owners_of(bodies, [first[0], second[0]]);
            if owners[0] != owners[1] {
                self.bodies.push(owners);
            }
            for triangle in [first, second] {
                let body = bodies.owner[triangle[0] as usize] as usize;
                bodies.list[body].report.intersections += 1;
                if bodies.owner[first[0] as usize] == bodies.owner[second[0] as usize] {
                    break;
                }
            }
            for (one, [a, b, c]) in [(first, second), (second, first)] {
                self.pairs.extend(one.map(|vertex| Pair {
                    kind: PairKind::VertexFace,
                    vertices: [vertex, a, b, c],
                }));
            }
            for i in 0..3 {
                for j in 0..3 {
                    let pair = Pair {
                        kind: PairKind::EdgeEdge,
                        vertices: [first[i], first[(i + 1) % 3], second[j], second[(j + 1) % 3]],
                    };
                    self.pairs.push(pair);
                }
            }
        }
        // Features that touch without crossing, such as both sides of a new tear.
        for pair in &candidates.pairs {
            let start = places(&bodies.start, pair);
            if separating_direction(pair.kind, &start).is_none() {
                self.pairs.push(*pair);
            }
        }
        for pair in &mut self.pairs {
            *pair = normalized(pair);
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.bodies.sort_unstable();
        self.bodies.dedup();
    }
}

/// The bodies of two vertices, ascending.
fn owners_of(bodies: &Bodies, vertices: [u32; 2]) -> [u32; 2] {
    let mut owners = vertices.map(|vertex| bodies.owner[vertex as usize]);
    owners.sort_unstable();
    owners
}

/// The same pair of features, always written alike.
fn normalized(pair: &Pair) -> Pair {
    let mut vertices = pair.vertices;
    match pair.kind {
        PairKind::VertexFace => vertices[1..].sort_unstable(),
        PairKind::EdgeEdge => {
            vertices[..2].sort_unstable();
            vertices[2..].sort_unstable();
            if vertices[..2] > vertices[2..] {
                vertices.rotate_left(2);
            }
        }
    }
    Pair { vertices, ..*pair }
}

/// Whether an edge of one triangle goes through the other.
fn intersect(bodies: &Bodies, first: [u32; 3], second: [u32; 3], shares: bool) -> bool {
    let place = |vertex: u32| bodies.start[vertex as usize].cast::<f64>();
    [(first, second), (second, first)]
        .iter()
        .any(|&(edges, face)| {
            (0..3).any(|side| {
                let ends = [edges[side], edges[(side + 1) % 3]];
                // An edge touches the faces that it shares an end with.
                if shares && ends.iter().any(|end| face.contains(end)) {
                    return false;
                }
                pierces(&ends.map(place), &face.map(place))
            })
        })
}

/// Whether a segment goes through a triangle, or touches it, in double precision.
fn pierces(segment: &[Vector3<f64>; 2], face: &[Vector3<f64>; 3]) -> bool {
    let volume = |a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>, d: &Vector3<f64>| {
        (b - a).cross(&(c - a)).dot(&(d - a))
    };
    let [p, q] = segment;
    let [a, b, c] = face;
    let sides = [volume(a, b, c, p), volume(a, b, c, q)];
    if sides[0] * sides[1] > 0.0 || sides[0] == sides[1] {
        return false;
    }
    let around = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    around.iter().all(|&volume| volume >= 0.0) || around.iter().all(|&volume| volume <= 0.0)
}
