//! Rows as a recipe makes them of cells.

use crate::cells::CellReader;
use crate::error::{CellAddress, Error, Fault, Result};
use crate::input::Gauge;
use crate::lines::Lines;
use crate::select::ReadOptions;
use crate::table::{Source, Table, push_id, push_text};
use crate::written::Reading;
use lion_recipe::{Cell, Kind, Recipe, RecipeColumn, Why};
use std::sync::Arc;

/// What is done to cells on their way to rows.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// The recipe, whose columns are found by name.
    pub recipe: Arc<Recipe>,
    /// How the texts of each column are to be read; each cell alone in a column that has none here.
    pub readings: Vec<(String, Reading)>,
    /// Rows with a gap are left out, instead of refused.
    pub drop: bool,
}

/// Where a column of the recipe is in the file, of which kind it is, and how its texts are read.
struct Place {
    at: Option<usize>,
    kind: Kind,
    reading: Option<Reading>,
}

/// An open file whose rows a recipe makes of cells.
pub(crate) struct Encoded {
    cells: Box<dyn CellReader>,
    encoder: Encoder,
    /// One for each column of the recipe.
    places: Vec<Place>,
    id: Option<usize>,
    label: Option<usize>,
    group: Option<usize>,
    /// Rows that were made, and rows that were read, those of files before this one included.
    rows: usize,
    read: usize,
    lines: Lines,
    /// The numbers of rows that were left out, until somebody asks.
    left_out: Vec<usize>,
}

impl Encoded {
    pub(crate) fn new(cells: Box<dyn CellReader>, encoder: Encoder, options: &ReadOptions) -> Result<Self> {
        let find = |name: &str| find(&*cells, name);
        let role = |name: &Option<String>| name.as_deref().map(find).transpose();
        let (id, label, group) = (role(&options.id)?, role(&options.label)?, role(&options.group)?);
        let place = |column: &RecipeColumn| {
            let known = encoder.readings.iter().find(|(name, _)| *name == column.name);
            let at = match find(&column.name) {
                // A later row may have it.
                Err(Error::NoSuchColumn { .. }) if cells.may_grow() => None,
                found => Some(found?),
            };
            Ok(Place { at, kind: column.kind(), reading: known.map(|(_, reading)| *reading) })
        };
        let places = encoder.recipe.columns().iter().map(place).collect::<Result<_>>()?;
        let (lines, left_out) = (Lines::default(), Vec::new());
        Ok(Self { cells, encoder, places, id, label, group, rows: 0, read: 0, lines, left_out })
    }

    /// Looks for columns that no row had so far.
    fn find_late_columns(&mut self) {
        for (place, column) in self.places.iter_mut().zip(self.encoder.recipe.columns()) {
            if place.at.is_none() {
                place.at = self.cells.columns().iter().position(|own| own.name == column.name);
            }
        }
    }

    /// Makes a row of the present one; says whether it did.
    fn push(&self, table: &mut Table) -> Result<bool> {
        let cell = |&Place { at, kind, reading }: &Place| match (at.map(|at| self.cells.cell(at)), reading) {
            (None, _) => Cell::Missing,
            (Some(cell), Some(reading)) => cell.read(kind, reading),
            (Some(cell), None) => cell.read_alone(kind),
        };
        let cells: Vec<Cell<'_>> = self.places.iter().map(cell).collect();
        if self.encoder.drop && cells.iter().any(Cell::is_missing) {
            return Ok(false);
        }
        self.encoder.recipe.encode(&cells, &mut table.data).map_err(|error| {
            let at = CellAddress { column: error.name, ..self.cells.address(None) };
            match error.why {
                Why::Missing => Fault::Missing.at(at),
                Why::NotFinite(value) => Fault::NotFinite(value).at(at),
                Why::TooLarge(value) => Fault::TooLarge(value).at(at),
                Why::Kind(value, Kind::Number) => Fault::Text(value).at(at),
                why => Error::WrongKind { cell: at, problem: why.to_string() },
            }
        })?;
        match self.id {
            Some(c) => push_id(table, self.cells.text(c), || self.cells.address(Some(c)))?,
            // Rows that were left out have numbers, too.
            None if self.encoder.drop => table.ids.get_or_insert_default().push((self.read - 1).to_string()),
            None => {}
        }
        for (column, to) in [(self.label, &mut table.labels), (self.group, &mut table.groups)] {
            if let Some(c) = column {
                push_text(to, self.cells.text(c));
            }
        }
        table.rows += 1;
        Ok(true)
    }
}

fn find(cells: &dyn CellReader, name: &str) -> Result<usize> {
    let columns = cells.columns();
    let mut matching = (0..columns.len()).filter(|&c| columns[c].name == name);
    let (file, column) = (cells.address(None).file, name.to_owned());
    match (matching.next(), matching.next()) {
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err(Error::AmbiguousColumn { file, column }),
        (None, _) => {
            let names: Vec<&str> = columns.iter().take(10).map(|column| column.name.as_str()).collect();
            Err(Error::NoSuchColumn { file, column, there: names.join(", ") })
        }
    }
}

impl Source for Encoded {
    fn empty(&self) -> Table {
        let columns = self.encoder.recipe.output_names();
        Table {
            rows: 0,
            cols: columns.len(),
            data: Vec::new(),
            columns,
            ids: (self.id.is_some() || self.encoder.drop).then(Vec::new),
            labels: self.label.map(|_| Vec::new()),
            groups: self.group.map(|_| Vec::new()),
        }
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        let mut done = 0;
        while done < rows && self.cells.advance()? {
            self.read += 1;
            self.find_late_columns();
            if self.push(table)? {
                if let Some(line) = self.cells.line() {
                    self.lines.push(self.rows, line);
                }
                self.rows += 1;
                done += 1;
            } else {
                self.left_out.push(self.read - 1);
            }
        }
        Ok(done)
    }

    fn told_rows(&self) -> Option<usize> {
        self.cells.told_rows()
    }

    fn gauge(&self) -> &Gauge {
        self.cells.gauge()
    }

    fn numbered_to(&self) -> usize {
        self.read
    }

    fn number_from(&mut self, before: usize) {
        self.read = before;
    }

    fn take_lines(&mut self) -> Lines {
        std::mem::take(&mut self.lines)
    }

    fn take_left_out(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.left_out)
    }
}
