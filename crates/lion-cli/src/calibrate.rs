//! `lion calibrate`: an earlier map gets calibrated verdicts.

use crate::args::{CalibrateArgs, Common};
use crate::files::Files;
use crate::fit;
use crate::groups;
use crate::output;
use crate::place::{self, Gaps};
use crate::progress::Screen;
use crate::summary::MapSummary;
use anyhow::{Result, anyhow};
use lion_table::{ReadOptions, Table};
use lion_tsne::{Error, Map, Matrix};

/// Calibrates the map and writes it.
pub(crate) fn run(args: &CalibrateArgs, common: &Common) -> Result<()> {
    let files = args.rows.iter().cloned().collect::<Vec<_>>();
    let files = if files.is_empty() { None } else { Some(Files::expand(&files)?) };
    let read = files.iter().flat_map(Files::paths).chain([args.map.as_path()]).collect::<Vec<_>>();
    // The map may take the place of the old one: it is whole before it does.
    output::check(&args.output, &read.iter().copied().filter(|path| *path != args.map).collect::<Vec<_>>())?;
    let map = Map::load_whole(&args.map)?;
    let (rows, groups, located) = match &files {
        None => (None, None, None),
        Some(files) => {
            let options = ReadOptions { group: args.group.clone(), ..args.table.read_options() };
            let screen = Screen::new(common);
            let table = place::open(&args.map, &options, files, &map, Gaps::LeftOut, &screen)?;
            let (Table { rows, cols, data, columns, groups, .. }, origins) =
                place::read_whole(table, &options, files, &screen)?;
            (
                Some(Matrix::new(rows, cols, data)?),
                groups.map(groups::numbered),
                Some((files.shown(), columns, origins)),
            )
        }
    };
    let threads = usize::from(common.threads);
    let calibrated = map.calibrate(rows, groups.as_deref(), threads);
    let calibrated = calibrated.map_err(|error| match (error, located) {
        (error @ Error::Unusable { .. }, Some((table, columns, origins))) => {
            fit::located(error, &table, &columns, |row, column| origins.cell(row, column))
        }
        (error, _) => anyhow!(error).context(args.map.display().to_string()),
    })?;
    let saved = calibrated.save(&args.output)?;
    let summary = MapSummary::new(&calibrated, &args.output, saved.bytes, saved.checksum);
    output::present(common, &summary, || {
        format!("{}\nnext: lion place {} NEW -o placed.csv\n", summary.facts().lines(), args.output.display())
    })
}
