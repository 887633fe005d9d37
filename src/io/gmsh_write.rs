//! Writing Gmsh 4.1 files.

use std::io::{Result, Write};

use crate::mesh::TetrahedralMesh;

/// Writes a mesh as Gmsh 4.1 ASCII, in one block, numbered from 1; positions in the shortest decimal form that reads back
/// to the same bits.
///
/// Charts and material slots are not written. The mesh should be [valid](TetrahedralMesh::validate), or
/// [`parse_gmsh`](super::parse_gmsh) will refuse it.
///
/// # Errors
/// What the writer reports.
pub fn write_gmsh(mut writer: impl Write, mesh: &TetrahedralMesh) -> Result<()> {
    let (vertices, tetrahedra) = (mesh.positions.len(), mesh.tetrahedra.len());
    writeln!(writer, "$MeshFormat\n4.1 0 8\n$EndMeshFormat")?;
    writeln!(
        writer,
        "$Nodes\n1 {vertices} 1 {vertices}\n3 1 0 {vertices}"
    )?;
    for number in 1..=vertices {
        writeln!(writer, "{number}")?;
    }
    for position in &mesh.positions {
        writeln!(writer, "{:?} {:?} {:?}", position.x, position.y, position.z)?;
    }
    writeln!(
        writer,
        "$EndNodes\n$Elements\n1 {tetrahedra} 1 {tetrahedra}\n3 1 4 {tetrahedra}"
    )?;
    for (index, corners) in mesh.tetrahedra.iter().enumerate() {
        let [a, b, c, d] = corners.map(|vertex| u64::from(vertex) + 1);
        writeln!(writer, "{} {a} {b} {c} {d}", index + 1)?;
    }
    writeln!(writer, "$EndElements")?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{parse_gmsh, read_tetrahedral_mesh};
    use nalgebra::Vector3;

    const ASSET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/trefoil.msh");

    /// The body of `assets/trefoil.msh`: a trefoil knot 0.22 m across, lying flat, of a tube 26 mm thick.
    fn trefoil() -> TetrahedralMesh {
        let sections = 96;
        let point = |section: usize| {
            let t = core::f64::consts::TAU * section as f64 / sections as f64;
            let (x, z) = (
                t.sin() + 2.0 * (2.0 * t).sin(),
                t.cos() - 2.0 * (2.0 * t).cos(),
            );
            Vector3::new(x, -(3.0 * t).sin(), z) * 0.036
        };
        let centers: Vec<Vector3<f64>> = (0..sections).map(point).collect();
        let mut mesh = TetrahedralMesh::closed_tube(&centers, 0.013, 8).unwrap();
        // To the micrometre, so that the text does not depend on the last bit of a sine; + 0 makes −0 into 0.
        for position in &mut mesh.positions {
            *position = position.map(|value| (value * 1e6).round() / 1e6 + 0.0);
        }
        mesh
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let mesh = TetrahedralMesh::ball(0.1, 3).unwrap();
        let mut text = Vec::new();
        write_gmsh(&mut text, &mesh).unwrap();
        let (read, repairs) = parse_gmsh(core::str::from_utf8(&text).unwrap(), "ball").unwrap();
        assert_eq!(
            (read.positions, read.tetrahedra),
            (mesh.positions, mesh.tetrahedra)
        );
        assert_eq!(repairs, Default::default());
    }

    #[test]
    fn trefoil_asset_is_what_the_generators_make() {
        // After a change of the recipe: set this variable for one run, and look at the new file.
        if std::env::var_os("PLIANT_WRITE_ASSETS").is_some() {
            let file = std::fs::File::create(ASSET).unwrap();
            write_gmsh(std::io::BufWriter::new(file), &trefoil()).unwrap();
        }
        let made = trefoil();
        assert_eq!(made.validate(), Ok(()));
        assert_eq!((made.positions.len(), made.tetrahedra.len()), (864, 2304));
        let worst = (0..2304)
            .map(|tetrahedron| made.tetrahedron_quality(tetrahedron))
            .fold(1.0, f64::min);
        assert!(worst > 0.3, "{worst}");
        let read = read_tetrahedral_mesh(ASSET).unwrap();
        assert_eq!(read.tetrahedra, made.tetrahedra);
        for (read, made) in read.positions.iter().zip(&made.positions) {
            // One step of the rounding, in case another platform's sine tips a tie.
            assert!((read - made).amax() < 1.5e-6);
        }
    }

    #[test]
    fn strands_of_the_trefoil_keep_apart() {
        let mesh = trefoil();
        let center = |section: usize| mesh.positions[section % 96 * 9];
        // Sections more than a sixth of the curve apart belong to different strands.
        let pairs = (0..96).flat_map(|a| (16..=80).map(move |step| (a, a + step)));
        let closest = pairs
            .map(|(a, b)| (center(a) - center(b)).norm())
            .fold(f64::INFINITY, f64::min);
        assert!(closest > 2.0 * 0.013 * 1.2, "{closest}");
    }
}
