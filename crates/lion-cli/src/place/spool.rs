//! What is known of placed rows until the last outlier is found: in a file without a name, so that memory does not grow
//! with the table.

use lion_tsne::{Placement, Verdict};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

const BUFFER: usize = 1 << 20;

/// A placed row: what becomes a row of the output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// Its name, if the table has names.
    pub(crate) id: Option<String>,
    /// The third is 0 in the plane.
    pub(crate) place: [f32; 3],
    pub(crate) verdict: Verdict,
    pub(crate) score: f64,
    pub(crate) p_distance: Option<f64>,
    pub(crate) p_neighbours: Option<f64>,
    pub(crate) p_residual: Option<f64>,
    pub(crate) nearest: u32,
    pub(crate) nearest_distance: f32,
    pub(crate) neighbours: u32,
    pub(crate) group: Option<u64>,
    /// The code of its label.
    pub(crate) label: u32,
}

impl Record {
    pub(crate) fn new(id: Option<String>, label: u32, placement: &Placement) -> Self {
        let Placement { verdict, score, p_distance, p_neighbours, p_residual, .. } = *placement;
        let Placement { nearest, nearest_distance, neighbours, .. } = *placement;
        let (place, group) = ([0.0; 3], None);
        let mut record = Self {
            id,
            place,
            verdict,
            score,
            p_distance,
            p_neighbours,
            p_residual,
            nearest,
            nearest_distance,
            neighbours,
            group,
            label,
        };
        record.put(placement);
        record
    }

    /// Takes verdict, place and group of a placement: an outlier's are found last.
    pub(crate) fn put(&mut self, placement: &Placement) {
        self.put_at(&placement.place);
        self.verdict = placement.verdict;
        self.group = placement.group;
    }

    /// Takes a place.
    pub(crate) fn put_at(&mut self, place: &[f32]) {
        for (own, given) in self.place.iter_mut().zip(place) {
            *own = *given;
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for coordinate in self.place {
            out.write_all(&coordinate.to_le_bytes())?;
        }
        out.write_all(&[self.verdict as u8])?;
        out.write_all(&self.score.to_le_bytes())?;
        // Shares are never NaN, and no group has the last number.
        out.write_all(&self.p_distance.unwrap_or(f64::NAN).to_le_bytes())?;
        out.write_all(&self.p_neighbours.unwrap_or(f64::NAN).to_le_bytes())?;
        out.write_all(&self.p_residual.unwrap_or(f64::NAN).to_le_bytes())?;
        out.write_all(&self.nearest.to_le_bytes())?;
        out.write_all(&self.nearest_distance.to_le_bytes())?;
        out.write_all(&self.neighbours.to_le_bytes())?;
        out.write_all(&self.group.unwrap_or(u64::MAX).to_le_bytes())?;
        out.write_all(&self.label.to_le_bytes())?;
        let id = self.id.as_deref().unwrap_or_default();
        out.write_all(&(id.len() as u64).to_le_bytes())?;
        out.write_all(id.as_bytes())
    }

    fn read(input: &mut impl Read) -> io::Result<Self> {
        Ok(Self {
            place: [
                take(input, f32::from_le_bytes)?,
                take(input, f32::from_le_bytes)?,
                take(input, f32::from_le_bytes)?,
            ],
            verdict: verdict(take(input, u8::from_le_bytes)?)?,
            score: take(input, f64::from_le_bytes)?,
            p_distance: Some(take(input, f64::from_le_bytes)?).filter(|share| !share.is_nan()),
            p_neighbours: Some(take(input, f64::from_le_bytes)?).filter(|share| !share.is_nan()),
            p_residual: Some(take(input, f64::from_le_bytes)?).filter(|share| !share.is_nan()),
            nearest: take(input, u32::from_le_bytes)?,
            nearest_distance: take(input, f32::from_le_bytes)?,
            neighbours: take(input, u32::from_le_bytes)?,
            group: Some(take(input, u64::from_le_bytes)?).filter(|&group| group != u64::MAX),
            label: take(input, u32::from_le_bytes)?,
            id: {
                let length = take(input, u64::from_le_bytes)?;
                let mut id = String::new();
                input.take(length).read_to_string(&mut id)?;
                // Ids that a table gives are never empty.
                Some(id).filter(|id| !id.is_empty())
            },
        })
    }
}

/// Reads the bytes of one number.
fn take<const N: usize, T>(input: &mut impl Read, number: fn([u8; N]) -> T) -> io::Result<T> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(number(bytes))
}

/// A verdict by its number among all.
fn verdict(code: u8) -> io::Result<Verdict> {
    let problem = || io::Error::new(io::ErrorKind::InvalidData, "what was set aside has changed meanwhile");
    Verdict::ALL.get(usize::from(code)).copied().ok_or_else(problem)
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

    #[test]
    fn records_come_back_as_they_were() {
        let record = |i: u32| Record {
            id: (i > 9).then(|| format!("row ü{i}")),
            place: [i as f32, -1.5, if i < 50 { 0.0 } else { f32::MIN_POSITIVE }],
            verdict: Verdict::ALL[i as usize % 4],
            score: f64::from(i) / 100.0,
            p_distance: (i < 50).then_some(f64::from(i) / 50.0),
            p_neighbours: (i < 40).then_some(0.125),
            p_residual: (i < 30).then_some(0.25),
            nearest: u32::MAX - i,
            nearest_distance: i as f32 * 0.1,
            neighbours: i,
            group: (i % 4 == 3).then_some(u64::from(i)),
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
        assert!(verdict(4).is_err());
        assert!(Record::read(&mut &[0u8; 20][..]).is_err());
    }
}
