//! What happens to rows before distances are taken: unit length for the cosine metric, then PCA. Fitted once
//! on the rows of the map, applied to every later row, with the same bits alone as in any batch.

mod covariance;
mod gram;
mod moments;
mod pca;
mod project;
mod subspace;
mod unique;
mod widen;

pub(crate) use covariance::Covariance;
pub(crate) use moments::{MOST_ROWS, Moments};
pub use pca::Pca;
pub(crate) use pca::{WIDEST_COVARIANCE, pca_bytes};
pub use unique::{Unique, unique_rows};

use crate::error::{Error, Fault, Result};
use crate::matrix::Matrix;
use crate::vectorized::vectorized;
use project::ROWS;
use rayon::prelude::*;

/// Distance between rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The straight line.
    #[default]
    Euclidean,
    /// Rows are scaled to unit length first; their distance is then the chord, whose square is 2 (1 - cos).
    Cosine,
}

crate::named!(Metric, "metric": Euclidean = "euclidean", Cosine = "cosine");

/// Whether PCA comes before everything else, and to how many components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PcaChoice {
    /// Keep the columns as they are.
    None,
    /// Exactly this many; refused if the data has fewer columns or rows.
    Components(usize),
    /// This many if the data has more columns than that, else none. Fewer rows than that span fewer
    /// dimensions, and all of those are kept.
    Auto(usize),
}

/// A PCA that drops less than this share of the variance drops only rounding.
const LEAST_DROPPED: f64 = 1e-5;

/// What the PCA of a map was fitted to.
pub(crate) struct PcaSource {
    /// The rows as the PCA takes them.
    pub(crate) rows: Matrix,
    /// Their covariance, or that of a table that holds them and more; `None` where it was not formed.
    pub(crate) covariance: Option<Covariance>,
}

/// A preprocessing and what it made of the rows it was fitted to.
pub(crate) struct Fitted {
    pub(crate) preprocess: Preprocess,
    pub(crate) rows: Matrix,
    /// How far each row is from its projection, if there is PCA.
    pub(crate) residuals: Option<Vec<f32>>,
    /// What the PCA was fitted to.
    pub(crate) source: Option<PcaSource>,
}

/// A fitted preprocessing: rows of `input_dims` columns in, rows of `output_dims` out.
#[derive(Clone, Debug, PartialEq)]
pub struct Preprocess {
    metric: Metric,
    input_dims: usize,
    pca: Option<Pca>,
}

impl Preprocess {
    /// Fits to `data` and returns it preprocessed: the very bits that `apply` gives for the same rows.
    ///
    /// Takes the data by value so that nothing is held twice: without PCA it is changed in place.
    pub fn fit(data: Matrix, metric: Metric, pca: PcaChoice, seed: u64) -> Result<(Self, Matrix)> {
        let Fitted { preprocess, rows, .. } = Self::fit_whole(data, metric, pca, seed)?;
        Ok((preprocess, rows))
    }

    /// The same, with all that is known on the way.
    pub(crate) fn fit_whole(mut data: Matrix, metric: Metric, pca: PcaChoice, seed: u64) -> Result<Fitted> {
        let (rows, input_dims) = (data.rows(), data.cols());
        if rows == 0 || input_dims == 0 {
            return Err(Error::Data(format!(
                "the data has {rows} rows and {input_dims} columns: at least one of each is needed"
            )));
        }
        data.check_finite()?;
        let components = components(pca, rows, input_dims)?;
        if metric == Metric::Cosine {
            refuse_zero_rows(&data)?;
            data.data_mut().par_chunks_mut(input_dims).for_each(scale_to_unit);
        }
        let Some(components) = components else {
            let preprocess = Self { metric, input_dims, pca: None };
            return Ok(Fitted { preprocess, rows: data, residuals: None, source: None });
        };
        let (pca, covariance) = Pca::fit_with_covariance(&data, components, seed)?;
        let (rows, residuals) = project(&pca, Metric::Euclidean, &data)?;
        let preprocess = Self { metric, input_dims, pca: Some(pca) };
        let source = Some(PcaSource { rows: data, covariance });
        Ok(Fitted { preprocess, rows, residuals: Some(residuals), source })
    }

    /// What its PCA was fitted to, if it was fitted to these rows.
    pub(crate) fn source(&self, rows: Matrix) -> Option<PcaSource> {
        self.pca.as_ref()?;
        let rows = self.before_pca(rows);
        Some(PcaSource { covariance: Covariance::of(&rows), rows })
    }

    /// Rows as its PCA takes them: of unit length for the cosine metric.
    pub(crate) fn before_pca(&self, mut rows: Matrix) -> Matrix {
        if self.metric == Metric::Cosine {
            rows.data_mut().par_chunks_mut(self.input_dims).for_each(scale_to_unit);
        }
        rows
    }

    /// Puts a preprocessing together from its parts, as when it is read from a file.
    pub fn new(metric: Metric, input_dims: usize, pca: Option<Pca>) -> Result<Self> {
        if input_dims == 0 {
            return Err(Error::Data("a preprocessing needs at least one column".into()));
        }
        match &pca {
            Some(pca) if pca.input_dims() != input_dims => Err(Error::Data(format!(
                "the PCA takes {} columns, but the preprocessing {input_dims}",
                pca.input_dims()
            ))),
            _ => Ok(Self { metric, input_dims, pca }),
        }
    }

    /// Preprocesses `rows`. Each row's result depends on that row alone.
    pub fn apply(&self, rows: &Matrix) -> Result<Matrix> {
        Ok(self.apply_with_residuals(rows)?.0)
    }

    /// The same, with how far each row is from its projection where there is PCA.
    pub(crate) fn apply_with_residuals(&self, rows: &Matrix) -> Result<(Matrix, Option<Vec<f32>>)> {
        self.check(rows)?;
        match &self.pca {
            Some(pca) => project(pca, self.metric, rows).map(|(rows, residuals)| (rows, Some(residuals))),
            None => {
                let mut out = rows.clone();
                if self.metric == Metric::Cosine {
                    out.data_mut().par_chunks_mut(self.input_dims).for_each(scale_to_unit);
                }
                Ok((out, None))
            }
        }
    }

    /// Preprocesses one row: the same bits as `apply` on any batch that holds it.
    pub fn apply_row(&self, row: &[f32]) -> Result<Vec<f32>> {
        self.check_width(row.len())?;
        self.apply(&Matrix::new(1, row.len(), row.to_vec())?).map(Matrix::into_data)
    }

    /// Preprocesses rows that were checked, one after another on this thread: the same bits as `apply`. With PCA also
    /// how far each is from its projection.
    pub(crate) fn apply_here(&self, rows: &[f32]) -> Result<(Vec<f32>, Option<Vec<f32>>)> {
        let Some(pca) = &self.pca else {
            let mut rows = rows.to_vec();
            if self.metric == Metric::Cosine {
                rows.chunks_exact_mut(self.input_dims).for_each(scale_to_unit);
            }
            return Ok((rows, None));
        };
        let (dims, k) = (self.input_dims, pca.output_dims());
        let mut scratch = vec![0.0; (ROWS * dims).min(rows.len())];
        let mut out = vec![0.0; rows.len() / dims * k];
        let mut residuals = vec![0.0; rows.len() / dims];
        let few = out.chunks_mut(ROWS * k).zip(residuals.chunks_mut(ROWS)).zip(rows.chunks(ROWS * dims));
        for ((out, residuals), rows) in few {
            let scratch = &mut scratch[..rows.len()];
            scratch.copy_from_slice(rows);
            project_few(pca, self.metric, scratch, out, residuals);
        }
        check_projected(&out, k)?;
        Ok((out, Some(residuals)))
    }

    /// Refuses rows that `apply` could not take.
    pub fn check(&self, rows: &Matrix) -> Result<()> {
        self.check_width(rows.cols())?;
        rows.check_finite()?;
        if self.metric == Metric::Cosine {
            refuse_zero_rows(rows)?;
        }
        Ok(())
    }

    /// Whether its PCA dropped variance, so that rows have a residual.
    pub(crate) fn drops_variance(&self) -> bool {
        self.pca.as_ref().is_some_and(|pca| {
            let kept: f64 = pca.variances().iter().sum();
            pca.total_variance() - kept > LEAST_DROPPED * pca.total_variance()
        })
    }

    /// A row as it was given, from what preprocessing made of it: the reconstruction by the principal components where there is
    /// a PCA, and of length 1 with the cosine metric.
    pub fn restored(&self, row: &[f32]) -> Vec<f32> {
        let Some(pca) = &self.pca else { return row.to_vec() };
        let mut values: Vec<f64> = pca.mean().iter().copied().map(f64::from).collect();
        for (at, &score) in row.iter().enumerate().take(pca.components().rows()) {
            let component = pca.components().row(at);
            values
                .iter_mut()
                .zip(component)
                .for_each(|(value, &c)| *value += f64::from(score) * f64::from(c));
        }
        values.into_iter().map(|value| value as f32).collect()
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Columns of the rows it takes.
    pub fn input_dims(&self) -> usize {
        self.input_dims
    }

    /// Columns of the rows it gives.
    pub fn output_dims(&self) -> usize {
        self.pca.as_ref().map_or(self.input_dims, Pca::output_dims)
    }

    /// The PCA, if there is one.
    pub fn pca(&self) -> Option<&Pca> {
        self.pca.as_ref()
    }

    fn check_width(&self, got: usize) -> Result<()> {
        if got == self.input_dims {
            return Ok(());
        }
        Err(Error::Data(format!(
            "expected {} columns, got {got}: give the same columns, in the same order, as the rows of the map",
            self.input_dims
        )))
    }
}

/// How many components the choice means for this data; `None` is no PCA.
fn components(choice: PcaChoice, rows: usize, cols: usize) -> Result<Option<usize>> {
    let refuse = |problem| Err(Error::Parameter { name: "pca", problem });
    match choice {
        PcaChoice::None => Ok(None),
        PcaChoice::Components(0) | PcaChoice::Auto(0) => {
            refuse("must be at least 1 component, or none".into())
        }
        PcaChoice::Components(k) if k > cols => refuse(format!(
            "asks for {k} components, but the data has {cols} columns: ask for at most {cols}, or none"
        )),
        PcaChoice::Components(k) if k > rows => refuse(format!(
            "asks for {k} components, but the data has {rows} rows: ask for at most {rows}, or none"
        )),
        PcaChoice::Components(_) if rows < 2 => refuse("needs at least 2 rows: choose none".into()),
        PcaChoice::Components(k) => Ok(Some(k)),
        // The rows, centred, span at most rows - 1 dimensions: nothing is lost by keeping only those.
        PcaChoice::Auto(k) if cols > k && rows > 1 => Ok(Some(k.min(rows - 1))),
        PcaChoice::Auto(_) => Ok(None),
    }
}

/// A row of zeros has no direction, so the cosine metric cannot place it.
pub(crate) fn refuse_zero_rows(rows: &Matrix) -> Result<()> {
    let is_zero = |i: &usize| rows.row(*i).iter().all(|&v| v == 0.0);
    match (0..rows.rows()).into_par_iter().find_first(is_zero) {
        None => Ok(()),
        Some(first) => {
            let others = (first + 1..rows.rows()).into_par_iter().filter(is_zero).count();
            Err(Fault::NoDirection { others }.of_row(first))
        }
    }
}

/// Scales a row that is not all zeros to length 1. The squares are summed in f64, where those of f32 neither
/// overflow nor vanish.
fn scale_to_unit(row: &mut [f32]) {
    let length = row.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    row.iter_mut().for_each(|v| *v = (f64::from(*v) / length) as f32);
}

/// Projects rows onto the components, a few at a time so that weights are read once for several rows. Beside them, how
/// far each row is from its projection.
fn project(pca: &Pca, metric: Metric, rows: &Matrix) -> Result<(Matrix, Vec<f32>)> {
    let (dims, k) = (rows.cols(), pca.output_dims());
    let mut out = Matrix::zeros(rows.rows(), k);
    let mut residuals = vec![0.0f32; rows.rows()];
    let blocks = out.data_mut().par_chunks_mut(ROWS * k).zip(residuals.par_chunks_mut(ROWS));
    blocks.zip(rows.data().par_chunks(ROWS * dims)).with_min_len(16).for_each_init(
        || vec![0.0f32; ROWS * dims],
        |scratch, ((out, residuals), rows)| {
            let scratch = &mut scratch[..rows.len()];
            scratch.copy_from_slice(rows);
            project_few(pca, metric, scratch, out, residuals);
        },
    );
    check_projected(out.data(), k)?;
    Ok((out, residuals))
}

impl Pca {
    /// Projects some of the rows, and tells how far each is from its projection.
    pub(crate) fn project_rows(&self, rows: &Matrix, which: &[u32]) -> Result<(Matrix, Vec<f32>)> {
        let (dims, k) = (rows.cols(), self.output_dims());
        let mut out = Matrix::zeros(which.len(), k);
        let mut residuals = vec![0.0f32; which.len()];
        let blocks = out.data_mut().par_chunks_mut(ROWS * k).zip(residuals.par_chunks_mut(ROWS));
        blocks.zip(which.par_chunks(ROWS)).with_min_len(16).for_each_init(
            || vec![0.0f32; ROWS * dims],
            |scratch, ((out, residuals), which)| {
                let scratch = &mut scratch[..which.len() * dims];
                for (row, &number) in scratch.chunks_exact_mut(dims).zip(which) {
                    row.copy_from_slice(rows.row(number as usize));
                }
                project_few(self, Metric::Euclidean, scratch, out, residuals);
            },
        );
        check_projected(out.data(), k)?;
        Ok((out, residuals))
    }
}

/// Projects at most `ROWS` rows, changing them.
fn project_few(pca: &Pca, metric: Metric, scratch: &mut [f32], out: &mut [f32], residuals: &mut [f32]) {
    let dims = pca.input_dims();
    if metric == Metric::Cosine {
        scratch.chunks_exact_mut(dims).for_each(scale_to_unit);
    }
    pca.project(scratch, out);
    // The components are orthonormal: what a row loses of its squared length is the square of its residual.
    let pairs = scratch.chunks_exact(dims).zip(out.chunks_exact(pca.output_dims()));
    for (residual, (centred, projected)) in residuals.iter_mut().zip(pairs) {
        *residual = (length2(centred) - length2(projected)).max(0.0).sqrt() as f32;
    }
}

/// The squared length, in eight sums that are always the same.
fn length2(row: &[f32]) -> f64 {
    vectorized(
        #[inline(always)]
        || {
            let (eights, rest) = row.as_chunks::<8>();
            let mut sums = [0.0f64; 8];
            for eight in eights {
                for lane in 0..8 {
                    sums[lane] += f64::from(eight[lane]) * f64::from(eight[lane]);
                }
            }
            let rest: f64 = rest.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}

fn check_projected(projected: &[f32], components: usize) -> Result<()> {
    match projected.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Fault::NotProjected.of_row(at / components)),
    }
}
