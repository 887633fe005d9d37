//! Elastic and viscous forces of the elements.

use bevy::prelude::*;
use nalgebra::Matrix3;
use simba::simd::{SimdPartialOrd, SimdValue};

use super::elements::{add_corner_vectors, edges, sum_of_lanes};
use super::threads::{Threads, for_each_body};
use crate::body::tetrahedra::{Block, ChunkSum, Lanes};
use crate::body::{ElasticModel, Particles, PliantState, Quarantined, Tetrahedra};
use crate::kernel::elasticity::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use crate::kernel::matrix::{determinant, double_contraction};
use crate::kernel::tetrahedron::{deformation_gradient, nodal_forces};

type Elastic = (
    &'static mut Particles,
    &'static mut Tetrahedra,
    &'static mut PliantState,
);

pub(super) fn elastic_forces(mut bodies: Query<Elastic, Without<Quarantined>>) {
    // Large bodies are shared between threads element by element, the others body by body.
    let (large, small): (Vec<_>, Vec<_>) = bodies
        .iter_mut()
        .partition(|(_, tetrahedra, _)| Threads::are_worth(tetrahedra.len()));
    for (mut particles, mut tetrahedra, mut state) in large {
        add_forces(&mut particles, &mut tetrahedra, &mut state);
    }
    for_each_body(
        small,
        |(_, tetrahedra, _)| tetrahedra.len(),
        |(particles, tetrahedra, state)| add_forces(particles, tetrahedra, state),
    );
}

fn add_forces(particles: &mut Particles, tetrahedra: &mut Tetrahedra, state: &mut PliantState) {
    let moduli = tetrahedra.moduli();
    match tetrahedra.model {
        ElasticModel::StableNeoHookean => {
            add_stress(particles, tetrahedra, StableNeoHookean::from_moduli(moduli));
        }
        ElasticModel::Corotational => {
            add_stress(particles, tetrahedra, Corotational::from_moduli(moduli));
        }
        ElasticModel::Liesenfeld { extension_below } => {
            let law = Liesenfeld::extended(moduli, Lanes::splat(extension_below));
            add_stress(particles, tetrahedra, law);
        }
    }
    let sums = &tetrahedra.chunk_sums;
    state.energies.dissipated_power += sums.iter().map(|sum| sum_of_lanes(sum.power)).sum::<f64>();
    state.smallest_volume_ratio = sums
        .iter()
        .map(|sum| f64::from(sum.smallest_volume_ratio.simd_horizontal_min()))
        .fold(f64::INFINITY, f64::min);
    tetrahedra.stiffness = sums
        .iter()
        .map(|sum| f64::from(sum.stiffness.simd_horizontal_max()))
        .fold(0.0, f64::max);
}

/// Keeps the extremes of an evaluation.
#[inline(always)]
fn watch<E: Elasticity<Lanes>>(
    sum: &mut ChunkSum,
    block: &Block,
    law: &E,
    deformation: &Matrix3<Lanes>,
) {
    let ratio = determinant(deformation);
    sum.smallest_volume_ratio = sum.smallest_volume_ratio.simd_min(ratio);
    let stiffness = block.fineness * law.stiffening(deformation);
    sum.stiffness = sum.stiffness.simd_max(stiffness);
}

/// Adds the forces of a body's elements to its particles.
fn add_stress<E: Elasticity<Lanes> + Sync>(
    particles: &mut Particles,
    tetrahedra: &mut Tetrahedra,
    law: E,
) {
    let Particles {
        positions,
        velocities,
        forces,
        ..
    } = particles;
    let Some(viscosity) = tetrahedra.viscosity() else {
        add_corner_vectors(tetrahedra, forces, |block, sum| {
            let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
            watch(sum, block, &law, &deformation);
            nodal_forces(
                &law.stress(&deformation),
                &block.rest_inverse,
                block.rest_volume,
            )
        });
        return;
    };
    add_corner_vectors(tetrahedra, forces, |block, sum| {
        let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
        let rate = deformation_gradient(&edges(block, velocities), &block.rest_inverse);
        let friction = viscosity.stress(&deformation, &rate);
        sum.power += block.rest_volume * double_contraction(&friction, &rate);
        watch(sum, block, &law, &deformation);
        nodal_forces(
            &(law.stress(&deformation) + friction),
            &block.rest_inverse,
            block.rest_volume,
        )
    });
}
