//! Parry's shapes against brute force: no cast misses, distances and normals agree. What the bridge says and refuses.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::parry::math::{Pose, Vector};
use bevy_rapier3d::parry::shape::SharedShape;
use bevy_rapier3d::plugin::TimestepMode;
use bevy_rapier3d::plugin::context::{RapierContextColliders, RapierRigidBodySet};
use bevy_rapier3d::rapier::geometry::ColliderBuilder;
use nalgebra::Vector3;

use super::{ParryShape, advice_on_time_steps, read_colliders};
use crate::Real;
use crate::colliders::{ColliderShape, RigidColliders};

const TICK: Duration = Duration::from_micros(15_625);

#[test]
fn a_rapier_out_of_step_is_told_what_to_type() {
    let fixed = |dt: f32| TimestepMode::Fixed { dt, substeps: 1 };
    assert_eq!(advice_on_time_steps(false, &fixed(1.0 / 64.0), TICK), None);

    let slow = advice_on_time_steps(false, &fixed(1.0 / 60.0), TICK).expect("another step");
    assert!(
        slow.contains("TimestepMode::Fixed { dt: 1.0 / 64, substeps: 1 }"),
        "{slow}"
    );
    assert!(slow.contains("in_fixed_schedule()"), "{slow}");
    assert!(!slow.contains("once per frame"), "{slow}");

    let variable = TimestepMode::Variable {
        max_dt: 1.0 / 60.0,
        time_scale: 1.0,
        substeps: 1,
    };
    let varies = advice_on_time_steps(false, &variable, TICK).expect("a step that varies");
    assert!(varies.contains("Variable"), "{varies}");

    let per_frame = advice_on_time_steps(true, &fixed(1.0 / 64.0), TICK).expect("another schedule");
    assert!(per_frame.contains("(once per frame, Fixed"), "{per_frame}");
}

#[test]
fn a_collider_whose_pose_is_not_a_number_is_left_out() {
    let mut world = World::new();
    world.init_resource::<Time>();
    world.init_resource::<RigidColliders>();
    let mut colliders = RapierContextColliders::default();
    for (entity, height) in [(1, 0.5), (2, f32::NAN), (3, f32::INFINITY), (4, -0.5)] {
        let collider = ColliderBuilder::ball(0.5)
            .translation(Vector::new(0.0, height, 0.0))
            .user_data(u128::from(
                Entity::from_raw_u32(entity).expect("an index").to_bits(),
            ));
        colliders.colliders.insert(collider);
    }
    world.spawn((colliders, RapierRigidBodySet::default()));
    for _ in 0..2 {
        world
            .run_system_cached(read_colliders)
            .expect("colliders are read");
        let heights: Vec<Real> = world
            .resource::<RigidColliders>()
            .colliders
            .iter()
            .map(|collider| collider.end_pose.translation.y)
            .collect();
        assert_eq!(heights, [0.5, -0.5]);
    }
}

/// Numbers between −1 and 1 from a small congruential generator, so that cases repeat.
fn numbers(seed: u64) -> impl FnMut() -> Real {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0) as Real
    }
}

fn solids() -> Vec<(&'static str, SharedShape)> {
    let corners: Vec<Vector> = (0..8)
        .map(|i| {
            Vector::new(
                (i & 1) as f32 * 1.2 - 0.6,
                (i >> 1 & 1) as f32 * 0.002,
                (i >> 2) as f32 - 0.5,
            )
        })
        .collect();
    let gem: Vec<Vector> = (0..12)
        .map(|i| {
            let angle = i as f32 * 2.4;
            Vector::new(angle.cos() * 0.5, i as f32 * 0.07 - 0.4, angle.sin() * 0.6)
        })
        .collect();
    vec![
        ("ball", SharedShape::ball(0.5)),
        ("cuboid", SharedShape::cuboid(0.6, 0.0005, 0.4)),
        ("capsule", SharedShape::capsule_y(0.4, 0.2)),
        ("cylinder", SharedShape::cylinder(0.0005, 0.6)),
        ("cone", SharedShape::cone(0.3, 0.5)),
        (
            "plate hull",
            SharedShape::convex_hull(&corners).expect("a hull"),
        ),
        ("gem hull", SharedShape::convex_hull(&gem).expect("a hull")),
        (
            "rounded cuboid",
            SharedShape::round_cuboid(0.4, 0.2, 0.3, 0.1),
        ),
        (
            "rounded cylinder",
            SharedShape::round_cylinder(0.2, 0.3, 0.1),
        ),
        ("rounded cone", SharedShape::round_cone(0.2, 0.3, 0.1)),
        (
            "compound",
            SharedShape::compound(vec![
                (
                    Pose::from_translation(Vector::new(-0.4, 0.0, 0.0)),
                    SharedShape::cuboid(0.2, 0.2, 0.2),
                ),
                (
                    Pose::new(Vector::new(0.4, 0.0, 0.0), Vector::new(0.0, 0.0, 0.7)),
                    SharedShape::ball(0.3),
                ),
            ]),
        ),
    ]
}

#[test]
fn casts_enter_solids_where_the_distance_vanishes() {
    for (name, shape) in solids() {
        let shape = ParryShape(shape);
        let mut next = numbers(11);
        let mut hits = 0;
        for case in 0..4000 {
            let mut vector = || Vector3::new(next(), next(), next());
            let (from, to) = (vector() * 1.5, vector() * 1.5);
            let start = shape.project(&from);
            if start.distance < 1e-3 {
                continue;
            }
            let samples: Vec<Real> = (0..=400).map(|i| i as Real / 400.0).collect();
            let inside = samples
                .iter()
                .find(|&&s| shape.project(&from.lerp(&to, s)).distance < -1e-5);
            let hit = shape.cast(&from, &to);
            if let Some(inside) = inside {
                let hit =
                    hit.unwrap_or_else(|| panic!("{name} {case}: missed from {from} to {to}"));
                assert!(hit.fraction <= inside + 1e-4, "{name} {case}: late");
            }
            if let Some(hit) = hit {
                hits += 1;
                let there = shape.project(&from.lerp(&to, hit.fraction));
                assert!(
                    there.distance.abs() < 1e-5,
                    "{name} {case}: hit {} m away",
                    there.distance
                );
                assert!((hit.normal.norm() - 1.0).abs() < 1e-5, "{name} {case}");
                assert!(
                    hit.normal.dot(&(to - from)) < 0.0,
                    "{name} {case}: normal looks along the path"
                );
            }
        }
        assert!(hits > 20, "{name}: only {hits} hits");
    }
}

#[test]
fn distance_grows_one_for_one_along_the_normal() {
    // Between the parts of a compound it need not.
    for (name, shape) in solids().into_iter().filter(|(name, _)| *name != "compound") {
        let shape = ParryShape(shape);
        let mut next = numbers(5);
        for case in 0..2000 {
            let point = Vector3::new(next(), next(), next());
            let here = shape.project(&point);
            if here.distance < 0.0 {
                continue;
            }
            let there = shape.project(&(point + here.normal * 0.1));
            assert!(
                (there.distance - here.distance - 0.1).abs() < 1e-4,
                "{name} {case}"
            );
            assert!(
                (point - here.normal * here.distance - here.point).norm() < 1e-4,
                "{name} {case}"
            );
        }
    }
}

/// A wall in the plane x = 0 of many triangles, with corners that are not round numbers.
fn wall() -> ParryShape {
    let count = 24;
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..=count {
        for j in 0..=count {
            points.push(Vector::new(
                0.0,
                i as f32 * 0.0873 - 1.0,
                j as f32 * 0.0891 - 1.0,
            ));
        }
    }
    let at = |i: u32, j: u32| i * (count + 1) + j;
    for i in 0..count {
        for j in 0..count {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    ParryShape(SharedShape::trimesh(points, triangles).expect("a mesh"))
}

#[test]
fn nothing_slips_between_triangles() {
    let wall = wall();
    let mut next = numbers(3);
    for case in 0..40_000u32 {
        // Aim at corners and at points of edges, the weak spots, from anywhere.
        let (i, j) = ((1 + case % 23) as f32, (1 + (case / 23) % 23) as f32);
        let along = if case % 3 == 0 {
            0.0
        } else {
            next().abs() as f32
        };
        let target = Vector3::new(0.0, (i + along) * 0.0873 - 1.0, (j + along) * 0.0891 - 1.0)
            .map(|x| x as Real);
        let from = target + Vector3::new(0.01 + next().abs() * 3.0, next(), next());
        let to = target + (target - from) * (0.2 + next().abs());
        for (from, to) in [(from, to), (to, from)] {
            let hit = wall
                .cast(&from, &to)
                .unwrap_or_else(|| panic!("{case}: slipped from {from} to {to}"));
            assert!(
                hit.normal.x * from.x > 0.0,
                "{case}: normal on the wrong side"
            );
            assert!(hit.point.x.abs() < 1e-5, "{case}");
        }
    }
}

#[test]
fn meshes_have_two_sides() {
    let wall = wall();
    assert!(!wall.is_solid());
    for side in [1.0, -1.0] {
        let nearest = wall
            .project_within(&Vector3::new(side * 5e-4, 0.123, -0.077), 1e-3)
            .expect("in reach");
        assert_eq!(nearest.normal, Vector3::x() * side);
        assert!((nearest.distance - 5e-4).abs() < 1e-7);
    }
    assert!(
        wall.project_within(&Vector3::new(2e-3, 0.1, 0.1), 1e-3)
            .is_none()
    );
    assert!((wall.project(&Vector3::new(0.7, 0.1, 0.1)).distance - 0.7).abs() < 1e-6);
}

#[test]
fn height_fields_are_closed() {
    use bevy_rapier3d::parry::utils::Array2;
    let heights: Vec<f32> = (0..64).map(|i| ((i * 37) % 11) as f32 * 0.03).collect();
    let field = ParryShape(SharedShape::heightfield(
        Array2::new(8, 8, heights),
        Vector::new(3.3, 1.0, 2.9),
    ));
    let mut next = numbers(9);
    for case in 0..20_000u32 {
        // Cell corners every other time.
        let (x, z) = if case % 2 == 0 {
            (
                ((case / 2) % 6 + 1) as Real / 7.0 - 0.5,
                ((case / 12) % 6 + 1) as Real / 7.0 - 0.5,
            )
        } else {
            (next() * 0.49, next() * 0.49)
        };
        let above = Vector3::new(x * 3.3, 1.0 + next().abs(), z * 2.9);
        let below = Vector3::new(x * 3.3, -1.0, z * 2.9);
        let hit = field
            .cast(&above, &below)
            .unwrap_or_else(|| panic!("{case}: slipped at {above}"));
        assert!(hit.normal.y > 0.0);
        assert!(field.project(&hit.point).distance < 1e-5);
        assert!(
            field
                .cast(&below, &above)
                .is_some_and(|hit| hit.normal.y < 0.0),
            "{case}"
        );
    }
}

#[test]
fn half_space_is_what_its_normal_says() {
    let shape = ParryShape(SharedShape::halfspace(Vector::new(0.6, 0.8, 0.0)));
    assert!((shape.project(&Vector3::new(0.6, 0.8, 3.0)).distance - 1.0).abs() < 1e-6);
    let hit = shape
        .cast(&Vector3::new(0.6, 0.8, 0.0), &Vector3::new(-0.6, -0.8, 0.0))
        .expect("a hit");
    assert!((hit.fraction - 0.5).abs() < 1e-6);
    assert!(!shape.local_bounds().is_bounded());
}
