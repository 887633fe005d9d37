//! Parts of a surface that are spread out, in which nothing can touch: most of a sheet, most of the time.
//!
//! Without them nearly all the search for contacts of a sheet with itself goes into triangles that have a vertex in common.

use nalgebra::Vector3;

use crate::Real;
use crate::kernel::broad_phase::{BoundingTree, Volume};
use crate::kernel::normal_cone::Spread;

/// Triangles of a patch, at most. The test of a patch takes time with the square of its rim, so that there is a best size.
const LARGEST: usize = 64;

/// The patches of a surface. Each is tested together with the triangles around it, so that of any two triangles with a common
/// vertex both are seen by one of the tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    list: Vec<Spread>,
    /// The patch of each triangle.
    of_triangle: Vec<u32>,
    /// For each patch and all triangles in its test: triangle and patch, ascending.
    seen: Vec<[u32; 2]>,
    /// Where the patches of a triangle start among those, and one more.
    firsts: Vec<u32>,
    /// Whether a patch, with what is around it, is spread out.
    are_spread: Vec<bool>,
}

impl Patches {
    /// The patches of the triangles that a tree holds.
    pub fn new<V: Volume>(triangles: &[[u32; 3]], tree: &BoundingTree<V>) -> Self {
        let mut around: Vec<[u32; 2]> = (0..)
            .zip(triangles)
            .flat_map(|(triangle, corners)| corners.map(|vertex| [vertex, triangle]))
            .collect();
        around.sort_unstable();
        let mut patches = Self {
            of_triangle: vec![0; triangles.len()],
            ..Self::default()
        };
        for (patch, members) in (0..).zip(tree.groups(LARGEST)) {
            let mut together: Vec<u32> = Vec::new();
            for &member in members {
                patches.of_triangle[member as usize] = patch;
                for vertex in triangles[member as usize] {
                    let first = around.partition_point(|&[other, _]| other < vertex);
                    let neighbours = around[first..]
                        .iter()
                        .take_while(|&&[other, _]| other == vertex);
                    together.extend(neighbours.map(|&[_, triangle]| triangle));
                }
            }
            together.sort_unstable();
            together.dedup();
            let corners: Vec<_> = together
                .iter()
                .map(|&triangle| triangles[triangle as usize])
                .collect();
            patches.list.push(Spread::new(&corners));
            patches
                .seen
                .extend(together.iter().map(|&triangle| [triangle, patch]));
        }
        patches.seen.sort_unstable();
        let first = |triangle| patches.seen.partition_point(|&[other, _]| other < triangle) as u32;
        patches.firsts = (0..=triangles.len() as u32).map(first).collect();
        patches.are_spread = vec![false; patches.list.len()];
        patches
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Finds out which patches keep all features without a common vertex at the clearance, m, on the way of the vertices of
    /// the body from start to end.
    pub fn update(&mut self, start: &[Vector3<Real>], end: &[Vector3<Real>], clearance: f64) {
        for (patch, is_spread) in self.list.iter_mut().zip(&mut self.are_spread) {
            *is_spread = patch.holds(start, end, clearance);
        }
    }

    /// Whether these triangles, neighbours in the tree, are of one patch that is spread out.
    pub fn are_clear(&self, members: &[u32]) -> bool {
        let patch = self.of_triangle[members[0] as usize];
        members.len() <= LARGEST && self.are_spread[patch as usize]
    }

    /// Whether two triangles are in one test of a patch that is spread out.
    pub fn is_clear(&self, pair: [u32; 2]) -> bool {
        let [first, second] = pair.map(|triangle| {
            let [first, end] =
                [triangle, triangle + 1].map(|place| self.firsts[place as usize] as usize);
            &self.seen[first..end]
        });
        first.iter().any(|&[_, patch]| {
            self.are_spread[patch as usize] && second.iter().any(|&[_, other]| other == patch)
        })
    }
}
