//! What a cloth is made of.

use bevy::prelude::*;
use thiserror::Error;

use crate::Real;
use crate::kernel::cloth::membrane::Membrane;
use crate::kernel::scalar::{Scalar, real};

/// Weight, stiffness and friction of a cloth or sheet. SI units throughout.
///
/// Cloth has two directions: the **warp** (the first texture coordinate) and the **weft** across it. Moduli are forces
/// per width of a strip, as tensile tests give them: a strip 1 m wide with a warp modulus of 4000 N/m carries 40 N at 1 %.
///
/// | preset | kg/m² | mm | warp, weft N/m | shear N/m | bending N·m | locks at | μ |
/// |---|---|---|---|---|---|---|---|
/// | [`SILK`](Self::SILK) | 0.07 | 0.15 | 2000, 2000 | 20 | 3e-6 | 5 % | 0.25 |
/// | [`COTTON`](Self::COTTON) | 0.15 | 0.35 | 4000, 2500 | 45 | 1e-5 | 7 % | 0.4 |
/// | [`DENIM`](Self::DENIM) | 0.40 | 0.9 | 8000, 5000 | 110 | 5e-5 | 4 % | 0.45 |
/// | [`LEATHER`](Self::LEATHER) | 0.80 | 1.0 | 20 000, 20 000 | 6000 | 5e-4 | 10 % | 0.55 |
/// | [`RUBBER`](Self::RUBBER) | 1.0 | 1.0 | 1500, 1500 | 500 | 1.6e-4 | 100 % | 0.9 |
///
/// Weight and bending of silk, cotton and denim: medians of the fabrics of like weight that were measured with a drape
/// tester (Feng et al. 2022; the measurements do not name the fibre). Tension and shear: rounded, guided by Kawabata
/// tests of denim (tension 9–10 kN/m, shear 84–191 N/m) and by Wang et al. 2011. Rubber: plate theory with Young's modulus
/// 1.5 MPa and Poisson's ratio ½. Leather, friction and damping times: estimates.
///
/// Changing the component at run time changes the cloth from the next tick on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct Fabric {
    /// Mass per rest area, kg/m², positive. Default 0.15.
    pub areal_density: Real,
    /// Thickness, m, positive: what contact keeps between two layers. Default 0.35 mm.
    pub thickness: Real,
    /// Tension per width and strain of a strip cut along the warp, free to narrow, N/m, positive. Default 4000.
    pub warp_modulus: Real,
    /// The same of a strip cut along the weft, N/m, positive. Default 2500.
    pub weft_modulus: Real,
    /// Shear force per width and shear angle, N/m, not negative. Default 45.
    pub shear_modulus: Real,
    /// Poisson's ratio ν, dimensionless, −1 < ν < 1: how much a strip narrows. With unequal moduli it is the geometric
    /// mean √(ν_uv ν_vu) of the two ratios. Default 0.2.
    pub poisson_ratio: Real,
    /// Strain at which warp or weft stiffens, engineering (0.07 is 7 %), dimensionless, positive; infinite for never.
    /// Default 0.07.
    pub strain_limit: Real,
    /// Factor of the modulus beyond the strain limit, dimensionless, one or more; one for none. Default 10.
    pub locking_factor: Real,
    /// Bending stiffness B, N·m, not negative: bending moment per width and curvature. Default 1e-5.
    pub bending_stiffness: Real,
    /// Relaxation time of stretch and shear, s, not negative: the ratio of internal friction to stiffness. Default 1.5 ms.
    pub membrane_damping: Real,
    /// Relaxation time of bending, s, not negative. Default 8 ms.
    pub bending_damping: Real,
    /// Coefficient of friction μ, dimensionless, not negative. Default 0.4.
    pub friction: Real,
}

impl Default for Fabric {
    fn default() -> Self {
        Self::COTTON
    }
}

impl Fabric {
    /// Light silk; see the table of [`Fabric`].
    pub const SILK: Self = Self {
        areal_density: 0.07,
        thickness: 0.15e-3,
        warp_modulus: 2000.0,
        weft_modulus: 2000.0,
        shear_modulus: 20.0,
        poisson_ratio: 0.2,
        strain_limit: 0.05,
        locking_factor: 10.0,
        bending_stiffness: 3e-6,
        membrane_damping: 1e-3,
        bending_damping: 5e-3,
        friction: 0.25,
    };
    /// Cotton cloth, the default; see the table of [`Fabric`].
    pub const COTTON: Self = Self {
        areal_density: 0.15,
        thickness: 0.35e-3,
        warp_modulus: 4000.0,
        weft_modulus: 2500.0,
        shear_modulus: 45.0,
        poisson_ratio: 0.2,
        strain_limit: 0.07,
        locking_factor: 10.0,
        bending_stiffness: 1e-5,
        membrane_damping: 1.5e-3,
        bending_damping: 8e-3,
        friction: 0.4,
    };
    /// Denim; see the table of [`Fabric`].
    pub const DENIM: Self = Self {
        areal_density: 0.4,
        thickness: 0.9e-3,
        warp_modulus: 8000.0,
        weft_modulus: 5000.0,
        shear_modulus: 110.0,
        poisson_ratio: 0.2,
        strain_limit: 0.04,
        locking_factor: 10.0,
        bending_stiffness: 5e-5,
        membrane_damping: 2e-3,
        bending_damping: 1e-2,
        friction: 0.45,
    };
    /// Leather; see the table of [`Fabric`].
    pub const LEATHER: Self = Self {
        areal_density: 0.8,
        thickness: 1e-3,
        warp_modulus: 2e4,
        weft_modulus: 2e4,
        shear_modulus: 6000.0,
        poisson_ratio: 0.4,
        strain_limit: 0.1,
        locking_factor: 10.0,
        bending_stiffness: 5e-4,
        membrane_damping: 2e-3,
        bending_damping: 1e-2,
        friction: 0.55,
    };
    /// A sheet of rubber, isotropic; see the table of [`Fabric`].
    pub const RUBBER: Self = Self {
        areal_density: 1.0,
        thickness: 1e-3,
        warp_modulus: 1500.0,
        weft_modulus: 1500.0,
        shear_modulus: 500.0,
        poisson_ratio: 0.5,
        strain_limit: 1.0,
        locking_factor: 10.0,
        bending_stiffness: 1.6e-4,
        membrane_damping: 1e-3,
        bending_damping: 5e-3,
        friction: 0.9,
    };

    /// An isotropic sheet by plate theory; the rest as [`RUBBER`](Self::RUBBER), and it never locks.
    ///
    /// ```text
    /// warp = weft = E t,   shear = E t / (2 (1 + ν)),   B = E t³ / (12 (1 − ν²)),   areal density = ρ t
    /// ```
    /// `young_modulus` E in Pa, `poisson_ratio` ν dimensionless, `density` ρ in kg/m³, `thickness` t in m. Values are
    /// checked when a body is built ([`validate`](Self::validate)).
    #[must_use]
    pub const fn sheet(
        young_modulus: Real,
        poisson_ratio: Real,
        density: Real,
        thickness: Real,
    ) -> Self {
        let modulus = young_modulus * thickness;
        let narrowing = 1.0 - poisson_ratio * poisson_ratio;
        Self {
            areal_density: density * thickness,
            thickness,
            warp_modulus: modulus,
            weft_modulus: modulus,
            shear_modulus: modulus / (2.0 * (1.0 + poisson_ratio)),
            poisson_ratio,
            strain_limit: Real::INFINITY,
            locking_factor: 1.0,
            bending_stiffness: modulus * thickness * thickness / (12.0 * narrowing),
            ..Self::RUBBER
        }
    }

    /// The same fabric with other stretch moduli of warp and weft, N/m.
    #[must_use]
    pub const fn with_moduli(mut self, warp: Real, weft: Real) -> Self {
        self.warp_modulus = warp;
        self.weft_modulus = weft;
        self
    }

    /// The same fabric with another bending stiffness B, N·m.
    #[must_use]
    pub const fn with_bending_stiffness(mut self, bending_stiffness: Real) -> Self {
        self.bending_stiffness = bending_stiffness;
        self
    }

    /// The same fabric with other relaxation times of the membrane and of bending, s.
    #[must_use]
    pub const fn with_damping(mut self, membrane: Real, bending: Real) -> Self {
        self.membrane_damping = membrane;
        self.bending_damping = bending;
        self
    }

    /// The same fabric with another strain limit (engineering; infinite for none) and factor of the modulus beyond it.
    #[must_use]
    pub const fn with_strain_limit(mut self, strain_limit: Real, locking_factor: Real) -> Self {
        self.strain_limit = strain_limit;
        self.locking_factor = locking_factor;
        self
    }

    /// Moduli of the membrane, N/m.
    ///
    /// ```text
    /// Y_u = warp / (1 − ν²),   Y_v = weft / (1 − ν²),   Y_c = ν √(Y_u Y_v)
    /// ```
    /// since a strip in a test is free to narrow, but the moduli of the kernel hold the other direction.
    #[must_use]
    pub fn membrane<T: Scalar>(&self) -> Membrane<T> {
        let poisson_ratio = f64::from(self.poisson_ratio);
        let held = 1.0 / (1.0 - poisson_ratio * poisson_ratio);
        let (warp, weft) = (
            f64::from(self.warp_modulus) * held,
            f64::from(self.weft_modulus) * held,
        );
        Membrane {
            warp_modulus: real(warp),
            weft_modulus: real(weft),
            coupling_modulus: real(poisson_ratio * (warp * weft).sqrt()),
            shear_modulus: real(f64::from(self.shear_modulus)),
            locking_strain: real(f64::from(self.strain_limit)),
            locking_factor: real(f64::from(self.locking_factor)),
        }
    }

    /// Stiffness K of the hinges between triangles, N·m: four times the bending stiffness.
    ///
    /// The factor makes a sheet that is bent to a cylinder cost ½ B κ² per area, on equilateral triangles.
    #[must_use]
    pub fn hinge_stiffness(&self) -> Real {
        4.0 * self.bending_stiffness
    }

    /// Friction of a hinge, N·m·s: its bending moment per rate of the angle.
    ///
    /// ```text
    /// k_d |E| = τ K c₀ / 2 = 2 τ B c₀,   c₀ = |E|² / (|N₁| + |N₂|) at rest
    /// ```
    /// Kelvin and Voigt's law with the relaxation time τ: `τ ψ''`, and the energy of a hinge has `ψ'' = K c₀/2` where it
    /// is flat. `shape_factor` is c₀, dimensionless.
    #[must_use]
    pub fn hinge_damping(&self, shape_factor: Real) -> Real {
        0.5 * self.bending_damping * self.hinge_stiffness() * shape_factor
    }

    /// Checks every number.
    ///
    /// # Errors
    /// The first number outside its range, with the range.
    pub fn validate(&self) -> Result<(), FabricError> {
        let check = |name: &'static str, value: Real, holds: bool, range: &'static str| {
            if holds {
                Ok(())
            } else {
                Err(FabricError {
                    name,
                    value: f64::from(value),
                    range,
                })
            }
        };
        let positive =
            |name, value: Real, range| check(name, value, value.is_finite() && value > 0.0, range);
        let not_negative =
            |name, value: Real, range| check(name, value, value.is_finite() && value >= 0.0, range);
        positive(
            "areal_density",
            self.areal_density,
            "positive, in kg/m² (cotton: 0.15; density of the material times thickness)",
        )?;
        positive(
            "thickness",
            self.thickness,
            "positive, in m (cotton: 0.35e-3)",
        )?;
        positive(
            "warp_modulus",
            self.warp_modulus,
            "positive, in N/m (cotton: 4000; of a sheet Young's modulus times thickness)",
        )?;
        positive(
            "weft_modulus",
            self.weft_modulus,
            "positive, in N/m (cotton: 2500; of a sheet Young's modulus times thickness)",
        )?;
        not_negative(
            "shear_modulus",
            self.shear_modulus,
            "zero or positive, in N/m (cotton: 45)",
        )?;
        check(
            "poisson_ratio",
            self.poisson_ratio,
            self.poisson_ratio.abs() < 1.0,
            "above -1 and below 1 (woven cloth: 0.2)",
        )?;
        check(
            "strain_limit",
            self.strain_limit,
            self.strain_limit > 0.0,
            "positive, a share of the length (7 %: 0.07; never: Real::INFINITY)",
        )?;
        check(
            "locking_factor",
            self.locking_factor,
            self.locking_factor.is_finite() && self.locking_factor >= 1.0,
            "1 or more (no stiffening: 1; cloth: 10)",
        )?;
        not_negative(
            "bending_stiffness",
            self.bending_stiffness,
            "zero or positive, in N·m (cotton: 1e-5)",
        )?;
        not_negative(
            "membrane_damping",
            self.membrane_damping,
            "zero or positive, in s (cotton: 1.5e-3)",
        )?;
        not_negative(
            "bending_damping",
            self.bending_damping,
            "zero or positive, in s (cotton: 8e-3)",
        )?;
        not_negative("friction", self.friction, "zero or positive (cotton: 0.4)")
    }
}

/// A number of a [`Fabric`] outside its range.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("Fabric::{name} is {value}; it must be {range}")]
pub struct FabricError {
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
    use crate::kernel::cloth::strain::PlaneTensor;

    const PRESETS: [Fabric; 5] = [
        Fabric::SILK,
        Fabric::COTTON,
        Fabric::DENIM,
        Fabric::LEATHER,
        Fabric::RUBBER,
    ];

    #[test]
    fn presets_are_valid_and_stable() {
        assert_eq!(Fabric::default(), Fabric::COTTON);
        for fabric in PRESETS {
            assert_eq!(fabric.validate(), Ok(()));
            let membrane = fabric.membrane::<f64>();
            assert!(
                membrane.coupling_modulus.powi(2) < membrane.warp_modulus * membrane.weft_modulus
            );
        }
        assert_eq!(Fabric::sheet(1e6, 0.4, 1000.0, 1e-3).validate(), Ok(()));
    }

    #[test]
    fn each_bad_number_is_named() {
        let breaks: [(&str, fn(&mut Fabric)); 12] = [
            ("areal_density", |fabric| fabric.areal_density = 0.0),
            ("thickness", |fabric| fabric.thickness = -1.0),
            ("warp_modulus", |fabric| fabric.warp_modulus = 0.0),
            ("weft_modulus", |fabric| {
                fabric.weft_modulus = Real::INFINITY;
            }),
            ("shear_modulus", |fabric| fabric.shear_modulus = -1.0),
            ("poisson_ratio", |fabric| fabric.poisson_ratio = 1.0),
            ("strain_limit", |fabric| fabric.strain_limit = 0.0),
            ("locking_factor", |fabric| fabric.locking_factor = 0.5),
            ("bending_stiffness", |fabric| {
                fabric.bending_stiffness = Real::NAN;
            }),
            ("membrane_damping", |fabric| fabric.membrane_damping = -1.0),
            ("bending_damping", |fabric| {
                fabric.bending_damping = Real::INFINITY;
            }),
            ("friction", |fabric| fabric.friction = -0.1),
        ];
        for (name, spoil) in breaks {
            let mut fabric = Fabric::COTTON;
            spoil(&mut fabric);
            let error = fabric.validate().expect_err("a bad number");
            assert_eq!(error.name, name);
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("Fabric::{name} is "))
            );
        }
    }

    #[test]
    fn strip_that_is_free_to_narrow_has_its_modulus() {
        for fabric in PRESETS {
            let membrane = fabric.membrane::<f64>();
            let narrowing = membrane.coupling_modulus / membrane.weft_modulus;
            let strain = 1e-3;
            let stress = membrane.second_stress(&PlaneTensor {
                warp: strain,
                weft: -narrowing * strain,
                shear: 0.0,
            });
            let modulus = f64::from(fabric.warp_modulus);
            assert!((stress.warp / (modulus * strain) - 1.0).abs() < 1e-6);
            assert!(stress.weft.abs() < 1e-6 * stress.warp);
        }
    }

    #[test]
    fn rubber_is_the_sheet_of_its_table() {
        let sheet = Fabric::sheet(1.5e6, 0.5, 1000.0, 1e-3);
        let rubber = Fabric::RUBBER;
        let near = |a: Real, b: Real, share: Real| (a - b).abs() <= share * b.abs();
        assert!(near(sheet.areal_density, rubber.areal_density, 1e-5));
        assert!(near(sheet.warp_modulus, rubber.warp_modulus, 1e-5));
        assert!(near(sheet.shear_modulus, rubber.shear_modulus, 1e-5));
        // 1.67e-4, which the table rounds down.
        assert!(near(
            sheet.bending_stiffness,
            rubber.bending_stiffness,
            0.05
        ));
    }

    #[test]
    fn hinge_friction_is_the_relaxation_time_of_its_stiffness() {
        let fabric = Fabric::COTTON.with_damping(0.0, 0.01);
        assert!((fabric.hinge_stiffness() - 4e-5).abs() < 1e-10);
        // Half of the stiffness times c₀, over 10 ms.
        assert!((fabric.hinge_damping(0.5) - 1e-7).abs() < 1e-12);
    }
}
