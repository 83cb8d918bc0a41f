//! What is written beside the placements: the labels that rows came with, and columns for people.

use crate::args::PlaceArgs;
use crate::files::Files;
use crate::progress::Screen;
use crate::shown::{self, ShownStream};
use anyhow::{Result, ensure};
use lion_table::{Column, Field, Kind, ShownCells};
use lion_tsne::Map;
use lion_tsne::lion::PlacementColumn;
use lion_tsne::map::ShownKind;
use std::collections::VecDeque;

/// The column of the labels that rows came with.
pub(crate) const GIVEN_LABEL: &str = "label";

/// Columns of the table that go into the output, read a second time as the output is written.
#[derive(Default)]
pub(super) struct BesideColumns {
    fields: Vec<Field>,
    /// From a file of their own: the first column.
    labels: Option<std::vec::IntoIter<String>>,
    stream: Option<ShownStream>,
    /// Read and not written yet, for each column of the stream.
    waiting: Vec<VecDeque<Option<String>>>,
}

impl BesideColumns {
    /// Those that were asked for, or else those of the map that the table has.
    pub(super) fn new(args: &PlaceArgs, files: &Files, map: &Map, screen: &Screen) -> Result<Self> {
        let taken =
            |name: &str| name == GIVEN_LABEL || PlacementColumn::ALL.iter().any(|column| column.name == name);
        shown::check_names(&args.show)?;
        if let Some(name) = args.show.iter().find(|name| taken(name)) {
            anyhow::bail!(
                "--show {name}: the output has a column of this name already: rename the one in the table"
            );
        }
        let names = match args.show.is_empty() {
            true => shown::present(map, files)
                .into_iter()
                .filter(|name| !taken(name) && is_text(map, name))
                .collect(),
            false => args.show.clone(),
        };
        let label = args.table.label.iter().cloned();
        let read: Vec<String> = label.chain(names.iter().cloned()).collect();
        if files.is_read_once() && (!read.is_empty()) {
            ensure!(
                args.show.is_empty(),
                "--show reads the table a second time, and {} can be read once: write it to a file",
                files.shown()
            );
            screen.say(
                "note: labels are not written beside the placements, because the table can be read once",
            );
            return Ok(Self::default());
        }
        let labels = args.table.labels.as_deref().map(lion_table::read_labels).transpose()?;
        let is_labelled = labels.is_some() || args.table.label.is_some();
        let label = is_labelled.then(|| Field::nullable(GIVEN_LABEL, Kind::Text));
        let shown = names.iter().map(|name| Field::nullable(name.clone(), kind(map, name)));
        Ok(Self {
            fields: label.into_iter().chain(shown).collect(),
            labels: labels.map(Vec::into_iter),
            waiting: vec![VecDeque::new(); read.len()],
            stream: if read.is_empty() { None } else { Some(ShownStream::open(files, &read)?) },
        })
    }

    /// Whether rows came with labels.
    pub(super) fn is_labelled(&self) -> bool {
        self.fields.first().is_some_and(|field| field.name == GIVEN_LABEL)
    }

    /// The columns there are.
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The values of the next rows.
    pub(super) fn next(&mut self, rows: usize) -> Result<Vec<Column>> {
        while self.waiting.first().is_some_and(|column| column.len() < rows) {
            let Some(batch) = self.stream.as_mut().and_then(Iterator::next).transpose()? else { break };
            for (column, cells) in self.waiting.iter_mut().zip(batch) {
                match cells {
                    ShownCells::Text(texts) => column.extend(texts),
                    ShownCells::Bytes(bytes) => column.extend(bytes.iter().map(|_| None)),
                }
            }
        }
        let from_file = self.labels.as_mut().map(|labels| labels.map(Some).take(rows).collect::<Vec<_>>());
        let from_table = self.waiting.iter_mut().map(|column| {
            let some = column.len().min(rows);
            let mut values: Vec<Option<String>> = column.drain(..some).collect();
            values.resize(rows, None);
            values
        });
        let columns = from_file.into_iter().chain(from_table);
        Ok(self.fields.iter().zip(columns).map(|(field, texts)| typed(field.kind, texts)).collect())
    }
}

fn typed(kind: Kind, texts: Vec<Option<String>>) -> Column {
    match kind {
        Kind::F64 => Column::F64(
            texts
                .into_iter()
                .map(|text| text?.trim().parse().ok().filter(|value: &f64| value.is_finite()))
                .collect(),
        ),
        _ => Column::Text(texts),
    }
}

fn shown_kind(map: &Map, name: &str) -> Option<ShownKind> {
    let shown = map.shown()?;
    Some(shown.columns()[shown.find(name)?].kind)
}

/// Images are not written into tables.
fn is_text(map: &Map, name: &str) -> bool {
    shown_kind(map, name) != Some(ShownKind::Image)
}

fn kind(map: &Map, name: &str) -> Kind {
    if shown_kind(map, name) == Some(ShownKind::Number) { Kind::F64 } else { Kind::Text }
}
