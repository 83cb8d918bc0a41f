//! Words in pictures: escaped, measured, shortened.

/// Text made safe inside XML and HTML, in elements and in quoted attributes. Line breaks become spaces, and
/// characters that XML forbids become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// The width of a text in units of its font size: an estimate, a little on the wide side, that needs no font.
pub(crate) fn width(text: &str) -> f32 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f32 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.30,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '"' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.92,
        'A'..='Z' => 0.72,
        '\0'..='\u{2e7f}' => 0.63,
        _ => 1.05,
    }
}

/// The text, or as much of its beginning as fits `available` units of font size, with an ellipsis.
pub(crate) fn shorten(text: &str, available: f32) -> String {
    if width(text) <= available {
        return text.to_owned();
    }
    let mut used = char_width('…');
    let mut out = String::new();
    for c in text.chars() {
        used += char_width(c);
        if used > available {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// The text in lines that fit `available` units of font size, broken between words; a word that is too long alone is
/// shortened.
pub(crate) fn wrap(text: &str, available: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= available => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shorten(word, available)),
        }
    }
    lines
}

/// 1234567 as "1,234,567".
pub(crate) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// "1 point", "2 points".
pub(crate) fn points(n: usize) -> String {
    format!("{} point{}", count(n), if n == 1 { "" } else { "s" })
}

/// A number for a colour bar: about four significant digits, and no longer than it need be.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!([0, 999, 1000, 60000, 1_234_567].map(count), ["0", "999", "1,000", "60,000", "1,234,567"]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 1.0, 0.25, 1234.567, -2.34567, 2e9].map(number),
            ["0", "1", "0.25", "1235", "-2.346", "2.00e9"]
        );
    }

    #[test]
    fn wrapped_text_fits_and_loses_no_word() {
        let text = "Distance of the outliers from the nearest row, by method";
        for available in [6.0, 12.0, 100.0] {
            let lines = wrap(text, available);
            assert!(lines.iter().all(|line| width(line) <= available), "{lines:?}");
            assert_eq!(lines.join(" "), text);
        }
        assert!(wrap("  ", 5.0).is_empty());
        assert_eq!(wrap("incomprehensibilities", 3.0).len(), 1);
    }

    #[test]
    fn shortened_text_fits() {
        for available in [0.0, 1.0, 3.0, 10.0] {
            let short = shorten("Ankle boots and other shoes", available);
            assert!(width(&short) <= available.max(char_width('…')), "{short}");
        }
        assert_eq!(shorten("short", 10.0), "short");
    }
}
