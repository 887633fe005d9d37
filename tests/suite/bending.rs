//! Bending of sheets as bodies: the stiffness that a strip under its own weight shows, and folds that stay.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{app, ticks};

/// Length and width of the strip, m. It is wide, as a sheet that bends to a cylinder is what the stiffness is about: a
/// narrow one would also bend across.
const LENGTH: f64 = 0.1;
const WIDTH: f64 = 0.2;
/// Weight of the strip, such that w g L³/B = 2 and the tip sinks by about a fifth of the length.
const LOAD: f64 = 2.0;

/// A sheet of equilateral triangles with rows along x; rows in turn begin half an edge further.
fn equilateral(length: f64, width: f64, cells: usize) -> TriangleMesh {
    let edge = length / cells as f64;
    let height = edge * 0.75_f64.sqrt();
    let rows = (width / height).round() as usize;
    let columns = cells + 2;
    let vertex = |row: usize, column: usize| (row * columns + column) as u32;
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for row in 0..=rows {
        let shift = if row % 2 == 1 { 0.5 } else { 0.0 };
        for column in 0..columns {
            let x = edge * (column as f64 + shift - 1.0);
            positions.push(Vector3::new(
                x,
                0.0,
                height * (row as f64 - 0.5 * rows as f64),
            ));
        }
    }
    for row in 0..rows {
        for column in 0..columns - 1 {
            let [a, b] = [column, column + 1].map(|column| vertex(row, column));
            let [c, d] = [column, column + 1].map(|column| vertex(row + 1, column));
            triangles.extend(if row % 2 == 0 {
                [[a, c, b], [b, c, d]]
            } else {
                [[a, d, b], [a, c, d]]
            });
        }
    }
    TriangleMesh::new(positions, triangles)
}

/// The bending stiffness that a strip shows at rest: moment over curvature, between a quarter and three quarters of its
/// length.
///
/// The moment at x is that of the weight of all particles beyond x, so neither the clamp nor the end matters.
fn measured_stiffness(fabric: Fabric, cells: usize) -> f64 {
    let mut app = app();
    let stiffness = f64::from(fabric.bending_stiffness);
    let density = f64::from(fabric.areal_density);
    let gravity = LOAD * stiffness / (density * LENGTH.powi(3));
    app.insert_resource(PliantGravity(Vec3::NEG_Y * gravity as f32));
    let mesh = equilateral(LENGTH, WIDTH, cells);
    let edge = LENGTH / cells as f64;
    let held = mesh.particles_where(|place| place.x < 0.1 * edge);
    // The frequency of a clamped strip is 3.5 √(B/(ρ L⁴)); drag at twice that lets it settle.
    let frequency = 3.5 * (stiffness / (density * LENGTH.powi(4))).sqrt();
    let rest = mesh.positions.clone();
    let strip = app
        .world_mut()
        .spawn((
            Cloth::new(mesh).without_wrinkles(),
            fabric,
            Pins::at(held),
            AirDrag {
                coefficient: 0.0,
                viscous_rate: (2.0 * frequency) as Real,
                ..default()
            },
        ))
        .id();
    ticks(&mut app, (60.0 * 20.0 / frequency).ceil() as usize);
    let particles = app.world().get::<Particles>(strip).expect("a strip");
    let fastest = particles
        .velocities
        .iter()
        .fold(0.0, |most: Real, velocity| most.max(velocity.norm()));
    assert!(f64::from(fastest) < 1e-4, "still moves at {fastest} m/s");
    let places: Vec<Vector3<f64>> = particles.positions.iter().map(|x| x.cast()).collect();
    // Means over the width of the particles at each distance from the clamp, half an edge apart.
    let column = |place: &Vector3<f64>| (2.0 * place.x / edge).round() as i64;
    let count = 2 * cells as i64;
    let mut line = Vec::new();
    for number in 0..=count {
        let here = rest
            .iter()
            .zip(&places)
            .filter(|(rest, _)| column(rest) == number);
        let (sum, members) = here.fold((Vector3::zeros(), 0.0), |(sum, members), (_, place)| {
            (sum + place, members + 1.0)
        });
        line.push(sum / members);
    }
    // Slopes of chords over a whole edge, that is of the same rows.
    let slope = |number: usize| {
        let chord: Vector3<f64> = line[number + 1] - line[number - 1];
        (-chord.y).atan2(chord.x)
    };
    let [first, last] = [cells / 2, 3 * cells / 2];
    let moment = |number: usize| {
        let x = line[number].x;
        let weights = rest.iter().zip(&places).zip(particles.inverse_masses());
        weights
            .filter(|((rest, _), _)| column(rest) > number as i64)
            .map(|((_, place), &inverse)| (place.x - x) * gravity / f64::from(inverse))
            .sum::<f64>()
            / WIDTH
    };
    // Trapezoids over the length between the two slopes.
    let mut integral = 0.0;
    for number in first..last {
        // The rows of the two columns are not the same, and so not beside each other.
        let step = (line[number + 1] - line[number]).xy().norm();
        integral += 0.5 * step * (moment(number) + moment(number + 1));
    }
    let turned = slope(last) - slope(first);
    let sunk = -line[line.len() - 1].y / LENGTH;
    println!(
        "{cells} cells: tip sinks by {sunk:.4} L, {:.4} of the stiffness",
        integral / turned / stiffness
    );
    integral / turned
}

#[test]
fn a_strip_bends_as_its_stiffness_says_at_any_resolution() {
    for fabric in [Fabric::COTTON, Fabric::LEATHER] {
        let stiffness = f64::from(fabric.bending_stiffness);
        let measured = [12, 24].map(|cells| measured_stiffness(fabric, cells) / stiffness);
        for ratio in measured {
            assert!((ratio - 1.0).abs() < 0.05, "{ratio} of the stiffness");
        }
        let change = (measured[1] / measured[0] - 1.0).abs();
        assert!(change < 0.1, "{change} from one resolution to the other");
    }
}

/// Two sheets of 5 × 5 cells that meet at a right angle along x = 0.
fn folded() -> TriangleMesh {
    let mut mesh =
        TriangleMesh::sheet([0.2, 0.1], [10, 5], SheetPattern::Herringbone).expect("a sheet");
    for place in &mut mesh.positions {
        if place.x > 0.0 {
            *place = Vector3::new(0.0, place.x, place.z);
        }
    }
    mesh
}

/// Largest distance of the angle along the fold from 90°, rad, and its mean.
fn fold_error(app: &App, body: Entity) -> [f64; 2] {
    let hinges = app.world().get::<Hinges>(body).expect("a cloth");
    let places = &app
        .world()
        .get::<Particles>(body)
        .expect("a body")
        .positions;
    let (mut worst, mut sum, mut count) = (0.0_f64, 0.0, 0.0);
    for (corners, rest) in hinges.corners().iter().zip(hinges.rest_angles()) {
        if rest.abs() < 1.0 {
            continue;
        }
        let [a, b, c, d] = corners.map(|corner| places[corner as usize].cast::<f64>());
        let (one, other) = ((a - c).cross(&(a - d)), (b - d).cross(&(b - c)));
        let angle = one.angle(&other);
        worst = worst.max((angle - std::f64::consts::FRAC_PI_2).abs());
        sum += angle;
        count += 1.0;
    }
    assert!(
        (count - 5.0_f64).abs() < 0.5,
        "{count} hinges along the fold"
    );
    [worst, sum / count]
}

const INTEGRATORS: [Integrator; 2] = [Integrator::IMPLICIT, Integrator::SYMPLECTIC_EULER];

#[test]
fn a_fold_keeps_its_angle() {
    for integrator in INTEGRATORS {
        let mut app = app();
        app.insert_resource(integrator)
            .insert_resource(PliantGravity(Vec3::ZERO));
        let body = app
            .world_mut()
            .spawn((Cloth::new(folded()).without_wrinkles(), Fabric::COTTON))
            .id();
        let mut worst = 0.0_f64;
        for _ in 0..60 {
            ticks(&mut app, 1);
            worst = worst.max(fold_error(&app, body)[0]);
        }
        println!("{}: fold off by {worst:.1e} rad", integrator.name());
        assert!(worst < 1e-3, "{}: {worst} rad", integrator.name());
    }
}

#[test]
fn a_fold_springs_back_to_its_angle() {
    let mut app = app();
    app.insert_resource(PliantGravity(Vec3::ZERO));
    let body = app
        .world_mut()
        .spawn((Cloth::new(folded()).without_wrinkles(), Fabric::LEATHER))
        .id();
    ticks(&mut app, 1);
    // Opened by 30°: the standing half turns about the fold.
    let (sine, cosine) = (30.0 as Real).to_radians().sin_cos();
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    let fold = particles
        .positions
        .iter()
        .fold(Real::NEG_INFINITY, |most, place| most.max(place.x));
    let floor = particles
        .positions
        .iter()
        .fold(Real::INFINITY, |least, place| least.min(place.y));
    for place in &mut particles.positions {
        let (across, up) = (place.x - fold, place.y - floor);
        if up > 1e-3 {
            (place.x, place.y) = (
                fold + cosine * across + sine * up,
                floor - sine * across + cosine * up,
            );
        }
    }
    let opened = fold_error(&app, body)[1].to_degrees();
    assert!((opened - 60.0).abs() < 1.0, "{opened}°");
    ticks(&mut app, 600);
    let [worst, mean] = fold_error(&app, body);
    println!(
        "fold at {:.2}°, off by {worst:.1e} rad at most",
        mean.to_degrees()
    );
    assert!(worst < 1e-3, "{worst} rad");
}
