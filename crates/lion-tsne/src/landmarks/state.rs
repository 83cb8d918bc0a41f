//! Landmarks of a part of a table as bytes: made where the part is, merged where the map is fitted.

use super::bottom_k::{Passed, SampledRow};
use super::{Has, LandmarkOptions, Landmarks, content_hash};
use crate::bytes::{ByteReader, put_text};
use crate::error::{Error, Result};
use crate::fit::LARGEST;
use crate::preprocess::{MOST_ROWS, Metric, Moments, PcaChoice};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The first bytes: what they are, and how the others are to be read.
const MAGIC: &[u8; 8] = b"lionlmk\x01";

/// Landmarks of a part, read.
struct Part {
    cols: usize,
    has: Has,
    seen: u64,
    passed: Passed,
    moments: Option<Moments>,
}

impl Landmarks {
    /// What is known of the rows so far: those that may become landmarks or judge them, counts, and moments. Little-endian: what
    /// they are chosen by, columns, names, rows seen, labels and rows of each, rows that stay, moments if there are any.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = head(&self.options);
        let cols = self.cols.unwrap_or(0);
        bytes.extend((cols as u32).to_le_bytes());
        bytes.extend([u8::from(self.has.ids), u8::from(self.has.labels)]);
        bytes.extend(self.seen.to_le_bytes());
        let (seen, kept) = self.keep.passed();
        let (seen, kept): (Vec<_>, Vec<_>) = (seen.collect(), kept.collect());
        bytes.extend((seen.len() as u64).to_le_bytes());
        for (label, rows) in seen {
            put_text(&mut bytes, label);
            bytes.extend(rows.to_le_bytes());
        }
        bytes.extend((kept.len() as u64).to_le_bytes());
        for (_, SampledRow { row, id, label }) in kept {
            put_text(&mut bytes, id);
            put_text(&mut bytes, label);
            bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
        }
        if let Some(moments) = &self.moments {
            moments.write(&mut bytes);
        }
        bytes
    }

    /// Adds what others, with the same options, know of other rows of the table. Rows must have ids: nobody could tell their
    /// numbers in the table. In whatever order parts are merged, the landmarks are those of one pass over all rows.
    ///
    /// ```
    /// use lion_tsne::{Fit, Matrix, Rows};
    /// use lion_tsne::landmarks::Landmarks;
    ///
    /// # fn main() -> lion_tsne::Result<()> {
    /// let options = Fit::default().landmarks(40);
    /// let part = |first: u16| {
    ///     let values = (0..200).map(|i| f32::from(first * 2 + i).sin()).collect();
    ///     let ids = (first..first + 100).map(|row| row.to_string()).collect();
    ///     Ok(Rows { data: Matrix::new(100, 2, values)?, ids: Some(ids), labels: None })
    /// };
    /// let (mut here, mut there) = (Landmarks::new(options)?, Landmarks::new(options)?);
    /// here.add(part(100)?)?;
    /// there.add(part(0)?)?;
    /// here.merge_bytes(&there.to_bytes())?;
    /// let mut whole = Landmarks::new(options)?;
    /// whole.add(part(0)?)?;
    /// whole.add(part(100)?)?;
    /// assert_eq!(here.finish()?.rows.data, whole.finish()?.rows.data);
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let head = head(&self.options);
        let refuse = |problem: &str| {
            Error::Data(format!("the landmarks of a part {problem}: make all parts anew, with one version"))
        };
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(refuse("are of another version, or no landmarks"));
        }
        let Some(left) = bytes.strip_prefix(head.as_slice()) else {
            return Err(refuse("were chosen with other options"));
        };
        let Some(part) = self.read_part(left) else { return Err(refuse("are damaged")) };
        self.merge(part)
    }

    /// Whether no row is missing that should have stayed. False if fewer rows than expected were kept: choose again, without
    /// [`Landmarks::expecting`].
    pub fn is_complete(&self) -> bool {
        self.keep.is_complete()
    }

    fn merge(&mut self, part: Part) -> Result<()> {
        if part.seen == 0 {
            return Ok(());
        }
        if !part.has.ids {
            let problem =
                "landmarks of parts cannot be merged: rows have no ids, and nobody knows their numbers";
            return Err(Error::Data(problem.into()));
        }
        if self.seen + part.seen > MOST_ROWS {
            return Err(Error::Data(format!("there are more than {MOST_ROWS} rows: take some of them")));
        }
        self.check_kind(part.cols, part.has)?;
        self.seen += part.seen;
        self.keep.merge(part.passed)?;
        if let (Some(own), Some(moments)) = (&mut self.moments, part.moments) {
            own.merge(moments);
        }
        Ok(())
    }

    fn read_part(&self, bytes: &[u8]) -> Option<Part> {
        let mut reader = ByteReader(bytes);
        let cols = usize::try_from(reader.u32()?).ok()?;
        let mut flag = || reader.u8().filter(|flag| *flag < 2).map(|flag| flag == 1);
        let has = Has { ids: flag()?, labels: flag()? };
        let seen = reader.u64().filter(|seen| *seen <= MOST_ROWS)?;
        let mut passed = Passed::default();
        for _ in 0..reader.count()? {
            passed.seen.push((reader.text()?.to_owned(), reader.u64()?));
        }
        let all = passed.seen.iter().try_fold(0u64, |all, (_, rows)| all.checked_add(*rows))?;
        (all == seen).then_some(())?;
        for _ in 0..reader.count()? {
            let (id, label) = (reader.text()?, reader.text()?);
            let row = reader.f32s(cols)?;
            let hash = xxh3_64_with_seed(id.as_bytes(), self.options.seed);
            let key = (hash, content_hash(hash, label, &row), 0);
            passed.kept.push((key, SampledRow { row, id: id.to_owned(), label: label.to_owned() }));
        }
        let LandmarkOptions { metric, pca, .. } = self.options;
        let mut moments = if seen > 0 { Moments::for_pca(cols, metric, pca).ok()? } else { None };
        if let Some(moments) = &mut moments {
            moments.read(&mut reader)?;
            (moments.rows() == seen).then_some(())?;
        }
        let part = Part { cols, has, seen, passed, moments };
        (reader.0.is_empty() && part.is_sound(&self.options)).then_some(part)
    }
}

impl Part {
    /// Whether its rows could have been added: no more of a label than were seen, and all with the columns and names there are.
    fn is_sound(&self, options: &LandmarkOptions) -> bool {
        let of = |label: &str| if options.stratified { label.to_owned() } else { String::new() };
        let mut left: HashMap<String, u64> = HashMap::new();
        for (label, rows) in &self.passed.seen {
            *left.entry(of(label)).or_default() += rows;
        }
        let mut is_sound = |row: &SampledRow| {
            let Some(left) = left.get_mut(&of(&row.label)).filter(|left| **left > 0) else { return false };
            *left -= 1;
            let is_usable = row.row.iter().all(|value| value.abs() <= LARGEST);
            let has_direction = options.metric != Metric::Cosine || row.row.iter().any(|&value| value != 0.0);
            is_usable && has_direction && (self.has.labels || row.label.is_empty())
        };
        (self.cols > 0 || self.seen == 0) && self.passed.kept.iter().all(|(_, row)| is_sound(row))
    }
}

/// What the rows that stay depend on: parts that differ in it do not belong together.
fn head(options: &LandmarkOptions) -> Vec<u8> {
    let LandmarkOptions { count, stratified, cover: _, metric, pca, held_out, radius: _, seed, threads: _ } =
        *options;
    let (kind, components) = match pca {
        PcaChoice::None => (0, 0),
        PcaChoice::Components(k) => (1, k),
        PcaChoice::Auto(k) => (2, k),
    };
    let mut bytes = MAGIC.to_vec();
    bytes.extend((count as u64).to_le_bytes());
    bytes.extend((held_out as u64).to_le_bytes());
    bytes.extend(seed.to_le_bytes());
    bytes.extend((components as u64).to_le_bytes());
    bytes.extend([kind, u8::from(stratified), u8::from(metric == Metric::Cosine)]);
    bytes
}
