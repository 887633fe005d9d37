//! The rigid motion that a zone of vertices is given.

use nalgebra::Vector3;

use crate::kernel::energy::{
    angular_momentum, angular_velocity, center_of_mass, inertia, momentum, total_mass,
    widened_vector,
};
use crate::kernel::scalar::Single;

/// Bound of the rounding errors of a center, relative to the coordinates: a zone not larger than it is a point.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Velocity of a rigid body: of its center, and of its turning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidVelocity {
    /// Center, m.
    pub center: Vector3<f64>,
    /// Velocity of the center, m/s.
    pub linear: Vector3<f64>,
    /// ω, rad/s.
    pub angular: Vector3<f64>,
}

impl RigidVelocity {
    /// The rigid motion with the momentum and the angular momentum of a zone.
    ///
    /// ```text
    /// x_CM = Σ m x/Σ m,   v_CM = Σ m v/Σ m
    /// L = Σ m (x − x_CM) × (v − v_CM),   I = Σ m (|r|² 1 − r rᵀ),   ω = I⁺ L
    /// ```
    /// It is the nearest of all rigid motions in the metric of the masses, so that kinetic energy is not raised. Of a
    /// zone of two vertices, or on a line, I is singular and nothing turns about the line; a single vertex does not turn.
    ///
    /// `masses` in kg, `positions` in m, `velocities` in m/s; slices are read up to the shortest. Without mass, or where
    /// a number is not finite, all zero.
    ///
    /// Eq: `[001 §6.2.5]`, `[Bridson 2002]`, with the pseudo-inverse.
    #[must_use]
    pub fn conserving<T: Single>(
        masses: &[T],
        positions: &[Vector3<T>],
        velocities: &[Vector3<T>],
    ) -> Self {
        let mass = total_mass(masses);
        let center = center_of_mass(masses, positions);
        let linear = momentum(masses, velocities) / mass;
        // Arms from the center of mass take the common motion out by themselves.
        let spin = angular_momentum(masses, positions, velocities, &center);
        let inertia = inertia(masses, positions, &center);
        let coordinate = positions.iter().map(|x| widened_vector(x).amax());
        let blur = ROUNDING * coordinate.fold(0.0, f64::max);
        // Arms of a point are rounding errors, and would make it spin at random.
        let angular = if inertia.trace() > 2.0 * mass * blur * blur {
            angular_velocity(&inertia, &spin)
        } else {
            Vector3::zeros()
        };
        Self {
            center,
            linear,
            angular,
        }
        .or_rest()
    }

    /// The rigid motion of Provot's zones, which has the wrong angular velocity.
    ///
    /// ```text
    /// G = mean x,   V_G = mean v,   Ω_G = mean (GM × (v − V_G))/|GM|²
    /// ```
    /// A named method. For a rigid motion with ω, Ω_G = ω − mean (r̂·ω) r̂: the part of ω along the directions to the
    /// vertices is lost. On a sphere two thirds of ω remain; only a flat zone that turns in its own plane is
    /// right. Vertices in the center count as zero. Where a number is not finite, all zero.
    ///
    /// Eq: `[001 §5.4.2]`, `[Provot 1997]`.
    #[must_use]
    pub fn provot<T: Single>(positions: &[Vector3<T>], velocities: &[Vector3<T>]) -> Self {
        let count = positions.len().min(velocities.len());
        let share = 1.0 / count.max(1) as f64;
        let pairs = || positions.iter().zip(velocities);
        let mean = |vectors: &[Vector3<T>]| {
            let vectors = vectors[..count].iter();
            vectors.fold(Vector3::zeros(), |sum, vector| sum + widened_vector(vector)) * share
        };
        let (center, linear) = (mean(positions), mean(velocities));
        let sum = pairs().fold(Vector3::zeros(), |sum, (position, velocity)| {
            let arm = widened_vector(position) - center;
            let square = arm.norm_squared();
            if square > 0.0 {
                sum + arm.cross(&(widened_vector(velocity) - linear)) / square
            } else {
                sum
            }
        });
        Self {
            center,
            linear,
            angular: sum * share,
        }
        .or_rest()
    }

    /// Velocity at a place, m/s.
    ///
    /// ```text
    /// v = v_CM + ω × (x − x_CM)
    /// ```
    /// A motion along it for a finite step is not rigid; see [`RigidStep`](super::RigidStep).
    ///
    /// Eq: `[001 §6.2.5]`, `[001 §5.4.2]`.
    #[must_use]
    pub fn at(&self, position: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(&(position - self.center))
    }

    /// This, or all zero where a number is not finite.
    fn or_rest(self) -> Self {
        let vectors = [self.center, self.linear, self.angular];
        let finite = vectors.iter().all(|v| v.iter().all(|x| x.is_finite()));
        if finite { self } else { Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::energy::kinetic_energy;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    fn moved(motion: &RigidVelocity, positions: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        positions
            .iter()
            .map(|position| motion.at(position))
            .collect()
    }

    #[test]
    fn single_vertices_keep_their_velocity() {
        let mut random = Random::new(834);
        for _ in 0..1000 {
            let place = random.vector(10.0);
            let velocity = random.vector(2.0);
            let mass = random.between(0.1, 10.0);
            for count in 1..4 {
                let motion = RigidVelocity::conserving(
                    &[mass, 0.3, 0.7][..count],
                    &[place; 3][..count],
                    &[velocity; 3][..count],
                );
                assert_eq!(motion.angular, Vector3::zeros());
                assert_relative_eq!(motion.at(&place), velocity, epsilon = 1e-15);
            }
        }
    }

    #[test]
    fn momenta_are_kept_and_energy_is_not_raised() {
        let mut random = Random::new(831);
        for case in 0..1000 {
            let count = 1 + case % 9;
            let positions: Vec<_> = (0..count).map(|_| random.vector(1.0)).collect();
            let velocities: Vec<_> = (0..count).map(|_| random.vector(2.0)).collect();
            let masses: Vec<f64> = (0..count).map(|_| random.between(0.1, 10.0)).collect();
            let motion = RigidVelocity::conserving(&masses, &positions, &velocities);
            let after = moved(&motion, &positions);
            let change = momentum(&masses, &after) - momentum(&masses, &velocities);
            assert!(change.norm() < 1e-11, "{change}");
            let zero = Vector3::zeros();
            let angular = |v: &[Vector3<f64>]| angular_momentum(&masses, &positions, v, &zero);
            let change = angular(&after) - angular(&velocities);
            assert!(change.norm() < 1e-10, "{change}");
            let energy = kinetic_energy(&masses, &velocities);
            assert!(kinetic_energy(&masses, &after) <= energy * (1.0 + 1e-12));
        }
    }

    #[test]
    fn lines_and_points_turn_as_far_as_they_can() {
        let mut random = Random::new(832);
        for _ in 0..300 {
            let axis = random.vector(1.0).normalize();
            let positions: Vec<_> = (0..4).map(|_| axis * random.uniform()).collect();
            let velocities: Vec<_> = (0..4).map(|_| random.vector(2.0)).collect();
            let masses = [1.0, 0.5, 2.0, 3.0];
            let motion = RigidVelocity::conserving(&masses, &positions, &velocities);
            assert!(motion.angular.dot(&axis).abs() < 1e-6 * motion.angular.norm().max(1.0));
            let zero = Vector3::zeros();
            let after = moved(&motion, &positions);
            let change = angular_momentum(&masses, &positions, &after, &zero)
                - angular_momentum(&masses, &positions, &velocities, &zero);
            assert!(change.norm() < 1e-11, "{change}");
        }
        let place = Vector3::new(1.0, 2.0, 3.0);
        let single =
            RigidVelocity::conserving(&[2.0, 1.0], &[place, place], &[Vector3::x(), Vector3::y()]);
        assert_eq!(single.angular, Vector3::zeros());
        assert_relative_eq!(
            single.linear,
            Vector3::new(2.0, 1.0, 0.0) / 3.0,
            epsilon = 1e-15
        );
        assert_eq!(
            RigidVelocity::conserving::<f32>(&[], &[], &[]),
            RigidVelocity::default()
        );
        let bad = [Vector3::repeat(f32::NAN)];
        assert_eq!(
            RigidVelocity::conserving(&[1.0], &bad, &bad),
            RigidVelocity::default()
        );
        assert_eq!(RigidVelocity::provot(&bad, &bad), RigidVelocity::default());
    }

    fn provot_of(positions: &[Vector3<f64>], spin: &Vector3<f64>) -> Vector3<f64> {
        let velocities: Vec<_> = positions.iter().map(|x| spin.cross(x)).collect();
        RigidVelocity::provot(positions, &velocities).angular
    }

    /// Of a rigid motion, Provot's mean gives the right spin only in a plane across it, two thirds on a sphere, and
    /// something in another direction for a long body.
    #[test]
    fn provot_is_right_for_flat_zones_only() {
        let mut random = Random::new(833);
        let spin = Vector3::new(0.3, -1.2, 0.7);
        // The corners of a cube and of an octahedron lie on spheres, alike in all directions.
        let signs = [-1.0, 1.0];
        let cube: Vec<_> = (0..8)
            .map(|i| Vector3::new(signs[i & 1], signs[i >> 1 & 1], signs[i >> 2]))
            .collect();
        let octahedron: Vec<_> = (0..3)
            .flat_map(|axis| signs.map(|sign| Vector3::ith(axis, sign)))
            .collect();
        for sphere in [&cube, &octahedron] {
            let masses = vec![1.0; sphere.len()];
            let velocities: Vec<_> = sphere.iter().map(|x| spin.cross(x)).collect();
            let right = RigidVelocity::conserving(&masses, sphere, &velocities);
            assert_relative_eq!(right.angular, spin, epsilon = 1e-13);
            assert_relative_eq!(
                provot_of(sphere, &spin),
                spin * (2.0 / 3.0),
                epsilon = 1e-13
            );
        }
        // In pairs about the center, so that it is the mean.
        let flat: Vec<_> = (0..10)
            .flat_map(|_| {
                let place = Vector3::new(random.uniform(), random.uniform(), 0.0);
                [place, -place]
            })
            .collect();
        let across = Vector3::z() * 1.5;
        assert_relative_eq!(provot_of(&flat, &across), across, epsilon = 1e-13);
        assert!((provot_of(&flat, &spin) - spin).norm() > 0.1);
        let long = [Vector3::new(2.0, 0.1, 0.0), Vector3::new(-2.0, -0.1, 0.0)];
        let wrong = provot_of(&long, &spin);
        assert!(wrong.normalize().dot(&spin.normalize()) < 0.99);
        assert_eq!(
            RigidVelocity::provot(&[Vector3::<f64>::x()], &[Vector3::y()]).angular,
            Vector3::zeros()
        );
    }
}
