//! A matrix of rank one beside the sparse one.

use super::{Freedom, Row, dot};
use crate::kernel::scalar::{Single, real};

/// A matrix of rank one, `w g gᵀ`: what couples all rows at once, as the gas in a balloon does.
#[derive(Clone, Debug, Default)]
pub struct OuterProduct<T> {
    /// Weight w, not negative; zero for no such matrix.
    pub weight: f64,
    /// The vector g, by row; as many rows as the matrix has where the weight is not zero.
    pub vector: Vec<Row<T>>,
}

impl<T: Single> OuterProduct<T> {
    /// Adds `w g (g · p)`, in the free directions of each row, to `product`; returns `w (g · p)²`.
    ///
    /// `direction` p must be free in all rows. Nothing happens without a weight, or if the lengths differ.
    ///
    /// Eq: elementary.
    pub fn multiply(
        &self,
        freedoms: &[Freedom<T>],
        direction: &[Row<T>],
        product: &mut [Row<T>],
    ) -> f64 {
        if self.weight <= 0.0 || self.vector.len() != product.len() {
            return 0.0;
        }
        let pairs = self.vector.iter().zip(direction);
        let along: f64 = pairs
            .map(|(vector, direction)| dot(vector, direction))
            .sum();
        let scale: T = real(self.weight * along);
        for ((product, vector), freedom) in product.iter_mut().zip(&self.vector).zip(freedoms) {
            let mut force = vector.map(|entry| entry * scale);
            freedom.filter(&mut force);
            for lane in 0..4 {
                product[lane] += force[lane];
            }
        }
        self.weight * along * along
    }
}
