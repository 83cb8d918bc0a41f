//! Alarms, on streams made for them: when they are told, by what evidence, and when not.

use super::support::*;
use lion_tsne::live::{
    Change, Event, Evidence, FalseAlarms, Gathered, Live, LiveOptions, Vanishing, What, Why,
};
use std::sync::Arc;

/// `count` arrivals from time `t` on, one in `step` seconds, each of a new point.
fn every(step: f64, t: f64, count: usize, row: impl Fn(usize) -> [f32; 2]) -> Vec<Change> {
    (0..count).map(|i| at(t + i as f64 * step, &format!("{t}-{i}"), row(i))).collect()
}

fn arrivals(t: f64, count: usize, row: impl Fn(usize) -> [f32; 2]) -> Vec<Change> {
    every(0.1, t, count, row)
}

fn either(i: usize) -> [f32; 2] {
    if i.is_multiple_of(2) { LEFT } else { RIGHT }
}

/// A row in one of many places where nobody is, each far from the others.
fn strange(i: usize) -> [f32; 2] {
    [100.0 + 30.0 * (i % 10) as f32, 30.0 * (i / 10) as f32]
}

/// A row near others where no row of the map is.
fn gathered(i: usize) -> [f32; 2] {
    [20.0 + 0.1 * (i % 5) as f32, 5.0]
}

/// The alarms among events: after how many changes, and which.
fn alarms(events: &[Event]) -> Vec<(usize, &'static str)> {
    let mut changes = 0;
    let mut alarms = Vec::new();
    for event in events {
        match event.id() {
            Some(_) => changes += 1,
            None => alarms.push((changes, event.kind())),
        }
    }
    alarms
}

fn forming(events: &[Event]) -> Vec<&Gathered> {
    let found = events.iter().filter_map(|event| match &event.what {
        What::Forming(gathered) => Some(gathered),
        _ => None,
    });
    found.collect()
}

fn vanishing(events: &[Event]) -> Vec<&Vanishing> {
    let found = events.iter().filter_map(|event| match &event.what {
        What::Vanishing(vanishing) => Some(vanishing),
        _ => None,
    });
    found.collect()
}

fn shows(evidence: &Evidence, live: &Live) -> bool {
    evidence.e_value >= live.health().false_alarms && evidence.of > 0 && evidence.seen <= evidence.of
}

#[test]
fn outliers_that_gather_are_a_cluster_told_once_until_it_ends() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 200, either));
    let events = apply(&mut live, arrivals(100.0, 24, gathered));
    let told = forming(&events);
    assert_eq!(told.len(), 1, "{:?}", alarms(&events));
    let found = told[0];
    assert!(found.cluster.size <= 8 && found.ids.len() as u64 == found.cluster.size, "{found:?}");
    assert_eq!((found.cluster.group, &found.cluster.groups[..]), (0, &[0][..]));
    let Evidence { seen, of, expected, since, .. } = found.evidence;
    assert!(shows(&found.evidence, &live) && seen == found.cluster.size && of >= seen, "{found:?}");
    assert!(expected < 0.2 && since == 100.0, "{found:?}");
    let health = live.health();
    assert_eq!(
        (health.forming.len(), health.forming[0].cluster.group, health.forming[0].cluster.size),
        (1, 0, 24)
    );
    assert_eq!((health.forming[0].evidence, live.group(0).unwrap().family), (found.evidence, Some(0)));
    // It gets no more: that is told by the rows that come elsewhere, and once.
    let events = apply(&mut live, arrivals(200.0, 300, either));
    let ends: Vec<_> = of_kind(&events, "dissolved");
    assert_eq!(ends.len(), 1);
    let What::Dissolved(end) = &ends[0].what else { panic!("{ends:?}") };
    assert!(end.cluster.size == 24 && end.evidence.seen == 0 && end.evidence.expected > 3.0, "{end:?}");
    assert!(live.health().forming.is_empty() && live.group(0).unwrap().family.is_none());
    // What came before is no evidence again; what comes now is.
    let events = apply(&mut live, every(0.1, 300.0, 1, gathered));
    assert_eq!(alarms(&events), []);
    let events = apply(&mut live, arrivals(400.0, 20, gathered));
    let [again] = forming(&events)[..] else { panic!("{:?}", alarms(&events)) };
    assert!(again.evidence.since >= 300.0, "{again:?}");
}

/// A point that was ordinary before counts from when it became an outlier.
#[test]
fn the_evidence_of_a_cluster_begins_with_its_first_outlier() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 200, either));
    apply(&mut live, vec![at(90.0, "n0", LEFT)]);
    let events =
        apply(&mut live, (0..20).map(|i| at(100.0 + i as f64, &format!("n{i}"), gathered(i))).collect());
    let [told] = forming(&events)[..] else { panic!("{:?}", alarms(&events)) };
    assert_eq!((told.evidence.since, told.ids[0].as_str()), (100.0, "n0"));
}

#[test]
fn a_cluster_without_members_is_gone() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 100, either));
    let events = apply(&mut live, arrivals(100.0, 20, gathered));
    assert_eq!(forming(&events).len(), 1);
    let gone: Vec<Change> = (0..20).map(|i| delete(&format!("100-{i}"))).collect();
    let events = apply(&mut live, gone);
    assert!(matches!(alarms(&events)[..], [(1..=20, "dissolved")]), "{:?}", alarms(&events));
    assert!(live.health().forming.is_empty());
}

/// Several groups of one new class: within r_x of each other or not, they are one cluster.
#[test]
fn groups_that_are_one_cluster_are_told_once() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 200, either));
    // 1.3 apart, where r_x is 1.
    let events =
        apply(&mut live, arrivals(100.0, 60, |i| [18.0 + 1.3 * (i % 3) as f32, 5.0 + 0.01 * i as f32]));
    assert!(live.groups().len() >= 3);
    assert_eq!(forming(&events).len(), 1, "{:?}", alarms(&events));
    let health = live.health();
    assert_eq!((health.forming.len(), health.forming[0].cluster.size), (1, 60));
    assert_eq!(health.forming[0].cluster.groups.len(), live.groups().len());
}

#[test]
fn two_clusters_are_told_as_two() {
    let mut live = Live::new(Arc::new(squares_of(40)), LiveOptions::default()).unwrap();
    apply(&mut live, arrivals(0.0, 1000, |_| LEFT));
    let both = |i: usize| match i % 10 {
        0 => [80.0 + 0.1 * (i % 7) as f32, 5.0],
        5 => [80.0, 200.0 + 0.1 * (i % 7) as f32],
        _ => LEFT,
    };
    assert_eq!(forming(&apply(&mut live, arrivals(1000.0, 400, both))).len(), 2);
}

#[test]
fn what_is_told_does_not_depend_on_how_fast_rows_come() {
    let stream = |step: f64| {
        let mut live = live();
        let mut rows = Vec::new();
        rows.extend(every(step, 0.0, 300, either));
        rows.extend(every(step, 1e6, 100, |i| if i % 5 == 0 { gathered(i) } else { either(i) }));
        rows.extend(every(step, 2e6, 60, |_| LEFT));
        rows.extend(every(step, 3e6, 60, strange));
        rows.extend(every(step, 4e6, 200, either));
        alarms(&apply(&mut live, rows))
    };
    let slow = stream(600.0);
    assert_eq!(slow, stream(0.001));
    let kinds: Vec<&str> = slow.iter().map(|(_, kind)| *kind).collect();
    for kind in ["forming", "vanishing", "recovered", "stale", "fresh"] {
        assert!(kinds.contains(&kind), "{slow:?}");
    }
}

#[test]
fn outliers_that_have_nothing_to_do_with_each_other_form_nothing() {
    let mut live = live();
    let events = apply(&mut live, arrivals(0.0, 49, strange));
    assert!(forming(&events).is_empty());
    assert_eq!(live.groups().len(), 49);
}

/// Half of what arrives is on the right, then nothing, then half again.
#[test]
fn a_cluster_that_no_longer_gets_what_it_got_vanishes_and_recovers() {
    let mut live = live();
    let mut events = apply(&mut live, arrivals(0.0, 400, either));
    assert_eq!(alarms(&events), []);
    let share = live.health().clusters[1].share_before.unwrap();
    assert!((share - 0.5).abs() < 0.01, "{share}");
    events = apply(&mut live, arrivals(1000.0, 60, |_| LEFT));
    let told = alarms(&events);
    // If the share were still 0.375, half of it kept to a half: ln(300 000) / ln(1 / 0.625) = 26.8, and a little more.
    assert!(matches!(told[..], [(26..=32, "vanishing")]), "{told:?}");
    let found = vanishing(&events)[0];
    assert_eq!((found.cluster.as_str(), found.seen, found.why), ("right", 0, Why::Arrivals));
    assert!(shows(&found.evidence, &live) && found.expected > 8.0, "{found:?}");
    let now = &live.health().vanishing;
    assert!(now.len() == 1 && now[0].seen == 0 && now[0].expected > found.expected, "{now:?}");
    events = apply(&mut live, arrivals(2000.0, 40, either));
    let back = of_kind(&events, "recovered");
    let What::Recovered { cluster, evidence } = &back[0].what else { panic!("{back:?}") };
    assert!(cluster == "right" && evidence.seen >= 3 && evidence.seen <= evidence.of, "{evidence:?}");
    assert!(live.health().vanishing.is_empty() && vanishing(&events).is_empty());
}

#[test]
fn too_few_arrivals_prove_nothing() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 6, either));
    let events = apply(&mut live, arrivals(1000.0, 100, |_| LEFT));
    assert_eq!(alarms(&events), [], "three arrivals are no share");
    let mut live = self::live();
    apply(&mut live, arrivals(0.0, 400, either));
    let events = apply(&mut live, arrivals(1000.0, 15, |_| LEFT));
    assert_eq!(alarms(&events), [], "15 without one of a half come once in 33 000");
}

#[test]
fn a_cluster_whose_points_leave_vanishes_and_recovers() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 80, either));
    let ids = |live: &Live, name: &str| -> Vec<String> {
        let points = live.points().filter(|point| live.clusters().name(point.cluster.unwrap()) == name);
        points.map(|point| point.id.clone()).collect()
    };
    let right = ids(&live, "right");
    let events = apply(&mut live, right[..30].iter().map(|id| delete(id)).collect());
    assert_eq!(alarms(&events), [(30, "vanishing")]);
    let found = vanishing(&events)[0];
    assert_eq!((found.seen, found.expected, found.why), (10, 40.0, Why::Left));
    assert!(shows(&found.evidence, &live), "{found:?}");
    let events = apply(&mut live, arrivals(1000.0, 12, |_| RIGHT));
    assert!(matches!(alarms(&events)[..], [(10, "recovered")]), "{:?}", alarms(&events));
}

#[test]
fn turnover_is_no_reason() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 100, either));
    // Each that comes takes the place of the oldest.
    let mut told = Vec::new();
    for i in 0..2000 {
        let oldest = live.points().next().unwrap().id.clone();
        told.extend(apply(&mut live, vec![at(1e3, &format!("next-{i}"), either(i)), delete(&oldest)]));
    }
    // All leave.
    let all: Vec<Change> = live.points().map(|point| delete(&point.id)).collect();
    told.extend(apply(&mut live, all));
    assert_eq!(alarms(&told), []);
}

/// Rows like the map's own, then none that are, then the first again.
#[test]
fn a_map_grows_stale_and_fresh_again() {
    let mut live = live();
    let mut events = apply(&mut live, arrivals(0.0, 60, either));
    assert_eq!(alarms(&events), []);
    let before = live.health();
    assert!(before.staleness < 0.7 && before.stale.is_none());
    events = apply(&mut live, arrivals(1000.0, 30, strange));
    let told = of_kind(&events, "stale");
    assert_eq!(told.len(), 1);
    let What::Stale(found) = told[0].what else { panic!("{told:?}") };
    assert!(shows(&found.evidence, &live) && found.evidence.seen <= 10 && found.score > 0.0, "{found:?}");
    let health = live.health();
    assert_eq!((health.outlier_share, health.promised, health.arrivals), (1.0, Some(2.0 / 201.0), 30));
    assert!(health.excess.is_some_and(|excess| excess.seen >= 3));
    assert_eq!(health.stale.unwrap().evidence, found.evidence);
    events = apply(&mut live, arrivals(2000.0, 60, either));
    assert_eq!(of_kind(&events, "fresh").len(), 1, "{:?}", alarms(&events));
    assert!(live.health().stale.is_none() && live.health().excess.is_none());
}

#[test]
fn a_point_that_is_sent_again_and_again_is_no_evidence() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 100, either));
    let jitter = |i: usize| at(1e3 + i as f64, "again", [20.0 + 0.001 * (i % 7) as f32, 5.0]);
    let events = apply(&mut live, (0..500).map(jitter).collect());
    assert_eq!(alarms(&events), []);
    // Nor is one that comes and goes.
    let flips = |i: usize| at(1e4 + i as f64, "flips", if i.is_multiple_of(2) { NOWHERE } else { LEFT });
    let events = apply(&mut live, (0..500).map(flips).collect());
    assert_eq!(alarms(&events), []);
}

/// A fixed set of points whose rows change: what they become is told, though none of them is new.
#[test]
fn points_that_become_strange_are_evidence_once() {
    let mut live = live();
    let round = |number: usize, row: &dyn Fn(usize) -> [f32; 2]| -> Vec<Change> {
        (0..60).map(|i| at((60 * number + i) as f64, &format!("p{i}"), row(i))).collect()
    };
    // Rows of the map: their scores are above a half.
    let known = |i: usize| if i.is_multiple_of(2) { [3.0, 4.0] } else { [33.0, 4.0] };
    for number in 0..5 {
        assert_eq!(alarms(&apply(&mut live, round(number, &known))), []);
    }
    let events = apply(&mut live, round(5, &strange));
    assert!(of_kind(&events, "stale").len() == 1 && forming(&events).is_empty(), "{:?}", alarms(&events));
    let events = apply(&mut live, round(6, &strange));
    assert!(forming(&events).is_empty(), "{:?}", alarms(&events));
}

#[test]
fn fewer_false_alarms_are_later_alarms() {
    let first = |false_alarms: FalseAlarms| {
        let mut live = with(LiveOptions { false_alarms, ..LiveOptions::default() });
        apply(&mut live, arrivals(0.0, 400, either));
        let events = apply(&mut live, arrivals(1000.0, 100, |_| LEFT));
        (alarms(&events)[0].0, live.health().false_alarms)
    };
    let (soon, _) = first(FalseAlarms::Arrivals(1e4));
    let (late, _) = first(FalseAlarms::Arrivals(1e9));
    assert!(soon + 10 < late, "{soon} {late}");
    // Ten a second: a day is 864 000 arrivals, or about as many.
    let (_, limit) = first("1/1d".parse().unwrap());
    assert!((8e5..9e5).contains(&limit), "{limit}");
}
