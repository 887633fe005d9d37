//! The gallery as a user starts it: its command line is a contract.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program, which `cargo test` builds before it runs the tests.
fn program() -> PathBuf {
    let mut folder = std::env::current_exe().expect("this test");
    folder.pop();
    folder.pop();
    let program = folder
        .join("examples")
        .join(format!("gallery{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{} is missing: build it with `cargo build --example gallery` (plain `cargo test` does)",
        program.display()
    );
    program
}

fn gallery(arguments: &[&str]) -> Output {
    Command::new(program())
        .args(arguments)
        .output()
        .expect("a run of the gallery")
}

/// The JSON object in the last line of the output.
#[track_caller]
fn result(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| {
        panic!(
            "{error} in the last line:\n{text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bevy_pliant-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[track_caller]
fn assert_refused(arguments: &[&str], hints: &[&str]) {
    let output = gallery(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    for hint in hints {
        assert!(
            message.contains(hint),
            "{arguments:?} says nothing of {hint}: {message}"
        );
    }
}

#[test]
fn a_run_writes_what_it_was_asked_for() {
    let folder = folder("outputs");
    let (csv, plot, objects) = (
        folder.join("run.csv"),
        folder.join("run.svg"),
        folder.join("frames"),
    );
    let output = gallery(&[
        "torus",
        "--headless",
        "--seconds",
        "0.5",
        "--fps",
        "20",
        "--hash",
        "--csv",
        text(&csv),
        "--plot",
        text(&plot),
        "--obj",
        text(&objects),
        "--set",
        "gravity=5",
    ]);
    let result = result(&output);
    assert!(output.status.success(), "{result}");
    assert_eq!(result["scene"], "torus");
    assert_eq!(result["ok"], true);
    assert_eq!(result["checks"]["tetrahedra"]["value"], 480.0);
    assert!(result["hash"].as_str().is_some_and(|hash| hash.len() == 16));
    for field in ["seconds", "real_time_ratio", "mean_ms", "p95_ms"] {
        assert!(result[field].is_number(), "{field} in {result}");
    }
    let rows = std::fs::read_to_string(&csv).expect("a table");
    assert_eq!(
        rows.lines().count(),
        1 + 11,
        "a heading, the start and ten frames"
    );
    assert!(
        std::fs::read_to_string(&plot)
            .expect("a plot")
            .contains("<svg")
    );
    let frame = |number: usize| {
        let path = objects.join(format!("frame_{number:05}.obj"));
        std::fs::read_to_string(path).expect("a frame")
    };
    let count = |text: &str, kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    for number in [0, 10] {
        assert_eq!(count(&frame(number), "v "), 160);
        assert_eq!(count(&frame(number), "f "), 320);
    }
    std::fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn hashes_agree_between_runs_and_threads() {
    let hash = |threads: &str| {
        let output = gallery(&[
            "jelly",
            "--headless",
            "--seconds",
            "0.4",
            "--hash",
            "--csv",
            "/dev/null",
            "--threads",
            threads,
            "--set",
            "cells=3",
        ]);
        result(&output)["hash"].clone()
    };
    let hashes = ["1", "1", "2", "8"].map(hash);
    assert!(hashes[0].is_string());
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn a_check_that_fails_is_told_by_the_exit_code() {
    // After three tenths of a second everything still falls, and the check wants it at rest.
    let output = gallery(&[
        "jelly",
        "--headless",
        "--seconds",
        "0.3",
        "--csv",
        "/dev/null",
        "--set",
        "cells=2",
    ]);
    let result = result(&output);
    assert_eq!(result["ok"], false);
    assert_eq!(result["checks"]["final_speed"]["ok"], false, "{result}");
    assert_eq!(output.status.code(), Some(1));
}

/// Runs that any integrator holds, as short as the checks allow.
#[test]
fn hard_scenes_hold_their_checks() {
    for arguments in [
        &["stiffness", "--set", "bars=3"][..],
        &["torture", "--seconds", "2", "--set", "viscosity=200"],
        // Nearly incompressible: folded elements must find back.
        &["torture", "--set", "poisson_ratio=0.49"],
        &["tumble"],
        &["tower"],
    ] {
        let common = ["--headless", "--csv", "/dev/null"];
        let output = gallery(&[arguments, &common].concat());
        let result = result(&output);
        assert!(output.status.success(), "{arguments:?}: {result}");
    }
}

/// Scenes of cloth, with their default settings.
#[test]
fn scenes_of_cloth_hold_their_checks() {
    for scene in ["flag_wind", "sail", "curtain", "fabrics", "balloon", "tear"] {
        let output = gallery(&[scene, "--headless", "--csv", "/dev/null"]);
        let result = result(&output);
        assert!(output.status.success(), "{scene}: {result}");
    }
}

#[test]
fn scenes_are_listed() {
    let output = gallery(&["--list"]);
    let text = String::from_utf8_lossy(&output.stdout);
    for scene in [
        "torus",
        "bar",
        "jelly",
        "mesh",
        "pendulum",
        "stiffness",
        "torture",
        "tumble",
        "tower",
        "flag_wind",
        "sail",
        "curtain",
        "fabrics",
        "drape",
        "balloon",
        "tear",
        "flag_release",
    ] {
        assert!(text.contains(scene), "no {scene} in {text}");
    }
    assert!(output.status.success());
}

#[test]
fn bad_arguments_are_named() {
    assert_refused(&["tors"], &["tors", "torus"]);
    assert_refused(&["torus", "--seconds", "long"], &["--seconds"]);
    assert_refused(&["torus", "--seconds=-1"], &["--seconds"]);
    assert_refused(&["torus", "--fps", "0"], &["--fps"]);
    assert_refused(&["torus", "--threads", "0"], &["--threads"]);
    assert_refused(&["torus", "--integrator", "magic"], &["magic", "rkf45"]);
    assert_refused(&["torus", "--set", "gravity"], &["gravity"]);
    assert_refused(&["torus", "--set", "colour=3"], &["colour", "gravity"]);
    assert_refused(&["torus", "--set", "gravity=much"], &["gravity", "much"]);
    assert_refused(&["torus", "--headless", "--shot", "x:a.png"], &["--shot"]);
    assert_refused(&["mesh", "--headless", "--mesh", "none.msh"], &["none.msh"]);
}

#[test]
fn a_damaged_mesh_is_named_with_its_line() {
    let folder = folder("damaged");
    let asset = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/trefoil.msh");
    let whole = std::fs::read_to_string(asset).expect("the asset");
    let cut: Vec<&str> = whole.lines().take(100).collect();
    let file = folder.join("cut.msh");
    std::fs::write(&file, cut.join("\n")).expect("a file");
    assert_refused(
        &["mesh", "--headless", "--mesh", text(&file)],
        &["cut.msh:100"],
    );
    std::fs::remove_dir_all(folder).expect("the folder");
}

/// Needs something to draw with: skips with a message where there is nothing, unless `PLIANT_REQUIRE_GPU` is set.
#[test]
fn a_picture_shows_the_body() {
    let folder = folder("picture");
    let file = folder.join("torus.png");
    let shot = format!("0.1:{}", text(&file));
    let output = gallery(&[
        "torus",
        "--headless",
        "--seconds",
        "0.1",
        "--fps",
        "30",
        "--shot",
        &shot,
    ]);
    let messages = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    if !file.is_file() && messages.contains("adapter") {
        println!("no adapter to draw with: this test checks nothing here");
        assert!(
            std::env::var_os("PLIANT_REQUIRE_GPU").is_none(),
            "PLIANT_REQUIRE_GPU is set, and there is no adapter"
        );
        return;
    }
    assert!(output.status.success(), "{messages}");
    let bytes = std::fs::read(&file).expect("a picture");
    let picture = bevy::image::Image::from_buffer(
        &bytes,
        bevy::image::ImageType::Extension("png"),
        bevy::image::CompressedImageFormats::NONE,
        true,
        bevy::image::ImageSampler::Default,
        bevy::asset::RenderAssetUsages::default(),
    )
    .expect("a PNG");
    assert_eq!((picture.width(), picture.height()), (960, 540));
    // The torus is orange on a pale blue ground: some pixels, but not most, are much redder than blue.
    let pixels = picture.data.expect("pixels");
    let warm = pixels
        .chunks_exact(4)
        .filter(|pixel| i32::from(pixel[0]) > i32::from(pixel[2]) + 60)
        .count();
    let share = warm as f64 / (960.0 * 540.0);
    println!("{:.1} % of the picture is the body", 100.0 * share);
    assert!((0.01..0.6).contains(&share), "{share}");
    std::fs::remove_dir_all(folder).expect("the folder");
}
