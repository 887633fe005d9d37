//! Limits of strain of a sheet or a rope.

use bevy::prelude::*;
use nalgebra::{Matrix2, Vector3};
use thiserror::Error;

use crate::Real;
use crate::kernel::cloth::strain_limit::Line;

/// Keeps a sheet or a rope from stretching beyond a limit, whatever the stiffness of its springs or membranes is.
///
/// Acts in each substep of [`Integrator::Mixed`](crate::step::Integrator::Mixed) and
/// [`Integrator::SymplecticEuler`](crate::step::Integrator::SymplecticEuler), before contact, so that contact has the
/// last word:
///
/// ```text
/// v½ from v       Velocities, Triangles: v½ limited
/// x' from v½      Positions: x' corrected, and v½ with it; contact
/// v' from v½      Velocities, Triangles: v' limited
/// ```
/// The other integrators refuse it with a warning: the implicit one has the same effect by a law, the
/// [`strain_limit`](super::Fabric::strain_limit) of the fabric.
///
/// Springs are the structural and shear springs of [`Springs`](super::Springs), the edges of the triangles of a cloth of
/// membranes; bend springs are not limited. The passes of a substep go through them in both directions by turns.
///
/// **Few passes do not reach every limit.** What is left is caught in the next substeps; a cloth that hangs at its limit
/// keeps an excess that falls with the number of passes and with the square of the substep. So twice the substeps are
/// better than twice the passes.
///
/// **Energy** that a limit takes, or gives, is put into [`Energies::dissipated`](super::Energies::dissipated): the kinetic
/// energy that its impulses change, those on the way at the start of the substep. As everywhere in explicit integration,
/// the total is level up to an error that falls with the substep.
///
/// **Momentum** and angular momentum of free bodies are kept by `Velocities` and `Triangles`. Along the predicted line, and
/// for triangles, the impulses have a torque, which is given back as a turn of the whole body.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # fn spawn(mut commands: Commands, sheet: TriangleMesh) {
/// commands.insert_resource(Integrator::MIXED);
/// commands.spawn((Cloth::new(sheet), Fabric::SILK, StrainLimit::VELOCITIES));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[require(LimitedElements)]
pub enum StrainLimit {
    /// Provot's correction: the ends of springs that are too long are moved together [001 §3.3]. It does not keep
    /// momentum where masses differ or an end is held; [`Velocities`](Self::Velocities) does better.
    ///
    /// Velocities follow, by the change of position over the substep. As published they do not: a cloth that hangs at its
    /// limit then falls ever faster without moving, until the air holds its velocities, and each correction starts
    /// farther from the limit than the last one.
    Positions {
        /// τ_c, largest stretch of a spring as a share of its rest length, not negative. 0.1 in the source.
        stretch: Real,
        /// Passes per substep. 4 in the source.
        sweeps: u32,
    },
    /// Bridson's limits: impulses along the springs, such that none is too long, or has changed too much, at the end of
    /// the substep [001 §4.3, §4.4].
    Velocities {
        /// τ_c, largest stretch as a share of the rest length, not negative. 0.1 in the source.
        stretch: Real,
        /// Largest shortening as a share of the rest length, 0 to 1; `None` for no limit.
        compression: Option<Real>,
        /// τ_r, largest change of length in a substep as a share of the length, positive; `None` for no limit.
        rate: Option<Real>,
        /// Passes per limit and velocity. 1 or 2 in the source.
        sweeps: u32,
        /// The line along which the impulses act. The current one has no torque, but with many passes diverges where
        /// springs turn far in a substep; see
        /// [`Line`](crate::kernel::cloth::strain_limit::Line).
        line: Line,
    },
    /// Limits of the principal stretches of the triangles at the end of the substep `[Wang 2010]`. It limits stretch in every direction, so also shear.
    Triangles {
        /// Largest principal stretch less one, not negative.
        stretch: Real,
        /// Largest shortening, 0 to 1; `None` for no limit.
        compression: Option<Real>,
        /// Passes per velocity.
        sweeps: u32,
    },
}

/// What is wrong with a [`StrainLimit`].
#[derive(Clone, Debug, Error, PartialEq)]
#[error("the {what} of the strain limit is {value}; it must be {wanted}")]
pub struct StrainLimitError {
    what: &'static str,
    value: Real,
    wanted: &'static str,
}

impl StrainLimit {
    /// Provot's correction beyond 10 %, in 4 passes.
    pub const POSITIONS: Self = Self::Positions {
        stretch: 0.1,
        sweeps: 4,
    };
    /// Bridson's limits: 10 % of stretch, 10 % of change in a substep, any compression, in 2 passes.
    pub const VELOCITIES: Self = Self::Velocities {
        stretch: 0.1,
        compression: None,
        rate: Some(0.1),
        sweeps: 2,
        line: Line::Current,
    };
    /// Principal stretches up to 10 %, any compression, in 2 passes.
    pub const TRIANGLES: Self = Self::Triangles {
        stretch: 0.1,
        compression: None,
        sweeps: 2,
    };

    /// Whether all numbers make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn validate(&self) -> Result<(), StrainLimitError> {
        let (stretch, compression, rate) = match *self {
            Self::Positions { stretch, .. } => (stretch, None, None),
            Self::Velocities {
                stretch,
                compression,
                rate,
                ..
            } => (stretch, compression, rate),
            Self::Triangles {
                stretch,
                compression,
                ..
            } => (stretch, compression, None),
        };
        let refuse = |what, value, wanted| {
            Err(StrainLimitError {
                what,
                value,
                wanted,
            })
        };
        if !(stretch >= 0.0 && stretch.is_finite()) {
            return refuse("stretch", stretch, "finite and not negative");
        }
        match (compression, rate) {
            (Some(value), _) if !(0.0..=1.0).contains(&value) => {
                refuse("compression", value, "from 0 to 1")
            }
            (_, Some(value)) if value.is_nan() || value <= 0.0 => refuse("rate", value, "positive"),
            _ => Ok(()),
        }
    }
}

/// What a [`StrainLimit`] acts on.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct LimitedElements {
    /// The topology that the lists belong to.
    pub version: Option<u32>,
    /// Structural and shear springs, or the edges of the triangles, with their rest lengths, m.
    pub ends: Vec<[u32; 2]>,
    pub rest_lengths: Vec<Real>,
    /// Triangles, and the inverse of their edges at rest, 1/m.
    pub triangles: Vec<[u32; 3]>,
    pub rest_inverses: Vec<Matrix2<Real>>,
    /// Whether the limit acts: its numbers make sense, and the integrator knows it.
    pub is_active: bool,
    /// Velocities, and positions, before the limit: scratch.
    pub velocities: Vec<Vector3<Real>>,
    pub positions: Vec<Vector3<Real>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_make_no_sense_are_named() {
        for limit in [
            StrainLimit::POSITIONS,
            StrainLimit::VELOCITIES,
            StrainLimit::TRIANGLES,
        ] {
            assert_eq!(limit.validate(), Ok(()));
        }
        let velocities = |stretch, compression, rate| StrainLimit::Velocities {
            stretch,
            compression,
            rate,
            sweeps: 1,
            line: Line::Current,
        };
        for (limit, word) in [
            (
                velocities(Real::NAN, None, None),
                "the stretch of the strain limit is NaN;",
            ),
            (
                velocities(-0.1, None, None),
                "the stretch of the strain limit is -0.1;",
            ),
            (
                velocities(0.1, Some(1.5), None),
                "the compression of the strain limit is 1.5;",
            ),
            (
                velocities(0.1, Some(0.5), Some(0.0)),
                "the rate of the strain limit is 0;",
            ),
        ] {
            let message = limit.validate().expect_err("an error").to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
