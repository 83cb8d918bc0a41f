//! What is done to the columns of a table before a map sees them, and the way back.
//!
//! - A [`Cell`] is one value of a table: a number, a boolean, a date, a text, or nothing.
//! - A [`ColumnSummary`] is what one pass over a column tells: its kind, its gaps, mean and spread, its levels.
//! - A [`Recipe`] is fitted to such summaries as [`RecipeOptions`] say. It belongs to the map and is applied to every later row:
//!   [`Recipe::encode`] makes numbers of cells, [`Recipe::decode`] makes cells of numbers.
//! - [`Recipe::check`] tells in which columns another table differs from the one that the recipe was fitted to.
//!
//! It knows no file format and no map. It is a crate because `lion-tsne`, which keeps a recipe with a map, and `lion-table`, which
//! reads cells, do not know each other.
//!
//! ```
//! use lion_recipe::{Cell, ColumnSummary, Kind, Recipe, RecipeOptions};
//!
//! let mut age = ColumnSummary::new("age", Kind::Number);
//! let mut plan = ColumnSummary::new("plan", Kind::Category);
//! for (row, (years, name)) in [(20.0, "free"), (40.0, "paid"), (60.0, "free"), (40.0, "paid")].into_iter().enumerate() {
//!     age.add(row as u64, &Cell::Number(years));
//!     plan.add(row as u64, &Cell::Text(name.into()));
//! }
//! let fitted = Recipe::fit(&[age, plan], &RecipeOptions::default());
//! let recipe = fitted.recipe;
//! assert_eq!(recipe.output_names(), ["age", "plan=free", "plan=paid", "plan (other)"]);
//!
//! let mut row = Vec::new();
//! recipe.encode(&[Cell::Number(40.0), Cell::Text("paid".into())], &mut row)?;
//! assert_eq!(row, [0.0, 0.0, 1.0, 0.0]);
//! assert_eq!(recipe.decode(&row), [Cell::Number(40.0), Cell::Text("paid".into())]);
//! # Ok::<(), lion_recipe::Unencodable>(())
//! ```

mod cell;
mod check;
mod date;
mod fit;
mod levels;
mod numbers;
mod recipe;
mod summary;

pub use cell::{Cell, Kind};
pub use check::Difference;
pub use date::{date_in_words, day_number};
pub use fit::{FittedRecipe, RecipeOptions};
pub use numbers::Numbers;
pub use recipe::{BadRecipe, Encoding, Missing, Recipe, RecipeColumn, Scale, Scaling, Unencodable, Why};
pub use summary::ColumnSummary;
