//! From summaries of columns to a recipe: which scale, which fills, which levels.

use crate::cell::Kind;
use crate::date::date_in_words;
use crate::recipe::{Encoding, Missing, Recipe, RecipeColumn, Scale, Scaling};
use crate::summary::ColumnSummary;

/// How a recipe is to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipeOptions {
    /// How numbers are scaled.
    pub scale: Scale,
    /// What becomes of gaps.
    pub missing: Missing,
    /// The columns are known to share a unit: pixels, items of an embedding. [`Scale::Auto`] then leaves them as they are.
    pub shares_unit: bool,
}

/// A recipe, and what a person should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedRecipe {
    /// The recipe.
    pub recipe: Recipe,
    /// Why numbers are scaled or not, in words; nothing where they are as somebody asked.
    pub why: Option<String>,
    /// What may spoil the map, a sentence each.
    pub warnings: Vec<String>,
}

/// Spreads that differ by more than this are of different units.
const UNITS: f64 = 100.0;
/// Tables of so many columns are of one kind of measurement: pixels, genes, items of an embedding, channels of a spectrum.
const MANY: usize = 100;
/// The share of the variance beyond which a column is most of it.
const MOST_VARIANCE: f64 = 0.9;
/// Nearly all values are between these quantiles.
const MOST_VALUES: [f64; 2] = [0.01, 0.99];
/// The quartiles of normal values are so many standard deviations apart.
const QUARTILES: f64 = 1.349;
/// The distance between two rows of different levels is that of two rows sqrt(2) standard deviations apart, which random rows of a
/// scaled number are on average. A boolean is a category of two levels, in one column: true and false are as far apart.
const BOOLEAN: f64 = std::f64::consts::FRAC_1_SQRT_2;

impl Recipe {
    /// Fits a recipe to columns.
    pub fn fit(columns: &[ColumnSummary], options: &RecipeOptions) -> FittedRecipe {
        let (scale, why) = match options.scale {
            Scale::Auto => {
                let (scale, why) = choose(columns, options.shares_unit);
                (scale, why)
            }
            asked => (asked, None),
        };
        let missing = options.missing;
        let column = |summary: &ColumnSummary| RecipeColumn {
            name: summary.name.clone(),
            encoding: encoding(summary, scale, missing),
        };
        let recipe = Self { scale, missing, columns: columns.iter().map(column).collect() };
        let warnings = match scale {
            Scale::None => warnings(columns),
            Scale::Standard | Scale::Auto => squeezed(columns).into_iter().collect(),
            Scale::Robust => Vec::new(),
        };
        FittedRecipe { recipe, why, warnings }
    }
}

fn encoding(summary: &ColumnSummary, scale: Scale, missing: Missing) -> Encoding {
    match summary.kind {
        Kind::Category => {
            let least = (0.01 * summary.rows() as f64).max(1.0);
            let missing = missing.fills() && summary.missing as f64 >= least;
            Encoding::Category { levels: summary.kept_levels(), missing }
        }
        Kind::Number => Encoding::Number(scaling(summary, scale, missing)),
        Kind::Date => Encoding::Date(scaling(summary, scale, missing)),
        Kind::Boolean => {
            let plain = scaling(summary, Scale::None, missing);
            let divisor = if scale == Scale::None { 1.0 } else { BOOLEAN };
            Encoding::Boolean(Scaling { divisor, ..plain })
        }
    }
}

fn scaling(summary: &ColumnSummary, scale: Scale, missing: Missing) -> Scaling {
    let numbers = &summary.numbers;
    let [low, median, high] = numbers.quantiles([0.25, 0.5, 0.75]);
    let (least, largest) = numbers.range().unwrap_or((0.0, 0.0));
    let deviation = numbers.deviation();
    let (center, divisor) = match scale {
        Scale::Standard | Scale::Auto => (numbers.mean(), deviation),
        // A column that is mostly one value has no quartiles to go by.
        Scale::Robust if high > low => (median, (high - low) / QUARTILES),
        Scale::Robust => (median, deviation),
        Scale::None => (0.0, 1.0),
    };
    // Sums of the largest numbers there are have no end.
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let divisor = if divisor > 0.0 && divisor.is_finite() { divisor } else { 1.0 };
    let fill = match missing {
        Missing::Mean => Some(finite(numbers.mean())),
        Missing::Median => Some(finite(median)),
        Missing::Drop | Missing::Refuse => None,
    };
    let typical = finite(typical(low, median, high));
    Scaling { center: finite(center), divisor, fill, least, largest, typical }
}

/// About how far values are from 0.
pub(crate) fn typical(low: f64, median: f64, high: f64) -> f64 {
    low.abs().max(median.abs()).max(high.abs())
}

/// Whether columns are scaled, and why.
fn choose(columns: &[ColumnSummary], shares_unit: bool) -> (Scale, Option<String>) {
    let numbers: Vec<&ColumnSummary> = columns.iter().filter(|column| column.kind == Kind::Number).collect();
    let leave = |why: Option<&str>| (Scale::None, why.map(str::to_owned));
    let booleans = columns.iter().filter(|column| column.kind == Kind::Boolean).count();
    if shares_unit || booleans == columns.len() {
        return leave(None);
    }
    if numbers.len() < columns.len() {
        let mut kinds: Vec<&str> = Vec::new();
        for column in columns {
            if !kinds.contains(&column.kind.plural()) {
                kinds.push(column.kind.plural());
            }
        }
        let why = match kinds[..] {
            [one] => format!("{one} have no unit of their own"),
            _ => format!("{} share no unit", joined(&kinds)),
        };
        return (Scale::Standard, Some(format!("columns are scaled to unit variance, because {why}")));
    }
    let mut spreads: Vec<(f64, &str)> = numbers
        .iter()
        .map(|column| (column.numbers.deviation(), column.name.as_str()))
        .filter(|(spread, _)| *spread > 0.0)
        .collect();
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(least), Some(most)) = (spreads.first(), spreads.last()) else { return leave(None) };
    let ratio = most.0 / least.0;
    if ratio <= UNITS {
        return leave(None);
    }
    let left = |why: String| {
        (Scale::None, Some(format!("columns are not scaled, because {why}; --scale standard scales them")))
    };
    if numbers.len() >= MANY {
        return left(format!("a table of {} numbers is taken for one kind of measurement", numbers.len()));
    }
    if is_series(&numbers) {
        return left(format!(
            "{} to {} are numbered, as columns of one kind are",
            numbers[0].name,
            numbers[numbers.len() - 1].name
        ));
    }
    let within = |bound: f64| {
        numbers
            .iter()
            .filter_map(|column| column.numbers.range())
            .all(|(low, high)| low >= -bound && high <= bound)
    };
    if within(1.0) {
        return left("all values are between -1 and 1, as shares and correlations are".to_owned());
    }
    let why = format!(
        "columns are scaled to unit variance, because their units differ: {} spreads {} times as widely as {}",
        most.1,
        rounded(ratio),
        least.1
    );
    (Scale::Standard, Some(why))
}

/// Whether the names differ by numbers alone: pixel0, pixel1; x_0_0, x_0_1.
fn is_series(columns: &[&ColumnSummary]) -> bool {
    let stem = |column: &&ColumnSummary| column.name.replace(|c: char| c.is_ascii_digit(), "");
    let Some(first) = columns.first() else { return false };
    let has_number = |column: &&ColumnSummary| column.name.contains(|c: char| c.is_ascii_digit());
    columns.iter().all(|column| has_number(column) && stem(column) == stem(first))
}

/// What may spoil a map of columns as they are.
fn warnings(columns: &[ColumnSummary]) -> Vec<String> {
    let numbers = columns.iter().filter(|column| column.kind != Kind::Category);
    let mut warnings = Vec::new();
    let variances: Vec<(f64, &str)> =
        numbers.clone().map(|column| (column.numbers.deviation().powi(2), column.name.as_str())).collect();
    let all: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let most = variances.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((variance, name)) = most.filter(|most| variances.len() > 1 && most.0 > MOST_VARIANCE * all) {
        warnings.push(format!(
            "{name} has {} of the variance, so the map shows little else: --scale standard gives all columns the same weight",
            percent(variance / all)
        ));
    }
    for column in numbers.filter(|column| column.numbers.is_lost_in_f32()) {
        let (least, largest) = column.numbers.range().unwrap_or_default();
        warnings.push(format!(
            "{} varies from {least} to {largest}, which 32-bit floats hardly tell apart: --scale standard centres it first",
            column.name
        ));
    }
    warnings
}

/// Columns in which a few far values, such as typing errors, make the standard deviation: scaling leaves the others nearly equal.
fn squeezed(columns: &[ColumnSummary]) -> Option<String> {
    let is_squeezed = |column: &&ColumnSummary| {
        let [low, high] = column.numbers.quantiles(MOST_VALUES);
        high > low && column.numbers.deviation() > high - low
    };
    let is_measured = |column: &&ColumnSummary| matches!(column.kind, Kind::Number | Kind::Date);
    let found: Vec<&ColumnSummary> = columns.iter().filter(is_measured).filter(is_squeezed).collect();
    let first = found.first()?;
    let [low, high] = first.numbers.quantiles(MOST_VALUES);
    let (least, largest) = first.numbers.range()?;
    let [least, largest, low, high] = [least, largest, low, high].map(|value| match first.kind {
        Kind::Date => date_in_words(value),
        _ => value.to_string(),
    });
    let others = match &found[1..] {
        [] => String::new(),
        [other] => format!(", and likewise those of {}", other.name),
        others => format!(", and likewise those of {} other columns", others.len()),
    };
    Some(format!(
        "{} varies from {least} to {largest}, but nearly all of it from {low} to {high}: unit variance makes these values almost \
         equal{others}; correct the far ones, or use --scale robust",
        first.name
    ))
}

/// A share that is near 1.
fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 99.9 => "nearly all".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// Two digits, as a person says how many times.
pub(crate) fn rounded(ratio: f64) -> String {
    let unit = 10f64.powi((ratio.log10().floor() as i32 - 1).max(0));
    let rounded = (ratio / unit).round() * unit;
    if rounded < 1e9 { format!("{rounded:.0}") } else { format!("{rounded:.0e}") }
}

/// Two words and more, as in a sentence.
fn joined(words: &[&str]) -> String {
    match words {
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
        [] => String::new(),
    }
}
