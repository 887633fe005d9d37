//! Milliseconds per frame of whole bodies, on one and two threads, beside what the machine can do at best.
//!
//! ```text
//! cargo bench --bench step                    Markdown tables
//! cargo bench --bench step -- --csv FILE      the same numbers, a line each
//! ```
//! Thread pools belong to the process, so each number of threads is measured in a child process of its own. Every row
//! of the first table carries a hash of the final state: a faster wrong answer shows.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that reports to a terminal"
)]

#[path = "../../examples/scenes/mod.rs"]
mod scenes;

mod frames;
mod peaks;
mod table;
mod world;

use std::process::Command;

/// Tells a child process how many threads it uses.
const CHILD: &str = "PLIANT_BENCH_THREADS";

/// The numbers of threads that are compared.
const THREADS: [usize; 2] = [1, 2];

/// One measured number, or several that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Kind of measurement.
    pub kind: String,
    /// What was measured.
    pub name: String,
    /// Threads that worked on it.
    pub threads: usize,
    /// The numbers, whose meaning depends on the kind.
    pub numbers: Vec<f64>,
    /// Hash of the state at the end, where there is one.
    pub hash: String,
}

impl Sample {
    /// A measurement without a hash; the threads are filled in by whoever collects it.
    pub fn new(kind: &str, name: &str, numbers: Vec<f64>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            threads: 0,
            numbers,
            hash: String::new(),
        }
    }

    /// As a line of CSV, the numbers parted by spaces.
    pub fn to_line(&self) -> String {
        let numbers: Vec<String> = self
            .numbers
            .iter()
            .map(|number| format!("{number}"))
            .collect();
        format!(
            "{},{},{},{},{}",
            self.kind,
            self.name,
            self.threads,
            numbers.join(" "),
            self.hash
        )
    }

    fn from_line(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [kind, name, threads, numbers, hash] = fields[..] else {
            return None;
        };
        Some(Self {
            kind: kind.into(),
            name: name.into(),
            threads: threads.parse().ok()?,
            numbers: numbers
                .split(' ')
                .map(str::parse)
                .collect::<Result<_, _>>()
                .ok()?,
            hash: hash.into(),
        })
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` also runs this program, to see that it works.
    let quick = !arguments.iter().any(|argument| argument == "--bench");
    if let Some(threads) = std::env::var(CHILD)
        .ok()
        .and_then(|threads| threads.parse().ok())
    {
        let mut samples = peaks::measure(threads, quick);
        samples.extend(frames::measure(threads, quick));
        for sample in samples {
            println!("{}", Sample { threads, ..sample }.to_line());
        }
        return;
    }
    let counts = if quick { &THREADS[1..] } else { &THREADS[..] };
    let samples: Vec<Sample> = counts
        .iter()
        .flat_map(|&threads| child(threads, quick))
        .collect();
    println!("{}", table::markdown(&samples));
    if let Some(place) = arguments.iter().position(|argument| argument == "--csv") {
        let file = arguments.get(place + 1).expect("--csv FILE");
        std::fs::write(file, table::csv(&samples)).expect("a writable file");
    }
}

/// Runs this program again with another number of threads.
fn child(threads: usize, quick: bool) -> Vec<Sample> {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(if quick { &[][..] } else { &["--bench"][..] })
        .env(CHILD, threads.to_string())
        .output()
        .expect("a child process");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(Sample::from_line).collect()
}
