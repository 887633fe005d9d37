//! The elastic elements of a body, packed for lanes.

use bevy::prelude::*;
use nalgebra::{Matrix3, Vector3};
use simba::simd::SimdValue;

use super::solid::to_real;
use super::{ElasticModel, PliantMaterial};
use crate::Real;
use crate::kernel::moduli::Moduli;
use crate::kernel::viscosity::Viscosity;
use crate::kernel::{Scalar, Single, real, tetrahedron};

/// The lane type of the run-time scalar: eight `f32` or four `f64`.
pub(crate) type Lanes = <Real as Single>::Lanes;

/// Elements computed side by side.
pub(crate) const LANES: usize = <Lanes as SimdValue>::LANES;

/// Blocks that one task works on: fixed, so that sums come out the same for any number of threads.
pub(crate) const BLOCKS_PER_CHUNK: usize = 512 / LANES;

/// One pack of elements, each number of which is a lane.
///
/// The lanes left over in a body's last block repeat its first element with zero volume, so they exert no force.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Particle indices, by corner and lane.
    pub corners: [[u32; LANES]; 4],
    /// Inverse of the rest edge matrix A [000 §6.2.1], 1/m.
    pub rest_inverse: Matrix3<Lanes>,
    /// Rest volume, m³.
    pub rest_volume: Lanes,
    /// Σ |b_a|² over the gradients of the shape functions, 1/m²: large for small elements and slivers.
    pub fineness: Lanes,
}

/// A vector for each corner of a block's elements (a force, N), by element and corner.
pub(crate) type CornerVectors = [[Vector3<Real>; 4]; LANES];

/// What one chunk of blocks adds to the body's sums, lane by lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkSum {
    /// Dissipated power, W.
    pub power: Lanes,
    /// Smallest volume ratio.
    pub smallest_volume_ratio: Lanes,
    /// Largest product of fineness and stiffening, 1/m²: grows as ω_max² does.
    pub stiffness: Lanes,
}

impl Default for ChunkSum {
    fn default() -> Self {
        Self {
            power: Lanes::splat(0.0),
            smallest_volume_ratio: Lanes::splat(Real::INFINITY),
            stiffness: Lanes::splat(0.0),
        }
    }
}

/// The elastic tetrahedra of a body: corners, rest shape and material of each.
///
/// Bodies whose elements share only an edge (a hinge) or a vertex (a ball joint) are fine: the particles are the
/// only link. Built by [`Solid`](super::Solid); follows changes of the body's [`PliantMaterial`].
#[derive(Component, Clone, Debug)]
pub struct Tetrahedra {
    pub(crate) model: ElasticModel,
    pub(crate) density: Real,
    moduli: Moduli<Real>,
    viscosity: Viscosity<Real>,
    corners: Vec<[u32; 4]>,
    rest_inverses: Vec<Matrix3<Real>>,
    rest_volumes: Vec<Real>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) corner_vectors: Vec<CornerVectors>,
    pub(crate) chunk_sums: Vec<ChunkSum>,
    /// Largest product of fineness and stiffening in the last evaluation of the forces, 1/m².
    pub(crate) stiffness: f64,
    /// Where the entries of each particle start in `incidence`; one more entry than particles.
    pub(crate) incidence_starts: Vec<u32>,
    /// For each particle, its places (element × 4 + corner) in ascending order.
    pub(crate) incidence: Vec<u32>,
}

impl Tetrahedra {
    /// Elements over `rest` positions (m); `corners` must be valid ([`TetrahedralMesh::validate`]).
    ///
    /// [`TetrahedralMesh::validate`]: crate::mesh::TetrahedralMesh::validate
    #[must_use]
    pub fn new(rest: &[Vector3<f64>], corners: &[[u32; 4]], material: &PliantMaterial) -> Self {
        let points = |tet: &[u32; 4]| tet.map(|corner| rest[corner as usize]);
        // The rest shape is inverted in double precision and rounded once.
        let rest_inverses: Vec<Matrix3<Real>> = corners
            .iter()
            .map(|tet| tetrahedron::rest_inverse(&tetrahedron::edge_matrix(&points(tet))).cast())
            .collect();
        let rest_volumes: Vec<Real> = corners
            .iter()
            .map(|tet| {
                to_real(tetrahedron::signed_volume(&tetrahedron::edge_matrix(
                    &points(tet),
                )))
            })
            .collect();
        let (incidence_starts, incidence) = incidence(rest.len(), corners);
        let mut tetrahedra = Self {
            model: material.model,
            density: material.density,
            moduli: material.moduli(),
            viscosity: viscosity(material),
            corners: corners.to_vec(),
            rest_inverses,
            rest_volumes,
            blocks: Vec::new(),
            corner_vectors: Vec::new(),
            chunk_sums: Vec::new(),
            stiffness: 0.0,
            incidence_starts,
            incidence,
        };
        tetrahedra.pack();
        tetrahedra
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether there is no element at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// Particle indices of each element, positively oriented: (x₂−x₁)·((x₃−x₁)×(x₄−x₁)) > 0 at rest.
    #[must_use]
    pub fn corners(&self) -> &[[u32; 4]] {
        &self.corners
    }

    /// Inverse rest edge matrix A⁻¹ of each element [000 §6.2.1], 1/m.
    #[must_use]
    pub fn rest_inverses(&self) -> &[Matrix3<Real>] {
        &self.rest_inverses
    }

    /// Rest volume of each element, m³.
    #[must_use]
    pub fn rest_volumes(&self) -> &[Real] {
        &self.rest_volumes
    }

    /// Lumped masses of `count` particles, kg: a quarter of each incident element's mass.
    #[must_use]
    pub fn lumped_masses(&self, count: usize) -> Vec<Real> {
        let mut masses = vec![0.0_f64; count];
        for (tet, &volume) in self.corners.iter().zip(&self.rest_volumes) {
            let share = 0.25 * f64::from(volume) * f64::from(self.density);
            for &corner in tet {
                masses[corner as usize] += share;
            }
        }
        masses.into_iter().map(to_real).collect()
    }

    /// Bulk and shear modulus, Pa, in every lane.
    pub(crate) fn moduli<T: Scalar>(&self) -> Moduli<T> {
        let Moduli { bulk, shear } = self.moduli;
        Moduli {
            bulk: real(bulk.into()),
            shear: real(shear.into()),
        }
    }

    /// Coefficients η₁ and η₂ of [000 eq. 4.14], Pa·s, in every lane; `None` where there is no friction to compute.
    pub(crate) fn viscosity(&self) -> Option<Viscosity<Lanes>> {
        let Viscosity { volumetric, shear } = self.viscosity;
        (volumetric > 0.0 || shear > 0.0).then(|| Viscosity {
            volumetric: Lanes::splat(volumetric),
            shear: Lanes::splat(shear),
        })
    }

    /// Takes over another material; density included.
    pub(crate) fn set_material(&mut self, material: &PliantMaterial) {
        self.model = material.model;
        self.density = material.density;
        self.moduli = material.moduli();
        self.viscosity = viscosity(material);
    }

    fn pack(&mut self) {
        self.blocks.clear();
        for start in (0..self.len()).step_by(LANES) {
            let element = |lane: usize| {
                if start + lane < self.len() {
                    start + lane
                } else {
                    start
                }
            };
            let mut block = Block {
                corners: [[0; LANES]; 4],
                rest_inverse: Matrix3::zeros(),
                rest_volume: Lanes::splat(0.0),
                fineness: Lanes::splat(0.0),
            };
            for lane in 0..LANES {
                let tet = element(lane);
                for corner in 0..4 {
                    block.corners[corner][lane] = self.corners[tet][corner];
                }
                for entry in 0..9 {
                    block.rest_inverse[entry].replace(lane, self.rest_inverses[tet][entry]);
                }
                let volume = if start + lane < self.len() {
                    self.rest_volumes[tet]
                } else {
                    0.0
                };
                block.rest_volume.replace(lane, volume);
            }
            block.fineness = tetrahedron::shape_gradients(&block.rest_inverse)
                .iter()
                .fold(Lanes::splat(0.0), |sum, gradient| {
                    sum + gradient.norm_squared()
                });
            self.blocks.push(block);
        }
        self.corner_vectors
            .resize(self.blocks.len(), [[Vector3::zeros(); 4]; LANES]);
        self.chunk_sums.resize(
            self.blocks.len().div_ceil(BLOCKS_PER_CHUNK),
            ChunkSum::default(),
        );
    }
}

/// Half of the physical viscosities: [000] writes its coefficients so.
fn viscosity(material: &PliantMaterial) -> Viscosity<Real> {
    Viscosity {
        volumetric: 0.5 * material.bulk_viscosity,
        shear: 0.5 * material.shear_viscosity,
    }
}

/// For each particle, the element corners that meet there.
fn incidence(count: usize, corners: &[[u32; 4]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; count + 1];
    for &corner in corners.iter().flatten() {
        starts[corner as usize + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut places = vec![0; corners.len() * 4];
    for (place, &corner) in (0_u32..).zip(corners.iter().flatten()) {
        let slot = &mut next[corner as usize];
        places[*slot as usize] = place;
        *slot += 1;
    }
    (starts, places)
}
