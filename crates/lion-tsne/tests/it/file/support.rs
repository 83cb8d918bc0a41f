//! Two maps, and map files taken apart to be put together wrongly.

use lion_tsne::map::{KlPoint, MapParts, Provenance, UpdateStep};
use lion_tsne::preprocess::{Preprocess, unique_rows};
use lion_tsne::{Descent, Map, Matrix, Metric, PcaChoice};
use safetensors::SafeTensors;
use std::collections::BTreeMap;
use std::fs;
use xxhash_rust::xxh3::Xxh3;

pub(super) fn provenance() -> Provenance {
    Provenance {
        perplexity: 30.0,
        iterations: 750,
        iterations_done: 750,
        exaggeration: 12.0,
        descent: Descent::Accelerated,
        exaggeration_iterations: 250,
        learning_rate: 0.1 + 0.2,
        method: "fft".into(),
        init: "pca".into(),
        search: "approximate, recall 0.97".into(),
        seed: u64::MAX,
        kl: Some(1.0 / 3.0),
        kl_history: vec![KlPoint { iteration: 250, kl: 3.5 }, KlPoint { iteration: 750, kl: 1.0 / 3.0 }],
        version: "0.1.0".into(),
        stopped_early: false,
        adopted: false,
        sampled_from: None,
        projected_elsewhere: false,
        lineage: vec![UpdateStep {
            parent: "00112233445566778899aabbccddeeff".into(),
            added: 2,
            removed: 1,
            kl: Some(0.1 + 0.2),
            moved_median: 1.0 / 3.0,
            moved_p90: 0.7,
            stability: 0.5,
        }],
    }
}

/// Seven rows of five columns, one of them twice, with everything that a map can have.
pub(super) fn parts() -> MapParts {
    let mut data: Vec<f32> = (0..35).map(|i| ((i * i * 7 + 3) % 11) as f32 + 0.25).collect();
    data.copy_within(0..5, 30);
    let data = Matrix::new(7, 5, data).unwrap();
    let unique = unique_rows(&data);
    let distinct = data.select(&unique.representatives);
    let (preprocess, x) = Preprocess::fit(distinct, Metric::Cosine, PcaChoice::Components(3), 0).unwrap();
    let y = Matrix::new(6, 2, (0..12).map(|i| i as f32 - 5.5).collect()).unwrap();
    let texts = |texts: [&str; 7]| Some(texts.map(String::from).to_vec());
    MapParts {
        preprocess,
        x,
        y,
        place_of: unique.place_of,
        ids: texts(["a", "", "läng", "日本", "e", "f", "g"]),
        labels: texts(["red", "blue", "red", "red", "", "blue", "red"]),
        provenance: provenance(),
        lion: None,
    }
}

pub(super) fn full() -> Map {
    Map::new(parts()).unwrap()
}

pub(super) fn plain() -> Map {
    let rows = Matrix::new(4, 2, (0..8).map(|i| i as f32).collect()).unwrap();
    let (preprocess, x) = Preprocess::fit(rows.clone(), Metric::Euclidean, PcaChoice::None, 0).unwrap();
    let provenance = Provenance { kl: None, kl_history: vec![], adopted: true, ..provenance() };
    let y = Matrix::new(4, 3, (0..12).map(|i| i as f32).collect()).unwrap();
    Map::new(MapParts { preprocess, x, y, place_of: None, ids: None, labels: None, provenance, lion: None })
        .unwrap()
}

/// A map file taken apart, to be put together wrongly but with a right checksum.
#[derive(Clone)]
pub(super) struct Forged {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, (String, Vec<usize>, Vec<u8>)>,
}

impl Forged {
    pub(super) fn new(map: &Map) -> Self {
        let bytes = map.to_bytes().unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        Self {
            metadata: header.metadata().clone().unwrap().into_iter().collect(),
            tensors: tensors
                .iter()
                .map(|(name, t)| {
                    (name.into(), (t.dtype().to_string(), t.shape().to_vec(), t.data().to_vec()))
                })
                .collect(),
        }
    }

    /// A second implementation of the checksum, from its description in docs/format.md.
    pub(super) fn checksum(&self) -> String {
        let mut bytes = Vec::new();
        let number = |bytes: &mut Vec<u8>, n: usize| bytes.extend((n as u64).to_le_bytes());
        let part = |bytes: &mut Vec<u8>, part: &[u8]| {
            number(bytes, part.len());
            bytes.extend(part);
        };
        let metadata: Vec<_> = self.metadata.iter().filter(|(key, _)| *key != "checksum").collect();
        number(&mut bytes, metadata.len());
        for (key, value) in metadata {
            part(&mut bytes, key.as_bytes());
            part(&mut bytes, value.as_bytes());
        }
        number(&mut bytes, self.tensors.len());
        for (name, (dtype, shape, data)) in &self.tensors {
            part(&mut bytes, name.as_bytes());
            part(&mut bytes, dtype.as_bytes());
            number(&mut bytes, shape.len());
            shape.iter().for_each(|&side| number(&mut bytes, side));
            part(&mut bytes, if name == "shown.blocks" { &[] } else { data });
        }
        let mut hash = Xxh3::new();
        hash.update(&bytes);
        format!("{:032x}", hash.digest128())
    }

    /// The header without its closing brace, and the tensors' bytes.
    pub(super) fn pieces(&self) -> (String, Vec<u8>) {
        let mut metadata = self.metadata.clone();
        metadata.insert("checksum".into(), self.checksum());
        let mut header = format!("{{\"__metadata__\":{}", serde_json::to_string(&metadata).unwrap());
        let mut data = Vec::new();
        for (name, (dtype, shape, bytes)) in &self.tensors {
            let (start, end) = (data.len(), data.len() + bytes.len());
            header += &format!(
                ",{name:?}:{{\"dtype\":{dtype:?},\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"
            );
            data.extend(bytes);
        }
        (header, data)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let (header, data) = self.pieces();
        assemble(&(header + "}"), &data)
    }

    pub(super) fn tensor(&mut self, name: &str) -> &mut (String, Vec<usize>, Vec<u8>) {
        self.tensors.get_mut(name).unwrap()
    }

    /// Changes the parameters, which are JSON.
    pub(super) fn parameters(&mut self, from: &str, to: &str) {
        let parameters = self.metadata.get_mut("parameters").unwrap();
        assert!(parameters.contains(from), "{parameters}");
        *parameters = parameters.replace(from, to);
    }
}

pub(super) fn assemble(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// The sentence that refuses these bytes, the same from memory as from a file, whose name it then begins with.
pub(super) fn refusal(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.lion");
    fs::write(&path, bytes).unwrap();
    let from_file = Map::load(&path).expect_err("a bad file was read").to_string();
    let from_bytes = Map::from_bytes(bytes).expect_err("bad bytes were read").to_string();
    let problem = from_bytes.strip_prefix("map: ").unwrap();
    assert_eq!(from_file, format!("{}: {problem}", path.display()));
    problem.to_string()
}

/// The sentence that refuses a forged file.
pub(super) fn refused(forge: impl FnOnce(&mut Forged)) -> String {
    let mut forged = Forged::new(&full());
    forge(&mut forged);
    refusal(&forged.bytes())
}

/// The same where the header is edited as text.
pub(super) fn refused_header(forge: impl FnOnce(String) -> String) -> String {
    let (header, data) = Forged::new(&full()).pieces();
    refusal(&assemble(&forge(header + "}"), &data))
}

pub(super) const AGAIN: &str = "make the map again with `lion fit`";
pub(super) const COPY: &str = "make the map again, or take an unharmed copy";
pub(super) const WANTED: &str = "give a map file written by `lion fit`";
