//! The energy plot of a run, as SVG.

use plotters::prelude::*;

use crate::scenes::{Record, Row};

/// Size of the plot, pixels.
const SIZE: (u32, u32) = (960, 560);

/// One line of the plot.
struct Curve {
    label: &'static str,
    color: RGBColor,
    width: u32,
    value: fn(&Row) -> f64,
}

const CURVES: [Curve; 6] = [
    Curve {
        label: "kinetic K",
        color: RGBColor(31, 119, 180),
        width: 1,
        value: |row| row.energies.kinetic,
    },
    Curve {
        label: "elastic P",
        color: RGBColor(214, 39, 40),
        width: 1,
        value: |row| row.energies.elastic,
    },
    Curve {
        label: "gravitational G",
        color: RGBColor(44, 160, 44),
        width: 1,
        value: |row| row.energies.gravitational,
    },
    Curve {
        label: "dissipated D",
        color: RGBColor(255, 127, 14),
        width: 1,
        value: |row| row.energies.dissipated,
    },
    Curve {
        label: "useful U = K + P + G",
        color: RGBColor(148, 103, 189),
        width: 2,
        value: |row| row.energies.useful(),
    },
    Curve {
        label: "total T = U + D",
        color: RGBColor(20, 20, 20),
        width: 3,
        value: |row| row.energies.total(),
    },
];

/// Draws all energies over time.
pub fn energies(record: &Record, title: &str) -> Result<String, String> {
    let mut svg = String::new();
    draw(record, title, &mut svg)
        .map_err(|error| format!("the energy plot cannot be drawn: {error}"))?;
    Ok(svg)
}

fn draw(record: &Record, title: &str, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let values = || {
        CURVES
            .iter()
            .flat_map(|curve| record.rows.iter().map(curve.value))
            .filter(|value| value.is_finite())
    };
    let (low, high) = values().fold((0.0_f64, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let (factor, unit) = readable_unit(high.max(-low));
    let (low, high) = (low * factor, high * factor);
    let margin = 0.05 * (high - low).max(1e-9);

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 22))
        .margin(14)
        .x_label_area_size(46)
        .y_label_area_size(74)
        .build_cartesian_2d(0.0..record.seconds().max(1e-9), low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_desc("time (s)")
        .y_desc(format!("energy ({unit})"))
        .axis_desc_style(("sans-serif", 17))
        .label_style(("sans-serif", 14))
        .light_line_style(RGBColor(244, 244, 244))
        .bold_line_style(RGBColor(222, 222, 222))
        .draw()?;
    for curve in &CURVES {
        let style = curve.color.stroke_width(curve.width);
        let points = record
            .rows
            .iter()
            .map(|row| (row.time, (curve.value)(row) * factor))
            .filter(|(_, value)| value.is_finite());
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::MiddleRight)
        .label_font(("sans-serif", 15))
        .legend_area_size(32)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(190, 190, 190))
        .draw()?;
    root.present()?;
    Ok(())
}

/// A factor and the name of the unit in which numbers of this size (J) are easy to read.
fn readable_unit(size: f64) -> (f64, &'static str) {
    match size {
        size if size >= 1.0 => (1.0, "J"),
        size if size >= 1e-3 => (1e3, "mJ"),
        size if size >= 1e-6 => (1e6, "µJ"),
        _ => (1e9, "nJ"),
    }
}
