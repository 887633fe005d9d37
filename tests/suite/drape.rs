//! The drape coefficient: in order, and the same on a finer mesh.

use crate::scenes::{Settings, find, run_headless};

const NAMES: [&str; 4] = ["drape_silk", "drape_cotton", "drape_denim", "drape_leather"];

/// Most that a coefficient may change by from one mesh to the next: fabric settles in one of several patterns of folds.
const CHANGE: f64 = 0.06;

fn drapes(rings: f64) -> [f64; 4] {
    let scene = find("drape").expect("the scene");
    let mut settings = Settings::new(scene);
    settings.set(scene, "rings", rings).expect("a parameter");
    let run = run_headless(scene, &settings, None, |_, _| ()).expect("a run");
    let last = run.record.rows.last().expect("rows");
    NAMES.map(|name| last.sample(name))
}

#[test]
fn drape_coefficients_are_in_order_at_any_resolution() {
    let [coarse, fine] = [20.0, 30.0].map(drapes);
    println!("{NAMES:?}: {coarse:.3?}, on a finer mesh {fine:.3?}");
    for drapes in [coarse, fine] {
        assert!(
            drapes.windows(2).all(|pair| pair[1] > pair[0] + 0.02),
            "{drapes:?}"
        );
    }
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!((fine - coarse).abs() < CHANGE, "{coarse} and {fine}");
    }
}
