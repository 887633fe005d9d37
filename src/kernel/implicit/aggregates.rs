//! Patches of neighbouring rows, each of which moves rigidly in the coarse space.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nalgebra::Vector3;

/// Rows per patch that are aimed at.
const ROWS_PER_PATCH: usize = 48;

/// Most multiplications per row of the matrix that factoring the coarse matrix may take: about what an iteration of
/// the solver takes ten times. A compact body gets larger patches than a long one.
const WORK_PER_ROW: usize = 1500;

/// Separate pieces of a body that get patches of their own.
const MOST_PIECES: usize = 192;

/// Patches of rows, and an order of the rows in which each patch is a range.
#[derive(Clone, Debug, Default)]
pub struct Aggregates {
    /// The particle of each row.
    pub particles: Vec<u32>,
    /// Where the rows of each patch start; one more entry than patches.
    pub starts: Vec<u32>,
}

impl Aggregates {
    /// Cuts a graph of particles into compact, connected patches of about equal size.
    ///
    /// The seeds of the patches are as far apart as the graph allows, each particle belongs to the nearest one along
    /// the edges, and then the seeds move to the middle of their patches once. Neighbouring patches get neighbouring
    /// numbers, which keeps the envelope of the coarse matrix small. Separate pieces of the graph share a patch only
    /// where there are hundreds.
    ///
    /// # Arguments
    /// * `positions` – rest positions, m
    /// * `neighbours` – where the neighbours of each particle start (one more entry than particles), and the neighbours
    ///
    /// Eq: farthest-point sampling, `[Gonzalez 1985]`; one round of `[Lloyd 1982]`.
    #[must_use]
    pub fn new(positions: &[Vector3<f64>], neighbours: (&[u32], &[u32])) -> Self {
        let count = positions.len();
        if count == 0 {
            return Self {
                particles: Vec::new(),
                starts: vec![0],
            };
        }
        let graph = Graph {
            positions,
            starts: neighbours.0,
            neighbours: neighbours.1,
        };
        let mut wanted = count.div_ceil(ROWS_PER_PATCH);
        let (owners, order) = loop {
            let mut seeds = graph.spread(wanted);
            let owners = graph.nearest(&seeds).1;
            graph.center(&mut seeds, &owners);
            let owners = graph.nearest(&seeds).1;
            let adjacent = graph.adjacent(seeds.len(), &owners);
            let order = breadth_first_order(&adjacent);
            if factor_work(&adjacent, &order) <= WORK_PER_ROW * count || wanted < 2 {
                break (owners, order);
            }
            wanted = wanted * 3 / 4;
        };
        let mut members = vec![Vec::new(); order.len()];
        for (particle, &owner) in (0..).zip(&owners) {
            members[owner as usize].push(particle);
        }
        let mut aggregates = Self {
            particles: Vec::with_capacity(count),
            starts: vec![0],
        };
        for patch in order {
            if members[patch].is_empty() {
                continue;
            }
            aggregates.particles.append(&mut members[patch]);
            aggregates.starts.push(aggregates.particles.len() as u32);
        }
        aggregates
    }

    /// Number of patches.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no patch.
    ///
    /// Eq: elementary.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

struct Graph<'a> {
    positions: &'a [Vector3<f64>],
    starts: &'a [u32],
    neighbours: &'a [u32],
}

/// A distance in the queue: positive floats sort as their bits do.
type Queued = Reverse<(u64, u32)>;

impl Graph<'_> {
    fn around(&self, particle: u32) -> &[u32] {
        let particle = particle as usize;
        &self.neighbours[self.starts[particle] as usize..self.starts[particle + 1] as usize]
    }

    /// Lowers distances and owners by what is nearer to a new seed.
    fn relax(&self, seed: u32, owner: u32, distances: &mut [f64], owners: &mut [u32]) {
        let mut queue: BinaryHeap<Queued> = BinaryHeap::new();
        distances[seed as usize] = 0.0;
        owners[seed as usize] = owner;
        queue.push(Reverse((0, seed)));
        while let Some(Reverse((bits, particle))) = queue.pop() {
            let distance = f64::from_bits(bits);
            if distance > distances[particle as usize] {
                continue;
            }
            for &neighbour in self.around(particle) {
                let edge = self.positions[particle as usize] - self.positions[neighbour as usize];
                let through = distance + edge.norm();
                if through < distances[neighbour as usize] {
                    distances[neighbour as usize] = through;
                    owners[neighbour as usize] = owner;
                    queue.push(Reverse((through.to_bits(), neighbour)));
                }
            }
        }
    }

    /// Seeds as far from each other as possible; more than asked for where there are more separate pieces.
    fn spread(&self, count: usize) -> Vec<u32> {
        let mut distances = vec![f64::INFINITY; self.positions.len()];
        let mut owners = vec![0; self.positions.len()];
        let mut seeds = Vec::new();
        loop {
            let farthest = (0..self.positions.len())
                .max_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(b.cmp(&a)))
                .unwrap_or(0);
            let distance = distances[farthest];
            let is_enough = seeds.len() >= count && distance.is_finite();
            if distance == 0.0 || is_enough || seeds.len() >= count.max(MOST_PIECES) {
                return seeds;
            }
            self.relax(
                farthest as u32,
                seeds.len() as u32,
                &mut distances,
                &mut owners,
            );
            seeds.push(farthest as u32);
        }
    }

    /// Distance to and index of the nearest seed.
    fn nearest(&self, seeds: &[u32]) -> (Vec<f64>, Vec<u32>) {
        let mut distances = vec![f64::INFINITY; self.positions.len()];
        let mut owners = vec![0; self.positions.len()];
        for (owner, &seed) in (0..).zip(seeds) {
            self.relax(seed, owner, &mut distances, &mut owners);
        }
        (distances, owners)
    }

    /// Moves each seed to the particle of its patch that is nearest to the patch's center.
    fn center(&self, seeds: &mut [u32], owners: &[u32]) {
        let mut sums = vec![(Vector3::zeros(), 0.0); seeds.len()];
        for (position, &owner) in self.positions.iter().zip(owners) {
            let sum = &mut sums[owner as usize];
            sum.0 += position;
            sum.1 += 1.0;
        }
        let mut best = vec![f64::INFINITY; seeds.len()];
        for (particle, &owner) in owners.iter().enumerate() {
            let (sum, count) = &sums[owner as usize];
            let distance = (self.positions[particle] - sum / *count).norm_squared();
            if distance < best[owner as usize] {
                best[owner as usize] = distance;
                seeds[owner as usize] = particle as u32;
            }
        }
    }

    /// The neighbours of each patch, ascending.
    fn adjacent(&self, patches: usize, owners: &[u32]) -> Vec<Vec<u32>> {
        let mut adjacent = vec![Vec::new(); patches];
        for (particle, &owner) in (0..).zip(owners) {
            for &neighbour in self.around(particle) {
                let other = owners[neighbour as usize];
                if other != owner && !adjacent[owner as usize].contains(&other) {
                    adjacent[owner as usize].push(other);
                }
            }
        }
        for list in &mut adjacent {
            list.sort_unstable();
        }
        adjacent
    }
}

/// The patches, breadth first from one at an end, piece by piece.
fn breadth_first_order(adjacent: &[Vec<u32>]) -> Vec<usize> {
    let walk = |start: usize, seen: &mut Vec<bool>, order: &mut Vec<usize>| {
        let mut next = order.len();
        order.push(start);
        seen[start] = true;
        while next < order.len() {
            for &other in &adjacent[order[next]] {
                if !seen[other as usize] {
                    seen[other as usize] = true;
                    order.push(other as usize);
                }
            }
            next += 1;
        }
    };
    let mut seen = vec![false; adjacent.len()];
    let mut order = Vec::with_capacity(adjacent.len());
    for start in 0..adjacent.len() {
        if !seen[start] {
            // The last one found from anywhere is at an end.
            let mut trial = Vec::new();
            walk(start, &mut seen.clone(), &mut trial);
            walk(
                trial.last().copied().unwrap_or(start),
                &mut seen,
                &mut order,
            );
        }
    }
    order
}

/// Multiplications that factoring the coarse matrix takes, in its envelope.
fn factor_work(adjacent: &[Vec<u32>], order: &[usize]) -> usize {
    let mut rank = vec![0; order.len()];
    for (place, &patch) in order.iter().enumerate() {
        rank[patch] = place;
    }
    order
        .iter()
        .enumerate()
        .map(|(place, &patch)| {
            let first = adjacent[patch].iter().map(|&other| rank[other as usize]);
            let width = 6 * (place + 1 - first.fold(place, usize::min));
            6 * width * width / 2
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of particles along x, cut in two.
    fn chain(count: u32) -> (Vec<Vector3<f64>>, Vec<u32>, Vec<u32>) {
        let positions = (0..count)
            .map(|i| Vector3::new(f64::from(i), 0.0, 0.0))
            .collect();
        let (mut starts, mut neighbours) = (vec![0], Vec::new());
        for i in 0..count {
            let joined = |a: u32, b: u32| a / 100 == b / 100;
            neighbours.extend(
                [i.wrapping_sub(1), i + 1]
                    .iter()
                    .filter(|&&j| j < count && joined(i, j)),
            );
            starts.push(neighbours.len() as u32);
        }
        (positions, starts, neighbours)
    }

    #[test]
    fn every_particle_is_in_one_patch_and_patches_are_connected_ranges() {
        let (positions, starts, neighbours) = chain(230);
        let aggregates = Aggregates::new(&positions, (&starts, &neighbours));
        let mut particles = aggregates.particles.clone();
        particles.sort_unstable();
        assert_eq!(particles, (0..230).collect::<Vec<u32>>());
        assert!(aggregates.len() >= 5);
        for patch in 0..aggregates.len() {
            let rows = aggregates.starts[patch] as usize..aggregates.starts[patch + 1] as usize;
            let members = &aggregates.particles[rows];
            assert!(members.windows(2).all(|pair| pair[1] == pair[0] + 1));
            assert_eq!(members[0] / 100, members[members.len() - 1] / 100);
            assert!(members.len() < 100);
        }
    }

    #[test]
    fn nothing_and_one_particle_are_fine() {
        assert!(Aggregates::new(&[], (&[0], &[])).is_empty());
        assert_eq!(
            Aggregates::new(&[Vector3::zeros()], (&[0, 0], &[])).len(),
            1
        );
    }
}
