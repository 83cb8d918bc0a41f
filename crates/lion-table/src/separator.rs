//! What stands between the cells of a text file, as its first records tell.

use crate::record::Records;
use crate::written::{NumberStyle, number, signed};
use std::borrow::Cow;
use std::cmp::Ordering;

/// So many bytes are looked at, if there are as many.
pub(crate) const HEAD: usize = 64 << 10;

/// What may stand between cells.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// So many records are looked at.
const RECORDS: usize = 20;

/// The separator that divides the beginning of a file best.
pub(crate) fn separator(head: &[u8]) -> u8 {
    let divisions = SEPARATORS.map(|separator| Division::new(head, separator));
    // Of equally good ones this takes the last: the comma.
    divisions.iter().max_by(|a, b| a.compare(b)).map_or(b',', |best| best.separator)
}

/// Whether a cell is a number as some language writes it; with a decimal comma only where commas separate nothing.
pub(crate) fn is_number(cell: &[u8], separator: u8) -> bool {
    let cell = cell.trim_ascii();
    let bare = signed(cell).map_or(Cow::Borrowed(cell), |(_, bare)| Cow::Owned(bare));
    let comma = if separator == b',' { NumberStyle::ThousandsComma } else { NumberStyle::DecimalComma };
    [NumberStyle::Plain, comma].into_iter().any(|style| number(&bare, style).is_some())
}

/// What the first records are like by one separator.
struct Division {
    separator: u8,
    records: Vec<Shape>,
}

/// What a record is like.
struct Shape {
    cells: usize,
    numbers: usize,
    /// A quote is in the midst of a cell.
    has_stray_quote: bool,
}

impl Division {
    fn new(head: &[u8], separator: u8) -> Self {
        let mut records = Records::new(head, separator);
        let mut shapes = Vec::new();
        while shapes.len() <= RECORDS && records.advance().unwrap_or(false) {
            let numbers = records.cells().filter(|cell| is_number(cell, separator)).count();
            let (cells, has_stray_quote) = (records.cells().len(), records.has_stray_quote());
            shapes.push(Shape { cells, numbers, has_stray_quote });
        }
        // The last record may have been cut off.
        if shapes.len() > RECORDS || head.len() == HEAD && shapes.len() > 1 {
            shapes.pop();
        }
        Self { separator, records: shapes }
    }

    /// The better one has fewer quotes in the midst of cells, then as many cells in each record, then several cells in the first, then more
    /// numbers among its cells, then more cells in the first record.
    fn compare(&self, other: &Self) -> Ordering {
        let fewer_quotes = other.stray_quotes().cmp(&self.stray_quotes());
        let more_even = self.is_even().cmp(&other.is_even());
        let divides = (self.columns() > 1).cmp(&(other.columns() > 1));
        let more_numbers = self.share_of_numbers().total_cmp(&other.share_of_numbers());
        let more_cells = self.columns().cmp(&other.columns());
        fewer_quotes.then(more_even).then(divides).then(more_numbers).then(more_cells)
    }

    fn stray_quotes(&self) -> usize {
        self.records.iter().filter(|record| record.has_stray_quote).count()
    }

    /// Cells of the first record.
    fn columns(&self) -> usize {
        self.records.first().map_or(0, |record| record.cells)
    }

    fn is_even(&self) -> bool {
        let columns = self.columns();
        self.records.len() > 1 && columns > 1 && self.records.iter().all(|record| record.cells == columns)
    }

    fn share_of_numbers(&self) -> f64 {
        let sum = |of: fn(&Shape) -> usize| self.records.iter().map(of).sum::<usize>();
        sum(|record| record.numbers) as f64 / sum(|record| record.cells).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> char {
        separator(text.as_bytes()).into()
    }

    #[test]
    fn the_separator_of_ordinary_files() {
        for (separator, text) in [
            (',', "a,b\n1,2\n"),
            (',', "1,2\n3\n"),
            (',', "a,b\n1,2\n3\n4,5\n"),
            (',', "a\n1\n"),
            ('\t', "a\tb\n1\t2\n"),
            (';', "a;b\n1,5;2,5\n"),
            (';', "2,12;0,10;0,40\n1,50;0,20;0,33\n"),
            (';', "s1;9,56;9,48\n"),
            (';', "1,234;5,678\n2,345;6,789\n"),
            ('\t', "€1,50\t12 %\n€2,50\t3 %\n"),
        ] {
            assert_eq!(told(text), separator, "{text}");
        }
    }

    /// Other separators in names and texts, as often in each record.
    #[test]
    fn separators_within_cells() {
        for (separator, text) in [
            (',', "id,pos (lat;lon),size\np1,41.1;7.1,1\np2,41.2;7.3,2\n"),
            (',', "id,tags (a;b),x,y\np0,red;big,1.5,2\np1,blue;big,2.5,3\n"),
            (',', "p0,smith; john,1.3,8.4\np1,doe; jane,2.3,4.4\n"),
            (',', "id,a,b;\np0,1.3,8.4;\np1,2.3,4.4;\n"),
            (',', "id,a,b\t\np0,1.3,8.4\t\n"),
            (';', "id;pos (lat,lon);size\np1;41.1,7.1;1\np2;41.2,7.3;2\n"),
            ('\t', "a, b\tc\nx, y\t3\n"),
        ] {
            assert_eq!(told(text), separator, "{text}");
        }
    }

    #[test]
    fn quotes_within_cells() {
        for (separator, text) in [
            (';', "screen (\");price;weight\n1;2;3\n4;5;6\n"),
            (';', "a;b, cm, net;c\nx;1\";3\ny;2\";4\n"),
            ('\t', "TV 55\"\t3\t4\nTV 65\"\t4\t5\n"),
            (';', "\"id\"; \"size\"; \"price\"\n\"p0\"; 1.3; 8.4\n"),
            (',', "id,\"b;c\"\n1,x;y\n2,z;w\n"),
        ] {
            assert_eq!(told(text), separator, "{text}");
        }
    }

    /// Of a record that is longer than what is looked at, its beginning tells.
    #[test]
    fn a_record_that_is_cut_off() {
        let wide = "0,26;".repeat(HEAD / 5 + 1);
        assert_eq!(separator(&wide.as_bytes()[..HEAD]), b';');
        let text = format!("id;size, cm;note, free\n{}", "1;2,5;\"a\nb, c\"\n".repeat(HEAD / 10));
        assert_eq!(separator(&text.as_bytes()[..HEAD]), b';');
        let long = format!("id;size, cm;note\n1;2,5;\"{}\"\n", "a, b\n".repeat(HEAD));
        assert_eq!(separator(&long.as_bytes()[..HEAD]), b';');
    }
}
