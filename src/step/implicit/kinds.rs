//! Which elements a body has: the one list of the kinds of elements that the implicit solver knows.

use bevy::ecs::change_detection::Tick;
use bevy::ecs::query::QueryData;
use bevy::prelude::{DetectChanges, Ref};

use super::elements::Kind;
use super::solver::Stage;
use super::{hinge, membrane, spring, tetrahedron};
use crate::body::tetrahedra::LANES;
use crate::body::{Hinges, Membranes, Pressure, Springs, Surface, Tetrahedra};
use crate::step::pressure::Inflation;

/// The elements of a body, by kind.
#[derive(QueryData)]
#[query_data(derive(Clone, Copy))]
pub(in crate::step) struct BodyElements {
    tetrahedra: Option<Ref<'static, Tetrahedra>>,
    membranes: Option<Ref<'static, Membranes>>,
    hinges: Option<Ref<'static, Hinges>>,
    springs: Option<Ref<'static, Springs>>,
    pressure: Option<Ref<'static, Pressure>>,
    surface: Option<&'static Surface>,
}

/// When each kind of element has last been written to.
pub(super) type Versions = [Option<Tick>; 5];

/// The corners of all elements of one kind.
pub(in crate::step) struct Corners<'a> {
    /// Particles, by element and corner.
    pub particles: &'a [u32],
    /// Corners per element.
    pub nodes: usize,
}

impl Corners<'_> {
    /// Number of elements, with those that fill the last block.
    pub fn padded_len(&self) -> usize {
        (self.particles.len() / self.nodes).next_multiple_of(LANES)
    }

    /// Pairs of corners per element.
    pub fn pairs(&self) -> usize {
        self.nodes * (self.nodes + 1) / 2
    }
}

/// The corners of the triangles that a filling presses on.
fn corners_of<'a>(inflation: &Inflation<'a>) -> Corners<'a> {
    Corners {
        particles: inflation.triangles().as_flattened(),
        nodes: 3,
    }
}

impl BodyElementsItem<'_, '_> {
    fn tetrahedra(&self) -> Option<&Tetrahedra> {
        self.tetrahedra.map(Ref::into_inner)
    }

    fn membranes(&self) -> Option<&Membranes> {
        self.membranes.map(Ref::into_inner)
    }

    fn hinges(&self) -> Option<&Hinges> {
        self.hinges.map(Ref::into_inner)
    }

    fn springs(&self) -> Option<&Springs> {
        self.springs.map(Ref::into_inner)
    }

    /// When each kind has last been written to: the energy at a state is the same as long as these are.
    pub fn versions(&self) -> Versions {
        [
            self.tetrahedra.map(|it| it.last_changed()),
            self.membranes.map(|it| it.last_changed()),
            self.hinges.map(|it| it.last_changed()),
            self.springs.map(|it| it.last_changed()),
            self.pressure.map(|it| it.last_changed()),
        ]
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.tetrahedra().map_or(0, Tetrahedra::len)
            + self.membranes().map_or(0, Membranes::len)
            + self.hinges().map_or(0, Hinges::len)
            + self.springs().map_or(0, Springs::len)
            + self
                .inflation()
                .map_or(0, |inflation| inflation.triangles().len())
    }

    /// Calls `work` with each kind that the body has, always in the same order.
    pub fn for_each(&self, stage: &Stage, mut work: impl FnMut(&Corners, &dyn Kind)) {
        if let Some(tetrahedra) = self.tetrahedra() {
            let corners = tetrahedron::corners(tetrahedra);
            tetrahedron::with_law(tetrahedra, stage, |kind| work(&corners, kind));
        }
        if let Some(membranes) = self.membranes() {
            let corners = membrane::corners(membranes);
            membrane::with_law(membranes, stage, |kind| work(&corners, kind));
        }
        if let Some(hinges) = self.hinges() {
            let corners = hinge::corners(hinges);
            hinge::with_law(hinges, stage, |kind| work(&corners, kind));
        }
        if let Some(springs) = self.springs() {
            let corners = spring::corners(springs);
            spring::with_law(springs, stage, |kind| work(&corners, kind));
        }
        if let Some(inflation) = self.inflation() {
            work(&corners_of(&inflation), &inflation);
        }
    }

    /// The corners of each kind, in the order of [`for_each`](Self::for_each).
    pub fn corners(&self) -> impl Iterator<Item = Corners<'_>> {
        let kinds = [
            self.tetrahedra().map(tetrahedron::corners),
            self.membranes().map(membrane::corners),
            self.hinges().map(hinge::corners),
            self.springs().map(spring::corners),
            self.inflation().as_ref().map(corners_of),
        ];
        kinds.into_iter().flatten()
    }

    /// What is inside a closed surface.
    pub fn inflation(&self) -> Option<Inflation<'_>> {
        Inflation::of(self.pressure.map(Ref::into_inner), self.surface)
    }

    /// Whether the body is a sheet or a rope.
    pub fn are_sheets(&self) -> bool {
        self.membranes().is_some() || self.springs().is_some()
    }

    /// Whether friction within elements makes the potential depend on where a stage starts.
    pub fn have_friction(&self) -> bool {
        self.tetrahedra()
            .is_some_and(|tetrahedra| tetrahedra.viscosity().is_some())
            || self
                .membranes()
                .is_some_and(|membranes| membranes.damping_time() > 0.0)
            || self.hinges().is_some_and(Hinges::are_damped)
            || self.springs().is_some_and(Springs::are_damped)
    }

    /// Energy at strains of about one, J: what rounding of the energy is measured by.
    pub fn stiffness(&self) -> f64 {
        self.tetrahedra().map_or(0.0, tetrahedron::stiffness)
            + self.membranes().map_or(0.0, membrane::stiffness)
            + self.hinges().map_or(0.0, hinge::stiffness)
            + self.springs().map_or(0.0, spring::stiffness)
            + self
                .inflation()
                .map_or(0.0, |inflation| inflation.stiffness())
    }
}
