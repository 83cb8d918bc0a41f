//! What must hold of any bytes that are read as a table.

use lion_table::{
    Column, Field, Format, Header, Kind, Plan, PlanOptions, ReadOptions, Table, parse, parse_columns,
    parse_labels, survey_bytes,
};
use lion_tsne::Recipe;
use std::sync::Arc;

/// How a table is read. The two highest bits of the first byte of an input choose it.
#[derive(Clone, Copy)]
pub enum Reading {
    /// As rows of numbers.
    Numbers,
    /// As columns of any kind: surveyed, then encoded by the plan that follows.
    Cells,
    /// As labels.
    Labels,
    /// As columns by name, as placements are read back.
    Columns,
}

impl Reading {
    /// The first byte of an input that is read so. `options` are up to six bits: see [`check`].
    pub fn choice(self, options: u8) -> u8 {
        (self as u8) << 6 | options & 0x3f
    }
}

/// Any bytes are a table of finite numbers, or a refusal: never a panic. The first byte chooses how they are read.
pub fn check(format: Format, bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let named = |bit: u8, name: &str| (choice & bit != 0).then(|| name.to_owned());
    let options = ReadOptions {
        id: named(1, "id"),
        label: named(2, "label"),
        group: named(4, "label"),
        columns: named(8, "width").map(|name| vec![name]),
        header: [Header::Auto, Header::Yes, Header::No, Header::Auto][usize::from(choice >> 4 & 3)],
        ..ReadOptions::default()
    };
    match choice >> 6 {
        0 => {
            if let Ok(table) = parse(bytes, format, &options) {
                check_table(&table);
            }
        }
        1 => check_cells(format, bytes, &options),
        2 => {
            if let Ok(labels) = parse_labels(bytes, format) {
                assert!(!labels.is_empty());
            }
        }
        _ => {
            let fields = [
                Field::new("id", Kind::Text),
                Field::nullable("width", Kind::F32),
                Field::new("n", Kind::U64),
            ];
            if let Ok(columns) = parse_columns(bytes, &fields) {
                assert_eq!(
                    columns.iter().map(length).collect::<Vec<_>>(),
                    vec![length(&columns[0]); fields.len()]
                );
            }
        }
    }
}

fn check_table(table: &Table) {
    assert_eq!(table.data.len(), table.rows * table.cols);
    assert!(table.data.iter().all(|value| value.is_finite()));
    for texts in [&table.ids, &table.labels, &table.groups].into_iter().flatten() {
        assert_eq!(texts.len(), table.rows);
    }
}

/// The same table, whatever its columns are.
fn check_cells(format: Format, bytes: &[u8], options: &ReadOptions) {
    let Ok(survey) = survey_bytes(bytes, format, options) else { return };
    let plan = Plan::new(&survey, options, &PlanOptions::default());
    if plan.problems().next().is_none()
        && let Ok(table) = parse(bytes, format, &plan.options)
    {
        check_table(&table);
    }
}

fn length(column: &Column) -> usize {
    match column {
        Column::Text(values) => values.len(),
        Column::F32(values) => values.len(),
        Column::F64(values) => values.len(),
        Column::U32(values) => values.len(),
        Column::U64(values) => values.len(),
    }
}

/// A table with columns of several kinds.
pub const CSV: &str = "id,label,width,height,kind,day\na,x,1.5,2,red,2024-01-05\nb,y,-3,4e2,blue,2024-02-11\nc,x,0.25,,red,2024-03-01\n";

/// The recipe of its columns.
pub fn recipe() -> Arc<Recipe> {
    let options =
        ReadOptions { id: Some("id".into()), label: Some("label".into()), ..ReadOptions::default() };
    let survey = survey_bytes(CSV.as_bytes(), Format::Csv, &options).expect("a table");
    let plan = Plan::new(&survey, &options, &PlanOptions::default());
    Arc::clone(plan.recipe().expect("a table with text has a recipe"))
}
