use super::*;
use crate::kernel::testing::Random;
use approx::assert_relative_eq;
use simba::simd::{SimdValue, WideF64x4};

const STEP: f64 = 0.02;
const ONE: Springs<'_, f64> = Springs {
    ends: &[[0, 1]],
    rest_lengths: &[1.0],
};

/// Free points with springs between all pairs, and velocities that break most limits.
struct Swarm {
    positions: Vec<Vector3<f64>>,
    velocities: Vec<Vector3<f64>>,
    inverse_masses: Vec<f64>,
    ends: Vec<[u32; 2]>,
    rest_lengths: Vec<f64>,
}

impl Swarm {
    fn new(random: &mut Random) -> Self {
        let positions: Vec<_> = (0..6).map(|_| random.vector(1.0)).collect();
        let mut ends = Vec::new();
        let mut rest_lengths = Vec::new();
        for j in 0..6_u32 {
            for i in 0..j {
                ends.push([i, j]);
                let length: f64 = (positions[j as usize] - positions[i as usize]).norm();
                rest_lengths.push(length);
            }
        }
        Self {
            velocities: (0..6).map(|_| random.vector(20.0)).collect(),
            inverse_masses: (0..6).map(|_| random.between(0.2, 5.0)).collect(),
            positions,
            ends,
            rest_lengths,
        }
    }

    fn springs(&self) -> Springs<'_, f64> {
        Springs {
            ends: &self.ends,
            rest_lengths: &self.rest_lengths,
        }
    }

    fn limited(&self, limit: &StrainLimit<f64>) -> (Vec<Vector3<f64>>, Report<f64>) {
        let mut velocities = self.velocities.clone();
        let report = limit_strain(
            &self.positions,
            &mut velocities,
            &self.inverse_masses,
            &self.springs(),
            STEP,
            limit,
        );
        (velocities, report)
    }

    fn rate_limited(&self) -> (Vec<Vector3<f64>>, Report<f64>) {
        let mut velocities = self.velocities.clone();
        let report = limit_strain_rate(
            &self.positions,
            &mut velocities,
            &self.inverse_masses,
            &self.springs(),
            STEP,
            &Default::default(),
        );
        (velocities, report)
    }

    /// Linear and angular momentum.
    fn momenta(&self, velocities: &[Vector3<f64>]) -> [Vector3<f64>; 2] {
        let mut momenta = [Vector3::zeros(); 2];
        for ((x, v), w) in self
            .positions
            .iter()
            .zip(velocities)
            .zip(&self.inverse_masses)
        {
            momenta[0] += v / *w;
            momenta[1] += x.cross(&(v / *w));
        }
        momenta
    }
}

#[test]
fn springs_end_at_the_limit() {
    let mut random = Random::new(51);
    for _ in 0..200 {
        let offset = random.vector(1.0);
        let velocity = random.vector(8.0);
        let end = offset + velocity * STEP;
        let direction = offset.normalize();
        let sideways = (end - direction * end.dot(&direction)).norm();
        for share in [0.9, 0.97, 1.1] {
            let bound = share * end.norm();
            let bounds = if share < 1.0 {
                LengthBounds {
                    shortest: 0.0,
                    longest: bound,
                }
            } else {
                LengthBounds {
                    shortest: bound,
                    longest: 2.0 * bound,
                }
            };
            for (line, expected) in [
                (Line::Predicted, bound),
                (Line::Current, bound.max(sideways)),
            ] {
                let change = velocity_correction(&offset, &velocity, STEP, &bounds, line);
                let length = (end + change * STEP).norm();
                assert_relative_eq!(length, expected, max_relative = 1e-9);
            }
        }
    }
}

#[test]
fn for_a_spring_that_does_not_turn_the_impulse_is_that_of_the_source() {
    let (offset, velocity) = (Vector3::x() * 1.05, Vector3::x() * 10.0);
    let (none, bounds) = (Vector3::zeros(), LengthBounds::around(1.0, 0.1, 1.0));
    for line in [Line::Current, Line::Predicted] {
        let correction = |offset: &_, velocity: &_, step| {
            velocity_correction(offset, velocity, step, &bounds, line)
        };
        let change = correction(&offset, &velocity, STEP);
        assert_relative_eq!(change.x, (1.1 - 1.25) / STEP, max_relative = 1e-12);
        assert_eq!(correction(&offset, &none, STEP), none);
        assert_eq!(correction(&none, &none, STEP), none);
        assert_eq!(correction(&offset, &velocity, 0.0), none);
    }
    let stuck = velocity_correction(&none, &(velocity * 20.0), STEP, &bounds, Line::Current);
    assert_eq!(stuck, none);
}

#[test]
fn momenta_stay_for_free_points() {
    let mut random = Random::new(52);
    for _ in 0..50 {
        let swarm = Swarm::new(&mut random);
        let before = swarm.momenta(&swarm.velocities);
        let strained = swarm.limited(&StrainLimit {
            compression: Some(0.0),
            ..Default::default()
        });
        for (velocities, report) in [strained, swarm.rate_limited()] {
            assert!(report.corrected > 0);
            let after = swarm.momenta(&velocities);
            assert_relative_eq!(after[0], before[0], epsilon = 1e-11);
            assert_relative_eq!(after[1], before[1], epsilon = 1e-11);
        }
    }
}

/// Why the current line is the default.
#[test]
fn the_predicted_line_keeps_linear_momentum_only() {
    let swarm = Swarm::new(&mut Random::new(53));
    let before = swarm.momenta(&swarm.velocities);
    let (velocities, _) = swarm.limited(&StrainLimit {
        line: Line::Predicted,
        ..Default::default()
    });
    let after = swarm.momenta(&velocities);
    assert_relative_eq!(after[0], before[0], epsilon = 1e-11);
    assert!((after[1] - before[1]).norm() > 1e-3);
}

#[test]
fn the_stretch_limit_takes_energy_from_a_spring_that_does_not_turn() {
    let positions = [Vector3::zeros(), Vector3::x()];
    let mut velocities = [Vector3::new(-3.0, 0.0, 0.0), Vector3::new(7.0, 0.0, 0.0)];
    let energy = |v: &[Vector3<f64>; 2]| v[0].norm_squared() + 0.25 * v[1].norm_squared();
    let before = energy(&velocities);
    let limit = StrainLimit::default();
    limit_strain(&positions, &mut velocities, &[0.5, 2.0], &ONE, STEP, &limit);
    assert!(energy(&velocities) < before);
    let relative = (velocities[1] - velocities[0]).x;
    assert_relative_eq!(relative, 0.1 / STEP, max_relative = 1e-12);
}

#[test]
fn rate_is_a_share_of_the_current_length() {
    let positions = [Vector3::zeros(), Vector3::x() * 2.0];
    let limit = StrainRateLimit {
        rate: 0.05,
        ..Default::default()
    };
    for (speed, length) in [(50.0, 2.1), (-50.0, 1.9), (2.0, 2.04)] {
        let mut velocities = [Vector3::zeros(), Vector3::x() * speed];
        let report =
            limit_strain_rate(&positions, &mut velocities, &[0.0, 1.0], &ONE, STEP, &limit);
        assert_relative_eq!(2.0 + STEP * velocities[1].x, length, max_relative = 1e-12);
        assert_eq!(velocities[0], Vector3::zeros());
        assert!(report.violation < 1e-14);
    }
}

/// Compression is free by default; a limit of zero forbids it; between two fixed points nothing can be done.
#[test]
fn compression_limit_is_optional() {
    let positions = [Vector3::zeros(), Vector3::x()];
    let squeeze = [Vector3::zeros(), Vector3::x() * -20.0];
    let none = StrainLimit {
        compression: Some(0.0),
        ..Default::default()
    };
    let run = |inverse_masses: [f64; 2], limit: &StrainLimit<f64>| {
        let mut velocities = squeeze;
        let report = limit_strain(
            &positions,
            &mut velocities,
            &inverse_masses,
            &ONE,
            STEP,
            limit,
        );
        (velocities, report)
    };
    let (velocities, report) = run([0.0, 1.0], &Default::default());
    assert_eq!((velocities, report.corrected), (squeeze, 0));
    let (velocities, _) = run([0.0, 1.0], &none);
    assert_relative_eq!(velocities[1].x, 0.0, epsilon = 1e-12);
    let (velocities, report) = run([0.0, 0.0], &none);
    assert_eq!((velocities, report.corrected), (squeeze, 0));
    assert_relative_eq!(report.violation, 0.4, epsilon = 1e-14);
}

#[test]
fn same_input_gives_the_same_bits_and_the_order_matters() {
    let swarm = Swarm::new(&mut Random::new(54));
    let run = |sweep| {
        swarm.limited(&StrainLimit {
            sweep,
            ..Default::default()
        })
    };
    assert_eq!(run(Sweep::Forward), run(Sweep::Forward));
    assert_ne!(run(Sweep::Forward).0, run(Sweep::Backward).0);
}

#[test]
fn lanes_agree_with_single_numbers() {
    let mut random = Random::new(55);
    let mut draw = |size| [0; 4].map(|_| random.vector(size));
    let (offsets, velocities) = (draw(1.0), draw(30.0));
    let pack = |vectors: &[Vector3<f64>; 4]| {
        Vector3::from_fn(|row, _| WideF64x4::from(vectors.map(|vector| vector[row])))
    };
    let bounds = LengthBounds::around(0.9, 0.1, 0.05);
    let packed_bounds = LengthBounds {
        shortest: WideF64x4::splat(bounds.shortest),
        longest: WideF64x4::splat(bounds.longest),
    };
    for line in [Line::Current, Line::Predicted] {
        let packed = velocity_correction(
            &pack(&offsets),
            &pack(&velocities),
            WideF64x4::splat(STEP),
            &packed_bounds,
            line,
        );
        for lane in 0..4 {
            let alone = velocity_correction(&offsets[lane], &velocities[lane], STEP, &bounds, line);
            assert_eq!(packed.map(|value| value.extract(lane)), alone);
        }
    }
}
