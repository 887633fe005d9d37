//! Numbers that describe a mesh.

use nalgebra::Vector3;

use super::TetrahedralMesh;

/// Local corners of the six edges of a tetrahedron.
pub(super) const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Signed volume of a tetrahedron, m³: positive if its last three corners run counter-clockwise seen from outside.
pub(super) fn signed_volume(corners: &[Vector3<f64>; 4]) -> f64 {
    let [first, second, third] = [1, 2, 3].map(|corner| corners[corner] - corners[0]);
    first.cross(&second).dot(&third) / 6.0
}

/// Longest edge of a tetrahedron, m.
pub(super) fn longest_edge(corners: &[Vector3<f64>; 4]) -> f64 {
    EDGES.iter().fold(0.0, |longest, &[a, b]| {
        (corners[a] - corners[b]).norm().max(longest)
    })
}

impl TetrahedralMesh {
    /// Signed volume of one tetrahedron, m³. Zero if its index or one of its vertices is out of range.
    pub fn tetrahedron_volume(&self, tetrahedron: usize) -> f64 {
        self.tetrahedra
            .get(tetrahedron)
            .and_then(|&indices| self.corners(indices))
            .map_or(0.0, |corners| signed_volume(&corners))
    }

    /// Total signed volume, m³. Zero for an empty mesh.
    pub fn volume(&self) -> f64 {
        (0..self.tetrahedra.len())
            .map(|tetrahedron| self.tetrahedron_volume(tetrahedron))
            .sum()
    }

    /// Center of mass for uniform density, m. The origin if the volume is zero.
    pub fn center_of_mass(&self) -> Vector3<f64> {
        let mut total = 0.0;
        let mut moment = Vector3::zeros();
        for corners in self
            .tetrahedra
            .iter()
            .filter_map(|&indices| self.corners(indices))
        {
            let volume = signed_volume(&corners);
            total += volume;
            moment += corners.iter().sum::<Vector3<f64>>() * (0.25 * volume);
        }
        if total == 0.0 {
            Vector3::zeros()
        } else {
            moment / total
        }
    }

    /// Lowest and highest coordinates, m; `None` if there are no vertices.
    pub fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let first = *self.positions.first()?;
        Some(
            self.positions
                .iter()
                .fold((first, first), |(low, high), position| {
                    (low.inf(position), high.sup(position))
                }),
        )
    }

    /// The edges of the tetrahedra, each once, lower vertex first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges = Vec::with_capacity(6 * self.tetrahedra.len());
        for corners in &self.tetrahedra {
            for [a, b] in EDGES {
                let (a, b) = (corners[a], corners[b]);
                edges.push([a.min(b), a.max(b)]);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Length of the shortest edge, m; infinite if there are no tetrahedra.
    pub fn smallest_edge(&self) -> f64 {
        let mut smallest = f64::INFINITY;
        for corners in self
            .tetrahedra
            .iter()
            .filter_map(|&indices| self.corners(indices))
        {
            for [a, b] in EDGES {
                smallest = (corners[a] - corners[b]).norm().min(smallest);
            }
        }
        smallest
    }

    /// Shape of one tetrahedron: 6√2 V / l³ with l the root mean square of its edges. 1 is regular, 0 flat, negative
    /// inverted; 0 if its index or one of its vertices is out of range.
    pub fn tetrahedron_quality(&self, tetrahedron: usize) -> f64 {
        let Some(corners) = self
            .tetrahedra
            .get(tetrahedron)
            .and_then(|&indices| self.corners(indices))
        else {
            return 0.0;
        };
        let squares: f64 = EDGES
            .iter()
            .map(|&[a, b]| (corners[a] - corners[b]).norm_squared())
            .sum();
        let length = (squares / 6.0).sqrt();
        if length == 0.0 {
            return 0.0;
        }
        6.0 * core::f64::consts::SQRT_2 * signed_volume(&corners) / length.powi(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::CellSplit;

    #[test]
    fn measures_of_a_block() {
        let mesh = TetrahedralMesh::block([2.0, 1.0, 4.0], [2, 1, 4], CellSplit::Six)
            .unwrap()
            .translated_by(Vector3::new(1.0, 2.0, 3.0));
        assert!((mesh.volume() - 8.0).abs() < 1e-12);
        assert!((mesh.center_of_mass() - Vector3::new(1.0, 2.0, 3.0)).norm() < 1e-12);
        assert!((mesh.smallest_edge() - 1.0).abs() < 1e-12);
        assert_eq!(
            mesh.bounds(),
            Some((Vector3::new(0.0, 1.5, 1.0), Vector3::new(2.0, 2.5, 5.0)))
        );
    }

    #[test]
    fn regular_tetrahedron_has_quality_one() {
        let corners = [
            [1.0, 1.0, 1.0],
            [-1.0, -1.0, 1.0],
            [-1.0, 1.0, -1.0],
            [1.0, -1.0, -1.0],
        ];
        let mut mesh =
            TetrahedralMesh::new(corners.map(Vector3::from).to_vec(), vec![[0, 1, 2, 3]]);
        mesh.orient();
        assert!((mesh.tetrahedron_quality(0) - 1.0).abs() < 1e-12);
        assert_eq!(mesh.edges().len(), 6);
    }

    #[test]
    fn empty_mesh_has_neutral_measures() {
        let mesh = TetrahedralMesh::default();
        assert_eq!(
            (mesh.volume(), mesh.center_of_mass(), mesh.bounds()),
            (0.0, Vector3::zeros(), None)
        );
        assert_eq!(mesh.smallest_edge(), f64::INFINITY);
        assert_eq!(mesh.tetrahedron_quality(0), 0.0);
    }
}
