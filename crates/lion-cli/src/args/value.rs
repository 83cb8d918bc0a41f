//! Texts that become values: one function for each kind, which says in a sentence what it takes.

use super::{PictureArgs, PictureKind};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lion_table::OutputFormat;
use lion_tsne::lion::PcaResidualLimit;
use lion_tsne::map::Image;
use lion_tsne::recipe::{Missing, Scale};
use lion_tsne::{Fit, Init, Named, PcaChoice, Radius};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// `--init`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InitArg {
    Named(Init),
    File(PathBuf),
}

/// `--image`: `None` is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImageArg(pub(crate) Option<Image>);

/// `--learning-rate`: `None` is auto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LearningRate(pub(crate) Option<f64>);

/// `--perplexity`: `None` is auto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Perplexity(pub(crate) Option<f64>);

/// `--iterations`: `None` is auto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Iterations(pub(crate) Option<usize>);

/// `--power`: `None` is auto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Power(pub(crate) Option<f64>);

/// One of the names of an enum; help and refusals list them.
pub(crate) fn named<T: Named + Clone + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::VARIANTS.iter().map(T::name)).try_map(|name| name.parse())
}

/// `--scale`.
pub(crate) fn scale() -> impl TypedValueParser<Value = Scale> {
    PossibleValuesParser::new(Scale::NAMES).try_map(|name| name.parse::<Scale>())
}

/// `--missing`.
pub(crate) fn missing() -> impl TypedValueParser<Value = Missing> {
    PossibleValuesParser::new(Missing::NAMES).try_map(|name| name.parse::<Missing>())
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "this is not a number".into())
}

pub(crate) fn perplexity(text: &str) -> Result<Perplexity, String> {
    if text == "auto" {
        return Ok(Perplexity(None));
    }
    match text.parse() {
        Ok(value) if value >= 1.0 && f64::is_finite(value) => Ok(Perplexity(Some(value))),
        _ => Err("it must be auto or a number from 1 on".into()),
    }
}

/// More than anybody waits for.
const MOST_ITERATIONS: usize = 10_000_000;

pub(crate) fn iterations(text: &str) -> Result<Iterations, String> {
    if text == "auto" {
        return Ok(Iterations(None));
    }
    match text.parse() {
        Ok(count) if (1..=MOST_ITERATIONS).contains(&count) => Ok(Iterations(Some(count))),
        _ => Err(format!("it must be auto or a whole number from 1 to {MOST_ITERATIONS}")),
    }
}

pub(crate) fn exaggeration(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if (1.0..=1e4).contains(&value) { Ok(value) } else { Err("it must be from 1 to 10000".into()) }
}

pub(crate) fn learning_rate(text: &str) -> Result<LearningRate, String> {
    if text == "auto" {
        return Ok(LearningRate(None));
    }
    match text.parse() {
        Ok(rate) if rate > 0.0 && f64::is_finite(rate) => Ok(LearningRate(Some(rate))),
        _ => Err("it must be auto or a number above 0".into()),
    }
}

pub(crate) fn power(text: &str) -> Result<Power, String> {
    match text {
        "auto" => Ok(Power(None)),
        _ => match given_power(text) {
            Ok(power) => Ok(Power(Some(power))),
            Err(_) => Err("it must be auto or a number above 0".into()),
        },
    }
}

pub(crate) fn given_power(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(power) if power > 0.0 && f64::is_finite(power) => Ok(power),
        _ => Err("it must be a number above 0".into()),
    }
}

pub(crate) fn kernel_width(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(width) if (1e-9..=1e9).contains(&width) => Ok(width),
        _ => Err("it must be a number from 1e-9 to 1e9".into()),
    }
}

pub(crate) fn sheet(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match lion_table::check_output(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn events(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match lion_table::check_output(&path) {
        Ok(OutputFormat::Npy) | Err(_) => {
            Err("the name of a table must end in .parquet, .arrow, .csv or .jsonl".into())
        }
        Ok(_) if text == "-" => Err("it must be a file".into()),
        Ok(_) => Ok(path),
    }
}

pub(crate) fn address(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        _ => text.parse().map_err(|_| "it must be an address such as 127.0.0.1, 0.0.0.0 or ::1".into()),
    }
}

/// The address of a page.
pub(crate) fn web_address(text: &str) -> Result<String, String> {
    let is_address = text.starts_with("http://") || text.starts_with("https://");
    if is_address { Ok(text.to_owned()) } else { Err("it must begin with http:// or https://".into()) }
}

/// Permissions in octal; who listens must be able to write.
#[cfg(unix)]
pub(crate) fn socket_mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 && mode & 0o600 == 0o600 => Ok(mode),
        _ => Err("it must be permissions such as 600 or 660".into()),
    }
}

pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    match size(text) {
        Some(bytes) if (1e3..=1e10).contains(&bytes) => Ok(bytes as usize),
        _ => Err("it must be a size from 1kB to 10GB, such as 64MB".into()),
    }
}

/// How much memory may be taken.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    match size(text) {
        Some(bytes) if (1e6..=1e15).contains(&bytes) => Ok(bytes as u64),
        _ => Err("it must be a size from 1MB to 1000TB, such as 300MB, 4GB or 4GiB".into()),
    }
}

/// A number of bytes, with or without a unit.
fn size(text: &str) -> Option<f64> {
    let binary = |power: i32| 1024f64.powi(power);
    let units = [
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", binary(1)),
        ("MiB", binary(2)),
        ("GiB", binary(3)),
        ("TiB", binary(4)),
    ];
    let unit = units.into_iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)));
    let (number, unit) = unit.unwrap_or((text, 1.0));
    number.trim().parse::<f64>().ok().map(|number| number * unit)
}

/// How many times as quick as usual.
pub(crate) fn speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(speed) if (0.1..=100.0).contains(&speed) => Ok(speed),
        _ => Err("it must be a number from 0.1 to 100".into()),
    }
}

pub(crate) fn radius(text: &str) -> Result<Radius, String> {
    text.parse().map_err(|error: lion_tsne::Error| error.to_string())
}

/// A share below 100 %, such as 1% or 0.01.
pub(crate) fn partial_share(text: &str) -> Result<f64, String> {
    let refuse = || "it must be a share above 0 and below 100 %, such as 1% or 0.01".to_owned();
    share(text.trim()).ok().filter(|&share| share < 1.0).ok_or_else(refuse)
}

pub(crate) fn stability(text: &str) -> Result<f64, String> {
    number(text)
        .ok()
        .filter(|s| (0.0..=1.0).contains(s))
        .ok_or_else(|| "it must be a number from 0 to 1".into())
}

pub(crate) fn pca_residual(text: &str) -> Result<PcaResidualLimit, String> {
    match (text, text.parse()) {
        ("none", _) => Ok(PcaResidualLimit::None),
        (_, Ok(Radius::Percentile(percentile))) => Ok(PcaResidualLimit::Percentile(percentile)),
        _ => Err("it must be none or a percentile such as 99%".into()),
    }
}

pub(crate) fn image(text: &str) -> Result<ImageArg, String> {
    match (text, text.parse()) {
        ("none", _) => Ok(ImageArg(None)),
        (_, Ok(image)) => Ok(ImageArg(Some(image))),
        _ => Err("it must be none, or width and height such as 28x28, or 32x32x3 for colours".into()),
    }
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("it must be a number of seconds above 0".into()),
    }
}

/// A share as a number from 0 to 1 or as a percentage.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    share
        .ok()
        .filter(|&share| share > 0.0 && share <= 1.0)
        .ok_or_else(|| "it must be a share such as 0.1 or 10%".into())
}

pub(crate) fn pca(text: &str) -> Result<PcaChoice, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Fit::default().pca),
        ("none", _) => Ok(PcaChoice::None),
        (_, Ok(components)) if components > 0 => Ok(PcaChoice::Components(components)),
        _ => Err("it must be auto, none or a number from 1 on".into()),
    }
}

pub(crate) fn init(text: &str) -> Result<InitArg, String> {
    match text.parse() {
        Ok(init) => Ok(InitArg::Named(init)),
        Err(_) if Path::new(text).extension().is_some() => Ok(InitArg::File(text.into())),
        Err(_) => Err(format!("it must be {}, or a table of places such as y.npy", Init::names())),
    }
}

/// A page to look at.
pub(crate) fn page(text: &str) -> Result<PathBuf, String> {
    match picture(text) {
        Ok(PictureArgs { path, kind: PictureKind::Html }) => Ok(path),
        _ => Err("the name of a page must end in .html".into()),
    }
}

pub(crate) fn picture(text: &str) -> Result<PictureArgs, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let kind = match extension.as_deref() {
        Some("html") => PictureKind::Html,
        Some("svg") => PictureKind::Svg,
        Some("png") => PictureKind::Png,
        _ => return Err("a picture's name must end in .html, .svg or .png".into()),
    };
    Ok(PictureArgs { path, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_types() {
        assert_eq!(pca("30"), Ok(PcaChoice::Components(30)));
        assert_eq!(pca("none"), Ok(PcaChoice::None));
        assert!(pca("0").is_err() && pca("-3").is_err() && pca("some").is_err());
        assert_eq!(learning_rate("auto"), Ok(LearningRate(None)));
        assert_eq!(learning_rate("200"), Ok(LearningRate(Some(200.0))));
        assert!(
            learning_rate("0").is_err() && learning_rate("nan").is_err() && learning_rate("inf").is_err()
        );
        assert!(perplexity("0.5").is_err() && perplexity("NaN").is_err() && perplexity("inf").is_err());
        assert_eq!(init("y.npy"), Ok(InitArg::File("y.npy".into())));
        assert!(init("middle").is_err());
        assert_eq!(picture("a/B.PNG").map(|picture| picture.kind), Ok(PictureKind::Png));
        assert_eq!(power("auto"), Ok(Power(None)));
        assert_eq!(power("20.5"), Ok(Power(Some(20.5))));
        assert!(["0", "-1", "nan", "inf", "strong"].iter().all(|text| power(text).is_err()));
        assert_eq!(kernel_width("0.05"), Ok(0.05));
        assert!(["0", "-1", "nan", "inf", "wide"].iter().all(|text| kernel_width(text).is_err()));
        assert_eq!(radius("99.5%"), Ok(Radius::Percentile(99.5)));
        assert_eq!(radius("5.5"), Ok(Radius::Value(5.5)));
        assert!(["101%", "-1%", "%", "nan", "-2", "wide"].iter().all(|text| radius(text).is_err()));
        assert_eq!(pca_residual("none"), Ok(PcaResidualLimit::None));
        assert_eq!(pca_residual("98%"), Ok(PcaResidualLimit::Percentile(98.0)));
        assert_eq!((bytes("64MB"), bytes("1.5kB"), bytes("5000")), (Ok(64_000_000), Ok(1500), Ok(5000)));
        assert_eq!((memory("4GiB"), memory("300MB")), (Ok(4 << 30), Ok(300_000_000)));
        assert!(["0", "-1MB", "nan", "64TB", "1e99", "much"].iter().all(|text| bytes(text).is_err()));
        assert_eq!((memory("4GB"), memory("0.5 TB")), (Ok(4_000_000_000), Ok(500_000_000_000)));
        assert!(["0", "-1GB", "nan", "10kB", "2e6TB", "all"].iter().all(|text| memory(text).is_err()));
        assert!(
            address("localhost").is_ok_and(|address| address.is_loopback())
                && address("example.org").is_err()
        );
        assert!(events("a.parquet").is_ok() && events("-").is_err() && events("a.npy").is_err());
        assert_eq!(speed("2"), Ok(2.0));
        assert!(["0", "-1", "nan", "1000", "fast"].iter().all(|text| speed(text).is_err()));
        assert_eq!(image("none"), Ok(ImageArg(None)));
        assert_eq!(image("4x3").map(|image| image.0.map(|image| image.values())), Ok(Some(12)));
        assert!(["28", "28x", "0x3", "2x2x2", "big"].iter().all(|text| image(text).is_err()));
        assert_eq!(
            (seconds("0.5"), share("0.1"), share("10%"), partial_share(" 5% ")),
            (Ok(0.5), Ok(0.1), Ok(0.1), Ok(0.05))
        );
        assert!(["0", "-1", "nan", "inf", "1e10", "soon"].iter().all(|text| seconds(text).is_err()));
        assert!(["0", "100%", "1", "-5%", "few", "nan"].iter().all(|text| partial_share(text).is_err()));
        assert!(["0", "-1%", "101%", "2", "nan", "%"].iter().all(|text| share(text).is_err()));
        assert!(["98", "101%", "all"].iter().all(|text| pca_residual(text).is_err()));
        assert!(picture("a").is_err() && picture("a.pdf").is_err());
    }
}
