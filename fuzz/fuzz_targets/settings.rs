//! Any text is a time, a stretch, an address, a token file, a name of a map or a cell, or a refusal: never a panic.
//!
//! Parser: lion-server/src/settings.rs, lion-server/src/http/tokens.rs, lion-table/src/written.rs, lion-table/src/dates.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_server::{Hosts, Retain, Stretch, Tokens, UpdateWhen, check_map_names, seconds_of};
use lion_table::{cell_of_text, check_output, list_of_items};
use lion_tsne::recipe::{Cell, Kind};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(seconds) = seconds_of(text) {
        assert!(seconds > 0.0 && seconds.is_finite());
    }
    if let Ok(Retain::Events(kept)) = text.parse() {
        assert!(kept > 0);
    }
    if let Ok(UpdateWhen::Every(seconds)) = text.parse() {
        assert!(seconds > 0.0 && seconds.is_finite());
    }
    if let Ok(Stretch { from, to }) = text.parse() {
        assert!(from.is_finite() && to.is_finite());
    }
    if let Ok(tokens) = Tokens::new(text) {
        assert!(tokens.maps().all(|map| text.contains(map)));
        // The text that logs may get of them.
        assert!(format!("{tokens:?}").len() < 30);
    }
    let _ = Hosts::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 80))).allow(text);
    let names: Vec<String> = text.lines().map(str::to_owned).collect();
    if check_map_names(names.iter().map(String::as_str)).is_ok() {
        assert!(names.iter().all(|name| name.is_ascii() && !name.contains('/')));
    }
    let _ = list_of_items(&names);
    let _ = check_output(Path::new(text));
    for kind in [Kind::Number, Kind::Boolean, Kind::Date, Kind::Category] {
        match cell_of_text(text, kind) {
            Cell::Number(value) | Cell::Date(value) => assert!(!value.is_nan()),
            Cell::Missing | Cell::Boolean(_) | Cell::Text(_) => {}
        }
    }
});
