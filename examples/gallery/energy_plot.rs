//! The live energy plot.

use bevy_egui::egui::{self, Color32};
use egui_plot::{AxisHints, GridInput, GridMark, Line, Plot, PlotPoints};

use crate::scenes::{Record, Row};

/// Simulated time that the plot shows, s.
const SPAN: f64 = 10.0;
/// Points per curve: about one per pixel.
const MOST_POINTS: usize = 400;

/// One curve: name, color, value in J of a row, given the first row. Heights count from there, else G would hide the
/// others.
pub type Curve = (&'static str, Color32, fn(&Row, &Row) -> f64);

/// What is drawn. The figures below the plot have the same names and colors, and are its legend.
pub const CURVES: [Curve; 5] = [
    ("K kinetic", Color32::from_rgb(86, 180, 233), |row, _| {
        row.energies.kinetic
    }),
    ("P elastic", Color32::from_rgb(0, 178, 124), |row, _| {
        row.energies.elastic
    }),
    (
        "G gravity",
        Color32::from_rgb(214, 150, 205),
        |row, first| row.energies.gravitational - first.energies.gravitational,
    ),
    ("D lost", Color32::from_rgb(230, 120, 40), |row, _| {
        row.energies.dissipated
    }),
    ("T total", Color32::from_rgb(240, 228, 66), |row, first| {
        row.energies.total() - first.energies.gravitational
    }),
];

/// Draws the energies of the last [`SPAN`] seconds, `height` points high.
pub fn energy_plot(ui: &mut egui::Ui, record: &Record, height: f32) {
    let (Some(first), Some(last)) = (record.rows.first(), record.rows.last()) else {
        return;
    };
    let start = record
        .rows
        .partition_point(|row| row.time < last.time - SPAN);
    let shown = &record.rows[start..];
    let largest = shown
        .iter()
        .flat_map(|row| CURVES.map(|(_, _, value)| value(row, first).abs()))
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max);
    let (factor, unit) = unit_for(largest);
    let stride = shown.len().div_ceil(MOST_POINTS).max(1);
    let lines = CURVES.map(|(name, color, value)| {
        let points: Vec<[f64; 2]> = shown
            .iter()
            // Counted back from the last row, which then always shows; else curves would jitter.
            .rev()
            .step_by(stride)
            .map(|row| [row.time, value(row, first) * factor])
            .collect();
        Line::new(name, PlotPoints::from(points))
            .color(color)
            .width(1.5)
    });
    let title = format!("energies, {unit}, over time, s; G counts from the start");
    ui.label(egui::RichText::new(title).size(11.5));
    Plot::new("energies")
        .height(height)
        .grid_spacing(6.0..=20.0)
        .x_grid_spacer(marks)
        .y_grid_spacer(marks)
        .custom_x_axes(vec![AxisHints::new_x().label_spacing(10.0..=20.0)])
        .custom_y_axes(vec![AxisHints::new_y().label_spacing(10.0..=20.0)])
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .include_x((last.time - SPAN).max(0.0))
        .include_x(last.time.max(1.0))
        .show(ui, |plot| {
            for line in lines {
                plot.line(line);
            }
        });
}

/// A unit of energy in which the largest value has one to three digits, and the factor from J to it.
pub fn unit_for(largest: f64) -> (f64, &'static str) {
    match largest {
        value if value >= 1e3 => (1e-3, "kJ"),
        value if value >= 1.0 => (1.0, "J"),
        value if value >= 1e-3 => (1e3, "mJ"),
        value if value > 0.0 => (1e6, "µJ"),
        _ => (1.0, "J"),
    }
}

/// Marks at round numbers, four to ten on an axis: all of them have room for a label.
fn marks(axis: GridInput) -> Vec<GridMark> {
    let (low, high) = axis.bounds;
    let step_size = round_step((high - low) / 4.0);
    let (first, last) = ((low / step_size).ceil(), (high / step_size).floor());
    // Written so that a number that is not one gives no mark.
    let count = if last - first < 100.0 {
        (last - first) as usize + 1
    } else {
        0
    };
    (0..count)
        .map(|index| GridMark {
            value: (first + index as f64) * step_size,
            step_size,
        })
        .collect()
}

/// The largest of 1, 2 and 5 times a power of ten that is not above a number.
fn round_step(largest: f64) -> f64 {
    let power = 10_f64.powf(largest.max(f64::MIN_POSITIVE).log10().floor());
    let factor = [5.0, 2.0]
        .into_iter()
        .find(|factor| factor * power <= largest)
        .unwrap_or(1.0);
    factor * power
}
