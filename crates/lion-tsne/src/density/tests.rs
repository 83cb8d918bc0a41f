//! Clusters whose truth is known: blobs of several sizes, and chance.

use super::levels::{Level, levels};
use crate::kd_tree::KdTree;
use crate::matrix::Matrix;
use crate::random::Random;

/// Blobs of places: how many, where, how wide.
fn blobs(blobs: &[(usize, [f64; 2], f64)]) -> Matrix {
    let mut random = Random::new(3);
    let places = blobs.iter().flat_map(|&(count, [x, y], width)| std::iter::repeat_n([x, y, width], count));
    let data: Vec<f32> = places
        .flat_map(|[x, y, width]| {
            [(x + width * random.gaussian()) as f32, (y + width * random.gaussian()) as f32]
        })
        .collect();
    Matrix::new(data.len() / 2, 2, data).unwrap()
}

fn found(y: &Matrix) -> (Vec<Level>, usize) {
    levels(y, &KdTree::new(y.data(), y.cols()))
}

/// The share of the places of a blob that are in its most frequent cluster, and that cluster.
fn most(level: &Level, range: std::ops::Range<usize>) -> (f64, Option<u32>) {
    let mut counts = vec![0usize; level.count + 1];
    range.clone().for_each(|row| counts[level.of_place[row].map_or(level.count, |c| c as usize)] += 1);
    let (at, count) = counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap();
    (*count as f64 / range.len() as f64, (at < level.count).then_some(at as u32))
}

#[test]
fn blobs_of_all_sizes_are_clusters_and_chance_makes_none() {
    // 5 of 5012 are 0.1 %, 12 are 0.24 %.
    let sizes = [3000, 1500, 500, 12];
    let centres = [[0.0, 0.0], [14.0, 0.0], [0.0, 9.0], [14.0, 9.0]];
    let widths = [2.0, 1.0, 0.6, 0.15];
    let y = blobs(&[0, 1, 2, 3].map(|i| (sizes[i], centres[i], widths[i])));
    let (levels, usual) = found(&y);
    let level = &levels[usual];
    assert_eq!(
        level.count,
        4,
        "clusters of {:?}",
        levels.iter().map(|level| level.count).collect::<Vec<_>>()
    );
    let mut start = 0;
    for (number, size) in (0..).zip(sizes) {
        let (share, cluster) = most(level, start..start + size);
        assert_eq!(cluster, Some(number), "the largest is the first");
        assert!(share > 0.97, "blob {number}: {share}");
        start += size;
    }
}

#[test]
fn levels_are_nested() {
    let mut random = Random::new(11);
    let blobs_of: Vec<(usize, [f64; 2], f64)> = (0..60)
        .map(|i| {
            (40 + 7 * i, [random.uniform() * 100.0, random.uniform() * 100.0], 0.5 + random.uniform() * 2.0)
        })
        .collect();
    let y = blobs(&blobs_of);
    let (levels, usual) = found(&y);
    assert!(levels.len() >= 2 && usual == 1, "{} levels", levels.len());
    assert!(levels[0].count <= 20 && levels[1].count > 25, "{} and {}", levels[0].count, levels[1].count);
    for pair in levels.windows(2) {
        let mut parents = vec![None; pair[1].count];
        for (coarse, fine) in pair[0].of_place.iter().zip(&pair[1].of_place) {
            assert_eq!(coarse.is_some(), fine.is_some());
            if let Some(fine) = fine {
                let parent = parents[*fine as usize].get_or_insert(*coarse);
                assert_eq!(parent, coarse, "a cluster lies in one of the level before");
            }
        }
    }
}

#[test]
fn degenerate_places_are_one_cluster() {
    for rows in [1, 2, 3, 50] {
        for data in [vec![0.0; rows * 2], (0..rows * 2).map(|i| i as f32).collect()] {
            let (levels, usual) = found(&Matrix::new(rows, 2, data).unwrap());
            assert_eq!((levels.len(), usual), (1, 0));
            assert_eq!(levels[0].of_place, vec![Some(0); rows]);
        }
    }
}
