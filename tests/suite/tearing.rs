//! Tearing: what is kept, what follows, and what is told.

use bevy::prelude::*;
use bevy_pliant::Real;
use bevy_pliant::mesh::{Rope, SheetGrid, SheetSide, SpringKind};
use bevy_pliant::prelude::*;
use nalgebra::Vector3;

use crate::support::{app, ticks};

const GRID: SheetGrid = SheetGrid {
    size: [1.0, 0.5],
    cells: [20, 10],
    pattern: SheetPattern::Herringbone,
};

/// What the observer and the message reader have heard.
#[derive(Resource, Default)]
struct Heard {
    events: Vec<Torn>,
    messages: Vec<Torn>,
}

fn listening() -> App {
    let mut app = app();
    app.init_resource::<Heard>();
    app.insert_resource(PliantGravity(Vec3::ZERO));
    app.add_observer(|torn: On<Torn>, mut heard: ResMut<Heard>| heard.events.push(torn.clone()));
    app.add_systems(
        Update,
        |mut torn: MessageReader<Torn>, mut heard: ResMut<Heard>| {
            heard.messages.extend(torn.read().cloned());
        },
    );
    app
}

fn fabric() -> Fabric {
    Fabric {
        areal_density: 0.2,
        strain_limit: Real::INFINITY,
        ..Fabric::COTTON.with_moduli(1000.0, 1000.0)
    }
}

/// A free sheet whose halves fly apart.
fn parted(app: &mut App, model: ClothModel, tearing: Tearing) -> Entity {
    let cloth = Cloth::new(GRID.mesh().expect("a sheet")).with_model(model);
    // So slack that it is drawn out before waves have crossed it.
    let slack = fabric().with_moduli(50.0, 50.0);
    let body = app.world_mut().spawn((cloth, slack, tearing)).id();
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    let particles = &mut *particles;
    for (velocity, position) in particles.velocities.iter_mut().zip(&particles.positions) {
        *velocity = Vector3::new(30.0 * position.x + 0.5, 3.0 * position.z, 0.25);
    }
    body
}

fn momentum(particles: &Particles) -> Vector3<f64> {
    let moving = particles.masses().iter().zip(&particles.velocities);
    moving.fold(Vector3::zeros(), |sum, (&mass, velocity)| {
        sum + velocity.cast::<f64>() * f64::from(mass)
    })
}

fn body_of<T: Component>(app: &App, body: Entity) -> &T {
    app.world().get::<T>(body).expect("a body")
}

#[test]
fn a_tear_keeps_mass_momentum_and_texture() {
    for model in [ClothModel::Membrane, ClothModel::Springs] {
        let mut app = listening();
        let body = parted(&mut app, model.clone(), Tearing::beyond(0.2));
        let before: Particles = body_of::<Particles>(&app, body).clone();
        let first: Surface = body_of::<Surface>(&app, body).clone();
        let stiffness = |app: &App| -> f64 {
            let springs = app.world().get::<Springs>(body);
            springs.map_or(0.0, |springs| {
                springs.stiffnesses().map(f64::from).sum::<f64>()
            })
        };
        let stiffness_before = stiffness(&app);
        let mut tears = 0;
        for _ in 0..40 {
            let start: Particles = body_of::<Particles>(&app, body).clone();
            ticks(&mut app, 1);
            let events = std::mem::take(&mut app.world_mut().resource_mut::<Heard>().events);
            let now: &Particles = body_of(&app, body);
            let gone = (now.total_mass() - before.total_mass()).abs();
            assert!(gone <= 1e-6 * before.total_mass(), "{gone}");
            let pushed = (momentum(now) - momentum(&before)).norm();
            let size = f64::from(before.masses()[0]) * 30.0 * before.len() as f64;
            assert!(pushed <= 1e-5 * size, "{pushed} of {size}");
            let Some(torn) = events.first() else {
                assert_eq!(now.len(), start.len());
                continue;
            };
            tears += 1;
            assert_eq!((events.len(), torn.body), (1, body));
            assert_eq!(torn.origin.len(), now.len());
            assert!(now.len() > start.len());
            for (copy, &from) in torn.origin.iter().enumerate() {
                let from = from as usize;
                assert!(from < start.len());
                // Copies start from the same place with the same velocity.
                assert_eq!(now.positions[copy], now.positions[from]);
                assert_eq!(now.velocities[copy], now.velocities[from]);
                assert!(copy >= start.len() || copy == from);
            }
            let shared = |from: usize| -> f64 {
                let copies = torn.origin.iter().zip(now.masses());
                let copies = copies.filter(|&(&origin, _)| origin as usize == from);
                copies.map(|(_, &mass)| f64::from(mass)).sum()
            };
            for (from, &mass) in start.masses().iter().enumerate() {
                let mass = f64::from(mass);
                assert!((shared(from) - mass).abs() <= 1e-6 * mass);
            }
        }
        assert!(tears >= 3, "{tears}");
        let surface: &Surface = body_of(&app, body);
        assert_eq!(surface.triangles.len(), first.triangles.len());
        assert_eq!(surface.corner_coordinates, first.corner_coordinates);
        assert_eq!(surface.slots, first.slots);
        if let Some(membranes) = app.world().get::<Membranes>(body) {
            assert_eq!(membranes.corners(), surface.triangles);
        }
        let kept = stiffness(&app);
        assert!((kept - stiffness_before).abs() <= 1e-5 * stiffness_before);
        let count = body_of::<Particles>(&app, body).len() as u32;
        let hinges: &Hinges = body_of(&app, body);
        assert!(
            hinges
                .corners()
                .iter()
                .flatten()
                .all(|&corner| corner < count)
        );
        assert!(body_of::<PliantState>(&app, body).topology_version >= tears);
        println!(
            "{model:?}: {tears} tears, {} more particles",
            count as usize - before.len()
        );
    }
}

#[test]
fn messages_and_events_tell_the_same() {
    let mut app = listening();
    parted(&mut app, ClothModel::Membrane, Tearing::beyond(0.2));
    ticks(&mut app, 30);
    let heard = app.world().resource::<Heard>();
    assert!(!heard.events.is_empty());
    assert_eq!(heard.events, heard.messages);
}

#[test]
fn a_pull_along_one_axis_tears_across_it() {
    let mut app = listening();
    // Slowly, and with a cut to start from.
    let mut mesh = GRID.mesh().expect("a sheet");
    let cut: Vec<[u32; 2]> = (0..2)
        .map(|j| [GRID.vertex(10, j), GRID.vertex(10, j + 1)])
        .collect();
    mesh = mesh.torn(&cut).expect("a cut").mesh;
    let ends = [SheetSide::Left, SheetSide::Right].map(|side| GRID.edge_particles(side));
    let pins = Pins::at(ends.iter().flatten().copied());
    let body = app
        .world_mut()
        .spawn((Cloth::new(mesh), fabric(), pins, Tearing::beyond(0.3)))
        .id();
    ticks(&mut app, 1);
    for _ in 0..180 {
        for pin in &mut app.world_mut().get_mut::<Pins>(body).expect("pins").pins {
            if let PinAnchor::World(place) = &mut pin.anchor {
                place.x += place.x.signum() * 0.002;
            }
        }
        ticks(&mut app, 1);
    }
    let heard = &app.world().resource::<Heard>().events;
    let opened: Vec<[u32; 2]> = heard.iter().flat_map(|torn| torn.edges.clone()).collect();
    assert!(opened.len() >= 8, "{}", opened.len());
    // In two, and nothing but: the pieces are those of the left and the right pins.
    let surface: &Surface = body_of(&app, body);
    let particles: &Particles = body_of(&app, body);
    let pieces = TriangleMesh::new(
        particles.positions.iter().map(|x| x.cast()).collect(),
        surface.triangles.clone(),
    );
    let topology = pieces.topology().expect("a mesh");
    println!(
        "{} edges opened, {} pieces",
        opened.len(),
        topology.piece_count()
    );
    assert_eq!(topology.piece_count(), 2);
}

#[test]
fn copies_of_pinned_particles_are_pinned_alike() {
    let mut app = listening();
    let row: Vec<u32> = (0..=20).map(|i| GRID.vertex(i, 0)).collect();
    let mesh = GRID.mesh().expect("a sheet");
    let body = app
        .world_mut()
        .spawn((
            Cloth::new(mesh),
            fabric(),
            Pins::at(row.clone()),
            Tearing::beyond(0.2),
        ))
        .id();
    ticks(&mut app, 1);
    // The pinned row itself is drawn out, so it tears where it is held.
    for _ in 0..60 {
        for pin in &mut app.world_mut().get_mut::<Pins>(body).expect("pins").pins {
            if let PinAnchor::World(place) = &mut pin.anchor {
                place.x *= 1.01;
            }
        }
        ticks(&mut app, 1);
    }
    let torn: Vec<Torn> = app.world().resource::<Heard>().events.clone();
    let mut origin: Vec<u32> = (0..231).collect();
    for torn in &torn {
        origin = torn
            .origin
            .iter()
            .map(|&from| origin[from as usize])
            .collect();
    }
    let pins = &body_of::<Pins>(&app, body).pins;
    let copies: Vec<u32> = (0..origin.len() as u32)
        .filter(|&particle| row.contains(&origin[particle as usize]))
        .collect();
    println!("{} pinned particles of {}", copies.len(), row.len());
    assert!(copies.len() > row.len(), "no pinned particle was split");
    let mut pinned: Vec<u32> = pins.iter().map(|pin| pin.particle).collect();
    pinned.sort_unstable();
    assert_eq!(pinned, copies);
    let particles: &Particles = body_of(&app, body);
    for &copy in &copies {
        let first = origin[copy as usize] as usize;
        assert_eq!(particles.inverse_masses()[copy as usize], 0.0);
        assert_eq!(
            particles.positions[copy as usize],
            particles.positions[first]
        );
    }
}

#[test]
fn a_chain_of_springs_breaks_once_where_it_is_pulled_most() {
    let mut app = listening();
    app.insert_resource(PliantGravity::default());
    let rope = Rope::new(Vector3::zeros(), -Vector3::y() * 2.0, 20).expect("a rope");
    // 0.2 N on 8 N: 2.5 % at the top; half of it breaks the uppermost spring once it hangs.
    let cord = Cord::new(rope).with_stretch(80.0, 0.1).with_bend(1.0);
    let body = app
        .world_mut()
        .spawn((cord, Pins::at([0]), Tearing::beyond(0.02)))
        .id();
    let springs = body_of::<Springs>(&app, body).len();
    ticks(&mut app, 120);
    let heard = &app.world().resource::<Heard>().events;
    assert_eq!(heard.len(), 1, "{heard:?}");
    // The uppermost spring, and the bend spring over it.
    assert_eq!(heard[0].springs, [[0, 1], [0, 2]]);
    assert!(heard[0].edges.is_empty());
    assert_eq!(heard[0].origin, (0..21).collect::<Vec<u32>>());
    let left: &Springs = body_of(&app, body);
    assert_eq!(left.len(), springs - 2);
    let bends = left
        .kinds()
        .iter()
        .filter(|&&kind| kind == SpringKind::Bend);
    assert_eq!(bends.count(), 18);
    let particles: &Particles = body_of(&app, body);
    assert_eq!(particles.positions[0].y, 0.0);
    assert!(particles.positions[1].y < -3.0, "the rope has fallen");
}

#[test]
fn the_same_tear_twice() {
    let run = || {
        let mut app = listening();
        let body = parted(&mut app, ClothModel::Membrane, Tearing::beyond(0.2));
        ticks(&mut app, 40);
        body_of::<Particles>(&app, body).positions.clone()
    };
    assert_eq!(run(), run());
}

#[test]
fn solids_are_told_that_they_do_not_tear() {
    let mut app = listening();
    let ball = TetrahedralMesh::ball(0.2, 2).expect("a ball");
    let body = app
        .world_mut()
        .spawn((Solid::new(ball), Tearing::beyond(1e-6)))
        .id();
    let count = body_of::<Particles>(&app, body).len();
    let mut particles = app.world_mut().get_mut::<Particles>(body).expect("a body");
    for velocity in &mut particles.velocities {
        *velocity = Vector3::x();
    }
    ticks(&mut app, 5);
    assert!(app.world().resource::<Heard>().events.is_empty());
    assert_eq!(body_of::<Particles>(&app, body).len(), count);
}
