//! What a fit may take of memory: a map of all rows where there is room for it, else one of landmarks.

use crate::args::{Common, FitArgs, InitArg};
use crate::files::Files;
use crate::memory::{Limit, PROGRAM, in_words};
use crate::output::size;
use crate::prepare::Prepared;
use crate::progress::Screen;
use anyhow::{Result, bail};
use lion_table::{BATCH_ROWS, Batches, ReadOptions};
use lion_tsne::index::Search;
use lion_tsne::landmarks::LandmarkOptions;
use lion_tsne::memory::Needs;
use lion_tsne::{Fit, PERPLEXITY};

/// What ids and labels take for each row, and then again in the map.
const IDS: u64 = 140;
const LABELS: u64 = 70;
/// Batches that are there at a time while a table passes by.
const PASSING: usize = 5;
/// More landmarks than this are not mapped unless they are asked for: it would take long, and be too many points to
/// look at.
const MOST_UNASKED: usize = 200_000;
/// The share of memory that held-out rows may have.
const HELD_OUT_PART: u64 = 8;

/// A fit, and the memory that there is for it.
pub(super) struct FitMemory<'a> {
    pub(super) args: &'a FitArgs,
    pub(super) files: &'a Files,
    /// How the table is to be read.
    pub(super) options: &'a ReadOptions,
    /// The rows that gaps leave, if they leave some out that other files have values for.
    pub(super) kept: Option<Kept<'a>>,
    pub(super) fit: Fit,
    /// How many rows are mapped if all are, where the table was read before.
    rows: Option<usize>,
    limit: Option<Limit>,
    screen: &'a Screen,
}

/// The rows of a table that are not left out.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    /// Their numbers.
    pub(super) rows: &'a [u32],
    /// How many rows the table has.
    pub(super) of: usize,
}

/// A table that there is no memory to map all rows of.
pub(super) struct TooLarge {
    /// About how many rows it has, or that it has more.
    rows: String,
    /// The rows if they are known.
    known: Option<usize>,
    cols: usize,
    needed: u64,
    buffers: u64,
}

impl<'a> FitMemory<'a> {
    pub(super) fn new(
        args: &'a FitArgs,
        table: &'a Prepared,
        kept: Option<&'a [u32]>,
        common: &Common,
        screen: &'a Screen,
    ) -> Self {
        let (fit, limit) = (args.fit(common), Limit::new(args.memory));
        let rows = kept.map(<[u32]>::len).or(table.all_rows());
        let kept = kept.zip(table.all_rows()).map(|(rows, of)| Kept { rows, of });
        Self { args, files: &table.files, options: &table.options, kept, fit, rows, limit, screen }
    }

    /// What a map of all rows of this table would take.
    pub(super) fn of_all_rows(&self, table: &Batches, pictures: bool) -> AllRows<'_> {
        AllRows { memory: self, cols: table.columns().len(), buffers: table.buffers() as u64, pictures }
    }

    /// How many landmarks are mapped instead of a table that is too large, which is said; or a refusal, where something
    /// else was asked for or nothing fits.
    pub(super) fn landmarks_instead(&self, table: &TooLarge) -> Result<usize> {
        let Some(limit) = self.limit else { bail!("there is no limit to keep to") };
        let problem = format!(
            "{}: a map of {} rows of {} columns takes {} {} of memory, and {}",
            self.files.shown(),
            table.rows,
            table.cols,
            if table.known.is_some() { "about" } else { "more than" },
            size(table.needed),
            limit.in_words()
        );
        if let Some(remedy) = self.remedy() {
            bail!("{problem}: {remedy}");
        }
        let all = LandmarkOptions {
            count: table.known.unwrap_or(usize::MAX).min(u32::MAX as usize),
            ..self.fit.landmarks(0)
        };
        let options = LandmarkOptions { held_out: self.held_out(&all, table.cols), ..all };
        let beside = self.beside_landmarks(table.cols, table.buffers);
        let most = self.fit.most_landmarks(&options, table.cols, limit.bytes.saturating_sub(beside));
        let Some(most) = most else { bail!("{problem}, too little for landmarks too: allow more memory") };
        let count = rounded_down(most.min(MOST_UNASKED)).max(self.least());
        let why = if most > MOST_UNASKED { "" } else { ", as many as fit" };
        self.screen.say(&format!(
            "note: {problem}: {count} landmarks chosen from all rows are mapped instead{why}; --landmarks says how many it shall be"
        ));
        Ok(count)
    }

    /// What to do where landmarks are not what was asked for.
    fn remedy(&self) -> Option<&'static str> {
        match self.args {
            _ if self.files.is_read_once() => {
                Some("write it to a file, which can be read again for landmarks, or say --landmarks N")
            }
            FitArgs { embedding: Some(_), .. } => {
                Some("leave --embedding out, and landmarks are mapped instead, or allow more memory")
            }
            args if matches!(args.tsne.init, InitArg::File(_)) => {
                Some("leave --init FILE out, and landmarks are mapped instead, or allow more memory")
            }
            args if args.lion.group.is_some() => {
                Some("leave --group out, and landmarks are mapped instead, or allow more memory")
            }
            args if args.tsne.neighbours == Search::Exact => {
                Some("leave --neighbours exact out, and landmarks are mapped instead, or allow more memory")
            }
            _ => None,
        }
    }

    /// Refuses landmarks that there is no memory for; says what they will take, in bytes.
    pub(super) fn check_landmarks(&self, options: &LandmarkOptions, table: Option<&Batches>) -> Result<u64> {
        let Some(table) = table else { return Ok(0) };
        let (cols, buffers) = (table.columns().len(), table.buffers() as u64);
        let needs = self.fit.needs_sampled(options, cols);
        let beside = self.beside_landmarks(cols, buffers);
        let needs = needs.with("program and reading", beside);
        let LandmarkOptions { count, .. } = *options;
        self.screen.detail(&format!("{count} landmarks of {cols} columns will take {}", in_words(&needs)));
        if let Some(limit) = self.limit.filter(|limit| needs.bytes > limit.bytes) {
            let room = limit.bytes.saturating_sub(beside);
            let remedy = match self.fit.most_landmarks(options, cols, room) {
                Some(most) => {
                    format!("use at most {}, or allow more memory", rounded_down(most).max(self.least()))
                }
                None => "allow more memory".into(),
            };
            bail!(
                "{}: {count} landmarks of {cols} columns take about {} of memory, and {}: {remedy}",
                self.files.shown(),
                size(needs.bytes),
                limit.in_words()
            );
        }
        Ok(needs.bytes)
    }

    /// How many rows judge what landmarks leave out: as many as always, or those that a limited memory has room for.
    pub(super) fn held_out(&self, options: &LandmarkOptions, cols: usize) -> usize {
        let Some(limit) = self.limit else { return options.held_out };
        let one = self.fit.landmarks(0);
        let one = LandmarkOptions { held_out: 1, count: 1, ..one }.needs(cols);
        let row = one.parts.iter().find(|part| part.name == "held-out rows").map_or(1, |part| part.bytes);
        options.held_out.min((limit.bytes / HELD_OUT_PART / row.max(1)) as usize).max(1)
    }

    /// What is held beside landmarks: the program, and rows on their way.
    fn beside_landmarks(&self, cols: usize, buffers: u64) -> u64 {
        PROGRAM + buffers + (PASSING * BATCH_ROWS * cols * 4) as u64
    }

    /// As few landmarks as the perplexity lets be.
    fn least(&self) -> usize {
        ((3.0 * self.fit.perplexity.unwrap_or(PERPLEXITY)).ceil() as usize + 1).max(4)
    }
}

/// A map of all rows of a table, and what it would take.
pub(super) struct AllRows<'a> {
    memory: &'a FitMemory<'a>,
    cols: usize,
    buffers: u64,
    pictures: bool,
}

impl AllRows<'_> {
    /// So many rows, everything included.
    pub(super) fn needs(&self, rows: usize) -> Needs {
        let FitMemory { args, fit, .. } = self.memory;
        let needs = match args.embedding {
            Some(_) => fit.needs_to_adopt(rows, self.cols),
            None => fit.needs(rows, self.cols),
        };
        let table = &args.table;
        let ids = if table.id.is_some() { IDS } else { 0 };
        let labels = if table.label.is_some() || table.labels.is_some() { LABELS } else { 0 };
        let groups = if args.lion.group.is_some() { LABELS } else { 0 };
        let pictures = if self.pictures { 5 * self.cols as u64 } else { 0 };
        let beside = [("names", ids + labels + groups), ("pictures", pictures)];
        let needs = beside
            .into_iter()
            .filter(|(_, bytes)| *bytes > 0)
            .fold(needs, |needs, (name, bytes)| needs.with(name, bytes * rows as u64));
        needs.with("program", PROGRAM)
    }

    /// How many rows may be read; or, where it is known beforehand to have more, that it is too large. Says what will be
    /// taken.
    pub(super) fn check(&self) -> Result<std::result::Result<Option<usize>, TooLarge>> {
        let FitMemory { files, options, screen, limit, .. } = self.memory;
        let most = limit.map(|limit| self.most_rows(limit.bytes));
        let paths: Vec<_> = files.paths().map(ToOwned::to_owned).collect();
        let rows = match self.memory.rows {
            Some(rows) => Some(rows),
            None => lion_table::expected_rows(&paths, &files.options(options))?,
        };
        let cols = self.cols;
        match rows {
            Some(rows) => {
                let needs = self.needs(rows);
                screen.detail(&format!("about {rows} rows of {cols} columns will take {}", in_words(&needs)));
                if most.is_some_and(|most| rows > most) {
                    return Ok(Err(self.too_large(rows.to_string(), Some(rows), needs.bytes)));
                }
            }
            None => {
                if let Some(most) = most {
                    screen.detail(&format!("there is memory for {most} rows of {cols} columns"));
                }
            }
        }
        Ok(Ok(most))
    }

    /// A table of which more rows came than there is memory for.
    pub(super) fn too_many(&self, most: usize) -> TooLarge {
        self.too_large(format!("more than {most}"), None, self.needs(most).bytes)
    }

    fn too_large(&self, rows: String, known: Option<usize>, needed: u64) -> TooLarge {
        TooLarge { rows, known, cols: self.cols, needed, buffers: self.buffers }
    }

    /// The most rows that these bytes are enough for.
    fn most_rows(&self, bytes: u64) -> usize {
        let (mut low, mut high) = (0, u32::MAX as usize);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.needs(middle).bytes <= bytes { low = middle } else { high = middle - 1 }
        }
        low
    }
}

/// A number of landmarks that is much the same from run to run: two digits, then zeros.
fn rounded_down(count: usize) -> usize {
    let unit = 10usize.pow(count.max(1).ilog10().saturating_sub(1));
    count / unit * unit
}
