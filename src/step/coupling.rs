//! Coupling of strain in the plane of a sheet with motion out of it.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::PliantClock;
use super::prepare::describe;
use crate::Real;
use crate::body::coupling::{CoupledEdge, CoupledEdges};
use crate::body::{
    BodyFrame, CouplingDirection, Particles, PliantState, Quarantined, Surface, WrinkleCoupling,
};
use crate::kernel::cloth::hinge::HingeGeometry;
use crate::kernel::cloth::wrinkles::{
    CouplingForce, coupling_along_hinge, coupling_along_normals, coupling_sign,
};

type Listed = (
    Entity,
    Option<&'static Name>,
    &'static WrinkleCoupling,
    &'static mut CoupledEdges,
    &'static Particles,
    &'static PliantState,
    &'static BodyFrame,
    Option<&'static Surface>,
);

/// Lists the edges of surfaces that have changed, and says what makes no sense.
pub(super) fn prepare(mut bodies: Query<Listed>) {
    for (entity, name, coupling, mut edges, particles, state, frame, surface) in &mut bodies {
        if edges.version != Some(state.topology_version) {
            edges.version = Some(state.topology_version);
            let triangles = surface.map_or(&[][..], |surface| &surface.triangles);
            edges.edges = list(triangles, &frame.rest_offsets);
        }
        // Users may have moved the body between the ticks, which is no work.
        edges.positions.clone_from(&particles.positions);
        if !coupling.is_valid() && !edges.is_reported {
            edges.is_reported = true;
            error!(
                "{}: {coupling:?} has no effect; write a finite stiffness that is not negative, `stretched` of 1 or \
                 more and `compressed` of 1 or less",
                describe(entity, name)
            );
        }
    }
}

/// The edges of triangles, ascending by their ends.
fn list(triangles: &[[u32; 3]], rest: &[Vector3<Real>]) -> Vec<CoupledEdge> {
    let sides = |&[a, b, c]: &[u32; 3]| [([a, b], c), ([b, c], a), ([c, a], b)];
    let exists = |&&[a, b, c]: &&[u32; 3]| rest.len() > a.max(b).max(c) as usize;
    let mut all: Vec<([u32; 2], [u32; 2], u32)> = (triangles.iter().filter(exists))
        .flat_map(sides)
        .map(|(ends, opposite)| {
            let [a, b] = ends;
            ([a.min(b), a.max(b)], ends, opposite)
        })
        .collect();
    // Stable, so that the first triangle stays the first.
    all.sort_by_key(|&(key, ..)| key);
    all.chunk_by(|left, right| left.0 == right.0)
        .map(|sides| {
            let [a, b] = sides[0].1.map(|end| &rest[end as usize]);
            CoupledEdge {
                ends: sides[0].1,
                opposite: match sides {
                    [first, second] => Some([first.2, second.2]),
                    _ => None,
                },
                rest_length: (a - b).norm(),
            }
        })
        .collect()
}

type Coupled = (
    &'static mut Particles,
    &'static WrinkleCoupling,
    &'static mut CoupledEdges,
    Option<&'static Surface>,
);

/// Adds the forces.
pub(super) fn coupling_forces(
    clock: Res<PliantClock>,
    mut bodies: Query<Coupled, Without<Quarantined>>,
    mut normals: Local<Vec<Vector3<Real>>>,
    mut forces: Local<Vec<Vector3<Real>>>,
) {
    for (mut particles, coupling, mut edges, surface) in &mut bodies {
        if !coupling.is_valid() {
            continue;
        }
        let law = CouplingForce {
            stiffness: coupling.stiffness,
            stretched: coupling.stretched,
            compressed: coupling.compressed,
        };
        let particles = &mut *particles;
        if coupling.direction == CouplingDirection::Normals {
            vertex_normals(&particles.positions, surface, &mut normals);
        }
        let positions = &particles.positions;
        forces.clear();
        forces.resize(positions.len(), Vector3::zeros());
        for (number, edge) in (0_u64..).zip(&edges.edges) {
            let ends = edge.ends.map(|end| end as usize);
            let length = (positions[ends[1]] - positions[ends[0]]).norm();
            let magnitude = law.magnitude(length, edge.rest_length);
            if magnitude == 0.0 {
                continue;
            }
            let sign = coupling_sign(coupling.seed, number, clock.time, coupling.interval);
            let magnitude = magnitude * sign as Real;
            match (coupling.direction, edge.opposite) {
                (CouplingDirection::Hinges, Some([first, second])) => {
                    let corners = [first as usize, second as usize, ends[0], ends[1]];
                    let modes = HingeGeometry::new(&corners.map(|i| positions[i])).modes;
                    for (i, force) in corners
                        .into_iter()
                        .zip(coupling_along_hinge(magnitude, &modes))
                    {
                        forces[i] += force;
                    }
                }
                (CouplingDirection::Hinges, None) => {}
                (CouplingDirection::Normals, _) => {
                    let along = coupling_along_normals(magnitude, &ends.map(|i| normals[i]));
                    for (i, force) in ends.into_iter().zip(along) {
                        forces[i] += force;
                    }
                }
            }
        }
        edges.act(positions, &mut forces);
        for (sum, force) in particles.forces.iter_mut().zip(&edges.forces) {
            *sum += force;
        }
    }
}

impl CoupledEdges {
    /// Takes over the forces at new positions, and the work along the way there.
    fn act(&mut self, positions: &[Vector3<Real>], forces: &mut Vec<Vector3<Real>>) {
        if self.positions.len() == positions.len() && self.forces.len() == positions.len() {
            for i in 0..positions.len() {
                let way = (positions[i] - self.positions[i]).cast::<f64>();
                let force = (self.forces[i] + forces[i]).cast::<f64>();
                self.work += 0.5 * force.dot(&way);
            }
        }
        self.positions.clear();
        self.positions.extend_from_slice(positions);
        std::mem::swap(&mut self.forces, forces);
    }
}

/// Takes what the forces have done in a tick from what is dissipated.
pub(super) fn book(mut bodies: Query<(&mut PliantState, &mut CoupledEdges)>) {
    for (mut state, mut edges) in &mut bodies {
        state.energies.dissipated -= std::mem::take(&mut edges.work);
    }
}

/// Unit normals at the particles, weighted by area; zero beside the surface.
fn vertex_normals(
    positions: &[Vector3<Real>],
    surface: Option<&Surface>,
    normals: &mut Vec<Vector3<Real>>,
) {
    normals.clear();
    normals.resize(positions.len(), Vector3::zeros());
    for triangle in surface.iter().flat_map(|surface| &surface.triangles) {
        let [a, b, c] = triangle.map(|corner| corner as usize);
        let normal = (positions[b] - positions[a]).cross(&(positions[c] - positions[a]));
        for corner in [a, b, c] {
            normals[corner] += normal;
        }
    }
    for normal in normals {
        *normal = normal.try_normalize(0.0).unwrap_or_else(Vector3::zeros);
    }
}
