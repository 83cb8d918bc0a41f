//! Data that tests make: clusters, from a seed.

use lion_tsne::Matrix;

/// Numbers from a seed, roughly Gaussian: the sum of twelve uniform ones.
pub(crate) struct TestRandom(u64);

impl TestRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2) + 1)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn gaussian(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// `rows` points around `clusters` centres that lie `apart` from each other on average.
pub(crate) fn clusters(rows: usize, cols: usize, clusters: usize, apart: f64, seed: u64) -> Matrix {
    let mut numbers = TestRandom::new(seed);
    let centres: Vec<f64> = (0..clusters * cols).map(|_| numbers.gaussian() * apart).collect();
    let data = (0..rows * cols)
        .map(|at| (centres[at / cols % clusters * cols + at % cols] + numbers.gaussian()) as f32)
        .collect();
    Matrix::new(rows, cols, data).expect("sizes agree")
}

/// The result of `work` in a pool of so many threads.
pub(crate) fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

/// The paper's rule for outliers, all else as by default.
pub(crate) fn paper() -> lion_tsne::LionOptions {
    lion_tsne::LionOptions {
        verdict: Some(lion_tsne::VerdictRule::Paper),
        ..lion_tsne::LionOptions::default()
    }
}
