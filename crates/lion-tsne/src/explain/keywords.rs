//! The words that set a cluster's texts apart: class-based TF-IDF (Grootendorst 2022, BERTopic: Neural topic modeling with a
//! class-based TF-IDF procedure), over the rows that have a word, so that a long text weighs as much as a short one.

use super::words::Corpus;
use super::{Groups, Keyword};
use rayon::prelude::*;
use std::borrow::Cow;

/// A word in more than this share of the rows tells nothing of any.
const STOP_WORD: f64 = 0.5;
/// A keyword is in so many times the share of the cluster's rows as of the others. Words that all texts have, in whatever
/// language, are not.
const LIFT: f64 = 1.5;
/// A keyword's share differs from that of the others by at least so many standard errors.
const ERRORS: f64 = 4.0;
/// A keyword is in at least so many rows of the cluster.
const FEWEST_ROWS: u32 = 3;

/// The texts of a column, as words.
pub(super) struct Texts(Corpus);

impl Texts {
    pub(super) fn new(texts: &[Cow<'_, str>]) -> Self {
        let most = ((texts.len() as f64 * STOP_WORD) as u32).max(FEWEST_ROWS);
        Self(Corpus::new(texts, FEWEST_ROWS, most))
    }

    /// For each group its keywords, the strongest first, at most so many.
    pub(super) fn keywords(&self, groups: &Groups, most: usize) -> Vec<Vec<Keyword>> {
        let Self(corpus) = self;
        let words: f64 = corpus.rows_with.iter().map(|&count| f64::from(count)).sum();
        // The number of words of an average class.
        let average = words / groups.count().max(1) as f64;
        let of_group = |members: &Vec<u32>| {
            let mut rows_with = vec![0u32; corpus.words.len()];
            members
                .iter()
                .flat_map(|&row| corpus.row(row as usize))
                .for_each(|&word| rows_with[word as usize] += 1);
            let inside = members.len() as f64;
            let outside = groups.rows() as f64 - inside;
            let mut found: Vec<Keyword> = (0..rows_with.len())
                .filter(|&word| rows_with[word] >= FEWEST_ROWS)
                .filter_map(|word| {
                    let (here, all) = (f64::from(rows_with[word]), f64::from(corpus.rows_with[word]));
                    let (share, other) =
                        (here / inside, if outside > 0.0 { (all - here) / outside } else { 0.0 });
                    let error = share_error(here, inside, all - here, outside);
                    let is_apart = share >= LIFT * other && share - other >= ERRORS * error;
                    is_apart.then(|| Keyword {
                        word: corpus.words[word].clone(),
                        share,
                        share_outside: other,
                        error,
                        score: share * (1.0 + average / all).ln(),
                    })
                })
                .collect();
            found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.word.cmp(&b.word)));
            without_variants(found, most)
        };
        groups.members().par_iter().map(of_group).collect()
    }
}

/// The standard error of a difference of two shares; one more row with and one without in each, so that it is not zero
/// where all or none have it (Agresti & Caffo 2000).
pub(super) fn share_error(with: f64, rows: f64, with_outside: f64, outside: f64) -> f64 {
    let variance = |with: f64, rows: f64| {
        let share = (with + 1.0) / (rows + 2.0);
        share * (1.0 - share) / (rows + 2.0)
    };
    (variance(with, rows) + variance(with_outside, outside)).sqrt()
}

/// The first few words, without those that only repeat one before them with another ending.
fn without_variants(words: Vec<Keyword>, most: usize) -> Vec<Keyword> {
    let mut kept: Vec<Keyword> = Vec::new();
    for word in words {
        if kept.len() == most {
            break;
        }
        if !kept.iter().any(|other| is_variant(&word.word, &other.word)) {
            kept.push(word);
        }
    }
    kept
}

/// Whether two words are the same but for an ending of at most two letters: `car` and `cars`.
fn is_variant(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let shared = short.chars().zip(long.chars()).take_while(|(x, y)| x == y).count();
    let (short, long) = (short.chars().count(), long.chars().count());
    shared >= 3 && shared == short && long - shared <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str], groups: &[Option<u32>], count: usize) -> Vec<Vec<String>> {
        let texts: Vec<Cow<'_, str>> = texts.iter().map(|&text| Cow::Borrowed(text)).collect();
        let groups = Groups::new(groups, count);
        let found = Texts::new(&texts).keywords(&groups, 5);
        found.into_iter().map(|words| words.into_iter().map(|keyword| keyword.word).collect()).collect()
    }

    #[test]
    fn words_of_one_group_and_not_those_of_all() {
        let mut texts = Vec::new();
        let mut groups = Vec::new();
        for row in 0..90u32 {
            texts.push(match row % 3 {
                0 => "the game and the goal of a team",
                1 => "the orbit of the moon and a rocket",
                _ => "the disk and drives of the disks",
            });
            groups.push(Some(row % 3));
        }
        let found = of(&texts, &groups, 3);
        assert_eq!(found[0], ["game", "goal", "team"]);
        assert_eq!(found[1], ["moon", "orbit", "rocket"]);
        assert_eq!(found[2], ["disk", "drives"], "disks is disk once more");
    }

    #[test]
    fn one_group_of_everything_has_words_that_not_all_rows_have() {
        let found = of(&["a few words", "other words", ""], &[Some(0), Some(0), Some(0)], 1);
        assert_eq!(found, [Vec::<String>::new()]);
    }
}
