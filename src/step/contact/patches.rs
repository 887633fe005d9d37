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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::broad_phase::MovingBounds;
    use crate::kernel::testing::{gap, grid};

    const SIDE: u32 = 24;

    /// A square sheet with unit cells, rolled up to that radius.
    fn sheet(radius: f64) -> (Vec<Vector3<Real>>, Vec<[u32; 3]>) {
        let side = f64::from(SIDE);
        let sheet = grid(SIDE, SIDE, |x, y| {
            let angle = side * x / radius;
            Vector3::new(radius * angle.sin(), side * y, radius * (1.0 - angle.cos()))
        });
        let stored = |place: &Vector3<f64>| place.map(|coordinate| coordinate as Real);
        (
            sheet.positions.iter().map(stored).collect(),
            sheet.triangles,
        )
    }

    fn patches_of(places: &[Vector3<Real>], triangles: &[[u32; 3]]) -> Patches {
        let boxes: Vec<_> = triangles
            .iter()
            .map(|corners| {
                let [a, b, c] = corners.map(|corner| {
                    let place = &places[corner as usize];
                    MovingBounds::of_move(place, place, 0.0)
                });
                a.union(&b).union(&c)
            })
            .collect();
        let mut tree = BoundingTree::default();
        tree.build(&boxes);
        Patches::new(triangles, &tree)
    }

    #[test]
    fn what_is_passed_over_keeps_its_distance() {
        let (flat, triangles) = sheet(1e4);
        let mut patches = patches_of(&flat, &triangles);
        for (radius, clearance) in [(1e4, 0.2), (20.0, 0.2), (2.5, 0.3), (0.6, 0.3), (0.3, 0.1)] {
            let (places, _) = sheet(radius);
            patches.update(&places, &places, clearance);
            let exact: Vec<Vector3<f64>> = places.iter().map(|place| place.cast()).collect();
            let mut passed = 0;
            for first in 0..triangles.len() as u32 {
                for second in first + 1..triangles.len() as u32 {
                    if !patches.is_clear([first, second]) {
                        continue;
                    }
                    passed += 1;
                    let pair = [first, second].map(|triangle| triangles[triangle as usize]);
                    let gap = gap(&exact, pair);
                    assert!(gap >= clearance, "radius {radius}: {pair:?} at {gap}");
                }
            }
            assert!(radius < 10.0 || passed > 10_000, "{passed} passed over");
            assert!(radius > 1.0 || passed == 0, "{passed} passed over");
        }
    }

    #[test]
    fn triangles_with_a_common_vertex_are_in_one_test() {
        let (flat, triangles) = sheet(1e4);
        let mut patches = patches_of(&flat, &triangles);
        patches.update(&flat, &flat, 0.2);
        let share = |[first, second]: [u32; 2]| {
            let [first, second] = [first, second].map(|triangle| triangles[triangle as usize]);
            first.iter().any(|vertex| second.contains(vertex))
        };
        for first in 0..triangles.len() as u32 {
            for second in 0..first {
                assert!(!share([second, first]) || patches.is_clear([second, first]));
            }
        }
    }
}
