//! `lion place`: new rows get places in a map, in one pass and in memory that does not grow with the table.

mod beside;
mod memory;
mod other;
mod outcome;
mod sheet;
mod spool;

pub(crate) use beside::GIVEN_LABEL;
pub(crate) use outcome::{VerdictCounts, VerdictTally};
pub(crate) use sheet::{PlacementSheet, SheetWriter, field, values};
pub(crate) use spool::Record;

use crate::args::{Common, PlaceArgs};
use crate::files::{Ahead, FileBatch, Files};
use crate::fit::{is_numbered, located};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::{Phase, Reporter, Screen};
use crate::summary::counted;
use anyhow::{Context, Result, anyhow, bail, ensure};
use beside::BesideColumns;
use lion_evaluate::Judge;
use lion_table::{Batches, Encoder, Origins, ReadOptions, SurveyedColumn, Table};
use lion_tsne::lion::{GivenPositions, PendingOutliers, Resolved};
use lion_tsne::recipe::{ColumnSummary, Missing, Recipe};
use lion_tsne::{Lion, LionOptions, Map, Matrix, Verdict};
use memory::PlaceMemory;
use other::Other;
use outcome::PlaceOutcome;
use spool::Spool;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows written at a time.
const WRITTEN_ROWS: usize = 8192;

/// Places the rows of a table and writes what comes of it.
pub(crate) fn run(args: &PlaceArgs, common: &Common) -> Result<()> {
    let files = Files::expand(&args.data)?;
    if let Some(file) = args.output_file() {
        output::check(file, &args.inputs(&files))?;
    }
    let screen = Screen::new(common);
    let sentence = "stopped: nothing was written, and an old file is as it was";
    let interrupt = Interrupt::install_ending(&screen, sentence)?;
    let phases = if args.rules.is_lion() { Phase::OF_PLACE } else { Phase::OF_PLACE_OTHERWISE };
    let mut reporter = Reporter::new(screen.clone(), interrupt.clone(), phases);
    for idle in args.rules.idle_flags() {
        screen.say(&format!("note: {idle}"));
    }
    screen.detail(&format!("reading {}", files.shown()));
    let map = Map::load(&args.map)?;
    let checksum = map.checksum()?;
    // What comes once is copied where it has to be looked at first.
    let files = if map.recipe().is_some() { files.read_again()? } else { files };
    let table = open(&args.map, &args.table.read_options(), &files, &map, Gaps::Refused, &screen)?;
    let options = LionOptions { fdr: args.rules.fdr, ..args.rules.lion.options(common) };
    let memory = PlaceMemory::check(args, &map, &options, &table, &screen)?;
    let lion = Lion::new(map, &options).with_context(|| args.map.display().to_string())?;
    let judge = if args.has_labels() { Some(judge(args, lion.map())?) } else { None };
    let labels = Labelling::new(args, &files, judge.as_ref(), table.row_count())?;
    let beside = BesideColumns::new(args, &files, lion.map(), &screen)?;
    let other = Other::build(args, &lion, common, &screen, &mut reporter)?;

    let placing = PlaceJob {
        lion: &lion,
        other: other.as_ref(),
        args,
        files: &files,
        judge: judge.as_ref(),
        labels: &labels,
    };
    reporter.enter(Phase::Place);
    let (spool, pending) = placing.resolve(table, &memory, &mut reporter)?;
    let needs = memory.needs(pending.len());
    reporter.enter(Phase::Outliers);
    let outliers = lion.give_positions(pending, spool.rows());
    reporter.enter(Phase::Write);
    let mut tally = placing.write(spool, outliers, beside, &interrupt)?;
    tally.needs = needs;

    let outcome =
        PlaceOutcome::new(&lion, other.as_ref(), &options, args, tally, checksum, reporter.finish());
    if let Some(warning) = outcome.warning() {
        screen.say(&warning);
    }
    if args.output_file().is_none() {
        // Standard output is taken.
        screen.say(outcome.facts().lines().trim_end());
        return Ok(());
    }
    output::present(common, &outcome, || outcome.in_words(args))
}

/// What becomes of rows with gaps where the map was fitted without such rows. Maps that fill gaps always do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// For a table of which every row has a row of the output.
    Refused,
    LeftOut,
}

/// Opens a table of rows for a map and refuses one that does not go with it. Rows are placed whatever their names are:
/// nothing need be remembered of them.
pub(crate) fn open(
    file: &Path,
    options: &ReadOptions,
    files: &Files,
    map: &Map,
    gaps: Gaps,
    screen: &Screen,
) -> Result<Batches> {
    Ok(open_distinct(file, options, files, map, gaps, screen)?.with_repeated_ids())
}

/// Reads such a table whole and says how many of its rows are left out. Rows have the ids of a column alone, not their numbers.
pub(crate) fn read_whole(
    table: Batches,
    options: &ReadOptions,
    files: &Files,
    screen: &Screen,
) -> Result<(Table, Origins)> {
    let (mut table, origins) = table.into_table_of_files()?;
    table.ids = table.ids.filter(|_| files.options(options).id.is_some());
    match origins.left_out().len() {
        0 => {}
        1 => screen.say("note: 1 row with a gap is left out, because the map was fitted without such rows"),
        rows => screen.say(&format!(
            "note: {rows} rows with gaps are left out, because the map was fitted without such rows"
        )),
    }
    Ok((table, origins))
}

/// The same for rows that must have names of their own.
pub(crate) fn open_distinct(
    file: &Path,
    options: &ReadOptions,
    files: &Files,
    map: &Map,
    gaps: Gaps,
    screen: &Screen,
) -> Result<Batches> {
    if let Some(recipe) = map.recipe() {
        return by_recipe(file, options, files, recipe, gaps, screen);
    }
    let table = match map.columns() {
        Some(names) if options.columns.is_none() => {
            by_name(file, files, options, names.map(str::to_owned).collect())?
        }
        _ => files.open(options)?,
    };
    let (found, wanted) = (table.columns().len(), map.preprocess().input_dims());
    ensure!(
        found == wanted,
        "{} has {found} columns to use, and {} wants {wanted}, those it was fitted to: choose with --columns or --exclude, and name others with --id and --label",
        files.shown(),
        file.display()
    );
    Ok(table)
}

/// Opens the table with the columns that the map's recipe makes numbers of. All rows are looked at first, where they can be read
/// again: how texts are written, and whether a unit is another, is not for one cell to tell.
fn by_recipe(
    file: &Path,
    options: &ReadOptions,
    files: &Files,
    recipe: &Recipe,
    gaps: Gaps,
    screen: &Screen,
) -> Result<Batches> {
    let options = ReadOptions { columns: None, ..files.options(options) };
    let drop = gaps == Gaps::LeftOut && recipe.missing() == Missing::Drop;
    let mut encoder = Encoder { recipe: Arc::new(recipe.clone()), readings: Vec::new(), drop };
    if !files.is_read_once() {
        let survey = files.survey(&options)?;
        encoder.readings =
            survey.columns.iter().map(|column| (column.name.clone(), column.reading)).collect();
        let summaries: Vec<ColumnSummary> =
            survey.columns.into_iter().filter_map(SurveyedColumn::into_summary).collect();
        for difference in recipe.check(&summaries) {
            screen.say(&format!("warning: {difference}"));
        }
    }
    let opened = files.open(&ReadOptions { encoder: Some(encoder), ..options });
    opened.map_err(|error| match error {
        lion_table::Error::NoSuchColumn { column, there, .. } => anyhow!(
            "{} has no column {column}, which {} was fitted to; the columns there are: {there}",
            files.shown(),
            file.display()
        ),
        error => error.into(),
    })
}

/// Opens the table with the columns that the map was fitted to, or with the column of lists whose items they are, whatever
/// their order in the file and whatever else is in it. A table without names must have them in the map's order.
fn by_name(file: &Path, files: &Files, options: &ReadOptions, names: Vec<String>) -> Result<Batches> {
    // Standard input cannot be opened a second time.
    if !files.is_read_once() {
        let list = lion_table::list_of_items(&names).map(|list| vec![list.to_owned()]);
        for columns in [Some(names.clone()), list].into_iter().flatten() {
            match files.open(&ReadOptions { columns: Some(columns), ..options.clone() }) {
                Err(lion_table::Error::NoSuchColumn { .. } | lion_table::Error::AmbiguousColumn { .. }) => {}
                opened => return Ok(opened?),
            }
        }
    }
    let table = files.open(options)?;
    let columns = table.columns();
    if is_numbered(columns) || columns == names {
        return Ok(table);
    }
    let (data, map) = (files.shown(), file.display());
    match names.iter().find(|name| !columns.contains(name)) {
        Some(missing) => bail!(
            "{data} has no column {missing}, which {map} was fitted to: rename one, or give columns in the map's order with --columns"
        ),
        None => bail!(
            "{data} has the columns of {map} and others, or in another order: give --columns {}",
            names.join(",")
        ),
    }
}

/// Makes the map's labels ready for comparing those of new rows with them.
fn judge(args: &PlaceArgs, map: &Map) -> Result<Judge> {
    ensure!(
        map.labels().is_some(),
        "{} has no labels to compare those of the new rows with: leave --labels out, or say --exclude instead of --label",
        args.map.display()
    );
    Ok(Judge::new(map)?)
}

/// The labels of new rows, as codes of the map's own.
enum Labelling<'a> {
    None,
    /// They come with the rows.
    Column(&'a Judge),
    /// They were read from a file of their own.
    File(Vec<u32>),
}

impl<'a> Labelling<'a> {
    fn new(args: &PlaceArgs, files: &Files, judge: Option<&'a Judge>, rows: Option<usize>) -> Result<Self> {
        let Some(judge) = judge else { return Ok(Self::None) };
        let Some(file) = &args.table.labels else { return Ok(Self::Column(judge)) };
        let codes: Vec<u32> = lion_table::read_labels(file)?.iter().map(|label| judge.code(label)).collect();
        if let Some(rows) = rows {
            check_count(args, files, codes.len(), rows)?;
        }
        Ok(Self::File(codes))
    }

    /// The code of row `row` of the table, which came with this label.
    fn code(&self, row: usize, label: Option<&String>) -> u32 {
        match (self, label) {
            (Self::Column(judge), Some(label)) => judge.code(label),
            (Self::File(codes), _) => codes.get(row).copied().unwrap_or(Judge::UNKNOWN),
            _ => Judge::UNKNOWN,
        }
    }
}

/// Refuses labels that are not one for each row.
fn check_count(args: &PlaceArgs, files: &Files, labels: usize, rows: usize) -> Result<()> {
    let file = args.table.labels.as_deref().unwrap_or(Path::new("")).display();
    ensure!(
        labels == rows,
        "{file} has {}, and {} has {}: there must be one for each row",
        counted(labels, "label"),
        files.shown(),
        counted(rows, "row")
    );
    Ok(())
}

/// The two passes: over the table, and over what was set aside of it.
struct PlaceJob<'a> {
    lion: &'a Lion,
    /// There if places are another method's.
    other: Option<&'a Other>,
    args: &'a PlaceArgs,
    files: &'a Files,
    /// There if rows have labels.
    judge: Option<&'a Judge>,
    labels: &'a Labelling<'a>,
}

impl PlaceJob<'_> {
    /// Places all rows but outliers, which know their positions only once all of them are there.
    fn resolve(
        &self,
        table: Batches,
        memory: &PlaceMemory,
        reporter: &mut Reporter,
    ) -> Result<(Spool, PendingOutliers)> {
        let (columns, total) = (table.columns().to_vec(), table.row_count());
        let mut spool = Spool::new(&self.spool_folder()).map_err(|error| self.unwritten(error))?;
        let mut pending = self.lion.pending_outliers();
        for batch in Ahead::new(table) {
            let FileBatch { rows: Table { rows, cols, data, ids, labels, .. }, at } = batch?;
            let before = at.before;
            let rows = Matrix::new(rows, cols, data)?;
            let resolved = self.lion.resolve(&rows).map_err(|error| {
                located(error, &self.files.shown(), &columns, |row, column| at.locate(row, column))
            })?;
            let places = self.other.map(|other| other.places(&rows)).transpose()?;
            let mut ids = ids.map(Vec::into_iter);
            for (i, resolved) in resolved.into_iter().enumerate() {
                let id = ids.as_mut().and_then(Iterator::next);
                let label = self.labels.code(before + i, labels.as_ref().and_then(|labels| labels.get(i)));
                let mut record = Record { id, placement: resolved.placement().clone(), label };
                match (&places, resolved) {
                    (Some(places), _) if self.is_otherwise(record.placement.verdict) => {
                        record.placement.place = places.row(i).to_vec().try_into()?;
                    }
                    (_, Resolved::Outlier(outlier)) => pending.push(outlier),
                    _ => {}
                }
                spool.push(&record).map_err(|error| self.unwritten(error))?;
            }
            memory.check_pending(pending.len(), spool.rows())?;
            reporter.rows(spool.rows(), total);
        }
        if let Labelling::File(codes) = self.labels {
            check_count(self.args, self.files, codes.len(), spool.rows())?;
        }
        Ok((spool, pending))
    }

    /// Writes all rows in the order of the table, the outliers at the positions that they were given.
    fn write(
        &self,
        spool: Spool,
        mut outliers: GivenPositions,
        beside: BesideColumns,
        interrupt: &Interrupt,
    ) -> Result<VerdictTally> {
        let mut tally = VerdictTally::default();
        let mut sheet = SheetWriter::with_columns(&self.args.output, self.lion.map(), beside)?;
        let mut records = spool.read().map_err(|error| self.unwritten(error))?;
        loop {
            let batch = records.by_ref().take(WRITTEN_ROWS).collect::<std::io::Result<Vec<Record>>>();
            let mut batch = batch.map_err(|error| self.unwritten(error))?;
            if batch.is_empty() {
                break;
            }
            let waits = |record: &&mut Record| {
                let verdict = record.placement.verdict;
                self.lion.waits(verdict) && !self.is_otherwise(verdict)
            };
            for record in batch.iter_mut().filter(waits) {
                let given = outliers.next().context("an outlier was left without a position")?;
                record.placement = given.complete(record.placement.clone());
            }
            tally.add(batch.iter().map(|record| &record.placement));
            if let Some(judge) = self.judge {
                tally.right += shares(judge, self.lion.map().dims(), &batch)?;
            }
            sheet.write(&batch)?;
        }
        interrupt.too_late();
        sheet.finish()?;
        tally.accuracy = self.judge.map(|_| tally.right / tally.counts.rows.max(1) as f64);
        Ok(tally)
    }

    /// Whether a row of this verdict has its place from another method.
    fn is_otherwise(&self, verdict: Verdict) -> bool {
        self.other.is_some_and(|other| other.places_those(verdict))
    }

    /// Where there will be room: beside the output.
    fn spool_folder(&self) -> PathBuf {
        self.args.output_file().map_or_else(std::env::temp_dir, |file| output::folder_of(file).to_path_buf())
    }

    fn unwritten(&self, error: std::io::Error) -> anyhow::Error {
        match self.args.output_file() {
            Some(file) => anyhow!(error).context(output::left_as_it_was(file)),
            None => anyhow!(error).context("there is no room to set placed rows aside"),
        }
    }
}

/// The sum of what [`Judge::shares_of_codes`] says of a batch.
fn shares(judge: &Judge, dims: usize, batch: &[Record]) -> Result<f64> {
    let places = batch.iter().flat_map(|record| &record.placement.place[..]).copied().collect();
    let codes: Vec<u32> = batch.iter().map(|record| record.label).collect();
    Ok(judge.shares_of_codes(&Matrix::new(batch.len(), dims, places)?, &codes)?.iter().sum())
}

impl PlaceArgs {
    /// Every file that is read.
    fn inputs<'a>(&'a self, files: &'a Files) -> Vec<&'a Path> {
        let beside = [Some(self.map.as_path()), self.table.labels.as_deref()];
        beside.into_iter().flatten().chain(files.paths()).collect()
    }

    fn has_labels(&self) -> bool {
        self.table.label.is_some() || self.table.labels.is_some()
    }
}
