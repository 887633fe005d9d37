//! Edges, hinges, boundaries and pieces.

use super::sides::{Side, sorted_sides};
use super::{TriangleMesh, TriangleMeshError};

/// An edge of a triangle mesh with the triangles on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshEdge {
    /// Its vertices, ascending.
    pub vertices: [u32; 2],
    /// The triangle of lowest index on it.
    pub first: u32,
    /// The other triangle; `None` on the boundary.
    pub second: Option<u32>,
}

/// How the triangles of a mesh hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriangleTopology {
    /// Each edge once, in ascending order of its vertices.
    pub edges: Vec<MeshEdge>,
    /// For each triangle the indices of its edges; edge k runs from corner k to the next one.
    pub triangle_edges: Vec<[u32; 3]>,
    /// Two triangles that share an edge, one entry per inner edge, in the order of the edges: `[x₁, x₂, x₃, x₄]` with x₁
    /// opposite to the edge in its first triangle, x₂ in its second, and x₃, x₄ the edge as the first triangle runs
    /// through it.
    ///
    /// With N₁ = (x₁−x₃)×(x₁−x₄) and N₂ = (x₂−x₄)×(x₂−x₃) both normals are those of the triangles as listed, so the angle θ
    /// of sin θ = (n₁×n₂)·(x₄−x₃)/|x₄−x₃| is 0 where the mesh is flat, and positive where it bends away from its front,
    /// like the outside of a ball, whichever triangle comes first `[001 §4.1]`.
    pub hinges: Vec<[u32; 4]>,
    /// For each hinge the index of its edge.
    pub hinge_edges: Vec<u32>,
    /// The boundary as closed chains of vertices, with the mesh on the left seen from the front. Each starts at its first
    /// edge in the order of the edges; a vertex where two boundaries touch appears in both.
    pub boundary_loops: Vec<Vec<u32>>,
    /// For each triangle the number of its piece, counted from 0 in the order of the triangles. Pieces share no vertex.
    pub pieces: Vec<u32>,
    used_vertices: usize,
}

impl TriangleMesh {
    /// Works out how the triangles hang together, in time proportional to n log n.
    ///
    /// Hinges have signs, and loops a side, only if neighbors are listed in the same sense, which
    /// [`validate`](TriangleMesh::validate) checks.
    ///
    /// # Errors
    /// [`TriangleMeshError::IndexOutOfRange`], [`TriangleMeshError::RepeatedVertex`],
    /// [`TriangleMeshError::NonManifoldEdge`].
    pub fn topology(&self) -> Result<TriangleTopology, TriangleMeshError> {
        self.check_indices()?;
        self.check_repeated_vertices()?;
        let sides = sorted_sides(&self.triangles);
        self.check_edge_sharing(&sides)?;
        let mut topology = TriangleTopology {
            triangle_edges: vec![[0; 3]; self.triangles.len()],
            pieces: pieces(&self.triangles, self.positions.len()),
            used_vertices: self
                .used_vertices()
                .into_iter()
                .filter(|&used| used)
                .count(),
            ..TriangleTopology::default()
        };
        for group in sides.chunk_by(|a, b| a.key == b.key) {
            let index = topology.edges.len() as u32;
            for side in group {
                topology.triangle_edges[side.triangle as usize][usize::from(side.local)] = index;
            }
            topology.edges.push(MeshEdge {
                vertices: group[0].key,
                first: group[0].triangle,
                second: group.get(1).map(|side| side.triangle),
            });
            if let [first, second] = group {
                let ([from, to], opposite) = corners(first, &self.triangles);
                let other = corners(second, &self.triangles).1;
                topology.hinges.push([opposite, other, from, to]);
                topology.hinge_edges.push(index);
            }
        }
        topology.boundary_loops = topology.walk_boundaries(&self.triangles);
        Ok(topology)
    }
}

/// The edge as the triangle of `side` runs through it, and the corner opposite.
fn corners(side: &Side, triangles: &[[u32; 3]]) -> ([u32; 2], u32) {
    let triangle = triangles[side.triangle as usize];
    let [from, to, opposite] = [0, 1, 2].map(|step| triangle[(usize::from(side.local) + step) % 3]);
    ([from, to], opposite)
}

impl TriangleTopology {
    /// Whether no edge is on the boundary. The empty mesh is closed.
    pub fn is_closed(&self) -> bool {
        self.edges.iter().all(|edge| edge.second.is_some())
    }

    /// Indices of the edges on the boundary, ascending.
    pub fn boundary_edges(&self) -> Vec<u32> {
        (0..self.edges.len() as u32)
            .filter(|&edge| self.edges[edge as usize].second.is_none())
            .collect()
    }

    /// Index of the edge between two vertices, in either order; `None` if there is none.
    pub fn edge_between(&self, a: u32, b: u32) -> Option<usize> {
        let key = [a.min(b), a.max(b)];
        self.edges
            .binary_search_by_key(&key, |edge| edge.vertices)
            .ok()
    }

    /// Number of pieces that share no vertex.
    pub fn piece_count(&self) -> usize {
        self.pieces
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1)
    }

    /// Vertices in use − edges + triangles: 1 for a disc, 2 for a ball, 0 for a ring or a torus.
    pub fn euler_characteristic(&self) -> i64 {
        self.used_vertices as i64 - self.edges.len() as i64 + self.triangle_edges.len() as i64
    }

    fn walk_boundaries(&self, triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
        let mut visited = vec![false; self.edges.len()];
        let mut loops = Vec::new();
        for start in self.boundary_edges() {
            let mut edge = start as usize;
            let mut triangle = self.edges[edge].first as usize;
            let local = self.triangle_edges[triangle]
                .iter()
                .position(|&side| side == start);
            let mut vertex = triangles[triangle][local.unwrap_or_default()];
            let mut chain = Vec::new();
            while !visited[edge] {
                visited[edge] = true;
                chain.push(vertex);
                let [low, high] = self.edges[edge].vertices;
                vertex = if vertex == low { high } else { low };
                // Around the vertex, from triangle to triangle, until there is no next one.
                loop {
                    let next = self.triangle_edges[triangle].iter().find(|&&side| {
                        side as usize != edge
                            && self.edges[side as usize].vertices.contains(&vertex)
                    });
                    let Some(&next) = next else { break };
                    edge = next as usize;
                    let MeshEdge { first, second, .. } = self.edges[edge];
                    let Some(second) = second else { break };
                    triangle = if first as usize == triangle {
                        second
                    } else {
                        first
                    } as usize;
                }
            }
            if !chain.is_empty() {
                loops.push(chain);
            }
        }
        loops
    }
}

/// Numbers the triangles by piece, in the order of first appearance. Indices must be in range.
fn pieces(triangles: &[[u32; 3]], vertices: usize) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..vertices as u32).collect();
    for &[a, b, c] in triangles {
        let root = find(&mut parent, a);
        for other in [b, c] {
            let other = find(&mut parent, other);
            parent[other as usize] = root;
        }
    }
    let mut number = vec![u32::MAX; vertices];
    let mut next = 0;
    let mut pieces = Vec::with_capacity(triangles.len());
    for &[a, ..] in triangles {
        let root = find(&mut parent, a) as usize;
        if number[root] == u32::MAX {
            number[root] = next;
            next += 1;
        }
        pieces.push(number[root]);
    }
    pieces
}

/// Root of a tree of parents; shortens the way for the next search.
pub(super) fn find(parent: &mut [u32], mut index: u32) -> u32 {
    while parent[index as usize] != index {
        parent[index as usize] = parent[parent[index as usize] as usize];
        index = parent[index as usize];
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// sin θ of a hinge, as the bending forces compute it.
    fn sine(mesh: &TriangleMesh, hinge: [u32; 4]) -> f64 {
        let [x1, x2, x3, x4] = hinge.map(|vertex| mesh.positions[vertex as usize]);
        let n1 = (x1 - x3).cross(&(x1 - x4)).normalize();
        let n2 = (x2 - x4).cross(&(x2 - x3)).normalize();
        n1.cross(&n2).dot(&(x4 - x3).normalize())
    }

    fn pair(height: f64) -> TriangleMesh {
        let positions = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, height],
        ];
        TriangleMesh::new(
            positions.map(Vector3::from).to_vec(),
            vec![[0, 1, 2], [2, 1, 3]],
        )
    }

    #[test]
    fn pair_of_triangles_has_one_hinge() {
        let mesh = pair(0.0);
        let topology = mesh.topology().unwrap();
        let vertices: Vec<[u32; 2]> = topology.edges.iter().map(|edge| edge.vertices).collect();
        assert_eq!(vertices, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        let inner = MeshEdge {
            vertices: [1, 2],
            first: 0,
            second: Some(1),
        };
        assert_eq!(topology.edges[2], inner);
        assert_eq!(topology.triangle_edges, [[0, 2, 1], [2, 3, 4]]);
        assert_eq!(
            (&topology.hinges[..], &topology.hinge_edges[..]),
            (&[[0, 3, 1, 2]][..], &[2][..])
        );
        assert_eq!(topology.boundary_edges(), [0, 1, 3, 4]);
        assert_eq!(topology.boundary_loops, [[0, 1, 3, 2]]);
        assert_eq!(
            (topology.euler_characteristic(), topology.piece_count()),
            (1, 1)
        );
        assert!(!topology.is_closed());
        assert_eq!(
            (topology.edge_between(2, 1), topology.edge_between(0, 3)),
            (Some(2), None)
        );
    }

    #[test]
    fn sign_of_a_hinge_does_not_depend_on_the_order_of_the_triangles() {
        for height in [-0.5, 0.0, 0.5] {
            let mesh = pair(height);
            let mut other = mesh.clone();
            other.triangles.reverse();
            other.triangles[0].rotate_left(1);
            let [a, b] = [&mesh, &other].map(|mesh| sine(mesh, mesh.topology().unwrap().hinges[0]));
            assert!((a - b).abs() < 1e-15);
            // The front faces +z: lifted tips bend towards it.
            assert_eq!(
                a.partial_cmp(&0.0),
                0.0_f64.partial_cmp(&height),
                "{a} at {height}"
            );
        }
    }

    #[test]
    fn sphere_is_closed_and_bends_one_way() {
        let mesh = TriangleMesh::sphere(0.7, 3).unwrap();
        let topology = mesh.topology().unwrap();
        assert!(topology.is_closed() && topology.boundary_loops.is_empty());
        assert_eq!(topology.euler_characteristic(), 2);
        assert_eq!(topology.hinges.len(), topology.edges.len());
        assert!(
            topology
                .hinges
                .iter()
                .all(|&hinge| sine(&mesh, hinge) > 0.1)
        );
    }

    #[test]
    fn boundaries_that_touch_in_a_vertex_stay_apart() {
        // Two triangles tip to tip, and a ring of eight triangles around a square hole.
        let positions = vec![Vector3::zeros(); 5];
        let tips = TriangleMesh::new(positions, vec![[0, 1, 2], [2, 3, 4]]);
        let topology = tips.topology().unwrap();
        assert_eq!(topology.boundary_loops, [[0, 1, 2], [2, 3, 4]]);
        assert_eq!(
            (topology.piece_count(), topology.euler_characteristic()),
            (1, 1)
        );

        let mut ring = TriangleMesh::sheet([3.0, 3.0], [3, 3], Default::default()).unwrap();
        ring.triangles.drain(8..10);
        let topology = ring.topology().unwrap();
        assert_eq!(topology.boundary_loops.len(), 2);
        assert_eq!(topology.boundary_loops[0].len(), 12);
        assert_eq!(topology.boundary_loops[1], [5, 6, 10, 9]);
        assert_eq!(topology.euler_characteristic(), 0);
    }

    #[test]
    fn pieces_are_numbered_in_order() {
        let mesh = TriangleMesh::new(
            vec![Vector3::zeros(); 9],
            vec![[6, 7, 8], [0, 1, 2], [2, 1, 3], [7, 8, 5]],
        );
        let topology = mesh.topology().unwrap();
        assert_eq!(topology.pieces, [0, 1, 1, 0]);
        assert_eq!(topology.euler_characteristic(), 2);
        assert_eq!(
            TriangleMesh::default().topology().unwrap(),
            TriangleTopology::default()
        );
    }
}
