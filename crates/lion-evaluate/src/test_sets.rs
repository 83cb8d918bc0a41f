//! What is placed: rows that belong to a row of the map, and rows that belong nowhere.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for the cluster test and the outlier test; Durstenfeld (1964), "Algorithm 235: random
//! permutation", for the shuffle.

use lion_tsne::index::{ExactIndex, Neighbours, Search, nearest_neighbours};
use lion_tsne::numerics::{Random, squared_distance, vectorized};
use lion_tsne::{Error, Map, Matrix, Result, ignore};

/// The candidates nearest to each row of the map that are looked up at once; few rows use up so many.
const LISTED: usize = 16;

/// The paper's cluster test: rows that surely belong to a row of the map, since they are closer to it than any other row
/// of the map is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTest {
    /// Numbers of candidates, in the order in which they were picked. None is there twice.
    pub rows: Vec<u32>,
    /// The row of the map that each was picked for, by its number in the data.
    pub picked_for: Vec<u32>,
}

impl ClusterTest {
    /// For random rows of the map, the closest candidate not used yet, taken if it is closer to that row than any other
    /// row of the map is. Distances are taken after the map's preprocessing, and equal rows of the map are one. Fewer
    /// than `wanted` where no more candidates are so close; refused where none is.
    pub fn pick(training: &Map, candidates: &Matrix, wanted: usize, seed: u64) -> Result<Self> {
        let candidates = training.preprocess().apply(candidates)?;
        let mut picked = Self::pick_preprocessed(training.x(), &candidates, wanted, seed)?;
        if let Some(first) = training.first_rows() {
            picked.picked_for.iter_mut().for_each(|row| *row = first[*row as usize]);
        }
        Ok(picked)
    }

    /// The same before there is a map: of rows that are preprocessed already and differ from each other.
    pub fn pick_preprocessed(x: &Matrix, candidates: &Matrix, wanted: usize, seed: u64) -> Result<Self> {
        let candidates = Candidates::new(x, candidates)?;
        let gaps2 = gaps2(x)?;
        let mut random = Random::new(seed);
        // Rows for which a candidate may be left.
        let mut open: Vec<u32> = (0..x.rows() as u32).collect();
        let mut used = vec![false; candidates.rows.rows()];
        let mut picked = Self { rows: Vec::new(), picked_for: Vec::new() };
        while picked.rows.len() < wanted && !open.is_empty() {
            let at = random.below(open.len());
            let row = open[at];
            match candidates.closest(row as usize, &used) {
                Some((distance2, candidate)) if distance2 < gaps2[row as usize] => {
                    used[candidate as usize] = true;
                    picked.rows.push(candidate);
                    picked.picked_for.push(row);
                }
                // Nor will it ever be: the unused ones only become fewer.
                _ => drop(open.swap_remove(at)),
            }
        }
        match picked.rows.is_empty() && wanted > 0 {
            true => Err(Error::Data(format!(
                "none of {} candidates is closer to a row of the map than other rows of the map are",
                used.len()
            ))),
            false => Ok(picked),
        }
    }
}

/// Candidates as the map sees them, and which are nearest to each of its rows.
struct Candidates<'a> {
    x: &'a Matrix,
    rows: &'a Matrix,
    listed: Neighbours,
}

impl<'a> Candidates<'a> {
    fn new(x: &'a Matrix, rows: &'a Matrix) -> Result<Self> {
        let listed = ExactIndex::new(rows)?.nearest(x, LISTED.min(rows.rows()))?;
        Ok(Self { x, rows, listed })
    }

    /// The unused candidate closest to a row of the map, with its squared distance; of equally close ones the first.
    fn closest(&self, row: usize, used: &[bool]) -> Option<(f32, u32)> {
        let k = self.listed.k;
        let listed = self.listed.distances2[row * k..].iter().zip(&self.listed.indices[row * k..]).take(k);
        let mut listed = listed.filter(|&(_, &candidate)| !used[candidate as usize]);
        match listed.next() {
            Some((&distance2, &candidate)) => Some((distance2, candidate)),
            None => self.closest_of_all(self.x.row(row), used),
        }
    }

    /// The same by comparing with every candidate.
    fn closest_of_all(&self, row: &[f32], used: &[bool]) -> Option<(f32, u32)> {
        let mut best: Option<(f32, u32)> = None;
        vectorized(
            #[inline(always)]
            || {
                for (candidate, other) in (0..).zip(self.rows.data().chunks_exact(row.len())) {
                    let distance2 = squared_distance(row, other);
                    if !used[candidate as usize] && best.is_none_or(|(least, _)| distance2 < least) {
                        best = Some((distance2, candidate));
                    }
                }
            },
        );
        best
    }
}

/// NN-X squared: how far each row is from the nearest other. A single row has none, and all are closer than that.
fn gaps2(x: &Matrix) -> Result<Vec<f32>> {
    match x.rows() {
        1 => Ok(vec![f32::INFINITY]),
        _ => Ok(nearest_neighbours(x, 1, Search::Exact, 0, &mut ignore)?.0.distances2),
    }
}

/// The numbers of so many rows in a random order: the first of them are a random sample, and the next another.
pub fn shuffled(rows: u32, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut order: Vec<u32> = (0..rows).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// Images of noise: each value uniform in `[0, 1)`. Fewer of the same seed are the first of more.
pub fn noise(cols: usize, count: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    Matrix::from_rows(cols, (0..count * cols).map(|_| random.unit()).collect())
}

/// The rows that the paper's outlier test keeps: those farther from every row of the map than any of them is from its
/// nearest other, max(NN-X). By their numbers, ascending.
pub fn strangers(map: &Map, rows: &Matrix) -> Result<Vec<u32>> {
    // What a map keeps of NN-X is exact where it is largest.
    let farthest = match map.lion() {
        Some(kept) => kept.nn_x().iter().copied().fold(0.0, f32::max),
        None => gaps2(map.x())?.into_iter().filter(|gap2| gap2.is_finite()).fold(0.0, f32::max).sqrt(),
    };
    let found = ExactIndex::new(map.x())?.nearest(&map.preprocess().apply(rows)?, 1)?;
    let far = (0..).zip(&found.distances2).filter(|(_, distance2)| distance2.sqrt() > farthest);
    Ok(far.map(|(row, _)| row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::Fit;
    use lion_tsne::map::MapParts;

    fn matrix(rows: &[[f32; 2]]) -> Matrix {
        Matrix::new(rows.len(), 2, rows.concat()).unwrap()
    }

    fn map(rows: &Matrix) -> Map {
        Fit::default().adopt(rows.clone(), rows.clone(), &mut ignore).unwrap()
    }

    fn gaussian(rows: usize, width: f64, random: &mut Random) -> Matrix {
        Matrix::new(rows, 2, (0..rows * 2).map(|_| (width * random.gaussian()) as f32).collect()).unwrap()
    }

    fn distance2(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
    }

    /// The rules once more, from what was picked alone. Returns the candidates that are left.
    fn check(training: &Matrix, candidates: &Matrix, picked: &ClusterTest) -> Vec<usize> {
        let mut left: Vec<usize> = (0..candidates.rows()).collect();
        for (&candidate, &row) in picked.rows.iter().zip(&picked.picked_for) {
            let x = training.row(row as usize);
            let away = |candidate: usize| distance2(x, candidates.row(candidate));
            let closest = left.iter().copied().min_by(|&a, &b| away(a).total_cmp(&away(b))).unwrap();
            assert_eq!(candidate as usize, closest);
            assert!(away(closest) < gap2(training, row as usize));
            left.retain(|&other| other != closest);
        }
        left
    }

    fn gap2(training: &Matrix, row: usize) -> f64 {
        let others = (0..training.rows()).filter(|&other| training.row(other) != training.row(row));
        others.map(|other| distance2(training.row(row), training.row(other))).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn cluster_tests_keep_the_rules() {
        let mut random = Random::new(2);
        let (training, candidates) = (gaussian(60, 1.0, &mut random), gaussian(500, 1.0, &mut random));
        let known = map(&training);
        let picked = ClusterTest::pick(&known, &candidates, 50, 3).unwrap();
        assert_eq!((picked.rows.len(), picked.picked_for.len()), (50, 50));
        check(&training, &candidates, &picked);
        assert!(picked.picked_for.iter().collect::<std::collections::HashSet<_>>().len() > 20);
        assert_eq!(ClusterTest::pick(&known, &candidates, 50, 3).unwrap(), picked);
        assert_ne!(ClusterTest::pick(&known, &candidates, 50, 4).unwrap(), picked);
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| ClusterTest::pick(&known, &candidates, 50, 3)).unwrap(), picked);
        }
    }

    #[test]
    fn cluster_tests_end_when_nothing_is_close_enough() {
        let mut random = Random::new(5);
        // Far more candidates for each of few rows than are looked up at once.
        let (training, candidates) = (gaussian(4, 2.0, &mut random), gaussian(300, 2.0, &mut random));
        let picked = ClusterTest::pick(&map(&training), &candidates, 1000, 0).unwrap();
        assert!(picked.rows.len() > 4 * LISTED && picked.rows.len() < 300, "{}", picked.rows.len());
        let left = check(&training, &candidates, &picked);
        for row in 0..4 {
            let beyond =
                |&other: &usize| distance2(training.row(row), candidates.row(other)) >= gap2(&training, row);
            assert!(left.iter().all(beyond));
        }
        let far = matrix(&[[900.0, 900.0]]);
        assert!(
            ClusterTest::pick(&map(&training), &far, 5, 0).unwrap_err().to_string().contains("none of 1")
        );
        assert!(ClusterTest::pick(&map(&training), &Matrix::zeros(3, 5), 5, 0).is_err());
    }

    #[test]
    fn rows_are_numbered_as_in_the_data() {
        // Rows 0 and 1 are equal: one row, whose other neighbour is 10 away.
        let training = matrix(&[[0.0, 0.0], [0.0, 0.0], [10.0, 0.0]]);
        let candidates = matrix(&[[12.0, 0.0], [1.0, 0.0], [500.0, 0.0], [0.0, 10.0]]);
        let picked = ClusterTest::pick(&map(&training), &candidates, 9, 1).unwrap();
        let mut pairs: Vec<(u32, u32)> =
            picked.rows.iter().copied().zip(picked.picked_for.iter().copied()).collect();
        pairs.sort_unstable();
        // (1, 0) is 9 from row 2 as well, so who is drawn first gets it; (0, 10) is no closer than row 2 is.
        assert!(pairs == [(0, 2), (1, 0)] || pairs == [(0, 2), (1, 2)], "{pairs:?}");
    }

    #[test]
    fn strangers_are_farther_than_the_loneliest_row() {
        // NN-X: 1, 1, 2.
        let known = map(&matrix(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]));
        let asked = matrix(&[[1.0, 2.0], [1.0, 2.5], [5.0, 0.0], [6.0, 0.0], [0.0, 0.0]]);
        assert_eq!(strangers(&known, &asked).unwrap(), [1, 3]);
        let parts = MapParts {
            preprocess: known.preprocess().clone(),
            x: known.x().clone(),
            y: known.y().clone(),
            place_of: None,
            ids: None,
            labels: None,
            provenance: known.provenance().clone(),
            lion: None,
        };
        assert_eq!(strangers(&Map::new(parts).unwrap(), &asked).unwrap(), [1, 3]);
        assert!(strangers(&known, &Matrix::zeros(1, 3)).is_err());
    }

    #[test]
    fn every_row_is_shuffled_to_every_position() {
        let mut seen = [[0; 4]; 4];
        for seed in 0..4000 {
            let order = shuffled(4, seed);
            assert_eq!(order.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
            order.iter().enumerate().for_each(|(at, &row)| seen[at][row as usize] += 1);
        }
        assert!(seen.iter().flatten().all(|count| (850..1150).contains(count)), "{seen:?}");
        assert_eq!((shuffled(0, 1), shuffled(1, 1)), (vec![], vec![0]));
    }

    #[test]
    fn noise_is_the_same_for_ever() {
        let rows = noise(3, 50, 1_234_567);
        // The leading 24 bits of the published first output of SplitMix64 for this seed.
        assert_eq!(rows.data()[0], (6_457_827_717_110_365_317u64 >> 40) as f32 / 16_777_216.0);
        assert_eq!(noise(3, 10, 1_234_567).data(), &rows.data()[..30]);
        assert!(rows.data().iter().all(|value| (0.0..1.0).contains(value)));
        let mean = rows.data().iter().sum::<f32>() / 150.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
    }
}
