//! Culling against tests of all pairs, on patches that are flat, wavy, rolled up, wound round, and moving.

use nalgebra::Vector3;

use super::*;
use crate::kernel::scalar::Single;
use crate::kernel::testing::{Patch, Random, grid};

fn corners<T: Single>(positions: &[Vector3<T>], triangle: [u32; 3]) -> [Vector3<T>; 3] {
    triangle.map(|vertex| positions[vertex as usize])
}

/// Whether a segment goes through a triangle, by more than rounding: in a plane, signs are chance.
fn pierces(from: &Vector3<f64>, to: &Vector3<f64>, [a, b, c]: &[Vector3<f64>; 3]) -> bool {
    let side = |p: &Vector3<f64>, q: &Vector3<f64>, r: &Vector3<f64>, s: &Vector3<f64>| {
        (q - p).dot(&(r - p).cross(&(s - p)))
    };
    let least = 1e-12;
    let heights = [side(a, b, c, from), side(a, b, c, to)];
    let crosses = heights[0] * heights[1] < 0.0 && heights.iter().all(|h| h.abs() > least);
    let turns = [
        side(from, to, a, b),
        side(from, to, b, c),
        side(from, to, c, a),
    ];
    crosses && (turns.iter().all(|&t| t > least) || turns.iter().all(|&t| t < -least))
}

/// Whether any two triangles meet, by trying all edges against all triangles without a common vertex.
fn meets_itself(positions: &[Vector3<f64>], triangles: &[[u32; 3]]) -> bool {
    triangles.iter().any(|first| {
        (0..3).any(|i| {
            let [a, b] = [first[i], first[(i + 1) % 3]];
            let [from, to] = [a, b].map(|vertex| positions[vertex as usize]);
            triangles
                .iter()
                .filter(|second| !second.contains(&a) && !second.contains(&b))
                .any(|second| pierces(&from, &to, &corners(positions, *second)))
        })
    })
}

/// The cone of a patch, by halves as in a tree.
fn cone_of<T: Single>(
    start: &[Vector3<T>],
    end: &[Vector3<T>],
    triangles: &[[u32; 3]],
) -> NormalCone<T> {
    match triangles {
        [] => NormalCone::everything(),
        [one] => NormalCone::of_moving_triangle(&corners(start, *one), &corners(end, *one)),
        _ => {
            let (first, second) = triangles.split_at(triangles.len() / 2);
            cone_of(start, end, first).merged(&cone_of(start, end, second))
        }
    }
}

/// What the two tests say of a patch that moves: (no folds, and a simple contour).
fn verdict<T: Single>(
    start: &[Vector3<T>],
    end: &[Vector3<T>],
    triangles: &[[u32; 3]],
) -> (bool, bool) {
    let mut edges = Vec::new();
    assert!(boundary_edges(triangles, &mut edges));
    let cone = cone_of(start, end, triangles);
    (
        cone.excludes_folds(),
        contour_is_simple(start, end, &edges, &cone.axis),
    )
}

/// A patch of one of several kinds, turned at random.
fn drawn(random: &mut Random, kind: usize) -> Patch {
    let (n, m) = (
        random.between(2.0, 8.0) as u32,
        random.between(2.0, 8.0) as u32,
    );
    let wave = [0; 3].map(|_| random.between(0.0, 4.0));
    let height = random.between(0.0, 0.5);
    let angle = random.between(0.5, 9.0);
    let sideways = random.between(0.0, 0.6);
    let turn = random.rotation();
    let roughness = [0.0, 0.02, 0.1, 0.2][random.between(0.0, 4.0) as usize];
    let mut patch = grid(n, m, |x, y| {
        let ripple = height * (wave[0] * x + wave[1] * y + wave[2]).sin();
        match kind {
            // A height field.
            0 => Vector3::new(x, y, ripple),
            // One whose edges bend in its plane.
            1 => {
                let bend = sideways * (wave[0] * 3.0 * y).sin();
                Vector3::new(x + bend, y, ripple)
            }
            // Rolled up about an axis that leans.
            2 => {
                let phase = angle * x;
                let radius = 0.3 + sideways * 0.2 * x;
                Vector3::new(radius * phase.cos(), y + ripple, radius * phase.sin())
            }
            // A ramp that winds up and down again.
            _ => {
                let phase = 1.5 * angle * x;
                let radius = 0.4 + 0.6 * y;
                let climb = 0.2 * height * (wave[0] * phase).sin();
                Vector3::new(radius * phase.cos(), radius * phase.sin(), climb)
            }
        }
    });
    for position in &mut patch.positions {
        *position = turn * (*position + random.vector(roughness));
    }
    patch
}

#[test]
fn culled_patches_never_meet_themselves() {
    let mut random = Random::new(851);
    let (mut culled, mut meeting, mut fooled) = ([0; 4], [0; 4], 0);
    for case in 0..4000 {
        let kind = case % 4;
        let patch = drawn(&mut random, kind);
        let (positions, triangles) = (&patch.positions, &patch.triangles);
        let (no_folds, simple) = verdict(positions, positions, triangles);
        let meets = meets_itself(positions, triangles);
        assert!(!(no_folds && simple && meets), "case {case} is missed");
        culled[kind] += usize::from(no_folds && simple);
        meeting[kind] += usize::from(meets);
        fooled += usize::from(no_folds && meets);
        // Single precision is as safe.
        let single: Vec<_> = positions.iter().map(|x| x.cast::<f32>()).collect();
        let (no_folds, simple) = verdict(&single, &single, triangles);
        let stored: Vec<_> = single.iter().map(|x| x.cast::<f64>()).collect();
        assert!(!(no_folds && simple && meets_itself(&stored, triangles)));
    }
    println!("of 1000 each: culled {culled:?}, meeting {meeting:?}; cones alone miss {fooled}");
    assert!(culled[0] > 300 && culled[1] > 100 && culled[2] > 50);
    assert!(meeting.iter().sum::<usize>() > 800 && fooled > 20);
}

/// Linear motion over a step, with every moment looked at.
#[test]
fn culled_motions_never_meet_themselves() {
    let mut random = Random::new(852);
    let (mut culled, mut meeting) = (0, 0);
    for case in 0..1000 {
        let patch = drawn(&mut random, case % 3);
        let size = 10f64.powf(random.between(-3.0, -0.3));
        let (turn, shift) = (random.vector(size), random.vector(1.0));
        let end: Vec<_> = patch
            .positions
            .iter()
            .map(|x| x + shift + turn.cross(x) + random.vector(0.3 * size))
            .collect();
        let (no_folds, simple) = verdict(&patch.positions, &end, &patch.triangles);
        let meets = (0..=24).any(|moment| {
            let time = f64::from(moment) / 24.0;
            let pairs = patch.positions.iter().zip(&end);
            let now: Vec<_> = pairs.map(|(a, b)| a + (b - a) * time).collect();
            meets_itself(&now, &patch.triangles)
        });
        assert!(!(no_folds && simple && meets), "case {case} is missed");
        culled += usize::from(no_folds && simple);
        meeting += usize::from(meets);
    }
    println!("of 1000 moving: culled {culled}, meeting {meeting}");
    assert!(culled > 300 && meeting > 300);
}

/// A ramp that winds round twice within a cone of a few degrees, and crosses itself on the way back down.
#[test]
fn spiral_ramp_fools_the_cone_but_not_the_contour() {
    let ramp = |turns: f64| {
        let full = turns * std::f64::consts::TAU;
        grid(40, 2, |x, y| {
            let (radius, phase) = (0.5 + 0.5 * y, full * x);
            // Over the second turn, the height of the first with the opposite sign.
            let height = 0.05 * (0.5 * phase).cos();
            Vector3::new(radius * phase.cos(), radius * phase.sin(), height)
        })
    };
    let twice = ramp(1.9);
    assert!(meets_itself(&twice.positions, &twice.triangles));
    let cone = cone_of(&twice.positions, &twice.positions, &twice.triangles);
    assert!(cone.half_angle < 0.2, "{}", cone.half_angle);
    assert_eq!(
        verdict(&twice.positions, &twice.positions, &twice.triangles),
        (true, false)
    );
    // Nearly a whole turn does not come back over itself.
    let once = ramp(0.95);
    assert_eq!(
        verdict(&once.positions, &once.positions, &once.triangles),
        (true, true)
    );
}

#[test]
fn loops_wind_as_those_of_a_graph() {
    let square = |size: f64, height: f64| {
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
            .map(|[x, y]: [f64; 2]| Vector3::new(x * size, y * size, height))
    };
    let positions: Vec<_> = square(2.0, 0.0)
        .into_iter()
        .chain(square(1.0, 0.1))
        .collect();
    let outer = [[0, 1], [1, 2], [2, 3], [3, 0]];
    let hole = [[4, 7], [7, 6], [6, 5], [5, 4]];
    let above = [[4, 5], [5, 6], [6, 7], [7, 4]];
    let test = |edges: &[[u32; 2]], axis: Vector3<f64>| {
        contour_is_simple(&positions, &positions, edges, &axis)
    };
    let up = Vector3::z();
    assert!(test(&outer, up));
    assert!(test(&[outer, hole].concat(), up));
    // A sheet above another has simple loops too, but two of them wind round the inner square.
    assert!(!test(&[outer, above].concat(), up));
    assert!(!test(&outer, -up));
    assert!(test(&hole, -up));
    assert!(!test(&outer, Vector3::x()), "seen edge-on");
    // In another order, open, empty, missing, crossed, without direction.
    assert!(!test(&[[0, 1], [2, 3], [1, 2], [3, 0]], up));
    assert!(!test(&outer[..3], up));
    assert!(!test(&[], up));
    assert!(!test(&[[0, 1], [1, 9], [9, 0]], up));
    assert!(!test(&[[0, 1], [1, 3], [3, 2], [2, 0]], up));
    assert!(!test(&outer, Vector3::zeros()));
    assert!(!test(&outer, Vector3::repeat(f64::NAN)));
    // An edge that turns back over the one before it, at the start or in between.
    let mut spike = positions.clone();
    spike[1] = Vector3::new(9.0, -2.0, 0.0);
    spike[2] = Vector3::new(2.0, -2.0, 0.0);
    assert!(!contour_is_simple(&spike, &spike, &outer, &up));
    let mut flipped = positions.clone();
    flipped[1] = Vector3::new(-9.0, 9.0, 0.0);
    assert!(!contour_is_simple(&positions, &flipped, &outer, &up));
    // A hole that moves over the rim: apart in the beginning, and again in the end.
    let moved = |shift: f64| -> Vec<_> {
        let shifts = (0..8).map(|i| if i < 4 { 0.0 } else { shift });
        let pairs = positions.iter().zip(shifts);
        pairs.map(|(x, shift)| x + Vector3::x() * shift).collect()
    };
    let ring = [outer, hole].concat();
    assert!(contour_is_simple(&positions, &moved(0.9), &ring, &up));
    for shift in [1.5, 9.0] {
        assert!(!contour_is_simple(&positions, &moved(shift), &ring, &up));
    }
    let mut broken = positions.clone();
    broken[2] = Vector3::repeat(f64::NAN);
    assert!(!contour_is_simple(&positions, &broken, &outer, &up));
}

fn directions_at_the_rim<T: Single>(
    cone: &NormalCone<T>,
    random: &mut Random,
) -> Vec<Vector3<f64>> {
    let axis = cone.axis.map(crate::kernel::energy::widened);
    let angle = crate::kernel::energy::widened(cone.half_angle);
    (0..8)
        .filter_map(|_| {
            let side = random.vector(1.0).cross(&axis).try_normalize(0.3)?;
            Some(axis * angle.cos() + side * angle.sin())
        })
        .collect()
}

fn check_merging<T: Single>(random: &mut Random, rounding: f64) {
    let (mut kept, mut made, mut everything) = (0, 0, 0);
    for _ in 0..5000 {
        let close = random.uniform() > 0.0;
        let first = random.vector(1.0).normalize();
        let second = if close {
            first + random.vector(0.3)
        } else {
            random.vector(1.0)
        };
        let cones = [first, second].map(|axis| {
            let half_angle = random.between(-0.3, 1.2).max(0.0);
            NormalCone::<T>::of_direction(
                &axis.map(nalgebra::convert),
                nalgebra::convert(half_angle),
            )
        });
        let parent = cones[0].merged(&cones[1]);
        if !parent.excludes_folds() {
            everything += 1;
            assert!(parent.contains(&Vector3::x()) && parent.contains(&-Vector3::x()));
            continue;
        }
        if cones.contains(&parent) {
            kept += 1;
        } else {
            made += 1;
        }
        let axis = parent.axis.map(crate::kernel::energy::widened);
        let half_angle = crate::kernel::energy::widened(parent.half_angle);
        let mut widest: f64 = 0.0;
        for cone in &cones {
            assert!(parent.contains(&cone.axis));
            for direction in directions_at_the_rim(cone, random) {
                let angle = axis.cross(&direction).norm().atan2(axis.dot(&direction));
                assert!(angle <= half_angle + rounding, "{angle} {half_angle}");
                widest = widest.max(angle);
            }
        }
        // Not wider than the source's cone around the mean axis.
        let angles = cones.map(|cone| crate::kernel::energy::widened(cone.half_angle));
        let axes = cones.map(|cone| cone.axis.map(crate::kernel::energy::widened));
        let between = axes[0].cross(&axes[1]).norm().atan2(axes[0].dot(&axes[1]));
        assert!(half_angle <= 0.5 * between + angles[0].max(angles[1]) + rounding);
    }
    assert!(
        kept > 300 && made > 300 && everything > 300,
        "{kept} {made} {everything}"
    );
}

#[test]
fn parent_contains_its_children_and_is_the_narrowest() {
    check_merging::<f64>(&mut Random::new(853), 2e-15);
    check_merging::<f32>(&mut Random::new(854), 2e-6);
    let cone = |axis: Vector3<f64>, angle: f64| NormalCone::of_direction(&axis, angle);
    let merged = cone(Vector3::x(), 0.1).merged(&cone(Vector3::new(0.6, 0.8, 0.0), 0.3));
    let between = 0.8_f64.atan2(0.6);
    assert!((merged.half_angle - 0.5 * (0.4 + between)).abs() < 1e-14);
    let wide = cone(Vector3::x(), 1.0);
    assert_eq!(wide.merged(&cone(Vector3::new(1.0, 0.2, 0.0), 0.3)), wide);
    assert!(
        !cone(Vector3::x(), 0.0)
            .merged(&cone(-Vector3::x(), 0.0))
            .excludes_folds()
    );
    for nothing in [
        Vector3::zeros(),
        Vector3::repeat(f64::NAN),
        Vector3::repeat(f64::INFINITY),
    ] {
        assert_eq!(cone(nothing, 0.0), NormalCone::everything());
        assert!(!cone(Vector3::x(), 0.1).contains(&nothing));
    }
    assert_eq!(cone(Vector3::x(), f64::NAN), NormalCone::everything());
}

/// The normal at every moment is in the cone, in both precisions. The normals at both ends and in the middle alone would
/// not do.
#[test]
fn moving_triangles_stay_in_their_cones() {
    let mut random = Random::new(855);
    let (mut narrow, mut missed) = (0, 0);
    for _ in 0..3000 {
        let start: [Vector3<f64>; 3] = [0; 3].map(|_| random.vector(1.0));
        let size = 10f64.powf(random.between(-2.0, 0.3));
        let end = start.map(|x| x + random.vector(size));
        let cone = NormalCone::of_moving_triangle(&start, &end);
        let single = NormalCone::of_moving_triangle(
            &start.map(Vector3::cast::<f32>),
            &end.map(Vector3::cast::<f32>),
        );
        let normal = |time: f64| {
            let [a, b, c] = std::array::from_fn(|i| start[i] + (end[i] - start[i]) * time);
            (b - a).cross(&(c - a))
        };
        let sampled = [0.0, 1.0, 0.5]
            .map(|time| NormalCone::of_direction(&normal(time), 0.0))
            .into_iter()
            .reduce(|a, b| a.merged(&b))
            .unwrap();
        let mut out_of_samples = false;
        for moment in 0..=100 {
            let now = normal(f64::from(moment) / 100.0);
            assert!(cone.contains(&now));
            if single.excludes_folds() && now.norm() > 0.01 {
                let axis = single.axis.cast::<f64>();
                let angle = axis.cross(&now).norm().atan2(axis.dot(&now));
                assert!(angle <= f64::from(single.half_angle) + 1e-4);
            }
            out_of_samples |= !sampled.contains(&now);
        }
        narrow += usize::from(cone.excludes_folds());
        missed += usize::from(out_of_samples);
    }
    println!(
        "of 3000: {narrow} narrower than a half space, {missed} leave the cone of three samples"
    );
    assert!(narrow > 1000 && missed > 100, "{narrow} {missed}");
    // A triangle that loses its area on the way.
    let start = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    let end = [Vector3::zeros(), Vector3::x(), -Vector3::y()];
    assert_eq!(
        NormalCone::of_moving_triangle(&start, &end),
        NormalCone::<f64>::everything()
    );
    let flat = [Vector3::zeros(), Vector3::x(), Vector3::x()];
    assert_eq!(
        NormalCone::of_moving_triangle(&flat, &flat),
        NormalCone::<f32>::everything()
    );
}
