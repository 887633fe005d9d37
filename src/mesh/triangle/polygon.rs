//! Cutting polygons into triangles.

use nalgebra::Vector3;

/// Cuts a polygon into triangles that face the same way; three indices into `corners` each.
///
/// A quadrilateral is cut along its shorter diagonal if both diagonals are inside. Any other polygon loses one ear after the
/// other: a corner that bends outward and whose triangle holds no other corner. It may be concave and slightly bent, but
/// must not cross itself; where no ear is found, a corner is cut off all the same, so the count is always two less than the
/// corners. No triangles for less than three corners.
pub fn triangulate_polygon(corners: &[Vector3<f64>]) -> Vec<[usize; 3]> {
    let mut rest: Vec<usize> = (0..corners.len()).collect();
    let mut triangles = Vec::with_capacity(corners.len().saturating_sub(2));
    // Twice the area times the normal, whatever the shape.
    let normal =
        (1..corners.len().max(2) - 1).fold(Vector3::zeros(), |sum: Vector3<f64>, index| {
            sum + (corners[index] - corners[0]).cross(&(corners[index + 1] - corners[0]))
        });
    while rest.len() > 3 {
        let ear = |at: usize| ear_at(&rest, at);
        let mut ears = (0..rest.len()).filter(|&at| is_ear(corners, &rest, at, &normal));
        let chosen = if rest.len() == 4 {
            ears.min_by(|&a, &b| {
                let diagonal = |at| {
                    let [before, _, after] = ear(at);
                    (corners[before] - corners[after]).norm()
                };
                diagonal(a).total_cmp(&diagonal(b))
            })
        } else {
            ears.next()
        };
        let at = chosen.unwrap_or(1);
        triangles.push(ear_at(&rest, at));
        rest.remove(at);
    }
    if let [a, b, c] = rest[..] {
        triangles.push([a, b, c]);
    }
    triangles
}

/// The corner at a place of the rest, between its neighbors.
fn ear_at(rest: &[usize], at: usize) -> [usize; 3] {
    let count = rest.len();
    [
        rest[(at + count - 1) % count],
        rest[at],
        rest[(at + 1) % count],
    ]
}

fn is_ear(corners: &[Vector3<f64>], rest: &[usize], at: usize, normal: &Vector3<f64>) -> bool {
    let ear = ear_at(rest, at);
    let [a, b, c] = ear.map(|index| corners[index]);
    let left = |from: &Vector3<f64>, to: &Vector3<f64>, point: &Vector3<f64>| {
        (to - from).cross(&(point - from)).dot(normal)
    };
    let others = rest
        .iter()
        .filter(|index| !ear.contains(index))
        .map(|&index| &corners[index]);
    left(&a, &b, &c) > 0.0
        && !others.into_iter().any(|point| {
            left(&a, &b, point) >= 0.0 && left(&b, &c, point) >= 0.0 && left(&c, &a, point) >= 0.0
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(corners: &[[f64; 2]]) -> Vec<Vector3<f64>> {
        corners
            .iter()
            .map(|&[x, y]| Vector3::new(x, y, 0.5))
            .collect()
    }

    /// All triangles face +z and cover the area of the polygon.
    fn check(corners: &[[f64; 2]], area: f64) -> Vec<[usize; 3]> {
        let positions = flat(corners);
        let triangles = triangulate_polygon(&positions);
        assert_eq!(triangles.len(), corners.len() - 2);
        let mut sum = 0.0;
        for triangle in &triangles {
            let [a, b, c] = triangle.map(|index| positions[index]);
            let doubled = (b - a).cross(&(c - a)).z;
            assert!(doubled > 0.0, "{triangle:?}");
            sum += 0.5 * doubled;
        }
        assert!((sum - area).abs() < 1e-12);
        triangles
    }

    #[test]
    fn quadrilaterals_are_cut_along_the_shorter_diagonal() {
        let kite = [[0.0, 0.0], [2.0, -0.5], [4.0, 0.0], [2.0, 0.5]];
        assert_eq!(check(&kite, 2.0), [[3, 0, 1], [1, 2, 3]]);
        let turned = [[2.0, -0.5], [4.0, 0.0], [2.0, 0.5], [0.0, 0.0]];
        assert_eq!(check(&turned, 2.0), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn concave_polygons_are_covered_once() {
        // An arrowhead: the longer diagonal is the one inside.
        check(&[[0.0, 0.0], [2.0, 2.0], [0.0, 1.0], [-2.0, 2.0]], 2.0);
        // An L, and a square with a corner in the middle of a side.
        check(
            &[
                [0.0, 0.0],
                [2.0, 0.0],
                [2.0, 1.0],
                [1.0, 1.0],
                [1.0, 2.0],
                [0.0, 2.0],
            ],
            3.0,
        );
        check(
            &[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]],
            4.0,
        );
        // A comb.
        let comb = [
            [0.0, 0.0],
            [5.0, 0.0],
            [5.0, 2.0],
            [4.0, 2.0],
            [4.0, 1.0],
            [3.0, 1.0],
            [3.0, 2.0],
            [2.0, 2.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [0.0, 2.0],
        ];
        check(&comb, 8.0);
    }

    #[test]
    fn what_is_no_polygon_ends_too() {
        assert!(triangulate_polygon(&[]).is_empty());
        assert!(triangulate_polygon(&flat(&[[0.0, 0.0], [1.0, 0.0]])).is_empty());
        assert_eq!(triangulate_polygon(&[Vector3::zeros(); 5]).len(), 3);
    }
}
