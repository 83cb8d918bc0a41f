//! What is watched from outside: every metric that the dashboard, the alert rules and the documentation name is told, and
//! every metric that is told is documented.

use crate::{get, plain, post};
use std::collections::BTreeSet;
use std::path::Path;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The words of a text that look like metrics.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("lion_")).collect()
}

/// The names at the beginning of lines with a value, and their families.
async fn told() -> (BTreeSet<String>, BTreeSet<String>) {
    let (_service, app) = plain();
    // Answers are counted once there are some.
    assert_eq!(post(&app, r#"{"id":"a","x":[1,2]}"#).await.status, 200);
    let answer = get(&app, "/metrics").await;
    let text = String::from_utf8(answer.body.to_vec()).expect("it is text");
    let series = text.lines().filter(|line| !line.starts_with('#'));
    let series = series.filter_map(|line| line.split([' ', '{']).next().map(str::to_owned)).collect();
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let families = families.map(str::to_owned).collect();
    (series, families)
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_and_alert_rules_ask_for_metrics_that_there_are() {
    let (series, families) = told().await;
    let dashboard = text("deploy/grafana.json");
    for file in [&dashboard, &text("deploy/alerts.yml"), &text("deploy/alerts.test.yml")] {
        let names = named(file);
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            assert!(series.contains(name), "{name} is not at /metrics");
        }
    }
    let shown: serde_json::Value = serde_json::from_str(&dashboard).expect("it is JSON");
    assert!(shown["panels"].as_array().is_some_and(|panels| panels.len() > 10));
    for family in &families {
        let is_shown = named(&dashboard).iter().any(|name| name.starts_with(family.as_str()));
        assert!(is_shown, "no panel shows {family}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_is_documented_and_there() {
    let (_, families) = told().await;
    let page = text("docs/operations.md");
    let table: String = page.lines().filter(|line| line.starts_with("| `lion_")).collect();
    let documented: BTreeSet<String> = named(&table).into_iter().map(str::to_owned).collect();
    assert_eq!(documented, families);
}
