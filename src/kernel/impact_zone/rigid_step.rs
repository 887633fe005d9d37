//! The exact rigid motion of a zone over a step.

use nalgebra::{Matrix3, UnitQuaternion, Vector3, convert};

use super::RigidVelocity;
use crate::kernel::energy::widened_vector;
use crate::kernel::rigid_motion::best_rotation;
use crate::kernel::scalar::Single;

/// A rigid motion from the start to the end of a step: a rotation about a center and a shift.
///
/// ```text
/// x' = c + s + R (x − c)
/// ```
/// Distances between the vertices of a zone are the same at both ends, to the rounding of the stored positions. Between
/// the ends they shrink by up to cos(θ/2), θ the angle of the step, since vertices move along straight lines; but the map
/// from the start to any moment is affine, and reversible for θ < π, so that nothing in the zone meets on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidStep {
    /// c, m.
    center: Vector3<f64>,
    /// s, m.
    shift: Vector3<f64>,
    /// R − 1, which keeps its digits for small angles.
    turn: Matrix3<f64>,
}

impl RigidStep {
    /// No motion: the last resort, which is safe against everything that does not move itself.
    pub const REST: Self = Self {
        center: Vector3::new(0.0, 0.0, 0.0),
        shift: Vector3::new(0.0, 0.0, 0.0),
        turn: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    };

    /// The motion of a zone of free vertices, with a constant angular velocity.
    ///
    /// ```text
    /// x_F = ((x − x_CM)·ω̂) ω̂,   x_R = x − x_CM − x_F
    /// x' = x_CM + dt v_CM + x_F + cos(dt |ω|) x_R + sin(dt |ω|) ω̂ × x_R
    /// ```
    /// `velocity` of [`RigidVelocity::conserving`], `dt` in s. Linear momentum is kept exactly by the mean velocities of
    /// the step. Angular momentum is that of the start but for a share that vanishes with the angle θ = dt |ω|: sin θ/θ
    /// about a principal axis, of the order of θ about others, since ω of a free body does not stay constant. At rest where
    /// a number is not finite.
    ///
    /// Eq: `[001 §6.2.5]`, `[Bridson 2002]`.
    #[must_use]
    pub fn new(velocity: &RigidVelocity, dt: f64) -> Self {
        let rate = velocity.angular.norm();
        let axis = velocity.angular.try_normalize(0.0);
        let cross = axis.map_or(Matrix3::zeros(), |axis| axis.cross_matrix());
        let (angle, half) = (dt * rate, 0.5 * dt * rate);
        // −[ω̂]×² takes x_R out of x. 1 − cos θ as twice the square of the half sine keeps its digits.
        let versine = 2.0 * half.sin() * half.sin();
        Self {
            center: velocity.center,
            shift: velocity.linear * dt,
            turn: cross * angle.sin() + cross * cross * versine,
        }
        .or_rest()
    }

    /// The motion of a zone with pinned vertices: with them.
    ///
    /// ```text
    /// c = mean x,   s = dt mean v,   R the rotation that best takes x − c to x + dt v − c − s
    /// ```
    /// `positions` in m and `velocities` in m/s of the pinned vertices alone, which move by dt v whatever happens. If they
    /// keep their distances, the motion is theirs exactly; one pin carries the zone along without turning it, and about
    /// a line of pins it turns least. Pins that move against each other cannot be followed by a rigid zone: it takes the
    /// mean, and vertices at rest relative to it can meet the pins. Without pins, or where a number is not finite, at rest.
    ///
    /// Eq: `[001 §6.2.5]` for zones that are held; the rotation by `[Müller 2005]`.
    #[must_use]
    pub fn following<T: Single>(
        positions: &[Vector3<T>],
        velocities: &[Vector3<T>],
        dt: f64,
    ) -> Self {
        let count = positions.len().min(velocities.len());
        let share = 1.0 / count.max(1) as f64;
        let mean = |vectors: &[Vector3<T>]| {
            let vectors = vectors[..count].iter();
            vectors.fold(Vector3::zeros(), |sum, vector| sum + widened_vector(vector)) * share
        };
        let (center, velocity) = (mean(positions), mean(velocities));
        let pairs = positions.iter().zip(velocities);
        let moment = pairs.fold(Matrix3::zeros(), |sum, (position, own)| {
            let arm = widened_vector(position) - center;
            sum + (arm + (widened_vector(own) - velocity) * dt) * arm.transpose()
        });
        let rotation = best_rotation(&moment, &UnitQuaternion::identity());
        Self {
            center,
            shift: velocity * dt,
            turn: rotation.to_rotation_matrix().into_inner() - Matrix3::identity(),
        }
        .or_rest()
    }

    /// How far a point moves in the step, m.
    ///
    /// ```text
    /// x' − x = s + (R − 1)(x − c)
    /// ```
    /// Eq: `[001 §6.2.5]`, `[Bridson 2002]`.
    #[must_use]
    pub fn displacement(&self, position: &Vector3<f64>) -> Vector3<f64> {
        self.shift + self.turn * (position - self.center)
    }

    /// Where a point is at the end of the step, m.
    ///
    /// Eq: `[001 §6.2.5]`, `[Bridson 2002]`.
    #[must_use]
    pub fn position_after<T: Single>(&self, position: &Vector3<T>) -> Vector3<T> {
        let position = widened_vector(position);
        (position + self.displacement(&position)).map(convert)
    }

    /// Mean velocity of a point over the step, m/s; zero for a step that is not positive.
    ///
    /// ```text
    /// v = (x' − x)/dt
    /// ```
    /// Eq: `[001 §6.2.5]`, `[Bridson 2002]`.
    #[must_use]
    pub fn mean_velocity<T: Single>(&self, position: &Vector3<T>, dt: f64) -> Vector3<T> {
        if dt > 0.0 {
            (self.displacement(&widened_vector(position)) / dt).map(convert)
        } else {
            Vector3::zeros()
        }
    }

    /// This, or rest where a number is not finite.
    fn or_rest(self) -> Self {
        let vectors = [self.center, self.shift];
        let finite = vectors.iter().all(|v| v.iter().all(|x| x.is_finite()))
            && self.turn.iter().all(|x| x.is_finite());
        if finite { self } else { Self::REST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::energy::{angular_momentum, kinetic_energy, momentum};
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    struct Zone {
        masses: Vec<f64>,
        positions: Vec<Vector3<f64>>,
        velocities: Vec<Vector3<f64>>,
    }

    fn drawn(random: &mut Random, count: usize, size: f64) -> Zone {
        Zone {
            masses: (0..count).map(|_| random.between(0.1, 5.0)).collect(),
            positions: (0..count).map(|_| random.vector(size)).collect(),
            velocities: (0..count).map(|_| random.vector(2.0)).collect(),
        }
    }

    fn step_of(zone: &Zone, dt: f64) -> RigidStep {
        let velocity = RigidVelocity::conserving(&zone.masses, &zone.positions, &zone.velocities);
        RigidStep::new(&velocity, dt)
    }

    /// As printed, component by component.
    #[test]
    fn positions_are_the_printed_ones() {
        let mut random = Random::new(841);
        for _ in 0..500 {
            let zone = drawn(&mut random, 6, 1.0);
            let dt = random.between(0.001, 1.0);
            let motion = RigidVelocity::conserving(&zone.masses, &zone.positions, &zone.velocities);
            let step = RigidStep::new(&motion, dt);
            let axis = motion.angular.normalize();
            let angle = dt * motion.angular.norm();
            for position in &zone.positions {
                let arm = position - motion.center;
                let fixed = axis * arm.dot(&axis);
                let turning = arm - fixed;
                let expected = motion.center
                    + motion.linear * dt
                    + fixed
                    + turning * angle.cos()
                    + axis.cross(&turning) * angle.sin();
                assert_relative_eq!(step.position_after(position), expected, epsilon = 1e-13);
            }
        }
    }

    #[test]
    fn distances_are_kept_to_rounding_in_both_precisions() {
        let mut random = Random::new(842);
        let (mut largest, mut largest_single) = (0.0_f64, 0.0_f64);
        for case in 0..300 {
            // Zones of one, two, many vertices, and on a line.
            let mut zone = drawn(&mut random, 1 + case % 7, 1.0);
            if case % 5 == 0 {
                for position in &mut zone.positions {
                    *position = Vector3::new(0.6, 0.0, 0.8) * position.x;
                }
            }
            let dt = random.between(0.001, 0.2);
            let step = step_of(&zone, dt);
            let after: Vec<_> = zone
                .positions
                .iter()
                .map(|x| x + step.mean_velocity(x, dt) * dt)
                .collect();
            let single: Vec<_> = zone.positions.iter().map(|x| x.cast::<f32>()).collect();
            let after_single: Vec<_> = single
                .iter()
                .map(|x| x + step.mean_velocity(x, dt) * (dt as f32))
                .collect();
            for i in 0..after.len() {
                for j in 0..i {
                    let before = (zone.positions[i] - zone.positions[j]).norm();
                    largest = largest.max(((after[i] - after[j]).norm() - before).abs());
                    let wide = |x: &Vector3<f32>| x.cast::<f64>();
                    let before = (wide(&single[i]) - wide(&single[j])).norm();
                    let distance = (wide(&after_single[i]) - wide(&after_single[j])).norm();
                    largest_single = largest_single.max((distance - before).abs());
                }
            }
        }
        println!("distances change by at most {largest:e} and {largest_single:e} m");
        assert!(largest < 4e-15 && largest_single < 1e-6);
    }

    /// Linear momentum is kept exactly at any step. Angular momentum is kept by the velocity at the start; the mean
    /// velocity of the step has sin θ/θ of it about a principal axis, and an error of first order in general. The energy
    /// is not raised in either.
    #[test]
    fn linear_momentum_is_exact_and_angular_momentum_of_first_order() {
        let mut random = Random::new(843);
        for _ in 0..200 {
            let zone = drawn(&mut random, 8, 1.0);
            let mean = |dt: f64| -> Vec<Vector3<f64>> {
                let step = step_of(&zone, dt);
                zone.positions
                    .iter()
                    .map(|x| step.mean_velocity(x, dt))
                    .collect()
            };
            let zero = Vector3::zeros();
            let spin = |velocities: &[Vector3<f64>]| {
                angular_momentum(&zone.masses, &zone.positions, velocities, &zero)
            };
            let error = |dt: f64| {
                let after = mean(dt);
                let change =
                    momentum(&zone.masses, &after) - momentum(&zone.masses, &zone.velocities);
                assert!(change.norm() < 1e-12, "{change}");
                let energy = kinetic_energy(&zone.masses, &zone.velocities);
                assert!(kinetic_energy(&zone.masses, &after) <= energy * (1.0 + 1e-12));
                (spin(&after) - spin(&zone.velocities)).norm()
            };
            let (coarse, fine) = (error(1e-3), error(0.5e-3));
            assert_relative_eq!(coarse / fine, 2.0, epsilon = 0.02);
        }
        // A cube of equal masses has the same moment about all axes.
        let positions: Vec<_> = (0..8)
            .map(|i| Vector3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)))
            .collect();
        let masses = [0.5; 8];
        let velocities: Vec<_> = (0..8).map(|_| random.vector(2.0)).collect();
        let motion = RigidVelocity::conserving(&masses, &positions, &velocities);
        let dt = 0.1;
        let step = RigidStep::new(&motion, dt);
        let after: Vec<_> = positions
            .iter()
            .map(|x| step.mean_velocity(x, dt))
            .collect();
        let spin = |v: &[Vector3<f64>]| angular_momentum(&masses, &positions, v, &motion.center);
        let angle = dt * motion.angular.norm();
        assert_relative_eq!(
            spin(&after),
            spin(&velocities) * (angle.sin() / angle),
            epsilon = 1e-13
        );
    }

    /// The volume of four vertices changes, but never its sign: no pair crosses on the straight paths either.
    #[test]
    fn nothing_crosses_on_the_way_for_less_than_half_a_turn() {
        let mut random = Random::new(845);
        for _ in 0..1000 {
            let corners: [Vector3<f64>; 4] = [0; 4].map(|_| random.vector(1.0));
            let motion = RigidVelocity {
                center: random.vector(1.0),
                linear: random.vector(1.0),
                angular: random.vector(1.0).normalize() * random.between(0.0, 3.0),
            };
            let step = RigidStep::new(&motion, 1.0);
            let volume = |time: f64| {
                let [a, b, c, d] = corners.map(|x| x + step.displacement(&x) * time);
                (b - a).dot(&(c - a).cross(&(d - a)))
            };
            let start = volume(0.0);
            assert_relative_eq!(volume(1.0), start, epsilon = 1e-14);
            // The smallest share is (1 + cos θ)/2 in the middle, 0.005 for 3 radians.
            for moment in 1..20 {
                assert!(volume(f64::from(moment) / 20.0) / start > 0.004);
            }
        }
    }

    #[test]
    fn zone_moves_with_its_pins() {
        let mut random = Random::new(844);
        for case in 0..300 {
            let pins = 1 + case % 5;
            let zone = drawn(&mut random, pins, 1.0);
            let (turn, shift, dt) = (random.unit_quaternion(), random.vector(1.0), 0.02);
            let turn = turn.powf(0.2);
            let moved = |x: &Vector3<f64>| turn * x + shift;
            let velocities: Vec<_> = zone.positions.iter().map(|x| (moved(x) - x) / dt).collect();
            let step = RigidStep::following(&zone.positions, &velocities, dt);
            for position in &zone.positions {
                assert_relative_eq!(
                    step.position_after(position),
                    moved(position),
                    epsilon = 1e-11
                );
            }
            let other = random.vector(1.0);
            match pins {
                1 => assert_relative_eq!(
                    step.mean_velocity(&other, dt),
                    velocities[0],
                    epsilon = 1e-11
                ),
                2 => {
                    // The distance of any point to the pins stays.
                    let after = step.position_after(&other);
                    for position in &zone.positions {
                        let before = (other - position).norm();
                        assert_relative_eq!(
                            (after - moved(position)).norm(),
                            before,
                            epsilon = 1e-11
                        );
                    }
                }
                _ => {
                    let after = step.position_after(&other);
                    assert_relative_eq!(after, moved(&other), epsilon = 1e-9);
                }
            }
        }
    }

    #[test]
    fn rest_and_bad_numbers_do_not_move() {
        let place = Vector3::new(1.0, 2.0, 3.0_f32);
        assert_eq!(RigidStep::REST.position_after(&place), place);
        assert_eq!(
            RigidStep::REST.mean_velocity(&place, 0.01),
            Vector3::zeros()
        );
        let bad = RigidVelocity {
            angular: Vector3::repeat(f64::NAN),
            ..RigidVelocity::default()
        };
        assert_eq!(RigidStep::new(&bad, 0.01), RigidStep::REST);
        assert_eq!(
            RigidStep::new(&RigidVelocity::default(), 0.01),
            RigidStep::REST
        );
        assert_eq!(RigidStep::following::<f32>(&[], &[], 0.01), RigidStep::REST);
        let nan = [Vector3::repeat(f32::NAN)];
        assert_eq!(RigidStep::following(&nan, &nan, 0.01), RigidStep::REST);
        assert_eq!(RigidStep::REST.mean_velocity(&place, 0.0), Vector3::zeros());
    }
}
