//! Random streams: however they are cut, on however many threads, stopped and restored, they tell the same.

use super::support::{apart, upsert};
use crate::common::{TestRandom, clusters};
use lion_tsne::live::{Applied, Change, Event, FalseAlarms, Live, LiveOptions, Point, SavedGroup, What};
use lion_tsne::{Fit, Lion, LionOptions, Map, Matrix, PcaChoice, ignore};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a store keeps.
#[derive(Clone)]
pub(super) struct StoredState {
    pub(super) aux: Vec<u8>,
    pub(super) points: Vec<(Point, Option<Vec<f32>>)>,
    pub(super) groups: Vec<SavedGroup>,
}

impl StoredState {
    /// As a store would: points as JSON, rows of outliers beside them.
    pub(super) fn of(live: &Live, row: impl Fn(&str) -> Option<Vec<f32>>) -> Self {
        let keep = |point: &Point| {
            let text = serde_json::to_string(point).unwrap();
            let row = if point.is_outlier() { row(&point.id) } else { None };
            (serde_json::from_str(&text).unwrap(), row)
        };
        let groups = live.groups().map(|group| SavedGroup { number: group.number, cell: group.cell });
        Self { aux: live.aux(), points: live.points().map(keep).collect(), groups: groups.collect() }
    }

    pub(super) fn restore(self, lion: &Arc<Lion>, options: LiveOptions) -> lion_tsne::Result<Live> {
        // In whatever order a store has them.
        let (points, groups) = (self.points.into_iter().rev(), self.groups.into_iter().rev());
        Live::restore(Arc::clone(lion), options, &self.aux, points, groups)
    }
}

/// Alarms that come often.
const OPTIONS: LiveOptions = LiveOptions { window: 40.0, false_alarms: FalseAlarms::Arrivals(1000.0) };

/// 300 rows in five clusters; their places are their first columns.
fn map(dims: usize, seed: u64) -> Map {
    let x = clusters(300, 4, 5, 6.0, seed);
    let y = (0..300).flat_map(|i| x.row(i)[..dims].to_vec()).map(|v| 3.0 * v).collect();
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    fit.adopt(x, Matrix::new(300, dims, y).unwrap(), &mut ignore).unwrap()
}

fn lion(map: &Map, threads: usize) -> Arc<Lion> {
    Arc::new(Lion::new(map.clone(), &LionOptions { threads, ..LionOptions::default() }).unwrap())
}

/// Points that come near rows of the map, gather far from it, drift, stay and leave.
fn stream(map: &Map, r_x: f64, count: usize, seed: u64) -> Vec<Change> {
    let mut numbers = TestRandom::new(seed);
    let mut known: Vec<(String, Vec<f32>)> = Vec::new();
    let mut changes = Vec::new();
    for i in 0..count {
        let pick = |numbers: &mut TestRandom, n: usize| (numbers.uniform() * n as f64) as usize;
        let t = (numbers.uniform() < 0.8).then(|| i as f64 * 0.5 + 3.0 * numbers.uniform());
        let choice = numbers.uniform();
        if choice < 0.15 && !known.is_empty() {
            let (id, _) = known.swap_remove(pick(&mut numbers, known.len()));
            changes.push(Change::Delete { id, t });
            continue;
        }
        let at = pick(&mut numbers, known.len().max(1));
        let mut row = match known.get(at) {
            Some((_, row)) if choice < 0.45 => row.clone(),
            _ if choice < 0.7 => map.x().row(pick(&mut numbers, 300)).to_vec(),
            _ => vec![60.0 * (1 + pick(&mut numbers, 12)) as f32; 4],
        };
        let step = [0.0, 0.2, 0.6, 2.0][pick(&mut numbers, 4)] * r_x;
        row.iter_mut().for_each(|v| *v += (step * 0.5 * numbers.gaussian()) as f32);
        match known.get_mut(at) {
            Some((id, kept)) if choice < 0.6 => {
                kept.clone_from(&row);
                changes.push(upsert(id, &row, t));
            }
            _ => {
                let id = format!("p{i}");
                changes.push(upsert(&id, &row, t));
                known.push((id, row));
            }
        }
    }
    changes
}

/// The row that each point has.
fn rows(changes: &[Change]) -> HashMap<String, Vec<f32>> {
    let upserts = changes.iter().filter_map(|change| match change {
        Change::Upsert(arrival) => Some((arrival.id.clone(), arrival.row.clone())),
        Change::Delete { .. } => None,
    });
    upserts.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_same_is_told_however_it_comes(seed in 0u64..10_000, dims in 2usize..=3, threads in 1usize..=3, parts in 1usize..9) {
        let map = map(dims, seed);
        let one = lion(&map, 1);
        let changes = stream(&map, one.r_x(), 400, seed);
        let mut live = Live::new(Arc::clone(&one), OPTIONS).unwrap();
        let mut applied = Applied::default();
        for change in &changes {
            applied.extend(live.apply(vec![change.clone()]).unwrap());
        }
        let digest = live.digest();

        let many = lion(&map, threads);
        let mut again = Live::new(Arc::clone(&many), OPTIONS).unwrap();
        let mut numbers = TestRandom::new(seed ^ 0xc07);
        let (mut told, mut at) = (Applied::default(), 0);
        while at < changes.len() {
            let end = (at + 1 + (numbers.uniform() * (400 / parts) as f64) as usize).min(changes.len());
            told.extend(again.apply(changes[at..end].to_vec()).unwrap());
            at = end;
            // Stopped and begun again from what was kept.
            let before = again.digest();
            let known = rows(&changes[..at]);
            again = StoredState::of(&again, |id| known.get(id).cloned()).restore(&many, OPTIONS).unwrap();
            prop_assert_eq!(again.digest(), before);
        }
        prop_assert_eq!(&told, &applied);
        prop_assert_eq!(again.digest(), digest);
        prop_assert_eq!(again.health(), live.health());
    }

    #[test]
    fn every_promise_is_kept_after_every_change(seed in 0u64..10_000, dims in 2usize..=3) {
        let map = map(dims, seed);
        let lion = lion(&map, 1);
        let (r_x, r_y, r_close) = (lion.r_x(), lion.r_y(), lion.r_close());
        let mut live = Live::new(lion, OPTIONS).unwrap();
        let mut rows: HashMap<String, Vec<f32>> = HashMap::new();
        let (mut number, mut time) = (0, f64::NEG_INFINITY);
        for change in stream(&map, r_x, 300, seed) {
            let old = live.point(change.id()).cloned();
            let events = live.apply(vec![change.clone()]).unwrap().events;
            for event in &events {
                number += 1;
                prop_assert!(event.n == number && event.t >= time);
                time = event.t;
            }
            prop_assert_eq!(events.iter().filter(|event| event.id().is_some()).count(), 1);
            check_told(&events[0], old.as_ref(), live.point(change.id()))?;
            if let Change::Upsert(arrival) = &change {
                let before = rows.insert(arrival.id.clone(), arrival.row.clone());
                let new = live.point(&arrival.id).unwrap();
                if let (Some(old), Some(before)) = (old.filter(Point::is_outlier), before)
                    && new.is_outlier() && apart(&before, &arrival.row) < 0.99999 * r_x
                {
                    prop_assert!(apart(&old.placement.place, &new.placement.place) <= r_close);
                    prop_assert_eq!(old.placement.group, new.placement.group);
                }
            }
        }
        check_positions(&live, &map, r_y, r_close)?;
    }
}

/// The event tells what is so now, and what was so before.
fn check_told(event: &Event, old: Option<&Point>, new: Option<&Point>) -> Result<(), TestCaseError> {
    let from = match &event.what {
        What::Removed { from, .. } => Some(from),
        _ => event.sighting().unwrap().from.as_ref(),
    };
    prop_assert_eq!(
        from.map(|from| (from.at, from.group, from.t)),
        old.map(|p| (p.placement.place.into(), p.placement.group, p.t))
    );
    let now = event.sighting().map(|now| (now.at(), now.placement.group, event.n, event.t));
    prop_assert_eq!(now, new.map(|p| (p.placement.place.into(), p.placement.group, p.last, p.t)));
    Ok(())
}

fn check_positions(live: &Live, map: &Map, r_y: f64, r_close: f64) -> Result<(), TestCaseError> {
    let least = r_y * 0.9999;
    for group in live.groups() {
        prop_assert!((0..map.y().rows()).all(|row| apart(map.y().row(row), &group.position) >= least));
        let others = live.groups().filter(|other| other.number != group.number);
        prop_assert!(others.into_iter().all(|other| apart(&other.position, &group.position) >= least));
        for id in group.members.values() {
            let point = live.point(id).unwrap();
            prop_assert_eq!(point.placement.group, Some(group.number));
            prop_assert!(apart(&point.placement.place, &group.position) <= r_close);
        }
    }
    let members: usize = live.groups().map(|group| group.members.len()).sum();
    prop_assert_eq!(members, live.points().filter(|point| point.is_outlier()).count());
    Ok(())
}

/// A store of the version before knows no alarms: they begin anew, and the rest goes on.
#[test]
fn a_live_map_restored_from_an_older_version() {
    let map = map(2, 3);
    let lion = lion(&map, 1);
    let changes = stream(&map, lion.r_x(), 300, 3);
    let mut live = Live::new(Arc::clone(&lion), OPTIONS).unwrap();
    live.apply(changes.clone()).unwrap();
    let known = rows(&changes);
    let mut kept = StoredState::of(&live, |id| known.get(id).cloned());
    let mut aux: serde_json::Value = serde_json::from_slice(&kept.aux).unwrap();
    aux["version"] = 1.into();
    aux["alarms"].take();
    // What that version kept instead.
    aux["announced"] = serde_json::json!({ "forming": { "0": { "size": 5, "since": 1.0 } }, "vanishing": {}, "stale": true });
    let buckets = aux["window"]["buckets"].as_array_mut().unwrap();
    buckets.iter_mut().for_each(|bucket| bucket["peaks"] = serde_json::json!([]));
    kept.aux = serde_json::to_vec(&aux).unwrap();
    let mut again = kept.restore(&lion, OPTIONS).unwrap();
    assert_eq!((again.last(), again.points().len()), (live.last(), live.points().len()));
    assert_eq!(again.health().arrivals, live.health().arrivals);
    assert!(again.health().forming.is_empty() && again.health().stale.is_none());
    assert!(!again.apply(stream(&map, lion.r_x(), 50, 4)).unwrap().events.is_empty());
    let aux: serde_json::Value = serde_json::from_slice(&again.aux()).unwrap();
    assert_eq!(aux["version"], 2);
}

/// A window of another length begins anew, and the rest goes on.
#[test]
fn a_live_map_restored_with_another_window() {
    let map = map(2, 3);
    let lion = lion(&map, 1);
    let changes = stream(&map, lion.r_x(), 300, 3);
    let mut live = Live::new(Arc::clone(&lion), OPTIONS).unwrap();
    live.apply(changes.clone()).unwrap();
    let known = rows(&changes);
    let options = LiveOptions { window: 60.0, ..OPTIONS };
    let mut again = StoredState::of(&live, |id| known.get(id).cloned()).restore(&lion, options).unwrap();
    assert_eq!((again.last(), again.points().len()), (live.last(), live.points().len()));
    assert_eq!(again.health().arrivals, 0);
    assert!(again.points().eq(live.points()) && again.groups().eq(live.groups()));
    again.apply(vec![upsert("new", map.x().row(0), None)]).unwrap();
    assert_eq!(again.health().arrivals, 1);
}
