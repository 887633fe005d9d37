//! Springs of rectangular sheets.

use super::springs::{SpringKind, SpringNet};
use super::{SheetGrid, TriangleMeshError};

impl SheetGrid {
    /// The springs of Provot's model: structural ones to the next vertex along x and z, shear ones along both diagonals of
    /// each cell, bend ones to the second next vertex along x and z; first those along x, then those along z, row by row
    /// `[001 §3.1]`. The pattern of the triangles does not matter.
    ///
    /// Dual widths: the distance of neighboring rows, half of it on the border, for structural and bend springs, so that
    /// their modulus is the membrane modulus along the yarns; l³/(2ab) for the diagonals of length l of a cell a × b, so that
    /// theirs is the shear modulus. On square cells stiffness is then modulus, except along the border.
    ///
    /// # Errors
    /// [`TriangleMeshError::Request`] as for [`SheetGrid::mesh`].
    pub fn provot_springs(&self) -> Result<SpringNet, TriangleMeshError> {
        self.check()?;
        let mut net = SpringNet::default();
        self.push_rows(&mut net, SpringKind::Structural, 1);
        let (length, area) = self.cell_diagonal();
        self.for_each_cell(|i, j| {
            for rising in [true, false] {
                let width = length.powi(3) / (2.0 * area);
                net.push(
                    self.diagonal(i, j, rising),
                    length,
                    SpringKind::Shear,
                    width,
                );
            }
        });
        self.push_rows(&mut net, SpringKind::Bend, 2);
        Ok(net)
    }

    /// The springs of Bridson's model: structural ones as in [`provot_springs`](Self::provot_springs), and a shear spring
    /// along the one diagonal of each cell that cuts it into triangles `[001 §4.1]`. Bending is left to the hinges.
    ///
    /// Dual width of a diagonal of length l of a cell a × b: l³/(ab), so that its modulus is the shear modulus.
    ///
    /// # Errors
    /// [`TriangleMeshError::Request`] as for [`SheetGrid::mesh`].
    pub fn bridson_springs(&self) -> Result<SpringNet, TriangleMeshError> {
        self.check()?;
        let mut net = SpringNet::default();
        self.push_rows(&mut net, SpringKind::Structural, 1);
        let (length, area) = self.cell_diagonal();
        self.for_each_cell(|i, j| {
            let ends = self.diagonal(i, j, self.diagonal_rises(i, j));
            net.push(ends, length, SpringKind::Shear, length.powi(3) / area);
        });
        Ok(net)
    }

    /// Springs from each vertex to the one `reach` steps on, first along x, then along z.
    fn push_rows(&self, net: &mut SpringNet, kind: SpringKind, reach: usize) {
        let spacing = self.spacing();
        for axis in 0..2 {
            let across = self.cells[1 - axis];
            for j in 0..=self.cells[1] {
                for i in 0..=self.cells[0] {
                    let [along, row] = if axis == 0 { [i, j] } else { [j, i] };
                    if along + reach > self.cells[axis] {
                        continue;
                    }
                    let end = if axis == 0 {
                        self.vertex(i + reach, j)
                    } else {
                        self.vertex(i, j + reach)
                    };
                    let border = row == 0 || row == across;
                    let width = spacing[1 - axis] * if border { 0.5 } else { 1.0 };
                    net.push(
                        [self.vertex(i, j), end],
                        reach as f64 * spacing[axis],
                        kind,
                        width,
                    );
                }
            }
        }
    }

    fn for_each_cell(&self, mut each: impl FnMut(usize, usize)) {
        for j in 0..self.cells[1] {
            for i in 0..self.cells[0] {
                each(i, j);
            }
        }
    }

    /// Length of a cell's diagonal and area of the cell.
    fn cell_diagonal(&self) -> (f64, f64) {
        let [a, b] = self.spacing();
        (a.hypot(b), a * b)
    }

    fn diagonal(&self, i: usize, j: usize, rising: bool) -> [u32; 2] {
        if rising {
            [self.vertex(i, j), self.vertex(i + 1, j + 1)]
        } else {
            [self.vertex(i + 1, j), self.vertex(i, j + 1)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::SheetPattern;
    use crate::mesh::triangle::springs::tests::energy;
    use nalgebra::{Matrix3, Vector3};

    const GRID: SheetGrid = SheetGrid {
        size: [6.0, 8.0],
        cells: [2, 2],
        pattern: SheetPattern::Herringbone,
    };

    fn of_kind(net: &SpringNet, kind: SpringKind) -> Vec<([u32; 2], f64, f64)> {
        let springs = (0..net.len()).filter(|&index| net.kinds[index] == kind);
        springs
            .map(|index| {
                (
                    net.springs[index],
                    net.rest_lengths[index],
                    net.dual_widths[index],
                )
            })
            .collect()
    }

    #[test]
    fn provot_springs_of_a_small_sheet() {
        let net = GRID.provot_springs().unwrap();
        let structural = [
            ([0, 1], 3.0, 2.0),
            ([1, 2], 3.0, 2.0),
            ([3, 4], 3.0, 4.0),
            ([4, 5], 3.0, 4.0),
            ([6, 7], 3.0, 2.0),
            ([7, 8], 3.0, 2.0),
            ([0, 3], 4.0, 1.5),
            ([1, 4], 4.0, 3.0),
            ([2, 5], 4.0, 1.5),
            ([3, 6], 4.0, 1.5),
            ([4, 7], 4.0, 3.0),
            ([5, 8], 4.0, 1.5),
        ];
        assert_eq!(of_kind(&net, SpringKind::Structural), structural);
        let shear = [
            [0, 4],
            [1, 3],
            [1, 5],
            [2, 4],
            [3, 7],
            [4, 6],
            [4, 8],
            [5, 7],
        ];
        assert_eq!(
            of_kind(&net, SpringKind::Shear),
            shear.map(|ends| (ends, 5.0, 125.0 / 24.0))
        );
        let bend = [
            ([0, 2], 6.0, 2.0),
            ([3, 5], 6.0, 4.0),
            ([6, 8], 6.0, 2.0),
            ([0, 6], 8.0, 1.5),
            ([1, 7], 8.0, 3.0),
            ([2, 8], 8.0, 1.5),
        ];
        assert_eq!(of_kind(&net, SpringKind::Bend), bend);
    }

    #[test]
    fn counts_of_the_reference_flag() {
        let grid = SheetGrid {
            size: [0.032; 2],
            cells: [16, 16],
            pattern: SheetPattern::Herringbone,
        };
        let net = grid.provot_springs().unwrap();
        let counts = [SpringKind::Structural, SpringKind::Shear, SpringKind::Bend]
            .map(|kind| net.kinds.iter().filter(|&&found| found == kind).count());
        assert_eq!(counts, [2 * 16 * 17, 2 * 16 * 16, 2 * 15 * 17]);
        assert_eq!(grid.bridson_springs().unwrap().len(), 2 * 16 * 17 + 16 * 16);
    }

    #[test]
    fn bridson_springs_are_the_edges_of_the_triangles() {
        for pattern in [
            SheetPattern::Herringbone,
            SheetPattern::Checkerboard,
            SheetPattern::Diagonal,
        ] {
            let grid = SheetGrid {
                size: [1.0, 2.0],
                cells: [3, 4],
                pattern,
            };
            let net = grid.bridson_springs().unwrap();
            let mut springs = net.springs.clone();
            springs.sort_unstable();
            let mesh = grid.mesh().unwrap();
            let edges = mesh.edge_springs().unwrap();
            assert_eq!(springs, edges.springs);
            for (index, ends) in net.springs.iter().enumerate() {
                let found = edges.springs.iter().position(|edge| edge == ends).unwrap();
                assert!((net.rest_lengths[index] - edges.rest_lengths[found]).abs() < 1e-15);
                if net.kinds[index] == SpringKind::Structural {
                    assert!((net.dual_widths[index] - edges.dual_widths[found]).abs() < 1e-15);
                }
            }
        }
    }

    #[test]
    fn moduli_are_those_of_the_sheet() {
        let grid = SheetGrid {
            size: [0.6, 0.5],
            cells: [4, 7],
            pattern: SheetPattern::Checkerboard,
        };
        let mesh = grid.mesh().unwrap();
        let strain = 1e-5;
        let whole = 0.5 * strain * strain * mesh.area();
        let stretched = Matrix3::from_diagonal(&Vector3::new(1.0 + strain, 1.0, 1.0));
        let mut sheared = Matrix3::identity();
        sheared[(0, 2)] = strain;
        for net in [
            grid.provot_springs().unwrap(),
            grid.bridson_springs().unwrap(),
        ] {
            let along = energy(&mesh, &net, SpringKind::Structural, &stretched);
            assert!((along / whole - 1.0).abs() < 1e-4, "{along} {whole}");
            let across = energy(&mesh, &net, SpringKind::Shear, &sheared);
            assert!((across / whole - 1.0).abs() < 1e-4, "{across} {whole}");
        }
    }

    #[test]
    fn stiffness_on_square_cells_is_the_modulus() {
        let grid = SheetGrid {
            size: [2.0; 2],
            cells: [2; 2],
            pattern: SheetPattern::Diagonal,
        };
        let net = grid.provot_springs().unwrap();
        let stiffness = net.stiffnesses(|kind| match kind {
            SpringKind::Structural => 7.0,
            SpringKind::Shear => 3.0,
            SpringKind::Bend => 0.0,
        });
        // The second row of springs along x is inside the sheet.
        assert_eq!(stiffness[2], 7.0);
        assert_eq!(stiffness[0], 3.5);
        assert!((stiffness[12] - 3.0).abs() < 1e-14);
        assert_eq!(stiffness[stiffness.len() - 1], 0.0);
    }

    #[test]
    fn sheets_that_cannot_be_are_refused() {
        let grid = SheetGrid {
            cells: [0, 3],
            ..GRID
        };
        assert!(grid.provot_springs().is_err() && grid.bridson_springs().is_err());
    }
}
