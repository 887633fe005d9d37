//! A pair of features at which an impulse acts.

use nalgebra::Vector3;

use crate::kernel::proximity::{ClosestPoints, PairKind};
use crate::kernel::scalar::Single;

/// A difference of closest points below this share of the coordinates has no direction worth using.
const BLURRED: f64 = 1e-10;

/// Two features that touch or nearly do: where, in which direction, and how their vertices give way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairContact<T> {
    /// wᵢ, as in [`ClosestPoints`]: positive for the first feature, negative for the second.
    pub weights: [T; 4],
    /// n, unit, from the second feature to the first.
    pub normal: Vector3<T>,
    /// 1/mᵢ, 1/kg; zero for a pinned vertex.
    pub inverse_masses: [T; 4],
}

impl<T: Single> PairContact<T> {
    /// The contact at the closest points, with their direction as the normal.
    ///
    /// `inverse_masses` in 1/kg. Features that touch have no direction: the normal is then zero, and impulses along it
    /// vanish. Take [`contact_normal`] for those.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn new(closest: &ClosestPoints<T>, inverse_masses: [T; 4]) -> Self {
        Self {
            weights: closest.weights,
            normal: closest.direction(),
            inverse_masses,
        }
    }

    /// Inverse mass that an impulse feels at the closest points, 1/kg.
    ///
    /// ```text
    /// κ = Σ wᵢ²/mᵢ,   Δu = κ j
    /// ```
    /// For equal masses (1 + w₁² + w₂² + w₃²)/m, or (a² + (1 − a)² + b² + (1 − b)²)/m. Zero if all are pinned.
    ///
    /// Eq: `[001 §6.2.1]`, `[Bridson 2002]`, with inverse masses; J M⁻¹ Jᵀ of `[000 Appendix A]`.
    #[inline]
    #[must_use]
    pub fn inverse_mass(&self) -> T {
        let pairs = self.weights.iter().zip(&self.inverse_masses);
        pairs.fold(T::zero(), |sum, (&weight, &inverse_mass)| {
            sum + weight * weight * inverse_mass
        })
    }

    /// Inverse masses of the two points added, each interpolated within its feature, 1/kg.
    ///
    /// ```text
    /// κ₀ = Σ |wᵢ|/mᵢ
    /// ```
    /// 2/m for equal masses m, and 1/m if the other feature is pinned: what two particles would feel in their place.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn point_inverse_mass(&self) -> T {
        let pairs = self.weights.iter().zip(&self.inverse_masses);
        pairs.fold(T::zero(), |sum, (&weight, &inverse_mass)| {
            sum + weight.abs() * inverse_mass
        })
    }

    /// Velocity u of the point on the first feature relative to that on the second, m/s.
    ///
    /// ```text
    /// u = Σ wᵢ vᵢ
    /// ```
    /// Eq: `[001 §6.2.1]`, `[Bridson 2002]`.
    #[inline]
    #[must_use]
    pub fn relative_velocity(&self, velocities: &[Vector3<T>; 4]) -> Vector3<T> {
        let pairs = self.weights.iter().zip(velocities);
        pairs.fold(Vector3::zeros(), |sum, (&weight, velocity)| {
            sum + velocity * weight
        })
    }

    /// The impulse on the first feature that changes the relative velocity by a given amount, N·s.
    ///
    /// ```text
    /// j = Δu/κ
    /// ```
    /// `change` Δu in m/s. Zero if all vertices are pinned, or if the result is not finite.
    ///
    /// Eq: `[001 §6.2.1]`, `[Bridson 2002]`, with inverse masses.
    #[inline]
    #[must_use]
    pub fn impulse_for(&self, change: &Vector3<T>) -> Vector3<T> {
        let inverse_mass = self.inverse_mass();
        if inverse_mass > T::zero() {
            finite_or_zero(change / inverse_mass)
        } else {
            Vector3::zeros()
        }
    }

    /// Velocities of the vertices after an impulse on the first feature and its opposite on the second, m/s.
    ///
    /// ```text
    /// vᵢ' = vᵢ + wᵢ/mᵢ j
    /// ```
    /// `impulse` j in N·s. Momentum is kept, since the weights add up to zero; the angular momentum changes by
    /// (p − q) × j, which vanishes for an impulse along the line through the closest points. Pinned vertices keep their
    /// velocities and pass the impulse on to what holds them.
    ///
    /// Eq: `[001 §6.2.1]`, `[Bridson 2002]`, with inverse masses.
    #[inline]
    #[must_use]
    pub fn velocities_after(
        &self,
        velocities: &[Vector3<T>; 4],
        impulse: &Vector3<T>,
    ) -> [Vector3<T>; 4] {
        std::array::from_fn(|i| {
            velocities[i] + impulse * (self.weights[i] * self.inverse_masses[i])
        })
    }
}

/// A vector, or zero where an entry is not finite.
#[inline]
pub(super) fn finite_or_zero<T: Single>(vector: Vector3<T>) -> Vector3<T> {
    if vector.iter().all(T::is_finite) {
        vector
    } else {
        Vector3::zeros()
    }
}

/// The normal of features that meet on straight paths, unit, from the second feature to the first; zero if undefined.
///
/// ```text
/// d = p − q at the time t          n = d/|d|                   while they are apart
/// m = e₁ × e₂,  u = Σ wᵢ Δxᵢ       n = −sign(m·u) m/|m|        where they touch
/// ```
/// e₁ and e₂ are edges of the face, or both edges. Up to the contact, p − q = −(t_c − t) u: the first feature comes
/// from the side opposite to u, whichever way the vertices are numbered.
///
/// # Arguments
/// * `start`, `end` – positions at the ends of the step, m
/// * `time` – t, as a share of the step, of [`time_of_impact`](crate::kernel::proximity::time_of_impact) or
///   [`coplanarity`](crate::kernel::proximity::coplanarity)
///
/// Zero for features that touch and are parallel, without area, or not finite.
///
/// Eq: `[001 §5.3]` (normal of a pair in contact), `[Bridson 2002]`; the side by elementary kinematics.
#[must_use]
pub fn contact_normal(
    kind: PairKind,
    start: &[Vector3<f64>; 4],
    end: &[Vector3<f64>; 4],
    time: f64,
) -> Vector3<f64> {
    let vertices: [Vector3<f64>; 4] =
        std::array::from_fn(|i| start[i] + (end[i] - start[i]) * time);
    let closest = kind.closest_points(&vertices);
    let coordinate = vertices.iter().map(Vector3::amax).fold(0.0, f64::max);
    if closest.distance() > BLURRED * coordinate {
        return finite_or_zero(closest.direction());
    }
    let (first, second) = match kind {
        PairKind::VertexFace => (vertices[2] - vertices[1], vertices[3] - vertices[1]),
        PairKind::EdgeEdge => (vertices[1] - vertices[0], vertices[3] - vertices[2]),
    };
    let cross = first.cross(&second);
    // Of nearly parallel edges, rounding alone decides the direction.
    if cross.norm() <= BLURRED * first.norm() * second.norm() {
        return Vector3::zeros();
    }
    let approach: Vector3<f64> = (0..4)
        .map(|i| (end[i] - start[i]) * closest.weights[i])
        .sum();
    let normal = cross.normalize();
    let sign = if normal.dot(&approach) > 0.0 {
        -1.0
    } else {
        1.0
    };
    finite_or_zero(normal * sign)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{KINDS, angular_momentum, drawn, momentum};
    use super::*;
    use crate::kernel::proximity::coplanarity::time_of_coplanar_contact;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn impulse_changes_the_relative_velocity_as_wanted() {
        let mut random = Random::new(701);
        for _ in 0..2000 {
            let case = drawn(&mut random);
            let change = random.vector(2.0);
            let impulse = case.contact.impulse_for(&change);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let before = case.contact.relative_velocity(&case.velocities);
            let found = case.contact.relative_velocity(&after) - before;
            assert_relative_eq!(found, change, epsilon = 1e-12);
        }
    }

    /// Momentum is kept to rounding by any impulse, angular momentum by impulses along the normal; any other changes it
    /// by (p − q) × j.
    #[test]
    fn momenta_are_kept() {
        let mut random = Random::new(702);
        for _ in 0..2000 {
            let mut case = drawn(&mut random);
            case.contact.inverse_masses = [0; 4].map(|_| random.between(0.2, 5.0));
            let change = case.contact.normal * random.uniform() + random.vector(1.0);
            let impulse = case.contact.impulse_for(&change);
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            let moved = momentum(&case, &after) - momentum(&case, &case.velocities);
            assert!(moved.norm() < 1e-13, "{moved}");
            let turned =
                angular_momentum(&case, &after) - angular_momentum(&case, &case.velocities);
            let torque = case.difference().cross(&impulse);
            assert!((turned - torque).norm() < 1e-13, "{turned}");
            let along = case.contact.normal * impulse.dot(&case.contact.normal);
            assert!(case.difference().cross(&along).norm() < 1e-13);
        }
    }

    #[test]
    fn pinned_vertices_stay() {
        let mut random = Random::new(703);
        for _ in 0..500 {
            let case = drawn(&mut random);
            let impulse = case.contact.impulse_for(&random.vector(1.0));
            let after = case.contact.velocities_after(&case.velocities, &impulse);
            for vertex in 0..4 {
                if case.contact.inverse_masses[vertex] == 0.0 {
                    assert_eq!(after[vertex], case.velocities[vertex]);
                }
            }
        }
        let mut case = drawn(&mut random);
        case.contact.inverse_masses = [0.0; 4];
        assert_eq!(case.contact.impulse_for(&Vector3::x()), Vector3::zeros());
        case.contact.inverse_masses = [1.0; 4];
        let bad = Vector3::new(f64::NAN, 0.0, 1.0);
        assert_eq!(case.contact.impulse_for(&bad), Vector3::zeros());
    }

    #[test]
    fn normal_points_to_where_the_first_feature_came_from() {
        let mut random = Random::new(704);
        let mut met = 0;
        for kind in KINDS {
            for _ in 0..4000 {
                let start: [Vector3<f64>; 4] = [0; 4].map(|_| random.vector(1.0));
                let end: [Vector3<f64>; 4] = [0; 4].map(|_| random.vector(1.0));
                let Some(time) = time_of_coplanar_contact(kind, &start, &end, 1e-9) else {
                    continue;
                };
                let normal = contact_normal(kind, &start, &end, time);
                assert_relative_eq!(normal.norm(), 1.0, epsilon = 1e-12);
                // A moment before, the first feature is on the side of the normal.
                let early = time - 1e-5;
                let before: [Vector3<f64>; 4] =
                    std::array::from_fn(|i| start[i] + (end[i] - start[i]) * early);
                let difference = kind.closest_points(&before).difference;
                if difference.norm() > 1e-7 {
                    assert!(
                        normal.dot(&difference) > 0.0,
                        "{kind:?} {normal} {difference}"
                    );
                    met += 1;
                }
            }
        }
        assert!(met > 500, "{met}");
        let line = [
            Vector3::zeros(),
            Vector3::x(),
            Vector3::zeros(),
            Vector3::x(),
        ];
        let none = contact_normal(PairKind::EdgeEdge, &line, &line, 0.0);
        assert_eq!(none, Vector3::zeros());
        let bad = [Vector3::repeat(f64::NAN); 4];
        let none = contact_normal(PairKind::VertexFace, &bad, &line, 0.5);
        assert_eq!(none, Vector3::zeros());
    }
}
