//! Membranes, hinges and springs outside the implicit solver: forces for explicit integration, the longest stable step,
//! the energy account, and changes of fabric.

use bevy::ecs::query::{QueryData, QueryFilter};
use bevy::prelude::*;
use nalgebra::{Matrix2, Vector3};
use simba::simd::{SimdPartialOrd, SimdValue, WideF64x4};

use super::elements::{at_corners, sum_of_lanes};
use super::prepare::describe;
use super::pressure::Inflation;
use super::threads::for_each_body;
use crate::Real;
use crate::body::packed::Packed;
use crate::body::solid::to_real;
use crate::body::tetrahedra::{LANES, Lanes};
use crate::body::{
    Fabric, Hinges, Membranes, Particles, PliantState, Pressure, Quarantined, Springs, Surface,
};
use crate::kernel::cloth::half_angle::HalfAngle;
use crate::kernel::cloth::hinge::{Hinge, HingeGeometry};
use crate::kernel::cloth::spring::Spring;
use crate::kernel::cloth::strain::{green_strain, strain_rate};
use crate::kernel::cloth::triangle::{deformation, edge_pair, nodal_forces, shape_gradients};
use crate::kernel::stability::largest_stable_step;

/// What a cloth is held together by.
#[derive(QueryData)]
pub(super) struct Sheets {
    membranes: Option<&'static Membranes>,
    hinges: Option<&'static Hinges>,
    springs: Option<&'static Springs>,
    pressure: Option<&'static Pressure>,
    surface: Option<&'static Surface>,
}

/// Bodies that have any of it.
#[derive(QueryFilter)]
pub(super) struct HasSheets(Or<(With<Membranes>, With<Hinges>, With<Springs>)>);

type Cloths = (
    &'static mut Particles,
    &'static mut PliantState,
    Sheets,
    Option<&'static mut LongestStep>,
);

/// Forces of membranes, hinges and springs.
pub(super) fn cloth_forces(mut bodies: Query<Cloths, (Without<Quarantined>, HasSheets)>) {
    for_each_body(
        bodies.iter_mut().collect(),
        |(particles, ..)| particles.len(),
        |(particles, state, sheets, longest)| {
            let stretch = sheets.add_forces(particles, state);
            if let Some(longest) = longest {
                longest.stretch = stretch;
            }
        },
    );
}

impl SheetsItem<'_, '_> {
    /// Adds the forces; how far the threads are stretched.
    fn add_forces(&self, particles: &mut Particles, state: &mut PliantState) -> Stretch {
        let Particles {
            positions,
            velocities,
            forces,
            ..
        } = particles;
        let mut power = 0.0;
        let mut stretch = Stretch::default();
        if let Some(membranes) = self.membranes {
            let law = membranes.law();
            let time = Lanes::splat(membranes.damping_time());
            let (locking, zero) = (law.locking_green_strain(), Lanes::splat(0.0));
            let (mut largest, mut locked) = (zero, zero);
            add(&membranes.blocks, forces, |block| {
                let inverse = &block.rest.inverse;
                let deformed =
                    deformation(&edge_pair(&at_corners(&block.corners, positions)), inverse);
                let moving =
                    deformation(&edge_pair(&at_corners(&block.corners, velocities)), inverse);
                let rate = strain_rate(&deformed, &moving);
                let lost = law.viscous_power_density(&rate, time) * block.rest.area;
                power += sum_of_lanes(lost);
                let strain = green_strain(&deformed);
                for strain in [strain.warp, strain.weft] {
                    largest = largest.simd_max(strain);
                    locked += Lanes::splat(1.0).select(strain.simd_gt(locking), zero);
                }
                let stress = law.second_stress(&strain) + law.viscous_stress(&rate, time);
                nodal_forces(&deformed, &stress, inverse, block.rest.area)
            });
            stretch = Stretch {
                largest: (0..LANES).fold(0.0, |most, lane| largest.extract(lane).max(most)),
                locked: sum_of_lanes(locked),
            };
        }
        if let Some(hinges) = self.hinges {
            add(&hinges.blocks, forces, |block| {
                let geometry = HingeGeometry::new(&at_corners(&block.corners, positions));
                let rate = geometry.rate(&at_corners(&block.corners, velocities));
                let damping = &block.rest.damping;
                power += sum_of_lanes(damping.power(rate));
                geometry.forces(block.rest.hinge.slope(&geometry.fold) + damping.slope(rate))
            });
        }
        if let Some(springs) = self.springs {
            add(&springs.blocks, forces, |block| {
                let [first, second] = at_corners(&block.corners, positions);
                let [slow, fast] = at_corners(&block.corners, velocities);
                let difference = second - first;
                let damping = &block.rest.damping;
                let rate = damping.rate(&difference, &(fast - slow));
                power += sum_of_lanes(damping.power(rate));
                let force = block.rest.spring.force(&difference) + damping.force(&difference, rate);
                [force, -force]
            });
        }
        if let Some(inflation) = self.inflation() {
            inflation.add_forces(positions, forces);
        }
        state.energies.dissipated_power += power;
        stretch
    }

    fn inflation(&self) -> Option<Inflation<'_>> {
        Inflation::of(self.pressure, self.surface)
    }

    /// Elastic energy, J, in double precision.
    pub(super) fn elastic_energy(&self, particles: &Particles) -> f64 {
        let mut sum = 0.0;
        if let Some(membranes) = self.membranes {
            let law = membranes.law();
            let rest = membranes.rest();
            sum += sum_energy(particles, membranes.corners(), |elements, corners| {
                let inverse = Matrix2::from_fn(|row, column| {
                    elements.pack(|e| rest[e].inverse[(row, column)])
                });
                let strain = green_strain(&deformation(&edge_pair(corners), &inverse));
                law.energy_density(&strain) * elements.pack(|e| rest[e].area)
            });
        }
        if let Some(hinges) = self.hinges {
            let laws = hinges.laws();
            sum += sum_energy(particles, hinges.corners(), |elements, corners| {
                let hinge = Hinge {
                    stiffness: elements.pack(|e| laws[e].hinge.stiffness),
                    rest: HalfAngle {
                        sine: elements.pack(|e| laws[e].hinge.rest.sine),
                        cosine: elements.pack(|e| laws[e].hinge.rest.cosine),
                    },
                };
                hinge.energy(&HingeGeometry::new(corners).fold)
            });
        }
        if let Some(springs) = self.springs {
            let laws = springs.laws();
            sum += sum_energy(particles, springs.ends(), |elements, [first, second]| {
                let spring = Spring {
                    stiffness: elements.pack(|e| laws[e].spring.stiffness),
                    rest_length: elements.pack(|e| laws[e].spring.rest_length),
                };
                spring.energy(&(second - first))
            });
        }
        if let Some(inflation) = self.inflation() {
            sum += inflation.energy(&particles.positions);
        }
        sum
    }

    /// The longest stable step of explicit integration at the current positions, s.
    ///
    /// ```text
    /// ω² ≤ max_i Σ_e λ_e/m_i,   γ ≤ max_i Σ_e c_e/m_i
    /// ```
    /// over the elements e at a particle i, with bounds for the largest eigenvalues of their stiffness and damping: what
    /// each element resists is at most that of springs of stiffness λ from its corners to where they are. `with_damping`
    /// where that is explicit as well.
    fn longest_step(
        &self,
        particles: &Particles,
        with_damping: bool,
        sums: &mut Vec<[f64; 2]>,
    ) -> f64 {
        // Stiffness and damping at each particle, N/m and N s/m.
        sums.clear();
        sums.resize(particles.len(), [0.0; 2]);
        let positions = &particles.positions;
        let position = |corner: u32| positions[corner as usize].cast::<f64>();
        let mut note = |corners: &[u32], stiffness: f64, damping: f64| {
            for &corner in corners {
                let [k, c] = &mut sums[corner as usize];
                *k += stiffness;
                *c += damping;
            }
        };
        if let Some(membranes) = self.membranes {
            let law = membranes.law::<f64>();
            let time = f64::from(membranes.damping_time());
            for (corners, rest) in membranes.corners().iter().zip(membranes.rest()) {
                let (inverse, area) = (rest.inverse.cast::<f64>(), f64::from(rest.area));
                let deformed = deformation(&edge_pair(&corners.map(position)), &inverse);
                let strain = green_strain(&deformed);
                let gradients = shape_gradients(&inverse);
                let stress = law.second_stress(&strain);
                let bound = law
                    .tangent(&strain, 0.0)
                    .stiffness_bound(&deformed, &stress, &gradients, area);
                note(corners, bound, time * bound);
            }
        }
        if let Some(hinges) = self.hinges {
            for (corners, law) in hinges.corners().iter().zip(hinges.laws()) {
                let geometry = HingeGeometry::new(&corners.map(position));
                let square: f64 = geometry.modes.iter().map(Vector3::norm_squared).sum();
                // The curvature of the energy is largest at small angles.
                let stiffness = 0.5 * f64::from(law.hinge.stiffness) * square;
                note(
                    corners,
                    stiffness,
                    f64::from(law.damping.coefficient) * square,
                );
            }
        }
        if let Some(springs) = self.springs {
            for (ends, law) in springs.ends().iter().zip(springs.laws()) {
                note(
                    ends,
                    2.0 * f64::from(law.spring.stiffness),
                    2.0 * f64::from(law.damping.coefficient),
                );
            }
        }
        let (mut squared_frequency, mut damping) = (0.0_f64, 0.0_f64);
        for ([k, c], &inverse_mass) in sums.iter().zip(&particles.inverse_masses) {
            squared_frequency = squared_frequency.max(k * f64::from(inverse_mass));
            damping = damping.max(c * f64::from(inverse_mass));
        }
        if let Some(inflation) = self.inflation() {
            squared_frequency += inflation.squared_frequency(particles);
        }
        let damping = if with_damping { damping } else { 0.0 };
        largest_stable_step(squared_frequency.sqrt(), damping)
    }
}

/// Some elements side by side in double precision: the first, and how many there are.
struct Batch {
    first: usize,
    count: usize,
}

impl Batch {
    /// A number of each element; lanes left over repeat the first.
    fn pack(&self, number: impl Fn(usize) -> Real) -> WideF64x4 {
        let mut numbers = [f64::from(number(self.first)); WideF64x4::LANES];
        for lane in 1..self.count {
            numbers[lane] = number(self.first + lane).into();
        }
        numbers.into()
    }
}

/// The sum of the energies of all elements of a kind, J.
fn sum_energy<const N: usize>(
    particles: &Particles,
    corners: &[[u32; N]],
    energy: impl Fn(&Batch, &[Vector3<WideF64x4>; N]) -> WideF64x4,
) -> f64 {
    let mut sum = 0.0;
    let mut first = 0;
    for elements in corners.chunks(WideF64x4::LANES) {
        let mut positions = [Vector3::from_element(WideF64x4::splat(0.0)); N];
        for (corner, position) in positions.iter_mut().enumerate() {
            let mut axes = [[0.0; WideF64x4::LANES]; 3];
            for lane in 0..WideF64x4::LANES {
                let i = elements.get(lane).unwrap_or(&elements[0])[corner] as usize;
                let (place, remainder) =
                    (&particles.positions[i], &particles.position_remainders[i]);
                for axis in 0..3 {
                    axes[axis][lane] = f64::from(place[axis]) + f64::from(remainder[axis]);
                }
            }
            for axis in 0..3 {
                position[axis] = axes[axis].into();
            }
        }
        let count = elements.len();
        let energies: [f64; WideF64x4::LANES] = energy(&Batch { first, count }, &positions).into();
        sum += energies[..count].iter().sum::<f64>();
        first += count;
    }
    sum
}

/// Adds the vectors on the corners of all elements to the particles, in the order of the elements.
fn add<const N: usize, Rest>(
    blocks: &[Packed<N, Rest>],
    sums: &mut [Vector3<Real>],
    mut element: impl FnMut(&Packed<N, Rest>) -> [Vector3<Lanes>; N],
) {
    for block in blocks {
        let vectors = element(block);
        for lane in 0..LANES {
            for (corners, vector) in block.corners.iter().zip(&vectors) {
                let sum = &mut sums[corners[lane] as usize];
                for axis in 0..3 {
                    sum[axis] += vector[axis].extract(lane);
                }
            }
        }
    }
}

/// Growth of the largest Green strain since the last estimate at which a new one is due.
const STRETCH: Real = 0.02;

/// How far the threads of a cloth are stretched: what makes it stiffer within a tick.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    /// The largest Green strain along a thread.
    largest: Real,
    /// How many threads are locked, over all triangles.
    locked: f64,
}

/// The longest stable step of a cloth under explicit integration.
#[derive(Component, Clone, Debug, Default)]
pub(super) struct LongestStep {
    /// s.
    pub seconds: f64,
    with_damping: bool,
    /// At the last evaluation of forces, and at the estimate.
    stretch: Stretch,
    estimated: Stretch,
    /// Scratch.
    sums: Vec<[f64; 2]>,
}

impl LongestStep {
    fn update(&mut self, particles: &Particles, sheets: &SheetsItem) {
        self.seconds = sheets.longest_step(particles, self.with_damping, &mut self.sums);
        self.estimated = self.stretch;
    }

    /// Whether the cloth has become stiffer than it was when the step was estimated.
    fn is_outdated(&self) -> bool {
        self.stretch.largest > self.estimated.largest + STRETCH
            || self.stretch.locked > self.estimated.locked
    }
}

type Estimated = (&'static Particles, Sheets, &'static mut LongestStep);

/// Estimates how long an explicit step of each cloth may be.
pub(super) fn estimate_steps(world: &mut World, with_damping: bool) {
    let unseen: Vec<Entity> = world
        .query_filtered::<Entity, (HasSheets, Without<LongestStep>)>()
        .iter(world)
        .collect();
    for entity in unseen {
        world.entity_mut(entity).insert(LongestStep::default());
    }
    let mut cloths = world.query_filtered::<Estimated, Without<Quarantined>>();
    for (particles, sheets, mut longest) in cloths.iter_mut(world) {
        longest.with_damping = with_damping;
        longest.update(particles, &sheets);
    }
}

/// Makes new estimates for the cloths that have stretched since: an impact locks threads within a few substeps.
pub(super) fn follow_stretch(world: &mut World) {
    let mut cloths = world.query_filtered::<Estimated, Without<Quarantined>>();
    for (particles, sheets, mut longest) in cloths.iter_mut(world) {
        if longest.is_outdated() {
            longest.update(particles, &sheets);
        }
    }
}

type Changing = (
    Entity,
    Option<&'static Name>,
    &'static Fabric,
    &'static mut Particles,
    &'static mut PliantState,
    Option<&'static mut Membranes>,
    Option<&'static mut Hinges>,
);

/// Takes over fabrics that changed since the last tick: membranes, hinges and masses; springs keep their own stiffness.
pub(super) fn follow_fabrics(mut cloths: Query<Changing, Changed<Fabric>>) {
    for (entity, name, fabric, mut particles, mut state, membranes, hinges) in &mut cloths {
        if particles.is_added() {
            continue;
        }
        if let Err(error) = fabric.validate() {
            error!(
                "{}: {error}. The cloth keeps its previous fabric.",
                describe(entity, name)
            );
            continue;
        }
        let density = membranes
            .as_ref()
            .map(|membranes| membranes.areal_density());
        if let Some(mut membranes) = membranes {
            membranes.set_fabric(fabric);
        }
        if let Some(mut hinges) = hinges {
            hinges.set_stiffness(fabric.hinge_stiffness(), fabric.bending_damping);
        }
        if let Some(density) = density.filter(|&density| density != fabric.areal_density) {
            let ratio = f64::from(fabric.areal_density) / f64::from(density);
            let particles = &mut *particles;
            for i in 0..particles.len() {
                let held = particles.inverse_masses[i] == 0.0;
                particles.masses[i] = to_real(f64::from(particles.masses[i]) * ratio);
                if !held {
                    particles.release(i);
                }
            }
        }
        state.topology_version += 1;
    }
}
