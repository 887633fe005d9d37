//! Medit `.mesh` files, ASCII.

use nalgebra::Vector3;

use super::ReadError;
use super::assemble::{Listed, Lists, Numbering, Repairs};
use super::tokens::{Tokens, shortened};
use crate::mesh::TetrahedralMesh;

/// Reads the text of a Medit file; `name` is used in messages.
///
/// Vertices are numbered from 1. Reference numbers are ignored, and so are sections other than `Vertices` and
/// `Tetrahedra`. `End` may be missing: the counts tell whether the lists are whole.
///
/// # Errors
/// [`ReadError::Syntax`], [`ReadError::NoTetrahedra`], [`ReadError::Mesh`].
pub fn parse_medit(text: &str, name: &str) -> Result<(TetrahedralMesh, Repairs), ReadError> {
    let mut tokens = Tokens::new(text, name, Some('#'));
    let mut positions: Vec<Vector3<f64>> = Vec::new();
    let mut tetrahedra = Vec::new();
    let mut skipped = 0;
    tokens.keyword("MeshVersionFormatted")?;
    tokens.integer("the version of the format")?;
    while let Some(section) = tokens.next() {
        match section.to_ascii_lowercase().as_str() {
            "dimension" => match tokens.integer("the dimension")? {
                3 => {}
                other => return Err(tokens.error(format!("expected dimension 3, found {other}"))),
            },
            "vertices" => {
                let count = tokens.count("the number of vertices")?;
                positions.reserve(tokens.capacity(count));
                for _ in 0..count {
                    positions.push(tokens.position()?);
                    tokens.word("the reference number of a vertex")?;
                }
            }
            "tetrahedra" => {
                for _ in 0..tokens.count("the number of tetrahedra")? {
                    let corners = tokens.corners()?;
                    tetrahedra.push(Listed {
                        corners,
                        line: tokens.line(),
                    });
                    tokens.word("the reference number of a tetrahedron")?;
                }
            }
            "end" => break,
            _ if section.starts_with(char::is_alphabetic) => {
                // Not bounded by the text, unlike other counts: a file may claim anything for what is skipped.
                skipped = usize::saturating_add(skipped, skip_section(&mut tokens, section)?);
            }
            _ => {
                let found = shortened(section);
                return Err(tokens.error(format!("expected a section such as `Tetrahedra`, found `{found}`; is a count too small?")));
            }
        }
    }
    Lists {
        vertex_file: name,
        tetrahedron_file: name,
        positions,
        numbering: Numbering::From(1),
        tetrahedra,
        skipped,
    }
    .assemble()
}

/// Skips the numbers of a section and returns how many elements it has, if it is one of elements.
fn skip_section(tokens: &mut Tokens, section: &str) -> Result<usize, ReadError> {
    let elements = [
        "Edges",
        "Triangles",
        "Quadrilaterals",
        "Hexahedra",
        "Hexaedra",
        "Prisms",
        "Pyramids",
    ];
    let count = if elements
        .iter()
        .any(|known| known.eq_ignore_ascii_case(section))
    {
        tokens.count("the number of elements")?
    } else {
        0
    };
    while tokens
        .peek()
        .is_some_and(|word| !word.starts_with(char::is_alphabetic))
    {
        tokens.next();
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::damage;

    const SAMPLE: &str = "MeshVersionFormatted 1\n# a comment\nDimension\n3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n\
        1 1 1 0\nTriangles\n1\n1 2 3 7\nTetrahedra\n2\n1 2 4 3 0\n2 3 4 5 0\nRequiredVertices\n1\n1\nEnd\n";

    #[test]
    fn sample_is_read() {
        let (mesh, repairs) = parse_medit(SAMPLE, "f").unwrap();
        assert_eq!((mesh.positions.len(), mesh.tetrahedra.len()), (5, 2));
        let expected = Repairs {
            reoriented_tetrahedra: 1,
            unused_vertices: 0,
            skipped_elements: 1,
        };
        assert_eq!(repairs, expected);
    }

    #[test]
    fn damaged_files_are_errors() {
        damage::check(SAMPLE, |text| parse_medit(text, "f"));
    }

    #[test]
    fn absurd_counts_of_skipped_elements_do_not_overflow() {
        let absurd = format!("Triangles\n{}\n1 2 3 7\n", u64::MAX);
        let text = SAMPLE.replacen("Triangles\n1\n1 2 3 7\n", &absurd.repeat(2), 1);
        assert_eq!(
            parse_medit(&text, "f").unwrap().0,
            parse_medit(SAMPLE, "f").unwrap().0
        );
    }

    #[test]
    fn messages_say_where_and_what() {
        let problem = |from: &str, to: &str| {
            parse_medit(&SAMPLE.replacen(from, to, 1), "f")
                .unwrap_err()
                .to_string()
        };
        assert!(problem("Dimension\n3", "Dimension\n2").starts_with("f:4: expected dimension 3"));
        assert!(
            problem("2 3 4 5 0", "2 3 4 6 0")
                .starts_with("f:18: there is no vertex 6 (they run from 1 to 5)")
        );
        assert!(problem("Tetrahedra\n2", "Tetrahedra\n1").starts_with("f:18: expected a section"));
        assert!(
            problem("Tetrahedra\n2", "Tetrahedra\n3")
                .starts_with("f:19: expected the number of a vertex")
        );
        assert!(problem("0 0 1 0", "0 0 nan 0").starts_with("f:10: a coordinate must be finite"));
        assert!(
            problem("MeshVersionFormatted", "solid")
                .starts_with("f:1: expected `MeshVersionFormatted`")
        );
        let cut = SAMPLE.split("0 0 1 0").next().unwrap();
        let error = parse_medit(cut, "f").unwrap_err().to_string();
        assert_eq!(
            error,
            "f:9: the file ends where a coordinate was expected; is it cut off?"
        );
    }
}
