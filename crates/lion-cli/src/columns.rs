//! `lion columns`: what each column of a table is, and what `lion fit` would do with it.

use crate::args::{ColumnsArgs, Common};
use crate::files::Files;
use crate::output;
use crate::prepare::{self, ColumnFact};
use crate::shown;
use crate::summary::counted;
use anyhow::Result;
use lion_table::Plan;
use serde::Serialize;
use std::fmt::Write;

/// The JSON object.
#[derive(Serialize)]
struct ColumnsReport {
    rows: u64,
    /// How many features a map would have.
    features: usize,
    /// standard, robust or none.
    scale: String,
    /// Why numbers are scaled or not; null where that was asked for or is no question.
    why: Option<String>,
    columns: Vec<ColumnFact>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// Shows the columns.
pub(crate) fn run(args: &ColumnsArgs, common: &Common) -> Result<()> {
    let files = Files::expand(&args.data)?.read_again()?;
    let shares_unit = files.paths().all(lion_table::is_array);
    let options = shown::without_shown(args.table.read_options(), &args.show);
    let mut plan = prepare::plan(&files, &options, &args.columns, shares_unit)?;
    plan.notes.extend(shown::note(&args.table, &args.show));
    let report = ColumnsReport::new(&plan);
    output::present(common, &report, || in_words(&report, &files.shown()))
}

impl ColumnsReport {
    fn new(plan: &Plan) -> Self {
        let recipe = plan.recipe();
        Self {
            rows: plan.rows,
            features: recipe.map_or_else(|| plan.features(), |recipe| recipe.width()),
            scale: recipe.map_or("none", |recipe| recipe.scale().as_str()).to_owned(),
            why: plan.scale.clone(),
            columns: plan.columns.iter().map(ColumnFact::from).collect(),
            warnings: plan.warnings.clone(),
            notes: plan.notes.clone(),
        }
    }
}

/// The widest that a column of the output is.
const WIDEST: usize = 44;

fn in_words(report: &ColumnsReport, file: &str) -> String {
    let cells = |column: &ColumnFact| {
        let gaps = if column.gaps == 0 { String::new() } else { column.gaps.to_string() };
        [column.name.clone(), column.what.to_owned(), gaps, column.holds.clone()].map(|cell| cut(&cell))
    };
    let head = ["column", "is", "gaps", "holds"].map(str::to_owned);
    let rows: Vec<[String; 4]> = report.columns.iter().map(cells).collect();
    let width = |at: usize| rows.iter().chain([&head]).map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let mut text = format!(
        "{file}: {}, {}, {}\n\n",
        counted(report.rows, "row"),
        counted(report.columns.len(), "column"),
        counted(report.features, "feature")
    );
    let mut line = |row: &[String; 4], last: &str| {
        let [a, b, c, d] = row;
        let [wa, wb, wc, wd] = widths;
        let line = format!("{a:wa$}  {b:wb$}  {c:>wc$}  {d:wd$}  {last}");
        let _ = writeln!(text, "{}", line.trim_end());
    };
    line(&head, "what lion fit does with it");
    for (row, column) in rows.iter().zip(&report.columns) {
        let problem = if column.treatment == "problem" { "PROBLEM: " } else { "" };
        line(row, &format!("{problem}{}", column.words));
    }
    for (word, sentences) in [("note", &report.notes), ("warning", &report.warnings)] {
        for sentence in report.why.iter().filter(|_| word == "note").chain(sentences) {
            let _ = write!(text, "\n{word}: {sentence}");
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// Not more of a text than fits.
fn cut(text: &str) -> String {
    let text = text.replace(['\n', '\r', '\t'], " ");
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
