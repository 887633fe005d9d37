//! Harmon's inelastic projection: all contacts of a zone stop approaching at once.

use nalgebra::{Vector3, convert};

use super::{PivotedCholesky, ZoneConstraint};
use crate::kernel::energy::{widened, widened_vector};
use crate::kernel::scalar::Single;

/// How often rows that pull are dropped and the rest is solved again.
const MOST_REPEATS: u32 = 3;

/// Rows whose squared sine is not above this describe the same contact.
const SAME: f64 = 1e-12;

/// What a projection did, and what it left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectionReport {
    /// Rows solved for in the end that do not depend on each other.
    pub rank: usize,
    /// Rows dropped because their contacts would have had to pull.
    pub dropped: usize,
    /// Rows that still pull after the last repeat; they have been solved for all the same.
    pub pulling: usize,
    /// Systems solved: one, and at most three more.
    pub solves: u32,
    /// Fastest approach that is left in any row, m/s: of rows dropped, of pinned vertices moving against each other, and
    /// of rounding. A caller that cannot bear it looks for contacts again, or makes the zone rigid.
    pub remaining_approach: f64,
}

/// The projection with its memory, which grows once and is kept.
#[derive(Clone, Debug, Default)]
pub struct InelasticProjection {
    solver: PivotedCholesky,
    /// Rows that are solved for.
    active: Vec<usize>,
    /// Rows that pull.
    pulling: Vec<usize>,
    /// Right-hand side, then multipliers, of the active rows.
    values: Vec<f64>,
    /// Changes of the velocities in double precision.
    changes: Vec<Vector3<f64>>,
}

impl InelasticProjection {
    /// Projects the velocities of a zone.
    ///
    /// ```text
    /// v' = v − M⁻¹ Gᵀ λ,   (G M⁻¹ Gᵀ) λ = G v
    /// ```
    /// G has a row per contact ([`ZoneConstraint`]). It is the smallest change in the metric of the masses after which no
    /// gap changes: the contacts stop, what slides along them keeps sliding. Contacts push with −λ; rows that would pull
    /// (λ > 0 in this sign) are dropped and the rest is solved again, up to three times. Rows still pulling then are
    /// kept: dropping them unsolved would leave impulses that belong to no projection, and those can add energy.
    ///
    /// **Singular systems** are the rule: several pairs describe one contact. Rows are taken in the order of their
    /// pivots, and those that depend on the ones before (squared sine below 1e-12) get no multiplier. Since G v lies in
    /// the range of the matrix, such rows are satisfied too, and v' is the same as with the pseudo-inverse.
    ///
    /// # Arguments
    /// * `constraints` – rows; those with a vertex that does not exist, without a free vertex, or not finite are left out
    /// * `inverse_masses` – 1/kg, zero for pinned vertices
    /// * `velocities` – m/s
    ///
    /// # Properties tested
    /// ġ = 0 in all rows kept · momentum, and angular momentum where normals lie along the closest points · energy not
    /// raised with pins at rest · tangential velocities unchanged · equals the pseudo-inverse
    ///
    /// Eq: `[Harmon 2008]` (inelastic projection).
    pub fn project<T: Single>(
        &mut self,
        constraints: &[ZoneConstraint<T>],
        inverse_masses: &[T],
        velocities: &mut [Vector3<T>],
    ) -> ProjectionReport {
        let count = velocities.len().min(inverse_masses.len());
        let usable = |row: &usize| {
            let constraint = &constraints[*row];
            let exists = constraint.vertices.iter().all(|&v| (v as usize) < count);
            let inverse_mass = constraint.coupling(constraint, inverse_masses);
            let finite = inverse_mass.is_finite() && constraint.rate(velocities).is_finite();
            exists && finite && inverse_mass > 0.0
        };
        self.active.clear();
        self.active.extend((0..constraints.len()).filter(usable));
        let usable = self.active.len();
        let mut report = ProjectionReport::default();
        loop {
            report.rank = self.solve(constraints, inverse_masses, velocities);
            report.solves += 1;
            let rows = self.active.iter().zip(&self.values);
            let pulls = rows.filter_map(|(&row, &value)| (value > 0.0).then_some(row));
            self.pulling.clear();
            self.pulling.extend(pulls);
            report.pulling = self.pulling.len();
            if report.pulling == 0 || report.solves > MOST_REPEATS {
                break;
            }
            // Of rows for the same contact only one has a multiplier, but all are dropped with it: one after the other
            // they would use up the repeats.
            let pulling = &self.pulling;
            self.active.retain(|&row| {
                let goes = |&other: &usize| {
                    other == row || is_same(&constraints[row], &constraints[other], inverse_masses)
                };
                !pulling.iter().any(goes)
            });
        }
        report.dropped = usable - self.active.len();
        self.apply(constraints, inverse_masses, velocities);
        report.remaining_approach = constraints
            .iter()
            .map(|constraint| -constraint.rate(velocities))
            .fold(0.0, f64::max);
        report
    }

    /// Multipliers of the active rows; returns the rank.
    fn solve<T: Single>(
        &mut self,
        constraints: &[ZoneConstraint<T>],
        inverse_masses: &[T],
        velocities: &[Vector3<T>],
    ) -> usize {
        let rows = &self.active;
        let rank = self.solver.factorize(rows.len(), |row, column| {
            constraints[rows[row]].coupling(&constraints[rows[column]], inverse_masses)
        });
        self.values.clear();
        self.values
            .extend(rows.iter().map(|&row| constraints[row].rate(velocities)));
        self.solver.solve(&mut self.values);
        rank
    }

    /// v ← v − M⁻¹ Gᵀ λ, summed before it is rounded.
    fn apply<T: Single>(
        &mut self,
        constraints: &[ZoneConstraint<T>],
        inverse_masses: &[T],
        velocities: &mut [Vector3<T>],
    ) {
        self.changes.clear();
        self.changes.resize(velocities.len(), Vector3::zeros());
        for (&row, &multiplier) in self.active.iter().zip(&self.values) {
            let constraint = &constraints[row];
            let normal = widened_vector(&constraint.normal);
            let pairs = constraint
                .vertices
                .iter()
                .zip(constraint.balanced_weights());
            for (&vertex, weight) in pairs {
                let inverse_mass = widened(inverse_masses[vertex as usize]);
                self.changes[vertex as usize] -= normal * (multiplier * weight * inverse_mass);
            }
        }
        for (velocity, change) in velocities.iter_mut().zip(&self.changes) {
            if *change != Vector3::zeros() {
                *velocity = (widened_vector(velocity) + change).map(convert);
            }
        }
    }
}

/// Whether two rows describe the same contact: a change along one is a change along the other.
fn is_same<T: Single>(
    first: &ZoneConstraint<T>,
    second: &ZoneConstraint<T>,
    inverse_masses: &[T],
) -> bool {
    let own = first.coupling(first, inverse_masses) * second.coupling(second, inverse_masses);
    let both = first.coupling(second, inverse_masses);
    both > 0.0 && own - both * both <= SAME * own
}

#[cfg(test)]
mod tests;
