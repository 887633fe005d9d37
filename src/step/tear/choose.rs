//! Which edges and springs give way.

use std::collections::HashMap;
use std::f64::consts::PI;

use nalgebra::Vector3;

use crate::Real;
use crate::body::tearing::TearEdge;
use crate::body::{Particles, Springs, Surface, Tearing};
use crate::mesh::{SpringKind, TornTriangles};

/// For how many ticks the sides of a tear are left alone, so that it runs on from its tip instead of branching while the
/// tension that it has freed is still there.
const REST: u8 = 8;
/// Angle of the surface at a particle of its boundary beyond which that is a tip, rad: 270°.
const TIP_ANGLE: f64 = 1.5 * PI + 1e-3;

/// Lists the edges along which a body can open; what is wrong if it cannot.
pub(super) fn index(
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
pub(super) fn overstretched_edges(tearing: &Tearing, particles: &Particles) -> Vec<[u32; 2]> {
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
pub(super) fn rest(tearing: &mut Tearing, edges: &[[u32; 2]], torn: &TornTriangles) {
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
pub(super) fn overstretched_springs(
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
