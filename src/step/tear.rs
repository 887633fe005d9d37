//! Tearing: which edges and springs give way after a tick, and what becomes of the body.

use std::collections::HashMap;
use std::f64::consts::PI;

use bevy::prelude::*;
use nalgebra::Vector3;

use super::prepare::describe;
use crate::Real;
use crate::body::tearing::TearEdge;
use crate::body::{
    BodyFrame, Hinges, Membranes, Particles, Pins, PliantState, Quarantined, Springs, Surface,
    Tearing, Tetrahedra, Torn,
};
use crate::mesh::{SpringKind, TornTriangles, tear_triangles};

/// For how many ticks the sides of a tear are left alone, so that it runs on from its tip instead of branching while the
/// tension that it has freed is still there.
const REST: u8 = 8;
/// Angle of the surface at a particle of its boundary beyond which that is a tip, rad: 270°.
const TIP_ANGLE: f64 = 1.5 * PI + 1e-3;

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
            let rest = &frame.rest_offsets;
            let problem = index(tearing, &particles, rest, surface.as_deref(), is_solid);
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

/// Lists the edges along which a body can open; what is wrong if it cannot.
fn index(
    tearing: &mut Tearing,
    particles: &Particles,
    rest: &[Vector3<Real>],
    surface: Option<&Surface>,
    is_solid: bool,
) -> Option<&'static str> {
    tearing.edges.clear();
    tearing.on_boundary.clear();
    tearing.on_boundary.resize(particles.len(), false);
    if is_solid {
        return Some("solids do not tear; `Tearing` is for cloth and ropes");
    }
    let surface = surface?;
    if rest.len() != particles.len() {
        return Some("it has no rest shape, so `Tearing` cannot tell how far it is stretched");
    }
    let place = |particle: u32| rest[particle as usize].cast::<f64>();
    let mut angles = vec![0.0_f64; particles.len()];
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * surface.triangles.len());
    for triangle in &surface.triangles {
        for corner in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|step| triangle[(corner + step) % 3]);
            if a.max(b).max(c) as usize >= particles.len() {
                return Some("its surface names particles that are not there");
            }
            sides.push(([a.min(b), a.max(b)], c));
            angles[a as usize] += (place(b) - place(a)).angle(&(place(c) - place(a)));
        }
    }
    sides.sort_unstable();
    for sides in sides.chunk_by(|first, second| first.0 == second.0) {
        let ends = sides[0].0;
        let &[(_, first), (_, second)] = sides else {
            for end in ends {
                tearing.on_boundary[end as usize] = true;
            }
            continue;
        };
        let opposite = [first, second];
        let along = place(ends[1]) - place(ends[0]);
        let arms = opposite.map(|corner| place(corner) - place(ends[0]));
        let foot = arms.map(|arm| arm.dot(&along) / along.norm_squared());
        let height = [0, 1].map(|side| (arms[side] - along * foot[side]).norm());
        if height[0] > 0.0 && height[1] > 0.0 {
            tearing.edges.push(TearEdge {
                ends,
                opposite,
                foot,
                height,
            });
        }
    }
    let boundary = tearing.on_boundary.iter().zip(&angles);
    tearing.at_tip = boundary
        .map(|(&open, &angle)| open && angle > TIP_ANGLE)
        .collect();
    None
}

/// Strain across an edge: by how much its triangles are stretched along their heights, on average.
///
/// ```text
/// |F n| − 1 = |(x_R − x_P) − s (x_Q − x_P)| / h − 1        s, h foot and height of the corner R over the edge PQ at rest
/// ```
/// What tears material along a line is the pull across it; along itself an edge may be as long as it likes.
fn strain_across(edge: &TearEdge, positions: &[Vector3<Real>]) -> f64 {
    let place = |particle: u32| positions[particle as usize].cast::<f64>();
    let start = place(edge.ends[0]);
    let along = place(edge.ends[1]) - start;
    let stretch = |side: usize| {
        let arm = place(edge.opposite[side]) - start;
        (arm - along * edge.foot[side]).norm() / edge.height[side]
    };
    0.5 * (stretch(0) + stretch(1)) - 1.0
}

/// The edges that open now: the most strained ones, no two of them near each other, and each with an end that is free to
/// open. An edge inside opens together with the most strained one next to it.
fn overstretched_edges(tearing: &Tearing, particles: &Particles) -> Vec<[u32; 2]> {
    // Strain over what the edge bears.
    let load = |edge: &TearEdge| {
        let at_tip = edge.ends.iter().any(|&end| tearing.at_tip[end as usize]);
        let share = if at_tip { tearing.tip_share } else { 1.0 };
        strain_across(edge, &particles.positions) / f64::from(tearing.strain * share)
    };
    let mut strained: Vec<(f64, usize)> = tearing
        .edges
        .iter()
        .enumerate()
        .map(|(index, edge)| (load(edge), index))
        .filter(|&(load, _)| load > 1.0)
        .collect();
    strained.sort_unstable_by(|first, second| {
        second.0.total_cmp(&first.0).then(first.1.cmp(&second.1))
    });
    let mut taken = vec![false; particles.len()];
    let mut open = Vec::new();
    let is_free = |edge: &TearEdge| {
        edge.ends
            .iter()
            .any(|&end| tearing.on_boundary[end as usize])
    };
    let mut places = 0;
    for (_, index) in strained {
        if places == tearing.per_tick {
            break;
        }
        let edge = &tearing.edges[index];
        let touched = |edge: &TearEdge, taken: &[bool]| {
            let mut around = edge.ends.iter().chain(&edge.opposite);
            around.any(|&particle| taken[particle as usize])
                || edge
                    .ends
                    .iter()
                    .any(|&end| tearing.resting[end as usize] > 0)
        };
        if touched(edge, &taken) {
            continue;
        }
        let mut opening = vec![edge];
        if !is_free(edge) {
            let next = tearing
                .edges
                .iter()
                .filter(|other| {
                    let shared = other.ends.iter().filter(|end| edge.ends.contains(end));
                    shared.count() == 1
                        && load(other) > f64::from(tearing.tip_share)
                        && !touched(other, &taken)
                })
                .max_by(|first, second| load(first).total_cmp(&load(second)));
            // A single edge inside opens nothing.
            let Some(next) = next else { continue };
            opening.push(next);
        }
        for edge in opening {
            open.push(edge.ends);
            for &particle in edge.ends.iter().chain(&edge.opposite) {
                taken[particle as usize] = true;
            }
        }
        places += 1;
    }
    open
}

/// Leaves the sides of a tear alone for a while, but not its tips.
fn rest(tearing: &mut Tearing, edges: &[[u32; 2]], torn: &TornTriangles) {
    for edge in &tearing.edges {
        if edges.contains(&edge.ends) {
            for &end in &edge.ends {
                if torn.shares[end as usize] < 1.0 {
                    tearing.resting[end as usize] = REST;
                }
            }
            for &side in &edge.opposite {
                tearing.resting[side as usize] = REST;
            }
        }
    }
    for &from in &torn.origin[tearing.resting.len()..] {
        tearing.resting.push(tearing.resting[from as usize]);
    }
}

/// The springs that break now, ascending: the most strained ones, no two of them at one particle, and the bend springs over
/// them.
fn overstretched_springs(
    tearing: &Tearing,
    springs: &Springs,
    particles: &Particles,
) -> Vec<usize> {
    let limit = f64::from(tearing.strain);
    let mut strained: Vec<(f64, usize)> = springs
        .ends()
        .iter()
        .zip(springs.rest_lengths())
        .enumerate()
        .map(|(index, (&[first, second], length))| {
            let ends = [first, second].map(|end| particles.positions[end as usize].cast::<f64>());
            ((ends[1] - ends[0]).norm() / f64::from(length) - 1.0, index)
        })
        .filter(|&(strain, index)| strain > limit && springs.kinds()[index] != SpringKind::Bend)
        .collect();
    strained.sort_unstable_by(|first, second| {
        second.0.total_cmp(&first.0).then(first.1.cmp(&second.1))
    });
    let mut taken = vec![false; particles.len()];
    let mut lost = Vec::new();
    for (_, index) in strained {
        let ends = springs.ends()[index];
        if lost.len() == tearing.per_tick {
            break;
        }
        if ends.iter().any(|&end| taken[end as usize]) {
            continue;
        }
        ends.iter().for_each(|&end| taken[end as usize] = true);
        lost.push(index);
    }
    if lost.is_empty() {
        return lost;
    }
    let structural = |a: u32, b: u32| [a.min(b), a.max(b)];
    let broken: Vec<[u32; 2]> = lost
        .iter()
        .map(|&index| springs.ends()[index])
        .map(|[a, b]| structural(a, b))
        .collect();
    let mut neighbours: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&[a, b], &kind) in springs.ends().iter().zip(springs.kinds()) {
        if kind == SpringKind::Structural {
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
    }
    for (index, (&[a, b], &kind)) in springs.ends().iter().zip(springs.kinds()).enumerate() {
        let over = |middle: &u32| {
            let joins = neighbours.get(&b).is_some_and(|list| list.contains(middle));
            joins
                && (broken.contains(&structural(a, *middle))
                    || broken.contains(&structural(*middle, b)))
        };
        if kind == SpringKind::Bend && neighbours.get(&a).is_some_and(|list| list.iter().any(over))
        {
            lost.push(index);
        }
    }
    lost.sort_unstable();
    lost
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

/// Which copies of particles belong together after a tear: those of one triangle.
struct Fans<'a> {
    /// For each edge of the old surface, its triangles: the opposite corner, the index, and the area at rest.
    by_edge: HashMap<[u32; 2], Vec<(u32, usize, f64)>>,
    old: &'a [[u32; 3]],
    new: &'a [[u32; 3]],
    shares: &'a [f64],
}

impl<'a> Fans<'a> {
    fn new(old: &'a [[u32; 3]], torn: &'a TornTriangles, areas: &[f64]) -> Self {
        let mut by_edge: HashMap<[u32; 2], Vec<(u32, usize, f64)>> = HashMap::new();
        for (index, triangle) in old.iter().enumerate() {
            for corner in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|step| triangle[(corner + step) % 3]);
                let around = by_edge.entry([a.min(b), a.max(b)]).or_default();
                around.push((c, index, areas[index]));
            }
        }
        Self {
            by_edge,
            old,
            new: &torn.triangles,
            shares: &torn.shares,
        }
    }

    /// The copy of a particle in a triangle.
    fn copy(&self, particle: u32, triangle: usize) -> u32 {
        let place = self.old[triangle].iter().position(|&old| old == particle);
        place.map_or(particle, |place| self.new[triangle][place])
    }

    fn around(&self, ends: [u32; 2]) -> &[(u32, usize, f64)] {
        let key = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        self.by_edge.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The corners of a hinge whose triangles still hang together.
    fn hinge(&self, &[first, second, from, to]: &[u32; 4]) -> Option<[u32; 4]> {
        let around = self.around([from, to]);
        let of = |corner: u32| {
            let found = around.iter().find(|&&(opposite, ..)| opposite == corner);
            found.map(|&(_, triangle, _)| triangle)
        };
        let (one, other) = (of(first)?, of(second)?);
        let edge = [from, to].map(|end| self.copy(end, one));
        let holds = edge == [from, to].map(|end| self.copy(end, other));
        let [first, second] = [self.copy(first, one), self.copy(second, other)];
        holds.then_some([first, second, edge[0], edge[1]])
    }

    /// The springs that one becomes, by the copies of the triangles on both of its sides.
    fn spring(&self, ends: [u32; 2]) -> Vec<([u32; 2], f64)> {
        let around = self.around(ends);
        if around.is_empty() {
            let is_whole = ends.iter().all(|&end| self.shares[end as usize] == 1.0);
            return if is_whole {
                vec![(ends, 1.0)]
            } else {
                Vec::new()
            };
        }
        let total: f64 = around.iter().map(|&(.., area)| area).sum();
        let mut parts: Vec<([u32; 2], f64)> = Vec::new();
        for &(_, triangle, area) in around {
            let copies = ends.map(|end| self.copy(end, triangle));
            match parts.iter_mut().find(|(ends, _)| *ends == copies) {
                Some((_, share)) => *share += area / total,
                None => parts.push((copies, area / total)),
            }
        }
        parts
    }
}
