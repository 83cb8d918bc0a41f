//! Arrow, stream or file: a column `id`, perhaps `label` and `t`, and the values as one column of lists or as a column
//! each.

use super::{BadChanges, RowShape, check_id, check_name};
use lion_table::{
    Batches, CellAddress, Column, Encoder, Error, Field, Format, Kind, Outline, ReadOptions, outline,
};
use lion_table::{parse_batches, parse_columns};
use lion_tsne::live::{Arrival, Change};
use std::sync::Arc;

/// Reads the points of an Arrow body.
pub fn parse_arrow(bytes: &[u8], shape: &RowShape) -> Result<Vec<Change>, BadChanges> {
    let outline = check_outline(bytes, shape)?;
    let refuse = |error| refusal(error, shape);
    let options = options(&outline, shape)?;
    let times = times(bytes, &outline, shape).map_err(refuse)?;
    let mut changes = Vec::with_capacity(usize::try_from(outline.rows).unwrap_or(0));
    let batches = match parse_batches(bytes, Format::Arrow, &options).map(Batches::with_repeated_ids) {
        Err(Error::Empty { .. }) => return Ok(changes),
        batches => batches.map_err(refuse)?,
    };
    if batches.columns().len() != shape.width {
        return Err(shape.wrong_width("the table", batches.columns().len()));
    }
    for table in batches {
        let table = match table {
            Err(Error::Empty { .. }) => break,
            table => table.map_err(refuse)?,
        };
        let mut labels = table.labels.into_iter().flatten();
        for (id, values) in table.ids.into_iter().flatten().zip(table.data.chunks_exact(shape.width)) {
            let row = changes.len();
            let label = labels.next().filter(|label| !label.is_empty());
            check_names(row, &id, label.as_deref())?;
            let t = times.get(changes.len()).copied().flatten();
            changes.push(Change::Upsert(Arrival { id, row: values.to_vec(), label, t }));
        }
    }
    Ok(changes)
}

/// Refuses what would cost too much to decode, before anything is decoded.
fn check_outline(bytes: &[u8], shape: &RowShape) -> Result<Outline, BadChanges> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(BadChanges::Malformed("the body is compressed by gzip; send Arrow as it is".to_owned()));
    }
    let outline = outline(bytes).map_err(|error| refusal(error, shape))?;
    if outline.rows > shape.rows as u64 {
        return Err(shape.too_many_rows());
    }
    if outline.bytes > shape.bytes as u64 {
        let problem = format!("the body would take {} bytes decompressed; send it in parts", outline.bytes);
        return Err(BadChanges::TooMany(problem));
    }
    Ok(outline)
}

/// Which columns are what. A name that the map has for one of its own columns is that column.
fn options(outline: &Outline, shape: &RowShape) -> Result<ReadOptions, BadChanges> {
    let there = |name: &str| outline.columns.iter().any(|column| column == name);
    if !there("id") {
        return Err(BadChanges::Unprocessable(
            "the table has no column id; every point needs one".to_owned(),
        ));
    }
    let extra = |name: &str| there(name) && !is_feature(shape, name);
    let label = extra("label").then(|| "label".to_owned());
    // A list x has the numbers that a row became already, as Spark's jobs send them.
    if let Some(recipe) = shape.recipe.as_ref().filter(|_| !extra("x")) {
        let encoder = Some(Encoder { recipe: Arc::clone(recipe), readings: Vec::new(), drop: false });
        return Ok(ReadOptions { id: Some("id".to_owned()), label, encoder, ..ReadOptions::default() });
    }
    let exclude: Vec<String> = extra("t").then(|| "t".to_owned()).into_iter().collect();
    let features = outline.columns.len() - 1 - usize::from(label.is_some()) - exclude.len();
    let columns = match &shape.columns {
        // A single column may be the list of them all.
        Some(names) if features != 1 || names.len() == 1 => match names.iter().find(|name| !there(name)) {
            Some(name) if features != 1 => {
                let problem = format!("the table has no column {name}, which the rows of this map have");
                return Err(BadChanges::Unprocessable(problem));
            }
            Some(_) => None,
            None => Some(names.clone()),
        },
        _ => None,
    };
    Ok(ReadOptions { id: Some("id".to_owned()), label, columns, exclude, ..ReadOptions::default() })
}

fn is_feature(shape: &RowShape, name: &str) -> bool {
    shape.sent_columns().contains(&name)
}

/// The column `t`, which needs all 64 bits; no values if there is none.
fn times(bytes: &[u8], outline: &Outline, shape: &RowShape) -> Result<Vec<Option<f64>>, Error> {
    if is_feature(shape, "t") || !outline.columns.iter().any(|column| column == "t") {
        return Ok(Vec::new());
    }
    match parse_columns(bytes, &[Field::nullable("t", Kind::F64)])?.pop() {
        Some(Column::F64(times)) => Ok(times),
        _ => Ok(Vec::new()),
    }
}

fn check_names(row: usize, id: &str, label: Option<&str>) -> Result<(), BadChanges> {
    let refuse =
        |field: &str, problem| BadChanges::Unprocessable(format!("row {row}, column {field} {problem}"));
    check_id(id).map_err(|problem| refuse("id", problem))?;
    check_name("a label", label.unwrap_or_default()).map_err(|problem| refuse("label", problem))
}

/// The same fault in the words of this surface: there is no file and no command line here.
fn refusal(error: Error, shape: &RowShape) -> BadChanges {
    let place = |cell: &CellAddress| match cell.column.as_str() {
        "" => format!("row {}", cell.row),
        column => format!("row {}, column {column}", cell.row),
    };
    BadChanges::Unprocessable(match error {
        Error::Ragged { row, found, .. } => return shape.wrong_width(&place(&row), found),
        Error::NotFinite { cell, value } => {
            format!(
                "{} is {value}; every value must be a finite number: fill it or remove the row",
                place(&cell)
            )
        }
        Error::Missing { cell } => {
            format!(
                "{} is null; every value must be a finite number: fill it or remove the row",
                place(&cell)
            )
        }
        Error::TooLarge { cell, value } => {
            format!("{} is {value:e}, too large for a 32-bit float; scale the column down", place(&cell))
        }
        Error::NotANumber { cell, value } => {
            format!("{} holds {value:?}, which is not a number; correct it", place(&cell))
        }
        Error::WrongKind { cell, problem } => format!("{} {problem}; correct it", place(&cell)),
        Error::MissingId { cell } => format!("{} is empty; every point needs an id of its own", place(&cell)),
        Error::NotNumeric { columns, .. } => {
            let held = columns.iter().map(|(column, what)| format!("column {column} holds {what}"));
            format!("{}, not numbers; leave it out", held.collect::<Vec<_>>().join(", "))
        }
        Error::ListBesideOthers { list, other, .. } => {
            format!(
                "column {list} holds a list of numbers per row and column {other} is there too; send one of them"
            )
        }
        Error::NoNumericColumn { .. } => {
            "the table has no column of numbers beside id, label and t".to_owned()
        }
        Error::NoSuchColumn { column, .. } => format!("the table has no column {column}"),
        Error::AmbiguousColumn { column, .. } => format!("the table has more than one column {column}"),
        Error::Unsuitable { problem, .. } => format!("the table {problem}"),
        Error::Damaged { problem, .. } => {
            return BadChanges::Malformed(format!("the body is not a whole Arrow stream: {problem}"));
        }
        other => return BadChanges::Malformed(format!("the body is not an Arrow stream: {other}")),
    })
}
