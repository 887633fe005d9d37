//! Measurements that several scenes share.

use bevy::prelude::*;
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

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

/// Number of particles, of all bodies, whose position or velocity is not finite.
pub fn particles_not_finite(world: &mut World) -> f64 {
    let finite = |vector: &Vector3<_>| vector.iter().all(|x: &bevy_pliant::Real| x.is_finite());
    let mut bodies = world.query::<&Particles>();
    let count = bodies
        .iter(world)
        .flat_map(|particles| particles.positions.iter().zip(&particles.velocities))
        .filter(|(position, velocity)| !(finite(position) && finite(velocity)))
        .count();
    count as f64
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

/// [`soundness`], and every particle finite in every frame: needs the sample `particles_not_finite`.
pub fn particle_soundness(record: &Record) -> Vec<Check> {
    let mut checks = soundness(record).to_vec();
    checks.push(Check::equal(
        "particles_not_finite",
        worst(record.column("particles_not_finite")),
        0.0,
    ));
    checks
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

/// The vertices of a mesh that `select` chooses by their position (m).
pub fn vertices_where(mesh: &TetrahedralMesh, select: impl Fn(&Vector3<f64>) -> bool) -> Vec<u32> {
    let chosen = mesh
        .positions
        .iter()
        .zip(0_u32..)
        .filter(|(position, _)| select(position));
    chosen.map(|(_, index)| index).collect()
}
