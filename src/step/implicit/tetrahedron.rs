//! Tetrahedra in an implicit step: an elastic law and viscosity.

use nalgebra::{Matrix3, Vector3};
use simba::simd::{SimdPartialOrd, SimdValue};

use super::super::elements::edges;
use super::elements::{All, Element, Kind, Potential};
use super::kinds::Corners;
use super::solver::{Reference, Stage};
use crate::Real;
use crate::body::tetrahedra::{Block, Lanes};
use crate::body::{ElasticModel, Tetrahedra};
use crate::kernel::elasticity::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use crate::kernel::matrix::{determinant, product, transposed_product};
use crate::kernel::moduli::Moduli;
use crate::kernel::tetrahedron::{deformation_gradient, nodal_forces, shape_gradients};
use crate::kernel::viscosity::Viscosity;

/// The corners of a body's tetrahedra.
pub(super) fn corners(tetrahedra: &Tetrahedra) -> Corners<'_> {
    Corners {
        particles: tetrahedra.corners().as_flattened(),
        nodes: 4,
    }
}

/// Rest volume times moduli, J.
pub(super) fn stiffness(tetrahedra: &Tetrahedra) -> f64 {
    let moduli = tetrahedra.moduli::<f64>();
    let volumes = tetrahedra.rest_volumes();
    let volume: f64 = volumes.iter().map(|&volume| f64::from(volume)).sum();
    volume * (moduli.bulk + moduli.shear)
}

/// Largest ratio of bulk to shear modulus of a tangled body, that of Poisson's ratio 0.4. Up to there scrambled blocks find
/// back to their shape; the scene `torture` shows it.
const TANGLED_RATIO: f32 = 14.0 / 3.0;

/// Moduli of the elastic law in a stage.
///
/// Only the stable neo-Hookean law gives way while it is tangled: the others leave elements inverted whatever their moduli.
fn moduli_in(tetrahedra: &Tetrahedra, stage: &Stage) -> Moduli<Lanes> {
    let mut moduli = tetrahedra.moduli::<Lanes>();
    if stage.is_tangled && tetrahedra.model == ElasticModel::StableNeoHookean {
        let most = moduli.shear * Lanes::splat(TANGLED_RATIO.into());
        moduli.bulk = moduli.bulk.simd_min(most);
    }
    moduli
}

/// Calls `work` with the tetrahedra and their law.
pub(super) fn with_law(tetrahedra: &Tetrahedra, stage: &Stage, work: impl FnOnce(&dyn Kind)) {
    let moduli = moduli_in(tetrahedra, stage);
    let friction = tetrahedra.viscosity().map(|viscosity| Friction {
        viscosity,
        inverse_step: Lanes::splat(stage.step.recip()),
        reference: stage.reference,
    });
    let blocks = &tetrahedra.blocks;
    match tetrahedra.model {
        ElasticModel::StableNeoHookean => {
            let law = StableNeoHookean::from_moduli(moduli);
            let element = ElasticTetrahedron { law, friction };
            work(&All { element, blocks });
        }
        ElasticModel::Corotational => {
            let law = Corotational::from_moduli(moduli);
            let element = ElasticTetrahedron { law, friction };
            work(&All { element, blocks });
        }
        ElasticModel::Liesenfeld { extension_below } => {
            let law = Liesenfeld::extended(moduli, Lanes::splat(extension_below));
            let element = ElasticTetrahedron { law, friction };
            work(&All { element, blocks });
        }
    }
}

/// Tetrahedra of one elastic law.
pub(super) struct ElasticTetrahedron<'a, Law> {
    pub law: Law,
    pub friction: Option<Friction<'a>>,
}

/// Viscosity over an implicit stage.
#[derive(Clone, Copy)]
pub(super) struct Friction<'a> {
    pub viscosity: Viscosity<Lanes>,
    /// One over the effective step, 1/s.
    pub inverse_step: Lanes,
    /// Where the metric that the stage starts from is found.
    pub reference: Reference<'a>,
}

impl Friction<'_> {
    /// Rate of the metric over the stage, 1/s.
    #[inline(always)]
    fn metric_rate(&self, block: &Block, deformation: &Matrix3<Lanes>) -> Matrix3<Lanes> {
        let metric_at = |positions: &[Vector3<Real>]| {
            let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
            transposed_product(&deformation, &deformation)
        };
        let mut reference = metric_at(self.reference.first);
        if let Some((second, weight)) = self.reference.second {
            reference += (metric_at(second) - reference) * Lanes::splat(weight);
        }
        (transposed_product(deformation, deformation) - reference) * self.inverse_step
    }
}

impl<Law: Elasticity<Lanes> + Sync> Element<4, 10> for ElasticTetrahedron<'_, Law> {
    type Block = Block;

    #[inline(always)]
    fn potential(&self, block: &Block, positions: &[Vector3<Real>]) -> Potential<Lanes> {
        let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
        let power = self.friction.map_or(Lanes::splat(0.0), |friction| {
            friction
                .viscosity
                .power_density_of(&friction.metric_rate(block, &deformation))
        });
        Potential {
            elastic: self.law.energy_density(&deformation) * block.rest_volume,
            dissipated_power: power * block.rest_volume,
            smallest_volume_ratio: determinant(&deformation),
        }
    }

    #[inline(always)]
    fn forces(&self, block: &Block, positions: &[Vector3<Real>]) -> [Vector3<Lanes>; 4] {
        let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
        let mut stress = self.law.stress(&deformation);
        if let Some(friction) = &self.friction {
            let rate = friction.metric_rate(block, &deformation);
            stress += product(&deformation, &friction.viscosity.second_stress(&rate));
        }
        nodal_forces(&stress, &block.rest_inverse, block.rest_volume)
    }

    #[inline(always)]
    fn linearize(
        &self,
        block: &Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) -> [Vector3<Lanes>; 4] {
        let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
        let [_, first, second, third] = shape_gradients(&block.rest_inverse);
        let gradients = [first, second, third];
        let mut stress = self.law.stress(&deformation);
        let mut blocks = self.law.node_stiffness(&deformation, &gradients);
        if let Some(friction) = &self.friction {
            let rate = friction.metric_rate(block, &deformation);
            stress += product(&deformation, &friction.viscosity.second_stress(&rate));
            let viscous = friction.viscosity.node_stiffness(
                &deformation,
                &rate,
                friction.inverse_step,
                &gradients,
            );
            for (block, viscous) in blocks.iter_mut().zip(viscous) {
                *block += viscous;
            }
        }
        for stiffness in &mut blocks {
            *stiffness *= block.rest_volume;
        }
        store_all_pairs(&blocks, store);
        nodal_forces(&stress, &block.rest_inverse, block.rest_volume)
    }

    #[inline(always)]
    fn damp(
        &self,
        block: &Block,
        positions: &[Vector3<Real>],
        store: impl FnMut(usize, &Matrix3<Lanes>),
    ) {
        let mut blocks = [Matrix3::zeros(); 6];
        if let Some(friction) = &self.friction {
            let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
            let [_, first, second, third] = shape_gradients(&block.rest_inverse);
            blocks = friction.viscosity.node_stiffness(
                &deformation,
                &Matrix3::zeros(),
                Lanes::splat(1.0),
                &[first, second, third],
            );
        }
        for damping in &mut blocks {
            *damping *= block.rest_volume;
        }
        store_all_pairs(&blocks, store);
    }
}

/// The blocks of all four corners from those of three: rows and columns add up to nothing.
#[inline(always)]
fn store_all_pairs(blocks: &[Matrix3<Lanes>; 6], mut store: impl FnMut(usize, &Matrix3<Lanes>)) {
    for (pair, block) in (4..).zip(blocks) {
        store(pair, block);
    }
    let [k11, k12, k13, k22, k23, k33] = blocks;
    let k01 = -(k11 + (k12 + k13).transpose());
    let k02 = -(k12 + k22 + k23.transpose());
    let k03 = -(k13 + k23 + k33);
    store(0, &-(k01 + k02 + k03));
    store(1, &k01);
    store(2, &k02);
    store(3, &k03);
}
