//! Sweep and prune on three axes.

use super::ordered;
use crate::kernel::proximity::truncation::Bounds;
use crate::kernel::scalar::{Single, real};

/// Exchanges per end of a box, in one update, from which sorting anew is cheaper.
const MOST_EXCHANGES: usize = 32;

/// Where a box starts or stops on an axis.
#[derive(Clone, Copy, Debug)]
struct End<T> {
    value: T,
    owner: u32,
    /// Starts come before stops at the same place: boxes are closed.
    is_stop: bool,
}

impl<T: Single> End<T> {
    fn is_after(&self, other: &Self) -> bool {
        self.value > other.value || (self.value == other.value && self.is_stop && !other.is_stop)
    }
}

/// The broad phase of the first source: the ends of the boxes are kept sorted on the three axes.
///
/// Between two steps the order changes little, so that insertion sort takes linear time, and only pairs whose ends have
/// exchanged places can have changed. Pairs that overlap are a sorted list; the source's tables of bits, one entry for every
/// pair of boxes, would take gigabytes for a large cloth. Many boxes that move far at once are sorted anew.
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune<T> {
    axes: [Vec<End<T>>; 3],
    pairs: Vec<[u32; 2]>,
    /// Pairs whose ends have exchanged places.
    pub(super) touched: Vec<[u32; 2]>,
    /// Boxes that the sweep is inside of, or the new list of pairs: scratch.
    open: Vec<u32>,
    merged: Vec<[u32; 2]>,
}

impl<T: Single> SweepAndPrune<T> {
    /// All pairs of boxes that overlap, in ascending order, the smaller index first.
    ///
    /// Box i is taken as the box i of the last call that has moved; another number of boxes starts anew.
    ///
    /// Eq: `[000 §7.1]` (sweep and prune with insertion sort).
    pub fn update(&mut self, boxes: &[Bounds<T>]) -> &[[u32; 2]] {
        let ends = 2 * boxes.len();
        if self.axes[0].len() != ends {
            self.start(boxes);
            return &self.pairs;
        }
        self.touched.clear();
        let mut exchanges = 0;
        for axis in 0..3 {
            for end in &mut self.axes[axis] {
                end.value = value(&boxes[end.owner as usize], axis, end.is_stop);
            }
            exchanges += insertion_sort(
                &mut self.axes[axis],
                &mut self.touched,
                ends * MOST_EXCHANGES,
            );
            if exchanges > ends * MOST_EXCHANGES {
                self.start(boxes);
                return &self.pairs;
            }
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        self.merge(boxes);
        &self.pairs
    }

    /// Sorts anew and sweeps along the first axis.
    fn start(&mut self, boxes: &[Bounds<T>]) {
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.clear();
            for (owner, bounds) in (0..).zip(boxes) {
                for is_stop in [false, true] {
                    let value = value(bounds, axis, is_stop);
                    ends.push(End {
                        value,
                        owner,
                        is_stop,
                    });
                }
            }
            ends.sort_unstable_by(|a, b| {
                let by_value = a
                    .value
                    .partial_cmp(&b.value)
                    .unwrap_or(std::cmp::Ordering::Equal);
                by_value
                    .then(a.is_stop.cmp(&b.is_stop))
                    .then(a.owner.cmp(&b.owner))
            });
        }
        self.pairs.clear();
        self.open.clear();
        for end in &self.axes[0] {
            if end.is_stop {
                self.open.retain(|&open| open != end.owner);
                continue;
            }
            let bounds = &boxes[end.owner as usize];
            for &other in &self.open {
                if bounds.overlaps(&boxes[other as usize]) {
                    self.pairs.push(ordered(end.owner, other));
                }
            }
            self.open.push(end.owner);
        }
        self.pairs.sort_unstable();
    }

    /// Looks at the known pairs and the touched ones again; no other can overlap.
    fn merge(&mut self, boxes: &[Bounds<T>]) {
        let overlap = |pair: &[u32; 2]| boxes[pair[0] as usize].overlaps(&boxes[pair[1] as usize]);
        self.merged.clear();
        let mut touched = self.touched.iter().peekable();
        for pair in &self.pairs {
            while let Some(new) = touched.next_if(|touched| *touched < pair) {
                if overlap(new) {
                    self.merged.push(*new);
                }
            }
            touched.next_if_eq(&pair);
            // Without an exchange only a number that is none any more changes anything.
            if overlap(pair) {
                self.merged.push(*pair);
            }
        }
        for new in touched {
            if overlap(new) {
                self.merged.push(*new);
            }
        }
        std::mem::swap(&mut self.pairs, &mut self.merged);
    }
}

/// The end of a box on an axis; what is not a number is at infinity, where it disturbs nobody's order.
fn value<T: Single>(bounds: &Bounds<T>, axis: usize, is_stop: bool) -> T {
    let value = if is_stop {
        bounds.maximum[axis]
    } else {
        bounds.minimum[axis]
    };
    if value.partial_cmp(&value).is_some() {
        value
    } else {
        real(f64::INFINITY)
    }
}

/// Sorts ends, notes whose have exchanged places, and returns how many times; stops above `most`.
fn insertion_sort<T: Single>(
    ends: &mut [End<T>],
    touched: &mut Vec<[u32; 2]>,
    most: usize,
) -> usize {
    let mut exchanges = 0;
    for sorted in 1..ends.len() {
        let end = ends[sorted];
        let mut place = sorted;
        while place > 0 && ends[place - 1].is_after(&end) {
            let other = ends[place - 1];
            // Two starts or two stops may pass each other without any change.
            if other.is_stop != end.is_stop && other.owner != end.owner {
                touched.push(ordered(other.owner, end.owner));
            }
            ends[place] = other;
            place -= 1;
            exchanges += 1;
        }
        ends[place] = end;
        if exchanges > most {
            break;
        }
    }
    exchanges
}
