//! Membrane triangles: what a cloth resists stretch and shear with.

use bevy::prelude::*;
use nalgebra::Matrix2;

use super::Fabric;
use super::packed::{Pack, Packed, lanes, pack};
use super::solid::to_real;
use super::tetrahedra::{LANES, Lanes};
use crate::Real;
use crate::kernel::Scalar;
use crate::kernel::cloth::membrane::Membrane;
use crate::mesh::{TriangleMesh, TriangleMeshError};

/// The membrane triangles of a cloth: corners and rest shape of each in the plane of warp and weft, and the law of the
/// fabric.
///
/// Built by [`Cloth`](super::Cloth); follows changes of the body's [`Fabric`].
#[derive(Component, Clone, Debug)]
pub struct Membranes {
    fabric: Fabric,
    corners: Vec<[u32; 3]>,
    rest: Vec<RestTriangle>,
    pub(crate) blocks: Vec<Packed<3, RestTriangleLanes>>,
}

/// A triangle at rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestTriangle {
    /// Inverse of `[X₁ − X₀, X₂ − X₀]` in the plane of warp and weft, 1/m.
    pub inverse: Matrix2<Real>,
    /// Area, m².
    pub area: Real,
}

/// Triangles at rest, side by side.
#[derive(Clone, Debug)]
pub(crate) struct RestTriangleLanes {
    pub inverse: Matrix2<Lanes>,
    pub area: Lanes,
}

impl Pack for RestTriangle {
    type Lanes = RestTriangleLanes;

    fn pack(elements: &[Self; LANES]) -> RestTriangleLanes {
        RestTriangleLanes {
            inverse: Matrix2::from_fn(|row, column| {
                lanes(elements, |element| element.inverse[(row, column)])
            }),
            area: lanes(elements, |element| element.area),
        }
    }

    fn without_force(mut self) -> Self {
        self.area = 0.0;
        self
    }
}

impl Membranes {
    /// The triangles of a mesh at rest, of a fabric.
    ///
    /// # Errors
    /// If a triangle has no area, or names a vertex that is not there.
    pub fn new(mesh: &TriangleMesh, fabric: &Fabric) -> Result<Self, TriangleMeshError> {
        mesh.validate()?;
        let rest: Vec<RestTriangle> = (0..mesh.triangles.len())
            .filter_map(|triangle| mesh.rest_frame(triangle))
            .map(|frame| RestTriangle {
                inverse: frame
                    .edges
                    .try_inverse()
                    .unwrap_or_else(Matrix2::zeros)
                    .map(to_real),
                area: to_real(frame.area),
            })
            .collect();
        Ok(Self {
            fabric: *fabric,
            blocks: pack(&mesh.triangles, &rest),
            corners: mesh.triangles.clone(),
            rest,
        })
    }

    /// Number of triangles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// Particles of each triangle.
    #[must_use]
    pub fn corners(&self) -> &[[u32; 3]] {
        &self.corners
    }

    /// Rest area of each triangle, m².
    pub fn rest_areas(&self) -> impl ExactSizeIterator<Item = Real> {
        self.rest.iter().map(|rest| rest.area)
    }

    /// The triangles at rest.
    pub(crate) fn rest(&self) -> &[RestTriangle] {
        &self.rest
    }

    /// The law of all triangles.
    pub(crate) fn law<T: Scalar>(&self) -> Membrane<T> {
        self.fabric.membrane()
    }

    /// Mass per area, kg/m².
    pub(crate) fn areal_density(&self) -> Real {
        self.fabric.areal_density
    }

    /// Damping time, s.
    pub(crate) fn damping_time(&self) -> Real {
        self.fabric.membrane_damping
    }

    /// Gives the triangles other corners, in the same order.
    pub(crate) fn set_corners(&mut self, corners: &[[u32; 3]]) {
        self.corners = corners.to_vec();
        self.blocks = pack(&self.corners, &self.rest);
    }

    /// Takes over another fabric.
    pub(crate) fn set_fabric(&mut self, fabric: &Fabric) {
        self.fabric = *fabric;
    }
}
