//! A fingerprint of the state of all bodies.

use bevy::prelude::*;

use crate::body::Particles;

/// A 64-bit hash (FNV-1a) of the bits of all positions and velocities, bodies in the order of their entities.
///
/// Two runs of the same input give the same hash on one machine, for any number of threads.
pub fn state_hash(world: &mut World) -> u64 {
    let mut bodies: Vec<(Entity, &Particles)> =
        world.query::<(Entity, &Particles)>().iter(world).collect();
    bodies.sort_unstable_by_key(|(entity, _)| *entity);
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for (_, particles) in bodies {
        for number in particles
            .positions
            .iter()
            .chain(&particles.velocities)
            .flat_map(|v| v.iter())
        {
            for byte in number.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
    }
    hash
}
