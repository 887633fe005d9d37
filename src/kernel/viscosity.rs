//! Internal friction of solids: a dissipation that grows with the square of the strain rate.
//!
//! The rate of `T = CᵀC` vanishes for every rigid motion, so that this viscosity never brakes a fall or a spin,
//! unlike damping in proportion to the stiffness matrix.
//!
//! Erratum: the seed defines the power per rest volume, but multiplies it by the current volume in `[000 eq. 5.5]`.
//! Densities and stresses here are per **rest** volume; to replay the seed's scenes to the letter, the caller scales
//! both by `|det C|`.

use nalgebra::{Matrix3, Vector3};

use super::elasticity::NODE_PAIRS;
use super::matrix::{
    add_to_diagonal, determinant, deviator, double_contraction, product_with_transpose,
    times_vector, trace, transposed_product,
};
use super::scalar::{Scalar, real};

/// Coefficients of the internal friction of a material.
///
/// For small strains the viscosities in the usual sense are twice these, since `Ṫ` is twice the strain rate: bulk
/// viscosity `2 η₁`, shear viscosity `2 η₂`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viscosity<T> {
    /// η₁, resistance to a rate of change of volume, Pa·s.
    pub volumetric: T,
    /// η₂, resistance to a rate of change of shape ("laminar" in the seed), Pa·s.
    pub shear: T,
}

impl<T: Scalar> Viscosity<T> {
    /// Dissipated power per rest volume, W/m³.
    ///
    /// ```text
    /// Ω = η₁/2 Π² + 2 η₂/3 (Π² − 3 Ξ) = η₁/2 (tr Ṫ)² + η₂ dev Ṫ : dev Ṫ
    /// Ṫ = ĊᵀC + CᵀĊ,   Π = tr Ṫ,   Ξ = sum of the principal minors of Ṫ
    /// ```
    /// Computed by the second form, which has no difference of large numbers. Never negative for coefficients that
    /// are not; zero for a rigid motion.
    ///
    /// Eq: `[000 eq. 4.14]`, `[000 eq. 5.5]` with the rest volume.
    #[inline]
    pub fn power_density(&self, deformation: &Matrix3<T>, rate: &Matrix3<T>) -> T {
        self.power_density_of(&metric_rate(deformation, rate))
    }

    /// First Piola–Kirchhoff stress of the internal friction, Pa.
    ///
    /// ```text
    /// P_v = C S_v,   S_v = η₁ tr Ṫ · I + 2 η₂ dev Ṫ,   P_v : Ċ = Ω
    /// ```
    /// Linear in `Ċ`, so it is its own differential for a change of the rate. The force of the seed,
    /// `f = −½ ∂W/∂q̇`, is the nodal force of this stress.
    ///
    /// Eq: `[000 eq. 5.5]`, `[000 §6.2.3]`.
    #[inline]
    pub fn stress(&self, deformation: &Matrix3<T>, rate: &Matrix3<T>) -> Matrix3<T> {
        deformation * self.second_stress(&metric_rate(deformation, rate))
    }
}

impl<T: Scalar> Viscosity<T> {
    /// Dissipated power per rest volume, W/m³, from the rate Ṫ of the metric itself, 1/s.
    ///
    /// ```text
    /// Ω = η₁/2 (tr Ṫ)² + η₂ dev Ṫ : dev Ṫ
    /// ```
    /// Eq: `[000 eq. 4.14]`.
    #[inline(always)]
    pub fn power_density_of(&self, metric_rate: &Matrix3<T>) -> T {
        let expansion = trace(metric_rate);
        let distortion = deviator(metric_rate);
        self.volumetric * real::<T>(0.5) * expansion * expansion
            + self.shear * double_contraction(&distortion, &distortion)
    }

    /// Second Piola–Kirchhoff stress S_v, Pa, from the rate Ṫ of the metric itself, 1/s; `F S_v` is the first.
    ///
    /// ```text
    /// S_v = η₁ tr Ṫ · I + 2 η₂ dev Ṫ
    /// ```
    /// With Ṫ = (T(x) − T̂)/h it is the gradient of h/2 Ω by F: an implicit step that no rotation resists.
    ///
    /// Eq: `[000 eq. 5.5]`.
    #[inline(always)]
    pub fn second_stress(&self, metric_rate: &Matrix3<T>) -> Matrix3<T> {
        let distortion = deviator(metric_rate) * (real::<T>(2.0) * self.shear);
        add_to_diagonal(&distortion, self.volumetric * trace(metric_rate))
    }

    /// Stiffness between the nodes 1, 2, 3 that an implicit step of length 1/`inverse_step` sees, per rest volume,
    /// positive semidefinite, Pa/m².
    ///
    /// ```text
    /// K_ab = (b_a · [S_v]₊ b_b) I + 2 η₂/h ((b_a · b_b) F Fᵀ + f_b f_aᵀ) + (2 η₁ − 4/3 η₂)/h f_a f_bᵀ
    /// f = F b,   [S]₊ = S with its eigenvalues lifted to zero at least
    /// ```
    /// Blocks in the order of
    /// [`Elasticity::node_stiffness`](super::elasticity::Elasticity::node_stiffness).
    ///
    /// Eq: `[000 eq. 4.14]`, second derivative of h/2 Ω.
    #[inline(always)]
    pub fn node_stiffness(
        &self,
        deformation: &Matrix3<T>,
        metric_rate: &Matrix3<T>,
        inverse_step: T,
        gradients: &[Vector3<T>; 3],
    ) -> [Matrix3<T>; 6] {
        let stress = self.second_stress(metric_rate);
        let mean = trace(&stress) * real::<T>(1.0 / 3.0);
        let deviator = deviator(&stress);
        let spread = double_contraction(&deviator, &deviator) * real::<T>(1.0 / 6.0);
        // No eigenvalue is below the mean less twice p.
        let lift = (spread.simd_sqrt() * real::<T>(2.0) - mean).simd_max(T::zero());
        let lifted = add_to_diagonal(&stress, lift);

        let outer = product_with_transpose(deformation, deformation);
        let shearing = self.shear * inverse_step * real::<T>(2.0);
        let expanding =
            inverse_step * (self.volumetric * real::<T>(2.0) - self.shear * real::<T>(4.0 / 3.0));
        let pulled = gradients.map(|gradient| times_vector(&lifted, &gradient));
        let stretched = gradients.map(|gradient| times_vector(deformation, &gradient));
        // A loop: mapping the array would copy all blocks once more.
        let mut blocks = [Matrix3::zeros(); 6];
        for (target, (a, b)) in blocks.iter_mut().zip(NODE_PAIRS) {
            let along = gradients[a].dot(&pulled[b]);
            let overlap = gradients[a].dot(&gradients[b]);
            let (f_a, f_b) = (stretched[a], stretched[b]);
            let mut block = Matrix3::from_fn(|i, j| {
                shearing * (overlap * outer[(i, j)] + f_b[i] * f_a[j]) + expanding * f_a[i] * f_b[j]
            });
            for axis in 0..3 {
                block[(axis, axis)] += along;
            }
            *target = block;
        }
        blocks
    }
}

/// Factor by which to scale power and stress to use the current volume, as the seed prints it; without unit.
///
/// ```text
/// V / V⁰ = |det C|
/// ```
/// Eq: `[000 eq. 5.5]` as printed (see the module's erratum).
#[inline]
pub fn current_volume_factor<T: Scalar>(deformation: &Matrix3<T>) -> T {
    determinant(deformation).simd_abs()
}

/// Rate of `T = CᵀC`, 1/s: twice the rate of the Green strain.
#[inline(always)]
fn metric_rate<T: Scalar>(deformation: &Matrix3<T>, rate: &Matrix3<T>) -> Matrix3<T> {
    let half = transposed_product(deformation, rate);
    half + half.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::{Random, lanes};
    use approx::assert_relative_eq;
    use simba::simd::{SimdValue, WideF32x8};

    const VISCOSITY: Viscosity<f64> = Viscosity {
        volumetric: 3.0,
        shear: 2.0,
    };

    #[test]
    fn power_is_stress_times_rate_and_matches_the_invariants() {
        let mut random = Random::new(11);
        for _ in 0..50 {
            let (deformation, rate) = (random.matrix(1.5), random.matrix(4.0));
            let power = VISCOSITY.power_density(&deformation, &rate);
            let stress = VISCOSITY.stress(&deformation, &rate);
            assert_relative_eq!(
                double_contraction(&stress, &rate),
                power,
                max_relative = 1e-12
            );
            assert!(power >= 0.0);
            let change = metric_rate(&deformation, &rate);
            let first = change.trace();
            let second = 0.5 * (first * first - (change * change).trace());
            let printed = VISCOSITY.volumetric / 2.0 * first * first
                + 2.0 * VISCOSITY.shear / 3.0 * (first * first - 3.0 * second);
            assert_relative_eq!(printed, power, max_relative = 1e-12);
        }
    }

    #[test]
    fn rigid_rotation_dissipates_nothing() {
        let mut random = Random::new(12);
        let deformation = random.stretched([1.3, 1.0, 0.6]);
        let spin = random.vector(5.0).cross_matrix();
        let rate = spin * deformation;
        assert!(VISCOSITY.power_density(&deformation, &rate) < 1e-26);
        assert!(VISCOSITY.stress(&deformation, &rate).amax() < 1e-13);
    }

    #[test]
    fn force_is_minus_half_the_gradient_of_the_power() {
        let mut random = Random::new(13);
        let step = 1e-5;
        for _ in 0..20 {
            let (deformation, rate) = (random.matrix(1.5), random.matrix(4.0));
            let change = random.matrix(1.0);
            let power = |rate: Matrix3<f64>| VISCOSITY.power_density(&deformation, &rate);
            let slope = (power(rate + change * step) - power(rate - change * step)) / (2.0 * step);
            let stress = VISCOSITY.stress(&deformation, &rate);
            assert_relative_eq!(
                double_contraction(&stress, &change),
                slope / 2.0,
                epsilon = 1e-6,
                max_relative = 1e-6
            );
        }
    }

    #[test]
    fn small_shear_has_twice_the_shear_coefficient_as_viscosity() {
        let mut rate = Matrix3::zeros();
        rate[(0, 1)] = 1e-3;
        let stress = VISCOSITY.stress(&Matrix3::identity(), &rate);
        assert_relative_eq!(stress[(0, 1)], 2.0 * VISCOSITY.shear * 1e-3);
    }

    #[test]
    fn implicit_step_has_a_gradient_and_a_semidefinite_second_derivative() {
        let mut random = Random::new(13);
        let inverse_step = 50.0;
        for _ in 0..200 {
            let (from, to) = (
                Matrix3::identity() + random.matrix(0.3),
                Matrix3::identity() + random.matrix(0.3),
            );
            let rate = |deformation: &Matrix3<f64>| {
                (deformation.transpose() * deformation - from.transpose() * from) * inverse_step
            };
            let potential = |deformation: &Matrix3<f64>| {
                VISCOSITY.power_density_of(&rate(deformation)) * 0.5 / inverse_step
            };
            let (change, step) = (random.matrix(1.0), 1e-6);
            let slope = (potential(&(to + change * step)) - potential(&(to - change * step)))
                / (2.0 * step);
            let stress = to * VISCOSITY.second_stress(&rate(&to));
            assert_relative_eq!(
                double_contraction(&stress, &change),
                slope,
                epsilon = 1e-5,
                max_relative = 1e-6
            );

            let gradients = [random.vector(1.0), random.vector(1.0), random.vector(1.0)];
            let blocks = VISCOSITY.node_stiffness(&to, &rate(&to), inverse_step, &gradients);
            let mut stiffness = nalgebra::SMatrix::<f64, 9, 9>::zeros();
            for (block, (a, b)) in blocks.iter().zip(NODE_PAIRS) {
                stiffness
                    .fixed_view_mut::<3, 3>(3 * a, 3 * b)
                    .copy_from(block);
                stiffness
                    .fixed_view_mut::<3, 3>(3 * b, 3 * a)
                    .copy_from(&block.transpose());
            }
            let eigenvalues = stiffness.symmetric_eigenvalues();
            assert!(eigenvalues.min() >= -1e-10 * eigenvalues.max());
        }
    }

    #[test]
    fn lanes_equal_scalars() {
        let mut random = Random::new(14);
        let deformations: Vec<_> = (0..8).map(|_| random.matrix(1.5)).collect();
        let rates: Vec<_> = (0..8).map(|_| random.matrix(4.0)).collect();
        let packed = Viscosity {
            volumetric: WideF32x8::splat(3.0),
            shear: WideF32x8::splat(2.0),
        };
        let stress = packed.stress(&lanes(&deformations), &lanes(&rates));
        let scalar = Viscosity {
            volumetric: 3.0,
            shear: 2.0,
        };
        for lane in 0..8 {
            let expected = scalar.stress(&deformations[lane].cast(), &rates[lane].cast());
            assert_eq!(stress.extract(lane), expected);
        }
    }
}
