//! Responses to contact by impulses and by temporary springs.
//!
//! All act on a pair of features ([`PairKind`](super::proximity::PairKind)) through its four weights: what happens at
//! the closest points is shared by the vertices, each in proportion to its weight, and pinned vertices do not give way.
//!
//! | response | momentum | angular momentum | energy | crossing |
//! |---|---|---|---|---|
//! | [`bridson`] `[Bridson 2002]` | kept | kept by the normal part; friction across a gap has a torque | falls, but for the spring | impulses of one pair only: iterate, then zones |
//! | [`provot`] `[Provot 1997]` | along the normal only | not kept | falls for k_d ≤ 1, in the frame of the pair | not prevented |
//! | [`coulomb`] `[000 Appendix A]` | kept | as Bridson's | falls for e ≤ 1 | as Bridson's |
//! | [`contact_spring`] `[000 §7.4]` | kept | kept | stored in the spring, lost to sliding | allowed: springs need penetration |
//!
//! "Kept" is up to rounding and for pairs without pinned vertices; a pin takes up what it must.

pub mod bridson;
pub mod contact_spring;
pub mod coordinates;
pub mod coulomb;
pub mod nearest_face;
mod pair_contact;
pub mod provot;

#[cfg(test)]
mod checks;

pub use pair_contact::{PairContact, contact_normal};
