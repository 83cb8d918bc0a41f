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

/// The hash of a row's id, or of its number; for equal hashes a hash of all that the row is, or that number; then which of the
/// rows it is that are the same in all.
pub(super) type HashKey = (u64, u64, u32);

/// A row that stays.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SampledRow {
    pub(super) row: Vec<f32>,
    pub(super) id: String,
    pub(super) label: String,
}

/// The rows that stay so far. Each label has a stratum of its own where they are stratified, else all rows are one.
#[derive(Debug)]
pub(super) struct BottomKSample {
    count: usize,
    stratified: bool,
    held_out: usize,
    strata: BTreeMap<String, Stratum>,
    /// Where there are strata: the rows that fill up what small ones leave, whatever their label.
    least: BTreeSet<HashKey>,
    /// Where it is known how many rows there will be: which hashes are worth a look.
    expected: Option<ExpectedRows>,
    /// The rows that are in a stratum or among the least, with the number of sets they are in.
    kept: BTreeMap<HashKey, (SampledRow, u8)>,
}

#[derive(Debug, Default)]
struct Stratum {
    /// How many rows passed by, those of another sample that was merged too.
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
            expected: None,
            kept: BTreeMap::new(),
        }
    }

    /// Rows have so many columns, and of each label so many will pass by in all samples together, where that is known.
    pub(super) fn begin(&mut self, cols: usize, expected: Option<&BTreeMap<String, u64>>) -> Result<()> {
        self.held_out = max_held_out(self.held_out, cols);
        let Some(expected) = expected else { return Ok(()) };
        if self.stratified {
            expected.keys().try_for_each(|label| self.add_stratum(label))?;
        }
        self.expected = Some(ExpectedRows::new(self, expected));
        Ok(())
    }

    /// Keeps the row if its hash is among the least. Rows that it drives out are forgotten. The row, and what tells it from others of
    /// that hash, is made if it may stay.
    pub(super) fn offer(
        &mut self,
        hash: u64,
        label: &str,
        row: impl FnOnce() -> (u64, SampledRow),
    ) -> Result<()> {
        if self.count_row(hash, label, 1)? {
            let (tie, row) = row();
            self.keep((hash, tie, 0), row);
        }
        Ok(())
    }

    /// Counts rows of a label, and whether one of this hash may stay.
    fn count_row(&mut self, hash: u64, label: &str, rows: u64) -> Result<bool> {
        let name = if self.stratified { label } else { "" };
        if !self.strata.contains_key(name) {
            self.add_stratum(name)?;
        }
        let most = self.share() + self.held_out_share();
        let limit = self.expected.as_ref().map_or(u64::MAX, |expected| expected.limit(name));
        let Some(stratum) = self.strata.get_mut(name) else { return Ok(false) };
        stratum.seen += rows;
        let is_low = |least: &BTreeSet<HashKey>, most: usize| {
            least.len() < most || least.last().is_some_and(|last| hash <= last.0)
        };
        let of_all = self.stratified && is_low(&self.least, self.count);
        Ok(hash <= limit && (of_all || is_low(&stratum.least, most)))
    }

    /// Puts a row among the least, if it is one of them.
    fn keep(&mut self, mut key: HashKey, row: SampledRow) {
        let same = (key.0, key.1, 0)..=(key.0, key.1, u32::MAX);
        key.2 = self.kept.range(same).next_back().map_or(0, |(last, _)| last.2.saturating_add(1));
        let most = self.share() + self.held_out_share();
        let mut sets = 0;
        if let Some(stratum) = self.strata.get_mut(if self.stratified { row.label.as_str() } else { "" }) {
            sets += put(&mut stratum.least, key, most, &mut self.kept);
        }
        if self.stratified {
            sets += put(&mut self.least, key, self.count, &mut self.kept);
        }
        if sets > 0 {
            self.kept.insert(key, (row, sets));
        }
    }

    /// Adds what another sample has seen and kept, of other rows.
    pub(super) fn merge(&mut self, other: Passed) -> Result<()> {
        for (label, seen) in other.seen {
            self.count_row(0, &label, seen)?;
        }
        for (key, row) in other.kept {
            self.keep((key.0, key.1, 0), row);
        }
        Ok(())
    }

    /// How many rows of each stratum passed by, and those that stay.
    pub(super) fn passed(
        &self,
    ) -> (impl Iterator<Item = (&str, u64)>, impl Iterator<Item = (&HashKey, &SampledRow)>) {
        let seen = self.strata.iter().map(|(name, stratum)| (name.as_str(), stratum.seen));
        (seen, self.kept.iter().map(|(key, (row, _))| (key, row)))
    }

    /// Whether no row is missing that should have stayed: there were as many as expected, and their hashes were as hashes are.
    pub(super) fn is_complete(&self) -> bool {
        let most = self.share() + self.held_out_share();
        let all: u64 = self.strata.values().map(|stratum| stratum.seen).sum();
        let enough = |kept: usize, most: usize, of: u64| kept as u64 >= of.min(most as u64);
        let of_each = self.strata.values().all(|s| enough(s.least.len(), most, s.seen));
        of_each && (!self.stratified || enough(self.least.len(), self.count, all))
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

/// What a sample has seen and kept, as it travels.
#[derive(Default)]
pub(super) struct Passed {
    pub(super) seen: Vec<(String, u64)>,
    pub(super) kept: Vec<(HashKey, SampledRow)>,
}

/// Hashes that are surely too large to stay, of which a sample of a part need not keep any.
#[derive(Debug)]
struct ExpectedRows {
    of_all: u64,
    by_stratum: BTreeMap<String, u64>,
}

impl ExpectedRows {
    fn new(sample: &BottomKSample, expected: &BTreeMap<String, u64>) -> Self {
        let all: u64 = expected.values().fold(0, |all, rows| all.saturating_add(*rows));
        let most = sample.share() + sample.held_out_share();
        match sample.stratified {
            false => Self { of_all: limit(most, all), by_stratum: BTreeMap::new() },
            true => {
                let by_stratum = expected.iter().map(|(label, rows)| (label.clone(), limit(most, *rows)));
                Self { of_all: limit(sample.count, all), by_stratum: by_stratum.collect() }
            }
        }
    }

    fn limit(&self, stratum: &str) -> u64 {
        self.by_stratum.get(stratum).map_or(self.of_all, |limit| self.of_all.max(*limit))
    }
}

/// A number that at least `most` of so many uniform hashes are below: eight standard deviations more than on average.
fn limit(most: usize, of: u64) -> u64 {
    let most = most as f64;
    let share = (most + 8.0 * most.sqrt() + 64.0) / of as f64;
    // Beyond the largest hash the cast stays there.
    (share * 2f64.powi(64)) as u64
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
