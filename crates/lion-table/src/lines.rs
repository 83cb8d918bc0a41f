//! Which line of a text file a row is on: a header, blank lines and line breaks within quotes set the two apart.

/// The lines of some rows, as runs of rows that are on consecutive lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lines(Vec<(usize, u64)>);

impl Lines {
    /// Notes that `row`, counted from 0, begins on `line`, counted from 1. Rows come in order.
    pub(crate) fn push(&mut self, row: usize, line: u64) {
        if self.of(row) != Some(line) {
            self.0.push((row, line));
        }
    }

    /// The line of a row, counted from 1; nothing before the first row that was noted.
    pub(crate) fn of(&self, row: usize) -> Option<u64> {
        let run = self.0.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, line) = self.0[run];
        Some(line + (row - first) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_on_consecutive_lines_are_one_run() {
        let mut lines = Lines::default();
        for (row, line) in [(4, 6), (5, 7), (6, 9), (7, 10), (8, 20)] {
            lines.push(row, line);
        }
        assert_eq!(lines.0, [(4, 6), (6, 9), (8, 20)]);
        let found: Vec<_> = (3..9).map(|row| lines.of(row)).collect();
        assert_eq!(found, [None, Some(6), Some(7), Some(9), Some(10), Some(20)]);
    }
}
