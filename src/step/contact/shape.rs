//! The surface of a body as contact sees it: triangles, edges, and which triangle answers for which of its features.

/// Triangles with their edges. Every vertex and every edge belongs to one triangle that owns it, so that each pair of features
/// is found once, from the pair of triangles that own them.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub triangles: Vec<[u32; 3]>,
    /// Edges a–b, b–c and c–a of each triangle that it owns: bits 0 to 2; and its corners: bits 3 to 5.
    owned: Vec<u8>,
}

impl Shape {
    pub fn new(triangles: &[[u32; 3]], particles: usize) -> Self {
        let mut owned = vec![0_u8; triangles.len()];
        let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
        let mut seen = vec![false; particles];
        for (triangle, corners) in (0..).zip(triangles) {
            for side in 0..3 {
                let [a, b] = [corners[side], corners[(side + 1) % 3]];
                edges.push(([a.min(b), a.max(b)], 3 * triangle + side as u32));
                if let Some(seen) = seen.get_mut(a as usize)
                    && !*seen
                {
                    *seen = true;
                    owned[triangle as usize] |= 8 << side;
                }
            }
        }
        edges.sort_unstable();
        edges.dedup_by_key(|&mut (edge, _)| edge);
        for (_, place) in edges {
            owned[(place / 3) as usize] |= 1 << (place % 3);
        }
        Self {
            triangles: triangles.to_vec(),
            owned,
        }
    }

    pub fn owns_corner(&self, triangle: usize, corner: usize) -> bool {
        self.owned[triangle] & 8 << corner != 0
    }

    /// Whether a triangle owns the edge from a corner to the next.
    pub fn owns_edge(&self, triangle: usize, corner: usize) -> bool {
        self.owned[triangle] & 1 << corner != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_one_owner() {
        let triangles = [[0, 1, 2], [2, 1, 3], [3, 0, 2], [5, 4, 3]];
        let shape = Shape::new(&triangles, 6);
        let (mut corners, mut edges) = (Vec::new(), Vec::new());
        for (triangle, vertices) in triangles.iter().enumerate() {
            for side in 0..3 {
                let [a, b] = [vertices[side], vertices[(side + 1) % 3]];
                if shape.owns_corner(triangle, side) {
                    corners.push(a);
                }
                if shape.owns_edge(triangle, side) {
                    edges.push([a.min(b), a.max(b)]);
                }
            }
        }
        corners.sort_unstable();
        edges.sort_unstable();
        assert_eq!(corners, [0, 1, 2, 3, 4, 5]);
        let expected = [
            [0, 1],
            [0, 2],
            [0, 3],
            [1, 2],
            [1, 3],
            [2, 3],
            [3, 4],
            [3, 5],
            [4, 5],
        ];
        assert_eq!(edges, expected);
    }
}
