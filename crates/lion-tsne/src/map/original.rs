//! The way back: the rows of a map in the columns and units of the table that it was fitted to.

use super::Map;
use crate::preprocess::{Metric, Pca};
use lion_recipe::{Cell, Encoding, Kind, RecipeColumn};
use rayon::prelude::*;

/// The rows of a map as a table of the columns that they had, one column at a time.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a>(&'a Map);

/// The values of one column, one for each row that the map was given.
#[derive(Clone, Debug, PartialEq)]
pub enum OriginalValues {
    /// Numbers; those of [`Kind::Boolean`] are 0 and 1, and those of [`Kind::Date`] days since 1970-01-01. A gap has what took its
    /// place.
    Numbers(Vec<f64>),
    /// For each row the number of its level; nothing for a gap that is known as one.
    Levels {
        /// The levels, the last of which is all others.
        names: Vec<String>,
        /// One for each row.
        codes: Vec<Option<u32>>,
    },
}

impl Map {
    /// Its rows in the columns of the table that it was fitted to, as far as the map knows them.
    pub fn original(&self) -> Original<'_> {
        Original(self)
    }
}

impl Original<'_> {
    /// How many columns there are.
    #[allow(clippy::len_without_is_empty, reason = "a map has at least one column")]
    pub fn len(&self) -> usize {
        match self.0.recipe() {
            Some(recipe) => recipe.columns().len(),
            None => self.0.preprocess().input_dims(),
        }
    }

    /// The name of a column. Panics if there is no such column.
    pub fn name(&self, column: usize) -> String {
        match self.0.recipe() {
            Some(recipe) => recipe.columns()[column].name.clone(),
            None => match &self.0.columns {
                Some(names) => names.get(column).to_owned(),
                None => format!("c{}", column + 1),
            },
        }
    }

    /// What its values are. Panics if there is no such column.
    pub fn kind(&self, column: usize) -> Kind {
        self.0.recipe().map_or(Kind::Number, |recipe| recipe.columns()[column].kind())
    }

    /// Why values are not those of the table, in words: a PCA or unit length has lost some of them. `None` where they are the same,
    /// but for the rounding to 32 bits.
    pub fn approximate(&self) -> Option<&'static str> {
        let preprocess = self.0.preprocess();
        match (preprocess.pca(), preprocess.metric()) {
            (_, Metric::Cosine) => Some("the map has rows of length 1: their true lengths are not known"),
            (Some(_), _) if preprocess.drops_variance() => {
                Some("values are rebuilt from the principal components, which leave some of them out")
            }
            _ => None,
        }
    }

    /// The values of a column. Panics if there is no such column.
    pub fn values(&self, column: usize) -> OriginalValues {
        let Some(recipe) = self.0.recipe() else {
            return OriginalValues::Numbers(self.of_rows(&self.encoded(column)).map(f64::from).collect());
        };
        let (own, at) = (&recipe.columns()[column], recipe.outputs().nth(column).unwrap_or_default());
        let encoded: Vec<Vec<f32>> = at.map(|output| self.encoded(output)).collect();
        match &own.encoding {
            Encoding::Category { levels, .. } => {
                levels_of(levels, &encoded, |codes| self.of_rows(&codes).collect())
            }
            _ => OriginalValues::Numbers(self.of_rows(&numbers_of(own, &encoded[0])).collect()),
        }
    }

    /// The values of one row of the map in all columns, each a list of one. Panics if there is no such row.
    pub fn row(&self, row: usize) -> Vec<OriginalValues> {
        self.decoded(&self.0.preprocess().restored(self.0.x().row(self.0.distinct(row))))
    }

    /// The same of any row as the map takes it: encoded by its recipe, if there is one. Panics if it has another number of
    /// columns.
    pub fn decoded(&self, row: &[f32]) -> Vec<OriginalValues> {
        assert_eq!(row.len(), self.0.preprocess().input_dims(), "columns of a row");
        let Some(recipe) = self.0.recipe() else {
            return row.iter().map(|&value| OriginalValues::Numbers(vec![f64::from(value)])).collect();
        };
        let columns = recipe.columns().iter().zip(recipe.outputs());
        let decoded = columns.map(|(own, at)| {
            let encoded: Vec<Vec<f32>> = row[at].iter().map(|&value| vec![value]).collect();
            match &own.encoding {
                Encoding::Category { levels, .. } => levels_of(levels, &encoded, |codes| codes),
                _ => OriginalValues::Numbers(numbers_of(own, &encoded[0])),
            }
        });
        decoded.collect()
    }

    /// One of the numbers that rows became, for each distinct row.
    fn encoded(&self, output: usize) -> Vec<f32> {
        let x = self.0.x();
        match self.0.preprocess().pca() {
            None => (0..x.rows()).map(|row| x.row(row)[output]).collect(),
            Some(pca) => (0..x.rows()).into_par_iter().map(|row| rebuilt(pca, x.row(row), output)).collect(),
        }
    }

    /// What distinct rows have, for each row that was given.
    fn of_rows<T: Copy>(&self, distinct: &[T]) -> impl Iterator<Item = T> {
        (0..self.0.rows()).map(|row| distinct[self.0.distinct(row)])
    }
}

fn rebuilt(pca: &Pca, row: &[f32], output: usize) -> f32 {
    let along =
        row.iter().enumerate().map(|(k, &v)| f64::from(v) * f64::from(pca.components().row(k)[output]));
    (f64::from(pca.mean()[output]) + along.sum::<f64>()) as f32
}

fn numbers_of(column: &RecipeColumn, encoded: &[f32]) -> Vec<f64> {
    let scaling = column.scaling();
    encoded.iter().map(|&value| scaling.map_or(0.0, |scaling| scaling.decode(value))).collect()
}

fn levels_of(
    levels: &[String],
    encoded: &[Vec<f32>],
    of_rows: impl Fn(Vec<Option<u32>>) -> Vec<Option<u32>>,
) -> OriginalValues {
    let (other, has_missing) = (levels.len() as u32, encoded.len() > levels.len() + 1);
    let code = |row: usize| {
        let largest = encoded.iter().map(|values| values[row]).fold(f32::NEG_INFINITY, f32::max);
        let at = encoded.iter().position(|values| values[row] == largest).unwrap_or(0);
        match at {
            at if at < levels.len() => Some(at as u32),
            at if has_missing && at == levels.len() => None,
            _ => Some(other),
        }
    };
    let codes = (0..encoded.first().map_or(0, Vec::len)).map(code).collect();
    let names = levels.iter().cloned().chain(["other".to_owned()]).collect();
    OriginalValues::Levels { names, codes: of_rows(codes) }
}

impl OriginalValues {
    /// The value of a row, as a cell of its kind; `None` beyond the last.
    pub fn cell(&self, row: usize, kind: Kind) -> Option<Cell<'_>> {
        match self {
            Self::Numbers(values) => values.get(row).map(|&value| match kind {
                Kind::Boolean => Cell::Boolean(value >= 0.5),
                Kind::Date => Cell::Date(value),
                _ => Cell::Number(value),
            }),
            Self::Levels { names, codes } => codes.get(row).map(|code| match code {
                Some(code) => Cell::Text(names[*code as usize].as_str().into()),
                None => Cell::Missing,
            }),
        }
    }
}
