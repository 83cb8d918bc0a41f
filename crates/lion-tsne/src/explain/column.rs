//! What rows have beside their places.

use crate::error::{Error, Result};
use crate::map::Map;
use std::borrow::Cow;
use std::collections::HashMap;

/// Texts of more different values than this are no categories.
const MOST_CATEGORIES: usize = 50;

/// The code of a row that has no category.
pub const GAP: u32 = u32::MAX;

/// A column with a value for each row of a map.
pub struct Column<'a> {
    /// What it is called.
    pub name: String,
    /// Whether its numbers are days since 1970-01-01.
    pub is_date: bool,
    /// Its values.
    pub values: Values<'a>,
}

/// The values of a column.
pub enum Values<'a> {
    /// Numbers in the units that people know; NaN where one is missing.
    Numbers(Cow<'a, [f64]>),
    /// The same, made when they are asked for: a table that was reconstructed need not be held whole.
    Computed(Box<dyn Fn() -> Vec<f64> + Sync + 'a>),
    /// Categories: their names, and for each row the number of one, or [`GAP`].
    Categories {
        /// Their names.
        names: Vec<String>,
        /// For each row the number of its category.
        codes: Vec<u32>,
    },
    /// Texts to take words from.
    Texts(Vec<Cow<'a, str>>),
}

impl Values<'_> {
    /// Yes and no.
    pub fn flags(flags: impl Iterator<Item = bool>) -> Self {
        Self::Categories { names: vec!["no".into(), "yes".into()], codes: flags.map(u32::from).collect() }
    }

    /// How many there are, if they are at hand.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Numbers(numbers) => Some(numbers.len()),
            Self::Computed(_) => None,
            Self::Categories { codes, .. } => Some(codes.len()),
            Self::Texts(texts) => Some(texts.len()),
        }
    }

    /// The numbers, if these are numbers.
    pub fn numbers(&self) -> Option<Cow<'_, [f64]>> {
        match self {
            Self::Numbers(numbers) => Some(Cow::Borrowed(numbers)),
            Self::Computed(compute) => Some(Cow::Owned(compute())),
            Self::Categories { .. } | Self::Texts(_) => None,
        }
    }
}

impl Column<'static> {
    /// A column as what its cells are: numbers if all are, categories if there are few, else texts. None if it says nothing,
    /// as ids do. A cell without a value is a gap.
    pub fn of_cells(name: &str, cells: &[Option<&str>]) -> Option<Self> {
        let filled = cells.iter().flatten().count();
        let numbers: Option<Vec<f64>> =
            cells.iter().map(|cell| cell.map_or(Some(f64::NAN), number)).collect();
        let (names, codes) = coded(cells);
        let is_flag = names.len() == 2 && names.iter().all(|name| name == "0" || name == "1");
        let is_name = |cell: &str| !cell.contains(char::is_whitespace);
        let values = match (numbers, names.len()) {
            _ if filled == 0 => return None,
            (Some(_), _) if is_flag => {
                let word = |name: &String| if name == "1" { "yes".into() } else { "no".into() };
                Values::Categories { names: names.iter().map(word).collect(), codes }
            }
            (Some(numbers), _) => Values::Numbers(Cow::Owned(numbers)),
            (None, count) if count <= MOST_CATEGORIES && count * 2 <= filled => {
                Values::Categories { names, codes }
            }
            (None, count) if count == filled && cells.iter().copied().flatten().all(is_name) => return None,
            (None, _) => {
                let text = |cell: &Option<&str>| Cow::Owned(cell.unwrap_or_default().to_owned());
                Values::Texts(cells.iter().map(text).collect())
            }
        };
        Some(Self { name: name.to_owned(), is_date: false, values })
    }
}

/// The different values of cells, and for each cell the number of its value.
fn coded(cells: &[Option<&str>]) -> (Vec<String>, Vec<u32>) {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut codes = Vec::with_capacity(cells.len());
    for cell in cells {
        codes.push(cell.map_or(GAP, |cell| {
            *known.entry(cell).or_insert_with(|| {
                names.push(cell.to_owned());
                names.len() as u32 - 1
            })
        }));
    }
    (names, codes)
}

fn number(cell: &str) -> Option<f64> {
    cell.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// Whether a column is an item of a list of numbers, such as `embedding[3]`. Nobody knows what it stands for.
pub(super) fn is_list_item(name: &str) -> bool {
    let item = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    item.is_some_and(|(_, item)| !item.is_empty() && item.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Leaves out columns that are the labels of the map themselves: each cluster would be explained by its own name.
pub fn leave_out_labels(columns: &mut Vec<Column<'_>>, map: &Map) {
    let Some(labels) = map.labels() else { return };
    let label = |row: usize| labels.get(row).trim();
    let is_label = |row: usize, number: f64| match self::number(label(row)) {
        Some(label) => label == number,
        None => number.is_nan() && label(row).is_empty(),
    };
    columns.retain(|column| {
        let same = match &column.values {
            Values::Categories { names, codes } => (0..codes.len())
                .all(|row| names.get(codes[row] as usize).map_or("", |name| name.trim()) == label(row)),
            Values::Numbers(numbers) => (0..numbers.len()).all(|row| is_label(row, numbers[row])),
            Values::Computed(_) | Values::Texts(_) => false,
        };
        !same
    });
}

/// Keeps one column of texts, to take words from: the one that is asked for, or that with the longest texts. With texts, the
/// items of a list of numbers go: they are what a model made of the texts, and the words say it better.
pub fn text_from(columns: &mut Vec<Column<'_>>, wanted: Option<&str>) -> Result<()> {
    let length = |column: &Column<'_>| match &column.values {
        Values::Texts(texts) => Some(texts.iter().map(|text| text.len()).sum::<usize>()),
        _ => None,
    };
    let refuse = |problem: String| Err(Error::Data(problem));
    let chosen = match wanted {
        Some(name) => match columns.iter().position(|column| column.name == name) {
            Some(at) => {
                as_texts(&mut columns[at]);
                if length(&columns[at]).is_none() {
                    return refuse(format!(
                        "the column {name} has numbers, and keywords need texts: name another"
                    ));
                }
                Some(at)
            }
            None => {
                return refuse(format!(
                    "there is no column {name} to take keywords from: give the table that has it"
                ));
            }
        },
        None => (0..columns.len()).filter_map(|at| Some((length(&columns[at])?, at))).max().map(|(_, at)| at),
    };
    let mut at = 0;
    columns.retain(|column| {
        at += 1;
        match length(column) {
            Some(_) => Some(at - 1) == chosen,
            None => chosen.is_none() || !is_list_item(&column.name),
        }
    });
    Ok(())
}

/// Categories as the texts that they are.
fn as_texts(column: &mut Column<'_>) {
    if let Values::Categories { names, codes } = &column.values {
        let text = |code: &u32| Cow::Owned(names.get(*code as usize).cloned().unwrap_or_default());
        column.values = Values::Texts(codes.iter().map(text).collect());
    }
}
