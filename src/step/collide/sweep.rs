//! Where and when a particle meets the colliders within a substep.
//!
//! A collider moves during the substep, so the path of a particle is followed in the collider's own frame: from where
//! the particle is at the start pose to where it is at the end pose, straight. A particle that was on one side of a
//! wall and is on the other cannot have a straight path that misses the wall, however fast either of them moves or
//! turns: this, and not a small time step, is what keeps thin walls closed.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::Real;
use crate::colliders::{
    Bounds, RigidBodyState, RigidCollider, angular_velocity, interpolate_poses,
};
use crate::kernel::contact::ballistic_impact;

/// A position at a fraction of the substep.
#[derive(Clone, Copy)]
pub(crate) struct Waypoint {
    pub position: Vector3<Real>,
    pub fraction: Real,
}

/// A collider over one substep.
pub(crate) struct SweptCollider<'a> {
    pub collider: &'a RigidCollider,
    start: Isometry3<Real>,
    end: Isometry3<Real>,
    /// Velocity of the frame's origin over the tick, m/s.
    linear_velocity: Vector3<Real>,
    /// Angular velocity over the tick, rad/s.
    angular_velocity: Vector3<Real>,
    /// The body's center of mass in the collider's frame, m.
    center_of_mass: Point3<Real>,
    local_bounds: Bounds,
    /// Everything the collider passes over, in world space.
    pub bounds: Bounds,
}

/// A contact on a path.
pub(crate) struct Contact {
    /// Index into the list of swept colliders.
    pub index: usize,
    /// Where the particle is and when.
    pub at: Waypoint,
    /// Unit normal in world space, toward the particle.
    pub normal: Vector3<Real>,
}

/// What a search for contact needs to know beside the path.
#[derive(Clone, Copy)]
pub(crate) struct Reach<'a> {
    /// Distance kept from surfaces, m.
    pub thickness: Real,
    /// ½ a dt² of the particle, m: the path's bend, which makes the time of an impact exact in free flight.
    pub bend: Vector3<Real>,
    /// Colliders that have answered in this substep: the rest of the path goes along them, up to rounding.
    pub answered: &'a [Option<usize>],
}

/// The part of the thickness that a path along an answered collider may take away.
const SLACK: Real = 1e-2;

/// The part of the thickness within which a gap counts as closed.
const CLOSED: Real = 1e-3;

/// How far beyond the thickness a gap counts as closed, m, for coordinates up to `size`.
///
/// Gaps are rounded to single precision, as Rapier's shapes are. What rests would fall through the difference in one
/// substep or the other, move along the surface meanwhile without any friction, and so creep.
pub(super) fn closed_gap(size: Real, thickness: Real) -> Real {
    (size * (Real::EPSILON * 8.0)).max(thickness * CLOSED)
}

impl<'a> SweptCollider<'a> {
    /// The collider between two fractions of the tick.
    pub fn new(
        collider: &'a RigidCollider,
        bodies: &[RigidBodyState],
        start_fraction: Real,
        end_fraction: Real,
        tick_dt: Real,
    ) -> Self {
        let (from, to) = (&collider.start_pose, &collider.end_pose);
        let (start, end) = (
            collider.pose_at(start_fraction),
            collider.pose_at(end_fraction),
        );
        let linear_velocity = if tick_dt > 0.0 {
            (to.translation.vector - from.translation.vector) / tick_dt
        } else {
            Vector3::zeros()
        };
        let center_of_mass = collider
            .body
            .and_then(|body| bodies.get(body))
            .map_or_else(Point3::origin, |body| {
                to.inverse_transform_point(&Point3::from(body.center_of_mass))
            });
        let local_bounds = collider.shape.local_bounds();
        let mut bounds = local_bounds
            .transformed(&start)
            .union(&local_bounds.transformed(&end));
        if start.rotation != end.rotation && local_bounds.is_bounded() {
            // A turning box leaves the boxes of its end poses in between: take balls around the frame's origin.
            let radius = local_bounds.radius();
            bounds = Bounds::of_segment(&start.translation.vector, &end.translation.vector)
                .inflated(radius);
        }
        Self {
            collider,
            start,
            end,
            linear_velocity,
            angular_velocity: angular_velocity(&from.rotation, &to.rotation, tick_dt),
            center_of_mass,
            local_bounds,
            bounds,
        }
    }

    /// Pose at a fraction of the substep.
    pub fn pose(&self, fraction: Real) -> Isometry3<Real> {
        if fraction >= 1.0 {
            self.end
        } else {
            interpolate_poses(&self.start, &self.end, fraction)
        }
    }

    fn is_still(&self) -> bool {
        self.start == self.end
    }

    /// Velocity of the collider's motion at a point and time, m/s.
    pub fn velocity_at(&self, at: &Waypoint) -> Vector3<Real> {
        let origin = self.pose(at.fraction).translation.vector;
        self.linear_velocity + self.angular_velocity.cross(&(at.position - origin))
    }

    /// The point relative to the center of mass of the collider's body, m.
    pub fn arm(&self, at: &Waypoint) -> Vector3<Real> {
        at.position - (self.pose(at.fraction) * self.center_of_mass).coords
    }

    /// Where a point goes that the collider carries to the end of the substep.
    pub fn carried(&self, at: &Waypoint) -> Vector3<Real> {
        if self.is_still() {
            return at.position;
        }
        let local = self
            .pose(at.fraction)
            .inverse_transform_point(&Point3::from(at.position));
        (self.end * local).coords
    }

    /// A direction that the collider turns with it to the end of the substep.
    pub fn turned(&self, direction: &Vector3<Real>, fraction: Real) -> Vector3<Real> {
        if self.start.rotation == self.end.rotation {
            *direction
        } else {
            self.end.rotation
                * self
                    .pose(fraction)
                    .rotation
                    .inverse_transform_vector(direction)
        }
    }

    fn local_path(&self, from: &Waypoint, to: &Waypoint) -> (Vector3<Real>, Vector3<Real>) {
        let local = |at: &Waypoint| {
            self.pose(at.fraction)
                .inverse_transform_point(&Point3::from(at.position))
                .coords
        };
        (local(from), local(to))
    }

    /// Whether the path goes through the surface.
    fn is_crossed(&self, from: &Waypoint, to: &Waypoint) -> bool {
        if !Bounds::of_segment(&from.position, &to.position).overlaps(&self.bounds) {
            return false;
        }
        let (start, end) = self.local_path(from, to);
        self.collider.shape.cast(&start, &end).is_some()
    }

    /// First contact of a path: fraction of the path, place, and unit normal in world space.
    fn contact(
        &self,
        from: &Waypoint,
        to: &Waypoint,
        reach: &Reach,
        slack: Real,
    ) -> Option<(Real, Waypoint, Vector3<Real>)> {
        let closed = closed_gap(from.position.amax(), reach.thickness);
        let touching = reach.thickness + closed;
        let path = Bounds::of_segment(&from.position, &to.position).inflated(touching);
        if !path.overlaps(&self.bounds) {
            return None;
        }
        let (start, end) = self.local_path(from, to);
        let local = Bounds::of_segment(&start, &end).inflated(touching);
        if !local.overlaps(&self.local_bounds) {
            return None;
        }
        let hit = self.collider.shape.cast(&start, &end);
        let (point, normal) = match &hit {
            Some(hit) => (hit.point, hit.normal),
            None => {
                let nearest = self.collider.shape.project_within(&end, touching)?;
                (nearest.point, nearest.normal)
            }
        };
        let gap = normal.dot(&(start - point));
        let end_gap = normal.dot(&(end - point));
        if hit.is_none() && end_gap >= gap - slack {
            return None;
        }
        let duration = to.fraction - from.fraction;
        let rotation = self.pose(from.fraction).rotation;
        let bend = (rotation * normal).dot(&reach.bend) * duration * duration;
        let latest = hit.map_or(1.0, |hit| hit.fraction);
        let excess = match gap - reach.thickness {
            excess if excess <= closed => 0.0,
            excess => excess,
        };
        let part = ballistic_impact(excess, end_gap - gap - bend, bend + bend, 1.0)
            .map_or(latest, |s| s.min(latest));
        let mut position = start.lerp(&end, part);
        if excess > 0.0 {
            // The straight path stands for a bent one; put the particle where the bent one is: at the thickness.
            let shift = reach.thickness - normal.dot(&(position - point));
            if shift.abs() < reach.thickness * 0.5 {
                position += normal * shift;
            }
        }
        let fraction = from.fraction + part * duration;
        let pose = self.pose(fraction);
        let at = Waypoint {
            position: (pose * Point3::from(position)).coords,
            fraction,
        };
        Some((part, at, pose.rotation * normal))
    }
}

/// The first contact on a path with any of the colliders at `candidates`.
///
/// The place of a contact is on the path as one collider sees it. Seen from another collider that turns, it may lie
/// beyond that one's surface; then the contact with the other one counts.
pub(crate) fn first_contact(
    swept: &[SweptCollider],
    candidates: &[usize],
    from: &Waypoint,
    to: &Waypoint,
    reach: &Reach,
) -> Option<Contact> {
    let mut found = earliest(swept, candidates.iter().copied(), from, to, reach)?;
    for _ in 0..4 {
        let crossed =
            |index: &usize| *index != found.index && swept[*index].is_crossed(from, &found.at);
        match earliest(
            swept,
            candidates.iter().copied().filter(crossed),
            from,
            &found.at,
            reach,
        ) {
            Some(earlier) => found = earlier,
            None => return Some(found),
        }
    }
    // No agreement: stay where the path starts, which is known to be free.
    Some(Contact { at: *from, ..found })
}

fn earliest(
    swept: &[SweptCollider],
    candidates: impl Iterator<Item = usize>,
    from: &Waypoint,
    to: &Waypoint,
    reach: &Reach,
) -> Option<Contact> {
    let mut best = Real::INFINITY;
    let mut found = None;
    for index in candidates {
        let has_answered = reach.answered.contains(&Some(index));
        let rounding = to.position.amax() * (Real::EPSILON * 8.0);
        let slack = if has_answered {
            rounding.max(reach.thickness * SLACK)
        } else {
            0.0
        };
        if let Some((part, at, normal)) = swept[index].contact(from, to, reach, slack)
            && part < best
        {
            best = part;
            found = Some(Contact { index, at, normal });
        }
    }
    found
}

/// Whether a path goes through the surface of any of the colliders at `candidates`.
pub(crate) fn crosses(
    swept: &[SweptCollider],
    candidates: &[usize],
    from: &Waypoint,
    to: &Waypoint,
) -> bool {
    candidates
        .iter()
        .any(|&index| swept[index].is_crossed(from, to))
}

/// The deepest approach to a surface at the end of the substep: unit normal in world space and what is missing to
/// the thickness, m.
pub(crate) fn deepest_overlap(
    swept: &[SweptCollider],
    candidates: &[usize],
    position: &Vector3<Real>,
    thickness: Real,
) -> Option<(Vector3<Real>, Real)> {
    let mut deepest: Option<(Vector3<Real>, Real)> = None;
    let bounds = Bounds::of_segment(position, position).inflated(thickness);
    for &index in candidates {
        let other = &swept[index];
        if !bounds.overlaps(&other.bounds) {
            continue;
        }
        let local = other
            .end
            .inverse_transform_point(&Point3::from(*position))
            .coords;
        let Some(nearest) = other.collider.shape.project_within(&local, thickness) else {
            continue;
        };
        let missing = thickness - nearest.distance;
        if deepest.is_none_or(|(_, most)| missing > most) {
            deepest = Some((other.end.rotation * nearest.normal, missing));
        }
    }
    deepest
}
