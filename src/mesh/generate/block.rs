//! Blocks of cubic cells.

use nalgebra::Vector3;

use super::{Arguments, finished};
use crate::mesh::{MeshError, TetrahedralMesh};

/// How a cell of a block is split into tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellSplit {
    /// Five: a large regular tetrahedron inside and four at corners, mirrored from cell to cell so that faces match.
    /// Fewer and rounder tetrahedra, of two different volumes; only vertices of one color of the checkerboard have many
    /// neighbors.
    Five,
    /// Six of equal volume around the diagonal from the lowest to the highest corner (Kuhn's split), the same in every
    /// cell. The direction of the diagonal makes the body slightly anisotropic. The bed, cube and ball of the scene "elast"
    /// `[000 ch. 9]` have 836 tetrahedra exactly with this split.
    #[default]
    Six,
}

/// Corner bits (x = 1, y = 2, z = 4) of the five tetrahedra of an even cell; an odd cell has them mirrored in x.
const FIVE: [[usize; 4]; 5] = [
    [0, 1, 2, 4],
    [3, 2, 1, 7],
    [5, 1, 4, 7],
    [6, 4, 2, 7],
    [1, 2, 4, 7],
];

/// Corner bits of the six tetrahedra of a cell: the paths along cell edges from corner 0 to corner 7.
const SIX: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 5, 1, 7],
    [0, 3, 2, 7],
    [0, 6, 4, 7],
];

impl TetrahedralMesh {
    /// A block of `size` (m) centered at the origin, cut into `cells` cells along x, y and z.
    ///
    /// Vertex (i, j, k), counted from the lowest corner, has index i + (cells₀ + 1)(j + (cells₁ + 1) k). There are five or
    /// six tetrahedra per cell, in the order of the cells. Painted by a box chart without stretching.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] unless sizes are positive and finite and there is at least one cell along each axis;
    /// [`MeshError::TooLarge`]; [`MeshError::FlatTetrahedron`] for cells flatter than any simulation could bear.
    pub fn block(size: [f64; 3], cells: [usize; 3], split: CellSplit) -> Result<Self, MeshError> {
        let arguments = Arguments("block");
        for axis in 0..3 {
            arguments.positive("size", size[axis])?;
            arguments.at_least("cells", cells[axis], 1, "at least 1")?;
        }
        let per_cell = if split == CellSplit::Five { 5 } else { 6 };
        let tetrahedron_count =
            arguments.count("tetrahedra", &[per_cell, cells[0], cells[1], cells[2]])?;
        let [columns, rows, layers] = cells.map(|count| count + 1);
        let vertex_count = arguments.count("vertices", &[columns, rows, layers])?;

        let mut positions = Vec::with_capacity(vertex_count);
        for index in 0..vertex_count {
            let steps = [
                index % columns,
                index / columns % rows,
                index / (columns * rows),
            ];
            // Symmetric about 0 to the last bit: opposite vertices are exact negatives of each other.
            let coordinate = |axis: usize| {
                let offset = 2.0 * steps[axis] as f64 - cells[axis] as f64;
                0.5 * size[axis] * (offset / cells[axis] as f64)
            };
            positions.push(Vector3::new(coordinate(0), coordinate(1), coordinate(2)));
        }

        let mut tetrahedra = Vec::with_capacity(tetrahedron_count);
        for cell in 0..cells[0] * cells[1] * cells[2] {
            let [i, j, k] = [
                cell % cells[0],
                cell / cells[0] % cells[1],
                cell / (cells[0] * cells[1]),
            ];
            let vertex = |bits: usize| {
                let (i, j, k) = (i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
                (i + columns * (j + rows * k)) as u32
            };
            match split {
                CellSplit::Six => tetrahedra.extend(SIX.map(|corners| corners.map(vertex))),
                CellSplit::Five if (i + j + k) % 2 == 0 => {
                    tetrahedra.extend(FIVE.map(|corners| corners.map(vertex)));
                }
                // The mirror image reverses orientation, which the swap restores.
                CellSplit::Five => {
                    tetrahedra
                        .extend(FIVE.map(|[a, b, c, d]| [a, b, d, c].map(|bits| vertex(bits ^ 1))));
                }
            }
        }
        finished(Self::new(positions, tetrahedra))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_follow_the_cells() {
        for (split, per_cell) in [(CellSplit::Five, 5), (CellSplit::Six, 6)] {
            let mesh = TetrahedralMesh::block([0.8, 0.2, 0.8], [8, 2, 8], split).unwrap();
            assert_eq!(
                (mesh.positions.len(), mesh.tetrahedra.len()),
                (9 * 3 * 9, per_cell * 128)
            );
            assert_eq!(mesh.surface().unwrap().triangles.len(), 2 * 192);
        }
    }

    #[test]
    fn scene_elast_has_the_counts_of_the_source() {
        let parts = [
            TetrahedralMesh::block([0.8, 0.2, 0.8], [8, 2, 8], CellSplit::Six).unwrap(),
            TetrahedralMesh::block([0.1; 3], [2; 3], CellSplit::Six).unwrap(),
            TetrahedralMesh::ball(0.05, 1).unwrap(),
        ];
        let surfaces = parts.each_ref().map(|part| part.surface().unwrap());
        assert_eq!(
            parts
                .iter()
                .map(|part| part.tetrahedra.len())
                .sum::<usize>(),
            836
        );
        assert_eq!(
            parts.iter().map(|part| part.positions.len()).sum::<usize>(),
            283
        );
        assert_eq!(
            surfaces
                .iter()
                .map(|surface| surface.vertices().len())
                .sum::<usize>(),
            232
        );
        assert_eq!(
            surfaces
                .iter()
                .map(|surface| surface.edges().len())
                .sum::<usize>(),
            678
        );
        assert_eq!(
            surfaces
                .iter()
                .map(|surface| surface.triangles.len())
                .sum::<usize>(),
            452
        );
    }

    #[test]
    fn arguments_are_checked() {
        let split = CellSplit::Five;
        assert!(TetrahedralMesh::block([1.0, 0.0, 1.0], [1; 3], split).is_err());
        assert!(TetrahedralMesh::block([1.0, f64::NAN, 1.0], [1; 3], split).is_err());
        assert!(TetrahedralMesh::block([1.0; 3], [1, 0, 1], split).is_err());
        assert!(matches!(
            TetrahedralMesh::block([1.0; 3], [usize::MAX; 3], split),
            Err(MeshError::TooLarge { .. })
        ));
        assert!(TetrahedralMesh::block([1e-200; 3], [1; 3], split).is_err());
    }

    proptest! {
        #[test]
        fn any_block_is_valid_and_exact(
            size in prop::array::uniform3(0.01..10.0f64),
            cells in prop::array::uniform3(1usize..5),
            six in any::<bool>(),
        ) {
            let split = if six { CellSplit::Six } else { CellSplit::Five };
            let mesh = TetrahedralMesh::block(size, cells, split).unwrap();
            let volume: f64 = size.iter().product();
            prop_assert_eq!(mesh.validate(), Ok(()));
            prop_assert!((mesh.volume() - volume).abs() < 1e-12 * volume);
            let surface = mesh.surface().unwrap();
            prop_assert_eq!(surface.euler_characteristic(), 2);
            let quads = cells[0] * cells[1] + cells[1] * cells[2] + cells[2] * cells[0];
            prop_assert_eq!(surface.triangles.len(), 4 * quads);
        }
    }
}
