//! Which vertices to pin.

use nalgebra::Vector3;

use super::{SheetCorner, SheetGrid, SheetSide, TriangleMesh};

impl SheetGrid {
    /// The vertex at a corner.
    pub fn corner(&self, corner: SheetCorner) -> u32 {
        let [right, front] = self.cells;
        match corner {
            SheetCorner::BackLeft => self.vertex(0, 0),
            SheetCorner::BackRight => self.vertex(right, 0),
            SheetCorner::FrontLeft => self.vertex(0, front),
            SheetCorner::FrontRight => self.vertex(right, front),
        }
    }

    /// The vertices along a side with both corners, from low to high x or z.
    pub fn edge_particles(&self, side: SheetSide) -> Vec<u32> {
        let [right, front] = self.cells;
        match side {
            SheetSide::Left => (0..=front).map(|j| self.vertex(0, j)).collect(),
            SheetSide::Right => (0..=front).map(|j| self.vertex(right, j)).collect(),
            SheetSide::Back => (0..=right).map(|i| self.vertex(i, 0)).collect(),
            SheetSide::Front => (0..=right).map(|i| self.vertex(i, front)).collect(),
        }
    }
}

impl TriangleMesh {
    /// The vertices whose rest position (m) `chosen` accepts, ascending.
    pub fn particles_where(&self, mut chosen: impl FnMut(&Vector3<f64>) -> bool) -> Vec<u32> {
        let vertices = self.positions.iter().zip(0..);
        vertices
            .filter(|(position, _)| chosen(position))
            .map(|(_, vertex)| vertex)
            .collect()
    }

    /// The vertices whose [color](TriangleMesh::colors) `chosen` accepts, ascending; none if there are no colors.
    pub fn particles_painted(&self, mut chosen: impl FnMut([f32; 4]) -> bool) -> Vec<u32> {
        let colors = self.colors.iter().flatten().zip(0..);
        colors
            .filter(|(color, _)| chosen(**color))
            .map(|(_, vertex)| vertex)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::SheetPattern;

    const GRID: SheetGrid = SheetGrid {
        size: [3.0, 2.0],
        cells: [3, 2],
        pattern: SheetPattern::Herringbone,
    };

    #[test]
    fn corners_and_sides_lie_where_they_say() {
        let mesh = GRID.mesh().unwrap();
        for (corner, vertex, x, z) in [
            (SheetCorner::BackLeft, 0, -1.5, -1.0),
            (SheetCorner::BackRight, 3, 1.5, -1.0),
            (SheetCorner::FrontLeft, 8, -1.5, 1.0),
            (SheetCorner::FrontRight, 11, 1.5, 1.0),
        ] {
            assert_eq!(GRID.corner(corner), vertex);
            assert_eq!(mesh.positions[vertex as usize], Vector3::new(x, 0.0, z));
        }
        assert_eq!(GRID.edge_particles(SheetSide::Left), [0, 4, 8]);
        assert_eq!(GRID.edge_particles(SheetSide::Right), [3, 7, 11]);
        assert_eq!(GRID.edge_particles(SheetSide::Back), [0, 1, 2, 3]);
        assert_eq!(GRID.edge_particles(SheetSide::Front), [8, 9, 10, 11]);
    }

    #[test]
    fn vertices_are_chosen_by_place_and_by_color() {
        let mut mesh = GRID.mesh().unwrap();
        assert_eq!(
            mesh.particles_where(|position| position.z > 0.5),
            [8, 9, 10, 11]
        );
        assert!(mesh.particles_where(|position| position.y > 0.5).is_empty());
        assert!(mesh.particles_painted(|_| true).is_empty());
        let mut colors = vec![[0.0, 0.0, 0.0, 1.0]; 12];
        colors[5][0] = 0.9;
        mesh.colors = Some(colors);
        assert_eq!(mesh.particles_painted(|[red, ..]| red > 0.5), [5]);
    }
}
