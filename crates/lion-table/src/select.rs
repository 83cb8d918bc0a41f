//! Which columns of a file become features, ids and labels.

use crate::encoded::Encoder;
use crate::error::{Error, Result};

/// How to read a table: which column names the rows, which one labels them, which are features.
///
/// Columns are named as the file names them; formats without names (npy, IDX, CSV without a header, JSON
/// arrays) name them `c1`, `c2`, and so on. A column used as id or label is never a feature.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The column of row ids, which must be unique.
    pub id: Option<String>,
    /// The column of labels; an empty cell is the empty label.
    pub label: Option<String>,
    /// The column of the group that a row belongs to; an empty cell is a group too.
    pub group: Option<String>,
    /// The features, in this order; every numeric column of the file when absent.
    pub columns: Option<Vec<String>>,
    /// Columns that are not features.
    pub exclude: Vec<String>,
    /// Whether the first row of a CSV file names the columns; no other format asks.
    pub header: Header,
    /// What messages call the file, where that is not its path.
    pub name: Option<String>,
    /// Messages name no lines: nobody has seen the text, which was made of a table in memory.
    pub lineless: bool,
    /// What makes rows of cells; without it columns must be numbers. It chooses the features itself.
    pub encoder: Option<Encoder>,
}

impl ReadOptions {
    /// Every column that is asked for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let features = self.columns.iter().flatten().chain(&self.exclude);
        self.id.iter().chain(&self.label).chain(&self.group).chain(features).map(String::as_str)
    }
}

/// Whether the first row of a CSV file names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// It does if a column was asked for by a name in it, or if none of its cells is a number; it does not if all
    /// are. A row that mixes both, or counts 0, 1, 2 and so on, is refused, unless columns were asked for by number
    /// (`c1`), which only a file without names has.
    #[default]
    Auto,
    /// It does, even if the names are numbers.
    Yes,
    /// It is a row of data.
    No,
}

/// A column as the file declares it or as its first row shows it.
pub(crate) struct SourceColumn {
    pub(crate) name: String,
    pub(crate) kind: SourceKind,
}

/// What a column can serve as.
pub(crate) enum SourceKind {
    /// A feature, and an id or label too.
    Number,
    /// A row number written by another tool: a feature only when asked for by name.
    RowIndex,
    /// All features at once, one list of numbers per row.
    List,
    /// An id or a label only; the words say what it holds.
    Text(String),
    /// Nothing; the words say what it holds.
    Other(String),
}

/// The columns chosen, by their position in the file.
pub(crate) struct Selection {
    pub(crate) features: Vec<usize>,
    pub(crate) id: Option<usize>,
    pub(crate) label: Option<usize>,
    pub(crate) group: Option<usize>,
    /// The features are the values of one column of lists.
    pub(crate) list: bool,
}

impl Selection {
    /// Applies `options` to the columns of `file`.
    pub(crate) fn new(file: &str, columns: &[SourceColumn], options: &ReadOptions) -> Result<Self> {
        let find = |name: &String| find(file, columns, name);
        let id = options.id.as_ref().map(find).transpose()?;
        let label = options.label.as_ref().map(find).transpose()?;
        let group = options.group.as_ref().map(find).transpose()?;
        let roles = [id, label, group];
        for &role in roles.iter().flatten() {
            check_role(file, &columns[role])?;
        }
        let mut taken = vec![false; columns.len()];
        for name in &options.exclude {
            taken[find(name)?] = true;
        }
        for &role in roles.iter().flatten() {
            taken[role] = true;
        }
        let wanted: Vec<usize> = match &options.columns {
            Some(names) => names.iter().map(find).collect::<Result<_>>()?,
            None => {
                (0..columns.len()).filter(|&c| !matches!(columns[c].kind, SourceKind::RowIndex)).collect()
            }
        };
        // Marking what is taken also drops a column that is asked for twice.
        let features: Vec<usize> =
            wanted.into_iter().filter(|&c| !std::mem::replace(&mut taken[c], true)).collect();
        let list = check_features(file, columns, &features)?;
        Ok(Self { features, id, label, group, list })
    }

    /// Every column is a feature, in the order of the file: rows can be copied whole.
    pub(crate) fn is_everything(&self, columns: usize) -> bool {
        self.features.len() == columns && self.features.iter().enumerate().all(|(at, &c)| at == c)
    }
}

/// Refuses features that are not numbers; says whether they are one column of lists.
fn check_features(file: &str, columns: &[SourceColumn], features: &[usize]) -> Result<bool> {
    let named = |kind: fn(&SourceKind) -> bool| features.iter().find(|&&c| kind(&columns[c].kind));
    let not_numeric = |&c: &usize| match &columns[c].kind {
        SourceKind::Text(what) | SourceKind::Other(what) => Some((columns[c].name.clone(), what.clone())),
        _ => None,
    };
    let others: Vec<(String, String)> = features.iter().filter_map(not_numeric).collect();
    if !others.is_empty() {
        return Err(Error::NotNumeric { file: file.to_owned(), columns: others });
    }
    let list = named(|kind| matches!(kind, SourceKind::List));
    if let (Some(&list), Some(&other)) = (list, features.iter().find(|&c| Some(c) != list)) {
        let (list, other) = (columns[list].name.clone(), columns[other].name.clone());
        return Err(Error::ListBesideOthers { file: file.to_owned(), list, other });
    }
    if features.is_empty() {
        return Err(no_numeric_column(file, columns));
    }
    Ok(list.is_some())
}

fn check_role(file: &str, column: &SourceColumn) -> Result<()> {
    let what = match &column.kind {
        SourceKind::List => "lists of numbers",
        SourceKind::Other(what) => what,
        _ => return Ok(()),
    };
    let problem = format!("has {what} in column {}, which can be neither id nor label", column.name);
    Err(Error::Unsuitable { file: file.to_owned(), problem })
}

pub(crate) fn find(file: &str, columns: &[SourceColumn], name: &str) -> Result<usize> {
    let mut matching = (0..columns.len()).filter(|&c| columns[c].name == name);
    match (matching.next(), matching.next()) {
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err(Error::AmbiguousColumn { file: file.to_owned(), column: name.to_owned() }),
        (None, _) => {
            Err(Error::NoSuchColumn { file: file.to_owned(), column: name.to_owned(), there: there(columns) })
        }
    }
}

pub(crate) fn no_numeric_column(file: &str, columns: &[SourceColumn]) -> Error {
    Error::NoNumericColumn { file: file.to_owned(), there: there(columns) }
}

/// The names of up to ten columns, for messages.
fn there(columns: &[SourceColumn]) -> String {
    let names: Vec<&str> = columns.iter().take(10).map(|column| column.name.as_str()).collect();
    match columns.len() {
        0 => "none".to_owned(),
        all if all > names.len() => format!("{}, … ({all} in all)", names.join(", ")),
        _ => names.join(", "),
    }
}

/// The names of the items of a column of lists: `embedding[1]`, `embedding[2]` and so on.
pub(crate) fn item_names(list: &str, width: usize) -> Vec<String> {
    (1..=width).map(|item| item_name(list, item)).collect()
}

fn item_name(list: &str, item: usize) -> String {
    format!("{list}[{item}]")
}

/// The column of lists whose items all these names are, in their order.
pub fn list_of_items(names: &[String]) -> Option<&str> {
    let list = names.first()?.strip_suffix("[1]").filter(|list| !list.is_empty())?;
    names.iter().zip(1..).all(|(name, item)| *name == item_name(list, item)).then_some(list)
}

/// The name of column `at`, counted from 0, in a file that names none.
pub(crate) fn nameless(at: usize) -> String {
    format!("c{}", at + 1)
}

/// The columns of a file that names none.
pub(crate) fn nameless_numbers(count: usize) -> Vec<SourceColumn> {
    (0..count).map(|at| SourceColumn { name: nameless(at), kind: SourceKind::Number }).collect()
}
