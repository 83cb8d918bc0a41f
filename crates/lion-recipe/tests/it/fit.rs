//! From columns to a recipe: scales, fills, and what is told of them.

use lion_recipe::{Cell, ColumnSummary, Encoding, FittedRecipe, Kind, Missing, Recipe, RecipeOptions, Scale};
use proptest::prelude::*;

use crate::{booleans, category, dates, encoded, numbers, options, plain, summary};

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    sorted[at.floor() as usize] + (sorted[at.ceil() as usize] - sorted[at.floor() as usize]) * at.fract()
}

proptest! {
    #[test]
    fn a_scale_is_what_its_name_says(
        values in prop::collection::vec(-100.0..100.0f64, 3..40),
        kind in prop_oneof![Just(Kind::Number), Just(Kind::Date)],
    ) {
        let cell = |&value: &f64| if kind == Kind::Number { Cell::Number(value) } else { Cell::Date(value) };
        let column = [summary("a", kind, &values.iter().map(cell).collect::<Vec<_>>())];
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let [low, median, high] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        let (least, largest) = (sorted[0], sorted[sorted.len() - 1]);
        for (scale, center, divisor) in [
            (Scale::None, 0.0, 1.0),
            (Scale::Standard, mean, deviation),
            // Between the quartiles of a Gaussian are 1.349 standard deviations.
            (Scale::Robust, median, (high - low) / 1.349),
        ] {
            for (missing, fill) in [
                (Missing::Mean, Some(mean)),
                (Missing::Median, Some(median)),
                (Missing::Drop, None),
                (Missing::Refuse, None),
            ] {
                let fitted = Recipe::fit(&column, &options(scale, missing));
                prop_assert_eq!((fitted.recipe.scale(), fitted.recipe.missing()), (scale, missing));
                prop_assert_eq!(fitted.why, None);
                let scaling = *fitted.recipe.columns()[0].scaling().unwrap();
                let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
                prop_assert!(near(scaling.center, center) && near(scaling.divisor, divisor), "{scaling:?}");
                prop_assert_eq!(scaling.fill.is_some(), fill.is_some());
                prop_assert!(near(scaling.fill.unwrap_or(0.0), fill.unwrap_or(0.0)));
                prop_assert_eq!((scaling.least, scaling.largest), (least, largest));
                prop_assert!(near(scaling.typical, low.abs().max(median.abs()).max(high.abs())));
                prop_assert_eq!(fitted.recipe.columns()[0].kind(), kind);
            }
        }
    }
}

#[test]
fn columns_without_a_spread_are_divided_by_one() {
    let scaling = |column: &ColumnSummary, scale| {
        let recipe = Recipe::fit(std::slice::from_ref(column), &options(scale, Missing::Median)).recipe;
        let scaling = *recipe.columns()[0].scaling().unwrap();
        (scaling.center, scaling.divisor)
    };
    for scale in [Scale::Standard, Scale::Robust] {
        assert_eq!(scaling(&numbers("a", &[7.0; 4]), scale), (7.0, 1.0));
        assert_eq!(scaling(&numbers("a", &[]), scale), (0.0, 1.0));
    }
    // Mostly one value: no quartiles to go by, but a deviation.
    let mostly_one = numbers("a", &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
    assert_eq!(scaling(&mostly_one, Scale::Robust), (0.0, 2.0));
    // The largest numbers there are have neither mean nor deviation.
    let largest = numbers("a", &[f64::MAX, -f64::MAX, f64::MAX]);
    assert_eq!(scaling(&largest, Scale::Standard), (0.0, 1.0));
}

#[test]
fn a_boolean_is_scaled_if_numbers_are() {
    let flags = [booleans("f", &[true, false, false, false])];
    let of = |scale| Recipe::fit(&flags, &options(scale, Missing::Mean)).recipe;
    for scale in [Scale::Standard, Scale::Robust] {
        let scaling = *of(scale).columns()[0].scaling().unwrap();
        assert_eq!((scaling.center, scaling.divisor), (0.0, 0.5f64.sqrt()));
        assert_eq!((scaling.fill, scaling.least, scaling.largest), (Some(0.25), 0.0, 1.0));
        assert!(!of(scale).is_identity());
    }
    assert!(of(Scale::None).is_identity());
}

#[test]
fn gaps_are_a_level_from_one_row_in_a_hundred_on() {
    let has_level = |counts: &[(&str, usize)], missing| {
        let recipe = Recipe::fit(&[category("c", counts)], &options(Scale::None, missing)).recipe;
        matches!(recipe.columns()[0].encoding, Encoding::Category { missing: true, .. })
    };
    assert!(has_level(&[("a", 990), ("", 10)], Missing::Median));
    assert!(!has_level(&[("a", 991), ("", 9)], Missing::Median));
    assert!(has_level(&[("a", 10), ("", 1)], Missing::Mean));
    assert!(!has_level(&[("a", 10)], Missing::Mean));
    assert!(!has_level(&[("a", 10), ("", 10)], Missing::Drop));
    assert!(!has_level(&[("a", 10), ("", 10)], Missing::Refuse));
}

fn auto(columns: &[ColumnSummary]) -> FittedRecipe {
    Recipe::fit(columns, &RecipeOptions::default())
}

/// Why numbers are scaled, or left as they are.
fn why(columns: &[ColumnSummary]) -> (Scale, String) {
    let fitted = auto(columns);
    (fitted.recipe.scale(), fitted.why.unwrap_or_default())
}

/// A column whose standard deviation is this.
fn spread(name: &str, size: f64) -> ColumnSummary {
    numbers(name, &[-size, 0.0, size])
}

#[test]
fn kinds_that_share_no_unit_are_scaled() {
    let (number, flag, date) = (spread("n", 1.0), booleans("f", &[true, false]), dates("d", &[1.0, 2.0]));
    let plan = category("c", &[("a", 2), ("b", 2)]);
    let because =
        |what: &str| (Scale::Standard, format!("columns are scaled to unit variance, because {what}"));
    assert_eq!(why(std::slice::from_ref(&plan)), because("categories have no unit of their own"));
    assert_eq!(why(&[date.clone(), dates("e", &[1.0])]), because("dates have no unit of their own"));
    assert_eq!(
        why(&[number.clone(), plan.clone(), number.clone()]),
        because("numbers and categories share no unit")
    );
    assert_eq!(
        why(&[date, number, plan, flag.clone()]),
        because("dates, numbers, categories and booleans share no unit")
    );
    // Booleans alone do share one.
    assert_eq!(why(&[flag.clone(), flag]), (Scale::None, String::new()));
}

#[test]
fn units_that_differ_more_than_a_hundredfold_are_scaled() {
    assert_eq!(why(&[spread("a", 1.0), spread("b", 100.0)]), (Scale::None, String::new()));
    assert_eq!(
        why(&[spread("mid", 30.0), spread("wide", 4128.0), spread("narrow", 8.0), spread("same", 0.0)]),
        (
            Scale::Standard,
            "columns are scaled to unit variance, because their units differ: wide spreads 520 times as widely as narrow".into()
        )
    );
    // Columns that do not vary have no unit.
    assert_eq!(why(&[spread("a", 0.0), spread("b", 0.0)]), (Scale::None, String::new()));
    assert_eq!(why(&[spread("a", 0.0), spread("b", 9.0)]), (Scale::None, String::new()));
    let shared = RecipeOptions { shares_unit: true, ..RecipeOptions::default() };
    let fitted = Recipe::fit(&[spread("a", 1.0), spread("b", 1e6)], &shared);
    assert_eq!((fitted.recipe.scale(), fitted.why), (Scale::None, None));
}

#[test]
fn columns_of_one_kind_are_left_and_told_why() {
    let left = |why: &str| {
        (Scale::None, format!("columns are not scaled, because {why}; --scale standard scales them"))
    };
    let many = |count: usize| {
        let names = (0..count).map(|at| format!("{:?}", char::from_u32(0x4e00 + at as u32).unwrap()));
        names
            .enumerate()
            .map(|(at, name)| spread(&name, if at == 7 { 999.0 } else { 1.0 }))
            .collect::<Vec<_>>()
    };
    assert_eq!(why(&many(100)), left("a table of 100 numbers is taken for one kind of measurement"));
    assert_eq!(why(&many(99)).0, Scale::Standard);

    let two = |a: &str, b: &str| why(&[spread(a, 1.0), spread(b, 255.0)]);
    assert_eq!(two("x_0_1", "x_12_3"), left("x_0_1 to x_12_3 are numbered, as columns of one kind are"));
    for (a, b) in [("x", "y"), ("x1", "y2"), ("x1", "x"), ("x", "x1"), ("x", "x")] {
        assert_eq!(two(a, b).0, Scale::Standard, "{a} {b}");
    }

    let shares = |low: f64, high: f64| why(&[spread("a", 0.001), numbers("b", &[low, high])]);
    assert_eq!(shares(-1.0, 1.0), left("all values are between -1 and 1, as shares and correlations are"));
    assert_eq!(shares(-1.5, 1.0).0, Scale::Standard);
    assert_eq!(shares(-1.0, 1.5).0, Scale::Standard);
}

#[test]
fn a_column_with_most_of_the_variance_is_told() {
    let warnings =
        |columns: &[ColumnSummary]| Recipe::fit(columns, &options(Scale::None, Missing::Median)).warnings;
    let words =
        "of the variance, so the map shows little else: --scale standard gives all columns the same weight";
    assert_eq!(warnings(&[spread("a", 1.0), spread("b", 3.0)]), [""; 0]);
    assert_eq!(warnings(&[spread("b", 4.0), spread("a", 1.0)]), [format!("b has 94.1 % {words}")]);
    assert_eq!(warnings(&[spread("a", 1.0), spread("b", 90.0)]), [format!("b has nearly all {words}")]);
    // Alone, and beside a category, it is no news.
    assert_eq!(warnings(&[spread("b", 4.0)]), [""; 0]);
    assert_eq!(warnings(&[spread("b", 4.0), category("c", &[("x", 2)])]), [""; 0]);
    // Dates and booleans are numbers, too.
    let with_date = [dates("d", &[0.0, 1000.0]), booleans("f", &[true, false])];
    assert_eq!(warnings(&with_date), [format!("d has nearly all {words}")]);
    // Scaled columns all weigh the same.
    let scaled =
        Recipe::fit(&[spread("b", 4.0), spread("a", 1.0)], &options(Scale::Standard, Missing::Median));
    assert_eq!(scaled.warnings, [""; 0]);
}

/// A column of which all but one value are 1 to 5.
fn rating(kind: Kind, far: f64) -> Vec<Cell<'static>> {
    let value = |k: u32| if k == 77 { far } else { f64::from(k % 5) + 1.0 };
    let cell = |value| if kind == Kind::Date { Cell::Date(value) } else { Cell::Number(value) };
    (0..1200).map(|k| cell(value(k))).collect()
}

#[test]
fn all_columns_with_far_values_are_counted() {
    let number = |name: &str| summary(name, Kind::Number, &rating(Kind::Number, 3500.0));
    let day = |name: &str| summary(name, Kind::Date, &rating(Kind::Date, 36_500.0));
    let said = |columns: &[ColumnSummary]| {
        Recipe::fit(columns, &options(Scale::Standard, Missing::Median)).warnings.concat()
    };
    let (of, ends) =
        ("unit variance makes these values almost equal", "correct the far ones, or use --scale robust");
    let rating = "a varies from 1 to 3500, but nearly all of it from 1 to 5";
    assert_eq!(said(&[number("a")]), format!("{rating}: {of}; {ends}"));
    assert_eq!(
        said(&[number("a"), spread("fine", 1.0), number("b"), number("c")]),
        format!("{rating}: {of}, and likewise those of 2 other columns; {ends}")
    );
    assert_eq!(
        said(&[day("d")]),
        format!(
            "d varies from 1970-01-02 to 2069-12-07, but nearly all of it from 1970-01-02 to 1970-01-06: {of}; {ends}"
        )
    );
}

#[test]
fn a_recipe_that_changes_nothing_is_known_as_such() {
    let number = numbers("n", &[1.0, 2.0]);
    assert!(plain(std::slice::from_ref(&number)).is_identity());
    for other in [dates("d", &[1.0]), category("c", &[("a", 2)])] {
        assert!(!plain(&[number.clone(), other]).is_identity());
    }
    let standard = |values: &[f64]| {
        let recipe = Recipe::fit(&[numbers("n", values)], &options(Scale::Standard, Missing::Median)).recipe;
        (recipe.is_identity(), encoded(&recipe, &[Cell::Number(1.0)])[0])
    };
    // Either is a change: another centre, another divisor.
    assert_eq!(standard(&[-1.0, 0.0, 1.0]), (true, 1.0));
    assert_eq!(standard(&[0.0, 1.0, 2.0]), (false, 0.0));
    assert_eq!(standard(&[-2.0, 0.0, 2.0]), (false, 0.5));
}
