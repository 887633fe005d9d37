//! Tearing: which edges and springs give way after a tick, and what becomes of the body.

mod choose;
mod fans;

use bevy::prelude::*;
use nalgebra::Vector3;

use self::choose::{index, overstretched_edges, overstretched_springs, rest};
use self::fans::Fans;
use super::prepare::describe;
use crate::Real;
use crate::body::{
    BodyFrame, Hinges, Membranes, Particles, Pins, PliantState, Quarantined, Springs, Surface,
    Tearing, Tetrahedra, Torn,
};
use crate::mesh::tear_triangles;

type Tearable = (
    Entity,
    Option<&'static Name>,
    &'static mut Tearing,
    &'static mut Particles,
    &'static mut PliantState,
    &'static mut BodyFrame,
    (
        Option<&'static mut Surface>,
        Option<&'static mut Membranes>,
        Option<&'static mut Hinges>,
        Option<&'static mut Springs>,
        Option<&'static mut Pins>,
        Has<Tetrahedra>,
    ),
);

/// Tears the bodies that may, and tells of it.
pub(super) fn tear(
    mut bodies: Query<Tearable, Without<Quarantined>>,
    mut messages: MessageWriter<Torn>,
    mut commands: Commands,
) {
    for (body, name, mut tearing, mut particles, mut state, mut frame, parts) in &mut bodies {
        let (surface, membranes, hinges, springs, pins, is_solid) = parts;
        let tearing = tearing.bypass_change_detection();
        if tearing.version != Some(state.topology_version) {
            tearing.version = Some(state.topology_version);
            let shape = &frame.rest_offsets;
            let problem = index(tearing, &particles, shape, surface.as_deref(), is_solid);
            if let Some(problem) = problem {
                error!("{}: {problem}", describe(body, name));
            }
        }
        tearing.resting.resize(particles.len(), 0);
        for ticks in &mut tearing.resting {
            *ticks = ticks.saturating_sub(1);
        }
        if tearing.strain.is_nan() || tearing.strain <= 0.0 {
            continue;
        }
        let (torn, lost) = if let (Some(surface), false) = (&surface, tearing.edges.is_empty()) {
            let edges = overstretched_edges(tearing, &particles);
            if edges.is_empty() {
                continue;
            }
            let areas = rest_areas(&surface.triangles, &frame.rest_offsets);
            let Ok(torn) = tear_triangles(&surface.triangles, particles.len(), &areas, &edges)
            else {
                continue;
            };
            (Some((torn, edges, areas)), Vec::new())
        } else if let (Some(springs), None) = (&springs, &surface) {
            let lost = overstretched_springs(tearing, springs, &particles);
            if lost.is_empty() {
                continue;
            }
            (None, lost)
        } else {
            continue;
        };
        let old_count = particles.len();
        let mut told = Torn {
            body,
            origin: (0..old_count as u32).collect(),
            edges: Vec::new(),
            springs: Vec::new(),
        };
        if let Some((torn, edges, areas)) = torn {
            if let Some(mut surface) = surface {
                let fans = Fans::new(&surface.triangles, &torn, &areas);
                if let Some(mut membranes) = membranes {
                    membranes.set_corners(&torn.triangles);
                }
                if let Some(mut hinges) = hinges {
                    hinges.retain(|corners| fans.hinge(corners));
                }
                if let Some(mut springs) = springs {
                    springs.split(|_, ends| {
                        let parts = fans.spring(ends);
                        if parts.is_empty() {
                            told.springs.push(ends);
                        }
                        parts
                    });
                }
                let coordinates = std::mem::take(&mut surface.corner_coordinates);
                let slots = std::mem::take(&mut surface.slots);
                *surface = Surface::new(torn.triangles.clone(), coordinates, slots);
            }
            particles.split(&torn.origin, &torn.shares);
            rest(tearing, &edges, &torn);
            let offsets = &mut frame.rest_offsets;
            if offsets.len() == old_count {
                for &from in &torn.origin[old_count..] {
                    offsets.push(offsets[from as usize]);
                }
            }
            if let Some(mut pins) = pins {
                pins.bypass_change_detection()
                    .follow_copies(&torn.origin, old_count);
            }
            told.origin = torn.origin;
            told.edges = edges;
        } else if let Some(mut springs) = springs {
            for &spring in &lost {
                told.springs.push(springs.ends()[spring]);
            }
            springs.split(|spring, ends| {
                if lost.binary_search(&spring).is_ok() {
                    Vec::new()
                } else {
                    vec![(ends, 1.0)]
                }
            });
        }
        state.topology_version += 1;
        messages.write(told.clone());
        commands.trigger(told);
    }
}

fn rest_areas(triangles: &[[u32; 3]], rest: &[Vector3<Real>]) -> Vec<f64> {
    let place = |corner: u32| rest[corner as usize].cast::<f64>();
    triangles
        .iter()
        .map(|&[a, b, c]| {
            let doubled = (place(b) - place(a)).cross(&(place(c) - place(a)));
            0.5 * doubled.norm()
        })
        .collect()
}
