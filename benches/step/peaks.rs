//! What the machine can do at best with the same compiler flags.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crate::Sample;

/// Numbers of a triad array that lies in memory, and of one that lies in the cache as a large body does.
const IN_MEMORY: usize = 1 << 24;
const IN_CACHE: usize = 1 << 18;

/// Independent sums of the multiply-add loop: enough to hide its latency, few enough for the registers of the baseline
/// instruction set.
const CHAINS: usize = 48;

/// Bandwidth in bytes/s, of memory and of the cache, and multiplications and additions per second.
pub fn measure(threads: usize, quick: bool) -> Vec<Sample> {
    if quick {
        return Vec::new();
    }
    vec![
        Sample::new(
            "peak",
            "memory",
            vec![together(threads, || triad(IN_MEMORY, 1))],
        ),
        Sample::new(
            "peak",
            "cache",
            vec![together(threads, || triad(IN_CACHE, 64))],
        ),
        Sample::new("peak", "flops", vec![together(threads, multiply_add)]),
    ]
}

/// Runs `rate` on every thread at once and adds up what it returns.
fn together(threads: usize, rate: impl Fn() -> f64 + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    rate()
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("a thread"))
            .sum()
    })
}

/// `a = b + s c`: bytes read and written per second, the best of several runs.
fn triad(count: usize, repetitions: usize) -> f64 {
    let (mut a, b, c) = (
        vec![0.0_f32; count],
        vec![1.0_f32; count],
        vec![2.0_f32; count],
    );
    let run = || {
        for _ in 0..repetitions {
            for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
                *a = b + 3.0 * c;
            }
            black_box(&mut a);
        }
    };
    (3 * size_of::<f32>() * count * repetitions) as f64 / best(12, run)
}

/// `a = a b + c` in registers: operations per second, the best of several runs.
fn multiply_add() -> f64 {
    const STEPS: usize = 1 << 20;
    let run = || {
        let (factor, term) = (black_box(0.999_f32), black_box(0.001_f32));
        let mut sums = [black_box(1.0_f32); CHAINS];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = *sum * factor + term;
            }
        }
        black_box(&sums);
    };
    (2 * CHAINS * STEPS) as f64 / best(30, run)
}

fn best(runs: usize, mut run: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}
