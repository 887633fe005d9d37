//! Gmsh `.msh` files, versions 2.2 and 4.1, ASCII.

use nalgebra::Vector3;

use super::ReadError;
use super::assemble::{Listed, Lists, Numbering, Repairs};
use super::tokens::{Tokens, shortened};
use crate::mesh::TetrahedralMesh;

/// Element type codes of tetrahedra with 4, 10, 20, 35 and 56 nodes; the four corners come first in all of them.
const TETRAHEDRA: [u64; 5] = [4, 11, 29, 30, 31];

/// Reads the text of a Gmsh file; `name` is used in messages.
///
/// All tetrahedra are read, of whichever physical group. Vertex numbers may have gaps.
///
/// # Errors
/// [`ReadError::Syntax`], also for binary files and other versions; [`ReadError::NoTetrahedra`]; [`ReadError::Mesh`].
pub fn parse_gmsh(text: &str, name: &str) -> Result<(TetrahedralMesh, Repairs), ReadError> {
    let mut tokens = Tokens::new(text, name, None);
    let mut reader = Reader::default();
    let mut version = None;
    let mut complete = [false; 2];
    while let Some(word) = tokens.next() {
        let Some(section) = word.strip_prefix('$') else {
            return Err(tokens.error(format!(
                "expected a section such as `$Nodes`, found `{}`",
                shortened(word)
            )));
        };
        match (section, version) {
            ("MeshFormat", _) => version = Some(format(&mut tokens)?),
            ("Nodes" | "Elements", None) => {
                return Err(tokens.error("expected the section `$MeshFormat` first"));
            }
            ("Nodes", Some(version)) => {
                match version {
                    Version::Two => reader.nodes_2(&mut tokens)?,
                    Version::Four => reader.nodes_4(&mut tokens)?,
                }
                complete[0] = true;
            }
            ("Elements", Some(version)) => {
                match version {
                    Version::Two => reader.elements_2(&mut tokens)?,
                    Version::Four => reader.elements_4(&mut tokens)?,
                }
                complete[1] = true;
            }
            _ => skip_section(&mut tokens, section)?,
        }
        if matches!(section, "MeshFormat" | "Nodes" | "Elements") {
            tokens.keyword(&format!("$End{section}"))?;
        }
    }
    for (section, complete) in ["`$Nodes`", "`$Elements`"].into_iter().zip(complete) {
        if !complete {
            return Err(tokens.error(format!(
                "the file ends without a section {section}; is it a Gmsh mesh, and whole?"
            )));
        }
    }
    Lists {
        vertex_file: name,
        tetrahedron_file: name,
        positions: reader.positions,
        numbering: Numbering::Given(reader.numbers),
        tetrahedra: reader.tetrahedra,
        skipped: reader.skipped,
    }
    .assemble()
}

#[derive(Clone, Copy)]
enum Version {
    Two,
    Four,
}

fn format(tokens: &mut Tokens) -> Result<Version, ReadError> {
    let version = match tokens.word("the version of the format")? {
        "2.2" | "2.1" | "2" => Version::Two,
        "4.1" => Version::Four,
        other => {
            let found = shortened(other);
            return Err(tokens.error(format!(
                "version {found} of the format is not read: export as version 4.1 or 2.2 (option `Mesh.MshFileVersion` of Gmsh)"
            )));
        }
    };
    match tokens.integer("the file type")? {
        0 => {}
        1 => {
            return Err(tokens.error(
                "the file is binary, only ASCII is read: set the option `Mesh.Binary` of Gmsh to 0 and export again",
            ));
        }
        other => return Err(tokens.error(format!("expected file type 0 (ASCII), found {other}"))),
    }
    tokens.integer("the size of numbers")?;
    Ok(version)
}

fn skip_section(tokens: &mut Tokens, section: &str) -> Result<(), ReadError> {
    let end = format!("$End{section}");
    let start = tokens.line();
    while let Some(word) = tokens.next() {
        if word == end {
            return Ok(());
        }
    }
    Err(tokens.error(format!(
        "the file ends where `{end}` was expected; section `${}` starts on line {start}",
        shortened(section)
    )))
}

#[derive(Default)]
struct Reader {
    positions: Vec<Vector3<f64>>,
    numbers: Vec<(u64, usize)>,
    tetrahedra: Vec<Listed>,
    skipped: usize,
}

impl Reader {
    /// Version 2: a count, then number and position of each node.
    fn nodes_2(&mut self, tokens: &mut Tokens) -> Result<(), ReadError> {
        let count = tokens.count("the number of nodes")?;
        self.positions.reserve(tokens.capacity(count));
        for _ in 0..count {
            let number = tokens.integer("the number of a node")?;
            self.numbers.push((number, tokens.line()));
            self.positions.push(tokens.position()?);
            tokens.end_of_line("the position of a node")?;
        }
        Ok(())
    }

    /// Version 4: blocks of nodes, in each first all numbers, then all positions.
    fn nodes_4(&mut self, tokens: &mut Tokens) -> Result<(), ReadError> {
        let blocks = tokens.count("the number of node blocks")?;
        let total = tokens.count("the number of nodes")?;
        tokens.integer("the lowest node number")?;
        tokens.integer("the highest node number")?;
        self.positions.reserve(tokens.capacity(total));
        let before = self.positions.len();
        for _ in 0..blocks {
            tokens.integer("the dimension of the entity")?;
            tokens.word("the number of the entity")?;
            tokens.integer("whether nodes are parametric")?;
            let count = tokens.count("the number of nodes in the block")?;
            for _ in 0..count {
                let number = tokens.integer("the number of a node")?;
                self.numbers.push((number, tokens.line()));
            }
            for _ in 0..count {
                self.positions.push(tokens.position()?);
                // Parametric coordinates may follow.
                tokens.rest_of_line();
            }
        }
        agree(tokens, "nodes", total, self.positions.len() - before)
    }

    /// Version 2: a count, then number, type, tags and nodes of each element.
    fn elements_2(&mut self, tokens: &mut Tokens) -> Result<(), ReadError> {
        let count = tokens.count("the number of elements")?;
        for _ in 0..count {
            tokens.integer("the number of an element")?;
            let kind = tokens.integer("the type of an element")?;
            for _ in 0..tokens.count("the number of tags")? {
                tokens.word("a tag")?;
            }
            self.element(tokens, kind)?;
        }
        Ok(())
    }

    /// Version 4: blocks of elements of one type, each with its number and nodes.
    fn elements_4(&mut self, tokens: &mut Tokens) -> Result<(), ReadError> {
        let blocks = tokens.count("the number of element blocks")?;
        let total = tokens.count("the number of elements")?;
        tokens.integer("the lowest element number")?;
        tokens.integer("the highest element number")?;
        let mut found = 0_usize;
        for _ in 0..blocks {
            tokens.integer("the dimension of the entity")?;
            tokens.word("the number of the entity")?;
            let kind = tokens.integer("the type of elements")?;
            let count = tokens.count("the number of elements in the block")?;
            for _ in 0..count {
                tokens.integer("the number of an element")?;
                self.element(tokens, kind)?;
            }
            found += count;
        }
        agree(tokens, "elements", total, found)
    }

    /// The nodes of one element, up to the end of its line.
    fn element(&mut self, tokens: &mut Tokens, kind: u64) -> Result<(), ReadError> {
        if !TETRAHEDRA.contains(&kind) {
            tokens.rest_of_line();
            self.skipped += 1;
            return Ok(());
        }
        let corners = tokens.corners()?;
        self.tetrahedra.push(Listed {
            corners,
            line: tokens.line(),
        });
        if kind == TETRAHEDRA[0] {
            return tokens.end_of_line("the four nodes of a tetrahedron");
        }
        tokens.rest_of_line();
        Ok(())
    }
}

fn agree(tokens: &Tokens, what: &str, declared: usize, found: usize) -> Result<(), ReadError> {
    if declared == found {
        return Ok(());
    }
    Err(tokens.error(format!(
        "the section declares {declared} {what}, but its blocks have {found}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::damage;

    const TWO: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n$Nodes\n5\n\
        10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n50 1 1 1\n$EndNodes\n$Elements\n4\n1 15 2 0 1 10\n2 2 2 0 1 10 20 30\n\
        3 4 2 0 1 10 20 30 40\n4 4 2 0 1 20 30 40 50\n$EndElements\n";
    const FOUR: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 5 10 50\n2 1 1 1\n10\n0 0 0 0.5 0.5\n3 1 0 4\n20\n30\n40\n50\n\
        1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 10 20 30\n3 1 4 2\n2 10 20 30 40\n3 20 30 40 50\n\
        $EndElements\n";

    #[test]
    fn both_versions_give_the_same_mesh() {
        let (two, repairs) = parse_gmsh(TWO, "two").unwrap();
        assert_eq!((two.positions.len(), two.tetrahedra.len()), (5, 2));
        assert_eq!((repairs.skipped_elements, repairs.unused_vertices), (2, 0));
        assert_eq!(parse_gmsh(FOUR, "four").unwrap().0, two);
    }

    #[test]
    fn damaged_files_are_errors() {
        damage::check(TWO, |text| parse_gmsh(text, "two"));
        damage::check(FOUR, |text| parse_gmsh(text, "four"));
    }

    #[test]
    fn messages_say_where_and_what() {
        let problem = |from: &str, to: &str| {
            parse_gmsh(&TWO.replacen(from, to, 1), "f")
                .unwrap_err()
                .to_string()
        };
        assert!(problem("2.2 0 8", "2.2 1 8").contains("f:2: the file is binary"));
        assert!(problem("2.2 0 8", "4.0 0 8").contains("f:2: version 4.0"));
        assert!(
            problem("30 0 1 0", "30 0 y 0").starts_with("f:12: expected a coordinate, found `y`")
        );
        assert!(problem("30 0 1 0", "30 0 inf 0").starts_with("f:12: a coordinate must be finite"));
        assert!(
            problem("30 0 1 0", "20 0 1 0")
                .starts_with("f:12: vertex number 20 was already given on line 11")
        );
        assert!(problem("20 30 40 50", "20 30 40 51").starts_with("f:21: there is no vertex 51"));
        assert!(
            problem("20 30 40 50", "20 30 40 50 60")
                .starts_with("f:21: expected the end of the line")
        );
        assert!(problem("\n5\n", "\n4\n").starts_with("f:14: expected `$EndNodes`"));
        assert!(problem("\n5\n", "\n6\n").starts_with("f:15: expected the number of a node"));
        assert!(problem("$Elements\n", "$Other\n").contains("`$EndOther`"));
        let declared = FOUR.replacen("2 5 10 50", "2 6 10 50", 1);
        assert!(
            parse_gmsh(&declared, "f")
                .unwrap_err()
                .to_string()
                .contains("declares 6 nodes, but its blocks have 5")
        );
        assert!(matches!(
            parse_gmsh(&TWO.replace(" 4 2 0 1", " 5 2 0 1"), "f"),
            Err(ReadError::NoTetrahedra { skipped: 4, .. })
        ));
    }

    #[test]
    fn second_order_tetrahedra_are_read_by_their_corners() {
        let text = TWO.replacen(
            "3 4 2 0 1 10 20 30 40",
            "3 11 2 0 1 10 20 30 40 50 50 50 50 50 50",
            1,
        );
        assert_eq!(
            parse_gmsh(&text, "f").unwrap().0,
            parse_gmsh(TWO, "f").unwrap().0
        );
    }
}
