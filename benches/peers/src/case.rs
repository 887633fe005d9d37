//! What is simulated: meshes, materials, and what is watched.

use bevy_pliant::mesh::{CellSplit, TetrahedralMesh};
use nalgebra::Vector3;

/// Frames per simulated second.
pub const FRAMES_PER_SECOND: f64 = 60.0;
/// Acceleration of gravity, m/s², downwards.
pub const GRAVITY: f64 = 9.81;
/// Distance that bodies keep from the ground, m, in both engines.
pub const THICKNESS: f64 = 1e-3;

/// The elastic law of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Linear in strain after taking the rotation out: the same energy in both engines.
    Corotational,
    /// Stable neo-Hookean: nearly the same energy in both engines.
    NeoHookean,
}

impl Law {
    /// Both laws.
    pub const ALL: [Self; 2] = [Self::Corotational, Self::NeoHookean];

    /// How the table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Corotational => "corotational",
            Self::NeoHookean => "neo-Hookean",
        }
    }
}

/// One body to simulate.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the table calls it.
    pub name: &'static str,
    /// The rest shape where it starts.
    pub mesh: TetrahedralMesh,
    /// Young's modulus, Pa.
    pub young_modulus: f64,
    /// Poisson's ratio.
    pub poisson_ratio: f64,
    /// Mass per volume, kg/m³.
    pub density: f64,
    /// Vertices that do not move.
    pub held: Vec<u32>,
    /// Vertices whose mean is watched.
    pub watched: Vec<u32>,
    /// Whether there is ground at height zero.
    pub ground: bool,
    /// Number of frames.
    pub frames: usize,
}

/// All cases, or the small ones.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let finenesses: &[usize] = if quick { &[3] } else { &[3, 6, 12] };
    for &across in finenesses {
        for young_modulus in [1e6, 1e7] {
            cases.push(cantilever(across, young_modulus));
        }
    }
    cases.push(jelly());
    cases
}

/// A bar of 1 × 0.2 × 0.2 m, clamped at x = 0 and released straight, with `across` cells over its thickness.
fn cantilever(across: usize, young_modulus: f64) -> Case {
    let mesh = block([1.0, 0.2, 0.2], [5 * across, across, across]);
    let mesh = mesh.translated_by(Vector3::x() * 0.5);
    Case {
        name: "cantilever",
        held: vertices_where(&mesh, |position| position.x < 1e-6),
        watched: vertices_where(&mesh, |position| position.x > 1.0 - 1e-6),
        mesh,
        young_modulus,
        poisson_ratio: 0.3,
        density: 1000.0,
        ground: false,
        frames: 30,
    }
}

/// A cube of 0.2 m that falls 0.3 m onto the ground.
fn jelly() -> Case {
    let (edge, fall) = (0.2, 0.3);
    let mesh = block([edge; 3], [5; 3]);
    let mesh = mesh.translated_by(Vector3::y() * (0.5 * edge + fall + THICKNESS));
    let top = edge + fall + THICKNESS;
    Case {
        name: "jelly cube",
        held: Vec::new(),
        watched: vertices_where(&mesh, |position| position.y > top - 1e-6),
        mesh,
        young_modulus: 1e5,
        poisson_ratio: 0.4,
        density: 1000.0,
        ground: true,
        frames: 60,
    }
}

fn block(size: [f64; 3], cells: [usize; 3]) -> TetrahedralMesh {
    TetrahedralMesh::block(size, cells, CellSplit::Six).unwrap_or_default()
}

fn vertices_where(mesh: &TetrahedralMesh, select: impl Fn(&Vector3<f64>) -> bool) -> Vec<u32> {
    let chosen = mesh
        .positions
        .iter()
        .zip(0_u32..)
        .filter(|(position, _)| select(position));
    chosen.map(|(_, index)| index).collect()
}

/// A quarter of each tetrahedron's mass on each of its corners, kg: what both engines use.
pub fn lumped_masses(case: &Case) -> Vec<f64> {
    let mut masses = vec![0.0; case.mesh.positions.len()];
    for (tetrahedron, corners) in case.mesh.tetrahedra.iter().enumerate() {
        let share = 0.25 * case.density * case.mesh.tetrahedron_volume(tetrahedron);
        for &corner in corners {
            masses[corner as usize] += share;
        }
    }
    masses
}
