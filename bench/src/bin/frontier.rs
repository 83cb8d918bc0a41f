//! `frontier CHARTS.json OUT`: draws the charts of a file, one panel each, into OUT.svg and OUT.png. The file is an object with
//! `title` and `charts`, each with `title`, `x`, `y`, `notes` (texts under it) and `series` of `name`, `points` and `line` (whether
//! a line joins them); if need be, `log` (the names of logarithmic axes) and `names_at_ends` (names beside the lines instead of a
//! legend).

use anyhow::{Context, Result};
use lion_bench::Arguments;
use lion_report::{Axis, Chart, Picture, Series, Stroke, panel};
use serde_json::Value;
use std::fs;

/// Charts side by side.
const COLUMNS: usize = 2;

fn main() -> Result<()> {
    let arguments = Arguments::of_process()?;
    let (source, out) = (arguments.file(0)?, arguments.file(1)?);
    let told: Value = serde_json::from_slice(&fs::read(source)?)?;
    let charts = told["charts"].as_array().context("`charts` is missing")?;
    let pictures: Vec<Picture> = charts.iter().map(chart).collect::<Result<_>>()?;
    let picture = panel(text(&told["title"])?, &pictures, COLUMNS.min(pictures.len()))?;
    fs::write(out.with_extension("svg"), picture.svg())?;
    fs::write(out.with_extension("png"), picture.png()?)?;
    Ok(())
}

fn chart(told: &Value) -> Result<Picture> {
    let axis = |name: &str| -> Result<Axis> {
        let log = told["log"].as_array().is_some_and(|axes| axes.iter().any(|axis| axis == name));
        Ok(Axis { label: text(&told[name])?.to_owned(), log, range: None })
    };
    let series: Result<_> =
        told["series"].as_array().context("`series` is missing")?.iter().map(series).collect();
    let title = text(&told["title"])?.to_owned();
    let notes = serde_json::from_value(told["notes"].clone())?;
    let chart = Chart { title, x: axis("x")?, y: axis("y")?, series: series?, notes };
    let named_at_ends = told["names_at_ends"] == true;
    Ok(if named_at_ends { chart.picture_with_names_in_plot() } else { chart.picture() }?)
}

fn series(told: &Value) -> Result<Series> {
    let is_line = told["line"].as_bool().context("`line` is missing")?;
    Ok(Series {
        name: text(&told["name"])?.to_owned(),
        points: serde_json::from_value(told["points"].clone())?,
        style: if is_line { Stroke::LineAndPoints } else { Stroke::Points },
        reference: false,
    })
}

fn text(told: &Value) -> Result<&str> {
    told.as_str().context("a text is missing")
}
