//! Pairs of features of triangle surfaces, and their closest points.

use nalgebra::Vector3;

use super::edge_edge::closest_points_of_edges;
use super::vertex_face::closest_points_of_vertex_and_face;
use crate::kernel::scalar::Scalar;

/// Distances at most this large, m, have no direction.
const SMALLEST_DISTANCE: f64 = 1e-18;

/// The two kinds of pairs by which triangle surfaces touch. Either has four vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairKind {
    /// A vertex x₀ and a face x₁, x₂, x₃.
    VertexFace,
    /// An edge x₀, x₁ and an edge x₂, x₃.
    EdgeEdge,
}

impl PairKind {
    /// How many of the four vertices belong to the first feature.
    ///
    /// Eq: elementary.
    #[inline]
    #[must_use]
    pub const fn first_count(self) -> usize {
        match self {
            Self::VertexFace => 1,
            Self::EdgeEdge => 2,
        }
    }

    /// Closest points of the pair, from its vertices in m: [`closest_points_of_vertex_and_face`] or
    /// [`closest_points_of_edges`].
    ///
    /// Eq: `[Ericson 2005]`.
    #[inline]
    #[must_use]
    pub fn closest_points<T: Scalar>(self, vertices: &[Vector3<T>; 4]) -> ClosestPoints<T> {
        match self {
            Self::VertexFace => closest_points_of_vertex_and_face(vertices),
            Self::EdgeEdge => closest_points_of_edges(vertices),
        }
    }
}

/// The closest points of two features, as weights of the four vertices.
///
/// ```text
/// p = Σ wᵢ xᵢ over the first feature,   q = −Σ wᵢ xᵢ over the second,   p − q = Σ wᵢ xᵢ
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoints<T> {
    /// wᵢ: the barycentric coordinates of p in the first feature, and minus those of q in the second. They add up to
    /// one and minus one. Exactly zero for vertices that do not belong to the closest features: a vertex closest to
    /// an edge of a face leaves out the third corner.
    pub weights: [T; 4],
    /// p − q, m: from the second feature to the first.
    pub difference: Vector3<T>,
}

impl<T: Scalar> ClosestPoints<T> {
    /// Distance of the features, m.
    ///
    /// ```text
    /// d = |p − q|
    /// ```
    /// Eq: elementary.
    #[inline(always)]
    pub fn distance(&self) -> T {
        self.difference.dot(&self.difference).simd_sqrt()
    }

    /// Unit vector n from the second feature to the first; zero where they touch.
    ///
    /// Gives the gradients of the distance, ∂d/∂xᵢ = wᵢ n: the weights are stationary, so that they count as constant.
    ///
    /// Eq: elementary (envelope theorem).
    #[inline(always)]
    pub fn direction(&self) -> Vector3<T> {
        let distance = self.distance();
        let apart = distance.simd_gt(crate::kernel::real(SMALLEST_DISTANCE));
        self.difference * (T::one() / distance).select(apart, T::zero())
    }
}

/// Two points of two features, the closer of several such candidates.
#[derive(Clone, Copy)]
pub(super) struct Candidate<T> {
    closest: ClosestPoints<T>,
    square: T,
}

impl<T: Scalar> Candidate<T> {
    #[inline(always)]
    pub(super) fn new(weights: [T; 4], difference: Vector3<T>) -> Self {
        Self {
            closest: ClosestPoints {
                weights,
                difference,
            },
            square: difference.dot(&difference),
        }
    }

    /// This one, or the other where it is allowed and strictly closer.
    #[inline(always)]
    pub(super) fn or(self, other: Self, allowed: T::SimdBool) -> Self {
        let closer = other.square.simd_lt(self.square) & allowed;
        Self {
            closest: ClosestPoints {
                weights: std::array::from_fn(|i| {
                    other.closest.weights[i].select(closer, self.closest.weights[i])
                }),
                difference: Vector3::from_fn(|axis, _| {
                    other.closest.difference[axis].select(closer, self.closest.difference[axis])
                }),
            },
            square: other.square.select(closer, self.square),
        }
    }

    #[inline(always)]
    pub(super) fn closest(self) -> ClosestPoints<T> {
        self.closest
    }
}
