//! `lion fit`: a table becomes a map file.

mod landmarks;
mod memory;

use crate::args::{Common, FitArgs, InitArg, TableArgs};
use crate::files::Files;
use crate::groups;
use crate::interrupt::Interrupt;
use crate::output;
use crate::plot;
use crate::prepare::Prepared;
use crate::progress::{Phase, Reporter, Screen};
use crate::shown;
use crate::summary::{MapSummary, counted, dimensions};
use anyhow::{Result, anyhow, bail, ensure};
use lion_table::{Batches, CellAddress, Origins, ReadOptions, Table, quoted};
use lion_tsne::map::{Image, Provenance, ShownColumns};
use lion_tsne::{ACCELERATED_FROM, Error, Init, Map, Matrix, PERPLEXITY, Rows};
use memory::{FitMemory, TooLarge};
use std::path::Path;

/// After so few iterations no map has taken shape.
const FORMLESS: usize = 30;

/// Fits the map and writes it.
pub(crate) fn run(args: &FitArgs, common: &Common) -> Result<()> {
    let files = Files::expand(&args.data)?;
    output::check(&args.output, &args.inputs(&files))?;
    if let Some(page) = &args.page {
        output::check(&page.path, &args.inputs(&files))?;
    }
    let screen = Screen::new(common);
    let interrupt = Interrupt::install(&screen)?;
    screen.detail(&format!("reading {}", files.shown()));
    let table = Prepared::new(files, &args.read_options(), &args.columns, args.image.is_some())?;
    table.check(|exclude| args.excluding(exclude, common))?;
    let kept = if args.has_beside() { table.kept()? } else { None };
    let files = &table.files;
    let shown = args.shown(files, kept.as_deref())?;
    table.say(&screen);
    if let Some(note) = shown::note(&args.table, &args.show) {
        screen.say(&format!("note: {note}"));
    }
    if files.are_points() {
        screen.detail("these are live points: what lion export says of them is no column of their rows");
    }
    let phases = Phase::of_fit(args.landmarks.count_beyond);
    let mut reporter = Reporter::new(screen.clone(), interrupt, &phases);
    let memory = FitMemory::new(args, &table, kept.as_deref(), common, &screen);
    let FittedMap { map, columns, pictures, needs } = match args.landmarks.landmarks {
        Some(count) => landmarks::make(count as usize, &memory, common, &mut reporter)?,
        None => match of_all_rows(&memory, common, &mut reporter)? {
            Ok(made) => made,
            Err(too_large) => {
                let count = memory.landmarks_instead(&too_large)?;
                landmarks::make(count, &memory, common, &mut reporter)?
            }
        },
    };
    let map = match table.recipe() {
        Some(recipe) => map.with_recipe(recipe.clone())?,
        None if is_numbered(&columns) => map,
        None => map.with_columns(&columns)?,
    };
    let map = match pictures {
        Some((image, rows)) => map.with_pictures(image, &rows)?,
        None => map,
    };
    let map = args.with_shown(map, shown, files)?;
    let mut summary = write(&map, &args.output, reporter)?;
    summary.memory_bytes = Some(needs);
    summary.table = table.columns();
    if let Some(note) = perplexity_note(&map, args) {
        screen.say(&note);
    }
    for note in [descent_note(&map, args), unfinished_note(&map, args)].into_iter().flatten() {
        screen.say(&note);
    }
    if let Some(advice) = landmarks::advice(&map) {
        screen.say(&advice);
    }
    if let Some(page) = &args.page {
        plot::draw_named(&map, &args.output, page)?;
    }
    output::present(common, &summary, || in_words(&summary, args))
}

/// A map, and what is to be kept with it.
struct FittedMap {
    map: Map,
    /// Names of the columns.
    columns: Vec<String>,
    /// What the rows of the map are pictures of, and they themselves.
    pictures: Option<(Image, Matrix)>,
    /// What it was expected to take, in bytes.
    needs: u64,
}

/// A map of the whole table, unless there is no memory for it.
fn of_all_rows(
    memory: &FitMemory<'_>,
    common: &Common,
    reporter: &mut Reporter,
) -> Result<std::result::Result<FittedMap, TooLarge>> {
    let (args, files) = (memory.args, memory.files);
    let FitInput { columns, rows, groups, origins, image, embedding, init, needs } =
        match FitInput::read(memory)? {
            Ok(input) => input,
            Err(too_large) => return Ok(Err(too_large)),
        };
    let mut fit = args.fit(common);
    fit.groups = groups;
    if let Some(places) = init {
        fit.init = Init::Given(places);
    }
    // Fitting takes the rows, and the pictures are of them as they are.
    let pictures = image.map(|image| (image, rows.data.clone()));
    let map = match embedding {
        Some(places) => fit.adopt(rows, places, &mut |progress| reporter.observe(progress)),
        None => fit.run(rows, &mut |progress| reporter.observe(progress)),
    };
    let map = map
        .map_err(|error| located(error, &files.shown(), &columns, |row, column| origins.cell(row, column)))?;
    Ok(Ok(FittedMap { map, columns, pictures, needs }))
}

/// What a person should know who left the perplexity to a table that is too small for the usual one.
fn perplexity_note(map: &Map, args: &FitArgs) -> Option<String> {
    let (perplexity, rows) = (map.perplexity(), map.x().rows());
    let smaller = args.tsne.perplexity.0.is_none() && args.embedding.is_none() && perplexity < PERPLEXITY;
    smaller.then(|| {
        format!(
            "note: perplexity {perplexity} instead of {PERPLEXITY}, as much as {rows} different rows allow"
        )
    })
}

/// That the map is too small for the descent that was asked for.
fn descent_note(map: &Map, args: &FitArgs) -> Option<String> {
    let (asked, taken) = (args.tsne.descent?, map.provenance().descent);
    let rows = map.x().rows();
    (asked != taken).then(|| format!("note: the {taken} descent instead of {asked}, because the map has fewer than {ACCELERATED_FROM} different rows ({rows} here)"))
}

/// That the map is not what it would have become.
fn unfinished_note(map: &Map, args: &FitArgs) -> Option<String> {
    let Provenance { descent, iterations_done, exaggeration_iterations, .. } = map.provenance();
    if args.embedding.is_some() {
        return None;
    }
    if iterations_done <= exaggeration_iterations.max(&FORMLESS) {
        return Some(format!(
            "note: after {iterations_done} iterations the map has not taken shape, and distances in it mean little; let it take more"
        ));
    }
    let most = descent.iterations();
    let may_settle = args.tsne.iterations.0.is_none() && args.tsne.learning_rate.0.is_none();
    let unsettled = may_settle && descent.ends_by_itself() && *iterations_done == most;
    unsettled.then(|| {
        format!("note: the KL divergence was still falling after {most} iterations, the most that auto takes; --iterations {} goes on", 2 * most)
    })
}

/// Writes the map and ends the clock.
pub(crate) fn write(map: &Map, path: &Path, mut reporter: Reporter) -> Result<MapSummary> {
    reporter.enter(Phase::Write);
    let saved = map.save(path)?;
    Ok(MapSummary::new(map, path, saved.bytes, saved.checksum).fitted(reporter.finish()))
}

fn in_words(summary: &MapSummary, args: &FitArgs) -> String {
    let stopped = match summary.stopped_early {
        true => "stopped early: this is the map reached by then\n",
        false => "",
    };
    let mut facts = summary.facts();
    if let Some(page) = &args.page {
        facts.add("page", page.path.display().to_string());
    }
    let next = match &args.page {
        _ if summary.landmarks.is_some() => args.placing_all(),
        Some(_) => args.explaining(),
        None => args.drawing(),
    };
    format!("{stopped}{}\nnext: {next}\n", facts.lines())
}

/// Everything that is read.
struct FitInput {
    /// Names of the columns.
    columns: Vec<String>,
    rows: Rows,
    /// The number of each row's group.
    groups: Option<Vec<u32>>,
    /// The files that the rows are from.
    origins: Origins,
    /// What the rows are pictures of.
    image: Option<Image>,
    embedding: Option<Matrix>,
    init: Option<Matrix>,
    /// What fitting will take, in bytes.
    needs: u64,
}

impl FitInput {
    /// Reads the small files first: what is wrong with them should not come out after a big one was read.
    fn read(memory: &FitMemory<'_>) -> Result<std::result::Result<Self, TooLarge>> {
        let (args, files) = (memory.args, memory.files);
        let table = files.open(memory.options)?;
        let mut beside = Beside::read(args)?;
        if let Some(rows) = table.row_count() {
            beside.check(rows, args, files)?;
        }
        let image = image(args, files, &table)?;
        let wants = memory.of_all_rows(&table, image.is_some());
        let most = match wants.check()? {
            Ok(most) => most,
            Err(too_large) => return Ok(Err(too_large)),
        };
        let (Table { rows, cols, data, columns, ids, labels, groups }, origins) =
            match table.with_most_rows(most).into_table_of_files() {
                Err(lion_table::Error::TooManyRows { most, .. }) => return Ok(Err(wants.too_many(most))),
                read => read?,
            };
        if let Some(kept) = memory.kept {
            beside.check(kept.of, args, files)?;
            beside = beside.only(kept.rows);
        }
        beside.check(rows, args, files)?;
        let labels = beside.labels.take().or(labels);
        let rows = Rows { data: Matrix::new(rows, cols, data)?, ids, labels };
        let needs = wants.needs(rows.data.rows()).bytes;
        let Beside { embedding, init, .. } = beside;
        let groups = groups.map(groups::numbered);
        Ok(Ok(Self { columns, rows, groups, origins, image, embedding, init, needs }))
    }
}

/// What the rows are pictures of: as was asked for, or as an IDX file has it.
fn image(args: &FitArgs, files: &Files, table: &Batches) -> Result<Option<Image>> {
    let columns = table.columns().len();
    let Some(asked) = args.image else {
        let pixels = match *table.item() {
            [height, width] => Image { width, height, channels: 1 },
            [height, width, channels @ (3 | 4)] => Image { width, height, channels },
            _ => return Ok(None),
        };
        // Without some of their columns they are no pictures.
        return Ok(Some(pixels).filter(|pixels| pixels.values() == columns));
    };
    if let Some(image) = asked.0 {
        ensure!(
            image.values() == columns,
            "{} has {columns} columns to use, and pictures of --image {image} have {}: leave other columns out with --exclude, --id or --label",
            files.shown(),
            image.values()
        );
    }
    Ok(asked.0)
}

/// What is read beside the table.
struct Beside {
    labels: Option<Vec<String>>,
    embedding: Option<Matrix>,
    init: Option<Matrix>,
}

impl Beside {
    fn read(args: &FitArgs) -> Result<Self> {
        let labels = args.table.labels.as_deref().map(lion_table::read_labels).transpose()?;
        let embedding = args.embedding.as_deref().map(|file| places(file, 1..=3)).transpose()?;
        let dims = usize::from(args.tsne.dims);
        let init = args.init_file().map(|file| places(file, dims..=dims)).transpose()?;
        Ok(Self { labels, embedding, init })
    }

    /// What belongs to these rows.
    fn only(self, rows: &[u32]) -> Self {
        let labels = self.labels.map(|labels| rows.iter().map(|&row| labels[row as usize].clone()).collect());
        let of_rows = |places: Matrix| places.select(rows);
        Self { labels, embedding: self.embedding.map(of_rows), init: self.init.map(of_rows) }
    }

    /// Refuses what does not go with a table of so many rows.
    fn check(&self, rows: usize, args: &FitArgs, files: &Files) -> Result<()> {
        let data = files.shown();
        let same = |file: Option<&Path>, found: Option<usize>, what: &str| match (file, found) {
            (Some(file), Some(found)) if found != rows => Err(anyhow!(
                "{} has {}, and {data} has {}: there must be one for each row",
                file.display(),
                counted(found, what),
                counted(rows, "row")
            )),
            _ => Ok(()),
        };
        same(args.table.labels.as_deref(), self.labels.as_ref().map(Vec::len), "label")?;
        same(args.embedding.as_deref(), self.embedding.as_ref().map(Matrix::rows), "place")?;
        same(args.init_file(), self.init.as_ref().map(Matrix::rows), "place")?;
        if self.embedding.is_none() { check_enough(rows, files) } else { Ok(()) }
    }
}

/// Refuses a table of which there can be no map.
fn check_enough(rows: usize, files: &Files) -> Result<()> {
    ensure!(rows >= 4, "{} has {}, and a map needs at least 4", files.shown(), counted(rows, "row"));
    Ok(())
}

/// Reads places: one row for each row of the table, with as many columns as the map has dimensions.
fn places(file: &Path, dims: std::ops::RangeInclusive<usize>) -> Result<Matrix> {
    let Table { rows, cols, data, .. } = lion_table::read(file, &ReadOptions::default())?;
    if !dims.contains(&cols) {
        let wanted = match (dims.start(), dims.end()) {
            (least, most) if least == most => format!("the {} of the map", dimensions(*least)),
            (least, most) => format!("the {least} to {most} dimensions of a map"),
        };
        bail!("{} has {cols} columns where places need one for each of {wanted}", file.display());
    }
    Ok(Matrix::new(rows, cols, data)?)
}

impl FitArgs {
    /// How the table is to be read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let options = ReadOptions { group: self.lion.group.clone(), ..self.table.read_options() };
        shown::without_shown(options, &self.show)
    }

    /// The columns for people, of all rows. They are read first: what is wrong with their names should not come out after the
    /// fit. Of a table for landmarks only the names are checked: it may not fit into memory.
    fn shown(&self, files: &Files, kept: Option<&[u32]>) -> Result<Option<ShownColumns>> {
        shown::check_names(&self.show)?;
        if self.show.is_empty() {
            return Ok(None);
        }
        if self.landmarks.landmarks.is_some() {
            shown::ShownStream::open(files, &self.show)?;
            return Ok(None);
        }
        let all = shown::read(files, &self.show)?;
        Ok(Some(match kept {
            Some(kept) => all.followed(kept, None, 0)?,
            None => all,
        }))
    }

    /// Whether something has a value for each row of the table, those that are left out included.
    fn has_beside(&self) -> bool {
        let files = [self.table.labels.as_deref(), self.embedding.as_deref(), self.init_file()];
        !self.show.is_empty() || files.into_iter().flatten().next().is_some()
    }

    /// The map with the columns for people of its rows.
    fn with_shown(&self, map: Map, shown: Option<ShownColumns>, files: &Files) -> Result<Map> {
        match shown {
            _ if self.show.is_empty() => Ok(map),
            Some(shown) if map.provenance().sampled_from.is_none() => Ok(map.with_shown(shown)?),
            _ => {
                let shown = shown::read_landmarks(files, &self.show, self.table.id.as_deref(), &map)?;
                Ok(map.with_shown(shown)?)
            }
        }
    }

    /// The command as it was typed, with these columns left out.
    fn excluding(&self, columns: &[String], common: &Common) -> String {
        let TableArgs { columns: asked, exclude, .. } = &self.table;
        let left_out = || exclude.iter().chain(columns);
        let (flag, names): (&str, Vec<&str>) = match asked {
            Some(asked) => {
                let kept = asked.iter().filter(|name| !left_out().any(|out| out == *name));
                ("--columns", kept.map(String::as_str).collect())
            }
            None => ("--exclude", left_out().map(String::as_str).collect()),
        };
        let mut words = vec!["lion".to_owned()];
        let mut typed = common.typed.iter();
        while let Some(word) = typed.next() {
            match word.strip_prefix(flag) {
                // The value is the next word.
                Some("") => _ = typed.next(),
                Some(value) if value.starts_with('=') => {}
                _ => words.push(quoted(word)),
            }
        }
        format!("{} {flag} {}", words.join(" "), quoted(&names.join(",")))
    }

    /// The command that draws the map.
    fn drawing(&self) -> String {
        let picture = self.output.with_extension("html");
        let [map, picture] = [&self.output, &picture].map(|file| quoted(&file.display().to_string()));
        format!("lion plot {map} -o {picture}")
    }

    /// The command that tells what its clusters are.
    fn explaining(&self) -> String {
        format!("lion explain {}", quoted(&self.output.display().to_string()))
    }

    /// The command that places all rows among the landmarks.
    fn placing_all(&self) -> String {
        let mut words = format!("lion place {}", quoted(&self.output.display().to_string()));
        for file in &self.data {
            words += &format!(" {}", quoted(&file.display().to_string()));
        }
        for (flag, column) in [("--id", &self.table.id), ("--label", &self.table.label)] {
            words += &column.as_ref().map_or(String::new(), |column| format!(" {flag} {}", quoted(column)));
        }
        words + " -o placed.parquet"
    }

    fn init_file(&self) -> Option<&Path> {
        match &self.tsne.init {
            InitArg::File(file) => Some(file),
            InitArg::Named(_) => None,
        }
    }

    /// Every file that is read.
    fn inputs<'a>(&'a self, files: &'a Files) -> Vec<&'a Path> {
        let beside = [self.table.labels.as_deref(), self.embedding.as_deref(), self.init_file()];
        beside.into_iter().flatten().chain(files.paths()).collect()
    }
}

/// Whether columns have no names of their own: they are then called c1, c2 and so on.
pub(crate) fn is_numbered(columns: &[String]) -> bool {
    columns.iter().zip(1..).all(|(name, number)| name.strip_prefix('c') == Some(&number.to_string()))
}

/// What columns without names of their own are called.
pub(crate) fn numbered_columns(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("c{number}")).collect()
}

/// The library knows columns by number, and rows by number in what it was given; a person knows the file, its rows and
/// the columns' names. `locate` tells where a row is that was given, and in which column.
pub(crate) fn located(
    error: Error,
    table: &str,
    columns: &[String],
    locate: impl Fn(usize, &str) -> CellAddress,
) -> anyhow::Error {
    match error {
        Error::Unusable { row, column, fault } => {
            let column = column.and_then(|column| columns.get(column)).map_or("", String::as_str);
            match row {
                Some(row) => anyhow!("{} {fault}", locate(row, column)),
                None => anyhow!("{table}, column {column} {fault}"),
            }
        }
        Error::Data(_) | Error::Parameter { .. } => anyhow!("{table}: {error}"),
        error => error.into(),
    }
}
