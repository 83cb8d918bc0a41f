//! What there is to see.

use crate::{CardColumn, ClusterName, Compared, Error, Placed, Result, cards};

/// The points of a map and what is known of each: the input of every picture.
///
/// Made with [`Scatter::new`] and the methods that follow it, so that further layers can join without breaking
/// anyone.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Scatter<'a> {
    /// The headline; may be empty.
    pub title: &'a str,
    /// The line under it; may be empty.
    pub subtitle: &'a str,
    /// 2 or 3.
    pub dims: usize,
    /// Row-major, n x `dims`.
    pub points: &'a [f32],
    /// One per point, if the points have names. Without, a point is known by its row, counted from 1.
    pub ids: Option<&'a [String]>,
    /// One per point, if there is something to colour by. An empty label means that the point has none.
    pub labels: Option<&'a [String]>,
    /// What the labels are, such as the name of their column; may be empty.
    pub coloured_by: &'a str,
    /// What else the page can colour by.
    pub choices: &'a [ColourChoice<'a>],
    /// What the page tells of each point when it is asked for.
    pub cards: &'a [CardColumn<'a>],
    /// What the page compares selected points by.
    pub compared: Option<&'a Compared>,
    /// What was placed into the map later; the map's own points step back behind it.
    pub placed: Option<Placed<'a>>,
    /// Names of clusters to write on the map, in the place of those of labels.
    pub clusters: &'a [ClusterName],
    /// Which map the names are of, as a file of names has it; null if they are not to be edited.
    pub names_of: Option<[&'a str; 2]>,
}

/// Another way to colour a map: the reader of the page chooses one.
#[derive(Debug, Clone, Copy)]
pub struct ColourChoice<'a> {
    /// What it is called.
    pub name: &'a str,
    /// One for each point of the map; an empty one means that the point has none.
    pub labels: &'a [String],
    /// One for each placed point, if they have any.
    pub placed: Option<&'a [String]>,
}

impl<'a> Scatter<'a> {
    /// The points alone: `points` is row-major, n x `dims`.
    pub fn new(dims: usize, points: &'a [f32]) -> Self {
        Scatter {
            title: "",
            subtitle: "",
            dims,
            points,
            ids: None,
            labels: None,
            coloured_by: "",
            choices: &[],
            cards: &[],
            compared: None,
            placed: None,
            clusters: &[],
            names_of: None,
        }
    }

    /// With a headline.
    pub fn title(self, title: &'a str) -> Self {
        Scatter { title, ..self }
    }

    /// With a line under the headline.
    pub fn subtitle(self, subtitle: &'a str) -> Self {
        Scatter { subtitle, ..self }
    }

    /// With a name for each point.
    pub fn ids(self, ids: &'a [String]) -> Self {
        Scatter { ids: Some(ids), ..self }
    }

    /// With a label for each point, to colour by.
    pub fn labels(self, labels: &'a [String]) -> Self {
        Scatter { labels: Some(labels), ..self }
    }

    /// With a name for what the labels are.
    pub fn coloured_by(self, name: &'a str) -> Self {
        Scatter { coloured_by: name, ..self }
    }

    /// With other labels that the reader of the page can choose to colour by.
    pub fn choices(self, choices: &'a [ColourChoice<'a>]) -> Self {
        Scatter { choices, ..self }
    }

    /// With columns that the page shows of a point that is asked for.
    pub fn cards(self, cards: &'a [CardColumn<'a>]) -> Self {
        Scatter { cards, ..self }
    }

    /// With values that the page compares selected points by, one for each point.
    pub fn compared(self, compared: &'a Compared) -> Self {
        Scatter { compared: Some(compared), ..self }
    }

    /// The same map coloured by one of its choices.
    pub(crate) fn by_choice(self, choice: &ColourChoice<'a>) -> Self {
        let placed = self.placed.map(|placed| Placed { labels: choice.placed, ..placed });
        Scatter { labels: Some(choice.labels), coloured_by: choice.name, placed, ..self }
    }

    /// With points placed into the map, drawn over it.
    pub fn placed(self, placed: Placed<'a>) -> Self {
        Scatter { placed: Some(placed), ..self }
    }

    /// With names of clusters. `names_of` is the checksum of the map and what clusters are found by.
    pub fn clusters(self, clusters: &'a [ClusterName], names_of: [&'a str; 2]) -> Self {
        Scatter { clusters, names_of: Some(names_of), ..self }
    }

    /// The number of the map's own points. Whole rows only; [`check`](Self::check) refuses the rest.
    pub(crate) fn len(&self) -> usize {
        self.points.len() / self.dims.max(1)
    }

    /// The layer of placed points, if there are any in it.
    pub(crate) fn newcomers(&self) -> Option<&Placed<'a>> {
        self.placed.as_ref().filter(|placed| !placed.marks.is_empty())
    }

    /// Every coordinate there is to see: of the map's own points, then of those placed.
    pub(crate) fn coordinates(&self) -> impl Iterator<Item = f32> {
        let placed = self.placed.map_or(&[][..], |placed| placed.points);
        self.points.iter().chain(placed).copied()
    }

    /// Refuses whatever cannot be drawn; every picture starts here, and later code relies on it.
    pub(crate) fn check(&self) -> Result<()> {
        const OF: &str = "the map";
        if !(2..=3).contains(&self.dims) {
            return Err(Error::Dimensions(self.dims));
        }
        if self.points.is_empty() {
            return Err(Error::Empty);
        }
        let n = self.len();
        let hint = "give one whole row of coordinates per point";
        same_length("the list of coordinates", OF, self.points.len(), n * self.dims, hint)?;
        let hint = "give one per point or none at all";
        same_length("the list of ids", OF, self.ids.map_or(n, <[String]>::len), n, hint)?;
        same_length("the list of labels", OF, self.labels.map_or(n, <[String]>::len), n, hint)?;
        for choice in self.choices {
            same_length("a list of labels to choose", OF, choice.labels.len(), n, hint)?;
            let (found, placed) = (choice.placed, self.placed.map_or(0, |placed| placed.marks.len()));
            let found = found.map_or(placed, <[String]>::len);
            same_length("a list of labels to choose", "the placed points", found, placed, hint)?;
        }
        cards::check(self.cards, OF, n)?;
        let compared = self.compared.and_then(|compared| compared.rows).unwrap_or(n);
        same_length("a column to compare by", OF, compared, n, "give one value per point")?;
        if let Some(cluster) = self.clusters.iter().find(|cluster| cluster.anchor as usize >= n) {
            return Err(Error::Render(format!(
                "the name {:?} stands at a point beyond the {n} there are",
                cluster.name
            )));
        }
        all_finite(self.points, self.dims, OF)?;
        self.placed.map_or(Ok(()), |placed| placed.check(self.dims))
    }
}

/// Refuses a list that is not as long as its points need it.
pub(crate) fn same_length(
    what: &'static str,
    of: &'static str,
    found: usize,
    expected: usize,
    hint: &'static str,
) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, of, found, expected, hint }) }
}

/// Refuses coordinates that are not finite numbers.
pub(crate) fn all_finite(points: &[f32], dims: usize, of: &'static str) -> Result<()> {
    match points.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(Error::NotFinite { of, row: at / dims, column: at % dims, value: points[at] }),
        None => Ok(()),
    }
}
