//! What `lion demo --serve` plays: digits that come, change and go, in acts. The same every time.

use lion_evaluate::digits::{DigitImages, EmbeddedDigits};
use lion_tsne::live::{Arrival, Change};
use std::collections::VecDeque;
use std::f32::consts::TAU;

/// The digit that the map has never seen. Of all ten, it is the one that most often looks like no other.
pub(super) const HELD_OUT: &str = "0";
/// The digit that stops coming.
pub(super) const ENDING: &str = "1";
/// The window of time in which clusters form and vanish, in seconds.
pub(super) const WINDOW: f64 = 40.0;

/// Seconds between two arrivals.
const PACE: f64 = 0.2;
const CALM_PACE: f64 = 1.0;
/// What changes into what.
const MORPHS: [(&str, &str); 8] =
    [("4", "9"), ("3", "8"), ("5", "6"), ("2", "7"), ("9", "4"), ("8", "3"), ("6", "5"), ("7", "9")];
/// In so many steps.
const MORPH_STEPS: usize = 10;
/// Digits that are scribbled over for a while.
const SCRIBBLED: usize = 2;
const NOISE: usize = 24;
/// Points that stay at the calm pace; the oldest leave.
const STAY: usize = 800;
/// Pixels in a line of an image.
const WIDTH: usize = 28;

/// Something to do at a time.
pub(super) struct DemoStep {
    /// Seconds from the beginning.
    pub(super) at: f64,
    /// What begins with it.
    pub(super) act: Option<String>,
    pub(super) changes: Vec<Change>,
    /// The new clusters are to be taken into the map.
    pub(super) update: bool,
}

/// An image that may come.
#[derive(Clone)]
struct DemoImage {
    label: String,
    pixels: Vec<f32>,
}

/// The play: its acts one after another, then a calm that does not end.
pub(super) struct Play {
    acts: VecDeque<DemoStep>,
    now: f64,
    act: Option<String>,
    /// Digits of the kinds that are in the map, none of them in it.
    unseen: VecDeque<DemoImage>,
    strangers: VecDeque<DemoImage>,
    /// What has come and is there, with its id.
    landed: VecDeque<(String, DemoImage)>,
    arrived: usize,
    /// Which changes: fed by the numbers of noise.
    random: Lcg,
}

impl Play {
    pub(super) fn new(embedded: EmbeddedDigits) -> Self {
        let EmbeddedDigits { training, test, ordinary, .. } = embedded;
        let images = |digits: &DigitImages, held_out: bool| -> Vec<DemoImage> {
            let all = digits.labels.iter().enumerate();
            let wanted = all.filter(|(_, label)| (*label == HELD_OUT) == held_out);
            let image = |(row, label): (usize, &String)| DemoImage {
                label: label.clone(),
                pixels: digits.pixels.row(row).to_vec(),
            };
            wanted.map(image).collect()
        };
        let strangers = [images(&ordinary, true), images(&training, true), images(&test, true)];
        let mut play = Self {
            acts: VecDeque::new(),
            now: 0.0,
            act: None,
            unseen: in_turn(&[images(&ordinary, false), images(&test, false)]),
            strangers: in_turn(&strangers),
            landed: VecDeque::new(),
            arrived: 0,
            random: Lcg(5),
        };
        play.digits_land();
        play.digits_change();
        play.one_stops();
        play.noise_bursts();
        play.strangers_gather();
        play.strangers_are_taken_in();
        play.begin("calm: a digit a second, of all ten kinds, until Ctrl-C; the oldest leave");
        play
    }

    fn digits_land(&mut self) {
        self.begin("unseen digits land among their kind; the map has never seen a 0");
        for _ in 0..200 {
            self.land_unseen(|_| true);
            self.wait(PACE);
        }
    }

    /// Some digits become others, step by step; two are scribbled over, and cleaned.
    fn digits_change(&mut self) {
        self.begin("some digits change: eight slowly become others, two are scribbled over for a while");
        let morphs: Vec<(usize, DemoImage)> =
            MORPHS.iter().filter_map(|(from, to)| self.pair(from, to)).collect();
        let scribbles: Vec<(usize, Vec<f32>)> =
            (0..SCRIBBLED).map(|number| (number + 1, self.random.ripples())).collect();
        for step in 1..=MORPH_STEPS {
            let share = step as f32 / MORPH_STEPS as f32;
            for (at, to) in &morphs {
                let label = if step == MORPH_STEPS { &to.label } else { &self.landed[*at].1.label };
                self.redraw(*at, label.clone(), &to.pixels.clone(), share);
                self.wait(PACE);
            }
            for (at, ripples) in &scribbles {
                let covered = 1.0 - (2.0 * share - 1.0).abs();
                self.redraw(*at, self.landed[*at].1.label.clone(), ripples, covered);
                self.wait(PACE);
            }
            self.land_unseen(|label| label != ENDING);
            self.wait(PACE);
        }
        for (at, to) in morphs {
            self.landed[at].1 = to;
        }
    }

    fn one_stops(&mut self) {
        self.begin("no more 1s come, and those that are there leave one by one: their cluster vanishes");
        for step in 0..225 {
            self.land_unseen(|label| label != ENDING);
            if step % 5 == 0
                && let Some(at) = self.landed.iter().position(|(_, image)| image.label == ENDING)
                && let Some((id, _)) = self.landed.remove(at)
            {
                self.push(Change::Delete { id, t: None });
            }
            self.wait(PACE);
        }
    }

    fn noise_bursts(&mut self) {
        self.begin("a burst of noise: ripples that are no digits, like nothing else and unlike each other");
        for number in 0..NOISE {
            let image = DemoImage { label: "noise".into(), pixels: self.random.ripples() };
            self.put(format!("noise-{number}"), &image, image.pixels.clone());
            self.landed.push_back((format!("noise-{number}"), image));
            self.wait(PACE / 2.0);
        }
        self.wait(2.0);
    }

    fn strangers_gather(&mut self) {
        self.begin("a new class: 0s, three of five arrivals; many belong nowhere and gather to new clusters");
        for step in 0..225 {
            if step % 5 < 3 {
                let next = self.strangers.pop_front();
                self.land(next);
            } else {
                self.land_unseen(|label| label != ENDING);
            }
            self.wait(PACE);
        }
    }

    fn strangers_are_taken_in(&mut self) {
        self.begin("the new clusters of 0s are taken into the map, which keeps its shape: watch it change");
        let act = self.act.take();
        self.acts.push_back(DemoStep { at: self.now, act, changes: Vec::new(), update: true });
        self.wait(4.0);
    }

    /// Something of all kinds.
    fn stay_calm(&mut self) {
        let is_strange = self.arrived.is_multiple_of(10);
        let next = if is_strange { self.strangers.pop_front() } else { self.unseen.pop_front() };
        // What has come comes again, as a point of its own.
        let again = if is_strange { &mut self.strangers } else { &mut self.unseen };
        again.extend(next.clone());
        self.land(next);
        if self.landed.len() > STAY
            && let Some((id, _)) = self.landed.pop_front()
        {
            self.push(Change::Delete { id, t: None });
        }
        self.wait(CALM_PACE);
    }

    /// A digit that is there and is to become another: its number, and that other.
    fn pair(&mut self, from: &str, to: &str) -> Option<(usize, DemoImage)> {
        // The first few are scribbled over.
        let at = (SCRIBBLED + 1..self.landed.len()).find(|&at| self.landed[at].1.label == from)?;
        let other = self.unseen.iter().position(|image| image.label == to)?;
        Some((at, self.unseen.remove(other)?))
    }

    /// The next unseen digit of a wanted kind lands.
    fn land_unseen(&mut self, wanted: impl Fn(&str) -> bool) {
        let next = self.unseen.iter().position(|image| wanted(&image.label));
        let next = next.and_then(|at| self.unseen.remove(at));
        self.land(next);
    }

    fn land(&mut self, image: Option<DemoImage>) {
        let Some(image) = image else { return };
        self.arrived += 1;
        let id = format!("digit-{}", self.arrived);
        self.put(id.clone(), &image, image.pixels.clone());
        self.landed.push_back((id, image));
    }

    /// Draws a digit that is there with so much of something else.
    fn redraw(&mut self, at: usize, label: String, other: &[f32], share: f32) {
        let (id, own) = self.landed[at].clone();
        let pixels = own.pixels.iter().zip(other).map(|(own, other)| own + (other - own) * share).collect();
        self.put(id, &DemoImage { label, pixels: Vec::new() }, pixels);
    }

    fn put(&mut self, id: String, image: &DemoImage, row: Vec<f32>) {
        self.push(Change::Upsert(Arrival { id, row, label: Some(image.label.clone()), t: None }));
    }

    fn push(&mut self, change: Change) {
        let act = self.act.take();
        match self.acts.back_mut() {
            Some(step) if step.at == self.now && act.is_none() && !step.update => step.changes.push(change),
            _ => self.acts.push_back(DemoStep { at: self.now, act, changes: vec![change], update: false }),
        }
    }

    fn begin(&mut self, act: &str) {
        self.act = Some(act.to_owned());
    }

    fn wait(&mut self, seconds: f64) {
        self.now += seconds;
    }
}

impl Iterator for Play {
    type Item = DemoStep;

    fn next(&mut self) -> Option<DemoStep> {
        if self.acts.is_empty() {
            self.stay_calm();
        }
        self.acts.pop_front()
    }
}

/// One of each list after another, until all are used up.
fn in_turn(lists: &[Vec<DemoImage>]) -> VecDeque<DemoImage> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned())).collect()
}

/// Plain pseudo-random numbers: the play is the same everywhere.
struct Lcg(u64);

impl Lcg {
    /// From 0 to 1.
    fn uniform(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// An image of a few waves across each other. White noise would be told apart from digits as well, but by 30
    /// principal components not from other white noise: a burst of it is one cluster, and rightly so.
    fn ripples(&mut self) -> Vec<f32> {
        let mut wave = || (0.9 * self.uniform() - 0.45, 0.9 * self.uniform() - 0.45, TAU * self.uniform());
        let waves: [(f32, f32, f32); 4] = std::array::from_fn(|_| wave());
        let pixel = |at: usize| {
            let (x, y) = ((at % WIDTH) as f32, (at / WIDTH) as f32);
            let sum: f32 =
                waves.iter().map(|(across, down, phase)| (across * x + down * y + phase).cos()).sum();
            (0.5 + sum / 2.0).clamp(0.0, 1.0)
        };
        (0..WIDTH * WIDTH).map(pixel).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::live::map_without_held_out;
    use super::*;
    use lion_evaluate::digits::embedded;
    use lion_tsne::live::{Event, Live, LiveOptions, What};
    use lion_tsne::{Lion, LionOptions, ignore};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    /// The events of each act, in order, and the map as it is at the end.
    fn played() -> (Vec<Vec<Event>>, Live) {
        let map = map_without_held_out(0, 0, &mut ignore).unwrap();
        let lion = Lion::new(map, &LionOptions::default()).unwrap();
        let options = LiveOptions { window: WINDOW, ..LiveOptions::default() };
        let mut live = Live::new(Arc::new(lion), options).unwrap();
        let mut acts = Vec::new();
        for DemoStep { at, act, mut changes, .. } in Play::new(embedded().unwrap()) {
            if act.is_some() {
                acts.push(Vec::new());
            }
            // Three minutes of calm are enough.
            if acts.len() == 7 && at > 400.0 {
                return (acts, live);
            }
            for change in &mut changes {
                let (Change::Upsert(Arrival { t, .. }) | Change::Delete { t, .. }) = change;
                *t = Some(at);
            }
            acts.last_mut().unwrap().extend(live.apply(changes).unwrap().events);
        }
        unreachable!("the play does not end");
    }

    fn kinds(events: &[Event]) -> BTreeMap<&'static str, usize> {
        events.iter().fold(BTreeMap::new(), |mut kinds, event| {
            *kinds.entry(event.kind()).or_default() += 1;
            kinds
        })
    }

    #[test]
    fn every_act_shows_what_it_says() {
        let (acts, _) = played();
        let count = |act: usize, kind: &str| kinds(&acts[act]).get(kind).copied().unwrap_or(0);
        let all: Vec<_> = acts.iter().map(|act| kinds(act)).collect();
        assert_eq!(acts.len(), 7);
        // Unseen digits belong: no more than a few in a hundred are outliers, and no cluster forms or vanishes. Noise is a
        // new kind, and told as one.
        assert!(count(0, "appeared") >= 190, "{all:?}");
        for act in 0..3 {
            assert_eq!(count(act, "forming"), 0, "act {act}: {all:?}");
        }
        assert!((0..2).all(|act| count(act, "vanishing") == 0), "{all:?}");
        assert!(count(1, "moved") >= 20 && count(1, "changed-cluster") >= 6, "{all:?}");
        assert!(count(1, "became-outlier") >= SCRIBBLED && count(1, "returned") >= SCRIBBLED, "{all:?}");
        let vanished = |event: &Event| match &event.what {
            What::Vanishing(vanishing) => Some(vanishing.cluster.clone()),
            _ => None,
        };
        // A ninth of the arrivals were such digits: it takes some hundred without them to be sure.
        let told: Vec<String> = acts[2..5].iter().flatten().filter_map(vanished).collect();
        assert_eq!(told, [ENDING], "{all:?}");
        // Noise is put apart, all of it, and most of it from each other.
        let noise = acts[3].iter().filter_map(Event::sighting);
        assert!(noise.clone().all(|noise| noise.placement.group.is_some()), "{all:?}");
        assert!(count(3, "appeared") > NOISE / 2, "{all:?}");
        // The strangers form clusters, and hardly anything else is in them.
        assert!(count(4, "forming") >= 1, "{all:?}");
        let labels: BTreeMap<&str, Option<String>> =
            acts[4].iter().filter_map(|event| Some((event.id()?, event.sighting()?.label.clone()))).collect();
        let members = acts[4].iter().flat_map(|event| match &event.what {
            What::Forming(gathered) => &gathered.ids[..],
            _ => &[],
        });
        let members: Vec<&String> = members.collect();
        let is_strange =
            |id: &&&String| labels.get(id.as_str()).is_some_and(|l| l.as_deref() == Some(HELD_OUT));
        let strange = members.iter().filter(is_strange).count();
        assert!(
            strange >= 3 && strange as f64 > 0.9 * members.len() as f64,
            "{strange} of {}: {all:?}",
            members.len()
        );
        // The digit that stopped comes back.
        assert!(count(6, "recovered") >= 1, "{all:?}");
    }

    #[test]
    fn the_play_is_the_same_every_time_and_points_do_not_pile_up() {
        let text = |play: Play| -> Vec<String> {
            play.take(300).map(|step| format!("{} {:?} {:?}", step.at, step.act, step.changes)).collect()
        };
        assert_eq!(text(Play::new(embedded().unwrap())), text(Play::new(embedded().unwrap())));
        let mut there = std::collections::BTreeSet::new();
        let mut time = 0.0;
        for step in Play::new(embedded().unwrap()).take(5000) {
            assert!(step.at >= time);
            time = step.at;
            for change in &step.changes {
                match change {
                    Change::Upsert(arrival) => drop(there.insert(arrival.id.clone())),
                    Change::Delete { id, .. } => assert!(there.remove(id), "{id}"),
                }
            }
            assert!(there.len() <= STAY + 1);
        }
    }
}
