//! Meshes of real objects written by other programs. They are not part of the crate: the tests look for them in the folder
//! named by `PLIANT_DATA`, or beside the crate, and pass without checking anything where they are absent.

use std::path::PathBuf;

use super::{Repairs, read_tetrahedral_mesh_with_repairs, read_triangle_mesh_with_repairs};

fn folder() -> Option<PathBuf> {
    let data = std::env::var_os("PLIANT_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")),
        PathBuf::from,
    );
    if data.is_dir() {
        return Some(data);
    }
    eprintln!(
        "no {}: set PLIANT_DATA to check the readers against real files",
        data.display()
    );
    None
}

#[test]
fn real_files_are_read_whole_and_valid() {
    let Some(folder) = folder() else { return };
    let expected = [
        ("tet/spot.v2.msh", 930, 2679),
        ("tet/fish.vtk", 982, 2635),
        ("tet/penguin.mesh", 3764, 13079),
        ("tet/wingnut.v4.msh", 2050, 7602),
        ("tet/torus.node", 3134, 11391),
        ("tet/torus.ele", 3134, 11391),
        ("tet/hand_open_surface.v2.msh", 1058, 3312),
        ("fem/beam_20x2x2.node", 189, 480),
    ];
    for (name, vertices, tetrahedra) in expected {
        let (mesh, repairs) = read_tetrahedral_mesh_with_repairs(folder.join(name)).unwrap();
        eprintln!("{name}: {repairs:?}");
        assert_eq!(
            (mesh.positions.len(), mesh.tetrahedra.len()),
            (vertices, tetrahedra),
            "{name}"
        );
        assert_eq!(mesh.validate(), Ok(()), "{name}");
        assert_eq!(repairs, Repairs::default(), "{name}");
        let surface = mesh.surface().unwrap();
        assert!(
            surface
                .corner_coordinates
                .iter()
                .flatten()
                .flatten()
                .all(|value| (-1e-6..=1.0 + 1e-6).contains(value))
        );
    }
}

#[test]
fn real_files_cut_short_are_errors() {
    let Some(folder) = folder() else { return };
    for name in [
        "tet/spot.v2.msh",
        "tet/fish.vtk",
        "tet/penguin.mesh",
        "tet/wingnut.v4.msh",
    ] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        for part in 0..20 {
            let end = text.len() * part / 20;
            let outcome = match name.rsplit('.').next() {
                Some("vtk") => super::parse_vtk(&text[..end], name),
                Some("mesh") => super::parse_medit(&text[..end], name),
                _ => super::parse_gmsh(&text[..end], name),
            };
            assert!(outcome.is_err(), "{name} cut after {end} bytes");
        }
    }
}

#[test]
fn real_surfaces_are_read_whole_and_valid() {
    let Some(folder) = folder() else { return };
    let expected = [
        ("surface/cube.obj", 26, 48, true, 2),
        ("surface/fish_low_resolution.obj", 945, 1886, true, 2),
        ("surface/hand_lowres.obj", 810, 1602, false, 1),
        ("surface/penguin.obj", 3362, 6720, true, 2),
        ("surface/spot_low_resolution.obj", 829, 1654, true, 2),
        ("surface/torus.obj", 2304, 4608, true, 0),
        ("surface/wingnut.obj", 3047, 6090, true, 2),
    ];
    for (name, vertices, triangles, closed, characteristic) in expected {
        let (mesh, repairs) = read_triangle_mesh_with_repairs(folder.join(name)).unwrap();
        eprintln!("{name}: {repairs}");
        let counts = (mesh.positions.len(), mesh.triangles.len());
        assert_eq!(counts, (vertices, triangles), "{name}");
        assert_eq!(mesh.validate(), Ok(()), "{name}");
        assert!(!repairs.any(), "{name}");
        assert_eq!(mesh.hints(), [], "{name}");
        let topology = mesh.topology().unwrap();
        assert_eq!(topology.is_closed(), closed, "{name}");
        assert_eq!(topology.euler_characteristic(), characteristic, "{name}");
        assert!(mesh.enclosed_volume() > 0.0, "{name}");
        assert_eq!(
            mesh.corner_coordinates.is_some(),
            name.contains("cube"),
            "{name}"
        );
    }
}
