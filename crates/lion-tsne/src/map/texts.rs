//! Many texts in two blocks of memory, as the map file holds them: 60000 ids are read in the time of a copy.

use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// A list of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    /// All texts, one after another.
    joined: String,
    /// Where each begins, and after the last of them, where it ends.
    offsets: Vec<u64>,
}

impl Texts {
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut joined = String::new();
        let mut offsets = vec![0];
        for text in texts {
            joined.push_str(text);
            offsets.push(joined.len() as u64);
        }
        Self { joined, offsets }
    }

    /// From what a file holds; the answer to anything but what `new` could have made is why not.
    pub(crate) fn from_blocks(offsets: Vec<u64>, bytes: Vec<u8>) -> Result<Self, &'static str> {
        let joined = String::from_utf8(bytes).map_err(|_| "are not valid UTF-8")?;
        if offsets.first() != Some(&0) || offsets.last() != Some(&(joined.len() as u64)) {
            return Err("have offsets that do not cover their bytes");
        }
        if !offsets.is_sorted() {
            return Err("have offsets that run backwards");
        }
        // In order and ending at the length, so every offset fits usize.
        if !offsets.iter().all(|&at| joined.is_char_boundary(at as usize)) {
            return Err("have an offset inside a character");
        }
        Ok(Self { joined, offsets })
    }

    pub(crate) fn blocks(&self) -> (&[u64], &[u8]) {
        (&self.offsets, self.joined.as_bytes())
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn get(&self, i: usize) -> &str {
        &self.joined[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The positions of two equal texts, if there are any.
    pub(crate) fn first_duplicate(&self) -> Option<(usize, usize)> {
        let mut order: Vec<(u64, usize)> =
            self.iter().enumerate().map(|(i, text)| (xxh3_64(text.as_bytes()), i)).collect();
        // The text decides where hashes agree, so that no choice of texts makes this slow.
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| (self.get(a.1), a.1).cmp(&(self.get(b.1), b.1)))
        });
        order
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && self.get(pair[0].1) == self.get(pair[1].1))
            .map(|pair| (pair[0].1, pair[1].1))
            .min()
    }
}

/// One label for each row, of which there are few different ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    names: Texts,
    codes: Vec<u32>,
}

impl Labels {
    /// Names are in the order in which they first appear.
    pub fn new(labels: &[String]) -> Self {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<&str> = Vec::new();
        let codes = labels
            .iter()
            .map(|label| {
                *known.entry(label).or_insert_with(|| {
                    names.push(label);
                    names.len() as u32 - 1
                })
            })
            .collect();
        Self { names: Texts::new(names), codes }
    }

    /// From what a file holds, or why not.
    pub(crate) fn from_parts(names: Texts, codes: Vec<u32>) -> Result<Self, &'static str> {
        if codes.iter().any(|&code| code as usize >= names.len()) {
            return Err("have a code beyond their names");
        }
        if names.first_duplicate().is_some() {
            return Err("have the same name twice");
        }
        Ok(Self { names, codes })
    }

    /// The label of row `i` of the data. Panics if there is no row `i`.
    pub fn get(&self, i: usize) -> &str {
        self.names.get(self.codes[i] as usize)
    }

    /// The different labels, in the order in which they first appear.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter()
    }

    /// For each row of the data, the position of its label among `names`.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.names
    }
}
