//! Islands: bodies that contacts join, directly or through others.

use bevy::prelude::*;

use super::ContactStage;
use crate::step::implicit::ImplicitSolver;

/// Numbers the islands, tells the solvers of their bodies, and sorts the contacts by island.
///
/// Islands are numbered by their first body; within an island bodies keep their order, and contacts theirs. Bodies that the
/// solver has no elements for are not joined: contacts with them are left to the filter.
pub(super) fn join(stage: &mut ContactStage, world: &mut World) {
    if stage.contacts.is_empty() {
        return;
    }
    let list = &stage.bodies.list;
    let can_join: Vec<bool> = list
        .iter()
        .map(|body| {
            let solver = world.get::<ImplicitSolver>(body.entity);
            solver.is_some_and(ImplicitSolver::can_join)
        })
        .collect();
    stage
        .contacts
        .retain(|contact| contact.bodies.iter().all(|&body| can_join[body as usize]));
    let mut roots: Vec<u32> = (0..list.len() as u32).collect();
    let root = |roots: &[u32], mut body: u32| {
        while roots[body as usize] != body {
            body = roots[body as usize];
        }
        body
    };
    let mut is_joined = vec![false; list.len()];
    for contact in &stage.contacts {
        let [a, b] = [contact.bodies[0], contact.bodies[3]];
        let (from, to) = (root(&roots, a), root(&roots, b));
        roots[from.max(to) as usize] = from.min(to);
        is_joined[a as usize] = true;
        is_joined[b as usize] = true;
    }
    let mut number = vec![u32::MAX; list.len()];
    let mut place = vec![0; list.len()];
    let mut sizes: Vec<u32> = Vec::new();
    for body in 0..list.len() {
        if !is_joined[body] {
            continue;
        }
        let root = root(&roots, body as u32) as usize;
        if number[root] == u32::MAX {
            number[root] = sizes.len() as u32;
            sizes.push(0);
        }
        let island = number[root];
        number[body] = island;
        place[body] = sizes[island as usize];
        sizes[island as usize] += 1;
        if let Some(mut solver) = world.get_mut::<ImplicitSolver>(list[body].entity) {
            solver.island = Some(island);
            solver.is_done = true;
        }
    }
    stage
        .contacts
        .sort_by_key(|contact| number[contact.bodies[0] as usize]);
    for contact in &mut stage.contacts {
        stage.islands.push(number[contact.bodies[0] as usize]);
        contact.bodies = contact.bodies.map(|body| place[body as usize]);
    }
}
