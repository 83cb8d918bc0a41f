//! How good places are, the same for whatever chose them.

use anyhow::{Result, ensure};
use lion_tsne::{ExactIndex, Map, Matrix, Placement, Search, ignore, nearest_neighbours};

/// How many of the nearest places are looked at for labels.
const NEAREST: usize = 10;

/// The places of all rows of a map, equal rows too.
pub fn of_map(map: &Map) -> Result<Matrix> {
    let places = (0..map.rows()).flat_map(|row| map.place(row)).copied().collect();
    Ok(Matrix::new(map.rows(), map.dims(), places)?)
}

/// The places of placed rows.
pub fn of_placements(placements: &[Placement]) -> Result<Matrix> {
    let dims = placements.first().map_or(2, |placement| placement.place.len());
    let places = placements.iter().flat_map(|placement| placement.place.iter().copied()).collect();
    Ok(Matrix::new(placements.len(), dims, places)?)
}

/// For each of `places` the share of the ten nearest places of the map, `y`, whose label is its `own`.
pub fn label_shares(y: &Matrix, labels: &[String], places: &Matrix, own: &[String]) -> Result<Vec<f64>> {
    ensure!(y.rows() == labels.len() && places.rows() == own.len(), "there must be a label for each place");
    let nearest = ExactIndex::new(y)?.nearest(places, NEAREST)?;
    Ok(shares(&nearest.indices, labels, own))
}

/// The mean share of the ten nearest others of a map's places that have the same label.
pub fn accuracy_of_map(y: &Matrix, labels: &[String]) -> Result<f64> {
    ensure!(y.rows() == labels.len(), "there must be a label for each place");
    let (nearest, _) = nearest_neighbours(y, NEAREST, Search::Exact, 0, &mut ignore)?;
    Ok(mean(&shares(&nearest.indices, labels, labels)))
}

fn shares(nearest: &[u32], labels: &[String], own: &[String]) -> Vec<f64> {
    let share = |(near, own): (&[u32], &String)| {
        near.iter().filter(|&&row| labels[row as usize] == *own).count() as f64 / NEAREST as f64
    };
    nearest.chunks_exact(NEAREST).zip(own).map(share).collect()
}

/// The mean percentile, among the distances NN-Y between nearest places of the map, of how far each of `places` is from
/// the nearest place of the map.
pub fn percentile(y: &Matrix, places: &Matrix) -> Result<f64> {
    let (between, _) = nearest_neighbours(y, 1, Search::Exact, 0, &mut ignore)?;
    let mut between = between.distances2;
    between.sort_unstable_by(f32::total_cmp);
    let below = |distance2: &f32| between.partition_point(|other| other <= distance2) as f64;
    let found = ExactIndex::new(y)?.nearest(places, 1)?;
    let percentile = |distance2: &f32| 100.0 * below(distance2) / between.len() as f64;
    Ok(mean(&found.distances2.iter().map(percentile).collect::<Vec<f64>>()))
}

/// The mean, 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eleven places "a" on a line, 1 apart, and eleven "b" far away, 2 apart.
    fn map() -> (Matrix, Vec<String>) {
        let place = |i: usize| if i < 11 { [i as f32, 0.0] } else { [(i * 2) as f32, 1000.0] };
        let labels = (0..22).map(|i| if i < 11 { "a" } else { "b" }.to_owned()).collect();
        (Matrix::new(22, 2, (0..22).flat_map(place).collect()).unwrap(), labels)
    }

    #[test]
    fn shares_count_the_ten_nearest() {
        let (y, labels) = map();
        let places = Matrix::new(3, 2, vec![5.0, 0.1, 5.0, 0.1, 30.0, 900.0]).unwrap();
        let own = ["a", "b", "b"].map(str::to_owned);
        assert_eq!(label_shares(&y, &labels, &places, &own).unwrap(), [1.0, 0.0, 1.0]);
        assert_eq!(accuracy_of_map(&y, &labels).unwrap(), 1.0);
        assert!(label_shares(&y, &labels, &places, &own[..2]).is_err());
    }

    #[test]
    fn percentiles_are_among_the_distances_between_nearest_places() {
        let (y, _) = map();
        let at = |x: f32, up: f32| percentile(&y, &Matrix::new(1, 2, vec![x, up]).unwrap()).unwrap();
        assert_eq!((at(5.0, 0.5), at(5.0, 1.5), at(5.0, 50.0)), (0.0, 50.0, 100.0));
        let both = Matrix::new(2, 2, vec![5.0, 0.5, 5.0, 50.0]).unwrap();
        assert_eq!(percentile(&y, &both).unwrap(), 50.0);
    }
}
