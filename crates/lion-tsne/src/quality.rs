//! How well does a map keep what the rows are like? Numbers that mean the same for any map, whatever made it.
//!
//! For rows of a map, nearest by nearest, the order of the others in the data is compared with their order on the map.
//! [`ScaleQuality`] has trustworthiness and continuity (Venna & Kaski 2001, Neighborhood Preservation in Nonlinear Projection
//! Methods) and the share of neighbours that are kept, at several scales. Rows that share a place count once. Up to
//! [`QualityOptions::exact_up_to`] rows all of them are asked; of more, a fixed sample.
//!
//! ```
//! use lion_tsne::quality::{Quality, QualityOptions};
//! use lion_tsne::{Fit, Matrix, Rows, ignore};
//! # fn main() -> lion_tsne::Result<()> {
//! let data = Matrix::new(90, 3, (0..270).map(|i| (i * i % 91) as f32).collect())?;
//! let map = Fit { perplexity: Some(5.0), ..Fit::default() }.run(Rows { data, ids: None, labels: None }, &mut ignore)?;
//! let quality = Quality::new(&map, None, &QualityOptions::default())?;
//! println!("trustworthiness at 10 neighbours: {:.3}", quality.scales[0].trustworthiness.mean);
//! # assert!(quality.scales[0].trustworthiness.mean > 0.7);
//! # Ok(())
//! # }
//! ```

mod label_share;
mod ranks;
mod refit;

pub(crate) use label_share::{LabelledPlaces, label_share};
pub use refit::{PerplexityTrial, RefitOptions, SeedStability, perplexity_trials, seed_stability};

use crate::error::{Error, Result};
use crate::fit::pool;
use crate::map::Map;
use crate::matrix::Matrix;
use crate::random::Random;
use ranks::RankedRow;
use rayon::prelude::*;
use std::borrow::Cow;

/// So many nearest places tell which labels are around a row.
pub const LABELS_AROUND: usize = 10;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct QualityOptions {
    /// Numbers of neighbours. Those that are not below half of the rows are left out.
    pub scales: Vec<usize>,
    /// Up to this many distinct rows all are asked.
    pub exact_up_to: usize,
    /// Of more, so many.
    pub sample: usize,
    /// The seed of the sample.
    pub seed: u64,
    /// Threads, 0 for all. The result does not depend on it.
    pub threads: usize,
}

impl Default for QualityOptions {
    fn default() -> Self {
        Self { scales: vec![10, 30, 100], exact_up_to: 5000, sample: 1000, seed: 0, threads: 0 }
    }
}

/// A mean over rows, with its standard error if the rows are a sample (else 0).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleMean {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

/// How good a map is.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Distinct rows of the map.
    pub rows: usize,
    /// How many of them were asked.
    pub asked: usize,
    /// At each scale that the map has rows enough for, in the order asked.
    pub scales: Vec<ScaleQuality>,
    /// The mean share of the 10 nearest labelled places that carry the row's own label; `None` without labels.
    pub label_share: Option<f64>,
    /// The same of the 10 nearest labelled rows of the data: what a map that kept every neighbour would have.
    pub label_share_of_rows: Option<SampleMean>,
    /// What places at random would have: the chance that two labelled rows have the same label.
    pub label_share_by_chance: Option<f64>,
}

/// How good a map is at one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleQuality {
    /// The number of neighbours.
    pub neighbours: usize,
    /// 1 where the neighbours on the map are neighbours in the data; each that is not costs by how far down it is in the
    /// order of the data.
    pub trustworthiness: SampleMean,
    /// The same the other way round: 1 where the neighbours in the data are neighbours on the map.
    pub continuity: SampleMean,
    /// The share of the neighbours in the data that are neighbours on the map.
    pub neighbours_kept: SampleMean,
}

impl Quality {
    /// Of a map, by its own preprocessed rows or by `rows`: the table that it was fitted to, each row of it as it was before
    /// the PCA.
    pub fn new(map: &Map, rows: Option<&Matrix>, options: &QualityOptions) -> Result<Self> {
        let x = space(map, rows)?;
        pool(options.threads)?.install(|| Ok(Self::in_space(map, &x, options)))
    }

    fn in_space(map: &Map, x: &Matrix, options: &QualityOptions) -> Self {
        let rows = x.rows();
        let asked: Vec<u32> = match rows <= options.exact_up_to {
            // Rows without columns have no neighbours.
            _ if x.cols() == 0 => Vec::new(),
            true => (0..rows as u32).collect(),
            false => Random::new(options.seed).sample(rows, options.sample),
        };
        // Beyond half of the rows the worst case has another form, and a neighbourhood means little.
        let fits = |k: &usize| *k > 0 && 2 * k < rows && !asked.is_empty();
        let scales: Vec<usize> = options.scales.iter().copied().filter(fits).collect();
        let labelled = LabelledPlaces::new(map);
        let one = |&row: &u32| RankedRow::new(x, map.y(), row as usize, &scales, labelled.as_ref());
        let ranked: Vec<RankedRow> = asked.par_iter().map(one).collect();
        let is_sample = asked.len() < rows;
        let at = |(at, &neighbours): (usize, &usize)| {
            let mean = |value: fn(&ranks::RowScale) -> f64| {
                SampleMean::of(ranked.iter().map(|row| value(&row.scales[at])), is_sample)
            };
            ScaleQuality {
                neighbours,
                trustworthiness: mean(|row| row.trustworthiness),
                continuity: mean(|row| row.continuity),
                neighbours_kept: mean(|row| row.kept),
            }
        };
        let of_rows: Vec<f64> = ranked.iter().filter_map(|row| row.label_share).collect();
        Self {
            rows,
            asked: asked.len(),
            scales: scales.iter().enumerate().map(at).collect(),
            label_share: labelled.as_ref().and_then(label_share),
            label_share_of_rows: (!of_rows.is_empty())
                .then(|| SampleMean::of(of_rows.into_iter(), is_sample)),
            label_share_by_chance: labelled.as_ref().and_then(LabelledPlaces::by_chance),
        }
    }
}

impl SampleMean {
    fn of(values: impl Iterator<Item = f64> + Clone, is_sample: bool) -> Self {
        let count = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / count;
        let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Self { mean, error: if is_sample { (variance / count).sqrt() } else { 0.0 } }
    }
}

/// The distinct rows in which neighbours are looked for: those of the map as it has them, or those given.
fn space<'a>(map: &'a Map, rows: Option<&Matrix>) -> Result<Cow<'a, Matrix>> {
    let Some(rows) = rows else { return Ok(Cow::Borrowed(map.x())) };
    if rows.rows() != map.rows() {
        return Err(Error::Data(format!(
            "the map has {} rows, and {} were given: give the table that it was fitted to",
            map.rows(),
            rows.rows()
        )));
    }
    map.preprocess().check(rows)?;
    let distinct = match map.first_rows() {
        Some(first) => rows.select(&first),
        None => rows.clone(),
    };
    Ok(Cow::Owned(map.preprocess().before_pca(distinct)))
}
