//! A binary tree of boxes.

use nalgebra::Vector3;

use super::{Volume, ordered};

/// Boxes in a leaf, at most.
const LEAF: usize = 4;

/// Growth of the cost since the tree was built, from which it is built again.
const LARGEST_GROWTH: f64 = 1.5;

/// Bits per axis of the place along the curve.
const BITS: u32 = 21;

/// A node of the tree; the first child of an inner one comes next in the list.
#[derive(Clone, Copy, Debug)]
struct Node<V> {
    bounds: V,
    /// The second child; zero for a leaf.
    second: u32,
    /// Where its boxes start in the order.
    first_box: u32,
    /// How many boxes it holds.
    count: u32,
}

impl<V> Node<V> {
    fn is_leaf(&self) -> bool {
        self.second == 0
    }
}

/// A tree of boxes, still ([`Bounds`](super::Bounds)) or moving ([`MovingBounds`](super::MovingBounds)): each node has the
/// smallest box around those below it.
///
/// Boxes are sorted along the curve of Morton and split where their places first differ, so that building takes one sort.
/// When boxes move, the nodes are refitted in one pass; when that has made the tree 1.5 times as costly to search as it
/// was when built, by the surface areas of its nodes, it is built again.
#[derive(Clone, Debug)]
pub struct BoundingTree<V> {
    nodes: Vec<Node<V>>,
    /// The boxes, by leaf.
    order: Vec<u32>,
    /// Places along the curve, and boxes: scratch.
    places: Vec<(u64, u32)>,
    /// Nodes still to be made, or pairs of nodes still to be looked at: scratch.
    stack: Vec<[u32; 2]>,
    /// Cost when the tree was built.
    built_cost: f64,
}

impl<V> Default for BoundingTree<V> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            order: Vec::new(),
            places: Vec::new(),
            stack: Vec::new(),
            built_cost: 0.0,
        }
    }
}

impl<V: Volume> BoundingTree<V> {
    /// Number of boxes.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no boxes.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The box around all boxes; none without any.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn bounds(&self) -> Option<V> {
        self.nodes.first().map(|root| root.bounds)
    }

    /// Builds the tree anew.
    ///
    /// Eq: `[Ericson 2005]` §6.2 (top-down construction), split along the curve of Morton (§7.1.3).
    pub fn build(&mut self, boxes: &[V]) {
        self.places.clear();
        self.order.clear();
        self.nodes.clear();
        let mut around: Option<V> = None;
        for bounds in boxes {
            around = Some(around.map_or(*bounds, |around| around.union(bounds)));
        }
        let Some(around) = around else {
            self.built_cost = 0.0;
            return;
        };
        for (index, bounds) in (0..).zip(boxes) {
            self.places.push((place(bounds, &around), index));
        }
        self.places.sort_unstable();
        self.order
            .extend(self.places.iter().map(|&(_, index)| index));
        // Ranges of boxes whose node comes next, with the node that waits for it as second child.
        self.stack.clear();
        let mut waiting = u32::MAX;
        let (mut first, mut end) = (0, boxes.len());
        loop {
            let index = self.nodes.len() as u32;
            if waiting != u32::MAX {
                self.nodes[waiting as usize].second = index;
            }
            self.nodes.push(Node {
                bounds: around,
                second: 0,
                first_box: first as u32,
                count: (end - first) as u32,
            });
            if end - first > LEAF {
                let middle = first + split(&self.places[first..end]);
                self.stack.push([index, end as u32]);
                (waiting, end) = (u32::MAX, middle);
                continue;
            }
            let Some([parent, last]) = self.stack.pop() else {
                break;
            };
            // The first child ends where the second starts.
            (waiting, first, end) = (parent, end, last as usize);
        }
        self.refit(boxes);
        self.built_cost = self.cost();
    }

    /// Takes over boxes that have moved: refits the tree, and builds it again if it has become costly or the number of
    /// boxes is another one. Returns whether it was built.
    ///
    /// Eq: `[Ericson 2005]` §6.6 (refitting); cost of `[Ericson 2005]` §6.2 (surface areas).
    pub fn update(&mut self, boxes: &[V]) -> bool {
        if self.order.len() == boxes.len() {
            self.refit(boxes);
            if self.cost() <= LARGEST_GROWTH * self.built_cost {
                return false;
            }
        }
        self.build(boxes);
        true
    }

    /// Takes over boxes that have moved, as many as before, and keeps the tree otherwise.
    ///
    /// Eq: `[Ericson 2005]` §6.6 (refitting).
    pub fn refit(&mut self, boxes: &[V]) {
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let bounds = if node.is_leaf() {
                let members = self.members(&node);
                members
                    .map(|member| boxes[member as usize])
                    .reduce(|a, b| a.union(&b))
            } else {
                let second = &self.nodes[node.second as usize].bounds;
                Some(self.nodes[index + 1].bounds.union(second))
            };
            if let Some(bounds) = bounds {
                self.nodes[index].bounds = bounds;
            }
        }
    }

    /// The boxes in groups of neighbours: of the largest nodes with at most so many boxes.
    ///
    /// Eq: elementary.
    pub fn groups(&self, largest: usize) -> impl Iterator<Item = &[u32]> {
        let mut end = 0;
        // A node comes before those below it.
        self.nodes.iter().filter_map(move |node| {
            let (first, count) = (node.first_box as usize, node.count as usize);
            (first >= end && count <= largest).then(|| {
                end = first + count;
                &self.order[first..end]
            })
        })
    }

    fn members<'a>(&'a self, node: &Node<V>) -> impl Iterator<Item = u32> + Clone + use<'a, V> {
        let first = node.first_box as usize;
        self.order[first..first + node.count as usize]
            .iter()
            .copied()
    }

    /// Surface areas of all nodes over that of the root.
    fn cost(&self) -> f64 {
        let all: f64 = self.nodes.iter().map(|node| node.bounds.area()).sum();
        let root = self.nodes.first().map_or(0.0, |root| root.bounds.area());
        if root > 0.0 { all / root } else { 0.0 }
    }

    /// All pairs of boxes of the tree that overlap.
    ///
    /// # Arguments
    /// * `boxes` – those that the tree was last built or updated with
    /// * `is_clear` – whether the pairs among the boxes of a node are of no interest
    /// * `is_wanted` – whether a pair is of interest
    /// * `pairs` – emptied, then filled in ascending order, the smaller index first
    ///
    /// Eq: `[Ericson 2005]` §6.3 (simultaneous descent).
    pub fn overlaps_within(
        &mut self,
        boxes: &[V],
        is_clear: impl Fn(&[u32]) -> bool,
        is_wanted: impl Fn([u32; 2]) -> bool,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push([0, 0]);
        let mut found = |member, other| {
            let pair = ordered(member, other);
            if is_wanted(pair) {
                pairs.push(pair);
            }
        };
        while let Some([a, b]) = stack.pop() {
            if a == b {
                let first = &self.nodes[a as usize];
                let start = first.first_box as usize;
                let all = &self.order[start..start + first.count as usize];
                if is_clear(all) {
                    continue;
                }
                if first.is_leaf() {
                    let mut others = all.iter().copied();
                    while let Some(member) = others.next() {
                        let bounds = &boxes[member as usize];
                        for other in others.clone() {
                            if bounds.overlaps(&boxes[other as usize]) {
                                found(member, other);
                            }
                        }
                    }
                } else {
                    let children = [a + 1, first.second];
                    stack.extend([[children[0]; 2], [children[1]; 2], children]);
                }
                continue;
            }
            self.descend([a, b], boxes, self, boxes, &mut stack, &mut found);
        }
        self.stack = stack;
        pairs.sort_unstable();
    }

    /// All pairs of a box of this tree and a box of another one that overlap.
    ///
    /// # Arguments
    /// * `boxes`, `other_boxes` – those that the trees were last built or updated with
    /// * `pairs` – emptied, then filled in ascending order: index in this tree, index in the other
    ///
    /// Eq: `[Ericson 2005]` §6.3 (simultaneous descent).
    pub fn overlaps_between(
        &mut self,
        boxes: &[V],
        other: &Self,
        other_boxes: &[V],
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        if self.nodes.is_empty() || other.nodes.is_empty() {
            return;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push([0, 0]);
        while let Some(nodes) = stack.pop() {
            self.descend(
                nodes,
                boxes,
                other,
                other_boxes,
                &mut stack,
                |member, partner| {
                    pairs.push([member, partner]);
                },
            );
        }
        self.stack = stack;
        pairs.sort_unstable();
    }

    /// Reports the overlapping boxes of two leaves, or puts off the children of the larger of two nodes that overlap.
    fn descend(
        &self,
        [a, b]: [u32; 2],
        boxes: &[V],
        other: &Self,
        other_boxes: &[V],
        stack: &mut Vec<[u32; 2]>,
        mut found: impl FnMut(u32, u32),
    ) {
        let (first, second) = (&self.nodes[a as usize], &other.nodes[b as usize]);
        if !first.bounds.overlaps(&second.bounds) {
            return;
        }
        if first.is_leaf() && second.is_leaf() {
            for member in self.members(first) {
                let bounds = &boxes[member as usize];
                for partner in other.members(second) {
                    if bounds.overlaps(&other_boxes[partner as usize]) {
                        found(member, partner);
                    }
                }
            }
        } else if second.is_leaf() || (!first.is_leaf() && first.count >= second.count) {
            stack.extend([[a + 1, b], [first.second, b]]);
        } else {
            stack.extend([[a, b + 1], [a, second.second]]);
        }
    }
}

/// Where a range of boxes, sorted along the curve, is split: where the highest bit of their places changes that is not the
/// same for all; in the middle where all have one place.
fn split(places: &[(u64, u32)]) -> usize {
    let count = places.len();
    let differing = places[0].0 ^ places[count - 1].0;
    if differing == 0 {
        return count / 2;
    }
    let highest = 63 - differing.leading_zeros();
    places
        .partition_point(|&(place, _)| place >> highest & 1 == 0)
        .clamp(1, count - 1)
}

/// The place of a box's center along the curve, within the box around all.
fn place<V: Volume>(bounds: &V, around: &V) -> u64 {
    let scale = f64::from(1_u32 << BITS);
    let (low, high) = around.corners();
    let (first, last) = bounds.corners();
    let center: Vector3<f64> = (first + last) * 0.5;
    let mut place = 0;
    for axis in 0..3 {
        let share = (center[axis] - low[axis]) / (high[axis] - low[axis]);
        // What is not a number becomes zero.
        let cell = ((share * scale) as u64).min((1 << BITS) - 1);
        place |= spread(cell) << axis;
    }
    place
}

/// The bits of a number, two zeros between each.
fn spread(number: u64) -> u64 {
    let mut bits = number & 0x1F_FFFF;
    bits = (bits | bits << 32) & 0x001F_0000_0000_FFFF;
    bits = (bits | bits << 16) & 0x001F_0000_FF00_00FF;
    bits = (bits | bits << 8) & 0x100F_00F0_0F00_F00F;
    bits = (bits | bits << 4) & 0x10C3_0C30_C30C_30C3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}
