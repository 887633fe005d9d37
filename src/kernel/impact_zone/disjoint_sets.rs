//! Which vertices belong together.

/// Disjoint sets of the numbers 0, 1, … count − 1.
///
/// The representative of a set is its smallest member, so that sets do not depend on the order in which they were
/// joined, or on which pair was found first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisjointSets {
    /// A smaller member of the same set, or the number itself.
    parents: Vec<u32>,
}

impl DisjointSets {
    /// Makes every number below `count` a set of its own. Keeps its memory.
    ///
    /// Eq: elementary.
    pub fn reset(&mut self, count: u32) {
        self.parents.clear();
        self.parents.extend(0..count);
    }

    /// The smallest number in the set of a number. A number that does not exist is a set of its own.
    ///
    /// Eq: `[Tarjan 1975]`, with paths halved.
    pub fn find(&mut self, number: u32) -> u32 {
        let mut at = number;
        while let Some(&parent) = self.parents.get(at as usize) {
            if parent == at {
                break;
            }
            let above = self.parents[parent as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    /// Joins the sets of two numbers; true if they were different. Numbers that do not exist are not joined.
    ///
    /// Eq: `[Tarjan 1975]`, with the smaller representative on top.
    pub fn join(&mut self, first: u32, second: u32) -> bool {
        let (first, second) = (self.find(first), self.find(second));
        let (top, other) = (first.min(second), first.max(second));
        let joins = top != other && (other as usize) < self.parents.len();
        if joins {
            self.parents[other as usize] = top;
        }
        joins
    }

    /// Joins all vertices of a pair of features.
    ///
    /// Eq: `[001 §5.4.1]` (impact zones), `[Provot 1997]`.
    pub fn join_pair(&mut self, vertices: &[u32; 4]) {
        for &vertex in &vertices[1..] {
            self.join(vertices[0], vertex);
        }
    }

    /// All sets with more than one member: the zones.
    ///
    /// `members` gets their members set by set, sets by their smallest member and members in ascending order; `starts`
    /// gets the place of the first member of each set, and the number of all at the end. Both are cleared before.
    ///
    /// Eq: elementary.
    pub fn zones(&mut self, members: &mut Vec<u32>, starts: &mut Vec<u32>) {
        members.clear();
        starts.clear();
        let count = self.parents.len() as u32;
        members.extend(0..count);
        for number in 0..count {
            // Shortens every path to one step, so that the look-ups below need no change.
            let top = self.find(number);
            self.parents[number as usize] = top;
        }
        let parents = &self.parents;
        members.sort_unstable_by_key(|&number| (parents[number as usize], number));
        let mut kept = 0;
        let mut first = 0;
        while first < members.len() {
            let top = parents[members[first] as usize];
            let rest = &members[first..];
            let size = rest
                .iter()
                .take_while(|&&number| parents[number as usize] == top)
                .count();
            if size > 1 {
                starts.push(kept as u32);
                members.copy_within(first..first + size, kept);
                kept += size;
            }
            first += size;
        }
        members.truncate(kept);
        starts.push(kept as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::Random;

    fn drawn_pairs(random: &mut Random, count: u32) -> Vec<[u32; 4]> {
        let number = random.between(0.0, 0.4 * f64::from(count)) as usize;
        (0..number)
            .map(|_| [0; 4].map(|_| random.between(0.0, f64::from(count)) as u32))
            .collect()
    }

    fn zones_of(count: u32, pairs: &[[u32; 4]]) -> (Vec<u32>, Vec<u32>) {
        let (mut sets, mut members, mut starts) = Default::default();
        let all: &mut DisjointSets = &mut sets;
        all.reset(count);
        for pair in pairs {
            all.join_pair(pair);
        }
        all.zones(&mut members, &mut starts);
        (members, starts)
    }

    /// Labels spread along pairs until nothing changes.
    fn labels(count: u32, pairs: &[[u32; 4]]) -> Vec<u32> {
        let mut labels: Vec<u32> = (0..count).collect();
        loop {
            let before = labels.clone();
            for pair in pairs {
                let smallest = pair.iter().map(|&v| labels[v as usize]).min().unwrap();
                for &vertex in pair {
                    labels[vertex as usize] = smallest;
                }
            }
            if before == labels {
                return labels;
            }
        }
    }

    #[test]
    fn zones_are_the_connected_parts_in_any_order_of_the_pairs() {
        let mut random = Random::new(801);
        let mut several = 0;
        for _ in 0..300 {
            let count = random.between(4.0, 60.0) as u32;
            let mut pairs = drawn_pairs(&mut random, count);
            let (members, starts) = zones_of(count, &pairs);
            let labels = labels(count, &pairs);
            let mut expected = Vec::new();
            let mut expected_starts = Vec::new();
            for top in 0..count {
                let set: Vec<u32> = (0..count).filter(|&v| labels[v as usize] == top).collect();
                if set.len() > 1 {
                    expected_starts.push(expected.len() as u32);
                    expected.extend(set);
                }
            }
            expected_starts.push(expected.len() as u32);
            assert_eq!((&members, &starts), (&expected, &expected_starts));
            several += usize::from(starts.len() > 2);
            for _ in 0..pairs.len() {
                let at = |random: &mut Random| random.between(0.0, pairs.len() as f64) as usize;
                let (a, b) = (at(&mut random), at(&mut random));
                pairs.swap(a, b);
                pairs[a].reverse();
            }
            assert_eq!(zones_of(count, &pairs), (members, starts));
        }
        assert!(several > 50, "{several}");
    }

    #[test]
    fn long_chains_and_numbers_out_of_range() {
        let mut sets = DisjointSets::default();
        sets.reset(1000);
        for number in (1..1000).rev() {
            assert!(sets.join(number, number - 1));
        }
        assert!(!sets.join(17, 999));
        assert!((0..1000).all(|number| sets.find(number) == 0));
        assert!(!sets.join(3, 5000));
        assert_eq!(sets.find(5000), 5000);
        let (mut members, mut starts) = (vec![9], vec![9]);
        sets.reset(3);
        sets.zones(&mut members, &mut starts);
        assert_eq!((members, starts), (vec![], vec![0]));
    }
}
