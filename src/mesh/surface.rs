//! The boundary of the solid.

use super::error::first_and_total;
use super::{MeshError, TetrahedralMesh};

/// Local corners of the four faces of a tetrahedron of positive volume, counter-clockwise seen from outside; face `k` is
/// opposite to corner `k`.
pub(super) const OUTWARD_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The boundary triangles of a [`TetrahedralMesh`]: faces that belong to exactly one tetrahedron.
///
/// All lists run in parallel, in the order of the tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    /// Vertex indices into the tetrahedral mesh, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each triangle's corners, second coordinate downward; see
    /// [`TextureChart`](super::TextureChart) for their range.
    pub corner_coordinates: Vec<[[f32; 2]; 3]>,
    /// Material slot of each triangle.
    pub slots: Vec<u16>,
    /// The tetrahedron behind each triangle.
    pub tetrahedra: Vec<u32>,
}

impl SurfaceMesh {
    /// The vertices on the surface, ascending.
    pub fn vertices(&self) -> Vec<u32> {
        let mut vertices: Vec<u32> = self.triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// The edges of the triangles, each once, lower vertex first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let sides = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
        let mut edges: Vec<[u32; 2]> = self.triangles.iter().flat_map(sides).collect();
        for edge in &mut edges {
            edge.sort_unstable();
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Vertices − edges + faces: 2 per ball-like component, 0 per torus-like one.
    pub fn euler_characteristic(&self) -> i64 {
        self.vertices().len() as i64 - self.edges().len() as i64 + self.triangles.len() as i64
    }
}

/// A face of a tetrahedron, ready to be sorted next to the same face of its neighbor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Face {
    /// Vertex indices, ascending.
    pub key: [u32; 3],
    pub tetrahedron: u32,
    /// Which of [`OUTWARD_FACES`].
    pub local: u8,
    /// Whether the outward order is an even permutation of `key`. Neighbors on opposite sides differ in this.
    pub even: bool,
}

/// All faces of all tetrahedra, sorted, so that equal faces are neighbors in the list.
pub(super) fn sorted_faces(tetrahedra: &[[u32; 4]]) -> Vec<Face> {
    let mut faces = Vec::with_capacity(4 * tetrahedra.len());
    for (tetrahedron, corners) in tetrahedra.iter().enumerate() {
        for (local, face) in OUTWARD_FACES.iter().enumerate() {
            let [a, b, c] = face.map(|corner| corners[corner]);
            let mut key = [a, b, c];
            key.sort_unstable();
            faces.push(Face {
                key,
                tetrahedron: tetrahedron as u32,
                local: local as u8,
                even: [a < b, b < c, c < a]
                    .into_iter()
                    .filter(|&rises| rises)
                    .count()
                    == 2,
            });
        }
    }
    faces.sort_unstable();
    faces
}

/// Reports the faces that more than two tetrahedra share.
pub(super) fn check_face_sharing(faces: &[Face]) -> Result<(), MeshError> {
    let groups = faces.chunk_by(|a, b| a.key == b.key);
    match first_and_total(groups.filter(|group| group.len() > 2)) {
        Some((group, total)) => Err(MeshError::OverusedFace {
            face: group[0].key,
            tetrahedra: [0, 1, 2].map(|member| group[member].tetrahedron as usize),
            total,
        }),
        None => Ok(()),
    }
}

impl TetrahedralMesh {
    /// Extracts the boundary, in time proportional to n log n.
    ///
    /// Triangles are outward if the tetrahedra are positively oriented, which
    /// [`validate`](TetrahedralMesh::validate) checks. An empty mesh has an empty surface.
    ///
    /// # Errors
    /// [`MeshError::IndexOutOfRange`], [`MeshError::ChartOutOfRange`]; [`MeshError::OverusedFace`] if more than two
    /// tetrahedra share a face, because inside and outside are then undefined.
    pub fn surface(&self) -> Result<SurfaceMesh, MeshError> {
        self.check_indices()?;
        let faces = sorted_faces(&self.tetrahedra);
        check_face_sharing(&faces)?;
        let mut boundary: Vec<(u32, u8)> = faces
            .chunk_by(|a, b| a.key == b.key)
            .filter(|group| group.len() == 1)
            .map(|group| (group[0].tetrahedron, group[0].local))
            .collect();
        boundary.sort_unstable();

        let mut surface = SurfaceMesh::default();
        for (tetrahedron, local) in boundary {
            let corners = self.tetrahedra[tetrahedron as usize];
            let triangle = OUTWARD_FACES[usize::from(local)].map(|corner| corners[corner]);
            let chart = &self.charts[self.chart_of(tetrahedron as usize)];
            surface.triangles.push(triangle);
            surface
                .corner_coordinates
                .push(chart.coordinates(triangle.map(|vertex| self.positions[vertex as usize])));
            surface.slots.push(chart.slot);
            surface.tetrahedra.push(tetrahedron);
        }
        Ok(surface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::CellSplit;
    use nalgebra::Vector3;

    #[test]
    fn single_tetrahedron_has_four_outward_faces() {
        let mesh = TetrahedralMesh::new(
            vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()],
            vec![[0, 1, 2, 3]],
        );
        let surface = mesh.surface().unwrap();
        assert_eq!(surface.triangles.len(), 4);
        assert_eq!(surface.edges().len(), 6);
        assert_eq!(surface.euler_characteristic(), 2);
        let center = mesh.center_of_mass();
        for triangle in surface.triangles {
            let [a, b, c] = triangle.map(|vertex| mesh.positions[vertex as usize]);
            assert!((b - a).cross(&(c - a)).dot(&(a - center)) > 0.0);
        }
    }

    #[test]
    fn volume_enclosed_by_the_surface_is_the_volume_of_the_solid() {
        for mesh in [
            TetrahedralMesh::block([1.0, 2.0, 0.5], [2, 3, 1], CellSplit::Six).unwrap(),
            TetrahedralMesh::torus(0.1, 0.03, 20, 8).unwrap(),
            TetrahedralMesh::ball(1.0, 3).unwrap(),
        ] {
            let enclosed: f64 =
                mesh.surface()
                    .unwrap()
                    .triangles
                    .iter()
                    .fold(0.0, |sum, triangle| {
                        let [a, b, c] = triangle.map(|vertex| mesh.positions[vertex as usize]);
                        sum + a.cross(&b).dot(&c) / 6.0
                    });
            assert!((enclosed - mesh.volume()).abs() < 1e-12 * mesh.volume().max(1.0));
        }
    }

    #[test]
    fn face_of_three_tetrahedra_is_an_error() {
        let mut positions = vec![Vector3::zeros(), Vector3::x(), Vector3::y()];
        positions.extend([1.0, 2.0, -1.0].map(|height| Vector3::z() * height));
        let mesh = TetrahedralMesh::new(positions, vec![[0, 1, 2, 3], [0, 1, 2, 4], [0, 2, 1, 5]]);
        let error = MeshError::OverusedFace {
            face: [0, 1, 2],
            tetrahedra: [0, 1, 2],
            total: 1,
        };
        assert_eq!(mesh.surface(), Err(error));
    }

    #[test]
    fn slots_and_owners_follow_the_tetrahedra() {
        let left = TetrahedralMesh::block([1.0; 3], [1; 3], CellSplit::Five).unwrap();
        let right = left.clone().with_slot(7).translated_by(Vector3::x());
        let surface = left.joined_with(&right, 1e-6).unwrap().surface().unwrap();
        for (slot, tetrahedron) in surface.slots.iter().zip(&surface.tetrahedra) {
            assert_eq!(*slot, if *tetrahedron < 5 { 0 } else { 7 });
        }
    }
}
