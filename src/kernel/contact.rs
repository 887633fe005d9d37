//! Contact of a particle with a surface: when it hits, and the impulse that follows.
//!
//! All functions see one particle and one point of a surface. Velocities are relative to the surface, and the unit
//! normal points from the surface to the particle. The surface may belong to a rigid body that gives way; then
//! [`effective_inverse_mass`] says how much.

use nalgebra::{Matrix3, Vector3};

use super::scalar::{Single, real};

/// The coefficients of a pair of surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLaw<T> {
    /// Coefficient of restitution e, dimensionless, 0 (no bounce) to 1 (no loss).
    pub restitution: T,
    /// Coefficient of static friction `μ_s`, dimensionless, not negative.
    pub static_friction: T,
    /// Coefficient of kinetic friction `μ_d`, dimensionless, not negative.
    pub kinetic_friction: T,
}

/// Inverse mass that an impulse feels at the contact of a particle with a rigid body, 1/kg.
///
/// ```text
/// K = 1/m I + 1/M I − [r]× I⁻¹ [r]×,   Δu = K j
/// ```
/// Eq: `[000 Appendix A]` (J M⁻¹ Jᵀ of one contact).
///
/// # Arguments
/// * `inverse_mass` – 1/m of the particle, 1/kg
/// * `body_inverse_mass` – 1/M of the body along each world axis (zero where it is locked), 1/kg
/// * `body_inverse_inertia` – I⁻¹ of the body in world axes, 1/(kg·m²)
/// * `arm` – r from the body's center of mass to the contact, m
///
/// A surface that does not give way has zeros for its inverse mass and inertia.
#[must_use]
pub fn effective_inverse_mass<T: Single>(
    inverse_mass: T,
    body_inverse_mass: &Vector3<T>,
    body_inverse_inertia: &Matrix3<T>,
    arm: &Vector3<T>,
) -> Matrix3<T> {
    let cross = arm.cross_matrix();
    Matrix3::from_diagonal(&body_inverse_mass.add_scalar(inverse_mass))
        - cross * body_inverse_inertia * cross
}

/// Impulse on the particle at a contact, N·s: restitution along the normal, Coulomb friction across it.
///
/// ```text
/// u' = u + K j,   n·u' = −e n·u
/// sticks   t·u' = 0                     if |j_t| ≤ μ_s j_n
/// slides   j_t = −μ_d j_n u_t/|u_t|     otherwise, cut off where u_t would turn round
/// ```
/// Eq: `[000 Appendix A]`, with friction along the tangential velocity (the thesis prints the whole velocity).
///
/// # Arguments
/// * `velocity` – u of the particle relative to the surface, m/s
/// * `normal` – n, unit, from the surface to the particle
/// * `law` – coefficients of the pair
/// * `inverse_mass` – K of [`effective_inverse_mass`], 1/kg
///
/// # Returns
/// j on the particle; the surface gets −j. Zero for a particle that moves away or along the surface, and where K has
/// no inverse (nothing can move).
///
/// # Properties tested
/// never adds energy for e ≤ 1 (restitution is lowered where sticking would turn spin into bounce) ·
/// (1 + e) law · stick threshold · no reversal of sliding
#[must_use]
pub fn coulomb_response<T: Single>(
    velocity: &Vector3<T>,
    normal: &Vector3<T>,
    law: &ContactLaw<T>,
    inverse_mass: &Matrix3<T>,
) -> Vector3<T> {
    let approach = velocity.dot(normal);
    let Some(mass) = inverse_mass.try_inverse() else {
        return Vector3::zeros();
    };
    if approach >= T::zero() {
        return Vector3::zeros();
    }
    // Energy of sticking: u'ᵀK⁻¹u' = e² (n·u)² nᵀK⁻¹n must not exceed uᵀK⁻¹u.
    let bounce_energy = approach * approach * normal.dot(&(mass * normal));
    let energy = velocity.dot(&(mass * velocity));
    let mut restitution = law.restitution;
    if restitution * restitution * bounce_energy > energy {
        restitution = (energy / bounce_energy).sqrt();
    }
    let sticking = mass * (normal * (-restitution * approach) - velocity);
    let support = sticking.dot(normal);
    if support > T::zero() && (sticking - normal * support).norm() <= law.static_friction * support
    {
        return sticking;
    }
    sliding_impulse(velocity, normal, law, inverse_mass)
}

/// The sliding case of [`coulomb_response`].
fn sliding_impulse<T: Single>(
    velocity: &Vector3<T>,
    normal: &Vector3<T>,
    law: &ContactLaw<T>,
    inverse_mass: &Matrix3<T>,
) -> Vector3<T> {
    let approach = velocity.dot(normal);
    let tangential = velocity - normal * approach;
    let speed = tangential.norm();
    let separation = -(T::one() + law.restitution) * approach;
    let response = inverse_mass * normal;
    let normal_inverse_mass = normal.dot(&response);
    let frictionless = normal * (separation / normal_inverse_mass);
    if speed <= T::zero() {
        return frictionless;
    }
    let direction = -tangential / speed;
    let tangent_response = inverse_mass * direction;
    let coupling = normal.dot(&tangent_response);
    let tangent_inverse_mass = direction.dot(&tangent_response);
    // The normal impulse that gives the separation while friction μ_d j_n acts across it. A very eccentric contact
    // can make the denominator vanish (Painlevé's paradox): then friction is left out.
    let denominator = normal_inverse_mass + law.kinetic_friction * coupling;
    if denominator <= normal_inverse_mass * real(1e-3) {
        return frictionless;
    }
    let support = separation / denominator;
    let friction = law.kinetic_friction * support;
    let stopping = speed - support * coupling;
    if friction * tangent_inverse_mass <= stopping {
        return normal * support + direction * friction;
    }
    // Less friction is enough to stop the sliding: separation and zero slip along the old direction.
    let determinant = normal_inverse_mass * tangent_inverse_mass - coupling * coupling;
    if determinant <= T::zero() {
        return frictionless;
    }
    let support = (separation * tangent_inverse_mass - speed * coupling) / determinant;
    let friction = (speed * normal_inverse_mass - separation * coupling) / determinant;
    if support <= T::zero() || friction < T::zero() {
        return frictionless;
    }
    normal * support + direction * friction
}

/// The first time at which a gap that changes with constant acceleration closes, s.
///
/// ```text
/// g(t) = g + ġ t + ½ g̈ t²,   first t in [0, dt] with g(t) = 0
/// ```
/// Eq: elementary (projectile motion).
///
/// # Arguments
/// * `gap` – g at the start, m; zero or less counts as closed
/// * `rate` – ġ at the start, m/s
/// * `acceleration` – g̈, m/s²
/// * `dt` – length of the interval, s
///
/// # Returns
/// The time, 0 for a gap that is closed at the start, `None` when it stays open (or a number is not finite).
#[must_use]
pub fn ballistic_impact<T: Single>(gap: T, rate: T, acceleration: T, dt: T) -> Option<T> {
    if gap <= T::zero() {
        return Some(T::zero());
    }
    let half = acceleration * real(0.5);
    let discriminant = rate * rate - half * gap * real(4.0);
    // Written so that a number that is not one counts as none.
    let is_real = discriminant >= T::zero();
    if !is_real {
        return None;
    }
    // The form without cancellation: q has the sign of −rate.
    let root = discriminant.sqrt();
    let sum = if rate < T::zero() {
        root - rate
    } else {
        -rate - root
    };
    let q = sum * real(0.5);
    let first = if q != T::zero() { gap / q } else { -T::one() };
    let second = if half != T::zero() {
        q / half
    } else {
        -T::one()
    };
    let inside = |time: &T| *time >= T::zero() && *time <= dt;
    let candidates = [first, second];
    candidates
        .into_iter()
        .filter(inside)
        .min_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(restitution: f64, static_friction: f64, kinetic_friction: f64) -> ContactLaw<f64> {
        ContactLaw {
            restitution,
            static_friction,
            kinetic_friction,
        }
    }

    /// Numbers between −1 and 1 from a small congruential generator, so that cases repeat.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    fn random_case(next: &mut impl FnMut() -> f64) -> (Vector3<f64>, Vector3<f64>, Matrix3<f64>) {
        let mut vector = || Vector3::new(next(), next(), next());
        let (velocity, normal, arm, inertia) =
            (vector() * 5.0, vector().normalize(), vector(), vector());
        let turn = nalgebra::Rotation3::new(vector());
        let diagonal = Matrix3::from_diagonal(&inertia.map(|x| 0.01 + x.abs() * 4.0));
        let inverse_inertia = turn * diagonal * turn.inverse();
        let masses = Vector3::repeat(0.05 + arm.x.abs());
        (
            velocity,
            normal,
            effective_inverse_mass(0.3 + arm.y.abs(), &masses, &inverse_inertia, &arm),
        )
    }

    #[test]
    fn energy_never_grows() {
        let mut next = numbers(7);
        for case in 0..20_000 {
            let (velocity, normal, inverse_mass) = random_case(&mut next);
            let law = law(next().abs(), next().abs() * 1.5, next().abs());
            let impulse = coulomb_response(&velocity, &normal, &law, &inverse_mass);
            let after = velocity + inverse_mass * impulse;
            let change = 0.5 * impulse.dot(&(velocity + after));
            assert!(change <= 1e-9, "case {case}: gained {change} J");
            assert!(
                impulse.dot(&normal) >= -1e-12,
                "case {case}: the surface pulls"
            );
            assert!(
                velocity.dot(&normal) >= 0.0 || after.dot(&normal) >= -1e-9,
                "case {case}: still approaches"
            );
        }
    }

    #[test]
    fn normal_velocity_follows_restitution() {
        let inverse_mass = Matrix3::identity() * 2.0;
        let velocity = Vector3::new(0.0, -3.0, 0.0);
        let impulse =
            coulomb_response(&velocity, &Vector3::y(), &law(0.8, 0.5, 0.5), &inverse_mass);
        assert!((impulse - Vector3::y() * (1.8 * 3.0 / 2.0)).norm() < 1e-14);
        let away = coulomb_response(
            &-velocity,
            &Vector3::y(),
            &law(0.8, 0.5, 0.5),
            &inverse_mass,
        );
        assert_eq!(away, Vector3::zeros());
    }

    #[test]
    fn sticks_up_to_static_friction_and_slides_beyond() {
        let inverse_mass = Matrix3::identity();
        let law = law(0.0, 0.6, 0.4);
        let stick = coulomb_response(
            &Vector3::new(0.599, -1.0, 0.0),
            &Vector3::y(),
            &law,
            &inverse_mass,
        );
        assert!((stick - Vector3::new(-0.599, 1.0, 0.0)).norm() < 1e-14);
        let slide = coulomb_response(
            &Vector3::new(0.601, -1.0, 0.0),
            &Vector3::y(),
            &law,
            &inverse_mass,
        );
        assert!((slide - Vector3::new(-0.4, 1.0, 0.0)).norm() < 1e-14);
    }

    #[test]
    fn kinetic_friction_never_turns_sliding_round() {
        // Kinetic above static is not physical, but must not make a particle slide backward.
        let velocity = Vector3::new(0.5, -1.0, 0.0);
        let impulse = coulomb_response(
            &velocity,
            &Vector3::y(),
            &law(0.0, 0.1, 0.9),
            &Matrix3::identity(),
        );
        assert!((velocity + impulse).norm() < 1e-14);
    }

    #[test]
    fn momentum_goes_to_the_body() {
        // A particle hits a free rod off its center: linear and angular momentum add up.
        let (mass, body_mass) = (0.5, 2.0);
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.7, 0.2, 0.9));
        let arm = Vector3::new(0.4, 0.1, -0.3);
        let inverse_inertia = inertia.try_inverse().unwrap();
        let inverse_mass = effective_inverse_mass(
            1.0 / mass,
            &Vector3::repeat(1.0 / body_mass),
            &inverse_inertia,
            &arm,
        );
        let velocity = Vector3::new(0.3, -4.0, 0.2);
        let impulse =
            coulomb_response(&velocity, &Vector3::y(), &law(0.5, 0.0, 0.0), &inverse_mass);
        let particle = velocity + impulse / mass;
        let (linear, angular) = (-impulse / body_mass, inverse_inertia * arm.cross(&-impulse));
        let separation = (particle - linear - angular.cross(&arm)).y;
        assert!((separation - 2.0).abs() < 1e-12);
        assert!((particle * mass + linear * body_mass - velocity * mass).norm() < 1e-12);
    }

    #[test]
    fn impact_time_is_exact() {
        let fall = ballistic_impact(1.0, 0.0, -9.81, 1.0).unwrap();
        assert!((fall - (2.0f64 / 9.81).sqrt()).abs() < 1e-15);
        assert!((ballistic_impact(1.0, -2.0, 0.0, 1.0).unwrap() - 0.5f64).abs() < 1e-15);
        assert_eq!(ballistic_impact(1.0, 5.0, -9.81, 0.5), None);
        // Thrown up first: the later root counts.
        let thrown = ballistic_impact(1.0, 2.0, -9.81, 1.0).unwrap();
        assert!((1.0f64 + 2.0 * thrown - 0.5 * 9.81 * thrown * thrown).abs() < 1e-14);
        // Braked before it arrives.
        assert_eq!(ballistic_impact(1.0, -1.0, 10.0, 1.0), None);
        assert_eq!(ballistic_impact(-0.1, 1.0, 0.0, 1.0), Some(0.0));
        assert_eq!(ballistic_impact(f64::NAN, 1.0, 0.0, 1.0), None);
        assert_eq!(ballistic_impact(1.0, 0.0, 0.0, 1.0), None);
    }
}
