//! The map file: what is written comes back, and nothing else does. One test for each kind of bad file.

use lion_tsne::{KlPoint, Map, MapParts, Matrix, Metric, PcaChoice, Preprocess, Provenance, unique_rows};
use proptest::prelude::*;
use safetensors::SafeTensors;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

fn provenance() -> Provenance {
    Provenance {
        perplexity: 30.0,
        iterations: 750,
        iterations_done: 750,
        exaggeration: 12.0,
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
    }
}

/// Seven rows of five columns, one of them twice, with everything that a map can have.
fn parts() -> MapParts {
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
    }
}

fn full() -> Map {
    Map::new(parts()).unwrap()
}

fn plain() -> Map {
    let rows = Matrix::new(4, 2, (0..8).map(|i| i as f32).collect()).unwrap();
    let (preprocess, x) = Preprocess::fit(rows.clone(), Metric::Euclidean, PcaChoice::None, 0).unwrap();
    let provenance = Provenance { kl: None, kl_history: vec![], adopted: true, ..provenance() };
    let y = Matrix::new(4, 3, (0..12).map(|i| i as f32).collect()).unwrap();
    Map::new(MapParts { preprocess, x, y, place_of: None, ids: None, labels: None, provenance }).unwrap()
}

/// A map file taken apart, to be put together wrongly but with a right checksum.
#[derive(Clone)]
struct Forged {
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, (String, Vec<usize>, Vec<u8>)>,
}

impl Forged {
    fn new(map: &Map) -> Self {
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
    fn checksum(&self) -> String {
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
            part(&mut bytes, data);
        }
        let mut hash = Xxh3::new();
        hash.update(&bytes);
        format!("{:032x}", hash.digest128())
    }

    /// The header without its closing brace, and the tensors' bytes.
    fn pieces(&self) -> (String, Vec<u8>) {
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

    fn bytes(&self) -> Vec<u8> {
        let (header, data) = self.pieces();
        assemble(&(header + "}"), &data)
    }

    fn tensor(&mut self, name: &str) -> &mut (String, Vec<usize>, Vec<u8>) {
        self.tensors.get_mut(name).unwrap()
    }

    /// Changes the parameters, which are JSON.
    fn parameters(&mut self, from: &str, to: &str) {
        let parameters = self.metadata.get_mut("parameters").unwrap();
        assert!(parameters.contains(from), "{parameters}");
        *parameters = parameters.replace(from, to);
    }
}

fn assemble(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// The sentence that refuses these bytes, the same from memory as from a file, whose name it then begins with.
fn refusal(bytes: &[u8]) -> String {
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
fn refused(forge: impl FnOnce(&mut Forged)) -> String {
    let mut forged = Forged::new(&full());
    forge(&mut forged);
    refusal(&forged.bytes())
}

/// The same where the header is edited as text.
fn refused_header(forge: impl FnOnce(String) -> String) -> String {
    let (header, data) = Forged::new(&full()).pieces();
    refusal(&assemble(&forge(header + "}"), &data))
}

const AGAIN: &str = "make the map again with `lion fit`";
const COPY: &str = "make the map again, or take an unharmed copy";
const WANTED: &str = "give a map file written by `lion fit`";

#[test]
fn what_is_written_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for map in [full(), plain()] {
        let path = folder.path().join("m.lion");
        let saved = map.save(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(saved.bytes, bytes.len() as u64);
        assert_eq!(map.to_bytes().unwrap(), bytes, "the same map makes the same bytes");
        assert_eq!(map.checksum().unwrap(), saved.checksum);
        assert_eq!(Forged::new(&map).checksum(), saved.checksum);
        let loaded = Map::load(&path).unwrap();
        assert!(loaded == map && Map::from_bytes(&bytes).unwrap() == map);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
    }
}

#[test]
fn a_loaded_map_answers_as_the_fitted_one_did() {
    let map = Map::from_bytes(&full().to_bytes().unwrap()).unwrap();
    assert_eq!((map.rows(), map.x().rows(), map.dims()), (7, 6, 2));
    assert_eq!(map.place(6), map.place(0));
    assert_eq!(map.place(5), map.y().row(5));
    assert_eq!((map.id(2), map.id(1)), ("läng".into(), "".into()));
    let labels = map.labels().unwrap();
    assert_eq!(labels.names().collect::<Vec<_>>(), ["red", "blue", ""]);
    assert_eq!(labels.codes(), [0, 1, 0, 0, 2, 1, 0]);
    assert_eq!(labels.get(5), "blue");
    assert_eq!(map.provenance(), &provenance());
    let row = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(map.preprocess().apply_row(&row).unwrap(), full().preprocess().apply_row(&row).unwrap());
    let plain = Map::from_bytes(&plain().to_bytes().unwrap()).unwrap();
    assert_eq!((plain.rows(), plain.dims(), plain.id(3)), (4, 3, "3".into()));
    assert!(!plain.has_ids() && plain.labels().is_none() && plain.place_of().is_none());
}

#[cfg(target_os = "linux")]
#[test]
fn rows_and_places_stay_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapped.lion");
    full().save(&path).unwrap();
    let map = Map::load(&path).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains("mapped.lion")).expect("the file is mapped");
    let (start, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
    let range = usize::from_str_radix(start, 16).unwrap()..usize::from_str_radix(end, 16).unwrap();
    assert!(
        range.contains(&map.x().data().as_ptr().addr()) && range.contains(&map.y().data().as_ptr().addr())
    );
}

#[test]
fn a_mapped_map_outlives_the_replacement_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lion");
    full().save(&path).unwrap();
    let old = Map::load(&path).unwrap();
    plain().save(&path).unwrap();
    assert!(old == full() && Map::load(&path).unwrap() == plain());
    drop(fs::remove_file(&path));
    assert!(old == full());
}

#[test]
fn an_unaligned_file_is_read_all_the_same() {
    let (header, data) = Forged::new(&full()).pieces();
    let folder = tempfile::tempdir().unwrap();
    for spaces in 0..8 {
        let path = folder.path().join(spaces.to_string());
        fs::write(&path, assemble(&format!("{header}}}{}", " ".repeat(spaces)), &data)).unwrap();
        assert!(Map::load(&path).unwrap() == full());
    }
}

#[test]
fn additions_of_a_later_lion_are_ignored() {
    let mut forged = Forged::new(&full());
    forged.metadata.insert("note".into(), "hello".into());
    forged.tensors.insert("power.curve".into(), ("F64".into(), vec![1], vec![0; 8]));
    forged.parameters("{\"preprocess\":{", "{\"lion\":{\"power\":20.5},\"preprocess\":{\"more\":[1,2],");
    assert!(Map::from_bytes(&forged.bytes()).unwrap() == full());
}

#[test]
fn other_tools_can_read_it() {
    let bytes = full().to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let x = tensors.tensor("x").unwrap();
    assert_eq!(x.shape(), [6, 3]);
    assert_eq!(x.data(), bytemuck::cast_slice::<f32, u8>(full().x().data()));
    for (name, tensor) in tensors.iter() {
        let start = tensor.data().as_ptr().addr() - bytes.as_ptr().addr();
        assert_eq!(start % (tensor.dtype().bitsize() / 8), 0, "{name} is not aligned in the file");
    }
}

#[test]
fn an_empty_file() {
    assert_eq!(refusal(b""), format!("the file is empty: {WANTED}"));
}

#[test]
fn a_few_bytes() {
    assert_eq!(refusal(b"abc"), format!("the file is too short to be a map file: {WANTED}"));
}

#[test]
fn something_else() {
    assert_eq!(refusal(b"x,y,label\n1,2,three\n"), format!("this is not a map file: {WANTED}"));
    assert_eq!(refusal(&[0; 64]), format!("this is not a map file: {WANTED}"));
}

#[test]
fn another_safetensors_file() {
    let sentence = format!("this is a safetensors file, but not a map: {WANTED}");
    assert_eq!(refused(|f| drop(f.metadata.remove("format"))), sentence);
    assert_eq!(refusal(&assemble("{}", &[])), sentence);
}

#[test]
fn a_folder_a_missing_file_and_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let load = |path: &Path| Map::load(path).unwrap_err().to_string();
    assert_eq!(load(folder.path()), format!("{}: this is a folder: {WANTED}", folder.path().display()));
    let missing = folder.path().join("missing.lion");
    assert_eq!(load(&missing), format!("{}: there is no such file: check the path", missing.display()));
    #[cfg(unix)]
    assert_eq!(load(Path::new("/dev/zero")), format!("/dev/zero: this is not an ordinary file: {WANTED}"));
}

#[test]
fn a_huge_header_length() {
    let mut bytes = full().to_bytes().unwrap();
    for length in [u64::MAX, u64::MAX - 8, 1 << 62, (1 << 20) + 1] {
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        assert_eq!(refusal(&bytes), format!("this is not a map file: {WANTED}"));
    }
    bytes[..8].copy_from_slice(&(1u64 << 20).to_le_bytes());
    assert_eq!(refusal(&bytes), format!("the file is cut short, within its header: {COPY}"));
}

#[test]
fn a_truncated_file() {
    let bytes = full().to_bytes().unwrap();
    assert_eq!(refusal(&bytes[..100]), format!("the file is cut short, within its header: {COPY}"));
    let sentence = format!("the file is cut short, 3 bytes are missing: {COPY}");
    assert_eq!(refusal(&bytes[..bytes.len() - 3]), sentence);
}

#[test]
fn bytes_after_the_end() {
    let bytes = [&full().to_bytes().unwrap()[..], b"more"].concat();
    assert_eq!(refusal(&bytes), format!("the file has 4 bytes after its end: {COPY}"));
}

#[test]
fn an_altered_file() {
    let altered = |sentence: String| {
        let checksum =
            sentence.strip_prefix("the file has been altered or damaged (its content has checksum ");
        let rest = checksum.and_then(|rest| rest.get(32..)).unwrap_or_else(|| panic!("{sentence}"));
        assert_eq!(rest, format!(", not the one it names): {COPY}"));
    };
    let mut bytes = full().to_bytes().unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    altered(refusal(&bytes));
    altered(refused_header(|header| header.replace("\\\"perplexity\\\":30", "\\\"perplexity\\\":31")));
    altered(refused_header(|header| header.replace("\"checksum\"", "\"choxum\"")));
}

#[test]
fn shapes_that_claim_too_much() {
    let sentence = format!(
        "the header of the file is damaged (tensor `x` has a shape that does not fit its bytes): {COPY}"
    );
    for shape in
        ["[6,4]", "[18446744073709551615,18446744073709551615]", "[4611686018427387904,3]", "[6]", "[]"]
    {
        assert_eq!(
            refused_header(|h| h.replace("\"shape\":[6, 3]", &format!("\"shape\":{shape}"))),
            sentence
        );
    }
}

#[test]
fn offsets_that_overlap_leave_holes_or_run_out() {
    let forged = Forged::new(&full());
    let x = |start: u64, end: u64| {
        let (header, data) = forged.pieces();
        let at = header.find("\"x\":").unwrap();
        let (before, rest) = header.split_at(at);
        let (offsets, close) = (rest.find("offsets\":[").unwrap(), rest.find("]}").unwrap());
        let header = format!("{before}{}offsets\":[{start},{end}{}}}", &rest[..offsets], &rest[close..]);
        refusal(&assemble(&header, &data))
    };
    let y = forged.tensors["y"].2.len() as u64;
    let end = forged.pieces().1.len() as u64 - y;
    let start = end - 72;
    for (a, b) in [(start - 4, end - 4), (start - 4, end), (end, start), (0, 72), (u64::MAX - 71, u64::MAX)] {
        let sentence = x(a, b);
        assert!(sentence.contains("overlaps another, or leaves a hole"), "{a}..{b}: {sentence}");
    }
    for (a, b) in [(start, end - 4), (start, end + 4), (start, u64::MAX)] {
        let sentence = x(a, b);
        assert!(sentence.contains("has a shape that does not fit its bytes"), "{a}..{b}: {sentence}");
    }
}

/// Tensors in order and of fitting shapes, whose end plus the length of the header is more than 64 bits hold.
#[test]
fn offsets_at_the_end_of_the_numbers() {
    let mut header = String::from("{\"__metadata__\":{\"format\":\"lion-map\",\"version\":\"1\"}");
    let step = 1u64 << 61;
    for i in 0..8 {
        let (start, end) = (i * (step - 8), (i + 1) * (step - 8));
        header += &format!(
            ",\"t{i}\":{{\"dtype\":\"U8\",\"shape\":[{}],\"data_offsets\":[{start},{end}]}}",
            step - 8
        );
    }
    let sentence = refusal(&assemble(&(header + "}"), &[0; 16]));
    assert!(
        sentence.starts_with("the file is cut short, ") && sentence.contains("bytes are missing"),
        "{sentence}"
    );
}

#[test]
fn names_that_are_there_twice() {
    let twice = |what: &str| format!("the header of the file is damaged (`{what}` is there twice");
    let x = "\"x\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]}";
    let sentence = refused_header(|header| format!("{},{x}}}", &header[..header.len() - 1]));
    assert!(sentence.starts_with(&twice("x")), "{sentence}");
    let sentence = refused_header(|header| header.replace("\"version\":", "\"version\":\"9\",\"version\":"));
    assert!(sentence.starts_with(&twice("version")), "{sentence}");
    let sentence =
        refused_header(|header| format!("{},\"__metadata__\":{{}}}}", &header[..header.len() - 1]));
    assert!(sentence.starts_with(&twice("__metadata__")), "{sentence}");
}

#[test]
fn a_header_that_is_no_json_or_of_other_things() {
    let damaged = "the header of the file is damaged (";
    let deep = format!("{{\"x\":{}", "[".repeat(500_000));
    let bomb = format!("{{\"x\":{}1{}}}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for header in ["{", "{\"x\":1}", "{\"x\":{}}", "{\"__metadata__\":{\"format\":1}}", &deep, &bomb] {
        let sentence = refusal(&assemble(header, &[]));
        assert!(sentence.starts_with(damaged) && sentence.ends_with(COPY), "{sentence}");
    }
    let mut not_text = assemble("{\"__metadata__\":{\"form_t\":\"lion-map\"}}", &[]);
    not_text[8 + 21] = 0xff;
    assert!(refusal(&not_text).starts_with(damaged));
}

#[test]
fn an_unknown_version() {
    let version = |version: &str| refused(|f| drop(f.metadata.insert("version".into(), version.into())));
    assert_eq!(
        version("2"),
        "the map is of version 2, and this build reads version 1: update lion, or make the map again"
    );
    for never in ["0", "-1", "one", ""] {
        assert_eq!(
            version(never),
            format!("the map is of version {never:?}, which there never was: {AGAIN}")
        );
    }
}

#[test]
fn a_missing_tensor() {
    for name in [
        "x",
        "y",
        "pca.mean",
        "pca.components",
        "pca.variances",
        "ids.bytes",
        "labels.offsets",
        "labels.bytes",
    ] {
        let sentence = refused(|f| drop(f.tensors.remove(name)));
        assert_eq!(sentence, format!("the map is not valid, it has no tensor `{name}`: {AGAIN}"));
    }
}

#[test]
fn a_tensor_of_the_wrong_type_or_dimension() {
    let sentence = refused(|f| f.tensor("y").0 = "I32".into());
    assert_eq!(sentence, format!("the map is not valid, tensor `y` is I32, and must be F32: {AGAIN}"));
    let sentence = refused(|f| f.tensor("y").1 = vec![12]);
    assert_eq!(sentence, format!("the map is not valid, tensor `y` must have two dimensions: {AGAIN}"));
    let sentence = refused(|f| f.tensor("place_of").1 = vec![1, 7]);
    assert_eq!(sentence, format!("the map is not valid, tensor `place_of` must have one dimension: {AGAIN}"));
    let sentence = refused(|f| f.tensor("kl_history").1 = vec![4, 1]);
    assert_eq!(sentence, format!("the map is not valid, tensor `kl_history` must have two columns: {AGAIN}"));
    let sentence = refused(|f| f.tensor("kl_history").2[..8].copy_from_slice(&0.5f64.to_le_bytes()));
    assert_eq!(
        sentence,
        format!("the map is not valid, tensor `kl_history` has a broken iteration: {AGAIN}")
    );
}

#[test]
fn parts_that_do_not_agree() {
    let invalid = |forge: fn(&mut Forged)| {
        let sentence = refused(forge);
        let problem = sentence.strip_prefix("the map is not valid, ").and_then(|s| s.strip_suffix(AGAIN));
        problem.unwrap_or_else(|| panic!("{sentence}")).trim_end_matches(": ").to_string()
    };
    assert_eq!(invalid(|f| f.tensor("y").1 = vec![4, 3]), "there are 6 rows but 4 places");
    assert_eq!(invalid(|f| f.tensor("x").1 = vec![9, 2]), "there are 9 rows but 6 places");
    assert_eq!(invalid(|f| f.tensor("x").1 = vec![18, 1]), "there are 18 rows but 6 places");
    let narrow = invalid(|f| {
        f.tensor("x").1 = vec![6, 1];
        f.tensor("x").2.truncate(24);
    });
    assert_eq!(narrow, "the rows have 1 columns, but the preprocessing gives 3");
    let four = invalid(|f| {
        f.tensor("y").1 = vec![6, 4];
        f.tensor("y").2 = vec![0; 96];
    });
    assert_eq!(four, "the places have 4 dimensions, and must have 2 or 3");
    let none = invalid(|f| {
        *f.tensor("x") = ("F32".into(), vec![0, 3], vec![]);
        *f.tensor("y") = ("F32".into(), vec![0, 2], vec![]);
    });
    assert_eq!(none, "a map needs at least one row");
    let endless = invalid(|f| {
        *f.tensor("x") = ("F32".into(), vec![1 << 40, 0], vec![]);
        *f.tensor("y") = ("F32".into(), vec![1 << 40, 0], vec![]);
        f.tensors.remove("place_of");
    });
    assert_eq!(endless, "a map holds at most 4294967295 rows, not 1099511627776");
    let nan = invalid(|f| f.tensor("y").2[12..16].copy_from_slice(&f32::NAN.to_le_bytes()));
    assert_eq!(nan, "y is NaN in row 2, column 2, and must be finite");
    let infinite = invalid(|f| f.tensor("x").2[..4].copy_from_slice(&f32::NEG_INFINITY.to_le_bytes()));
    assert_eq!(infinite, "x is -inf in row 1, column 1, and must be finite");
    let beyond = invalid(|f| f.tensor("place_of").2[8] = 6);
    assert_eq!(beyond, "row 3 has a place beyond the 6 there are");
    assert_eq!(
        invalid(|f| f.tensor("pca.mean").2[3] = 0xff),
        "the PCA has a mean or component that is not finite"
    );
    assert_eq!(
        invalid(|f| f.tensor("pca.variances").2[7] = 0xff),
        "the PCA has a variance that is negative or not finite"
    );
    let width = invalid(|f| f.parameters("\"input_dims\":5", "\"input_dims\":6"));
    assert_eq!(width, "the PCA takes 5 columns, but the preprocessing 6");
    let zero = invalid(|f| {
        *f.tensor("pca.components") = ("F32".into(), vec![1 << 50, 0], vec![]);
    });
    assert_eq!(zero, "the PCA has no components");
}

#[test]
fn ids_and_labels_that_are_not_texts() {
    let invalid = |forge: fn(&mut Forged)| refused(forge).replace(&format!(": {AGAIN}"), "");
    let prefix = "the map is not valid, its";
    assert_eq!(invalid(|f| f.tensor("ids.bytes").2[0] = 0xff), format!("{prefix} ids are not valid UTF-8"));
    let offset = |f: &mut Forged, i: usize, to: u64| {
        f.tensor("ids.offsets").2[8 * i..8 * i + 8].copy_from_slice(&to.to_le_bytes());
    };
    let backwards = refused(|f| offset(f, 2, u64::MAX));
    assert_eq!(backwards, format!("{prefix} ids have offsets that run backwards: {AGAIN}"));
    for (i, to) in [(0, 1), (7, 14), (7, u64::MAX)] {
        let sentence = refused(|f| offset(f, i, to));
        assert_eq!(sentence, format!("{prefix} ids have offsets that do not cover their bytes: {AGAIN}"));
    }
    // "a", "", "läng": the third begins at 1, and its second character at 2.
    let sentence = refused(|f| offset(f, 2, 3));
    assert_eq!(sentence, format!("{prefix} ids have an offset inside a character: {AGAIN}"));
    let none = invalid(|f| *f.tensor("ids.offsets") = ("U64".into(), vec![0], vec![]));
    assert_eq!(none, format!("{prefix} ids have offsets that do not cover their bytes"));
    let few = invalid(|f| {
        *f.tensor("ids.offsets") = ("U64".into(), vec![1], vec![0; 8]);
        *f.tensor("ids.bytes") = ("U8".into(), vec![0], vec![]);
    });
    assert_eq!(few, "the map is not valid, there are 7 rows but 0 ids");
    let twice = refused(|f| f.tensor("ids.bytes").2[12] = b'a');
    let sentence = "the map is not valid, the id \"a\" is given to row 1 and to row 5: give each row its own";
    assert_eq!(twice, format!("{sentence}: {AGAIN}"));
    let code = invalid(|f| f.tensor("labels.codes").2[0] = 3);
    assert_eq!(code, format!("{prefix} labels have a code beyond their names"));
    let short = invalid(|f| {
        f.tensor("labels.codes").1 = vec![6];
        f.tensor("labels.codes").2.truncate(24);
    });
    assert_eq!(short, "the map is not valid, there are 7 rows but 6 labels");
    let same = invalid(|f| {
        *f.tensor("labels.bytes") = ("U8".into(), vec![2], b"rr".to_vec());
        let offsets = [0u64, 1, 2, 2];
        f.tensor("labels.offsets").2 = offsets.iter().flat_map(|o| o.to_le_bytes()).collect();
    });
    assert_eq!(same, format!("{prefix} labels have the same name twice"));
}

#[test]
fn parameters_that_cannot_be_read() {
    let sentence = refused(|f| drop(f.metadata.remove("parameters")));
    assert_eq!(sentence, format!("the map is not valid, it has no parameters: {AGAIN}"));
    let deep = "[".repeat(100_000);
    let bomb = format!("{{\"preprocess\":{}", "{\"a\":".repeat(50_000));
    for parameters in ["", "{}", "null", "[1", &deep, &bomb] {
        let sentence = refused(|f| drop(f.metadata.insert("parameters".into(), parameters.into())));
        assert!(sentence.starts_with("the map is not valid, its parameters cannot be read ("), "{sentence}");
    }
    for (from, to) in [
        ("\"cosine\"", "\"manhattan\""),
        ("\"seed\":", "\"seed\":1,\"seed\":"),
        ("30.0", "1e999"),
        ("30.0", "null"),
    ] {
        let sentence = refused(|f| f.parameters(from, to));
        assert!(sentence.starts_with("the map is not valid, its parameters cannot be read ("), "{sentence}");
    }
}

#[test]
fn parts_are_checked_before_they_are_a_map() {
    let refused = |change: fn(&mut MapParts)| {
        let mut parts = parts();
        change(&mut parts);
        Map::new(parts).unwrap_err().to_string()
    };
    assert_eq!(refused(|p| p.ids.as_mut().unwrap().truncate(3)), "there are 7 rows but 3 ids");
    assert_eq!(refused(|p| p.labels.as_mut().unwrap().truncate(3)), "there are 7 rows but 3 labels");
    assert_eq!(
        refused(|p| p.ids.as_mut().unwrap()[6] = "日本".into()),
        "the id \"日本\" is given to row 4 and to row 7: give each row its own"
    );
    assert_eq!(
        refused(|p| p.provenance.learning_rate = f64::NAN),
        "a parameter or KL divergence of the map is not finite"
    );
    assert_eq!(refused(|p| p.y.data_mut()[1] = f32::NAN), "y is NaN in row 1, column 2, and must be finite");
}

#[cfg(unix)]
#[test]
fn a_saved_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (ours, any) = (folder.path().join("m.lion"), folder.path().join("any"));
    full().save(&ours).unwrap();
    fs::write(&any, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&any));
}

#[cfg(unix)]
#[test]
fn saving_through_a_link_keeps_the_link() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("maps")).unwrap();
    let (link, target) = (folder.path().join("link.lion"), folder.path().join("maps/real.lion"));
    symlink("maps/real.lion", &link).unwrap();
    for map in [full(), plain()] {
        map.save(&link).unwrap();
        assert!(link.is_symlink() && !target.is_symlink());
        assert!(Map::load(&link).unwrap() == map && Map::load(&target).unwrap() == map);
    }
    assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn places_that_cannot_be_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let save = |path: &Path| full().save(path).unwrap_err().to_string();
    let sentence =
        "the map was not written, and a file already there is left as it was: it is not an ordinary file";
    assert_eq!(save(folder.path()), format!("{}: {sentence}", folder.path().display()));
    let missing = folder.path().join("no/m.lion");
    let sentence = "the map cannot be written, its folder does not exist: make the folder first";
    assert_eq!(save(&missing), format!("{}: {sentence}", missing.display()));
    #[cfg(unix)]
    assert!(save(Path::new("/dev/null")).ends_with("it is not an ordinary file"));
}

/// Runs itself again in a shell that lets no file grow beyond a few kilobytes: what a full disk does, for real.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    const FOLDER: &str = "LION_TEST_FULL_DISK";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = Path::new(&folder).join("m.lion");
        let rows = Matrix::new(5000, 2, (0..10_000).map(|i| i as f32).collect()).unwrap();
        let (preprocess, x) = Preprocess::fit(rows, Metric::Euclidean, PcaChoice::None, 0).unwrap();
        let y = x.clone();
        let provenance = provenance();
        let parts = MapParts { preprocess, x, y, place_of: None, ids: None, labels: None, provenance };
        let error = Map::new(parts).unwrap().save(&path).unwrap_err().to_string();
        let sentence =
            ": the map was not written, and a file already there is left as it was: File too large";
        assert!(error.starts_with(&format!("{}{sentence}", path.display())), "{error}");
        assert!(Map::load(&path).unwrap() == full());
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "a temporary file is left behind");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    full().save(folder.path().join("m.lion")).unwrap();
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" --exact a_full_disk_leaves_the_old_file_whole"])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_file_with_changed_bytes_is_refused_or_the_same(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let map = full();
        let mut bytes = map.to_bytes().unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(read) = Map::from_bytes(&bytes) {
            prop_assert!(read == map);
        }
    }

    #[test]
    fn a_file_with_a_flipped_bit_in_its_header_is_refused_or_the_same(at in 0usize..1200, bit in 0u8..8) {
        let map = full();
        let mut bytes = map.to_bytes().unwrap();
        bytes[at] ^= 1 << bit;
        if let Ok(read) = Map::from_bytes(&bytes) {
            prop_assert!(read == map);
        }
    }

    #[test]
    fn a_file_cut_or_grown_is_refused(at in any::<prop::sample::Index>(), grow in any::<bool>()) {
        let mut bytes = full().to_bytes().unwrap();
        let at = at.index(bytes.len());
        if grow { bytes.insert(at, bytes[at]) } else { bytes.truncate(at) }
        // A space more in the header would be no other map, but its length says otherwise.
        prop_assert!(Map::from_bytes(&bytes).is_err());
    }

    #[test]
    fn forged_tensors_never_panic(
        which in any::<prop::sample::Index>(),
        shape in prop::collection::vec(0usize..9, 0..4),
        data in prop::collection::vec(any::<u8>(), 0..80),
        dtype in prop::sample::select(vec!["F32", "F64", "U32", "U64", "U8", "BOOL", "F4"]),
    ) {
        let mut forged = Forged::new(&full());
        let names: Vec<String> = forged.tensors.keys().cloned().collect();
        let bits = shape.iter().product::<usize>() * match dtype { "F32" | "U32" => 32, "F64" | "U64" => 64, "F4" => 4, _ => 8 };
        let data: Vec<u8> = data.into_iter().cycle().chain(std::iter::repeat(0)).take(bits / 8).collect();
        forged.tensors.insert(names[which.index(names.len())].clone(), (dtype.into(), shape, data));
        // Whatever is read must be usable throughout.
        if let Ok(map) = Map::from_bytes(&forged.bytes()) {
            for i in 0..map.rows() {
                prop_assert!(map.place(i).iter().all(|v| v.is_finite()) && map.id(i).len() < 100);
                prop_assert!(map.labels().is_none_or(|labels| labels.get(i).len() < 100));
            }
        }
    }

    #[test]
    fn any_map_comes_back(
        rows in 1usize..20, cols in 1usize..6, dims in 2usize..4,
        values in prop::collection::vec(-1e30f32..1e30, 1..40),
        texts in prop::collection::vec(".{0,6}", 20), with_ids in any::<bool>(), with_labels in any::<bool>(),
        kl in prop::option::of(any::<f64>().prop_filter("finite", |v| v.is_finite())),
    ) {
        let fill = |rows: usize, cols: usize| {
            Matrix::new(rows, cols, values.iter().cycle().take(rows * cols).copied().collect()).unwrap()
        };
        let (preprocess, x) = Preprocess::fit(fill(rows, cols), Metric::Euclidean, PcaChoice::None, 0).unwrap();
        let map = Map::new(MapParts {
            preprocess, x, y: fill(rows, dims), place_of: None,
            ids: with_ids.then(|| (0..rows).map(|i| format!("{}{i}", texts[i])).collect()),
            labels: with_labels.then(|| texts[..rows].to_vec()),
            provenance: Provenance { kl, ..provenance() },
        }).unwrap();
        prop_assert!(Map::from_bytes(&map.to_bytes().unwrap()).unwrap() == map);
    }
}
