//! From labels to colours: which classes there are, or which scale.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::Scatter;
use crate::palette::{self, Rgb};

/// How a map is coloured.
pub(crate) struct Colouring<'a> {
    /// The distinct labels, in natural order.
    pub(crate) names: Vec<&'a str>,
    /// For each point its place in `names`; empty without labels.
    pub(crate) name_of: Vec<u32>,
    pub(crate) kind: Kind,
}

/// The three ways of colouring.
pub(crate) enum Kind {
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
    pub(crate) count: usize,
    pub(crate) colour: Rgb,
    /// Whether it is one label, worth writing on the map, and not what is left over.
    pub(crate) named: bool,
}

impl Class {
    /// Whether there are so few that a name written on them would hide them; it stands above them instead.
    pub(crate) fn few(&self) -> bool {
        self.count < 8
    }
}

impl<'a> Colouring<'a> {
    /// Looks at the labels and decides.
    pub(crate) fn of(map: &Scatter<'a>) -> Self {
        let Some(labels) = map.labels else {
            return Colouring { names: Vec::new(), name_of: Vec::new(), kind: Kind::Plain };
        };
        let (names, name_of) = distinct(labels);
        let mut counts = vec![0_usize; names.len()];
        name_of.iter().for_each(|&name| counts[name as usize] += 1);
        let real = names.iter().filter(|name| !name.is_empty()).count();
        let kind = if real == 0 {
            Kind::Plain
        } else if real <= palette::MOST_CLASSES {
            classes(&names, &counts, palette::MOST_CLASSES)
        } else {
            scale(&names, &counts).unwrap_or_else(|| classes(&names, &counts, palette::MOST_CLASSES - 1))
        };
        Colouring { names, name_of, kind }
    }

    /// The colour of a point.
    pub(crate) fn colour(&self, point: usize) -> Rgb {
        let name = || self.name_of[point] as usize;
        match &self.kind {
            Kind::Plain => palette::PLAIN,
            Kind::Classes { classes, class_of } => classes[usize::from(class_of[name()])].colour,
            Kind::Scale { low, high, value_of, .. } => match value_of[name()] {
                Some(value) => palette::scale(share(*low, *high, value)),
                None => palette::UNLABELLED,
            },
        }
    }

    /// For each class a point of it to write its name at: the one nearest to the median of the class, so that the
    /// name of a class in two pieces stands on one of them and not between. None for what is left over.
    pub(crate) fn anchors(&self, dims: usize, unit: &[f32]) -> Vec<Option<u32>> {
        let Kind::Classes { classes, class_of } = &self.kind else { return Vec::new() };
        let mut members: Vec<Vec<u32>> =
            classes.iter().map(|class| Vec::with_capacity(class.count)).collect();
        for (point, &name) in self.name_of.iter().enumerate() {
            members[usize::from(class_of[name as usize])].push(point as u32);
        }
        let pairs = classes.iter().zip(&members);
        pairs.map(|(class, of)| class.named.then(|| middle(dims, unit, of)).flatten()).collect()
    }
}

/// How far along from low to high; by halves, since the span of finite numbers need not be finite.
fn share(low: f64, high: f64, value: f64) -> f64 {
    let span = high / 2.0 - low / 2.0;
    if span > 0.0 { (value / 2.0 - low / 2.0) / span } else { 0.5 }
}

fn distinct(labels: &[String]) -> (Vec<&str>, Vec<u32>) {
    let mut seen: HashMap<&str, u32> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    let found: Vec<u32> = labels
        .iter()
        .map(|label| {
            let label = label.trim();
            *seen.entry(label).or_insert_with(|| {
                names.push(label);
                names.len() as u32 - 1
            })
        })
        .collect();
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by(|&a, &b| natural(names[a as usize], names[b as usize]));
    let mut place = vec![0_u32; names.len()];
    order.iter().enumerate().for_each(|(at, &name)| place[name as usize] = at as u32);
    let sorted = order.iter().map(|&name| names[name as usize]).collect();
    (sorted, found.into_iter().map(|name| place[name as usize]).collect())
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

/// The `most` most frequent labels, each a class; whatever else there is in "other", and in "unlabelled".
fn classes(names: &[&str], counts: &[usize], most: usize) -> Kind {
    let mut by_count: Vec<usize> = (0..names.len()).filter(|&name| !names[name].is_empty()).collect();
    by_count.sort_by_key(|&name| (std::cmp::Reverse(counts[name]), name));
    let (kept, rest) = by_count.split_at(most.min(by_count.len()));
    let mut kept = kept.to_vec();
    kept.sort_unstable();

    let mut classes = Vec::new();
    let mut class_of = vec![0_u8; names.len()];
    let mut add = |members: &[usize], name: String, colour: Rgb, named: bool| {
        let count = members.iter().map(|&member| counts[member]).sum();
        members.iter().for_each(|&member| class_of[member] = classes.len() as u8);
        classes.push(Class { name, count, colour, named });
    };
    for (&name, &colour) in kept.iter().zip(&palette::CLASSES) {
        add(&[name], names[name].to_owned(), colour, true);
    }
    if !rest.is_empty() {
        add(rest, format!("{} others", rest.len()), palette::OTHER, false);
    }
    if let Some(empty) = names.iter().position(|name| name.is_empty()) {
        add(&[empty], "unlabelled".to_owned(), palette::UNLABELLED, false);
    }
    Kind::Classes { classes, class_of }
}

/// A continuous scale, if every label is a number or missing.
fn scale(names: &[&str], counts: &[usize]) -> Option<Kind> {
    let value_of: Vec<Option<f64>> = names.iter().map(|name| finite(name)).collect();
    let is_missing = |name: &str| name.is_empty() || name.eq_ignore_ascii_case("nan");
    if names.iter().zip(&value_of).any(|(name, value)| value.is_none() && !is_missing(name)) {
        return None;
    }
    let low = value_of.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let high = value_of.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let missing =
        value_of.iter().zip(counts).filter(|(value, _)| value.is_none()).map(|(_, &count)| count).sum();
    Some(Kind::Scale { low, high, value_of, missing })
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
        let Kind::Classes { classes, .. } = &colouring.kind else { panic!("words are classes") };
        assert_eq!(classes.len(), 20);
        assert_eq!(classes[19].name, "981 others");
        assert_eq!(classes.iter().map(|class| class.count).sum::<usize>(), labels.len());
    }

    #[test]
    fn many_numbers_become_a_scale_even_where_some_are_missing() {
        let mut labels: Vec<String> = (0..50).map(|i| (i as f64 / 7.0).to_string()).collect();
        labels.push(String::new());
        labels.push("NaN".to_owned());
        let points = vec![0.0; labels.len() * 2];
        let colouring = Colouring::of(&Scatter::new(2, &points).labels(&labels));
        let Kind::Scale { low, high, missing, .. } = colouring.kind else { panic!("numbers are a scale") };
        assert_eq!((low, high, missing), (0.0, 7.0, 2));
        assert_eq!(colouring.colour(51), palette::UNLABELLED);
        assert_eq!(colouring.colour(0), palette::SCALE[0]);
    }
}
