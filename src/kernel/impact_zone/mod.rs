//! Zones of vertices whose contacts cannot be treated one after the other.
//!
//! Impulses of single pairs undo each other where many pairs meet. Vertices whose pairs share vertices make a **zone**
//! ([`DisjointSets`]), and a zone is treated as a whole:
//!
//! 1. [`InelasticProjection`] `[Harmon 2008]`: the smallest change of the velocities that stops all approach at once. What
//!    slides keeps sliding. A few rounds of finding contacts and projecting, while zones grow and merge.
//! 2. [`RigidStep`] `[Bridson 2002]`: the zone moves as a rigid body, so that nothing in it can meet. Folds freeze, so
//!    this comes last. It must be the exact motion: vertices moved along their velocities at the start of a rotation
//!    spread apart.
//! 3. [`RigidStep::REST`]: the zone stays where it is.
//!
//! [`RigidVelocity::provot`] is the zone of `[Provot 1997]`, with its error.

mod constraint;
mod disjoint_sets;
mod inelastic;
mod pivoted_cholesky;
mod rigid_step;
mod rigid_velocity;

pub use constraint::ZoneConstraint;
pub use disjoint_sets::DisjointSets;
pub use inelastic::{InelasticProjection, ProjectionReport};
pub use pivoted_cholesky::PivotedCholesky;
pub use rigid_step::RigidStep;
pub use rigid_velocity::RigidVelocity;
