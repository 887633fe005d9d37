//! A sheet that hangs by two corners: 1 × 1 m, 0.2 kg, released flat and level, three seconds.
//!
//! This library's sheet has a membrane of 10 kN/m. Rapier's cloth has no modulus: its edges are springs of a given natural
//! frequency, so that the stiffness follows from the masses and the number of substeps; the rows raise both until the
//! sheet stretches as little as that engine can make it at that price.
//!
//! Elongation is that of the edges along warp and weft, the largest of all of them.

use std::time::Instant;

use bevy_pliant::mesh::{SheetCorner, SheetGrid, TriangleMesh};
use bevy_pliant::prelude::*;
use nalgebra::Vector3;
use rapier3d::dynamics::SpringCoefficients;
use rapier3d::prelude::{PhysicsWorld, SoftBodyBuilder, SoftBodyMaterial, Vector};

use crate::case::{FRAMES_PER_SECOND, GRAVITY};
use crate::motion::median_milliseconds;
use crate::pliant::app;

/// Frames of three seconds.
const FRAMES: usize = 180;
/// Mass of the sheet, kg.
const MASS: f64 = 0.2;
/// Membrane modulus, N/m.
const MEMBRANE: f32 = 1e4;

/// The first two lines.
pub const HEADING: &str = "\
| particles | engine and settings | ms per frame | elongation, any time | after 3 s | time, of the first row's |
|--:|---|--:|--:|--:|--:|";

/// One way to simulate the sheet.
#[derive(Clone, Copy, Debug)]
pub enum Contender {
    /// This library.
    Pliant(Integrator),
    /// Rapier: natural frequency of the springs, Hz, or its default, and substeps per frame.
    Rapier(Option<f32>, usize),
}

impl Contender {
    /// All of them for a sheet of so many cells along an edge.
    pub fn all(cells: usize) -> Vec<Self> {
        let substeps = if cells <= 32 { [12, 32] } else { [32, 128] };
        vec![
            Self::Rapier(None, 4),
            Self::Rapier(Some(2000.0), substeps[0]),
            Self::Rapier(Some(2000.0), substeps[1]),
            Self::Pliant(Integrator::default()),
            Self::Pliant(Integrator::CHEAP),
        ]
    }

    fn describe(self) -> String {
        match self {
            Self::Pliant(integrator) if integrator == Integrator::CHEAP => {
                "bevy_pliant: `Integrator::CHEAP`".into()
            }
            Self::Pliant(integrator) => format!("bevy_pliant: {}, default", integrator.name()),
            Self::Rapier(None, substeps) => format!("Rapier: default, {substeps} substeps"),
            Self::Rapier(Some(frequency), substeps) => {
                format!("Rapier: springs of {frequency} Hz, {substeps} substeps")
            }
        }
    }
}

/// What a run cost and how far it stretched.
#[derive(Clone, Debug, Default)]
struct Run {
    milliseconds: Vec<f64>,
    largest: f64,
    last: f64,
}

impl Run {
    fn record(&mut self, edges: &[[usize; 2]], rest: f64, positions: &[Vector3<f64>]) {
        self.last = edges
            .iter()
            .map(|&[a, b]| (positions[a] - positions[b]).norm() / rest - 1.0)
            // A plain maximum would pass over numbers that are not numbers.
            .fold(0.0, |most, strain| if strain <= most { most } else { strain });
        self.largest = if self.last <= self.largest {
            self.largest
        } else {
            self.last
        };
    }
}

/// The lines of the table for one sheet, each printed as soon as it is there.
pub fn print_rows(cells: usize) {
    let mut first = None;
    for contender in Contender::all(cells) {
        let run = match contender {
            Contender::Pliant(integrator) => pliant(cells, integrator),
            Contender::Rapier(frequency, substeps) => rapier(cells, frequency, substeps),
        };
        let milliseconds = median_milliseconds(&run.milliseconds);
        let first = *first.get_or_insert(milliseconds);
        println!(
            "| {} | {} | {milliseconds:.2} | {:.2} % | {:.2} % | {:.2} |",
            (cells + 1) * (cells + 1),
            contender.describe(),
            100.0 * run.largest,
            100.0 * run.last,
            milliseconds / first,
        );
    }
}

fn pliant(cells: usize, integrator: Integrator) -> Run {
    let mut app = app(integrator);
    let grid = SheetGrid {
        size: [1.0, 1.0],
        cells: [cells; 2],
        pattern: SheetPattern::Herringbone,
    };
    let mesh = grid.mesh().unwrap_or_default();
    let edges = edges_along_the_grid(&mesh);
    let fabric = Fabric {
        areal_density: MASS as _,
        warp_modulus: MEMBRANE.into(),
        weft_modulus: MEMBRANE.into(),
        shear_modulus: (MEMBRANE / 2.6).into(),
        poisson_ratio: 0.3,
        locking_factor: 1.0,
        ..Fabric::COTTON
    };
    let corners = [SheetCorner::BackLeft, SheetCorner::BackRight].map(|corner| grid.corner(corner));
    let body = app
        .world_mut()
        .spawn((Cloth::new(mesh), fabric, Pins::at(corners)))
        .id();
    // The first update starts the clock and runs no tick.
    app.update();
    let mut run = Run::default();
    for _ in 0..FRAMES {
        let start = Instant::now();
        app.update();
        run.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        let Some(particles) = app.world().get::<Particles>(body) else {
            return run;
        };
        let positions: Vec<_> = particles.positions.iter().map(|x| x.cast()).collect();
        run.record(&edges, 1.0 / cells as f64, &positions);
    }
    run
}

fn edges_along_the_grid(mesh: &TriangleMesh) -> Vec<[usize; 2]> {
    let Ok(topology) = mesh.topology() else {
        return Vec::new();
    };
    let edges = topology.edges.iter();
    edges
        .map(|edge| edge.vertices.map(|vertex| vertex as usize))
        .filter(|&[a, b]| {
            let along = mesh.positions[a] - mesh.positions[b];
            along.x.abs() < 1e-9 || along.z.abs() < 1e-9
        })
        .collect()
}

fn rapier(cells: usize, frequency: Option<f32>, substeps: usize) -> Run {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::Y * -(GRAVITY as f32);
    world.integration_parameters.dt = (1.0 / FRAMES_PER_SECOND) as f32;
    world.integration_parameters.num_solver_iterations = substeps;
    let (count, cell) = (cells + 1, 1.0 / cells as f32);
    let share = |i: usize| if i == 0 || i == cells { 0.5 } else { 1.0 };
    let index = |i: usize, j: usize| i * count + j;
    let (mut masses, mut edges) = (Vec::new(), Vec::new());
    for i in 0..count {
        for j in 0..count {
            masses.push(MASS as f32 * cell * cell * share(i) * share(j));
            if i < cells {
                edges.push([index(i, j), index(i + 1, j)]);
            }
            if j < cells {
                edges.push([index(i, j), index(i, j + 1)]);
            }
        }
    }
    let mut builder = SoftBodyBuilder::cloth(
        Vector::new(-0.5, 0.0, -0.5),
        Vector::X * cell,
        Vector::Z * cell,
        count,
        count,
    )
    .masses(masses)
    .pinned_particles([index(0, 0) as u32, index(cells, 0) as u32])
    .can_sleep(false)
    .no_surface_collider();
    if let Some(frequency) = frequency {
        builder = builder.material(SoftBodyMaterial {
            edge_softness: SpringCoefficients::new(frequency, 1.0),
            ..SoftBodyMaterial::default()
        });
    }
    let handle = world.insert_soft_body(builder);
    let mut run = Run::default();
    for _ in 0..FRAMES {
        let start = Instant::now();
        world.step();
        run.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        let Some(body) = world.soft_bodies.get(handle) else {
            return run;
        };
        let positions: Vec<_> = body
            .particle_positions()
            .map(|position| Vector3::from(position.to_array()).cast())
            .collect();
        run.record(&edges, f64::from(cell), &positions);
    }
    run
}
