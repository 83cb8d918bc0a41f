//! The ways of placing that the evaluation compares, LION among them, all asked in the same way.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for LION's four radii; LION's control around other methods is ours.

use crate::baseline::{Baseline, BuiltBaseline};
use crate::places_of;
use lion_tsne::{
    Lion, LionOptions, Local, Map, Matrix, Observer, Placement, Progress, Radius, Result, Stage, Verdict,
    VerdictRule,
};
use std::fmt;

/// A way of placing, as it is compared with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contender {
    /// LION.
    Lion {
        /// The percentile of NN-X that r_x is.
        percentile: f64,
        /// The rule for rows with neighbours.
        local: Local,
        /// The rule for outliers.
        verdict: VerdictRule,
    },
    /// Another way.
    Other(Baseline),
    /// Another way for the rows that LION would interpolate; outliers are LION's.
    Controlled {
        /// The other way.
        baseline: Baseline,
        /// The percentile of NN-X that r_x is.
        percentile: f64,
    },
}

impl Contender {
    /// The paper's four radii, as percentiles of NN-X.
    pub const RADII: [f64; 4] = [90.0, 95.0, 99.0, 100.0];

    /// LION as the paper has it, at its four radii.
    pub fn lion_of_the_paper() -> [Self; 4] {
        Self::RADII.map(|percentile| Self::Lion {
            percentile,
            local: Local::Idw,
            verdict: VerdictRule::Paper,
        })
    }

    /// LION as it is here beyond the paper: the rule of least energy, its attraction alone, and the calibrated verdict with either.
    pub fn lion_of_today() -> [Self; 5] {
        let lion = |local, verdict| Self::Lion { percentile: 99.0, local, verdict };
        [
            lion(Local::Idw, VerdictRule::Calibrated),
            lion(Local::Energy, VerdictRule::Paper),
            lion(Local::Energy, VerdictRule::Calibrated),
            lion(Local::Attraction, VerdictRule::Paper),
            Self::Lion { percentile: 100.0, local: Local::Energy, verdict: VerdictRule::Paper },
        ]
    }

    /// Makes it ready for rows of a map.
    pub fn build(&self, map: &Map, seed: u64, observer: &mut Observer<'_>) -> Result<BuiltContender> {
        Ok(match *self {
            Self::Lion { percentile, local, verdict } => {
                // The others tell of their building themselves.
                let _ = observer(&Progress::of(Stage::Build, 0, 1));
                BuiltContender::Lion(Box::new(lion(map, percentile, local, verdict)?))
            }
            Self::Other(baseline) => BuiltContender::Other(baseline.build(map, seed, observer)?),
            Self::Controlled { baseline, percentile } => {
                let built = baseline.build(map, seed, observer)?;
                BuiltContender::Controlled(
                    Box::new(lion(map, percentile, Local::Energy, VerdictRule::Paper)?),
                    built,
                )
            }
        })
    }
}

fn lion(map: &Map, percentile: f64, local: Local, verdict: VerdictRule) -> Result<Lion> {
    // A map without a calibration has the paper's rule alone.
    let calibrated = map.lion().is_some_and(|lion| lion.is_calibrated());
    let verdict = Some(if calibrated { verdict } else { VerdictRule::Paper });
    let radius = Some(Radius::Percentile(percentile));
    let threads = rayon::current_num_threads();
    Lion::new(map.clone(), &LionOptions { radius, local, verdict, threads, ..LionOptions::default() })
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lion { percentile, local, verdict } => {
                let verdict = match verdict {
                    VerdictRule::Calibrated => " calibrated",
                    VerdictRule::Paper => "",
                };
                write!(f, "lion {local} {percentile}%{verdict}")
            }
            Self::Other(baseline) => write!(f, "{baseline}"),
            Self::Controlled { baseline, percentile } => write!(f, "{baseline} + lion {percentile}%"),
        }
    }
}

/// A way of placing that is ready for rows.
pub enum BuiltContender {
    /// LION.
    Lion(Box<Lion>),
    /// Another way.
    Other(BuiltBaseline),
    /// Another way for the rows that LION would interpolate.
    Controlled(Box<Lion>, BuiltBaseline),
}

/// Where rows landed, each placed alone.
#[derive(Clone, Debug)]
pub struct ContenderPlaces {
    /// Their places.
    pub places: Matrix,
    /// What LION says of each, if it was asked.
    pub placements: Option<Vec<Placement>>,
}

impl BuiltContender {
    /// Places rows, with all their columns, each as if it were alone.
    pub fn place_alone(&self, rows: &Matrix) -> Result<ContenderPlaces> {
        let placements = self.lion().map(|lion| lion.place_alone(rows)).transpose()?;
        let dims = self.lion().map_or(0, |lion| lion.map().dims());
        let places = match self {
            Self::Other(built) => built.place(rows)?,
            Self::Lion(_) => places_of(placements.as_deref().unwrap_or_default(), dims)?,
            Self::Controlled(_, built) => {
                let placements = placements.as_deref().unwrap_or_default();
                let mut places = places_of(placements, dims)?;
                let others = built.place(rows)?;
                let both = places.data_mut().chunks_exact_mut(dims).zip(others.data().chunks_exact(dims));
                both.zip(placements)
                    .filter(|(_, placement)| placement.verdict == Verdict::Interpolated)
                    .for_each(|((place, other), _)| place.copy_from_slice(other));
                places
            }
        };
        Ok(ContenderPlaces { places, placements })
    }

    /// LION, if it is or controls this way.
    pub fn lion(&self) -> Option<&Lion> {
        match self {
            Self::Lion(lion) | Self::Controlled(lion, _) => Some(lion),
            Self::Other(_) => None,
        }
    }

    /// The other way, if it is one.
    pub fn built(&self) -> Option<&BuiltBaseline> {
        match self {
            Self::Other(built) | Self::Controlled(_, built) => Some(built),
            Self::Lion(_) => None,
        }
    }
}
