//! Which render vertices a surface needs.
//!
//! A particle on a texture seam has several texture coordinates and a render vertex has one, so a vertex is a
//! distinct pair of particle and texture coordinate. Normals belong to particles: they stay smooth over seams.

use bevy::platform::collections::HashMap;

use crate::body::Surface;

/// The render vertices of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SurfaceLayout {
    /// Particles that are drawn, ascending; the other lists count in this one.
    pub particles: Vec<u32>,
    /// Corners of each drawn triangle.
    pub triangles: Vec<[u32; 3]>,
    /// One mesh per material slot, ascending.
    pub parts: Vec<PartLayout>,
    /// The first triangle that is left out because it names a particle that the body does not have.
    pub first_bad_triangle: Option<usize>,
}

/// The render vertices of one material slot, in the order in which the triangles first use them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartLayout {
    pub slot: u16,
    /// The drawn particle of each vertex.
    pub vertices: Vec<u32>,
    /// Texture coordinates of each vertex.
    pub coordinates: Vec<[f32; 2]>,
    /// Three vertices per triangle.
    pub indices: Vec<u32>,
}

impl SurfaceLayout {
    /// Lays out a surface of a body with `particle_count` particles.
    pub fn new(surface: &Surface, particle_count: usize) -> Self {
        let exists = |corners: &[u32; 3]| {
            corners
                .iter()
                .all(|&particle| (particle as usize) < particle_count)
        };
        let mut particles: Vec<u32> = surface
            .triangles
            .iter()
            .filter(|corners| exists(corners))
            .flatten()
            .copied()
            .collect();
        particles.sort_unstable();
        particles.dedup();

        let mut slots: Vec<u16> = (0..surface.triangles.len())
            .map(|index| slot_of(surface, index))
            .collect();
        slots.sort_unstable();
        slots.dedup();
        let mut parts: Vec<PartLayout> = slots
            .iter()
            .map(|&slot| PartLayout {
                slot,
                ..Default::default()
            })
            .collect();

        let mut known = HashMap::new();
        let mut triangles = Vec::with_capacity(surface.triangles.len());
        let mut first_bad_triangle = None;
        for (index, corners) in surface.triangles.iter().enumerate() {
            if !exists(corners) {
                first_bad_triangle = first_bad_triangle.or(Some(index));
                continue;
            }
            // Both lists hold what is looked up.
            let drawn =
                corners.map(|particle| count(particles.partition_point(|&other| other < particle)));
            triangles.push(drawn);
            let slot = slot_of(surface, index);
            let part = &mut parts[slots.partition_point(|&other| other < slot)];
            for (corner, particle) in drawn.into_iter().enumerate() {
                let coordinates = coordinates_of(surface, index, corner);
                let vertex = *known
                    .entry((slot, particle, coordinates.map(f32::to_bits)))
                    .or_insert_with(|| {
                        part.vertices.push(particle);
                        part.coordinates.push(coordinates);
                        count(part.vertices.len() - 1)
                    });
                part.indices.push(vertex);
            }
        }
        Self {
            particles,
            triangles,
            parts,
            first_bad_triangle,
        }
    }
}

fn slot_of(surface: &Surface, triangle: usize) -> u16 {
    surface.slots.get(triangle).copied().unwrap_or(0)
}

fn coordinates_of(surface: &Surface, triangle: usize, corner: usize) -> [f32; 2] {
    let coordinates = surface
        .corner_coordinates
        .get(triangle)
        .map_or([0.0; 2], |corners| corners[corner]);
    // The sum makes one of the two zeros, which differ in their bits.
    coordinates.map(|value| if value.is_finite() { value + 0.0 } else { 0.0 })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "particle indices are u32, so no list is longer"
)]
fn count(index: usize) -> u32 {
    index as u32
}
