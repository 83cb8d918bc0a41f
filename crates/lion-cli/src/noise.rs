//! Images of noise, the strangers of the demo.

use anyhow::{Result, ensure};
use lion_evaluate::{noise, strangers};
use lion_tsne::{Map, Matrix};

const SEED: u64 = 1;
/// How many are looked at.
const DRAWN: usize = 5000;

/// Rows of noise that are farther from every row of a map than any two nearest rows of it are from each other.
pub(crate) struct Noise {
    /// Each value uniform from 0 to 1.
    pub(crate) rows: Matrix,
    /// How many were drawn to find so many.
    pub(crate) drawn: usize,
}

impl Noise {
    /// So many rows of noise that are strangers to the map. The noise is the same for every map; which of it is kept is
    /// the rule of the paper's outlier test.
    pub(crate) fn strange_to(map: &Map, wanted: usize) -> Result<Self> {
        let all = noise(map.preprocess().input_dims(), DRAWN, SEED);
        let mut kept = strangers(map, &all)?;
        ensure!(!kept.is_empty(), "of {DRAWN} images of noise none is a stranger to this map");
        kept.truncate(wanted);
        let enough = kept.last().filter(|_| kept.len() == wanted);
        let drawn = enough.map_or(DRAWN, |&last| last as usize + 1);
        Ok(Self { rows: all.select(&kept), drawn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::{Fit, ignore};

    #[test]
    fn noise_is_kept_only_where_it_is_strange() {
        // Rows along a line, 0.1 apart: noise farther than that from the line is strange.
        let rows =
            |n: usize| Matrix::new(n, 2, (0..n).flat_map(|i| [i as f32 * 0.1, 0.0]).collect()).unwrap();
        let map = |n: usize| Fit::default().adopt(rows(n), rows(n), &mut ignore).unwrap();
        let noise = Noise::strange_to(&map(12), 30).unwrap();
        assert_eq!((noise.rows.rows(), noise.rows.cols()), (30, 2));
        assert!(noise.drawn >= 30 && noise.drawn < 60, "{}", noise.drawn);
        assert!((0..30).all(|i| noise.rows.row(i)[1] > 0.08));
    }
}
