//! From the lists of a file to a valid mesh; the same for all formats.

use nalgebra::Vector3;

use super::ReadError;
use crate::mesh::TetrahedralMesh;

/// What was put right while reading a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Tetrahedra listed in mirrored order, turned around.
    pub reoriented_tetrahedra: usize,
    /// Vertices that no tetrahedron used, dropped.
    pub unused_vertices: usize,
    /// Elements that are no tetrahedra, skipped.
    pub skipped_elements: usize,
}

/// How a file numbers its vertices.
pub(super) enum Numbering {
    /// In order, from this number.
    From(u64),
    /// By a number given with each vertex: the number and the line it stands on, in the order of the vertices.
    Given(Vec<(u64, usize)>),
}

/// A tetrahedron as the file lists it.
pub(super) struct Listed {
    /// Numbers of its four corners.
    pub corners: [u64; 4],
    /// The line it stands on.
    pub line: usize,
}

/// The lists of a file.
pub(super) struct Lists<'a> {
    /// Name of the file with the vertices.
    pub vertex_file: &'a str,
    /// Name of the file with the tetrahedra.
    pub tetrahedron_file: &'a str,
    pub positions: Vec<Vector3<f64>>,
    pub numbering: Numbering,
    pub tetrahedra: Vec<Listed>,
    /// Elements of other kinds.
    pub skipped: usize,
}

impl Lists<'_> {
    /// Resolves vertex numbers, repairs what may be repaired, validates.
    pub fn assemble(self) -> Result<(TetrahedralMesh, Repairs), ReadError> {
        let file = self.tetrahedron_file.to_owned();
        if self.tetrahedra.is_empty() {
            return Err(ReadError::NoTetrahedra {
                file,
                skipped: self.skipped,
            });
        }
        let index_of = self.indices()?;
        let mut tetrahedra = Vec::with_capacity(self.tetrahedra.len());
        for listed in &self.tetrahedra {
            let mut indices = [0; 4];
            for (index, number) in indices.iter_mut().zip(listed.corners) {
                *index = index_of(number).ok_or_else(|| ReadError::Syntax {
                    file: file.clone(),
                    line: listed.line,
                    problem: format!("there is no vertex {number} {}", self.range()),
                })?;
            }
            tetrahedra.push(indices);
        }

        let mut mesh = TetrahedralMesh::new(self.positions, tetrahedra);
        let dropped = mesh.remove_unused_vertices();
        // Built again because the paint must cover what is left, not stray vertices far away.
        let mut mesh = TetrahedralMesh::new(mesh.positions, mesh.tetrahedra);
        let repairs = Repairs {
            reoriented_tetrahedra: mesh.orient(),
            unused_vertices: dropped.iter().filter(|index| index.is_none()).count(),
            skipped_elements: self.skipped,
        };
        mesh.validate()
            .map_err(|source| ReadError::Mesh { file, source })?;
        Ok((mesh, repairs))
    }

    /// The map from vertex numbers to indices.
    fn indices(&self) -> Result<impl Fn(u64) -> Option<u32> + 'static, ReadError> {
        let count = self.positions.len();
        let (first, sorted) = match &self.numbering {
            Numbering::From(first) => (*first, None),
            Numbering::Given(numbers) => {
                let mut sorted: Vec<(u64, usize, usize)> = numbers
                    .iter()
                    .enumerate()
                    .map(|(index, &(number, line))| (number, index, line))
                    .collect();
                sorted.sort_unstable();
                if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    return Err(ReadError::Syntax {
                        file: self.vertex_file.to_owned(),
                        line: pair[1].2,
                        problem: format!(
                            "vertex number {} was already given on line {}",
                            pair[1].0, pair[0].2
                        ),
                    });
                }
                (0, Some(sorted))
            }
        };
        Ok(move |number: u64| {
            let index = match &sorted {
                None => usize::try_from(number.checked_sub(first)?)
                    .ok()
                    .filter(|&index| index < count)?,
                Some(sorted) => {
                    sorted[sorted.binary_search_by_key(&number, |entry| entry.0).ok()?].1
                }
            };
            u32::try_from(index).ok()
        })
    }

    /// The numbers that exist, for messages.
    fn range(&self) -> String {
        let count = self.positions.len() as u64;
        match &self.numbering {
            Numbering::From(first) if count > 0 => {
                format!("(they run from {first} to {})", first + count - 1)
            }
            _ => format!("among the {count} of the file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(numbering: Numbering, corners: [u64; 4]) -> Lists<'static> {
        Lists {
            vertex_file: "v",
            tetrahedron_file: "t",
            positions: vec![
                Vector3::repeat(1e6),
                Vector3::zeros(),
                Vector3::x(),
                Vector3::y(),
                Vector3::z(),
            ],
            numbering,
            tetrahedra: vec![Listed { corners, line: 9 }],
            skipped: 3,
        }
    }

    #[test]
    fn repairs_are_counted() {
        let numbers = Numbering::Given(vec![(7, 1), (900, 2), (30, 3), (31, 4), (5, 5)]);
        let (mesh, repairs) = lists(numbers, [30, 900, 31, 5]).assemble().unwrap();
        assert_eq!(mesh.validate(), Ok(()));
        assert_eq!(
            (mesh.positions.len(), mesh.positions[0]),
            (4, Vector3::zeros())
        );
        let expected = Repairs {
            reoriented_tetrahedra: 1,
            unused_vertices: 1,
            skipped_elements: 3,
        };
        assert_eq!(repairs, expected);
        let coordinates = mesh.surface().unwrap().corner_coordinates;
        assert!(
            coordinates
                .iter()
                .flatten()
                .flatten()
                .all(|value| (0.0..=1.0).contains(value))
        );
    }

    #[test]
    fn unknown_and_repeated_numbers_name_their_line() {
        let error = lists(Numbering::From(1), [2, 3, 4, 6])
            .assemble()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "t:9: there is no vertex 6 (they run from 1 to 5)"
        );
        let error = lists(Numbering::From(1), [2, 3, 4, 0])
            .assemble()
            .unwrap_err();
        assert!(error.to_string().starts_with("t:9: there is no vertex 0"));
        let numbers = Numbering::Given(vec![(7, 1), (8, 2), (9, 3), (8, 4), (5, 5)]);
        let error = lists(numbers, [8, 9, 7, 5]).assemble().unwrap_err();
        assert_eq!(
            error.to_string(),
            "v:4: vertex number 8 was already given on line 2"
        );
    }

    #[test]
    fn invalid_meshes_are_named_by_file() {
        let error = lists(Numbering::From(0), [1, 2, 3, 3])
            .assemble()
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("t: tetrahedron 0 lists vertex"),
            "{error}"
        );
        let mut none = lists(Numbering::From(0), [1, 2, 3, 4]);
        none.tetrahedra.clear();
        assert!(matches!(
            none.assemble(),
            Err(ReadError::NoTetrahedra { skipped: 3, .. })
        ));
    }
}
