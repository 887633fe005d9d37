//! Opening a mesh along edges.

use super::sides::{Side, sorted_sides};
use super::topology::find;
use super::{TriangleMesh, TriangleMeshError};
use crate::mesh::error::first_and_total;

/// Triangles opened along edges, and what becomes of the vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TornTriangles {
    /// The triangles in their old order, with vertices replaced by their copies.
    pub triangles: Vec<[u32; 3]>,
    /// For each new vertex the old one it is at. Old vertices keep their indices; copies follow.
    pub origin: Vec<u32>,
    /// For each new vertex the part of the old vertex's mass that it gets: the part of the area around the old vertex that
    /// is around it now. The parts of all copies of a vertex add up to 1.
    pub shares: Vec<f64>,
    /// Edges asked for that still hold, because neither of their ends could open; ascending.
    pub unopened: Vec<[u32; 2]>,
}

/// A mesh opened along edges; see [`TornTriangles`] for its lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Torn {
    /// The mesh with copies of vertices at the end.
    pub mesh: TriangleMesh,
    /// For each new vertex the old one it is at.
    pub origin: Vec<u32>,
    /// For each new vertex the part of the old vertex's mass that it gets.
    pub shares: Vec<f64>,
    /// Edges asked for that still hold.
    pub unopened: Vec<[u32; 2]>,
}

/// Opens triangles along the edges `torn` (two vertices each, in either order).
///
/// Around each end of a torn edge the triangles are grouped into fans that hang together across edges that are not torn. The
/// fan with the triangle of lowest index keeps the vertex, each other one gets a copy. A single edge inside the mesh
/// therefore opens nothing: the triangles still hang together around both of its ends, and it is reported as unopened. It
/// opens once a torn edge next to it does, or if one of its ends is on the boundary. Edges on the boundary are open already.
/// At a vertex where surfaces only touch, a torn edge parts these too.
///
/// `areas` (m²) are those of the triangles, at rest or now, and only weigh the shares; where they add up to nothing, each
/// triangle counts the same. Edges may have more than two triangles.
///
/// Nothing is added or lost: a mass that is split by the shares keeps its sum, and with equal velocities its momentum.
///
/// # Errors
/// [`TriangleMeshError::IndexOutOfRange`]; [`TriangleMeshError::WrongLength`] unless there is one area per triangle;
/// [`TriangleMeshError::UnknownEdge`].
pub fn tear_triangles(
    triangles: &[[u32; 3]],
    vertices: usize,
    areas: &[f64],
    torn: &[[u32; 2]],
) -> Result<TornTriangles, TriangleMeshError> {
    check(triangles, vertices, areas)?;
    let sides = sorted_sides(triangles);
    let groups: Vec<&[Side]> = sides.chunk_by(|a, b| a.key == b.key).collect();
    let mut open = vec![false; groups.len()];
    let unknown = torn.iter().filter(|&&[a, b]| {
        match groups.binary_search_by_key(&[a.min(b), a.max(b)], |group| group[0].key) {
            Ok(group) => open[group] = true,
            Err(_) => return true,
        }
        false
    });
    if let Some((&edge, total)) = first_and_total(unknown) {
        return Err(TriangleMeshError::UnknownEdge {
            operation: "tear_triangles",
            edge,
            total,
        });
    }

    // A corner is 3 times its triangle plus its place in it. Corners at one vertex are linked across edges that hold.
    let mut parent: Vec<u32> = (0..3 * triangles.len() as u32).collect();
    let mut touched = vec![false; vertices];
    for (group, &open) in groups.iter().zip(&open) {
        for end in 0..2 {
            touched[group[0].key[end] as usize] |= open;
            let corner_at = |side: &Side| {
                let step = u32::from(side.rising == (end == 1));
                3 * side.triangle + (u32::from(side.local) + step) % 3
            };
            if !open {
                for side in &group[1..] {
                    let [a, b] = [&group[0], side].map(|side| find(&mut parent, corner_at(side)));
                    // The lowest corner leads, so that the first fan keeps the vertex.
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }

    let mut corners: Vec<(u32, u32, u32)> = Vec::new();
    for corner in 0..3 * triangles.len() as u32 {
        let vertex = triangles[corner as usize / 3][corner as usize % 3];
        if touched[vertex as usize] {
            corners.push((vertex, find(&mut parent, corner), corner));
        }
    }
    corners.sort_unstable();

    let mut result = TornTriangles {
        triangles: triangles.to_vec(),
        origin: (0..vertices as u32).collect(),
        shares: vec![1.0; vertices],
        unopened: Vec::new(),
    };
    let area = |corner: &(u32, u32, u32)| areas[corner.2 as usize / 3];
    for around in corners.chunk_by(|a, b| a.0 == b.0) {
        let old = around[0].0;
        let total: f64 = around.iter().map(area).sum();
        for (number, fan) in around.chunk_by(|a, b| a.1 == b.1).enumerate() {
            let share = if total > 0.0 {
                fan.iter().map(area).sum::<f64>() / total
            } else {
                fan.len() as f64 / around.len() as f64
            };
            if number == 0 {
                result.shares[old as usize] = share;
                continue;
            }
            let copy = result.origin.len() as u32;
            result.origin.push(old);
            result.shares.push(share);
            for &(.., corner) in fan {
                result.triangles[corner as usize / 3][corner as usize % 3] = copy;
            }
        }
    }
    for (group, _) in groups
        .iter()
        .zip(&open)
        .filter(|(group, open)| **open && group.len() > 1)
    {
        let ends = |side: &Side| {
            let triangle = result.triangles[side.triangle as usize];
            let local = usize::from(side.local);
            let (from, to) = (triangle[local], triangle[(local + 1) % 3]);
            if side.rising { [from, to] } else { [to, from] }
        };
        if group.iter().all(|side| ends(side) == ends(&group[0])) {
            result.unopened.push(group[0].key);
        }
    }
    Ok(result)
}

fn check(triangles: &[[u32; 3]], vertices: usize, areas: &[f64]) -> Result<(), TriangleMeshError> {
    let missing = triangles
        .iter()
        .enumerate()
        .filter_map(|(triangle, corners)| {
            let index = corners.iter().find(|&&index| index as usize >= vertices)?;
            Some((triangle, *index))
        });
    if let Some(((triangle, index), total)) = first_and_total(missing) {
        return Err(TriangleMeshError::IndexOutOfRange {
            triangle,
            index,
            vertices,
            total,
        });
    }
    if areas.len() != triangles.len() {
        return Err(TriangleMeshError::WrongLength {
            list: "areas",
            length: areas.len(),
            expected: triangles.len(),
            what: "triangles",
        });
    }
    Ok(())
}

impl TriangleMesh {
    /// The mesh opened along `edges`, weighed by its rest areas; see [`tear_triangles`]. Texture coordinates stay with their
    /// triangles, colors are copied.
    ///
    /// # Errors
    /// [`TriangleMeshError::IndexOutOfRange`], [`TriangleMeshError::WrongLength`], [`TriangleMeshError::UnknownEdge`],
    /// [`TriangleMeshError::NonFinitePosition`], [`TriangleMeshError::NonFiniteAttribute`].
    pub fn torn(&self, edges: &[[u32; 2]]) -> Result<Torn, TriangleMeshError> {
        self.check_data()?;
        let areas: Vec<f64> = (0..self.triangles.len())
            .map(|triangle| self.triangle_area(triangle))
            .collect();
        let TornTriangles {
            triangles,
            origin,
            shares,
            unopened,
        } = tear_triangles(&self.triangles, self.positions.len(), &areas, edges)?;
        let from = |list: &[[f32; 4]]| origin.iter().map(|&vertex| list[vertex as usize]).collect();
        let mesh = Self {
            positions: origin
                .iter()
                .map(|&vertex| self.positions[vertex as usize])
                .collect(),
            triangles,
            corner_coordinates: self.corner_coordinates.clone(),
            colors: self.colors.as_deref().map(from),
            warp_direction: self.warp_direction,
        };
        Ok(Torn {
            mesh,
            origin,
            shares,
            unopened,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{SheetGrid, SheetPattern};
    use proptest::prelude::*;

    const GRID: SheetGrid = SheetGrid {
        size: [4.0, 4.0],
        cells: [4, 4],
        pattern: SheetPattern::Herringbone,
    };

    /// The edges from (2, `from`) to (2, `to`) along z.
    fn line(from: usize, to: usize) -> Vec<[u32; 2]> {
        (from..to)
            .map(|j| [GRID.vertex(2, j + 1), GRID.vertex(2, j)])
            .collect()
    }

    /// What must hold for any tear.
    fn check_torn(mesh: &TriangleMesh, torn: &Torn) {
        assert_eq!(torn.mesh.validate(), Ok(()));
        assert_eq!(
            torn.origin[..mesh.positions.len()],
            (0..mesh.positions.len() as u32).collect::<Vec<_>>()
        );
        assert_eq!(torn.mesh.area(), mesh.area());
        assert_eq!(torn.mesh.corner_coordinates, mesh.corner_coordinates);
        let mut sums = vec![0.0; mesh.positions.len()];
        let (old, new) = (mesh.vertex_areas(), torn.mesh.vertex_areas());
        for (vertex, &origin) in torn.origin.iter().enumerate() {
            let share = torn.shares[vertex];
            sums[origin as usize] += share;
            assert!((new[vertex] - share * old[origin as usize]).abs() < 1e-14);
            assert_eq!(torn.mesh.positions[vertex], mesh.positions[origin as usize]);
        }
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-14));
    }

    #[test]
    fn line_across_the_sheet_makes_two() {
        let mesh = GRID.mesh().unwrap();
        let torn = mesh.torn(&line(0, 4)).unwrap();
        check_torn(&mesh, &torn);
        assert_eq!(torn.mesh.positions.len(), 30);
        assert_eq!(
            torn.origin[25..],
            [0, 1, 2, 3, 4].map(|j| GRID.vertex(2, j))
        );
        let topology = torn.mesh.topology().unwrap();
        assert_eq!(
            (topology.piece_count(), topology.euler_characteristic()),
            (2, 2)
        );
        assert!(torn.unopened.is_empty());
        // The diagonals meet the line from the left and from the right in turn: four triangles against two.
        let shares = [1, 2, 3].map(|j| torn.shares[GRID.vertex(2, j) as usize]);
        for (share, expected) in shares.into_iter().zip([1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0]) {
            assert!((share - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn one_edge_inside_opens_nothing() {
        let mesh = GRID.mesh().unwrap();
        let torn = mesh.torn(&line(1, 2)).unwrap();
        assert_eq!(torn.mesh, mesh);
        assert_eq!(torn.unopened, [[GRID.vertex(2, 1), GRID.vertex(2, 2)]]);
        assert!(torn.shares.iter().all(|&share| share == 1.0));
    }

    #[test]
    fn two_edges_inside_open_a_slit() {
        let mesh = GRID.mesh().unwrap();
        let torn = mesh.torn(&line(1, 3)).unwrap();
        check_torn(&mesh, &torn);
        assert_eq!(torn.origin[25..], [GRID.vertex(2, 2)]);
        let topology = torn.mesh.topology().unwrap();
        assert_eq!(
            (topology.piece_count(), topology.euler_characteristic()),
            (1, 0)
        );
        assert_eq!(topology.boundary_loops.len(), 2);
        assert!(torn.unopened.is_empty());
    }

    #[test]
    fn edge_at_the_boundary_opens_a_cut() {
        let mesh = GRID.mesh().unwrap();
        let torn = mesh.torn(&line(0, 1)).unwrap();
        check_torn(&mesh, &torn);
        assert_eq!(torn.origin[25..], [GRID.vertex(2, 0)]);
        let topology = torn.mesh.topology().unwrap();
        assert_eq!(
            (topology.piece_count(), topology.euler_characteristic()),
            (1, 1)
        );
        assert_eq!(topology.boundary_loops[0].len(), 18);
    }

    #[test]
    fn edges_on_the_boundary_are_open_already() {
        let mesh = GRID.mesh().unwrap();
        let torn = mesh.torn(&[[0, 1], [1, 0]]).unwrap();
        assert_eq!((&torn.mesh, &torn.unopened[..]), (&mesh, &[][..]));
    }

    #[test]
    fn all_edges_part_all_triangles() {
        let mut mesh = GRID.mesh().unwrap();
        mesh.colors = Some((0..25).map(|vertex| [vertex as f32; 4]).collect());
        let edges: Vec<[u32; 2]> = mesh
            .topology()
            .unwrap()
            .edges
            .iter()
            .map(|edge| edge.vertices)
            .collect();
        let torn = mesh.torn(&edges).unwrap();
        check_torn(&mesh, &torn);
        assert_eq!(torn.mesh.positions.len(), 96);
        let topology = torn.mesh.topology().unwrap();
        assert_eq!(
            (topology.piece_count(), topology.euler_characteristic()),
            (32, 32)
        );
        for (color, &origin) in torn.mesh.colors.unwrap().iter().zip(&torn.origin) {
            assert_eq!(color[0], origin as f32);
        }
    }

    #[test]
    fn triangles_without_area_share_alike() {
        let triangles = [[0, 1, 2], [2, 1, 3], [2, 3, 4]];
        let torn = tear_triangles(&triangles, 5, &[0.0; 3], &[[1, 2]]).unwrap();
        assert_eq!(torn.triangles, [[0, 1, 2], [6, 5, 3], [6, 3, 4]]);
        assert_eq!(torn.origin, [0, 1, 2, 3, 4, 1, 2]);
        assert_eq!(torn.shares, [1.0, 0.5, 1.0 / 3.0, 1.0, 1.0, 0.5, 2.0 / 3.0]);
    }

    #[test]
    fn unknown_edges_and_missing_areas_are_refused() {
        let mesh = GRID.mesh().unwrap();
        let error = mesh.torn(&[[0, 1], [0, 24], [3, 3]]).unwrap_err();
        assert!(matches!(
            error,
            TriangleMeshError::UnknownEdge {
                edge: [0, 24],
                total: 2,
                ..
            }
        ));
        let error = tear_triangles(&mesh.triangles, 25, &[], &[]).unwrap_err();
        assert!(matches!(
            error,
            TriangleMeshError::WrongLength { expected: 32, .. }
        ));
        let error = tear_triangles(&mesh.triangles, 24, &[1.0; 32], &[]).unwrap_err();
        assert!(matches!(
            error,
            TriangleMeshError::IndexOutOfRange { index: 24, .. }
        ));
    }

    proptest! {
        #[test]
        fn any_tear_leaves_a_valid_mesh(chosen in prop::collection::vec(any::<bool>(), 56)) {
            let mesh = GRID.mesh().unwrap();
            let edges = mesh.topology().unwrap().edges;
            let chosen = edges.iter().zip(&chosen).filter(|(_, chosen)| **chosen);
            let chosen: Vec<[u32; 2]> = chosen.map(|(edge, _)| edge.vertices).collect();
            let torn = mesh.torn(&chosen).unwrap();
            check_torn(&mesh, &torn);
            // Tearing again along the edges that still hold opens nothing new.
            let again = torn.mesh.torn(&torn.unopened).unwrap();
            prop_assert_eq!(again.mesh, torn.mesh);
        }
    }
}
