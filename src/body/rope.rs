//! Ropes: chains of particles and springs.

use bevy::prelude::*;

use super::cloth::ClothError;
use super::placement::{Placement, describe_new};
use super::solid::to_real;
use super::{BodyFrame, InitialMotion, Particles, PliantState, Quarantined, Springs};
use crate::Real;
use crate::mesh::{Rope, SpringKind};

/// A [`Rope`] that becomes a body where its [`Transform`] stands: a rope, a cable, a chain.
///
/// When the component is inserted the library builds [`Particles`] and [`Springs`] from the rope, the transform and the
/// [`InitialMotion`]. Particles are numbered from the start to the end, and have no [`Surface`](super::Surface): the body
/// touches colliders, but drawing it is the game's choice.
///
/// The springs over two segments resist bending. A straight chain has no bending stiffness of its own to first order: the
/// moment of a rope bent to curvature κ is
///
/// ```text
/// M = F s⁴ κ³ / 16        F bend stiffness, s length of a segment
/// ```
/// so a rope stays slack in wide curves and resists kinks. They carry tension too: E A + 2 F in all.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::mesh::Rope;
/// # use bevy_pliant::prelude::*;
/// # use nalgebra::Vector3;
/// # fn spawn(mut commands: Commands) -> Result {
/// let rope = Rope::new(Vector3::zeros(), Vector3::x() * 2.0, 40)?;
/// commands.spawn((Cord::new(rope), Pins::at([0, 40]), Transform::from_xyz(0.0, 3.0, 0.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Component, Clone, Debug)]
#[require(Transform, InitialMotion, PliantState, BodyFrame)]
pub struct Cord {
    rope: Rope,
    /// Stretch stiffness E A, Young's modulus times cross-section, N, positive. Default 10 kN.
    pub stretch_stiffness: Real,
    /// Stiffness F of the springs over two segments, as a force per strain like E A, N, not negative. Default 10 N.
    pub bend_stiffness: Real,
    /// Mass per rest length, kg/m, positive. Default 0.1.
    pub line_density: Real,
    /// Damping over stiffness of all springs, s, not negative. Default 2 ms.
    pub damping_time: Real,
}

impl Cord {
    /// A rope of 10 kN and 0.1 kg/m.
    #[must_use]
    pub fn new(rope: Rope) -> Self {
        Self {
            rope,
            stretch_stiffness: 1e4,
            bend_stiffness: 10.0,
            line_density: 0.1,
            damping_time: 2e-3,
        }
    }

    /// The same rope with another stretch stiffness E A, N, and mass per length, kg/m.
    #[must_use]
    pub fn with_stretch(mut self, stretch_stiffness: Real, line_density: Real) -> Self {
        self.stretch_stiffness = stretch_stiffness;
        self.line_density = line_density;
        self
    }

    /// The same rope with another bend stiffness F, N.
    #[must_use]
    pub fn with_bend(mut self, bend_stiffness: Real) -> Self {
        self.bend_stiffness = bend_stiffness;
        self
    }

    /// The same rope with another damping time, s.
    #[must_use]
    pub fn with_damping(mut self, damping_time: Real) -> Self {
        self.damping_time = damping_time;
        self
    }

    /// The rope at rest, in its own frame.
    #[must_use]
    pub fn rope(&self) -> &Rope {
        &self.rope
    }

    fn build(
        &self,
        transform: &Transform,
        motion: &InitialMotion,
    ) -> Result<(Particles, BodyFrame, Springs), ClothError> {
        self.validate()?;
        let placement = Placement::new(transform, motion)?;
        let scaled = |position| placement.scaled(position);
        let rest: Vec<_> = self.rope.positions.iter().map(scaled).collect();
        let mut net = self.rope.springs.clone();
        let mut masses = vec![0.0_f64; rest.len()];
        for index in 0..net.len() {
            let ends = net.springs[index].map(|end| end as usize);
            net.rest_lengths[index] = match net.kinds[index] {
                SpringKind::Bend => {
                    // Over two segments, along the rope.
                    let middle = rest[usize::midpoint(ends[0], ends[1])];
                    (rest[ends[0]] - middle).norm() + (rest[ends[1]] - middle).norm()
                }
                SpringKind::Structural | SpringKind::Shear => {
                    (rest[ends[0]] - rest[ends[1]]).norm()
                }
            };
            if net.kinds[index] == SpringKind::Structural {
                for end in ends {
                    masses[end] += 0.5 * f64::from(self.line_density) * net.rest_lengths[index];
                }
            }
        }
        let stiffnesses: Vec<Real> = net
            .rest_lengths
            .iter()
            .zip(&net.kinds)
            .map(|(&length, kind)| {
                let force = match kind {
                    SpringKind::Bend => self.bend_stiffness,
                    SpringKind::Structural | SpringKind::Shear => self.stretch_stiffness,
                };
                force / to_real(length)
            })
            .collect();
        let springs = Springs::with_stiffnesses(&net, &stiffnesses, self.damping_time);
        let masses = masses.into_iter().map(to_real).collect();
        let (particles, frame) = placement.place(&rest, masses);
        Ok((particles, frame, springs))
    }

    fn validate(&self) -> Result<(), ClothError> {
        let positive = |value: Real| value > 0.0 && value.is_finite();
        let not_negative = |value: Real| value >= 0.0 && value.is_finite();
        let bad = |what: &'static str, value: Real, wanted: &'static str| {
            Err(ClothError::Rope {
                what,
                value: value.into(),
                wanted,
            })
        };
        if !positive(self.stretch_stiffness) {
            return bad("stretch stiffness", self.stretch_stiffness, "positive");
        }
        if !positive(self.line_density) {
            return bad("mass per length", self.line_density, "positive");
        }
        if !not_negative(self.bend_stiffness) {
            return bad("bend stiffness", self.bend_stiffness, "not negative");
        }
        if !not_negative(self.damping_time) {
            return bad("damping time", self.damping_time, "not negative");
        }
        Ok(())
    }
}

/// Ropes are built when their `Cord` is inserted.
pub(crate) fn plugin(app: &mut App) {
    app.add_observer(build_cord);
}

type Ingredients = (
    &'static Cord,
    &'static Transform,
    &'static InitialMotion,
    Option<&'static Name>,
);

fn build_cord(insert: On<Insert, Cord>, cords: Query<Ingredients>, mut commands: Commands) {
    let entity = insert.entity;
    let Ok((cord, transform, motion, name)) = cords.get(entity) else {
        return;
    };
    match cord.build(transform, motion) {
        Ok(body) => {
            commands.entity(entity).insert(body);
        }
        Err(error) => {
            error!("{} was not built: {error}", describe_new(entity, name));
            commands.entity(entity).insert(Quarantined {
                reason: error.to_string(),
            });
        }
    }
}
