//! Bodies made by moving a disk: the cross-section of cylinder, torus and tube, and the split of its prisms.

/// A disk cut into triangles: a center (column 0), then `rings` rings of `segments` columns each, outward.
pub(super) struct Disk {
    segments: usize,
    rings: usize,
    triangles: Vec<[usize; 3]>,
}

impl Disk {
    pub fn new(segments: usize, rings: usize) -> Self {
        let column = |ring: usize, segment: usize| 1 + ring * segments + segment % segments;
        let mut triangles = Vec::with_capacity(segments * (2 * rings - 1));
        for segment in 0..segments {
            triangles.push([0, column(0, segment), column(0, segment + 1)]);
        }
        for ring in 1..rings {
            for segment in 0..segments {
                let [a, b] = [column(ring - 1, segment), column(ring - 1, segment + 1)];
                let [c, d] = [column(ring, segment), column(ring, segment + 1)];
                // Diagonals alternate, so the disk has no sense of rotation (with an even number of segments).
                if (ring + segment) % 2 == 0 {
                    triangles.extend([[a, c, d], [a, d, b]]);
                } else {
                    triangles.extend([[a, c, b], [b, c, d]]);
                }
            }
        }
        Self {
            segments,
            rings,
            triangles,
        }
    }

    /// Number of vertices of one cross-section.
    pub fn columns(&self) -> usize {
        1 + self.rings * self.segments
    }

    /// Number of tetrahedra between two cross-sections.
    pub fn tetrahedra_per_layer(&self) -> usize {
        3 * self.triangles.len()
    }

    /// Appends the tetrahedra between the cross-section whose vertices start at index `bottom` and the next one, which
    /// starts at `top`. Triangles must run counter-clockwise seen from the top.
    ///
    /// Each prism is cut into three. The diagonal of a prism's side goes from the lower-ranked column at the bottom to the
    /// higher-ranked one at the top; the rank belongs to the column, so the prisms on both sides of a wall agree, on every
    /// layer and around closed bodies. Even segments rank below odd ones: neighboring diagonals then lean opposite ways and
    /// the mesh is its own mirror image, where diagonals that all lean the same way would give it a sense of rotation.
    pub fn fill_layer(&self, tetrahedra: &mut Vec<[u32; 4]>, bottom: usize, top: usize) {
        let rank = |column: usize| (column > 0 && (column - 1) % self.segments % 2 == 1, column);
        for &triangle in &self.triangles {
            let mut columns = triangle;
            columns.sort_unstable_by_key(|&column| rank(column));
            let cyclic =
                (0..3).any(|turn| [0, 1, 2].map(|corner| triangle[(corner + turn) % 3]) == columns);
            let [a, b, c] = columns.map(|column| (bottom + column) as u32);
            let [above_a, above_b, above_c] = columns.map(|column| (top + column) as u32);
            let split = [
                [a, b, c, above_c],
                [a, b, above_c, above_b],
                [a, above_a, above_b, above_c],
            ];
            // The ranks may run the other way around, which mirrors the three tetrahedra.
            tetrahedra
                .extend(split.map(|[p, q, r, s]| if cyclic { [p, q, r, s] } else { [p, q, s, r] }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TetrahedralMesh;
    use nalgebra::Vector3;

    #[test]
    fn even_segments_have_no_sense_of_rotation() {
        for (segments, rings) in [(4, 1), (8, 1), (6, 3)] {
            let disk = Disk::new(segments, rings);
            let mut tetrahedra = Vec::new();
            disk.fill_layer(&mut tetrahedra, 0, disk.columns());
            let mirrored = |vertex: u32| {
                let (top, column) = (
                    vertex as usize / disk.columns(),
                    vertex as usize % disk.columns(),
                );
                let place = column
                    .checked_sub(1)
                    .map(|place| (place / segments, place % segments));
                let image = place.map_or(0, |(ring, segment)| {
                    1 + ring * segments + (segments - segment) % segments
                });
                (top * disk.columns() + image) as u32
            };
            let sorted = |map: &dyn Fn(u32) -> u32| {
                let mut list: Vec<[u32; 4]> =
                    tetrahedra.iter().map(|corners| corners.map(map)).collect();
                list.iter_mut().for_each(|corners| corners.sort_unstable());
                list.sort_unstable();
                list
            };
            assert_eq!(
                sorted(&mirrored),
                sorted(&|vertex| vertex),
                "{segments} segments, {rings} rings"
            );
        }
    }

    #[test]
    fn layers_conform_for_even_and_odd_segments() {
        for (segments, rings) in [(3, 1), (4, 3), (5, 2), (8, 1)] {
            let disk = Disk::new(segments, rings);
            let mut positions = Vec::new();
            let mut tetrahedra = Vec::new();
            for layer in 0..4 {
                positions.push(Vector3::z() * f64::from(layer));
                for column in 1..disk.columns() {
                    let angle =
                        core::f64::consts::TAU * ((column - 1) % segments) as f64 / segments as f64;
                    let ring = (1 + (column - 1) / segments) as f64;
                    positions.push(Vector3::new(
                        ring * angle.cos(),
                        ring * angle.sin(),
                        f64::from(layer),
                    ));
                }
            }
            for layer in 0..3 {
                disk.fill_layer(
                    &mut tetrahedra,
                    layer * disk.columns(),
                    (layer + 1) * disk.columns(),
                );
            }
            assert_eq!(tetrahedra.len(), 3 * disk.tetrahedra_per_layer());
            let mesh = TetrahedralMesh::new(positions, tetrahedra);
            assert_eq!(
                mesh.validate(),
                Ok(()),
                "{segments} segments, {rings} rings"
            );
            assert_eq!(mesh.surface().unwrap().euler_characteristic(), 2);
        }
    }
}
