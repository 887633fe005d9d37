//! Springs in an implicit step.

use nalgebra::{Matrix3, Vector3};
use simba::simd::SimdValue;

use super::super::elements::at_corners;
use super::elements::{All, Element, Kind, Potential};
use super::kinds::Corners;
use super::solver::{Reference, Stage};
use crate::Real;
use crate::body::Springs;
use crate::body::packed::Packed;
use crate::body::springs::SpringLanes;
use crate::body::tetrahedra::Lanes;
use crate::kernel::cloth::spring::Spring;

/// Springs over a stage.
struct StretchedSpring<'a> {
    /// One over the effective step, 1/s, and what the stage starts from, where there is damping.
    damping: Option<(Lanes, Reference<'a>)>,
}

/// The ends of a body's springs.
pub(super) fn corners(springs: &Springs) -> Corners<'_> {
    Corners {
        particles: springs.ends().as_flattened(),
        nodes: 2,
    }
}

/// Stiffness times the square of the rest length, J.
pub(super) fn stiffness(springs: &Springs) -> f64 {
    let springs = springs.laws().iter().map(|law| law.spring);
    springs
        .map(|spring| f64::from(spring.stiffness * spring.rest_length * spring.rest_length))
        .sum()
}

/// Calls `work` with the springs.
pub(super) fn with_law(springs: &Springs, stage: &Stage, work: impl FnOnce(&dyn Kind)) {
    let inverse_step = Lanes::splat(stage.step.recip());
    let damping = springs
        .are_damped()
        .then_some((inverse_step, stage.reference));
    work(&All {
        element: StretchedSpring { damping },
        blocks: &springs.blocks,
    });
}

/// From the first end to the second.
#[inline(always)]
fn difference(block: &Packed<2, SpringLanes>, positions: &[Vector3<Real>]) -> Vector3<Lanes> {
    let [first, second] = at_corners(&block.corners, positions);
    second - first
}

impl StretchedSpring<'_> {
    /// What damping amounts to over the stage.
    #[inline(always)]
    fn damping(&self, block: &Packed<2, SpringLanes>) -> Option<(Spring<Lanes>, Lanes)> {
        self.damping.map(|(inverse_step, reference)| {
            let mut start = difference(block, reference.first).norm();
            if let Some((second, weight)) = reference.second {
                let other = difference(block, second).norm();
                start += (other - start) * Lanes::splat(weight);
            }
            let spring = block.rest.damping.over_stage(start, inverse_step);
            (spring, inverse_step)
        })
    }
}

impl Element<2, 3> for StretchedSpring<'_> {
    type Block = Packed<2, SpringLanes>;

    #[inline(always)]
    fn potential(&self, block: &Self::Block, positions: &[Vector3<Real>]) -> Potential<Lanes> {
        let difference = difference(block, positions);
        let power = self
            .damping(block)
            .map_or(Lanes::splat(0.0), |(damper, inverse_step)| {
                damper.energy(&difference) * inverse_step * Lanes::splat(2.0)
            });
        Potential {
            elastic: block.rest.spring.energy(&difference),
            dissipated_power: power,
            smallest_volume_ratio: Lanes::splat(Real::INFINITY),
        }
    }

    #[inline(always)]
    fn forces(&self, block: &Self::Block, positions: &[Vector3<Real>]) -> [Vector3<Lanes>; 2] {
        let difference = difference(block, positions);
        let mut force = block.rest.spring.force(&difference);
        if let Some((damper, _)) = self.damping(block) {
            force += damper.force(&difference);
        }
        [force, -force]
    }

    #[inline(always)]
    fn linearize(
        &self,
        block: &Self::Block,
        positions: &[Vector3<Real>],
        mut store: impl FnMut(usize, &Matrix3<Lanes>),
    ) -> [Vector3<Lanes>; 2] {
        let difference = difference(block, positions);
        let mut force = block.rest.spring.force(&difference);
        let mut stiffness = block.rest.spring.stiffness_block(&difference);
        if let Some((damper, _)) = self.damping(block) {
            force += damper.force(&difference);
            stiffness += damper.stiffness_block(&difference);
        }
        store(0, &stiffness);
        store(1, &-stiffness);
        store(2, &stiffness);
        [force, -force]
    }

    #[inline(always)]
    fn damp(
        &self,
        block: &Self::Block,
        positions: &[Vector3<Real>],
        mut store: impl FnMut(usize, &Matrix3<Lanes>),
    ) {
        // At rest in its length, the spring of a stage only resists along itself.
        let damping = self
            .damping(block)
            .map_or_else(Matrix3::zeros, |(damper, _)| {
                damper.stiffness_block(&difference(block, positions))
            });
        store(0, &damping);
        store(1, &-damping);
        store(2, &damping);
    }
}
