use super::super::checks::KINDS;
use super::super::nearest_face::nearest_face;
use super::*;
use crate::kernel::testing::Random;
use approx::assert_relative_eq;

/// Features that have crossed by up to a tenth of their size, with anchors that were together before.
fn drawn(kind: PairKind, random: &mut Random) -> (ContactSpring<f64>, [Vector3<f64>; 4]) {
    loop {
        let vertices: [Vector3<f64>; 4] = [0; 4].map(|_| random.vector(1.0));
        let closest = kind.closest_points(&vertices);
        let interior = closest.weights.iter().all(|weight| weight.abs() > 0.05);
        if !interior || closest.distance() < 1e-3 {
            continue;
        }
        let mut spring = ContactSpring {
            kind,
            weights: closest.weights,
            side: 1.0,
        };
        if spring.gap(&vertices) > 0.0 {
            spring.side = -1.0;
        }
        let mut moved = vertices;
        for vertex in 0..kind.first_count() {
            moved[vertex] += random.vector(0.3);
        }
        if spring.gap(&moved) < -1e-3 {
            return (spring, moved);
        }
    }
}

const STICKY: SpringLaw<f64> = SpringLaw {
    stiffness: 40.0,
    friction: f64::INFINITY,
};

#[test]
fn force_is_minus_the_gradient_of_the_energy_while_it_sticks() {
    let mut random = Random::new(761);
    for kind in KINDS {
        for _ in 0..500 {
            let (spring, vertices) = drawn(kind, &mut random);
            let forces = spring.forces(&vertices, &STICKY);
            for vertex in 0..4 {
                for axis in 0..3 {
                    let energy = |step: f64| {
                        let mut moved = vertices;
                        moved[vertex][axis] += step;
                        spring.energy(&moved, &STICKY)
                    };
                    let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
                    assert!((forces[vertex][axis] + slope).abs() < 1e-7);
                }
            }
        }
    }
}

#[test]
fn sliding_brings_the_pull_into_the_cone_and_keeps_both_momenta() {
    let mut random = Random::new(762);
    let mut slid_count = 0;
    for kind in KINDS {
        for _ in 0..2000 {
            let (spring, vertices) = drawn(kind, &mut random);
            let law = SpringLaw {
                stiffness: 40.0,
                friction: random.between(0.0, 1.5),
            };
            let slid = spring.slid(&vertices, law.friction);
            slid_count += usize::from(slid != spring);
            // Anchors stay on their features, and the gap is that of the features.
            let sums = slid.weights.split_at(kind.first_count());
            assert_relative_eq!(sums.0.iter().sum::<f64>(), 1.0, epsilon = 1e-12);
            assert_relative_eq!(sums.1.iter().sum::<f64>(), -1.0, epsilon = 1e-12);
            let gap = slid.gap(&vertices);
            assert_relative_eq!(gap, spring.gap(&vertices), epsilon = 1e-12);
            let normal = slid.normal(&vertices);
            let extension = slid.extension(&vertices);
            let across = (extension - normal * gap).norm();
            assert!(across <= -law.friction * gap + 1e-12);
            let forces = slid.forces(&vertices, &law);
            let sum: Vector3<f64> = forces.iter().sum();
            let torque: Vector3<f64> = (0..4).map(|i| vertices[i].cross(&forces[i])).sum();
            assert!(sum.norm() < 1e-12, "{sum}");
            assert!(torque.norm() < 1e-11, "{torque}");
            assert!(slid.energy(&vertices, &law) <= spring.energy(&vertices, &STICKY) + 1e-12);
            // The force along the normal, and its size, do not depend on whether the anchors have slid yet.
            let before = spring.forces(&vertices, &law);
            for vertex in 0..kind.first_count() {
                let (a, b) = (
                    forces[vertex] / slid.weights[vertex],
                    before[vertex] / spring.weights[vertex],
                );
                assert!((a - b).norm() < 1e-9, "{a} {b}");
            }
        }
    }
    assert!(slid_count > 500, "{slid_count}");
}

/// A vertex that rests on a slope with the normal part of its spring in balance: it holds below the angle of friction,
/// and slides beyond it as a body does, with g (sin θ − μ cos θ). The source's own spring holds at any angle.
#[test]
fn vertex_slides_down_a_slope_beyond_the_angle_of_friction() {
    let (gravity, mass, stiffness, step) = (9.81, 0.1, 2000.0, 1e-4);
    let slope: f64 = 0.5;
    let run = |friction: f64, tension: f64| {
        let law = SpringLaw {
            stiffness,
            friction,
        };
        let face = [
            Vector3::new(-50.0, 0.0, -50.0),
            Vector3::new(-50.0, 0.0, 50.0),
            Vector3::new(90.0, 0.0, 0.0),
        ];
        let sink = mass * gravity * slope.cos() / stiffness;
        let mut vertices = [Vector3::new(0.0, -sink, 0.0), face[0], face[1], face[2]];
        // The anchor behind by the tension, as a share of the sink.
        let anchor = Vector3::new(-tension * sink, 0.0, 0.0);
        let foot = super::super::coordinates::face_coordinates(&face, &anchor);
        let mut spring = ContactSpring {
            kind: PairKind::VertexFace,
            weights: [1.0, -foot[0], -foot[1], -foot[2]],
            side: 1.0,
        };
        let pull = Vector3::new(slope.sin(), -slope.cos(), 0.0) * (mass * gravity);
        let mut velocity = Vector3::zeros();
        for _ in 0..5000 {
            spring = spring.slid(&vertices, friction);
            assert!(!spring.is_over(&vertices, 1e-6));
            let force = spring.forces(&vertices, &law)[0] + pull;
            velocity += force * (step / mass);
            vertices[0] += velocity * step;
        }
        vertices[0].x
    };
    let duration: f64 = 0.5;
    for friction in [0.0, 0.2, 0.4] {
        let acceleration = gravity * (slope.sin() - friction * slope.cos());
        let expected = 0.5 * acceleration * duration * duration;
        // At the limit from the start, the force is constant. The last of 5000 steps counts twice: 2e-4.
        let found = run(friction, friction);
        assert_relative_eq!(found, expected, max_relative = 2.1e-4);
    }
    // tan 0.5 = 0.546; started without tension, it swings to twice its balance and needs twice the friction.
    for friction in [1.1, f64::INFINITY] {
        let found = run(friction, 0.0);
        assert!(found.abs() < 1e-3, "{found}");
    }
}

/// The source's case: a vertex enters a wedge through one face and comes out through the other, below the plane of the
/// first. Its own rule never lets go; the nearest face does.
#[test]
fn vertex_that_leaves_through_the_next_face_is_let_go() {
    let (top, left, right) = (
        Vector3::new(0.0, 1.0, 0.0),
        Vector3::new(-1.0, 0.0, 0.0),
        Vector3::new(1.0, 0.0, 0.0),
    );
    let back = Vector3::new(0.0, 0.0, -5.0);
    let corner = |point: Vector3<f64>| [point + back, point - back];
    let ([l0, l1], [t0, t1], [r0, r1]) = (corner(left), corner(top), corner(right));
    // Two faces on each flank, normals outward.
    let faces = [[l0, l1, t1], [l0, t1, t0], [t0, t1, r1], [t0, r1, r0]];
    let outward = |face: &[Vector3<f64>; 3]| (face[1] - face[0]).cross(&(face[2] - face[0])).x;
    assert!(outward(&faces[0]) < 0.0 && outward(&faces[2]) > 0.0);

    let path = |share: f64| Vector3::new(-1.2 + 2.4 * share, 0.6, 0.1);
    let first = faces[0];
    let at = |vertex: Vector3<f64>, face: [Vector3<f64>; 3]| [vertex, face[0], face[1], face[2]];
    let entered = nearest_face(&path(0.35), faces).unwrap();
    assert!(entered.signed_distance < 0.0);
    let start = faces[entered.face];
    let mut spring = ContactSpring {
        kind: PairKind::VertexFace,
        weights: entered.weights,
        side: 1.0,
    };
    let (mut face, mut pushes) = (start, Vec::new());
    let law = SpringLaw {
        stiffness: 10.0,
        friction: 0.3,
    };
    let mut released = None;
    for step in 35..=100 {
        let share = f64::from(step) / 100.0;
        let vertex = path(share);
        spring = spring.slid(&at(vertex, face), law.friction);
        let nearest = nearest_face(&vertex, faces).unwrap();
        if faces[nearest.face] != face {
            spring = spring.moved_to(&at(vertex, face), &faces[nearest.face]);
            face = faces[nearest.face];
            spring = spring.slid(&at(vertex, face), law.friction);
        }
        if spring.is_over(&at(vertex, face), 1e-9) {
            released = Some(share);
            break;
        }
        pushes.push(spring.forces(&at(vertex, face), &law)[0].x);
    }
    // Out at x = 0.4; pushed back to the left first, and out to the right in the end.
    let released = released.expect("released");
    assert!((released - 0.67).abs() < 0.015, "{released}");
    assert!(pushes[0] < 0.0 && *pushes.last().unwrap() > 0.0);
    // The plane of the face it came in by would hold it long after.
    let printed = ContactSpring {
        kind: PairKind::VertexFace,
        weights: entered.weights,
        side: 1.0,
    };
    assert!(!printed.is_over(&at(path(1.0), first), 1e-9));
}

#[test]
fn edges_that_slip_off_each_other_are_let_go() {
    let vertices = |x: f64, y: f64| {
        [
            Vector3::new(x - 1.0, y, 0.0),
            Vector3::new(x + 1.0, y, 0.0),
            Vector3::new(0.0, 0.0, -1.0),
            Vector3::new(0.0, 0.0, 1.0),
        ]
    };
    let kind = PairKind::EdgeEdge;
    let mut spring = ContactSpring {
        kind,
        weights: kind.closest_points(&vertices(0.0, 0.1)).weights,
        side: 1.0,
    };
    if spring.gap(&vertices(0.0, 0.1)) < 0.0 {
        spring.side = -1.0;
    }
    assert!(spring.is_over(&vertices(0.0, 0.1), 1e-3));
    assert!(!spring.is_over(&vertices(0.0, -0.1), 1e-3));
    assert!(!spring.is_over(&vertices(0.9, -0.1), 1e-3));
    assert!(spring.is_over(&vertices(1.1, -0.1), 1e-3));
    let forces = spring.forces(&vertices(0.0, -0.1), &STICKY);
    assert_relative_eq!(forces[0].y, 2.0, epsilon = 1e-12);
    assert_relative_eq!(forces[2].y, -2.0, epsilon = 1e-12);
}

#[test]
fn open_parallel_and_broken_pairs_pull_nothing() {
    let mut random = Random::new(763);
    for kind in KINDS {
        let (mut spring, vertices) = drawn(kind, &mut random);
        let none = [Vector3::zeros(); 4];
        spring.side = -spring.side;
        assert_eq!(spring.forces(&vertices, &STICKY), none);
        assert_eq!(spring.energy(&vertices, &STICKY), 0.0);
        let bad = [Vector3::repeat(f64::NAN); 4];
        assert_eq!(spring.forces(&bad, &STICKY), none);
        assert!(spring.is_over(&bad, 1e-3));
        assert_eq!(spring.slid(&bad, 0.5), spring);
    }
    let line = [
        Vector3::zeros(),
        Vector3::x(),
        Vector3::new(0.0, 0.1, 0.0),
        Vector3::new(1.0, 0.1, 0.0),
    ];
    let spring = ContactSpring {
        kind: PairKind::EdgeEdge,
        weights: [0.5_f32, 0.5, -0.5, -0.5],
        side: 1.0,
    };
    let single = line.map(|point: Vector3<f64>| point.cast::<f32>());
    let law = SpringLaw {
        stiffness: 1.0,
        friction: 1.0,
    };
    assert_eq!(spring.forces(&single, &law), [Vector3::zeros(); 4]);
}
