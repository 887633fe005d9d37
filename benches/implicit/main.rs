//! The implicit integrator on cantilevers, against a converged run of the same mesh.
//!
//! ```text
//! cargo bench --bench implicit                          the table
//! cargo bench --bench implicit -- --threads 2           on two threads
//! cargo bench --bench implicit -- --resolution 6        one mesh only
//! cargo bench --bench implicit -- --young 1e6           one stiffness only
//! cargo bench --bench implicit -- --iterations 40 --tolerance 1e-3 --substeps 2
//! ```
//! The bar is 1 × 0.2 × 0.2 m, 1000 kg/m³, Poisson's ratio 0.3, clamped at one end, released straight, 0.5 s at 60
//! frames per second. The error is the root mean square over the frames of the distance between tips, over the
//! largest deflection of the reference, which is the symplectic Euler integrator at its stable step.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that reports to a terminal"
)]

#[path = "../../examples/scenes/mod.rs"]
mod scenes;

use std::time::Instant;

use bevy::prelude::*;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;

/// Frames of half a second.
const FRAMES: usize = 30;

/// Positions of the tip, frame by frame, and what the run cost.
struct Run {
    tips: Vec<Vec3>,
    milliseconds: Vec<f64>,
    iterations: f64,
    solves: f64,
    fallbacks: u32,
    smallest_volume_ratio: f64,
    volume_error: f64,
}

fn word(name: &str) -> Option<String> {
    let mut arguments = std::env::args();
    arguments.find(|argument| argument == name)?;
    arguments.next()
}

fn argument(name: &str) -> Option<f64> {
    word(name)?.parse().ok()
}

fn run(resolution: usize, material: PliantMaterial, integrator: Integrator) -> Run {
    let threads = argument("--threads").map_or(1, |threads| threads as usize);
    let mut app = scenes::headless_app(Some(threads));
    app.insert_resource(Time::<Fixed>::from_hz(60.0));
    app.insert_resource(integrator);
    app.finish();
    app.cleanup();
    app.update();
    let cells = [5 * resolution, resolution, resolution];
    let mesh = TetrahedralMesh::block([1.0, 0.2, 0.2], cells, CellSplit::Six).expect("a block");
    let positions = mesh.positions.clone();
    let clamped = (0..positions.len() as u32).filter(|&i| positions[i as usize].x < -0.4999);
    let tip: Vec<usize> = (0..positions.len())
        .filter(|&i| positions[i].x > 0.4999)
        .collect();
    let body = app
        .world_mut()
        .spawn((Solid::new(mesh), material, Pins::at(clamped)))
        .id();
    let mut run = Run {
        tips: Vec::new(),
        milliseconds: Vec::new(),
        iterations: 0.0,
        solves: 0.0,
        fallbacks: 0,
        smallest_volume_ratio: f64::INFINITY,
        volume_error: 0.0,
    };
    for _ in 0..FRAMES {
        let start = Instant::now();
        app.update();
        run.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        let particles = app.world().get::<Particles>(body).expect("a body");
        let sum = tip.iter().fold(Vec3::ZERO, |sum, &i| {
            let x = particles.positions[i];
            sum + Vec3::new(x.x as f32, x.y as f32, x.z as f32)
        });
        run.tips.push(sum / tip.len() as f32);
        let state = app.world().get::<PliantState>(body).expect("a body");
        run.iterations += f64::from(state.solver.iterations);
        run.solves += f64::from(state.solver.solves);
        run.fallbacks += state.solver.fallbacks;
        run.smallest_volume_ratio = run.smallest_volume_ratio.min(state.smallest_volume_ratio);
        let tetrahedra = app.world().get::<Tetrahedra>(body).expect("a body");
        let (volume, rest) = volumes(particles, tetrahedra);
        run.volume_error = run.volume_error.max((volume / rest - 1.0).abs());
    }
    run
}

fn volumes(particles: &Particles, tetrahedra: &Tetrahedra) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for (tet, &rest) in tetrahedra.corners().iter().zip(tetrahedra.rest_volumes()) {
        let [a, b, c, d] = tet.map(|corner| particles.positions[corner as usize].cast::<f64>());
        sums.0 += (b - a).dot(&(c - a).cross(&(d - a))) / 6.0;
        sums.1 += f64::from(rest);
    }
    sums
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn error(run: &Run, reference: &Run) -> f64 {
    let start = reference.tips[0];
    let largest = reference
        .tips
        .iter()
        .map(|tip| (*tip - start).length())
        .fold(0.0, f32::max);
    let squares: f32 = run
        .tips
        .iter()
        .zip(&reference.tips)
        .map(|(a, b)| (*a - *b).length_squared())
        .sum();
    f64::from((squares / FRAMES as f32).sqrt() / largest)
}

fn main() {
    println!(
        "| tetrahedra | E, Pa | integrator | ms per frame | error | iterations per solve | fallbacks | smallest J | volume error |"
    );
    println!("|--:|--:|---|--:|--:|--:|--:|--:|--:|");
    let poisson = argument("--poisson").unwrap_or(0.3) as f32;
    for resolution in [3, 6, 9, 12] {
        if argument("--resolution").is_some_and(|only| only as usize != resolution) {
            continue;
        }
        for young in [1e5, 1e6, 1e7] {
            if argument("--young").is_some_and(|only| only != young) {
                continue;
            }
            let material = PliantMaterial::new(young as _, poisson.into(), 1000.0);
            let reference = run(resolution, material, Integrator::SYMPLECTIC_EULER);
            let report = |name: &str, run: &Run| {
                println!(
                    "| {} | {young:.0e} | {name} | {:.2} | {:.4} | {:.1} | {} | {:.3} | {:.4} |",
                    30 * resolution.pow(3),
                    median(&run.milliseconds),
                    error(run, &reference),
                    run.iterations / run.solves.max(1.0),
                    run.fallbacks,
                    run.smallest_volume_ratio,
                    run.volume_error,
                );
            };
            report("symplectic-euler", &reference);
            for name in ["implicit", "backward-euler", "bdf2"] {
                if word("--integrator").is_some_and(|only| only != name) {
                    continue;
                }
                let mut integrator = Integrator::from_name(name).expect("a name");
                if let Integrator::Implicit {
                    iterations,
                    tolerance,
                    substeps,
                    ..
                } = &mut integrator
                {
                    if let Some(value) = argument("--iterations") {
                        *iterations = value as u32;
                    }
                    if let Some(value) = argument("--tolerance") {
                        *tolerance = value;
                    }
                    if let Some(value) = argument("--substeps") {
                        *substeps = value as u32;
                    }
                }
                report(name, &run(resolution, material, integrator));
            }
        }
    }
}
