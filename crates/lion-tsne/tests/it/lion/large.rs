//! Maps so large that a new row is not compared with all rows at first: nothing may be called strange that is not.

use super::oracle::{self, distance, flat};
use super::support::{adopt, extent, matrix, on_the_edge, place_of, rows, same};
use crate::common::{TestRandom, paper};
use lion_tsne::{Lion, LionOptions, Local, Map, Radius};
use safetensors::SafeTensors;

const ROWS: usize = 12_000;
/// At most so many rows calibrate.
const CALIBRATING: usize = 1 << 15;

/// Rows spread evenly in `cols` dimensions, where cells of near rows are no help, and places that follow them.
fn spread(cols: usize, seed: u64) -> Map {
    spread_rows(ROWS, cols, seed)
}

fn spread_rows(count: usize, cols: usize, seed: u64) -> Map {
    let mut numbers = TestRandom::new(seed);
    let x: Vec<Vec<f64>> = (0..count).map(|_| (0..cols).map(|_| numbers.uniform()).collect()).collect();
    let y: Vec<Vec<f64>> = x.iter().map(|row| vec![100.0 * row[0], 100.0 * row[1]]).collect();
    adopt(&x, &y)
}

/// New rows of the same kind and some beyond it, placed by the rows within such a radius that few have many
/// neighbours; the share of them that have the very place of the plain version.
fn as_the_plain_version(cols: usize, seed: u64, percentile: f64) -> f64 {
    let map = spread(cols, seed);
    let (x, y) = (rows(map.x()), rows(map.y()));
    let options = LionOptions {
        local: Local::Idw,
        power: Some(20.0),
        radius: Some(Radius::Percentile(percentile)),
        ..paper()
    };
    let lion = Lion::new(map, &options).expect("a map ready for placing");
    let nn_x = oracle::nearest_distances(&x);
    let r_x = oracle::percentile(&nn_x, percentile);
    assert!((lion.r_x() / r_x - 1.0).abs() < 1e-3, "r_x is {r_x}, not {}", lion.r_x());

    let mut numbers = TestRandom::new(seed + 1);
    let queries: Vec<Vec<f64>> =
        (0..400).map(|i| (0..cols).map(|_| numbers.uniform() * [1.0, 1.1][i % 2]).collect()).collect();
    let queries = rows(&matrix(&queries));
    let placed = lion.place(&matrix(&queries)).expect("placed");
    let (mut counts, mut right) = ([0; 4], 0);
    for (query, placement) in queries.iter().zip(&placed) {
        if on_the_edge(query, &x, lion.r_x()) {
            continue;
        }
        let verdict = oracle::verdict(query, &x, &nn_x, lion.r_x());
        let neighbours = oracle::within(query, &x, lion.r_x());
        assert!(same(placement.verdict, verdict), "{verdict:?}, not {}", placement.verdict);
        assert!(placement.neighbours as usize <= neighbours.len());
        counts[verdict as usize] += 1;
        if verdict != oracle::OracleVerdict::Interpolated {
            assert_eq!(placement.neighbours as usize, neighbours.len(), "no neighbour was missed");
            let reach = distance(query, &x[oracle::by_distance(query, &x)[0]]);
            assert!((f64::from(placement.nearest_distance) / reach - 1.0).abs() < 1e-5);
            continue;
        }
        let off = distance(&place_of(placement), &oracle::idw(query, &x, &y, &neighbours, 20.0, flat));
        right += usize::from(off < 1e-5 * extent(&y));
    }
    assert!(counts[1] > 20 && counts[3] > 20, "verdicts {counts:?}");
    right as f64 / counts[1] as f64
}

#[test]
fn no_neighbour_is_missed_before_a_row_is_called_strange() {
    for (cols, seed, percentile) in [(4, 1, 90.0), (12, 3, 60.0), (25, 5, 50.0)] {
        let right = as_the_plain_version(cols, seed, percentile);
        assert!(right > 0.95, "{cols} columns: {right} of the rows are where they should be");
    }
}

#[test]
fn rows_of_a_large_map_have_their_own_places() {
    let map = spread(12, 7);
    let lion = Lion::new(map.clone(), &paper()).expect("a map ready for placing");
    for (i, placement) in lion.place(map.x()).expect("placed").iter().enumerate() {
        assert_eq!((placement.verdict.as_str(), placement.nearest as usize), ("exact", i));
        assert_eq!(&*placement.place, map.place(i));
    }
}

#[test]
fn company_changes_no_bit_in_a_large_map() {
    let map = spread(11, 8);
    let lion = Lion::new(map.clone(), &LionOptions::default()).expect("a map ready for placing");
    let mut numbers = TestRandom::new(9);
    let new: Vec<Vec<f64>> = (0..101).map(|_| (0..11).map(|_| numbers.uniform()).collect()).collect();
    let batch = matrix(&new);
    let whole = lion.place(&batch).expect("placed");
    assert!(whole.iter().filter(|p| p.verdict.as_str() == "interpolated").count() > 80);
    for size in [1, 3, 17, 50] {
        for first in (0..batch.rows()).step_by(size) {
            let part: Vec<u32> = (first as u32..(first + size).min(batch.rows()) as u32).collect();
            for (at, placed) in lion.place(&batch.select(&part)).expect("placed").iter().enumerate() {
                let then = &whole[first + at];
                assert_eq!(placed.score.to_bits(), then.score.to_bits(), "row {} of {size}", first + at);
                assert_eq!((placed.nearest, placed.neighbours), (then.nearest, then.neighbours));
                if placed.verdict.as_str() == "interpolated" {
                    assert_eq!(place_of(placed), place_of(then), "row {} of {size}", first + at);
                }
            }
        }
    }
}

/// The rule of energy looks at the nearest rows that were seen. Some of the farther ones may have been missed, which
/// moves a place little or not at all.
#[test]
fn missed_neighbours_move_places_little() {
    let mut numbers = TestRandom::new(11);
    let mut around = |centre: usize| -> Vec<f64> {
        let middle = |column: usize| [0.0, 4.0][(centre >> (column % 5)) & 1];
        (0..20).map(|column| middle(column) + numbers.gaussian()).collect()
    };
    let x: Vec<Vec<f64>> = (0..ROWS).map(|i| around(i % 32)).collect();
    let queries: Vec<Vec<f64>> = (0..150).map(|i| around(i % 32)).collect();
    let place = |row: &[f64]| vec![row[0] + 3.0 * row[2] + row[4], row[1] + 3.0 * row[3]];
    let y: Vec<Vec<f64>> = x.iter().map(|row| place(row)).collect();
    let map = adopt(&x, &y);
    let (x, y) = (rows(map.x()), rows(map.y()));
    let options = LionOptions { local: Local::Attraction, ..paper() };
    let lion = Lion::new(map, &options).expect("a map ready for placing");
    let placed = lion.place(&matrix(&queries)).expect("placed");
    let mut off: Vec<f64> = rows(&matrix(&queries))
        .iter()
        .zip(&placed)
        .filter(|(_, placement)| placement.verdict.as_str() == "interpolated")
        .map(|(query, placement)| {
            distance(&place_of(placement), &oracle::attraction(query, &x, &y, 30.0)) / extent(&y)
        })
        .collect();
    off.sort_by(f64::total_cmp);
    assert!(off.len() > 120, "{} rows have neighbours", off.len());
    let (middle, most) = (off[off.len() / 2], off[off.len() * 95 / 100]);
    assert!(middle < 0.002 && most < 0.02, "half are within {middle} of the extent, 95 % within {most}");
}

/// Which rows calibrate is in the file only where it is not all of them.
#[test]
fn a_part_of_very_many_rows_calibrates() {
    for (count, expected) in [(CALIBRATING, None), (CALIBRATING + 200, Some(CALIBRATING))] {
        let bytes = spread_rows(count, 2, 9).to_bytes().expect("a map file");
        let tensors = SafeTensors::deserialize(&bytes).expect("tensors");
        let sample = tensors.tensor("verdict.sample").ok();
        assert_eq!(sample.map(|sample| sample.shape()[0]), expected);
    }
}
