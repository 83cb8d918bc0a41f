//! How much each column sets a group apart from all other rows.
//!
//! The effect is the difference of the means in standard deviations of the column over all rows, for a category that of its
//! indicator. So effects of all columns compare, and none is infinite where a column is constant inside. Its standard
//! error lets both sides have their own variance (Welch 1938), with the deviation taken as known.

use super::column::{Column, GAP, Values};
use super::groups::Groups;
use super::keywords::share_error;
use rayon::prelude::*;

/// A smaller effect is not worth telling (Cohen 1988, Statistical Power Analysis for the Behavioral Sciences: small).
const LEAST: f64 = 0.2;
/// An effect is at least so many times its standard error.
const ERRORS: f64 = 3.0;

/// A column, or one of its categories, that sets a group apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The column.
    pub column: String,
    /// The category, where the column has such.
    pub value: Option<String>,
    /// Whether its numbers are days since 1970-01-01.
    pub is_date: bool,
    /// The difference in standard deviations of the column.
    pub effect: f64,
    /// Its standard error.
    pub error: f64,
    /// The same in original units.
    pub contrast: Contrast,
}

/// Inside against outside, in original units. Of a pair the first is inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contrast {
    /// Numbers.
    Numbers {
        /// The means.
        mean: [f64; 2],
        /// The medians.
        median: [f64; 2],
        /// The difference of the means.
        difference: f64,
        /// Its standard error.
        error: f64,
    },
    /// Rows that have the category, of those that have any.
    Shares {
        /// The shares.
        share: [f64; 2],
        /// Their difference.
        difference: f64,
        /// Its standard error.
        error: f64,
        /// The ratio of the odds, with half a row added to each of the four counts.
        odds_ratio: f64,
    },
}

/// For each group its strongest effects, at most so many.
pub(super) fn effects(columns: &[Column<'_>], groups: &Groups, most: usize) -> Vec<Vec<Effect>> {
    let of_column: Vec<Vec<Option<Effect>>> =
        columns.par_iter().map(|column| of_column(column, groups)).collect();
    let mut chosen: Vec<Vec<(usize, Effect)>> = vec![Vec::new(); groups.count()];
    for (at, found) in of_column.into_iter().enumerate() {
        for (group, effect) in found.into_iter().enumerate() {
            chosen[group].extend(effect.map(|effect| (at, effect)));
        }
    }
    for effects in &mut chosen {
        effects.sort_by(|a, b| b.1.effect.abs().total_cmp(&a.1.effect.abs()).then(a.0.cmp(&b.0)));
        effects.truncate(most);
    }
    fill_medians(columns, groups, &mut chosen);
    chosen.into_iter().map(|effects| effects.into_iter().map(|(_, effect)| effect).collect()).collect()
}

fn of_column(column: &Column<'_>, groups: &Groups) -> Vec<Option<Effect>> {
    let found = match &column.values {
        Values::Numbers(_) | Values::Computed(_) => {
            column.values.numbers().map(|numbers| of_numbers(column, &numbers, groups))
        }
        Values::Categories { names, codes } => Some(of_categories(&column.name, names, codes, groups)),
        Values::Texts(_) => None,
    };
    found.unwrap_or_else(|| vec![None; groups.count()])
}

/// Whether an effect is worth telling.
fn is_telling(effect: f64, error: f64) -> bool {
    effect.is_finite() && effect.abs() >= LEAST && effect.abs() >= ERRORS * error
}

/// The count of some numbers and their first two moments about a given value.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn new(values: impl Iterator<Item = f64>, about: f64) -> Self {
        let mut sums = Self::default();
        for value in values.filter(|value| value.is_finite()).map(|value| value - about) {
            sums.count += 1.0;
            sums.sum += value;
            sums.squares += value * value;
        }
        sums
    }

    fn without(self, other: Self) -> Self {
        Self {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    fn mean(self) -> f64 {
        self.sum / self.count
    }

    /// The variance; of one value there is none.
    fn variance(self) -> Option<f64> {
        let variance = (self.squares - self.sum * self.sum / self.count) / (self.count - 1.0);
        (self.count >= 2.0).then_some(variance.max(0.0))
    }
}

fn of_numbers(column: &Column<'_>, numbers: &[f64], groups: &Groups) -> Vec<Option<Effect>> {
    let about = Sums::new(numbers.iter().copied(), 0.0).mean();
    let all = Sums::new(numbers.iter().copied(), about);
    let Some(variance) = all.variance().filter(|variance| *variance > 0.0) else {
        return vec![None; groups.count()];
    };
    let of_group = |members: &Vec<u32>| {
        let inside = Sums::new(members.iter().map(|&row| numbers[row as usize]), about);
        let outside = all.without(inside);
        // Of a single row nothing is known but that it varies as the column does.
        let spread = |sums: Sums| sums.variance().unwrap_or(variance) / sums.count;
        let difference = inside.mean() - outside.mean();
        let error = (spread(inside) + spread(outside)).sqrt();
        let deviation = variance.sqrt();
        is_telling(difference / deviation, error / deviation).then(|| Effect {
            column: column.name.clone(),
            value: None,
            is_date: column.is_date,
            effect: difference / deviation,
            error: error / deviation,
            contrast: Contrast::Numbers {
                mean: [about + inside.mean(), about + outside.mean()],
                median: [f64::NAN; 2],
                difference,
                error,
            },
        })
    };
    groups.members().par_iter().map(of_group).collect()
}

fn of_categories(name: &str, names: &[String], codes: &[u32], groups: &Groups) -> Vec<Option<Effect>> {
    let count = |rows: &mut dyn Iterator<Item = u32>| {
        let mut counts = vec![0usize; names.len()];
        rows.filter(|&code| code != GAP).for_each(|code| counts[code as usize] += 1);
        counts
    };
    let all = count(&mut codes.iter().copied());
    let filled: usize = all.iter().sum();
    let of_group = |members: &Vec<u32>| {
        let inside = count(&mut members.iter().map(|&row| codes[row as usize]));
        let rows = inside.iter().sum::<usize>();
        let effect =
            |code: usize| share_effect([inside[code], all[code] - inside[code]], [rows, filled - rows]);
        let found = (0..names.len()).filter_map(|code| effect(code).map(|effect| (code, effect)));
        // Of two that are as strong but for rounding, the one that the group has.
        let strength = |effect: f64| (1e9 * effect.abs()).round();
        let (code, (effect, error, contrast)) = found.max_by(|(a, x), (b, y)| {
            strength(x.0).total_cmp(&strength(y.0)).then(x.0.total_cmp(&y.0)).then(b.cmp(a))
        })?;
        Some(Effect {
            column: name.to_owned(),
            value: Some(names[code].clone()),
            is_date: false,
            effect,
            error,
            contrast,
        })
    };
    groups.members().par_iter().map(of_group).collect()
}

/// The effect of a category that so many rows have, inside and outside, of so many; `None` if it is not worth telling.
fn share_effect(with: [usize; 2], rows: [usize; 2]) -> Option<(f64, f64, Contrast)> {
    let ([a, b], [inside, outside]) = (with.map(|count| count as f64), rows.map(|count| count as f64));
    let share = (a + b) / (inside + outside);
    let deviation = (share * (1.0 - share)).sqrt();
    let difference = a / inside - b / outside;
    let error = share_error(a, inside, b, outside);
    let odds_ratio = (a + 0.5) * (outside - b + 0.5) / ((inside - a + 0.5) * (b + 0.5));
    let contrast = Contrast::Shares { share: [a / inside, b / outside], difference, error, odds_ratio };
    let (effect, error) = (difference / deviation, error / deviation);
    is_telling(effect, error).then_some((effect, error, contrast))
}

/// Medians are needed of what is told only.
fn fill_medians(columns: &[Column<'_>], groups: &Groups, chosen: &mut [Vec<(usize, Effect)>]) {
    let mut asked: Vec<Vec<usize>> = vec![Vec::new(); columns.len()];
    for (group, effects) in chosen.iter().enumerate() {
        effects.iter().for_each(|(column, _)| asked[*column].push(group));
    }
    let medians: Vec<Vec<[f64; 2]>> = columns
        .par_iter()
        .zip(&asked)
        .map(|(column, asked)| match column.values.numbers() {
            Some(numbers) if !asked.is_empty() => medians(&numbers, groups, asked),
            _ => Vec::new(),
        })
        .collect();
    for ((medians, asked), column) in medians.into_iter().zip(asked).zip(0..) {
        for (found, group) in medians.into_iter().zip(asked) {
            for (_, effect) in chosen[group].iter_mut().filter(|(at, _)| *at == column) {
                if let Contrast::Numbers { median, .. } = &mut effect.contrast {
                    *median = found;
                }
            }
        }
    }
}

/// The medians inside and outside of some groups.
fn medians(numbers: &[f64], groups: &Groups, asked: &[usize]) -> Vec<[f64; 2]> {
    let mut order: Vec<u32> =
        (0..numbers.len() as u32).filter(|&row| numbers[row as usize].is_finite()).collect();
    order.sort_unstable_by(|&a, &b| numbers[a as usize].total_cmp(&numbers[b as usize]).then(a.cmp(&b)));
    let of_group = |&group: &usize| {
        let mut is_member = vec![false; numbers.len()];
        groups.members()[group].iter().for_each(|&row| is_member[row as usize] = true);
        [true, false].map(|inside| {
            let side = order.iter().filter(|&&row| is_member[row as usize] == inside);
            let side: Vec<f64> = side.map(|&row| numbers[row as usize]).collect();
            match side.len() {
                0 => f64::NAN,
                count => 0.5 * (side[(count - 1) / 2] + side[count / 2]),
            }
        })
    };
    asked.par_iter().map(of_group).collect()
}
