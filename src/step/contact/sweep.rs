//! Sweep and prune in place of the trees of the bodies.

use nalgebra::Vector3;

use super::bodies::Bodies;
use crate::Real;
use crate::kernel::broad_phase::{Bounds, SweepAndPrune, Volume};

/// Sweep and prune over the triangles of all bodies.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// Whether it takes the place of the trees.
    pub is_on: bool,
    ways: SweepAndPrune<Real>,
    /// Boxes around the ways of all triangles.
    boxes: Vec<Bounds<Real>>,
    /// The body of each box, and its triangle.
    owners: Vec<[u32; 2]>,
    /// Bodies, then triangles, of the pairs; ascending.
    found: Vec<[u32; 4]>,
}

impl Sweep {
    /// Finds the pairs of triangles of those bodies that are needed; the others' boxes are not up to date.
    pub fn find(&mut self, bodies: &Bodies, is_needed: impl Fn(u32) -> bool) {
        self.boxes.clear();
        self.owners.clear();
        let nowhere = Bounds {
            minimum: Vector3::repeat(Real::NAN),
            maximum: Vector3::repeat(Real::NAN),
        };
        for (index, body) in (0..).zip(&bodies.list) {
            let is_needed = is_needed(index);
            for triangle in 0..body.shape.triangles.len() {
                self.owners.push([index, triangle as u32]);
                self.boxes.push(if is_needed {
                    let moving = &body.boxes[triangle];
                    Volume::union(&moving.start, &moving.end)
                } else {
                    nowhere
                });
            }
        }
        let pairs = self.ways.update(&self.boxes).iter();
        self.found.clear();
        self.found.extend(pairs.map(|pair| {
            let [[first, a], [second, b]] = pair.map(|place| self.owners[place as usize]);
            [first, second, a, b]
        }));
        self.found.sort_unstable();
    }

    /// The pairs of triangles of two bodies, or of one with itself.
    pub fn pairs_of(&self, bodies: [u32; 2], triangles: &mut Vec<[u32; 2]>) {
        let first = self
            .found
            .partition_point(|&[first, second, ..]| [first, second] < bodies);
        let pairs = self.found[first..]
            .iter()
            .take_while(|&&[first, second, ..]| [first, second] == bodies);
        triangles.clear();
        triangles.extend(pairs.map(|&[_, _, a, b]| [a, b]));
    }
}
