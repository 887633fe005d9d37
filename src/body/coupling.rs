//! A force that turns strain in the plane of a sheet into folds out of it.

use bevy::prelude::*;
use nalgebra::Vector3;

use crate::Real;

/// Pushes a strained sheet out of its plane, so that one that is exactly flat folds [001 §7.2].
///
/// ```text
/// F = ±λ max(l − 1.05 l₀, 0.95 l₀ − l, 0) N        at an edge of length l, rest length l₀
/// ```
/// An edge that is stretched or shortened beyond the critical lengths is pushed to a side that is drawn anew after each
/// interval, from the seed: the same seed gives the same folds. The alternative, and the default of
/// [`Cloth`](super::Cloth), are the small rest angles of [`Wrinkles`](super::Wrinkles), which do no work; this force does.
/// What it gives a sheet is taken from [`Energies::dissipated`](super::Energies::dissipated), so that the total stays
/// level: the mean of the forces before and after along the way between, which is of second order in the step but for the
/// moments when sides change. It needs edges that may be shortened: a [`StrainLimit`](super::StrainLimit) without
/// compression leaves it nothing to act on but stretch.
///
/// It runs with the forces, between the resistance of the air and those of users; the implicit integrator takes it as
/// given over a step.
///
/// A stiffness that is not finite, or negative, is reported once and has no effect.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
#[require(CoupledEdges)]
pub struct WrinkleCoupling {
    /// λ, N/m, not negative; 0.05 to 0.2 of the stiffness of a spring along an edge.
    pub stiffness: Real,
    /// Length over rest length above which the force acts. Default 1.05.
    pub stretched: Real,
    /// Length over rest length below which it acts. Default 0.95.
    pub compressed: Real,
    /// How long a side lasts, s; without a positive one it is drawn once. Default 0.1. The source draws at each evaluation,
    /// which makes the push weaker the shorter the step is.
    pub interval: f64,
    /// Which of the many sequences of sides. Default 0.
    pub seed: u64,
    /// Where the force acts. Default along hinges.
    pub direction: CouplingDirection,
}

/// Where the force of [`WrinkleCoupling`] acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub enum CouplingDirection {
    /// On the four corners of the two triangles at an edge, along their mode of bending: no net force and no torque. Edges
    /// on the border have none.
    #[default]
    Hinges,
    /// On the ends of every edge along the normals there, as in the source; gives the sheet momentum out of nothing.
    Normals,
}

impl WrinkleCoupling {
    /// The force of the given stiffness λ, N/m, with the critical lengths of the source.
    #[must_use]
    pub fn new(stiffness: Real) -> Self {
        Self {
            stiffness,
            stretched: 1.05,
            compressed: 0.95,
            interval: 0.1,
            seed: 0,
            direction: CouplingDirection::Hinges,
        }
    }

    /// With another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether all numbers make sense.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.stiffness >= 0.0
            && self.stiffness.is_finite()
            && self.stretched >= 1.0
            && self.compressed <= 1.0
            && self.interval.is_finite()
    }
}

/// The edges of a surface.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct CoupledEdges {
    /// The topology that the list belongs to.
    pub version: Option<u32>,
    /// Edges, ascending by their ends.
    pub edges: Vec<CoupledEdge>,
    /// Whether nonsense has been reported.
    pub is_reported: bool,
    /// Positions, m, and forces of the coupling, N, when it acted last.
    pub positions: Vec<Vector3<Real>>,
    pub forces: Vec<Vector3<Real>>,
    /// Work of the forces that is not in the account yet, J.
    pub work: f64,
}

/// An edge of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoupledEdge {
    /// Its ends, in the order of the first triangle.
    pub ends: [u32; 2],
    /// The corners opposite of it, of the first triangle and of the second, if there are two.
    pub opposite: Option<[u32; 2]>,
    /// Its length at rest, m.
    pub rest_length: Real,
}
