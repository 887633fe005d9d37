//! Systematic damage to sample files, for the tests of the readers.

use super::{ReadError, Repairs};
use crate::mesh::TetrahedralMesh;

type Outcome = Result<(TetrahedralMesh, Repairs), ReadError>;

/// Cuts `text` after every byte, and replaces each of its words by several others. Each time `parse` must return an error
/// with a message, or a valid mesh; the undamaged text must be read.
pub(super) fn check(text: &str, parse: impl Fn(&str) -> Outcome) {
    check_with(text, parse, |(mesh, _)| mesh.validate() == Ok(()));
}

/// Like [`check`] for meshes of any kind, which `valid` judges.
pub(super) fn check_with<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, ReadError>,
    valid: impl Fn(&T) -> bool,
) {
    let examine = |outcome: &Result<T, ReadError>, text: &str| match outcome {
        Ok(mesh) => assert!(valid(mesh), "{text}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    };
    assert!(parse(text).is_ok());
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        examine(&parse(&text[..end]), &text[..end]);
    }
    let mut start = 0;
    for word in text.split_whitespace() {
        start += text[start..].find(word).unwrap();
        let end = start + word.len();
        for other in [
            "",
            "x",
            "-1",
            "0",
            "1",
            "7",
            "nan",
            "1e999",
            "4294967296",
            "18446744073709551615",
            "1e300",
            "$End",
            "🙂",
        ] {
            let damaged = [&text[..start], other, &text[end..]].concat();
            examine(&parse(&damaged), &damaged);
        }
        start = end;
    }
}
