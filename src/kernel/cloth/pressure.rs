//! Pressure within a closed surface: balloons, cushions, airbags.

use nalgebra::Vector3;

use crate::kernel::energy::widened_vector;
use crate::kernel::scalar::{Scalar, Single, real};

/// Volume inside a closed surface of triangles, m³: positive where they turn counterclockwise as seen from outside.
///
/// ```text
/// V = ⅙ Σ (x₀ − c) · (x₁ − c) × (x₂ − c)        c the first position
/// ```
/// Exact for any closed surface; inner parts that overlap count twice. The sum runs in double precision in the order
/// of the triangles, and about a point of the body, so that no digits are lost far from the origin. A triangle with
/// an index out of range counts as nothing; an open surface gets the volume of the cone over c.
///
/// Eq: elementary (divergence theorem).
pub fn enclosed_volume<T: Single>(positions: &[Vector3<T>], triangles: &[[u32; 3]]) -> f64 {
    let Some(about) = positions.first().map(widened_vector) else {
        return 0.0;
    };
    let corner = |index: u32| {
        let position = positions.get(index as usize)?;
        Some(widened_vector(position) - about)
    };
    let sixfold = triangles.iter().fold(0.0, |sum, &[a, b, c]| {
        let (Some(a), Some(b), Some(c)) = (corner(a), corner(b), corner(c)) else {
            return sum;
        };
        sum + a.dot(&b.cross(&c))
    });
    sixfold / 6.0
}

/// Forces on the corners of a triangle at a pressure (Pa, inside less outside), N.
///
/// ```text
/// f₀ = p/6 (x₁ − c) × (x₂ − c),   f₁ = p/6 (x₂ − c) × (x₀ − c),   f₂ = p/6 (x₀ − c) × (x₁ − c)
/// ```
/// The gradient of p V, corner by corner, for a fixed point `about` c. Over a closed surface the sum at each vertex
/// is the same for any c, and the same as with [`shared_force`]; one near the body keeps the digits. A triangle by
/// itself feels only a third of its pressure this way: the rest is what the cone's other faces would feel.
///
/// Eq: elementary (gradient of the enclosed volume).
#[inline]
pub fn corner_forces<T: Scalar>(
    corners: &[Vector3<T>; 3],
    about: &Vector3<T>,
    pressure: T,
) -> [Vector3<T>; 3] {
    let share = pressure * real::<T>(1.0 / 6.0);
    let (a, b, c) = (corners[0] - about, corners[1] - about, corners[2] - about);
    [
        b.cross(&c) * share,
        c.cross(&a) * share,
        a.cross(&b) * share,
    ]
}

/// Force on each of the three corners of a triangle at a pressure (Pa, inside less outside), N.
///
/// ```text
/// f = p/6 (x₁ − x₀) × (x₂ − x₀) = ⅓ p A n
/// ```
/// Over a closed surface the sum at each vertex is the gradient of p V; over a patch it is the whole pressure p A n.
/// Zero for a triangle without area.
///
/// Eq: elementary.
#[inline]
pub fn shared_force<T: Scalar>(corners: &[Vector3<T>; 3], pressure: T) -> Vector3<T> {
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    normal * (pressure * real::<T>(1.0 / 6.0))
}

/// Energy of a constant pressure, J; zero without volume.
///
/// ```text
/// E = −p V
/// ```
/// `pressure` in Pa, inside less outside; `volume` in m³.
///
/// Eq: elementary.
#[inline]
pub fn constant_pressure_energy(pressure: f64, volume: f64) -> f64 {
    -pressure * volume
}

/// A fixed amount of ideal gas at constant temperature, in surroundings of constant pressure.
///
/// Below the smallest volume its pressure stays what it is there, so that a crushed or inverted body is pushed open
/// with a bounded force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gas {
    /// N k T, the product of absolute pressure and volume, J, not negative.
    pub amount: f64,
    /// Absolute pressure outside, Pa, not negative: 101 325 at sea level.
    pub ambient_pressure: f64,
    /// Volume below which the pressure grows no more, m³, positive.
    pub smallest_volume: f64,
}

impl Gas {
    /// Share of its first volume to which [`filling`](Self::filling) lets a gas be pressed.
    pub const SMALLEST_SHARE: f64 = 1e-2;

    /// The gas that fills a volume (m³, positive) at a pressure (Pa) above the ambient one (Pa, absolute).
    ///
    /// ```text
    /// N k T = (p_a + p) V
    /// ```
    /// An absolute pressure below zero counts as zero.
    ///
    /// Eq: elementary (Boyle's law).
    pub fn filling(volume: f64, pressure: f64, ambient_pressure: f64) -> Self {
        Self {
            amount: (ambient_pressure + pressure).max(0.0) * volume,
            ambient_pressure,
            smallest_volume: Self::SMALLEST_SHARE * volume,
        }
    }

    /// Pressure inside less pressure outside, Pa.
    ///
    /// ```text
    /// p = N k T / max(V, V_min) − p_a
    /// ```
    /// No gas presses with nothing, whatever the volume.
    ///
    /// Eq: elementary (Boyle's law).
    #[inline]
    pub fn pressure(&self, volume: f64) -> f64 {
        let volume = volume.max(self.smallest_volume);
        if volume > 0.0 {
            self.amount / volume - self.ambient_pressure
        } else {
            -self.ambient_pressure
        }
    }

    /// By how much the pressure falls with the volume, −dp/dV, Pa/m³, not negative.
    ///
    /// ```text
    /// −dp/dV = N k T / V²
    /// ```
    /// Zero below the smallest volume.
    ///
    /// Eq: elementary (Boyle's law).
    #[inline]
    pub fn stiffness(&self, volume: f64) -> f64 {
        if volume > self.smallest_volume {
            self.amount / (volume * volume)
        } else {
            0.0
        }
    }

    /// Free energy of the gas and its surroundings, J, less that at a reference volume (m³).
    ///
    /// ```text
    /// E = −N k T ln(V / V_r) + p_a (V − V_r),   dE/dV = −p
    /// ```
    /// Below the smallest volume it goes on in a straight line, as the pressure demands.
    ///
    /// Eq: elementary (isothermal work).
    pub fn energy(&self, volume: f64, reference_volume: f64) -> f64 {
        self.work_at(reference_volume) - self.work_at(volume)
    }

    /// Integral of the pressure from the smallest volume on, J.
    fn work_at(&self, volume: f64) -> f64 {
        let expanded = volume - self.smallest_volume;
        let gas = if self.smallest_volume > 0.0 {
            if expanded > 0.0 {
                (volume / self.smallest_volume).ln()
            } else {
                expanded / self.smallest_volume
            }
        } else {
            0.0
        };
        self.amount * gas - self.ambient_pressure * expanded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;
    use nalgebra::{Matrix3, Vector3};

    /// An octahedron around `center`, its corners moved at random.
    fn closed(random: &mut Random, center: Vector3<f64>) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
        let positions = (0..6)
            .map(|corner| {
                let sign = if corner % 2 == 0 { 1.0 } else { -1.0 };
                center + Vector3::ith(corner / 2, sign) + random.vector(0.2)
            })
            .collect();
        let mut triangles = Vec::new();
        for octant in 0..8_u32 {
            let [x, y, z] = [octant & 1, 2 + (octant >> 1 & 1), 4 + (octant >> 2)];
            let even = octant.count_ones() % 2 == 0;
            triangles.push(if even { [x, y, z] } else { [x, z, y] });
        }
        (positions, triangles)
    }

    fn forces(
        positions: &[Vector3<f64>],
        triangles: &[[u32; 3]],
        on_triangle: impl Fn(&[Vector3<f64>; 3]) -> [Vector3<f64>; 3],
    ) -> Vec<Vector3<f64>> {
        let mut forces = vec![Vector3::zeros(); positions.len()];
        for triangle in triangles {
            let parts = on_triangle(&triangle.map(|index| positions[index as usize]));
            for (index, part) in triangle.iter().zip(parts) {
                forces[*index as usize] += part;
            }
        }
        forces
    }

    #[test]
    fn volume_of_an_octahedron_is_known_and_follows_an_affine_map() {
        let corners: Vec<_> = (0..6)
            .map(|c| Vector3::ith(c / 2, if c % 2 == 0 { 1.0 } else { -1.0 }))
            .collect();
        let (_, triangles) = closed(&mut Random::new(1), Vector3::zeros());
        assert_relative_eq!(
            enclosed_volume(&corners, &triangles),
            4.0 / 3.0,
            epsilon = 1e-15
        );
        let map = Random::new(2).matrix(1.0);
        let shift = Vector3::new(3.0, -2.0, 1.0);
        let moved: Vec<_> = corners.iter().map(|x| map * x + shift).collect();
        let volume = enclosed_volume(&moved, &triangles);
        assert_relative_eq!(volume, map.determinant() * 4.0 / 3.0, epsilon = 1e-14);
        assert_eq!(enclosed_volume::<f32>(&[], &triangles), 0.0);
        assert_eq!(enclosed_volume(&corners, &[[0, 2, 99]]), 0.0);
    }

    #[test]
    fn far_from_the_origin_single_precision_keeps_the_volume() {
        let far = Vector3::repeat(1024.0);
        // Multiples of a power of two, which single precision holds exactly at this distance.
        let corners: Vec<_> = (0..6)
            .map(|c| far + Vector3::ith(c / 2, if c % 2 == 0 { 0.5 } else { -0.5 }))
            .map(Vector3::cast::<f32>)
            .collect();
        let (_, triangles) = closed(&mut Random::new(1), Vector3::zeros());
        assert_relative_eq!(
            enclosed_volume(&corners, &triangles),
            1.0 / 6.0,
            epsilon = 1e-15
        );
    }

    #[test]
    fn forces_are_the_gradient_of_pressure_times_volume() {
        let mut random = Random::new(3);
        let (positions, triangles) = closed(&mut random, Vector3::new(2.0, 1.0, -3.0));
        let pressure = 700.0;
        let exact = forces(&positions, &triangles, |corners| {
            corner_forces(corners, &Vector3::x(), pressure)
        });
        let shared = forces(&positions, &triangles, |corners| {
            [shared_force(corners, pressure); 3]
        });
        let step = 1e-5;
        for vertex in 0..positions.len() {
            for axis in 0..3 {
                let energy = |offset: f64| {
                    let mut moved = positions.clone();
                    moved[vertex][axis] += offset;
                    constant_pressure_energy(pressure, enclosed_volume(&moved, &triangles))
                };
                let slope = (energy(step) - energy(-step)) / (2.0 * step);
                assert_relative_eq!(exact[vertex][axis], -slope, epsilon = 1e-6);
                assert_relative_eq!(shared[vertex][axis], -slope, epsilon = 1e-6);
            }
        }
        let total: Vector3<f64> = exact.iter().sum();
        assert!(total.amax() < 1e-11);
        let mut torque = Vector3::zeros();
        for (position, force) in positions.iter().zip(&exact) {
            torque += position.cross(force);
        }
        assert!(torque.amax() < 1e-10);
    }

    #[test]
    fn single_triangle_has_the_gradient_of_its_own_cone() {
        let mut random = Random::new(4);
        let corners = [(); 3].map(|()| random.vector(1.0));
        let about = random.vector(1.0);
        let parts = corner_forces(&corners, &about, 6.0);
        for corner in 0..3 {
            for axis in 0..3 {
                let volume = |offset: f64| {
                    let mut moved = corners;
                    moved[corner][axis] += offset;
                    Matrix3::from_columns(&moved.map(|x| x - about)).determinant()
                };
                let slope = (volume(1e-4) - volume(-1e-4)) / 2e-4;
                assert_relative_eq!(parts[corner][axis], slope, epsilon = 1e-10);
            }
        }
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])) * 0.5;
        assert_relative_eq!(shared_force(&corners, 6.0), normal * 2.0, epsilon = 1e-14);
    }

    #[test]
    fn gas_obeys_boyle_and_its_energy_falls_by_the_work() {
        let gas = Gas::filling(0.02, 2000.0, 101_325.0);
        assert_relative_eq!(gas.pressure(0.02), 2000.0, epsilon = 1e-9);
        let balanced = 0.02 * 103_325.0 / 101_325.0;
        assert_relative_eq!(gas.pressure(balanced), 0.0, epsilon = 1e-9);
        assert_relative_eq!(
            gas.pressure(0.01) + 101_325.0,
            2.0 * 103_325.0,
            max_relative = 1e-14
        );
        for volume in [-0.01, 1e-4, 3e-4, 0.01, 0.02, 0.5] {
            let step = 1e-7;
            let slope =
                (gas.energy(volume + step, 0.02) - gas.energy(volume - step, 0.02)) / (2.0 * step);
            assert_relative_eq!(
                -slope,
                gas.pressure(volume),
                epsilon = 1e-3,
                max_relative = 1e-6
            );
        }
        for volume in [1e-4, 0.01, 0.02, 0.5] {
            let step = 1e-6 * volume;
            let slope = (gas.pressure(volume + step) - gas.pressure(volume - step)) / (2.0 * step);
            assert_relative_eq!(-slope, gas.stiffness(volume), max_relative = 1e-6);
        }
        assert_eq!(gas.energy(0.02, 0.02), 0.0);
        assert!(gas.energy(balanced, 0.02) < 0.0);
    }

    #[test]
    fn crushed_and_empty_gases_stay_finite() {
        let gas = Gas::filling(0.02, 0.0, 1e5);
        assert_eq!(gas.pressure(-1.0), gas.pressure(gas.smallest_volume));
        assert_relative_eq!(gas.pressure(0.0), 99.0 * 1e5, max_relative = 1e-12);
        let nothing = Gas::filling(0.0, 0.0, 1e5);
        assert_eq!(nothing.pressure(0.0), -1e5);
        assert_eq!(nothing.energy(0.0, 0.0), 0.0);
        assert_eq!(Gas::filling(1.0, -2e5, 1e5).amount, 0.0);
    }
}
