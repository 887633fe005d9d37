//! The report: Markdown for readers, CSV for programs.

use std::fmt::Write;

use crate::Sample;

/// Floating-point operations per tetrahedron of a force evaluation.
///
/// Counted by hand in the source, each `+ − × ÷ √` as one, what the compiler takes out of the loop or computes once
/// for two uses not at all; moves, selections and comparisons do not count.
///
/// | part | operations |
/// |---|---|
/// | edges, F = B A⁻¹ | 9 + 45 |
/// | V P A⁻ᵀ, its row sums, sums on the particles | 9 + 45 + 6 + 12 |
/// | stable neo-Hookean stress: F : F, its factor, det, cof (one column is shared), combination | 17 + 3 + 17 + 18 + 27 |
/// | Liesenfeld stress: FᵀF, dev, det, cof, volume term, β F dev, combination | 30 + 6 + 14 + 18 + 16 + 54 + 18 |
/// | corotational stress: 12 Jacobi rotations of 66, the rest of the decomposition, product, det | 792 + 119 + 69 + 14 |
/// | viscosity: edges and rate, Ṫ, dev and trace, F S, power, sum | 54 + 51 + 17 + 45 + 19 + 9 |
fn operations(name: &str) -> f64 {
    let law = match name.split(" and ").next() {
        Some("stable neo-Hookean") => 82.0,
        Some("Liesenfeld") => 156.0,
        _ => 994.0,
    };
    let friction = if name.ends_with("viscosity") {
        195.0
    } else {
        0.0
    };
    126.0 + law + friction
}

/// Bytes per tetrahedron that a force evaluation streams through: indices 16, A⁻¹ 36, volume 4, forces on the corners
/// 48 written and 48 read, places of the corners 16. Positions are read over and over from the nearest cache.
const BYTES: f64 = 168.0;

/// Tables of everything that was measured.
pub fn markdown(samples: &[Sample]) -> String {
    let mut text = String::new();
    let of_kind = |kind: &'static str| samples.iter().filter(move |sample| sample.kind == kind);
    let peak = |name: &str, threads: usize| {
        of_kind("peak")
            .find(|sample| sample.name == name && sample.threads == threads)
            .map_or(f64::NAN, |sample| sample.numbers[0])
    };

    text.push_str("| scene | tetrahedra | threads | substeps | median ms | p95 ms | ns per tetrahedron and substep | state |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|---|\n");
    for sample in of_kind("frame") {
        let [elements, _, substeps, median, tail] = sample.numbers[..] else {
            continue;
        };
        let per_element = median * 1e6 / (elements * substeps);
        let Sample {
            name,
            threads,
            hash,
            ..
        } = sample;
        let _ = writeln!(
            text,
            "| {name} | {elements} | {threads} | {substeps:.1} | {median:.3} | {tail:.3} | {per_element:.1} | {hash} |"
        );
    }

    text.push_str("\n| forces on 50 400 tetrahedra | threads | median ns | best ns | GFLOP/s | of peak | GB/s | of peak |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for sample in of_kind("forces") {
        let [median, best] = sample.numbers[..] else {
            continue;
        };
        let Sample { name, threads, .. } = sample;
        let (flops, bytes) = (operations(name) / median * 1e9, BYTES / median * 1e9);
        let _ = writeln!(
            text,
            "| {name} | {threads} | {median:.1} | {best:.1} | {:.1} | {:.0} % | {:.1} | {:.0} % |",
            flops / 1e9,
            100.0 * flops / peak("flops", *threads),
            bytes / 1e9,
            100.0 * bytes / peak("cache", *threads),
        );
    }

    text.push_str("\n| the machine at best | threads | |\n|---|--:|--:|\n");
    for sample in of_kind("peak") {
        let (what, unit) = match sample.name.as_str() {
            "flops" => ("a = a b + c in registers", "GFLOP/s"),
            "cache" => ("a = b + s c, 3 MiB per thread", "GB/s"),
            _ => ("a = b + s c, 192 MiB per thread", "GB/s"),
        };
        let _ = writeln!(
            text,
            "| {what} | {} | {:.1} {unit} |",
            sample.threads,
            sample.numbers[0] / 1e9
        );
    }
    for sample in of_kind("fixed") {
        let _ = writeln!(
            text,
            "| cost of a substep with one body of 6 tetrahedra | {} | {:.1} µs |",
            sample.threads, sample.numbers[0]
        );
    }
    text
}

/// One line per measurement; the numbers of each kind as documented where they are measured.
pub fn csv(samples: &[Sample]) -> String {
    let mut text = String::from("kind,name,threads,numbers,hash\n");
    for sample in samples {
        let _ = writeln!(text, "{}", sample.to_line());
    }
    text
}
