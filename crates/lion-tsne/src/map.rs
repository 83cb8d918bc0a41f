//! The map: what was done to the rows, where they are in the space of distances, where they are on the plane.

mod calibrate;
mod original;
mod pictures;
mod projected;
mod shown;
mod texts;

pub use crate::file::Saved;
pub use original::{Original, OriginalValues};
pub use pictures::Image;
pub(crate) use pictures::{Bytes, Pictures};
pub(crate) use shown::BlockEntry;
pub use shown::{ShownColumn, ShownColumns, ShownKind, ShownValue, ShownValues};
pub use texts::Labels;
pub(crate) use texts::Texts;

use crate::error::{Error, Fault, Result};
use crate::fit::{LARGEST, PERPLEXITY};
use crate::landmarks::SampledFrom;
use crate::lion::{LionParameters, ParameterOverrides};
use crate::matrix::Matrix;
use crate::preprocess::Preprocess;
use crate::tsne::Descent;
use lion_recipe::Recipe;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::OnceLock;

/// How a map came to be. It holds no clock: the same data, parameters and seed make the same file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Effective number of neighbours.
    pub perplexity: f64,
    /// Iterations asked for.
    pub iterations: usize,
    /// Iterations done: fewer if the fit was stopped.
    pub iterations_done: usize,
    /// How the map moved down the gradient.
    #[serde(default = "classic", skip_serializing_if = "is_classic")]
    pub descent: Descent,
    /// Factor of the exaggeration.
    pub exaggeration: f64,
    /// Iterations with it.
    pub exaggeration_iterations: usize,
    /// Step length.
    pub learning_rate: f64,
    /// How the gradient was computed, e.g. `fft`.
    pub method: String,
    /// How the first layout was made, e.g. `pca`.
    pub init: String,
    /// How neighbours were found, e.g. `exact` or `approximate, recall 0.97`.
    pub search: String,
    /// The seed.
    pub seed: u64,
    /// KL divergence of the map, if it was computed.
    pub kl: Option<f64>,
    /// KL divergence on the way there.
    #[serde(skip)]
    pub kl_history: Vec<KlPoint>,
    /// Version of the library that made the map.
    pub version: String,
    /// The observer stopped the fit before its last iteration.
    pub stopped_early: bool,
    /// The places were made elsewhere and brought along.
    pub adopted: bool,
    /// What the rows were sampled from, if they are landmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_from: Option<SampledFrom>,
    /// Its rows went through the PCA before they were given, in another arithmetic than this library's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub projected_elsewhere: bool,
    /// The updates that led from a fit to this map, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<UpdateStep>,
}

/// What maps were made by before there was another.
fn classic() -> Descent {
    Descent::Classic
}

/// Maps of the classic descent are the files that they were before there was another.
fn is_classic(descent: &Descent) -> bool {
    *descent == Descent::Classic
}

/// One update of a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateStep {
    /// The checksum of the map that was updated.
    pub parent: String,
    /// Rows taken in; those that replace a row of the same id count.
    pub added: u64,
    /// Rows that went, replaced ones included.
    pub removed: u64,
    /// KL divergence after it, if it was computed.
    pub kl: Option<f64>,
    /// How far rows moved beyond the similarity transform of the whole, in map radii: the median.
    pub moved_median: f64,
    /// The same at the 90th percentile.
    pub moved_p90: f64,
    /// How firmly rows were held, from 0 to 1.
    pub stability: f64,
}

/// The KL divergence at one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KlPoint {
    /// Iterations done.
    pub iteration: u64,
    /// KL divergence then, without exaggeration.
    pub kl: f64,
}

/// What `Map::new` puts together. N rows were given, M of them distinct.
#[derive(Clone, Debug)]
pub struct MapParts {
    /// What was done to the rows first, and is done to every later row.
    pub preprocess: Preprocess,
    /// The distinct rows, preprocessed: M x k.
    pub x: Matrix,
    /// Their places: M x 2 or M x 3.
    pub y: Matrix,
    /// For each of N rows, which distinct row it equals; `None` if all are distinct.
    pub place_of: Option<Vec<u32>>,
    /// N distinct names of the rows.
    pub ids: Option<Vec<String>>,
    /// N labels.
    pub labels: Option<Vec<String>>,
    /// How the map came to be.
    pub provenance: Provenance,
    /// What placing needs; `None` leaves it to be computed when it is needed.
    pub lion: Option<LionParameters>,
}

/// A fitted map. Its parts agree with each other and are finite: there is no other way to make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    pub(crate) preprocess: Preprocess,
    pub(crate) x: Matrix,
    pub(crate) y: Matrix,
    pub(crate) place_of: Option<Vec<u32>>,
    pub(crate) ids: Option<Texts>,
    pub(crate) labels: Option<Labels>,
    pub(crate) provenance: Provenance,
    pub(crate) lion: Option<LionParameters>,
    /// Names of the columns that rows have before they are preprocessed.
    pub(crate) columns: Option<Texts>,
    pub(crate) pictures: Option<Pictures>,
    /// What was done to the columns of the table first.
    pub(crate) recipe: Option<Recipe>,
    /// Columns for people.
    pub(crate) shown: Option<ShownColumns>,
    pub(crate) checksum: KnownChecksum,
}

/// The checksum of a map once something has computed it, so that a large map is not hashed twice. What says the same map
/// is the same map, whether or not it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownChecksum(pub(crate) OnceLock<String>);

impl PartialEq for KnownChecksum {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Map {
    /// Puts a map together, or says which parts do not agree.
    pub fn new(parts: MapParts) -> Result<Self> {
        Self {
            preprocess: parts.preprocess,
            x: parts.x,
            y: parts.y,
            place_of: parts.place_of,
            ids: parts.ids.map(|ids| Texts::new(ids.iter().map(String::as_str))),
            labels: parts.labels.map(|labels| Labels::new(&labels)),
            provenance: parts.provenance,
            lion: parts.lion,
            columns: None,
            pictures: None,
            recipe: None,
            shown: None,
            checksum: KnownChecksum::default(),
        }
        .checked()
    }

    /// The map itself if everything that callers rely on holds. Whatever changes a map ends here, so that its checksum is
    /// forgotten.
    pub(crate) fn checked(mut self) -> Result<Self> {
        self.checksum = KnownChecksum::default();
        self.check_shapes()?;
        self.check_values()?;
        self.check_names()?;
        self.check_pictures()?;
        self.check_shown()?;
        let Provenance { perplexity, exaggeration, learning_rate, kl, kl_history, lineage, .. } =
            &self.provenance;
        let numbers = [*perplexity, *exaggeration, *learning_rate, kl.unwrap_or(0.0)].into_iter();
        let of_steps = lineage
            .iter()
            .flat_map(|step| [step.kl.unwrap_or(0.0), step.moved_median, step.moved_p90, step.stability]);
        if !numbers.chain(kl_history.iter().map(|point| point.kl)).chain(of_steps).all(f64::is_finite) {
            return refuse("a parameter or KL divergence of the map is not finite".into());
        }
        if let Some(from) = &self.provenance.sampled_from
            && (from.rows < self.rows() as u64 || from.uncovered.max(from.judged) > from.rows)
        {
            return refuse("the map has more rows than it was sampled from".into());
        }
        if let Some(lion) = &self.lion {
            lion.check(self.x.rows(), self.x.cols())?;
        }
        Ok(self)
    }

    /// Refuses values that no fit gives, and whose squares could overflow.
    fn check_values(&self) -> Result<()> {
        let mut longest = LARGEST;
        if let Some(pca) = self.preprocess.pca() {
            // No component of a row is longer than the row.
            longest *= 2.0 * (self.preprocess.input_dims() as f32).sqrt();
            check_within("pca.mean", &Matrix::from_rows(pca.mean().len(), pca.mean().to_vec()), LARGEST)?;
            check_within("pca.components", pca.components(), MOST_OF_DIRECTION)?;
        }
        check_within("x", &self.x, longest)?;
        check_within("y", &self.y, LARGEST)
    }

    fn check_shapes(&self) -> Result<()> {
        let (distinct, dims) = (self.x.rows(), self.y.cols());
        if distinct == 0 {
            return refuse("a map needs at least one row".into());
        }
        if u32::try_from(self.rows()).is_err() {
            return refuse(format!("a map holds at most {} rows, not {}", u32::MAX, self.rows()));
        }
        if self.y.rows() != distinct {
            return refuse(format!("there are {distinct} rows but {} places", self.y.rows()));
        }
        if !(1..=3).contains(&dims) {
            return refuse(format!("the places have {dims} dimensions, and must have 1 to 3"));
        }
        if self.x.cols() != self.preprocess.output_dims() {
            return refuse(format!(
                "the rows have {} columns, but the preprocessing gives {}",
                self.x.cols(),
                self.preprocess.output_dims()
            ));
        }
        match self.place_of.iter().flatten().position(|&place| place as usize >= distinct) {
            Some(i) => refuse(format!("row {i} has a place beyond the {distinct} there are")),
            None => Ok(()),
        }
    }

    fn check_names(&self) -> Result<()> {
        let rows = self.rows();
        let wanted = self.preprocess.input_dims();
        if let Some(columns) = self.columns.as_ref().filter(|columns| columns.len() != wanted) {
            return refuse(format!("there are {wanted} columns but {} names for them", columns.len()));
        }
        if let Some(recipe) = self.recipe.as_ref().filter(|recipe| recipe.width() != wanted) {
            let width = recipe.width();
            return refuse(format!("there are {wanted} columns, but the recipe of the table gives {width}"));
        }
        if let Some(ids) = &self.ids {
            if ids.len() != rows {
                return refuse(format!("there are {rows} rows but {} ids", ids.len()));
            }
            if let Some((first, second)) = ids.first_duplicate() {
                return refuse(format!(
                    "the id {:?} is given to row {first} and to row {second}: give each row its own",
                    ids.get(first)
                ));
            }
        }
        match &self.labels {
            Some(labels) if labels.codes().len() != rows => {
                refuse(format!("there are {rows} rows but {} labels", labels.codes().len()))
            }
            _ => Ok(()),
        }
    }

    /// Number of rows that were given: duplicates count.
    pub fn rows(&self) -> usize {
        self.place_of.as_ref().map_or(self.x.rows(), Vec::len)
    }

    /// Dimensions of the map, 1 to 3.
    pub fn dims(&self) -> usize {
        self.y.cols()
    }

    /// The distinct rows, preprocessed.
    pub fn x(&self) -> &Matrix {
        &self.x
    }

    /// The places of the distinct rows.
    pub fn y(&self) -> &Matrix {
        &self.y
    }

    /// The distinct row that row `i` of the data equals. Panics if there is no row `i`.
    pub fn distinct(&self, i: usize) -> usize {
        self.place_of.as_ref().map_or(i, |place_of| place_of[i] as usize)
    }

    /// The place of row `i` of the data. Panics if there is no row `i`.
    pub fn place(&self, i: usize) -> &[f32] {
        self.y.row(self.distinct(i))
    }

    /// For each row of the data the distinct row it equals; `None` if all are distinct.
    pub fn place_of(&self) -> Option<&[u32]> {
        self.place_of.as_deref()
    }

    /// For each distinct row the first row of the data that equals it; `None` if all are distinct.
    pub fn first_rows(&self) -> Option<Vec<u32>> {
        let mut first = vec![u32::MAX; self.x.rows()];
        for (row, &distinct) in (0..).zip(self.place_of()?) {
            let known = &mut first[distinct as usize];
            *known = row.min(*known);
        }
        // A distinct row that no row equals cannot come from a fit; a file may hold it.
        first.iter_mut().filter(|row| **row == u32::MAX).for_each(|row| *row = 0);
        Some(first)
    }

    /// The name of row `i` of the data: its number, counted from 0, if it has no other. Panics if there is no
    /// row `i`.
    pub fn id(&self, i: usize) -> Cow<'_, str> {
        match &self.ids {
            Some(ids) => Cow::Borrowed(ids.get(i)),
            None => {
                assert!(i < self.rows(), "row {i} of {}", self.rows());
                Cow::Owned(i.to_string())
            }
        }
    }

    /// Whether rows have names of their own.
    pub fn has_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// The labels, if there are any.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    /// How the map came to be.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The map of landmarks with a count of the rows, all of those sampled from, that lie beyond r_x of every landmark.
    pub fn with_beyond(mut self, counted: u64) -> Result<Self> {
        let landmarks = self.rows() as u64;
        let Some(from) = &mut self.provenance.sampled_from else {
            return refuse("the map is of all rows, not of landmarks".into());
        };
        from.judged = from.rows.saturating_sub(landmarks);
        (from.uncovered, from.uncovered_error) = (counted, 0);
        self.checked()
    }

    /// The map with what an earlier one has beside rows and places: names of columns, their recipe, pictures, and columns for
    /// people. Its first rows are these of the other's, the rest are new and bring their own columns for people.
    pub(crate) fn carrying(
        self,
        old: &Self,
        stayed: &[u32],
        new: &Matrix,
        shown: Option<&ShownColumns>,
    ) -> Result<Self> {
        let pictures = old.pictures.as_ref().map(|pictures| pictures.of_rows(old, stayed, new));
        if let Some(shown) = shown.filter(|shown| shown.rows() != new.rows()) {
            let (found, rows) = (shown.rows(), new.rows());
            return refuse(format!("there are {rows} new rows, and shown columns of {found}"));
        }
        let shown = old.shown.as_ref().map(|columns| columns.followed(stayed, shown, new.rows()));
        let (columns, recipe) = (old.columns.clone(), old.recipe.clone());
        Self { columns, pictures, recipe, shown: shown.transpose()?, ..self }.checked()
    }

    /// The same rows at other places. What placing needs is left to be computed when it is needed.
    pub fn with_places(&self, y: Matrix) -> Result<Self> {
        let provenance =
            Provenance { kl: None, kl_history: Vec::new(), adopted: true, ..self.provenance.clone() };
        Self { y, provenance, lion: None, ..self.clone() }.checked()
    }

    /// The perplexity it was made with; for a map made elsewhere, 30 or as much as it has rows for.
    pub fn perplexity(&self) -> f64 {
        match self.provenance.perplexity {
            p if p >= 1.0 => p,
            _ => PERPLEXITY.min(((self.x.rows() - 1) as f64 / 3.0).max(1.0)),
        }
    }

    /// The map with names for the columns that its rows were given with.
    pub fn with_columns(self, names: &[String]) -> Result<Self> {
        let columns = Some(Texts::new(names.iter().map(String::as_str)));
        Self { columns, ..self }.checked()
    }

    /// Names of the columns that its rows were given with, if they are known.
    pub fn columns(&self) -> Option<impl ExactSizeIterator<Item = &str>> {
        self.columns.as_ref().map(Texts::iter)
    }

    /// The map with what was done to the columns of a table before they became its rows. Its columns have the recipe's names then.
    pub fn with_recipe(self, recipe: Recipe) -> Result<Self> {
        let map = self.with_columns(&recipe.output_names())?;
        Self { recipe: Some(recipe), ..map }.checked()
    }

    /// What was done to the columns of a table before they became the rows of this map, and is done to every later row; `None` if
    /// they were numbers and were taken as they are.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// What placing needs, if the map holds it: maps of before placing do not.
    pub fn lion(&self) -> Option<&LionParameters> {
        self.lion.as_ref()
    }

    /// The map with the parameters of placing, all automatic.
    pub(crate) fn with_parameters(mut self, perplexity: f64) -> Result<Self> {
        let (places, seed) = ((&self.x, &self.y), self.provenance.seed);
        self.lion = Some(LionParameters::new(
            places,
            None,
            None,
            0,
            perplexity,
            &ParameterOverrides::default(),
            seed,
        )?);
        self.checksum = KnownChecksum::default();
        Ok(self)
    }

    /// What is done to a row before its distances are taken.
    pub fn preprocess(&self) -> &Preprocess {
        &self.preprocess
    }
}

/// Directions have length 1; this leaves room for what other programs round.
const MOST_OF_DIRECTION: f32 = 2.0;

fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Data(problem))
}

fn check_within(name: &str, matrix: &Matrix, most: f32) -> Result<()> {
    // As bits, magnitudes are in order, and what is not finite comes last: a block is compared at the speed of memory.
    let magnitude = |v: &f32| v.to_bits() & 0x7fff_ffff;
    let suspect = |block: &[f32]| block.iter().fold(0, |most, v| magnitude(v).max(most)) > most.to_bits();
    if !matrix.data().chunks(4096).any(suspect) {
        return Ok(());
    }
    match matrix.check_finite() {
        Err(Error::Unusable { row: Some(row), column: Some(column), fault: Fault::NotFinite(value) }) => {
            refuse(format!("{name} is {value} in row {row}, column {column}, and must be finite"))
        }
        Err(other) => Err(other),
        Ok(()) => {
            let at = matrix.data().iter().position(|v| v.abs() > most).unwrap_or_default();
            let (row, column) = (at / matrix.cols(), at % matrix.cols());
            let value = matrix.data()[at];
            refuse(format!(
                "{name} is {value:e} in row {row}, column {column}, and no map has values beyond {most:e}"
            ))
        }
    }
}
