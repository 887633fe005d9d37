//! The mesh as data.

use nalgebra::Vector3;

/// A surface made of triangles that share vertices, at rest.
///
/// Fields are public and carry no hidden state: build one by hand, edit it freely, then call
/// [`validate`](TriangleMesh::validate), which says whether the rest of the library can use it. The generators
/// ([`sheet`](TriangleMesh::sheet), [`disc`](TriangleMesh::disc), [`sphere`](TriangleMesh::sphere)) and the readers of
/// [`crate::io`] return valid meshes.
///
/// The default is the empty mesh, which does not validate.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    /// Rest position of each vertex, in metres.
    pub positions: Vec<Vector3<f64>>,
    /// Three vertex indices per triangle, counter-clockwise seen from the front (for a closed mesh: from outside).
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each triangle's corners, second coordinate downward; `None` if there are none. The first
    /// coordinate runs along the warp; see [`rest_frame`](TriangleMesh::rest_frame).
    pub corner_coordinates: Option<Vec<[[f32; 2]; 3]>>,
    /// Color of each vertex (linear red, green, blue, alpha), for example to paint pins; `None` if there are none.
    pub colors: Option<Vec<[f32; 4]>>,
    /// Direction of the warp where texture coordinates give none, of any length. Default +x.
    pub warp_direction: Vector3<f64>,
}

impl Default for TriangleMesh {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new())
    }
}

/// Center of three points.
pub(super) fn center(corners: &[Vector3<f64>; 3]) -> Vector3<f64> {
    corners.iter().sum::<Vector3<f64>>() / 3.0
}

/// Twice the area times the unit normal.
pub(super) fn doubled_area(corners: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (corners[1] - corners[0]).cross(&(corners[2] - corners[0]))
}

/// Longest side of a triangle.
pub(super) fn longest_edge(corners: &[Vector3<f64>; 3]) -> f64 {
    (0..3).fold(0.0, |longest, corner| {
        (corners[corner] - corners[(corner + 1) % 3])
            .norm()
            .max(longest)
    })
}

impl TriangleMesh {
    /// A mesh from its positions (metres) and triangles, without texture coordinates and colors, warp along +x.
    ///
    /// Nothing is checked; see [`validate`](TriangleMesh::validate).
    pub fn new(positions: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Self {
        Self {
            positions,
            triangles,
            corner_coordinates: None,
            colors: None,
            warp_direction: Vector3::x(),
        }
    }

    /// The three corner positions of a triangle of `triangles`; `None` if one of its indices is out of range.
    pub fn corners(&self, triangle: [u32; 3]) -> Option<[Vector3<f64>; 3]> {
        let mut corners = [Vector3::zeros(); 3];
        for (corner, index) in corners.iter_mut().zip(triangle) {
            *corner = *self.positions.get(index as usize)?;
        }
        Some(corners)
    }

    /// Area of one triangle, m². Zero if its index or one of its vertices is out of range.
    pub fn triangle_area(&self, triangle: usize) -> f64 {
        self.triangles
            .get(triangle)
            .and_then(|&indices| self.corners(indices))
            .map_or(0.0, |corners| 0.5 * doubled_area(&corners).norm())
    }

    /// Total area, m². Zero for an empty mesh.
    pub fn area(&self) -> f64 {
        (0..self.triangles.len())
            .map(|triangle| self.triangle_area(triangle))
            .sum()
    }

    /// Volume enclosed by a closed mesh, m³, positive if its triangles face outward. Of no meaning for an open mesh.
    pub fn enclosed_volume(&self) -> f64 {
        self.triangles
            .iter()
            .filter_map(|&indices| self.corners(indices))
            .map(|[a, b, c]| a.cross(&b).dot(&c) / 6.0)
            .sum()
    }

    /// For each vertex a third of the area of its triangles, m²: the share of the cloth that it carries.
    pub fn vertex_areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.positions.len()];
        for (index, triangle) in self.triangles.iter().enumerate() {
            let third = self.triangle_area(index) / 3.0;
            for &vertex in triangle {
                if let Some(area) = areas.get_mut(vertex as usize) {
                    *area += third;
                }
            }
        }
        areas
    }

    /// Position of a vertex for messages; zero if it is out of range.
    pub(super) fn place(&self, vertex: u32) -> [f64; 3] {
        self.positions
            .get(vertex as usize)
            .copied()
            .unwrap_or_default()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corner of the unit cube with edges along the axes: four faces, outward.
    fn corner_tetrahedron() -> TriangleMesh {
        TriangleMesh::new(
            vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()],
            vec![[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]],
        )
    }

    #[test]
    fn measures_of_a_corner_tetrahedron() {
        let mesh = corner_tetrahedron();
        let slanted = 0.5 * 3.0_f64.sqrt();
        assert_eq!(mesh.triangle_area(0), 0.5);
        assert!((mesh.area() - 1.5 - slanted).abs() < 1e-15);
        assert!((mesh.enclosed_volume() - 1.0 / 6.0).abs() < 1e-15);
        let areas = mesh.vertex_areas();
        assert!((areas[0] - 0.5).abs() < 1e-15);
        assert!((areas[1] - (1.0 + slanted) / 3.0).abs() < 1e-15);
        assert!((areas.iter().sum::<f64>() - mesh.area()).abs() < 1e-15);
    }

    #[test]
    fn missing_triangles_and_vertices_count_nothing() {
        let mut mesh = corner_tetrahedron();
        mesh.triangles.push([0, 1, 9]);
        assert_eq!((mesh.triangle_area(4), mesh.triangle_area(5)), (0.0, 0.0));
        assert_eq!(mesh.corners([0, 1, 9]), None);
        assert_eq!(TriangleMesh::default().area(), 0.0);
    }
}
