//! Icosahedral balls.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use super::{Arguments, finished};
use crate::mesh::{MeshError, TetrahedralMesh, TextureMapping};

/// Steps from the center of the ball (first entry) and toward the three corners of an icosahedron face; they add up to
/// the number of subdivisions.
type Lattice = [u8; 4];

/// The same point named independently of the face it was reached from: icosahedron vertices with their steps, ascending,
/// unused entries last.
type Key = [(u8, u8); 3];

const UNUSED: (u8, u8) = (u8::MAX, 0);

/// The largest number of subdivisions: 331 million tetrahedra, beyond any use, and steps still fit a byte.
const LIMIT: usize = 255;

impl TetrahedralMesh {
    /// A ball of `radius` (m) around the origin: an icosahedron cut into `subdivisions` shells, with each edge cut into as
    /// many parts.
    ///
    /// n subdivisions give 20 n³ tetrahedra and 20 n² surface triangles. The center is vertex 0, shells follow outward,
    /// and the last 10 n² + 2 vertices are the surface. n = 1 is the plain icosahedron (13 vertices, 20 tetrahedra). The
    /// surface vertices lie on the sphere, so the volume is a little below 4/3 π r³: 60.5 % at n = 1, 87 % at n = 2, and the
    /// deficit falls as 1/n². Painted by a spherical chart whose poles are vertices.
    ///
    /// # Errors
    /// [`MeshError::InvalidArgument`] unless `radius` is positive and finite and `subdivisions` from 1 to 255;
    /// [`MeshError::FlatTetrahedron`] if the radius is too extreme for volumes to be computed.
    pub fn ball(radius: f64, subdivisions: usize) -> Result<Self, MeshError> {
        let arguments = Arguments("ball");
        arguments.positive("radius", radius)?;
        if !(1..=LIMIT).contains(&subdivisions) {
            return Err(MeshError::InvalidArgument {
                operation: "ball",
                parameter: "subdivisions",
                value: subdivisions as f64,
                requirement: "from 1 to 255",
            });
        }

        let corners = icosahedron_vertices();
        let faces = icosahedron_faces();
        let count = subdivisions as u8;
        let mut positions = Vec::new();
        let mut numbers = BTreeMap::new();
        for shell in 0..=count {
            for face in &faces {
                for [first, second, third] in shell_points(shell) {
                    let name = key([count - shell, first, second, third], face);
                    numbers.entry(name).or_insert_with(|| {
                        positions.push(place(&name, &corners, radius / f64::from(count)));
                        (positions.len() - 1) as u32
                    });
                }
            }
        }

        let mut tetrahedra = Vec::with_capacity(20 * subdivisions.pow(3));
        for face in &faces {
            let vertex =
                |point: Lattice| numbers.get(&key(point, face)).copied().unwrap_or_default();
            for points in lattice_tetrahedra(count, |point| positions[vertex(point) as usize]) {
                tetrahedra.push(points.map(vertex));
            }
        }
        let half_extents = Vector3::repeat(radius);
        finished(Self::with_centered_chart(
            positions,
            tetrahedra,
            TextureMapping::Spherical,
            half_extents,
        ))
    }
}

/// The 12 vertices on the unit sphere: north pole, upper ring, lower ring, south pole. Written with square roots only, so
/// that every platform gets the same bits.
fn icosahedron_vertices() -> [Vector3<f64>; 12] {
    let root = 5.0_f64.sqrt();
    // Cosine and sine of 72° and 144°.
    let turns = [
        (1.0, 0.0),
        ((root - 1.0) / 4.0, (10.0 + 2.0 * root).sqrt() / 4.0),
        (-(root + 1.0) / 4.0, (10.0 - 2.0 * root).sqrt() / 4.0),
        (-(root + 1.0) / 4.0, -(10.0 - 2.0 * root).sqrt() / 4.0),
        ((root - 1.0) / 4.0, -(10.0 + 2.0 * root).sqrt() / 4.0),
    ];
    let mut vertices = [Vector3::y(); 12];
    for (index, (cosine, sine)) in turns.into_iter().enumerate() {
        let upper = Vector3::new(2.0 * sine, 1.0, 2.0 * cosine) / root;
        vertices[1 + index] = upper;
        // The lower ring is the upper one through the center.
        vertices[6 + index] = -upper;
    }
    vertices[11] = -Vector3::y();
    vertices
}

/// The 20 faces, counter-clockwise seen from outside.
fn icosahedron_faces() -> Vec<[u8; 3]> {
    let mut faces = Vec::with_capacity(20);
    for index in 0..5 {
        let next = (index + 1) % 5;
        // Upper vertices `index` and `next` have the lower vertex opposite to number `index + 3` between them.
        let between = |index: u8| 6 + (index + 3) % 5;
        faces.push([0, 1 + index, 1 + next]);
        faces.push([1 + index, between(index), 1 + next]);
        faces.push([1 + next, between(index), between(next)]);
        faces.push([11, between(next), between(index)]);
    }
    faces
}

/// All lattice points of one of the 20 pyramids between the center and a face.
fn lattice_points(count: u8) -> impl Iterator<Item = Lattice> {
    (0..=count).flat_map(move |shell| {
        shell_points(shell).map(move |[first, second, third]| [count - shell, first, second, third])
    })
}

/// The part of a shell in one of the pyramids: steps toward the corners of its face.
fn shell_points(shell: u8) -> impl Iterator<Item = [u8; 3]> {
    (0..=shell).flat_map(move |first| {
        (0..=shell - first).map(move |second| [first, second, shell - first - second])
    })
}

fn key(point: Lattice, face: &[u8; 3]) -> Key {
    let mut name = [0, 1, 2].map(|corner| match point[corner + 1] {
        0 => UNUSED,
        steps => (face[corner], steps),
    });
    name.sort_unstable();
    name
}

fn place(name: &Key, corners: &[Vector3<f64>; 12], step: f64) -> Vector3<f64> {
    let used = name.iter().filter(|entry| **entry != UNUSED);
    let mut direction = Vector3::zeros();
    let mut shell = 0.0;
    for &(corner, steps) in used {
        direction += corners[usize::from(corner)] * f64::from(steps);
        shell += f64::from(steps);
    }
    if shell == 0.0 {
        direction
    } else {
        direction.normalize() * (shell * step)
    }
}

/// Fills one pyramid. The lattice cuts it into upright tetrahedra, octahedra and inverted tetrahedra; an octahedron is cut
/// into four around its shortest diagonal. Whichever diagonal it is, the faces of an octahedron stay whole, so neighbors
/// match.
fn lattice_tetrahedra(count: u8, position: impl Fn(Lattice) -> Vector3<f64>) -> Vec<[Lattice; 4]> {
    let plus = |mut point: Lattice, steps: &[usize]| {
        for &step in steps {
            point[step] += 1;
        }
        point
    };
    let mut tetrahedra = Vec::new();
    for base in lattice_points(count - 1) {
        tetrahedra.push([0, 1, 2, 3].map(|corner| plus(base, &[corner])));
    }
    if count >= 2 {
        for base in lattice_points(count - 2) {
            let diagonals = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];
            let ends = diagonals.map(|diagonal| diagonal.map(|steps| plus(base, &steps)));
            let lengths = ends.map(|[a, b]| (position(a) - position(b)).norm());
            let shortest = (1..3).fold(0, |best, other| {
                if lengths[other] < lengths[best] {
                    other
                } else {
                    best
                }
            });
            let [a, b] = ends[shortest];
            let [[c, d], [e, f]] = [ends[(shortest + 1) % 3], ends[(shortest + 2) % 3]];
            // c, e, d, f run around the diagonal from a to b.
            for (from, to) in [(c, e), (e, d), (d, f), (f, c)] {
                tetrahedra.push([a, b, from, to]);
            }
        }
    }
    if count >= 3 {
        for base in lattice_points(count - 3) {
            tetrahedra
                .push([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]].map(|steps| plus(base, &steps)));
        }
    }
    for points in &mut tetrahedra {
        // Orientation is decided on the integer lattice, where it is exact.
        let steps = |point: Lattice| Vector3::new(point[1], point[2], point[3]).map(f64::from);
        let columns = [1, 2, 3].map(|corner| steps(points[corner]) - steps(points[0]));
        if Matrix3::from_columns(&columns).determinant() < 0.0 {
            points.swap(2, 3);
        }
    }
    tetrahedra
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_validity_for_several_subdivisions() {
        for n in 1..=6 {
            let mesh = TetrahedralMesh::ball(0.3, n).unwrap();
            assert_eq!(mesh.validate(), Ok(()));
            assert_eq!(mesh.tetrahedra.len(), 20 * n.pow(3));
            let surface = mesh.surface().unwrap();
            assert_eq!(surface.triangles.len(), 20 * n * n);
            assert_eq!(surface.euler_characteristic(), 2);
            let inside = mesh.positions.len() - (10 * n * n + 2);
            assert!(
                surface
                    .vertices()
                    .into_iter()
                    .eq(inside as u32..mesh.positions.len() as u32)
            );
            assert_eq!(mesh.positions[0], Vector3::zeros());
            for position in &mesh.positions[inside..] {
                assert!((position.norm() - 0.3).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn volume_converges_to_that_of_the_sphere() {
        let exact = 4.0 / 3.0 * core::f64::consts::PI;
        let deficit = |n| 1.0 - TetrahedralMesh::ball(1.0, n).unwrap().volume() / exact;
        assert!((1.0 - deficit(1) - 0.605).abs() < 1e-3 && (1.0 - deficit(2) - 0.87).abs() < 5e-3);
        // Second order: halving the edges divides the deficit by four; the tolerance covers the higher orders at n = 4.
        assert!(
            (deficit(4) / deficit(8) - 4.0).abs() < 0.2,
            "{}",
            deficit(4) / deficit(8)
        );
    }

    #[test]
    fn tetrahedra_are_well_shaped() {
        for n in 1..=8 {
            let mesh = TetrahedralMesh::ball(1.0, n).unwrap();
            let worst = (0..mesh.tetrahedra.len())
                .map(|t| mesh.tetrahedron_quality(t))
                .fold(1.0, f64::min);
            assert!(worst > 0.5, "{n} subdivisions: {worst}");
        }
    }

    #[test]
    fn center_of_mass_is_the_center() {
        assert!(
            TetrahedralMesh::ball(1.0, 1)
                .unwrap()
                .center_of_mass()
                .norm()
                < 1e-15
        );
    }

    #[test]
    fn arguments_are_checked() {
        for (radius, subdivisions) in [
            (0.0, 1),
            (-1.0, 1),
            (f64::NAN, 1),
            (1.0, 0),
            (1.0, 256),
            (1.0, usize::MAX),
        ] {
            let result = TetrahedralMesh::ball(radius, subdivisions);
            assert!(
                matches!(result, Err(MeshError::InvalidArgument { .. })),
                "{radius} {subdivisions}"
            );
        }
    }
}
