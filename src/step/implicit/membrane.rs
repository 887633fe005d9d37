//! Membrane triangles in an implicit step.

use nalgebra::{Matrix3, Matrix3x2, Vector3};
use simba::simd::SimdValue;

use super::super::elements::at_corners;
use super::elements::{All, Element, Kind, Potential};
use super::kinds::Corners;
use super::solver::{Reference, Stage};
use crate::Real;
use crate::body::Membranes;
use crate::body::membranes::RestTriangleLanes;
use crate::body::packed::Packed;
use crate::body::tetrahedra::Lanes;
use crate::kernel::cloth::membrane::Membrane;
use crate::kernel::cloth::strain::{PlaneTensor, green_strain};
use crate::kernel::cloth::tangent::store_all_pairs;
use crate::kernel::cloth::triangle::{deformation, edge_pair, nodal_forces, shape_gradients};

type Block = Packed<3, RestTriangleLanes>;

/// Triangles of one fabric over a stage.
struct StretchedTriangle<'a> {
    law: Membrane<Lanes>,
    damping: Option<Damping<'a>>,
}

/// Damping over a stage.
#[derive(Clone, Copy)]
struct Damping<'a> {
    /// Relaxation time, s.
    time: Lanes,
    /// One over the effective step, 1/s.
    inverse_step: Lanes,
    reference: Reference<'a>,
}

/// The corners of a body's membrane triangles.
pub(super) fn corners(membranes: &Membranes) -> Corners<'_> {
    Corners {
        particles: membranes.corners().as_flattened(),
        nodes: 3,
    }
}

/// Rest area times moduli, J.
pub(super) fn stiffness(membranes: &Membranes) -> f64 {
    let law = membranes.law::<f64>();
    let area: f64 = membranes.rest_areas().map(f64::from).sum();
    area * (law.warp_modulus + law.weft_modulus)
}

/// Calls `work` with the triangles and their law.
pub(super) fn with_law(membranes: &Membranes, stage: &Stage, work: impl FnOnce(&dyn Kind)) {
    let time = membranes.damping_time();
    let damping = (time > 0.0).then(|| Damping {
        time: Lanes::splat(time),
        inverse_step: Lanes::splat(stage.step.recip()),
        reference: stage.reference,
    });
    let law = membranes.law();
    work(&All {
        element: StretchedTriangle { law, damping },
        blocks: &membranes.blocks,
    });
}

#[inline(always)]
fn deformation_at(block: &Block, positions: &[Vector3<Real>]) -> Matrix3x2<Lanes> {
    let corners = at_corners(&block.corners, positions);
    deformation(&edge_pair(&corners), &block.rest.inverse)
}

impl Damping<'_> {
    /// Rate of the strain over the stage, 1/s.
    #[inline(always)]
    fn strain_rate(&self, block: &Block, strain: &PlaneTensor<Lanes>) -> PlaneTensor<Lanes> {
        let strain_at =
            |positions: &[Vector3<Real>]| green_strain(&deformation_at(block, positions));
        let mut start = strain_at(self.reference.first);
        if let Some((second, weight)) = self.reference.second {
            start = start + (strain_at(second) - start) * Lanes::splat(weight);
        }
        (*strain - start) * self.inverse_step
    }
}

impl StretchedTriangle<'_> {
    #[inline(always)]
    fn stress(&self, block: &Block, strain: &PlaneTensor<Lanes>) -> PlaneTensor<Lanes> {
        let stress = self.law.second_stress(strain);
        match &self.damping {
            Some(damping) => {
                let rate = damping.strain_rate(block, strain);
                stress + self.law.viscous_stress(&rate, damping.time)
            }
            None => stress,
        }
    }
}

impl Element<3, 6> for StretchedTriangle<'_> {
    type Block = Block;

    #[inline(always)]
    fn potential(&self, block: &Block, positions: &[Vector3<Real>]) -> Potential<Lanes> {
        let strain = green_strain(&deformation_at(block, positions));
        let power = self.damping.map_or(Lanes::splat(0.0), |damping| {
            let rate = damping.strain_rate(block, &strain);
            self.law.viscous_power_density(&rate, damping.time)
        });
        Potential {
            elastic: self.law.energy_density(&strain) * block.rest.area,
            dissipated_power: power * block.rest.area,
            smallest_volume_ratio: Lanes::splat(Real::INFINITY),
        }
    }

    #[inline(always)]
    fn forces(&self, block: &Block, positions: &[Vector3<Real>]) -> [Vector3<Lanes>; 3] {
        let deformation = deformation_at(block, positions);
        let stress = self.stress(block, &green_strain(&deformation));
        nodal_forces(&deformation, &stress, &block.rest.inverse, block.rest.area)
    }

    #[inline(always)]
    fn linearize(
        &self,
        block: &Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) -> [Vector3<Lanes>; 3] {
        let deformation = deformation_at(block, positions);
        let strain = green_strain(&deformation);
        let stress = self.stress(block, &strain);
        let ratio = self.damping.map_or(Lanes::splat(0.0), |damping| {
            damping.time * damping.inverse_step
        });
        let [_, first, second] = shape_gradients(&block.rest.inverse);
        let tangent = self.law.tangent(&strain, ratio);
        let area = block.rest.area;
        let blocks = tangent.node_stiffness(&deformation, &stress, &[first, second], area);
        store_all_pairs(&blocks, store);
        nodal_forces(&deformation, &stress, &block.rest.inverse, area)
    }

    #[inline(always)]
    fn damp(
        &self,
        block: &Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) {
        let zero = Lanes::splat(0.0);
        let time = self.damping.map_or(zero, |damping| damping.time);
        let [_, first, second] = shape_gradients(&block.rest.inverse);
        let blocks = self.law.viscous_moduli(time).node_stiffness(
            &deformation_at(block, positions),
            &PlaneTensor {
                warp: zero,
                weft: zero,
                shear: zero,
            },
            &[first, second],
            block.rest.area,
        );
        store_all_pairs(&blocks, store);
    }
}
