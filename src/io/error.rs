//! Why a file could not be read.

use thiserror::Error;

use crate::mesh::{MeshError, TriangleMeshError};

/// A file that is not a usable mesh.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}")]
    Open {
        /// Path as given.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The extension names no format that is read.
    #[error(
        "{file}: unknown format; readable are .msh (Gmsh), .mesh (Medit), .node with .ele (TetGen) and .vtk (VTK legacy), all ASCII"
    )]
    UnknownFormat {
        /// Path as given.
        file: String,
    },
    /// The text is not what the format asks for.
    #[error("{file}:{line}: {problem}")]
    Syntax {
        /// Path or name as given.
        file: String,
        /// Line, counted from 1; the last one if the file ends too early.
        line: usize,
        /// What was expected and what was found.
        problem: String,
    },
    /// The file is well formed, but has no tetrahedra.
    #[error(
        "{file}: no tetrahedra, only {skipped} other elements: fill the surface with a tetrahedral mesher and export the volume elements"
    )]
    NoTetrahedra {
        /// Path or name as given.
        file: String,
        /// How many elements of other kinds there are.
        skipped: usize,
    },
    /// The file is well formed, but its mesh is not valid. Indices count from 0, with vertices of no tetrahedron left out.
    #[error("{file}: {source}")]
    Mesh {
        /// Path or name as given.
        file: String,
        /// The defect.
        source: MeshError,
    },
    /// The extension names no format of triangle meshes that is read.
    #[error(
        "{file}: unknown format; triangle meshes are read from .obj (Wavefront): export the surface as such"
    )]
    UnknownSurfaceFormat {
        /// Path as given.
        file: String,
    },
    /// The file is well formed, but has no faces.
    #[error(
        "{file}: no faces, only {skipped} lines of other kinds: export the surface as triangles or polygons"
    )]
    NoTriangles {
        /// Path or name as given.
        file: String,
        /// How many lines of other kinds there are, vertices not counted.
        skipped: usize,
    },
    /// The file is well formed, but its triangles make no usable mesh. Indices count from 0.
    #[error("{file}: {source}")]
    Surface {
        /// Path or name as given.
        file: String,
        /// The defect.
        source: Box<TriangleMeshError>,
    },
}
