//! Tests of the library as a user sees it: physics against closed forms, faults, determinism, house rules.
//!
//! One binary, so that Bevy is linked once. Reference data that is not part of the project is read from the folder in
//! `PLIANT_DATA` (or `../shared/data` beside the project); tests that need it say so when it is absent.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set itself up must fail"
)]

#[path = "../../examples/scenes/mod.rs"]
mod scenes;

mod balloon;
mod bending;
mod catenary;
mod cloth;
mod colliders;
mod contact;
mod contact_methods;
mod determinism;
mod drag;
mod drape;
mod faults;
mod free_flight;
mod friction;
mod gallery;
mod house_rules;
mod implicit;
mod integrators;
mod materials;
mod mixed;
mod painted_pins;
mod real_meshes;
mod rotation;
mod support;
mod tearing;
mod vibration;
mod wind;
