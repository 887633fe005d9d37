//! The boundary of a body and how it feels to the touch.

use bevy::prelude::*;

use crate::Real;

/// The boundary triangles of a body: what is rendered and what touches.
#[derive(Component, Clone, Debug, Default)]
pub struct Surface {
    /// Particle indices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each corner of each triangle (seams need several per particle).
    pub corner_coordinates: Vec<[[f32; 2]; 3]>,
    /// Material slot of each triangle.
    pub slots: Vec<u16>,
    /// The particles that the triangles use, ascending.
    pub(crate) particles: Vec<u32>,
}

impl Surface {
    /// A surface of the given triangles, with texture coordinates per corner and material slots per triangle.
    ///
    /// The two attribute arrays may be shorter than `triangles`: what is missing counts as zero.
    #[must_use]
    pub fn new(
        triangles: Vec<[u32; 3]>,
        corner_coordinates: Vec<[[f32; 2]; 3]>,
        slots: Vec<u16>,
    ) -> Self {
        let mut particles: Vec<u32> = triangles.iter().flatten().copied().collect();
        particles.sort_unstable();
        particles.dedup();
        Self {
            triangles,
            corner_coordinates,
            slots,
            particles,
        }
    }

    /// The particles on the surface, ascending.
    #[must_use]
    pub fn particles(&self) -> &[u32] {
        &self.particles
    }
}

/// How the surface of a body behaves in contact.
///
/// Coefficients of a pair are combined by their mean, as [000 Appendix A] and Rapier's default do.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct SurfaceProperties {
    /// Coefficient of static friction μ_s, dimensionless, not negative. Default 0.5.
    pub static_friction: Real,
    /// Coefficient of kinetic friction μ_d, dimensionless, not negative and at most `static_friction`. Default 0.5.
    pub kinetic_friction: Real,
    /// Coefficient of restitution e, 0 (no bounce) to 1 (no loss). Default 0.
    pub restitution: Real,
    /// Distance kept from colliders, m, positive. Default 1 mm.
    pub thickness: Real,
}

impl Default for SurfaceProperties {
    fn default() -> Self {
        Self {
            static_friction: 0.5,
            kinetic_friction: 0.5,
            restitution: 0.0,
            thickness: 1e-3,
        }
    }
}
