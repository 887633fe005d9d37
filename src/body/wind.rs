//! The air that sheets move in.

use bevy::prelude::*;
use nalgebra::Vector3;

use crate::Real;
use crate::kernel::wind::Gusts;

/// A velocity of the air for each place and time.
///
/// Must be a function of its arguments and of what the flow holds, so that a run can be repeated.
pub trait AirFlow: Send + Sync + 'static {
    /// Velocity of the air, m/s, in the frame of the world, at a place, m, and a time of the simulation, s.
    fn velocity(&self, position: Vector3<f64>, time: f64) -> Vector3<f64>;
}

impl AirFlow for Gusts {
    fn velocity(&self, position: Vector3<f64>, time: f64) -> Vector3<f64> {
        Gusts::velocity(self, &position, time)
    }
}

/// The same velocity everywhere and always.
struct Uniform(Vector3<f64>);

impl AirFlow for Uniform {
    fn velocity(&self, _: Vector3<f64>, _: f64) -> Vector3<f64> {
        self.0
    }
}

struct Function<F>(F);

impl<F: Fn(Vec3, f64) -> Vec3 + Send + Sync + 'static> AirFlow for Function<F> {
    fn velocity(&self, position: Vector3<f64>, time: f64) -> Vector3<f64> {
        let [x, y, z] = [position.x, position.y, position.z].map(|entry| entry as f32);
        widen((self.0)(Vec3::new(x, y, z), time))
    }
}

fn widen(vector: Vec3) -> Vector3<f64> {
    Vector3::new(vector.x.into(), vector.y.into(), vector.z.into())
}

/// The wind of the world. Acts on bodies that have [`Aerodynamic`]. Default calm.
#[derive(Resource)]
pub struct PliantWind {
    /// Velocity of the air.
    pub flow: Box<dyn AirFlow>,
    /// Density ρ of the air, kg/m³, not negative. Default 1.2 (20 °C at sea level).
    pub density: Real,
}

impl Default for PliantWind {
    fn default() -> Self {
        Self::calm()
    }
}

impl PliantWind {
    /// A flow of the user's own, in air of 1.2 kg/m³.
    #[must_use]
    pub fn new(flow: impl AirFlow) -> Self {
        Self {
            flow: Box::new(flow),
            density: 1.2,
        }
    }

    /// Air at rest.
    #[must_use]
    pub fn calm() -> Self {
        Self::uniform(Vec3::ZERO)
    }

    /// One velocity everywhere, m/s.
    #[must_use]
    pub fn uniform(velocity: Vec3) -> Self {
        Self::new(Uniform(widen(velocity)))
    }

    /// Gusts about a mean velocity, m/s; see [`Gusts`].
    ///
    /// `intensity` is the standard deviation of each component, m/s; a tenth to a fifth of the mean outdoors.
    /// `length_scale` is the length of a gust, m. The same seed gives the same wind.
    #[must_use]
    pub fn gusty(mean: Vec3, intensity: Real, length_scale: Real, seed: u64) -> Self {
        Self::new(Gusts::new(
            widen(mean),
            f64::from(intensity),
            f64::from(length_scale),
            seed,
        ))
    }

    /// Wind from a function of the place, m, and the time of the simulation, s.
    #[must_use]
    pub fn from_fn(velocity: impl Fn(Vec3, f64) -> Vec3 + Send + Sync + 'static) -> Self {
        Self::new(Function(velocity))
    }

    /// The same wind in air, or another medium, of the density, kg/m³.
    #[must_use]
    pub fn with_density(mut self, density: Real) -> Self {
        self.density = density;
        self
    }

    /// Velocity of the air, m/s, at a place, m, and a time of the simulation, s.
    #[must_use]
    pub fn velocity(&self, position: Vector3<f64>, time: f64) -> Vector3<f64> {
        self.flow.velocity(position, time)
    }
}

/// How the air acts on a sheet: drag along the wind and lift across it, on both sides of each triangle.
///
/// ```text
/// F = ½ ρ A (n·v) [C_D v + C_L |v| (n − (n·v̂) v̂)]        v the wind relative to the triangle, n·v ≥ 0
/// ```
/// ρ is [`PliantWind::density`]. See [`Aerodynamics`](crate::kernel::aerodynamics::Aerodynamics).
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component)]
pub struct Aerodynamic {
    /// C_D, without unit, not negative. Default 1.1 (a flat plate).
    pub drag_coefficient: Real,
    /// C_L, without unit, from 0 to C_D: more would drive a sheet along itself. Default 0.7.
    pub lift_coefficient: Real,
}

impl Default for Aerodynamic {
    fn default() -> Self {
        Self {
            drag_coefficient: 1.1,
            lift_coefficient: 0.7,
        }
    }
}

impl Aerodynamic {
    /// Whether 0 ≤ C_L ≤ C_D < ∞. Implicit steps are stable for such values only.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.lift_coefficient >= 0.0
            && self.lift_coefficient <= self.drag_coefficient
            && self.drag_coefficient.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_give_their_wind() {
        let place = Vector3::new(1.0, 2.0, 3.0);
        assert_eq!(PliantWind::default().velocity(place, 1.0), Vector3::zeros());
        let uniform = PliantWind::uniform(Vec3::new(4.0, 0.0, 1.0)).with_density(1000.0);
        assert_eq!(uniform.velocity(place, 9.0), Vector3::new(4.0, 0.0, 1.0));
        assert_eq!(uniform.density, 1000.0);
        let shear = PliantWind::from_fn(|place, time| Vec3::X * place.y * time as f32);
        assert_eq!(shear.velocity(place, 3.0), Vector3::x() * 6.0);
        let gusts = Gusts::new(Vector3::x() * 4.0, 0.5, 2.0, 7);
        let gusty = PliantWind::gusty(Vec3::X * 4.0, 0.5, 2.0, 7);
        assert_eq!(gusty.velocity(place, 1.5), gusts.velocity(&place, 1.5));
    }

    #[test]
    fn lift_above_drag_and_what_is_not_a_number_are_invalid() {
        assert!(Aerodynamic::default().is_valid());
        for (drag_coefficient, lift_coefficient) in [
            (1.0, 1.5),
            (-1.0, -1.0),
            (Real::NAN, 0.0),
            (Real::INFINITY, 0.0),
        ] {
            let air = Aerodynamic {
                drag_coefficient,
                lift_coefficient,
            };
            assert!(!air.is_valid(), "{air:?}");
        }
    }
}
