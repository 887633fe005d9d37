//! The gallery: every scene of the project, in a window or headless.
//!
//! ```text
//! cargo run --release --example gallery -- torus
//! cargo run --release --example gallery -- --list
//! ```

mod decorate;
mod energy_plot;
mod frames;
mod grab;
mod headless;
mod options;
mod panel;
mod plot;
mod record;
#[path = "../scenes/mod.rs"]
mod scenes;
mod stage;
mod window;

use std::process::ExitCode;

use clap::Parser;
use options::{Options, Plan};

/// Exit code for arguments and files that cannot be used.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    if options.list {
        for scene in scenes::SCENES {
            println!("{:<10} {}", scene.name, scene.about);
        }
        return ExitCode::SUCCESS;
    }
    let mut plan = match Plan::new(&options) {
        Ok(plan) => plan,
        Err(message) => return refuse(&message),
    };
    if !plan.headless && !display_exists() {
        println!("No display (neither DISPLAY nor WAYLAND_DISPLAY is set): running headless.");
        plan.headless = true;
    }
    if plan.headless {
        match headless::run(&plan) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(message) => refuse(&message),
        }
    } else {
        window::run(&options, plan.scene)
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(BAD_INPUT)
}

/// Whether a window can be opened: elsewhere than on Linux there always is a display.
fn display_exists() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
