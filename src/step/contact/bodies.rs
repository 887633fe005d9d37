//! All bodies that can touch, side by side: their surfaces, and where their vertices are and go.

use bevy::prelude::*;
use nalgebra::Vector3;

use super::candidates::{Pair, with_slack};
use super::patches::Patches;
use super::shape::Shape;
use crate::Real;
use crate::body::{
    BodyContact, BodyFrame, ContactReport, Fabric, Membranes, Particles, Pins, PliantState,
    Quarantined, Springs, Surface, SurfaceProperties, Tearing,
};
use crate::kernel::broad_phase::{BoundingTree, Bounds, MovingBounds, Volume};
use crate::step::implicit::ImplicitSolver;

/// What the contact stage reads of a body.
pub(in crate::step) type Touching = (
    Entity,
    &'static Particles,
    &'static Surface,
    &'static PliantState,
    &'static BodyFrame,
    Option<&'static ImplicitSolver>,
    Option<&'static Pins>,
    Option<&'static SurfaceProperties>,
    Option<&'static BodyContact>,
    Option<&'static Fabric>,
    Has<Membranes>,
    Has<Springs>,
    Has<Tearing>,
);

/// All bodies with a surface.
pub(in crate::step) type TouchingBodies = QueryState<Touching, Without<Quarantined>>;

/// Where the vertices go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// Where their velocities and the given forces would take them in a step of that length, s, at whose end pins are at that
    /// fraction of the tick.
    Predicted { dt: f64, end_fraction: f64 },
    /// Where the integrator has put them: the first look in a substep.
    Candidate,
    /// Where the other stages have put them: a further look.
    Found,
}

/// A body.
#[derive(Debug)]
pub(super) struct Body {
    pub entity: Entity,
    /// Topology that the shape belongs to.
    topology: Option<(u32, usize)>,
    pub shape: Shape,
    /// Rest positions, m, in some frame.
    pub rest: Vec<Vector3<Real>>,
    /// Its first vertex among those of all bodies, and how many there are.
    pub first: u32,
    pub count: u32,
    /// m.
    pub thickness: Real,
    /// Coefficient of kinetic friction.
    pub friction: Real,
    settings: BodyContact,
    /// Whether all numbers are finite.
    is_finite: bool,
    /// Of the triangles, built from their places at rest: who is near there mostly stays so.
    pub tree: BoundingTree<MovingBounds<Real>>,
    /// Boxes of the triangles.
    pub boxes: Vec<MovingBounds<Real>>,
    /// Boxes of the vertices.
    pub corners: Vec<MovingBounds<Real>>,
    /// None before a body that touches itself is first searched.
    pub patches: Patches,
    pub report: ContactReport,
}

/// The bodies, in the order of their entities, and all their vertices.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    pub list: Vec<Body>,
    order: Vec<Entity>,
    pub start: Vec<Vector3<Real>>,
    pub target: Vec<Vector3<Real>>,
    /// kg; infinite for vertices that do not give way.
    pub masses: Vec<Real>,
    /// The body of each vertex.
    pub owner: Vec<u32>,
    /// Where the last substep left the vertices: who stands elsewhere was put there by others.
    left: Vec<Vector3<Real>>,
    /// Largest coordinate, m.
    pub largest: Real,
    /// Whether the start is what the last substep left.
    pub is_continued: bool,
}

impl Body {
    fn new(entity: Entity) -> Self {
        Self {
            entity,
            topology: None,
            shape: Shape::default(),
            rest: Vec::new(),
            first: 0,
            count: 0,
            thickness: BodyContact::SMALLEST_THICKNESS,
            friction: 0.0,
            settings: BodyContact::NONE,
            is_finite: true,
            tree: BoundingTree::default(),
            boxes: Vec::new(),
            corners: Vec::new(),
            patches: Patches::default(),
            report: ContactReport::default(),
        }
    }

    /// Finds the boxes of vertices and triangles, m, on the way of its vertices from start to end.
    fn fit(&mut self, start: &[Vector3<Real>], end: &[Vector3<Real>], margin: Real) {
        self.corners.clear();
        self.corners.extend(
            (start.iter().zip(end)).map(|(start, end)| MovingBounds::of_move(start, end, margin)),
        );
        let corners = &self.corners;
        self.boxes.clear();
        self.boxes
            .extend(self.shape.triangles.iter().map(|triangle| {
                let [a, b, c] = triangle.map(|corner| &corners[corner as usize]);
                a.union(b).union(c)
            }));
    }

    pub fn touches_itself(&self) -> bool {
        self.settings.with_itself && self.is_finite
    }

    pub fn touches_bodies(&self) -> bool {
        self.settings.with_bodies && self.is_finite
    }

    /// Whether the body touches anything.
    pub fn touches(&self) -> bool {
        self.touches_itself() || self.touches_bodies()
    }

    /// The corners of a triangle among the vertices of all bodies.
    pub fn vertices_of(&self, triangle: usize) -> [u32; 3] {
        self.shape.triangles[triangle].map(|corner| corner + self.first)
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

impl Bodies {
    /// Takes over the bodies of the world, and their vertices.
    pub fn gather(&mut self, world: &World, query: &mut TouchingBodies, target: Target) {
        self.sync(world, query);
        let is_first = target != Target::Found;
        if is_first {
            self.is_continued = self.left.len() == self.start.len();
        }
        self.largest = 0.0;
        let Self {
            list,
            start,
            target: targets,
            masses,
            left,
            largest,
            is_continued,
            ..
        } = self;
        for body in list {
            if is_first {
                body.report.intersections = 0;
                body.report.contacts = 0;
            }
            let Ok(item) = query.get(world, body.entity) else {
                continue;
            };
            let (_, particles, _, _, _, solver, pins, ..) = item;
            let range = body.range();
            body.is_finite = particles.len() == range.len();
            if !body.is_finite {
                continue;
            }
            start[range.clone()].copy_from_slice(&particles.start_positions);
            let masses = &mut masses[range.clone()];
            for (mass, (&own, &inverse)) in masses
                .iter_mut()
                .zip(particles.masses.iter().zip(&particles.inverse_masses))
            {
                *mass = if inverse > 0.0 { own } else { Real::INFINITY };
            }
            let ends = &mut targets[range.clone()];
            match target {
                Target::Predicted { dt, end_fraction } => {
                    predict(
                        ends,
                        particles,
                        solver,
                        pins,
                        dt as Real,
                        end_fraction as Real,
                    );
                }
                Target::Candidate | Target::Found => ends.copy_from_slice(&particles.positions),
            }
            if is_first {
                *is_continued &= left.get(range) == Some(&particles.start_positions[..]);
            }
            let (mut sum, mut most) = (0.0, Real::NEG_INFINITY);
            for place in particles.start_positions.iter().chain(&*ends) {
                let size = place.amax();
                sum += size;
                most = most.max(size);
            }
            body.is_finite = sum.is_finite();
            if body.is_finite {
                *largest = largest.max(most);
            }
        }
    }

    /// Fits the list to the bodies of the world.
    fn sync(&mut self, world: &World, query: &mut TouchingBodies) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(query.iter(world).map(|item| item.0));
        order.sort_unstable();
        let mut is_same = self
            .list
            .iter()
            .map(|body| body.entity)
            .eq(order.iter().copied());
        if !is_same {
            let mut old: Vec<Option<Body>> = std::mem::take(&mut self.list)
                .into_iter()
                .map(Some)
                .collect();
            for &entity in &order {
                let known = old
                    .iter_mut()
                    .find(|body| body.as_ref().is_some_and(|body| body.entity == entity));
                let body = known.and_then(Option::take);
                self.list.push(body.unwrap_or_else(|| Body::new(entity)));
            }
        }
        for body in &mut self.list {
            let Ok(item) = query.get(world, body.entity) else {
                continue;
            };
            let (_, particles, surface, state, frame, _, _, properties, contact, fabric, ..) = item;
            let is_sheet = item.10 || item.11;
            let topology = Some((state.topology_version, particles.len()));
            if body.topology != topology {
                is_same = false;
                body.topology = topology;
                body.shape = Shape::new(&surface.triangles, particles.len());
                let rest = &frame.rest_offsets;
                body.rest.clone_from(rest);
                body.count = particles.len() as u32;
                let fits = rest.len() == particles.len();
                let places = if fits { rest } else { &particles.positions };
                body.fit(places, places, 0.0);
                body.tree.build(&body.boxes);
                body.patches = Patches::default();
            }
            let properties = properties.copied().unwrap_or_default();
            body.friction = properties.kinetic_friction;
            body.settings = contact.copied().unwrap_or(BodyContact {
                // The two sides of a tear begin in one place.
                with_itself: is_sheet && !item.12,
                ..default()
            });
            let own = fabric.filter(|_| is_sheet).map(|fabric| fabric.thickness);
            let thickness = body
                .settings
                .thickness
                .or(own)
                .unwrap_or(properties.thickness);
            body.thickness = thickness.max(BodyContact::SMALLEST_THICKNESS);
        }
        if !is_same {
            self.lay_out();
        }
        self.order = order;
    }

    /// Gives the bodies their places among the vertices of all.
    fn lay_out(&mut self) {
        let mut first = 0;
        self.owner.clear();
        for (index, body) in (0..).zip(&mut self.list) {
            body.first = first;
            first += body.count;
            self.owner.resize(first as usize, index);
        }
        let count = first as usize;
        self.start.resize(count, Vector3::zeros());
        self.target.resize(count, Vector3::zeros());
        self.masses.resize(count, 0.0);
        self.left.clear();
    }

    /// Whether any body can touch itself or another one.
    pub fn can_touch(&self) -> bool {
        let social = self.list.iter().filter(|body| body.touches_bodies());
        social.take(2).count() == 2 || self.list.iter().any(Body::touches_itself)
    }

    /// Remembers where the substep ends.
    pub fn leave(&mut self) {
        self.left.clone_from(&self.target);
    }

    /// The contact distance of a pair, m.
    pub fn radius(&self, pair: &Pair) -> Real {
        let [first, second] = self.owners(pair).map(|owner| self.list[owner].thickness);
        0.5 * (first + second)
    }

    /// The bodies of the two features of a pair.
    pub fn owners(&self, pair: &Pair) -> [usize; 2] {
        [pair.vertices[0], pair.vertices[3]].map(|vertex| self.owner[vertex as usize] as usize)
    }

    /// Counts something in the report of each body that has a part in it; `vertices` body by body.
    pub fn count(&mut self, vertices: &[u32], field: impl Fn(&mut ContactReport) -> &mut u32) {
        let mut last = None;
        for &vertex in vertices {
            let owner = self.owner[vertex as usize];
            if last != Some(owner) {
                *field(&mut self.list[owner as usize].report) += 1;
                last = Some(owner);
            }
        }
    }

    /// The box of a body on its way.
    pub fn bounds_of(&self, body: &Body, margin: Real) -> MovingBounds<Real> {
        let around = |positions: &[Vector3<Real>]| {
            let mut bounds = Bounds {
                minimum: Vector3::repeat(Real::INFINITY),
                maximum: Vector3::repeat(Real::NEG_INFINITY),
            };
            if body.is_finite {
                for position in positions {
                    bounds.minimum = bounds.minimum.inf(position);
                    bounds.maximum = bounds.maximum.sup(position);
                }
            }
            let margin = with_slack(margin, self.largest);
            bounds.minimum.add_scalar_mut(-margin);
            bounds.maximum.add_scalar_mut(margin);
            bounds
        };
        MovingBounds {
            start: around(&self.start[body.range()]),
            end: around(&self.target[body.range()]),
        }
    }

    /// Brings the boxes of a body up to date.
    pub fn refit(&mut self, index: usize, margin: &impl Fn(&Body) -> Real) {
        let (start, target) = (&self.start, &self.target);
        let body = &mut self.list[index];
        let margin = with_slack(margin(body), self.largest);
        let [start, target] = [start, target].map(|all| &all[body.range()]);
        body.fit(start, target, margin);
        body.tree.refit(&body.boxes);
    }

    /// Finds the parts of a body that are spread out.
    pub fn find_patches(&mut self, index: usize, margin: &impl Fn(&Body) -> Real) {
        let (start, target) = (&self.start, &self.target);
        let body = &mut self.list[index];
        let clearance = 2.0 * f64::from(with_slack(margin(body), self.largest));
        if body.patches.is_empty() {
            body.patches = Patches::new(&body.shape.triangles, &body.tree);
        }
        let [start, target] = [start, target].map(|all| &all[body.range()]);
        body.patches.update(start, target, clearance);
    }
}

/// Where the particles would go without elements and contact.
fn predict(
    ends: &mut [Vector3<Real>],
    particles: &Particles,
    solver: Option<&ImplicitSolver>,
    pins: Option<&Pins>,
    dt: Real,
    end_fraction: Real,
) {
    let given = solver.map_or(&[][..], |solver| &solver.given[0]);
    for (i, end) in ends.iter_mut().enumerate() {
        let mut velocity = particles.velocities[i];
        if let Some(given) = given.get(i) {
            velocity += given * dt;
        }
        *end = particles.start_positions[i];
        if particles.inverse_masses[i] > 0.0 {
            *end += velocity * dt;
        }
    }
    for path in pins.iter().flat_map(|pins| &pins.paths) {
        if let Some(end) = ends.get_mut(path.particle as usize) {
            *end = path.start + (path.end - path.start) * end_fraction;
        }
    }
}
