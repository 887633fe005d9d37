//! Welding two meshes.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::{MeshError, TetrahedralMesh};

/// Positions sorted into cubic cells. Ordered by cell, so that results never depend on a hash.
pub(super) struct Cells<'a> {
    positions: &'a [Vector3<f64>],
    edge: f64,
    cells: BTreeMap<[i64; 3], Vec<u32>>,
}

impl<'a> Cells<'a> {
    /// All of `positions`.
    fn new(positions: &'a [Vector3<f64>], edge: f64) -> Self {
        let mut cells = Self::empty(positions, edge);
        for index in 0..positions.len() {
            cells.insert(index as u32);
        }
        cells
    }

    /// None of `positions` yet.
    pub(super) fn empty(positions: &'a [Vector3<f64>], edge: f64) -> Self {
        Self {
            positions,
            edge,
            cells: BTreeMap::new(),
        }
    }

    /// Adds the position with this index.
    pub(super) fn insert(&mut self, index: u32) {
        let cell = Self::cell(&self.positions[index as usize], self.edge);
        self.cells.entry(cell).or_default().push(index);
    }

    fn cell(position: &Vector3<f64>, edge: f64) -> [i64; 3] {
        [0, 1, 2].map(|axis| (position[axis] / edge).floor() as i64)
    }

    /// The nearest position no farther than `tolerance`, which must not exceed the cell edge; the lowest index among
    /// equals.
    pub(super) fn nearest(&self, position: &Vector3<f64>, tolerance: f64) -> Option<u32> {
        let [low, high] =
            [-tolerance, tolerance].map(|reach| Self::cell(&position.add_scalar(reach), self.edge));
        let mut best = None;
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for index in (low[2]..=high[2])
                    .filter_map(|z| self.cells.get(&[x, y, z]))
                    .flatten()
                {
                    let distance = (self.positions[*index as usize] - position).norm();
                    let closer =
                        best.is_none_or(|(nearest, first)| (distance, *index) < (nearest, first));
                    if distance <= tolerance && closer {
                        best = Some((distance, *index));
                    }
                }
            }
        }
        best.map(|(_, index)| index)
    }
}

impl TetrahedralMesh {
    /// Both meshes in one, with vertices of `other` that lie within `tolerance` (m) of a vertex of `self` replaced by it.
    ///
    /// Vertices and tetrahedra of `self` keep their indices; those of `other` follow in their order. Vertices are welded
    /// only across the two meshes, never within one. Charts and material slots of both are kept.
    /// `tolerance` 0 welds vertices at exactly the same place.
    ///
    /// The result is valid if the parts are and touch properly: faces that coincide become interior, a shared edge becomes
    /// a hinge, a shared vertex a ball joint. Parts that overlap otherwise are not detected.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] if `tolerance` is negative, not finite, or not below half the shortest edge of
    /// either mesh, where tetrahedra would collapse; [`MeshError::TooLarge`]; and what
    /// [`validate`](TetrahedralMesh::validate) finds about indices and positions of the parts.
    pub fn joined_with(&self, other: &Self, tolerance: f64) -> Result<Self, MeshError> {
        let operation = "joined_with";
        for part in [self, other] {
            part.check_indices()?;
            part.check_geometry()?;
        }
        let edge = self.smallest_edge().min(other.smallest_edge());
        if !(tolerance >= 0.0 && tolerance < 0.5 * edge && tolerance.is_finite()) {
            return Err(MeshError::InvalidArgument {
                operation,
                parameter: "tolerance",
                value: tolerance,
                requirement: "at least 0 and below half the shortest edge of both meshes",
            });
        }
        if self.positions.len() + other.positions.len() > u32::MAX as usize {
            return Err(MeshError::TooLarge {
                operation,
                what: "vertices",
            });
        }
        let Ok(first_chart) = u16::try_from(self.charts.len()) else {
            return Err(MeshError::TooLarge {
                operation,
                what: "charts",
            });
        };
        if self.charts.len() + other.charts.len() > usize::from(u16::MAX) {
            return Err(MeshError::TooLarge {
                operation,
                what: "charts",
            });
        }

        let mut joined = self.clone();
        // No tetrahedra on either side: no length to size the cells by, and nothing to weld.
        let cells = Cells::new(&self.positions, if edge.is_finite() { edge } else { 1.0 });
        let mut renumbered = Vec::with_capacity(other.positions.len());
        for position in &other.positions {
            renumbered.push(cells.nearest(position, tolerance).unwrap_or_else(|| {
                joined.positions.push(*position);
                (joined.positions.len() - 1) as u32
            }));
        }
        let tetrahedra = other.tetrahedra.iter();
        joined
            .tetrahedra
            .extend(tetrahedra.map(|corners| corners.map(|vertex| renumbered[vertex as usize])));
        joined.charts.extend_from_slice(&other.charts);
        joined.tetrahedron_charts.resize(self.tetrahedra.len(), 0);
        let charts = (0..other.tetrahedra.len())
            .map(|tetrahedron| first_chart + other.chart_of(tetrahedron) as u16);
        joined.tetrahedron_charts.extend(charts);
        Ok(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::CellSplit;

    fn block(cells: [usize; 3]) -> TetrahedralMesh {
        TetrahedralMesh::block(cells.map(|count| 0.1 * count as f64), cells, CellSplit::Six)
            .unwrap()
    }

    #[test]
    fn blocks_side_by_side_become_one_block() {
        let left = block([2, 3, 3]);
        let right = block([1, 3, 3]).translated_by(Vector3::new(0.15 + 1e-9, 0.0, 0.0));
        let joined = left.joined_with(&right, 1e-6).unwrap();
        assert_eq!(joined.validate(), Ok(()));
        assert_eq!(joined.positions.len(), 4 * 4 * 4);
        assert!((joined.volume() - left.volume() - right.volume()).abs() < 1e-9);
        let surface = joined.surface().unwrap();
        assert_eq!(surface.euler_characteristic(), 2);
        assert_eq!(surface.triangles.len(), 2 * 6 * 9);
        assert_eq!(joined.positions[..left.positions.len()], left.positions);
    }

    #[test]
    fn blocks_apart_stay_apart() {
        let left = block([1, 1, 1]);
        let joined = left
            .joined_with(&left.clone().translated_by(Vector3::x()), 0.0)
            .unwrap();
        assert_eq!(joined.validate(), Ok(()));
        assert_eq!(joined.positions.len(), 16);
        assert_eq!(joined.surface().unwrap().euler_characteristic(), 4);
    }

    #[test]
    fn blocks_that_touch_along_an_edge_make_a_hinge() {
        let left = block([1, 1, 1]);
        let joined = left
            .joined_with(
                &left.clone().translated_by(Vector3::new(0.1, 0.1, 0.0)),
                1e-9,
            )
            .unwrap();
        assert_eq!(joined.positions.len(), 14);
        assert_eq!(joined.validate(), Ok(()));
    }

    #[test]
    fn tolerance_that_would_collapse_tetrahedra_is_refused() {
        let mesh = block([1, 1, 1]);
        for tolerance in [0.05, -1.0, f64::NAN, f64::INFINITY] {
            let result = mesh.joined_with(&mesh, tolerance);
            assert!(
                matches!(result, Err(MeshError::InvalidArgument { .. })),
                "{tolerance}"
            );
        }
    }

    #[test]
    fn the_same_body_twice_is_reported_when_validated() {
        let mesh = block([1, 1, 1]);
        let twice = mesh.joined_with(&mesh, 1e-9).unwrap();
        assert!(matches!(
            twice.validate(),
            Err(MeshError::DuplicateTetrahedron { total: 6, .. })
        ));
    }
}
