//! Cases and sums for the tests of impulses.

use nalgebra::Vector3;

use super::PairContact;
use crate::kernel::proximity::PairKind;
use crate::kernel::testing::Random;

pub(super) const KINDS: [PairKind; 2] = [PairKind::VertexFace, PairKind::EdgeEdge];

pub(super) struct Case {
    pub(super) positions: [Vector3<f64>; 4],
    pub(super) velocities: [Vector3<f64>; 4],
    pub(super) contact: PairContact<f64>,
}

impl Case {
    /// p − q, m.
    pub(super) fn difference(&self) -> Vector3<f64> {
        self.contact.relative_velocity(&self.positions)
    }
}

/// Positions, velocities and masses at random; one vertex in eight is pinned, but never all.
pub(super) fn drawn(random: &mut Random) -> Case {
    loop {
        let kind = KINDS[usize::from(random.uniform() > 0.0)];
        let mut positions: [Vector3<f64>; 4] = [0; 4].map(|_| random.vector(1.0));
        if random.uniform() > 0.0 {
            positions[0] = (positions[1] + positions[2] + positions[3]) / 3.0 + random.vector(0.1);
        }
        let inverse_masses = [0; 4].map(|_| {
            if random.uniform() > 0.75 {
                0.0
            } else {
                10f64.powf(random.between(-1.0, 1.0))
            }
        });
        let closest = kind.closest_points(&positions);
        let contact = PairContact::new(&closest, inverse_masses);
        if contact.inverse_mass() > 1e-3 && closest.distance() > 1e-6 {
            return Case {
                positions,
                velocities: [0; 4].map(|_| random.vector(3.0)),
                contact,
            };
        }
    }
}

fn mass(inverse_mass: f64) -> f64 {
    if inverse_mass > 0.0 {
        1.0 / inverse_mass
    } else {
        0.0
    }
}

pub(super) fn momentum(case: &Case, velocities: &[Vector3<f64>; 4]) -> Vector3<f64> {
    (0..4)
        .map(|i| velocities[i] * mass(case.contact.inverse_masses[i]))
        .sum()
}

pub(super) fn angular_momentum(case: &Case, velocities: &[Vector3<f64>; 4]) -> Vector3<f64> {
    (0..4)
        .map(|i| case.positions[i].cross(&velocities[i]) * mass(case.contact.inverse_masses[i]))
        .sum()
}

/// Kinetic energy of the free vertices; pinned ones do not change theirs.
pub(super) fn kinetic_energy(case: &Case, velocities: &[Vector3<f64>; 4]) -> f64 {
    (0..4)
        .map(|i| 0.5 * velocities[i].norm_squared() * mass(case.contact.inverse_masses[i]))
        .sum()
}

/// Stops the pinned vertices: only then is the energy of the free ones all there is.
pub(super) fn hold_pins(case: &mut Case) {
    for vertex in 0..4 {
        if case.contact.inverse_masses[vertex] == 0.0 {
            case.velocities[vertex] = Vector3::zeros();
        }
    }
}
