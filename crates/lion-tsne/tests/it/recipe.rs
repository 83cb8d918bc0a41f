//! A map with a recipe: kept in the file, refused when it does not fit, undone by `original`, and fair to new rows.

use lion_tsne::map::OriginalValues;
use lion_tsne::numerics::Random;
use lion_tsne::recipe::{Cell, ColumnSummary, Kind, Missing, Recipe, RecipeOptions, Scale};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, PcaChoice, Verdict, ignore};

const PLANS: [&str; 3] = ["free", "plus", "pro"];

/// Rows of four kinds and four units.
fn cells(rows: usize, seed: u64) -> Vec<[Cell<'static>; 4]> {
    let mut random = Random::new(seed);
    let row = |_| {
        let plan = (3.0 * random.uniform()) as usize % 3;
        [
            Cell::Number(1e9 + 40.0 * random.uniform() + 25.0 * plan as f64),
            Cell::Text(PLANS[plan].into()),
            Cell::Date(19_000.0 + 700.0 * random.uniform()),
            Cell::Boolean(random.uniform() < 0.3),
        ]
    };
    (0..rows).map(row).collect()
}

fn recipe(rows: &[[Cell<'static>; 4]]) -> Recipe {
    let kinds =
        [("money", Kind::Number), ("plan", Kind::Category), ("since", Kind::Date), ("active", Kind::Boolean)];
    let mut columns = kinds.map(|(name, kind)| ColumnSummary::new(name, kind));
    for (number, row) in (0..).zip(rows) {
        columns.iter_mut().zip(row).for_each(|(column, cell)| column.add(number, cell));
    }
    let options = RecipeOptions { scale: Scale::Standard, missing: Missing::Median, shares_unit: false };
    Recipe::fit(&columns, &options).recipe
}

fn encoded(recipe: &Recipe, rows: &[[Cell<'static>; 4]]) -> Matrix {
    let mut data = Vec::new();
    rows.iter().for_each(|row| recipe.encode(row, &mut data).unwrap());
    Matrix::new(rows.len(), recipe.width(), data).unwrap()
}

/// A map of rows at places that are of no interest here.
fn map(rows: &[[Cell<'static>; 4]], pca: PcaChoice) -> Map {
    let recipe = recipe(rows);
    let places = (0..2 * rows.len()).map(|v| ((v * 37) % 1009) as f32).collect();
    let places = Matrix::new(rows.len(), 2, places).unwrap();
    let fit = Fit { threads: 1, pca, ..Fit::default() };
    fit.adopt(encoded(&recipe, rows), places, &mut ignore).unwrap().with_recipe(recipe).unwrap()
}

#[test]
fn a_recipe_is_kept_in_the_file() {
    let map = map(&cells(60, 1), PcaChoice::None);
    let again = Map::from_bytes(&map.to_bytes().unwrap()).unwrap();
    assert_eq!(again.recipe(), map.recipe());
    assert_eq!(again, map);
    let names: Vec<&str> = again.columns().unwrap().collect();
    assert_eq!(names, ["money", "plan=free", "plan=plus", "plan=pro", "plan (other)", "since", "active"]);
}

#[test]
fn a_recipe_of_another_width_is_refused() {
    let rows = Matrix::new(5, 2, (0..10).map(|v| v as f32).collect()).unwrap();
    let plain = Fit { threads: 1, ..Fit::default() }.adopt(rows.clone(), rows, &mut ignore).unwrap();
    let refused = plain.with_recipe(recipe(&cells(30, 2))).unwrap_err().to_string();
    assert!(refused.contains("2 columns but 7 names"), "{refused}");
}

#[test]
fn original_values_come_back() {
    let rows = cells(80, 3);
    let map = map(&rows, PcaChoice::None);
    let original = map.original();
    assert_eq!((original.len(), original.approximate()), (4, None));
    assert_eq!((original.name(2), original.kind(2)), ("since".to_owned(), Kind::Date));
    for (column, tolerance) in [(0, 1e-4), (2, 1e-2), (3, 1e-6)] {
        let OriginalValues::Numbers(values) = original.values(column) else { panic!("these are numbers") };
        for (row, value) in rows.iter().zip(values) {
            let expected = match row[column] {
                Cell::Number(value) | Cell::Date(value) => value,
                Cell::Boolean(value) => f64::from(u8::from(value)),
                _ => panic!("these are numbers"),
            };
            assert!((value - expected).abs() <= tolerance, "column {column}: {value} is not {expected}");
        }
    }
    let plans = original.values(1);
    assert!((0..80).all(|row| plans.cell(row, Kind::Category).as_ref() == Some(&rows[row][1])));
}

#[test]
fn a_pca_gives_them_back_as_far_as_it_goes() {
    let rows = cells(200, 4);
    let whole = map(&rows, PcaChoice::Components(7));
    let OriginalValues::Numbers(values) = whole.original().values(0) else { panic!("these are numbers") };
    assert!(
        rows.iter()
            .zip(values)
            .all(|(row, value)| matches!(row[0], Cell::Number(v) if (v - value).abs() < 0.01))
    );
    let lossy = map(&rows, PcaChoice::Components(3));
    assert!(lossy.original().approximate().is_some_and(|why| why.contains("principal components")));
    let plans = lossy.original().values(1);
    let right =
        (0..200).filter(|&row| plans.cell(row, Kind::Category).as_ref() == Some(&rows[row][1])).count();
    // Three of seven components: far more than the third that chance gives.
    assert!(right > 130, "{right}");
}

#[test]
fn names_of_a_plain_map_are_its_columns() {
    let rows = Matrix::new(5, 2, (0..10).map(|v| v as f32).collect()).unwrap();
    let plain = Fit { threads: 1, ..Fit::default() }.adopt(rows.clone(), rows, &mut ignore).unwrap();
    assert_eq!(plain.original().name(1), "c2");
    assert_eq!(plain.original().values(1), OriginalValues::Numbers(vec![1.0, 3.0, 5.0, 7.0, 9.0]));
}

/// Scaling is fitted to the rows that calibrate verdicts. On small tables, where that could matter most, the promised share of new
/// rows is called outliers all the same.
#[test]
fn scaling_by_the_rows_keeps_what_verdicts_promise() {
    const ALPHA: f64 = 0.1;
    let share = |rows: usize| {
        let (mut called, mut all) = (0, 0);
        // Each table has luck of its own, so many are averaged.
        for seed in 0..60 {
            let map = map(&cells(rows, 100 + seed), PcaChoice::None);
            let new = encoded(map.recipe().unwrap(), &cells(200, 900 + seed));
            let lion =
                Lion::new(map, &LionOptions { alpha: Some(ALPHA), threads: 1, ..LionOptions::default() })
                    .unwrap();
            let outliers = [Verdict::Outlier, Verdict::BesideOutlier];
            called += lion.place(&new).unwrap().iter().filter(|row| outliers.contains(&row.verdict)).count();
            all += 200;
        }
        called as f64 / all as f64
    };
    for rows in [60, 150] {
        let share = share(rows);
        assert!((0.8 * ALPHA..=1.25 * ALPHA).contains(&share), "{rows} rows: {share}");
    }
}
