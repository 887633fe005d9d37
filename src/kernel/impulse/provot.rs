//! Provot's response: velocities in place of forces in the law of friction.

use nalgebra::Vector3;

use crate::kernel::scalar::Single;

/// How velocities change at a collision, after Provot.
///
/// A named method: each vertex is treated alone, with the impact speed in place of the contact force. Friction so
/// depends on the speed of the impact; the momentum of a pair is kept along the normal, but not across it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProvotResponse<T> {
    /// `k_f`, dimensionless, not negative; infinite for no sliding at all.
    pub friction: T,
    /// `k_d`, dimensionless: 0 for no rebound, to 1 for no loss. (The source calls it dissipation.)
    pub dissipation: T,
}

impl<T: Single> ProvotResponse<T> {
    /// Velocity of a vertex after a collision, m/s.
    ///
    /// ```text
    /// V = v − v₀,   V_N = (V·n) n,   V_T = V − V_N
    /// V' = V_T − k_f |V_N| V_T/|V_T| − k_d V_N     if |V_T| > k_f |V_N|
    ///      −k_d V_N                                otherwise;      v' = v₀ + V'
    /// ```
    /// # Arguments
    /// * `velocity` – v, m/s
    /// * `frame_velocity` – v₀ of what it hits, m/s: of the object's center of mass, zero if it rests
    /// * `normal` – n, unit, of either side
    ///
    /// Call it for vertices that collide: one that moves away would be turned back. Where a number is not finite, the
    /// velocity stays as it is.
    ///
    /// Eq: `[001 §5.3.3]`, `[Provot 1997]`.
    #[must_use]
    pub fn velocity_after(
        &self,
        velocity: &Vector3<T>,
        frame_velocity: &Vector3<T>,
        normal: &Vector3<T>,
    ) -> Vector3<T> {
        let relative = velocity - frame_velocity;
        let normal_velocity = relative.dot(normal);
        let along = normal * normal_velocity;
        let tangential = relative - along;
        let (speed, loss) = (tangential.norm(), self.friction * normal_velocity.abs());
        let slides = speed > loss;
        let slid = if slides {
            tangential * (T::one() - loss / speed)
        } else {
            Vector3::zeros()
        };
        let after = frame_velocity + slid - along * self.dissipation;
        if after.iter().all(T::is_finite) {
            after
        } else {
            *velocity
        }
    }

    /// Velocities of the four vertices of a pair within a cloth after their collision, m/s.
    ///
    /// ```text
    /// v₀ = Σ mᵢ vᵢ/Σ mᵢ,   each vertex as in velocity_after
    /// ```
    /// `inverse_masses` in 1/kg. If some are pinned (zero), v₀ is the mean of their velocities, and they keep them. The
    /// momentum of free pairs is kept along the normal; across it, only while all four slide alike or all stick.
    ///
    /// Eq: `[001 §5.3.3]`, `[Provot 1997]` (collisions of a cloth with itself).
    #[must_use]
    pub fn pair_velocities_after(
        &self,
        inverse_masses: &[T; 4],
        velocities: &[Vector3<T>; 4],
        normal: &Vector3<T>,
    ) -> [Vector3<T>; 4] {
        let pinned = inverse_masses.iter().any(|&inverse| inverse <= T::zero());
        let weight = |inverse: T| match (pinned, inverse > T::zero()) {
            (false, _) => T::one() / inverse,
            (true, true) => T::zero(),
            (true, false) => T::one(),
        };
        let (mut sum, mut total) = (Vector3::zeros(), T::zero());
        for (velocity, &inverse) in velocities.iter().zip(inverse_masses) {
            sum += velocity * weight(inverse);
            total += weight(inverse);
        }
        let frame = sum / total;
        std::array::from_fn(|i| {
            if inverse_masses[i] > T::zero() {
                self.velocity_after(&velocities[i], &frame, normal)
            } else {
                velocities[i]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::drawn;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    fn drawn_law(random: &mut Random) -> ProvotResponse<f64> {
        ProvotResponse {
            friction: random.between(0.0, 1.5),
            dissipation: random.between(0.0, 1.0),
        }
    }

    #[test]
    fn slides_or_sticks_as_printed() {
        let law = ProvotResponse {
            friction: 0.5,
            dissipation: 0.25,
        };
        let (still, up) = (Vector3::zeros(), Vector3::y());
        let after = |x: f64| law.velocity_after(&Vector3::new(x, -2.0, 0.0), &still, &up);
        assert_eq!(after(3.0), Vector3::new(2.0, 0.5, 0.0));
        assert_eq!(after(-1.5), Vector3::new(-0.5, 0.5, 0.0));
        assert_eq!(after(1.0), Vector3::new(0.0, 0.5, 0.0));
        assert_eq!(after(0.2), Vector3::new(0.0, 0.5, 0.0));
        let rough = ProvotResponse {
            friction: f64::INFINITY,
            ..law
        };
        let grazing = Vector3::new(1.0, -1e-3, 0.0);
        assert_eq!(rough.velocity_after(&grazing, &still, &up).x, 0.0);
    }

    #[test]
    fn never_adds_energy_and_never_reverses_in_the_moving_frame() {
        let mut random = Random::new(721);
        for _ in 0..5000 {
            let law = drawn_law(&mut random);
            let (velocity, frame) = (random.vector(3.0), random.vector(3.0));
            let normal = random.vector(1.0).normalize();
            let after = law.velocity_after(&velocity, &frame, &normal);
            let (before, after) = (velocity - frame, after - frame);
            assert!(after.norm() <= before.norm() + 1e-13);
            let tangential = |v: &Vector3<f64>| v - normal * v.dot(&normal);
            assert!(tangential(&after).dot(&tangential(&before)) >= -1e-13);
            let expected = -law.dissipation * before.dot(&normal);
            assert_relative_eq!(after.dot(&normal), expected, epsilon = 1e-13);
            // The side of the normal does not count.
            let other = law.velocity_after(&velocity, &frame, &-normal) - frame;
            assert!((other - after).norm() < 1e-13);
            // Nor does a common motion.
            let shift = random.vector(5.0);
            let moved = law.velocity_after(&(velocity + shift), &(frame + shift), &normal);
            assert!((moved - shift - frame - after).norm() < 1e-13);
        }
    }

    /// Along the normal the momentum of a free pair is kept; across it, friction of each vertex alone changes it.
    #[test]
    fn pair_keeps_momentum_along_the_normal_only() {
        let mut random = Random::new(722);
        let mut changed = 0;
        for _ in 0..2000 {
            let law = drawn_law(&mut random);
            let case = drawn(&mut random);
            let masses = [0; 4].map(|_| random.between(0.2, 5.0));
            let normal = case.contact.normal;
            let inverse_masses = masses.map(|mass| 1.0 / mass);
            let after = law.pair_velocities_after(&inverse_masses, &case.velocities, &normal);
            let change: Vector3<f64> = (0..4)
                .map(|i| (after[i] - case.velocities[i]) * masses[i])
                .sum();
            assert!(change.dot(&normal).abs() < 1e-12);
            let mass: f64 = masses.iter().sum();
            let pairs = (0..4).map(|i| case.velocities[i] * masses[i]);
            let frame = pairs.sum::<Vector3<f64>>() / mass;
            let energy = |v: &[Vector3<f64>; 4]| -> f64 {
                (0..4)
                    .map(|i| masses[i] * (v[i] - frame).norm_squared())
                    .sum()
            };
            assert!(energy(&after) <= energy(&case.velocities) * (1.0 + 1e-13));
            changed += usize::from(change.norm() > 1e-3);
            // Each vertex comes to −k_d times its normal velocity, so the relative one does too.
            let velocity = |v: &[Vector3<f64>; 4]| case.contact.relative_velocity(v).dot(&normal);
            let expected = -law.dissipation * velocity(&case.velocities);
            assert_relative_eq!(velocity(&after), expected, epsilon = 1e-12);
        }
        assert!(changed > 1000, "{changed}");
    }

    #[test]
    fn pins_are_the_frame_and_bad_numbers_change_nothing() {
        let mut random = Random::new(723);
        let law = drawn_law(&mut random);
        let case = drawn(&mut random);
        let normal = case.contact.normal;
        let after = law.pair_velocities_after(&[1.0, 0.0, 2.0, 0.0], &case.velocities, &normal);
        assert_eq!(
            [after[1], after[3]],
            [case.velocities[1], case.velocities[3]]
        );
        let frame = (case.velocities[1] + case.velocities[3]) * 0.5;
        assert_eq!(
            after[0],
            law.velocity_after(&case.velocities[0], &frame, &normal)
        );
        let bad = Vector3::repeat(f64::NAN);
        let velocity = Vector3::new(1.0, 2.0, 3.0);
        assert_eq!(law.velocity_after(&velocity, &bad, &normal), velocity);
        assert_eq!(
            law.velocity_after(&velocity, &Vector3::zeros(), &bad),
            velocity
        );
        let single = ProvotResponse {
            friction: 0.5_f32,
            dissipation: 0.25,
        };
        let found = single.velocity_after(
            &Vector3::new(3.0, -2.0, 0.0),
            &Vector3::zeros(),
            &Vector3::y(),
        );
        assert_relative_eq!(found, Vector3::new(2.0, 0.5, 0.0), epsilon = 2e-7);
    }
}
