//! Scenes: one description each, run alike by the gallery (window and headless), the tests and the benches.
//!
//! ```text
//! Scene ── install(world) ──▶ entities with physics components + SceneColor / Prop
//!   │                              │ tick by tick
//!   │                              ▼
//!   └─ check(record) ◀── Record of Rows (energies, momenta, samples of the scene)
//! ```
//!
//! A scene spawns physics components and two plain hints for whoever draws it ([`SceneColor`], [`Prop`]); it
//! knows nothing of meshes, lights or cameras. Users of this folder include it by `#[path]`.

#![allow(
    dead_code,
    reason = "each program that includes the scenes uses a part of them"
)]
#![allow(
    unused_imports,
    reason = "each program that includes the scenes uses a part of them"
)]

mod air;
mod balloon;
mod bar;
mod crossings;
mod curtain;
mod drape;
mod fabric;
mod fabrics;
mod flag;
mod flag_hang;
mod flag_release;
mod flag_wind;
mod hammock;
mod harmonic;
mod jelly;
mod measure;
mod mesh;
mod pendulum;
mod pile;
mod props;
mod record;
mod run;
mod sail;
mod scene;
mod settings;
mod snapshot;
mod statics;
mod stiffness;
mod tear;
mod torture;
mod torus;
mod tower;
mod tumble;

pub use air::wind_force;
pub use crossings::crossings;
pub use props::{Prop, PropShape, SceneColor, SceneEntity};
pub use record::{Check, Outcome, Record, Row};
pub use run::{Run, add_physics, headless_app, install, run_headless, task_pools};
pub use scene::{Scene, SceneError, Viewpoint};
pub use settings::{Parameter, Settings};
pub use snapshot::{Shell, Snapshot};

/// Every scene, in the order in which the gallery lists them.
pub const SCENES: &[Scene] = &[
    torus::SCENE,
    bar::SCENE,
    jelly::SCENE,
    mesh::SCENE,
    pendulum::SCENE,
    stiffness::SCENE,
    torture::SCENE,
    tumble::SCENE,
    tower::SCENE,
    balloon::SCENE,
    tear::SCENE,
    flag_wind::SCENE,
    sail::SCENE,
    curtain::SCENE,
    flag_hang::SCENE,
    flag_release::SCENE,
    drape::SCENE,
    fabrics::SCENE,
    pile::SCENE,
    hammock::SCENE,
];

/// The scene of that name.
pub fn find(name: &str) -> Option<&'static Scene> {
    SCENES.iter().find(|scene| scene.name == name)
}
