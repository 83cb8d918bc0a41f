//! What becomes of each column of a table, and why.

use crate::encoded::Encoder;
use crate::error::{CellAddress, Fault, shorten};
use crate::select::ReadOptions;
use crate::survey::{Found, Role, Survey, SurveyedColumn};
use crate::written::{NumberStyle, Reading};
use lion_recipe::{
    ColumnSummary, Encoding, FittedRecipe, Kind, Missing, Recipe, RecipeColumn, RecipeOptions, Scale,
    date_in_words,
};
use std::sync::Arc;

/// What may be done to a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// How numbers are scaled.
    pub scale: Scale,
    /// What becomes of gaps; they are filled by medians unless something else is asked for.
    pub missing: Option<Missing>,
    /// The columns are known to share a unit.
    pub shares_unit: bool,
}

/// What becomes of a table.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How it is to be read.
    pub options: ReadOptions,
    /// Its columns, in their order.
    pub columns: Vec<PlannedColumn>,
    /// Why numbers are scaled or are not; nothing where that was asked for or is no question.
    pub scale: Option<String>,
    /// What may spoil the map, a sentence each.
    pub warnings: Vec<String>,
    /// What may help, a sentence each.
    pub notes: Vec<String>,
    /// Its rows.
    pub rows: u64,
}

/// A column and what becomes of it.
#[derive(Debug, Clone)]
pub struct PlannedColumn {
    /// Its name.
    pub name: String,
    /// What it is: a kind of values, or its part in the table.
    pub what: &'static str,
    /// What its cells are like, in words.
    pub holds: String,
    /// Rows without a value, where they were counted.
    pub gaps: u64,
    /// What becomes of it.
    pub treatment: Treatment,
    /// The same in words.
    pub words: String,
    /// The first cells that are wrong, with what they hold, where cells are the problem.
    pub cells: Vec<(CellAddress, String)>,
}

impl PlannedColumn {
    /// What is wrong with the column, as a sentence that begins with where it is.
    pub fn sentence(&self, file: &str) -> String {
        let [(cell, text)] = &self.cells[..] else {
            return format!("{file}, column {} ({}): {}", self.name, self.what, self.words);
        };
        match text.parse::<f64>() {
            Ok(value) if value.is_nan() || value.abs() > f64::from(f32::MAX) => {
                Fault::of(value).at(cell.clone()).to_string()
            }
            _ if self.holds.is_empty() => format!("{cell} holds {text:?}, which is not a {}", self.what),
            _ => format!("{cell} holds {text:?}, which is not a {}, because {}", self.what, self.holds),
        }
    }
}

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It is a feature as it is.
    AsIs,
    /// It becomes a feature, or several.
    Encoded,
    /// It is no feature.
    LeftOut,
    /// It cannot be used, and somebody must say what to do.
    Problem,
}

impl Plan {
    /// What becomes of the columns of a table.
    pub fn new(survey: &Survey, options: &ReadOptions, choice: &PlanOptions) -> Self {
        let missing = choice.missing.unwrap_or_default();
        let list = the_list(survey, options);
        let features: Vec<&SurveyedColumn> = match list {
            Some(_) => Vec::new(),
            None => survey.columns.iter().filter(|column| is_feature(column)).collect(),
        };
        let summaries: Vec<ColumnSummary> =
            features.iter().filter_map(|column| values(column)).cloned().collect();
        let recipe_options = RecipeOptions {
            scale: choice.scale,
            missing,
            shares_unit: choice.shares_unit || survey.nameless,
        };
        let fitted = Recipe::fit(&summaries, &recipe_options);
        let planner = Planner { survey, options, missing, list, recipe: &fitted.recipe };
        let columns: Vec<PlannedColumn> =
            survey.columns.iter().map(|column| planner.column(column)).collect();
        let left_out = columns.iter().filter(|column| column.treatment == Treatment::LeftOut);
        let left_out: Vec<String> = left_out.map(|column| column.name.clone()).collect();
        let options = planner.read_options(&features, left_out, choice);
        let FittedRecipe { why, warnings, .. } = fitted;
        let scale = why.filter(|_| !features.is_empty());
        let (notes, rows) = (planner.notes(), survey.rows);
        Self { options, columns, scale, warnings, notes, rows }
    }

    /// The columns that cannot be used, and why.
    pub fn problems(&self) -> impl Iterator<Item = &PlannedColumn> {
        self.columns.iter().filter(|column| column.treatment == Treatment::Problem)
    }

    /// The columns that are features.
    pub fn features(&self) -> usize {
        let used = |column: &&PlannedColumn| matches!(column.treatment, Treatment::AsIs | Treatment::Encoded);
        self.columns.iter().filter(used).count()
    }

    /// The recipe, where it does something.
    pub fn recipe(&self) -> Option<&Arc<Recipe>> {
        self.options.encoder.as_ref().map(|encoder| &encoder.recipe)
    }
}

/// The column of lists that holds all features, unless others were asked for.
fn the_list<'a>(survey: &'a Survey, options: &ReadOptions) -> Option<&'a str> {
    let mut lists = survey
        .columns
        .iter()
        .filter(|column| column.role == Role::Feature && matches!(column.found, Found::List));
    let first = lists.next().filter(|_| lists.next().is_none())?;
    let alone = options.columns.as_ref().is_none_or(|asked| asked.len() == 1);
    alone.then_some(first.name.as_str())
}

fn is_feature(column: &SurveyedColumn) -> bool {
    column.role == Role::Feature && values(column).is_some()
}

fn values(column: &SurveyedColumn) -> Option<&ColumnSummary> {
    match &column.found {
        Found::Values(summary) => Some(summary),
        _ => None,
    }
}

struct Planner<'a> {
    survey: &'a Survey,
    options: &'a ReadOptions,
    missing: Missing,
    list: Option<&'a str>,
    recipe: &'a Recipe,
}

impl Planner<'_> {
    fn column(&self, column: &SurveyedColumn) -> PlannedColumn {
        let planned = |what, holds: String, treatment, words: String| PlannedColumn {
            name: column.name.clone(),
            what,
            holds,
            gaps: values(column).map_or(0, |summary| summary.missing),
            treatment,
            words,
            cells: match &column.found {
                Found::Faulty { cells, .. } => cells.clone(),
                _ => Vec::new(),
            },
        };
        let left_out =
            |what, holds: String, words: &str| planned(what, holds, Treatment::LeftOut, words.to_owned());
        match column.role {
            Role::Id => return left_out("id", String::new(), "names the rows"),
            Role::Label => return left_out("label", String::new(), "labels the rows"),
            Role::Group => return left_out("group", String::new(), "groups the rows"),
            Role::Excluded => return left_out("-", String::new(), "left out, as asked"),
            Role::RowIndex => return left_out("row number", String::new(), "left out"),
            Role::Feature => {}
        }
        if let Some(list) = self.list {
            return match column.name == list {
                true => planned(
                    "list",
                    "numbers".into(),
                    Treatment::AsIs,
                    "used as it is: its items share a unit".into(),
                ),
                false => left_out(
                    what(column),
                    String::new(),
                    &format!("left out: {list} is a list of numbers, which are the features"),
                ),
            };
        }
        let asked = self.options.columns.is_some();
        match &column.found {
            Found::Values(summary) => self.values(column, summary, planned),
            Found::Faulty { kind, count, cells } => {
                let many = match count {
                    1 => format!("1 cell is no {kind}"),
                    count => format!("{count} cells are no {}", kind.plural()),
                };
                let words = format!("{many}: {}", named_cells(cells, *count));
                let holds = match column.reading.numbers {
                    NumberStyle::DecimalComma => "commas are decimal marks",
                    NumberStyle::ThousandsComma => "commas set thousands apart",
                    NumberStyle::Plain => "",
                };
                planned(kind.as_str(), holds.to_owned(), Treatment::Problem, words)
            }
            Found::AmbiguousCommas(cell) => {
                let words = format!(
                    "{cell:?} may be {} or {}: write it without the comma",
                    cell.replace(',', "."),
                    cell.replace(',', "")
                );
                planned("number", String::new(), Treatment::Problem, words)
            }
            Found::MixedDecimals { comma, point } => {
                let words = format!(
                    "{comma:?} has a decimal comma and {point:?} a decimal point: write all its numbers alike"
                );
                planned("number", String::new(), Treatment::Problem, words)
            }
            Found::Text { summary, example, dates } => {
                let different = at_least(summary.different().0);
                let holds = format!("{different} different, such as {example:?}");
                let words = match dates {
                    true => "left out: day and month of its dates cannot be told apart",
                    false => "left out: text for people, not for a map",
                };
                match asked {
                    true => planned(
                        "text",
                        holds,
                        Treatment::Problem,
                        format!("{different} different texts are too many for a category"),
                    ),
                    false => left_out("text", holds, words),
                }
            }
            Found::Empty => left_out("empty", "no values".into(), "left out: there is nothing in it"),
            Found::List => planned(
                "list",
                String::new(),
                Treatment::Problem,
                "there is more than one list of numbers, and only one can be the features".into(),
            ),
            Found::Other(what) if asked => {
                planned("other", what.clone(), Treatment::Problem, format!("{what} cannot be features"))
            }
            Found::Other(what) => left_out("other", what.clone(), "left out"),
            Found::Unread => left_out("-", String::new(), "left out"),
        }
    }

    fn values(
        &self,
        column: &SurveyedColumn,
        summary: &ColumnSummary,
        planned: impl Fn(&'static str, String, Treatment, String) -> PlannedColumn,
    ) -> PlannedColumn {
        let holds = holds(summary);
        if summary.missing > 0 && self.missing == Missing::Refuse {
            let at = column
                .first_gap
                .as_ref()
                .map_or(String::new(), |at| format!(", the first in {}", row_of(at)));
            let words = format!("{} of {} cells are empty{at}", summary.missing, summary.rows());
            return planned(summary.kind.as_str(), holds, Treatment::Problem, words);
        }
        let own = self.recipe.columns().iter().find(|own| own.name == column.name);
        let Some(own) = own else {
            return planned(summary.kind.as_str(), holds, Treatment::AsIs, "used as it is".into());
        };
        let plain = summary.kind == Kind::Number && column.reading == Reading::default();
        let treatment =
            match plain && summary.missing == 0 && own.scaling().is_some_and(|scaling| scaling.is_identity())
            {
                true => Treatment::AsIs,
                false => Treatment::Encoded,
            };
        let mut words = vec![treated(own, self.recipe.scale())];
        match column.reading.numbers {
            NumberStyle::Plain => {}
            NumberStyle::DecimalComma => words.push("commas are decimal marks".into()),
            NumberStyle::ThousandsComma => words.push("commas set thousands apart".into()),
        }
        if let Some(sign) = column.reading.sign {
            words.push(format!("read without its {sign}"));
        }
        if column.reading.month_first {
            words.push("the month is first".into());
        }
        if summary.missing > 0 {
            words.push(gaps(own, summary.missing, self.missing));
        }
        planned(summary.kind.as_str(), holds, treatment, words.join("; "))
    }

    /// How the table is to be read.
    fn read_options(
        &self,
        features: &[&SurveyedColumn],
        left_out: Vec<String>,
        choice: &PlanOptions,
    ) -> ReadOptions {
        let mut options = self.options.clone();
        if let Some(list) = self.list {
            options.columns = Some(vec![list.to_owned()]);
            return options;
        }
        let has_gaps = features.iter().filter_map(|column| values(column)).any(|summary| summary.missing > 0);
        let is_plain =
            features.iter().all(|column| column.is_plain) && !has_gaps && self.recipe.is_identity();
        if features.is_empty() || is_plain && choice.missing.is_none() {
            let known: Vec<String> = options.exclude.clone();
            let feature = |name: &String| {
                self.survey.columns.iter().any(|column| column.name == *name && column.role == Role::Feature)
            };
            options
                .exclude
                .extend(left_out.into_iter().filter(|name| feature(name) && !known.contains(name)));
            return options;
        }
        let readings = features.iter().map(|column| (column.name.clone(), column.reading)).collect();
        let drop = self.missing == Missing::Drop && has_gaps;
        options.encoder = Some(Encoder { recipe: Arc::new(self.recipe.clone()), readings, drop });
        options
    }

    /// What may help.
    fn notes(&self) -> Vec<String> {
        if self.options.id.is_some() {
            return Vec::new();
        }
        let note = |column: &SurveyedColumn| {
            let used = if is_feature(column) { "is a feature of the map" } else { "is left out" };
            format!("{} {used}; if it names the rows, say --id {}", column.name, quoted(&column.name))
        };
        self.survey.columns.iter().filter(|column| column.may_name_rows).take(1).map(note).collect()
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,=:%@+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn what(column: &SurveyedColumn) -> &'static str {
    match &column.found {
        Found::Values(summary) => summary.kind.as_str(),
        Found::Faulty { kind, .. } => kind.as_str(),
        Found::AmbiguousCommas(_) | Found::MixedDecimals { .. } => Kind::Number.as_str(),
        Found::Text { .. } => "text",
        Found::List => "list",
        Found::Empty => "empty",
        Found::Other(_) => "other",
        Found::Unread => "-",
    }
}

/// What the values of a column are like.
fn holds(summary: &ColumnSummary) -> String {
    let (low, high) = summary.numbers.range().unwrap_or_default();
    match summary.kind {
        Kind::Number => format!("{} to {}", short(low), short(high)),
        Kind::Date => format!("{} to {}", date_in_words(low), date_in_words(high)),
        Kind::Boolean => format!("{:.0} % true", 100.0 * summary.numbers.mean()),
        Kind::Category => {
            let levels = summary.levels();
            let few: Vec<String> = levels.iter().take(3).map(|(level, _)| shorten(level)).collect();
            let more = if levels.len() > few.len() { ", …" } else { "" };
            format!("{} different: {}{more}", levels.len(), few.join(", "))
        }
    }
}

/// What becomes of values.
fn treated(column: &RecipeColumn, scale: Scale) -> String {
    let scaled = matches!(scale, Scale::Standard | Scale::Robust)
        && column.scaling().is_some_and(|scaling| !scaling.is_identity());
    match &column.encoding {
        Encoding::Number(scaling) if scaled => {
            format!("scaled: (x - {}) / {}", short(scaling.center), short(scaling.divisor))
        }
        Encoding::Number(_) => "used as it is".to_owned(),
        Encoding::Date(scaling) if scaled => format!("days, scaled: {} days are 1", short(scaling.divisor)),
        Encoding::Date(_) => "days since 1970".to_owned(),
        Encoding::Boolean(scaling) if scaled => format!("0 or {:.2}", 1.0 / scaling.divisor),
        Encoding::Boolean(_) => "0 or 1".to_owned(),
        Encoding::Category { levels, .. } => match levels.len() {
            1 => "1 column, and 1 for all others".to_owned(),
            count => format!("{count} columns, one for each level, and 1 for others"),
        },
    }
}

fn gaps(column: &RecipeColumn, count: u64, missing: Missing) -> String {
    let many = if count == 1 { "1 gap".to_owned() } else { format!("{count} gaps") };
    match (missing, &column.encoding) {
        (Missing::Drop, _) => format!("rows with its {many} are left out"),
        (_, Encoding::Category { missing: true, .. }) => format!("{many}: a level of their own"),
        (_, Encoding::Category { .. }) => format!("{many}: among the others"),
        (_, Encoding::Date(scaling)) => {
            format!("{many} filled with {}", scaling.fill.map_or(String::new(), date_in_words))
        }
        (_, Encoding::Number(scaling) | Encoding::Boolean(scaling)) => {
            format!("{many} filled with the {missing}, {}", scaling.fill.map_or(String::new(), short))
        }
    }
}

fn named_cells(cells: &[(CellAddress, String)], count: u64) -> String {
    let cell = |(at, text): &(CellAddress, String)| format!("{} {text:?}", row_of(at));
    let named: Vec<String> = cells.iter().map(cell).collect();
    let more = if count > named.len() as u64 { ", …" } else { "" };
    format!("{}{more}", named.join(", "))
}

/// `row 2 (line 4)`.
fn row_of(at: &CellAddress) -> String {
    at.line.map_or_else(|| format!("row {}", at.row), |line| format!("row {} (line {line})", at.row))
}

fn at_least(different: usize) -> String {
    if different >= 10_000 { "more than 10000".to_owned() } else { different.to_string() }
}

/// A number with up to four digits, as a table shows it.
fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == value.trunc() && size < 1e7 => format!("{value:.0}"),
        _ if !(1e-3..1e7).contains(&size) => format!("{value:.3e}"),
        _ => {
            let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
            let text = format!("{value:.digits$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    }
}
