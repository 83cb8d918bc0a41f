//! Which structure of the data a map keeps, whatever made it: the neighbours of each row, and how far groups are from each other.
//!
//! Source: Wang, Huang, Rudin and Shaposhnik (2021), "Understanding How Dimension Reduction Tools Work: An Empirical Approach to
//! Deciphering t-SNE, UMAP, TriMap, and PaCMAP for Data Visualization", for the random triplet accuracy.

use crate::spearman;
use lion_tsne::index::Neighbours;
use lion_tsne::map::Labels;
use lion_tsne::numerics::{KdTree, Random};
use lion_tsne::{Error, Matrix, Result};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Triplets of each row, as in the paper.
const TRIPLETS: usize = 5;
/// Fewer rows have no two others.
const FEWEST: usize = 3;
/// Fewer classes have no two distances to compare.
const FEWEST_CLASSES: usize = 3;

/// The `k` nearest other places of each place of a map of 1 to 3 dimensions, nearest first; of equally far ones the first row
/// first.
pub fn nearest_places(places: &Matrix, k: usize) -> Result<Neighbours> {
    let (rows, dims) = (places.rows(), places.cols());
    if k == 0 || k >= rows || !(1..=3).contains(&dims) {
        return Err(Error::Data(format!("{rows} {dims}-dimensional places do not have {k} neighbours each")));
    }
    places.check_finite()?;
    let tree = KdTree::new(places.data(), dims);
    let near = |row: u32| tree.nearest(places.row(row as usize), k, Some(row));
    let found: Vec<Vec<(f64, u32)>> = (0..rows as u32).into_par_iter().map(near).collect();
    let all = || found.iter().flatten();
    let indices = all().map(|(_, row)| *row).collect();
    Ok(Neighbours { k, indices, distances2: all().map(|(distance2, _)| *distance2 as f32).collect() })
}

/// The share of a row's `k` nearest rows in the data that are among its `k` nearest on the map, in the mean over all rows. It is
/// what `lion quality` calls neighbours kept, of all rows instead of a sample.
///
/// ```
/// use lion_evaluate::{nearest_places, neighbours_kept};
/// use lion_tsne::Matrix;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let data = nearest_places(&Matrix::new(4, 1, vec![0.0, 1.0, 3.0, 4.0])?, 1)?;
/// let map = nearest_places(&Matrix::new(4, 1, vec![0.0, 1.0, 2.5, 1.5])?, 1)?;
/// // The nearest of row 1 is no longer row 0, but row 3; that of row 3 is no longer row 2, but row 1.
/// assert_eq!(neighbours_kept(&data, &map, 1)?, 0.5);
/// # Ok(())
/// # }
/// ```
pub fn neighbours_kept(data: &Neighbours, map: &Neighbours, k: usize) -> Result<f64> {
    let rows = rows_of(data);
    if k == 0 || k > data.k.min(map.k) || rows != rows_of(map) {
        let found = [rows, data.k, rows_of(map), map.k];
        return Err(Error::Data(format!(
            "{k} neighbours cannot be compared: rows and neighbours are {found:?}"
        )));
    }
    let kept = |row: usize| {
        let mut near = map.indices[row * map.k..][..k].to_vec();
        near.sort_unstable();
        data.indices[row * data.k..][..k].iter().filter(|other| near.binary_search(other).is_ok()).count()
    };
    let kept: usize = (0..rows).into_par_iter().map(kept).sum();
    Ok(kept as f64 / (rows * k) as f64)
}

/// Spearman's correlation of the distances between the centroids of classes in the data and on the map: 1 where classes that are
/// farther apart in the data are so on the map, too. `None` of fewer than three classes.
///
/// ```
/// use lion_tsne::Matrix;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let data = Matrix::new(3, 1, vec![0.0, 1.0, 5.0])?;
/// let map = Matrix::new(3, 1, vec![0.0, 2.0, 3.0])?; // b went over to c: 1, 5, 4 became 2, 3, 1
/// let labels = ["a", "b", "c"].map(str::to_owned);
/// let found = lion_evaluate::centroid_correlation(&data, &map, &labels)?;
/// assert_eq!(found, Some(0.5));
/// # Ok(())
/// # }
/// ```
pub fn centroid_correlation(data: &Matrix, map: &Matrix, labels: &[String]) -> Result<Option<f64>> {
    same_rows(data, map)?;
    if labels.len() != data.rows() {
        return Err(Error::Data(format!("there are {} rows but {} labels", data.rows(), labels.len())));
    }
    let labels = Labels::new(labels);
    if labels.names().count() < FEWEST_CLASSES {
        return Ok(None);
    }
    Ok(spearman(&centroid_distances(data, &labels), &centroid_distances(map, &labels)))
}

/// The distance of each two centroids.
fn centroid_distances(rows: &Matrix, labels: &Labels) -> Vec<f64> {
    let (classes, cols) = (labels.names().count(), rows.cols());
    let (mut sums, mut counts) = (vec![0.0; classes * cols], vec![0.0; classes]);
    for (row, &code) in labels.codes().iter().enumerate() {
        let code = code as usize;
        counts[code] += 1.0;
        sums[code * cols..][..cols]
            .iter_mut()
            .zip(rows.row(row))
            .for_each(|(sum, value)| *sum += f64::from(*value));
    }
    sums.iter_mut().enumerate().for_each(|(at, sum)| *sum /= counts[at / cols]);
    let centre = |code: usize| &sums[code * cols..][..cols];
    let squares =
        |a: usize, b: usize| centre(a).iter().zip(centre(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    (0..classes).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| squares(a, b).sqrt()).collect()
}

/// The share of random triplets whose order the map keeps: which of two other rows is nearer to a row. Five triplets of each row,
/// drawn by the seed. Places at random keep half of them.
///
/// ```
/// use lion_tsne::Matrix;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let data = Matrix::new(3, 1, vec![0.0, 1.0, 5.0])?;
/// let turned = Matrix::new(3, 2, vec![0.0, 0.0, 0.0, -2.0, 0.0, -10.0])?;
/// assert_eq!(lion_evaluate::triplet_accuracy(&data, &turned, 0)?, 1.0);
/// # Ok(())
/// # }
/// ```
pub fn triplet_accuracy(data: &Matrix, map: &Matrix, seed: u64) -> Result<f64> {
    same_rows(data, map)?;
    let rows = data.rows();
    if rows < FEWEST {
        return Err(Error::Data(format!("{rows} rows make no triplets: {FEWEST} are needed")));
    }
    let mut random = Random::new(seed);
    let triplets: Vec<[usize; 3]> =
        (0..rows).flat_map(|row| [row; TRIPLETS]).map(|row| triplet(row, rows, &mut random)).collect();
    let kept = triplets.par_iter().filter(|triplet| order(data, triplet) == order(map, triplet)).count();
    Ok(kept as f64 / triplets.len() as f64)
}

/// A row and two different others.
fn triplet(row: usize, rows: usize, random: &mut Random) -> [usize; 3] {
    let a = random.below(rows - 1);
    let a = a + usize::from(a >= row);
    let b = random.below(rows - 2);
    let (low, high) = (row.min(a), row.max(a));
    let b = b + usize::from(b >= low);
    [row, a, b + usize::from(b >= high)]
}

/// Which of the two is nearer.
fn order(of: &Matrix, &[row, a, b]: &[usize; 3]) -> Option<Ordering> {
    let distance2 = |other: usize| {
        let both = of.row(row).iter().zip(of.row(other));
        both.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>()
    };
    distance2(a).partial_cmp(&distance2(b))
}

fn rows_of(neighbours: &Neighbours) -> usize {
    neighbours.indices.len() / neighbours.k.max(1)
}

fn same_rows(data: &Matrix, map: &Matrix) -> Result<()> {
    if data.rows() == map.rows() {
        return Ok(());
    }
    Err(Error::Data(format!("there are {} rows but {} places", data.rows(), map.rows())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::index::{Search, nearest_neighbours};
    use lion_tsne::quality::{Quality, QualityOptions};
    use lion_tsne::{Fit, Rows, ignore};

    fn column(values: &[f32]) -> Matrix {
        Matrix::new(values.len(), 1, values.to_vec()).unwrap()
    }

    fn random(rows: usize, cols: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::new(rows, cols, (0..rows * cols).map(|_| random.gaussian() as f32).collect()).unwrap()
    }

    #[test]
    fn neighbours_kept_by_hand() {
        let line = nearest_places(&column(&[0.0, 1.0, 3.0, 7.0, 15.0]), 2).unwrap();
        assert_eq!(line.indices, [1, 2, 0, 2, 1, 0, 2, 1, 3, 2]);
        assert_eq!(line.distances2[..4], [1.0, 9.0, 1.0, 4.0]);
        assert_eq!(neighbours_kept(&line, &line, 2).unwrap(), 1.0);
        // Row 4 between rows 0 and 1. Nearest: 4, 4, 1, 2, 0; none of 1, 0, 1, 2, 3 but the third and the fourth.
        let moved = nearest_places(&column(&[0.0, 1.0, 3.0, 7.0, 0.4]), 2).unwrap();
        assert_eq!(neighbours_kept(&line, &moved, 1).unwrap(), 0.4);
        // Two nearest: {4, 1}, {4, 0}, {1, 4}, {2, 1}, {0, 1} beside {1, 2}, {0, 2}, {1, 0}, {2, 1}, {3, 2}: 1 + 1 + 1 + 2 + 0.
        assert_eq!(neighbours_kept(&line, &moved, 2).unwrap(), 0.5);
    }

    #[test]
    fn neighbours_kept_are_those_of_lion_quality() {
        let (data, places) = (random(300, 4, 1), random(300, 2, 2));
        let rows = Rows { data: data.clone(), ids: None, labels: None };
        let map = Fit::default().adopt(rows, places, &mut ignore).unwrap();
        let quality = Quality::new(&map, None, &QualityOptions::default()).unwrap();
        let neighbours = nearest_neighbours(&data, 100, Search::Exact, 0, &mut ignore).unwrap().0;
        let near = nearest_places(map.y(), 100).unwrap();
        for scale in &quality.scales {
            let kept = neighbours_kept(&neighbours, &near, scale.neighbours).unwrap();
            assert!((kept - scale.neighbours_kept.mean).abs() < 1e-12, "{scale:?}: {kept}");
        }
        assert_eq!(quality.scales.len(), 3);
    }

    #[test]
    fn centroids_by_hand() {
        let labels = ["a", "b", "a", "c"].map(str::to_owned);
        // Centroids 1, 4, 9: distances 3, 8, 5. On the map 0, 4, 1: 4, 1, 3. The order is turned round.
        let (data, map) = (column(&[0.0, 4.0, 2.0, 9.0]), column(&[-1.0, 4.0, 1.0, 1.0]));
        assert_eq!(centroid_correlation(&data, &map, &labels).unwrap(), Some(-1.0));
        assert_eq!(centroid_correlation(&data, &data, &labels).unwrap(), Some(1.0));
        let two = ["a", "b", "a", "b"].map(str::to_owned);
        assert_eq!(centroid_correlation(&data, &map, &two).unwrap(), None);
    }

    #[test]
    fn triplets_are_of_three_different_rows_and_all_of_them_occur() {
        let mut random = Random::new(1);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..2000 {
            seen.insert(triplet(2, 5, &mut random));
        }
        assert!(seen.iter().all(|&[row, a, b]| row == 2 && a != 2 && b != 2 && a != b && a.max(b) < 5));
        assert_eq!(seen.len(), 12);
    }

    #[test]
    fn triplets_by_hand() {
        // Of three rows each has one pair of others: row 0 and row 1 keep which is nearer, row 2 does not.
        let (data, map) = (column(&[0.0, 1.0, 5.0]), column(&[4.5, 3.0, 10.0]));
        assert_eq!(triplet_accuracy(&data, &map, 0).unwrap(), 2.0 / 3.0);
        // A map of one place tells nothing apart.
        assert_eq!(triplet_accuracy(&data, &column(&[1.0; 3]), 0).unwrap(), 0.0);
        let (data, map) = (random(4000, 6, 3), random(4000, 2, 4));
        let chance = triplet_accuracy(&data, &map, 0).unwrap();
        assert!((chance - 0.5).abs() < 0.02, "{chance}");
    }

    #[test]
    fn the_same_for_any_number_of_threads() {
        let (data, places) = (random(500, 5, 5), random(500, 2, 6));
        let labels: Vec<String> = (0..500).map(|row| (row % 7).to_string()).collect();
        let measure = || {
            let near = nearest_places(&places, 20).unwrap();
            let kept = neighbours_kept(&nearest_places(&random(500, 3, 7), 20).unwrap(), &near, 20).unwrap();
            let centroids = centroid_correlation(&data, &places, &labels).unwrap();
            (kept, centroids, triplet_accuracy(&data, &places, 0).unwrap())
        };
        let found = measure();
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(measure), found);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (three, four) = (column(&[0.0, 1.0, 2.0]), column(&[0.0, 1.0, 2.0, 3.0]));
        assert!(nearest_places(&three, 3).is_err() && nearest_places(&three, 0).is_err());
        assert!(nearest_places(&random(9, 4, 0), 2).is_err());
        assert!(nearest_places(&column(&[0.0, f32::NAN, 1.0]), 1).is_err());
        let near = |of: &Matrix| nearest_places(of, 2).unwrap();
        assert!(neighbours_kept(&near(&three), &near(&four), 1).is_err());
        assert!(neighbours_kept(&near(&three), &near(&three), 3).is_err());
        assert!(triplet_accuracy(&three, &four, 0).is_err());
        assert!(triplet_accuracy(&column(&[0.0, 1.0]), &column(&[0.0, 1.0]), 0).is_err());
        assert!(centroid_correlation(&three, &three, &["a".to_owned()]).is_err());
        assert!(centroid_correlation(&three, &four, &["a", "b", "c"].map(str::to_owned)).is_err());
    }
}
