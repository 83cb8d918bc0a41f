//! What the page tells of a point beside its id and label: columns of texts, numbers and images, packed in blocks that the
//! page decodes when a point is asked for.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::scatter::same_length;
use crate::{Error, Result};

/// What the values of a card's column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardKind {
    /// Texts; an address is shown as a link.
    Text,
    /// Numbers.
    Number,
    /// The bytes of image files.
    Image,
    /// Texts that are paths or addresses of images.
    ImageAddress,
}

/// A column of the cards, in blocks: each a raw DEFLATE stream of some rows. For numbers it holds an f64 for each row, NaN
/// where there is none; else the length of each row's value as u32, `u32::MAX` where there is none, and then the values.
/// All little-endian.
#[derive(Debug, Clone)]
pub struct CardColumn<'a> {
    /// As people know it.
    pub name: &'a str,
    /// What its values are.
    pub kind: CardKind,
    /// Number of rows.
    pub rows: usize,
    /// Rows in a block; the last may have fewer.
    pub block_rows: usize,
    /// The blocks, in the order of the rows.
    pub blocks: Vec<&'a [u8]>,
}

impl CardColumn<'_> {
    fn check(&self, of: &'static str, rows: usize) -> Result<()> {
        same_length("a column of cards", of, self.rows, rows, "give one row per point")?;
        let blocks = rows.div_ceil(self.block_rows.max(1));
        same_length("the blocks of a column of cards", of, self.blocks.len(), blocks, "give all blocks")
    }
}

/// Refuses columns that do not go with so many points.
pub(crate) fn check(columns: &[CardColumn], of: &'static str, rows: usize) -> Result<()> {
    match columns.iter().find(|column| column.block_rows == 0) {
        Some(column) => Err(Error::Render(format!("the blocks of {} have no rows", column.name))),
        None => columns.iter().try_for_each(|column| column.check(of, rows)),
    }
}

/// The blocks of all columns as text, one after another.
#[derive(Default)]
pub(crate) struct CardBlocks(pub(crate) String);

impl CardBlocks {
    /// Adds the blocks of columns. What the page is told of them: `ends` says where the text of each block ends.
    pub(crate) fn add(&mut self, columns: &[CardColumn]) -> Value {
        let column = |column: &CardColumn| {
            let start = self.0.len();
            let ends: Vec<usize> = column.blocks.iter().map(|block| self.add_bytes(block)[1]).collect();
            let kind = match column.kind {
                CardKind::Text => "text",
                CardKind::Number => "number",
                CardKind::Image => "image",
                CardKind::ImageAddress => "address",
            };
            json!({ "name": column.name, "kind": kind, "blockRows": column.block_rows, "start": start, "ends": ends })
        };
        columns.iter().map(column).collect()
    }

    /// Adds bytes; the result is where their text begins and ends.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> [usize; 2] {
        let start = self.0.len();
        STANDARD.encode_string(bytes, &mut self.0);
        [start, self.0.len()]
    }
}

/// Which images the page may load: those that are in it, and others only if it has addresses of images.
pub(crate) fn image_sources<'a>(columns: impl Iterator<Item = &'a CardColumn<'a>>) -> &'static str {
    let mut columns = columns;
    if columns.any(|column| column.kind == CardKind::ImageAddress) {
        "data: blob: file: *"
    } else {
        "data: blob:"
    }
}
