//! Which boxes overlap: the broad phase of contact.
//!
//! ```text
//! BoundingTree     a tree of boxes, built once along a space-filling curve, refitted when boxes move: the default
//! MovingBounds     boxes of what moves along straight lines: what moves together does not overlap for that
//! SweepAndPrune    sorted ends of the boxes on the three axes, kept sorted by insertion       [000 §7.1]
//! ```
//! Both give the same pairs in the same order: ascending, the smaller index first. So what comes after does not depend on
//! which of them ran, nor on the history of the tree. Boxes are closed; a box with a coordinate that is not a number
//! overlaps nothing and hides nothing. After the first call with the largest number of boxes and pairs nothing is
//! allocated any more.

mod sweep_and_prune;
mod tree;
mod volume;

#[cfg(test)]
mod tests;

pub use sweep_and_prune::SweepAndPrune;
pub use tree::BoundingTree;
pub use volume::{MovingBounds, Volume};

pub use super::proximity::truncation::Bounds;

/// The pair of two indices, the smaller one first.
#[inline]
fn ordered(first: u32, second: u32) -> [u32; 2] {
    [first.min(second), first.max(second)]
}
