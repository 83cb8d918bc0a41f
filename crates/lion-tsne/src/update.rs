//! A map that takes in new rows and keeps its shape.
//!
//! Old rows begin where they are, ordinary new rows where LION places them, and new rows that belong together and nowhere
//! else as one cluster at a free position. Then all descend the KL divergence, each old row held where it was as firmly as
//! its neighbourhood is the same (`tsne/anchored.rs`). Ours; docs/update.md has the method and what it was measured to do.

mod forget;
mod moves;
mod start;
mod union;

pub use forget::{Forget, LEAST_KEPT};
pub use moves::Moves;

use crate::affinity::Affinities;
use crate::error::{Error, Result};
use crate::fit::{Fit, Rows, note, pool};
use crate::index::{Neighbours, Search, nearest_neighbours, wanted};
use crate::landmarks::SampledFrom;
use crate::lion::LionParameters;
use crate::map::{KlPoint, Map, Provenance, ShownColumns, UpdateStep};
use crate::matrix::Matrix;
use crate::progress::{Observer, Stage};
use crate::tsne::{AnchoredSchedule, Anchors, Descent, Optimised, optimise_anchored};
use crate::verdict::{Calibration, CalibrationRows, EarlierCalibration, neighbours_in};
use forget::emptied;
use moves::overlaps;
use start::Start;
use union::Union;

/// λ at a stability of one half: at s it is so many times s / (1 - s).
const STRENGTH: f64 = 9.0;
/// How many times as much it is when old rows begin to move.
const FIRST_STRENGTH: f64 = 10.0;
/// Iterations in which only new rows move, their exaggeration, and the step length as a share of the rows.
const GATHERING: usize = 100;
const EXAGGERATION: f64 = 4.0;
const GATHERING_STEP: f64 = 1.0 / 12.0;
/// Iterations in which all rows move under a little exaggeration, and those after.
const DECIDING: usize = 100;
const LITTLE_EXAGGERATION: f64 = 2.0;
const RELAXING: usize = 150;
/// Maps of more rows need fewer iterations, by the square root of how many more, down to the least share. A fit of so many
/// rows ends farther from its minimum, and the update only has to match it.
const ALL_ITERATIONS: f64 = 6000.0;
const LEAST_ITERATIONS: f64 = 0.4;
/// The shortest step.
const LEAST_RATE: f64 = 50.0;
/// The least weight of an old row, however much its neighbourhood changed.
const LEAST_WEIGHT: f32 = 1e-3;
/// How firmly a map made by t-SNE holds its rows unless told otherwise.
pub const STABILITY: f64 = 0.5;

/// What holds old rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchoring {
    /// Each as firmly as its neighbours are the same, under a similarity transform of the whole.
    #[default]
    Neighbourhoods,
    /// All alike, where they were, as in dynamic t-SNE (Rauber, Falcão & Telea 2016): to compare with.
    Fixed,
}

crate::named!(Anchoring, "anchoring": Neighbourhoods = "neighbourhoods", Fixed = "fixed");

/// How to take new rows into a map. `Update::default()` is what most people want.
///
/// ```
/// use lion_tsne::{Fit, Matrix, Update, ignore};
///
/// # fn main() -> lion_tsne::Result<()> {
/// let spiral = |i: usize| {
///     let angle = i as f32 * 0.1;
///     [angle * angle.cos(), angle * angle.sin(), (i % 7) as f32]
/// };
/// let rows = |range: std::ops::Range<usize>| Matrix::new(range.len(), 3, range.flat_map(spiral).collect());
/// let map = Fit { perplexity: Some(10.0), ..Fit::default() }.run(rows(0..150)?, &mut ignore)?;
/// let updated = Update::default().run(&map, rows(150..180)?, &mut ignore)?;
/// assert_eq!((updated.map.rows(), updated.step.added), (180, 30));
/// println!("old rows moved {:.3} map radii in the median", updated.step.moved_median);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// From 0, where old rows are held by nothing, to 1, where they stay where they are but for a similarity transform of
    /// the whole. `None` is [`STABILITY`], and 1 for a map made elsewhere, whose shape is not t-SNE's.
    pub stability: Option<f64>,
    /// What holds old rows.
    pub anchoring: Anchoring,
    /// Which old rows go.
    pub forget: Forget,
    /// The rows of the old map as they were given, in their order: the PCA is then made anew from them and the new ones.
    /// Without them it is kept, and widened where new rows stick out of it.
    pub rows: Option<Matrix>,
    /// The columns for people of the new rows. Of a map that has such columns, those of these names are taken; where one is
    /// not here, its values are missing.
    pub shown: Option<ShownColumns>,
    /// Same seed, same bits.
    pub seed: u64,
    /// Threads; 0 is all. The result does not depend on it.
    pub threads: usize,
}

/// A map after an update.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The map.
    pub map: Map,
    /// What was done.
    pub step: UpdateStep,
    /// How far each old row moved.
    pub moves: Moves,
    /// New rows that began as a cluster of their own, a count for each cluster.
    pub new_clusters: Vec<usize>,
    /// Clusters of the old map of which no row is left.
    pub emptied: Vec<String>,
    /// Components that the PCA was widened by.
    pub widened: usize,
}

impl Update {
    /// Makes a map of the rows of `old` and of new ones. `old` does not change. The observer hears of every step; if it
    /// says stop during the descent, the map reached so far is returned and says so.
    pub fn run(&self, old: &Map, rows: impl Into<Rows>, observer: &mut Observer<'_>) -> Result<Updated> {
        let rows = rows.into();
        if let Some(stability) = self.stability.filter(|s| !(0.0..=1.0).contains(s)) {
            let problem = format!("must be from 0 to 1, not {stability}");
            return Err(Error::Parameter { name: "stability", problem });
        }
        pool(self.threads)?.install(|| match old.dims() {
            1 => self.run_in::<1>(old, rows, observer),
            3 => self.run_in::<3>(old, rows, observer),
            _ => self.run_in::<2>(old, rows, observer),
        })
    }

    fn run_in<const D: usize>(&self, old: &Map, rows: Rows, observer: &mut Observer<'_>) -> Result<Updated> {
        let data = rows.data.clone();
        let union = Union::new(old, rows, self)?;
        let x = union.x();
        let total = x.rows() as u64;
        // Where rows went, fewer may be left than the old perplexity needs.
        let perplexity = old.perplexity().min((x.rows().saturating_sub(1)) as f64 / 3.0).max(1.0);
        let k = wanted(perplexity, x.rows());
        if k < 3 {
            return Err(Error::Data(format!(
                "there is no map of {total} rows: it needs at least 4 that differ"
            )));
        }
        let (neighbours, search) = nearest_neighbours(x, k, Search::Auto, self.seed, observer)?;
        let nn_x: Vec<f32> = neighbours.distances2.iter().step_by(k).map(|d| d.sqrt()).collect();
        let calibration = self.calibrate(old, &union, &neighbours)?;
        note(observer, Stage::Neighbours, total, &format!("{k} neighbours of {total} rows: {search}"))?;
        let overlaps = overlaps(old, &union, &neighbours, self.seed)?;
        let Start { mut y, new_clusters } = Start::<D>::new(old, &data, &union, &neighbours, self)?;
        let anchors = self.anchors::<D>(old, &union, &overlaps);
        let p = Affinities::new(neighbours, perplexity);
        let fit = self.fit_like::<D>(old);
        let (repulsion, method) = fit.repulsion::<D>(x.rows());
        let schedule = self.schedule(old, &union);
        let optimised = optimise_anchored(p, &mut y, anchors, repulsion, &schedule, observer)?;
        let moves = Moves::new::<D>(old, &union, &y, overlaps)?;
        let step = self.step(old, &union, &moves, &optimised)?;
        let provenance = self.provenance(old, optimised, &schedule, (perplexity, method, search), &step);
        let y = Matrix::new(y.len(), D, y.into_flattened())?;
        let emptied = emptied(old, &union.stayed, union.distinct.labels.as_deref());
        let Union { distinct, stayed, widened, .. } = union;
        let map = fit.finish(distinct, y, Some(nn_x), calibration, provenance, observer)?;
        let map = map.carrying(old, &stayed, &data, self.shown.as_ref())?;
        Ok(Updated { map, step, moves, new_clusters, emptied, widened })
    }

    /// What verdicts are calibrated by. Where the PCA was kept, the values of old rows are those of the old map: they are
    /// in the PCA's sample, and later rows are not. Where it was widened nothing is known of old rows, and a map that left
    /// out whole groups does not keep them: neither is calibrated.
    fn calibrate(&self, old: &Map, union: &Union, neighbours: &Neighbours) -> Result<Option<Calibration>> {
        let lion = old.lion();
        let known = lion.and_then(|lion| lion.calibration.as_ref());
        if known.is_some_and(|calibration| calibration.groups.is_some()) {
            return Ok(None);
        }
        let fit = Fit { seed: self.seed, ..Fit::default() };
        let distinct = &union.distinct;
        if union.source.is_none() && old.preprocess().drops_variance() {
            let known = lion.zip(known).filter(|_| union.widened == 0 && distinct.is_calibrated());
            return known.map(|(lion, known)| carry(&fit, union, neighbours, lion, known)).transpose();
        }
        let out_of_sample = match &union.source {
            Some(source) if distinct.is_calibrated() => {
                let k = neighbours_in(union.x().rows());
                Some(fit.origin(distinct).out_of_sample(Some(source), k)?)
            }
            _ => None,
        };
        fit.calibrate(distinct, out_of_sample, Some(neighbours), None)
    }

    /// A fit that asks for the radius and the power that were asked of the old map.
    fn fit_like<const D: usize>(&self, old: &Map) -> Fit {
        let lion = old.lion();
        Fit {
            dims: D,
            radius: lion.map(|lion| lion.radius),
            power: lion.filter(|lion| lion.power_given).map(|lion| lion.power),
            seed: self.seed,
            ..Fit::default()
        }
    }

    fn stability_for(&self, old: &Map) -> f64 {
        let automatic = if old.provenance().adopted { 1.0 } else { STABILITY };
        self.stability.unwrap_or(automatic)
    }

    fn anchors<const D: usize>(&self, old: &Map, union: &Union, overlaps: &[f32]) -> Anchors<D> {
        let rows = union.old_of.len();
        let under_similarity = self.anchoring == Anchoring::Neighbourhoods;
        let mut anchors = Anchors {
            places: vec![[0.0; D]; rows],
            weights: vec![0.0; rows],
            under_similarity,
            keeps_scale: old.provenance().adopted,
        };
        for (row, old_row) in union.old_of.iter().enumerate() {
            if let Some(old_row) = old_row {
                anchors.places[row].copy_from_slice(old.y().row(*old_row as usize));
                anchors.weights[row] = match self.anchoring {
                    Anchoring::Neighbourhoods => (overlaps[row] * overlaps[row]).max(LEAST_WEIGHT),
                    Anchoring::Fixed => 1.0,
                };
            }
        }
        anchors
    }

    fn step(&self, old: &Map, union: &Union, moves: &Moves, optimised: &Optimised) -> Result<UpdateStep> {
        Ok(UpdateStep {
            parent: old.checksum()?,
            added: union.added as u64,
            removed: (old.rows() - union.stayed.len()) as u64,
            kl: Some(optimised.kl).filter(|_| !old.provenance().adopted),
            moved_median: moves.quantile(0.5),
            moved_p90: moves.quantile(0.9),
            stability: self.stability_for(old),
        })
    }

    fn schedule(&self, old: &Map, union: &Union) -> AnchoredSchedule {
        let rows = union.x().rows() as f64;
        let stability = self.stability_for(old);
        let strength = STRENGTH * stability / (1.0 - stability);
        let share = (ALL_ITERATIONS / rows).sqrt().clamp(LEAST_ITERATIONS, 1.0);
        let shortened = |iterations: usize| (share * iterations as f64).round() as usize;
        AnchoredSchedule {
            gathering: if union.added > 0 { shortened(GATHERING) } else { 0 },
            exaggeration: EXAGGERATION,
            deciding: shortened(DECIDING),
            little_exaggeration: LITTLE_EXAGGERATION,
            relaxing: shortened(RELAXING),
            strengths: [FIRST_STRENGTH * strength, strength],
            learning_rates: [(rows * GATHERING_STEP).max(LEAST_RATE), rows.max(LEAST_RATE)],
        }
    }

    fn provenance(
        &self,
        old: &Map,
        optimised: Optimised,
        schedule: &AnchoredSchedule,
        (perplexity, method, search): (f64, &str, String),
        step: &UpdateStep,
    ) -> Provenance {
        let before = old.provenance();
        let iterations = schedule.iterations();
        let history = optimised.history.iter();
        let sampled_from = before.sampled_from.as_ref();
        Provenance {
            perplexity: if before.adopted { before.perplexity } else { perplexity },
            iterations,
            iterations_done: optimised.iterations,
            descent: Descent::Classic,
            exaggeration: schedule.exaggeration,
            exaggeration_iterations: schedule.gathering,
            learning_rate: schedule.learning_rates[1],
            method: method.into(),
            init: "update".into(),
            search,
            seed: self.seed,
            kl: step.kl,
            kl_history: history.map(|&(iteration, kl)| KlPoint { iteration: iteration as u64, kl }).collect(),
            version: env!("CARGO_PKG_VERSION").into(),
            stopped_early: optimised.stopped,
            adopted: before.adopted,
            sampled_from: sampled_from.map(|from| SampledFrom {
                rows: (from.rows + step.added).saturating_sub(step.removed),
                ..*from
            }),
            // Where the PCA is made anew, it is this library that projected every row.
            projected_elsewhere: before.projected_elsewhere && self.rows.is_none(),
            lineage: before.lineage.iter().chain([step]).cloned().collect(),
        }
    }
}

/// The calibration of the old map carried over to the rows of both.
fn carry(
    fit: &Fit,
    union: &Union,
    neighbours: &Neighbours,
    lion: &LionParameters,
    known: &Calibration,
) -> Result<Calibration> {
    let distinct = &union.distinct;
    let mut residuals = distinct.residuals.clone();
    if let (Some(residuals), Some(out_of_sample)) = (&mut residuals, &known.residuals) {
        for (residual, old) in residuals.iter_mut().zip(&union.old_of) {
            *residual = old.map_or(*residual, |old| out_of_sample[old as usize]);
        }
    }
    let origin = CalibrationRows { residuals: residuals.as_deref(), ..fit.origin(distinct) };
    let earlier = EarlierCalibration {
        calibration: known,
        nn_x: &lion.nn_x,
        covering: lion.covering,
        old_of: &union.old_of,
    };
    let neighbours = fit.calibration_neighbours(distinct, Some(neighbours))?;
    Ok(Calibration::carried(&origin, &neighbours, &earlier))
}
