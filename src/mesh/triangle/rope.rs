//! Ropes: chains of points.

use nalgebra::Vector3;

use super::springs::{SpringKind, SpringNet};
use super::{TriangleMesh, TriangleMeshError};
use crate::mesh::generate::Arguments;

/// A straight chain of points with its springs: a rope, a thread, a hair.
///
/// Structural springs join neighbors, bend springs points two steps apart. All dual widths are 1, so a modulus is a force
/// here: stiffness is E A / rest length with E A, Young's modulus times cross-section, in N.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rope {
    /// Rest position of each point, m, from the start to the end.
    pub positions: Vec<Vector3<f64>>,
    /// First the structural springs, then the bend springs, each from the start on.
    pub springs: SpringNet,
}

impl Rope {
    /// A rope from `start` to `end` (m) of `segments` equal segments, with `segments` + 1 points.
    ///
    /// # Errors
    /// [`TriangleMeshError::Request`] unless the distance is positive and finite, there is at least one segment, and indices
    /// can count the points; [`TriangleMeshError::NonFinitePosition`] for an end that is not finite.
    pub fn new(
        start: Vector3<f64>,
        end: Vector3<f64>,
        segments: usize,
    ) -> Result<Self, TriangleMeshError> {
        TriangleMesh::new(vec![start, end], Vec::new()).check_data()?;
        let arguments = Arguments("rope");
        let distance = (end - start).norm();
        arguments.positive("distance from start to end", distance)?;
        arguments.at_least("segments", segments, 1, "at least 1")?;
        arguments.count("points", &[segments.saturating_add(1)])?;
        let part = |step: usize| step as f64 / segments as f64;
        // Both ends are exact.
        let positions = (0..=segments).map(|step| start * part(segments - step) + end * part(step));
        let mut springs = SpringNet::default();
        for (reach, kind) in [(1, SpringKind::Structural), (2, SpringKind::Bend)] {
            for from in 0..(segments + 1).saturating_sub(reach) {
                let ends = [from as u32, (from + reach) as u32];
                springs.push(ends, distance * part(reach), kind, 1.0);
            }
        }
        Ok(Self {
            positions: positions.collect(),
            springs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rope_of_four_segments() {
        let (start, end) = (Vector3::new(0.1, 0.2, 0.3), Vector3::new(2.1, 0.2, 0.3));
        let rope = Rope::new(start, end, 4).unwrap();
        assert_eq!(rope.positions.len(), 5);
        assert_eq!((rope.positions[0], rope.positions[4]), (start, end));
        assert!((rope.positions[1] - Vector3::new(0.6, 0.2, 0.3)).norm() < 1e-15);
        let springs = [[0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [1, 3], [2, 4]];
        assert_eq!(rope.springs.springs, springs);
        assert_eq!(
            rope.springs.rest_lengths,
            [0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0]
        );
        assert_eq!(rope.springs.kinds[..4], [SpringKind::Structural; 4]);
        assert_eq!(rope.springs.kinds[4..], [SpringKind::Bend; 3]);
        // Springs in a row: the whole rope has the stiffness E A / length.
        let stiffness = rope.springs.stiffnesses(|_| 10.0);
        let whole = 1.0
            / stiffness[..4]
                .iter()
                .map(|stiffness| 1.0 / stiffness)
                .sum::<f64>();
        assert!((whole - 5.0).abs() < 1e-14);
    }

    #[test]
    fn shortest_rope_has_one_spring() {
        let rope = Rope::new(Vector3::zeros(), Vector3::y(), 1).unwrap();
        assert_eq!((rope.positions.len(), rope.springs.len()), (2, 1));
    }

    #[test]
    fn arguments_are_checked() {
        let (start, end) = (Vector3::zeros(), Vector3::y());
        assert!(Rope::new(start, start, 3).is_err());
        assert!(Rope::new(start, end, 0).is_err());
        assert!(Rope::new(start, end, usize::MAX).is_err());
        assert!(matches!(
            Rope::new(start, end * f64::NAN, 3),
            Err(TriangleMeshError::NonFinitePosition { vertex: 1, .. })
        ));
    }
}
