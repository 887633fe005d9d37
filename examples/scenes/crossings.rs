//! An independent judge: whether any edge of any surface goes through any triangle, exactly on the stored numbers.

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

/// A triangle with corners in double precision, and which vertices these are.
struct Triangle {
    corners: [Vector3<f64>; 3],
    vertices: [(Entity, u32); 3],
    /// Whether its body is asked about itself.
    with_itself: bool,
}

/// Number of pairs of an edge and a triangle without a common vertex that meet, over all bodies: every edge against every
/// triangle, by the signs of volumes in double precision. Knows nothing of the library's own tests. Pairs within a solid do
/// not count unless it has contact with itself.
pub fn crossings(world: &mut World) -> usize {
    let mut bodies = world.query::<(
        Entity,
        &Particles,
        &Surface,
        Has<Tetrahedra>,
        Option<&BodyContact>,
    )>();
    let mut triangles: Vec<Triangle> = Vec::new();
    for (entity, particles, surface, is_solid, contact) in bodies.iter(world) {
        let with_itself = contact.map_or(!is_solid, |contact| contact.with_itself);
        for triangle in &surface.triangles {
            triangles.push(Triangle {
                corners: triangle.map(|corner| particles.positions[corner as usize].map(f64::from)),
                vertices: triangle.map(|corner| (entity, corner)),
                with_itself,
            });
        }
    }
    // Sorted along x, so that only neighbours are compared.
    let low = |triangle: &Triangle, axis: usize| {
        triangle
            .corners
            .iter()
            .map(|c| c[axis])
            .fold(f64::INFINITY, f64::min)
    };
    let high = |triangle: &Triangle, axis: usize| {
        triangle
            .corners
            .iter()
            .map(|c| c[axis])
            .fold(f64::NEG_INFINITY, f64::max)
    };
    triangles.sort_by(|a, b| low(a, 0).total_cmp(&low(b, 0)));
    let mut count = 0;
    for (index, first) in triangles.iter().enumerate() {
        let end = high(first, 0);
        for second in triangles[index + 1..]
            .iter()
            .take_while(|other| low(other, 0) <= end)
        {
            let apart = (1..3).any(|axis| {
                low(first, axis) > high(second, axis) || low(second, axis) > high(first, axis)
            });
            let is_same = first.vertices[0].0 == second.vertices[0].0;
            if !apart && (!is_same || first.with_itself) {
                count += pierces(first, second) + pierces(second, first);
            }
        }
    }
    count
}

/// How many edges of one triangle go through the other.
fn pierces(edges: &Triangle, face: &Triangle) -> usize {
    (0..3)
        .filter(|&side| {
            let ends = [side, (side + 1) % 3];
            let shares = ends
                .iter()
                .any(|&end| face.vertices.contains(&edges.vertices[end]));
            !shares && meets(ends.map(|end| edges.corners[end]), face.corners)
        })
        .count()
}

fn meets([p, q]: [Vector3<f64>; 2], [a, b, c]: [Vector3<f64>; 3]) -> bool {
    let volume = |a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>, d: Vector3<f64>| {
        (b - a).cross(&(c - a)).dot(&(d - a))
    };
    let (above, below) = (volume(a, b, c, p), volume(a, b, c, q));
    if (above > 0.0) == (below > 0.0) {
        return false;
    }
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|&side| side > 0.0) || sides.iter().all(|&side| side < 0.0)
}

#[test]
fn the_judge_sees_a_crossing() {
    let name = |corner| (Entity::PLACEHOLDER, corner);
    let flat = Triangle {
        corners: [Vector3::zeros(), Vector3::x(), Vector3::y()],
        vertices: [0, 1, 2].map(name),
        with_itself: true,
    };
    let across = |shift: f64| Triangle {
        corners: [
            Vector3::new(0.2, 0.2, -1.0 + shift),
            Vector3::new(0.2, 0.3, 1.0 + shift),
            Vector3::new(0.3, 0.2, 1.0 + shift),
        ],
        vertices: [3, 4, 5].map(name),
        with_itself: true,
    };
    assert_eq!(pierces(&across(0.0), &flat), 2);
    assert_eq!(pierces(&across(1.5), &flat), 0);
    assert_eq!(pierces(&flat, &across(0.0)), 0);
}
