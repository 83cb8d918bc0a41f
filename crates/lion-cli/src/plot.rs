//! `lion plot`: a map becomes a picture.

use crate::args::{Common, Picture, PictureKind, PlotArgs};
use crate::output;
use anyhow::Result;
use lion_report::Scatter;
use lion_tsne::Map;
use serde::Serialize;

/// The JSON object.
#[derive(Serialize)]
struct Drawn {
    file: String,
    bytes: usize,
    points: usize,
}

/// Width of a PNG unless another is asked for.
const WIDTH: u32 = 1600;

/// Draws the map.
pub(crate) fn run(args: &PlotArgs, common: &Common) -> Result<()> {
    output::check(&args.output.path, &[&args.map])?;
    let map = Map::load(&args.map)?;
    let name = args.map.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let title = args.title.clone().or(name).unwrap_or_default();
    let bytes = draw(&map, &title, &args.output, args.width)?;
    let drawn = Drawn { file: args.output.path.display().to_string(), bytes, points: map.rows() };
    output::present(common, &drawn, || format!("{}\n", drawn.file))
}

/// Draws the map into a file. Returns its size.
pub(crate) fn draw(map: &Map, title: &str, picture: &Picture, width: Option<u32>) -> Result<usize> {
    let all = 0..map.rows();
    let points: Vec<f32> = all.clone().flat_map(|i| map.place(i)).copied().collect();
    let ids: Option<Vec<String>> =
        map.has_ids().then(|| all.clone().map(|i| map.id(i).into_owned()).collect());
    let labels: Option<Vec<String>> =
        map.labels().map(|labels| all.map(|i| labels.get(i).to_owned()).collect());
    let subtitle = subtitle(map);
    let mut scatter = Scatter::new(map.dims(), &points).title(title).subtitle(&subtitle);
    if let Some(ids) = &ids {
        scatter = scatter.ids(ids);
    }
    if let Some(labels) = &labels {
        scatter = scatter.labels(labels);
    }
    let bytes = match picture.kind {
        PictureKind::Html => lion_report::html(&scatter)?.into_bytes(),
        PictureKind::Svg => lion_report::svg(&scatter)?.into_bytes(),
        PictureKind::Png => lion_report::png(&scatter, width.unwrap_or(WIDTH))?,
    };
    output::replace(&picture.path, &bytes)?;
    Ok(bytes.len())
}

/// What the map is, in a line; the picture itself tells how many points there are.
fn subtitle(map: &Map) -> String {
    let provenance = map.provenance();
    match provenance.kl {
        Some(kl) => format!("t-SNE, perplexity {}, KL divergence {kl:.3}", provenance.perplexity),
        None => "a map made elsewhere".into(),
    }
}
