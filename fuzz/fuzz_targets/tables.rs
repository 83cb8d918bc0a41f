//! Any bytes are a table of finite numbers, or a refusal, in every format: never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_table::{Format, Plan, PlanOptions, ReadOptions, parse, parse_labels, survey_bytes};

const FORMATS: [Format; 7] =
    [Format::Npy, Format::Csv, Format::Parquet, Format::Arrow, Format::Jsonl, Format::Idx, Format::Json];

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the format and the options, so that one corpus serves all.
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let format = FORMATS[choice as usize % FORMATS.len()];
    let options = ReadOptions {
        id: (choice & 0x40 != 0).then(|| "id".into()),
        label: (choice & 0x80 != 0).then(|| "label".into()),
        group: (choice & 0xc0 == 0xc0).then(|| "label".into()),
        ..ReadOptions::default()
    };
    if let Ok(table) = parse(bytes, format, &options) {
        assert_eq!(table.data.len(), table.rows * table.cols);
        assert!(table.data.iter().all(|value| value.is_finite()));
        assert!(table.ids.is_none_or(|ids| ids.len() == table.rows));
        assert!(table.labels.is_none_or(|labels| labels.len() == table.rows));
        assert!(table.groups.is_none_or(|groups| groups.len() == table.rows));
    }
    let _ = parse_labels(bytes, format);
    // The same table, whatever its columns are.
    if let Ok(survey) = survey_bytes(bytes, format, &options) {
        let plan = Plan::new(&survey, &options, &PlanOptions::default());
        if plan.problems().next().is_none() && let Ok(table) = parse(bytes, format, &plan.options) {
            assert!(table.data.iter().all(|value| value.is_finite()));
        }
    }
});
