//! What happens when the store cannot keep what was done.

use super::*;
use crate::feed::{Feed, FeedBatch as Heard};
use crate::service::Shared;
use crate::settings::{Clock, Settings};
use crate::store::Location;
use lion_tsne::live::{Arrival, Change};
use lion_tsne::{Fit, Lion, LionOptions, Matrix, ignore};
use std::sync::atomic::AtomicU64;
use tokio::sync::oneshot;

/// A writer without its thread: the test says when it is its turn.
fn writer(folder: &tempfile::TempDir) -> LiveWriter {
    writer_by(folder, Clock::default())
}

fn writer_by(folder: &tempfile::TempDir, clock: Clock) -> LiveWriter {
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
    let settings = Settings { queue: 1000, ring: 1 << 20, clock, ..Settings::default() };
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

fn job(work: Work) -> (Job, oneshot::Receiver<Result<Receipt, Refused>>) {
    let (answer, answered) = oneshot::channel();
    (Job { work, answer }, answered)
}

/// Lets the writer do works in one turn.
fn turn(writer: &mut LiveWriter, works: Vec<Work>) -> Vec<Result<Receipt, Refused>> {
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
    // What changes nothing needs no room.
    let nothing = Work::Changes(vec![Change::Delete { id: "nobody".into(), t: None }]);
    assert!(turn(&mut writer, vec![nothing]).remove(0).is_ok());
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

#[test]
fn a_silence_lets_the_window_pass() {
    let folder = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1000));
    let told = time.clone();
    let mut writer = writer_by(&folder, Clock::new(move || told.load(Ordering::Relaxed) as f64));
    turn(&mut writer, vec![changes("a", 0, 60)]).remove(0).unwrap();
    let then = writer.shared.shown.view().health().clone();
    time.store(1_000_000, Ordering::Relaxed);
    writer.let_time_pass();
    let view = writer.shared.shown.view();
    assert_ne!(**view.health(), *then);
    assert_eq!(**view.health(), writer.live.as_ref().unwrap().health_at(1e6));
}

#[test]
fn nobody_waits_for_a_writer_that_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let shared = writer(&folder).shared.clone();
    let take = || shared.queue.take(0, Duration::ZERO, Duration::from_millis(1));
    assert!(take().is_some_and(|turn| turn.is_empty()));
    drop(Guard(shared.clone()));
    assert!(take().is_none());
}

#[test]
fn while_others_wait_health_is_looked_at_now_and_then() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    let live = writer.live.take().unwrap();
    let (waiting, _answer) = job(changes("a", 0, 5));
    writer.shared.queue.push(waiting).unwrap();
    writer.looked = Instant::now() + HEALTH_AGE;
    assert!(writer.health(&live).is_none());
    writer.looked = Instant::now().checked_sub(2 * HEALTH_AGE).unwrap();
    assert!(writer.health(&live).is_some());
    writer.shared.queue.take(0, Duration::ZERO, Duration::ZERO);
    assert!(writer.health(&live).is_some());
}

/// Each is told of its own points, by its own numbers.
#[test]
fn works_of_one_turn_are_told_what_was_absent_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    let gone = |ids: &[&str]| {
        Work::Changes(ids.iter().map(|&id| Change::Delete { id: id.into(), t: None }).collect())
    };
    let works = vec![changes("a", 0, 3), gone(&["a0", "nobody"]), gone(&["no one", "a1"])];
    let absent: Vec<_> = turn(&mut writer, works).into_iter().map(|told| told.unwrap().absent).collect();
    assert_eq!(absent, [vec![], vec![(1, "nobody".to_owned())], vec![(0, "no one".to_owned())]]);
}
