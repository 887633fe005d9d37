//! The single checks that validation and edits are made of.

use super::data::{doubled_area, longest_edge};
use super::sides::{Side, repeated_vertex};
use super::{SLIVER_LIMIT, TriangleMesh, TriangleMeshError};
use crate::mesh::error::first_and_total;

impl TriangleMesh {
    /// Indices are in range, lists have their lengths, and all values are finite.
    pub(super) fn check_data(&self) -> Result<(), TriangleMeshError> {
        self.check_indices()?;
        let wrong = |list, length, expected, what| {
            Err(TriangleMeshError::WrongLength {
                list,
                length,
                expected,
                what,
            })
        };
        let (vertices, triangles) = (self.positions.len(), self.triangles.len());
        if let Some(list) = self
            .corner_coordinates
            .as_ref()
            .filter(|list| list.len() != triangles)
        {
            return wrong("corner_coordinates", list.len(), triangles, "triangles");
        }
        if let Some(list) = self.colors.as_ref().filter(|list| list.len() != vertices) {
            return wrong("colors", list.len(), vertices, "vertices");
        }
        let broken = self.positions.iter().enumerate();
        let broken = broken.filter(|(_, position)| !position.iter().all(|value| value.is_finite()));
        if let Some(((vertex, &position), total)) = first_and_total(broken) {
            return Err(TriangleMeshError::NonFinitePosition {
                vertex,
                position: position.into(),
                total,
            });
        }
        let broken =
            |list, what, values: &mut dyn Iterator<Item = usize>| match first_and_total(values) {
                Some((index, total)) => Err(TriangleMeshError::NonFiniteAttribute {
                    list,
                    what,
                    index,
                    total,
                }),
                None => Ok(()),
            };
        let coordinates = self.corner_coordinates.iter().flatten().enumerate();
        let mut coordinates = coordinates
            .filter(|(_, corners)| !corners.as_flattened().iter().all(|value| value.is_finite()))
            .map(|(triangle, _)| triangle);
        broken("corner_coordinates", "triangle", &mut coordinates)?;
        let colors = self.colors.iter().flatten().enumerate();
        let mut colors = colors
            .filter(|(_, color)| !color.iter().all(|value| value.is_finite()))
            .map(|(vertex, _)| vertex);
        broken("colors", "vertex", &mut colors)
    }

    pub(super) fn check_indices(&self) -> Result<(), TriangleMeshError> {
        let vertices = self.positions.len();
        let missing = self
            .triangles
            .iter()
            .enumerate()
            .filter_map(|(triangle, corners)| {
                let index = corners.iter().find(|&&index| index as usize >= vertices)?;
                Some((triangle, *index))
            });
        match first_and_total(missing) {
            Some(((triangle, index), total)) => Err(TriangleMeshError::IndexOutOfRange {
                triangle,
                index,
                vertices,
                total,
            }),
            None => Ok(()),
        }
    }

    pub(super) fn check_repeated_vertices(&self) -> Result<(), TriangleMeshError> {
        let repeated = self
            .triangles
            .iter()
            .enumerate()
            .filter_map(|(triangle, corners)| {
                Some((triangle, *corners, repeated_vertex(corners)?))
            });
        match first_and_total(repeated) {
            Some(((triangle, vertices, vertex), total)) => Err(TriangleMeshError::RepeatedVertex {
                triangle,
                vertices,
                vertex,
                position: self.place(vertex),
                total,
            }),
            None => Ok(()),
        }
    }

    /// Whether a triangle has no area to speak of. An area that overflows counts as none.
    pub(super) fn is_sliver(&self, triangle: usize) -> bool {
        let Some(corners) = self
            .triangles
            .get(triangle)
            .and_then(|&indices| self.corners(indices))
        else {
            return true;
        };
        let area = 0.5 * doubled_area(&corners).norm();
        !(area > SLIVER_LIMIT * longest_edge(&corners).powi(2) && area.is_finite())
    }

    /// Triangles with the vertices of an earlier one, each with the first of them; in no particular order.
    pub(super) fn repeated_triangles(&self) -> Vec<(usize, usize)> {
        let mut keys: Vec<([u32; 3], usize)> = self.triangles.iter().copied().zip(0..).collect();
        for (key, _) in &mut keys {
            key.sort_unstable();
        }
        keys.sort_unstable();
        let groups = keys.chunk_by(|a, b| a.0 == b.0);
        groups
            .flat_map(|group| {
                group[1..]
                    .iter()
                    .map(|&(_, triangle)| (triangle, group[0].1))
            })
            .collect()
    }

    /// Reports the edges that more than two triangles share. Indices must be in range.
    pub(super) fn check_edge_sharing(&self, sides: &[Side]) -> Result<(), TriangleMeshError> {
        let groups = sides.chunk_by(|a, b| a.key == b.key);
        match first_and_total(groups.filter(|group| group.len() > 2)) {
            Some((group, total)) => Err(TriangleMeshError::NonManifoldEdge {
                edge: group[0].key,
                from: self.place(group[0].key[0]),
                to: self.place(group[0].key[1]),
                triangles: [0, 1, 2].map(|member| group[member].triangle as usize),
                count: group.len(),
                total,
            }),
            None => Ok(()),
        }
    }

    /// For each vertex, whether a triangle uses it.
    pub(super) fn used_vertices(&self) -> Vec<bool> {
        let mut used = vec![false; self.positions.len()];
        for &vertex in self.triangles.iter().flatten() {
            if let Some(flag) = used.get_mut(vertex as usize) {
                *flag = true;
            }
        }
        used
    }
}
