//! Springs between particles.

use bevy::prelude::*;

use super::packed::{Pack, Packed, lanes, pack};
use super::solid::to_real;
use super::tetrahedra::{LANES, Lanes};
use crate::Real;
use crate::kernel::cloth::spring::{Spring, SpringDamping};
use crate::mesh::{SpringKind, SpringNet};

/// The springs of a body: the threads of a cloth [001 §3.1], or a rope.
///
/// Built by [`Cloth`](super::Cloth) where its model is made of springs, or by hand from a [`SpringNet`]. Stiffness, damping
/// and rest length belong to each spring.
#[derive(Component, Clone, Debug)]
pub struct Springs {
    ends: Vec<[u32; 2]>,
    kinds: Vec<SpringKind>,
    laws: Vec<DampedSpring>,
    pub(crate) blocks: Vec<Packed<2, SpringLanes>>,
}

/// A spring and its damping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DampedSpring {
    pub spring: Spring<Real>,
    pub damping: SpringDamping<Real>,
}

/// Springs side by side.
#[derive(Clone, Debug)]
pub(crate) struct SpringLanes {
    pub spring: Spring<Lanes>,
    pub damping: SpringDamping<Lanes>,
}

impl Pack for DampedSpring {
    type Lanes = SpringLanes;

    fn pack(elements: &[Self; LANES]) -> SpringLanes {
        SpringLanes {
            spring: Spring {
                stiffness: lanes(elements, |element| element.spring.stiffness),
                rest_length: lanes(elements, |element| element.spring.rest_length),
            },
            damping: SpringDamping {
                coefficient: lanes(elements, |element| element.damping.coefficient),
            },
        }
    }

    fn without_force(mut self) -> Self {
        self.spring.stiffness = 0.0;
        self.damping.coefficient = 0.0;
        self
    }
}

impl Springs {
    /// Springs of a net.
    ///
    /// # Arguments
    /// * `stiffness` – k of each spring by its kind, N/m
    /// * `damping_time` – damping over stiffness, s: a spring's rate of stretch is resisted with c = k · `damping_time`
    #[must_use]
    pub fn new(
        net: &SpringNet,
        stiffness: impl Fn(SpringKind) -> Real,
        damping_time: Real,
    ) -> Self {
        let stiffnesses: Vec<Real> = net.kinds.iter().map(|&kind| stiffness(kind)).collect();
        Self::with_stiffnesses(net, &stiffnesses, damping_time)
    }

    /// Springs of a net with the stiffness of each, N/m.
    #[must_use]
    pub fn with_stiffnesses(net: &SpringNet, stiffnesses: &[Real], damping_time: Real) -> Self {
        let laws = net.rest_lengths.iter().zip(stiffnesses);
        let mut springs = Self {
            ends: net.springs.clone(),
            kinds: net.kinds.clone(),
            laws: laws
                .map(|(&rest_length, &stiffness)| DampedSpring {
                    spring: Spring {
                        stiffness,
                        rest_length: to_real(rest_length),
                    },
                    damping: SpringDamping {
                        coefficient: stiffness * damping_time,
                    },
                })
                .collect(),
            blocks: Vec::new(),
        };
        springs.repack();
        springs
    }

    /// Number of springs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The particles at the ends of each spring.
    #[must_use]
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// What each spring is there for.
    #[must_use]
    pub fn kinds(&self) -> &[SpringKind] {
        &self.kinds
    }

    /// Rest length of each spring, m.
    pub fn rest_lengths(&self) -> impl ExactSizeIterator<Item = Real> {
        self.laws.iter().map(|law| law.spring.rest_length)
    }

    /// Stiffness of each spring, N/m.
    pub fn stiffnesses(&self) -> impl ExactSizeIterator<Item = Real> {
        self.laws.iter().map(|law| law.spring.stiffness)
    }

    /// The springs and their damping.
    pub(crate) fn laws(&self) -> &[DampedSpring] {
        &self.laws
    }

    /// Whether any spring is damped.
    pub(crate) fn are_damped(&self) -> bool {
        self.laws.iter().any(|law| law.damping.coefficient > 0.0)
    }

    /// Replaces each spring by those that `parts` gives for its index and ends: their ends, and the part of its stiffness
    /// and damping that each gets.
    pub(crate) fn split(&mut self, mut parts: impl FnMut(usize, [u32; 2]) -> Vec<([u32; 2], f64)>) {
        let (mut ends, mut kinds, mut laws) = (Vec::new(), Vec::new(), Vec::new());
        for spring in 0..self.ends.len() {
            for (part, share) in parts(spring, self.ends[spring]) {
                let mut law = self.laws[spring];
                law.spring.stiffness *= share as Real;
                law.damping.coefficient *= share as Real;
                ends.push(part);
                kinds.push(self.kinds[spring]);
                laws.push(law);
            }
        }
        (self.ends, self.kinds, self.laws) = (ends, kinds, laws);
        self.repack();
    }

    fn repack(&mut self) {
        self.blocks = pack(&self.ends, &self.laws);
    }
}
