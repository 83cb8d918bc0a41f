//! From rows to a map: preprocess, neighbours, affinities, first layout, descent.

mod check;
mod data;

pub(crate) use data::check_largest;

use crate::affinity::Affinities;
use crate::error::{Error, Result};
use crate::index::{Neighbours, Search, nearest_neighbours, wanted};
use crate::landmarks::{Sampled, SampledFrom, UncoveredCounter};
use crate::lion::{LionParameters, ParameterOverrides, Radius};
use crate::map::{KlPoint, Map, MapParts, Provenance};
use crate::matrix::Matrix;
use crate::preprocess::{
    Covariance, Fitted, Metric, Pca, PcaChoice, PcaSource, Preprocess, Unique, unique_rows,
};
use crate::progress::{Observer, Progress, Stage};
use crate::tsne::{ACCELERATED_RATE, Descent, Optimised, Repulsion, Schedule, init, optimise};
use crate::verdict::{Calibration, CalibrationRows, LEAST_ROWS, OutOfSample, neighbours_for, neighbours_in};
use data::check_data;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// How the repulsive half of the gradient is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// In the plane exact or FFT, whichever is quicker for the map as it is at each iteration; on a line and in space exact
    /// for small maps, Barnes-Hut beyond.
    #[default]
    Auto,
    /// Every pair: the oracle.
    Exact,
    /// A binary tree, quadtree or octree.
    BarnesHut,
    /// Interpolation on a grid; plane maps only.
    Fft,
}

/// Where the rows start.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Init {
    /// The first principal components, scaled to a standard deviation of 1e-4.
    #[default]
    Pca,
    /// The leading eigenvectors of the affinity graph, scaled likewise.
    Spectral,
    /// Gaussian, standard deviation 1e-4.
    Random,
    /// Given places, one for each row of the data, used as they are.
    Given(Matrix),
}

crate::named!(Method, "method": Auto = "auto", Exact = "exact", BarnesHut = "barnes-hut", Fft = "fft");
crate::named!(Init, "init": Pca = "pca", Random = "random", Spectral = "spectral"; beside Self::Given(_) = "given");

/// What to fit, and how. `Fit::default()` is what most people want.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Effective number of neighbours; three times as many other rows must be there. `None` is 30, or as much as the rows
    /// allow.
    pub perplexity: Option<f64>,
    /// How the map moves down the gradient. Maps of fewer than 5000 different rows always take the
    /// classic descent.
    pub descent: Descent,
    /// Iterations in all, those with exaggeration included. `None` is 750 of the classic descent; the accelerated one goes on until
    /// the KL divergence changes by less than 2 % within 50 iterations, at most 1000.
    pub iterations: Option<usize>,
    /// How many of them, the first ones, are exaggerated; `None` is a third of them, at most 250; of the accelerated descent
    /// three tenths, at most 150.
    pub exaggeration_iterations: Option<usize>,
    /// By how much (12).
    pub exaggeration: f64,
    /// Step length. `None` is rows / exaggeration while exaggerating; then rows, or less than that for maps under 25000
    /// rows, down to a twelfth; at least 50 always. The accelerated descent takes four times the rows.
    pub learning_rate: Option<f64>,
    /// Dimensions of the map, 1 to 3 (2).
    pub dims: usize,
    /// Distance between rows.
    pub metric: Metric,
    /// Whether PCA comes first, and to how many components (50 where there are more columns).
    pub pca: PcaChoice,
    /// A PCA that is fitted already, to more rows than these; `pca` does not count then.
    pub fitted_pca: Option<Pca>,
    /// Gradient.
    pub method: Method,
    /// Opening angle of Barnes-Hut, at most 0.5.
    pub theta: f64,
    /// First layout.
    pub init: Init,
    /// Neighbour search.
    pub search: Search,
    /// The nearest neighbours of each row, where they are known already: nothing is searched then. Distances are taken
    /// as they are, of whatever metric. Each row's list is in order, nearest first; the row itself may be in it or not.
    /// The first three times `perplexity` count, rows that equal another not among them.
    pub neighbours: Option<Neighbours>,
    /// The radius of neighbourhoods in placing, r_x; `None` is 99 % of NN-X.
    pub radius: Option<Radius>,
    /// The power of inverse-distance weighting; `None` is cross-validated.
    pub power: Option<f64>,
    /// How far outliers stay from places: a number, or a percentile P of NN-Y that makes it 2 P + r_close; `None` is 100 %.
    pub r_y: Option<Radius>,
    /// How far rows beside an outlier are from it at most; `None` is 10 % of NN-Y.
    pub r_close: Option<Radius>,
    /// For each row of the data the group it belongs to (a patient, a writer, a day), numbered from 0: new rows will come
    /// from other groups, so rows of one group are left out together when verdicts are calibrated.
    pub groups: Option<Vec<u32>>,
    /// Same seed, same bits.
    pub seed: u64,
    /// Threads; 0 is all. The result does not depend on it.
    pub threads: usize,
}

impl Default for Fit {
    fn default() -> Self {
        Self {
            perplexity: None,
            descent: Descent::default(),
            iterations: None,
            exaggeration_iterations: None,
            exaggeration: 12.0,
            learning_rate: None,
            dims: 2,
            metric: Metric::Euclidean,
            pca: PcaChoice::Auto(50),
            fitted_pca: None,
            method: Method::Auto,
            theta: 0.5,
            init: Init::Pca,
            search: Search::Auto,
            neighbours: None,
            radius: None,
            power: None,
            r_y: None,
            r_close: None,
            groups: None,
            seed: 0,
            threads: 0,
        }
    }
}

/// The rows to fit, with what is known of them.
#[derive(Clone, Debug)]
pub struct Rows {
    /// One row each.
    pub data: Matrix,
    /// Distinct names.
    pub ids: Option<Vec<String>>,
    /// Labels: carried along, never used for fitting.
    pub labels: Option<Vec<String>>,
}

impl From<Matrix> for Rows {
    fn from(data: Matrix) -> Self {
        Self { data, ids: None, labels: None }
    }
}

/// The perplexity that is taken unless another is given or there are too few rows for it.
pub const PERPLEXITY: f64 = 30.0;
/// Up to this many rows comparing every pair is quicker than a tree, and free of its error.
pub(crate) const EXACT_UP_TO: usize = 4000;
/// The least automatic learning rate.
const LEAST_RATE: f64 = 50.0;
/// From this many rows on the automatic learning rate after exaggeration is the number of rows. Smaller maps take shorter
/// steps: long ones reach a KL divergence about 2 % lower there, but more rows end beside neighbours of another kind.
const FULL_RATE_FROM: f64 = 25000.0;
/// The shortest of those steps, as a share of the rows: what the exaggerated phase takes by default.
const SHORTEST_STEP: f64 = 1.0 / 12.0;
/// Values beyond this could overflow when squared and summed.
pub(crate) const LARGEST: f32 = 1e15;

impl Fit {
    /// Fits a map to the rows. The observer hears of every step; if it says stop during the descent, the map reached so
    /// far is returned and says so.
    pub fn run(&self, rows: impl Into<Rows>, observer: &mut Observer<'_>) -> Result<Map> {
        self.run_covering(rows.into(), TableSample::default(), observer)
    }

    /// Fits a map to landmarks, whose PCA is that of the whole table, and judges what they leave out of it.
    pub fn run_sampled(&self, sampled: Sampled, observer: &mut Observer<'_>) -> Result<Map> {
        let Sampled { rows, covering, seen, stratified, pca, covariance, held_out } = sampled;
        let fitted_pca = pca.or_else(|| self.fitted_pca.clone());
        let sample = TableSample { covering, covariance };
        let mut map = Self { fitted_pca, ..self.clone() }.run_covering(rows, sample, observer)?;
        let (uncovered, uncovered_error, judged) =
            held_out.judge(&UncoveredCounter::new(&map, self.threads)?)?;
        let covering = covering as u64;
        map.provenance.sampled_from =
            Some(SampledFrom { rows: seen, stratified, covering, uncovered, uncovered_error, judged });
        Ok(map)
    }

    /// Fits a map to rows of a larger table.
    fn run_covering(&self, rows: Rows, sample: TableSample, observer: &mut Observer<'_>) -> Result<Map> {
        self.check(&rows)?;
        pool(self.threads)?.install(|| match self.dims {
            1 => self.run_in::<1>(rows, sample, observer),
            3 => self.run_in::<3>(rows, sample, observer),
            _ => self.run_in::<2>(rows, sample, observer),
        })
    }

    /// Takes places made elsewhere (by UMAP, PCA, anything) as the map of these rows: one row of `y` for each row.
    pub fn adopt(&self, rows: impl Into<Rows>, y: Matrix, observer: &mut Observer<'_>) -> Result<Map> {
        let rows = rows.into();
        check_data(&rows.data)?;
        self.check_groups(&rows)?;
        self.chosen().check()?;
        if y.rows() != rows.data.rows() {
            return Err(Error::Data(format!("there are {} rows but {} places", rows.data.rows(), y.rows())));
        }
        if !(1..=3).contains(&y.cols()) {
            return Err(Error::Data(format!("the places have {} columns, and must have 1 to 3", y.cols())));
        }
        y.check_finite()?;
        if y.data().iter().any(|v| v.abs() > LARGEST) {
            return Err(Error::Data(format!("there are places beyond {LARGEST:e}: scale them down")));
        }
        let provenance = Provenance {
            method: "none".into(),
            init: "given".into(),
            search: "none".into(),
            descent: Descent::Classic,
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            adopted: true,
            ..Provenance::default()
        };
        pool(self.threads)?.install(|| {
            // Every row keeps the place it was given, also rows that are equal.
            let (distinct, out) = self.prepare(rows, None, TableSample::default(), observer)?;
            let calibration = self.calibrate(&distinct, out, None, None)?;
            self.finish(distinct, y, None, calibration, provenance, observer)
        })
    }

    /// Preprocesses the rows; where `unique` says that some are equal, one of them stands for all. With it come the values
    /// of rows that were left out, where anything is fitted to the rows.
    fn prepare(
        &self,
        rows: Rows,
        unique: Option<Unique>,
        sample: TableSample,
        observer: &mut Observer<'_>,
    ) -> Result<(DistinctRows, Option<OutOfSample>)> {
        let (Rows { data, ids, labels }, TableSample { covering, covariance }) = (rows, sample);
        let total = data.rows() as u64;
        tell(observer, Stage::Preprocess, 0, total)?;
        let Fitted { preprocess, rows: x, residuals, source } = match &self.fitted_pca {
            Some(pca) => {
                let preprocess = Preprocess::new(self.metric, data.cols(), Some(pca.clone()))?;
                let (x, residuals) = preprocess.apply_with_residuals(&data)?;
                // A PCA of other rows alone has not seen these: nothing of it need be left out.
                let source = match covariance {
                    None => None,
                    covariance => Some(PcaSource { rows: preprocess.before_pca(data), covariance }),
                };
                Fitted { preprocess, rows: x, residuals, source }
            }
            None => Preprocess::fit_whole(data, self.metric, self.pca, self.seed)?,
        };
        let Unique { representatives, place_of } =
            unique.unwrap_or(Unique { representatives: Vec::new(), place_of: None });
        let (x, residuals) = match place_of.is_some() {
            true => {
                let of =
                    |residuals: Vec<f32>| representatives.iter().map(|&i| residuals[i as usize]).collect();
                (x.select(&representatives), residuals.map(of))
            }
            false => (x, residuals),
        };
        let distinct =
            DistinctRows { preprocess, x, residuals, representatives, place_of, ids, labels, covering };
        let out_of_sample = match source.is_some() || self.groups.is_some() {
            true if distinct.is_calibrated() => {
                let k = neighbours_in(distinct.x.rows());
                Some(self.origin(&distinct).out_of_sample(source.as_ref(), k)?)
            }
            _ => None,
        };
        tell(observer, Stage::Preprocess, total, total)?;
        Ok((distinct, out_of_sample))
    }

    pub(crate) fn origin<'a>(&'a self, distinct: &'a DistinctRows) -> CalibrationRows<'a> {
        CalibrationRows {
            x: &distinct.x,
            residuals: distinct.residuals.as_deref(),
            representatives: &distinct.representatives,
            place_of: distinct.place_of.as_deref(),
            groups: self.groups.as_deref(),
            covering: distinct.covering,
            seed: self.seed,
        }
    }

    /// What verdicts are calibrated by, if the rows are enough; from the neighbours at hand where they are of use.
    pub(crate) fn calibrate(
        &self,
        distinct: &DistinctRows,
        out_of_sample: Option<OutOfSample>,
        neighbours: Option<&Neighbours>,
        nn_x: Option<&[f32]>,
    ) -> Result<Option<Calibration>> {
        if !distinct.is_calibrated() {
            return Ok(None);
        }
        let neighbours = self.calibration_neighbours(distinct, neighbours)?;
        Ok(Some(Calibration::new(&self.origin(distinct), out_of_sample, &neighbours, nn_x)))
    }

    /// The neighbours at hand, or more of them where they are too few to calibrate by.
    pub(crate) fn calibration_neighbours<'a>(
        &self,
        distinct: &DistinctRows,
        neighbours: Option<&'a Neighbours>,
    ) -> Result<Cow<'a, Neighbours>> {
        match neighbours {
            Some(neighbours) if neighbours.k >= neighbours_in(distinct.x.rows()) => {
                Ok(Cow::Borrowed(neighbours))
            }
            _ => Ok(Cow::Owned(neighbours_for(&distinct.x, self.seed)?)),
        }
    }

    fn run_in<const D: usize>(
        &self,
        rows: Rows,
        sample: TableSample,
        observer: &mut Observer<'_>,
    ) -> Result<Map> {
        let unique = unique_rows(&rows.data);
        self.check_perplexity(unique.representatives.len(), "different rows")?;
        let perplexity = self.perplexity_for(unique.representatives.len());
        let given = self.neighbours.as_ref().map(|given| given.of_distinct(&unique, perplexity));
        let given = given.transpose()?;
        let (distinct, out_of_sample) = self.prepare(rows, Some(unique), sample, observer)?;
        let x = &distinct.x;
        let total = x.rows() as u64;
        let k = wanted(perplexity, x.rows());
        let (neighbours, nn_x, search, calibration) = match given {
            // Their distances may be of another metric than the one that placing goes by.
            Some(given) => {
                let nn_x = given.nearest_in(x);
                let calibration = self.calibrate(&distinct, out_of_sample, None, None)?;
                (given, nn_x, "given".into(), calibration)
            }
            None => {
                let (found, search) = nearest_neighbours(x, k, self.search, self.seed, observer)?;
                let nn_x: Vec<f32> =
                    found.distances2.iter().step_by(k).map(|distance2| distance2.sqrt()).collect();
                let calibration = self.calibrate(&distinct, out_of_sample, Some(&found), None)?;
                (found, nn_x, search, calibration)
            }
        };
        note(observer, Stage::Neighbours, total, &format!("{k} neighbours of {total} rows: {search}"))?;

        tell(observer, Stage::Affinities, 0, total)?;
        let p = Affinities::new(neighbours, perplexity);
        tell(observer, Stage::Affinities, total, total)?;

        tell(observer, Stage::Initialise, 0, total)?;
        let mut y = self.first_layout::<D>(&distinct, &p)?;
        tell(observer, Stage::Initialise, total, total)?;

        let (repulsion, method) = self.repulsion::<D>(x.rows());
        note(observer, Stage::Optimise, 0, &format!("gradient: {method}"))?;
        let schedule = self.schedule(x.rows());
        let optimised = optimise(p, &mut y, repulsion, &schedule, observer);
        if !optimised.kl.is_finite() || !y.iter().flatten().all(|v| v.is_finite()) {
            let problem = format!(
                "{:e} made the places run away: use a smaller one, or closer places to start from",
                schedule.learning_rates[1]
            );
            return Err(Error::Parameter { name: "learning rate", problem });
        }
        let provenance = self.provenance(&schedule, optimised, perplexity, method, search);
        let y = Matrix::new(y.len(), D, y.into_flattened())?;
        self.finish(distinct, y, Some(nn_x), calibration, provenance, observer)
    }

    /// Finds the parameters of placing and puts the map together.
    pub(crate) fn finish(
        &self,
        distinct: DistinctRows,
        y: Matrix,
        nn_x: Option<Vec<f32>>,
        calibration: Option<Calibration>,
        provenance: Provenance,
        observer: &mut Observer<'_>,
    ) -> Result<Map> {
        let DistinctRows { preprocess, x, residuals, place_of, ids, labels, covering, .. } = distinct;
        let total = x.rows() as u64;
        // There is a map to keep by now: the answer may stop nothing.
        let _ = observer(&Progress::of(Stage::Parameters, 0, total));
        let perplexity = if provenance.adopted { PERPLEXITY } else { provenance.perplexity };
        let (chosen, seed) = (self.chosen(), self.seed);
        let residuals = residuals.filter(|_| preprocess.drops_variance());
        let lion = LionParameters::new((&x, &y), nn_x, residuals, covering, perplexity, &chosen, seed)?;
        let lion = Some(LionParameters { calibration, ..lion });
        let _ = observer(&Progress::of(Stage::Parameters, total, total));
        Map::new(MapParts { preprocess, x, y, place_of, ids, labels, provenance, lion })
    }

    fn chosen(&self) -> ParameterOverrides {
        ParameterOverrides { radius: self.radius, power: self.power, r_y: self.r_y, r_close: self.r_close }
    }

    fn first_layout<const D: usize>(&self, distinct: &DistinctRows, p: &Affinities) -> Result<Vec<[f32; D]>> {
        let x = &distinct.x;
        Ok(match &self.init {
            Init::Random => init::random(x.rows(), self.seed),
            Init::Spectral => init::spectral(p, self.seed),
            Init::Given(y) => {
                let y = y.select(&distinct.representatives).into_data();
                y.as_chunks::<D>().0.to_vec()
            }
            // Where PCA came before, the columns are the components already.
            Init::Pca if distinct.preprocess.pca().is_none() => {
                let dims = D.min(x.cols());
                let (_, components) =
                    Preprocess::fit(x.clone(), Metric::Euclidean, PcaChoice::Components(dims), self.seed)?;
                init::components(&components, self.seed)
            }
            Init::Pca => init::components(x, self.seed),
        })
    }

    pub(crate) fn repulsion<const D: usize>(&self, rows: usize) -> (Repulsion<D>, &'static str) {
        let method = match self.method {
            Method::Auto if D == 2 => return (Repulsion::quicker(), "fft/exact, the quicker"),
            Method::Auto if rows <= EXACT_UP_TO => Method::Exact,
            Method::Auto => Method::BarnesHut,
            given => given,
        };
        let repulsion = match method {
            Method::Exact => Repulsion::Exact,
            Method::Fft => Repulsion::fft(),
            Method::Auto | Method::BarnesHut => Repulsion::barnes_hut(self.theta),
        };
        (repulsion, method.as_str())
    }

    fn schedule(&self, rows: usize) -> Schedule {
        let descent = self.descent.for_rows(rows);
        let rows = rows as f64;
        let rate = |share: f64| self.learning_rate.unwrap_or((rows * share).max(LEAST_RATE));
        let after = match descent {
            Descent::Classic => (rows / FULL_RATE_FROM).clamp(SHORTEST_STEP, 1.0),
            Descent::Accelerated => ACCELERATED_RATE,
        };
        let iterations = self.iterations.unwrap_or(descent.iterations());
        let exaggerated =
            self.exaggeration_iterations.unwrap_or_else(|| descent.exaggeration_iterations(iterations));
        Schedule {
            iterations,
            // With short steps of somebody's own choice a map seems settled before it opens.
            until_settled: self.iterations.is_none()
                && descent.ends_by_itself()
                && self.learning_rate.is_none(),
            exaggeration_iterations: exaggerated.min(iterations),
            exaggeration: self.exaggeration,
            learning_rates: [rate(self.exaggeration.recip()), rate(after)],
            descent,
        }
    }

    fn provenance(
        &self,
        schedule: &Schedule,
        optimised: Optimised,
        perplexity: f64,
        method: &str,
        search: String,
    ) -> Provenance {
        let history = optimised.history.iter();
        Provenance {
            perplexity,
            // Where nobody asked for a number, what it took.
            iterations: if optimised.stopped || !schedule.until_settled {
                schedule.iterations
            } else {
                optimised.iterations
            },
            iterations_done: optimised.iterations,
            descent: schedule.descent,
            exaggeration: self.exaggeration,
            exaggeration_iterations: schedule.exaggeration_iterations,
            learning_rate: schedule.learning_rates[1],
            method: method.into(),
            init: self.init.to_string(),
            search,
            seed: self.seed,
            kl: Some(optimised.kl),
            kl_history: history.map(|&(iteration, kl)| KlPoint { iteration: iteration as u64, kl }).collect(),
            version: env!("CARGO_PKG_VERSION").into(),
            stopped_early: optimised.stopped,
            adopted: false,
            sampled_from: None,
            projected_elsewhere: false,
            lineage: Vec::new(),
        }
    }
}

/// The rows that are embedded, and how the others hang on them.
pub(crate) struct DistinctRows {
    pub(crate) preprocess: Preprocess,
    pub(crate) x: Matrix,
    pub(crate) residuals: Option<Vec<f32>>,
    pub(crate) representatives: Vec<u32>,
    pub(crate) place_of: Option<Vec<u32>>,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) labels: Option<Vec<String>>,
    /// How many, the last ones, cover sparse regions.
    pub(crate) covering: usize,
}

impl DistinctRows {
    pub(crate) fn is_calibrated(&self) -> bool {
        self.x.rows() - self.covering >= LEAST_ROWS
    }
}

/// What the rows are to a larger table, if they are of one.
#[derive(Default)]
struct TableSample {
    /// So many rows, the last ones, cover sparse regions.
    covering: usize,
    /// The covariance of the table.
    covariance: Option<Covariance>,
}

/// So many threads, or all.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Parameter {
        name: "threads",
        problem: format!("{threads} could not be started: {e}"),
    })
}

fn tell(observer: &mut Observer<'_>, stage: Stage, done: u64, total: u64) -> Result<()> {
    match observer(&Progress::of(stage, done, total)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped(stage)),
    }
}

pub(crate) fn note(observer: &mut Observer<'_>, stage: Stage, done: u64, text: &str) -> Result<()> {
    let mut progress = Progress::of(stage, done, done);
    progress.note = Some(text);
    match observer(&progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped(stage)),
    }
}
