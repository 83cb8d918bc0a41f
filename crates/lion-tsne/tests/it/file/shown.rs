//! Columns for people: kept in blocks, read on demand, refused where they do not fit, and never trusted.

use super::support::*;
use lion_tsne::map::{ShownColumns, ShownKind, ShownValue, ShownValues};
use lion_tsne::{Fit, Map, Matrix, Rows, Update, ignore};
use proptest::prelude::*;

fn texts(texts: &[Option<&str>]) -> ShownValues {
    ShownValues::Text(texts.iter().map(|text| text.map(str::to_owned)).collect())
}

fn three() -> Vec<(String, ShownValues)> {
    vec![
        ("title".into(), texts(&[Some("On maps"), None, Some(""), Some("日本 🦁")])),
        ("pages".into(), ShownValues::Number(vec![Some(1.5), None, Some(-0.0), Some(f64::NAN)])),
        (
            "cover".into(),
            ShownValues::Image(vec![Some(vec![0, 255, 1]), None, Some(vec![]), Some(vec![7; 99])]),
        ),
    ]
}

fn shown() -> Map {
    plain().with_shown(ShownColumns::new(three()).unwrap()).unwrap()
}

/// Everything that can be asked of shown columns; errors are sentences.
fn use_throughout(map: &Map) -> Result<(), String> {
    let Some(shown) = map.shown() else { return Ok(()) };
    for column in 0..shown.columns().len() {
        let all = shown.values(column).map_err(|error| error.to_string())?;
        assert_eq!((all.len(), all.kind()), (map.rows(), shown.columns()[column].kind));
    }
    for row in 0..map.rows() {
        shown.row(row).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[test]
fn values_come_back_from_memory_and_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lion");
    let map = shown();
    let saved = map.save(&path).unwrap();
    assert_eq!(saved.checksum, map.checksum().unwrap());
    let maps = [Map::load(&path).unwrap(), Map::load_whole(&path).unwrap(), map.clone()];
    for again in maps {
        assert!(again == map && again != plain());
        let shown = again.shown().unwrap();
        let kinds: Vec<(&str, ShownKind)> =
            shown.columns().iter().map(|column| (column.name.as_str(), column.kind)).collect();
        assert_eq!(
            kinds,
            [("title", ShownKind::Text), ("pages", ShownKind::Number), ("cover", ShownKind::Image)]
        );
        assert_eq!((shown.find("pages"), shown.find("nothing")), (Some(1), None));
        assert_eq!(shown.values(0).unwrap(), three()[0].1);
        // What is not finite is missing.
        assert_eq!(shown.values(1).unwrap(), ShownValues::Number(vec![Some(1.5), None, Some(-0.0), None]));
        assert_eq!(shown.values(2).unwrap(), three()[2].1);
        assert_eq!(shown.row(1).unwrap(), vec![ShownValue::Missing; 3]);
        assert_eq!(shown.value(0, 3).unwrap(), ShownValue::Text("日本 🦁".into()));
        assert_eq!(again.with_places(Matrix::zeros(4, 2)).unwrap().shown(), map.shown());
    }
}

/// Maps without such columns are the files they were, and older builds say to update when they meet the others.
#[test]
fn only_maps_with_shown_columns_have_the_new_version() {
    assert_eq!(Forged::new(&plain()).metadata["version"], "1");
    assert_eq!(Forged::new(&shown()).metadata["version"], "2");
    let none = plain().with_shown(ShownColumns::new(vec![]).unwrap()).unwrap();
    assert_eq!(none.to_bytes().unwrap(), plain().to_bytes().unwrap());
}

#[test]
fn many_rows_make_many_blocks_and_each_value_is_found() {
    let text = |row: usize| format!("{row} {}", "lion ".repeat(row % 50));
    let column = ShownValues::Text((0..5000).map(|row| Some(text(row)).filter(|_| row % 7 != 0)).collect());
    let shown = ShownColumns::new(vec![
        ("number".into(), ShownValues::Number((0..5000).map(|row| Some(row as f64)).collect())),
        ("text".into(), column.clone()),
    ])
    .unwrap();
    assert!(shown.packed(1).len() > 5, "{}", shown.packed(1).len());
    assert_eq!(shown.values(1).unwrap(), column);
    for row in [0, 1, 511, 512, 4999] {
        assert_eq!(shown.value(1, row).unwrap(), column.get(row));
        assert_eq!(shown.value(0, row).unwrap(), ShownValue::Number(row as f64));
    }
}

#[test]
fn columns_that_do_not_fit() {
    let sentence = |columns| ShownColumns::new(columns).unwrap_err().to_string();
    let short = vec![("a".into(), texts(&[None; 4])), ("b".into(), texts(&[None; 3]))];
    assert_eq!(sentence(short), "the shown column b has 3 rows, and others have 4");
    let twice = vec![("a".into(), texts(&[None])), ("a".into(), texts(&[None]))];
    assert_eq!(sentence(twice), "two shown columns are called a: name each once");
    let few = ShownColumns::new(vec![("a".into(), texts(&[None]))]).unwrap();
    let error = plain().with_shown(few).unwrap_err().to_string();
    assert_eq!(error, "the map has 4 rows, and the shown columns have 1");
}

/// A block that was altered is found when it is read, and others are as good as before.
#[test]
fn a_damaged_block_is_told_when_it_is_read() {
    let mut forged = Forged::new(&shown());
    forged.tensor("shown.blocks").2[3] ^= 1;
    let map = Map::from_bytes(&forged.bytes()).unwrap();
    let shown = map.shown().unwrap();
    assert_eq!(
        shown.value(0, 0).unwrap_err().to_string(),
        "the shown column title is damaged in rows 0 to 3 (its bytes have another checksum): make the map again, or take an unharmed copy"
    );
    assert_eq!(shown.value(1, 0).unwrap(), ShownValue::Number(1.5));
}

#[test]
fn files_whose_shown_columns_do_not_fit() {
    let refused = |forge: &dyn Fn(&mut Forged)| {
        let mut forged = Forged::new(&shown());
        forge(&mut forged);
        refusal(&forged.bytes())
    };
    let invalid = |problem: &str| format!("the map is not valid, {problem}: {AGAIN}");
    assert_eq!(
        refused(&|forged| _ = forged.tensors.remove("shown.blocks")),
        invalid("it has no tensor `shown.blocks`")
    );
    let flat = refused(&|forged| forged.tensor("shown.index").1 = vec![9]);
    assert_eq!(flat, invalid("tensor `shown.index` must have three columns"));
    let small = refused(&|forged| forged.parameters("\"block_rows\":1024", "\"block_rows\":1"));
    assert!(small.contains("blocks, not 3"), "{small}");
    let empty = refused(&|forged| forged.parameters("\"block_rows\":1024", "\"block_rows\":0"));
    assert!(empty.contains("has blocks without rows"), "{empty}");
    let long = refused(&|forged| forged.tensor("shown.blocks").1[0] += 1);
    assert!(long.contains("shape that does not fit"), "{long}");
    let beyond = refused(&|forged| forged.tensor("shown.index").2[48..56].copy_from_slice(&[255; 8]));
    assert_eq!(beyond, invalid("the blocks of the shown columns do not cover their bytes"));
}

/// An update keeps the values of rows that stay, and new rows bring theirs by the names of the columns.
#[test]
fn an_update_carries_them() {
    let spiral = |i: usize| {
        let angle = i as f32 * 0.1;
        [angle * angle.cos(), angle * angle.sin(), (i % 7) as f32]
    };
    let rows = |range: std::ops::Range<usize>| {
        let ids = range.clone().map(|i| format!("r{i}")).collect();
        let data = Matrix::new(range.len(), 3, range.flat_map(spiral).collect()).unwrap();
        Rows { ids: Some(ids), ..Rows::from(data) }
    };
    let names =
        |range: std::ops::Range<usize>| ShownValues::Text(range.map(|i| Some(format!("t{i}"))).collect());
    let numbers =
        |range: std::ops::Range<usize>| ShownValues::Number(range.map(|i| Some(i as f64)).collect());
    let fit = Fit { perplexity: Some(10.0), iterations: Some(50), ..Fit::default() };
    let map = fit.run(rows(0..60), &mut ignore).unwrap();
    let columns = vec![("text".into(), names(0..60)), ("number".into(), numbers(0..60))];
    let map = map.with_shown(ShownColumns::new(columns).unwrap()).unwrap();
    // Columns of other names are left out; r59 comes again and brings another text.
    let fresh = vec![("other".into(), numbers(59..70)), ("text".into(), names(159..170))];
    let update = Update { shown: Some(ShownColumns::new(fresh).unwrap()), ..Update::default() };
    let updated = update.run(&map, rows(59..70), &mut ignore).unwrap().map;
    let shown = updated.shown().unwrap();
    assert_eq!(shown.columns().len(), 2);
    for row in 0..updated.rows() {
        let i: usize = updated.id(row)[1..].parse().unwrap();
        let text = if i < 59 { format!("t{i}") } else { format!("t{}", i + 100) };
        let number = if i < 59 { ShownValue::Number(i as f64) } else { ShownValue::Missing };
        assert_eq!(shown.row(row).unwrap(), [ShownValue::Text(text), number]);
    }
    let without = Update::default().run(&map, rows(60..64), &mut ignore).unwrap().map;
    assert_eq!(without.shown().unwrap().row(63).unwrap(), vec![ShownValue::Missing; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_columns_come_back(
        rows in prop::collection::vec((".{0,40}", prop::option::of(-1e300f64..1e300), prop::collection::vec(any::<u8>(), 0..40)), 4),
        gaps in prop::collection::vec(any::<bool>(), 4),
    ) {
        let some = |row: usize| !gaps[row];
        let columns = vec![
            ("t".into(), ShownValues::Text((0..4).map(|row| some(row).then(|| rows[row].0.clone())).collect())),
            ("n".into(), ShownValues::Number((0..4).map(|row| rows[row].1).collect())),
            ("i".into(), ShownValues::Image((0..4).map(|row| some(row).then(|| rows[row].2.clone())).collect())),
        ];
        let map = plain().with_shown(ShownColumns::new(columns.clone()).unwrap()).unwrap();
        let again = Map::from_bytes(&map.to_bytes().unwrap()).unwrap();
        for (at, (_, values)) in columns.iter().enumerate() {
            prop_assert_eq!(&again.shown().unwrap().values(at).unwrap(), values);
        }
    }

    /// Past every checksum: whatever blocks and index claim gives values or a sentence.
    #[test]
    fn forged_blocks_never_panic(
        block in prop::collection::vec(any::<u8>(), 0..60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        claimed in any::<u64>(), plausible in any::<bool>(), forge in any::<bool>(),
    ) {
        let mut forged = Forged::new(&shown());
        let (ends, mut bytes) = {
            let index = &forged.tensor("shown.index").2;
            let end = |at: usize| u64::from_le_bytes(index[24 * at..24 * at + 8].try_into().unwrap()) as usize;
            ([end(0), end(1), end(2)], forged.tensor("shown.blocks").2.clone())
        };
        let mut parts = [bytes[..ends[0]].to_vec(), bytes[ends[0]..ends[1]].to_vec(), bytes[ends[1]..].to_vec()];
        for (at, value) in changes {
            let part = &mut parts[at.index(3)];
            let at = at.index(part.len());
            part[at] = value;
        }
        if forge { parts[1] = block }
        bytes = parts.concat();
        let mut end = 0;
        for (at, part) in parts.iter().enumerate() {
            end += part.len() as u64;
            let entry = &mut forged.tensor("shown.index").2[24 * at..24 * at + 24];
            entry[..8].copy_from_slice(&end.to_le_bytes());
            if at == 1 && !plausible { entry[8..16].copy_from_slice(&claimed.to_le_bytes()) }
            entry[16..].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(part).to_le_bytes());
        }
        *forged.tensor("shown.blocks") = ("U8".into(), vec![bytes.len()], bytes);
        let map = Map::from_bytes(&forged.bytes()).unwrap();
        if let Err(sentence) = use_throughout(&map) {
            prop_assert!(sentence.contains("is damaged in rows"), "{}", sentence);
        }
    }

    #[test]
    fn a_file_with_changed_bytes_is_refused_or_tells_its_damage(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let map = shown();
        let mut bytes = map.to_bytes().unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(read) = Map::from_bytes(&bytes) && use_throughout(&read).is_ok() {
            prop_assert!(read == map);
        }
    }
}
