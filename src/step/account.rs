//! The account of each body: energies, momenta, and the frame that follows it.
//!
//! Sums run in double precision and index order whatever the run-time scalar is: near rest the elastic energy is a
//! small difference of large numbers, and the account must be better than the run that it judges.

use bevy::ecs::query::QueryFilter;
use bevy::prelude::*;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use simba::simd::{SimdValue, WideF64x4};

use super::cloth::Sheets;
use super::{Integrator, MassMatrix, PliantGravity};
use crate::body::solid::to_f64;
use crate::body::{BodyFrame, ElasticModel, Particles, PliantState, Quarantined, Tetrahedra};
use crate::kernel::elasticity::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use crate::kernel::energy;
use crate::kernel::mass::{self, consistent_kinetic_energy};
use crate::kernel::matrix::product;
use crate::kernel::rigid_motion::{best_rotation, moment_matrix};

const LANES: usize = WideF64x4::LANES;

type Accounted = (
    &'static Particles,
    Option<&'static Tetrahedra>,
    Sheets,
    &'static mut PliantState,
    &'static mut BodyFrame,
    &'static mut Transform,
    Has<ChildOf>,
);

/// Fills [`PliantState`] and moves the body's transform, for the bodies that pass the filter.
pub(super) fn account<Filter: QueryFilter>(
    integrator: Res<Integrator>,
    gravity: Res<PliantGravity>,
    mut bodies: Query<Accounted, (Without<Quarantined>, Filter)>,
) {
    let gravity = to_f64(gravity.0);
    let mass_matrix = integrator.mass_matrix();
    bodies.par_iter_mut().for_each(
        |(particles, tetrahedra, sheets, mut state, mut frame, mut transform, has_parent)| {
            if particles.is_empty() {
                return;
            }
            move_frame(particles, &mut state, &mut frame);
            let consistent = tetrahedra.filter(|_| mass_matrix == MassMatrix::Consistent);
            if let Some(tetrahedra) = consistent {
                state.angular_momentum =
                    consistent_angular_momentum(particles, tetrahedra, &state.center);
            }
            if tetrahedra.is_none() {
                state.smallest_volume_ratio = 1.0;
            }
            let energies = &mut state.energies;
            energies.kinetic = match consistent {
                Some(tetrahedra) => consistent_kinetic(particles, tetrahedra),
                None => energy::kinetic_energy(&particles.masses, &particles.velocities),
            };
            energies.elastic = tetrahedra
                .map_or(0.0, |tetrahedra| elastic_energy(particles, tetrahedra))
                + sheets.elastic_energy(particles);
            energies.gravitational =
                energy::gravitational_energy(&particles.masses, &particles.positions, &gravity);
            // The transform of a child is relative to its parent, which only the frame to be drawn knows.
            if !has_parent {
                let placed = frame_transform(&frame.center, &frame.rotation);
                transform.set_if_neq(placed);
                frame.written = Some(placed);
            }
        },
    );
}

/// A frame as a Bevy transform.
pub(crate) fn frame_transform(center: &Vector3<f64>, rotation: &UnitQuaternion<f64>) -> Transform {
    let [x, y, z, w] = rotation.coords.cast::<f32>().into();
    Transform {
        translation: Vec3::new(center.x as f32, center.y as f32, center.z as f32),
        rotation: Quat::from_xyzw(x, y, z, w).normalize(),
        scale: Vec3::ONE,
    }
}

fn move_frame(particles: &Particles, state: &mut PliantState, frame: &mut BodyFrame) {
    let Particles {
        positions,
        velocities,
        velocity_remainders,
        masses,
        ..
    } = particles;
    let center = energy::center_of_mass(masses, positions);
    state.center = center;
    // Momenta are linear in the velocities, so what rounding dropped from them is added as a second term.
    state.momentum =
        energy::momentum(masses, velocities) + energy::momentum(masses, velocity_remainders);
    state.angular_momentum = energy::angular_momentum(masses, positions, velocities, &center)
        + energy::angular_momentum(masses, positions, velocity_remainders, &center);
    frame.center = center;
    if frame.rest_offsets.len() == particles.len() {
        let moment = moment_matrix(
            masses,
            positions,
            &frame.rest_offsets,
            &center,
            &Vector3::zeros(),
        );
        frame.rotation = best_rotation(&moment, &frame.rotation);
    }
}

fn consistent_angular_momentum(
    particles: &Particles,
    tetrahedra: &Tetrahedra,
    center: &Vector3<f64>,
) -> Vector3<f64> {
    let density = f64::from(tetrahedra.density);
    let position = |corner: u32| particles.positions[corner as usize].cast::<f64>() - center;
    let velocity = |corner: u32| {
        particles.velocities[corner as usize].cast::<f64>()
            + particles.velocity_remainders[corner as usize].cast::<f64>()
    };
    let elements = tetrahedra.corners().iter().zip(tetrahedra.rest_volumes());
    elements.fold(Vector3::zeros(), |sum, (tet, &volume)| {
        let mass = density * f64::from(volume);
        sum + mass::consistent_angular_momentum(mass, &tet.map(position), &tet.map(velocity))
    })
}

fn consistent_kinetic(particles: &Particles, tetrahedra: &Tetrahedra) -> f64 {
    let density = f64::from(tetrahedra.density);
    let elements = tetrahedra.corners().iter().zip(tetrahedra.rest_volumes());
    elements
        .map(|(tet, &volume)| {
            let velocities = tet.map(|corner| particles.velocities[corner as usize].cast::<f64>());
            consistent_kinetic_energy(density * f64::from(volume), &velocities)
        })
        .sum()
}

/// Elastic energy of all elements, J.
pub(crate) fn elastic_energy(particles: &Particles, tetrahedra: &Tetrahedra) -> f64 {
    let moduli = tetrahedra.moduli();
    match tetrahedra.model {
        ElasticModel::StableNeoHookean => {
            sum_energy(particles, tetrahedra, StableNeoHookean::from_moduli(moduli))
        }
        ElasticModel::Corotational => {
            sum_energy(particles, tetrahedra, Corotational::from_moduli(moduli))
        }
        ElasticModel::Liesenfeld { extension_below } => {
            let law = Liesenfeld::extended(moduli, WideF64x4::splat(extension_below.into()));
            sum_energy(particles, tetrahedra, law)
        }
    }
}

fn sum_energy<E: Elasticity<WideF64x4>>(
    particles: &Particles,
    tetrahedra: &Tetrahedra,
    law: E,
) -> f64 {
    let position = |corner: u32| {
        let i = corner as usize;
        particles.positions[i].cast::<f64>() + particles.position_remainders[i].cast::<f64>()
    };
    let mut sum = 0.0;
    for (chunk, corners) in tetrahedra.corners().chunks(LANES).enumerate() {
        // By column, row and lane: lanes are slow to fill one by one.
        let (mut edges, mut inverse) = ([[[0.0; LANES]; 3]; 3], [[[0.0; LANES]; 3]; 3]);
        for (lane, tet) in corners.iter().enumerate() {
            let origin = position(tet[0]);
            let rest_inverse = &tetrahedra.rest_inverses()[chunk * LANES + lane];
            for column in 0..3 {
                let edge = position(tet[column + 1]) - origin;
                for row in 0..3 {
                    edges[column][row][lane] = edge[row];
                    inverse[column][row][lane] = rest_inverse[(row, column)].into();
                }
            }
        }
        let density = law.energy_density(&product(&pack(&edges), &pack(&inverse)));
        let volumes = &tetrahedra.rest_volumes()[chunk * LANES..];
        for (density, &volume) in <[f64; LANES]>::from(density)
            .iter()
            .zip(&volumes[..corners.len()])
        {
            sum += density * f64::from(volume);
        }
    }
    sum
}

/// Numbers by column, row and lane as a matrix.
#[inline(always)]
fn pack(numbers: &[[[f64; LANES]; 3]; 3]) -> Matrix3<WideF64x4> {
    Matrix3::from_fn(|row, column| numbers[column][row].into())
}
