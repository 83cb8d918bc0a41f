//! Numbers that sum up many rows.
//!
//! Sources: Hanley and McNeil (1982), "The meaning and use of the area under a receiver operating characteristic (ROC)
//! curve", for the AUC; Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic
//! High-Dimensional Datasets with LION-tSNE", for the decomposition of the accuracy.

use lion_tsne::{Error, Placement, Result, Verdict};
use serde::{Deserialize, Serialize};

/// A mean of many values, and how far it may be off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean; 0 of nothing.
    pub mean: f64,
    /// Its standard error: the values' deviation (that of a sample, n - 1) over √n. Fewer than two values do not tell
    /// it, and it is 0 then.
    pub error: f64,
    /// How many values.
    pub count: usize,
}

impl Estimate {
    /// Of these values.
    ///
    /// ```
    /// use lion_evaluate::Estimate;
    ///
    /// // Their squared deviations from 3 sum to 6 + 6 + 0: a variance of 6, and √(6 / 3) of the mean.
    /// let estimate = Estimate::of(&[3.0 - 6f64.sqrt(), 3.0, 3.0 + 6f64.sqrt()]);
    /// assert!((estimate.mean - 3.0).abs() < 1e-12 && (estimate.error - 2f64.sqrt()).abs() < 1e-12);
    /// ```
    pub fn of(values: &[f64]) -> Self {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count.max(1) as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = match count {
            0 | 1 => 0.0,
            n => (squares / (n - 1) as f64 / n as f64).sqrt(),
        };
        Self { mean, error, count }
    }
}

/// The chance that a stranger is stranger than an ordinary row, ties counting half: 1 tells all of them apart, 0.5 none.
/// It is also the area under the curve of true against false alarms over all thresholds, so it knows no threshold. 0.5,
/// which says nothing, where either is empty.
///
/// ```
/// // Of the six pairs the stranger is ahead in four and level in one.
/// assert_eq!(lion_evaluate::auc(&[2.0, 5.0], &[1.0, 2.0, 3.0]), 4.5 / 6.0);
/// ```
pub fn auc(strange: &[f64], ordinary: &[f64]) -> f64 {
    if strange.is_empty() || ordinary.is_empty() {
        return 0.5;
    }
    // Adding 0 makes -0 the 0 that it equals.
    let mut ordinary: Vec<f64> = ordinary.iter().map(|value| value + 0.0).collect();
    ordinary.sort_unstable_by(f64::total_cmp);
    let twice_ahead = |stranger: &f64| {
        let stranger = stranger + 0.0;
        let less = ordinary.partition_point(|value| value.total_cmp(&stranger).is_lt());
        let up_to = ordinary.partition_point(|value| value.total_cmp(&stranger).is_le());
        (less + up_to) as u64
    };
    let twice: u64 = strange.iter().map(twice_ahead).sum();
    twice as f64 / 2.0 / (strange.len() as f64 * ordinary.len() as f64)
}

/// Rows of equal number that a calibration error compares.
const BINS: usize = 10;

/// The expected calibration error: how far the shares that are told are from the shares that are right, in the mean over ten
/// parts of equally many rows, ordered by what is told. 0 of nothing.
///
/// ```
/// // Half of what is called sure is wrong, and half of what is called a toss-up is right.
/// let told = [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5].repeat(10);
/// let right = [1.0, 0.0].repeat(40);
/// assert!((lion_evaluate::calibration_error(&told, &right) - 0.25).abs() < 1e-12);
/// ```
pub fn calibration_error(told: &[f64], right: &[f64]) -> f64 {
    let mut rows: Vec<(f64, f64)> = told.iter().copied().zip(right.iter().copied()).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (count, end) = (rows.len(), |bin: usize| bin * rows.len() / BINS);
    let difference = |bin: usize| {
        let sum = |of: fn(&(f64, f64)) -> f64| rows[end(bin)..end(bin + 1)].iter().map(of).sum::<f64>();
        (sum(|row| row.0) - sum(|row| row.1)).abs()
    };
    (0..BINS).map(difference).sum::<f64>() / count.max(1) as f64
}

/// Some of the rows, and how well those were placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialAccuracy {
    /// How many they are.
    pub count: usize,
    /// The same as a share of all rows.
    pub share: f64,
    /// The mean of their own shares of right labels; 0 of no rows.
    pub accuracy: f64,
}

/// An accuracy as the sum of three: f2N acc2N + f1N acc1N + fO accO, as the paper splits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// Rows with two neighbours or more within r_x: f2N, acc2N.
    pub two: PartialAccuracy,
    /// Rows with one that are no outliers all the same, since their neighbour is one itself or equals them: f1N, acc1N.
    pub one: PartialAccuracy,
    /// Outliers, whatever their neighbours: fO, accO.
    pub outlier: PartialAccuracy,
}

impl Decomposition {
    /// Of placed rows, each with its share of right labels.
    pub fn of(placements: &[Placement], shares: &[f64]) -> Result<Self> {
        if placements.len() != shares.len() {
            return Err(Error::Data(format!(
                "there are {} placements but {} shares of right labels",
                placements.len(),
                shares.len()
            )));
        }
        let part = |wanted: fn(&Placement) -> bool| {
            let found = placements.iter().zip(shares).filter(|(placement, _)| wanted(placement));
            let Estimate { mean, count, .. } =
                Estimate::of(&found.map(|(_, share)| *share).collect::<Vec<_>>());
            PartialAccuracy { count, share: count as f64 / placements.len().max(1) as f64, accuracy: mean }
        };
        Ok(Self {
            two: part(|p| p.verdict != Verdict::Outlier && p.neighbours >= 2),
            one: part(|p| p.verdict != Verdict::Outlier && p.neighbours < 2),
            outlier: part(|p| p.verdict == Verdict::Outlier),
        })
    }

    /// The accuracy of all rows: the sum.
    pub fn accuracy(&self) -> f64 {
        [self.two, self.one, self.outlier].iter().map(|part| part.share * part.accuracy).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_by_hand() {
        // Mean 4; squares 9 + 1 + 1 + 9 = 20, over 3 and over 4: 5/3.
        let estimate = Estimate::of(&[1.0, 3.0, 5.0, 7.0]);
        assert_eq!((estimate.mean, estimate.count), (4.0, 4));
        assert!((estimate.error - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Estimate::of(&[2.5]), Estimate { mean: 2.5, error: 0.0, count: 1 });
        assert_eq!(Estimate::of(&[]), Estimate::default());
    }

    #[test]
    fn auc_by_hand() {
        assert_eq!(auc(&[3.0, 4.0], &[1.0, 2.0]), 1.0);
        assert_eq!(auc(&[1.0, 2.0], &[3.0, 4.0]), 0.0);
        assert_eq!(auc(&[1.0, 1.0], &[1.0, 1.0, 1.0]), 0.5);
        assert_eq!(auc(&[-0.0], &[0.0]), 0.5);
        // 0: none; 2: one and a half of three; inf: three.
        assert_eq!(auc(&[0.0, 2.0, f64::INFINITY], &[3.0, 1.0, 2.0]), 4.5 / 9.0);
        assert_eq!((auc(&[], &[1.0]), auc(&[1.0], &[])), (0.5, 0.5));
    }

    #[test]
    fn auc_is_the_share_of_pairs() {
        let mut random = lion_tsne::numerics::Random::new(3);
        let mut values = |n: usize| -> Vec<f64> { (0..n).map(|_| random.below(20) as f64).collect() };
        let (strange, ordinary) = (values(70), values(110));
        let pair = |s: f64, o: f64| if s > o { 1.0 } else { f64::from(u8::from(s == o)) / 2.0 };
        let ahead: f64 = strange.iter().map(|&s| ordinary.iter().map(|&o| pair(s, o)).sum::<f64>()).sum();
        assert_eq!(auc(&strange, &ordinary), ahead / 7700.0);
    }

    #[test]
    fn decompositions_by_hand() {
        let row = |verdict, neighbours| Placement { neighbours, ..Placement::unknown(verdict) };
        use Verdict::{BesideOutlier, Exact, Interpolated, Outlier};
        let placements = [
            row(Interpolated, 2),
            row(Exact, 5),
            row(Interpolated, 9),
            row(BesideOutlier, 1),
            row(Exact, 1),
            row(Outlier, 0),
            row(Outlier, 1),
            row(Outlier, 7), // Off the plane.
        ];
        let shares = [1.0, 0.5, 0.6, 0.2, 0.8, 0.0, 0.1, 0.2];
        let split = Decomposition::of(&placements, &shares).unwrap();
        let parts = [(split.two, 3, 0.7), (split.one, 2, 0.5), (split.outlier, 3, 0.1)];
        for (part, count, accuracy) in parts {
            assert_eq!((part.count, part.share), (count, count as f64 / 8.0));
            assert!((part.accuracy - accuracy).abs() < 1e-12, "{part:?}");
        }
        assert!((split.accuracy() - 3.4 / 8.0).abs() < 1e-12);
        assert_eq!(Decomposition::of(&[], &[]).unwrap(), Decomposition::default());
        assert!(Decomposition::of(&placements, &shares[1..]).is_err());
    }
}
