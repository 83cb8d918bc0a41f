//! What becomes of the columns of a table before a map sees them: looked at first, said, and then done.

use crate::args::ColumnArgs;
use crate::files::Files;
use crate::progress::Screen;
use anyhow::{Result, bail};
use lion_table::{Plan, PlanOptions, PlannedColumn, ReadOptions, Treatment, quoted};
use lion_tsne::recipe::{Recipe, Scale};
use serde::Serialize;
use std::fmt::Write;

/// A table that is ready to be read.
pub(crate) struct Prepared {
    pub(crate) files: Files,
    /// How it is to be read.
    pub(crate) options: ReadOptions,
    /// Nothing where nobody looked.
    pub(crate) plan: Option<Plan>,
}

/// What a column is and what becomes of it, as JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ColumnFact {
    pub(crate) name: String,
    /// number, boolean, date, category, text, list, empty, other, id, label, group.
    pub(crate) what: &'static str,
    /// What its cells are like.
    pub(crate) holds: String,
    pub(crate) gaps: u64,
    /// as is, encoded, left out, problem.
    pub(crate) treatment: &'static str,
    /// The same in words.
    pub(crate) words: String,
}

impl From<&PlannedColumn> for ColumnFact {
    fn from(column: &PlannedColumn) -> Self {
        let treatment = match column.treatment {
            Treatment::AsIs => "as is",
            Treatment::Encoded => "encoded",
            Treatment::LeftOut => "left out",
            Treatment::Problem => "problem",
        };
        let PlannedColumn { name, what, holds, gaps, words, .. } = column.clone();
        Self { name, what, holds, gaps, treatment, words }
    }
}

impl Prepared {
    /// Looks at a table, unless that was not asked for or its format leaves no question.
    pub(crate) fn new(
        files: Files,
        asked: &ReadOptions,
        args: &ColumnArgs,
        shares_unit: bool,
    ) -> Result<Self> {
        let is_array = files.paths().all(lion_table::is_array) && args.missing.is_none();
        if args.strict || is_array && matches!(args.scale, Scale::Auto | Scale::None) {
            return Ok(Self { files, options: asked.clone(), plan: None });
        }
        let files = files.read_again()?;
        let plan = plan(&files, asked, args, shares_unit)?;
        Ok(Self { options: plan.options.clone(), files, plan: Some(plan) })
    }

    /// Refuses a table of which some columns cannot be used: all of them at once, with the command that would work.
    pub(crate) fn check(&self, command: impl Fn(&[String]) -> String) -> Result<()> {
        let Some(plan) = &self.plan else { return Ok(()) };
        let names: Vec<String> = plan.problems().map(|column| column.name.clone()).collect();
        let file = self.files.shown();
        if names.is_empty() && plan.features() == 0 {
            let columns: Vec<String> =
                plan.columns.iter().map(|column| format!("{} ({})", column.name, column.what)).collect();
            bail!(
                "{file} has no column that a map could be made of; the columns there are: {}",
                columns.join(", ")
            );
        }
        if names.is_empty() {
            return Ok(());
        }
        let command = if plan.features() == 0 { String::new() } else { command(&names) };
        if let [name] = &names[..] {
            let sentence = plan.problems().map(|column| column.sentence(&file)).collect::<String>();
            match command.is_empty() {
                true => bail!("{sentence}; correct it"),
                false => bail!(
                    "{sentence}; correct it or leave the column out with --exclude {}: {command}",
                    quoted(name)
                ),
            }
        }
        let mut words = format!("{file} has {} columns that cannot be used:\n", names.len());
        for column in plan.problems() {
            let _ = writeln!(words, "  {} ({}): {}", column.name, column.what, column.words);
        }
        match command.is_empty() {
            true => bail!("{words}correct the cells"),
            false => bail!("{words}correct the cells, or leave the columns out:\n  {command}"),
        }
    }

    /// Says what becomes of its columns.
    pub(crate) fn say(&self, screen: &Screen) {
        if let Some(plan) = &self.plan {
            say(plan, screen);
        }
    }

    /// The recipe, where it does something.
    pub(crate) fn recipe(&self) -> Option<&Recipe> {
        self.plan.as_ref().and_then(Plan::recipe).map(|recipe| &**recipe)
    }

    /// Whether rows are left out.
    pub(crate) fn drops(&self) -> bool {
        self.options.encoder.as_ref().is_some_and(|encoder| encoder.drop)
    }

    /// The numbers of the rows that are not left out, if some may be. The table is read for it.
    pub(crate) fn kept(&self) -> Result<Option<Vec<u32>>> {
        if !self.drops() {
            return Ok(None);
        }
        // Without a column of ids, rows have their numbers in the whole table.
        let options = ReadOptions { id: None, label: None, group: None, ..self.options.clone() };
        let mut kept = Vec::new();
        for batch in self.files.open_plainly(&options)?.with_repeated_ids() {
            kept.extend(batch?.ids.iter().flatten().filter_map(|id| id.parse::<u32>().ok()));
        }
        Ok(Some(kept))
    }

    /// All rows of the table, where somebody has looked.
    pub(crate) fn all_rows(&self) -> Option<usize> {
        self.plan.as_ref().and_then(|plan| usize::try_from(plan.rows).ok())
    }

    /// The columns as JSON has them.
    pub(crate) fn columns(&self) -> Vec<ColumnFact> {
        self.plan.iter().flat_map(|plan| &plan.columns).map(ColumnFact::from).collect()
    }
}

/// What would become of a table.
pub(crate) fn plan(files: &Files, asked: &ReadOptions, args: &ColumnArgs, shares_unit: bool) -> Result<Plan> {
    // The same roles as when it is read: tables of live points have some of their own.
    let asked = files.options(asked);
    let survey = files.survey(&asked)?;
    let choice = PlanOptions { scale: args.scale, missing: args.missing, shares_unit };
    Ok(Plan::new(&survey, &asked, &choice))
}

/// One line for each column that is no plain number, and what else a person should know.
fn say(plan: &Plan, screen: &Screen) {
    let is_worth_a_word = |column: &&PlannedColumn| match column.treatment {
        Treatment::AsIs => false,
        Treatment::Encoded => column.what != "number" || column.gaps > 0 || column.words.contains(';'),
        Treatment::LeftOut => !matches!(column.what, "id" | "label" | "group" | "row number" | "-"),
        Treatment::Problem => false,
    };
    for column in plan.columns.iter().filter(is_worth_a_word) {
        screen.say(&format!("column {} ({}): {}", column.name, column.what, column.words));
    }
    if let Some(scale) = &plan.scale {
        screen.say(&format!("note: {scale}"));
    }
    for note in &plan.notes {
        screen.say(&format!("note: {note}"));
    }
    for warning in &plan.warnings {
        screen.say(&format!("warning: {warning}"));
    }
}
