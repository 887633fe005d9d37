//! The same soft bodies with this library and with the soft bodies of Rapier, in one process and on one thread.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml              a Markdown table, some minutes
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- --quick   the small cases alone
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- --cloth   the hanging sheets alone
//! ```
//!
//! Both engines get the same tetrahedra, the same lumped masses, the same Young's modulus and Poisson's ratio, and 60
//! frames per second. Rapier's corotational cells and [`ElasticModel::Corotational`] have the same energy, so their
//! motions may be compared at any strain. The neo-Hookean laws are not quite the same: both follow Smith et al. 2018,
//! this library with the logarithm that keeps the collapsed element from being an equilibrium, Rapier without it; they
//! agree for small strains only.
//!
//! The error of a run is the root mean square, over all frames, of the distance between its watched point (the mean of
//! the free end, or of the upper face) and that of a converged run, relative to the largest distance that the latter
//! travels. The converged run is this library's explicit integrator with four times as many substeps as stability asks
//! for, on the same mesh and with the same law: what is measured is the error in time, not that of the mesh. The row
//! of the explicit integrator with automatic substeps, which are half as many, shows how far it is converged.
//!
//! The time is the median over the frames, of small meshes in the quietest of three runs. On the ground Rapier adds
//! substeps by itself while a body hits, and contact differs: Rapier's are soft constraints on the surface, the
//! converged run stops the particles where they touch.
//!
//! [`ElasticModel::Corotational`]: bevy_pliant::prelude::ElasticModel::Corotational

mod case;
mod cloth;
mod contender;
mod motion;
mod pliant;
mod rapier;
mod table;

use case::{Case, Law};
use contender::{Contender, Engine, contenders};
use motion::Motion;

fn main() {
    let has = |name| std::env::args().any(|argument| argument == name);
    let quick = has("--quick");
    if !has("--cloth") {
        solids(quick);
    }
    println!("\n{}", cloth::HEADING);
    let sheets: &[usize] = if quick { &[32] } else { &[32, 64, 128] };
    for &cells in sheets {
        cloth::print_rows(cells);
    }
}

fn solids(quick: bool) {
    println!("{}", table::HEADING);
    for case in case::cases(quick) {
        let [corotational, neo_hookean] = Law::ALL.map(|law| pliant::reference(&case, law));
        let mut first = None;
        for contender in contenders(quick) {
            let motion = quietest(&case, &contender);
            let reference = match contender.law {
                Law::Corotational => &corotational,
                Law::NeoHookean => &neo_hookean,
            };
            let first = *first.get_or_insert_with(|| motion.median_milliseconds());
            // Line by line: the large cases take minutes.
            println!(
                "{}",
                table::row(&case, &contender, &motion, reference, first)
            );
        }
    }
}

/// Meshes up to this many tetrahedra are simulated several times.
const SMALL: usize = 10_000;
/// How many times.
const RUNS: usize = 3;

/// The run that other work on the machine disturbed least; all of them move alike.
fn quietest(case: &Case, contender: &Contender) -> Motion {
    let small = case.mesh.tetrahedra.len() <= SMALL;
    let more = if small { RUNS - 1 } else { 0 };
    let first = run(case, contender);
    let others = (0..more).map(|_| run(case, contender));
    others.fold(first, |best, motion| {
        if motion.median_milliseconds() < best.median_milliseconds() {
            motion
        } else {
            best
        }
    })
}

fn run(case: &Case, contender: &Contender) -> Motion {
    match contender.engine {
        Engine::Pliant(integrator) => pliant::run(case, contender.law, integrator),
        Engine::Rapier(settings) => rapier::run(case, contender.law, &settings),
    }
}
