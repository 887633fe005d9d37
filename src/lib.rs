#![cfg_attr(feature = "rapier", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "rapier"),
    doc = "Deformable bodies for Bevy. The front page needs the feature `rapier`."
)]

pub mod kernel;

#[doc = include_str!("references.md")]
pub mod references {}

#[cfg(feature = "bevy")]
pub mod body;
#[cfg(feature = "bevy")]
pub mod colliders;
#[cfg(feature = "bevy")]
pub mod io;
#[cfg(feature = "bevy")]
pub mod mesh;
#[cfg(feature = "rapier")]
pub mod rapier;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "bevy")]
pub mod step;

/// The run-time scalar: `f32`, or `f64` with the feature `f64`.
#[cfg(not(feature = "f64"))]
pub type Real = f32;

/// The run-time scalar: `f32`, or `f64` with the feature `f64`.
#[cfg(feature = "f64")]
pub type Real = f64;

#[cfg(feature = "bevy")]
pub use step::state_hash;

/// Everything a game needs.
#[cfg(feature = "bevy")]
pub mod prelude {
    pub use crate::PliantPlugins;
    pub use crate::body::{
        Aerodynamic, AirDrag, AirFlow, BodyContact, Cloth, ClothModel, ContactReport, Cord,
        CouplingDirection, ElasticModel, Fabric, Filling, Hinges, InitialMotion, Membranes,
        Particles, Pin, PinAnchor, Pins, PliantMaterial, PliantState, PliantWind, Pressure,
        Quarantined, Solid, SolverReport, Springs, StrainLimit, Surface, SurfaceProperties,
        Tearing, Tetrahedra, Torn, WrinkleCoupling, Wrinkles,
    };
    pub use crate::mesh::{SheetPattern, TetrahedralMesh, TriangleMesh};
    #[cfg(feature = "rapier")]
    pub use crate::rapier::PliantRapierPlugin;
    #[cfg(feature = "render")]
    pub use crate::render::PliantRenderPlugin;
    pub use crate::step::{
        BroadPhase, ContactResponse, DampingRegime, DampingSolve, ImplicitScheme, Integrator,
        MassMatrix, PliantClock, PliantDiagnostics, PliantForces, PliantGravity, PliantPlugin,
        PliantStep, PliantStepSystems, PliantSystems, Substeps,
    };
}

#[cfg(feature = "bevy")]
mod plugins {
    bevy::app::plugin_group! {
        /// Everything: bodies and their tick, Rapier's colliders, render meshes.
        pub struct PliantPlugins {
            crate::step:::PliantPlugin,
            #[cfg(feature = "rapier")]
            crate::rapier:::PliantRapierPlugin,
            #[cfg(feature = "render")]
            crate::render:::PliantRenderPlugin,
        }
    }
}

#[cfg(feature = "bevy")]
pub use plugins::PliantPlugins;
