//! Writes valid input of every kind for the fuzz targets: `$LION_SEEDS/<target>/seed-<name>`. The same bytes each time.
//!
//! It is built as the targets are, so that one build of all that they depend on is enough.

#![no_main]

mod columnar;

use arrow_ipc::CompressionType;
use lion_fuzz::maps::gathering;
use lion_fuzz::tables::{CSV, Reading, recipe};
use lion_table::{Column, Field, Kind, Writer};
use lion_tsne::landmarks::{LandmarkOptions, Landmarks};
use lion_tsne::{Fit, Matrix, PcaChoice, Rows, ignore};
use parquet::basic::Compression;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

libfuzzer_sys::fuzz_target!(init: make_seeds().expect("seeds"), |_bytes: &[u8]| {});

fn make_seeds() -> Outcome {
    let seeds =
        Seeds { folder: std::env::var_os("LION_SEEDS").ok_or("LION_SEEDS must name a folder")?.into() };
    tables(&seeds)?;
    bodies(&seeds)?;
    recipes(&seeds)?;
    maps(&seeds)?;
    outliers(&seeds)?;
    landmarks(&seeds)?;
    operations(&seeds)?;
    texts(&seeds)?;
    requests(&seeds)?;
    stores(&seeds)
}

/// Where they go.
struct Seeds {
    folder: PathBuf,
}

impl Seeds {
    fn write(&self, target: &str, name: &str, bytes: &[u8]) -> Outcome {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(format!("seed-{name}")), bytes)?)
    }

    /// With a byte before it that chooses how the target reads the rest.
    fn write_chosen(&self, target: &str, name: &str, choice: u8, bytes: &[u8]) -> Outcome {
        self.write(target, name, &[&[choice], bytes].concat())
    }
}

const JSONL: &str = "{\"id\":\"a\",\"label\":\"x\",\"width\":1.5,\"height\":2}\n{\"id\":\"b\",\"label\":null,\"width\":-3,\"height\":4e2}\n";
const JSON: &[u8] = br#"[{"width":1,"height":2,"kind":"red"},{"width":3.5,"height":null,"kind":"blue"}]"#;

/// Every format that is read, in every way.
fn tables(seeds: &Seeds) -> Outcome {
    let images =
        [&[0u8, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[0, 50, 100, 150, 200, 250, 3, 7]]
            .concat();
    let labels = [&[0u8, 0, 8, 1, 0, 0, 0, 3][..], &[7, 0, 7]].concat();
    let texts =
        npy("<U2", "(2,)", &"aébc".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>());
    let wide =
        npy(">f8", "(1, 2)", &[1.5f64, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<u8>>());
    for (target, name, bytes) in [
        ("npy", "numbers", written("npy")?),
        ("npy", "texts", texts),
        ("npy", "doubles", wide),
        ("csv", "numbers", written("csv")?),
        ("csv", "cells", CSV.into()),
        ("csv", "packed", written("csv.gz")?),
        ("csv", "quoted", b"label\n\"a,\"\"b\"\n\n7\n".into()),
        ("parquet", "numbers", written("parquet")?),
        ("parquet", "snappy", columnar::parquet(Compression::SNAPPY)?),
        ("parquet", "gzip", columnar::parquet(Compression::GZIP(Default::default()))?),
        ("arrow", "numbers", written("arrow")?),
        ("arrow", "stream", columnar::arrow(None)?),
        ("arrow", "lz4", columnar::arrow(Some(CompressionType::LZ4_FRAME))?),
        ("arrow", "zstd", columnar::arrow(Some(CompressionType::ZSTD))?),
        ("arrow", "lists", columnar::lists()?),
        ("json", "numbers", written("jsonl")?),
        ("json", "gaps", JSONL.into()),
        ("json", "array", JSON.into()),
        ("json", "lists", b"[1,2]\n[3,4.5e-3]\n".into()),
        ("idx", "images", images),
        ("idx", "labels", labels),
    ] {
        for (way, reading) in [
            ("plain", Reading::Numbers),
            ("cells", Reading::Cells),
            ("labels", Reading::Labels),
            ("columns", Reading::Columns),
        ] {
            seeds.write_chosen(target, &format!("{name}-{way}"), reading.choice(0), &bytes)?;
        }
        // With an id and a label.
        seeds.write_chosen(target, &format!("{name}-named"), Reading::Numbers.choice(3), &bytes)?;
    }
    Ok(())
}

/// An array as NumPy writes it.
fn npy(kind: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<53}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), items].concat()
}

/// A small table in the format of that ending.
fn written(ending: &str) -> Outcome<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("lion-seed-{}.{ending}", std::process::id()));
    let fields = vec![
        Field::new("id", Kind::Text),
        Field::nullable("label", Kind::Text),
        Field::new("width", Kind::F32),
        Field::new("height", Kind::F32),
    ];
    let batch: Vec<Column> = vec![
        vec!["a".to_owned(), "b".to_owned(), "c".to_owned()].into(),
        vec![Some("x".to_owned()), None, Some("y".to_owned())].into(),
        vec![1.5f32, -3.0, 0.25].into(),
        vec![2.0f32, 400.0, 1e-3].into(),
    ];
    let mut writer = Writer::create(&path, fields, &["width", "height"])?;
    writer.write(&batch)?;
    writer.finish()?;
    let bytes = fs::read(&path)?;
    fs::remove_file(&path)?;
    Ok(bytes)
}

const BODY: &[u8] = br#"[{"id":"a","x":[1.5,2],"label":"x","t":12.5},{"id":"b","x":{"width":3,"height":-4}},{"id":"a","delete":true}]"#;
const LINES: &[u8] = b"{\"id\":\"a\",\"x\":[1.5,2]}\n{\"id\":\"b\",\"x\":{\"width\":90,\"height\":-70},\"label\":\"l\"}\n{\"id\":\"a\",\"delete\":true,\"t\":3}\n{\"delete\":\"b\"}\n";
const CELLS: &[u8] = br#"[{"id":"a","x":{"width":1.5,"height":null,"kind":"red","day":"2024-01-05"}},{"id":"b","x":[2,3,"blue","2024-02-11"]}]"#;

fn bodies(seeds: &Seeds) -> Outcome {
    let arrow = written("arrow")?;
    for (kind, name, bytes) in [(0u8, "json", BODY), (1, "lines", LINES), (2, "arrow", &arrow)] {
        seeds.write_chosen("bodies", name, kind, bytes)?;
        // Columns have names.
        seeds.write_chosen("bodies", &format!("{name}-named"), 0x80 | kind, bytes)?;
        // Rows are columns of a table.
        seeds.write_chosen("bodies", &format!("{name}-recipe"), 0x40 | kind, bytes)?;
    }
    seeds.write_chosen("bodies", "cells", 0x40, CELLS)?;
    seeds.write_chosen("stream_lines", "lines", 0, LINES)?;
    seeds.write_chosen("stream_lines", "named", 1, LINES)
}

fn recipes(seeds: &Seeds) -> Outcome {
    seeds.write("recipe", "columns", &recipe().to_bytes())
}

/// Rows in two clouds, by plain arithmetic.
fn clouds(rows: usize, columns: usize) -> Outcome<Matrix> {
    let value = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        (row % 2 * 9) as f32 + ((row * 37 + column * 101) % 97) as f32 / 40.0
    };
    Ok(Matrix::new(rows, columns, (0..rows * columns).map(value).collect())?)
}

fn maps(seeds: &Seeds) -> Outcome {
    for (name, columns, dims, pca) in [
        ("plane", 4, 2, PcaChoice::None),
        ("space-pca", 6, 3, PcaChoice::Components(3)),
        ("line", 2, 1, PcaChoice::None),
    ] {
        let rows = Rows {
            data: clouds(40, columns)?,
            ids: Some((0..40).map(|row| format!("row-{row}")).collect()),
            labels: Some((0..40).map(|row| ["even", "odd"][row % 2].to_owned()).collect()),
        };
        let fit =
            Fit { dims, pca, perplexity: Some(5.0), iterations: Some(30), threads: 1, ..Fit::default() };
        seeds.write("map_file", name, &fit.run(rows, &mut ignore)?.to_bytes()?)?;
    }
    Ok(())
}

/// Two outliers of the target's map of 2 columns: version, distance, target, row.
fn outliers(seeds: &Seeds) -> Outcome {
    let outlier = |row: [f32; 2]| {
        let target = [5.0f64, 5.0, 0.0];
        let mut bytes = vec![1u8];
        bytes.extend(7.5f32.to_le_bytes());
        bytes.extend(target.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(row.iter().flat_map(|v| v.to_le_bytes()));
        bytes
    };
    let near = [outlier([12.0, 9.0]), outlier([12.5, 9.0])].concat();
    seeds.write("pending_outliers", "near", &near)?;
    seeds.write("pending_outliers", "apart", &[outlier([12.0, 9.0]), outlier([-80.0, 1e6])].concat())
}

/// What comes after the head that the target puts before it.
fn landmarks(seeds: &Seeds) -> Outcome {
    let fit = Fit { pca: PcaChoice::Components(2), threads: 1, ..Fit::default() };
    let options = || LandmarkOptions { stratified: true, cover: true, held_out: 8, ..fit.landmarks(8) };
    let mut landmarks = Landmarks::new(options())?;
    let head = landmarks.to_bytes().len() - 4 - 2 - 8 - 8 - 8;
    let labels = Some((0..30).map(|row| ["even", "odd"][row % 2].to_owned()).collect());
    landmarks.add(Rows { data: clouds(30, 3)?, ids: None, labels })?;
    seeds.write("landmark_parts", "part", &landmarks.to_bytes()[head..])
}

fn operations(seeds: &Seeds) -> Outcome {
    let mut bytes = Vec::new();
    for point in 0..24u8 {
        bytes.extend([0x40, point, 3 + 7 * (point % 8), 20]);
    }
    for point in 0..12u8 {
        bytes.extend([0, 20 + point, 220 + point % 2, 230]);
    }
    bytes.extend([7, 0, 0, 0, 4, 3, 0, 0, 6, 5, 10, 10, 7, 0, 0, 0]);
    seeds.write("live_operations", "gathering", &bytes)?;
    let table: Vec<u8> = [3u8, 1].into_iter().chain((0..240u32).map(|at| (at * 37 % 251) as u8)).collect();
    seeds.write("hostile_maps", "mixed", &table)
}

/// One text a file; the arguments have one a line.
fn texts(seeds: &Seeds) -> Outcome {
    let radii = [
        "99%",
        "5.5",
        " 97.5 %",
        "28x28",
        "32x32x3",
        "1/100000",
        "1/30d",
        "1/45s",
        "calibrated",
        "barnes-hut",
        "none",
    ];
    for (at, text) in radii.iter().enumerate() {
        seeds.write("radii", &at.to_string(), text.as_bytes())?;
    }
    let settings = [
        "30d",
        "100000",
        "every 1.5h",
        "stale",
        "0,12.5",
        "0123456789abcdef",
        "# who\nread 0123456789abcdef\n\nwrite abcdefghijklmnop oaks birches",
        "map.example:443",
        "[::1]:80",
        "oaks\nbirches-2",
        "x[1]\nx[2]",
        "a/b.parquet",
        "1,234.5",
        "true",
        "2024-02-29T12:30:00Z",
        "31.12.2024",
    ];
    for (at, text) in settings.iter().enumerate() {
        seeds.write("settings", &at.to_string(), text.as_bytes())?;
    }
    let arguments = [
        "fit a.csv -o m.lion --radius 99% --perplexity 30 --iterations auto --power 20.5 --pca 50 --memory 4GiB --seed 7",
        "place m.lion b.npy -o c.parquet --alpha 1% --fdr 0.05 --local idw --taper triangle --kernel-width 0.1 --json",
        "serve m.lion --port 0 --host localhost --store s.db --retain 30d --false-alarms 1/30d --window 300 --update-when stale",
        "plot m.lion -o m.png --width 1600 --title t",
        "update m.lion b.csv -o n.lion --stability 0.9 --keep 100",
        "stream m.lion --strict --false-alarms 1/100000",
        "compare s.db --a 0,10 --b 10,20",
        "evaluate -o r --only cluster,outliers --quick",
    ];
    for (at, text) in arguments.iter().enumerate() {
        seeds.write("arguments", &at.to_string(), text.replace(' ', "\n").as_bytes())?;
    }
    seeds.write("saved_state", "gathering", &gathering().0.aux())
}

/// Every address, and each header that is looked at.
fn requests(seeds: &Seeds) -> Outcome {
    let addresses = [
        "/",
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/api/map",
        "/api/map?version=1",
        "/api/map/points",
        "/api/map/columns",
        "/api/map/rows/7",
        "/api/map/shown?column=a&rows=1,2",
        "/api/map/versions",
        "/api/map/switches/3",
        "/api/map/update",
        "/api/live",
        "/api/health",
        "/api/history?after=3&limit=10",
        "/api/history?before=9",
        "/api/compare?a=0,10&b=10,2e9",
        "/api/explain",
        "/api/events?after=5",
        "/api/notices",
        "/api/points/p3",
        "/api/points/%C3%BC",
        "/?token=0123456789abcdef",
    ];
    for (at, address) in addresses.iter().enumerate() {
        seeds.write(
            "requests",
            &format!("get-{at}"),
            format!("GET {address}\nhost: localhost:7878").as_bytes(),
        )?;
    }
    let json = "host: localhost\ncontent-type: application/json";
    for (name, request) in [
        (
            "rename",
            format!(
                "PUT /api/clusters/left\n{json}\n\n{{\"name\":\"the left\",\"who\":\"a\",\"kind\":\"cluster\"}}"
            ),
        ),
        ("notice", format!("POST /api/notices/40\n{json}\n\n{{\"state\":\"dismissed\",\"note\":\"a\"}}")),
        ("rows", format!("POST /api/explain\n{json}\n\n{{\"rows\":[1,2,3],\"ids\":[\"p3\"]}}")),
        ("polygon", format!("POST /api/explain\n{json}\n\n{{\"polygon\":[[0,0],[9,0],[9,9.5]]}}")),
        ("token", "GET /api/live\nhost: 127.0.0.1:7878\nauthorization: Bearer 0123456789abcdef".to_owned()),
        (
            "cookie",
            "GET /api/map\nhost: [::1]\ncookie: a=b; lion-7878=0123456789abcdef\norigin: http://[::1]"
                .to_owned(),
        ),
        (
            "listen",
            "GET /api/events\nhost: localhost\nlast-event-id: 7\nsec-fetch-site: same-origin".to_owned(),
        ),
        ("known", "HEAD /app.js\nhost: localhost\nif-none-match: \"a\", W/\"b\"".to_owned()),
    ] {
        seeds.write("requests", name, request.as_bytes())?;
    }
    Ok(())
}

/// Edits of the target's two stores: where, how many bytes, which.
fn stores(seeds: &Seeds) -> Outcome {
    for choice in 0..4u8 {
        seeds.write_chosen("store", &format!("same-{choice}"), choice, &[])?;
        for page in [0u8, 1, 2, 5, 9] {
            seeds.write_chosen(
                "store",
                &format!("page-{choice}-{page}"),
                choice,
                &[100, page << 4, 0, 2, 0xff, 0],
            )?;
            seeds.write_chosen("store", &format!("cut-{choice}-{page}"), choice, &[100, page << 4, 0, 0])?;
        }
    }
    Ok(())
}
