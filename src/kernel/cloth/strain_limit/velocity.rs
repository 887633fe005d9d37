//! Bridson's limits: impulses along a spring, such that its length at the end of the step is within bounds.

use nalgebra::Vector3;

use super::{Report, Springs, Sweep};
use crate::kernel::scalar::{Scalar, Single, real};

/// The line along which the impulses of a spring act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Line {
    /// The spring as it lies at the start of the step, x_j − x_i.
    ///
    /// Equal and opposite impulses on the line through both points have no torque, so Σ x × m v is kept, and it is the
    /// same before and after the points move along their velocities. A spring that turns so far in one step that its
    /// sideways part alone is over the limit cannot be brought to it; it is brought as near as the line allows.
    /// In violent steps, whose springs turn far, many sweeps along fixed lines diverge: keep to one or two, or use the
    /// predicted line.
    #[default]
    Current,
    /// The spring as it would lie at the end of the step, x_j − x_i + h (v_j − v_i).
    ///
    /// It always ends at the limit, with the smallest impulse that does so, but the impulses have the torque
    /// (x_j − x_i) × J: a spring that turns loses or gains angular momentum.
    Predicted,
}

/// The lengths that a spring may have at the end of a step, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthBounds<T: Scalar> {
    /// Zero for no bound.
    pub shortest: T,
    /// Not below `shortest`.
    pub longest: T,
}

impl<T: Scalar> LengthBounds<T> {
    /// Bounds around a length.
    ///
    /// ```text
    /// (1 − c) l ≤ l' ≤ (1 + s) l
    /// ```
    /// `length` l in m: the rest length for a limit of strain, the current length for a limit of the strain rate.
    /// `stretch` s and `compression` c without unit; c ≥ 1 is no bound.
    ///
    /// Eq: `[001 §4.3]`, `[001 §4.4]`.
    #[inline(always)]
    pub fn around(length: T, stretch: T, compression: T) -> Self {
        Self {
            shortest: (T::one() - compression).simd_max(T::zero()) * length,
            longest: (T::one() + stretch) * length,
        }
    }

    /// How far a length is out of the bounds, m; zero inside.
    ///
    /// Eq: elementary.
    #[inline(always)]
    pub fn excess(&self, length: T) -> T {
        (length - self.longest)
            .simd_max(self.shortest - length)
            .simd_max(T::zero())
    }
}

/// Change of the relative velocity v_j − v_i that brings a spring within its bounds, m/s.
///
/// ```text
/// p = x + h v,   l' = |p|,   L = the bound that l' breaks
/// predicted:  Δv = (L − l')/h  p/l'
/// current:    d = x/|x|,  a = p · d,  q² = |p − a d|²
///             Δv = (±√(max(L² − q², 0)) − a)/h  d,   with the sign of a
/// ```
/// `offset` x = x_j − x_i in m, `relative_velocity` v = v_j − v_i in m/s, `step` h in s. For a spring that does not
/// turn, both are the source's ((1 + τ_c) l⁰ − l')/h. Zero where the bounds hold, where the line has no direction,
/// and for a step that is not positive.
///
/// Eq: `[001 §4.3]`, `[Bridson 2003]`; the quadratic along the current line is solved so that the bound is met.
#[inline]
pub fn velocity_correction<T: Scalar>(
    offset: &Vector3<T>,
    relative_velocity: &Vector3<T>,
    step: T,
    bounds: &LengthBounds<T>,
    line: Line,
) -> Vector3<T> {
    let predicted = offset + relative_velocity * step;
    let length = predicted.dot(&predicted).simd_sqrt();
    let target = length.simd_max(bounds.shortest).simd_min(bounds.longest);
    let line = match line {
        Line::Current => *offset,
        Line::Predicted => predicted,
    };
    let line_length = line.dot(&line).simd_sqrt();
    let broken = length.simd_gt(bounds.longest) | length.simd_lt(bounds.shortest);
    let solvable = broken & line_length.simd_gt(T::zero()) & step.simd_gt(T::zero());
    let direction = line * (T::one() / line_length.select(solvable, T::one()));
    let along = predicted.dot(&direction);
    // In both cases the formula of the current line: on the predicted line nothing is sideways.
    let sideways = predicted - direction * along;
    let reach = (target * target - sideways.dot(&sideways))
        .simd_max(T::zero())
        .simd_sqrt();
    let wanted = (-reach).select(along.simd_lt(T::zero()), reach);
    let change = (wanted - along) / step.select(solvable, T::one());
    direction * change.select(solvable, T::zero())
}

/// How [`limit_strain`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimit<T: Single> {
    /// τ_c, largest elongation as a share of the rest length; 0.1 by default.
    pub stretch: T,
    /// τ_k, largest shortening as a share of the rest length; none by default. Zero forbids all compression, which
    /// lets a fine mesh fold earlier and locks a coarse one.
    pub compression: Option<T>,
    /// Passes over all springs; 2 by default, and one is often enough.
    pub sweeps: u32,
    /// Order within a pass; forward by default.
    pub sweep: Sweep,
    /// Line of the impulses; the current one by default.
    pub line: Line,
}

impl<T: Single> Default for StrainLimit<T> {
    fn default() -> Self {
        Self {
            stretch: real(0.1),
            compression: None,
            sweeps: 2,
            sweep: Sweep::Forward,
            line: Line::Current,
        }
    }
}

/// How [`limit_strain_rate`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainRateLimit<T: Single> {
    /// τ_r, largest change of length in a step as a share of the current length; 0.1 by default, 0.05 in the source's
    /// scenes.
    pub rate: T,
    /// Passes over all springs; 2 by default.
    pub sweeps: u32,
    /// Order within a pass; forward by default.
    pub sweep: Sweep,
    /// Line of the impulses; the current one by default.
    pub line: Line,
}

impl<T: Single> Default for StrainRateLimit<T> {
    fn default() -> Self {
        Self {
            rate: real(0.1),
            sweeps: 2,
            sweep: Sweep::Forward,
            line: Line::Current,
        }
    }
}

/// Impulses that keep springs within (1 − τ_k) l⁰ and (1 + τ_c) l⁰ at the end of the step.
///
/// `positions` in m, at the start of the step; `velocities` in m/s, with which the positions will move for `step`
/// seconds; `inverse_masses` in 1/kg, zero for points that follow their own velocity whatever pulls them. The change
/// of the relative velocity ([`velocity_correction`]) is shared in proportion to the inverse masses, so that the
/// momentum of the two stays. One spring's impulse changes the next one's prediction at once; the sweeps need not
/// converge, and [`Report::violation`] is the largest excess left, as a share of the rest length.
///
/// Eq: `[001 §4.3]`, `[Bridson 2003]`.
pub fn limit_strain<T: Single>(
    positions: &[Vector3<T>],
    velocities: &mut [Vector3<T>],
    inverse_masses: &[T],
    springs: &Springs<'_, T>,
    step: T,
    limit: &StrainLimit<T>,
) -> Report<T> {
    let compression = limit.compression.unwrap_or(T::one());
    let bounds = |_: T, rest_length: T| {
        let bounds = LengthBounds::around(rest_length, limit.stretch, compression);
        (rest_length, bounds)
    };
    let passes = (limit.sweeps, limit.sweep, limit.line);
    sweep(
        positions,
        velocities,
        inverse_masses,
        springs,
        step,
        passes,
        bounds,
    )
}

/// Impulses that keep the change of each spring's length within τ_r of its current length in the step.
///
/// ```text
/// (1 − τ_r) l ≤ l' ≤ (1 + τ_r) l,   l = |x_j − x_i|
/// ```
/// Arguments as in [`limit_strain`]; [`Report::violation`] is a share of the current length. Rest lengths do not
/// count, but must be positive. Springs of no length stay as they are.
///
/// Eq: `[001 §4.4]`, `[Bridson 2003]`.
pub fn limit_strain_rate<T: Single>(
    positions: &[Vector3<T>],
    velocities: &mut [Vector3<T>],
    inverse_masses: &[T],
    springs: &Springs<'_, T>,
    step: T,
    limit: &StrainRateLimit<T>,
) -> Report<T> {
    let bounds = |length: T, _: T| (length, LengthBounds::around(length, limit.rate, limit.rate));
    let passes = (limit.sweeps, limit.sweep, limit.line);
    sweep(
        positions,
        velocities,
        inverse_masses,
        springs,
        step,
        passes,
        bounds,
    )
}

/// Sweeps with the bounds that `bounds` gives for the current length and the rest length, and the length that an excess
/// is a share of.
fn sweep<T: Single>(
    positions: &[Vector3<T>],
    velocities: &mut [Vector3<T>],
    inverse_masses: &[T],
    springs: &Springs<'_, T>,
    step: T,
    (sweeps, order, line): (u32, Sweep, Line),
    bounds: impl Fn(T, T) -> (T, LengthBounds<T>),
) -> Report<T> {
    let points = positions
        .len()
        .min(velocities.len())
        .min(inverse_masses.len());
    let count = springs.count();
    let mut corrected = 0;
    for sweep in 0..sweeps {
        for turn in 0..count {
            let spring = order.element(sweep, turn, count);
            let Some(([i, j], rest_length)) = springs.get(spring, points) else {
                continue;
            };
            let mobility = inverse_masses[i] + inverse_masses[j];
            if mobility <= T::zero() {
                continue;
            }
            let offset = positions[j] - positions[i];
            let (_, bounds) = bounds(offset.norm(), rest_length);
            let relative = velocities[j] - velocities[i];
            let change = velocity_correction(&offset, &relative, step, &bounds, line);
            if change == Vector3::zeros() {
                continue;
            }
            let impulse = change / mobility;
            velocities[i] -= impulse * inverse_masses[i];
            velocities[j] += impulse * inverse_masses[j];
            corrected += 1;
        }
    }
    let mut violation = T::zero();
    for spring in 0..count {
        if let Some(([i, j], rest_length)) = springs.get(spring, points) {
            let offset = positions[j] - positions[i];
            let predicted = offset + (velocities[j] - velocities[i]) * step;
            let (unit, bounds) = bounds(offset.norm(), rest_length);
            if unit > T::zero() {
                violation = violation.max(bounds.excess(predicted.norm()) / unit);
            }
        }
    }
    Report {
        corrected,
        violation,
    }
}

#[cfg(test)]
mod tests;
