//! What is said of a placed row.

use super::columns::PREDICTED_LABEL;
use super::label_transfer::{LabelName, TransferredLabel};
use super::{ColumnValues, PendingOutlier, PlacementColumn};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::ops::Deref;

/// How a row came to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It equals a row of the map, and has that row's place.
    Exact,
    /// It is like the map's own rows, and has a place among theirs.
    Interpolated,
    /// Its nearest row is an outlier of the map itself, and it sits beside it.
    BesideOutlier,
    /// It belongs nowhere, and has a place of its own or of its group.
    Outlier,
}

crate::named!(Verdict, "verdict": Exact = "exact", Interpolated = "interpolated", BesideOutlier = "beside-outlier", Outlier = "outlier");

/// One to three coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f32>", into = "Vec<f32>")]
pub struct Place {
    pub(crate) coordinates: [f32; 3],
    pub(crate) dims: u8,
}

impl Deref for Place {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.coordinates[..usize::from(self.dims)]
    }
}

impl From<Place> for Vec<f32> {
    fn from(place: Place) -> Self {
        place.to_vec()
    }
}

impl TryFrom<Vec<f32>> for Place {
    type Error = Error;

    fn try_from(given: Vec<f32>) -> Result<Self, Error> {
        if !(1..=3).contains(&given.len()) {
            return Err(Error::Data(format!("a place has 1 to 3 coordinates, not {}", given.len())));
        }
        let mut coordinates = [0.0; 3];
        coordinates[..given.len()].copy_from_slice(&given);
        Ok(Self { coordinates, dims: given.len() as u8 })
    }
}

/// Where a row was placed, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// The place.
    pub place: Place,
    /// How the row came to it.
    pub verdict: Verdict,
    /// A p-value, from 0 to 1, small is strange: of rows like the map's own, a share `score` is at least as strange. By the
    /// paper's rule the share of the map's rows whose own nearest neighbour is at least as far.
    pub score: f64,
    /// One part of it: the p-value of the distance to the nearest row; `None` in what an earlier version kept.
    #[serde(default)]
    pub p_distance: Option<f64>,
    /// The other part: the p-value of how badly the nearest rows explain this one; `None` by the paper's rule.
    #[serde(default)]
    pub p_neighbours: Option<f64>,
    /// The share of the map's rows whose PCA residual is at least as large; `None` where there is none.
    #[serde(rename = "off_plane")]
    pub p_residual: Option<f64>,
    /// The nearest row of the map, by its number in the data.
    pub nearest: u32,
    /// The distance to it.
    pub nearest_distance: f32,
    /// How many rows of the map are within r_x; in maps beyond 10000 rows, as many of them as the search saw.
    pub neighbours: u32,
    /// The group of an outlier, numbered from 0.
    pub group: Option<u64>,
    /// The label of most of the neighbours on which the place rests; `None` for outliers, and in maps without labels. Where
    /// points come with a label of their own, as in events, it is called `predicted_label`.
    #[serde(default, rename = "predicted_label")]
    pub label: Option<LabelName>,
    /// How likely that label is right: of rows with a share of 0.8, about 80 % are.
    #[serde(default)]
    pub label_share: Option<f64>,
}

impl Placement {
    /// One of which nothing but the verdict is known.
    pub fn unknown(verdict: Verdict) -> Self {
        Self {
            place: Place::default(),
            verdict,
            score: 0.0,
            p_distance: None,
            p_neighbours: None,
            p_residual: None,
            nearest: 0,
            nearest_distance: 0.0,
            neighbours: 0,
            group: None,
            label: None,
            label_share: None,
        }
    }

    /// The same with a label.
    pub(super) fn labelled(self, given: Option<TransferredLabel>) -> Self {
        let (label, label_share) = given.map(|given| (given.name, given.share)).unzip();
        Self { label, label_share, ..self }
    }

    /// Writes it as bytes, to be read again by the same version.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        // Without `..`: who adds a field writes it too.
        let Self {
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
            label_share,
        } = self;
        out.write_all(&[place.dims, *verdict as u8])?;
        for coordinate in place.coordinates {
            out.write_all(&coordinate.to_le_bytes())?;
        }
        out.write_all(&score.to_le_bytes())?;
        // Shares are never NaN, and no group has the last number.
        for share in [p_distance, p_neighbours, p_residual, label_share] {
            out.write_all(&share.unwrap_or(f64::NAN).to_le_bytes())?;
        }
        out.write_all(&nearest.to_le_bytes())?;
        out.write_all(&nearest_distance.to_le_bytes())?;
        out.write_all(&neighbours.to_le_bytes())?;
        out.write_all(&group.unwrap_or(u64::MAX).to_le_bytes())?;
        // A label is never empty.
        let label = label.as_deref().unwrap_or_default();
        out.write_all(&(label.len() as u64).to_le_bytes())?;
        out.write_all(label.as_bytes())
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(input: &mut impl Read) -> io::Result<Self> {
        let changed = || io::Error::new(io::ErrorKind::InvalidData, "these are not the bytes of a placement");
        let [dims, verdict] = take(input, |bytes: [u8; 2]| bytes)?;
        let mut place =
            Place { coordinates: [0.0; 3], dims: Some(dims).filter(|&dims| dims <= 3).ok_or_else(changed)? };
        for coordinate in &mut place.coordinates {
            *coordinate = take(input, f32::from_le_bytes)?;
        }
        let share = |share: f64| Some(share).filter(|share| !share.is_nan());
        // In the order in which they were written.
        let known = Self {
            place,
            verdict: Verdict::ALL.get(usize::from(verdict)).copied().ok_or_else(changed)?,
            score: take(input, f64::from_le_bytes)?,
            p_distance: share(take(input, f64::from_le_bytes)?),
            p_neighbours: share(take(input, f64::from_le_bytes)?),
            p_residual: share(take(input, f64::from_le_bytes)?),
            label_share: share(take(input, f64::from_le_bytes)?),
            nearest: take(input, u32::from_le_bytes)?,
            nearest_distance: take(input, f32::from_le_bytes)?,
            neighbours: take(input, u32::from_le_bytes)?,
            group: Some(take(input, u64::from_le_bytes)?).filter(|&group| group != u64::MAX),
            label: None,
        };
        let length = take(input, u64::from_le_bytes)?;
        let mut label = String::new();
        input.take(length).read_to_string(&mut label)?;
        match label.len() as u64 == length {
            true => {
                Ok(Self { label: Some(label).filter(|label| !label.is_empty()).map(Into::into), ..known })
            }
            false => Err(changed()),
        }
    }
}

/// Reads the bytes of one number.
fn take<const N: usize, T>(input: &mut impl Read, number: fn([u8; N]) -> T) -> io::Result<T> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(number(bytes))
}

const VERDICTS: [&str; Verdict::ALL.len()] = {
    let mut names = [""; Verdict::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Verdict::ALL[i].as_str();
        i += 1;
    }
    names
};

/// A column that every row of every table has a value in.
const fn column(name: &'static str, values: ColumnValues, meaning: &'static str) -> PlacementColumn {
    PlacementColumn {
        name,
        values,
        optional: false,
        dims: 1,
        in_tables: true,
        in_events: true,
        words: &[],
        meaning,
    }
}

impl PlacementColumn {
    /// Every column, in order. Tables have no `nearest`, because only the map knows its rows by number. `label` is
    /// `predicted_label` where points come with a label of their own.
    pub const ALL: [Self; 17] = {
        use ColumnValues::{F32, F64, Text, U32, U64};
        [
            column("id", Text(|row| Some(&row.id)), "the id of the row, or its number counted from 0"),
            column("x", F32(|placement| placement.place.first().copied()), "its position"),
            Self {
                dims: 2,
                ..column(
                    "y",
                    F32(|placement| placement.place.get(1).copied()),
                    "its position, in maps of 2 and 3 dimensions",
                )
            },
            Self {
                dims: 3,
                ..column(
                    "z",
                    F32(|placement| placement.place.get(2).copied()),
                    "its position, in maps of 3 dimensions",
                )
            },
            Self {
                words: &VERDICTS,
                ..column(
                    "verdict",
                    Text(|row| Some(row.placement.verdict.as_str())),
                    "`exact`, `interpolated`, `outlier` or `beside-outlier`, see below",
                )
            },
            column(
                "score",
                F64(|placement| Some(placement.score)),
                "a p-value; small means unusual. Of rows like those of the map, a share `score` is at least as unusual",
            ),
            Self {
                optional: true,
                ..column(
                    "p_distance",
                    F64(|placement| placement.p_distance),
                    "the first part of the score: is the nearest row of the map far away?",
                )
            },
            Self {
                optional: true,
                ..column(
                    "p_neighbours",
                    F64(|placement| placement.p_neighbours),
                    "the second part: do the nearest rows explain this row badly? Empty with `--verdict paper`",
                )
            },
            Self {
                optional: true,
                ..column(
                    "off_plane",
                    F64(|placement| placement.p_residual),
                    "from the PCA residual, which is the distance of a row to the subspace that the PCA keeps. The column holds the share of the map's rows with a residual at least as large. Empty without PCA",
                )
            },
            Self {
                in_tables: false,
                ..column(
                    "nearest",
                    U32(|placement| Some(placement.nearest)),
                    "the nearest row of the map, by its number in the data",
                )
            },
            column("nearest_id", Text(|row| Some(&row.nearest_id)), "the nearest row of the map"),
            column(
                "nearest_distance",
                F32(|placement| Some(placement.nearest_distance)),
                "the distance to it",
            ),
            column(
                "neighbours",
                U32(|placement| Some(placement.neighbours)),
                "how many rows of the map are within r_x",
            ),
            Self {
                optional: true,
                ..column(
                    "group",
                    U64(|placement| placement.group),
                    "outliers within r_x of each other are one group, and lie side by side. Empty for all other rows",
                )
            },
            Self {
                optional: true,
                in_events: false,
                ..column(
                    "label",
                    Text(|row| row.placement.label.as_deref()),
                    "the label of most of the neighbours on which the position rests. Empty for outliers, and in maps without labels",
                )
            },
            Self {
                optional: true,
                in_tables: false,
                ..column(
                    PREDICTED_LABEL,
                    Text(|row| row.placement.label.as_deref()),
                    "the same, where `label` is the label that the point came with",
                )
            },
            Self {
                optional: true,
                ..column(
                    "label_share",
                    F64(|placement| placement.label_share),
                    "how likely that label is right: of rows with a share of 0.8, about 80 % are",
                )
            },
        ]
    };
}

/// What is known of a row before outliers get positions: its placement, or an outlier that waits for one.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// Its place does not depend on other new rows.
    Placed(Placement),
    /// Its place depends on the other outliers: `Lion::give_positions` knows it.
    Outlier(PendingOutlier),
}

impl Resolved {
    /// What is known: all of it, or all but place and group.
    pub fn placement(&self) -> &Placement {
        match self {
            Self::Placed(placement) => placement,
            Self::Outlier(outlier) => outlier.placement(),
        }
    }
}
