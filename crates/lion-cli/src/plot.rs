//! `lion plot`: a map becomes a picture.

mod cards;
mod colours;
mod compared;

use crate::args::{Common, PictureArgs, PictureKind, PlotArgs, ValueArgs};
use crate::explain::{MapNames, RowValues};
use crate::files::Files;
use crate::output;
use crate::place::{GIVEN_LABEL, PlacementSheet};
use crate::progress::Screen;
use crate::shown;
use crate::summary::counted;
use anyhow::{Result, ensure};
use cards::PageCards;
use colours::{Colour, of_shown};
use lion_report::{CardColumn, Mark, Placed, Scatter};
use lion_tsne::lion::PlacementColumn;
use lion_tsne::map::ShownColumns;
use lion_tsne::{Map, Verdict};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The JSON object.
#[derive(Serialize)]
struct PlotSummary {
    file: String,
    bytes: usize,
    points: usize,
    /// Rows placed later.
    placed: usize,
}

/// Width of a PNG unless another is asked for.
const WIDTH: u32 = 1600;

/// Draws the map.
pub(crate) fn run(args: &PlotArgs, common: &Common) -> Result<()> {
    output::check(&args.output.path, &args.inputs())?;
    let map = Map::load(&args.map)?;
    let newcomers = args.newcomers(&map)?;
    let name = args.map.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let title = args.title.clone().or(name).unwrap_or_default();
    let is_read = args.output.kind == PictureKind::Html || !args.no_names;
    let values = is_read.then(|| RowValues::read(&map, &args.values)).transpose()?;
    let names = match &values {
        Some(values) if !args.no_names => MapNames::new(&map, values, args.names.as_deref())?,
        _ => None,
    };
    let look = PlotLook {
        title: &title,
        color: &args.color,
        names: names.as_ref(),
        values: values.as_ref(),
        width: args.width,
        screen: Some(&Screen::new(common)),
    };
    let bytes = draw(&map, newcomers.as_ref(), &look, &args.output)?;
    let drawn = PlotSummary {
        file: args.output.path.display().to_string(),
        bytes,
        points: map.rows(),
        placed: newcomers.map_or(0, |newcomers| newcomers.marks.len()),
    };
    output::present(common, &drawn, || format!("{}\n", drawn.file))
}

/// Draws a map that was just fitted, with names on its clusters.
pub(crate) fn draw_named(map: &Map, file: &Path, picture: &PictureArgs) -> Result<()> {
    let values = RowValues::read(map, &ValueArgs::default())?;
    let names = MapNames::new(map, &values, None)?;
    let title = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let look =
        PlotLook { title: &title, names: names.as_ref(), values: Some(&values), ..PlotLook::default() };
    draw(map, None, &look, picture).map(drop)
}

impl PlotArgs {
    /// Every file that is read.
    fn inputs(&self) -> Vec<&Path> {
        let files = [
            Some(&self.map),
            self.placements.as_ref(),
            self.placed_labels.as_ref(),
            self.values.rows.as_ref(),
            self.names.as_ref(),
        ];
        files.into_iter().flatten().map(|file| file.as_path()).collect()
    }

    /// The rows placed later, if there are any to show.
    fn newcomers(&self, map: &Map) -> Result<Option<PlacedRows>> {
        let Some(file) = &self.placements else { return Ok(None) };
        let files = Files::expand(&[in_folder(file)])?;
        let mut placements = PlacementSheet::read_all(files.paths(), map.dims())?;
        if map.dims() == 1 {
            placements.points = strip(&placements.points, map);
        }
        let newcomers =
            PlacedRows::new(placements, drawn_dims(map)).with_shown(beside_placements(&files)?)?;
        let Some(labels_file) = &self.placed_labels else { return Ok(Some(newcomers)) };
        let labels = lion_table::read_labels(labels_file)?;
        let (found, rows) = (labels.len(), newcomers.marks.len());
        ensure!(
            found == rows,
            "{} has {}, and {} has {}: there must be one for each row",
            labels_file.display(),
            counted(found, "label"),
            files.shown(),
            counted(rows, "row")
        );
        Ok(Some(newcomers.labelled(labels)))
    }
}

/// A folder stands for the Parquet files in it: that is how engines write a table.
fn in_folder(file: &Path) -> PathBuf {
    if file.is_dir() { file.join("*.parquet") } else { file.to_owned() }
}

/// The columns of a table of placements that are no placements: labels and columns for people. A file of coordinates has none.
fn beside_placements(files: &Files) -> Result<Option<ShownColumns>> {
    let Some(first) = files.paths().next() else { return Ok(None) };
    let is_label = |name: &String| name == GIVEN_LABEL;
    let known =
        |name: &String| !is_label(name) && PlacementColumn::ALL.iter().any(|column| column.name == *name);
    let names: Vec<String> =
        lion_table::column_names(first)?.into_iter().filter(|name| !known(name)).collect();
    if names.is_empty() { Ok(None) } else { shown::read(files, &names).map(Some) }
}

/// Rows placed in a map, as its pictures have them.
pub(crate) struct PlacedRows {
    placements: PlacementSheet,
    marks: Vec<Mark>,
    labels: Option<Vec<String>>,
    shown: Option<ShownColumns>,
}

impl PlacedRows {
    /// Of rows in files without verdicts, nothing but the places is known.
    pub(crate) fn new(placements: PlacementSheet, dims: usize) -> Self {
        let marks = match placements.verdicts.is_empty() {
            true => vec![Mark::Placed; placements.points.len() / dims],
            false => placements.verdicts.iter().map(|&verdict| mark(verdict)).collect(),
        };
        Self { placements, marks, labels: None, shown: None }
    }

    /// With the columns that came with the placements; `label` has their labels.
    fn with_shown(self, shown: Option<ShownColumns>) -> Result<Self> {
        let labels = of_shown(shown.as_ref(), GIVEN_LABEL)?;
        Ok(Self { labels, shown, ..self })
    }

    /// With a label for each.
    pub(crate) fn labelled(self, labels: Vec<String>) -> Self {
        Self { labels: Some(labels), ..self }
    }

    fn layer<'a>(&'a self, labels: Option<&'a [String]>, cards: &'a [CardColumn<'a>]) -> Placed<'a> {
        let mut layer = Placed::new(&self.placements.points, &self.marks).cards(cards);
        if !self.placements.verdicts.is_empty() {
            let PlacementSheet { ids, scores, groups, .. } = &self.placements;
            layer = layer.ids(ids).scores(scores).groups(groups);
        }
        if let Some(labels) = labels {
            layer = layer.labels(labels);
        }
        layer
    }
}

fn mark(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Exact => Mark::Exact,
        Verdict::Interpolated => Mark::Interpolated,
        Verdict::BesideOutlier => Mark::BesideOutlier,
        Verdict::Outlier => Mark::Outlier,
    }
}

/// How a map is drawn.
#[derive(Default)]
pub(crate) struct PlotLook<'a> {
    pub(crate) title: &'a str,
    /// The columns to colour by, the first one first.
    pub(crate) color: &'a [String],
    /// Names to write on its clusters.
    pub(crate) names: Option<&'a MapNames>,
    /// What a page compares selected rows by.
    pub(crate) values: Option<&'a RowValues<'a>>,
    /// In pixels, of a PNG.
    pub(crate) width: Option<u32>,
    /// Where notes are said.
    pub(crate) screen: Option<&'a Screen>,
}

/// Draws the map, with what was placed in it, into a file. Returns its size.
pub(crate) fn draw(
    map: &Map,
    newcomers: Option<&PlacedRows>,
    look: &PlotLook<'_>,
    picture: &PictureArgs,
) -> Result<usize> {
    let bytes = drawn(map, newcomers, look, picture.kind)?;
    output::replace(&picture.path, &bytes)?;
    Ok(bytes.len())
}

/// The map, with what was placed in it, as the bytes of a file.
fn drawn(
    map: &Map,
    newcomers: Option<&PlacedRows>,
    look: &PlotLook<'_>,
    kind: PictureKind,
) -> Result<Vec<u8>> {
    let all = 0..map.rows();
    let points = points(map);
    let ids: Option<Vec<String>> = map.has_ids().then(|| all.map(|i| map.id(i).into_owned()).collect());
    let placed_shown = newcomers.and_then(|newcomers| newcomers.shown.as_ref());
    let placed_labels = newcomers.and_then(|newcomers| newcomers.labels.as_deref());
    let mut colours = Colour::all(map, look.color, placed_shown, placed_labels)?;
    if let (PictureKind::Html, Some(names)) = (kind, look.names) {
        colours.extend(Colour::clusters(names, &colours));
    }
    let others: Vec<_> = colours.iter().skip(1).map(Colour::choice).collect();
    let is_page = kind == PictureKind::Html;
    let page_cards = |shown: Option<&ShownColumns>| {
        shown.filter(|_| is_page).map(|shown| PageCards::new(shown, look.screen)).transpose()
    };
    let (cards, placed_cards) = (page_cards(map.shown())?, page_cards(placed_shown)?);
    let card_bytes = [&cards, &placed_cards].into_iter().flatten().map(PageCards::bytes).sum();
    let values = look.values.filter(|_| is_page);
    let compared = values.map(|values| compared::packed(values, look.names, card_bytes)).transpose()?;
    let cards = cards.as_ref().map_or(Vec::new(), PageCards::columns);
    let placed_cards = placed_cards.as_ref().map_or(Vec::new(), PageCards::columns);
    let subtitle = subtitle(map);
    let scatter = Scatter::new(drawn_dims(map), &points).title(look.title).subtitle(&subtitle);
    let mut scatter = scatter.choices(&others).cards(&cards);
    if let Some(ids) = &ids {
        scatter = scatter.ids(ids);
    }
    let first = colours.first();
    if let Some(Colour { name, labels, .. }) = first {
        // That colours are labels needs no word, unless there is a choice.
        let name = if look.color.is_empty() && map.labels().is_some() { "" } else { name };
        scatter = scatter.labels(labels).coloured_by(name);
    }
    if let Some(newcomers) = newcomers {
        let labels = first.and_then(|colour| colour.placed.as_deref());
        scatter = scatter.placed(newcomers.layer(labels, &placed_cards));
    }
    if let Some(compared) = &compared {
        scatter = scatter.compared(compared);
    }
    if let Some(names) = look.names {
        scatter = scatter.clusters(&names.names, names.names_of());
    }
    Ok(match kind {
        PictureKind::Html => lion_report::html(&scatter)?.into_bytes(),
        PictureKind::Svg => lion_report::svg(&scatter)?.into_bytes(),
        PictureKind::Png => lion_report::png(&scatter, look.width.unwrap_or(WIDTH))?,
    })
}

/// The places of all rows, as they are drawn.
pub(crate) fn points(map: &Map) -> Vec<f32> {
    let places: Vec<f32> = (0..map.rows()).flat_map(|i| map.place(i)).copied().collect();
    if map.dims() == 1 { strip(&places, map) } else { places }
}

/// A line is drawn as a strip.
pub(crate) fn drawn_dims(map: &Map) -> usize {
    map.dims().max(2)
}

/// Places on a line as a strip an eighth as high as the map is long. How high a point is in it means nothing: it comes from a
/// hash of its number, so that points do not hide each other.
fn strip(places: &[f32], map: &Map) -> Vec<f32> {
    let ends = map
        .y()
        .data()
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |ends, &x| (ends.0.min(x), ends.1.max(x)));
    let height = f64::from(ends.1 - ends.0) / 8.0;
    let points = (0u64..).zip(places).flat_map(|(at, &x)| [x, ((share(at) - 0.5) * height) as f32]);
    points.collect()
}

/// A number from 0 to 1 that looks random (SplitMix64 of Steele, Lea and Flood 2014).
pub(crate) fn share(number: u64) -> f64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) as f64 / u64::MAX as f64
}

/// What the map is, in a line; the picture itself tells how many points there are.
fn subtitle(map: &Map) -> String {
    let provenance = map.provenance();
    let landmarks = match &provenance.sampled_from {
        Some(from) => format!(" of landmarks of {} rows", from.rows),
        None => String::new(),
    };
    match provenance.kl {
        Some(kl) => format!("t-SNE{landmarks}, perplexity {}, KL divergence {kl:.3}", provenance.perplexity),
        None => "a map made elsewhere".into(),
    }
}
