//! What happens when the store cannot keep what was done.

use super::*;
use crate::feed::{Feed, FeedBatch as Heard};
use crate::service::Shared;
use crate::settings::Settings;
use crate::store::Location;
use lion_tsne::live::{Arrival, Change};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, ignore};
use tokio::sync::oneshot;

/// A writer without its thread: the test says when it is its turn.
fn writer(folder: &tempfile::TempDir) -> LiveWriter {
    let grid = (0..100).map(|i| [(i % 10) as f32, (i / 10) as f32]);
    let rows = Matrix::new(100, 2, grid.clone().flatten().collect()).unwrap();
    let places = Matrix::new(100, 2, grid.flatten().map(|v| 10.0 * v).collect()).unwrap();
    let map = Fit { threads: 1, ..Fit::default() }.adopt(rows, places, &mut ignore).unwrap();
    let lion = Arc::new(Lion::new(map, &LionOptions { threads: 1, ..LionOptions::default() }).unwrap());
    let location = Location::new(Some(&folder.path().join("live.db"))).unwrap();
    let store = Store::open(Arc::new(location), &lion.map().checksum().unwrap(), None).unwrap();
    let live = store.load(lion, LiveOptions::default()).unwrap();
    let map = Arc::new(MapVersion::new(store.version().clone(), &live));
    let notes = Arc::new(store.notes().unwrap());
    let settings = Settings { queue: 1000, ring: 1 << 20, ..Settings::default() };
    let shared = Arc::new(Shared::new(&live, map.clone(), notes.clone(), store.first(), &settings));
    LiveWriter::new(live, map, notes, store, shared)
}

/// Rows here and there, one in five far away.
fn changes(who: &str, from: usize, to: usize) -> Work {
    let change = |k: usize| {
        let row = vec![
            (k * 7 % 90) as f32 / 10.0 + if k.is_multiple_of(5) { 40.0 } else { 0.0 },
            (k * 3 % 90) as f32 / 10.0,
        ];
        Change::Upsert(Arrival { id: format!("{who}{}", k % 50), row, label: None, t: Some(k as f64) })
    };
    Work::Changes((from..to).map(change).collect())
}

/// Lets the writer do works in one turn.
fn turn(writer: &mut LiveWriter, works: Vec<Work>) -> Vec<Result<Receipt, Refused>> {
    let job = |work| {
        let (answer, answered) = oneshot::channel();
        (Job { work, answer }, answered)
    };
    let (jobs, answers): (Vec<_>, Vec<_>) = works.into_iter().map(job).unzip();
    writer.turn(jobs);
    answers.into_iter().map(|mut answer| answer.try_recv().expect("each is answered")).collect()
}

fn heard(feed: &Feed) -> usize {
    let Heard::Events(runs) = feed.after(0) else { panic!("all are in memory") };
    runs.iter().map(|run| run.events().len()).sum()
}

#[test]
fn a_full_disk_loses_nothing_and_later_work_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    let first = turn(&mut writer, vec![changes("a", 0, 60)]).remove(0).unwrap();
    let (digest, last) = (writer.live.as_ref().unwrap().digest(), first.last);
    let view = writer.shared.shown.view();

    writer.store.limit(0);
    let bad = Work::Changes(vec![Change::Delete { id: String::new(), t: None }]);
    let answers = turn(&mut writer, vec![changes("b", 0, 400), bad, changes("a", 60, 90)]);
    for full in [&answers[0], &answers[2]] {
        let Err(Refused::Store { problem, full: true }) = full else { panic!("{full:?}") };
        assert!(problem.contains("live.db: the disk is full: make room"), "{problem}");
    }
    assert!(matches!(answers[1], Err(Refused::Unprocessable { row: 0, .. })), "{:?}", answers[1]);
    // As if nothing had come: in the live map, for readers, for listeners and in the store.
    let live = writer.live.as_ref().expect("it was read from the store again");
    assert_eq!((live.last(), live.digest()), (last, digest));
    assert_eq!(heard(&writer.shared.feed) as u64, last);
    assert!(Arc::ptr_eq(&view, &writer.shared.shown.view()));
    assert!(writer.shared.failing.load(Ordering::Relaxed));

    writer.store.limit(1 << 30);
    let receipt = turn(&mut writer, vec![changes("b", 0, 400)]).remove(0).unwrap();
    assert_eq!((receipt.events[0].n, receipt.events.len()), (last + 1, 400));
    assert_eq!(heard(&writer.shared.feed) as u64, receipt.last);
    assert!(!writer.shared.failing.load(Ordering::Relaxed));
    let kept = writer.store.load(writer.map.lion.clone(), writer.options).unwrap();
    assert_eq!(kept.digest(), writer.live.as_ref().unwrap().digest());
}

#[test]
fn readers_see_what_the_live_map_holds() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    let (mut views, mut most) = (Vec::new(), 0);
    // More points than a block has, many of them removed again, some views held and some not.
    for round in 0..40 {
        let who = format!("r{}-", round % 30);
        let mut works: Vec<Work> = (0..3).map(|i| changes(&format!("{who}{i}-"), 0, 50)).collect();
        if round % 4 == 3 {
            let live = writer.live.as_ref().unwrap();
            let gone = live.points().skip(round).step_by(2).take(round * 20);
            works.push(Work::Changes(gone.map(|p| Change::Delete { id: p.id.clone(), t: None }).collect()));
        }
        turn(&mut writer, works).into_iter().for_each(|answer| assert!(answer.is_ok(), "{answer:?}"));
        let (live, view) = (writer.live.as_ref().unwrap(), writer.shared.shown.view());
        assert!(view.points().map(|point| &**point).eq(live.points()), "round {round}");
        let sizes: Vec<_> =
            view.groups().iter().map(|group| (group.number, group.size, group.forming)).collect();
        let there = live.groups().map(|group| (group.number, group.members.len(), group.family.is_some()));
        assert!(there.eq(sizes));
        assert_eq!(
            (view.len(), view.last(), &**view.health()),
            (live.points().len(), live.last(), &live.health())
        );
        most = most.max(view.len());
        let ids: Vec<String> = view.points().map(|point| point.id.clone()).collect();
        if round % 3 == 0 {
            views.push((view, ids));
        }
    }
    assert!(most > 1500, "{most} points are hardly more than a block");
    for (view, ids) in views {
        assert!(view.points().map(|point| &point.id).eq(&ids), "a view never changes");
    }
}
