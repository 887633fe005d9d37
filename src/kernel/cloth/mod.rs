//! Cloth: membranes of triangles and the gas that a closed one holds.

pub mod membrane;
pub mod pressure;
pub mod strain;
pub mod tangent;
pub mod triangle;

#[cfg(test)]
mod checks;
