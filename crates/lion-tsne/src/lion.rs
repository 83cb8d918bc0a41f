//! LION: new rows get places in a map that never changes, and those that belong nowhere a place of their own (Boytsov,
//! Fouquet, Hartmann & Le Traon 2017, Visualizing and Exploring Dynamic High-Dimensional Datasets with LION-tSNE; LION is
//! local interpolation with outlier control). What is ours says so where it stands: the rules `energy` and `attraction`,
//! the calibrated verdict, the limit on the PCA residual.

mod columns;
mod descent;
mod earlier_outliers;
mod given_positions;
mod groups;
mod interpolate;
mod judge;
mod label_transfer;
mod local;
mod nearest;
mod outlier_grid;
mod parameters;
mod pca_residual;
mod pending_outlier;
mod pending_outliers;
mod placement;
mod placer;
mod power;
mod radius;
mod repulsion;
mod sweep;

pub use columns::{ColumnValues, PlacedRow, PlacementColumn};
pub use given_positions::{GivenPosition, GivenPositions, PositionsByKey};
pub use judge::{CalibrationFacts, DEFAULT_ALPHA, VerdictRule};
pub use label_transfer::LabelName;
pub use local::{Local, Taper};
pub use outlier_grid::Positions;
pub use parameters::LionParameters;
pub(crate) use parameters::{ParameterOverrides, spacing};
pub use pca_residual::PcaResidualLimit;
pub use pending_outlier::PendingOutlier;
pub use pending_outliers::PendingOutliers;
pub use placement::{Place, Placement, Resolved, Verdict};
pub use placer::Placer;
pub use power::{CrossValidated, PowerPoint};
pub use radius::Radius;

use crate::error::{Error, Result};
use crate::fit::{check_largest, pool};
use crate::index::{QueryNeighbours, RowIndex};
use crate::map::Map;
use crate::matrix::Matrix;
use crate::verdict::neighbours_in;
use descent::Energy;
use interpolate::{AmongNeighbours, SparedOutlier};
use judge::{JudgedRow, Rule};
use label_transfer::LabelTransfer;
pub(crate) use outlier_grid::{OutlierCell, OutlierGrid};
use parameters::{apart, check_apart, nearest_count};
use power::cross_validate;
use radius::ascending;
use rayon::prelude::*;
pub(crate) use repulsion::RepulsionField;
use std::fmt;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// How to place rows. `LionOptions::default()` is what most people want; `None` is as the map has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LionOptions {
    /// The radius of a row's neighbourhood, r_x; a percentile is one of NN-X.
    pub radius: Option<Radius>,
    /// The power of `Local::Idw`. Where a radius is given and no power, it is cross-validated anew.
    pub power: Option<f64>,
    /// How far outliers stay from places: a number, or a percentile P of NN-Y that makes it 2 P + r_close.
    pub r_y: Option<Radius>,
    /// How far rows beside an outlier are from it at most; a percentile is one of NN-Y.
    pub r_close: Option<Radius>,
    /// The rule for rows with neighbours.
    pub local: Local,
    /// Whether neighbours lose weight towards the radius.
    pub taper: Taper,
    /// Leave out neighbours whose places do not hang together with those of nearer ones.
    pub split_clusters: bool,
    /// Which rule decides what is an outlier; `None` is the calibrated one where the map has it, else the paper's.
    pub verdict: Option<VerdictRule>,
    /// The p-value up to which a row is an outlier: the share of rows like the map's own that may be called so. `None` is
    /// 1 %, or 1 / (N + 1) in maps of fewer than 99 rows.
    pub alpha: Option<f64>,
    /// Of the rows that are called outliers together, at most this share, in the mean, are like the map's own
    /// (Benjamini & Hochberg 1995), on top of `alpha`.
    pub fdr: Option<f64>,
    /// What the paper's rule does about rows with a large PCA residual.
    pub pca_residual: PcaResidualLimit,
    /// Which free position an outlier gets.
    pub positions: Positions,
    /// The seed of random positions.
    pub seed: u64,
    /// Threads; 0 is all. No place depends on it.
    pub threads: usize,
}

/// A map made ready for placing. It never changes the map, and may be shared between threads.
///
/// ```
/// use lion_tsne::{Fit, Lion, LionOptions, Matrix, Verdict, ignore};
///
/// # fn main() -> lion_tsne::Result<()> {
/// // Places made elsewhere: a row (a, b) of this grid is at (10 a, 10 b).
/// let grid = (0..100).map(|i| [(i % 10) as f32, (i / 10) as f32]);
/// let rows = Matrix::new(100, 2, grid.clone().flatten().collect())?;
/// let places = Matrix::new(100, 2, grid.flatten().map(|v| 10.0 * v).collect())?;
/// let map = Fit::default().adopt(rows, places, &mut ignore)?;
///
/// let lion = Lion::new(map, &LionOptions::default())?;
/// let placement = lion.place_row(&[3.0, 4.0])?;
/// assert_eq!((placement.verdict, &placement.place[..]), (Verdict::Exact, &[30.0, 40.0][..]));
/// assert_eq!(lion.place_row(&[3.5, 4.5])?.verdict, Verdict::Interpolated);
///
/// // A placer remembers: two outliers that have nothing to do with each other get positions apart.
/// let mut placer = lion.placer();
/// let (one, two) = (placer.place_row(&[50.0, 50.0])?, placer.place_row(&[-90.0, 20.0])?);
/// assert_eq!((one.verdict, one.group, two.group), (Verdict::Outlier, Some(0), Some(1)));
/// assert_ne!(one.place, two.place);
/// # Ok(())
/// # }
/// ```
pub struct Lion {
    map: Map,
    index: RowIndex,
    pool: Arc<rayon::ThreadPool>,
    /// How many nearest rows are looked for.
    nearest: usize,
    perplexity: f64,
    radius: Radius,
    r_x: f64,
    r_y: f64,
    r_close: f64,
    power: f64,
    local: Local,
    taper: Taper,
    split_clusters: bool,
    positions: Positions,
    seed: u64,
    /// NN-X, ascending.
    sorted_nn_x: Vec<f32>,
    rule: Rule,
    fdr: Option<f64>,
    /// What the places do to rows with neighbours, if the rule minds it and they can.
    repulsion: Option<RepulsionField>,
    /// All free, but for those with places in them.
    grid: OutlierGrid,
    /// For each distinct row the first row of the data that equals it, if any two are equal.
    first_row: Option<Vec<u32>>,
    /// The labels that new rows may get, if the map has any.
    labels: Option<LabelTransfer>,
}

impl Lion {
    /// Makes a map ready. Computes what the map does not hold; a map from `Fit` holds all of it.
    pub fn new(map: Map, options: &LionOptions) -> Result<Self> {
        let LionOptions { radius, power, r_y, r_close, .. } = *options;
        let chosen = ParameterOverrides { radius, power, r_y, r_close };
        chosen.check()?;
        if let PcaResidualLimit::Percentile(p) = options.pca_residual {
            Radius::Percentile(p).check("pca residual")?;
        }
        let pool = Arc::new(pool(options.threads)?);
        let perplexity = map.perplexity();
        let map = match map.lion() {
            Some(_) => map,
            None => pool.install(|| map.with_parameters(perplexity))?,
        };
        let own = Arc::clone(&pool);
        pool.install(|| Self::in_pool(own, map, options, &chosen, perplexity))
    }

    /// Of a map that has parameters. Works in the pool already.
    fn in_pool(
        pool: Arc<rayon::ThreadPool>,
        map: Map,
        options: &LionOptions,
        chosen: &ParameterOverrides,
        perplexity: f64,
    ) -> Result<Self> {
        let Some(kept) = map.lion().cloned() else {
            return Err(Error::Data("the map has no parameters of placing".into()));
        };
        let index = RowIndex::new(map.x(), kept.partitioning.as_ref());
        let (sorted_nn_x, sorted_nn_y) = (ascending(kept.fair(&kept.nn_x)), ascending(&kept.nn_y));
        let radius = chosen.radius.unwrap_or(kept.radius);
        let r_x = if radius == kept.radius { kept.r_x } else { radius.of(&sorted_nn_x) };
        let rule = Rule::new(&map, &kept, options)?;
        let r_close = chosen.r_close.map_or(kept.r_close, |r| r.of(&sorted_nn_y));
        let r_y = match (chosen.r_y, chosen.r_close) {
            (None, None) => kept.r_y,
            _ => apart(chosen.r_y, r_close, &sorted_nn_y),
        };
        check_apart(r_y, r_close, map.y())?;
        let anew = options.local == Local::Idw && chosen.radius.is_some() && !kept.power_given;
        let power = match chosen.power {
            Some(power) => power,
            None if anew => {
                let validated = cross_validate(map.x(), map.y(), &index, r_x, map.provenance().seed);
                validated.map_or(kept.power, |validated| validated.power)
            }
            None => kept.power,
        };
        let least = least_nearest(&rule, map.x().rows());
        let nearest = match options.local {
            Local::Energy | Local::Attraction => nearest_count(perplexity, map.x().rows()).max(least),
            Local::Idw => least,
        };
        let repulsion =
            if options.local == Local::Energy { repulsion_of(&map, &index, perplexity) } else { None };
        let (grid, first_row) = (OutlierGrid::new(map.y(), r_y), map.first_rows());
        let LionOptions { local, taper, split_clusters, positions, seed, fdr, .. } = *options;
        let mut lion = Self {
            map,
            index,
            pool,
            nearest,
            perplexity,
            radius,
            r_x,
            r_y,
            r_close,
            power,
            local,
            taper,
            split_clusters,
            positions,
            seed,
            sorted_nn_x,
            rule,
            fdr,
            repulsion,
            grid,
            first_row,
            labels: None,
        };
        lion.labels = lion.label_transfer();
        Ok(lion)
    }

    /// The map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// What r_x was asked to be.
    pub fn radius(&self) -> Radius {
        self.radius
    }

    /// The radius of a row's neighbourhood, as used.
    pub fn r_x(&self) -> f64 {
        self.r_x
    }

    /// How far outliers stay from places and from each other.
    pub fn r_y(&self) -> f64 {
        self.r_y
    }

    /// How far rows beside an outlier are from it at most.
    pub fn r_close(&self) -> f64 {
        self.r_close
    }

    /// The power of inverse-distance weighting.
    pub fn power(&self) -> f64 {
        self.power
    }

    /// The power of inverse-distance weighting that fits this radius best, with the whole curve; nothing where no row
    /// has two neighbours. Found anew, whatever power is used.
    pub fn cross_validate(&self) -> Option<CrossValidated> {
        let seed = self.map.provenance().seed;
        self.pool.install(|| cross_validate(self.map.x(), self.map.y(), &self.index, self.r_x, seed))
    }

    /// How many nearest rows the verdict needs.
    fn least_nearest(&self) -> usize {
        least_nearest(&self.rule, self.map.x().rows())
    }

    /// Places rows. Outliers among them know of each other, but of none of other calls: see [`Lion::placer`].
    pub fn place(&self, rows: &Matrix) -> Result<Vec<Placement>> {
        Ok(self.complete(self.resolve(rows)?))
    }

    /// Places one row.
    pub fn place_row(&self, row: &[f32]) -> Result<Placement> {
        self.placer().place_row(row)
    }

    /// A placer that remembers the outliers of its calls.
    pub fn placer(&self) -> Placer<'_> {
        Placer::new(self)
    }

    /// Places all rows but the outliers, whose positions depend on each other: for tables that pass by in parts.
    pub fn resolve(&self, rows: &Matrix) -> Result<Vec<Resolved>> {
        self.check(rows)?;
        let dims = rows.cols();
        let share = rows.rows().div_ceil(4 * self.pool.current_num_threads());
        let block = share.clamp(16, self.index.together());
        let resolve = |rows: &[f32]| self.resolve_here(rows);
        let blocks: Result<Vec<Vec<Resolved>>> = match self.pool.current_num_threads() {
            // Whoever asks for one thread may call from several.
            1 => rows.data().chunks(block * dims).map(resolve).collect(),
            _ => self.pool.install(|| rows.data().par_chunks(block * dims).map(resolve).collect()),
        };
        Ok(blocks?.into_iter().flatten().collect())
    }

    /// The same for one row, on this thread.
    pub(crate) fn resolve_row(&self, row: &[f32]) -> Result<Resolved> {
        let row = Matrix::new(1, row.len(), row.to_vec())?;
        self.check(&row)?;
        let resolved = self.resolve_here(row.data())?.pop();
        resolved.ok_or_else(|| Error::Data("there is no row to place".into()))
    }

    /// Refuses rows that cannot be placed, and names the first: not finite, too large, without a direction.
    pub fn check(&self, rows: &Matrix) -> Result<()> {
        self.map.preprocess().check(rows)?;
        check_largest(rows)
    }

    /// Settles rows on this thread. What becomes of a row depends on that row alone.
    fn resolve_here(&self, rows: &[f32]) -> Result<Vec<Resolved>> {
        let (rows, residuals) = self.map.preprocess().apply_here(rows)?;
        let seen = self.index.search(self.map.x(), &rows, self.nearest, self.r_x);
        let rows = rows.chunks_exact(self.map.x().cols());
        let judged = self.judge(rows.clone(), residuals.as_deref(), seen);
        let among = self.interpolate(rows.clone(), &judged);
        let resolved = judged.into_iter().zip(rows).zip(among).map(|((judged, row), among)| {
            let JudgedRow { placement, seen } = judged;
            self.resolved(row, placement, &seen, among)
        });
        Ok(resolved.collect())
    }

    /// A judged row with its place and label; `among` is what follows from its neighbours, if that was asked.
    fn resolved(
        &self,
        row: &[f32],
        placement: Placement,
        seen: &QueryNeighbours,
        among: AmongNeighbours,
    ) -> Resolved {
        let nearest_row = seen.nearest.first().map_or(0, |(_, row)| *row);
        let nearest = self.as_position(nearest_row);
        let AmongNeighbours { position: among, label } = among;
        let own = || self.labels.as_ref().and_then(|labels| labels.of_row(nearest_row));
        let (place, given) = match placement.verdict {
            Verdict::Exact => (self.as_place(nearest), own().or(label.clone())),
            Verdict::Interpolated => (self.as_place(among), label.clone()),
            Verdict::BesideOutlier => (self.beside(&nearest, row), None),
            Verdict::Outlier => (Place::default(), None),
        };
        let placement = Placement { place, ..placement }.labelled(given);
        if !self.waits(placement.verdict) {
            return Resolved::Placed(placement);
        }
        let among = self.fdr.map(|_| SparedOutlier { place: self.as_place(among), label });
        Resolved::Outlier(PendingOutlier { placement, row: row.to_vec(), target: nearest, among })
    }

    /// Whether rows of this verdict have their places once all rows of a call are known. Outliers do; where a false
    /// discovery rate is asked for, all strange rows, because it depends on all of them which are spared.
    pub fn waits(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Outlier => true,
            Verdict::BesideOutlier => self.fdr.is_some(),
            Verdict::Exact | Verdict::Interpolated => false,
        }
    }

    /// A place within r_close of a position, where depends on the row.
    pub(crate) fn beside(&self, position: &[f64; 3], row: &[f32]) -> Place {
        let dims = self.map.dims();
        let mut random = crate::random::Random::new(xxh3_64(bytemuck::cast_slice(row)));
        let direction: [f64; 3] = std::array::from_fn(|d| if d < dims { random.gaussian() } else { 0.0 });
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        // Evenly over the disc or ball; a little less than r_close, so that rounding does not leave it.
        let away = 0.999 * self.r_close * random.uniform().powf(1.0 / dims as f64);
        self.as_place(std::array::from_fn(|d| position[d] + direction[d] / length * away))
    }

    /// The place of a row of the map.
    fn as_position(&self, row: u32) -> [f64; 3] {
        let mut position = [0.0; 3];
        position.iter_mut().zip(self.map.y().row(row as usize)).for_each(|(p, &v)| *p = f64::from(v));
        position
    }

    pub(crate) fn as_place(&self, position: [f64; 3]) -> Place {
        Place { coordinates: position.map(|v| v as f32), dims: self.map.dims() as u8 }
    }
}

/// How many nearest rows a verdict needs, in a map of so many rows.
fn least_nearest(rule: &Rule, rows: usize) -> usize {
    match rule {
        Rule::Calibrated(_) => neighbours_in(rows),
        Rule::Paper(_) => 2,
    }
}

impl fmt::Debug for Lion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lion({:?}, {}-dimensional, r_x {})", self.map.x(), self.map.dims(), self.r_x)
    }
}

/// What the map's places do to one more. A map made elsewhere may be in other units than t-SNE's: its own rows tell how
/// strong the repulsion is that they are in balance with.
fn repulsion_of(map: &Map, index: &RowIndex, perplexity: f64) -> Option<RepulsionField> {
    /// Rows that are asked.
    const SAMPLE: usize = 500;
    let field = RepulsionField::new(map.y())?;
    if !map.provenance().adopted {
        return Some(field);
    }
    let (rows, x) = (map.x().rows(), map.x());
    let sample: Vec<u32> = (0..rows as u32).step_by(rows.div_ceil(SAMPLE)).collect();
    let nearest = nearest_count(perplexity, rows);
    let mut seen = index.search(x, x.select(&sample).data(), (nearest + 1).min(rows), 0.0);
    for (seen, row) in seen.iter_mut().zip(&sample) {
        seen.nearest.retain(|(_, other)| other != row);
        seen.nearest.truncate(nearest);
    }
    let asked = sample.iter().zip(&seen).map(|(&row, seen)| (row, &seen.nearest[..]));
    let share = Energy::new().balance(asked, map.y(), &field, perplexity);
    field.weakened(share)
}
