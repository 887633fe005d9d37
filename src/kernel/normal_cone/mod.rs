//! When a part of a surface cannot meet itself, so that its pairs need no test.
//!
//! A surface all of whose normals n satisfy n·V > 0 for one direction V is locally a graph over the plane across V. It
//! is a graph as a whole, and so meets itself nowhere, if besides its boundary, projected along V, does not
//! ([`contour_is_simple`]). The first test alone ([`NormalCone::excludes_folds`]) is not enough: a ramp that winds round
//! twice has nearly one normal everywhere, and can still cross itself.
//!
//! Why both are enough: the number of points of the surface above a point of the plane is the sum of the winding numbers
//! of the projected boundary loops around it, as all triangles lie the same way round. Loops that meet neither
//! themselves nor each other, of which only one winds in the positive sense (others are holes), sum to one or zero.
//! Neither one piece nor a disc is required; two sheets one above the other have two positive loops.
//!
//! Both tests are made for triangles that move along straight lines over a step, and hold at all times of it; for a
//! moment, give the same positions twice. They are conservative: rounding makes them say no. **What they do not
//! exclude** is coming close: two steep folds of a graph may be nearer than a thickness, so repulsion must still look.
//! Nor do they say anything about two parts of a surface with each other, unless the tests hold for both together.
//! [`Spread`] asks for more, and then also excludes coming close.
//!
//! Cones of half-angle near 90° cost more than they save; 80° and 64 triangles are a reasonable end.

mod boundary;
mod cone;
mod contour;
mod spread;
mod triangle;

#[cfg(test)]
mod tests;

pub use boundary::boundary_edges;
pub use cone::NormalCone;
pub use contour::contour_is_simple;
pub use spread::Spread;
