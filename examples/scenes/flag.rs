//! The small flag of the literature, which hangs by two corners of its upper side `[001 §3.2]`.

use bevy::prelude::*;
use bevy_pliant::mesh::{SheetCorner, SheetGrid, SheetPattern, SpringKind};
// Named, since Bevy's prelude has a `Real` of its own.
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use super::SceneError;
use super::props::STEEL;
use super::{Prop, PropShape, SceneColor};

/// Side of the flag, m, and cells along it: springs of 0.2 cm.
pub const SIDE: f64 = 0.032;
pub const CELLS: usize = 16;
/// Height of its upper side, m.
pub const TOP: f32 = 0.045;

/// Mass per area, kg/m². The source names no masses, so this one is chosen: with it the springs at the pins of its first
/// set-up stretch as far as the source says, 2.165 times their length. A heavy denim.
pub const DENSITY: Real = 0.575;
/// Resistance of the air per mass, 1/s; C_visc of the source, which names no value.
pub const AIR: Real = 5.0;

/// Stiffness of springs, N/m.
#[derive(Clone, Copy)]
pub struct Stiffness {
    pub structural: Real,
    pub shear: Real,
    pub bend: Real,
}

/// What resists bending.
pub enum Model {
    /// Springs over two cells `[Provot 1995]`.
    Provot,
    /// Hinges of the stiffness k_e, N·m, and the damping k_d, N·s `[Bridson 2003]`.
    Bridson { stiffness: Real, damping: Real },
}

/// The corners by which it hangs.
pub const CORNERS: [SheetCorner; 2] = [SheetCorner::BackLeft, SheetCorner::BackRight];

pub fn grid() -> SheetGrid {
    SheetGrid {
        size: [SIDE; 2],
        cells: [CELLS; 2],
        pattern: SheetPattern::Herringbone,
    }
}

/// Hangs up a flag with its middle at `x`, m, exactly in the plane z = 0, and then bent by `bend(x, y)`, m.
pub fn spawn(
    world: &mut World,
    name: &'static str,
    x: f32,
    model: &Model,
    stiffness: Stiffness,
    bend: impl Fn(f64, f64) -> f64,
    color: [f32; 3],
) -> Result<Entity, SceneError> {
    let grid = grid();
    let error = |error: bevy_pliant::mesh::TriangleMeshError| SceneError(error.to_string());
    let corners = CORNERS.map(|corner| grid.corner(corner));
    let fabric = Fabric {
        areal_density: DENSITY,
        ..Fabric::COTTON
    };
    let cloth = Cloth::new(grid.mesh().map_err(error)?).without_wrinkles();
    let (cloth, net) = match model {
        Model::Provot => (
            cloth.with_model(ClothModel::Grid(grid)),
            grid.provot_springs(),
        ),
        Model::Bridson { .. } => (
            cloth.with_model(ClothModel::Springs),
            grid.bridson_springs(),
        ),
    };
    let kind = |kind| match kind {
        SpringKind::Structural => stiffness.structural,
        SpringKind::Shear => stiffness.shear,
        SpringKind::Bend => stiffness.bend,
    };
    let springs = Springs::new(&net.map_err(error)?, kind, 0.0);
    let entity = world
        .spawn((
            Name::new(name),
            cloth,
            fabric,
            AirDrag {
                viscous_rate: AIR,
                ..default()
            },
            Pins::at(corners),
            // The source's flags pass through themselves.
            BodyContact::NONE,
            Transform::from_xyz(x, TOP - 0.5 * SIDE as f32, 0.0),
            SceneColor(color),
        ))
        .id();
    world.flush();
    let mut body = world.entity_mut(entity);
    body.insert(springs);
    if let (Model::Bridson { stiffness, damping }, Some(mut hinges)) =
        (model, body.get_mut::<Hinges>())
    {
        hinges.set_stiffness(*stiffness, 0.0);
        hinges.set_damping_coefficient(*damping);
    }
    if let Some(mut particles) = body.get_mut::<Particles>() {
        // The sheet lies level; this one hangs, to the last bit in its plane.
        for position in &mut particles.positions {
            let (along, down) = (f64::from(position.x) - f64::from(x), position.z);
            let height = f64::from(TOP) - 0.5 * SIDE - f64::from(down);
            *position = Vector3::new(
                position.x,
                height as Real,
                bend(along, f64::from(TOP) - height) as Real,
            );
        }
    }
    for corner in corners {
        spawn_peg(world, entity, corner);
    }
    Ok(entity)
}

/// Something to see that a corner hangs on.
fn spawn_peg(world: &mut World, flag: Entity, corner: u32) {
    let Some(particles) = world.get::<Particles>(flag) else {
        return;
    };
    let place = particles.positions[corner as usize].cast::<f32>();
    world.spawn((
        Name::new("peg"),
        Prop {
            shape: PropShape::Ball { radius: 7e-4 },
        },
        STEEL,
        Transform::from_xyz(place.x, place.y, place.z),
    ));
}

/// Length over rest length of the structural and shear springs whose ends pass the filter, at most.
pub fn largest_stretch(
    particles: &Particles,
    springs: &Springs,
    counts: impl Fn([u32; 2], SpringKind) -> bool,
) -> f64 {
    let place = |end: u32| particles.positions[end as usize].cast::<f64>();
    let all = springs.ends().iter().zip(springs.kinds());
    let stretches = all
        .zip(springs.rest_lengths())
        .filter(|((ends, kind), _)| **kind != SpringKind::Bend && counts(**ends, **kind))
        .map(|((&[a, b], _), rest)| (place(a) - place(b)).norm() / f64::from(rest));
    stretches.fold(0.0, |most, stretch| {
        if stretch.is_nan() {
            stretch
        } else {
            most.max(stretch)
        }
    })
}
