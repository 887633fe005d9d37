//! From a render mesh of Bevy, such as one that Bevy's glTF loader made.

use std::collections::BTreeMap;

use bevy::mesh::{Mesh, MeshVertexAttribute, PrimitiveTopology, VertexAttributeValues};
use nalgebra::Vector3;

use super::{TriangleMesh, TriangleMeshError};

/// A refusal that says what to do.
fn refused(problem: impl Into<String>) -> TriangleMeshError {
    TriangleMeshError::RenderMesh {
        problem: problem.into(),
    }
}

/// The values of an attribute; `None` if the mesh has none of it.
fn values(
    mesh: &Mesh,
    attribute: MeshVertexAttribute,
) -> Result<Option<&VertexAttributeValues>, TriangleMeshError> {
    mesh.try_attribute_option(attribute).map_err(|_| {
        refused("its data went to the render world: load it with `RenderAssetUsages::MAIN_WORLD` among its usages")
    })
}

impl TriangleMesh {
    /// The mesh of a render mesh: triangle lists and strips, with or without indices. Positions are taken as metres.
    ///
    /// A render mesh lists a vertex once for each normal and texture coordinate it has. Vertices at exactly the same place
    /// become one, so that seams hold together; texture coordinates (`UV_0`) go to the corners, and the color (`COLOR`) is
    /// that of the first vertex at each place. Vertices of no triangle are left out, and triangles that listed one place
    /// twice are dropped.
    ///
    /// Nothing else is put right: call [`repair`](Self::repair) if [`validate`](Self::validate) finds a defect.
    ///
    /// # Errors
    /// [`TriangleMeshError::RenderMesh`] for meshes without triangles or positions, whose data the main world does not have,
    /// or whose attributes have another format than Bevy's own; [`TriangleMeshError::NonFinitePosition`];
    /// [`TriangleMeshError::IndexOutOfRange`].
    pub fn from_bevy_mesh(mesh: &Mesh) -> Result<Self, TriangleMeshError> {
        Self::from_bevy_mesh_with_map(mesh).map(|(mesh, _)| mesh)
    }

    /// Like [`from_bevy_mesh`](Self::from_bevy_mesh), and says for each vertex of the render mesh which vertex it became, so
    /// that the render mesh can follow; `None` if no triangle uses its place.
    ///
    /// # Errors
    /// Those of [`from_bevy_mesh`](Self::from_bevy_mesh).
    pub fn from_bevy_mesh_with_map(
        mesh: &Mesh,
    ) -> Result<(Self, Vec<Option<u32>>), TriangleMeshError> {
        let places = match values(mesh, Mesh::ATTRIBUTE_POSITION)? {
            Some(VertexAttributeValues::Float32x3(places)) => places,
            Some(_) => {
                return Err(refused(
                    "`POSITION` is not three 32-bit numbers per vertex: convert it",
                ));
            }
            None => return Err(refused("it has no `POSITION`: insert positions")),
        };
        let coordinates = match values(mesh, Mesh::ATTRIBUTE_UV_0)? {
            Some(VertexAttributeValues::Float32x2(coordinates)) => Some(coordinates),
            Some(_) => {
                return Err(refused(
                    "`UV_0` is not two 32-bit numbers per vertex: convert or remove it",
                ));
            }
            None => None,
        };
        let colors = match values(mesh, Mesh::ATTRIBUTE_COLOR)? {
            Some(VertexAttributeValues::Float32x4(colors)) => Some(colors),
            Some(_) => {
                return Err(refused(
                    "`COLOR` is not four 32-bit numbers per vertex: convert or remove it",
                ));
            }
            None => None,
        };
        let listed = triangles(mesh, places.len())?;
        let positions = places
            .iter()
            .map(|&place| Vector3::from(place.map(f64::from)));
        let render = Self::new(positions.collect(), listed);
        render.check_data()?;

        let mut known = BTreeMap::new();
        let mut map = Vec::with_capacity(places.len());
        let used = render.used_vertices();
        let mut welded = Self {
            colors: colors.map(|_| Vec::new()),
            ..Self::default()
        };
        for (vertex, place) in places.iter().enumerate() {
            if !used[vertex] {
                map.push(None);
                continue;
            }
            // Adding zero makes one zero of both.
            let key = place.map(|value| (value + 0.0).to_bits());
            map.push(Some(*known.entry(key).or_insert_with(|| {
                welded.positions.push(render.positions[vertex]);
                if let (Some(kept), Some(colors)) = (&mut welded.colors, colors) {
                    kept.push(colors.get(vertex).copied().unwrap_or([1.0; 4]));
                }
                (welded.positions.len() - 1) as u32
            })));
        }
        let mut corners = Vec::with_capacity(render.triangles.len());
        for triangle in &render.triangles {
            let new = triangle.map(|vertex| map[vertex as usize].unwrap_or_default());
            if super::sides::repeated_vertex(&new).is_some() {
                continue;
            }
            welded.triangles.push(new);
            if let Some(coordinates) = coordinates {
                let at = |vertex: u32| {
                    coordinates
                        .get(vertex as usize)
                        .copied()
                        .unwrap_or_default()
                };
                corners.push(triangle.map(at));
            }
        }
        welded.corner_coordinates = coordinates.map(|_| corners);
        Ok((welded, map))
    }
}

/// The triangles of a render mesh by its own vertices.
fn triangles(mesh: &Mesh, vertices: usize) -> Result<Vec<[u32; 3]>, TriangleMeshError> {
    let indices = mesh
        .try_indices_option()
        .map_err(|error| refused(error.to_string()))?;
    let list: Vec<u32> = match indices {
        Some(indices) => indices.iter().map(|index| index as u32).collect(),
        None => (0..vertices as u32).collect(),
    };
    match mesh.primitive_topology() {
        PrimitiveTopology::TriangleList => {
            let (triangles, rest) = list.as_chunks::<3>();
            if !rest.is_empty() {
                return Err(refused(format!(
                    "a list of {} corners makes no whole triangles: give three for each",
                    list.len()
                )));
            }
            Ok(triangles.to_vec())
        }
        // Every second triangle of a strip is listed in the opposite sense.
        PrimitiveTopology::TriangleStrip => Ok(list
            .windows(3)
            .enumerate()
            .map(|(number, corners)| match number % 2 {
                0 => [corners[0], corners[1], corners[2]],
                _ => [corners[1], corners[0], corners[2]],
            })
            .collect()),
        other => Err(refused(format!(
            "it consists of {other:?}: only triangles make a surface"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::asset::RenderAssetUsages;
    use bevy::mesh::Indices;
    use bevy::mesh::MeshBuilder;

    /// Two squares side by side that share no render vertex; the second starts with copies of corners 1 and 3.
    fn split() -> Mesh {
        let places = vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
            [1.0, -0.0, 0.0],
            [2.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [2.0, 1.0, 0.0],
            [9.0, 9.0, 9.0],
        ];
        let coordinates: Vec<[f32; 2]> = (0..9).map(|vertex| [vertex as f32, 0.5]).collect();
        let colors: Vec<[f32; 4]> = (0..9)
            .map(|vertex| [vertex as f32, 0.0, 0.0, 1.0])
            .collect();
        let indices = vec![0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7];
        Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, coordinates)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
        .with_inserted_indices(Indices::U16(indices))
    }

    #[test]
    fn seams_are_welded_and_keep_their_coordinates() {
        let (mesh, map) = TriangleMesh::from_bevy_mesh_with_map(&split()).unwrap();
        assert_eq!(mesh.validate(), Ok(()));
        let expected = [
            Some(0),
            Some(1),
            Some(2),
            Some(3),
            Some(1),
            Some(4),
            Some(3),
            Some(5),
            None,
        ];
        assert_eq!(map, expected);
        assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [1, 4, 3], [3, 4, 5]]);
        assert_eq!(mesh.positions[4], Vector3::new(2.0, 0.0, 0.0));
        let coordinates = mesh.corner_coordinates.as_ref().unwrap();
        assert_eq!(coordinates[1], [[2.0, 0.5], [1.0, 0.5], [3.0, 0.5]]);
        assert_eq!(coordinates[2], [[4.0, 0.5], [5.0, 0.5], [6.0, 0.5]]);
        let reds: Vec<f32> = mesh
            .colors
            .as_ref()
            .unwrap()
            .iter()
            .map(|color| color[0])
            .collect();
        assert_eq!(reds, [0.0, 1.0, 2.0, 3.0, 5.0, 7.0]);
        assert_eq!(mesh.particles_painted(|[red, ..]| red > 4.0), [4, 5]);
        assert_eq!(mesh.topology().unwrap().piece_count(), 1);
    }

    #[test]
    fn strips_and_plain_lists_are_read() {
        let places = vec![
            [0.0_f32, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
        ];
        let mesh = Mesh::new(
            PrimitiveTopology::TriangleStrip,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places.clone());
        let mesh = TriangleMesh::from_bevy_mesh(&mesh).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
        assert_eq!((&mesh.colors, &mesh.corner_coordinates), (&None, &None));
        assert_eq!(mesh.validate(), Ok(()));
        let mesh = Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places[..3].to_vec());
        assert_eq!(
            TriangleMesh::from_bevy_mesh(&mesh).unwrap().triangles,
            [[0, 1, 2]]
        );
    }

    #[test]
    fn shapes_of_bevy_are_closed_once_welded() {
        use bevy::math::primitives::{Cuboid, Sphere, Torus};
        use bevy::mesh::{Meshable, SphereKind};
        let uv = SphereKind::Uv {
            sectors: 16,
            stacks: 8,
        };
        for (mesh, characteristic) in [
            (Mesh::from(Cuboid::new(1.0, 2.0, 3.0)), 2),
            (
                Sphere::new(1.0)
                    .mesh()
                    .kind(SphereKind::Ico { subdivisions: 3 })
                    .build(),
                2,
            ),
        ] {
            let mesh = TriangleMesh::from_bevy_mesh(&mesh).unwrap();
            assert_eq!(mesh.validate(), Ok(()));
            let topology = mesh.topology().unwrap();
            assert!(topology.is_closed() && mesh.enclosed_volume() > 0.0);
            assert_eq!(topology.euler_characteristic(), characteristic);
        }
        // Seams computed by angles meet but for rounding, so these need a tolerance.
        for (mesh, characteristic) in [
            (Sphere::new(1.0).mesh().kind(uv).build(), 2),
            (Mesh::from(Torus::new(0.5, 1.0)), 0),
        ] {
            let mut mesh = TriangleMesh::from_bevy_mesh(&mesh).unwrap();
            mesh.repair(Some(1e-5)).unwrap();
            let topology = mesh.topology().unwrap();
            assert!(topology.is_closed());
            assert_eq!(topology.euler_characteristic(), characteristic);
        }
    }

    #[test]
    fn unusable_meshes_are_refused() {
        let problem = |mesh: &Mesh| TriangleMesh::from_bevy_mesh(mesh).unwrap_err().to_string();
        let bare = |topology| Mesh::new(topology, RenderAssetUsages::default());
        assert!(problem(&bare(PrimitiveTopology::TriangleList)).contains("no `POSITION`"));
        let places = vec![[0.0_f32; 3]; 4];
        let lines = bare(PrimitiveTopology::LineList)
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places.clone());
        assert!(problem(&lines).contains("LineList"));
        let odd = bare(PrimitiveTopology::TriangleList)
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, places.clone());
        assert!(problem(&odd).contains("4 corners"));
        let beyond = odd.with_inserted_indices(Indices::U32(vec![0, 1, 4]));
        assert!(problem(&beyond).contains("vertex 4"));
        let mut gone = split();
        gone.take_gpu_data().unwrap();
        assert!(problem(&gone).contains("render world"));
    }
}
