//! `lion update`: a map takes in new rows and keeps its shape.

use crate::args::{Common, UpdateArgs};
use crate::files::Files;
use crate::fit::{self, located};
use crate::interrupt::Interrupt;
use crate::output;
use crate::place::{self, Gaps};
use crate::progress::{Phase, Reporter, Screen};
use crate::shown;
use crate::summary::{MapSummary, counted};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lion_table::{Origins, Table};
use lion_tsne::lion::LionParameters;
use lion_tsne::map::{ShownColumns, UpdateStep};
use lion_tsne::update::{Forget, Update, Updated};
use lion_tsne::{Map, Matrix, Rows};
use serde::Serialize;
use std::path::Path;

/// The JSON object: that of `fit`, and what the update did.
#[derive(Serialize)]
struct UpdateSummary {
    #[serde(flatten)]
    map: MapSummary,
    /// 1 is a fit, 2 its first update, and so on.
    version: usize,
    #[serde(flatten)]
    step: UpdateStepSummary,
    /// New rows that begin as a cluster of their own, one count for each cluster.
    new_clusters: Vec<usize>,
    /// Clusters of the old map that have no row any more.
    emptied: Vec<String>,
    /// Components that the PCA was widened by.
    widened: usize,
}

#[derive(Serialize)]
struct UpdateStepSummary {
    parent: String,
    added: u64,
    removed: u64,
    moved_median: f64,
    moved_p90: f64,
    stability: f64,
}

/// Updates the map and writes it.
pub(crate) fn run(args: &UpdateArgs, common: &Common) -> Result<()> {
    let files = if args.data.is_empty() { None } else { Some(Files::expand(&args.data)?) };
    let base = args.rows.as_ref().map(|path| Files::expand(std::slice::from_ref(path))).transpose()?;
    ensure!(
        files.is_some() || args.forget.is_some() || args.keep.is_some(),
        "there is no new row: give a table, or --forget or --keep"
    );
    let tables = [&files, &base].into_iter().flatten().flat_map(Files::paths);
    let inputs: Vec<&Path> = tables
        .chain([args.map.as_path()])
        .chain(args.table.labels.as_deref())
        .chain(args.forget.as_deref())
        .collect();
    output::check(&args.output, &inputs)?;
    let screen = Screen::new(common);
    let interrupt = Interrupt::install(&screen)?;
    let mut reporter = Reporter::new(screen.clone(), interrupt, &Phase::of_fit(false));
    let old = Map::load_whole(&args.map)?;
    let (new, columns, origins, shown) = match &files {
        Some(files) => {
            screen.detail(&format!("reading {}", files.shown()));
            let read = NewRows::read(args, files, &old, &screen)?;
            (read.rows, read.columns, Some((files.shown(), read.origins)), read.shown)
        }
        None => (none_of(&old), Vec::new(), None, None),
    };
    let update = Update {
        stability: args.stability,
        anchoring: args.anchoring,
        forget: forgotten(args, &old)?,
        shown,
        rows: base.as_ref().map(|files| base_rows(args, files, &old, &screen)).transpose()?,
        seed: common.seed,
        threads: usize::from(common.threads),
    };
    let updated = update.run(&old, new, &mut |progress| reporter.observe(progress));
    let updated = updated.map_err(|error| match &origins {
        Some((table, origins)) => located(error, table, &columns, |row, column| origins.cell(row, column)),
        None => anyhow!(error).context(args.map.display().to_string()),
    })?;
    for note in notes(&old, &updated, args) {
        screen.say(&format!("note: {note}"));
    }
    let Updated { map, step, new_clusters, emptied, widened, .. } = updated;
    let summary = UpdateSummary {
        map: fit::write(&map, &args.output, reporter)?,
        version: map.provenance().lineage.len() + 1,
        step: UpdateStepSummary::new(step),
        new_clusters,
        emptied,
        widened,
    };
    output::present(common, &summary, || summary.in_words(args))
}

impl UpdateStepSummary {
    fn new(step: UpdateStep) -> Self {
        let UpdateStep { parent, added, removed, moved_median, moved_p90, stability, .. } = step;
        Self { parent, added, removed, moved_median, moved_p90, stability }
    }
}

/// What a person should know before the facts.
fn notes(old: &Map, updated: &Updated, args: &UpdateArgs) -> Vec<String> {
    let mut notes = Vec::new();
    let is_calibrated = |map: &Map| map.lion().is_some_and(LionParameters::is_calibrated);
    if is_calibrated(old) && !is_calibrated(&updated.map) {
        notes.push(match updated.widened {
            0 => format!(
                "verdicts are not calibrated, because the groups of {} are not known any more: lion calibrate {} --rows TABLE \
                 --group COL calibrates them",
                args.map.display(),
                args.output.display()
            ),
            _ => "verdicts are not calibrated, because the PCA was widened: --rows BASE makes it anew and calibrates them".into(),
        });
    }
    if let (Some(labels), true) = (updated.map.labels(), old.labels().is_some()) {
        let unlabelled = (0..updated.map.rows()).filter(|&row| labels.get(row).is_empty()).count();
        let before =
            (0..old.rows()).filter(|&row| old.labels().is_some_and(|l| l.get(row).is_empty())).count();
        if unlabelled > before && args.table.label.is_none() && args.table.labels.is_none() {
            notes.push(
                "rows of the map have labels and new rows have none: --label COL or --labels FILE gives them"
                    .into(),
            );
        }
    }
    if !updated.emptied.is_empty() {
        notes.push(format!("no row is left of {}", updated.emptied.join(", ")));
    }
    if updated.widened > 0 {
        notes.push(format!(
            "the PCA was widened by {} {}, because new rows stick out of it; how old rows vary there is not known",
            updated.widened,
            if updated.widened == 1 { "component" } else { "components" }
        ));
    }
    notes
}

impl UpdateSummary {
    fn in_words(&self, args: &UpdateArgs) -> String {
        let stopped =
            if self.map.stopped_early { "stopped early: this is the map reached by then\n" } else { "" };
        let mut facts = self.map.facts();
        let Self { version, new_clusters, .. } = self;
        let UpdateStepSummary { parent, added, removed, moved_median, moved_p90, .. } = &self.step;
        facts.add("version", format!("{version}, updated from {parent}"));
        let clusters = match &new_clusters[..] {
            [] => String::new(),
            [one] => format!("; {one} of them began as a cluster of their own"),
            many => {
                let sizes: Vec<String> = many.iter().map(usize::to_string).collect();
                format!("; {} began as clusters of their own, of {} rows", many.len(), sizes.join(", "))
            }
        };
        facts.add("new rows", format!("{added}{clusters}"));
        if *removed > 0 {
            facts.add("old rows taken out", removed.to_string());
        }
        facts.add(
            "old rows moved",
            format!("{moved_median:.3} map radii in the median, {moved_p90:.3} at the 90th percentile"),
        );
        let (old, new) = (args.map.display(), args.output.display());
        format!("{stopped}{}\nnext: lion diff {old} {new} -o diff.html\n", facts.lines())
    }
}

/// The new rows, with what is known of them.
struct NewRows {
    rows: Rows,
    columns: Vec<String>,
    origins: Origins,
    /// The columns for people, as far as the map has them.
    shown: Option<ShownColumns>,
}

impl NewRows {
    fn read(args: &UpdateArgs, files: &Files, old: &Map, screen: &Screen) -> Result<Self> {
        let labels = args.table.labels.as_deref().map(lion_table::read_labels).transpose()?;
        let options = args.table.read_options();
        let table = place::open_distinct(&args.map, &options, files, old, Gaps::LeftOut, screen)?;
        let (Table { rows, cols, data, columns, ids, labels: own, .. }, origins) =
            place::read_whole(table, &options, files, screen)?;
        ensure!(rows > 0, "{} has no new row", files.shown());
        let all = rows + origins.left_out().len();
        if let Some(labels) = &labels {
            ensure!(
                labels.len() == all,
                "{} has {}, and {} has {}: there must be one for each row",
                args.table.labels.as_deref().unwrap_or(Path::new("")).display(),
                counted(labels.len(), "label"),
                files.shown(),
                counted(all, "row")
            );
        }
        let is_kept = |row: &usize| origins.left_out().binary_search(row).is_err();
        let of_kept = |labels: Vec<String>| {
            labels.into_iter().enumerate().filter(|(row, _)| is_kept(row)).map(|(_, label)| label).collect()
        };
        let rows = Rows { data: Matrix::new(rows, cols, data)?, ids, labels: labels.map(of_kept).or(own) };
        let shown = match new_shown(files, old)? {
            Some(shown) if all > rows.data.rows() && shown.rows() == all => {
                let kept: Vec<u32> = (0..all).filter(is_kept).map(|row| row as u32).collect();
                Some(shown.followed(&kept, None, 0)?)
            }
            shown => shown,
        };
        Ok(Self { rows, columns, origins, shown })
    }
}

/// The columns for people of all rows of a table, as far as the map has them.
fn new_shown(files: &Files, old: &Map) -> Result<Option<ShownColumns>> {
    let names = shown::present(old, files);
    if names.is_empty() { Ok(None) } else { shown::read(files, &names).map(Some) }
}

fn none_of(old: &Map) -> Rows {
    Rows::from(Matrix::zeros(0, old.preprocess().input_dims()))
}

/// The rows that the old map was made of.
fn base_rows(args: &UpdateArgs, files: &Files, old: &Map, screen: &Screen) -> Result<Matrix> {
    let options = args.table.read_options();
    let table = place::open(&args.map, &options, files, old, Gaps::LeftOut, screen)?;
    let (Table { rows, cols, data, .. }, _) = place::read_whole(table, &options, files, screen)?;
    let rows = Matrix::new(rows, cols, data)?;
    old.check_original_rows(&rows).with_context(|| files.shown().to_string())?;
    Ok(rows)
}

/// Which rows go. Every id of the file must be one of the map's.
fn forgotten(args: &UpdateArgs, old: &Map) -> Result<Forget> {
    let keep = args.keep.map(|keep| keep as usize);
    let Some(path) = &args.forget else { return Ok(Forget { ids: Vec::new(), keep }) };
    let text = lion_table::read_text(path)?;
    let ids: Vec<String> =
        text.lines().map(|line| line.trim_end_matches('\r').to_owned()).filter(|id| !id.is_empty()).collect();
    let known: std::collections::HashSet<String> =
        (0..old.rows()).map(|row| old.id(row).into_owned()).collect();
    if let Some((line, id)) = ids.iter().enumerate().find(|(_, id)| !known.contains(*id)) {
        bail!("{}, line {}: no row of {} has the id {id:?}", path.display(), line + 1, args.map.display());
    }
    Ok(Forget { ids, keep })
}
