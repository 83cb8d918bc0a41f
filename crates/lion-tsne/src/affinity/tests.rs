use super::{Affinities, Conditional, symmetric};
use crate::random::Random;
use std::collections::BTreeMap;

/// Random neighbours with random weights; some rows are nobody's neighbours, and the first ones are those of many.
fn conditional(rows: usize, k: usize, seed: u64) -> Conditional {
    let mut random = Random::new(seed);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in 0..rows as u32 {
        let popular = |v: u32| if v.is_multiple_of(3) { v / 5 } else { v };
        let (popular_first, rest) = (random.permutation(rows), random.permutation(rows));
        let drawn =
            popular_first.into_iter().take(k).map(popular).chain(rest).filter(|&column| column != row);
        let mut own: Vec<u32> = Vec::new();
        for column in drawn {
            if own.len() < k && !own.contains(&column) {
                own.push(column);
            }
        }
        own.sort_unstable();
        columns.extend(own);
        values.extend((0..k).map(|_| random.uniform() as f32));
    }
    Conditional { k, columns, values }
}

/// (P + Pᵀ) / 2N by the definition.
fn plain(p: &Conditional) -> BTreeMap<(u32, u32), f64> {
    let rows = p.columns.len() / p.k;
    let mut sums = BTreeMap::new();
    for (at, (&column, &value)) in p.columns.iter().zip(&p.values).enumerate() {
        let row = (at / p.k) as u32;
        for pair in [(row, column), (column, row)] {
            *sums.entry(pair).or_insert(0.0) += f64::from(value) / (2.0 * rows as f64);
        }
    }
    sums
}

fn entries(p: &Affinities) -> Vec<((u32, u32), f32)> {
    let of_row = |i: usize| {
        let (columns, values) = p.row(i);
        columns.iter().zip(values).map(move |(&column, &value)| ((i as u32, column), value))
    };
    (0..p.rows()).flat_map(of_row).collect()
}

#[test]
fn p_is_made_symmetric_in_place() {
    // Fewer rows than waves, rows that do not fill the last wave, and all rows neighbours of all.
    for (rows, k) in [(2, 1), (5, 4), (7, 2), (8, 3), (61, 6), (200, 17)] {
        for threads in [1, 3, 40] {
            let p = conditional(rows, k, (rows + k) as u64);
            let truth = plain(&p);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = entries(&pool.install(|| symmetric(p)));
            assert!(found.iter().map(|(pair, _)| pair).eq(truth.keys()), "{rows} rows, {threads} threads");
            for (&(pair, found), truth) in found.iter().zip(truth.values()) {
                assert!((f64::from(found) - truth).abs() <= 1e-7 * truth, "{pair:?}: {found}, not {truth}");
            }
        }
    }
}

#[test]
fn a_neighbour_that_is_named_twice_counts_twice() {
    let p =
        Conditional { k: 2, columns: vec![1, 1, 0, 2, 0, 1], values: vec![0.25, 0.5, 0.5, 0.5, 0.75, 0.25] };
    let truth = plain(&p);
    let mut sums = BTreeMap::new();
    for (pair, value) in entries(&symmetric(p)) {
        *sums.entry(pair).or_insert(0.0) += f64::from(value);
    }
    assert!(sums.keys().eq(truth.keys()));
    sums.values().zip(truth.values()).for_each(|(sum, truth)| assert!((sum - truth).abs() < 1e-7));
}

#[test]
fn another_order_keeps_every_affinity() {
    for (rows, k) in [(2, 1), (3, 2), (5, 3), (61, 6), (1500, 3)] {
        let p = symmetric(conditional(rows, k, 9));
        let order = Random::new(rows as u64).permutation(rows);
        let mut truth: Vec<((u32, u32), f32)> = Vec::new();
        let mut place = vec![0; rows];
        (0..).zip(&order).for_each(|(new, &old)| place[old as usize] = new);
        for ((row, column), value) in entries(&p) {
            truth.push(((place[row as usize], place[column as usize]), value));
        }
        let mut found = entries(&p.reordered(&order));
        truth.sort_unstable_by_key(|(pair, _)| *pair);
        found.sort_unstable_by_key(|(pair, _)| *pair);
        assert_eq!(found, truth, "{rows} rows");
    }
}
