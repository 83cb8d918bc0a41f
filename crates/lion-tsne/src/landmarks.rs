//! Landmarks: the rows that stand for a table too large to be mapped whole.
//!
//! A table passes by once, in parts. Of its rows those stay whose hash is least, so that which rows stay depends on the
//! rows and the seed alone, not on their order or on how they were cut into parts. The rows of the next least hashes are
//! held-out rows: a fair sample of all others, by which it is judged what the landmarks leave out. The moments of all rows
//! are summed on the way: the PCA is that of the whole table. Bottom-k sampling is of Cohen & Kaplan 2007, Summarizing Data
//! using Bottom-k Sketches; strata, covering rows and the estimate are ours.
//!
//! All of it is the least of hashes and sums without an error. So landmarks of the parts of a table, made where the parts are, can be
//! merged in any order.

mod bottom_k;
mod cover;
mod state;
#[cfg(test)]
mod tests;
mod uncovered;

pub(crate) use uncovered::HeldOutSample;
pub use uncovered::{SampledFrom, UncoveredCounter};

use crate::error::{Error, Result};
use crate::fit::{Fit, Rows, check_largest, pool};
use crate::lion::Radius;
use crate::matrix::Matrix;
use crate::preprocess::{Covariance, Metric, Moments, Pca, PcaChoice, Preprocess, refuse_zero_rows};
pub(crate) use bottom_k::max_held_out;
use bottom_k::{BottomKSample, HashKey, MAX_HELD_OUT, SampledRow};
use std::collections::{BTreeMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How landmarks are chosen. [`Fit::landmarks`] has what goes with a fit.
#[derive(Clone, Copy, Debug)]
pub struct LandmarkOptions {
    /// How many.
    pub count: usize,
    /// As many of each label as can be had, instead of as they come.
    pub stratified: bool,
    /// Give up to a tenth of them to rows that lie beyond r_x of all others.
    pub cover: bool,
    /// The metric of the map: PCA is of rows of unit length where it is the cosine.
    pub metric: Metric,
    /// The PCA of the map.
    pub pca: PcaChoice,
    /// How many of the other rows, at most, shall judge what the landmarks leave out (100 000; fewer of wide rows).
    pub held_out: usize,
    /// What r_x will be; `None` is 99 % of NN-X.
    pub radius: Option<Radius>,
    /// Same seed, same landmarks.
    pub seed: u64,
    /// Threads; 0 is all. The result does not depend on it.
    pub threads: usize,
}

impl Fit {
    /// So many landmarks for this fit, as they come.
    pub fn landmarks(&self, count: usize) -> LandmarkOptions {
        let Self { metric, pca, radius, seed, threads, .. } = *self;
        let (stratified, cover, held_out) = (false, false, MAX_HELD_OUT);
        LandmarkOptions { count, stratified, cover, metric, pca, held_out, radius, seed, threads }
    }
}

/// Landmarks in the making: rows are added, then it is finished.
///
/// ```
/// use lion_tsne::{Fit, Matrix, ignore};
/// use lion_tsne::landmarks::Landmarks;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let fit = Fit { perplexity: Some(3.0), ..Fit::default() };
/// let mut landmarks = Landmarks::new(fit.landmarks(40))?;
/// for part in 0..5u16 {
///     let values = (0..200).map(|i| f32::from(part * 200 + i).sin()).collect();
///     landmarks.add(Matrix::new(100, 2, values)?.into())?;
/// }
/// let map = fit.run_sampled(landmarks.finish()?, &mut ignore)?;
/// let from = map.provenance().sampled_from.expect("it was sampled");
/// assert_eq!((map.rows(), from.rows), (40, 500));
/// println!("{} of {} rows lie beyond r_x of every landmark", from.uncovered, from.rows);
/// # Ok(())
/// # }
/// ```
pub struct Landmarks {
    options: LandmarkOptions,
    /// Columns, once a row was seen.
    cols: Option<usize>,
    seen: u64,
    has: Has,
    keep: BottomKSample,
    moments: Option<Moments>,
    expected: Option<BTreeMap<String, u64>>,
    pool: rayon::ThreadPool,
}

/// Which names the rows have: all of them or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Has {
    ids: bool,
    labels: bool,
}

/// What was chosen: [`Fit::run_sampled`] makes a map of it.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The landmarks, in an order that does not depend on the table's.
    pub rows: Rows,
    /// How many of them, the last ones, were taken to cover sparse regions.
    pub covering: usize,
    /// How many rows passed by.
    pub seen: u64,
    /// Whether labels had a say.
    pub stratified: bool,
    /// The PCA of all of them, where the options ask for one and the columns are few enough to have their moments summed.
    pub pca: Option<Pca>,
    /// The covariance that this PCA is of.
    pub(crate) covariance: Option<Covariance>,
    pub(crate) held_out: HeldOutSample,
}

impl Landmarks {
    /// None yet.
    pub fn new(options: LandmarkOptions) -> Result<Self> {
        if options.count < 4 {
            let problem = format!("{} are too few: a map needs at least 4", options.count);
            return Err(Error::Parameter { name: "landmarks", problem });
        }
        Ok(Self {
            options,
            cols: None,
            seen: 0,
            has: Has::default(),
            keep: BottomKSample::new(options.count, options.stratified, options.held_out),
            moments: None,
            expected: None,
            pool: pool(options.threads)?,
        })
    }

    /// How many rows of each label there are in the whole table, of which these are to see a part; where they are not
    /// stratified, the sum counts. Most rows of a part then need not be kept, for their hashes are too large in the whole. If the
    /// numbers are wrong, or hashes are not as hashes are because ids come often, [`Landmarks::is_complete`] says so.
    pub fn expecting(self, rows: BTreeMap<String, u64>) -> Self {
        Self { expected: Some(rows), ..self }
    }

    /// Adds the next rows of the table. They are known by their ids, or by their numbers in the table if they have none;
    /// with or without ids and labels, all rows alike. An error names the row within these.
    pub fn add(&mut self, rows: Rows) -> Result<()> {
        let Rows { data, ids, labels } = rows;
        self.check(&data, Has { ids: ids.is_some(), labels: labels.is_some() })?;
        for (names, what) in [(&ids, "ids"), (&labels, "labels")] {
            if let Some(names) = names.as_ref().filter(|names| names.len() != data.rows()) {
                let (rows, names) = (data.rows(), names.len());
                return Err(Error::Data(format!("there are {rows} rows but {names} {what}")));
            }
        }
        if let Some(moments) = &mut self.moments {
            self.pool.install(|| moments.add(&data));
        }
        for row in 0..data.rows() {
            let number = self.seen;
            self.seen += 1;
            let id = ids.as_ref().map(|ids| ids[row].as_str());
            let hash = match id {
                Some(id) => xxh3_64_with_seed(id.as_bytes(), self.options.seed),
                None => xxh3_64_with_seed(&number.to_le_bytes(), self.options.seed),
            };
            let (label, values) = (labels.as_ref().map_or("", |labels| &labels[row]), data.row(row));
            self.keep.offer(hash, label, || {
                let tie = if id.is_some() { content_hash(hash, label, values) } else { number };
                let id = id.unwrap_or_default().to_owned();
                (tie, SampledRow { row: values.to_vec(), id, label: label.to_owned() })
            })?;
        }
        Ok(())
    }

    /// How many rows were added.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// How many columns they have; 0 before the first of them.
    pub fn cols(&self) -> usize {
        self.cols.unwrap_or(0)
    }

    fn check(&mut self, data: &Matrix, has: Has) -> Result<()> {
        self.check_kind(data.cols(), has)?;
        data.check_finite()?;
        check_largest(data)?;
        if self.options.metric == Metric::Cosine {
            self.pool.install(|| refuse_zero_rows(data))?;
        }
        Ok(())
    }

    /// Refuses rows that have other columns or names than those before. The first say what there is.
    fn check_kind(&mut self, found: usize, has: Has) -> Result<()> {
        let LandmarkOptions { metric, pca, stratified, .. } = self.options;
        match self.cols {
            None if found == 0 => Err(Error::Data("the rows have no columns".into())),
            None if stratified && !has.labels => {
                Err(Error::Data("landmarks cannot be shared out by label: rows have none".into()))
            }
            None => {
                self.moments = Moments::for_pca(found, metric, pca)?;
                self.keep.begin(found, self.expected.as_ref())?;
                (self.cols, self.has) = (Some(found), has);
                Ok(())
            }
            Some(cols) if cols != found => {
                Err(Error::Data(format!("rows of {cols} columns are followed by rows of {found}")))
            }
            Some(_) if self.has != has => {
                Err(Error::Data("some rows have ids or labels and others do not".into()))
            }
            Some(_) => Ok(()),
        }
    }

    /// The landmarks.
    pub fn finish(self) -> Result<Sampled> {
        let Self { options, seen, has, keep, moments, pool, .. } = self;
        let cols = self.cols.unwrap_or(0);
        let (pca, covariance) = pool.install(|| moments.map(Moments::pca).transpose())?.unzip();
        let bottom_k::LandmarkChoice { mut plain, mut strata, kept } = keep.choose();
        let covering = match options.cover {
            true => pool.install(|| {
                let space = LandmarkSpace { kept: &kept, cols, options: &options, pca: pca.as_ref() };
                cover::cover(&mut plain, &mut strata, &space)
            })?,
            false => Vec::new(),
        };
        let mut order: Vec<HashKey> = plain.into_iter().flatten().collect();
        order.sort_unstable();
        order.extend(&covering);
        let (mut ids, mut labels, mut different) = (Vec::new(), Vec::new(), HashSet::new());
        for key in &order {
            let SampledRow { id, label, .. } = &kept[key];
            if has.ids && !different.insert(id) {
                let problem = format!("the id {id:?} is there more than once: give each row its own");
                return Err(Error::Data(problem));
            }
            // A row without an id is known by its number in the table.
            ids.push(if has.ids { id.clone() } else { key.1.to_string() });
            labels.push(label.clone());
        }
        let rows = Rows {
            data: bottom_k::matrix(&kept, &order, cols)?,
            ids: Some(ids),
            labels: has.labels.then_some(labels),
        };
        let held_out = HeldOutSample::new(&strata, |keys| bottom_k::matrix(&kept, keys, cols))?;
        let (covering, stratified) = (covering.len(), options.stratified);
        Ok(Sampled { rows, covering, seen, stratified, pca, covariance, held_out })
    }
}

/// Tells rows of one hash apart: by all that they are, so that their order does not depend on the table's.
fn content_hash(hash: u64, label: &str, row: &[f32]) -> u64 {
    xxh3_64_with_seed(bytemuck::cast_slice(row), xxh3_64_with_seed(label.as_bytes(), hash))
}

/// How rows that stayed become rows of the map.
struct LandmarkSpace<'a> {
    kept: &'a BTreeMap<HashKey, SampledRow>,
    cols: usize,
    options: &'a LandmarkOptions,
    pca: Option<&'a Pca>,
}

impl LandmarkSpace<'_> {
    /// These rows, and the preprocessing of the map, which is theirs where there is none of all rows.
    fn fit(&self, keys: &[HashKey]) -> Result<(Preprocess, Matrix)> {
        let rows = bottom_k::matrix(self.kept, keys, self.cols)?;
        let LandmarkOptions { metric, pca, seed, .. } = *self.options;
        match self.pca {
            Some(pca) => {
                let preprocess = Preprocess::new(metric, self.cols, Some(pca.clone()))?;
                let rows = preprocess.apply(&rows)?;
                Ok((preprocess, rows))
            }
            None => Preprocess::fit(rows, metric, pca, seed),
        }
    }
}
