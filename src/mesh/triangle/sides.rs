//! Sides of triangles, sorted so that neighbors find each other.

/// A side of a triangle, ready to be sorted next to the same side of its neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// Vertex indices, ascending.
    pub key: [u32; 2],
    pub triangle: u32,
    /// The corner it starts at.
    pub local: u8,
    /// Whether the triangle runs from the lower vertex to the higher. Neighbors listed in the same sense differ in this.
    pub rising: bool,
}

/// All sides of all triangles, sorted, so that equal edges are neighbors in the list.
pub(super) fn sorted_sides(triangles: &[[u32; 3]]) -> Vec<Side> {
    let mut sides = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for local in 0..3 {
            let (from, to) = (corners[local], corners[(local + 1) % 3]);
            sides.push(Side {
                key: [from.min(to), from.max(to)],
                triangle: triangle as u32,
                local: local as u8,
                rising: from < to,
            });
        }
    }
    sides.sort_unstable();
    sides
}

/// The corner that appears twice.
pub(super) fn repeated_vertex(triangle: &[u32; 3]) -> Option<u32> {
    let twice = (1..3).find(|&corner| triangle[..corner].contains(&triangle[corner]))?;
    Some(triangle[twice])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_lie_side_by_side_and_run_in_opposite_directions() {
        let sides = sorted_sides(&[[0, 1, 2], [2, 1, 3]]);
        let shared: Vec<Side> = sides
            .into_iter()
            .filter(|side| side.key == [1, 2])
            .collect();
        let side = |triangle, local, rising| Side {
            key: [1, 2],
            triangle,
            local,
            rising,
        };
        assert_eq!(shared, [side(0, 1, true), side(1, 0, false)]);
    }

    #[test]
    fn repeated_corners_are_found() {
        assert_eq!(repeated_vertex(&[4, 5, 6]), None);
        for triangle in [[4, 4, 5], [4, 5, 4], [5, 4, 4]] {
            assert_eq!(repeated_vertex(&triangle), Some(4));
        }
    }
}
