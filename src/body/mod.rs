//! What a deformable body is: its components.
//!
//! ```text
//! Solid (mesh)  ── built once into ──▶  Particles ─ requires ─▶ Transform, PliantState, BodyFrame
//!   requires PliantMaterial, SurfaceProperties, InitialMotion          Tetrahedra   elastic elements
//!                                                                Surface      boundary triangles, texture coordinates
//!                                                       optional Pins, AirDrag   held particles, air
//! ```
//!
//! One entity is one body. A stage of the [tick](crate::step) works on the bodies that have its component and
//! skips the rest.

pub(crate) mod drag;
pub(crate) mod fabric;
pub(crate) mod material;
pub(crate) mod particles;
pub(crate) mod pins;
pub(crate) mod solid;
pub(crate) mod state;
pub(crate) mod surface;
pub(crate) mod tetrahedra;

pub use drag::AirDrag;
pub use fabric::{Fabric, FabricError};
pub use material::{ElasticModel, MaterialError, PliantMaterial};
pub use particles::Particles;
pub use pins::{Pin, PinAnchor, Pins};
pub use solid::{InitialMotion, Solid, SolidError};
pub use state::{BodyFrame, Energies, PliantState, Quarantined, SolverReport};
pub use surface::{Surface, SurfaceProperties};
pub use tetrahedra::Tetrahedra;

pub(crate) use solid::plugin;
