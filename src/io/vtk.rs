//! VTK legacy `.vtk` files, ASCII unstructured grids.

use nalgebra::Vector3;

use super::ReadError;
use super::assemble::{Listed, Lists, Numbering, Repairs};
use super::tokens::{Tokens, shortened};
use crate::mesh::TetrahedralMesh;

/// Cell type codes of tetrahedra with 4 and with 10 points; the four corners come first in both.
const TETRAHEDRA: [u64; 2] = [10, 24];

/// Points of a cell and the line where they start.
type Cell = (Vec<u64>, usize);

/// Reads the text of a VTK legacy file; `name` is used in messages.
///
/// Both layouts of `CELLS` are read: the older one with a count before each cell, and that of version 5 with `OFFSETS` and
/// `CONNECTIVITY`. Point and cell data are ignored.
///
/// # Errors
/// [`ReadError::Syntax`], also for binary files and other kinds of data set; [`ReadError::NoTetrahedra`];
/// [`ReadError::Mesh`].
pub fn parse_vtk(text: &str, name: &str) -> Result<(TetrahedralMesh, Repairs), ReadError> {
    let mut tokens = Tokens::new(text, name, None);
    header(&mut tokens)?;
    let mut positions: Option<Vec<Vector3<f64>>> = None;
    let mut cells: Option<Vec<Cell>> = None;
    let mut types: Option<Vec<u64>> = None;
    while let Some(section) = tokens.next() {
        match section.to_ascii_uppercase().as_str() {
            "POINTS" => positions = Some(points(&mut tokens)?),
            "CELLS" => cells = Some(read_cells(&mut tokens)?),
            "CELL_TYPES" => {
                let count = tokens.count("the number of cell types")?;
                let mut list = Vec::with_capacity(tokens.capacity(count));
                for _ in 0..count {
                    list.push(tokens.integer("a cell type")?);
                }
                types = Some(list);
            }
            "FIELD" => skip_field(&mut tokens)?,
            "METADATA" => {
                tokens.rest_of_line();
                // Ends with an empty line; every word on the way is of no interest.
                while !tokens.next_line_is_empty() {
                    tokens.next();
                    tokens.rest_of_line();
                }
            }
            "POINT_DATA" | "CELL_DATA" => break,
            _ => {
                let found = shortened(section);
                return Err(tokens.error(format!("expected `POINTS`, `CELLS` or `CELL_TYPES`, found `{found}`; is a count too small?")));
            }
        }
    }
    let missing =
        |section: &str| tokens.error(format!("the file ends without `{section}`; is it cut off?"));
    let positions = positions.ok_or_else(|| missing("POINTS"))?;
    let cells = cells.ok_or_else(|| missing("CELLS"))?;
    let types = types.ok_or_else(|| missing("CELL_TYPES"))?;
    if cells.len() != types.len() {
        return Err(tokens.error(format!(
            "there are {} cells, but {} cell types",
            cells.len(),
            types.len()
        )));
    }
    let mut tetrahedra = Vec::new();
    for ((cell, line), kind) in cells.iter().zip(&types) {
        if TETRAHEDRA.contains(kind) {
            let Some(&corners) = cell.first_chunk::<4>() else {
                let problem = format!("a tetrahedron needs 4 points, this cell has {}", cell.len());
                return Err(ReadError::Syntax {
                    file: name.to_owned(),
                    line: *line,
                    problem,
                });
            };
            tetrahedra.push(Listed {
                corners,
                line: *line,
            });
        }
    }
    Lists {
        vertex_file: name,
        tetrahedron_file: name,
        positions,
        numbering: Numbering::From(0),
        skipped: cells.len() - tetrahedra.len(),
        tetrahedra,
    }
    .assemble()
}

fn header(tokens: &mut Tokens) -> Result<(), ReadError> {
    let first = tokens.rest_of_line();
    if !first.to_ascii_lowercase().starts_with("# vtk datafile") {
        return Err(tokens.error(format!(
            "expected `# vtk DataFile Version`, found `{}`",
            shortened(first)
        )));
    }
    tokens.skip_line_end();
    // The title, which may be anything, also nothing.
    tokens.rest_of_line();
    match tokens.word("`ASCII`")?.to_ascii_uppercase().as_str() {
        "ASCII" => {}
        "BINARY" => {
            return Err(tokens.error(
                "the file is binary, only ASCII is read: choose ASCII when saving (in ParaView the option `File Type` of legacy VTK)",
            ));
        }
        other => {
            return Err(tokens.error(format!("expected `ASCII`, found `{}`", shortened(other))));
        }
    }
    tokens.keyword("DATASET")?;
    tokens.keyword("UNSTRUCTURED_GRID")
}

fn points(tokens: &mut Tokens) -> Result<Vec<Vector3<f64>>, ReadError> {
    let count = tokens.count("the number of points")?;
    tokens.word("the type of coordinates")?;
    let mut positions = Vec::with_capacity(tokens.capacity(count));
    for _ in 0..count {
        positions.push(tokens.position()?);
    }
    Ok(positions)
}

fn read_cells(tokens: &mut Tokens) -> Result<Vec<Cell>, ReadError> {
    let count = tokens.count("the number of cells")?;
    let size = tokens.count("the size of the cell list")?;
    if tokens
        .peek()
        .is_some_and(|word| word.eq_ignore_ascii_case("OFFSETS"))
    {
        return read_cells_with_offsets(tokens, count, size);
    }
    let mut cells = Vec::with_capacity(tokens.capacity(count));
    let mut left = size;
    for _ in 0..count {
        let points = tokens.count("the number of points of a cell")?;
        let line = tokens.line();
        left = left.checked_sub(points.saturating_add(1)).ok_or_else(|| {
            tokens.error(format!(
                "the cells need more than the {size} numbers declared"
            ))
        })?;
        cells.push((connectivity(tokens, points)?, line));
    }
    if left > 0 {
        return Err(tokens.error(format!(
            "the cells need {left} numbers fewer than the {size} declared"
        )));
    }
    Ok(cells)
}

/// The layout of version 5: where each cell starts, with the end of the last one, then the points of all cells.
fn read_cells_with_offsets(
    tokens: &mut Tokens,
    count: usize,
    size: usize,
) -> Result<Vec<Cell>, ReadError> {
    tokens.keyword("OFFSETS")?;
    tokens.word("the type of offsets")?;
    let mut offsets: Vec<usize> = Vec::with_capacity(tokens.capacity(count));
    for _ in 0..count {
        let offset = tokens.count("an offset")?;
        let previous = offsets.last().copied().unwrap_or(0);
        if offset < previous || (offsets.is_empty() && offset > 0) {
            return Err(tokens.error(format!(
                "offsets must start at 0 and not decrease, found {offset} after {previous}"
            )));
        }
        offsets.push(offset);
    }
    if offsets.last().copied().unwrap_or(0) != size {
        return Err(tokens.error(format!(
            "the last offset must be the size of the cell list, {size}"
        )));
    }
    tokens.keyword("CONNECTIVITY")?;
    tokens.word("the type of point numbers")?;
    let mut cells = Vec::with_capacity(offsets.len());
    for pair in offsets.windows(2) {
        // The first word moves to the line of the cell.
        let points = connectivity(tokens, pair[1] - pair[0])?;
        cells.push((points, tokens.line()));
    }
    Ok(cells)
}

fn connectivity(tokens: &mut Tokens, count: usize) -> Result<Vec<u64>, ReadError> {
    let mut points = Vec::with_capacity(tokens.capacity(count));
    for _ in 0..count {
        points.push(tokens.integer("the number of a point")?);
    }
    Ok(points)
}

/// Field data before the grid: arrays of a name, a width, a length, a type and the values.
fn skip_field(tokens: &mut Tokens) -> Result<(), ReadError> {
    tokens.word("the name of the field")?;
    for _ in 0..tokens.count("the number of arrays")? {
        tokens.word("the name of an array")?;
        let width = tokens.count("the width of an array")?;
        let length = tokens.count("the length of an array")?;
        tokens.word("the type of an array")?;
        for _ in 0..width.saturating_mul(length) {
            tokens.word("a value of an array")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::damage;

    const OLD: &str = "# vtk DataFile Version 3.0\na body\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n\
        0.5\nPOINTS 5 float\n0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1\nMETADATA\nINFORMATION 0\n\nCELLS 3 14\n3 0 1 2\n4 0 1 2 3\n\
        4 1 2 3 4\nCELL_TYPES 3\n5\n10\n10\nCELL_DATA 3\nSCALARS a int\n";
    const NEW: &str = "# vtk DataFile Version 5.1\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0\n\
        0 0 1 1 1 1\n\nCELLS 4 11\nOFFSETS vtktypeint64\n0\n3 7\n11\nCONNECTIVITY vtktypeint64\n0 1 2\n0 1 2 3\n1 2 3 4\n\
        CELL_TYPES 3\n5\n10\n10\n";

    #[test]
    fn both_layouts_give_the_same_mesh() {
        let (old, repairs) = parse_vtk(OLD, "old").unwrap();
        assert_eq!(
            (
                old.positions.len(),
                old.tetrahedra.len(),
                repairs.skipped_elements
            ),
            (5, 2, 1)
        );
        assert_eq!(parse_vtk(NEW, "new").unwrap().0, old);
    }

    #[test]
    fn damaged_files_are_errors() {
        damage::check(OLD, |text| parse_vtk(text, "old"));
        damage::check(NEW, |text| parse_vtk(text, "new"));
    }

    #[test]
    fn messages_say_where_and_what() {
        let problem = |text: &str, from: &str, to: &str| {
            parse_vtk(&text.replacen(from, to, 1), "f")
                .unwrap_err()
                .to_string()
        };
        assert!(problem(OLD, "ASCII", "BINARY").starts_with("f:3: the file is binary"));
        assert!(
            problem(OLD, "UNSTRUCTURED_GRID", "POLYDATA")
                .starts_with("f:4: expected `UNSTRUCTURED_GRID`")
        );
        assert!(problem(OLD, "4 1 2 3 4", "4 1 2 3 5").starts_with("f:17: there is no vertex 5"));
        assert!(
            problem(OLD, "4 1 2 3 4", "3 1 2 3")
                .starts_with("f:17: the cells need 1 numbers fewer")
        );
        assert!(
            problem(OLD, "CELLS 3 14", "CELLS 3 13")
                .starts_with("f:17: the cells need more than the 13")
        );
        assert!(
            problem(OLD, "3 0 1 2\n4 0 1 2 3", "4 0 1 2 3\n3 0 1 2")
                .starts_with("f:16: a tetrahedron needs 4 points")
        );
        assert!(
            problem(OLD, "CELL_TYPES 3\n5\n", "CELL_TYPES 2\n")
                .contains("there are 3 cells, but 2 cell types")
        );
        assert!(problem(NEW, "3 7\n11", "3 7\n10").starts_with("f:13: the last offset"));
        assert!(problem(NEW, "3 7", "8 7").starts_with("f:12: offsets must start at 0"));
        assert!(
            problem(NEW, "# vtk", "solid").starts_with("f:1: expected `# vtk DataFile Version`")
        );
    }
}
