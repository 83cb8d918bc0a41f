//! Whether outliers gather: a test for each row that becomes one.
//!
//! The map's own outlying rows say where ordinary rows are outliers now and then. Given a new outlier, the N rows of the
//! map and the n rows that came lately are exchangeable while nothing changes. So the chance that a row is an outlier
//! nearer to it than all but c of the map's own outlying rows is Beta(c + 1, N - c) distributed, and the number of such
//! rows among the n that came lately is beta-binomial: no radius has to be chosen, and the finite map is accounted for.
//! The test takes the best of several c and n, and pays for each (Bonferroni). Ours.
//!
//! Each outlier is a test, so the level of a test is a part of what was saved up: an arrival saves 1 / limit, a test spends
//! a tenth of what there is. All levels together are never more than arrivals / limit, so that there is at most one
//! false alarm in `limit` arrivals in the mean, however dependent the tests are.

use super::tail::beta_binomial;

/// How many of the map's own outlying rows may be nearer.
const PASSED: [usize; 4] = [0, 1, 3, 7];
/// The shortest and longest window, in events, as powers of 2.
const SHORTEST: u32 = 4;
const LONGEST: u32 = 17;
/// How many pairs of the two there are.
const PAIRS: f64 = (PASSED.len() * (LONGEST - SHORTEST + 1) as usize) as f64;
/// Rows that come are taken to be outliers so much more often than the map's own, since calibration is not exact.
const SLACK: f64 = 1.25;
/// So few prove nothing, whatever the rest of the stream is.
const LEAST: u64 = 3;
/// The share of what was saved up that a test spends.
const SPENT: f64 = 0.1;

/// Windows of a power of 2 events each.
const WINDOWS: usize = (LONGEST - SHORTEST + 1) as usize;

/// A number for each window.
pub(in crate::live) type Counts = [u64; WINDOWS];

/// No window is longer, in events.
pub(in crate::live) const OLDEST: u64 = 1 << LONGEST;

/// An outlier near the new one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::live) struct Near {
    pub(in crate::live) distance: f32,
    /// Events since it became an outlier.
    pub(in crate::live) age: u64,
    /// The event that it appeared by.
    pub(in crate::live) first: u64,
    pub(in crate::live) group: u64,
}

/// What the map and the stream are like.
#[derive(Clone, Copy, Debug)]
pub(in crate::live) struct Scene<'a> {
    /// Rows of the map that could be outliers.
    pub(in crate::live) rows: usize,
    /// The share of them that is.
    pub(in crate::live) alpha: f64,
    /// How far the map's own outlying rows are from the new outlier, ascending, but for those too far to matter.
    pub(in crate::live) own: &'a [f32],
    /// How many outliers came in each window.
    pub(in crate::live) outliers: Counts,
}

/// Outliers that gather.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::live) struct Gathering {
    /// How many, the new one among them, of the latest so many events.
    pub(in crate::live) seen: u64,
    pub(in crate::live) of: u64,
    pub(in crate::live) expected: f64,
    /// The p-value, of all pairs together.
    pub(in crate::live) p: f64,
    /// They are no farther from the new one.
    pub(in crate::live) radius: f32,
}

/// The first window that an age is in.
pub(in crate::live) fn window(age: u64) -> usize {
    (SHORTEST..=LONGEST).position(|power| age <= 1 << power).unwrap_or(WINDOWS)
}

/// Counts ages by window: each in all windows that are long enough.
pub(in crate::live) fn count(ages: impl Iterator<Item = u64>) -> Counts {
    let mut counts = [0; WINDOWS];
    ages.for_each(|age| counts.iter_mut().skip(window(age)).for_each(|count| *count += 1));
    counts
}

/// What outliers near a new one show, the nearest first.
pub(in crate::live) fn test(near: &[Near], scene: &Scene<'_>) -> Option<Gathering> {
    let mut best: Option<Gathering> = None;
    for passed in PASSED.into_iter().filter(|&passed| passed <= scene.own.len()) {
        let radius = scene.own.get(passed).copied().unwrap_or(f32::INFINITY);
        let inside = &near[..near.partition_point(|near| near.distance < radius)];
        let seen = count(inside.iter().map(|near| near.age));
        let mut before = 0;
        for (at, (&seen, outliers)) in seen.iter().zip(scene.outliers).enumerate() {
            let of = 1u64 << (at as u32 + SHORTEST);
            // A longer window with no more in it shows less.
            let more = seen > std::mem::replace(&mut before, seen);
            if !more || seen < LEAST || of > 8 * scene.rows as u64 + 64 {
                continue;
            }
            let p = PAIRS * tail(seen, of, outliers, passed, scene);
            if p < best.map_or(1.0, |best| best.p) {
                let expected = of as f64 * (passed + 1) as f64 / (scene.rows + 1) as f64;
                let farthest = inside.iter().rfind(|near| near.age <= of).map_or(0.0, |near| near.distance);
                best = Some(Gathering { seen: seen + 1, of, expected, p, radius: farthest });
            }
        }
    }
    best
}

/// The chance of so many of the latest `of` events, if all outliers but these show how often there are outliers now.
fn tail(seen: u64, of: u64, outliers: u64, passed: usize, scene: &Scene<'_>) -> f64 {
    let others = outliers.saturating_sub(seen) as f64;
    // More outliers everywhere are no cluster: the window is taken to be as long as explains them.
    let explained = (others - 2.0 * others.sqrt()).max(0.0) / scene.alpha;
    let of = (SLACK * (of as f64).max(explained)).ceil().min(1e12) as u64;
    let (passed, rows) = (passed as f64, scene.rows as f64);
    beta_binomial(seen, of, passed + 1.0, (rows - passed).max(1.0))
}

/// Spends what an outlier may: the level of its test, times the limit.
pub(in crate::live) fn spend(saved: &mut f64) -> f64 {
    let spent = SPENT * *saved;
    *saved -= spent;
    spent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Ordinary outliers of a square, some places of which are denser: own rows of the map, then a stream. The p-value
    /// of all pairs is at most 1 / 100 in one of 100 tests, and the map is a new one each time.
    #[test]
    fn p_values_are_no_smaller_than_is_promised() {
        let mut random = Random::new(5);
        let (rows, alpha) = (1500, 0.02);
        let place = |random: &mut Random| {
            let spread = if random.uniform() < 0.3 { 0.02 } else { 1.0 };
            [spread * random.uniform(), spread * random.uniform()]
        };
        let apart = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) as f32;
        let (mut small, mut tests) = (0, 0);
        for _ in 0..300 {
            let own: Vec<[f64; 2]> = (0..rows)
                .filter(|_| random.uniform() < alpha)
                .collect::<Vec<_>>()
                .iter()
                .map(|_| place(&mut random))
                .collect();
            let stream: Vec<(u64, [f64; 2])> = (1..=4000u64)
                .filter(|_| random.uniform() < alpha)
                .collect::<Vec<_>>()
                .iter()
                .map(|&at| (at, place(&mut random)))
                .collect();
            let Some(&(now, new)) = stream.last() else { continue };
            let mut near: Vec<Near> = stream[..stream.len() - 1]
                .iter()
                .map(|(at, place)| Near { distance: apart(place, &new), age: now - at, first: *at, group: 0 })
                .collect();
            near.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance));
            let mut own: Vec<f32> = own.iter().map(|own| apart(own, &new)).collect();
            own.sort_unstable_by(f32::total_cmp);
            let outliers = count(near.iter().map(|near| near.age));
            let found = test(&near, &Scene { rows, alpha, own: &own, outliers });
            tests += 1;
            small += usize::from(found.is_some_and(|found| found.p <= 0.01));
        }
        // 3 expected at most, with a standard error of 1.7.
        assert!(tests > 290 && small <= 8, "{small} of {tests}");
    }

    #[test]
    fn rows_close_to_each_other_are_a_cluster_and_the_more_the_surer() {
        let own = [3.0, 4.0, 5.0];
        let near = |count: u64| -> Vec<Near> {
            (1..=count).map(|i| Near { distance: 0.1 * i as f32, age: 20 * i, first: i, group: 0 }).collect()
        };
        let p = |count: u64| {
            let near = near(count);
            let outliers = super::count(near.iter().map(|near| near.age));
            test(&near, &Scene { rows: 2500, alpha: 0.01, own: &own, outliers }).map(|found| found.p)
        };
        assert_eq!(p(2), None);
        assert!(p(8) < p(5) && p(8).unwrap() < 1e-5, "{:?} {:?}", p(5), p(8));
        // As many among the map's own are none.
        let near = near(8);
        let own: Vec<f32> = (1..=100).map(|i| 0.02 * i as f32).collect();
        let outliers = super::count(near.iter().map(|near| near.age));
        assert_eq!(
            test(&near, &Scene { rows: 2500, alpha: 0.01, own: &own, outliers }).filter(|f| f.p < 0.1),
            None
        );
    }

    #[test]
    fn more_outliers_everywhere_are_no_cluster() {
        // Every fourth row is an outlier, and those near are a part of them.
        let near: Vec<Near> =
            (1..=20).map(|i| Near { distance: 0.1 * i as f32, age: 40 * i, first: i, group: 0 }).collect();
        let all = count((1..=200).map(|i| 4 * i));
        let few = count(near.iter().map(|near| near.age));
        let found = |outliers| test(&near, &Scene { rows: 2500, alpha: 0.01, own: &[3.0], outliers });
        assert!(found(few).is_some_and(|found| found.p < 1e-6));
        assert!(found(all).is_none_or(|found| found.p > 1e-3), "{:?}", found(all));
    }

    #[test]
    fn what_is_spent_is_never_more_than_was_saved() {
        let (mut saved, mut spent) = (0.0, 0.0);
        for at in 1..=10_000 {
            saved += 1.0;
            if at % 7 == 0 {
                spent += spend(&mut saved);
            }
            assert!(spent <= f64::from(at));
        }
    }
}
