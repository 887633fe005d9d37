//! Writing a run to files: rows as CSV, surfaces as OBJ.

use std::fs;
use std::io::BufWriter;
use std::path::Path;

use bevy_pliant::io::write_obj;

use crate::scenes::{Record, Shell};

/// Writes text to a file, making its folder; the error names the file.
pub fn write_file(file: &Path, text: &str) -> Result<(), String> {
    make_folder_of(file)?;
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Makes the folder that a file shall lie in.
pub fn make_folder_of(file: &Path) -> Result<(), String> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => make_folder(folder),
        _ => Ok(()),
    }
}

/// Makes a folder and those above it.
pub fn make_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}

/// One row per frame, units in the head.
pub fn csv(record: &Record) -> String {
    let mut text = String::from(
        "time_s,kinetic_J,elastic_J,gravitational_J,dissipated_J,contact_J,useful_J,total_J,\
         momentum_x_kg_m_per_s,momentum_y_kg_m_per_s,momentum_z_kg_m_per_s,\
         angular_momentum_x_kg_m2_per_s,angular_momentum_y_kg_m2_per_s,angular_momentum_z_kg_m2_per_s,\
         tick_ms,substeps,contacts,smallest_volume_ratio",
    );
    for (name, _) in record.rows.first().map_or(&[][..], |row| &row.samples) {
        text.push(',');
        text.push_str(name);
    }
    text.push('\n');
    for row in &record.rows {
        let energies = &row.energies;
        let mut cells = vec![
            row.time,
            energies.kinetic,
            energies.elastic,
            energies.gravitational,
            energies.dissipated,
            energies.contact,
            energies.useful(),
            energies.total(),
        ];
        cells.extend(row.momentum.iter());
        cells.extend(row.angular_momentum.iter());
        cells.extend([
            row.milliseconds,
            f64::from(row.substeps),
            f64::from(row.contacts),
            row.smallest_volume_ratio,
        ]);
        cells.extend(row.samples.iter().map(|&(_, value)| value));
        let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// Writes the surfaces of all bodies in Wavefront's format.
pub fn write_surfaces(file: &Path, shell: &Shell) -> Result<(), String> {
    let problem = |error| format!("cannot write {}: {error}", file.display());
    make_folder_of(file)?;
    let writer = BufWriter::new(fs::File::create(file).map_err(problem)?);
    write_obj(writer, shell.points.iter().copied(), &shell.triangles).map_err(problem)
}
