//! What would another map of the same rows show? Maps fitted again, with other seeds or perplexities.

use super::{Quality, QualityOptions, space};
use crate::error::{Error, Result};
use crate::fit::{Fit, Init, Rows, pool};
use crate::kd_tree::KdTree;
use crate::map::Map;
use crate::matrix::Matrix;
use crate::preprocess::PcaChoice;
use crate::progress::ignore;
use crate::random::Random;
use rayon::prelude::*;

/// So many nearest places of a row are compared between two maps.
const COMPARED: usize = 10;

/// How maps are fitted again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefitOptions {
    /// Of more distinct rows, a fixed sample of so many is fitted.
    pub most_rows: usize,
    /// The seed of the sample, and the first one of the fits.
    pub seed: u64,
    /// Threads, 0 for all. The result does not depend on it.
    pub threads: usize,
}

impl Default for RefitOptions {
    fn default() -> Self {
        Self { most_rows: 5000, seed: 0, threads: 0 }
    }
}

/// How much of a map is the same from whatever first layout it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedStability {
    /// How many maps were fitted.
    pub fits: usize,
    /// To so many distinct rows each.
    pub rows: usize,
    /// The mean share of a row's 10 nearest places that are the same in two of these maps.
    pub shared: f64,
    /// The same between this map and each of them; `None` if they were fitted to a sample.
    pub shared_with_map: Option<f64>,
}

/// A perplexity that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct PerplexityTrial {
    /// The perplexity.
    pub perplexity: f64,
    /// How good the map is that it made.
    pub quality: Quality,
}

/// The rows that are fitted again.
struct Refitted<'a> {
    map: &'a Map,
    /// Distinct rows of the map, ascending.
    chosen: Vec<u32>,
}

impl<'a> Refitted<'a> {
    fn new(map: &'a Map, options: &RefitOptions) -> Self {
        let rows = map.x().rows();
        Self { map, chosen: Random::new(options.seed).sample(rows, options.most_rows) }
    }

    /// The settings of the map's own fit, as far as they are known, for these rows.
    fn fit(&self, options: &RefitOptions) -> Fit {
        let (default, kept) = (Fit::default(), self.map.provenance());
        let made_here = !kept.adopted && kept.iterations > 0;
        Fit {
            perplexity: Some(self.map.perplexity().min(self.most_perplexity())),
            descent: kept.descent,
            iterations: made_here.then_some(kept.iterations),
            dims: self.map.dims(),
            pca: PcaChoice::None,
            threads: options.threads,
            ..default
        }
    }

    /// As much as so many rows allow.
    fn most_perplexity(&self) -> f64 {
        ((self.chosen.len() as f64 - 1.0) / 3.0).max(1.0)
    }

    fn run(&self, fit: &Fit) -> Result<Map> {
        let labels = self.map.labels().map(|labels| {
            let first = self.map.first_rows();
            let number = |row: u32| first.as_ref().map_or(row, |first| first[row as usize]);
            self.chosen.iter().map(|&row| labels.get(number(row) as usize).to_owned()).collect()
        });
        fit.run(Rows { data: self.map.x().select(&self.chosen), ids: None, labels }, &mut ignore)
    }
}

/// Fits so many maps of the rows, each from another random layout, and compares them with each other: neighbours that only
/// some of them show are an accident of the start. `told` hears how many fits are done.
pub fn seed_stability(
    map: &Map,
    fits: usize,
    options: &RefitOptions,
    told: &mut dyn FnMut(usize),
) -> Result<SeedStability> {
    if fits < 2 {
        return Err(Error::Parameter {
            name: "seeds",
            problem: "must be at least 2: one map has no other to be compared with".into(),
        });
    }
    let refitted = Refitted::new(map, options);
    let (mut near, rows) = (Vec::new(), refitted.chosen.len());
    for seed in 0..fits {
        told(seed);
        let fit = Fit { init: Init::Random, seed: options.seed + 1 + seed as u64, ..refitted.fit(options) };
        let map = refitted.run(&fit)?;
        let places =
            Matrix::from_rows(map.dims(), (0..rows).flat_map(|row| map.place(row)).copied().collect());
        near.push(pool(options.threads)?.install(|| nearest_places(&places)));
    }
    told(fits);
    let pairs = (0..fits).flat_map(|a| (a + 1..fits).map(move |b| (a, b)));
    let shared = mean(pairs.map(|(a, b)| shared(&near[a], &near[b])));
    let shared_with_map = (rows == map.x().rows()).then(|| {
        let own = nearest_places(map.y());
        mean(near.iter().map(|other| self::shared(&own, other)))
    });
    Ok(SeedStability { fits, rows, shared, shared_with_map })
}

/// Fits the rows with each of these perplexities and judges the maps alike, by the map's rows or by `rows`, the table that it
/// was fitted to. `told` hears how many fits are done.
pub fn perplexity_trials(
    map: &Map,
    rows: Option<&Matrix>,
    perplexities: &[f64],
    options: &RefitOptions,
    told: &mut dyn FnMut(usize),
) -> Result<Vec<PerplexityTrial>> {
    let refitted = Refitted::new(map, options);
    let x = space(map, rows)?.select(&refitted.chosen);
    let most = refitted.most_perplexity();
    if let Some(large) = perplexities.iter().find(|perplexity| **perplexity > most) {
        let problem = format!(
            "{large} is too large for {} rows: try at most {:.0}",
            refitted.chosen.len(),
            most.floor()
        );
        return Err(Error::Parameter { name: "perplexities", problem });
    }
    let asked = QualityOptions { seed: options.seed, threads: options.threads, ..QualityOptions::default() };
    let mut trials = Vec::new();
    for (done, &perplexity) in perplexities.iter().enumerate() {
        told(done);
        let trial = refitted.run(&Fit {
            perplexity: Some(perplexity),
            seed: options.seed,
            ..refitted.fit(options)
        })?;
        // Rows that only rounding told apart may have become one.
        let same = trial.x().rows() == x.rows();
        let quality = pool(options.threads)?
            .install(|| Quality::in_space(&trial, if same { &x } else { trial.x() }, &asked));
        trials.push(PerplexityTrial { perplexity, quality });
    }
    told(perplexities.len());
    Ok(trials)
}

/// The nearest places of each.
fn nearest_places(places: &Matrix) -> Vec<Vec<u32>> {
    let tree = KdTree::new(places.data(), places.cols());
    let near = |row: usize| {
        let found = tree.nearest(places.row(row), COMPARED, Some(row as u32));
        found.into_iter().map(|(_, other)| other).collect()
    };
    (0..places.rows()).into_par_iter().with_min_len(256).map(near).collect()
}

/// The mean share of neighbours that are the same in both.
fn shared(a: &[Vec<u32>], b: &[Vec<u32>]) -> f64 {
    let one = |(a, b): (&Vec<u32>, &Vec<u32>)| {
        a.iter().filter(|row| b.contains(row)).count() as f64 / a.len().max(1) as f64
    };
    mean(a.iter().zip(b).map(one))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    sum / count.max(1) as f64
}
