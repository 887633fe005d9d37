//! What a run leaves behind: one row per tick, and the verdict on all of them.

use bevy::prelude::*;
use bevy_pliant::body::Energies;
use bevy_pliant::prelude::{PliantState, Quarantined, SolverReport};
use nalgebra::Vector3;

use super::Scene;

/// The state of the whole world after one tick.
#[derive(Clone, Debug)]
pub struct Row {
    /// Simulated time, s.
    pub time: f64,
    /// Energies of all bodies together, J.
    pub energies: Energies,
    /// Momentum of all bodies together, kg·m/s.
    pub momentum: Vector3<f64>,
    /// Sum of the bodies' angular momenta, each about its own center of mass, kg·m²/s.
    pub angular_momentum: Vector3<f64>,
    /// Wall time of the tick, ms.
    pub milliseconds: f64,
    /// Substeps of the tick.
    pub substeps: u32,
    /// How the implicit solver fared: sums and extremes over the bodies.
    pub solver: SolverReport,
    /// Particles in contact.
    pub contacts: u32,
    /// Smallest ratio of current to rest volume of any element.
    pub smallest_volume_ratio: f64,
    /// Bodies left out of the simulation.
    pub quarantined: usize,
    /// What the scene itself measures.
    pub samples: Vec<(&'static str, f64)>,
}

impl Row {
    /// Reads the world after a tick that took `milliseconds`.
    pub fn measure(world: &mut World, scene: &Scene, time: f64, milliseconds: f64) -> Self {
        let mut row = Self {
            time,
            energies: Energies::default(),
            momentum: Vector3::zeros(),
            angular_momentum: Vector3::zeros(),
            milliseconds,
            substeps: 0,
            solver: SolverReport::default(),
            contacts: 0,
            smallest_volume_ratio: f64::INFINITY,
            quarantined: 0,
            samples: (scene.sample)(world),
        };
        let mut bodies = world.query::<(&PliantState, Has<Quarantined>)>();
        for (state, quarantined) in bodies.iter(world) {
            row.energies.kinetic += state.energies.kinetic;
            row.energies.elastic += state.energies.elastic;
            row.energies.gravitational += state.energies.gravitational;
            row.energies.dissipated_power += state.energies.dissipated_power;
            row.energies.dissipated += state.energies.dissipated;
            row.energies.contact += state.energies.contact;
            row.momentum += state.momentum;
            row.angular_momentum += state.angular_momentum;
            row.substeps = row.substeps.max(state.substeps);
            let (sum, solver) = (&mut row.solver, &state.solver);
            sum.solves += solver.solves;
            sum.iterations += solver.iterations;
            sum.fallbacks += solver.fallbacks;
            sum.residual = sum.residual.max(solver.residual);
            sum.momentum_error = sum.momentum_error.max(solver.momentum_error);
            row.contacts += state.contacts;
            row.smallest_volume_ratio = row.smallest_volume_ratio.min(state.smallest_volume_ratio);
            row.quarantined += usize::from(quarantined);
        }
        row
    }

    /// Whether the bodies have not told anything yet: before its first tick a body may know nothing of itself.
    pub fn is_blank(&self) -> bool {
        self.energies == Energies::default() && self.smallest_volume_ratio == 0.0
    }

    /// The sample of that name.
    pub fn sample(&self, name: &str) -> f64 {
        self.samples
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(f64::NAN, |&(_, value)| value)
    }
}

/// All rows of a run, the state at time zero included.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Rows in order of time.
    pub rows: Vec<Row>,
}

impl Record {
    /// Rows after a tick: without the state at time zero.
    pub fn ticks(&self) -> &[Row] {
        let first = self.rows.partition_point(|row| row.time <= 0.0);
        &self.rows[first..]
    }

    /// Simulated time, s.
    pub fn seconds(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.time)
    }

    /// Mean wall time of a tick, ms.
    pub fn mean_milliseconds(&self) -> f64 {
        let ticks = self.ticks();
        ticks.iter().map(|row| row.milliseconds).sum::<f64>() / ticks.len().max(1) as f64
    }

    /// Mean number of substeps per tick.
    pub fn mean_substeps(&self) -> f64 {
        let ticks = self.ticks();
        ticks.iter().map(|row| f64::from(row.substeps)).sum::<f64>() / ticks.len().max(1) as f64
    }

    /// Wall time of a tick that all but a share of 1 − `quantile` of them stay below, ms.
    pub fn quantile_milliseconds(&self, quantile: f64) -> f64 {
        let mut times: Vec<f64> = self.ticks().iter().map(|row| row.milliseconds).collect();
        times.sort_by(f64::total_cmp);
        let index = (quantile * times.len() as f64).ceil() as usize;
        times.get(index.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    /// Wall time over simulated time.
    pub fn real_time_ratio(&self) -> f64 {
        let wall: f64 = self.ticks().iter().map(|row| row.milliseconds).sum();
        wall / 1000.0 / self.seconds().max(f64::MIN_POSITIVE)
    }

    /// Values of one sample over time.
    pub fn column(&self, name: &str) -> Vec<f64> {
        self.rows.iter().map(|row| row.sample(name)).collect()
    }

    /// Largest minus smallest value of a quantity over the run.
    pub fn range(&self, quantity: impl Fn(&Row) -> f64) -> f64 {
        let (low, high) = self
            .rows
            .iter()
            .map(quantity)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        high - low
    }

    /// The largest energy exchanged: the widest range of kinetic, elastic or gravitational energy, J.
    pub fn energy_exchanged(&self) -> f64 {
        self.range(|row| row.energies.kinetic)
            .max(self.range(|row| row.energies.elastic))
            .max(self.range(|row| row.energies.gravitational))
    }

    /// Largest distance of the total energy from its first value, relative to the largest energy exchanged.
    pub fn energy_drift(&self) -> f64 {
        let Some(first) = self.rows.first().map(|row| row.energies.total()) else {
            return f64::NAN;
        };
        let drift = worst(
            self.rows
                .iter()
                .map(|row| (row.energies.total() - first).abs()),
        );
        drift / self.energy_exchanged()
    }
}

/// The largest of some numbers; not a number as soon as one of them is not.
pub fn worst(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |largest: f64, value| {
        if value.is_nan() || largest.is_nan() {
            f64::NAN
        } else {
            largest.max(value)
        }
    })
}

/// One measured quantity against its limit.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was measured.
    pub name: &'static str,
    /// The measured value.
    pub value: f64,
    /// The bound.
    pub limit: f64,
    /// Whether the value keeps the bound.
    pub ok: bool,
}

impl Check {
    /// Holds when `value` is at most `limit`; never for a value that is not a number.
    pub fn at_most(name: &'static str, value: f64, limit: f64) -> Self {
        Self {
            name,
            value,
            limit,
            ok: value <= limit,
        }
    }

    /// Holds when `value` is at least `limit`; never for a value that is not a number.
    pub fn at_least(name: &'static str, value: f64, limit: f64) -> Self {
        Self {
            name,
            value,
            limit,
            ok: value >= limit,
        }
    }

    /// Holds when `value` is `expected`.
    pub fn equal(name: &'static str, value: f64, expected: f64) -> Self {
        Self {
            name,
            value,
            limit: expected,
            ok: value == expected,
        }
    }
}

/// The verdict on a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What must hold.
    pub checks: Vec<Check>,
    /// What else was measured.
    pub quantities: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// Whether every check holds.
    pub fn ok(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}
