//! The laws that every elastic energy obeys, as checks that each energy's tests call.

use approx::assert_relative_eq;
use nalgebra::{Matrix3, SMatrix, Vector3};
use simba::simd::{SimdValue, WideF32x8};

use super::{Elasticity, NODE_PAIRS, node_blocks};
use crate::kernel::matrix::double_contraction;
use crate::kernel::moduli::Moduli;
use crate::kernel::scalar::Scalar;
use crate::kernel::testing::{Random, lanes};
use crate::kernel::tetrahedron;

/// Young's modulus 100 kPa, Poisson's ratio 0.3.
pub(super) fn moduli<T: Scalar>() -> Moduli<T> {
    Moduli::from_young_and_poisson(nalgebra::convert(1e5), nalgebra::convert(0.3))
}

/// Stretches without inversion: mild, repeated, strong, and below the extension of Liesenfeld's energy.
const UPRIGHT: [[f64; 3]; 8] = [
    [1.0, 1.0, 1.0],
    [1.01, 1.0, 0.99],
    [1.2, 1.2, 0.8],
    [2.0, 1.0, 0.6],
    [1.5, 1.4, 1.3],
    [0.9, 0.8, 0.6],
    [1.1, 0.7, 0.3],
    [3.0, 0.5, 0.2],
];

/// Stretches of inverted elements.
const INVERTED: [[f64; 3]; 4] = [
    [1.0, 1.0, -0.5],
    [1.3, 0.9, -0.1],
    [0.5, 0.4, -0.3],
    [2.0, 1.1, -0.9],
];

pub(super) fn upright_states() -> Vec<Matrix3<f64>> {
    states(&UPRIGHT)
}

pub(super) fn all_states() -> Vec<Matrix3<f64>> {
    [states(&UPRIGHT), states(&INVERTED)].concat()
}

fn states(stretches: &[[f64; 3]]) -> Vec<Matrix3<f64>> {
    let mut random = Random::new(20);
    let mut draw = |stretch: &[f64; 3]| [random.stretched(*stretch), random.stretched(*stretch)];
    stretches.iter().flat_map(&mut draw).collect()
}

/// Size of a stress, for relative tolerances.
fn size(stress: &Matrix3<f64>) -> f64 {
    stress.amax().max(moduli::<f64>().shear)
}

pub(super) fn rest_state(energy: impl Elasticity<f64>) {
    let shear = moduli::<f64>().shear;
    let identity = Matrix3::identity();
    assert_relative_eq!(
        energy.energy_density(&identity),
        0.0,
        epsilon = 1e-12 * shear
    );
    assert_relative_eq!(
        energy.stress(&identity),
        Matrix3::zeros(),
        epsilon = 1e-14 * shear
    );
    let rotation = Random::new(21).rotation();
    assert_relative_eq!(
        energy.energy_density(&rotation),
        0.0,
        epsilon = 1e-24 * shear
    );
    assert_relative_eq!(
        energy.stress(&rotation),
        Matrix3::zeros(),
        epsilon = 1e-14 * shear
    );
}

pub(super) fn gradient(energy: impl Elasticity<f64>, states: &[Matrix3<f64>]) {
    let mut random = Random::new(22);
    let step = 1e-5;
    for deformation in states {
        let change = random.matrix(1.0);
        let forward = energy.energy_density(&(deformation + change * step));
        let backward = energy.energy_density(&(deformation - change * step));
        let stress = energy.stress(deformation);
        assert_relative_eq!(
            double_contraction(&stress, &change),
            (forward - backward) / (2.0 * step),
            epsilon = 1e-6 * size(&stress)
        );
    }
}

pub(super) fn differential(energy: impl Elasticity<f64>, states: &[Matrix3<f64>]) {
    let mut random = Random::new(23);
    let step = 1e-5;
    for deformation in states {
        let change = random.matrix(1.0);
        let forward = energy.stress(&(deformation + change * step));
        let backward = energy.stress(&(deformation - change * step));
        let differential = energy.stress_differential(deformation, &change);
        assert_relative_eq!(
            differential,
            (forward - backward) / (2.0 * step),
            epsilon = 1e-6 * size(&differential)
        );
    }
}

/// The second derivative, column by column from the differential of the stress.
fn exact_hessian(energy: impl Elasticity<f64>, deformation: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
    let mut hessian = SMatrix::<f64, 9, 9>::zeros();
    for entry in 0..9 {
        let mut change = Matrix3::zeros();
        change[entry] = 1.0;
        let differential = energy.stress_differential(deformation, &change);
        hessian
            .column_mut(entry)
            .copy_from_slice(differential.as_slice());
    }
    hessian
}

pub(super) fn hessian(energy: impl Elasticity<f64>) {
    let mut unclamped = 0;
    let collapsed = [
        Matrix3::zeros(),
        Matrix3::identity() * 1e-3,
        Matrix3::from_element(0.5),
    ];
    for deformation in all_states().into_iter().chain(collapsed) {
        let clamped = energy.hessian_psd(&deformation);
        let eigenvalues = clamped.symmetric_eigenvalues();
        assert!(eigenvalues.min() >= -1e-9 * eigenvalues.max());
        if deformation.norm() < 0.1 {
            // The decomposition of a collapsed element is not unique; only the sign is checked there.
            continue;
        }
        let exact = exact_hessian(energy, &deformation);
        assert!((exact - exact.transpose()).amax() <= 1e-10 * exact.amax());
        let decomposed = exact.symmetric_eigen();
        let positive = decomposed.eigenvalues.map(|value| value.max(0.0));
        let expected = decomposed.eigenvectors
            * SMatrix::from_diagonal(&positive)
            * decomposed.eigenvectors.transpose();
        assert!((clamped - expected).amax() <= 1e-9 * exact.amax());
        if decomposed.eigenvalues.min() > 1e-9 * exact.amax() {
            unclamped += 1;
            assert!((clamped - exact).amax() <= 1e-9 * exact.amax());
        }
    }
    assert!(unclamped >= 2, "no stretched state was convex");
}

/// The stiffness of three nodes as one matrix.
fn stacked(blocks: &[Matrix3<f64>; 6]) -> SMatrix<f64, 9, 9> {
    let mut stiffness = SMatrix::<f64, 9, 9>::zeros();
    for (block, (a, b)) in blocks.iter().zip(NODE_PAIRS) {
        stiffness
            .fixed_view_mut::<3, 3>(3 * a, 3 * b)
            .copy_from(block);
        stiffness
            .fixed_view_mut::<3, 3>(3 * b, 3 * a)
            .copy_from(&block.transpose());
    }
    stiffness
}

pub(super) fn node_stiffness(energy: impl Elasticity<f64>) {
    let mut random = Random::new(26);
    for case in 0..20_000 {
        let gradients = [random.vector(1.0), random.vector(1.0), random.vector(1.0)];
        let deformation = match case % 4 {
            0 => random.rotation(),
            1 => random.rotation() + random.matrix(0.1),
            2 => random.matrix(1.0),
            _ => random.matrix(3.0),
        };
        let stiffness = stacked(&energy.node_stiffness(&deformation, &gradients));
        let eigenvalues = stiffness.symmetric_eigenvalues();
        assert!(
            eigenvalues.min() >= -1e-9 * eigenvalues.max(),
            "{deformation} has {}",
            eigenvalues.min() / eigenvalues.max()
        );
        let exact = stacked(&node_blocks(
            &exact_hessian(energy, &deformation),
            &gradients,
        ));
        if case % 4 == 0 {
            assert!((stiffness - exact).amax() <= 1e-9 * exact.amax());
        }
        // Near rest it is exact to the order of the strain.
        if case % 4 == 1 {
            let strain = (deformation.transpose() * deformation - Matrix3::identity()).norm();
            assert!((stiffness - exact).amax() <= 4.0 * strain * exact.amax());
        }
    }
}

pub(super) fn rotation_invariance(energy: impl Elasticity<f64>) {
    let mut random = Random::new(24);
    for deformation in all_states() {
        let (left, right) = (random.rotation(), random.rotation());
        let turned = left * deformation * right;
        let stress = energy.stress(&deformation);
        assert_relative_eq!(
            energy.stress(&turned),
            left * stress * right,
            epsilon = 1e-10 * size(&stress)
        );
        assert_relative_eq!(
            energy.energy_density(&turned),
            energy.energy_density(&deformation),
            max_relative = 1e-10,
            epsilon = 1e-20 * size(&stress)
        );
        // Objective energies give a symmetric Cauchy stress, hence no torque.
        let moment = stress * deformation.transpose();
        assert_relative_eq!(moment, moment.transpose(), epsilon = 1e-10 * size(&stress));
    }
}

/// Down to strains whose square is below the rounding of one: an energy that subtracts large numbers fails this.
pub(super) fn small_strain(energy: impl Elasticity<f64>) {
    let moduli = moduli::<f64>();
    let mut random = Random::new(25);
    for amount in [1e-5, 1e-7, 1e-9] {
        let half = random.matrix(amount);
        let strain = (half + half.transpose()) * 0.5;
        let trace = strain.trace();
        let expected =
            moduli.shear * strain.norm_squared() + 0.5 * moduli.lame_lambda() * trace * trace;
        let tolerance = 20.0 * amount + 2e-14 / amount;
        let rest = Matrix3::identity();
        assert_relative_eq!(
            energy.energy_density(&(rest + strain)),
            expected,
            max_relative = tolerance
        );
        let stress = strain * (2.0 * moduli.shear) + rest * (moduli.lame_lambda() * trace);
        assert_relative_eq!(
            energy.stress(&(rest + strain)),
            stress,
            epsilon = tolerance * stress.amax()
        );
    }
}

/// Pushes one vertex of a tetrahedron through the opposite face: its force must point back at all depths.
pub(super) fn inversion_is_resisted(energy: impl Elasticity<f64>) {
    let rest = [
        Vector3::new(0.0, 0.0, 1.0),
        Vector3::new(0.0, 0.0, 0.0),
        Vector3::new(1.0, 0.0, 0.0),
        Vector3::new(0.0, 1.0, 0.0),
    ];
    let rest_edges = tetrahedron::edge_matrix(&rest);
    let rest_inverse = tetrahedron::rest_inverse(&rest_edges);
    let mut above = f64::NEG_INFINITY;
    for height in [-0.9, -0.5, -0.2, -0.01, 0.0, 0.01, 0.2, 0.5] {
        let mut corners = rest;
        corners[0].z = height;
        let deformation =
            tetrahedron::deformation_gradient(&tetrahedron::edge_matrix(&corners), &rest_inverse);
        let forces = tetrahedron::nodal_forces(
            &energy.stress(&deformation),
            &rest_inverse,
            tetrahedron::volume(&rest_edges),
        );
        assert!(forces[0].z > 0.0, "height {height}: {}", forces[0]);
        let total: Vector3<f64> = forces.iter().sum();
        assert!(total.amax() <= 1e-12 * forces[0].amax());
        let here = -energy.energy_density(&deformation);
        assert!(here > above, "energy must fall towards the rest state");
        above = here;
    }
}

/// The same bits in lanes as one by one.
pub(super) fn lanes_equal_scalars<Single, Lanes>()
where
    Single: Elasticity<f32>,
    Lanes: Elasticity<WideF32x8>,
{
    let (scalar, packed) = (Single::from_moduli(moduli()), Lanes::from_moduli(moduli()));
    let changes = all_states();
    for (states, changes) in all_states()
        .chunks_exact(8)
        .zip(changes.chunks_exact(8).rev())
    {
        let (deformations, directions) = (lanes(states), lanes(changes));
        let energy = packed.energy_density(&deformations);
        let stress = packed.stress(&deformations);
        let differential = packed.stress_differential(&deformations, &directions);
        let hessian = packed.hessian_psd(&deformations);
        for lane in 0..8 {
            let (deformation, direction) = (states[lane].cast(), changes[lane].cast());
            assert_eq!(energy.extract(lane), scalar.energy_density(&deformation));
            assert_eq!(stress.extract(lane), scalar.stress(&deformation));
            assert_eq!(
                differential.extract(lane),
                scalar.stress_differential(&deformation, &direction)
            );
            assert_eq!(hessian.extract(lane), scalar.hessian_psd(&deformation));
        }
    }
}
