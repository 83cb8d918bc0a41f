//! A recording as bytes: columns, each value once, so that they compress well. docs/format.md spells it out.

use super::{Recording, Stretch};
use crate::http::{describe, plain_columns};
use crate::map_version::MapVersion;
use crate::notes::Titled;
use crate::plain_columns::PlainColumns;
use flate2::Compression;
use flate2::write::GzEncoder;
use lion_tsne::Verdict;
use lion_tsne::lion::PlacementColumn;
use lion_tsne::live::{Before, Event, Sighting};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// The kind of an event that is about no point: all of it is JSON in the header.
const NOTICE: u8 = u8::MAX;

impl Recording {
    /// All of it, compressed with gzip.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let dims = self.versions.first().map_or(2, |version| version.lion.map().dims());
        let mut columns = Columns::new(dims);
        self.stretches.iter().try_for_each(|stretch| columns.add(stretch))?;
        let mut plain = PlainColumns::default();
        for version in &self.versions {
            let rows = plain_columns(version.lion.map(), &version.clusters);
            plain.add(&format!("map {}", version.number()), "columns", rows);
        }
        let mut header = self.header();
        columns.finish(&mut plain, &mut header);
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&plain.finish(header))?;
        packed.finish()
    }

    /// What the header says of the history.
    fn header(&self) -> Map<String, Value> {
        let all = || self.stretches.iter().flat_map(|stretch| &stretch.events);
        let stretch = |part: &Stretch| json!({ "version": part.version, "points": part.start.len(), "events": part.events.len() });
        let groups =
            self.notes.group_titles().map(|(number, title)| json!({ "number": number, "title": title }));
        let Value::Object(header) = json!({
            "first": all().next().map_or(1, |event| event.n),
            "last": all().last().map_or(0, |event| event.n),
            "window": self.window,
            "promised": self.versions.last().and_then(|version| version.lion.promised()),
            "versions": self.versions.iter().map(|version| self.describe(version)).collect::<Vec<_>>(),
            "groups": groups.collect::<Vec<_>>(),
            "stretches": self.stretches.iter().map(stretch).collect::<Vec<_>>(),
            "steps": self.steps,
        }) else {
            return Map::new();
        };
        header
    }

    /// A version of the map, as a page of the service is told of it. A recording has no pictures of rows.
    fn describe(&self, version: &MapVersion) -> Value {
        let mut told = describe(&self.name, version);
        for (at, name) in version.clusters.names.iter().enumerate() {
            told["clusters"][at]["title"] = self.notes.title(&Titled::Cluster(name.clone())).into();
        }
        told["image"] = Value::Null;
        told
    }
}

/// The events and the points at the beginning of stretches, column by column.
struct Columns {
    kinds: Vec<&'static str>,
    notices: Vec<Value>,
    texts: Texts,
    /// Of every event.
    kind: Vec<u8>,
    t: Vec<f64>,
    /// Of every point at the beginning of a stretch.
    start_t: Vec<f64>,
    /// Of every point at the beginning, and of every event about a point.
    id: Vec<u32>,
    /// Of every point at the beginning, and of every event by which a point has a place.
    places: [Vec<f32>; 3],
    dims: usize,
    verdict: Vec<u8>,
    score: Vec<f32>,
    group: Vec<u32>,
    cluster: Vec<u32>,
    label: Vec<u32>,
    /// Of every event by which a point is an outlier: the row of the map that it is most like.
    nearest: Vec<u32>,
}

impl Columns {
    fn new(dims: usize) -> Self {
        Self {
            kinds: Vec::new(),
            notices: Vec::new(),
            texts: Texts::default(),
            kind: Vec::new(),
            t: Vec::new(),
            start_t: Vec::new(),
            id: Vec::new(),
            places: Default::default(),
            dims,
            verdict: Vec::new(),
            score: Vec::new(),
            group: Vec::new(),
            cluster: Vec::new(),
            label: Vec::new(),
            nearest: Vec::new(),
        }
    }

    fn add(&mut self, stretch: &Stretch) -> io::Result<()> {
        for (id, point) in &stretch.start {
            self.start_t.push(point.t);
            self.id(id);
            self.place(point);
        }
        for event in &stretch.events {
            self.t.push(event.t);
            match event.id() {
                Some(id) => {
                    let kind = self.kind_code(event.kind());
                    self.kind.push(kind);
                    self.id(id);
                    if let Some(sighting) = event.sighting() {
                        self.sighting(sighting, event);
                    }
                }
                None => {
                    self.kind.push(NOTICE);
                    self.notices.push(as_told(event)?);
                }
            }
        }
        Ok(())
    }

    fn kind_code(&mut self, kind: &'static str) -> u8 {
        let known = self.kinds.iter().position(|known| *known == kind);
        let code = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        code as u8
    }

    fn id(&mut self, id: &str) {
        let code = self.texts.code(Some(id));
        self.id.push(code);
    }

    fn sighting(&mut self, sighting: &Sighting, event: &Event) {
        let Sighting { label, placement, cluster, .. } = sighting;
        self.place(&Before {
            t: event.t,
            at: sighting.at(),
            verdict: placement.verdict,
            score: placement.score,
            group: placement.group,
            cluster: cluster.clone(),
            label: label.clone(),
        });
        if placement.verdict == Verdict::Outlier {
            self.nearest.push(placement.nearest);
        }
    }

    fn place(&mut self, point: &Before) {
        let Before { at, verdict, score, group, cluster, label, .. } = point;
        let coordinates = [at.x, at.y, at.z.unwrap_or_default()];
        self.places.iter_mut().zip(coordinates).for_each(|(column, at)| column.push(at));
        self.verdict.push(*verdict as u8);
        self.score.push(*score as f32);
        // 0 is none, here and in the dictionary. There are never so many groups.
        self.group.push(group.map_or(0, |group| u32::try_from(group + 1).unwrap_or(u32::MAX)));
        let cluster = self.texts.code(cluster.as_deref());
        self.cluster.push(cluster);
        let label = self.texts.code(label.as_deref());
        self.label.push(label);
    }

    fn finish(self, plain: &mut PlainColumns, header: &mut Map<String, Value>) {
        plain.add("texts", "json", Value::from(self.texts.known).to_string().into_bytes());
        plain.add("kind", "u8", self.kind);
        plain.add("t", "f64", planes(&self.t, |v| v.to_le_bytes()));
        plain.add("start_t", "f64", planes(&self.start_t, |v| v.to_le_bytes()));
        for (name, column) in PlacementColumn::coordinates(self.dims).iter().zip(&self.places) {
            plain.add(name, "f32", planes(column, |v| v.to_le_bytes()));
        }
        plain.add("score", "f32", planes(&self.score, |v| v.to_le_bytes()));
        plain.add("verdict", "u8", self.verdict);
        let whole = [
            ("id", self.id),
            ("group", self.group),
            ("cluster", self.cluster),
            ("label", self.label),
            ("nearest", self.nearest),
        ];
        for (name, column) in &whole {
            plain.add(name, "u32", planes(column, |v| v.to_le_bytes()));
        }
        header.insert("kinds".into(), self.kinds.into());
        header.insert("verdicts".into(), Verdict::ALL.map(|verdict| verdict.as_str()).to_vec().into());
        header.insert("notices".into(), self.notices.into());
    }
}

/// An event with its numbers as its line of JSON has them, which are the shortest.
fn as_told(event: &Event) -> io::Result<Value> {
    Ok(serde_json::from_str(&serde_json::to_string(event)?)?)
}

/// Texts by number; 0 is none.
#[derive(Default)]
struct Texts {
    known: Vec<String>,
    codes: HashMap<String, u32>,
}

impl Texts {
    fn code(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return 0 };
        if let Some(&code) = self.codes.get(text) {
            return code;
        }
        self.known.push(text.to_owned());
        let code = self.known.len() as u32;
        self.codes.insert(text.to_owned(), code);
        code
    }
}

/// The first bytes of all values, then the second ones, and so on: bytes that are alike lie together.
fn planes<const N: usize, T: Copy>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    (0..N).flat_map(|byte| values.iter().map(move |&value| bytes(value)[byte])).collect()
}
