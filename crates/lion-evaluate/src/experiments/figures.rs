//! The figures: those of the paper, and ours.

use super::complexity::{COLUMNS, ROWS, Timing, exponent, timed};
use super::contenders::{Entry, MethodFamily};
use super::error::{EvaluationError, Result};
use super::large::{LionAtRadius, LionOnMap, PUBLISHED};
use super::results::{CrowdedOutlier, GridSearch, Material, Results};
use super::scores::own_judge;
use super::sweeps::PowerSweep;
use crate::Judge;
use lion_report::{
    Axis, Chart, DocumentBlock, Heat, ImageCell, ImageRow, Images, Landing, LandingPoint, Picture, Scatter,
    Series, Stroke, panel,
};
use lion_tsne::Matrix;

/// Pixels of a digit's side.
const SIDE: usize = 28;
/// Test cases shown.
const SHOWN: usize = 10;

/// A figure with its file name, caption and what it shows in words.
pub(crate) fn figure(name: &str, picture: Picture, caption: &str, alt: &str) -> DocumentBlock {
    DocumentBlock::Figure { name: name.into(), picture, caption: caption.into(), alt: alt.into() }
}

pub(super) fn axis(label: &str) -> Axis {
    Axis { label: label.into(), log: false, range: None }
}

fn log_axis(label: &str) -> Axis {
    Axis { log: true, ..axis(label) }
}

pub(super) fn line(name: impl Into<String>, points: Vec<[f64; 2]>, style: Stroke) -> Series {
    Series { name: name.into(), points, style, reference: false }
}

fn level(name: &str, range: [f64; 2], value: f64) -> Series {
    let points = vec![[range[0], value], [range[1], value]];
    Series { name: name.into(), points, style: Stroke::Dashed, reference: true }
}

pub(super) fn chart(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Result<Picture> {
    Ok(Chart { title: title.into(), x, y, series, notes: Vec::new() }.picture()?)
}

fn map_points(material: &Material) -> Vec<f32> {
    (0..material.map.rows()).flat_map(|i| material.map.place(i)).copied().collect()
}

/// The map alone.
pub(crate) fn the_map(material: &Material) -> Result<DocumentBlock> {
    let points = map_points(material);
    let scatter = Scatter::new(2, &points).labels(&material.training.labels);
    Ok(figure(
        "map",
        Picture::map(&scatter)?,
        "The map that new rows are placed into, coloured by what the digits show.",
        "A t-SNE map of handwritten digits in coloured clusters",
    ))
}

/// Outliers that arrive together.
pub(crate) fn outliers_at_once(material: &Material) -> Result<DocumentBlock> {
    let landed = |row: &CrowdedOutlier| LandingPoint {
        name: String::new(),
        at: row.at,
        expected: None,
        outlier: row.outlier,
    };
    let landing = Landing {
        title: String::new(),
        map: &map_points(material),
        labels: &material.training.labels,
        landed: material.crowd.iter().map(landed).collect(),
    };
    Ok(figure(
        "outliers-at-once",
        landing.picture()?,
        "Outliers placed all at once, none of them near another: each has a free cell of its own, inside the plot while there are any. As in the paper's figure, r_y is the largest distance between nearest places alone. The rows are digits with three times the difference of two others added: far from every digit, and from each other.",
        "The map with outliers in the gaps between its clusters",
    ))
}

/// Inverse-distance weighting in one dimension, as the paper draws it.
pub(crate) fn one_dimension() -> Result<DocumentBlock> {
    const POINTS: [[f64; 2]; 4] = [[10.0, 10.0], [20.0, 40.0], [30.0, 1.0], [40.0, 50.0]];
    let at = |x: f64, power: f64| {
        if let Some(point) = POINTS.iter().find(|point| point[0] == x) {
            return point[1];
        }
        let weights = POINTS.map(|point| (x - point[0]).abs().powf(-power));
        let total: f64 = weights.iter().sum();
        weights.iter().zip(POINTS).map(|(weight, point)| weight * point[1]).sum::<f64>() / total
    };
    let curve = |power: f64| {
        let points = (0..=450).map(|i| 5.0 + f64::from(i) * 0.1);
        // Tenths are not exact: the points themselves are asked for by their own numbers.
        let points = points.map(|x| if (x - x.round()).abs() < 1e-6 { x.round() } else { x });
        points.map(|x| [x, at(x, power)]).collect::<Vec<_>>()
    };
    let mut series: Vec<Series> =
        [0.2, 2.0, 20.0].map(|power| line(format!("p = {power}"), curve(power), Stroke::Line)).into();
    series.push(line("known points", POINTS.to_vec(), Stroke::Points));
    let picture = chart("", axis("x"), axis("y"), series)?;
    Ok(figure(
        "one-dimension",
        picture,
        "Inverse-distance weighting of four points. With a low power everything is near the mean but the points themselves; with a high one everything is as its nearest point.",
        "Three interpolation curves through four points",
    ))
}

fn radius_name(percentile: Option<f64>) -> String {
    percentile.map_or("all rows".into(), |percentile| format!("r_x at {percentile}%"))
}

/// Leave-one-out error by power.
pub(crate) fn cross_validation(powers: &[PowerSweep]) -> Result<DocumentBlock> {
    let series = powers.iter().map(|powers| {
        line(
            format!("{}: p = {:.1}", radius_name(powers.percentile), powers.power),
            powers.curve.clone(),
            Stroke::Line,
        )
    });
    let picture = chart("", axis("power p"), log_axis("mean squared distance"), series.collect())?;
    Ok(figure(
        "cross-validation",
        picture,
        "Leave-one-out cross-validation of the power: the mean squared distance between a training row's place and the place that its neighbours would give it. Too low a power costs more than too high a one.",
        "One curve for each radius, falling steeply and then rising slowly",
    ))
}

/// Power against accuracy, whole and zoomed.
pub(crate) fn power_accuracy(results: &Results) -> Result<DocumentBlock> {
    let mut series: Vec<Series> = results
        .powers
        .iter()
        .map(|powers| line(radius_name(powers.percentile), powers.accuracy.clone(), Stroke::LineAndPoints))
        .collect();
    let baseline = results.baseline.map(|baseline| baseline.mean);
    let end = results.powers.iter().flat_map(|powers| &powers.accuracy).map(|p| p[0]).fold(1.0, f64::max);
    series.extend(baseline.map(|value| level("baseline", [1.0, end], value)));
    let whole = chart("Whole", axis("power p"), axis("accuracy, %"), series.clone())?;
    let around = baseline.unwrap_or(85.0);
    let y = Axis { range: Some([around - 4.0, around + 1.5]), ..axis("accuracy, %") };
    let zoomed = chart("Around the baseline", axis("power p"), y, series)?;
    Ok(figure(
        "power-accuracy",
        panel("", &[whole, zoomed], 2)?,
        "The power against the accuracy of the cluster test, for LION at four radii and for inverse-distance weighting over all rows.",
        "Accuracy rises with the power and levels off near the baseline",
    ))
}

/// Kernelized t-SNE's K against accuracy.
pub(crate) fn width_accuracy(results: &Results) -> Result<DocumentBlock> {
    let points: Vec<[f64; 2]> =
        results.widths.iter().filter_map(|width| Some([width.width, width.accuracy?])).collect();
    let range = [points.first().map_or(0.0, |p| p[0]), points.last().map_or(2.0, |p| p[0])];
    let mut series = vec![line("kernelized t-SNE", points, Stroke::LineAndPoints)];
    series.extend(results.baseline.map(|baseline| level("baseline", range, baseline.mean)));
    Ok(figure(
        "kernel-width-accuracy",
        chart("", axis("K"), axis("accuracy, %"), series)?,
        "Kernelized t-SNE: the factor K of its kernels' widths against the accuracy of the cluster test.",
        "Accuracy is high for small K and falls beyond a window",
    ))
}

/// Kernelized t-SNE's K against the distance of outliers.
pub(crate) fn width_distance(results: &Results) -> Result<DocumentBlock> {
    let points: Vec<[f64; 2]> =
        results.widths.iter().filter_map(|width| Some([width.width, width.distance?])).collect();
    let series = vec![line("kernelized t-SNE", points, Stroke::LineAndPoints)];
    Ok(figure(
        "kernel-width-distance",
        chart("", axis("K"), log_axis("distance to the nearest place"), series)?,
        "Kernelized t-SNE: K against the mean distance of images of noise to their nearest place.",
        "The distance of outliers as a function of K",
    ))
}

/// The grid search over networks: one panel for each activation and number of layers.
pub(crate) fn grid(grid: &GridSearch) -> Result<DocumentBlock> {
    let mut nodes: Vec<usize> = grid.cells.iter().map(|cell| cell.nodes).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut dropouts: Vec<f64> = grid.cells.iter().map(|cell| cell.dropout).collect();
    dropouts.sort_by(f64::total_cmp);
    dropouts.dedup();
    let mut panels = Vec::new();
    for (layers, tanh) in [(1, false), (2, false), (1, true), (2, true)] {
        let value = |dropout: f64, nodes: usize| {
            let is_it = |cell: &&super::sweeps::GridCell| {
                (cell.layers, cell.tanh, cell.nodes, cell.dropout) == (layers, tanh, nodes, dropout)
            };
            grid.cells.iter().find(is_it).map(|cell| cell.validation_error)
        };
        let heat = Heat {
            title: format!(
                "{layers} hidden layer{}, {}",
                if layers == 1 { "" } else { "s" },
                if tanh { "tanh" } else { "ReLU" }
            ),
            rows: dropouts.iter().map(|dropout| format!("dropout {dropout}")).collect(),
            columns: nodes.iter().map(usize::to_string).collect(),
            values: dropouts
                .iter()
                .map(|&dropout| nodes.iter().map(|&nodes| value(dropout, nodes)).collect())
                .collect(),
            unit: "mean squared distance".into(),
            low_is_good: true,
        };
        panels.push(heat);
    }
    Ok(figure(
        "grid-search",
        Heat::together("", &panels, 2)?,
        &format!(
            "The grid search over networks: mean squared distance on the fifth of the rows that they were not trained on, by nodes in a layer and dropout, after {} epochs (the paper: 5000).",
            grid.epochs
        ),
        "Four heat maps of validation errors",
    ))
}

fn cell(pixels: &[f32], caption: impl Into<String>) -> ImageCell {
    ImageCell { pixels: pixels.to_vec(), caption: caption.into() }
}

/// The first test digits beside the rows that they were picked for.
pub(crate) fn test_digits(material: &Material) -> Result<DocumentBlock> {
    let set = material.set("cluster").ok_or(EvaluationError::Missing("there is no cluster test"))?;
    let shown = 0..SHOWN.min(set.rows.rows());
    let known = |i: usize| material.picked_for[i] as usize;
    let images = Images {
        title: String::new(),
        width: SIDE,
        height: SIDE,
        rows: vec![
            ImageRow {
                heading: "test digit".into(),
                cells: shown.clone().map(|i| cell(set.rows.row(i), format!("{}", i + 1))).collect(),
            },
            ImageRow {
                heading: "closest training digit".into(),
                cells: shown
                    .map(|i| {
                        cell(
                            material.training.pixels.row(known(i)),
                            format!("shows {}", material.training.labels[known(i)]),
                        )
                    })
                    .collect(),
            },
        ],
    };
    Ok(figure(
        "test-digits",
        images.picture()?,
        "The first ten digits of the cluster test, each above the training digit that it was picked for.",
        "Ten pairs of handwritten digits",
    ))
}

/// Where the training digits are that the first test digits were picked for.
pub(crate) fn test_positions(material: &Material) -> Result<DocumentBlock> {
    let landed = |i: usize| {
        let place = material.map.place(material.picked_for[i] as usize);
        LandingPoint { name: (i + 1).to_string(), at: [place[0], place[1]], expected: None, outlier: false }
    };
    let landing = Landing {
        title: String::new(),
        map: &map_points(material),
        labels: &material.training.labels,
        landed: (0..SHOWN.min(material.picked_for.len())).map(landed).collect(),
    };
    Ok(figure(
        "test-positions",
        landing.picture()?,
        "Where the training digits are that the first ten test digits were picked for: each test digit should land near its number.",
        "The map with ten numbered places",
    ))
}

/// Where the first rows of a set land by one method.
pub(crate) fn landing(material: &Material, entry: &Entry, set: &str) -> Result<Picture> {
    let trial =
        material.trials.get(&entry.name()).ok_or(EvaluationError::Missing("a method was not tried"))?;
    let landed = trial.landed.get(set).ok_or(EvaluationError::Missing("a method was not given this set"))?;
    let expected = |i: usize| {
        let place = material.map.place(material.picked_for[i] as usize);
        (set == "cluster").then_some([place[0], place[1]])
    };
    let landed = landed.places.chunks_exact(2).take(SHOWN).enumerate().map(|(i, place)| LandingPoint {
        name: (i + 1).to_string(),
        at: [place[0], place[1]],
        expected: expected(i),
        outlier: landed.said.as_ref().is_some_and(|said| said[i].outlier),
    });
    let landing = Landing {
        title: entry.name(),
        map: &map_points(material),
        labels: &material.training.labels,
        landed: landed.collect(),
    };
    Ok(landing.picture()?)
}

/// For each method shown, the mean image of the ten training digits nearest to where each test digit landed.
pub(crate) fn mean_images(material: &Material, entries: &[&Entry]) -> Result<Images> {
    let set = material.set("cluster").ok_or(EvaluationError::Missing("there is no cluster test"))?;
    let shown = SHOWN.min(set.rows.rows());
    let mut rows = vec![ImageRow {
        heading: "test digit".into(),
        cells: (0..shown).map(|i| cell(set.rows.row(i), (i + 1).to_string())).collect(),
    }];
    let judge = Judge::new(&material.map)?;
    for entry in entries {
        let trial =
            material.trials.get(&entry.name()).ok_or(EvaluationError::Missing("a method was not tried"))?;
        let landed =
            trial.landed.get("cluster").ok_or(EvaluationError::Missing("a method was not given this set"))?;
        let places = Matrix::new(shown, 2, landed.places[..2 * shown].to_vec())?;
        let own = trial.own_places.as_ref().map(|own| own_judge(&material.map, own)).transpose()?;
        let nearest = own.as_ref().unwrap_or(&judge).nearest(&places, 10)?;
        let mean = |near: &[u32]| {
            let mut pixels = vec![0.0f32; SIDE * SIDE];
            for &row in near {
                let own = material.training.pixels.row(row as usize);
                pixels.iter_mut().zip(own).for_each(|(sum, v)| *sum += v / near.len() as f32);
            }
            pixels
        };
        rows.push(ImageRow {
            heading: entry.name(),
            cells: nearest.chunks_exact(10).map(|near| cell(&mean(near), "")).collect(),
        });
    }
    Ok(Images { title: String::new(), width: SIDE, height: SIDE, rows })
}

/// The first rows of a set as images.
pub(crate) fn images(material: &Material, set: &str, count: usize) -> Result<Picture> {
    let rows = &material.set(set).ok_or(EvaluationError::Missing("there is no such set"))?.rows;
    let shown: Vec<ImageCell> =
        (0..count.min(rows.rows())).map(|i| cell(rows.row(i), (i + 1).to_string())).collect();
    let mut image_rows = Vec::new();
    let mut shown = shown.into_iter().peekable();
    while shown.peek().is_some() {
        image_rows.push(ImageRow { heading: String::new(), cells: shown.by_ref().take(10).collect() });
    }
    Ok(Images { title: String::new(), width: SIDE, height: SIDE, rows: image_rows }.picture()?)
}

/// What a threshold on the score finds.
pub(crate) fn strangers(material: &Material) -> Result<DocumentBlock> {
    let series = material.roc.iter().map(|roc| {
        let style = if roc.dashed { Stroke::Dashed } else { Stroke::Line };
        line(&roc.name, roc.points.clone(), style)
    });
    let mut series: Vec<Series> = series.collect();
    series.push(Series {
        name: "chance".into(),
        points: vec![[0.0, 0.0], [100.0, 100.0]],
        style: Stroke::Dashed,
        reference: true,
    });
    let picture = chart("", axis("ordinary digits called strange, %"), axis("strangers found, %"), series)?;
    Ok(figure(
        "strangers",
        picture,
        "What a threshold on LION's score finds: letters, and a digit that the map was fitted without, against ordinary digits called strange by the same threshold. Calibrated: the score of this program, which minds the distance to the nearest row and how well the ten nearest explain the new one, also in what PCA dropped. Distance alone: the score that goes with the paper's rule.",
        "Curves above the diagonal of chance",
    ))
}

/// Time against accuracy, one point for each method.
pub(crate) fn speed_accuracy(results: &Results, entries: &[Entry]) -> Result<DocumentBlock> {
    let families = [
        (MethodFamily::Rbf, "radial basis functions"),
        (MethodFamily::Idw, "inverse distances, all rows"),
        (MethodFamily::Descent, "gradient descent"),
        (MethodFamily::Network, "networks"),
        (MethodFamily::Kernelized, "kernelized t-SNE"),
        (MethodFamily::Lion, "LION, the paper's"),
        (MethodFamily::Beyond, "not in the paper: LION's energy rule, openTSNE's way, the fixed point"),
    ];
    let ordinary = results.methods.iter().any(|method| method.ordinary.is_some());
    let point = |entry: &Entry| {
        let found = results.of(&entry.name())?;
        let accuracy = match ordinary {
            true => found.ordinary?.accuracy,
            false => found.cluster?.accuracy,
        };
        Some([1e6 * found.row_seconds, accuracy.mean])
    };
    let of_family = |&(family, name): &(MethodFamily, &str)| {
        let own = entries.iter().filter(|entry| entry.family == family);
        line(name, own.filter_map(point).collect(), Stroke::Points)
    };
    let series = families.iter().map(of_family).filter(|series| !series.points.is_empty()).collect();
    let y = if ordinary { "accuracy on ordinary digits, %" } else { "accuracy, %" };
    Ok(figure(
        "speed-accuracy",
        chart("", log_axis("microseconds for a row"), axis(y), series)?,
        "The time for a row, in a batch, against accuracy: one point for each method.",
        "Methods by time and accuracy",
    ))
}

/// Times against the number of rows or of columns, log-log.
pub(crate) fn times(timings: &[Timing], by_rows: bool, building: bool) -> Result<Picture> {
    let mut series = Vec::new();
    for timed in timed() {
        let points = points(timings, &timed.contender.to_string(), by_rows, building);
        if !points.is_empty() {
            let name = match exponent(&points) {
                Some(slope) => {
                    format!("{} ({}^{slope:.1})", timed.contender, if by_rows { "N" } else { "K" })
                }
                None => timed.contender.to_string(),
            };
            series.push(line(name, points, Stroke::LineAndPoints));
        }
    }
    let x = if by_rows { "rows N" } else { "columns K" };
    let y = if building { "seconds to build" } else { "microseconds for a row" };
    if !building {
        series.iter_mut().flat_map(|series| &mut series.points).for_each(|point| point[1] *= 1e6);
    }
    let fixed = if by_rows { format!("{COLUMNS} columns") } else { format!("{ROWS} rows") };
    chart(&fixed, log_axis(x), log_axis(y), series)
}

/// The measurements of one method along one direction.
pub(crate) fn points(timings: &[Timing], method: &str, by_rows: bool, building: bool) -> Vec<[f64; 2]> {
    let along = |timing: &&Timing| match by_rows {
        true => timing.columns == COLUMNS,
        false => timing.rows == ROWS,
    };
    let mut points: Vec<[f64; 2]> = timings
        .iter()
        .filter(|timing| timing.method == method)
        .filter(along)
        .map(|timing| {
            let at = if by_rows { timing.rows } else { timing.columns } as f64;
            [at, if building { timing.build_seconds } else { timing.row_seconds }]
        })
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points
}

/// Power against accuracy on 60000 x 784.
pub(crate) fn large_powers(name: &str, on_map: &LionOnMap, parametric: Option<f64>) -> Result<DocumentBlock> {
    let percent = |points: &[[f64; 2]]| points.iter().map(|p| [p[0], 100.0 * p[1]]).collect::<Vec<_>>();
    let of = |at: &LionAtRadius| {
        line(radius_name(Some(at.percentile)), percent(&at.accuracies), Stroke::LineAndPoints)
    };
    let mut series: Vec<Series> = on_map.radii.iter().map(of).collect();
    series.push(level("the map's own digits", [1.0, 50.0], 100.0 * on_map.own_accuracy));
    series.extend(parametric.map(|value| level("parametric t-SNE", [1.0, 50.0], 100.0 * value)));
    let picture = chart("", axis("power p"), axis("accuracy, %"), series)?;
    Ok(figure(
        &format!("large-power-{name}"),
        picture,
        "The power against the accuracy of 10000 test digits, 60000 x 784.",
        "Accuracy by power for four radii",
    ))
}

/// The cross-validation on 60000 x 784.
pub(crate) fn large_validation(name: &str, on_map: &LionOnMap) -> Result<DocumentBlock> {
    let series = on_map.radii.iter().zip(&PUBLISHED).map(|(at, published)| {
        let name = format!("{}%: p = {:.1} ({})", at.percentile, at.power, published.power);
        line(name, at.curve.clone(), Stroke::Line)
    });
    let picture = chart("", axis("power p"), log_axis("mean squared distance"), series.collect())?;
    Ok(figure(
        &format!("large-validation-{name}"),
        picture,
        "Leave-one-out cross-validation of the power, 60000 x 784, by the percentile of r_x; in brackets the paper's power.",
        "One curve for each radius",
    ))
}
