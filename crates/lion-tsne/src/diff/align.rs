//! One map brought onto another by the rows that stayed.
//!
//! The plain least-squares similarity is dragged along by rows that really moved: if a third of a map went elsewhere, the
//! other two thirds would seem to have moved too. So the least squares are reweighted, round after round: a pair whose
//! places are `r` apart counts as 1 / (1 + (r/s)²)², with s the median of all r of the round before (Geman & McClure
//! 1987, Statistical Methods for Tomographic Image Reconstruction; iteratively reweighted as in Holland & Welsch 1977,
//! Robust Regression Using Iteratively Reweighted Least-Squares). The first round is plain. It is deterministic.

use crate::error::Result;
use crate::matrix::Matrix;
use crate::similarity::{Reflection, Similarity};
use rayon::prelude::*;

/// Rounds after the plain one. The weights settle in fewer where most rows stayed.
const ROUNDS: usize = 10;
/// A median distance below this share of the map's radius is rounding: there is nothing left to refine.
const ROUNDING: f64 = 1e-6;

/// The transform that brings places onto those of the same rows in another map. It may mirror: a map is as good as its
/// mirror image.
pub(crate) fn similarity(from: &Matrix, to: &Matrix) -> Result<Similarity> {
    let mut found = Similarity::between(from, to, Reflection::Allowed)?;
    let finest = ROUNDING * radius(to);
    for _ in 0..ROUNDS {
        let apart = distances(&found, from, to);
        let scale = median(&apart);
        if scale <= finest {
            break;
        }
        let weight = |r: f64| (1.0 + (r / scale).powi(2)).powi(-2) as f32;
        let weights: Vec<f32> = apart.into_iter().map(weight).collect();
        let pairs = (0..from.rows()).map(|row| (from.row(row), to.row(row), weights[row]));
        found = Similarity::of_pairs(from.cols(), pairs, Reflection::Allowed)?;
    }
    Ok(found)
}

/// How far each place is from where the transform brings its partner.
pub(crate) fn distances(similarity: &Similarity, from: &Matrix, to: &Matrix) -> Vec<f64> {
    let distance = |row: usize| {
        let mut brought = [0.0; 3];
        similarity.apply_into(from.row(row), &mut brought[..from.cols()]);
        length(brought.iter().zip(to.row(row)).map(|(a, b)| f64::from(*a) - f64::from(*b)))
    };
    (0..from.rows()).into_par_iter().with_min_len(4096).map(distance).collect()
}

/// The mean distance of places from their centre.
pub(crate) fn radius(places: &Matrix) -> f64 {
    let count = places.rows().max(1) as f64;
    let mut centre = [0.0; 3];
    for row in 0..places.rows() {
        centre.iter_mut().zip(places.row(row)).for_each(|(sum, v)| *sum += f64::from(*v) / count);
    }
    let away = |row: usize| length(places.row(row).iter().zip(centre).map(|(v, c)| f64::from(*v) - c));
    (0..places.rows()).map(away).sum::<f64>() / count
}

fn length(parts: impl Iterator<Item = f64>) -> f64 {
    parts.map(|part| part * part).sum::<f64>().sqrt()
}

fn median(values: &[f64]) -> f64 {
    quantile(values.to_vec(), 0.5)
}

/// The value that a share of all values is at most; between two of them it is interpolated. 0 where there is none.
pub(crate) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let at = share.clamp(0.0, 1.0) * values.len().saturating_sub(1) as f64;
    match (values.get(at as usize), values.get(at.ceil() as usize)) {
        (Some(low), Some(high)) => low + (high - low) * at.fract(),
        _ => 0.0,
    }
}
