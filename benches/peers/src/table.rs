//! The Markdown table.

use crate::case::Case;
use crate::contender::Contender;
use crate::motion::Motion;

/// The first two lines.
pub const HEADING: &str = "\
| scene | E, Pa | tetrahedra | engine and settings | ms per frame | error | inverted | volume error | time, of the first row's |
|---|--:|--:|---|--:|--:|--:|--:|--:|";

/// The line of a run, compared with a converged one and with the time of the case's first row, ms.
pub fn row(
    case: &Case,
    contender: &Contender,
    motion: &Motion,
    reference: &Motion,
    first: f64,
) -> String {
    let milliseconds = motion.median_milliseconds();
    let substeps = motion
        .substeps
        .map_or_else(String::new, |count| format!(", {count} substeps"));
    format!(
        "| {} | {:.0e} | {} | {}{substeps} | {milliseconds:.2} | {:.3} % | {} | {:.2} % | {:.2} |",
        case.name,
        case.young_modulus,
        case.mesh.tetrahedra.len(),
        contender.describe(),
        100.0 * motion.error(case, reference),
        motion.inverted,
        100.0 * motion.volume_error,
        milliseconds / first,
    )
}
