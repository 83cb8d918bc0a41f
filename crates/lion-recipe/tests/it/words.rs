//! Names that people give and read.

use lion_recipe::{Missing, Scale};

#[test]
fn choices_are_read_and_written_by_name() {
    for (scale, name) in [
        (Scale::Auto, "auto"),
        (Scale::Standard, "standard"),
        (Scale::Robust, "robust"),
        (Scale::None, "none"),
    ] {
        assert_eq!((scale.as_str(), scale.to_string(), name.parse()), (name, name.to_owned(), Ok(scale)));
    }
    for (missing, name) in [
        (Missing::Mean, "mean"),
        (Missing::Median, "median"),
        (Missing::Drop, "drop"),
        (Missing::Refuse, "refuse"),
    ] {
        assert_eq!(
            (missing.as_str(), missing.to_string(), name.parse()),
            (name, name.to_owned(), Ok(missing))
        );
    }
    assert_eq!(format!("{:>7}|", Scale::None), "   none|");
}

#[test]
fn an_unknown_name_is_told_with_those_there_are() {
    let scale = "log".parse::<Scale>().unwrap_err();
    assert_eq!(scale, "scale must be one of auto, standard, robust, none, not \"log\"");
    let missing = "zero".parse::<Missing>().unwrap_err();
    assert_eq!(missing, "missing must be one of mean, median, drop, refuse, not \"zero\"");
}
