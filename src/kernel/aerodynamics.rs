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
use super::scalar::{Scalar, real};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::drag::terminal_velocity;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;
    use nalgebra::SymmetricEigen;
    use simba::simd::{SimdValue, WideF32x8};

    const CLOTH: Aerodynamics<f64> = Aerodynamics {
        drag_coefficient: 1.1,
        lift_coefficient: 0.7,
        air_density: 1.2,
    };

    fn panel(random: &mut Random) -> Panel<f64> {
        Panel {
            area_normal: random.vector(0.5),
            wind: random.vector(8.0),
        }
    }

    #[test]
    fn plate_falls_at_terminal_velocity_and_feels_both_sides_alike() {
        let area = 0.5;
        let speed = terminal_velocity(0.2, 9.81, 1.1, 1.2, area).expect("there is drag");
        let corners = [Vector3::zeros(), Vector3::z(), Vector3::x()];
        let fall = [-Vector3::y() * speed; 3];
        let panel = Panel::new(&corners, &fall, &Vector3::zeros());
        assert_relative_eq!(panel.area_normal, Vector3::y() * area);
        let expected = Vector3::y() * (0.2 * 9.81);
        assert_relative_eq!(CLOTH.force(&panel), expected, epsilon = 1e-12);
        let turned = Panel {
            area_normal: -panel.area_normal,
            ..panel
        };
        assert_eq!(CLOTH.force(&turned), CLOTH.force(&panel));
    }

    #[test]
    fn lift_of_an_inclined_plate_is_across_the_wind_and_of_textbook_size() {
        let incidence = 0.3_f64;
        let panel = Panel {
            area_normal: Vector3::new(incidence.sin(), incidence.cos(), 0.0) * 2.0,
            wind: Vector3::x() * 5.0,
        };
        let dynamic_pressure = 0.5 * 1.2 * 25.0;
        let force = CLOTH.force(&panel);
        let (sine, cosine) = incidence.sin_cos();
        assert_relative_eq!(
            force.x,
            dynamic_pressure * 2.0 * 1.1 * sine,
            epsilon = 1e-12
        );
        let lift = dynamic_pressure * 2.0 * 0.7 * sine * cosine;
        assert_relative_eq!(force.y, lift, epsilon = 1e-12);
        assert_eq!(force.z, 0.0);
    }

    #[test]
    fn grazing_calm_and_flat_panels_feel_nothing() {
        let grazing = Panel {
            area_normal: Vector3::y(),
            wind: Vector3::x() * 5.0,
        };
        assert_eq!(CLOTH.force(&grazing), Vector3::zeros());
        for (area_normal, wind) in [
            (Vector3::y(), Vector3::zeros()),
            (Vector3::zeros(), Vector3::x()),
        ] {
            let panel = Panel { area_normal, wind };
            assert_eq!(CLOTH.force(&panel), Vector3::zeros());
            assert_eq!(CLOTH.damping(&panel), Matrix3::zeros());
            assert_eq!(CLOTH.resistance(&panel), Matrix3::zeros());
        }
    }

    #[test]
    fn power_splits_into_work_and_loss() {
        let mut random = Random::new(41);
        for _ in 0..50 {
            let panel = panel(&mut random);
            let velocity = random.vector(3.0);
            let air = panel.wind + velocity;
            let loss = CLOTH.dissipated_power(&panel);
            assert!(loss >= 0.0);
            let given = CLOTH.force(&panel).dot(&air);
            assert_relative_eq!(
                CLOTH.power(&panel, &velocity) + loss,
                given,
                epsilon = 1e-10
            );
            let normal = panel.area_normal.normalize();
            let force = normal_wind_force(0.3, &normal, &panel.wind);
            assert_relative_eq!(
                force.dot(&panel.wind),
                normal_wind_dissipation(0.3, &normal, &panel.wind),
                epsilon = 1e-12
            );
        }
    }

    /// ∂F/∂v by central differences.
    fn derivative(law: &Aerodynamics<f64>, panel: &Panel<f64>) -> Matrix3<f64> {
        let step = 1e-5;
        let columns = [0, 1, 2].map(|axis| {
            let shift = Vector3::ith(axis, step);
            let at = |wind| law.force(&Panel { wind, ..*panel });
            (at(panel.wind + shift) - at(panel.wind - shift)) / (2.0 * step)
        });
        Matrix3::from_columns(&columns)
    }

    #[test]
    fn damping_is_the_positive_part_of_the_derivative() {
        let mut random = Random::new(42);
        let mut clamped = 0;
        for case in 0..200 {
            let law = Aerodynamics {
                lift_coefficient: [0.0, 0.7, 1.1, 3.0][case % 4],
                ..CLOTH
            };
            let panel = panel(&mut random);
            let derivative = derivative(&law, &panel);
            let mut eigen = SymmetricEigen::new((derivative + derivative.transpose()) * 0.5);
            clamped += usize::from(eigen.eigenvalues.min() < -1e-3);
            eigen.eigenvalues.apply(|value| *value = value.max(0.0));
            assert_relative_eq!(law.damping(&panel), eigen.recompose(), epsilon = 1e-6);
        }
        assert!((20..180).contains(&clamped), "{clamped} of 200");
        let head_on = Panel {
            area_normal: Vector3::y() * 2.0,
            wind: Vector3::y() * 3.0,
        };
        let expected = Vector3::new(0.4, 2.2, 0.4) * (0.5 * 1.2 * 2.0 * 3.0);
        let damping = CLOTH.damping(&head_on);
        assert_relative_eq!(damping, Matrix3::from_diagonal(&expected), epsilon = 1e-12);
    }

    #[test]
    fn resistance_gives_the_force_and_any_implicit_step_approaches_the_wind() {
        let mut random = Random::new(43);
        for case in 0..200 {
            let law = Aerodynamics {
                lift_coefficient: [0.0, 0.7, 1.1][case % 3],
                ..CLOTH
            };
            let panel = panel(&mut random);
            let resistance = law.resistance(&panel);
            assert_eq!(resistance, resistance.transpose());
            let smallest = resistance.symmetric_eigenvalues().min();
            assert!(smallest >= -1e-13, "{smallest}");
            assert_relative_eq!(resistance * panel.wind, law.force(&panel), epsilon = 1e-12);
            for step in [1e-3, 1.0, 1e3] {
                let system = Matrix3::identity() * 0.1 + resistance * step;
                let inverse = system.try_inverse().expect("positive definite");
                let wind = inverse * panel.wind * 0.1;
                assert!(wind.norm() <= panel.wind.norm());
                assert!(wind.dot(&panel.wind) >= 0.0);
            }
        }
        let driving = Aerodynamics {
            lift_coefficient: 3.0,
            ..CLOTH
        };
        let head_on = Panel {
            area_normal: Vector3::y(),
            wind: Vector3::new(0.1, 1.0, 0.0),
        };
        let smallest = driving.resistance(&head_on).symmetric_eigenvalues().min();
        assert!(smallest >= -1e-14);
    }

    #[test]
    fn pointwise_step_solves_its_equation() {
        let mut random = Random::new(44);
        for step in [1e-3, 0.02, 10.0] {
            let air = PointwiseAir {
                viscous_coefficient: 0.02,
                wind_coefficient: 0.3,
            };
            let (mass, normal) = (0.05, random.vector(1.0).normalize());
            let (velocity, wind) = (random.vector(2.0), random.vector(5.0));
            let after = air.velocity_after(1.0 / mass, step, &normal, &velocity, &wind);
            let force = normal_wind_force(0.3, &normal, &(wind - after)) - after * 0.02;
            assert_relative_eq!(after, velocity + force * (step / mass), epsilon = 1e-9);
            let held = air.velocity_after(0.0, step, &normal, &velocity, &wind);
            assert_eq!(held, velocity);
        }
    }

    #[test]
    fn lanes_agree_with_single_numbers() {
        let mut random = Random::new(45);
        let mut panels: Vec<Panel<f32>> = (0..8)
            .map(|_| panel(&mut random))
            .map(|panel| Panel {
                area_normal: panel.area_normal.cast(),
                wind: panel.wind.cast(),
            })
            .collect();
        panels[2].wind = Vector3::zeros();
        panels[5].area_normal = Vector3::zeros();
        panels[6].wind = panels[6].area_normal * 3.0;
        let mut packed = Panel::<WideF32x8> {
            area_normal: Vector3::zeros(),
            wind: Vector3::zeros(),
        };
        for (lane, panel) in panels.iter().enumerate() {
            packed.area_normal.replace(lane, panel.area_normal);
            packed.wind.replace(lane, panel.wind);
        }
        let law = Aerodynamics::<f32> {
            drag_coefficient: 1.1,
            lift_coefficient: 0.7,
            air_density: 1.2,
        };
        let wide = Aerodynamics::<WideF32x8> {
            drag_coefficient: real(1.1),
            lift_coefficient: real(0.7),
            air_density: real(1.2),
        };
        for (lane, panel) in panels.iter().enumerate() {
            assert_eq!(wide.force(&packed).extract(lane), law.force(panel));
            assert_eq!(wide.damping(&packed).extract(lane), law.damping(panel));
            assert_eq!(
                wide.resistance(&packed).extract(lane),
                law.resistance(panel)
            );
        }
    }
}
