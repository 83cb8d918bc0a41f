//! Two samples on a map: where one of them has another share than the other, beyond chance.
//!
//! Each cluster, the outliers, and each region of the map is a two by two table: inside or not, first sample or second.
//! Fisher's exact test (1935) gives each a two-sided p-value, twice the smaller tail; Holm's correction (1979) holds for all
//! of them together, however dependent they are. Regions are found from both samples as one, so that which sample a point
//! is of has no part in it and the tests stay exact. Ours, but for the two tests.

use super::alarms::tail::ln_gamma;
use crate::lion::Place;
use serde::Serialize;

/// Changes of share are told at this family-wise error rate.
pub const LEVEL: f64 = 0.01;
/// So many points are in a region, at least, of both samples together.
const IN_REGION: usize = 24;
/// The map is split in halves so often at most: 64 regions.
const SPLITS: u32 = 6;

/// A point of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplePoint {
    /// Where it is.
    pub place: Place,
    /// The number of its cluster, if it is in one.
    pub cluster: Option<u32>,
    /// Whether it is an outlier: those are in no region.
    pub outlier: bool,
}

/// How a share changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareTrend {
    /// The second sample has more.
    Gained,
    /// The second sample has less.
    Lost,
}

crate::named!(ShareTrend, "change": Gained = "gained", Lost = "lost");

/// The shares of two samples that lie in one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShareChange {
    /// Points of the first sample, and of the second.
    pub a: u64,
    /// Points of the second.
    pub b: u64,
    /// The share of the first sample.
    pub share_a: f64,
    /// The share of the second.
    pub share_b: f64,
    /// The p-value of Fisher's exact test, two-sided.
    pub p: f64,
    /// The same after Holm's correction over all tests.
    pub adjusted: f64,
    /// What is beyond chance, at [`LEVEL`].
    pub change: Option<ShareTrend>,
}

/// A part of the map, and how its share changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionChange {
    /// The least coordinates of its points.
    pub min: Vec<f32>,
    /// The greatest.
    pub max: Vec<f32>,
    /// Its shares.
    #[serde(flatten)]
    pub shares: ShareChange,
}

/// Two samples, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareComparison {
    /// By the numbers of clusters.
    pub clusters: Vec<ShareChange>,
    /// Outliers, wherever they are.
    pub outliers: ShareChange,
    /// Boxes that do not overlap, with about as many points in each.
    pub regions: Vec<RegionChange>,
    /// How many tests were made.
    pub tests: usize,
}

impl ShareComparison {
    /// Compares two samples on a map with so many clusters.
    pub fn new(a: &[SamplePoint], b: &[SamplePoint], clusters: usize) -> Self {
        let all: Vec<(SamplePoint, bool)> =
            a.iter().map(|point| (*point, false)).chain(b.iter().map(|point| (*point, true))).collect();
        let totals = [a.len() as u64, b.len() as u64];
        let mut in_clusters = vec![[0u64; 2]; clusters];
        for (point, second) in &all {
            if let Some(counts) = point.cluster.and_then(|cluster| in_clusters.get_mut(cluster as usize)) {
                counts[usize::from(*second)] += 1;
            }
        }
        let outliers = count(all.iter().filter(|(point, _)| point.outlier));
        let mut ordinary: Vec<(SamplePoint, bool)> =
            all.into_iter().filter(|(point, _)| !point.outlier).collect();
        let mut regions = Vec::new();
        split(&mut ordinary, SPLITS, &mut regions);

        let counts =
            in_clusters.into_iter().chain([outliers]).chain(regions.iter().map(|region| region.counts));
        let mut shares: Vec<ShareChange> = counts.map(|counts| ShareChange::new(counts, totals)).collect();
        correct(&mut shares);
        let tests = shares.len();
        let in_regions = shares.split_off(clusters + 1);
        let outliers = shares[clusters];
        shares.truncate(clusters);
        let region = |(Region { min, max, .. }, shares)| RegionChange { min, max, shares };
        let regions = regions.into_iter().zip(in_regions).map(region).collect();
        Self { clusters: shares, outliers, regions, tests }
    }
}

impl ShareChange {
    /// Not corrected yet.
    fn new([a, b]: [u64; 2], [all_a, all_b]: [u64; 2]) -> Self {
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        let p = fisher(b, all_b, a + b, all_a + all_b);
        Self { a, b, share_a: share(a, all_a), share_b: share(b, all_b), p, adjusted: p, change: None }
    }
}

/// Holm's correction, and what is beyond chance by it.
fn correct(shares: &mut [ShareChange]) {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&x, &y| shares[x].p.total_cmp(&shares[y].p).then(x.cmp(&y)));
    let mut adjusted = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        let share = &mut shares[at];
        adjusted = adjusted.max((order.len() - rank) as f64 * share.p).min(1.0);
        share.adjusted = adjusted;
        let trend = if share.share_b > share.share_a { ShareTrend::Gained } else { ShareTrend::Lost };
        share.change = (adjusted <= LEVEL).then_some(trend);
    }
}

/// The two-sided p-value of `x` marked ones among `drawn`, of `all` of which `marked` are marked.
fn fisher(x: u64, drawn: u64, marked: u64, all: u64) -> f64 {
    let [x, drawn, marked, all] = [x, drawn, marked, all].map(|count| count as f64);
    if all == 0.0 || drawn == 0.0 || drawn == all || marked == 0.0 || marked == all {
        return 1.0;
    }
    // As many fewer marked ones are more of the others: the upper tail alone is enough.
    let (x, marked) = if x >= drawn * marked / all { (x, marked) } else { (drawn - x, all - marked) };
    let choose = |n: f64, k: f64| ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let mut term = (choose(marked, x) + choose(all - marked, drawn - x) - choose(all, drawn)).exp();
    let (mut sum, mut x) = (term, x);
    while x < marked.min(drawn) && term > 1e-12 * sum {
        term *= (marked - x) * (drawn - x) / ((x + 1.0) * (all - marked - drawn + x + 1.0));
        sum += term;
        x += 1.0;
    }
    (2.0 * sum).min(1.0)
}

/// Points that lie together.
struct Region {
    min: Vec<f32>,
    max: Vec<f32>,
    counts: [u64; 2],
}

fn count<'a>(points: impl Iterator<Item = &'a (SamplePoint, bool)>) -> [u64; 2] {
    let mut counts = [0; 2];
    points.for_each(|(_, second)| counts[usize::from(*second)] += 1);
    counts
}

/// Splits points at their median, across the axis along which they are widest, again and again.
fn split(points: &mut [(SamplePoint, bool)], splits: u32, regions: &mut Vec<Region>) {
    let Some((first, _)) = points.first() else { return };
    let dims = first.place.len();
    let bound = |axis: usize, pick: fn(f32, f32) -> f32| {
        points.iter().map(|(point, _)| point.place[axis]).reduce(pick).unwrap_or_default()
    };
    let min: Vec<f32> = (0..dims).map(|axis| bound(axis, f32::min)).collect();
    let max: Vec<f32> = (0..dims).map(|axis| bound(axis, f32::max)).collect();
    let width = |axis: &usize| max[*axis] - min[*axis];
    let widest = (0..dims).max_by(|x, y| width(x).total_cmp(&width(y)).then(y.cmp(x))).unwrap_or(0);
    if splits > 0 && points.len() >= 2 * IN_REGION {
        let of = |(point, _): &(SamplePoint, bool)| point.place[widest];
        points.sort_by(|x, y| of(x).total_cmp(&of(y)));
        // Points of one place stay together, or their order would decide.
        let middle = of(&points[points.len() / 2]);
        let below = points.partition_point(|point| of(point) < middle);
        let at = if below > 0 { below } else { points.partition_point(|point| of(point) <= middle) };
        if at < points.len() {
            let (left, right) = points.split_at_mut(at);
            split(left, splits - 1, regions);
            split(right, splits - 1, regions);
            return;
        }
    }
    regions.push(Region { min, max, counts: count(points.iter()) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// By counting all tables.
    #[test]
    fn p_values_are_those_of_the_definition() {
        let choose = |n: u64, k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
        for (drawn, marked, all) in [(8, 5, 20), (10, 10, 20), (3, 17, 30), (12, 2, 40)] {
            let chance = |x: u64| choose(marked, x) * choose(all - marked, drawn - x) / choose(all, drawn);
            let possible = || (drawn + marked).saturating_sub(all)..=marked.min(drawn);
            for x in possible() {
                let upper: f64 = possible().filter(|&y| y >= x).map(chance).sum();
                let lower: f64 = possible().filter(|&y| y <= x).map(chance).sum();
                let is_more = x * all >= drawn * marked;
                let truth = (2.0 * if is_more { upper } else { lower }).min(1.0);
                let found = fisher(x, drawn, marked, all);
                assert!((found - truth).abs() < 1e-9, "{x} of {drawn}, {marked} of {all}: {found} {truth}");
            }
        }
        assert_eq!((fisher(0, 0, 5, 10), fisher(3, 10, 3, 10)), (1.0, 1.0));
    }

    /// Halves of fewer points would tell nothing.
    #[test]
    fn regions_have_enough_points() {
        for rows in [1, IN_REGION, IN_REGION + 2, 2 * IN_REGION - 1, 2 * IN_REGION, 5 * IN_REGION] {
            let mut random = Random::new(rows as u64);
            let sampled = sample(&mut random, rows, 0.5);
            let mut points: Vec<(SamplePoint, bool)> =
                sampled.into_iter().map(|point| (point, true)).collect();
            let mut regions = Vec::new();
            split(&mut points, 10, &mut regions);
            let counts: Vec<u64> = regions.iter().map(|region| region.counts[1]).collect();
            assert_eq!(counts.iter().sum::<u64>(), rows as u64);
            assert_eq!(counts.len() > 1, rows >= 2 * IN_REGION, "{counts:?}");
            assert!(counts.len() == 1 || counts.iter().all(|&count| count >= IN_REGION as u64), "{counts:?}");
        }
    }

    fn sample(random: &mut Random, rows: usize, right: f64) -> Vec<SamplePoint> {
        let point = |random: &mut Random| {
            let side = u32::from(random.uniform() < right);
            let place = [random.uniform() as f32 + 2.0 * side as f32, random.uniform() as f32];
            let outlier = random.uniform() < 0.02;
            SamplePoint {
                place: place.to_vec().try_into().unwrap(),
                cluster: (!outlier).then_some(side),
                outlier,
            }
        };
        (0..rows).map(|_| point(random)).collect()
    }

    /// Fisher's test with Holm's correction is exact or careful, so no more than the share that is promised may be told; three
    /// standard deviations of that count are chance.
    #[test]
    fn samples_alike_have_a_change_in_one_of_a_hundred_at_most() {
        let mut random = Random::new(1);
        for (rows, others) in [(40, 30), (300, 150), (1000, 1000)] {
            let told = (0..1000).filter(|_| {
                let (a, b) = (sample(&mut random, rows, 0.5), sample(&mut random, others, 0.5));
                let found = ShareComparison::new(&a, &b, 2);
                let mut all = found.clusters.iter().chain([&found.outliers]).copied().collect::<Vec<_>>();
                all.extend(found.regions.iter().map(|region| region.shares));
                assert_eq!(all.len(), found.tests);
                all.iter().any(|share| share.change.is_some())
            });
            let told = told.count();
            println!("{told} of 1000 pairs of {rows} and {others} points");
            assert!(told <= 10 + 9, "{told} of 1000 pairs of {rows} and {others} points");
        }
    }

    #[test]
    fn what_moved_is_told_with_its_place() {
        let mut random = Random::new(2);
        let (a, b) = (sample(&mut random, 2000, 0.5), sample(&mut random, 2000, 0.7));
        let found = ShareComparison::new(&a, &b, 2);
        assert_eq!(
            found.clusters.iter().map(|share| share.change).collect::<Vec<_>>(),
            [Some(ShareTrend::Lost), Some(ShareTrend::Gained)]
        );
        assert_eq!(found.outliers.change, None);
        assert!(found.regions.len() >= 32, "{}", found.regions.len());
        for region in found.regions.iter().filter(|region| region.shares.change.is_some()) {
            let is_right = region.min[0] >= 2.0;
            assert_eq!(region.shares.change == Some(ShareTrend::Gained), is_right, "{region:?}");
        }
        let inside = |points: &[SamplePoint]| points.iter().filter(|point| !point.outlier).count() as u64;
        let counted = found.regions.iter().map(|region| region.shares.a + region.shares.b).sum::<u64>();
        assert_eq!(counted, inside(&a) + inside(&b));
    }

    #[test]
    fn nothing_and_points_of_one_place_are_compared() {
        let one = SamplePoint { place: vec![1.0, 1.0].try_into().unwrap(), cluster: None, outlier: false };
        let found = ShareComparison::new(&[], &[], 1);
        assert_eq!((found.tests, found.regions.len(), found.clusters[0].p), (2, 0, 1.0));
        let found = ShareComparison::new(&[one; 200], &[one; 100], 0);
        assert_eq!((found.regions.len(), found.regions[0].shares.change), (1, None));
    }
}
