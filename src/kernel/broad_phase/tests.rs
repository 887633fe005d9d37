//! The broad phases against looking at all pairs.

use nalgebra::Vector3;
use proptest::prelude::*;

use super::*;
use crate::kernel::proximity::truncation::Bounds;
use crate::kernel::testing::Random;

fn all_pairs(boxes: &[Bounds<f32>]) -> Vec<[u32; 2]> {
    let count = boxes.len() as u32;
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
    pairs
        .filter(|&[a, b]| boxes[a as usize].overlaps(&boxes[b as usize]))
        .collect()
}

fn drawn_box(random: &mut Random, size: f64) -> Bounds<f32> {
    let center = random.vector(1.0);
    let half = random.vector(size).abs();
    Bounds {
        minimum: (center - half).cast(),
        maximum: (center + half).cast(),
    }
}

fn shifted(bounds: &Bounds<f32>, shift: &Vector3<f32>) -> Bounds<f32> {
    Bounds {
        minimum: bounds.minimum + shift,
        maximum: bounds.maximum + shift,
    }
}

proptest! {
    #[test]
    fn both_find_all_pairs_while_boxes_move(
        seed in 0_u64..1 << 40, count in 0_usize..150, size in 0.01..0.5, speed in 0.0..0.3,
    ) {
        let mut random = Random::new(seed);
        let mut boxes: Vec<_> = (0..count).map(|_| drawn_box(&mut random, size)).collect();
        let (mut tree, mut sweep) = (BoundingTree::default(), SweepAndPrune::default());
        let mut found = Vec::new();
        for step in 0..8 {
            let expected = all_pairs(&boxes);
            tree.update(&boxes);
            tree.overlaps_within(&boxes, |_| false, |_| true, &mut found);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(sweep.update(&boxes), &expected[..]);
            for bounds in &mut boxes {
                *bounds = shifted(bounds, &random.vector(speed).cast());
            }
            if step == 5 && count > 0 {
                // A teleport.
                boxes[count / 2] = drawn_box(&mut random, size);
            }
        }
    }

    #[test]
    fn two_trees_find_all_pairs(
        seed in 0_u64..1 << 40, first in 0_usize..80, second in 0_usize..80, size in 0.01..0.5,
    ) {
        let mut random = Random::new(seed);
        let boxes: Vec<_> = (0..first).map(|_| drawn_box(&mut random, size)).collect();
        let others: Vec<_> = (0..second).map(|_| drawn_box(&mut random, size)).collect();
        let (mut tree, mut other) = (BoundingTree::default(), BoundingTree::default());
        tree.build(&boxes);
        other.build(&others);
        let mut found = vec![[7, 7]];
        tree.overlaps_between(&boxes, &other, &others, &mut found);
        let pairs = (0..first as u32).flat_map(|a| (0..second as u32).map(move |b| [a, b]));
        let expected: Vec<_> = pairs
            .filter(|&[a, b]| boxes[a as usize].overlaps(&others[b as usize]))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn groups_hold_every_box_once_and_are_passed_over() {
    let mut random = Random::new(83);
    for count in [0, 1, 5, 64, 65, 500] {
        let boxes: Vec<_> = (0..count).map(|_| drawn_box(&mut random, 0.2)).collect();
        let mut tree = BoundingTree::default();
        tree.build(&boxes);
        let mut group_of = vec![u32::MAX; count];
        for (group, members) in (0..).zip(tree.groups(64)) {
            assert!(!members.is_empty() && members.len() <= 64);
            for &member in members {
                assert_eq!(group_of[member as usize], u32::MAX);
                group_of[member as usize] = group;
            }
        }
        assert!(group_of.iter().all(|&group| group != u32::MAX));
        // The even groups are of no interest, nor are pairs with the first box.
        let is_even = |member: u32| group_of[member as usize] % 2 == 0;
        let are_clear = |members: &[u32]| {
            let first = group_of[members[0] as usize];
            is_even(members[0])
                && members
                    .iter()
                    .all(|&member| group_of[member as usize] == first)
        };
        let mut found = Vec::new();
        tree.overlaps_within(&boxes, are_clear, |pair| pair[0] != 0, &mut found);
        let mut expected = all_pairs(&boxes);
        expected.retain(|&[a, b]| {
            let is_one_group = group_of[a as usize] == group_of[b as usize];
            a != 0 && !(is_one_group && is_even(a))
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn equal_and_flat_boxes_are_found() {
    let point = Bounds {
        minimum: Vector3::repeat(0.5_f32),
        maximum: Vector3::repeat(0.5),
    };
    let boxes = vec![point; 40];
    let (mut tree, mut sweep) = (BoundingTree::default(), SweepAndPrune::default());
    let mut found = Vec::new();
    for _ in 0..2 {
        tree.update(&boxes);
        tree.overlaps_within(&boxes, |_| false, |_| true, &mut found);
        assert_eq!(found, all_pairs(&boxes));
        assert_eq!(found.len(), 780);
        assert_eq!(sweep.update(&boxes), found);
    }
    // Boxes that meet in a face overlap; one unit in the last place apart they do not.
    let next = |minimum: f32| Bounds {
        minimum: Vector3::new(minimum, 0.0, 0.0),
        maximum: Vector3::new(2.0, 1.0, 1.0),
    };
    let unit = Bounds {
        minimum: Vector3::zeros(),
        maximum: Vector3::repeat(1.0),
    };
    for (minimum, count) in [(1.0, 1), (1.0_f32.next_up(), 0)] {
        let boxes = [unit, next(minimum)];
        tree.update(&boxes);
        tree.overlaps_within(&boxes, |_| false, |_| true, &mut found);
        assert_eq!(found.len(), count);
        assert_eq!(sweep.update(&boxes).len(), count);
    }
}

#[test]
fn what_is_not_a_number_overlaps_nothing_and_hides_nothing() {
    let mut random = Random::new(71);
    let mut boxes: Vec<_> = (0..60).map(|_| drawn_box(&mut random, 0.2)).collect();
    let (mut tree, mut sweep) = (BoundingTree::default(), SweepAndPrune::default());
    let mut found = Vec::new();
    sweep.update(&boxes);
    tree.update(&boxes);
    for (index, axis) in [(0, 0), (17, 1), (59, 2)] {
        boxes[index].minimum[axis] = f32::NAN;
        boxes[index + 1 - index / 59 * 2].maximum[axis] = f32::NAN;
        let expected = all_pairs(&boxes);
        assert!(!expected.is_empty());
        tree.update(&boxes);
        tree.overlaps_within(&boxes, |_| false, |_| true, &mut found);
        assert_eq!(found, expected);
        tree.build(&boxes);
        tree.overlaps_within(&boxes, |_| false, |_| true, &mut found);
        assert_eq!(found, expected);
        assert_eq!(sweep.update(&boxes), expected);
    }
}

#[test]
fn a_tree_is_refitted_until_it_has_become_costly() {
    let mut random = Random::new(72);
    let mut boxes: Vec<_> = (0..200).map(|_| drawn_box(&mut random, 0.02)).collect();
    let mut tree = BoundingTree::default();
    assert!(tree.update(&boxes));
    assert!(!tree.update(&boxes));
    for bounds in &mut boxes {
        *bounds = shifted(bounds, &Vector3::new(30.0, -4.0, 1.0));
    }
    assert!(!tree.update(&boxes));
    // Neighbours in the tree scattered over space.
    for bounds in &mut boxes {
        *bounds = drawn_box(&mut random, 0.02);
    }
    assert!(tree.update(&boxes));
    assert!(!tree.update(&boxes));
    assert!(tree.update(&boxes[1..]));
    assert!(tree.update(&[]));
    assert!(tree.is_empty() && tree.bounds().is_none());
}

#[test]
fn a_row_of_boxes_costs_linear_time() {
    // Not a clock: the number of exchanged pairs in a list that is all but sorted.
    let boxes: Vec<_> = (0_u16..20_000)
        .map(|i| Bounds {
            minimum: Vector3::new(f32::from(i), 0.0, 0.0),
            maximum: Vector3::new(f32::from(i) + 0.9, 1.0, 1.0),
        })
        .collect();
    let mut sweep = SweepAndPrune::default();
    assert!(sweep.update(&boxes).is_empty());
    let moved: Vec<_> = boxes
        .iter()
        .map(|bounds| shifted(bounds, &Vector3::new(0.3, 0.1, 0.0)))
        .collect();
    assert!(sweep.update(&moved).is_empty());
    assert!(sweep.touched.is_empty());
}
