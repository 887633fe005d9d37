//! Provot's correction: stretched springs are shortened by moving their ends.

use nalgebra::Vector3;

use super::{Report, Springs, Sweep};
use crate::kernel::scalar::{Single, real};

/// How [`correct_positions`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionCorrection<T: Single> {
    /// τ_c, largest elongation as a share of the rest length; 0.1 by default.
    pub stretch: T,
    /// Passes over all springs; 4 by default.
    pub sweeps: u32,
    /// Order within a pass; forward by default.
    pub sweep: Sweep,
}

impl<T: Single> Default for PositionCorrection<T> {
    fn default() -> Self {
        Self {
            stretch: real(0.1),
            sweeps: 4,
            sweep: Sweep::Forward,
        }
    }
}

/// Shortens springs that are longer than they may be, by moving their ends along the spring.
///
/// ```text
/// |l| > (1 + τ_c) l⁰,  l = x_j − x_i:   d = (1 − (1 + τ_c) l⁰/|l|) l
/// both ends free:   x_i += d/2,  x_j −= d/2
/// one end fixed:    the free end moves by the whole d
/// ```
/// `positions` x in m. `inverse_masses` in 1/kg: zero means fixed, and nothing else of it counts, so that both ends of a
/// free spring move by half. Give it structural and shear springs; bending springs are not limited.
///
/// **What it costs.** The velocities do not follow, so the correction adds energy. It moves the centre of mass when an
/// end is fixed or the two masses differ, and the moved points may pass through other parts of the cloth. The method
/// is kept as it was published; [`limit_strain`](super::limit_strain) does better in each of these points.
///
/// Springs between two fixed points, and springs of no length, stay as they are.
///
/// Eq: `[001 §3.3]`, `[Provot 1995]`.
pub fn correct_positions<T: Single>(
    positions: &mut [Vector3<T>],
    inverse_masses: &[T],
    springs: &Springs<'_, T>,
    correction: &PositionCorrection<T>,
) -> Report<T> {
    let points = positions.len().min(inverse_masses.len());
    let count = springs.count();
    let stretch = T::one() + correction.stretch;
    let mut corrected = 0;
    for sweep in 0..correction.sweeps {
        for turn in 0..count {
            let spring = correction.sweep.element(sweep, turn, count);
            let Some(([i, j], rest_length)) = springs.get(spring, points) else {
                continue;
            };
            let (longest, offset) = (stretch * rest_length, positions[j] - positions[i]);
            let length = offset.norm();
            let free = [inverse_masses[i] > T::zero(), inverse_masses[j] > T::zero()];
            if length <= longest || free == [false, false] {
                continue;
            }
            let change = offset * (T::one() - longest / length);
            let share = if free == [true, true] {
                real(0.5)
            } else {
                T::one()
            };
            if free[0] {
                positions[i] += change * share;
            }
            if free[1] {
                positions[j] -= change * share;
            }
            corrected += 1;
        }
    }
    let mut violation = T::zero();
    for spring in 0..count {
        if let Some(([i, j], rest_length)) = springs.get(spring, points) {
            let length = (positions[j] - positions[i]).norm();
            violation = violation.max(length / rest_length - stretch);
        }
    }
    Report {
        corrected,
        violation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    const ONE: Springs<'_, f64> = Springs {
        ends: &[[0, 1]],
        rest_lengths: &[1.0],
    };

    #[test]
    fn free_ends_meet_in_the_middle_whatever_their_mass() {
        let mut positions = [Vector3::zeros(), Vector3::new(0.0, 2.0, 0.0)];
        let report = correct_positions(&mut positions, &[1.0, 0.1], &ONE, &Default::default());
        assert_relative_eq!(positions[0].y, 0.45, epsilon = 1e-15);
        assert_relative_eq!(positions[1].y, 1.55, epsilon = 1e-15);
        assert!(report.corrected >= 1 && report.violation < 1e-15);
    }

    #[test]
    fn free_end_is_pulled_to_the_fixed_one() {
        let mut positions = [Vector3::zeros(), Vector3::new(0.0, 3.0, 4.0)];
        correct_positions(&mut positions, &[0.0, 1.0], &ONE, &Default::default());
        assert_eq!(positions[0], Vector3::zeros());
        assert_relative_eq!(positions[1], Vector3::new(0.0, 0.66, 0.88), epsilon = 1e-15);
        let before = [Vector3::zeros(), Vector3::new(0.0, 5.0, 0.0)];
        let mut positions = before;
        let report = correct_positions(&mut positions, &[0.0, 0.0], &ONE, &Default::default());
        assert_eq!(positions, before);
        assert_eq!(report.corrected, 0);
        assert_relative_eq!(report.violation, 3.9, epsilon = 1e-14);
    }

    #[test]
    fn springs_within_the_limit_and_broken_ones_stay() {
        let before = [Vector3::zeros(), Vector3::new(1.09, 0.0, 0.0)];
        let mut positions = before;
        let springs = Springs {
            ends: &[[0, 1], [0, 9], [1, 1], [0, 1]],
            rest_lengths: &[1.0, 0.1, 0.1, 0.0],
        };
        let report = correct_positions(&mut positions, &[1.0, 1.0], &springs, &Default::default());
        assert_eq!(positions, before);
        assert_eq!((report.corrected, report.violation), (0, 0.0));
    }

    /// A chain hung by its top, stretched in its first link: sweeps spread the excess, the order decides how far.
    #[test]
    fn sweeps_spread_the_excess_along_a_chain() {
        let ends: Vec<[u32; 2]> = (0..8).map(|i| [i, i + 1]).collect();
        let springs = Springs {
            ends: &ends,
            rest_lengths: &[1.0; 8],
        };
        let mut inverse_masses = [1.0; 9];
        inverse_masses[0] = 0.0;
        let start: Vec<_> = (0..9)
            .map(|i| Vector3::new(0.0, if i == 0 { 0.0 } else { -(f64::from(i) + 1.0) }, 0.0))
            .collect();
        let run = |sweeps, sweep| {
            let mut positions = start.clone();
            let correction = PositionCorrection {
                sweeps,
                sweep,
                ..Default::default()
            };
            let report = correct_positions(&mut positions, &inverse_masses, &springs, &correction);
            (positions, report)
        };
        let (few, many) = (run(1, Sweep::Forward).1, run(40, Sweep::Forward).1);
        assert!(few.violation > 0.1 && many.violation < 0.25 * few.violation);
        assert_eq!(run(4, Sweep::Forward), run(4, Sweep::Forward));
        assert_ne!(run(4, Sweep::Forward).0, run(4, Sweep::Backward).0);
    }
}
