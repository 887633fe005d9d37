//! What can be wrong with a mesh or with a request to build one.

use thiserror::Error;

/// A defect of a [`TetrahedralMesh`](super::TetrahedralMesh), or an impossible request.
///
/// Each variant names the first offender and, in `total`, how many there are.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// There is nothing to simulate.
    #[error(
        "the mesh has no tetrahedra: add some, or check that the edit before did not remove all of them"
    )]
    Empty,
    /// A coordinate is infinite or not a number.
    #[error(
        "vertex {vertex} is at {position:?}, which is not finite ({total} such in total): correct the position where it was computed"
    )]
    NonFinitePosition {
        /// Vertex index.
        vertex: usize,
        /// Its position, m.
        position: [f64; 3],
        /// How many vertices have this defect.
        total: usize,
    },
    /// A tetrahedron refers to a vertex that does not exist.
    #[error(
        "tetrahedron {tetrahedron} uses vertex {index}, but there are only {vertices} vertices ({total} such in total): indices start at 0"
    )]
    IndexOutOfRange {
        /// Tetrahedron index.
        tetrahedron: usize,
        /// The index that is too large.
        index: u32,
        /// Number of vertices of the mesh.
        vertices: usize,
        /// How many tetrahedra have this defect.
        total: usize,
    },
    /// A tetrahedron refers to a chart that does not exist.
    #[error(
        "tetrahedron {tetrahedron} uses texture chart {chart}, but there are only {charts} ({total} such in total): add the chart, or build the mesh with `TetrahedralMesh::new`, which makes one"
    )]
    ChartOutOfRange {
        /// Tetrahedron index.
        tetrahedron: usize,
        /// The chart index that is too large.
        chart: usize,
        /// Number of charts of the mesh.
        charts: usize,
        /// How many tetrahedra have this defect.
        total: usize,
    },
    /// A tetrahedron lists a vertex twice.
    #[error(
        "tetrahedron {tetrahedron} lists vertex {vertex} more than once ({total} such in total): remove it with `remove_tetrahedra`"
    )]
    RepeatedVertex {
        /// Tetrahedron index.
        tetrahedron: usize,
        /// The vertex listed twice.
        vertex: u32,
        /// How many tetrahedra have this defect.
        total: usize,
    },
    /// A tetrahedron has no volume to speak of; see [`FLATNESS_LIMIT`](super::FLATNESS_LIMIT).
    #[error(
        "tetrahedron {tetrahedron} is flat: volume {volume:e} m³ with a longest edge of {longest_edge:e} m ({total} such in total): move its vertices apart, remesh, or remove it with `remove_tetrahedra`"
    )]
    FlatTetrahedron {
        /// Tetrahedron index.
        tetrahedron: usize,
        /// Signed volume, m³.
        volume: f64,
        /// Longest edge, m.
        longest_edge: f64,
        /// How many tetrahedra have this defect.
        total: usize,
    },
    /// A tetrahedron lists its vertices in the mirrored order.
    #[error(
        "tetrahedron {tetrahedron} is inverted: signed volume {volume:e} m³ ({total} such in total): swap two of its vertices, or call `orient()` if all are listed in either order"
    )]
    InvertedTetrahedron {
        /// Tetrahedron index.
        tetrahedron: usize,
        /// Signed volume, m³.
        volume: f64,
        /// How many tetrahedra have this defect.
        total: usize,
    },
    /// Two tetrahedra have the same four vertices.
    #[error(
        "tetrahedron {tetrahedron} has the same vertices as tetrahedron {first} ({total} such in total): remove it with `remove_tetrahedra`"
    )]
    DuplicateTetrahedron {
        /// Index of the later tetrahedron.
        tetrahedron: usize,
        /// Index of the tetrahedron it repeats.
        first: usize,
        /// How many tetrahedra repeat an earlier one.
        total: usize,
    },
    /// More than two tetrahedra share a face, so at least two of them overlap.
    #[error(
        "face {face:?} belongs to tetrahedra {tetrahedra:?} and at most two may share it ({total} such in total): remove the extra ones with `remove_tetrahedra`"
    )]
    OverusedFace {
        /// Vertex indices of the face, ascending.
        face: [u32; 3],
        /// Its first three tetrahedra.
        tetrahedra: [usize; 3],
        /// How many faces have this defect.
        total: usize,
    },
    /// Two tetrahedra lie on the same side of the face they share, so they overlap.
    #[error(
        "tetrahedra {tetrahedra:?} lie on the same side of their common face {face:?} ({total} such in total): correct their positions or remove one with `remove_tetrahedra`"
    )]
    FoldedFace {
        /// Vertex indices of the face, ascending.
        face: [u32; 3],
        /// The two tetrahedra.
        tetrahedra: [usize; 2],
        /// How many faces have this defect.
        total: usize,
    },
    /// No tetrahedron uses a vertex, so it would have no mass.
    #[error(
        "vertex {vertex} belongs to no tetrahedron ({total} such in total): call `remove_unused_vertices()`"
    )]
    UnusedVertex {
        /// Vertex index.
        vertex: usize,
        /// How many vertices have this defect.
        total: usize,
    },
    /// An argument of a generator or an edit is out of its range.
    #[error("`{operation}`: {parameter} is {value}, but must be {requirement}")]
    InvalidArgument {
        /// The function called.
        operation: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        value: f64,
        /// What is accepted.
        requirement: &'static str,
    },
    /// The result would need more vertices, tetrahedra or charts than its indices can count.
    #[error(
        "`{operation}`: the mesh would have too many {what}: use a coarser mesh or fewer parts"
    )]
    TooLarge {
        /// The function called.
        operation: &'static str,
        /// What there is too much of.
        what: &'static str,
    },
}

/// The first item and the number of items; `None` if there are none.
pub(super) fn first_and_total<T>(mut items: impl Iterator<Item = T>) -> Option<(T, usize)> {
    let first = items.next()?;
    Some((first, 1 + items.count()))
}
