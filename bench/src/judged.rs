//! How good maps are, the same for whatever made them. What is known of the data is computed once for all maps of it.

use anyhow::{Result, ensure};
use lion_evaluate::{Judge, centroid_correlation, nearest_places, neighbours_kept, triplet_accuracy};
use lion_tsne::index::{Neighbours, Search, nearest_neighbours};
use lion_tsne::tsne::{Affinities, kl_divergence};
use lion_tsne::{Matrix, ignore};
use serde_json::{Value, json};

/// The numbers of neighbours that a map may keep.
const SCALES: [usize; 2] = [10, 100];
/// The seed of the triplets.
const SEED: u64 = 0;

/// Rows that maps are judged by.
pub struct JudgedData {
    rows: Matrix,
    labels: Option<Vec<String>>,
    neighbours: Neighbours,
    affinities: Affinities,
}

impl JudgedData {
    /// Of these rows, with a label for each or none; KL divergences are at this perplexity.
    pub fn new(rows: Matrix, labels: Option<Vec<String>>, perplexity: f64) -> Result<Self> {
        let wanted = (3.0 * perplexity).ceil() as usize;
        let count = rows.rows();
        ensure!(
            wanted < count,
            "perplexity {perplexity} needs more than {wanted} rows, and there are {count}"
        );
        let most = SCALES.into_iter().fold(wanted, usize::max).min(count - 1);
        let (neighbours, _) = nearest_neighbours(&rows, most, Search::Exact, 0, &mut ignore)?;
        let affinities = Affinities::new(first(&neighbours, wanted), perplexity);
        Ok(Self { rows, labels, neighbours, affinities })
    }

    /// All that is told of a map: `kl` with exact neighbours in P and every pair in Q; `accuracy`, the mean share of the ten nearest
    /// places with a row's label; `kept_10` and `kept_100`, the mean share of a row's nearest rows that are among its nearest
    /// places; `centroids`, Spearman's correlation of the distances between classes; `triplets`, the random triplet accuracy.
    pub fn metrics(&self, places: &Matrix) -> Result<Value> {
        let near = nearest_places(places, self.neighbours.k)?;
        let labels = self.labels.as_deref();
        let accuracy = labels.map(|labels| Judge::of(places, Some(labels))?.of_the_map()).transpose()?;
        let centroids =
            labels.map(|labels| centroid_correlation(&self.rows, places, labels)).transpose()?.flatten();
        let mut found = json!({
            "kl": kl_divergence(&self.affinities, places)?,
            "accuracy": accuracy,
            "centroids": centroids,
            "triplets": triplet_accuracy(&self.rows, places, SEED)?,
        });
        for k in SCALES.into_iter().filter(|&k| k <= near.k) {
            found[format!("kept_{k}")] = neighbours_kept(&self.neighbours, &near, k)?.into();
        }
        Ok(found)
    }
}

/// The nearest `k` of each row.
fn first(neighbours: &Neighbours, k: usize) -> Neighbours {
    fn cut<T: Copy>(all: &[T], from: usize, to: usize) -> Vec<T> {
        all.chunks_exact(from).flat_map(|row| &row[..to]).copied().collect()
    }
    let from = neighbours.k;
    Neighbours {
        k,
        indices: cut(&neighbours.indices, from, k),
        distances2: cut(&neighbours.distances2, from, k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::numerics::Random;

    fn random(rows: usize, cols: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::new(rows, cols, (0..rows * cols).map(|_| random.gaussian() as f32).collect()).unwrap()
    }

    fn number(found: &Value, name: &str) -> f64 {
        found[name].as_f64().unwrap_or_else(|| panic!("no {name}: {found}"))
    }

    #[test]
    fn a_map_that_is_its_data_keeps_everything() {
        let places = random(400, 2, 1);
        let labels = (0..400).map(|row: usize| (row % 4).to_string()).collect();
        let data = JudgedData::new(places.clone(), Some(labels), 30.0).unwrap();
        let (same, other) = (data.metrics(&places).unwrap(), data.metrics(&random(400, 2, 2)).unwrap());
        for name in ["kept_10", "kept_100", "centroids", "triplets"] {
            assert_eq!(number(&same, name), 1.0, "{name}");
            assert!(number(&other, name) < 0.9, "{name}: {other}");
        }
        assert!(number(&same, "kl") < number(&other, "kl"));
    }

    #[test]
    fn the_divergence_is_that_of_three_times_the_perplexity() {
        let (rows, places) = (random(300, 5, 3), random(300, 2, 4));
        let (neighbours, _) = nearest_neighbours(&rows, 30, Search::Exact, 0, &mut ignore).unwrap();
        let kl = kl_divergence(&Affinities::new(neighbours, 10.0), &places).unwrap();
        let found = JudgedData::new(rows, None, 10.0).unwrap().metrics(&places).unwrap();
        assert_eq!(number(&found, "kl"), kl);
        assert_eq!((&found["accuracy"], &found["centroids"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn few_rows_have_no_hundred_neighbours() {
        let data = JudgedData::new(random(50, 3, 5), None, 10.0).unwrap();
        let found = data.metrics(&random(50, 2, 6)).unwrap();
        assert!(found.get("kept_100").is_none() && number(&found, "kept_10") < 1.0, "{found}");
        assert!(JudgedData::new(random(30, 3, 5), None, 10.0).is_err());
        assert!(data.metrics(&random(49, 2, 6)).is_err());
    }
}
