//! What makes a flat sheet wrinkle.
//!
//! In a sheet that is exactly flat all forces lie in its plane, so under compression it stays flat, although a real one
//! would buckle `[001 §7.1]`. Two ways out: rest angles of a sheet that was never quite flat
//! ([`rest_angle_offsets`], conservative, fixed for each sheet, the default), and a force that turns strain into
//! pushes out of the plane ([`CouplingForce`]).

use nalgebra::Vector3;
use std::f64::consts::TAU;

use crate::kernel::scalar::{Scalar, real};
use crate::kernel::seeded::{Sequence, hash, sign};

/// Number of waves in the field of heights: enough that no direction stands out.
const WAVES: usize = 16;

/// Range of the wavelengths over the mean one.
const WAVELENGTHS: [f64; 2] = [0.7, 1.4];

/// A smooth random field of heights over the rest shape, without unit: mean 0 and mean square 1 over a large region.
///
/// ```text
/// w(X) = √(2/16) Σᵢ cos(kᵢ · X + φᵢ),   2π/|kᵢ| in [0.7, 1.4] times the wavelength, kᵢ in all directions
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeightField {
    waves: [(Vector3<f64>, f64); WAVES],
}

impl HeightField {
    /// The field of a wavelength, m, and a seed. Without a positive wavelength it is the same height everywhere.
    ///
    /// Eq: `[001 §4.5]` (points out of the plane make wrinkles); the field is a sum of plane waves.
    #[must_use]
    pub fn new(wavelength: f64, seed: u64) -> Self {
        let mut sequence = Sequence::new(seed);
        let [shortest, longest] = WAVELENGTHS;
        let wave_number = if wavelength > 0.0 {
            TAU / wavelength
        } else {
            0.0
        };
        Self {
            waves: [(); WAVES].map(|()| {
                let length = sequence.between(shortest, longest);
                let wave_vector = sequence.direction() * (wave_number / length);
                (wave_vector, sequence.between(0.0, TAU))
            }),
        }
    }

    /// Height w at a place of the rest shape, m; without unit.
    ///
    /// Eq: `[001 §4.5]` (points out of the plane make wrinkles); the field is a sum of plane waves.
    #[must_use]
    pub fn height(&self, place: &Vector3<f64>) -> f64 {
        let sum: f64 = self
            .waves
            .iter()
            .map(|(wave_vector, phase)| (wave_vector.dot(place) + phase).cos())
            .sum();
        sum * (2.0 / WAVES as f64).sqrt()
    }

    /// Change of the angle of a hinge when the rest shape is raised along its normal by w metres, rad, to first order.
    ///
    /// ```text
    /// δθ = −Σⱼ (wⱼ − (1 − sⱼ) w₃ − sⱼ w₄)/hⱼ,   j = 1, 2
    /// ```
    /// `corners` are x₁, x₂ opposite the edge and x₃, x₄ along it, in rest coordinates, m. The height hⱼ of triangle j
    /// stands on the edge at the share sⱼ from x₃ to x₄. The sign is that of θ with sin θ = (n₁ × n₂) · e,
    /// N₁ = (x₁ − x₃) × (x₁ − x₄), N₂ = (x₂ − x₄) × (x₂ − x₃). Zero where a triangle has no area.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn hinge_angle(&self, corners: &[Vector3<f64>; 4]) -> f64 {
        let [_, _, start, end] = corners;
        let edge = end - start;
        let length_squared = edge.norm_squared();
        let (at_start, at_end) = (self.height(start), self.height(end));
        let slope = |corner: &Vector3<f64>| {
            let side = corner - start;
            let height = edge.cross(&side).norm() / length_squared.sqrt();
            let share = edge.dot(&side) / length_squared;
            let rise = self.height(corner) - (1.0 - share) * at_start - share * at_end;
            // Also false where the edge has no length and the height no value.
            if height > 0.0 {
                rise / height
            } else {
                f64::NAN
            }
        };
        let angle = -(slope(&corners[0]) + slope(&corners[1]));
        if angle.is_finite() { angle } else { 0.0 }
    }
}

/// Rest angles of a sheet that is not quite flat, rad, to be added to those of its rest shape.
///
/// ```text
/// θ₀ᵢ = σ δθᵢ/√(mean of δθ²),   δθ of a smooth random field of heights
/// ```
/// The angles are those of one slightly wavy surface, so they fit together and the sheet has a rest shape; the pattern
/// depends on the seed and the wavelength, not on the mesh. `positions` in rest coordinates, m; `hinges` as in
/// [`HeightField::hinge_angle`]; `wavelength` in m, four to eight edges; `standard_deviation` σ in rad, 0.026 (1.5°)
/// for cloth. Zeros where no hinge bends. A hinge with a corner that does not exist gets zero.
///
/// Eq: `[001 §4.5]` (points out of the plane make wrinkles), as rest angles.
pub fn rest_angle_offsets(
    positions: &[Vector3<f64>],
    hinges: &[[u32; 4]],
    wavelength: f64,
    standard_deviation: f64,
    seed: u64,
    offsets: &mut [f64],
) {
    let field = HeightField::new(wavelength, seed);
    offsets.fill(0.0);
    let (mut sum, mut count) = (0.0, 0.0);
    for (offset, hinge) in offsets.iter_mut().zip(hinges) {
        let [a, b, c, d] = hinge.map(|corner| positions.get(corner as usize));
        if let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) {
            *offset = field.hinge_angle(&[*a, *b, *c, *d]);
        }
        sum += *offset * *offset;
        count += 1.0;
    }
    if sum > 0.0 {
        let scale = standard_deviation / f64::sqrt(sum / count);
        for offset in offsets {
            *offset *= scale;
        }
    }
}

/// A force out of the plane at a spring of unusual length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingForce<T: Scalar> {
    /// λ, N/m, not negative; 0.05 to 0.2 of the stiffness of the spring.
    pub stiffness: T,
    /// Length over rest length above which the force acts. Of the source 1.05.
    pub stretched: T,
    /// Length over rest length below which the force acts. Of the source 0.95.
    pub compressed: T,
}

impl<T: Scalar> CouplingForce<T> {
    /// The force of the given stiffness λ, N/m, with the critical lengths of the source.
    ///
    /// Eq: `[001 §7.2]`.
    #[must_use]
    pub fn new(stiffness: T) -> Self {
        Self {
            stiffness,
            stretched: real(1.05),
            compressed: real(0.95),
        }
    }

    /// Size of the force at a spring, N; zero between the critical lengths.
    ///
    /// ```text
    /// λ max(l − 1.05 l₀, 0.95 l₀ − l, 0)
    /// ```
    /// Lengths in m.
    ///
    /// Eq: `[001 §7.2]`.
    #[inline]
    pub fn magnitude(&self, length: T, rest_length: T) -> T {
        let stretch = length - self.stretched * rest_length;
        let compression = self.compressed * rest_length - length;
        self.stiffness * stretch.simd_max(compression).simd_max(T::zero())
    }
}

/// Sign of the coupling force of a spring, −1 or 1, drawn anew after each `interval`.
///
/// ```text
/// hash(seed, spring, ⌊t/interval⌋)
/// ```
/// `time` and `interval` in s, 0.1 by default. **Erratum**: the source draws a sign at each evaluation, so that the
/// push is white noise in time, weaker the shorter the step. Without a positive interval the sign is drawn once.
///
/// Eq: `[001 §7.2]`, held over an interval.
#[must_use]
pub fn coupling_sign(seed: u64, spring: u64, time: f64, interval: f64) -> f64 {
    let count = if interval > 0.0 {
        (time / interval).floor()
    } else {
        0.0
    };
    sign(hash(hash(seed, spring), count as i64 as u64))
}

/// Coupling force on the two ends of a spring along their vertex normals, N.
///
/// ```text
/// Fᵢ = ±λ Δ Nᵢ
/// ```
/// `signed_magnitude` ±λΔ in N, `normals` of unit length. The sheet gains momentum from it; see
/// [`coupling_along_hinge`].
///
/// Eq: `[001 §7.2]`.
#[inline]
pub fn coupling_along_normals<T: Scalar>(
    signed_magnitude: T,
    normals: &[Vector3<T>; 2],
) -> [Vector3<T>; 2] {
    [normals[0] * signed_magnitude, normals[1] * signed_magnitude]
}

/// Coupling force of the edge of a hinge on its four corners along the hinge's mode of bending, N.
///
/// ```text
/// Fᵢ = ±λ Δ √2 uᵢ/√(Σⱼ |uⱼ|²)
/// ```
/// `signed_magnitude` ±λΔ in N, `modes` u as in the bending element, in any unit. The modes have no net force and no
/// torque, so the force has none either; Σ|F|² is that of [`coupling_along_normals`]. Zero for zero modes.
/// **Erratum**: the source pushes along the vertex normals, which gives the sheet momentum out of nothing.
///
/// Eq: `[001 §7.2]`, along the modes of `[001 eq. 4.1]`.
#[inline]
pub fn coupling_along_hinge<T: Scalar>(
    signed_magnitude: T,
    modes: &[Vector3<T>; 4],
) -> [Vector3<T>; 4] {
    let [a, b, c, d] = modes;
    let square = a.dot(a) + b.dot(b) + c.dot(c) + d.dot(d);
    let factor = signed_magnitude * (real::<T>(2.0) / square).simd_sqrt();
    let factor = factor.select(square.simd_gt(T::zero()), T::zero());
    [a * factor, b * factor, c * factor, d * factor]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    /// A flat irregular grid in the plane z = 0 with its inner hinges, of one diagonal per square.
    fn sheet(count: u32, spacing: f64, jitter: f64) -> (Vec<Vector3<f64>>, Vec<[u32; 4]>) {
        let mut random = Random::new(61);
        let at = |column: u32, row: u32| row * (count + 1) + column;
        let mut positions = Vec::new();
        for row in 0..=count {
            for column in 0..=count {
                let place = Vector3::new(f64::from(column), f64::from(row), 0.0);
                let shift = random.vector(jitter);
                positions.push((place + Vector3::new(shift.x, shift.y, 0.0)) * spacing);
            }
        }
        let mut hinges = Vec::new();
        for row in 0..count {
            for column in 0..count {
                let [a, b, c, d] = [(0, 0), (1, 0), (0, 1), (1, 1)]
                    .map(|(right, up)| at(column + right, row + up));
                // x₁ to the left of the edge from x₃ to x₄, so that all normals point along z.
                hinges.push([c, b, a, d]);
                if row > 0 {
                    hinges.push([d, at(column, row - 1), a, b]);
                }
                if column > 0 {
                    hinges.push([at(column - 1, row), d, a, c]);
                }
            }
        }
        (positions, hinges)
    }

    fn angle([first, second, start, end]: [Vector3<f64>; 4]) -> f64 {
        let one = (first - start).cross(&(first - end)).normalize();
        let two = (second - end).cross(&(second - start)).normalize();
        one.cross(&two).dot(&(end - start).normalize()).asin()
    }

    #[test]
    fn offsets_are_the_angles_of_one_wavy_surface() {
        let (positions, hinges) = sheet(8, 0.02, 0.2);
        let field = HeightField::new(0.1, 5);
        let size = 1e-6;
        let raise = |place: &Vector3<f64>| place + Vector3::z() * (size * field.height(place));
        let mut largest: f64 = 0.0;
        for hinge in hinges {
            let corners = hinge.map(|corner| positions[corner as usize]);
            let raised = corners.each_ref().map(raise);
            let expected = field.hinge_angle(&corners);
            assert_relative_eq!(angle(raised) / size, expected, epsilon = 1e-4 * 50.0);
            largest = largest.max(expected.abs());
        }
        assert!(largest > 50.0, "{largest}");
    }

    #[test]
    fn offsets_have_the_deviation_and_follow_the_pattern_on_any_mesh() {
        let deviation = 1.5_f64.to_radians();
        let offsets = |count: u32, spacing| {
            let (positions, hinges) = sheet(count, spacing, 0.0);
            let mut offsets = vec![7.0; hinges.len()];
            rest_angle_offsets(&positions, &hinges, 0.5, deviation, 3, &mut offsets);
            (positions, hinges, offsets)
        };
        let mut curvatures = Vec::new();
        for (count, spacing) in [(20, 0.05), (40, 0.025)] {
            let (positions, hinges, offsets) = offsets(count, spacing);
            let square: f64 = offsets.iter().map(|offset| offset * offset).sum();
            let root = (square / offsets.len() as f64).sqrt();
            assert_relative_eq!(root, deviation, max_relative = 1e-12);
            // The edges along x that start near one place: the coarse mesh has one there, and so has the fine one.
            let mut found = Vec::new();
            for place in [(0.25, 0.25), (0.5, 0.75), (0.75, 0.5), (0.1, 0.9)] {
                let here = |corner: u32| {
                    let offset = positions[corner as usize].xy();
                    (offset.x - place.0).hypot(offset.y - place.1) < 1e-9
                };
                let hinge = (0..hinges.len()).find(|&index| {
                    let [_, _, start, end] = hinges[index];
                    here(start) && end == start + 1
                });
                found.push(offsets[hinge.expect("an edge of both meshes")] / deviation);
            }
            curvatures.push(found);
        }
        let largest = curvatures[0]
            .iter()
            .fold(0.0_f64, |all, one| all.max(one.abs()));
        assert!(largest > 0.5, "{largest}");
        for (coarse, fine) in curvatures[0].iter().zip(&curvatures[1]) {
            assert_relative_eq!(*coarse, *fine, epsilon = 0.35 * largest);
        }
        assert_eq!(offsets(20, 0.05).2, offsets(20, 0.05).2);
    }

    #[test]
    fn field_has_unit_mean_square_and_degenerate_hinges_stay_flat() {
        let mut random = Random::new(62);
        let (mut square, count) = (0.0, 40_000);
        let field = HeightField::new(0.3, 8);
        for _ in 0..count {
            square += field.height(&random.vector(100.0)).powi(2) / f64::from(count);
        }
        assert_relative_eq!(square, 1.0, epsilon = 0.03);
        assert_ne!(field, HeightField::new(0.3, 9));
        let [o, x, y] = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        assert_eq!(field.hinge_angle(&[y, -y, x, x]), 0.0);
        assert_eq!(field.hinge_angle(&[y, x * 0.5, o, x]), 0.0);
        assert_eq!(
            HeightField::new(0.0, 8).hinge_angle(&[y, -y, o, x]).abs(),
            0.0
        );
        let mut offsets = [5.0; 2];
        rest_angle_offsets(&[o, x], &[[0, 1, 2, 3]], 0.3, 0.1, 1, &mut offsets);
        assert_eq!(offsets, [0.0; 2]);
    }

    #[test]
    fn coupling_acts_beyond_the_critical_lengths_only() {
        let force = CouplingForce::new(10.0);
        for (length, expected) in [
            (0.2, 0.0),
            (0.209, 0.0),
            (0.191, 0.0),
            (0.22, 0.1),
            (0.18, 0.1),
        ] {
            assert_relative_eq!(force.magnitude(length, 0.2), expected, epsilon = 1e-12);
        }
    }

    #[test]
    fn sign_lasts_an_interval_and_is_even() {
        let sign = |spring, time| coupling_sign(4, spring, time, 0.1);
        let mut sum = 0.0;
        let mut changes = 0;
        for spring in 0..1000 {
            assert_eq!(sign(spring, 0.51), sign(spring, 0.59));
            changes += u32::from(sign(spring, 0.51) != sign(spring, 0.61));
            sum += sign(spring, 0.51);
            assert_eq!(
                coupling_sign(4, spring, 0.51, 0.0),
                coupling_sign(4, spring, 9.0, 0.0)
            );
        }
        assert!((400..600).contains(&changes), "{changes}");
        assert!(f64::abs(sum) < 100.0, "{sum}");
    }

    #[test]
    fn hinge_coupling_has_no_net_force_and_no_torque() {
        let mut random = Random::new(63);
        for _ in 0..50 {
            let corners @ [first, second, start, end] = [(); 4].map(|()| random.vector(1.0));
            let edge = end - start;
            let one = (first - start).cross(&(first - end));
            let two = (second - end).cross(&(second - start));
            let (one, two) = (one / one.norm_squared(), two / two.norm_squared());
            let along =
                |from: &Vector3<f64>, to: &Vector3<f64>| (from - to).dot(&edge) / edge.norm();
            let modes = [
                one * edge.norm(),
                two * edge.norm(),
                one * along(&first, &end) + two * along(&second, &end),
                -one * along(&first, &start) - two * along(&second, &start),
            ];
            let forces = coupling_along_hinge(-0.3, &modes);
            let mut torque = Vector3::zeros();
            for (corner, force) in corners.iter().zip(&forces) {
                torque += corner.cross(force);
            }
            let net: Vector3<f64> = forces.iter().sum();
            assert_relative_eq!(net, Vector3::zeros(), epsilon = 1e-12);
            assert_relative_eq!(torque, Vector3::zeros(), epsilon = 1e-12);
            let square: f64 = forces.iter().map(Vector3::norm_squared).sum();
            assert_relative_eq!(square, 2.0 * 0.09, epsilon = 1e-12);
            assert!(forces[0].dot(&modes[0]) < 0.0);
        }
        let none = [Vector3::zeros(); 4];
        assert_eq!(
            coupling_along_hinge(1.0_f32, &none.map(|mode: Vector3<f64>| mode.cast())),
            none.map(nalgebra::Matrix::cast)
        );
        let pushes = coupling_along_normals(-2.0, &[Vector3::x(), Vector3::y()]);
        assert_eq!(pushes, [Vector3::x() * -2.0, Vector3::y() * -2.0]);
    }
}
