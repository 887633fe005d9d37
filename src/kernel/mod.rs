//! Pure numerics: the laws, without the game engine.
//!
//! **Layer rule.** The kernels know nalgebra and simba, nothing else: no ECS, no assets, no clock, no random numbers but
//! those that follow from a seed among the arguments.
//! They are functions of their arguments, allocate nothing, and never panic: where a formula has no value (a flat
//! tetrahedron, a body without mass), the documentation of the function names the neutral result it returns instead.
//!
//! **Scalars.** What runs per element is generic over [`Scalar`], so that one source serves `f32`, `f64`, and lanes of
//! several numbers side by side; it selects instead of branching and gives the same bits in every lane as alone.
//! What runs per body is generic over [`Single`] or in `f64`. Sums over slices run in `f64`, in the order of the slices.
//!
//! **Units** are SI throughout.
//!
//! # Symbols
//!
//! | symbol | name in the code | unit |
//! |---|---|---|
//! | xᵢ, vᵢ, fᵢ | `position`, `velocity`, `force` | m, m/s, N |
//! | A, B | `rest_edges`, `edges`: edge matrices `[x₁ − x₀, x₂ − x₀, x₃ − x₀]` | m |
//! | A⁻¹ | `rest_inverse` | 1/m |
//! | V⁰ | `rest_volume` | m³ |
//! | C or F = B A⁻¹ | `deformation` | – |
//! | Ċ | `rate` | 1/s |
//! | T = FᵀF, E = (T − I)/2 | `metric`, `strain` | – |
//! | J = det F | `ratio` | – |
//! | U, σ, V | `left`, `stretch`, `right` | – |
//! | Ψ or Φ | `energy_density` | Pa |
//! | P = ∂Ψ/∂F | `stress`, `piola` | Pa |
//! | α = K, β = G = μ, λ | `bulk`, `shear`, `lame_lambda` | Pa |
//! | E, ν | `young_modulus`, `poisson_ratio` | Pa, – |
//! | η₁, η₂ | `volumetric`, `shear` of [`viscosity::Viscosity`] | Pa·s |
//! | Ω | `power_density` | W/m³ |
//! | ρ | `density` | kg/m³ |
//! | τ | `step` | s |
//! | ω, γ | `frequency`, `damping` | rad/s, 1/s |
//!
//! # From equation to function
//!
//! | equation | function |
//! |---|---|
//! | rest and current edges `[000 §5.1.1]` | [`tetrahedron::edge_matrix`], [`tetrahedron::rest_inverse`] |
//! | barycentric coordinates `[000 §5.1.2]` | [`tetrahedron::barycentric_coordinates`] |
//! | C = B A⁻¹ `[000 §5.1.3]` | [`tetrahedron::deformation_gradient`] |
//! | Φ `[000 eq. 4.13]` | [`elasticity::Liesenfeld`] |
//! | E, ν from α, β `[000 eq. 4.13]` | [`moduli::Moduli`] |
//! | stable neo-Hookean Ψ `[Smith 2018]` | [`elasticity::StableNeoHookean`] |
//! | corotational Ψ `[Müller 2004]` | [`elasticity::Corotational`] |
//! | eigenvalues of ∂²Ψ/∂F² `[Smith 2019]` | [`elasticity::Elasticity::hessian_psd`] |
//! | F = U diag(σ) Vᵀ, F = R S `[Irving 2004]` | [`singular_values::singular_value_decomposition`], [`singular_values::polar_rotation`] |
//! | elastic forces on vertices `[000 §6.2.2]` | [`tetrahedron::nodal_forces`] |
//! | external force on an inner point `[000 §6.2.1]` | [`tetrahedron::distribute_force`] |
//! | Ω, P_v `[000 eq. 4.14, 5.5]` | [`viscosity::Viscosity`] |
//! | kinetic energy `[000 §5.3.1]`, mass matrix `[000 §6.1.1]` | [`mass`] |
//! | energy account `[000 §9]` | [`energy`] |
//! | ω = I⁺ L `[001 §6.2.5]` | [`energy::inertia`], [`energy::angular_velocity`] |
//! | ψ of a woven membrane `[Wang 2011]`, `[Volino 2009]` | [`cloth::membrane::Membrane`] |
//! | p V and its gradient | [`cloth::pressure`] |
//! | viscous air `[001 §3.1]` | [`drag::viscous_drag`] |
//! | springs `[001 §3.1]`, damped | [`cloth::spring`] |
//! | bending modes u₁ … u₄ `[001 eq. 4.1]` | [`cloth::hinge::HingeGeometry`] |
//! | bending and its damping `[001 eq. 4.2, 4.3]` | [`cloth::hinge::Hinge`], [`cloth::hinge::HingeDamping`] |
//! | C_f [n · (u − v)] n `[001 §3.1]`, implicit step `[001 §4.5]` | [`aerodynamics::normal_wind_force`], [`aerodynamics::PointwiseAir`] |
//! | rest angles of a sheet not quite flat `[001 §4.5]`, coupling force `[001 §7.2]` | [`cloth::wrinkles`] |
//! | strain limits `[001 §3.3, §4.3, §4.4]`, `[Wang 2010]` | [`cloth::strain_limit`] |
//! | mixed integration `[001 §4.2]` | [`cloth::mixed`] |
//! | gusts, a sum of waves `[Kraichnan 1970]` | [`wind::Gusts`] |
//! | drag and lift of a sheet `[Keckeisen 2004]` | [`aerodynamics::Aerodynamics`] |
//! | F = ½ C ρ A v², terminal velocity `[004]` | [`drag::WindFace::drag`], [`drag::terminal_velocity`] |
//! | Runge–Kutta–Fehlberg `[000 §6.4.4]` | [`runge_kutta`] |
//! | τ ≤ 4/(γ + √(γ² + 4ω²)) | [`stability::largest_stable_step`] |
//! | τ = ½ a/√((K + 4/3 G)/ρ) `[Courant 1928]` | [`stability::wave_crossing_step`] |
//! | ½ (v − u)ᵀM(v − u) + E(x) `[Martin 2011]`, stages `[Ascher 1997]` | [`implicit`], [`implicit::schemes`] |
//! | two-level preconditioned conjugate gradients `[Hestenes Stiefel 1952]` | [`implicit::conjugate_gradient`], [`implicit::coarse`] |
//! | which boxes overlap `[Ericson 2005]`, `[000 §7.1]` | [`broad_phase::BoundingTree`], [`broad_phase::SweepAndPrune`] |
//! | distances of features `[Ericson 2005]` | [`proximity::PairKind::closest_points`] |
//! | planes and boxes against tunnelling | [`proximity::separating_plane`], [`proximity::truncation`] |
//! | planes that move with what they keep apart | [`proximity::straight_paths`] |
//! | bodies in contact as one system `[Hestenes Stiefel 1952]` | [`implicit::coupled`] |
//! | times of impact `[Li 2021]`, `[Provot 1997]`, `[000 §7.1.5]` | [`proximity::time_of_impact`], [`proximity::coplanarity`], [`proximity::gap_event`] |
//! | repulsion `[Chen 2025]` and lagged friction `[Li 2020]` | [`proximity::penalty::Penalty`], [`proximity::friction::LaggedFriction`] |
//! | j = Δu/Σ wᵢ²mᵢ⁻¹, repulsion, friction `[Bridson 2002]` | [`impulse::PairContact`], [`impulse::bridson`] |
//! | V' = V_T − k_f \|V_N\| V_T/\|V_T\| − k_d V_N `[Provot 1997]` | [`impulse::provot`] |
//! | J M⁻¹ Jᵀ λ = (1 + e) v `[000 Appendix A]` | [`impulse::coulomb::pair_coulomb_impulse`] |
//! | f = k (b − a) `[000 §7.4]` | [`impulse::contact_spring::ContactSpring`] |
//! | v' = v − M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ G v `[Harmon 2008]` | [`impact_zone::InelasticProjection`] |
//! | ω = I⁺ L, exact rotation of a zone `[001 §6.2.5]` | [`impact_zone::RigidVelocity`], [`impact_zone::RigidStep`] |
//! | α < π/2 and a simple contour `[Volino 1994]`, `[Tang 2009]` | [`normal_cone`] |
//! | A_pq = R S `[002 §2.4]` | [`rigid_motion::best_rotation`] |

pub mod aerodynamics;
pub mod broad_phase;
pub mod cloth;
pub mod contact;
pub mod drag;
pub mod eigen;
pub mod elasticity;
pub mod energy;
pub mod impact_zone;
pub mod implicit;
pub mod impulse;
pub mod mass;
pub mod matrix;
pub mod moduli;
pub mod normal_cone;
pub mod proximity;
pub mod rigid_motion;
pub mod runge_kutta;
pub mod scalar;
mod seeded;
pub mod singular_values;
pub mod stability;
pub mod tetrahedron;
pub mod viscosity;
pub mod wind;

#[cfg(test)]
pub(crate) mod testing;

pub use scalar::{Scalar, Single, real};
