//! The values that the page compares selected points by: what do they have in common, against the rest?
//!
//! A column of numbers lies in the page as a sorted list of levels and the number of a level for each point. As long as there
//! is room, the levels are all the values that occur; else each stands for the mean of as many neighbouring values. The
//! number, mean and variance of the whole column are told exactly.

use std::borrow::Cow;
use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::cards::CardBlocks;
use crate::scatter::same_length;
use crate::{Error, Result};

/// A column with a value for each point of the map.
#[derive(Debug, Clone)]
pub struct ComparedColumn<'a> {
    /// As people know it.
    pub name: &'a str,
    /// Its values.
    pub values: ComparedValues<'a>,
}

/// The values of a column.
#[derive(Debug, Clone)]
pub enum ComparedValues<'a> {
    /// Numbers; NaN where one is missing.
    Numbers(Cow<'a, [f64]>),
    /// Days since 1970-01-01; NaN where one is missing.
    Dates(Cow<'a, [f64]>),
    /// The names of categories, and for each point the number of one, or one that no category has.
    Categories(&'a [String], &'a [u32]),
}

/// Columns in the form that the page takes them in.
#[derive(Debug, Default)]
pub struct Compared {
    columns: Vec<Packed>,
    /// Columns that there was no room for.
    left_out: usize,
    /// The column of the cards that keywords are taken from.
    text: Option<String>,
    /// How many points have a value in each column; not known without columns.
    pub(crate) rows: Option<usize>,
}

/// How many levels a column of numbers has at most, from the finest to the coarsest.
const LEVELS: [usize; 3] = [65_535, 4095, 255];
/// Few columns take less than so many bytes for each row. More columns than could fit then are not even packed.
const LEAST_BYTES: f64 = 0.25;

#[derive(Debug)]
struct Packed {
    /// What the page is told of it beside its bytes.
    head: Value,
    bytes: Vec<u8>,
}

impl Compared {
    /// Packs columns into at most so many bytes: with fewer levels if need be, and without the last columns if even that does
    /// not help. `text` names the column of the cards that keywords are taken from.
    pub fn pack<'a>(
        columns: usize,
        column: impl Fn(usize) -> ComparedColumn<'a> + Sync,
        most_bytes: usize,
        text: Option<&str>,
    ) -> Result<Self> {
        let mut compared = Self { text: text.map(str::to_owned), ..Self::default() };
        if columns == 0 {
            return Ok(compared);
        }
        let rows = column(0).rows();
        compared.rows = Some(rows);
        let looked_at = columns.min(1 + (most_bytes as f64 / (LEAST_BYTES * rows.max(1) as f64)) as usize);
        for levels in LEVELS {
            let packed: Vec<Packed> = (0..looked_at)
                .into_par_iter()
                .map(|at| column(at).pack(rows, levels))
                .collect::<Result<_>>()?;
            let ends = packed.iter().scan(0, |end, packed| {
                *end += packed.bytes.len();
                Some(*end)
            });
            let fitting = ends.take_while(|end| *end <= most_bytes).count();
            compared.columns = packed;
            compared.columns.truncate(fitting);
            if fitting == columns {
                break;
            }
        }
        compared.left_out = columns - compared.columns.len();
        Ok(compared)
    }

    /// Whether there is nothing to compare by.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.text.is_none()
    }

    /// Adds the bytes to those of the cards, and says what the page is told.
    pub(crate) fn add_to(&self, blocks: &mut CardBlocks) -> Value {
        let column = |packed: &Packed| {
            let mut head = packed.head.clone();
            head["block"] = json!(blocks.add_bytes(&packed.bytes));
            head
        };
        let columns: Vec<Value> = self.columns.iter().map(column).collect();
        json!({ "columns": columns, "leftOut": self.left_out, "text": self.text })
    }
}

impl ComparedColumn<'_> {
    fn rows(&self) -> usize {
        match &self.values {
            ComparedValues::Numbers(numbers) | ComparedValues::Dates(numbers) => numbers.len(),
            ComparedValues::Categories(_, codes) => codes.len(),
        }
    }

    fn pack(&self, rows: usize, most_levels: usize) -> Result<Packed> {
        same_length("a column to compare by", "the others", self.rows(), rows, "give one value per point")?;
        let (mut head, codes, levels) = match &self.values {
            ComparedValues::Categories(names, codes) => {
                let none = names.len() as u32;
                let codes: Vec<u32> = codes.iter().map(|&code| code.min(none)).collect();
                (json!({ "name": self.name, "kind": "category", "names": names }), codes, Vec::new())
            }
            ComparedValues::Numbers(numbers) | ComparedValues::Dates(numbers) => {
                let Coded { count, mean, variance, levels, codes } = Coded::new(numbers, most_levels);
                let kind = match self.values {
                    ComparedValues::Dates(_) => "date",
                    _ => "number",
                };
                let head = json!({
                    "name": self.name, "kind": kind, "levels": levels.len(),
                    "count": count, "mean": mean, "variance": variance,
                });
                (head, codes, levels)
            }
        };
        let mut bytes: Vec<u8> = levels.iter().flat_map(|level| level.to_le_bytes()).collect();
        let width = match codes.iter().max() {
            Some(0x1_0000..) => 4,
            Some(0x100..) => 2,
            _ => 1,
        };
        head["bytes"] = json!(width);
        // The lowest byte of all codes, then the next: the upper ones are mostly alike.
        for byte in 0..width {
            bytes.extend(codes.iter().map(|code| code.to_le_bytes()[byte]));
        }
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let bytes = packed.map_err(|error| Error::Render(format!("values cannot be compressed: {error}")))?;
        Ok(Packed { head, bytes })
    }
}

/// A column of numbers as levels.
struct Coded {
    /// How many numbers there are, and their first moments.
    count: usize,
    mean: f64,
    variance: f64,
    /// The levels, ascending, less the mean.
    levels: Vec<f32>,
    /// For each point the number of its level; one more than the last where it has none.
    codes: Vec<u32>,
}

impl Coded {
    fn new(numbers: &[f64], most: usize) -> Self {
        let mut order: Vec<u32> =
            (0..numbers.len() as u32).filter(|&row| numbers[row as usize].is_finite()).collect();
        let value = |row: &u32| numbers[*row as usize];
        let count = order.len();
        let mean = order.iter().map(value).sum::<f64>() / count.max(1) as f64;
        let squares: f64 = order.iter().map(|row| (value(row) - mean).powi(2)).sum();
        let variance = squares / count.saturating_sub(1).max(1) as f64;
        order.sort_unstable_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
        let distinct = 1 + order.windows(2).filter(|pair| value(&pair[0]) != value(&pair[1])).count();
        // So many values at least become one level.
        let least = if distinct <= most { 1 } else { count.div_ceil(most) };
        let (mut levels, mut starts): (Vec<f32>, Vec<usize>) = (Vec::new(), Vec::new());
        for at in 0..count {
            let is_new = at == 0 || value(&order[at]) != value(&order[at - 1]);
            if is_new && starts.last().is_none_or(|start| at - start >= least) {
                starts.push(at);
            }
        }
        let mut codes = vec![starts.len() as u32; numbers.len()];
        for (level, &start) in starts.iter().enumerate() {
            let end = starts.get(level + 1).copied().unwrap_or(count);
            let members = &order[start..end];
            let mean_of_level =
                members.iter().map(|row| value(row) - mean).sum::<f64>() / members.len() as f64;
            levels.push(mean_of_level as f32);
            members.iter().for_each(|&row| codes[row as usize] = level as u32);
        }
        Self { count, mean, variance, levels, codes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> ComparedColumn<'static> {
        ComparedColumn { name: "n", values: ComparedValues::Numbers(values.to_vec().into()) }
    }

    #[test]
    fn levels_are_the_values_where_there_is_room_and_means_of_neighbours_else() {
        let values = [3.0, f64::NAN, 1.0, 3.0, 8.0];
        let coded = Coded::new(&values, 10);
        let back: Vec<f64> = coded.levels.iter().map(|&level| f64::from(level) + coded.mean).collect();
        assert_eq!((back.as_slice(), coded.codes.as_slice()), (&[1.0, 3.0, 8.0][..], &[1, 3, 0, 1, 2][..]));
        assert_eq!((coded.count, coded.mean), (4, 3.75));
        assert!((coded.variance - 26.75 / 3.0).abs() < 1e-12);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        let coded = Coded::new(&many, 100);
        assert_eq!((coded.levels.len(), coded.codes[999], coded.codes[9], coded.codes[10]), (100, 99, 0, 1));
        assert_eq!(f64::from(coded.levels[0]) + coded.mean, 4.5);
        assert_eq!(Coded::new(&[f64::NAN], 10).codes, [0]);
    }

    #[test]
    fn less_room_gives_fewer_levels_and_then_fewer_columns() {
        let mut state = 1_u64;
        let mut values: Vec<f64> = Vec::new();
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            values.push((state >> 11) as f64);
        }
        let column = |_| numbers(&values);
        let packed = |most| Compared::pack(3, column, most, None).unwrap();
        let levels = |compared: &Compared| {
            compared.columns.iter().map(|packed| packed.head["levels"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let all = packed(1 << 20);
        assert_eq!((levels(&all), all.left_out), (vec![20_000; 3], 0));
        let fewer = packed(200_000);
        assert!(levels(&fewer).iter().all(|&levels| levels <= 4095) && fewer.left_out == 0);
        let one = packed(45_000);
        assert_eq!((one.columns.len(), one.left_out), (2, 1));
        assert!(packed(0).columns.is_empty());
        assert!(Compared::pack(0, column, 10, None).unwrap().is_empty());
    }
}
