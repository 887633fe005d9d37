//! Triangle meshes: the rest geometry of cloth, skins and balloons, as plain data.
//!
//! A [`TriangleMesh`] is a list of positions and a list of triangles that share them; nothing in it moves. Like a
//! [`TetrahedralMesh`](super::TetrahedralMesh) it is in metres and in double precision. It may be open or closed, in several
//! pieces, and with holes, but it is a surface with two sides: at most two triangles share an edge, and neighbors are listed
//! in the same sense.
//!
//! | file | concept |
//! |---|---|
//! | `data` | the mesh itself, areas and volume |
//! | `frame` | the flat rest shape of a triangle, along warp and weft |
//! | `sheet`, `disc`, `sphere` | generators |
//! | `select` | which vertices to pin |
//! | `sides`, `topology` | edges, hinges, boundary loops, pieces |
//! | `springs`, `sheet_springs`, `rope` | springs along edges, grids and chains |
//! | `validate`, `check`, `hints`, `error` | what a usable mesh is, and what is wrong with another |
//! | `repair`, `weld`, `orient` | putting the rest right |
//! | `polygon` | cutting polygons into triangles |
//! | `tear` | opening the mesh along edges |
//! | `bevy_mesh` | from a render mesh of Bevy (feature `render`) |
//!
//! # Texture coordinates
//!
//! They belong to the corners of triangles, not to vertices: a seam of the texture is then no seam of the cloth. A mesh that
//! duplicates its vertices along seams, as render meshes do, has to be [welded](TriangleMesh::repair) before it can hold
//! together.

#[cfg(feature = "render")]
mod bevy_mesh;
mod check;
mod data;
mod disc;
mod error;
mod frame;
mod hints;
mod orient;
mod polygon;
mod repair;
mod rope;
mod select;
mod sheet;
mod sheet_springs;
mod sides;
mod sphere;
mod springs;
mod tear;
mod topology;
mod validate;
mod weld;

pub use data::TriangleMesh;
pub use error::TriangleMeshError;
pub use frame::RestFrame;
pub use hints::TriangleMeshHint;
pub use polygon::triangulate_polygon;
pub use repair::TriangleRepairs;
pub use rope::Rope;
pub use sheet::{SheetCorner, SheetGrid, SheetPattern, SheetSide};
pub use springs::{SpringKind, SpringNet};
pub use tear::{Torn, TornTriangles, tear_triangles};
pub use topology::{MeshEdge, TriangleTopology};
pub use validate::SLIVER_LIMIT;
