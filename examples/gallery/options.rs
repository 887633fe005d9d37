//! The command line, and the plan that it amounts to.

use std::path::{Path, PathBuf};

use bevy_pliant::prelude::Integrator;
use clap::Parser;

use crate::scenes::{self, SCENES, Scene, Settings};

/// The scene that runs when none is named.
const USUAL_SCENE: &str = "torus";

/// Scenes with deformable bodies, in a window or headless.
#[derive(Parser, Debug)]
#[command(name = "gallery", after_help = after_help())]
pub struct Options {
    /// Scene to run [default: torus]
    pub scene: Option<String>,
    /// No window: run as fast as possible and write results to files
    #[arg(long)]
    pub headless: bool,
    /// List the scenes and stop
    #[arg(long)]
    pub list: bool,
    /// Simulated time, s [default: the scene's own]
    #[arg(long, value_name = "S", value_parser = positive)]
    pub seconds: Option<f64>,
    /// Ticks per simulated second [default: the scene's own]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub fps: Option<f64>,
    /// Integrator: implicit, backward-euler, bdf2, symplectic-euler or rkf45 [default: the scene's own]
    #[arg(long, value_name = "NAME", value_parser = integrator)]
    pub integrator: Option<Integrator>,
    /// Threads to use [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Tetrahedral mesh for the scene `mesh`: .msh, .mesh, .node or .ele, .vtk
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Write one row per frame: time, energies, momenta, timing, samples of the scene
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a plot of the energies over time (.svg)
    #[arg(long, value_name = "FILE", value_parser = svg_file)]
    pub plot: Option<PathBuf>,
    /// Draw the scene at a moment (s) into a picture (.png); may be repeated
    #[arg(long, value_name = "TIME:FILE", value_parser = shot)]
    pub shot: Vec<Shot>,
    /// Write every frame of all surfaces as DIR/frame_00000.obj and so on
    #[arg(long, value_name = "DIR")]
    pub obj: Option<PathBuf>,
    /// Set a parameter of the scene; may be repeated
    #[arg(long = "set", value_name = "name=value", value_parser = assignment, allow_hyphen_values = true)]
    pub assignments: Vec<(String, f64)>,
    /// Report a hash of the final state
    #[arg(long)]
    pub hash: bool,
}

/// A picture to take.
#[derive(Clone, Debug)]
pub struct Shot {
    /// Simulated time, s.
    pub time: f64,
    /// Where the picture goes.
    pub file: PathBuf,
}

/// A checked command line.
pub struct Plan {
    /// What to run.
    pub scene: &'static Scene,
    /// How to run it.
    pub settings: Settings,
    /// Whether to do without a window.
    pub headless: bool,
    /// Number of threads, if limited.
    pub threads: Option<usize>,
    /// Files to write.
    pub outputs: Outputs,
    /// Whether to report a hash.
    pub hash: bool,
}

/// Files to write.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Table of rows.
    pub csv: Option<PathBuf>,
    /// Energy plot.
    pub plot: Option<PathBuf>,
    /// Pictures.
    pub shots: Vec<Shot>,
    /// Folder for every frame's surfaces.
    pub obj: Option<PathBuf>,
    /// The surfaces at the end.
    pub final_obj: Option<PathBuf>,
}

impl Options {
    /// The settings of a run of that scene; the error names the argument.
    pub fn settings(&self, scene: &Scene) -> Result<Settings, String> {
        let mut settings = Settings::new(scene);
        settings.seconds = self.seconds.unwrap_or(scene.seconds);
        settings.frames_per_second = self.fps.unwrap_or(scene.frames_per_second);
        settings.integrator = self.integrator;
        settings.mesh.clone_from(&self.mesh);
        if self.mesh.is_some() && scene.name != "mesh" {
            return Err(format!(
                "--mesh: scene `{}` reads no mesh; use the scene `mesh`",
                scene.name
            ));
        }
        for (name, value) in &self.assignments {
            settings
                .set(scene, name, *value)
                .map_err(|message| format!("--set: {message}"))?;
        }
        Ok(settings)
    }
}

impl Plan {
    /// Checks what the parser could not: names and values that depend on the scene.
    pub fn new(options: &Options) -> Result<Self, String> {
        let name = options.scene.as_deref().unwrap_or(USUAL_SCENE);
        let scene = scenes::find(name).ok_or_else(|| unknown_scene(name))?;
        let settings = options.settings(scene)?;
        for shot in &options.shot {
            if shot.time > settings.seconds {
                return Err(format!(
                    "--shot: {} s is after the end of the run at {} s",
                    shot.time, settings.seconds
                ));
            }
        }
        let asked = options.csv.is_some()
            || options.plot.is_some()
            || options.obj.is_some()
            || !options.shot.is_empty();
        let outputs = if asked {
            Outputs {
                csv: options.csv.clone(),
                plot: options.plot.clone(),
                shots: options.shot.clone(),
                obj: options.obj.clone(),
                final_obj: None,
            }
        } else {
            usual_outputs(scene, &settings)
        };
        Ok(Self {
            scene,
            settings,
            headless: options.headless,
            threads: options.threads.map(usize::from),
            outputs,
            hash: options.hash,
        })
    }
}

/// What a headless run writes when nothing in particular is asked for.
fn usual_outputs(scene: &Scene, settings: &Settings) -> Outputs {
    let folder = Path::new("out").join(scene.name);
    let shots = (0..5_u8).map(|quarter| {
        let time = settings.seconds * f64::from(quarter) / 4.0;
        Shot {
            time,
            file: folder.join(format!("frame_{time:05.2}s.png")),
        }
    });
    Outputs {
        csv: Some(folder.join("energies.csv")),
        plot: Some(folder.join("energies.svg")),
        shots: shots.collect(),
        obj: None,
        final_obj: Some(folder.join("final.obj")),
    }
}

fn unknown_scene(name: &str) -> String {
    let nearest = SCENES
        .iter()
        .min_by_key(|scene| edit_distance(scene.name, name));
    let suggestion = nearest.map_or_else(String::new, |scene| {
        format!("; did you mean `{}`?", scene.name)
    });
    let list: String = SCENES
        .iter()
        .map(|scene| format!("\n  {:<10} {}", scene.name, scene.about))
        .collect();
    format!("there is no scene `{name}`{suggestion}\nThe scenes are{list}")
}

/// Number of insertions, deletions and exchanges that turn one word into the other (Levenshtein).
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for column in 0..to.len() {
            let exchanged = diagonal + usize::from(letter != to[column]);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

fn after_help() -> String {
    let mut help = String::from("Parameters for --set:\n");
    for scene in SCENES {
        help += &format!("{}\n{}", scene.name, scene.parameter_table());
    }
    help
}

fn positive(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if value > 0.0 && value <= 1e6 {
        Ok(value)
    } else {
        Err("must be above 0 and at most 1e6".into())
    }
}

fn integrator(name: &str) -> Result<Integrator, String> {
    Integrator::from_name(name)
        .ok_or_else(|| format!("the integrators are {}", Integrator::NAMES.join(", ")))
}

fn shot(text: &str) -> Result<Shot, String> {
    let (time, file) = text
        .split_once(':')
        .ok_or("must be TIME:FILE, for example 1.5:out/swing.png")?;
    let time: f64 = time
        .parse()
        .map_err(|_| format!("`{time}` is not a time in seconds"))?;
    if !(time.is_finite() && time >= 0.0) {
        return Err(format!("the time {time} must be zero or positive"));
    }
    let file = PathBuf::from(file);
    if has_extension(&file, "png") {
        Ok(Shot { time, file })
    } else {
        Err("the file name must end in .png".into())
    }
}

fn svg_file(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    if has_extension(&file, "svg") {
        Ok(file)
    } else {
        Err("the file name must end in .svg".into())
    }
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

fn assignment(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("must be name=value")?;
    let number = value
        .trim()
        .parse()
        .map_err(|_| format!("`{value}` is not a number"))?;
    Ok((name.trim().to_owned(), number))
}
