//! Contact of triangle surfaces: distances, guarantees against crossing, times of impact, and responses.
//!
//! Surfaces of triangles touch by two kinds of pairs, a vertex with a face and an edge with an edge
//! ([`PairKind`]). Both have four vertices, so that most functions here take these with the kind. Positions are in m.

pub mod coplanarity;
pub mod edge_edge;
pub mod friction;
pub mod gap_event;
mod pair;
pub mod penalty;
pub mod separating_plane;
pub mod straight_paths;
pub mod time_of_impact;
pub mod truncation;
pub mod vertex_face;

#[cfg(test)]
mod certificate;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod truncation_tests;

pub use pair::{ClosestPoints, PairKind};
