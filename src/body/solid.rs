//! A body made of elastic tetrahedra: the one component that a game spawns.

use bevy::prelude::*;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use thiserror::Error;

use super::placement::{Placement, describe_new};
use super::{
    BodyFrame, MaterialError, Particles, PliantMaterial, PliantState, Quarantined, Surface,
    SurfaceProperties, Tetrahedra,
};
use crate::Real;
use crate::mesh::{MeshError, TetrahedralMesh};

/// A tetrahedral mesh that becomes an elastic body where its [`Transform`] stands.
///
/// When the component is inserted the library builds [`Particles`], [`Tetrahedra`] and [`Surface`] from the mesh,
/// the transform (its scale resizes the rest shape), the [`PliantMaterial`] and the [`InitialMotion`]. From then on the
/// transform is output: it follows the body's center of mass. Writing to it moves the whole body there.
///
/// Bodies live in the world, not in a hierarchy: the transform that a body is built from is taken as global, and
/// writing to the transform of a body with a parent does not move it.
///
/// A mesh or material that cannot be simulated is reported with the entity's name, and the entity gets
/// [`Quarantined`] instead of a body.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # fn spawn(mut commands: Commands) -> Result {
/// let ball = TetrahedralMesh::ball(0.5, 2)?;
/// commands.spawn((Solid::new(ball), PliantMaterial::JELLY, Transform::from_xyz(0.0, 2.0, 0.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Component, Clone, Debug)]
#[require(
    Transform,
    PliantMaterial,
    SurfaceProperties,
    InitialMotion,
    PliantState,
    BodyFrame
)]
pub struct Solid {
    mesh: TetrahedralMesh,
}

/// Velocity that a [`Solid`] starts with.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component)]
pub struct InitialMotion {
    /// Velocity of the center of mass, m/s.
    pub linear_velocity: Vec3,
    /// Angular velocity about the center of mass, rad/s.
    pub angular_velocity: Vec3,
}

/// Why a body could not be built.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SolidError {
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The material cannot be simulated.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// The transform holds a number that is not finite, or a scale that is not positive.
    #[error(
        "the Transform has {what}; give the entity finite numbers and a positive scale before inserting Solid"
    )]
    Transform {
        /// What was found.
        what: String,
    },
    /// The initial velocity holds a number that is not finite.
    #[error(
        "InitialMotion holds a number that is not finite; use finite velocities in m/s and rad/s"
    )]
    Motion,
}

impl Solid {
    /// A body of the given mesh; it is checked when the body is built.
    #[must_use]
    pub fn new(mesh: TetrahedralMesh) -> Self {
        Self { mesh }
    }

    /// The rest mesh, in its own frame.
    #[must_use]
    pub fn mesh(&self) -> &TetrahedralMesh {
        &self.mesh
    }

    /// Builds the components of the body; inserting [`Solid`] does this for you.
    ///
    /// # Errors
    /// What is wrong with the mesh, the material, the transform or the motion.
    pub fn build(
        &self,
        material: &PliantMaterial,
        transform: &Transform,
        motion: &InitialMotion,
    ) -> Result<(Particles, Tetrahedra, Surface, BodyFrame), SolidError> {
        material.validate()?;
        let placement = Placement::new(transform, motion)?;
        self.mesh.validate()?;
        let positions = self.mesh.positions.iter();
        let rest: Vec<Vector3<f64>> = positions.map(|p| placement.scaled(p)).collect();
        let surface = self.mesh.surface()?;
        let tetrahedra = Tetrahedra::new(&rest, &self.mesh.tetrahedra, material);
        let masses = tetrahedra.lumped_masses(rest.len());
        let (particles, frame) = placement.place(&rest, masses);
        let surface = Surface::new(surface.triangles, surface.corner_coordinates, surface.slots);
        Ok((particles, tetrahedra, surface, frame))
    }
}

/// A Bevy vector in the precision of the library's bookkeeping.
pub(crate) fn to_f64(v: Vec3) -> Vector3<f64> {
    Vector3::new(v.x.into(), v.y.into(), v.z.into())
}

/// A Bevy rotation in the precision of the library's bookkeeping.
pub(crate) fn to_rotation(q: Quat) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(
        q.w.into(),
        q.x.into(),
        q.y.into(),
        q.z.into(),
    ))
}

/// Bodies are built when their `Solid` is inserted.
pub(crate) fn plugin(app: &mut App) {
    app.register_type::<PliantMaterial>()
        .register_type::<InitialMotion>()
        .add_observer(build_solid);
}

type Ingredients = (
    &'static Solid,
    &'static PliantMaterial,
    &'static Transform,
    &'static InitialMotion,
    Option<&'static Name>,
);

fn build_solid(insert: On<Insert, Solid>, solids: Query<Ingredients>, mut commands: Commands) {
    let entity = insert.entity;
    let Ok((solid, material, transform, motion, name)) = solids.get(entity) else {
        return;
    };
    match solid.build(material, transform, motion) {
        Ok(body) => {
            commands.entity(entity).insert(body);
        }
        Err(error) => {
            error!("{} was not built: {error}", describe_new(entity, name));
            commands.entity(entity).insert(Quarantined {
                reason: error.to_string(),
            });
        }
    }
}

/// A number of the bookkeeping in the run-time scalar.
pub(crate) fn to_real(value: f64) -> Real {
    value as Real
}
