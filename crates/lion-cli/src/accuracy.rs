//! How well places go with labels: the share of the nearest training places that carry the right one.

use anyhow::Result;
use lion_tsne::{ExactIndex, Labels, Map, Matrix, Search, ignore, nearest_neighbours};
use std::collections::HashMap;

/// How many of the nearest places are looked at.
const NEAREST: usize = 10;

/// The code of a label that the map does not have.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The places of a map's rows, with their labels, for looking at what is around other places.
pub(crate) struct Judge<'a> {
    labels: &'a Labels,
    codes: HashMap<&'a str, u32>,
    places: Matrix,
    index: ExactIndex,
}

impl<'a> Judge<'a> {
    /// Nothing if the map has no labels.
    pub(crate) fn new(map: &'a Map) -> Result<Option<Self>> {
        let Some(labels) = map.labels() else { return Ok(None) };
        let places = (0..map.rows()).flat_map(|i| map.place(i)).copied().collect();
        let places = Matrix::new(map.rows(), map.dims(), places)?;
        let index = ExactIndex::new(&places)?;
        Ok(Some(Self { labels, codes: labels.names().zip(0..).collect(), places, index }))
    }

    /// The code of a label: its position among those of the map.
    pub(crate) fn code(&self, label: &str) -> u32 {
        self.codes.get(label).copied().unwrap_or(UNKNOWN)
    }

    /// For each place, the share of the 10 nearest training places whose label has the place's own code. A training
    /// place at the very spot counts like any other.
    pub(crate) fn shares(&self, places: &Matrix, codes: &[u32]) -> Result<Vec<f64>> {
        let found = self.index.nearest(places, NEAREST.min(self.places.rows()))?;
        Ok(self.count(&found.indices, found.k, codes))
    }

    /// The same for the training rows themselves, each among the others; the mean.
    pub(crate) fn of_the_map(&self) -> Result<f64> {
        let nearest = NEAREST.min(self.places.rows() - 1);
        let (found, _) = nearest_neighbours(&self.places, nearest, Search::Exact, 0, &mut ignore)?;
        Ok(mean(&self.count(&found.indices, found.k, self.labels.codes())))
    }

    fn count(&self, found: &[u32], nearest: usize, codes: &[u32]) -> Vec<f64> {
        let labels = self.labels.codes();
        let share = |(rows, code): (&[u32], &u32)| {
            let same = rows.iter().filter(|&&row| labels[row as usize] == *code).count();
            same as f64 / nearest as f64
        };
        found.chunks_exact(nearest).zip(codes).map(share).collect()
    }
}

/// The mean, 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::{Fit, Rows};

    #[test]
    fn shares_are_counted_among_the_nearest() {
        // Two clusters of 12 places, one all "a", the other half "b", half "c".
        let place = |i: usize| [(i / 12) as f32 * 100.0 + (i % 4) as f32, (i % 12 / 4) as f32];
        let places: Vec<f32> = (0..24).flat_map(place).collect();
        let labels = (0..24).map(|i| if i < 12 { "a" } else { ["b", "c"][i % 2] }.to_owned()).collect();
        let places = Matrix::new(24, 2, places).unwrap();
        let rows = Rows { data: places.clone(), ids: None, labels: Some(labels) };
        let map = Fit::default().adopt(rows, places, &mut ignore).unwrap();
        let judge = Judge::new(&map).unwrap().unwrap();
        assert_eq!((judge.code("c"), judge.code("d")), (judge.code("b") ^ 3, UNKNOWN));

        let asked = Matrix::new(3, 2, vec![1.5, 1.0, 1.5, 1.0, 101.5, 1.0]).unwrap();
        let shares = judge.shares(&asked, &[judge.code("a"), UNKNOWN, judge.code("b")]).unwrap();
        assert_eq!(shares[..2], [1.0, 0.0]);
        assert!((0.3..=0.7).contains(&shares[2]), "{shares:?}");
        let whole = judge.of_the_map().unwrap();
        assert!((0.6..0.8).contains(&whole), "{whole}");
    }
}
