//! The mesh as data.

use nalgebra::Vector3;

use super::chart::{TextureChart, TextureMapping};

/// A solid made of tetrahedra that share vertices, at rest.
///
/// Fields are public and carry no hidden state: build one by hand, edit it freely, then call
/// [`validate`](TetrahedralMesh::validate), which says whether the rest of the library can use it. The generators
/// ([`block`](TetrahedralMesh::block), [`ball`](TetrahedralMesh::ball), [`cylinder`](TetrahedralMesh::cylinder),
/// [`torus`](TetrahedralMesh::torus), [`closed_tube`](TetrahedralMesh::closed_tube)) and the readers of
/// [`crate::io`] return valid meshes.
///
/// The default is the empty mesh, which does not validate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetrahedralMesh {
    /// Rest position of each vertex, in metres.
    pub positions: Vec<Vector3<f64>>,
    /// Four vertex indices per tetrahedron. The signed volume (x₁−x₀)×(x₂−x₀)·(x₃−x₀)/6 must be positive: seen from
    /// outside, the last three vertices run counter-clockwise.
    pub tetrahedra: Vec<[u32; 4]>,
    /// How the surface is painted; see [`TextureChart`].
    pub charts: Vec<TextureChart>,
    /// For each tetrahedron, the index of its chart. Shorter than `tetrahedra` is allowed: the missing entries are 0, so a
    /// mesh with one chart may leave it empty.
    pub tetrahedron_charts: Vec<u16>,
}

impl TetrahedralMesh {
    /// A mesh from its positions (metres) and tetrahedra, painted by one box chart that covers it.
    ///
    /// Nothing is checked; see [`validate`](TetrahedralMesh::validate).
    pub fn new(positions: Vec<Vector3<f64>>, tetrahedra: Vec<[u32; 4]>) -> Self {
        let mut mesh = Self {
            positions,
            tetrahedra,
            charts: Vec::new(),
            tetrahedron_charts: Vec::new(),
        };
        let (minimum, maximum) = mesh.bounds().unwrap_or_default();
        mesh.charts.push(TextureChart::covering(minimum, maximum));
        mesh
    }

    /// A mesh painted by one chart of `mapping`, whose frame is centered at the origin and has the half extents given.
    pub(super) fn with_centered_chart(
        positions: Vec<Vector3<f64>>,
        tetrahedra: Vec<[u32; 4]>,
        mapping: TextureMapping,
        half_extents: Vector3<f64>,
    ) -> Self {
        Self {
            positions,
            tetrahedra,
            charts: vec![TextureChart::centered(mapping, half_extents)],
            tetrahedron_charts: Vec::new(),
        }
    }

    /// The same mesh with every chart in material slot `slot`, so that a join can tell its parts apart
    /// ([`SurfaceMesh::slots`](super::SurfaceMesh::slots)). The default slot is 0.
    #[must_use]
    pub fn with_slot(mut self, slot: u16) -> Self {
        for chart in &mut self.charts {
            chart.slot = slot;
        }
        self
    }

    /// Index of the chart that paints `tetrahedron`.
    pub fn chart_of(&self, tetrahedron: usize) -> usize {
        self.tetrahedron_charts
            .get(tetrahedron)
            .map_or(0, |&chart| usize::from(chart))
    }

    /// The four corner positions of a tetrahedron of `tetrahedra`; `None` if one of its indices is out of range.
    pub fn corners(&self, tetrahedron: [u32; 4]) -> Option<[Vector3<f64>; 4]> {
        let mut corners = [Vector3::zeros(); 4];
        for (corner, index) in corners.iter_mut().zip(tetrahedron) {
            *corner = *self.positions.get(index as usize)?;
        }
        Some(corners)
    }
}
