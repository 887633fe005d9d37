//! Air on a thin sheet: drag and lift per triangle, both sides alike.
//!
//! [`drag::WindFace`](super::drag::WindFace) is for closed bodies: only its windward side feels the air, since another
//! face of the body is the leeward side. A triangle of cloth has both sides, so here the normal turns to the wind.
//!
//! Two linear forms serve implicit steps. [`resistance`](Aerodynamics::resistance) gives back the force itself and
//! belongs where coefficients are held over a step; [`damping`](Aerodynamics::damping) is the derivative and belongs
//! in Newton's method.

use nalgebra::{Matrix3, Vector3};

use super::matrix::add_to_diagonal;
use super::scalar::{Scalar, Single, real};

/// A triangle of a sheet in an air stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel<T: Scalar> {
    /// A n: as long as the area, m², at right angles to the triangle, to either side.
    pub area_normal: Vector3<T>,
    /// v, of the air relative to the triangle, m/s.
    pub wind: Vector3<T>,
}

/// What the panel and the wind say about each other.
struct Flow<T: Scalar> {
    /// n, unit, turned so that n · v ≥ 0; zero for a triangle without area.
    normal: Vector3<T>,
    /// A, m².
    area: T,
    /// |v|, m/s.
    speed: T,
    /// v̂, unit; zero without wind.
    direction: Vector3<T>,
    /// c = n · v̂, from 0 (grazing) to 1 (head on).
    incidence: T,
}

impl<T: Scalar> Panel<T> {
    /// The panel of a triangle in air of one velocity, that at the centroid.
    ///
    /// ```text
    /// A n = ½ (x₁ − x₀) × (x₂ − x₀),   v = u − ⅓ (v₀ + v₁ + v₂)
    /// ```
    /// Corners in m, their velocities and the velocity u of the air in m/s.
    ///
    /// Eq: elementary.
    #[inline]
    pub fn new(
        corners: &[Vector3<T>; 3],
        velocities: &[Vector3<T>; 3],
        air_velocity: &Vector3<T>,
    ) -> Self {
        let [a, b, c] = corners;
        let mean = (velocities[0] + velocities[1] + velocities[2]) * real::<T>(1.0 / 3.0);
        Self {
            area_normal: (b - a).cross(&(c - a)) * real::<T>(0.5),
            wind: air_velocity - mean,
        }
    }

    #[inline(always)]
    fn flow(&self) -> Flow<T> {
        let (area, normal) = length_and_direction(&self.area_normal);
        let (speed, direction) = length_and_direction(&self.wind);
        let cosine = normal.dot(&direction);
        let turn = T::one().select(cosine.simd_ge(T::zero()), -T::one());
        Flow {
            normal: normal * turn,
            area,
            speed,
            direction,
            incidence: (cosine * turn).simd_min(T::one()),
        }
    }
}

/// Length and unit vector; the zero vector has no direction and keeps it zero.
#[inline(always)]
fn length_and_direction<T: Scalar>(vector: &Vector3<T>) -> (T, Vector3<T>) {
    let length = vector.dot(vector).simd_sqrt();
    let inverse = (T::one() / length).select(length.simd_gt(T::zero()), T::zero());
    (length, vector * inverse)
}

/// How the air acts on a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aerodynamics<T: Scalar> {
    /// C_D, without unit, not negative; 1.1 for a flat plate.
    pub drag_coefficient: T,
    /// C_L, without unit, not negative; 0.5 to 1 for a plate.
    pub lift_coefficient: T,
    /// ρ, kg/m³, not negative; 1.2 for air.
    pub air_density: T,
}

impl<T: Scalar> Aerodynamics<T> {
    /// ½ ρ A |v|, kg/s.
    #[inline(always)]
    fn scale(&self, flow: &Flow<T>) -> T {
        real::<T>(0.5) * self.air_density * flow.area * flow.speed
    }

    /// Drag and lift on a triangle, N; a third of it belongs to each corner.
    ///
    /// ```text
    /// F = ½ ρ A (n · v) [C_D v + C_L |v| (n − (n · v̂) v̂)],   n turned so that n · v ≥ 0
    /// ```
    /// Drag along the wind, lift across it. Zero at grazing incidence, without wind, and without area. A plate at
    /// right angles to the wind gets exactly ½ C_D ρ A v².
    ///
    /// Eq: `[Keckeisen 2004]` (drag and lift of a face), `[004]` (drag).
    #[inline]
    pub fn force(&self, panel: &Panel<T>) -> Vector3<T> {
        let flow = panel.flow();
        let lift = flow.normal - flow.direction * flow.incidence;
        (flow.direction * self.drag_coefficient + lift * self.lift_coefficient)
            * (self.scale(&flow) * flow.incidence * flow.speed)
    }

    /// Power that the air gives to a triangle of the given velocity (m/s, in the frame of the world), W; negative
    /// where the air slows it.
    ///
    /// ```text
    /// W = F · v_triangle
    /// ```
    /// Eq: elementary.
    #[inline]
    pub fn power(&self, panel: &Panel<T>, velocity: &Vector3<T>) -> T {
        self.force(panel).dot(velocity)
    }

    /// Power lost to the air's small motions, W; never negative. The rest of what the wind gives up reaches the
    /// triangle. Lift has no part in it.
    ///
    /// ```text
    /// Ω = F · v = ½ ρ A C_D (n · v) v²
    /// ```
    /// Eq: elementary.
    #[inline]
    pub fn dissipated_power(&self, panel: &Panel<T>) -> T {
        let flow = panel.flow();
        self.scale(&flow) * self.drag_coefficient * flow.incidence * flow.speed * flow.speed
    }

    /// Resistance R of a triangle at the current wind, kg/s: symmetric positive semidefinite, and the force is
    /// exactly R times the wind.
    ///
    /// ```text
    /// F = R v,   R = ½ ρ A |v| [τ (I − n nᵀ) + ν n nᵀ],   c = n · v̂
    /// τ = c (C_D − c C_L),   ν = c C_D + (1 − c²) C_L
    /// ```
    /// Backward Euler with this R brings a triangle closer to the velocity of the air whatever the step is. That the
    /// force is exact takes C_L ≤ C_D: where τ would be negative, R has zero, since such lift drives the triangle
    /// along itself. Zero without wind or area. Head on and without lift, R along n is the coefficient C_f of
    /// [`normal_wind_force`] that fits this wind.
    ///
    /// Eq: `[Keckeisen 2004]` (drag and lift of a face), as a matrix times the wind.
    #[inline]
    pub fn resistance(&self, panel: &Panel<T>) -> Matrix3<T> {
        let flow = panel.flow();
        let (drag, lift, c) = (self.drag_coefficient, self.lift_coefficient, flow.incidence);
        let along_face = (c * (drag - c * lift)).simd_max(T::zero());
        let along_normal = c * drag + (T::one() - c * c) * lift;
        let normal = &flow.normal;
        let normal_part = normal * normal.transpose() * (along_normal - along_face);
        add_to_diagonal(&normal_part, along_face) * self.scale(&flow)
    }

    /// Damping D of a triangle, kg/s: the positive semidefinite part of the symmetric part of the derivative.
    ///
    /// ```text
    /// F ≈ F₀ − D δv_triangle,   D = ½ ρ A |v| S⁺,   S = sym ∂F/∂v / (½ ρ A |v|)
    /// in e₁ = v̂, e₂ = (n − c v̂)/s, e₃ = e₁ × e₂, with c = n · v̂, s = √(1 − c²):
    /// S₁₁ = 2 c C_D              S₁₂ = ½ s (C_D + c C_L)
    /// S₂₂ = c C_D + (1 − 2c²) C_L     S₃₃ = c (C_D − c C_L)
    /// ```
    /// The other entries vanish, so the eigenvalues are those of a 2×2 matrix and S₃₃; negative ones become zero.
    /// Zero without wind or area.
    ///
    /// Eq: `[Keckeisen 2004]` (drag and lift of a face), derived.
    #[inline]
    pub fn damping(&self, panel: &Panel<T>) -> Matrix3<T> {
        let flow = panel.flow();
        let (drag, lift, c) = (self.drag_coefficient, self.lift_coefficient, flow.incidence);
        let half = real::<T>(0.5);
        let (s, across) = length_and_direction(&(flow.normal - flow.direction * c));
        let first = real::<T>(2.0) * c * drag;
        let mixed = half * s * (drag + c * lift);
        let second = c * drag + (T::one() - real::<T>(2.0) * c * c) * lift;
        let third = (c * (drag - c * lift)).simd_max(T::zero());
        // The positive part of a symmetric 2×2 matrix is the matrix times a slope, plus a multiple of the identity.
        let mean = half * (first + second);
        let difference = half * (first - second);
        let radius = (difference * difference + mixed * mixed).simd_sqrt();
        let (high, low) = (mean + radius, mean - radius);
        let (kept_high, kept_low) = (high.simd_max(T::zero()), low.simd_max(T::zero()));
        let distinct = high.simd_gt(low);
        let slope = ((kept_high - kept_low) / (high - low)).select(distinct, T::one());
        let offset = kept_high - slope * high;
        // Head on there is no e₂: S₂₂ is then equal to S₃₃, and its term drops out by itself.
        let one = &flow.direction;
        let cross = one * across.transpose();
        let in_plane = one * one.transpose() * (slope * first + offset - third)
            + (cross + cross.transpose()) * (slope * mixed)
            + across * across.transpose() * (slope * second + offset - third);
        add_to_diagonal(&in_plane, third) * self.scale(&flow)
    }
}

/// Wind on a particle of a sheet in proportion to the speed along the normal, N.
///
/// ```text
/// F = C_f [n · (u − v)] n
/// ```
/// `coefficient` C_f in kg/s, `normal` n of unit length, `wind` u − v (of the air relative to the particle) in m/s.
/// Zero for a zero normal.
///
/// Eq: `[001 §3.1]` (fluid).
#[inline]
pub fn normal_wind_force<T: Scalar>(
    coefficient: T,
    normal: &Vector3<T>,
    wind: &Vector3<T>,
) -> Vector3<T> {
    normal * (coefficient * normal.dot(wind))
}

/// Power lost to the air by [`normal_wind_force`], W; never negative.
///
/// ```text
/// Ω = F · (u − v) = C_f [n · (u − v)]²
/// ```
/// Eq: elementary.
#[inline]
pub fn normal_wind_dissipation<T: Scalar>(
    coefficient: T,
    normal: &Vector3<T>,
    wind: &Vector3<T>,
) -> T {
    let speed = normal.dot(wind);
    coefficient * speed * speed
}

/// The air's part of an implicit step, for each particle alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointwiseAir<T: Scalar> {
    /// C_visc, of the resistance of the air to any motion, kg/s, not negative.
    pub viscous_coefficient: T,
    /// C_f, of [`normal_wind_force`], kg/s, not negative.
    pub wind_coefficient: T,
}

impl<T: Scalar> PointwiseAir<T> {
    /// Velocity after an implicit step of viscous air and wind, m/s.
    ///
    /// ```text
    /// (m + h C_visc + h C_f n nᵀ) v⁺ = m v + h C_f (n · u) n
    /// ⇒ n · v⁺ = (n · v + f n · u)/(1 + c + f),   v⁺ = [v + f (n · u − n · v⁺) n]/(1 + c)
    /// with c = h C_visc/m, f = h C_f/m
    /// ```
    /// `inverse_mass` 1/m in 1/kg, zero for a held particle, which keeps its velocity; `step` h in s; `normal` n of
    /// unit length or zero; `velocity` v and `air_velocity` u in m/s. Stable for every step.
    ///
    /// Eq: `[001 §4.5]` (implicit velocities without a linear system); the inverse is Sherman and Morrison's.
    #[inline]
    pub fn velocity_after(
        &self,
        inverse_mass: T,
        step: T,
        normal: &Vector3<T>,
        velocity: &Vector3<T>,
        air_velocity: &Vector3<T>,
    ) -> Vector3<T> {
        let viscous = step * inverse_mass * self.viscous_coefficient;
        let wind = step * inverse_mass * self.wind_coefficient;
        let air_speed = normal.dot(air_velocity);
        let normal_speed = (normal.dot(velocity) + wind * air_speed) / (T::one() + viscous + wind);
        (velocity + normal * (wind * (air_speed - normal_speed)))
            * (T::one() / (T::one() + viscous))
    }
}

/// Change of the velocity of a particle alone over an implicit step against a resistance, m/s.
///
/// ```text
/// (m/h + R) δ = F   ⇒   δ = (I + h/m R)⁻¹ h/m F
/// ```
/// `inverse_mass` 1/m in 1/kg, zero for a held particle, whose velocity does not change; `step` h in s; `resistance` R
/// in kg/s, symmetric positive semidefinite; `force` F in N, all of it, the resistance at the velocity before included.
/// For R = C_visc I + C_f n nᵀ it is [`PointwiseAir::velocity_after`], as a change, for the sum of the resistances of
/// all triangles around a vertex.
///
/// Eq: `[001 §4.5]` (implicit velocities without a linear system), for any resistance.
#[inline]
pub fn resisted_change<T: Single>(
    inverse_mass: T,
    step: T,
    resistance: &Matrix3<T>,
    force: &Vector3<T>,
) -> Vector3<T> {
    let rate = step * inverse_mass;
    let change = force * rate;
    // Never singular: the resistance is not negative.
    add_to_diagonal(&(resistance * rate), T::one())
        .try_inverse()
        .map_or(change, |inverse| inverse * change)
}

#[cfg(test)]
mod tests;
