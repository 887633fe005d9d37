//! Reading tetrahedral and triangle meshes from files, and writing meshes for other programs.
//!
//! | extension | format | file |
//! |---|---|---|
//! | `.msh` | Gmsh 2.2 and 4.1, ASCII | `gmsh`, written by `gmsh_write` |
//! | `.mesh` | Medit, ASCII | `medit` |
//! | `.node` + `.ele` | `TetGen` | `tetgen` |
//! | `.vtk` | VTK legacy unstructured grid, ASCII, versions 2 to 5 | `vtk` |
//! | `.obj` | Wavefront: triangle meshes | `obj_read`, written by `obj` |
//!
//! Positions are taken as metres; scale the mesh with [`TetrahedralMesh::scaled_by`] if the file has another unit.
//! Second-order tetrahedra are read by their four corners. Triangles, lines, points and other elements are skipped, as are
//! groups, attributes and data.
//!
//! A mesh that is returned is [valid](TetrahedralMesh::validate). To that end three things are put right, and counted in
//! [`Repairs`]: tetrahedra listed in mirrored order are turned around (the formats do not agree on an order),
//! vertices of no tetrahedron are dropped, and sparse vertex numbers are compacted. Everything else is a
//! [`ReadError`] that names the file, the line and what was expected. Triangle meshes are [repaired](TriangleMesh::repair)
//! likewise, and counted in [`TriangleRepairs`].
//!
//! # Rejected alternatives
//! The published readers `mshio` 0.4.2 (Gmsh 4.1 only) and `vtkio` 0.7.0-rc2 parse these formats, but their errors carry
//! no line numbers: the one returns slices of the input with the kind of failure, the other the kind alone. A person who
//! repairs a file by hand needs the line, so the readers here share a small tokenizer that counts lines.
//! `tobj` 4 reads Wavefront files, but without lines in its errors, and in single precision unless a feature is set that
//! changes the types of its interface for every crate of a program.

mod assemble;
mod error;
mod gmsh;
mod gmsh_write;
mod medit;
mod obj;
mod obj_read;
mod tetgen;
mod tokens;
mod vtk;

#[cfg(test)]
mod damage;
#[cfg(test)]
mod real_files;

pub use assemble::Repairs;
pub use error::ReadError;
pub use gmsh::parse_gmsh;
pub use gmsh_write::write_gmsh;
pub use medit::parse_medit;
pub use obj::write_obj;
pub use obj_read::parse_obj;
pub use tetgen::parse_tetgen;
pub use vtk::parse_vtk;

use std::path::Path;

use crate::mesh::{TetrahedralMesh, TriangleMesh, TriangleRepairs};

/// Reads a tetrahedral mesh, in the format that the extension of `path` names (see the [module](self)).
///
/// For `TetGen` either of the two files may be given; the other must lie beside it.
///
/// # Errors
/// [`ReadError`].
pub fn read_tetrahedral_mesh(path: impl AsRef<Path>) -> Result<TetrahedralMesh, ReadError> {
    read_tetrahedral_mesh_with_repairs(path).map(|(mesh, _)| mesh)
}

/// Like [`read_tetrahedral_mesh`], and says what had to be put right.
///
/// # Errors
/// [`ReadError`].
pub fn read_tetrahedral_mesh_with_repairs(
    path: impl AsRef<Path>,
) -> Result<(TetrahedralMesh, Repairs), ReadError> {
    let path = path.as_ref();
    match extension(path).as_str() {
        "msh" => parse_gmsh(&text(path)?, &path.to_string_lossy()),
        "mesh" => parse_medit(&text(path)?, &path.to_string_lossy()),
        "vtk" => parse_vtk(&text(path)?, &path.to_string_lossy()),
        "node" | "ele" => {
            let (nodes, elements) = (path.with_extension("node"), path.with_extension("ele"));
            parse_tetgen(
                &text(&nodes)?,
                &nodes.to_string_lossy(),
                &text(&elements)?,
                &elements.to_string_lossy(),
            )
        }
        _ => Err(ReadError::UnknownFormat {
            file: path.to_string_lossy().into_owned(),
        }),
    }
}

/// Reads a triangle mesh from a Wavefront file (`.obj`).
///
/// # Errors
/// [`ReadError`].
pub fn read_triangle_mesh(path: impl AsRef<Path>) -> Result<TriangleMesh, ReadError> {
    read_triangle_mesh_with_repairs(path).map(|(mesh, _)| mesh)
}

/// Like [`read_triangle_mesh`], and says what had to be put right.
///
/// # Errors
/// [`ReadError`].
pub fn read_triangle_mesh_with_repairs(
    path: impl AsRef<Path>,
) -> Result<(TriangleMesh, TriangleRepairs), ReadError> {
    let path = path.as_ref();
    match extension(path).as_str() {
        "obj" => parse_obj(&text(path)?, &path.to_string_lossy()),
        _ => Err(ReadError::UnknownSurfaceFormat {
            file: path.to_string_lossy().into_owned(),
        }),
    }
}

/// The extension in lower case; empty if there is none.
fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}

/// The file as text. Bytes that are no text are replaced, so that binary files reach the parser, which knows how to name
/// them.
fn text(path: &Path) -> Result<String, ReadError> {
    let bytes = std::fs::read(path).map_err(|source| ReadError::Open {
        file: path.to_string_lossy().into_owned(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_unknown_files_are_named() {
        let error = read_tetrahedral_mesh("/nowhere/body.msh").unwrap_err();
        assert!(
            matches!(error, ReadError::Open { .. })
                && error.to_string().contains("/nowhere/body.msh")
        );
        let error = read_tetrahedral_mesh("body.stl").unwrap_err();
        assert!(error.to_string().contains(".msh"), "{error}");
        let error = read_triangle_mesh("/nowhere/flag.OBJ").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("/nowhere/flag.OBJ: cannot be read"),
            "{error}"
        );
        let error = read_triangle_mesh("flag.stl").unwrap_err();
        assert!(
            error.to_string().starts_with("flag.stl: unknown format"),
            "{error}"
        );
    }
}
