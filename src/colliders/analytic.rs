//! Shapes with closed forms, in the precision of [`Real`]: scenes and tests without Rapier.

use nalgebra::Vector3;

use super::{Bounds, ColliderShape, SurfaceHit, SurfacePoint};
use crate::Real;

/// All points below the plane y = 0 of its own frame: endless ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfSpace;

impl ColliderShape for HalfSpace {
    fn project(&self, point: &Vector3<Real>) -> SurfacePoint {
        SurfacePoint {
            point: Vector3::new(point.x, 0.0, point.z),
            normal: Vector3::y(),
            distance: point.y,
        }
    }

    fn cast(&self, from: &Vector3<Real>, to: &Vector3<Real>) -> Option<SurfaceHit> {
        plane_cast(from.y, to.y).map(|fraction| {
            let point = from.lerp(to, fraction);
            SurfaceHit {
                fraction,
                point: Vector3::new(point.x, 0.0, point.z),
                normal: Vector3::y(),
            }
        })
    }

    fn local_bounds(&self) -> Bounds {
        Bounds::everything()
    }
}

/// Where a segment enters the half-space behind a plane, from its distances to the plane; 0 if it goes deeper.
pub(crate) fn plane_cast(start: Real, end: Real) -> Option<Real> {
    if end >= 0.0 || end >= start {
        None
    } else if start <= 0.0 {
        Some(0.0)
    } else {
        Some((start / (start - end)).min(1.0))
    }
}

/// A solid ball around the origin of its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Radius, m.
    pub radius: Real,
}

impl ColliderShape for Sphere {
    fn project(&self, point: &Vector3<Real>) -> SurfacePoint {
        // The center has no nearest point: take the one above.
        let normal = point.try_normalize(0.0).unwrap_or_else(Vector3::y);
        SurfacePoint {
            point: normal * self.radius,
            normal,
            distance: point.norm() - self.radius,
        }
    }

    fn cast(&self, from: &Vector3<Real>, to: &Vector3<Real>) -> Option<SurfaceHit> {
        let path = to - from;
        let (square, half_slope) = (path.norm_squared(), from.dot(&path));
        let excess = from.norm_squared() - self.radius * self.radius;
        if half_slope >= 0.0 {
            return None;
        }
        let fraction = if excess <= 0.0 {
            0.0
        } else {
            // The form of the first root without cancellation.
            let discriminant = half_slope * half_slope - square * excess;
            if discriminant < 0.0 {
                return None;
            }
            excess / (discriminant.sqrt() - half_slope)
        };
        (fraction <= 1.0).then(|| {
            let point = from.lerp(to, fraction);
            let normal = point.try_normalize(0.0).unwrap_or_else(Vector3::y);
            SurfaceHit {
                fraction,
                point: normal * self.radius,
                normal,
            }
        })
    }

    fn local_bounds(&self) -> Bounds {
        Bounds {
            min: Vector3::repeat(-self.radius),
            max: Vector3::repeat(self.radius),
        }
    }
}
