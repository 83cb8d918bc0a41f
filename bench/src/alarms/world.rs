//! Sources of rows whose distribution is known: a map and streams of each are draws of the same.

use anyhow::Result;
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use std::f64::consts::TAU;
use std::fmt;
use std::sync::Arc;

/// Where rows come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WorldSource {
    /// Ten clusters of one size, round, in 10 columns.
    Round,
    /// Eight clusters of different shares and spreads, stretched, with heavy tails, in 30 columns.
    Uneven,
    /// Five clusters in a plane.
    Plane,
}

impl WorldSource {
    pub(super) const ALL: [Self; 3] = [Self::Round, Self::Uneven, Self::Plane];

    /// Columns, and clusters.
    fn size(self) -> (usize, usize) {
        match self {
            Self::Round => (10, 10),
            Self::Uneven => (30, 8),
            Self::Plane => (2, 5),
        }
    }
}

impl fmt::Display for WorldSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Round => "round clusters",
            Self::Uneven => "uneven clusters, heavy tails",
            Self::Plane => "clusters in a plane",
        })
    }
}

/// A source, and a map of some of its rows.
pub(super) struct World {
    source: WorldSource,
    seed: u64,
    pub(super) lion: Arc<Lion>,
}

impl World {
    pub(super) fn new(source: WorldSource, count: usize, seed: u64) -> Result<Self> {
        let mut rows = Draws::new(source, seed, seed + 77);
        let (cols, _) = source.size();
        let (mut data, mut places, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let cluster = rows.cluster();
            let row = rows.of(cluster);
            let angle = TAU * cluster as f64 / source.size().1 as f64;
            // A place for each cluster, and in it as the rows lie.
            places.extend(
                [
                    angle.cos() * 100.0 + 3.0 * f64::from(row[0]),
                    angle.sin() * 100.0 + 3.0 * f64::from(row[1]),
                ]
                .map(|v| v as f32),
            );
            data.extend(row);
            labels.push(format!("{cluster}"));
        }
        let rows = Rows { data: Matrix::new(count, cols, data)?, ids: None, labels: Some(labels) };
        let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
        let map = fit.adopt(rows, Matrix::new(count, 2, places)?, &mut ignore)?;
        let lion = Arc::new(Lion::new(map, &LionOptions::default())?);
        Ok(Self { source, seed, lion })
    }

    pub(super) fn stream(&self, seed: u64) -> Draws {
        Draws::new(self.source, self.seed, seed)
    }

    /// How strong a shift must be for so many outliers.
    pub(super) fn strength(&self, whole: bool, share: f64, seed: u64) -> Result<f64> {
        if !whole {
            return Ok((share - 0.01) / 0.99);
        }
        let (mut low, mut high) = (0.0, 4.0);
        for _ in 0..12 {
            let middle = 0.5 * (low + high);
            let mut rows = self.stream(seed + 9000);
            let data: Vec<f32> = (0..4000).flat_map(|_| rows.shifted(true, middle)).collect();
            let placed = self.lion.resolve(&Matrix::new(4000, self.source.size().0, data)?)?;
            let outliers = placed
                .iter()
                .filter(|resolved| matches!(resolved, lion_tsne::lion::Resolved::Outlier(_)))
                .count();
            if (outliers as f64) < share * 4000.0 { low = middle } else { high = middle }
        }
        Ok(0.5 * (low + high))
    }
}

/// Rows of a source.
pub(super) struct Draws {
    source: WorldSource,
    centres: Vec<Vec<f64>>,
    stretch: Vec<Vec<f64>>,
    shares: Vec<f64>,
    random: Random,
}

impl Draws {
    fn new(source: WorldSource, world: u64, seed: u64) -> Self {
        let (cols, clusters) = source.size();
        let mut fixed = Random::new(world ^ 0x5eed);
        let apart = match source {
            WorldSource::Round => 6.0,
            WorldSource::Uneven => 4.0,
            WorldSource::Plane => 12.0,
        };
        // One more: the new cluster.
        let centres = (0..=clusters).map(|_| (0..cols).map(|_| apart * fixed.gaussian()).collect()).collect();
        let spread = |fixed: &mut Random| match source {
            WorldSource::Uneven => 0.3 + 1.4 * fixed.uniform(),
            _ => 1.0,
        };
        let stretch = (0..=clusters).map(|_| (0..cols).map(|_| spread(&mut fixed)).collect()).collect();
        let share = |at: usize| if source == WorldSource::Uneven { 1.0 / (1.0 + at as f64) } else { 1.0 };
        let all: f64 = (0..clusters).map(share).sum();
        let shares = (0..clusters).map(|at| share(clusters - 1 - at) / all).collect();
        Self { source, centres, stretch, shares, random: Random::new(seed.wrapping_mul(0x9e37_79b9) + 1) }
    }

    pub(super) fn share(&self, cluster: usize) -> f64 {
        self.shares[cluster]
    }

    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.random.uniform() < share
    }

    fn cluster(&mut self) -> usize {
        let mut left = self.random.uniform();
        let found = self.shares.iter().position(|share| {
            left -= share;
            left <= 0.0
        });
        found.unwrap_or(0)
    }

    fn of(&mut self, cluster: usize) -> Vec<f32> {
        // Heavy tails: now and then a row is much farther out.
        let tail =
            if self.source == WorldSource::Uneven { (0.3 * self.random.gaussian()).exp() } else { 1.0 };
        let (centre, stretch) = (&self.centres[cluster], &self.stretch[cluster]);
        let random = &mut self.random;
        centre.iter().zip(stretch).map(|(c, s)| (c + s * tail * random.gaussian()) as f32).collect()
    }

    pub(super) fn ordinary(&mut self) -> Vec<f32> {
        let cluster = self.cluster();
        self.of(cluster)
    }

    pub(super) fn ordinary_but(&mut self, stopped: usize) -> Vec<f32> {
        loop {
            let cluster = self.cluster();
            if cluster != stopped {
                return self.of(cluster);
            }
        }
    }

    pub(super) fn new_cluster(&mut self) -> Vec<f32> {
        self.of(self.centres.len() - 1)
    }

    /// A row of a stream that has shifted: noisier, or a stranger with this chance.
    pub(super) fn shifted(&mut self, whole: bool, strength: f64) -> Vec<f32> {
        let mut row = self.ordinary();
        if whole {
            row.iter_mut().for_each(|v| *v += (strength * self.random.gaussian()) as f32);
        } else if self.chance(strength) {
            row.iter_mut().for_each(|v| *v = (60.0 * self.random.gaussian()) as f32);
        }
        row
    }
}
