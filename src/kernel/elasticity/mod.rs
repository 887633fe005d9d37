//! Elastic energies of isotropic solids.
//!
//! An energy maps the deformation gradient `F` of an element to an energy per rest volume `Ψ(F)`; its derivative is
//! the first Piola–Kirchhoff stress `P`, and [`nodal_forces`](super::tetrahedron::nodal_forces) turns that into
//! forces. Which one to take:
//!
//! | energy | inverted element | notes |
//! |---|---|---|
//! | [`Liesenfeld`] | pushed back (extension below a volume ratio of 0.4; without it, a second rest state) | the seed's; stiff in compression; a sheared body shrinks |
//! | [`StableNeoHookean`] | pushed back gently | rubber-like, keeps volume best under shear |
//! | [`Corotational`] | pushed back | linear in the principal stretches; needs a decomposition per stress |
//!
//! All three have the given Young's modulus and Poisson's ratio for small strains.
//!
//! An energy is a small value, made once per material, so the caller picks the type outside of its loops.
//! Rejected: an `enum` of energies (a branch in every element), and the classical neo-Hookean and
//! St. Venant–Kirchhoff energies (the first is infinite for a flat element, the second softens under compression).

mod corotational;
mod isotropic;
mod liesenfeld;
mod stable_neo_hookean;

#[cfg(test)]
mod checks;
#[cfg(test)]
mod reference_tests;

pub use corotational::Corotational;
pub use liesenfeld::Liesenfeld;
pub use stable_neo_hookean::StableNeoHookean;

use nalgebra::{Matrix3, SMatrix, Vector3};

use super::moduli::Moduli;
use super::scalar::{Scalar, real};

/// Second derivative of an energy density by the deformation gradient, Pa, with the columns of the latter stacked.
pub type Hessian<T> = SMatrix<T, 9, 9>;

/// An elastic energy: density, stress, and how the stress changes.
///
/// Objective and isotropic: `Ψ(Q F R) = Ψ(F)` for all rotations `Q`, `R`. No function fails or branches on values, so
/// each runs in lanes.
pub trait Elasticity<T: Scalar>: Copy {
    /// The energy whose small strains have the given moduli.
    ///
    /// Eq: given with each energy.
    fn from_moduli(moduli: Moduli<T>) -> Self;

    /// Energy per rest volume, Pa = J/m³; zero at rest.
    ///
    /// ```text
    /// Ψ(F)
    /// ```
    /// Near rest the error is of the order of (rounding × strain), not (rounding × modulus).
    ///
    /// Eq: given with each energy.
    fn energy_density(&self, deformation: &Matrix3<T>) -> T;

    /// First Piola–Kirchhoff stress, Pa; zero at rest.
    ///
    /// ```text
    /// P = ∂Ψ/∂F
    /// ```
    /// Eq: given with each energy.
    fn stress(&self, deformation: &Matrix3<T>) -> Matrix3<T>;

    /// Change of the stress when the deformation gradient changes by `change`, exact to first order, Pa.
    ///
    /// ```text
    /// dP = ∂²Ψ/∂F² : dF
    /// ```
    /// Eq: given with each energy.
    fn stress_differential(&self, deformation: &Matrix3<T>, change: &Matrix3<T>) -> Matrix3<T>;

    /// Second derivative of the energy density with its negative eigenvalues set to zero, Pa.
    ///
    /// ```text
    /// ∂²Ψ/∂vec(F)² = Σ λₙ qₙ qₙᵀ   →   Σ max(λₙ, 0) qₙ qₙᵀ,   vec stacks columns
    /// ```
    /// Equal to the second derivative wherever that is positive semidefinite.
    ///
    /// Eq: `[Smith 2019]`; eigenvalues given with each energy.
    fn hessian_psd(&self, deformation: &Matrix3<T>) -> Hessian<T>;

    /// Stiffness between the nodes 1, 2, 3 of an element, per rest volume, positive semidefinite, Pa/m².
    ///
    /// ```text
    /// K_ab = ∂²Ψ/∂x_a ∂x_b = Σᵢⱼ b_a,ᵢ b_b,ⱼ ∂²Ψ/∂Fᵢ ∂Fⱼ      Fᵢ the columns of F, b_a the gradients of the shape functions
    /// ```
    /// The blocks (1,1), (1,2), (1,3), (2,2), (2,3), (3,3); node 0 has minus the sums of rows and columns. Exact at
    /// rest, so that a step of Newton's method turns with the body. Elsewhere a law may add to the second derivative
    /// what makes it semidefinite.
    ///
    /// # Arguments
    /// * `gradients` – rest gradients b₁, b₂, b₃ of the shape functions, 1/m
    ///
    /// Eq: `[Smith 2019]`; cheaper forms given with each energy.
    #[inline(always)]
    fn node_stiffness(
        &self,
        deformation: &Matrix3<T>,
        gradients: &[Vector3<T>; 3],
    ) -> [Matrix3<T>; 6] {
        node_blocks(&self.hessian_psd(deformation), gradients)
    }

    /// About how many times stiffer the deformed element is than the element at rest, at least 1.
    ///
    /// ```text
    /// max(1, (‖F‖²/3)²) ≥ max(1, ‖cof F‖²/3)
    /// ```
    /// The volume term of an energy pulls along cof F, so a stretched element is stiffer by its square. Explicit
    /// integrators shorten their step by the root of this number when an element is deformed within a tick.
    ///
    /// Eq: elementary.
    #[inline(always)]
    fn stiffening(&self, deformation: &Matrix3<T>) -> T {
        let stretch = deformation.norm_squared() * real::<T>(1.0 / 3.0);
        (stretch * stretch).simd_max(T::one())
    }
}

/// The pairs of nodes that [`Elasticity::node_stiffness`] returns blocks of, counted from zero.
pub(crate) const NODE_PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// The second derivative by the positions of the nodes from that by the deformation gradient.
#[inline(always)]
fn node_blocks<T: Scalar>(hessian: &Hessian<T>, gradients: &[Vector3<T>; 3]) -> [Matrix3<T>; 6] {
    // First the columns of one node, then the rows of the other.
    let halves = gradients.map(|gradient| {
        [0, 1, 2].map(|row_column| {
            Matrix3::from_fn(|row, column| {
                let at = |axis: usize| hessian[(3 * row_column + row, 3 * axis + column)];
                at(0) * gradient.x + at(1) * gradient.y + at(2) * gradient.z
            })
        })
    });
    NODE_PAIRS.map(|(a, b)| {
        halves[b][0] * gradients[a].x
            + halves[b][1] * gradients[a].y
            + halves[b][2] * gradients[a].z
    })
}
