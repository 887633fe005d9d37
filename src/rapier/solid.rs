//! Signed distances to Parry's convex solids, and casts along them.
//!
//! Parry's own ray casts on cylinders, cones, hulls and rounded shapes search by sampling directions and may give up;
//! a missed wall is what contact cannot afford. Here a cast follows the signed distance instead. Along a straight
//! path the distance to a convex solid is a convex function, so Newton's method from the outside approaches the first
//! root from one side and never steps over it:
//!
//! ```text
//! s ← s − d(s)/d'(s),   d' = n · path;   d' ≥ 0: the path leaves and never comes back
//! ```

use bevy_rapier3d::parry::query::PointQuery;
use bevy_rapier3d::parry::shape::{ConvexPolyhedron, TypedShape};
use nalgebra::{Vector2, Vector3};

use super::shape::{from_parry, to_parry};
use crate::Real;
use crate::colliders::{SurfaceHit, SurfacePoint};

/// Steps after which a cast settles for the place that it has reached.
const CAST_STEPS: usize = 64;

/// The nearest point on the surface of a convex solid; `None` for shapes that are not.
pub(super) fn nearest(shape: &TypedShape, point: &Vector3<Real>) -> Option<SurfacePoint> {
    let rounded =
        |inner: Option<SurfacePoint>, radius: f32| inner.map(|inner| grown(inner, real(radius)));
    match shape {
        TypedShape::Ball(ball) => Some(grown(nearest_to_origin(point), real(ball.radius))),
        TypedShape::Cuboid(cuboid) => Some(nearest_on_box(point, &from_parry(cuboid.half_extents))),
        TypedShape::Capsule(capsule) => {
            let (a, b) = (from_parry(capsule.segment.a), from_parry(capsule.segment.b));
            let axis = b - a;
            let length = axis.norm_squared();
            let along = if length > 0.0 {
                ((point - a).dot(&axis) / length).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let center = a + axis * along;
            let mut inner = nearest_to_origin(&(point - center));
            inner.point += center;
            Some(grown(inner, real(capsule.radius)))
        }
        TypedShape::Cylinder(cylinder) => {
            let half = Vector2::new(real(cylinder.radius), real(cylinder.half_height));
            Some(revolved(point, |profile| {
                nearest_on_rectangle(profile, &half)
            }))
        }
        TypedShape::Cone(cone) => {
            let (radius, half_height) = (real(cone.radius), real(cone.half_height));
            Some(revolved(point, |profile| {
                nearest_on_cone(profile, radius, half_height)
            }))
        }
        TypedShape::ConvexPolyhedron(hull) => Some(nearest_on_hull(hull, point)),
        TypedShape::HalfSpace(half_space) => {
            let normal = from_parry(half_space.normal);
            let distance = normal.dot(point);
            Some(SurfacePoint {
                point: point - normal * distance,
                normal,
                distance,
            })
        }
        TypedShape::RoundCuboid(round) => rounded(
            nearest(&TypedShape::Cuboid(&round.inner_shape), point),
            round.border_radius,
        ),
        TypedShape::RoundCylinder(round) => rounded(
            nearest(&TypedShape::Cylinder(&round.inner_shape), point),
            round.border_radius,
        ),
        TypedShape::RoundCone(round) => rounded(
            nearest(&TypedShape::Cone(&round.inner_shape), point),
            round.border_radius,
        ),
        TypedShape::RoundConvexPolyhedron(round) => rounded(
            nearest(&TypedShape::ConvexPolyhedron(&round.inner_shape), point),
            round.border_radius,
        ),
        TypedShape::RoundTriangle(round) => rounded(
            Some(super::shape::nearest_on_triangle(&round.inner_shape, point)),
            round.border_radius,
        ),
        _ => None,
    }
}

/// The first point where a segment enters a convex solid; `None` also for shapes that are not.
pub(super) fn cast(
    shape: &TypedShape,
    from: &Vector3<Real>,
    to: &Vector3<Real>,
) -> Option<SurfaceHit> {
    if let TypedShape::ConvexPolyhedron(hull) = shape {
        return cast_on_hull(hull, from, to);
    }
    let path = to - from;
    let tolerance = rounding(from, to);
    let mut current = nearest(shape, from)?;
    let mut fraction = 0.0;
    for _ in 0..CAST_STEPS {
        let slope = current.normal.dot(&path);
        if slope >= 0.0 || slope.is_nan() {
            return None;
        }
        if current.distance <= tolerance {
            break;
        }
        fraction -= current.distance / slope;
        if fraction > 1.0 || fraction.is_nan() {
            return None;
        }
        let next = nearest(shape, &(from + path * fraction))?;
        if next.distance <= tolerance {
            // On an edge, rounding can take the normal of the face beyond it, which the path does not enter.
            let normal = if next.normal.dot(&path) < 0.0 {
                next.normal
            } else {
                current.normal
            };
            return Some(SurfaceHit {
                fraction,
                point: next.point,
                normal,
            });
        }
        current = next;
    }
    Some(SurfaceHit {
        fraction,
        point: current.point,
        normal: current.normal,
    })
}

/// What rounding may do to coordinates as large as those of a segment, m.
pub(super) fn rounding(from: &Vector3<Real>, to: &Vector3<Real>) -> Real {
    from.amax().max(to.amax()) * real(f32::EPSILON * 8.0) + 1e-7
}

/// Parry's numbers are `f32`.
pub(super) fn real(value: f32) -> Real {
    value as Real
}

/// A solid made thicker by a radius.
fn grown(inner: SurfacePoint, radius: Real) -> SurfacePoint {
    SurfacePoint {
        point: inner.point + inner.normal * radius,
        normal: inner.normal,
        distance: inner.distance - radius,
    }
}

fn nearest_to_origin(point: &Vector3<Real>) -> SurfacePoint {
    // The center of a ball has no nearest point: take the one above.
    let normal = point.try_normalize(0.0).unwrap_or_else(Vector3::y);
    SurfacePoint {
        point: Vector3::zeros(),
        normal,
        distance: point.norm(),
    }
}

fn nearest_on_box(point: &Vector3<Real>, half: &Vector3<Real>) -> SurfacePoint {
    let outside = point.abs() - half;
    if outside.max() <= 0.0 {
        let axis = outside.imax();
        let mut normal = Vector3::zeros();
        normal[axis] = Real::copysign(1.0, point[axis]);
        let distance = outside[axis];
        return SurfacePoint {
            point: point - normal * distance,
            normal,
            distance,
        };
    }
    let nearest = point.zip_map(half, |x, limit| x.clamp(-limit, limit));
    let offset = point - nearest;
    let distance = offset.norm();
    let normal = offset.try_normalize(0.0).unwrap_or_else(Vector3::y);
    SurfacePoint {
        point: nearest,
        normal,
        distance,
    }
}

/// Nearest point of a profile in the plane (distance from the axis y, height): point, normal, signed distance.
type ProfilePoint = (Vector2<Real>, Vector2<Real>, Real);

/// A solid of revolution about y, from its profile.
fn revolved(
    point: &Vector3<Real>,
    nearest: impl Fn(&Vector2<Real>) -> ProfilePoint,
) -> SurfacePoint {
    let radial = Vector3::new(point.x, 0.0, point.z);
    let outward = radial.try_normalize(0.0).unwrap_or_else(Vector3::x);
    let (at, normal, distance) = nearest(&Vector2::new(radial.norm(), point.y));
    let revolve = |profile: &Vector2<Real>| outward * profile.x + Vector3::y() * profile.y;
    SurfacePoint {
        point: revolve(&at),
        normal: revolve(&normal),
        distance,
    }
}

fn nearest_on_rectangle(point: &Vector2<Real>, half: &Vector2<Real>) -> ProfilePoint {
    let outside = point.abs() - half;
    let side = Real::copysign(1.0, point.y);
    if outside.max() <= 0.0 {
        let normal = if outside.x > outside.y {
            Vector2::x()
        } else {
            Vector2::y() * side
        };
        let distance = outside.max();
        return (point - normal * distance, normal, distance);
    }
    let nearest = Vector2::new(point.x.min(half.x), point.y.clamp(-half.y, half.y));
    let offset = point - nearest;
    (
        nearest,
        offset
            .try_normalize(0.0)
            .unwrap_or_else(|| Vector2::y() * side),
        offset.norm(),
    )
}

fn nearest_on_cone(point: &Vector2<Real>, radius: Real, half_height: Real) -> ProfilePoint {
    let (apex, rim, foot) = (
        Vector2::new(0.0, half_height),
        Vector2::new(radius, -half_height),
        Vector2::new(0.0, -half_height),
    );
    let side = Vector2::new(half_height * 2.0, radius)
        .try_normalize(0.0)
        .unwrap_or_else(Vector2::x);
    let (above_side, below_base) = (side.dot(&(point - apex)), -half_height - point.y);
    if above_side <= 0.0 && below_base <= 0.0 {
        let (normal, distance) = if above_side > below_base {
            (side, above_side)
        } else {
            (-Vector2::y(), below_base)
        };
        return (point - normal * distance, normal, distance);
    }
    let on_side = nearest_on_edge(point, &apex, &rim, &side);
    let on_base = nearest_on_edge(point, &foot, &rim, &-Vector2::y());
    if on_side.2 < on_base.2 {
        on_side
    } else {
        on_base
    }
}

fn nearest_on_edge(
    point: &Vector2<Real>,
    a: &Vector2<Real>,
    b: &Vector2<Real>,
    normal: &Vector2<Real>,
) -> ProfilePoint {
    let edge = b - a;
    let length = edge.norm_squared();
    let along = if length > 0.0 {
        (point - a).dot(&edge) / length
    } else {
        0.0
    };
    if along > 0.0 && along < 1.0 {
        return (a + edge * along, *normal, normal.dot(&(point - a)).abs());
    }
    let end = if along <= 0.0 { a } else { b };
    let offset = point - end;
    (
        *end,
        offset.try_normalize(0.0).unwrap_or(*normal),
        offset.norm(),
    )
}

/// The planes of a hull: a point on each and its outward normal.
fn planes(hull: &ConvexPolyhedron) -> impl Iterator<Item = (Vector3<Real>, Vector3<Real>)> {
    hull.faces().iter().filter_map(|face| {
        let vertex = *hull
            .vertices_adj_to_face()
            .get(face.first_vertex_or_edge as usize)?;
        let point = hull.points().get(vertex as usize)?;
        Some((from_parry(*point), from_parry(face.normal)))
    })
}

fn nearest_on_hull(hull: &ConvexPolyhedron, point: &Vector3<Real>) -> SurfacePoint {
    let mut distance = Real::NEG_INFINITY;
    let mut normal = Vector3::y();
    for (on_face, outward) in planes(hull) {
        let above = outward.dot(&(point - on_face));
        if above > distance {
            (distance, normal) = (above, outward);
        }
    }
    let above_face = SurfacePoint {
        point: point - normal * distance,
        normal,
        distance,
    };
    if distance <= 0.0 {
        return above_face;
    }
    // Outside, the nearest point may be on an edge. Above a face the plane is the sharper answer.
    let projection = hull.project_local_point(to_parry(point), false);
    let offset = point - from_parry(projection.point);
    let length = offset.norm();
    if projection.is_inside || length < distance * 0.99 || offset.dot(&normal) > length * 0.9999 {
        return above_face;
    }
    SurfacePoint {
        point: from_parry(projection.point),
        normal: offset / length,
        distance: length,
    }
}

/// Cuts the segment with every plane in turn (Cyrus–Beck).
fn cast_on_hull(
    hull: &ConvexPolyhedron,
    from: &Vector3<Real>,
    to: &Vector3<Real>,
) -> Option<SurfaceHit> {
    let tolerance = rounding(from, to);
    let (mut enter, mut leave) = (0.0, 1.0);
    let mut entered: Option<Vector3<Real>> = None;
    let mut nearest_exit = (Real::NEG_INFINITY, Vector3::y());
    for (on_face, normal) in planes(hull) {
        let start = normal.dot(&(from - on_face));
        let end = normal.dot(&(to - on_face));
        if start > nearest_exit.0 {
            nearest_exit = (start, normal);
        }
        if start > tolerance {
            if end >= start {
                return None;
            }
            let fraction = start / (start - end);
            if fraction > enter {
                (enter, entered) = (fraction, Some(normal));
            }
        } else if end > 0.0 && end > start {
            leave = Real::min(leave, (start.min(0.0) / (start.min(0.0) - end)).max(0.0));
        }
    }
    let path = to - from;
    match entered {
        Some(normal) if enter <= leave + tolerance / path.norm().max(tolerance) && enter <= 1.0 => {
            Some(SurfaceHit {
                fraction: enter,
                point: from + path * enter,
                normal,
            })
        }
        Some(_) => None,
        None => {
            let (distance, normal) = nearest_exit;
            let deeper = distance.is_finite() && normal.dot(&path) < 0.0;
            deeper.then(|| SurfaceHit {
                fraction: 0.0,
                point: from - normal * distance,
                normal,
            })
        }
    }
}
