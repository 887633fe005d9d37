//! How contact between deformable bodies is answered, and how pairs are found: what a user chooses.

use bevy::prelude::*;

use crate::step::Integrator;

/// What happens where deformable bodies touch each other or themselves; one for the world, since contact couples the bodies.
///
/// Whatever the response, a filter comes last that lets no surface through another, and certifies it pair by pair:
/// [`ContactReport`](crate::body::ContactReport). What the response does not settle is left to it.
///
/// | response | integrators | momentum | where many pairs meet |
/// |---|---|---|---|
/// | [`Potential`](Self::Potential) | implicit | kept | one system of equations |
/// | [`Bridson`](Self::Bridson) | all | kept | zones: projected, then rigid |
/// | [`Provot`](Self::Provot) | all | kept along the normals | rigid zones that turn too slowly |
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # let mut app = App::new();
/// app.insert_resource(Integrator::SYMPLECTIC_EULER).insert_resource(ContactResponse::Bridson);
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource)]
pub enum ContactResponse {
    /// Repulsion and lagged Coulomb friction as part of the potential that the implicit integrator minimizes: the default.
    /// Explicit integrators have no such potential; with them this is [`Bridson`](Self::Bridson).
    #[default]
    Potential,
    /// Impulses on the mean velocities of the step `[Bridson 2002]`: repulsion and friction of what is nearer than the
    /// contact distance at the start, inelastic impulses where paths cross, then zones in which all contacts stop approaching
    /// at once `[Harmon 2008]`, and zones that move as rigid bodies for what is left.
    ///
    /// **Limits**, all of them of impulses after the step, which the integrator does not know of; they fall with the step h:
    /// * With the implicit integrator a body that rests sinks in by about a further `(m/m_c) g h²`, with m its mass and `m_c`
    ///   that of its vertices in contact: in each step the impulses hold the whole weight by these vertices alone, and the
    ///   solve must have pushed them on by `m/m_c g h` first. A block of some cells wants four substeps or more in 1/60 s.
    /// * A layer between another one and a rigid collider is pushed into the collider, which stops it again. The layer on it
    ///   is held up where `d = 20 g h τ` at the latest, with d the overlap and τ the longer of h and 10 ms: where that is
    ///   more than the contact distance, by the filter alone.
    Bridson,
    /// Velocities of colliding pairs by the law of `[Provot 1997]`, without repulsion: each vertex by itself, friction in
    /// proportion to the speed of the impact, no rebound; zones turn with Provot's angular velocity, which is too slow but for
    /// flat ones. Named for comparison: resting cloth sticks, and momentum across the normals is not kept.
    Provot,
}

impl ContactResponse {
    /// The response that is in effect with an integrator.
    #[must_use]
    pub fn with(self, integrator: &Integrator) -> Self {
        match (self, integrator) {
            (Self::Potential, Integrator::Implicit { .. }) => Self::Potential,
            (Self::Potential | Self::Bridson, _) => Self::Bridson,
            (other, _) => other,
        }
    }
}

/// How pairs of triangles that come near each other are found. The pairs are the same, and so is all that follows.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource)]
pub enum BroadPhase {
    /// A tree of moving boxes for each body, refitted in each step: the default.
    #[default]
    Tree,
    /// Sweep and prune over the boxes around the ways of all triangles, kept sorted from step to step `[000 §7.1]`. Its boxes
    /// hold the whole way, so that it finds more pairs of triangles, which then drop out; for comparison.
    SweepAndPrune,
}
