//! The words of texts, in any language: which rows have which.
//!
//! Words are runs of letters by the classes of Unicode, in lower case. Scripts without spaces between words (Chinese,
//! Japanese) become pairs of neighbouring characters.

use rayon::prelude::*;
use std::collections::HashMap;

/// Words of fewer letters say little; characters of scripts without spaces come in pairs.
const SHORTEST: usize = 2;
/// Longer runs of letters are no words.
const LONGEST: usize = 40;
/// Rows that are read together.
const BLOCK: usize = 1024;

/// Which words each row has.
pub(super) struct Corpus {
    /// The words, sorted.
    pub(super) words: Vec<String>,
    /// How many rows have each.
    pub(super) rows_with: Vec<u32>,
    /// Where the words of each row begin, and after the last row, where they end.
    offsets: Vec<usize>,
    /// The words of the rows by number, each once for a row, in ascending order.
    of_rows: Vec<u32>,
}

/// The words of a block of rows, by numbers that only the block knows.
struct Block {
    words: Vec<String>,
    rows: Vec<Vec<u32>>,
}

impl Corpus {
    /// The words that at least `fewest` and at most `most` rows have.
    pub(super) fn new<T: AsRef<str> + Sync>(texts: &[T], fewest: u32, most: u32) -> Self {
        let blocks: Vec<Block> = texts.par_chunks(BLOCK).map(Block::new).collect();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for block in &blocks {
            let mut in_block = vec![0; block.words.len()];
            block.rows.iter().flatten().for_each(|&word| in_block[word as usize] += 1);
            for (word, count) in block.words.iter().zip(in_block) {
                *counts.entry(word).or_default() += count;
            }
        }
        let mut kept: Vec<(&str, u32)> =
            counts.into_iter().filter(|(_, count)| (fewest..=most).contains(count)).collect();
        kept.sort_unstable();
        let number: HashMap<&str, u32> = kept.iter().map(|(word, _)| *word).zip(0..).collect();
        let (mut offsets, mut of_rows) = (vec![0], Vec::new());
        for block in &blocks {
            let known: Vec<Option<u32>> =
                block.words.iter().map(|word| number.get(word.as_str()).copied()).collect();
            for row in &block.rows {
                let start = of_rows.len();
                of_rows.extend(row.iter().filter_map(|&word| known[word as usize]));
                of_rows[start..].sort_unstable();
                offsets.push(of_rows.len());
            }
        }
        let rows_with = kept.iter().map(|(_, count)| *count).collect();
        let words = kept.into_iter().map(|(word, _)| word.to_owned()).collect();
        Self { words, rows_with, offsets, of_rows }
    }

    /// The words of a row, by number.
    pub(super) fn row(&self, row: usize) -> &[u32] {
        &self.of_rows[self.offsets[row]..self.offsets[row + 1]]
    }
}

impl Block {
    fn new<T: AsRef<str>>(texts: &[T]) -> Self {
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut rows = Vec::with_capacity(texts.len());
        for text in texts {
            let mut row: Vec<u32> = Vec::new();
            each_word(text.as_ref(), &mut |word| {
                let next = known.len() as u32;
                let number = match known.get(word) {
                    Some(&number) => number,
                    None => *known.entry(word.to_owned()).or_insert(next),
                };
                row.push(number);
            });
            row.sort_unstable();
            row.dedup();
            rows.push(row);
        }
        let mut words = vec![String::new(); known.len()];
        known.into_iter().for_each(|(word, number)| words[number as usize] = word);
        Self { words, rows }
    }
}

/// What a character is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter, or a mark on one.
    Letter,
    Digit,
    /// A letter of a script that does not put spaces between words.
    Unspaced,
    /// Inside a word if letters are on both sides: can't, l'été.
    Joiner,
    Other,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Digit,
        '\'' | '\u{2019}' => Class::Joiner,
        // Han, Hiragana and Katakana; full-width forms and punctuation between them are none.
        '\u{3005}' | '\u{3040}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' => {
            Class::Unspaced
        }
        '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' => Class::Unspaced,
        // Combining accents, and the signs of Hebrew, Arabic and the scripts of India that are no letters by themselves.
        '\u{0300}'..='\u{036F}'
        | '\u{0591}'..='\u{05C7}'
        | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' => Class::Letter,
        '\u{0964}' | '\u{0965}' => Class::Other,
        '\u{0900}'..='\u{0DFF}' | '\u{0E00}'..='\u{0EFF}' | '\u{200C}' | '\u{200D}' => Class::Letter,
        c if c.is_alphabetic() => Class::Letter,
        c if c.is_numeric() => Class::Digit,
        _ => Class::Other,
    }
}

/// Tells every word of a text, in lower case.
fn each_word(text: &str, tell: &mut impl FnMut(&str)) {
    let mut word = String::new();
    let mut letters = 0;
    let mut before: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let kind = class(c);
        let mut next_is_letter = || characters.peek().is_some_and(|&next| class(next) == Class::Letter);
        match kind {
            Class::Letter | Class::Digit => {
                word.extend(c.to_lowercase());
                letters += usize::from(kind == Class::Letter);
            }
            Class::Joiner if letters > 0 && next_is_letter() => word.push('\''),
            _ => {
                finish(&mut word, &mut letters, tell);
            }
        }
        if kind == Class::Unspaced
            && let Some(first) = before
        {
            let mut pair = String::with_capacity(8);
            pair.extend([first, c]);
            // Two signs of Hiragana are mostly grammar.
            if !is_hiragana(first) || !is_hiragana(c) {
                tell(&pair);
            }
        }
        before = (kind == Class::Unspaced).then_some(c);
    }
    finish(&mut word, &mut letters, tell);
}

fn is_hiragana(c: char) -> bool {
    ('\u{3040}'..='\u{309F}').contains(&c)
}

/// Ends a word: one that is long enough and not digits alone.
fn finish(word: &mut String, letters: &mut usize, tell: &mut impl FnMut(&str)) {
    if *letters > 0 && (SHORTEST..=LONGEST).contains(&word.chars().count()) {
        tell(word);
    }
    word.clear();
    *letters = 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, &mut |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn words_of_many_scripts() {
        assert_eq!(words("The CPU's 2 GHz, x86-64; a 42!"), ["the", "cpu's", "ghz", "x86"]);
        assert_eq!(words("l\u{2019}été 'quoted' naïve"), ["l'été", "quoted", "naïve"]);
        assert_eq!(words("Straße ΣΊΣΥΦΟΣ Москва"), ["straße", "σίσυφοσ", "москва"]);
        assert_eq!(words("हिन्दी में लिखा।"), ["हिन्दी", "में", "लिखा"]);
        assert_eq!(words("東京は大きい"), ["東京", "京は", "は大", "大き"]);
        assert_eq!(words("한국어 문장 e\u{0301}te\u{0301}"), ["한국어", "문장", "e\u{0301}te\u{0301}"]);
    }

    #[test]
    fn rows_with_a_word_are_counted_once() {
        let corpus = Corpus::new(&["cat cat dog", "dog", "the dog bird", ""], 1, 2);
        assert_eq!(corpus.words, ["bird", "cat", "the"]);
        assert_eq!(corpus.rows_with, [1, 1, 1]);
        assert_eq!(
            (0..4).map(|row| corpus.row(row).to_vec()).collect::<Vec<_>>(),
            [vec![1], vec![], vec![0, 2], vec![]]
        );
    }

    proptest! {
        #[test]
        fn any_text_has_words_without_spaces(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(!word.is_empty() && !word.contains(char::is_whitespace));
            }
        }
    }
}
