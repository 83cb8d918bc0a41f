//! What a fit holds at its largest: the allocations of each stage, added up, before any of them is made.
//!
//! Each part has the size that the code beside it gives it. What depends on the data has its bound (a row's affinities) or
//! what maps of many kinds had (the extent of the map). docs/memory.md has what was measured beside what this says.

use crate::affinity;
use crate::fit::{EXACT_UP_TO, Fit, Init, Method};
use crate::index::{self, Search, wanted};
use crate::preprocess::{self, PcaChoice, WIDEST_COVARIANCE};
use crate::tsne::Descent;
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
const SMALL: f64 = 2.6e6;
/// The same for each thread.
const SMALL_PER_THREAD: f64 = 0.8e6;
/// Partitions pad their rows to whole panels.
const PADDED: f64 = 1.07;
/// Pairs of rows that the cross-validation of the power looks at, with what it makes of each: at most, and for each row.
const POWER: f64 = 11e6;
const POWER_PER_ROW: f64 = 1000.0;
/// Arrays of this size and more are given back to the system when they are freed, whatever was freed before (glibc).
const ALWAYS_GIVEN_BACK: f64 = (32 << 20) as f64;

impl Fit {
    /// What fitting a table of so many rows and columns will hold at its largest, the table included: seldom a fifth more or
    /// less than it really will.
    ///
    /// ```
    /// use lion_tsne::Fit;
    ///
    /// let needs = Fit::default().needs(1_000_000, 50);
    /// assert!(needs.bytes < 2_000_000_000);
    /// println!("{} bytes during {}: {:?}", needs.bytes, needs.during, needs.parts);
    /// ```
    pub fn needs(&self, rows: usize, cols: usize) -> Needs {
        let sizes = Sizes::of(self, rows, cols);
        let descent = self.descent.for_rows(rows);
        let left = sizes.left_before(self.search);
        let repulsion = sizes.repulsion(self.method, descent, self.iterations);
        let stages = [
            sizes.preprocess(),
            sizes.neighbours(self.search),
            sizes.lengths(left),
            sizes.affinities(left),
            sizes.first_layout(&self.init, left),
            sizes.reorder(repulsion, left),
            sizes.optimise(repulsion, left),
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

/// What the repulsion holds, in bytes.
#[derive(Clone, Copy, Default)]
struct Repulsion {
    while_narrow: f64,
    while_wide: f64,
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
        // What each query of a block collects, and the block itself.
        let block = 192.0 * (8.0 * (3.0 * self.k + 3.0).max(64.0) + 256.0) + 1600.0 * self.width;
        let found_together = if exact { 0.0 } else { self.found_together() };
        Needs::of(
            "neighbours",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("index of them", index),
                ("neighbours", 8.0 * self.rows * self.k),
                ("search", self.threads * block + found_together),
            ],
        )
    }

    /// What is found for partitions that are searched together, before it is put in place.
    fn found_together(&self) -> f64 {
        ((64 * index::PARTITION_SIZE) as f64).min(self.rows) * 8.0 * self.k
    }

    /// What the allocator keeps when there are affinities. Of an approximate search: many small pieces. Of neighbours, where it
    /// has kept arrays of their size since the table was freed: one of the two arrays that grow.
    fn left_before(&self, search: Search) -> f64 {
        let of_search = match index::is_exact(search, self.rows as usize) {
            true => 0.0,
            false => self.found_together() + 10.0 * self.rows,
        };
        let list = 4.0 * self.rows * self.k;
        let keeps_lists = self.has_pca() && list < self.table().min(ALWAYS_GIVEN_BACK);
        of_search + if keeps_lists { list } else { 0.0 }
    }

    /// Each row has its own neighbours, and those that it is a neighbour of. How many it is both with depends on the data: of rows
    /// without any structure this many are not, and of others fewer. In many dimensions neighbours are seldom mutual. Where
    /// a row has a good part of all rows as neighbours, they mostly are.
    fn p(&self) -> f64 {
        let share = (self.k / self.rows.max(1.0)).min(1.0);
        let others = (0.9 - 0.8 / self.width.max(1.0).cbrt()) * (1.0 - 2.0 * share.sqrt()).max(0.0);
        8.0 * (1.0 + others) * self.rows * self.k + 8.0 * self.rows
    }

    fn lengths(&self, left: f64) -> Needs {
        let parts = affinity::PARTS as f64;
        let at_once = self.threads.min(parts) / parts;
        Needs::of(
            "affinities",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("neighbours", 8.0 * self.rows * self.k),
                ("neighbours the other way round", at_once * 4.0 * self.k * self.rows + 20.0 * self.rows),
                ("left by earlier stages", left),
            ],
        )
    }

    fn affinities(&self, left: f64) -> Needs {
        Needs::of(
            "affinities",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("affinities", self.p()),
                ("affinities that come in", self.p() / affinity::WAVES as f64),
                ("left by earlier stages", left),
            ],
        )
    }

    fn first_layout(&self, init: &Init, left: f64) -> Needs {
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
                ("left by earlier stages", left),
            ],
        )
    }

    /// Rows are put in another order while the map is narrow: a grid is small then, a tree is not.
    fn reorder(&self, repulsion: Repulsion, left: f64) -> Needs {
        let twice = self.p() / (2 * affinity::PIECES) as f64;
        Needs::of(
            "descent",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("affinities", self.p()),
                ("affinities in another order", twice + 32.0 * self.rows),
                ("places, steps and gains", 24.0 * self.dims * self.rows + 4.0 * self.rows),
                ("repulsion", repulsion.while_narrow),
                ("left by earlier stages", left),
            ],
        )
    }

    fn optimise(&self, repulsion: Repulsion, left: f64) -> Needs {
        Needs::of(
            "descent",
            &[
                ("rows of the map", self.x() + self.beside()),
                ("affinities", self.p()),
                ("places, steps and gains", 20.0 * self.dims * self.rows + 4.0 * self.rows),
                ("repulsion", repulsion.while_wide),
                ("left by earlier stages", left),
            ],
        )
    }

    fn repulsion(&self, method: Method, descent: Descent, iterations: Option<usize>) -> Repulsion {
        let side = self.side_of_grid(descent, iterations);
        let grid = |widest| Repulsion { while_narrow: 0.0, while_wide: self.grid(side, widest) };
        let tree = Repulsion { while_narrow: self.tree(), while_wide: self.tree() };
        match method {
            Method::Exact => Repulsion::default(),
            Method::Auto if self.dims != 2.0 && self.rows <= EXACT_UP_TO as f64 => Repulsion::default(),
            Method::Auto if self.dims != 2.0 => tree,
            Method::BarnesHut => tree,
            // A wider grid would take longer than comparing every pair.
            Method::Auto => grid(self.rows / 11.0),
            Method::Fft => grid(f64::INFINITY),
        }
    }

    /// The nodes of the grid along each side. They grow slowly with the rows, as maps do, and with the iterations. After those that
    /// the classic descent takes by default a map of 60000 rows has 280 if they are a few clusters, and 500 if they are digits. The
    /// accelerated descent makes wider maps: 60000 digits have 830, 10000 rows of digits, letters or clusters have 530 to 670, 20000
    /// rows of 20 clusters 280, and 8000 structureless rows 680 at a perplexity of 5.
    fn side_of_grid(&self, descent: Descent, iterations: Option<usize>) -> f64 {
        let longer = |usual: f64| iterations.map_or(1.0, |some| (some as f64 / usual).max(1.0));
        let side = match descent {
            Descent::Classic => (300.0 + 0.5 * self.rows.sqrt()) * longer(750.0).powf(0.45),
            Descent::Accelerated => {
                470.0 * (self.rows / 1e4).powf(0.25) * (90.0 / self.k).powf(0.225) * longer(420.0).powf(0.4)
            }
        };
        // A map of few rows is narrow.
        side.min(60.0 + 2.0 * self.rows.powf(0.75))
    }

    /// A grid of so many nodes along each side, unless it is wider than the widest: then it is either not as wide as it was
    /// thought, or every pair is compared where it would be, and there was only one of half as many nodes before.
    fn grid(&self, side: f64, widest: f64) -> f64 {
        let nodes = |side: f64| 50.0 * side * side;
        let nodes = match side > widest {
            true => 0.5 * (nodes(widest) + nodes((0.5 * side).min(widest))),
            false => nodes(side),
        };
        nodes + 16.0 * self.rows
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
                ("power", if validates { POWER.min(POWER_PER_ROW * self.rows) } else { 0.0 }),
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
