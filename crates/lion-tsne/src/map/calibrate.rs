//! Calibrated verdicts for a map that was made without them.

use super::{Map, refuse};
use crate::error::{Error, Result};
use crate::fit::pool;
use crate::matrix::Matrix;
use crate::verdict::{Calibration, CalibrationRows, LEAST_ROWS, neighbours_for, neighbours_in};

/// Values of rows that were preprocessed again differ by rounding; beyond this share of the largest they are other rows.
const ROUNDING: f32 = 1e-3;

impl Map {
    /// The map with verdicts calibrated anew. `rows` are the rows it was made of, in their order and with all their
    /// columns; without PCA the map has them itself. `groups` are as in [`Fit::groups`](crate::Fit::groups).
    pub fn calibrate(mut self, rows: Option<Matrix>, groups: Option<&[u32]>, threads: usize) -> Result<Self> {
        let fair = self.x.rows() - self.lion.as_ref().map_or(0, |lion| lion.covering);
        if fair < LEAST_ROWS {
            return refuse(format!(
                "{fair} different rows are too few to calibrate by: {LEAST_ROWS} are needed"
            ));
        }
        if let Some(groups) = groups.filter(|groups| groups.len() != self.rows()) {
            return refuse(format!(
                "there are groups for {} rows, and the map has {}",
                groups.len(),
                self.rows()
            ));
        }
        let perplexity = self.perplexity();
        let calibration = pool(threads)?.install(|| {
            if self.lion.is_none() {
                self = self.clone().with_parameters(perplexity)?;
            }
            self.calibration(rows, groups)
        })?;
        if let Some(lion) = &mut self.lion {
            lion.calibration = Some(calibration);
        }
        self.checked()
    }

    fn calibration(&self, rows: Option<Matrix>, groups: Option<&[u32]>) -> Result<Calibration> {
        let representatives = self.first_rows().unwrap_or_default();
        let fitted = self.preprocess.pca().is_some();
        let (rows, residuals) = match (fitted, rows) {
            (true, None) => {
                return Err(Error::Parameter {
                    name: "rows",
                    problem:
                        "are needed (--rows TABLE): the PCA of the map is fitted again without some of them"
                            .into(),
                });
            }
            (_, Some(rows)) => {
                let residuals = self.check_rows(&rows, &representatives)?;
                (Some(rows).filter(|_| fitted), residuals)
            }
            (false, None) => (None, None),
        };
        // The PCA of landmarks is that of a whole table, which is not there.
        let sampled = self.provenance.sampled_from.is_some();
        let source = rows.filter(|_| !sampled).and_then(|rows| self.preprocess.source(rows));
        let origin = CalibrationRows {
            x: &self.x,
            residuals: residuals.as_deref(),
            representatives: &representatives,
            place_of: self.place_of.as_deref(),
            groups,
            covering: self.lion.as_ref().map_or(0, |lion| lion.covering),
            seed: self.provenance.seed,
        };
        let out_of_sample = match source.is_some() || groups.is_some() {
            true => Some(origin.out_of_sample(source.as_ref(), neighbours_in(self.x.rows()))?),
            false => None,
        };
        let neighbours = neighbours_for(&self.x, self.provenance.seed)?;
        Ok(Calibration::new(&origin, out_of_sample, &neighbours, None))
    }

    /// Refuses rows that the map was not made of: other values, other columns, another order.
    pub fn check_original_rows(&self, rows: &Matrix) -> Result<()> {
        self.preprocess.check(rows)?;
        self.check_rows(rows, &self.first_rows().unwrap_or_default()).map(drop)
    }

    /// Refuses rows that the map was not made of. How far each distinct one is from its projection.
    pub(crate) fn check_rows(&self, rows: &Matrix, representatives: &[u32]) -> Result<Option<Vec<f32>>> {
        if let (Some(table), true) = (&self.provenance.sampled_from, rows.rows() != self.rows()) {
            return refuse(format!(
                "the map has {} landmarks of a table of {} rows, and only those can calibrate it: fit it again \
                 (lion fit calibrates it)",
                self.rows(),
                table.rows
            ));
        }
        if rows.rows() != self.rows() {
            let (found, wanted) = (rows.rows(), self.rows());
            return refuse(format!("the table has {found} rows, and the map was made of {wanted}"));
        }
        let (x, residuals) = self.preprocess.apply_with_residuals(rows)?;
        let largest = self.x.data().iter().fold(0.0f32, |most, v| v.abs().max(most));
        let differs = |row: &usize| {
            let pairs = x.row(*row).iter().zip(self.x.row(self.distinct(*row)));
            pairs.into_iter().any(|(a, b)| (a - b).abs() > ROUNDING * largest)
        };
        if let Some(row) = (0..rows.rows()).find(differs) {
            return refuse(format!("row {row} of the table is not the row that the map was made of"));
        }
        let of_distinct = |residuals: Vec<f32>| match self.place_of.is_some() {
            true => representatives.iter().map(|&row| residuals[row as usize]).collect(),
            false => residuals,
        };
        Ok(residuals.map(of_distinct))
    }
}
