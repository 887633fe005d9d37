//! Cloth: springs along edges, and hinges between triangles.
//!
//! Each element has an energy with its force and a positive semidefinite stiffness, and a damping in two forms: as a
//! function of velocities, and over an implicit stage, where it is an energy of the positions as well.

pub mod half_angle;
pub mod hinge;
pub mod spring;
