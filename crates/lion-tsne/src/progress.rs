//! Long work reports to an observer, who may stop it: progress, cancellation and early stopping are one mechanism.

use std::fmt;
use std::ops::ControlFlow;

/// The stages of a fit, in order, and what else takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Checking rows, merging duplicates, PCA.
    Preprocess,
    /// Nearest neighbours of every row.
    Neighbours,
    /// Perplexity search and symmetric affinities.
    Affinities,
    /// The first layout.
    Initialise,
    /// Gradient descent.
    Optimise,
    /// The radii and the power of placing.
    Parameters,
    /// Building another way of placing: solving a system, training a network.
    Build,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Preprocess => "preprocess",
            Stage::Neighbours => "neighbours",
            Stage::Affinities => "affinities",
            Stage::Initialise => "initialise",
            Stage::Optimise => "optimise",
            Stage::Parameters => "parameters",
            Stage::Build => "build",
        })
    }
}

/// One report of a running fit.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Where the work is.
    pub stage: Stage,
    /// Units of this stage done (rows, iterations of `Optimise`, epochs of `Build`).
    pub done: u64,
    /// Units of this stage in all.
    pub total: u64,
    /// KL divergence as of this iteration, where it was computed.
    pub kl: Option<f64>,
    /// Norm of the gradient, where it was computed.
    pub gradient_norm: Option<f64>,
    /// Something chosen or found that a person may want to know ("exact neighbours: 60000 rows").
    pub note: Option<&'a str>,
}

impl Progress<'_> {
    /// So much of a stage is done.
    pub fn of(stage: Stage, done: u64, total: u64) -> Self {
        Self { stage, done, total, kl: None, gradient_norm: None, note: None }
    }
}

/// Told of every step; answers `Break` to stop.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send + 'a;

/// An observer that listens to nothing and never stops.
pub fn ignore(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
