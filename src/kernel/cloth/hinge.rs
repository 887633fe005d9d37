//! Bending of two triangles about their common edge.
//!
//! ```text
//!          x₄
//!        ╱ ↑ ╲        E = x₄ − x₃,   N₁ = (x₁ − x₃) × (x₁ − x₄),   N₂ = (x₂ − x₄) × (x₂ − x₃)
//!      x₁  E  x₂      θ from n₁ to n₂ about E: zero where flat, ±π where folded flat
//!        ╲   ╱
//!          x₃
//! ```
//! Energies here are functions V(θ). Their forces on the corners are V′(θ) uᵢ with the bending mode `u = −∇θ`, and
//! their stiffness is V″(θ) u uᵀ, positive semidefinite where V″ ≥ 0; the term with ∇²θ is left out. Energies of one
//! hinge are combined by adding V′ and V″ before either is spread over the corners.
//!
//! **Which stiffness for which cloth.** The stiffness K^e of the seed belongs to the mesh: a sheet of bending stiffness
//! B, N·m, needs K^e = 4 B where the triangles are equilateral ([`bending_stiffness_to_hinge`]), and 3.2 B on average
//! over the directions where squares have alternating diagonals. Light silk has B ≈ 3e-6 N·m, denim 5e-5 N·m.

use nalgebra::{Matrix3, Vector3};

use super::half_angle::HalfAngle;
use crate::kernel::scalar::{Scalar, real};

/// Square of the sine between the edge and another side at or below which a triangle has no area.
const SMALLEST_SINE_SQUARED: f64 = 1e-12;

/// Stiffness K^e, N·m, that gives a mesh of equilateral triangles the bending stiffness B, N·m.
///
/// ```text
/// K^e = 4 B,   so that the energy is ½ B κ² per area at a curvature κ about any axis
/// ```
/// Eq: `[Seung Nelson 1988]`, for the weight of `[001 eq. 4.2]`.
#[inline]
pub fn bending_stiffness_to_hinge<T: Scalar>(bending_stiffness: T) -> T {
    bending_stiffness * real::<T>(4.0)
}

/// Weight c⁰ of a hinge, without unit, from its corners at rest; zero if both triangles are degenerate.
///
/// ```text
/// c⁰ = |E|² / (|N₁| + |N₂|)
/// ```
/// Taken at rest and kept, since a weight that followed the corners would have forces of its own.
///
/// Eq: `[001 eq. 4.2]`.
#[inline]
pub fn rest_weight<T: Scalar>(corners: &[Vector3<T>; 4]) -> T {
    let [x1, x2, x3, x4] = corners;
    let edge = x4 - x3;
    let length = |vector: Vector3<T>| vector.dot(&vector).simd_sqrt();
    let areas = length(edge.cross(&(x1 - x3))) + length((x2 - x3).cross(&edge));
    let weight = edge.dot(&edge) / areas;
    weight.select(areas.simd_gt(T::zero()), T::zero())
}

/// What bending needs of the four corners `[x₁, x₂, x₃, x₄]`, which are in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeGeometry<T> {
    /// u₁ … u₄ = −∂θ/∂xᵢ, rad/m.
    pub modes: [Vector3<T>; 4],
    /// θ in [−π, π].
    pub fold: HalfAngle<T>,
    /// |E|, m.
    pub edge_length: T,
}

impl<T: Scalar> HingeGeometry<T> {
    /// Measures four corners.
    ///
    /// ```text
    /// u₁ = |E| N₁/|N₁|²,   u₄ = −(t₁ u₁ + t₂ u₂),   t₁ = (x₁ − x₃) · E / |E|²
    /// u₂ = |E| N₂/|N₂|²,   u₃ = −(u₁ + u₂ + u₄),    t₂ = (x₂ − x₃) · E / |E|²
    /// cos θ = n₁ · n₂,     sin θ = (n₁ × n₂) · e = −|E| (x₁ − x₃) · N₂ / (|N₁| |N₂|)
    /// ```
    /// If a triangle has no area (a corner within 1e-6 rad of the edge, seen from x₃), the hinge counts as flat, and
    /// its modes are zero.
    ///
    /// Eq: `[001 eq. 4.1]`.
    #[inline(always)]
    pub fn new(corners: &[Vector3<T>; 4]) -> Self {
        let [x1, x2, x3, x4] = corners;
        let (first, second, edge) = (x1 - x3, x2 - x3, x4 - x3);
        let (first_normal, second_normal) = (edge.cross(&first), second.cross(&edge));
        let edge_square = edge.dot(&edge);
        let edge_length = edge_square.simd_sqrt();

        let (first_square, second_square) = (
            first_normal.dot(&first_normal),
            second_normal.dot(&second_normal),
        );
        let smallest = edge_square * real::<T>(SMALLEST_SINE_SQUARED);
        let regular = first_square.simd_gt(smallest * first.dot(&first))
            & second_square.simd_gt(smallest * second.dot(&second));
        let where_regular = |value: T| value.select(regular, T::zero());
        let first_inverse = where_regular(T::one() / first_square.simd_sqrt());
        let second_inverse = where_regular(T::one() / second_square.simd_sqrt());

        let product = first_inverse * second_inverse;
        let cosine = (first_normal.dot(&second_normal) * product).select(regular, T::one());
        let sine = -(edge_length * first.dot(&second_normal) * product);

        let edge_inverse_square = T::one() / edge_square;
        let along_first = where_regular(first.dot(&edge) * edge_inverse_square);
        let along_second = where_regular(second.dot(&edge) * edge_inverse_square);
        let u1 = first_normal * (edge_length * first_inverse * first_inverse);
        let u2 = second_normal * (edge_length * second_inverse * second_inverse);
        let u4 = -(u1 * along_first + u2 * along_second);
        let u3 = -(u1 + u2 + u4);
        Self {
            modes: [u1, u2, u3, u4],
            fold: HalfAngle::halve(sine, cosine),
            edge_length,
        }
    }

    /// Signed angle θ between the normals, rad, in [−π, π]; zero where flat.
    ///
    /// Eq: `[001 §4.1.1]`.
    #[inline(always)]
    pub fn angle(&self) -> T {
        self.fold.angle()
    }

    /// Rate of the angle, rad/s, from the velocities of the corners, m/s.
    ///
    /// ```text
    /// dθ/dt = −Σ uᵢ · vᵢ
    /// ```
    /// Erratum: the seed prints it without the sign.
    ///
    /// Eq: `[001 eq. 4.3]`, sign corrected.
    #[inline(always)]
    pub fn rate(&self, velocities: &[Vector3<T>; 4]) -> T {
        let [u1, u2, u3, u4] = &self.modes;
        let [v1, v2, v3, v4] = velocities;
        -(u1.dot(v1) + u2.dot(v2) + u3.dot(v3) + u4.dot(v4))
    }

    /// Forces on the corners, N, of an energy with slope V′(θ), N·m; without net force and torque.
    ///
    /// ```text
    /// Fᵢ = V′(θ) uᵢ
    /// ```
    /// Eq: `[001 eq. 4.2]`.
    #[inline(always)]
    pub fn forces(&self, slope: T) -> [Vector3<T>; 4] {
        let [u1, u2, u3, u4] = &self.modes;
        [u1 * slope, u2 * slope, u3 * slope, u4 * slope]
    }

    /// Stiffness between the corners, N/m, of an energy with curvature V″(θ), N·m, which is not negative.
    ///
    /// ```text
    /// K_ij = V″(θ) uᵢ uⱼᵀ
    /// ```
    /// `store` gets the ten blocks, numbered as by
    /// [`pair_index`](crate::kernel::implicit::block_matrix::pair_index): (0,0), (0,1), …, (3,3).
    ///
    /// Eq: second derivative of V(θ) without ∇²θ, with the modes of `[001 eq. 4.1]`.
    #[inline(always)]
    pub fn stiffness_blocks(&self, curvature: T, mut store: impl FnMut(usize, &Matrix3<T>)) {
        let mut pair = 0;
        for first in 0..4 {
            let scaled = self.modes[first] * curvature;
            for second in first..4 {
                let mode = &self.modes[second];
                store(
                    pair,
                    &Matrix3::from_fn(|row, column| scaled[row] * mode[column]),
                );
                pair += 1;
            }
        }
    }
}

/// Elastic bending of a hinge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge<T> {
    /// k = K^e c⁰, N·m, with the weight c⁰ of [`rest_weight`].
    pub stiffness: T,
    /// θ₀, the angle at rest, in [−π, π].
    pub rest: HalfAngle<T>,
}

impl<T: Scalar> Hinge<T> {
    /// Energy, J; zero at the rest angle and positive elsewhere.
    ///
    /// ```text
    /// ψ = k [2 (cos(θ₀/2) − cos(θ/2)) − sin(θ₀/2) (θ − θ₀)]
    ///   = 2 k [cos(θ₀/2) (1 − cos x) − sin(θ₀/2) (x − sin x)],   x = (θ − θ₀)/2
    /// ```
    /// Computed by the second form, which keeps its digits near rest.
    ///
    /// Eq: potential of `[001 eq. 4.2]` with the rest angle of `[001 §4.1.1]`.
    #[inline(always)]
    pub fn energy(&self, fold: &HalfAngle<T>) -> T {
        let change = fold.since(&self.rest);
        let bracket = self.rest.cosine * change.versine() - self.rest.sine * change.excess();
        (self.stiffness * real::<T>(2.0) * bracket).simd_max(T::zero())
    }

    /// Slope of the energy by the angle, N·m; its negative is the moment that drives the angle.
    ///
    /// ```text
    /// ψ′ = k (sin(θ/2) − sin(θ₀/2)),   Fᵢ = ψ′ uᵢ
    /// ```
    /// Eq: `[001 eq. 4.2]` with the rest angle of `[001 §4.1.1]`.
    #[inline(always)]
    pub fn slope(&self, fold: &HalfAngle<T>) -> T {
        self.stiffness * (fold.sine - self.rest.sine)
    }

    /// Second derivative of the energy by the angle, N·m; never negative, and zero where folded flat.
    ///
    /// ```text
    /// ψ″ = k/2 cos(θ/2)
    /// ```
    /// Eq: derivative of the slope, elementary.
    #[inline(always)]
    pub fn curvature(&self, fold: &HalfAngle<T>) -> T {
        self.stiffness * real::<T>(0.5) * fold.cosine
    }
}

/// Damping of the bending of a hinge, blind to rigid motions and to what happens within the triangles.
///
/// Used with the rate dθ/dt from velocities ([`HingeGeometry::rate`]), or over an implicit stage of length h that began
/// with the fold θ̂.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeDamping<T> {
    /// c = k_d |E|, N·m·s, with the seed's k_d in N·s and the length of the edge at rest.
    pub coefficient: T,
}

impl<T: Scalar> HingeDamping<T> {
    /// Slope V′, N·m, whose [`HingeGeometry::forces`] damp a rate of the angle, rad/s.
    ///
    /// ```text
    /// V′ = c dθ/dt,   Fᵢ = −k_d |E| (Σ uⱼ · vⱼ) uᵢ
    /// ```
    /// Eq: `[001 eq. 4.3]` and the damping force after it.
    #[inline(always)]
    pub fn slope(&self, rate: T) -> T {
        self.coefficient * rate
    }

    /// Power that the damping takes, W; never negative.
    ///
    /// ```text
    /// W = −Σ Fᵢ · vᵢ = c (dθ/dt)²
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn power(&self, rate: T) -> T {
        self.coefficient * rate * rate
    }

    /// Dissipation potential of an implicit stage, J: half of what the stage dissipates.
    ///
    /// ```text
    /// V = ½ c/h d²,   d = 2 sin((θ − θ̂)/2) − l
    /// ```
    /// `start` θ̂, `inverse_step` 1/h in 1/s. The chord d stands for the change of the angle: it needs no arctangent,
    /// and is continuous where a fold passes from π to −π. `lead` l is how far the reference of the stage is ahead of θ̂,
    /// as a chord; zero where the stage counts from θ̂.
    ///
    /// Eq: `[001 eq. 4.3]`, over a stage.
    #[inline(always)]
    pub fn stage_potential(
        &self,
        fold: &HalfAngle<T>,
        start: &HalfAngle<T>,
        lead: T,
        inverse_step: T,
    ) -> T {
        let change = fold.since(start).sine * real::<T>(2.0) - lead;
        self.coefficient * inverse_step * real::<T>(0.5) * change * change
    }

    /// Slope of the [`stage_potential`](Self::stage_potential) by the angle, N·m.
    ///
    /// ```text
    /// V′ = c/h d cos((θ − θ̂)/2)
    /// ```
    /// Eq: `[001 eq. 4.3]`, over a stage.
    #[inline(always)]
    pub fn stage_slope(
        &self,
        fold: &HalfAngle<T>,
        start: &HalfAngle<T>,
        lead: T,
        inverse_step: T,
    ) -> T {
        let change = fold.since(start);
        let chord = change.sine * real::<T>(2.0) - lead;
        self.coefficient * inverse_step * chord * change.cosine
    }

    /// Second derivative of the [`stage_potential`](Self::stage_potential) by the angle, N·m, without the part of the
    /// curved chord; never negative.
    ///
    /// ```text
    /// c/h cos²((θ − θ̂)/2) ≥ V″ = c/h cos(θ − θ̂)      without a lead
    /// ```
    /// Eq: `[001 eq. 4.3]`, over a stage.
    #[inline(always)]
    pub fn stage_curvature(&self, fold: &HalfAngle<T>, start: &HalfAngle<T>, inverse_step: T) -> T {
        let cosine = fold.since(start).cosine;
        self.coefficient * inverse_step * cosine * cosine
    }
}

#[cfg(test)]
mod tests;
