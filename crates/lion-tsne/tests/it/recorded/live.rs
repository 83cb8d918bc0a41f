//! Streams: what is told, what health says, and what a store keeps, which is all that alarms have learned.

use super::Record;
use super::table::{COLS, PLAIN};
use crate::common::TestRandom;
use lion_tsne::live::{Arrival, Change, Event, FalseAlarms, Live, LiveOptions, SamplePoint, ShareComparison};
use lion_tsne::{Lion, LionOptions, Map, Matrix, Rows, Update, ignore};
use std::sync::Arc;

/// What happens in the parts of a stream.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Rows like those of the map.
    Usual,
    /// Some of them around a place where no row is.
    Gathering,
    /// None of one cluster, and more of another.
    Unbalanced,
    /// All of them a little aside.
    Shifted,
    /// Strange rows, each by itself.
    Scattered,
}

const PARTS: [(Part, usize); 7] = [
    (Part::Usual, 300),
    (Part::Gathering, 150),
    (Part::Usual, 150),
    (Part::Unbalanced, 250),
    (Part::Scattered, 60),
    (Part::Shifted, 200),
    (Part::Usual, 100),
];

/// Changes of points: they appear, move, and some leave. Time passes unevenly.
fn stream(map: &Map, seed: u64) -> Vec<(Part, Vec<Change>)> {
    let mut numbers = TestRandom::new(seed);
    let (mut t, mut next) = (1000.0, 0u32);
    let mut there: Vec<u32> = Vec::new();
    let mut part = |(part, count): (Part, usize)| {
        let mut change = |_| {
            t += [0.2, 1.0, 7.0][(3.0 * numbers.uniform()) as usize];
            let (what, which) = (numbers.uniform(), numbers.uniform());
            let known = (which * there.len() as f64) as usize;
            if what < 0.1 && !there.is_empty() {
                return Change::Delete { id: format!("p{}", there.swap_remove(known)), t: Some(t) };
            }
            let id = match what < 0.25 && !there.is_empty() {
                true => there[known],
                false => {
                    next += 1;
                    there.push(next);
                    next
                }
            };
            let label = (numbers.uniform() < 0.5).then(|| format!("label {}", id % 3));
            let row = row(map, part, &mut numbers);
            Change::Upsert(Arrival { id: format!("p{id}"), row, label, t: Some(t) })
        };
        (part, (0..count).map(&mut change).collect())
    };
    PARTS.map(&mut part).into()
}

fn row(map: &Map, part: Part, numbers: &mut TestRandom) -> Vec<f32> {
    let mut near = |step: f64| -> Vec<f32> {
        let row = (numbers.uniform() * map.x().rows() as f64) as usize;
        // One of the first cluster where another part has none of the second.
        let row = if part == Part::Unbalanced && row % 5 == 1 { row - 1 } else { row };
        map.x().row(row).iter().map(|v| v + (step * numbers.gaussian()) as f32).collect()
    };
    let mut row = near(0.3);
    match part {
        Part::Usual | Part::Unbalanced => {}
        Part::Gathering if numbers.uniform() < 0.4 => row.iter_mut().for_each(|v| *v = 20.0 + 0.02 * *v),
        Part::Gathering => {}
        Part::Shifted => row[0] += 0.8,
        Part::Scattered => row.iter_mut().for_each(|v| *v += (40.0 * numbers.gaussian()) as f32),
    }
    row
}

/// Points as a sample of where they are.
fn sample(live: &Live) -> Vec<SamplePoint> {
    let point = |point: &lion_tsne::live::Point| SamplePoint {
        place: point.placement.place,
        cluster: point.cluster,
        outlier: point.is_outlier(),
    };
    live.points().map(point).collect()
}

fn compare(record: &mut Record, name: &str, a: &[SamplePoint], b: &[SamplePoint], clusters: usize) {
    let ShareComparison { clusters, outliers, regions, .. } = ShareComparison::new(a, b, clusters);
    record.json(&format!("{name} clusters"), &clusters);
    record.json(&format!("{name} outliers"), &outliers);
    record.json(&format!("{name} regions"), &regions);
}

/// Applies a stream in small portions; alarms are told whole, and of the rest every 20th event.
fn run(record: &mut Record, live: &mut Live, map: &Map, seed: u64) {
    let mut before = sample(live);
    for (number, (_, changes)) in stream(map, seed).into_iter().enumerate() {
        for portion in changes.chunks(7) {
            let told = |event: &&Event| event.id().is_none() || event.n.is_multiple_of(20);
            let applied = live.apply(portion.to_vec()).unwrap();
            applied.events.iter().filter(told).for_each(|event| record.json("event", event));
        }
        record.json(&format!("part {number} health"), &live.health());
        record.json(&format!("part {number} later"), &live.health_at(live.now() + 100.0));
        let aux: serde_json::Value = serde_json::from_slice(&live.aux()).unwrap();
        record.json(&format!("part {number} kept"), &aux);
        let after = sample(live);
        compare(record, &format!("part {number}"), &before, &after, live.clusters().names.len());
        before = after;
    }
}

fn ready(map: &Map, false_alarms: FalseAlarms, window: f64) -> Live {
    let lion = Arc::new(Lion::new(map.clone(), &LionOptions::default()).unwrap());
    Live::new(lion, LiveOptions { window, false_alarms }).unwrap()
}

#[test]
fn streams() {
    let mut record = Record::new("streams");
    let map = PLAIN.map();
    for (name, false_alarms, window) in [
        ("by arrivals", FalseAlarms::Arrivals(1000.0), 300.0),
        ("by time", FalseAlarms::Seconds(86_400.0), 1000.0),
    ] {
        record.line(name, []);
        run(&mut record, &mut ready(&map, false_alarms, window), &map, 11);
    }
    record.check();
}

/// What a switch to another version of the map tells.
#[test]
fn switches_of_the_map() {
    let mut record = Record::of_descent("switches");
    let map = PLAIN.map();
    let mut live = ready(&map, FalseAlarms::Arrivals(1000.0), 300.0);
    let mut rows = std::collections::HashMap::new();
    for (_, changes) in stream(&map, 12) {
        for change in &changes {
            if let Change::Upsert(arrival) = change {
                rows.insert(arrival.id.clone(), arrival.row.clone());
            }
        }
        live.apply(changes).unwrap();
    }
    let taken: Vec<_> = live.points().filter(|point| point.is_outlier()).map(|p| p.id.clone()).collect();
    let data = taken.iter().flat_map(|id| rows[id].clone()).collect();
    let new = Rows {
        data: Matrix::new(taken.len(), COLS, data).unwrap(),
        ids: Some(taken.clone()),
        labels: Some(vec!["taken".into(); taken.len()]),
    };
    let updated = Update::default().run(&map, new, &mut ignore).unwrap().map;
    let next = ready(&updated, FalseAlarms::Arrivals(1000.0), 300.0);
    let settled = live.points().map(|point| next.settle(&rows[&point.id]).unwrap()).collect();
    let told = lion_tsne::live::MapUpdated { version: 2, from: 1, ..Default::default() };
    let (next, applied) = live.move_to(next, settled, told, live.now() + 5.0).unwrap();
    applied.events.iter().for_each(|event| record.json("event", event));
    record.json("health", &next.health());
    for point in next.points().step_by(9) {
        record.json("point", &point.placement);
    }
    record.check();
}
