//! Outliers keep their place while they move little, and a position that nobody has is free.

use super::support::*;
use lion_tsne::live::{Arrival, Change, Live};

fn place(live: &Live, id: &str) -> Vec<f32> {
    live.point(id).unwrap().placement.place.to_vec()
}

#[test]
fn an_outlier_that_moves_little_stays_near_its_place() {
    let mut live = live();
    apply(&mut live, vec![to("a", NOWHERE), to("b", [20.5, 5.0])]);
    let position = live.group(0).unwrap().position.to_vec();
    assert_eq!(place(&live, "a"), position, "the first has the position");
    for step in 1..40 {
        let old = place(&live, "a");
        // In the end it is far from where it was, and from the other.
        let (kind, point) = sighting(&mut live, to("a", [20.0, 5.0 + 0.9 * step as f32]));
        assert_eq!((kind, point.placement.group), ("moved", Some(0)));
        let new = place(&live, "a");
        assert!(apart(&old, &new) <= 10.0 && apart(&new, &position) <= 10.0);
    }
    // Farther than r_x at once: placed anew.
    let (kind, point) = sighting(&mut live, to("a", [20.0, 60.0]));
    assert_eq!((kind, point.placement.group), ("moved", Some(1)));
    assert_eq!(live.group(0).unwrap().members.values().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn the_earliest_group_within_reach_is_joined() {
    let mut live = live();
    apply(&mut live, vec![to("a", [20.0, 5.0]), to("b", [21.8, 5.0])]);
    assert_eq!(live.groups().map(|group| group.number).collect::<Vec<_>>(), [0, 1]);
    // Between both, nearer to the second.
    assert_eq!(sighting(&mut live, to("c", [20.95, 5.0])).1.placement.group, Some(0));
    // Just beyond r_x of c, within that of b.
    assert_eq!(sighting(&mut live, to("d", [22.0, 5.0])).1.placement.group, Some(1));
}

#[test]
fn a_position_that_nobody_has_is_free_and_a_number_is_not() {
    let mut live = live();
    apply(&mut live, vec![to("a", NOWHERE), to("b", [20.0, 60.0])]);
    let position = live.group(0).unwrap().position;
    apply(&mut live, vec![delete("a"), to("c", NOWHERE)]);
    let group = live.group(2).expect("a new number");
    assert_eq!((group.position, live.groups().len()), (position, 2));
    // One that leaves its group alone may get the same position too.
    apply(&mut live, vec![to("c", [20.0, 15.0])]);
    assert_eq!(live.groups().map(|group| group.number).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn many_outliers_are_apart_from_all_and_from_each_other() {
    let mut live = live();
    let r_y = live.lion().r_y();
    let row = |i: usize| [100.0 + 5.0 * (i % 30) as f32, 5.0 * (i / 30) as f32];
    apply(&mut live, (0..300).map(|i| to(&i.to_string(), row(i))).collect());
    assert_eq!(live.groups().len(), 300);
    let positions: Vec<Vec<f32>> = live.groups().map(|group| group.position.to_vec()).collect();
    let places = live.lion().map().y().data().chunks_exact(2);
    for (i, position) in positions.iter().enumerate() {
        assert!(places.clone().all(|place| apart(place, position) >= 0.9999 * r_y));
        assert!(positions[..i].iter().all(|other| apart(other, position) >= 0.9999 * r_y));
    }
}

/// The labels that most members have, at most three; equally frequent ones by name.
#[test]
fn a_group_tells_its_most_frequent_labels() {
    let mut live = live();
    for (i, label) in ["b", "a", "d", "c", "c", "b", "e", ""].into_iter().enumerate() {
        let row = vec![NOWHERE[0] + 0.01 * i as f32, NOWHERE[1]];
        let label = Some(label.to_owned()).filter(|label| !label.is_empty());
        apply(&mut live, vec![Change::Upsert(Arrival { id: format!("p{i}"), row, label, t: None })]);
    }
    let group = live.groups().next().unwrap();
    let told: Vec<_> = live.labels_of(group).into_iter().map(|told| (told.label, told.count)).collect();
    assert_eq!(told, [("b".into(), 2), ("c".into(), 2), ("a".into(), 1)]);
}
