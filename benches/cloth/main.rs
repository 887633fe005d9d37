//! Cloth that hangs by two corners: cost, iterations and elongation.
//!
//! ```text
//! cargo bench --bench cloth                          the table
//! cargo bench --bench cloth -- --threads 2           on two threads
//! cargo bench --bench cloth -- --resolution 64       one mesh only
//! cargo bench --bench cloth -- --iterations 10 --tolerance 0.1 --substeps 1
//! cargo bench --bench cloth -- --cheap               the documented cheap setting
//! ```
//! The sheet is 1 × 1 m, 0.2 kg, 10 kN/m, released flat and level, 3 s at 60 frames per second. Elongation is that of the
//! structural edges, the largest of all edges and frames.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that reports to a terminal"
)]

#[path = "../../examples/scenes/mod.rs"]
mod scenes;

use std::time::Instant;

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetCorner, SheetGrid};
use bevy_pliant::prelude::*;

/// Frames of three seconds.
const FRAMES: usize = 180;

fn word(name: &str) -> Option<String> {
    let mut arguments = std::env::args();
    arguments.find(|argument| argument == name)?;
    arguments.next()
}

fn argument(name: &str) -> Option<f64> {
    word(name)?.parse().ok()
}

fn has(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}

/// What a run cost and how far it stretched.
struct Run {
    milliseconds: Vec<f64>,
    iterations: f64,
    fallbacks: u32,
    largest: f64,
    largest_at_end: f64,
    mean_at_end: f64,
}

fn integrator() -> Integrator {
    let default = if has("--cheap") {
        Integrator::CHEAP
    } else {
        Integrator::IMPLICIT
    };
    let Integrator::Implicit {
        mut scheme,
        mut substeps,
        mut iterations,
        mut tolerance,
    } = default
    else {
        return default;
    };
    match word("--scheme").as_deref() {
        Some("backward-euler") => scheme = ImplicitScheme::BackwardEuler,
        Some("bdf2") => scheme = ImplicitScheme::BackwardDifferences,
        _ => {}
    }
    if let Some(count) = argument("--substeps") {
        substeps = count as u32;
    }
    if let Some(count) = argument("--iterations") {
        iterations = count as u32;
    }
    if let Some(residual) = argument("--tolerance") {
        tolerance = residual;
    }
    Integrator::Implicit {
        scheme,
        substeps,
        iterations,
        tolerance,
    }
}

fn run(resolution: usize) -> Run {
    let threads = argument("--threads").map_or(1, |threads| threads as usize);
    let mut app = scenes::headless_app(Some(threads));
    app.insert_resource(Time::<Fixed>::from_hz(60.0));
    app.insert_resource(integrator());
    app.finish();
    app.cleanup();
    app.update();
    let grid = SheetGrid {
        size: [1.0, 1.0],
        cells: [resolution; 2],
        pattern: SheetPattern::Herringbone,
    };
    let mesh = grid.mesh().expect("a sheet");
    let corners = [SheetCorner::BackLeft, SheetCorner::BackRight].map(|corner| grid.corner(corner));
    let fabric = Fabric {
        areal_density: 0.2,
        warp_modulus: 1e4,
        weft_modulus: 1e4,
        shear_modulus: 1e4 / 2.6,
        poisson_ratio: 0.3,
        locking_factor: 1.0,
        ..Fabric::COTTON
    };
    let edges: Vec<[usize; 2]> = mesh
        .topology()
        .expect("a sheet")
        .edges
        .iter()
        .map(|edge| edge.vertices.map(|vertex| vertex as usize))
        .filter(|&[a, b]| {
            let along = mesh.positions[a] - mesh.positions[b];
            along.x.abs() < 1e-9 || along.z.abs() < 1e-9
        })
        .collect();
    let body = app
        .world_mut()
        .spawn((Cloth::new(mesh), fabric, Pins::at(corners)))
        .id();
    let rest = 1.0 / resolution as f64;
    let mut run = Run {
        milliseconds: Vec::new(),
        iterations: 0.0,
        fallbacks: 0,
        largest: 0.0,
        largest_at_end: 0.0,
        mean_at_end: 0.0,
    };
    for frame in 0..FRAMES {
        let start = Instant::now();
        app.update();
        run.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        let state = app.world().get::<PliantState>(body).expect("a body");
        run.iterations += f64::from(state.solver.iterations);
        run.fallbacks += state.solver.fallbacks;
        let particles = app.world().get::<Particles>(body).expect("a body");
        let x = &particles.positions;
        let stretch = |&[a, b]: &[usize; 2]| f64::from((x[a] - x[b]).norm()) / rest - 1.0;
        run.largest_at_end = edges.iter().map(stretch).fold(0.0, f64::max);
        run.largest = run.largest.max(run.largest_at_end);
        run.mean_at_end = edges.iter().map(stretch).sum::<f64>() / edges.len() as f64;
        if has("--trace") && frame % 5 == 0 {
            let lowest = x.iter().fold(0.0_f64, |low, x| low.min(f64::from(x.y)));
            println!(
                "{frame:4} {:6.2} ms, {:3} iterations, {} fallbacks, {:.2} %, lowest {lowest:.3}, K {:.4}, residual {:.3}",
                run.milliseconds[frame],
                state.solver.iterations,
                state.solver.fallbacks,
                100.0 * run.largest_at_end,
                state.energies.kinetic,
                state.solver.residual,
            );
        }
    }
    run
}

fn main() {
    println!(
        "{:>8} {:>9} {:>9} {:>9} {:>11} {:>10} {:>10} {:>8} {:>8}",
        "vertices",
        "ms mean",
        "ms p50",
        "ms p95",
        "iterations",
        "fallbacks",
        "largest %",
        "end %",
        "mean %"
    );
    let resolutions =
        argument("--resolution").map_or_else(|| vec![32, 64, 128], |r| vec![r as usize]);
    for resolution in resolutions {
        let run = run(resolution);
        let mut sorted = run.milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        println!(
            "{:>8} {mean:>9.2} {:>9.2} {:>9.2} {:>11.1} {:>10} {:>10.2} {:>8.2} {:>8.3}",
            (resolution + 1) * (resolution + 1),
            sorted[sorted.len() / 2],
            sorted[sorted.len() * 95 / 100],
            run.iterations / FRAMES as f64,
            run.fallbacks,
            100.0 * run.largest,
            100.0 * run.largest_at_end,
            100.0 * run.mean_at_end,
        );
    }
}
