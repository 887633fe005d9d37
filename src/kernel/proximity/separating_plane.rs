//! Planes that keep two features apart.
//!
//! Two convex features on either side of a plane do not meet, whatever their vertices do, as long as each vertex
//! stays on its own side. So one plane per pair, built from a state without intersections, guards all positions that a
//! solver tries afterwards. Planes are built in double precision from the numbers that are stored, and what rounding can
//! do to a side is subtracted, so that "on its side" is certain.

use nalgebra::Vector3;

use super::PairKind;

/// Least and greatest share of the gap that either feature is given.
const SHARE_BOUNDS: (f64, f64) = (0.05, 0.95);

/// Bound of the rounding errors of n·x − o, relative to Σ |nᵢ xᵢ| + |o|: four operations of 2⁻⁵³ each, doubled.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The points x with n·x > o: where a vertex may go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// n, of about unit length; it need not be exact.
    pub normal: Vector3<f64>,
    /// o, m.
    pub offset: f64,
}

impl HalfSpace {
    /// A number, m, that is certainly not larger than n·x − o; positive only for points inside.
    ///
    /// ```text
    /// s = n·x − o − ε (Σ |nᵢ xᵢ| + |o|)
    /// ```
    /// ε is a bound of the relative rounding errors. Not a number where a coordinate is none.
    ///
    /// Eq: elementary (forward error of a sum `[Golub Van Loan 2013]`).
    #[inline]
    #[must_use]
    pub fn slack(&self, point: &Vector3<f64>) -> f64 {
        let products = self.normal.component_mul(point);
        let magnitude = products.abs().sum() + self.offset.abs();
        products.sum() - self.offset - ROUNDING * magnitude
    }

    /// Whether a point is certainly inside, in spite of rounding.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn contains(&self, point: &Vector3<f64>) -> bool {
        self.slack(point) > 0.0
    }
}

/// A plane n·x = o with the first feature of a pair strictly in front and the second strictly behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeparatingPlane {
    /// The side of the first feature.
    front: HalfSpace,
    /// Distance of the features along the normal, m.
    pub gap: f64,
}

impl SeparatingPlane {
    /// A plane between the features of a pair, or none.
    ///
    /// ```text
    /// g(n) = min n·xᵢ over the first − max n·xⱼ over the second      (support gap)
    /// n    = the direction of the closest points, or the normal e₁ × e₂ of the face or of both edges: whichever has
    ///        the larger support gap
    /// o    = max n·xⱼ + g a₂/(a₁ + a₂),   a = how far a feature is about to approach the other; share in [0.05, 0.95]
    /// ```
    /// The support gap belongs to all vertices of a feature, not to its closest points, and so is good for a plane even
    /// where the closest points are nearer to each other than rounding can tell their direction.
    ///
    /// # Arguments
    /// * `vertices` – positions, m: exactly the stored numbers
    /// * `displacements` – where the vertices are about to move, m; they only place the plane
    ///
    /// # Returns
    /// None where no gap is certain: the features touch, cross, are nearer than rounding (about 1e-14 of the
    /// coordinates), or a number is not finite. The vertices of such a pair must then not move at all (**freeze**).
    ///
    /// Eq: elementary (separating plane of convex sets).
    #[must_use]
    pub fn new(
        kind: PairKind,
        vertices: &[Vector3<f64>; 4],
        displacements: &[Vector3<f64>; 4],
    ) -> Option<Self> {
        let count = kind.first_count();
        let edges = match kind {
            PairKind::VertexFace => (vertices[2] - vertices[1], vertices[3] - vertices[1]),
            PairKind::EdgeEdge => (vertices[1] - vertices[0], vertices[3] - vertices[2]),
        };
        let cross = edges.0.cross(&edges.1);
        let closest = kind.closest_points(vertices).direction();
        let normals = [
            Some(closest),
            cross.try_normalize(0.0),
            (-cross).try_normalize(0.0),
        ];
        let mut best: Option<(f64, f64, Vector3<f64>)> = None;
        for normal in normals.into_iter().flatten() {
            let along = vertices.map(|vertex| normal.dot(&vertex));
            let nearest = along[..count].iter().copied().fold(f64::INFINITY, f64::min);
            let farthest = along[count..]
                .iter()
                .copied()
                .fold(f64::NEG_INFINITY, f64::max);
            let gap = nearest - farthest;
            if best.is_none_or(|(largest, ..)| gap > largest) {
                best = Some((gap, farthest, normal));
            }
        }
        let (gap, farthest, normal) = best?;

        let along = displacements.map(|displacement| normal.dot(&displacement));
        let approach = (
            along[..count]
                .iter()
                .copied()
                .fold(0.0, |most: f64, step| most.max(-step)),
            along[count..]
                .iter()
                .copied()
                .fold(0.0, |most: f64, step| most.max(step)),
        );
        let total = approach.0 + approach.1;
        let share = if total > 0.0 { approach.1 / total } else { 0.5 };
        let share = share.clamp(SHARE_BOUNDS.0, SHARE_BOUNDS.1);
        let front = HalfSpace {
            normal,
            offset: farthest + gap * share,
        };
        let plane = Self { front, gap };
        (0..4)
            .all(|vertex| plane.half_space(kind, vertex).contains(&vertices[vertex]))
            .then_some(plane)
    }

    /// Where a vertex of the pair may go: its side of the plane.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub fn half_space(&self, kind: PairKind, vertex: usize) -> HalfSpace {
        if vertex < kind.first_count() {
            self.front
        } else {
            HalfSpace {
                normal: -self.front.normal,
                offset: -self.front.offset,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::drawn_vertices;
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;

    const KINDS: [PairKind; 2] = [PairKind::VertexFace, PairKind::EdgeEdge];
    const STILL: [Vector3<f64>; 4] = [Vector3::new(0.0, 0.0, 0.0); 4];

    #[test]
    fn gap_is_the_distance_of_the_features() {
        let mut random = Random::new(531);
        for kind in KINDS {
            for _ in 0..5000 {
                let vertices = drawn_vertices(&mut random);
                let plane = SeparatingPlane::new(kind, &vertices, &STILL).expect("apart");
                let distance = kind.closest_points(&vertices).distance();
                assert_relative_eq!(plane.gap, distance, epsilon = 1e-13);
            }
        }
    }

    #[test]
    fn tiny_gaps_far_from_the_origin_have_planes() {
        let mut random = Random::new(532);
        for kind in KINDS {
            for exponent in 4..12 {
                let gap = 10f64.powi(-exponent);
                let center = random.vector(5.0);
                let flat = |random: &mut Random| {
                    let point = random.vector(0.05);
                    center + Vector3::new(point.x, 0.0, point.z)
                };
                let mut vertices: [_; 4] = std::array::from_fn(|_| flat(&mut random));
                for vertex in &mut vertices[..kind.first_count()] {
                    vertex.y += gap;
                }
                let plane = SeparatingPlane::new(kind, &vertices, &STILL).expect("apart");
                assert!(plane.gap > 0.99 * gap - 1e-14);
            }
        }
    }

    #[test]
    fn who_approaches_gets_the_room() {
        let vertices = [
            Vector3::new(0.2, 1.0, 0.2),
            Vector3::zeros(),
            Vector3::x(),
            Vector3::z(),
        ];
        let place = |vertex: f64, face: f64| {
            let moves = [vertex, face, face, face].map(|y| Vector3::new(0.0, y, 0.0));
            let plane = SeparatingPlane::new(PairKind::VertexFace, &vertices, &moves);
            plane.expect("apart").front.offset
        };
        assert_relative_eq!(place(0.0, 0.0), 0.5);
        assert_relative_eq!(place(-3.0, 1.0), 0.25);
        assert_relative_eq!(place(-3.0, 0.0), 0.05);
        assert_relative_eq!(place(5.0, 1.0), 0.95);
        assert_relative_eq!(place(5.0, -1.0), 0.5);
    }

    #[test]
    fn what_touches_crosses_or_is_not_finite_has_no_plane() {
        let touching = [
            Vector3::new(0.2, 0.0, 0.2),
            Vector3::zeros(),
            Vector3::x(),
            Vector3::z(),
        ];
        let crossing = [
            Vector3::new(-1.0, 0.0, 0.1),
            Vector3::new(1.0, 0.0, 0.1),
            Vector3::new(0.0, 0.0, -1.0),
            Vector3::new(0.0, 0.0, 1.0),
        ];
        let mut broken = touching;
        broken[0].y = f64::NAN;
        for vertices in [touching, crossing, broken, [Vector3::x(); 4]] {
            for kind in KINDS {
                if kind == PairKind::EdgeEdge && vertices == touching {
                    continue;
                }
                if kind == PairKind::VertexFace && vertices == crossing {
                    continue;
                }
                assert_eq!(SeparatingPlane::new(kind, &vertices, &STILL), None);
            }
        }
    }

    #[test]
    fn slack_is_a_lower_bound() {
        // Sums that cancel, whose exact values integers give.
        let mut random = Random::new(533);
        let scale = f64::from(1u32 << 24);
        for _ in 0..20_000 {
            let mut integers = || (random.uniform() * scale) as i64;
            let (normal, point) = ([0; 3].map(|_| integers()), [0; 3].map(|_| integers()));
            let sum: i128 = (0..3)
                .map(|axis| i128::from(normal[axis]) * i128::from(point[axis]))
                .sum();
            let plane = HalfSpace {
                normal: Vector3::from(normal.map(|n| n as f64 / scale)),
                offset: sum as f64 / (scale * scale),
            };
            // The offset is within one rounding of the exact product: the point is on the plane to that.
            let point = Vector3::from(point.map(|x| x as f64 / scale));
            assert!(!plane.contains(&point));
            let magnitude = plane.normal.component_mul(&point).abs().sum();
            assert!(plane.slack(&point) > -40.0 * f64::EPSILON * magnitude.max(1e-10));
        }
    }
}
