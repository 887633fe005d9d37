//! The panel beside the view: scenes, settings, timers, energies and what went wrong.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::egui::{self, Color32, RichText};
use bevy_egui::{EguiContexts, EguiPrimaryContextPass};
use bevy_panorbit_camera::PanOrbitCamera;
use bevy_pliant::prelude::{Integrator, Quarantined};

use crate::energy_plot::{CURVES, energy_plot, unit_for};
use crate::scenes::{Parameter, Row, SCENES, Settings};
use crate::stage::{Request, Stage};

/// Width of the panel, logical pixels.
const WIDTH: f32 = 350.0;
/// Ticks that timers look back on.
const TIMED_TICKS: usize = 60;
/// What the keys do, for the line below the view.
const KEYS: &str = "Space pause   Enter one tick   R reset   N / B next / previous scene   F12 screenshot   \
                    left drag grab   right drag orbit   middle drag pan   wheel zoom";

/// Size of running text, points.
const TEXT: f32 = 12.0;
const RED: Color32 = Color32::from_rgb(176, 32, 32);
const GREEN: Color32 = Color32::from_rgb(110, 200, 120);

/// The part of the window that shows the scene, logical pixels.
#[derive(Resource, Default)]
pub struct ViewArea(pub Rect);

impl ViewArea {
    /// Whether the pointer is on the scene and not on the panel.
    pub fn has_pointer(&self, window: &Window) -> bool {
        window
            .cursor_position()
            .is_some_and(|cursor| self.0.contains(cursor))
    }
}

/// Draws the panel.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ViewArea>()
            .init_resource::<Notice>()
            .add_systems(EguiPrimaryContextPass, (show, fit_view).chain());
    }
}

/// A line of news for the user, with the time left to show it, s.
#[derive(Resource, Default)]
pub struct Notice {
    text: String,
    seconds: f32,
}

impl Notice {
    /// Shows a text for some seconds.
    pub fn show(&mut self, text: String) {
        *self = Self { text, seconds: 4.0 };
    }
}

fn show(
    mut contexts: EguiContexts,
    mut stage: ResMut<Stage>,
    mut area: ResMut<ViewArea>,
    mut notice: ResMut<Notice>,
    mut clock: ResMut<Time<Virtual>>,
    real: Res<Time<Real>>,
    quarantined: Query<(Entity, &Quarantined, Option<&Name>)>,
) -> Result {
    let context = contexts.ctx_mut()?;
    let mut root = egui::Ui::new(
        context.clone(),
        "gallery".into(),
        egui::UiBuilder::new()
            .layer_id(egui::LayerId::background())
            .max_rect(context.viewport_rect()),
    );
    let frame = egui::Frame::new()
        .fill(Color32::from_rgb(27, 29, 34))
        .inner_margin(12);
    egui::Panel::right("panel")
        .exact_size(WIDTH)
        .resizable(false)
        .show_separator_line(false)
        .frame(frame)
        .show(&mut root, |ui| {
            transport(ui, &mut stage, &mut clock);
            ui.separator();
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| {
                    about(ui, &mut stage);
                    energy_plot(ui, &stage.record, 170.0);
                    figures(ui, &stage, &real);
                    verdict(ui, &stage);
                    sliders(ui, &mut stage);
                });
        });
    let view = egui::Rect::from_min_max(
        context.viewport_rect().min,
        egui::pos2(
            (context.viewport_rect().max.x - WIDTH).max(1.0),
            context.viewport_rect().max.y,
        ),
    );
    area.0 = Rect::new(view.min.x, view.min.y, view.max.x, view.max.y);
    banner(context, view, &problems(&stage, &quarantined));
    notice.seconds -= real.delta_secs();
    let news = if notice.seconds > 0.0 {
        notice.text.as_str()
    } else {
        KEYS
    };
    bottom_line(context, view, news);
    Ok(())
}

/// Pause, step, reset and the list of scenes.
fn transport(ui: &mut egui::Ui, stage: &mut Stage, clock: &mut Time<Virtual>) {
    ui.horizontal(|ui| {
        let (label, hint) = if clock.is_paused() {
            ("▶ run", "Space")
        } else {
            ("⏸ pause", "Space")
        };
        if ui.button(label).on_hover_text(hint).clicked() {
            if clock.is_paused() {
                clock.unpause();
            } else {
                clock.pause();
            }
        }
        if ui
            .add_enabled(clock.is_paused(), egui::Button::new("one tick"))
            .on_hover_text("Enter")
            .clicked()
        {
            stage.request = Some(Request::Step);
        }
        if ui.button("⟲ reset").on_hover_text("R").clicked() {
            stage.request = Some(Request::Rebuild);
        }
        ui.label(
            RichText::new(format!("{:.2} s", stage.time()))
                .monospace()
                .strong(),
        );
    });
    ui.horizontal_wrapped(|ui| {
        for scene in SCENES {
            let chosen = scene.name == stage.scene.name;
            if ui
                .selectable_label(chosen, scene.name)
                .on_hover_text(scene.about)
                .clicked()
            {
                stage.request = Some(Request::Show(scene));
            }
        }
    });
}

fn about(ui: &mut egui::Ui, stage: &mut Stage) {
    ui.label(RichText::new(stage.scene.about).color(Color32::from_gray(225)));
    for equation in stage.scene.equations {
        ui.label(
            RichText::new(*equation)
                .monospace()
                .size(TEXT)
                .color(Color32::from_rgb(150, 190, 220)),
        );
    }
    ui.add_space(6.0);
}

/// What a tick took: substeps of an explicit integrator, or how the implicit solver fared.
fn solver_line(last: &Row) -> String {
    let solver = &last.solver;
    if solver.solves == 0 {
        return format!("{} substeps", last.substeps);
    }
    format!(
        "{} solves, {} iterations, residual {:.0e}, {} fallbacks, J ≥ {:.2}, Δp {:.0e}",
        solver.solves,
        solver.iterations,
        solver.residual,
        solver.fallbacks,
        last.smallest_volume_ratio,
        solver.momentum_error
    )
}

/// Timers and energies.
fn figures(ui: &mut egui::Ui, stage: &Stage, real: &Time<Real>) {
    let rows = &stage.record.rows;
    let Some(last) = rows.last() else {
        return;
    };
    let timed = &stage.record.ticks()[stage.record.ticks().len().saturating_sub(TIMED_TICKS)..];
    let mean = timed.iter().map(|row| row.milliseconds).sum::<f64>() / timed.len().max(1) as f64;
    let slowest = timed.iter().map(|row| row.milliseconds).fold(0.0, f64::max);
    let share = mean * stage.settings.frames_per_second / 10.0;
    let values = CURVES.map(|(_, _, value)| rows.first().map_or(0.0, |first| value(last, first)));
    let (factor, unit) = unit_for(values.into_iter().map(f64::abs).fold(0.0, f64::max));
    let timers = [
        format!("tick {mean:.1} ms, most {slowest:.1}"),
        format!("{share:.0} % of real time"),
        solver_line(last),
        format!("{} contacts", last.contacts),
        format!("frame {:.1} ms", real.delta_secs_f64() * 1000.0),
    ];
    egui::Grid::new("figures")
        .num_columns(3)
        .min_row_height(15.0)
        .spacing([12.0, 1.0])
        .show(ui, |ui| {
            for ((curve, value), timer) in CURVES.into_iter().zip(values).zip(timers) {
                let (name, color, _) = curve;
                ui.label(RichText::new(name).size(TEXT).color(color));
                ui.label(
                    RichText::new(format!("{:>9.3} {unit}", value * factor))
                        .monospace()
                        .size(TEXT),
                );
                ui.label(RichText::new(timer).size(TEXT));
                ui.end_row();
            }
        });
    ui.label(
        RichText::new(format!(
            "smallest volume ratio {:.3}",
            last.smallest_volume_ratio
        ))
        .size(TEXT),
    );
    ui.separator();
}

/// The scene's own check.
fn verdict(ui: &mut egui::Ui, stage: &Stage) {
    let Some(outcome) = &stage.outcome else {
        let text = if stage.touched {
            "check: none for this run, a body was pulled".to_owned()
        } else {
            format!("check: after {} s", stage.settings.seconds)
        };
        ui.label(RichText::new(text).size(TEXT));
        return;
    };
    let (text, color) = if outcome.ok() {
        ("check: holds", GREEN)
    } else {
        ("check: fails", Color32::LIGHT_RED)
    };
    egui::CollapsingHeader::new(RichText::new(text).color(color).size(TEXT)).show(ui, |ui| {
        for check in &outcome.checks {
            let (mark, color) = if check.ok {
                ("✔", GREEN)
            } else {
                ("✖", Color32::LIGHT_RED)
            };
            let text = format!(
                "{mark} {} = {:.4e}, limit {:.4e}",
                check.name, check.value, check.limit
            );
            ui.label(RichText::new(text).size(TEXT).color(color));
        }
    });
}

/// What the scene lets the user choose. A change starts the scene anew when the slider is let go.
fn sliders(ui: &mut egui::Ui, stage: &mut Stage) {
    ui.separator();
    let mut rebuild = false;
    let scene = stage.scene;
    ui.spacing_mut().slider_width = 110.0;
    for parameter in scene.parameters {
        let mut value = stage.settings.get(parameter);
        let response = slider(ui, &mut value, parameter);
        if response.changed() && stage.settings.set(scene, parameter.name, value).is_ok() {
            rebuild |= !response.dragged();
        }
        rebuild |= response.drag_stopped();
    }
    let rate = ui.add(
        egui::Slider::new(&mut stage.settings.frames_per_second, 10.0..=480.0)
            .integer()
            .text("ticks per second"),
    );
    rebuild |= rate.drag_stopped() || (rate.changed() && !rate.dragged());
    let current = (scene.integrator)(&stage.settings).name();
    rebuild |= integrators(ui, &mut stage.settings, scene.name, current);
    if ui.button("scene's own settings").clicked() {
        let mesh = stage.settings.mesh.take();
        stage.settings = Settings::new(scene);
        stage.settings.mesh = mesh;
        rebuild = true;
    }
    if rebuild {
        stage.request = Some(Request::Rebuild);
    }
}

fn slider(ui: &mut egui::Ui, value: &mut f64, parameter: &Parameter) -> egui::Response {
    let wide =
        parameter.maximum > 1000.0 * parameter.minimum.max(1e-3 * parameter.maximum.min(1.0));
    let unit = if parameter.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", parameter.unit)
    };
    ui.add(
        egui::Slider::new(value, parameter.minimum..=parameter.maximum)
            .logarithmic(wide)
            .smallest_positive(1e-6 * parameter.maximum)
            .custom_formatter(|value, _| number(value))
            .suffix(unit)
            .text(parameter.name),
    )
    .on_hover_text(parameter.about)
}

/// A number as short as four digits allow.
fn number(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-2..1e5).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = match size {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Whether another integrator was chosen.
fn integrators(ui: &mut egui::Ui, settings: &mut Settings, scene: &str, current: &str) -> bool {
    let mut changed = false;
    egui::ComboBox::new(("integrator", scene), "integrator")
        .selected_text(current)
        .show_ui(ui, |ui| {
            for name in Integrator::NAMES {
                if ui.selectable_label(name == current, name).clicked() {
                    settings.integrator = Integrator::from_name(name);
                    changed = true;
                }
            }
        });
    changed
}

/// Everything that is wrong on stage, a line each.
fn problems(
    stage: &Stage,
    quarantined: &Query<(Entity, &Quarantined, Option<&Name>)>,
) -> Vec<String> {
    let mut lines: Vec<String> = stage
        .error
        .iter()
        .map(|error| format!("The scene was not built: {error}"))
        .collect();
    for (entity, quarantine, name) in quarantined {
        let name = name.map_or_else(|| entity.to_string(), ToString::to_string);
        lines.push(format!(
            "\"{name}\" is out of the simulation: {}",
            quarantine.reason
        ));
    }
    for check in stage
        .outcome
        .iter()
        .flat_map(|outcome| &outcome.checks)
        .filter(|check| !check.ok)
    {
        lines.push(format!(
            "Check fails: {} = {:.4e}, limit {:.4e}",
            check.name, check.value, check.limit
        ));
    }
    lines
}

fn banner(context: &egui::Context, view: egui::Rect, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    egui::Area::new("banner".into())
        .fixed_pos(view.min + egui::vec2(12.0, 12.0))
        .interactable(false)
        .show(context, |ui| {
            egui::Frame::new()
                .fill(RED)
                .inner_margin(10)
                .corner_radius(4)
                .show(ui, |ui| {
                    ui.set_width(view.width() - 44.0);
                    for line in lines {
                        ui.label(RichText::new(line).color(Color32::WHITE).strong());
                    }
                });
        });
}

fn bottom_line(context: &egui::Context, view: egui::Rect, text: &str) {
    egui::Area::new("bottom line".into())
        .fixed_pos(view.left_bottom() + egui::vec2(12.0, -12.0))
        .pivot(egui::Align2::LEFT_BOTTOM)
        .interactable(false)
        .show(context, |ui| {
            egui::Frame::new()
                .fill(Color32::from_black_alpha(150))
                .inner_margin(egui::Margin::symmetric(8, 5))
                .corner_radius(4)
                .show(ui, |ui| {
                    ui.set_max_width(view.width() - 40.0);
                    ui.label(
                        RichText::new(text)
                            .size(TEXT)
                            .color(Color32::from_gray(235)),
                    );
                });
        });
}

/// The camera draws beside the panel, and listens to the mouse only there.
fn fit_view(
    area: Res<ViewArea>,
    window: Single<&Window, With<PrimaryWindow>>,
    camera: Single<(&mut Camera, &mut PanOrbitCamera)>,
    buttons: Res<ButtonInput<MouseButton>>,
) {
    let (mut camera, mut orbit) = camera.into_inner();
    let scale = window.scale_factor();
    let size = (area.0.size() * scale)
        .as_uvec2()
        .min(window.physical_size());
    if size.min_element() == 0 {
        return;
    }
    let viewport = bevy::camera::Viewport {
        physical_position: (area.0.min * scale).as_uvec2(),
        physical_size: size,
        ..default()
    };
    let fits = camera.viewport.as_ref().is_some_and(|old| {
        old.physical_size == viewport.physical_size
            && old.physical_position == viewport.physical_position
    });
    if !fits {
        camera.viewport = Some(viewport);
    }
    // A drag that began in the view goes on wherever the pointer gets to.
    let dragging = buttons.any_pressed([MouseButton::Right, MouseButton::Middle]);
    if !dragging {
        orbit.enabled = area.has_pointer(&window);
    }
}
