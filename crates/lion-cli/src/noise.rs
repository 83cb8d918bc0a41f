//! Images of noise, the strangers of the demo.

use anyhow::{Result, ensure};
use lion_tsne::{ExactIndex, Map, Matrix, Search, ignore, nearest_neighbours};

const SEED: u64 = 1;
/// Images drawn at a time, and how many times at most.
const DRAW: usize = 100;
const DRAWS: usize = 50;

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
        let cols = map.preprocess().input_dims();
        let (nearest, _) = nearest_neighbours(map.x(), 1, Search::Exact, 0, &mut ignore)?;
        let farthest = nearest.distances2.iter().copied().fold(0.0, f32::max);
        let index = ExactIndex::new(map.x())?;
        let mut random = SplitMix64(SEED);
        let (mut kept, mut rows, mut drawn) = (Vec::new(), 0, 0);
        for _ in 0..DRAWS {
            let drawing = Matrix::new(DRAW, cols, (0..DRAW * cols).map(|_| random.unit()).collect())?;
            let found = index.nearest(&map.preprocess().apply(&drawing)?, 1)?;
            for (i, &distance2) in found.distances2.iter().enumerate() {
                drawn += 1;
                if distance2 > farthest {
                    kept.extend_from_slice(drawing.row(i));
                    rows += 1;
                }
                if rows == wanted {
                    return Ok(Self { rows: Matrix::new(rows, cols, kept)?, drawn });
                }
            }
        }
        ensure!(rows > 0, "of {drawn} images of noise none is a stranger to this map");
        Ok(Self { rows: Matrix::new(rows, cols, kept)?, drawn })
    }
}

/// Numbers that are the same everywhere and for ever.
struct SplitMix64(u64);

impl SplitMix64 {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`: the 24 bits that such an `f32` has.
    fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::Fit;

    #[test]
    fn the_numbers_are_the_published_ones() {
        assert_eq!(SplitMix64(1_234_567).bits(), 6_457_827_717_110_365_317);
        let mut random = SplitMix64(0);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }

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
