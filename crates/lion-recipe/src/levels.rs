//! How often each text of a column occurs.

use std::collections::HashMap;

/// More different texts than this are not counted: they are no levels of a category.
const MOST: usize = 10_000;

/// Counts of different texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    counts: HashMap<String, u64>,
    /// There are more than are counted.
    beyond: bool,
    /// Characters of all texts together.
    length: u64,
}

impl Levels {
    pub(crate) fn add(&mut self, text: &str) {
        self.length += text.len() as u64;
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() < MOST {
            self.counts.insert(text.to_owned(), 1);
        } else {
            self.beyond = true;
        }
    }

    /// How many different ones, as far as they were counted.
    pub(crate) fn different(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn is_beyond(&self) -> bool {
        self.beyond
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The texts with their counts, the most frequent first, equally frequent ones by name.
    pub(crate) fn by_count(&self) -> Vec<(&str, u64)> {
        let mut levels: Vec<(&str, u64)> =
            self.counts.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        levels.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        levels
    }
}
