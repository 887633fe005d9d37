//! Meshes: the rest geometry of a body, as plain data. Solids are tetrahedral meshes, cloth and skins triangle meshes.
//!
//! A [`TetrahedralMesh`] is a list of positions and a list of tetrahedra; nothing in it moves. It is in metres and in
//! double precision whatever the precision of the simulation, because rest volumes of small tetrahedra are differences of
//! large products and a mesh is built once.
//!
//! | file | concept |
//! |---|---|
//! | `tetrahedral` | the mesh itself |
//! | `generate` | block, ball, cylinder, torus, closed tube |
//! | `transform`, `join`, `remove` | edits: place, weld, take away |
//! | `measure` | volume, bounds, center of mass, edges |
//! | `surface` | the boundary triangles, outward |
//! | `chart` | texture coordinates of the boundary, with seams |
//! | `validate`, `error` | what a usable mesh is, and what is wrong with another |
//! | `triangle` | triangle meshes, from generators to tearing |
//!
//! Two tetrahedra may share a face, an edge only (a hinge) or a vertex only (a ball joint): all three are legal
//! `[000 ch. 4]`.
//!
//! # Texture coordinates
//!
//! A closed surface cannot be painted without seams, so a vertex has no single texture coordinate: coordinates belong to the
//! corners of triangles. They are evaluated when the surface is extracted, from the rest positions and from the
//! [`TextureChart`] of the tetrahedron behind each triangle. Storing coordinates per vertex was rejected: it would need
//! duplicated vertices along seams, which tears the solid, and it would have no answer for faces that appear when
//! tetrahedra are removed.

mod chart;
mod error;
mod generate;
mod join;
mod measure;
mod remove;
mod surface;
mod tetrahedral;
mod transform;
mod triangle;
mod validate;

pub use chart::{TextureChart, TextureMapping};
pub use error::MeshError;
pub use generate::CellSplit;
pub use surface::SurfaceMesh;
pub use tetrahedral::TetrahedralMesh;
pub use triangle::{
    MeshEdge, RestFrame, Rope, SLIVER_LIMIT, SheetCorner, SheetGrid, SheetPattern, SheetSide,
    SpringKind, SpringNet, Torn, TornTriangles, TriangleMesh, TriangleMeshError, TriangleMeshHint,
    TriangleRepairs, TriangleTopology, tear_triangles, triangulate_polygon,
};
pub use validate::FLATNESS_LIMIT;
