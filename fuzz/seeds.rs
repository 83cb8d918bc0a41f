//! Writes valid input of every kind for the fuzz targets: `make_seeds FOLDER` makes `FOLDER/<target>/<name>`. The same bytes each
//! time.

use lion_table::{Column, Field, Format, Kind, Plan, PlanOptions, ReadOptions, Writer, survey_bytes};
use lion_tsne::landmarks::{LandmarkOptions, Landmarks};
use lion_tsne::{Fit, Matrix, PcaChoice, Rows, ignore};
use std::error::Error;
use std::fs;
use std::path::PathBuf;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: make_seeds FOLDER")?);
    let seeds = Seeds { folder };
    tables(&seeds)?;
    bodies(&seeds)?;
    recipes(&seeds)?;
    maps(&seeds)?;
    outliers(&seeds)?;
    landmarks(&seeds)?;
    operations(&seeds)
}

/// Where they go.
struct Seeds {
    folder: PathBuf,
}

impl Seeds {
    fn write(&self, target: &str, name: &str, bytes: &[u8]) -> Outcome {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(name), bytes)?)
    }

    /// With a byte before it that chooses how the target reads the rest.
    fn write_chosen(&self, target: &str, name: &str, choice: u8, bytes: &[u8]) -> Outcome {
        self.write(target, name, &[&[choice], bytes].concat())
    }
}

const CSV: &str = "id,label,width,height,kind,day\na,x,1.5,2,red,2024-01-05\nb,y,-3,4e2,blue,2024-02-11\nc,x,0.25,,red,2024-03-01\n";
const JSONL: &str = "{\"id\":\"a\",\"label\":\"x\",\"width\":1.5,\"height\":2}\n{\"id\":\"b\",\"label\":null,\"width\":-3,\"height\":4e2}\n";

/// Every format that is read: the numbers of the formats are those of the target `tables`.
fn tables(seeds: &Seeds) -> Outcome {
    for (number, name) in [(0, "npy"), (1, "csv"), (2, "parquet"), (3, "arrow"), (4, "jsonl")] {
        let bytes = written(name)?;
        seeds.write_chosen("tables", name, number, &bytes)?;
        // 7 formats: a multiple of 7 with both upper bits asks for ids and labels too.
        seeds.write_chosen("tables", &format!("{name}-named"), 0xc4 + number, &bytes)?;
    }
    seeds.write_chosen("tables", "csv-messy", 1, CSV.as_bytes())?;
    seeds.write_chosen("tables", "jsonl-gaps", 4, JSONL.as_bytes())?;
    let idx = [&[0u8, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[0, 50, 100, 150, 200, 250, 3, 7]].concat();
    seeds.write_chosen("tables", "idx", 5, &idx)?;
    seeds.write_chosen("tables", "json", 6, br#"[{"width":1,"height":2,"kind":"red"},{"width":3.5,"height":null,"kind":"blue"}]"#)
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

fn bodies(seeds: &Seeds) -> Outcome {
    let json = br#"[{"id":"a","x":[1.5,2],"label":"x","t":12.5},{"id":"b","x":{"width":3,"height":-4}},{"id":"a","delete":true}]"#;
    let lines = b"{\"id\":\"a\",\"x\":[1.5,2]}\n{\"id\":\"a\",\"delete\":true,\"t\":3}\n";
    for (kind, name, bytes) in [(0u8, "json", &json[..]), (1, "lines", &lines[..]), (2, "arrow", &written("arrow")?[..])] {
        seeds.write_chosen("bodies", name, kind, bytes)?;
        // 0x81 is a multiple of 3 with the upper bit, which gives the columns names.
        seeds.write_chosen("bodies", &format!("{name}-named"), 0x81 + kind, bytes)?;
    }
    Ok(())
}

fn recipes(seeds: &Seeds) -> Outcome {
    let options = ReadOptions { id: Some("id".into()), label: Some("label".into()), ..ReadOptions::default() };
    let survey = survey_bytes(CSV.as_bytes(), Format::Csv, &options)?;
    let plan = Plan::new(&survey, &options, &PlanOptions::default());
    let recipe = plan.recipe().ok_or("a table with text has a recipe")?;
    seeds.write("recipe", "columns", &recipe.to_bytes())
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
        let fit = Fit { dims, pca, perplexity: Some(5.0), iterations: Some(30), threads: 1, ..Fit::default() };
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
