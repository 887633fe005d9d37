//! What a run leaves behind, and how far it is from another one.

use nalgebra::{Matrix3, Vector3};

use crate::case::Case;

/// The frames that the clock ignores: caches and first estimates are no part of a frame.
const WARM_FRAMES: usize = 3;

/// Measurements of a run.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// The watched point at the end of each frame, m.
    pub watched: Vec<Vector3<f64>>,
    /// Wall time of each frame, ms.
    pub milliseconds: Vec<f64>,
    /// Largest number of inverted tetrahedra in any frame.
    pub inverted: usize,
    /// Largest error of the volume in any frame, relative to the volume at rest.
    pub volume_error: f64,
    /// Most substeps of any frame, where the engine tells.
    pub substeps: Option<u32>,
}

impl Motion {
    /// Takes in a frame that took that long.
    pub fn record(&mut self, case: &Case, positions: &[Vector3<f64>], milliseconds: f64) {
        self.watched.push(mean(case, positions));
        self.milliseconds.push(milliseconds);
        let volumes = case.mesh.tetrahedra.iter().map(|corners| {
            let [origin, ends @ ..] = corners.map(|corner| positions[corner as usize]);
            Matrix3::from_columns(&ends.map(|end| end - origin)).determinant() / 6.0
        });
        let (mut total, mut inverted) = (0.0, 0);
        for volume in volumes {
            total += volume;
            inverted += usize::from(volume <= 0.0 || volume.is_nan());
        }
        self.inverted = self.inverted.max(inverted);
        let error = (total / case.mesh.volume() - 1.0).abs();
        // A plain maximum would pass over numbers that are not numbers.
        self.volume_error = if error.is_nan() || self.volume_error.is_nan() {
            f64::NAN
        } else {
            self.volume_error.max(error)
        };
    }

    /// Median wall time of a frame, ms.
    pub fn median_milliseconds(&self) -> f64 {
        median_milliseconds(&self.milliseconds)
    }

    /// Root mean square distance of the watched point from that of `reference`, relative to the largest distance that
    /// the latter gets from its start.
    pub fn error(&self, case: &Case, reference: &Self) -> f64 {
        let start = mean(case, &case.mesh.positions);
        let reach = reference
            .watched
            .iter()
            .map(|point| (point - start).norm())
            .fold(0.0, f64::max);
        let squares = self
            .watched
            .iter()
            .zip(&reference.watched)
            .map(|(point, expected)| (point - expected).norm_squared());
        (squares.sum::<f64>() / reference.watched.len() as f64).sqrt() / reach
    }
}

/// Median of wall times of frames, ms, without the first ones.
pub fn median_milliseconds(milliseconds: &[f64]) -> f64 {
    let mut times = milliseconds[WARM_FRAMES.min(milliseconds.len())..].to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn mean(case: &Case, positions: &[Vector3<f64>]) -> Vector3<f64> {
    let points = case.watched.iter().map(|&index| positions[index as usize]);
    points.sum::<Vector3<f64>>() / case.watched.len() as f64
}
