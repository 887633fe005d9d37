//! Mixed integration in time: forces of the shape explicit, forces of the speed implicit.
//!
//! Splitting the acceleration into a(x, v) = a_e(x) + a_v(x, v), with the elastic part and gravity in a_e and all
//! damping in a_v, a step of length Δt is one of
//!
//! ```text
//! light damping                                   heavy damping
//! 1  v½ = vⁿ + Δt/2 a(xⁿ, vⁿ)                     1  v½ = vⁿ + Δt/2 (a_e(xⁿ) + a_v(xⁿ, v½))    implicit
//! 2  ṽ  = v½ with limited strain                  2  ṽ  = v½ with limited strain
//! 3  xⁿ⁺¹ = xⁿ + Δt ṽ                             3  xⁿ⁺¹ = xⁿ + Δt ṽ
//!                                                 4  v½ = vⁿ + Δt/2 a(xⁿ, vⁿ)                  again, from vⁿ
//! 4  vⁿ⁺¹ = v½ + Δt/2 a(xⁿ⁺¹, vⁿ⁺¹)  implicit     5  vⁿ⁺¹ = v½ + Δt/2 a(xⁿ⁺¹, vⁿ⁺¹)            implicit
//! 5  vⁿ⁺¹ with limited strain                     6  vⁿ⁺¹ with limited strain
//! ```
//! `[001 §4.2]`, `[Bridson 2003]`. Both are of second order; both are stable for any damping, and for elastic forces
//! below the step that explicit integration allows. The last velocity is the trapezoidal rule on vⁿ, so it starts from
//! v½ *before* its strain was limited; the limited ṽ moves the points and is then forgotten.
//!
//! **Which one.** With damping rate c, the position of the light variant moves by Δt (1 − c Δt/2) vⁿ: above c Δt = 2 it
//! moves *against* the velocity. The heavy one moves by Δt vⁿ/(1 + c Δt/2), and a point left to drag alone travels
//! v⁰/c in the end, exactly, for any step. The velocity itself is multiplied by (1 − c Δt/2)/(1 + c Δt/2) in both:
//! never growing, but of alternating sign above c Δt = 2. The heavy variant costs a second implicit solve.
//!
//! # The implicit solves
//!
//! An implicit velocity solves v = v* + h a_v(x, v) with h = Δt/2, **half** the step, and v* from
//!
//! | step | v* | x |
//! |---|---|---|
//! | light 4, heavy 5: vⁿ⁺¹ | v½ + Δt/2 a_e(xⁿ⁺¹), with v½ = vⁿ + Δt/2 a(xⁿ, vⁿ) | xⁿ⁺¹ |
//! | heavy 1: v½ | vⁿ + Δt/2 a_e(xⁿ) | xⁿ |
//!
//! Where air is the only force of the speed, [`PointwiseAir::velocity_after`](crate::kernel::aerodynamics::PointwiseAir)
//! solves it for each point in closed form, as the source does, which leaves the damping of bending in a_e. With
//! damping between points in a_v the system is linear, symmetric and positive definite: conjugate gradients.

use nalgebra::Vector3;

use crate::kernel::scalar::{Scalar, real};

/// Explicit half step of a velocity, m/s: step 1 of the light variant and step 4 of the heavy one.
///
/// ```text
/// v½ = vⁿ + Δt/2 a
/// ```
/// `velocity` vⁿ in m/s, `acceleration` a(xⁿ, vⁿ) in m/s² with all forces in it, `step` Δt in s, the whole step.
///
/// Eq: `[001 §4.2]`.
#[inline(always)]
pub fn explicit_half_step<T: Scalar>(
    velocity: &Vector3<T>,
    acceleration: &Vector3<T>,
    step: T,
) -> Vector3<T> {
    velocity + acceleration * (step * real(0.5))
}

/// Position after the step, m.
///
/// ```text
/// xⁿ⁺¹ = xⁿ + Δt ṽ
/// ```
/// `position` xⁿ in m, `half_velocity` ṽ in m/s with its strain limited, `step` Δt in s.
///
/// Eq: `[001 §4.2]`.
#[inline(always)]
pub fn advance_position<T: Scalar>(
    position: &Vector3<T>,
    half_velocity: &Vector3<T>,
    step: T,
) -> Vector3<T> {
    position + half_velocity * step
}

#[cfg(test)]
mod tests;
