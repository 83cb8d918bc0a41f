//! The latest events, written out once and shared by all who listen.
//!
//! A listener has nothing here but the number of the last event it saw, so a slow one costs nothing and holds up nobody:
//! when it has fallen behind what is in memory, it reads the store until it is back.

use bytes::Bytes;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Events of one commit, written out. Each is framed as a server-sent event, so that what goes out needs no copy.
#[derive(Debug)]
pub(crate) struct Slab {
    /// The number of the first event.
    first: u64,
    text: Bytes,
    /// For each event: where its frame begins and where its JSON does. A frame ends where the next begins.
    starts: Vec<(u32, u32)>,
}

/// What follows the JSON in a frame.
const FRAME_END: &str = "\n\n";

impl Slab {
    fn last(&self) -> u64 {
        self.first + self.starts.len() as u64 - 1
    }

    /// Where the JSON of an event lies.
    fn json(&self, at: usize) -> Range<usize> {
        let end = self.starts.get(at + 1).map_or(self.text.len(), |&(frame, _)| frame as usize);
        self.starts[at].1 as usize..end - FRAME_END.len()
    }

    /// The JSON of each event.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.starts.len()).map(|at| &self.text[self.json(at)])
    }
}

/// Writes a slab, event by event.
#[derive(Debug, Default)]
pub(crate) struct SlabWriter {
    first: u64,
    text: Vec<u8>,
    starts: Vec<(u32, u32)>,
}

/// A slab is cut when it is this long, so that its offsets fit and listeners get it in portions.
pub(crate) const SLAB_BYTES: usize = 1 << 20;

impl SlabWriter {
    /// Adds the event that has the next number; `write` writes its JSON, which is given back.
    pub(crate) fn add<E>(
        &mut self,
        n: u64,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<&[u8], E> {
        if self.starts.is_empty() {
            self.first = n;
        }
        let frame = self.text.len();
        self.text.extend_from_slice(b"id: ");
        self.text.extend_from_slice(n.to_string().as_bytes());
        self.text.extend_from_slice(b"\ndata: ");
        let json = self.text.len();
        write(&mut self.text)?;
        let end = self.text.len();
        self.text.extend_from_slice(FRAME_END.as_bytes());
        self.starts.push((frame as u32, json as u32));
        Ok(&self.text[json..end])
    }

    /// Whether it is time for [`SlabWriter::finish`].
    pub(crate) fn is_full(&self) -> bool {
        self.text.len() >= SLAB_BYTES
    }

    /// The events added so far; `None` without any. Begins anew.
    pub(crate) fn finish(&mut self) -> Option<Arc<Slab>> {
        if self.starts.is_empty() {
            return None;
        }
        let Self { first, text, starts } = std::mem::take(self);
        Some(Arc::new(Slab { first, text: text.into(), starts }))
    }
}

/// Events that follow each other, written out.
#[derive(Clone, Debug)]
pub struct EventRange {
    slab: Arc<Slab>,
    from: usize,
}

impl EventRange {
    /// All of a slab.
    pub(crate) fn whole(slab: Arc<Slab>) -> Self {
        Self { slab, from: 0 }
    }

    /// The number of the last event.
    pub fn last(&self) -> u64 {
        self.slab.last()
    }

    /// All of them as server-sent events, `id: N` and `data: {…}` for each. No bytes are copied.
    pub fn frames(&self) -> Bytes {
        self.slab.text.slice(self.slab.starts[self.from].0 as usize..)
    }

    /// The number and the JSON of each. No bytes are copied.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (u64, Bytes)> + '_ {
        let slab = &self.slab;
        (self.from..slab.starts.len()).map(move |at| (slab.first + at as u64, slab.text.slice(slab.json(at))))
    }
}

/// What follows an event.
#[derive(Clone, Debug)]
pub enum FeedBatch {
    /// These events, in order, none left out; none at all if there are no later ones.
    Events(Vec<EventRange>),
    /// Some that followed are no longer in memory.
    TooOld,
}

/// The latest events.
#[derive(Debug)]
pub struct Feed {
    ring: Mutex<Ring>,
    last: watch::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    slabs: VecDeque<Arc<Slab>>,
    bytes: usize,
    most: usize,
    /// The last event that is not in memory.
    before: u64,
}

impl Feed {
    /// A feed after the event `last`, which keeps `most` bytes.
    pub(crate) fn new(last: u64, most: usize) -> Self {
        let ring = Ring { slabs: VecDeque::new(), bytes: 0, most, before: last };
        Self { ring: Mutex::new(ring), last: watch::Sender::new(last) }
    }

    /// Adds events and wakes those who wait.
    pub(crate) fn push(&self, slabs: Vec<Arc<Slab>>) {
        let Some(last) = slabs.last().map(|slab| slab.last()) else { return };
        // Dropped after the lock is free again.
        let mut old = Vec::new();
        {
            let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
            for slab in slabs {
                ring.bytes += slab.text.len();
                ring.slabs.push_back(slab);
            }
            while ring.bytes > ring.most && ring.slabs.len() > 1 {
                if let Some(slab) = ring.slabs.pop_front() {
                    ring.bytes -= slab.text.len();
                    ring.before = slab.last();
                    old.push(slab);
                }
            }
        }
        self.last.send_replace(last);
    }

    /// The number of the last event.
    pub fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// The events after `cursor`, the number of the last one seen; a portion of them if there are many.
    pub fn after(&self, cursor: u64) -> FeedBatch {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if cursor < ring.before {
            return FeedBatch::TooOld;
        }
        let begin = ring.slabs.partition_point(|slab| slab.last() <= cursor);
        let mut bytes = 0;
        let wanted = ring.slabs.range(begin..).take_while(|slab| {
            let more = bytes < SLAB_BYTES;
            bytes += slab.text.len();
            more
        });
        let run = |slab: &Arc<Slab>| EventRange {
            slab: slab.clone(),
            from: (cursor + 1).saturating_sub(slab.first) as usize,
        };
        FeedBatch::Events(wanted.map(run).collect())
    }

    /// Waits until there is an event after `cursor`.
    pub async fn changed(&self, cursor: u64) {
        // Fails only once the feed is gone, and `self` says that it is not.
        let _ = self.last.subscribe().wait_for(|&last| last > cursor).await;
    }

    /// How many wait for events at this moment.
    pub fn waiting(&self) -> usize {
        self.last.receiver_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab(numbers: std::ops::Range<u64>) -> Arc<Slab> {
        let mut writer = SlabWriter::default();
        for n in numbers.clone() {
            let json = writer.add(n, |text| {
                text.extend_from_slice(format!("{{\"n\":{n}}}").as_bytes());
                Ok::<(), ()>(())
            });
            assert_eq!(json, Ok(format!("{{\"n\":{n}}}").as_bytes()));
        }
        writer.finish().expect("it has events")
    }

    fn numbers(batch: FeedBatch) -> Option<Vec<u64>> {
        let FeedBatch::Events(runs) = batch else { return None };
        let events = runs.iter().flat_map(|run| run.events().collect::<Vec<_>>());
        let number = |(n, json): (u64, Bytes)| {
            assert_eq!(json, format!("{{\"n\":{n}}}"));
            n
        };
        Some(events.map(number).collect())
    }

    #[test]
    fn any_event_in_memory_can_be_gone_on_from() {
        let feed = Feed::new(10, 1 << 20);
        assert_eq!(numbers(feed.after(10)), Some(vec![]));
        feed.push(vec![slab(11..14), slab(14..15)]);
        feed.push(vec![]);
        feed.push(vec![slab(15..17)]);
        for cursor in 10..=17 {
            assert_eq!(numbers(feed.after(cursor)), Some((cursor + 1..17).collect()), "after {cursor}");
        }
        assert_eq!(numbers(feed.after(9)), None);
        assert_eq!(feed.last(), 16);
    }

    #[test]
    fn frames_are_server_sent_events() {
        let feed = Feed::new(0, 1 << 20);
        feed.push(vec![slab(1..4)]);
        let FeedBatch::Events(runs) = feed.after(1) else { panic!("they are in memory") };
        assert_eq!(runs[0].frames(), "id: 2\ndata: {\"n\":2}\n\nid: 3\ndata: {\"n\":3}\n\n");
        assert_eq!(runs[0].last(), 3);
    }

    #[test]
    fn memory_is_bounded_and_the_latest_always_there() {
        let feed = Feed::new(0, 100);
        for n in 1..=50 {
            feed.push(vec![slab(n..n + 1)]);
        }
        assert_eq!(numbers(feed.after(40)), None);
        let kept = (0..50).find(|&cursor| numbers(feed.after(cursor)).is_some()).expect("the latest is kept");
        assert_eq!(numbers(feed.after(kept)), Some((kept + 1..=50).collect()));
        assert!((44..50).contains(&kept), "{kept}");
    }
}
