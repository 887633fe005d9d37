//! A cone that contains the normals of a part of a surface.

use nalgebra::Vector3;

use crate::kernel::scalar::{Single, real};

/// Rounding errors, in units of the last place of one, by which a cone is widened whenever it is made.
const ROUNDINGS: f64 = 8.0;

/// All directions within a half-angle of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalCone<T> {
    /// Unit.
    pub axis: Vector3<T>,
    /// α, radians: 0 for one direction, to π for all. Cones of π/2 and more are all made π, since nothing follows from
    /// them.
    pub half_angle: T,
}

/// The angle between two vectors, radians; accurate for small ones too.
fn angle<T: Single>(first: &Vector3<T>, second: &Vector3<T>) -> T {
    first.cross(second).norm().atan2(first.dot(second))
}

impl<T: Single> NormalCone<T> {
    /// All directions: of a surface about which nothing is known.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            axis: Vector3::x(),
            half_angle: T::pi(),
        }
    }

    /// What a cone is widened by.
    fn slack() -> T {
        T::default_epsilon() * real(ROUNDINGS)
    }

    /// The cone of one direction, of any length.
    ///
    /// `uncertainty`, radians, is how far the direction may be off. All directions for a vector that is zero or not
    /// finite: a triangle without area has no normal, and its neighbours may meet through it.
    ///
    /// Eq: `[001 §5.2.2]`, `[Provot 1997]` (leaves).
    #[must_use]
    pub fn of_direction(direction: &Vector3<T>, uncertainty: T) -> Self {
        let finite = direction.iter().all(T::is_finite);
        let axis = direction.try_normalize(T::zero());
        match axis {
            Some(axis) if finite => Self {
                axis,
                half_angle: uncertainty + Self::slack(),
            }
            .or_everything(),
            _ => Self::everything(),
        }
    }

    /// A cone that contains this one and another.
    ///
    /// ```text
    /// β the angle between the axes
    /// α₁ ≥ α₂ + β, or the other way round      the wider cone
    /// otherwise                                α = (α₁ + α₂ + β)/2, the axis turned by α − α₁ from the first to the second
    /// ```
    /// The narrowest that contains both. The source's β/2 + max(α₁, α₂) around the mean axis contains them too, but
    /// is never narrower.
    ///
    /// Eq: `[001 §5.2.2]`, `[Provot 1997]`, made tight.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let between = angle(&self.axis, &other.axis);
        let slack = Self::slack();
        if self.half_angle >= other.half_angle + between + slack {
            return *self;
        }
        if other.half_angle >= self.half_angle + between + slack {
            return *other;
        }
        let sum = self.half_angle + other.half_angle + between;
        let half_angle = sum * real(0.5) + slack;
        let turn = half_angle - self.half_angle;
        let across = other.axis - self.axis * self.axis.dot(&other.axis);
        let axis = across.try_normalize(T::zero()).map_or(self.axis, |across| {
            let (sine, cosine) = turn.sin_cos();
            self.axis * cosine + across * sine
        });
        Self {
            axis: axis.normalize(),
            half_angle,
        }
        .or_everything()
    }

    /// Whether a direction, of any length, is in the cone. Zero and numbers that are not finite are only in everything.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn contains(&self, direction: &Vector3<T>) -> bool {
        let known = direction.iter().all(T::is_finite) && *direction != Vector3::zeros();
        self.half_angle >= T::pi() || (known && angle(&self.axis, direction) <= self.half_angle)
    }

    /// Whether the surface is locally a graph over the plane across the axis: all normals are within a right angle.
    ///
    /// ```text
    /// α < π/2
    /// ```
    /// The source prints α < π, which is the test for the whole angle of the cone.
    ///
    /// Eq: `[001 §5.2.2]`, `[Volino 1994]`.
    #[must_use]
    pub fn excludes_folds(&self) -> bool {
        self.half_angle < T::frac_pi_2()
    }

    /// This, or everything where it is no use.
    fn or_everything(self) -> Self {
        if self.excludes_folds() {
            self
        } else {
            Self::everything()
        }
    }
}
