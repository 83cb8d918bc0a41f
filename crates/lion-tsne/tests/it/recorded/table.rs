//! The rows that recorded results are of.

use crate::common::{TestRandom, clusters};
use lion_tsne::{Fit, Map, Matrix, PcaChoice, Rows, ignore};

pub(super) const COLS: usize = 8;
const CLUSTERS: usize = 5;

/// What a map is made of. Places are the first columns, made wider.
pub(super) struct Table {
    pub(super) rows: usize,
    pub(super) dims: usize,
    pub(super) pca: PcaChoice,
    pub(super) groups: bool,
    pub(super) seed: u64,
}

pub(super) const PLAIN: Table = Table { rows: 260, dims: 2, pca: PcaChoice::None, groups: false, seed: 1 };

impl Table {
    /// Rows in clusters, some of them twice. Labels are those of the clusters but for a few.
    pub(super) fn table(&self) -> Rows {
        let data = clusters(self.rows, COLS, CLUSTERS, 2.0, self.seed);
        let twice: Vec<u32> = (0..self.rows as u32).chain([3, 3, 11]).collect();
        let data = data.select(&twice);
        let label =
            |row: u32| format!("kind {}", if row.is_multiple_of(17) { 0 } else { row as usize % CLUSTERS });
        let labels = Some(twice.iter().map(|&row| label(row)).collect());
        Rows { data, ids: None, labels }
    }

    /// A map of them, made elsewhere.
    pub(super) fn map(&self) -> Map {
        let rows = self.table();
        let data = &rows.data;
        let places = (0..data.rows()).flat_map(|row| data.row(row)[..self.dims].iter().map(|v| 4.0 * v));
        let places = Matrix::new(data.rows(), self.dims, places.collect()).unwrap();
        let groups = self.groups.then(|| (0..data.rows() as u32).map(|row| row / 4).collect());
        let fit = Fit { pca: self.pca, groups, ..Fit::default() };
        fit.adopt(rows, places, &mut ignore).unwrap()
    }

    /// Rows of the map, rows like them, rows between and beyond clusters, and groups of strangers.
    pub(super) fn queries(&self, count: usize) -> Matrix {
        let like = clusters(self.rows + count, COLS, CLUSTERS, 2.0, self.seed);
        let mut numbers = TestRandom::new(self.seed ^ 0xfeed);
        let mut data = Vec::new();
        for i in 0..count {
            let (own, other) = (like.row(self.rows + i), like.row((i * 7) % self.rows));
            let step = numbers.gaussian() as f32;
            data.extend((0..COLS).map(|c| match i % 10 {
                0 => other[c],
                1 => (own[c] + other[c]) / 2.0,
                2 => 2.5 * own[c],
                3 => own[c] + if c == i % COLS { 6.0 * step } else { 0.0 },
                4 => 30.0 + (i / 10 % 3) as f32 * 40.0 + 0.5 * own[c],
                _ => own[c],
            }));
        }
        Matrix::new(count, COLS, data).unwrap()
    }
}
