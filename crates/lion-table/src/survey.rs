//! A look at all of a table: what each column is, as its cells tell.

use crate::cells::{CellReader, Declared};
use crate::error::{CellAddress, Error, Result, shorten};
use crate::select::ReadOptions;
use crate::tally::Tally;
use crate::written::{RawCell, Reading};
use crate::{Cells, open_cells};
use lion_recipe::{Cell, ColumnSummary, Kind};
use std::collections::HashMap;
use std::path::PathBuf;

/// What a pass over a table tells of its columns.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The table, as messages call it.
    pub file: String,
    /// Its rows.
    pub rows: u64,
    /// Its columns, in their order.
    pub columns: Vec<SurveyedColumn>,
    /// Its columns have no names of their own.
    pub nameless: bool,
}

/// A column and what it was found to be.
#[derive(Debug, Clone)]
pub struct SurveyedColumn {
    /// Its name.
    pub name: String,
    /// Its part in the table.
    pub role: Role,
    /// What its cells are.
    pub found: Found,
    /// How its texts are to be read.
    pub reading: Reading,
    /// It can be read without a recipe: numbers as every language writes them, without gaps.
    pub is_plain: bool,
    /// Where its first gap is.
    pub first_gap: Option<CellAddress>,
    /// It is called like a column of ids, and no two rows have the same value.
    pub may_name_rows: bool,
}

impl SurveyedColumn {
    /// What its cells are, if they are values of one kind, all or but for some.
    pub fn kind(&self) -> Option<Kind> {
        match &self.found {
            Found::Values(summary) => Some(summary.kind),
            Found::Faulty { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// What one of its texts means; one that is no value of its kind stays a text.
    pub fn cell<'a>(&self, text: &'a str) -> Cell<'a> {
        RawCell::Text(text.as_bytes()).read(self.kind().unwrap_or(Kind::Category), self.reading)
    }

    /// A summary of its values, where they are of one kind.
    pub fn into_summary(self) -> Option<ColumnSummary> {
        match self.found {
            Found::Values(summary) | Found::Text { summary, .. } => Some(*summary),
            _ => None,
        }
    }
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Its values say where rows are.
    Feature,
    /// It names rows.
    Id,
    /// It labels rows.
    Label,
    /// It groups rows.
    Group,
    /// Somebody left it out.
    Excluded,
    /// It counts rows, as another tool wrote it.
    RowIndex,
}

/// What the cells of a column are.
#[derive(Debug, Clone)]
pub enum Found {
    /// Values of one kind.
    Values(Box<ColumnSummary>),
    /// Texts too different to be a category.
    Text {
        /// Its texts as if they were levels.
        summary: Box<ColumnSummary>,
        /// One of them, shortened if long.
        example: String,
        /// Why they are no dates though they look like some; nothing where they do not.
        dates: bool,
    },
    /// A list of numbers in each row.
    List,
    /// Nothing but gaps.
    Empty,
    /// What can never be used, in words.
    Other(String),
    /// Values of one kind, but for some cells.
    Faulty {
        /// The kind of the others.
        kind: Kind,
        /// How many cells are wrong.
        count: u64,
        /// The first of them, with what they hold.
        cells: Vec<(CellAddress, String)>,
    },
    /// Numbers whose commas may be decimal marks or may set thousands apart; one of them.
    AmbiguousCommas(String),
    /// Numbers of which some have a decimal comma and some a decimal point; the first of each.
    MixedDecimals {
        /// One with a comma.
        comma: String,
        /// One with a point.
        point: String,
    },
    /// Nobody looked at its cells, as it is no feature.
    Unread,
}

/// How many wrong cells are named.
pub(crate) const NAMED_CELLS: usize = 3;

/// Looks at all rows of files that make one table.
pub fn survey(paths: &[PathBuf], options: &ReadOptions) -> Result<Survey> {
    let open = |at: usize| paths.get(at).map(|path| open_cells(Cells::File(path), options)).transpose();
    survey_of(open, options)
}

/// The same with a table in memory, of a known format.
pub fn survey_bytes(bytes: &[u8], format: crate::Format, options: &ReadOptions) -> Result<Survey> {
    let open = |at: usize| (at == 0).then(|| open_cells(Cells::Bytes(bytes, format), options)).transpose();
    survey_of(open, options)
}

type Reader = Box<dyn CellReader>;

fn survey_of(open: impl Fn(usize) -> Result<Option<Reader>>, options: &ReadOptions) -> Result<Survey> {
    let mut pass = Pass::new(options);
    pass.run(&open, |tally, row, cell, address| tally.guess(row, cell, address))?;
    let mut survey = pass.survey();
    // What the cells are is known now; where that changes what they mean, they are looked at once more.
    let again: Vec<Option<(Kind, Reading)>> =
        pass.columns.iter().map(|column| column.tally.needs_another_look()).collect();
    if again.iter().any(Option::is_some) {
        let mut second = Pass::new(options);
        second.known = again.clone();
        second.run(&open, |tally, row, cell, address| tally.look_again(row, cell, address))?;
        for (at, column) in second.columns.iter().enumerate() {
            if let Some((_, reading)) = again.get(at).copied().flatten() {
                survey.columns[at].found = column.tally.found_again(pass.columns[at].tally.dates());
                survey.columns[at].reading = reading;
            }
        }
    }
    check_asked(&survey, options)?;
    Ok(survey)
}

/// One pass over all files.
struct Pass<'a> {
    options: &'a ReadOptions,
    file: String,
    rows: u64,
    nameless: bool,
    columns: Vec<PassColumn>,
    /// What columns are known to be, in a second pass.
    known: Vec<Option<(Kind, Reading)>>,
}

struct PassColumn {
    name: String,
    role: Role,
    tally: Tally,
}

impl<'a> Pass<'a> {
    fn new(options: &'a ReadOptions) -> Self {
        Self {
            options,
            file: String::new(),
            rows: 0,
            nameless: false,
            columns: Vec::new(),
            known: Vec::new(),
        }
    }

    fn run(
        &mut self,
        open: &impl Fn(usize) -> Result<Option<Reader>>,
        look: impl Fn(&mut Tally, u64, RawCell<'_>, &dyn Fn() -> CellAddress),
    ) -> Result<()> {
        let mut at = 0;
        while let Some(mut reader) = open(at)? {
            self.nameless |= reader.is_nameless();
            let mut places: Vec<usize> = Vec::new();
            while reader.advance()? {
                while places.len() < reader.columns().len() {
                    places.push(self.place(&*reader, places.len(), at == 0));
                }
                for (column, &place) in places.iter().enumerate() {
                    let own = &mut self.columns[place];
                    if own.role == Role::Feature && own.tally.is_looked_at() {
                        look(&mut own.tally, self.rows, reader.cell(column), &|| {
                            reader.address(Some(column))
                        });
                    }
                }
                self.rows += 1;
                // A column that this row does not have has a gap here.
                for own in &mut self.columns {
                    own.tally.fill_up(self.rows);
                }
            }
            if at == 0 {
                self.file = reader.address(None).file;
            }
            at += 1;
        }
        if self.rows == 0 {
            return Err(Error::Empty { file: self.file.clone() });
        }
        Ok(())
    }

    /// Where a column of a file is among those of the table.
    fn place(&mut self, reader: &dyn CellReader, at: usize, first: bool) -> usize {
        let column = &reader.columns()[at];
        let same = |own: &PassColumn| own.name == column.name;
        if !first {
            let found = self.columns.get(at).filter(|own| same(own)).map(|_| at);
            if let Some(place) = found.or_else(|| self.columns.iter().position(same)) {
                return place;
            }
        }
        let role = self.role(&column.name, &column.declared);
        let mut tally = Tally::new(reader, at);
        if !self.known.is_empty() {
            tally = tally.known(self.known.get(self.columns.len()).copied().flatten());
        }
        tally.fill_up(self.rows);
        self.columns.push(PassColumn { name: column.name.clone(), role, tally });
        self.columns.len() - 1
    }

    fn role(&self, name: &str, declared: &Declared) -> Role {
        let ReadOptions { id, label, group, columns, exclude, .. } = self.options;
        let is = |asked: &Option<String>| asked.as_deref() == Some(name);
        let wanted = columns.as_ref().map(|columns| columns.iter().any(|asked| asked == name));
        match () {
            () if is(id) => Role::Id,
            () if is(label) => Role::Label,
            () if is(group) => Role::Group,
            () if exclude.iter().any(|asked| asked == name) || wanted == Some(false) => Role::Excluded,
            () if *declared == Declared::RowIndex && wanted.is_none() => Role::RowIndex,
            () => Role::Feature,
        }
    }

    fn survey(&self) -> Survey {
        let column = |column: &PassColumn| SurveyedColumn {
            name: column.name.clone(),
            role: column.role,
            found: if column.role == Role::Feature { column.tally.found() } else { Found::Unread },
            reading: Reading::default(),
            is_plain: column.tally.is_plain(),
            first_gap: column.tally.first_gap().cloned(),
            may_name_rows: column.role == Role::Feature && column.tally.may_name_rows(),
        };
        let columns = self.columns.iter().map(column).collect();
        Survey { file: self.file.clone(), rows: self.rows, columns, nameless: self.nameless }
    }
}

/// Refuses a column that was asked for and is not there.
fn check_asked(survey: &Survey, options: &ReadOptions) -> Result<()> {
    let there: HashMap<&str, ()> = survey.columns.iter().map(|column| (column.name.as_str(), ())).collect();
    match options.names().find(|name| !there.contains_key(name)) {
        None => Ok(()),
        Some(name) => {
            let mut names: Vec<&str> =
                survey.columns.iter().take(10).map(|column| column.name.as_str()).collect();
            let more = format!("… ({} in all)", survey.columns.len());
            names.extend((survey.columns.len() > 10).then_some(more.as_str()));
            let (file, column) = (survey.file.clone(), name.to_owned());
            Err(Error::NoSuchColumn { file, column, there: names.join(", ") })
        }
    }
}

/// A cell as a message shows it.
pub(crate) fn shown(cell: &Cell<'_>) -> String {
    cell.level().map_or_else(String::new, |level| shorten(&level))
}
