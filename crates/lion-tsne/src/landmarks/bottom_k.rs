//! Which rows stay while a table passes by: those of the least hashes, a bottom-k sample (Cohen & Kaplan 2007).

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use std::collections::{BTreeMap, BTreeSet};

/// The most held-out rows, over all labels, unless told otherwise.
pub(super) const MAX_HELD_OUT: usize = 100_000;
/// The most values of them together: wide rows have fewer held-out rows.
const HELD_OUT_VALUES: usize = 1 << 25;

/// How many held-out rows there are at most where so many are asked for and rows have so many columns.
pub(crate) fn max_held_out(asked: usize, cols: usize) -> usize {
    asked.min(HELD_OUT_VALUES / cols.max(1)).max(1)
}

/// The hash of a row's id, or of its number; then that number, for equal hashes.
pub(super) type HashKey = (u64, u64);

/// A row that stays.
pub(super) struct SampledRow {
    pub(super) row: Vec<f32>,
    pub(super) id: String,
    pub(super) label: String,
}

/// The rows that stay so far. Each label has a stratum of its own where they are stratified, else all rows are one.
pub(super) struct BottomKSample {
    count: usize,
    stratified: bool,
    held_out: usize,
    strata: BTreeMap<String, Stratum>,
    /// Where there are strata: the rows that fill up what small ones leave, whatever their label.
    least: BTreeSet<HashKey>,
    /// The rows that are in a stratum or among the least, with the number of sets they are in.
    kept: BTreeMap<HashKey, (SampledRow, u8)>,
}

#[derive(Default)]
struct Stratum {
    seen: u64,
    least: BTreeSet<HashKey>,
}

/// What is chosen in the end.
pub(super) struct LandmarkChoice {
    /// The landmarks of each stratum, least hash first.
    pub(super) plain: Vec<Vec<HashKey>>,
    /// The held-out rows of each stratum, least hash first, and how many rows they are a fair sample of.
    pub(super) strata: Vec<(Vec<HashKey>, u64)>,
    /// The rows themselves.
    pub(super) kept: BTreeMap<HashKey, SampledRow>,
}

impl BottomKSample {
    pub(super) fn new(count: usize, stratified: bool, held_out: usize) -> Self {
        Self {
            count,
            stratified,
            held_out,
            strata: BTreeMap::new(),
            least: BTreeSet::new(),
            kept: BTreeMap::new(),
        }
    }

    /// Rows have so many columns.
    pub(super) fn set_width(&mut self, cols: usize) {
        self.held_out = max_held_out(self.held_out, cols);
    }

    /// Keeps the row if its hash is among the least. Rows that it drives out are forgotten.
    pub(super) fn offer(
        &mut self,
        key: HashKey,
        label: &str,
        row: impl FnOnce() -> SampledRow,
    ) -> Result<()> {
        let name = if self.stratified { label } else { "" };
        if !self.strata.contains_key(name) {
            self.add_stratum(name)?;
        }
        let most = self.share() + self.held_out_share();
        let mut sets = 0;
        if let Some(stratum) = self.strata.get_mut(name) {
            stratum.seen += 1;
            sets += put(&mut stratum.least, key, most, &mut self.kept);
        }
        if self.stratified {
            sets += put(&mut self.least, key, self.count, &mut self.kept);
        }
        if sets > 0 {
            self.kept.insert(key, (row(), sets));
        }
        Ok(())
    }

    /// Each label has a smaller share from now on. What is driven out would not have stayed in the end either.
    fn add_stratum(&mut self, name: &str) -> Result<()> {
        if self.strata.len() == self.count {
            return Err(Error::Data(format!(
                "there are more than {} different labels, too many for as many landmarks to be shared out by label",
                self.count
            )));
        }
        self.strata.insert(name.to_owned(), Stratum::default());
        let most = self.share() + self.held_out_share();
        for stratum in self.strata.values_mut() {
            while stratum.least.len() > most {
                stratum.least.pop_last().into_iter().for_each(|gone| forget(gone, &mut self.kept));
            }
        }
        Ok(())
    }

    /// How many rows of each label are landmarks for sure.
    fn share(&self) -> usize {
        self.count / self.strata.len().max(1)
    }

    fn held_out_share(&self) -> usize {
        // One of a few may be asked to cover: another has to judge.
        (self.held_out / self.strata.len().max(1)).max(2)
    }

    /// Parts landmarks from held-out rows. Of each stratum the landmarks have the least hashes and the held-out rows
    /// the next: whether a row is one or the other has nothing to do with what is in it.
    pub(super) fn choose(self) -> LandmarkChoice {
        let share = self.share();
        let firsts = self.strata.values().flat_map(|stratum| stratum.least.iter().take(share));
        let mut landmarks: BTreeSet<HashKey> = firsts.copied().collect();
        for key in &self.least {
            if landmarks.len() >= self.count {
                break;
            }
            landmarks.insert(*key);
        }
        let (mut plain, mut strata) = (Vec::new(), Vec::new());
        let mut by_label: BTreeMap<&str, Vec<HashKey>> = BTreeMap::new();
        for (key, (kept, _)) in &self.kept {
            let name = if self.stratified { kept.label.as_str() } else { "" };
            by_label.entry(name).or_default().push(*key);
        }
        for (name, keys) in by_label {
            let (chosen, left): (Vec<HashKey>, Vec<HashKey>) =
                keys.iter().partition(|key| landmarks.contains(key));
            let seen = self.strata.get(name).map_or(0, |stratum| stratum.seen);
            strata.push((left, seen - chosen.len() as u64));
            plain.push(chosen);
        }
        let kept = self.kept.into_iter().map(|(key, (kept, _))| (key, kept)).collect();
        LandmarkChoice { plain, strata, kept }
    }
}

/// Puts a key into a set of the `most` least ones; 1 if it is in.
fn put(
    least: &mut BTreeSet<HashKey>,
    key: HashKey,
    most: usize,
    kept: &mut BTreeMap<HashKey, (SampledRow, u8)>,
) -> u8 {
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
fn forget(key: HashKey, kept: &mut BTreeMap<HashKey, (SampledRow, u8)>) {
    if let Some((_, sets)) = kept.get_mut(&key) {
        *sets -= 1;
        if *sets == 0 {
            kept.remove(&key);
        }
    }
}

/// These rows, in this order.
pub(super) fn matrix(kept: &BTreeMap<HashKey, SampledRow>, keys: &[HashKey], cols: usize) -> Result<Matrix> {
    let rows = keys.iter().flat_map(|key| &kept[key].row).copied().collect();
    Matrix::new(keys.len(), cols, rows)
}
