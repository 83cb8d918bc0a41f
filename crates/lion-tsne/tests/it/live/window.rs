//! What a window of time shows, on streams made for it.

use super::support::*;
use lion_tsne::live::{Change, Event, LiveOptions, Vanishing, What, Why};

/// `count` arrivals from time `t` on, ten a second, each of a new point.
fn arrivals(t: f64, count: usize, row: impl Fn(usize) -> [f32; 2]) -> Vec<Change> {
    (0..count).map(|i| at(t + i as f64 / 10.0, &format!("{t}-{i}"), row(i))).collect()
}

fn either(i: usize) -> [f32; 2] {
    if i.is_multiple_of(2) { LEFT } else { RIGHT }
}

/// A row in one of many places where nobody is, each far from the others.
fn strange(i: usize) -> [f32; 2] {
    [100.0 + 3.0 * (i % 10) as f32, 3.0 * (i / 10) as f32]
}

fn vanishing(event: &Event) -> &Vanishing {
    match &event.what {
        What::Vanishing(vanishing) => vanishing,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_group_that_grows_is_a_cluster_forming() {
    let mut live = live();
    let events = apply(&mut live, arrivals(0.0, 24, |i| [20.0 + 0.1 * (i % 5) as f32, 5.0]));
    let told: Vec<(u64, u64, usize)> = of_kind(&events, "forming")
        .iter()
        .map(|event| match &event.what {
            What::Forming { group, size, ids, .. } => (*group, *size, ids.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, [(0, 5, 5), (0, 10, 10), (0, 20, 20)]);
    // Right after the arrival that made it so.
    assert_eq!(
        kinds(&events[..6]),
        ["appeared", "joined-group", "joined-group", "joined-group", "joined-group", "forming"]
    );
    let health = live.health();
    assert_eq!((health.forming.len(), health.forming[0].group, health.forming[0].size), (1, 0, 24));
    assert_eq!(health.forming[0].since, 0.4);
    assert!(live.group(0).unwrap().forming);
    // All but two of them leave.
    let gone = live.points().skip(2).map(|point| delete(&point.id)).collect();
    apply(&mut live, gone);
    assert!(!live.group(0).unwrap().forming && live.health().forming.is_empty());
}

#[test]
fn a_group_that_grows_slowly_is_none() {
    let mut live = with(LiveOptions { window: 60.0, ..LiveOptions::default() });
    let slow = (0..12).map(|i| at(40.0 * f64::from(i), &i.to_string(), [20.0, 5.0])).collect();
    assert!(of_kind(&apply(&mut live, slow), "forming").is_empty());
    assert_eq!(live.group(0).unwrap().members.len(), 12);
}

#[test]
fn outliers_that_have_nothing_to_do_with_each_other_form_nothing() {
    let mut live = live();
    let events = apply(&mut live, arrivals(0.0, 49, strange));
    assert_eq!(kinds(&events), ["appeared"; 49]);
    assert_eq!(live.groups().len(), 49);
}

/// Half of what arrives is on the right, then nothing, then half again.
#[test]
fn a_cluster_that_no_longer_gets_what_it_got_vanishes_and_recovers() {
    let mut live = live();
    let mut events = apply(&mut live, arrivals(0.0, 100, either));
    assert!(events.iter().all(|event| event.kind() == "appeared"));
    // The first hundred are before the window now.
    events = apply(&mut live, arrivals(1000.0, 30, |_| LEFT));
    let told = of_kind(&events, "vanishing");
    assert_eq!(told.len(), 1);
    // Half of twenty were to be expected.
    assert_eq!(told[0].n, 121);
    let expected = Vanishing { cluster: "right".into(), expected: 10.0, seen: 0, why: Why::Arrivals };
    assert_eq!(vanishing(told[0]), &expected);
    let now = Vanishing { expected: 15.0, ..expected };
    assert_eq!(live.health().vanishing, [now]);
    events = apply(&mut live, arrivals(1010.0, 30, |_| RIGHT));
    let told = of_kind(&events, "recovered");
    assert_eq!(told.len(), 1);
    let What::Recovered { cluster } = &told[0].what else { panic!("{told:?}") };
    // After k of them 2 k >= (30 + k) / 2.
    assert_eq!((cluster.as_str(), told[0].t), ("right", 1010.9));
    assert!(live.health().vanishing.is_empty());
    assert!(of_kind(&events, "vanishing").is_empty());
}

#[test]
fn too_few_arrivals_prove_nothing() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 40, either));
    let events = apply(&mut live, arrivals(1000.0, 300, |_| LEFT));
    assert!(of_kind(&events, "vanishing").is_empty(), "40 before are too few");
    let mut live = self::live();
    apply(&mut live, arrivals(0.0, 100, either));
    let events = apply(&mut live, arrivals(1000.0, 19, |_| LEFT));
    assert!(of_kind(&events, "vanishing").is_empty(), "of 19 hardly 10 were to be expected");
}

#[test]
fn a_cluster_whose_points_leave_vanishes_and_recovers() {
    let mut live = live();
    apply(&mut live, arrivals(0.0, 8, |_| RIGHT));
    let ids: Vec<String> = live.points().map(|point| point.id.clone()).collect();
    let elsewhere = |id: &String| to(id, LEFT);
    let events = apply(&mut live, ids[..6].iter().map(elsewhere).collect());
    // Two of eight are left.
    assert_eq!(kinds(&events), [&["changed-cluster"; 6][..], &["vanishing"]].concat());
    let expected = Vanishing { cluster: "right".into(), expected: 8.0, seen: 2, why: Why::Left };
    assert_eq!(vanishing(&events[6]), &expected);
    let events = apply(&mut live, vec![to(&ids[0], RIGHT), to(&ids[1], RIGHT)]);
    assert_eq!(kinds(&events), ["changed-cluster", "changed-cluster", "recovered"]);
}

/// Rows as far from the map as its rows are from each other, then none that are, then the first again.
#[test]
fn a_map_grows_stale_and_fresh_again() {
    let mut live = live();
    let mut events = apply(&mut live, arrivals(0.0, 60, either));
    assert!(of_kind(&events, "stale").is_empty());
    assert_eq!(live.health().staleness, 0.0);
    events = apply(&mut live, arrivals(1000.0, 60, strange));
    let told = of_kind(&events, "stale");
    let What::Stale(told) = told[..].first().expect("it is stale").what else { panic!("{told:?}") };
    // The fiftieth stranger; all are stranger than any row.
    assert_eq!((told.arrivals, told.staleness), (50, 0.99));
    let health = live.health();
    assert_eq!((health.outlier_share, health.promised, health.arrivals), (1.0, Some(0.01), 60));
    // Sixty in a window of 300 seconds.
    assert!((health.rate - 0.2).abs() < 0.01, "{}", health.rate);
    events = apply(&mut live, arrivals(2000.0, 60, either));
    let told = of_kind(&events, "fresh");
    assert_eq!((told.len(), told[0].n), (1, live.last() - 10));
}

#[test]
fn the_series_says_when() {
    let mut live = with(LiveOptions { window: 30.0, ..LiveOptions::default() });
    apply(
        &mut live,
        vec![at(0.5, "a", LEFT), at(0.7, "b", NOWHERE), at(3.0, "c", LEFT), at(29.9, "d", LEFT)],
    );
    let series = live.health().series;
    assert_eq!((series.t.len(), series.t[0], series.t[29]), (30, 0.0, 29.0));
    assert_eq!((series.arrivals[0], series.arrivals[3], series.arrivals[29]), (2, 1, 1));
    assert_eq!((series.outliers[0], series.outliers.iter().sum::<u64>()), (1, 1));
    assert_eq!(
        (series.staleness[0], series.staleness[1], series.staleness[3]),
        (Some(0.49), None, Some(0.0))
    );
    // A second later the first bucket is gone.
    apply(&mut live, vec![at(30.0, "e", LEFT)]);
    assert_eq!(live.health().arrivals, 3);
}

#[test]
fn what_came_leaves_the_window_though_nothing_comes() {
    let mut live = with(LiveOptions { window: 30.0, ..LiveOptions::default() });
    apply(&mut live, vec![at(0.5, "a", LEFT), at(0.7, "b", NOWHERE), at(20.0, "c", LEFT)]);
    let digest = live.digest();
    assert_eq!(live.health_at(20.0), live.health());
    assert_eq!(live.health_at(f64::NAN), live.health());
    let later = live.health_at(40.0);
    assert_eq!((later.arrivals, later.outlier_share, later.points), (1, 0.0, 3));
    assert_eq!((later.series.t[29], later.series.arrivals.iter().sum::<u64>()), (40.0, 1));
    let much_later = live.health_at(1000.0);
    assert_eq!((much_later.arrivals, much_later.rate, much_later.staleness), (0, 0.0, 0.0));
    // It was a look, and changed nothing.
    assert_eq!(live.digest(), digest);
    assert_eq!(with(LiveOptions::default()).health_at(5.0).arrivals, 0);
}

#[test]
fn nothing_is_told_of_an_empty_map() {
    let health = live().health();
    assert_eq!((health.points, health.arrivals, health.rate, health.staleness), (0, 0, 0.0, 0.0));
    assert!(health.series.t.is_empty());
}
