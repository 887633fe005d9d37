//! How the bodies advance in time.

use bevy::prelude::*;

/// The integrator of the world; one for all bodies, since contact couples them.
///
/// Deformable bodies touch each other and themselves with any integrator. How it is answered is the
/// [`ContactResponse`](super::ContactResponse): with the implicit one a potential in the solve, unless told otherwise; with the
/// others Bridson's impulses on each substep.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub enum Integrator {
    /// Implicit: minimizes the incremental potential, so that any stiffness is stable at any step
    /// ([`kernel::implicit`](crate::kernel::implicit)). The default.
    Implicit {
        /// How the stages of a step are made.
        scheme: ImplicitScheme,
        /// Steps per tick; zero counts as one.
        substeps: u32,
        /// Iterations of the linear solver per stage, at most.
        iterations: u32,
        /// Residual relative to the forces of the stage at which the linear solver stops.
        tolerance: f64,
    },
    /// Symplectic Euler in its symmetric form (half a velocity step, a position step, half a velocity step: the
    /// Störmer–Verlet scheme). Second order (first in viscosity and drag) at the cost of one force evaluation per
    /// substep; keeps momentum, and energy over long times. Needs substeps below the stable step 2/ω_max.
    SymplecticEuler {
        /// How many substeps a tick takes.
        substeps: Substeps,
    },
    /// Bridson's scheme for cloth: explicit in what depends on the shape, implicit in what damps
    /// ([`kernel::cloth::mixed`](crate::kernel::cloth::mixed)). Second order (first in the resistance of the air); stable
    /// for any damping, and for substeps below 2/ω_max of the elastic forces. Takes [`StrainLimit`](crate::body::StrainLimit),
    /// which lets weak springs and long substeps pass for stiff cloth. Two force evaluations per substep, and one or two
    /// linear systems.
    Mixed {
        /// How much damping it is made for.
        damping: DampingRegime,
        /// What the implicit half steps solve.
        solve: DampingSolve,
        /// How many substeps a tick takes.
        substeps: Substeps,
    },
    /// Runge–Kutta–Fehlberg 4(5) with adaptive steps [000 §6.4]: the reference. Six force evaluations per step.
    RungeKuttaFehlberg {
        /// Accepted error per second of simulated time, relative to the size of the body (positions) and to its
        /// fastest motion (velocities).
        tolerance: f64,
        /// A step of this length is always accepted, s.
        smallest_step: f64,
        /// No step is longer, s.
        largest_step: f64,
        /// Mass matrix.
        mass: MassMatrix,
    },
}

/// The scheme of implicit integration; each is a line of the table in
/// [`kernel::implicit::schemes`](crate::kernel::implicit::schemes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub enum ImplicitScheme {
    /// Two stages, second order, no history: the default. Sheets and ropes take one step of backward Euler instead: they
    /// turn so far in a step, and resist stretch so much more than anything else, that the second stage would have to take
    /// back what the first one extrapolates.
    #[default]
    RungeKutta,
    /// One stage, first order: damps all motion that is fast against the step.
    BackwardEuler,
    /// One stage, second order (first in user forces, which it takes from the start of the step), remembers the last
    /// step; the first step after a contact is backward Euler.
    BackwardDifferences,
}

/// The variant of mixed integration; both are lines of the table in [`kernel::cloth::mixed`](crate::kernel::cloth::mixed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub enum DampingRegime {
    /// Positions move with an explicit half step of the velocity, so only damping of rates below 2 over the substep makes
    /// sense: the default. With faster damping they move against their velocity, limits of strain and folds then shake
    /// the cloth without end, and the energy account is not to be relied on.
    #[default]
    Light,
    /// Positions move with an implicit half step, at the price of a second solve: motions that damping stops within a
    /// substep come to rest where they should.
    Heavy,
}

/// What the implicit half steps of mixed integration solve.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub enum DampingSolve {
    /// All damping together, of the elements and of the air, by conjugate gradients. Bodies whose elements are not damped
    /// need no linear system.
    Full {
        /// Iterations per half step, at most.
        iterations: u32,
        /// Residual relative to the forces at which the solver stops.
        tolerance: f64,
    },
    /// The air alone, for each particle by itself, as in the source [001 §4.5]; damping of the elements is explicit and
    /// shortens the stable step.
    Pointwise,
}

impl DampingSolve {
    /// All damping, with at most 50 iterations to 1e-5 of the forces.
    pub const FULL: Self = Self::Full {
        iterations: 50,
        tolerance: 1e-5,
    };
}

/// The number of substeps per tick.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
pub enum Substeps {
    /// As many as stability asks for: the stable step of the stiffest body times `safety` (0 to 1).
    Automatic {
        /// Fraction of the stable step that is used. Default 0.5: at more,
        /// the fastest modes keep their energy only on average.
        safety: f64,
    },
    /// This many, whatever happens; zero counts as one.
    Fixed(u32),
}

/// How mass is spread over the particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
pub enum MassMatrix {
    /// The element's own mass matrix: m/10 on the diagonal, m/20 beside it [000 §5.4]. Solves a sparse system.
    #[default]
    Consistent,
    /// A quarter of each element's mass on each corner.
    Lumped,
}

impl Integrator {
    /// Implicit with the two-stage scheme, one step per tick.
    pub const IMPLICIT: Self = Self::Implicit {
        scheme: ImplicitScheme::RungeKutta,
        substeps: 1,
        iterations: 20,
        tolerance: 3e-2,
    };
    /// Implicit with backward Euler, two steps per tick.
    pub const BACKWARD_EULER: Self = Self::Implicit {
        scheme: ImplicitScheme::BackwardEuler,
        substeps: 2,
        iterations: 20,
        tolerance: 3e-2,
    };
    /// Implicit with second-order backward differences, two steps per tick.
    pub const BACKWARD_DIFFERENCES: Self = Self::Implicit {
        scheme: ImplicitScheme::BackwardDifferences,
        substeps: 2,
        iterations: 20,
        tolerance: 3e-2,
    };
    /// Implicit with backward Euler, one step per tick and a rough solution: for scenery. Motions faster than the tick
    /// are damped, and stiff cloth stretches by some per cent.
    pub const CHEAP: Self = Self::Implicit {
        scheme: ImplicitScheme::BackwardEuler,
        substeps: 1,
        iterations: 8,
        tolerance: 0.1,
    };
    /// Symplectic Euler with automatic substeps.
    pub const SYMPLECTIC_EULER: Self = Self::SymplecticEuler {
        substeps: Substeps::Automatic { safety: 0.5 },
    };
    /// Mixed for light damping, all of which is solved for, with automatic substeps.
    pub const MIXED: Self = Self::Mixed {
        damping: DampingRegime::Light,
        solve: DampingSolve::FULL,
        substeps: Substeps::Automatic { safety: 0.5 },
    };
    /// Runge–Kutta–Fehlberg with the consistent mass matrix and a tolerance of 1e-6; 1e-2 in single precision, where
    /// the rounding of positions alone makes forces that uncertain. Reference runs belong in double precision.
    pub const RUNGE_KUTTA_FEHLBERG: Self = Self::RungeKuttaFehlberg {
        tolerance: if cfg!(feature = "f64") { 1e-6 } else { 1e-2 },
        smallest_step: 1e-6,
        largest_step: 1.0 / 120.0,
        mass: MassMatrix::Consistent,
    };

    /// The names that [`from_name`](Self::from_name) knows.
    pub const NAMES: [&'static str; 6] = [
        "implicit",
        "backward-euler",
        "bdf2",
        "symplectic-euler",
        "mixed",
        "rkf45",
    ];

    /// The integrator of a name, with default settings; `None` for a name that is not in [`NAMES`](Self::NAMES).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "implicit" => Some(Self::IMPLICIT),
            "backward-euler" => Some(Self::BACKWARD_EULER),
            "bdf2" => Some(Self::BACKWARD_DIFFERENCES),
            "symplectic-euler" => Some(Self::SYMPLECTIC_EULER),
            "mixed" => Some(Self::MIXED),
            "rkf45" => Some(Self::RUNGE_KUTTA_FEHLBERG),
            _ => None,
        }
    }

    /// The name of this integrator.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Implicit { scheme, .. } => match scheme {
                ImplicitScheme::RungeKutta => "implicit",
                ImplicitScheme::BackwardEuler => "backward-euler",
                ImplicitScheme::BackwardDifferences => "bdf2",
            },
            Self::SymplecticEuler { .. } => "symplectic-euler",
            Self::Mixed { .. } => "mixed",
            Self::RungeKuttaFehlberg { .. } => "rkf45",
        }
    }

    /// The mass matrix that kinetic energy is measured with.
    #[must_use]
    pub fn mass_matrix(&self) -> MassMatrix {
        match self {
            Self::Implicit { .. } | Self::SymplecticEuler { .. } | Self::Mixed { .. } => {
                MassMatrix::Lumped
            }
            Self::RungeKuttaFehlberg { mass, .. } => *mass,
        }
    }
}

impl Default for Integrator {
    fn default() -> Self {
        Self::IMPLICIT
    }
}

/// Acceleration of gravity, m/s². Default (0, −9.81, 0).
#[derive(Resource, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Resource)]
pub struct PliantGravity(pub Vec3);

impl Default for PliantGravity {
    fn default() -> Self {
        Self(Vec3::new(0.0, -9.81, 0.0))
    }
}
