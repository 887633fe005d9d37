//! How a cloth comes into being: a triangle mesh, a fabric and a transform.

use bevy::prelude::*;
use thiserror::Error;

use super::placement::{Placement, describe_new};
use super::solid::to_real;
use super::{
    BodyFrame, Fabric, FabricError, Hinges, InitialMotion, Membranes, Particles, PliantState,
    Quarantined, SolidError, Springs, Surface, SurfaceProperties,
};
use crate::Real;
use crate::kernel::cloth::wrinkles::rest_angle_offsets;
use crate::mesh::{SheetGrid, SpringKind, SpringNet, TriangleMesh, TriangleMeshError};

/// A triangle mesh that becomes a cloth where its [`Transform`] stands.
///
/// When the component is inserted the library builds [`Particles`], [`Surface`], [`Hinges`], and [`Membranes`] or
/// [`Springs`] from the mesh, the transform (its scale resizes the rest shape), the [`Fabric`] and the
/// [`InitialMotion`]. From then on the transform is output, as that of a [`Solid`](super::Solid) is.
///
/// The angles of the mesh are the rest angles of the cloth: folds that are modelled stay. A perfectly flat sheet would
/// never wrinkle, so small smooth rest angles are added ([`Wrinkles`]).
///
/// A mesh or fabric that cannot be simulated is reported with the entity's name, and the entity gets
/// [`Quarantined`] instead of a body.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_pliant::prelude::*;
/// # fn spawn(mut commands: Commands) -> Result {
/// let sheet = TriangleMesh::sheet([1.0, 1.0], [40, 40], SheetPattern::Herringbone)?;
/// commands.spawn((Cloth::new(sheet), Fabric::COTTON, Transform::from_xyz(0.0, 2.0, 0.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Component, Clone, Debug)]
#[require(Transform, Fabric, InitialMotion, PliantState, BodyFrame)]
pub struct Cloth {
    mesh: TriangleMesh,
    model: ClothModel,
    wrinkles: Option<Wrinkles>,
}

/// What a cloth resists stretch and shear with.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClothModel {
    /// Membrane triangles with warp and weft: the default. Hinges resist bending.
    #[default]
    Membrane,
    /// A spring along each edge of the mesh [001 §4.1]: the stiffness of the fabric on the axes, none of its shear
    /// behaviour beyond that. Hinges resist bending.
    Springs,
    /// Structural, shear and bend springs of a rectangular sheet [001 §3.1]; no hinges.
    Grid(SheetGrid),
}

/// Small rest angles that make a flat sheet wrinkle: its smooth deviation from a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrinkles {
    /// Standard deviation of the rest angles, rad. Default 1.5°.
    pub deviation: f64,
    /// Wavelength, m; `None`, the default: six times the mean length of the edges.
    pub wavelength: Option<f64>,
    /// Which of the many surfaces of this kind. Default 0.
    pub seed: u64,
}

impl Default for Wrinkles {
    fn default() -> Self {
        Self {
            deviation: 1.5_f64.to_radians(),
            wavelength: None,
            seed: 0,
        }
    }
}

/// Why a cloth or a rope could not be built.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ClothError {
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] TriangleMeshError),
    /// The fabric cannot be simulated.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The transform or the initial motion cannot be used.
    #[error(transparent)]
    Place(#[from] SolidError),
    /// A rope has a number that makes no sense.
    #[error("the {what} of the rope is {value}; it must be finite and {wanted}")]
    Rope {
        /// Which number.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        wanted: &'static str,
    },
}

/// What a cloth is built of.
#[derive(Bundle)]
pub struct ClothBody {
    particles: Particles,
    surface: Surface,
    frame: BodyFrame,
}

/// What holds the particles of a cloth together.
struct Elements {
    membranes: Option<Membranes>,
    springs: Option<Springs>,
    hinges: Option<Hinges>,
}

impl Cloth {
    /// A cloth of membrane triangles and hinges over the given mesh, with [`Wrinkles`] by default; the mesh is checked
    /// when the body is built.
    #[must_use]
    pub fn new(mesh: TriangleMesh) -> Self {
        Self {
            mesh,
            model: ClothModel::default(),
            wrinkles: Some(Wrinkles::default()),
        }
    }

    /// Another model.
    #[must_use]
    pub fn with_model(mut self, model: ClothModel) -> Self {
        self.model = model;
        self
    }

    /// Other small rest angles.
    #[must_use]
    pub fn with_wrinkles(mut self, wrinkles: Wrinkles) -> Self {
        self.wrinkles = Some(wrinkles);
        self
    }

    /// Exactly the rest angles of the mesh.
    #[must_use]
    pub fn without_wrinkles(mut self) -> Self {
        self.wrinkles = None;
        self
    }

    /// The rest mesh, in its own frame.
    #[must_use]
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &ClothModel {
        &self.model
    }

    fn build(
        &self,
        fabric: &Fabric,
        transform: &Transform,
        motion: &InitialMotion,
    ) -> Result<(ClothBody, Elements), ClothError> {
        fabric.validate()?;
        let placement = Placement::new(transform, motion)?;
        let mut rest = self.mesh.clone();
        for position in &mut rest.positions {
            *position = placement.scaled(position);
        }
        rest.validate()?;
        let elements = self.elements(&rest, fabric)?;
        let density = f64::from(fabric.areal_density);
        let areas = rest.vertex_areas().into_iter();
        let masses = areas.map(|area| to_real(area * density)).collect();
        let (particles, frame) = placement.place(&rest.positions, masses);
        let coordinates = rest.corner_coordinates.unwrap_or_default();
        let surface = Surface::new(rest.triangles, coordinates, Vec::new());
        let body = ClothBody {
            particles,
            surface,
            frame,
        };
        Ok((body, elements))
    }

    fn elements(&self, rest: &TriangleMesh, fabric: &Fabric) -> Result<Elements, ClothError> {
        let mut elements = Elements {
            membranes: None,
            springs: None,
            hinges: None,
        };
        match &self.model {
            ClothModel::Membrane => {
                elements.membranes = Some(Membranes::new(rest, fabric)?);
                elements.hinges = Some(self.hinges(rest, fabric)?);
            }
            ClothModel::Springs => {
                elements.springs = Some(springs(&rest.edge_springs()?, fabric));
                elements.hinges = Some(self.hinges(rest, fabric)?);
            }
            ClothModel::Grid(grid) => {
                elements.springs = Some(springs(&grid.provot_springs()?, fabric));
            }
        }
        Ok(elements)
    }

    fn hinges(&self, rest: &TriangleMesh, fabric: &Fabric) -> Result<Hinges, ClothError> {
        let topology = rest.topology()?;
        let corners = &topology.hinges;
        let (stiffness, damping) = (fabric.hinge_stiffness(), fabric.bending_damping);
        let mut hinges = Hinges::new(rest, corners, stiffness, damping);
        if let Some(wrinkles) = &self.wrinkles {
            let lengths = topology.edges.iter().map(|edge| {
                let [a, b] = edge.vertices.map(|vertex| rest.positions[vertex as usize]);
                (a - b).norm()
            });
            let mean = lengths.sum::<f64>() / topology.edges.len().max(1) as f64;
            let wavelength = wrinkles.wavelength.unwrap_or(6.0 * mean);
            let mut offsets = vec![0.0; corners.len()];
            let (positions, seed) = (&rest.positions, wrinkles.seed);
            let deviation = wrinkles.deviation;
            rest_angle_offsets(
                positions,
                corners,
                wavelength,
                deviation,
                seed,
                &mut offsets,
            );
            let angles: Vec<Real> = hinges
                .rest_angles()
                .zip(&offsets)
                .map(|(angle, &offset)| angle + to_real(offset))
                .collect();
            hinges.set_rest_angles(&angles);
        }
        Ok(hinges)
    }
}

/// Springs with the stiffness of a fabric: along the threads its moduli, across the shear modulus, and for bending what
/// a strip of the fabric has over two cells.
fn springs(net: &SpringNet, fabric: &Fabric) -> Springs {
    let modulus = f64::from(0.5 * (fabric.warp_modulus + fabric.weft_modulus));
    let stiffnesses: Vec<Real> = (0..net.len())
        .map(|index| {
            let length = net.rest_lengths[index];
            let stiffness = match net.kinds[index] {
                SpringKind::Structural => modulus * net.dual_widths[index] / length,
                SpringKind::Shear => {
                    f64::from(fabric.shear_modulus) * net.dual_widths[index] / length
                }
                // A strip of width w bent over 2 s: half the energy of a spring k (l − 2 s)² is that of B w κ² s.
                SpringKind::Bend => {
                    f64::from(fabric.bending_stiffness) * net.dual_widths[index] / length.powi(3)
                }
            };
            to_real(stiffness)
        })
        .collect();
    Springs::with_stiffnesses(net, &stiffnesses, fabric.membrane_damping)
}

/// Cloths are built when their `Cloth` is inserted.
pub(crate) fn plugin(app: &mut App) {
    app.register_type::<Fabric>().add_observer(build_cloth);
}

type Ingredients = (
    &'static Cloth,
    &'static Fabric,
    &'static Transform,
    &'static InitialMotion,
    Has<SurfaceProperties>,
    Option<&'static Name>,
);

fn build_cloth(insert: On<Insert, Cloth>, cloths: Query<Ingredients>, mut commands: Commands) {
    let entity = insert.entity;
    let Ok((cloth, fabric, transform, motion, has_properties, name)) = cloths.get(entity) else {
        return;
    };
    match cloth.build(fabric, transform, motion) {
        Ok((body, elements)) => {
            let mut entity = commands.entity(entity);
            entity.insert(body);
            if let Some(membranes) = elements.membranes {
                entity.insert(membranes);
            }
            if let Some(springs) = elements.springs {
                entity.insert(springs);
            }
            if let Some(hinges) = elements.hinges {
                entity.insert(hinges);
            }
            if !has_properties {
                entity.insert(SurfaceProperties {
                    static_friction: fabric.friction,
                    kinetic_friction: fabric.friction,
                    thickness: fabric.thickness.max(1e-3),
                    ..default()
                });
            }
        }
        Err(error) => {
            error!("{} was not built: {error}", describe_new(entity, name));
            commands.entity(entity).insert(Quarantined {
                reason: error.to_string(),
            });
        }
    }
}
