//! Texture coordinates computed from rest positions.

use core::f64::consts::{PI, TAU};
use nalgebra::{Matrix3, Vector3};

/// Distance from an axis, in units of the chart, below which the angle around that axis is taken as undefined.
///
/// The centers written by the generators are exactly on their axes; a transform leaves rounding errors near 1e-16.
const AXIS_LIMIT: f64 = 1e-9;

/// The shape whose unrolling gives the texture coordinates. Positions are those in the frame of the chart.
///
/// Everywhere the second coordinate runs downward (0 at the top, as in images) and a texture reads unmirrored from outside,
/// with +y up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureMapping {
    /// Six projections of the box [0, 1]³; a triangle takes the one its normal is closest to.
    #[default]
    Box,
    /// Longitude and latitude on a sphere of radius 1 around the origin, poles on the y axis.
    Spherical,
    /// Angle and height on a cylinder of radius 1 with y from −1 to 1; its ends are projected along y.
    Cylindrical,
    /// Angle around the y axis and angle around the circle of radius 1 in the plane y = 0.
    Toroidal,
}

/// One way of painting tetrahedra: a mapping, its frame, and a material slot.
///
/// The frame follows translations, rotations and scalings, so the paint sticks to the solid. If positions are edited by
/// hand, the coordinates are those of the new positions.
///
/// # Range
/// Angles are continuous over each triangle. A triangle that crosses the seam where an angle returns to 0 gets
/// coordinates up to 1.5 instead of running backward across the whole texture, so textures should repeat. Triangles with
/// an edge on the seam stay within [0, 1]: those of cylinder and torus always do. At a pole or on an axis, where the angle
/// is undefined, the mean of the triangle's other corners is used (0.5 if there is none).
#[derive(Clone, Debug, PartialEq)]
pub struct TextureChart {
    /// The shape that is unrolled.
    pub mapping: TextureMapping,
    /// Linear part of the map from rest position (m) to the frame of the chart (dimensionless), 1/m.
    pub linear: Matrix3<f64>,
    /// Image of the origin in the frame of the chart, dimensionless.
    pub offset: Vector3<f64>,
    /// Material slot of the triangles painted by this chart. Default 0.
    pub slot: u16,
}

impl Default for TextureChart {
    /// Box mapping, one texture per metre, slot 0.
    fn default() -> Self {
        Self {
            mapping: TextureMapping::Box,
            linear: Matrix3::identity(),
            offset: Vector3::zeros(),
            slot: 0,
        }
    }
}

impl TextureChart {
    /// A box chart that covers an axis-aligned box (m) without stretching: the longest edge spans the texture.
    ///
    /// A box of no extent gives one texture per metre.
    pub fn covering(minimum: Vector3<f64>, maximum: Vector3<f64>) -> Self {
        let longest = (maximum - minimum).max();
        let scale = if longest > 0.0 { 1.0 / longest } else { 1.0 };
        Self {
            mapping: TextureMapping::Box,
            linear: Matrix3::identity() * scale,
            offset: -minimum * scale,
            slot: 0,
        }
    }

    /// A chart centered at the origin, whose frame has the half extents given (m) as units.
    pub fn centered(mapping: TextureMapping, half_extents: Vector3<f64>) -> Self {
        Self {
            mapping,
            linear: Matrix3::from_diagonal(&half_extents.map(f64::recip)),
            offset: Vector3::zeros(),
            slot: 0,
        }
    }

    /// Keeps the paint in place when positions change from x to y with x = `inverse` y − `inverse` `translation`.
    pub(super) fn follow(&mut self, inverse: &Matrix3<f64>, translation: &Vector3<f64>) {
        self.linear *= inverse;
        self.offset -= self.linear * translation;
    }

    /// Texture coordinates of the three corners of a triangle, given their rest positions in metres,
    /// counter-clockwise seen from outside.
    pub fn coordinates(&self, corners: [Vector3<f64>; 3]) -> [[f32; 2]; 3] {
        let local = corners.map(|corner| self.linear * corner + self.offset);
        let normal = (local[1] - local[0]).cross(&(local[2] - local[0]));
        match self.mapping {
            TextureMapping::Box => local.map(|position| box_coordinates(&position, &normal)),
            TextureMapping::Spherical => unrolled(local.map(sphere_coordinates), [true, false]),
            TextureMapping::Cylindrical
                if normal.y.abs() > normal.norm() * core::f64::consts::FRAC_1_SQRT_2 =>
            {
                local.map(|position| {
                    box_coordinates(
                        &position.map(|value| 0.5 + 0.5 * value),
                        &Vector3::new(0.0, normal.y, 0.0),
                    )
                })
            }
            TextureMapping::Cylindrical => unrolled(
                local.map(|p| [longitude(&p), Some(0.5 - 0.5 * p.y)]),
                [true, false],
            ),
            TextureMapping::Toroidal => unrolled(local.map(torus_coordinates), [true, true]),
        }
    }
}

/// Projection along the largest component of `normal`.
fn box_coordinates(position: &Vector3<f64>, normal: &Vector3<f64>) -> [f32; 2] {
    let [x, y, z] = [position.x, position.y, position.z];
    let coordinates = match (normal.iamax(), normal[normal.iamax()] >= 0.0) {
        (0, true) => [1.0 - z, 1.0 - y],
        (0, false) => [z, 1.0 - y],
        (1, true) => [x, z],
        (1, false) => [x, 1.0 - z],
        (_, true) => [x, 1.0 - y],
        (_, false) => [1.0 - x, 1.0 - y],
    };
    coordinates.map(|value| value as f32)
}

/// Angle around the y axis in turns, 0.5 at +z and growing toward +x; `None` on the axis.
fn longitude(position: &Vector3<f64>) -> Option<f64> {
    (position.x.hypot(position.z) > AXIS_LIMIT).then(|| 0.5 + position.x.atan2(position.z) / TAU)
}

fn sphere_coordinates(position: Vector3<f64>) -> [Option<f64>; 2] {
    let from_axis = position.x.hypot(position.z);
    let latitude = (position.norm() > AXIS_LIMIT).then(|| from_axis.atan2(position.y) / PI);
    [longitude(&position), latitude]
}

fn torus_coordinates(position: Vector3<f64>) -> [Option<f64>; 2] {
    let from_circle = position.x.hypot(position.z) - 1.0;
    let around = (from_circle.hypot(position.y) > AXIS_LIMIT)
        .then(|| 0.5 - position.y.atan2(from_circle) / TAU);
    [longitude(&position), around]
}

/// Makes both coordinates continuous over a triangle and fills the undefined ones.
fn unrolled(corners: [[Option<f64>; 2]; 3], periodic: [bool; 2]) -> [[f32; 2]; 3] {
    let first = continuous(corners.map(|corner| corner[0]), periodic[0]);
    let second = continuous(corners.map(|corner| corner[1]), periodic[1]);
    [0, 1, 2].map(|corner| [first[corner] as f32, second[corner] as f32])
}

fn continuous(mut values: [Option<f64>; 3], periodic: bool) -> [f64; 3] {
    // Rounding leaves vertices on the seam at either end of the turn, a hair from 0 or 1; the tolerance treats both alike.
    const TOLERANCE: f64 = 1e-9;
    let extremes = |values: &[Option<f64>; 3]| {
        values
            .iter()
            .flatten()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
                (value.min(low), value.max(high))
            })
    };
    if periodic {
        let (low, high) = extremes(&values);
        if high - low > 0.5 + TOLERANCE {
            for value in values.iter_mut().flatten().filter(|value| **value < 0.5) {
                *value += 1.0;
            }
        }
        if extremes(&values).0 >= 1.0 - TOLERANCE && extremes(&values).1 > 1.0 + TOLERANCE {
            for value in values.iter_mut().flatten() {
                *value = (*value - 1.0).max(0.0);
            }
        }
    }
    let (sum, count) = values
        .iter()
        .flatten()
        .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    let mean = if count > 0.0 { sum / count } else { 0.5 };
    values.map(|value| value.unwrap_or(mean))
}

#[cfg(test)]
mod tests {
    use crate::mesh::{CellSplit, TetrahedralMesh};
    use nalgebra::UnitQuaternion;
    use proptest::prelude::*;

    fn shapes() -> Vec<TetrahedralMesh> {
        vec![
            TetrahedralMesh::block([1.0, 2.0, 0.5], [2, 3, 1], CellSplit::Five).unwrap(),
            TetrahedralMesh::ball(0.1, 4).unwrap(),
            TetrahedralMesh::cylinder(0.05, 0.3, 9, 3, 2).unwrap(),
            TetrahedralMesh::torus(0.1, 0.03, 20, 8).unwrap(),
        ]
    }

    #[test]
    fn coordinates_are_in_range_and_no_triangle_runs_across_the_seam() {
        for (shape, mesh) in shapes().iter().enumerate() {
            for corners in mesh.surface().unwrap().corner_coordinates {
                for axis in 0..2 {
                    let values = corners.map(|corner| corner[axis]);
                    let (low, high) = (
                        values.into_iter().fold(9.0, f32::min),
                        values.into_iter().fold(-9.0, f32::max),
                    );
                    // Only the ball has triangles that cross its seam.
                    let limit = if shape == 1 && axis == 0 {
                        1.5
                    } else {
                        1.0 + 1e-6
                    };
                    assert!(low >= -1e-6 && high <= limit, "shape {shape}: {corners:?}");
                    // A whole box face spans the texture; an angle never does.
                    let spread = if shape == 0 || shape == 2 {
                        1.0 + 1e-6
                    } else {
                        0.4
                    };
                    assert!(high - low <= spread, "shape {shape}: {corners:?}");
                }
            }
        }
    }

    #[test]
    fn side_of_a_cylinder_never_spans_more_than_one_segment() {
        let mesh = TetrahedralMesh::cylinder(0.05, 0.3, 8, 1, 1).unwrap();
        let surface = mesh.surface().unwrap();
        for (triangle, corners) in surface.triangles.iter().zip(&surface.corner_coordinates) {
            let points = triangle.map(|vertex| mesh.positions[vertex as usize]);
            let normal = (points[1] - points[0])
                .cross(&(points[2] - points[0]))
                .normalize();
            if normal.y.abs() < 0.5 {
                let values = corners.map(|corner| corner[0]);
                let spread = values.into_iter().fold(-9.0, f32::max)
                    - values.into_iter().fold(9.0, f32::min);
                assert!((spread - 0.125).abs() < 1e-6, "{corners:?}");
            }
        }
    }

    #[test]
    fn textures_read_unmirrored_from_outside() {
        for mesh in shapes() {
            for [a, b, c] in mesh.surface().unwrap().corner_coordinates {
                let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
                // The second coordinate points down, so counter-clockwise triangles have negative area in the texture.
                assert!(area < 1e-6, "{a:?} {b:?} {c:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn paint_sticks_under_transforms(
            angles in prop::array::uniform3(-3.0..3.0f64),
            offset in prop::array::uniform3(-5.0..5.0f64),
            factors in prop::array::uniform3(0.2..4.0f64),
        ) {
            for mesh in shapes() {
                let before = mesh.surface().unwrap();
                let after = mesh
                    .scaled_by(factors.into()).unwrap()
                    .rotated_by(UnitQuaternion::from_euler_angles(angles[0], angles[1], angles[2]))
                    .translated_by(offset.into())
                    .surface().unwrap();
                prop_assert_eq!(&before.triangles, &after.triangles);
                for (old, new) in before.corner_coordinates.iter().flatten().zip(after.corner_coordinates.iter().flatten()) {
                    for axis in 0..2 {
                        // A corner on the seam may come back one turn away; both show the same texel.
                        let change = old[axis] - new[axis];
                        prop_assert!((change - change.round()).abs() < 1e-5, "{:?} {:?}", old, new);
                    }
                }
            }
        }
    }
}
