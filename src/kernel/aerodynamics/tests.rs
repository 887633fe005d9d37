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
        let resistance = normal * normal.transpose() * 0.3 + Matrix3::identity() * 0.02;
        let before = normal_wind_force(0.3, &normal, &(wind - velocity)) - velocity * 0.02;
        let change = resisted_change(1.0 / mass, step, &resistance, &before);
        assert_relative_eq!(velocity + change, after, epsilon = 1e-9);
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
