//! Tokens, and what each of them allows.

use axum::http::Method;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// What a caller may do. Each may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look at everything.
    Read,
    /// Put and remove points, give titles, note what they think of alarms.
    Write,
    /// Update the map and go back.
    Admin,
}

lion_tsne::named!(Role, "role": Read = "read", Write = "write", Admin = "admin");

impl Role {
    /// What a request needs, by its address within a map.
    pub(super) fn needed(method: &Method, path: &str) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Read,
            // It asks with a body, and changes nothing.
            _ if path == "/api/explain" => Self::Read,
            _ if path.starts_with("/api/map/") => Self::Admin,
            _ => Self::Write,
        }
    }
}

/// The tokens that callers may show.
#[derive(Clone)]
pub struct Tokens(Arc<[KnownToken]>);

struct KnownToken {
    token: Token,
    role: Role,
    /// The maps that it is for; all of them if there is none.
    maps: Vec<String>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

impl Tokens {
    /// Takes the text of a token file: one token, which allows everything, or a line for each token, with its role before
    /// it and the maps that it is for after it. Lines that begin with # are notes.
    pub fn new(text: &str) -> Result<Self, String> {
        let lines = || text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
        let lines: Vec<(Vec<&str>, usize)> = lines()
            .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
            .map(|(line, number)| (line.split_whitespace().collect(), number))
            .collect();
        if let [(words, _)] = &lines[..]
            && let [token] = words[..]
        {
            return Ok(Self(
                [KnownToken { token: Token::new(token)?, role: Role::Admin, maps: Vec::new() }].into(),
            ));
        }
        if lines.is_empty() {
            return Err(Token::new("").map_or_else(|problem| problem, |_| String::new()));
        }
        let known = lines.iter().map(|(words, number)| {
            KnownToken::new(words).map_err(|problem| format!("line {number}: {problem}"))
        });
        Ok(Self(known.collect::<Result<Vec<_>, _>>()?.into()))
    }

    /// Maps that a token is for, and that nobody may have meant.
    pub fn maps(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|known| &known.maps).map(String::as_str)
    }

    /// The most that shown tokens allow in a map, and the token that does. Without a name, in any map.
    pub(super) fn role<'a>(
        &self,
        shown: impl Iterator<Item = &'a [u8]>,
        map: Option<&str>,
    ) -> Option<(Role, &Token)> {
        let is_for = |known: &KnownToken| {
            known.maps.is_empty() || map.is_none_or(|map| known.maps.iter().any(|own| own == map))
        };
        let shown: Vec<&[u8]> = shown.collect();
        let known =
            self.0.iter().filter(|known| is_for(known) && shown.iter().any(|shown| known.token.is(shown)));
        known.max_by_key(|known| known.role).map(|known| (known.role, &known.token))
    }
}

impl KnownToken {
    fn new(words: &[&str]) -> Result<Self, String> {
        let [role, token, maps @ ..] = words else {
            return Err("it must be a role, which is read, write or admin, then a token, then the maps that it is for".into());
        };
        // Not what stands there: that is the token where somebody mixed up the order.
        let role =
            role.parse().map_err(|_| "it does not begin with a role, which is read, write or admin")?;
        let maps = maps.iter().map(|map| (*map).to_owned()).collect();
        Ok(Self { token: Token::new(token)?, role, maps })
    }
}

/// A secret that callers must show.
#[derive(Clone)]
pub(super) struct Token(Arc<str>);

/// A shorter one could be guessed.
const SHORTEST_TOKEN: usize = 16;

impl Token {
    fn new(token: &str) -> Result<Self, String> {
        if token.len() < SHORTEST_TOKEN {
            return Err(format!(
                "the token has {} characters and needs at least {SHORTEST_TOKEN}: make one with `openssl rand -hex 32`",
                token.len()
            ));
        }
        // These go through headers, cookies and addresses as they are.
        match token.chars().find(|c| !c.is_ascii_alphanumeric() && !"-._~".contains(*c)) {
            Some(c) => Err(format!("the token holds {c:?}; it may hold letters, digits and -._~")),
            None => Ok(Self(token.into())),
        }
    }

    /// Whether it is this one; how long that takes does not tell how much of it is right.
    fn is(&self, shown: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(shown).into()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_plain() {
        assert!(Tokens::new("short").unwrap_err().contains("5 characters"));
        assert!(Tokens::new("\n").unwrap_err().contains("0 characters"));
        assert!(Tokens::new("0123456789abcdef;").unwrap_err().contains("';'"));
        let tokens = Tokens::new(" 0123456789abcdef\n").expect("it is long enough");
        let role = |shown: &'static [u8]| tokens.role([shown].into_iter(), Some("any")).map(|(role, _)| role);
        assert_eq!(role(b"0123456789abcdef"), Some(Role::Admin));
        for wrong in [&b"0123456789abcdeg"[..], b"0123456789abcde", b"", b"0123456789abcdef0"] {
            assert_eq!(role(wrong), None);
        }
        assert_eq!(format!("{tokens:?}"), "1 tokens");
    }

    #[test]
    fn roles_and_maps_are_read() {
        let text = "# who reads\nread 0123456789abcdef\n\nwrite abcdefghijklmnop oaks birches\nadmin ABCDEFGHIJKLMNOP oaks\n";
        let tokens = Tokens::new(text).unwrap();
        let role = |shown: &[&'static str], map: Option<&str>| {
            tokens.role(shown.iter().map(|shown| shown.as_bytes()), map).map(|(role, _)| role)
        };
        assert_eq!(role(&["0123456789abcdef"], Some("firs")), Some(Role::Read));
        assert_eq!(role(&["abcdefghijklmnop"], Some("firs")), None);
        assert_eq!(role(&["abcdefghijklmnop"], Some("birches")), Some(Role::Write));
        assert_eq!(role(&["abcdefghijklmnop", "ABCDEFGHIJKLMNOP"], Some("oaks")), Some(Role::Admin));
        assert_eq!(role(&["ABCDEFGHIJKLMNOP"], Some("birches")), None);
        assert_eq!(role(&["ABCDEFGHIJKLMNOP"], None), Some(Role::Admin));
        assert_eq!(tokens.maps().collect::<Vec<_>>(), ["oaks", "birches", "oaks"]);
        for (bad, said) in [
            ("read 0123456789abcdef\nowner abcdefghijklmnop", "line 2: it does not begin with a role"),
            ("read", "4 characters"),
            ("read 0123456789abcdef\nwrite", "line 2: it must be a role"),
            ("read short\nwrite abcdefghijklmnop", "line 1: the token has 5 characters"),
        ] {
            let problem = Tokens::new(bad).unwrap_err();
            assert!(problem.contains(said), "{bad}: {problem}");
        }
    }

    #[test]
    fn what_a_request_needs() {
        assert_eq!(Role::needed(&Method::GET, "/api/map/update"), Role::Read);
        assert_eq!(Role::needed(&Method::POST, "/api/map/revert"), Role::Admin);
        assert_eq!(Role::needed(&Method::DELETE, "/api/map/update"), Role::Admin);
        assert_eq!(Role::needed(&Method::PUT, "/api/clusters/a"), Role::Write);
        assert_eq!(Role::needed(&Method::POST, "/api/points"), Role::Write);
        assert_eq!(Role::needed(&Method::POST, "/api/explain"), Role::Read);
    }
}
