//! Any sequence of operations leaves a live map that has the points that a plain list has, at finite places, and that goes
//! on from what was kept of it: never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::live::{Arrival, Change, FalseAlarms, Live, LiveOptions, Point, SavedGroup};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Alarms that come often.
const OPTIONS: LiveOptions = LiveOptions { window: 20.0, false_alarms: FalseAlarms::Arrivals(1000.0) };

/// Two squares of 6 x 6 rows, 1 apart, the second 18 to the right; each row is its own place.
static LION: LazyLock<Arc<Lion>> = LazyLock::new(|| {
    let row = |at: usize| [(at % 6 + 18 * (at / 36)) as f32, (at % 36 / 6) as f32];
    let table = || Matrix::new(72, 2, (0..72).flat_map(row).collect()).expect("72 rows of 2 columns");
    let labels = Some((0..72).map(|at| if at < 36 { "left" } else { "right" }.to_owned()).collect());
    let rows = Rows { data: table(), ids: None, labels };
    let map = Fit { pca: PcaChoice::None, ..Fit::default() }.adopt(rows, table(), &mut ignore).expect("a map");
    Arc::new(Lion::new(map, &LionOptions { threads: 1, ..LionOptions::default() }).expect("ready"))
});

fuzz_target!(|bytes: &[u8]| {
    let mut live = Live::new(Arc::clone(&LION), OPTIONS).expect("a live map");
    let mut plain: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    // Four bytes an operation: what, which point, and two columns.
    for operation in bytes.chunks_exact(4).take(400) {
        let &[what, which, a, b] = operation else { return };
        let id = format!("p{}", which % 32);
        let t = (what & 0x40 != 0).then(|| f64::from(b) * 7.0 - 100.0);
        let row = vec![coordinate(a), coordinate(b)];
        let arrival = Arrival { id: id.clone(), row: row.clone(), label: (what & 0x20 != 0).then(|| id.clone()), t };
        match what % 8 {
            0..4 => {
                if live.apply(vec![Change::Upsert(arrival)]).is_ok() {
                    plain.insert(id, row);
                }
            }
            4 | 5 => {
                if live.apply(vec![Change::Delete { id: id.clone(), t }]).is_ok() {
                    plain.remove(&id);
                }
            }
            6 => {
                if live.snapshot(vec![arrival], t).is_ok() {
                    plain = BTreeMap::from([(id, row)]);
                }
            }
            _ => live = restored(&live, &plain),
        }
    }
    let ids: Vec<&str> = plain.keys().map(String::as_str).collect();
    let mut there: Vec<&str> = live.points().map(|point| point.id.as_str()).collect();
    there.sort_unstable();
    assert_eq!(there, ids);
    let members: usize = live.groups().map(|group| group.members.len()).sum();
    assert_eq!(members, live.points().filter(|point| point.is_outlier()).count());
    assert_eq!(restored(&live, &plain).digest(), live.digest());
});

/// Within a square, between the two, far away, and where numbers are large or hardly numbers.
fn coordinate(byte: u8) -> f32 {
    match byte {
        0..=199 => f32::from(byte) * 0.13,
        200..=239 => f32::from(byte) * 10.0 - 2100.0,
        240..=247 => 10f32.powi(i32::from(byte) - 232),
        248..=251 => f32::MIN_POSITIVE / f32::from(byte),
        252 => f32::INFINITY,
        253 => f32::NAN,
        _ => -f32::MAX,
    }
}

/// The same live map from what a store keeps of it.
fn restored(live: &Live, rows: &BTreeMap<String, Vec<f32>>) -> Live {
    let row = |point: &Point| point.is_outlier().then(|| rows[&point.id].clone());
    let points: Vec<(Point, Option<Vec<f32>>)> = live.points().map(|point| (point.clone(), row(point))).collect();
    let groups = live.groups().map(|group| SavedGroup { number: group.number, cell: group.cell });
    Live::restore(Arc::clone(&LION), OPTIONS, &live.aux(), points, groups.collect::<Vec<_>>()).expect("it was kept")
}
