//! What a tree of boxes is made of.

use nalgebra::Vector3;

use super::Bounds;
use crate::kernel::energy::widened_vector;
use crate::kernel::scalar::{Single, real};

/// Error of a time at which boxes meet, as a share of the step.
const TIME_ERROR: f64 = 1e-6;

/// A box that a tree can be made of.
pub trait Volume: Copy {
    /// The smallest such box around this one and another.
    ///
    /// Eq: elementary.
    #[must_use]
    fn union(&self, other: &Self) -> Self;

    /// Whether two boxes have a point in common.
    ///
    /// Eq: elementary.
    #[must_use]
    fn overlaps(&self, other: &Self) -> bool;

    /// The corners with the smallest and with the largest coordinates, m.
    ///
    /// Eq: elementary.
    #[must_use]
    fn corners(&self) -> (Vector3<f64>, Vector3<f64>);

    /// Half the surface area, m²: how likely the box is to be met.
    ///
    /// Eq: `[Ericson 2005]` §6.2 (surface area heuristic).
    #[must_use]
    fn area(&self) -> f64 {
        let (minimum, maximum) = self.corners();
        let size = maximum - minimum;
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

impl<T: Single> Volume for Bounds<T> {
    #[inline]
    fn union(&self, other: &Self) -> Self {
        // A minimum and a maximum that pass over what is not a number.
        let lower = |a: T, b: T| a.min(b);
        let upper = |a: T, b: T| a.max(b);
        Self {
            minimum: self.minimum.zip_map(&other.minimum, lower),
            maximum: self.maximum.zip_map(&other.maximum, upper),
        }
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        Bounds::overlaps(self, other)
    }

    fn corners(&self) -> (Vector3<f64>, Vector3<f64>) {
        (widened_vector(&self.minimum), widened_vector(&self.maximum))
    }
}

/// The box of something whose points move along straight lines, each at an even speed.
///
/// ```text
/// B(t) = (1 − t) B(0) + t B(1),   0 ≤ t ≤ 1       corner by corner
/// ```
/// holds the points at any time if it does so at the start and at the end: the smallest of linear functions is concave, and
/// the largest convex. Two such boxes overlap if they do at one and the same time. So neighbours that fly together are as
/// far from each other as they are at rest, where boxes around their ways would overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingBounds<T> {
    /// The box at the start.
    pub start: Bounds<T>,
    /// The box at the end.
    pub end: Bounds<T>,
}

impl<T: Single> MovingBounds<T> {
    /// The box of a point on its way, with a margin.
    ///
    /// `position` and `target` in m. The `margin`, m, should be above 1e-6 of the way, which is the accuracy of the times at
    /// which boxes are compared.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn of_move(position: &Vector3<T>, target: &Vector3<T>, margin: T) -> Self {
        let around = |point: &Vector3<T>| Bounds {
            minimum: point.add_scalar(-margin),
            maximum: point.add_scalar(margin),
        };
        Self {
            start: around(position),
            end: around(target),
        }
    }
}

impl<T: Single> Volume for MovingBounds<T> {
    #[inline]
    fn union(&self, other: &Self) -> Self {
        Self {
            start: Volume::union(&self.start, &other.start),
            end: Volume::union(&self.end, &other.end),
        }
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        let (mut from, mut until) = (T::zero(), T::one());
        for axis in 0..3 {
            // Room between a lower and an upper side, which must not be negative.
            let rooms = [
                (
                    other.start.maximum[axis] - self.start.minimum[axis],
                    other.end.maximum[axis] - self.end.minimum[axis],
                ),
                (
                    self.start.maximum[axis] - other.start.minimum[axis],
                    self.end.maximum[axis] - other.end.minimum[axis],
                ),
            ];
            for (first, last) in rooms {
                if first >= T::zero() && last >= T::zero() {
                    continue;
                }
                if first >= T::zero() {
                    until = until.min(first / (first - last));
                } else if last >= T::zero() {
                    from = from.max(first / (first - last));
                } else {
                    return false;
                }
            }
        }
        from <= until + real(TIME_ERROR)
    }

    fn corners(&self) -> (Vector3<f64>, Vector3<f64>) {
        self.start.corners()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;

    #[test]
    fn moving_boxes_overlap_if_they_do_at_some_time() {
        let mut random = Random::new(81);
        let (mut met, mut passed) = (0, 0);
        for _ in 0..20_000 {
            let mut drawn = || {
                let center = random.vector(1.0);
                let target = random.vector(1.0);
                MovingBounds::of_move(&center, &target, 0.1 + 0.1 * random.uniform())
            };
            let (first, second) = (drawn(), drawn());
            let at = |moving: &MovingBounds<f64>, time: f64| Bounds {
                minimum: moving.start.minimum.lerp(&moving.end.minimum, time),
                maximum: moving.start.maximum.lerp(&moving.end.maximum, time),
            };
            let sampled = (0..=400).any(|step| {
                let time = f64::from(step) / 400.0;
                at(&first, time).overlaps(&at(&second, time))
            });
            let found = Volume::overlaps(&first, &second);
            assert_eq!(found, Volume::overlaps(&second, &first));
            assert!(found || !sampled);
            met += u32::from(sampled);
            passed += u32::from(!found);
        }
        assert!(met > 1000 && passed > 10_000, "{met} {passed}");
    }

    #[test]
    fn what_flies_together_stays_apart() {
        let wall = |x: f64, way: f64| {
            let start = Vector3::new(x, 0.0, 0.0);
            MovingBounds::of_move(&start, &(start + Vector3::x() * way), 0.1)
        };
        assert!(!Volume::overlaps(&wall(0.0, 50.0), &wall(0.3, 50.0)));
        assert!(Volume::overlaps(&wall(0.0, 50.0), &wall(0.3, 49.8)));
        assert!(Volume::overlaps(&wall(0.0, 50.0), &wall(30.0, -50.0)));
        assert!(!Volume::overlaps(&wall(0.0, -50.0), &wall(30.0, 50.0)));
    }
}
