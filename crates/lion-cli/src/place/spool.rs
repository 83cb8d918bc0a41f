//! What is known of placed rows until the last outlier is found: in a file without a name, so that memory does not grow
//! with the table.
//!
//! By hand: a row is written as it comes and read once. Arrow IPC would take a builder for each column, and rows made of columns again.

use lion_tsne::Placement;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

const BUFFER: usize = 1 << 20;

/// A placed row: what becomes a row of the output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// Its name, if the table has names.
    pub(crate) id: Option<String>,
    pub(crate) placement: Placement,
    /// The code of its label.
    pub(crate) label: u32,
}

impl Record {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.placement.write(out)?;
        out.write_all(&self.label.to_le_bytes())?;
        let id = self.id.as_deref().unwrap_or_default();
        out.write_all(&(id.len() as u64).to_le_bytes())?;
        out.write_all(id.as_bytes())
    }

    fn read(input: &mut impl Read) -> io::Result<Self> {
        let placement = Placement::read(input)?;
        let (mut label, mut length) = ([0; 4], [0; 8]);
        input.read_exact(&mut label)?;
        input.read_exact(&mut length)?;
        let mut id = String::new();
        input.take(u64::from_le_bytes(length)).read_to_string(&mut id)?;
        // Ids that a table gives are never empty.
        Ok(Self { id: Some(id).filter(|id| !id.is_empty()), placement, label: u32::from_le_bytes(label) })
    }
}

/// Records set aside, to be read again in order.
pub(crate) struct Spool {
    file: BufWriter<File>,
    rows: usize,
}

impl Spool {
    /// In a folder that has room for it. The file has no name, and goes when the program does.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(folder)?), rows: 0 })
    }

    /// One more.
    pub(crate) fn push(&mut self, record: &Record) -> io::Result<()> {
        self.rows += 1;
        record.write(&mut self.file)
    }

    /// How many there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// All of them, from the first.
    pub(crate) fn read(self) -> io::Result<impl Iterator<Item = io::Result<Record>>> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let mut input = BufReader::with_capacity(BUFFER, file);
        Ok((0..self.rows).map(move |_| Record::read(&mut input)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_tsne::Verdict;
    use lion_tsne::lion::Place;

    #[test]
    fn records_come_back_as_they_were() {
        let record = |i: u32| Record {
            id: (i > 9).then(|| format!("row ü{i}")),
            placement: Placement {
                place: match i {
                    0..5 => Place::default(),
                    5..50 => vec![i as f32, -1.5].try_into().unwrap(),
                    _ => vec![i as f32, -1.5, f32::MIN_POSITIVE].try_into().unwrap(),
                },
                verdict: Verdict::ALL[i as usize % 4],
                score: f64::from(i) / 100.0,
                p_distance: (i < 50).then_some(f64::from(i) / 50.0),
                p_neighbours: (i < 40).then_some(0.125),
                p_residual: (i < 30).then_some(0.25),
                nearest: u32::MAX - i,
                nearest_distance: i as f32 * 0.1,
                neighbours: i,
                group: (i % 4 == 3).then_some(u64::from(i)),
                label: i.is_multiple_of(3).then(|| format!("kind ü{i}").into()),
                label_share: i.is_multiple_of(3).then_some(0.5),
            },
            label: i % 5,
        };
        let records: Vec<Record> = (0..100).map(record).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path()).unwrap();
        records.iter().for_each(|record| spool.push(record).unwrap());
        assert_eq!(spool.rows(), 100);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "it has no name");
        assert_eq!(spool.read().unwrap().map(Result::unwrap).collect::<Vec<_>>(), records);
    }

    #[test]
    fn damage_is_noticed() {
        let mut bytes = Vec::new();
        let record = Record { id: None, placement: Placement::unknown(Verdict::Exact), label: 0 };
        record.write(&mut bytes).unwrap();
        assert!(Record::read(&mut &bytes[..20]).is_err());
        for (at, wrong) in [(0, 4), (1, 4)] {
            let mut damaged = bytes.clone();
            damaged[at] = wrong;
            assert!(Record::read(&mut &damaged[..]).is_err());
        }
        assert_eq!(Record::read(&mut &bytes[..]).unwrap(), record);
    }
}
