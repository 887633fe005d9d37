//! A body made of elastic tetrahedra: the one component that a game spawns.

use bevy::prelude::*;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use thiserror::Error;

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
        check_transform(transform)?;
        if !(motion.linear_velocity.is_finite() && motion.angular_velocity.is_finite()) {
            return Err(SolidError::Motion);
        }
        self.mesh.validate()?;

        let scale = to_f64(transform.scale);
        let rest: Vec<Vector3<f64>> = self
            .mesh
            .positions
            .iter()
            .map(|p| p.component_mul(&scale))
            .collect();
        let surface = self.mesh.surface()?;
        let tetrahedra = Tetrahedra::new(&rest, &self.mesh.tetrahedra, material);
        let masses = tetrahedra.lumped_masses(rest.len());

        let total: f64 = masses.iter().map(|&mass| f64::from(mass)).sum();
        let rest_center = rest
            .iter()
            .zip(&masses)
            .map(|(p, &m)| p * f64::from(m))
            .sum::<Vector3<f64>>()
            / total;
        let rotation = to_rotation(transform.rotation);
        let center = rotation * rest_center + to_f64(transform.translation);

        let (linear, angular) = (
            to_f64(motion.linear_velocity),
            to_f64(motion.angular_velocity),
        );
        let offsets: Vec<Vector3<f64>> = rest.iter().map(|p| p - rest_center).collect();
        let positions = offsets
            .iter()
            .map(|q| (center + rotation * q).cast())
            .collect();
        let mut particles = Particles::new(positions, masses);
        for (velocity, offset) in particles.velocities.iter_mut().zip(&offsets) {
            *velocity = (linear + angular.cross(&(rotation * offset))).cast();
        }
        let frame = BodyFrame {
            center,
            rotation,
            previous_center: center,
            previous_rotation: rotation,
            rest_offsets: offsets.iter().map(|offset| offset.cast()).collect(),
            written: Some(*transform),
        };
        let surface = Surface::new(surface.triangles, surface.corner_coordinates, surface.slots);
        Ok((particles, tetrahedra, surface, frame))
    }
}

fn check_transform(transform: &Transform) -> Result<(), SolidError> {
    let bad = |what: String| Err(SolidError::Transform { what });
    if !transform.is_finite() {
        return bad(format!("a number that is not finite ({transform:?})"));
    }
    if transform.scale.min_element() <= 0.0 {
        return bad(format!(
            "a scale that is not positive ({})",
            transform.scale
        ));
    }
    if !transform.rotation.is_normalized() {
        return bad(format!(
            "a rotation that is not a unit quaternion ({})",
            transform.rotation
        ));
    }
    Ok(())
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
            let who = name.map_or_else(
                || format!("entity {entity}"),
                |name| format!("body \"{name}\" ({entity})"),
            );
            error!("{who} was not built: {error}");
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
