//! Text is UTF-8. In another encoding letters would be lost, and ids that differ in them would be the same.

use crate::error::{Error, Result};
use crate::input::{BYTE_ORDER_MARK, open_file};
use std::io::{self, Read};
use std::path::Path;

/// Refuses a line in another encoding.
pub(crate) fn check_line(line: &[u8], number: u64) -> io::Result<()> {
    // Not as invalid data: that is what unpacking says of a damaged file.
    problem(line, number, true).map_or(Ok(()), |problem| Err(io::Error::other(problem)))
}

/// The text of a whole file, without a byte order mark. A refusal shows nothing of it: it may be a secret.
pub fn read_text(path: &Path) -> Result<String> {
    let (file, mut opened, _) = open_file(path)?;
    let mut bytes = Vec::new();
    match opened.read_to_end(&mut bytes) {
        Ok(_) => text_of(&file, bytes),
        Err(cause) => Err(Error::Io { file, cause }),
    }
}

fn text_of(file: &str, bytes: Vec<u8>) -> Result<String> {
    let lines = bytes.split(|&byte| byte == b'\n').zip(1..);
    if let Some(problem) = lines.filter_map(|(line, number)| problem(line, number, false)).next() {
        return Err(Error::Io { file: file.to_owned(), cause: io::Error::other(problem) });
    }
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The encoding that the beginning of a text tells, if it is another than UTF-8 and looks like none of those that differ from it in few
/// letters.
pub(crate) fn other_encoding(head: &[u8]) -> Option<&'static str> {
    marked(head).or_else(|| wide(head))
}

/// The encoding that a mark at the beginning of a file tells, other than UTF-8.
fn marked(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        _ => None,
    }
}

fn problem(line: &[u8], number: u64, shows_text: bool) -> Option<String> {
    let from = |encoding: &str| format!("for example with: iconv -f {} -t utf-8", encoding.to_lowercase());
    if let Some(encoding) = other_encoding(line) {
        return Some(format!("line {number} is {encoding} text; convert the file, {}", from(encoding)));
    }
    let error = str::from_utf8(line).err()?;
    let near =
        if shows_text { format!(" after {:?}", end_of(&line[..error.valid_up_to()])) } else { String::new() };
    Some(format!("line {number} is not UTF-8 text{near}; convert the file, {}", from("windows-1252")))
}

/// The last few characters of a text.
fn end_of(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let from = text.char_indices().rev().nth(19).map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

/// The encoding of text whose characters take two or four bytes: where most letters are ASCII, half or more of it is NUL.
fn wide(line: &[u8]) -> Option<&'static str> {
    if !line.contains(&0) {
        return None;
    }
    let nuls = line.iter().filter(|&&byte| byte == 0).count();
    if nuls < 2 || 3 * nuls < line.len() {
        return None;
    }
    Some(match (8 * nuls >= 5 * line.len(), line[0] == 0) {
        (false, false) => "UTF-16LE",
        (false, true) => "UTF-16BE",
        (true, false) => "UTF-32LE",
        (true, true) => "UTF-32BE",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_encodings_are_told() {
        let said = |bytes: &[u8]| {
            let line = bytes.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
            check_line(line, 1).err().map(|error| error.to_string())
        };
        let wide = |units: &[&[u8]]| units.concat();
        let utf16le = wide(&[b"a\0,\0b\0\n\0"]);
        let utf16be = wide(&[b"\0a\0,\0b\0\n"]);
        let utf32le = wide(&[b"a\0\0\0,\0\0\0\n\0\0\0"]);
        let utf32be = wide(&[b"\0\0\0a\0\0\0,\0\0\0\n"]);
        for (bytes, encoding) in
            [(utf16le, "utf-16le"), (utf16be, "utf-16be"), (utf32le, "utf-32le"), (utf32be, "utf-32be")]
        {
            let said = said(&bytes).unwrap();
            assert!(said.ends_with(&format!("iconv -f {encoding} -t utf-8")), "{said}");
        }
        assert_eq!(
            said(b"name,M\xfcnchen\n").unwrap(),
            "line 1 is not UTF-8 text after \"name,M\"; convert the file, for example with: iconv -f windows-1252 -t utf-8"
        );
        assert!(
            said("0123456789012345678901234\u{fc}".as_bytes()).is_none() && said(b"a,b\0,cdef\n").is_none()
        );
        assert_eq!(
            (marked(b"\xff\xfe\0\0a"), marked(b"\xfe\xff\0a"), marked(b"ab")),
            (Some("UTF-32"), Some("UTF-16"), None)
        );
    }

    #[test]
    fn whole_texts_lose_their_mark_and_no_secret_is_shown() {
        assert_eq!(text_of("F", b"\xef\xbb\xbfp1\np2\n".to_vec()).unwrap(), "p1\np2\n");
        assert_eq!(
            text_of("F", b"p1\nsecret\xe4\n".to_vec()).unwrap_err().to_string(),
            "F cannot be read: line 2 is not UTF-8 text; convert the file, for example with: iconv -f windows-1252 -t utf-8"
        );
    }
}
