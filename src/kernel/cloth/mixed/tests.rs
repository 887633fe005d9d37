use crate::kernel::aerodynamics::{PointwiseAir, normal_wind_force};
use approx::assert_relative_eq;
use nalgebra::Vector3;

#[derive(Clone, Copy, PartialEq)]
enum Variant {
    Light,
    Heavy,
}

const BOTH: [Variant; 2] = [Variant::Light, Variant::Heavy];

type State = (Vector3<f64>, Vector3<f64>);

/// A point in air, and what else accelerates it.
struct Point<'a> {
    inverse_mass: f64,
    air: PointwiseAir<f64>,
    normal: Vector3<f64>,
    air_velocity: Vector3<f64>,
    elastic: &'a dyn Fn(&Vector3<f64>) -> Vector3<f64>,
}

impl<'a> Point<'a> {
    /// A point in still air that resists by C_visc alone.
    fn viscous(
        inverse_mass: f64,
        viscous_coefficient: f64,
        elastic: &'a dyn Fn(&Vector3<f64>) -> Vector3<f64>,
    ) -> Self {
        Self {
            inverse_mass,
            air: PointwiseAir {
                viscous_coefficient,
                wind_coefficient: 0.0,
            },
            normal: Vector3::z(),
            air_velocity: Vector3::zeros(),
            elastic,
        }
    }

    fn step(&self, variant: Variant, (position, velocity): State, dt: f64) -> State {
        let implicit = |velocity: &Vector3<f64>, position: &Vector3<f64>| {
            let explicit = velocity + (self.elastic)(position) * (0.5 * dt);
            self.air.velocity_after(
                self.inverse_mass,
                0.5 * dt,
                &self.normal,
                &explicit,
                &self.air_velocity,
            )
        };
        let wind = self.air_velocity - velocity;
        let drag = normal_wind_force(self.air.wind_coefficient, &self.normal, &wind)
            - velocity * self.air.viscous_coefficient;
        let acceleration = (self.elastic)(&position) + drag * self.inverse_mass;
        let half = velocity + acceleration * (0.5 * dt);
        let moving = match variant {
            Variant::Light => half,
            Variant::Heavy => implicit(&velocity, &position),
        };
        let next = position + moving * dt;
        (next, implicit(&half, &next))
    }
}

fn nothing(_: &Vector3<f64>) -> Vector3<f64> {
    Vector3::zeros()
}

/// The trapezoidal rule has a closed form for linear drag: a geometric sequence about the terminal velocity.
#[test]
fn linear_drag_gives_the_geometric_sequence() {
    let (mass, viscous, dt, gravity) = (0.2, 0.5, 0.3, Vector3::new(0.0, -9.81, 0.0));
    let terminal = gravity * (mass / viscous);
    let half_rate: f64 = 0.5 * dt * viscous / mass;
    let factor = (1.0 - half_rate) / (1.0 + half_rate);
    let start = Vector3::new(3.0, 1.0, -2.0);
    let weight = |_: &Vector3<f64>| gravity;
    let point = Point::viscous(1.0 / mass, viscous, &weight);
    for variant in BOTH {
        let mut state = (Vector3::zeros(), start);
        for n in 1..20 {
            state = point.step(variant, state, dt);
            let expected = terminal + (start - terminal) * factor.powi(n);
            assert_relative_eq!(state.1, expected, epsilon = 1e-12);
        }
    }
}

/// Error against the exact solution of x'' = −ω² x − c x', after one second.
fn oscillator_error(variant: Variant, steps: u32) -> f64 {
    let (stiffness, rate): (f64, f64) = (25.0, 1.5);
    let frequency = (stiffness - 0.25 * rate * rate).sqrt();
    let spring = |x: &Vector3<f64>| x * -stiffness;
    let point = Point::viscous(1.0, rate, &spring);
    let mut state = (Vector3::x(), Vector3::zeros());
    for _ in 0..steps {
        state = point.step(variant, state, 1.0 / f64::from(steps));
    }
    let decay = (-0.5 * rate).exp();
    let (sine, cosine) = frequency.sin_cos();
    let position = decay * (cosine + 0.5 * rate / frequency * sine);
    let velocity = -decay * stiffness / frequency * sine;
    (state.0.x - position).hypot(0.2 * (state.1.x - velocity))
}

#[test]
fn both_variants_are_of_second_order() {
    for variant in BOTH {
        let errors = [100, 200, 400].map(|steps| oscillator_error(variant, steps));
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.05, "order {order}");
        }
    }
}

#[test]
fn heavy_damping_is_stable_for_any_step() {
    for rate in [1.0, 10.0, 1e3, 1e6] {
        for variant in BOTH {
            let mut state = (Vector3::zeros(), Vector3::new(1.0, -2.0, 0.5));
            for _ in 0..200 {
                let speed = state.1.norm();
                state = Point::viscous(1.0, rate, &nothing).step(variant, state, 1.0);
                assert!(state.1.norm() <= speed * (1.0 + 1e-14));
            }
        }
    }
}

/// Drag alone stops a point after v⁰/c. The heavy variant has that for any step; the light one does not.
#[test]
fn the_way_to_rest_is_exact_with_the_implicit_half_step() {
    let start = Vector3::new(1.0, -2.0, 0.5);
    for rate in [0.5, 3.0, 12.0] {
        let way = |variant| {
            let mut state = (Vector3::zeros(), start);
            for _ in 0..2000 {
                state = Point::viscous(1.0, rate, &nothing).step(variant, state, 1.0);
            }
            state.0
        };
        assert_relative_eq!(way(Variant::Heavy), start / rate, max_relative = 1e-10);
        // Closed form of the light variant: the same with the factor 1 − (c Δt/2)².
        let expected = start * ((1.0 - 0.25 * rate * rate) / rate);
        assert_relative_eq!(way(Variant::Light), expected, max_relative = 1e-9);
    }
}

/// Wind through a sheet that is free to move carries it along its normal at the speed of the air.
#[test]
fn a_free_sheet_ends_at_the_speed_of_the_wind() {
    let normal = Vector3::new(2.0, -1.0, 2.0) / 3.0;
    let air_velocity = Vector3::new(3.0, 1.0, 0.0);
    let point = Point {
        inverse_mass: 5.0,
        air: PointwiseAir {
            viscous_coefficient: 0.0,
            wind_coefficient: 4.0,
        },
        normal,
        air_velocity,
        elastic: &nothing,
    };
    for variant in BOTH {
        let mut state = (Vector3::zeros(), Vector3::zeros());
        for _ in 0..400 {
            state = point.step(variant, state, 0.02);
        }
        let expected = normal * normal.dot(&air_velocity);
        assert_relative_eq!(state.1, expected, epsilon = 1e-12);
    }
}
