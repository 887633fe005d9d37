//! Contact of deformable bodies with each other and with themselves.

use bevy::prelude::*;

use crate::Real;

/// How a body touches deformable bodies. How touching is answered is chosen for the world
/// ([`ContactResponse`](crate::step::ContactResponse)).
///
/// Bodies without the component touch all others; cloth also touches itself, unless it may [tear](super::Tearing), since the
/// two sides of a tear begin in one place. A solid does not touch itself: its elements resist most of what would make it, and
/// looking costs time. All bodies with a [`Surface`](super::Surface) take part; ropes have none.
/// Friction is the kinetic one of [`SurfaceProperties`](super::SurfaceProperties), the mean of both bodies'; restitution there
/// is for colliders: the potential between bodies gives back what it takes, less what the step damps, and impulses are
/// inelastic.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # fn spawn(mut commands: Commands) -> Result {
/// let tube = TetrahedralMesh::block([2.0, 0.1, 0.1], [40, 2, 2], bevy_pliant::mesh::CellSplit::Six)?;
/// commands.spawn((Solid::new(tube), BodyContact { with_itself: true, ..default() }));
/// # Ok(())
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct BodyContact {
    /// Whether the body touches itself. Default true.
    pub with_itself: bool,
    /// Whether the body touches other deformable bodies; both must wish it. Default true.
    pub with_bodies: bool,
    /// Distance at which two layers begin to push each other apart, m, positive; the mean of both bodies' counts. `None`,
    /// the default: the thickness of the [`Fabric`](super::Fabric) of a cloth, and of other bodies the distance that they keep
    /// from colliders ([`SurfaceProperties::thickness`](super::SurfaceProperties)). Less than
    /// [`SMALLEST_THICKNESS`](Self::SMALLEST_THICKNESS), or what is not a number, counts as that.
    pub thickness: Option<Real>,
}

impl BodyContact {
    /// The smallest thickness, m: less leaves repulsion no room in single precision, some meters from the origin.
    pub const SMALLEST_THICKNESS: Real = 5e-4;

    /// No contact with deformable bodies at all.
    pub const NONE: Self = Self {
        with_itself: false,
        with_bodies: false,
        thickness: None,
    };
}

impl Default for BodyContact {
    fn default() -> Self {
        Self {
            with_itself: true,
            with_bodies: true,
            thickness: None,
        }
    }
}

/// What contact between deformable bodies did to a body in the last tick.
///
/// `smallest_gap` above zero with no intersections is the certificate of the tick: **no surface went through another**, as
/// proven for each pair on the numbers that are stored ([`kernel::proximity::straight_paths`](crate::kernel::proximity)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReport {
    /// Smallest distance of two features that are near each other at the end of a substep, m; infinite if none are.
    pub smallest_gap: f64,
    /// Pairs of features looked at, over all substeps. Those that are kept for several substeps count in each.
    pub pairs: u32,
    /// Pairs within the contact distance at the end of the last substep.
    pub contacts: u32,
    /// Particles whose way was changed, over all substeps, since it would have led through a surface.
    pub truncated: u32,
    /// Of these, those that could only be kept from it by moving as one with their neighbours, or not at all.
    pub frozen: u32,
    /// Pairs of triangles that intersect at the start of the last substep. These can only come from outside: from where the
    /// bodies were placed, from edits, from tearing. They are exempt until they are apart.
    pub intersections: u32,
    /// Pairs that pushed or rubbed each other since they were within the contact distance at the start of a substep, over all
    /// substeps. This and the following are zero with the default response to contact of the implicit integrator.
    pub repulsions: u32,
    /// Impulses on pairs that would have met on their ways, over all substeps.
    pub impulses: u32,
    /// Impact zones whose contacts were stopped all at once, over all rounds and substeps.
    pub zones: u32,
    /// Impact zones that moved as rigid bodies, over all rounds and substeps.
    pub rigid_zones: u32,
}

impl Default for ContactReport {
    fn default() -> Self {
        Self {
            smallest_gap: f64::INFINITY,
            pairs: 0,
            contacts: 0,
            truncated: 0,
            frozen: 0,
            intersections: 0,
            repulsions: 0,
            impulses: 0,
            zones: 0,
            rigid_zones: 0,
        }
    }
}
