//! Hinges in an implicit step.

use nalgebra::{Matrix3, Vector3};
use simba::simd::SimdValue;

use super::super::elements::at_corners;
use super::elements::{All, Element, Kind, Potential};
use super::kinds::Corners;
use super::solver::{Reference, Stage};
use crate::Real;
use crate::body::Hinges;
use crate::body::hinges::HingeLanes;
use crate::body::packed::Packed;
use crate::body::tetrahedra::Lanes;
use crate::kernel::cloth::half_angle::HalfAngle;
use crate::kernel::cloth::hinge::HingeGeometry;

type Block = Packed<4, HingeLanes>;

/// Hinges over a stage.
struct FoldedHinge<'a> {
    /// One over the effective step, 1/s, and what the stage starts from, where there is damping.
    damping: Option<(Lanes, Reference<'a>)>,
}

/// Where a stage starts: a fold, and how far the reference of the stage is ahead of it, as a chord.
struct Start {
    fold: HalfAngle<Lanes>,
    lead: Lanes,
    inverse_step: Lanes,
}

/// The corners of a body's hinges.
pub(super) fn corners(hinges: &Hinges) -> Corners<'_> {
    Corners {
        particles: hinges.corners().as_flattened(),
        nodes: 4,
    }
}

/// Stiffness of all hinges, J.
pub(super) fn stiffness(hinges: &Hinges) -> f64 {
    let laws = hinges.laws().iter();
    laws.map(|law| f64::from(law.hinge.stiffness)).sum()
}

/// Calls `work` with the hinges.
pub(super) fn with_law(hinges: &Hinges, stage: &Stage, work: impl FnOnce(&dyn Kind)) {
    let inverse_step = Lanes::splat(stage.step.recip());
    let damping = hinges
        .are_damped()
        .then_some((inverse_step, stage.reference));
    work(&All {
        element: FoldedHinge { damping },
        blocks: &hinges.blocks,
    });
}

#[inline(always)]
fn geometry(block: &Block, positions: &[Vector3<Real>]) -> HingeGeometry<Lanes> {
    HingeGeometry::new(&at_corners(&block.corners, positions))
}

impl FoldedHinge<'_> {
    #[inline(always)]
    fn start(&self, block: &Block) -> Option<Start> {
        self.damping.map(|(inverse_step, reference)| {
            let fold = geometry(block, reference.first).fold;
            let mut lead = Lanes::splat(0.0);
            if let Some((second, weight)) = reference.second {
                let other = geometry(block, second).fold;
                lead = other.since(&fold).sine * Lanes::splat(2.0 * weight);
            }
            Start {
                fold,
                lead,
                inverse_step,
            }
        })
    }
}

impl Element<4, 10> for FoldedHinge<'_> {
    type Block = Block;

    #[inline(always)]
    fn potential(&self, block: &Block, positions: &[Vector3<Real>]) -> Potential<Lanes> {
        let fold = geometry(block, positions).fold;
        let power = self.start(block).map_or(Lanes::splat(0.0), |start| {
            let damping = &block.rest.damping;
            let potential =
                damping.stage_potential(&fold, &start.fold, start.lead, start.inverse_step);
            potential * start.inverse_step * Lanes::splat(2.0)
        });
        Potential {
            elastic: block.rest.hinge.energy(&fold),
            dissipated_power: power,
            smallest_volume_ratio: Lanes::splat(Real::INFINITY),
        }
    }

    #[inline(always)]
    fn forces(&self, block: &Block, positions: &[Vector3<Real>]) -> [Vector3<Lanes>; 4] {
        let geometry = geometry(block, positions);
        let mut slope = block.rest.hinge.slope(&geometry.fold);
        if let Some(start) = self.start(block) {
            let damping = &block.rest.damping;
            slope +=
                damping.stage_slope(&geometry.fold, &start.fold, start.lead, start.inverse_step);
        }
        geometry.forces(slope)
    }

    #[inline(always)]
    fn linearize(
        &self,
        block: &Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) -> [Vector3<Lanes>; 4] {
        let geometry = geometry(block, positions);
        let mut slope = block.rest.hinge.slope(&geometry.fold);
        let mut curvature = block.rest.hinge.curvature(&geometry.fold);
        if let Some(start) = self.start(block) {
            let damping = &block.rest.damping;
            slope +=
                damping.stage_slope(&geometry.fold, &start.fold, start.lead, start.inverse_step);
            curvature += damping.stage_curvature(&geometry.fold, &start.fold, start.inverse_step);
        }
        geometry.stiffness_blocks(curvature, store);
        geometry.forces(slope)
    }

    #[inline(always)]
    fn damp(
        &self,
        block: &Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) {
        geometry(block, positions).stiffness_blocks(block.rest.damping.coefficient, store);
    }
}
