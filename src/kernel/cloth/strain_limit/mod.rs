//! Limits of strain: what keeps weak springs from stretching without end.
//!
//! Springs that are weak enough for a long step stretch far beyond what any fabric does, most of all next to pins.
//! Three remedies, each a pass over the elements after the forces:
//!
//! | method | acts on | linear momentum | angular momentum |
//! |---|---|---|---|
//! | [`position::correct_positions`] `[Provot 1995]` | positions | kept for equal masses only | not kept |
//! | [`velocity::limit_strain`], [`velocity::limit_strain_rate`] `[001 §4.3, §4.4]` | velocities | kept | kept along the current line |
//! | [`triangle::limit_triangle`] `[Wang 2010]` | positions or velocities | kept | kept |
//!
//! "Kept" is for free points and up to rounding; a fixed point takes up what it must. All work element by element in
//! the order of the slices, each with what the one before it left (Gauss–Seidel): the same input gives the same bits,
//! but a few sweeps do not reach every limit, and each pass over springs tells what is left in its [`Report`].
//!
//! # Springs or triangles
//!
//! A spring limits its own direction and no other; a triangle limits its principal stretches, wherever they point, and
//! so also shear between the springs. But it moves three corners at once and undoes more of what its neighbours did.
//!
//! Measured on a sheet of 17×17 points that hangs from two corners, as the root mean square of what the larger
//! principal stretches have above 1.1, after sweeps without a limit of compression; the start is 100 %:
//!
//! | motion in the step | springs, 2 sweeps | triangles, 2 sweeps | springs, 100, current / predicted line | triangles, 100 |
//! |---|---|---|---|---|
//! | stretch up to 20 % | 75 % | 76 % | 45 % / 33 % | 19 % |
//! | the same with shear | 86 % | 91 % | 67 % / 47 % | 26 % |
//! | three times as much of both | 118 % | 94 % | 122 % / 43 % | 35 % |
//!
//! With two sweeps triangles are **no better** than springs, except where a violent step shears the sheet; there
//! springs make it worse. Neither comes near the limit. With many sweeps triangles go further. So: springs for one or
//! two sweeps of a step that is not too long, triangles for many sweeps or for strong shear.

pub mod position;
pub mod triangle;
pub mod velocity;

#[cfg(test)]
mod comparison;

pub use position::{PositionCorrection, correct_positions};
pub use triangle::limit_triangle;
pub use velocity::{
    LengthBounds, Line, StrainLimit, StrainRateLimit, limit_strain, limit_strain_rate,
};

use crate::kernel::scalar::Single;

/// Springs between points.
///
/// A spring whose end does not exist, or whose two ends are one point, is left out; so is one without a rest length.
#[derive(Clone, Copy, Debug)]
pub struct Springs<'a, T: Single> {
    /// The two points of each spring.
    pub ends: &'a [[u32; 2]],
    /// l⁰ of each, m.
    pub rest_lengths: &'a [T],
}

impl<T: Single> Springs<'_, T> {
    /// Springs that have both ends and a rest length.
    fn count(&self) -> usize {
        self.ends.len().min(self.rest_lengths.len())
    }

    /// Ends and rest length of a spring among `points` points.
    fn get(&self, spring: usize, points: usize) -> Option<([usize; 2], T)> {
        let [i, j] = *self.ends.get(spring)?;
        let (ends, rest_length) = ([i as usize, j as usize], *self.rest_lengths.get(spring)?);
        let valid = i != j && ends[0] < points && ends[1] < points && rest_length > T::zero();
        valid.then_some((ends, rest_length))
    }
}

/// The order in which a sweep visits the springs.
///
/// What comes first is corrected with less knowledge of the rest, which pulls a symmetric cloth to one side; sweeps of
/// both directions make up for it. A caller that went one way in one step and the other way in the next would shake
/// what hangs still, since the unfinished corrections of the two differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sweep {
    /// In the order of the slices, as in the source.
    #[default]
    Forward,
    /// In the opposite order.
    Backward,
    /// Forward in the first sweep, backward in the second, and so on.
    Alternating,
}

impl Sweep {
    /// The element that is visited as number `turn` of `count` in the sweep of the given number.
    pub(crate) fn element(self, sweep: u32, turn: usize, count: usize) -> usize {
        let is_backward = match self {
            Self::Forward => false,
            Self::Backward => true,
            Self::Alternating => sweep % 2 == 1,
        };
        if is_backward { count - 1 - turn } else { turn }
    }
}

/// What a pass did, and what it left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report<T> {
    /// Corrections made; a spring that was corrected in two sweeps counts twice.
    pub corrected: usize,
    /// Largest excess over a limit after the last sweep, as a share of the length that the limit refers to.
    pub violation: T,
}
