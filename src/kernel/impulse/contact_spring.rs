//! Liesenfeld's contact springs: features that have crossed are pulled back to where they touched.
//!
//! A spring joins two points of the surfaces, its anchors, which coincided at the moment of contact. As in the source, it
//! pulls while the features penetrate each other. Two faults that the source reports are mended:
//!
//! * its bodies stick together, since anchors hold tangentially as hard as along the normal: here the tangential pull is
//!   limited by Coulomb's cone, and where it would exceed it, the **anchor slides** ([`ContactSpring::slid`]);
//! * its springs can outlive their contact when a vertex comes out through a neighbouring face: here the spring **moves
//!   on to the nearest face** ([`ContactSpring::moved_to`], [`nearest_face`](super::nearest_face)), whose side decides.
//!
//! In every step: slide, change the face if the vertex is nearer to another, drop the springs that are
//! [over](ContactSpring::is_over), then take the forces. Springs let features cross a little: they do not keep a state
//! free of intersections.

use nalgebra::Vector3;

use crate::kernel::proximity::PairKind;
use crate::kernel::proximity::vertex_face::closest_points_of_vertex_and_face;
use crate::kernel::scalar::Single;

/// Strength of contact springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringLaw<T> {
    /// k, N/m, not negative.
    pub stiffness: T,
    /// μ, dimensionless, not negative: the tangential pull is at most μ times the normal one. Infinite for the
    /// source's own springs, which never slide.
    pub friction: T,
}

/// A spring between two features that have crossed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSpring<T> {
    /// The kind of the pair.
    pub kind: PairKind,
    /// wᵢ of the anchors, as in [`ClosestPoints`](crate::kernel::proximity::ClosestPoints): a − b = Σ wᵢ xᵢ.
    pub weights: [T; 4],
    /// δ = ±1: the sign of (e₁ × e₂)·(a − b) before the contact. One for faces whose normal points outward.
    pub side: T,
}

impl<T: Single> ContactSpring<T> {
    /// Two edge vectors that span the directions in which the anchors can slide.
    fn edges(&self, vertices: &[Vector3<T>; 4]) -> [Vector3<T>; 2] {
        let [x0, x1, x2, x3] = vertices;
        match self.kind {
            PairKind::VertexFace => [x2 - x1, x3 - x1],
            PairKind::EdgeEdge => [x1 - x0, x3 - x2],
        }
    }

    /// Unit normal n = δ e₁ × e₂/|e₁ × e₂| towards the side of the first feature; zero for parallel edges.
    ///
    /// `vertices` in m; e₁ and e₂ are two edges of the face, or both edges.
    ///
    /// Eq: `[000 §7.2]`.
    #[must_use]
    pub fn normal(&self, vertices: &[Vector3<T>; 4]) -> Vector3<T> {
        let [first, second] = self.edges(vertices);
        let normal = first.cross(&second).try_normalize(T::zero());
        normal.map_or(Vector3::zeros(), |normal| normal * self.side)
    }

    /// Extension a − b of the spring, m.
    ///
    /// Eq: `[000 §7.4.1]`.
    #[must_use]
    pub fn extension(&self, vertices: &[Vector3<T>; 4]) -> Vector3<T> {
        let pairs = self.weights.iter().zip(vertices);
        pairs.fold(Vector3::zeros(), |sum, (&weight, vertex)| {
            sum + vertex * weight
        })
    }

    /// Gap along the normal, m; negative while the features penetrate each other.
    ///
    /// ```text
    /// g = n·(a − b)
    /// ```
    /// The same wherever the anchors lie on their features, but for rounding: n is at right angles to all of them.
    ///
    /// Eq: `[000 §7.2]`, divided by |e₁ × e₂|.
    #[must_use]
    pub fn gap(&self, vertices: &[Vector3<T>; 4]) -> T {
        self.normal(vertices).dot(&self.extension(vertices))
    }

    /// Whether the spring is to be removed: the gap is more than `release` (m, small), or edges do not cross any more.
    ///
    /// Edges have slipped off each other when their closest points are at an end. A vertex that leaves its face is not
    /// over: [`ContactSpring::moved_to`] the nearest face first.
    ///
    /// Eq: `[000 §7.4.3]`; the end of edges is added.
    #[must_use]
    pub fn is_over(&self, vertices: &[Vector3<T>; 4], release: T) -> bool {
        let closest = self.kind.closest_points(vertices);
        let off_end = self.kind == PairKind::EdgeEdge
            && closest.weights.iter().any(|&weight| weight == T::zero());
        // Written so that a number that is not one ends the spring.
        let holds = self.gap(vertices) <= release;
        off_end || !holds
    }

    /// The spring with its anchors moved so far along the features that the tangential pull is within the cone.
    ///
    /// ```text
    /// s = a − b,   g = n·s,   t = s − g n
    /// |t| > μ |g|:   Δw with Σ Δwᵢ xᵢ = (μ |g|/|t| − 1) t
    /// ```
    /// After it, the pull −k s has no more than μ times its normal part across, and still lies on the line through both
    /// anchors: forces keep the angular momentum. Where the gap is open, the anchors come to lie above each other.
    /// Anchors may leave the edge or the face; see [`ContactSpring::is_over`] and [`ContactSpring::moved_to`]. Without
    /// a normal, nothing slides.
    ///
    /// Eq: Coulomb's cone on `[000 §7.4.1]`, which has none.
    #[must_use]
    pub fn slid(&self, vertices: &[Vector3<T>; 4], friction: T) -> Self {
        let normal = self.normal(vertices);
        let extension = self.extension(vertices);
        let gap = normal.dot(&extension);
        let tangential = extension - normal * gap;
        let (length, limit) = (tangential.norm(), friction * (-gap).max(T::zero()));
        let slides = length > limit && normal != Vector3::zeros();
        if !slides {
            return *self;
        }
        let change = tangential * (limit / length - T::one());
        let [first, second] = self.edges(vertices);
        let cross = first.cross(&second);
        let square = cross.norm_squared();
        let along_first = change.cross(&second).dot(&cross) / square;
        let along_second = first.cross(&change).dot(&cross) / square;
        if !(along_first.is_finite() && along_second.is_finite()) {
            return *self;
        }
        let mut slid = *self;
        match self.kind {
            // p − q changes by α₂ e₁ + α₃ e₂, shared by the corners of the face.
            PairKind::VertexFace => {
                slid.weights[1] -= along_first + along_second;
                slid.weights[2] += along_first;
                slid.weights[3] += along_second;
            }
            PairKind::EdgeEdge => {
                slid.weights[0] -= along_first;
                slid.weights[1] += along_first;
                slid.weights[2] -= along_second;
                slid.weights[3] += along_second;
            }
        }
        slid
    }

    /// The spring of a vertex, moved from its face to another.
    ///
    /// ```text
    /// b' = the point of the new face closest to b
    /// ```
    /// `vertices` with the old face and `face` the new one, m. The side is kept: the new face must be turned like the
    /// old one. A spring between edges stays as it is.
    ///
    /// Eq: elementary; `[000 §10.1.3]` names the fault.
    #[must_use]
    pub fn moved_to(&self, vertices: &[Vector3<T>; 4], face: &[Vector3<T>; 3]) -> Self {
        if self.kind == PairKind::EdgeEdge {
            return *self;
        }
        let anchor = vertices[0] * self.weights[0] - self.extension(vertices);
        let closest = closest_points_of_vertex_and_face(&[anchor, face[0], face[1], face[2]]);
        Self {
            weights: closest.weights,
            ..*self
        }
    }

    /// The part of the extension that pulls: none while the gap is open, and no more across than the cone allows, m.
    fn effective_extension(&self, vertices: &[Vector3<T>; 4], friction: T) -> Vector3<T> {
        let normal = self.normal(vertices);
        let extension = self.extension(vertices);
        let gap = normal.dot(&extension);
        // Written so that a number that is not one pulls nothing.
        let penetrates = gap < T::zero();
        if !penetrates {
            return Vector3::zeros();
        }
        let tangential = extension - normal * gap;
        let (length, limit) = (tangential.norm(), -gap * friction);
        if length > limit {
            normal * gap + tangential * (limit / length)
        } else {
            extension
        }
    }

    /// Forces of the spring on the four vertices, N; they add up to zero.
    ///
    /// ```text
    /// f = −k (a − b),   Fᵢ = wᵢ f
    /// ```
    /// The pull is cut off at the cone; after [`ContactSpring::slid`] it is within already, and f lies along a − b. Zero
    /// while the gap is open, for parallel edges, and where a number is not finite.
    ///
    /// Eq: `[000 §7.4.1]`.
    #[must_use]
    pub fn forces(&self, vertices: &[Vector3<T>; 4], law: &SpringLaw<T>) -> [Vector3<T>; 4] {
        let force = self.effective_extension(vertices, law.friction) * -law.stiffness;
        self.weights.map(|weight| force * weight)
    }

    /// Energy stored in the spring, J.
    ///
    /// ```text
    /// E = ½ k |a − b|²
    /// ```
    /// Of the part that pulls, as in [`ContactSpring::forces`]. Sliding lowers it: that is the work of friction. The
    /// source leaves it out of its account of energies.
    ///
    /// Eq: `[000 §7.4.1]`, integrated.
    #[must_use]
    pub fn energy(&self, vertices: &[Vector3<T>; 4], law: &SpringLaw<T>) -> T {
        let extension = self.effective_extension(vertices, law.friction);
        extension.norm_squared() * law.stiffness * crate::kernel::real(0.5)
    }
}

#[cfg(test)]
mod tests;
