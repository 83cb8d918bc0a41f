//! Standard input as lines, and lines as changes, while others are being placed.

use lion_server::changes::{RowShape, parse_line};
use lion_tsne::live::Change;
use std::io::{self, Read};
use std::sync::mpsc::{SendError, SyncSender};

/// Read at once, at most.
const BUFFER: usize = 1 << 18;
/// Bytes of a line, at most.
const LONGEST: usize = 64 << 20;
/// Lines that are passed on at once.
const TOGETHER: usize = 1024;

/// What comes in.
pub(super) enum StreamInput {
    Lines(Vec<StreamLine>),
    /// Standard input failed.
    Broken(io::Error),
    /// There is no more, or Ctrl-C was pressed.
    End,
}

/// A line that is not blank.
pub(super) struct StreamLine {
    /// Counted from 1.
    pub(super) number: u64,
    /// What it asks for, or what is wrong with it and where.
    pub(super) change: Result<Change, String>,
}

/// Reads lines until they end or nobody wants them. Each read passes on what it got: nobody waits for a full buffer.
pub(super) fn read(mut source: impl Read, shape: &RowShape, send: &SyncSender<StreamInput>) {
    let mut lines = StreamLines { shape, send, begun: Vec::new(), too_long: false, number: 0 };
    let mut buffer = vec![0; BUFFER];
    let ended = loop {
        match source.read(&mut buffer) {
            Ok(0) => break lines.finish().and_then(|()| send.send(StreamInput::End)),
            Ok(count) => {
                if lines.take(&buffer[..count]).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break send.send(StreamInput::Broken(error)),
        }
    };
    // Nobody wants the end either.
    let _ = ended;
}

/// Bytes that become lines.
struct StreamLines<'a> {
    shape: &'a RowShape,
    send: &'a SyncSender<StreamInput>,
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// That line is too long, and was thrown away.
    too_long: bool,
    /// Lines that have ended.
    number: u64,
}

impl StreamLines<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), SendError<StreamInput>> {
        let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') else {
            self.begin(bytes);
            return Ok(());
        };
        let (ended, begun) = bytes.split_at(last + 1);
        let mut lines = Vec::new();
        for line in ended.split_inclusive(|&byte| byte == b'\n') {
            if self.begun.is_empty() && !self.too_long {
                self.parse(line, &mut lines);
            } else {
                self.begin(line);
                self.end(&mut lines);
            }
            if lines.len() == TOGETHER {
                self.send.send(StreamInput::Lines(std::mem::take(&mut lines)))?;
            }
        }
        self.begin(begun);
        if lines.is_empty() { Ok(()) } else { self.send.send(StreamInput::Lines(lines)) }
    }

    /// A line goes on.
    fn begin(&mut self, bytes: &[u8]) {
        if self.begun.len() + bytes.len() > LONGEST {
            self.too_long = true;
            self.begun = Vec::new();
        }
        if !self.too_long {
            self.begun.extend_from_slice(bytes);
        }
    }

    /// The line that was begun has ended.
    fn end(&mut self, lines: &mut Vec<StreamLine>) {
        let line = std::mem::take(&mut self.begun);
        if !std::mem::take(&mut self.too_long) {
            return self.parse(&line, lines);
        }
        self.number += 1;
        let problem =
            format!("line {} is longer than {} MB; send less at a time", self.number, LONGEST >> 20);
        lines.push(StreamLine { number: self.number, change: Err(problem) });
    }

    fn parse(&mut self, line: &[u8], lines: &mut Vec<StreamLine>) {
        self.number += 1;
        if !line.trim_ascii().is_empty() {
            let change = parse_line(line, self.number, self.shape).map_err(|problem| problem.to_string());
            lines.push(StreamLine { number: self.number, change });
        }
    }

    /// The input has ended, perhaps without a last line break.
    fn finish(&mut self) -> Result<(), SendError<StreamInput>> {
        let mut lines = Vec::new();
        if self.too_long || !self.begun.is_empty() {
            self.end(&mut lines);
        }
        if lines.is_empty() { Ok(()) } else { self.send.send(StreamInput::Lines(lines)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    /// A source that gives its bytes in pieces of so many.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len());
            self.0.split_at(count).0.iter().zip(buffer).for_each(|(byte, to)| *to = *byte);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(text: &[u8], piece: usize) -> Vec<(u64, Result<String, String>)> {
        let shape = RowShape { width: 2, columns: None, recipe: None, rows: usize::MAX, bytes: usize::MAX };
        let (send, inputs) = sync_channel(10_000);
        read(Pieces(text, piece), &shape, &send);
        drop(send);
        let lines = inputs.into_iter().flat_map(|input| match input {
            StreamInput::Lines(lines) => lines,
            StreamInput::End => Vec::new(),
            StreamInput::Broken(error) => panic!("{error}"),
        });
        lines.map(|line| (line.number, line.change.map(|change| change.id().to_owned()))).collect()
    }

    #[test]
    fn lines_do_not_depend_on_how_they_arrive() {
        let text = b"{\"id\":\"a\",\"x\":[1,2]}\n\n  \r\n{\"delete\":\"b\"}\r\nno\n{\"id\":\"\xc3\xbc\",\"x\":[1,2]}";
        let whole = lines(text, text.len());
        let numbers: Vec<u64> = whole.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 4, 5, 6]);
        assert_eq!(
            (&whole[0].1, &whole[1].1, &whole[3].1),
            (&Ok("a".into()), &Ok("b".into()), &Ok("ü".into()))
        );
        assert!(whole[2].1.as_ref().is_err_and(|problem| problem.starts_with("line 5 ")), "{whole:?}");
        for piece in 1..text.len() {
            assert_eq!(lines(text, piece), whole, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_line_without_end_is_thrown_away_and_the_next_is_read() {
        let mut text = vec![b'x'; LONGEST + 2];
        text.extend(b"\n{\"delete\":\"b\"}\n");
        let found = lines(&text, BUFFER);
        assert_eq!(found.len(), 2);
        assert!(found[0].1.as_ref().is_err_and(|problem| problem.contains("longer than 64 MB")), "{found:?}");
        assert_eq!(found[1], (2, Ok("b".into())));
    }
}
