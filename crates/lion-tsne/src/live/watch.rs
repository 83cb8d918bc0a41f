//! What a window of time shows: clusters that form or vanish, and a map that grows stale.

use super::event::{Staleness, What};
use super::{Announced, Event, Forming, Live, VanishedBy};

/// So many arrivals must have come before the window, or within it, for their shares to mean something.
const ENOUGH: u64 = 50;
/// So many arrivals must be expected of a cluster for their absence to mean something.
const EXPECTED: f64 = 10.0;
/// So many points must have been in a cluster for their leaving to mean something.
const PEOPLED: u64 = 8;
/// Ids that the event of a forming group names.
const NAMED: usize = 20;

impl Live {
    /// Tells what has come to be so since the change before; `group` is the group that a point came to.
    pub(super) fn watch(&mut self, group: Option<u64>, events: &mut Vec<Event>) {
        if let Some(group) = group {
            self.watch_group(group, events);
        }
        self.watch_clusters(events);
        self.watch_staleness(events);
    }

    /// Whether a group is a new cluster: it has so many members, and most of them came within the window.
    fn watch_group(&mut self, number: u64, events: &mut Vec<Event>) {
        let Some(group) = self.strangers.group_mut(number) else { return };
        let size = group.members.len() as u64;
        let known = self.announced.forming.get(&number);
        let wanted = known.map_or(self.options.forming as u64, |known| 2 * known.size);
        if size < wanted || 2 * self.window.joined(number) < size {
            return;
        }
        let since = known.map_or(self.now, |known| known.since);
        group.forming = true;
        let mut ids: Vec<String> = group.members.values().rev().take(NAMED).cloned().collect();
        ids.reverse();
        let what = What::Forming { group: number, size, at: group.position.into(), ids };
        self.announced.forming.insert(number, Forming { size, since });
        self.tell(what, events);
    }

    /// A group that lost half of what makes a cluster is none any more.
    pub(super) fn forget_group(&mut self, number: u64) {
        let size = self.strangers.group(number).map_or(0, |group| group.members.len());
        if size < self.options.forming.div_ceil(2) {
            self.announced.forming.remove(&number);
            if let Some(group) = self.strangers.group_mut(number) {
                group.forming = false;
            }
        }
    }

    fn watch_clusters(&mut self, events: &mut Vec<Event>) {
        let (seen_in_all, before) = (self.window.seen_in_all(), self.window.before());
        for at in 0..self.clusters.names.len() {
            let cluster = at as u32;
            let (seen, live) = (self.window.seen(at) as f64, self.window.live(at));
            match self.announced.vanishing.get(&cluster) {
                None => {
                    let share = self.window.share_before(at).filter(|_| before >= ENOUGH).unwrap_or(0.0);
                    let (expected, peak) = (share * seen_in_all as f64, self.window.peak(at));
                    let by = if expected >= EXPECTED && 4.0 * seen <= expected {
                        VanishedBy::Arrivals { share }
                    } else if peak >= PEOPLED && 4 * live <= peak {
                        VanishedBy::Left { from: peak }
                    } else {
                        continue;
                    };
                    let what = What::Vanishing(self.vanishing(cluster, &by));
                    self.announced.vanishing.insert(cluster, by);
                    self.tell(what, events);
                }
                Some(by) => {
                    let back = match *by {
                        VanishedBy::Arrivals { share } => {
                            let expected = share * seen_in_all as f64;
                            expected >= EXPECTED && 2.0 * seen >= expected
                        }
                        VanishedBy::Left { from } => 2 * live >= from,
                    };
                    if back {
                        self.announced.vanishing.remove(&cluster);
                        let cluster = self.clusters.name(cluster).to_string();
                        self.tell(What::Recovered { cluster }, events);
                    }
                }
            }
        }
    }

    fn watch_staleness(&mut self, events: &mut Vec<Event>) {
        let arrivals = self.window.arrivals();
        if arrivals < ENOUGH {
            return;
        }
        let staleness = self.window.staleness();
        let Announced { stale, .. } = self.announced;
        let what = match stale {
            false if staleness > self.options.stale => What::Stale(Staleness { staleness, arrivals }),
            true if staleness <= self.options.stale / 2.0 => What::Fresh(Staleness { staleness, arrivals }),
            _ => return,
        };
        self.announced.stale = !stale;
        self.tell(what, events);
    }

    pub(super) fn tell(&mut self, what: What, events: &mut Vec<Event>) {
        self.last += 1;
        events.push(Event { n: self.last, t: self.now, what });
    }
}
