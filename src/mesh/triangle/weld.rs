//! Vertices at the same place.

use super::TriangleMesh;
use crate::mesh::join::Cells;

impl TriangleMesh {
    /// For each vertex the one that stands for its place: the nearest earlier one that stands for itself and is no farther
    /// than `tolerance` (m), or else itself. Positions must be finite.
    pub(super) fn coincident_vertices(&self, tolerance: f64) -> Vec<u32> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &value in self.positions.iter().flatten() {
            (low, high) = (value.min(low), value.max(high));
        }
        // About one vertex per cell for a surface that fills its bounds.
        let spacing = (high - low) / (self.positions.len() as f64).sqrt();
        let usable = spacing.is_finite() && spacing > 0.0;
        let mut cells = Cells::empty(
            &self.positions,
            if usable { spacing } else { 1.0 }.max(tolerance),
        );
        let mut kept = Vec::with_capacity(self.positions.len());
        for (vertex, position) in (0..).zip(&self.positions) {
            kept.push(cells.nearest(position, tolerance).unwrap_or_else(|| {
                cells.insert(vertex);
                vertex
            }));
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn nearest_earlier_vertex_within_the_tolerance_is_taken() {
        let places = [0.0, 1.0, 0.05, 0.95, 0.04, -0.0, 5.0];
        let positions = places.map(|x| Vector3::new(x, 2.0, 3.0)).to_vec();
        let mesh = TriangleMesh::new(positions, Vec::new());
        assert_eq!(mesh.coincident_vertices(0.06), [0, 1, 0, 1, 0, 0, 6]);
        assert_eq!(mesh.coincident_vertices(0.0), [0, 1, 2, 3, 4, 0, 6]);
        assert_eq!(mesh.coincident_vertices(0.045), [0, 1, 2, 3, 2, 0, 6]);
        assert_eq!(mesh.coincident_vertices(100.0), [0; 7]);
    }

    #[test]
    fn vertices_at_one_place_and_none_at_all() {
        let mesh = TriangleMesh::new(vec![Vector3::repeat(7.0); 3], Vec::new());
        assert_eq!(mesh.coincident_vertices(0.0), [0; 3]);
        assert!(TriangleMesh::default().coincident_vertices(0.0).is_empty());
    }
}
