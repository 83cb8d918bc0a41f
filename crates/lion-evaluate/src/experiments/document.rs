//! The report, from front to back.

use super::contenders::{Entry, MethodFamily};
use super::error::Result;
use super::figures::{self, figure};
use super::results::{ClaimOutcome, ComparedFigure, Material, Results};
use super::scores::MethodScores;
use super::tables;
use super::{calibration, strangers};
use lion_report::{Claim, ClaimVerdict, Document, DocumentBlock, ReportRow, ReportTable, panel};

/// Writes the report from what was found.
pub(crate) fn document(results: &Results, material: Option<&Material>) -> Result<Document> {
    let entries: &[Entry] = material.map_or(&[], |material| &material.entries);
    let mut blocks = front(results, entries);
    if let Some(material) = material {
        blocks.extend(the_map(results, material)?);
        blocks.extend(power(results)?);
        if results.methods.iter().any(|method| method.cluster.is_some()) {
            blocks.extend(cluster(results, material)?);
        }
        if results.methods.iter().any(|method| method.outliers.is_some()) {
            blocks.extend(outliers(results, material)?);
        }
        if results.methods.iter().any(|method| method.ordinary.is_some()) {
            blocks.extend(others(results, material)?);
        }
        if let Some(found) = &results.calibration {
            blocks.extend(calibration::chapter(found)?);
        }
        if !results.strangers.is_empty() {
            blocks.extend(strangers::chapter(&results.strangers));
        }
        blocks.push(heading(2, "Time", "time"));
        blocks.push(DocumentBlock::Table(tables::speed(results, entries)));
        let judged = |method: &MethodScores| method.cluster.is_some() || method.ordinary.is_some();
        if results.methods.iter().any(judged) {
            blocks.push(figures::speed_accuracy(results, entries)?);
        }
    }
    if let Some(grid) = &results.grid {
        blocks.push(heading(2, "Grid search over networks", "grid"));
        blocks.push(figures::grid(grid)?);
        // So few epochs as a quick run has say nothing about which is best.
        blocks.extend(best_of_grid(grid).filter(|_| !results.run.quick));
    }
    if !results.complexity.is_empty() {
        blocks.extend(complexity(results)?);
    }
    if results.large.is_some() {
        blocks.extend(large(results)?);
    }
    blocks.extend(differences(results));
    blocks.extend(end(results));
    Ok(Document {
        title: "Placing new rows into a t-SNE map".into(),
        subtitle: "Every method and experiment of “Visualizing and Exploring Dynamic High-Dimensional Datasets with LION-tSNE” (Boytsov et al., 2017), run again, and some that it does not have".into(),
        blocks,
    })
}

fn heading(level: u8, text: &str, id: &str) -> DocumentBlock {
    DocumentBlock::Heading { level, text: text.into(), id: id.into() }
}

fn front(results: &Results, entries: &[Entry]) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    let run = &results.run;
    if run.quick {
        blocks.push(DocumentBlock::Note(format!(
            "A quick run: fewer test rows, {} epochs for networks instead of 5000, coarser curves, smaller sizes. Its numbers are for trying the report out; run without --quick for those that count.",
            run.epochs
        )));
    }
    blocks.push(DocumentBlock::Text(format!(
        "Data: {}. Where the paper has a figure, it stands beside ours with the difference. The map is another one than the paper's (other digits, another t-SNE), so numbers that depend on the map differ; what is compared is how methods stand to each other.",
        run.data
    )));
    if !results.claims.is_empty() {
        blocks.push(heading(2, "What holds, and what does not", "claims"));
        blocks.push(DocumentBlock::Text("Each line is a rule that was applied to the numbers below.".into()));
        blocks.push(DocumentBlock::Claims(results.claims.iter().map(claim).collect()));
    }
    if !entries.is_empty() {
        blocks.push(heading(2, "The methods", "methods"));
        blocks.push(DocumentBlock::List(NAMES.map(String::from).into()));
    }
    blocks
}

fn claim(claimed: &ClaimOutcome) -> Claim {
    let verdict = match claimed.holds {
        Some(true) => ClaimVerdict::Holds,
        Some(false) => ClaimVerdict::DoesNot,
        None => ClaimVerdict::NotTested,
    };
    Claim { verdict, text: claimed.claim.clone(), evidence: claimed.evidence.clone() }
}

/// What the names of methods mean.
const NAMES: [&str; 8] = [
    "rbf-…: radial basis functions through every training place. Their width epsilon is the mean distance between rows, as the paper's text has it; e=edges is what its program computes instead.",
    "idw p=…: inverse-distance weighting over all rows, with this power. The one that is none of 1, 10, 20 and 40 was found by leave-one-out here; the paper's figure beside it is for the 27.9 that it found.",
    "gd-closest, gd-random: gradient descent of the new point alone, from the closest row's place or from a random one; -sigma finds all sigmas anew with the new row, -ee begins with early exaggeration.",
    "nn-…: a neural network with so many layers of so many nodes, trained on the map.",
    "kernelized K=…: kernelized t-SNE, its kernels K times as wide as the distance to the nearest row.",
    "lion idw P%: LION as the paper has it, with r_x at percentile P of the distances between nearest rows, and a power found by leave-one-out here; the paper's figure beside it is for its own power.",
    "lion energy P%: LION with the rule that is the default of this program, the place of least t-SNE energy; lion attraction P%: the same without the repulsion of the map's places; calibrated: with the verdict that is the default too, a p-value of at most 1 %; without that word, the paper's rule for outliers.",
    "opentsne-…: openTSNE's way, from the median or the weighted mean of the neighbours' places; fixed-point: attraction alone, from the nearest row's place; + lion P%: with LION's outliers around it.",
];

fn the_map(results: &Results, material: &Material) -> Result<Vec<DocumentBlock>> {
    let mut blocks = vec![heading(2, "The map", "map")];
    if let Some(map) = &results.map {
        blocks.push(DocumentBlock::Text(format!(
            "{} digits of {} pixels, by PCA to {} components, perplexity {}: fitted in {:.2} s. KL divergence {:.4} with P over all pairs (the paper's map: 1.1169). The mean share of a digit's ten nearest others that show the same is {:.2} %.",
            map.rows, map.columns, map.components, map.perplexity, map.seconds, map.kl, map.accuracy
        )));
    }
    blocks.push(figures::the_map(material)?);
    Ok(blocks)
}

fn power(results: &Results) -> Result<Vec<DocumentBlock>> {
    let mut blocks =
        vec![heading(2, "The power of inverse-distance weighting", "power"), figures::one_dimension()?];
    if !results.powers.is_empty() {
        blocks.push(figures::cross_validation(&results.powers)?);
        blocks.push(DocumentBlock::Table(tables::powers(results)));
    }
    Ok(blocks)
}

fn cluster(results: &Results, material: &Material) -> Result<Vec<DocumentBlock>> {
    let mut blocks = vec![
        heading(2, "Cluster attribution test", "cluster"),
        DocumentBlock::Text("Unseen digits, each the closest there is to some training digit, closer to it than any other training digit: they should land among digits of their own kind.".into()),
        DocumentBlock::Table(tables::cluster(results, &material.entries)),
        DocumentBlock::Table(tables::networks(results, &material.entries)),
        figures::test_digits(material)?,
        figures::test_positions(material)?,
        figures::power_accuracy(results)?,
    ];
    if results.widths.iter().any(|width| width.accuracy.is_some()) {
        blocks.push(figures::width_accuracy(results)?);
    }
    let shown = shown(material);
    blocks.push(heading(3, "Where the first ten land", "cluster-landings"));
    for entry in &shown {
        blocks.push(figure(
            &format!("landing-cluster-{}", family(entry)),
            figures::landing(material, entry, "cluster")?,
            &format!("{}: where the first ten test digits land, with a line to the place of the training digit that each was picked for.", entry.name()),
            "The map with ten numbered new points",
        ));
    }
    blocks.push(figure(
        "mean-images",
        figures::mean_images(material, &shown)?.picture()?,
        "For each method, the mean image of the ten training digits whose places are nearest to where a test digit landed: what the map says that the digit is like.",
        "Rows of averaged digits, one for each method",
    ));
    Ok(blocks)
}

/// One method of each of the paper's kinds.
fn shown(material: &Material) -> Vec<&Entry> {
    material
        .entries
        .iter()
        .filter(|entry| entry.shown && material.trials.contains_key(&entry.name()))
        .collect()
}

fn family(entry: &Entry) -> &'static str {
    match entry.family {
        MethodFamily::Rbf => "rbf",
        MethodFamily::Idw => "idw",
        MethodFamily::Descent => "gd",
        MethodFamily::Network => "nn",
        MethodFamily::Kernelized => "kernelized",
        MethodFamily::Lion => "lion",
        MethodFamily::Beyond => "beyond",
    }
}

fn outliers(results: &Results, material: &Material) -> Result<Vec<DocumentBlock>> {
    let mut blocks = vec![
        heading(2, "Outlier test", "outliers"),
        DocumentBlock::Text("Images of uniform noise, through the same PCA: they belong to no cluster, and should be seen to.".into()),
        figure(
            "noise",
            figures::images(material, "noise", 30)?,
            "The first thirty images of noise.",
            "Thirty grey noise images",
        ),
        DocumentBlock::Table(tables::outliers(results, &material.entries)),
    ];
    if results.widths.iter().any(|width| width.distance.is_some()) {
        blocks.push(figures::width_distance(results)?);
    }
    let landings: Vec<_> = shown(material)
        .into_iter()
        .map(|entry| figures::landing(material, entry, "noise"))
        .collect::<Result<_>>()?;
    blocks.push(figure(
        "landings-noise",
        panel("", &landings, 2)?,
        "Where the first ten images of noise land, by method. Each is placed alone, so where they are relative to each other says nothing.",
        "Six maps with ten outliers each",
    ));
    blocks.push(figures::outliers_at_once(material)?);
    Ok(blocks)
}

fn others(results: &Results, material: &Material) -> Result<Vec<DocumentBlock>> {
    Ok(vec![
        heading(2, "What the paper's sets cannot show", "others"),
        DocumentBlock::Text("The cluster test picks digits that are close to known ones, and the outlier test picks noise that is farther than LION's radius. Here are digits picked at random, letters drawn as strokes as wide as those of the digits, and a digit that the map has never seen.".into()),
        figure(
            "letters",
            figures::images(material, "letters", 20)?,
            "The first twenty letters: strokes drawn with a round pen, with random slant, size and wobble.",
            "Twenty drawn letters",
        ),
        DocumentBlock::Table(tables::others(results, &material.entries)),
        figures::strangers(material)?,
    ])
}

fn best_of_grid(grid: &super::results::GridSearch) -> Option<DocumentBlock> {
    let mut cells: Vec<&super::sweeps::GridCell> = grid.cells.iter().collect();
    cells.sort_by(|a, b| a.validation_error.total_cmp(&b.validation_error));
    let described = |cell: &&super::sweeps::GridCell| {
        format!(
            "{} x {} {} with dropout {}: {:.1} on rows not seen, {:.2} on those trained on",
            cell.layers,
            cell.nodes,
            if cell.tanh { "tanh" } else { "ReLU" },
            cell.dropout,
            cell.validation_error,
            cell.training_error
        )
    };
    let best: Vec<String> = cells.iter().take(3).map(described).collect();
    (!best.is_empty()).then(|| {
        let mut lines = vec![format!("The best three of {} after {} epochs (the paper's best: 2 x 250 ReLU with dropout 0.25, then 2 x 500 ReLU with 0.5; the best with one layer 1 x 500 tanh without):", cells.len(), grid.epochs)];
        lines.extend(best);
        DocumentBlock::List(lines)
    })
}

fn complexity(results: &Results) -> Result<Vec<DocumentBlock>> {
    let timings = &results.complexity;
    let mut blocks = vec![
        heading(2, "Complexity, measured", "complexity"),
        DocumentBlock::Text("Rows in ten clouds, places in ten others; the times are of this machine, the exponents are what can be compared.".into()),
        DocumentBlock::Table(tables::growth(timings)),
    ];
    for (name, by_rows, building, words) in [
        ("complexity-build-rows", true, true, "Time to build against the number of rows"),
        ("complexity-row-rows", true, false, "Time for a row against the number of rows"),
        ("complexity-build-columns", false, true, "Time to build against the number of columns"),
        ("complexity-row-columns", false, false, "Time for a row against the number of columns"),
    ] {
        blocks.push(figure(
            name,
            figures::times(timings, by_rows, building)?,
            &format!("{words}, log-log, with the exponent of growth in brackets."),
            words,
        ));
    }
    Ok(blocks)
}

fn large(results: &Results) -> Result<Vec<DocumentBlock>> {
    let Some(large) = &results.large else { return Ok(Vec::new()) };
    Ok(vec![
        heading(2, "60000 x 784", "large"),
        DocumentBlock::Text(format!(
            "All 60000 training digits, all 784 pixels, no PCA; the 10000 test digits are placed. Parametric t-SNE, a network of 500-500-2000-2, was trained here in {:.1} minutes; LION places the same digits into the map that it made.",
            large.training_seconds / 60.0
        )),
        DocumentBlock::Table(tables::large(
            "LION on the map of parametric t-SNE",
            &large.on_parametric,
            Some(&large.parametric),
        )),
        figures::large_powers("parametric", &large.on_parametric, Some(large.parametric.accuracy))?,
        figures::large_validation("parametric", &large.on_parametric)?,
        heading(3, "The same on a t-SNE map", "large-tsne"),
        DocumentBlock::Text(format!(
            "The same rows, with a map of our own t-SNE, fitted in {:.1} s.",
            large.fit_seconds
        )),
        DocumentBlock::Table(tables::large("LION on our t-SNE map", &large.on_tsne, None)),
        figures::large_powers("tsne", &large.on_tsne, None)?,
        figures::large_validation("tsne", &large.on_tsne)?,
    ])
}

/// Where we differ from the paper by more than noise, and why, where that is known.
fn differences(results: &Results) -> Vec<DocumentBlock> {
    if results.methods.iter().all(|method| method.cluster.is_none() && method.outliers.is_none()) {
        return Vec::new();
    }
    let mut blocks = vec![
        heading(2, "Where we differ from the paper", "differences"),
        DocumentBlock::Text("Listed is every figure that differs from the paper's by more than three standard errors, taking the paper's to be as uncertain as ours would be with its 1000 rows. Accuracy is relative to the baseline. The digits and the map are others than the paper's, which no standard error accounts for; a cause is named only where something measured here speaks for it.".into()),
    ];
    match &results.differences[..] {
        [] => blocks.push(DocumentBlock::Text("None.".into())),
        differing => blocks.push(DocumentBlock::Table(ReportTable {
            caption: "Differences beyond noise".into(),
            head: vec![
                text_head("method"),
                text_head("figure"),
                number_head("difference"),
                number_head("standard error"),
                text_head("why"),
            ],
            rows: differing
                .iter()
                .map(|one| ReportRow {
                    cells: vec![
                        tables::cell(&one.method),
                        tables::cell(figure_name(one.figure)),
                        tables::cell(format!("{:+.2}", one.difference)),
                        tables::cell(format!("{:.2}", one.standard_error)),
                        tables::cell(&one.why),
                    ],
                    emphasis: false,
                })
                .collect(),
            notes: Vec::new(),
        })),
    }
    blocks
}

fn figure_name(figure: ComparedFigure) -> &'static str {
    match figure {
        ComparedFigure::Accuracy => "accuracy, points",
        ComparedFigure::Percentile => "distance percentile",
        ComparedFigure::Kl => "KL, thousandths",
        ComparedFigure::NoisePercentile => "noise: percentile",
        ComparedFigure::NoiseDistance => "noise: distance",
    }
}

fn text_head(text: &str) -> lion_report::Head {
    lion_report::Head { text: text.into(), title: String::new(), numeric: false, group: String::new() }
}

fn number_head(text: &str) -> lion_report::Head {
    lion_report::Head { numeric: true, ..text_head(text) }
}

fn end(results: &Results) -> Vec<DocumentBlock> {
    let run = &results.run;
    let mut facts = vec![
        format!("Data: {}", run.data),
        format!("Parts: {}", run.parts.join(", ")),
        format!("Seed {}, version {}, {} threads", run.seed, run.version, run.threads),
        format!("Machine: {}", run.machine),
        format!("Duration of all stages: {:.0} s", run.seconds),
    ];
    if run.kept > 0 {
        facts.push(format!("{} stages were kept from an earlier run, with their times of then", run.kept));
    }
    let notes: Vec<String> = results
        .methods
        .iter()
        .flat_map(|method| method.notes.iter().map(move |note| format!("{}: {note}", method.method)))
        .collect();
    let mut blocks = vec![heading(2, "How this was made", "made"), DocumentBlock::List(facts)];
    if !notes.is_empty() {
        blocks.push(DocumentBlock::Text("What methods had to say of how they were built:".into()));
        blocks.push(DocumentBlock::List(notes));
    }
    blocks
}
