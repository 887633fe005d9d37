//! The five fabrics, and what scenes measure on cloth.

use bevy::prelude::*;
use bevy_pliant::mesh::SheetGrid;
use bevy_pliant::prelude::*;
use nalgebra::{Matrix2, Matrix3x2, Vector3};

use super::record::worst;
use super::{Parameter, Settings};

/// What the cloth of a scene resists stretch and shear with.
pub const MODEL: Parameter = Parameter {
    name: "model",
    default: 0.0,
    minimum: 0.0,
    maximum: 2.0,
    unit: "",
    about: "0: membrane triangles, 1: springs along edges, 2: Provot's grid of springs",
};

/// The chosen [`MODEL`] of a sheet.
pub fn model(settings: &Settings, grid: SheetGrid) -> ClothModel {
    match settings.get(&MODEL) {
        model if model < 0.5 => ClothModel::Membrane,
        model if model < 1.5 => ClothModel::Springs,
        _ => ClothModel::Grid(grid),
    }
}

/// The presets with their names and colors, from the softest to the stiffest in drape, rubber last.
pub const FABRICS: [(&str, Fabric, [f32; 3]); 5] = [
    ("silk", Fabric::SILK, [0.80, 0.20, 0.36]),
    ("cotton", Fabric::COTTON, [0.93, 0.87, 0.74]),
    ("denim", Fabric::DENIM, [0.20, 0.32, 0.56]),
    ("leather", Fabric::LEATHER, [0.50, 0.29, 0.16]),
    ("rubber", Fabric::RUBBER, [0.22, 0.55, 0.45]),
];

/// Positions of the particles, m.
pub fn places(particles: &Particles) -> Vec<Vector3<f64>> {
    let place = |position: &Vector3<bevy_pliant::Real>| position.cast::<f64>();
    particles.positions.iter().map(place).collect()
}

/// Largest stretch of warp or weft in any triangle.
pub fn largest_thread_strain(cloth: &Cloth, places: &[Vector3<f64>]) -> f64 {
    let mesh = cloth.mesh();
    worst((0..mesh.triangles.len()).map(|triangle| {
        let Some(rest) = mesh.rest_frame(triangle) else {
            return f64::NAN;
        };
        let [a, b, c] = mesh.triangles[triangle].map(|corner| places[corner as usize]);
        let inverse = rest.edges.try_inverse().unwrap_or_else(Matrix2::zeros);
        let deformation = Matrix3x2::from_columns(&[b - a, c - a]) * inverse;
        worst(deformation.column_iter().map(|thread| thread.norm() - 1.0))
    }))
}

/// Kinetic energy per mass of the liveliest body, J/kg.
pub fn largest_kinetic_energy(world: &mut World) -> f64 {
    let mut bodies = world.query::<(&PliantState, &Particles)>();
    worst(
        bodies
            .iter(world)
            .map(|(state, particles)| state.energies.kinetic / particles.total_mass()),
    )
}

/// Area of what triangles cover as seen from above, m², on squares of side `step` (m).
pub fn plan_area(places: &[Vector3<f64>], triangles: &[[u32; 3]], step: f64) -> f64 {
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for place in places {
        for (axis, value) in [place.x, place.z].into_iter().enumerate() {
            low[axis] = low[axis].min(value);
            high[axis] = high[axis].max(value);
        }
    }
    let size = [0, 1].map(|axis| ((high[axis] - low[axis]) / step).ceil());
    if size.iter().any(|cells| !(0.0..1e4).contains(cells)) {
        return f64::NAN;
    }
    let [columns, rows] = size.map(|cells| cells as usize + 1);
    let mut covered = vec![false; columns * rows];
    for triangle in triangles {
        let corners = triangle.map(|corner| {
            let place = places[corner as usize];
            [(place.x - low[0]) / step, (place.z - low[1]) / step]
        });
        // A square counts when its middle is covered.
        let range = |axis: usize| {
            let values = corners.map(|corner| corner[axis] - 0.5);
            let least = values.into_iter().fold(f64::INFINITY, f64::min);
            let most = values.into_iter().fold(0.0, f64::max);
            least.ceil().max(0.0) as usize..=most.floor() as usize
        };
        for row in range(1) {
            for column in range(0) {
                let point = [column as f64 + 0.5, row as f64 + 0.5];
                let sides = [0, 1, 2].map(|side| {
                    let (a, b) = (corners[side], corners[(side + 1) % 3]);
                    (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
                });
                let inside =
                    sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0);
                covered[row * columns + column] |= inside;
            }
        }
    }
    covered.iter().filter(|&&covered| covered).count() as f64 * step * step
}
