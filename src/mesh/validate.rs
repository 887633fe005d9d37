//! What the rest of the library may assume about a mesh.

use super::error::first_and_total;
use super::measure::{longest_edge, signed_volume};
use super::surface::{check_face_sharing, sorted_faces};
use super::{MeshError, TetrahedralMesh};

/// A tetrahedron whose volume is at most this many times the cube of its longest edge is flat.
///
/// A regular tetrahedron has 0.118. The limit is where the computed volume stops meaning anything in double precision:
/// coordinates a thousand edges from the origin are rounded to about 1e-13 edges, so a volume of 1e-12 edges³ may be
/// rounding alone, sign included. It is a limit for *existence*, not for quality: a tetrahedron just above it is legal and
/// makes a very stiff, badly conditioned element.
pub const FLATNESS_LIMIT: f64 = 1e-12;

impl TetrahedralMesh {
    /// Checks everything a simulation needs, in time proportional to n log n.
    ///
    /// Tetrahedra that share only an edge (hinge) or only a vertex (ball joint) are legal, and so are several separate
    /// pieces.
    ///
    /// # Errors
    /// The first defect in this order, with its first offender and their number: no tetrahedra, index or chart out of
    /// range, position not finite, vertex repeated in a tetrahedron, flat or inverted tetrahedron, duplicate tetrahedron,
    /// face of more than two tetrahedra, two tetrahedra on the same side of a face, unused vertex.
    pub fn validate(&self) -> Result<(), MeshError> {
        if self.tetrahedra.is_empty() {
            return Err(MeshError::Empty);
        }
        self.check_indices()?;
        self.check_geometry()?;
        self.check_duplicates()?;
        let faces = sorted_faces(&self.tetrahedra);
        check_face_sharing(&faces)?;
        let folded = faces
            .chunk_by(|a, b| a.key == b.key)
            .filter(|group| matches!(group, [a, b] if a.even == b.even));
        if let Some((group, total)) = first_and_total(folded) {
            return Err(MeshError::FoldedFace {
                face: group[0].key,
                tetrahedra: [group[0].tetrahedron as usize, group[1].tetrahedron as usize],
                total,
            });
        }
        let used = self.used_vertices();
        match first_and_total((0..used.len()).filter(|&vertex| !used[vertex])) {
            Some((vertex, total)) => Err(MeshError::UnusedVertex { vertex, total }),
            None => Ok(()),
        }
    }

    /// Swaps the last two vertices of every tetrahedron of negative volume, and returns how many there were.
    ///
    /// Right for meshes whose source does not care about the order. A tetrahedron that is inverted because a vertex is
    /// misplaced becomes positive too, but then overlaps its neighbors, which [`validate`](Self::validate) reports.
    /// Tetrahedra with indices out of range are left alone.
    pub fn orient(&mut self) -> usize {
        let mut swapped = 0;
        for index in 0..self.tetrahedra.len() {
            let corners = self.corners(self.tetrahedra[index]);
            if corners.is_some_and(|corners| signed_volume(&corners) < 0.0) {
                self.tetrahedra[index].swap(2, 3);
                swapped += 1;
            }
        }
        swapped
    }

    /// Vertex and chart indices are in range.
    pub(super) fn check_indices(&self) -> Result<(), MeshError> {
        let vertices = self.positions.len();
        let missing = self
            .tetrahedra
            .iter()
            .enumerate()
            .filter_map(|(tetrahedron, corners)| {
                let index = corners.iter().find(|&&index| index as usize >= vertices)?;
                Some((tetrahedron, *index))
            });
        if let Some(((tetrahedron, index), total)) = first_and_total(missing) {
            return Err(MeshError::IndexOutOfRange {
                tetrahedron,
                index,
                vertices,
                total,
            });
        }
        let charts = self.charts.len();
        let unpainted =
            (0..self.tetrahedra.len()).filter(|&tetrahedron| self.chart_of(tetrahedron) >= charts);
        match first_and_total(unpainted) {
            Some((tetrahedron, total)) => Err(MeshError::ChartOutOfRange {
                tetrahedron,
                chart: self.chart_of(tetrahedron),
                charts,
                total,
            }),
            None => Ok(()),
        }
    }

    /// Positions are finite and tetrahedra have positive volume. Indices must be in range.
    pub(super) fn check_geometry(&self) -> Result<(), MeshError> {
        let broken = self.positions.iter().enumerate();
        let broken = broken.filter(|(_, position)| !position.iter().all(|value| value.is_finite()));
        if let Some(((vertex, &position), total)) = first_and_total(broken) {
            return Err(MeshError::NonFinitePosition {
                vertex,
                position: position.into(),
                total,
            });
        }
        let repeated = self
            .tetrahedra
            .iter()
            .enumerate()
            .filter_map(|(tetrahedron, corners)| {
                let twice = (1..4).find(|&corner| corners[..corner].contains(&corners[corner]))?;
                Some((tetrahedron, corners[twice]))
            });
        if let Some(((tetrahedron, vertex), total)) = first_and_total(repeated) {
            return Err(MeshError::RepeatedVertex {
                tetrahedron,
                vertex,
                total,
            });
        }
        let shapes = || {
            self.tetrahedra
                .iter()
                .enumerate()
                .filter_map(|(tetrahedron, &indices)| {
                    let corners = self.corners(indices)?;
                    let volume = signed_volume(&corners);
                    let longest_edge = longest_edge(&corners);
                    let limit = FLATNESS_LIMIT * longest_edge.powi(3);
                    Some((tetrahedron, volume, longest_edge, limit))
                })
        };
        // Written so that an overflow to infinity or to a number that is none counts as flat.
        let flat =
            shapes().filter(|(_, volume, _, limit)| !(volume.abs() > *limit && volume.is_finite()));
        if let Some(((tetrahedron, volume, longest_edge, _), total)) = first_and_total(flat) {
            return Err(MeshError::FlatTetrahedron {
                tetrahedron,
                volume,
                longest_edge,
                total,
            });
        }
        match first_and_total(shapes().filter(|(_, volume, ..)| *volume < 0.0)) {
            Some(((tetrahedron, volume, ..), total)) => Err(MeshError::InvertedTetrahedron {
                tetrahedron,
                volume,
                total,
            }),
            None => Ok(()),
        }
    }

    fn check_duplicates(&self) -> Result<(), MeshError> {
        let mut keys: Vec<([u32; 4], usize)> = self.tetrahedra.iter().copied().zip(0..).collect();
        for (key, _) in &mut keys {
            key.sort_unstable();
        }
        keys.sort_unstable();
        let repeats = keys.chunk_by(|a, b| a.0 == b.0).flat_map(|group| {
            let first = group[0].1;
            group[1..]
                .iter()
                .map(move |&(_, tetrahedron)| (tetrahedron, first))
        });
        let repeats: Vec<(usize, usize)> = repeats.collect();
        match repeats.iter().min() {
            Some(&(tetrahedron, first)) => Err(MeshError::DuplicateTetrahedron {
                tetrahedron,
                first,
                total: repeats.len(),
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn pair() -> TetrahedralMesh {
        let positions = vec![
            Vector3::zeros(),
            Vector3::x(),
            Vector3::y(),
            Vector3::z(),
            Vector3::new(1.0, 1.0, 1.0),
        ];
        TetrahedralMesh::new(positions, vec![[0, 1, 2, 3], [1, 2, 3, 4]])
    }

    fn defect(change: impl Fn(&mut TetrahedralMesh)) -> MeshError {
        let mut mesh = pair();
        assert_eq!(mesh.validate(), Ok(()));
        change(&mut mesh);
        mesh.validate().unwrap_err()
    }

    #[test]
    fn each_defect_is_named_with_its_place() {
        use MeshError::*;
        assert_eq!(defect(|mesh| mesh.tetrahedra.clear()), Empty);
        assert!(matches!(
            defect(|mesh| mesh.positions[2].y = f64::NAN),
            NonFinitePosition {
                vertex: 2,
                total: 1,
                ..
            }
        ));
        assert_eq!(
            defect(|mesh| mesh.tetrahedra[1][3] = 5),
            IndexOutOfRange {
                tetrahedron: 1,
                index: 5,
                vertices: 5,
                total: 1
            }
        );
        assert_eq!(
            defect(|mesh| mesh.tetrahedron_charts = vec![0, 3]),
            ChartOutOfRange {
                tetrahedron: 1,
                chart: 3,
                charts: 1,
                total: 1
            }
        );
        assert_eq!(
            defect(|mesh| mesh.tetrahedra[1] = [1, 2, 2, 4]),
            RepeatedVertex {
                tetrahedron: 1,
                vertex: 2,
                total: 1
            }
        );
        assert!(matches!(
            defect(|mesh| mesh.positions[3].z = 1e-13),
            FlatTetrahedron {
                tetrahedron: 0,
                total: 1,
                ..
            }
        ));
        assert!(matches!(
            defect(|mesh| mesh.tetrahedra[0].swap(0, 1)),
            InvertedTetrahedron { tetrahedron: 0, total: 1, volume } if volume < 0.0
        ));
        assert_eq!(
            defect(|mesh| mesh.tetrahedra.push([1, 2, 0, 3])),
            DuplicateTetrahedron {
                tetrahedron: 2,
                first: 0,
                total: 1
            }
        );
        assert!(matches!(
            defect(|mesh| {
                mesh.positions.push(Vector3::new(2.0, 2.0, 2.0));
                mesh.tetrahedra.push([1, 2, 3, 5]);
            }),
            OverusedFace {
                face: [1, 2, 3],
                tetrahedra: [0, 1, 2],
                total: 1
            }
        ));
        assert_eq!(
            defect(|mesh| {
                mesh.positions[4] = Vector3::new(-0.1, -0.1, -0.1);
                mesh.orient();
            }),
            FoldedFace {
                face: [1, 2, 3],
                tetrahedra: [0, 1],
                total: 1
            }
        );
        assert_eq!(
            defect(|mesh| mesh.positions.extend([Vector3::zeros(); 2])),
            UnusedVertex {
                vertex: 5,
                total: 2
            }
        );
    }

    #[test]
    fn messages_say_what_to_do() {
        let message = defect(|mesh| mesh.tetrahedra[1].swap(0, 1)).to_string();
        assert!(
            message.contains("tetrahedron 1") && message.contains("orient()"),
            "{message}"
        );
    }

    #[test]
    fn orient_repairs_inverted_tetrahedra_and_counts_them() {
        let mut mesh = pair();
        mesh.tetrahedra[1].swap(0, 1);
        assert_eq!(mesh.orient(), 1);
        assert_eq!(mesh.orient(), 0);
        assert_eq!(mesh.validate(), Ok(()));
    }

    #[test]
    fn hinges_and_ball_joints_are_legal() {
        let mut mesh = pair();
        for shared in [2, 1] {
            let mut other = pair();
            // Keep `shared` vertices of the first tetrahedron; mirror the rest to the other side.
            other.tetrahedra.truncate(1);
            other.remove_unused_vertices();
            let mut corners: Vec<u32> = (0..shared).collect();
            for vertex in shared..4 {
                corners.push(mesh.positions.len() as u32);
                mesh.positions.push(-other.positions[vertex as usize]);
            }
            mesh.tetrahedra
                .push([corners[0], corners[1], corners[2], corners[3]]);
        }
        mesh.orient();
        assert_eq!(mesh.validate(), Ok(()));
    }

    #[test]
    fn huge_coordinates_are_refused_without_overflow() {
        assert!(matches!(
            defect(|mesh| mesh
                .positions
                .iter_mut()
                .for_each(|position| *position *= 1e200)),
            MeshError::FlatTetrahedron { .. }
        ));
    }
}
