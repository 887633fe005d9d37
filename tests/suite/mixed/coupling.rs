//! The coupling of strain with folds: the same folds from the same seed, none without it.

use crate::scenes::{Settings, find, run_headless};
use bevy_pliant::state_hash;

/// Runs the scene of the released flags with a seed; the fingerprint of its end, and whether its checks hold.
fn released(seed: f64) -> (u64, bool) {
    let scene = find("flag_release").expect("a scene");
    let mut settings = Settings::new(scene);
    settings.seconds = 1.5;
    settings.set(scene, "seed", seed).expect("a seed");
    let mut run = run_headless(scene, &settings, None, |_, _| ()).expect("a run");
    let ok = (scene.check)(&run.record, &settings).ok();
    (state_hash(run.app.world_mut()), ok)
}

#[test]
fn the_same_seed_gives_the_same_folds_and_another_one_others() {
    let (first, again, other) = (released(1.0), released(1.0), released(2.0));
    assert!(first.1 && other.1, "{first:?} {other:?}");
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
}
