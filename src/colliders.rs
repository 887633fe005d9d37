//! The rigid world that bodies touch: shapes with poses, and the rigid bodies that feel the contact.
//!
//! [`RigidColliders`] is filled once per tick in [`PliantSystems::ReadColliders`](crate::step::PliantSystems) and
//! read by the contact stage. Where the colliders come from is open: `rapier.rs` takes them from Rapier, a game
//! without Rapier (or a test) pushes its own. A shape is anything that implements [`ColliderShape`]; [`HalfSpace`]
//! and [`Sphere`] are built in.
//!
//! Lists are in a fixed order and contact goes through them in that order, so that the same scene gives the same bits.

use std::sync::Arc;

use bevy::prelude::*;
use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};

use crate::Real;

mod analytic;
#[cfg(test)]
mod tests;

pub use analytic::{HalfSpace, Sphere};

/// The nearest point on the surface of a shape, in the shape's own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// The point, m.
    pub point: Vector3<Real>,
    /// Unit normal there: out of a solid, toward the query point from a surface without inside.
    pub normal: Vector3<Real>,
    /// Distance of the query point, m; negative inside a solid.
    pub distance: Real,
}

/// Where a segment meets the surface of a shape first, in the shape's own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit {
    /// Where on the segment, 0 at its start and 1 at its end.
    pub fraction: Real,
    /// The point, m.
    pub point: Vector3<Real>,
    /// Unit normal of the surface, toward the side that the segment starts on.
    pub normal: Vector3<Real>,
}

/// An axis-aligned box, m. An unbounded shape has infinite (or huge) corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: Vector3<Real>,
    /// Largest coordinates.
    pub max: Vector3<Real>,
}

impl Bounds {
    /// Extents beyond this count as unbounded, m.
    const UNBOUNDED: Real = 1e15;

    /// The box without any point.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            min: Vector3::repeat(Real::INFINITY),
            max: Vector3::repeat(Real::NEG_INFINITY),
        }
    }

    /// The box of all points.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            min: Vector3::repeat(Real::NEG_INFINITY),
            max: Vector3::repeat(Real::INFINITY),
        }
    }

    /// The box of a segment.
    #[must_use]
    pub fn of_segment(from: &Vector3<Real>, to: &Vector3<Real>) -> Self {
        Self {
            min: from.inf(to),
            max: from.sup(to),
        }
    }

    /// Grows to hold a point; a coordinate that is not a number is left out.
    pub fn include(&mut self, point: &Vector3<Real>) {
        for axis in 0..3 {
            self.min[axis] = self.min[axis].min(point[axis]);
            self.max[axis] = self.max[axis].max(point[axis]);
        }
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.inf(&other.min),
            max: self.max.sup(&other.max),
        }
    }

    /// The box with all faces moved outward, m.
    #[must_use]
    pub fn inflated(&self, margin: Real) -> Self {
        Self {
            min: self.min.add_scalar(-margin),
            max: self.max.add_scalar(margin),
        }
    }

    /// Whether the boxes share a point; `false` where a coordinate is not a number.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis])
    }

    /// Whether the box ends in every direction.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.min
            .iter()
            .chain(self.max.iter())
            .all(|x| x.abs() < Self::UNBOUNDED)
    }

    /// The distance of the farthest corner from the origin of the frame, m.
    #[must_use]
    pub fn radius(&self) -> Real {
        self.min.abs().sup(&self.max.abs()).norm()
    }

    /// The axis-aligned box around this box in another frame.
    #[must_use]
    pub fn transformed(&self, pose: &Isometry3<Real>) -> Self {
        if !self.is_bounded() {
            return Self::everything();
        }
        let center = pose * Point3::from((self.min + self.max) * 0.5);
        let rotation = pose.rotation.to_rotation_matrix();
        let half = rotation.matrix().abs() * ((self.max - self.min) * 0.5);
        Self {
            min: center.coords - half,
            max: center.coords + half,
        }
    }
}

/// A rigid shape in its own frame: what the contact stage asks of it.
pub trait ColliderShape: Send + Sync {
    /// The nearest point on the surface.
    fn project(&self, point: &Vector3<Real>) -> SurfacePoint;

    /// The nearest point on the surface, if the query point is inside or closer than `distance` (m).
    fn project_within(&self, point: &Vector3<Real>, distance: Real) -> Option<SurfacePoint> {
        let nearest = self.project(point);
        (nearest.distance < distance).then_some(nearest)
    }

    /// The first point where the segment enters the shape or crosses its surface.
    ///
    /// A segment that starts inside a solid hits at fraction 0 if it goes deeper (with the normal of the nearest
    /// exit) and not at all on its way out. This test is what keeps particles from passing: it must not miss a
    /// surface that lies between the end points, not even through an edge that two faces share.
    fn cast(&self, from: &Vector3<Real>, to: &Vector3<Real>) -> Option<SurfaceHit>;

    /// A box around the shape.
    fn local_bounds(&self) -> Bounds;

    /// Whether the shape has an inside that particles are pushed out of; meshes and height fields have two sides.
    fn is_solid(&self) -> bool {
        true
    }
}

/// How two coefficients of a pair make one: Rapier's rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CombineRule {
    /// (a + b)/2.
    #[default]
    Average,
    /// The smaller one.
    Min,
    /// a b.
    Multiply,
    /// The larger one.
    Max,
    /// a + b, between 0 and 1.
    ClampedSum,
    /// √(a b).
    GeometricMean,
}

impl CombineRule {
    /// The coefficient of the pair; negative coefficients count as zero.
    #[must_use]
    pub fn combine(self, a: Real, b: Real) -> Real {
        let (a, b) = (a.max(0.0), b.max(0.0));
        match self {
            Self::Average => (a + b) * 0.5,
            Self::Min => a.min(b),
            Self::Multiply => a * b,
            Self::Max => a.max(b),
            Self::ClampedSum => (a + b).min(1.0),
            Self::GeometricMean => (a * b).sqrt(),
        }
    }
}

/// A shape of the rigid world over one tick.
#[derive(Clone)]
pub struct RigidCollider {
    /// The collider's entity.
    pub entity: Entity,
    /// Its shape.
    pub shape: Arc<dyn ColliderShape>,
    /// Pose at the start of the tick.
    pub start_pose: Isometry3<Real>,
    /// Pose at the end of the tick; in between it moves evenly.
    pub end_pose: Isometry3<Real>,
    /// Index into [`RigidColliders::bodies`] if it belongs to a body that gives way; `None` if fixed or kinematic.
    pub body: Option<usize>,
    /// Coefficient of friction, dimensionless: combined with both the static and the kinetic one of a soft surface.
    pub friction: Real,
    /// How friction combines.
    pub friction_rule: CombineRule,
    /// Coefficient of restitution, dimensionless.
    pub restitution: Real,
    /// How restitution combines.
    pub restitution_rule: CombineRule,
    /// Collision groups that the collider is in.
    pub memberships: u32,
    /// Collision groups that it touches.
    pub filter: u32,
}

impl RigidCollider {
    /// A collider that does not move, with Rapier's default coefficients (friction 0.5, restitution 0, means).
    #[must_use]
    pub fn fixed(entity: Entity, shape: Arc<dyn ColliderShape>, pose: Isometry3<Real>) -> Self {
        Self {
            entity,
            shape,
            start_pose: pose,
            end_pose: pose,
            body: None,
            friction: 0.5,
            friction_rule: CombineRule::Average,
            restitution: 0.0,
            restitution_rule: CombineRule::Average,
            memberships: u32::MAX,
            filter: u32::MAX,
        }
    }

    /// Whether it touches soft bodies, which are in all groups and touch all groups.
    #[must_use]
    pub fn touches_soft_bodies(&self) -> bool {
        self.memberships != 0 && self.filter != 0
    }

    /// Pose at a fraction of the tick, 0 to 1.
    #[must_use]
    pub fn pose_at(&self, fraction: Real) -> Isometry3<Real> {
        interpolate_poses(&self.start_pose, &self.end_pose, fraction)
    }
}

/// The pose between two poses: even translation, even rotation the short way round.
pub(crate) fn interpolate_poses(
    start: &Isometry3<Real>,
    end: &Isometry3<Real>,
    fraction: Real,
) -> Isometry3<Real> {
    let translation = start
        .translation
        .vector
        .lerp(&end.translation.vector, fraction);
    Isometry3::from_parts(
        translation.into(),
        interpolate_rotations(&start.rotation, &end.rotation, fraction),
    )
}

fn interpolate_rotations(
    start: &UnitQuaternion<Real>,
    end: &UnitQuaternion<Real>,
    fraction: Real,
) -> UnitQuaternion<Real> {
    if start == end {
        return *end;
    }
    let similarity = start.coords.dot(&end.coords);
    if similarity.abs() > 0.99 {
        // The arc cosine of nearly one has no digits left in `f32`. The chord does as well for less than 16°.
        let near = if similarity < 0.0 {
            -end.coords
        } else {
            end.coords
        };
        return UnitQuaternion::new_normalize(start.coords.lerp(&near, fraction).into());
    }
    // Half a turn has no short way round: then the end.
    let turned = start.try_slerp(end, fraction, 1e-6).unwrap_or(*end);
    UnitQuaternion::new_normalize(turned.into_inner())
}

/// Angular velocity of the even rotation between two orientations, rad/s.
pub(crate) fn angular_velocity(
    start: &UnitQuaternion<Real>,
    end: &UnitQuaternion<Real>,
    dt: Real,
) -> Vector3<Real> {
    if start == end || dt <= 0.0 {
        Vector3::zeros()
    } else {
        (end * start.inverse()).scaled_axis() / dt
    }
}

/// A rigid body that gives way to contact.
///
/// The velocities are a copy that every contact impulse updates at once: the next particle meets a body that already
/// moves. Without that, each of many particles would bounce as if it alone had the whole body against it.
#[derive(Clone, Debug)]
pub struct RigidBodyState {
    /// The body's entity.
    pub entity: Entity,
    /// Center of mass at the end of the tick, m.
    pub center_of_mass: Vector3<Real>,
    /// Linear velocity, m/s.
    pub linear_velocity: Vector3<Real>,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector3<Real>,
    /// Inverse mass along each world axis, 1/kg; zero where the body is locked.
    pub inverse_mass: Vector3<Real>,
    /// Inverse inertia about the center of mass in world axes, 1/(kg·m²).
    pub inverse_inertia: Matrix3<Real>,
    /// Impulse received in this tick, N·s.
    pub linear_impulse: Vector3<Real>,
    /// Angular impulse about the center of mass received in this tick, N·m·s.
    pub angular_impulse: Vector3<Real>,
}

impl RigidBodyState {
    /// Velocity of the point at `arm` (m) from the center of mass, m/s.
    #[must_use]
    pub fn velocity_at(&self, arm: &Vector3<Real>) -> Vector3<Real> {
        self.linear_velocity + self.angular_velocity.cross(arm)
    }

    /// Takes an impulse (N·s) at `arm` (m) from the center of mass.
    pub fn apply_impulse(&mut self, impulse: &Vector3<Real>, arm: &Vector3<Real>) {
        let torque = arm.cross(impulse);
        self.linear_velocity += self.inverse_mass.component_mul(impulse);
        self.angular_velocity += self.inverse_inertia * torque;
        self.linear_impulse += impulse;
        self.angular_impulse += torque;
    }
}

/// The rigid world of this tick.
///
/// Written in [`PliantSystems::ReadColliders`](crate::step::PliantSystems). Without a source it is empty and bodies
/// touch nothing. A source clears both lists and fills them in an order that is the same for the same scene.
#[derive(Resource, Default)]
pub struct RigidColliders {
    /// All colliders.
    pub colliders: Vec<RigidCollider>,
    /// The bodies that give way.
    pub bodies: Vec<RigidBodyState>,
}
