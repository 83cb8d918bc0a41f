//! `--method`: the names of the ways of placing, what each leaves open, and which flags have no effect beside it.

use super::place::RuleArgs;
use lion_evaluate::Baseline;
use lion_tsne::Local;
use lion_tsne::lion::{Positions, Taper};

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PlacingMethodArg {
    Lion,
    Other(Baseline),
}

/// The method of this name.
pub(crate) fn method(text: &str) -> Result<PlacingMethodArg, String> {
    if text == "lion" {
        return Ok(PlacingMethodArg::Lion);
    }
    let known = text.parse().map(PlacingMethodArg::Other);
    known.map_err(|_| format!("it must be one of lion, {}", Baseline::names()))
}

impl RuleArgs {
    /// Whether places are LION's.
    pub(crate) fn is_lion(&self) -> bool {
        self.method == PlacingMethodArg::Lion
    }

    /// The way of placing that was asked for, if it is not LION. The power is LION's: the one given, or the map's.
    pub(crate) fn other(&self, power: f64) -> Option<Baseline> {
        let PlacingMethodArg::Other(other) = self.method else { return None };
        Some(match other {
            Baseline::Idw { .. } => Baseline::Idw { power },
            Baseline::Rbf { kernel, epsilon } => Baseline::Rbf {
                kernel,
                epsilon: self.epsilon.filter(|_| kernel.has_width()).unwrap_or(epsilon),
            },
            Baseline::Kernelized { width } => {
                Baseline::Kernelized { width: self.kernel_width.unwrap_or(width) }
            }
            nothing_to_choose => nothing_to_choose,
        })
    }

    /// What to say of flags that have no effect beside the others.
    pub(crate) fn idle_flags(&self) -> Vec<String> {
        let mut idle = Vec::new();
        let mut note = |given: bool, flag: &str, why: &str| {
            if given {
                idle.push(format!("{flag} has no effect {why}"));
            }
        };
        let other = match &self.method {
            PlacingMethodArg::Lion => None,
            PlacingMethodArg::Other(other) => Some(other),
        };
        match other {
            None => {
                note(
                    self.lion.power.is_some() && self.lion.local != Local::Idw,
                    "--power",
                    "without --local idw",
                );
                note(
                    self.outlier_control,
                    "--outlier-control",
                    "beside --method lion, which has it built in",
                );
            }
            Some(other) => {
                let beside = format!("beside --method {}", other.name());
                note(self.lion.local != Local::Energy, "--local", &beside);
                note(self.lion.taper != Taper::None, "--taper", &beside);
                note(self.lion.split_clusters, "--split-clusters", &beside);
                note(self.lion.power.is_some() && !matches!(other, Baseline::Idw { .. }), "--power", &beside);
                if !self.outlier_control {
                    note(self.lion.r_y.is_some(), "--r-y", "without --outlier-control");
                    note(self.lion.r_close.is_some(), "--r-close", "without --outlier-control");
                    note(self.lion.outliers == Positions::Random, "--outliers", "without --outlier-control");
                }
            }
        }
        let has_width = matches!(other, Some(Baseline::Rbf { kernel, .. }) if kernel.has_width());
        let why = "without --method rbf-multiquadric, rbf-gaussian or rbf-inverse-multiquadric";
        note(self.epsilon.is_some() && !has_width, "--epsilon", why);
        let is_kernelized = matches!(other, Some(Baseline::Kernelized { .. }));
        note(self.kernel_width.is_some() && !is_kernelized, "--kernel-width", "without --method kernelized");
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_told_from_the_others() {
        assert_eq!(method("lion"), Ok(PlacingMethodArg::Lion));
        let others = Baseline::all();
        for other in &others {
            assert_eq!(method(&other.name()), Ok(PlacingMethodArg::Other(*other)));
        }
        let names: std::collections::BTreeSet<String> = others.iter().map(Baseline::name).collect();
        assert_eq!(names.len(), others.len());
        let refused = method("nearest").unwrap_err();
        assert!(refused.starts_with("it must be one of lion, idw, rbf-multiquadric, "), "{refused}");
        assert!(names.iter().all(|name| refused.contains(name)), "{refused}");
    }
}
