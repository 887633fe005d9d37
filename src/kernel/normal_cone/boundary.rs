//! The boundary of a patch of triangles.

/// Finds the boundary edges of a patch, loop after loop; true if they are closed loops without a common vertex.
///
/// An edge belongs to the boundary if one triangle has it; it runs as in this triangle. `edges` is cleared before; its
/// memory is kept. A closed surface has none, which is true as well.
///
/// False, with `edges` empty, if three triangles share an edge, two share one that runs the same way in both, or loops
/// touch in a vertex: nothing is known about such patches. Takes time with the square of the length of the boundary.
///
/// Eq: elementary.
pub fn boundary_edges(triangles: &[[u32; 3]], edges: &mut Vec<[u32; 2]>) -> bool {
    edges.clear();
    for &[a, b, c] in triangles {
        edges.extend([[a, b], [b, c], [c, a]]);
    }
    // Brings the edges of neighbours next to each other, whichever way they run.
    edges.sort_unstable_by_key(|&[a, b]| (a.min(b), a.max(b)));
    let valid = keep_single_edges(edges) && order_loops(edges);
    if !valid {
        edges.clear();
    }
    valid
}

/// Removes pairs of opposite edges from a sorted list; false if there are other edges with the same ends.
fn keep_single_edges(edges: &mut Vec<[u32; 2]>) -> bool {
    let (mut kept, mut at) = (0, 0);
    while at < edges.len() {
        let [a, b] = edges[at];
        let same = |other: &&[u32; 2]| **other == [a, b] || **other == [b, a];
        let count = edges[at..].iter().take_while(same).count();
        match count {
            1 if a != b => {
                edges[kept] = [a, b];
                kept += 1;
            }
            2 if edges[at + 1] == [b, a] && a != b => {}
            _ => return false,
        }
        at += count;
    }
    edges.truncate(kept);
    true
}

/// Puts edges in the order of their loops; false if a vertex has more than one edge that leaves it, or none.
fn order_loops(edges: &mut [[u32; 2]]) -> bool {
    let mut first = 0;
    for place in 0..edges.len() {
        let [start, end] = edges[place];
        let leaves_again = edges[place + 1..].iter().any(|edge| edge[0] == start);
        if leaves_again {
            return false;
        }
        if end == edges[first][0] {
            first = place + 1;
            continue;
        }
        let next = edges[place + 1..].iter().position(|edge| edge[0] == end);
        let Some(next) = next else {
            return false;
        };
        edges.swap(place + 1, place + 1 + next);
    }
    first == edges.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundary(triangles: &[[u32; 3]]) -> Option<Vec<[u32; 2]>> {
        let mut edges = vec![[7, 7]];
        boundary_edges(triangles, &mut edges).then_some(edges)
    }

    #[test]
    fn loops_are_found_in_order() {
        assert_eq!(boundary(&[[0, 1, 2]]), Some(vec![[0, 1], [1, 2], [2, 0]]));
        // A square of two triangles, and a ring of six around a hole.
        let square = boundary(&[[0, 1, 2], [0, 2, 3]]).unwrap();
        assert_eq!(square, [[0, 1], [1, 2], [2, 3], [3, 0]]);
        let ring: Vec<_> = (0..3)
            .flat_map(|i| {
                let j = (i + 1) % 3;
                [[i, j, 3 + j], [i, 3 + j, 3 + i]]
            })
            .collect();
        let edges = boundary(&ring).unwrap();
        assert_eq!(edges, [[0, 1], [1, 2], [2, 0], [4, 3], [3, 5], [5, 4]]);
        assert_eq!(boundary(&[[0, 1, 2], [0, 2, 1]]), Some(vec![]));
        assert_eq!(boundary(&[]), Some(vec![]));
    }

    #[test]
    fn patches_that_are_no_surface_are_refused() {
        // Three at an edge, two that disagree on the side, two that touch in a corner, a repeated corner.
        assert_eq!(boundary(&[[0, 1, 2], [1, 0, 3], [0, 1, 4]]), None);
        assert_eq!(boundary(&[[0, 1, 2], [0, 1, 3]]), None);
        assert_eq!(boundary(&[[0, 1, 2], [0, 3, 4]]), None);
        assert_eq!(boundary(&[[0, 0, 1]]), None);
    }
}
