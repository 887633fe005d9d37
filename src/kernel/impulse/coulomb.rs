//! Liesenfeld's impulses: restitution along the normal, static or kinetic friction across it.

use nalgebra::{Matrix3, Vector3};

use super::PairContact;
use super::pair_contact::finite_or_zero;
use crate::kernel::contact::{ContactLaw, coulomb_response};
use crate::kernel::scalar::{Single, real};

impl<T: Single> ContactLaw<T> {
    /// The law of a pair of surfaces: the mean of both coefficients each.
    ///
    /// ```text
    /// e = (e_a + e_b)/2,   μ_s = (μ_sa + μ_sb)/2,   μ_d = (μ_da + μ_db)/2
    /// ```
    /// Eq: `[000 Appendix A.3]` (there for e; the same for friction).
    #[must_use]
    pub fn mean(&self, other: &Self) -> Self {
        let mean = |a: T, b: T| (a + b) * real(0.5);
        Self {
            restitution: mean(self.restitution, other.restitution),
            static_friction: mean(self.static_friction, other.static_friction),
            kinetic_friction: mean(self.kinetic_friction, other.kinetic_friction),
        }
    }
}

/// Impulse of a collision with friction, on the first feature of the pair, N·s; the second gets the opposite.
///
/// ```text
/// J M⁻¹ Jᵀ λ = (1 + e) v        one row of J for the normal; three rows if the pair sticks, with e = 0 across
/// sticks   v_t' = 0                       if |j_t| ≤ μ_s j_n
/// slides   j_t = −μ_d j_n v_t/|v_t|       otherwise, and at most what stops v_t
/// ```
/// For four vertices, J M⁻¹ Jᵀ is κ times the identity, κ of [`PairContact::inverse_mass`], and the rows come apart.
/// A vertex against a rigid body is [`coulomb_response`] by itself; for a point of an edge or a face, give
/// [`effective_inverse_mass`](crate::kernel::contact::effective_inverse_mass) the κ of that feature.
///
/// `velocities` in m/s. Zero for features that part, if all vertices are pinned, and where a number is not finite.
///
/// Eq: `[000 Appendix A.3]`, eq. A.2 and A.4, with friction along v_t (the thesis prints v).
#[must_use]
pub fn pair_coulomb_impulse<T: Single>(
    contact: &PairContact<T>,
    velocities: &[Vector3<T>; 4],
    law: &ContactLaw<T>,
) -> Vector3<T> {
    let velocity = contact.relative_velocity(velocities);
    let inverse_mass = Matrix3::from_diagonal_element(contact.inverse_mass());
    finite_or_zero(coulomb_response(
        &velocity,
        &contact.normal,
        law,
        &inverse_mass,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::checks::{drawn, hold_pins, kinetic_energy, momentum};
    use super::*;
    use crate::kernel::contact::effective_inverse_mass;
    use crate::kernel::matrix::perpendicular;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;
    use nalgebra::{SMatrix, SVector};

    fn drawn_law(random: &mut Random) -> ContactLaw<f64> {
        let kinetic_friction = random.between(0.0, 1.0);
        ContactLaw {
            restitution: random.between(0.0, 1.0),
            static_friction: kinetic_friction + random.between(0.0, 0.3),
            kinetic_friction,
        }
    }

    /// The system of the source, with its matrices written out: λ from J M⁻¹ Jᵀ λ = −(v' − v), I = Jᵀ λ.
    #[test]
    fn impulses_solve_the_constraint_system() {
        let mut random = Random::new(731);
        let (mut stuck, mut slid) = (0, 0);
        for _ in 0..3000 {
            let case = drawn(&mut random);
            let law = drawn_law(&mut random);
            let normal = case.contact.normal;
            let side = perpendicular(&normal);
            let rows = [normal, side, normal.cross(&side)];
            let jacobian = SMatrix::<f64, 3, 12>::from_fn(|row, column| {
                case.contact.weights[column / 3] * rows[row][column % 3]
            });
            let inverse_masses =
                SMatrix::<f64, 12, 12>::from_diagonal(&SVector::from_fn(|i, _| {
                    case.contact.inverse_masses[i / 3]
                }));
            let velocities = SVector::<f64, 12>::from_fn(|i, _| case.velocities[i / 3][i % 3]);
            let before = jacobian * velocities;
            if before[0] >= 0.0 {
                continue;
            }
            let system = jacobian * inverse_masses * jacobian.transpose();
            let wanted = Vector3::new(-law.restitution * before[0], 0.0, 0.0);
            let mut multipliers = system.try_inverse().unwrap() * (wanted - before);
            let across = multipliers.fixed_rows::<2>(1).norm();
            if across > law.static_friction * multipliers[0] {
                let slide = before.fixed_rows::<2>(1).into_owned();
                let friction = (law.kinetic_friction * multipliers[0]).min(across);
                let sideways = slide.normalize() * -friction;
                multipliers = Vector3::new(multipliers[0], sideways[0], sideways[1]);
                slid += 1;
            } else {
                stuck += 1;
            }
            let expected = velocities + inverse_masses * jacobian.transpose() * multipliers;
            let impulse = pair_coulomb_impulse(&case.contact, &case.velocities, &law);
            let found = case.contact.velocities_after(&case.velocities, &impulse);
            for index in 0..12 {
                assert_relative_eq!(
                    found[index / 3][index % 3],
                    expected[index],
                    epsilon = 1e-10
                );
            }
        }
        assert!(stuck > 300 && slid > 300, "{stuck} {slid}");
    }

    #[test]
    fn energy_never_grows_and_sliding_never_turns_round() {
        let mut random = Random::new(732);
        for _ in 0..5000 {
            let mut case = drawn(&mut random);
            hold_pins(&mut case);
            let mut law = drawn_law(&mut random);
            if random.uniform() > 0.5 {
                // Kinetic above static friction is not physical, and must not do harm either.
                std::mem::swap(&mut law.static_friction, &mut law.kinetic_friction);
            }
            let impulse = pair_coulomb_impulse(&case.contact, &case.velocities, &law);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let energy = kinetic_energy(&case, &case.velocities);
            assert!(kinetic_energy(&case, &after) <= energy * (1.0 + 1e-12));
            let normal = case.contact.normal;
            let slide = |velocities: &[Vector3<f64>; 4]| {
                let velocity = case.contact.relative_velocity(velocities);
                velocity - normal * velocity.dot(&normal)
            };
            assert!(slide(&after).dot(&slide(&case.velocities)) >= -1e-12);
        }
    }

    #[test]
    fn momentum_is_kept() {
        let mut random = Random::new(733);
        for _ in 0..2000 {
            let mut case = drawn(&mut random);
            case.contact.inverse_masses = [0; 4].map(|_| random.between(0.2, 5.0));
            let law = drawn_law(&mut random);
            let impulse = pair_coulomb_impulse(&case.contact, &case.velocities, &law);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let change = momentum(&case, &after) - momentum(&case, &case.velocities);
            assert!(change.norm() < 1e-12);
        }
    }

    /// A face that hits a corner of a free rigid body: the point of the face gets 1 + e, and momentum goes over.
    #[test]
    fn feature_hits_a_rigid_body() {
        let mut random = Random::new(734);
        for _ in 0..500 {
            let case = drawn(&mut random);
            let (mut contact, normal) = (case.contact, case.contact.normal);
            // Only the first feature takes part; the body is in the place of the second.
            for vertex in 0..4 {
                contact.weights[vertex] = contact.weights[vertex].max(0.0);
                contact.inverse_masses[vertex] = random.between(0.2, 5.0);
            }
            let (body_inverse_mass, arm) = (random.between(0.1, 2.0), random.vector(1.0));
            let inverse_inertia = Matrix3::identity() * random.between(0.1, 2.0);
            let inverse_mass = effective_inverse_mass(
                contact.inverse_mass(),
                &Vector3::repeat(body_inverse_mass),
                &inverse_inertia,
                &arm,
            );
            let law = ContactLaw {
                restitution: 0.4,
                static_friction: 0.0,
                kinetic_friction: 0.0,
            };
            let before = contact.relative_velocity(&case.velocities);
            if before.dot(&normal) >= 0.0 {
                continue;
            }
            let impulse = coulomb_response(&before, &normal, &law, &inverse_mass);
            let after = contact.velocities_after(&case.velocities, &impulse);
            let (linear, angular) = (
                -impulse * body_inverse_mass,
                inverse_inertia * arm.cross(&-impulse),
            );
            let parting = contact.relative_velocity(&after) - linear - angular.cross(&arm);
            assert_relative_eq!(
                parting.dot(&normal),
                -0.4 * before.dot(&normal),
                epsilon = 1e-11
            );
        }
    }

    #[test]
    fn coefficients_of_a_pair_are_means() {
        let law = |value: f32| ContactLaw {
            restitution: value,
            static_friction: 2.0 * value,
            kinetic_friction: 3.0 * value,
        };
        assert_eq!(law(0.25).mean(&law(0.75)), law(0.5));
    }

    #[test]
    fn bad_numbers_and_pins_give_no_impulse() {
        let mut random = Random::new(735);
        let mut case = drawn(&mut random);
        let law = drawn_law(&mut random);
        let bad = [Vector3::repeat(f64::NAN); 4];
        assert_eq!(
            pair_coulomb_impulse(&case.contact, &bad, &law),
            Vector3::zeros()
        );
        case.contact.inverse_masses = [0.0; 4];
        let none = pair_coulomb_impulse(&case.contact, &case.velocities, &law);
        assert_eq!(none, Vector3::zeros());
    }
}
