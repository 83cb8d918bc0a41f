//! `lion diff`: what differs between two maps.

mod picture;
mod summary;

use crate::args::{Common, DiffArgs, DiffOutput, PictureArgs, PictureKind};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::{Phase, Reporter, Screen};
use anyhow::Result;
use lion_table::{Column, Field, Kind, Writer};
use lion_tsne::{DiffOptions, Map, MapDiff};
use picture::MorphRows;
use std::path::Path;
use summary::DiffSummary;

/// The coordinates of a map, by dimension.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Compares the maps and writes what was asked for.
pub(crate) fn run(args: &DiffArgs, common: &Common) -> Result<()> {
    for file in &args.output {
        output::check(file.path(), &[&args.a, &args.b])?;
    }
    let screen = Screen::new(common);
    let sentence = "stopped: what was not written yet is as it was";
    let interrupt = Interrupt::install_ending(&screen, sentence)?;
    let mut reporter = Reporter::new(screen.clone(), interrupt, Phase::OF_DIFF);
    let (a, b) = (Map::load(&args.a)?, Map::load(&args.b)?);
    let options = DiffOptions { seed: common.seed, threads: usize::from(common.threads) };
    let diff = MapDiff::new(&a, &b, &options, &mut |progress| reporter.observe(progress))?;
    screen.detail(&format!("{} neighbours of each row, {}", diff.neighbours, diff.search));
    reporter.enter(Phase::Write);
    let summary = DiffSummary::new(&a, &b, &diff, args);
    write([&a, &b], &diff, &args.output, &summary)?;
    let (_, seconds) = reporter.finish();
    let summary = summary.took(seconds);
    output::present(common, &summary, || summary.in_words())
}

/// Writes a page that morphs one map into another.
pub(crate) fn write_page([a, b]: [(&Map, &Path); 2], page: PictureArgs, common: &Common) -> Result<()> {
    let options = DiffOptions { seed: common.seed, threads: usize::from(common.threads) };
    let diff = MapDiff::new(a.0, b.0, &options, &mut lion_tsne::ignore)?;
    let output = vec![DiffOutput::Picture(page)];
    let args = DiffArgs { a: a.1.to_owned(), b: b.1.to_owned(), output };
    write([a.0, b.0], &diff, &args.output, &DiffSummary::new(a.0, b.0, &diff, &args))
}

fn write([a, b]: [&Map; 2], diff: &MapDiff, output: &[DiffOutput], summary: &DiffSummary) -> Result<()> {
    let is_drawn = output.iter().any(|file| matches!(file, DiffOutput::Picture(_)));
    let rows = is_drawn.then(|| MorphRows::new(a, b, diff, summary.names()));
    for file in output {
        match (file, &rows) {
            (DiffOutput::Table(path), _) => write_table(path, a, b, diff)?,
            (DiffOutput::Picture(picture), Some(rows)) => {
                let headline = summary.headline();
                let morph = rows.morph(&headline, summary.names());
                let bytes = match picture.kind {
                    PictureKind::Html => morph.html()?.into_bytes(),
                    PictureKind::Svg => morph.picture()?.svg().into_bytes(),
                    PictureKind::Png => morph.picture()?.png()?,
                };
                output::replace(&picture.path, &bytes)?;
            }
            (DiffOutput::Picture(_), None) => {}
        }
    }
    Ok(())
}

/// One line for each row that both maps have, in the order of B.
fn write_table(path: &Path, a: &Map, b: &Map, diff: &MapDiff) -> Result<()> {
    let axes = &AXES[..a.dims()];
    let mut fields =
        vec![Field::new("id", Kind::Text), Field::new("moved", Kind::F64), Field::new("overlap", Kind::F64)];
    let named =
        |map: &'static str| axes.iter().map(move |axis| Field::new(format!("{axis}_{map}"), Kind::F32));
    fields.extend(named("a").chain(named("b")));
    fields.extend(["cluster_a", "cluster_b"].map(|name| Field::nullable(name, Kind::Text)));
    let rows = &diff.rows;
    let mut columns = vec![
        Column::Text(rows.iter().map(|row| Some(b.id(row.b as usize).into_owned())).collect()),
        Column::F64(rows.iter().map(|row| Some(row.moved)).collect()),
        Column::F64(rows.iter().map(|row| Some(row.overlap)).collect()),
    ];
    let along = |map: &Map, row: u32, axis: usize| Some(map.place(row as usize)[axis]);
    for axis in 0..axes.len() {
        columns.push(Column::F32(rows.iter().map(|row| along(a, row.a, axis)).collect()));
    }
    for axis in 0..axes.len() {
        columns.push(Column::F32(rows.iter().map(|row| along(b, row.b, axis)).collect()));
    }
    let clusters = &diff.clusters;
    let name_a = |row: u32| clusters.of_row_a[row as usize].map(|at| clusters.a[at as usize].name.clone());
    let name_b = |row: u32| clusters.of_row_b[row as usize].map(|at| clusters.b[at as usize].name.clone());
    columns.push(Column::Text(rows.iter().map(|row| name_a(row.a)).collect()));
    columns.push(Column::Text(rows.iter().map(|row| name_b(row.b)).collect()));
    let mut writer = Writer::create(path, fields, &[])?;
    writer.write(&columns)?;
    writer.finish()?;
    Ok(())
}
