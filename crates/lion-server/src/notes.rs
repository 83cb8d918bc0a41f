//! What people said: the titles of clusters and groups, and what they think of alarms.
//!
//! Both follow from the events, one after another, and are kept beside them: events may be pruned.

use lion_tsne::live::{Event, MapUpdated, NoticeState, What};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Alarms that have ended are remembered, the latest so many.
const ENDED: usize = 100;

/// Something that has a title.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Titled {
    /// A cluster, by its name in the map.
    Cluster(String),
    /// A group of outliers, by its number.
    Group(u64),
}

impl Titled {
    /// As the store has it.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Cluster(name) => format!("cluster {name}"),
            Self::Group(number) => format!("group {number}"),
        }
    }

    pub(crate) fn from_key(key: &str) -> Option<Self> {
        match key.split_once(' ')? {
            ("cluster", name) => Some(Self::Cluster(name.to_owned())),
            ("group", number) => number.parse().ok().map(Self::Group),
            _ => None,
        }
    }
}

/// An alarm, and what people think of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// The number of the event that told of it.
    pub id: u64,
    /// The kind of that event.
    pub kind: String,
    /// When.
    pub t: f64,
    /// The group that names the new cluster, if it is one.
    pub group: Option<u64>,
    /// The cluster that it is about.
    pub cluster: Option<String>,
    /// The event by which it ended.
    pub ended: Option<u64>,
    /// What has become of it.
    pub state: NoticeState,
    /// Who said so.
    pub who: Option<String>,
    /// When.
    pub at: Option<f64>,
    /// What else was said.
    pub note: Option<String>,
}

/// All that people said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    titles: BTreeMap<Titled, String>,
    notices: BTreeMap<u64, Notice>,
}

/// What events changed: a title or a notice as it is now, or that it is gone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NotesChanged {
    pub(crate) titles: BTreeMap<Titled, Option<String>>,
    pub(crate) notices: BTreeMap<u64, Option<Notice>>,
}

impl Notes {
    pub(crate) fn new(titles: BTreeMap<Titled, String>, notices: BTreeMap<u64, Notice>) -> Self {
        Self { titles, notices }
    }

    /// The groups that have titles.
    pub(crate) fn group_titles(&self) -> impl Iterator<Item = (u64, &str)> {
        self.titles.iter().filter_map(|(of, title)| match of {
            Titled::Group(number) => Some((*number, title.as_str())),
            Titled::Cluster(_) => None,
        })
    }

    /// What people call something.
    pub fn title(&self, of: &Titled) -> Option<&str> {
        self.titles.get(of).map(String::as_str)
    }

    /// Alarms, oldest first: all that have not ended, and the latest that have.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.values()
    }

    /// An alarm by the event that told of it.
    pub fn notice(&self, id: u64) -> Option<&Notice> {
        self.notices.get(&id)
    }

    /// What events change.
    pub(crate) fn follow(&mut self, events: &[Event]) -> NotesChanged {
        let mut changed = NotesChanged::default();
        events.iter().for_each(|event| self.follow_one(event, &mut changed));
        changed
    }

    fn follow_one(&mut self, event: &Event, changed: &mut NotesChanged) {
        match &event.what {
            What::Forming(new) => self.tell(event, Some(new.cluster.group), None, changed),
            What::Vanishing(gone) => self.tell(event, None, Some(&gone.cluster), changed),
            What::ClusterStale(shifted) => self.tell(event, None, Some(&shifted.cluster), changed),
            What::Stale(_) => self.tell(event, None, None, changed),
            What::Dissolved(new) => {
                self.end(event.n, changed, |notice| notice.group == Some(new.cluster.group))
            }
            What::Recovered { cluster, .. } => self.end(event.n, changed, |notice| {
                notice.kind == "vanishing" && notice.cluster.as_ref() == Some(cluster)
            }),
            What::ClusterFresh(shifted) => self.end(event.n, changed, |notice| {
                notice.kind == "cluster-stale" && notice.cluster.as_ref() == Some(&shifted.cluster)
            }),
            What::Fresh(_) => self.end(event.n, changed, |notice| notice.kind == "stale"),
            What::MapUpdated(updated) => self.switch(event.n, updated, changed),
            What::Renamed(renamed) => {
                let of = match (&renamed.cluster, renamed.group) {
                    (Some(name), _) => Titled::Cluster(name.clone()),
                    (None, Some(number)) => Titled::Group(number),
                    (None, None) => return,
                };
                self.call(of, renamed.title.clone(), changed);
            }
            What::Notice(noted) => {
                if let Some(notice) = self.notices.get_mut(&noted.notice) {
                    (notice.state, notice.at) = (noted.state, Some(event.t));
                    (notice.who, notice.note) = (noted.who.clone(), noted.note.clone());
                    changed.notices.insert(notice.id, Some(notice.clone()));
                }
            }
            _ => {}
        }
    }

    fn tell(
        &mut self,
        event: &Event,
        group: Option<u64>,
        cluster: Option<&String>,
        changed: &mut NotesChanged,
    ) {
        let notice = Notice {
            id: event.n,
            kind: event.kind().to_owned(),
            t: event.t,
            group,
            cluster: cluster.cloned(),
            ended: None,
            state: NoticeState::Open,
            who: None,
            at: None,
            note: None,
        };
        changed.notices.insert(event.n, Some(notice.clone()));
        self.notices.insert(event.n, notice);
    }

    /// Alarms end.
    fn end(&mut self, event: u64, changed: &mut NotesChanged, ends: impl Fn(&Notice) -> bool) {
        for notice in self.notices.values_mut().filter(|notice| notice.ended.is_none() && ends(notice)) {
            notice.ended = Some(event);
            changed.notices.insert(notice.id, Some(notice.clone()));
        }
        let ended: Vec<u64> =
            self.notices.values().filter(|notice| notice.ended.is_some()).map(|notice| notice.id).collect();
        for &old in &ended[..ended.len().saturating_sub(ENDED)] {
            self.notices.remove(&old);
            changed.notices.insert(old, None);
        }
    }

    fn call(&mut self, of: Titled, title: Option<String>, changed: &mut NotesChanged) {
        match title.clone() {
            Some(title) => _ = self.titles.insert(of.clone(), title),
            None => _ = self.titles.remove(&of),
        }
        changed.titles.insert(of, title);
    }

    /// All alarms end with a version of the map but those of new clusters that are not among its clusters, and titles go over to the
    /// clusters that continue others.
    fn switch(&mut self, event: u64, updated: &MapUpdated, changed: &mut NotesChanged) {
        let forming = &updated.still_forming;
        self.end(event, changed, |notice| notice.group.is_none_or(|group| !forming.contains(&group)));
        // All are looked up before any is given: names of clusters that were found by density change hands.
        let given: Vec<(Titled, Option<String>)> = updated
            .clusters
            .renamed
            .iter()
            .map(|(from, to)| {
                (Titled::Cluster(to.clone()), self.titles.get(&Titled::Cluster(from.clone())).cloned())
            })
            .collect();
        let gone = updated.clusters.renamed.iter().map(|(from, _)| Titled::Cluster(from.clone()));
        let gone: Vec<Titled> = gone.filter(|of| self.titles.contains_key(of)).collect();
        gone.into_iter().for_each(|of| self.call(of, None, changed));
        for (of, title) in given.into_iter().filter(|(_, title)| title.is_some()) {
            self.call(of, title, changed);
        }
        for born in &updated.clusters.born {
            let title = born.groups.iter().find_map(|group| self.titles.get(&Titled::Group(*group)).cloned());
            let of = Titled::Cluster(born.name.clone());
            if let Some(title) = title.filter(|title| *title != born.name) {
                self.call(of, Some(title), changed);
            }
        }
    }
}
