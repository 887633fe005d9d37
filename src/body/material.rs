//! What a body is made of.

use bevy::prelude::*;
use thiserror::Error;

use crate::Real;
use crate::kernel::moduli::Moduli;

/// The elastic law of a body; each is a file of [`kernel::elasticity`](crate::kernel::elasticity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
pub enum ElasticModel {
    /// Stable neo-Hookean (Smith, de Goes and Kim 2018): the robust choice for large strain; recovers from any
    /// inversion.
    #[default]
    StableNeoHookean,
    /// Corotational linear elasticity: linear in strain after taking the rotation out; the choice for stiff bodies.
    Corotational,
    /// The energy of [000 eq. 4.13]: resists volume change without bound.
    Liesenfeld {
        /// Volume ratio J below which the volumetric term goes on as a quadratic, dimensionless. 0.4 is the run-time
        /// default; 0 keeps the original formula, which has a second rest state at J = −1 and a pole at J = 0.
        extension_below: Real,
    },
}

impl ElasticModel {
    /// [`Liesenfeld`](Self::Liesenfeld) with its run-time default.
    pub const LIESENFELD: Self = Self::Liesenfeld {
        extension_below: 0.4,
    };
}

/// Elastic law, density and viscosity of a body. SI units throughout.
///
/// Viscosities resist the *rate* of strain: a bulk viscosity of 1 Pa·s means a stress of 1 Pa at a volumetric rate of
/// 1/s. In the notation of [000 eq. 4.14] they are 2 η₁ and 2 η₂.
///
/// Changing the component at run time changes the body from the next tick on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct PliantMaterial {
    /// Elastic law. Default stable neo-Hookean.
    pub model: ElasticModel,
    /// Young's modulus E, Pa, positive. Default 100 kPa.
    pub young_modulus: Real,
    /// Poisson's ratio ν, dimensionless, −1 < ν < 0.5. Default 0.4.
    pub poisson_ratio: Real,
    /// Mass per rest volume, kg/m³, positive. Default 1000.
    pub density: Real,
    /// Bulk viscosity, Pa·s, not negative. Default 0.
    pub bulk_viscosity: Real,
    /// Shear viscosity, Pa·s, not negative. Default 0.
    pub shear_viscosity: Real,
}

impl Default for PliantMaterial {
    fn default() -> Self {
        Self::new(1e5, 0.4, 1000.0)
    }
}

impl PliantMaterial {
    /// Vulcanized natural rubber: E 2 MPa, ν 0.47, 950 kg/m³ (typical of textbook ranges 1–5 MPa, 920–960 kg/m³).
    pub const RUBBER: Self = Self::new(2e6, 0.47, 950.0).with_viscosity(400.0, 400.0);
    /// Soft silicone (Shore 00-30): E 125 kPa, ν 0.47, 1070 kg/m³.
    pub const SILICONE: Self = Self::new(1.25e5, 0.47, 1070.0).with_viscosity(100.0, 100.0);
    /// Table jelly (5 % gelatin): E 5 kPa, ν 0.45, 1010 kg/m³; the real one is closer to ν = 0.5.
    pub const JELLY: Self = Self::new(5e3, 0.45, 1010.0).with_viscosity(10.0, 10.0);
    /// Upholstery foam (polyurethane): E 50 kPa, ν 0.3, 40 kg/m³.
    pub const FOAM: Self = Self::new(5e4, 0.3, 40.0).with_viscosity(40.0, 40.0);
    /// Cork: E 20 MPa, ν 0, 200 kg/m³.
    pub const CORK: Self = Self::new(2e7, 0.0, 200.0).with_viscosity(1000.0, 1000.0);

    /// Stable neo-Hookean material without viscosity.
    ///
    /// `young_modulus` in Pa, `poisson_ratio` dimensionless, `density` in kg/m³. Values are checked when a body is
    /// built ([`validate`](Self::validate)).
    #[must_use]
    pub const fn new(young_modulus: Real, poisson_ratio: Real, density: Real) -> Self {
        Self {
            model: ElasticModel::StableNeoHookean,
            young_modulus,
            poisson_ratio,
            density,
            bulk_viscosity: 0.0,
            shear_viscosity: 0.0,
        }
    }

    /// A material of `[000 §9]`, in its own coefficients converted to SI: `alpha` (bulk) and `beta` (shear) in Pa, `eta1`
    /// and `eta2` in Pa·s, `density` in kg/m³.
    #[must_use]
    pub fn liesenfeld(alpha: Real, beta: Real, eta1: Real, eta2: Real, density: Real) -> Self {
        let moduli = Moduli {
            bulk: alpha,
            shear: beta,
        };
        Self {
            model: ElasticModel::LIESENFELD,
            young_modulus: moduli.young_modulus(),
            poisson_ratio: moduli.poisson_ratio(),
            density,
            bulk_viscosity: 2.0 * eta1,
            shear_viscosity: 2.0 * eta2,
        }
    }

    /// The same material with another elastic law.
    #[must_use]
    pub const fn with_model(mut self, model: ElasticModel) -> Self {
        self.model = model;
        self
    }

    /// The same material with the given bulk and shear viscosities, Pa·s.
    #[must_use]
    pub const fn with_viscosity(mut self, bulk: Real, shear: Real) -> Self {
        self.bulk_viscosity = bulk;
        self.shear_viscosity = shear;
        self
    }

    /// Bulk and shear modulus, Pa.
    #[must_use]
    pub fn moduli(&self) -> Moduli<Real> {
        Moduli::from_young_and_poisson(self.young_modulus, self.poisson_ratio)
    }

    /// Checks every number.
    ///
    /// # Errors
    /// The first number outside its range, with the range.
    pub fn validate(&self) -> Result<(), MaterialError> {
        let check = |name: &'static str, value: Real, holds: bool, range: &'static str| {
            if value.is_finite() && holds {
                Ok(())
            } else {
                Err(MaterialError {
                    name,
                    value: f64::from(value),
                    range,
                })
            }
        };
        check(
            "young_modulus",
            self.young_modulus,
            self.young_modulus > 0.0,
            "positive, in Pa (rubber: 2e6)",
        )?;
        check(
            "poisson_ratio",
            self.poisson_ratio,
            self.poisson_ratio > -1.0 && self.poisson_ratio < 0.5,
            "above -1 and below 0.5 (nearly incompressible: 0.49)",
        )?;
        check(
            "density",
            self.density,
            self.density > 0.0,
            "positive, in kg/m³ (water: 1000)",
        )?;
        check(
            "bulk_viscosity",
            self.bulk_viscosity,
            self.bulk_viscosity >= 0.0,
            "zero or positive, in Pa·s",
        )?;
        check(
            "shear_viscosity",
            self.shear_viscosity,
            self.shear_viscosity >= 0.0,
            "zero or positive, in Pa·s",
        )
    }
}

/// A number of a [`PliantMaterial`] outside its range.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("PliantMaterial::{name} is {value}; it must be {range}")]
pub struct MaterialError {
    /// The field.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// What it must be.
    pub range: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid() {
        for material in [
            PliantMaterial::RUBBER,
            PliantMaterial::SILICONE,
            PliantMaterial::JELLY,
            PliantMaterial::FOAM,
            PliantMaterial::CORK,
        ] {
            assert_eq!(material.validate(), Ok(()));
        }
    }

    #[test]
    fn each_bad_number_is_named() {
        let good = PliantMaterial::default();
        for (bad, name) in [
            (
                PliantMaterial {
                    young_modulus: 0.0,
                    ..good
                },
                "young_modulus",
            ),
            (
                PliantMaterial {
                    poisson_ratio: 0.5,
                    ..good
                },
                "poisson_ratio",
            ),
            (
                PliantMaterial {
                    density: -1.0,
                    ..good
                },
                "density",
            ),
            (
                PliantMaterial {
                    bulk_viscosity: Real::NAN,
                    ..good
                },
                "bulk_viscosity",
            ),
            (
                PliantMaterial {
                    shear_viscosity: -1.0,
                    ..good
                },
                "shear_viscosity",
            ),
        ] {
            assert_eq!(bad.validate().err().map(|error| error.name), Some(name));
        }
    }

    #[test]
    fn liesenfeld_coefficients_come_back_as_moduli() {
        let moduli = PliantMaterial::liesenfeld(22e3, 16e3, 3.0, 2.0, 1000.0).moduli();
        assert!((moduli.bulk - 22e3).abs() < 1.0);
        assert!((moduli.shear - 16e3).abs() < 1.0);
    }
}
