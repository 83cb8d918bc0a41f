//! What is told beside single changes: clusters that form, vanish or are no longer what they were, and a map that is
//! stale. [`super::alarms`] decides.

use super::alarms::drift::{ORDINARY, OUTLIERS, SCORES, Shift, Turn};
use super::alarms::gather::{self, Gathering, Near, Scene};
use super::alarms::{AlarmReference, was_ordinary};
use super::event::{Evidence, Gathered, MapPosition, NewCluster, Shifted, Staleness, What, Why};
use super::{Applied, Event, Live};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Ids that the event of a forming cluster names.
const NAMED: usize = 20;
/// Outliers farther from each other than this, in r_x, and than the map's clusters are wide are no evidence of a cluster.
const REACH: f64 = 2.0;
/// An outlier belongs with a new cluster if its nearest outlier does, and is no farther than this, in r_x, or than this
/// part of the usual distance of two rows of one of the map's clusters.
const LINK: f64 = 1.5;
const WIDE: f64 = 0.75;
/// A new cluster has ended when a pause this long would be so unlikely.
const UNLIKELY: f64 = 1e-4;
/// Members by which the pace of a new cluster is known: more are forgotten again.
const PACE: f64 = 50.0;

/// The position of a group that is not there.
const NOWHERE: MapPosition = MapPosition { x: 0.0, y: 0.0, z: None };

/// What was told and has not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Announced {
    /// New clusters, by the group that names them.
    pub(super) forming: BTreeMap<u64, OutlierFamily>,
    /// Groups of clusters that have ended, and the events by which they had: what came before is no evidence again.
    pub(super) ended: BTreeMap<u64, u64>,
    pub(super) vanishing: BTreeMap<u32, Vanished>,
    pub(super) shifted: BTreeMap<u32, ReportedShift>,
    pub(super) stale: Option<ReportedShift>,
    /// More outliers than chance explains. No event tells of it.
    pub(super) excess: Option<ReportedShift>,
}

/// A new cluster: groups of outliers that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OutlierFamily {
    pub(super) groups: BTreeSet<u64>,
    /// Where and when it was told.
    at: MapPosition,
    pub(super) told: f64,
    pub(super) evidence: Evidence,
    /// So many members came in so many events, the last of them by event `last`.
    members: f64,
    events: f64,
    last: u64,
}

/// Scores that are not what they were.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReportedShift {
    pub(super) score: f64,
    pub(super) evidence: Evidence,
}

/// Why a cluster was told to vanish.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Vanished {
    pub(super) why: Why,
    pub(super) evidence: Evidence,
}

/// A row that arrived, and was told of.
pub(super) struct Arrived {
    pub(super) first: u64,
    pub(super) cluster: Option<u32>,
    pub(super) score: f64,
    pub(super) group: Option<u64>,
    /// The cluster, the score and whether it was an outlier, if it was there before.
    pub(super) before: Option<(Option<u32>, f64, bool)>,
    /// Whether it is evidence.
    pub(super) counts: bool,
}

impl OutlierFamily {
    /// The event from which on it has ended, if no member comes until then.
    fn ends(&self) -> u64 {
        // With m of n events, a pause of k has the chance (n / (n + k))^m, about.
        let pause = self.events * (UNLIKELY.powf(-1.0 / self.members) - 1.0);
        self.last.saturating_add(pause.ceil().min(1e15) as u64)
    }

    /// A member came by event `now`.
    fn join(&mut self, group: u64, now: u64) {
        self.groups.insert(group);
        self.members += 1.0;
        self.events += now.saturating_sub(self.last) as f64;
        self.last = now;
        if self.members > PACE {
            self.events *= PACE / self.members;
            self.members = PACE;
        }
    }
}

impl Live {
    /// Tells what has come to be so by an arrival.
    pub(super) fn watch(&mut self, arrived: &Arrived, applied: &mut Applied) {
        if let Some((from, ..)) = arrived.before {
            self.watch_moved(from, arrived.cluster, applied);
        } else {
            self.window.pass(None, arrived.cluster);
            self.watch_left(arrived.cluster, applied);
        }
        if arrived.counts {
            if self.learned.count(self.now, self.options.false_alarms) {
                self.look = 0;
            }
            if arrived.before.is_none_or(|(_, score, _)| was_ordinary(self.known.alarms.bin(score))) {
                self.watch_scores(arrived, applied);
            }
            self.watch_gaps(arrived.cluster, applied);
        }
        if let Some(group) = arrived.group {
            let became = arrived.before.is_none_or(|(.., outlier)| !outlier);
            self.watch_outlier(arrived.first, group, arrived.counts && became, applied);
        }
    }

    /// Whether scores are what they were.
    fn watch_scores(&mut self, arrived: &Arrived, applied: &mut Applied) {
        let (bin, now, limit) = (self.known.alarms.bin(arrived.score), self.now, self.learned.limit);
        let turn = self.learned.outliers.step(&self.known.alarms.map, &OUTLIERS, bin, now, limit);
        if let Some(turn) = turn {
            self.announced.excess = self.told(turn);
        }
        let turn = self.learned.scores.step(&self.known.alarms.map, &SCORES, bin, now, limit);
        if let Some(turn) = turn {
            self.announced.stale = self.told(turn);
            let staleness = self.staleness(turn.shift());
            let what = if self.announced.stale.is_some() { What::Stale } else { What::Fresh };
            self.tell(what(staleness), applied);
        }
        let Some(cluster) = arrived.cluster else { return };
        let (at, clusters) = (cluster as usize, self.learned.clusters.len() as f64);
        // While the whole map is stale, single clusters are not news.
        let Some(null) = self.known.alarms.clusters[at].as_ref().filter(|_| self.announced.stale.is_none())
        else {
            return;
        };
        // Each arrival is in one cluster: their limits, in arrivals of their own, are the same for all.
        let limit = limit.max(clusters);
        let Some(turn) = self.learned.clusters[at].step(null, &ORDINARY, bin, now, limit) else { return };
        match self.told(turn) {
            Some(told) => _ = self.announced.shifted.insert(cluster, told),
            None => _ = self.announced.shifted.remove(&cluster),
        }
        let ReportedShift { score, evidence } = self.as_told(turn.shift());
        let shifted = Shifted { cluster: self.known.clusters.name(cluster).to_string(), score, evidence };
        let what = if self.announced.shifted.contains_key(&cluster) {
            What::ClusterStale
        } else {
            What::ClusterFresh
        };
        self.tell(what(shifted), applied);
    }

    fn told(&self, turn: Turn) -> Option<ReportedShift> {
        match turn {
            Turn::Changed(shift) => Some(self.as_told(&shift)),
            Turn::Back(_) => None,
        }
    }

    fn as_told(&self, shift: &Shift) -> ReportedShift {
        let Shift { edge, seen, of, expected, e_value, since } = *shift;
        ReportedShift {
            score: self.known.alarms.edges[edge],
            evidence: Evidence { seen, of, expected, e_value, since },
        }
    }

    fn staleness(&self, shift: &Shift) -> Staleness {
        let ReportedShift { score, evidence } = self.as_told(shift);
        Staleness { staleness: self.window.staleness(), arrivals: self.window.arrivals(), score, evidence }
    }

    /// Whether clusters get their arrivals.
    fn watch_gaps(&mut self, cluster: Option<u32>, applied: &mut Applied) {
        let (now, limit) = (self.learned.arrivals, self.learned.limit);
        if let Some(cluster) = cluster {
            let gaps = &mut self.learned.gaps[cluster as usize];
            let back = gaps.arrive(now, self.now);
            self.look = self.look.min(gaps.look(limit).unwrap_or(u64::MAX));
            if let Some(evidence) = back {
                self.recovered(cluster, Why::Arrivals, evidence, applied);
            }
        }
        if now < self.look {
            return;
        }
        for at in 0..self.learned.gaps.len() {
            let gaps = &mut self.learned.gaps[at];
            if gaps.look(limit).is_none_or(|look| look > now) || gaps.due(limit).is_none_or(|due| due > now) {
                continue;
            }
            let evidence = gaps.tell(now);
            self.vanishes(at as u32, Vanished { why: Why::Arrivals, evidence }, applied);
        }
        self.look_again();
    }

    /// Finds the arrival before which no cluster can be told to vanish.
    pub(super) fn look_again(&mut self) {
        let (now, limit) = (self.learned.arrivals, self.learned.limit);
        let due = self.learned.gaps.iter().filter_map(|gaps| match gaps.look(limit)? {
            look if look > now => Some(look),
            _ => gaps.due(limit),
        });
        self.look = due.min().unwrap_or(u64::MAX);
    }

    fn vanishes(&mut self, cluster: u32, why: Vanished, applied: &mut Applied) {
        // It may have been told for the other reason.
        if self.announced.vanishing.insert(cluster, why).is_none() {
            let what = What::Vanishing(self.vanishing(cluster, &why, true));
            self.tell(what, applied);
        }
    }

    fn recovered(&mut self, cluster: u32, why: Why, evidence: Evidence, applied: &mut Applied) {
        if self.announced.vanishing.get(&cluster).is_some_and(|known| known.why == why) {
            self.announced.vanishing.remove(&cluster);
            let cluster = self.known.clusters.name(cluster).to_string();
            self.tell(What::Recovered { cluster, evidence }, applied);
        }
    }

    /// A point was removed, and told of.
    pub(super) fn watch_removed(&mut self, from: Option<u32>, applied: &mut Applied) {
        let (all, now) = (self.points.len() as u64 + 1, self.now);
        let weight = 1.0 / self.learned.leaving.len().max(1) as f64;
        for (at, leaving) in self.learned.leaving.iter_mut().enumerate() {
            leaving.removed(from == Some(at as u32), self.window.live(at), all, now, weight);
        }
        self.window.pass(from, None);
        self.watch_left(from, applied);
    }

    /// A point is in another cluster than before, or in none.
    fn watch_moved(&mut self, from: Option<u32>, to: Option<u32>, applied: &mut Applied) {
        if from == to {
            return;
        }
        let weight = 1.0 / self.learned.leaving.len().max(1) as f64;
        for (cluster, out) in [(from, true), (to, false)] {
            if let Some(at) = cluster.map(|cluster| cluster as usize) {
                self.learned.leaving[at].moved(out, self.window.live(at), self.now, weight);
            }
        }
        self.window.pass(from, to);
        self.watch_left(from, applied);
        self.watch_left(to, applied);
    }

    /// Whether a cluster's points have left it, or are back.
    fn watch_left(&mut self, cluster: Option<u32>, applied: &mut Applied) {
        let Some(cluster) = cluster else { return };
        let at = cluster as usize;
        let live = self.window.live(at);
        if let Some(left) = self.learned.leaving[at].left(live, self.learned.limit) {
            let expected = left.from as f64;
            let evidence =
                Evidence { seen: live, of: left.from, expected, e_value: left.e_value, since: left.since };
            self.learned.leaving[at].end();
            self.vanishes(cluster, Vanished { why: Why::Left, evidence }, applied);
        }
        let back = |known: &Vanished| known.why == Why::Left && 2 * live >= known.evidence.of;
        if self.announced.vanishing.get(&cluster).is_some_and(back) {
            let evidence = Evidence { seen: live, of: live, since: self.now, ..Evidence::default() };
            self.recovered(cluster, Why::Left, evidence, applied);
        }
    }

    /// Whether an outlier is of a new cluster: one that is known, or if it is `evidence`, one that it shows.
    pub(super) fn watch_outlier(&mut self, first: u64, group: u64, evidence: bool, applied: &mut Applied) {
        let now = self.last;
        if let Some(family) = self.family(group) {
            if evidence && let Some(family) = self.announced.forming.get_mut(&family) {
                family.join(group, now);
            }
            return;
        }
        let Some(row) = self.outliers.row(first) else { return };
        let r_x = self.lion.r_x();
        let reach = self.known.alarms.reach.max(REACH * r_x);
        let link = (WIDE * self.known.alarms.width).max(LINK * r_x);
        let own = self.known.alarms.own(row, reach);
        let (mut near, outliers) = self.outliers.around(first, reach, now);
        let linked = near.first().filter(|near| {
            let nearest = own.first().is_none_or(|own| near.distance < *own);
            nearest && f64::from(near.distance) <= link
        });
        if let Some(family) = linked.and_then(|near| self.family(near.group)) {
            self.link(group, family);
            if evidence && let Some(family) = self.announced.forming.get_mut(&family) {
                family.join(group, now);
            }
            return;
        }
        if !evidence {
            return;
        }
        let spent = gather::spend(&mut self.learned.saved);
        let mut linked = near.iter().take_while(|near| f64::from(near.distance) <= link);
        let beside = linked.find_map(|near| self.family(near.group));
        near.retain(|near| self.is_evidence(near));
        let AlarmReference { rows, alpha, .. } = self.known.alarms;
        let scene = Scene { rows, alpha, own: &own, outliers };
        let Some(found) = gather::test(&near, &scene) else { return };
        if found.p * self.learned.limit > spent {
            return;
        }
        match beside {
            // The cluster is wider than it was taken to be.
            Some(family) => {
                self.members_of(group, &near, &found).into_iter().for_each(|group| self.link(group, family))
            }
            None => self.forms(group, &near, &found, spent, applied),
        }
    }

    /// The groups that a gathering around an outlier is of.
    fn members_of(&self, group: u64, near: &[Near], found: &Gathering) -> BTreeSet<u64> {
        let inside = near.iter().filter(|near| near.distance <= found.radius && near.age <= found.of);
        inside.map(|near| near.group).chain([group]).collect()
    }

    fn family(&self, group: u64) -> Option<u64> {
        self.outliers.group(group)?.family
    }

    /// Whether an outlier is of no new cluster, and none that has ended.
    fn is_evidence(&self, near: &Near) -> bool {
        let ended = self.announced.ended.get(&near.group);
        self.family(near.group).is_none() && ended.is_none_or(|&ended| self.last - near.age > ended)
    }

    fn link(&mut self, group: u64, family: u64) {
        if let Some(group) = self.outliers.group_mut(group) {
            group.family = Some(family);
        }
        if let Some(family) = self.announced.forming.get_mut(&family) {
            family.groups.insert(group);
        }
    }

    /// A new cluster is told.
    fn forms(&mut self, group: u64, near: &[Near], found: &Gathering, spent: f64, applied: &mut Applied) {
        let inside = || near.iter().filter(|near| near.distance <= found.radius && near.age <= found.of);
        let oldest = inside().map(|near| near.age).max().unwrap_or(1);
        let evidence = Evidence {
            seen: found.seen,
            of: oldest.max(found.seen),
            expected: found.expected * oldest as f64 / found.of as f64,
            // Finite, as all e-values: JSON has no other numbers.
            e_value: (spent / found.p.max(f64::MIN_POSITIVE)).min(1e300),
            since: self.time_of(inside().max_by_key(|near| near.age)),
        };
        let family = OutlierFamily {
            groups: self.members_of(group, near, found),
            at: self.outliers.group(group).map_or(NOWHERE, |group| group.position.into()),
            told: self.now,
            evidence,
            members: found.seen as f64,
            events: oldest as f64,
            last: self.last,
        };
        let groups: Vec<u64> = family.groups.iter().copied().collect();
        self.announced.forming.insert(group, family);
        for other in groups {
            self.link(other, group);
            self.announced.ended.remove(&other);
        }
        if let Some(gathered) = self.gathered(group) {
            self.tell(What::Forming(gathered), applied);
        }
    }

    /// The time that an outlier has.
    fn time_of(&self, outlier: Option<&Near>) -> f64 {
        let members = outlier.and_then(|near| Some((near, &self.outliers.group(near.group)?.members)));
        let id = members.and_then(|(near, members)| members.get(&near.first));
        id.and_then(|id| self.points.get(id)).map_or(self.now, |point| point.t)
    }

    /// A new cluster as it is now; none if it has no members.
    pub(super) fn gathered(&self, family: u64) -> Option<Gathered> {
        let known = self.announced.forming.get(&family)?;
        let groups: Vec<_> = known.groups.iter().filter_map(|&group| self.outliers.group(group)).collect();
        let mut members: Vec<(u64, &String)> =
            groups.iter().flat_map(|group| group.members.iter().map(|(first, id)| (*first, id))).collect();
        let size = members.len() as u64;
        let labels = self.label_counts(members.iter().map(|(_, id)| *id));
        let cut = members.len().saturating_sub(NAMED);
        if cut > 0 {
            members.select_nth_unstable(cut);
        }
        members.drain(..cut);
        members.sort_unstable();
        let at = groups.iter().find(|group| group.number == family).or(groups.first())?;
        let groups = groups.iter().map(|group| group.number).collect();
        Some(Gathered {
            cluster: NewCluster { group: family, groups, size, at: at.position.into(), labels },
            ids: members.into_iter().map(|(_, id)| id.clone()).collect(),
            evidence: known.evidence,
        })
    }

    /// Whether new clusters have ended: no members come, or none are left.
    pub(super) fn watch_families(&mut self, applied: &mut Applied) {
        if self.announced.forming.is_empty() {
            return;
        }
        let now = self.last;
        let outliers = &self.outliers;
        let over = |family: &OutlierFamily| {
            family.ends() <= now || !family.groups.iter().any(|&group| outliers.group(group).is_some())
        };
        let over: Vec<u64> = self
            .announced
            .forming
            .iter()
            .filter(|(_, known)| over(known))
            .map(|(&family, _)| family)
            .collect();
        for family in over {
            self.dissolve(family, now, applied);
        }
    }

    fn dissolve(&mut self, family: u64, now: u64, applied: &mut Applied) {
        let gathered = self.gathered(family);
        let Some(known) = self.announced.forming.remove(&family) else { return };
        self.announced.ended.retain(|&group, _| self.outliers.group(group).is_some());
        for group in known.groups {
            if let Some(group) = self.outliers.group_mut(group) {
                group.family = None;
                self.announced.ended.insert(group.number, now);
            }
        }
        let pause = now.saturating_sub(known.last);
        let chance = (known.events / (known.events + pause as f64)).powf(known.members);
        let evidence = Evidence {
            seen: 0,
            of: pause,
            expected: pause as f64 * known.members / known.events.max(1.0),
            e_value: 1.0 / chance.max(f64::MIN_POSITIVE),
            since: known.told,
        };
        let none =
            NewCluster { group: family, groups: Vec::new(), size: 0, at: known.at, labels: Vec::new() };
        let gathered = gathered.unwrap_or(Gathered { cluster: none, ids: Vec::new(), evidence });
        self.tell(What::Dissolved(Gathered { evidence, ..gathered }), applied);
    }

    /// Tells of an alarm.
    fn tell(&mut self, what: What, applied: &mut Applied) {
        self.tell_of_point(what, None, applied);
    }

    /// Tells of a point, whose event before this one is known.
    pub(super) fn tell_of_point(&mut self, what: What, previous: Option<u64>, applied: &mut Applied) {
        self.last += 1;
        applied.told(Event { n: self.last, t: self.now, what }, previous);
    }
}
