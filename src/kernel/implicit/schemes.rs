//! Schemes of implicit integration, all made of stages of one kind.
//!
//! A stage looks for the velocity v at its end, from a velocity `u` that everything but the implicit forces would lead
//! to, over an effective step h:
//!
//! ```text
//! M (v − u)/h = f(x, v),   x = x̂ + h v
//! ```
//! | scheme | h | x̂ | u |
//! |---|---|---|---|
//! | backward Euler | Δt | xⁿ | vⁿ + Δt aⁿ |
//! | second-order backward differences | 2/3 Δt | (4xⁿ − xⁿ⁻¹)/3 | (4vⁿ − vⁿ⁻¹)/3 + 2/3 Δt aⁿ |
//! | two-stage Runge–Kutta, first stage | γ Δt | xⁿ | vⁿ + γ Δt aⁿ |
//! | second stage | γ Δt | xⁿ + (1 − γ) Δt v₁ | vⁿ + (1 − γ) Δt i₁ + Δt (δ aⁿ + (1 − δ) a₁) |
//!
//! `a` are accelerations that are taken as given (weight, user forces), `i₁ = (v₁ − u₁)/(γ Δt)` those that the first stage
//! solved for. With γ = 1 − 1/√2 and δ = 1 − 1/(2γ) the Runge–Kutta scheme is second order in both, its phase error is
//! half of that of backward differences for the same number of solves, stiff motions die out (L-stable), both stages
//! have the same matrix, and it needs no history: a step that contact has cut into starts afresh.

use nalgebra::Vector3;

use crate::kernel::scalar::{Single, real};

/// γ of the two-stage scheme, 1 − 1/√2.
///
/// Eq: `[Ascher 1997 §2.6]`.
pub const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// δ of the two-stage scheme, 1 − 1/(2γ) = −1/√2.
///
/// Eq: `[Ascher 1997 §2.6]`.
pub const DELTA: f64 = -std::f64::consts::FRAC_1_SQRT_2;

/// What a particle brings into a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach<T: Single> {
    /// x̂, m.
    pub position: Vector3<T>,
    /// u, m/s.
    pub velocity: Vector3<T>,
}

/// Backward Euler.
///
/// ```text
/// x̂ = xⁿ,   u = vⁿ + Δt aⁿ
/// ```
/// Eq: `[Baraff 1998 §2]`.
#[inline(always)]
pub fn backward_euler<T: Single>(
    position: &Vector3<T>,
    velocity: &Vector3<T>,
    acceleration: &Vector3<T>,
    dt: T,
) -> Approach<T> {
    Approach {
        position: *position,
        velocity: velocity + acceleration * dt,
    }
}

/// Second-order backward differences, with effective step 2/3 Δt; `before` is one step earlier.
///
/// ```text
/// x̂ = (4 xⁿ − xⁿ⁻¹)/3,   u = (4 vⁿ − vⁿ⁻¹)/3 + 2/3 Δt aⁿ
/// ```
/// Eq: `[Hairer 1996 §V.1]`.
#[inline(always)]
pub fn backward_differences<T: Single>(
    now: (&Vector3<T>, &Vector3<T>),
    before: (&Vector3<T>, &Vector3<T>),
    acceleration: &Vector3<T>,
    dt: T,
) -> Approach<T> {
    let third: T = real(1.0 / 3.0);
    // Differences first: positions are much larger than what they change by.
    Approach {
        position: now.0 + (now.0 - before.0) * third,
        velocity: now.1 + (now.1 - before.1) * third + acceleration * (dt * real(2.0 / 3.0)),
    }
}

/// Second stage of the two-stage Runge–Kutta scheme; the first is [`backward_euler`] over γ Δt.
///
/// ```text
/// x̂ = xⁿ + (1 − γ) Δt v₁
/// u = vⁿ + (1 − γ) Δt i₁ + Δt (δ aⁿ + (1 − δ) a₁),   i₁ = (v₁ − vⁿ)/(γ Δt) − aⁿ
/// ```
/// # Arguments
/// * `start` – xⁿ and vⁿ
/// * `first_velocity` – v₁, the result of the first stage
/// * `accelerations` – given accelerations aⁿ at the start and a₁ at the first stage
///
/// Eq: `[Ascher 1997 §2.6]`.
#[inline(always)]
pub fn second_stage<T: Single>(
    start: (&Vector3<T>, &Vector3<T>),
    first_velocity: &Vector3<T>,
    accelerations: (&Vector3<T>, &Vector3<T>),
    dt: T,
) -> Approach<T> {
    let (gamma, delta): (T, T) = (real(GAMMA), real(DELTA));
    let rest = T::one() - gamma;
    let implicit = (first_velocity - start.1) * (rest / gamma) - accelerations.0 * (rest * dt);
    let given = accelerations.0 * delta + accelerations.1 * (T::one() - delta);
    Approach {
        position: start.0 + first_velocity * (rest * dt),
        velocity: start.1 + implicit + given * dt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Velocity of an oscillator x'' = −ω² x + a at the end of a stage.
    fn stage(approach: &Approach<f64>, h: f64, omega: f64) -> (Vector3<f64>, Vector3<f64>) {
        let squared = omega * omega;
        let velocity =
            (approach.velocity - approach.position * (h * squared)) / (1.0 + h * h * squared);
        (approach.position + velocity * h, velocity)
    }

    fn run(scheme: u32, omega: f64, acceleration: f64, dt: f64, steps: usize) -> (f64, f64) {
        let given = Vector3::x() * acceleration;
        let (mut x, mut v) = (Vector3::x(), Vector3::zeros());
        // The history that is exact.
        let phase = -omega * dt;
        let mut before = (
            Vector3::x() * phase.cos(),
            -Vector3::x() * omega * phase.sin(),
        );
        for _ in 0..steps {
            let now = (x, v);
            (x, v) = match scheme {
                0 => stage(&backward_euler(&x, &v, &given, dt), dt, omega),
                1 => {
                    let approach =
                        backward_differences((&x, &v), (&before.0, &before.1), &given, dt);
                    stage(&approach, dt * 2.0 / 3.0, omega)
                }
                _ => {
                    let h = GAMMA * dt;
                    let (_, first) = stage(&backward_euler(&x, &v, &given, h), h, omega);
                    stage(
                        &second_stage((&x, &v), &first, (&given, &given), dt),
                        h,
                        omega,
                    )
                }
            };
            before = now;
        }
        (x.x, v.x)
    }

    #[test]
    fn constants_satisfy_the_order_conditions() {
        assert_relative_eq!(2.0 * GAMMA - GAMMA * GAMMA, 0.5, epsilon = 1e-15);
        assert_relative_eq!(DELTA, 1.0 - 0.5 / GAMMA, epsilon = 1e-15);
    }

    #[test]
    fn schemes_have_their_order() {
        let error = |scheme, steps: usize| {
            let (x, _) = run(scheme, 2.0, 0.0, 1.0 / steps as f64, steps);
            (x - 2.0_f64.cos()).abs()
        };
        for (scheme, order) in [(0, 1.0), (1, 2.0), (2, 2.0)] {
            let measured = (error(scheme, 400) / error(scheme, 800)).log2();
            assert!(
                (measured - order).abs() < 0.1,
                "scheme {scheme}: {measured}"
            );
        }
        // For the same number of solves.
        assert!(error(2, 400) < 0.6 * error(1, 800));
    }

    #[test]
    fn free_fall_is_exact_to_second_order_and_stiff_motion_dies_out() {
        let (x, v) = run(2, 0.0, -9.81, 0.1, 10);
        assert_relative_eq!(x, 1.0 - 0.5 * 9.81, epsilon = 1e-12);
        assert_relative_eq!(v, -9.81, epsilon = 1e-12);
        for scheme in 0..3 {
            let (x, _) = run(scheme, 1e6, 0.0, 0.1, 3);
            assert!(x.abs() < 1e-3, "scheme {scheme}: {x}");
        }
    }
}
