//! Gusty wind as a formula: a sum of waves, smooth in space and time, exactly without divergence, without a grid.
//!
//! The waves come in shells of equal wave number, spaced evenly in its logarithm. A shell has three waves along the
//! axes of a frame that is turned at random. So the variance is the same in all directions, for each seed and not only
//! in the mean over many.

use nalgebra::Vector3;
use simba::simd::{SimdValue, WideF64x4};
use std::f64::consts::TAU;

use super::seeded::Sequence;

/// Shells of equal wave number.
const SHELLS: usize = 10;

/// Waves in all.
const WAVES: usize = 3 * SHELLS;

/// Waves side by side, and how many such groups there are; waves left over have no amplitude.
const LANES: usize = WideF64x4::LANES;
const GROUPS: usize = WAVES.div_ceil(LANES);

/// Wave numbers of the outermost shells over k_e of the spectrum. Larger eddies hold little energy, smaller ones move
/// less than a triangle of cloth.
const SMALLEST_WAVE_NUMBER: f64 = 0.5;
const LARGEST_WAVE_NUMBER: f64 = 32.0;

/// k_e times the integral length scale: √π Γ(5/6)/Γ(1/3).
const INTEGRAL_LENGTH: f64 = 0.746_834;

/// How fast eddies change, over the rate at which they turn.
const UNSTEADINESS: f64 = 0.5;

/// One wave: u = a cos φ + b sin φ, φ = k · x + ω t + φ₀.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Wave {
    /// k, rad/m.
    wave_vector: Vector3<f64>,
    /// a, at right angles to k, m/s.
    cosine: Vector3<f64>,
    /// b, at right angles to k and a and as long as a, m/s.
    sine: Vector3<f64>,
    /// ω, rad/s.
    frequency: f64,
    /// φ₀, rad.
    phase: f64,
}

/// Some waves, one in each lane, with phases in turns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    /// k/2π, 1/m.
    wave_vector: Vector3<WideF64x4>,
    cosine: Vector3<WideF64x4>,
    sine: Vector3<WideF64x4>,
    /// ω/2π, Hz.
    frequency: WideF64x4,
    /// φ₀/2π.
    phase: WideF64x4,
}

impl Group {
    /// Waves from the given place on.
    fn new(waves: &[Wave; WAVES], first: usize) -> Self {
        let pack = |number: &dyn Fn(&Wave) -> f64| {
            let lanes: [f64; LANES] =
                std::array::from_fn(|lane| waves.get(first + lane).map_or(0.0, number));
            WideF64x4::from(lanes)
        };
        let vector = |of: &dyn Fn(&Wave) -> Vector3<f64>| {
            Vector3::new(
                pack(&|wave| of(wave).x),
                pack(&|wave| of(wave).y),
                pack(&|wave| of(wave).z),
            )
        };
        Self {
            wave_vector: vector(&|wave| wave.wave_vector / TAU),
            cosine: vector(&|wave| wave.cosine),
            sine: vector(&|wave| wave.sine),
            frequency: pack(&|wave| wave.frequency / TAU),
            phase: pack(&|wave| wave.phase / TAU),
        }
    }
}

/// Turbulent wind about a mean.
///
/// ```text
/// u(x, t) = U + Σᵢ [aᵢ cos φᵢ + bᵢ sin φᵢ],   φᵢ = kᵢ · (x − U t) + ωᵢ t + φᵢ⁰,   aᵢ, bᵢ ⟂ kᵢ   ⇒ ∇ · u = 0
/// |aᵢ|² = |bᵢ|² ∝ k E(k),   E(k) ∝ k⁴ (k_e² + k²)^(−17/6),   ωᵢ = ±½ √(k³ E(k))
/// ```
/// The waves drift with the mean wind and change at half the rate at which their eddies turn. The same arguments give
/// the same bits on one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gusts {
    mean: Vector3<f64>,
    groups: [Group; GROUPS],
}

impl Gusts {
    /// Wind of a mean velocity, m/s, with gusts.
    ///
    /// `intensity` is the standard deviation of each component, m/s. `length_scale` is the integral length scale, m:
    /// how far one gust reaches along the wind. Without a positive intensity and length scale there are no gusts.
    ///
    /// Eq: `[Kraichnan 1970]` (sum of transverse waves), `[Kármán 1948]` (spectrum), `[Fung 1992]` (frequencies).
    #[must_use]
    pub fn new(mean: Vector3<f64>, intensity: f64, length_scale: f64, seed: u64) -> Self {
        let mut waves = [Wave::default(); WAVES];
        // Comparisons in this sense also turn away what is not a number.
        if intensity > 0.0 && length_scale > 0.0 {
            let mut sequence = Sequence::new(seed);
            let scale = INTEGRAL_LENGTH / length_scale;
            let ratio =
                (LARGEST_WAVE_NUMBER / SMALLEST_WAVE_NUMBER).powf(1.0 / (SHELLS as f64 - 1.0));
            let mut energy = 0.0;
            for (shell, waves) in waves.chunks_exact_mut(3).enumerate() {
                // Off the even spacing, so that no two shells are in tune and the wind does not repeat.
                let place = shell as f64 + sequence.between(-0.4, 0.4);
                let wave_number = SMALLEST_WAVE_NUMBER * ratio.powf(place);
                let variance = wave_number * spectrum(wave_number);
                energy += variance;
                let axes = sequence.rotation();
                for (axis, wave) in waves.iter_mut().enumerate() {
                    let amplitude = axes.column((axis + 1) % 3) * variance.sqrt();
                    *wave = Wave {
                        wave_vector: axes.column(axis) * (wave_number * scale),
                        cosine: amplitude,
                        sine: axes.column(axis).cross(&amplitude) * sequence.sign(),
                        frequency: sequence.sign(),
                        phase: sequence.between(0.0, TAU),
                    };
                }
            }
            let amplitude = intensity / energy.sqrt();
            for wave in &mut waves {
                wave.cosine *= amplitude;
                wave.sine *= amplitude;
                // Three components of variance |a|² make the energy 3/2 |a|² = E Δk of a shell of width Δk = k ln ratio.
                let eddy_speed = wave.cosine.norm() * (1.5 / ratio.ln()).sqrt();
                wave.frequency *= UNSTEADINESS * eddy_speed * wave.wave_vector.norm();
                // The drift with the mean wind is a frequency as well.
                wave.frequency -= wave.wave_vector.dot(&mean);
            }
        }
        Self {
            mean,
            groups: std::array::from_fn(|group| Group::new(&waves, group * LANES)),
        }
    }

    /// Velocity of the air, m/s, at a place, m, and a time, s.
    ///
    /// Eq: `[Kraichnan 1970]` (sum of transverse waves).
    #[must_use]
    pub fn velocity(&self, position: &Vector3<f64>, time: f64) -> Vector3<f64> {
        let place = position.map(WideF64x4::splat);
        let time = WideF64x4::splat(time);
        let mut sum = Vector3::repeat(WideF64x4::splat(0.0));
        for group in &self.groups {
            let turns = group.wave_vector.dot(&place) + group.frequency * time + group.phase;
            let (sine, cosine) = sine_and_cosine(turns);
            sum += group.cosine * cosine + group.sine * sine;
        }
        let lanes = |axis: usize| <[f64; LANES]>::from(sum[axis]).iter().sum::<f64>();
        self.mean + Vector3::new(lanes(0), lanes(1), lanes(2))
    }
}

/// A number that rounds what is added to it to whole numbers.
const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;

/// Sine and cosine of an angle in turns, to a few units in the last place of one; without branches, so that lanes stay side
/// by side.
///
/// ```text
/// r = t − round(t),   sin 2πt = 2 sin πr cos πr,   cos 2πt = 1 − 2 sin² πr,   |πr| ≤ π/2
/// ```
fn sine_and_cosine(turns: WideF64x4) -> (WideF64x4, WideF64x4) {
    let splat = WideF64x4::splat;
    let nearest = (turns + splat(ROUNDER)) - splat(ROUNDER);
    let half = (turns - nearest) * splat(std::f64::consts::PI);
    let square = half * half;
    let series = |first: u32| {
        let mut sum = splat(1.0);
        // 1 − x²/(n (n − 1)) (1 − x²/((n − 2) …)): Taylor's series from its last term on.
        for term in (1..=SERIES_TERMS).rev() {
            let place = 2 * term + first;
            sum = splat(1.0) - square * sum * splat(1.0 / f64::from(place * (place - 1)));
        }
        sum
    };
    let (sine, cosine) = (half * series(1), series(0));
    let two = splat(2.0);
    (two * sine * cosine, splat(1.0) - two * sine * sine)
}

/// Terms of the series after the first: the next one is below 1e-17.
const SERIES_TERMS: u32 = 10;

/// Energy per wave number, in units of no importance; the wave number is over k_e.
fn spectrum(wave_number: f64) -> f64 {
    wave_number.powi(4) * (1.0 + wave_number * wave_number).powf(-17.0 / 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;
    use approx::assert_relative_eq;
    use nalgebra::Matrix3;

    const MEAN: Vector3<f64> = Vector3::new(5.0, 0.0, 1.0);

    #[test]
    fn sine_and_cosine_are_those_of_the_library() {
        let mut random = Random::new(50);
        for size in [0.1, 1.0, 1e3] {
            for _ in 0..1000 {
                let turns = random.between(-size, size);
                let (sine, cosine) = sine_and_cosine(WideF64x4::splat(turns));
                let angle = (turns - turns.round()) * TAU;
                assert_relative_eq!(sine.extract(0), angle.sin(), epsilon = 2e-15);
                assert_relative_eq!(cosine.extract(0), angle.cos(), epsilon = 2e-15);
            }
        }
        let (sine, _) = sine_and_cosine(WideF64x4::splat(f64::NAN));
        assert!(sine.extract(0).is_nan());
    }

    #[test]
    fn wind_has_no_divergence_but_has_gradients() {
        let gusts = Gusts::new(MEAN, 1.5, 2.0, 3);
        let mut random = Random::new(51);
        let step = 1e-5;
        let mut largest: f64 = 0.0;
        for _ in 0..100 {
            let (place, time) = (random.vector(20.0), random.between(0.0, 50.0));
            let columns = [0, 1, 2].map(|axis| {
                let shift = Vector3::ith(axis, step);
                (gusts.velocity(&(place + shift), time) - gusts.velocity(&(place - shift), time))
                    / (2.0 * step)
            });
            let gradient = Matrix3::from_columns(&columns);
            assert_relative_eq!(gradient.trace(), 0.0, epsilon = 1e-7);
            largest = largest.max(gradient.norm());
        }
        assert!(largest > 0.5, "{largest}");
    }

    #[test]
    fn deviation_is_the_intensity_in_all_directions() {
        for seed in 0..3 {
            let gusts = Gusts::new(MEAN, 1.5, 2.0, seed);
            let mut random = Random::new(52);
            let count = 40_000;
            let (mut mean, mut covariance) = (Vector3::zeros(), Matrix3::zeros());
            for _ in 0..count {
                let place = random.vector(1e3);
                let gust = gusts.velocity(&place, random.between(0.0, 1e3)) - MEAN;
                mean += gust / f64::from(count);
                covariance += gust * gust.transpose() / f64::from(count);
            }
            let expected = Matrix3::identity() * 1.5 * 1.5;
            assert_relative_eq!(covariance, expected, epsilon = 0.05 * 1.5 * 1.5);
            assert_relative_eq!(mean, Vector3::zeros(), epsilon = 0.05);
        }
    }

    #[test]
    fn gusts_reach_about_the_length_scale_and_drift_with_the_mean() {
        let (scale, mean) = (2.0, Vector3::x() * 30.0);
        // The integral of the correlation along the separation, over many seeds and places.
        let mut random = Random::new(53);
        let (step, reach) = (0.1, 80);
        let (mut integral, mut variance, mut drifted) = (0.0, 0.0, 0.0);
        for seed in 0..400 {
            let gusts = Gusts::new(mean, 1.0, scale, seed);
            for _ in 0..10 {
                let place = random.vector(100.0);
                let here = gusts.velocity(&place, 0.0) - mean;
                variance += here.x * here.x;
                for index in 0..reach {
                    let weight = if index == 0 { 0.5 } else { 1.0 };
                    let there = place + Vector3::x() * (step * f64::from(index));
                    let along = (gusts.velocity(&there, 0.0) - mean).x;
                    integral += weight * step * here.x * along;
                }
                // After 20 ms the air has moved by 0.6 m.
                let later = gusts.velocity(&(place + mean * 0.02), 0.02) - mean;
                drifted += here.x * later.x;
            }
        }
        assert_relative_eq!(integral / variance, scale, max_relative = 0.2);
        assert!(drifted / variance > 0.98, "{}", drifted / variance);
    }

    #[test]
    fn same_seed_gives_the_same_bits_and_another_seed_another_wind() {
        let place = Vector3::new(0.3, -2.0, 7.0);
        let velocity = |seed| Gusts::new(MEAN, 1.5, 2.0, seed).velocity(&place, 1.25);
        assert_eq!(velocity(9), velocity(9));
        assert!((velocity(9) - velocity(10)).norm() > 1e-3);
    }

    #[test]
    fn without_intensity_or_scale_the_wind_is_its_mean() {
        let place = Vector3::new(0.3, -2.0, 7.0);
        for (intensity, scale) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0)] {
            let gusts = Gusts::new(MEAN, intensity, scale, 1);
            assert_eq!(gusts.velocity(&place, 2.0), MEAN);
        }
    }
}
