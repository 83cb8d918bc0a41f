//! `lion plot`: a map becomes a picture.

use crate::args::{Common, PictureArgs, PictureKind, PlotArgs};
use crate::files::Files;
use crate::output;
use crate::place::PlacementSheet;
use anyhow::{Result, ensure};
use lion_report::{Mark, Placed, Scatter};
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
    let bytes = draw(&map, newcomers.as_ref(), &title, &args.output, args.width)?;
    let drawn = PlotSummary {
        file: args.output.path.display().to_string(),
        bytes,
        points: map.rows(),
        placed: newcomers.map_or(0, |newcomers| newcomers.marks.len()),
    };
    output::present(common, &drawn, || format!("{}\n", drawn.file))
}

impl PlotArgs {
    /// Every file that is read.
    fn inputs(&self) -> Vec<&Path> {
        let files = [Some(&self.map), self.placements.as_ref(), self.placed_labels.as_ref()];
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
        let newcomers = PlacedRows::new(placements, drawn_dims(map));
        let Some(labels_file) = &self.placed_labels else { return Ok(Some(newcomers)) };
        let labels = lion_table::read_labels(labels_file)?;
        let (found, rows) = (labels.len(), newcomers.marks.len());
        ensure!(
            found == rows,
            "{} has {found} labels, and {} has {rows} rows: there must be one for each row",
            labels_file.display(),
            files.shown()
        );
        Ok(Some(newcomers.labelled(labels)))
    }
}

/// A folder stands for the Parquet files in it: that is how engines write a table.
fn in_folder(file: &Path) -> PathBuf {
    if file.is_dir() { file.join("*.parquet") } else { file.to_owned() }
}

/// Rows placed in a map, as its pictures have them.
pub(crate) struct PlacedRows {
    placements: PlacementSheet,
    marks: Vec<Mark>,
    labels: Option<Vec<String>>,
}

impl PlacedRows {
    /// Of rows in files without verdicts, nothing but the places is known.
    pub(crate) fn new(placements: PlacementSheet, dims: usize) -> Self {
        let marks = match placements.verdicts.is_empty() {
            true => vec![Mark::Placed; placements.points.len() / dims],
            false => placements.verdicts.iter().map(|&verdict| mark(verdict)).collect(),
        };
        Self { placements, marks, labels: None }
    }

    /// With a label for each.
    pub(crate) fn labelled(self, labels: Vec<String>) -> Self {
        Self { labels: Some(labels), ..self }
    }

    fn layer(&self) -> Placed<'_> {
        let mut layer = Placed::new(&self.placements.points, &self.marks);
        if !self.placements.verdicts.is_empty() {
            let PlacementSheet { ids, scores, groups, .. } = &self.placements;
            layer = layer.ids(ids).scores(scores).groups(groups);
        }
        if let Some(labels) = &self.labels {
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

/// Draws the map, with what was placed in it, into a file. Returns its size.
pub(crate) fn draw(
    map: &Map,
    newcomers: Option<&PlacedRows>,
    title: &str,
    picture: &PictureArgs,
    width: Option<u32>,
) -> Result<usize> {
    let all = 0..map.rows();
    let places: Vec<f32> = all.clone().flat_map(|i| map.place(i)).copied().collect();
    let points = if map.dims() == 1 { strip(&places, map) } else { places };
    let ids: Option<Vec<String>> =
        map.has_ids().then(|| all.clone().map(|i| map.id(i).into_owned()).collect());
    let labels: Option<Vec<String>> =
        map.labels().map(|labels| all.map(|i| labels.get(i).to_owned()).collect());
    let subtitle = subtitle(map);
    let mut scatter = Scatter::new(drawn_dims(map), &points).title(title).subtitle(&subtitle);
    if let Some(ids) = &ids {
        scatter = scatter.ids(ids);
    }
    if let Some(labels) = &labels {
        scatter = scatter.labels(labels);
    }
    if let Some(newcomers) = newcomers {
        scatter = scatter.placed(newcomers.layer());
    }
    let bytes = match picture.kind {
        PictureKind::Html => lion_report::html(&scatter)?.into_bytes(),
        PictureKind::Svg => lion_report::svg(&scatter)?.into_bytes(),
        PictureKind::Png => lion_report::png(&scatter, width.unwrap_or(WIDTH))?,
    };
    output::replace(&picture.path, &bytes)?;
    Ok(bytes.len())
}

/// A line is drawn as a strip.
fn drawn_dims(map: &Map) -> usize {
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
