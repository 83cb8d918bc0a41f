//! Bad input is refused with one sentence, and changes nothing.

use super::support::*;
use lion_tsne::live::{Change, FalseAlarms, Live, LiveOptions};
use lion_tsne::{Error, Fit, Lion, LionOptions, Matrix, Metric, ignore};
use std::sync::Arc;

/// The sentence that refuses these changes after a good one.
fn refused(live: &mut Live, mut changes: Vec<Change>) -> String {
    let before = live.digest();
    changes.insert(0, to("good", LEFT));
    let error = live.apply(changes).expect_err("bad changes were applied").to_string();
    assert_eq!(live.digest(), before, "a part was applied");
    error
}

#[test]
fn what_is_wrong_is_named() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT), to("o", NOWHERE)]);
    let mut sentence = |change: Change| refused(&mut live, vec![to("b", RIGHT), change]);
    let wide = "row 2: it has 3 values, and the map takes 2";
    assert_eq!(sentence(upsert("c", &[1.0, 2.0, 3.0], None)), wide);
    let column = "row 2, column 1 is NaN; every value must be a finite number: fill it or remove the row";
    assert_eq!(sentence(to("c", [1.0, f32::NAN])), column);
    let column =
        "row 2, column 0 is 1e20; values beyond 1e15 cannot be squared safely: scale the column down";
    assert_eq!(sentence(to("c", [1e20, 0.0])), column);
    let id = "must have 1 to 256 bytes, none of them a control character";
    assert_eq!(sentence(to("", LEFT)), format!("row 2: the id \"\" {id}"));
    assert_eq!(sentence(to("a\nb", LEFT)), format!("row 2: the id \"a\\nb\" {id}"));
    assert_eq!(
        sentence(to(&"x".repeat(1 << 20), LEFT)),
        format!("row 2: the id \"{}\" {id}", "x".repeat(40))
    );
    for t in [f64::NAN, f64::INFINITY, -1e300] {
        assert_eq!(sentence(at(t, "c", LEFT)), "row 2: t must be a finite number of seconds, at most 1e15");
    }
    assert_eq!(sentence(delete("nobody")), "row 2: there is no point \"nobody\" that could be removed");
}

#[test]
fn points_are_there_or_not_within_a_batch() {
    let mut live = live();
    let twice = vec![delete("good"), to("a", LEFT), delete("a"), delete("a")];
    assert_eq!(refused(&mut live, twice), "row 4: there is no point \"a\" that could be removed");
    let error = live.apply(vec![delete("a")]).unwrap_err();
    assert!(matches!(error, Error::NoPoint { row: 0, ref id } if id == "a"), "{error:?}");
    apply(&mut live, vec![to("a", LEFT), delete("a"), to("a", LEFT), delete("a")]);
    assert_eq!((live.points().len(), live.last()), (0, 4));
    assert!(apply(&mut live, Vec::new()).is_empty());
}

#[test]
fn a_time_of_a_change_is_only_its_points_own() {
    let mut live = live();
    let applied = live.apply_at(vec![at(1e9 + 80_000.0, "ahead", LEFT), at(5.0, "old", RIGHT)], 1e9).unwrap();
    assert!(applied.events.iter().all(|event| event.t == 1e9));
    assert_eq!((live.now(), live.point("ahead").unwrap().t, live.point("old").unwrap().t), (1e9, 1e9, 5.0));
    let changes =
        vec![at(3.0, "old", LEFT), to("new", LEFT), delete("nobody"), delete("ahead"), delete("ahead")];
    let applied = live.apply_at(changes, 1e9 + 1.0).unwrap();
    assert_eq!((applied.events.len(), &applied.absent[..]), (3, &[2, 4][..]));
    assert_eq!(live.point("old").unwrap().t, 5.0, "the time of a point never goes back");
    assert_eq!((live.now(), live.point("new").unwrap().t), (1e9 + 1.0, 1e9 + 1.0));
    let applied = live.snapshot_at(Vec::new(), 1e9 + 2.0).unwrap();
    assert!(applied.events.iter().all(|event| event.t == 1e9 + 2.0) && applied.events.len() == 2);
}

#[test]
fn rows_without_a_direction() {
    let rows =
        Matrix::new(40, 2, (0..40).flat_map(|i| [(i as f32 * 0.1).cos(), (i as f32 * 0.1).sin()]).collect());
    let places = Matrix::new(40, 2, (0..80).map(|i| i as f32).collect()).unwrap();
    let fit = Fit { metric: Metric::Cosine, ..Fit::default() };
    let map = fit.adopt(rows.unwrap(), places, &mut ignore).unwrap();
    let lion = Lion::new(map, &LionOptions::default()).unwrap();
    let mut live = Live::new(Arc::new(lion), LiveOptions::default()).unwrap();
    let error = live.apply(vec![to("a", [1.0, 0.0]), to("b", [0.0, 0.0])]).unwrap_err().to_string();
    assert_eq!(
        error,
        "row 1 is all zeros, which has no direction for the cosine metric: remove it or use the euclidean metric"
    );
}

#[test]
fn options_out_of_range() {
    let lion = Arc::new(squares());
    let standard = LiveOptions::default();
    let bad = [
        (LiveOptions { window: 0.0, ..standard }, "window must be a number of seconds above 0, not 0"),
        (LiveOptions { window: f64::NAN, ..standard }, "window must be a number of seconds above 0, not NaN"),
        (
            LiveOptions { false_alarms: FalseAlarms::Arrivals(10.0), ..standard },
            "false alarms must be one in 1000 to one in 10^15 arrivals, not one in 10",
        ),
        (
            LiveOptions { false_alarms: FalseAlarms::Seconds(0.0), ..standard },
            "false alarms must be one in some time above 0, not one in 0 seconds",
        ),
    ];
    for (options, sentence) in bad {
        assert_eq!(Live::new(Arc::clone(&lion), options).err().unwrap().to_string(), sentence);
    }
}

#[test]
fn a_kept_state_that_contradicts_itself() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT), to("o", NOWHERE)]);
    let kept = super::random::StoredState::of(&live, |_| Some(NOWHERE.to_vec()));
    let sentence = |spoil: &dyn Fn(&mut super::random::StoredState)| {
        let mut kept = kept.clone();
        spoil(&mut kept);
        kept.restore(live.lion(), *live.options()).err().expect("it was taken").to_string()
    };
    assert!(kept.clone().restore(live.lion(), *live.options()).is_ok());
    assert!(
        sentence(&|kept| kept.aux = b"{}".to_vec())
            .starts_with("the kept state of the live map cannot be read")
    );
    let row = "the kept point \"o\" is an outlier, and was kept without its row";
    assert_eq!(sentence(&|kept| kept.points[1].1 = None), row);
    let group = "the kept outlier \"o\" is in a group that was not kept";
    assert_eq!(sentence(&|kept| kept.groups.clear()), group);
    assert_eq!(sentence(&|kept| kept.points[0].0.id = "o".into()), "the kept point \"o\" is there twice");
    let numbers = "the kept point \"a\" has event numbers that there never were";
    assert_eq!(sentence(&|kept| kept.points[0].0.last = 99), numbers);
    let cluster = "the kept point \"a\" is in no cluster of the map";
    assert_eq!(sentence(&|kept| kept.points[0].0.cluster = Some(7)), cluster);
    let ring = "the kept state has a broken ring of positions, 50000";
    let outwards = |kept: &mut super::random::StoredState| {
        let text = String::from_utf8(kept.aux.clone()).unwrap();
        kept.aux = text.replace("\"ring\":0", "\"ring\":50000").into_bytes();
    };
    assert_eq!(sentence(&outwards), ring);
    let clusters = "the kept state of the live map has alarms that do not fit the map's clusters";
    let fewer = |kept: &mut super::random::StoredState| {
        let mut aux: serde_json::Value = serde_json::from_slice(&kept.aux).unwrap();
        aux["alarms"]["learned"]["gaps"].as_array_mut().unwrap().pop();
        kept.aux = serde_json::to_vec(&aux).unwrap();
    };
    assert_eq!(sentence(&fewer), clusters);
    let empty = "the kept state of the live map has a group of outliers without members, 0";
    assert_eq!(sentence(&|kept| _ = kept.points.pop()), empty);
}

/// One more of anything could not be counted.
#[test]
fn a_kept_state_that_counts_more_than_can_have_been() {
    let mut live = live();
    apply(&mut live, vec![to("a", LEFT), to("o", NOWHERE)]);
    let kept = super::random::StoredState::of(&live, |_| Some(NOWHERE.to_vec()));
    let restored = |place: &str, count: u64| {
        let mut kept = kept.clone();
        let mut aux: serde_json::Value = serde_json::from_slice(&kept.aux).unwrap();
        *aux.pointer_mut(place).unwrap_or_else(|| panic!("there is no {place}")) = count.into();
        kept.aux = serde_json::to_vec(&aux).unwrap();
        kept.restore(live.lion(), *live.options())
    };
    for place in [
        "/last",
        "/next_group",
        "/window/buckets/0/arrivals",
        "/window/buckets/0/outliers",
        "/window/buckets/0/shares/0",
        "/window/buckets/0/clusters/0",
        "/alarms/learned/arrivals",
        "/alarms/learned/gaps/0/at",
        "/alarms/learned/gaps/0/run/seen",
        "/alarms/learned/gaps/0/run/from",
    ] {
        let said = restored(place, u64::MAX).err().unwrap_or_else(|| panic!("{place} was taken")).to_string();
        assert!(said.starts_with("the kept state of the live map has "), "{place}: {said}");
        let mut most = restored(place, 1 << 48).unwrap_or_else(|problem| panic!("{place}: {problem}"));
        apply(&mut most, vec![to("b", LEFT), to("p", NOWHERE)]);
    }
    assert!(restored("/alarms/learned/scores/again", 7).is_err());
    // Rings are listed cell by cell.
    let mut kept = kept.clone();
    let mut aux: serde_json::Value = serde_json::from_slice(&kept.aux).unwrap();
    aux["next_group"] = (1u64 << 47).into();
    aux["ring"] = 800_000.into();
    kept.aux = serde_json::to_vec(&aux).unwrap();
    let said = kept.restore(live.lion(), *live.options()).err().expect("it was taken").to_string();
    assert_eq!(said, "the kept state has a broken ring of positions, 800000");
}
