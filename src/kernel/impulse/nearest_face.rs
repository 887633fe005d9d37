//! The face that a vertex is nearest to, and on which side of it.

use nalgebra::Vector3;

use crate::kernel::proximity::vertex_face::closest_points_of_vertex_and_face;
use crate::kernel::scalar::{Single, real};

/// Distances that differ by this many rounding errors of the coordinates are equal.
const ROUNDINGS: f64 = 64.0;

/// The nearest of several faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestFace<T> {
    /// Number of the face in the order given.
    pub face: usize,
    /// (1, −α₁, −α₂, −α₃): weights of the vertex and the corners, as in
    /// [`ClosestPoints`](crate::kernel::proximity::ClosestPoints).
    pub weights: [T; 4],
    /// Distance, m; negative for a vertex behind the surface.
    pub signed_distance: T,
}

/// A face among those that are equally near.
#[derive(Clone, Copy)]
struct Candidate<T> {
    face: usize,
    weights: [T; 4],
    /// Height of the point above the plane, m.
    height: T,
}

/// The faces around the closest point so far.
struct Nearest<T: Single> {
    /// From the closest point to the point, m.
    difference: Vector3<T>,
    distance: T,
    /// Σ ωᵢ nᵢ·d, m.
    side: T,
    highest: Candidate<T>,
    lowest: Candidate<T>,
}

/// The face nearest to a point, with the distance negative behind it; none without faces.
///
/// ```text
/// d = p − closest point,   sign of Σ ωᵢ nᵢ·d over the faces that meet there
/// ωᵢ = the angle of the face where they meet in a corner, otherwise 1
/// ```
/// Faces that meet at the closest edge or corner are equally near and may disagree on the side; their normals weighted
/// with angles are right. Of them, the face is chosen whose plane has the point farthest on that side. All faces
/// around a corner must be given for it to be right there.
///
/// `point` and `faces` in m, corners in such an order that n = (p₂ − p₁) × (p₃ − p₁) points outward. On the surface, a
/// point is outside. Faces without area or with numbers that are not finite are left out; of equal ones, the first is
/// taken.
///
/// Eq: `[Ericson 2005 §5.1.5]`; the sign by `[Bærentzen 2005]`.
#[must_use]
pub fn nearest_face<T: Single>(
    point: &Vector3<T>,
    faces: impl IntoIterator<Item = [Vector3<T>; 3]>,
) -> Option<NearestFace<T>> {
    let mut nearest: Option<Nearest<T>> = None;
    for (face, corners) in faces.into_iter().enumerate() {
        let [p1, p2, p3] = corners;
        let closest = closest_points_of_vertex_and_face(&[*point, p1, p2, p3]);
        let (difference, distance) = (closest.difference, closest.distance());
        let Some(normal) = (p2 - p1).cross(&(p3 - p1)).try_normalize(T::zero()) else {
            continue;
        };
        let height = normal.dot(&(point - p1));
        if !(distance.is_finite() && height.is_finite()) {
            continue;
        }
        let candidate = Candidate {
            face,
            weights: closest.weights,
            height,
        };
        let side = normal.dot(&difference) * share_of_normal(&corners, &closest.weights);
        let blur = point.amax().max(p1.amax()) * T::default_epsilon() * real(ROUNDINGS);
        match &mut nearest {
            Some(best) if (difference - best.difference).norm() <= blur => {
                best.side += side;
                if height > best.highest.height {
                    best.highest = candidate;
                }
                if height < best.lowest.height {
                    best.lowest = candidate;
                }
            }
            Some(best) if distance >= best.distance => {}
            _ => {
                nearest = Some(Nearest {
                    difference,
                    distance,
                    side,
                    highest: candidate,
                    lowest: candidate,
                });
            }
        }
    }
    nearest.map(|nearest| {
        let behind = nearest.side < T::zero();
        let (chosen, sign) = if behind {
            (nearest.lowest, -T::one())
        } else {
            (nearest.highest, T::one())
        };
        NearestFace {
            face: chosen.face,
            weights: chosen.weights,
            signed_distance: nearest.distance * sign,
        }
    })
}

/// How much the normal of a face counts at its closest point: its angle at a corner, radians; one on an edge or inside.
fn share_of_normal<T: Single>(corners: &[Vector3<T>; 3], weights: &[T; 4]) -> T {
    let at = |corner: usize| weights[corner + 1] != T::zero();
    let only = |corner: usize| at(corner) && !at((corner + 1) % 3) && !at((corner + 2) % 3);
    (0..3)
        .find(|&corner| only(corner))
        .map_or(T::one(), |corner| {
            let to_next = corners[(corner + 1) % 3] - corners[corner];
            let to_last = corners[(corner + 2) % 3] - corners[corner];
            to_next.angle(&to_last)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    /// A tetrahedron, its faces outward.
    fn tetrahedron(corners: &[Vector3<f64>; 4]) -> [[Vector3<f64>; 3]; 4] {
        let [a, b, c, d] = *corners;
        let mut faces = [[a, c, b], [a, b, d], [b, c, d], [c, a, d]];
        let middle = (a + b + c + d) / 4.0;
        for face in &mut faces {
            let normal = (face[1] - face[0]).cross(&(face[2] - face[0]));
            if normal.dot(&(middle - face[0])) > 0.0 {
                face.swap(1, 2);
            }
        }
        faces
    }

    /// Inside is where all planes say so; sharp tetrahedra have edges and corners that planes disagree about.
    #[test]
    fn side_agrees_with_all_planes_of_a_convex_body() {
        let mut random = Random::new(751);
        let (mut inside_count, mut outside_count) = (0, 0);
        for _ in 0..3000 {
            let corners: [Vector3<f64>; 4] = [0; 4].map(|_| random.vector(1.0));
            let faces = tetrahedron(&corners);
            let point = if random.uniform() > 0.0 {
                (corners[0] + corners[1] + corners[2] + corners[3]) / 4.0 + random.vector(0.2)
            } else {
                random.vector(1.5)
            };
            let heights = faces.map(|face| {
                let normal = (face[1] - face[0]).cross(&(face[2] - face[0])).normalize();
                normal.dot(&(point - face[0]))
            });
            let highest = heights.iter().copied().fold(f64::MIN, f64::max);
            if highest.abs() < 1e-9 {
                continue;
            }
            let found = nearest_face(&point, faces).unwrap();
            assert_eq!(found.signed_distance < 0.0, highest < 0.0, "{heights:?}");
            if highest < 0.0 {
                assert_relative_eq!(found.signed_distance, highest, epsilon = 1e-12);
                inside_count += 1;
            } else {
                outside_count += 1;
            }
        }
        assert!(inside_count > 300 && outside_count > 300);
        println!("{inside_count} inside, {outside_count} outside");
    }

    #[test]
    fn empty_flat_and_broken_faces_are_left_out() {
        let point = Vector3::new(0.2, 0.2, -0.5_f32);
        assert_eq!(nearest_face(&point, []), None);
        let flat = [Vector3::zeros(), Vector3::x(), Vector3::x() * 2.0];
        let broken = [Vector3::repeat(f32::NAN); 3];
        let face = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        assert_eq!(nearest_face(&point, [flat, broken]), None);
        let found = nearest_face(&point, [flat, broken, face]).unwrap();
        assert_eq!((found.face, found.signed_distance), (2, -0.5));
        assert_eq!(nearest_face(&point, [face, face]).unwrap().face, 0);
    }
}
