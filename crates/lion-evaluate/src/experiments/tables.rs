//! The tables: ours, the paper's, and the difference.

use super::complexity::{EPOCHS, Timing, exponent, timed};
use super::contenders::{BASELINE, Entry, MethodFamily, NETWORKS};
use super::differences::{own_kl, published_kl, rise};
use super::figures::points;
use super::large::{
    LionAtRadius, LionOnMap, PUBLISHED, PUBLISHED_PARAMETRIC, ParametricScores, PublishedLarge,
};
use super::results::Results;
use super::scores::MethodScores;
use crate::{Estimate, PartialAccuracy};
use lion_report::{Head, ReportCell, ReportRow, ReportTable, Tone};

pub(crate) fn cell(text: impl Into<String>) -> ReportCell {
    ReportCell { text: text.into(), tone: Tone::Plain }
}

fn faint(text: impl Into<String>) -> ReportCell {
    ReportCell { text: text.into(), tone: Tone::Faint }
}

/// Good or bad.
pub(super) fn judged(text: String, good: bool) -> ReportCell {
    ReportCell { text, tone: if good { Tone::Good } else { Tone::Bad } }
}

pub(super) fn head(text: &str, title: &str, group: &str) -> Head {
    Head { text: text.into(), title: title.into(), numeric: true, group: group.into() }
}

pub(super) fn name_head(text: &str) -> Head {
    Head { text: text.into(), title: String::new(), numeric: false, group: String::new() }
}

/// Two numbers of which the larger is good, if they differ as far as they are shown.
pub(super) fn better(a: f64, b: f64, digits: usize) -> [ReportCell; 2] {
    let [a_text, b_text] = [a, b].map(|value| format!("{value:.digits$}"));
    let is_good = |own: f64, other: f64| own > other && a_text != b_text;
    let [a_good, b_good] = [is_good(a, b), is_good(b, a)];
    let cell = |text: String, good: bool| if good { judged(text, true) } else { cell(text) };
    [cell(a_text, a_good), cell(b_text, b_good)]
}

/// Ours with its standard error, theirs, and the difference.
fn three(heads: &mut Vec<Head>, group: &str, unit: &str) {
    heads.push(head("here", &format!("measured here, with its standard error{unit}"), group));
    heads.push(head("paper", "as published", group));
    heads.push(head("difference", "here less published", group));
}

fn ours(mean: Estimate, digits: usize) -> ReportCell {
    cell(format!("{:.digits$} ± {:.digits$}", mean.mean, mean.error))
}

fn against(row: &mut Vec<ReportCell>, mean: Option<Estimate>, published: Option<f64>, digits: usize) {
    row.push(mean.map_or_else(|| faint("–"), |mean| ours(mean, digits)));
    row.push(published.map_or_else(|| faint("–"), |value| cell(format!("{value:.digits$}"))));
    row.push(match mean.zip(published) {
        Some((mean, published)) => cell(format!("{:+.digits$}", mean.mean - published)),
        None => faint("–"),
    });
}

fn emphasis(entry: &Entry) -> bool {
    entry.family == MethodFamily::Lion
}

fn method(entry: &Entry, found: &MethodScores) -> ReportCell {
    match (emphasis(entry), found.power) {
        (true, Some(power)) => cell(format!("{}, p = {power:.1}", found.method)),
        _ => cell(&found.method),
    }
}

fn methods<'a>(
    results: &'a Results,
    entries: &'a [Entry],
) -> impl Iterator<Item = (&'a Entry, &'a MethodScores)> {
    entries.iter().filter_map(|entry| Some((entry, results.of(&entry.name())?)))
}

/// The cluster attribution test.
pub(crate) fn cluster(results: &Results, entries: &[Entry]) -> ReportTable {
    let mut heads = vec![name_head("method")];
    three(&mut heads, "accuracy, %", "");
    three(&mut heads, "distance percentile", "");
    heads.push(head("KL of N + 1", "KL divergence of the map and the new point, measured here", ""));
    three(&mut heads, "KL above the map's own, thousandths", "");
    let mut rows = vec![ReportRow { cells: baseline(results, true), emphasis: false }];
    for (entry, found) in methods(results, entries) {
        let Some(cluster) = found.cluster else { continue };
        let published = entry.published.map(|published| published.cluster);
        let mut cells = vec![method(entry, found)];
        against(&mut cells, Some(cluster.accuracy), published.map(|p| p[0]), 2);
        against(&mut cells, Some(cluster.percentile), published.map(|p| p[1]), 1);
        cells.push(cluster.kl.map_or_else(|| faint("–"), |kl| cell(format!("{:.5}", kl.mean))));
        against(
            &mut cells,
            rise(cluster.kl, own_kl(results, found)),
            published.map(|p| 1000.0 * (p[2] - published_kl(entry))),
            2,
        );
        rows.push(ReportRow { cells, emphasis: emphasis(entry) });
    }
    ReportTable {
        caption: "Cluster attribution test".into(),
        head: heads,
        rows,
        notes: vec![
            "Accuracy: the mean share of the ten nearest training places that show the test digit. Baseline: the same at the place of the training digit that each was picked for. Distance percentile: where the distance to the nearest place falls among the distances between nearest places.".into(),
            "As in the paper, networks are judged among the places that they themselves give to the training digits; what their KL divergence is above is that of those places (next table).".into(),
            "The KL divergence of another map is another number, so the rise above the map's own is what can be compared.".into(),
        ],
    }
}

fn baseline(results: &Results, with_accuracy: bool) -> Vec<ReportCell> {
    let mut cells = vec![cell("baseline")];
    match with_accuracy {
        true => against(&mut cells, results.baseline, Some(BASELINE[0]), 2),
        false => against(&mut cells, None, None, 1),
    }
    against(&mut cells, None, None, 1);
    let own = results.map.as_ref().map(|map| map.kl);
    cells.push(own.map_or_else(|| faint("–"), |kl| cell(format!("{kl:.5}"))));
    against(&mut cells, None, None, 1);
    cells
}

/// The outlier test.
pub(crate) fn outliers(results: &Results, entries: &[Entry]) -> ReportTable {
    let mut heads = vec![name_head("method")];
    three(&mut heads, "distance percentile", "");
    three(&mut heads, "distance", "");
    heads.push(head("KL of N + 1", "KL divergence of the map and the new point, measured here", ""));
    three(&mut heads, "KL above the map's own, thousandths", "");
    heads.push(head("apart, %", "noise farther from every place than any place is from its nearest", ""));
    let mut first = baseline(results, false);
    first.push(faint("–"));
    let mut rows = vec![ReportRow { cells: first, emphasis: false }];
    for (entry, found) in methods(results, entries) {
        let Some(outliers) = found.outliers else { continue };
        let published = entry.published.map(|published| published.outliers);
        let mut cells = vec![method(entry, found)];
        against(&mut cells, Some(outliers.percentile), published.map(|p| p[0]), 1);
        against(&mut cells, Some(outliers.distance), published.map(|p| p[1]), 2);
        cells.push(outliers.kl.map_or_else(|| faint("–"), |kl| cell(format!("{:.5}", kl.mean))));
        against(
            &mut cells,
            rise(outliers.kl, own_kl(results, found)),
            published.map(|p| 1000.0 * (p[2] - published_kl(entry))),
            2,
        );
        cells.push(judged(format!("{:.1}", outliers.apart), outliers.apart >= 100.0));
        rows.push(ReportRow { cells, emphasis: emphasis(entry) });
    }
    let noise = results.map.as_ref().map_or([0; 3], |map| [map.noise_drawn, map.noise_kept, map.noise_used]);
    ReportTable {
        caption: "Outlier test".into(),
        head: heads,
        rows,
        notes: vec![
            format!("Of {} images of noise drawn, {} are farther from every training digit than any training digit is from its nearest; {} of those are placed, each alone.", noise[0], noise[1], noise[2]),
            "The test is true by construction for LION by the paper's rule, whose radius is never larger than that distance: the tables below show strangers of other kinds.".into(),
        ],
    }
}

/// Ordinary digits and strangers that are not noise.
pub(crate) fn others(results: &Results, entries: &[Entry]) -> ReportTable {
    let (digits, letters, held) = ("ordinary digits", "letters", "a digit held out");
    let mut heads = vec![
        name_head("method"),
        head("accuracy, %", "ten nearest places that show the digit, with its standard error", digits),
        head(
            "outliers, %",
            "called outliers; of methods that call none so, put apart from every place",
            digits,
        ),
    ];
    for group in [letters, held] {
        heads.push(head(
            "AUC by place",
            "chance that a stranger lies farther from its nearest place than a digit",
            group,
        ));
        heads.push(head("AUC by score", "chance that a stranger's score is stranger than a digit's", group));
        heads.push(head("outliers, %", "called outliers, or put apart", group));
    }
    let mut rows = Vec::new();
    for (entry, found) in methods(results, entries) {
        let mut cells = vec![cell(&found.method)];
        let Some(ordinary) = found.ordinary else { continue };
        cells.push(ours(ordinary.accuracy, 2));
        cells.push(cell(format!("{:.1}", ordinary.outliers)));
        for strangers in [found.letters, found.held_out] {
            let number = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| faint("–"), |value| cell(format!("{value:.digits$}")))
            };
            cells.push(number(strangers.map(|s| s.auc_by_place), 3));
            cells.push(number(strangers.and_then(|s| s.auc_by_score), 3));
            cells.push(number(strangers.map(|s| s.outliers), 1));
        }
        rows.push(ReportRow { cells, emphasis: emphasis(entry) });
    }
    let held_out = results.map.as_ref().and_then(|map| map.held_out.clone());
    let mut notes = vec![
        "AUC: 0.5 is no better than chance, 1 tells every stranger from every digit. By score, no threshold is involved, so nothing is true by construction; by place, the rule for outliers has a say, for it decides which rows are put apart.".into(),
        "The paper has no such tests.".into(),
    ];
    notes.extend(held_out.map(|(digit, count)| {
        format!("Held out: the map is fitted again without the digit {digit}, then {count} of it are placed, beside ordinary digits of the other kinds.")
    }));
    ReportTable {
        caption: "Ordinary digits, and strangers that are not noise".into(),
        head: heads,
        rows,
        notes,
    }
}

/// Time to build and time for a row.
pub(crate) fn speed(results: &Results, entries: &[Entry]) -> ReportTable {
    let heads = vec![
        name_head("method"),
        head("build, s", "", ""),
        head("a row, ms", "in a batch, all threads", ""),
        head("rows a second", "", ""),
    ];
    let rows = methods(results, entries).map(|(entry, found)| ReportRow {
        cells: vec![
            cell(&found.method),
            cell(format!("{:.2}", found.build_seconds)),
            cell(format!("{:.3}", 1000.0 * found.row_seconds)),
            cell(format!("{:.0}", 1.0 / found.row_seconds.max(1e-9))),
        ],
        emphasis: emphasis(entry),
    });
    ReportTable {
        caption: "Time to build and to place a row".into(),
        head: heads,
        rows: rows.collect(),
        notes: vec![
            "Into the map of the two tests. The paper gives no times but for saying that gradient descent is the slowest by far; its published Python takes about 1800 ms for one row by gradient descent at this size.".into(),
            "LION's building finds r_x and validates the power; NN-X, NN-Y and the calibration are kept in the map.".into(),
        ],
    }
}

/// The KL divergence of the maps that networks make of the training rows.
pub(crate) fn networks(results: &Results, entries: &[Entry]) -> ReportTable {
    let heads = vec![
        name_head("network"),
        head("here", "KL divergence with P over all pairs", "KL divergence"),
        head("paper", "as published", "KL divergence"),
        head("difference", "here less published", "KL divergence"),
    ];
    let of_networks = methods(results, entries).filter(|(entry, _)| entry.family == MethodFamily::Network);
    let rows = of_networks.zip(NETWORKS).map(|((_, found), published)| ReportRow {
        cells: vec![
            cell(&found.method),
            found.own_kl.map_or_else(|| faint("–"), |kl| cell(format!("{kl:.4}"))),
            cell(format!("{published:.4}")),
            found.own_kl.map_or_else(|| faint("–"), |kl| cell(format!("{:+.4}", kl - published))),
        ],
        emphasis: false,
    });
    ReportTable {
        caption: "The maps that networks make of the training digits".into(),
        head: heads,
        rows: rows.collect(),
        notes: vec!["Before anything is added: how well each network learned the map.".into()],
    }
}

/// The power by radius.
pub(crate) fn powers(results: &Results) -> ReportTable {
    const THEIRS: [f64; 5] = [17.2, 21.3, 20.7, 25.5, 27.9];
    let heads = vec![
        name_head("rows used"),
        head("r_x", "", ""),
        head("here", "the power with the least error", "power p"),
        head("paper", "", "power p"),
        head("difference", "", "power p"),
    ];
    let rows = results.powers.iter().zip(THEIRS).map(|(powers, theirs)| ReportRow {
        cells: vec![
            cell(powers.percentile.map_or("all".into(), |p| format!("within r_x, {p} % of NN-X"))),
            powers.percentile.map_or_else(|| faint("–"), |_| cell(format!("{:.2}", powers.radius))),
            cell(format!("{:.1}", powers.power)),
            cell(format!("{theirs:.1}")),
            cell(format!("{:+.1}", powers.power - theirs)),
        ],
        emphasis: false,
    });
    ReportTable {
        caption: "The power by cross-validation".into(),
        head: heads,
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// Growth, measured and as the paper has it.
pub(crate) fn growth(timings: &[Timing]) -> ReportTable {
    let mut heads = vec![name_head("method")];
    for group in ["to build", "for a row"] {
        heads.push(head("exponent of N", "slope of the times against N, log-log", group));
        heads.push(head("exponent of K", "slope of the times against K, log-log", group));
        heads.push(head("paper", "its order of growth", group));
    }
    let slope = |method: &str, by_rows, building| {
        let found = exponent(&points(timings, method, by_rows, building));
        found.map_or_else(|| faint("–"), |slope| cell(format!("{slope:.2}")))
    };
    let rows = timed().into_iter().map(|timed| {
        let method = timed.contender.to_string();
        let mut cells = vec![cell(&method)];
        for (building, published) in [(true, timed.published[0]), (false, timed.published[1])] {
            cells.push(slope(&method, true, building));
            cells.push(slope(&method, false, building));
            cells.push(if published.is_empty() { faint("–") } else { cell(published) });
        }
        ReportRow { cells, emphasis: method.starts_with("lion") }
    });
    ReportTable {
        caption: "Growth of times".into(),
        head: heads,
        rows: rows.collect(),
        notes: vec![
            format!("The network learns for {EPOCHS} epochs here, parametric t-SNE for one. What takes a fraction of a millisecond is mostly overhead, and its exponent says little."),
            "The paper's N³K³ for dense systems is N³ + N²K by its own reasoning: the matrix has N² entries, each a distance in K dimensions.".into(),
        ],
    }
}

/// The large test: the radii as columns.
pub(crate) fn large(caption: &str, on_map: &LionOnMap, parametric: Option<&ParametricScores>) -> ReportTable {
    let mut heads = vec![name_head("")];
    for at in &on_map.radii {
        let group = format!("LION, r_x at {} %", at.percentile);
        heads.push(head("here", "", &group));
        heads.push(head("paper", "", &group));
        heads.push(head("difference", "", &group));
    }
    let mut rows = Vec::new();
    let mut add = |name: &str,
                   digits: usize,
                   ours: &dyn Fn(&LionAtRadius) -> f64,
                   theirs: &dyn Fn(&PublishedLarge) -> f64| {
        let mut cells = vec![cell(name)];
        for (at, published) in on_map.radii.iter().zip(&PUBLISHED) {
            let (a, b) = (ours(at), theirs(published));
            let number = |v: f64| if v.is_finite() { cell(format!("{v:.digits$}")) } else { faint("–") };
            cells.push(number(a));
            cells.push(number(b));
            cells.push(if (a - b).is_finite() { cell(format!("{:+.digits$}", a - b)) } else { faint("–") });
        }
        rows.push(ReportRow { cells, emphasis: name.starts_with("accuracy") });
    };
    let accuracy = |part: PartialAccuracy| if part.count > 0 { part.accuracy } else { f64::NAN };
    add("r_x", 2, &|a| a.radius, &|p| p.radius);
    add("power by cross-validation", 1, &|a| a.power, &|p| p.power);
    add("accuracy, validated p", 4, &|a| a.cross_validated, &|p| p.cross_validated);
    add("accuracy, p = 50", 4, &|a| a.at_50, &|p| p.at_50);
    add("accuracy, p = 200", 4, &|a| a.at_200, &|p| p.at_200);
    add("accuracy, p → ∞", 4, &|a| a.at_infinity, &|p| p.at_infinity);
    add("f2N, share with two neighbours or more", 4, &|a| a.parts.two.share, &|p| p.two[0]);
    add("acc2N, p → ∞", 4, &|a| accuracy(a.parts.two), &|p| p.two[1]);
    add("f1N, share beside an outlier", 4, &|a| a.parts.one.share, &|p| p.one[0]);
    add("acc1N", 4, &|a| accuracy(a.parts.one), &|p| p.one[1]);
    add("fO, share of outliers", 4, &|a| a.parts.outlier.share, &|p| p.outlier[0]);
    add("accO", 4, &|a| accuracy(a.parts.outlier), &|p| p.outlier[1]);
    add("f2N acc2N + f1N acc1N + fO accO", 4, &|a| a.parts.accuracy(), &|p| p.at_infinity);
    add("distance of noise", 2, &|a| a.noise_distance, &|_| PUBLISHED_PARAMETRIC[3]);
    add("percentile of noise", 1, &|a| a.noise_percentile, &|_| 100.0);
    let mut notes = vec![format!(
        "The map's own digits, each among the others: {:.4}. {} of {} images of noise are strangers.",
        on_map.own_accuracy, on_map.strangers, on_map.drawn
    )];
    match parametric {
        Some(plain) => notes.push(format!(
            "Parametric t-SNE itself: accuracy {:.4} (the paper {:.4}, difference {:+.4}); noise at distance {:.2} (the paper {:.2}), percentile {:.1} (the paper {:.0}).",
            plain.accuracy, PUBLISHED_PARAMETRIC[0], plain.accuracy - PUBLISHED_PARAMETRIC[0],
            plain.noise_distance, PUBLISHED_PARAMETRIC[1], plain.noise_percentile, PUBLISHED_PARAMETRIC[2]
        )),
        None => notes.push("The paper's figures are for the map of parametric t-SNE; they stand here for comparison.".into()),
    }
    ReportTable { caption: caption.into(), head: heads, rows, notes }
}
