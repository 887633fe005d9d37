//! Blocks under homogeneous deformation: linear tetrahedra are exact there, so the forces on the faces and the energy of
//! the body are those of the closed forms, whatever the mesh.

use bevy::app::FixedPostUpdate;
use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::CellSplit;
use bevy_pliant::prelude::*;
use nalgebra::{Matrix3, Vector3};
use serde_json::Value;

use crate::support::{analytic_case, app, assert_relative};

const SIZE: [f64; 3] = [0.3, 0.2, 0.4];
const CELLS: [usize; 3] = [3, 2, 3];
const SPLITS: [CellSplit; 2] = [CellSplit::Five, CellSplit::Six];
const MODELS: [ElasticModel; 3] = [
    ElasticModel::StableNeoHookean,
    ElasticModel::Corotational,
    ElasticModel::LIESENFELD,
];

/// Young's modulus, Pa, and Poisson's ratio of the reference cases.
const YOUNG: f64 = 1e5;
const POISSON: f64 = 0.3;
const MU: f64 = YOUNG / (2.0 * (1.0 + POISSON));
const LAMBDA: f64 = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
const BULK: f64 = LAMBDA + 2.0 / 3.0 * MU;

/// What a law must reproduce, relative to the largest stress: the closed forms are exact, so only rounding is left. In
/// single precision positions are rounded to 6e-8 of the body, which is 1e-5 of the smallest stress tested.
const TOLERANCE: f64 = if cfg!(feature = "f64") { 1e-6 } else { 1e-3 };

/// A block in a world where nothing moves by itself: positions are set, forces and energy are read.
struct Specimen {
    app: App,
    body: Entity,
    rest: Vec<Vector3<f64>>,
}

/// What a deformed specimen shows.
struct Response {
    /// First Piola–Kirchhoff stress from the forces on the three low and the three high faces, Pa.
    stress_of_faces: [Matrix3<f64>; 2],
    /// Largest force on a particle that is on no face, N.
    largest_inner_force: f64,
    /// Energy of the account per rest volume, J/m³.
    energy_density: f64,
}

impl Specimen {
    fn new(material: PliantMaterial, split: CellSplit) -> Self {
        let mut app = app();
        app.insert_resource(Integrator::SYMPLECTIC_EULER)
            .insert_resource(PliantGravity(Vec3::ZERO));
        app.configure_sets(FixedPostUpdate, PliantSystems::Step.run_if(|| false));
        let mesh = TetrahedralMesh::block(SIZE, CELLS, split).expect("a block");
        let rest = mesh.positions.clone();
        let body = app.world_mut().spawn((Solid::new(mesh), material)).id();
        Self { app, body, rest }
    }

    fn of_model(model: ElasticModel, split: CellSplit) -> Self {
        Self::new(
            PliantMaterial::new(1e5, 0.3, 1000.0).with_model(model),
            split,
        )
    }

    fn deform(&mut self, deformation: &Matrix3<f64>) -> Response {
        let mut particles = self
            .app
            .world_mut()
            .get_mut::<Particles>(self.body)
            .expect("a body");
        for (position, rest) in particles.positions.iter_mut().zip(&self.rest) {
            *position = (deformation * rest).cast();
        }
        self.app.update();
        self.app.world_mut().run_schedule(PliantForces);
        let state = self
            .app
            .world()
            .get::<PliantState>(self.body)
            .expect("a body");
        let particles = self
            .app
            .world()
            .get::<Particles>(self.body)
            .expect("a body");
        let side = |rest: &Vector3<f64>, axis: usize| {
            let share = 2.0 * rest[axis] / SIZE[axis];
            if share.abs() < 0.999 {
                0.0
            } else {
                share.signum()
            }
        };
        let mut stress_of_faces = [Matrix3::zeros(); 2];
        for axis in 0..3 {
            let area = SIZE[(axis + 1) % 3] * SIZE[(axis + 2) % 3];
            for (face, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let on_face = self
                    .rest
                    .iter()
                    .zip(&particles.forces)
                    .filter(|(rest, _)| side(rest, axis) == sign);
                // The elements pull the face back: −P N A.
                let force = on_face.fold(Vector3::zeros(), |sum, (_, force)| {
                    sum + force.cast::<f64>()
                });
                stress_of_faces[face].set_column(axis, &(force * (-sign / area)));
            }
        }
        let inner = self
            .rest
            .iter()
            .zip(&particles.forces)
            .filter(|(rest, _)| (0..3).all(|axis| side(rest, axis) == 0.0));
        Response {
            stress_of_faces,
            largest_inner_force: inner
                .map(|(_, force)| force.cast::<f64>().norm())
                .fold(0.0, f64::max),
            energy_density: state.energies.elastic / SIZE.iter().product::<f64>(),
        }
    }
}

#[track_caller]
fn assert_stress(what: &str, response: &Response, expected: &Matrix3<f64>, tolerance: f64) {
    let largest = expected.amax();
    for (side, stress) in ["low", "high"].iter().zip(&response.stress_of_faces) {
        let error = (stress - expected).amax() / largest;
        assert!(
            error <= tolerance,
            "{what}, {side} faces: {stress} instead of {expected}, {error:.2e} off"
        );
    }
    let cell_area = (SIZE[0] / CELLS[0] as f64) * (SIZE[2] / CELLS[2] as f64);
    let inner = response.largest_inner_force / (largest * cell_area);
    assert!(
        inner <= tolerance,
        "{what}: an inner particle feels {inner:.2e} of the stress on a cell"
    );
}

/// Principal stresses of the law, written out by hand, Pa.
fn principal_stress(model: ElasticModel, stretch: &Vector3<f64>) -> Vector3<f64> {
    let ratio = stretch.product();
    match model {
        ElasticModel::StableNeoHookean => {
            let (m, l, a) = stable_neo_hookean_coefficients();
            let first = stretch.norm_squared();
            stretch.map(|s| m * (1.0 - 1.0 / (first + 1.0)) * s + l * (ratio - a) * ratio / s)
        }
        ElasticModel::Corotational => {
            let sum = stretch.sum() - 3.0;
            stretch.map(|s| 2.0 * MU * (s - 1.0) + LAMBDA * sum)
        }
        ElasticModel::Liesenfeld { .. } => {
            let pressure = BULK / 8.0 * (ratio.powi(3) - ratio.powi(-5));
            let third = stretch.norm_squared() / 3.0;
            stretch.map(|s| MU * s * (s * s - third) + pressure * ratio / s)
        }
    }
}

/// Energy densities of the law, written out by hand, J/m³; zero at rest.
fn principal_energy(model: ElasticModel, stretch: &Vector3<f64>) -> f64 {
    let ratio = stretch.product();
    match model {
        ElasticModel::StableNeoHookean => {
            let (m, l, a) = stable_neo_hookean_coefficients();
            let first = stretch.norm_squared();
            0.5 * m * (first - 3.0) + 0.5 * l * (ratio - a).powi(2)
                - 0.5 * m * (first + 1.0).ln()
                - stable_neo_hookean_rest_energy()
        }
        ElasticModel::Corotational => {
            let excess = stretch.map(|s| s - 1.0);
            MU * excess.norm_squared() + 0.5 * LAMBDA * excess.sum().powi(2)
        }
        ElasticModel::Liesenfeld { .. } => {
            let strain = stretch.map(|s| 0.5 * (s * s - 1.0));
            let deviator = strain.map(|e| e - strain.sum() / 3.0);
            BULK / 32.0 * (ratio.powi(2) - ratio.powi(-2)).powi(2) + MU * deviator.norm_squared()
        }
    }
}

fn stable_neo_hookean_coefficients() -> (f64, f64, f64) {
    let (m, l) = (4.0 / 3.0 * MU, LAMBDA + 5.0 / 6.0 * MU);
    (m, l, 1.0 + m / l - m / (4.0 * l))
}

fn stable_neo_hookean_rest_energy() -> f64 {
    let (m, l, a) = stable_neo_hookean_coefficients();
    0.5 * l * (1.0 - a).powi(2) - 0.5 * m * 4.0_f64.ln()
}

/// Stress under the simple shear x' = x + γ y, written out by hand, Pa.
fn shear_stress(model: ElasticModel, shear: f64) -> Matrix3<f64> {
    match model {
        ElasticModel::StableNeoHookean => {
            let (m, l, a) = stable_neo_hookean_coefficients();
            let (along, across) = (m * (1.0 - 1.0 / (4.0 + shear * shear)), l * (1.0 - a));
            let normal = along + across;
            Matrix3::new(
                normal,
                along * shear,
                0.0,
                -across * shear,
                normal,
                0.0,
                0.0,
                0.0,
                normal,
            )
        }
        ElasticModel::Corotational => {
            let diagonal = (4.0 + shear * shear).sqrt();
            let (cos, sin) = (2.0 / diagonal, shear / diagonal);
            let rotation = Matrix3::new(cos, sin, 0.0, -sin, cos, 0.0, 0.0, 0.0, 1.0);
            let deformation = Matrix3::new(1.0, shear, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
            (deformation - rotation) * (2.0 * MU) + rotation * (LAMBDA * (diagonal - 2.0))
        }
        ElasticModel::Liesenfeld { .. } => {
            let (square, third) = (shear * shear, shear * shear / 3.0);
            let row = [2.0 * third, shear * (1.0 + 2.0 * third)];
            MU * Matrix3::new(
                row[0],
                row[1],
                0.0,
                shear,
                square - third,
                0.0,
                0.0,
                0.0,
                -third,
            )
        }
    }
}

/// The zero of a function that changes sign between `low` and `high`.
fn root(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let sign = function(low).signum();
    assert!(function(high).signum() != sign, "no change of sign");
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if function(middle).signum() == sign {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[test]
fn a_stretched_block_with_free_sides_pulls_with_its_nominal_stress() {
    for (model, split) in MODELS
        .into_iter()
        .flat_map(|model| SPLITS.map(|split| (model, split)))
    {
        let mut specimen = Specimen::of_model(model, split);
        for axis in 0..3 {
            for stretch in [0.7, 0.9, 1.1, 1.5, 2.0] {
                let stretches = |lateral: f64| {
                    Vector3::from_fn(|i, _| if i == axis { stretch } else { lateral })
                };
                let other = (axis + 1) % 3;
                let lateral = root(0.6, 1.3, |lateral| {
                    principal_stress(model, &stretches(lateral))[other]
                });
                let stretches = stretches(lateral);
                let expected = Matrix3::from_diagonal(&principal_stress(model, &stretches));
                let response = specimen.deform(&Matrix3::from_diagonal(&stretches));
                let what = format!("{model:?}, {split:?}, stretch {stretch} along axis {axis}");
                assert_stress(&what, &response, &expected, TOLERANCE);
                let energy = principal_energy(model, &stretches);
                assert_relative(
                    &format!("{what}, energy"),
                    response.energy_density,
                    energy,
                    TOLERANCE,
                );
            }
        }
    }
}

#[test]
fn a_sheared_block_pulls_with_the_stress_of_simple_shear() {
    for (model, split) in MODELS
        .into_iter()
        .flat_map(|model| SPLITS.map(|split| (model, split)))
    {
        let mut specimen = Specimen::of_model(model, split);
        for shear in [-0.5, 0.1, 0.5, 1.0] {
            let mut deformation = Matrix3::identity();
            deformation[(0, 1)] = shear;
            let response = specimen.deform(&deformation);
            let what = format!("{model:?}, {split:?}, shear {shear}");
            assert_stress(&what, &response, &shear_stress(model, shear), TOLERANCE);
        }
    }
}

#[test]
fn a_rigid_motion_of_a_block_costs_no_force_and_no_energy() {
    let rotation = nalgebra::Rotation3::from_euler_angles(0.7, -1.1, 2.3).into_inner();
    for (model, split) in MODELS
        .into_iter()
        .flat_map(|model| SPLITS.map(|split| (model, split)))
    {
        let response = Specimen::of_model(model, split).deform(&rotation);
        let largest = response.stress_of_faces[1].amax() / YOUNG;
        // Rounded positions are strained by a few of their last digits.
        let rounding = 30.0 * f64::from(Real::EPSILON);
        assert!(
            largest < rounding,
            "{model:?}, {split:?}: strained by {largest:.1e}"
        );
        let energy = response.energy_density / YOUNG;
        assert!(
            energy < rounding * rounding,
            "{model:?}, {split:?}: energy {energy:.1e}"
        );
    }
}

/// The reference's name of each law, and the law without the continuation that the reference does not have.
const CASES: [(&str, ElasticModel); 3] = [
    ("stable_neo_hookean", ElasticModel::StableNeoHookean),
    ("corotational", ElasticModel::Corotational),
    (
        "seed_W",
        ElasticModel::Liesenfeld {
            extension_below: 0.0,
        },
    ),
];

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn stretched_blocks_follow_the_reference_with_free_and_with_clamped_sides() {
    for (name, model) in CASES {
        let Some(case) = analytic_case(&format!("uniaxial_{name}")) else {
            return;
        };
        assert_eq!(number(&case["inputs"]["E"]), YOUNG);
        assert_eq!(number(&case["inputs"]["nu"]), POISSON);
        for split in SPLITS {
            let mut specimen = Specimen::of_model(model, split);
            for point in case["expected"].as_array().expect("stretches") {
                let stretch = number(&point["stretch"]);
                let mut check = |lateral: f64, along: &Value, across: f64| {
                    let response = specimen.deform(&Matrix3::from_diagonal(&Vector3::new(
                        stretch, lateral, lateral,
                    )));
                    let expected =
                        Matrix3::from_diagonal(&Vector3::new(number(along), across, across));
                    let what = format!("{name}, {split:?}, stretch {stretch}, lateral {lateral}");
                    assert_stress(&what, &response, &expected, TOLERANCE);
                };
                check(
                    number(&point["lateral_stretch"]),
                    &point["nominal_stress"],
                    0.0,
                );
                let side = number(&point["laterally_clamped_side_nominal"]);
                check(1.0, &point["laterally_clamped_nominal"], side);
            }
        }
    }
}

#[test]
fn any_deformation_of_a_block_follows_the_reference_inverted_ones_too() {
    let matrix = |value: &Value| Matrix3::from_fn(|row, column| number(&value[row][column]));
    for (name, model) in CASES {
        let Some(case) = analytic_case(&format!("stress_point_{name}")) else {
            return;
        };
        let tolerance = number(
            &case["tolerance"][if cfg!(feature = "f64") {
                "rel_f64"
            } else {
                "rel_f32"
            }],
        );
        // The reference's energies are those of the published formulas, whose constants the library drops.
        let rest = if model == ElasticModel::StableNeoHookean {
            stable_neo_hookean_rest_energy()
        } else {
            0.0
        };
        let points = case["inputs"]["points"].as_array().expect("points");
        for split in SPLITS {
            let mut specimen = Specimen::of_model(model, split);
            for (point, expected) in points
                .iter()
                .zip(case["expected"].as_array().expect("points"))
            {
                let what = format!("{name}, {split:?}, {}", point["name"]);
                let response = specimen.deform(&matrix(&point["F"]));
                assert_stress(&what, &response, &matrix(&expected["P"]), tolerance);
                let energy = number(&expected["W"]) - rest;
                assert_relative(
                    &format!("{what}, energy"),
                    response.energy_density,
                    energy,
                    tolerance,
                );
            }
        }
    }
}

/// A block of Liesenfeld's material that is sheared by 1 and may choose its size takes 0.724 of its volume if
/// α/β = 22/16: its shear energy falls with the fourth power of the size.
#[test]
fn a_sheared_block_of_liesenfelds_material_shrinks() {
    let quotient = 22.0 / 16.0;
    // With F = s (I + e₁⊗e₂), J = s³: Φ/β = α/(32 β) (J² − J⁻²)² + 2/3 J^(4/3), so dΦ/dJ = 0 at the root of
    let slope = |j: f64| {
        quotient / 8.0 * (j * j - j.powi(-2)) * (j + j.powi(-3)) + 8.0 / 9.0 * j.powf(1.0 / 3.0)
    };
    let expected = root(0.5, 1.0, slope);
    assert!(
        (expected - 0.724).abs() < 5e-4,
        "the closed form gives {expected}"
    );

    let mut specimen = Specimen::new(
        PliantMaterial::liesenfeld(22e3, 16e3, 0.0, 0.0, 1000.0),
        CellSplit::Six,
    );
    let mut energy = |scale: f64| {
        let mut deformation = Matrix3::identity() * scale;
        deformation[(0, 1)] = scale;
        specimen.deform(&deformation).energy_density
    };
    // Golden section: a minimum is found to the square root of the precision of the energy, 3e-4 in single precision.
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.8, 1.0);
    while high - low > 1e-5 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if energy(left) < energy(right) {
            high = right;
        } else {
            low = left;
        }
    }
    let ratio = (0.5 * (low + high)).powi(3);
    println!("volume ratio {ratio:.5}, closed form {expected:.5}");
    assert!(
        (ratio - expected).abs() < 1e-3,
        "the block shrinks to {ratio} instead of {expected}"
    );
}
