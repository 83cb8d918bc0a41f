//! What is around a place: the nearest places of the map, their labels, and how far they are.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for accuracy, distance and distance percentile.

use crate::{Estimate, places_of_map};
use lion_tsne::map::Labels;
use lion_tsne::numerics::KdTree;
use lion_tsne::preprocess::unique_rows;
use lion_tsne::{Error, Map, Matrix, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::OnceLock;

/// How many of the nearest places are looked at for labels.
const NEAREST: usize = 10;
/// Places looked up at a time by one thread.
const TOGETHER: usize = 256;

/// The places of all rows of a map, equal rows too, for looking at what is around other places. Of places at the same
/// distance the one with the smaller row number is nearer.
///
/// ```
/// use lion_evaluate::Judge;
/// use lion_tsne::Matrix;
///
/// # fn main() -> lion_tsne::Result<()> {
/// let map = Matrix::new(3, 2, vec![0.0, 0.0, 1.0, 0.0, 9.0, 0.0])?;
/// let labels = ["a", "a", "b"].map(str::to_owned);
/// let judge = Judge::of(&map, Some(&labels))?;
/// let placed = Matrix::new(1, 2, vec![3.0, 0.0])?;
/// assert_eq!(judge.shares(&placed, &["b"])?, [1.0 / 3.0]); // of ten, or of as many as there are
/// assert_eq!(judge.distances(&placed)?, [2.0]);
/// # Ok(())
/// # }
/// ```
pub struct Judge {
    places: Matrix,
    plane: KdTree,
    labels: Option<MapLabels>,
    /// NN-Y squared, ascending; computed when it is asked for.
    between2: OnceLock<Vec<f64>>,
}

/// The labels of the map's rows.
struct MapLabels {
    codes: Vec<u32>,
    code_of: HashMap<String, u32>,
}

impl Judge {
    /// The code of a label that the map does not have.
    pub const UNKNOWN: u32 = u32::MAX;

    /// Of a map, with its labels if it has any.
    pub fn new(map: &Map) -> Result<Self> {
        Self::checked(places_of_map(map), map.labels())
    }

    /// Of places in one to three dimensions, whatever made them, and their labels if there are any.
    pub fn of(places: &Matrix, labels: Option<&[String]>) -> Result<Self> {
        Self::checked(places.clone(), labels.map(Labels::new).as_ref())
    }

    fn checked(places: Matrix, labels: Option<&Labels>) -> Result<Self> {
        let (rows, dims) = (places.rows(), places.cols());
        if rows == 0 || !(1..=3).contains(&dims) {
            let problem =
                format!("{rows} {dims}-dimensional places are no map: it has some of 1 to 3 dimensions");
            return Err(Error::Data(problem));
        }
        places.check_finite()?;
        let labels = labels.map(|labels| MapLabels {
            codes: labels.codes().to_vec(),
            code_of: labels.names().map(str::to_owned).zip(0..).collect(),
        });
        if let Some(known) = labels.as_ref().filter(|known| known.codes.len() != rows) {
            return Err(count_differs(rows, known.codes.len()));
        }
        let plane = KdTree::new(places.data(), dims);
        Ok(Self { places, plane, labels, between2: OnceLock::new() })
    }

    /// Dimensions of the map, 1 to 3.
    pub fn dims(&self) -> usize {
        self.places.cols()
    }

    /// Whether the map's rows have labels.
    pub fn has_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// The code of a label: its position among those of the map, or `UNKNOWN`.
    pub fn code(&self, label: &str) -> u32 {
        let code = self.labels.as_ref().and_then(|known| known.code_of.get(label));
        code.copied().unwrap_or(Self::UNKNOWN)
    }

    /// For each place, the share of the ten nearest places of the map (of all, if there are fewer) that carry this
    /// label; one at the very spot counts like any other. A label that the map does not have counts 0.
    pub fn shares(&self, places: &Matrix, labels: &[impl AsRef<str>]) -> Result<Vec<f64>> {
        let codes: Vec<u32> = labels.iter().map(|label| self.code(label.as_ref())).collect();
        self.shares_of_codes(places, &codes)
    }

    /// The same for labels as codes: for tables that pass by in parts.
    pub fn shares_of_codes(&self, places: &Matrix, codes: &[u32]) -> Result<Vec<f64>> {
        let known = self.known()?;
        if places.rows() != codes.len() {
            return Err(count_differs(places.rows(), codes.len()));
        }
        let k = NEAREST.min(self.places.rows());
        let found = self.nearest(places, k)?;
        Ok(found.chunks_exact(k).zip(codes).map(|(rows, &code)| known.share(rows, code)).collect())
    }

    /// The accuracy of the map itself: the mean share of a row's ten nearest others that carry its label.
    pub fn of_the_map(&self) -> Result<f64> {
        let known = self.known()?;
        let k = NEAREST.min(self.places.rows() - 1);
        if k == 0 {
            return Err(Error::Data("a single row has no others around it".into()));
        }
        let share = |row: usize| {
            let around = self.plane.nearest(self.places.row(row), k, Some(row as u32));
            let around: Vec<u32> = around.into_iter().map(|(_, other)| other).collect();
            known.share(&around, known.codes[row])
        };
        let shares: Vec<f64> = (0..self.places.rows()).into_par_iter().map(share).collect();
        Ok(Estimate::of(&shares).mean)
    }

    /// What could be had by putting each new row onto the row of the map that it was picked for: the shares there, that
    /// row itself included.
    pub fn baseline(&self, picked_for: &[u32], labels: &[impl AsRef<str>]) -> Result<Vec<f64>> {
        if let Some(row) = picked_for.iter().find(|&&row| row as usize >= self.places.rows()) {
            let rows = self.places.rows();
            return Err(Error::Data(format!("row {row} was picked for, and there are only {rows}, from 0")));
        }
        self.shares(&self.places.select(picked_for), labels)
    }

    /// How far each place is from the nearest place of the map.
    pub fn distances(&self, places: &Matrix) -> Result<Vec<f64>> {
        Ok(self.nearest_distances2(places)?.into_iter().map(f64::sqrt).collect())
    }

    /// Where that distance falls among NN-Y, the distances of the map's places to the nearest different one: the
    /// percentage of them that are at most as long, so 0 is closer than any two places of the map are, and a tie counts
    /// in full. Equal places count once.
    pub fn percentiles(&self, places: &Matrix) -> Result<Vec<f64>> {
        let between2 = self.between2.get_or_init(|| between2(&self.places));
        let percentile = |distance2: f64| {
            let up_to = between2.partition_point(|other| *other <= distance2);
            100.0 * up_to as f64 / between2.len().max(1) as f64
        };
        Ok(self.nearest_distances2(places)?.into_iter().map(percentile).collect())
    }

    /// The rows of the map nearest to each place, `k` for each, nearest first.
    pub fn nearest(&self, places: &Matrix, k: usize) -> Result<Vec<u32>> {
        self.look(places, k, |(_, row)| row)
    }

    fn nearest_distances2(&self, places: &Matrix) -> Result<Vec<f64>> {
        self.look(places, 1, |(distance2, _)| distance2)
    }

    /// What `keep` takes of the `k` nearest of each place. What is found for a place depends on that place alone.
    fn look<T: Send>(
        &self,
        places: &Matrix,
        k: usize,
        keep: impl Fn((f64, u32)) -> T + Sync,
    ) -> Result<Vec<T>> {
        let (rows, dims) = (self.places.rows(), self.places.cols());
        if places.cols() != dims {
            let problem =
                format!("the map is {dims}-dimensional, the places are {}-dimensional", places.cols());
            return Err(Error::Data(problem));
        }
        if k == 0 || k > rows {
            return Err(Error::Data(format!("{rows} rows do not have {k} nearest ones")));
        }
        places.check_finite()?;
        let blocks = places.data().par_chunks(TOGETHER * dims);
        let found = blocks.flat_map_iter(|block| {
            let nearest = block.chunks_exact(dims).flat_map(|place| self.plane.nearest(place, k, None));
            nearest.map(&keep)
        });
        Ok(found.collect())
    }

    fn known(&self) -> Result<&MapLabels> {
        let missing =
            || Error::Data("the map has no labels to compare others with: fit it with labels".into());
        self.labels.as_ref().ok_or_else(missing)
    }
}

impl MapLabels {
    fn share(&self, rows: &[u32], code: u32) -> f64 {
        let same = rows.iter().filter(|&&row| self.codes[row as usize] == code).count();
        same as f64 / rows.len() as f64
    }
}

/// The squared distance of each different place to the nearest other, ascending. None of a single place.
fn between2(places: &Matrix) -> Vec<f64> {
    let distinct = places.select(&unique_rows(places).representatives);
    let plane = KdTree::new(distinct.data(), distinct.cols());
    let nearest = |row: usize| plane.nearest(distinct.row(row), 1, Some(row as u32)).first().copied();
    let found = (0..distinct.rows()).into_par_iter().filter_map(nearest);
    let mut between2: Vec<f64> = found.map(|(distance2, _)| distance2).collect();
    between2.sort_unstable_by(f64::total_cmp);
    between2
}

fn count_differs(places: usize, labels: usize) -> Error {
    Error::Data(format!("there are {places} places but {labels} labels: there must be one for each"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::numerics::Random;
    use lion_tsne::{Fit, Rows, ignore};

    fn matrix(places: &[[f32; 2]]) -> Matrix {
        Matrix::new(places.len(), 2, places.concat()).unwrap()
    }

    fn texts(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    /// Eleven places on a line, 1 apart, and eleven far away, 2 apart.
    fn two_lines() -> Matrix {
        let place = |i: u8| if i < 11 { [f32::from(i), 0.0] } else { [2.0 * f32::from(i), 1000.0] };
        matrix(&(0..22).map(place).collect::<Vec<_>>())
    }

    #[test]
    fn shares_are_of_the_ten_nearest() {
        let labels: Vec<String> = (0..22)
            .map(|row| match row {
                0 => "first".into(),
                10 => "last".into(),
                11.. => "far".into(),
                _ => ["even", "odd"][row % 2].to_owned(),
            })
            .collect();
        let judge = Judge::of(&two_lines(), Some(&labels)).unwrap();
        // Rows 0 and 10 are equally far from it, and there is room for one of them.
        let at = matrix(&[[5.0, 0.5]; 6]);
        let asked = ["first", "last", "even", "odd", "far", "unheard of"];
        assert_eq!(judge.shares(&at, &asked).unwrap(), [0.1, 0.0, 0.4, 0.5, 0.0, 0.0]);
        assert_eq!(judge.shares(&matrix(&[[30.0, 900.0]]), &["far"]).unwrap(), [1.0]);
        let codes: Vec<u32> = asked.iter().map(|label| judge.code(label)).collect();
        assert_eq!(codes[5], Judge::UNKNOWN);
        assert_eq!(judge.shares_of_codes(&at, &codes).unwrap(), judge.shares(&at, &asked).unwrap());
        assert_eq!(judge.nearest(&matrix(&[[0.2, 0.0], [24.0, 1001.0]]), 2).unwrap(), [0, 1, 12, 11]);
    }

    #[test]
    fn few_rows_by_hand() {
        let places = matrix(&[[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]]);
        let judge = Judge::of(&places, Some(&texts(&["a", "a", "b"]))).unwrap();
        // Each among two others: 1/2, 1/2, 0.
        assert!((judge.of_the_map().unwrap() - 1.0 / 3.0).abs() < 1e-15);
        // With itself among all three.
        assert_eq!(judge.baseline(&[2, 0], &["b", "a"]).unwrap(), [1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(judge.distances(&matrix(&[[5.0, 3.0], [0.0, 0.0]])).unwrap(), [3.0, 0.0]);
        let one = Judge::of(&matrix(&[[1.0, 1.0]]), Some(&texts(&["a"]))).unwrap();
        assert_eq!(one.shares(&matrix(&[[2.0, 1.0]]), &["a"]).unwrap(), [1.0]);
        assert_eq!(one.percentiles(&matrix(&[[2.0, 1.0]])).unwrap(), [0.0]);
        assert!(one.of_the_map().is_err());
    }

    #[test]
    fn equal_rows_count_each() {
        // Rows 0, 2 and 3 are one and the same.
        let data = matrix(&[[7.0, 7.0], [0.0, 0.0], [7.0, 7.0], [7.0, 7.0], [9.0, 1.0]]);
        let places = matrix(&[[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [4.0, 5.0]]);
        let rows = Rows { data, ids: None, labels: Some(texts(&["a", "b", "a", "c", "b"])) };
        let map = Fit::default().adopt(rows, places, &mut ignore).unwrap();
        let judge = Judge::new(&map).unwrap();
        let at = matrix(&[[1.0, 1.0]; 3]);
        assert_eq!(judge.shares(&at, &["a", "b", "c"]).unwrap(), [0.4, 0.4, 0.2]);
        assert_eq!(judge.nearest(&matrix(&[[1.0, 1.0]]), 4).unwrap(), [0, 2, 3, 1]);
        // NN-Y is √2 twice and 5 once, not 0 for the twins.
        let near = matrix(&[[1.0, 1.5], [-1.0, -1.0], [9.5, 5.0]]);
        let third = 100.0 / 3.0;
        assert_eq!(judge.percentiles(&near).unwrap(), [0.0, 2.0 * third, 100.0]);
    }

    #[test]
    fn percentiles_count_ties() {
        let judge = Judge::of(&two_lines(), None).unwrap();
        let at = |up: f32| judge.percentiles(&matrix(&[[5.0, -up]])).unwrap()[0];
        assert_eq!(
            [at(0.0), at(0.5), at(1.0), at(1.5), at(2.0), at(90.0)],
            [0.0, 0.0, 50.0, 50.0, 100.0, 100.0]
        );
    }

    #[test]
    fn as_comparing_with_every_place() {
        let mut random = Random::new(11);
        let mut draw = |rows: usize| {
            let values = (0..rows * 3).map(|_| (random.gaussian() * 8.0).round() as f32 / 4.0).collect();
            Matrix::new(rows, 3, values).unwrap()
        };
        let (map, placed) = (draw(400), draw(300));
        let labels: Vec<String> = (0..400).map(|row: usize| (row * row % 7).to_string()).collect();
        let own: Vec<String> = (0..300).map(|row: usize| (row % 7).to_string()).collect();
        let judge = Judge::of(&map, Some(&labels)).unwrap();
        let shares = judge.shares(&placed, &own).unwrap();
        let distances = judge.distances(&placed).unwrap();
        let far2 = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        for row in 0..300 {
            let mut all: Vec<(f64, usize)> =
                (0..400).map(|other| (far2(placed.row(row), map.row(other)), other)).collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let same = all[..10].iter().filter(|(_, other)| labels[*other] == own[row]).count();
            assert_eq!((shares[row], distances[row]), (same as f64 / 10.0, all[0].0.sqrt()));
        }
        let percentiles = judge.percentiles(&placed).unwrap();
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| Judge::of(&map, Some(&labels)).unwrap());
            assert_eq!(pool.install(|| again.shares(&placed, &own)).unwrap(), shares);
            assert_eq!(pool.install(|| again.percentiles(&placed)).unwrap(), percentiles);
        }
        let alone = judge.percentiles(&placed.select(&[17])).unwrap();
        assert_eq!(alone[0], percentiles[17]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let judge = Judge::of(&two_lines(), None).unwrap();
        let good = matrix(&[[0.0, 0.0]]);
        assert!(!judge.has_labels());
        assert!(judge.shares(&good, &["a"]).unwrap_err().to_string().contains("no labels"));
        assert!(judge.of_the_map().is_err());
        assert!(judge.nearest(&good, 0).is_err() && judge.nearest(&good, 23).is_err());
        assert!(judge.distances(&matrix(&[[0.0, f32::NAN]])).is_err());
        assert!(judge.distances(&Matrix::zeros(1, 3)).is_err());
        assert_eq!(judge.distances(&Matrix::zeros(0, 2)).unwrap(), [0.0; 0]);
        assert!(Judge::of(&Matrix::zeros(0, 2), None).is_err());
        assert!(Judge::of(&Matrix::zeros(3, 4), None).is_err());
        assert!(Judge::of(&two_lines(), Some(&texts(&["a"]))).is_err());
        let judge = Judge::of(&good, Some(&texts(&["a"]))).unwrap();
        assert!(judge.shares(&good, &["a", "b"]).is_err());
        assert!(judge.baseline(&[1], &["a"]).is_err());
    }
}
