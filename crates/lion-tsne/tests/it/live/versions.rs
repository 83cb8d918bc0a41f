//! Live points in another version of the map.

use super::random::StoredState;
use super::support::{LEFT, NOWHERE, RIGHT, apply, delete, kinds, live, squares, to};
use lion_tsne::live::{ClusterMatches, Event, Live, LiveOptions, MapUpdated, SettledRow, What};
use lion_tsne::{Lion, LionOptions, Matrix, Rows, Update, Verdict, ignore};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows of points by id.
type Given = HashMap<String, [f32; 2]>;

/// A live map with points in both squares, a group of twelve outliers and a lone one.
fn crowd() -> (Live, Given) {
    let mut live = live();
    let mut given = Given::new();
    let far = (0..12).map(|i| {
        (format!("far-{i}"), [NOWHERE[0] + 0.2 * (i % 4) as f32, NOWHERE[1] + 0.2 * (i / 4) as f32])
    });
    let others = [("lone", [20.0, -40.0]), ("l", LEFT), ("r", RIGHT)].map(|(id, row)| (id.to_owned(), row));
    for (id, row) in far.chain(others) {
        apply(&mut live, vec![to(&id, row)]);
        given.insert(id, row);
    }
    (live, given)
}

/// The squares with the rows of some points.
fn updated(given: &Given, taken: impl Fn(&str) -> bool) -> Arc<Lion> {
    let mut taken: Vec<_> = given.iter().filter(|(id, _)| taken(id)).collect();
    taken.sort_by_key(|(id, _)| id.as_str());
    let data = taken.iter().flat_map(|(_, row)| **row).collect();
    let rows = Rows {
        data: Matrix::new(taken.len(), 2, data).unwrap(),
        ids: Some(taken.iter().map(|(id, _)| (*id).clone()).collect()),
        labels: Some(vec!["new".into(); taken.len()]),
    };
    let map = Update::default().run(squares().map(), rows, &mut ignore).unwrap().map;
    Arc::new(Lion::new(map, &LionOptions::default()).unwrap())
}

/// A live map in another version, what is told of the switch, and all events.
fn moved(live: &Live, lion: &Arc<Lion>, given: &Given) -> (Live, MapUpdated, Vec<Event>) {
    let next = Live::new(lion.clone(), LiveOptions::default()).unwrap();
    let settled: Vec<SettledRow> =
        live.points().map(|point| next.settle(&given[&point.id]).unwrap()).collect();
    let told = MapUpdated { version: 2, from: 1, ..MapUpdated::default() };
    let (next, applied) = live.move_to(next, settled, told, 100.0).unwrap();
    let event = &applied.events[0];
    assert_eq!((event.n, event.t), (live.last() + 1, live.now().max(100.0)));
    assert_eq!(next.last(), live.last() + applied.events.len() as u64);
    let What::MapUpdated(told) = &event.what else { panic!("{event:?}") };
    (next, told.clone(), applied.events)
}

#[test]
fn points_keep_all_but_their_places() {
    let (live, given) = crowd();
    let lion = updated(&given, |id| id.starts_with("far"));
    let (next, told, _) = moved(&live, &lion, &given);
    for (before, after) in live.points().zip(next.points()) {
        let known = |p: &lion_tsne::live::Point| (p.id.clone(), p.label.clone(), p.t, p.first, p.last);
        assert_eq!(known(before), known(after));
        let expected = lion.place_row(&given[&after.id]).unwrap();
        assert_eq!(after.placement.verdict, expected.verdict);
        if !after.is_outlier() {
            assert_eq!(after.placement.place, expected.place, "{}", after.id);
        }
    }
    assert_eq!((told.points, told.taken_in, told.outliers_before, told.outliers), (15, 12, 13, 1));
    assert_eq!(next.point("far-3").unwrap().placement.verdict, Verdict::Exact);
    let group = |live: &Live, id: &str| live.point(id).unwrap().placement.group;
    assert_eq!(group(&next, "lone"), group(&live, "lone"), "a group that stays keeps its number");
    assert_eq!(next.health().outliers, 1);
    assert_eq!(next.health().arrivals, live.health().arrivals);
}

#[test]
fn what_a_store_keeps_of_it_tells_the_same_of_what_comes() {
    let (live, given) = crowd();
    let lion = updated(&given, |id| id.starts_with("far"));
    let (mut next, _, _) = moved(&live, &lion, &given);
    let stored = StoredState::of(&next, |id| given.get(id).map(|row| row.to_vec()));
    let mut again = stored.restore(&lion, LiveOptions::default()).unwrap();
    assert_eq!(next.digest(), again.digest());
    let later = || {
        let outliers = (0..40).map(|i| to(&format!("odd-{i}"), [60.0 + 0.1 * i as f32, -20.0]));
        let others = [to("l", RIGHT), delete("lone"), to("far-1", NOWHERE), to("far-2", LEFT)];
        others.into_iter().chain(outliers).collect::<Vec<_>>()
    };
    assert_eq!(apply(&mut next, later()), apply(&mut again, later()));
    assert_eq!(next.digest(), again.digest());
}

#[test]
fn a_group_that_is_not_taken_in_goes_on_forming() {
    let mut live = live();
    let mut given = Given::new();
    let ordinary = (0..200).map(|i| (format!("o{i}"), if i % 2 == 0 { LEFT } else { RIGHT }));
    let gathers = |name: &'static str, y: f32| {
        (0..24).map(move |i| (format!("{name}{i}"), [20.0 + 0.1 * (i % 5) as f32, y]))
    };
    for (id, row) in ordinary.chain(gathers("a", 5.0)).chain(gathers("b", -60.0)) {
        apply(&mut live, vec![to(&id, row)]);
        given.insert(id, row);
    }
    let forming = |live: &Live| live.health().forming.iter().map(|f| f.cluster.group).collect::<Vec<_>>();
    // The first has ended by the time that the second has come.
    let group = live.point("b3").unwrap().placement.group.unwrap();
    let family = live.group(group).unwrap().family.expect("it forms");
    assert_eq!(forming(&live), [family]);
    let (without, told, _) = moved(&live, &updated(&given, |id| id.starts_with('a')), &given);
    assert_eq!((forming(&without), told.still_forming), (vec![family], vec![family]));
    let (with, told, _) = moved(&live, &updated(&given, |id| id.starts_with('b')), &given);
    assert_eq!((forming(&with), told.still_forming), (vec![], vec![]));
}

#[test]
fn clusters_that_came_are_told_with_their_groups() {
    let (live, given) = crowd();
    let lion = updated(&given, |id| id.starts_with("far"));
    let next = Live::new(lion.clone(), LiveOptions::default()).unwrap();
    let group = live.point("far-0").unwrap().placement.group.unwrap();
    let before = (live.lion().map(), live.clusters());
    let found = ClusterMatches::new(before, (lion.map(), next.clusters()), |id| {
        live.point(id).and_then(|point| point.placement.group)
    });
    let ClusterMatches { kept, changes } = found.unwrap();
    assert_eq!((kept.len(), changes.gone.len()), (2, 0));
    let born: Vec<_> =
        changes.born.iter().map(|born| (born.name.as_str(), born.rows, born.groups.clone())).collect();
    assert_eq!(born, [("new", 12, vec![group])]);
    let back = ClusterMatches::new((lion.map(), next.clusters()), before, |_| None).unwrap();
    assert_eq!((back.changes.born.len(), back.changes.gone[0].name.as_str()), (0, "new"));
}

#[test]
fn a_wrong_number_of_rows_is_refused() {
    let (live, given) = crowd();
    let lion = updated(&given, |id| id == "l");
    let next = || Live::new(lion.clone(), LiveOptions::default()).unwrap();
    assert!(live.move_to(next(), Vec::new(), MapUpdated::default(), 0.0).is_err());
}

/// A group that was taken in is a group of outliers again after going back, and one of which people must hear: it is told
/// as forming at once, with the events by which its members came, and goes on forming while more come.
#[test]
fn a_group_that_was_taken_in_forms_again_after_going_back() {
    let mut live = live();
    let mut given = Given::new();
    let ordinary = (0..60).map(|i| (format!("o{i}"), if i % 2 == 0 { LEFT } else { RIGHT }));
    let far = (0..40).map(|i| (format!("far-{i}"), [NOWHERE[0] + 0.02 * i as f32, NOWHERE[1]]));
    for (id, row) in ordinary.chain(far) {
        apply(&mut live, vec![to(&id, row)]);
        given.insert(id, row);
    }
    let forming = |live: &Live| live.health().forming.iter().map(|f| f.cluster.size).collect::<Vec<_>>();
    assert_eq!(forming(&live), [40]);
    let (there, _, events) = moved(&live, &updated(&given, |id| id.starts_with("far")), &given);
    assert_eq!((forming(&there), kinds(&events)), (vec![], vec!["map-updated"]));
    let first = Arc::new(squares());
    let (mut back, told, events) = moved(&there, &first, &given);
    assert_eq!((kinds(&events), told.still_forming), (vec!["map-updated", "forming"], vec![]));
    assert_eq!(forming(&back), [40]);
    let What::Forming(gathered) = &events[1].what else { panic!("{events:?}") };
    let evidence = gathered.evidence;
    assert!((20..=41).contains(&evidence.seen) && evidence.seen <= evidence.of, "{evidence:?}");
    assert!(serde_json::to_value(&events[1]).unwrap()["evidence"]["e_value"].is_f64());
    for i in 0..10 {
        apply(
            &mut back,
            vec![to(&format!("l{i}"), LEFT), to(&format!("n{i}"), [NOWHERE[0] + 0.4, NOWHERE[1]])],
        );
    }
    assert_eq!(forming(&back), [50], "it goes on");
    for i in 0..10 {
        given.extend([(format!("l{i}"), LEFT), (format!("n{i}"), [NOWHERE[0] + 0.4, NOWHERE[1]])]);
    }
    let stored = StoredState::of(&back, |id| given.get(id).map(|row| row.to_vec()));
    assert_eq!(stored.restore(&first, LiveOptions::default()).unwrap().digest(), back.digest());
}
