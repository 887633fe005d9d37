//! Energies and stresses against reference values computed with 40 digits, where these are at hand.

use std::path::PathBuf;

use nalgebra::{Matrix3, Vector3};
use serde_json::Value;

use super::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use crate::kernel::moduli::Moduli;

/// The reference cases of a given name, or nothing where the data are absent.
fn reference(id: &str) -> Option<Value> {
    let folder = std::env::var_os("PLIANT_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")),
        PathBuf::from,
    );
    let path = folder.join("analytic.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("reference data absent: {}; check skipped", path.display());
        return None;
    };
    let data: Value = serde_json::from_str(&text).expect("reference data are JSON");
    let cases = data["cases"].as_array().expect("a list of cases");
    let case = cases.iter().find(|case| case["id"] == id);
    Some(case.unwrap_or_else(|| panic!("no case {id}")).clone())
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn matrix(value: &Value) -> Matrix3<f64> {
    Matrix3::from_fn(|row, column| number(&value[row][column]))
}

fn moduli(case: &Value) -> Moduli<f64> {
    let inputs = &case["inputs"];
    Moduli::from_young_and_poisson(number(&inputs["E"]), number(&inputs["nu"]))
}

/// Compares stress and energy at given deformations; the reference may count the energy from another zero.
fn check_stress_points<E: Elasticity<f64>>(
    id: &str,
    make: impl Fn(Moduli<f64>) -> E,
    energy_at_rest: impl Fn(&E) -> f64,
) {
    let Some(case) = reference(id) else { return };
    let energy = make(moduli(&case));
    let points = case["inputs"]["points"].as_array().expect("points");
    let expected = case["expected"].as_array().expect("expected values");
    assert_eq!(points.len(), expected.len());
    for (point, expected) in points.iter().zip(expected) {
        assert_eq!(point["name"], expected["name"]);
        let deformation = matrix(&point["F"]);
        let density = energy.energy_density(&deformation) + energy_at_rest(&energy);
        let error = (density - number(&expected["W"])).abs();
        assert!(
            error <= 1e-9 * number(&expected["W"]).abs(),
            "{id} {point}: energy {density}"
        );
        let stress = matrix(&expected["P"]);
        let error = (energy.stress(&deformation) - stress).amax();
        assert!(
            error <= 1e-9 * stress.amax(),
            "{id} {point}: stress off by {error}"
        );
    }
}

/// Stretches a block along one axis, with free and with held sides.
fn check_uniaxial<E: Elasticity<f64>>(id: &str, make: impl Fn(Moduli<f64>) -> E) {
    let Some(case) = reference(id) else { return };
    let energy = make(moduli(&case));
    let stress = |along: f64, across: f64| {
        energy.stress(&Matrix3::from_diagonal(&Vector3::new(
            along, across, across,
        )))
    };
    for expected in case["expected"].as_array().expect("expected values") {
        let along = number(&expected["stretch"]);
        // The traction on the sides grows with the stretch across in this range.
        let (mut low, mut high) = (0.5, 1.5);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if stress(along, middle)[(1, 1)] < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let free = stress(along, low)[(0, 0)];
        let held = stress(along, 1.0);
        for (name, value) in [
            ("lateral_stretch", low),
            ("nominal_stress", free),
            ("cauchy_stress", free / (low * low)),
            ("laterally_clamped_nominal", held[(0, 0)]),
            ("laterally_clamped_side_nominal", held[(1, 1)]),
        ] {
            let wanted = number(&expected[name]);
            let error = (value - wanted).abs();
            assert!(
                error <= 1e-6 * wanted.abs(),
                "{id} {along} {name}: {value} for {wanted}"
            );
        }
    }
}

/// The published formula is not zero at rest.
fn stable_neo_hookean_at_rest(energy: &StableNeoHookean<f64>) -> f64 {
    let (m, l) = (energy.shear_coefficient, energy.volume_coefficient);
    let offset = -0.75 * m / l;
    0.5 * l * offset * offset - 0.5 * m * 4.0_f64.ln()
}

#[test]
fn stable_neo_hookean_matches_reference_points() {
    check_stress_points(
        "stress_point_stable_neo_hookean",
        StableNeoHookean::from_moduli,
        stable_neo_hookean_at_rest,
    );
}

#[test]
fn corotational_matches_reference_points() {
    check_stress_points(
        "stress_point_corotational",
        Corotational::from_moduli,
        |_| 0.0,
    );
}

#[test]
fn liesenfeld_matches_reference_points() {
    check_stress_points("stress_point_seed_W", Liesenfeld::reference, |_| 0.0);
}

#[test]
fn stable_neo_hookean_matches_reference_stretches() {
    check_uniaxial("uniaxial_stable_neo_hookean", StableNeoHookean::from_moduli);
}

#[test]
fn corotational_matches_reference_stretches() {
    check_uniaxial("uniaxial_corotational", Corotational::from_moduli);
}

#[test]
fn liesenfeld_matches_reference_stretches() {
    check_uniaxial("uniaxial_seed_W", Liesenfeld::from_moduli);
}
