//! A run without a window: progress on standard error, results in files, a summary on standard output.

use std::path::Path;

use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::tasks::ComputeTaskPool;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use crate::frames::{self, Picture};
use crate::options::Plan;
use crate::scenes::{Outcome, Record, Run, Shell, Snapshot, run_headless};
use crate::{plot, record};

/// Runs the plan and says whether the scene's check holds; the error is a message for the user.
///
/// The last line of standard output is one JSON object.
pub fn run(plan: &Plan) -> Result<bool, String> {
    log_to_standard_error();
    let (mut run, pictures) = simulate(plan)?;
    let outcome = (plan.scene.check)(&run.record, &plan.settings);
    write_outputs(plan, &mut run)?;
    if !pictures.is_empty() {
        match frames::draw(plan, &pictures) {
            Ok(()) => pictures.iter().for_each(|picture| tell_file(&picture.file)),
            Err(message) => println!("No pictures: {message}"),
        }
    }
    let hash = plan
        .hash
        .then(|| bevy_pliant::state_hash(run.app.world_mut()));
    for check in &outcome.checks {
        let verdict = if check.ok { "ok    " } else { "FAILED" };
        println!(
            "{verdict} {:<24} {:>14.6e}  limit {:e}",
            check.name, check.value, check.limit
        );
    }
    println!("{}", summary(plan, &run.record, &outcome, hash));
    Ok(outcome.ok())
}

/// What the library and Bevy report, warnings and worse, and what the scenes have to say.
fn log_to_standard_error() {
    App::new().add_plugins(LogPlugin {
        level: Level::INFO,
        filter: "warn,gallery=info,bevy_render=error,wgpu=error,naga=error".into(),
        ..default()
    });
}

/// Runs the scene, writing frames of surfaces on the way and keeping what the pictures shall show.
fn simulate(plan: &Plan) -> Result<(Run, Vec<Picture>), String> {
    let ticks = plan.settings.ticks();
    let bar = ProgressBar::new(ticks as u64).with_style(
        ProgressStyle::with_template(
            "{msg} [{bar:40}] {pos}/{len} frames, {elapsed} elapsed, {eta} to go",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_message(plan.scene.name);
    if let Some(folder) = &plan.outputs.obj {
        record::make_folder(folder)?;
    }
    let mut pictures = Vec::new();
    let mut frame = 0;
    let mut trouble = None;
    let run = run_headless(plan.scene, &plan.settings, plan.threads, |world, _| {
        for shot in &plan.outputs.shots {
            let tick = (shot.time * plan.settings.frames_per_second).round() as usize;
            if tick.min(ticks) == frame {
                pictures.push(Picture {
                    snapshot: Snapshot::take(world),
                    file: shot.file.clone(),
                });
            }
        }
        if let (Some(folder), None) = (&plan.outputs.obj, &trouble) {
            let file = folder.join(format!("frame_{frame:05}.obj"));
            trouble = record::write_surfaces(&file, &Shell::of(world)).err();
        }
        bar.set_position(frame as u64);
        frame += 1;
    });
    bar.finish_and_clear();
    match trouble {
        Some(message) => Err(message),
        None => Ok((run.map_err(|error| error.to_string())?, pictures)),
    }
}

fn write_outputs(plan: &Plan, run: &mut Run) -> Result<(), String> {
    let outputs = &plan.outputs;
    if let Some(file) = &outputs.csv {
        record::write_file(file, &record::csv(&run.record))?;
        tell_file(file);
    }
    if let Some(file) = &outputs.plot {
        let integrator = plan.settings.integrator(plan.scene);
        let title = format!(
            "Energies of the scene \"{}\" ({}, {})",
            plan.scene.name,
            integrator.name(),
            scalar()
        );
        record::write_file(file, &plot::energies(&run.record, &title)?)?;
        tell_file(file);
    }
    if let Some(file) = &outputs.final_obj {
        record::write_surfaces(file, &Shell::of(run.app.world_mut()))?;
        tell_file(file);
    }
    if let Some(folder) = &outputs.obj {
        tell_file(folder);
    }
    Ok(())
}

fn tell_file(file: &Path) {
    println!("wrote {}", file.display());
}

/// The scalar type that bodies are simulated in.
fn scalar() -> &'static str {
    if size_of::<bevy_pliant::Real>() == 8 {
        "f64"
    } else {
        "f32"
    }
}

/// Everything that was measured, as one line. Numbers that are not finite become `null`.
fn summary(plan: &Plan, record: &Record, outcome: &Outcome, hash: Option<u64>) -> Value {
    let mut checks = Map::new();
    let mut quantities = Map::new();
    for check in &outcome.checks {
        checks.insert(
            check.name.into(),
            json!({ "value": check.value, "limit": check.limit, "ok": check.ok }),
        );
        quantities.insert(check.name.into(), json!(check.value));
    }
    for &(name, value) in &outcome.quantities {
        quantities.insert(name.into(), json!(value));
    }
    let threads = ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num());
    let mut line = json!({
        "scene": plan.scene.name,
        "integrator": plan.settings.integrator(plan.scene).name(),
        "seconds": record.seconds(),
        "fps": plan.settings.frames_per_second,
        "frames": record.ticks().len(),
        "real_time_ratio": record.real_time_ratio(),
        "mean_ms": record.mean_milliseconds(),
        "p95_ms": record.quantile_milliseconds(0.95),
        "mean_substeps": record.mean_substeps(),
        "checks": checks,
        "quantities": quantities,
        "ok": outcome.ok(),
        "scalar": scalar(),
        "threads": plan.threads.unwrap_or(threads),
    });
    if let Some(hash) = hash {
        line["hash"] = json!(format!("{hash:016x}"));
    }
    line
}
