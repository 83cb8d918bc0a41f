//! One event for each change, of the kind that matters most.

use super::support::*;
use lion_tsne::Verdict;
use lion_tsne::live::{
    Arrival, Change, ChangedPoint, Event, Evidence, Gathered, MapPosition, NewCluster, What,
};

#[test]
fn a_new_point_appears() {
    let mut live = live();
    let (kind, point) = sighting(&mut live, to("a", LEFT));
    assert_eq!((kind, point.placement.verdict, &point.from), ("appeared", Verdict::Interpolated, &None));
    assert_eq!((point.cluster.as_deref(), point.placement.group, point.distance), (Some("left"), None, None));
    assert_eq!(
        (point.placement.nearest, point.nearest_id.as_str(), point.placement.neighbours),
        (43, "row-43", 4)
    );
    // Between the places of the four rows around it.
    assert!(apart(&[point.at().x, point.at().y], &[35.0, 45.0]) < 7.1, "{:?}", point.at());
    let stranger = one(&mut live, to("b", NOWHERE));
    assert_eq!(stranger.kind(), "appeared");
    assert_eq!(stranger.sighting().unwrap().placement.group, Some(0));
}

#[test]
fn a_point_that_is_the_same_stayed() {
    let mut live = live();
    for row in [LEFT, NOWHERE, [3.0, 4.0]] {
        let first = one(&mut live, to("a", row));
        let again = one(&mut live, to("a", row));
        let (old, new) = (first.sighting().unwrap(), again.sighting().unwrap());
        assert_eq!((again.kind(), new.at(), new.placement.group), ("stayed", old.at(), old.placement.group));
        assert_eq!(new.distance, Some(0.0));
        apply(&mut live, vec![delete("a")]);
    }
}

#[test]
fn a_point_moves_and_it_is_told_how_far() {
    let mut live = live();
    let (_, old) = sighting(&mut live, to("a", [3.0, 4.0]));
    let (kind, new) = sighting(&mut live, to("a", [3.0, 5.0]));
    assert_eq!(
        (kind, old.placement.verdict, new.placement.verdict),
        ("moved", Verdict::Exact, Verdict::Exact)
    );
    assert_eq!(new.distance, Some(10.0));
    let from = new.from.unwrap();
    assert_eq!((from.at, from.t, from.cluster), (old.at(), 0.0, Some("left".into())));
}

#[test]
fn a_point_changes_cluster() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT)]);
    let (kind, point) = sighting(&mut live, to("a", RIGHT));
    assert_eq!((kind, point.cluster.as_deref()), ("changed-cluster", Some("right")));
    assert_eq!(point.from.unwrap().cluster.as_deref(), Some("left"));
    let health = live.health();
    assert_eq!(
        health.clusters.iter().map(|c| (c.name.as_str(), c.live, c.seen)).collect::<Vec<_>>(),
        [("left", 0, 1), ("right", 1, 1)]
    );
}

#[test]
fn a_point_becomes_an_outlier_and_returns() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT)]);
    let (kind, point) = sighting(&mut live, to("a", NOWHERE));
    assert_eq!((kind, point.placement.verdict, point.cluster), ("became-outlier", Verdict::Outlier, None));
    assert_eq!((live.health().outliers, live.groups().len()), (1, 1));
    let (kind, point) = sighting(&mut live, to("a", RIGHT));
    assert_eq!((kind, point.placement.group, point.cluster.as_deref()), ("returned", None, Some("right")));
    assert_eq!((live.health().outliers, live.groups().len()), (0, 0));
    // An outlier that belongs to a group at once became one all the same.
    apply(&mut live, vec![to("b", NOWHERE)]);
    assert_eq!(one(&mut live, to("a", NOWHERE)).kind(), "became-outlier");
}

#[test]
fn outliers_join_groups() {
    let mut live = live();
    let (_, first) = sighting(&mut live, to("a", NOWHERE));
    let (kind, point) = sighting(&mut live, to("b", [20.5, 5.5]));
    assert_eq!((kind, point.placement.group), ("joined-group", first.placement.group));
    assert!(apart(&[point.at().x, point.at().y], &[first.at().x, first.at().y]) <= 10.0);
    // Far from both, then to where they are.
    let (kind, point) = sighting(&mut live, to("c", [20.0, 60.0]));
    assert_eq!((kind, point.placement.group), ("appeared", Some(1)));
    let (kind, point) = sighting(&mut live, to("c", [20.2, 5.0]));
    assert_eq!((kind, point.placement.group, point.from.unwrap().group), ("joined-group", Some(0), Some(1)));
    let members: Vec<&str> = live.group(0).unwrap().members.values().map(String::as_str).collect();
    assert_eq!(members, ["a", "b", "c"]);
    assert!(live.group(1).is_none());
    // To where nobody is: it moved.
    let (kind, point) = sighting(&mut live, to("c", [20.0, 90.0]));
    assert_eq!((kind, point.placement.group), ("moved", Some(2)));
}

#[test]
fn a_point_is_removed() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT), to("b", NOWHERE)]);
    let event = one(&mut live, delete("b"));
    let What::Removed { id, from } = &event.what else { panic!("{event:?}") };
    assert_eq!((event.n, event.t, id.as_str(), from.group), (3, 2.0, "b", Some(0)));
    assert_eq!((event.id(), event.sighting()), (Some("b"), None));
    assert!(live.point("b").is_none() && live.groups().len() == 0);
    assert_eq!(live.points().map(|point| point.id.as_str()).collect::<Vec<_>>(), ["a"]);
    // It may come again, as a new point.
    assert_eq!(one(&mut live, to("b", LEFT)).kind(), "appeared");
    assert_eq!(live.point("b").unwrap().first, 4);
}

#[test]
fn what_changed_is_told_beside_the_events() {
    let mut live = live();
    let first = vec![to("a", LEFT), to("b", NOWHERE), to("c", LEFT), to("d", LEFT)];
    let mut applied = live.apply(first).unwrap();
    assert_eq!((&applied.previous[..], applied.points.len()), (&[None; 4][..], 4));
    assert_eq!(applied.groups.iter().copied().collect::<Vec<_>>(), [0]);
    let point = |first_before, row: Option<[f32; 2]>| ChangedPoint { first_before, row: row.map(Vec::from) };
    assert_eq!(applied.points["b"], point(None, Some(NOWHERE)));
    // It moves twice, another leaves a group, another is replaced by a new point of the same id.
    let second = vec![to("a", RIGHT), to("a", [31.5, 4.5]), to("b", LEFT), delete("c"), to("c", RIGHT)];
    let later = live.apply(second).unwrap();
    assert_eq!(later.previous, [Some(1), Some(5), Some(2), Some(3), None]);
    assert_eq!(later.groups.iter().copied().collect::<Vec<_>>(), [0]);
    assert_eq!(later.points.len(), 3);
    assert_eq!(later.points["a"], point(Some(1), Some([31.5, 4.5])));
    assert_eq!((&later.points["c"], live.point("c").unwrap().first), (&point(Some(3), Some(RIGHT)), 9));
    // Together, what counts is what was before both.
    applied.extend(later);
    applied.extend(live.apply(vec![delete("a")]).unwrap());
    assert_eq!(applied.previous.last(), Some(&Some(6)));
    assert_eq!((&applied.points["a"], &applied.points["b"]), (&point(None, None), &point(None, Some(LEFT))));
}

#[test]
fn a_snapshot_removes_what_is_not_in_it() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT), to("b", LEFT), to("c", NOWHERE), to("d", RIGHT)]);
    let arrival =
        |id: &str, row: [f32; 2]| Arrival { id: id.into(), row: row.to_vec(), label: None, t: None };
    let events =
        live.snapshot(vec![arrival("d", LEFT), arrival("e", LEFT), arrival("b", LEFT)], None).unwrap().events;
    assert_eq!(kinds(&events), ["changed-cluster", "appeared", "stayed", "removed", "removed"]);
    assert_eq!(events.iter().filter_map(Event::id).collect::<Vec<_>>(), ["d", "e", "b", "a", "c"]);
    // All of it at one time.
    assert!(events.iter().all(|event| event.t == 4.0));
    assert_eq!(live.points().map(|point| point.id.as_str()).collect::<Vec<_>>(), ["b", "d", "e"]);
    let events = live.snapshot(Vec::new(), Some(9.0)).unwrap().events;
    assert_eq!((kinds(&events), live.points().len(), live.now()), (vec!["removed"; 3], 0, 9.0));
}

#[test]
fn time_goes_on_and_never_back() {
    let mut live = live();
    let changes =
        vec![at(-5.0, "a", LEFT), to("b", LEFT), at(-9.0, "c", LEFT), at(2.5, "d", LEFT), to("e", LEFT)];
    let events = apply(&mut live, changes);
    assert_eq!(events.iter().map(|event| event.t).collect::<Vec<_>>(), [-5.0, -4.0, -4.0, 2.5, 3.5]);
    assert_eq!(events.iter().map(|event| event.n).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!((live.now(), live.last()), (3.5, 5));
}

#[test]
fn a_point_keeps_its_label_until_it_gets_another() {
    let mut live = live();
    let labelled = |label: Option<&str>, row: [f32; 2]| {
        let label = label.map(String::from);
        Change::Upsert(Arrival { id: "a".into(), row: row.to_vec(), label, t: None })
    };
    for (given, kept) in [(None, None), (Some("x"), Some("x")), (None, Some("x")), (Some("y"), Some("y"))] {
        let (_, point) = sighting(&mut live, labelled(given, LEFT));
        assert_eq!(point.label.as_deref(), kept);
    }
    let What::Removed { from, .. } = one(&mut live, delete("a")).what else { panic!("not removed") };
    assert_eq!(from.label.as_deref(), Some("y"));
}

#[test]
fn an_event_is_one_line_of_json() {
    let mut live = live();
    let events = apply(&mut live, vec![to("a", [3.0, 4.0]), to("a", [3.0, 5.0]), delete("a")]);
    let line = |event: &Event| serde_json::to_string(event).unwrap();
    let from = r#"{"t":0.0,"x":30.0,"y":40.0,"verdict":"exact","score":0.6119402985074627,"group":null,"cluster":"left","label":null}"#;
    assert_eq!(
        line(&events[1]),
        format!(
            r#"{{"n":2,"t":1.0,"kind":"moved","id":"a","label":null,"x":30.0,"y":50.0,"verdict":"exact","score":0.6119402985074627,"p_distance":1.0,"p_neighbours":0.6119402985074627,"off_plane":null,"nearest":53,"nearest_id":"row-53","nearest_distance":0.0,"neighbours":5,"group":null,"predicted_label":"left","label_share":1.0,"cluster":"left","distance":10.0,"from":{from}}}"#
        )
    );
    let from = from.replace("0.0,\"x\":30.0,\"y\":40", "1.0,\"x\":30.0,\"y\":50");
    assert_eq!(line(&events[2]), format!(r#"{{"n":3,"t":2.0,"kind":"removed","id":"a","from":{from}}}"#));
    for event in &events {
        assert_eq!(&serde_json::from_str::<Event>(&line(event)).unwrap(), event);
    }
    let at = MapPosition { x: 1.5, y: 2.0, z: Some(0.25) };
    let evidence = Evidence { seen: 5, of: 90, expected: 0.5, e_value: 4e6, since: 0.25 };
    let cluster = NewCluster { group: 4, groups: vec![2, 4], size: 5, at, labels: Vec::new() };
    let gathered = Gathered { cluster: cluster.clone(), ids: vec!["p".into()], evidence };
    let event = Event { n: 9, t: 0.5, what: What::Forming(gathered.clone()) };
    let text = concat!(
        r#"{"n":9,"t":0.5,"kind":"forming","group":4,"groups":[2,4],"size":5,"x":1.5,"y":2.0,"z":0.25,"ids":["p"],"#,
        r#""evidence":{"seen":5,"of":90,"expected":0.5,"e_value":4000000.0,"since":0.25}}"#
    );
    assert_eq!(line(&event), text);
    assert_eq!(serde_json::from_str::<Event>(text).unwrap(), event);
    // As stores of the version before have it.
    let text = r#"{"n":9,"t":0.5,"kind":"forming","group":4,"size":5,"x":1.5,"y":2.0,"z":0.25,"ids":["p"]}"#;
    let cluster = NewCluster { groups: Vec::new(), ..cluster };
    let bare = Gathered { cluster, evidence: Evidence::default(), ..gathered };
    assert_eq!(serde_json::from_str::<Event>(text).unwrap().what, What::Forming(bare));
}
