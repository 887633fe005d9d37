//! `TetGen` `.node` and `.ele` files.

use super::ReadError;
use super::assemble::{Listed, Lists, Numbering, Repairs};
use super::tokens::Tokens;
use crate::mesh::TetrahedralMesh;

/// Reads the texts of a pair of `TetGen` files; the names are used in messages.
///
/// Numbering starts at 0 or 1, as the first vertex says. Attributes and boundary markers are ignored.
///
/// # Errors
/// [`ReadError::Syntax`], [`ReadError::NoTetrahedra`], [`ReadError::Mesh`].
pub fn parse_tetgen(
    node_text: &str,
    node_name: &str,
    element_text: &str,
    element_name: &str,
) -> Result<(TetrahedralMesh, Repairs), ReadError> {
    let mut tokens = Tokens::new(node_text, node_name, Some('#'));
    let count = tokens.count("the number of vertices")?;
    match tokens.integer("the dimension")? {
        3 => {}
        other => return Err(tokens.error(format!("expected dimension 3, found {other}"))),
    }
    // Numbers of attributes and markers, which some programs leave out.
    tokens.rest_of_line();
    let mut positions = Vec::with_capacity(tokens.capacity(count));
    let mut first = 1;
    for index in 0..count {
        let number = tokens.integer("the number of a vertex")?;
        if index == 0 {
            first = number;
        }
        in_order(&tokens, "vertex", number, first, index)?;
        positions.push(tokens.position()?);
        tokens.rest_of_line();
    }
    if first > 1 {
        return Err(tokens.error(format!(
            "expected numbers from 0 or 1, found a first vertex with number {first}"
        )));
    }
    at_end(&mut tokens, "vertices")?;

    let mut tokens = Tokens::new(element_text, element_name, Some('#'));
    let count = tokens.count("the number of tetrahedra")?;
    let corner_count = tokens.integer("the number of vertices per tetrahedron")?;
    if corner_count != 4 && corner_count != 10 {
        return Err(tokens.error(format!(
            "expected 4 or 10 vertices per tetrahedron, found {corner_count}"
        )));
    }
    tokens.rest_of_line();
    let mut tetrahedra = Vec::with_capacity(tokens.capacity(count));
    for index in 0..count {
        let number = tokens.integer("the number of a tetrahedron")?;
        in_order(&tokens, "tetrahedron", number, first, index)?;
        let corners = tokens.corners()?;
        tetrahedra.push(Listed {
            corners,
            line: tokens.line(),
        });
        tokens.rest_of_line();
    }
    at_end(&mut tokens, "tetrahedra")?;
    Lists {
        vertex_file: node_name,
        tetrahedron_file: element_name,
        positions,
        numbering: Numbering::From(first),
        tetrahedra,
        skipped: 0,
    }
    .assemble()
}

/// Entries count upward by one; a gap means that a line is missing.
fn in_order(
    tokens: &Tokens,
    what: &str,
    number: u64,
    first: u64,
    index: usize,
) -> Result<(), ReadError> {
    let expected = first.saturating_add(index as u64);
    if number == expected {
        return Ok(());
    }
    Err(tokens.error(format!("expected {what} {expected}, found {number}")))
}

fn at_end(tokens: &mut Tokens, what: &str) -> Result<(), ReadError> {
    match tokens.next() {
        None => Ok(()),
        Some(_) => Err(tokens.error(format!(
            "expected the end of the file: there are more {what} than the first line says"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::damage;

    const NODES: &str = "# from a mesher\n5 3 1 1\n1 0 0 0 9 1\n2 1 0 0 9 1\n3 0 1 0 9 1\n4 0 0 1 9 1 # here\n5 1 1 1 9 1\n# end\n";
    const ELEMENTS: &str = "2 4 1\n1 1 2 4 3 5\n2 2 3 4 5 5\n";

    #[test]
    fn numbering_may_start_at_zero_or_one() {
        let (one, repairs) = parse_tetgen(NODES, "n", ELEMENTS, "e").unwrap();
        assert_eq!(
            (
                one.positions.len(),
                one.tetrahedra.len(),
                repairs.reoriented_tetrahedra
            ),
            (5, 2, 1)
        );
        let nodes = "5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n";
        let (zero, _) = parse_tetgen(nodes, "n", "2 4 0\n0 0 1 3 2\n1 1 2 3 4\n", "e").unwrap();
        assert_eq!(zero, one);
    }

    #[test]
    fn damaged_files_are_errors() {
        damage::check(NODES, |text| parse_tetgen(text, "n", ELEMENTS, "e"));
        damage::check(ELEMENTS, |text| parse_tetgen(NODES, "n", text, "e"));
    }

    #[test]
    fn messages_name_the_file_of_the_pair() {
        let nodes = |from: &str, to: &str| {
            parse_tetgen(&NODES.replacen(from, to, 1), "n", ELEMENTS, "e")
                .unwrap_err()
                .to_string()
        };
        let elements = |from: &str, to: &str| {
            parse_tetgen(NODES, "n", &ELEMENTS.replacen(from, to, 1), "e")
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            nodes("3 0 1 0", "4 0 1 0"),
            "n:5: expected vertex 3, found 4"
        );
        assert!(nodes("5 3 1 1", "5 2 1 1").starts_with("n:2: expected dimension 3"));
        assert!(nodes("5 3 1 1", "6 3 1 1").starts_with("n:8: the file ends"));
        assert!(nodes("5 3 1 1", "4 3 1 1").starts_with("n:7: expected the end of the file"));
        assert_eq!(
            elements("2 2 3 4 5", "2 2 3 4 6"),
            "e:3: there is no vertex 6 (they run from 1 to 5)"
        );
        assert!(elements("2 4 1", "2 3 1").starts_with("e:1: expected 4 or 10"));
    }
}
