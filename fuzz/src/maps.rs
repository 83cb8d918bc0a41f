//! Small maps, and live maps of them.

use lion_tsne::live::{Arrival, Change, FalseAlarms, Live, LiveOptions, Point, SavedGroup};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Alarms that come often.
pub const OFTEN: LiveOptions = LiveOptions { window: 20.0, false_alarms: FalseAlarms::Arrivals(1000.0) };

/// Two squares of 6 x 6 rows, 1 apart, the second 18 to the right; each row is its own place.
pub static SQUARES: LazyLock<Arc<Lion>> = LazyLock::new(|| {
    let row = |at: usize| [(at % 6 + 18 * (at / 36)) as f32, (at % 36 / 6) as f32];
    let table = || Matrix::new(72, 2, (0..72).flat_map(row).collect()).expect("72 rows of 2 columns");
    let labels = Some((0..72).map(|at| if at < 36 { "left" } else { "right" }.to_owned()).collect());
    let rows = Rows { data: table(), ids: None, labels };
    let map =
        Fit { pca: PcaChoice::None, ..Fit::default() }.adopt(rows, table(), &mut ignore).expect("a map");
    let map = map.with_columns(&["width".to_owned(), "height".to_owned()]).expect("two names");
    Arc::new(Lion::new(map, &LionOptions { threads: 1, ..LionOptions::default() }).expect("ready"))
});

/// What a store keeps of a live map beside its state.
pub struct Kept {
    points: Vec<(Point, Option<Vec<f32>>)>,
    groups: Vec<(u64, [i64; 3])>,
}

impl Kept {
    /// The points and groups, with the rows of outliers as they were given.
    pub fn of(live: &Live, rows: &BTreeMap<String, Vec<f32>>) -> Self {
        let row = |point: &Point| point.is_outlier().then(|| rows[&point.id].clone());
        let points = live.points().map(|point| (point.clone(), row(point))).collect();
        Self { points, groups: live.groups().map(|group| (group.number, group.cell)).collect() }
    }

    /// A live map that goes on from it and a state.
    pub fn restore(&self, state: &[u8]) -> lion_tsne::Result<Live> {
        let groups: Vec<SavedGroup> =
            self.groups.iter().map(|&(number, cell)| SavedGroup { number, cell }).collect();
        Live::restore(Arc::clone(&SQUARES), OFTEN, state, self.points.clone(), groups)
    }
}

/// A live map with points in both squares and two groups of outliers, and the rows of its points.
pub fn gathering() -> (Live, BTreeMap<String, Vec<f32>>) {
    let mut live = Live::new(Arc::clone(&SQUARES), OFTEN).expect("a live map");
    let near = (0..24u8).map(|at| [f32::from(at % 6) + 18.0 * f32::from(at / 12), f32::from(at % 4)]);
    let far = (0..8u8).map(|at| [60.0 + 40.0 * f32::from(at % 2) + 0.1 * f32::from(at), -30.0]);
    let rows: BTreeMap<String, Vec<f32>> =
        near.chain(far).enumerate().map(|(at, row)| (format!("p{at}"), row.to_vec())).collect();
    for (id, row) in &rows {
        let arrival = Arrival { id: id.clone(), row: row.clone(), label: None, t: None };
        live.apply(vec![Change::Upsert(arrival)]).expect("a row of the map");
    }
    (live, rows)
}
