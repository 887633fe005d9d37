//! Springs of sheets and of any triangle mesh.

use super::{TriangleMesh, TriangleMeshError};

/// What a spring resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpringKind {
    /// Stretching along the yarns, or along any edge of a mesh.
    Structural,
    /// Shearing of a cell.
    Shear,
    /// Bending: it joins vertices two steps apart.
    Bend,
}

/// A list of springs with what their stiffness needs. All lists run in parallel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpringNet {
    /// The vertices at both ends, ascending.
    pub springs: Vec<[u32; 2]>,
    /// Length at rest, m.
    pub rest_lengths: Vec<f64>,
    /// What each spring resists.
    pub kinds: Vec<SpringKind>,
    /// Width of the strip of cloth that each spring stands for, m. A spring of stiffness k = Y · width / rest length (N/m)
    /// makes the net as stiff as cloth of membrane modulus Y (N/m); which modulus that is, each maker of nets says.
    pub dual_widths: Vec<f64>,
}

impl SpringNet {
    pub(super) fn push(
        &mut self,
        ends: [u32; 2],
        rest_length: f64,
        kind: SpringKind,
        dual_width: f64,
    ) {
        let [a, b] = ends;
        self.springs.push([a.min(b), a.max(b)]);
        self.rest_lengths.push(rest_length);
        self.kinds.push(kind);
        self.dual_widths.push(dual_width);
    }

    /// Number of springs.
    pub fn len(&self) -> usize {
        self.springs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.springs.is_empty()
    }

    /// Stiffness of each spring, N/m, from a membrane modulus (N/m) per kind: Y · dual width / rest length. Zero for a
    /// spring without length.
    pub fn stiffnesses(&self, modulus: impl Fn(SpringKind) -> f64) -> Vec<f64> {
        let stiffness = |index: usize| {
            if self.rest_lengths[index] > 0.0 {
                modulus(self.kinds[index]) * self.dual_widths[index] / self.rest_lengths[index]
            } else {
                0.0
            }
        };
        (0..self.len()).map(stiffness).collect()
    }
}

impl TriangleMesh {
    /// One structural spring per edge, in the order of [`TriangleTopology::edges`](super::TriangleTopology::edges).
    ///
    /// Dual width: the area of the triangles on the edge divided by its length `[Van Gelder 1998]`. On equilateral triangles
    /// the net is then exactly a sheet of membrane modulus Y and Poisson's ratio 1/3 under small strain; on the edges of
    /// square cells stiffness is modulus.
    ///
    /// # Errors
    /// Those of [`topology`](Self::topology).
    pub fn edge_springs(&self) -> Result<SpringNet, TriangleMeshError> {
        let mut net = SpringNet::default();
        for edge in self.topology()?.edges {
            let [a, b] = edge.vertices.map(|vertex| self.positions[vertex as usize]);
            let length = (a - b).norm();
            let other = edge
                .second
                .map_or(0.0, |second| self.triangle_area(second as usize));
            let area = self.triangle_area(edge.first as usize) + other;
            let width = if length > 0.0 { area / length } else { 0.0 };
            net.push(edge.vertices, length, SpringKind::Structural, width);
        }
        Ok(net)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use nalgebra::{Matrix3, Vector3};

    /// Energy of the springs of one kind, all of the same modulus 1, under a linear deformation.
    pub(in crate::mesh::triangle) fn energy(
        mesh: &TriangleMesh,
        net: &SpringNet,
        kind: SpringKind,
        deformation: &Matrix3<f64>,
    ) -> f64 {
        let stiffness = net.stiffnesses(|found| if found == kind { 1.0 } else { 0.0 });
        (0..net.len())
            .map(|index| {
                let [a, b] = net.springs[index].map(|end| mesh.positions[end as usize]);
                let longer = (deformation * (a - b)).norm() - net.rest_lengths[index];
                0.5 * stiffness[index] * longer * longer
            })
            .sum()
    }

    #[test]
    fn equilateral_net_is_a_sheet_of_known_moduli() {
        let mesh = TriangleMesh::disc(1.0, 1).unwrap();
        let net = mesh.edge_springs().unwrap();
        let strain = 1e-5;
        let whole = 0.5 * strain * strain * mesh.area();
        let energy = |x: f64, z: f64, slant: f64| {
            let mut deformation =
                Matrix3::from_diagonal(&Vector3::new(1.0 + x * strain, 1.0, 1.0 + z * strain));
            deformation[(0, 2)] = slant * strain;
            energy(&mesh, &net, SpringKind::Structural, &deformation) / whole
        };
        // Plane stress with modulus 1 and ratio 1/3: C₁₁ = 1/(1 − ν²), C₁₁ + C₁₂ = 1/(1 − ν), G = 1/(2 (1 + ν)).
        assert!((energy(1.0, 0.0, 0.0) - 9.0 / 8.0).abs() < 1e-4);
        assert!((energy(0.0, 1.0, 0.0) - 9.0 / 8.0).abs() < 1e-4);
        assert!((energy(1.0, 1.0, 0.0) - 2.0 * 3.0 / 2.0).abs() < 1e-4);
        assert!((energy(0.0, 0.0, 1.0) - 3.0 / 8.0).abs() < 1e-4);
    }
}
