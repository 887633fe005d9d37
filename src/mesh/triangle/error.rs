//! What can be wrong with a triangle mesh or with a request to build one.

use thiserror::Error;

use crate::mesh::MeshError;

/// A defect of a [`TriangleMesh`](super::TriangleMesh), or an impossible request.
///
/// Each variant names the first offender, its place in metres where it has one, and, in `total`, how many there are.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TriangleMeshError {
    /// There is nothing to simulate.
    #[error(
        "the mesh has no triangles: add some, or check that the edit before did not remove all of them"
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
    /// A triangle refers to a vertex that does not exist.
    #[error(
        "triangle {triangle} uses vertex {index}, but there are only {vertices} vertices ({total} such in total): indices start at 0"
    )]
    IndexOutOfRange {
        /// Triangle index.
        triangle: usize,
        /// The index that is too large.
        index: u32,
        /// Number of vertices of the mesh.
        vertices: usize,
        /// How many triangles have this defect.
        total: usize,
    },
    /// A list that runs parallel to the triangles or to the vertices has another length.
    #[error(
        "`{list}` has {length} entries, but there are {expected} {what}: give one for each, or `None`"
    )]
    WrongLength {
        /// Name of the field.
        list: &'static str,
        /// How many entries it has.
        length: usize,
        /// How many it should have.
        expected: usize,
        /// What each entry belongs to.
        what: &'static str,
    },
    /// A texture coordinate or a color is infinite or not a number.
    #[error(
        "`{list}` of {what} {index} has a value that is not finite ({total} such in total): correct it, or set `{list}` to `None`"
    )]
    NonFiniteAttribute {
        /// Name of the field.
        list: &'static str,
        /// What the entry belongs to.
        what: &'static str,
        /// Which of them.
        index: usize,
        /// How many entries have this defect.
        total: usize,
    },
    /// A triangle lists a vertex twice.
    #[error(
        "triangle {triangle} with vertices {vertices:?} lists vertex {vertex}, at {position:?}, more than once ({total} such in total): call `repair`, which drops it"
    )]
    RepeatedVertex {
        /// Triangle index.
        triangle: usize,
        /// Its vertices.
        vertices: [u32; 3],
        /// The vertex listed twice.
        vertex: u32,
        /// Its position, m.
        position: [f64; 3],
        /// How many triangles have this defect.
        total: usize,
    },
    /// A triangle has no area to speak of; see [`SLIVER_LIMIT`](super::SLIVER_LIMIT).
    #[error(
        "triangle {triangle} with vertices {vertices:?} near {place:?} has no area: {area:e} m² with a longest edge of {longest_edge:e} m ({total} such in total): move its vertices apart, weld those that coincide with `repair(Some(tolerance))`, or call `repair(None)`, which drops it"
    )]
    Sliver {
        /// Triangle index.
        triangle: usize,
        /// Its vertices.
        vertices: [u32; 3],
        /// Its center, m.
        place: [f64; 3],
        /// Its area, m².
        area: f64,
        /// Longest edge, m.
        longest_edge: f64,
        /// How many triangles have this defect.
        total: usize,
    },
    /// Two triangles have the same three vertices.
    #[error(
        "triangle {triangle} near {place:?} has the same vertices {vertices:?} as triangle {first} ({total} such in total): call `repair`, which drops it"
    )]
    RepeatedTriangle {
        /// Index of the later triangle.
        triangle: usize,
        /// Index of the triangle it repeats.
        first: usize,
        /// Vertices of the later triangle.
        vertices: [u32; 3],
        /// Its center, m.
        place: [f64; 3],
        /// How many triangles repeat an earlier one.
        total: usize,
    },
    /// More than two triangles share an edge, so the mesh is no surface there.
    #[error(
        "edge {edge:?} from {from:?} to {to:?} belongs to {count} triangles, the first being {triangles:?}, and at most two may share it ({total} such in total): remove the extra triangles, or give them their own copies of the vertices"
    )]
    NonManifoldEdge {
        /// Vertices of the edge, ascending.
        edge: [u32; 2],
        /// Position of the first, m.
        from: [f64; 3],
        /// Position of the second, m.
        to: [f64; 3],
        /// Its first three triangles.
        triangles: [usize; 3],
        /// How many triangles share it.
        count: usize,
        /// How many edges have this defect.
        total: usize,
    },
    /// Two neighbors are listed in opposite senses, so that the mesh has no front.
    #[error(
        "triangles {triangles:?} face opposite sides of their common edge {edge:?} from {from:?} to {to:?} ({total} such in total): call `repair`, or swap two vertices of one of them"
    )]
    InconsistentOrientation {
        /// The two triangles, ascending.
        triangles: [usize; 2],
        /// Vertices of the edge, ascending.
        edge: [u32; 2],
        /// Position of the first, m.
        from: [f64; 3],
        /// Position of the second, m.
        to: [f64; 3],
        /// How many edges have this defect.
        total: usize,
    },
    /// A piece has only one side, like a Möbius band, so no choice of senses agrees.
    #[error(
        "the piece of triangle {triangle} has only one side, which shows at edge {edge:?} from {from:?} to {to:?}: cut it open along a line of edges with `torn`"
    )]
    OneSided {
        /// The first triangle of the piece.
        triangle: usize,
        /// An edge where the senses disagree, ascending.
        edge: [u32; 2],
        /// Position of its first vertex, m.
        from: [f64; 3],
        /// Position of its second vertex, m.
        to: [f64; 3],
    },
    /// No triangle uses a vertex, so it would have no mass.
    #[error(
        "vertex {vertex} at {position:?} belongs to no triangle ({total} such in total): call `repair`, which drops it"
    )]
    UnusedVertex {
        /// Vertex index.
        vertex: usize,
        /// Its position, m.
        position: [f64; 3],
        /// How many vertices have this defect.
        total: usize,
    },
    /// An edge named in a request is no edge of the mesh.
    #[error(
        "`{operation}`: {edge:?} is no edge of the mesh ({total} such in total): name the two vertices of a side of a triangle"
    )]
    UnknownEdge {
        /// The function called.
        operation: &'static str,
        /// The edge as given.
        edge: [u32; 2],
        /// How many edges given are unknown.
        total: usize,
    },
    /// A render mesh cannot be taken over.
    #[error("the render mesh cannot be used: {problem}")]
    RenderMesh {
        /// What is wrong and what to do.
        problem: String,
    },
    /// An argument is out of its range, or the result would be too large.
    #[error(transparent)]
    Request(#[from] MeshError),
}
