//! What the implicit solver and contact did, as Bevy diagnostics: one value per tick over all bodies.

use bevy::diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic};
use bevy::prelude::*;

use crate::body::{PliantState, Quarantined};

/// Paths of the diagnostics; show them with Bevy's `LogDiagnosticsPlugin`, or read them from its `DiagnosticsStore`.
pub struct PliantDiagnostics;

impl PliantDiagnostics {
    /// Iterations of conjugate gradients in the tick, over all bodies.
    pub const ITERATIONS: DiagnosticPath = DiagnosticPath::const_new("pliant/iterations");
    /// Largest residual of a solve, relative to its right-hand side.
    pub const RESIDUAL: DiagnosticPath = DiagnosticPath::const_new("pliant/residual");
    /// Steps repeated with the monotone method, over all bodies.
    pub const FALLBACKS: DiagnosticPath = DiagnosticPath::const_new("pliant/fallbacks");
    /// Smallest ratio of current to rest volume of any element; negative for an inverted one.
    pub const SMALLEST_VOLUME_RATIO: DiagnosticPath =
        DiagnosticPath::const_new("pliant/smallest_volume_ratio");
    /// Largest momentum that a solve lost and the correction gave back, relative to Σ m |v|.
    pub const MOMENTUM_ERROR: DiagnosticPath = DiagnosticPath::const_new("pliant/momentum_error");
    /// Pairs of features of deformable bodies within the contact distance, counted once per body, over all bodies.
    pub const CONTACTS: DiagnosticPath = DiagnosticPath::const_new("pliant/contacts");
    /// Particles whose way was changed since it would have led through a surface, over all bodies.
    pub const TRUNCATED: DiagnosticPath = DiagnosticPath::const_new("pliant/truncated");
    /// Smallest distance of two features of deformable bodies, m; not measured where none are near each other.
    pub const SMALLEST_GAP: DiagnosticPath = DiagnosticPath::const_new("pliant/smallest_gap");
}

pub(super) fn plugin(app: &mut App) {
    for path in [
        PliantDiagnostics::ITERATIONS,
        PliantDiagnostics::RESIDUAL,
        PliantDiagnostics::FALLBACKS,
        PliantDiagnostics::SMALLEST_VOLUME_RATIO,
        PliantDiagnostics::MOMENTUM_ERROR,
        PliantDiagnostics::CONTACTS,
        PliantDiagnostics::TRUNCATED,
        PliantDiagnostics::SMALLEST_GAP,
    ] {
        app.register_diagnostic(Diagnostic::new(path));
    }
}

/// Adds a measurement of the tick to each diagnostic.
pub(super) fn measure(
    bodies: Query<&PliantState, Without<Quarantined>>,
    mut diagnostics: Diagnostics,
) {
    let (mut iterations, mut fallbacks) = (0, 0);
    let (mut residual, mut momentum_error) = (0.0_f64, 0.0_f64);
    let (mut contacts, mut truncated) = (0, 0);
    let (mut smallest_volume_ratio, mut smallest_gap) = (f64::INFINITY, f64::INFINITY);
    for state in &bodies {
        iterations += state.solver.iterations;
        fallbacks += state.solver.fallbacks;
        residual = residual.max(state.solver.residual);
        momentum_error = momentum_error.max(state.solver.momentum_error);
        contacts += state.contact.contacts;
        truncated += state.contact.truncated;
        smallest_gap = smallest_gap.min(state.contact.smallest_gap);
        smallest_volume_ratio = smallest_volume_ratio.min(state.smallest_volume_ratio);
    }
    diagnostics.add_measurement(&PliantDiagnostics::ITERATIONS, || f64::from(iterations));
    diagnostics.add_measurement(&PliantDiagnostics::RESIDUAL, || residual);
    diagnostics.add_measurement(&PliantDiagnostics::FALLBACKS, || f64::from(fallbacks));
    diagnostics.add_measurement(&PliantDiagnostics::MOMENTUM_ERROR, || momentum_error);
    diagnostics.add_measurement(&PliantDiagnostics::CONTACTS, || f64::from(contacts));
    diagnostics.add_measurement(&PliantDiagnostics::TRUNCATED, || f64::from(truncated));
    if smallest_gap.is_finite() {
        diagnostics.add_measurement(&PliantDiagnostics::SMALLEST_GAP, || smallest_gap);
    }
    if smallest_volume_ratio.is_finite() {
        diagnostics.add_measurement(&PliantDiagnostics::SMALLEST_VOLUME_RATIO, || {
            smallest_volume_ratio
        });
    }
}
