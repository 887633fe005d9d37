//! Woven membranes: how cloth resists a stretch and a shear within its own surface.
//!
//! The law is the orthotropic one of St. Venant and Kirchhoff, in the directions of warp and weft. Beyond a strain of
//! choice the threads lie straight and the modulus of their direction grows by a factor: cloth is soft at first and
//! hardly stretches after that. Internal friction follows the same moduli.
//!
//! Stresses are integrated over the thickness: N/m, and energies J/m², both per **rest** area.

use super::strain::PlaneTensor;
use super::tangent::TangentModuli;
use crate::kernel::scalar::{Scalar, real};

/// Moduli of a membrane, N/m.
///
/// Stable for `coupling_modulus² ≤ warp_modulus · weft_modulus` and moduli that are not negative. An isotropic sheet of
/// Young's modulus E (Pa), thickness t and Poisson's ratio ν has
///
/// ```text
/// Y_u = Y_v = E t / (1 − ν²),   Y_c = ν Y_u,   G = E t / (2 (1 + ν))
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Membrane<T> {
    /// Y_u: tension along the warp per strain along the warp while the weft keeps its length, N/m.
    pub warp_modulus: T,
    /// Y_v: the same for the weft, N/m.
    pub weft_modulus: T,
    /// Y_c: tension along one direction per strain along the other, N/m.
    pub coupling_modulus: T,
    /// G: shear force per width and shear angle, N/m.
    pub shear_modulus: T,
    /// ε: engineering strain of warp or weft beyond which it stiffens, not negative, without unit; infinite for never.
    pub locking_strain: T,
    /// s: factor of the modulus beyond the locking strain, one or more; one for none.
    pub locking_factor: T,
}

impl<T: Scalar> Membrane<T> {
    /// Green strain at which the threads lock.
    ///
    /// ```text
    /// E_lock = ½ ((1 + ε)² − 1)
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    #[must_use]
    pub fn locking_green_strain(&self) -> T {
        self.locking_strain * (T::one() + self.locking_strain * real::<T>(0.5))
    }

    /// Strains of warp and weft beyond locking, zero below.
    #[inline(always)]
    fn excess(&self, strain: &PlaneTensor<T>) -> (T, T) {
        let locking = self.locking_green_strain();
        (
            (strain.warp - locking).simd_max(T::zero()),
            (strain.weft - locking).simd_max(T::zero()),
        )
    }

    /// Elastic energy per rest area, J/m².
    ///
    /// ```text
    /// ψ = ½ Y_u E_uu² + ½ Y_v E_vv² + Y_c E_uu E_vv + 2 G E_uv²
    ///   + ½ (s − 1) (Y_u max(E_uu − E_lock, 0)² + Y_v max(E_vv − E_lock, 0)²),   E_lock = ½ ((1 + ε)² − 1)
    /// ```
    /// Eq: elementary (St. Venant and Kirchhoff, orthotropic, `[Wang 2011]`); stiffening after `[Volino 2009]`.
    #[inline(always)]
    pub fn energy_density(&self, strain: &PlaneTensor<T>) -> T {
        let (warp_excess, weft_excess) = self.excess(strain);
        let stiffening = self.locking_factor - T::one();
        let warp = strain.warp * strain.warp + stiffening * warp_excess * warp_excess;
        let weft = strain.weft * strain.weft + stiffening * weft_excess * weft_excess;
        let stretch = self.warp_modulus * warp + self.weft_modulus * weft;
        stretch * real::<T>(0.5)
            + self.coupling_modulus * strain.warp * strain.weft
            + self.shear_modulus * strain.shear * strain.shear * real::<T>(2.0)
    }

    /// Second Piola–Kirchhoff stress, N/m; `F S` is the first.
    ///
    /// ```text
    /// S_uu = Y_u (E_uu + (s − 1) max(E_uu − E_lock, 0)) + Y_c E_vv,   S_vv alike,   S_uv = 2 G E_uv
    /// ```
    /// Eq: ∂ψ/∂E; stiffening after `[Volino 2009]`.
    #[inline(always)]
    pub fn second_stress(&self, strain: &PlaneTensor<T>) -> PlaneTensor<T> {
        let (warp_excess, weft_excess) = self.excess(strain);
        let stiffening = self.locking_factor - T::one();
        let warp = self.warp_modulus * (strain.warp + stiffening * warp_excess);
        let weft = self.weft_modulus * (strain.weft + stiffening * weft_excess);
        PlaneTensor {
            warp: warp + self.coupling_modulus * strain.weft,
            weft: weft + self.coupling_modulus * strain.warp,
            shear: self.shear_modulus * strain.shear * real::<T>(2.0),
        }
    }

    /// Second Piola–Kirchhoff stress of the internal friction (Kelvin and Voigt), N/m.
    ///
    /// ```text
    /// S_v = τ C Ė        C the moduli without stiffening
    /// ```
    /// `damping_time` τ in s, `strain_rate` Ė in 1/s. With Ė = (E(x) − Ê)/h it is the gradient of h/2 τ Ė : C : Ė by E:
    /// an implicit step that no rotation resists.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn viscous_stress(&self, strain_rate: &PlaneTensor<T>, damping_time: T) -> PlaneTensor<T> {
        let stress = PlaneTensor {
            warp: self.warp_modulus * strain_rate.warp + self.coupling_modulus * strain_rate.weft,
            weft: self.weft_modulus * strain_rate.weft + self.coupling_modulus * strain_rate.warp,
            shear: self.shear_modulus * strain_rate.shear * real::<T>(2.0),
        };
        stress * damping_time
    }

    /// Power that the internal friction takes, per rest area, W/m²; never negative for stable moduli.
    ///
    /// ```text
    /// Ω = τ Ė : C : Ė = S_v : Ė
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn viscous_power_density(&self, strain_rate: &PlaneTensor<T>, damping_time: T) -> T {
        self.viscous_stress(strain_rate, damping_time)
            .contract(strain_rate)
    }

    /// Moduli at a strain, N/m, for [`TangentModuli::node_stiffness`].
    ///
    /// ```text
    /// C_uu = Y_u (1 + τ/h + (s − 1) [E_uu > E_lock]),   C_vv alike,   C_c = Y_c (1 + τ/h),   G (1 + τ/h)
    /// ```
    /// `damping_ratio` τ/h without unit: the damping time over the effective length of an implicit step, zero without
    /// friction.
    ///
    /// Eq: ∂²ψ/∂E²; stiffening after `[Volino 2009]`.
    #[inline(always)]
    pub fn tangent(&self, strain: &PlaneTensor<T>, damping_ratio: T) -> TangentModuli<T> {
        let locking = self.locking_green_strain();
        let damped = damping_ratio + T::one();
        let locked = damping_ratio + self.locking_factor;
        TangentModuli {
            warp: self.warp_modulus * locked.select(strain.warp.simd_gt(locking), damped),
            weft: self.weft_modulus * locked.select(strain.weft.simd_gt(locking), damped),
            coupling: self.coupling_modulus * damped,
            shear: self.shear_modulus * damped,
        }
    }

    /// Moduli of the friction alone, N·s/m: what [`viscous_stress`](Self::viscous_stress) is linear in, for
    /// [`TangentModuli::node_stiffness`] at no stress.
    ///
    /// ```text
    /// τ Y_u,   τ Y_v,   τ Y_c,   τ G
    /// ```
    /// `damping_time` τ in s.
    ///
    /// Eq: derivative of the viscous stress by the strain rate, elementary.
    #[inline(always)]
    pub fn viscous_moduli(&self, damping_time: T) -> TangentModuli<T> {
        TangentModuli {
            warp: self.warp_modulus * damping_time,
            weft: self.weft_modulus * damping_time,
            coupling: self.coupling_modulus * damping_time,
            shear: self.shear_modulus * damping_time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const CLOTH: Membrane<f64> = Membrane {
        warp_modulus: 4000.0,
        weft_modulus: 2500.0,
        coupling_modulus: 600.0,
        shear_modulus: 45.0,
        locking_strain: 0.07,
        locking_factor: 8.0,
    };

    fn tensor(warp: f64, weft: f64, shear: f64) -> PlaneTensor<f64> {
        PlaneTensor { warp, weft, shear }
    }

    #[test]
    fn pure_stretches_and_shear_have_the_textbook_energies() {
        let stretch = 0.03;
        let green = stretch + 0.5 * stretch * stretch;
        let energy = |strain| CLOTH.energy_density(&strain);
        let half_square = 0.5 * green * green;
        assert_relative_eq!(energy(tensor(green, 0.0, 0.0)), 4000.0 * half_square);
        assert_relative_eq!(energy(tensor(0.0, green, 0.0)), 2500.0 * half_square);
        let both = (4000.0 + 2500.0 + 2.0 * 600.0) * half_square;
        assert_relative_eq!(
            energy(tensor(green, green, 0.0)),
            both,
            max_relative = 1e-14
        );
        // A shear by the angle γ has γ twice as its entry off the diagonal: ½ G γ².
        let angle = 0.02;
        let sheared = energy(tensor(0.0, 0.0, 0.5 * angle));
        assert_relative_eq!(sheared, 0.5 * 45.0 * angle * angle, max_relative = 1e-14);
    }

    #[test]
    fn isotropic_moduli_give_plane_stress() {
        let (young, thickness, poisson) = (1.5e6, 1e-3, 0.4);
        let stiff = young * thickness / (1.0 - poisson * poisson);
        let shear = young * thickness / (2.0 * (1.0 + poisson));
        let rubber = Membrane {
            warp_modulus: stiff,
            weft_modulus: stiff,
            coupling_modulus: poisson * stiff,
            shear_modulus: shear,
            locking_strain: f64::INFINITY,
            locking_factor: 1.0,
        };
        // A strip that is free to narrow: Young's modulus, and no tension across.
        let stress = rubber.second_stress(&tensor(0.01, -poisson * 0.01, 0.0));
        assert_relative_eq!(stress.warp, young * thickness * 0.01, max_relative = 1e-12);
        assert_relative_eq!(stress.weft, 0.0, epsilon = 1e-12);
        // Isotropic: the same energy in any direction within the sheet.
        let strain = tensor(0.02, -0.01, 0.013);
        for angle in [0.3_f64, 1.0, 2.5] {
            let (s, c) = angle.sin_cos();
            let turned = tensor(
                c * c * strain.warp + s * s * strain.weft + 2.0 * s * c * strain.shear,
                s * s * strain.warp + c * c * strain.weft - 2.0 * s * c * strain.shear,
                s * c * (strain.weft - strain.warp) + (c * c - s * s) * strain.shear,
            );
            let energy = rubber.energy_density(&turned);
            assert_relative_eq!(energy, rubber.energy_density(&strain), max_relative = 1e-12);
        }
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy_and_the_tangent_that_of_the_stress() {
        let mut random = Random::new(70);
        let locked = CLOTH.locking_green_strain();
        for _ in 0..100 {
            let strain = random.vector(0.15);
            // The second derivative jumps where a thread locks.
            if (strain.x - locked).abs() < 1e-3 || (strain.y - locked).abs() < 1e-3 {
                continue;
            }
            let strain = tensor(strain.x, strain.y, strain.z);
            let change = random.vector(1.0);
            let change = tensor(change.x, change.y, change.z);
            let step = 1e-5;
            let (later, earlier) = (strain + change * step, strain - change * step);
            let slope =
                (CLOTH.energy_density(&later) - CLOTH.energy_density(&earlier)) / (2.0 * step);
            let stress = CLOTH.second_stress(&strain);
            assert_relative_eq!(stress.contract(&change), slope, epsilon = 1e-6);

            let difference =
                (CLOTH.second_stress(&later) - CLOTH.second_stress(&earlier)) * (0.5 / step);
            let moduli = CLOTH.tangent(&strain, 0.0);
            let warp = moduli.warp * change.warp + moduli.coupling * change.weft;
            let weft = moduli.weft * change.weft + moduli.coupling * change.warp;
            assert_relative_eq!(difference.warp, warp, epsilon = 1e-5);
            assert_relative_eq!(difference.weft, weft, epsilon = 1e-5);
            let shear = 2.0 * moduli.shear * change.shear;
            assert_relative_eq!(difference.shear, shear, epsilon = 1e-6);
        }
    }

    #[test]
    fn locking_begins_at_its_strain_without_a_jump_of_the_stress() {
        let locked = 0.5 * (1.07_f64 * 1.07 - 1.0);
        let stress = |strain: f64| CLOTH.second_stress(&tensor(strain, 0.0, 0.0)).warp;
        let step = 1e-6;
        let below = (stress(locked) - stress(locked - step)) / step;
        let above = (stress(locked + step) - stress(locked)) / step;
        assert_relative_eq!(below, 4000.0, max_relative = 1e-6);
        assert_relative_eq!(above, 8.0 * 4000.0, max_relative = 1e-6);
        let weft = |strain: f64| CLOTH.second_stress(&tensor(0.0, strain, 0.0)).weft;
        let above = (weft(locked + step) - weft(locked)) / step;
        assert_relative_eq!(above, 8.0 * 2500.0, max_relative = 1e-6);
        let before = CLOTH.tangent(&tensor(locked - step, locked + step, 0.0), 0.0);
        assert_relative_eq!(before.warp, 4000.0);
        assert_relative_eq!(before.weft, 20_000.0);
    }

    #[test]
    fn cloth_that_never_locks_is_the_plain_law_in_every_precision() {
        let strain = tensor(0.4, 0.3, 0.1);
        let plain = 0.5 * 4000.0 * 0.16 + 0.5 * 2500.0 * 0.09 + 600.0 * 0.12 + 2.0 * 45.0 * 0.01;
        for (locking_strain, locking_factor) in [(f64::INFINITY, 8.0), (0.07, 1.0), (1e300, 8.0)] {
            let cloth = Membrane {
                locking_strain,
                locking_factor,
                ..CLOTH
            };
            assert_relative_eq!(cloth.energy_density(&strain), plain, max_relative = 1e-14);
            assert_eq!(cloth.tangent(&strain, 0.0).warp, 4000.0);
        }
        let single = Membrane {
            warp_modulus: 4000.0_f32,
            weft_modulus: 2500.0,
            coupling_modulus: 600.0,
            shear_modulus: 45.0,
            locking_strain: f32::INFINITY,
            locking_factor: 8.0,
        };
        let strain = PlaneTensor {
            warp: 0.4_f32,
            weft: 0.3,
            shear: 0.1,
        };
        assert_relative_eq!(
            single.energy_density(&strain),
            plain as f32,
            max_relative = 1e-6
        );
        assert!(single.second_stress(&strain).warp.is_finite());
    }

    #[test]
    fn friction_takes_power_and_is_the_gradient_of_an_implicit_step() {
        let mut random = Random::new(71);
        let damping_time = 2e-3;
        for _ in 0..50 {
            let rate = random.vector(1.0);
            let rate = tensor(rate.x, rate.y, rate.z);
            let power = |rate: &PlaneTensor<f64>| CLOTH.viscous_power_density(rate, damping_time);
            assert!(power(&rate) > 0.0);
            // Without stiffening the power is twice the elastic energy of the rate, times τ.
            let plain = Membrane {
                locking_factor: 1.0,
                ..CLOTH
            };
            let expected = 2.0 * damping_time * plain.energy_density(&rate);
            assert_relative_eq!(power(&rate), expected, max_relative = 1e-12);
            let change = random.vector(1.0);
            let change = tensor(change.x, change.y, change.z);
            let step = 1e-5;
            let slope =
                (power(&(rate + change * step)) - power(&(rate - change * step))) / (4.0 * step);
            let stress = CLOTH.viscous_stress(&rate, damping_time);
            assert_relative_eq!(stress.contract(&change), slope, epsilon = 1e-8);
        }
        // What the friction is linear in, also beyond the lock.
        let rate = tensor(0.3, -0.2, 0.4);
        let moduli = CLOTH.viscous_moduli(damping_time);
        let stress = CLOTH.viscous_stress(&rate, damping_time);
        assert_relative_eq!(stress.warp, moduli.warp * 0.3 - moduli.coupling * 0.2);
        assert_relative_eq!(stress.shear, moduli.shear * 2.0 * 0.4);
        // Stiffness of the step: τ/h of the moduli that do not stiffen, on top.
        let strain = tensor(0.2, 0.0, 0.0);
        let moduli = CLOTH.tangent(&strain, 0.5);
        assert_relative_eq!(moduli.warp, 8.5 * 4000.0);
        assert_relative_eq!(moduli.weft, 1.5 * 2500.0);
        assert_relative_eq!(moduli.coupling, 1.5 * 600.0);
        assert_relative_eq!(moduli.shear, 1.5 * 45.0);
    }
}
