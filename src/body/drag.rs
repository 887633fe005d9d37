//! How the air resists a body.

use bevy::prelude::*;

use crate::Real;

/// Resistance of still air (or water): quadratic drag on the windward surface and viscous drag on the mass.
///
/// ```text
/// per surface triangle   F = −½ ρ C A max(n·v, 0) v        [004]
/// per particle           F = −c m v                         [001]
/// ```
///
/// A flat face of area A moving along its normal feels exactly ½ ρ C A v².
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct AirDrag {
    /// Drag coefficient C, dimensionless, not negative. Default 1.05 (a cube).
    pub coefficient: Real,
    /// Density ρ of the medium, kg/m³, not negative. Default 1.225 (air at sea level).
    pub fluid_density: Real,
    /// Viscous rate c, 1/s, not negative: an unloaded body loses the fraction c of its velocity per second. Default 0.
    pub viscous_rate: Real,
}

impl Default for AirDrag {
    fn default() -> Self {
        Self {
            coefficient: 1.05,
            fluid_density: 1.225,
            viscous_rate: 0.0,
        }
    }
}
