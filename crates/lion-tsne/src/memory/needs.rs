//! What a fit holds at its largest: the allocations of each stage, added up, before any of them is made.
//!
//! Each part has the size that the code beside it gives it. What depends on the data has its bound (a row's affinities) or
//! what maps of many kinds had (the extent of the map). docs/memory.md has what was measured beside what this says.

use crate::affinity;
use crate::fit::{Fit, Init, Method};
use crate::index::{self, Search, wanted};
use crate::preprocess::{self, PcaChoice, WIDEST_COVARIANCE};
use crate::verdict::{MOST_IN_FOLD, fold_count};

/// What some work will hold at its largest, beside what the process holds already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Bytes, of all parts together.
    pub bytes: u64,
    /// When that will be.
    pub during: &'static str,
    /// What it will be made of, largest first.
    pub parts: Vec<Allocation>,
}

/// One thing that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// What it is.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
}

impl Needs {
    /// Of parts that are held together, given in bytes.
    pub(crate) fn of(during: &'static str, parts: &[(&'static str, f64)]) -> Self {
        let sized = |&(name, bytes): &(&'static str, f64)| Allocation { name, bytes: bytes.ceil() as u64 };
        let mut parts: Vec<Allocation> = parts.iter().map(sized).filter(|part| part.bytes > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        Self { bytes: parts.iter().map(|part| part.bytes).sum(), during, parts }
    }

    /// The same with one thing more, held all the time.
    pub fn with(mut self, name: &'static str, bytes: u64) -> Self {
        self.bytes += bytes;
        self.parts.push(Allocation { name, bytes });
        self.parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        self
    }

    /// Whichever is more.
    pub fn or(self, other: Self) -> Self {
        if other.bytes > self.bytes { other } else { self }
    }
}

/// Small things that every fit has: tasks, queues, tables of waves, what the allocator keeps.
const SMALL: f64 = 2e6;
/// The same for each thread.
const SMALL_PER_THREAD: f64 = 0.8e6;
/// Partitions pad their rows to whole panels.
const PADDED: f64 = 1.07;
/// Pairs of rows that the cross-validation of the power looks at, with what it makes of each.
const POWER: f64 = 16e6;

impl Fit {
    /// What fitting a table of so many rows and columns will hold at its largest, the table included: at least what it
    /// really will, and seldom a quarter more.
    ///
    /// ```
    /// use lion_tsne::Fit;
    ///
    /// let needs = Fit::default().needs(1_000_000, 50);
    /// assert!(needs.bytes < 3_500_000_000);
    /// println!("{} bytes during {}: {:?}", needs.bytes, needs.during, needs.parts);
    /// ```
    pub fn needs(&self, rows: usize, cols: usize) -> Needs {
        let sizes = Sizes::of(self, rows, cols);
        let descent = match self.method {
            _ if rows < 4 => 0.0,
            Method::BarnesHut => sizes.tree(),
            Method::Auto if self.dims != 2 => sizes.tree(),
            Method::Exact => 0.0,
            Method::Auto | Method::Fft => sizes.grid(),
        };
        let stages = [
            sizes.preprocess(),
            sizes.neighbours(self.search),
            sizes.affinities(),
            sizes.first_layout(&self.init),
            sizes.optimise(descent),
            sizes.parameters(self.power.is_none()),
        ];
        let given = self.neighbours.as_ref().map_or(0, |given| 16 * given.indices.len() as u64);
        let small = (SMALL + SMALL_PER_THREAD * sizes.threads) as u64;
        let most = stages.into_iter().reduce(Needs::or).unwrap_or(Needs::of("preprocess", &[]));
        let most = most.with("threads and small things", small);
        if given > 0 { most.with("neighbours that are given", given) } else { most }
    }

    /// What placing another way's places on these rows will hold, without t-SNE: see [`Fit::adopt`].
    pub fn needs_to_adopt(&self, rows: usize, cols: usize) -> Needs {
        let sizes = Sizes { k: 1.0, ..Sizes::of(self, rows, cols) };
        let stages =
            sizes.preprocess().or(sizes.neighbours(Search::Auto)).or(sizes.parameters(self.power.is_none()));
        stages.with("threads and small things", (SMALL + SMALL_PER_THREAD * sizes.threads) as u64)
    }
}

/// What sizes follow from.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) rows: f64,
    /// Columns before preprocessing and after.
    pub(crate) cols: f64,
    pub(crate) width: f64,
    /// Neighbours of a row.
    pub(crate) k: f64,
    /// Dimensions of the map.
    pub(crate) dims: f64,
    pub(crate) threads: f64,
}

impl Sizes {
    fn of(fit: &Fit, rows: usize, cols: usize) -> Self {
        let width = match (&fit.fitted_pca, fit.pca) {
            (Some(pca), _) => pca.output_dims(),
            (None, PcaChoice::None) => cols,
            (None, PcaChoice::Components(k)) => k.min(cols),
            (None, PcaChoice::Auto(k)) => k.min(cols),
        };
        Self {
            rows: rows as f64,
            cols: cols as f64,
            width: width as f64,
            k: wanted(fit.perplexity_for(rows), rows.max(2)) as f64,
            dims: fit.dims as f64,
            threads: threads(fit.threads) as f64,
        }
    }

    /// The table before preprocessing, and after.
    fn table(&self) -> f64 {
        4.0 * self.rows * self.cols
    }

    fn x(&self) -> f64 {
        4.0 * self.rows * self.width
    }

    /// Numbers that each row has beside it: NN-X, residual, what calibrates.
    fn beside(&self) -> f64 {
        24.0 * self.rows
    }

    fn has_pca(&self) -> bool {
        self.width < self.cols
    }

    /// A set of rows by their hashes.
    fn equal_rows(&self) -> f64 {
        let buckets = (self.rows as u64 * 8 / 7 + 1).next_power_of_two() as f64;
        33.0 * buckets + 20.0 * self.rows
    }

    fn preprocess(&self) -> Needs {
        let sought =
            Needs::of("preprocess", &[("table", self.table()), ("search for equal rows", self.equal_rows())]);
        if !self.has_pca() {
            return sought;
        }
        let pca = preprocess::pca_bytes(self.cols, self.width);
        let projected =
            [("table", self.table()), ("rows of the map", self.x() + self.beside()), ("PCA", pca)];
        sought.or(Needs::of("preprocess", &projected)).or(self.folds())
    }

    /// PCA and neighbours without some of the rows, by which verdicts are calibrated.
    fn folds(&self) -> Needs {
        let folds = fold_count(self.rows as usize, self.cols as usize) as f64;
        let fold = (self.rows / folds).min(MOST_IN_FOLD as f64);
        let basis = 120.0 * self.cols * (self.width + 20.0);
        let pca = match self.cols <= WIDEST_COVARIANCE as f64 {
            true => {
                let covariance = 8.0 * self.cols * self.cols;
                // One of each fold is kept.
                let kept = 9.0 * folds * self.cols * self.width;
                covariance + kept + self.threads * (covariance + 12.0 * fold * self.cols + basis)
            }
            false => self.table() + preprocess::pca_bytes(self.cols, self.width),
        };
        let parts = [
            ("table", self.table()),
            ("rows of the map", self.x() + self.beside()),
            ("rows without a fold", 3.1 * self.x() + 40.0 * self.rows),
            ("PCA without a fold", pca),
        ];
        Needs::of("preprocess", &parts)
    }

    fn neighbours(&self, search: Search) -> Needs {
        let exact = index::is_exact(search, self.rows as usize);
        let centres = (self.rows / index::PARTITION_SIZE as f64).ceil() * 8.0 * self.width;
        let index = match exact {
            true => self.x() + 4.0 * self.rows,
            false => (1.0 + PADDED) * self.x() + 24.0 * self.rows + centres,
        };
        let block = 192.0 * 8.0 * (6.0 * self.k + 128.0) + 800.0 * self.width;
        let found_together =
            if exact { 0.0 } else { 1.3 * (64 * index::PARTITION_SIZE) as f64 * 8.0 * self.k };
        Needs::of(
            "neighbours",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("index of them", index),
                ("neighbours", 8.0 * self.rows * self.k),
                ("search", self.threads * block + found_together.min(8.0 * self.rows * self.k)),
            ],
        )
    }

    /// Each row has its own neighbours, and is one for as many others: no row of P + Pᵀ need be shorter.
    fn p(&self) -> f64 {
        8.0 * 2.0 * self.rows * self.k + 8.0 * self.rows
    }

    fn affinities(&self) -> Needs {
        let parts = affinity::PARTS as f64;
        let at_once = self.threads.min(parts) / parts;
        Needs::of(
            "affinities",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("neighbours", 8.0 * self.rows * self.k),
                ("affinities that come in", at_once * (8.0 * self.k + 16.0) * self.rows),
                ("affinities", self.p()),
            ],
        )
    }

    fn first_layout(&self, init: &Init) -> Needs {
        let layout = match init {
            // Vectors of the Lanczos process.
            Init::Spectral => 8.0 * 66.0 * self.rows,
            Init::Pca if !self.has_pca() => {
                preprocess::pca_bytes(self.width, self.dims) + 24.0 * self.dims * self.rows
            }
            Init::Pca | Init::Random | Init::Given(_) => 16.0 * self.dims * self.rows,
        };
        Needs::of(
            "first layout",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("affinities", self.p()),
                ("first layout", layout),
            ],
        )
    }

    fn optimise(&self, repulsion: f64) -> Needs {
        Needs::of(
            "descent",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("affinities", self.p()),
                ("affinities in another order", 8.0 * self.rows * self.k + 12.0 * self.rows),
                ("places, steps and gains", 24.0 * self.dims * self.rows + 24.0 * self.rows),
                ("repulsion", repulsion),
            ],
        )
    }

    /// The nodes of the grid grow slowly with the rows, as maps do: about 400 along each side at 5000 rows, 500 at 60000.
    fn grid(&self) -> f64 {
        let side = 420.0 + 0.6 * self.rows.sqrt();
        // A map of few rows is narrow.
        let side = side.min(60.0 + 2.0 * self.rows.powf(0.75));
        50.0 * side * side + 16.0 * self.rows
    }

    fn tree(&self) -> f64 {
        (36.0 + 28.0 + 8.0 * self.dims) * self.rows
    }

    fn parameters(&self, validates: bool) -> Needs {
        Needs::of(
            "radii and power",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("index of them", PADDED * self.x() + 24.0 * self.rows),
                ("places", (4.0 * self.dims + 60.0) * self.rows + self.equal_rows()),
                ("power", if validates { POWER.min(100.0 * self.rows * self.rows) } else { 0.0 }),
            ],
        )
    }
}

/// How many threads these are: 0 is all.
pub(crate) fn threads(chosen: usize) -> usize {
    match chosen {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        some => some,
    }
}
