//! Labels for rows that the map has not seen: by LION, and by k nearest neighbours.

use super::super::error::Result;
use crate::{Estimate, calibration_error};
use lion_tsne::index::ExactIndex;
use lion_tsne::{Lion, LionOptions, Map, Matrix};
use serde::Serialize;

/// Numbers of neighbours that vote.
const NEIGHBOURS: [usize; 3] = [1, 10, 30];

/// How right labels are, and how well their shares say so.
#[derive(Serialize)]
pub(in super::super) struct LabelScores {
    pub(in super::super) name: String,
    /// Of the rows that got a label.
    pub(in super::super) accuracy: Estimate,
    /// The share of rows that got none: outliers.
    pub(in super::super) unlabelled: f64,
    /// By how much shares and right labels differ.
    pub(in super::super) calibration_error: f64,
}

/// LION first, then k nearest neighbours among the map's rows as its preprocessing leaves them.
pub(super) fn measure(
    map: &Map,
    known: &[String],
    rows: &Matrix,
    truth: &[String],
) -> Result<Vec<LabelScores>> {
    let threads = rayon::current_num_threads();
    let lion = Lion::new(map.clone(), &LionOptions { threads, ..LionOptions::default() })?;
    let placed = lion.place(rows)?;
    let votes = placed.iter().map(|placement| {
        let label = placement.label.as_deref()?;
        Some((label.to_owned(), placement.label_share?))
    });
    let mut scores = vec![LabelScores::new("lion", votes.collect(), truth)];
    let x = map.preprocess().apply(rows)?;
    let first = map.first_rows();
    let label = |row: u32| &known[first.as_ref().map_or(row, |first| first[row as usize]) as usize];
    for k in NEIGHBOURS.into_iter().filter(|&k| k < map.x().rows()) {
        let near = ExactIndex::new(map.x())?.nearest(&x, k)?;
        let votes = near.indices.chunks_exact(k).map(|near| most(near.iter().map(|&row| label(row))));
        scores.push(LabelScores::new(&format!("{k} nearest neighbours"), votes.collect(), truth));
    }
    Ok(scores)
}

/// The most frequent label and its share; of equally frequent ones that of the nearest.
fn most<'a>(near: impl Iterator<Item = &'a String>) -> Option<(String, f64)> {
    let mut counts: Vec<(&String, usize)> = Vec::new();
    for label in near {
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let (label, count) = counts.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    Some((label.clone(), count as f64 / total as f64))
}

impl LabelScores {
    fn new(name: &str, votes: Vec<Option<(String, f64)>>, truth: &[String]) -> Self {
        let labelled = votes.iter().zip(truth).filter_map(|(vote, truth)| Some((vote.as_ref()?, truth)));
        let (shares, right): (Vec<f64>, Vec<f64>) =
            labelled.map(|((label, share), truth)| (*share, f64::from(u8::from(label == truth)))).unzip();
        Self {
            name: name.into(),
            unlabelled: 1.0 - shares.len() as f64 / votes.len().max(1) as f64,
            calibration_error: calibration_error(&shares, &right),
            accuracy: Estimate::of(&right),
        }
    }
}
