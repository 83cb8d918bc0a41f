//! Labels from a file of their own.

use crate::written::*;
use lion_table::{Format, parse_labels, read_labels};

fn said(bytes: &[u8], format: Format) -> String {
    parse_labels(bytes, format).unwrap_err().to_string().replace("the given bytes", "F")
}

#[test]
fn npy_numbers_and_text() {
    let labels = |bytes: Vec<u8>| parse_labels(&bytes, Format::Npy).unwrap();
    assert_eq!(labels(npy(1, "|u1", false, "(3,)", &[7, 0, 255])), ["7", "0", "255"]);
    let body: Vec<u8> = [7.0, -2.5, f64::NAN].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    assert_eq!(labels(npy(1, "<f8", false, "(3,)", &body)), ["7", "-2.5", ""]);
    let body: Vec<u8> = [i64::MAX, -1].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(labels(npy(2, ">i8", false, "(2, 1)", &body)), ["9223372036854775807", "-1"]);
    let text = |big: bool| -> Vec<u8> {
        "né\0日\0\0"
            .chars()
            .flat_map(|c| if big { (c as u32).to_be_bytes() } else { (c as u32).to_le_bytes() })
            .collect()
    };
    assert_eq!(labels(npy(3, "<U3", false, "(2,)", &text(false))), ["né", "日"]);
    assert_eq!(labels(npy(3, ">U3", true, "(2,)", &text(true))), ["né", "日"]);
    assert_eq!(labels(npy(1, "|S3", false, "(2,)", b"ab\0xyz")), ["ab", "xyz"]);
}

#[test]
fn idx_and_text_files() {
    let folder = WrittenFolder::new();
    let bytes = idx(8, &[3], &[5, 0, 4]);
    for path in [
        folder.file("train-labels-idx1-ubyte", &bytes),
        folder.file("train-labels-idx1-ubyte.gz", gz(&bytes)),
        folder.file("labels", &bytes),
        folder.file("l.csv", "label\n5\n0.0\n4\n"),
        folder.file("digits.csv", "digit\r\n5\r\n0\r\n4\r\n"),
        folder.file("l.txt", "5\n0\n4"),
        folder.file("l.csv.gz", gz(b"5\n0\n4\n\n")),
    ] {
        assert_eq!(read_labels(&path).unwrap(), ["5", "0", "4"], "{}", path.display());
    }
    let text = |bytes: &[u8]| parse_labels(bytes, Format::Csv).unwrap();
    assert_eq!(text(b"oak\n\"elm, \"\"old\"\"\"\n\nash\n"), ["oak", "elm, \"old\"", "", "ash"]);
    assert_eq!(text(b"Class\noak\n"), ["oak"]);
}

#[test]
fn refusals() {
    assert_eq!(
        said(&npy(1, "<f4", false, "(2, 3)", &[0; 24]), Format::Npy),
        "F holds a 2-dimensional array; labels have 1 dimension, one label per row"
    );
    assert_eq!(
        said(&npy(1, "<f4", false, "(99999999999,)", &[0; 24]), Format::Npy),
        "F is not a whole npy file: its header promises 99999999999 labels, more than the file holds"
    );
    assert_eq!(
        said(&npy(1, "<U0", false, "(99999999999,)", &[]), Format::Npy),
        "F holds labels without any characters"
    );
    assert_eq!(
        said(&idx(8, &[2, 2, 2], &[0; 8]), Format::Idx),
        "F holds a 3-dimensional array; labels have 1 dimension, one label per row"
    );
    assert_eq!(
        said(&idx(8, &[9], &[0; 8]), Format::Idx),
        "F is not a whole IDX file: its header promises 9 labels, more than the file holds"
    );
    assert_eq!(
        said(b"a,b\n1,2\n", Format::Csv),
        "F, row 0 (line 1) has more than one value (\"a,b\"); labels are one per line"
    );
    assert_eq!(said(b"", Format::Csv), "F has no rows of data");
    assert_eq!(
        said(b"{}", Format::Jsonl),
        "F is not a file of labels alone; use .npy, …-idx1-ubyte, .csv or .txt"
    );
}
