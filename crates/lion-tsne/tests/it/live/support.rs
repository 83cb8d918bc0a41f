//! A map whose every distance is known, and streams into it.

use lion_tsne::live::{Arrival, Change, Event, Live, LiveOptions, Sighting};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, PcaChoice, Rows, ignore};
use std::sync::Arc;

/// Two squares of 10 x 10 rows, 1 apart, `left` from 0 to 9 and `right` from 30 to 39 along the first column. A row (a, b)
/// is at (10 a, 10 b). So r_x is 1, r_close 10 and r_y 30.
pub(super) fn squares() -> Lion {
    squares_of(10)
}

/// The same with so many rows along each side; `right` begins at three times as many.
pub(super) fn squares_of(side: usize) -> Lion {
    let (each, all) = (side * side, 2 * side * side);
    let row = |i: usize| [(i % side + 3 * side * (i / each)) as f32, (i % each / side) as f32];
    let rows: Vec<f32> = (0..all).flat_map(row).collect();
    let places = rows.iter().map(|v| 10.0 * v).collect();
    let label = |i: usize| if i < each { "left" } else { "right" };
    let rows = Rows {
        data: Matrix::new(all, 2, rows).unwrap(),
        ids: Some((0..all).map(|i| format!("row-{i}")).collect()),
        labels: Some((0..all).map(|i| label(i).to_string()).collect()),
    };
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    let map = fit.adopt(rows, Matrix::new(all, 2, places).unwrap(), &mut ignore).unwrap();
    Lion::new(map, &LionOptions::default()).unwrap()
}

/// A place between four rows of each square, and one far from both.
pub(super) const LEFT: [f32; 2] = [3.5, 4.5];
pub(super) const RIGHT: [f32; 2] = [33.5, 4.5];
pub(super) const NOWHERE: [f32; 2] = [20.0, 5.0];

pub(super) fn live() -> Live {
    with(LiveOptions::default())
}

pub(super) fn with(options: LiveOptions) -> Live {
    Live::new(Arc::new(squares()), options).unwrap()
}

/// A point comes to a row, a second after the change before.
pub(super) fn to(id: &str, row: [f32; 2]) -> Change {
    upsert(id, &row, None)
}

/// The same at a time.
pub(super) fn at(t: f64, id: &str, row: [f32; 2]) -> Change {
    upsert(id, &row, Some(t))
}

pub(super) fn upsert(id: &str, row: &[f32], t: Option<f64>) -> Change {
    Change::Upsert(Arrival { id: id.into(), row: row.to_vec(), label: None, t })
}

pub(super) fn delete(id: &str) -> Change {
    Change::Delete { id: id.into(), t: None }
}

pub(super) fn apply(live: &mut Live, changes: Vec<Change>) -> Vec<Event> {
    live.apply(changes).expect("changes that can be applied").events
}

/// Applies one change that one event tells of.
pub(super) fn one(live: &mut Live, change: Change) -> Event {
    let mut events = apply(live, vec![change]);
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

/// The same, and the point as it is then.
pub(super) fn sighting(live: &mut Live, change: Change) -> (&'static str, Sighting) {
    let event = one(live, change);
    (event.kind(), event.sighting().expect("a point").clone())
}

pub(super) fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::kind).collect()
}

/// The events of one kind.
pub(super) fn of_kind<'a>(events: &'a [Event], kind: &str) -> Vec<&'a Event> {
    events.iter().filter(|event| event.kind() == kind).collect()
}

pub(super) fn apart(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}
