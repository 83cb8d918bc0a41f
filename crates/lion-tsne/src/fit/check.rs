//! What is refused of a fit before any work.

use super::data::check_data;
use super::{Fit, Init, Method, PERPLEXITY, Rows};
use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// The largest learning rate. Steps are bounded in length, so that larger ones only overflow.
const MOST_RATE: f64 = 1e9;
/// Any start may be as wide; of many rows a little wider.
const WIDEST_START: f64 = 1000.0;

/// A start that is wider than maps of so many rows become is a mistake: the rows attract each other too little to come together.
fn check_width(start: &Matrix) -> Result<()> {
    let farthest = start.data().iter().fold(0.0f32, |farthest, v| farthest.max(v.abs()));
    let widest = WIDEST_START + (start.rows() as f64).sqrt();
    match f64::from(farthest) <= widest {
        true => Ok(()),
        false => Err(Error::Parameter {
            name: "init",
            problem: format!(
                "has places up to {farthest} from 0, and {} rows need to begin within {widest:.0}: divide all places by a number",
                start.rows()
            ),
        }),
    }
}

impl Fit {
    /// Refuses what cannot work before any work is done.
    pub(super) fn check(&self, rows: &Rows) -> Result<()> {
        let bad = |name, problem: String| Err(Error::Parameter { name, problem });
        if let Some(perplexity) = self.perplexity.filter(|p| !(*p >= 1.0 && p.is_finite())) {
            return bad("perplexity", format!("must be a number from 1 on, not {perplexity}"));
        }
        if !(1..=3).contains(&self.dims) {
            return bad("dims", format!("must be 1, 2 or 3, not {}", self.dims));
        }
        if self.dims != 2 && self.method == Method::Fft {
            let problem =
                format!("fft is for maps of 2 dimensions: use barnes-hut or auto with {}", self.dims);
            return bad("method", problem);
        }
        if !(self.theta > 0.0 && self.theta <= 0.5) {
            return bad("theta", format!("must be above 0 and at most 0.5, not {}", self.theta));
        }
        if !(self.exaggeration >= 1.0 && self.exaggeration <= 1e4) {
            return bad("exaggeration", format!("must be from 1 to 10000, not {}", self.exaggeration));
        }
        if let Some(rate) = self.learning_rate.filter(|r| !(*r > 0.0 && *r <= MOST_RATE)) {
            return bad("learning rate", format!("must be above 0 and at most {MOST_RATE:e}, not {rate}"));
        }
        if self.iterations == Some(0) {
            return bad("iterations", "must be at least 1".into());
        }
        self.chosen().check()?;
        check_data(&rows.data)?;
        self.check_groups(rows)?;
        self.check_perplexity(rows.data.rows(), "rows")?;
        match &self.init {
            Init::Given(y) if (y.rows(), y.cols()) != (rows.data.rows(), self.dims) => bad(
                "init",
                format!(
                    "has {} places of {} dimensions, and {} of {} are needed",
                    y.rows(),
                    y.cols(),
                    rows.data.rows(),
                    self.dims
                ),
            ),
            Init::Given(y) if y.data().chunks_exact(y.cols()).all(|place| place == y.row(0)) => bad(
                "init",
                "has all rows at one place, from which they cannot part: give places that differ".into(),
            ),
            Init::Given(y) => y.check_finite().and_then(|()| check_width(y)),
            _ => Ok(()),
        }
    }

    pub(super) fn check_groups(&self, rows: &Rows) -> Result<()> {
        let Some(groups) = &self.groups else { return Ok(()) };
        let bad = |problem: String| Err(Error::Parameter { name: "groups", problem });
        if groups.len() != rows.data.rows() {
            return bad(format!("are given for {} rows, and there are {}", groups.len(), rows.data.rows()));
        }
        match groups.iter().all(|group| *group == groups[0]) {
            true => bad("are all one: rows of at least two groups are needed to leave one out".into()),
            false => Ok(()),
        }
    }

    /// The perplexity of a map of so many rows that differ: the one that was asked for, or 30 or as much as they allow.
    pub fn perplexity_for(&self, rows: usize) -> f64 {
        self.perplexity.unwrap_or_else(|| PERPLEXITY.min(most_perplexity(rows).max(1.0)))
    }

    /// Each row needs three times the perplexity in neighbours.
    pub(super) fn check_perplexity(&self, rows: usize, what: &str) -> Result<()> {
        let most = most_perplexity(rows);
        if most < 1.0 {
            let what = if rows == 1 { what.trim_end_matches('s') } else { what };
            let problem = format!("there is no map of {rows} {what}: it needs at least 4 that differ");
            return Err(Error::Data(problem));
        }
        match self.perplexity.filter(|p| *p > (rows - 1) as f64 / 3.0) {
            None => Ok(()),
            Some(perplexity) => Err(Error::Parameter {
                name: "perplexity",
                problem: format!("{perplexity} is too large for {rows} {what}: use at most {most}"),
            }),
        }
    }
}

/// The largest perplexity that so many rows have neighbours for, rounded down to a tenth.
fn most_perplexity(rows: usize) -> f64 {
    (rows.saturating_sub(1) as f64 / 3.0 * 10.0).floor() / 10.0
}
