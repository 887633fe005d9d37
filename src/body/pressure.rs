//! What a closed cloth is filled with.

use bevy::prelude::*;

use super::{Particles, Surface};
use crate::Real;
use crate::kernel::cloth::pressure::{Gas, constant_pressure_energy, enclosed_volume};

/// Inflates a cloth whose surface is closed: a balloon, a cushion, an airbag.
///
/// The filling may be changed at any time, which pumps the body up or lets it down. A surface that is not closed, or whose
/// triangles face inwards, is reported once and stays without pressure; so does a body that has torn.
///
/// The energy of the filling counts as elastic energy of the body ([`Energies::elastic`](super::Energies::elastic)).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # fn spawn(mut commands: Commands) -> Result {
/// let sphere = TriangleMesh::sphere(0.15, 8)?;
/// // As much air again as fits into the balloon at rest.
/// commands.spawn((Cloth::new(sphere), Fabric::RUBBER, Pressure::gas(101_325.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Pressure {
    /// What the body is filled with.
    pub filling: Filling,
    /// Volume of the closed surface at rest, m³; none while there is no closed surface.
    pub(crate) rest_volume: Option<f64>,
    /// The topology that `rest_volume` belongs to.
    pub(crate) version: Option<u32>,
}

/// What a closed cloth is filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filling {
    /// The same pressure at any volume, as with a pump or a wide opening: Pa, inside less outside.
    Constant(Real),
    /// A fixed amount of gas at constant temperature.
    Gas {
        /// Pressure of the gas where it fills the volume of the body at rest, Pa, inside less outside.
        overpressure: Real,
        /// Absolute pressure outside, Pa, not negative: 101 325 at sea level.
        ambient: Real,
    },
}

/// A filling in a body of known size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    filling: Filling,
    gas: Gas,
    rest_volume: f64,
}

impl Pressure {
    /// Standard pressure of the air, Pa.
    pub const ATMOSPHERE: Real = 101_325.0;

    /// As much gas as fills the body at rest with the given pressure above that of the air, Pa.
    ///
    /// The body grows until its tension balances what pressure is left: twice the air in the same balloon is an
    /// overpressure of one atmosphere at rest, of which a few kPa remain.
    #[must_use]
    pub fn gas(overpressure: Real) -> Self {
        Self::new(Filling::Gas {
            overpressure,
            ambient: Self::ATMOSPHERE,
        })
    }

    /// A constant pressure, Pa, inside less outside.
    #[must_use]
    pub fn constant(pressure: Real) -> Self {
        Self::new(Filling::Constant(pressure))
    }

    /// Some filling.
    #[must_use]
    pub fn new(filling: Filling) -> Self {
        Self {
            filling,
            rest_volume: None,
            version: None,
        }
    }

    /// Volume inside the surface now, m³.
    #[must_use]
    pub fn volume(particles: &Particles, surface: &Surface) -> f64 {
        enclosed_volume(&particles.positions, &surface.triangles)
    }

    /// Pressure at a volume, m³: Pa, inside less outside. Zero while the body is not closed, and before its first tick.
    #[must_use]
    pub fn at(&self, volume: f64) -> f64 {
        self.filled().map_or(0.0, |filled| filled.pressure(volume))
    }

    /// The filling, if the body is closed and the numbers make sense.
    pub(crate) fn filled(&self) -> Option<Filled> {
        let rest_volume = self.rest_volume?;
        let gas = match self.filling {
            Filling::Constant(pressure) => {
                if !pressure.is_finite() {
                    return None;
                }
                Gas::filling(rest_volume, 0.0, 0.0)
            }
            Filling::Gas {
                overpressure,
                ambient,
            } => {
                if !(overpressure.is_finite() && ambient.is_finite() && ambient >= 0.0) {
                    return None;
                }
                Gas::filling(rest_volume, overpressure.into(), ambient.into())
            }
        };
        Some(Filled {
            filling: self.filling,
            gas,
            rest_volume,
        })
    }
}

impl Filled {
    /// Pressure at a volume (m³), Pa, inside less outside.
    pub fn pressure(&self, volume: f64) -> f64 {
        match self.filling {
            Filling::Constant(pressure) => pressure.into(),
            Filling::Gas { .. } => self.gas.pressure(volume),
        }
    }

    /// By how much the pressure falls with the volume, −dp/dV, Pa/m³, not negative.
    pub fn stiffness(&self, volume: f64) -> f64 {
        match self.filling {
            Filling::Constant(_) => 0.0,
            Filling::Gas { .. } => self.gas.stiffness(volume),
        }
    }

    /// Energy at a volume (m³), J; zero at that of the body at rest.
    pub fn energy(&self, volume: f64) -> f64 {
        match self.filling {
            Filling::Constant(pressure) => {
                constant_pressure_energy(pressure.into(), volume - self.rest_volume)
            }
            Filling::Gas { .. } => self.gas.energy(volume, self.rest_volume),
        }
    }

    /// Energy at strains of about one, J.
    pub fn size(&self) -> f64 {
        match self.filling {
            Filling::Constant(pressure) => f64::from(pressure).abs() * self.rest_volume,
            Filling::Gas { .. } => self.gas.amount,
        }
    }
}
