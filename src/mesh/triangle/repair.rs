//! Putting right what can be put right.

use core::fmt;

use super::sides::repeated_vertex;
use super::{TriangleMesh, TriangleMeshError};
use crate::mesh::MeshError;

/// What [`repair`](TriangleMesh::repair) changed. It displays as one sentence per kind, and as nothing if all is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriangleRepairs {
    /// Vertices replaced by another at the same place.
    pub welded_vertices: usize,
    /// Triangles dropped because they have no area.
    pub flat_triangles: usize,
    /// Triangles dropped because they repeat another.
    pub repeated_triangles: usize,
    /// Triangles turned around, so that neighbors are listed in the same sense.
    pub turned_triangles: usize,
    /// Vertices dropped because no triangle uses them; welded ones are not counted.
    pub unused_vertices: usize,
    /// For each old vertex, its new index, that of the vertex it was welded to, or `None` if it is gone.
    pub vertex_map: Vec<Option<u32>>,
    /// For each old triangle, its new index, or `None` if it is gone.
    pub triangle_map: Vec<Option<u32>>,
}

impl TriangleRepairs {
    /// Whether anything was changed.
    pub fn any(&self) -> bool {
        self.welded_vertices
            + self.flat_triangles
            + self.repeated_triangles
            + self.turned_triangles
            + self.unused_vertices
            > 0
    }
}

impl fmt::Display for TriangleRepairs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (
                self.welded_vertices,
                "Vertices welded to others at the same place",
            ),
            (self.flat_triangles, "Triangles without area dropped"),
            (
                self.repeated_triangles,
                "Triangles that repeat another dropped",
            ),
            (
                self.turned_triangles,
                "Triangles turned to face the same side as their neighbors",
            ),
            (self.unused_vertices, "Vertices of no triangle dropped"),
        ];
        let mut space = "";
        for (count, sentence) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            write!(formatter, "{space}{sentence}: {count}.")?;
            space = " ";
        }
        Ok(())
    }
}

impl TriangleMesh {
    /// Welds, drops and turns until the mesh is valid; the order of what remains is kept.
    ///
    /// In this order: vertices within `weld` (m) of an earlier one are replaced by it (`None` welds nothing, 0 only what
    /// lies at exactly the same place); triangles without area are dropped, then those that repeat another; neighbors are
    /// turned to the same side, the smaller part of each piece giving way (by area; the triangle of lowest index decides a
    /// tie); vertices of no triangle are dropped. Texture coordinates and colors follow.
    ///
    /// Dropping a triangle without area that has three different corners leaves a slit along its longest side.
    ///
    /// # Errors
    /// What cannot be decided here: [`TriangleMeshError::Empty`] (also if nothing is left), index out of range, list of
    /// wrong length, value not finite, [`TriangleMeshError::NonManifoldEdge`], [`TriangleMeshError::OneSided`], and
    /// [`TriangleMeshError::Request`] for a tolerance that is negative or not finite. The mesh is then unchanged.
    pub fn repair(&mut self, weld: Option<f64>) -> Result<TriangleRepairs, TriangleMeshError> {
        let mut mesh = self.clone();
        mesh.check_data()?;
        let mut repairs = TriangleRepairs::default();
        let mut vertex_map: Vec<u32> = (0..mesh.positions.len() as u32).collect();
        if let Some(tolerance) = weld {
            if !(tolerance >= 0.0 && tolerance.is_finite()) {
                return Err(TriangleMeshError::Request(MeshError::InvalidArgument {
                    operation: "repair",
                    parameter: "weld",
                    value: tolerance,
                    requirement: "at least 0 and finite",
                }));
            }
            vertex_map = mesh.coincident_vertices(tolerance);
            for vertex in mesh.triangles.iter_mut().flatten() {
                *vertex = vertex_map[*vertex as usize];
            }
            let welded = |&(&kept, vertex): &(&u32, u32)| kept != vertex;
            repairs.welded_vertices = vertex_map.iter().zip(0..).filter(welded).count();
        }

        let flat: Vec<bool> = (0..mesh.triangles.len())
            .map(|index| repeated_vertex(&mesh.triangles[index]).is_some() || mesh.is_sliver(index))
            .collect();
        let mut gone = flat.clone();
        for (triangle, _) in mesh.repeated_triangles() {
            gone[triangle] = true;
        }
        let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count();
        repairs.flat_triangles = count(&flat);
        repairs.repeated_triangles = count(&gone) - repairs.flat_triangles;
        let kept: Vec<bool> = gone.iter().map(|&gone| !gone).collect();
        repairs.triangle_map = renumbered(&kept);
        retain(&mut mesh.triangles, &kept);
        if let Some(coordinates) = &mut mesh.corner_coordinates {
            retain(coordinates, &kept);
        }

        repairs.turned_triangles = mesh.turn_to_one_side()?;

        let used = mesh.used_vertices();
        let new = renumbered(&used);
        repairs.vertex_map = vertex_map.iter().map(|&kept| new[kept as usize]).collect();
        let unused = used.iter().filter(|&&used| !used).count();
        repairs.unused_vertices = unused - repairs.welded_vertices;
        retain(&mut mesh.positions, &used);
        if let Some(colors) = &mut mesh.colors {
            retain(colors, &used);
        }
        for vertex in mesh.triangles.iter_mut().flatten() {
            *vertex = new[*vertex as usize].unwrap_or_default();
        }
        mesh.validate()?;
        *self = mesh;
        Ok(repairs)
    }
}

/// For each entry its new index if it is kept.
fn renumbered(kept: &[bool]) -> Vec<Option<u32>> {
    let mut next = 0;
    let number = |&kept: &bool| {
        kept.then(|| {
            next += 1;
            next - 1
        })
    };
    kept.iter().map(number).collect()
}

fn retain<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut flags = kept.iter();
    list.retain(|_| flags.next().copied().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn sheet() -> TriangleMesh {
        let mut mesh = TriangleMesh::sheet([2.0, 1.0], [2, 1], Default::default()).unwrap();
        mesh.colors = Some((0..6).map(|index| [index as f32; 4]).collect());
        mesh
    }

    #[test]
    fn valid_mesh_is_left_alone() {
        let mut mesh = sheet();
        let repairs = mesh.repair(Some(1e-6)).unwrap();
        assert_eq!(mesh, sheet());
        assert!(!repairs.any() && repairs.to_string().is_empty());
        assert_eq!(repairs.vertex_map, (0..6).map(Some).collect::<Vec<_>>());
        assert_eq!(repairs.triangle_map, (0..4).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn defects_are_put_right_and_counted() {
        let mut mesh = sheet();
        // An unused vertex in front, a copy of vertex 4 (now 5) used by the last triangle, a repeat, and two flat ones.
        mesh.positions.insert(0, Vector3::repeat(9.0));
        mesh.triangles
            .iter_mut()
            .flatten()
            .for_each(|vertex| *vertex += 1);
        mesh.positions.push(mesh.positions[5]);
        let last = mesh.triangles.len() - 1;
        for vertex in &mut mesh.triangles[last] {
            if *vertex == 5 {
                *vertex = 7;
            }
        }
        let [a, b, c] = mesh.triangles[0];
        mesh.triangles.insert(0, [5, 1, 7]);
        mesh.triangles.push([c, a, b]);
        mesh.triangles.push([1, 2, 3]);
        mesh.triangles[2].swap(1, 2);
        let coordinates = mesh.corner_coordinates.as_mut().unwrap();
        coordinates.insert(0, [[0.5; 2]; 3]);
        coordinates.extend([[[0.5; 2]; 3]; 2]);
        coordinates[2].swap(1, 2);
        let colors = mesh.colors.as_mut().unwrap();
        colors.insert(0, [7.0; 4]);
        colors.push([8.0; 4]);

        let repairs = mesh.repair(Some(0.0)).unwrap();
        assert_eq!(mesh, sheet());
        let expected = TriangleRepairs {
            welded_vertices: 1,
            flat_triangles: 2,
            repeated_triangles: 1,
            turned_triangles: 1,
            unused_vertices: 1,
            vertex_map: [
                None,
                Some(0),
                Some(1),
                Some(2),
                Some(3),
                Some(4),
                Some(5),
                Some(4),
            ]
            .to_vec(),
            triangle_map: [None, Some(0), Some(1), Some(2), Some(3), None, None].to_vec(),
        };
        assert_eq!(repairs, expected);
        assert_eq!(
            repairs.to_string(),
            "Vertices welded to others at the same place: 1. Triangles without area dropped: 2. \
             Triangles that repeat another dropped: 1. Triangles turned to face the same side as their neighbors: 1. \
             Vertices of no triangle dropped: 1."
        );
    }

    #[test]
    fn what_cannot_be_decided_is_refused() {
        let mut mesh = sheet();
        mesh.positions.push(Vector3::y());
        mesh.colors = None;
        let hinge = mesh.topology().unwrap().hinges[0];
        mesh.triangles.push([hinge[2], hinge[3], 6]);
        mesh.corner_coordinates = None;
        assert!(matches!(
            mesh.repair(None),
            Err(TriangleMeshError::NonManifoldEdge {
                count: 3,
                total: 1,
                ..
            })
        ));
        assert!(matches!(
            sheet().repair(Some(-1.0)),
            Err(TriangleMeshError::Request(_))
        ));
        assert!(matches!(
            sheet().repair(Some(f64::NAN)),
            Err(TriangleMeshError::Request(_))
        ));
        assert_eq!(sheet().repair(Some(10.0)), Err(TriangleMeshError::Empty));
        let mut mesh = sheet();
        mesh.triangles[0][0] = 77;
        assert!(matches!(
            mesh.repair(None),
            Err(TriangleMeshError::IndexOutOfRange { .. })
        ));
    }

    #[test]
    fn pieces_split_along_a_seam_are_sewn_together() {
        let left = sheet();
        let mut both = left.clone();
        both.positions.extend(
            left.positions
                .iter()
                .map(|position| position + Vector3::x() * 2.0),
        );
        both.triangles.extend(
            left.triangles
                .iter()
                .map(|triangle| triangle.map(|vertex| vertex + 6)),
        );
        let coordinates = left.corner_coordinates.unwrap();
        both.corner_coordinates = Some([coordinates.clone(), coordinates].concat());
        both.colors = None;
        assert_eq!(both.topology().unwrap().piece_count(), 2);
        let painted = both.corner_coordinates.clone();
        assert_eq!(both.repair(Some(1e-9)).unwrap().welded_vertices, 2);
        assert_eq!(both.topology().unwrap().piece_count(), 1);
        assert_eq!(both.corner_coordinates, painted);
    }
}
