//! What placing needs to know of a map: its nearest-neighbour distances NN-X and NN-Y, and the radii r_x, r_y and
//! r_close and the power p that follow from them (Boytsov et al. 2017, LION-tSNE).

use super::power::{PowerPoint, cross_validate};
use super::radius::{Radius, ascending, percentile};
use crate::error::{Error, Result};
use crate::index::{Partitioning, RowIndex, Search, nearest_neighbours};
use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use crate::preprocess::{Unique, unique_rows};
use crate::progress::ignore;
use crate::verdict::Calibration;

/// The radius of neighbourhoods unless another is given.
const RADIUS: Radius = Radius::Percentile(99.0);
/// The percentile of NN-Y within which rows are beside each other.
const CLOSE: Radius = Radius::Percentile(10.0);
/// Outliers are so many times as far from places as the loneliest of those are from each other.
const APART: f64 = 2.0;
/// The power where no row has two neighbours to find one by: in the middle of what maps of digits have.
const POWER: f64 = 20.0;
/// Neighbours may have been found approximately, or elsewhere: the distances of this share of rows, the farthest, are found
/// exactly.
const VERIFIED: f64 = 0.02;

/// What a person may choose of it; `None` is as the map has it, or automatic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ParameterOverrides {
    pub(crate) radius: Option<Radius>,
    pub(crate) power: Option<f64>,
    pub(crate) r_y: Option<Radius>,
    pub(crate) r_close: Option<Radius>,
}

impl ParameterOverrides {
    /// Refuses what cannot be.
    pub(crate) fn check(&self) -> Result<()> {
        let named = [("radius", self.radius), ("r_y", self.r_y), ("r_close", self.r_close)];
        for (name, radius) in named {
            radius.map_or(Ok(()), |radius| radius.check(name))?;
        }
        if self.r_y == Some(Radius::Value(0.0)) {
            let problem = "must be above 0: outliers are put apart by it".into();
            return Err(Error::Parameter { name: "r_y", problem });
        }
        match self.power {
            Some(p) if !(p > 0.0 && p.is_finite()) => {
                Err(Error::Parameter { name: "power", problem: format!("must be a number above 0, not {p}") })
            }
            _ => Ok(()),
        }
    }
}

/// What a map keeps for placing new rows.
#[derive(Clone, Debug, PartialEq)]
pub struct LionParameters {
    /// What r_x was asked to be.
    pub radius: Radius,
    /// The radius of a row's neighbourhood.
    pub r_x: f64,
    /// How far outliers stay from places and from each other.
    pub r_y: f64,
    /// How far rows beside an outlier are from it at most.
    pub r_close: f64,
    /// The power of inverse-distance weighting.
    pub power: f64,
    /// Whether the power was given; else it was cross-validated.
    pub power_given: bool,
    /// The error of each power that was tried, powers ascending.
    pub power_curve: Vec<PowerPoint>,
    /// NN-X: the distance of each distinct row to the nearest other.
    pub(crate) nn_x: Vec<f32>,
    /// NN-Y: the same for places.
    pub(crate) nn_y: Vec<f32>,
    /// How far each distinct row is from its projection, if the PCA dropped variance.
    pub(crate) residuals: Option<Vec<f32>>,
    /// The partitions of a large map's rows.
    pub(crate) partitioning: Option<Partitioning>,
    /// What verdicts are calibrated by; maps of before that, and maps of few rows, have none.
    pub(crate) calibration: Option<Calibration>,
    /// So many rows, the last ones, are there because they were far from all others: percentiles are of the rest.
    pub(crate) covering: usize,
}

impl LionParameters {
    /// From rows and their places. `nn_x` may be given where neighbours were found already; distances may be too large
    /// there, not too small. The last rows may be `covering` ones.
    pub(crate) fn new(
        (x, y): (&Matrix, &Matrix),
        nn_x: Option<Vec<f32>>,
        residuals: Option<Vec<f32>>,
        covering: usize,
        perplexity: f64,
        chosen: &ParameterOverrides,
        seed: u64,
    ) -> Result<Self> {
        let partitioning = Partitioning::new(x, nearest_count(perplexity, x.rows()), seed);
        let index = RowIndex::new(x, partitioning.as_ref());
        let mut nn_x = match nn_x {
            Some(nn_x) => nn_x,
            None => over_distinct(x, |x| nearest_distances(x, seed))?,
        };
        verify_farthest(&mut nn_x, x, &index);
        let nn_y = over_distinct(y, |y| Ok(KdTree::new(y.data(), y.cols()).nearest_distances()))?;
        let radius = chosen.radius.unwrap_or(RADIUS);
        let r_x = radius.of(&ascending(fair(&nn_x, covering)));
        let sorted_y = ascending(&nn_y);
        let r_close = chosen.r_close.unwrap_or(CLOSE).of(&sorted_y);
        let r_y = apart(chosen.r_y, r_close, &sorted_y);
        check_apart(r_y, r_close, y)?;
        let validated = match chosen.power {
            Some(_) => None,
            None => cross_validate(x, y, &index, r_x, seed),
        };
        Ok(Self {
            radius,
            r_x,
            r_y,
            r_close,
            power: chosen.power.or(validated.as_ref().map(|v| v.power)).unwrap_or(POWER),
            power_given: chosen.power.is_some(),
            power_curve: validated.map(|v| v.curve).unwrap_or_default(),
            nn_x,
            nn_y,
            residuals,
            partitioning,
            calibration: None,
            covering,
        })
    }

    /// What is known of the rows that are a fair sample: all but those that cover sparse regions.
    pub(crate) fn fair<'a, T>(&self, of_rows: &'a [T]) -> &'a [T] {
        fair(of_rows, self.covering)
    }

    /// Whether verdicts on new rows can be calibrated.
    pub fn is_calibrated(&self) -> bool {
        self.calibration.is_some()
    }

    /// NN-X: the distance of each distinct row to the nearest other.
    pub fn nn_x(&self) -> &[f32] {
        &self.nn_x
    }

    /// NN-Y: the distance of each place to the nearest other.
    pub fn nn_y(&self) -> &[f32] {
        &self.nn_y
    }

    /// Refuses parameters that do not go with a map of so many distinct rows of so many columns.
    pub(crate) fn check(&self, rows: usize, cols: usize) -> Result<()> {
        let refuse = |problem: &str| Err(Error::Data(format!("the parameters of placing {problem}")));
        let lengths = [Some(&self.nn_x), Some(&self.nn_y), self.residuals.as_ref()];
        if lengths.into_iter().flatten().any(|list| list.len() != rows) {
            return refuse("have a distance for each row of another map");
        }
        let distance = |v: &f32| *v >= 0.0 && v.is_finite();
        if !lengths.into_iter().flatten().flatten().all(distance) {
            return refuse("have a distance that is negative or not finite");
        }
        if self.covering >= rows {
            return refuse("have more covering rows than the map has rows");
        }
        let numbers = [self.r_x, self.r_y, self.r_close, self.power];
        if !numbers.iter().all(|v| *v >= 0.0 && v.is_finite()) || self.power <= 0.0 || self.r_y <= 0.0 {
            return refuse("have a radius or power that cannot be");
        }
        if !self.power_curve.iter().all(|point| point.power.is_finite() && point.error.is_finite()) {
            return refuse("have a curve that is not finite");
        }
        if let Some(calibration) = &self.calibration {
            calibration.check(rows)?;
        }
        let Some(Partitioning { centres, partition_of, probes }) = &self.partitioning else { return Ok(()) };
        let fits = partition_of.len() == rows
            && centres.cols() == cols
            && partition_of.iter().all(|&partition| (partition as usize) < centres.rows());
        if !fits || *probes == 0 {
            return refuse("have partitions of another map");
        }
        centres.check_finite()
    }
}

fn fair<T>(of_rows: &[T], covering: usize) -> &[T] {
    &of_rows[..of_rows.len().saturating_sub(covering)]
}

/// An index of rows, and the r_x that a map of them would have.
pub(crate) fn spacing(x: &Matrix, radius: Option<Radius>, seed: u64) -> Result<(RowIndex, f64)> {
    let partitioning = Partitioning::new(x, 1, seed);
    let index = RowIndex::new(x, partitioning.as_ref());
    let mut nn_x = over_distinct(x, |x| nearest_distances(x, seed))?;
    verify_farthest(&mut nn_x, x, &index);
    Ok((index, radius.unwrap_or(RADIUS).of(&ascending(&nn_x))))
}

/// How many nearest rows the energy of a place is taken over.
pub(crate) fn nearest_count(perplexity: f64, rows: usize) -> usize {
    (3.0 * perplexity).ceil().min(rows as f64).max(1.0) as usize
}

/// r_y: a number as it is, or so many times a percentile of NN-Y (the greatest unless another is given), and r_close.
/// Where that is 0, all places are one, and any distance shows.
pub(crate) fn apart(chosen: Option<Radius>, r_close: f64, nn_y: &[f32]) -> f64 {
    let r_y = match chosen {
        Some(Radius::Value(v)) => v,
        Some(Radius::Percentile(p)) => APART * percentile(nn_y, p) + r_close,
        None => APART * percentile(nn_y, 100.0) + r_close,
    };
    if r_y > 0.0 { r_y } else { 1.0 }
}

/// The widest span of places along a dimension.
fn extent(y: &Matrix) -> f64 {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for place in y.data().chunks_exact(y.cols()) {
        for ((low, high), &v) in low.iter_mut().zip(&mut high).zip(place) {
            *low = low.min(v);
            *high = high.max(v);
        }
    }
    let spans = low.iter().zip(&high).map(|(low, high)| f64::from(*high) - f64::from(*low));
    spans.fold(0.0, f64::max)
}

/// Refuses distances at which places of 32 bits would be one, or would overflow.
pub(crate) fn check_apart(r_y: f64, r_close: f64, y: &Matrix) -> Result<()> {
    /// Of the map's extent.
    const LEAST: f64 = 1e-6;
    const MOST: f64 = 1e15;
    let (extent, refuse) = (extent(y), |name, problem| Err(Error::Parameter { name, problem }));
    if r_y < LEAST * extent {
        return refuse(
            "r_y",
            format!(
                "is {r_y:e}, too small to be seen in a map {extent} wide: use at least {:e}",
                LEAST * extent
            ),
        );
    }
    for (name, value) in [("r_y", r_y), ("r_close", r_close)] {
        if value > MOST {
            return refuse(
                name,
                format!("is {value:e}, too large for places of 32 bits: use at most {MOST:e}"),
            );
        }
    }
    Ok(())
}

/// Nearest-neighbour distances among the distinct rows, for every row: a twin at distance 0 is no neighbour.
fn over_distinct(rows: &Matrix, distances: impl Fn(&Matrix) -> Result<Vec<f32>>) -> Result<Vec<f32>> {
    let Unique { representatives, place_of } = unique_rows(rows);
    match place_of {
        None => distances(rows),
        Some(place_of) => {
            let found = distances(&rows.select(&representatives))?;
            Ok(place_of.iter().map(|&row| found[row as usize]).collect())
        }
    }
}

fn nearest_distances(x: &Matrix, seed: u64) -> Result<Vec<f32>> {
    if x.rows() < 2 {
        return Ok(vec![0.0; x.rows()]);
    }
    let (found, _) = nearest_neighbours(x, 1, Search::Auto, seed, &mut ignore)?;
    Ok(found.distances2.iter().map(|d| d.sqrt()).collect())
}

/// A nearest row that was missed makes a distance too large. Looking again at the largest makes every percentile above
/// those right: what is below them can only be smaller than it seems.
fn verify_farthest(nn_x: &mut [f32], x: &Matrix, index: &RowIndex) {
    use rayon::prelude::*;
    let limit = percentile(&ascending(nn_x), 100.0 * (1.0 - VERIFIED));
    let far = |row: &u32| f64::from(nn_x[*row as usize]) >= limit;
    let suspects: Vec<u32> = (0..nn_x.len() as u32).filter(far).collect();
    let verified: Vec<(u32, f32)> = suspects
        .par_chunks(64)
        .flat_map_iter(|rows| {
            let radii: Vec<f64> = rows.iter().map(|&row| f64::from(nn_x[row as usize])).collect();
            rows.iter().zip(index.within(x, x.select(rows).data(), &radii)).map(|(&row, near)| {
                // Neither itself nor a twin.
                let other = near.iter().find(|(distance2, _)| *distance2 > 0.0);
                (row, other.map_or(nn_x[row as usize], |(distance2, _)| distance2.sqrt()))
            })
        })
        .collect();
    verified.into_iter().for_each(|(row, distance)| nn_x[row as usize] = distance);
}
