//! Wavefront `.obj` files, written.

use std::io::{Error, ErrorKind, Result, Write};

/// Writes triangles as a Wavefront file: one `v` line per position, one `f` line per triangle, shortest decimal form that
/// reads back to the same bits.
///
/// For a moving body, write one file per frame with the same triangles. All positions are written, in their order, so that
/// vertex numbers (from 1 in the file) are the same as in the mesh.
///
/// # Errors
/// What the writer reports; [`ErrorKind::InvalidInput`] for a position that is not finite or a triangle with an index out
/// of range, named by index. What was written before remains.
pub fn write_obj<P: Into<[f64; 3]>>(
    mut writer: impl Write,
    positions: impl IntoIterator<Item = P>,
    triangles: &[[u32; 3]],
) -> Result<()> {
    let mut count = 0_usize;
    for position in positions {
        let [x, y, z] = position.into();
        if !(x.is_finite() && y.is_finite() && z.is_finite()) {
            let problem = format!("vertex {count} is at [{x}, {y}, {z}], which is not finite");
            return Err(Error::new(ErrorKind::InvalidInput, problem));
        }
        writeln!(writer, "v {x:?} {y:?} {z:?}")?;
        count += 1;
    }
    for (index, triangle) in triangles.iter().enumerate() {
        if triangle.iter().any(|&vertex| vertex as usize >= count) {
            let problem =
                format!("triangle {index} is {triangle:?}, but there are only {count} vertices");
            return Err(Error::new(ErrorKind::InvalidInput, problem));
        }
        let [a, b, c] = triangle.map(|vertex| u64::from(vertex) + 1);
        writeln!(writer, "f {a} {b} {c}")?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn lines_are_as_the_format_asks() {
        let mut text = Vec::new();
        let positions = [Vector3::new(0.1, -2.0, 3e-9), Vector3::x(), Vector3::y()];
        write_obj(&mut text, positions, &[[0, 1, 2]]).unwrap();
        let expected = "v 0.1 -2.0 3e-9\nv 1.0 0.0 0.0\nv 0.0 1.0 0.0\nf 1 2 3\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn bad_input_is_named() {
        let error = write_obj(Vec::new(), [[0.0, f64::NAN, 0.0]], &[]).unwrap_err();
        assert!(error.to_string().contains("vertex 0"));
        let error = write_obj(Vec::new(), [[0.0; 3]], &[[0, 0, 1]]).unwrap_err();
        assert!(error.to_string().contains("triangle 0"));
    }
}
