//! Wavefront `.obj` files, read.

use core::str::SplitWhitespace;

use nalgebra::Vector3;

use super::ReadError;
use super::tokens::shortened;
use crate::mesh::{TriangleMesh, TriangleRepairs, triangulate_polygon};

/// Words that start a line with nothing for a triangle mesh.
const SKIPPED: [&str; 40] = [
    "vn",
    "vp",
    "g",
    "o",
    "s",
    "mg",
    "p",
    "l",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
    "trace_obj",
    "ctech",
    "stech",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "surf",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "call",
    "csh",
    "cdc",
    "cdp",
    "bzp",
    "bsp",
];

/// A corner of a face: vertex and texture coordinate, counted from 0, not yet known to exist.
type Corner = (u64, Option<u64>);

#[derive(Default)]
struct Lists {
    positions: Vec<Vector3<f64>>,
    colors: Vec<[f32; 4]>,
    coordinates: Vec<[f32; 2]>,
    /// Each face with its line.
    faces: Vec<(usize, Vec<Corner>)>,
    skipped: usize,
}

/// Reads the text of a Wavefront file; `name` is used in messages.
///
/// Polygons are cut into triangles ([`triangulate_polygon`]). Texture coordinates are kept per corner, with the second one
/// turned to run downward; corners without get (0, 0). Colors written behind the positions are kept if all have one. Vertex
/// numbers count from 1, or back from the last vertex if negative; faces may come before their vertices. Normals, groups,
/// materials, lines and curves are skipped.
///
/// The mesh is [repaired](TriangleMesh::repair) without welding: a file that lists vertices twice along seams gives
/// pieces, which [`hints`](TriangleMesh::hints) shows.
///
/// # Errors
/// [`ReadError::Syntax`], [`ReadError::NoTriangles`], [`ReadError::Surface`].
pub fn parse_obj(text: &str, name: &str) -> Result<(TriangleMesh, TriangleRepairs), ReadError> {
    let mut lists = Lists::default();
    let mut lines = text.lines().zip(1..);
    while let Some((first, number)) = lines.next() {
        let mut line = uncommented(first).to_owned();
        // A backslash joins a line with the next one.
        while line.ends_with('\\') {
            line.pop();
            let Some((next, _)) = lines.next() else { break };
            line.push(' ');
            line.push_str(uncommented(next));
        }
        lists
            .read(&line, number)
            .map_err(|problem| syntax(name, number, problem))?;
    }
    lists.finish(name)
}

fn uncommented(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

fn syntax(name: &str, line: usize, problem: String) -> ReadError {
    ReadError::Syntax {
        file: name.to_owned(),
        line,
        problem,
    }
}

impl Lists {
    fn read(&mut self, line: &str, number: usize) -> Result<(), String> {
        let mut words = line.split_whitespace();
        match words.next() {
            None => {}
            Some("v") => {
                let values = numbers(words, "a coordinate")?;
                if ![3, 4, 6, 7].contains(&values.len()) {
                    return Err(format!(
                        "expected 3 coordinates of a vertex, or 6 numbers with its color, found {}",
                        values.len()
                    ));
                }
                self.positions
                    .push(Vector3::new(values[0], values[1], values[2]));
                if let [_, _, _, red, green, blue, ..] = values[..] {
                    let alpha = values.get(6).copied().unwrap_or(1.0);
                    self.colors
                        .push([red, green, blue, alpha].map(|value| value as f32));
                }
            }
            Some("vt") => {
                let values = numbers(words, "a texture coordinate")?;
                if !(1..=3).contains(&values.len()) {
                    return Err(format!(
                        "expected 1 to 3 texture coordinates, found {}",
                        values.len()
                    ));
                }
                let up = values.get(1).copied().unwrap_or(0.0);
                self.coordinates
                    .push([values[0], 1.0 - up].map(|value| value as f32));
            }
            Some("f" | "fo") => {
                let corners = words
                    .map(|word| self.corner(word))
                    .collect::<Result<Vec<_>, _>>()?;
                if corners.len() < 3 {
                    return Err(format!(
                        "expected at least 3 corners of a face, found {}",
                        corners.len()
                    ));
                }
                self.faces.push((number, corners));
            }
            Some(word) if SKIPPED.contains(&word) => self.skipped += 1,
            Some(word) => {
                return Err(format!(
                    "expected a line that starts with `v`, `vt`, `f` or another word of the format, found `{}`",
                    shortened(word)
                ));
            }
        }
        Ok(())
    }

    /// `vertex`, `vertex/coordinate`, `vertex//normal` or `vertex/coordinate/normal`.
    fn corner(&self, word: &str) -> Result<Corner, String> {
        let mut parts = word.split('/');
        let vertex = index(
            parts.next().unwrap_or_default(),
            self.positions.len(),
            "vertex",
            word,
        )?;
        let coordinate = match parts.next() {
            None | Some("") => None,
            Some(part) => Some(index(
                part,
                self.coordinates.len(),
                "texture coordinate",
                word,
            )?),
        };
        Ok((vertex, coordinate))
    }

    fn finish(self, name: &str) -> Result<(TriangleMesh, TriangleRepairs), ReadError> {
        if self.faces.is_empty() {
            return Err(ReadError::NoTriangles {
                file: name.to_owned(),
                skipped: self.skipped,
            });
        }
        let mut triangles = Vec::with_capacity(self.faces.len());
        let mut coordinates = Vec::with_capacity(self.faces.len());
        let mut textured = false;
        for (line, corners) in &self.faces {
            for &(vertex, coordinate) in corners {
                exists(vertex, self.positions.len(), "vertex")
                    .map_err(|problem| syntax(name, *line, problem))?;
                if let Some(coordinate) = coordinate {
                    exists(coordinate, self.coordinates.len(), "texture coordinate")
                        .map_err(|problem| syntax(name, *line, problem))?;
                    textured = true;
                }
            }
            let places: Vec<Vector3<f64>> = corners
                .iter()
                .map(|&(vertex, _)| self.positions[vertex as usize])
                .collect();
            for triangle in triangulate_polygon(&places) {
                triangles.push(triangle.map(|corner| corners[corner].0 as u32));
                coordinates.push(triangle.map(|corner| {
                    corners[corner]
                        .1
                        .map_or([0.0; 2], |coordinate| self.coordinates[coordinate as usize])
                }));
            }
        }
        let colored = self.colors.len() == self.positions.len();
        let mut mesh = TriangleMesh::new(self.positions, triangles);
        mesh.corner_coordinates = textured.then_some(coordinates);
        mesh.colors = colored.then_some(self.colors);
        let repaired = mesh.repair(None);
        let repairs = repaired.map_err(|source| ReadError::Surface {
            file: name.to_owned(),
            source: Box::new(source),
        })?;
        Ok((mesh, repairs))
    }
}

/// All words as finite numbers.
fn numbers(words: SplitWhitespace<'_>, what: &str) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for word in words {
        match word.parse::<f64>() {
            Ok(value) if value.is_finite() => values.push(value),
            Ok(_) => {
                return Err(format!(
                    "{what} must be finite, found `{}`",
                    shortened(word)
                ));
            }
            Err(_) => return Err(format!("expected {what}, found `{}`", shortened(word))),
        }
    }
    Ok(values)
}

/// A number of the file as an index from 0; `count` is how many there are so far.
fn index(part: &str, count: usize, what: &str, word: &str) -> Result<u64, String> {
    let problem = || {
        format!(
            "expected the number of a {what}, found `{}`",
            shortened(word)
        )
    };
    let value = part.parse::<i64>().map_err(|_| problem())?;
    match value {
        0 => Err(format!("there is no {what} 0: they are numbered from 1")),
        1.. => Ok(value as u64 - 1),
        _ => (count as u64)
            .checked_sub(value.unsigned_abs())
            .ok_or_else(|| format!("there is no {what} {value}: there are only {count} so far")),
    }
}

fn exists(index: u64, count: usize, what: &str) -> Result<(), String> {
    if index < count.min(u32::MAX as usize) as u64 {
        return Ok(());
    }
    Err(format!(
        "there is no {what} {} (they run from 1 to {count})",
        index + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{damage, write_obj};
    use super::*;

    const SAMPLE: &str = "# two squares, one bent down\nmtllib cloth.mtl\no flag\n\
        v 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\n\
        vt 0 0\nvt 1 0\nvt 1 1 0\nvt 0 1\nvn 0 0 1\nusemtl red\ns off\n\
        f 1/1/1 2/2/1 3/3/1 4/4/1\nv 1.5 0.0 -1e0\nv 1.5 1 -1\nf 2//1 -2 \\\n -1 3//1 # the second\nl 1 2\n";

    #[test]
    fn sample_is_read() {
        let (mesh, repairs) = parse_obj(SAMPLE, "f").unwrap();
        assert!(!repairs.any());
        assert_eq!(mesh.positions.len(), 6);
        assert_eq!(mesh.positions[4], Vector3::new(1.5, 0.0, -1.0));
        assert_eq!(mesh.triangles.len(), 4);
        let first = mesh
            .triangles
            .iter()
            .zip(mesh.corner_coordinates.as_ref().unwrap());
        for (triangle, corners) in first.take(2) {
            for (&vertex, &[u, v]) in triangle.iter().zip(corners) {
                let position = mesh.positions[vertex as usize];
                assert_eq!([u, v], [position.x as f32, 1.0 - position.y as f32]);
            }
        }
        assert_eq!(mesh.corner_coordinates.as_ref().unwrap()[2], [[0.0; 2]; 3]);
        assert_eq!(mesh.colors, None);
        assert_eq!(
            mesh.topology().unwrap().boundary_loops,
            [[0, 1, 4, 5, 2, 3]]
        );
        assert!((mesh.area() - 1.0 - 1.25_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn colors_are_kept_if_all_vertices_have_one() {
        let text = "v 0 0 0 1 0 0\nv 1 0 0 0 0.5 0 0.25\nv 0 1 0 0 0 1\nf 1 2 3\n";
        let (mesh, _) = parse_obj(text, "f").unwrap();
        let colors = vec![
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 0.5, 0.0, 0.25],
            [0.0, 0.0, 1.0, 1.0],
        ];
        assert_eq!((mesh.colors, mesh.corner_coordinates), (Some(colors), None));
        let (mesh, _) = parse_obj(&text.replacen(" 1 0 0\nv", "\nv", 1), "f").unwrap();
        assert_eq!(mesh.colors, None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mesh = TriangleMesh::sphere(0.3, 4).unwrap();
        let mut text = Vec::new();
        write_obj(&mut text, mesh.positions.iter().copied(), &mesh.triangles).unwrap();
        let (read, repairs) = parse_obj(&String::from_utf8(text).unwrap(), "f").unwrap();
        assert_eq!(
            (read.positions, read.triangles),
            (mesh.positions, mesh.triangles)
        );
        assert!(!repairs.any());
    }

    #[test]
    fn defects_are_repaired_and_counted() {
        let text =
            "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 7 7 7\nf 1 2 3\nf 1 4 3\nf 3 1 2\nf 1 1 2\n";
        let (mesh, repairs) = parse_obj(text, "f").unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 2));
        let counts = [
            repairs.flat_triangles,
            repairs.repeated_triangles,
            repairs.turned_triangles,
            repairs.unused_vertices,
        ];
        assert_eq!(counts, [1; 4]);
    }

    #[test]
    fn damaged_files_are_errors() {
        let valid = |mesh: &(TriangleMesh, TriangleRepairs)| mesh.0.validate().is_ok();
        damage::check_with(SAMPLE, |text| parse_obj(text, "f"), valid);
    }

    #[test]
    fn messages_say_where_and_what() {
        let problem = |from: &str, to: &str| {
            parse_obj(&SAMPLE.replacen(from, to, 1), "f")
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            problem("v 1 1 0\n", "v 1 1\n"),
            "f:6: expected 3 coordinates of a vertex, or 6 numbers with its color, found 2"
        );
        assert_eq!(
            problem("1e0", "1e999"),
            "f:16: a coordinate must be finite, found `-1e999`"
        );
        assert_eq!(
            problem("4/4/1", "7/4/1"),
            "f:15: there is no vertex 7 (they run from 1 to 6)"
        );
        assert_eq!(
            problem("4/4/1", "4/5/1"),
            "f:15: there is no texture coordinate 5 (they run from 1 to 4)"
        );
        assert_eq!(
            problem("-2", "-7"),
            "f:18: there is no vertex -7: there are only 6 so far"
        );
        assert_eq!(
            problem("-2", "0"),
            "f:18: there is no vertex 0: they are numbered from 1"
        );
        assert_eq!(
            problem("f 1/1/1", "f x/1/1"),
            "f:15: expected the number of a vertex, found `x/1/1`"
        );
        assert!(
            problem("o flag", "solid flag").starts_with("f:3: expected a line that starts with")
        );
        let empty = parse_obj("v 0 0 0\nl 1 1\n", "f").unwrap_err().to_string();
        assert!(empty.starts_with("f: no faces"), "{empty}");
        let book = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 2 5\n";
        let error = parse_obj(book, "f").unwrap_err().to_string();
        assert!(error.starts_with("f: edge [0, 1]"), "{error}");
    }
}
