//! The map itself, the dashboard and the description.

use crate::{app, call, config, get, grid, plain, request};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type};
use arrow_ipc::reader::StreamReader;
use axum::Router;
use axum::body::Body;
use lion_server::{Service, Settings};
use lion_tsne::map::Image;
use lion_tsne::{Lion, LionOptions};
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn the_summary_tells_what_the_map_is() {
    let (_service, app) = plain();
    let map = get(&app, "/api/map").await.json();
    for (name, value) in [
        ("name", json!("grid")),
        ("rows", json!(100)),
        ("columns", json!(2)),
        ("components", json!(2)),
        ("places", json!(2)),
        ("metric", json!("euclidean")),
        ("radius", json!("99%")),
        ("clusters_from", json!("labels")),
        ("image", json!(null)),
        ("bounds", json!([0.0, 0.0, 90.0, 90.0])),
        ("first", json!(1)),
        ("last", json!(0)),
        ("window", json!(300.0)),
        ("checksum", json!(grid().checksum().unwrap())),
    ] {
        assert_eq!(map[name], value, "{name}");
    }
    assert_eq!(map["clusters"][0]["name"], "left");
    assert_eq!(map["clusters"][1]["rows"], 50);
    assert!(map["clusters"][0]["x"].as_f64().unwrap() < 50.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_come_as_arrow() {
    let (_service, app) = plain();
    let answer = get(&app, "/api/map/points").await;
    assert_eq!(answer.header("content-type"), "application/vnd.apache.arrow.stream");
    let batches: Vec<_> =
        StreamReader::try_new(&answer.body[..], None).unwrap().map(Result::unwrap).collect();
    let batch = &batches[0];
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["id", "x", "y", "label", "cluster"]);
    assert_eq!(batch.num_rows(), 100);
    assert_eq!(batch.column(0).as_string::<i32>().value(57), "row-57");
    assert_eq!(batch.column(1).as_primitive::<Float32Type>().value(57), 70.0);
    assert_eq!(batch.column(3).as_string::<i32>().value(57), "right");
    assert_eq!(batch.column(4).as_primitive::<UInt32Type>().value(57), 1);
    // Asked for again by its tag, it need not come again.
    let mut again = request("GET", "/api/map/points", "", Body::empty());
    again.headers_mut().insert("if-none-match", answer.headers["etag"].clone());
    let again = call(&app, again).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rows_come_as_plain_columns() {
    let (_service, app) = plain();
    let body = get(&app, "/api/map/columns").await.body;
    let length = u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
    assert_eq!((4 + length) % 8, 0);
    let header: Value = serde_json::from_slice(&body[4..4 + length]).unwrap();
    assert_eq!(header["rows"], 100);
    let column = |name: &str| {
        let columns = header["columns"].as_array().unwrap();
        let column = columns.iter().find(|column| column["name"] == name).unwrap();
        let [offset, length_of] = ["offset", "length"].map(|key| column[key].as_u64().unwrap() as usize);
        assert_eq!(offset % 8, 0);
        body.slice(4 + length + offset..4 + length + offset + length_of)
    };
    let words = |name: &str| {
        column(name).chunks_exact(4).map(|word| word.try_into().unwrap()).collect::<Vec<[u8; 4]>>()
    };
    let places: Vec<f32> = words("y").into_iter().map(f32::from_le_bytes).collect();
    assert_eq!((places.len(), places[57]), (100, 50.0));
    assert_eq!(u32::from_le_bytes(words("cluster")[57]), 1);
    let ids = column("ids");
    assert_eq!(std::str::from_utf8(&ids).unwrap().split('\n').nth(57), Some("row-57"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_shown_with_its_neighbours_and_its_picture() {
    let image = Image { width: 2, height: 1, channels: 1 };
    let pictures: Vec<f32> = (0..100).flat_map(|i| [(i % 10) as f32, (i / 10) as f32]).collect();
    let pictures = lion_tsne::Matrix::new(100, 2, pictures).unwrap();
    let map = grid().with_pictures(image, &pictures).unwrap();
    let lion = Lion::new(map, &LionOptions::default()).unwrap();
    let service = Service::start(Arc::new(lion), &Settings::default()).unwrap();
    let app = app(service, config());
    let row = get(&app, "/api/map/rows/57").await.json();
    assert_eq!(
        (&row["id"], &row["label"], &row["cluster"]),
        (&json!("row-57"), &json!("right"), &json!("right"))
    );
    assert_eq!((&row["x"], &row["y"]), (&json!(70.0), &json!(50.0)));
    assert_eq!(row["nearest"].as_array().unwrap().len(), 5);
    assert!(row["nearest"].as_array().unwrap().iter().all(|near| near["id"] != "row-57"));
    assert_eq!(row["nearest"][0]["distance"], 1.0);
    // 7 and 5 of 9, as bytes: 198 and 142.
    assert_eq!(row["picture"], "xo4=");
    assert_eq!(
        get(&app, "/api/map").await.json()["image"],
        json!({ "width": 2, "height": 1, "channels": 1 })
    );
    crate::post(&app, r#"{"id":"a","x":[7,5]}"#).await;
    assert_eq!(get(&app, "/api/points/a").await.json()["picture"], "xo4=");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dashboard_is_part_of_the_program() {
    let (_service, app) = plain();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/app.css", "text/css; charset=utf-8"),
    ] {
        let answer = get(&app, path).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, kind));
        assert!(!answer.body.is_empty());
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let mut again = request("GET", path, "", Body::empty());
        again.headers_mut().insert("if-none-match", answer.headers["etag"].clone());
        assert_eq!(call(&app, again).await.status, 304);
    }
    let page = get(&app, "/").await.body;
    let page = std::str::from_utf8(&page).unwrap();
    assert!(!page.contains("<style") && !page.contains("onclick") && page.contains("/app.js"), "{page}");
    assert_eq!(get(&app, "/healthz").await.body, "ready\n");
}

/// What needs other bodies and more points: `explain.rs`, `versions.rs` and `notes.rs` compare it with the description.
const ELSEWHERE: [&str; 7] = [
    "/api/compare",
    "/api/explain",
    "/api/map/update",
    "/api/map/revert",
    "/api/map/switches/{event}",
    "/api/clusters/{id}",
    "/api/notices/{id}",
];

/// Everything that the description names is there, with the answers that it names.
#[tokio::test(flavor = "multi_thread")]
async fn the_description_is_true() {
    let (_service, app) = plain();
    crate::post(&app, r#"{"id":"1","x":[3.5,4.5]}"#).await;
    let description = get(&app, "/openapi.json").await.json();
    assert!(!description.to_string().contains("$columns"), "the columns of placements are put in");
    for (path, methods) in description["paths"].as_object().unwrap() {
        let mut address = path.replace("{number}", "1").replace("{id}", "1");
        if path == "/api/map/shown" {
            address += "?rows=0";
        }
        for (method, operation) in methods.as_object().unwrap() {
            // The last that is done to it: what listens does not end, and what is removed is not there.
            if path == "/api/events" || method == "delete" || ELSEWHERE.contains(&path.as_str()) {
                continue;
            }
            let kind = if operation.get("requestBody").is_some() { "application/json" } else { "" };
            let answer =
                call(&app, request(&method.to_uppercase(), &address, kind, r#"[{"id":"1","x":[1,1]}]"#))
                    .await;
            assert_eq!(answer.status, 200, "{method} {path}");
            let media = answer.header("content-type").split(';').next().unwrap().to_owned();
            assert!(
                operation["responses"]["200"]["content"].get(&media).is_some(),
                "{method} {path}: {media}"
            );
            if media == "application/json" && path != "/openapi.json" {
                let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
                check(&description, schema, &answer.json(), &format!("{method} {path}"));
            }
        }
    }
}

/// Whether an answer is what the description says of it.
pub(crate) async fn is_described(app: &Router, method: &str, path: &str, answer: &crate::Answer) {
    let description = get(app, "/openapi.json").await.json();
    let answers = &description["paths"][path][method]["responses"];
    let schema = &answers[answer.status.as_str()]["content"]["application/json"]["schema"];
    assert!(!schema.is_null(), "{method} {path}: {} is not described", answer.status);
    check(&description, schema, &answer.json(), &format!("{method} {path}"));
}

/// Whether a value is what a schema says, as far as the description goes.
fn check(description: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = description.pointer(name.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{name}"));
        return check(description, schema, value, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| is(&choice["type"], value);
        let refers = |choice: &&Value| choice.get("$ref").is_some();
        let choice = choices
            .iter()
            .find(fits)
            .or_else(|| choices.iter().find(refers))
            .unwrap_or_else(|| panic!("{place}: {value} is none of {schema}"));
        return check(description, choice, value, place);
    }
    if let Some(kinds) = schema.get("type") {
        assert!(is(kinds, value), "{place}: {value} is no {kinds}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{place}: {name} is missing");
    }
    for (name, part) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => check(description, schema, part, &format!("{place}.{name}")),
            None => assert!(schema["properties"].is_null(), "{place}: {name} is not described"),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(description, &schema["items"], item, &format!("{place}[]"));
    }
}

fn is(kinds: &Value, value: &Value) -> bool {
    let one = |kind: &Value| match kind.as_str().unwrap_or("") {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    kinds.as_array().map_or_else(|| one(kinds), |kinds| kinds.iter().any(one))
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_tell_their_columns_for_people_and_their_own_values() {
    use lion_tsne::map::{ShownColumns, ShownValues};
    let text = |row: usize| (row != 3).then(|| format!("Title {row} </script>"));
    let shown = ShownColumns::new(vec![
        ("title".to_owned(), ShownValues::Text((0..100).map(text).collect())),
        ("pages".to_owned(), ShownValues::Number((0..100).map(|row| Some(row as f64 + 0.5)).collect())),
        ("cover".to_owned(), ShownValues::Image(vec![Some(vec![1, 2, 3]); 100])),
    ]);
    let map = grid().with_shown(shown.unwrap()).unwrap();
    let lion = Lion::new(map, &LionOptions::default()).unwrap();
    let service = Service::start(Arc::new(lion), &Settings::default()).unwrap();
    let app = app(service, config());
    assert_eq!(get(&app, "/api/map").await.json()["shown"][1], json!({ "name": "pages", "kind": "number" }));
    let row = get(&app, "/api/map/rows/57").await.json();
    let title = json!({ "name": "title", "kind": "text", "value": "Title 57 </script>" });
    let pages = json!({ "name": "pages", "kind": "number", "value": 57.5 });
    assert_eq!(row["shown"], json!([title, pages, { "name": "cover", "kind": "image", "value": "AQID" }]));
    assert_eq!(row["values"], json!([{ "name": "width", "value": 7.0 }, { "name": "height", "value": 5.0 }]));
    let many = get(&app, "/api/map/shown?rows=3,0").await.json();
    let rows = json!([[null, 3.5, null], ["Title 0 </script>", 0.5, null]]);
    assert_eq!(many, json!({ "columns": ["title", "pages", "cover"], "rows": rows }));
    for (address, status) in [("rows=100", 404), ("rows=a", 400), ("rows=", 400), ("", 400)] {
        assert_eq!(
            get(&app, &format!("/api/map/shown?{address}")).await.status.as_u16(),
            status,
            "{address}"
        );
    }
    let long = vec!["1"; 1001].join(",");
    assert_eq!(get(&app, &format!("/api/map/shown?rows={long}")).await.status.as_u16(), 400);
}
