//! Frequency of a sampled oscillation.

use nalgebra::{Matrix3, Vector3};

/// The oscillation `mean + amplitude · cos(2π frequency t + phase)` that fits samples best.
#[derive(Clone, Copy, Debug)]
pub struct Harmonic {
    /// Hz.
    pub frequency: f64,
    /// Constant part, in the unit of the samples.
    pub mean: f64,
    /// Amplitude, in the unit of the samples.
    pub amplitude: f64,
    /// Root mean square of what is left over, in the unit of the samples.
    pub residual: f64,
}

/// Fits an oscillation by least squares, looking for its frequency between half and twice `guess` (Hz).
///
/// `None` if there are too few samples or if they are not finite.
pub fn fit(times: &[f64], values: &[f64], guess: f64) -> Option<Harmonic> {
    let at = |frequency: f64| fit_at(times, values, frequency);
    // A coarse search first: the residual has several local minima.
    let candidates = (0..=300).map(|step| guess * (0.5 + 1.5 * f64::from(step) / 300.0));
    let best = candidates
        .filter_map(at)
        .min_by(|a, b| a.residual.total_cmp(&b.residual))?;
    let spacing = guess * 1.5 / 300.0;
    let (mut low, mut high) = (best.frequency - spacing, best.frequency + spacing);
    // Ternary search: the minimum is the only one between its neighbors.
    for _ in 0..80 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(left)?.residual < at(right)?.residual {
            high = right;
        } else {
            low = left;
        }
    }
    at(f64::midpoint(low, high))
}

/// Fits mean, cosine and sine at one frequency.
fn fit_at(times: &[f64], values: &[f64], frequency: f64) -> Option<Harmonic> {
    let basis = |time: f64| {
        let (sine, cosine) = (std::f64::consts::TAU * frequency * time).sin_cos();
        Vector3::new(1.0, cosine, sine)
    };
    let mut normal = Matrix3::zeros();
    let mut right = Vector3::zeros();
    for (&time, &value) in times.iter().zip(values) {
        let row = basis(time);
        normal += row * row.transpose();
        right += row * value;
    }
    let solution = normal.cholesky()?.solve(&right);
    let squares: f64 = times
        .iter()
        .zip(values)
        .map(|(&time, &value)| (value - solution.dot(&basis(time))).powi(2))
        .sum();
    let residual = (squares / times.len() as f64).sqrt();
    residual.is_finite().then_some(Harmonic {
        frequency,
        mean: solution.x,
        amplitude: solution.y.hypot(solution.z),
        residual,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_is_found_again() {
        let times: Vec<f64> = (0..240).map(|step| f64::from(step) / 60.0).collect();
        let values: Vec<f64> = times
            .iter()
            .map(|time| 0.3 + 0.02 * (std::f64::consts::TAU * 0.53 * time + 0.4).cos())
            .collect();
        let found = fit(&times, &values, 0.5).expect("enough samples");
        assert!((found.frequency - 0.53).abs() < 1e-9);
        assert!((found.mean - 0.3).abs() < 1e-9);
        assert!((found.amplitude - 0.02).abs() < 1e-9);
    }

    #[test]
    fn too_few_samples_give_nothing() {
        assert!(fit(&[0.0], &[1.0], 1.0).is_none());
    }
}
