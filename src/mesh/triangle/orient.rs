//! Making neighbors face the same side.

use super::sides::sorted_sides;
use super::{TriangleMesh, TriangleMeshError};

impl TriangleMesh {
    /// Turns triangles until neighbors run through their common edge in opposite directions; returns how many.
    pub(super) fn turn_to_one_side(&mut self) -> Result<usize, TriangleMeshError> {
        let sides = sorted_sides(&self.triangles);
        self.check_edge_sharing(&sides)?;
        let mut neighbors = vec![Vec::new(); self.triangles.len()];
        for group in sides.chunk_by(|a, b| a.key == b.key) {
            if let [a, b] = group {
                let opposed = a.rising == b.rising;
                neighbors[a.triangle as usize].push((b.triangle as usize, opposed, a.key));
                neighbors[b.triangle as usize].push((a.triangle as usize, opposed, a.key));
            }
        }
        // Per triangle, whether it is turned compared with the first of its piece.
        let mut turned: Vec<Option<bool>> = vec![None; self.triangles.len()];
        let mut total = 0;
        for first in 0..self.triangles.len() {
            if turned[first].is_some() {
                continue;
            }
            turned[first] = Some(false);
            let mut piece = vec![(first, false)];
            let mut next = 0;
            while let Some(&(triangle, side)) = piece.get(next) {
                next += 1;
                for &(neighbor, opposed, edge) in &neighbors[triangle] {
                    match turned[neighbor] {
                        None => {
                            turned[neighbor] = Some(side ^ opposed);
                            piece.push((neighbor, side ^ opposed));
                        }
                        Some(found) if found != side ^ opposed => {
                            return Err(TriangleMeshError::OneSided {
                                triangle: first,
                                edge,
                                from: self.place(edge[0]),
                                to: self.place(edge[1]),
                            });
                        }
                        Some(_) => {}
                    }
                }
            }
            let area_of = |part: bool| {
                let members = piece.iter().filter(|&&(_, side)| side == part);
                members
                    .map(|&(triangle, _)| self.triangle_area(triangle))
                    .sum::<f64>()
            };
            let giving_way = area_of(true) <= area_of(false);
            for &(triangle, _) in piece.iter().filter(|&&(_, side)| side == giving_way) {
                self.turn(triangle);
                total += 1;
            }
        }
        Ok(total)
    }

    fn turn(&mut self, triangle: usize) {
        self.triangles[triangle].swap(1, 2);
        if let Some(coordinates) = &mut self.corner_coordinates {
            coordinates[triangle].swap(1, 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn smaller_part_of_each_piece_gives_way() {
        for turned in [vec![0], vec![1, 3], vec![0, 1, 2]] {
            let mut mesh = TriangleMesh::sheet([2.0, 1.0], [2, 1], Default::default()).unwrap();
            for &triangle in &turned {
                mesh.turn(triangle);
            }
            let repairs = mesh.repair(None).unwrap();
            assert_eq!(repairs.turned_triangles, turned.len().min(4 - turned.len()));
            assert_eq!(mesh.validate(), Ok(()));
            // With one triangle left of the old sense, that one is turned.
            let down = mesh
                .rest_frame(1)
                .map(|frame| frame.warp.cross(&frame.weft).y);
            assert_eq!(down, Some(if turned.len() == 3 { -1.0 } else { 1.0 }));
        }
    }

    #[test]
    fn band_with_a_twist_is_refused_and_unchanged() {
        let mut mesh = TriangleMesh::default();
        let count = 12;
        for step in 0..count {
            let angle = core::f64::consts::TAU * f64::from(step) / f64::from(count);
            let across = Vector3::new(
                (0.5 * angle).cos() * angle.cos(),
                (0.5 * angle).sin(),
                (0.5 * angle).cos() * angle.sin(),
            );
            let middle = Vector3::new(angle.cos(), 0.0, angle.sin());
            mesh.positions
                .extend([middle - across * 0.2, middle + across * 0.2]);
        }
        for step in 0..count as u32 {
            let (a, b) = (2 * step, 2 * step + 1);
            // The end meets the start upside down.
            let (c, d) = if step + 1 == count as u32 {
                (1, 0)
            } else {
                (a + 2, b + 2)
            };
            mesh.triangles.extend([[a, b, c], [c, b, d]]);
        }
        let before = mesh.clone();
        assert!(matches!(
            mesh.repair(None),
            Err(TriangleMeshError::OneSided { triangle: 0, .. })
        ));
        assert_eq!(mesh, before);
        assert!(matches!(
            mesh.validate(),
            Err(TriangleMeshError::InconsistentOrientation { total: 1, .. })
        ));
    }
}
