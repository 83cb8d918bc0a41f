//! Any lines are changes of a live map whose events can be written and read, or refusals that name the line: never a panic.
//!
//! Parser: lion-server/src/changes/json.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_fuzz::maps::{OFTEN, SQUARES};
use lion_server::changes::{RowShape, parse_line};
use lion_tsne::live::{Event, Live};
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    // The first byte says whether the map's columns have names.
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let columns = (choice & 1 != 0).then(|| vec!["width".to_owned(), "height".to_owned()]);
    let shape = RowShape { width: 2, columns, recipe: None, rows: usize::MAX, bytes: usize::MAX };
    let mut live = Live::new(Arc::clone(&SQUARES), OFTEN).expect("a live map");
    for (line, number) in bytes.split(|&byte| byte == b'\n').zip(1..).take(50) {
        match parse_line(line, number, &shape) {
            Ok(change) => {
                let Ok(applied) = live.apply(vec![change]) else { continue };
                for event in applied.events {
                    let text = serde_json::to_string(&event).expect("an event can be written");
                    assert_eq!(serde_json::from_str::<Event>(&text).expect("and read again"), event);
                }
            }
            Err(problem) => assert!(problem.to_string().starts_with(&format!("line {number}")), "{problem}"),
        }
    }
});
