//! Frames, force evaluations, and the fixed cost of a substep.

use std::time::Instant;

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use bevy_pliant::state_hash;

use crate::Sample;
use crate::scenes::{self, Settings};
use crate::world::{app, block, counts, soft};

/// Cells of the blocks, six tetrahedra each.
const SMALL: [usize; 3] = [10, 12, 7];
const LARGE: [usize; 3] = [20, 20, 21];

/// Everything, on that many threads.
pub fn measure(threads: usize, quick: bool) -> Vec<Sample> {
    let (warm, count) = if quick { (1, 2) } else { (10, 80) };
    let mut samples = vec![frames("torus", &mut torus(threads), warm, 3 * count)];
    if quick {
        return samples;
    }
    samples.push(frames(
        "block of 5 040",
        &mut block(threads, SMALL, soft()),
        warm,
        2 * count,
    ));
    samples.push(frames(
        "block of 50 400",
        &mut block(threads, LARGE, soft()),
        warm,
        count,
    ));
    samples.push(fixed_cost(threads));
    samples.extend(forces(threads));
    samples
}

fn torus(threads: usize) -> App {
    let mut app = app(threads);
    let scene = scenes::find("torus").expect("the scene");
    let mut settings = Settings::new(scene);
    settings.frames_per_second = 60.0;
    scenes::install(app.world_mut(), scene, &settings).expect("the scene");
    app
}

/// Numbers: tetrahedra, particles, mean substeps per frame, median and 95th percentile of a frame in ms.
fn frames(name: &str, app: &mut App, warm: usize, count: usize) -> Sample {
    for _ in 0..warm {
        app.update();
    }
    let mut substeps = 0;
    let times = sorted((0..count).map(|_| {
        let start = Instant::now();
        app.update();
        let seconds = start.elapsed().as_secs_f64();
        let mut states = app.world_mut().query::<&PliantState>();
        substeps += states
            .iter(app.world())
            .map(|state| state.substeps)
            .max()
            .unwrap_or(0);
        seconds
    }));
    let (elements, particles) = counts(app);
    Sample {
        hash: format!("{:016x}", state_hash(app.world_mut())),
        ..Sample::new(
            "frame",
            name,
            vec![
                elements as f64,
                particles as f64,
                f64::from(substeps) / count as f64,
                1e3 * quantile(&times, 0.5),
                1e3 * quantile(&times, 0.95),
            ],
        )
    }
}

/// Numbers: microseconds per substep of one body with hardly any tetrahedra.
fn fixed_cost(threads: usize) -> Sample {
    const SUBSTEPS: u32 = 1000;
    let mut app = block(threads, [1, 1, 1], soft());
    app.insert_resource(Integrator::SymplecticEuler {
        substeps: Substeps::Fixed(SUBSTEPS),
    });
    let times = sorted((0..60).map(|_| {
        let start = Instant::now();
        app.update();
        start.elapsed().as_secs_f64()
    }));
    Sample::new(
        "fixed",
        "substep",
        vec![1e6 * quantile(&times, 0.5) / f64::from(SUBSTEPS)],
    )
}

/// Numbers: median and best nanoseconds per tetrahedron of an evaluation of all forces on the large block.
fn forces(threads: usize) -> Vec<Sample> {
    let mut app = block(threads, LARGE, soft());
    let elements = counts(&mut app).0 as f64;
    let laws = [
        ("stable neo-Hookean", ElasticModel::StableNeoHookean),
        ("Liesenfeld", ElasticModel::LIESENFELD),
        ("corotational", ElasticModel::Corotational),
    ];
    let mut samples = Vec::new();
    for (name, model) in laws {
        for (viscosity, suffix) in [(0.0, ""), (1.0, " and viscosity")] {
            let material = soft()
                .with_model(model)
                .with_viscosity(viscosity, viscosity);
            let mut materials = app.world_mut().query::<&mut PliantMaterial>();
            for mut changed in materials.iter_mut(app.world_mut()) {
                *changed = material;
            }
            app.update();
            let times = sorted((0..300).map(|_| {
                let start = Instant::now();
                app.world_mut().run_schedule(PliantForces);
                start.elapsed().as_secs_f64()
            }));
            let per_element = 1e9 / elements;
            samples.push(Sample::new(
                "forces",
                &format!("{name}{suffix}"),
                vec![quantile(&times, 0.5) * per_element, times[0] * per_element],
            ));
        }
    }
    samples
}

fn sorted(times: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times
}

fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * fraction).round() as usize]
}
