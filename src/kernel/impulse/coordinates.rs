//! Where a point of a face or an edge lies, as weights of the corners.

use nalgebra::Vector3;

use crate::kernel::scalar::Single;

/// Barycentric coordinates of a point in the plane of a face; they add up to one.
///
/// ```text
/// n = (p₂ − p₁) × (p₃ − p₁),   n₁ = n × (p₃ − p₂),   n₂ = n × (p₁ − p₃)
/// α₁ = n₁·(b − p₂)/(n₁·(p₁ − p₂)),   α₂ = n₂·(b − p₁)/(n₂·(p₂ − p₁)),   α₃ = 1 − α₁ − α₂
/// ```
/// Positions in m. Not limited to the face; a point off the plane counts as its foot. A face without area has its
/// first corner for all of it: (1, 0, 0), as has a point that is not finite.
///
/// Eq: `[000 §7.4.2]`, whose α₁ is measured from the wrong corner.
#[must_use]
pub fn face_coordinates<T: Single>(face: &[Vector3<T>; 3], point: &Vector3<T>) -> [T; 3] {
    let [p1, p2, p3] = face;
    let normal = (p2 - p1).cross(&(p3 - p1));
    let (n1, n2) = (normal.cross(&(p3 - p2)), normal.cross(&(p1 - p3)));
    let first = n1.dot(&(point - p2)) / n1.dot(&(p1 - p2));
    let second = n2.dot(&(point - p1)) / n2.dot(&(p2 - p1));
    if first.is_finite() && second.is_finite() {
        [first, second, T::one() - first - second]
    } else {
        [T::one(), T::zero(), T::zero()]
    }
}

/// Weights of the ends of an edge for a point on its line; they add up to one.
///
/// ```text
/// α₁ = (p₂ − a)·(p₂ − p₁)/|p₂ − p₁|²,   α₂ = 1 − α₁
/// ```
/// Positions in m. Not limited to the edge; a point off the line counts as its foot. An edge without length has its
/// first end for all of it: (1, 0), as has a point that is not finite.
///
/// Eq: `[000 §7.4.2]`.
#[must_use]
pub fn edge_coordinates<T: Single>(edge: &[Vector3<T>; 2], point: &Vector3<T>) -> [T; 2] {
    let [p1, p2] = edge;
    let along = p2 - p1;
    let first = (p2 - point).dot(&along) / along.norm_squared();
    if first.is_finite() {
        [first, T::one() - first]
    } else {
        [T::one(), T::zero()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    #[test]
    fn coordinates_give_the_point_back() {
        let mut random = Random::new(741);
        for _ in 0..2000 {
            let face: [Vector3<f64>; 3] = [0; 3].map(|_| random.vector(1.0));
            let normal = (face[1] - face[0]).cross(&(face[2] - face[0]));
            if normal.norm() < 0.05 {
                continue;
            }
            let wanted = [random.uniform(), random.uniform()];
            let wanted = [wanted[0], wanted[1], 1.0 - wanted[0] - wanted[1]];
            let point: Vector3<f64> = (0..3).map(|i| face[i] * wanted[i]).sum();
            // A point off the plane has the coordinates of its foot.
            let found = face_coordinates(&face, &(point + normal * random.uniform()));
            for corner in 0..3 {
                assert_relative_eq!(found[corner], wanted[corner], epsilon = 1e-11);
            }
            let edge = [face[0], face[1]];
            let share = random.between(-1.0, 2.0);
            let point = edge[0] + (edge[1] - edge[0]) * share;
            let found = edge_coordinates(&edge, &(point + normal));
            assert_relative_eq!(found[0], 1.0 - share, epsilon = 1e-12);
            assert_relative_eq!(found[0] + found[1], 1.0, epsilon = 1e-15);
        }
    }

    /// As printed, α₁ = n₁·(b − p₁)/(n₁·(p₂ − p₁)): zero at p₁, where it should be one.
    #[test]
    fn printed_coordinate_is_one_minus_the_right_one() {
        let face = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        let point = Vector3::new(0.2, 0.3, 0.0);
        let n1 = Vector3::z().cross(&(face[2] - face[1]));
        let printed: f64 = n1.dot(&(point - face[0])) / n1.dot(&(face[1] - face[0]));
        let right = face_coordinates(&face, &point)[0];
        assert_relative_eq!(right, 0.5, epsilon = 1e-15);
        assert_relative_eq!(printed, 1.0 - right, epsilon = 1e-15);
    }

    #[test]
    fn degenerate_features_are_their_first_corner() {
        let point = Vector3::new(0.3, 0.2, 0.1);
        let line = [Vector3::zeros(), Vector3::x(), Vector3::x() * 2.0];
        assert_eq!(face_coordinates(&line, &point), [1.0, 0.0, 0.0]);
        assert_eq!(
            edge_coordinates(&[point, point], &Vector3::zeros()),
            [1.0, 0.0]
        );
        let bad = Vector3::repeat(f32::NAN);
        let face = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        assert_eq!(face_coordinates(&face, &bad), [1.0, 0.0, 0.0]);
    }
}
