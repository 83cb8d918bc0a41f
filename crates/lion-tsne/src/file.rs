//! The map file: mapped into memory, checksummed, versioned, and safe to read from anywhere. Its layout is
//! written down in docs/format.md; what changes here changes there. [`replace()`] is how every file here is written.

mod archive;
mod mapped;

pub use lion_replace::replace;

use crate::error::{Error, Result};
use crate::index::Partitioning;
use crate::lion::{LionParameters, PowerPoint, Radius};
use crate::map::{
    BlockEntry, Bytes, Image, KlPoint, KnownChecksum, Labels, Map, Pictures, Provenance, Texts,
};
use crate::map::{ShownColumn, ShownColumns};
use crate::matrix::Matrix;
use crate::preprocess::{Metric, Pca, Preprocess};
use crate::verdict::Calibration;
use archive::{Archive, BLOCKS, CHECKSUM, Tensor};
use lion_recipe::Recipe;
use memmap2::Mmap;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

#[cfg(target_endian = "big")]
compile_error!("map files are little-endian, and their numbers are used as they lie in the file");

const FORMAT: &str = "lion-map";
/// The version of maps without columns for people, and of those with them: builds that know nothing of these would take
/// their checksum for a wrong one.
const VERSION: u32 = 1;
const VERSION_WITH_SHOWN: u32 = 2;
const MAKE_AGAIN: &str = "make the map again with `lion fit`";

/// What `Map::save` wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The checksum of the content, as in the file.
    pub checksum: String,
    /// The size of the file.
    pub bytes: u64,
}

/// The part of a map that is no array. New fields may join within a version if they are optional: older readers
/// ignore what they do not know.
#[derive(Serialize, Deserialize)]
struct Parameters {
    preprocess: PreprocessParameters,
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lion: Option<PlacingParameters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pictures: Option<PictureParameters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<Vec<ShownColumn>>,
}

#[derive(Serialize, Deserialize)]
struct PictureParameters {
    #[serde(flatten)]
    image: Image,
    low: f32,
    high: f32,
}

#[derive(Serialize, Deserialize)]
struct PlacingParameters {
    radius: Radius,
    r_x: f64,
    r_y: f64,
    r_close: f64,
    power: f64,
    power_given: bool,
    /// Partitions that a new row is compared with, if there are partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    searched: Option<u32>,
    /// How many rows, the last ones, cover sparse regions, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    covering: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationParameters>,
}

#[derive(Serialize, Deserialize)]
struct CalibrationParameters {
    /// Errors are not told apart below it.
    smallest: f64,
    /// How many groups were kept together, if rows have groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct PreprocessParameters {
    metric: Metric,
    input_dims: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pca: Option<PcaParameters>,
}

#[derive(Serialize, Deserialize)]
struct PcaParameters {
    total_variance: f64,
}

impl Map {
    /// Writes the map to a new file that then takes the place of `path`: a failed write leaves an old file whole.
    /// The same map makes the same bytes.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Saved> {
        let path = path.as_ref();
        let failed = |cause| Error::Io { path: path.to_path_buf(), cause: not_written(cause) };
        let mut archive = self.archive().map_err(failed)?;
        let checksum = archive.seal();
        let mut bytes = 0;
        replace(path, |out| {
            bytes = archive.write(out)?;
            Ok(())
        })
        .map_err(failed)?;
        Ok(Saved { checksum, bytes })
    }

    /// Opens a map file. Rows and places stay in the file and are read from there, so the file must not be changed
    /// in place while the map is in use; replacing it by another, as `save` does, is fine.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_by(path.as_ref(), |file| {
            let mapped = Arc::new(mapped::map(file)?);
            Ok(read(&mapped, Some(&mapped)))
        })
    }

    /// Reads a map file into memory, all of it: for programs that run for long, under whose eyes the file may be changed.
    pub fn load_whole(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_by(path.as_ref(), |file| {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut &*file, &mut bytes)?;
            Ok(read(&bytes, None))
        })
    }

    fn load_by(
        path: &Path,
        open: impl FnOnce(&File) -> io::Result<std::result::Result<Self, String>>,
    ) -> Result<Self> {
        let refuse = |problem| Error::MapFile { path: path.to_path_buf(), problem };
        let failed = |cause| Error::Io { path: path.to_path_buf(), cause };
        // Asked before opening: a pipe would wait there for a writer.
        let there = fs::metadata(path).map_err(|error| failed(not_read(error)))?;
        if !there.is_file() {
            let kind = if there.is_dir() { "a folder" } else { "not an ordinary file" };
            return Err(refuse(format!("this is {kind}: give a map file written by `lion fit`")));
        }
        let file = File::open(path).map_err(|error| failed(not_read(error)))?;
        if there.len() == 0 {
            return read(&[], None).map_err(refuse);
        }
        open(&file).map_err(failed)?.map_err(refuse)
    }

    /// The bytes of the map's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let failed = |cause| Error::Io { path: "map".into(), cause };
        let mut archive = self.archive().map_err(failed)?;
        archive.seal();
        let mut bytes = Vec::new();
        archive.write(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Reads the bytes of a map's file, copying what it keeps.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read(bytes, None).map_err(|problem| Error::MapFile { path: "map".into(), problem })
    }

    /// The checksum that `save` writes: equal for equal maps.
    pub fn checksum(&self) -> Result<String> {
        if let Some(known) = self.checksum.0.get() {
            return Ok(known.clone());
        }
        let archive = self.archive().map_err(|cause| Error::Io { path: "map".into(), cause })?;
        Ok(self.checksum.0.get_or_init(|| archive.checksum()).clone())
    }

    fn archive(&self) -> io::Result<Archive<'_>> {
        let parameters = Parameters {
            preprocess: PreprocessParameters {
                metric: self.preprocess.metric(),
                input_dims: self.preprocess.input_dims(),
                pca: self.preprocess.pca().map(|pca| PcaParameters { total_variance: pca.total_variance() }),
            },
            provenance: self.provenance.clone(),
            lion: self.lion.as_ref().map(|lion| PlacingParameters {
                radius: lion.radius,
                r_x: lion.r_x,
                r_y: lion.r_y,
                r_close: lion.r_close,
                power: lion.power,
                power_given: lion.power_given,
                searched: lion.partitioning.as_ref().map(|partitioning| partitioning.probes),
                covering: Some(lion.covering).filter(|&covering| covering > 0),
                calibration: lion.calibration.as_ref().map(|calibration| CalibrationParameters {
                    smallest: calibration.smallest,
                    groups: calibration.groups,
                }),
            }),
            pictures: self.pictures.as_ref().map(|pictures| PictureParameters {
                image: pictures.image,
                low: pictures.low,
                high: pictures.high,
            }),
            shown: self.shown.as_ref().map(|shown| shown.columns.clone()),
        };
        let version = if self.shown.is_some() { VERSION_WITH_SHOWN } else { VERSION };
        let metadata = [
            ("format", FORMAT.to_string()),
            ("version", version.to_string()),
            ("parameters", serde_json::to_string(&parameters)?),
        ];
        Ok(Archive {
            metadata: metadata.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
            tensors: self.tensors().into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect(),
        })
    }

    fn tensors(&self) -> Vec<(&'static str, Tensor<'_>)> {
        let mut tensors = vec![("x", matrix(&self.x)), ("y", matrix(&self.y))];
        if let Some(pca) = self.preprocess.pca() {
            tensors.push(("pca.mean", vector(Dtype::F32, pca.mean())));
            tensors.push(("pca.components", matrix(pca.components())));
            tensors.push(("pca.variances", vector(Dtype::F64, pca.variances())));
        }
        if let Some(place_of) = &self.place_of {
            tensors.push(("place_of", vector(Dtype::U32, place_of)));
        }
        if let Some(ids) = &self.ids {
            let (offsets, bytes) = ids.blocks();
            tensors.push(("ids.offsets", vector(Dtype::U64, offsets)));
            tensors.push(("ids.bytes", vector(Dtype::U8, bytes)));
        }
        if let Some(columns) = &self.columns {
            let (offsets, bytes) = columns.blocks();
            tensors.push(("columns.offsets", vector(Dtype::U64, offsets)));
            tensors.push(("columns.bytes", vector(Dtype::U8, bytes)));
        }
        if let Some(recipe) = &self.recipe {
            let bytes: Cow<'_, [u8]> = Cow::Owned(recipe.to_bytes());
            tensors.push(("recipe", Tensor { dtype: Dtype::U8, shape: vec![bytes.len()], bytes }));
        }
        if let Some(labels) = &self.labels {
            let (offsets, bytes) = labels.texts().blocks();
            tensors.push(("labels.codes", vector(Dtype::U32, labels.codes())));
            tensors.push(("labels.offsets", vector(Dtype::U64, offsets)));
            tensors.push(("labels.bytes", vector(Dtype::U8, bytes)));
        }
        if !self.provenance.kl_history.is_empty() {
            let history = self.provenance.kl_history.iter();
            tensors.push(("kl_history", pairs(history.map(|point| [point.iteration as f64, point.kl]))));
        }
        if let Some(lion) = &self.lion {
            tensors.extend(placing_tensors(lion));
        }
        if let Some(pictures) = &self.pictures {
            let bytes = Cow::Borrowed(pictures.bytes.as_slice());
            let shape = vec![self.rows(), pictures.image.values()];
            tensors.push(("pictures", Tensor { dtype: Dtype::U8, shape, bytes }));
        }
        if let Some(shown) = &self.shown {
            let entries = shown.index.iter().flat_map(|block| [block.end, block.decoded, block.checksum]);
            let entries: Vec<u64> = entries.collect();
            let (shape, bytes) =
                (vec![shown.index.len(), 3], Cow::Owned(bytemuck::cast_slice(&entries).to_vec()));
            tensors.push(("shown.index", Tensor { dtype: Dtype::U64, shape, bytes }));
            tensors.push((BLOCKS, vector(Dtype::U8, shown.blocks.as_slice())));
        }
        tensors
    }
}

fn placing_tensors(lion: &LionParameters) -> Vec<(&'static str, Tensor<'_>)> {
    let mut tensors = vec![
        ("lion.nn_x", vector(Dtype::F32, &lion.nn_x)),
        ("lion.nn_y", vector(Dtype::F32, &lion.nn_y)),
        ("lion.power_curve", pairs(lion.power_curve.iter().map(|point| [point.power, point.error]))),
    ];
    if let Some(residuals) = &lion.residuals {
        tensors.push(("lion.residuals", vector(Dtype::F32, residuals)));
    }
    if let Some(partitioning) = &lion.partitioning {
        tensors.push(("lion.centres", matrix(&partitioning.centres)));
        tensors.push(("lion.cell_of", vector(Dtype::U32, &partitioning.partition_of)));
    }
    let Some(calibration) = &lion.calibration else { return tensors };
    tensors.push(("verdict.distances", vector(Dtype::F32, &calibration.distances)));
    tensors.push(("verdict.errors", vector(Dtype::F32, &calibration.errors)));
    tensors.push(("verdict.relatives", vector(Dtype::F32, &calibration.relatives)));
    if let Some(residuals) = &calibration.residuals {
        tensors.push(("verdict.residuals", vector(Dtype::F32, residuals)));
    }
    if let Some(sample) = &calibration.sample {
        tensors.push(("verdict.sample", vector(Dtype::U32, sample)));
    }
    tensors
}

fn pairs<'a>(pairs: impl Iterator<Item = [f64; 2]>) -> Tensor<'a> {
    let numbers: Vec<f64> = pairs.flatten().collect();
    let bytes = Cow::Owned(bytemuck::cast_slice(&numbers).to_vec());
    Tensor { dtype: Dtype::F64, shape: vec![numbers.len() / 2, 2], bytes }
}

fn matrix(matrix: &Matrix) -> Tensor<'_> {
    Tensor { shape: vec![matrix.rows(), matrix.cols()], ..vector(Dtype::F32, matrix.data()) }
}

fn vector<T: bytemuck::NoUninit>(dtype: Dtype, values: &[T]) -> Tensor<'_> {
    Tensor { dtype, shape: vec![values.len()], bytes: Cow::Borrowed(bytemuck::cast_slice(values)) }
}

/// The system's reason in a sentence that says what became of the file.
fn not_written(error: io::Error) -> io::Error {
    let text = match error.kind() {
        io::ErrorKind::NotFound => {
            "the map cannot be written, its folder does not exist: make the folder first".into()
        }
        _ => format!("the map was not written, and a file already there is left as it was: {error}"),
    };
    io::Error::new(error.kind(), text)
}

fn not_read(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "there is no such file: check the path"),
        _ => error,
    }
}

/// Reads a map from the bytes of its file; from `mapped`, if those are its bytes, large arrays are not copied.
/// Any answer but a map is a sentence for a person.
fn read(bytes: &[u8], mapped: Option<&Arc<Mmap>>) -> std::result::Result<Map, String> {
    let archive = Archive::read(bytes, accept)?;
    let reader = MapReader { archive: &archive, bytes, mapped };
    let map = reader.map().map_err(|problem| format!("the map is not valid, {problem}: {MAKE_AGAIN}"))?;
    let map = map.checked().map_err(|error| format!("the map is not valid, {error}: {MAKE_AGAIN}"))?;
    // `Archive::read` has compared it with the bytes.
    if let Some(checksum) = archive.metadata.get(CHECKSUM) {
        map.checksum.0.get_or_init(|| checksum.clone());
    }
    Ok(map)
}

/// Whether this is a map at all, and of a version that can be read.
fn accept(metadata: &BTreeMap<String, String>) -> std::result::Result<(), String> {
    if metadata.get("format").map(String::as_str) != Some(FORMAT) {
        return Err("this is a safetensors file, but not a map: give a map file written by `lion fit`".into());
    }
    let version = metadata.get("version").map_or("", String::as_str);
    match version.parse::<u32>() {
        Ok(VERSION | VERSION_WITH_SHOWN) => Ok(()),
        Ok(newer) if newer > VERSION_WITH_SHOWN => Err(format!(
            "the map is of version {newer}, and this build reads versions up to {VERSION_WITH_SHOWN}: update lion, or make the map again"
        )),
        _ => Err(format!("the map is of version {version:?}, which there never was: {MAKE_AGAIN}")),
    }
}

struct MapReader<'a> {
    archive: &'a Archive<'a>,
    bytes: &'a [u8],
    mapped: Option<&'a Arc<Mmap>>,
}

/// A failure to make sense of what the file holds, as the end of a sentence.
type Understood<T> = std::result::Result<T, String>;

impl MapReader<'_> {
    fn map(&self) -> Understood<Map> {
        let parameters = self.archive.metadata.get("parameters").ok_or("it has no parameters")?;
        let Parameters { preprocess, mut provenance, lion, pictures, shown } =
            serde_json::from_str(parameters)
                .map_err(|error| format!("its parameters cannot be read ({error})"))?;
        provenance.kl_history = self.kl_history()?;
        let place_of = self.has("place_of").then(|| self.vector("place_of", Dtype::U32)).transpose()?;
        Ok(Map {
            preprocess: self.preprocess(preprocess)?,
            x: self.matrix("x")?,
            y: self.matrix("y")?,
            place_of,
            ids: self
                .has("ids.offsets")
                .then(|| self.texts("ids", "ids.offsets", "ids.bytes"))
                .transpose()?,
            labels: self.has("labels.codes").then(|| self.labels()).transpose()?,
            provenance,
            lion: lion.map(|lion| self.lion(lion)).transpose()?,
            columns: self
                .has("columns.offsets")
                .then(|| self.texts("columns", "columns.offsets", "columns.bytes"))
                .transpose()?,
            pictures: pictures.map(|pictures| self.pictures(&pictures)).transpose()?,
            recipe: self.has("recipe").then(|| self.recipe()).transpose()?,
            shown: shown.map(|columns| self.shown(columns)).transpose()?,
            checksum: KnownChecksum::default(),
        })
    }

    fn lion(&self, parameters: PlacingParameters) -> Understood<LionParameters> {
        let PlacingParameters { radius, r_x, r_y, r_close, power, power_given, .. } = parameters;
        let PlacingParameters { searched, covering, calibration, .. } = parameters;
        let curve = self.pairs("lion.power_curve")?.into_iter();
        let residuals = || self.vector("lion.residuals", Dtype::F32);
        let partitioning = |probes| {
            let (centres, partition_of) =
                (self.matrix("lion.centres")?, self.vector("lion.cell_of", Dtype::U32)?);
            Ok::<_, String>(Partitioning { centres, partition_of, probes })
        };
        Ok(LionParameters {
            radius,
            r_x,
            r_y,
            r_close,
            power,
            power_given,
            power_curve: curve.map(|[power, error]| PowerPoint { power, error }).collect(),
            nn_x: self.vector("lion.nn_x", Dtype::F32)?,
            nn_y: self.vector("lion.nn_y", Dtype::F32)?,
            residuals: self.has("lion.residuals").then(residuals).transpose()?,
            partitioning: searched.map(partitioning).transpose()?,
            covering: covering.unwrap_or(0),
            calibration: calibration.map(|parameters| self.calibration(&parameters)).transpose()?,
        })
    }

    fn calibration(&self, parameters: &CalibrationParameters) -> Understood<Calibration> {
        let numbers = |name: &str| self.vector(name, Dtype::F32);
        let residuals = || numbers("verdict.residuals");
        let sample = || self.vector("verdict.sample", Dtype::U32);
        Ok(Calibration {
            distances: numbers("verdict.distances")?,
            errors: numbers("verdict.errors")?,
            relatives: numbers("verdict.relatives")?,
            residuals: self.has("verdict.residuals").then(residuals).transpose()?,
            sample: self.has("verdict.sample").then(sample).transpose()?,
            smallest: parameters.smallest,
            groups: parameters.groups,
        })
    }

    fn pictures(&self, parameters: &PictureParameters) -> Understood<Pictures> {
        let tensor = self.tensor("pictures", Dtype::U8)?;
        if !matches!(tensor.shape[..], [_, _]) {
            return Err("tensor `pictures` must have two dimensions".into());
        }
        let PictureParameters { image, low, high } = *parameters;
        Ok(Pictures { image, low, high, bytes: self.bytes_of(tensor) })
    }

    fn shown(&self, columns: Vec<ShownColumn>) -> Understood<ShownColumns> {
        let index = self.tensor("shown.index", Dtype::U64)?;
        if !matches!(index.shape[..], [_, 3]) {
            return Err("tensor `shown.index` must have three columns".into());
        }
        let numbers: Vec<u64> = bytemuck::pod_collect_to_vec(&index.bytes);
        let entry = |&[end, decoded, checksum]: &[u64; 3]| BlockEntry { end, decoded, checksum };
        let shown = ShownColumns {
            rows: self.rows()?,
            columns,
            index: numbers.as_chunks::<3>().0.iter().map(entry).collect(),
            blocks: self.bytes_of(self.tensor(BLOCKS, Dtype::U8)?),
        };
        shown.checked().map_err(|error| error.to_string())
    }

    /// Number of rows that were given.
    fn rows(&self) -> Understood<usize> {
        let tensor = match self.has("place_of") {
            true => self.tensor("place_of", Dtype::U32)?,
            false => self.tensor("x", Dtype::F32)?,
        };
        Ok(tensor.shape.first().copied().unwrap_or(0))
    }

    /// The bytes of a tensor, in the mapped file or copied.
    fn bytes_of(&self, tensor: &Tensor<'_>) -> Bytes {
        let start = self.start(tensor);
        match self.mapped {
            Some(file) => Bytes::Mapped { file: Arc::clone(file), range: start..start + tensor.bytes.len() },
            None => Bytes::Owned(tensor.bytes.to_vec().into()),
        }
    }

    /// Where a tensor begins in the file.
    fn start(&self, tensor: &Tensor<'_>) -> usize {
        tensor.bytes.as_ptr().addr() - self.bytes.as_ptr().addr()
    }

    fn preprocess(&self, parameters: PreprocessParameters) -> Understood<Preprocess> {
        let pca = match parameters.pca {
            None => None,
            Some(PcaParameters { total_variance }) => {
                let mean = self.vector("pca.mean", Dtype::F32)?;
                let variances = self.vector("pca.variances", Dtype::F64)?;
                let pca = Pca::new(mean, self.matrix("pca.components")?, variances, total_variance);
                Some(pca.map_err(|error| error.to_string())?)
            }
        };
        Preprocess::new(parameters.metric, parameters.input_dims, pca).map_err(|error| error.to_string())
    }

    fn recipe(&self) -> Understood<Recipe> {
        let bytes: Vec<u8> = self.vector("recipe", Dtype::U8)?;
        Recipe::from_bytes(&bytes).map_err(|error| error.to_string())
    }

    fn labels(&self) -> Understood<Labels> {
        let names = self.texts("labels", "labels.offsets", "labels.bytes")?;
        let codes = self.vector("labels.codes", Dtype::U32)?;
        Labels::from_parts(names, codes).map_err(|problem| format!("its labels {problem}"))
    }

    fn texts(&self, what: &str, offsets: &str, bytes: &str) -> Understood<Texts> {
        Texts::from_blocks(self.vector(offsets, Dtype::U64)?, self.vector(bytes, Dtype::U8)?)
            .map_err(|problem| format!("its {what} {problem}"))
    }

    fn kl_history(&self) -> Understood<Vec<KlPoint>> {
        if !self.has("kl_history") {
            return Ok(Vec::new());
        }
        let points = self.pairs("kl_history")?;
        let point = |&[iteration, kl]: &[f64; 2]| {
            let whole = iteration as u64;
            (whole as f64 == iteration).then_some(KlPoint { iteration: whole, kl })
        };
        points
            .iter()
            .map(point)
            .collect::<Option<_>>()
            .ok_or("tensor `kl_history` has a broken iteration".into())
    }

    fn pairs(&self, name: &str) -> Understood<Vec<[f64; 2]>> {
        let tensor = self.tensor(name, Dtype::F64)?;
        if !matches!(tensor.shape[..], [_, 2]) {
            return Err(format!("tensor `{name}` must have two columns"));
        }
        let numbers: Vec<f64> = bytemuck::pod_collect_to_vec(&tensor.bytes);
        Ok(numbers.as_chunks::<2>().0.to_vec())
    }

    fn has(&self, name: &str) -> bool {
        self.archive.tensors.contains_key(name)
    }

    fn tensor(&self, name: &str, dtype: Dtype) -> Understood<&Tensor<'_>> {
        let tensor = self.archive.tensors.get(name).ok_or_else(|| format!("it has no tensor `{name}`"))?;
        if tensor.dtype != dtype {
            return Err(format!("tensor `{name}` is {}, and must be {dtype}", tensor.dtype));
        }
        Ok(tensor)
    }

    fn vector<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        name: &str,
        dtype: Dtype,
    ) -> Understood<Vec<T>> {
        let tensor = self.tensor(name, dtype)?;
        match tensor.shape[..] {
            [_] => Ok(bytemuck::pod_collect_to_vec(&tensor.bytes)),
            _ => Err(format!("tensor `{name}` must have one dimension")),
        }
    }

    /// Looks into the mapped file where its numbers lie as this machine wants them, else copies them.
    fn matrix(&self, name: &str) -> Understood<Matrix> {
        let tensor = self.tensor(name, Dtype::F32)?;
        let [rows, cols] = tensor.shape[..] else {
            return Err(format!("tensor `{name}` must have two dimensions"));
        };
        let start = self.start(tensor);
        let view = self.mapped.and_then(|file| Matrix::mapped(rows, cols, Arc::clone(file), start));
        match view {
            Some(view) => Ok(view),
            None => Matrix::new(rows, cols, bytemuck::pod_collect_to_vec(&tensor.bytes))
                .map_err(|error| error.to_string()),
        }
    }
}
