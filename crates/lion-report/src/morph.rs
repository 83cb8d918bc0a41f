//! Two maps of the same rows: as a page in which one becomes the other, and side by side as a picture.

mod still;
mod turn;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::html::{PAGE, STYLE, fill, map_data};
use crate::scatter::{all_finite, same_length};
use crate::text::{count, escape};
use crate::{Error, Result, Scatter};
use turn::{Frame, Turn};

/// What is beside the maps and below them, in the page of a map.
const SIDE: &str = include_str!("../assets/morph_side.html");
const BELOW: &str = include_str!("../assets/morph.html");
const STYLES: [&str; 2] = [STYLE, include_str!("../assets/morph.css")];
/// One module: that of the page of a map, and what moves its points.
const SCRIPTS: [&str; 6] = [
    include_str!("../assets/data.js"),
    include_str!("../assets/camera.js"),
    include_str!("../assets/painter.js"),
    include_str!("../assets/legend.js"),
    include_str!("../assets/page.js"),
    include_str!("../assets/morph.js"),
];

/// A row that moved by so many map radii is one that moved: the page and the picture show where it came from.
pub(crate) const MOVER: f64 = 0.1;

/// Which of two maps a row is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// The first alone: it fades out.
    First,
    /// The second alone: it fades in.
    Second,
    /// Both.
    Both,
}

/// What became of a cluster; the page lists it, and shows its rows on a click.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphChange {
    /// The heading that it stands under, such as `Born`. Changes of one kind follow each other.
    pub kind: String,
    /// What the cluster is called.
    pub name: String,
    /// What became of it; may be empty.
    pub words: String,
    /// How many rows that is.
    pub count: String,
    /// Where only one of the maps has it: the page then goes to that map.
    pub only: Option<Within>,
    /// Clusters of the first map and of the second whose rows these are.
    pub clusters: [Vec<u32>; 2],
}

/// Two maps of rows that they share, or some of them. All lists are of all rows: those of both maps, each once.
#[derive(Debug, Clone, Copy)]
pub struct Morph<'a> {
    /// The headline.
    pub title: &'a str,
    /// The line under it: what is to be said in few words.
    pub subtitle: &'a str,
    /// What the two maps are called.
    pub names: [&'a str; 2],
    /// 2 or 3.
    pub dims: usize,
    /// Places in the first map, row-major; of a row that is not in it, anything finite.
    pub from: &'a [f32],
    /// Places in the second map, likewise.
    pub to: &'a [f32],
    /// Brings a place of the first map onto the second: `matrix` · place + `shift`. A rotation, perhaps mirrored, times a
    /// scale; `dims` x `dims`, row-major.
    pub matrix: &'a [f64],
    /// See `matrix`.
    pub shift: &'a [f64],
    /// Which maps each row is in.
    pub within: &'a [Within],
    /// One for each row.
    pub ids: &'a [String],
    /// What to colour by, one for each row.
    pub labels: Option<&'a [String]>,
    /// How far each row moved, in map radii; of a row that is not in both maps, 0.
    pub moved: &'a [f64],
    /// How much of each row's neighbourhood stayed, from 0 to 1; of a row that is not in both maps, 0.
    pub overlap: &'a [f64],
    /// The cluster of each row in the first map and in the second, if it is in one.
    pub cluster_of: [&'a [Option<u32>]; 2],
    /// What these clusters are called.
    pub clusters: [&'a [String]; 2],
    /// What became of clusters.
    pub changes: &'a [MorphChange],
}

impl Morph<'_> {
    /// One self-contained page with a slider from the first map to the second: the first map is turned, scaled and moved
    /// onto the second as a whole, then each row goes to its place.
    pub fn html(&self) -> Result<String> {
        self.check()?;
        let turn = Turn::of(self)?;
        let ends = self.ends(&turn);
        let map = self.scatter(&ends);
        map.check()?;
        let mut data = map_data(&map);
        data["morph"] = self.data(&turn, Frame::of(self.dims, map.coordinates()));
        let data = serde_json::to_string(&data).map_err(|error| Error::Render(error.to_string()))?;
        Ok(fill(
            PAGE,
            &[
                ("title", &escape(self.title)),
                ("subtitle", &escape(self.subtitle)),
                ("count", &escape(&self.counts())),
                ("placed", ""),
                ("images", "data:"),
                ("side", SIDE),
                (
                    "below",
                    &fill(BELOW, &[("first", &escape(self.names[0])), ("second", &escape(self.names[1]))]),
                ),
                ("style", &STYLES.concat()),
                ("script", &SCRIPTS.concat()),
                // Inside a script element only "<" can end it or open a comment, and in JSON it may always be escaped.
                ("data", &data.replace('<', "\\u003c")),
            ],
        ))
    }

    fn check(&self) -> Result<()> {
        const OF: &str = "the two maps";
        const HINT: &str = "give one per row";
        let n = self.within.len();
        if !(2..=3).contains(&self.dims) {
            return Err(Error::Dimensions(self.dims));
        }
        if n == 0 {
            return Err(Error::Empty);
        }
        for (what, found, expected) in [
            ("the list of first places", self.from.len(), n * self.dims),
            ("the list of second places", self.to.len(), n * self.dims),
            ("the matrix", self.matrix.len(), self.dims * self.dims),
            ("the shift", self.shift.len(), self.dims),
            ("the list of ids", self.ids.len(), n),
            ("the list of labels", self.labels.map_or(n, <[String]>::len), n),
            ("the list of distances", self.moved.len(), n),
            ("the list of overlaps", self.overlap.len(), n),
            ("the list of first clusters", self.cluster_of[0].len(), n),
            ("the list of second clusters", self.cluster_of[1].len(), n),
        ] {
            same_length(what, OF, found, expected, HINT)?;
        }
        all_finite(self.from, self.dims, OF)?;
        all_finite(self.to, self.dims, OF)?;
        let numbers =
            [self.moved, self.overlap].into_iter().flat_map(|list| list.iter().copied().enumerate());
        match numbers.into_iter().find(|(_, value)| !value.is_finite()) {
            Some((row, value)) => Err(Error::Score { row, value }),
            None => Ok(()),
        }
    }

    /// Where each row is in the frame of the second map when all is done: one that is only in the first, where that was
    /// brought.
    fn ends(&self, turn: &Turn) -> Vec<f32> {
        let places = self.from.chunks_exact(self.dims).zip(self.to.chunks_exact(self.dims));
        let rows = places.zip(self.within);
        rows.flat_map(|((from, to), within)| match within {
            Within::First => turn.brought(from),
            _ => to.to_vec(),
        })
        .collect()
    }

    fn scatter<'b>(&'b self, ends: &'b [f32]) -> Scatter<'b> {
        let map = Scatter::new(self.dims, ends).title(self.title).subtitle(self.subtitle).ids(self.ids);
        match self.labels {
            Some(labels) => map.labels(labels),
            None => map,
        }
    }

    fn number(&self, of: Within) -> usize {
        self.within.iter().filter(|&&within| within == of).count()
    }

    /// "2,400 rows in both, 100 only in A, 3 only in B".
    fn counts(&self) -> String {
        let only = |of, name: &str| match self.number(of) {
            0 => String::new(),
            n => format!(", {} only in {name}", count(n)),
        };
        let both = format!("{} rows in both", count(self.number(Within::Both)));
        both + &only(Within::First, self.names[0]) + &only(Within::Second, self.names[1])
    }

    /// What the page is told beyond what it is told of a map; `morph.js` reads it.
    fn data(&self, turn: &Turn, second: Frame) -> Value {
        let of_first = |(place, within): (&[f32], &Within)| {
            if *within == Within::Second { Vec::new() } else { place.to_vec() }
        };
        let own = self.from.chunks_exact(self.dims).zip(self.within).flat_map(of_first);
        // A map that is hardly turned is shown in the frame of the other, so that the eye has nothing to follow.
        let first = if turn.is_small() { second } else { Frame::of(self.dims, own) };
        let start = self.from.chunks_exact(self.dims).zip(self.within).flat_map(|(place, within)| {
            let unit = first.unit(place);
            if *within == Within::Second { vec![0.0; self.dims] } else { unit }
        });
        let change = |change: &MorphChange| {
            let MorphChange { kind, name, words, count, only, clusters: [a, b] } = change;
            let end = only.map(|only| u8::from(only == Within::Second));
            json!({ "kind": kind, "name": name, "words": words, "count": count, "end": end, "a": a, "b": b })
        };
        let codes = |of: &[Option<u32>]| {
            let code = |cluster: &Option<u32>| cluster.map_or(-1, |cluster| cluster as i32).to_le_bytes();
            STANDARD.encode(of.iter().flat_map(code).collect::<Vec<u8>>())
        };
        let within = |within: &Within| match within {
            Within::First => 1u8,
            Within::Second => 2,
            Within::Both => 3,
        };
        json!({
            "names": self.names,
            "from": floats(start),
            "within": STANDARD.encode(self.within.iter().map(within).collect::<Vec<u8>>()),
            "moved": floats(self.moved.iter().map(|&value| value as f32)),
            "overlap": floats(self.overlap.iter().map(|&value| value as f32)),
            "clusterOf": self.cluster_of.map(codes),
            "clusters": self.clusters,
            "mover": MOVER,
            "changes": self.changes.iter().map(change).collect::<Value>(),
            "turn": turn.between(&first, &second),
        })
    }
}

fn floats(values: impl Iterator<Item = f32>) -> String {
    STANDARD.encode(values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}
