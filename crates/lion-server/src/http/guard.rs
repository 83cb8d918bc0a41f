//! Who may call: the name called by, the page that calls, the token; and what browsers are told of every answer.
//!
//! A service on the loopback address can be reached by any page that a browser on the machine shows. Such a page cannot
//! call it under a name of ours (Host), and says where it comes from (Origin, Sec-Fetch-Site).

use super::error::Problem;
use super::tokens::{Role, Token};
use super::{App, HttpConfig};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// The names by which a service may be called.
#[derive(Clone, Debug)]
pub struct Hosts {
    ip: IpAddr,
    names: Vec<String>,
    /// Cookies do not tell ports apart, so that two services on one machine need names of their own.
    pub(super) cookie: String,
}

impl From<SocketAddr> for Hosts {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}

impl Hosts {
    /// The address itself, and `localhost` where that is the same. A service on all addresses of a machine may be called
    /// by any of them.
    pub fn new(address: SocketAddr) -> Self {
        Self { ip: address.ip(), names: Vec::new(), cookie: format!("lion-{}", address.port()) }
    }

    /// Those of a socket file, which is called as this machine.
    pub fn at_socket(path: &Path) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let cookie = format!("lion-{}", path.to_string_lossy().chars().map(plain).collect::<String>());
        Self { ip: Ipv4Addr::LOCALHOST.into(), names: Vec::new(), cookie }
    }

    /// Another name, with or without a port.
    pub fn allow(mut self, name: &str) -> Self {
        self.names.push(without_port(name).to_ascii_lowercase());
        self
    }

    /// Whether a Host header names this service. The port is not looked at: it may be forwarded from another.
    fn contains(&self, host: &str) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        let ip = self.ip;
        if self.names.contains(&name) {
            return true;
        }
        match address(&name) {
            // A page can get a browser to take its own name for any address, but not another name for an address.
            Some(called) => called == ip || ip.is_unspecified() || ip.is_loopback() && called.is_loopback(),
            None => name == "localhost" && (ip.is_loopback() || ip.is_unspecified()),
        }
    }
}

/// The address that a name is: one of version 6 in brackets, or without if no port follows.
fn address(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => name.parse().ok(),
    }
}

/// The name in `name:port` or `[address]:port`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

/// What the caller of a request may do.
#[derive(Clone, Copy)]
pub(super) struct Caller(pub(super) Role);

/// Refuses who may not call.
pub(super) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    guarded(&app.config, Some(&app.config.name), request, next).await
}

/// The same for one map or, without a name, for what is of no map.
pub(super) async fn guarded(
    config: &HttpConfig,
    map: Option<&str>,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(config, map, request.method(), request.uri(), request.headers()) {
        Ok(Admitted::Caller(role)) => {
            request.extensions_mut().insert(Caller(role));
            next.run(request).await
        }
        Ok(Admitted::Welcome(page)) => page,
        Err(problem) => problem.into_response(),
    }
}

/// What becomes of a request that is not refused.
enum Admitted {
    /// It is let through.
    Caller(Role),
    /// It is answered with the cookie for a token in the address.
    Welcome(Response),
}

fn admit(
    config: &HttpConfig,
    map: Option<&str>,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Admitted, Problem> {
    // Whoever probes whether the service is there need know nothing, and learns nothing else.
    if uri.path() == "/healthz" {
        return Ok(Admitted::Caller(Role::Read));
    }
    check_host(&config.hosts, uri, headers)?;
    check_origin(uri, headers)?;
    let Some(tokens) = &config.tokens else { return Ok(Admitted::Caller(Role::Admin)) };
    let needed = Role::needed(method, uri.path());
    if let Some((role, _)) = tokens.role(shown(headers, &config.hosts.cookie), map) {
        return match role >= needed {
            true => Ok(Admitted::Caller(role)),
            false => Err(Problem::forbidden(format!(
                "the token allows to {role}, and this needs one that allows {needed}"
            ))),
        };
    }
    let in_address = token_in(uri).filter(|_| method == Method::GET && uri.path() == "/");
    match in_address.and_then(|shown| tokens.role([shown.as_bytes()].into_iter(), map)) {
        Some((_, token)) => Ok(Admitted::Welcome(welcome(config, token))),
        None => Err(no_token()),
    }
}

/// Refuses who shows no token that is known.
pub(super) fn no_token() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "the token is missing or wrong: send it as Authorization: Bearer …, or open the dashboard once as /?token=…",
    )
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or(""))
}

fn check_host(hosts: &Hosts, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    // A proxy before the service may have looked at the other one.
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Problem::bad_request("the request says more than once which host it is for"));
    }
    let host = uri.authority().map(|authority| authority.as_str()).or_else(|| text(headers, &header::HOST));
    match host {
        Some(host) if hosts.contains(host) => Ok(()),
        Some(host) => {
            let host: String = host.chars().take(100).collect();
            Err(Problem::forbidden(format!(
                "this service is not called {host:?}: allow the name with --allow-host"
            )))
        }
        None => Err(Problem::bad_request("the request does not say which host it is for")),
    }
}

fn check_origin(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let refuse = || Err(Problem::forbidden("pages of another site may not call this service"));
    let host = uri.authority().map(|authority| authority.as_str()).or_else(|| text(headers, &header::HOST));
    if let Some(origin) = text(headers, &header::ORIGIN) {
        let from = origin.split_once("://").map(|(_, authority)| authority);
        if from.is_none() || !from.zip(host).is_some_and(|(from, host)| from.eq_ignore_ascii_case(host)) {
            return refuse();
        }
    }
    // Requests for a picture or a script come without an Origin. A link to the dashboard is welcome from anywhere.
    match text(headers, &HeaderName::from_static("sec-fetch-site")) {
        Some("cross-site" | "same-site") if uri.path() != "/" => refuse(),
        _ => Ok(()),
    }
}

/// Every token that a request shows.
pub(super) fn shown<'a>(headers: &'a HeaderMap, cookie: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let bearer = text(headers, &header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().as_bytes())
    });
    let cookies =
        headers.get_all(header::COOKIE).into_iter().flat_map(|value| value.to_str().unwrap_or("").split(';'));
    let ours = cookies.filter_map(move |pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == cookie).then_some(value.as_bytes())
    });
    bearer.into_iter().chain(ours)
}

fn token_in(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Keeps the token in a cookie and goes on to the dashboard. The page does that, not a redirect: after a link from
/// another site a browser would follow a redirect without the strict cookie. A proxy may have put the service under a path of
/// its own: the link is relative, and without a path of its own the cookie gets that of the page.
fn welcome(config: &HttpConfig, token: &Token) -> Response {
    let secure = if config.tls.is_some() { "; Secure" } else { "" };
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}",
        config.hosts.cookie,
        token.as_str()
    );
    let page = "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=./\">\
                <title>LION-tSNE</title><p><a href=\"./\">To the dashboard</a>";
    ([(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, "no-store".to_owned())], Html(page))
        .into_response()
}

/// What browsers are told of every answer.
pub(crate) const PROTECTION: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// Tells browsers. The outermost layer of all routes, so that no answer goes out without it.
pub(super) async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in PROTECTION {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // What is alive is never to be taken from a cache; what may be says so itself.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str) -> Hosts {
        Hosts::new(address.parse().expect("an address"))
    }

    #[test]
    fn a_port_is_told_from_the_rest_of_an_address() {
        for (host, name) in [
            ("localhost:80", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("fe80::1", "fe80::1"),
            ("localhost:http", "localhost:http"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }

    #[test]
    fn only_names_of_the_service_are_let_through() {
        let local = hosts("127.0.0.1:7878");
        for host in
            ["127.0.0.1:7878", "localhost:7878", "LOCALHOST", "localhost:9000", "[::1]:7878", "127.0.0.1"]
        {
            assert!(local.contains(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7878",
            "localhost.evil.example",
            "10.0.0.1:7878",
            "",
            ":7878",
            "[",
            "[::1",
            "::1]",
            "[[::1]]",
            "[127.0.0.1]",
            "[::1:7878",
            "a:b:c",
        ] {
            assert!(!local.contains(host), "{host}");
        }
        let open = hosts("0.0.0.0:80").allow("Map.Example:443");
        for host in ["10.0.0.1", "map.example", "MAP.example:80", "[fe80::1]:80", "localhost"] {
            assert!(open.contains(host), "{host}");
        }
        assert!(!open.contains("evil.example"));
        let socket = Hosts::at_socket(Path::new("/run/lion/é.sock")).allow("map.example");
        assert!(socket.contains("localhost") && socket.contains("map.example:443"));
        assert!(!socket.contains("evil.example") && !socket.contains("10.0.0.1"));
        assert_eq!(socket.cookie, "lion--run-lion---sock");
        let one = hosts("10.0.0.1:80");
        assert!(one.contains("10.0.0.1") && !one.contains("localhost") && !one.contains("10.0.0.2"));
    }

    #[test]
    fn an_origin_must_be_the_host() {
        let check = |pairs: &[(&'static str, &'static str)], path: &str| {
            let headers = pairs
                .iter()
                .map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            check_origin(&path.parse().expect("a path"), &headers.collect()).is_ok()
        };
        assert!(check(&[("host", "localhost:1")], "/api/live"));
        assert!(check(&[("host", "localhost:1"), ("origin", "http://localhost:1")], "/api/live"));
        for origin in ["http://localhost:2", "http://evil.example", "null", "localhost:1", ""] {
            assert!(!check(&[("host", "localhost:1"), ("origin", origin)], "/"), "{origin}");
        }
        assert!(!check(&[("host", "localhost:1"), ("sec-fetch-site", "cross-site")], "/api/live"));
        assert!(check(&[("host", "localhost:1"), ("sec-fetch-site", "cross-site")], "/"));
        assert!(check(&[("host", "localhost:1"), ("sec-fetch-site", "same-origin")], "/api/live"));
    }
}
