//! What the rest of the library may assume about a triangle mesh.

use super::data::{center, doubled_area, longest_edge};
use super::sides::sorted_sides;
use super::{TriangleMesh, TriangleMeshError};
use crate::mesh::error::first_and_total;

/// A triangle whose area is at most this many times the square of its longest edge has no area.
///
/// An equilateral one has 0.433. The limit is where the area of a triangle given in single precision, as most files are,
/// may be rounding alone. It is a limit for *existence*, not for quality.
pub const SLIVER_LIMIT: f64 = 1e-7;

impl TriangleMesh {
    /// Checks everything a simulation needs, in time proportional to n log n.
    ///
    /// Several pieces, holes, and surfaces that touch in a vertex only are legal, and so are vertices at the same place,
    /// which [`hints`](TriangleMesh::hints) reports.
    ///
    /// # Errors
    /// The first defect in this order, with its first offender and their number: no triangles, index out of range, list of
    /// wrong length, value not finite, vertex repeated in a triangle, triangle without area, repeated triangle, edge of more
    /// than two triangles, neighbors listed in opposite senses, unused vertex.
    pub fn validate(&self) -> Result<(), TriangleMeshError> {
        if self.triangles.is_empty() {
            return Err(TriangleMeshError::Empty);
        }
        self.check_data()?;
        self.check_repeated_vertices()?;
        self.check_areas()?;
        let repeats = self.repeated_triangles();
        if let Some(&(triangle, first)) = repeats.iter().min() {
            let vertices = self.triangles[triangle];
            return Err(TriangleMeshError::RepeatedTriangle {
                triangle,
                first,
                vertices,
                place: self.center_of(vertices),
                total: repeats.len(),
            });
        }
        let sides = sorted_sides(&self.triangles);
        self.check_edge_sharing(&sides)?;
        let opposed = sides
            .chunk_by(|a, b| a.key == b.key)
            .filter(|group| matches!(group, [a, b] if a.rising == b.rising));
        if let Some((group, total)) = first_and_total(opposed) {
            let edge = group[0].key;
            return Err(TriangleMeshError::InconsistentOrientation {
                triangles: [group[0].triangle as usize, group[1].triangle as usize],
                edge,
                from: self.place(edge[0]),
                to: self.place(edge[1]),
                total,
            });
        }
        let used = self.used_vertices();
        match first_and_total((0..used.len()).filter(|&vertex| !used[vertex])) {
            Some((vertex, total)) => Err(TriangleMeshError::UnusedVertex {
                vertex,
                position: self.positions[vertex].into(),
                total,
            }),
            None => Ok(()),
        }
    }

    fn check_areas(&self) -> Result<(), TriangleMeshError> {
        let slivers = (0..self.triangles.len()).filter(|&triangle| self.is_sliver(triangle));
        match first_and_total(slivers) {
            Some((triangle, total)) => {
                let vertices = self.triangles[triangle];
                let corners = self.corners(vertices).unwrap_or_default();
                Err(TriangleMeshError::Sliver {
                    triangle,
                    vertices,
                    place: center(&corners).into(),
                    area: 0.5 * doubled_area(&corners).norm(),
                    longest_edge: longest_edge(&corners),
                    total,
                })
            }
            None => Ok(()),
        }
    }

    /// Center of a triangle for messages.
    pub(super) fn center_of(&self, triangle: [u32; 3]) -> [f64; 3] {
        center(&self.corners(triangle).unwrap_or_default()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TriangleMeshError::*;
    use nalgebra::Vector3;

    /// Two triangles of a unit square in the plane z = 0, facing +z.
    fn square() -> TriangleMesh {
        let positions = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
        ];
        let mut mesh = TriangleMesh::new(
            positions.map(Vector3::from).to_vec(),
            vec![[0, 1, 2], [2, 1, 3]],
        );
        mesh.corner_coordinates = Some(vec![[[0.0; 2]; 3]; 2]);
        mesh.colors = Some(vec![[1.0; 4]; 4]);
        mesh
    }

    fn defect(change: impl Fn(&mut TriangleMesh)) -> TriangleMeshError {
        let mut mesh = square();
        assert_eq!(mesh.validate(), Ok(()));
        mesh.corner_coordinates = None;
        mesh.colors = None;
        change(&mut mesh);
        mesh.validate().unwrap_err()
    }

    #[test]
    fn defects_of_the_lists_are_named() {
        assert_eq!(defect(|mesh| mesh.triangles.clear()), Empty);
        assert_eq!(
            defect(|mesh| mesh.triangles[1][2] = 4),
            IndexOutOfRange {
                triangle: 1,
                index: 4,
                vertices: 4,
                total: 1
            }
        );
        assert!(matches!(
            defect(|mesh| mesh.positions[2].y = f64::NAN),
            NonFinitePosition {
                vertex: 2,
                total: 1,
                ..
            }
        ));
        assert_eq!(
            defect(|mesh| mesh.colors = Some(vec![[0.0; 4]; 5])),
            WrongLength {
                list: "colors",
                length: 5,
                expected: 4,
                what: "vertices"
            }
        );
        assert_eq!(
            defect(|mesh| mesh.corner_coordinates = Some(Vec::new())),
            WrongLength {
                list: "corner_coordinates",
                length: 0,
                expected: 2,
                what: "triangles"
            }
        );
        assert_eq!(
            defect(|mesh| mesh.colors = Some(vec![[0.0, 0.0, f32::NAN, 0.0]; 4])),
            NonFiniteAttribute {
                list: "colors",
                what: "vertex",
                index: 0,
                total: 4
            }
        );
        let infinite = [[0.0; 2], [0.0; 2], [0.0, f32::INFINITY]];
        assert_eq!(
            defect(|mesh| mesh.corner_coordinates = Some(vec![[[0.0; 2]; 3], infinite])),
            NonFiniteAttribute {
                list: "corner_coordinates",
                what: "triangle",
                index: 1,
                total: 1
            }
        );
    }

    #[test]
    fn defects_of_the_surface_are_named_with_their_place() {
        assert_eq!(
            defect(|mesh| mesh.triangles.push([3, 1, 3])),
            RepeatedVertex {
                triangle: 2,
                vertices: [3, 1, 3],
                vertex: 3,
                position: [1.0, 1.0, 0.0],
                total: 1
            }
        );
        let flattened = defect(|mesh| mesh.positions[3] = Vector3::new(0.5, 0.5, 1e-8));
        assert!(
            matches!(flattened, Sliver { triangle: 1, vertices: [2, 1, 3], place, total: 1, .. }
                if (place[0] - 0.5).abs() < 1e-15)
        );
        assert_eq!(
            defect(|mesh| mesh.triangles.push([3, 1, 2])),
            RepeatedTriangle {
                triangle: 2,
                first: 1,
                vertices: [3, 1, 2],
                place: [2.0 / 3.0, 2.0 / 3.0, 0.0],
                total: 1
            }
        );
        assert_eq!(
            defect(|mesh| {
                mesh.positions.push(Vector3::new(0.0, 0.0, 1.0));
                mesh.triangles.push([1, 2, 4]);
            }),
            NonManifoldEdge {
                edge: [1, 2],
                from: [1.0, 0.0, 0.0],
                to: [0.0, 1.0, 0.0],
                triangles: [0, 1, 2],
                count: 3,
                total: 1
            }
        );
        assert_eq!(
            defect(|mesh| mesh.triangles[1].swap(0, 1)),
            InconsistentOrientation {
                triangles: [0, 1],
                edge: [1, 2],
                from: [1.0, 0.0, 0.0],
                to: [0.0, 1.0, 0.0],
                total: 1
            }
        );
        assert_eq!(
            defect(|mesh| mesh.positions.extend([Vector3::z(), Vector3::zeros()])),
            UnusedVertex {
                vertex: 4,
                position: [0.0, 0.0, 1.0],
                total: 2
            }
        );
    }

    #[test]
    fn messages_say_what_to_do() {
        let message = defect(|mesh| mesh.triangles[1].swap(0, 1)).to_string();
        assert!(
            message.contains("[1, 2]") && message.contains("call `repair`"),
            "{message}"
        );
    }

    #[test]
    fn huge_coordinates_are_refused_without_overflow() {
        let huge = defect(|mesh| {
            mesh.positions
                .iter_mut()
                .for_each(|position| *position *= 1e200);
        });
        assert!(matches!(huge, Sliver { .. }));
    }

    #[test]
    fn surfaces_that_touch_in_a_vertex_are_legal() {
        let mut mesh = square();
        (mesh.corner_coordinates, mesh.colors) = (None, None);
        mesh.positions
            .extend([Vector3::new(2.0, 1.0, 0.0), Vector3::new(1.0, 2.0, 0.0)]);
        mesh.triangles.push([3, 4, 5]);
        assert_eq!(mesh.validate(), Ok(()));
    }
}
