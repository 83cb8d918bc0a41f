//! The summary of numbers, beside plain sums over all of them.

use lion_recipe::{ColumnSummary, Kind, Numbers};
use proptest::prelude::*;

fn of(values: impl IntoIterator<Item = (u64, f64)>) -> Numbers {
    let mut numbers = Numbers::default();
    values.into_iter().for_each(|(row, value)| numbers.add(row, value));
    numbers
}

/// Quantiles by their definition: linear between the values on either side.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * (at - at.floor())
}

proptest! {
    #[test]
    fn moments_and_quantiles_are_those_of_plain_sums(
        values in prop::collection::vec(-1e3..1e3f64, 1..60),
        shift in prop_oneof![Just(0.0), Just(1e6), Just(-1e6)],
        share in 0.0..=1.0f64,
    ) {
        let values: Vec<f64> = values.iter().map(|value| value + shift).collect();
        let numbers = of((0..).zip(values.iter().copied()));
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        prop_assert_eq!(numbers.count(), values.len() as u64);
        prop_assert!(near(numbers.mean(), mean));
        prop_assert!(near(numbers.deviation(), variance.sqrt()));
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(numbers.range(), Some((sorted[0], sorted[sorted.len() - 1])));
        let [low, asked, high] = numbers.quantiles([0.0, share, 1.0]);
        prop_assert_eq!((low, high), (sorted[0], sorted[sorted.len() - 1]));
        prop_assert!(near(asked, quantile(&sorted, share)));
    }

    #[test]
    fn a_sample_depends_on_the_rows_and_not_on_their_order(
        values in prop::collection::vec(-1e3..1e3f64, 1..80),
        most in 1..40usize,
        turn in any::<prop::sample::Index>(),
    ) {
        let rows: Vec<(u64, f64)> = (0..).zip(values).collect();
        let at = turn.index(rows.len());
        let sampled = |rows: &mut dyn Iterator<Item = &(u64, f64)>| {
            let mut numbers = Numbers::default().with_sample(most);
            rows.for_each(|&(row, value)| numbers.add(row, value));
            numbers.quantiles([0.0, 0.1, 0.3, 0.5, 0.8, 1.0])
        };
        let once = sampled(&mut rows.iter());
        prop_assert_eq!(once, sampled(&mut rows.iter().rev()));
        prop_assert_eq!(once, sampled(&mut rows[at..].iter().chain(&rows[..at])));
    }
}

#[test]
fn of_no_numbers_nothing_is_told() {
    let none = Numbers::default();
    assert_eq!((none.count(), none.mean(), none.deviation(), none.range()), (0, 0.0, 0.0, None));
    assert_eq!(none.quantiles([0.0, 0.5, 1.0]), [0.0; 3]);
    assert!(!none.is_lost_in_f32());
    let one = of([(0, 5.0)]);
    assert_eq!((one.deviation(), one.range(), one.quantiles([0.3])), (0.0, Some((5.0, 5.0)), [5.0]));
}

#[test]
fn numbers_that_are_not_finite_are_left_out() {
    let mut column = ColumnSummary::new("x", Kind::Number);
    for (row, value) in (0..).zip([1.0, f64::INFINITY, 3.0, f64::NEG_INFINITY, f64::NAN]) {
        column.add(row, &lion_recipe::Cell::Number(value));
    }
    assert_eq!((column.rows(), column.missing, column.numbers.count()), (5, 1, 2));
    assert_eq!((column.numbers.mean(), column.numbers.range()), (2.0, Some((1.0, 3.0))));
}

#[test]
fn a_32_bit_float_must_tell_64_steps_of_a_range() {
    // Near 2^17 floats are 2^-6 apart.
    let lost = |low: f64, high: f64| of([(0, low), (1, high)]).is_lost_in_f32();
    assert!(!lost(131_071.0, 131_072.0));
    assert!(lost(131_071.5, 131_072.0));
    assert!(lost(-131_072.0, -131_071.5));
    assert!(!lost(-131_072.0, 131_072.0));
    // One value alone loses nothing.
    assert!(!lost(131_072.0, 131_072.0));
}

/// Whether so many values were kept of rows whose values are their numbers: quantiles between kept ones would be no whole numbers.
fn keeps<const N: usize>(numbers: &Numbers) -> bool {
    let shares: [f64; N] = std::array::from_fn(|k| k as f64 / (N - 1) as f64);
    let mut kept = numbers.quantiles(shares).map(|value| (value - value.round()).abs() < 1e-4).into_iter();
    kept.all(|whole| whole)
}

#[test]
fn the_more_columns_a_table_has_the_fewer_values_of_each_are_kept() {
    let among = |columns: usize| {
        let mut column = ColumnSummary::new("x", Kind::Number).among(columns);
        (0..20_000u32).for_each(|row| column.add(row.into(), &lion_recipe::Cell::Number(row.into())));
        column.numbers
    };
    assert!(keeps::<16_384>(&among(0)) && keeps::<16_384>(&among(1)) && keeps::<16_384>(&among(256)));
    assert!(keeps::<4096>(&among(1024)));
    // Medians stay good to a few percent, however many columns there are.
    assert!(keeps::<512>(&among(1_000_000)));
    assert!(!keeps::<512>(&among(1024)) && !keeps::<4096>(&among(1)));
}

#[test]
fn rows_that_are_kept_are_those_of_the_least_hashes() {
    // Of SplitMix64, the first number that a seed gives is the hash of a row with that number.
    let hash = |row: u64| {
        let z = row.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    assert_eq!((hash(0), hash(1_234_567)), (0xe220_a839_7b1d_cdaf, 6_457_827_717_110_365_317));
    let mut rows: Vec<u64> = (0..2000).collect();
    rows.sort_by_key(|&row| hash(row));
    for most in [1, 2, 50] {
        let mut numbers = Numbers::default().with_sample(most);
        (0..2000).for_each(|row| numbers.add(row, row as f64));
        let kept = &rows[..most];
        let (least, largest) = (kept.iter().min().unwrap(), kept.iter().max().unwrap());
        assert_eq!(numbers.quantiles([0.0, 1.0]), [*least as f64, *largest as f64]);
    }
}
