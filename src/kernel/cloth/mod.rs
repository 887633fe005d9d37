//! Cloth: membranes, springs and hinges, what a closed one holds, and what folds a plane one.
//!
//! Each element has an energy with its force and a positive semidefinite stiffness, and a damping in two forms: as a
//! function of velocities, and over an implicit stage, where it is an energy of the positions as well.

pub mod half_angle;
pub mod hinge;
pub mod membrane;
pub mod mixed;
pub mod pressure;
pub mod spring;
pub mod strain;
pub mod strain_limit;
pub mod tangent;
pub mod triangle;
pub mod wrinkles;

#[cfg(test)]
mod checks;
