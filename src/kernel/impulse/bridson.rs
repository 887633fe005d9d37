//! Bridson's impulses: repulsion of what is nearer than the cloth is thick, friction, and collision.

use nalgebra::Vector3;

use super::PairContact;
use crate::kernel::scalar::{Single, real};

/// Largest share of the overlap that the spring undoes in a step.
const SHARE_OF_OVERLAP: f64 = 0.1;

/// Repulsion of features that are nearer than a thickness.
///
/// Two parts along the normal: what approaches is stopped, and a spring pushes the rest of the overlap apart, slowly
/// enough that nothing jumps. The spring is the only part that can add energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repulsion<T> {
    /// h, m, not negative: 1e-3 is usual for cloth.
    pub thickness: T,
    /// k, N/m, not negative: about 0.1 m/h² for a step h is a firm one. Zero leaves the spring out.
    pub stiffness: T,
    /// μ of Coulomb's law, dimensionless, not negative.
    pub friction: T,
}

impl<T: Single> Repulsion<T> {
    /// Change of the normal velocity, m/s; never negative.
    ///
    /// ```text
    /// stop      Δ₁ = max(−v_n, 0)                                            if g < h
    /// spring    Δ₂ = min(dt k d κ₀, 0.1 d/dt − v_n − Δ₁),   d = h − g        if v_n + Δ₁ < 0.1 d/dt
    /// ```
    /// κ₀ is [`PairContact::point_inverse_mass`], 2/m for equal masses m.
    ///
    /// # Arguments
    /// * `gap` – g = (p − q)·n, m
    /// * `normal_velocity` – `v_n` of the features relative to each other, m/s; negative as they approach
    /// * `dt` – step, s
    ///
    /// The source's limit of the impulse, m (0.1 d/dt − v_n), changes the velocity by twice what it says: with its own
    /// spreading, I makes 2 I/m. Here the overlap shrinks by at most a tenth, as its text has it. Zero for a step that
    /// is not positive, and where a number is not finite.
    ///
    /// Eq: `[001 §6.2.2]`, `[Bridson 2002]`.
    #[must_use]
    pub fn normal_change(&self, contact: &PairContact<T>, gap: T, normal_velocity: T, dt: T) -> T {
        let overlap = self.thickness - gap;
        // Written so that a number that is not one counts as none.
        let near = overlap > T::zero() && dt > T::zero() && normal_velocity.is_finite();
        if !near {
            return T::zero();
        }
        let stop = stopping_change(normal_velocity);
        let room = overlap * real(SHARE_OF_OVERLAP) / dt - (normal_velocity + stop);
        let push = dt * self.stiffness * overlap * contact.point_inverse_mass();
        let pushes = push > T::zero() && room > T::zero();
        if pushes { stop + push.min(room) } else { stop }
    }

    /// Repulsion and friction of a pair: the impulse on its first feature, N·s; the second gets the opposite.
    ///
    /// ```text
    /// j = (Δ_n n + Δ_t)/κ
    /// ```
    /// Δ_n of [`Repulsion::normal_change`], Δ_t of [`friction_change`]: within Coulomb's cone, |j_t| ≤ μ j_n. The gap
    /// is that of the start of the step; `velocities` are mean velocities of the step, m/s. Zero beyond the thickness,
    /// and where a number is not finite.
    ///
    /// Eq: `[001 §6.2.2]`, `[001 §6.2.3]`, `[Bridson 2002]`.
    #[must_use]
    pub fn impulse(
        &self,
        contact: &PairContact<T>,
        gap: T,
        velocities: &[Vector3<T>; 4],
        dt: T,
    ) -> Vector3<T> {
        let velocity = contact.relative_velocity(velocities);
        let normal_velocity = velocity.dot(&contact.normal);
        let change = self.normal_change(contact, gap, normal_velocity, dt);
        let tangential = velocity - contact.normal * normal_velocity;
        let friction = friction_change(&tangential, change, self.friction);
        contact.impulse_for(&(contact.normal * change + friction))
    }
}

/// Change of the normal velocity that stops an approach, m/s: a completely inelastic impact.
///
/// ```text
/// Δ = max(−v_n, 0)
/// ```
/// The impulse m v_n/2 of the source, for equal masses. Zero for features that part.
///
/// Eq: `[001 §6.2.2]`, `[Bridson 2002]`.
#[inline]
#[must_use]
pub fn stopping_change<T: Single>(normal_velocity: T) -> T {
    if normal_velocity < T::zero() {
        -normal_velocity
    } else {
        T::zero()
    }
}

/// Change of the tangential velocity by friction, m/s.
///
/// ```text
/// v_t' = max(1 − μ Δ_n/|v_t|, 0) v_t
/// ```
/// `tangential` v_t in m/s, `normal_change` Δ_n ≥ 0 the change of the normal velocity, m/s, `friction` μ. Slows down and
/// never turns round: at most v_t' = 0. Zero where nothing slides.
///
/// Eq: `[001 §6.2.3]`, `[Bridson 2002]`.
#[inline]
#[must_use]
pub fn friction_change<T: Single>(
    tangential: &Vector3<T>,
    normal_change: T,
    friction: T,
) -> Vector3<T> {
    let speed = tangential.norm();
    let loss = friction * normal_change;
    let slows = speed > T::zero() && loss > T::zero();
    if !slows {
        Vector3::zeros()
    } else if loss >= speed {
        -tangential
    } else {
        tangential * (-loss / speed)
    }
}

/// Impulse of a collision found on the way, on the first feature of the pair, N·s; the second gets the opposite.
///
/// ```text
/// Δ_n = −(1 + e) v_n   where v_n < 0;   j = (Δ_n n + Δ_t)/κ,   Δ_t of friction_change
/// ```
/// `velocities` in m/s, `restitution` e from 0 (the source's choice: wholly inelastic) to 1, `friction` μ. Never adds
/// energy for e in [0, 1]: ΔK = −(1 − e²) v_n²/(2 κ), less friction. Zero for features that part: repulsion has them.
///
/// Eq: `[001 §6.2.4]`, `[Bridson 2002]`, with restitution as in `[000 eq. A.1]`.
#[must_use]
pub fn collision_impulse<T: Single>(
    contact: &PairContact<T>,
    velocities: &[Vector3<T>; 4],
    restitution: T,
    friction: T,
) -> Vector3<T> {
    let velocity = contact.relative_velocity(velocities);
    let normal_velocity = velocity.dot(&contact.normal);
    let change = stopping_change(normal_velocity) * (T::one() + restitution);
    let tangential = velocity - contact.normal * normal_velocity;
    let friction = friction_change(&tangential, change, friction);
    contact.impulse_for(&(contact.normal * change + friction))
}

#[cfg(test)]
mod tests {
    use super::super::checks::{
        Case, angular_momentum, drawn, hold_pins, kinetic_energy, momentum,
    };
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const DT: f64 = 0.01;

    fn law(random: &mut Random) -> Repulsion<f64> {
        Repulsion {
            thickness: random.between(0.01, 1.5),
            stiffness: 10f64.powf(random.between(-1.0, 4.0)),
            friction: random.between(-0.2, 1.2).max(0.0),
        }
    }

    fn split(case: &Case, velocities: &[Vector3<f64>; 4]) -> (f64, Vector3<f64>) {
        let velocity = case.contact.relative_velocity(velocities);
        let normal = velocity.dot(&case.contact.normal);
        (normal, velocity - case.contact.normal * normal)
    }

    #[test]
    fn repulsion_stops_and_undoes_at_most_a_tenth_of_the_overlap() {
        let mut random = Random::new(711);
        let (mut limited, mut soft) = (0, 0);
        for _ in 0..5000 {
            let (case, law) = (drawn(&mut random), law(&mut random));
            let gap = case.difference().norm();
            let impulse = law.impulse(&case.contact, gap, &case.velocities, DT);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let ((before, _), (normal, _)) = (split(&case, &case.velocities), split(&case, &after));
            let overlap = law.thickness - gap;
            if overlap <= 0.0 {
                assert_eq!(impulse, Vector3::zeros());
                continue;
            }
            assert!(normal >= -1e-13, "still approaches at {normal}");
            let fastest = 0.1 * overlap / DT;
            assert!(normal <= fastest.max(before) + 1e-12);
            limited += usize::from((normal - fastest).abs() < 1e-12);
            soft += usize::from(normal < 0.99 * fastest);
            if before >= fastest {
                assert_relative_eq!(normal, before, epsilon = 1e-13);
            }
        }
        assert!(limited > 500 && soft > 500, "{limited} {soft}");
    }

    #[test]
    fn repulsion_keeps_momenta_and_friction_only_slows() {
        let mut random = Random::new(712);
        for _ in 0..5000 {
            let (mut case, mut law) = (drawn(&mut random), law(&mut random));
            case.contact.inverse_masses = [0; 4].map(|_| random.between(0.2, 5.0));
            let gap = case.difference().norm();
            let impulse = law.impulse(&case.contact, gap, &case.velocities, DT);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let moved = momentum(&case, &after) - momentum(&case, &case.velocities);
            assert!(moved.norm() < 1e-12, "{moved}");
            let ((before, slide), (normal, rest)) =
                (split(&case, &case.velocities), split(&case, &after));
            // The same direction, no faster, and within the cone.
            assert!(rest.dot(&slide) >= -1e-12, "reversed");
            assert!(rest.norm() <= slide.norm() + 1e-12);
            assert!(rest.cross(&slide).norm() < 1e-11);
            assert!(slide.norm() - rest.norm() <= law.friction * (normal - before) + 1e-12);
            // Without friction, the impulse lies on the line through the closest points: no torque.
            law.friction = 0.0;
            let impulse = law.impulse(&case.contact, gap, &case.velocities, DT);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let turned =
                angular_momentum(&case, &after) - angular_momentum(&case, &case.velocities);
            assert!(turned.norm() < 1e-12, "{turned}");
        }
    }

    /// Stopping and friction never add energy. The spring adds at most that of the speed it may reach, 0.1 d/dt.
    #[test]
    fn energy_of_repulsion_is_bounded() {
        let mut random = Random::new(713);
        for _ in 0..5000 {
            let (mut case, mut law) = (drawn(&mut random), law(&mut random));
            hold_pins(&mut case);
            let gap = case.difference().norm();
            let before = kinetic_energy(&case, &case.velocities);
            let gained = |law: &Repulsion<f64>| {
                let impulse = law.impulse(&case.contact, gap, &case.velocities, DT);
                let after = case.contact.velocities_after(&case.velocities, &impulse);
                kinetic_energy(&case, &after) - before
            };
            let speed = 0.1 * (law.thickness - gap).max(0.0) / DT;
            let bound = 0.5 * speed * speed / case.contact.inverse_mass();
            assert!(gained(&law) <= bound * (1.0 + 1e-12) + 1e-12 * before);
            law.stiffness = 0.0;
            assert!(gained(&law) <= 1e-12 * before, "{}", gained(&law));
        }
    }

    #[test]
    fn collision_follows_restitution_and_never_adds_energy() {
        let mut random = Random::new(714);
        for _ in 0..5000 {
            let mut case = drawn(&mut random);
            hold_pins(&mut case);
            let restitution = random.between(0.0, 1.0);
            let friction = random.between(0.0, 1.5);
            let impulse = collision_impulse(&case.contact, &case.velocities, restitution, friction);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let ((before, slide), (normal, rest)) =
                (split(&case, &case.velocities), split(&case, &after));
            if before >= 0.0 {
                assert_eq!(impulse, Vector3::zeros());
                continue;
            }
            assert_relative_eq!(normal, -restitution * before, epsilon = 1e-12);
            assert!(rest.dot(&slide) >= -1e-12 && rest.norm() <= slide.norm() + 1e-12);
            let energy = kinetic_energy(&case, &case.velocities);
            let change = kinetic_energy(&case, &after) - energy;
            assert!(change <= 1e-12 * energy, "gained {change} J");
            let plain = collision_impulse(&case.contact, &case.velocities, restitution, 0.0);
            let after = case.contact.velocities_after(&case.velocities, &plain);
            let change = kinetic_energy(&case, &after) - energy;
            let expected = -0.5 * (1.0 - restitution * restitution) * before * before
                / case.contact.inverse_mass();
            assert_relative_eq!(change, expected, epsilon = 1e-12 * energy.max(1.0));
        }
    }

    /// The printed formulas for equal masses m, with x₁ x₂ x₃ the triangle and x₄ the point, or the edges x₁ x₂ and
    /// x₃ x₄: Ĩ = 2 I/(Σ w²), vᵢ ± wᵢ Ĩ/m n.
    #[test]
    fn equal_masses_agree_with_the_printed_formulas() {
        let mut random = Random::new(715);
        for _ in 0..2000 {
            let mass = random.between(0.1, 3.0);
            let mut case = drawn(&mut random);
            case.contact.inverse_masses = [1.0 / mass; 4];
            let (contact, velocities) = (case.contact, case.velocities);
            let law = Repulsion {
                thickness: case.difference().norm() * random.between(1.0, 1.2),
                stiffness: random.between(0.0, 30.0),
                friction: 0.0,
            };
            let gap = case.difference().norm();
            let (normal, _) = split(&case, &velocities);
            let printed_change = |impulse: f64| {
                let squares: f64 = contact.weights.iter().map(|w| w * w).sum();
                let spread = 2.0 * impulse / squares;
                let after: [Vector3<f64>; 4] = std::array::from_fn(|i| {
                    velocities[i] - contact.normal * (contact.weights[i] * spread / mass)
                });
                after
            };
            let impulse = law.impulse(&contact, gap, &velocities, DT);
            let found = contact.velocities_after(&velocities, &impulse);
            let overlap = law.thickness - gap;
            // Printed: I = m v_n/2 as they approach, and −dt k d for the spring below its limit.
            let stop = 0.5 * mass * normal.min(0.0);
            let limit = 0.1 * overlap / DT - normal.max(0.0);
            let spring = (DT * law.stiffness * overlap)
                .min(0.5 * mass * limit)
                .max(0.0);
            let expected = printed_change(stop - spring);
            for vertex in 0..4 {
                assert!((found[vertex] - expected[vertex]).norm() < 1e-12);
            }
            // The limit as printed, m instead of m/2, goes over a tenth of the overlap.
            if limit > 0.1 && normal >= 0.0 {
                let printed = printed_change(-mass * limit);
                let speed = contact.relative_velocity(&printed).dot(&contact.normal);
                assert_relative_eq!(speed, normal + 2.0 * limit, epsilon = 1e-10);
            }
        }
    }

    #[test]
    fn bad_numbers_give_no_impulse() {
        let law = Repulsion {
            thickness: 1.0,
            stiffness: 1.0,
            friction: 0.5,
        };
        let case = drawn(&mut Random::new(716));
        let none = Vector3::zeros();
        for dt in [0.0, -1.0, f64::NAN] {
            assert_eq!(law.impulse(&case.contact, 0.1, &case.velocities, dt), none);
        }
        assert_eq!(
            law.impulse(&case.contact, f64::NAN, &case.velocities, DT),
            none
        );
        let bad = [Vector3::repeat(f64::NAN); 4];
        assert_eq!(law.impulse(&case.contact, 0.1, &bad, DT), none);
        assert_eq!(collision_impulse(&case.contact, &bad, 0.5, 0.5), none);
        // Without a stiffness, what approaches is stopped all the same.
        let mut still = law;
        still.stiffness = 0.0;
        let expected = still.impulse(&case.contact, 0.1, &case.velocities, DT);
        still.stiffness = f64::NAN;
        let found = still.impulse(&case.contact, 0.1, &case.velocities, DT);
        assert_eq!(found, expected);
    }

    #[test]
    fn single_precision_agrees_with_double() {
        let mut random = Random::new(717);
        for _ in 0..2000 {
            let (case, law) = (drawn(&mut random), law(&mut random));
            let gap = case.difference().norm();
            if (law.thickness - gap).abs() < 1e-4 {
                continue;
            }
            let expected = law.impulse(&case.contact, gap, &case.velocities, DT);
            let contact = PairContact {
                weights: case.contact.weights.map(|weight| weight as f32),
                normal: case.contact.normal.cast::<f32>(),
                inverse_masses: case.contact.inverse_masses.map(|inverse| inverse as f32),
            };
            let single = Repulsion {
                thickness: law.thickness as f32,
                stiffness: law.stiffness as f32,
                friction: law.friction as f32,
            };
            let velocities = case.velocities.map(Vector3::cast::<f32>);
            let found = single.impulse(&contact, gap as f32, &velocities, DT as f32);
            let scale = 100.0 / case.contact.inverse_mass();
            assert!((found.cast::<f64>() - expected).norm() < 1e-5 * scale);
        }
    }
}
