//! Conformal p-values (Vovk, Gammerman & Shafer 2005, Algorithmic Learning in a Random World): how many rows of the map are
//! at least as nonconforming as a new one. The two scores are joined by the harmonic mean of their p-values (Wilson
//! 2019, The Harmonic Mean p-value for Combining Dependent Tests), which is calibrated like a score.

/// The nonconformity scores of a row: large is unlike the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nonconformity {
    /// The distance to its nearest row.
    pub(crate) distance: f32,
    /// How badly its neighbours explain it, against how badly theirs explain them.
    pub(crate) relative: f32,
}

/// The p-value of each score and of both: small is nonconforming, and of rows like the map's own a share p is at or
/// below p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PValues {
    /// Both parts together.
    pub(crate) score: f64,
    pub(crate) distance: f64,
    pub(crate) neighbours: f64,
}

/// What calibrates: the values of the map's rows, and how each ranks among them.
pub(crate) struct Ranks {
    /// Ascending.
    distances: Vec<f32>,
    relatives: Vec<f32>,
    /// By the sum of its inverse ranks, ascending.
    rows: Vec<Ranked>,
    /// What the sum would be at least if a new row joined the others, ascending.
    least_sums: Vec<f64>,
}

/// So many rows that are as nonconforming as a new one are compared with it as its neighbours. In larger maps one row
/// more among the others makes no difference, but where the scores are smallest.
const COMPARED: usize = 256;

/// A row that calibrates.
struct Ranked {
    row: u32,
    values: Nonconformity,
    /// How many rows, itself included, have a value as large.
    ranks: (usize, usize),
    /// 1/rank + 1/rank. The p-values are the ranks divided by N + 1, so this is 1/p1 + 1/p2, divided by it too.
    sum: f64,
}

impl Ranks {
    /// From the rows that calibrate and their values, in any order.
    pub(crate) fn new(calibrating: &[(u32, Nonconformity)]) -> Self {
        let sorted = |value: fn(&Nonconformity) -> f32| {
            let mut values: Vec<f32> = calibrating.iter().map(|(_, values)| value(values)).collect();
            values.sort_unstable_by(f32::total_cmp);
            values
        };
        let (distances, relatives) = (sorted(|row| row.distance), sorted(|row| row.relative));
        let mut ranks = Self { distances, relatives, rows: Vec::new(), least_sums: Vec::new() };
        let ranked = |&(row, values): &(u32, Nonconformity)| {
            let at_least = ranks.at_least(&values);
            Ranked { row, values, ranks: at_least, sum: inverse_sum(at_least.0, at_least.1) }
        };
        let mut rows: Vec<Ranked> = calibrating.iter().map(ranked).collect();
        rows.sort_by(|a, b| a.sum.total_cmp(&b.sum));
        let mut least_sums: Vec<f64> =
            rows.iter().map(|row| inverse_sum(row.ranks.0 + 1, row.ranks.1 + 1)).collect();
        least_sums.sort_unstable_by(f64::total_cmp);
        (ranks.rows, ranks.least_sums) = (rows, least_sums);
        ranks
    }

    /// How many rows calibrate.
    pub(crate) fn rows(&self) -> usize {
        self.distances.len()
    }

    /// The p-values of a row that is as far from the rows of the map as `distance_to` says.
    pub(crate) fn p_values(&self, row: &Nonconformity, distance_to: impl Fn(u32) -> f32) -> PValues {
        let (farther, worse) = self.at_least(row);
        let sum = inverse_sum(1 + farther, 1 + worse);
        let as_nonconforming = match self.at_least_as_nonconforming(row, sum) {
            few if few <= COMPARED => self.at_least_as_nonconforming_beside(row, sum, distance_to),
            many => many,
        };
        let p_value = |at_least: usize| (1 + at_least) as f64 / (1 + self.rows()) as f64;
        PValues { score: p_value(as_nonconforming), distance: p_value(farther), neighbours: p_value(worse) }
    }

    /// How many rows have a distance as large, and how many a relative error.
    fn at_least(&self, row: &Nonconformity) -> (usize, usize) {
        let nearer = self.distances.partition_point(|other| *other < row.distance);
        let better = self.relatives.partition_point(|other| *other < row.relative);
        (self.rows() - nearer, self.rows() - better)
    }

    /// How many rows are as nonconforming once the new row is one of them: it is then counted in their ranks, as they
    /// are in its own. A rank that grows by one lowers the sum by at most its square, and by half: so only rows little
    /// above the new row's sum have to be looked at.
    fn at_least_as_nonconforming(&self, new: &Nonconformity, sum: f64) -> usize {
        let surely = self.rows() - self.least_sums.partition_point(|least| *least < sum);
        let first = self.rows.partition_point(|row| row.sum < sum);
        let in_doubt = self.rows[first..].iter().take_while(|row| {
            let (half, square) = (0.5 * row.sum, row.sum * (1.0 - row.sum));
            half.max(square) < sum * (1.0 + 1e-12)
        });
        let joined = |row: &&Ranked| {
            let Ranked { values, ranks, .. } = row;
            inverse_sum(ranks.0 + 1, ranks.1 + 1) < sum
                && inverse_sum(
                    ranks.0 + usize::from(new.distance >= values.distance),
                    ranks.1 + usize::from(new.relative >= values.relative),
                ) >= sum
        };
        surely + in_doubt.filter(joined).count()
    }

    /// The same, and the new row is also one of their neighbours: where it is nearer to a row than all others, that row
    /// is no more nonconforming than by this distance. Without it a row far from all others counts as nonconforming
    /// even beside a new one, and too few rows of small maps are called outliers.
    fn at_least_as_nonconforming_beside(
        &self,
        new: &Nonconformity,
        sum: f64,
        distance_to: impl Fn(u32) -> f32,
    ) -> usize {
        let first = self.rows.partition_point(|row| row.sum < sum);
        let joined = |row: &&Ranked| {
            let distance = row.values.distance.min(distance_to(row.row));
            // Few rows are nearer to the new one than to all others: the rank of the rest is known.
            let rank = match distance < row.values.distance {
                true => self.rows() - self.distances.partition_point(|other| *other < distance),
                false => row.ranks.0,
            };
            let farther = rank + usize::from(new.distance >= distance);
            let worse = row.ranks.1 + usize::from(new.relative >= row.values.relative);
            inverse_sum(farther, worse) >= sum
        };
        self.rows[first..].iter().filter(joined).count()
    }
}

fn inverse_sum(a: usize, b: usize) -> f64 {
    1.0 / a as f64 + 1.0 / b as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The p-value as the definition has it: every row, the new one among them, ranked anew.
    fn plain(
        calibrating: &[(u32, Nonconformity)],
        new: Nonconformity,
        distance_to: impl Fn(u32) -> f32,
    ) -> f64 {
        let bag: Vec<Nonconformity> = calibrating.iter().map(|(_, values)| *values).chain([new]).collect();
        let sum = |row: &Nonconformity| {
            let farther = bag.iter().filter(|other| other.distance >= row.distance).count();
            let worse = bag.iter().filter(|other| other.relative >= row.relative).count();
            inverse_sum(farther, worse)
        };
        let as_nonconforming = |distance: &dyn Fn(u32, f32) -> f32| {
            let beside = calibrating
                .iter()
                .map(|(row, values)| Nonconformity { distance: distance(*row, values.distance), ..*values });
            beside.filter(|row| sum(row) >= sum(&new)).count()
        };
        let count = match as_nonconforming(&|_, own| own) {
            few if few <= COMPARED => as_nonconforming(&|row, own| own.min(distance_to(row))),
            many => many,
        };
        (count + 1) as f64 / bag.len() as f64
    }

    #[test]
    fn p_values_are_those_of_the_definition() {
        for (seed, rows, steps) in
            [(1, 40, 1e9), (2, 300, 1e9), (3, 100, 5.0), (4, 1, 1e9), (5, 0, 1e9), (6, 900, 20.0)]
        {
            let mut random = Random::new(seed);
            let mut draw = || {
                let shared = random.gaussian();
                // Steps make ties.
                let value = |own: f64| (((shared + own) * steps).round() / steps) as f32;
                Nonconformity { distance: value(random.gaussian()).abs(), relative: value(random.gaussian()) }
            };
            let calibrating: Vec<(u32, Nonconformity)> = (0..rows).map(|row| (row, draw())).collect();
            let ranks = Ranks::new(&calibrating);
            for at in 0..300 {
                let new = draw();
                // Every third row or so has the new one for its nearest.
                let distance_to = |row: u32| new.distance * (1.0 + ((row * 7 + at) % 11) as f32);
                let found = ranks.p_values(&new, distance_to).score;
                assert_eq!(found, plain(&calibrating, new, distance_to), "{new:?} among {rows}");
            }
        }
    }

    /// Rows that are exchangeable with those that calibrate have uniform p-values: the share at or below p is p, within
    /// four standard errors over 200 calibrations of 20 rows each.
    #[test]
    fn p_values_of_exchangeable_rows_are_uniform() {
        let (maps, each) = (200, 20);
        for rows in [99, 399] {
            let mut scores = Vec::new();
            for seed in 0..maps {
                let mut random = Random::new(seed * 7 + rows as u64);
                let mut draw = || {
                    let shared = random.gaussian();
                    let distance = (shared + random.gaussian()).exp() as f32;
                    Nonconformity { distance, relative: (shared - random.gaussian()) as f32 }
                };
                let calibrating: Vec<(u32, Nonconformity)> = (0..rows).map(|row| (row, draw())).collect();
                let ranks = Ranks::new(&calibrating);
                scores.extend((0..each).map(|_| ranks.p_values(&draw(), |_| f32::INFINITY).score));
            }
            for p in [0.01, 0.05, 0.1, 0.5] {
                let observed =
                    scores.iter().filter(|score| **score <= p).count() as f64 / scores.len() as f64;
                // Rows of one map share its calibration: that adds to the variance of what is seen.
                let variance =
                    p * (1.0 - p) / scores.len() as f64 + p * (1.0 - p) / (f64::from(rows) * maps as f64);
                assert!((observed - p).abs() <= 4.0 * variance.sqrt(), "{observed} for {p} of {rows} rows");
            }
            assert!(scores.iter().all(|score| *score >= 1.0 / (rows + 1) as f64 && *score <= 1.0));
        }
    }
}
