//! Putting right what can be put right.

use core::fmt;

use super::validate::{repeated_vertex, sorted_sides};
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
                "vertices were welded to others at the same place.",
            ),
            (self.flat_triangles, "triangles without area were dropped."),
            (
                self.repeated_triangles,
                "triangles that repeat another were dropped.",
            ),
            (
                self.turned_triangles,
                "triangles were turned to face the same side as their neighbors.",
            ),
            (
                self.unused_vertices,
                "vertices that belong to no triangle were dropped.",
            ),
        ];
        let mut space = "";
        for (count, sentence) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            write!(formatter, "{space}{count} {sentence}")?;
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

    /// Turns triangles until neighbors run through their common edge in opposite directions; returns how many.
    fn turn_to_one_side(&mut self) -> Result<usize, TriangleMeshError> {
        let sides = sorted_sides(&self.triangles);
        self.check_edge_sharing(&sides)?;
        let mut neighbors = vec![Vec::new(); self.triangles.len()];
        for group in sides.chunk_by(|a, b| a.key == b.key) {
            if let [a, b] = group {
                let opposed = a.rising == b.rising;
                neighbors[a.triangle as usize].push((b.triangle as usize, opposed, a.key));
                neighbors[b.triangle as usize].push((a.triangle as usize, opposed, a.key));
            }
        }
        // Per triangle, whether it is turned compared with the first of its piece.
        let mut turned: Vec<Option<bool>> = vec![None; self.triangles.len()];
        let mut total = 0;
        for first in 0..self.triangles.len() {
            if turned[first].is_some() {
                continue;
            }
            turned[first] = Some(false);
            let mut piece = vec![(first, false)];
            let mut next = 0;
            while let Some(&(triangle, side)) = piece.get(next) {
                next += 1;
                for &(neighbor, opposed, edge) in &neighbors[triangle] {
                    match turned[neighbor] {
                        None => {
                            turned[neighbor] = Some(side ^ opposed);
                            piece.push((neighbor, side ^ opposed));
                        }
                        Some(found) if found != side ^ opposed => {
                            return Err(TriangleMeshError::OneSided {
                                triangle: first,
                                edge,
                                from: self.place(edge[0]),
                                to: self.place(edge[1]),
                            });
                        }
                        Some(_) => {}
                    }
                }
            }
            let area_of = |part: bool| {
                let members = piece.iter().filter(|&&(_, side)| side == part);
                members
                    .map(|&(triangle, _)| self.triangle_area(triangle))
                    .sum::<f64>()
            };
            let giving_way = area_of(true) <= area_of(false);
            for &(triangle, _) in piece.iter().filter(|&&(_, side)| side == giving_way) {
                self.turn(triangle);
                total += 1;
            }
        }
        Ok(total)
    }

    fn turn(&mut self, triangle: usize) {
        self.triangles[triangle].swap(1, 2);
        if let Some(coordinates) = &mut self.corner_coordinates {
            coordinates[triangle].swap(1, 2);
        }
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
            "1 vertices were welded to others at the same place. 2 triangles without area were dropped. \
             1 triangles that repeat another were dropped. 1 triangles were turned to face the same side as their \
             neighbors. 1 vertices that belong to no triangle were dropped."
        );
    }

    #[test]
    fn smaller_part_of_each_piece_gives_way() {
        for turned in [vec![0], vec![1, 3], vec![0, 1, 2]] {
            let mut mesh = sheet();
            for &triangle in &turned {
                mesh.turn(triangle);
            }
            let repairs = mesh.repair(None).unwrap();
            assert_eq!(repairs.turned_triangles, turned.len().min(4 - turned.len()));
            assert_eq!(mesh.validate(), Ok(()));
            // With one triangle left of the old sense, that one is turned.
            let down = mesh
                .rest_frame(1)
                .map(|frame| frame.warp.cross(&frame.weft).y);
            assert_eq!(down, Some(if turned.len() == 3 { -1.0 } else { 1.0 }));
        }
    }

    #[test]
    fn band_with_a_twist_is_refused_and_unchanged() {
        let mut mesh = TriangleMesh::default();
        let count = 12;
        for step in 0..count {
            let angle = core::f64::consts::TAU * f64::from(step) / f64::from(count);
            let across = Vector3::new(
                (0.5 * angle).cos() * angle.cos(),
                (0.5 * angle).sin(),
                (0.5 * angle).cos() * angle.sin(),
            );
            let middle = Vector3::new(angle.cos(), 0.0, angle.sin());
            mesh.positions
                .extend([middle - across * 0.2, middle + across * 0.2]);
        }
        for step in 0..count as u32 {
            let (a, b) = (2 * step, 2 * step + 1);
            // The end meets the start upside down.
            let (c, d) = if step + 1 == count as u32 {
                (1, 0)
            } else {
                (a + 2, b + 2)
            };
            mesh.triangles.extend([[a, b, c], [c, b, d]]);
        }
        let before = mesh.clone();
        assert!(matches!(
            mesh.repair(None),
            Err(TriangleMeshError::OneSided { triangle: 0, .. })
        ));
        assert_eq!(mesh, before);
        assert!(matches!(
            mesh.validate(),
            Err(TriangleMeshError::InconsistentOrientation { total: 1, .. })
        ));
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
