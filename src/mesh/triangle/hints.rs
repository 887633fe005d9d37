//! What is legal but often a mistake.

use core::fmt;

use super::TriangleMesh;

/// Something about a mesh that is legal and often not meant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TriangleMeshHint {
    /// Vertices lie at exactly the same place, so what looks like one surface may fall apart there.
    CoincidentVertices {
        /// The first of them and the one it coincides with, ascending.
        vertices: [u32; 2],
        /// Where, m.
        position: [f64; 3],
        /// How many vertices lie where one of lower index does.
        total: usize,
    },
}

impl fmt::Display for TriangleMeshHint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CoincidentVertices {
                vertices: [a, b],
                position,
                total,
            } => write!(
                formatter,
                "vertices {a} and {b} are both at {position:?} ({total} such in total): if the surface should hold together there, weld them with `repair(Some(0.0))`"
            ),
        }
    }
}

impl TriangleMesh {
    /// What a person who looks for a mistake would like to know. Empty if there is nothing, or if a position is not finite.
    pub fn hints(&self) -> Vec<TriangleMeshHint> {
        if self.check_data().is_err() {
            return Vec::new();
        }
        let kept = self.coincident_vertices(0.0);
        let mut pairs = kept
            .iter()
            .zip(0..)
            .filter(|&(&kept, vertex)| kept != vertex);
        let Some((&first, second)) = pairs.next() else {
            return Vec::new();
        };
        vec![TriangleMeshHint::CoincidentVertices {
            vertices: [first, second],
            position: self.place(first),
            total: 1 + pairs.count(),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn coincident_vertices_are_reported() {
        let mut mesh = TriangleMesh::sheet([1.0, 1.0], [1, 1], Default::default()).unwrap();
        assert_eq!(mesh.hints(), []);
        let place = mesh.positions[2];
        mesh.positions
            .extend([place, place, Vector3::repeat(1e-9) + place]);
        mesh.colors = None;
        let hint = TriangleMeshHint::CoincidentVertices {
            vertices: [2, 4],
            position: [-0.5, 0.0, 0.5],
            total: 2,
        };
        assert!(
            hint.to_string().contains("vertices 2 and 4") && hint.to_string().contains("repair")
        );
        assert_eq!(mesh.hints(), [hint]);
        mesh.positions[0].x = f64::NAN;
        assert_eq!(mesh.hints(), []);
    }
}
