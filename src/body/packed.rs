//! Elements of one kind, several side by side.

use simba::simd::SimdValue;

use super::tetrahedra::{LANES, Lanes};
use crate::Real;

/// Elements computed side by side: their particles by corner and lane, and what they are at rest.
///
/// The lanes left over in a body's last block repeat its first element without any force.
#[derive(Clone, Debug)]
pub(crate) struct Packed<const N: usize, Rest> {
    pub corners: [[u32; LANES]; N],
    pub rest: Rest,
}

/// What an element is at rest, and the same for several elements side by side.
pub(crate) trait Pack: Copy {
    /// Every number of `Self` in lanes.
    type Lanes;

    /// Several elements side by side.
    fn pack(elements: &[Self; LANES]) -> Self::Lanes;

    /// The same element without any force.
    fn without_force(self) -> Self;
}

/// Packs all elements of a kind.
pub(crate) fn pack<const N: usize, Rest: Pack>(
    corners: &[[u32; N]],
    rest: &[Rest],
) -> Vec<Packed<N, Rest::Lanes>> {
    let count = corners.len();
    (0..count)
        .step_by(LANES)
        .map(|start| {
            let index = |lane: usize| {
                if start + lane < count {
                    start + lane
                } else {
                    0
                }
            };
            let elements = std::array::from_fn(|lane| {
                let element = rest[index(lane)];
                if start + lane < count {
                    element
                } else {
                    element.without_force()
                }
            });
            Packed {
                corners: std::array::from_fn(|corner| {
                    std::array::from_fn(|lane| corners[index(lane)][corner])
                }),
                rest: Rest::pack(&elements),
            }
        })
        .collect()
}

/// One number of several elements.
pub(crate) fn lanes<E>(elements: &[E; LANES], number: impl Fn(&E) -> Real) -> Lanes {
    let mut lanes = Lanes::splat(0.0);
    for (lane, element) in elements.iter().enumerate() {
        lanes.replace(lane, number(element));
    }
    lanes
}
