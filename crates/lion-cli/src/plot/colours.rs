//! What a map is coloured by: its labels, or columns that were asked for.

use crate::explain::MapNames;
use crate::shown::colour_names;
use anyhow::{Result, bail};
use lion_report::ColourChoice;
use lion_tsne::Map;
use lion_tsne::map::{OriginalValues, ShownColumns, ShownValues};

/// What people call the labels of a map.
const LABEL: &str = "label";

/// And its clusters.
const CLUSTER: &str = "cluster";

/// So many columns of the map are named where one is asked for that it does not have.
const NAMED: usize = 20;

/// One way to colour: a text for each row of the map, and for each placed row where they have any.
pub(super) struct Colour {
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    pub(super) placed: Option<Vec<String>>,
}

impl Colour {
    /// All ways that were asked for, the first one first, and the labels after them: they are the one unless others were.
    pub(super) fn all(
        map: &Map,
        asked: &[String],
        placed: Option<&ShownColumns>,
        placed_labels: Option<&[String]>,
    ) -> Result<Vec<Self>> {
        let mut colours = Vec::new();
        let labels = Self::labels(map, placed_labels);
        for name in asked {
            if colours.iter().any(|colour: &Self| colour.name == *name) {
                bail!("--color names {name} twice");
            }
            match of_shown(map.shown(), name)? {
                Some(labels) => {
                    let placed = of_shown(placed, name)?;
                    colours.push(Self { name: name.clone(), labels, placed });
                }
                None if name == LABEL && labels.is_some() => {
                    colours.extend(Self::labels(map, placed_labels));
                }
                None => colours.push(Self::of_own_column(map, name)?),
            }
        }
        if !colours.iter().any(|colour| colour.name == LABEL) {
            colours.extend(labels);
        }
        Ok(colours)
    }

    /// By the clusters that have names, unless a column is called so.
    pub(super) fn clusters(names: &MapNames, others: &[Self]) -> Option<Self> {
        let is_new = others.iter().all(|other| other.name != CLUSTER);
        is_new.then(|| Self { name: CLUSTER.to_owned(), labels: names.of_rows.clone(), placed: None })
    }

    fn labels(map: &Map, placed: Option<&[String]>) -> Option<Self> {
        let placed = placed.map(<[String]>::to_vec);
        let own = map.labels().map(|labels| (0..map.rows()).map(|row| labels.get(row).to_owned()).collect());
        let labels = match (own, &placed) {
            (Some(own), _) => own,
            (None, Some(_)) => vec![String::new(); map.rows()],
            (None, None) => return None,
        };
        Some(Self { name: LABEL.to_owned(), labels, placed })
    }

    /// By a column that the map was fitted to.
    fn of_own_column(map: &Map, name: &str) -> Result<Self> {
        let original = map.original();
        if let Some(column) = (0..original.len()).find(|&column| original.name(column) == name) {
            let labels = match original.values(column) {
                OriginalValues::Numbers(numbers) => numbers.iter().map(|&number| rounded(number)).collect(),
                OriginalValues::Levels { names, codes } => {
                    let name = |code: &Option<u32>| code.and_then(|code| names.get(code as usize).cloned());
                    codes.iter().map(|code| name(code).unwrap_or_default()).collect()
                }
            };
            return Ok(Self { name: name.to_owned(), labels, placed: None });
        }
        let mut known: Vec<&str> = colour_names(map);
        if map.labels().is_some() {
            known.push(LABEL);
        }
        let own: Vec<String> = (0..original.len().min(NAMED)).map(|column| original.name(column)).collect();
        known.extend(own.iter().map(String::as_str));
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bail!("the map has no column {name} to colour by (it has {has}): keep others with lion fit --show")
    }

    /// As the page takes those after the first.
    pub(super) fn choice(&self) -> ColourChoice<'_> {
        ColourChoice { name: &self.name, labels: &self.labels, placed: self.placed.as_deref() }
    }
}

/// Values are of 32 bits, and may be rebuilt: more digits than these would not be true.
fn rounded(number: f64) -> String {
    let text = format!("{number:.5e}");
    text.parse::<f64>().map_or(text, |number| number.to_string())
}

/// A column as texts, the empty one where there is none.
pub(super) fn of_shown(shown: Option<&ShownColumns>, name: &str) -> Result<Option<Vec<String>>> {
    let Some((shown, at)) = shown.and_then(|shown| Some((shown, shown.find(name)?))) else { return Ok(None) };
    Ok(match shown.values(at)? {
        ShownValues::Text(texts) => Some(texts.into_iter().map(Option::unwrap_or_default).collect()),
        ShownValues::Number(numbers) => {
            let text = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
            Some(numbers.into_iter().map(text).collect())
        }
        ShownValues::Image(_) => bail!("{name} is a column of images, and cannot be coloured by"),
    })
}
