//! `lion place`: new rows get places in a map, in one pass and in memory that does not grow with the table.

mod sheet;
mod spool;

pub(crate) use sheet::{Placements, SheetWriter};
pub(crate) use spool::Record;

use crate::accuracy::{Judge, UNKNOWN};
use crate::args::{Common, PlaceArgs};
use crate::fit::{located, shown};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::{Phase, Phases, Reporter, Screen};
use crate::summary::{Facts, peak_memory, placing_in_words, seconds_in_words};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lion_table::{Batches, Table};
use lion_tsne::{Lion, LionOptions, Local, Map, Matrix, Placement, Settled, Stranger, Verdict};
use serde::Serialize;
use spool::Spool;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

/// Rows written at a time.
const WRITTEN_ROWS: usize = 8192;
/// Batches read ahead of the one that is being placed.
const AHEAD: usize = 2;
/// From this share of outliers on, something may be wrong with the table as a whole.
const SUSPICIOUS: f64 = 1.0 / 3.0;

/// Places the rows of a table and writes what comes of it.
pub(crate) fn run(args: &PlaceArgs, common: &Common) -> Result<()> {
    if let Some(file) = args.output_file() {
        output::check(file, &args.inputs())?;
    }
    let screen = Screen::new(common);
    let sentence = "stopped: nothing was written, and an old file is as it was";
    let interrupt = Interrupt::install_ending(&screen, sentence)?;
    let mut reporter = Reporter::new(screen.clone(), interrupt.clone(), Phase::OF_PLACE);
    if let Some(flag) = args.idle_flag() {
        screen.say(&format!("note: {flag} has no effect without --local idw"));
    }
    screen.detail(&format!("reading {}", shown(&args.data)));
    let map = Map::load(&args.map)?;
    let checksum = map.checksum()?;
    let table = open(args, &map)?;
    let options = args.options(common);
    let lion = Lion::new(map, &options).with_context(|| args.map.display().to_string())?;
    let judge = Judge::new(lion.map())?;
    let labels = Labelling::new(args, judge.as_ref(), table.row_count())?;

    let placing = Placing { lion: &lion, args, labels: &labels };
    reporter.enter(Phase::Place);
    let (spool, strangers) = placing.settle(table, &mut reporter)?;
    reporter.enter(Phase::Outliers);
    let outliers = lion.placer().give_positions(strangers);
    reporter.enter(Phase::Write);
    let tally = placing.write(spool, outliers, judge.as_ref(), &interrupt)?;

    let summary = Summary::new(&lion, &options, args, tally, checksum, reporter.finish());
    if let Some(warning) = summary.warning() {
        screen.say(&warning);
    }
    if args.output_file().is_none() {
        // Standard output is taken.
        screen.say(summary.facts().lines().trim_end());
        return Ok(());
    }
    output::present(common, &summary, || summary.in_words(args))
}

/// Opens the table and refuses one that does not go with the map.
fn open(args: &PlaceArgs, map: &Map) -> Result<Batches> {
    let table = lion_table::open(&args.data, &args.table.read_options())?;
    let (found, wanted) = (table.columns().len(), map.preprocess().input_dims());
    ensure!(
        found == wanted,
        "{} has {found} columns to use, and {} wants {wanted}, those it was fitted to: choose with --columns or --exclude, and name others with --id and --label",
        shown(&args.data),
        args.map.display()
    );
    Ok(table)
}

/// The labels of new rows, as codes of the map's own.
enum Labelling<'a> {
    None,
    /// They come with the rows.
    Column(&'a Judge<'a>),
    /// They were read from a file of their own.
    File(Vec<u32>),
}

impl<'a> Labelling<'a> {
    fn new(args: &PlaceArgs, judge: Option<&'a Judge<'a>>, rows: Option<usize>) -> Result<Self> {
        if args.table.label.is_none() && args.table.labels.is_none() {
            return Ok(Self::None);
        }
        let Some(judge) = judge else {
            bail!(
                "{} has no labels to compare those of the new rows with: leave out --label and --labels",
                args.map.display()
            );
        };
        let Some(file) = &args.table.labels else { return Ok(Self::Column(judge)) };
        let codes: Vec<u32> = lion_table::read_labels(file)?.iter().map(|label| judge.code(label)).collect();
        if let Some(rows) = rows {
            check_count(args, codes.len(), rows)?;
        }
        Ok(Self::File(codes))
    }

    /// The code of row `row` of the table, which came with this label.
    fn code(&self, row: usize, label: Option<&String>) -> u32 {
        match (self, label) {
            (Self::Column(judge), Some(label)) => judge.code(label),
            (Self::File(codes), _) => codes.get(row).copied().unwrap_or(UNKNOWN),
            _ => UNKNOWN,
        }
    }
}

/// Refuses labels that are not one for each row.
fn check_count(args: &PlaceArgs, labels: usize, rows: usize) -> Result<()> {
    let file = args.table.labels.as_deref().unwrap_or(Path::new("")).display();
    ensure!(
        labels == rows,
        "{file} has {labels} labels, and {} has {rows} rows: there must be one for each row",
        shown(&args.data)
    );
    Ok(())
}

/// The two passes: over the table, and over what was set aside of it.
struct Placing<'a> {
    lion: &'a Lion,
    args: &'a PlaceArgs,
    labels: &'a Labelling<'a>,
}

impl Placing<'_> {
    /// Places all rows but outliers, which know their positions only once all of them are there.
    fn settle(&self, table: Batches, reporter: &mut Reporter) -> Result<(Spool, Vec<Stranger>)> {
        let (columns, total) = (table.columns().to_vec(), table.row_count());
        let mut spool = Spool::new(&self.spool_folder()).map_err(|error| self.unwritten(error))?;
        let mut strangers = Vec::new();
        let (send, batches) = sync_channel(AHEAD);
        // Reading goes on meanwhile. Nobody waits for this thread after an error: it may wait for standard input.
        let reader = std::thread::spawn(move || {
            for batch in table {
                if send.send(batch).is_err() {
                    break;
                }
            }
        });
        for batch in batches {
            let Table { rows, cols, data, ids, labels, .. } = batch?;
            let before = spool.rows();
            let settled = self.lion.settle(&Matrix::new(rows, cols, data)?);
            let settled = settled.map_err(|error| located(error, &self.args.data, &columns, before))?;
            let mut ids = ids.map(Vec::into_iter);
            for (i, settled) in settled.into_iter().enumerate() {
                let id = ids.as_mut().and_then(Iterator::next);
                let label = self.labels.code(before + i, labels.as_ref().and_then(|labels| labels.get(i)));
                let record = match settled {
                    Settled::Placed(placement) => Record::new(id, label, &placement),
                    Settled::Outlier(stranger) => {
                        let record = Record::new(id, label, stranger.placement());
                        strangers.push(stranger);
                        record
                    }
                };
                spool.push(&record).map_err(|error| self.unwritten(error))?;
            }
            reporter.rows(spool.rows(), total);
        }
        ensure!(reader.join().is_ok(), "{} could not be read to its end", shown(&self.args.data));
        if let Labelling::File(codes) = self.labels {
            check_count(self.args, codes.len(), spool.rows())?;
        }
        Ok((spool, strangers))
    }

    /// Writes all rows in the order of the table, the outliers at the positions that they were given.
    fn write(
        &self,
        spool: Spool,
        outliers: Vec<Placement>,
        judge: Option<&Judge<'_>>,
        interrupt: &Interrupt,
    ) -> Result<Tally> {
        let judge = judge.filter(|_| !matches!(self.labels, Labelling::None));
        let (mut tally, mut outliers) = (Tally::default(), outliers.iter());
        let mut sheet = SheetWriter::create(&self.args.output, self.lion.map())?;
        let mut records = spool.read().map_err(|error| self.unwritten(error))?;
        loop {
            let batch = records.by_ref().take(WRITTEN_ROWS).collect::<std::io::Result<Vec<Record>>>();
            let mut batch = batch.map_err(|error| self.unwritten(error))?;
            if batch.is_empty() {
                break;
            }
            for record in batch.iter_mut().filter(|record| record.verdict == Verdict::Outlier) {
                record.put(outliers.next().context("an outlier was left without a position")?);
            }
            tally.add(&batch);
            if let Some(judge) = judge {
                tally.right += shares(judge, self.lion.map().dims(), &batch)?;
            }
            sheet.write(batch)?;
        }
        interrupt.too_late();
        sheet.finish()?;
        tally.accuracy = judge.map(|_| tally.right / tally.rows.max(1) as f64);
        Ok(tally)
    }

    /// Where there will be room: beside the output.
    fn spool_folder(&self) -> PathBuf {
        self.args.output_file().map_or_else(std::env::temp_dir, output::folder_of)
    }

    fn unwritten(&self, error: std::io::Error) -> anyhow::Error {
        match self.args.output_file() {
            Some(file) => anyhow!(error).context(output::left_as_it_was(file)),
            None => anyhow!(error).context("there is no room to set placed rows aside"),
        }
    }
}

/// The sum of what [`Judge::shares`] says of a batch.
fn shares(judge: &Judge<'_>, dims: usize, batch: &[Record]) -> Result<f64> {
    let places = batch.iter().flat_map(|record| &record.place[..dims]).copied().collect();
    let codes: Vec<u32> = batch.iter().map(|record| record.label).collect();
    Ok(judge.shares(&Matrix::new(batch.len(), dims, places)?, &codes)?.iter().sum())
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rows: usize,
    pub(crate) exact: usize,
    pub(crate) interpolated: usize,
    pub(crate) beside_outlier: usize,
    pub(crate) outlier: usize,
    pub(crate) groups: BTreeSet<u64>,
    right: f64,
    accuracy: Option<f64>,
}

impl Tally {
    /// Counts these too.
    pub(crate) fn add(&mut self, records: &[Record]) {
        self.rows += records.len();
        for record in records {
            *match record.verdict {
                Verdict::Exact => &mut self.exact,
                Verdict::Interpolated => &mut self.interpolated,
                Verdict::BesideOutlier => &mut self.beside_outlier,
                Verdict::Outlier => &mut self.outlier,
            } += 1;
            self.groups.extend(record.group);
        }
    }
}

/// The JSON object.
#[derive(Serialize)]
struct Summary {
    rows: usize,
    exact: usize,
    interpolated: usize,
    beside_outlier: usize,
    outlier: usize,
    /// Groups of outliers that are alike.
    groups: usize,
    /// The mean share of the 10 nearest training places that carry the row's label; null without labels.
    accuracy_10nn: Option<f64>,
    seconds: f64,
    phases: Phases,
    /// As used, which need not be as the map has them.
    r_x: f64,
    r_y: f64,
    r_close: f64,
    power: f64,
    local: &'static str,
    /// Whether rows were outliers also for what PCA leaves of them.
    off_plane: bool,
    /// Null where the system does not tell.
    peak_rss_bytes: Option<u64>,
    map: String,
    /// Of the map.
    checksum: String,
    file: String,
}

impl Summary {
    fn new(
        lion: &Lion,
        options: &LionOptions,
        args: &PlaceArgs,
        tally: Tally,
        checksum: String,
        (phases, seconds): (Phases, f64),
    ) -> Self {
        Self {
            rows: tally.rows,
            exact: tally.exact,
            interpolated: tally.interpolated,
            beside_outlier: tally.beside_outlier,
            outlier: tally.outlier,
            groups: tally.groups.len(),
            accuracy_10nn: tally.accuracy,
            seconds,
            phases,
            r_x: lion.r_x(),
            r_y: lion.r_y(),
            r_close: lion.r_close(),
            power: lion.power(),
            local: match options.local {
                Local::Energy => "energy",
                Local::Idw => "idw",
            },
            off_plane: lion.minds_the_plane(),
            peak_rss_bytes: peak_memory(),
            map: args.map.display().to_string(),
            checksum,
            file: args.output_file().map_or("-".into(), |file| file.display().to_string()),
        }
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("rows", self.rows.to_string());
        let outliers = match self.groups {
            1 => "in 1 group".into(),
            groups => format!("in {groups} groups"),
        };
        for (verdict, count, more) in [
            ("exact", self.exact, "equal a row of the map, and have its place"),
            ("interpolated", self.interpolated, "among rows like themselves"),
            ("beside-outlier", self.beside_outlier, "near a single row, itself apart"),
            ("outlier", self.outlier, &outliers),
        ] {
            let width = self.rows.to_string().len();
            let share = 100.0 * count as f64 / self.rows.max(1) as f64;
            let more = if count == 0 { "" } else { more };
            facts.add(verdict, format!("{count:>width$} {share:>5.1} %  {more}").trim_end().to_owned());
        }
        if let Some(accuracy) = self.accuracy_10nn {
            let share = 100.0 * accuracy;
            facts.add(
                "accuracy",
                format!("{share:.1} % of the 10 nearest training places carry the row's label"),
            );
        }
        let off_plane = if self.off_plane { "; strangers off the PCA plane are outliers too" } else { "" };
        let Self { r_x, r_y, r_close, power, local, .. } = *self;
        let radii = placing_in_words(r_x, r_y, r_close, (local == "idw").then_some(power));
        facts.add("placed by", format!("{local}; {radii}{off_plane}"));
        facts.add("seconds", seconds_in_words(self.seconds, &self.phases));
        if let Some(bytes) = self.peak_rss_bytes {
            facts.add("peak memory", output::size(bytes));
        }
        facts.add("file", self.file.clone());
        facts
    }

    fn in_words(&self, args: &PlaceArgs) -> String {
        let picture = Path::new(&self.file).with_extension("html");
        let (map, file, picture) = (args.map.display(), &self.file, picture.display());
        format!("{}\nnext: lion plot {map} --placements {file} -o {picture}\n", self.facts().lines())
    }

    fn warning(&self) -> Option<String> {
        (self.outlier as f64 > SUSPICIOUS * self.rows as f64).then(|| {
            format!(
                "warning: {} of {} rows are outliers: the rows may be of another kind, or scaled differently",
                self.outlier, self.rows
            )
        })
    }
}

impl PlaceArgs {
    /// Every file that is read.
    fn inputs(&self) -> Vec<&Path> {
        [Some(self.map.as_path()), Some(&self.data), self.table.labels.as_deref()]
            .into_iter()
            .flatten()
            .collect()
    }
}
