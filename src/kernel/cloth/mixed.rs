//! Mixed integration in time: forces of the shape explicit, forces of the speed implicit.
//!
//! Splitting the acceleration into a(x, v) = a_e(x) + a_v(x, v), with the elastic part and gravity in a_e and all
//! damping in a_v, a step of length Δt is one of
//!
//! ```text
//! light damping                                   heavy damping
//! 1  v½ = vⁿ + Δt/2 a(xⁿ, vⁿ)                     1  ṽ  = vⁿ + Δt/2 (a_e(xⁿ) + a_v(xⁿ, ṽ))     implicit
//! 2  v½ + i with limited strain                   2  ṽ + i with limited strain
//! 3  xⁿ⁺¹ = xⁿ + Δt (v½ + i)                      3  xⁿ⁺¹ = xⁿ + Δt (ṽ + i)
//!                                                 4  v½ = vⁿ + Δt/2 a(xⁿ, vⁿ)                  again, from vⁿ
//! 4  vⁿ⁺¹ = v½ + i + Δt/2 a(xⁿ⁺¹, vⁿ⁺¹) implicit  5  vⁿ⁺¹ = v½ + i + Δt/2 a(xⁿ⁺¹, vⁿ⁺¹)        implicit
//! 5  vⁿ⁺¹ with limited strain                     6  vⁿ⁺¹ with limited strain
//! ```
//! `[001 §4.2]`, `[Bridson 2003]`. Both are of second order; both are stable for any damping, and for elastic forces
//! below the step that explicit integration allows. The last velocity is the trapezoidal rule on vⁿ.
//!
//! **What limits change goes on.** The impulses i of the limits stay in the velocities: they are those of a constraint at
//! the start of the step. The source can be read so that the limited velocity moves the points and is then forgotten;
//! but then a cloth that hangs still at its limit keeps a velocity that does not move it, of half a step of its weight,
//! and angular momentum changes by Δt i × m v½.
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
//! | light 4, heavy 5: vⁿ⁺¹ | v½ + i + Δt/2 a_e(xⁿ⁺¹), with v½ = vⁿ + Δt/2 a(xⁿ, vⁿ) | xⁿ⁺¹ |
//! | heavy 1: ṽ | vⁿ + Δt/2 a_e(xⁿ) | xⁿ |
//!
//! Where air is the only force of the speed, [`PointwiseAir::velocity_after`](crate::kernel::aerodynamics::PointwiseAir)
//! solves it for each point in closed form, as the source does, which leaves the damping of bending in a_e. With
//! damping between points in a_v the system is linear, symmetric and positive definite: conjugate gradients.

#[cfg(test)]
mod tests;
