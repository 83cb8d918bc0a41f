//! The page: the dashboard itself, with all that it would ask a server for.

use super::Recording;
use crate::http::{INDEX, SCRIPT, STYLE};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::io;

/// What the dashboard's page has from its server. The build writes these lines; a test finds nothing of them left over.
const LINKS: [&str; 2] =
    [r#"<script defer src="./app.js"></script>"#, r#"<link rel="stylesheet" href="./app.css">"#];
/// Nothing may be fetched, whatever the names in the recording are.
const POLICY: &str = r#"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">"#;

impl Recording {
    /// One page that needs no server and no network.
    pub fn page(&self) -> io::Result<String> {
        let data = BASE64_STANDARD.encode(self.encode()?);
        let page = INDEX.replace(LINKS[0], POLICY).replace(LINKS[1], &format!("<style>{STYLE}</style>"));
        let (head, end) = page.rsplit_once("</body>").unwrap_or((&page, ""));
        // A script ends at the first thing that looks like its end.
        let script = SCRIPT.replace("</script", r"<\/script");
        Ok(format!(
            "{head}<script id=\"recording\" type=\"text/plain\">{data}</script>\n<script>{script}</script>\n</body>{end}"
        ))
    }
}
