//! The flat rest shape of a triangle, along the yarns.

use nalgebra::{Matrix2, Vector2, Vector3};

use super::TriangleMesh;
use super::data::doubled_area;

/// Squared sine of the angle to the normal below which a direction has no projection in a triangle worth the name.
const PROJECTION_LIMIT: f64 = 1e-12;

/// A triangle laid flat: its edges in an orthonormal frame of warp and weft.
///
/// Warp, weft and the triangle's normal form a right-handed frame, so `edges` has a determinant of twice the area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestFrame {
    /// Columns X₁−X₀ and X₂−X₀, m; first row along the warp, second along the weft.
    pub edges: Matrix2<f64>,
    /// Area, m².
    pub area: f64,
    /// Unit direction of the warp at rest.
    pub warp: Vector3<f64>,
    /// Unit direction of the weft at rest.
    pub weft: Vector3<f64>,
}

impl TriangleMesh {
    /// The flat rest shape of a triangle.
    ///
    /// The warp is the direction in which the first texture coordinate grows while the second stays, so cloth is woven along
    /// its texture. Where there are no texture coordinates, or the triangle covers none of the texture, it is
    /// [`warp_direction`](Self::warp_direction) projected into the triangle. If that is perpendicular to the triangle (or
    /// zero), the coordinate axis is taken that is least so; the first of equals.
    ///
    /// `None` if the index, one of the vertices or the list of texture coordinates is out of range, or the triangle has no
    /// area.
    pub fn rest_frame(&self, triangle: usize) -> Option<RestFrame> {
        let corners = self.corners(*self.triangles.get(triangle)?)?;
        let doubled = doubled_area(&corners);
        let normal = doubled.try_normalize(0.0)?;
        let [first, second] = [corners[1] - corners[0], corners[2] - corners[0]];
        let textured = match &self.corner_coordinates {
            Some(coordinates) => texture_direction(coordinates.get(triangle)?, &first, &second),
            None => None,
        };
        let warp = textured
            .and_then(|direction| projected(&direction, &normal))
            .or_else(|| projected(&self.warp_direction, &normal))
            .or_else(|| projected(&least_axis(&normal), &normal))?;
        let weft = normal.cross(&warp);
        Some(RestFrame {
            edges: Matrix2::new(
                warp.dot(&first),
                warp.dot(&second),
                weft.dot(&first),
                weft.dot(&second),
            ),
            area: 0.5 * doubled.norm(),
            warp,
            weft,
        })
    }
}

/// ∂x/∂u of the linear map from texture to triangle, up to a positive factor; `None` if the triangle covers no texture.
fn texture_direction(
    coordinates: &[[f32; 2]; 3],
    first: &Vector3<f64>,
    second: &Vector3<f64>,
) -> Option<Vector3<f64>> {
    let [origin, a, b] = coordinates.map(|[u, v]| Vector2::new(f64::from(u), f64::from(v)));
    let (a, b) = (a - origin, b - origin);
    let determinant = a.x * b.y - b.x * a.y;
    // Coordinates are in single precision: what is left of two parallel differences is rounding.
    let rounding = f64::from(f32::EPSILON) * a.norm() * b.norm();
    if determinant.abs() > rounding {
        Some((first * b.y - second * a.y) * determinant.signum())
    } else {
        None
    }
}

/// The unit direction of `direction` within the plane of `normal`; `None` if there is none.
fn projected(direction: &Vector3<f64>, normal: &Vector3<f64>) -> Option<Vector3<f64>> {
    let unit = direction.try_normalize(0.0)?;
    let within = unit - normal * normal.dot(&unit);
    if within.norm_squared() > PROJECTION_LIMIT {
        // The second projection removes what rounding left of the normal after the first one cancelled.
        (within - normal * normal.dot(&within)).try_normalize(0.0)
    } else {
        None
    }
}

/// The coordinate axis along which `normal` is shortest; the first of equals.
fn least_axis(normal: &Vector3<f64>) -> Vector3<f64> {
    let mut axis = 0;
    for other in 1..3 {
        if normal[other].abs() < normal[axis].abs() {
            axis = other;
        }
    }
    let mut unit = Vector3::zeros();
    unit[axis] = 1.0;
    unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn triangle(positions: [[f64; 3]; 3], coordinates: Option<[[f32; 2]; 3]>) -> TriangleMesh {
        let mut mesh = TriangleMesh::new(positions.map(Vector3::from).to_vec(), vec![[0, 1, 2]]);
        mesh.corner_coordinates = coordinates.map(|coordinates| vec![coordinates]);
        mesh
    }

    const FLAT: [[f64; 3]; 3] = [[1.0, 2.0, 0.0], [4.0, 2.0, 0.0], [1.0, 4.0, 0.0]];

    #[test]
    fn global_warp_is_projected() {
        let mut mesh = triangle(FLAT, None);
        let frame = mesh.rest_frame(0).unwrap();
        assert_eq!(frame.edges, Matrix2::new(3.0, 0.0, 0.0, 2.0));
        assert_eq!(frame.area, 3.0);
        assert_eq!((frame.warp, frame.weft), (Vector3::x(), Vector3::y()));
        mesh.warp_direction = Vector3::new(0.0, 5.0, 12.0);
        let frame = mesh.rest_frame(0).unwrap();
        assert_eq!(frame.edges, Matrix2::new(0.0, 2.0, -3.0, 0.0));
        assert_eq!((frame.warp, frame.weft), (Vector3::y(), -Vector3::x()));
    }

    #[test]
    fn perpendicular_or_missing_warp_falls_back_to_an_axis() {
        let mut mesh = triangle(FLAT, None);
        for direction in [Vector3::z(), Vector3::zeros()] {
            mesh.warp_direction = direction;
            assert_eq!(mesh.rest_frame(0).unwrap().warp, Vector3::x());
        }
        let mut standing = triangle([[0.0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], None);
        assert_eq!(standing.rest_frame(0).unwrap().warp, Vector3::y());
        standing.warp_direction = Vector3::z();
        assert_eq!(standing.rest_frame(0).unwrap().warp, Vector3::z());
    }

    #[test]
    fn warp_runs_along_the_first_texture_coordinate() {
        // The texture is turned by a quarter: u along y, v along -x; then mirrored: u along y, v along x.
        for sign in [-1.0, 1.0] {
            let coordinates = FLAT.map(|[x, y, _]| [y as f32, sign * x as f32]);
            let frame = triangle(FLAT, Some(coordinates)).rest_frame(0).unwrap();
            assert_eq!(frame.warp, Vector3::y());
            assert_eq!(frame.weft, -Vector3::x());
            assert_eq!(frame.edges.determinant(), 6.0);
        }
        // Sheared: lines of constant v run along (1, 1).
        let coordinates = FLAT.map(|[x, y, _]| [x as f32, (y - x) as f32]);
        let frame = triangle(FLAT, Some(coordinates)).rest_frame(0).unwrap();
        let expected = Vector3::new(1.0, 1.0, 0.0).normalize();
        assert!((frame.warp - expected).norm() < 1e-15);
    }

    #[test]
    fn triangle_without_texture_takes_the_global_warp() {
        for coordinates in [[[0.5, 0.5]; 3], [[0.0, 0.1], [0.3, 0.4], [0.6, 0.7]]] {
            let mut mesh = triangle(FLAT, Some(coordinates));
            mesh.warp_direction = Vector3::y();
            assert_eq!(mesh.rest_frame(0).unwrap().warp, Vector3::y());
        }
    }

    #[test]
    fn flat_or_missing_triangles_have_no_frame() {
        assert_eq!(triangle([[0.0; 3]; 3], None).rest_frame(0), None);
        assert_eq!(triangle(FLAT, None).rest_frame(1), None);
        let mut mesh = triangle(FLAT, Some([[0.0; 2]; 3]));
        mesh.corner_coordinates = Some(Vec::new());
        assert_eq!(mesh.rest_frame(0), None);
    }

    proptest! {
        #[test]
        fn frame_is_orthonormal_and_keeps_lengths(
            positions in prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64)),
            coordinates in prop::array::uniform3(prop::array::uniform2(0.0..1.0f32)),
        ) {
            let mesh = triangle(positions, Some(coordinates));
            prop_assume!(mesh.triangle_area(0) > 1e-3);
            let frame = mesh.rest_frame(0).unwrap();
            let corners = mesh.corners([0, 1, 2]).unwrap();
            let normal = doubled_area(&corners).normalize();
            prop_assert!((frame.warp.cross(&frame.weft) - normal).norm() < 1e-12);
            prop_assert!((frame.edges.determinant() - 2.0 * frame.area).abs() < 1e-12);
            for column in 0..2 {
                let edge = corners[column + 1] - corners[0];
                let flat = frame.edges.column(column);
                prop_assert!((frame.warp * flat[0] + frame.weft * flat[1] - edge).norm() < 1e-12);
            }
        }
    }
}
