//! Measurements that several scenes share.

use bevy::prelude::*;
use bevy_pliant::prelude::*;

use super::record::worst;
use super::{Check, Record};

/// Height of the lowest particle of all bodies, m.
pub fn lowest_height(world: &mut World) -> f64 {
    let mut bodies = world.query::<&Particles>();
    bodies
        .iter(world)
        .flat_map(|particles| &particles.positions)
        .map(|position| f64::from(position.y))
        // A plain minimum would pass over numbers that are not numbers.
        .fold(f64::INFINITY, |lowest, height| {
            if height.is_nan() || lowest.is_nan() {
                f64::NAN
            } else {
                lowest.min(height)
            }
        })
}

/// Speed of the fastest body's center of mass, m/s.
pub fn fastest_center(world: &mut World) -> f64 {
    let mut bodies = world.query::<(&PliantState, &Particles)>();
    worst(
        bodies
            .iter(world)
            .map(|(state, particles)| state.momentum.norm() / particles.total_mass()),
    )
}

/// What must hold in every scene: no body left out, no number that is not finite.
pub fn soundness(record: &Record) -> [Check; 2] {
    let finite = |value: f64| f64::from(u8::from(!value.is_finite()));
    let broken_rows = record.rows.iter().map(|row| {
        finite(row.energies.total())
            + row
                .samples
                .iter()
                .map(|&(_, value)| finite(value))
                .sum::<f64>()
    });
    [
        Check::equal(
            "quarantined_bodies",
            worst(record.rows.iter().map(|row| row.quarantined as f64)),
            0.0,
        ),
        Check::equal("rows_not_finite", broken_rows.sum(), 0.0),
    ]
}

/// What must hold where bodies come to rest on a floor at height zero: nothing below it, no element inverted at the
/// end, and no more motion than `speed`.
pub fn landing(record: &Record, speed: f64) -> Vec<Check> {
    let lowest = record
        .column("lowest_height")
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    let last = record.rows.last();
    let mut checks = soundness(record).to_vec();
    checks.push(Check::at_least("lowest_height", lowest, -1e-3));
    checks.push(Check::at_most(
        "final_speed",
        last.map_or(f64::NAN, |row| row.sample("fastest_center")),
        speed,
    ));
    checks.push(Check::at_least(
        "final_volume_ratio",
        last.map_or(f64::NAN, |row| row.smallest_volume_ratio),
        0.0,
    ));
    checks
}

/// The samples that [`landing`] needs.
pub fn landing_samples(world: &mut World) -> Vec<(&'static str, f64)> {
    vec![
        ("lowest_height", lowest_height(world)),
        ("fastest_center", fastest_center(world)),
    ]
}

/// Smallest volume ratio of any element over the run.
pub fn smallest_volume_ratio(record: &Record) -> f64 {
    record
        .ticks()
        .iter()
        .map(|row| row.smallest_volume_ratio)
        .fold(f64::INFINITY, f64::min)
}
