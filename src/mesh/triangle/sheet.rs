//! Rectangular sheets.

use nalgebra::Vector3;

use super::TriangleMesh;
use super::error::TriangleMeshError;
use crate::mesh::generate::Arguments;

/// How the cells of a sheet are cut into two triangles each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SheetPattern {
    /// One diagonal per row of cells, leaning the other way in the next row: a fishbone. Every inner vertex has six edges,
    /// and no direction is preferred over its mirror image `[001 §4.1]`.
    #[default]
    Herringbone,
    /// The diagonal leans the other way in each neighboring cell. Inner vertices have four or eight edges in turn.
    Checkerboard,
    /// The same diagonal everywhere, from low x and high z to high x and low z. Every inner vertex has six edges, and the
    /// sheet bends more easily along one diagonal than along the other.
    Diagonal,
}

/// A corner of a sheet, seen with +x to the right and +z towards the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SheetCorner {
    /// Low x, low z.
    BackLeft,
    /// High x, low z.
    BackRight,
    /// Low x, high z.
    FrontLeft,
    /// High x, high z.
    FrontRight,
}

/// A side of a sheet, seen with +x to the right and +z towards the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SheetSide {
    /// Low x.
    Left,
    /// High x.
    Right,
    /// Low z.
    Back,
    /// High z.
    Front,
}

/// The plan of a rectangular sheet: where its vertices are and how they are numbered.
///
/// The sheet lies in the plane y = 0, centered at the origin, with its front facing +y. Vertex (i, j), counted from low x
/// and low z, has index i + (cells₀ + 1) j.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SheetGrid {
    /// Extent along x and z, m.
    pub size: [f64; 2],
    /// Number of cells along x and z.
    pub cells: [usize; 2],
    /// How cells are cut.
    pub pattern: SheetPattern,
}

impl SheetGrid {
    /// Index of vertex (i, j). Of no meaning beyond the last vertex along either axis.
    pub fn vertex(&self, i: usize, j: usize) -> u32 {
        (i + (self.cells[0] + 1) * j) as u32
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        (self.cells[0] + 1) * (self.cells[1] + 1)
    }

    /// Distance of neighboring vertices along x and z, m.
    pub fn spacing(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.size[axis] / self.cells[axis] as f64)
    }

    /// Whether the diagonal of cell (i, j) runs from its vertex of lowest x and z to that of highest.
    pub fn diagonal_rises(&self, i: usize, j: usize) -> bool {
        match self.pattern {
            SheetPattern::Herringbone => j % 2 == 1,
            SheetPattern::Checkerboard => (i + j) % 2 == 1,
            SheetPattern::Diagonal => false,
        }
    }

    pub(super) fn check(&self) -> Result<(), TriangleMeshError> {
        let arguments = Arguments("sheet");
        for axis in 0..2 {
            arguments.positive("size", self.size[axis])?;
            arguments.at_least("cells", self.cells[axis], 1, "at least 1")?;
        }
        arguments.count("triangles", &[2, self.cells[0], self.cells[1]])?;
        let points = self.cells.map(|count| count.saturating_add(1));
        arguments.count("vertices", &[points[0], points[1]])?;
        Ok(())
    }

    /// The sheet as a mesh, with texture coordinates from 0 to 1: first along +x, second along +z.
    ///
    /// # Errors
    /// [`TriangleMeshError::Request`] unless sizes are positive and finite, there is at least one cell along each axis, and
    /// indices can count the parts; [`TriangleMeshError::Sliver`] for cells narrower than any simulation could bear.
    pub fn mesh(&self) -> Result<TriangleMesh, TriangleMeshError> {
        self.check()?;
        let [columns, rows] = self.cells.map(|count| count + 1);
        let mut positions = Vec::with_capacity(columns * rows);
        for index in 0..columns * rows {
            // Symmetric about 0 to the last bit.
            let coordinate = |axis: usize, step: usize| {
                let offset = 2.0 * step as f64 - self.cells[axis] as f64;
                0.5 * self.size[axis] * (offset / self.cells[axis] as f64)
            };
            let (x, z) = (
                coordinate(0, index % columns),
                coordinate(1, index / columns),
            );
            positions.push(Vector3::new(x, 0.0, z));
        }
        let mut triangles = Vec::with_capacity(2 * self.cells[0] * self.cells[1]);
        for j in 0..self.cells[1] {
            for i in 0..self.cells[0] {
                let [a, b] = [self.vertex(i, j), self.vertex(i + 1, j)];
                let [c, d] = [self.vertex(i, j + 1), self.vertex(i + 1, j + 1)];
                if self.diagonal_rises(i, j) {
                    triangles.extend([[a, c, d], [a, d, b]]);
                } else {
                    triangles.extend([[a, c, b], [b, c, d]]);
                }
            }
        }
        let texture = |vertex: u32| {
            let (i, j) = (vertex as usize % columns, vertex as usize / columns);
            [
                i as f32 / self.cells[0] as f32,
                j as f32 / self.cells[1] as f32,
            ]
        };
        let coordinates = triangles
            .iter()
            .map(|triangle: &[u32; 3]| triangle.map(texture));
        let mut mesh = TriangleMesh::new(positions, Vec::new());
        mesh.corner_coordinates = Some(coordinates.collect());
        mesh.triangles = triangles;
        mesh.validate()?;
        Ok(mesh)
    }
}

impl TriangleMesh {
    /// A rectangular sheet in the plane y = 0, centered at the origin, front towards +y; see [`SheetGrid`], which numbers
    /// its vertices.
    ///
    /// # Errors
    /// Those of [`SheetGrid::mesh`].
    pub fn sheet(
        size: [f64; 2],
        cells: [usize; 2],
        pattern: SheetPattern,
    ) -> Result<Self, TriangleMeshError> {
        SheetGrid {
            size,
            cells,
            pattern,
        }
        .mesh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn vertices_run_row_by_row_and_carry_the_texture() {
        let mesh = TriangleMesh::sheet([2.0, 1.0], [2, 1], SheetPattern::Diagonal).unwrap();
        let places = [
            [-1.0, -0.5],
            [0.0, -0.5],
            [1.0, -0.5],
            [-1.0, 0.5],
            [0.0, 0.5],
            [1.0, 0.5],
        ];
        assert_eq!(mesh.positions, places.map(|[x, z]| Vector3::new(x, 0.0, z)));
        assert_eq!(mesh.triangles, [[0, 3, 1], [1, 3, 4], [1, 4, 2], [2, 4, 5]]);
        let coordinates = mesh.corner_coordinates.as_ref().unwrap();
        assert_eq!(coordinates[1], [[0.5, 0.0], [0.0, 1.0], [0.5, 1.0]]);
        for triangle in 0..4 {
            let frame = mesh.rest_frame(triangle).unwrap();
            assert_eq!((frame.warp, frame.weft), (Vector3::x(), -Vector3::z()));
            assert_eq!(frame.area, 0.5);
        }
    }

    #[test]
    fn patterns_give_inner_vertices_their_edges() {
        let degrees = |pattern| {
            let grid = SheetGrid {
                size: [1.0, 1.0],
                cells: [6, 6],
                pattern,
            };
            let edges = grid.mesh().unwrap().topology().unwrap().edges;
            let degree = |vertex: u32| {
                edges
                    .iter()
                    .filter(|edge| edge.vertices.contains(&vertex))
                    .count()
            };
            let mut found: Vec<usize> = Vec::new();
            for j in 1..6 {
                found.extend((1..6).map(|i| degree(grid.vertex(i, j))));
            }
            found
        };
        assert_eq!(degrees(SheetPattern::Herringbone), [6; 25]);
        assert_eq!(degrees(SheetPattern::Diagonal), [6; 25]);
        let expected: Vec<usize> = (0..25)
            .map(|index| if index % 2 == 0 { 4 } else { 8 })
            .collect();
        assert_eq!(degrees(SheetPattern::Checkerboard), expected);
    }

    #[test]
    fn arguments_are_checked() {
        let pattern = SheetPattern::Herringbone;
        for size in [[1.0, 0.0], [f64::NAN, 1.0], [-1.0, 1.0]] {
            let error = TriangleMesh::sheet(size, [1, 1], pattern)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("`sheet`: size is"), "{error}");
        }
        assert!(TriangleMesh::sheet([1.0; 2], [0, 1], pattern).is_err());
        for cells in [[usize::MAX; 2], [usize::MAX, 1], [1 << 20, 1 << 20]] {
            let error = TriangleMesh::sheet([1.0; 2], cells, pattern)
                .unwrap_err()
                .to_string();
            assert!(error.contains("too many"), "{error}");
        }
        assert!(matches!(
            TriangleMesh::sheet([1.0, 1e-9], [1, 1], pattern),
            Err(TriangleMeshError::Sliver { total: 2, .. })
        ));
    }

    proptest! {
        #[test]
        fn any_sheet_is_valid_and_exact(
            size in prop::array::uniform2(0.01..10.0f64),
            cells in prop::array::uniform2(1usize..7),
            pattern in 0..3,
        ) {
            let pattern = [SheetPattern::Herringbone, SheetPattern::Checkerboard, SheetPattern::Diagonal][pattern as usize];
            let mesh = TriangleMesh::sheet(size, cells, pattern).unwrap();
            prop_assert!((mesh.area() - size[0] * size[1]).abs() < 1e-12 * size[0] * size[1]);
            let [columns, rows] = cells;
            let topology = mesh.topology().unwrap();
            prop_assert_eq!(mesh.triangles.len(), 2 * columns * rows);
            prop_assert_eq!(topology.edges.len(), 3 * columns * rows + columns + rows);
            prop_assert_eq!(topology.boundary_loops.len(), 1);
            prop_assert_eq!(topology.boundary_loops[0].len(), 2 * (columns + rows));
            prop_assert_eq!(topology.euler_characteristic(), 1);
        }
    }
}
