//! Meshes of real objects, written by other programs: they load, fall, land and stay sound; damaged copies are named.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy_pliant::io::read_tetrahedral_mesh;
use bevy_pliant::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use nalgebra::Vector3;

use crate::support::{app, assert_relative, data_folder, state, ticks};

/// The longest side that every mesh is brought to, m: most of them are drawn in no unit.
const LONGEST_SIDE: f64 = 1.0;

/// The mesh files of the reference data, of each format one or more; none if the data is absent.
fn files() -> Vec<PathBuf> {
    let Some(folder) = data_folder() else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("tet"))
        .expect("a folder of meshes")
        .map(|entry| entry.expect("a file").path())
        // The elements of TetGen belong to the file of the nodes.
        .filter(|path| path.extension().is_some_and(|extension| extension != "ele"))
        .collect();
    files.sort();
    files
}

fn sized(mesh: TetrahedralMesh) -> TetrahedralMesh {
    let (low, high) = mesh.bounds().expect("vertices");
    mesh.translated_by(-0.5 * (low + high))
        .scaled_by(Vector3::repeat(LONGEST_SIDE / (high - low).max()))
        .expect("a positive scale")
}

fn fall_and_land(path: &Path) {
    const FREE_TICKS: usize = 6;
    // The impact runs through the body and back in a seventh of a second.
    const LANDING_TICKS: usize = 12;
    let name = path
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let mesh = sized(read_tetrahedral_mesh(path).unwrap_or_else(|error| panic!("{error}")));
    let (low, _) = mesh.bounds().expect("vertices");
    let count = mesh.tetrahedra.len();

    let mut app = app();
    app.insert_resource(Integrator::SYMPLECTIC_EULER);
    app.world_mut().spawn((
        RigidBody::Fixed,
        Collider::cuboid(5.0, 0.5, 5.0),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    // Free for 0.1 s, in which it falls by 49 mm.
    let height = 0.055 - low.y;
    let body = app
        .world_mut()
        .spawn((
            Name::new(name.clone()),
            Solid::new(mesh),
            PliantMaterial::new(2e5, 0.4, 1000.0),
            Transform::from_xyz(0.0, height as f32, 0.0),
        ))
        .id();
    assert!(
        app.world().get::<Quarantined>(body).is_none(),
        "{name}: {:?}",
        app.world().get::<Quarantined>(body)
    );
    let particles = app.world().get::<Particles>(body).expect("a body");
    let start =
        bevy_pliant::kernel::energy::center_of_mass(particles.masses(), &particles.positions).y;

    ticks(&mut app, FREE_TICKS);
    let seconds = FREE_TICKS as f64 / 60.0;
    // The integrator is exact on a parabola; what is left is the rounding of single-precision positions, 1e-6 of the fall.
    assert_relative(
        &format!("{name}: fall"),
        start - state(&app, body).center.y,
        0.5 * 9.81 * seconds * seconds,
        1e-4,
    );
    let total = state(&app, body).energies.total();

    ticks(&mut app, LANDING_TICKS);
    let state = state(&app, body);
    println!(
        "{name}: {count} tetrahedra, {} substeps, {} contacts, smallest volume ratio {:.3}",
        state.substeps, state.contacts, state.smallest_volume_ratio
    );
    assert!(
        app.world().get::<Quarantined>(body).is_none(),
        "{name}: {:?}",
        app.world().get::<Quarantined>(body)
    );
    let particles = app.world().get::<Particles>(body).expect("a body");
    assert!(
        particles.first_non_finite().is_none(),
        "{name} is not finite"
    );
    let lowest = particles
        .positions
        .iter()
        .map(|position| f64::from(position.y))
        .fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.0, "{name} sank to {lowest} m");
    assert!(lowest < 0.05, "{name} never landed: {lowest} m");
    // Small elements at the few particles that touch may be crushed, even turned inside out, by the impact of a body of
    // many thousands: what shows that the run is sound is that no energy comes from nowhere.
    let strayed = (state.energies.total() - total) / total.abs();
    println!("{name}: T strays by {strayed:.1e} of {total:.2} J");
    assert!(strayed.abs() < 0.02, "{name}: T strays by {strayed:.1e}");
    assert!(
        state.center.y > 0.0 && state.center.y < start,
        "{name} is at {}",
        state.center
    );
}

#[test]
fn real_meshes_fall_land_and_stay_sound() {
    for path in files() {
        fall_and_land(&path);
    }
}

/// Copies cut at ten places, the cut anywhere in a line: each is an error that names the file and a line in it.
#[test]
fn truncated_meshes_are_errors_that_name_file_and_line() {
    let folder = std::env::temp_dir().join(format!("bevy_pliant_truncated_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the copies");
    for path in files() {
        let pair = path.with_extension("ele");
        let originals = if pair.exists() {
            vec![path.clone(), pair]
        } else {
            vec![path.clone()]
        };
        for damaged in &originals {
            for original in &originals {
                std::fs::copy(original, folder.join(original.file_name().expect("a name")))
                    .expect("a copy");
            }
            let copy = folder.join(damaged.file_name().expect("a name"));
            let whole = std::fs::read(damaged).expect("a file");
            for tenth in 0..10 {
                let length = whole.len() * tenth / 10;
                std::fs::write(&copy, &whole[..length]).expect("a copy");
                let error = match read_tetrahedral_mesh(&copy) {
                    Ok(mesh) => panic!(
                        "{} tetrahedra in {length} bytes of {}",
                        mesh.tetrahedra.len(),
                        copy.display()
                    ),
                    Err(error) => error.to_string(),
                };
                assert_names_a_line(&error, &copy, &whole[..length]);
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder of the copies");
}

/// `file:line: problem`, with a line that the file has.
#[track_caller]
fn assert_names_a_line(error: &str, file: &Path, content: &[u8]) {
    let lines = content.iter().filter(|byte| **byte == b'\n').count() + 1;
    let line: Option<usize> = error
        .strip_prefix(&format!("{}:", file.display()))
        .and_then(|rest| rest.split(':').next())
        .and_then(|line| line.parse().ok());
    assert!(
        line.is_some_and(|line| (1..=lines).contains(&line)),
        "{lines} lines, but: {error}"
    );
}
