//! `lion demo`: the whole way on the embedded digits.

use crate::args::{Common, DemoArgs, Picture, PictureKind};
use crate::digits::{self, Digits};
use crate::fit;
use crate::interrupt::Interrupt;
use crate::output;
use crate::plot::draw;
use crate::progress::{Reporter, Screen};
use crate::summary::Summary;
use anyhow::{Context, Result};
use lion_tsne::{Fit, Labels, Map, PcaChoice, Rows};
use serde::Serialize;
use std::path::Path;

const COMPONENTS: usize = 30;
const NEIGHBOURS: usize = 10;
const PICTURE_WIDTH: u32 = 1600;

/// The JSON object: that of `fit`, and what the digits show about it.
#[derive(Serialize)]
struct Demo {
    #[serde(flatten)]
    summary: Summary,
    /// The mean share of a digit's 10 nearest others in the map that show the same.
    accuracy_10nn: f64,
    html: String,
    png: String,
}

/// Fits the digits and draws their map.
pub(crate) fn run(args: &DemoArgs, common: &Common) -> Result<()> {
    let folder = &args.out;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    let screen = Screen::new(common);
    screen.say("fitting a map of 2500 handwritten digits, 28 x 28 pixels each …");
    let mut reporter = Reporter::new(screen, Interrupt::default());
    let Digits { pixels, labels } = digits::training()?;
    let fit = Fit {
        pca: PcaChoice::Components(COMPONENTS),
        seed: common.seed,
        threads: usize::from(common.threads),
        ..Fit::default()
    };
    let rows = Rows { data: pixels, ids: None, labels: Some(labels) };
    let map = fit.run(rows, &mut |progress| reporter.observe(progress))?;
    let summary = fit::write(&map, &folder.join("map.lion"), reporter)?;
    let demo = Demo {
        summary,
        accuracy_10nn: map.labels().map_or(0.0, |labels| accuracy(&map, labels)),
        html: picture(&map, folder, "map.html", PictureKind::Html)?,
        png: picture(&map, folder, "map.png", PictureKind::Png)?,
    };
    output::present(common, &demo, || demo.in_words())
}

/// Draws a picture of the map and returns its path.
fn picture(map: &Map, folder: &Path, name: &str, kind: PictureKind) -> Result<String> {
    let picture = Picture { path: folder.join(name), kind };
    let width = (kind == PictureKind::Png).then_some(PICTURE_WIDTH);
    draw(map, "Handwritten digits", &picture, width)?;
    Ok(picture.path.display().to_string())
}

/// The mean share of the 10 nearest other rows in the map with the same label. Compares every pair: the digits are
/// few.
fn accuracy(map: &Map, labels: &Labels) -> f64 {
    let (rows, codes) = (map.rows(), labels.codes());
    let nearest = NEIGHBOURS.min(rows - 1);
    let mut same = 0;
    for i in 0..rows {
        let distance2 =
            |j: usize| -> f32 { map.place(i).iter().zip(map.place(j)).map(|(a, b)| (a - b).powi(2)).sum() };
        let mut others: Vec<(f32, usize)> =
            (0..rows).filter(|&j| j != i).map(|j| (distance2(j), j)).collect();
        if nearest < others.len() {
            others.select_nth_unstable_by(nearest, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        same += others.iter().take(nearest).filter(|(_, j)| codes[*j] == codes[i]).count();
    }
    same as f64 / (rows * nearest).max(1) as f64
}

impl Demo {
    fn in_words(&self) -> String {
        let Summary { rows, dims, components, iterations, file, .. } = &self.summary;
        let (seconds, kl) = (self.summary.seconds.unwrap_or_default(), self.summary.kl.unwrap_or_default());
        let (accuracy, html, png) = (100.0 * self.accuracy_10nn, &self.html, &self.png);
        format!(
            "\
{rows} digits of {dims} pixels, reduced to {components} principal components and laid out in the plane by t-SNE.
  fitted in      {seconds:.2} s, {iterations} iterations
  KL divergence  {kl:.3} (how far the map is from keeping all neighbourhoods; 0 is perfect)
  neighbours     {accuracy:.1} % of a digit's 10 nearest in the map show the same digit (labels were not used to fit)
written: {file}, {html}, {png}

next: open {html} in a browser
      lion info {file}
      lion plot {file} -o digits.svg
      lion fit your-data.csv -o your.lion
"
        )
    }
}
