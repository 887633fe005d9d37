//! The Runge–Kutta–Fehlberg method of order 4 with an error estimate of order 5.
//!
//! ```text
//! vᵢ = f(t + sᵢ τ, x + τ Σⱼ cᵢⱼ vⱼ),   x' = x + τ Σᵢ dᵢ vᵢ,   E = max |Σᵢ eᵢ vᵢ|
//! ```
//! `E` is the estimated error **per unit time**, of order τ⁴, which is why the step grows with a fourth root. Positions
//! and velocities have different units: scale the errors of each before taking the maximum.
//!
//! Errata of the seed: d₃ is +1408/2565 (printed negative; the weights then do not sum to one), and the new step is
//! τ (ε/(2E))^¼ (printed with the fraction upside down, which enlarges steps that were rejected).

use super::scalar::{Single, real};

/// Number of evaluations of the derivative in one step.
pub const STAGES: usize = 6;

/// sᵢ: times of the evaluations as shares of the step.
///
/// Eq: `[000 table 6.1]`, `[Fehlberg 1969]`.
pub const NODES: [f64; STAGES] = [0.0, 1.0 / 4.0, 3.0 / 8.0, 12.0 / 13.0, 1.0, 1.0 / 2.0];

/// cᵢⱼ: how the earlier derivatives lead to the state of each evaluation; row 0 is empty.
///
/// Eq: `[000 table 6.1]`, `[Fehlberg 1969]`.
pub const STAGE_WEIGHTS: [[f64; STAGES - 1]; STAGES] = [
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0 / 4.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 32.0, 9.0 / 32.0, 0.0, 0.0, 0.0],
    [1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0, 0.0, 0.0],
    [439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0, 0.0],
    [
        -8.0 / 27.0,
        2.0,
        -3544.0 / 2565.0,
        1859.0 / 4104.0,
        -11.0 / 40.0,
    ],
];

/// dᵢ: weights of the result of order 4.
///
/// Eq: `[000 table 6.1]` with the module's erratum, `[Fehlberg 1969]`.
pub const WEIGHTS: [f64; STAGES] = [
    25.0 / 216.0,
    0.0,
    1408.0 / 2565.0,
    2197.0 / 4104.0,
    -1.0 / 5.0,
    0.0,
];

/// eᵢ: weights of the error estimate, the difference of the results of order 5 and 4.
///
/// Eq: `[000 §6.4.4]`, `[Fehlberg 1969]`.
pub const ERROR_WEIGHTS: [f64; STAGES] = [
    1.0 / 360.0,
    0.0,
    -128.0 / 4275.0,
    -2197.0 / 75240.0,
    1.0 / 50.0,
    2.0 / 55.0,
];

/// Smallest factor from one step to the next.
pub const SMALLEST_FACTOR: f64 = 0.1;

/// Largest factor from one step to the next.
pub const LARGEST_FACTOR: f64 = 4.0;

/// What to do after an attempted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDecision<T> {
    /// Whether the result of the attempt holds; else the step is taken again with `next`.
    pub accepted: bool,
    /// The next step to attempt, s.
    pub next: T,
}

/// Whether a step of length `step` (s) holds, and how long the next one is.
///
/// ```text
/// accepted:  E ≤ ε  or  τ ≤ τ_min
/// τ' = τ (ε/(2E))^¼,   factor within [0.1, 4],   τ' within [τ_min, τ_max]
/// ```
/// `error` E and `tolerance` ε in one unit (per time). A rejected step always shrinks, unless it is the smallest one,
/// which is accepted whatever its error. An error that is not finite rejects the step with the smallest factor; an
/// error of zero takes the largest.
///
/// Eq: `[000 §6.4.4]` with the module's erratum, `[Burden Faires 2010 §5.5]`.
pub fn next_step<T: Single>(
    step: T,
    error: T,
    tolerance: T,
    smallest: T,
    largest: T,
) -> StepDecision<T> {
    let (least, most) = (real::<T>(SMALLEST_FACTOR), real::<T>(LARGEST_FACTOR));
    let accepted = error <= tolerance || step <= smallest;
    let factor = if error <= T::zero() {
        most
    } else {
        let quotient = tolerance / (error + error);
        if quotient >= T::zero() {
            // Two square roots give the same bits on every machine; a general power need not.
            quotient.sqrt().sqrt().max(least).min(most)
        } else {
            least
        }
    };
    StepDecision {
        accepted,
        next: (step * factor).min(largest).max(smallest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use std::f64::consts::TAU;

    fn sum(term: impl Fn(usize) -> f64) -> f64 {
        (0..STAGES).map(term).sum()
    }

    /// `Σⱼ cᵢⱼ xⱼ`
    fn through(row: usize, values: &[f64; STAGES]) -> f64 {
        STAGE_WEIGHTS[row]
            .iter()
            .zip(values)
            .map(|(c, x)| c * x)
            .sum()
    }

    fn each(term: impl Fn(usize) -> f64) -> [f64; STAGES] {
        std::array::from_fn(term)
    }

    /// The elementary weights of all rooted trees of up to five vertices, with the value that each must have.
    fn conditions(weights: [f64; STAGES]) -> Vec<(u32, f64, f64)> {
        let c = NODES;
        let power = |exponent| each(|i| c[i].powi(exponent));
        let a = |values: &[f64; STAGES]| each(|i| through(i, values));
        let [c2, c3] = [power(2), power(3)];
        let (ac, ac2, ac3) = (a(&c), a(&c2), a(&c3));
        let aac = a(&ac);
        let cac = each(|i| c[i] * ac[i]);
        let weigh = |values: &[f64; STAGES]| sum(|i| weights[i] * values[i]);
        vec![
            (1, weigh(&[1.0; STAGES]), 1.0),
            (2, weigh(&c), 1.0 / 2.0),
            (3, weigh(&c2), 1.0 / 3.0),
            (3, weigh(&ac), 1.0 / 6.0),
            (4, weigh(&c3), 1.0 / 4.0),
            (4, weigh(&cac), 1.0 / 8.0),
            (4, weigh(&ac2), 1.0 / 12.0),
            (4, weigh(&aac), 1.0 / 24.0),
            (5, weigh(&power(4)), 1.0 / 5.0),
            (5, weigh(&each(|i| c2[i] * ac[i])), 1.0 / 10.0),
            (5, weigh(&each(|i| ac[i] * ac[i])), 1.0 / 20.0),
            (5, weigh(&each(|i| c[i] * ac2[i])), 1.0 / 15.0),
            (5, weigh(&each(|i| c[i] * aac[i])), 1.0 / 30.0),
            (5, weigh(&ac3), 1.0 / 20.0),
            (5, weigh(&a(&cac)), 1.0 / 40.0),
            (5, weigh(&a(&ac2)), 1.0 / 60.0),
            (5, weigh(&a(&aac)), 1.0 / 120.0),
        ]
    }

    #[test]
    fn rows_sum_to_their_nodes() {
        for (row, node) in NODES.iter().enumerate() {
            assert_relative_eq!(through(row, &[1.0; STAGES]), *node, epsilon = 1e-14);
        }
    }

    #[test]
    fn weights_meet_the_conditions_of_order_four() {
        for (order, value, expected) in conditions(WEIGHTS) {
            if order <= 4 {
                assert_relative_eq!(value, expected, epsilon = 1e-14);
            }
        }
    }

    #[test]
    fn error_weights_lead_to_a_result_of_order_five() {
        let fifth = each(|i| WEIGHTS[i] + ERROR_WEIGHTS[i]);
        for (_, value, expected) in conditions(fifth) {
            assert_relative_eq!(value, expected, epsilon = 1e-14);
        }
    }

    /// One step of the oscillator x'' = −x: the new state and the error estimate.
    fn step(state: [f64; 2], length: f64) -> ([f64; 2], f64) {
        let mut slopes = [[0.0; 2]; STAGES];
        for stage in 0..STAGES {
            let mut at = state;
            for (weight, slope) in STAGE_WEIGHTS[stage].iter().zip(slopes) {
                at[0] += length * weight * slope[0];
                at[1] += length * weight * slope[1];
            }
            slopes[stage] = [at[1], -at[0]];
        }
        let combine = |weights: [f64; STAGES], part: usize| sum(|i| weights[i] * slopes[i][part]);
        let next = [0, 1].map(|part| state[part] + length * combine(WEIGHTS, part));
        let error = [0, 1].map(|part| combine(ERROR_WEIGHTS, part).abs());
        (next, error[0].max(error[1]))
    }

    fn error_after_a_period(steps: u32) -> f64 {
        let mut state = [1.0, 0.0];
        for _ in 0..steps {
            state = step(state, TAU / f64::from(steps)).0;
        }
        (state[0] - 1.0).hypot(state[1])
    }

    #[test]
    fn oscillator_converges_with_order_four() {
        let order = (error_after_a_period(64) / error_after_a_period(128)).log2();
        assert!((3.9..4.3).contains(&order), "order {order}");
    }

    #[test]
    fn estimate_is_the_error_per_time() {
        let length = 0.05_f64;
        let (next, estimate) = step([1.0, 0.0], length);
        let error = (next[0] - length.cos())
            .abs()
            .max((next[1] + length.sin()).abs());
        assert_relative_eq!(estimate, error / length, max_relative = 0.05);
    }

    #[test]
    fn controller_follows_the_tolerance() {
        let tolerance = 1e-9;
        let (mut state, mut time, mut length) = ([1.0, 0.0], 0.0, 1.0);
        let mut rejected = 0;
        while time < 20.0 {
            let (next, error) = step(state, length);
            let decision = next_step(length, error, tolerance, 1e-6, 1.0);
            if decision.accepted {
                (state, time) = (next, time + length);
            } else {
                rejected += 1;
                assert!(decision.next < length);
            }
            length = decision.next;
        }
        assert!(rejected < 5);
        assert!((state[0] - time.cos()).abs() < 20.0 * tolerance);
    }

    #[test]
    fn decisions_are_bounded_and_never_stuck() {
        let decide = |step, error| next_step(step, error, 1.0, 1e-3, 10.0);
        assert_eq!(
            decide(1.0, 0.0),
            StepDecision {
                accepted: true,
                next: 4.0
            }
        );
        assert_eq!(decide(5.0, 0.0).next, 10.0);
        assert_eq!(
            decide(1.0, 1e30),
            StepDecision {
                accepted: false,
                next: 0.1
            }
        );
        assert!(decide(1.0, 1.5).next < 1.0 && !decide(1.0, 1.5).accepted);
        assert_eq!(
            decide(1e-3, 1e30),
            StepDecision {
                accepted: true,
                next: 1e-3
            }
        );
        for error in [f64::NAN, f64::INFINITY] {
            assert_eq!(
                decide(1.0, error),
                StepDecision {
                    accepted: false,
                    next: 0.1
                }
            );
        }
    }
}
