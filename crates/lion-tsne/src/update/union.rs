//! The rows of a map and new ones as the rows of one map.

use super::Update;
use super::forget::staying;
use crate::error::{Error, Result};
use crate::fit::{DistinctRows, Rows, check_largest};
use crate::map::Map;
use crate::matrix::Matrix;
use crate::preprocess::{Fitted, PcaChoice, PcaSource, Preprocess, Unique, unique_rows};

/// The rows of the next map.
pub(super) struct Union {
    /// The distinct rows: those of the old map, then new ones, then those of the old map that cover sparse regions.
    pub(super) distinct: DistinctRows,
    /// For each of them, which distinct row of the old map it is, if it is one.
    pub(super) old_of: Vec<Option<u32>>,
    /// For the others, which of the new rows it is, the first of equal ones.
    pub(super) new_of: Vec<Option<u32>>,
    /// The rows of the old map's data that stay.
    pub(super) stayed: Vec<u32>,
    /// How many new rows there are.
    pub(super) added: usize,
    /// Components that the PCA was widened by.
    pub(super) widened: usize,
    /// What the PCA was fitted to, if it was made anew.
    pub(super) source: Option<PcaSource>,
}

impl Union {
    pub(super) fn new(old: &Map, rows: Rows, update: &Update) -> Result<Self> {
        old.preprocess().check(&rows.data)?;
        check_largest(&rows.data)?;
        check_ids(old, &rows)?;
        let stayed = staying(old, &rows, &update.forget)?;
        if stayed.len() == old.rows() && rows.data.rows() == 0 {
            return Err(Error::Data("there is no new row, and none that goes: nothing would change".into()));
        }
        let added = rows.data.rows();
        let items = match &update.rows {
            Some(base) => Items::anew(old, base, &stayed, &rows.data, update.seed)?,
            None => Items::with_old_pca(old, &stayed, &rows.data)?,
        };
        let Items { preprocess, x, residuals, origins, of_data, widened, source } = items;
        let covering = old.lion().map_or(0, |lion| lion.covering);
        let first_covering = (old.x().rows() - covering) as u32;
        let is_covering = |origin: &Origin| matches!(origin, Origin::Old(row) if *row >= first_covering);
        let Merged { order, place_of } =
            Merged::new(&x, &of_data, |item| is_covering(&origins[item as usize]));
        let covering = order.iter().filter(|&&item| is_covering(&origins[item as usize])).count();
        let mut representatives = vec![u32::MAX; order.len()];
        for (row, &place) in (0..).zip(&place_of) {
            let first = &mut representatives[place as usize];
            *first = row.min(*first);
        }
        let identity =
            place_of.len() == order.len() && place_of.iter().zip(0..).all(|(&place, row)| place == row);
        let distinct = DistinctRows {
            preprocess,
            x: x.select(&order),
            residuals: residuals.map(|of| order.iter().map(|&item| of[item as usize]).collect()),
            representatives,
            place_of: (!identity).then_some(place_of),
            ids: ids(old, &rows, &stayed),
            labels: labels(old, &rows, &stayed),
            covering,
        };
        let origin = |item: &u32| origins[*item as usize];
        let old_of = order
            .iter()
            .map(origin)
            .map(|origin| if let Origin::Old(row) = origin { Some(row) } else { None });
        let new_of = order
            .iter()
            .map(origin)
            .map(|origin| if let Origin::New(row) = origin { Some(row) } else { None });
        let (old_of, new_of) = (old_of.collect(), new_of.collect());
        Ok(Self { distinct, old_of, new_of, stayed, added, widened, source })
    }

    pub(super) fn x(&self) -> &Matrix {
        &self.distinct.x
    }
}

/// Where an item is from: a distinct row of the old map, or a new row.
#[derive(Clone, Copy)]
enum Origin {
    Old(u32),
    New(u32),
}

/// Rows of both, preprocessed alike; some may be equal.
struct Items {
    preprocess: Preprocess,
    x: Matrix,
    residuals: Option<Vec<f32>>,
    origins: Vec<Origin>,
    /// Which item each row of the data is: those that stay, then new ones.
    of_data: Vec<u32>,
    widened: usize,
    source: Option<PcaSource>,
}

impl Items {
    /// The old map's rows as they are, and new ones through its PCA, widened where they stick out of it.
    fn with_old_pca(old: &Map, stayed: &[u32], new: &Matrix) -> Result<Self> {
        let before = old.preprocess();
        let (preprocess, widened) = before.widened(new, old.rows())?;
        let (new_x, new_residuals) = preprocess.apply_with_residuals(new)?;
        let count = old.x().rows();
        let mut data = Vec::with_capacity((count + new.rows()) * preprocess.output_dims());
        for row in 0..count {
            data.extend_from_slice(old.x().row(row));
            // How old rows vary along the new components is not known: in the mean, not at all.
            data.resize(data.len() + widened, 0.0);
        }
        data.extend_from_slice(new_x.data());
        let x = Matrix::new(count + new.rows(), preprocess.output_dims(), data)?;
        let of_old = |row: &u32| old.distinct(*row as usize) as u32;
        let of_new = count as u32..(count + new.rows()) as u32;
        Ok(Self {
            preprocess,
            x,
            residuals: residuals(old, new_residuals),
            origins: (0..count as u32)
                .map(Origin::Old)
                .chain((0..new.rows() as u32).map(Origin::New))
                .collect(),
            of_data: stayed.iter().map(of_old).chain(of_new).collect(),
            widened,
            source: None,
        })
    }

    /// All rows through a PCA that is fitted to them.
    fn anew(old: &Map, base: &Matrix, stayed: &[u32], new: &Matrix, seed: u64) -> Result<Self> {
        old.check_original_rows(base)?;
        let mut data = base.select(stayed).into_data();
        data.extend_from_slice(new.data());
        let rows = stayed.len() + new.rows();
        let data = Matrix::new(rows, base.cols(), data)?;
        let choice = match old.preprocess().pca() {
            Some(pca) => PcaChoice::Components(pca.output_dims().min(rows - 1).max(1)),
            None => PcaChoice::None,
        };
        let fitted = Preprocess::fit_whole(data, old.preprocess().metric(), choice, seed)?;
        let Fitted { preprocess, rows: x, residuals, source } = fitted;
        let of_old = stayed.iter().map(|&row| Origin::Old(old.distinct(row as usize) as u32));
        let origins = of_old.chain((0..new.rows() as u32).map(Origin::New)).collect();
        Ok(Self {
            preprocess,
            x,
            residuals,
            origins,
            of_data: (0..rows as u32).collect(),
            widened: 0,
            source,
        })
    }
}

/// How far each is from its projection. Of old rows it is what the old map has: the row that comes again is known by it.
fn residuals(old: &Map, new: Option<Vec<f32>>) -> Option<Vec<f32>> {
    let mut all = old.lion()?.residuals.clone()?;
    all.extend(new?);
    Some(all)
}

/// Equal items are one row.
struct Merged {
    /// The item that each row is.
    order: Vec<u32>,
    /// For each row of the data, which row.
    place_of: Vec<u32>,
}

impl Merged {
    /// Items that no row of the data is go; rows of which `is_last` is true come last.
    fn new(x: &Matrix, of_data: &[u32], is_last: impl Fn(u32) -> bool) -> Self {
        let Unique { representatives, place_of } = unique_rows(x);
        let place = |item: u32| place_of.as_ref().map_or(item, |place_of| place_of[item as usize]);
        let mut in_use = vec![false; representatives.len()];
        of_data.iter().for_each(|&item| in_use[place(item) as usize] = true);
        let used = || (0..).zip(&representatives).filter(|(place, _)| in_use[*place]);
        let first = used().filter(|(_, item)| !is_last(**item));
        let places: Vec<usize> = first
            .chain(used().filter(|(_, item)| is_last(**item)))
            .map(|(place, _): (usize, _)| place)
            .collect();
        let mut number = vec![0u32; representatives.len()];
        (0..).zip(&places).for_each(|(at, &place)| number[place] = at);
        let order = places.iter().map(|&place| representatives[place]).collect();
        Self { order, place_of: of_data.iter().map(|&item| number[place(item) as usize]).collect() }
    }
}

/// Refuses ids that would name two rows, or leave new rows without a name among named ones.
fn check_ids(old: &Map, rows: &Rows) -> Result<()> {
    let Some(ids) = &rows.ids else {
        if old.has_ids() && rows.data.rows() > 0 {
            let problem = "are missing: rows of the map have ids, so new rows need them too (--id COL, ids=... in Python)";
            return Err(Error::Parameter { name: "ids", problem: problem.into() });
        }
        return Ok(());
    };
    if old.has_ids() {
        return Ok(());
    }
    // Numbers of rows are names that nobody gave: a row that has one of them by chance must replace nothing.
    let is_number =
        |id: &&String| id.parse::<usize>().is_ok_and(|row| row < old.rows() && row.to_string() == **id);
    match ids.iter().find(is_number) {
        None => Ok(()),
        Some(id) => Err(Error::Parameter {
            name: "id",
            problem: format!(
                "{id:?} of a new row is also the number of a row of the map, whose rows have no ids: give new rows other ids"
            ),
        }),
    }
}

fn ids(old: &Map, rows: &Rows, stayed: &[u32]) -> Option<Vec<String>> {
    if !old.has_ids() && rows.ids.is_none() && stayed.len() == old.rows() {
        return None;
    }
    let mut ids: Vec<String> = stayed.iter().map(|&row| old.id(row as usize).into_owned()).collect();
    match &rows.ids {
        Some(new) => ids.extend(new.iter().cloned()),
        None => ids.extend((old.rows()..).take(rows.data.rows()).map(|row| row.to_string())),
    }
    Some(ids)
}

/// Rows of which no label is known have an empty one.
fn labels(old: &Map, rows: &Rows, stayed: &[u32]) -> Option<Vec<String>> {
    if old.labels().is_none() && rows.labels.is_none() {
        return None;
    }
    let of_old =
        |row: &u32| old.labels().map_or(String::new(), |labels| labels.get(*row as usize).to_owned());
    let new = rows.labels.clone().unwrap_or_else(|| vec![String::new(); rows.data.rows()]);
    Some(stayed.iter().map(of_old).chain(new).collect())
}
