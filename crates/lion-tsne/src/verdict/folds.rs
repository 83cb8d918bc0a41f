//! What rows of the map would look like if the map had never seen them: PCA and neighbours without a fold of the rows, one
//! fold after another. In-sample values will not do: a PCA bends towards the rows it is fitted to, and with many
//! columns and few rows their residuals are far smaller than any other row's. K-fold cross-validation; its bookkeeping
//! is ours.

use super::LEAST_ROWS;
use super::reconstruction::{NEIGHBOURS, Reconstruction};
use crate::error::{Error, Result};
use crate::index::ExactIndex;
use crate::matrix::Matrix;
use crate::preprocess::{Pca, PcaSource};
use crate::random::Random;
use rayon::prelude::*;

/// So many folds.
const FOLDS: usize = 10;
/// Of few rows a tenth is too many to leave out: the PCA of the others is a worse one.
const FOLDS_OF_FEW: usize = 40;
/// Rows are few below this number, or below the second if there are so few columns that one PCA more takes no time.
const FEW: usize = 1000;
const FEW_OF_NARROW: usize = 4000;
const NARROW: usize = 200;
/// Up to so many rows, products of rows with each other are cheaper than products of columns.
const FEW_FOR_PRODUCTS: usize = 400;
/// Rows of a fold that are looked at, at most: ten thousand of them tell 1 % to a tenth of it, and more would take long.
pub(crate) const MOST_IN_FOLD: usize = 1000;

/// The distinct rows of a map, and where they come from.
pub(crate) struct CalibrationRows<'a> {
    /// Preprocessed.
    pub(crate) x: &'a Matrix,
    /// How far each is from its projection, if there is PCA.
    pub(crate) residuals: Option<&'a [f32]>,
    /// The first row of the data that each is.
    pub(crate) representatives: &'a [u32],
    /// For each row of the data, which of them it is; `None` if all are distinct.
    pub(crate) place_of: Option<&'a [u32]>,
    /// For each row of the data, its group: rows of one group stay in one fold.
    pub(crate) groups: Option<&'a [u32]>,
    /// So many, the last ones, are no fair sample and do not calibrate.
    pub(crate) covering: usize,
    pub(crate) seed: u64,
}

/// Values of some distinct rows that were left out.
pub(crate) struct OutOfSample {
    /// How many neighbours each has.
    pub(crate) k: usize,
    /// Which rows.
    pub(crate) rows: Vec<u32>,
    /// For each row of the map the fold it was left out with, if it was.
    pub(crate) fold_of: Vec<Option<u8>>,
    /// The distance of each to its nearest row.
    pub(crate) distances: Vec<f32>,
    /// The squared error of rebuilding it from its neighbours.
    pub(crate) errors: Vec<f64>,
    /// How far each is from its projection.
    pub(crate) residuals: Vec<f32>,
    /// Its neighbours, `k` each.
    pub(crate) near: Vec<u32>,
}

/// Distinct rows that are left out together.
struct Fold {
    left_out: Vec<u32>,
    /// Those of them that are looked at.
    observed: Vec<u32>,
}

impl CalibrationRows<'_> {
    pub(crate) fn distinct(&self) -> usize {
        self.x.rows()
    }

    /// How many of them, the first ones, are a fair sample.
    pub(crate) fn fair(&self) -> usize {
        self.distinct() - self.covering
    }

    /// The row of the data that a distinct row is.
    fn row(&self, distinct: u32) -> u32 {
        if self.place_of.is_some() { self.representatives[distinct as usize] } else { distinct }
    }

    /// Whether a row equal to this one stays when it, and its group, is left out.
    pub(crate) fn twins(&self) -> Vec<bool> {
        let mut twins = vec![false; self.distinct()];
        let group = |row: usize| self.groups.map_or(row as u32, |groups| groups[row]);
        for (row, &distinct) in self.place_of.unwrap_or_default().iter().enumerate() {
            twins[distinct as usize] |= group(row) != group(self.row(distinct) as usize);
        }
        twins
    }

    /// The group of a distinct row; without groups each is one by itself.
    pub(crate) fn group(&self, distinct: u32) -> u32 {
        self.groups.map_or(distinct, |groups| groups[self.row(distinct) as usize])
    }

    /// Leaves out a fold at a time, and looks at its rows as if they were new.
    pub(crate) fn out_of_sample(&self, source: Option<&PcaSource>, k: usize) -> Result<OutOfSample> {
        let folds = self.folds(source.map_or(0, |source| source.rows.cols()));
        let observed: usize = folds.iter().map(|fold| fold.observed.len()).sum();
        if self.groups.is_some() && observed < LEAST_ROWS {
            return Err(Error::Parameter {
                name: "groups",
                problem: format!(
                    "leave {observed} rows to calibrate verdicts by, and {LEAST_ROWS} are needed: one group has nearly all rows"
                ),
            });
        }
        let components = self.x.cols();
        let pca = |fold: &Fold| source.map(|source| self.pca_without(fold, source, components)).transpose();
        let pcas: Vec<Option<Pca>> = match source.is_some_and(|source| source.covariance.is_some()) {
            true => folds.par_iter().map(pca).collect::<Result<_>>()?,
            // Each would hold nearly all of a wide table: one after another.
            false => folds.iter().map(pca).collect::<Result<_>>()?,
        };
        let mut residuals = self.residuals.map_or_else(|| vec![0.0; self.distinct()], <[f32]>::to_vec);
        let mut projected = Vec::new();
        for (fold, pca) in folds.iter().zip(&pcas) {
            let (rows, far) = self.project(&fold.observed, source.zip(pca.as_ref()))?;
            fold.observed.iter().zip(far).for_each(|(&row, far)| residuals[row as usize] = far);
            projected.push(rows);
        }
        let mut fold_of = vec![None; self.distinct()];
        for (fold, number) in folds.iter().zip(0..) {
            fold.left_out.iter().for_each(|&row| fold_of[row as usize] = Some(number));
        }
        let mut found = OutOfSample {
            k,
            fold_of,
            rows: folds.iter().flat_map(|fold| &fold.observed).copied().collect(),
            distances: Vec::new(),
            errors: Vec::new(),
            residuals: Vec::new(),
            near: Vec::new(),
        };
        found.residuals = found.rows.iter().map(|&row| residuals[row as usize]).collect();
        let twins = self.twins();
        for ((fold, pca), rows) in folds.iter().zip(&pcas).zip(projected) {
            self.look_at(fold, &rows, source.zip(pca.as_ref()), (&residuals, &twins), &mut found)?;
        }
        Ok(found)
    }

    /// Finds the neighbours of a fold's rows among the others, and rebuilds each from them.
    fn look_at(
        &self,
        fold: &Fold,
        rows: &Matrix,
        plane: Option<(&PcaSource, &Pca)>,
        (residuals, twins): (&[f32], &[bool]),
        found: &mut OutOfSample,
    ) -> Result<()> {
        let mut is_out = vec![false; self.distinct()];
        fold.left_out.iter().for_each(|&row| is_out[row as usize] = true);
        let rest: Vec<u32> = (0..self.distinct() as u32).filter(|&row| !is_out[row as usize]).collect();
        let (others, _) = self.project(&rest, plane)?;
        let k = found.k;
        let near = ExactIndex::of(&others).nearest_of(rows, k);
        let looked: Vec<(f32, f64, [u32; NEIGHBOURS])> = (0..rows.rows())
            .into_par_iter()
            .map_init(Reconstruction::default, |reconstruction, at| {
                let (row, values) = (fold.observed[at], rows.row(at));
                let (indices, distances2) = near.of(at);
                let mut neighbours = [row; NEIGHBOURS];
                if !twins[row as usize] {
                    (0..k).for_each(|a| neighbours[a] = rest[indices[a] as usize]);
                    let residual_of = |other: u32| residuals[rest[other as usize] as usize];
                    let indices = indices.iter().copied();
                    let far = residuals[row as usize];
                    let gram = reconstruction.gram(&others, values, indices, far, residual_of);
                    return (distances2[0].sqrt(), gram.squared_error(), neighbours);
                }
                // Its twin is the first of its neighbours.
                (1..k).for_each(|a| neighbours[a] = rest[indices[a - 1] as usize]);
                let mut around = values.to_vec();
                indices[..k - 1].iter().for_each(|&other| around.extend(others.row(other as usize)));
                let around = Matrix::from_rows(values.len(), around);
                let residual_of = |other: u32| residuals[neighbours[other as usize] as usize];
                let far = residuals[row as usize];
                let gram = reconstruction.gram(&around, values, 0..k as u32, far, residual_of);
                (0.0, gram.squared_error(), neighbours)
            })
            .collect();
        for (distance, error, neighbours) in looked {
            found.distances.push(distance);
            found.errors.push(error);
            found.near.extend_from_slice(&neighbours[..k]);
        }
        Ok(())
    }

    /// Rows as a PCA that left some out has them, and how far each is from its projection; without PCA as they are.
    fn project(&self, rows: &[u32], plane: Option<(&PcaSource, &Pca)>) -> Result<(Matrix, Vec<f32>)> {
        match plane {
            None => Ok((self.x.select(rows), vec![0.0; rows.len()])),
            Some((source, pca)) => {
                let rows: Vec<u32> = rows.iter().map(|&row| self.row(row)).collect();
                pca.project_rows(&source.rows, &rows)
            }
        }
    }

    fn pca_without(&self, fold: &Fold, source: &PcaSource, components: usize) -> Result<Pca> {
        let mut is_out = vec![false; self.distinct()];
        fold.left_out.iter().for_each(|&row| is_out[row as usize] = true);
        let distinct = |row: u32| self.place_of.map_or(row, |place_of| place_of[row as usize]);
        let (out, rest): (Vec<u32>, Vec<u32>) =
            (0..source.rows.rows() as u32).partition(|&row| is_out[distinct(row) as usize]);
        // The covariance may be that of a table that holds more than these rows.
        let whole = source.covariance.as_ref().is_none_or(|all| all.rows() == source.rows.rows());
        if whole && rest.len() <= FEW_FOR_PRODUCTS && 2 * rest.len() < source.rows.cols() {
            return Pca::fit_few(&source.rows.select(&rest), components);
        }
        match &source.covariance {
            Some(covariance) => covariance.without(&source.rows.select(&out)).pca(components, self.seed),
            None => {
                let components = components.min(rest.len() - 1).max(1);
                Pca::fit(&source.rows.select(&rest), components, self.seed)
            }
        }
    }

    /// Folds that depend on the seed and the number of rows alone, or keep groups together.
    fn folds(&self, columns: usize) -> Vec<Fold> {
        let fair = self.fair();
        let mut random = Random::new(self.seed ^ 0x5eed_f01d);
        let order = random.permutation(fair);
        let mut folds: Vec<Fold> = match self.groups {
            None => {
                let count = fold_count(fair, columns);
                let size = fair.div_ceil(count).min(MOST_IN_FOLD);
                let parts = order.chunks(size).take(count);
                parts.map(|part| Fold { left_out: part.to_vec(), observed: part.to_vec() }).collect()
            }
            Some(_) => group_folds(&order, |row| self.group(row)),
        };
        // A fold that leaves too few rows cannot be looked at.
        folds.retain(|fold| self.distinct() - fold.left_out.len() > NEIGHBOURS);
        for fold in &mut folds {
            fold.observed.truncate(MOST_IN_FOLD);
        }
        folds
    }
}

/// Into how many folds rows of a table are cut.
pub(crate) fn fold_count(rows: usize, columns: usize) -> usize {
    let few = if columns <= NARROW { FEW_OF_NARROW } else { FEW };
    if rows < few { FOLDS_OF_FEW } else { FOLDS }
}

/// Folds of whole groups, about equally large: each group, the largest first, joins the smallest fold.
fn group_folds(order: &[u32], group_of: impl Fn(u32) -> u32) -> Vec<Fold> {
    let mut members: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
    order.iter().for_each(|&row| members.entry(group_of(row)).or_default().push(row));
    let mut groups: Vec<Vec<u32>> = members.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let mut folds: Vec<Vec<u32>> = vec![Vec::new(); FOLDS.min(groups.len())];
    for group in groups {
        if let Some(smallest) = folds.iter_mut().min_by_key(|fold| fold.len()) {
            smallest.extend(group);
        }
    }
    let mut rank = vec![0u32; order.iter().max().map_or(0, |&most| most as usize + 1)];
    order.iter().zip(0..).for_each(|(&row, at)| rank[row as usize] = at);
    // Of a large fold a random part is looked at, not the rows of its first group.
    let fold = |left_out: Vec<u32>| {
        let mut observed = left_out.clone();
        observed.sort_by_key(|&row| rank[row as usize]);
        Fold { left_out, observed }
    };
    folds.into_iter().map(fold).collect()
}
