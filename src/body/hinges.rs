//! Hinges: what a cloth resists bending with.

use bevy::prelude::*;

use super::packed::{Pack, Packed, lanes, pack};
use super::solid::to_real;
use super::tetrahedra::{LANES, Lanes};
use crate::Real;
use crate::kernel::cloth::half_angle::HalfAngle;
use crate::kernel::cloth::hinge::{Hinge, HingeDamping, HingeGeometry, rest_weight};
use crate::mesh::TriangleMesh;

/// The bending elements of a cloth [001 eq. 4.1]: two triangles with a common edge, a rest angle, stiffness and damping.
///
/// Built by [`Cloth`](super::Cloth), with the angles of the mesh as rest angles: a folded mesh stays folded.
#[derive(Component, Clone, Debug)]
pub struct Hinges {
    corners: Vec<[u32; 4]>,
    /// |E|²/(|N₁| + |N₂|) and |E|, m, of each hinge at rest.
    shapes: Vec<[Real; 2]>,
    laws: Vec<DampedHinge>,
    pub(crate) blocks: Vec<Packed<4, HingeLanes>>,
}

/// A hinge and its damping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DampedHinge {
    pub hinge: Hinge<Real>,
    pub damping: HingeDamping<Real>,
}

/// Hinges side by side.
#[derive(Clone, Debug)]
pub(crate) struct HingeLanes {
    pub hinge: Hinge<Lanes>,
    pub damping: HingeDamping<Lanes>,
}

impl Pack for DampedHinge {
    type Lanes = HingeLanes;

    fn pack(elements: &[Self; LANES]) -> HingeLanes {
        HingeLanes {
            hinge: Hinge {
                stiffness: lanes(elements, |element| element.hinge.stiffness),
                rest: HalfAngle {
                    sine: lanes(elements, |element| element.hinge.rest.sine),
                    cosine: lanes(elements, |element| element.hinge.rest.cosine),
                },
            },
            damping: HingeDamping {
                coefficient: lanes(elements, |element| element.damping.coefficient),
            },
        }
    }

    fn without_force(mut self) -> Self {
        self.hinge.stiffness = 0.0;
        self.damping.coefficient = 0.0;
        self
    }
}

impl Hinges {
    /// Hinges over the given corners of a mesh at rest, in the order of [`TriangleTopology::hinges`].
    ///
    /// # Arguments
    /// * `stiffness` – K^e, N·m: 4 times the bending stiffness of the sheet
    ///   ([`bending_stiffness_to_hinge`](crate::kernel::cloth::hinge::bending_stiffness_to_hinge))
    /// * `damping_time` – damping over stiffness of small angles, s
    ///
    /// [`TriangleTopology::hinges`]: crate::mesh::TriangleTopology::hinges
    #[must_use]
    pub fn new(
        mesh: &TriangleMesh,
        corners: &[[u32; 4]],
        stiffness: Real,
        damping_time: Real,
    ) -> Self {
        let points = |hinge: &[u32; 4]| hinge.map(|corner| mesh.positions[corner as usize]);
        let shapes = |hinge| {
            let points = points(hinge);
            [rest_weight(&points), (points[3] - points[2]).norm()].map(to_real)
        };
        let mut hinges = Self {
            corners: corners.to_vec(),
            shapes: corners.iter().map(shapes).collect(),
            laws: corners
                .iter()
                .map(|hinge| {
                    let rest = HingeGeometry::new(&points(hinge)).fold;
                    DampedHinge {
                        hinge: Hinge {
                            stiffness: 0.0,
                            rest: HalfAngle {
                                sine: to_real(rest.sine),
                                cosine: to_real(rest.cosine),
                            },
                        },
                        damping: HingeDamping { coefficient: 0.0 },
                    }
                })
                .collect(),
            blocks: Vec::new(),
        };
        hinges.set_stiffness(stiffness, damping_time);
        hinges
    }

    /// Sets stiffness K^e, N·m, and damping time, s, of all hinges ([`new`](Self::new)).
    pub fn set_stiffness(&mut self, stiffness: Real, damping_time: Real) {
        for (law, &[weight, _]) in self.laws.iter_mut().zip(&self.shapes) {
            law.hinge.stiffness = stiffness * weight;
            // At small angles the second derivative of the energy is half the stiffness.
            law.damping.coefficient = 0.5 * damping_time * stiffness * weight;
        }
        self.repack();
    }

    /// Sets the seed's damping coefficient k_d, N·s, of all hinges [001 eq. 4.3]; stiffness stays.
    pub fn set_damping_coefficient(&mut self, coefficient: Real) {
        for (law, &[_, length]) in self.laws.iter_mut().zip(&self.shapes) {
            law.damping.coefficient = coefficient * length;
        }
        self.repack();
    }

    /// Rest angle of each hinge, rad, 0 for flat, positive where the front side is convex.
    pub fn rest_angles(&self) -> impl ExactSizeIterator<Item = Real> {
        self.laws.iter().map(|law| law.hinge.rest.angle())
    }

    /// Sets the rest angles, rad; hinges beyond the end of `angles` keep theirs.
    pub fn set_rest_angles(&mut self, angles: &[Real]) {
        for (law, &angle) in self.laws.iter_mut().zip(angles) {
            law.hinge.rest = HalfAngle::new(angle);
        }
        self.repack();
    }

    /// Number of hinges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// Particles of each hinge: the two that do not lie on the common edge, then the two on it.
    #[must_use]
    pub fn corners(&self) -> &[[u32; 4]] {
        &self.corners
    }

    /// The hinges and their damping.
    pub(crate) fn laws(&self) -> &[DampedHinge] {
        &self.laws
    }

    /// Whether any hinge is damped.
    pub(crate) fn are_damped(&self) -> bool {
        self.laws.iter().any(|law| law.damping.coefficient > 0.0)
    }

    /// Keeps the hinges for which `corners` gives some, with these.
    pub(crate) fn retain(&mut self, mut corners: impl FnMut(&[u32; 4]) -> Option<[u32; 4]>) {
        let mut kept = 0;
        for hinge in 0..self.corners.len() {
            if let Some(corners) = corners(&self.corners[hinge]) {
                self.corners[kept] = corners;
                self.shapes[kept] = self.shapes[hinge];
                self.laws[kept] = self.laws[hinge];
                kept += 1;
            }
        }
        self.corners.truncate(kept);
        self.shapes.truncate(kept);
        self.laws.truncate(kept);
        self.repack();
    }

    fn repack(&mut self) {
        self.blocks = pack(&self.corners, &self.laws);
    }
}
