//! What any rows have in common, against the rest: rows of the map, and rows that are not in it.

use super::column::{Column, GAP, Values};
use super::groups::Groups;
use super::keywords::Texts;
use super::{ExplainOptions, ExplainedCluster, check, effects, majority, typical, written};
use crate::error::{Error, Result};
use crate::live::central_rows;
use crate::map::{Map, OriginalValues};
use lion_recipe::Kind;
use std::collections::HashMap;

/// Explains what some rows have in common, against the rest. Its name is `selection`.
pub fn explain_selection(
    map: &Map,
    columns: &[Column<'_>],
    rows: &[u32],
    options: &ExplainOptions,
) -> Result<ExplainedCluster> {
    explain_points(map, columns, rows, &[], options)
}

/// The same of rows of the map together with others that are not in it, each as the map takes rows: encoded by its recipe, if
/// it has one. Others have values in the columns that the map was fitted to. Keywords, typical rows, the label and the
/// centre come from the rows of the map; without any, the centre is row 0.
pub fn explain_points(
    map: &Map,
    columns: &[Column<'_>],
    rows: &[u32],
    others: &[Vec<f32>],
    options: &ExplainOptions,
) -> Result<ExplainedCluster> {
    check(map, columns)?;
    check_others(map, others)?;
    let of_row = chosen(map, rows)?;
    let groups = Groups::new(&of_row, 1);
    let [members] = groups.members() else { unreachable!("one group was asked for") };
    if members.is_empty() && others.is_empty() {
        return Err(Error::Data("no row is selected: name at least one".into()));
    }
    let effects = match others {
        [] => effects::effects(columns, &groups, options.columns),
        _ => {
            let with_others: Vec<Option<u32>> =
                of_row.iter().copied().chain(others.iter().map(|_| Some(0))).collect();
            let columns = with_values_of(map, columns, others);
            effects::effects(&columns, &Groups::new(&with_others, 1), options.columns)
        }
    };
    let keywords = match members.is_empty() {
        true => None,
        false => written(columns).map(|texts| Texts::new(texts).keywords(&groups, options.keywords)),
    };
    let of_members = |found: Vec<u32>| found.first().copied().unwrap_or(0);
    Ok(ExplainedCluster {
        id: 0,
        level: 0,
        parent: None,
        name: "selection".into(),
        size: members.len() + others.len(),
        label: majority(map, members).filter(|_| !members.is_empty()),
        columns: effects.into_iter().next().unwrap_or_default(),
        keywords: keywords.and_then(|all| all.into_iter().next()).unwrap_or_default(),
        typical: match members.is_empty() {
            true => Vec::new(),
            false => typical::typical(map, &groups, options.typical).swap_remove(0),
        },
        borders: Vec::new(),
        centre: match members.is_empty() {
            true => 0,
            false => of_members(central_rows(map, groups.members())),
        },
    })
}

/// For each row of the map whether it is selected.
fn chosen(map: &Map, rows: &[u32]) -> Result<Vec<Option<u32>>> {
    let mut of_row = vec![None; map.rows()];
    for &row in rows {
        let Some(slot) = of_row.get_mut(row as usize) else {
            return Err(Error::Data(format!("row {row} is selected, and the map has {} rows", map.rows())));
        };
        *slot = Some(0);
    }
    Ok(of_row)
}

fn check_others(map: &Map, others: &[Vec<f32>]) -> Result<()> {
    let width = map.preprocess().input_dims();
    match others.iter().find(|row| row.len() != width) {
        Some(row) => Err(Error::Data(format!(
            "a row beside the map has {} values, and the map takes {width}",
            row.len()
        ))),
        None => Ok(()),
    }
}

/// Columns of the map's rows, and then of others.
fn with_values_of<'a>(map: &Map, columns: &'a [Column<'_>], others: &[Vec<f32>]) -> Vec<Column<'a>> {
    let original = map.original();
    let number_of: HashMap<String, usize> = (0..original.len()).map(|at| (original.name(at), at)).collect();
    let decoded: Vec<Vec<OriginalValues>> = others.iter().map(|row| original.decoded(row)).collect();
    let column = |column: &'a Column<'_>| {
        let at = number_of.get(&column.name).copied();
        let values = match &column.values {
            Values::Categories { names, codes } => {
                let code =
                    |row: &Vec<OriginalValues>| at.map_or(GAP, |at| code_of(&row[at], original.kind(at)));
                let codes = codes.iter().copied().chain(decoded.iter().map(code)).collect();
                Values::Categories { names: names.clone(), codes }
            }
            // Words are of the map's rows.
            Values::Texts(_) => return None,
            numbers => {
                let number = |row: &Vec<OriginalValues>| at.map_or(f64::NAN, |at| number_of_cell(&row[at]));
                let own = numbers.numbers()?;
                Values::Numbers(own.iter().copied().chain(decoded.iter().map(number)).collect())
            }
        };
        Some(Column { name: column.name.clone(), is_date: column.is_date, values })
    };
    columns.iter().filter_map(column).collect()
}

fn number_of_cell(values: &OriginalValues) -> f64 {
    match values {
        OriginalValues::Numbers(numbers) => numbers.first().copied().unwrap_or(f64::NAN),
        OriginalValues::Levels { .. } => f64::NAN,
    }
}

fn code_of(values: &OriginalValues, kind: Kind) -> u32 {
    match values {
        OriginalValues::Levels { codes, .. } => codes.first().copied().flatten().unwrap_or(GAP),
        OriginalValues::Numbers(numbers) if kind == Kind::Boolean => {
            numbers.first().map_or(GAP, |&value| u32::from(value >= 0.5))
        }
        OriginalValues::Numbers(_) => GAP,
    }
}
