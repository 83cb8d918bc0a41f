//! Maps after a few iterations.

use super::Record;
use super::table::PLAIN;
use crate::common::clusters;
use lion_tsne::index::Search;
use lion_tsne::{Fit, Init, Map, Method, Metric, PcaChoice, Rows, ignore};

/// Places of some rows, and the numbers of the whole.
fn tell(record: &mut Record, name: &str, map: &Map) {
    let history = map.provenance().kl_history.iter().map(|point| point.kl);
    record.line(&format!("{name} {}", map.provenance().search), history);
    let lion = map.lion().unwrap();
    record.line(name, [lion.r_x, lion.r_y, lion.r_close, lion.power]);
    for row in (0..map.rows()).step_by(map.rows() / 12) {
        record.line(name, map.place(row).iter().map(|v| f64::from(*v)));
    }
}

#[test]
fn maps_after_few_iterations() {
    let mut record = Record::of_descent("maps");
    let short = Fit {
        perplexity: Some(9.0),
        iterations: Some(40),
        exaggeration_iterations: Some(15),
        ..Fit::default()
    };
    for (name, fit) in [
        ("exact", Fit { method: Method::Exact, ..short.clone() }),
        ("fft", Fit { method: Method::Fft, perplexity: Some(40.0), ..short.clone() }),
        ("barnes-hut", Fit { method: Method::BarnesHut, dims: 3, ..short.clone() }),
        ("line", Fit { dims: 1, init: Init::Random, seed: 3, ..short.clone() }),
        ("spectral", Fit { init: Init::Spectral, metric: Metric::Cosine, ..short.clone() }),
        ("projected", Fit { pca: PcaChoice::Components(3), ..short.clone() }),
        ("approximate", Fit { search: Search::Approximate, ..short.clone() }),
    ] {
        tell(&mut record, name, &fit.run(PLAIN.table(), &mut ignore).unwrap());
    }
    // Enough for the accelerated descent, which puts rows in another order.
    let large = Fit { iterations: Some(12), exaggeration_iterations: Some(6), ..short };
    let rows: Rows = clusters(5200, 6, 7, 2.0, 9).into();
    tell(&mut record, "accelerated", &large.run(rows, &mut ignore).unwrap());
    record.check();
}
