//! The page of an evaluation on a table.

use super::super::calibration::CalibrationCheck;
use super::super::tables::{cell, head, judged, name_head};
use super::TableResults;
use lion_report::{Document, DocumentBlock, ReportRow, ReportTable};

pub(super) fn document(found: &TableResults) -> Document {
    let TableResults { data, rows, columns, classes, training, tested, perplexity, machine, .. } = found;
    let mut blocks = vec![DocumentBlock::Text(format!(
        "{training} of {rows} rows with {columns} columns and {classes} labels were drawn at random and fitted with perplexity {perplexity}; {tested} others, which the map has not seen, were placed in it. Labels were never used to fit or to place."
    ))];
    if found.quick {
        blocks.push(DocumentBlock::Note("A quick run: fewer rows and classes than usual.".into()));
    }
    blocks.extend(quality(found));
    blocks.extend(methods(found));
    blocks.extend(labels(found));
    blocks.extend(found.calibration.iter().flat_map(calibration));
    blocks.extend(left_out(found));
    let subtitle = format!("lion {}, seed {}, {machine}, {:.0} s", found.version, found.seed, found.seconds);
    Document { title: format!("Evaluation on {data}"), subtitle, blocks }
}

fn heading(text: &str, id: &str) -> DocumentBlock {
    DocumentBlock::Heading { level: 2, text: text.into(), id: id.into() }
}

fn table(
    caption: &str,
    head: Vec<lion_report::Head>,
    rows: Vec<Vec<lion_report::ReportCell>>,
) -> DocumentBlock {
    let rows = rows.into_iter().map(|cells| ReportRow { cells, emphasis: false }).collect();
    DocumentBlock::Table(ReportTable { caption: caption.into(), head, rows, notes: Vec::new() })
}

fn quality(found: &TableResults) -> Vec<DocumentBlock> {
    let share = found.label_share.map_or(String::new(), |share| {
        format!(" Of the ten places around a row of the map, {:.0} % carry its label.", 100.0 * share)
    });
    let heads = vec![
        name_head("neighbours"),
        head("trustworthiness", "neighbours on the map that are neighbours in the table; 1 is all", ""),
        head("continuity", "neighbours in the table that are neighbours on the map; 1 is all", ""),
        head("neighbours kept", "the share of the nearest rows that are among as many nearest places", ""),
    ];
    let rows = found.quality.iter().map(|at| {
        let numbers = [at.trustworthiness, at.continuity, at.neighbours_kept];
        let cells = numbers.iter().map(|value| cell(format!("{value:.3}")));
        [cell(at.neighbours.to_string())].into_iter().chain(cells).collect()
    });
    vec![
        heading("The map", "the-map"),
        DocumentBlock::Text(format!(
            "How well the map keeps the neighbours of its own rows, by all columns of the table.{share}"
        )),
        table("Quality of the map", heads, rows.collect()),
    ]
}

fn methods(found: &TableResults) -> Vec<DocumentBlock> {
    let cluster = match found.cluster_rows {
        0 => "The cluster test is left out: no row kept aside is closer to a row of the map than other rows of the map are.".into(),
        rows => format!("The cluster test has {rows} of the rows kept aside: each is closer to a row of the map than any other row of the map is."),
    };
    let heads = vec![
        name_head("method"),
        head("cluster test", "share of right labels around the place, with its standard error", "accuracy"),
        head("all rows", "the same for all rows kept aside", "accuracy"),
        head("µs a row", "to place and judge one row", ""),
    ];
    let shown = |estimate: &crate::Estimate| format!("{:.3} ± {:.3}", estimate.mean, estimate.error);
    let rows = found.methods.iter().map(|method| {
        vec![
            cell(&method.name),
            cell(method.cluster.as_ref().map_or("–".into(), shown)),
            cell(shown(&method.ordinary)),
            cell(format!("{:.0}", method.microseconds)),
        ]
    });
    vec![
        heading("Placing new rows", "placing"),
        DocumentBlock::Text(format!(
            "The accuracy of a place is the share of the ten places around it that carry the label of the row. {cluster}"
        )),
        table("Accuracy of places", heads, rows.collect()),
    ]
}

fn labels(found: &TableResults) -> Vec<DocumentBlock> {
    let heads = vec![
        name_head("labels by"),
        head("accuracy", "right labels among the rows that got one", ""),
        head(
            "calibration error",
            "the mean difference between the share that is told and the share that is right",
            "",
        ),
        head("no label, %", "outliers, which get none", ""),
    ];
    let rows = found.labels.iter().map(|scores| {
        vec![
            cell(&scores.name),
            cell(format!("{:.3} ± {:.3}", scores.accuracy.mean, scores.accuracy.error)),
            cell(format!("{:.3}", scores.calibration_error)),
            cell(format!("{:.1}", 100.0 * scores.unlabelled)),
        ]
    });
    vec![
        heading("Labels for new rows", "labels"),
        DocumentBlock::Text(
            "A new row gets the label of most of its neighbours and how likely it is right. Beside it, the most frequent label among k nearest rows of the map, with its plain share.".into(),
        ),
        table("Labels", heads, rows.collect()),
    ]
}

fn calibration(found: &CalibrationCheck) -> Vec<DocumentBlock> {
    let heads = vec![
        name_head("alpha, %"),
        head("called outliers, %", "of the rows kept aside", ""),
        head("standard error", "of what is observed if the promise is kept", ""),
    ];
    let rows = found.calibrated.iter().map(|rate| {
        vec![
            cell(format!("{:.0}", rate.promised)),
            judged(format!("{:.2}", rate.observed), rate.is_kept()),
            cell(format!("{:.2}", rate.standard_error)),
        ]
    });
    vec![
        heading("Calibration", "calibration"),
        DocumentBlock::Text(format!(
            "Of rows like those of the map a share alpha should be called outliers. Here are {} rows that were kept aside.",
            found.rows
        )),
        table("Promised and observed", heads, rows.collect()),
    ]
}

fn left_out(found: &TableResults) -> Vec<DocumentBlock> {
    if found.left_out.is_empty() {
        return Vec::new();
    }
    let heads = vec![
        name_head("class left out"),
        head("rows", "of that class, placed in a map without it", ""),
        head("AUC", "the chance that such a row is stranger than an ordinary one; 0.5 is chance", ""),
        head("found at 5 %", "percent beyond a threshold that 5 % of ordinary rows pass", ""),
        head("of the class", "called outliers as it is by default, in percent", "called outliers, %"),
        head("of others", "1 % is promised", "called outliers, %"),
    ];
    let rows = found.left_out.iter().map(|kind| {
        vec![
            cell(&kind.name),
            cell(kind.strangers.to_string()),
            cell(format!("{:.3}", kind.by_score.auc)),
            cell(format!("{:.1}", kind.by_score.at_5)),
            cell(format!("{:.1}", kind.strangers_called)),
            cell(format!("{:.2}", kind.ordinary_called)),
        ]
    });
    vec![
        heading("Classes that the map does not know", "left-out"),
        DocumentBlock::Text(
            "Each class is left out of a map in turn, the most frequent first. A class that looks like a known one cannot be found: its rows are then ordinary rows of that one.".into(),
        ),
        table("Classes left out", heads, rows.collect()),
    ]
}
