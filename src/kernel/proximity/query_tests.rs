//! Continuous detection on queries whose truth is exact: made up from whole numbers, and recorded.

use std::path::Path;

use nalgebra::Vector3;

use super::PairKind;
use super::certificate::certainly_apart;
use super::coplanarity::time_of_coplanar_contact;
use super::time_of_impact::{LEFTOVER, MOST_ADVANCES, positions_at, time_of_impact};
use crate::kernel::testing::Random;

type Detector = fn(PairKind, &[Vector3<f64>; 4], &[Vector3<f64>; 4]) -> Option<f64>;

const ADDITIVE: Detector = |kind, start, end| time_of_impact(kind, start, end, 0.0);
const COPLANARITY: Detector = |kind, start, end| time_of_coplanar_contact(kind, start, end, 1e-6);

#[derive(Default, Debug, PartialEq)]
struct Score {
    queries: usize,
    contacts: usize,
    false_negatives: usize,
    false_positives: usize,
    late: usize,
}

impl Score {
    /// `contact` is the earliest time of contact, if there is one.
    fn count(&mut self, answer: Option<f64>, contact: Option<f64>) {
        self.queries += 1;
        self.contacts += usize::from(contact.is_some());
        match (answer, contact) {
            (None, Some(_)) => self.false_negatives += 1,
            (Some(_), None) => self.false_positives += 1,
            (Some(answer), Some(contact)) => self.late += usize::from(answer > contact),
            (None, None) => {}
        }
    }
}

/// A whole number of grid steps.
fn whole(random: &mut Random, size: f64) -> f64 {
    (random.uniform() * size).round()
}

/// Features that meet at a share of the step, all of it in whole numbers, so that no rounding blurs the contact.
fn made_up_contact(
    kind: PairKind,
    random: &mut Random,
) -> ([Vector3<f64>; 4], [Vector3<f64>; 4], f64) {
    let flat = random.uniform() > 0.7;
    let mut vector = |size: f64, factor: f64| {
        let mut vector = Vector3::from_fn(|_, _| whole(random, size) * factor);
        if flat {
            vector.y = 0.0;
        }
        vector
    };
    // Corners at multiples of sixteen, so that their averages in quarters of quarters are whole.
    let mut meeting: [Vector3<f64>; 4] = std::array::from_fn(|_| vector(40.0, 16.0));
    let steps: [Vector3<f64>; 4] = std::array::from_fn(|_| vector(40.0, 16.0));
    let share = |random: &mut Random| (random.between(0.0, 5.0).floor() / 4.0).min(1.0);
    let (s, t) = (share(random), share(random));
    if random.uniform() > 0.7 {
        // A face without area, or parallel edges.
        meeting[3] = meeting[2] + (meeting[1] - meeting[2]) * 2.0;
    }
    let [x0, x1, x2, x3] = meeting;
    let miss = match kind {
        PairKind::VertexFace => x0 - (x1 + (x2 - x1) * s + (x3 - x2) * (s * t)),
        PairKind::EdgeEdge => x0 + (x1 - x0) * s - (x2 + (x3 - x2) * t),
    };
    for vertex in &mut meeting[..kind.first_count()] {
        *vertex -= miss;
    }
    let time = random.between(0.0, 17.0).floor() / 16.0;
    let start = std::array::from_fn(|i| meeting[i] - steps[i] * time);
    let end = std::array::from_fn(|i| meeting[i] + steps[i] * (1.0 - time));
    (start, end, time)
}

#[test]
fn contacts_in_whole_numbers_are_never_missed() {
    let mut random = Random::new(581);
    let mut cubic = Score::default();
    for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
        for _ in 0..30_000 {
            let (start, end, time) = made_up_contact(kind, &mut random);
            assert!(!certainly_apart(kind, &start, &end));
            let answer = ADDITIVE(kind, &start, &end).expect("a contact");
            assert!(answer <= time, "{answer} is later than {time}");
            cubic.count(COPLANARITY(kind, &start, &end), Some(time));
        }
    }
    println!("coplanarity equation on contacts in whole numbers: {cubic:?}");
}

#[test]
fn passing_pairs_alarm_only_within_a_tenth_of_their_distance() {
    let mut random = Random::new(582);
    for kind in [PairKind::VertexFace, PairKind::EdgeEdge] {
        let (mut score, mut clear) = (Score::default(), 0);
        while score.queries < 5000 {
            let (mut start, mut end, _) = made_up_contact(kind, &mut random);
            let aside = random.vector(256.0);
            for vertex in 0..kind.first_count() {
                start[vertex] += aside;
                end[vertex] += aside;
            }
            if !certainly_apart(kind, &start, &end) {
                continue;
            }
            let answer = ADDITIVE(kind, &start, &end);
            score.count(answer, None);
            // The distance changes no faster than the vertices move.
            let speed = (0..4)
                .map(|i| (end[i] - start[i]).norm())
                .fold(0.0, f64::max);
            let samples = 200;
            let distances = (0..=samples).map(|sample| {
                let vertices = positions_at(&start, &end, f64::from(sample) / f64::from(samples));
                kind.closest_points(&vertices).distance()
            });
            let nearest = distances.fold(f64::INFINITY, f64::min) - speed / f64::from(samples);
            // So near that the advances do not suffice, it gives up before.
            let enough = 0.9 * nearest * MOST_ADVANCES as f64 > 2.0 * speed;
            if enough && nearest > LEFTOVER * kind.closest_points(&start).distance() {
                clear += 1;
                assert_eq!(answer, None);
            }
        }
        println!("{kind:?} that pass: {score:?}, {clear} of them clearly");
        assert!(clear > 1000);
    }
}

/// A query of a file: kind, start, end, and the earliest time of contact.
type Query = ([Vector3<f64>; 4], [Vector3<f64>; 4], Option<f64>);

/// Reads records of 224 bytes: the truth at 8 (at 9 for numbers rounded to single precision), its time at 16 (24), eight
/// points of three numbers from 32, all little endian.
fn read_queries(path: &Path, rounded: bool) -> Vec<Query> {
    let bytes = std::fs::read(path).expect("a readable file of queries");
    let offset = usize::from(rounded);
    let read = |record: &[u8]| {
        let number = |at: usize| {
            let bytes = record[at..at + 8].try_into().expect("eight bytes");
            f64::from_le_bytes(bytes)
        };
        let coordinate = |at: usize| {
            let exact = number(at);
            if rounded {
                f64::from(exact as f32)
            } else {
                exact
            }
        };
        let point = |i: usize| Vector3::from_fn(|axis, _| coordinate(32 + 24 * i + 8 * axis));
        let contact = (record[8 + offset] == 1).then(|| number(16 + 8 * offset));
        let points = |first: usize| std::array::from_fn(|i| point(first + i));
        (points(0), points(4), contact)
    };
    bytes.chunks_exact(224).map(read).collect()
}

/// Recorded queries with exact truth: four files in the folder `ccd` of `PLIANT_DATA`.
#[test]
fn recorded_contacts_are_never_missed() {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        println!("PLIANT_DATA names no folder with recorded queries; check skipped");
        return;
    };
    let folder = Path::new(&folder).join("ccd");
    let files = [
        ("handmade_vf", PairKind::VertexFace),
        ("handmade_ee", PairKind::EdgeEdge),
        ("sim_vf", PairKind::VertexFace),
        ("sim_ee", PairKind::EdgeEdge),
    ];
    for (name, kind) in files {
        for rounded in [false, true] {
            let queries = read_queries(&folder.join(format!("{name}.bin")), rounded);
            let (mut additive, mut cubic) = (Score::default(), Score::default());
            for (start, end, contact) in &queries {
                additive.count(ADDITIVE(kind, start, end), *contact);
                cubic.count(COPLANARITY(kind, start, end), *contact);
            }
            let numbers = if rounded { "single" } else { "double" };
            println!("{name}, {numbers} precision, additive: {additive:?}");
            println!("{name}, {numbers} precision, coplanarity: {cubic:?}");
            assert!(additive.contacts > 50);
            assert_eq!((additive.false_negatives, additive.late), (0, 0));
        }
    }
}
