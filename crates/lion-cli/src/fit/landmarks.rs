//! A map of landmarks: the table passes by once, or twice if all of it is to be counted.

use super::memory::{FitMemory, Kept};
use super::{FittedMap, check_enough, image, located};
use crate::args::{Common, FitArgs, LandmarkArgs};
use crate::files::{Ahead, FileBatch, Files, Whereabouts};
use crate::progress::{Phase, Reporter};
use anyhow::{Context, Result, ensure};
use lion_table::{CellAddress, ReadOptions, Table};
use lion_tsne::landmarks::{LandmarkOptions, Landmarks, Sampled, UncoveredCounter};
use lion_tsne::{Fit, Map, Matrix, Rows};
use std::path::Path;

/// So many times as many rows beyond r_x as it promises are worth a word.
const MANY: f64 = 2.0;

/// Fits a map to so many rows.
pub(super) fn make(
    count: usize,
    memory: &FitMemory<'_>,
    common: &Common,
    reporter: &mut Reporter,
) -> Result<FittedMap> {
    let (args, files, fit) = (memory.args, memory.files, &memory.fit);
    check_perplexity(fit, count)?;
    ensure!(
        !(args.landmarks.count_beyond && files.is_read_once()),
        "--count-beyond reads the table twice, and {} can be read once: write it to a file",
        files.shown()
    );
    let stamps = files.stamps();
    let mut passing = Passing::open(memory)?;
    let options = passing.options(fit.landmarks(count), memory);
    let needs = memory.check_landmarks(&options, passing.first.as_ref())?;
    let sampled = passing.sample(options, reporter)?;
    let landmarks = sampled.rows.data.rows();
    check_enough(landmarks, files)?;
    if landmarks as u64 == sampled.seen {
        reporter.screen().say(&format!("note: {} has {landmarks} rows: all are landmarks", files.shown()));
    }
    let pictures = passing.image.map(|image| (image, sampled.rows.data.clone()));
    let map = fit.run_sampled(sampled, &mut |progress| reporter.observe(progress));
    let map = map.map_err(|error| passing.located(error, None))?;
    let map = match args.landmarks.count_beyond && !reporter.is_stopping() {
        true => passing.count_beyond(map, common, reporter)?,
        false => map,
    };
    ensure!(
        !args.landmarks.count_beyond || files.stamps() == stamps,
        "{} was changed between its two readings: do not change it meanwhile",
        files.shown()
    );
    Ok(FittedMap { map, columns: passing.columns, pictures, needs })
}

/// Refuses a perplexity that no number of rows would make right, before they are read.
fn check_perplexity(fit: &Fit, count: usize) -> Result<()> {
    let (perplexity, most) = (fit.perplexity_for(count), (count - 1) as f64 / 3.0);
    ensure!(
        perplexity <= most,
        "perplexity {perplexity} is too large for {count} landmarks: use at most {}, or more landmarks",
        (most * 10.0).floor() / 10.0
    );
    Ok(())
}

/// What a person should know of a map that leaves out more of its table than r_x lets expect.
pub(super) fn advice(map: &Map) -> Option<String> {
    let (from, lion) = (map.provenance().sampled_from?, map.lion()?);
    let fair = lion.nn_x().len().saturating_sub(from.covering as usize);
    let alone = lion.nn_x()[..fair].iter().filter(|distance| f64::from(**distance) > lion.r_x).count();
    let expected = alone as f64 / fair.max(1) as f64;
    let surely = from.uncovered.saturating_sub(from.uncovered_error) as f64 / from.rows.max(1) as f64;
    let or_cover = if from.covering == 0 { ", or --cover" } else { "" };
    (surely > MANY * expected).then(|| {
        format!(
            "advice: {:.1} % of the rows lie beyond r_x of every landmark, and of the landmarks themselves {:.1} %: take more landmarks{or_cover}",
            100.0 * from.uncovered_share(),
            100.0 * expected
        )
    })
}

/// A table on its way past.
struct Passing<'a> {
    args: &'a FitArgs,
    files: &'a Files,
    options: &'a ReadOptions,
    /// Opened already, for the first time.
    first: Option<lion_table::Batches>,
    /// One for each row, if they are in a file of their own.
    labels: Option<Vec<String>>,
    columns: Vec<String>,
    image: Option<lion_tsne::map::Image>,
    /// Where it is known beforehand.
    rows: Option<usize>,
}

impl<'a> Passing<'a> {
    /// Reads the labels first: what is wrong with them should not come out after a big table was read.
    fn open(memory: &FitMemory<'a>) -> Result<Self> {
        let FitMemory { args, files, options, .. } = *memory;
        // A table that is larger than memory may have more ids than fit: those that are kept are compared.
        let table = files.open(options)?.with_repeated_ids();
        let labels = args.table.labels.as_deref().map(lion_table::read_labels).transpose()?;
        let (columns, rows) = (table.columns().to_vec(), table.row_count());
        let image = image(args, files, &table)?;
        let mut passing = Self { args, files, options, first: Some(table), labels, columns, image, rows };
        match memory.kept {
            Some(Kept { rows, of }) => {
                passing.check_labels(of)?;
                let only = |all: Vec<String>| rows.iter().map(|&row| all[row as usize].clone()).collect();
                passing.labels = passing.labels.map(only);
            }
            None => rows.map_or(Ok(()), |rows| passing.check_labels(rows))?,
        }
        Ok(passing)
    }

    /// Refuses labels that are not one for each row.
    fn check_labels(&self, rows: usize) -> Result<()> {
        let Some(found) = self.labels.as_ref().map(Vec::len) else { return Ok(()) };
        let file = self.args.table.labels.as_deref().unwrap_or(Path::new("")).display();
        let data = self.files.shown();
        ensure!(
            found == rows,
            "{file} has {found} labels, and {data} has {rows} rows: there must be one for each row"
        );
        Ok(())
    }

    /// How landmarks are chosen, by what was asked for and what there is memory for.
    fn options(&self, plain: LandmarkOptions, memory: &FitMemory<'_>) -> LandmarkOptions {
        let LandmarkArgs { stratify, cover, .. } = self.args.landmarks;
        let held_out = memory.held_out(&plain, self.columns.len());
        LandmarkOptions { stratified: stratify, cover, held_out, ..plain }
    }

    /// Chooses the landmarks.
    fn sample(&mut self, options: LandmarkOptions, reporter: &mut Reporter) -> Result<Sampled> {
        let mut landmarks = Landmarks::new(options)?;
        let table = self.first.take().context("the table was read already")?;
        for batch in Ahead::new(table) {
            let FileBatch { rows: table, at } = batch?;
            let rows = self.labelled(table, at.before)?;
            landmarks.add(rows).map_err(|error| self.located(error, Some(&at)))?;
            reporter.rows(landmarks.seen() as usize, self.rows);
        }
        self.check_labels(landmarks.seen() as usize)?;
        landmarks.finish().map_err(|error| self.located(error, None))
    }

    /// Rows with their labels, wherever those are; so many rows of the table came before.
    fn labelled(&self, table: Table, before: usize) -> Result<Rows> {
        let Table { rows, cols, data, ids, labels, .. } = table;
        let labels = match &self.labels {
            None => labels,
            Some(all) => {
                let own = all.get(before..before + rows).map(<[String]>::to_vec);
                // Too few of them: how many rows there are, nobody has said yet.
                own.or_else(|| Some(vec![String::new(); rows]))
            }
        };
        Ok(Rows { data: Matrix::new(rows, cols, data)?, ids, labels })
    }

    /// An error of the library, about rows that are there in the table.
    fn located(&self, error: lion_tsne::Error, at: Option<&Whereabouts>) -> anyhow::Error {
        let table = self.files.shown();
        located(error, &table, &self.columns, |row, column| match at {
            Some(at) => at.locate(row, column),
            None => CellAddress { file: table.clone(), row, line: None, column: column.to_owned() },
        })
    }

    /// Counts the rows beyond r_x of every landmark, all of the table passing by again. Ctrl-C leaves the estimate.
    fn count_beyond(&self, map: Map, common: &Common, reporter: &mut Reporter) -> Result<Map> {
        reporter.enter(Phase::Count);
        let counter = UncoveredCounter::new(&map, usize::from(common.threads))?;
        let (mut counted, mut seen) = (0, 0);
        for batch in Ahead::new(self.files.open(self.options)?.with_repeated_ids()) {
            let FileBatch { rows: Table { rows, cols, data, .. }, at } = batch?;
            let values = Matrix::new(rows, cols, data)?;
            counted += counter.count(&values).map_err(|error| self.located(error, Some(&at)))?;
            seen += rows;
            reporter.rows(seen, self.rows);
            if reporter.is_stopping() {
                return Ok(map);
            }
        }
        let before = map.provenance().sampled_from.map_or(0, |from| from.rows);
        ensure!(
            seen as u64 == before,
            "{} has {seen} rows now, and had {before} when it was read first: do not change it meanwhile",
            self.files.shown()
        );
        Ok(map.with_beyond(counted)?)
    }
}
