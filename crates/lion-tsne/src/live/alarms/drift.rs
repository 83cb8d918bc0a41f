//! Whether scores are still what they were: an e-detector over bins of conformal p-values.
//!
//! A score is a p-value, so the scores of rows like the map's own fall into bins of known probabilities, as far as the
//! calibration knows them. A bet is a set of weights of the bins; its e-value for an arrival is the weight of the
//! arrival's bin over the mean weight under the null. Its mean is 1 while nothing changes, and products of e-values are
//! martingales. The change may begin at any arrival, so the detector sums the products over all beginnings:
//! `R = (1 + R) e` (Shin, Ramdas and Rinaldo 2022, "E-detectors"; the Shiryaev-Roberts statistic). `R` minus the number of
//! arrivals is a martingale, so chance alone takes at least `A` arrivals in the mean to bring it to `A`.
//!
//! The calibration is finite: of N rows, the share below a threshold that k of them are below is not k / (N + 1) but
//! a draw of Beta(k, N + 1 - k), and stays so for ever. A detector that took it for exact would find this error one
//! day. So the null is a Pólya tree: each edge between bins divides what is below the next one, by a share that is Beta
//! distributed with the counts of the calibration, and is learned from the stream. Rows that were calibrated are not
//! exactly like rows that come, either; so no share counts as known better than by [`KNOWN`] rows. What is learned is
//! bounded ([`Null::most`]), so that a drift that is slow is not learned but told.

use serde::{Deserialize, Serialize};

/// Bins of scores, the strangest first: those of outliers.
pub(in crate::live) const BINS: usize = 6;
/// Edges between bins.
pub(in crate::live) const EDGES: usize = BINS - 1;
/// The edges as powers of alpha: 1, 5, 10, 25 and 50 % for an alpha of 1 %.
const POWERS: [f64; EDGES] = [1.0, 0.65, 0.5, 0.3, 0.15];
/// Calibration rows that a share of the tree counts at most. 500 rows know a half as well as 4 %.
const KNOWN: f64 = 500.0;
/// What is learned is halved when it is so much; old streams are forgotten.
const LEARNED: f64 = 50_000.0;
/// What is learned may exceed what was calibrated by this factor, beside what chance may do.
const EXCESS: f64 = 1.3;
/// Standard deviations of what chance may do.
const DEVIATIONS: f64 = 4.0;
/// Bets of a detector.
pub(in crate::live) const BETS: usize = 6;
/// The end of a change is told at this e-value, which is multiplied each time that the change is soon told again.
const BACK: f64 = 1500.0;
const AGAIN: f64 = 4.0;
/// A change that is told within so many arrivals after its end had not ended.
const SOON: u64 = 10_000;
/// How often it is multiplied at most.
const TIMES: u32 = 6;
/// Arrivals by which changed scores are known: more are forgotten again.
const REMEMBERED: f64 = 400.0;
/// Arrivals that the winning bets stand for among them.
const PRIOR: f64 = 100.0;

/// Weights of the bins.
type Bet = [f64; BINS];

/// More outliers, and all scores smaller.
pub(in crate::live) const SCORES: [Bet; BETS] = [
    [3.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [8.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [25.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [3.0, 2.0, 1.7, 1.3, 1.0, 0.8],
    [8.0, 4.0, 2.6, 1.6, 1.0, 0.5],
    [20.0, 8.0, 5.0, 2.5, 0.8, 0.3],
];
/// More outliers, whatever the other scores are.
pub(in crate::live) const OUTLIERS: [Bet; BETS] = [
    [2.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [3.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [5.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [8.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [15.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [30.0, 1.0, 1.0, 1.0, 1.0, 1.0],
];
/// Smaller scores among rows that are no outliers.
pub(in crate::live) const ORDINARY: [Bet; BETS] = [
    [1.0, 3.0, 1.0, 1.0, 1.0, 1.0],
    [1.0, 8.0, 4.0, 1.0, 1.0, 1.0],
    [1.0, 2.0, 1.7, 1.3, 1.0, 0.8],
    [1.0, 3.0, 2.2, 1.5, 1.0, 0.7],
    [1.0, 4.0, 2.6, 1.6, 1.0, 0.5],
    [1.0, 8.0, 5.0, 2.5, 0.8, 0.3],
];

/// The edges between bins; outliers are at most at the first.
pub(in crate::live) fn edges(alpha: f64) -> [f64; EDGES] {
    let alpha = alpha.clamp(1e-9, 0.9);
    POWERS.map(|power| alpha.powf(power))
}

/// The bin of a score.
pub(in crate::live) fn bin(edges: &[f64; EDGES], score: f64) -> usize {
    edges.iter().filter(|&&edge| score > edge).count()
}

/// How ordinary scores fall into bins, as far as it is known.
#[derive(Clone, Debug)]
pub(in crate::live) struct Null {
    /// For each edge what the calibration has below it, and below the next.
    known: [[f64; 2]; EDGES],
    /// The share of the calibration below each edge.
    shares: [f64; EDGES],
    /// The largest share below each edge that may be learned.
    most: [f64; EDGES],
}

impl Null {
    /// Of a calibration of `rows` rows, whose p-values are 1 to `rows` over `rows` + 1.
    pub(in crate::live) fn uniform(rows: usize, edges: &[f64; EDGES]) -> Self {
        let all = rows as f64 + 1.0;
        Self::new(edges.map(|edge| (edge * all + 1e-9).floor()), all)
    }

    /// Of the scores of some rows.
    pub(in crate::live) fn of(scores: impl Iterator<Item = f64>, edges: &[f64; EDGES]) -> Self {
        let (mut below, mut all) = ([0.0; EDGES], 1.0);
        for score in scores {
            all += 1.0;
            below.iter_mut().zip(edges).for_each(|(below, edge)| *below += f64::from(score <= *edge));
        }
        Self::new(below, all)
    }

    fn new(below: [f64; EDGES], all: f64) -> Self {
        let known = std::array::from_fn(|at| {
            let next = below.get(at + 1).copied().unwrap_or(all);
            let share = if next > 0.0 { below[at] / next } else { 0.0 };
            [share * next.min(KNOWN), next.min(KNOWN)]
        });
        let shares = below.map(|below| below / all);
        let most = below.map(|below| (EXCESS * below + DEVIATIONS * below.sqrt()) / all);
        Self { known, shares, most }
    }
}

/// What a detector has learned and bet. All of it is kept by a store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::live) struct Detector {
    learned: [[f64; 2]; EDGES],
    sums: [f64; BETS],
    runs: [DriftEvidence; BETS],
    told: Option<ReportedDrift>,
    /// How often a change was told again soon after its end.
    again: u32,
    /// Arrivals since the end of a change, if there was one.
    quiet: Option<u64>,
}

/// Arrivals since the most likely beginning of a change: that which makes the product of the e-values since then largest
/// (Page 1954, "Continuous inspection schemes").
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct DriftEvidence {
    bins: [u32; BINS],
    since: f64,
    #[serde(default)]
    product: f64,
}

/// A change that was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ReportedDrift {
    /// How many changed scores fall into each bin.
    changed: [f64; BINS],
    /// The sum of e-values against it.
    sum: f64,
    run: DriftEvidence,
}

/// What an arrival showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::live) enum Turn {
    Changed(Shift),
    Back(Shift),
}

impl Turn {
    pub(in crate::live) fn shift(&self) -> &Shift {
        let (Self::Changed(shift) | Self::Back(shift)) = self;
        shift
    }
}

/// Scores that are not what they were, or are again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::live) struct Shift {
    /// The edge up to which there are most too many, or were.
    pub(in crate::live) edge: usize,
    pub(in crate::live) seen: u64,
    pub(in crate::live) of: u64,
    pub(in crate::live) expected: f64,
    pub(in crate::live) e_value: f64,
    pub(in crate::live) since: f64,
}

impl Detector {
    /// Whether a kept one counts what can have been.
    pub(in crate::live) fn is_countable(&self) -> bool {
        self.again <= TIMES
    }

    /// An arrival at time `t` with a score in a bin. False alarms may come once in `limit` arrivals.
    pub(in crate::live) fn step(
        &mut self,
        null: &Null,
        bets: &[Bet; BETS],
        bin: usize,
        t: f64,
        limit: f64,
    ) -> Option<Turn> {
        let ordinary = self.predict(null);
        if ordinary[bin] <= 0.0 {
            return None;
        }
        if let Some(told) = &mut self.told {
            told.step(ordinary[bin], bin, t);
            if told.sum < BACK * AGAIN.powi(self.again as i32) {
                return None;
            }
            let shift = shift(&told.run, null, told.sum);
            *self = Self { learned: self.learned, again: self.again, quiet: Some(0), ..Self::default() };
            return Some(Turn::Back(shift));
        }
        self.quiet = self.quiet.map(|quiet| quiet.saturating_add(1));
        for ((sum, bet), run) in self.sums.iter_mut().zip(bets).zip(&mut self.runs) {
            let mean: f64 = bet.iter().zip(&ordinary).map(|(weight, share)| weight * share).sum();
            let e_value = bet[bin] / mean;
            *sum = ((*sum + 1.0) * e_value).min(1e300);
            run.take(bin, t, e_value);
        }
        let sum = self.sums.iter().sum::<f64>() / BETS as f64;
        if sum >= limit {
            return Some(Turn::Changed(self.tell(&ordinary, null, bets, sum)));
        }
        self.learn(null, bin);
        None
    }

    /// The change is told; from now on its end is looked for.
    fn tell(&mut self, ordinary: &[f64; BINS], null: &Null, bets: &[Bet; BETS], sum: f64) -> Shift {
        let mut changed = [0.0; BINS];
        for (part, bet) in self.sums.iter().zip(bets) {
            let mean: f64 = bet.iter().zip(ordinary).map(|(weight, share)| weight * share).sum();
            let part = part / (sum * BETS as f64);
            changed
                .iter_mut()
                .zip(bet)
                .zip(ordinary)
                .for_each(|((changed, w), f)| *changed += part * w * f / mean);
        }
        let best = (0..BETS).max_by(|&a, &b| self.sums[a].total_cmp(&self.sums[b])).unwrap_or(0);
        let run = &self.runs[best];
        let shift = shift(run, null, sum);
        // The run itself was chosen for its strange arrivals: it would make the change seem larger than it is.
        changed.iter_mut().for_each(|changed| *changed *= PRIOR);
        self.again =
            if self.quiet.is_some_and(|quiet| quiet <= SOON) { (self.again + 1).min(TIMES) } else { 0 };
        self.told = Some(ReportedDrift { changed, sum: 0.0, run: DriftEvidence::default() });
        self.sums = [0.0; BETS];
        self.runs = [DriftEvidence::default(); BETS];
        shift
    }

    /// The probabilities of the bins for an ordinary arrival.
    fn predict(&self, null: &Null) -> [f64; BINS] {
        let mut shares = [0.0; BINS];
        let mut below = 1.0;
        for at in (0..EDGES).rev() {
            let (known, learned) = (null.known[at], self.learned[at]);
            let all = known[1] + learned[1];
            let share = if all > 0.0 { (known[0] + learned[0]) / all } else { 0.0 };
            shares[at + 1] = below * (1.0 - share);
            below *= share;
        }
        shares[0] = below;
        shares
    }

    fn learn(&mut self, null: &Null, bin: usize) {
        let before = self.learned;
        for at in 0..EDGES {
            if bin <= at + 1 {
                self.learned[at][1] += 1.0;
                self.learned[at][0] += f64::from(bin <= at);
            }
            if self.learned[at][1] > LEARNED {
                self.learned[at] = self.learned[at].map(|v| 0.5 * v);
            }
        }
        let mut below = 0.0;
        let learned = self.predict(null);
        let within = (0..EDGES).all(|at| {
            below += learned[at];
            bin > at || below <= null.most[at]
        });
        if !within {
            self.learned = before;
        }
    }
}

impl ReportedDrift {
    fn step(&mut self, ordinary: f64, bin: usize, t: f64) {
        let all: f64 = self.changed.iter().sum();
        let changed = self.changed[bin] / all;
        let e_value = ordinary / changed.max(1e-9);
        self.sum = ((self.sum + 1.0) * e_value).min(1e300);
        self.run.take(bin, t, e_value);
        self.changed[bin] += 1.0;
        if all > REMEMBERED {
            self.changed.iter_mut().for_each(|count| *count *= REMEMBERED / (REMEMBERED + 1.0));
        }
    }
}

impl DriftEvidence {
    fn take(&mut self, bin: usize, t: f64, e_value: f64) {
        let product = (self.product.max(1.0) * e_value).min(1e300);
        if product <= 1.0 {
            *self = Self::default();
            return;
        }
        self.product = product;
        if self.bins.iter().all(|count| *count == 0) {
            self.since = t;
        }
        self.bins[bin] = self.bins[bin].saturating_add(1);
    }
}

/// What a run shows, at the edge where it shows most.
fn shift(run: &DriftEvidence, null: &Null, e_value: f64) -> Shift {
    let of: u64 = run.bins.iter().map(|count| u64::from(*count)).sum();
    let seen = |edge: usize| run.bins[..=edge].iter().map(|count| u64::from(*count)).sum::<u64>();
    let excess = |edge: usize| {
        let expected = null.shares[edge] * of as f64;
        (seen(edge) as f64 - expected) / (expected + 0.5).sqrt()
    };
    let edge = (0..EDGES).max_by(|&a, &b| excess(a).total_cmp(&excess(b)).then(b.cmp(&a))).unwrap_or(0);
    Shift { edge, seen: seen(edge), of, expected: null.shares[edge] * of as f64, e_value, since: run.since }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A calibration of some rows, and p-values of rows like them.
    struct CalibratedScores(Vec<f64>);

    impl CalibratedScores {
        fn new(rows: usize, random: &mut Random) -> Self {
            let mut values: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
            values.sort_unstable_by(f64::total_cmp);
            Self(values)
        }

        fn score(&self, value: f64) -> f64 {
            (1 + self.0.partition_point(|other| *other < value)) as f64 / (self.0.len() + 1) as f64
        }
    }

    /// Steps until a turn, at most so many.
    fn until(
        detector: &mut Detector,
        null: &Null,
        limit: f64,
        most: usize,
        mut bin: impl FnMut() -> usize,
    ) -> Option<(usize, Turn)> {
        (1..=most).find_map(|at| Some((at, detector.step(null, &SCORES, bin(), at as f64, limit)?)))
    }

    /// At most one false alarm in the limit, in the mean over calibrations: 300 000 arrivals at a limit of 2000 have at
    /// most 150, give or take three standard errors of 12, however few rows there are.
    #[test]
    fn false_alarms_are_as_rare_as_is_promised() {
        let edges = edges(0.01);
        for rows in [150, 500, 2500, 20_000] {
            for bets in [&SCORES, &OUTLIERS] {
                let null = Null::uniform(rows, &edges);
                let mut random = Random::new(rows as u64);
                let mut told = 0;
                for _ in 0..30 {
                    let calibrated = CalibratedScores::new(rows, &mut random);
                    let mut detector = Detector::default();
                    for at in 0..10_000 {
                        let bin = bin(&edges, calibrated.score(random.uniform()));
                        let turn = detector.step(&null, bets, bin, f64::from(at), 2000.0);
                        told += usize::from(matches!(turn, Some(Turn::Changed(_))));
                    }
                }
                assert!(told <= 150 + 36, "{told} of a calibration of {rows} rows");
            }
        }
    }

    /// 7 % outliers are told within 300 rows, and their end within 200, whether all scores change or those of outliers
    /// alone: in 5 of 6 streams at least.
    #[test]
    fn a_shift_and_its_end_are_told_in_time() {
        let edges = edges(0.01);
        for (rows, whole) in [(2500, true), (2500, false), (10_000, true), (10_000, false)] {
            let null = Null::uniform(rows, &edges);
            let mut random = Random::new(7);
            let (mut late, mut lasting) = (0, 0);
            for _ in 0..60 {
                let calibrated = CalibratedScores::new(rows, &mut random);
                let mut detector = Detector::default();
                let limit = 300_000.0;
                let ordinary = |random: &mut Random| bin(&edges, calibrated.score(random.uniform()));
                until(&mut detector, &null, limit, 1000, || ordinary(&mut random));
                let shifted = |random: &mut Random| match whole {
                    true => bin(&edges, calibrated.score(random.uniform().powf(1.0 / 0.578))),
                    false if random.uniform() < 0.06 => 0,
                    false => bin(&edges, calibrated.score(random.uniform())),
                };
                let told = until(&mut detector, &null, limit, 300, || shifted(&mut random));
                let Some((_, Turn::Changed(shift))) = told else {
                    late += 1;
                    continue;
                };
                assert!(shift.e_value >= limit && shift.seen as f64 > 1.5 * shift.expected, "{shift:?}");
                let back = until(&mut detector, &null, limit, 200, || ordinary(&mut random));
                lasting += usize::from(!matches!(back, Some((_, Turn::Back(_)))));
            }
            assert!(
                late <= 10 && lasting <= 10,
                "{late} late, {lasting} lasting of 60: {rows} rows, whole {whole}"
            );
        }
    }

    /// A calibration that is wrong by a sixth is not a shift, however long one watches.
    #[test]
    fn an_error_of_calibration_is_learned() {
        let edges = edges(0.01);
        let null = Null::uniform(20_000, &edges);
        let mut random = Random::new(3);
        let calibrated = CalibratedScores::new(20_000, &mut random);
        let mut detector = Detector::default();
        let told = until(&mut detector, &null, 1_000_000.0, 200_000, || {
            bin(&edges, calibrated.score(random.uniform() / 1.16))
        });
        assert_eq!(told, None);
    }
}
