//! Parry's shapes as [`ColliderShape`]s.

use bevy_rapier3d::parry::bounding_volume::Aabb;
use bevy_rapier3d::parry::math::{Pose, Vector};
use bevy_rapier3d::parry::query::{PointQueryWithLocation, Ray};
use bevy_rapier3d::parry::shape::{
    Shape, SharedShape, Triangle, TrianglePointLocation, TypedShape,
};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

use super::solid::{self, real, rounding};
use crate::Real;
use crate::colliders::{Bounds, ColliderShape, SurfaceHit, SurfacePoint};

/// A shape of Parry.
///
/// Balls, cuboids, capsules, cylinders, cones, convex hulls, half-spaces and their rounded kin are solids. Triangle
/// meshes and height fields are surfaces with two sides, whatever their flags say: a particle stays on the side that
/// it is on. Compounds are made of either. Segments and polylines have no surface to go through; they only keep their
/// distance. Voxels and shapes of your own use Parry's ray cast as it is.
pub struct ParryShape(pub SharedShape);

impl ColliderShape for ParryShape {
    fn project(&self, point: &Vector3<Real>) -> SurfacePoint {
        nearest_within(&*self.0, point, Real::INFINITY).unwrap_or(SurfacePoint {
            point: *point,
            normal: Vector3::y(),
            distance: Real::INFINITY,
        })
    }

    fn project_within(&self, point: &Vector3<Real>, distance: Real) -> Option<SurfacePoint> {
        nearest_within(&*self.0, point, distance)
    }

    fn cast(&self, from: &Vector3<Real>, to: &Vector3<Real>) -> Option<SurfaceHit> {
        cast(&*self.0, from, to)
    }

    fn local_bounds(&self) -> Bounds {
        let bounds = self.0.compute_local_aabb();
        Bounds {
            min: from_parry(bounds.mins),
            max: from_parry(bounds.maxs),
        }
    }

    fn is_solid(&self) -> bool {
        is_solid(&*self.0)
    }
}

/// A vector of Parry.
pub(super) fn from_parry(vector: Vector) -> Vector3<Real> {
    Vector3::new(real(vector.x), real(vector.y), real(vector.z))
}

/// A vector for Parry.
pub(super) fn to_parry(vector: &Vector3<Real>) -> Vector {
    let single = |value: Real| f64::from(value) as f32;
    Vector::new(single(vector.x), single(vector.y), single(vector.z))
}

/// A pose of Parry; `None` if a number in it is not finite.
pub(super) fn pose_from_parry(pose: &Pose) -> Option<Isometry3<Real>> {
    let q = pose.rotation;
    if !pose.is_finite() {
        return None;
    }
    let quaternion = Quaternion::new(real(q.w), real(q.x), real(q.y), real(q.z));
    let rotation = UnitQuaternion::try_new(quaternion, 1e-6)?;
    Some(Isometry3::from_parts(
        from_parry(pose.translation).into(),
        rotation,
    ))
}

fn is_solid(shape: &dyn Shape) -> bool {
    match shape.as_typed_shape() {
        TypedShape::TriMesh(_)
        | TypedShape::HeightField(_)
        | TypedShape::Triangle(_)
        | TypedShape::Segment(_)
        | TypedShape::Polyline(_) => false,
        TypedShape::Compound(compound) => {
            compound.shapes().iter().any(|(_, part)| is_solid(&**part))
        }
        _ => true,
    }
}

/// The nearest point on a surface, if it is closer than `within` or the query point is inside.
fn nearest_within(shape: &dyn Shape, point: &Vector3<Real>, within: Real) -> Option<SurfacePoint> {
    let typed = shape.as_typed_shape();
    let nearest = match &typed {
        TypedShape::TriMesh(_) | TypedShape::HeightField(_) => {
            let reach = if within.is_finite() {
                within
            } else {
                let projection = shape.project_local_point(to_parry(point), false);
                (point - from_parry(projection.point)).norm() * 1.001 + rounding(point, point)
            };
            let bounds = Bounds::of_segment(point, point).inflated(reach);
            let mut best: Option<SurfacePoint> = None;
            visit_triangles(&typed, &bounds, &mut |triangle| {
                let nearest = nearest_on_triangle(triangle, point);
                if best.is_none_or(|best| nearest.distance < best.distance) {
                    best = Some(nearest);
                }
            });
            best?
        }
        TypedShape::Triangle(triangle) => nearest_on_triangle(triangle, point),
        TypedShape::Compound(compound) => {
            let bounds = to_aabb(&Bounds::of_segment(point, point).inflated(within));
            let mut best: Option<SurfacePoint> = None;
            for ((pose, part), part_bounds) in compound.shapes().iter().zip(compound.aabbs()) {
                if within.is_finite() && !overlap(part_bounds, &bounds) {
                    continue;
                }
                let Some(pose) = pose_from_parry(pose) else {
                    continue;
                };
                let local = pose.inverse_transform_point(&Point3::from(*point)).coords;
                if let Some(nearest) = nearest_within(&**part, &local, within)
                    && best.is_none_or(|best| nearest.distance < best.distance)
                {
                    best = Some(SurfacePoint {
                        point: (pose * Point3::from(nearest.point)).coords,
                        normal: pose.rotation * nearest.normal,
                        ..nearest
                    });
                }
            }
            best?
        }
        _ => solid::nearest(&typed, point).or_else(|| nearest_by_parry(shape, point))?,
    };
    (nearest.distance < within).then_some(nearest)
}

fn nearest_by_parry(shape: &dyn Shape, point: &Vector3<Real>) -> Option<SurfacePoint> {
    let projection = shape.project_local_point(to_parry(point), false);
    let at = from_parry(projection.point);
    let offset = point - at;
    let distance = offset.norm();
    let sign = if projection.is_inside { -1.0 } else { 1.0 };
    // On the surface there is no direction to it.
    let normal = offset.try_normalize(0.0).map(|outward| outward * sign)?;
    Some(SurfacePoint {
        point: at,
        normal,
        distance: distance * sign,
    })
}

/// The nearest point on a triangle; the normal points to the side of the query point.
pub(super) fn nearest_on_triangle(triangle: &Triangle, point: &Vector3<Real>) -> SurfacePoint {
    let (projection, location) =
        triangle.project_local_point_and_get_location(to_parry(point), false);
    let at = from_parry(projection.point);
    let offset = point - at;
    let distance = offset.norm();
    let Some(face) = face_normal(triangle) else {
        let normal = offset.try_normalize(0.0).unwrap_or_else(Vector3::y);
        return SurfacePoint {
            point: at,
            normal,
            distance,
        };
    };
    let above = face.dot(&(point - from_parry(triangle.a)));
    let facing = if above < 0.0 { -face } else { face };
    // Above the face its own normal is exact; so it is above an edge that goes on flat.
    let is_above = matches!(location, TrianglePointLocation::OnFace(..))
        || facing.dot(&offset) >= distance * 0.9999;
    if is_above {
        return SurfacePoint {
            point: point - face * above,
            normal: facing,
            distance: above.abs(),
        };
    }
    SurfacePoint {
        point: at,
        normal: offset / distance,
        distance,
    }
}

fn face_normal(triangle: &Triangle) -> Option<Vector3<Real>> {
    let a = from_parry(triangle.a);
    (from_parry(triangle.b) - a)
        .cross(&(from_parry(triangle.c) - a))
        .try_normalize(0.0)
}

fn to_aabb(bounds: &Bounds) -> Aabb {
    Aabb::new(to_parry(&bounds.min), to_parry(&bounds.max))
}

fn overlap(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|axis| a.mins[axis] <= b.maxs[axis] && b.mins[axis] <= a.maxs[axis])
}

/// Calls `visit` with every triangle of a mesh or height field that may touch the box.
fn visit_triangles(shape: &TypedShape, bounds: &Bounds, visit: &mut dyn FnMut(&Triangle)) {
    let aabb = to_aabb(bounds);
    match shape {
        TypedShape::TriMesh(mesh) => mesh
            .bvh()
            .intersect_aabb(&aabb)
            .for_each(|index| visit(&mesh.triangle(index))),
        TypedShape::HeightField(field) => {
            field.map_elements_in_local_aabb(&aabb, &mut |_, triangle| visit(triangle));
        }
        TypedShape::Triangle(triangle) => visit(triangle),
        _ => {}
    }
}

/// The first point where a segment enters a solid or crosses a surface.
fn cast(shape: &dyn Shape, from: &Vector3<Real>, to: &Vector3<Real>) -> Option<SurfaceHit> {
    let typed = shape.as_typed_shape();
    let bounds = Bounds::of_segment(from, to).inflated(rounding(from, to));
    let mut best: Option<SurfaceHit> = None;
    let mut keep_first = |hit: Option<SurfaceHit>| {
        if let Some(hit) = hit
            && best.is_none_or(|best| hit.fraction < best.fraction)
        {
            best = Some(hit);
        }
    };
    match &typed {
        TypedShape::TriMesh(_) | TypedShape::HeightField(_) | TypedShape::Triangle(_) => {
            visit_triangles(&typed, &bounds, &mut |triangle| {
                keep_first(cast_on_triangle(triangle, from, to));
            });
        }
        TypedShape::Compound(compound) => {
            let aabb = to_aabb(&bounds);
            for ((pose, part), part_bounds) in compound.shapes().iter().zip(compound.aabbs()) {
                if !overlap(part_bounds, &aabb) {
                    continue;
                }
                let Some(pose) = pose_from_parry(pose) else {
                    continue;
                };
                let local = |point: &Vector3<Real>| {
                    pose.inverse_transform_point(&Point3::from(*point)).coords
                };
                keep_first(
                    cast(&**part, &local(from), &local(to)).map(|hit| SurfaceHit {
                        fraction: hit.fraction,
                        point: (pose * Point3::from(hit.point)).coords,
                        normal: pose.rotation * hit.normal,
                    }),
                );
            }
        }
        TypedShape::Segment(_) | TypedShape::Polyline(_) => {}
        TypedShape::Voxels(_) | TypedShape::Custom(_) => keep_first(cast_by_parry(shape, from, to)),
        _ => return solid::cast(&typed, from, to),
    }
    best
}

fn cast_by_parry(
    shape: &dyn Shape,
    from: &Vector3<Real>,
    to: &Vector3<Real>,
) -> Option<SurfaceHit> {
    if shape.contains_local_point(to_parry(from)) {
        let nearest = nearest_by_parry(shape, from)?;
        let deeper = nearest.normal.dot(&(to - from)) < 0.0;
        return deeper.then_some(SurfaceHit {
            fraction: 0.0,
            point: nearest.point,
            normal: nearest.normal,
        });
    }
    let path = to - from;
    let hit = shape.cast_local_ray_and_get_normal(
        &Ray::new(to_parry(from), to_parry(&path)),
        1.0,
        false,
    )?;
    let fraction = real(hit.time_of_impact);
    let normal = from_parry(hit.normal).try_normalize(0.0)?;
    let facing = if normal.dot(&path) > 0.0 {
        -normal
    } else {
        normal
    };
    Some(SurfaceHit {
        fraction,
        point: from + path * fraction,
        normal: facing,
    })
}

/// Where a segment crosses a triangle from either side.
///
/// A crossing counts up to a rounding error beyond the edges, so that no segment slips through between two triangles
/// that share one. What lies on the plane of the triangle counts as in front of it.
fn cast_on_triangle(
    triangle: &Triangle,
    from: &Vector3<Real>,
    to: &Vector3<Real>,
) -> Option<SurfaceHit> {
    let corners = [
        from_parry(triangle.a),
        from_parry(triangle.b),
        from_parry(triangle.c),
    ];
    let face = face_normal(triangle)?;
    let (start, end) = (face.dot(&(from - corners[0])), face.dot(&(to - corners[0])));
    let is_in_front = start >= 0.0;
    if is_in_front == (end >= 0.0) || !(start - end).is_finite() {
        return None;
    }
    let fraction = (start / (start - end)).clamp(0.0, 1.0);
    let point = from.lerp(to, fraction);
    let extent = corners
        .iter()
        .fold(from.amax().max(to.amax()), |largest, corner| {
            largest.max(corner.amax())
        });
    let tolerance = extent * real(f32::EPSILON * 16.0) + 1e-7;
    for index in 0..3 {
        let corner = corners[index];
        let edge = corners[(index + 1) % 3] - corner;
        // Positive inside: how far the point is from the edge.
        let inside = face.cross(&edge).dot(&(point - corner));
        if inside < -tolerance * edge.norm() || inside.is_nan() {
            return None;
        }
    }
    Some(SurfaceHit {
        fraction,
        point,
        normal: if is_in_front { face } else { -face },
    })
}
