//! A small map, a stream of changes that is the same every time, and a service to send it to.

use lion_server::{Clock, Receipt, Refused, Service, Settings, StoredEvents, Work};
use lion_tsne::live::{Arrival, Change, Live};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, ignore};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A grid of 12 x 12 rows that are at 10 times themselves.
pub(crate) fn lion() -> Arc<Lion> {
    lion_of(12)
}

/// A grid of that many rows each way.
pub(crate) fn lion_of(side: usize) -> Arc<Lion> {
    let grid = (0..side * side).map(|i| [(i % side) as f32, (i / side) as f32]);
    let rows = Matrix::new(side * side, 2, grid.clone().flatten().collect()).unwrap();
    let places = Matrix::new(side * side, 2, grid.flatten().map(|v| 10.0 * v).collect()).unwrap();
    let map = Fit { threads: 1, ..Fit::default() }.adopt(rows, places, &mut ignore).unwrap();
    Arc::new(Lion::new(map, &LionOptions { threads: 1, ..LionOptions::default() }).unwrap())
}

/// Numbers that only look random.
pub(crate) fn scrambled(mut k: u64) -> u64 {
    k = (k ^ (k >> 30) ^ 0x9E37_79B9).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    k = (k ^ (k >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    k ^ (k >> 31)
}

/// The row of change `k`: among the map's rows, or for one in eight far from them.
pub(crate) fn row(k: u64) -> Vec<f32> {
    let r = scrambled(k);
    let part = |at: u32| ((r >> at) & 0xFFFF) as f32 / 65_536.0;
    let (scale, offset) = if r.is_multiple_of(8) { (40.0, 30.0) } else { (11.0, 0.0) };
    vec![part(8) * scale + offset, part(32) * scale + offset]
}

/// The row `k` under an id, with `k` as its label.
pub(crate) fn upsert(id: &str, k: u64) -> Change {
    Change::Upsert(arrival(id, k))
}

pub(crate) fn arrival(id: &str, k: u64) -> Arrival {
    Arrival { id: id.into(), row: row(k), label: Some(k.to_string()), t: None }
}

pub(crate) fn delete(id: &str) -> Change {
    Change::Delete { id: id.into(), t: None }
}

/// Where a store lies.
pub(crate) fn at(path: &Path) -> Settings {
    Settings { store: Some(path.into()), ..Settings::default() }
}

/// A clock that stands still until it is set, in whole seconds.
#[derive(Clone, Default)]
pub(crate) struct TestClock(Arc<AtomicU64>);

impl TestClock {
    pub(crate) fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::SeqCst);
    }

    pub(crate) fn settings(&self, path: &Path) -> Settings {
        let time = self.0.clone();
        Settings { clock: Clock::new(move || time.load(Ordering::SeqCst) as f64), ..at(path) }
    }
}

/// Runs what is asynchronous to its end.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Submits changes and waits for the answer.
pub(crate) fn submit(service: &Service, changes: Vec<Change>) -> Result<Receipt, Refused> {
    wait(service.submit(Work::Changes(changes)))
}

/// The live map that a store holds.
pub(crate) fn kept(path: &Path, lion: &Arc<Lion>) -> Live {
    StoredEvents::open(path).unwrap().live(lion.clone(), Settings::default().live).unwrap()
}

/// Every event of a store, checked to be numbered without a gap from `first` on.
pub(crate) fn events(path: &Path, first: u64) -> Vec<lion_server::Logged> {
    let events: Vec<_> = StoredEvents::open(path).unwrap().events().map(Result::unwrap).collect();
    for (n, event) in (first..).zip(&events) {
        assert_eq!(event.n, n, "{}", event.json);
    }
    events
}
