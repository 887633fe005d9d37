//! Generators of simple solids.
//!
//! All are centered at the origin with +y up, conforming (neighbors share whole faces), positively oriented, and give the
//! same numbers on every run. Bodies of revolution have their axis along y.

mod ball;
mod block;
mod cylinder;
mod sweep;
mod torus;
mod tube;

pub use block::CellSplit;

use super::{MeshError, TetrahedralMesh};

/// Arguments of one generator, checked one by one.
pub(super) struct Arguments(pub &'static str);

impl Arguments {
    pub fn positive(&self, parameter: &'static str, value: f64) -> Result<(), MeshError> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        Err(MeshError::InvalidArgument {
            operation: self.0,
            parameter,
            value,
            requirement: "positive and finite",
        })
    }

    pub fn at_least(
        &self,
        parameter: &'static str,
        value: usize,
        minimum: usize,
        requirement: &'static str,
    ) -> Result<(), MeshError> {
        if value >= minimum {
            return Ok(());
        }
        Err(MeshError::InvalidArgument {
            operation: self.0,
            parameter,
            value: value as f64,
            requirement,
        })
    }

    /// The product of `factors`, which must be a number of elements or vertices that indices can count.
    pub fn count(&self, what: &'static str, factors: &[usize]) -> Result<usize, MeshError> {
        let product = factors
            .iter()
            .try_fold(1_usize, |product, &factor| product.checked_mul(factor));
        product
            .filter(|&count| count <= u32::MAX as usize)
            .ok_or(MeshError::TooLarge {
                operation: self.0,
                what,
            })
    }
}

/// Checks what arguments alone do not decide: extreme sizes can still flatten or overflow tetrahedra.
fn finished(mesh: TetrahedralMesh) -> Result<TetrahedralMesh, MeshError> {
    mesh.check_geometry()?;
    Ok(mesh)
}
