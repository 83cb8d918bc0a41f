//! From labels to colours: which classes there are, or which scale.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::iter::repeat_n;

use crate::palette::{self, Rgb};
use crate::text;
use crate::{Mark, Scatter};

/// How a map, and what is placed into it, is coloured. Points count through: the map's own, then those placed.
pub(crate) struct Colouring<'a> {
    /// The distinct labels: those of the map in natural order, then those that only placed points have. The map's own
    /// colours therefore do not depend on what is placed into it.
    pub(crate) names: Vec<&'a str>,
    /// For each point its place in `names`; empty without labels.
    pub(crate) name_of: Vec<u32>,
    pub(crate) kind: ColouringKind,
    /// The number of the map's own points.
    own: usize,
    /// How the others came to their places.
    marks: &'a [Mark],
}

/// The three ways of colouring.
pub(crate) enum ColouringKind {
    /// No labels: one colour.
    Plain,
    /// A colour per class, and for each name its class.
    Classes { classes: Vec<Class>, class_of: Vec<u8> },
    /// Numbers: a continuous scale, and for each name its number, if it has one.
    Scale { low: f64, high: f64, value_of: Vec<Option<f64>>, missing: usize },
}

/// One entry of the legend.
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) count: Count,
    pub(crate) colour: Rgb,
    /// Whether it is one label, worth writing on the map, and not what is left over.
    pub(crate) named: bool,
}

impl Class {
    /// Whether there are so few that a name written on them would hide them; it stands above them instead.
    pub(crate) fn few(&self) -> bool {
        self.count.own + self.count.placed < 8
    }
}

/// How many points have a label: of the map's own, and of those placed that are coloured by it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) own: usize,
    pub(crate) placed: usize,
}

impl std::fmt::Display for Count {
    /// The map's own, or "+3" for a label that came with placed points.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Count { own: 0, placed: 1.. } => write!(f, "+{}", text::count(self.placed)),
            _ => f.write_str(&text::count(self.own)),
        }
    }
}

impl<'a> Colouring<'a> {
    /// Looks at the labels and decides.
    pub(crate) fn of(map: &Scatter<'a>) -> Self {
        let marks = map.placed.map_or(&[][..], |placed| placed.marks);
        let labels = map.placed.and_then(|placed| placed.labels);
        let mut colouring = Colouring {
            names: Vec::new(),
            name_of: Vec::new(),
            kind: ColouringKind::Plain,
            own: map.len(),
            marks,
        };
        if map.labels.is_none() && labels.is_none() {
            return colouring;
        }
        let own_names;
        (colouring.names, colouring.name_of, own_names) =
            distinct(or_empty(map.labels, map.len()), or_empty(labels, marks.len()));
        let mut counts = vec![Count::default(); colouring.names.len()];
        for (point, &name) in colouring.name_of.iter().enumerate() {
            let count = &mut counts[name as usize];
            if point < colouring.own {
                count.own += 1;
            } else if colouring.by_label(point) {
                count.placed += 1;
            }
        }
        colouring.kind = kind(&colouring.names, &counts, own_names);
        colouring
    }

    /// Whether the label of a point decides its colour: always in the map itself, and where a placed point has one,
    /// unless it is an outlier.
    fn by_label(&self, point: usize) -> bool {
        let Some(at) = point.checked_sub(self.own) else { return true };
        let labelled = || self.name_of.get(point).is_some_and(|&name| !self.names[name as usize].is_empty());
        !self.marks[at].warns() && labelled()
    }

    /// The colour of a point.
    pub(crate) fn colour(&self, point: usize) -> Rgb {
        if !self.by_label(point) {
            let warns = self.marks[point - self.own].warns();
            return if warns { palette::OUTLIER } else { palette::ACCENT };
        }
        let name = || self.name_of[point] as usize;
        match &self.kind {
            ColouringKind::Plain => palette::PLAIN,
            ColouringKind::Classes { classes, class_of } => classes[usize::from(class_of[name()])].colour,
            ColouringKind::Scale { low, high, value_of, .. } => match value_of[name()] {
                Some(value) => palette::scale(share(*low, *high, value)),
                None => palette::UNLABELLED,
            },
        }
    }

    /// For each class a point of it to write its name at: the one nearest to the median of the class, so that the
    /// name of a class in two pieces stands on one of them and not between. None for what is left over.
    pub(crate) fn anchors(&self, dims: usize, unit: &[f32]) -> Vec<Option<u32>> {
        let ColouringKind::Classes { classes, class_of } = &self.kind else { return Vec::new() };
        let mut members: Vec<Vec<u32>> = classes.iter().map(|_| Vec::new()).collect();
        for (point, &name) in self.name_of.iter().enumerate().filter(|(point, _)| self.by_label(*point)) {
            let class = usize::from(class_of[name as usize]);
            // A name stands where the map has the class; only a class that the map does not have, where it was placed.
            if point < self.own || classes[class].count.own == 0 {
                members[class].push(point as u32);
            }
        }
        let pairs = classes.iter().zip(&members);
        pairs.map(|(class, of)| class.named.then(|| middle(dims, unit, of)).flatten()).collect()
    }
}

/// The labels without the space around them, or as many empty ones.
fn or_empty(labels: Option<&[String]>, n: usize) -> impl Iterator<Item = &str> {
    let missing = if labels.is_none() { n } else { 0 };
    labels.unwrap_or_default().iter().map(|label| label.trim()).chain(repeat_n("", missing))
}

/// Which way of colouring suits these names, of which the first `own` are the map's. Where the map has labels they
/// alone decide, and what placed points bring has to fit in.
fn kind(names: &[&str], counts: &[Count], own: usize) -> ColouringKind {
    let real = |names: &[&str]| names.iter().filter(|name| !name.is_empty()).count();
    let deciding = if real(&names[..own]) > 0 { own } else { names.len() };
    match real(&names[..deciding]) {
        0 => ColouringKind::Plain,
        1..=palette::MOST_CLASSES => classes(names, counts, palette::MOST_CLASSES),
        _ => scale(names, counts, deciding)
            .unwrap_or_else(|| classes(names, counts, palette::MOST_CLASSES - 1)),
    }
}

/// How far along from low to high; by halves, since the span of finite numbers need not be finite.
fn share(low: f64, high: f64, value: f64) -> f64 {
    let span = high / 2.0 - low / 2.0;
    if span > 0.0 { (value / 2.0 - low / 2.0) / span } else { 0.5 }
}

/// The distinct labels, for each point its place among them, and how many of them the map's own points have: these
/// come first.
fn distinct<'a>(
    own: impl Iterator<Item = &'a str>,
    placed: impl Iterator<Item = &'a str>,
) -> (Vec<&'a str>, Vec<u32>, usize) {
    let mut seen: HashMap<&str, u32> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    let mut number = |label| {
        *seen.entry(label).or_insert_with(|| {
            names.push(label);
            names.len() as u32 - 1
        })
    };
    let mut found: Vec<u32> = own.map(&mut number).collect();
    let known = found.iter().max().map_or(0, |&last| last + 1);
    found.extend(placed.map(number));
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by(|&a, &b| {
        (a >= known).cmp(&(b >= known)).then_with(|| natural(names[a as usize], names[b as usize]))
    });
    let mut place = vec![0_u32; names.len()];
    order.iter().enumerate().for_each(|(at, &name)| place[name as usize] = at as u32);
    let sorted = order.iter().map(|&name| names[name as usize]).collect();
    (sorted, found.into_iter().map(|name| place[name as usize]).collect(), known as usize)
}

/// Numbers by value and before words; words by their letters, but digits within them by value ("run 9" < "run 10").
fn natural(a: &str, b: &str) -> Ordering {
    match (finite(a), finite(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => pieces(a).cmp(pieces(b)).then_with(|| a.cmp(b)),
    }
}

/// Runs of digits, as (0, how many, the digits), and single letters, as (1, letter, ""): these compare naturally.
fn pieces(text: &str) -> impl Iterator<Item = (u8, usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(if digits > 0 { digits } else { first.len_utf8() });
        rest = tail;
        let value = head.trim_start_matches('0');
        Some(if digits > 0 { (0, value.len(), value) } else { (1, first as usize, "") })
    })
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The `most` most frequent labels, each a class, those of the map before all others; whatever else there is in
/// "other", and in "unlabelled".
fn classes(names: &[&str], counts: &[Count], most: usize) -> ColouringKind {
    // A label that colours nothing, since only outliers have it, needs no class.
    let colours = |name: usize| counts[name].own + counts[name].placed > 0;
    let mut by_count: Vec<usize> =
        (0..names.len()).filter(|&name| !names[name].is_empty() && colours(name)).collect();
    by_count.sort_by_key(|&name| std::cmp::Reverse((counts[name].own, counts[name].placed)));
    let (kept, rest) = by_count.split_at(most.min(by_count.len()));
    let mut kept = kept.to_vec();
    kept.sort_unstable();

    let mut classes = Vec::new();
    let mut class_of = vec![0_u8; names.len()];
    let mut add = |members: &[usize], name: String, colour: Rgb, named: bool| {
        let sum = |of: fn(&Count) -> usize| members.iter().map(|&member| of(&counts[member])).sum();
        let count = Count { own: sum(|count| count.own), placed: sum(|count| count.placed) };
        members.iter().for_each(|&member| class_of[member] = classes.len() as u8);
        classes.push(Class { name, count, colour, named });
    };
    for (&name, &colour) in kept.iter().zip(&palette::CLASSES) {
        add(&[name], names[name].to_owned(), colour, true);
    }
    if !rest.is_empty() {
        let name = if rest.len() == 1 { "1 other".to_owned() } else { format!("{} others", rest.len()) };
        add(rest, name, palette::OTHER, false);
    }
    if let Some(empty) = names.iter().position(|name| name.is_empty()).filter(|&name| colours(name)) {
        add(&[empty], "unlabelled".to_owned(), palette::UNLABELLED, false);
    }
    ColouringKind::Classes { classes, class_of }
}

/// A continuous scale, if each of the first `deciding` labels is a number or missing; these span it.
fn scale(names: &[&str], counts: &[Count], deciding: usize) -> Option<ColouringKind> {
    let value_of: Vec<Option<f64>> = names.iter().map(|name| finite(name)).collect();
    let is_missing = |name: &str| name.is_empty() || name.eq_ignore_ascii_case("nan");
    let mut pairs = names.iter().zip(&value_of).take(deciding);
    if pairs.any(|(name, value)| value.is_none() && !is_missing(name)) {
        return None;
    }
    let values = || value_of[..deciding].iter().flatten().copied();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let missing =
        value_of.iter().zip(counts).filter(|(value, _)| value.is_none()).map(|(_, count)| count.own).sum();
    Some(ColouringKind::Scale { low, high, value_of, missing })
}

/// The member nearest to the median, axis by axis, of the members.
fn middle(dims: usize, unit: &[f32], members: &[u32]) -> Option<u32> {
    let at = |point: u32, axis: usize| unit[point as usize * dims + axis];
    let mut median = [0.0_f32; 3];
    for (axis, middle) in median.iter_mut().enumerate().take(dims) {
        let mut values: Vec<f32> = members.iter().map(|&point| at(point, axis)).collect();
        if values.is_empty() {
            return None;
        }
        let half = values.len() / 2;
        *middle = *values.select_nth_unstable_by(half, f32::total_cmp).1;
    }
    let distance = |point: u32| (0..dims).map(|axis| (at(point, axis) - median[axis]).powi(2)).sum::<f32>();
    members.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Placed;

    #[test]
    fn labels_sort_as_people_count() {
        let mut names = ["run 10", "b", "run 9", "10", "9", "-1", "a", "run 09"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["-1", "9", "10", "a", "b", "run 09", "run 9", "run 10"]);
    }

    #[test]
    fn many_words_become_nineteen_and_the_rest() {
        let labels: Vec<String> =
            (0..1000).flat_map(|i| vec![format!("w{i}"); 1 + (i < 30) as usize]).collect();
        let points = vec![0.0; labels.len() * 2];
        let colouring = Colouring::of(&Scatter::new(2, &points).labels(&labels));
        let ColouringKind::Classes { classes, .. } = &colouring.kind else { panic!("words are classes") };
        assert_eq!(classes.len(), 20);
        assert_eq!(classes[19].name, "981 others");
        assert_eq!(classes.iter().map(|class| class.count.own).sum::<usize>(), labels.len());
    }

    #[test]
    fn many_numbers_become_a_scale_even_where_some_are_missing() {
        let mut labels: Vec<String> = (0..50).map(|i| (i as f64 / 7.0).to_string()).collect();
        labels.push(String::new());
        labels.push("NaN".to_owned());
        let points = vec![0.0; labels.len() * 2];
        let colouring = Colouring::of(&Scatter::new(2, &points).labels(&labels));
        let ColouringKind::Scale { low, high, missing, .. } = colouring.kind else {
            panic!("numbers are a scale")
        };
        assert_eq!((low, high, missing), (0.0, 7.0, 2));
        assert_eq!(colouring.colour(51), palette::UNLABELLED);
        assert_eq!(colouring.colour(0), palette::SCALE[0]);
    }

    #[test]
    fn placed_labels_leave_the_colours_of_the_map_alone() {
        let own = ["b", "d"].map(String::from);
        let new = ["a", "d", "", "noise"].map(String::from);
        let marks = [Mark::Interpolated, Mark::Exact, Mark::Interpolated, Mark::Outlier];
        let map = Scatter::new(2, &[0.0; 4]).labels(&own);
        let before = Colouring::of(&map);
        let both = map.placed(Placed::new(&[0.0; 8], &marks).labels(&new));
        let after = Colouring::of(&both);
        let colours: Vec<Rgb> = (0..6).map(|point| after.colour(point)).collect();
        assert_eq!(colours[..2], [before.colour(0), before.colour(1)]);
        let [b, d, a] = [0, 1, 2].map(|class| palette::CLASSES[class]);
        assert_eq!(colours, [b, d, a, d, palette::ACCENT, palette::OUTLIER]);
        let ColouringKind::Classes { classes, .. } = &after.kind else { panic!("words are classes") };
        let told: Vec<_> = classes.iter().map(|class| (&*class.name, class.count.to_string())).collect();
        assert_eq!(told, [("b", "1".to_owned()), ("d", "1".to_owned()), ("a", "+1".to_owned())]);
        assert_eq!(after.anchors(2, &[0.0; 12]), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn placed_labels_fit_into_the_scale_of_the_map() {
        let own: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        let new = ["1000", "blue", "29.0"].map(String::from);
        let points = [0.0; 60];
        let map = Scatter::new(2, &points).labels(&own);
        let map = map.placed(Placed::new(&[0.0; 6], &[Mark::Interpolated; 3]).labels(&new));
        let colouring = Colouring::of(&map);
        assert!(matches!(colouring.kind, ColouringKind::Scale { low: 0.0, high: 29.0, missing: 0, .. }));
        let end = palette::SCALE[palette::SCALE.len() - 1];
        assert_eq!([30, 31, 32].map(|point| colouring.colour(point)), [end, palette::UNLABELLED, end]);
    }
}
