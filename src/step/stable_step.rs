//! The stable step of explicit integration, by power iteration on the body as it is.

use bevy::prelude::*;
use nalgebra::{Matrix3, Vector3};
use simba::simd::SimdValue;

use super::elements::{add_corner_vectors, edges};
use crate::Real;
use crate::body::tetrahedra::Lanes;
use crate::body::{ElasticModel, Particles, Tetrahedra};
use crate::kernel::elasticity::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use crate::kernel::stability::largest_stable_step;
use crate::kernel::tetrahedron::{deformation_gradient, nodal_forces};

/// Iterations when a body is seen for the first time, and on each tick after: the eigenvectors of the last tick are
/// nearly those of this one.
const FIRST_ITERATIONS: usize = 60;
const WARM_ITERATIONS: usize = 4;

/// Estimates of the fastest elastic mode and the fastest viscous decay of a body, kept warm from tick to tick.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct StableStep {
    stiffness: PowerIteration,
    viscosity: PowerIteration,
    scratch: Vec<Vector3<Real>>,
    /// ω_max² and γ_max per [`Tetrahedra::stiffness`]: the largest ratios seen so far.
    per_stiffness: [f64; 2],
}

#[derive(Clone, Debug, Default)]
struct PowerIteration {
    direction: Vec<Vector3<Real>>,
    eigenvalue: f64,
}

impl StableStep {
    /// The longest step, s, at which the symmetric symplectic Euler scheme is stable when [`Tetrahedra::stiffness`] has
    /// the given value.
    ///
    /// Both eigenvalues grow with the stiffness of the elements. Power iteration finds a mode that an impact has just
    /// made the fastest only after some ticks; the stiffness shows it at once.
    pub(crate) fn longest(&self, stiffness: f64) -> f64 {
        let [squared_frequency, damping] = self.per_stiffness.map(|ratio| ratio * stiffness);
        largest_stable_step(squared_frequency.sqrt(), damping)
    }

    /// Makes the estimate for the body as it is.
    ///
    /// ω_max² and γ_max are the largest eigenvalues of M⁻¹K and M⁻¹D, by power iteration; the step of a body without
    /// elements is unbounded. `with_damping` where viscosity is integrated explicitly as well.
    pub(crate) fn update(
        &mut self,
        particles: &Particles,
        tetrahedra: &mut Tetrahedra,
        with_damping: bool,
    ) {
        let stiffness = tetrahedra.stiffness;
        let moduli = tetrahedra.moduli();
        match tetrahedra.model {
            ElasticModel::StableNeoHookean => {
                self.run_stiffness(particles, tetrahedra, StableNeoHookean::from_moduli(moduli));
            }
            ElasticModel::Corotational => {
                self.run_stiffness(particles, tetrahedra, Corotational::from_moduli(moduli));
            }
            ElasticModel::Liesenfeld { extension_below } => {
                let law = Liesenfeld::extended(moduli, Lanes::splat(extension_below));
                self.run_stiffness(particles, tetrahedra, law);
            }
        }
        if let Some(viscosity) = tetrahedra.viscosity().filter(|_| with_damping) {
            self.viscosity
                .run(particles, &mut self.scratch, |direction, out| {
                    add_product(
                        tetrahedra,
                        &particles.positions,
                        direction,
                        out,
                        |deformation, rate| viscosity.stress(deformation, rate),
                    );
                });
        } else {
            self.viscosity.eigenvalue = 0.0;
        }
        if stiffness > 0.0 {
            let found = [self.stiffness.eigenvalue, self.viscosity.eigenvalue];
            for (ratio, eigenvalue) in self.per_stiffness.iter_mut().zip(found) {
                // Slowly forgotten, so that a change of material is taken over.
                *ratio = (0.98 * *ratio).max(eigenvalue.max(0.0) / stiffness);
            }
        }
    }

    fn run_stiffness<E: Elasticity<Lanes> + Sync>(
        &mut self,
        particles: &Particles,
        tetrahedra: &mut Tetrahedra,
        law: E,
    ) {
        self.stiffness
            .run(particles, &mut self.scratch, |direction, out| {
                add_product(
                    tetrahedra,
                    &particles.positions,
                    direction,
                    out,
                    |deformation, change| law.stress_differential(deformation, change),
                );
            });
    }
}

impl PowerIteration {
    /// Iterates x ← M⁻¹ K x; `apply` adds K x to its second argument.
    fn run(
        &mut self,
        particles: &Particles,
        scratch: &mut Vec<Vector3<Real>>,
        mut apply: impl FnMut(&[Vector3<Real>], &mut [Vector3<Real>]),
    ) {
        let count = particles.len();
        let cold = self.direction.len() != count
            || !(self.eigenvalue > 0.0 && self.eigenvalue.is_finite());
        if cold {
            // Anything with a share of every mode will do; this one is cheap and the same on every run.
            self.direction = (0..count).map(pseudo_random_vector).collect();
        }
        scratch.resize(count, Vector3::zeros());
        for _ in 0..if cold {
            FIRST_ITERATIONS
        } else {
            WARM_ITERATIONS
        } {
            scratch.fill(Vector3::zeros());
            apply(&self.direction, scratch);
            let (mut before, mut after) = (0.0, 0.0);
            for ((direction, product), (&inverse_mass, &mass)) in self
                .direction
                .iter_mut()
                .zip(scratch.iter())
                .zip(particles.inverse_masses.iter().zip(&particles.masses))
            {
                let next = product * inverse_mass;
                let held = inverse_mass == 0.0;
                before += if held {
                    0.0
                } else {
                    f64::from(mass) * f64::from(direction.norm_squared())
                };
                after += f64::from(mass) * f64::from(next.norm_squared());
                *direction = next;
            }
            if !(after.is_finite() && before.is_finite()) {
                // An eigenvalue of zero would allow a step of any length: the last estimate is the best there is. The
                // next iteration starts afresh.
                self.direction.clear();
                return;
            }
            if !(after > 0.0 && before > 0.0) {
                self.eigenvalue = 0.0;
                self.direction.clear();
                return;
            }
            // ‖M⁻¹K x‖_M / ‖x‖_M grows to the largest eigenvalue from below.
            self.eigenvalue = (after / before).sqrt();
            let scale = (1.0 / self.eigenvalue) as Real;
            for direction in &mut self.direction {
                *direction *= scale;
            }
        }
    }
}

fn pseudo_random_vector(seed: usize) -> Vector3<Real> {
    let component = |k: usize| {
        let hash = (seed * 3 + k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> 40;
        (hash & 0xFFFF) as Real / 32768.0 - 1.0
    };
    Vector3::new(component(0), component(1), component(2))
}

/// Adds the nodal product of a stress that is linear in the change of deformation.
fn add_product(
    tetrahedra: &mut Tetrahedra,
    positions: &[Vector3<Real>],
    direction: &[Vector3<Real>],
    out: &mut [Vector3<Real>],
    stress: impl Fn(&Matrix3<Lanes>, &Matrix3<Lanes>) -> Matrix3<Lanes> + Sync,
) {
    add_corner_vectors(tetrahedra, out, |block, _| {
        let deformation = deformation_gradient(&edges(block, positions), &block.rest_inverse);
        let change = deformation_gradient(&edges(block, direction), &block.rest_inverse);
        // The product is what resists: minus a force.
        nodal_forces(
            &stress(&deformation, &change),
            &block.rest_inverse,
            -block.rest_volume,
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Springs of 1 to 3 N/m on masses of 1 kg, one by one, along all axes.
    fn springs(direction: &[Vector3<Real>], out: &mut [Vector3<Real>]) {
        for (index, (product, vector)) in out.iter_mut().zip(direction).enumerate() {
            *product += vector * (index + 1) as Real;
        }
    }

    fn masses() -> Particles {
        Particles::new(vec![Vector3::zeros(); 3], vec![1.0; 3])
    }

    #[test]
    fn power_iteration_finds_the_largest_eigenvalue() {
        let mut iteration = PowerIteration::default();
        iteration.run(&masses(), &mut Vec::new(), springs);
        assert!(
            (iteration.eigenvalue - 3.0).abs() < 1e-5,
            "{}",
            iteration.eigenvalue
        );
    }

    #[test]
    fn numbers_that_are_not_finite_leave_the_last_estimate() {
        for broken in [Real::NAN, Real::INFINITY] {
            let mut iteration = PowerIteration::default();
            let mut scratch = Vec::new();
            iteration.run(&masses(), &mut scratch, springs);
            let known = iteration.eigenvalue;
            iteration.run(&masses(), &mut scratch, |_, out| out[1].x = broken);
            assert_eq!(iteration.eigenvalue, known, "{broken}");
            // And the next iteration is as good as the first.
            iteration.run(&masses(), &mut scratch, springs);
            assert!(
                (iteration.eigenvalue - 3.0).abs() < 1e-5,
                "{broken}: {}",
                iteration.eigenvalue
            );
        }
    }
}
