//! The clusters of a map: labels, or what a person would see.

use crate::common::TestRandom;
use lion_tsne::live::{Clusters, Live, LiveOptions};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use std::sync::Arc;

/// The clusters of rows that are at their own places.
fn clusters(dims: usize, places: Vec<f32>, labels: Option<Vec<String>>) -> Clusters {
    let places = Matrix::new(places.len() / dims, dims, places).unwrap();
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    let rows = Rows { data: places.clone(), ids: None, labels };
    let lion = Lion::new(fit.adopt(rows, places, &mut ignore).unwrap(), &LionOptions::default()).unwrap();
    Live::new(Arc::new(lion), LiveOptions::default()).unwrap().clusters().clone()
}

/// Rows in three round clouds in turn, 6 deviations apart.
fn clouds(rows: usize, dims: usize, seed: u64) -> Vec<f32> {
    let mut numbers = TestRandom::new(seed);
    let centre = |cloud: usize, d: usize| [[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [3.0, 5.2, 0.0]][cloud][d];
    (0..rows * dims).map(|i| (centre(i / dims % 3, i % dims) + numbers.gaussian()) as f32).collect()
}

fn uniform(values: usize, seed: u64) -> Vec<f32> {
    let mut numbers = TestRandom::new(seed);
    (0..values).map(|_| numbers.uniform() as f32).collect()
}

#[test]
fn three_clouds_are_three_clusters_whatever_their_scale() {
    for (rows, dims) in [(300, 2), (2500, 2), (12_000, 2), (2500, 3)] {
        let places = clouds(rows, dims, rows as u64);
        let found = clusters(dims, places.clone(), None);
        assert_eq!(found.names, ["1", "2", "3"], "{rows} rows: {:?}", found.rows);
        assert!(!found.from_labels && found.rows.is_sorted_by(|a, b| a >= b));
        // The cluster of most rows of a cloud is theirs.
        let mut votes = [[0; 3]; 3];
        (0..rows).for_each(|i| found.of_row[i].iter().for_each(|&c| votes[i % 3][c as usize] += 1));
        let right: usize = votes.iter().map(|votes| votes.iter().max().unwrap()).sum();
        assert!(right as f64 > 0.97 * rows as f64, "{rows} rows: {votes:?}");
        // A centre is where one of its rows is.
        for (cluster, centre) in (0..).zip(&found.centres) {
            let mut members = (0..rows).filter(|&i| found.of_row[i] == Some(cluster));
            assert!(members.any(|i| places[i * dims..][..dims] == centre[..]));
        }
        for scale in [1024.0, 1.0 / 1024.0] {
            let scaled = clusters(dims, places.iter().map(|v| v * scale).collect(), None);
            assert_eq!(scaled.of_row, found.of_row);
        }
    }
}

#[test]
fn what_lies_evenly_is_one_cluster() {
    for (rows, dims) in [(40, 2), (300, 2), (2500, 2), (12_000, 2), (2500, 3)] {
        for seed in 0..3 {
            let found = clusters(dims, uniform(rows * dims, seed), None);
            assert_eq!(found.names.len(), 1, "{rows} rows, seed {seed}: {:?}", found.rows);
        }
    }
}

#[test]
fn tiny_maps_have_clusters_too() {
    assert_eq!(clusters(2, vec![0.0, 0.0, 1.0, 1.0], None).names.len(), 1);
    // All at one place.
    let mut places = vec![0.0; 80];
    places.extend([5.0, 5.0]);
    assert!(!clusters(2, places, None).names.is_empty());
}

#[test]
fn labels_are_clusters() {
    let label = |i: usize| ["10", "b", "9", "a", ""][i % 5].to_string();
    let found = clusters(2, uniform(100, 1), Some((0..50).map(label).collect()));
    assert!(found.from_labels);
    // Numbers first, by value; a row without a label is in no cluster.
    assert_eq!(
        (found.names.clone(), found.rows.clone()),
        (vec!["9".into(), "10".into(), "a".into(), "b".into()], vec![10; 4])
    );
    assert_eq!(found.of_row[..5], [Some(1), Some(3), Some(0), Some(2), None]);
    assert_eq!(found.centres.len(), 4);
}

#[test]
fn names_of_rows_are_no_clusters() {
    let found = clusters(2, uniform(3000, 1), Some((0..1500).map(|i| i.to_string()).collect()));
    assert!(!found.from_labels && found.names == ["1"]);
}
