//! Landmarks: the rows that stand for a table too large to be mapped whole.
//!
//! A table passes by once, in parts. Of its rows those stay whose hash is least, so that which rows stay depends on the
//! rows and the seed alone, not on their order or on how they were cut into parts. The moments of all rows are summed on
//! the way: the PCA is that of the whole table.

use crate::error::{Error, Result};
use crate::fit::Rows;
use crate::matrix::Matrix;
use crate::preprocess::{Metric, Moments, Pca, PcaChoice};
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How landmarks are chosen.
#[derive(Clone, Copy, Debug)]
pub struct LandmarkOptions {
    /// How many.
    pub count: usize,
    /// As many of each label as can be had, instead of as they come.
    pub stratified: bool,
    /// The metric of the map: PCA is of rows of unit length where it is the cosine.
    pub metric: Metric,
    /// The PCA of the map.
    pub pca: PcaChoice,
    /// Same seed, same landmarks.
    pub seed: u64,
}

/// Landmarks in the making: rows are added, then it is finished.
///
/// ```
/// use lion_tsne::{LandmarkOptions, Landmarks, Matrix, Metric, PcaChoice, Rows};
///
/// # fn main() -> lion_tsne::Result<()> {
/// let options = LandmarkOptions {
///     count: 10, stratified: false, metric: Metric::Euclidean, pca: PcaChoice::None, seed: 0,
/// };
/// let mut landmarks = Landmarks::new(options)?;
/// for part in 0..5u16 {
///     let values = (0..200).map(|i| f32::from(part * 200 + i)).collect();
///     landmarks.add(Matrix::new(100, 2, values)?.into())?;
/// }
/// let chosen = landmarks.finish()?;
/// assert_eq!((chosen.rows.data.rows(), chosen.seen), (10, 500));
/// # Ok(())
/// # }
/// ```
pub struct Landmarks {
    options: LandmarkOptions,
    /// Columns, once a row was seen.
    cols: Option<usize>,
    seen: u64,
    has: Has,
    /// The rows with the least hashes, whatever their label.
    least: BTreeSet<Key>,
    /// Where rows are stratified: those of each label.
    least_of: BTreeMap<String, BTreeSet<Key>>,
    /// The rows that are in either, with the number of sets they are in.
    kept: BTreeMap<Key, (Kept, u8)>,
    moments: Option<Moments>,
}

/// Which names the rows have: all of them or none.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Has {
    ids: bool,
    labels: bool,
}

/// The hash of a row's id, or of its number; then that number, for equal hashes.
type Key = (u64, u64);

struct Kept {
    row: Vec<f32>,
    id: String,
    label: String,
}

/// What was chosen.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The landmarks, in an order that does not depend on the table's.
    pub rows: Rows,
    /// How many rows passed by.
    pub seen: u64,
    /// The PCA of all of them, where the options ask for one and the columns are few enough to have their moments summed.
    pub pca: Option<Pca>,
}

impl Landmarks {
    /// None yet.
    pub fn new(options: LandmarkOptions) -> Result<Self> {
        if options.count < 4 {
            let problem = format!("{} are too few: a map needs at least 4", options.count);
            return Err(Error::Parameter { name: "landmarks", problem });
        }
        Ok(Self {
            options,
            cols: None,
            seen: 0,
            has: Has::default(),
            least: BTreeSet::new(),
            least_of: BTreeMap::new(),
            kept: BTreeMap::new(),
            moments: None,
        })
    }

    /// Adds the next rows of the table. They are known by their ids, or by their numbers in the table if they have none;
    /// with or without ids and labels, all rows alike.
    pub fn add(&mut self, rows: Rows) -> Result<()> {
        let Rows { data, ids, labels } = rows;
        self.check(&data, Has { ids: ids.is_some(), labels: labels.is_some() })?;
        if let Some(moments) = &mut self.moments {
            moments.add(&data);
        }
        for row in 0..data.rows() {
            let number = self.seen;
            self.seen += 1;
            let name = match &ids {
                Some(ids) => ids[row].as_bytes(),
                None => &number.to_le_bytes(),
            };
            let key = (xxh3_64_with_seed(name, self.options.seed), number);
            let label = labels.as_ref().map_or("", |labels| &labels[row]);
            let wanted = self.offer(key, label);
            if wanted > 0 {
                let id = ids.as_ref().map_or_else(String::new, |ids| ids[row].clone());
                let kept = Kept { row: data.row(row).to_vec(), id, label: label.to_owned() };
                self.kept.insert(key, (kept, wanted));
            }
        }
        Ok(())
    }

    fn check(&mut self, data: &Matrix, has: Has) -> Result<()> {
        data.check_finite()?;
        let LandmarkOptions { metric, pca, .. } = self.options;
        match self.cols {
            None => {
                (self.cols, self.has) = (Some(data.cols()), has);
                self.moments = Moments::for_pca(data.cols(), metric, pca)?;
                Ok(())
            }
            Some(cols) if cols != data.cols() => {
                Err(Error::Data(format!("rows of {cols} columns are followed by rows of {}", data.cols())))
            }
            Some(_) if self.has != has => {
                Err(Error::Data("some rows have ids or labels and others do not".into()))
            }
            Some(_) => Ok(()),
        }
    }

    /// In how many sets the row is now. Rows that it drove out are forgotten.
    fn offer(&mut self, key: Key, label: &str) -> u8 {
        let mut wanted = put(&mut self.least, key, self.options.count, &mut self.kept);
        if self.options.stratified && self.has.labels {
            if !self.least_of.contains_key(label) {
                self.least_of.insert(label.to_owned(), BTreeSet::new());
                // Each label has a smaller share now. What is driven out would not have been among the final ones either.
                let share = self.share();
                for of_label in self.least_of.values_mut() {
                    while of_label.len() > share {
                        of_label.pop_last().into_iter().for_each(|gone| forget(gone, &mut self.kept));
                    }
                }
            }
            let share = self.share();
            if let Some(of_label) = self.least_of.get_mut(label) {
                wanted += put(of_label, key, share, &mut self.kept);
            }
        }
        wanted
    }

    /// How many rows of each label have a place for sure.
    fn share(&self) -> usize {
        self.options.count / self.least_of.len().max(1)
    }

    /// The landmarks.
    pub fn finish(self) -> Result<Sampled> {
        let LandmarkOptions { count, .. } = self.options;
        let cols = self.cols.unwrap_or(0);
        let mut chosen: BTreeSet<Key> = self.least_of.values().flatten().copied().collect();
        for key in &self.least {
            if chosen.len() >= count {
                break;
            }
            chosen.insert(*key);
        }
        let mut data = Vec::with_capacity(chosen.len() * cols);
        let (mut ids, mut labels) = (Vec::new(), Vec::new());
        for (key, (kept, _)) in self.kept {
            if chosen.contains(&key) {
                data.extend_from_slice(&kept.row);
                // A row without an id is known by its number in the table.
                ids.push(if self.has.ids { kept.id } else { key.1.to_string() });
                labels.push(kept.label);
            }
        }
        let rows = Rows {
            data: Matrix::new(ids.len(), cols, data)?,
            ids: Some(ids),
            labels: self.has.labels.then_some(labels),
        };
        let pca = self.moments.map(Moments::pca).transpose()?;
        Ok(Sampled { rows, seen: self.seen, pca })
    }
}

/// Puts a key into a set of the `most` least ones; 1 if it is in.
fn put(least: &mut BTreeSet<Key>, key: Key, most: usize, kept: &mut BTreeMap<Key, (Kept, u8)>) -> u8 {
    if least.len() >= most && least.last().is_none_or(|last| key > *last) {
        return 0;
    }
    least.insert(key);
    if least.len() > most {
        least.pop_last().into_iter().for_each(|gone| forget(gone, kept));
    }
    1
}

/// Forgets a row that no other set has.
fn forget(key: Key, kept: &mut BTreeMap<Key, (Kept, u8)>) {
    if let Some((_, sets)) = kept.get_mut(&key) {
        *sets -= 1;
        if *sets == 0 {
            kept.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::Preprocess;
    use crate::random::Random;

    fn table(rows: usize, cols: usize) -> Rows {
        let mut random = Random::new(5);
        let data = (0..rows * cols).map(|i| (random.gaussian() * (1 + i % cols) as f64 + 3.0) as f32);
        let labels = (0..rows).map(|row| if row % 50 == 0 { "rare" } else { "common" }.to_owned());
        Rows {
            data: Matrix::new(rows, cols, data.collect()).unwrap(),
            ids: Some((0..rows).map(|row| format!("r{row}")).collect()),
            labels: Some(labels.collect()),
        }
    }

    fn part(rows: &Rows, order: &[u32]) -> Rows {
        let names = |names: &Option<Vec<String>>| {
            names.as_ref().map(|names| order.iter().map(|&i| names[i as usize].clone()).collect())
        };
        Rows { data: rows.data.select(order), ids: names(&rows.ids), labels: names(&rows.labels) }
    }

    fn options(count: usize) -> LandmarkOptions {
        let (metric, pca) = (Metric::Euclidean, PcaChoice::None);
        LandmarkOptions { count, stratified: false, metric, pca, seed: 0 }
    }

    fn chosen(options: LandmarkOptions, parts: impl IntoIterator<Item = Rows>) -> Sampled {
        let mut landmarks = Landmarks::new(options).unwrap();
        parts.into_iter().for_each(|part| landmarks.add(part).unwrap());
        landmarks.finish().unwrap()
    }

    #[test]
    fn whatever_the_order_and_the_parts() {
        let rows = table(1000, 3);
        for stratified in [false, true] {
            let options = LandmarkOptions { stratified, ..options(100) };
            let whole = chosen(options, [rows.clone()]);
            let mut order: Vec<u32> = (0..1000).collect();
            let mut random = Random::new(9);
            (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
            let parts = chosen(options, order.chunks(37).map(|order| part(&rows, order)));
            assert_eq!(whole.rows.ids, parts.rows.ids);
            assert_eq!(whole.rows.data, parts.rows.data);
            assert_eq!(whole.rows.labels, parts.rows.labels);
            assert_eq!((whole.rows.data.rows(), whole.seen), (100, 1000));
        }
    }

    #[test]
    fn each_label_has_its_share() {
        let options = LandmarkOptions { stratified: true, ..options(100) };
        let rare = |chosen: &Sampled| chosen.rows.labels.iter().flatten().filter(|l| *l == "rare").count();
        // There are 20 of the rare ones; all stay, and common ones fill up.
        let of_all = chosen(options, [table(1000, 3)]);
        assert_eq!((rare(&of_all), of_all.rows.data.rows()), (20, 100));
        let as_they_come = chosen(super::tests::options(100), [table(1000, 3)]);
        assert!(rare(&as_they_come) < 10);
    }

    #[test]
    fn fewer_rows_than_landmarks_all_stay() {
        let of_few = chosen(options(100), [table(30, 2)]);
        assert_eq!(of_few.rows.data.rows(), 30);
    }

    #[test]
    fn the_pca_is_that_of_all_rows() {
        let rows = table(3000, 8);
        let options = LandmarkOptions { pca: PcaChoice::Components(4), ..options(50) };
        let order: Vec<u32> = (0..3000).collect();
        let streamed = chosen(options, order.chunks(700).map(|order| part(&rows, order))).pca.unwrap();
        let (whole, _) = Preprocess::fit(rows.data, Metric::Euclidean, PcaChoice::Components(4), 0).unwrap();
        let whole = whole.pca().unwrap();
        for (a, b) in streamed.components().data().iter().zip(whole.components().data()) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
        for (a, b) in streamed.variances().iter().zip(whole.variances()) {
            assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
        }
        assert!((streamed.total_variance() / whole.total_variance() - 1.0).abs() < 1e-5);
        let again = chosen(options, order.chunks(123).map(|order| part(&table(3000, 8), order))).pca.unwrap();
        assert_eq!(streamed, again);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert!(Landmarks::new(options(3)).is_err());
        let mut landmarks = Landmarks::new(options(10)).unwrap();
        landmarks.add(table(20, 3)).unwrap();
        assert!(landmarks.add(table(20, 4)).is_err());
        assert!(landmarks.add(Rows { ids: None, ..table(20, 3) }).is_err());
        let broken =
            Rows { data: Matrix::new(1, 3, vec![0.0, f32::NAN, 1.0]).unwrap(), ..part(&table(20, 3), &[0]) };
        assert!(landmarks.add(broken).is_err());
    }
}
