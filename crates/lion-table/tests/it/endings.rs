//! What stands after the last row: the checksum of a compressed stream counts, and in IDX nothing may follow.

use flate2::Compression;
use flate2::write::GzEncoder;
use lion_table::{Format, ReadOptions, parse, parse_labels};
use std::io::Write;

/// Twenty images of 2 x 2.
fn images() -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 2];
    bytes.extend((0..80).map(|v| v * 3));
    bytes
}

/// Stored, not squeezed, so that a byte changed in the file is a byte changed in the data.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn refusal(bytes: &[u8]) -> String {
    parse(bytes, Format::Idx, &ReadOptions::default()).expect_err("refused").to_string()
}

#[test]
fn a_compressed_stream_is_read_to_its_end() {
    let whole = gzip(&images());
    assert_eq!(parse(&whole, Format::Idx, &ReadOptions::default()).expect("whole").rows, 20);
    let mut altered = whole.clone();
    let at = altered.len() - 20;
    altered[at] ^= 128;
    assert!(refusal(&altered).contains("its compressed data are altered"), "{}", refusal(&altered));
    let cut = &whole[..whole.len() - 8];
    assert!(refusal(cut).contains("it breaks off before its end"), "{}", refusal(cut));
    // Files of gzip may stand one after another, and nothing else.
    let joined = [gzip(&images()[..30]), gzip(&[]), gzip(&images()[30..])].concat();
    assert_eq!(parse(&joined, Format::Idx, &ReadOptions::default()).expect("whole").rows, 20);
    for trailing in [&b"\n"[..], &[0; 512], b"<html>"] {
        let said = refusal(&[&whole, trailing].concat());
        assert_eq!(
            said,
            "the given bytes is not a whole gzip file: other bytes follow the end of its compressed data"
        );
    }
    let labels = gzip(&[0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]);
    assert_eq!(parse_labels(&labels, Format::Idx).expect("whole"), ["7", "8", "9"]);
    assert!(parse_labels(&labels[..labels.len() - 8], Format::Idx).is_err());
}

#[test]
fn nothing_follows_the_rows_of_idx() {
    let mut longer = images();
    longer.extend([1, 2, 3, 4]);
    assert!(
        refusal(&longer).contains("4 bytes follow the rows that its header promises"),
        "{}",
        refusal(&longer)
    );
    let error =
        parse_labels(&[0, 0, 8, 1, 0, 0, 0, 2, 7, 8, 9], Format::Idx).expect_err("refused").to_string();
    assert!(error.contains("1 byte follows the 2 labels that its header promises"), "{error}");
}
