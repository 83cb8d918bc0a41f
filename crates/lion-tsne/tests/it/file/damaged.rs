//! One test for each kind of file that is no map file, or no longer one.

use super::support::*;
use lion_tsne::Map;
use std::path::Path;

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
