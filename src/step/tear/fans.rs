//! What becomes of hinges and springs along a tear.

use std::collections::HashMap;

use crate::mesh::TornTriangles;

/// Which copies of particles belong together after a tear: those of one triangle.
pub(super) struct Fans<'a> {
    /// For each edge of the old surface, its triangles: the opposite corner, the index, and the area at rest.
    by_edge: HashMap<[u32; 2], Vec<(u32, usize, f64)>>,
    old: &'a [[u32; 3]],
    new: &'a [[u32; 3]],
    shares: &'a [f64],
}

impl<'a> Fans<'a> {
    pub fn new(old: &'a [[u32; 3]], torn: &'a TornTriangles, areas: &[f64]) -> Self {
        let mut by_edge: HashMap<[u32; 2], Vec<(u32, usize, f64)>> = HashMap::new();
        for (index, triangle) in old.iter().enumerate() {
            for corner in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|step| triangle[(corner + step) % 3]);
                let around = by_edge.entry([a.min(b), a.max(b)]).or_default();
                around.push((c, index, areas[index]));
            }
        }
        Self {
            by_edge,
            old,
            new: &torn.triangles,
            shares: &torn.shares,
        }
    }

    /// The copy of a particle in a triangle.
    fn copy(&self, particle: u32, triangle: usize) -> u32 {
        let place = self.old[triangle].iter().position(|&old| old == particle);
        place.map_or(particle, |place| self.new[triangle][place])
    }

    fn around(&self, ends: [u32; 2]) -> &[(u32, usize, f64)] {
        let key = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        self.by_edge.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The corners of a hinge whose triangles still hang together.
    pub fn hinge(&self, &[first, second, from, to]: &[u32; 4]) -> Option<[u32; 4]> {
        let around = self.around([from, to]);
        let of = |corner: u32| {
            let found = around.iter().find(|&&(opposite, ..)| opposite == corner);
            found.map(|&(_, triangle, _)| triangle)
        };
        let (one, other) = (of(first)?, of(second)?);
        let edge = [from, to].map(|end| self.copy(end, one));
        let holds = edge == [from, to].map(|end| self.copy(end, other));
        let [first, second] = [self.copy(first, one), self.copy(second, other)];
        holds.then_some([first, second, edge[0], edge[1]])
    }

    /// The springs that one becomes, by the copies of the triangles on both of its sides.
    pub fn spring(&self, ends: [u32; 2]) -> Vec<([u32; 2], f64)> {
        let around = self.around(ends);
        if around.is_empty() {
            let is_whole = ends.iter().all(|&end| self.shares[end as usize] == 1.0);
            return if is_whole {
                vec![(ends, 1.0)]
            } else {
                Vec::new()
            };
        }
        let total: f64 = around.iter().map(|&(.., area)| area).sum();
        let mut parts: Vec<([u32; 2], f64)> = Vec::new();
        for &(_, triangle, area) in around {
            let copies = ends.map(|end| self.copy(end, triangle));
            match parts.iter_mut().find(|(ends, _)| *ends == copies) {
                Some((_, share)) => *share += area / total,
                None => parts.push((copies, area / total)),
            }
        }
        parts
    }
}
