//! Where a clamped body comes to rest under its own weight, by linear elasticity of the very same mesh.
//!
//! Linear tetrahedra on a coarse mesh are stiffer than the beam that they stand for, so beam theory does not say what a
//! run must settle to. The equilibrium of the mesh does, as long as displacements are small:
//!
//! ```text
//! K u = f,   K_ab = Σ V (μ (b_a·b_b) I + μ b_b b_aᵀ + λ b_a b_bᵀ),   f_a = Σ ρ V g / 4
//! ```
//!
//! with the gradients b of the shape functions and the Lamé parameters λ and μ. It shares no line with the library.

use bevy_pliant::mesh::TetrahedralMesh;
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// Displacements of all vertices, m, of a body with `clamped` vertices.
///
/// Young's modulus in Pa, `weight` in N per m³. `None` if the mesh has a flat element or is not held.
pub fn displacements(
    mesh: &TetrahedralMesh,
    young_modulus: f64,
    poisson_ratio: f64,
    weight: Vector3<f64>,
    clamped: &[u32],
) -> Option<Vec<Vector3<f64>>> {
    let shear = young_modulus / (2.0 * (1.0 + poisson_ratio));
    let lame =
        young_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio));
    let count = 3 * mesh.positions.len();
    let mut stiffness = DMatrix::zeros(count, count);
    let mut load = DVector::zeros(count);
    for &tetrahedron in &mesh.tetrahedra {
        let corners = mesh.corners(tetrahedron)?;
        let edges = Matrix3::from_columns(&[1, 2, 3].map(|corner| corners[corner] - corners[0]));
        let inverse = edges.try_inverse()?;
        let volume = edges.determinant() / 6.0;
        let rows = [0, 1, 2].map(|row| inverse.row(row).transpose());
        let gradients = [-(rows[0] + rows[1] + rows[2]), rows[0], rows[1], rows[2]];
        let places = tetrahedron.map(|index| 3 * index as usize);
        for (place_a, a) in places.iter().zip(&gradients) {
            let mut share = load.fixed_rows_mut::<3>(*place_a);
            share += weight * (0.25 * volume);
            for (place_b, b) in places.iter().zip(&gradients) {
                let block = Matrix3::from_diagonal_element(shear * a.dot(b))
                    + b * a.transpose() * shear
                    + a * b.transpose() * lame;
                let mut sum = stiffness.fixed_view_mut::<3, 3>(*place_a, *place_b);
                sum += block * volume;
            }
        }
    }
    for place in clamped.iter().flat_map(|&index| {
        let first = 3 * index as usize;
        first..first + 3
    }) {
        stiffness.row_mut(place).fill(0.0);
        stiffness.column_mut(place).fill(0.0);
        stiffness[(place, place)] = young_modulus;
        load[place] = 0.0;
    }
    let solution = stiffness.cholesky()?.solve(&load);
    let vertices = solution.as_slice().chunks_exact(3);
    Some(vertices.map(Vector3::from_column_slice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_pliant::mesh::CellSplit;

    /// A column without lateral strain shortens by ρ g L² / 2E, which linear elements meet at their vertices.
    #[test]
    fn a_hanging_column_stretches_by_its_own_weight() {
        let (young, length) = (1e5, 1.0);
        let mesh = TetrahedralMesh::block([0.2, length, 0.2], [1, 4, 1], CellSplit::Five)
            .expect("a block")
            .translated_by(Vector3::y() * (-length / 2.0));
        let clamped = super::super::measure::vertices_where(&mesh, |x| x.y > -1e-9);
        let weight = Vector3::y() * -9810.0;
        let moved = displacements(&mesh, young, 0.0, weight, &clamped).expect("a held body");
        let lowest = super::super::measure::vertices_where(&mesh, |x| x.y < 1e-9 - length);
        let mean = lowest.iter().map(|&i| moved[i as usize].y).sum::<f64>() / lowest.len() as f64;
        let expected = -9810.0 * length * length / (2.0 * young);
        assert!((mean / expected - 1.0).abs() < 0.05, "{mean} {expected}");
        assert!(clamped.iter().all(|&i| moved[i as usize].norm() == 0.0));
    }
}
