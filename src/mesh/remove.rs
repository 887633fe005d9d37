//! Taking tetrahedra away.

use super::TetrahedralMesh;

impl TetrahedralMesh {
    /// Removes the tetrahedra for whose index `remove` returns true, then the vertices no tetrahedron uses any more.
    ///
    /// The order of the rest is kept. Returns, for each old vertex, its new index, or `None` if it is gone. Removing all of
    /// them is allowed and leaves an empty mesh, which does not validate.
    pub fn remove_tetrahedra(&mut self, mut remove: impl FnMut(usize) -> bool) -> Vec<Option<u32>> {
        let kept: Vec<bool> = (0..self.tetrahedra.len())
            .map(|tetrahedron| !remove(tetrahedron))
            .collect();
        let mut flags = kept.iter();
        self.tetrahedra
            .retain(|_| flags.next().copied().unwrap_or(true));
        let mut flags = kept.iter();
        self.tetrahedron_charts
            .retain(|_| flags.next().copied().unwrap_or(false));
        self.remove_unused_vertices()
    }

    /// Removes the vertices that no tetrahedron uses; the order of the rest is kept.
    ///
    /// Returns, for each old vertex, its new index, or `None` if it is gone. Indices out of range are left as they are.
    pub fn remove_unused_vertices(&mut self) -> Vec<Option<u32>> {
        let used = self.used_vertices();
        let mut next = 0;
        let renumbered: Vec<Option<u32>> = used
            .iter()
            .map(|&used| {
                used.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let mut flags = used.iter();
        self.positions
            .retain(|_| flags.next().copied().unwrap_or(true));
        for vertex in self.tetrahedra.iter_mut().flatten() {
            if let Some(Some(index)) = renumbered.get(*vertex as usize) {
                *vertex = *index;
            }
        }
        renumbered
    }

    /// For each vertex, whether a tetrahedron uses it.
    pub(super) fn used_vertices(&self) -> Vec<bool> {
        let mut used = vec![false; self.positions.len()];
        for &vertex in self.tetrahedra.iter().flatten() {
            if let Some(flag) = used.get_mut(vertex as usize) {
                *flag = true;
            }
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::CellSplit;
    use nalgebra::Vector3;
    use proptest::prelude::*;

    #[test]
    fn removed_cell_leaves_a_valid_rest_with_a_map() {
        let mut mesh = TetrahedralMesh::block([3.0, 1.0, 1.0], [3, 1, 1], CellSplit::Six).unwrap();
        let before = mesh.clone();
        let map = mesh.remove_tetrahedra(|tetrahedron| tetrahedron < 6);
        assert_eq!((mesh.positions.len(), mesh.tetrahedra.len()), (12, 12));
        assert_eq!(mesh.validate(), Ok(()));
        for (old, new) in map
            .iter()
            .enumerate()
            .filter_map(|(old, new)| Some((old, (*new)?)))
        {
            assert_eq!(before.positions[old], mesh.positions[new as usize]);
        }
        assert_eq!(map.iter().filter(|new| new.is_none()).count(), 4);
    }

    #[test]
    fn charts_stay_with_their_tetrahedra() {
        let left = TetrahedralMesh::block([1.0; 3], [1; 3], CellSplit::Five).unwrap();
        let right = left.clone().with_slot(3).translated_by(Vector3::x());
        let mut mesh = left.joined_with(&right, 1e-6).unwrap();
        mesh.remove_tetrahedra(|tetrahedron| tetrahedron < 5);
        let surface = mesh.surface().unwrap();
        assert!(surface.slots.iter().all(|&slot| slot == 3));
        assert_eq!(
            surface.corner_coordinates,
            left.surface().unwrap().corner_coordinates
        );
    }

    #[test]
    fn removing_everything_leaves_the_empty_mesh() {
        let mut mesh = TetrahedralMesh::ball(1.0, 1).unwrap();
        assert!(mesh.remove_tetrahedra(|_| true).iter().all(Option::is_none));
        assert!(mesh.positions.is_empty() && mesh.surface().unwrap().triangles.is_empty());
    }

    proptest! {
        #[test]
        fn removal_takes_exactly_the_volume_removed(removed in prop::collection::vec(any::<bool>(), 160)) {
            let mut mesh = TetrahedralMesh::ball(1.0, 2).unwrap();
            let gone: f64 = (0..160).filter(|&index| removed[index]).map(|index| mesh.tetrahedron_volume(index)).sum();
            let before = mesh.volume();
            mesh.remove_tetrahedra(|tetrahedron| removed[tetrahedron]);
            prop_assert!((mesh.volume() + gone - before).abs() < 1e-12);
            prop_assert!(mesh.tetrahedra.is_empty() || mesh.validate().is_ok());
            for corner in mesh.surface().unwrap().corner_coordinates.iter().flatten().flatten() {
                prop_assert!((0.0..=1.5).contains(corner));
            }
        }
    }
}
