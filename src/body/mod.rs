//! What a deformable body is: its components.
//!
//! ```text
//! Solid (mesh)  ── built once into ──▶  Particles ─ requires ─▶ Transform, PliantState, BodyFrame
//!   requires PliantMaterial, SurfaceProperties, InitialMotion          Tetrahedra   elastic elements
//!                                                                Surface      boundary triangles, texture coordinates
//!                                                       optional Pins, AirDrag   held particles, air
//! Cloth (mesh)  ── built once into ──▶  Particles, Surface, and Membranes or Springs, Hinges
//!   requires Fabric, InitialMotion                      optional Pins, AirDrag, Aerodynamic   in the PliantWind
//! ```
//! Cord (rope)   ── built once into ──▶  Particles, Springs
//!
//! One entity is one body. A stage of the [tick](crate::step) works on the bodies that have its component and
//! skips the rest.

pub(crate) mod cloth;
pub(crate) mod contact;
pub(crate) mod coupling;
pub(crate) mod drag;
pub(crate) mod fabric;
pub(crate) mod hinges;
pub(crate) mod material;
pub(crate) mod membranes;
pub(crate) mod packed;
pub(crate) mod particles;
pub(crate) mod pins;
mod placement;
pub(crate) mod pressure;
pub(crate) mod rope;
pub(crate) mod solid;
pub(crate) mod springs;
pub(crate) mod state;
pub(crate) mod strain_limit;
pub(crate) mod surface;
pub(crate) mod tearing;
pub(crate) mod tetrahedra;
pub(crate) mod wind;

pub use cloth::{Cloth, ClothError, ClothModel, Wrinkles};
pub use contact::{BodyContact, ContactReport};
pub use coupling::{CouplingDirection, WrinkleCoupling};
pub use drag::AirDrag;
pub use fabric::{Fabric, FabricError};
pub use hinges::Hinges;
pub use material::{ElasticModel, MaterialError, PliantMaterial};
pub use membranes::Membranes;
pub use particles::Particles;
pub use pins::{Pin, PinAnchor, Pins};
pub use pressure::{Filling, Pressure};
pub use rope::Cord;
pub use solid::{InitialMotion, Solid, SolidError};
pub use springs::Springs;
pub use state::{BodyFrame, Energies, PliantState, Quarantined, SolverReport};
pub use strain_limit::{StrainLimit, StrainLimitError};
pub use surface::{Surface, SurfaceProperties};
pub use tearing::{Tearing, Torn};
pub use tetrahedra::Tetrahedra;
pub use wind::{Aerodynamic, AirFlow, PliantWind};

/// Bodies are built when what they are made from is inserted.
pub(crate) fn plugin(app: &mut bevy::app::App) {
    solid::plugin(app);
    cloth::plugin(app);
    rope::plugin(app);
    app.register_type::<WrinkleCoupling>()
        .register_type::<BodyContact>();
}
